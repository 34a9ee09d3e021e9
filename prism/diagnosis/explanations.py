"""Explain in sentences why each formula of a solution earned what it earned.

Nothing is decided here: the grade and the diagnosis hold all results, and this module words them for one person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prism.diagnosis.findings import Diagnosis, FormulaDiagnosis
from prism.diagnosis.rule_map import FLAG_ORIGINS, STAGE_ORIGINS, VERDICT_ORIGINS, WITHHELD_ORIGINS, Origin, trace_line
from prism.equivalence.verdict import REASONS, STAGES
from prism.errors import count_of
from prism.grading.pipeline import LAST_STRICT_STAGE
from prism.grading.result import (
    FLAGS,
    NOTHING_FOUND,
    Grade,
    GradedFormula,
    Match,
    details_in_words,
    finds_nothing,
    unstated_finals_sentence,
)
from prism.grading.selection import WITHHELD_REASONS
from prism.latex import one_line
from prism.problem.schema import Problem, in_alternative

_SHOWN_OPEN = 3  # formulas before the first wrong step that are named, of those of which nothing is known
_BY_KIND = {
    "notation": "Read {}.",
    "constant": "By its usual letter, {}.",
    "literal": "The number {}.",
    "name": "The solution calls it by another name: {}.",
    "given": "The problem gives {}.",
    "unit": "A unit is missing: {}.",
}
_ORIGINS = {"(problem)": "The problem defines {}.", "(solution)": "The solution defines {}."}


def explain(
    problem: Problem,
    grade: Grade,
    diagnosis: Diagnosis,
    *,
    trace: bool = False,
    place_of: Callable[[int], str] = lambda _: "",
) -> str:
    """Return a text that explains each formula that asserts something, then lists matched, credited and missing nodes.

    Below a formula that matches no node, or has a wrong number, stands its diagnosis, if there is one; the last line is
    the first wrong step.

    Args:
        place_of: where in the file of the solution a character of its text stands; empty where only the text says it.
        trace: name for each decision its rule, the place of the rule, and the files of the code.
    """
    nodes = {node.index: node.latex for node in in_alternative(problem, grade.alternative).nodes}
    found = {each.position: each for each in diagnosis.findings}
    paragraphs = [
        _formula_paragraph(item, nodes, grade, found.get(position), trace=trace, place=place_of(item.span[0]))
        for position, item in enumerate(grade.formulas)
        if item.status != "mention"
    ]
    matched = sorted(grade.matched)
    closed = [index for index in grade.credited if index not in grade.matched]
    strict = f"{LAST_STRICT_STAGE} ({STAGES[LAST_STRICT_STAGE]})"
    last = (
        f"{_way_line(problem, grade)}"
        f"Matched: {_comma_list(matched)}. "
        f"Credited besides, because a matched node rests on them: {_comma_list(closed)}. "
        f"Missing: {_comma_list(grade.missing)}.\n"
        f"Score {grade.score}; {grade.score_strict} if matches beyond stage {strict} do not count. "
        f"{grade.share_by_closure:.0%} of what it earns comes by way of prerequisites."
    )
    if unstated := unstated_finals_sentence(in_alternative(problem, grade.alternative).dag, grade):
        last += f"\n{unstated}"
    noted = [f"Flag {flag}: {FLAGS[flag]}.{_traced(FLAG_ORIGINS, flag, '  ', trace=trace)}" for flag in grade.flags]
    nothing = [NOTHING_FOUND] if finds_nothing(grade) else []
    return "\n\n".join((*paragraphs, *nothing, "\n".join((last, *noted)), _first_wrong_line(grade, diagnosis)))


def _way_line(problem: Problem, grade: Grade) -> str:
    """Return the line that names the reference DAG that counts; empty for a problem with one."""
    if not problem.alternatives:
        return ""
    which = f"the alternative {grade.alternative}" if grade.alternative else "the problem's first reference"
    return f"Graded by {which}, of {count_of(1 + len(problem.alternatives), 'reference')}.\n"


def _first_wrong_line(grade: Grade, diagnosis: Diagnosis) -> str:
    """Return lines that name the first wrong step, and before it the formulas that stay undetermined."""
    cut = "" if diagnosis.is_complete else " Some formulas were too dear to be diagnosed in full."
    if diagnosis.first_wrong is None and "no_formulas" in grade.flags:
        return f"No formula could be judged, so that nothing is known of what is right or wrong.{cut}"
    if diagnosis.first_wrong is None:
        beside = f", but of {count_of(diagnosis.n_open, 'formula')} it is not known" if diagnosis.n_open else ""
        return f"No formula is known to be wrong{beside}.{cut}"
    latex = one_line(grade.formulas[diagnosis.first_wrong].latex)
    return f"{_open_lines(grade, diagnosis)}First wrong step: {latex}    [{diagnosis.label}]{cut}"


def _open_lines(grade: Grade, diagnosis: Diagnosis) -> str:
    """Return lines that name the undetermined formulas before the first wrong one; empty if there are none."""
    unknown = [each for each in diagnosis.findings if each.status == "undetermined"]
    before = [each for each in unknown if each.position < (diagnosis.first_wrong or 0)]
    if not before:
        return ""
    lines = [f"Before the first wrong step, of {count_of(len(before), 'formula')} it is not known whether it is right:"]
    for each in before[:_SHOWN_OPEN]:
        item = grade.formulas[each.position]
        near = "" if each.nearest is None else f" (differs from node {each.nearest})"
        near = f" ({each.detail})" if each.detail and each.detail != item.detail else near
        lines.append(f"  {one_line(item.latex)}{near}")
    more = len(before) - _SHOWN_OPEN
    return "\n".join((*lines, *([f"  and {more} more"] if more > 0 else []), ""))


def _comma_list(nodes: list[int] | tuple[int, ...]) -> str:
    """Join node indices as `1, 2, 3`; the word `none` if there are no indices."""
    return ", ".join(map(str, nodes)) or "none"


def _traced(origins: Mapping[Any, Origin], reason: object, indent: str, *, trace: bool) -> str:
    """Return a further line that says where a reason comes from; empty without `trace`, or if the table lacks it."""
    return f"\n{indent}[{trace_line(origins[reason])}]" if trace and reason in origins else ""


def _formula_paragraph(
    item: GradedFormula, nodes: dict[int, str], grade: Grade, found: FormulaDiagnosis | None, *, trace: bool, place: str
) -> str:
    """Return the lines on one formula: matches, withheld matches with reasons, or the `found` diagnosis."""
    start, end = item.span
    lines = [f"{one_line(item.latex)}    [{item.kind}, characters {start} to {end}{f'; {place}' if place else ''}]"]
    for match in item.matches:
        lines += [f"  says node {match.node}: {one_line(nodes[match.node])}", *_match_lines(match, trace=trace)]
    lines += [
        f"  says node {node}: {one_line(nodes[node])}\n    and does not count for it: {WITHHELD_REASONS[reason]}."
        f"{_traced(WITHHELD_ORIGINS, reason, '    ', trace=trace)}"
        for node, reason in item.withheld
    ]
    if not (item.matches or item.withheld):
        lines.append(f"  matches no node ({item.status}): {REASONS.get(item.reason, item.reason)}.")
        if told := details_in_words(item):
            lines.append(f"    {one_line(told)}")
        lines[-1] += _traced(VERDICT_ORIGINS, item.reason, "    ", trace=trace)
    return "\n".join((*lines, *(_diagnosis_lines(found, item, grade) if found else ())))


def _diagnosis_lines(found: FormulaDiagnosis, item: GradedFormula, grade: Grade) -> list[str]:
    """Return the lines that say what is wrong with a formula; empty if nothing is known that the grade did not say."""
    if found.status == "right":
        return [f"  Right, but matches no node: {found.detail}."]
    if found.source is not None:
        whose = "Its number follows" if item.nodes else "Follows"
        return [f"  {whose} from the error at {one_line(grade.formulas[found.source].latex)}"]
    if found.difference is None:
        if found.detail != item.detail:
            return [f"  {found.detail[:1].upper()}{found.detail[1:]}."]
        return [] if found.nearest in (None, item.nearest) else [f"  Node {found.nearest} has the same left side."]
    difference = found.difference
    sure = "Perhaps" if found.status != "wrong" else "Its number is wrong" if item.nodes else "Wrong"
    beside = "" if difference.node is None else f", beside node {difference.node}"
    return [f"  {sure}{beside} [{difference.label}]: {difference.full}", f"    Hint: {difference.hint}"]


def match_steps(match: Match) -> tuple[str, ...]:
    """Return a match as sentences: each reading it needed (such as an expanded definition), then why it is a match."""
    steps = [_reading_sentence(reading) for reading in match.readings]
    steps.append(f"{'With that: ' if steps else ''}{REASONS.get(match.reason, match.reason)}.")
    return tuple(f"{step[:1].upper()}{step[1:]}" for step in steps)


def _match_lines(match: Match, *, trace: bool) -> list[str]:
    """Return the `match_steps` of a match as numbered lines, with its stage, and where both come from if asked for."""
    numbered = [f"    {k}. {step}" for k, step in enumerate(match_steps(match), start=1)]
    reason = _traced(VERDICT_ORIGINS, match.reason, "    ", trace=trace)
    stage = _traced(STAGE_ORIGINS, match.stage, "    ", trace=trace)
    return [*numbered, f"    (stage {match.stage}: {STAGES[match.stage]}){reason}{stage}"]


def _reading_sentence(reading: str) -> str:
    """Return one entry `kind: text` of `Match.readings` as a sentence."""
    kind, _, text = reading.partition(": ")
    if kind == "definition":
        head, _, origin = text.rpartition(" ")
        return _ORIGINS.get(origin, "Defined: {}.").format(head)
    return _BY_KIND.get(kind, "{}.").format(text)

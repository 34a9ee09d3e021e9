"""Why each formula of a solution earned what it earned, as one person would tell another.

Nothing is decided here: a grade holds all that was read and found, and this puts it into sentences.
"""

from __future__ import annotations

from prism.diagnosis.findings import Diagnosis, Finding
from prism.equivalence.substitutions import STAGES
from prism.equivalence.verdict import REASONS
from prism.grading.pipeline import STRICT_STAGE
from prism.grading.result import FLAGS, Grade, GradedFormula, Match, why
from prism.grading.selection import REFUSALS
from prism.latex import one_line
from prism.problem.schema import Problem

_BY_KIND = {
    "notation": "Read {}.",
    "constant": "By its usual letter, {}.",
    "literal": "The number {}.",
    "name": "The solution calls it by another name: {}.",
    "given": "The problem gives {}.",
    "unit": "A unit is missing: {}.",
}
_ORIGINS = {"(problem)": "The problem defines {}.", "(solution)": "The solution defines {}."}


def explain(problem: Problem, grade: Grade, diagnosis: Diagnosis) -> str:
    """The argument for every formula that asserts something, in the order of the text, and what nodes it leaves.

    Below a formula that matches no node stands what is wrong with it, if that is known, and at the end the first wrong
    step.
    """
    nodes = {node.index: node.latex for node in problem.nodes}
    found = {each.position: each for each in diagnosis.findings}
    told = [
        _paragraph(item, nodes, grade, found.get(position))
        for position, item in enumerate(grade.formulas)
        if item.status != "mention"
    ]
    matched = sorted(grade.matched)
    closed = [index for index in grade.credited if index not in grade.matched]
    last = (
        f"Matched: {_listed(matched)}. Credited besides, because a matched node rests on them: {_listed(closed)}. "
        f"Missing: {_listed(grade.missing)}.\n"
        f"Score {grade.score}; {grade.score_strict} if matches beyond stage {STRICT_STAGE} ({STAGES[STRICT_STAGE]}) "
        f"do not count. {grade.share_by_closure:.0%} of what it earns comes by way of prerequisites."
    )
    noted = [f"Flag {flag}: {FLAGS[flag]}." for flag in grade.flags]
    return "\n\n".join((*told, "\n".join((last, *noted)), _first_wrong(grade, diagnosis)))


def _first_wrong(grade: Grade, diagnosis: Diagnosis) -> str:
    n_open = diagnosis.n_open
    are_open = f"{n_open} formula{'s' * (n_open != 1)}"
    if diagnosis.first_wrong is None:
        beside = f"; of {are_open} it cannot be told whether they are right" if n_open else ""
        return f"No formula is known to be wrong{beside}."
    latex = one_line(grade.formulas[diagnosis.first_wrong].latex)
    beside = f" Of {are_open} before it it cannot be told whether they are right." if n_open else ""
    return f"First wrong step: {latex}    [{diagnosis.label}]{beside}"


def _listed(nodes: list[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, nodes)) or "none"


def _paragraph(item: GradedFormula, nodes: dict[int, str], grade: Grade, found: Finding | None) -> str:
    start, end = item.span
    lines = [f"{one_line(item.latex)}    [{item.kind}, characters {start} to {end}]"]
    for match in item.matches:
        lines += [f"  says node {match.node}: {one_line(nodes[match.node])}", *_steps(match)]
    lines += [
        f"  says node {node}: {one_line(nodes[node])}\n    and does not count for it: {REFUSALS[reason]}."
        for node, reason in item.withheld
    ]
    if not (item.matches or item.withheld):
        lines.append(f"  matches no node ({item.status}): {REASONS.get(item.reason, item.reason)}.")
        told = why(item)
        if told != REASONS.get(item.reason, item.reason):
            lines.append(f"    {one_line(told)}")
    return "\n".join((*lines, *(_diagnosed(found, grade) if found else ())))


def _diagnosed(found: Finding, grade: Grade) -> list[str]:
    """What is wrong with a formula; nothing where that is not known."""
    if found.status == "right":
        return [f"  Right, but no node: {found.detail}."]
    if found.source is not None:
        return [f"  Follows from the error at {one_line(grade.formulas[found.source].latex)}"]
    if found.difference is None:
        return []
    difference = found.difference
    sure = "Wrong" if found.status == "wrong" else "Perhaps"
    beside = "" if difference.node is None else f", beside node {difference.node}"
    return [f"  {sure}{beside} [{difference.label}]: {difference.full}", f"    Hint: {difference.hint}"]


def steps_of(match: Match) -> tuple[str, ...]:
    """What a match took, in order: each a sentence, the last one the reason."""
    steps = [_sentence(said) for said in match.readings]
    steps.append(f"{'With that: ' if steps else ''}{REASONS.get(match.reason, match.reason)}.")
    return tuple(f"{step[:1].upper()}{step[1:]}" for step in steps)


def _steps(match: Match) -> list[str]:
    numbered = [f"    {k}. {step}" for k, step in enumerate(steps_of(match), start=1)]
    return [*numbered, f"    (stage {match.stage}: {STAGES[match.stage]})"]


def _sentence(said: str) -> str:
    kind, _, text = said.partition(": ")
    if kind == "definition":
        head, _, origin = text.rpartition(" ")
        return _ORIGINS.get(origin, "Defined: {}.").format(head)
    return _BY_KIND.get(kind, "{}.").format(text)

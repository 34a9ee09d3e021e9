"""Why each formula of a solution earned what it earned, as one person would tell another.

Nothing is decided here: a grade holds all that was read and found, and this puts it into sentences.
"""

from __future__ import annotations

from prism.attempts import STAGES
from prism.commitment import REFUSALS
from prism.equivalence import REASONS
from prism.grading import FLAGS, STRICT_STAGE, Grade, GradedFormula, Match, why
from prism.problem import Problem

_BY_KIND = {
    "notation": "Read {}.",
    "constant": "By its usual letter, {}.",
    "literal": "The number {}.",
    "name": "The solution calls it by another name: {}.",
    "given": "The problem gives {}.",
    "unit": "A unit is missing: {}.",
}
_ORIGINS = {"(problem)": "The problem defines {}.", "(solution)": "The solution defines {}."}


def explain(problem: Problem, grade: Grade) -> str:
    """The argument for every formula that asserts something, in the order of the text, and what nodes it leaves."""
    nodes = {node.index: node.latex for node in problem.nodes}
    told = [_paragraph(item, nodes) for item in grade.formulas if item.status != "mention"]
    matched = sorted(grade.matched)
    closed = [index for index in grade.credited if index not in grade.matched]
    last = (
        f"Matched: {_listed(matched)}. Credited besides, because a matched node rests on them: {_listed(closed)}. "
        f"Missing: {_listed(grade.missing)}.\n"
        f"Score {grade.score}; {grade.score_strict} if matches beyond stage {STRICT_STAGE} ({STAGES[STRICT_STAGE]}) "
        f"do not count. {grade.share_by_closure:.0%} of what it earns comes by way of prerequisites."
    )
    noted = [f"Flag {flag}: {FLAGS[flag]}." for flag in grade.flags]
    return "\n\n".join((*told, "\n".join((last, *noted))))


def _listed(nodes: list[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, nodes)) or "none"


def _paragraph(item: GradedFormula, nodes: dict[int, str]) -> str:
    start, end = item.span
    lines = [f"{_one_line(item.latex)}    [{item.kind}, characters {start} to {end}]"]
    for match in item.matches:
        lines += [f"  says node {match.node}: {_one_line(nodes[match.node])}", *_steps(match)]
    lines += [
        f"  says node {node}: {_one_line(nodes[node])}\n    and does not count for it: {REFUSALS[reason]}."
        for node, reason in item.withheld
    ]
    if not (item.matches or item.withheld):
        lines.append(f"  matches no node ({item.status}): {REASONS.get(item.reason, item.reason)}.")
        told = why(item)
        if told != REASONS.get(item.reason, item.reason):
            lines.append(f"    {_one_line(told)}")
    return "\n".join(lines)


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


def _one_line(latex: str) -> str:
    return " ".join(latex.split())

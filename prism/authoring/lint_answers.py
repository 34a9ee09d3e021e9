"""Lint of parts and answers: that they belong to each other, and that an answer is of the form that is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from prism.algebra.expr import Expr, spell
from prism.authoring.lint_findings import Kind, LintFinding, warning
from prism.equivalence.facts import numeric_of, subject_of
from prism.errors import PrismError, count_of
from prism.physics.dimensions import dimension_text
from prism.physics.quantities import read_quantity
from prism.physics.tables import Dimension
from prism.problem.expected_numbers import ExpectedNumbers
from prism.problem.schema import Problem, ProblemNode, Subquestion


def check_final_names(problem: Problem) -> Iterator[LintFinding]:
    """Yield warnings for final answers about one symbol: of several only the last one counts (semantics C.2)."""
    finals = [node for node in problem.nodes if node.is_final and not node.is_text]
    named: dict[tuple[Expr, bool, str], int] = {}
    for node in finals:
        subject = subject_of(node.formula)
        if subject is None:
            continue
        key = subject, numeric_of(node.formula) is not None, node.subquestion
        if key in named:
            text = (
                f"it answers `{spell(subject)}` as node {named[key]} does, and the last of two answers on one quantity"
                " counts; give them names of their own, or the letters of two parts in `subquestion`"
            )
            yield warning("answers", f"node {node.index}", "formula", text)
        named[key] = node.index


def check_parts(problem: Problem) -> Iterator[LintFinding]:
    """Yield findings for parts without a final answer, final answers without a part, and answers of another form."""
    finals = [node for node in problem.nodes if node.is_final]
    lettered = {node.subquestion for node in finals if node.subquestion}
    parts = [part for part in problem.subquestions if part.letter]
    if parts and not lettered and len(finals) != len(parts):
        kind: Kind = "warning" if len(finals) < len(parts) or any(map(_asks_for_more, parts)) else "note"
        text = (
            f"there are {count_of(len(parts), 'part')} and {count_of(len(finals), 'final answer')} without a letter,"
            " so none belongs to a part;"
            " write `subquestion` on each final node"
        )
        yield LintFinding(kind, "unanswered", "", "subquestions", text)
    for part in parts:
        if lettered and part.letter not in lettered:
            text = "no final node answers it; write its letter in `subquestion` of the node that does"
            yield warning("unanswered", f"subquestion {part.letter}", "", text)
    for part in problem.subquestions:
        own = [node for node in finals if node.subquestion == part.letter or len(problem.subquestions) == 1]
        yield from _check_answer_form(part, own)


def _asks_for_more(part: Subquestion) -> bool:
    """Return True if a part sets significant figures or asks for an answer in words."""
    return part.significant_figures is not None or part.final_answer_form == "text-based"


def _check_answer_form(part: Subquestion, finals: list[ProblemNode]) -> Iterator[LintFinding]:
    """Yield findings for final answers of another form or dimension than their part asks for."""
    entry = f"subquestion {part.letter}" if part.letter else ""
    if not finals:
        return
    numbers = [number for node in finals if (number := numeric_of(node.formula)) is not None]
    if part.final_answer_form == "numerical" and not numbers:
        text = "is numerical, and no final node of it states a number; add the node, or write algebraic"
        yield warning("form", entry, "final_answer_form", text)
    if part.final_answer_form == "text-based" and not any(node.is_text for node in finals):
        text = r"is text-based, and no final node of it is in words; write one as `\text{...}`"
        yield LintFinding("note", "form", entry, "final_answer_form", text)
    wanted = _requested_dimension(part.final_answer_instructions)
    if wanted is None or len(numbers) != 1:
        return
    stated = numbers[0].number
    if stated.value and stated.dimension != wanted:
        text = (
            f"asks for an answer in {dimension_text(wanted)}, and the final node states one in"
            f" {dimension_text(stated.dimension)}; write its unit"
        )
        yield warning("dimension", entry, "final_answer_instructions", text)


def _requested_dimension(instructions: str) -> Dimension | None:
    """Return the dimension of answer instructions such as `in N/m`; None if they say anything else."""
    words = instructions.strip().rstrip(".").replace("$", "").removeprefix("in ")
    if words == instructions.strip().rstrip("."):
        return None
    try:
        return read_quantity(f"1 {words}").dimension
    except PrismError:
        return None


def check_figures(problem: Problem, expected: ExpectedNumbers) -> Iterator[LintFinding]:
    """Yield findings for numerical answers with no declared significant figures, or more than the answer shows."""
    for node in problem.nodes:
        number = numeric_of(node.formula)
        if not node.is_final or number is None or expected.specs[node.index].is_exact(number.number):
            continue
        declared = expected.specs[node.index].figures
        entry = f"subquestion {node.subquestion}" if node.subquestion else ""
        shown = number.number.figures
        if declared is None:
            text = (
                f"is missing; the answer of node {node.index} is held to the {count_of(shown, 'figure')} that it shows"
            )
            yield LintFinding("note", "figures", entry, "significant_figures", text)
        elif declared > shown and expected.specs[node.index].recomputed is None:
            text = f"is {declared}, and the answer of node {node.index} shows {shown}; write it with {declared}"
            yield warning("figures", entry, "significant_figures", text)

"""Lint of alternatives: all ways of a problem answer the same questions, and answer them alike (semantics S.1).

Each way is checked by itself as any reference is. What only two of them together can show is looked for here: a final
answer of the first reference that a copy of the other one does not state, and the reverse. Two answers to one question
that differ make a grade wrong for certain: whoever is right by one way is credited with points for what is wrong by the
other.
"""

from __future__ import annotations

from collections.abc import Iterator

from prism.algebra.expr import symbols, symbols_of
from prism.authoring.graded_copies import as_answer, grade_copy
from prism.authoring.lint_findings import LintFinding, warning
from prism.budget import STATED, share
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.matching import match
from prism.equivalence.verdict import Status, Verdict
from prism.grading.prepared import prepare_without
from prism.latex import one_line
from prism.problem.expected_numbers import derive_expected_numbers
from prism.problem.schema import Problem, ProblemNode
from prism.problem.worded_answers import text_answer


def check_alternative(first: Problem, other: Problem, operations: float) -> Iterator[LintFinding]:
    """Yield what is wrong with an alternative beside the first reference; entries are those of the alternative.

    Args:
        operations: that the grade of each copy may cost.
    """
    told: set[int] = set()
    for node in _unanswered(first, other, operations / 2):
        mine = _answer_in_place(node, other)
        if mine is None:
            text = f"it states no answer for node {node.index} of the first reference, `{one_line(node.latex)}`"
            yield warning("alternatives", "", "", f"{text}; let all ways answer the same questions")
            continue
        told.add(mine.index)
        yield _difference(first, node, mine, other)
    for node in _unanswered(other, first, operations / 2):
        if node.index not in told:
            text = (
                "it is a final answer, and the first reference has none for it; let all ways answer the same questions"
            )
            yield warning("alternatives", f"node {node.index}", "formula", text)


def _unanswered(asked: Problem, copied: Problem, operations: float) -> list[ProblemNode]:
    """Return the final answers of one reference that a copy of the other does not state; words are told apart."""
    finals = [node for node in asked.nodes if node.is_final]
    texts = {node.index: as_answer(node) for node in copied.nodes if not node.is_text}
    copy = grade_copy(prepare_without(asked, ()), texts, operations)
    if copy.is_cut:
        return []
    stated = {index for items in copy.formulas.values() for item in items for index in item.nodes}
    stated |= {index for items in copy.formulas.values() for item in items for index, _ in item.withheld}
    in_words = {
        node.index
        for node in finals
        if node.is_text and (mine := _answer_in_place(node, copied)) and _same_words(asked, node, mine)
    }
    return [node for node in finals if node.index not in stated | in_words]


def _answer_in_place(node: ProblemNode, other: Problem) -> ProblemNode | None:
    """Return the final answer of another reference in the place of one: of its part and quantity, else the only one.

    None where the part has several final answers, or none, and no one of them is of that quantity.
    """
    finals = [each for each in other.nodes if each.is_final and each.subquestion == node.subquestion]
    finals = [each for each in finals if each.is_text == node.is_text]
    subject = None if node.is_text else subject_of(node.formula)
    named = [each for each in finals if subject is not None and subject_of(each.formula) == subject]
    if named:
        return named[-1]
    return finals[0] if len(finals) == 1 else None


def _difference(first: Problem, node: ProblemNode, mine: ProblemNode, other: Problem) -> LintFinding:
    """Return the finding that two final answers to one question are not seen to be the same; a fault if they differ.

    An answer in quantities that nodes of its own way are solved for, `T = t_1 + t_2`, may be the same all the same.
    """
    where, both = f"node {mine.index}", f"`{one_line(mine.latex)}`, and node {node.index} of the first reference"
    is_comparable = not (_worked_out(first) & symbols_of(node.formula) or _worked_out(other) & symbols_of(mine.formula))
    if node.is_text or (is_comparable and _verdict(first, node, mine).status == Status.DIFFERENT):
        text = f"it answers {both} `{one_line(node.latex)}`: whoever is right by one way is wrong by the other"
        return LintFinding("fault", "alternatives", where, "formula", f"{text}; correct one of them")
    text = f"it answers {both} `{one_line(node.latex)}`, which are not seen to be the same; write them in one form"
    return warning("alternatives", where, "formula", text)


def _worked_out(problem: Problem) -> frozenset[str]:
    """Return the symbols that nodes of a reference before its answers are solved for."""
    subjects = (subject_of(node.formula) for node in problem.nodes if not (node.is_final or node.is_text))
    answers = (subject_of(node.formula) for node in problem.nodes if node.is_final and not node.is_text)
    return symbols(*filter(None, subjects)) - symbols(*filter(None, answers))


def _verdict(first: Problem, node: ProblemNode, mine: ProblemNode) -> Verdict:
    """Return how two final answers compare; undecided if one is a number and the other a formula, or both are dear."""
    verdict = Verdict(Status.UNDECIDED, "too_large")
    if (numeric_of(node.formula) is None) != (numeric_of(mine.formula) is None):
        return verdict
    with share(STATED):
        verdict = match(node.formula, mine.formula, first.context, derive_expected_numbers(first).specs[node.index])
    return verdict  # noqa: RET504 - a share may end its block


def _same_words(asked: Problem, node: ProblemNode, mine: ProblemNode) -> bool:
    """Return True if an answer in words of another reference is one that a node accepts."""
    questions = {part.letter: part for part in asked.subquestions}
    question = questions.get(node.subquestion) or asked.subquestions[0]
    accepted = (text_answer(each.latex, question.final_answer_instructions, (mine.latex,)) for each in
                (node.formula, *node.accept))  # fmt: skip
    return any(verdict.status == Status.EQUIVALENT for verdict in accepted)

r"""Grade what a row itself says is right by the problem that was made of it: its solution, else its recorded answers.

Answers are held beside the final nodes alone, a solution beside all.

A score below 1 is a fault of the conversion, of the grader or of the row, and never of a student: it is told. What it
means that it is 1 depends on the nodes: for answers alone no more than that the answer is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

from prism.authoring.candidates import answer_index
from prism.authoring.conversions import OwnGold
from prism.authoring.importers.entries import DatasetEntry, RecordedAnswer, RefusedError
from prism.authoring.importers.recorded_answers import TEXT, answer_nodes, bare_answer, in_dollars
from prism.authoring.solution_golds import SOLUTION, published_solution, solution_gold
from prism.errors import LatexSyntaxError
from prism.grading.pipeline import grade
from prism.problem.schema import Problem, load_problem

ANSWERS = "answers"


def own_gold(data: Mapping[str, Any], entry: DatasetEntry) -> OwnGold | None:
    """Return the grade of an entry's own gold by the problem that was made of it; None if it has none."""
    text, source = gold_of(entry)
    if not text:
        return None
    if source == SOLUTION:
        return solution_gold(data, text)
    problem = load_problem(data)
    graded = grade(problem, text)
    finals = _stating(entry, problem) or {node.index for node in problem.nodes if node.is_final}
    missed = tuple(sorted(finals - set(graded.matched)))
    return OwnGold(float(Fraction(len(finals) - len(missed), len(finals))), source, missed, missed)


def _stating(entry: DatasetEntry, problem: Problem) -> set[int]:
    """Return the indices of the final nodes that state a recorded answer as a formula."""
    finals = [node for node in problem.nodes if node.is_final and not node.is_text]
    found = set()
    for answer in entry.answers:
        with suppress(RefusedError, LatexSyntaxError):
            for node in answer_nodes(answer, entry.question):
                at = answer_index(in_dollars(node.latex), [each.formula for each in finals], problem.context)
                found |= set() if at is None else {finals[at].index}
    return found | {node.index for node in problem.nodes if node.is_final and node.is_text}


def gold_of(entry: DatasetEntry) -> tuple[str, str]:
    """Return the text that an entry says is right and what it is, solution or answers; an empty text if it has none."""
    if entry.published is not None:
        return published_solution(entry.published), SOLUTION
    if entry.solution.strip():
        return entry.solution, SOLUTION
    letters = [answer.letter for answer in entry.answers]
    marks = letters if all(letters) else [chr(ord("a") + k) for k in range(len(letters))]
    stated = [(mark, _stated(answer, entry.question)) for mark, answer in zip(marks, entry.answers, strict=True)]
    if len(stated) == 1:
        return stated[0][1], ANSWERS
    return "\n\n".join(f"({mark}) {text}" for mark, text in stated if text), ANSWERS


def _stated(answer: RecordedAnswer, question: str) -> str:
    """Return an answer as a student would state it: in a box, words in a sentence; empty for one that is left out."""
    try:
        nodes = answer_nodes(answer, question)
    except RefusedError:
        return ""
    if any(node.form == TEXT for node in nodes):
        return f"The answer is {bare_answer(answer.text)}."
    text = bare_answer(answer.text)
    is_as_recorded = len(nodes) == 1 and not answer.unit and "$" not in text
    return " ".join(rf"\boxed{{{text if is_as_recorded else node.latex}}}" for node in nodes)

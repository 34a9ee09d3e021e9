r"""Grade what a row itself says is right by the problem that was made of it: its solution, else its recorded answers.

Answers are held beside the final nodes alone, a solution beside all.

A score below 1 is a fault of the conversion, of the grader or of the row, and never of a student: it is told. What it
means that it is 1 depends on the nodes: for answers alone no more than that the answer is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from prism.authoring.conversions import OwnGold
from prism.authoring.importers.entries import DatasetEntry, RecordedAnswer
from prism.authoring.importers.recorded_answers import bare_answer, is_words
from prism.grading.pipeline import grade
from prism.problem.schema import load_problem

SOLUTION, ANSWERS = "solution", "answers"


def own_gold(data: Mapping[str, Any], entry: DatasetEntry) -> OwnGold | None:
    """Return the grade of an entry's own gold by the problem that was made of it; None if it has none."""
    text, source = gold_of(entry)
    if not text:
        return None
    problem = load_problem(data)
    graded = grade(problem, text)
    finals = {node.index for node in problem.nodes if node.is_final}
    missed = tuple(sorted(finals - set(graded.matched)))
    if source == ANSWERS:  # which say nothing of steps
        return OwnGold(float(Fraction(len(finals) - len(missed), len(finals))), source, missed, missed)
    missing = tuple(node.index for node in problem.nodes if node.index not in graded.credited)
    return OwnGold(graded.score or 0.0, source, missing, missed)


def gold_of(entry: DatasetEntry) -> tuple[str, str]:
    """Return the text that an entry says is right and what it is, solution or answers; an empty text if it has none."""
    if entry.published is not None:
        return _published_gold(entry.published), SOLUTION
    if entry.solution.strip():
        return entry.solution, SOLUTION
    letters = [answer.letter for answer in entry.answers]
    marks = letters if all(letters) else [chr(ord("a") + k) for k in range(len(letters))]
    if len(entry.answers) == 1:
        return _stated(entry.answers[0]), ANSWERS
    return "\n\n".join(f"({m}) {_stated(a)}" for m, a in zip(marks, entry.answers, strict=True)), ANSWERS


def _published_gold(data: Mapping[str, Any]) -> str:
    """Return the solutions of a published problem, each with the letter of its part."""
    parts = data.get("subquestions")
    found = [
        f"({part['letter']}) {text}" if part.get("letter") else text
        for part in (parts if isinstance(parts, Sequence) and not isinstance(parts, str) else ())
        if isinstance(part, Mapping) and isinstance(text := part.get("solution"), str) and text.strip()
    ]
    own = data.get("solution")
    return "\n\n".join([*found, *([own] if isinstance(own, str) else [])])


def _stated(answer: RecordedAnswer) -> str:
    """Return an answer with its unit as a student would state it: in a box, words in a sentence."""
    text = bare_answer(answer.text)
    if is_words(text) or "$" in text:
        return f"The answer is {text} {answer.unit}".strip() + "."
    unit = answer.unit.replace("$", " ").strip()
    joint = r" \times " if unit.startswith("10") else r"\ "
    return rf"\boxed{{{joint.join(filter(None, (text, unit)))}}}"

"""The page of one student as HTML: points by part, where to look again, what stands, and the own text with its marks.

It holds the student's own formulas and fixed sentences, and nothing of the reference: no formula, no number, no
witness. A marker's word is shown as the marker wrote it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from prism.errors import count_of
from prism.reports.feedback.attention import concerns_of_solution
from prism.reports.feedback.marking import (
    NOT_READ,
    ClassMarks,
    MarkedNode,
    MarkedSolution,
    PartMarks,
    points_text,
)
from prism.reports.feedback.student_words import MARKS, StudentStep, shown_formulas, step_numbers, student_steps
from prism.reports.html.markup import marked_text
from prism.reports.html.rendering import page
from prism.reports.html.rollout_section import statement

_MAX_TEXT = 60_000  # characters of a solution that are shown
_LISTS = (
    ("Look again", ("look again", "goes on", "does not count")),
    ("What stands", ("stands", "right")),
    ("Not placed", ("open",)),
)
"""Titles of the lists of steps, each with the states of its steps."""

_FINALS = {
    "marked": "credited by the marker",
    "unmarked": "not credited by the marker",
    "matched": "stated",
    "credited": "credited, not stated",
    "carried": "carried forward",
    "missing": "not there yet",
}
"""What is said of a final answer."""


def student_page(marks: ClassMarks, student: str) -> str:
    """Render the page of a student with a section for each problem that the student has handed in."""
    solutions = marks.of(student)
    return page(
        "student", student=student, title=f"Feedback for {student}",
        sections=[_section(number, each, _notes(marks, each)) for number, each in enumerate(solutions, start=1)],
        earned=points_text(sum(each.earned for each in solutions)), full=points_text(sum(marks.fulls.values())),
        absent=[
            problem.title or problem.id for name, problem in marks.problems.items()
            if (student, name) not in marks.solutions
        ],
        is_carried=marks.scoring.needs_diagnosis,
    )  # fmt: skip


def part_name(letter: str, *, is_only: bool = False) -> str:
    """Return the name of a part for a table; nodes of no part are the other steps, or all of them."""
    return f"({letter})" if letter else "all steps" if is_only else "other steps"


def unread_note(solution: MarkedSolution) -> tuple[str, ...]:
    """Return in a sentence how many formulas of a solution could not be read; empty if all could."""
    n_unread = solution.grade.unread
    return (f"{count_of(n_unread, 'formula')} could not be read.",) if n_unread else ()


def _notes(marks: ClassMarks, solution: MarkedSolution) -> tuple[str, ...]:
    """Return in sentences what is not read of a solution, and who reads it or has decided."""
    return (*(each.says for each in concerns_of_solution(marks, solution)), *unread_note(solution))


def _section(number: int, solution: MarkedSolution, notes: tuple[str, ...]) -> dict[str, Any]:
    """Compute all that the page shows of a solution; ids of its elements begin with its number."""
    steps = student_steps(solution.grade, solution.diagnosis, solution.problem.context, solution.carried)
    numbers = step_numbers(solution.grade, steps)
    states = {each.number: each.state for each in steps}
    marked = [
        replace(item, status=states[number], nodes=(number,))
        for number, (_, item) in zip(numbers, shown_formulas(solution.grade), strict=True)
    ]
    is_only = len(solution.parts) == 1
    return {
        "number": number, "title": solution.problem.title or solution.problem.id,
        "earned": points_text(solution.earned), "full": points_text(solution.full), "notes": notes,
        "is_read": solution.is_read, "parts": [_part_row(part, is_only=is_only) for part in solution.parts],
        "words": [_word(node) for node in solution.corrections],
        "lists": [(title, [_shown_step(each) for each in steps if each.state in own]) for title, own in _LISTS],
        "text": marked_text(solution.text, marked, numbers, f"s{number}", _MAX_TEXT, MARKS),
    }  # fmt: skip


def _shown_step(step: StudentStep) -> dict[str, Any]:
    """Return a step as the page has it: the formula typeset, and the part of it that the sentence is about."""
    return {
        "number": step.number, "css": MARKS[step.state].css, "says": step.says,
        "formula": statement(step.formula.latex, is_text=step.formula.kind == "text"),
        "part": statement(step.part) if step.part else None,
    }  # fmt: skip


def _part_row(part: PartMarks, *, is_only: bool) -> dict[str, str]:
    """Return the row of a part in the table of parts."""
    finals = Counter(_final_in_words(node) for node in part.nodes if node.is_final)
    n_final = sum(finals.values())
    said = [words if n_final == 1 else f"{n} {words}" for words, n in finals.items()]
    return {
        "name": part_name(part.letter, is_only=is_only), "earned": points_text(part.earned),
        "full": points_text(part.full), "steps": f"{sum(node.share > 0 for node in part.nodes)} of {len(part.nodes)}",
        "finals": ", ".join(said) or "–",
    }  # fmt: skip


def _final_in_words(node: MarkedNode) -> str:
    """Return what became of a final answer."""
    if node.is_changed or node.rule == NOT_READ:
        return _FINALS["marked" if node.share else "unmarked"]
    is_unpaid = node.rule == "credited" and not node.share
    return "not stated" if is_unpaid else _FINALS[node.rule]


def _word(node: MarkedNode) -> dict[str, Any]:
    """Return what a marker says of a node, which has a correction."""
    correction = node.correction
    assert correction is not None
    where = f"Step {node.index} of the reference" + (f", part ({node.part})" if node.part else "")
    so_or_not = "the rule says otherwise" if node.is_changed else "so does the rule"
    beside = "the rule has read nothing" if node.rule == NOT_READ else so_or_not
    return {"node": where, "is_credited": correction.credited, "beside": beside, "by": correction.by,
            "why": correction.why}  # fmt: skip

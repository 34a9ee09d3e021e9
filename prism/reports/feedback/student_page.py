"""The page of one student as HTML: points by part, where to look again, what stands, and the own text with its marks.

It holds the student's own formulas and fixed sentences, and nothing of the reference: no formula, no number, no
witness. A marker's word is shown as the marker wrote it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prism.reports.feedback.attention import concerns_of_solution
from prism.reports.feedback.marking import NOT_READ, ClassMarks, MarkedNode, MarkedSolution, PartMarks
from prism.reports.feedback.student_words import MARKS, StudentStep, shown_formulas, step_numbers, student_steps
from prism.reports.feedback.wording import ENGLISH, Wording
from prism.reports.html.markup import marked_text
from prism.reports.html.rendering import page
from prism.reports.html.rollout_section import statement
from prism.reports.html.typeset import typeset
from prism.resources import meanings

_MAX_TEXT = 60_000  # characters of a solution that are shown
_LISTS = (
    ("Look again", ("look again", "goes on", "does not count")),
    ("What stands", ("stands", "right")),
    ("Not placed", ("open",)),
)
"""Titles of the lists of steps, each with the states of its steps."""

_FINALS: Mapping[str, str] = meanings("reports.finals")
"""What is said of a final answer."""

_BESIDE = {True: "the rule says otherwise", False: "so does the rule"}  # by whether a correction changes something
_NOTHING_READ = "the rule has read nothing"
_WORDS = {True: "credited", False: "not credited"}
SENTENCES = (*(title for title, _ in _LISTS), *_FINALS.values(), *_BESIDE.values(), _NOTHING_READ, *_WORDS.values())
"""What is said here by way of a table."""


def student_page(marks: ClassMarks, student: str, wording: Wording = ENGLISH) -> str:
    """Render the page of a student with a section for each problem that the student has handed in."""
    solutions = marks.of(student)
    return page(
        "student", title=wording.say("Feedback for {student}", student=student), student=student,
        sections=[
            _section(number, each, _notes(marks, each, wording), wording)
            for number, each in enumerate(solutions, start=1)
        ],
        earned=wording.points(sum(each.earned for each in solutions)),
        full=wording.points(sum(marks.fulls.values())),
        absent=[
            problem.title or problem.id for name, problem in marks.problems.items()
            if (student, name) not in marks.solutions
        ],
        is_carried=marks.scoring.needs_diagnosis, language=wording.code, say=wording.say, count=wording.count,
    )  # fmt: skip


def part_name(letter: str, wording: Wording = ENGLISH, *, is_only: bool = False) -> str:
    """Return the name of a part for a table; nodes of no part are the other steps, or all of them."""
    return f"({letter})" if letter else wording.say("all steps" if is_only else "other steps")


def unread_note(solution: MarkedSolution, wording: Wording = ENGLISH) -> tuple[str, ...]:
    """Return in a sentence how many formulas of a solution could not be read; empty if all could."""
    n_unread = solution.grade.unread
    if not n_unread:
        return ()
    return (wording.say("{formulas} could not be read.", formulas=wording.count(n_unread, "formula")),)


def _notes(marks: ClassMarks, solution: MarkedSolution, wording: Wording) -> tuple[str, ...]:
    """Return in sentences what is not read of a solution, and who reads it or has decided."""
    concerns = concerns_of_solution(marks, solution)
    return (*(each.says_in(wording) for each in concerns), *unread_note(solution, wording))


def _section(number: int, solution: MarkedSolution, notes: tuple[str, ...], wording: Wording) -> dict[str, Any]:
    """Compute all that the page shows of a solution; ids of its elements begin with its number."""
    context, carried = solution.problem.context, solution.carried
    steps = student_steps(solution.grade, solution.diagnosis, context, carried, wording=wording)
    numbers = step_numbers(solution.grade, steps)
    states = {each.number: each.state for each in steps}
    marked = [
        replace(item, status=states[number], nodes=(number,))
        for number, (_, item) in zip(numbers, shown_formulas(solution.grade), strict=True)
    ]
    text = marked_text(solution.text, marked, numbers, f"s{number}", _MAX_TEXT, MARKS)
    is_only = len(solution.parts) == 1
    return {
        "number": number, "title": solution.problem.title or solution.problem.id,
        "earned": wording.points(solution.earned), "full": wording.points(solution.full), "notes": notes,
        "is_read": solution.is_read, "parts": [_part_row(part, wording, is_only=is_only) for part in solution.parts],
        "words": [_word(node, wording) for node in solution.corrections],
        "lists": [
            (wording.say(title), "open" in own, [_shown_step(each, wording) for each in steps if each.state in own])
            for title, own in _LISTS
        ],
        "text": text, "typeset": typeset(text.parts),
    }  # fmt: skip


def _shown_step(step: StudentStep, wording: Wording) -> dict[str, Any]:
    """Return a step as the page has it: the formula typeset, and the part of it that the sentence is about."""
    is_text = step.formula.kind == "text"
    return {
        "number": step.number, "css": MARKS[step.state].css, "says": step.says,
        "formula": statement(step.formula.latex if is_text else wording.numbers(step.formula.latex), is_text=is_text),
        "part": statement(wording.numbers(step.part)) if step.part else None,
    }  # fmt: skip


def _part_row(part: PartMarks, wording: Wording, *, is_only: bool) -> dict[str, str]:
    """Return the row of a part in the table of parts."""
    finals = Counter(_final_in_words(node) for node in part.nodes if node.is_final)
    n_final = sum(finals.values())
    said = [wording.say(words) if n_final == 1 else f"{n} {wording.say(words)}" for words, n in finals.items()]
    n_earned = sum(node.share > 0 for node in part.nodes)
    return {
        "name": part_name(part.letter, wording, is_only=is_only),
        "points": _of(wording, wording.points(part.earned), wording.points(part.full)),
        "steps": _of(wording, n_earned, len(part.nodes)), "finals": ", ".join(said) or "–",
    }  # fmt: skip


def _of(wording: Wording, earned: object, full: object) -> str:
    """Return `3 of 4`."""
    return wording.say("{earned} of {full}", earned=earned, full=full)


def _final_in_words(node: MarkedNode) -> str:
    """Return what became of a final answer."""
    if node.is_changed or node.rule == NOT_READ:
        return _FINALS["marked" if node.share else "unmarked"]
    return _FINALS["unpaid" if node.rule == "credited" and not node.share else node.rule]


def _word(node: MarkedNode, wording: Wording) -> dict[str, Any]:
    """Return what a marker says of a node, which has a correction."""
    correction = node.correction
    assert correction is not None
    where = wording.say("Step {number} of the reference", number=node.index)
    if node.part:
        where += wording.say(", part ({letter})", letter=node.part)
    beside = _NOTHING_READ if node.rule == NOT_READ else _BESIDE[node.is_changed]
    return {
        "node": where, "says": wording.say(_WORDS[correction.credited]), "beside": wording.say(beside),
        "by": correction.by, "why": correction.why,
    }  # fmt: skip

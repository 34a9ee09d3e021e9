"""The marks of a class in the columns that Moodle and Canvas take.

*Moodle.* Where the solutions come from a folder of Moodle's, each student has a number there, and the table is the
grading worksheet of the assignment (Upload grading worksheet), which finds its columns by their names in the site's
language: `Identifier`, `Grade`, `Last modified (grade)`, `Feedback comments`. Else it is a table for the import of the
gradebook (Grades, Import, CSV file), where a person says which column is which, and students have their user names.

*Canvas.* The head and the row `Points Possible` are those of its own export. Students are found by `SIS Login ID`,
where the columns of ids are empty. Numbers have a point, which Canvas takes in a table with commas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prism.reports.feedback.attention import concerns_of
from prism.reports.feedback.class_page import columns_of
from prism.reports.feedback.gradebook import everybody
from prism.reports.feedback.marking import ClassMarks, points_text
from prism.reports.feedback.wording import ENGLISH, Wording
from prism.reports.spreadsheets import csv_text

_WORKSHEET = {
    "en": ("Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments"),
    "de": ("ID", "Vollständiger Name", "Bewertung", "Bestwertung", "Zuletzt geändert (Bewertung)",
           "Feedback als Kommentar"),
}  # fmt: skip
_PARTICIPANT = {"en": "Participant ", "de": "Teilnehmer/in"}  # before the number, as Moodle writes it
_IMPORT = {
    "en": ("Username", "Grade", "Maximum Grade", "Feedback comments"),
    "de": ("Anmeldename", "Bewertung", "Bestwertung", "Feedback als Kommentar"),
}
_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def moodle_csv(marks: ClassMarks, participants: Mapping[str, str], wording: Wording = ENGLISH) -> str:
    """Return the marks for Moodle.

    Args:
        participants: number of each student in the assignment; empty where no folder of Moodle's says it.
        wording: the language of the site.
    """
    full = wording.points(sum(marks.fulls.values()))
    rows = [_WORKSHEET[wording.code] if participants else _IMPORT[wording.code]]
    for student in everybody(marks):
        solutions = marks.of(student)
        grade = wording.points(sum(each.earned for each in solutions)) if solutions else ""
        says = _comment(marks, student, wording)
        if participants:
            number = participants.get(student, "")
            who = f"{_PARTICIPANT[wording.code]}{number}" if number else ""
            rows.append((who, student, grade, full, "-", says))
        else:
            rows.append((student, grade, full, says))
    return csv_text(rows)


def canvas_csv(marks: ClassMarks, _participants: Mapping[str, str], _wording: Wording = ENGLISH) -> str:
    """Return the marks for Canvas: a column for each problem, by its title."""
    titles = [problem.title or problem.id for problem in marks.problems.values()]
    fulls = [points_text(full) for full in marks.fulls.values()]
    rows = [[*_CANVAS, *titles], ["    Points Possible", "", "", "", "", *fulls]]
    for student in everybody(marks):
        own = {each.problem.id: points_text(each.earned) for each in marks.of(student)}
        rows.append([student, "", "", student, "", *(own.get(name, "") for name in marks.problems)])
    return csv_text(rows)


PlatformWriter = Callable[[ClassMarks, Mapping[str, str], Wording], str]
PLATFORMS: Mapping[str, PlatformWriter] = {
    "moodle": moodle_csv,
    "canvas": canvas_csv,
}
"""Whose columns a gradebook may have."""


def _comment(marks: ClassMarks, student: str, wording: Wording) -> str:
    """Return the points by part, and what a person has to read, for the student."""
    told = []
    for column in columns_of(marks, wording):
        solution = marks.solutions.get((student, column.problem_id))
        if solution is None or (column.letter is None and len(solution.parts) > 1):
            continue
        title = marks.problems[column.problem_id].title or column.problem_id
        name = title if column.letter is None else f"{title} {column.name}"
        earned = next((each.earned for each in solution.parts if each.letter == column.letter), solution.earned)
        told.append(f"{name}: {wording.say('{earned} of {full}', earned=wording.points(earned), full=column.full)}")
    return "; ".join([*told, *(each.says_in(wording) for each in concerns_of(marks, student))])

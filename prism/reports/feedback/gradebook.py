"""The marks of a class as CSV: a gradebook with a row for each student, and a list of each node of each solution.

Every sum is that of its parts. Numbers have the comma of the language, and cells the separator that spreadsheets of
that language take; names of columns are the same in all languages, for programs.

The marks of a class in the columns that Moodle and Canvas take.

*Moodle.* Where the solutions come from a folder of Moodle's, each student has a number there, and the table is the
grading worksheet of the assignment (Upload grading worksheet), which finds its columns by their names in the site's
language: `Identifier`, `Grade`, `Last modified (grade)`, `Feedback comments`. Else it is a table for the import of the
gradebook (Grades, Import, CSV file), where a person says which column is which, and students have their user names.

*Canvas.* The head and the row `Points Possible` are those of its own export. Students are found by `SIS Login ID`,
where the columns of ids are empty. Numbers have a point, which Canvas takes in a table with commas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from prism.reports.feedback.attention import Concern, concerns_of
from prism.reports.feedback.class_page import Column, cell_points, columns_of
from prism.reports.feedback.marking import NOT_READ, ClassMarks, points_text
from prism.reports.feedback.wording import ENGLISH, Wording
from prism.reports.table_formats import csv_text

STEP_COLUMNS = (
    "student", "problem", "alternative", "part", "node", "final", "weight", "rule", "share_by_rule", "marker", "share",
    "by", "why",
)  # fmt: skip
"""Columns of the list of nodes: `weight` is the node's share of the problem's points, `share` what of it is earned."""


def gradebook_csv(marks: ClassMarks, wording: Wording = ENGLISH) -> str:
    """Return the gradebook: student, points with and without a marker's corrections, full points, points by part.

    Of each problem there are the columns `ID.points`, `ID.by_rule`, and `ID.a` for each of several parts; they are
    empty where a student has not handed in, and those by rule where nothing was read. Who has handed in a file that
    is not read has a row as well.
    """
    columns = columns_of(marks)
    head = ["student", "points", "points_by_rule", "full_points", "corrections", "needs_a_person",
            "settled_by_a_person", "unread_formulas"]  # fmt: skip
    rows = [[*head, *(name for column in columns for name in _column_names(column))]]
    for student in everybody(marks):
        solutions = marks.of(student)
        concerns = concerns_of(marks, student)
        cells: list[str] = []
        for column in columns:
            solution = marks.solutions.get((student, column.problem_id))
            points = cell_points(solution, column.letter)
            cells.append("" if points is None else wording.points(points))
            if column.letter is None:
                cells.append(_sum_text([solution.by_rule] if solution and solution.is_read else [], wording))
        rows.append([
            student, _sum_text([each.earned for each in solutions], wording),
            _sum_text([each.by_rule for each in solutions if each.is_read], wording),
            wording.points(sum(marks.fulls.values())),
            str(sum(len(each.corrections) for each in solutions)),
            _in_one_cell([each for each in concerns if not each.decided_by]),
            _in_one_cell([each for each in concerns if each.decided_by]),
            str(sum(each.grade.unread for each in solutions)),
            *cells,
        ])  # fmt: skip
    return csv_text(rows, separator=wording.separator)


def everybody(marks: ClassMarks) -> list[str]:
    """Return the names of all who have handed in anything, sorted."""
    return sorted({*marks.students, *(each.student for each in marks.unread)})


def _sum_text(points: Sequence[int], wording: Wording) -> str:
    """Return the sum of points in hundredths as text; empty of none."""
    return wording.points(sum(points)) if points else ""


def _in_one_cell(concerns: Sequence[Concern]) -> str:
    """Return what asks for a person in one cell; a solution is told by its problem, a file by its own name."""
    return "; ".join(each.says if each.is_file else f"{each.problem_id}: {each.says}" for each in concerns)


def _column_names(column: Column) -> Sequence[str]:
    """Return the names in the head of a gradebook that a column of marks has there."""
    if column.letter is None:
        return f"{column.problem_id}.points", f"{column.problem_id}.by_rule"
    return (f"{column.problem_id}.{column.letter or 'other'}",)


def steps_csv(marks: ClassMarks, wording: Wording = ENGLISH) -> str:
    """Return a row for each node of each solution: what the rule says, and beside it what a marker says."""
    rows: list[Sequence[str]] = [STEP_COLUMNS]
    for student in marks.students:
        for solution in marks.of(student):
            for node in solution.nodes:
                word = node.correction
                marker = "" if word is None else "credited" if word.credited else "not credited"
                rows.append((
                    student, solution.problem.id, solution.problem.alternative, node.part, str(node.index),
                    "yes" if node.is_final else "no", _number(node.weight, wording), node.rule,
                    "" if node.rule == NOT_READ else _number(node.share_by_rule, wording), marker,
                    _number(node.share, wording),
                    "" if word is None else word.by, "" if word is None else word.why,
                ))  # fmt: skip
    return csv_text(rows, separator=wording.separator)


def _number(value: Fraction, wording: Wording) -> str:
    """Write a share with six digits."""
    return f"{float(value):.6g}".replace(".", wording.comma)


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
PLATFORMS: Mapping[str, PlatformWriter] = {"moodle": moodle_csv, "canvas": canvas_csv}
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

"""The marks of a class as CSV: a gradebook with a row for each student, and a list of each node of each solution.

Points are decimals with a point, and every sum is that of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from prism.reports.feedback.class_page import Column, cell_points, columns_of
from prism.reports.feedback.marking import ClassMarks, points_text
from prism.reports.feedback.student_page import notes_of
from prism.reports.spreadsheets import csv_text

STEP_COLUMNS = (
    "student", "problem", "alternative", "part", "node", "final", "weight", "rule", "share_by_rule", "marker", "share",
    "by", "why",
)  # fmt: skip
"""Columns of the list of nodes: `weight` is the node's share of the problem's points, `share` what of it is earned."""


def gradebook_csv(marks: ClassMarks) -> str:
    """Return the gradebook: student, points with and without a marker's corrections, full points, points by part.

    Of each problem there are the columns `ID.points`, `ID.by_rule`, and `ID.a` for each of several parts; they are
    empty where a student has not handed in. Who has handed in a file that is not read has a row as well.
    """
    columns = columns_of(marks)
    head = ["student", "points", "points_by_rule", "full_points", "corrections", "needs_a_person", "unread_formulas"]
    rows = [[*head, *(name for column in columns for name in _column_names(column))]]
    for student in sorted({*marks.students, *(each.student for each in marks.unread)}):
        solutions = marks.of(student)
        notes = [f"{each.problem.id}: {' '.join(told)}" for each in solutions if (told := notes_of(each))]
        notes += [each.note for each in marks.unread if each.student == student]
        cells: list[str] = []
        for column in columns:
            solution = marks.solutions.get((student, column.problem_id))
            points = cell_points(solution, column.letter)
            cells.append("" if points is None else points_text(points))
            if column.letter is None:
                cells.append("" if solution is None else points_text(solution.by_rule))
        totals = (sum(each.earned for each in solutions), sum(each.by_rule for each in solutions))
        rows.append([
            student, *(points_text(total) if solutions else "" for total in totals),
            points_text(sum(marks.fulls.values())),
            str(sum(len(each.corrections) for each in solutions)),
            "; ".join(notes),
            str(sum(each.grade.unread for each in solutions)),
            *cells,
        ])  # fmt: skip
    return csv_text(rows)


def _column_names(column: Column) -> Sequence[str]:
    """Return the names in the head of a gradebook that a column of marks has there."""
    if column.letter is None:
        return f"{column.problem_id}.points", f"{column.problem_id}.by_rule"
    return (f"{column.problem_id}.{column.letter or 'other'}",)


def steps_csv(marks: ClassMarks) -> str:
    """Return a row for each node of each solution: what the rule says, and beside it what a marker says."""
    rows: list[Sequence[str]] = [STEP_COLUMNS]
    for student in marks.students:
        for solution in marks.of(student):
            for node in solution.nodes:
                word = node.correction
                marker = "" if word is None else "credited" if word.credited else "not credited"
                rows.append((
                    student, solution.problem.id, solution.problem.alternative, node.part, str(node.index),
                    "yes" if node.is_final else "no", f"{float(node.weight):.6g}", node.rule,
                    f"{float(node.share_by_rule):.6g}", marker, f"{float(node.share):.6g}",
                    "" if word is None else word.by, "" if word is None else word.why,
                ))  # fmt: skip
    return csv_text(rows)

"""The solutions that come with a problem, and their labels: the grade that a careful physicist gives each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from prism.problem.dag import ReferenceDag, ancestor_closure, is_final_correct, score
from prism.problem.fields import (
    LoadReport,
    quoted_value,
    read_flag,
    read_id,
    read_indices,
    read_tables,
    read_text,
    warn_unknown,
)
from prism.problem.source import Table

_STUDENT_KEYS = frozenset(("name", "solution", "why", "expected"))
_EXPECTED_LISTS = ("debatable", "needs_definitions", "renamed", "text_only", "unevaluated", "known_gaps")
_EXPECTED_KEYS = frozenset(
    ("matched", "credited", "score", "final_correct", "without_definitions", "alternative", *_EXPECTED_LISTS)
)
_LABEL_TOLERANCE = 1e-5  # labels write scores with six decimals


@dataclass(frozen=True, slots=True)
class Expected:
    """The label of a student's solution: the grade that a careful physicist gives; indices are sorted.

    Attributes:
        matched, credited: node indices.
        score: share of the points, in [0, 1].
        final_correct: every final answer matched itself.
        debatable: nodes for which the other decision is defensible too; never counted as errors.
        needs_definitions: nodes matched only by way of a symbol that a definition introduces.
        renamed: nodes matched only if a name of another source is read as the problem's.
        text_only: nodes matched by words, without an equation.
        unevaluated: numeric nodes whose number the student never states.
        known_gaps: nodes that this version decides otherwise than the label.
        alternative: the reference DAG that the indices are of; empty for the problem's own.
    """

    matched: tuple[int, ...]
    credited: tuple[int, ...]
    score: float
    final_correct: bool
    debatable: tuple[int, ...] = ()
    needs_definitions: tuple[int, ...] = ()
    renamed: tuple[int, ...] = ()
    text_only: tuple[int, ...] = ()
    unevaluated: tuple[int, ...] = ()
    known_gaps: tuple[int, ...] = ()
    alternative: str = ""


@dataclass(frozen=True, slots=True)
class Student:
    """A solution that comes with the problem, and its label if it has one."""

    name: str
    solution: str
    why: str = ""
    expected: Expected | None = None


def read_students(
    data: Table, references: Mapping[str, ReferenceDag | None], report: LoadReport
) -> tuple[Student, ...]:
    """Return the students' solutions of a problem file with their labels.

    Args:
        references: the reference DAGs by the names of the alternatives, empty for the problem's own; None after a
            fault.
    """
    students: list[Student] = []
    for place, entry in read_tables(data, "students", report):
        name = read_id(entry, "name", f"students, entry {place}", report)
        where = f"student {name or place}"
        warn_unknown(entry, _STUDENT_KEYS, where, report)
        if name and name in [earlier.name for earlier in students]:
            report.faults.append(f"{where}, name: stands twice")
        solution = read_text(entry, "solution", where, report, required=True)
        why = read_text(entry, "why", where, report)
        label = entry.get("expected")
        expected = None
        if isinstance(label, Mapping):
            expected = _read_expected(label, f"{where}, expected", references, report)
        elif label is not None:
            report.faults.append(f"{where}, expected: {quoted_value(label)} is no table")
        students.append(Student(name, solution, why, expected))
    return tuple(students)


def _read_expected(
    label: Table, where: str, references: Mapping[str, ReferenceDag | None], report: LoadReport
) -> Expected:
    """Return the label of a solution: matched and credited nodes, score, final_correct.

    A fault unless credited, score and final_correct follow from matched.

    Args:
        where: name of the label for messages.
        references: the reference DAGs, as of `read_students`.
    """
    warn_unknown(label, _EXPECTED_KEYS, where, report)
    before = len(report.faults)
    alternative = read_text(label, "alternative", where, report)
    if alternative not in references:
        hint = ", ".join(name for name in references if name) or "there are none"
        report.faults.append(f"{where}, alternative: {quoted_value(alternative)} is unknown; known are: {hint}")
    dag = references.get(alternative)
    lists = {
        key: tuple(sorted(set(read_indices(label, key, where, report, required=key in ("matched", "credited")))))
        for key in ("matched", "credited", *_EXPECTED_LISTS)
    }
    for key, items in lists.items():
        unknown = [str(index) for index in items if dag is not None and index not in dag.positions]
        if unknown:
            report.faults.append(f"{where}, {key}: no node {', '.join(unknown)}")
    value = label.get("score")
    share = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= share <= 1:
        report.faults.append(f"{where}, score: {quoted_value(value)} is no number from 0 to 1")
    final_correct = read_flag(label, "final_correct", where, report, required=True)
    expected = Expected(score=share, final_correct=final_correct, alternative=alternative, **lists)
    if dag is not None and len(report.faults) == before:
        report.faults += _label_faults(expected, where, dag)
    return expected


def _label_faults(expected: Expected, where: str, dag: ReferenceDag) -> list[str]:
    """Return the faults, in words, of a label whose credited nodes, score or final_correct contradict its `matched`."""
    closure = ancestor_closure(dag, expected.matched)
    share = score(dag, closure)
    faults = []
    if closure != frozenset(expected.credited):
        faults.append(f"{where}, credited: is {list(expected.credited)}, but matched earns {sorted(closure)}")
    if abs(share - Fraction(expected.score)) > _LABEL_TOLERANCE:
        faults.append(f"{where}, score: is {expected.score:g}, but matched earns {share} = {float(share):.6g}")
    if expected.final_correct != is_final_correct(dag, expected.matched):
        faults.append(
            f"{where}, final_correct: is {str(expected.final_correct).lower()}, but finals are {sorted(dag.finals)}"
        )
    return faults

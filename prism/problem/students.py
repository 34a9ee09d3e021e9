"""The solutions that come with a problem, and their labels: the grade that a careful physicist gives each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

from prism.problem.dag import ReferenceDag, ancestor_closure, is_final_correct, score
from prism.problem.fields import LoadReport, quoted_value
from prism.problem.shapes import Fit, Flag, Indices, Name, Text, exact_number, tell_repeated_names

_EXPECTED_LISTS = ("debatable", "needs_definitions", "renamed", "text_only", "unevaluated", "known_gaps")
_LABEL_TOLERANCE = 1e-5  # labels write scores with six decimals


NodeSet = Annotated[Indices, Fit(lambda indices: tuple(sorted(set(indices))), is_last=True)]


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

    matched: NodeSet
    credited: NodeSet
    score: Annotated[float, exact_number(0, 1, said="is no number from 0 to 1"), Fit(float, is_last=True)]
    final_correct: Flag
    debatable: NodeSet = ()
    needs_definitions: NodeSet = ()
    renamed: NodeSet = ()
    text_only: NodeSet = ()
    unevaluated: NodeSet = ()
    known_gaps: NodeSet = ()
    alternative: Text = ""
    without_definitions: Annotated[None, Fit(lambda _: None)] = None  # in the label, and no grade looks at it


@dataclass(frozen=True, slots=True)
class Student:
    """A solution that comes with the problem, and its label if it has one."""

    CALLED: ClassVar = ("student", "name")
    name: Name
    solution: Text
    why: Text = ""
    expected: Expected | None = None


def check_labels(
    students: Sequence[Student], references: Mapping[str, ReferenceDag | None], report: LoadReport
) -> None:
    """Add a fault for each name that stands twice, and each label that its reference DAG or its own rest contradicts.

    Args:
        references: the reference DAGs by the names of the alternatives, empty for the problem's own; None after a
            fault.
    """
    tell_repeated_names((student.name for student in students), "student", "name", report)
    for student in students:
        expected, where = student.expected, f"student {student.name}, expected"
        if expected is None:
            continue
        is_sound = not report.tells_of(where, "students, entry")
        if expected.alternative not in references:
            hint = ", ".join(name for name in references if name) or "there are none"
            name = quoted_value(expected.alternative)
            report.faults.append(f"{where}, alternative: {name} is unknown; known are: {hint}")
        elif (dag := references[expected.alternative]) is not None:
            unknown = {
                key: [str(index) for index in getattr(expected, key) if index not in dag.positions]
                for key in ("matched", "credited", *_EXPECTED_LISTS)
            }
            found = [f"{where}, {key}: no node {', '.join(ones)}" for key, ones in unknown.items() if ones]
            report.faults += found or (_label_faults(expected, where, dag) if is_sound else [])


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

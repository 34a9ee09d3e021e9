"""The shape of a problem file: the keys of its tables and what each value is; `dags/README.md` explains them.

The solutions that come with a problem, and their labels: the grade that a careful physicist gives each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from prism.problem.dag import ReferenceDag, ancestor_closure, is_final_correct, score
from prism.problem.shapes import (
    About,
    Flag,
    Index,
    Indices,
    LoadReport,
    Name,
    Reader,
    Text,
    WholeSentenceError,
    exact_number,
    quoted_value,
    read_name,
    tell_repeated_names,
    text_like,
    whole_number,
)

_EXPECTED_LISTS = ("debatable", "needs_definitions", "renamed", "text_only", "unevaluated", "known_gaps")
_LABEL_TOLERANCE = 1e-5  # labels write scores with six decimals


NodeSet = Annotated[Indices, Reader(lambda indices: tuple(sorted(set(indices))), is_last=True)]


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
    score: Annotated[float, exact_number(0, 1, fault="is no number from 0 to 1"), Reader(float, is_last=True)]
    final_correct: Flag
    debatable: NodeSet = ()
    needs_definitions: NodeSet = ()
    renamed: NodeSet = ()
    text_only: NodeSet = ()
    unevaluated: NodeSet = ()
    known_gaps: NodeSet = ()
    alternative: Text = ""
    without_definitions: Annotated[None, Reader(lambda _: None)] = None  # in the label, and no grade looks at it


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


MAX_FIGURES = 15  # a double holds no more
_NO_NAME = "is no name: 1 to 40 letters, digits and blanks, . ' ( ) / + -"
_NAME = re.compile(r"\w(?:[\w .'()/+-]{0,38}[\w.')])?")  # of an alternative: messages, rows and tables show it


def read_problem_id(value: Any) -> str:
    """Return the id of a problem as text, whole numbers too.

    Errors:
        ValueError: what it is not, in words.
    """
    if value == "":
        raise WholeSentenceError("is empty")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else read_name(value)


Figures = Annotated[int | None, whole_number(1, MAX_FIGURES)]
Mark = Annotated[int | None, whole_number(1, 3)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartEntry:
    """A part; its solution is not used."""

    CALLED: ClassVar = ("subquestion", "letter")
    letter: Name
    subproblem: Text = ""
    solution: Text = ""
    final_answer_form: Text = ""
    final_answer_instructions: Text = ""
    significant_figures: Figures = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeNote:
    """What a draft says of an edge, or of one that a person has to decide on; no grade looks at it."""

    from_: Index
    why: Text = ""
    question: Flag = False
    reviewed: Flag = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEntry:
    """A node; formula and index are None where they have a fault."""

    CALLED: ClassVar = ("node", "index")
    index: Annotated[Index | None, About("indices count from 1", "is no whole number; indices count from 1")]
    formula: Text | None
    dependency: Indices
    is_final_answer: Flag = False
    points: Annotated[Fraction, exact_number(fault="is no finite number >= 0")] = Fraction(1)
    accept: Annotated[tuple[Text, ...], About(fault="is no list of formulas")] = ()
    subquestion: Text = ""
    reviewed: Flag = True
    edges: Annotated[tuple[EdgeNote, ...], About(fault="is no list of tables")] = ()


NodeEntries = tuple[NodeEntry, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceTable:
    """The nodes of a reference DAG, under one of four keys."""

    grading_standard: NodeEntries = None
    dag: NodeEntries = None
    grading: NodeEntries = None
    core_formulas: NodeEntries = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeEntry(ReferenceTable):
    """Another reference DAG."""

    CALLED: ClassVar = ("alternative", "name")
    name: Annotated[str, text_like(_NAME, _NO_NAME)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The author's marks of difficulty; None where they have a fault."""

    C1: Mark
    C2: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFile(ReferenceTable):
    """The whole; a statement is required, though it may be empty: what it does not declare may be a constant."""

    id: Annotated[str, Reader(read_problem_id)]
    title: Text = ""
    domain: Text = ""
    subtopic: Text = ""
    kind: Text = ""
    origin: Text = ""
    source: Text = ""
    context: Text
    difficulty: Annotated[Marks | None, About(fault="is no table of C1 and C2, each 1, 2 or 3")] = None
    final_answer_form: Text = ""
    final_answer_instructions: Text = ""
    significant_figures: Figures = None
    subquestions: tuple[PartEntry, ...] = ()
    students: tuple[Student, ...] = ()
    alternatives: tuple[AlternativeEntry, ...] = ()
    certified_by: Text = ""
    certified_on: Text = ""
    certified_digest: Text = ""
    images: Any = None
    symbols: Any = None
    givens: Any = None
    definitions: Any = None
    macros: Any = None
    metadata: Any = None

"""The shape of a problem file: the keys of its tables and what each value is; `dags/README.md` explains them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from prism.problem.shapes import (
    About,
    Fit,
    Flag,
    Index,
    Indices,
    Name,
    Text,
    WholeSentenceError,
    exact_number,
    read_name,
    text_like,
    whole_number,
)
from prism.problem.students import Student

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
    points: Annotated[Fraction, exact_number(said="is no finite number >= 0")] = Fraction(1)
    accept: Annotated[tuple[Text, ...], About(said="is no list of formulas")] = ()
    subquestion: Text = ""
    reviewed: Flag = True
    edges: Annotated[tuple[EdgeNote, ...], About(said="is no list of tables")] = ()


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

    id: Annotated[str, Fit(read_problem_id)]
    title: Text = ""
    domain: Text = ""
    subtopic: Text = ""
    kind: Text = ""
    origin: Text = ""
    source: Text = ""
    context: Text
    difficulty: Annotated[Marks | None, About(said="is no table of C1 and C2, each 1, 2 or 3")] = None
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

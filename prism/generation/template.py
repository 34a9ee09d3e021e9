"""A symbolic template: wordings with blanks, how the blanks are drawn, and a DAG in which no number is typed.

`loading` reads one from its file, and `docs/reference/templates.md` explains every key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Formula
from prism.physics.tables import Unit

ORIGINAL, PERTURBED, KNOWLEDGE, ABSTRACT = VARIANTS = ("original", "perturbed", "knowledge", "abstract")
"""What an instance may be: the author's own values, drawn ones, the same with relations told, the same as symbols."""

CASE_BLANK = "case"  # `@{case}` is the text of the drawn case


@dataclass(frozen=True, slots=True)
class Parameter:
    """A blank of the wordings, and how its value is drawn.

    Attributes:
        key: as the file and the blanks write it.
        name: the symbol in the parser's spelling; empty for a word.
        way: `uniform`, `log_uniform`, `integer`, `choice`, `table` or `value`.
        bounds: of the first three ways, in the parameter's unit.
        choices: texts of `choice`, or the one of `value`.
        table, column: of `table`.
        figures: to which a drawn number is rounded.
        unit_text, unit: empty and None for a pure number.
        sign: `+`, `-`, or `either`, which is drawn too.
        levels: bounds in place of `bounds` for each level of a curriculum, easy to hard.
    """

    key: str
    name: str
    way: str
    bounds: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    choices: tuple[str, ...] = ()
    table: str = ""
    column: str = ""
    figures: int = 3
    unit_text: str = ""
    unit: Unit | None = None
    sign: str = "+"
    levels: tuple[tuple[Fraction, Fraction], ...] = ()


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows of values that belong together, as the properties of a material do; one row is drawn for an instance.

    Attributes:
        name: under `tables`.
        columns: their names.
        rows: a text for each column.
        usual: lowest and highest value that is usual, by column.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    usual: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """A relation that drawn values have to fulfil.

    Attributes:
        formula: an inequality, or a chain of them.
        margin: share of the larger side by which both sides differ at least.
        where: its place in the file, for messages.
    """

    formula: Formula
    margin: Fraction
    where: str


@dataclass(frozen=True, slots=True)
class Case:
    """A regime of the problem: nodes and subquestions that name it count only there.

    Attributes:
        name: as nodes name it.
        condition: when it holds.
        weight: how often it is drawn, against the others.
        text: what `@{case}` stands for.
    """

    name: str
    condition: Condition
    weight: Fraction
    text: str


@dataclass(frozen=True, slots=True)
class AskedNumber:
    """What a number node asks for in place of a formula.

    Attributes:
        latex, name: of the quantity, as written and in the parser's spelling.
        unit_text, unit: empty and None for a pure number.
        figures: significant figures that are written.
        is_scientific: always written with a power of ten.
    """

    latex: str
    name: str
    unit_text: str
    unit: Unit | None
    figures: int
    is_scientific: bool


@dataclass(frozen=True, slots=True)
class TemplateNode:
    """A node of the template's DAG.

    Attributes:
        index: as the author numbers it; it is numbered anew for each case.
        latex: its formula; empty for a number.
        number: None for a formula.
        dependency: the author's indices.
        case: name of its case; empty for all.
        further: the other keys of a node in a problem file: `is_final_answer`, `points`, `accept`, `subquestion`.
    """

    index: int
    latex: str
    number: AskedNumber | None
    dependency: tuple[int, ...]
    case: str
    further: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Original:
    """The author's own values.

    Attributes:
        values: text of each parameter that is drawn by itself, by key.
        rows: place from 0 of the row of each table, by its name.
        wording: place from 0.
    """

    values: Mapping[str, str] = field(hash=False)
    rows: Mapping[str, int] = field(hash=False)
    wording: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """A template as its file states it, its values checked one by one; `preparing` solves it.

    Attributes:
        id: names its instances, and keys its draws.
        file: for messages.
        sha256: of the file.
        shared: keys that every instance takes over: title, domain, symbols, definitions, macros, metadata, ...
        wordings: texts with blanks.
        subquestions: tables as in a problem file, with `case`.
        constraints: of all cases.
        cases: empty without regimes.
        nodes: in the order of their indices.
        parameters: by key.
        tables: by name.
        original: None if the file has no values of its own.
        told_nodes: indices of the nodes that `knowledge` tells; None for those without prerequisites.
        abstract: own text of the variant `abstract`; empty for the one that is made up.
    """

    id: str
    file: str
    sha256: str
    shared: Mapping[str, Any] = field(hash=False)
    wordings: tuple[str, ...]
    subquestions: tuple[Mapping[str, Any], ...] = field(hash=False)
    constraints: tuple[Condition, ...]
    cases: tuple[Case, ...]
    nodes: tuple[TemplateNode, ...]
    parameters: Mapping[str, Parameter] = field(hash=False)
    tables: Mapping[str, DataTable] = field(hash=False)
    original: Original | None
    told_nodes: tuple[int, ...] | None
    abstract: str

    def __repr__(self) -> str:
        """Return id and sizes, `<Template braking: 5 parameters, 7 nodes, 2 cases>`."""
        sizes = f"{len(self.parameters)} parameters, {len(self.nodes)} nodes, {len(self.cases)} cases"
        return f"<Template {self.id}: {sizes}>"

    @property
    def case_names(self) -> tuple[str, ...]:
        """Return the names of its cases; one empty name without cases."""
        return tuple(case.name for case in self.cases) or ("",)

    def case(self, name: str) -> Case | None:
        """Return the case of a name; None for the empty one."""
        return next((case for case in self.cases if case.name == name), None)

    def nodes_of(self, case: str) -> tuple[TemplateNode, ...]:
        """Return the nodes that count in a case, in order."""
        return tuple(node for node in self.nodes if node.case in ("", case))

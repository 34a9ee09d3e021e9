"""Load a problem file, validate all of it, and turn it into the values that a grade needs.

The plain dictionary that `problem.source` reads is checked by hand. Refused: a schema library. msgspec, which other
modules use, stops at the first fault, and an author who mends a file wants all. `dags/README.md` explains the keys.

Faults stop the load and are reported together, in one `DataFileError`, each naming entry and field. Unknown keys,
implied edges and formulas of the statement that do not parse are warnings: the problem can be graded all the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from prism.algebra.expr import Formula, formula, number, symbols_of
from prism.budget import CHARACTER, SOLUTION, share
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.numbers.stated import LARGEST, six_figures
from prism.errors import DagError, DataFileError, LatexSyntaxError, PrismError, count_of
from prism.latex import extract
from prism.latex.extraction.decimal_commas import with_decimal_points
from prism.latex.macros import expanded_values, read_macros
from prism.physics.context import Context, describe_syntax_error, parse, with_written_names
from prism.problem.answers import ANSWER, is_answer_only, with_nameless_subject, with_nodes
from prism.problem.dag import (
    LEADS_NOWHERE,
    Node,
    ReferenceDag,
    entropy,
    implied_edges,
    reference_dag,
    structural_difficulty,
)
from prism.problem.fields import (
    LoadReport,
    field_name,
    is_integer,
    quoted_value,
    read_flag,
    read_id,
    read_indices,
    read_tables,
    read_text,
    warn_unknown,
)
from prism.problem.images import ProblemImage, read_images
from prism.problem.knowledge import ProblemKnowledge, collect_knowledge
from prism.problem.source import (
    ALTERNATIVES,
    ANSWER_KEYS,
    NODE_LISTS,
    PlainProblem,
    Table,
    eaten_backslash,
    first_and_count,
    formulas_length,
    node_counts,
    read_source,
    statement_length,
    with_macros,
    with_stated_macros,
)
from prism.problem.students import Student, read_students
from prism.problem.worded_answers import is_text

_READINGS = 4  # times that the text is read: for formulas, values and definitions, constants, and once in reserve
_PROBLEM_TEXTS = ("title", "domain", "subtopic", "kind", "origin", "source")
_PROBLEM_KEYS = frozenset((
    "id", "context", "images", "subquestions", "difficulty", "givens", "symbols", "definitions", "macros",
    "students", "metadata", "$schema", ALTERNATIVES, *_PROBLEM_TEXTS, *NODE_LISTS, *ANSWER_KEYS,
))  # fmt: skip
_WITH_MACROS = frozenset((
    "context", "subquestions", "symbols", "givens", "definitions", ALTERNATIVES, *NODE_LISTS, *ANSWER_KEYS,
))  # fmt: skip
_WITH_DECIMALS = frozenset(("givens", "definitions", ALTERNATIVES, *NODE_LISTS))
_SUBQUESTION_KEYS = frozenset(("letter", "subproblem", "solution", *ANSWER_KEYS))
_NODE_KEYS = frozenset(("index", "formula", "dependency", "is_final_answer", "points", "accept", "subquestion"))
_ALTERNATIVE_KEYS = frozenset(("name", *NODE_LISTS))
_NAME = re.compile(r"\w(?:[\w .'()/+-]{0,38}[\w.')])?")  # of an alternative: messages, rows and tables show it
_ANSWER_FORMS = ("algebraic", "numerical", "text-based")
_MAX_FIGURES = 15  # a double holds no more
# The sum C1 + C2 + C3 runs from 3 to 9; which sums are which level is not published. Here the range is cut into three
# equal parts, the upper end of each belonging to the next: 3 and 4, 5 and 6, 7 to 9.
_LEVELS = ((7, "Hard"), (5, "Medium"), (3, "Easy"))


@dataclass(frozen=True, slots=True)
class Subquestion:
    """One part of the problem; empty texts and None where the file has no entry.

    Attributes:
        letter: its name in the text.
        text: the question.
        final_answer_form: `algebraic`, `numerical`, `text-based`.
        final_answer_instructions: how the answer is to be given.
        significant_figures: of the number asked for.
    """

    letter: str
    text: str = ""
    final_answer_form: str = ""
    final_answer_instructions: str = ""
    significant_figures: int | None = None


@dataclass(frozen=True, slots=True)
class ProblemNode:
    """One step of the reference solution: its formula, points and part. Its prerequisites stand in the problem's `dag`.

    Attributes:
        index: counts from 1.
        latex: as the author wrote it.
        formula: the parsed `latex`.
        accept: other formulas that the author accepts in its place; of an answer in words other words.
        subquestion: letter of its part, or empty.
        points: exact.
        is_final: True for a final answer.
        is_text: True for an answer in words, decided by the options of its instructions; its formula has no members.
    """

    index: int
    latex: str
    formula: Formula
    accept: tuple[Formula, ...] = ()
    subquestion: str = ""
    points: Fraction = Fraction(1)
    is_final: bool = False
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Difficulty:
    """The difficulty of a problem: three marks from 1 to 3, of which the author gives two and the DAG one.

    Attributes:
        concepts: C1, depth of the concepts; None if the file does not say.
        computation: C2, burden of the computation; None if the file does not say.
        structure: C3, from the entropy of the DAG.
        entropy: of the DAG's layers [nat].

    Source: PRISM-Physics (arXiv 2510.03185), the annotation of its problems.
    """

    concepts: int | None
    computation: int | None
    structure: int
    entropy: float

    @property
    def total(self) -> int | None:
        """Return the sum C1 + C2 + C3, from 3 to 9, or None if the file gives no marks."""
        if self.concepts is None or self.computation is None:
            return None
        return self.concepts + self.computation + self.structure

    @property
    def level(self) -> str | None:
        """Return `Easy` (a total of 3 or 4), `Medium` (5 or 6), `Hard` (7 to 9), or None without a total."""
        total = self.total
        return None if total is None else next(level for least, level in _LEVELS if total >= least)

    def to_dict(self) -> dict[str, object]:
        """Return plain values under the keys of the problem file."""
        return {
            "C1": self.concepts, "C2": self.computation, "C3": self.structure, "total": self.total,
            "level": self.level, "entropy": round(self.entropy, 6),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class TemplateOrigin:
    """Which template a generated problem was made from, as its `metadata.template` says; empty texts where it does not.

    Attributes:
        id: of the template.
        variant: `original`, `perturbed`, `knowledge` or `abstract`.
        pair: shared by the variants with the same values: id and seed.
        seed, case: that it was drawn with, and the regime that holds.
    """

    id: str
    variant: str = ""
    pair: str = ""
    seed: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A checked problem.

    Attributes:
        id: text, also where the file has a number.
        title, domain, subtopic, kind, origin: as written, or empty.
        statement: the problem's text, without its subquestions.
        subquestions: in file order.
        nodes: reference formulas, in index order.
        dag: their edges and points.
        context: values, definitions, macros and symbols that the problem gives; declares every symbol of its text.
        given: the same, with its sources and what of the text is not used.
        students: worked solutions with labels; an alternative has none.
        difficulty: its marks; the author's are None where the file gives none.
        sha256: of the bytes of the file or string, or of canonical JSON for a dictionary; with macros given beside it.
        warnings: likely slips that do not prevent grading.
        alternative: its name, if it is the same problem with another reference DAG; empty for the problem itself.
        alternatives: the same problem with each of its other reference DAGs, in file order (semantics S.1).
        images: its figures, in file order; no grade looks at them.
        has_answers_alone: its nodes are recorded answers and nothing else, as `metadata.dag = "answer"` says, so that
            its score is one of final answers.
        template: what it was generated from; None of a problem that was not generated.
    """

    id: str
    title: str
    domain: str
    kind: str
    origin: str
    statement: str
    subquestions: tuple[Subquestion, ...]
    nodes: tuple[ProblemNode, ...]
    dag: ReferenceDag
    context: Context
    given: ProblemKnowledge
    students: tuple[Student, ...]
    difficulty: Difficulty
    sha256: str
    warnings: tuple[str, ...]
    subtopic: str = ""
    alternative: str = ""
    alternatives: tuple[Problem, ...] = ()
    images: tuple[ProblemImage, ...] = ()
    has_answers_alone: bool = False
    template: TemplateOrigin | None = None

    def __repr__(self) -> str:
        """Return id and sizes, `<Problem free_fall: 4 nodes, 2 students>`."""
        ways = f", {count_of(len(self.alternatives), 'alternative')}" if self.alternatives else ""
        sizes = f"{count_of(len(self.nodes), 'node')}, {count_of(len(self.students), 'student')}{ways}"
        return f"<Problem {self.id}: {sizes}>"


@runtime_checkable
class HoldsProblem(Protocol):
    """A value made from a loaded problem, such as a `PreparedProblem`."""

    @property
    def problem(self) -> Problem:
        """Return the loaded problem."""


ProblemSource = str | PathLike[str] | Mapping[str, Any] | PlainProblem | Problem | HoldsProblem
"""What every call takes for a problem: shipped id, path, JSON text, table, or what was read, loaded or prepared before.
"""


def read_problem(
    source: str | PathLike[str] | Table, *, macros: Mapping[str, object] | None = None, folder: Path | None = None
) -> PlainProblem:
    """Read a problem as far as no formula is to be read: its table, sizes and id; `load_problem` does the rest.

    Args: as of `load_problem`.

    Errors:
        DataFileError: the faults of these, all at once.
    """
    report = LoadReport([], [])
    read = read_source(source, report.faults)
    if read.data is not None:
        known = with_macros(read, macros) if macros else read
        read = replace(known, id=_read_id(read.data, report), folder=read.folder or folder)
    if report.faults:
        raise DataFileError(read.name, first_and_count(report.faults))
    return read


def load_problem(
    source: ProblemSource, *, macros: Mapping[str, object] | None = None, folder: Path | None = None
) -> Problem:
    r"""Load a problem from a file (`.json` or `.toml`), a shipped id, a JSON string (begins with a brace), or a table.

    A problem that is loaded or prepared already is returned as it is, so that every call takes what this one takes.

    A table with an `answer` instead of nodes is a problem of nothing but its answer: `{"answer": "5 m/s"}`.

    Args:
        macros: LaTeX by name, `{"vc": r"\vec{#1}"}`, as if they stood in the problem's own table, which goes before
            them; not for a problem that is read or loaded already.
        folder: in which the images of a table or a string are found; those of a file are found beside it.

    Errors:
        DataFileError: all faults at once, each naming entry and field.
    """
    if isinstance(source, HoldsProblem):
        source = source.problem
    if isinstance(source, Problem):
        return source
    found = LoadReport([], [])
    read = source if isinstance(source, PlainProblem) else read_source(source, found.faults)
    problem = None
    if macros and read.data is not None:
        read = with_macros(read, macros)
    if read.data is not None:
        limit = SOLUTION + CHARACTER * (_READINGS * statement_length(read.data) + formulas_length(read.data))
        limit *= len(node_counts(read.data))  # each reads the statement anew
        with share(limit) as account:
            data = with_nodes(read.data, found.faults) if is_answer_only(read.data) else read.data
            images = read_images(data, read.folder or folder, found)
            if data is read.data or data[NODE_LISTS[0]]:  # of an answer without a formula that is what is wrong
                known = _with_macros_expanded(with_stated_macros(data))
                keys = _with_decimal_points(known) if data is read.data else known  # a gold `0,12` may be a list
                problem = _read_problem(keys, read.sha256, images, found)
        if account.is_exhausted:
            found.faults.append(f"costs more than {limit} operations to read; simplify its longest formulas")
    if problem is None or found.faults:
        raise DataFileError(read.name, first_and_count(found.faults))
    return problem


def _with_macros_expanded(data: Table) -> Table:
    """Return the table of a problem with its macros expanded in all that is read as LaTeX, but for its students."""
    known = read_macros(data.get("macros") or {}, [])  # faults are told by the context
    if not known:
        return data
    return {key: expanded_values(value, known) if key in _WITH_MACROS else value for key, value in data.items()}


def _with_decimal_points(data: Table) -> Table:
    """Return the table of a problem with points for the decimal commas of its formulas and values (semantics C.6).

    They are those that a solution of the same text would have: one reading for the statement and all formulas. The
    statement itself stays as it is written.
    """
    texts = [text for key, value in data.items() if key in _WITH_MACROS for text in _texts_in(value)]
    joined = "\n\n".join(texts)
    read = with_decimal_points(joined)
    if read == joined:
        return data
    starts = accumulate((len(text) + 2 for text in texts), initial=0)
    known = {text: read[start : start + len(text)] for text, start in zip(texts, starts, strict=False)}
    return {key: _with_texts(value, known) if key in _WITH_DECIMALS else value for key, value in data.items()}


def _texts_in(value: object) -> Iterator[str]:
    """Yield the texts among the values of nested lists and tables."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(each)


def _with_texts(value: object, known: Mapping[str, str]) -> object:
    """Return a value of nested lists and tables with each text replaced by what it maps to."""
    if isinstance(value, Mapping):
        return {key: _with_texts(each, known) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_texts(each, known) for each in value]
    return known[value] if isinstance(value, str) else value


def in_alternative(problem: Problem, name: str) -> Problem:
    """Return a problem with the reference DAG that a grade names in `alternative`: the problem itself if it is empty.

    Errors:
        PrismError: the problem has no alternative of that name.
    """
    for each in (problem, *problem.alternatives):
        if each.alternative == name:
            return each
    raise PrismError(f"problem {problem.id} has no alternative {quoted_value(name)}")


def formulas_of(node: ProblemNode) -> tuple[Formula, ...]:
    """Return the formulas that match a node: its own and those accepted in its place; empty for an answer in words."""
    return () if node.is_text else (node.formula, *node.accept)


# The whole ----------------------------------------------------------------------------------------------------


def _read_problem(data: Table, digest: str, images: tuple[ProblemImage, ...], report: LoadReport) -> Problem | None:
    """Build a problem from the table of its file; None if its DAG has faults. All faults go to the report."""
    warn_unknown(data, _PROBLEM_KEYS, "", report)
    name = _read_id(data, report)
    texts = {key: read_text(data, key, "", report) for key in _PROBLEM_TEXTS}
    # Required, though it may be empty: a symbol that the statement does not declare may be read as a constant.
    statement = read_text(data, "context", "", report, required=True)
    subquestions = _read_subquestions(data, report)
    declared = _read_context(data, statement, subquestions, report)
    nodes, dag = _read_nodes(data, subquestions, declared, report)
    text = "\n\n".join((statement, *(part.text for part in subquestions)))
    given = collect_knowledge(declared, text, [node.formula for node in nodes])
    others = dict(_read_alternatives(data, subquestions, declared, report))
    students = read_students(data, {"": dag, **{other: each[1] for other, each in others.items()}}, report)
    concepts, computation = _read_difficulty(data, report)
    if dag is None:
        return None
    report.warnings += _warnings_of_edges(dag)
    metadata = kept if isinstance(kept := data.get("metadata"), Mapping) else {}
    problem = Problem(
        id=name,
        title=texts["title"],
        domain=texts["domain"],
        kind=texts["kind"],
        origin=texts["origin"],
        statement=statement,
        subquestions=subquestions,
        nodes=nodes,
        dag=dag,
        context=given.context,
        given=given,
        students=students,
        difficulty=Difficulty(concepts, computation, structural_difficulty(dag), entropy(dag)),
        sha256=digest,
        warnings=(),
        subtopic=texts["subtopic"],
        images=images,
        has_answers_alone=metadata.get("dag") == ANSWER,
        template=_template_origin(metadata.get("template")),
    )
    alternatives = [
        _alternative(problem, other, nodes, dag, declared, text)
        for other, (nodes, dag) in others.items()
        if dag is not None
    ]
    return replace(problem, warnings=tuple(report.warnings), alternatives=tuple(alternatives))


def _read_id(data: Table, report: LoadReport) -> str:
    """Return the id of a problem, a whole number as text; of one that is nothing but its answer it may be missing."""
    given = data.get("id")
    if given == "":
        report.faults.append("id: is empty")
    if is_integer(given) or ("id" not in data and is_answer_only(data)):
        return ANSWER if given is None else str(given)
    return read_id(data, "id", "", report)


def _template_origin(given: object) -> TemplateOrigin | None:
    """Read `metadata.template`, which a file may use as it likes: what is no text or whole number is absent."""
    if not isinstance(given, Mapping):
        return None
    texts = {key: str(value) for key, value in given.items() if isinstance(value, str) or is_integer(value)}
    names = ("id", "variant", "pair", "seed", "case")
    return TemplateOrigin(*(texts.get(name, "") for name in names)) if texts.get("id") else None


def _warnings_of_edges(dag: ReferenceDag) -> list[str]:
    """Return the warnings about edges that others imply."""
    return [
        f"node {index}, dependency: {prerequisite} is implied by the others; list direct causes only"
        for prerequisite, index in implied_edges(dag)
    ]


_Reference = tuple[tuple[ProblemNode, ...], ReferenceDag | None]  # nodes in index order, and their DAG


def _read_alternatives(
    data: Table, subquestions: tuple[Subquestion, ...], context: Context, report: LoadReport
) -> Iterator[tuple[str, _Reference]]:
    """Yield name and reference of each alternative; its faults and warnings go to the report under its name."""
    names: set[str] = set()
    for place, entry in read_tables(data, ALTERNATIVES, report):
        where = f"{ALTERNATIVES}, entry {place}"
        name = read_text(entry, "name", where, report, required=True)
        if isinstance(entry.get("name"), str) and not _NAME.fullmatch(name):
            report.faults.append(
                f"{where}, name: {quoted_value(name)} is no name: 1 to 40 letters, digits and blanks, . ' ( ) / + -"
            )
        elif name in names:
            report.faults.append(f"{where}, name: {name} stands twice")
        names.add(name)
        where = f"alternative {name}" if _NAME.fullmatch(name) else where
        own = LoadReport([], [])
        warn_unknown(entry, _ALTERNATIVE_KEYS, "", own)
        nodes, dag = _read_nodes(entry, subquestions, context, own)
        own.warnings += [] if dag is None else _warnings_of_edges(dag)
        report.faults += [f"{where}, {fault}" for fault in own.faults]
        report.warnings += [f"{where}, {warning}" for warning in own.warnings]
        yield name, (nodes, dag)


def _alternative(
    problem: Problem, name: str, nodes: tuple[ProblemNode, ...], dag: ReferenceDag, declared: Context, text: str
) -> Problem:
    """Return the same problem with another reference DAG; what of its text may be put in depends on the nodes."""
    given = collect_knowledge(declared, text, [node.formula for node in nodes])
    marks = problem.difficulty
    difficulty = Difficulty(marks.concepts, marks.computation, structural_difficulty(dag), entropy(dag))
    return replace(
        problem, nodes=nodes, dag=dag, context=given.context, given=given, students=(), difficulty=difficulty,
        alternative=name,
    )  # fmt: skip


def _read_difficulty(data: Table, report: LoadReport) -> tuple[int, int] | tuple[None, None]:
    """Return the author's marks C1 and C2 of the problem's difficulty, or None for both if absent or faulty."""
    value = data.get("difficulty")
    if value is None:
        return None, None
    if isinstance(value, Mapping) and set(value) == {"C1", "C2"}:
        depth, burden = value["C1"], value["C2"]
        if is_integer(depth) and is_integer(burden) and depth in (1, 2, 3) and burden in (1, 2, 3):
            return depth, burden
    report.faults.append(f"difficulty: {quoted_value(value)} is no table of C1 and C2, each 1, 2 or 3")
    return None, None


def _read_subquestions(data: Table, report: LoadReport) -> tuple[Subquestion, ...]:
    """Return the parts of the problem, which inherit what the problem says about answers; at least one, letterless."""
    shared = _read_answer(data, "", report)
    subquestions: list[Subquestion] = []
    for place, entry in read_tables(data, "subquestions", report):
        letter = read_id(entry, "letter", f"subquestions, entry {place}", report)
        where = f"subquestion {letter or place}"
        warn_unknown(entry, _SUBQUESTION_KEYS, where, report)
        if letter and letter in [earlier.letter for earlier in subquestions]:
            report.faults.append(f"{where}, letter: stands twice")
        text = read_text(entry, "subproblem", where, report)
        read_text(entry, "solution", where, report)  # not used; its type is the author's to mend all the same
        own = _read_answer(entry, where, report)
        subquestions.append(
            Subquestion(
                letter,
                text,
                own.final_answer_form or shared.final_answer_form,
                own.final_answer_instructions or shared.final_answer_instructions,
                shared.significant_figures if own.significant_figures is None else own.significant_figures,
            )
        )
    return tuple(subquestions) or (shared,)


def _read_answer(table: Table, where: str, report: LoadReport) -> Subquestion:
    """Return what a table says about its final answer (form, instructions, figures), as a Subquestion without letter.

    Args:
        table: the problem or one of its subquestions.
        where: name of the table for messages.
    """
    form = read_text(table, "final_answer_form", where, report)
    if form and form not in _ANSWER_FORMS:
        report.warnings.append(
            f"{field_name(where, 'final_answer_form')}: {form} is none of {', '.join(_ANSWER_FORMS)}"
        )
    instructions = read_text(table, "final_answer_instructions", where, report)
    figures = table.get("significant_figures")
    if figures is None or (isinstance(figures, int) and is_integer(figures) and 1 <= figures <= _MAX_FIGURES):
        return Subquestion("", "", form, instructions, figures)
    report.faults.append(
        f"{field_name(where, 'significant_figures')}: {quoted_value(figures)} is no whole number 1..{_MAX_FIGURES}"
    )
    return Subquestion("", "", form, instructions)


def _read_context(data: Table, statement: str, subquestions: tuple[Subquestion, ...], report: LoadReport) -> Context:
    """Return the Context of the file's tables; symbols of the text are declared too."""
    given = {key: data[key] for key in ("symbols", "givens", "definitions", "macros") if data.get(key) is not None}
    defined = given.get("definitions")
    for place, entry in enumerate(defined if isinstance(defined, list | tuple) else (), start=1):
        if isinstance(entry, str) and (fault := eaten_backslash(entry, is_formula=True)):
            report.faults.append(f"definitions, entry {place}: {fault}")
    macros = given.get("macros")
    for name, body in macros.items() if isinstance(macros, Mapping) else ():
        if isinstance(body, str) and (fault := eaten_backslash(body, is_formula=True)):
            report.faults.append(f"{field_name('macros', str(name))}: {fault}")
    try:
        context = Context.from_dict(given)
    except DataFileError as error:
        report.faults += error.faults
        context = Context()
    names: set[str] = set()
    texts = [("context", statement)]
    for part in subquestions:
        where = f"subquestion {part.letter}" if part.letter else ""
        texts += [(field_name(where, "subproblem"), part.text)]
        texts += [(field_name(where, "final_answer_instructions"), part.final_answer_instructions)]
    for where, text in texts:
        if fault := eaten_backslash(text, is_formula=False):
            report.faults.append(f"{where}: {fault}")
        for located in extract(text):
            names |= _symbols_mentioned(located.latex, where, report)
    context = replace(context, declared=context.declared | names)
    return with_written_names(context, _readable_nodes(data, context))


def _readable_nodes(data: Table, context: Context) -> Iterator[Formula]:
    """Yield the formulas of the nodes that can be read; what is wrong with the others is told when nodes are read."""
    nodes = next((data[key] for key in NODE_LISTS if data.get(key) is not None), ())
    for entry in nodes if isinstance(nodes, list | tuple) else ():
        latex = entry.get("formula") if isinstance(entry, Mapping) else None
        if isinstance(latex, str):
            with suppress(LatexSyntaxError):
                yield parse(latex, context=context)


def _symbols_mentioned(latex: str, where: str, report: LoadReport) -> frozenset[str]:
    """Return the symbols of a formula in the problem's text; empty, with a warning, if it does not parse."""
    try:
        read = parse(latex)
    except LatexSyntaxError as error:
        if error.kind != "fragment":
            report.warnings.append(f"{where}: {describe_syntax_error(error)}; its symbols stay undeclared")
        return frozenset()
    return symbols_of(read)


# Nodes --------------------------------------------------------------------------------------------------------


def _read_nodes(
    data: Table, subquestions: tuple[Subquestion, ...], context: Context, report: LoadReport
) -> tuple[tuple[ProblemNode, ...], ReferenceDag | None]:
    """Return the nodes in index order and their DAG, which is None after a fault."""
    present = [key for key in NODE_LISTS if data.get(key) is not None]
    if len(present) != 1:
        why = (
            f"both {present[0]} and {present[1]} hold nodes; keep one" if present else "is missing; it holds the nodes"
        )
        report.faults.append(f"{NODE_LISTS[0]}: {why}")
        return (), None
    entries = read_tables(data, present[0], report)
    taken = {entry["index"] for _, entry in entries if is_integer(entry.get("index"))}
    nodes, graph = [], []
    for place, entry in entries:
        index = entry.get("index")
        if not isinstance(index, int) or isinstance(index, bool):
            why = "is missing" if index is None else f"{quoted_value(index)} is no whole number"
            report.faults.append(f"{present[0]}, entry {place}, index: {why}; indices count from 1")
            if place in taken:
                continue
            index = place  # what the author most likely meant, so that one slip is one fault
        node = _read_node(entry, index, subquestions, context, report)
        nodes.append(node)
        dependency = read_indices(entry, "dependency", f"node {index}", report, required=True)
        graph.append(Node(index, node.points, dependency, node.is_final))
    indices = sorted(node.index for node in nodes)
    if len(set(indices)) == len(indices) and indices != list(range(1, len(indices) + 1)):
        shown = ", ".join(str(index) for index in indices)
        report.faults.append(f"{present[0]}: indices are {shown}; they must run 1..{len(indices)}")
    nodes.sort(key=lambda node: node.index)
    try:
        dag = reference_dag(graph)
    except DagError as error:
        report.faults += _without_consequences(error.faults, report)
        dag = None
    return _assign_finals(nodes, subquestions), dag


def _without_consequences(faults: Sequence[str], report: LoadReport) -> list[str]:
    """Return the faults of a DAG without those of nodes that lead nowhere since a later node's edges have a fault."""
    split = (fault.partition(", dependency: ") for fault in (*report.faults, *faults))
    last = max((int(place.removeprefix("node ")) for place, found, _ in split if found), default=0)
    nowhere = f", is_final_answer: {LEADS_NOWHERE}"
    return [
        fault
        for fault in faults
        if not fault.endswith(nowhere) or int(fault.removesuffix(nowhere).removeprefix("node ")) >= last
    ]


def _read_node(
    entry: Table, index: int, subquestions: tuple[Subquestion, ...], context: Context, report: LoadReport
) -> ProblemNode:
    """Return one node, with a harmless value for each field that has a fault."""
    where = f"node {index}"
    warn_unknown(entry, _NODE_KEYS, where, report)
    latex = read_text(entry, "formula", where, report, required=True)
    accepted = entry.get("accept")
    if accepted is None:
        accepted = ()
    if not isinstance(accepted, list | tuple) or not all(isinstance(item, str) for item in accepted):
        report.faults.append(f"{where}, accept: {quoted_value(accepted)} is no list of formulas")
        accepted = ()
    letter = read_text(entry, "subquestion", where, report)
    letters = [part.letter for part in subquestions if part.letter]
    if letter and letter not in letters:
        hint = f"subquestions are {', '.join(letters)}" if letters else "there are no subquestions"
        report.faults.append(f"{where}, subquestion: {letter} is unknown; {hint}")
    forms = {part.letter: part.final_answer_form for part in subquestions}
    asks_for_words = "text-based" in ([forms.get(letter)] if letter else forms.values())
    known = isinstance(entry.get("formula"), str)
    in_words = known and asks_for_words and is_text(latex)
    wanted = _read_formula(latex, context, f"{where}, formula", report) if known and not in_words else None
    others = [
        _read_accepted(item, wanted, context, f"{where}, accept, entry {place}", report, in_words=in_words)
        for place, item in enumerate(accepted, 1)
    ]
    is_final = read_flag(entry, "is_final_answer", where, report)
    stated = [each for each in (Formula("text", (), (), latex) if in_words else wanted or _UNREAD, *others) if each]
    if is_final:
        stated = [with_nameless_subject(each, index) for each in stated]
    _refuse_beyond_floats(stated, where, report)
    return ProblemNode(
        index=index,
        latex=latex,
        formula=stated[0],
        accept=tuple(stated[1:]),
        subquestion=letter,
        points=_read_points(entry.get("points"), where, report),
        is_final=is_final,
        is_text=in_words,
    )


def _refuse_beyond_floats(stated: Sequence[Formula], where: str, report: LoadReport) -> None:
    """Add a fault for each formula of a node whose number, in SI units, is larger than any float."""
    for each in stated:
        found = numeric_of(each)
        if found is not None and abs(found.number.in_si) > LARGEST:
            report.faults.append(f"{where}: {six_figures(found.number.in_si)} is too large a number")


_UNREAD = Formula("expression", (number(0),), ())  # stands in for a faulty formula until the load ends in an error


def _read_formula(latex: str, context: Context, where: str, report: LoadReport) -> Formula | None:
    """Parse the formula of a node; None, with a fault that begins with `where`, if it is not exactly one formula."""
    if fault := eaten_backslash(latex, is_formula=True):
        report.faults.append(f"{where}: {fault}")
        return None
    try:
        read = parse(latex, context=context)
    except LatexSyntaxError as error:
        report.faults.append(f"{where}: {describe_syntax_error(error)}")
        return None
    if read.kind in ("system", "implication"):
        report.faults.append(f"{where}: `{latex}` states several formulas; give each its own node")
        return None
    return read


def _read_accepted(
    latex: str, wanted: Formula | None, context: Context, where: str, report: LoadReport, *, in_words: bool
) -> Formula | None:
    """Return a formula that counts in place of a node's own one; None, with a fault, if it is none.

    A bare value or expression is of the symbol that the node is solved for. An answer in words has words in its place.

    Args:
        wanted: the formula of the node; None if it has a fault or is in words.
    """
    if in_words:
        if is_text(latex):
            return Formula("text", (), (), latex)
        report.faults.append(f"{where}: `{latex}` is a formula, and the node asks for words")
        return None
    read = _read_formula(latex, context, where, report)
    subject = None if wanted is None else subject_of(wanted)
    if read is None or subject is None or read.kind != "expression":
        return read
    return formula((subject, read.members[0]), ("=",), read.latex, read.depends)


def _read_points(value: object, where: str, report: LoadReport) -> Fraction:
    """Return points as an exact fraction: 0.1 is a tenth; 1 if absent (None). Anything but a number is a fault."""
    if value is None:
        return Fraction(1)
    if isinstance(value, int):
        if not isinstance(value, bool):
            return Fraction(value)
    elif isinstance(value, float) and math.isfinite(value):
        return Fraction(repr(value))
    report.faults.append(f"{where}, points: {quoted_value(value)} is no finite number >= 0")
    return Fraction(1)


def _assign_finals(nodes: list[ProblemNode], subquestions: tuple[Subquestion, ...]) -> tuple[ProblemNode, ...]:
    """Return the nodes; the k-th final one gets the letter of the k-th subquestion, if no final has a letter.

    Only if there are as many final nodes as subquestions; else the nodes are returned as they are.
    """
    finals = [node for node in nodes if node.is_final]
    if len(finals) != len(subquestions) or any(node.subquestion for node in finals):
        return tuple(nodes)
    letters = {node.index: part.letter for node, part in zip(finals, subquestions, strict=True)}
    return tuple(replace(node, subquestion=letters.get(node.index, node.subquestion)) for node in nodes)

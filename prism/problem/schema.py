"""Load a problem file, validate all of it, and turn it into the values that a grade needs.

The plain dictionary that `problem.source` reads is held to `problem.problem_file`; what no shape says is checked here.

Faults stop the load and are reported together, in one `DataFileError`, each naming entry and field. Unknown keys,
implied edges and formulas of the statement that do not parse are warnings: the problem can be graded all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from prism.algebra.expr import Formula, formula, number, symbols_of
from prism.budget import CHARACTER, SOLUTION, share
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.numbers.stated import LARGEST, six_figures
from prism.errors import DagError, DataFileError, LatexSyntaxError, PrismError, count_of
from prism.latex import extract
from prism.latex.extraction.masking import with_decimal_points
from prism.latex.macros import expanded_values, read_macros
from prism.physics.context import Context, describe_syntax_error, parse, with_written_names
from prism.problem.answers import ANSWER, is_answer_only, with_nameless_subject, with_nodes
from prism.problem.answers.worded import is_text
from prism.problem.answers.words import is_sentence
from prism.problem.dag import (
    LEADS_NOWHERE,
    Node,
    ReferenceDag,
    entropy,
    implied_edges,
    reference_dag,
    structural_difficulty,
)
from prism.problem.images import ProblemImage, read_images
from prism.problem.knowledge import ProblemKnowledge, collect_knowledge
from prism.problem.plain_values import named, plain
from prism.problem.problem_file import (
    NodeEntry,
    PartEntry,
    ProblemFile,
    ReferenceTable,
    Student,
    check_labels,
    read_problem_id,
)
from prism.problem.review import NOT_DRAFTED, Review, review_of
from prism.problem.shapes import (
    LoadReport,
    Style,
    field_name,
    is_integer,
    quoted_value,
    read_shape,
    tell_repeated_names,
)
from prism.problem.source import (
    ALTERNATIVES,
    ANSWER_KEYS,
    NODE_LISTS,
    PlainProblem,
    Table,
    alternatives_of,
    eaten_backslash,
    first_and_count,
    formulas_length,
    node_counts,
    read_source,
    statement_length,
    with_macros,
    with_stated_macros,
)

_READINGS = 4  # times that the text is read: for formulas, values and definitions, constants, and once in reserve
_WITH_MACROS = frozenset((
    "context", "subquestions", "symbols", "givens", "definitions", ALTERNATIVES, *NODE_LISTS, *ANSWER_KEYS,
))  # fmt: skip
_WITH_DECIMALS = frozenset(("givens", "definitions", ALTERNATIVES, *NODE_LISTS))
_STYLE = Style(ignored_keys=frozenset(("$schema",)))
_ANSWER_FORMS = ("algebraic", "numerical", "text-based")
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

    concepts: int | None = field(metadata=named("C1"))
    computation: int | None = field(metadata=named("C2"))
    structure: int = field(metadata=named("C3"))
    entropy: float
    derived: ClassVar = ("total", "level")

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
        found: dict[str, object] = plain(self, 6)
        return found


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
        review: what of it a person has still to look at, and who has certified it.
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
    review: Review = NOT_DRAFTED

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
                is_made = data is not read.data
                problem = _read_problem(keys, read.sha256, images, found, source=read.data, is_made=is_made)
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


def _read_problem(
    data: Table, digest: str, images: tuple[ProblemImage, ...], report: LoadReport, *, source: Table, is_made: bool
) -> Problem | None:
    """Build a problem from the table of its file; None if its DAG has faults. All faults go to the report.

    Args:
        source: the table as it was written, with its macros. is_made: the table was made of an answer.
    """
    file = _file_of_answer(data) if is_made else None
    file = file or read_shape(ProblemFile, data, report, _STYLE)
    subquestions = _subquestions(file, report)
    declared = _read_context(data, file.context, subquestions, report)
    nodes, dag = _read_nodes(data, file, "", subquestions, declared, report)
    text = "\n\n".join((file.context, *(part.text for part in subquestions)))
    given = collect_knowledge(declared, text, [node.formula for node in nodes])
    others = {}
    tell_repeated_names((each.name for each in file.alternatives), "alternative", "name", report)
    for written, other in zip(alternatives_of(data), file.alternatives, strict=False):
        where = f"alternative {other.name}, " if other.name else f"{ALTERNATIVES}, "
        others[other.name] = _read_nodes(written, other, where, subquestions, declared, report)
    check_labels(file.students, {"": dag, **{name: each[1] for name, each in others.items()}}, report)
    if dag is None:
        return None
    metadata = kept if isinstance(kept := data.get("metadata"), Mapping) else {}
    marks = (file.difficulty.C1, file.difficulty.C2) if file.difficulty else (None, None)
    problem = Problem(
        id=file.id,
        title=file.title,
        domain=file.domain,
        kind=file.kind,
        origin=file.origin,
        statement=file.context,
        subquestions=subquestions,
        nodes=nodes,
        dag=dag,
        context=given.context,
        given=given,
        students=file.students,
        difficulty=Difficulty(*marks, structural_difficulty(dag), entropy(dag)),
        sha256=digest,
        warnings=(),
        subtopic=file.subtopic,
        images=images,
        has_answers_alone=metadata.get("dag") == ANSWER,
        template=_template_origin(metadata.get("template")),
        review=NOT_DRAFTED if is_made else review_of(source),
    )
    alternatives = [
        _alternative(problem, other, nodes, dag, declared, text)
        for other, (nodes, dag) in others.items()
        if dag is not None
    ]
    return replace(problem, warnings=tuple(report.warnings), alternatives=tuple(alternatives))


def _read_id(data: Table, report: LoadReport) -> str:
    """Return the id of a problem as text; of one that is nothing but its answer it may be missing."""
    given = ANSWER if "id" not in data and is_answer_only(data) else data.get("id")
    try:
        return read_problem_id(given)
    except ValueError as error:
        report.faults.append(f"id: {'is missing' if given is None else error}")
        return ""


def _file_of_answer(data: Table) -> ProblemFile | None:
    """Return the table that was made of an answer as it was made, without pydantic; None if what was copied is off."""
    context = data["context"]
    try:
        name = read_problem_id(data["id"])
    except ValueError:
        return None
    nodes: Any = data[NODE_LISTS[0]]
    parts: Any = data.get("subquestions", ())
    made = tuple(NodeEntry(**{**each, "dependency": (), "accept": tuple(each.get("accept", ()))}) for each in nodes)
    return (
        ProblemFile(
            id=name, context=context, grading_standard=made, subquestions=tuple(PartEntry(**each) for each in parts)
        )
        if isinstance(context, str)
        else None
    )


def _template_origin(given: object) -> TemplateOrigin | None:
    """Read `metadata.template`, which a file may use as it likes; None for what is no table or has no `id`.

    What is no text or whole number in it is absent.
    """
    if not isinstance(given, Mapping):
        return None
    texts = {key: str(value) for key, value in given.items() if isinstance(value, str) or is_integer(value)}
    names = ("id", "variant", "pair", "seed", "case")
    return TemplateOrigin(*(texts.get(name, "") for name in names)) if texts.get("id") else None


_Reference = tuple[tuple[ProblemNode, ...], ReferenceDag | None]  # nodes in index order, and their DAG


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


def _subquestions(file: ProblemFile, report: LoadReport) -> tuple[Subquestion, ...]:
    """Return the parts of the problem, which inherit what the problem says about answers; at least one, letterless."""
    tell_repeated_names((part.letter for part in file.subquestions), "subquestion", "letter", report)
    forms = {f"subquestion {part.letter}": part.final_answer_form for part in file.subquestions}
    for where, form in {"": file.final_answer_form, **forms}.items():
        if form and form not in _ANSWER_FORMS:
            words = f"{form} is none of {', '.join(_ANSWER_FORMS)}"
            report.warnings.append(f"{field_name(where, 'final_answer_form')}: {words}")
    shared = (file.final_answer_form, file.final_answer_instructions, file.significant_figures)
    return tuple(
        Subquestion(
            part.letter,
            part.subproblem,
            part.final_answer_form or shared[0],
            part.final_answer_instructions or shared[1],
            shared[2] if part.significant_figures is None else part.significant_figures,
        )
        for part in file.subquestions
    ) or (Subquestion("", "", *shared),)


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
        for located in extract(text, is_statement=True):
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
    data: Table, table: ReferenceTable, where: str, parts: tuple[Subquestion, ...], context: Context, report: LoadReport
) -> _Reference:
    """Return the nodes in index order and their DAG, which is None after a fault.

    Args:
        data: the table as it was written.
        where: begins each fault and warning.
    """
    present = [key for key in NODE_LISTS if data.get(key) is not None]
    if len(present) != 1:
        why = (
            f"both {present[0]} and {present[1]} hold nodes; keep one" if present else "is missing; it holds the nodes"
        )
        report.faults.append(f"{where}{NODE_LISTS[0]}: {why}")
        return (), None
    entries = getattr(table, present[0])
    taken = {entry.index for entry in entries}
    nodes, graph = [], []
    for place, entry in enumerate(entries, start=1):
        index = place if entry.index is None else entry.index  # most likely meant, so that one slip is one fault
        if entry.index is None and place in taken:
            continue
        node = _read_node(entry, index, f"{where}node {index}", parts, context, report)
        nodes.append(node)
        graph.append(Node(index, node.points, entry.dependency, node.is_final))
    indices = sorted(node.index for node in nodes)
    if len(set(indices)) == len(indices) and indices != list(range(1, len(indices) + 1)):
        shown = ", ".join(str(index) for index in indices)
        report.faults.append(f"{where}{present[0]}: indices are {shown}; they must run 1..{len(indices)}")
    nodes.sort(key=lambda node: node.index)
    try:
        dag = reference_dag(graph)
    except DagError as error:
        report.faults += _without_consequences([f"{where}{fault}" for fault in error.faults], f"{where}node ", report)
        return _assign_finals(nodes, parts), None
    report.warnings += [
        f"{where}node {index}, dependency: {prerequisite} is implied by the others; list direct causes only"
        for prerequisite, index in implied_edges(dag)
    ]
    return _assign_finals(nodes, parts), dag


def _without_consequences(faults: Sequence[str], node: str, report: LoadReport) -> list[str]:
    """Return the faults of a DAG without those of nodes that lead nowhere since a later node's edges have a fault."""
    edges = re.compile(rf"{re.escape(node)}(\d+), dependency(?:,[^:]*)?: ")
    last = max((int(found[1]) for fault in (*report.faults, *faults) if (found := edges.match(fault))), default=0)
    nowhere = f", is_final_answer: {LEADS_NOWHERE}"
    return [
        fault
        for fault in faults
        if not fault.endswith(nowhere) or int(fault.removesuffix(nowhere).removeprefix(node)) >= last
    ]


def _read_node(
    entry: NodeEntry, index: int, where: str, parts: tuple[Subquestion, ...], context: Context, report: LoadReport
) -> ProblemNode:
    """Return one node, with a harmless formula for each that has a fault."""
    latex, letter = entry.formula, entry.subquestion
    letters = [part.letter for part in parts if part.letter]
    if letter and letter not in letters:
        hint = f"subquestions are {', '.join(letters)}" if letters else "there are no subquestions"
        report.faults.append(f"{where}, subquestion: {letter} is unknown; {hint}")
    forms = {part.letter: part.final_answer_form for part in parts}
    asks_for_words = "text-based" in ([forms.get(letter)] if letter else forms.values())
    in_words = latex is not None and asks_for_words and (is_text(latex) or is_sentence(latex, share=1))
    wanted = None if latex is None or in_words else _read_formula(latex, context, f"{where}, formula", report)
    others = [
        _read_accepted(item, wanted, context, f"{where}, accept, entry {place}", report, in_words=in_words)
        for place, item in enumerate(entry.accept, 1)
    ]
    own = Formula("text", (), (), latex or "") if in_words else wanted or _UNREAD
    stated = [each for each in (own, *others) if each]
    if entry.is_final_answer:
        stated = [with_nameless_subject(each, index) for each in stated]
    for each in stated:
        found = numeric_of(each)
        if found is not None and abs(found.number.in_si) > LARGEST:
            report.faults.append(f"{where}: {six_figures(found.number.in_si)} is too large a number")
    return ProblemNode(
        index, latex or "", stated[0], tuple(stated[1:]), letter, entry.points, entry.is_final_answer, in_words
    )


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


def _assign_finals(nodes: list[ProblemNode], subquestions: tuple[Subquestion, ...]) -> tuple[ProblemNode, ...]:
    """Return the nodes; the k-th final one gets the letter of the k-th subquestion, if no final has a letter.

    Only if there are as many final nodes as subquestions; else the nodes are returned as they are.
    """
    finals = [node for node in nodes if node.is_final]
    if len(finals) != len(subquestions) or any(node.subquestion for node in finals):
        return tuple(nodes)
    letters = {node.index: part.letter for node, part in zip(finals, subquestions, strict=True)}
    return tuple(replace(node, subquestion=letters.get(node.index, node.subquestion)) for node in nodes)

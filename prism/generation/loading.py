"""Read a template from its file, check every value of it, and tell all faults at once by entry and field."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar

from prism.algebra.expr import ORDERINGS, Formula
from prism.errors import DataFileError, LatexSyntaxError, PrismError, raise_faults
from prism.generation.exact_values import is_writable, read_digits
from prism.generation.template import (
    CASE_BLANK,
    AskedNumber,
    Case,
    Condition,
    DataTable,
    Original,
    Parameter,
    Template,
    TemplateNode,
)
from prism.generation.wording import blanks_in_math, blanks_of
from prism.inputs import decode, did_you_mean, parse_toml, read_bytes
from prism.latex.unit_grammar import NoReadingError
from prism.physics.context import EMPTY_CONTEXT, Context, describe_syntax_error, parse, parse_symbol_name
from prism.physics.tables import Unit
from prism.physics.units import find_unit, read_unit_product
from prism.problem.answers.worded import is_text
from prism.problem.shapes import (
    About,
    Flag,
    Indices,
    LoadReport,
    Reader,
    Style,
    Text,
    WholeSentenceError,
    is_integer,
    quoted_value,
    read_shape,
    tell_repeated_names,
    text_like,
    value_if,
    whole_number,
)
from prism.problem.source import MAX_BYTES, first_and_count
from prism.resources import resource

TemplateSource = str | PathLike[str] | Mapping[str, Any] | Template
"""What every call takes for a template: the id of a shipped one, a path, a table, or a loaded one."""

_PASSED = (
    "title", "domain", "subtopic", "kind", "origin", "source", "difficulty", "symbols", "definitions", "macros",
    "metadata", "final_answer_form", "final_answer_instructions", "significant_figures",
)  # fmt: skip
_WAYS = ("uniform", "log_uniform", "integer", "choice", "table", "value")
_KEYS_OF_WAYS = {
    "column": ("table",),
    "figures": ("uniform", "log_uniform"),
    "sign": ("uniform", "log_uniform", "integer", "choice"),
    "levels": ("uniform", "log_uniform", "integer"),
}  # what else stands beside a way of drawing only if it does something there
_STYLE = Style(refuses_unknown=True, ignored_keys=frozenset(_PASSED))
_FURTHER = ("is_final_answer", "points", "accept", "subquestion")
_FORMS = ("", "scientific")
_SIGNS = ("+", "-", "either")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")  # of a template: it names files and folders
_MAX_FIGURES = 15  # a double holds no more
_MAX_ENTRIES = 1000  # rows of a table, or entries of a list
_WRITE_WAY = "is no table; write { uniform = ['1.0', '2.0'] } or the like"
_FROM_ONE = ("indices count from 1", "is no whole number; indices count from 1")
_QUOTES = "write numbers in quotes, so that their digits are kept"


# The shape of a file. -----------------------------------------------------------------------------------------------


def _texts(value: Any) -> tuple[str, ...]:
    """Return the wordings, without blank lines around them; raises ValueError for what is no list of texts."""
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, list) and texts and all(isinstance(text, str) and text.strip() for text in texts):
        return tuple(text.strip() for text in texts)
    raise ValueError("is no list of texts; write one text with blanks such as @{m}, or several")


def _is_number(value: object) -> bool:
    """Return True for an int or float."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exact_number(value: object) -> Fraction:
    """Return the number that a text, an int or a float states; -1 if it states none, as `inf` and `nan`."""
    exact = read_digits(str(value)) if isinstance(value, str) or _is_number(value) else None
    return Fraction(-1) if exact is None else exact


def _digits(value: Any) -> Fraction:
    """Return the number that a text states; raises ValueError for what is none."""
    if not isinstance(value, str):
        hint = f"; write it in quotes, '{value}', so that its digits are kept" if _is_number(value) else ""
        raise ValueError(f"is no text{hint}")
    number = read_digits(value)
    if number is None:
        raise ValueError("is no number")
    return number


def _whole_digits(value: Any) -> Fraction:
    """Return the number that a text or a whole number states."""
    return _digits(str(value) if is_integer(value) else value)


def _unit(value: Any) -> tuple[str, Unit | None]:
    """Return text and unit; raises ValueError for what is no text or unit."""
    if not isinstance(value, str):
        raise ValueError("is no text")
    try:
        return value, (find_unit(value) or read_unit_product(value)) if value else None
    except NoReadingError as error:
        raise WholeSentenceError(f"{quoted_value(value)}: {error}") from error


_CHOICE = value_if(lambda value: isinstance(value, str) and value != "", f"is no text; {_QUOTES}")
_ID = text_like(_NAME, "is no name of letters, digits, `_`, `-` and `.`")
_SHARE = value_if(lambda value: 0 <= _exact_number(value) < 1, "is no share from 0 to 1", _exact_number)
_WEIGHT = value_if(lambda value: _exact_number(value) > 0, "is no positive number", _exact_number)
Figures = Annotated[int | None, whole_number(1, _MAX_FIGURES)]
UnitOf = Annotated[tuple[str, Unit | None], Reader(_unit)]
Bounds = Annotated[tuple[Annotated[Fraction, Reader(_digits)], ...], About(fault="is no pair of bounds")]
WholeBounds = Annotated[tuple[Annotated[Fraction, Reader(_whole_digits)], ...], About(fault="is no pair of bounds")]
DataEntry = Annotated[dict[str, Any], About(fault="is no table of columns and rows")]
Choices = Annotated[tuple[Annotated[str, _CHOICE], ...], About(fault=f"is no list of texts; {_QUOTES}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ParameterEntry:
    """How a value is drawn."""

    uniform: Bounds | None = None
    log_uniform: Bounds | None = None
    integer: WholeBounds | None = None
    choice: Choices | None = None
    table: Text | None = None
    value: Annotated[str | None, _CHOICE] = None
    column: Text = ""
    figures: Figures = None
    unit: UnitOf = ("", None)
    sign: Annotated[str, value_if(lambda value: value in _SIGNS, f"is none of {', '.join(_SIGNS)}")] = "+"
    levels: Annotated[tuple[WholeBounds, ...], About(fault="is no list of bounds")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableEntry:
    """Rows of values that belong together, here or in another file."""

    columns: Annotated[tuple[Text, ...], About(fault="is no list of names")]
    rows: Annotated[tuple[Any, ...], About(fault=f"is no list of 1 to {_MAX_ENTRIES} rows")]
    file: Any = None
    usual: Annotated[dict[str, Bounds], About(fault="is no table; write { rho = ['1', '20'] }")] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Relation:
    """A relation that drawn values have to fulfil."""

    formula: Text
    margin: Annotated[Fraction, _SHARE] = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _CaseEntry:
    """A regime."""

    CALLED: ClassVar = ("case", "name")
    name: Text
    when: Text
    margin: Annotated[Fraction, _SHARE] = Fraction(0)
    weight: Annotated[Fraction, _WEIGHT] = Fraction(1)
    text: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartEntry:
    """A part; what a problem file checks of it is checked when one is made."""

    letter: Text
    case: Text = ""
    subproblem: Text | None = None
    final_answer_form: Any = None
    final_answer_instructions: Any = None
    significant_figures: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _NumberEntry:
    """What a number node asks for."""

    of: Text
    unit: UnitOf = ("", None)
    figures: Figures = None
    form: Annotated[str, value_if(lambda value: value in _FORMS, "is unknown; the only form is scientific")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _NodeEntry:
    """A node, with a formula or a number."""

    CALLED: ClassVar = ("node", "index")
    index: Annotated[int | None, About(*_FROM_ONE), whole_number(1)]
    formula: Text = ""
    number: Annotated[_NumberEntry | None, About(fault="is no table; write { of = 's', unit = 'm' }")] = None
    dependency: Indices
    case: Text = ""
    is_final_answer: Flag | None = None
    points: Any = None
    accept: Any = None
    subquestion: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """The whole, but for what every instance takes over."""

    id: Annotated[str, _ID]
    figures: Figures = None
    wording: Annotated[tuple[str, ...], Reader(_texts), About("write one text with blanks such as @{m}, or several")]
    abstract: Text = ""
    parameters: Annotated[
        dict[str, Annotated[_ParameterEntry, About(fault=_WRITE_WAY)]], About(fault="is no table of parameters")
    ]
    tables: dict[str, Annotated[dict[str, Any], About(fault="is no table of columns and rows")]] = field(
        default_factory=dict
    )
    case: tuple[_CaseEntry, ...] = ()
    constraint: tuple[_Relation, ...] = ()
    subquestions: tuple[_PartEntry, ...] = ()
    grading_standard: Annotated[tuple[_NodeEntry, ...], About("it holds the nodes")]
    knowledge: Indices | None = None
    original: Annotated[dict[str, Any] | None, About(fault="is no table of values")] = None


@dataclass(slots=True)
class _Reading:
    """What the readers share: faults, the folder of the file, the figures of numbers that have none of their own."""

    report: LoadReport
    folder: Path | None
    figures: int = 3
    context: Context = EMPTY_CONTEXT

    def fault(self, where: str, text: str) -> None:
        """Add a fault."""
        self.report.faults.append(f"{where}: {text}")


def template_files() -> list[Path]:
    """Return the files of the templates that ship with PRISM, sorted; each is named by its id."""
    return sorted(resource("templates").glob("*.toml"))


def is_template(source: str | PathLike[str]) -> bool:
    """Return True for the id of a shipped template, or a TOML file with a key that only templates have."""
    path = _path_of(source)
    if path.suffix != ".toml":
        return False
    try:
        data = parse_toml(decode(read_bytes(path, MAX_BYTES[".toml"])))
    except PrismError:
        return False
    return "wording" in data or "parameters" in data


def _path_of(source: str | PathLike[str]) -> Path:
    """Return the path of a shipped template if `source` is its id and no file is named so, else `source` as a path."""
    path = Path(source)
    shipped = {each.stem: each for each in template_files()}.get(str(source))
    return path if shipped is None or path.exists() else shipped


def load_template(source: TemplateSource) -> Template:
    """Load a template from a TOML file, the id of a shipped one, or a table.

    Errors:
        DataFileError: all faults at once, each naming entry and field.
    """
    if isinstance(source, Template):
        return source
    folder: Path | None = None
    if isinstance(source, Mapping):
        name, data = "<dict>", source
        raw = json.dumps(data, sort_keys=True, default=str).encode()
    else:
        path = _path_of(source)
        name, folder = str(path), path.parent
        try:
            raw = read_bytes(path, MAX_BYTES[".toml"])
            data = parse_toml(decode(raw))
        except PrismError as error:
            near = did_you_mean(path.stem, [each.stem for each in template_files()])
            raise DataFileError(name, (f"{error}{near}",)) from error
    reading = _Reading(LoadReport([], []), folder)
    template = _read_template(data, name, hashlib.sha256(raw).hexdigest(), reading)
    faults = reading.report.faults
    raise_faults(first_and_count(faults), name)
    return template


def _read_template(data: Mapping[str, Any], file: str, digest: str, reading: _Reading) -> Template:
    """Return a template; what is wrong goes to the report, and a harmless value stands in."""
    report = reading.report
    file_table = read_shape(_File, data, report, _STYLE)
    reading.figures = file_table.figures or reading.figures
    shared = {key: data[key] for key in _PASSED if key in data}
    given = {key: data[key] for key in ("symbols", "definitions", "macros") if data.get(key) is not None}
    try:
        reading.context = Context.from_dict(given)
    except DataFileError as error:
        report.faults += error.faults
    if not isinstance(data.get("metadata", {}), Mapping):
        reading.fault("metadata", f"{quoted_value(data['metadata'])} is no table")
    tables = _data_tables(file_table, reading)
    parameters = _parameters(file_table, data, tables, reading)
    tell_repeated_names((each.name for each in file_table.case), "case", "name", report)
    cases = tuple(
        Case(each.name, _condition(each.when, each.margin, f"case {each.name or place}, when", reading), each.weight,
             each.text.strip())
        for place, each in enumerate(file_table.case, start=1)
    )  # fmt: skip
    names = [case.name for case in cases]
    nodes = _nodes(file_table, names, data, reading)
    template = Template(
        id=file_table.id,
        file=file,
        sha256=digest,
        shared=shared,
        wordings=file_table.wording or ("",),
        subquestions=tuple(
            {**_present(part), "case": _case_name(part.case, f"subquestions, entry {place}", names, reading)}
            for place, part in enumerate(file_table.subquestions, start=1)
        ),
        constraints=tuple(
            _condition(each.formula, each.margin, f"constraint, entry {place}, formula", reading)
            for place, each in enumerate(file_table.constraint, start=1)
        ),
        cases=cases,
        nodes=nodes,
        parameters=parameters,
        tables=tables,
        original=_original(file_table, data, parameters, tables, reading),
        told_nodes=_revealed_nodes(file_table.knowledge, nodes, reading),
        abstract=file_table.abstract,
    )
    keys = data.get("parameters")
    _check_blanks(template, keys if isinstance(keys, Mapping) else {}, reading)
    return template


def _present(entry: Any) -> dict[str, Any]:
    """Return the keys of a table that it has."""
    return {each.name: value for each in fields(entry) if (value := getattr(entry, each.name)) is not None}


def _check_blanks(template: Template, keys: Mapping[str, Any], reading: _Reading) -> None:
    """Add a fault for each blank of a text that no parameter fills, and for each that stands between dollar signs.

    Args:
        keys: of the parameters, faulty ones included.
    """
    texts = {f"wording, entry {place}": text for place, text in enumerate(template.wordings, start=1)}
    texts |= {f"case {case.name}, text": case.text for case in template.cases}
    for place, part in enumerate(template.subquestions, start=1):
        texts[f"subquestions, entry {place}, subproblem"] = str(part.get("subproblem", ""))
    texts["abstract"] = template.abstract
    words = [key for key, each in template.parameters.items() if not each.name]
    for where, text in texts.items():
        known = [*keys, *([CASE_BLANK] if where.startswith("wording") else [])]
        for key in dict.fromkeys(key for key, _ in blanks_of(text)):
            if key not in known:
                reading.fault(where, f"no parameter fills @{{{key}}}{did_you_mean(key, known)}")
            elif where == "abstract" and key in words:
                reading.fault(where, f"@{{{key}}} is a word; an abstraction has numbers only")
        for key in dict.fromkeys(blanks_in_math(text)):
            if key not in words:
                reading.fault(where, f"@{{{key}}} stands between dollar signs, and brings its own; write it outside")


def _revealed_nodes(
    ids: tuple[int, ...] | None, nodes: Sequence[TemplateNode], reading: _Reading
) -> tuple[int, ...] | None:
    """Return the indices of the nodes that are to be told; None for the usual ones."""
    if ids is None:
        return None
    known = {node.index for node in nodes if node.number is None}
    for index in sorted(set(ids) - known):
        reading.fault("knowledge", f"{index} is no node with a formula")
    finals = {node.index for node in nodes if node.further.get("is_final_answer") is True}
    for index in sorted(set(ids) & known & finals):
        reading.fault("knowledge", f"{index} is a final answer, which is never told")
    return tuple(sorted(set(ids)))


# Parameters and tables. ------------------------------------------------------------------------------------------


def _bounds(
    pair: Sequence[Fraction], written: Any, where: str, way: str, figures: int, reading: _Reading
) -> tuple[Fraction, Fraction]:
    """Return two bounds, the lower first; those of `integer` are whole, those of `log_uniform` positive.

    Args:
        written: as the file has them.
    """
    fault = ""
    if len(pair) != 2:
        fault = "" if reading.report.tells_of(where) else " is no pair of bounds"
        pair = (Fraction(1), Fraction(2))
    elif pair[0] >= pair[1]:
        fault = ": the lower bound comes first"
    elif way == "integer" and any(each.denominator != 1 for each in pair):
        fault = ": bounds of integer are whole numbers"
    elif way == "log_uniform" and pair[0] <= 0:
        fault = ": bounds of log_uniform are positive"
    elif way != "integer" and not all(is_writable(each, figures) for each in pair):
        fault = f": a bound has more than {figures} figures; values are rounded to them"
    if fault:
        reading.report.faults.append(f"{where}: {quoted_value(written)}{fault}")
    return pair[0], pair[1]


def _parameters(
    file: _File, data: Mapping[str, Any], tables: Mapping[str, DataTable], reading: _Reading
) -> dict[str, Parameter]:
    """Return the parameters by key."""
    found: dict[str, Parameter] = {}
    if data.get("parameters") == {}:
        reading.fault("parameters", "{} is no table of parameters")
    for key, entry in file.parameters.items():
        where = f"parameters, {key}"
        if key == CASE_BLANK:
            reading.fault(where, "is the blank for the text of a case; give it another name")
        elif (parameter := _parameter(key, entry, data["parameters"][key], tables, reading)) is not None:
            if parameter.name and parameter.name in [other.name for other in found.values()]:
                reading.fault(where, "the same symbol stands twice")
            found[key] = parameter
    return found


def _parameter(
    key: str, entry: _ParameterEntry, written: Mapping[str, Any], tables: Mapping[str, DataTable], reading: _Reading
) -> Parameter | None:
    """Return one parameter; None after a fault that leaves nothing of it."""
    where = f"parameters, {key}"
    ways = [way for way in _WAYS if written.get(way) is not None]
    if len(ways) != 1:
        found = f"has {' and '.join(ways)}" if ways else "says not how it is drawn"
        reading.fault(where, f"{found}; give one of {', '.join(_WAYS)}")
        return None
    way = ways[0]
    for name, ways_of_key in _KEYS_OF_WAYS.items():
        if name in written and way not in ways_of_key:
            reading.fault(f"{where}, {name}", f"changes nothing of {way}; it belongs to {', '.join(ways_of_key)}")
    figures, own = entry.figures or reading.figures, getattr(entry, way)
    bounds = (Fraction(0), Fraction(0))
    levels: list[tuple[Fraction, Fraction]] = []
    texts: Sequence[str] = ()
    if way in ("uniform", "log_uniform", "integer"):
        bounds = _bounds(own, written[way], f"{where}, {way}", way, figures, reading)
        levels = [
            _bounds(level, written["levels"][n], f"{where}, levels, entry {n + 1}", way, figures, reading)
            for n, level in enumerate(entry.levels)
        ]
    elif way == "table":
        texts = _column(entry, tables, where, reading)
        if not texts:
            return None
    else:
        texts = (own or ("1",)) if way == "choice" else (own or "1",)
        if way == "choice" and not own and not reading.report.tells_of(f"{where}, choice"):
            reading.fault(f"{where}, choice", f"{quoted_value(written[way])} is no list of texts; {_QUOTES}")
    is_word = way in ("choice", "table", "value") and any(read_digits(text) is None for text in texts)
    name = "" if is_word else _read_symbol(key, where, reading)
    for of_number in ("unit", "sign") if is_word else ():
        if of_number in written:
            reading.fault(f"{where}, {of_number}", f"a word has no {of_number}")
    choices = () if way == "table" else tuple(texts)
    table, column = (entry.table or "", entry.column) if way == "table" else ("", "")
    return Parameter(key, name, way, bounds, choices, table, column, figures, *entry.unit, entry.sign, tuple(levels))


def _read_symbol(latex: str, where: str, reading: _Reading) -> str:
    """Return the name of a symbol in the parser's spelling; a fault if the text is none."""
    try:
        name = parse_symbol_name(latex) or (latex if latex in reading.context.words else None)
    except LatexSyntaxError as error:
        reading.fault(where, describe_syntax_error(error))
        return latex
    if name is None:
        reading.fault(where, f"`{latex}` is no single symbol; write r_{{max}}, or declare it under [symbols]")
    return name or latex


def _column(entry: _ParameterEntry, tables: Mapping[str, DataTable], where: str, reading: _Reading) -> list[str]:
    """Return the texts of the column of a parameter that is drawn with others; none after a fault."""
    table, column = entry.table or "", entry.column
    found = tables.get(table)
    if not column:
        reading.fault(f"{where}, column", "is missing")
    if found is None:
        reading.fault(f"{where}, table", f"no table {quoted_value(table)}{did_you_mean(table, tables)}")
    elif column and column not in found.columns:
        hint = did_you_mean(column, found.columns)
        reading.fault(f"{where}, column", f"{table} has no column {quoted_value(column)}{hint}")
    else:
        place = found.columns.index(column) if column else 0
        return [row[place] for row in found.rows]
    return []


def _data_tables(file: _File, reading: _Reading) -> dict[str, DataTable]:
    """Return the tables by name, those of files included."""
    whole = ((name, _with_file(entry, f"tables, {name}", reading)) for name, entry in file.tables.items())
    return {name: _data_table(name, entry, reading) for name, entry in whole if entry is not None}


def _with_file(entry: Mapping[str, Any], where: str, reading: _Reading) -> Mapping[str, Any] | None:
    """Return the table that the key `file` names, or the entry itself; None, with a fault, if there is no such file."""
    file = entry.get("file")
    if file is not None and not isinstance(file, str):
        reading.fault(f"{where}, file", f"{quoted_value(file)} is no text")
    if not file or not isinstance(file, str):
        return entry
    path = (reading.folder or Path()) / file
    try:
        return {**parse_toml(decode(read_bytes(path, MAX_BYTES[".toml"]))), **entry}
    except PrismError as error:
        reading.fault(f"{where}, file", f"{quoted_value(file)} {error}")
        return None


def _data_table(name: str, written: Mapping[str, Any], reading: _Reading) -> DataTable:
    """Return one table; rows that do not fit are faults."""
    where = f"tables, {name}"
    entry = read_shape(_TableEntry, written, reading.report, Style(refuses_unknown=True, where=where))
    columns = entry.columns or ("x",)
    for key, words, is_told in (
        ("columns", "is no list of names", not entry.columns),
        ("rows", f"is no list of 1 to {_MAX_ENTRIES} rows", not 0 < len(entry.rows) <= _MAX_ENTRIES),
    ):
        if is_told and not reading.report.tells_of(f"{where}, {key}"):
            reading.fault(f"{where}, {key}", f"{quoted_value(written.get(key))} {words}")
    kept = []
    for place, row in enumerate(entry.rows, start=1):
        if isinstance(row, list) and len(row) == len(columns) and all(isinstance(each, str) for each in row):
            kept.append(tuple(row))
        else:
            reading.fault(f"{where}, rows, entry {place}", f"{quoted_value(row)}: {len(columns)} texts are expected")
    ranges = {}
    for column, bounds in entry.usual.items():
        place_of = f"{where}, usual, {column}"
        if column not in columns:
            reading.fault(place_of, f"no such column{did_you_mean(column, columns)}")
        else:
            as_written = written["usual"][column]
            ranges[column] = _bounds(bounds, as_written, place_of, "uniform", _MAX_FIGURES, reading)
    return DataTable(name, columns, tuple(kept) or (("1",) * len(columns),), ranges)


def _original(
    file: _File, data: Mapping[str, Any], parameters: Mapping[str, Parameter], tables: Mapping[str, DataTable],
    reading: _Reading,
) -> Original | None:  # fmt: skip
    """Return the author's own values; None if there are none."""
    value, n_wording = file.original, len(file.wording) or 1
    if value is None:
        return None
    drawn = [key for key, each in parameters.items() if each.way not in ("table", "value")]
    used = sorted({each.table for each in parameters.values() if each.table})
    keys = data.get("parameters")
    faulty = [key for key in keys if key not in parameters] if isinstance(keys, Mapping) else []
    named = data.get("tables")
    faulty += [key for key in named if key not in used] if faulty and isinstance(named, Mapping) else []
    own = {key: text for key, text in value.items() if key not in faulty}  # what is read of these says nothing more
    known = (*drawn, *used, "wording")
    for key in own:
        if key not in known:
            reading.fault(f"original, {key}", f"unknown key{did_you_mean(key, known)}")
    values, rows = {}, {}
    for key in (*drawn, *used):
        found = value.get(key)
        try:
            if not isinstance(found, str) or (key in drawn and parameters[key].name):
                _digits(found)
        except ValueError as error:
            words = "is missing" if found is None else f"{quoted_value(found)} {error}"
            reading.fault(f"original, {key}", words)
        values[key] = found if isinstance(found, str) else "1"
    for name in used:
        text = values.pop(name) if isinstance(value.get(name), str) else ""
        first = [row[0] for row in tables[name].rows] if name in tables else []
        if text and text not in first:
            reading.fault(f"original, {name}", f"{quoted_value(text)} begins no row{did_you_mean(text, first)}")
        rows[name] = first.index(text) if text in first else 0
    wording = value.get("wording", 1)
    if not is_integer(wording) or not 1 <= wording <= n_wording:
        reading.fault("original, wording", f"{quoted_value(wording)} is no whole number 1..{n_wording}")
        wording = 1
    return Original(values, rows, int(wording) - 1)


# Conditions, cases, parts and nodes. -----------------------------------------------------------------------------


def _parse(latex: str, where: str, reading: _Reading) -> Formula | None:
    """Return the formula of a LaTeX text; None, with a fault, if it does not parse."""
    try:
        return parse(latex, context=reading.context)
    except LatexSyntaxError as error:
        reading.fault(where, describe_syntax_error(error))
        return None


def _condition(latex: str, margin: Fraction, where: str, reading: _Reading) -> Condition:
    """Return a relation with its margin."""
    written = _parse(latex, where, reading) if latex else None
    if written is not None and not (written.relations and set(written.relations) <= {*ORDERINGS, "!="}):
        reading.fault(where, f"`{latex}` is no inequality")
    return Condition(written or Formula("inequality", (), ()), margin, where)


def _case_name(case: str, where: str, cases: Sequence[str], reading: _Reading) -> str:
    """Return the case that an entry names; empty for all."""
    if case and case not in cases:
        reading.fault(f"{where}, case", f"no case {quoted_value(case)}{did_you_mean(case, cases)}")
        return ""
    return case


def _nodes(file: _File, cases: Sequence[str], data: Mapping[str, Any], reading: _Reading) -> tuple[TemplateNode, ...]:
    """Return the nodes in the order of their indices, with their edges checked."""
    if data.get("grading_standard") == []:
        reading.fault("grading_standard", "holds no nodes; a DAG needs at least one final node")
    nodes: dict[int, TemplateNode] = {}
    for entry in file.grading_standard:
        if entry.index is None:
            continue
        if entry.index in nodes:
            reading.fault(f"node {entry.index}, index", "stands twice; every node needs its own")
            continue
        nodes[entry.index] = _node(entry, entry.index, cases, reading)
    for node in nodes.values():
        _check_edges(node, nodes, reading)
    return tuple(nodes[index] for index in sorted(nodes))


def _node(entry: _NodeEntry, index: int, cases: Sequence[str], reading: _Reading) -> TemplateNode:
    """Return one node, with a formula or a number."""
    where = f"node {index}"
    latex, number = entry.formula, entry.number
    if (number is None) == (not latex) and not reading.report.tells_of(f"{where}, formula", f"{where}, number"):
        reading.fault(where, "has formula and number; keep one" if latex else "has neither formula nor number")
    if number is None and latex and is_text(latex):
        reading.fault(f"{where}, formula", f"`{latex}` is in words; nodes of a template are formulas and numbers")
    elif number is None and latex:
        _parse(latex, f"{where}, formula", reading)
    further = {key: value for key, value in _present(entry).items() if key in _FURTHER}
    asked = None if number is None else _number_of_entry(number, f"{where}, number", reading)
    return TemplateNode(index, latex, asked, entry.dependency, _case_name(entry.case, where, cases, reading), further)


def _number_of_entry(entry: _NumberEntry, where: str, reading: _Reading) -> AskedNumber:
    """Return what a number node asks for."""
    name = _read_symbol(entry.of, f"{where}, of", reading) if entry.of else ""
    figures = entry.figures or reading.figures
    return AskedNumber(entry.of, name, *entry.unit, figures, entry.form == "scientific")


def _check_edges(node: TemplateNode, nodes: Mapping[int, TemplateNode], reading: _Reading) -> None:
    """Add a fault for each edge to no node, to a later one, or to one of another case."""
    where = f"node {node.index}, dependency"
    for index in node.dependency:
        other = nodes.get(index)
        if other is None:
            reading.fault(where, f"{index} is not a node")
        elif index >= node.index:
            reading.fault(where, f"{index} does not come before; list only smaller indices")
        elif other.case not in ("", node.case):
            own = f"of the case {node.case}" if node.case else "of all cases"
            reading.fault(where, f"node {index} is of the case {other.case}, and this one {own}")

"""Read a template from its file, check every value of it, and tell all faults at once by entry and field."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from prism.algebra.expr import ORDERINGS, Formula
from prism.errors import DataFileError, LatexSyntaxError, PrismError
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
from prism.problem.fields import (
    LoadReport,
    field_name,
    is_integer,
    quoted_value,
    read_flag,
    read_indices,
    read_tables,
    read_text,
)
from prism.problem.source import MAX_BYTES, first_and_count
from prism.problem.worded_answers import is_text
from prism.resources import resource

TemplateSource = str | PathLike[str] | Mapping[str, Any] | Template
"""What every call takes for a template: the id of a shipped one, a path, a table, or a loaded one."""

_PASSED = (
    "title", "domain", "subtopic", "kind", "origin", "source", "difficulty", "symbols", "definitions", "macros",
    "metadata", "final_answer_form", "final_answer_instructions", "significant_figures",
)  # fmt: skip
_OWN = (
    "id", "figures", "wording", "subquestions", "constraint", "case", "grading_standard", "parameters", "tables",
    "original", "knowledge", "abstract",
)  # fmt: skip
_WAYS = ("uniform", "log_uniform", "integer", "choice", "table", "value")
_PARAMETER_KEYS = (*_WAYS, "column", "figures", "unit", "sign", "levels")
_KEYS_OF_WAYS = {
    "column": ("table",),
    "figures": ("uniform", "log_uniform"),
    "sign": ("uniform", "log_uniform", "integer", "choice"),
    "levels": ("uniform", "log_uniform", "integer"),
}  # what else stands beside a way of drawing only if it does something there
_TABLE_KEYS = ("columns", "rows", "file", "usual")
_CASE_KEYS = ("name", "when", "margin", "weight", "text")
_NODE_KEYS = (
    "index", "formula", "number", "dependency", "case", "is_final_answer", "points", "accept", "subquestion",
)  # fmt: skip
_FURTHER = ("is_final_answer", "points", "accept", "subquestion")
_NUMBER_KEYS = ("of", "unit", "figures", "form")
_PART_KEYS = (
    "letter", "case", "subproblem", "final_answer_form", "final_answer_instructions", "significant_figures",
)  # fmt: skip
_SIGNS = ("+", "-", "either")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")  # of a template: it names files and folders
_MAX_FIGURES = 15  # a double holds no more
_MAX_ENTRIES = 1000  # rows of a table, or entries of a list


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

    def refuse_unknown(self, table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
        """Add a fault for each key of a table that is not known, with the nearest one that is."""
        for key in table:
            if key not in known:
                self.fault(field_name(where, str(key)), f"unknown key{did_you_mean(str(key), known)}")


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
    if faults:
        raise DataFileError(name, first_and_count(faults))
    return template


def _read_template(data: Mapping[str, Any], file: str, digest: str, reading: _Reading) -> Template:
    """Return a template; what is wrong goes to the report, and a harmless value stands in."""
    report = reading.report
    reading.refuse_unknown(data, (*_OWN, *_PASSED), "")
    name = read_text(data, "id", "", report, required=True)
    if name and not _NAME.fullmatch(name):
        reading.fault("id", f"{quoted_value(name)} is no name of letters, digits, `_`, `-` and `.`")
    reading.figures = _read_figures(data, "", reading, 3)
    shared = {key: data[key] for key in _PASSED if key in data}
    given = {key: data[key] for key in ("symbols", "definitions", "macros") if data.get(key) is not None}
    try:
        reading.context = Context.from_dict(given)
    except DataFileError as error:
        report.faults += error.faults
    tables = _read_data_tables(data, reading)
    parameters = _read_parameters(data, tables, reading)
    cases = _read_cases(data, reading)
    nodes = _read_nodes(data, [case.name for case in cases], reading)
    constraints = tuple(
        _read_condition(entry, "formula", f"constraint, entry {place}", ("formula", "margin"), reading)
        for place, entry in read_tables(data, "constraint", report)
    )
    wordings = _read_wordings(data, reading)
    if not isinstance(data.get("metadata", {}), Mapping):
        reading.fault("metadata", f"{quoted_value(data['metadata'])} is no table")
    template = Template(
        id=name,
        file=file,
        sha256=digest,
        shared=shared,
        wordings=wordings,
        subquestions=_read_subquestions(data, [case.name for case in cases], reading),
        constraints=constraints,
        cases=cases,
        nodes=nodes,
        parameters=parameters,
        tables=tables,
        original=_read_original(data, parameters, tables, len(wordings), reading),
        told=_read_told(data, nodes, reading),
        abstract=read_text(data, "abstract", "", report),
    )
    keys = data.get("parameters")
    _check_blanks(template, keys if isinstance(keys, Mapping) else {}, reading)
    return template


def _read_wordings(data: Mapping[str, Any], reading: _Reading) -> tuple[str, ...]:
    """Return the wordings, without blank lines around them; at least one, or a fault."""
    value = data.get("wording")
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        why = "is missing" if value is None else f"{quoted_value(value)} is no list of texts"
        reading.fault("wording", f"{why}; write one text with blanks such as @{{m}}, or several")
        return ("",)
    return tuple(text.strip() for text in texts)


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


def _read_told(data: Mapping[str, Any], nodes: Sequence[TemplateNode], reading: _Reading) -> tuple[int, ...] | None:
    """Return the indices of the nodes that are to be told; None for the usual ones."""
    if data.get("knowledge") is None:
        return None
    told = read_indices(data, "knowledge", "", reading.report)
    known = {node.index for node in nodes if node.number is None}
    for index in sorted(set(told) - known):
        reading.fault("knowledge", f"{index} is no node with a formula")
    finals = {node.index for node in nodes if node.further.get("is_final_answer") is True}
    for index in sorted(set(told) & known & finals):
        reading.fault("knowledge", f"{index} is a final answer, which is never told")
    return tuple(sorted(set(told)))


# Parameters and tables. ------------------------------------------------------------------------------------------


def _read_figures(table: Mapping[str, Any], where: str, reading: _Reading, default: int) -> int:
    """Return the significant figures that a table states, or the default."""
    value = table.get("figures", default)
    if is_integer(value) and 1 <= value <= _MAX_FIGURES:
        return int(value)
    reading.fault(field_name(where, "figures"), f"{quoted_value(value)} is no whole number 1..{_MAX_FIGURES}")
    return default


def _read_unit(table: Mapping[str, Any], where: str, reading: _Reading) -> tuple[str, Unit | None]:
    """Return text and unit under the key `unit`; empty and None if there is none."""
    text = read_text(table, "unit", where, reading.report)
    if not text:
        return "", None
    try:
        return text, find_unit(text) or read_unit_product(text)
    except NoReadingError as error:
        reading.fault(field_name(where, "unit"), f"{quoted_value(text)}: {error}")
        return text, None


def _read_number(value: object, where: str, reading: _Reading) -> Fraction:
    """Return the number that a text states; 1 after a fault."""
    if not isinstance(value, str):
        hint = f"; write it in quotes, '{value}', so that its digits are kept" if _is_number(value) else ""
        reading.fault(where, f"{quoted_value(value)} is no text{hint}")
        return Fraction(1)
    number = read_digits(value)
    if number is None:
        reading.fault(where, f"{quoted_value(value)} is no number")
    return Fraction(1) if number is None else number


def _is_number(value: object) -> bool:
    """Return True for an int or float."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _exact_number(value: object) -> Fraction | None:
    """Return the number that a text, an int or a float states; None if it states none, as `inf` and `nan`."""
    return read_digits(str(value)) if isinstance(value, str) or _is_number(value) else None


def _read_bounds(value: object, where: str, way: str, figures: int, reading: _Reading) -> tuple[Fraction, Fraction]:
    """Return two bounds, the lower first; those of `integer` are whole, those of `log_uniform` positive."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        reading.fault(where, f"{quoted_value(value)} is no pair of bounds")
        return Fraction(1), Fraction(2)
    bounds = [str(each) if way == "integer" and is_integer(each) else each for each in value]
    before = len(reading.report.faults)
    low, high = (_read_number(each, where, reading) for each in bounds)
    if len(reading.report.faults) > before:
        return Fraction(1), Fraction(2)
    if low >= high:
        reading.fault(where, f"{quoted_value(value)}: the lower bound comes first")
    elif way == "integer" and (low.denominator, high.denominator) != (1, 1):
        reading.fault(where, f"{quoted_value(value)}: bounds of integer are whole numbers")
    elif way == "log_uniform" and low <= 0:
        reading.fault(where, f"{quoted_value(value)}: bounds of log_uniform are positive")
    elif way != "integer" and not (is_writable(low, figures) and is_writable(high, figures)):
        reading.fault(
            where, f"{quoted_value(value)}: a bound has more than {figures} figures; values are rounded to them"
        )
    return low, high


def _read_parameters(
    data: Mapping[str, Any], tables: Mapping[str, DataTable], reading: _Reading
) -> dict[str, Parameter]:
    """Return the parameters by key."""
    value = data.get("parameters")
    if not isinstance(value, Mapping) or not value:
        why = "is missing" if value is None else f"{quoted_value(value)} is no table of parameters"
        reading.fault("parameters", why)
        return {}
    found: dict[str, Parameter] = {}
    for key, entry in value.items():
        where = f"parameters, {key}"
        if key == CASE_BLANK:
            reading.fault(where, "is the blank for the text of a case; give it another name")
        elif not isinstance(entry, Mapping):
            reading.fault(where, f"{quoted_value(entry)} is no table; write {{ uniform = ['1.0', '2.0'] }} or the like")
        elif (parameter := _read_parameter(key, entry, tables, where, reading)) is not None:
            if parameter.name and parameter.name in [other.name for other in found.values()]:
                reading.fault(where, "the same symbol stands twice")
            found[key] = parameter
    return found


def _read_parameter(
    key: str, entry: Mapping[str, Any], tables: Mapping[str, DataTable], where: str, reading: _Reading
) -> Parameter | None:
    """Return one parameter; None after a fault that leaves nothing of it."""
    reading.refuse_unknown(entry, _PARAMETER_KEYS, where)
    ways = [way for way in _WAYS if way in entry]
    if len(ways) != 1:
        found = f"has {' and '.join(ways)}" if ways else "says not how it is drawn"
        reading.fault(where, f"{found}; give one of {', '.join(_WAYS)}")
        return None
    way = ways[0]
    for name, ways_of_key in _KEYS_OF_WAYS.items():
        if name in entry and way not in ways_of_key:
            reading.fault(field_name(where, name), f"changes nothing of {way}; it belongs to {', '.join(ways_of_key)}")
    figures = _read_figures(entry, where, reading, reading.figures)
    unit_text, unit = _read_unit(entry, where, reading)
    bounds, table, column = (Fraction(0), Fraction(0)), "", ""
    choices: tuple[str, ...] = ()
    levels: tuple[tuple[Fraction, Fraction], ...] = ()
    texts: Sequence[str] = ()
    if way in ("uniform", "log_uniform", "integer"):
        bounds = _read_bounds(entry[way], field_name(where, way), way, figures, reading)
        levels = _read_levels(entry, where, way, figures, reading)
    elif way == "table":
        table, column, texts = _read_column(entry, tables, where, reading)
        if not texts:
            return None
    else:
        choices = texts = _read_choices(entry[way], field_name(where, way), reading, is_list=way == "choice")
    is_word = way in ("choice", "table", "value") and any(read_digits(text) is None for text in texts)
    sign = entry.get("sign", "+")
    if sign not in _SIGNS:
        reading.fault(field_name(where, "sign"), f"{quoted_value(sign)} is none of {', '.join(_SIGNS)}")
    name = "" if is_word else _read_symbol(key, where, reading)
    for of_number in ("unit", "sign") if is_word else ():
        if of_number in entry:
            reading.fault(field_name(where, of_number), f"a word has no {of_number}")
    return Parameter(key, name, way, bounds, tuple(choices), table, column, figures, unit_text, unit, str(sign), levels)


def _read_levels(
    entry: Mapping[str, Any], where: str, way: str, figures: int, reading: _Reading
) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the bounds of the levels of a curriculum, easy to hard; empty if there are none."""
    value = entry.get("levels", [])
    if not isinstance(value, list | tuple):
        reading.fault(field_name(where, "levels"), f"{quoted_value(value)} is no list of bounds")
        return ()
    return tuple(
        _read_bounds(each, f"{where}, levels, entry {place}", way, figures, reading)
        for place, each in enumerate(value, start=1)
    )


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


def _read_choices(value: object, where: str, reading: _Reading, *, is_list: bool) -> tuple[str, ...]:
    """Return the texts of `choice`, a list, or the one of `value`."""
    texts = value if is_list else [value]
    if isinstance(texts, list | tuple) and texts and all(isinstance(text, str) and text for text in texts):
        return tuple(texts)
    hint = "; write numbers in quotes, so that their digits are kept"
    reading.fault(where, f"{quoted_value(value)} is no {'list of texts' if is_list else 'text'}{hint}")
    return ("1",)


def _read_column(
    entry: Mapping[str, Any], tables: Mapping[str, DataTable], where: str, reading: _Reading
) -> tuple[str, str, list[str]]:
    """Return table, column and its texts for a parameter that is drawn with others; no texts after a fault."""
    table = read_text(entry, "table", where, reading.report)
    column = read_text(entry, "column", where, reading.report, required=True)
    found = tables.get(table)
    if found is None:
        reading.fault(field_name(where, "table"), f"no table {quoted_value(table)}{did_you_mean(table, tables)}")
    elif column and column not in found.columns:
        hint = did_you_mean(column, found.columns)
        reading.fault(field_name(where, "column"), f"{table} has no column {quoted_value(column)}{hint}")
    else:
        place = found.columns.index(column) if column else 0
        return table, column, [row[place] for row in found.rows]
    return table, column, []


def _read_data_tables(data: Mapping[str, Any], reading: _Reading) -> dict[str, DataTable]:
    """Return the tables by name, those of files included."""
    value = data.get("tables", {})
    if not isinstance(value, Mapping):
        reading.fault("tables", f"{quoted_value(value)} is no table")
        return {}
    found = {}
    for name, entry in value.items():
        where = f"tables, {name}"
        if not isinstance(entry, Mapping):
            reading.fault(where, f"{quoted_value(entry)} is no table of columns and rows")
            continue
        whole = _with_file(entry, where, reading)
        reading.refuse_unknown(entry if whole is None else whole, _TABLE_KEYS, where)
        if whole is not None:
            found[name] = _read_data_table(name, whole, where, reading)
    return found


def _with_file(entry: Mapping[str, Any], where: str, reading: _Reading) -> Mapping[str, Any] | None:
    """Return the table that the key `file` names, or the entry itself; None, with a fault, if there is no such file."""
    file = read_text(entry, "file", where, reading.report)
    if not file:
        return entry
    path = (reading.folder or Path()) / file
    try:
        return {**parse_toml(decode(read_bytes(path, MAX_BYTES[".toml"]))), **entry}
    except PrismError as error:
        reading.fault(field_name(where, "file"), f"{quoted_value(file)} {error}")
        return None


def _read_data_table(name: str, entry: Mapping[str, Any], where: str, reading: _Reading) -> DataTable:
    """Return one table; rows that do not fit are faults."""
    columns = entry.get("columns")
    if not isinstance(columns, list) or not columns or not all(isinstance(each, str) for each in columns):
        reading.fault(field_name(where, "columns"), f"{quoted_value(columns)} is no list of names")
        columns = ["x"]
    rows = entry.get("rows")
    if not isinstance(rows, list) or not 0 < len(rows) <= _MAX_ENTRIES:
        reading.fault(field_name(where, "rows"), f"{quoted_value(rows)} is no list of 1 to {_MAX_ENTRIES} rows")
        rows = []
    kept = []
    for place, row in enumerate(rows, start=1):
        if isinstance(row, list) and len(row) == len(columns) and all(isinstance(each, str) for each in row):
            kept.append(tuple(row))
        else:
            reading.fault(f"{where}, rows, entry {place}", f"{quoted_value(row)}: {len(columns)} texts are expected")
    usual = entry.get("usual", {})
    if not isinstance(usual, Mapping):
        reading.fault(field_name(where, "usual"), f"{quoted_value(usual)} is no table; write {{ rho = ['1', '20'] }}")
        usual = {}
    ranges = {}
    for column, bounds in usual.items():
        place_of = f"{where}, usual, {column}"
        if column not in columns:
            reading.fault(place_of, f"no such column{did_you_mean(column, columns)}")
        else:
            ranges[column] = _read_bounds(bounds, place_of, "uniform", _MAX_FIGURES, reading)
    return DataTable(name, tuple(columns), tuple(kept) or (("1",) * len(columns),), ranges)


def _read_original(
    data: Mapping[str, Any],
    parameters: Mapping[str, Parameter],
    tables: Mapping[str, DataTable],
    n_wording: int,
    reading: _Reading,
) -> Original | None:
    """Return the author's own values; None if there are none."""
    value = data.get("original")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        reading.fault("original", f"{quoted_value(value)} is no table of values")
        return None
    drawn = [key for key, each in parameters.items() if each.way not in ("table", "value")]
    used = sorted({each.table for each in parameters.values() if each.table})
    keys = data.get("parameters")
    faulty = [key for key in keys if key not in parameters] if isinstance(keys, Mapping) else []
    named = data.get("tables")
    faulty += [key for key in named if key not in used] if faulty and isinstance(named, Mapping) else []
    own = {key: text for key, text in value.items() if key not in faulty}  # what is read of these says nothing more
    reading.refuse_unknown(own, (*drawn, *used, "wording"), "original")
    values, rows = {}, {}
    for key in drawn:
        if _is_number(value.get(key)):
            _read_number(value[key], f"original, {key}", reading)
            values[key] = "1"
            continue
        text = read_text(value, key, "original", reading.report, required=True)
        if text and parameters[key].name and read_digits(text) is None:
            reading.fault(f"original, {key}", f"{quoted_value(text)} is no number")
        values[key] = text or "1"
    for name in used:
        text = read_text(value, name, "original", reading.report, required=True)
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


def _read_condition(
    entry: Mapping[str, Any], key: str, where: str, known: Sequence[str], reading: _Reading
) -> Condition:
    """Return the relation under a key of a table, with its margin."""
    reading.refuse_unknown(entry, known, where)
    latex = read_text(entry, key, where, reading.report, required=True)
    written = _parse(latex, field_name(where, key), reading) if latex else None
    if written is not None and not (written.relations and set(written.relations) <= {*ORDERINGS, "!="}):
        reading.fault(field_name(where, key), f"`{latex}` is no inequality")
    margin = entry.get("margin", 0)
    exact = _exact_number(margin)
    if exact is None or not 0 <= exact < 1:
        reading.fault(field_name(where, "margin"), f"{quoted_value(margin)} is no share from 0 to 1")
        exact = Fraction(0)
    return Condition(written or Formula("inequality", (), ()), exact, field_name(where, key))


def _read_cases(data: Mapping[str, Any], reading: _Reading) -> tuple[Case, ...]:
    """Return the regimes."""
    cases: list[Case] = []
    for place, entry in read_tables(data, "case", reading.report):
        name = read_text(entry, "name", f"case, entry {place}", reading.report, required=True)
        where = f"case {name or place}"
        if name in [other.name for other in cases]:
            reading.fault(f"{where}, name", "stands twice")
        condition = _read_condition(entry, "when", where, _CASE_KEYS, reading)
        weight = _exact_number(entry.get("weight", 1))
        if weight is None or weight <= 0:
            reading.fault(field_name(where, "weight"), f"{quoted_value(entry['weight'])} is no positive number")
            weight = Fraction(1)
        text = read_text(entry, "text", where, reading.report)
        cases.append(Case(name, condition, weight, text.strip()))
    return tuple(cases)


def _read_case_name(entry: Mapping[str, Any], where: str, cases: Sequence[str], reading: _Reading) -> str:
    """Return the case that an entry names; empty for all."""
    case = read_text(entry, "case", where, reading.report)
    if case and case not in cases:
        reading.fault(field_name(where, "case"), f"no case {quoted_value(case)}{did_you_mean(case, cases)}")
        return ""
    return case


def _read_subquestions(
    data: Mapping[str, Any], cases: Sequence[str], reading: _Reading
) -> tuple[Mapping[str, Any], ...]:
    """Return the parts as tables; what a problem file checks of them is checked when one is made."""
    parts = []
    for place, entry in read_tables(data, "subquestions", reading.report):
        where = f"subquestions, entry {place}"
        reading.refuse_unknown(entry, _PART_KEYS, where)
        case = _read_case_name(entry, where, cases, reading)
        read_text(entry, "letter", where, reading.report, required=True)
        read_text(entry, "subproblem", where, reading.report)
        parts.append({**entry, "case": case})
    return tuple(parts)


def _read_nodes(data: Mapping[str, Any], cases: Sequence[str], reading: _Reading) -> tuple[TemplateNode, ...]:
    """Return the nodes in the order of their indices, with their edges checked."""
    if data.get("grading_standard") is None:
        reading.fault("grading_standard", "is missing; it holds the nodes")
        return ()
    if data["grading_standard"] == []:
        reading.fault("grading_standard", "holds no nodes; a DAG needs at least one final node")
    nodes: dict[int, TemplateNode] = {}
    for place, entry in read_tables(data, "grading_standard", reading.report):
        index = entry.get("index")
        if not isinstance(index, int) or not is_integer(index) or index < 1:
            why = "is missing" if index is None else f"{quoted_value(index)} is no whole number"
            reading.fault(f"grading_standard, entry {place}, index", f"{why}; indices count from 1")
            continue
        if index in nodes:
            reading.fault(f"node {index}, index", "stands twice; every node needs its own")
            continue
        nodes[index] = _read_node(entry, index, cases, reading)
    for node in nodes.values():
        _check_edges(node, nodes, reading)
    return tuple(nodes[index] for index in sorted(nodes))


def _read_node(entry: Mapping[str, Any], index: int, cases: Sequence[str], reading: _Reading) -> TemplateNode:
    """Return one node, with a formula or a number."""
    where = f"node {index}"
    reading.refuse_unknown(entry, _NODE_KEYS, where)
    asked: AskedNumber | None = None
    latex = read_text(entry, "formula", where, reading.report)
    number = entry.get("number")
    if (number is None) == (not latex):
        reading.fault(where, "has formula and number; keep one" if latex else "has neither formula nor number")
    if isinstance(number, Mapping):
        asked = _read_asked(number, f"{where}, number", reading)
    elif number is not None:
        reading.fault(f"{where}, number", f"{quoted_value(number)} is no table; write {{ of = 's', unit = 'm' }}")
    elif latex and is_text(latex):
        reading.fault(f"{where}, formula", f"`{latex}` is in words; nodes of a template are formulas and numbers")
    elif latex:
        _parse(latex, f"{where}, formula", reading)
    further = {key: entry[key] for key in _FURTHER if key in entry}
    read_flag(entry, "is_final_answer", where, reading.report)
    dependency = read_indices(entry, "dependency", where, reading.report, required=True)
    return TemplateNode(index, latex, asked, dependency, _read_case_name(entry, where, cases, reading), further)


def _read_asked(table: Mapping[str, Any], where: str, reading: _Reading) -> AskedNumber:
    """Return what a number node asks for."""
    reading.refuse_unknown(table, _NUMBER_KEYS, where)
    latex = read_text(table, "of", where, reading.report, required=True)
    name = _read_symbol(latex, field_name(where, "of"), reading) if latex else ""
    unit_text, unit = _read_unit(table, where, reading)
    form = read_text(table, "form", where, reading.report)
    if form not in ("", "scientific"):
        reading.fault(field_name(where, "form"), f"{quoted_value(form)} is unknown; the only form is scientific")
    figures = _read_figures(table, where, reading, reading.figures)
    return AskedNumber(latex, name, unit_text, unit, figures, form == "scientific")


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

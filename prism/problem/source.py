"""What a problem is read from: a file, a JSON string or a dictionary, bounded as a student's text is.

Problems arrive inline too, from whoever may ask a server for a grade. So a size, a number of entries or a nesting that
no honest file has is a fault, like any other slip of an author, and told together with the others.

Refused: msgspec, which other modules use. It lets a repeated JSON key pass, where the last one silently wins; the
standard decoder shows repeated keys, and refuses NaN.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from prism.errors import PrismError, named_type
from prism.inputs import (
    decode,
    nearest_file_name,
    nearest_name,
    parse_json,
    parse_toml,
    read_bytes,
    refuse_constant,
    shown,
    value_faults,
)
from prism.latex.macros import defined_macros, defines_macros
from prism.resources import resource

Table = Mapping[str, object]

NODE_LISTS = ("grading_standard", "dag", "grading", "core_formulas")
ALTERNATIVES = "alternatives"
ANSWER_KEYS = ("final_answer_form", "final_answer_instructions", "significant_figures")

MAX_BYTES = {".json": 4_000_000, ".toml": 1_000_000}  # of a file: reading a megabyte of TOML takes up to 4 s
MAX_ENTRIES = 1000  # of each list and table: nodes are compared in pairs, and each definition with each node
MAX_ALTERNATIVES = 4  # reference DAGs beside the first: a solution is graded against each, and may cost as much again
MAX_STATEMENT = 50_000  # characters of the text with its subquestions, which is read several times
MAX_FORMULAS = 200_000  # characters of all formulas and values
MAX_FAULTS = 100  # that are told of one problem: a message is for a person
_MAX_FAULT = 1000  # characters of one
_SHOWN_REST = 10  # characters behind a control character that are shown
_MAX_NAME = 200  # characters of a file's name in messages
_COUNTED = ("subquestions", "students", "symbols", "givens", "definitions", "macros", *NODE_LISTS)
_FORMULAS = ("symbols", "givens", "definitions", "macros", ALTERNATIVES, *NODE_LISTS)
_STATEMENT = ("context", *ANSWER_KEYS)
NO_TABLE = "holds no table: a problem is one { ... } with the keys of dags/README.md"
# What double quotes make of a backslash: a character that no text holds, or a blank before the rest of a name.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)"
    r"|\t(?=(?:au|heta|imes|ilde|frac|ext)(?![a-z]))|\n(?=(?:u|abla|eq)[$_^}\\])"
)
_CONTROL_IN_FORMULA = re.compile(rf"{_CONTROL.pattern}|\t(?=[A-Za-z])|\n(?=(?:u|abla|eq)(?![A-Za-z]))")
EMPTY_NAME = "found an empty text where a problem is to be named"
_HINT = "give a .json or .toml file, the id of a shipped problem, or a JSON string that begins with {"


@dataclass(frozen=True, slots=True)
class PlainProblem:
    """A problem as plain data: its formulas are not read yet.

    Attributes:
        name: for messages: of the file, or `<dict>`, `<string>`.
        data: None after a fault that leaves nothing to be read.
        sha256: of the bytes of the file or string; of canonical JSON for a dictionary; with macros given beside it.
        folder: of the file; None without one.
        id: of the problem, once it was looked for.
    """

    name: str
    data: Table | None = None
    sha256: str = ""
    folder: Path | None = None
    id: str = ""


def problem_path(name: str | PathLike[str]) -> Path:
    """Return the path of a shipped problem if `name` is its id and no file is named so, else `name` as a path."""
    path = Path(name)
    shipped = resource("dags") / f"{name}.toml"
    try:
        return shipped if not path.exists() and shipped.exists() else path
    except (OSError, ValueError):  # a name that is too long, or holds what no name can
        return path


def shipped_files() -> list[Path]:
    """Return the files of the problems that ship with PRISM, sorted; each is named by the id of its problem."""
    return sorted(resource("dags").glob("*.toml"))


def shipped_file(name: str) -> Path | None:
    """Return the file of the shipped problem with this id; None if none has it."""
    return next((path for path in shipped_files() if path.stem == name), None)


def nearest_problem(name: str) -> str:
    """Return what a name of no problem may mean: a file beside it, if it has an ending, or a shipped id; else empty."""
    path = Path(name)
    near = nearest_name(path.stem, [each.stem for each in shipped_files()])
    return (path.suffix and nearest_file_name(path)) or near or nearest_file_name(path)


def read_source(source: PathLike[str] | str | Table, faults: list[str]) -> PlainProblem:
    """Read a problem file, that of a shipped id, a string or a dictionary.

    Args:
        faults: collects what is wrong.
    """
    raw: bytes | None
    data: Table | None
    folder: Path | None = None
    if isinstance(source, Mapping):
        name, raw, data = "<dict>", _canonical(source, faults), source
    elif isinstance(source, str) and not source.strip():
        faults.append(f"{EMPTY_NAME}; {_HINT}")
        return PlainProblem("<string>")
    elif isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        name, raw = "<string>", source.encode("utf-8", "surrogatepass")
        data = _decode(raw, ".json", faults)
    elif isinstance(source, str | PathLike):
        path = problem_path(source)
        folder = path.parent
        name = str(path)[:_MAX_NAME]
        try:
            raw = read_bytes(path, MAX_BYTES.get(path.suffix.lower(), MAX_BYTES[".json"]))
        except PrismError as error:
            near = nearest_problem(name)
            faults.append(f"{error}; did you mean {near}?" if near else f"{error}; {_HINT}")
            return PlainProblem(name)
        data = _decode(raw, path.suffix.lower(), faults)
    else:
        faults.append(f"found {named_type(source)}; {_HINT}")
        return PlainProblem("<problem>")
    if raw is not None and data is not None:
        found = _limit_faults(data)
        faults += found
        if not found:
            return PlainProblem(name, data, hashlib.sha256(raw).hexdigest(), folder)
    return PlainProblem(name)


def with_macros(source: PlainProblem, macros: Mapping[str, object]) -> PlainProblem:
    """Return a problem with macros beside those of its own table, which go before them; its sha256 is another one."""
    own = (source.data or {}).get("macros") or {}
    if not isinstance(own, Mapping):
        return source  # a fault, which is told when the table is read
    both = _with_macros(own, macros)
    digest = hashlib.sha256(f"{source.sha256}{json.dumps(both, sort_keys=True, default=repr)}".encode()).hexdigest()
    return replace(source, data={**(source.data or {}), "macros": both}, sha256=digest)


def with_stated_macros(data: Table) -> Table:
    """Return the table of a problem with the macros that its text defines beside those of its own table."""
    text, own = data.get("context"), data.get("macros") or {}
    if not isinstance(text, str) or not isinstance(own, Mapping) or not defines_macros(text):
        return data
    stated = {name: macro.body for name, macro in defined_macros(text).items() if macro.is_plain}
    return {**data, "macros": _with_macros(own, stated)} if stated else data


def _with_macros(own: Table, stated: Table) -> Table:
    """Return two tables of macros as one, in which those of `own` go before those of the same name."""
    named = {str(key).removeprefix("\\") for key in own}
    return {**{key: body for key, body in stated.items() if str(key).removeprefix("\\") not in named}, **own}


def first_and_count(faults: Sequence[str]) -> tuple[str, ...]:
    """Return the faults as they are told: long ones cut, and of very many the last ones counted."""
    told = [fault if len(fault) <= _MAX_FAULT else f"{fault[: _MAX_FAULT - 3]}..." for fault in faults[:MAX_FAULTS]]
    return (*told, *([f"and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []))


def eaten_backslash(text: str, *, is_formula: bool) -> str:
    r"""Return the fault that double quotes have made of a backslash a control character; empty if there is none.

    Blanks between words are none: a tab or the end of a line counts only before the rest of a name, as in `\tau`.

    >>> eaten_backslash("\x0crac12", is_formula=True)
    'holds the character \\x0c before "rac12": a backslash was eaten; write it between single quotes'
    """
    found = (_CONTROL_IN_FORMULA if is_formula else _CONTROL).search(text)
    if found is None:
        return ""
    rest = shown(text[found.end() : found.end() + _SHOWN_REST])
    return (
        f"holds the character {ascii(found[0])[1:-1]} before {rest}: a backslash was eaten; write it between single"
        " quotes"
    )


def statement_length(data: Table) -> int:
    """Return the characters of a problem's text with its subquestions, without the unused solutions of these."""
    parts = data.get("subquestions")
    asked = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list | tuple) else []
    of_parts = sum(_length(value) for part in asked for key, value in part.items() if key != "solution")
    return of_parts + sum(_length(data.get(key)) for key in _STATEMENT)


def formulas_length(data: Table) -> int:
    """Return the characters of a problem's nodes, symbols, givens, definitions and macros."""
    return sum(_length(data.get(key)) for key in _FORMULAS)


def alternatives_of(data: Table) -> list[Table]:
    """Return the tables of the other references of a problem, as far as they are tables."""
    listed = data.get(ALTERNATIVES)
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list | tuple) else []


def node_counts(data: Table) -> tuple[int, ...]:
    """Return the number of nodes of each reference DAG of a problem: of its own and of its alternatives."""
    return tuple(sum(_entries(each, key) for key in NODE_LISTS) for each in (data, *alternatives_of(data)))


def _entries(data: Table, key: str) -> int:
    """Return the number of entries of a list or table of a problem."""
    value = data.get(key)
    return len(value) if isinstance(value, list | tuple | Mapping) else 0


def _length(value: object) -> int:
    """Return the number of values and characters in a value of nested lists and tables."""
    if isinstance(value, str):
        return 1 + len(value)
    if isinstance(value, Mapping):
        return sum(map(_length, value)) + sum(map(_length, value.values()))
    return 1 + sum(map(_length, value)) if isinstance(value, list | tuple) else 1


def _canonical(source: Table, faults: list[str]) -> bytes | None:
    """Return a dictionary as JSON with sorted keys; None, with a fault, if JSON cannot hold it."""
    if found := value_faults(source, most=MAX_BYTES[".json"]):
        faults += found
        return None
    try:
        return json.dumps(source, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        faults.append(f"holds what JSON cannot hold: {error}")
        return None


def _decode(raw: bytes, suffix: str, faults: list[str]) -> Table | None:
    """Decode the content of a `.json` or `.toml` file into a table; None, with a fault, if it is none."""
    if suffix not in MAX_BYTES:
        faults.append(f"is named {suffix or 'without an ending'}; a problem file ends in .json or .toml")
        return None
    if len(raw) > MAX_BYTES[suffix]:
        faults.append(f"is longer than {MAX_BYTES[suffix]} bytes")
        return None
    try:
        text = decode(raw)
    except PrismError as error:
        faults.append(str(error))
        return None
    try:
        data = parse_toml(text) if suffix == ".toml" else _decode_json(text, faults)
    except PrismError as error:
        faults.append(f"is not {suffix[1:].upper()}: {error}")
        return None
    if not isinstance(data, dict):
        faults.append(NO_TABLE)
        return None
    found = value_faults(data)
    faults += found
    return None if found else data


def _decode_json(text: str, faults: list[str]) -> object:
    """Decode JSON; a repeated key is a fault (the decoder alone would keep the last value), NaN an error."""

    def table(pairs: list[tuple[str, object]]) -> dict[str, object]:
        """Build a table from its pairs; repeated keys are faults."""
        built = dict(pairs)
        if len(built) < len(pairs):
            times = Counter(key for key, _ in pairs)
            faults.extend(f"{key}: stands twice in one table" for key in sorted(times) if times[key] > 1)
        return built

    return parse_json(text, table=table, constant=refuse_constant)


def _limit_faults(data: Table) -> list[str]:
    """Return which lists, tables and texts of a problem are too large."""
    listed = [(key, data.get(key), MAX_ENTRIES) for key in _COUNTED]
    listed.append((ALTERNATIVES, data.get(ALTERNATIVES), MAX_ALTERNATIVES))
    for place, other in enumerate(alternatives_of(data)[:MAX_ALTERNATIVES], start=1):
        listed += [(f"{ALTERNATIVES}, entry {place}, {key}", other.get(key), MAX_ENTRIES) for key in NODE_LISTS]
    faults = [
        f"{name}: {len(value)} entries; at most {most} are read"
        for name, value, most in listed
        if isinstance(value, list | tuple | Mapping) and len(value) > most
    ]
    for name, length, most in (
        ("context and subquestions", statement_length(data), MAX_STATEMENT),
        ("formulas and values", formulas_length(data), MAX_FORMULAS),
    ):
        if length > most:
            faults.append(f"{name}: {length} characters; at most {most} are read")
    return faults

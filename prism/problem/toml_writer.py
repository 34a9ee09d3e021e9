r"""Write a problem as a TOML file, laid out as in `dags/`: strings in single quotes, so that LaTeX stays as it is.

Refused: a TOML library. `tomli-w` doubles every backslash, and no library knows which comment belongs to which node.
`tomllib` reads the file back as the same values, whatever the texts contain; a test tries it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

from prism.errors import PrismError
from prism.problem.source import ALTERNATIVES, NODE_LISTS

WIDTH = 118  # columns of a comment line
_PROBLEM = (
    "id", "title", "domain", "subtopic", "kind", "origin", "source", "difficulty", "final_answer_form",
    "final_answer_instructions", "significant_figures", "context",
)  # fmt: skip
_TABLES = ("givens", "symbols", "macros")
_LISTS = ("subquestions", "grading_standard", "students")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LINE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")  # what may stand in a literal string of one line
_LINES = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]*")  # the same, of several
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]+")
_HALF = re.compile(r"[\ud800-\udfff]")  # half a surrogate pair, which JSON may hold and UTF-8 may not


def problem_toml(
    data: Mapping[str, object],
    *,
    head: Sequence[str] = (),
    notes: Mapping[int, Sequence[str]] | None = None,
    notes_of_alternatives: Sequence[Mapping[int, Sequence[str]]] = (),
) -> str:
    """Return the text of a problem file in TOML.

    Args:
        data: as `load_problem` takes them; a key without a value (None) is left out.
        head: comment lines at the top.
        notes: comment lines above a node, by its index.
        notes_of_alternatives: the same of each alternative, in order.

    Errors:
        PrismError: a value that TOML cannot represent.
    """
    simple = [key for key in data if key not in (*_PROBLEM, *_TABLES, *_LISTS, ALTERNATIVES, "metadata")]
    lines = _comment_lines(head)
    lines += [_key_value_line(key, data[key]) for key in (*_PROBLEM, *simple) if data.get(key) is not None]
    for key in _TABLES:
        lines += _table_lines(f"[{key}]", data.get(key))
    for key in _LISTS:
        for item in _sequence(data.get(key), key):
            index = item.get("index") if isinstance(item, Mapping) else None
            own = (notes or {}).get(index, ()) if isinstance(index, int) else ()
            lines += _table_lines(f"[[{key}]]", item, own)
        if key == NODE_LISTS[0]:
            lines += _alternative_lines(data.get(ALTERNATIVES), notes_of_alternatives)
    lines += _table_lines("[metadata]", data.get("metadata"))
    return "\n".join(lines) + "\n"


def _alternative_lines(value: object, notes: Sequence[Mapping[int, Sequence[str]]]) -> list[str]:
    """Return the TOML lines of alternatives: each with its nodes, under comments by place and index.

    Raises PrismError for one that is no table.
    """
    lines: list[str] = []
    for place, other in enumerate(_sequence(value, ALTERNATIVES)):
        if not isinstance(other, Mapping):
            raise PrismError(f"{ALTERNATIVES}: {other!r} is no table")
        simple = {key: item for key, item in other.items() if key not in NODE_LISTS}
        lines += _table_lines(f"[[{ALTERNATIVES}]]", simple)
        for key in NODE_LISTS:
            for node in _sequence(other.get(key), key):
                index = node.get("index") if isinstance(node, Mapping) else None
                own = notes[place].get(index, ()) if place < len(notes) and isinstance(index, int) else ()
                lines += _table_lines(f"[[{ALTERNATIVES}.{key}]]", node, own)
    return lines


def _sequence(value: object, key: str) -> Sequence[object]:
    """Return a list as it is, and None as an empty one; raise PrismError, which names `key`, for anything else."""
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise PrismError(f"{key}: {value!r} is no list")


def _table_lines(title: str, value: object, notes: Sequence[str] = ()) -> list[str]:
    """Return the TOML lines of a table: blank line, comments, title, entries; empty for an empty table or None.

    Raises PrismError for what is no table.
    """
    if not value:
        return []
    if not isinstance(value, Mapping):
        raise PrismError(f"{title}: {value!r} is no table")
    return [
        "",
        *_comment_lines(notes),
        title,
        *(_key_value_line(key, item) for key, item in value.items() if item is not None),
    ]


def _comment_lines(texts: Sequence[str]) -> list[str]:
    """Wrap texts into TOML comment lines of at most `WIDTH` columns; a text's further lines are indented."""
    lines: list[str] = []
    for text in texts:
        line = "#"
        for word in _CONTROL.sub(" ", text).split(" "):
            if len(line) + 1 + len(word) > WIDTH and line.strip("# "):
                lines.append(line)
                line = "#  "
            line += f" {word}"
        lines.append(line.rstrip())
    return lines


def _key_value_line(key: str, value: object) -> str:
    """Return the TOML line `key = value`."""
    return f"{_toml_key(key)} = {toml_value(value, key)}"


def _toml_key(key: str) -> str:
    """Return a key as TOML, quoted if it has other characters than letters, digits, `_` and `-`."""
    if _BARE_KEY.fullmatch(key):
        return key
    return f"'{key}'" if "'" not in key and _LINE.fullmatch(key) else _double_quoted(key)


def toml_value(value: object, key: str) -> str:
    """Return a value as TOML; a list too long for one line gets a line for each item.

    Raises PrismError for what TOML cannot hold.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, Mapping):
        items = [f"{_toml_key(name)} = {toml_value(item, key)}" for name, item in value.items() if item is not None]
        return f"{{ {', '.join(items)} }}" if items else "{}"
    if isinstance(value, list | tuple):
        items = [toml_value(item, key) for item in value if item is not None]
        in_line = f"[{', '.join(items)}]"
        if len(in_line) <= WIDTH or all(isinstance(item, int) for item in value):
            return in_line
        return "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    raise PrismError(f"{key}: {value!r} has no place in a TOML file")


def _toml_string(text: str) -> str:
    """Return a text as a TOML string, in single quotes, which keep backslashes as they are, wherever TOML allows it."""
    if "'" not in text and _LINE.fullmatch(text):
        return f"'{text}'"
    if "'''" not in text and not text.endswith("'") and _LINES.fullmatch(text):
        first = "\n" if "\n" in text else ""  # the line break behind the quotes is none of the text
        return f"'''{first}{text}'''"
    return _double_quoted(text)


def _double_quoted(text: str) -> str:
    """Return a text in double quotes, with escapes as in JSON."""
    return json.dumps(_HALF.sub("\ufffd", text), ensure_ascii=False).replace("\x7f", "\\u007f")

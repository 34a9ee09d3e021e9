"""Read single values of a table in a problem file: one that does not fit is a fault, and a harmless value stands in.

Every reader adds to a `LoadReport` and goes on, so that an author is told all faults at once.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from prism.inputs import nearest_name
from prism.problem.source import Table

_MAX_UNKNOWN = 20  # unknown keys of a table that are told
_MAX_SHOWN = 60  # characters of a value in a message
MAX_ID = 200  # characters of an id: it stands in rows, in messages and in names of files
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # categories of Unicode; two ids that look alike are one mistake
_SLASH = re.compile(r"[/\\]")


@dataclass(slots=True)
class LoadReport:
    """The faults and warnings in words; every `read_*` function adds to them and goes on with a harmless value."""

    faults: list[str]
    warnings: list[str]

    def tells_of(self, *places: str) -> bool:
        """Return True if a fault is about one of some places, by the beginning of their names."""
        return any(fault.startswith(places) for fault in self.faults)


def field_name(where: str, key: str) -> str:
    """Return the name of a field for messages, such as `node 3, points` for `where` = `node 3`."""
    return f"{where}, {key}" if where else key


def quoted_value(value: object) -> str:
    """Return a value as JSON for a message, cut at `_MAX_SHOWN` characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


def warn_unknown(table: Table, known: frozenset[str], where: str, report: LoadReport) -> None:
    """Add a warning for each key of a table that is not in `known`; `where` names the table in messages."""
    unknown = [str(key) for key in table if key not in known]
    for key in unknown[:_MAX_UNKNOWN]:
        near = nearest_name(key[:_MAX_SHOWN], sorted(known))
        hint = f"; did you mean {near}?" if near else ""
        report.warnings.append(f"{field_name(where, key[:_MAX_SHOWN])}: unknown key, ignored{hint}")
    if len(unknown) > _MAX_UNKNOWN:
        report.warnings.append(f"{field_name(where, 'unknown keys')}: {len(unknown)}; they are ignored")


def read_text(table: Table, key: str, where: str, report: LoadReport, *, required: bool = False) -> str:
    """Return the text under a key of table `where`; empty, with a fault, if no text, or missing though required."""
    value = table.get(key)
    if isinstance(value, str):
        return value
    _report_unfit(table, key, "is no text", where, report, required=required)
    return ""


def read_id(table: Table, key: str, where: str, report: LoadReport) -> str:
    """Return the text by which others name a table; empty, with a fault, if it is missing or no id."""
    text = read_text(table, key, where, report, required=True)
    if fault := id_fault(text):
        report.faults.append(f"{field_name(where, key)}: {fault}")
        return ""
    return text


def id_fault(text: str) -> str:
    r"""Return why a text is no id; empty if it is one, or empty.

    An id has at most `MAX_ID` characters, all of them visible or blanks, and is no path out of a folder.

    >>> id_fault("../fall")
    '"../fall" leads out of a folder; an id has no part `..` and begins with no slash'
    """
    if len(text) > MAX_ID:
        return f"has {len(text)} characters; an id has at most {MAX_ID}"
    unseen = next((character for character in text if unicodedata.category(character) in _INVISIBLE), "")
    if unseen:
        return (
            f"holds the character U+{ord(unseen):04X}, which nobody sees; an id has letters, digits, signs and blanks"
        )
    parts = _SLASH.split(text)
    if ".." in parts or (len(parts) > 1 and not parts[0]):
        return f"{quoted_value(text)} leads out of a folder; an id has no part `..` and begins with no slash"
    return ""


def read_flag(table: Table, key: str, where: str, report: LoadReport, *, required: bool = False) -> bool:
    """Return the boolean under a key of a table; False, with a fault, if it is none, or missing though required."""
    value = table.get(key)
    if isinstance(value, bool):
        return value
    _report_unfit(table, key, "is neither true nor false", where, report, required=required)
    return False


def _report_unfit(table: Table, key: str, why: str, where: str, report: LoadReport, *, required: bool) -> None:
    """Add a fault about a key of table `where`: its value is of a wrong type (`why` says so), or missing (None)."""
    value = table.get(key)
    if value is not None:
        report.faults.append(f"{field_name(where, key)}: {quoted_value(value)} {why}")
    elif required:
        report.faults.append(f"{field_name(where, key)}: is missing{_misspelt(table, key)}")


def _misspelt(table: Table, key: str) -> str:
    """Return the question whether a key of the table is `key` misspelt, to stand behind a fault; empty if none is."""
    near = nearest_name(key, (str(other)[:_MAX_SHOWN] for other in list(table)[:_MAX_UNKNOWN]))
    return f"; is `{near}` meant for it?" if near else ""


def read_indices(table: Table, key: str, where: str, report: LoadReport, *, required: bool = False) -> tuple[int, ...]:
    """Return the node indices under a key of a table, in its order; entries of another type are faults."""
    value = table.get(key)
    if value is None:
        if required:
            hint = _misspelt(table, key) or "; write [] if there are none"
            report.faults.append(f"{field_name(where, key)}: is missing{hint}")
        return ()
    if not isinstance(value, list | tuple):
        report.faults.append(f"{field_name(where, key)}: {quoted_value(value)} is no list of node indices")
        return ()
    report.faults += [
        f"{field_name(where, key)}: {quoted_value(item)} is no node index" for item in value if not is_integer(item)
    ]
    return tuple(item for item in value if is_integer(item))


def is_integer(value: object) -> bool:
    """Return True for an int, but False for True and False."""
    return isinstance(value, int) and not isinstance(value, bool)


def read_tables(table: Table, key: str, report: LoadReport) -> list[tuple[int, Table]]:
    """Return (position from 1, entry) for each table in the list under a key; empty if the key is missing."""
    value = table.get(key)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        report.faults.append(f"{key}: {quoted_value(value)} is no list")
        return []
    entries = []
    for place, entry in enumerate(value, start=1):
        if isinstance(entry, Mapping):
            entries.append((place, entry))
        else:
            report.faults.append(f"{key}, entry {place}: {quoted_value(entry)} is no table")
    return entries

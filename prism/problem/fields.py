"""What readers of files tell: faults and warnings by place, in words that all of them share."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

_MAX_SHOWN = 60  # characters of a value in a message
MAX_ID = 200  # characters of an id: it stands in rows, in messages and in names of files
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # categories of Unicode; two ids that look alike are one mistake
_SLASH = re.compile(r"[/\\]")


@dataclass(slots=True)
class LoadReport:
    """The faults and warnings in words; who reads adds to them and goes on with a harmless value."""

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


def is_integer(value: object) -> bool:
    """Return True for an int, but False for True and False."""
    return isinstance(value, int) and not isinstance(value, bool)

r"""What the linter says: findings with a kind, a code from a closed list, and a place in the problem file.

Find the line of a problem file that a finding is about, so that an editor can jump to it.

The text is searched line by line for what stands in the name of a finding: the `index` of a node, the header of an
entry, the key of a field. Refused: a second reader of TOML and JSON that keeps the places of all values, another
dependency for one number in a message. Where nothing is found there is no line, and the finding stands without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal

from prism.problem.plain_values import plain
from prism.resources import meanings

CODES: Mapping[str, str] = meanings("lint.problem")
"""What a finding is about; a test refuses any other code."""


Kind = Literal["fault", "warning", "note"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One fault, warning or note of the linter about a problem.

    Attributes:
        kind: `fault`, `warning` or `note`.
        code: a key of `CODES`.
        entry: `node 3`, `subquestion a`; empty for the whole problem.
        field: key of the entry: `formula`, `dependency`; may be empty.
        text: what is wrong, and what to do.
        line: of the file, from 1, where `field` or else `entry` stands; None without a file, or if it is not found.
    """

    kind: Kind
    code: str
    entry: str
    field: str
    text: str
    line: int | None = dataclass_field(default=None, compare=False)  # where it is said is no part of what is said

    def __post_init__(self) -> None:
        """Raise ValueError for a code that is not in `CODES`."""
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is not a code; codes are {', '.join(CODES)}")

    def __str__(self) -> str:
        """Return `node 3, formula: what is wrong`."""
        return ": ".join(
            part for part in (", ".join(part for part in (self.entry, self.field) if part), self.text) if part
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """Return plain values for JSON; the keys are the attribute names."""
        found: dict[str, str | int | None] = plain(self)
        return found


def warning(code: str, entry: str, key: str, text: str) -> LintFinding:
    """Return a finding of kind `warning`."""
    return LintFinding("warning", code, entry, key, text)


_KEYS = {"node": "index", "subquestion": "letter", "student": "name"}  # by which an entry of a list is named
_STRINGS = re.compile(  # and comments, in which a quotation mark begins none; one without an end is looked at once
    r"""
    \#[^\n]*
    | \'{3}.*?(?:\'{3}|\Z) | \"{3}(?:[^\\]|\\.?)*?(?:\"{3}|\Z)
    | "(?:\\[^\n]|[^"\\\n])*+"? | '[^'\n]*+'?
    """,
    re.DOTALL | re.VERBOSE,
)
_HEADER = re.compile(r"\s*\[{1,2}([^\[\],=]+)\]{1,2}\s*\Z")
_NUMBERED = re.compile(r"([^,]+), entry (\d+)(?:, |\Z)")
_PARSER = re.compile(r"\bline (\d+),? column \d+")  # as the readers of TOML and JSON say it
_ALTERNATIVE = "alternative "  # begins the entry of a finding about one
_BLANK = re.compile(r"\s")  # a key with one stands between quotation marks: where it begins is not tried at each blank
_LONGEST = 200  # characters of a key or value that is looked for, at each place where it may begin
_NO_FILE = "is not "  # begins the name of a finding about a file that is no TOML, or no JSON


def plain_lines(text: str) -> list[str]:
    r"""Return the lines of a problem file without comments and strings of several lines, which could look like keys.

    >>> plain_lines("a = '''\nindex = 1'''\nb = '#'  # two")
    ['a = ', '', "b = '#'  "]
    """

    def blanked(found: re.Match[str]) -> str:
        """Return the ends of lines of a comment or string; a string of one line as it is."""
        is_kept = found[0][0] != "#" and "\n" not in found[0]
        return found[0] if is_kept else "\n" * found[0].count("\n")

    return _STRINGS.sub(blanked, text).split("\n")


def find_line(lines: list[str], entry: str, field: str, text: str) -> int | None:
    r"""Return the line number, from 1, of a finding: of its field where that is found, else of its entry, else None.

    Args:
        lines: of the file, as `plain_lines` returns them.
        entry, field, text: of the finding.

    >>> find_line(["[[grading_standard]]", "index = 3", "formula = 'F = m a'"], "node 3", "formula", "")
    3
    """
    if field.startswith(_NO_FILE):
        said = _PARSER.search(text)
        return int(said[1]) if said else None
    if entry.startswith(_ALTERNATIVE):
        way, _, inner = entry.removeprefix(_ALTERNATIVE).partition(", ")
        return _line_in_alternative(lines, way, inner, field, text)
    place, _, rest = entry.partition(", ")
    names = [name for name in (*rest.split(", "), *field.split(", ")) if name]
    kind, _, name = place.partition(" ")
    if name and kind in _KEYS:
        lines = _outside_alternatives(lines)  # whose nodes have indices of their own
        at = _line_of_value(lines, _KEYS[kind], name)
    elif numbered := _NUMBERED.match(f"{entry}, {field}"):
        at = _line_of_header(lines, numbered[1], int(numbered[2]))
    else:
        first, *names = [name for name in (place, *names) if name] or [""]
        at = _line_of_header(lines, first, 1) if first else None
    if at is None:
        return None
    start, end = _entry_around(lines, at)
    for key in names:
        found = _line_of_key(lines, key, start, end)
        at, start, end = (at, start, end) if found is None else (found, found, found + 1)
    return at + 1


def _line_in_alternative(lines: list[str], name: str, entry: str, field: str, text: str) -> int | None:
    """Return the line number of a finding in the alternative of a name, or of that name; None if it is not found."""
    for start, end in _alternatives(lines):
        own = ["" if k < start or k >= end else line for k, line in enumerate(lines)]
        at = _line_of_value(own, "name", name)
        if at is not None:
            plain = [line.replace("alternatives.", "").replace("alternatives", "alternative") for line in own]
            return (find_line(plain, entry, field, text) if entry or field else None) or at + 1
    return None


def _alternatives(lines: list[str]) -> list[tuple[int, int]]:
    """Return the positions (start, end) of the lines of each alternative of a TOML file."""
    headers = [(at, found[1].strip()) for at, line in enumerate(lines) if (found := _HEADER.match(line))]
    spans: list[tuple[int, int]] = []
    for k, (at, name) in enumerate(headers):
        end = headers[k + 1][0] if k + 1 < len(headers) else len(lines)
        if name == "alternatives":
            spans.append((at, end))
        elif name.startswith("alternatives.") and spans:
            spans[-1] = (spans[-1][0], end)
    return spans


def _outside_alternatives(lines: list[str]) -> list[str]:
    """Return the lines of a file with those of its alternatives blanked, but for their headers."""
    within = {k for start, end in _alternatives(lines) for k in range(start + 1, end)}
    return ["" if k in within and not _HEADER.match(line) else line for k, line in enumerate(lines)]


def _line_of_value(lines: list[str], key: str, value: str) -> int | None:
    """Return the position of the first line that says `key = value` in TOML or JSON, or None."""
    if len(value) > _LONGEST:
        return None
    says = re.compile(rf'(?:^|[{{,\s])"?{key}"?\s*+[:=]\s*+(["\']?){re.escape(value)}\1\s*+(?:$|[,}}#])')
    return next((at for at, line in enumerate(lines) if says.search(line)), None)


def _line_of_key(lines: list[str], key: str, start: int, end: int) -> int | None:
    """Return the position of the first line from `start` to `end` that sets a key, or None."""
    if len(key) > _LONGEST:
        return None
    quote = "[\"']" if _BLANK.search(key) else "[\"']?"
    says = re.compile(rf"(?:^|[{{,\s]){quote}{re.escape(key)}{quote}\s*+[:=]")
    return next((at for at in range(start, end) if says.search(lines[at])), None)


def _line_of_header(lines: list[str], key: str, n: int) -> int | None:
    """Return the position of the n-th header of a key, from 1, else of the line that sets it, or None."""
    headers = {at: found[1].strip() for at, line in enumerate(lines) if (found := _HEADER.match(line))}
    named = [at for at, name in headers.items() if name == key]
    return named[n - 1] if n <= len(named) else _line_of_key(lines, key, 0, min(headers, default=len(lines)))


def _entry_around(lines: list[str], at: int) -> tuple[int, int]:
    """Return the positions (start, end) of the lines of an entry: from its header to the next; one line without any."""
    start = next((k for k in range(at, -1, -1) if _HEADER.match(lines[k])), None)
    end = next((k for k in range(at + 1, len(lines)) if _HEADER.match(lines[k])), len(lines))
    return (at, at + 1) if start is None else (start, end)

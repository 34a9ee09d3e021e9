r"""Read a findings file (or another file of objects) entry by entry: all faults at once, repairs told.

An entry is an object: a line of JSON Lines, an item of a JSON list, or the one object of a JSON file. A file that is
none of these is searched for JSON, as the answer of a judge model often is, and each entry that was
found so says it in its `notes`.

A protocol gives a function that reads one entry: it holds it to a shape (`of_shape`), adds further faults to the
`LoadReport` it is handed, and returns a value of its own.

Find JSON in text that is not only JSON: a code fence, sentences around it, an answer that was cut off.

Brackets are matched, strings skipped; nothing inside a value is changed. What begins like an object (`{` and a quote)
or like a list of objects (`[` and `{`) and closes is a value. What does not close was cut off: it ends behind its last
whole item, and the open brackets are closed there. Every repair is told.

Refused: mending what stands inside (lacking quotes, comments, commas too many, backslashes that no escape has). Each
such mend has two readings, and a finding that is misread moves a score.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from prism.errors import PrismError
from prism.grading.row import json_line
from prism.inputs import decode, near_file, parse_json, read_bytes, refuse_constant, value_faults
from prism.problem.shapes import JSON, LoadReport, read_shape
from prism.runs.records import MAX_RECORD, Faults

_OPENING = re.compile(r"\{(?=\s*[\"}])|\[(?=\s*\{)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|"|[{}\[\],]', re.DOTALL)
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_CLOSING = {"{": "}", "[": "]"}
FENCE, AROUND = "read out of a code fence", "read out of the text around it"


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A JSON value found in a text.

    Attributes:
        line: where it begins, from 1.
        remarks: what had to be repaired; empty if nothing had to.
        fault: why the value cannot be read; then `value` is None.
    """

    value: Any
    line: int
    remarks: tuple[str, ...] = ()
    fault: str = ""


def find_values(text: str) -> tuple[FoundValue, ...]:
    r"""Return the objects and lists of objects that stand in a text, in order.

    >>> find_values('Here it is:\n```json\n{"a": 1}\n```')[0].remarks
    ('read out of a code fence', 'read out of the text around it')
    >>> (found := find_values('{"a": [1, 2], "b": [3, 4')[0]).value
    {'a': [1, 2], 'b': [3]}
    >>> found.remarks
    ('cut off: ended behind character 21, 2 brackets closed',)
    """
    spans = tuple(_spans(text))
    outside = _outside(text, spans)
    remarks = [FENCE] if _FENCE.search(outside) else []
    remarks += [AROUND] if _FENCE.sub("", outside).strip(" \t\r\n,") else []
    found = []
    for span in spans:
        line = text.count("\n", 0, span.start) + 1
        try:
            value = parse_json(text[span.start : span.end] + span.closing, table=dict, constant=refuse_constant)
        except PrismError as error:
            found.append(FoundValue(None, line, (), f"no JSON: {error}"))
            continue
        found.append(FoundValue(value, line, (*remarks, *span.remarks)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Span:
    """Where a value stands, up to its last whole item, and the brackets that it lacks."""

    start: int
    end: int
    closing: str = ""
    remarks: tuple[str, ...] = ()


def _spans(text: str) -> Iterator[_Span]:
    """Yield the span of each value of a text; one that was cut off is the last one."""
    position = 0
    while opening := _OPENING.search(text, position):
        span = _span_at(text, opening.start())
        if span is None:  # cut off within its first item
            yield _Span(opening.start(), opening.start() + 1, _CLOSING[opening[0]], (_cut_remark(1, 1),))
            return
        yield span
        if span.remarks:
            return
        position = span.end


def _span_at(text: str, start: int) -> _Span | None:
    """Return the span of the value that begins at `start`; None if it is cut off before its first item ends."""
    open_brackets: list[str] = []
    last: tuple[int, str] | None = None
    for token in _TOKEN.finditer(text, start):
        mark = token[0]
        if mark in _CLOSING:
            open_brackets.append(_CLOSING[mark])
        elif mark in ("}", "]"):
            if open_brackets.pop() != mark:
                return _Span(start, token.end())  # what it is not, the reader of JSON says
            if not open_brackets:
                return _Span(start, token.end())
            last = token.end(), "".join(reversed(open_brackets))
        elif mark == ",":
            last = token.start(), "".join(reversed(open_brackets))
        elif mark == '"':  # of a string without end
            break
    if last is None:
        return None
    end, closing = last
    return _Span(start, end, closing, (_cut_remark(end - start, len(closing)),))


def _cut_remark(n: int, n_closed: int) -> str:
    """Say where a value was cut off: behind its `n`-th character."""
    return f"cut off: ended behind character {n}, {n_closed} {'bracket' if n_closed == 1 else 'brackets'} closed"


def _outside(text: str, spans: tuple[_Span, ...]) -> str:
    """Return the text without its values; what is lost of one that was cut off belongs to it."""
    kept, position = [], 0
    for span in spans:
        kept.append(text[position : span.start])
        position = len(text) if span.remarks else span.end
    return "".join((*kept, text[position:]))


T = TypeVar("T")
Table = Mapping[str, Any]
JUDGED = "judged"
"""The key under which `prism judge` says what made a finding: task, model, tokens. Nothing follows from it."""
ENTRY = replace(JSON, ignored_keys=frozenset((JUDGED,)))
"""How messages name what stands in an entry."""

_FENCES = ("```", "~~~")
_MOSTLY = 2  # a file of lines is read line by line where one in so many is an object by itself


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One entry of a file.

    Attributes:
        value: what the protocol's reader made of it.
        place: `line 3`, `item 3`.
        notes: what was repaired; they belong into the notes of the row that is made of it.
        sha256: of the entry as sorted JSON.
    """

    value: T
    place: str
    notes: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class EntryFile(Generic[T]):
    """The entries of a file in its order.

    Attributes:
        warnings: what is no fault, such as unknown keys; for standard error.
        faults: those of entries that were left out, where the reader of the file adds its own before they are told.
    """

    path: Path
    entries: tuple[Entry[T], ...]
    warnings: tuple[str, ...] = ()
    faults: Faults = field(default_factory=Faults, compare=False)


def joined_sha256(entries: Iterable[Entry[Any]]) -> str | None:
    """Return one digest of the entries that a row was made from, in whatever order they stand; None of no entry."""
    digests = sorted(entry.sha256 for entry in entries)
    if len(digests) < 2:
        return digests[0] if digests else None
    return hashlib.sha256("\0".join(digests).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Item:
    """One value found in a file, and where; `fault` where it cannot be read."""

    value: Any
    place: str
    notes: tuple[str, ...] = ()
    fault: str = ""


def of_shape(shape: type[T]) -> Callable[[Table, LoadReport], T]:
    """Return what reads an entry that is all of one shape."""
    return lambda table, report: read_shape(shape, table, report, ENTRY)


def read_entries(path: Path, read: Callable[[Table, LoadReport], T], *, is_checked: bool = True) -> EntryFile[T]:
    """Read all entries of a file of objects.

    Args:
        path: JSON Lines, JSON, or text with JSON in it.
        read: makes a value of one object; adds its faults, without file and place, to the report.
        is_checked: False leaves the faults of entries to the caller, who adds those between entries and calls
            `faults.check`, so that all are told at once.

    Errors:
        DataFileError: all faults of all entries; a file that cannot be read, or holds no object.
    """
    faults = Faults()
    entries: list[Entry[T]] = []
    warnings: list[str] = []
    try:
        items = _items(decode(read_bytes(path, MAX_RECORD)))
    except PrismError as error:
        faults.add(f"{error}{near_file(path)}")
        items = []
    else:
        if not items:
            faults.add("holds no JSON object; expected one a line")
    for item in items:
        report = LoadReport([], [])
        if item.fault:
            report.faults.append(item.fault)
        elif not isinstance(item.value, dict):
            report.faults.append(f"no object, but {type(item.value).__name__}")
        elif too_large := value_faults(item.value):
            report.faults += too_large
        else:
            value = read(item.value, report)
            digest = hashlib.sha256(json_line(item.value)).hexdigest()
            if not report.faults:
                entries.append(Entry(value, item.place, item.notes, digest))
        for fault in dict.fromkeys(report.faults):
            faults.add(fault, item.place)
        warnings += [f"{item.place}: {one}" for one in report.warnings]
    if is_checked or not items:
        faults.check(path)
    return EntryFile(path, tuple(entries), tuple(warnings), faults)


def _items(text: str) -> list[_Item]:
    """Return the values of a text: whole JSON, JSON Lines, or what is found by its brackets."""
    try:
        whole = parse_json(text, table=dict, constant=refuse_constant)
    except PrismError:
        pass
    else:
        return _flat(whole, "", ())
    lines = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]
    by_line = [(n, line, _object_of(line)) for n, line in lines]
    n_whole = sum(value is not None for _, _, value in by_line)
    if not n_whole or _MOSTLY * n_whole < len(lines):
        return [item for one in find_values(text) for item in _found(one, f"line {one.line}")]
    fenced = any(line.strip().startswith(_FENCES) for _, line, _ in by_line)
    items = []
    for n, line, value in by_line:
        if value is not None:
            items.append(_Item(value, f"line {n}", (_note(f"line {n}", FENCE),) if fenced else ()))
            continue
        found = find_values(line)
        items += [item for one in found for item in _found(one, f"line {n}")]
        if not found and not line.strip().startswith(_FENCES):
            items.append(_Item(None, f"line {n}", fault="no JSON object"))
    return items


def _note(place: str, remark: str) -> str:
    """Return a repair as a note of the row that is made of the entry."""
    return f"findings, {place}: {remark}"


def _object_of(line: str) -> dict[str, Any] | None:
    """Return the object that a line is; None for any other line."""
    try:
        value = parse_json(line, table=dict, constant=refuse_constant)
    except PrismError:
        return None
    return value if isinstance(value, dict) else None


def _found(one: FoundValue, place: str) -> list[_Item]:
    """Return the items of a value that was found by its brackets, with what was repaired."""
    if one.fault:
        return [_Item(None, place, fault=one.fault)]
    return _flat(one.value, place, tuple(_note(place, remark) for remark in one.remarks))


def _flat(value: Any, place: str, notes: tuple[str, ...]) -> list[_Item]:
    """Return the items of a list, or a value as the one item."""
    if not isinstance(value, list):
        return [_Item(value, place or "item 1", notes)]
    where = f"{place}, " if place else ""
    return [_Item(each, f"{where}item {n}", notes) for n, each in enumerate(value, start=1)]

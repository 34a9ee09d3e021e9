"""Records in the files of others: JSON Lines, JSON, CSV or Parquet, or texts in a folder, read one at a time."""

from __future__ import annotations

import codecs
import csv
import errno
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path, PurePosixPath
from typing import IO, Any

from prism.errors import DataFileError, PrismError, importing, needs_extra
from prism.inputs import (
    DECODER,
    MAX_DIGITS,
    did_you_mean,
    foreign_format,
    near_file,
    parse_json,
    value_faults,
    why_failed,
)
from prism.latex.documents.kinds import kind_of
from prism.latex.documents.reading import read_document
from prism.runs.input_files import (
    PLAIN_TEXTS,
    TABLES,
    InputFile,
    InputKind,
    files_in,
    format_ending,
    of_kind,
    own_folder,
    without_parts,
)

_WINDOW = 1 << 16  # characters of a JSON list that are read at a time
MAX_RECORD = 1 << 28  # bytes of one record: a small compressed file may be one line of terabytes
SHOWN_FAULTS = 20  # of an input; the rest is counted
_SHOWN_NAMES = 500  # characters
_INDEX_DIGITS = 10  # of a list index in a field path

NEEDS_PARQUET = needs_extra("Parquet files need", "parquet")

Keys = tuple[str, ...]


# Fields. --------------------------------------------------------------------------------------------------------


class Absent:
    """The type of `ABSENT`, which marks a missing field; null is a value."""


ABSENT = Absent()


def at_path(record: Any, path: Keys) -> Any:
    """Return the value at a path of keys in a record, list indices written as digits; `ABSENT` if there is none."""
    if len(path) > 1 and isinstance(record, Mapping) and ".".join(path) in record:
        return record[".".join(path)]  # a column of that name
    for key in path:
        if isinstance(record, Mapping) and key in record:
            record = record[key]
        elif isinstance(record, list) and key.isdecimal() and len(key) < _INDEX_DIGITS and int(key) < len(record):
            record = record[int(key)]
        else:
            return ABSENT
    return record


def parse_mapping(mapping: Mapping[str, str], names: Collection[str]) -> dict[str, Keys]:
    """Split the field paths of `--map` into keys: `{"response": "out.text"}` gives `{"response": ("out", "text")}`.

    Errors:
        PrismError: a name that is not among `names`.
    """
    if unknown := sorted(mapping.keys() - set(names)):
        near = did_you_mean(unknown[0], names) if len(unknown) == 1 else ""
        raise PrismError(f"map: no field {', '.join(unknown)}; a map names {', '.join(names)}{near}")
    return {name: tuple(path.split(".")) for name, path in mapping.items()}


def id_of(value: Any) -> str | None:
    """Return an id as text (CSV has no types); None for a value that is neither a non-empty text nor a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return value if isinstance(value, str) else str(value) if abs(value) < 10**MAX_DIGITS else None


def field_names(record: Mapping[str, Any]) -> str:
    """Return the field names of a record as one text for a message; `(none)` if it has no fields."""
    return ", ".join(map(str, record))[:_SHOWN_NAMES] or "(none)"


# Files. -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """One record of an input.

    Attributes:
        file: path of the file that holds it.
        number: its place among all records of the input, from 1; those that cannot be read count too.
        place: where it stands in its file, as an editor counts: `line 3`, `item 3` of a JSON list, `row 3` of Parquet;
            empty for a file that is one record.
    """

    file: str
    data: Mapping[str, Any]
    number: int
    place: str = ""


class Faults:
    """The faults of an input in words: equal ones are one, of the first `SHOWN_FAULTS` kinds; the rest is counted."""

    def __init__(self) -> None:
        """Begin without faults."""
        self._kept: dict[str, _Equal] = {}
        self._n_more = 0

    def add(self, fault: str, place: str = "", hint: Callable[[], str] = str) -> None:
        """Add one fault.

        Args:
            fault: what is wrong; equal texts are told once, with their first and last place.
            place: where; empty if the fault says it itself.
            hint: what to say behind the fault, asked for where the fault is the first of its text.
        """
        if fault in self._kept:
            self._kept[fault].n += 1
            self._kept[fault].last = place
        elif len(self._kept) < SHOWN_FAULTS:
            self._kept[fault] = _Equal(place, place, hint())
        else:
            self._n_more += 1

    def __bool__(self) -> bool:
        """Return True if there are any."""
        return bool(self._kept)

    def check(self, source: Path) -> None:
        """Raise all faults as one DataFileError about `source`, if there are any."""
        if self._kept:
            kept = [_fault_with_places(fault, where) for fault, where in self._kept.items()]
            more = [f"and {self._n_more} more"] if self._n_more else []
            raise DataFileError(str(source), (*kept, *more))


@dataclass(slots=True)
class _Equal:
    """Where a fault stands: its first and its last place, how often, and what is said behind it."""

    first: str
    last: str
    hint: str
    n: int = 1


def _fault_with_places(fault: str, where: _Equal) -> str:
    """Return a fault with its first place and, if there are several, with their number and the last one."""
    said = f"{where.first}: {fault}{where.hint}" if where.first else f"{fault}{where.hint}"
    return said if where.n == 1 else f"{said}; {where.n - 1} more like it, the last in {where.last}"


def read_records(
    source: Path, faults: Faults | None = None, left_out: list[InputFile] | None = None
) -> Iterator[Record]:
    """Yield the records of a table file (CSV, JSON, JSON Lines, Parquet), or of all files of a folder, in order.

    What cannot be read is left out, and told behind the last record. Of a folder, files that are neither texts nor
    tables, and texts that are none in UTF-8, are no faults: they are left out, and stand in `left_out`.

    Args:
        faults: collects the faults, instead of the error.
        left_out: collects these files; None where they have been told already.

    Errors:
        DataFileError: all faults of the input at once; an ending of no format; tables and texts in one folder.
        PrismError: Parquet without pyarrow installed.
    """
    found = Faults() if faults is None else faults
    numbers = count(1)
    if not source.exists():
        found.add(f"cannot be read: {os.strerror(errno.ENOENT)}{near_file(source)}")
    elif source.is_dir():
        yield from _folder_records(source, numbers, found, [] if left_out is None else left_out)
    elif format_ending(source) in TABLES:
        yield from _table_records(source, numbers, found, "")
    else:
        ending = format_ending(source)
        raise DataFileError(str(source), (f"ending {ending!r}; expected {', '.join(TABLES)}, or a folder",))
    if faults is None:
        found.check(source)


class _MalformedRecordError(Exception):
    """Raised where a file holds something behind which no record can be found; the message names the place."""


@dataclass(frozen=True, slots=True)
class _Item:
    """One value of a table, where it stands in its file, and why it cannot be read; empty if it can."""

    place: str
    value: Any = None
    fault: str = ""


def _open_bytes(path: Path) -> IO[bytes]:
    """Open a file, decompressed if its name ends in `.gz`; _MalformedRecordError if it does not begin like text."""
    raw: Any = gzip.GzipFile(path) if path.suffix == ".gz" else io.FileIO(path)
    file = io.BufferedReader(raw)
    if found := foreign_format(file.peek(_WINDOW)):
        file.close()
        raise _MalformedRecordError(f"is {found}; its name says {format_ending(path)}, text in UTF-8")
    return file


def _open_text(path: Path, newline: str | None = None) -> IO[str]:
    """Open a file as UTF-8 text, decompressed if its name ends in `.gz`; `newline` as for `open`."""
    return io.TextIOWrapper(_open_bytes(path), encoding="utf-8-sig", newline=newline)


def _undecodable_place(path: Path) -> str:
    """Return in words where a file stops being UTF-8."""
    position, line = 0, 1
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _open_bytes(path) as file:
        while chunk := file.read(_WINDOW):
            held = len(decoder.getstate()[0])  # bytes of a character that the chunk before has cut
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                line += chunk.count(b"\n", 0, max(error.start - held, 0))
                position += error.start - held
                break
            position += len(chunk)
            line += chunk.count(b"\n")
        else:
            position -= len(decoder.getstate()[0])  # the file ends within a character
    return f"line {line}: is not UTF-8: byte {position} of the file cannot be read"


def _folder_records(
    folder: Path, numbers: Iterator[int], faults: Faults, left_out: list[InputFile]
) -> Iterator[Record]:
    """Yield the records of a folder: those of its tables, or one per text file `PROBLEM/SAMPLE.md` or `PROBLEM.md`.

    Raises DataFileError for a folder with both.
    """
    files = without_parts(files_in(folder))
    tables, texts = of_kind(files, InputKind.TABLE), of_kind(files, InputKind.TEXT)
    left_out += [file for file in files if file.reason]
    if tables:
        if plain := [file for file in texts if file.path.suffix.lower() in PLAIN_TEXTS]:
            told = f"both tables ({tables[0].place}) and texts ({plain[0].place}); expected one"
            raise DataFileError(str(folder), (told,))
        left_out += [replace(file, kind=InputKind.UNREAD, reason=_beside_tables(file)) for file in texts]
        texts = ()
    for table in tables:
        yield from _table_records(table.path, numbers, faults, f"{table.place}: ")
    is_flat = all(file.path.parent == folder for file in texts)  # then a name may be a solution's to a single problem
    for file, number in zip(texts, numbers, strict=False):
        place = PurePosixPath(file.place)
        problem_id = place.parent.as_posix() if len(place.parts) > 1 else place.stem
        try:
            document = read_document(file.path, root=own_folder(file.path))
        except PrismError as error:
            left_out.append(replace(file, kind=InputKind.UNREAD, reason=str(error)))
            continue
        if document.not_read:
            told = f"is read, but for {', '.join(document.not_read)}"
            left_out.append(replace(file, kind=InputKind.UNREAD, reason=told))
        key = "problem" if is_flat else "problem_id"
        data = {key: problem_id, "sample_id": file.place, "response": document.solution}
        yield Record(str(file.path), data, number)


def _beside_tables(file: InputFile) -> str:
    """Return why a document is not read that lies beside tables."""
    kind = kind_of(file.path)
    return f"is {kind.name if kind else 'a text'} beside tables, which are read"


def _table_records(path: Path, numbers: Iterator[int], faults: Faults, prefix: str) -> Iterator[Record]:
    """Yield the records of one table, numbered from `numbers`; faults begin with `prefix`."""
    readers = {".csv": _csv_rows, ".tsv": _csv_rows, ".json": _json_items, ".parquet": _parquet_rows}
    try:
        for item in readers.get(format_ending(path), _json_lines_items)(path):
            number, data, place = next(numbers), item.value, f"{prefix}{item.place}"
            if item.fault:
                faults.add(item.fault, place)
            elif not isinstance(data, Mapping):
                faults.add(f"no object, but {type(data).__name__}", place)
            elif (found := value_faults(data)) if any(isinstance(each, list | dict) for each in data.values()) else []:
                faults.add("; ".join(found), place)
            else:
                yield Record(str(path), data, number, item.place)
    except UnicodeDecodeError:
        faults.add(f"{prefix}{_undecodable_place(path)}")
    except OSError as error:
        faults.add(f"{prefix}cannot be read: {why_failed(error)}{near_file(path)}")
    except (EOFError, zlib.error, csv.Error, _MalformedRecordError) as error:
        faults.add(f"{prefix}{error}")


def _json_lines_items(path: Path) -> Iterator[_Item]:
    """Yield the value of each non-empty line of a JSON Lines file."""
    with _open_bytes(path) as file:
        for n in count(1):
            line = file.readline(MAX_RECORD + 1)
            if not line:
                return
            if len(line) > MAX_RECORD:
                yield _Item(f"line {n}", fault=f"longer than {MAX_RECORD} bytes")
                while line and not line.endswith(b"\n"):
                    line = file.readline(_WINDOW)
            elif line.strip():
                yield _json_line_item(line, n)


def _json_line_item(line: bytes, n: int) -> _Item:
    """Return the value of line `n` of a JSON Lines file, or why there is none."""
    if n == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    place = f"line {n}"
    try:
        return _Item(place, parse_json(line.rstrip(b"\r\n").decode()))
    except UnicodeDecodeError as error:
        return _Item(place, fault=f"is not UTF-8: byte {error.start} of the line cannot be read")
    except PrismError as error:
        return _Item(place, fault=f"no JSON: {str(error).replace('line 1 column', 'column')}")


def _json_items(path: Path) -> Iterator[_Item]:
    """Yield the items of a JSON file that is a list, without loading all of it; or the one object that it holds.

    Raises _MalformedRecordError where a comma is missing.
    """
    with _open_text(path) as file:
        window = _refill(file, "")
        if window[:1] != "[":
            yield _Item("item 1", _json_object(window, file))
            return
        window = window[1:]
        for n in count(1):
            window = _refill(file, window)
            if window[:1] == "]" and not window[1:].strip() and not file.read(_WINDOW).strip():
                return
            if n > 1:
                if window[:1] != ",":
                    raise _MalformedRecordError(f"no comma or end of the list behind item {n - 1}: {window[:20]!r}")
                window = _refill(file, window[1:])
            item, window = _decode_item(file, window, n)
            yield _Item(f"item {n}", item)


def _json_object(window: str, file: IO[str]) -> Any:
    """Return the value of a JSON file that is no list, of which `window` is read already.

    Raises _MalformedRecordError if it is too long, or no JSON.
    """
    text = window + file.read(MAX_RECORD)
    if len(text) > MAX_RECORD:
        raise _MalformedRecordError(f"one object of more than {MAX_RECORD} characters; give a list, or one a line")
    try:
        return parse_json(text)
    except PrismError as error:
        raise _MalformedRecordError(f"no JSON: {error}") from error


def _refill(file: IO[str], window: str) -> str:
    """Strip leading blanks from `window`, the text that is read but not decoded, and read more if nothing is left."""
    window = window.lstrip()
    while not window and (read := file.read(_WINDOW)):
        window = read.lstrip()
    return window


_CUT = 16  # characters: within so many of its end a window may be cut inside a word or an escape


def _decode_item(file: IO[str], window: str, n: int) -> tuple[Any, str]:
    """Decode item `n` at the start of `window`, reading more text as needed; return it and the rest.

    Raises _MalformedRecordError if it is too long, nested too deeply or no JSON.
    """
    while True:
        try:
            item, end = DECODER.raw_decode(window)
        except json.JSONDecodeError as error:
            may_go_on = error.msg.startswith("Unterminated") or error.pos > len(window) - _CUT
            fault = f"item {n}: no JSON: {error.msg}"
        except RecursionError:
            raise _MalformedRecordError(f"item {n}: no JSON: nested too deeply") from None
        except PrismError as error:
            raise _MalformedRecordError(f"item {n}: {error}") from error
        else:
            if isinstance(item, Mapping) or end < len(window):  # a number may go on behind the window
                return item, window[end:]
            may_go_on, fault = True, f"item {n}: no JSON: the list does not end"
        read = file.read(max(len(window), _WINDOW)) if may_go_on and len(window) <= MAX_RECORD else ""
        if not read:
            raise _MalformedRecordError(fault if len(window) <= MAX_RECORD else f"item {n}: too long")
        window += read


def _csv_rows(path: Path) -> Iterator[_Item]:
    """Yield each row of a CSV or TSV file as a dictionary by the names in the head; its place is its first line.

    A head with semicolons and no comma is of a spreadsheet whose numbers have commas.
    """
    csv.field_size_limit(MAX_RECORD)  # Python's own is 128 KiB, and responses are longer
    with _open_text(path, newline="") as file:
        start = file.readline(_WINDOW)
        file.seek(0)
        separator = ";" if ";" in start and "," not in start else ","
        rows = csv.reader(file, delimiter="\t" if format_ending(path) == ".tsv" else separator)
        head = next(rows, [])
        first = rows.line_num + 1
        for row in rows:
            place, first = f"line {first}", rows.line_num + 1
            if row and len(row) != len(head):
                yield _Item(place, fault="not as many fields as the head names")
            elif row:
                yield _Item(place, dict(zip(head, row, strict=True)))


def _parquet_rows(path: Path) -> Iterator[_Item]:
    """Yield each row of a Parquet file as a dictionary.

    Raises PrismError without pyarrow, _MalformedRecordError for a broken file.
    """
    with importing(NEEDS_PARQUET):
        import pyarrow.parquet
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(batch_size=256) for row in batch.to_pylist())
            yield from (_Item(f"row {n}", row) for n, row in enumerate(rows, start=1))
    except (pyarrow.ArrowException, ValueError, OverflowError) as error:  # the last two: of dates, or no UTF-8
        raise _MalformedRecordError(str(error)) from error

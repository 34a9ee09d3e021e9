"""Records in the files of others: JSON Lines, JSON, CSV or Parquet, or texts in a folder, read one at a time."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from prism.errors import DataFileError, PrismError

_TEXTS = (".md", ".tex", ".txt")
_TABLES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")
_WINDOW = 1 << 16  # characters of a JSON list that are read at a time
_FIELD_LIMIT = 1 << 30  # of a CSV file; Python's own is 128 KiB, and responses are longer

NEEDS_PARQUET = 'Parquet files need the extra: pip install "prism-dag[parquet]"'

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
        elif isinstance(record, list) and key.isdecimal() and int(key) < len(record):
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
        raise PrismError(f"map: no field {', '.join(unknown)}; a map names {', '.join(names)}")
    return {name: tuple(path.split(".")) for name, path in mapping.items()}


def id_of(value: Any) -> str | None:
    """Return an id as text (CSV has no types); None for a value that is neither a non-empty text nor a whole number."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return str(value)


def field_names(record: Mapping[str, Any]) -> str:
    """Return the field names of a record as one text for a message; `(none)` if it has no fields."""
    return ", ".join(map(str, record)) or "(none)"


# Files. -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """One record of an input, with the path of the file that holds it."""

    file: str
    data: Mapping[str, Any]


def read_records(source: Path) -> Iterator[Record]:
    """Yield the records of a table file (CSV, JSON, JSON Lines, Parquet), or of all files of a folder, in order.

    Errors:
        DataFileError: a file that does not hold what its ending says.
        PrismError: Parquet without pyarrow installed.
    """
    if source.is_dir():
        yield from _folder_records(source)
        return
    suffix = _format_suffix(source)
    readers = {".csv": _csv_rows, ".tsv": _csv_rows, ".json": _json_items, ".parquet": _parquet_rows}
    if suffix not in _TABLES:
        raise DataFileError(str(source), (f"ending {suffix!r}; expected {', '.join(_TABLES)}, or a folder",))
    try:
        for at, data in enumerate(readers.get(suffix, _json_lines_items)(source)):
            if not isinstance(data, Mapping):
                raise DataFileError(str(source), (f"record {at + 1}: no object, but {type(data).__name__}",))
            yield Record(str(source), data)
    except (
        OSError,
        EOFError,
        RecursionError,
        UnicodeDecodeError,
        csv.Error,
        json.JSONDecodeError,
        _MalformedRecordError,
    ) as error:
        raise DataFileError(str(source), (str(error),)) from error


class _MalformedRecordError(Exception):
    """Raised where a file holds something that is no record; the message names the line."""


def _format_suffix(path: Path) -> str:
    """Return the file ending that names the format, without `.gz`: `.jsonl` for `a.jsonl.gz`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _open_text(path: Path, newline: str | None = None) -> IO[str]:
    """Open a file as UTF-8 text, decompressed if its name ends in `.gz`; `newline` as for `open`."""
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline=newline)
    return path.open(encoding="utf-8-sig", newline=newline)


def _folder_records(folder: Path) -> Iterator[Record]:
    """Yield the records of a folder: those of its tables, or one per text file `PROBLEM/SAMPLE.md` or `PROBLEM.md`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    tables = [path for path in files if _format_suffix(path) in _TABLES]
    texts = [path for path in files if path.suffix in _TEXTS]
    if tables and texts:
        raise DataFileError(str(folder), (f"both tables ({tables[0].name}) and texts ({texts[0].name}); expected one",))
    for path in tables:
        yield from read_records(path)
    for path in texts:
        place = path.relative_to(folder)
        problem_id = place.parent.as_posix() if place.parent != Path() else place.stem
        text = path.read_text(encoding="utf-8", errors="replace")
        yield Record(str(path), {"problem_id": problem_id, "sample_id": place.as_posix(), "response": text})


def _json_lines_items(path: Path) -> Iterator[Any]:
    """Yield the value of each non-empty line of a JSON Lines file."""
    with _open_text(path, newline="\n") as file:  # a string may hold other line ends
        for n, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (json.JSONDecodeError, RecursionError) as error:
                    raise _MalformedRecordError(f"line {n}: no JSON: {error}") from error


def _json_items(path: Path) -> Iterator[Any]:
    """Yield the items of a JSON file that is a list, without loading all of it; or the one object that it holds."""
    decoder = json.JSONDecoder()
    with _open_text(path) as file:
        window = _refill(file, "")
        if window[:1] != "[":
            yield json.loads(window + file.read())
            return
        window = window[1:]
        is_first = True
        while True:
            window = _refill(file, window)
            if window[:1] == "]" and not window[1:].strip():
                return
            if not is_first:
                if window[:1] != ",":
                    raise _MalformedRecordError(f"no comma or end of the list behind an item: {window[:20]!r}")
                window = _refill(file, window[1:])
            item, window = _decode_item(decoder, file, window)
            yield item
            is_first = False


def _refill(file: IO[str], window: str) -> str:
    """Strip leading blanks from `window`, the text that is read but not decoded, and read more if nothing is left."""
    window = window.lstrip()
    while not window and (read := file.read(_WINDOW)):
        window = read.lstrip()
    return window


def _decode_item(decoder: json.JSONDecoder, file: IO[str], window: str) -> tuple[Any, str]:
    """Decode the JSON object at the start of `window`, reading more text as needed; return the object and the rest."""
    while True:
        try:
            item, end = decoder.raw_decode(window)
        except json.JSONDecodeError:
            read = file.read(max(len(window), _WINDOW))
            if not read:
                raise
            window += read
        else:
            if isinstance(item, Mapping):  # a number may go on behind the window; an object ends with its brace
                return item, window[end:]
            raise _MalformedRecordError(f"an item of the list is no object, but {type(item).__name__}")


def _csv_rows(path: Path) -> Iterator[Any]:
    """Yield each row of a CSV or TSV file as a dictionary by the names of the first line."""
    csv.field_size_limit(max(csv.field_size_limit(), _FIELD_LIMIT))
    with _open_text(path, newline="") as file:
        rows = csv.DictReader(file, delimiter="\t" if _format_suffix(path) == ".tsv" else ",")
        for row in rows:
            if None in row or None in row.values():
                raise _MalformedRecordError(f"line {rows.line_num}: not as many fields as the head names")
            yield row


def _parquet_rows(path: Path) -> Iterator[Any]:
    """Yield each row of a Parquet file as a dictionary."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise PrismError(NEEDS_PARQUET) from error
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=256):
                yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise _MalformedRecordError(str(error)) from error

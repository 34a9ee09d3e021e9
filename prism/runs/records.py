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
    """What a record does not have: null is a value."""


ABSENT = Absent()


def at_path(record: Any, path: Keys) -> Any:
    """What stands at a path of keys, of which a whole number counts in a list; `ABSENT` if nothing does."""
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


def mapped(mapping: Mapping[str, str], names: Collection[str]) -> dict[str, Keys]:
    """Paths of the fields that a map says.

    Errors:
        PrismError: it names others than these.
    """
    if unknown := sorted(mapping.keys() - set(names)):
        raise PrismError(f"map: no field {', '.join(unknown)}; a map names {', '.join(names)}")
    return {name: tuple(path.split(".")) for name, path in mapping.items()}


def id_of(value: Any) -> str | None:
    """An id as text: whole numbers count, as a CSV file has no others. None of what is none."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return str(value)


def fields_told(record: Mapping[str, Any]) -> str:
    """The names of a record's fields, for a message."""
    return ", ".join(map(str, record)) or "(none)"


# Files. -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """One record, and the file that it stands in."""

    file: str
    data: Mapping[str, Any]


def records(source: Path) -> Iterator[Record]:
    """The records of a file or a folder, in order.

    Errors:
        DataFileError: a file that is not what its ending says.
        PrismError: Parquet, and pyarrow is not installed.
    """
    if source.is_dir():
        yield from _of_folder(source)
        return
    suffix = _suffix(source)
    readers = {".csv": _of_csv, ".tsv": _of_csv, ".json": _of_json, ".parquet": _of_parquet}
    if suffix not in _TABLES:
        raise DataFileError(str(source), (f"ending {suffix!r}; expected {', '.join(_TABLES)}, or a folder",))
    try:
        for at, data in enumerate(readers.get(suffix, _of_lines)(source)):
            if not isinstance(data, Mapping):
                raise DataFileError(str(source), (f"record {at + 1}: no object, but {type(data).__name__}",))
            yield Record(str(source), data)
    except (OSError, EOFError, RecursionError, UnicodeDecodeError, csv.Error, json.JSONDecodeError, _NoRecord) as error:
        raise DataFileError(str(source), (str(error),)) from error


class _NoRecord(Exception):
    """A place in a file that holds no record."""


def _suffix(path: Path) -> str:
    """The ending that tells the format: of `a.jsonl.gz` that is `.jsonl`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _opened(path: Path, newline: str | None = None) -> IO[str]:
    if path.suffix == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline=newline)
    return path.open(encoding="utf-8-sig", newline=newline)


def _of_folder(folder: Path) -> Iterator[Record]:
    """Tables in the order of their names; else texts, each `PROBLEM/SAMPLE.md` or `PROBLEM.md`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    tables = [path for path in files if _suffix(path) in _TABLES]
    texts = [path for path in files if path.suffix in _TEXTS]
    if tables and texts:
        raise DataFileError(str(folder), (f"both tables ({tables[0].name}) and texts ({texts[0].name}); expected one",))
    for path in tables:
        yield from records(path)
    for path in texts:
        place = path.relative_to(folder)
        problem_id = place.parent.as_posix() if place.parent != Path() else place.stem
        text = path.read_text(encoding="utf-8", errors="replace")
        yield Record(str(path), {"problem_id": problem_id, "sample_id": place.as_posix(), "response": text})


def _of_lines(path: Path) -> Iterator[Any]:
    with _opened(path, newline="\n") as file:  # a string may hold other line ends
        for n, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield json.loads(line)
                except (json.JSONDecodeError, RecursionError) as error:
                    raise _NoRecord(f"line {n}: no JSON: {error}") from error


def _of_json(path: Path) -> Iterator[Any]:
    """The items of a list, which is never held as a whole; or the one object."""
    decoder = json.JSONDecoder()
    with _opened(path) as file:
        window = _more(file, "")
        if window[:1] != "[":
            yield json.loads(window + file.read())
            return
        window = window[1:]
        is_first = True
        while True:
            window = _more(file, window)
            if window[:1] == "]" and not window[1:].strip():
                return
            if not is_first:
                if window[:1] != ",":
                    raise _NoRecord(f"no comma or end of the list behind an item: {window[:20]!r}")
                window = _more(file, window[1:])
            item, window = _item(decoder, file, window)
            yield item
            is_first = False


def _more(file: IO[str], window: str) -> str:
    """The window from its first character that is no blank, read on where it has none."""
    window = window.lstrip()
    while not window and (read := file.read(_WINDOW)):
        window = read.lstrip()
    return window


def _item(decoder: json.JSONDecoder, file: IO[str], window: str) -> tuple[Any, str]:
    """One item and the rest of the window, which doubles until the item is whole."""
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
            raise _NoRecord(f"an item of the list is no object, but {type(item).__name__}")


def _of_csv(path: Path) -> Iterator[Any]:
    csv.field_size_limit(max(csv.field_size_limit(), _FIELD_LIMIT))
    with _opened(path, newline="") as file:
        rows = csv.DictReader(file, delimiter="\t" if _suffix(path) == ".tsv" else ",")
        for row in rows:
            if None in row or None in row.values():
                raise _NoRecord(f"line {rows.line_num}: not as many fields as the head names")
            yield row


def _of_parquet(path: Path) -> Iterator[Any]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise PrismError(NEEDS_PARQUET) from error
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=256):
                yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise _NoRecord(str(error)) from error

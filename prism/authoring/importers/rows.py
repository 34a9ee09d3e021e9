"""Read the rows of a data set's files: JSON, JSON Lines, CSV and Parquet; what cannot be read is told by its row.

A file that is no table at all stops the reading; a line that is none does not, as the others are worth having.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prism.authoring.importers.entries import Dataset, SourceRow
from prism.errors import DataFileError, PrismError, in_file, needs_extra
from prism.inputs import decode, near_file, parse_json, read_bytes, refuse_constant, why_failed

_MAX_FILE = 1 << 30  # bytes of a file, which is read as a whole; images stand inside of some
_MAX_FILES = 100_000  # of a folder
_MAX_CELL = 1 << 24  # characters of a cell of CSV
SUFFIXES = (".json", ".jsonl", ".csv", ".parquet")


def read_rows(path: Path, dataset: Dataset) -> list[SourceRow]:
    """Return the rows of a file, or of a folder's files that belong to the data set, in the order of their paths.

    Errors:
        DataFileError: there is no such file, none that belongs to the data set, too many, or one that is no table.
    """
    return [row for file in files_of(path, dataset) for row in _rows_of(file)]


def files_of(path: Path, dataset: Dataset) -> list[Path]:
    """Return the files to read: the file itself, or those of the folder by the first pattern that matches.

    Errors:
        DataFileError: nothing is there, no file of the folder has the data set's layout, or more than _MAX_FILES do.
    """
    if path.is_file():
        if path.suffix not in SUFFIXES:
            raise DataFileError(str(path), ((f"is named {path.suffix or 'without an ending'}; read are "
                                            f"{', '.join(SUFFIXES)}"),))  # fmt: skip
        return [path]
    if not path.is_dir():
        raise DataFileError(str(path), (f"no such file or folder{near_file(path)}",))
    for pattern in dataset.globs:
        if found := sorted(each for each in path.rglob(pattern) if each.is_file()):
            if len(found) > _MAX_FILES:
                raise DataFileError(str(path), (f"holds {len(found)} files {pattern}; at most {_MAX_FILES} are read",))
            return found
    layout = " or ".join(dataset.globs)
    raise DataFileError(str(path), (f"holds no file of {dataset.name}: expected {layout}",))


def _rows_of(file: Path) -> Iterator[SourceRow]:
    """Yield the rows of one file, by its ending; raises DataFileError if it cannot be read."""
    if file.suffix == ".parquet":
        yield from _parquet_rows(file)
        return
    with in_file(str(file)):
        text = decode(read_bytes(file, _MAX_FILE))
    if file.suffix == ".csv":
        yield from _csv_rows(file, text)
    elif file.suffix == ".jsonl":
        yield from _json_lines(file, text)
    else:
        yield from _json_entries(file, text)


def _json_lines(file: Path, text: str) -> Iterator[SourceRow]:
    """Yield a row for each line that is not blank; one that is no JSON is a row with a fault."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _json_row(file, number, f"line {number}", line)


def _json_row(file: Path, number: int, place: str, text: str) -> SourceRow:
    """Return the row of one JSON text."""
    try:
        return _row(file, number, place, parse_json(text, constant=refuse_constant))
    except PrismError as error:
        return SourceRow(file, number, place, {}, str(error))


def _row(file: Path, number: int, place: str, data: Any) -> SourceRow:
    """Return a row, with a fault if it is no table."""
    if isinstance(data, Mapping):
        return SourceRow(file, number, place, data)
    return SourceRow(file, number, place, {}, f"{str(data)[:60]!r} is no table")


def _json_entries(file: Path, text: str) -> Iterator[SourceRow]:
    """Yield a row for each element of a list, or one for a single table; lines of JSON under this ending are read too.

    Errors:
        DataFileError: neither.
    """
    try:
        found = parse_json(text, constant=refuse_constant)
    except PrismError as error:
        lines = list(_json_lines(file, text))
        if len(lines) > 1 and not lines[0].fault:
            yield from lines
            return
        raise DataFileError(str(file), (f"cannot be read: {error}",)) from error
    if isinstance(found, Mapping):
        yield _row(file, 1, "entry 1", found)
        return
    if not isinstance(found, list):
        raise DataFileError(str(file), ("holds neither a list of rows nor a table",))
    for number, entry in enumerate(found, start=1):
        yield _row(file, number, f"entry {number}", entry)


def _csv_rows(file: Path, text: str) -> Iterator[SourceRow]:
    """Yield the rows of a CSV file, counted from 1 below its heads.

    Errors:
        DataFileError: it is no CSV.
    """
    csv.field_size_limit(_MAX_CELL)
    try:
        for number, cells in enumerate(csv.DictReader(io.StringIO(text, newline="")), start=1):
            data = {name: value for name, value in cells.items() if name is not None}
            fault = "has more cells than the table has heads" if None in cells else ""
            yield SourceRow(file, number, f"row {number}", data, fault)
    except csv.Error as error:
        raise DataFileError(str(file), (f"cannot be read: {error}",)) from error


def _parquet_rows(file: Path) -> Iterator[SourceRow]:
    """Yield the rows of a Parquet file.

    Errors:
        DataFileError: it cannot be read, or pyarrow is missing.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DataFileError(str(file), (needs_extra("Parquet files need", "parquet"),)) from error
    try:
        listed = pa.parquet.read_table(file).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise DataFileError(str(file), (f"cannot be read: {why_failed(error)}",)) from error
    for number, data in enumerate(listed, start=1):
        yield SourceRow(file, number, f"row {number}", data)

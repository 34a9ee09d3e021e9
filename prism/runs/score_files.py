"""Files of score rows: JSON Lines, or Parquet with the same keys and the types written down (extra `parquet`)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from prism.diagnosis.follow_through import FOLLOW_THROUGH
from prism.errors import PrismError, importing
from prism.grading.result import Grade, GradedFormula, Incident, Match
from prism.inputs import decode, near_file, parse_json, why_failed
from prism.latex import LeftOut
from prism.runs.records import NEEDS_PARQUET, Faults

if TYPE_CHECKING:
    import pyarrow as pa

_AS_TEXT = ("meta", "settings")  # stored as JSON text, since their keys are the caller's, and a protocol's


Writer = Callable[[IO[bytes], Iterable[list[bytes]]], None]


def writer_of(path: Path, *, follow_through: bool = False) -> Writer:
    """Return the function that writes blocks of JSON lines into a `.jsonl`, `.ndjson` or `.parquet` file.

    Args:
        follow_through: rows have the policy of that name; in Parquet, every policy is a column.

    Errors:
        PrismError: another ending; Parquet without pyarrow installed.
    """
    if path.suffix in (".jsonl", ".ndjson"):
        return _write_lines
    if path.suffix == ".parquet":
        schema()
        return partial(_write_parquet, follow_through=follow_through)
    raise PrismError(f"{path}: ending {path.suffix!r}; expected .jsonl or .parquet")


def score_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the score rows of a `.jsonl` or `.parquet` file in its order; keys as of `grading.score_row`, and `meta`.

    Rows of schemas 1 to 5 are read too: they lack keys: `cost`, `alternative`, `given_answers`, `rules` of the grader.

    Errors:
        PrismError: another ending; Parquet without pyarrow installed.
        DataFileError: what the file holds besides score rows, all of it at once, behind the last row.
    """
    writer_of(path)
    faults = Faults()
    try:
        for place, row in (_parquet_rows if path.suffix == ".parquet" else _json_rows)(path, faults):
            if is_score_row(row):
                yield row
            else:
                faults.add(f"no score row; expected the keys {', '.join(sorted(_ALWAYS))}", place)
    except OSError as error:
        faults.add(f"cannot be read: {why_failed(error)}{near_file(path)}")
    faults.check(path)


@contextmanager
def written_whole(out: Path) -> Iterator[Path]:
    """Give the path of a part that takes the place of a file in one step: it is complete, or as it was.

    Errors:
        PrismError: it cannot be written.
    """
    part = out.with_name(f"{out.name}.part")
    try:
        yield part
        os.replace(part, out)  # noqa: PTH105 - in one step, over what is there
    except OSError as error:
        raise PrismError(f"{out}: cannot be written: {why_failed(error)}") from error


def accept_as_base(new: Path, base: Path) -> None:
    """Copy a new score file over the base file (the earlier rows that later runs are compared with), atomically.

    Errors:
        PrismError: the two names have different endings (`.jsonl` and `.parquet`); the base cannot be written.
    """
    if new.suffix != base.suffix:
        raise PrismError(f"{base}: a file {new.suffix} does not become a file {base.suffix}; name them alike")
    with written_whole(base) as part:
        shutil.copyfile(new, part)


_ALWAYS = frozenset(("problem_id", "sample_id", "status", "score", "matched", "incidents", "grader"))


def is_score_row(row: object) -> bool:
    """Return True if a value is a dictionary with the keys that every score row has, and lists where rows have some."""
    return (
        isinstance(row, dict)
        and row.keys() >= _ALWAYS
        and all(isinstance(row[key], list | None) for key in ("matched", "incidents"))
    )


def grade_of(row: Mapping[str, Any]) -> Grade:
    """Rebuild the `Grade` from a score row; formulas and other keys that a row lacks become empty.

    Errors:
        PrismError: a value that no grade can have.
    """
    try:
        score = _as_share(row["score"])
        strict = _as_share(row.get("score_strict"))
        sample_id = row["sample_id"]
        left_out = row.get("left_out") or {}
        return Grade(
            problem_id=str(row["problem_id"]), sample_id=None if sample_id is None else str(sample_id),
            status=str(row["status"]), score=score, matched=_as_indices(row["matched"]),
            credited=_as_indices(row.get("credited")), missing=_as_indices(row.get("missing")),
            final_correct=row.get("final_correct") is True,
            policies={
                str(name): float(value)
                for name, value in sorted((row.get("policies") or {}).items())
                if value is not None  # a protocol's, undecided in this row
            },
            formulas=tuple(map(_as_graded_formula, row.get("formulas") or ())),
            unread=int(row.get("unread") or 0), undecided=int(row.get("undecided") or 0),
            incidents=tuple(Incident(str(i["code"]), str(i["where"]), str(i["detail"])) for i in row["incidents"]),
            left_out=LeftOut(int(left_out.get("characters") or 0), int(left_out.get("formulas") or 0)),
            score_strict=strict, share_by_closure=_as_share(row.get("share_by_closure")) or 0.0,
            flags=tuple(map(str, row.get("flags") or ())), cost=None if row.get("cost") is None else int(row["cost"]),
            alternative=str(row.get("alternative") or ""), given_answers=_as_indices(row.get("given_answers")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise PrismError(f"no grade: {type(error).__name__}: {error}") from error


def _as_share(value: Any) -> float | None:
    """Return a number in [0, 1] as float, and None for None.

    Errors:
        ValueError: any other value.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not 0 <= value <= 1:  # also false for NaN
        raise ValueError(f"{value!r} is not in [0, 1]")
    return float(value)


def _as_indices(values: Any) -> tuple[int, ...]:
    """Return node indices as a tuple of ints; empty for None."""
    return tuple(int(value) for value in values or ())


def _as_graded_formula(data: Mapping[str, Any]) -> GradedFormula:
    """Rebuild a `GradedFormula` from its dictionary in a score row."""
    start, end = data["span"]
    nearest = data.get("nearest")
    return GradedFormula(
        str(data["latex"]), (int(start), int(end)), str(data["kind"]), str(data["status"]), str(data["reason"]),
        _as_indices(data.get("nodes")), str(data.get("detail") or ""), None if nearest is None else int(nearest),
        str(data.get("witness") or ""),
        tuple(
            Match(int(each["node"]), int(each["stage"]), str(each["reason"]), tuple(map(str, each["readings"] or ())))
            for each in data.get("matches") or ()
        ),
        tuple((int(each["node"]), str(each["reason"])) for each in data.get("withheld") or ()),
    )  # fmt: skip


def _json_rows(path: Path, faults: Faults) -> Iterator[tuple[str, Any]]:
    """Yield the value of each non-empty line of a JSON Lines file, behind its place in words."""
    with path.open("rb") as file:
        for n, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield f"line {n}", json.loads(line)
                except (ValueError, RecursionError):
                    try:
                        parse_json(decode(line.rstrip(b"\n")))
                    except PrismError as error:  # the same in words
                        faults.add(f"no JSON: {error}", f"line {n}")


def _parquet_rows(path: Path, faults: Faults) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a Parquet file, each behind its place, without the keys that were left out at the writing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            n = 0
            for batch in file.iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    n += 1
                    if row.get("formulas", row) is None:
                        del row["formulas"]  # they were left out
                    if row.get("policies") and "protocol" not in row:  # whose policies are null where undecided
                        row["policies"] = {name: value for name, value in row["policies"].items() if value is not None}
                    yield f"row {n}", {**row, **{key: json.loads(row[key]) for key in _AS_TEXT if key in row}}
    except (pa.ArrowException, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        faults.add(f"cannot be read: {error}")  # the others than Arrow's: values of types that no score row has


def _write_lines(file: IO[bytes], blocks: Iterable[list[bytes]]) -> None:
    """Write lines of JSON, given in blocks, as a JSON Lines file."""
    for block in blocks:
        file.writelines(line + b"\n" for line in block)


def schema(*, follow_through: bool = False) -> pa.Schema:
    """Return the Arrow schema of score rows; with the policy `follow_through` where it was asked for.

    Errors:
        PrismError: pyarrow is not installed.
    """
    with importing(NEEDS_PARQUET):
        import pyarrow as pa
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    indices = pa.list_(whole)
    policies = ["final", "prefix", "strict", "training", *([FOLLOW_THROUGH] if follow_through else [])]
    match = pa.struct({"node": whole, "readings": pa.list_(text), "reason": text, "stage": whole})
    formula = pa.struct({
        "detail": text, "kind": text, "latex": text, "matches": pa.list_(match), "nearest": whole, "nodes": indices,
        "reason": text, "span": indices, "status": text,
        "withheld": pa.list_(pa.struct({"node": whole, "reason": text})), "witness": text,
    })  # fmt: skip
    columns = {
        "problem_id": text, "sample_id": text, "status": text, "score": real, "final_correct": pa.bool_(),
        "policies": pa.struct(dict.fromkeys(sorted(policies), real)),
        "score_strict": real, "share_by_closure": real, "flags": pa.list_(text),
        "matched": indices, "credited": indices, "missing": indices, "formulas": pa.list_(formula),
        "unread": whole, "undecided": whole, "cost": whole, "alternative": text,
        "given_answers": indices,
        "left_out": pa.struct({"characters": whole, "formulas": whole}),
        "incidents": pa.list_(pa.struct({"code": text, "detail": text, "where": text})),
        "problem_sha256": text, "solution_sha256": text, "schema": whole,
        "grader": pa.struct({"fingerprint": text, "rules": whole, "version": text}), "meta": text,
    }  # fmt: skip
    return pa.schema(sorted(columns.items()))


def _write_parquet(file: IO[bytes], blocks: Iterable[list[bytes]], *, follow_through: bool) -> None:
    """Write score rows, as lines of JSON, as a Parquet file."""
    write_parquet(file, blocks, schema(follow_through=follow_through))


def write_parquet(file: IO[bytes], blocks: Iterable[list[bytes]], columns: pa.Schema) -> None:
    """Write lines of JSON as a Parquet file of these columns, each block as one row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(file, columns, compression="zstd") as writer:
        for block in blocks:
            writer.write_table(pa.Table.from_pylist([_parquet_row(line) for line in block], schema=columns))


def _parquet_row(line: bytes) -> dict[str, Any]:
    """Return a JSON line as a row for Parquet: `meta` as JSON text, lone surrogates replaced."""
    row = json.loads(line)
    if b"\\ud" in line:  # half a surrogate pair, which no column of text can hold
        row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
    as_text = (key for key in _AS_TEXT if key in row)
    return {**row, **{key: json.dumps(row[key], sort_keys=True, ensure_ascii=False) for key in as_text}}

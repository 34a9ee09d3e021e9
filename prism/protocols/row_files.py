"""Write the rows of a protocol as JSON Lines or Parquet, and count what a run made."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism.errors import PrismError
from prism.grading.row import json_line
from prism.inputs import why_failed
from prism.protocols.rows import ProtocolRow, mean_of, rounded
from prism.runs.records import NEEDS_PARQUET
from prism.runs.score_files import write_parquet, writer_of

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK = 1000  # rows of a row group in Parquet


@dataclass(frozen=True, slots=True)
class ProtocolSummary:
    """Counts over the rows of a run.

    Attributes:
        statuses: rows by status; `undecided` are those without score on which nothing failed.
        mean: of the scores; None without any.
        mean_low, mean_high: of the two bounds, over all rows on which nothing failed, those without score too.
        bases: parts by what decided them.
        n_incident: failures of the grader.
        notes: rows by the note they have, without what a note says behind a colon.
    """

    protocol: str
    variant: str
    n: int
    statuses: dict[str, int]
    mean: Fraction | None
    mean_low: Fraction | None
    mean_high: Fraction | None
    bases: dict[str, int]
    n_incident: int
    notes: dict[str, int]

    @property
    def n_scored(self) -> int:
        """Number of rows that have a score."""
        return sum(self.statuses.get(status, 0) for status in ("ok", "too_large"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "protocol": self.protocol, "variant": self.variant, "rows": self.n, "scored": self.n_scored,
            "statuses": dict(sorted(self.statuses.items())), "mean_score": rounded(self.mean),
            "mean_low": rounded(self.mean_low), "mean_high": rounded(self.mean_high),
            "parts_by_basis": dict(sorted(self.bases.items())), "incidents": self.n_incident,
            "rows_by_note": dict(sorted(self.notes.items())),
        }  # fmt: skip


def summarize(rows: Sequence[ProtocolRow], *, protocol: str, variant: str) -> ProtocolSummary:
    """Count the rows of a run."""
    sound = [row for row in rows if row.status not in ("killed", "internal")]
    heads = Counter(head for row in rows for head in {note.split(":")[0] for note in row.notes})
    return ProtocolSummary(
        protocol, variant, len(rows), dict(Counter(row.status for row in rows)),
        mean_of([row.score for row in rows if row.score is not None]),
        mean_of([row.score_low for row in sound]), mean_of([row.score_high for row in sound]),
        dict(Counter(str(part.basis) for row in rows for part in row.parts)),
        sum(len(row.about.incidents) for row in rows), dict(heads),
    )  # fmt: skip


def row_dicts(rows: Sequence[ProtocolRow]) -> list[dict[str, Any]]:
    """Return the rows as they are written; each names all policies of the run, null where it has none."""
    dicts = [row.to_dict() for row in rows]
    names = sorted({name for row in dicts for name in row["policies"]})
    return [{**row, "policies": {name: row["policies"].get(name) for name in names}} for row in dicts]


def check_ending(out: Path) -> None:
    """Refuse a file that no rows can be written to, before any work is done.

    Errors:
        PrismError: another ending than .jsonl, .ndjson and .parquet; Parquet without pyarrow installed.
    """
    writer_of(out)


def write_rows(out: Path, rows: Sequence[ProtocolRow]) -> None:
    """Write rows to a file in one step: it is complete, or not there.

    Errors:
        PrismError: as of `check_ending`; a file that cannot be written.
    """
    write = writer_of(out)
    dicts = row_dicts(rows)
    blocks = ([json_line(row) for row in dicts[at : at + _BLOCK]] for at in range(0, len(dicts), _BLOCK))
    part = out.with_name(f"{out.name}.part")
    try:
        with part.open("wb") as file:
            if out.suffix == ".parquet":
                write_parquet(file, blocks, _columns(dicts[0]["policies"] if dicts else {"score": None}))
            else:
                write(file, blocks)
        os.replace(part, out)  # noqa: PTH105 - in one step, over what is there
    except OSError as error:
        raise PrismError(f"{out}: cannot be written: {why_failed(error)}") from error


def _columns(policies: dict[str, Any]) -> pa.Schema:
    """Return the Arrow schema of protocol rows that have these policies; raises PrismError without pyarrow."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise PrismError(NEEDS_PARQUET) from error
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    texts, indices = pa.list_(text), pa.list_(whole)
    columns = {
        "problem_id": text, "sample_id": text, "status": text, "score": real, "score_low": real, "score_high": real,
        "scale": whole, "protocol": text, "variant": text, "undecided_parts": whole,
        "parts": pa.list_(pa.struct({"basis": text, "findings": texts, "name": text, "score": real})),
        "policies": pa.struct(dict.fromkeys(sorted(policies), real)), "final_correct": pa.bool_(), "settings": text,
        "notes": texts, "meta": text, "matched": indices, "credited": indices, "missing": indices, "alternative": text,
        "incidents": pa.list_(pa.struct({"code": text, "detail": text, "where": text})),
        "problem_sha256": text, "solution_sha256": text, "findings_sha256": text, "schema": whole,
        "grader": pa.struct({"fingerprint": text, "rules": whole, "version": text}),
    }  # fmt: skip
    return pa.schema(sorted(columns.items()))

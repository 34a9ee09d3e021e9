"""The row of a protocol: a score row, with the name of the protocol, its bounds, and what decided each of its parts.

A row has every key that `prism compare`, `agree`, `report`, `leaderboard` and the rewards look for in a score row, so
all of them read it as it is. Numbers are exact fractions up to here, and are rounded once, when a row is written.

Null is never 0 and never 1: what nobody decided has no score. The bounds, `score_low` and `score_high`, are always
there: the score with each undecided part at its worst and at its best. A row without score has the status `undecided`,
which is no failure of the grader and no incident.

Refused: an own file format, which four commands would have to learn; and settings that differ from row to row. What
was chosen for a run belongs to its grader, as the fingerprint does, and rows of two graders are not compared.

Who decides a part where rules and a findings file may both say something.

Write the rows of a protocol as JSON Lines or Parquet, and count what a run made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from prism.errors import importing
from prism.grading.result import Incident
from prism.grading.row import SCHEMA, fingerprint, json_line
from prism.runs.records import NEEDS_PARQUET
from prism.runs.score_files import write_parquet, writer_of, written_whole
from prism.version import RULES, __version__

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
    with written_whole(out) as part, part.open("wb") as file:
        if out.suffix == ".parquet":
            write_parquet(file, blocks, _columns(dicts[0]["policies"] if dicts else {"score": None}))
        else:
            write(file, blocks)


def _columns(policies: dict[str, Any]) -> pa.Schema:
    """Return the Arrow schema of protocol rows that have these policies; raises PrismError without pyarrow."""
    with importing(NEEDS_PARQUET):
        import pyarrow as pa
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


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Settled(Generic[T]):
    """What counts for a part.

    Attributes:
        value: None where nobody decided.
        findings: `rules: 1`, `file: 0.5` where the two are in conflict; else empty.
    """

    value: T | None
    basis: Basis
    findings: tuple[str, ...] = ()


def settle(by_rules: T | None, by_file: T | None, *, prefer_rules: bool = False) -> Settled[T]:
    """Settle a part: None means that a side says nothing; in a conflict the file counts, unless the rules are to.

    >>> settle(1, None).basis, settle(1, 1).basis, settle(1, 0).value, settle(1, 0, prefer_rules=True).value
    (<Basis.RULES: 'rules'>, <Basis.BOTH: 'both'>, 0, 1)
    """
    if by_file is None:
        return Settled(by_rules, Basis.NONE if by_rules is None else Basis.RULES)
    if by_rules is None:
        return Settled(by_file, Basis.FILE)
    if by_rules == by_file:
        return Settled(by_file, Basis.BOTH)
    both = (f"rules: {by_rules}", f"file: {by_file}")
    return Settled(by_rules if prefer_rules else by_file, Basis.CONFLICT, both)


DIGITS = 6  # of a score that is written, as `prism.grade` rounds its own
UNDECIDED = "undecided"  # status of a row without score on which nothing failed
_SCORED = ("ok", "too_large")


class Basis(StrEnum):
    """What decided a part."""

    RULES = "rules"
    FILE = "file"
    BOTH = "both"  # they agree
    CONFLICT = "conflict"  # both are told, and one of them counts
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Part:
    """One stage, step or dimension of a row.

    Attributes:
        name: unique in its row.
        score: from 0 to 1; None where nobody decided.
        findings: what was found, one thing each, in words that a program can read too: `equation: node 1`.
    """

    name: str
    score: Fraction | None
    basis: Basis
    findings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "name": self.name, "score": rounded(self.score), "basis": str(self.basis),
            "findings": list(self.findings),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scored:
    """What a row is about, and what is known of it besides the protocol: ids, digests, matched nodes, failures.

    `graded_rollouts.GradedRollout.about` makes it of a graded rollout; a protocol that grades nothing gives the ids.

    Attributes:
        meta: the caller's fields, such as `model`.
        problem_sha256, solution_sha256: of problem and text, where they are known.
        findings_sha256: of the entry of a findings file that the row was made from, as `EntryFile` gives it: another
            finding on the same text is other input, not a change of the grader.
        matched, missing: indices of the nodes of the reference DAG that a formula states, and of those that none does.
        alternative: the reference DAG that they are of; empty for the problem's own.
        status: `killed` or `internal` where the grader failed, `too_large` where some of the text was not read.
        incidents: failures of the grader.
    """

    problem_id: str
    sample_id: str
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    problem_sha256: str | None = None
    solution_sha256: str | None = None
    findings_sha256: str | None = None
    matched: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    alternative: str = ""
    status: str = "ok"
    incidents: tuple[Incident, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtocolRow:
    """One row of a protocol; `to_dict` gives what is written.

    Attributes:
        protocol, variant: names of a command and of what it computes: `psas`, `released`.
        about: what the row is about.
        score: from 0 to 1; None where a part that it needs is undecided.
        score_low, score_high: the score with every undecided part at its worst, and at its best.
        scale: what the paper multiplies the score by: 10 for stages out of ten.
        parts: in the order of the protocol.
        policies: further numbers from 0 to 1, or None, by names that begin with the protocol's: `psas_unweighted`. All
            rows of a run name the same ones. The score itself is added under the name of the protocol.
        final_correct: every final answer is right; None where that is not decided or not asked.
        settings: what was chosen for the run: the same in all its rows, part of what the grader is.
        notes: what a reader of this row should know, one thing each.
    """

    protocol: str
    variant: str
    about: Scored
    score: Fraction | None
    score_low: Fraction
    score_high: Fraction
    parts: tuple[Part, ...]
    scale: int = 1
    policies: Mapping[str, Fraction | None] = field(default_factory=dict, hash=False)
    final_correct: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check what no protocol may break: 0 <= low <= score <= high <= 1, and names.

        Errors:
            ValueError: one of these is broken, which is a fault of the protocol and not of its input.
        """
        score = self.score_low if self.score is None else self.score
        if not 0 <= self.score_low <= score <= self.score_high <= 1:
            raise ValueError(f"{self.protocol}: {self.score_low} <= {self.score} <= {self.score_high} does not hold")
        if wrong := [name for name in self.policies if not name.startswith(f"{self.protocol}_")]:
            raise ValueError(f"{self.protocol}: policies that do not begin with its name: {', '.join(wrong)}")
        if len({part.name for part in self.parts}) != len(self.parts):
            raise ValueError(f"{self.protocol}: two parts of one name")

    @property
    def status(self) -> str:
        """Return `ok` or `too_large` with a score, `killed` or `internal` after a failure, else `undecided`."""
        return UNDECIDED if self.score is None and self.about.status in _SCORED else self.about.status

    @property
    def n_undecided(self) -> int:
        """Number of parts without score."""
        return sum(part.score is None for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the row as it is written: the keys of a score row, and those of the protocol."""
        about = self.about
        policies = {self.protocol: self.score, **self.policies}
        return {
            "problem_id": about.problem_id, "sample_id": about.sample_id, "status": self.status,
            "score": rounded(self.score), "score_low": rounded(self.score_low), "score_high": rounded(self.score_high),
            "scale": self.scale, "protocol": self.protocol, "variant": self.variant,
            "parts": [part.to_dict() for part in self.parts], "undecided_parts": self.n_undecided,
            "policies": {name: rounded(value) for name, value in sorted(policies.items())},
            "final_correct": self.final_correct, "settings": dict(self.settings), "notes": list(self.notes),
            "meta": dict(about.meta), "matched": list(about.matched), "credited": list(about.matched),
            "missing": list(about.missing), "alternative": about.alternative,
            "incidents": [
                {"code": one.code, "where": one.where, "detail": one.detail} for one in about.incidents
            ],
            "problem_sha256": about.problem_sha256, "solution_sha256": about.solution_sha256,
            "findings_sha256": about.findings_sha256, "schema": SCHEMA,
            "grader": {"version": __version__, "rules": RULES, "fingerprint": self.fingerprint},
        }  # fmt: skip

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what the row depends on besides its input: that of the grader, protocol, variant, settings."""
        return fingerprint(json_line(["protocol", self.protocol, self.variant, dict(self.settings)]).decode())


def lost_row(
    protocol: str, variant: str, about: Scored, policies: Iterable[str], settings: Mapping[str, Any]
) -> ProtocolRow:
    """Return the row of a response on which the grader failed: no score, no parts."""
    return ProtocolRow(
        protocol, variant, about, None, Fraction(0), Fraction(1), (), policies=dict.fromkeys(policies),
        settings=dict(settings),
    )  # fmt: skip


def rounded(value: Fraction | None) -> float | None:
    """Round an exact number once, to the digits that are written; None for None.

    >>> rounded(Fraction(1, 3)), rounded(Fraction(1, 2)), rounded(None)
    (0.333333, 0.5, None)
    """
    return None if value is None else float(round(value, DIGITS))


def mean_of(values: list[Fraction]) -> Fraction | None:
    """Return the exact mean; None of nothing."""
    return sum(values, Fraction(0)) / len(values) if values else None

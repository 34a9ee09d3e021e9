"""Scores against the length of solutions: do models lose where they write much, or where they write little?

The length is that in tokens, if the rows have kept it under one of its usual names, else that of the text in
characters, if the texts are there. Rollouts are parted by length into bins of about as many rollouts; models are shown
in the same bins, so that they can be compared at the same length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from prism.reports.agreement import Estimate
from prism.reports.cross_tables import LENGTH_FIELDS, is_number, kept_value, usual_field
from prism.reports.report_rows import NOT_SAID, ReportRow, estimate_to_dict, problem_mean

MAX_BINS = 8  # of lengths; more points than these nobody tells apart in a drawing
_PER_BIN = 3  # rollouts at least, at the mean; of fewer than six there is one bin
_CHARACTERS = "characters"


@dataclass(frozen=True, slots=True)
class LengthBin:
    """The scored rollouts with a length from `low` to `high`.

    Attributes:
        low, high: the shortest and the longest of all models.
        n: number of rollouts.
        middle: mean of their logarithms, as a length; None without rollouts.
        score, final: mean score, and share with all final answers right.
    """

    low: float
    high: float
    n: int
    middle: float | None
    score: Estimate
    final: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return {
            "from": self.low, "to": self.high, "rollouts": self.n, "step_accuracy": estimate_to_dict(self.score),
            "final_accuracy": estimate_to_dict(self.final),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class LengthFigures:
    """Scores by length.

    Attributes:
        unit: name of the kept field, or `characters`.
        overall: bins of all rollouts, the shortest first.
        models: the same bins of each model; empty for one model.
        n_unknown: scored rollouts of unknown length.
    """

    unit: str
    overall: tuple[LengthBin, ...]
    models: tuple[tuple[str, tuple[LengthBin, ...]], ...]
    n_unknown: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return {
            "unit": self.unit, "unknown": self.n_unknown, "bins": [one.to_dict() for one in self.overall],
            "models": [{"model": name, "bins": [one.to_dict() for one in bins]} for name, bins in self.models],
        }  # fmt: skip


def length_figures(rows: Sequence[ReportRow], *, replicates: int) -> LengthFigures | None:
    """Compute scores by length; None where no length of a scored rollout is known."""
    scored = [row for row in rows if row.grade.score is not None]
    field = usual_field(LENGTH_FIELDS, scored)
    lengths = [_length(row, field) for row in scored]
    known = [(row, length) for row, length in zip(scored, lengths, strict=True) if length is not None]
    if not known:
        return None
    ends = bin_ends([length for _, length in known])
    names = sorted({row.model or NOT_SAID for row, _ in known})
    models = [
        (name, _bins([one for one in known if (one[0].model or NOT_SAID) == name], ends, replicates)) for name in names
    ]
    return LengthFigures(
        field or _CHARACTERS, _bins(known, ends, replicates), tuple(models) if len(models) > 1 else (),
        len(scored) - len(known),
    )  # fmt: skip


def _length(row: ReportRow, field: str) -> float | None:
    """Return the length of a solution: the kept field, or without one the characters of the text; None if unknown."""
    value = kept_value(row, field) if field else row.text and len(row.text)
    return float(value) if is_number(value) and value > 0 else None  # type: ignore[operator,arg-type]


def bin_ends(lengths: Sequence[float]) -> list[tuple[float, float]]:
    """Part lengths into at most `MAX_BINS` bins with about as many of them; equal lengths share a bin.

    >>> bin_ends([1, 2, 3, 4, 5, 6]), bin_ends([7, 7, 7, 7, 7, 7, 9])
    ([(1, 3), (4, 6)], [(7, 7), (9, 9)])
    """
    ranked = sorted(lengths)
    n = max(1, min(MAX_BINS, len(ranked) // _PER_BIN))
    cuts = {0, len(ranked)}
    for k in range(1, n):
        at = k * len(ranked) // n
        while 0 < at < len(ranked) and ranked[at] == ranked[at - 1]:
            at += 1
        cuts.add(at)
    return [(ranked[start], ranked[end - 1]) for start, end in pairwise(sorted(cuts))]


def _bins(
    known: Sequence[tuple[ReportRow, float]], ends: Sequence[tuple[float, float]], replicates: int
) -> tuple[LengthBin, ...]:
    """Compute the figures of rollouts with known lengths, bin by bin."""
    found = []
    for low, high in ends:
        own = [(row, length) for row, length in known if low <= length <= high]
        scores = [(row.grade.problem_id, row.grade.score or 0.0) for row, _ in own]
        finals = [(row.grade.problem_id, float(row.grade.final_correct)) for row, _ in own]
        middle = float(np.exp(np.mean(np.log([length for _, length in own])))) if own else None
        found.append(
            LengthBin(low, high, len(own), middle, problem_mean(scores, replicates=replicates),
                      problem_mean(finals, replicates=replicates))
        )  # fmt: skip
    return tuple(found)

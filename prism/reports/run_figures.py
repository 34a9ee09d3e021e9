r"""What a run shows by model: several rollouts of one problem, scores by length, and what went wrong.

Of n rollouts of one model to one problem, c have all final answers right. k of the n, drawn without replacement, hold
at least one right with probability 1 - C(n-c, k) / C(n, k) (pass@k; Chen et al., arXiv 2107.03374, equation 1), and are
all right with C(c, k) / C(n, k) (pass^k; Yao et al., arXiv 2406.12045). Best-of-k is the mean of the highest score
among them: with the scores in ascending order the sum of s_i C(i-1, k-1) / C(n, k), where s_i is the highest of
C(i-1, k-1) draws. All need n >= k: of fewer rollouts the values are not known, and the pair of model and problem is
left out. Refused: 1 - (1 - c/n)^k, which is biased downwards, as the paper shows.

The length of a solution is that in tokens, if the rows have kept it under one of its usual names, else that of the text
in characters, if the texts are there. Rollouts are parted by length into bins of about as many rollouts; models are
shown in the same bins, so that they can be compared at the same length.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from prism.problem.plain_values import UNLISTED, named, plain
from prism.reports.agreement import Estimate
from prism.reports.report_rows import DIGITS, ReportRow, column_mean, row_number

if TYPE_CHECKING:
    import pandas as pd

MAX_K = 10_000  # of pass@k; binomials grow with it
MAX_BINS = 8  # of lengths; more points than these nobody tells apart in a drawing
_PER_BIN = 3  # rollouts at least, at the mean; of fewer than six there is one bin
_CHARACTERS = "characters"
Label = tuple[str, str]

LENGTH_FIELDS = (
    "tokens", "completion_tokens", "output_tokens", "n_tokens", "usage.completion_tokens", "usage.output_tokens",
    "response.body.usage.completion_tokens",
)  # fmt: skip
"""Kept fields that hold the length of a solution in tokens, by their usual names."""


# Several rollouts of a problem. ---------------------------------------------------------------------------------


def pass_at_k(n: int, right: int, k: int) -> float:
    """Return the probability that of k drawn from n rollouts at least one is right.

    >>> pass_at_k(4, 1, 2), pass_at_k(4, 3, 2), pass_at_k(4, 0, 2)
    (0.5, 1.0, 0.0)
    """
    return 1.0 - math.comb(n - right, k) / math.comb(n, k)


def pass_power_k(n: int, right: int, k: int) -> float:
    """Return the probability that k drawn from n rollouts are all right.

    >>> pass_power_k(4, 2, 1), pass_power_k(4, 2, 3)
    (0.5, 0.0)
    """
    return math.comb(right, k) / math.comb(n, k)


def best_of_k(scores: Sequence[float], k: int) -> float:
    """Return the mean of the highest score among k rollouts, over all ways to draw k of them.

    >>> best_of_k([0.0, 1.0, 0.5], 2), best_of_k([0.0, 1.0, 0.5], 3)
    (0.8333333333333333, 1.0)
    """
    ways = math.comb(len(scores), k)
    ranked = enumerate(sorted(scores))
    return math.fsum(score * (math.comb(rank, k - 1) / ways) for rank, score in ranked if rank >= k - 1)


OF_SAMPLES: Mapping[str, Callable[[Any, int], float]] = {
    "pass@": lambda own, k: pass_at_k(own.n, int(own.right), k),
    "pass^": lambda own, k: pass_power_k(own.n, int(own.right), k), "best@": lambda own, k: best_of_k(own.scores, k),
}  # fmt: skip
"""Values of a line of `samples`, by how their names begin: `pass@4`."""


@dataclass(frozen=True, slots=True)
class SampleFigures:
    """What k rollouts of a model to a problem give.

    Attributes:
        model: its name, or "(not said)".
        k: rollouts that are drawn.
        n_short: problems with fewer scored rollouts than k, which are left out.
        estimates: of each of `OF_SAMPLES`, its mean over problems with an interval.
    """

    model: str
    k: int
    n_short: int
    estimates: tuple[Estimate, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        estimates = {f"{name}k": one for name, one in zip(OF_SAMPLES, self.estimates, strict=True)}
        found: dict[str, Any] = plain({"model": self.model, "k": self.k, "left_out": self.n_short, **estimates}, DIGITS)
        return found


def samples(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each pair of model and problem with scored rollouts: how many, how many right, all scores."""
    import pandas as pd

    keys = ["model", "problem", "unit", "drawn", "template"]
    gathered: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for *key, score, final in frame.loc[frame["score"].notna(), [*keys, "score", "final"]].itertuples(index=False):
        gathered.setdefault(tuple(key), []).append((score, final))
    lines = [
        (*key, len(own), sum(final for _, final in own), [score for score, _ in own]) for key, own in gathered.items()
    ]
    return pd.DataFrame(lines, columns=[*keys, "n", "right", "scores"], dtype=object)


def sample_values(name: str, k: int, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of `samples` with at least k rollouts, with a column `value` of a key of `OF_SAMPLES`."""
    found = pairs[pairs["n"] >= k]
    return found.assign(value=[OF_SAMPLES[name](own, k) for own in found.itertuples()])


def sample_figures(frame: pd.DataFrame, *, replicates: int) -> tuple[SampleFigures, ...]:
    """Compute pass@k, pass^k and best-of-k of each model for k = 1, 2, 4, ... as far as a problem has k rollouts.

    Empty if no model has two scored rollouts to one problem.
    """
    pairs = samples(frame)
    if not (pairs["n"] > 1).any():
        return ()
    found = []
    for model, own in pairs.groupby("model"):
        for k in (1 << power for power in range(int(own["n"].max()).bit_length())):
            values = (sample_values(name, k, own) for name in OF_SAMPLES)
            estimates = tuple(column_mean(each, "value", replicates=replicates) for each in values)
            found.append(SampleFigures(str(model), k, int((own["n"] < k).sum()), estimates))
    return tuple(found)


# Lengths. -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LengthBin:
    """The scored rollouts with a length from `low` to `high`.

    Attributes:
        low, high: the shortest and the longest of all models.
        n: number of rollouts.
        middle: mean of their logarithms, as a length; None without rollouts.
        score, final: mean score, and share with all final answers right.
    """

    low: float = field(metadata=named("from"))
    high: float = field(metadata=named("to"))
    n: int = field(metadata=named("rollouts"))
    middle: float | None = field(metadata=UNLISTED)
    score: Estimate = field(metadata=named("step_accuracy"))
    final: Estimate = field(metadata=named("final_accuracy"))


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
    overall: tuple[LengthBin, ...] = field(metadata=named("bins"))
    models: tuple[tuple[str, tuple[LengthBin, ...]], ...]
    n_unknown: int = field(metadata=named("unknown"))

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        models = [{"model": name, "bins": plain(bins, DIGITS)} for name, bins in self.models]
        return {**plain(self, DIGITS), "models": models}


def length_figures(frame: pd.DataFrame, *, replicates: int) -> LengthFigures | None:
    """Compute scores by length; None where no length of a scored rollout is known."""
    scored = frame[frame["score"].notna()]
    unit = usual_field(LENGTH_FIELDS, scored["row"])
    lengths = [row_number(row, unit) if unit else row.text and float(len(row.text)) for row in scored["row"]]
    scored = scored.assign(length=np.array(lengths, dtype=np.float64))
    known = scored[scored["length"] > 0]
    if not len(known):
        return None
    ends = bin_ends(known["length"].tolist())
    models = [(str(name), _bins(own, ends, replicates)) for name, own in known.groupby("model")]
    return LengthFigures(
        unit or _CHARACTERS, _bins(known, ends, replicates), tuple(models) if len(models) > 1 else (),
        len(scored) - len(known),
    )  # fmt: skip


def usual_field(names: Iterable[str], rows: Iterable[ReportRow]) -> str:
    """Return the first of the names that is a kept field with a number in any row; empty if none is."""
    return next((name for name in names if any(row_number(row, name) is not None for row in rows)), "")


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


def _bins(known: pd.DataFrame, ends: Sequence[tuple[float, float]], replicates: int) -> tuple[LengthBin, ...]:
    """Compute the figures of rollouts with known lengths, bin by bin."""
    found = []
    for low, high in ends:
        own = known[known["length"].between(low, high)]
        middle = float(np.exp(np.mean(np.log(own["length"].to_numpy())))) if len(own) else None
        means = (column_mean(own, name, replicates=replicates) for name in ("score", "final"))
        found.append(LengthBin(low, high, len(own), middle, *means))
    return tuple(found)


# What went wrong. -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCounts:
    """Counts of one kind of label, by model.

    Attributes:
        id: name of the kind: `formulas`.
        title: in words.
        of: what the totals count: `rollouts`.
        heads: what the parts of a label are; one or two, of which a label always has two.
        counts: a line for each label, the most frequent over all models first, a column for each model.
        totals: of each model: what shares are of.
    """

    id: str
    title: str
    of: str
    heads: tuple[str, ...]
    counts: pd.DataFrame
    totals: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        return {
            "kind": self.id, "of": self.of, "totals": dict(self.totals),
            "labels": [
                {**dict(zip(self.heads, label, strict=False)), "n": {model: n for model, n in own.items() if n}}
                for label, own in zip(self.counts.index, self.counts.to_dict("records"), strict=True)
            ],
        }  # fmt: skip


def errors_by_model(frame: pd.DataFrame) -> tuple[ErrorCounts, ...]:
    """Count each kind of label by model; a kind without any is left out.

    Shares of first wrong steps are of the rollouts that were diagnosed, those of formulas and of withheld nodes of the
    formulas that are no mention, those of flags and outcomes of all rollouts.
    """
    kinds: tuple[tuple[str, str, str, tuple[str, ...], Callable[[ReportRow], list[Label]]], ...] = (
        ("outcomes", "Outcomes of rollouts", "rollouts", ("outcome",), _outcome),
        ("first-wrong", "First wrong steps", "diagnosed", ("label",), _first_wrong),
        ("formulas", "What became of formulas", "formulas", ("status", "reason"), _statuses),
        ("withheld", "Nodes stated and withheld", "formulas", ("reason",), _withheld),
        ("flags", "Flags", "rollouts", ("flag",), lambda row: [(flag, "") for flag in row.grade.flags]),
    )
    sizes: Mapping[str, Callable[[ReportRow], int]] = {
        "rollouts": lambda _: 1, "diagnosed": lambda row: int(row.diagnosis is not None),
        "formulas": lambda row: len(_statuses(row)),
    }  # fmt: skip
    models = sorted(set(frame["model"]))
    found = []
    for kind, title, of, heads, labels_of in kinds:
        listed = frame[["model"]].assign(label=frame["row"].map(labels_of)).explode("label").dropna()
        if len(listed):
            parts = [listed["label"].str[k].rename(f"part {k}") for k in (0, 1)]
            counts = listed.groupby([*parts, "model"]).size().unstack().reindex(columns=models).fillna(0).astype(int)
            sums = counts.sum(axis=1)
            order = sorted(counts.index, key=lambda label, sums=sums: (-sums[label], label))  # type: ignore[misc]
            totals = frame["row"].map(sizes[of]).groupby(frame["model"]).sum().to_dict()
            found.append(ErrorCounts(kind, title, of, heads, counts.loc[order], totals))
    return tuple(found)


def _outcome(row: ReportRow) -> list[Label]:
    """Return what became of a rollout: its status unless that is ok, else how much it earned."""
    grade = row.grade
    if grade.score is None or grade.status != "ok":
        return [(grade.status, "")]
    earned = "all points" if grade.score == 1 else "no points" if grade.score == 0 else "some points"
    return [(f"{earned}, final answers {'right' if grade.final_correct else 'not right'}", "")]


def _first_wrong(row: ReportRow) -> list[Label]:
    """Return the label of the first wrong step of a rollout, such as `DCE`; empty where none is known."""
    found = row.diagnosis
    return [(found.label, "")] if found is not None and found.first_wrong is not None else []


def _statuses(row: ReportRow) -> list[Label]:
    """Return status and reason of each formula that is no mention."""
    return [(one.status, one.reason) for one in row.grade.formulas if one.status != "mention"]


def _withheld(row: ReportRow) -> list[Label]:
    """Return the reason of each node that a formula states and does not match."""
    return [(reason, "") for one in row.grade.formulas for _, reason in one.withheld]

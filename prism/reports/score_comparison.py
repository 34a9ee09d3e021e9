"""The same responses under several scores: means with bounds, rank correlations with intervals, where they disagree.

Scores come from rows: closure, strict and prefix from those of `prism run`, one score from those of each protocol. Null
is no number: it is counted, and enters no mean and no correlation. A correlation is given besides with every null at
its lowest and at its highest, so that a reader sees what they could change.

Two scores on different scales cannot be subtracted. So how far two disagree on a response is told by ranks, among the
responses that both give a score: the share that a score ranks below it, those tied with it by half (the mid-rank).

Refused: one number for how much all scores agree. Six scores are not six raters of one thing, and which of them is
right is what no coefficient says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from prism.errors import PrismError
from prism.reports.agreement import FOR_TWO, REPLICATES, Estimate, estimate_coefficients, mean_estimate
from prism.reports.gates import Key, compared_item
from prism.reports.report_rows import estimate_to_dict

N_DISAGREEMENTS = 20
_DIGITS = 4  # of a number in JSON, so that no last digit depends on the machine
_OF_SCORE_ROWS = {"closure": "score", "strict": "strict", "prefix": "prefix"}  # the last two are policies
_FAILED = ("killed", "internal")
_RANKED = {"kendall_tau_b": FOR_TWO["kendall_tau_b"], "spearman": FOR_TWO["spearman"]}


@dataclass(frozen=True, slots=True)
class BoundedScore:
    """The score of one response, None where it is undecided, and its bounds."""

    score: float | None
    low: float
    high: float

    @property
    def number(self) -> float:
        """The score, NaN where there is none."""
        return np.nan if self.score is None else self.score

    @property
    def at_low(self) -> float:
        """The score, at its lowest where there is none."""
        return self.low if self.score is None else self.score

    @property
    def at_high(self) -> float:
        """The score, at its highest where there is none."""
        return self.high if self.score is None else self.score


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """One score of many responses.

    Attributes:
        name: of the score.
        entries: by problem and sample id.
        models: of the responses, where the rows say it.
        n_failed: rows on which the grader failed; they are in no entry.
    """

    name: str
    entries: Mapping[Key, BoundedScore]
    models: Mapping[Key, str] = field(default_factory=dict)
    n_failed: int = 0


@dataclass(frozen=True, slots=True)
class ScoreFigures:
    """The figures of one score.

    Attributes:
        n: responses that it has an entry of.
        n_null: of these, without a score.
        mean: of the scores.
        mean_low, mean_high: of the bounds of all entries; None without any.
        n_zero, n_one: scores that are 0, and 1.
    """

    name: str
    n: int
    n_null: int
    n_failed: int
    mean: Estimate
    mean_low: float | None
    mean_high: float | None
    n_zero: int
    n_one: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "score": self.name, "responses": self.n, "null": self.n_null, "failed": self.n_failed,
            "mean": estimate_to_dict(self.mean), "mean_low": _rounded(self.mean_low),
            "mean_high": _rounded(self.mean_high), "zero": self.n_zero, "one": self.n_one,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How two scores rank the same responses.

    Attributes:
        names: of the scores.
        tau_b, spearman: over the responses that both give a score.
        n_bounded: responses that both have an entry of.
        low, high: Kendall's tau_b over those, with every null at its lowest, and at its highest; None if undefined.
    """

    names: tuple[str, str]
    tau_b: Estimate
    spearman: Estimate
    n_bounded: int
    low: Estimate
    high: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "scores": list(self.names), "kendall_tau_b": estimate_to_dict(self.tau_b),
            "spearman": estimate_to_dict(self.spearman), "responses_with_bounds": self.n_bounded,
            "kendall_tau_b_null_at_low": estimate_to_dict(self.low),
            "kendall_tau_b_null_at_high": estimate_to_dict(self.high),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A response that two scores rank differently, among the responses that both give a score.

    Attributes:
        scores: all scores of the response by name; what is missing has no entry.
        lower, higher: the two scores, of all pairs those that rank it most differently.
        lower_rank, higher_rank: the mid-ranks by these, from 0 to 1.
    """

    problem_id: str
    sample_id: str
    model: str
    scores: Mapping[str, BoundedScore]
    lower: str
    higher: str
    lower_rank: float
    higher_rank: float

    @property
    def spread(self) -> float:
        """The difference of the two ranks."""
        return self.higher_rank - self.lower_rank

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "model": self.model or None,
            "spread": _rounded(self.spread), "lower": self.lower, "lower_rank": _rounded(self.lower_rank),
            "higher": self.higher, "higher_rank": _rounded(self.higher_rank),
            "scores": {
                name: {"score": _rounded(one.score), "low": _rounded(one.low), "high": _rounded(one.high)}
                for name, one in self.scores.items()
            },
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelScores:
    """The mean of each score over the responses of one model, and the model's place by it; None without a score."""

    model: str
    n: int
    means: Mapping[str, float | None]
    places: Mapping[str, int | None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": self.model, "responses": self.n,
            "scores": {
                name: {"mean": _rounded(mean), "place": self.places[name]} for name, mean in self.means.items()
            },
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """Several scores of the same responses.

    Attributes:
        n: responses that any score has an entry of.
        n_problem: problems of these.
        agreements: each two scores, in the order of the scores.
        disagreements: the widest spreads, widest first.
        models: by name; empty unless there are two or more.
    """

    n: int
    n_problem: int
    figures: tuple[ScoreFigures, ...]
    agreements: tuple[RankAgreement, ...]
    disagreements: tuple[Disagreement, ...]
    models: tuple[ModelScores, ...]
    replicates: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores, in order."""
        return tuple(one.name for one in self.figures)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "responses": self.n, "problems": self.n_problem, "replicates": self.replicates,
            "scores": [one.to_dict() for one in self.figures],
            "agreements": [one.to_dict() for one in self.agreements],
            "disagreements": [one.to_dict() for one in self.disagreements],
            "models": [one.to_dict() for one in self.models],
        }  # fmt: skip


# Columns. -------------------------------------------------------------------------------------------------------


def columns_of_rows(rows: Iterable[Mapping[str, Any]], *, policies: Sequence[str] = ()) -> list[ScoreColumn]:
    """Return the scores of a file: closure, strict and prefix of score rows, one score of a protocol's rows.

    Args:
        rows: of one grader, as `score_files.score_rows` reads them.
        policies: further numbers of a protocol's rows, each a score of its own, between 0 and 1 where it is null.

    Errors:
        PrismError: all faults of the rows: scores that are none, two rows of one response, rows of two protocols.
    """
    listed = list(rows)
    found: dict[str, dict[Key, BoundedScore]] = {}
    models: dict[Key, str] = {}
    faults: list[str] = []
    failed = 0
    protocols = {str(row.get("protocol") or "") for row in listed}
    if len(protocols) > 1:
        faults.append(f"rows of several protocols: {', '.join(sorted(each or 'none' for each in protocols))}")
    for place, row in enumerate(listed, start=1):
        item, fault = compared_item(row, place)
        if item is None:
            faults.append(f"row {place}: {fault}")
            continue
        if item.key in models:
            faults.append(f"row {place}: {item.problem_id}, {item.sample_id} stands in a row before it too")
        meta = row.get("meta")
        models[item.key] = str(meta.get("model") or "") if isinstance(meta, Mapping) else ""
        if item.status in _FAILED:
            failed += 1
            continue
        for name, score in _scores_of(row, policies).items():
            found.setdefault(name, {})[item.key] = score
    if faults:
        raise PrismError("\n".join(faults))
    return [ScoreColumn(name, entries, models, failed) for name, entries in found.items()]


def _scores_of(row: Mapping[str, Any], policies: Sequence[str]) -> dict[str, BoundedScore]:
    """Return the scores of one row by name."""
    own = row.get("policies") or {}
    if not row.get("protocol"):
        values = {name: row["score"] if key == "score" else own.get(key) for name, key in _OF_SCORE_ROWS.items()}
        return {name: _bounded(value, value, value) for name, value in values.items() if value is not None}
    found = {str(row["protocol"]): _bounded(row["score"], row.get("score_low"), row.get("score_high"))}
    return {**found, **{name: _bounded(own.get(name), own.get(name), own.get(name)) for name in policies}}


def _bounded(score: Any, low: Any, high: Any) -> BoundedScore:
    """Return a score with its bounds, which are 0 and 1 where nothing is said."""
    return BoundedScore(
        None if score is None else float(score),
        0.0 if low is None else float(low),
        1.0 if high is None else float(high),
    )


# Figures. -------------------------------------------------------------------------------------------------------


def compare_scores(
    columns: Sequence[ScoreColumn], *, replicates: int = REPLICATES, top: int = N_DISAGREEMENTS
) -> ScoreComparison:
    """Compare several scores of the same responses.

    Args:
        columns: with different names.
        replicates: bootstrap samples behind the intervals; 0 for none.
        top: disagreements that are kept.

    Errors:
        PrismError: fewer than two scores, two of one name, or no response that two of them have.
    """
    names = [column.name for column in columns]
    if len(columns) < 2 or len(set(names)) < len(names):
        raise PrismError(f"scores: {', '.join(names) or 'none'}; expected two or more, each of another name")
    keys = sorted({key for column in columns for key in column.entries})
    if not any(len({*one.entries} & {*other.entries}) for one, other in combinations(columns, 2)):
        raise PrismError("scores: no two of them are of one response; are the problem and sample ids the same?")
    numbers = {problem: k for k, problem in enumerate(sorted({key[0] for key in keys}))}
    clusters = np.array([numbers[key[0]] for key in keys], dtype=np.int64)
    models: dict[Key, str] = {}
    for column in columns:
        models.update({key: model for key, model in column.models.items() if model})
    return ScoreComparison(
        len(keys), len(numbers), tuple(_figures_of(column, numbers, replicates) for column in columns),
        tuple(_rank_agreement(pair, keys, clusters, replicates) for pair in combinations(columns, 2)),
        tuple(_disagreements(columns, models)[:top]), tuple(_model_scores(columns, keys, models)), replicates,
    )  # fmt: skip


def _figures_of(column: ScoreColumn, numbers: Mapping[str, int], replicates: int) -> ScoreFigures:
    """Return the figures of one score; `numbers` are those of the problems."""
    entries = [(key, one) for key, one in sorted(column.entries.items())]
    scored = [(key, one.score) for key, one in entries if one.score is not None]
    values = np.array([score for _, score in scored], dtype=np.float64)
    clusters = np.array([numbers[key[0]] for key, _ in scored], dtype=np.int64)
    low, high = (
        float(np.mean([getattr(one, end) for _, one in entries])) if entries else None for end in ("low", "high")
    )
    return ScoreFigures(
        name=column.name, n=len(entries), n_null=len(entries) - len(scored), n_failed=column.n_failed,
        mean=mean_estimate(values, clusters, replicates=replicates), mean_low=low, mean_high=high,
        n_zero=int((values == 0).sum()), n_one=int((values == 1).sum()),
    )  # fmt: skip


def _rank_agreement(
    pair: tuple[ScoreColumn, ScoreColumn], keys: Sequence[Key], clusters: Any, replicates: int
) -> RankAgreement:
    """Return how two scores rank the responses of `keys`, whose problems are `clusters`."""
    nothing = BoundedScore(None, np.nan, np.nan)
    entries = [[column.entries.get(key, nothing) for column in pair] for key in keys]

    def estimates(end: str) -> dict[str, Estimate]:
        """Estimate both coefficients over a number of each entry."""
        ratings = np.array([[getattr(one, end) for one in row] for row in entries], dtype=np.float64)
        chosen = _RANKED if end == "number" else {"kendall_tau_b": _RANKED["kendall_tau_b"]}
        return estimate_coefficients(ratings, clusters, replicates=replicates, chosen=chosen)

    # A null has bounds; an entry with a score has it as both, also where its own bounds are wider.
    decided = estimates("number")
    low, high = (
        decided if all(one.score is not None for row in entries for one in row) else estimates(end)
        for end in ("at_low", "at_high")
    )
    return RankAgreement(
        (pair[0].name, pair[1].name), decided["kendall_tau_b"], decided["spearman"],
        sum(not np.isnan([one.low for one in row]).any() for row in entries),
        low["kendall_tau_b"], high["kendall_tau_b"],
    )  # fmt: skip


def _mid_ranks(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Return the share of scores below each one, those equal to it by half: from 0 to 1."""
    values = np.array(sorted(scores.values()), dtype=np.float64)
    below, upto = (
        {key: int(np.searchsorted(values, score, side)) for key, score in scores.items()} for side in ("left", "right")
    )
    return {key: (below[key] + upto[key]) / (2 * len(values)) for key in scores}


def _disagreements(columns: Sequence[ScoreColumn], models: Mapping[Key, str]) -> list[Disagreement]:
    """Return the responses that two scores rank differently, each with those that do most, the widest spread first."""
    widest: dict[Key, Disagreement] = {}
    for pair in combinations(columns, 2):
        scored = [{key: one.score for key, one in each.entries.items() if one.score is not None} for each in pair]
        both = scored[0].keys() & scored[1].keys()
        ranks = [_mid_ranks({key: own[key] for key in both}) for own in scored]
        for key in both:
            (low, lower), (high, higher) = sorted(zip((own[key] for own in ranks), (0, 1), strict=True))
            if high > low and (key not in widest or high - low > widest[key].spread):
                scores = {column.name: column.entries[key] for column in columns if key in column.entries}
                names = pair[lower].name, pair[higher].name
                widest[key] = Disagreement(*key, models.get(key, ""), scores, *names, low, high)
    return sorted(widest.values(), key=lambda one: (-round(one.spread, 9), one.problem_id, one.sample_id))


def _model_scores(columns: Sequence[ScoreColumn], keys: Sequence[Key], models: Mapping[Key, str]) -> list[ModelScores]:
    """Return the mean of each score by model, with the models' places; nothing of fewer than two models."""
    by_model: dict[str, list[Key]] = {}
    for key in keys:
        by_model.setdefault(models.get(key, ""), []).append(key)
    by_model.pop("", None)
    if len(by_model) < 2:
        return []
    means: dict[str, dict[str, float | None]] = {}
    for column in columns:
        for model, own in by_model.items():
            values = [score for key in own if (one := column.entries.get(key)) and (score := one.score) is not None]
            means.setdefault(column.name, {})[model] = round(float(np.mean(values)), 9) if values else None
    places = {
        name: {
            model: None if mean is None else 1 + sum(other is not None and other > mean for other in of.values())
            for model, mean in of.items()
        }
        for name, of in means.items()
    }
    return [
        ModelScores(
            model, len(own), {name: of[model] for name, of in means.items()},
            {name: of[model] for name, of in places.items()},
        )
        for model, own in sorted(by_model.items())
    ]  # fmt: skip


def _rounded(value: float | None) -> float | None:
    """Round a number for JSON; None for None."""
    return None if value is None else round(value, _DIGITS) + 0.0

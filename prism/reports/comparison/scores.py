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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from prism.errors import PrismError, raise_faults
from prism.problem.plain_values import UNLISTED, named, plain
from prism.reports.agreement import FOR_TWO, REPLICATES, Estimate, estimate_coefficients, mean_estimate, numbered
from prism.reports.gates import Key, compared_item
from prism.reports.report_rows import DIGITS, texts_of_python

if TYPE_CHECKING:
    import pandas as pd

N_DISAGREEMENTS = 20
_OF_SCORE_ROWS = {"closure": "score", "strict": "strict", "prefix": "prefix"}  # the last two are policies
_FAILED = ("killed", "internal")
_TAU_B = {"kendall_tau_b": FOR_TWO["kendall_tau_b"]}
_RANKED = {**_TAU_B, "spearman": FOR_TWO["spearman"]}


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

    name: str = field(metadata=named("score"))
    n: int = field(metadata=named("responses"))
    n_null: int = field(metadata=named("null"))
    n_failed: int = field(metadata=named("failed"))
    mean: Estimate
    mean_low: float | None
    mean_high: float | None
    n_zero: int = field(metadata=named("zero"))
    n_one: int = field(metadata=named("one"))


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How two scores rank the same responses.

    Attributes:
        names: of the scores.
        tau_b, spearman: over the responses that both give a score.
        n_bounded: responses that both have an entry of.
        low, high: Kendall's tau_b over those, with every null at its lowest, and at its highest; None if undefined.
    """

    names: tuple[str, str] = field(metadata=named("scores"))
    tau_b: Estimate = field(metadata=named("kendall_tau_b"))
    spearman: Estimate
    n_bounded: int = field(metadata=named("responses_with_bounds"))
    low: Estimate = field(metadata=named("kendall_tau_b_null_at_low"))
    high: Estimate = field(metadata=named("kendall_tau_b_null_at_high"))


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
    model: str | None
    scores: Mapping[str, BoundedScore]
    lower: str
    higher: str
    lower_rank: float
    higher_rank: float
    derived: ClassVar = ("spread",)

    @property
    def spread(self) -> float:
        """The difference of the two ranks."""
        return self.higher_rank - self.lower_rank


@dataclass(frozen=True, slots=True)
class ModelScores:
    """The mean of each score over the responses of one model, and the model's place by it; None without a score."""

    model: str
    n: int = field(metadata=named("responses"))
    means: Mapping[str, float | None] = field(metadata=UNLISTED)
    places: Mapping[str, int | None] = field(metadata=UNLISTED)
    derived: ClassVar = ("scores",)

    @property
    def scores(self) -> dict[str, Any]:
        """Mean and place by each score."""
        return {name: {"mean": mean, "place": self.places[name]} for name, mean in self.means.items()}


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

    n: int = field(metadata=named("responses"))
    n_problem: int = field(metadata=named("problems"))
    figures: tuple[ScoreFigures, ...] = field(metadata=named("scores"))
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
        found: dict[str, Any] = plain(self, DIGITS)
        return found


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
    raise_faults(faults)
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


@texts_of_python()
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
    if not any({*one.entries} & {*other.entries} for one, other in combinations(columns, 2)):
        raise PrismError("scores: no two of them are of one response; are the problem and sample ids the same?")
    keys = sorted({key for column in columns for key in column.entries})
    frames = {end: _frame(columns, keys, end) for end in ("number", "low", "high")}
    for end in ("low", "high"):  # an entry with a score has it as both, also where its own bounds are wider
        frames[f"at_{end}"] = frames["number"].fillna(frames[end])
    problems = [key[0] for key in keys]
    models = {key: model for column in columns for key, model in column.models.items() if model}
    return ScoreComparison(
        len(keys), len(set(problems)), tuple(_figures_of(column, frames, problems, replicates) for column in columns),
        tuple(_rank_agreement(pair, frames, numbered(problems), replicates) for pair in combinations(names, 2)),
        tuple(_disagreements(columns, frames["number"], models, top)), tuple(_model_scores(frames["number"], models)),
        replicates,
    )  # fmt: skip


def _frame(columns: Sequence[ScoreColumn], keys: Sequence[Key], end: str) -> pd.DataFrame:
    """Return one number of each entry, NaN where there is none: a line for each response, a column for each score."""
    import pandas as pd

    numbers = {
        column.name: [getattr(column.entries[key], end) if key in column.entries else np.nan for key in keys]
        for column in columns
    }
    return pd.DataFrame(numbers, index=pd.MultiIndex.from_tuples(keys, names=("problem", "sample")), dtype=np.float64)


def _figures_of(
    column: ScoreColumn, frames: Mapping[str, pd.DataFrame], problems: Sequence[str], replicates: int
) -> ScoreFigures:
    """Return the figures of one score; `problems` are those of the responses."""
    values, low, high = (frames[end][column.name] for end in ("number", "low", "high"))
    is_scored = values.notna().to_numpy()
    low_mean, high_mean = (float(end.mean()) if len(column.entries) else None for end in (low, high))
    return ScoreFigures(
        column.name, len(column.entries), len(column.entries) - int(is_scored.sum()), column.n_failed,
        mean_estimate(values[is_scored].to_numpy(), numbered(problems)[is_scored], replicates=replicates),
        low_mean, high_mean, int((values == 0).sum()), int((values == 1).sum()),
    )  # fmt: skip


def _rank_agreement(
    pair: tuple[str, str], frames: Mapping[str, pd.DataFrame], clusters: Any, replicates: int
) -> RankAgreement:
    """Return how two scores rank the responses, whose problems are `clusters`."""
    columns = list(pair)

    def estimates(end: str) -> dict[str, Estimate]:
        """Estimate both coefficients over a number of each entry, of its bounds the first alone."""
        chosen = _RANKED if end == "number" else _TAU_B
        return estimate_coefficients(frames[end][columns].to_numpy(), clusters, replicates=replicates, chosen=chosen)

    decided = estimates("number")
    is_whole = bool(frames["number"][columns].notna().all(axis=None))
    low, high = (decided if is_whole else estimates(end) for end in ("at_low", "at_high"))
    n_bounded = int(frames["low"][columns].notna().all(axis=1).sum())
    return RankAgreement(
        pair, decided["kendall_tau_b"], decided["spearman"], n_bounded, low["kendall_tau_b"], high["kendall_tau_b"]
    )


def _disagreements(
    columns: Sequence[ScoreColumn], numbers: pd.DataFrame, models: Mapping[Key, str], top: int
) -> list[Disagreement]:
    """Return the responses that two scores rank differently, each with those that do most, the widest spread first.

    A rank is the share of scores below, those equal by half.
    """
    import pandas as pd

    ranks: list[pd.DataFrame] = []
    for pair in combinations(numbers.columns, 2):
        both = numbers[list(pair)].dropna()
        ranked = ((both.rank() - 0.5) / len(both)).set_axis(["a", "b"], axis=1)
        ranks.append(ranked.assign(first=pair[0], second=pair[1], spread=(ranked["a"] - ranked["b"]).abs()))
    every = pd.concat(ranks).query("spread > 0").reset_index()
    every["shown"] = -every["spread"].round(9)
    widest = every.sort_values("spread", ascending=False, kind="stable").drop_duplicates(["problem", "sample"])
    found = []
    for one in widest.sort_values(["shown", "problem", "sample"], kind="stable").head(top).itertuples():
        key = (one.problem, one.sample)
        scores = {column.name: column.entries[key] for column in columns if key in column.entries}
        ends = sorted(((one.a, one.first), (one.b, one.second)), key=lambda end: end[0])
        (low, lower), (high, higher) = ends
        found.append(Disagreement(*key, models.get(key), scores, lower, higher, low, high))
    return found


def _model_scores(numbers: pd.DataFrame, models: Mapping[Key, str]) -> list[ModelScores]:
    """Return the mean of each score by model, with the models' places; nothing of fewer than two models."""
    of_model = numbers.groupby([models.get(key, "") for key in numbers.index])
    means = of_model.mean().round(9).drop(index="", errors="ignore")
    if len(means) < 2:
        return []
    places, sizes = means.rank(ascending=False, method="min"), of_model.size()
    return [
        ModelScores(
            model, int(sizes[model]), {name: _or_none(mean) for name, mean in means.loc[model].items()},
            {name: _or_none(place, int) for name, place in places.loc[model].items()},
        )
        for model in means.index
    ]  # fmt: skip


def _or_none(value: float, kind: Callable[[float], Any] = float) -> Any:
    """Return a number of a table as a plain one; None for NaN."""
    return None if np.isnan(value) else kind(value)

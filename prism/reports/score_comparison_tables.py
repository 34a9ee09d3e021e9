"""A comparison of several scores as tables: plain data, shown alike by a terminal and by the page."""

from __future__ import annotations

from prism.reports.agreement import LEVEL
from prism.reports.score_comparison import BoundedScore, ScoreComparison
from prism.reports.table_formats import Cell, DataTable, columns, with_intervals

SCORES = {
    "closure": "PRISM-DAG: share of points of the matched nodes and all they rest on",
    "strict": "share of points of the nodes that a formula matches itself",
    "prefix": "share of points of all nodes up to the last matched one",
    "psas": "PSAS-S of PhysReason: step by step by value and equation, without dependencies",
    "engtrace": "EngTrace: F1 of the steps that verify each other by number and by formula",
    "engjudge": "EngJudge of EngVQA: eight stages with penalties, propagation and checks",
    "engjudge_decided": "of EngJudge the mean of the stages that rules decide, without propagation",
}
"""What the scores are that come without a file, in words."""


def score_comparison_tables(found: ScoreComparison) -> list[DataTable]:
    """Return the tables of a comparison: the scores, how they rank alike, models, disagreements."""
    tables = [_score_table(found), _agreement_table(found)]
    if found.models:
        tables.append(_model_table(found))
    return [*tables, _disagreement_table(found)]


def _score_table(found: ScoreComparison) -> DataTable:
    """Return the figures of each score."""
    heads = columns(
        "score", ("responses", "count"), ("null", "count"), ("failed", "count"), ("mean", "values"), ("low", "value"),
        ("high", "value"), ("0", "count"), ("1", "count"),
    )  # fmt: skip
    rows = tuple(
        (one.name, one.n, one.n_null, one.n_failed, *with_intervals(one.mean), one.mean_low, one.mean_high, one.n_zero,
         one.n_one)
        for one in found.figures
    )  # fmt: skip
    notes = (
        "Null: nothing decides it; it is in no mean. 0 and 1: responses with these scores.",
        "Low and high: the mean with every null at its worst and at its best.",
    )
    return DataTable("scores", "The scores", heads, rows, notes=notes)


def _agreement_table(found: ScoreComparison) -> DataTable:
    """Return how each two scores rank the responses."""
    heads = columns(
        "score", "beside", ("tau_b", "values"), ("rho", "values"), ("n", "count"), ("tau_b, null low", "value"),
        ("tau_b, null high", "value"), ("n of all", "count"),
    )  # fmt: skip
    rows = tuple(
        (*one.names, *with_intervals(one.tau_b, one.spearman), one.tau_b.n, one.low, one.high, one.n_bounded)
        for one in found.agreements
    )
    notes = (
        "Kendall's tau_b and Spearman's rho, over the n responses that both give a score.",
        f"Intervals of {LEVEL:.0%}, by a bootstrap that draws problems with all their responses.",
        "Null low, null high: tau_b over all responses of both, with every null at its worst and at its best.",
    )
    return DataTable("agreements", "How they rank the same responses", heads, rows, n_keys=2, notes=notes)


def _model_table(found: ScoreComparison) -> DataTable:
    """Return the mean of each score by model, with the model's place."""
    heads = columns("model", ("responses", "count"))
    for name in found.names:
        heads += columns(("mean", "value"), ("place", "count"), group=name)
    rows = []
    for one in found.models:
        cells: list[Cell] = [one.model, one.n]
        for name in found.names:
            cells += [one.means.get(name), one.places.get(name)]
        rows.append(tuple(cells))
    return DataTable("models", "Models by each score", heads, tuple(rows), notes=("Nulls are in no mean.",))


def _disagreement_table(found: ScoreComparison) -> DataTable:
    """Return the responses that two of the scores rank most differently."""
    heads = columns("problem", "sample", ("spread", "value"), "lower by", "rank", "higher by", "rank", *found.names)
    rows: list[tuple[Cell, ...]] = []
    for one in found.disagreements:
        ranks = (one.lower, f"{one.lower_rank:.2f}", one.higher, f"{one.higher_rank:.2f}")
        scores = (_score_text(one.scores.get(name)) for name in found.names)
        rows.append((one.problem_id, one.sample_id, one.spread, *ranks, *scores))
    notes = (
        "Rank: the share of the responses with both scores that a score ranks lower, ties by half.",
        "Spread: the difference of the two ranks, of the two scores that differ most. Of a null its bounds are shown.",
    )
    return DataTable("disagreements", "Where they disagree most", heads, tuple(rows), n_keys=2, notes=notes)


def _score_text(score: BoundedScore | None) -> str:
    """Return a score, `0.50`; the bounds of a null, `0.10 to 0.90`."""
    if score is None:
        return "–"
    return f"{score.low:.2f} to {score.high:.2f}" if score.score is None else f"{score.score:.2f}"

"""Judges beside the rules on a page: the agreement of raters, and scores against scores, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from prism.errors import count_of
from prism.latex import one_line
from prism.reports.agreement import Estimate
from prism.reports.html import svg
from prism.reports.ratings import RULES, Agreement, Alignment, RaterPair
from prism.reports.summary import JudgeComparison, Report

_COEFFICIENTS = {
    "kendall_tau_b": "Kendall tau b", "spearman": "Spearman rho", "pearson": "Pearson r",
    "mae": "mean absolute difference", "bias": "mean difference, second less first", "cohen_kappa": "Cohen kappa",
    "cohen_kappa_linear": "Cohen kappa, linear weights", "cohen_kappa_quadratic": "Cohen kappa, quadratic weights",
    "percent_agreement": "share of equal ratings", "fleiss_kappa": "Fleiss kappa",
    "krippendorff_alpha_nominal": "Krippendorff alpha, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff alpha, ordinal",
    "krippendorff_alpha_interval": "Krippendorff alpha, interval",
    "krippendorff_alpha_ratio": "Krippendorff alpha, ratio", "gwet_ac1": "Gwet AC1", "gwet_ac2": "Gwet AC2",
    "pabak": "PABAK",
}  # fmt: skip
_AXIS_PARTS = 5  # of each axis, in the table of a scatter plot


@dataclass(frozen=True, slots=True)
class ScatterRow:
    """A row of a scatter plot's table: a range of the judge's scores, and counts by range of the rules' scores."""

    label: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scatter:
    """A scatter plot of a judge's scores against the rules', and a table of the same counts, highest scores first."""

    drawing: Markup
    summary: str
    labels: list[str]
    rows: list[ScatterRow]


@dataclass(frozen=True, slots=True)
class DisagreementRow:
    """An item that two raters score differently; `place` is the number of its rollout, None if not on the page."""

    place: int | None
    problem_id: str
    sample_id: str
    scores: tuple[float, float]
    reasons: tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairSection:
    """Values that the page shows of two raters; `scatter` only if the first is the rules and the second a judge."""

    raters: tuple[str, str]
    scatter: Scatter | None
    coefficients: Mapping[str, Estimate]
    disagreements: tuple[DisagreementRow, ...]


@dataclass(frozen=True, slots=True)
class RepeatedRow:
    """A row of the table of repeated judgements: one measure of a rater's consistency, such as `flips`."""

    rater: str
    measure: str
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class JudgesSection:
    """What the page shows about raters, and how judgements were aligned with items; `together` is empty for two."""

    alignment: tuple[Alignment, ...]
    pairs: tuple[PairSection, ...]
    together: Mapping[str, Estimate]
    repeated: tuple[RepeatedRow, ...]


def make_judges_section(report: Report, places: Mapping[tuple[str, str], int]) -> JudgesSection | None:
    """Compute all values that the page shows of judges; None for a report without judges.

    Args:
        report: the figures.
        places: number of each rollout on the page, by problem and sample id.
    """
    agreed = report.agreement
    if agreed is None:
        return None
    compared = {one.rater: one for one in report.judge_comparisons}
    pairs = tuple(_pair_section(pair, compared, places) for pair in agreed.pairs)
    return JudgesSection(agreed.alignment, pairs, _with_display_names(agreed.together), _repeated_rows(agreed))


def _with_display_names(estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Replace the keys of coefficients by names for people: `kendall_tau_b` by `Kendall tau b`."""
    return {_COEFFICIENTS.get(key, key): estimate for key, estimate in estimates.items()}


def _pair_section(
    pair: RaterPair, compared: Mapping[str, JudgeComparison], places: Mapping[tuple[str, str], int]
) -> PairSection:
    """Compute the values that the page shows of two raters.

    Args:
        compared: comparison with the rules, by judge.
        places: number of each rollout on the page, by problem and sample id.
    """
    first, second = pair.raters
    rows = tuple(
        DisagreementRow(places.get((one.problem_id, one.sample_id)), one.problem_id, one.sample_id, one.scores,
                        (one_line(one.reasons[0]), one_line(one.reasons[1])))
        for one in pair.disagreements
    )  # fmt: skip
    scatter = _scatter(compared[second]) if first == RULES and second in compared else None
    return PairSection(pair.raters, scatter, _with_display_names(pair.coefficients), rows)


def _repeated_rows(agreed: Agreement) -> tuple[RepeatedRow, ...]:
    """Return three rows for each rater that judged something more than once: flips, flips and shift with order."""
    return tuple(
        RepeatedRow(one.rater, measure, estimate)
        for one in agreed.reliability
        for measure, estimate in (("flips", one.flip_rate), ("flips with order", one.order_flip_rate),
                                  ("shift with order", one.order_shift))
    )  # fmt: skip


def _scatter(compared: JudgeComparison) -> Scatter:
    """Draw a judge's scores against those of the rules, and count them in a table of five ranges for each."""
    points = compared.points
    n = sum(count for _, _, count in points)
    above = sum(count for x, y, count in points if y > x)
    below = sum(count for x, y, count in points if y < x)
    verdict = f"the judge gives more than the rules to {above}, less to {below}, as much to the others"
    summary = f"{count_of(n, 'rollout')}; {verdict}."
    drawing = svg.scatter(points, "Score of the rules against score of the judge", summary, "rules", "judge")
    low, high = svg.axis_limits(points)
    ends = [low + (high - low) * k / _AXIS_PARTS for k in range(_AXIS_PARTS + 1)]
    counts: Counter[tuple[int, int]] = Counter()
    for x, y, count in points:
        counts[sum(x >= end for end in ends[1:-1]), sum(y >= end for end in ends[1:-1])] += count
    labels = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(ends)]
    rows = [
        ScatterRow(labels[y], tuple(counts[x, y] for x in range(_AXIS_PARTS))) for y in reversed(range(_AXIS_PARTS))
    ]
    return Scatter(drawing, summary, labels, rows)

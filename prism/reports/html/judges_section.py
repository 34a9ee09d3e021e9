"""Judges beside the rules on a page: the agreement of raters, and scores against scores, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from prism.errors import count_of
from prism.reports.html import svg
from prism.reports.ratings import RULES
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


def make_judges_section(report: Report, places: Mapping[tuple[str, str], int]) -> dict[str, Any] | None:
    """Compute all values that the page shows of judges; None for a report without judges.

    Args:
        report: the figures.
        places: number of each rollout on the page, by problem and sample id.
    """
    agreed = report.agreement
    if agreed is None:
        return None
    scatters = {(RULES, one.rater): _scatter(one) for one in report.judge_comparisons}
    return {
        "agreed": agreed, "places": places, "scatters": scatters, "coefficient_names": _COEFFICIENTS,
        "repeated": [
            (one.rater, measure, estimate)
            for one in agreed.reliability
            for measure, estimate in (("flips", one.flip_rate), ("flips with order", one.order_flip_rate),
                                      ("shift with order", one.order_shift))
        ],
    }  # fmt: skip


def _scatter(compared: JudgeComparison) -> dict[str, Any]:
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
    rows = [(labels[y], [counts[x, y] for x in range(_AXIS_PARTS)]) for y in reversed(range(_AXIS_PARTS))]
    return {"drawing": drawing, "summary": summary, "labels": labels, "rows": rows}

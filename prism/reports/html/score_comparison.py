"""Several scores of the same responses as one HTML page: no scripts, nothing loaded, the same bytes every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from prism.reports.html import svg
from prism.reports.html.rendering import page
from prism.reports.score_comparison import ScoreColumn, ScoreComparison
from prism.reports.score_comparison_tables import SCORES, score_comparison_tables


def score_comparison_page(
    found: ScoreComparison,
    columns: Sequence[ScoreColumn],
    *,
    title: str = "One set of responses, several scores",
    sources: Mapping[str, str] | None = None,
) -> str:
    """Render a comparison as one HTML page.

    Args:
        columns: the scores that were compared; the first one is drawn beside each other.
        sources: name and SHA-256 of each file that was read.
    """
    return page(
        "score_comparison", found=found, title=title, sources=sources or {},
        tables={table.id: table for table in score_comparison_tables(found)},
        meanings={name: SCORES[name] for name in found.names if name in SCORES},
        plots=[plot for other in columns[1:] if (plot := _plot(columns[0], other))],
    )  # fmt: skip


def _plot(first: ScoreColumn, other: ScoreColumn) -> tuple[str, str, Markup] | None:
    """Return heading, summary and scatter plot of two scores; None if no response has both."""
    points: Counter[tuple[float, float]] = Counter()
    for key, one in sorted(first.entries.items()):
        beside = other.entries.get(key)
        if beside is not None and one.score is not None and beside.score is not None:
            points[round(one.score, 3), round(beside.score, 3)] += 1
    if not points:
        return None
    title = f"{other.name} by {first.name}"
    n = points.total()
    above = sum(count for (x, y), count in points.items() if y > x)
    below = sum(count for (x, y), count in points.items() if y < x)
    same = n - above - below
    summary = f"{n} responses have both: {other.name} is higher in {above}, lower in {below}, the same in {same}."
    drawn = svg.scatter(
        [(x, y, count) for (x, y), count in sorted(points.items())], title, summary, first.name, other.name
    )
    return title, summary, drawn

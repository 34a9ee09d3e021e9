"""Pages that are one template each: a leaderboard, a comparison of scores, a marking sheet, scores to rate.

A leaderboard as one HTML page: no scripts, nothing loaded from anywhere, the same bytes for the same input.

Several scores of the same responses as one HTML page: no scripts, nothing loaded, the same bytes every time.

A marking sheet as one HTML page: statement and solution of each row, labels to choose, and a button that saves CSV.

Nothing is loaded from anywhere and nothing is sent. The one script, `marking.js`, stands in the page, and the policy in
its head allows that script by its hash and no other, so that no slip in escaping could run anything. Without scripts
the page can be read and printed, and the sheet that is CSV is marked in its place.

The page knows no more than a marker may: no score, no node, no model, no id of the rollout.

A page on which people rate a judge's scores, in the order of EngJudge's study: blind, in five words, then A or B.

Of each solution a person first says whether it is right, and sees no score. Only then do the scores of its parts
appear, each to be called too low, about right or too high in five words; where there is a second file of scores, both
stand side by side under names that say nothing, to say which is nearer. What was said first can be changed no more.

What is saved is JSON Lines: one rating a line, as `prism protocol engjudge --corrections` reads them, and one verdict a
solution. Nothing is loaded and nothing is sent; the one script is allowed by its hash, as on a marking sheet.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from prism.problem.schema import Problem
from prism.reports.comparison.scores import ScoreColumn, ScoreComparison
from prism.reports.html import svg
from prism.reports.html.rendering import page
from prism.reports.marking_sheets import COLUMNS, MarkingSheet, problem_text
from prism.reports.rankings import Leaderboard, known_grader
from prism.reports.report_tables import SCORES, score_comparison_tables
from prism.reports.table_formats import FORMULA


def leaderboard_page(found: Leaderboard, *, title: str = "PRISM leaderboard") -> str:
    """Render a leaderboard as one HTML page: a table for each board, what it was graded by, and why it stands apart."""
    known = {board.grader: known_grader(board.grader) for board in found.boards}
    n_entry = sum(len(board.entries) for board in found.boards)
    return page("leaderboard", found=found, title=title, known=known, n_entry=n_entry)


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


def marking_page(sheet: MarkingSheet, *, title: str = "Marking sheet") -> str:
    """Render a marking sheet as one HTML page."""
    items = [
        {
            "id": item.row.id, "problem_id": item.row.problem_id, "check": item.check, "title": item.problem.title,
            "statement": problem_text(item.problem), "text": item.text[:_MAX_TEXT],
            "n_hidden": max(0, len(item.text) - _MAX_TEXT),
        }
        for item in sheet.items
    ]  # fmt: skip
    return page(
        "marking", styles=("page.css", "marking.css"), script="marking.js", title=title, sheet=sheet.key.sheet,
        labels=sheet.key.scheme.labels, columns=",".join(COLUMNS), formula=FORMULA, items=items,
    )  # fmt: skip


RATINGS = ("much too low", "too low", "about right", "too high", "much too high")
VERDICTS = ("right", "wrong", "cannot tell")
_MAX_TEXT = 60_000  # characters of a solution that are shown


@dataclass(frozen=True, slots=True)
class RatedSolution:
    """What the page shows of one solution.

    Attributes:
        parts: of the first file that have a score: name, score on the scale of its protocol, and what was found.
        whole_scores: the whole score by each of two files, by the number of the file, in the order in which they stand;
            empty without a second file.
    """

    number: int
    problem_id: str
    sample_id: str
    title: str
    statement: str
    text: str
    parts: tuple[dict[str, Any], ...]
    whole_scores: tuple[tuple[int, str], ...] = ()


def rated_solution(
    number: int, problem: Problem, sample_id: str, text: str, row: Mapping[str, Any],
    other: Mapping[str, Any] | None = None,
) -> RatedSolution:  # fmt: skip
    """Return what the page shows of a solution.

    Args:
        row: its row in the first file of scores, other: in the second.
    """
    parts = [
        {"name": str(part["name"]), "score": _points(part.get("score"), row),
         "findings": [str(each) for each in part.get("findings", ())]}
        for part in row.get("parts", ()) if part.get("score") is not None
    ]  # fmt: skip
    both = [] if other is None else [(1, _points(row.get("score"), row)), (2, _points(other.get("score"), other))]
    digest = hashlib.sha256(f"{problem.id}\0{sample_id}".encode()).digest()[0]  # the same for every rater, and no order
    return RatedSolution(
        number, problem.id, sample_id, problem.title, problem_text(problem), text[:_MAX_TEXT], tuple(parts),
        tuple(both[::-1] if digest % 2 else both),
    )  # fmt: skip


def _points(score: Any, row: Mapping[str, Any]) -> str:
    """Return a score on the scale of its protocol: `7.2 of 10`."""
    scale = row.get("scale") or 1
    return "undecided" if not isinstance(score, int | float) else f"{score * scale:.3g} of {scale}"


def rating_page(solutions: Sequence[RatedSolution], *, title: str, names: Sequence[str]) -> str:
    """Render the page.

    Args:
        names: of the files of scores, one or two; they stand in what is saved, and nowhere that is shown.
    """
    return page(
        "rating", styles=("page.css", "marking.css"), script="rating.js", title=title, items=solutions,
        ratings=RATINGS, verdicts=VERDICTS, names=list(names),
    )  # fmt: skip

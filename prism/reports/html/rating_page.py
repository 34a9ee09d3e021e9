"""A page on which people rate a judge's scores, in the order of EngJudge's study: blind, in five words, then A or B.

Of each solution a person first says whether it is right, and sees no score. Only then do the scores of its parts
appear, each to be called too low, about right or too high in five words; where there is a second file of scores, both
stand side by side under names that say nothing, to say which is nearer. What was said first can be changed no more.

What is saved is JSON Lines: one rating a line, as `prism protocol engjudge --corrections` reads them, and one verdict a
solution. Nothing is loaded and nothing is sent; the one script is allowed by its hash, as on a marking sheet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prism.problem.schema import Problem
from prism.reports.html.rendering import page
from prism.reports.marking_sheets import problem_text

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

"""What people say of a judge's scores, in five words, as in EngJudge's human study: corrections of at most two points.

"Much too low" adds 2 to the judge's score, "too low" 1, "about right" nothing, "too high" takes 1 and "much too high"
2; the sum is clipped to 0..10. A human score made so is the judge's own, moved a little: the correlation of the two is
close to 1 whoever made the moves. What tells something is the share of "about right", and the mean absolute error
beside the 2 points that it can be at most.

Source: EngVQA / EngJudge, arXiv 2606.10833, section 6 and E.1 to E.4.

How the eight stages go together: Pearson's r of the raw scores of each two, over the solutions that have both.

Raw scores are those before caps and before propagation, so that what is seen is the judge's and not the arithmetic's. A
stage without a judgement is left out of its pairs; where one of two is the same for all solutions there is no r.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

from prism.problem.shapes import Id, Reader, one_of
from prism.protocols.engjudge.findings import SolutionFindings
from prism.protocols.engjudge.scoring import FULL, mean_of
from prism.protocols.engjudge.topology import SHORT_NAMES, stage_name
from prism.protocols.entry_files import of_shape

_FEWEST = 2  # solutions of a coefficient


@dataclass(frozen=True, slots=True)
class StageMatrix:
    """Coefficients and counts of the stages by their initials: `r["ES"]["AA"]`, None where there is none."""

    r: Mapping[str, Mapping[str, float | None]]
    n: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, coefficients to six digits."""
        rounded = {
            one: {other: None if value is None else round(value, 6) for other, value in row.items()}
            for one, row in self.r.items()
        }
        return {"pearson": rounded, "n": {one: dict(row) for one, row in self.n.items()}}


def raw_matrix(solutions: Iterable[SolutionFindings]) -> StageMatrix:
    """Return the 8 x 8 matrix of raw stages, symmetric, with 1 on the diagonal of stages that vary."""
    scores = [{key: _raw(each, name) for key, name in SHORT_NAMES.items()} for each in solutions]
    pairs = {
        (one, other): [(a, b) for row in scores if (a := row[one]) is not None and (b := row[other]) is not None]
        for one in SHORT_NAMES for other in SHORT_NAMES
    }  # fmt: skip
    return StageMatrix(
        {one: {other: _pearson(pairs[one, other]) for other in SHORT_NAMES} for one in SHORT_NAMES},
        {one: {other: len(pairs[one, other]) for other in SHORT_NAMES} for one in SHORT_NAMES},
    )


def _raw(solution: SolutionFindings, stage: str) -> Fraction | None:
    """Return the raw score of a stage; None where nobody judged it, or only its capped score is known."""
    part = solution.stages.get(stage)
    return None if part is None else part.raw


def _pearson(pairs: list[tuple[Fraction, Fraction]]) -> float | None:
    """Return Pearson's r of pairs; None of fewer than two, or where one side does not vary."""
    first, second = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    if len(pairs) < _FEWEST or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    return statistics.correlation(first, second)


_CHECKS = ("coverage", "verbosity", "sanity")


class Rating(StrEnum):
    """What a person says of a score."""

    MUCH_TOO_LOW = "much too low"
    TOO_LOW = "too low"
    ABOUT_RIGHT = "about right"
    TOO_HIGH = "too high"
    MUCH_TOO_HIGH = "much too high"


STEPS = dict(zip(Rating, (2, 1, 0, -1, -2), strict=True))
"""Points that each rating adds to the judge's score."""


def _part(value: Any) -> str:
    """Return the name of a part that a text names; raises ValueError if it names none."""
    if not isinstance(value, str):
        raise ValueError("is no text")
    name = value if value in _CHECKS else stage_name(value)
    if name is None:
        raise ValueError(f"is no stage and no check; there are {', '.join((*SHORT_NAMES, *_CHECKS))}")
    return name


@dataclass(frozen=True, slots=True)
class Correction:
    """One person's rating of one part: a stage by its full name, or a check."""

    problem_id: Id
    sample_id: Id
    part: Annotated[str, Reader(_part)]
    rating: Annotated[Rating, one_of(Rating)]
    rater: Id = ""


@dataclass(frozen=True, slots=True)
class CorrectionSummary:
    """A judge beside those who corrected it.

    Attributes:
        n: ratings of parts that have a score. n_unused: those of parts without.
        n_right: ratings "about right".
        mean_error: mean absolute difference of the corrected score to the judge's, out of ten; None without ratings.
        correlation: Pearson's r of the two; None where either is constant.
    """

    n: int
    n_unused: int
    n_right: int
    mean_error: Fraction | None
    correlation: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "ratings": self.n, "unused": self.n_unused, "about_right": self.n_right,
            "mean_absolute_error": None if self.mean_error is None else float(round(self.mean_error, 6)),
            "pearson": None if self.correlation is None else round(self.correlation, 6),
        }  # fmt: skip


read_correction = of_shape(Correction)
"""Reads one rating; faults and warnings go to the report."""


def corrected(score: Fraction, rating: Rating) -> Fraction:
    """Return the judge's score, out of ten, as one person corrects it.

    >>> corrected(Fraction(9), Rating.MUCH_TOO_LOW), corrected(Fraction(3), Rating.TOO_HIGH)
    (Fraction(10, 1), Fraction(2, 1))
    """
    return min(FULL, max(Fraction(0), score + STEPS[rating]))


def corrected_mean(score: Fraction | None, ratings: Sequence[Rating]) -> Fraction | None:
    """Return the mean of a score as each of some people corrects it; the score itself if nobody does, None for None."""
    if score is None or not ratings:
        return score
    return mean_of(corrected(score, each) for each in ratings)


def by_solution(corrections: Iterable[Correction]) -> dict[tuple[str, str], dict[str, list[Rating]]]:
    """Return the ratings by ids of the solution and name of the part."""
    found: dict[tuple[str, str], dict[str, list[Rating]]] = {}
    for each in corrections:
        found.setdefault((each.problem_id, each.sample_id), {}).setdefault(each.part, []).append(each.rating)
    return found


def summarize_corrections(
    scores: Mapping[tuple[str, str, str], Fraction | None], corrections: Iterable[Correction]
) -> CorrectionSummary:
    """Compare a judge with those who corrected it, each rating one point.

    Args:
        scores: of the judge, out of ten, by ids and part; None, or none, where a part has no score.
    """
    points: list[tuple[Fraction, Fraction]] = []
    n_right = n_unused = 0
    for each in corrections:
        score = scores.get((each.problem_id, each.sample_id, each.part))
        if score is None:
            n_unused += 1
            continue
        points.append((score, corrected(score, each.rating)))
        n_right += each.rating is Rating.ABOUT_RIGHT
    judge, people = ([float(point[side]) for point in points] for side in (0, 1))
    is_constant = len({*judge}) < 2 or len({*people}) < 2
    return CorrectionSummary(
        len(points), n_unused, n_right, mean_of(abs(a - b) for a, b in points) if points else None,
        None if is_constant else statistics.correlation(judge, people),
    )  # fmt: skip

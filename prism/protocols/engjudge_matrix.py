"""How the eight stages go together: Pearson's r of the raw scores of each two, over the solutions that have both.

Raw scores are those before caps and before propagation, so that what is seen is the judge's and not the arithmetic's. A
stage without a judgement is left out of its pairs; where one of two is the same for all solutions there is no r.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.protocols.engjudge_findings import SolutionFindings
from prism.protocols.engjudge_topology import SHORT_NAMES

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

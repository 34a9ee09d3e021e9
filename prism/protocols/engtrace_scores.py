"""From the matrix of verified pairs to precision, recall and F1, exactly, with bounds for what nobody decided.

`paper`: with M gold steps, N predicted ones and V the value of each pair, the best one-to-one assignment has the sum S;
precision is S / N, recall S / M, and so F1 = 2 S / (M + N). `released`: a gold step counts if any pair of its row is
verified, a predicted one if any of its column is, and one step may verify several.

A pair that nobody decided counts 0 in the lower bound and 1 in the upper one. Both scores only grow with the pairs, so
the score lies between them; where the bounds meet, nothing that is open matters, and the score is decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from prism.protocols.engtrace_assignment import best_assignment, total

Values = Sequence[Sequence[Fraction | None]]  # a row for each gold step, a column for each predicted one


@dataclass(frozen=True, slots=True)
class Bounded:
    """A number between two bounds, itself known where these are equal."""

    low: Fraction
    high: Fraction

    @property
    def value(self) -> Fraction | None:
        """The number, if nothing that is open can move it; else None."""
        return self.low if self.low == self.high else None


@dataclass(frozen=True, slots=True)
class TraceScore:
    """The score of a trace.

    Attributes:
        partners: for each gold step the predicted step that verifies it; None if none does.
        credits: for each gold step the value of that pair, 0 without one; None where it is open.
    """

    precision: Bounded
    recall: Bounded
    f1: Bounded
    partners: tuple[int | None, ...]
    credits: tuple[Fraction | None, ...]


def f1_of(precision: Fraction, recall: Fraction) -> Fraction:
    """Return the harmonic mean of precision and recall; 0 if both are."""
    both = precision + recall
    return 2 * precision * recall / both if both else Fraction(0)


def score_by_assignment(values: Values, n_predicted: int) -> TraceScore:
    """Score by the best one-to-one assignment, as the paper does.

    Args:
        values: from 0 to 1; None is open. At least one row.
        n_predicted: columns, also where there are none.
    """
    low, high = _filled(values, Fraction(0)), _filled(values, Fraction(1))
    least, most = best_assignment(low), best_assignment(high)
    sums = total(low, least), total(high, most)
    precision = Bounded(*(each / n_predicted if n_predicted else Fraction(0) for each in sums))
    recall = Bounded(*(each / len(values) for each in sums))
    f1 = Bounded(*(f1_of(*each) for each in zip(_both(precision), _both(recall), strict=True)))
    sure = [_credit(low, i, j) for i, j in enumerate(least)]
    possible = [_credit(high, i, j) for i, j in enumerate(most)]
    is_decided = f1.value is not None
    earned = tuple(a if is_decided or a == b else None for a, b in zip(sure, possible, strict=True))
    return TraceScore(precision, recall, f1, least, earned)


def score_by_maxima(values: Values, n_predicted: int) -> TraceScore:
    """Score by the maxima of rows and columns, as the released script does.

    Args:
        values: 0 or 1; None is open. At least one row.
        n_predicted: columns, also where there are none.
    """
    columns = [[row[j] for row in values] for j in range(n_predicted)]
    recall, precision = _share_verified(values), _share_verified(columns)
    f1 = Bounded(*(f1_of(*each) for each in zip(_both(precision), _both(recall), strict=True)))
    partners = tuple(next((j for j, each in enumerate(row) if each), None) for row in values)
    earned = tuple(
        Fraction(1) if partner is not None else None if None in row else Fraction(0)
        for row, partner in zip(values, partners, strict=True)
    )
    return TraceScore(precision, recall, f1, partners, earned)


def _share_verified(lines: Values) -> Bounded:
    """Return the share of rows (or columns) with a verified pair: surely, and at most."""
    n = len(lines) or 1
    sure = sum(any(line) for line in lines)
    possible = sum(any(each is None or each for each in line) for line in lines)
    return Bounded(Fraction(sure, n), Fraction(possible, n))


def _filled(values: Values, filling: Fraction) -> list[list[Fraction]]:
    """Return the values with those that are open filled in."""
    return [[filling if each is None else each for each in row] for row in values]


def _credit(values: Sequence[Sequence[Fraction]], i: int, j: int | None) -> Fraction:
    """Return the value of a gold step's pair; 0 without a partner."""
    return Fraction(0) if j is None else values[i][j]


def _both(bounded: Bounded) -> tuple[Fraction, Fraction]:
    """Return the two bounds."""
    return bounded.low, bounded.high

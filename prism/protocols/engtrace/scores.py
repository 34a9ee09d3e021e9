"""From the matrix of verified pairs to precision, recall and F1, exactly, with bounds for what nobody decided.

`paper`: with M gold steps, N predicted ones and V the value of each pair, the best one-to-one assignment has the sum S;
precision is S / N, recall S / M, and so F1 = 2 S / (M + N). `released`: a gold step counts if any pair of its row is
verified, a predicted one if any of its column is, and one step may verify several.

A pair that nobody decided counts 0 in the lower bound and 1 in the upper one. Both scores only grow with the pairs, so
the score lies between them; where the bounds meet, nothing that is open matters, and the score is decided.

The best one-to-one assignment of predicted steps to gold steps, exact, with one answer for every matrix.

The Hungarian method on whole numbers. What is maximised is one number for each pair, made of three that never mix:
the value of the pair, then how near its two steps stand to each other in order, then a digit in favour of the lower
gold step, and for that the lower predicted step. So there are no ties, and no order of a library's loops decides one.

Refused: `scipy.optimize.linear_sum_assignment`. It computes in floating point, which cannot hold the three levels of
some forty steps, and leaves ties to its own order; and scipy is an extra. It is the oracle of the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

Matrix = Sequence[Sequence[Fraction]]  # a row for each gold step, a column for each predicted one


def best_assignment(values: Matrix) -> tuple[int | None, ...]:
    """Return for each gold step the predicted step that it is paired with; None where no pair is worth anything.

    Of all one-to-one assignments it is the one with the largest sum of values; of these the one with the least sum of
    distances `|gold - predicted|`; of these the one in which the first gold step is paired, with the lowest predicted
    step, then the second, and so on.

    Args:
        values: from 0 up, a row for each gold step; all rows of one length.

    >>> best_assignment([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(0)]])
    (1, 0)
    >>> best_assignment([[Fraction(0)], [Fraction(1)], [Fraction(1)]])
    (None, 0, None)
    """
    n_gold, n_predicted = len(values), len(values[0]) if values else 0
    if not n_predicted:
        return (None,) * n_gold
    worths = _worths(values, n_gold, n_predicted)
    if n_gold <= n_predicted:
        columns = _maximum(worths)
    else:
        taken = _maximum([list(column) for column in zip(*worths, strict=True)])
        partners = {gold: predicted for predicted, gold in enumerate(taken)}
        columns = [partners.get(gold, -1) for gold in range(n_gold)]
    return tuple(j if j >= 0 and values[i][j] else None for i, j in enumerate(columns))


def total(values: Matrix, partners: Sequence[int | None]) -> Fraction:
    """Return the sum of the values of the pairs of an assignment."""
    return sum((values[i][j] for i, j in enumerate(partners) if j is not None), Fraction(0))


def _worths(values: Matrix, n_gold: int, n_predicted: int) -> list[list[int]]:
    """Return what each pair adds to the sum that is maximised, as a whole number; 0 for a pair without value."""
    base = n_predicted + 1  # of the digits for the gold steps, the first one in front; 0 for a step without partner
    nearness = base**n_gold
    value = nearness * (n_gold * max(n_gold, n_predicted) + 1)  # more than all distances of an assignment
    scale = lcm(*(each.denominator for row in values for each in row))
    return [
        [
            int(each * scale) * value - abs(i - j) * nearness + (n_predicted - j) * base ** (n_gold - 1 - i)
            if each
            else 0
            for j, each in enumerate(row)
        ]
        for i, row in enumerate(values)
    ]


def _maximum(worths: Sequence[Sequence[int]]) -> list[int]:
    """Return for each row its column in the assignment with the largest sum; there are at least as many columns.

    Rows come in one by one; each is given a column along the cheapest path of exchanges, with potentials that keep
    every remaining cost at 0 or more. It takes rows x rows x columns steps.

    Source: Kuhn, Naval Research Logistics Quarterly 2 (1955), in the form of shortest augmenting paths by Edmonds and
    Karp, Journal of the ACM 19 (1972).
    """
    n_columns = len(worths[0])
    row_potential, column_potential = [0] * len(worths), [0] * (n_columns + 1)
    row_of = [-1] * (n_columns + 1)  # of each column; the last, beyond the matrix, is where a new row begins
    for new in range(len(worths)):
        row_of[n_columns] = new
        cost: list[int | None] = [None] * n_columns  # of the cheapest path to a column
        before = [n_columns] * n_columns
        is_done = [False] * (n_columns + 1)
        here = n_columns
        while row_of[here] >= 0:
            is_done[here] = True
            row = row_of[here]
            nearest, step = -1, 0
            for j in range(n_columns):
                if is_done[j]:
                    continue
                reduced = -worths[row][j] - row_potential[row] - column_potential[j]
                known = cost[j]
                if known is None or reduced < known:
                    cost[j], before[j] = reduced, here
                    known = reduced
                if nearest < 0 or known < step:
                    nearest, step = j, known
            for j in range(n_columns + 1):
                if is_done[j]:
                    row_potential[row_of[j]] += step
                    column_potential[j] -= step
                elif (known := cost[j]) is not None:
                    cost[j] = known - step
            here = nearest
        while here != n_columns:  # give each column on the path to the row before it
            previous = before[here]
            row_of[here] = row_of[previous]
            here = previous
    columns = [0] * len(worths)
    for j in range(n_columns):
        if row_of[j] >= 0:
            columns[row_of[j]] = j
    return columns


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

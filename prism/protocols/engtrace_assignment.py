"""The best one-to-one assignment of predicted steps to gold steps, exact, with one answer for every matrix.

The Hungarian method on whole numbers. What is maximised is one number for each pair, made of three that never mix:
the value of the pair, then how near its two steps stand to each other in order, then a digit in favour of the lower
gold step, and for that the lower predicted step. So there are no ties, and no order of a library's loops decides one.

Refused: `scipy.optimize.linear_sum_assignment`. It computes in floating point, which cannot hold the three levels of
some forty steps, and leaves ties to its own order; and scipy is an extra. It is the oracle of the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
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

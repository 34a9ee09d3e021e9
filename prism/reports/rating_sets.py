"""Ratings gathered into patterns, and sets of items over them: what coefficients of agreement compute with.

A pattern is a distinct row of ratings with the number of items that have it. A set is a row of weights over all
patterns: the items themselves, or one bootstrap sample of them.

A stratified random sample: how many of each stratum, which ones, and how one estimates from them.

Every item of a stratum has the same chance of being drawn, n_h of N_h, so that an item of the sample stands for
N_h / n_h items. A weighted mean is then unbiased whatever the strata are; where they are told apart by what is
estimated, it is also precise.

Refused: drawing with probabilities that only an expectation knows (Poisson sampling); with fixed sizes the weights of
a stratum sum to its population exactly, and a share can not exceed 1.

Source: Cochran, Sampling Techniques, 3rd edition, 1977, chapter 5.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from prism.engine.rng import uniform
from prism.errors import PrismError

_FOR_A_VARIANCE = 2  # items of a stratum, without which nobody can say how much they vary


@dataclass(frozen=True, slots=True)
class Stratum:
    """One stratum: its name, its items in the population, and those that were drawn."""

    name: str
    population: int
    sampled: int
    derived: ClassVar = ("weight",)

    @property
    def weight(self) -> float:
        """Number of items of the population that one of the sample stands for."""
        return self.population / self.sampled


def allocate(populations: Sequence[int], factors: Sequence[float], n: int) -> list[int]:
    """Divide a sample among strata: two of each where there is room, the rest by `population * factor`.

    The rest goes one by one where it lowers the variance most, the factors taken for standard deviations: to the
    largest N f / sqrt(k (k + 1)), k those that the stratum has (Wright, Am. Stat. 66, 2012: exact optimal allocation).

    Args:
        populations: items of each stratum, at least 1.
        factors: how much each stratum is oversampled, positive.
        n: items of the sample; all are taken if there are not more.

    Returns:
        Items of each stratum, at least 1; their sum is n.

    Errors:
        PrismError: fewer items than strata.

    >>> allocate([90, 10], [1, 1], 20), allocate([90, 10], [1, 9], 20), allocate([5, 1], [1, 1], 9)
    ([18, 2], [10, 10], [5, 1])
    """
    if n < len(populations):
        k = len(populations)
        raise PrismError(
            f"a sample of {n} from {k} strata: each needs one, better two; draw {2 * k}, or name fewer fields"
        )
    least = [min(_FOR_A_VARIANCE, size) for size in populations]
    sizes = least if sum(least) <= n else [1] * len(populations)
    queue = [
        (-size * factor / math.sqrt(own * (own + 1)), at)
        for at, (size, factor, own) in enumerate(zip(populations, factors, sizes, strict=True))
        if own < size
    ]
    heapq.heapify(queue)
    for _ in range(n - sum(sizes)):
        if not queue:
            break
        _, at = heapq.heappop(queue)
        sizes[at] += 1
        own = sizes[at]
        if own < populations[at]:
            heapq.heappush(queue, (-populations[at] * factors[at] / math.sqrt(own * (own + 1)), at))
    return sizes


def draw(strata: Ints, sizes: Sequence[int], seed: int) -> list[int]:
    """Draw so many items of each stratum, each with the same chance; return their places, in random order.

    Args:
        strata: int64[n_item], the stratum of each item, from 0; items in an order that their files do not decide.
        sizes: items to draw, by stratum.
        seed: the same one draws the same items.
    """
    n = len(strata)
    keys = uniform(seed, n)
    chosen: list[int] = []
    for stratum, size in enumerate(sizes):
        inside = np.flatnonzero(strata == stratum)
        chosen += inside[np.argsort(keys[inside], kind="stable")[:size]].tolist()
    shuffled = np.argsort(uniform(seed, len(chosen), n), kind="stable")  # so that neighbours are of any stratum
    ordered = sorted(chosen)
    return [ordered[at] for at in shuffled]


def item_weights(strata: Ints, populations: Ints) -> Floats:
    """Return how many items of the population each item of a sample stands for: float64[n_item].

    Args:
        strata: int64[n_item], the stratum of each item of the sample.
        populations: int64[n_stratum].
    """
    counts = np.bincount(strata, minlength=len(populations))
    weights: Floats = populations[strata] / counts[strata]
    return weights


def standard_error(values: Floats, strata: Ints, populations: Ints) -> float | None:
    """Return the standard error of a weighted mean, from the drawing of the sample alone (Cochran 1977, chapter 5).

    sqrt(sum over strata of (N_h / N)^2 (1 - n_h / N_h) s_h^2 / n_h): 0 if everything was drawn.

    Args:
        values: float64[n_item].
        strata: int64[n_item].
        populations: int64[n_stratum]; strata without an item do not count.

    Returns:
        None without items, and if a stratum that was not taken whole has one item: its variance is not known.
    """
    present = np.unique(strata)
    whole = int(populations[present].sum())
    total = 0.0
    for stratum in present.tolist():
        inside = values[strata == stratum]
        size = int(populations[stratum])
        if len(inside) == size:
            continue
        if len(inside) < _FOR_A_VARIANCE:
            return None
        total += (size / whole) ** 2 * (1 - len(inside) / size) * float(inside.var(ddof=1)) / len(inside)
    return math.sqrt(total) if len(present) else None


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of a table of ratings `[n_item, n_rater]`, and the index of the row that each item has.

    Attributes:
        codes: int64[n_pattern, n_rater], places in `values`; -1 where a rating is missing.
        values: float64[n_value], the distinct ratings, ascending.
        of_item: int64[n_item], the pattern of each item.
        item_weights: float64[n_item], how many items each one stands for; None where each is itself alone.
    """

    codes: Ints
    values: Floats
    of_item: Ints
    item_weights: Floats | None = None

    @cached_property
    def counts(self) -> Ints:
        """Number of raters who rated, by pattern: int64[n_pattern]."""
        counted: Ints = (self.codes >= 0).sum(axis=1)
        return counted

    @cached_property
    def weights(self) -> Floats:
        """Number of items with each pattern, or of those they stand for, as a single set: float64[1, n_pattern]."""
        return np.bincount(self.of_item, self.item_weights, len(self.codes)).astype(np.float64)[None, :]

    @cached_property
    def concordance(self) -> Floats:
        """Return how many items are concordant with one of each pattern, less those discordant: float64[n_pattern].

        Two raters only. Items are concordant if both raters order them alike.
        """
        return _concordance(self)

    @property
    def x(self) -> Floats:
        """Ratings of the first rater: float64[n_pattern]; needs patterns without missing ratings."""
        first: Floats = self.values[self.codes[:, 0]]
        return first

    @property
    def y(self) -> Floats:
        """Ratings of the second rater: float64[n_pattern]; needs patterns without missing ratings."""
        second: Floats = self.values[self.codes[:, 1]]
        return second

    def over_pairs(self, distance: Callable[[Ints, Ints], Floats]) -> Floats:
        """Average a distance over all pairs of raters of each pattern: float64[n_pattern], 0 below two ratings.

        Args:
            distance: function of two arrays of codes; symmetric, 0 on equal codes.
        """
        total = np.zeros(len(self.codes))
        for a, b in combinations(range(self.codes.shape[1]), 2):
            both = (self.codes[:, a] >= 0) & (self.codes[:, b] >= 0)
            total[both] += distance(self.codes[both, a], self.codes[both, b])
        pairs = self.counts * (self.counts - 1) / 2
        mean: Floats = total / np.maximum(pairs, 1)
        return mean


def patterns(ratings: Floats, categories: Collection[float] = (), weights: Floats | None = None) -> Patterns:
    """Gather items with equal rows of ratings into patterns.

    Args:
        ratings: float64[n_item, n_rater], NaN where a rating is missing.
        categories: ratings that could occur, beside those that do.
        weights: float64[n_item], how many items each one stands for; None for one each.
    """
    known = ratings[~np.isnan(ratings)]
    values = np.unique(np.concatenate([known, np.asarray(list(categories), dtype=np.float64)]))
    codes = np.searchsorted(values, ratings)
    codes[np.isnan(ratings)] = -1
    # One whole number stands for a row while that fits: a sort of numbers is ten times faster than one of rows.
    base = len(values) + 1
    if base ** ratings.shape[1] < 1 << 62:
        keys = (codes + 1) @ np.array([base**k for k in range(ratings.shape[1])], dtype=np.int64)
        _, first, of_item = np.unique(keys, return_index=True, return_inverse=True)
        return Patterns(codes[first], values, of_item.reshape(-1), weights)
    rows, of_item = np.unique(codes, axis=0, return_inverse=True)
    return Patterns(rows, values, of_item.reshape(-1), weights)


@dataclass(frozen=True)
class Sets:
    """Sets of items, each a row of weights over the same patterns, with the sums that several coefficients need.

    Attributes:
        found: the patterns.
        weights: float64[n_set, n_pattern], how often each pattern occurs in each set.
    """

    found: Patterns
    weights: Floats

    @cached_property
    def n(self) -> Floats:
        """Number of items in each set: float64[n_set]."""
        n: Floats = self.weights.sum(axis=1)
        return n

    @cached_property
    def margins(self) -> list[Floats]:
        """Return for each rater how often that rater gives each value: a float64[n_set, n_value] each."""
        return [self._rater_margin(rater, np.ones(len(self.found.codes))) for rater in range(self.found.codes.shape[1])]

    @cached_property
    def shares(self) -> Floats:
        """Return the share of each value, all items weighing the same: float64[n_set, n_value] (Gwet 2014, ch. 2)."""
        n = self.weights @ (self.found.counts > 0).astype(np.float64)
        total = self._summed_margin(1 / np.maximum(self.found.counts, 1))
        shares: Floats = np.divide(total, n[:, None], out=np.full(total.shape, np.nan), where=n[:, None] > 0)
        return shares

    @cached_property
    def pairable(self) -> Floats:
        """Return how often each value occurs in items with two ratings or more: float64[n_set, n_value]."""
        return self._summed_margin((self.found.counts >= 2).astype(np.float64))

    @cached_property
    def are_alike(self) -> NDArray[np.bool_]:
        """True for sets in which all ratings are the same: bool[n_set]."""
        alike: NDArray[np.bool_] = sum((margin > 0 for margin in self.margins), np.bool_(False)).sum(axis=1) <= 1
        return alike

    def _summed_margin(self, factor: Floats) -> Floats:
        """Sum over all raters how often each value is given, each pattern times `factor`: float64[n_set, n_value].

        Args:
            factor: float64[n_pattern].
        """
        is_even = bool((factor == factor[0]).all())
        margins = self.margins if is_even else [self._rater_margin(rater, factor) for rater in range(len(self.margins))]
        total: Floats = np.sum(margins, axis=0) * (factor[0] if is_even else 1.0)
        return total

    def _rater_margin(self, rater: int, factor: Floats) -> Floats:
        """Count how often one rater gives each value, each pattern times `factor`: float64[n_set, n_value].

        Args:
            rater: column of the table of ratings.
            factor: float64[n_pattern].
        """
        codes = self.found.codes[:, rater]
        has = codes >= 0
        present, size = codes[has], len(self.found.values)
        return np.stack([np.bincount(present, (row * factor)[has], size) for row in self.weights])


def quotient(part: Floats, whole: Floats) -> Floats:
    """Return `part / whole` elementwise; NaN where `whole` is not positive."""
    result = np.full(part.shape, np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def both_vary(sets: Sets) -> NDArray[np.bool_]:
    """Return for each set whether both raters give at least two different ratings: bool[n_set]."""
    n = sets.n
    result: NDArray[np.bool_] = n > 1
    for rater in (0, 1):
        result &= sets.margins[rater].max(axis=1) < n
    return result


def mid_ranks(margin: Floats) -> Floats:
    """Return the mean rank (from 1) of the items with each value: float64[n_set, n_value].

    Args:
        margin: float64[n_set, n_value], how often each value occurs, values ascending.
    """
    ranks: Floats = np.cumsum(margin, axis=1) - (margin - 1) / 2
    return ranks


def _concordance(found: Patterns) -> Floats:
    """Return how many items are concordant with one of each pattern, less those discordant: float64[n_pattern]."""
    x, y = found.codes[:, 0], found.codes[:, 1]
    w = found.weights[0].astype(np.int64)
    n = int(w.sum())
    below = _weight_below_in_both(x, y, w)
    lower, same = [], []
    for codes in (x, y):
        count = np.bincount(codes, w, len(found.values)).astype(np.int64)
        lower.append((np.cumsum(count) - count)[codes])
        same.append(count[codes])
    # Items with the same y and a smaller x, and the same x and a smaller y: patterns are distinct, so a running sum.
    left, under = _weight_below_in_group(y, x, w), _weight_below_in_group(x, y, w)
    x_less_y_more = lower[0] - left - below
    x_more_y_less = lower[1] - under - below
    right = same[1] - w - left  # the same y, a larger x
    above = n - lower[0] - same[0] - right - x_more_y_less  # of those with a larger x the ones with a larger y
    result: Floats = (below + above - x_less_y_more - x_more_y_less).astype(np.float64)
    return result


def _weight_below_in_group(group: Ints, codes: Ints, w: Ints) -> Ints:
    """Return for each pattern the total weight of patterns with the same group and a smaller code: int64[n_pattern].

    Args:
        group, codes, w: int64[n_pattern]: ratings by one rater, ratings by another, and weights.
    """
    order = np.lexsort((codes, group))
    running = np.cumsum(w[order]) - w[order]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    first = np.repeat(running[starts], np.diff(np.append(starts, len(order))))
    result = np.empty_like(w)
    result[order] = running - first
    return result


def _weight_below_in_both(x: Ints, y: Ints, w: Ints) -> Ints:
    """Return for each pattern the total weight of patterns with both x and y smaller: int64[n_pattern].

    By merge sort, all blocks of one size at once.

    Args:
        x, y, w: int64[n_pattern]: ratings by the first rater, by the second, and weights.
    """
    m = len(x)
    order = np.lexsort((-y, x))  # of one x the larger y first, so that none is counted for another
    y, w_sorted = y[order], w[order]
    place, total = np.arange(m), np.zeros(m, dtype=np.int64)
    size = 1
    while size < m:
        is_left = (place // size) % 2 == 0
        # Within two neighbouring blocks by y; of one y the right block first, as only smaller ones count.
        merged = np.lexsort((is_left, y, place // (2 * size)))
        left = np.where(is_left[merged], w_sorted[merged], 0)
        running = np.cumsum(left)
        pair = place // (2 * size)  # blocks keep their places: the merge is within them
        start = np.flatnonzero(np.diff(pair, prepend=-1))
        before = np.repeat(running[start] - left[start], np.diff(np.append(start, m)))
        right = ~is_left[merged]
        total[merged[right]] += (running - before)[right]
        size *= 2
    result = np.empty_like(total)
    result[order] = total
    return result

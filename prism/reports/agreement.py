r"""Raters against raters: coefficients of agreement with intervals, as pure functions of a table of ratings.

A table is `float64[n_item, n_rater]`, NaN where a rater said nothing; what is missing stays missing. Items are first
gathered into patterns, the distinct rows, with a weight for each: how often it occurs. Every coefficient is a function
of the patterns and of `weights: float64[n_set, n_pattern]`, one row a set of items: the items themselves, or the
items of one bootstrap sample. So one definition gives the value and its interval.

Inside this room NaN marks a set on which a coefficient is undefined. None leaves it: an `Estimate` says null, and why.

Weighted forms measure distance between the ratings themselves, not between their places in the list of those that
occur: on equally spaced ratings the two are the same, and otherwise only the first does not change with the sample.

Sources: Kendall, Biometrika 33 (1945); Cohen, Educ. Psychol. Meas. 20 (1960), Psychol. Bull. 70 (1968); Fleiss,
Psychol. Bull. 76 (1971); Krippendorff, Content Analysis (2004), chapter 11; Gwet, Br. J. Math. Stat. Psychol. 61
(2008), and Handbook of Inter-Rater Reliability (2014); Byrt, Bishop, Carlin, J. Clin. Epidemiol. 46 (1993).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prism.engine.rng import uniform
from prism.errors import PrismError

REPLICATES = 1000  # bootstrap samples
LEVEL = 0.95  # of an interval
REASONS = {
    "no_items": "no item was rated by all that are compared",
    "too_few_items": "fewer than two items",
    "constant_ratings": "one of the two gives the same rating everywhere",
    "one_category": "all ratings are the same, so that chance agreement is complete",
    "too_many_values": "more distinct ratings than this coefficient is computed for",
    "negative_values": "the ratio metric needs ratings that are not negative",
    "one_problem": "all items are of one problem, so that there is nothing to draw from",
    "undefined_in_samples": "undefined in more than half of the bootstrap samples",
}
"""Why a coefficient or its interval is null."""

_MAX_RATIO_VALUES = 1000  # the ratio metric compares all pairs of values
_MAX_PAIRED = 1000  # patterns whose pairs are all compared in each bootstrap sample of tau_b; of more it is linearised
_BLOCK = 1 << 21  # numbers in a block of bootstrap weights: 16 MB
_WORK = 1 << 24  # weights drawn in all: of more than 16,384 patterns fewer samples are drawn, whose interval is narrow
_LEAST_REPLICATES = 200
_MAX_EXACT = 50  # items without ties whose permutations are counted exactly
_MAX_LISTED = 7  # items with ties whose permutations are all listed: 5,040
_MAX_SHUFFLED = 100  # items whose permutations are sampled; beyond them the normal distribution is good
_SHUFFLES = 9_999
_SEED = 0x5052_4953_4D41  # fixed: the same ratings give the same intervals, on every machine

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with its interval.

    Attributes:
        value: None where it is undefined.
        low, high: percentile bootstrap interval, problems drawn with replacement; None where it is undefined.
        n: items that it rests on.
        reason: of a None, a key of `REASONS`; empty otherwise.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n, "reason": self.reason or None}


@dataclass(frozen=True, slots=True)
class RankTest:
    """Whether two raters rank items alike by chance: two-sided, of tau_b = 0, items taken as independent.

    Attributes:
        asymptotic: from the normal distribution, with the correction for ties (Kendall, Rank Correlation Methods,
            1970, chapter 4); None where it is undefined.
        permutation: from permutations of one rater's ratings; None beyond 100 items.
        method: how the permutations were gone through: `exact`, `monte_carlo`, or `none`.
        reason: of a None in `asymptotic`, a key of `REASONS`.
    """

    asymptotic: float | None
    permutation: float | None
    method: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "asymptotic": self.asymptotic, "permutation": self.permutation, "method": self.method,
            "reason": self.reason or None,
        }  # fmt: skip


# Patterns of ratings. -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of ratings.

    Attributes:
        codes: int64[n_pattern, n_rater], places in `values`; -1 where a rating is missing.
        values: float64[n_value], the distinct ratings, ascending.
        of_item: int64[n_item], the pattern of each item.
    """

    codes: Ints
    values: Floats
    of_item: Ints

    @cached_property
    def counts(self) -> Ints:
        """Raters of each pattern: int64[n_pattern]."""
        counted: Ints = (self.codes >= 0).sum(axis=1)
        return counted

    @cached_property
    def weights(self) -> Floats:
        """How many items have each pattern: float64[1, n_pattern]."""
        return np.bincount(self.of_item, minlength=len(self.codes)).astype(np.float64)[None, :]

    @cached_property
    def concordance(self) -> Floats:
        """As `_concordance` counts it, once for all sets."""
        return _concordance(self)

    @property
    def x(self) -> Floats:
        """Ratings of the first rater; only where none is missing."""
        first: Floats = self.values[self.codes[:, 0]]
        return first

    @property
    def y(self) -> Floats:
        """Ratings of the second rater; only where none is missing."""
        second: Floats = self.values[self.codes[:, 1]]
        return second

    def over_pairs(self, distance: Callable[[Ints, Ints], Floats]) -> Floats:
        """Mean of a distance over the pairs of raters of each pattern; 0 where fewer than two rated it.

        Args:
            distance: of two arrays of codes; symmetric, 0 on equal codes.
        """
        total = np.zeros(len(self.codes))
        for a, b in combinations(range(self.codes.shape[1]), 2):
            both = (self.codes[:, a] >= 0) & (self.codes[:, b] >= 0)
            total[both] += distance(self.codes[both, a], self.codes[both, b])
        pairs = self.counts * (self.counts - 1) / 2
        mean: Floats = total / np.maximum(pairs, 1)
        return mean


def patterns(ratings: Floats, categories: Collection[float] = ()) -> Patterns:
    """Gather items with the same ratings.

    Args:
        ratings: float64[n_item, n_rater], NaN where a rating is missing.
        categories: ratings that could occur, beside those that do.
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
        return Patterns(codes[first], values, of_item.reshape(-1))
    rows, of_item = np.unique(codes, axis=0, return_inverse=True)
    return Patterns(rows, values, of_item.reshape(-1))


@dataclass(frozen=True)
class Sets:
    """Sets of items with the same patterns, and what several coefficients ask of them.

    Attributes:
        found: the patterns.
        weights: float64[n_set, n_pattern], how often each pattern occurs in each set.
    """

    found: Patterns
    weights: Floats

    @cached_property
    def n(self) -> Floats:
        """Items: float64[n_set]."""
        n: Floats = self.weights.sum(axis=1)
        return n

    @cached_property
    def margins(self) -> list[Floats]:
        """How often each rater gives each value: float64[n_set, n_value] a rater."""
        return [self._margin(rater, np.ones(len(self.found.codes))) for rater in range(self.found.codes.shape[1])]

    @cached_property
    def shares(self) -> Floats:
        """Share of each value, every item weighing alike: float64[n_set, n_value] (Gwet 2014, chapter 2)."""
        n = self.weights @ (self.found.counts > 0).astype(np.float64)
        total = self._total(1 / np.maximum(self.found.counts, 1))
        shares: Floats = np.divide(total, n[:, None], out=np.full(total.shape, np.nan), where=n[:, None] > 0)
        return shares

    @cached_property
    def pairable(self) -> Floats:
        """How often each value stands in items with two ratings or more: float64[n_set, n_value]."""
        return self._total((self.found.counts >= 2).astype(np.float64))

    @cached_property
    def are_alike(self) -> NDArray[np.bool_]:
        """Whether the items of a set have one rating only: bool[n_set]."""
        alike: NDArray[np.bool_] = sum((margin > 0 for margin in self.margins), np.bool_(False)).sum(axis=1) <= 1
        return alike

    def _total(self, factor: Floats) -> Floats:
        """The margins of all raters together, patterns weighed besides."""
        is_even = bool((factor == factor[0]).all())
        margins = self.margins if is_even else [self._margin(rater, factor) for rater in range(len(self.margins))]
        total: Floats = np.sum(margins, axis=0) * (factor[0] if is_even else 1.0)
        return total

    def _margin(self, rater: int, factor: Floats) -> Floats:
        codes = self.found.codes[:, rater]
        has = codes >= 0
        kept, size = codes[has], len(self.found.values)
        return np.stack([np.bincount(kept, (row * factor)[has], size) for row in self.weights])


def _over(part: Floats, whole: Floats) -> Floats:
    """A quotient, NaN where the divisor is 0."""
    result = np.full(part.shape, np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


# Two raters. ----------------------------------------------------------------------------------------------------


def mean_absolute_error(sets: Sets) -> Floats:
    """Mean of |y - x|."""
    found, weights = sets.found, sets.weights
    return _over(weights @ np.abs(found.y - found.x), sets.n)


def bias(sets: Sets) -> Floats:
    """Mean of y - x: positive where the second rater gives more than the first."""
    found, weights = sets.found, sets.weights
    return _over(weights @ (found.y - found.x), sets.n)


def pearson(sets: Sets) -> Floats:
    """Product-moment correlation (Pearson, Proc. R. Soc. 58, 1895)."""
    found, weights = sets.found, sets.weights
    # Shifted by a value that occurs, so that a constant rater's sums are 0 and not rounding.
    x, y = found.x - found.x[len(found.x) // 2], found.y - found.y[len(found.y) // 2]
    n = sets.n
    mean_x, mean_y = _over(weights @ x, n), _over(weights @ y, n)
    if weights is found.weights:  # the value itself: two passes, exact to the last digits
        x, y, mean_x, mean_y = x - mean_x, y - mean_y, mean_x * 0, mean_y * 0
    cov = weights @ (x * y) - n * mean_x * mean_y
    var_x, var_y = weights @ (x * x) - n * mean_x**2, weights @ (y * y) - n * mean_y**2
    return _correlation(cov, var_x, var_y, _varies(sets))


def _correlation(cov: Floats, var_x: Floats, var_y: Floats, varies: NDArray[np.bool_]) -> Floats:
    result = np.full(cov.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(cov, np.sqrt(np.maximum(var_x, 0)) * np.sqrt(np.maximum(var_y, 0)), out=result, where=varies)
    result[~np.isfinite(result)] = np.nan
    clipped: Floats = np.clip(result, -1.0, 1.0)
    return clipped


def _varies(sets: Sets) -> NDArray[np.bool_]:
    """Whether both raters give at least two different ratings, in each set of items."""
    n = sets.n
    result: NDArray[np.bool_] = n > 1
    for rater in (0, 1):
        result &= sets.margins[rater].max(axis=1) < n
    return result


def spearman(sets: Sets) -> Floats:
    """Pearson's correlation of mid-ranks (Spearman, Am. J. Psychol. 15, 1904)."""
    found, weights = sets.found, sets.weights
    n = sets.n
    centre = (n[:, None] + 1) / 2
    ranks, variances = [], []
    for rater in (0, 1):
        margin = sets.margins[rater]
        rank = _mid_ranks(margin) - centre
        variances.append((margin * rank * rank).sum(axis=1))
        ranks.append(rank[:, found.codes[:, rater]])
    cov = (weights * ranks[0] * ranks[1]).sum(axis=1)
    return _correlation(cov, variances[0], variances[1], _varies(sets))


def _mid_ranks(margin: Floats) -> Floats:
    """The mean rank of the items with each value: float64[n_set, n_value]."""
    ranks: Floats = np.cumsum(margin, axis=1) - (margin - 1) / 2
    return ranks


def kendall_tau_b(sets: Sets) -> Floats:
    r"""Kendall's rank correlation with the correction for ties in either rating (Kendall 1945).

    S / sqrt((N - T_x)(N - T_y)): S the concordant less the discordant pairs, N all pairs, T those tied. Of at most
    1,000 patterns all pairs are compared in every set; of more the value itself is counted by sorting, O(n log n),
    and in a bootstrap sample it is linearised about it, by the derivative to each weight (Efron, The Jackknife, the
    Bootstrap and Other Resampling Plans, 1982, section 6.3).
    """
    found, weights = sets.found, sets.weights
    base = found.weights[0]
    if weights is not found.weights and len(base) <= _MAX_PAIRED:
        x, y = found.codes[:, 0], found.codes[:, 1]
        up_x, up_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
        signs = (up_x * up_y).astype(np.float64)
        s = np.einsum("si,si->s", weights @ signs, weights)
        free = [
            np.einsum("si,si->s", weights @ np.abs(up).astype(np.float64), weights) for up in (up_x, up_y)
        ]  # pairs that are not tied, each counted twice
        return _correlation(s, free[0], free[1], _varies(sets))
    lead = found.concordance
    n = base.sum()
    free_x, free_y = (n - np.bincount(codes, base)[codes] for codes in found.codes.T)
    s, all_x, all_y = float(base @ lead), float(base @ free_x), float(base @ free_y)
    if not all_x or not all_y:
        return np.full(len(weights), np.nan)
    norm = math.sqrt(all_x) * math.sqrt(all_y)
    value = min(1.0, max(-1.0, s / norm))
    if weights is found.weights:
        return np.array([value])
    slope = 2 * lead / norm - value * (free_x / all_x + free_y / all_y)
    result: Floats = np.clip(value + (weights - base) @ slope, -1.0, 1.0)
    return result


def _concordance(found: Patterns) -> Floats:
    """Items concordant with an item of each pattern, less those discordant: float64[n_pattern], whole numbers."""
    x, y = found.codes[:, 0], found.codes[:, 1]
    w = found.weights[0].astype(np.int64)
    n = int(w.sum())
    below = _dominated(x, y, w)
    lower, same = [], []
    for codes in (x, y):
        count = np.bincount(codes, w, len(found.values)).astype(np.int64)
        lower.append((np.cumsum(count) - count)[codes])
        same.append(count[codes])
    # Items with the same y and a smaller x, and the same x and a smaller y: patterns are distinct, so a running sum.
    left, under = _before(y, x, w), _before(x, y, w)
    x_less_y_more = lower[0] - left - below
    x_more_y_less = lower[1] - under - below
    right = same[1] - w - left  # the same y, a larger x
    above = n - lower[0] - same[0] - right - x_more_y_less  # of those with a larger x the ones with a larger y
    result: Floats = (below + above - x_less_y_more - x_more_y_less).astype(np.float64)
    return result


def _before(group: Ints, codes: Ints, w: Ints) -> Ints:
    """Weight of the patterns of the same group with a smaller code."""
    order = np.lexsort((codes, group))
    running = np.cumsum(w[order]) - w[order]
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    first = np.repeat(running[starts], np.diff(np.append(starts, len(order))))
    result = np.empty_like(w)
    result[order] = running - first
    return result


def _dominated(x: Ints, y: Ints, w: Ints) -> Ints:
    """Weight of the patterns with smaller x and smaller y, for each: merges of sorted blocks, all of a size at once."""
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


def cohen_kappa(sets: Sets) -> Floats:
    """Agreement beyond chance, chance from each rater's own shares: (p_o - p_e) / (1 - p_e) (Cohen 1960)."""
    found, weights = sets.found, sets.weights
    n = sets.n
    first, second = sets.margins
    differs = weights @ (found.codes[:, 0] != found.codes[:, 1]).astype(np.float64)
    return 1 - _over(differs * n, n * n - (first * second).sum(axis=1))


def linear_kappa(sets: Sets) -> Floats:
    """Cohen's kappa with weights 1 - |x - y| / range (Cohen 1968; Cicchetti, Allison, Am. J. EEG Technol. 11, 1971)."""
    found, weights = sets.found, sets.weights
    n = sets.n
    low, high = (np.cumsum(margin, axis=1)[:, :-1] for margin in sets.margins)
    apart = low * (n[:, None] - high) + high * (n[:, None] - low)  # pairs with one on either side of each gap
    return 1 - _over(n * (weights @ np.abs(found.x - found.y)), apart @ np.diff(found.values))


def quadratic_kappa(sets: Sets) -> Floats:
    """Cohen's kappa with weights 1 - ((x - y) / range)^2 (Cohen 1968; Fleiss, Cohen, Educ. Psychol. Meas. 33, 1973)."""
    found, weights = sets.found, sets.weights
    n = sets.n
    middle = found.values.mean()
    x, y = found.x - middle, found.y - middle
    by_chance = n * (weights @ (x * x + y * y)) - 2 * (weights @ x) * (weights @ y)
    return 1 - _over(n * (weights @ (x - y) ** 2), np.where(sets.are_alike, 0, by_chance))


# Any number of raters. ------------------------------------------------------------------------------------------


def _unequal(a: Ints, b: Ints) -> Floats:
    differs: Floats = (a != b).astype(np.float64)
    return differs


def _disagreement(sets: Sets, distance: Callable[[Ints, Ints], Floats]) -> Floats:
    """Mean over the items with two ratings or more of the mean distance between two of their ratings."""
    found, weights = sets.found, sets.weights
    rated = (found.counts >= 2).astype(np.float64)
    mean: Floats = _over(weights @ (rated * found.over_pairs(distance)), weights @ rated)
    return mean


def percent_agreement(sets: Sets) -> Floats:
    """Share of pairs of ratings of one item that are the same rating, averaged over items."""
    return 1 - _disagreement(sets, _unequal)


def fleiss_kappa(sets: Sets) -> Floats:
    """Agreement beyond chance, chance from the shares of all raters together (Fleiss 1971).

    For two raters this is Scott's pi (Public Opin. Q. 19, 1955); with missing ratings the form of Gwet (2014, ch. 2).
    """
    by_chance = (sets.shares**2).sum(axis=1)
    # Shares are rounded: of one category their square may miss 1 by the last digit.
    differs = np.where(sets.are_alike, 0, 1 - by_chance)
    return 1 - _over(_disagreement(sets, _unequal), differs)


def pabak(sets: Sets) -> Floats:
    """Agreement beyond an even chance: (q p_o - 1) / (q - 1) with q categories (Byrt, Bishop, Carlin 1993).

    q counts the categories that occur anywhere in the ratings. The same as Bennett, Alpert, Goldstein's S (1954).
    """
    found, weights = sets.found, sets.weights
    q = len(found.values)
    if q < 2:
        return np.full(len(weights), np.nan)
    chance_corrected: Floats = 1 - _disagreement(sets, _unequal) * q / (q - 1)
    return chance_corrected


def gwet_ac1(sets: Sets) -> Floats:
    """Gwet's AC1 for categories without order: chance from raters who guess at hard items (Gwet 2008).

    p_e = sum over categories of pi (1 - pi), over q - 1.
    """
    return _gwet(sets, _unequal, None)


def gwet_ac2(sets: Sets) -> Floats:
    """Gwet's AC2 with ordinal weights: 1 - C(d + 1, 2) / C(q, 2) for categories d places apart (Gwet 2014, ch. 3)."""
    found = sets.found
    q = len(found.values)
    apart = np.arange(q) * (np.arange(q) + 1) / max(q * (q - 1), 1)
    return _gwet(sets, lambda a, b: apart[np.abs(a - b)], apart)


def _gwet(sets: Sets, distance: Callable[[Ints, Ints], Floats], apart: Floats | None) -> Floats:
    found, weights = sets.found, sets.weights
    q = len(found.values)
    if q < 2:
        return np.full(len(weights), np.nan)
    shares = sets.shares
    # The sum of all agreement weights, q on the diagonal and 2 (q - d) at each distance d.
    total = float(q) if apart is None else q + float(2 * ((q - np.arange(1, q)) * (1 - apart[1:])).sum())
    by_chance = total / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=1)
    return 1 - _over(_disagreement(sets, distance), 1 - by_chance)


def nominal_alpha(sets: Sets) -> Floats:
    """Krippendorff's alpha, 1 - D_o / D_e, where any two different ratings are equally far apart (2004, section 11.3).

    D_o is the mean distance of two ratings of one item, D_e that of any two ratings; items with one rating do not
    count. In all four forms a missing rating takes only its own pairs away.
    """
    found = sets.found
    pairable = sets.pairable
    n = pairable.sum(axis=1)
    return _alpha(sets, found.over_pairs(_unequal), n * n - (pairable**2).sum(axis=1), n)


def ordinal_alpha(sets: Sets) -> Floats:
    """Krippendorff's alpha with ratings as far apart as there are ratings between them, squared.

    The sum from c to k of the n_g, less half the ends, is the difference of the mid-ranks of c and k: so this is the
    interval form on mid-ranks.
    """
    found, weights = sets.found, sets.weights
    pairable = sets.pairable
    n = pairable.sum(axis=1)
    ranks = _mid_ranks(pairable) - (n[:, None] + 1) / 2
    shares = 2 / np.maximum(found.counts - 1, 1)
    within = np.zeros(len(weights))
    for a, b in combinations(range(found.codes.shape[1]), 2):
        both = (found.codes[:, a] >= 0) & (found.codes[:, b] >= 0)
        gap = ranks[:, found.codes[both, a]] - ranks[:, found.codes[both, b]]
        within += (weights[:, both] * shares[both] * gap * gap).sum(axis=1)
    apart = 2 * n * (pairable * ranks * ranks).sum(axis=1)  # the mean of mid-ranks is 0
    return 1 - _over(within * (n - 1), np.where(_all_same_pairable(pairable), 0, apart))


def interval_alpha(sets: Sets) -> Floats:
    """Krippendorff's alpha with squared differences of ratings."""
    found = sets.found
    pairable = sets.pairable
    n = pairable.sum(axis=1)
    values = found.values - found.values.mean()
    apart = 2 * (n * (pairable @ (values * values)) - (pairable @ values) ** 2)
    apart = np.where(_all_same_pairable(pairable), 0, apart)
    return _alpha(sets, found.over_pairs(lambda a, b: (values[a] - values[b]) ** 2), apart, n)


def ratio_alpha(sets: Sets) -> Floats:
    """Krippendorff's alpha with ((c - k) / (c + k))^2, for ratings that are not negative; at most 1,000 of them."""
    found, weights = sets.found, sets.weights
    values = found.values
    if len(values) > _MAX_RATIO_VALUES or (len(values) and values[0] < 0):
        return np.full(len(weights), np.nan)

    def distance(a: Ints, b: Ints) -> Floats:
        sums = values[a] + values[b]
        return np.divide(values[a] - values[b], sums, out=np.zeros(np.shape(sums)), where=sums > 0) ** 2

    pairable = sets.pairable
    every = np.arange(len(values))
    apart = np.einsum("sk,sk->s", pairable @ distance(every[:, None], every[None, :]), pairable)
    return _alpha(sets, found.over_pairs(distance), apart, pairable.sum(axis=1))


def _alpha(sets: Sets, within: Floats, apart: Floats, n: Floats) -> Floats:
    """1 - D_o / D_e of the mean distances within patterns and the sum of distances of all ordered pairs of ratings."""
    found, weights = sets.found, sets.weights
    counts = np.where(found.counts >= 2, found.counts, 0)
    return 1 - _over((weights @ (counts * within)) * (n - 1), apart)


def _all_same_pairable(pairable: Floats) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (pairable > 0).sum(axis=1) <= 1
    return same


# Values with intervals. -----------------------------------------------------------------------------------------

Coefficient = Callable[[Sets], Floats]

FOR_ANY: Mapping[str, Coefficient] = {
    "percent_agreement": percent_agreement, "fleiss_kappa": fleiss_kappa, "krippendorff_alpha_nominal": nominal_alpha,
    "krippendorff_alpha_ordinal": ordinal_alpha, "krippendorff_alpha_interval": interval_alpha,
    "krippendorff_alpha_ratio": ratio_alpha, "gwet_ac1": gwet_ac1, "gwet_ac2": gwet_ac2, "pabak": pabak,
}  # fmt: skip
"""Coefficients of any number of raters."""

FOR_TWO: Mapping[str, Coefficient] = {
    "kendall_tau_b": kendall_tau_b, "spearman": spearman, "pearson": pearson, "mae": mean_absolute_error, "bias": bias,
    "cohen_kappa": cohen_kappa, "cohen_kappa_linear": linear_kappa, "cohen_kappa_quadratic": quadratic_kappa, **FOR_ANY,
}  # fmt: skip
"""Coefficients of two raters."""

_CORRELATIONS = ("kendall_tau_b", "spearman", "pearson")
_BY_CHANCE_ALONE = ("percent_agreement", "mae", "bias")  # defined wherever there is one item


def estimates(
    ratings: Floats, clusters: Ints, *, categories: Collection[float] = (), replicates: int = REPLICATES
) -> dict[str, Estimate]:
    """All coefficients of two raters or more, with intervals.

    Of two raters only items count that both have rated; of more, those with two ratings (for the shares of categories
    those with one, as Gwet has it). An interval is that of percentiles of a bootstrap in which problems are drawn with
    all their items (Davison, Hinkley, Bootstrap Methods, 1997, section 3.8): solutions of one problem are not
    independent.

    Args:
        ratings: float64[n_item, n_rater], NaN where a rating is missing.
        clusters: int64[n_item], the problem of each item, as whole numbers from 0.
        categories: ratings that could occur, beside those that do.
        replicates: bootstrap samples; 0 for none, and no intervals.

    Errors:
        PrismError: ratings that are no table with two columns or more, or are infinite; clusters of another length.
    """
    if ratings.ndim != 2 or ratings.shape[1] < 2 or clusters.shape != (len(ratings),) or np.isinf(ratings).any():
        raise PrismError("expected finite ratings [n_item, n_rater >= 2] and as many clusters as items")
    rated = (~np.isnan(ratings)).sum(axis=1)
    is_pair = ratings.shape[1] == 2
    kept = rated >= (2 if is_pair else 1)
    n = int((rated >= 2).sum())
    table = FOR_TWO if is_pair else FOR_ANY
    if not n:
        return {name: Estimate(None, None, None, 0, "no_items") for name in table}
    found = patterns(ratings[kept], categories)
    drawn = _resampled(found, clusters[kept], table, replicates)
    return {
        name: _estimate(name, found, n, coefficient, drawn[name] if drawn else None)
        for name, coefficient in table.items()
    }


def _estimate(name: str, found: Patterns, n: int, coefficient: Coefficient, drawn: Floats | None) -> Estimate:
    reason = _undefined(name, found, n)
    value = math.nan if reason else float(coefficient(Sets(found, found.weights))[0])
    if math.isnan(value):
        return Estimate(None, None, None, n, reason or "one_category")
    if drawn is None:
        return Estimate(value, None, None, n, "one_problem")
    if not len(drawn):
        return Estimate(value, None, None, n)
    defined = drawn[~np.isnan(drawn)]
    if 2 * len(defined) < len(drawn):
        return Estimate(value, None, None, n, "undefined_in_samples")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high), n)


def _undefined(name: str, found: Patterns, n: int) -> str:
    """Why a coefficient has no value, before it is computed; empty if it may have one."""
    if name in _BY_CHANCE_ALONE:
        return ""
    if n < 2:
        return "too_few_items"
    if name in _CORRELATIONS and not _varies(Sets(found, found.weights))[0]:
        return "constant_ratings"
    if name == "krippendorff_alpha_ratio":
        if len(found.values) > _MAX_RATIO_VALUES:
            return "too_many_values"
        if found.values[0] < 0:
            return "negative_values"
    return ""


def _resampled(
    found: Patterns, clusters: Ints, table: Mapping[str, Coefficient], replicates: int
) -> dict[str, Floats] | None:
    """Each coefficient in each bootstrap sample, NaN where it is undefined; None if there is one problem only."""
    _, clusters = np.unique(clusters, return_inverse=True)
    n_cluster = int(clusters.max()) + 1
    if n_cluster < 2:
        return None
    m = len(found.codes)
    replicates = min(replicates, max(_LEAST_REPLICATES, _WORK // m))
    blocks: dict[str, list[Floats]] = {name: [] for name in table}
    block = max(1, _BLOCK // m)
    # Problems and patterns that go together are counted once; then a sample is a sum over these counts.
    joined, counts = np.unique(clusters * m + found.of_item, return_counts=True)
    of_cluster, of_pattern = joined // m, joined % m
    at = 0
    while at < replicates:
        size = min(block, replicates - at)
        weights = np.empty((size, m))
        for row in range(size):
            # The house's own counter-based generator: NumPy does not promise that its streams stay as they are.
            u = uniform(_SEED, n_cluster, (at + row) * n_cluster)
            times = np.bincount((u * n_cluster).astype(np.int64), minlength=n_cluster)
            weights[row] = np.bincount(of_pattern, times[of_cluster] * counts, m)
        sets = Sets(found, weights)
        for name, coefficient in table.items():
            blocks[name].append(coefficient(sets))
        at += size
    return {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in blocks.items()}


def mean_estimate(values: Floats, clusters: Ints, *, replicates: int = REPLICATES) -> Estimate:
    """A mean with its interval, problems drawn with all their items; undefined without items.

    Args:
        values: float64[n_item], none of them NaN.
        clusters: int64[n_item], the problem of each item.
    """
    if not len(values):
        return Estimate(None, None, None, 0, "no_items")
    _, clusters = np.unique(clusters, return_inverse=True)
    n_cluster = int(clusters.max()) + 1
    mean = float(values.mean())
    if n_cluster < 2 or not replicates:
        return Estimate(mean, None, None, len(values), "one_problem" if n_cluster < 2 else "")
    sums, sizes = np.bincount(clusters, values), np.bincount(clusters)
    drawn = np.empty(replicates)
    for row in range(replicates):
        picked = (uniform(_SEED, n_cluster, row * n_cluster) * n_cluster).astype(np.int64)
        drawn[row] = sums[picked].sum() / sizes[picked].sum()
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(mean, float(low), float(high), len(values))


# Whether ranks agree by chance. ---------------------------------------------------------------------------------


def rank_test(ratings: Floats) -> RankTest:
    """The test of tau_b = 0 against either side.

    Permutations: without ties those of at most 50 items are counted exactly (Kendall, Biometrika 30, 1938), with ties
    those of at most 7 are all listed; of up to 100 items 9,999 are drawn, with a fixed seed.

    Args:
        ratings: float64[n_item, 2], NaN where a rating is missing; such items do not count.
    """
    kept = ratings[~np.isnan(ratings).any(axis=1)]
    n = len(kept)
    if n < 2:
        return RankTest(None, None, "none", "too_few_items" if n else "no_items")
    found = patterns(kept)
    if not _varies(Sets(found, found.weights))[0]:
        return RankTest(None, None, "none", "constant_ratings")
    s = round(float(found.weights[0] @ found.concordance) / 2)
    asymptotic = _asymptotic(found, n, s)
    ranks = [found.codes[:, rater][found.of_item] for rater in (0, 1)]
    has_ties = any(len(np.unique(each)) < n for each in ranks)
    if not has_ties and n <= _MAX_EXACT:
        return RankTest(asymptotic, _exact(n, s), "exact")
    if n > _MAX_SHUFFLED:
        return RankTest(asymptotic, None, "none")
    up = np.sign(ranks[0][:, None] - ranks[0])
    if n <= _MAX_LISTED:
        orders = np.array(list(permutations(range(n))))
        return RankTest(asymptotic, float(np.mean(np.abs(_scores(up, ranks[1], orders)) >= abs(s))), "exact")
    orders = np.argsort(uniform(_SEED, _SHUFFLES * n).reshape(_SHUFFLES, n), axis=1, kind="stable")
    extreme = int((np.abs(_scores(up, ranks[1], orders)) >= abs(s)).sum())
    return RankTest(asymptotic, (1 + extreme) / (1 + _SHUFFLES), "monte_carlo")


def _scores(up: Ints, codes: Ints, orders: Ints) -> Ints:
    """Concordant less discordant pairs after each permutation of the second rater's ratings."""
    scores = np.zeros(len(orders), dtype=np.int64)
    shuffled = codes.astype(np.int16)[orders]  # at most 100 items: small numbers are compared faster
    small = up.astype(np.int8)
    for i in range(1, len(up)):
        own, others = shuffled[:, i : i + 1], shuffled[:, :i]
        signs = (own > others).view(np.int8) - (own < others).view(np.int8)
        scores += (signs * small[i, :i]).sum(axis=1, dtype=np.int64)
    return scores


def _asymptotic(found: Patterns, n: int, s: int) -> float:
    pairs = n * (n - 1)
    sums = []
    for rater in (0, 1):
        ties = [int(t) for t in np.bincount(found.codes[:, rater], found.weights[0])]
        sums.append([
            sum(t * (t - 1) for t in ties), sum(t * (t - 1) * (t - 2) for t in ties),
            sum(t * (t - 1) * (2 * t + 5) for t in ties),
        ])  # fmt: skip
    (two_x, three_x, all_x), (two_y, three_y, all_y) = sums
    variance = (pairs * (2 * n + 5) - all_x - all_y) / 18 + two_x * two_y / (2 * pairs)
    if n > 2:
        variance += three_x * three_y / (9 * pairs * (n - 2))
    return math.erfc(abs(s) / math.sqrt(2 * variance))


def _exact(n: int, s: int) -> float:
    """Share of the permutations of n items without ties whose score is at least as far from 0."""
    counts = [1]  # permutations by their number of inversions
    for size in range(2, n + 1):
        counts = [
            sum(counts[max(0, k - size + 1) : k + 1]) for k in range(len(counts) + size - 1)
        ]  # the next item goes behind any of the others
    total = n * (n - 1) // 2
    fewer = min((total - s) // 2, (total + s) // 2)
    return min(1.0, 2 * sum(counts[: fewer + 1]) / math.factorial(n))

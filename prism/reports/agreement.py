r"""Coefficients of agreement between raters with bootstrap intervals, as pure functions of a table of ratings.

A table is `float64[n_item, n_rater]`, NaN where a rater gave no rating; what is missing stays missing. Items are first
gathered into patterns, the distinct rows, with a weight for each: how often it occurs. Every coefficient is a function
of the patterns and of `weights: float64[n_set, n_pattern]`, one row a set of items: the items themselves, or the
items of one bootstrap sample. So one definition gives the value and its interval.

Inside this module NaN marks a set on which a coefficient is undefined; an `Estimate` has None and the reason instead.

Weighted forms measure distance between the ratings themselves, not between their places in the list of those that
occur: on equally spaced ratings the two are the same, and otherwise only the first does not change with the sample.

Refused: the coefficients of scipy, statsmodels and krippendorff, which know no weights. They take one table at a time:
1,000 bootstrap samples of 10,000 items in 45 values take them five minutes, and the 17 functions below a tenth of a
second. They are oracles of the tests.

Sources: Kendall, Biometrika 33 (1945); Cohen, Educ. Psychol. Meas. 20 (1960), Psychol. Bull. 70 (1968); Fleiss,
Psychol. Bull. 76 (1971); Krippendorff, Content Analysis (2004), chapter 11; Gwet, Br. J. Math. Stat. Psychol. 61
(2008), and Handbook of Inter-Rater Reliability (2014); Byrt, Bishop, Carlin, J. Clin. Epidemiol. 46 (1993).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from prism.engine.rng import uniform
from prism.errors import PrismError
from prism.reports.rating_sets import Floats, Ints, Patterns, Sets, both_vary, mid_ranks, patterns, quotient
from prism.resources import meanings

REPLICATES = 1000  # bootstrap samples
LEVEL = 0.95  # of an interval
REASONS: Mapping[str, str] = meanings("reports.reasons")
"""Why a coefficient or its interval is null."""

_MAX_RATIO_VALUES = 1000  # the ratio metric compares all pairs of values
_MAX_PAIRED = 1000  # patterns whose pairs are all compared in each bootstrap sample of tau_b; of more it is linearised
_BLOCK = 1 << 21  # numbers in a block of bootstrap weights: 16 MB
_WORK = 1 << 24  # weights drawn in all: of more than 16,384 patterns fewer samples are drawn, whose interval is narrow
_LEAST_REPLICATES = 200
SEED = 0x5052_4953_4D41  # fixed: the same ratings give the same intervals, on every machine


Coefficient = Callable[[Sets], Floats]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient or a mean with its interval.

    Attributes:
        value: None where it is undefined.
        low, high: percentile bootstrap interval, problems drawn with replacement; None where it is undefined.
        n: number of items it was computed from.
        reason: why a value is None, a key of `REASONS`; empty otherwise.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""


# Two raters. ----------------------------------------------------------------------------------------------------


def mean_absolute_error(sets: Sets) -> Floats:
    """Return the mean of |y - x| over the items of each set, x and y the ratings of two raters: float64[n_set]."""
    found, weights = sets.found, sets.weights
    return quotient(weights @ np.abs(found.y - found.x), sets.n)


def bias(sets: Sets) -> Floats:
    """Return the mean of y - x of two raters: float64[n_set], positive where the second gives more than the first."""
    found, weights = sets.found, sets.weights
    return quotient(weights @ (found.y - found.x), sets.n)


def pearson(sets: Sets) -> Floats:
    """Return the product-moment correlation of two raters: float64[n_set] (Pearson, Proc. R. Soc. 58, 1895)."""
    found, weights = sets.found, sets.weights
    # Shifted by a value that occurs, so that a constant rater's sums are 0 and not rounding.
    x, y = found.x - found.x[len(found.x) // 2], found.y - found.y[len(found.y) // 2]
    n = sets.n
    mean_x, mean_y = quotient(weights @ x, n), quotient(weights @ y, n)
    if weights is found.weights:  # the value itself: two passes, exact to the last digits
        x, y, mean_x, mean_y = x - mean_x, y - mean_y, mean_x * 0, mean_y * 0
    cov = weights @ (x * y) - n * mean_x * mean_y
    var_x, var_y = weights @ (x * x) - n * mean_x**2, weights @ (y * y) - n * mean_y**2
    return _correlation(cov, var_x, var_y, both_vary(sets))


def _correlation(cov: Floats, var_x: Floats, var_y: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Divide a covariance by both standard deviations: float64[n_set], NaN where a rater is constant.

    Args:
        cov, var_x, var_y: float64[n_set], up to one common factor.
        varies: bool[n_set], True where both raters give at least two different ratings.
    """
    result = np.full(cov.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(cov, np.sqrt(np.maximum(var_x, 0)) * np.sqrt(np.maximum(var_y, 0)), out=result, where=varies)
    result[~np.isfinite(result)] = np.nan
    clipped: Floats = np.clip(result, -1.0, 1.0)
    return clipped


def spearman(sets: Sets) -> Floats:
    """Return Pearson's correlation of two raters' mid-ranks: float64[n_set] (Spearman, Am. J. Psychol. 15, 1904)."""
    found, weights = sets.found, sets.weights
    n = sets.n
    centre = (n[:, None] + 1) / 2
    ranks, variances = [], []
    for rater in (0, 1):
        margin = sets.margins[rater]
        rank = mid_ranks(margin) - centre
        variances.append((margin * rank * rank).sum(axis=1))
        ranks.append(rank[:, found.codes[:, rater]])
    cov = (weights * ranks[0] * ranks[1]).sum(axis=1)
    return _correlation(cov, variances[0], variances[1], both_vary(sets))


def kendall_tau_b(sets: Sets) -> Floats:
    r"""Return Kendall's rank correlation of two raters, corrected for ties in either: float64[n_set] (Kendall 1945).

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
        return _correlation(s, free[0], free[1], both_vary(sets))
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


def cohen_kappa(sets: Sets) -> Floats:
    """Return Cohen's kappa of two raters, (p_o - p_e) / (1 - p_e): float64[n_set] (Cohen 1960).

    p_o is the observed share of equal ratings, p_e that expected if each rater drew at random from his own ratings.
    """
    found, weights = sets.found, sets.weights
    n = sets.n
    first, second = sets.margins
    differs = weights @ (found.codes[:, 0] != found.codes[:, 1]).astype(np.float64)
    return 1 - quotient(differs * n, n * n - (first * second).sum(axis=1))


def weighted_kappa(apart: Floats) -> Coefficient:
    """Return Cohen's kappa for given weights of disagreement: 1 - q_o / q_e (Cohen 1968).

    q_o is the observed mean weight of the two ratings of an item, q_e that expected if each rater drew at random from
    his own ratings.

    Args:
        apart: float64[n_value, n_value], the weight of each pair of values, 0 for equal ones.
    """

    def kappa(sets: Sets) -> Floats:
        """Compute it for each set: float64[n_set], NaN where all ratings are the same."""
        found, n = sets.found, sets.n
        first, second = sets.margins
        observed = sets.weights @ apart[found.codes[:, 0], found.codes[:, 1]]
        by_chance = ((first @ apart) * second).sum(axis=1)
        return 1 - quotient(observed * n, by_chance)

    return kappa


def linear_kappa(sets: Sets) -> Floats:
    """Return Cohen's kappa with weights 1 - |x - y| / range: float64[n_set].

    Cohen 1968; Cicchetti, Allison, Am. J. EEG Technol. 11, 1971.
    """
    found, weights = sets.found, sets.weights
    n = sets.n
    low, high = (np.cumsum(margin, axis=1)[:, :-1] for margin in sets.margins)
    apart = low * (n[:, None] - high) + high * (n[:, None] - low)  # pairs with one on either side of each gap
    return 1 - quotient(n * (weights @ np.abs(found.x - found.y)), apart @ np.diff(found.values))


def quadratic_kappa(sets: Sets) -> Floats:
    """Return Cohen's kappa with weights 1 - ((x - y) / range)^2: float64[n_set].

    Cohen 1968; Fleiss, Cohen, Educ. Psychol. Meas. 33, 1973.
    """
    found, weights = sets.found, sets.weights
    n = sets.n
    middle = found.values.mean()
    x, y = found.x - middle, found.y - middle
    by_chance = n * (weights @ (x * x + y * y)) - 2 * (weights @ x) * (weights @ y)
    return 1 - quotient(n * (weights @ (x - y) ** 2), np.where(sets.are_alike, 0, by_chance))


# Any number of raters. ------------------------------------------------------------------------------------------


def _nominal_distance(a: Ints, b: Ints) -> Floats:
    """Return the nominal distance of two arrays of category codes, elementwise: 1 where they differ, 0 where not."""
    differs: Floats = (a != b).astype(np.float64)
    return differs


def _mean_disagreement(sets: Sets, distance: Callable[[Ints, Ints], Floats]) -> Floats:
    """Return the mean distance of two ratings of one item, averaged over items with two or more: float64[n_set].

    Args:
        distance: function of two arrays of category codes.
    """
    found, weights = sets.found, sets.weights
    rated = (found.counts >= 2).astype(np.float64)
    mean: Floats = quotient(weights @ (rated * found.over_pairs(distance)), weights @ rated)
    return mean


def percent_agreement(sets: Sets) -> Floats:
    """Return the share of pairs of ratings of one item that are equal, averaged over items: float64[n_set]."""
    return 1 - _mean_disagreement(sets, _nominal_distance)


def fleiss_kappa(sets: Sets) -> Floats:
    """Return agreement beyond chance, chance from the shares of all raters together: float64[n_set] (Fleiss 1971).

    For two raters this is Scott's pi (Public Opin. Q. 19, 1955); with missing ratings the form of Gwet (2014, ch. 2).
    """
    by_chance = (sets.shares**2).sum(axis=1)
    # Shares are rounded: of one category their square may miss 1 by the last digit.
    differs = np.where(sets.are_alike, 0, 1 - by_chance)
    return 1 - quotient(_mean_disagreement(sets, _nominal_distance), differs)


def pabak(sets: Sets) -> Floats:
    """Return agreement beyond even chance, (q p_o - 1) / (q - 1): float64[n_set] (Byrt, Bishop, Carlin 1993).

    q counts the categories that occur anywhere in the ratings. The same as Bennett, Alpert, Goldstein's S (1954).
    """
    found, weights = sets.found, sets.weights
    q = len(found.values)
    if q < 2:
        return np.full(len(weights), np.nan)
    chance_corrected: Floats = 1 - _mean_disagreement(sets, _nominal_distance) * q / (q - 1)
    return chance_corrected


def gwet_ac1(sets: Sets) -> Floats:
    """Return Gwet's AC1 for categories without order: chance from raters who guess at hard items (Gwet 2008).

    p_e = sum over categories of pi (1 - pi), over q - 1.
    """
    return _gwet_coefficient(sets, _nominal_distance, None)


def gwet_ac2(sets: Sets) -> Floats:
    """Return Gwet's AC2, AC1 with ordinal weights: float64[n_set] (Gwet 2014, ch. 3).

    The agreement weight is 1 - C(d + 1, 2) / C(q, 2) for categories d places apart, of q.
    """
    found = sets.found
    q = len(found.values)
    apart = np.arange(q) * (np.arange(q) + 1) / max(q * (q - 1), 1)
    return _gwet_coefficient(sets, lambda a, b: apart[np.abs(a - b)], apart)


def _gwet_coefficient(sets: Sets, distance: Callable[[Ints, Ints], Floats], apart: Floats | None) -> Floats:
    """Compute Gwet's AC1 or AC2: float64[n_set], NaN with one category.

    Args:
        distance: disagreement weight of two arrays of category codes.
        apart: `apart[d]` is the disagreement weight of categories d places apart; None for AC1, where all are 1.
    """
    found, weights = sets.found, sets.weights
    q = len(found.values)
    if q < 2:
        return np.full(len(weights), np.nan)
    shares = sets.shares
    # The sum of all agreement weights, q on the diagonal and 2 (q - d) at each distance d.
    total = float(q) if apart is None else q + float(2 * ((q - np.arange(1, q)) * (1 - apart[1:])).sum())
    by_chance = total / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=1)
    return 1 - quotient(_mean_disagreement(sets, distance), 1 - by_chance)


def nominal_alpha(sets: Sets) -> Floats:
    """Return Krippendorff's alpha, 1 - D_o / D_e, with distance 1 between different ratings (2004, section 11.3).

    D_o is the mean distance of two ratings of one item, D_e that of any two ratings; items with one rating do not
    count. In all four forms a missing rating takes only its own pairs away.
    """
    found = sets.found
    pairable = sets.pairable
    n = pairable.sum(axis=1)
    return _krippendorff_alpha(sets, found.over_pairs(_nominal_distance), n * n - (pairable**2).sum(axis=1), n)


def ordinal_alpha(sets: Sets) -> Floats:
    """Return Krippendorff's alpha for ranks: the distance is the squared number of ratings between two values.

    The sum from c to k of the n_g, less half the ends, is the difference of the mid-ranks of c and k: so this is the
    interval form on mid-ranks.
    """
    found, weights = sets.found, sets.weights
    pairable = sets.pairable
    n = pairable.sum(axis=1)
    ranks = mid_ranks(pairable) - (n[:, None] + 1) / 2
    shares = 2 / np.maximum(found.counts - 1, 1)
    within = np.zeros(len(weights))
    for a, b in combinations(range(found.codes.shape[1]), 2):
        both = (found.codes[:, a] >= 0) & (found.codes[:, b] >= 0)
        gap = ranks[:, found.codes[both, a]] - ranks[:, found.codes[both, b]]
        within += (weights[:, both] * shares[both] * gap * gap).sum(axis=1)
    apart = 2 * n * (pairable * ranks * ranks).sum(axis=1)  # the mean of mid-ranks is 0
    return 1 - quotient(within * (n - 1), np.where(_all_same_pairable(pairable), 0, apart))


def interval_alpha(sets: Sets) -> Floats:
    """Return Krippendorff's alpha with squared differences of ratings as the distance: float64[n_set]."""
    found = sets.found
    pairable = sets.pairable
    n = pairable.sum(axis=1)
    values = found.values - found.values.mean()
    apart = 2 * (n * (pairable @ (values * values)) - (pairable @ values) ** 2)
    apart = np.where(_all_same_pairable(pairable), 0, apart)
    return _krippendorff_alpha(sets, found.over_pairs(lambda a, b: (values[a] - values[b]) ** 2), apart, n)


def ratio_alpha(sets: Sets) -> Floats:
    """Return Krippendorff's alpha with ((c - k) / (c + k))^2 as the distance of ratings c and k: float64[n_set].

    NaN if a rating is negative, or if there are more than 1,000 distinct ones.
    """
    found, weights = sets.found, sets.weights
    values = found.values
    if len(values) > _MAX_RATIO_VALUES or (len(values) and values[0] < 0):
        return np.full(len(weights), np.nan)

    def distance(a: Ints, b: Ints) -> Floats:
        """Return ((c - k) / (c + k))^2 for two arrays of codes of ratings; 0 where both ratings are 0."""
        sums = values[a] + values[b]
        return np.divide(values[a] - values[b], sums, out=np.zeros(np.shape(sums)), where=sums > 0) ** 2

    pairable = sets.pairable
    every = np.arange(len(values))
    apart = np.einsum("sk,sk->s", pairable @ distance(every[:, None], every[None, :]), pairable)
    return _krippendorff_alpha(sets, found.over_pairs(distance), apart, pairable.sum(axis=1))


def _krippendorff_alpha(sets: Sets, within: Floats, apart: Floats, n: Floats) -> Floats:
    """Compute Krippendorff's alpha, 1 - D_o / D_e: float64[n_set].

    Args:
        within: float64[n_pattern], mean distance of two ratings of one item, by pattern.
        apart: float64[n_set], sum of the distances of all ordered pairs of pairable ratings.
        n: float64[n_set], number of pairable ratings.
    """
    found, weights = sets.found, sets.weights
    counts = np.where(found.counts >= 2, found.counts, 0)
    return 1 - quotient((weights @ (counts * within)) * (n - 1), apart)


def _all_same_pairable(pairable: Floats) -> NDArray[np.bool_]:
    """Return for each set whether all pairable ratings have the same value: bool[n_set].

    Args:
        pairable: float64[n_set, n_value], how often each value occurs in items with two ratings or more.
    """
    same: NDArray[np.bool_] = (pairable > 0).sum(axis=1) <= 1
    return same


# Values with intervals. -----------------------------------------------------------------------------------------

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
_BY_CHANCE_ALONE = ("percent_agreement", "mae", "bias")  # defined wherever there is one item, as shares are


def estimate_coefficients(
    ratings: Floats,
    clusters: Ints,
    *,
    categories: Collection[float] = (),
    replicates: int = REPLICATES,
    weights: Floats | None = None,
    chosen: Mapping[str, Coefficient] | None = None,
) -> dict[str, Estimate]:
    """Compute coefficients of two raters or more, with intervals.

    With two raters only items count that both have rated; with more, those with two ratings (for the shares of
    categories those with one, as Gwet has it). An interval is that of percentiles of a bootstrap in which problems are
    drawn with all their items (Davison, Hinkley, Bootstrap Methods, 1997, section 3.8): solutions of one problem are
    not independent.

    Args:
        ratings: float64[n_item, n_rater], NaN where a rating is missing.
        clusters: int64[n_item], the problem of each item, as whole numbers from 0.
        categories: ratings that could occur, beside those that do.
        replicates: bootstrap samples; 0 for none, and no intervals.
        weights: float64[n_item], how many items each one stands for, as in a stratified sample; None for one each.
            Of tau_b only without weights.
        chosen: coefficients by name; None for all of so many raters.

    Errors:
        PrismError: ratings that are no table with two columns or more, or are infinite; clusters of another length.
    """
    if ratings.ndim != 2 or ratings.shape[1] < 2 or clusters.shape != (len(ratings),) or np.isinf(ratings).any():
        raise PrismError("expected finite ratings [n_item, n_rater >= 2] and as many clusters as items")
    rated = (~np.isnan(ratings)).sum(axis=1)
    is_pair = ratings.shape[1] == 2
    is_rated = rated >= (2 if is_pair else 1)
    n = int((rated >= 2).sum())
    table = chosen if chosen is not None else FOR_TWO if is_pair else FOR_ANY
    if not n:
        return {name: Estimate(None, None, None, 0, "no_items") for name in table}
    found = patterns(ratings[is_rated], categories, None if weights is None else weights[is_rated])
    return _estimates(found, n, clusters[is_rated], table, replicates)


def _estimates(
    found: Patterns, n: int, clusters: Ints, table: Mapping[str, Coefficient], replicates: int
) -> dict[str, Estimate]:
    """Compute coefficients on `n` items, with their intervals."""
    drawn = _bootstrap_values(found, clusters, table, replicates)
    estimates = {}
    for name, coefficient in table.items():
        reason = _undefined_reason(name, found, n)
        value = math.nan if reason else float(coefficient(Sets(found, found.weights))[0])
        if math.isnan(value):
            estimates[name] = Estimate(None, None, None, n, reason or "one_category")
        else:
            estimates[name] = _with_interval(value, n, None if drawn is None else drawn[name])
    return estimates


def _with_interval(value: float, n: int, drawn: Floats | None) -> Estimate:
    """Return a value with the interval of its bootstrap samples: empty for none, None for items of one problem."""
    if drawn is None:
        return Estimate(value, None, None, n, "one_problem")
    defined = drawn[~np.isnan(drawn)]
    if 2 * len(defined) < len(drawn):
        return Estimate(value, None, None, n, "undefined_in_samples")
    if not len(drawn):
        return Estimate(value, None, None, n)
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, float(low), float(high), n)


def _undefined_reason(name: str, found: Patterns, n: int) -> str:
    """Return why the coefficient `name` is undefined for `n` items, a key of `REASONS`; empty if it can be computed."""
    if name in _BY_CHANCE_ALONE or name.startswith("share "):
        return ""
    if n < 2:
        return "too_few_items"
    if name in _CORRELATIONS and not both_vary(Sets(found, found.weights))[0]:
        return "constant_ratings"
    if name == "krippendorff_alpha_ratio":
        if len(found.values) > _MAX_RATIO_VALUES:
            return "too_many_values"
        if found.values[0] < 0:
            return "negative_values"
    return ""


def _bootstrap_values(
    found: Patterns, clusters: Ints, table: Mapping[str, Coefficient], replicates: int
) -> dict[str, Floats] | None:
    """Compute each coefficient of `table` in each bootstrap sample, problems drawn with all their items.

    Returns:
        float64[n_sample] by name, NaN where undefined; None if all items are of one problem.
    """
    _, clusters = np.unique(clusters, return_inverse=True)
    n_cluster = int(clusters.max()) + 1
    if n_cluster < 2:
        return None
    m = len(found.codes)
    replicates = min(replicates, max(_LEAST_REPLICATES, _WORK // m))
    blocks: dict[str, list[Floats]] = {name: [] for name in table}
    block = max(1, _BLOCK // m)
    # Problems and patterns that go together are counted once; then a sample is a sum over these counts.
    joined, place = np.unique(clusters * m + found.of_item, return_inverse=True)
    counts = np.bincount(place.reshape(-1), found.item_weights)
    of_cluster, of_pattern = joined // m, joined % m
    at = 0
    while at < replicates:
        size = min(block, replicates - at)
        weights = np.empty((size, m))
        for row in range(size):
            # The house's own counter-based generator: NumPy does not promise that its streams stay as they are.
            u = uniform(SEED, n_cluster, (at + row) * n_cluster)
            times = np.bincount((u * n_cluster).astype(np.int64), minlength=n_cluster)
            weights[row] = np.bincount(of_pattern, times[of_cluster] * counts, m)
        sets = Sets(found, weights)
        for name, coefficient in table.items():
            blocks[name].append(coefficient(sets))
        at += size
    return {name: np.concatenate(parts) if parts else np.empty(0) for name, parts in blocks.items()}


def estimate_shares(
    ratings: Floats, clusters: Ints, categories: Collection[float], *, weights: Floats | None, replicates: int
) -> tuple[Estimate, ...]:
    """Estimate the share of each category among the ratings of one rater, with intervals as of coefficients.

    Args:
        ratings: float64[n_item], NaN where there is none; such items do not count.
        clusters: int64[n_item], the problem of each item.
        categories: all ratings that can occur, ascending.
        weights: as in `estimate_coefficients`.
    """
    rated = ~np.isnan(ratings)
    n = int(rated.sum())
    if not n:
        return tuple(Estimate(None, None, None, 0, "no_items") for _ in categories)
    found = patterns(ratings[rated][:, None], categories, None if weights is None else weights[rated])

    def share_of(k: int) -> Coefficient:
        """Return the function that gives the share of category `k` in each set."""
        return lambda sets: quotient(sets.margins[0][:, k], sets.n)

    shares = {f"share {k}": share_of(k) for k in range(len(found.values))}
    return tuple(_estimates(found, n, clusters[rated], shares, replicates).values())


def numbered(names: Iterable[object]) -> Ints:
    """Number names from 0 in the order in which they come first: int64[n_name]."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def mean_estimate(
    values: Sequence[float] | Floats, clusters: Sequence[str] | Ints, *, replicates: int = REPLICATES
) -> Estimate:
    """Estimate a mean with its bootstrap interval, problems drawn with all their items; undefined without items.

    Args:
        values: of each item, none of them NaN.
        clusters: the problem of each item; the draws follow their order.
    """
    if not len(values):
        return Estimate(None, None, None, 0, "no_items")
    values = np.asarray(values, dtype=np.float64)
    _, places = np.unique(np.asarray(clusters), return_inverse=True)
    n_cluster = int(places.max()) + 1
    mean = float(values.mean())
    if n_cluster < 2:
        return _with_interval(mean, len(values), None)
    sums, sizes = np.bincount(places, values), np.bincount(places)
    drawn = np.empty(replicates)
    block = max(1, _BLOCK // n_cluster)
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        draws = uniform(SEED, size * n_cluster, start * n_cluster).reshape(size, n_cluster)
        picked = (draws * n_cluster).astype(np.int64)
        drawn[start : start + size] = sums[picked].sum(axis=1) / sizes[picked].sum(axis=1)
    return _with_interval(mean, len(values), drawn)

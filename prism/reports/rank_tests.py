"""Test whether two raters rank items alike only by chance: Kendall's tau_b = 0, by scipy and by permutations.

scipy (extra `report`) is loaded here alone: p-values from the normal and from the exact distribution are its. The
permutations that are sampled are drawn here, from the house's own generator, as NumPy does not promise its streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from prism.engine.rng import uniform
from prism.errors import PrismError, needs_extra
from prism.reports.agreement import SEED
from prism.reports.rating_sets import Floats, Ints, Sets, both_vary, patterns

_MAX_EXACT = 50  # items without ties whose permutations are counted exactly
_MAX_LISTED = 7  # items with ties whose permutations are all listed: 5,040
_MAX_SHUFFLED = 100  # items whose permutations are sampled; beyond them the normal distribution is good
_SHUFFLES = 9_999

NEEDS_SCIPY = needs_extra("the test of rank correlation needs", "report")


@dataclass(frozen=True, slots=True)
class RankTest:
    """P-values of the two-sided test of tau_b = 0, items taken as independent.

    Attributes:
        asymptotic: from the normal distribution, with the correction for ties (Kendall, Rank Correlation Methods,
            1970, chapter 4); None where it is undefined.
        permutation: from permutations of one rater's ratings; None beyond 100 items.
        method: of the permutations: `exact` (all of them), `monte_carlo` (a sample), or `none`.
        reason: why `asymptotic` is None, a key of `agreement.REASONS`; else empty.
    """

    asymptotic: float | None
    permutation: float | None
    method: str
    reason: str = ""


def kendall_test(ratings: Floats) -> RankTest:
    """Test whether Kendall's tau_b of two raters is 0, two-sided, by scipy and by permutations.

    Permutations: without ties those of at most 50 items are counted exactly (Kendall, Biometrika 30, 1938), with ties
    those of at most 7 are all listed; of up to 100 items 9,999 are drawn, with a fixed seed.

    Args:
        ratings: float64[n_item, 2], NaN where a rating is missing; such items do not count.

    Errors:
        PrismError: scipy is not installed.
    """
    complete = ratings[~np.isnan(ratings).any(axis=1)]
    n = len(complete)
    if n < 2:
        return RankTest(None, None, "none", "too_few_items" if n else "no_items")
    found = patterns(complete)
    if not both_vary(Sets(found, found.weights))[0]:
        return RankTest(None, None, "none", "constant_ratings")
    asymptotic = _scipy_p_value(complete, "asymptotic")
    ranks = [found.codes[:, rater][found.of_item] for rater in (0, 1)]
    has_ties = any(len(np.unique(each)) < n for each in ranks)
    if not has_ties and n <= _MAX_EXACT:
        return RankTest(asymptotic, _scipy_p_value(complete, "exact"), "exact")
    if n > _MAX_SHUFFLED:
        return RankTest(asymptotic, None, "none")
    is_listed = n <= _MAX_LISTED
    orders = (
        np.array(list(permutations(range(n))))
        if is_listed
        else np.argsort(uniform(SEED, _SHUFFLES * n).reshape(_SHUFFLES, n), axis=1, kind="stable")
    )
    up = np.sign(ranks[0][:, None] - ranks[0])
    observed = _permuted_concordance(up, ranks[1], np.arange(n)[None, :])[0]
    extreme = np.abs(_permuted_concordance(up, ranks[1], orders)) >= abs(observed)
    if is_listed:
        return RankTest(asymptotic, float(np.mean(extreme)), "exact")
    return RankTest(asymptotic, (1 + int(extreme.sum())) / (1 + _SHUFFLES), "monte_carlo")


def _permuted_concordance(up: Ints, codes: Ints, orders: Ints) -> Ints:
    """Return concordant less discordant pairs of items after each permutation of the second rater's ratings.

    Args:
        up: int64[n_item, n_item], signs of the differences of the first rater's ratings.
        codes: int64[n_item], ranks of the second rater's ratings.
        orders: int64[n_order, n_item], permutations of the items.

    Returns:
        int64[n_order].
    """
    scores = np.zeros(len(orders), dtype=np.int64)
    shuffled = codes.astype(np.int16)[orders]  # at most 100 items: small numbers are compared faster
    small = up.astype(np.int8)
    for i in range(1, len(up)):
        own, others = shuffled[:, i : i + 1], shuffled[:, :i]
        signs = (own > others).view(np.int8) - (own < others).view(np.int8)
        scores += (signs * small[i, :i]).sum(axis=1, dtype=np.int64)
    return scores


def _scipy_p_value(ratings: Floats, method: str) -> float:
    """Return scipy's two-sided p-value of the hypothesis that Kendall's tau_b of two raters is 0.

    Args:
        ratings: float64[n_item, 2], none of them NaN, neither column constant.
        method: `asymptotic`, or `exact` for ratings without ties.

    Errors:
        PrismError: scipy is not installed.
    """
    try:
        from scipy import stats
    except ImportError as error:
        raise PrismError(NEEDS_SCIPY) from error
    if len(ratings) == 2 and method == "asymptotic":  # scipy's variance with ties divides by n - 2
        return float(2 * stats.norm.sf(1.0))
    return float(stats.kendalltau(ratings[:, 0], ratings[:, 1], method=method).pvalue)

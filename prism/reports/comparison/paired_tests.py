"""Test whether two runs or two models differ only by chance: paired differences, problem by problem.

Rollouts of one problem are not independent, so the unit is the problem. The interval is a bootstrap that draws problems
with all their items. The p-value is that of the paired permutation test: if it does not matter which of the two a score
comes from, the signs of all differences of a problem may be turned round together, and p is the share of such turnings
whose mean is at least as far from 0 as the observed one, two-sided. Where at most 16 problems differ, all turnings are
counted, and p is exact; of more, 9,999 are drawn (of very many fewer) by the house's own generator with a fixed seed,
and the observed one counts among them, so that no p is 0.

Of many comparisons p is also adjusted by Holm's method, which holds the chance of one false alarm in the whole family
at the level that is read off, whatever the comparisons have to do with each other.

Sources: Fisher, The Design of Experiments (1935), section 21; Efron, Tibshirani, An Introduction to the Bootstrap
(1993), chapters 13 and 15; Phipson, Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010); Holm, Scand. J. Stat. 6 (1979).

Refused: the t test (scores are bounded, tied, and often 0 or 1); McNemar's test for final answers, since with one
rollout a problem this one is its exact form; scipy, which `prism compare` would then need.

Test whether two raters rank items alike only by chance: Kendall's tau_b = 0, by scipy and by permutations.

scipy (extra `report`) is loaded here alone: p-values from the normal and from the exact distribution are its. The
permutations that are sampled are drawn here, from the house's own generator, as NumPy does not promise its streams.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prism.engine.rng import uniform
from prism.errors import importing, needs_extra
from prism.problem.plain_values import named, plain
from prism.reports.agreement import REPLICATES, SEED, Estimate, mean_estimate
from prism.reports.rating_sets import Floats, Ints, Sets, both_vary, patterns

_MAX_EXACT = 50  # items without ties whose permutations are counted exactly
_MAX_ORDERED = 7  # items with ties whose permutations are all listed: 5,040
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
    is_listed = n <= _MAX_ORDERED
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
    with importing(NEEDS_SCIPY):
        from scipy import stats
    if len(ratings) == 2 and method == "asymptotic":  # scipy's variance with ties divides by n - 2
        return float(2 * stats.norm.sf(1.0))
    return float(stats.kendalltau(ratings[:, 0], ratings[:, 1], method=method).pvalue)


_MAX_LISTED = 16  # problems that differ, whose 65,536 turnings are all counted
_TURNINGS = 9_999  # that are drawn where more problems differ
_WORK = 1 << 26  # signs that are drawn in all: of more than 6,711 problems fewer turnings are drawn
_LEAST_TURNINGS = 999
_BLOCK = 1 << 20  # signs that are drawn at a time: 8 MB
_BITS = 32  # signs from one number of the generator
_SCALE = 10**9  # of differences as whole numbers, so that sums are exact and equal on every machine
DIGITS = 6  # in JSON


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences of the items of one comparison, second less first.

    Attributes:
        values: of each item, none of them NaN.
        problems: the problem of each item.
    """

    values: Sequence[float] | Floats
    problems: Sequence[str] | Ints


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A mean difference with its interval and its p-value.

    Attributes:
        difference: the mean over the items, with its bootstrap interval.
        n_problem: number of problems that the items are of.
        p: of the hypothesis that the two do not differ, two-sided; None where it is undefined.
        method: of the p-value: `exact` (all turnings of signs), `monte_carlo` (drawn ones), or `none`.
        holm: p adjusted by Holm's method over all comparisons that were tested together.
    """

    difference: Estimate
    n_problem: int = field(metadata=named("problems"))
    p: float | None
    method: str
    holm: float | None = field(default=None, metadata=named("p_holm"))

    def to_dict(self) -> dict[str, Any]:
        """Return the test as plain values for JSON, rounded to six decimals."""
        found: dict[str, Any] = plain(self, DIGITS)
        mean = found.pop("difference")
        return {"difference": mean.pop("value"), **mean, **found}


def paired_tests(compared: Sequence[Differences], *, replicates: int = REPLICATES) -> tuple[PairedTest, ...]:
    """Test each comparison, and adjust their p-values by Holm's method as one family.

    The result of a comparison, but for `holm`, does not depend on the others.

    Args:
        compared: one entry a comparison.
        replicates: bootstrap samples behind each interval; 0 for none.
    """
    sums = [_problem_sums(one) for one in compared]
    p_values: list[float | None] = [None] * len(compared)
    methods = ["none"] * len(compared)
    drawn: dict[int, list[int]] = defaultdict(list)
    for place, each in enumerate(sums):
        if len(each) < 2:
            continue
        if np.count_nonzero(each) <= _MAX_LISTED:
            p_values[place], methods[place] = _exact_p_value(each), "exact"
        else:
            drawn[len(each)].append(place)
    for places in drawn.values():
        for place, p in zip(places, _drawn_p_values(np.stack([sums[k] for k in places])), strict=True):
            p_values[place], methods[place] = p, "monte_carlo"
    tests = [
        PairedTest(mean_estimate(one.values, one.problems, replicates=replicates), len(each), p, method)
        for one, each, p, method in zip(compared, sums, p_values, methods, strict=True)
    ]
    return tuple(replace(one, holm=p) for one, p in zip(tests, holm_adjusted(p_values), strict=True))


def holm_adjusted(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values by Holm's step-down method; None stays None and is no member of the family.

    The k-th smallest of m, counted from 0, is multiplied by m - k, and is never less than those before it.

    >>> holm_adjusted([0.5, 0.25, None, 0.03125])
    (0.5, 0.5, None, 0.09375)
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for k, (p, place) in enumerate(known):
        least = max(least, min(1.0, (len(known) - k) * p))
        adjusted[place] = least
    return tuple(adjusted)


def _problem_sums(one: Differences) -> Ints:
    """Return the sum of the differences of each problem, in whole billionths: int64[n_problem]."""
    whole = np.rint(np.asarray(one.values, dtype=np.float64) * _SCALE).astype(np.int64)
    names, numbers = np.unique(np.asarray(one.problems), return_inverse=True)
    sums = np.zeros(len(names), dtype=np.int64)
    np.add.at(sums, numbers, whole)
    return sums


def _least_extreme(sums: Ints) -> int:
    """Return from what distance on a turned sum counts as far from 0 as the observed one: a rounding error less."""
    return int(abs(sums.sum())) - len(sums)


def _exact_p_value(sums: Ints) -> float:
    """Return the share of all turnings of signs whose sum is at least as far from 0 as that of `sums`.

    Args:
        sums: int64[n_problem], of which at most 16 are not 0; a difference of 0 has no sign, and changes no share.
    """
    turned = np.zeros(1, dtype=np.int64)
    for each in sums[sums != 0]:
        turned = np.concatenate((turned + each, turned - each))
    return float(np.mean(np.abs(turned) >= _least_extreme(sums)))


def _drawn_p_values(sums: Ints) -> list[float]:
    """Return the p-value of each comparison from drawn turnings, the same ones for all of them.

    Args:
        sums: int64[n_comparison, n_problem]; as floats their sums are exact up to nine million items.
    """
    n_problem = sums.shape[1]
    columns = sums.T.astype(np.float64)
    whole = columns.sum(axis=0)
    least = np.array([_least_extreme(each) for each in sums], dtype=np.float64)
    extreme = np.zeros(len(sums), dtype=np.int64)
    rows = max(1, _BLOCK // n_problem)
    n_turning = max(_LEAST_TURNINGS, min(_TURNINGS, _WORK // n_problem))
    for first in range(0, n_turning, rows):
        turned = _drawn_bits(min(rows, n_turning - first), n_problem, first).astype(np.float64)
        extreme += (np.abs(whole - 2 * (turned @ columns)) >= least).sum(axis=0)
    return [(1 + int(n)) / (1 + n_turning) for n in extreme]


def _drawn_bits(n: int, n_problem: int, first: int) -> NDArray[np.uint8]:
    """Return which signs each of `n` drawn turnings turns round, from the number `first` on: uint8[n, n_problem].

    Each number of the generator gives 32 of them, the highest bits, which are its best.
    """
    n_word = -(-n_problem // _BITS)
    words = (uniform(SEED, n * n_word, first * n_word) * 2.0**_BITS).astype("<u4")
    return np.unpackbits(words.view(np.uint8)).reshape(n, n_word * _BITS)[:, :n_problem]


# In words. ------------------------------------------------------------------------------------------------------


def p_text(p: float | None) -> str:
    """Write a p-value with three significant digits; `none` for None.

    >>> p_text(0.03125), p_text(1e-4), p_text(None)
    ('0.0312', '0.0001', 'none')
    """
    return "none" if p is None else f"{p:.3g}"


def interval_text(test: PairedTest) -> str:
    """Write the interval of a mean difference with signs: `-0.600 to +0.100`; why not, or `none`, without one."""
    low, high = test.difference.low, test.difference.high
    return test.difference.reason or "none" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def signed(value: float | None) -> str:
    """Write a difference with its sign and three decimals; `none` for None.

    >>> signed(0.25), signed(-0.0004), signed(None)
    ('+0.250', '0.000', 'none')
    """
    if value is None:
        return "none"
    shown = round(value, 3) + 0.0
    return f"{shown:+.3f}" if shown else "0.000"


def method_text(tests: Iterable[PairedTest]) -> str:
    """Name the test, and whether all permutations were counted or some were drawn; empty without p-values."""
    methods = {one.method for one in tests}
    words = {"exact": "exact", "monte_carlo": "drawn by a fixed seed"}
    found = " or ".join(text for method, text in words.items() if method in methods)
    return f"paired permutation test, {found}" if found else ""

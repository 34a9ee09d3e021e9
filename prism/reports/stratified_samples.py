"""A stratified random sample: how many of each stratum, which ones, and how one estimates from them.

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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prism.engine.rng import uniform
from prism.errors import PrismError
from prism.reports.rating_sets import Floats, Ints

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

"""A stratified sample: sizes, chances, weights, standard errors."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism.errors import PrismError
from prism.reports.rating_sets import allocate, draw, item_weights, standard_error

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=6)


@settings(max_examples=60)
@given(SIZES, st.data())
def test_a_sample_is_divided_whole(populations, data):
    n = data.draw(st.integers(len(populations), 60))
    factors = data.draw(st.lists(st.floats(0.1, 9), min_size=len(populations), max_size=len(populations)))
    sizes = allocate(populations, factors, n)
    assert sum(sizes) == min(n, sum(populations))
    assert all(1 <= size <= whole for size, whole in zip(sizes, populations, strict=True))
    if n >= 2 * len(populations):
        assert all(size >= min(2, whole) for size, whole in zip(sizes, populations, strict=True))


def variance(populations, factors, sizes):
    return sum((size * f) ** 2 / n for size, f, n in zip(populations, factors, sizes, strict=True))


@pytest.mark.parametrize("factors", [(1, 1, 1), (1, 3, 1), (5, 1, 2)])
def test_sizes_are_those_of_the_least_variance(factors):
    """Against all divisions of a small sample, each stratum with two or more."""
    populations = (30, 12, 9)
    every = [(a, b - a, 14 - b) for a, b in combinations(range(2, 13), 2) if b - a >= 2 and 2 <= 14 - b <= 9]
    best = min(variance(populations, factors, sizes) for sizes in every)
    found = allocate(populations, factors, 14)
    assert variance(populations, factors, found) == pytest.approx(best)


def test_a_stratum_without_an_item_is_refused():
    with pytest.raises(PrismError, match="a sample of 2 from 3 strata"):
        allocate([5, 5, 5], [1, 1, 1], 2)
    assert allocate([5, 5, 5], [1, 1, 1], 3) == [1, 1, 1]


@pytest.mark.slow
def test_every_item_of_a_stratum_has_the_same_chance():
    """Over 3,000 seeds each of 6 items is drawn 1,000 times of 2 in 6, and each pair 200 times, within 4 deviations."""
    strata = np.array([0] * 6 + [1] * 3)
    times, pairs = np.zeros(9), np.zeros((9, 9))
    for seed in range(3000):
        chosen = draw(strata, [2, 3], seed)
        assert sorted(chosen)[2:] == [6, 7, 8]
        times[chosen] += 1
        for a in chosen:
            pairs[a, chosen] += 1
    assert np.abs(times[:6] - 1000).max() < 4 * math.sqrt(1000 * 2 / 3)
    apart = pairs[:6, :6][~np.eye(6, dtype=bool)]
    assert np.abs(apart - 200).max() < 4 * math.sqrt(200 * 14 / 15)


def test_a_seed_draws_the_same_items_in_an_order_that_tells_nothing():
    strata = np.array([0] * 30 + [1] * 30)
    assert draw(strata, [10, 10], 7) == draw(strata, [10, 10], 7)
    assert draw(strata, [10, 10], 7) != draw(strata, [10, 10], 8)
    first = [sum(at < 30 for at in draw(strata, [10, 10], seed)[:10]) for seed in range(200)]
    assert 4.5 < np.mean(first) < 5.5  # of the first half of the sheet one half is of each stratum


def estimates(values, strata, sizes, populations, n_seed):
    for seed in range(n_seed):
        chosen = np.array(draw(strata, sizes, seed))
        weights = item_weights(strata[chosen], populations)
        mean = (weights * values[chosen]).sum() / weights.sum()
        yield mean, standard_error(values[chosen], strata[chosen], populations)


@pytest.mark.slow
def test_a_weighted_mean_is_unbiased_although_a_stratum_is_oversampled():
    chance = np.random.default_rng(3)
    populations = np.array([80, 12, 8])
    strata = np.repeat([0, 1, 2], populations)
    values = (chance.random(100) < np.repeat([0.1, 0.5, 0.9], populations)).astype(float)
    found = np.array(list(estimates(values, strata, [10, 9, 8], populations, 2000)))
    spread = found[:, 0].std()
    assert found[:, 0].mean() == pytest.approx(values.mean(), abs=4 * spread / math.sqrt(2000))
    assert math.sqrt((found[:, 1] ** 2).mean()) == pytest.approx(spread, rel=0.05)  # and its error is as large as told
    plain = [values[draw(strata, [10, 9, 8], seed)].mean() for seed in range(50)]
    assert np.mean(plain) > values.mean() + 10 * spread / math.sqrt(50)  # unweighted it is not


def test_cochrans_formula_by_hand():
    """Two strata: N = 10, 40; n = 2, 4; s^2 = 1/2, 1/4."""
    values = np.array([0.0, 1, 1, 1, 1, 0])
    strata = np.array([0, 0, 1, 1, 1, 1])
    expected = math.sqrt(0.2**2 * (1 - 2 / 10) * 0.5 / 2 + 0.8**2 * (1 - 4 / 40) * 0.25 / 4)
    assert standard_error(values, strata, np.array([10, 40])) == pytest.approx(expected)
    assert standard_error(values, strata, np.array([2, 4])) == 0  # all of it was drawn
    assert standard_error(values[1:], strata[1:], np.array([10, 40])) is None  # one of ten
    assert standard_error(values[1:], strata[1:], np.array([1, 40])) is not None  # one of one
    assert standard_error(values[:0], strata[:0], np.array([1, 40])) is None

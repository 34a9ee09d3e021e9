"""The paired tests beside scipy and statsmodels, and beside what must hold of any such test."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from prism.reports.agreement import mean_estimate
from prism.reports.comparison import paired_tests as paired
from prism.reports.comparison.paired_tests import Differences, holm_adjusted, paired_tests

SCORES = st.integers(-1_000_000, 1_000_000).map(lambda n: n / 1_000_000)


def differences(values: Any, problems: Any = None) -> Differences:
    found = np.array(values, dtype=np.float64)
    return Differences(found, np.arange(len(found)) if problems is None else np.array(problems, dtype=np.int64))


def outcome(values: Any, problems: Any = None) -> paired.PairedTest:
    return paired_tests([differences(values, problems)])[0]


@given(st.lists(SCORES, min_size=2, max_size=8))
def test_p_is_the_share_of_all_turnings(values: list[float]) -> None:
    """The slow twin: every turning, in whole millionths."""
    whole = [round(value * 10**6) for value in values]
    sums = [abs(sum(sign * value for sign, value in zip(signs, whole, strict=True)))
            for signs in product((1, -1), repeat=len(whole))]  # fmt: skip
    found = outcome(values)
    assert found.method == "exact"
    assert found.p == pytest.approx(float(np.mean([each >= abs(sum(whole)) for each in sums])))


def test_p_is_that_of_scipy() -> None:
    values = np.array([0.5, -0.25, 0.125, 0.75, 0.3, 0.0, -0.1, 0.62])
    twin = stats.permutation_test(
        (values, np.zeros(8)), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert outcome(values).p == pytest.approx(twin.pvalue)


@pytest.mark.parametrize(("gained", "lost"), [(5, 1), (0, 6), (7, 7), (9, 2)])
def test_of_final_answers_it_is_mcnemar_s_exact_test(gained: int, lost: int) -> None:
    values = [1.0] * gained + [-1.0] * lost + [0.0] * 20
    assert outcome(values).p == pytest.approx(stats.binomtest(gained, gained + lost).pvalue)


def test_drawn_turnings_come_near_the_exact_share(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.5, -0.25, 0.125, 0.75, 0.3, -0.1, 0.62, -0.4, 0.2, 0.05, -0.3, 0.15]
    exact = outcome(values)
    monkeypatch.setattr(paired, "_MAX_LISTED", 0)
    drawn = outcome(values)
    assert (exact.method, drawn.method) == ("exact", "monte_carlo")
    assert exact.p is not None
    assert drawn.p == pytest.approx(exact.p, abs=5 * (exact.p * (1 - exact.p) / 9_999) ** 0.5)
    assert drawn.p != exact.p


def test_drawn_turnings_are_the_same_in_any_company_and_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (differences(np.linspace(-0.2, high, 40)) for high in (0.3, 0.9))
    alone = paired_tests([first])[0]
    together = paired_tests([second, first])
    assert (together[1].p, together[1].difference) == (alone.p, alone.difference)
    monkeypatch.setattr(paired, "_BLOCK", 999)
    assert paired_tests([second, first]) == together


def test_no_drawn_p_is_zero() -> None:
    found = outcome([0.5] * 60)
    assert (found.method, found.p) == ("monte_carlo", 1e-4)


def test_items_of_one_problem_turn_together() -> None:
    """Ten rollouts of each of three problems are three units, not thirty."""
    many = outcome([0.5] * 30, np.repeat([0, 1, 2], 10))
    assert (many.p, many.n_problem, many.difference.n) == (0.25, 3, 30)
    assert outcome([0.5] * 3).p == 0.25


@given(st.lists(SCORES, min_size=2, max_size=12), st.randoms(use_true_random=False))
def test_neither_order_nor_direction_changes_p(values: list[float], chance: Any) -> None:
    shuffled = chance.sample(values, len(values))
    turned = outcome([-value for value in values])
    assert outcome(shuffled).p == outcome(values).p == turned.p


def test_sums_of_thirds_that_are_equal_are_ties() -> None:
    """2/3 + 2/3 + 0 and 2/3 - 2/3 + 4/3 are equal, though not in billionths."""
    thirds = [2, 2, 1, 1, -1, -1]
    sums = [abs(sum(sign * n for sign, n in zip(signs, thirds, strict=True))) for signs in product((1, -1), repeat=6)]
    assert outcome([n / 3 for n in thirds]).p == np.mean([each >= 4 for each in sums])


def test_what_has_no_test() -> None:
    one, none, equal = outcome([0.5, 0.2], [7, 7]), outcome([]), outcome([0.0, 0.0])
    assert (one.p, one.method, one.difference.reason) == (None, "none", "one_problem")
    assert (none.p, none.difference.reason, none.n_problem) == (None, "no_items", 0)
    assert (equal.p, equal.difference.low, equal.difference.high) == (1.0, 0.0, 0.0)


def test_the_interval_is_that_of_the_mean() -> None:
    values, problems = np.array([0.1, 0.2, -0.4, 0.3]), np.array([3, 3, 5, 9])
    assert paired_tests([Differences(values, problems)])[0].difference == mean_estimate(values, problems)
    assert paired_tests([Differences(values, problems)], replicates=0)[0].difference.low is None


@given(st.lists(st.integers(0, 1024).map(lambda n: n / 1024), min_size=1, max_size=12))
def test_holm_is_the_definition(values: list[float]) -> None:
    """A hypothesis is refused at its adjusted p, and not just below, by Holm's own procedure."""

    def refused(level: float) -> set[int]:
        out: set[int] = set()
        for k, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
            if (len(values) - k) * values[place] > level:
                break
            out.add(place)
        return out

    for place, p in enumerate(holm_adjusted(values)):
        assert p is not None
        assert p == 1.0 or place in refused(p)
        assert p == 0.0 or place not in refused(p * (1 - 1e-9))


def test_holm_leaves_out_what_has_no_p() -> None:
    assert holm_adjusted([None, 0.01, None, 0.04]) == (None, 0.02, None, 0.04)
    assert holm_adjusted([None]) == (None,)

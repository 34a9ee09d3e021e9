"""pass@k, pass^k and best-of-k against all draws of k rollouts, one by one."""

from __future__ import annotations

from itertools import combinations
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.reports.report_rows import row_frame
from prism.reports.run_figures import (
    OF_SAMPLES,
    best_of_k,
    pass_at_k,
    pass_power_k,
    sample_figures,
    sample_values,
    samples,
)
from prism.reports.summary import build_report
from tests.support.made_rows import made_row, write_rows


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=7), st.data())
def test_estimates_are_means_over_all_draws(rollouts, data):
    k = data.draw(st.integers(1, len(rollouts)))
    n, right = len(rollouts), sum(final for final, _ in rollouts)
    draws = list(combinations(rollouts, k))
    assert pass_at_k(n, right, k) == pytest.approx(mean(any(final for final, _ in draw) for draw in draws))
    assert pass_power_k(n, right, k) == pytest.approx(mean(all(final for final, _ in draw) for draw in draws))
    assert best_of_k([score for _, score in rollouts], k) == pytest.approx(
        mean(max(score for _, score in draw) for draw in draws), abs=1e-12
    )


def test_large_numbers_do_not_overflow():
    assert pass_at_k(5000, 1, 2500) == pytest.approx(0.5)
    assert best_of_k([0.0] * 2999 + [1.0], 1500) == pytest.approx(0.5)
    assert pass_at_k(200, 0, 100) == 0.0


@pytest.fixture
def rows(tmp_path):
    made = [
        *(made_row("p", str(k), k / 4, final=k == 3, model="a") for k in range(4)),
        *(made_row("q", str(k), 0.5, final=True, model="a") for k in range(2)),
        made_row("q", "dead", None, model="a"),
        made_row("p", "b", 1.0, final=True, model="b"),
    ]
    return build_report(write_rows(tmp_path / "rows.jsonl", made), replicates=20).rows


def test_problems_with_too_few_rollouts_are_left_out_and_counted(rows):
    found = {(one.model, one.k): one for one in sample_figures(row_frame(rows), replicates=0)}
    assert list(found) == [("a", 1), ("a", 2), ("a", 4), ("b", 1)]
    values = {key: [estimate.value for estimate in one.estimates] for key, one in found.items()}
    best = (1 * 0.25 + 2 * 0.5 + 3 * 0.75) / 6
    assert values["a", 1] == pytest.approx([(1 / 4 + 1) / 2, (1 / 4 + 1) / 2, (0.375 + 0.5) / 2])
    assert values["a", 2] == pytest.approx([(1 / 2 + 1) / 2, (0 + 1) / 2, (best + 0.5) / 2])
    assert values["a", 4] == pytest.approx([1.0, 0.0, 0.75])
    assert [(one.n_short, one.estimates[0].n) for one in found.values()] == [(0, 2), (0, 2), (1, 1), (0, 1)]
    assert found["a", 4].estimates[0].reason == "one_problem"
    assert set(found["a", 2].to_dict()) == {"model", "k", "left_out", *(f"{name}k" for name in OF_SAMPLES)}


def test_rollouts_of_two_models_are_no_samples_of_each_other(rows):
    found = sample_values("pass@", 1, samples(row_frame(rows)))
    assert sorted(zip(found["problem"], found["value"], strict=True)) == [("p", 0.25), ("p", 1.0), ("q", 1.0)]
    only_b = [row for row in rows if row.model == "b"]
    assert sample_figures(row_frame(only_b), replicates=0) == ()

"""What is charged follows what is done: calls of functions over operations, without the clock."""

import pytest

import prism
from benchmarks.robustness import calibration
from prism import budget

WIDE = "delta functions of a wide function"


def test_families_and_texts_grow_and_composites_are_drawn_by_the_seed():
    for grow in (*calibration.FAMILIES.values(), *calibration.TEXTS.values()):
        assert len(grow(4)) >= len(grow(1)) > 0
    assert all(name in {**calibration.FAMILIES, **calibration.TEXTS} for _, name, _ in calibration.SLICE)
    drawn = calibration.composites(3, 5)
    assert {name: grow(2) for name, grow in drawn.items()} == {
        name: grow(2) for name, grow in calibration.composites(3, 5).items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(("family", "n"), [("delta functions", 4), (WIDE, 16)])
def test_what_took_minutes_ends_within_the_account_of_a_pair(family: str, n: int):
    latex = calibration.FAMILIES[family](n)
    assert prism.equivalent(f"V = {latex}", f"2 V = 2 {latex}").cost <= budget.PAIR


def test_an_input_that_is_charged_too_little_is_a_finding():
    def timing(cpu: float, operations: int) -> calibration.Timing:
        return calibration.Timing("interpret", "sum", 1, 9, cpu, operations, "")

    even = [timing(0.1 * k, 10_000_000 * k) for k in (1, 2, 3)]
    assert calibration.summary(even, by_clock=True)["findings"] == []
    assert len(calibration.summary([*even, timing(0.6, 10_000_000)], by_clock=False)["findings"]) == 1
    assert len(calibration.summary([*even, timing(1.2, 120_000_000)], by_clock=True)["findings"]) == 1

"""The same verdicts whatever runs them: kernels, hash seed, order. On all pairs: a script of benchmarks/accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

if not (Path(__file__).resolve().parents[2] / "benchmarks").is_dir():
    pytest.skip("the scripts stand in the checkout only", allow_module_level=True)

from benchmarks.accuracy import same_everywhere  # noqa: E402


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    """Every configuration of the slice, on a sample of the rows of the cases."""
    asked = same_everywhere.questions(None)
    return same_everywhere.compare(
        {which.name: same_everywhere.decided(which, asked) for which in same_everywhere.SLICE_CONFIGURATIONS}
    )


def test_verdicts_do_not_depend_on_who_decides(result: dict[str, Any]) -> None:
    assert result["differ"] == []
    assert result["verdicts are equal"]


def test_nor_do_witnesses_and_costs(result: dict[str, Any]) -> None:
    assert result["witness or cost differs"] == {}


def test_the_sample_holds_all_outcomes(result: dict[str, Any]) -> None:
    """Else equal digests say little; and nothing raised."""
    assert set(result["statuses"]) == {"equivalent", "different", "undecided"}
    assert result["pairs"] == same_everywhere.SLICE


def test_a_difference_is_seen() -> None:
    """The digest is of the verdicts: one other reason, and it is another."""
    one: same_everywhere.Verdicts
    two: same_everywhere.Verdicts
    one = {"x": {"status": "different", "reason": "witness", "cost": 1}, "y": {"status": "equivalent", "reason": "a"}}
    two = {"y": {"status": "equivalent", "reason": "a"}, "x": {"status": "different", "reason": "witness", "cost": 2}}
    other = {**one, "y": {"status": "equivalent", "reason": "b"}}
    found = same_everywhere.compare({"one": one, "two": two, "other": other})
    assert found["verdicts"]["one"] == found["verdicts"]["two"] != found["verdicts"]["other"]
    assert [item["pair"] for item in found["differ"]] == ["y"]
    assert found["witness or cost differs"] == {"two": ["x"], "other": ["y"]}

"""A row of cells decided at once says what each pair says alone. On 100,000 pairs: a script of benchmarks/accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from prism.algebra.expr import Formula
from prism.equivalence.verdict import Status, Verdict
from prism.grading.references import ReferenceNode
from prism.physics.context import Context

if not (Path(__file__).resolve().parents[2] / "benchmarks").is_dir():
    pytest.skip("the scripts stand in the checkout only", allow_module_level=True)

from benchmarks.accuracy import row_twin

CASES = 40  # rows of the cases that are looked at here; `tests/test_cases.py` runs all, pair by pair


@pytest.fixture(scope="module")
def worlds() -> list[row_twin.World]:
    return [*row_twin.case_worlds(), *row_twin.problem_worlds()]


@pytest.fixture(scope="module")
def result(worlds: list[row_twin.World]) -> dict[str, Any]:
    return row_twin.compare(row_twin.generated_rows(worlds, seed=0), row_twin.SLICE)


@pytest.mark.slow
@pytest.mark.compiled
def test_rows_say_what_pairs_say(result: dict[str, Any]) -> None:
    assert result["first"] == []
    assert result["differ"] == 0
    assert result["pairs"] >= row_twin.SLICE


@pytest.mark.slow
@pytest.mark.compiled
def test_the_pairs_are_of_many_kinds(result: dict[str, Any]) -> None:
    """Else equal verdicts say little."""
    said = {verdict.split()[0] for verdict in result["verdicts"]}
    assert said >= {"equivalent", "different", "undecided"}
    assert len(result["verdicts"]) >= 10
    beside = {kind for pair in result["kinds"] for kind in pair.split(" beside ")}
    assert beside >= {"equation", "expression", "chain", "inequality"}


@pytest.mark.slow
@pytest.mark.compiled
def test_rows_of_the_cases_say_what_pairs_say(worlds: list[row_twin.World]) -> None:
    every = len(list(row_twin.rows_of_cases(worlds))) // CASES
    rows = islice(row_twin.rows_of_cases(worlds), None, None, every)
    assert row_twin.compare(rows, row_twin.PAIRS)["first"] == []


@pytest.mark.slow
def test_rows_are_the_same_for_a_seed(worlds: list[row_twin.World]) -> None:
    assert next(row_twin.generated_rows(worlds, seed=3)) == next(row_twin.generated_rows(worlds, seed=3))


def test_a_disagreement_is_seen(worlds: list[row_twin.World]) -> None:
    """One other reason in one cell of a row, and it is told with both formulas."""

    def wrong(
        context: Context, references: Sequence[ReferenceNode], claims: Sequence[Formula]
    ) -> list[list[Verdict | str]]:
        found = row_twin.decide_rows(context, references, claims)
        other = found[-1][-1]
        assert isinstance(other, Verdict)
        found[-1][-1] = replace(other, status=Status.UNDECIDED, reason="unsupported", detail="another")
        return found

    row = next(row_twin.generated_rows(worlds, seed=1))
    told = row_twin.compare([row], 1, wrong)
    assert told["differ"] == 1
    [fault] = told["first"]
    assert (fault["reference"], fault["claim"]) == (row.references[-1].formulas[0].latex, row.claims[-1].latex)

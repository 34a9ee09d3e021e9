"""The match matrix: each cell is decided once, and a failing engine is a status of a cell."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import prism
from prism.algebra.expr import traits_of
from prism.budget import forget
from prism.equivalence import matching
from prism.equivalence.verdict import Status, Verdict
from prism.grading import match_matrix
from prism.grading.claims.claim import Claim
from prism.grading.match_matrix import FAILED, CellTable, build_match_matrix, plain_pairs
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare

PROBLEM = "dags/free_fall.toml"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Any, ...]]:
    """How often the engine compared each pair of formulas, from an empty table on."""
    counted: Counter[tuple[Any, ...]] = Counter()
    match = matching.match_within_budget

    def counting(*pair: Any) -> Verdict:
        counted[pair[:2] + pair[3:]] += 1
        return match(*pair)

    monkeypatch.setattr(match_matrix, "match_within_budget", counting)
    return counted


@pytest.fixture
def prepared() -> PreparedProblem:
    return prepare(PROBLEM)


def test_every_cell_is_decided_once_for_a_solution(calls: Counter[tuple[Any, ...]], prepared: PreparedProblem) -> None:
    for student in prepared.problem.students:
        forget()
        calls.clear()
        grade(prepared, student.solution)
        assert set(calls.values()) == {1}


def test_claims_with_the_symbols_of_a_node_are_compared_with_it_first(prepared: PreparedProblem) -> None:
    claims = [Claim(prism.parse(latex)) for latex in ("a = b", "v + g t = 2 g t")]
    first, *_ = plain_pairs(prepared.task, claims)
    assert str(first[2]) == "v + g*t = 2*g*t"
    assert traits_of(first[1]).names == traits_of(first[2]).names


def test_a_failing_engine_is_a_status_of_the_cell(prepared: PreparedProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [Claim(prism.parse(latex)) for latex in ("v = g t", "a = g")]
    match = matching.match_within_budget

    def failing(wanted: Any, reading: Any, *more: Any) -> Verdict:
        if str(reading) == "a = g":
            raise ZeroDivisionError("made for this test")
        return match(wanted, reading, *more)

    monkeypatch.setattr(match_matrix, "match_within_budget", failing)
    pairs = list(plain_pairs(prepared.task, claims))
    cells = CellTable(prepared.task).decide(pairs)
    n = len(prepared.task.references)
    assert {cell.status for cell, pair in zip(cells, pairs, strict=True) if str(pair[2]) == "a = g"} == {FAILED}
    assert Status.EQUIVALENT in {cell.status for cell in cells}
    matrix = build_match_matrix(prepared.task, claims)
    assert matrix.matched
    assert not matrix.rows[1]
    assert {incident.detail for incident in matrix.incidents} == {"ZeroDivisionError: made for this test"}
    assert len(matrix.incidents) >= n

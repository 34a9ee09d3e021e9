"""Nodes that can be had without work, since they repeat the problem."""

from __future__ import annotations

from typing import Any

from prism.problem.answers.numbers import derive_expected_numbers
from prism.problem.given_nodes import GivenNode, find_given_nodes
from prism.problem.schema import load_problem


def nodes(*formulas: str, **keys: Any) -> dict[str, Any]:
    """A problem of these formulas, each resting on the one before it."""
    standard = [
        {"index": k, "formula": latex, "dependency": [k - 1] if k > 1 else [], "is_final_answer": k == len(formulas)}
        for k, latex in enumerate(formulas, start=1)
    ]
    return {"id": "p", "context": "", "grading_standard": standard, **keys}


def test_given_nodes_say_where_they_stand() -> None:
    problem = load_problem(
        nodes(
            "e = -v_f/v_i", "m = 2.00\\unit{kg}", r"\omega^2 = \frac{k}{m}", "h = v_f^2/(2g)",
            context="Speeds obey $e = -v_f/v_i$; the mass is $m$.", givens={"m": "2.00 kg"},
            definitions=[r"\omega = \sqrt{k/m}"],
        )
    )  # fmt: skip
    assert find_given_nodes(problem) == (
        GivenNode(1, "context", "e = -v_f/v_i"),
        GivenNode(2, "givens", "m = 2.00 kg"),
        GivenNode(3, "definitions", r"\omega = \sqrt{k/m}"),
    )
    assert find_given_nodes(problem, derive_expected_numbers(problem)) == find_given_nodes(problem)

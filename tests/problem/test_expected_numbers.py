"""How nodes ask for their numbers: figures, place, and the value that the nodes before them give."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import prism
from prism.problem.answers.numbers import derive_expected_numbers

COOLING: dict[str, Any] = {
    "id": "cooling",
    "context": "A body cools.",
    "givens": {"T_i": "90.0 degC", "T_a": "20.0 degC", "\\tau": "458 s", "t": "300 s"},
    "subquestions": [
        {"letter": "a", "subproblem": "Find $T$.", "final_answer_form": "numerical", "significant_figures": 3}
    ],
    "grading_standard": [
        {"index": 1, "formula": "T - T_a = (T_i - T_a)e^{-t/\\tau}", "dependency": []},
        {"index": 2, "formula": "T = 56.4\\unit{degC}", "dependency": [1], "is_final_answer": True},
    ],
}


def test_a_number_is_worked_out_from_the_node_before_it_though_that_is_not_solved_for_it() -> None:
    asked = derive_expected_numbers(prism.load_problem(COOLING)).specs[2]
    assert (asked.figures, asked.is_final, asked.n_before) == (3, True, 0)
    assert asked.recomputed is not None
    assert abs(asked.recomputed - Fraction("56.3602")) < Fraction(1, 1000)


def test_an_author_s_number_stands_where_the_nodes_say_otherwise() -> None:
    nodes = [COOLING["grading_standard"][0], {**COOLING["grading_standard"][1], "formula": "T = 70.0\\unit{degC}"}]
    wrong = {**COOLING, "grading_standard": nodes}
    assert derive_expected_numbers(prism.load_problem(wrong)).specs[2].recomputed is None


@pytest.mark.parametrize(
    ("claim", "matches"),
    [
        ("T = 56.4\\,^\\circ\\mathrm{C}", True),
        ("T = 329.5\\,\\mathrm{K}", True),
        ("T = 133.4\\,^\\circ\\mathrm{F}", True),
        ("T = 56\\,^\\circ\\mathrm{C}", True),
        ("T = 56.4\\,\\mathrm{K}", False),
        ("T = 333\\,\\mathrm{K}", False),  # 1 % of 56 degrees is 0.6 K, not 3 K
        ("T = 6\\times 10^1\\,^\\circ\\mathrm{C}", False),
        ("T = -56.4\\,^\\circ\\mathrm{C}", False),
        ("T = 20.0 + 70.0 e^{-300/458}", False),
    ],
)
def test_degrees_are_compared_in_degrees(claim: str, matches: bool) -> None:
    assert (2 in prism.grade(COOLING, f"So ${claim}$.").matched) == matches


def test_numbers_are_carried_on_unrounded() -> None:
    chain = {
        "id": "chain", "context": "", "givens": {"a": "1.4449 m"},
        "grading_standard": [
            {"index": 1, "formula": "b = a^2", "dependency": []},
            {"index": 2, "formula": "b = 2.09\\unit{m^2}", "dependency": [1]},
            {"index": 3, "formula": "c = b^2", "dependency": [2]},
            {"index": 4, "formula": "c = 4.37\\unit{m^4}", "dependency": [3], "is_final_answer": True},
        ],
    }  # fmt: skip
    asked = derive_expected_numbers(prism.load_problem(chain)).specs
    assert asked[4].recomputed is not None
    assert abs(float(asked[4].recomputed) - 1.4449**4) < 1e-9
    assert (asked[2].n_before, asked[4].n_before) == (0, 1)

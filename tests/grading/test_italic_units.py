r"""Letters behind a number that stay symbols are told, with how a unit is written (semantics U.4)."""

from __future__ import annotations

import prism


def problem(statement: str) -> prism.Problem:
    node = {"index": 1, "formula": r"F = 0.3\,\mathrm{N}", "dependency": [], "is_final_answer": True}
    return prism.load_problem({"id": "wall", "context": statement, "grading_standard": [node]})


def test_a_letter_that_stays_a_symbol_is_told() -> None:
    (said,) = prism.grade(problem("A block is pressed to the wall with the normal force $N$."), "$F = 0.3 N$").formulas
    assert said.status == "different"
    assert said.detail.startswith("read as symbols of the problem: N; a unit is written upright")


def test_no_hint_where_the_unit_would_not_fit() -> None:
    (said,) = prism.grade(problem("A block of mass $m$ slides."), "$F = 0.3 m$").formulas
    assert "upright" not in said.detail

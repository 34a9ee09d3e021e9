"""Values and needed values of the parts of a formula, by the engine."""

from __future__ import annotations

import numpy as np
import pytest

from prism.algebra.expr import number, symbol
from prism.diagnosis.required_values import (
    PointTable,
    common_value,
    distinct_parts,
    draw_table,
    evaluate_all,
    places_of,
    values_of,
)
from prism.engine.kernels import active_kernels
from prism.engine.zero_set import solve_for_operand
from prism.latex import parse
from prism.physics.context import Context


def ratios(reference: str, claim: str) -> dict[str, float | None]:
    """Needed value over value of each part of the claim at points of the reference."""
    held, changed = parse(reference), parse(claim)
    table = draw_table(held, changed, Context(), {})
    assert table is not None
    places = places_of(changed, table, distinct_parts(held))
    return {str(place.node): common_value(place.required / place.value) for place in places}


def test_every_part_has_the_value_it_would_need() -> None:
    found = ratios("2 E = m v^2", "E = m v^2")
    assert found["E"] == pytest.approx(2)
    assert found["m*v^2"] == pytest.approx(0.5)
    assert found["v"] == pytest.approx(0.5**0.5)


@pytest.mark.parametrize("text", ["y = e^{-x}", r"y = \sin x", r"x y = y^3 + x^2 y^2", r"y = \frac{x}{1 + e^x}"])
def test_a_formula_holds_at_its_points(text: str) -> None:
    found = [value for value in ratios(text, text).values() if value is not None]
    assert found == pytest.approx([1.0] * len(found), rel=1e-6)


def test_an_undefined_part_leaves_the_others_defined() -> None:
    f = parse(r"y = \sqrt{a - b} c + \ln(b) + (c + a)").members[1]
    columns = {"a": np.array([1.0, 3.0, 3.0]), "b": np.array([2.0, 2.0, -1.0]), "c": np.array([1.0, 1.0, 2.0])}
    values = evaluate_all(tuple(f.args), PointTable(columns, 3, ""))
    assert np.isnan(values).tolist() == [[True, False, False], [False, False, True], [False, False, False]]
    assert values[2].tolist() == [2.0, 4.0, 5.0]


def test_a_construct_that_is_not_evaluated_has_one_value_a_spelling() -> None:
    table = PointTable({"x": np.ones(4)}, 4, "")
    twice = parse(r"y = \nabla f + \nabla f").members[1]
    once = parse(r"y = \nabla f").members[1]
    assert values_of(twice, table) == pytest.approx(2 * values_of(once, table))


def test_an_operand_is_solved_for_by_the_engine() -> None:
    module = active_kernels()
    result = np.array([8.0, -8.0])
    assert solve_for_operand("pow", 0, result, np.array([3.0, 3.0]), module).tolist() == pytest.approx([2.0, -2.0])
    assert np.isnan(solve_for_operand("sqrt", 0, np.array([-1.0]), None, module)).all()
    assert solve_for_operand("sub", 1, result, np.array([1.0, 1.0]), module).tolist() == [-7.0, 9.0]


def test_fixed_values_are_not_drawn() -> None:
    table = draw_table(parse("F = m g"), parse("F = 9.81 m"), Context(), {"g": 9.81})
    assert table is not None
    assert values_of(symbol("g"), table).tolist() == [9.81] * table.n_point
    assert common_value(values_of(number(2), table)) == 2.0

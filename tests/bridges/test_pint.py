"""Quantities to pint and back."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pint
import pytest

import prism
from prism.algebra.expr import Expr, number
from prism.physics.quantities import parse_quantity
from prism.physics.tables import unit_table


@pytest.fixture(scope="module")
def registry() -> Any:
    return pint.UnitRegistry()


@pytest.mark.slow
def test_every_unit_of_the_table_goes_to_pint_and_comes_back(registry: Any) -> None:
    table = unit_table()
    names = [*table.exact, *table.prefixed, *table.words]
    assert len(names) > 1000
    wrong = []
    for name in names:
        ours = parse_quantity(Expr("mul", (number(1), Expr("unit", name=name))))
        assert ours is not None, name
        there = ours.to_pint(registry)
        if prism.from_pint(there) != ours or there.magnitude != ours.value:
            wrong.append(name)
    assert not wrong


@pytest.mark.parametrize(
    ("text", "there"), [("36 km/h", "36 km/h"), ("9.8 m/s^2", "9.8 m/s**2"), ("3 GeV", "3 GeV"), ("5 mmHg", "5 mmHg")]
)
def test_pint_means_the_same(registry: Any, text: str, there: str) -> None:
    ours, theirs = prism.read_quantity(text).to_pint(registry), registry.Quantity(there)
    assert float(ours.to(theirs.units).magnitude) == pytest.approx(theirs.magnitude, rel=1e-9)
    back = prism.from_pint(theirs)
    assert math.isclose(back.value, prism.read_quantity(text).value, rel_tol=1e-9)


def test_a_temperature_keeps_its_zero_and_a_difference_has_none(registry: Any) -> None:
    assert prism.from_pint(registry.Quantity(20, "degC")).value == Fraction(29315, 100)
    assert prism.from_pint(registry.Quantity(20, "delta_degC")).value == 20
    assert prism.read_quantity("20 degC").to_pint(registry).to("degC").magnitude == pytest.approx(20)


def test_broken_exponents_are_carried(registry: Any) -> None:
    ours = prism.Quantity(Fraction(3, 7), (Fraction(1, 2), *[Fraction(0)] * 6))
    assert prism.from_pint(ours.to_pint(registry)) == ours


@pytest.mark.parametrize(
    ("there", "construct"),
    [
        ((3, "revolution"), "unit turn"), ((3, "rpm"), "unit revolutions_per_minute"),
        ((1, "gauss"), "unit gauss"), ((4, "bit"), "unit bit"), ((math.nan, "m"), "magnitude"),
        (([1, 2], "m"), "magnitude"), ((1j, "m"), "magnitude"),
    ],
)  # fmt: skip
def test_what_prism_counts_otherwise_is_refused_by_name(registry: Any, there: tuple[Any, str], construct: str) -> None:
    with pytest.raises(prism.ConversionError) as caught:
        prism.from_pint(registry.Quantity(*there))
    assert caught.value.construct == construct


def test_only_a_quantity_of_pint_is_read() -> None:
    with pytest.raises(prism.ConversionError, match="type str"):
        prism.from_pint("3 m")

"""Exact arithmetic of templates: beside floating point as the twin, at ties, and where a value is undefined."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.algebra.expr import Expr
from prism.generation.exact_values import (
    as_fraction,
    compares,
    digits,
    evaluate,
    full_precision,
    in_si,
    in_unit,
    is_evaluated,
    read_digits,
    rounded,
)
from prism.latex import parse
from prism.physics.constants import leading_power
from prism.physics.units import find_unit, find_unit_product


def value_of(latex: str, **values: str) -> Any:
    (member,) = parse(latex).members
    return evaluate(member, {name: Fraction(text) for name, text in values.items()})


@pytest.mark.parametrize(
    ("latex", "twin"),
    [
        (r"\frac{a}{b} + a b - 2", lambda a, b: a / b + a * b - 2),
        (r"a^3 - b^{-2}", lambda a, b: a**3 - b**-2),
        (r"\sqrt{a b} + b^{3/2}", lambda a, b: math.sqrt(a * b) + b**1.5),
        (r"\sqrt[3]{a} - a^b", lambda a, b: a ** (1 / 3) - a**b),
        (r"e^{-a} \sin b + \cos(a b)", lambda a, b: math.exp(-a) * math.sin(b) + math.cos(a * b)),
        (r"\ln\frac{a}{b} + \log_{10} a", lambda a, b: math.log(a / b) + math.log10(a)),
        (r"\pi \arctan a + \arcsin\frac{1}{1 + b}", lambda a, b: math.pi * math.atan(a) + math.asin(1 / (1 + b))),
        (r"\tanh a - |b - a|", lambda a, b: math.tanh(a) - abs(b - a)),
    ],
)
@given(a=st.fractions(Fraction(1, 5), 9, max_denominator=1000), b=st.fractions(Fraction(1, 5), 9, max_denominator=1000))
def test_values_are_those_of_floating_point(latex: str, twin: Any, a: Fraction, b: Fraction) -> None:
    (member,) = parse(latex).members
    assert is_evaluated(member)
    with full_precision():
        found = float(as_fraction(evaluate(member, {"a": a, "b": b})))
    assert math.isclose(found, twin(float(a), float(b)), rel_tol=1e-11, abs_tol=1e-11)


def test_rational_values_stay_exact() -> None:
    with full_precision():
        assert value_of(r"\sqrt{\frac{a}{b}}", a="9", b="0.25") == 6
        assert value_of(r"(a^2)^{3/2} \cdot \frac{b}{3}", a="2", b="0.1") == Fraction(8, 30)


@pytest.mark.parametrize("latex", [r"\frac{a}{a - 2}", r"\sqrt{1 - a}", r"\ln(2 - a)", r"\arcsin a", "c a"])
def test_what_is_undefined_has_no_value(latex: str) -> None:
    with full_precision():
        assert value_of(latex, a="2") is None


@pytest.mark.parametrize(
    ("number", "figures", "text"),
    [
        ("4.905", 3, "4.90"), ("4.915", 3, "4.92"), ("125.5", 3, "126"), ("124.5", 3, "124"), ("99.96", 3, "100"),
        ("0.0012345", 3, "0.00123"), ("0.00001", 2, r"1.0\times 10^{-5}"), ("123456", 3, r"1.23\times 10^{5}"),
        ("-2.5", 1, "-2"), ("0", 3, "0"), ("9.999", 2, "10"), ("24", 3, "24.0"),
    ],
)  # fmt: skip
def test_digits_are_rounded_half_even(number: str, figures: int, text: str) -> None:
    assert digits(Fraction(number), figures) == text


def test_a_tie_of_a_value_with_bounds_is_a_tie() -> None:
    """4.905 by way of an irrational number: its ball holds both roundings."""
    with full_precision():
        value = value_of(r"\sqrt{a} \sqrt{a} \frac{4.905}{2}", a="2")
        assert not isinstance(value, Fraction)
        assert digits(value, 3) == "4.90"


@given(st.fractions(Fraction(1, 10**9), 10**9), st.integers(1, 9))
def test_rounding_changes_less_than_half_a_unit_of_the_last_place(value: Fraction, figures: int) -> None:
    step = Fraction(10) ** (leading_power(value) - figures + 1)
    assert abs(rounded(value, figures) - value) <= step / 2
    assert float(f"{float(value):e}".partition("e")[2]) in (leading_power(value), leading_power(value) + 1)


def test_units_go_there_and_back() -> None:
    with full_precision():
        for unit in (None, find_unit("km"), find_unit("degC"), find_unit("deg"), find_unit_product("kJ/(kg K)")):
            assert compares(in_unit(in_si(Fraction("12.5"), unit), unit), "=", Fraction("12.5"))
        assert in_si(Fraction(20), find_unit("degC")) == Fraction("293.15")


@pytest.mark.parametrize(
    ("left", "relation", "right", "holds"),
    [("1", "<", "1.2", True), ("1", "<", "1.05", False), ("1.2", ">", "1", True), ("1", ">", "1.2", False)],
)
def test_a_margin_is_a_share_of_the_larger_side(left: str, relation: str, right: str, holds: bool) -> None:
    assert compares(Fraction(left), relation, Fraction(right), Fraction(1, 10)) is holds


@pytest.mark.parametrize("text", ["", "x", "1_0", "nan", "inf", "1,5"])
def test_texts_that_are_no_numbers(text: str) -> None:
    assert read_digits(text) is None


def test_a_number_beyond_all_sizes_is_undefined() -> None:
    with full_precision():
        assert value_of("e^{10^{a}}", a="20") is None
        assert value_of("e^{-10^{a}}", a="20") is None
        assert value_of("e^{10^{a}}", a="2") is not None


def test_only_operators_that_have_a_value_are_evaluated() -> None:
    assert not is_evaluated(parse(r"\int_0^1 x dx").members[0])
    assert not is_evaluated(Expr("const", name="i"))

"""What is nested deep ends: derivatives, values at limits, powers and products of operators."""

from __future__ import annotations

import pytest

from prism import budget
from prism.algebra.calculus import MAX_NODES, evaluate_operations
from prism.algebra.expr import Expr, Formula, formula, number, symbol
from prism.algebra.noncommutative import operator_names, order_operator_products
from prism.latex import parse

BUDGET = 50_000_000  # operations in which each of these ends; without its limit, each would need more than 10^15


def _nested(opening: str, inner: str, closing: str, levels: int) -> Formula:
    """Return the formula of a text that is nested in itself."""
    return parse("V = " + opening * levels + inner + closing * levels)


def test_values_at_limits_in_values_at_limits_stay_short() -> None:
    body = symbol("x")
    for level in range(60):
        body = Expr("at", (body, number(0), symbol(f"y_{level}")), name="limits")
    with budget.share(BUDGET) as account:
        (value,) = evaluate_operations(formula((body,), ()), formula((body,), ()))[0].members
        assert value.depth > 30  # the outer ones are left as they are written
    assert not account.is_exhausted


@pytest.mark.parametrize(
    "latex", [r"\frac{d^4}{dx^4}\left(", r"\frac{d}{dx}\left(x \sin x ", r"\lim_{x \to 0} \left(x + "]
)
def test_operations_in_operations_stay_short(latex: str) -> None:
    nested = _nested(latex, r"\frac{x}{1 + \sin x}", r"\right)", 12)
    with budget.share(BUDGET) as account:
        evaluated = evaluate_operations(nested, nested)[0]
        assert max(member.size for member in evaluated.members) < 12 * MAX_NODES
    assert not account.is_exhausted


def test_a_power_of_powers_at_a_limit_is_not_worked_out() -> None:
    below = number(2)
    for _ in range(20):
        below = Expr("pow", (below, number(64)))
    limit = Expr("limit", (Expr("div", (symbol("x"), below)), symbol("x"), number(0)))
    assert evaluate_operations(formula((limit,), ()), formula((limit,), ()))[0].members == (limit,)


def test_a_derivative_of_a_long_product_is_left_as_it_is() -> None:
    product = Expr("mul", tuple(Expr("sin", (symbol("x"),)) for _ in range(1_000)))
    derivative = formula((Expr("derivative", (product, symbol("x")), name="1"),), ())
    assert evaluate_operations(derivative, derivative)[0] == derivative


@pytest.mark.parametrize(("opening", "inner", "closing"), [
    (r"\hat{p} \left(x + ", "y", r"\right)^6 \psi"), (r"\left(\hat{A} \hat{B} ", "x", r"\right)^6"),
    (r"[\hat{A}, ", r"\hat{B}", "]"), (r"\left(\hat{A} + 2^{", "x", r"}\right)^2"),
    (r"a + \left(b c ", "x", r"\right)^6"), (r"\operatorname{Tr}\left(\hat{A} \hat{B} ", r"\hat{C}", r"\right)"),
])  # fmt: skip
def test_products_of_operators_stay_short(opening: str, inner: str, closing: str) -> None:
    nested = _nested(opening, inner, closing, 14)
    with budget.share(BUDGET) as account:
        order_operator_products(nested, nested)
    assert not account.is_exhausted


@pytest.mark.parametrize(("shown", "operators"), [
    (r"V = P D P^{-1} Q R Q^{-1}", {"P", "D", "Q", "R"}), (r"V = P^{-1} D x P", {"P", "D", "x"}),
    (r"V = R^{T} M R", {"R", "T", "M"}), (r"V = e^{-i H t} A e^{i H t}", {"H", "A"}), (r"V = A B A", set()),
    (r"V = A B - B A", {"A", "B"}), (r"V = A B C - C A B", {"A", "B", "C"}), (r"V = a b + a b - b a", set()),
])  # fmt: skip
def test_letters_that_would_cancel_as_numbers_are_operators(shown: str, operators: set[str]) -> None:
    assert operator_names(parse(shown), parse(shown)) == operators

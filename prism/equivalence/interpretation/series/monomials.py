"""Products of numbers and powers: what a term of a series is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import Expr, number, symbol
from prism.algebra.symbols import symbol_of
from prism.algebra.terms import number_of
from prism.equivalence.interpretation.integrals.kinks import DELTAS

NTH = "nth "
"""Begins the name of a derivative at a place: `nth f`, of a place and an order."""
_MOST_FACTORIAL = 40


@dataclass(frozen=True, slots=True)
class Monomial:
    """A number times powers.

    Attributes:
        coefficient: the number.
        powers: exponents by base.
    """

    coefficient: Fraction
    powers: dict[Expr, Fraction]


def monomial_of(node: Expr) -> Monomial | None:
    """Return a term as a number times powers; None if it is a sum, or has an exponent that is no number."""
    if node.value is not None:
        return Monomial(node.value, {})
    if node.op == "neg":
        inner = monomial_of(node.args[0])
        return None if inner is None else Monomial(-inner.coefficient, inner.powers)
    if node.op == "factorial" and (value := node.args[0].value) is not None:
        is_whole = value.denominator == 1 and 0 <= value <= _MOST_FACTORIAL
        return Monomial(Fraction(math.factorial(int(value))), {}) if is_whole else None
    if node.op in ("mul", "div"):
        return _of_factors([monomial_of(arg) for arg in node.args], is_quotient=node.op == "div")
    if node.op == "pow":
        return _of_power(node)
    if node.op in ("add", "sub", "dots", "sum", "pm"):
        return None
    return Monomial(Fraction(1), {node: Fraction(1)})


def is_derivative(node: Expr) -> bool:
    """Return True for a derivative of a function at a place, of any order."""
    return node.op == "at" and node.name.startswith(NTH)


def derivative_at_point(node: Expr) -> Expr | None:
    r"""Return `f^{(n)}(a)`, or d^n f/dx^n at x = a, as the derivative of an order at a place; None for another node.

    None too for d^n f/dt^n at x = a: x is not the variable of that derivative.
    """
    read = symbol_of(node.name)
    order = read.sup[1:-1] if read.sup == f"({read.sup[1:-1]})" else ""
    if node.op == "apply" and len(node.args) == 1 and read.is_light and order.isalnum():
        if read.base == DELTAS[0]:
            return None  # a delta function of several dimensions
        return Expr("at", (node.args[0], number(int(order)) if order.isdigit() else symbol(order)), NTH + read.base)
    if node.op != "at" or node.name != "point" or len(node.args) != 3 or node.args[0].op != "derivative":
        return None
    inner, variable, place = node.args
    if inner.args[0].op != "sym" or inner.args[1:] != (variable,) or not inner.name.isalnum():
        return None
    order = inner.name
    return Expr("at", (place, number(int(order)) if order.isdigit() else symbol(order)), NTH + inner.args[0].name)


def _of_factors(parts: list[Monomial | None], *, is_quotient: bool) -> Monomial | None:
    """Return the product of factors, or the quotient of the first by the second.

    None where a factor is no monomial, or a divisor is 0.
    """
    coefficient, powers = Fraction(1), dict[Expr, Fraction]()
    for k, part in enumerate(parts):
        if part is None:
            return None
        sign = -1 if is_quotient and k else 1
        if sign < 0 and not part.coefficient:
            return None
        coefficient *= part.coefficient**sign
        for base, exponent in part.powers.items():
            powers[base] = powers.get(base, Fraction(0)) + sign * exponent
    return Monomial(coefficient, powers)


def _of_power(node: Expr) -> Monomial | None:
    """Return a power with an exponent that is a number; None for another exponent.

    None also for a root of a coefficient other than 1.
    """
    base, exponent = monomial_of(node.args[0]), node.args[1]
    value = number_of(exponent)
    if base is None or value is None:
        return None
    if value.denominator != 1 or abs(value) > _MOST_FACTORIAL or not base.coefficient:
        if base.coefficient != 1:
            return None
        return Monomial(Fraction(1), {each: power * value for each, power in base.powers.items()})
    return Monomial(base.coefficient ** int(value), {each: power * value for each, power in base.powers.items()})

r"""Integrals of `x^n e^{-bx}` from 0 to infinity in closed form, also with waves: `\int_0^\infty xe^{-x/a}\sin qx\,dx`.

Quadrature is too inaccurate for them where many waves pass before the exponential has fallen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

from flint import acb

from prism.algebra.expr import Expr, number, symbols
from prism.algebra.terms import number_of
from prism.equivalence.interpretation import functions as named
from prism.equivalence.interpretation.integrals.exponential_terms import parts_of
from prism.equivalence.interpretation.integrals.gaussian import degree_in
from prism.equivalence.interpretation.values import Scalar, plain

_MOST_POWER = 24
_ONE = number(1)


@dataclass(frozen=True, slots=True)
class Fall:
    """A term `c x^n e^{sx + t}` of an integrand.

    Attributes:
        coefficient: c, without the variable.
        power: n, at least 0.
        exponent: `sx + t`.
    """

    coefficient: Expr
    power: int
    exponent: Expr


def falls_in(integrand: Expr, name: str) -> list[Fall] | None:
    """Return the terms of a product of powers, waves and exponentials of a letter; None for another integrand."""
    terms = [_fall(part, name) for part in parts_of(integrand, name)]
    known = [term for term in terms if term is not None]
    return known if len(known) == len(terms) else None


def _fall(part: Expr, name: str) -> Fall | None:
    """Return a product as a term; None if a factor is no power or exponential of the variable."""
    coefficient, exponents, power = [], [], 0
    waiting = [part]
    while waiting:
        factor = waiting.pop()
        if name not in symbols(factor):
            coefficient.append(factor)
        elif factor.op == "mul":
            waiting += factor.args
        elif factor.op == "neg":
            coefficient.append(number(-1))
            waiting += factor.args
        elif factor.op == "div" and name not in symbols(factor.args[1]):
            coefficient.append(Expr("div", (_ONE, factor.args[1])))
            waiting.append(factor.args[0])
        elif factor.op == "exp" and degree_in(factor.args[0], name) == 1:
            exponents.append(factor.args[0])
        elif factor.op == "sym":
            power += 1
        elif factor.op == "pow" and factor.args[0].op == "sym" and 0 < (number_of(factor.args[1]) or 0) <= _MOST_POWER:
            power += int(number_of(factor.args[1]) or 0)
        else:
            return None
    if not exponents or power > _MOST_POWER:
        return None
    exponent = exponents[0] if len(exponents) == 1 else Expr("add", tuple(exponents))
    return Fall(Expr("mul", (_ONE, *coefficient)), power, exponent)


def on_half_line(falls: list[Fall], function: Callable[[Expr], Callable[[Scalar], Scalar]]) -> Scalar | None:
    """Return the integral of a sum of terms from 0 to infinity; None if one does not fall."""
    total: Scalar = acb(0)
    for fall in falls:
        exponent = function(fall.exponent)
        start = exponent(acb(0))
        slope = exponent(acb(1)) - start
        if not plain(slope).real < 0:
            return None
        term = function(fall.coefficient)(acb(0)) * named.call("exp", start) * acb(factorial(fall.power))
        for _ in range(fall.power + 1):
            term = term / (acb(0) - slope)
        total = total + term
    return total

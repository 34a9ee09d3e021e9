r"""Integrals of `e^{-ax^2 + bx + c}` over all x in closed form, also of a phase: `e^{ikx - i\hbar k^2t/2m}`."""

from __future__ import annotations

from collections.abc import Callable

from flint import acb

from prism.algebra.expr import Expr, symbols
from prism.algebra.terms import number_of
from prism.equivalence.interpretation import functions as named
from prism.equivalence.interpretation.values import Scalar, Unvalued, plain

_MOST_FACTORS = 6
_REAL = 1e-30  # relative size of a real part that is none


def exponent_in(integrand: Expr, name: str) -> Expr | None:
    """Return the exponent of an integrand that is an exponential of a polynomial of degree 2; None for another one."""
    factors = integrand.args if integrand.op == "mul" else (integrand,)
    if len(factors) > _MOST_FACTORS or any(factor.op != "exp" for factor in factors):
        return None
    exponent = factors[0].args[0] if len(factors) == 1 else Expr("add", tuple(factor.args[0] for factor in factors))
    return exponent if degree_in(exponent, name) == 2 else None


def degree_in(node: Expr, name: str) -> int:
    """Return the degree of a polynomial in a letter; a large number for what is no polynomial."""
    if name not in symbols(node):
        return 0
    degrees = [degree_in(arg, name) for arg in node.args]
    match node.op:
        case "sym":
            return 1
        case "add" | "sub" | "neg":
            return max(degrees)
        case "mul":
            return sum(degrees)
        case "div" if not degrees[1]:
            return degrees[0]
        case "pow" if number_of(node.args[1]) == 2:
            return 2 * degrees[0]
        case _:
            return 99


def over_line(exponent: Callable[[Scalar], Scalar]) -> Scalar:
    """Return the integral of an exponential over all x.

    Args:
        exponent: a polynomial of degree 2.

    Errors:
        Unvalued: the integral diverges.
    """
    middle, right, left = (exponent(acb(x)) for x in (0, 1, -1))
    half = acb(1) / acb(2)
    a = middle - (right + left) * half
    b = (right - left) * half
    steep, slant = plain(a), plain(b)
    size = float(steep.mid().abs_upper())
    falls = float(steep.real.mid())
    is_phase = abs(falls) <= _REAL * size
    if not size or steep.contains(0) or (falls < 0 and not is_phase):
        raise Unvalued("an integral that diverges")
    if is_phase and abs(float(slant.real.mid())) > _REAL * (size + float(slant.mid().abs_upper())):
        raise Unvalued("an integral that diverges")
    return named.call("sqrt", acb.pi() / a) * named.call("exp", b * b / (acb(4) * a) + middle)

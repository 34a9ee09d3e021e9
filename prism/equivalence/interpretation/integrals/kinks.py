r"""Integrands with kinks, steps and delta functions: where their arguments are 0, an integral is split or sifted.

`\int f(x)\,\delta(g(x))\,dx` is the sum of `f/|g'|` over the zeros of g between the limits. All zeros of
a polynomial are found; those of another function are looked for between sampled points, so that an argument that only
touches 0 counts as none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flint import acb, acb_mat, acb_poly

from prism.algebra.expr import Expr, walk
from prism.budget import charge_steps
from prism.equivalence.interpretation.integrals.quadrature import plain_size
from prism.equivalence.interpretation.names import STEPS
from prism.equivalence.interpretation.values import Dual, Scalar, Unvalued, plain, real_number, slope_of

DELTAS = (r"\delta", r"\delta'", r"\delta''")
POINT_SOURCE = r"\delta^{(3)}"  # a delta function of three dimensions, which has no value
"""Names of the delta function and its derivatives, by order."""

_SAMPLES = 48  # points between which a zero is looked for
_FAR = 40.0  # beyond it on an infinite line no zero is looked for
_NEARER, _NEAR = 0.35, 9  # how much closer each of the points is that are near the limits and near 0
_HALVINGS, _SECANTS, _NEWTON = 20, 12, 8
_DEGREE = 4  # of polynomials whose zeros are all found
_SHARES = (0.03, 0.17, 0.29, 0.41, 0.53, 0.71, 0.86, 0.97)  # of a width, at which a polynomial is looked at
_POLYNOMIAL = 60  # steps charged for the polynomial through these points
_SAME = 1e-30  # relative: what is less is rounding
_APART = 1e-24  # relative: how far from a kink a part of an integral begins

Function = Callable[[Scalar], Scalar]


def kinked_arguments(integrand: Expr) -> Iterator[Expr]:
    """Yield the expressions at whose zeros an integrand has a kink or a step.

    Errors:
        Unvalued: a construct with kinks that are not found so, as a floor.
    """
    squared = {node.args[0] for node in walk(integrand) if node.op == "pow" and node.args[1].value == 2}
    for node in walk(integrand):
        is_step = node.op == "apply" and node.name in STEPS and len(node.args) == 1
        if is_step or (node.op == "abs" and node not in squared):
            yield node.args[0]
        elif node.op == "apply" and node.name in ("max", "min") and len(node.args) == 2:
            yield Expr("sub", node.args)
        elif node.op == "relation" and len(node.args) > 1:
            for left, right in zip(node.args, node.args[1:], strict=False):
                yield Expr("sub", (left, right))
        elif node.op in ("floor", "ceiling", "modulo") or (node.op == "apply" and node.name in ("max", "min")):
            raise Unvalued("an integrand with a kink")


def has_delta(node: Expr) -> bool:
    """Return True if an expression has a delta function that no integral around it sifts."""
    if node.op == "apply" and node.name in DELTAS:
        return True
    return node.op != "integral" and any(has_delta(arg) for arg in node.args)


def sifted(rest: Function, inner: Function, order: int, low: float, high: float, new_tag: Callable[[], int]) -> Scalar:
    """Return the integral of a function times a delta function, or a derivative of one.

    Raises Unvalued for a peak at a limit, and for an argument whose zeros are not simple.

    Args:
        rest: the other factors of the integrand.
        inner: the argument of the delta function.
        order: of the derivative.
        low, high: limits.
        new_tag: see `Evaluator.new_tag`.
    """
    total: Scalar = acb(0)
    for zero in zeros(inner, low, high, is_strict=True):
        if any(abs(zero.real - acb(limit).real) < 1e-9 for limit in (low, high) if math.isfinite(limit)):
            raise Unvalued("a delta function at a limit")
        size = real_number(_slope(inner, zero, new_tag))
        if not size:
            raise Unvalued("a delta function of this argument")
        total = total + acb(math.copysign(1, size)) * _by_parts(rest, inner, order, new_tag)(zero)
    return total


def _by_parts(rest: Function, inner: Function, order: int, new_tag: Callable[[], int]) -> Function:
    """Return what a delta function of an order leaves of a function at its zero: `(-d/dg)^n` of it over the slope."""
    part = rest if not order else _by_parts(rest, inner, order - 1, new_tag)

    def at(place: Scalar) -> Scalar:
        """Return the value at a place."""
        above = -_slope(part, place, new_tag) if order else rest(place)
        return above / _slope(inner, place, new_tag)

    return at


def _slope(function: Function, place: Scalar, new_tag: Callable[[], int]) -> Scalar:
    """Return the derivative of a function at a place."""
    tag = new_tag()
    return slope_of(function(Dual(place, acb(1), tag)), tag)


def zeros(function: Function, low: float, high: float, *, is_strict: bool = False) -> list[acb]:
    """Return the zeros of a real function between two limits, in order.

    Those of a polynomial are all found. Of another function only zeros at samples and changes of sign between samples
    are found, which lie within _FAR: it may miss two zeros near each other, and one where the function only touches 0.

    Args:
        function: real between the limits, or Unvalued is raised.
        low, high: limits.
        is_strict: raise Unvalued too for a polynomial that touches 0.
    """
    if (found := _zeros_of_polynomial(function, low, high, is_strict=is_strict)) is not None:
        return found
    places = _samples(low, high)
    values = [_real(function, place) for place in places]
    found = []
    for (x, fx), (y, fy) in zip(
        zip(places, values, strict=True), zip(places[1:], values[1:], strict=True), strict=False
    ):
        if fx == 0:
            found.append(acb(x))
        elif fx * fy < 0:
            found.append(_zero_between(function, x, y, fx))
    return found


def _samples(low: float, high: float) -> list[float]:
    """Return the points between two limits where the sign of a function is looked at, in order."""
    one, two = max(low, -_FAR), min(high, _FAR)
    width = two - one
    steps = [one + width * (k + 0.37) / (_SAMPLES + 1) for k in range(_SAMPLES + 1)]
    near = [width * _NEARER**k / _SAMPLES for k in range(1, _NEAR + 1)]
    ends = [*(one + step for step in near), *(two - step for step in near)]
    return sorted({*steps, *ends, *(sign * step for step in near for sign in (1, -1) if one < sign * step < two)})


def _zeros_of_polynomial(function: Function, low: float, high: float, *, is_strict: bool) -> list[acb] | None:
    """Return the zeros of a polynomial of a low degree between two limits, in order; None for another function."""
    charge_steps(_POLYNOMIAL)
    start = low if math.isfinite(low) else min(high, 0.0) - 1.0
    width = (high if math.isfinite(high) else start + 2.0) - start
    places = [start + width * share for share in _SHARES]
    found = [function(acb(place)) for place in places]
    if width <= 0 or any(isinstance(value, Dual) for value in found):
        return None
    values = [plain(value) for value in found]
    basis = [acb(place) for place in places]
    coefficients = acb_mat([[x**k for k in range(_DEGREE + 1)] for x in basis[: _DEGREE + 1]]).solve(
        acb_mat([[value] for value in values[: _DEGREE + 1]])
    )
    weights = [acb(coefficients[k, 0].mid()) for k in range(_DEGREE + 1)]
    far = [x for x in (start + 30.0 * width, start - 30.0 * width) if low <= x <= high]
    for x, value in (*zip(basis, values, strict=True), *((acb(x), plain(function(acb(x)))) for x in far)):
        terms = [weight * x**k for k, weight in enumerate(weights)]
        if plain_size(sum(terms, acb(0)) - value) > _SAME * (1e-30 + sum(map(plain_size, terms))):
            return None
    largest = max(map(plain_size, weights))
    while weights and plain_size(weights[-1]) <= _SAME * largest:
        weights.pop()
    if len(weights) < 2:
        return None
    try:
        roots = acb_poly(weights).roots()
    except ValueError:
        return None if not is_strict else _touched()
    real = [_polished(weights, acb(root.real.mid())) for root in roots if root.imag.contains(0)]
    return sorted((x for x in real if low <= float(x.real.mid()) <= high), key=lambda x: float(x.real.mid()))


def _touched() -> list[acb]:
    """Raise Unvalued: a delta function of what touches 0 has no value."""
    raise Unvalued("a zero that is not crossed")


def _polished(weights: list[acb], x: acb) -> acb:
    """Return a zero of a polynomial to full precision, by the method of Newton."""
    polynomial = acb_poly(weights)
    slope = polynomial.derivative()
    for _ in range(_NEWTON):
        x = acb((x - polynomial(x) / slope(x)).real.mid())
    return x


def _real(function: Function, place: float) -> float:
    """Return the value of a real function without infinitesimals; raises Unvalued if it has some."""
    found = function(acb(place))
    if isinstance(found, Dual):
        raise Unvalued("a kink that moves with a variable")
    return real_number(plain(found))


def _zero_between(function: Function, x: float, y: float, fx: float) -> acb:
    """Return the zero between two points of unlike sign: by halving, then by the secant method."""
    for _ in range(_HALVINGS):
        middle = (x + y) / 2
        value = _real(function, middle)
        x, y = (middle, y) if value * fx > 0 else (x, middle)
    one, two = acb(x), acb(y)
    first, second = plain(function(one)), plain(function(two))
    for _ in range(_SECANTS):
        difference = second - first
        if difference.contains(0):
            break
        one, two = two, (two - second * (two - one) / difference).mid()
        first, second = second, plain(function(two))
    return acb(two.real.mid())


def pieces(kinks: list[acb], low: Scalar | None, high: Scalar | None) -> Iterator[tuple[Scalar | None, Scalar | None]]:
    """Yield the intervals between kinks, each a little inside of them.

    Args:
        kinks: in order.
        low, high: limits of the integral; None at infinity.
    """
    start = low
    for kink in kinks:
        apart = acb(_APART) * (acb(1) + acb(abs(kink.real)))
        yield start, kink - apart
        start = kink + apart
    yield start, high

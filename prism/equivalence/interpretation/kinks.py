r"""Integrands with kinks, steps and delta functions: where their arguments are 0, an integral is split or sifted.

`\int f(x)\,\delta(g(x))\,dx` is the sum of `f/|g'|` over the zeros of g between the limits. Zeros are looked for
between sampled points, so that an argument that only touches 0 counts as none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from flint import acb

from prism.algebra.expr import Expr, walk
from prism.equivalence.interpretation.names import STEPS
from prism.equivalence.interpretation.values import Dual, Scalar, Unvalued, plain, real_number, slope_of

DELTAS = (r"\delta", r"\delta'", r"\delta''")
"""Names of the delta function and its derivatives, by order."""

_SAMPLES = 48  # points between which a zero is looked for
_FAR = 40.0  # beyond it on an infinite line no zero is looked for
_HALVINGS, _SECANTS = 20, 12
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

    Args:
        rest: the other factors of the integrand.
        inner: the argument of the delta function; with an order above 0 its slope has to be 1 or -1.
        order: of the derivative.
        low, high: limits.
        new_tag: see `Evaluator.new_tag`.
    """
    total: Scalar = acb(0)
    for zero in zeros(inner, low, high):
        if any(abs(zero.real - acb(limit).real) < 1e-9 for limit in (low, high) if math.isfinite(limit)):
            raise Unvalued("a delta function at a limit")
        slope = _slope(inner, zero, new_tag)
        size = real_number(slope)
        if not size or (order and abs(abs(size) - 1) > 1e-12):
            raise Unvalued("a delta function of this argument")
        part = rest(zero)
        for _ in range(order):
            part = -_slope(rest, zero, new_tag) * acb(math.copysign(1, size))
        total = total + part / (slope if size > 0 else -slope)
    return total


def _slope(function: Function, place: Scalar, new_tag: Callable[[], int]) -> Scalar:
    """Return the derivative of a function at a place."""
    tag = new_tag()
    return slope_of(function(Dual(place, acb(1), tag)), tag)


def zeros(function: Function, low: float, high: float) -> list[acb]:
    """Return the zeros of a real function between two limits, in order; Unvalued if it is not real there."""
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
    return [one + (two - one) * (k + 0.37) / (_SAMPLES + 1) for k in range(_SAMPLES + 1)]


def _real(function: Function, place: float) -> float:
    """Return the value of a real function without infinitesimals."""
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

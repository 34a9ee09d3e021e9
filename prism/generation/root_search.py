r"""Find the roots of an equation in one unknown, and prove that there are no others where it is looked.

The last resort where an equation has no closed solution: a cubic, `x e^x = c`, Kepler's `M = E - e \sin E`. An interval
has no root where the enclosure of the residual leaves 0 out; it has one or none where the slope's leaves 0 out, which
the signs at its ends decide. Any other is split. A root is then narrowed by interval Newton steps to some seventy
digits. Nothing is guessed: what the bounded work leaves open is told as open.

A pole is no root: where a divisor may be 0, the residual without its divisors is looked at.

Refused: to choose between several roots by a condition of the template. A physicist would name the reason; a template
declares the `domain` of the symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.algebra.calculus import KnownVariation, NotEvaluated, derivative
from prism.algebra.expr import Expr, number, substitute, symbol, symbols, walk
from prism.generation.enclosures import UNKNOWN, Enclosing, Span, enclosing, span_of
from prism.generation.exact_values import Value

Interval = tuple[Fraction, Fraction]

_ODD = Fraction(107971, 131072)  # in ends of intervals, so that no root that an author writes falls upon one
_LEAST, _MOST = _ODD / 2**128, _ODD * 2**128  # sizes that are looked at [SI]: about 2e-39 to 3e38
_HALF_TURN = Fraction("3.14159265358979323846264338")  # of an angle, rounded down
_MAX_INTERVALS = 1500  # that are looked at for one equation
_MAX_FOUND = 6  # roots; with more of them no further ones are looked for
_FINEST = Fraction(1, 2**44)  # relative width of an interval that is not split
_NEARLY = Fraction(7, 16)  # place where a narrow interval is split
_MAX_STEPS = 200  # of Newton's method; each one halves an interval at least, also over many magnitudes
_WIDTH = 2**-240  # relative, of a root that is narrowed
_MAX_NODES = 1000  # of a residual or its slope
_ONE = number(1)


@dataclass(frozen=True, slots=True)
class ImplicitEquation:
    """An equation in `UNKNOWN`, prepared once for all values of its other symbols.

    Attributes:
        forms: residuals with their slopes; of the first one the roots are found, the second is without divisors.
        intervals: in which roots are looked for [SI].
    """

    forms: tuple[tuple[Expr, Expr], ...]
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Roots:
    """What was found.

    Attributes:
        found: the roots, proven, the smallest first.
        unsure: intervals that may hold roots.
    """

    found: tuple[Value, ...] = ()
    unsure: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class _Form:
    """A residual and its slope as functions of intervals."""

    value: Enclosing
    slope: Enclosing


# The equation. ---------------------------------------------------------------------------------------------------


def implicit_equation(
    left: Expr, right: Expr, name: str, *, may_be_negative: bool = False, domain: Interval | None = None
) -> ImplicitEquation | None:
    """Return `left = right` prepared for finding its roots; None if it is too long, or has a part without a slope.

    Args:
        name: the unknown.
        may_be_negative: both signs are looked at.
        domain: lowest and highest value [SI]; None for all sizes, and for one turn where the unknown is an angle.
    """
    residual = substitute(Expr("sub", (left, right)), {symbol(name): UNKNOWN})
    above, below = _as_quotient(residual)
    forms = []
    for each in (residual,) if below == _ONE else (residual, above):
        try:
            slope = derivative(each, UNKNOWN, KnownVariation(frozenset(), frozenset()))
        except NotEvaluated:
            return None
        if each.size <= _MAX_NODES and slope.size <= _MAX_NODES:
            forms.append((each, slope))
        elif not forms:
            return None
    return ImplicitEquation(tuple(forms), tuple(_intervals(_is_angle(residual), may_be_negative, domain)))


def _intervals(is_angle: bool, may_be_negative: bool, domain: Interval | None) -> Iterator[Interval]:
    """Yield the intervals in which roots are looked for: negative ones, around 0, positive ones."""
    most = _HALF_TURN * (1 if may_be_negative else 2) if is_angle else _MOST
    low, high = domain or (-most if may_be_negative else Fraction(0), most)
    if low < -_LEAST:
        yield low, min(high, -_LEAST)
    if low < 0 < high:
        yield max(low, -_LEAST), min(high, _LEAST)
    if high > _LEAST:
        yield max(low, _LEAST), high


def _is_angle(residual: Expr) -> bool:
    r"""Return True if the unknown stands in a sine, cosine or tangent with numbers alone before it: `\sin 2x`."""
    turning = [node.args[0] for node in walk(residual) if node.op in ("sin", "cos", "tan")]
    terms = [term for arg in turning for term in (arg.args if arg.op in ("add", "sub") else (arg,))]
    return any(
        UNKNOWN.name in symbols(term)
        and all(part == UNKNOWN or part.op in ("num", "const", "mul", "div", "neg") for part in walk(term))
        for term in terms
    )


def _as_quotient(node: Expr) -> tuple[Expr, Expr]:
    """Return a numerator and a denominator, as far as sums, products and quotients of the unknown go."""
    if UNKNOWN.name not in symbols(node):
        return node, _ONE
    if node.op == "tan":
        return Expr("sin", node.args), Expr("cos", node.args)
    power = node.args[1].value if node.op == "pow" else None
    if power is not None and power < 0:
        return _ONE, Expr("pow", (node.args[0], number(-power)))
    if node.op not in ("add", "sub", "mul", "div", "neg"):
        return node, _ONE
    above, below = _as_quotient(node.args[0])
    if node.op == "neg":
        return Expr("neg", (above,)), below
    for arg in node.args[1:]:
        other, divisor = _as_quotient(arg)
        if node.op == "mul":
            above, below = _times(above, other), _times(below, divisor)
        elif node.op == "div":
            above, below = _times(above, divisor), _times(below, other)
        elif below == divisor:
            above = Expr(node.op, (above, other))
        else:
            above, below = Expr(node.op, (_times(above, divisor), _times(other, below))), _times(below, divisor)
    return above, below


def _times(a: Expr, b: Expr) -> Expr:
    """Return a product without factors of 1."""
    return b if a == _ONE else a if b == _ONE else Expr("mul", (a, b))


# Its roots. ------------------------------------------------------------------------------------------------------


def find_roots(equation: ImplicitEquation, values: Mapping[str, Value]) -> Roots:
    """Return the roots of an equation for values of its other symbols, within `full_precision`.

    None are found where a part without the unknown has no value.
    """
    forms = []
    for residual, slope in equation.forms:
        value, change = enclosing(residual, values), enclosing(slope, values)
        if value is None or change is None:
            return Roots()
        forms.append(_Form(value, change))
    waiting = list(reversed(equation.intervals))
    found: list[Value] = []
    unsure: list[Interval] = []
    n_looked = 0
    while waiting and len(found) < _MAX_FOUND:
        low, high = waiting.pop()
        n_looked += 1
        kinds = [_look(form, low, high) for form in forms]
        if "none" in kinds:
            continue
        if "one" in kinds:
            root = _narrowed(forms[kinds.index("one")], low, high)
            is_certain = None if root is None else _is_root(forms[0], root)
            if is_certain is None:
                unsure.append((low, high))
            elif is_certain:
                found.append(root)
        elif n_looked < _MAX_INTERVALS and high - low > _FINEST * max(abs(low), abs(high)):
            middle = _between(low, high)
            waiting += [(middle, high), (low, middle)]
        else:
            unsure.append((low, high))
    return Roots(tuple(found), tuple(_joined(unsure)))


def _look(form: _Form, low: Fraction, high: Fraction) -> str:
    """Return how many roots a form has in an interval: `none`, `one`, or `open`."""
    whole = span_of(low, high)
    value = form.value(whole)
    if value is None or value.sign():
        return "none"
    slope = form.slope(whole) if value.is_whole else None
    if slope is None or not slope.is_whole or not slope.sign():
        return "open"
    ends = [form.value(span_of(end, end)) for end in (low, high)]
    signs = [0 if end is None else end.sign() for end in ends]
    if 0 in signs:
        return "open"
    return "one" if signs[0] != signs[1] else "none"


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Return a place between two ends: by magnitudes where they are far from each other, and never 0."""
    if low > 0 or high < 0:
        small, large = (low, high) if low > 0 else (-high, -low)
        ratio = large / small
        bits = ratio.numerator.bit_length() - ratio.denominator.bit_length()
        if bits > 2:
            place = small * (1 << bits // 2) * _ODD
            return place if low > 0 else -place
    return low + (high - low) * _NEARLY


def _narrowed(form: _Form, low: Fraction, high: Fraction) -> Value:
    """Return the one root of a form in an interval as a ball; None if it stays too wide."""
    place = span_of(low, high)
    for _ in range(_MAX_STEPS):
        if _is_narrow(place):
            return place.low.union(place.high)
        point = _middle(place)
        value, slope = form.value(span_of(point, point)), form.slope(place)
        if value is None or slope is None or not slope.sign():
            return None
        if value.low == 0 and value.high == 0:
            return point
        ends = [point - end / by for end in (value.low, value.high) for by in (slope.low, slope.high)]
        least = max(place.low, min(_known(end.lower(), place.low) for end in ends))
        most = min(place.high, max(_known(end.upper(), place.high) for end in ends))
        if not least <= most or (least == place.low and most == place.high):
            return None
        place = Span(least, most)
    return None


def _known(end: Any, otherwise: Any) -> Any:
    """Return an end of an interval, or another one where it is no number."""
    return otherwise if end.is_nan() else end


def _middle(place: Span) -> Any:
    """Return an exact point within an interval, its middle by magnitudes where the ends are far from each other."""
    if place.low > 0 and place.high > 4 * place.low:
        return (place.low * place.high).sqrt().mid()
    if place.high < 0 and place.low < 4 * place.high:
        return -(place.low * place.high).sqrt().mid()
    return ((place.low + place.high) / 2).mid()


def _is_narrow(place: Span) -> bool:
    """Return True if an interval has more digits than any number that is printed."""
    return bool((place.high - place.low).upper() <= min(abs(place.low), abs(place.high)) * _WIDTH)


def _is_root(form: _Form, root: Value) -> bool | None:
    """Return True if a residual is 0 at the root of another form; None if it may be undefined there."""
    value = form.value(span_of(root, root))
    if value is None or value.sign():
        return False
    return True if value.is_whole else None


def _joined(intervals: Sequence[Interval]) -> Iterator[Interval]:
    """Yield intervals, those that touch each other as one."""
    start: Interval | None = None
    for low, high in intervals:
        if start is not None and start[1] < low:
            yield start
            start = None
        start = (start[0] if start else low, high)
    if start is not None:
        yield start

"""Enclose an expression of one unknown over an interval: bounds between which all its values there lie, proven.

Bounds are exact `arb` numbers of python-flint, rounded outward after each operation, so that an interval over many
magnitudes keeps its ends: a ball around its middle would lose the lower one. They may be infinite.

Refused: `engine.intervals`, which is for points; around a point a ball is as good, and faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Expr, symbol, symbols
from prism.generation.exact_values import MAX_POWER, Value, as_ball, evaluate

UNKNOWN = symbol("?")
"""Stands for the unknown; no letter of a formula has this name."""

_MOST_EXPONENT = 10**6  # argument of an exponential above which its value counts as unbounded


@dataclass(frozen=True, slots=True)
class Span:
    """An interval, infinite ends included.

    Attributes:
        low, high: exact `arb` numbers.
        is_whole: the values of an expression over the whole interval that was put in; False if it may be undefined in
            a part of that, or jump.
    """

    low: Any
    high: Any
    is_whole: bool = True

    def sign(self) -> int:
        """Return 1 or -1 if all numbers have that sign; 0 if that is open."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


Enclosing = Callable[[Span], Span | None]
"""Maps an interval of the unknown to bounds of an expression there; None where it is undefined everywhere."""


def span_of(low: Value, high: Value) -> Span:
    """Return the smallest interval with bounds that the arithmetic can have, from one value to another."""
    return _outward(as_ball(low), as_ball(high), True)


def enclosing(node: Expr, values: Mapping[str, Value]) -> Enclosing | None:
    """Return the function that encloses an expression of `UNKNOWN`; None if a part without it has no value.

    Args:
        node: of operators for which `is_evaluated`, without `abs` of the unknown.
        values: of the other symbols, by name [SI].
    """
    if node == UNKNOWN:
        return lambda x: x
    if UNKNOWN.name not in symbols(node):
        value = evaluate(node, values)
        span = None if value is None else span_of(value, value)
        return None if span is None else lambda _: span
    rule = _RULES.get(node.op)
    args = node.args
    if node.op in ("pow", "root") and UNKNOWN.name not in symbols(args[1]):
        exponent = evaluate(args[1], values)
        rule, args = _power_rule(exponent, is_root=node.op == "root"), args[: 1 if _is_plain(exponent) else 2]
    inner = [enclosing(arg, values) for arg in args]
    certain = [each for each in inner if each is not None]
    if rule is None or len(certain) < len(inner):
        return None
    found = rule

    def applied(x: Span) -> Span | None:
        """Return the values over a span; None where a part has none."""
        spans = [each(x) for each in certain]
        known = [span for span in spans if span is not None]
        return found(known) if len(known) == len(spans) else None

    return applied


def _outward(low: Any, high: Any, is_whole: bool) -> Span:
    """Return the interval from the lower bound of one ball to the upper one of another; what is no number is open."""
    from flint import arb

    least, most = low.lower(), high.upper()
    return Span(arb("-inf") if least.is_nan() else least, arb("inf") if most.is_nan() else most, is_whole)


# Arithmetic. -----------------------------------------------------------------------------------------------------


def _sum(spans: list[Span]) -> Span:
    """Return a + b + ..."""
    total = spans[0]
    for each in spans[1:]:
        total = _outward(total.low + each.low, total.high + each.high, total.is_whole and each.is_whole)
    return total


def _negative(spans: list[Span]) -> Span:
    """Return -a."""
    (a,) = spans
    return Span(-a.high, -a.low, a.is_whole)


def _difference(spans: list[Span]) -> Span:
    """Return a - b."""
    return _sum([spans[0], _negative(spans[1:])])


def _product(spans: list[Span]) -> Span:
    """Return a b ..."""
    total = spans[0]
    for each in spans[1:]:
        is_whole = total.is_whole and each.is_whole
        ends = [_end_product(a, b) for a in (total.low, total.high) for b in (each.low, each.high)]
        total = _outward(min(end.lower() for end in ends), max(end.upper() for end in ends), is_whole)
    return total


def _end_product(a: Any, b: Any) -> Any:
    """Return the product of two ends; 0 of zero and an infinite one, since no value is infinite."""
    return a if a == 0 else b if b == 0 else a * b


def _quotient(spans: list[Span]) -> Span | None:
    """Return a/b; unbounded where the divisor may be 0, and None where it is 0."""
    inverse = _inverse(spans[1])
    return None if inverse is None else _product([spans[0], inverse])


def _inverse(b: Span) -> Span | None:
    """Return 1/b; None for 0."""
    from flint import arb

    if b.low == 0 and b.high == 0:
        return None
    if b.low < 0 < b.high:
        return Span(arb("-inf"), arb("inf"), False)
    low = arb(1) / b.high if b.high != 0 else arb("-inf")
    high = arb(1) / b.low if b.low != 0 else arb("inf")
    return _outward(low, high, b.is_whole and b.sign() != 0)


# Powers and functions. -------------------------------------------------------------------------------------------


def _is_plain(exponent: Value) -> bool:
    """Return True for an exponent of which a power has a rule of its own; others go by the logarithm."""
    return isinstance(exponent, Fraction) and (exponent.denominator > 1 or abs(exponent) <= MAX_POWER)


def _power_rule(exponent: Value, *, is_root: bool) -> Callable[[list[Span]], Span | None] | None:
    """Return the rule of a power, or of a root by its degree; None for a root of no whole degree."""
    if is_root and not (_is_plain(exponent) and exponent.denominator == 1 and exponent > 0):
        return None
    if not _is_plain(exponent):
        return _general_power
    if is_root and exponent % 2:
        return lambda spans: _growing(spans[0], lambda end: _odd_root(end, int(exponent)))
    power = 1 / exponent if is_root else exponent

    def applied(spans: list[Span]) -> Span | None:
        """Return the power of the first span; None where it has none."""
        found = _positive_power(spans[0], abs(power)) if power else span_of(Fraction(1), Fraction(1))
        return _inverse(found) if found is not None and power < 0 else found

    return applied


def _odd_root(end: Any, n: int) -> Any:
    """Return the root of an odd degree, which a negative number has too."""
    return end.root(n) if end >= 0 else -((-end).root(n))


def _positive_power(base: Span, exponent: Fraction) -> Span | None:
    """Return a base to a positive exponent; None where the base has no such power."""
    if exponent.denominator == 1:
        n = int(exponent)
        return _growing(base, lambda end: end**n) if n % 2 else _even(base, lambda end: end**n)
    ball = as_ball(exponent)
    return _growing(_clipped(base, low=0), lambda end: end**ball if end != 0 else end)


def _even(a: Span, function: Callable[[Any], Any]) -> Span:
    """Return an even function that grows with the size of its argument."""
    small, large = sorted((abs(a.low), abs(a.high)))
    if a.low <= 0 <= a.high:
        small = as_ball(Fraction(0))
    return _outward(_at_end(function, small), _at_end(function, large), a.is_whole)


def _growing(a: Span | None, function: Callable[[Any], Any]) -> Span | None:
    """Return a growing function by its values at the ends, an infinite one at an infinite end; None for no interval."""
    return None if a is None else _outward(_at_end(function, a.low), _at_end(function, a.high), a.is_whole)


def _at_end(function: Callable[[Any], Any], end: Any) -> Any:
    """Return a function at an end; one without bounds has an infinite value at an infinite end."""
    return function(end) if end.is_finite() else end


def _clipped(a: Span, low: int | None = None, high: int | None = None) -> Span | None:
    """Return the part of an interval in a function's domain, not whole if it is less; None if there is none."""
    if (low is not None and a.high < low) or (high is not None and a.low > high):
        return None
    is_below, is_above = low is not None and a.low < low, high is not None and a.high > high
    return Span(
        as_ball(Fraction(low)) if low is not None and is_below else a.low,
        as_ball(Fraction(high)) if high is not None and is_above else a.high,
        a.is_whole and not is_below and not is_above,
    )


def _exponential(end: Any) -> Any:
    """Return e to the power of an end; a very large one gives bounds that hold and are no better than that."""
    from flint import arb

    if end > _MOST_EXPONENT:
        return arb("inf")
    return arb(0) if end < -_MOST_EXPONENT else end.exp()


def _exp(spans: list[Span]) -> Span:
    """Return e^a."""
    from flint import arb

    (a,) = spans
    largest = arb(_MOST_EXPONENT)
    low = _exponential(a.low) if a.low < largest else largest.exp()
    high = _exponential(a.high) if a.high > -largest else (-largest).exp()
    return _outward(low, high, a.is_whole)


def _ln(spans: list[Span]) -> Span | None:
    """Return ln a; None for an interval without positive numbers."""
    from flint import arb

    (a,) = spans
    if a.high <= 0:
        return None
    low = a.low.log() if a.low > 0 else arb("-inf")
    return _outward(low, _at_end(lambda end: end.log(), a.high), a.is_whole and bool(a.low > 0))


def _log10(spans: list[Span]) -> Span | None:
    """Return the decimal logarithm; None where there is no natural one."""
    natural = _ln(spans)
    return None if natural is None else _product([natural, span_of(*[1 / as_ball(Fraction(10)).log()] * 2)])


def _general_power(spans: list[Span]) -> Span | None:
    """Return a^b = e^(b ln a) for positive bases; None for others."""
    natural = _ln(spans[:1])
    return None if natural is None else _exp([_product([spans[1], natural])])


def _sinh(spans: list[Span]) -> Span:
    """Return sinh a = (e^a - e^-a)/2, in which both parts grow."""
    return _halved(_difference([_exp(spans), _exp([_negative(spans)])]))


def _cosh(spans: list[Span]) -> Span:
    """Return cosh a of the size of a, from 0 on: (e^a + e^-a)/2 at its ends."""
    a = _even(spans[0], lambda end: end)
    least, most = (_sum([_exp([end]), _exp([_negative([end])])]) for end in (Span(a.low, a.low), Span(a.high, a.high)))
    return _halved(Span(least.low, most.high, a.is_whole))


def _halved(a: Span) -> Span:
    """Return a/2."""
    return _outward(a.low / 2, a.high / 2, a.is_whole)


def _cos(spans: list[Span]) -> Span:
    """Return cos a, by its ends and the extremes between them."""
    from flint import arb

    (a,) = spans
    if not (a.low.is_finite() and a.high.is_finite()):
        return Span(arb(-1), arb(1), a.is_whole)
    at_ends = a.low.cos(), a.high.cos()
    turn = 2 * arb.pi()
    most = arb(1) if _holds_whole(a.low / turn, a.high / turn) else max(end.upper() for end in at_ends)
    half = arb(1) / 2
    is_least = _holds_whole(a.low / turn - half, a.high / turn - half)
    return Span(arb(-1) if is_least else min(end.lower() for end in at_ends), most, a.is_whole)


def _holds_whole(low: Any, high: Any) -> bool:
    """Return True if a whole number may lie between two balls; False only if none does."""
    return bool(high.upper().floor() >= low.lower().ceil())


def _sin(spans: list[Span]) -> Span:
    """Return sin a = cos(a - pi/2)."""
    from flint import arb

    right = arb.pi() / 2
    return _cos([_difference([spans[0], span_of(right, right)])])


def _tan(spans: list[Span]) -> Span:
    """Return tan a; unbounded where a pole may lie between."""
    from flint import arb

    (a,) = spans
    half = arb(1) / 2
    is_open = not (a.low.is_finite() and a.high.is_finite())
    if is_open or _holds_whole(a.low / arb.pi() - half, a.high / arb.pi() - half):
        return Span(arb("-inf"), arb("inf"), False)
    return _outward(a.low.tan(), a.high.tan(), a.is_whole)


def _method(name: str, low: int | None = None, high: int | None = None) -> Callable[[list[Span]], Span | None]:
    """Return the rule of a growing function of `arb` with its domain; infinite at an infinite end."""
    return lambda spans: _growing(_clipped(spans[0], low, high), lambda end: getattr(end, name)())


def _bounded(name: str) -> Callable[[list[Span]], Span]:
    """Return the rule of a growing function with bounds: arctan or tanh."""
    return lambda spans: _outward(getattr(spans[0].low, name)(), getattr(spans[0].high, name)(), spans[0].is_whole)


def _acos(spans: list[Span]) -> Span | None:
    """Return arccos a, which falls; None for what lies wholly outside of -1 to 1."""
    a = _clipped(spans[0], -1, 1)
    return None if a is None else _outward(a.high.acos(), a.low.acos(), a.is_whole)


_RULES: Mapping[str, Callable[[list[Span]], Span | None]] = {
    "add": _sum, "sub": _difference, "mul": _product, "div": _quotient, "neg": _negative, "pow": _general_power,
    "sqrt": _method("sqrt", 0), "exp": _exp, "ln": _ln, "log10": _log10, "sin": _sin, "cos": _cos, "tan": _tan,
    "asin": _method("asin", -1, 1), "acos": _acos, "atan": _bounded("atan"), "sinh": _sinh,
    "cosh": _cosh, "tanh": _bounded("tanh"), "asinh": _method("asinh"), "acosh": _method("acosh", 1),
    "atanh": _method("atanh", -1, 1),
}  # fmt: skip
"""Rule of each operator: bounds of its result from those of its operands. Twin: `evaluate` at points between."""

"""Evaluate formulas exactly where they are rational, and else with proven bounds of about a hundred digits.

A value is a `Fraction`, or an `arb` ball of python-flint where a root of no square, a sine or the like takes part. So
the digits of a number do not depend on a machine, a library of C or the order of a sum, and a value that lies just
between two roundings (4.905 with three figures) is seen to do so.

The ball arithmetic of an operator is that of `engine.intervals`; only what a fraction does exactly stands here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import Any

from prism.algebra.expr import Expr
from prism.engine.intervals import apply_instruction, precision
from prism.physics.constants import leading_power
from prism.physics.tables import Unit

Value = Any
"""A `Fraction`, or an `arb` of python-flint; None where a value is undefined."""

_MAX_BITS = 4096  # of an exact number; a longer one becomes a ball
_MAX_EXPONENT = 1_000_000  # of 2, of a ball: beyond it, as e to the power of a power, a number has too many digits
MAX_POWER = 64  # exponent up to which a power is multiplied out exactly
_LEAST_PLAIN = -4  # power of ten of the leading digit, from which on a number is written without a power of ten
_SAME = 10**-25  # relative difference below which two values that were computed on two ways are one
_EVALUATED = frozenset((
    "num", "sym", "const", "add", "sub", "mul", "div", "neg", "pow", "root", "sqrt", "abs", "exp", "ln", "log10", "sin",
    "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
))  # fmt: skip
_CONSTANTS = ("pi", "e")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)


def is_evaluated(node: Expr) -> bool:
    """Return True if an expression has only operators that are evaluated here, units resolved to factors."""
    if node.op not in _EVALUATED or (node.op == "const" and node.name not in _CONSTANTS):
        return False
    return all(map(is_evaluated, node.args))


@contextmanager
def full_precision() -> Iterator[None]:
    """Compute with the precision of the engine's balls; every function here that makes balls is called within it."""
    with precision():
        yield


def evaluate(node: Expr, values: Mapping[str, Value]) -> Value:
    r"""Return the value of an expression; None where it is undefined, or a symbol has no value.

    Args:
        node: of operators for which `is_evaluated`.
        values: of symbols, by name [SI]; base units of the parser (`\\unit{m}`) are 1.
    """
    if node.op == "num":
        return node.value
    if node.op == "sym":
        return Fraction(1) if node.name.startswith(r"\unit{") else values.get(node.name)
    if node.op == "const":
        return _constant(node.name)
    args = [evaluate(arg, values) for arg in node.args]
    if any(arg is None for arg in args):
        return None
    return _FOLDS[node.op](args) if node.op in _FOLDS else _function(node.op, args[0])


def _constant(name: str) -> Value:
    """Return pi or e as a ball."""
    from flint import arb

    return arb.pi() if name == "pi" else arb(1).exp()


def as_ball(value: Value) -> Any:
    """Return a value as a ball."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value


def _checked(value: Value) -> Value:
    """Return a value, as a ball if it is a very long fraction; None if it is not finite, or beyond all sizes."""
    if isinstance(value, Fraction):
        is_long = value.numerator.bit_length() + value.denominator.bit_length() > _MAX_BITS
        return as_ball(value) if is_long else value
    if value is None or not value.is_finite():
        return None
    return value if abs(value.mid().man_exp()[1]) < _MAX_EXPONENT else None


def _arithmetic(exact: Callable[[Fraction, Fraction], Fraction], name: str) -> Callable[[list[Value]], Value]:
    """Return the function that folds operands: exactly while they are fractions, else by the engine's instruction."""

    def folded(args: list[Value]) -> Value:
        total = args[0]
        for arg in args[1:]:
            if isinstance(total, Fraction) and isinstance(arg, Fraction):
                total = _checked(exact(total, arg))
            else:
                total = _checked(apply_instruction(name, as_ball(total), as_ball(arg), 0))
            if total is None:
                return None
        return total

    return folded


def _quotient(args: list[Value]) -> Value:
    """Return a/b; None for a divisor that is 0 or may be."""
    above, below = args
    if not isinstance(below, Fraction):
        return None if below.contains(0) else _checked(as_ball(above) / below)
    if not below:
        return None
    return _checked(above / below if isinstance(above, Fraction) else above / as_ball(below))


def _power(args: list[Value]) -> Value:
    """Return a^b, exactly for fractions to whole powers and for roots that are rational."""
    base, exponent = args
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1 and abs(exponent) <= MAX_POWER:
            return None if not base and exponent <= 0 else _checked(base ** int(exponent))
        if exponent.denominator == 2 and abs(exponent) <= MAX_POWER and base > 0:
            root = _square_root(base)
            if isinstance(root, Fraction):
                return _checked(root ** int(2 * exponent))
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent) <= MAX_POWER:
        is_undefined = exponent < 0 and base.contains(0)
        return None if is_undefined else _checked(base ** int(exponent))
    first, second = as_ball(base), as_ball(exponent)
    return _checked(first**second) if first > 0 else None


def _square_root(value: Value) -> Value:
    """Return the root of a value, exact for the quotient of two squares; None below 0."""
    if not isinstance(value, Fraction):
        return _checked(value.sqrt()) if value >= 0 else None
    if value < 0:
        return None
    above, below = isqrt(value.numerator), isqrt(value.denominator)
    if above * above == value.numerator and below * below == value.denominator:
        return Fraction(above, below)
    return as_ball(value).sqrt()


def _root(args: list[Value]) -> Value:
    """Return the n-th root of a value, with n a whole number."""
    value, n = args
    if not isinstance(n, Fraction) or n.denominator != 1 or n < 1:
        return None
    return _square_root(value) if n == 2 else _checked(apply_instruction("root", as_ball(value), None, int(n)))


_FOLDS: Mapping[str, Callable[[list[Value]], Value]] = {
    "add": _arithmetic(lambda a, b: a + b, "add"),
    "sub": _arithmetic(lambda a, b: a - b, "sub"),
    "mul": _arithmetic(lambda a, b: a * b, "mul"),
    "div": _quotient,
    "pow": _power,
    "root": _root,
}


def _function(name: str, arg: Value) -> Value:
    """Return a function of one operand."""
    if name == "sqrt":
        return _square_root(arg)
    if isinstance(arg, Fraction):
        if name == "neg":
            return -arg
        if name == "abs":
            return abs(arg)
    return _checked(apply_instruction(name, as_ball(arg), None, 0))


# Comparing and writing. ------------------------------------------------------------------------------------------


def compares(left: Value, relation: str, right: Value, margin: Fraction = Fraction(0)) -> bool:
    """Return True if a relation certainly holds between two values.

    Args:
        relation: one of `<`, `<=`, `>`, `>=`, `!=`, `=`.
        margin: share of the larger one by which they have to differ at least.
    """
    if relation == "=":
        return are_same(left, right)
    if not (isinstance(left, Fraction) and isinstance(right, Fraction)):
        left, right = as_ball(left), as_ball(right)
        margin = as_ball(margin)
    holds = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right, "!=": left != right}
    far = abs(left - right)
    return bool(holds[relation]) and bool(far >= margin * abs(left)) and bool(far >= margin * abs(right))


def are_same(left: Value, right: Value) -> bool:
    """Return True if two values agree to some 25 digits: computed on two ways, they are one."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    far = abs(as_ball(left) - as_ball(right))
    size = abs(as_ball(left)) + abs(as_ball(right))
    return bool(far.upper() <= as_ball(Fraction(_SAME)) * size.upper()) or bool(far.upper() < _SAME and size < _SAME)


def as_fraction(value: Value) -> Fraction:
    """Return a value as a fraction, of a ball its midpoint."""
    if isinstance(value, Fraction):
        return value
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def in_si(value: Fraction, unit: Unit | None) -> Value:
    """Return a number of a unit in coherent SI units, zero point included."""
    if unit is None:
        return value
    scaled = value * unit.factor
    return scaled + unit.offset if not unit.pi else as_ball(scaled) * _constant("pi") ** unit.pi + as_ball(unit.offset)


def in_unit(value: Value, unit: Unit | None) -> Value:
    """Return a value in coherent SI units as a number of a unit."""
    if unit is None:
        return value
    if isinstance(value, Fraction) and not unit.pi:
        return (value - unit.offset) / unit.factor
    return (as_ball(value) - as_ball(unit.offset)) / (as_ball(unit.factor) * _constant("pi") ** unit.pi)


def rounded(value: Value, figures: int) -> Fraction:
    """Return a value rounded half-even to significant figures.

    A ball that a rounding cannot decide, although it has about a hundred digits, lies between two roundings.
    """
    exact = as_fraction(value)
    if not isinstance(value, Fraction):
        exact = _snapped(exact)
    if not exact:
        return exact
    step = Fraction(10) ** (leading_power(exact) - figures + 1)
    return round(exact / step) * step


_KEPT = 60  # digits of a ball's midpoint that are looked at; balls have about ninety that hold


def _snapped(exact: Fraction) -> Fraction:
    """Return the nearest number of 60 digits, so that what is a tie but for the ball's last digits is a tie."""
    if not exact:
        return exact
    step = Fraction(10) ** (leading_power(exact) - _KEPT)
    return round(exact / step) * step


def digits(value: Value, figures: int, *, scientific: bool = False) -> str:
    r"""Write a value with significant figures as LaTeX: `24.0`, `126`, `1.26\times 10^{5}` where digits would be lost.

    >>> [digits(Fraction(text), 3) for text in ("4.905", "125.6", "23456", "0.00004567", "0")]
    ['4.90', '126', '2.35\\times 10^{4}', '4.57\\times 10^{-5}', '0']
    """
    number = rounded(value, figures)
    if not number:
        return "0"
    power = leading_power(number)
    if scientific or power >= figures or power < _LEAST_PLAIN:
        return rf"{_plain(number / Fraction(10) ** power, figures - 1)}\times 10^{{{power}}}"
    return _plain(number, figures - 1 - power)


def _plain(number: Fraction, places: int) -> str:
    """Write a number that has so many decimal places."""
    whole = number * 10**places
    return format(Decimal(int(whole)).scaleb(-places), "f")


def read_digits(text: str) -> Fraction | None:
    """Return the number that a text of a template is, such as `24.0` or `1.5e-3`; None if it is none."""
    return Fraction(text.strip()) if _NUMBER.fullmatch(text.strip()) else None


def figures_of(text: str) -> int:
    """Return the significant figures that a number shows; of a whole number with zeros at the end all of them."""
    written = text.strip().lower().partition("e")[0].lstrip("+-").replace(".", "").lstrip("0")
    return max(len(written), 1)


def is_writable(value: Fraction, figures: int) -> bool:
    """Return True if a number has at most so many significant figures."""
    return rounded(value, figures) == value

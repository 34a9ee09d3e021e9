r"""At which sizes of the letters two formulas have to agree beside ordinary ones: where their written numbers matter.

`mv + 10^{-20}` and `mv \operatorname{erf}(1000v)` differ from `mv` only where a letter is as large or as small as the
number beside it (semantics G.2). Each letter is drawn at each such size, the others at ordinary ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import acb

from prism.algebra.expr import Expr, Formula, symbols, walk
from prism.budget import charge, charge_steps, remembered
from prism.equivalence.interpretation.functions import RULES
from prism.equivalence.interpretation.names import CHOICES
from prism.equivalence.interpretation.values import Unvalued

_LARGE, _SMALL = 60.0, 1 / 60  # magnitudes beyond which a number is out of the ordinary
_STEEP = _LARGE**2  # of numbers in functions of functions: how fast a function may change
_EXTREME = 1e6  # magnitudes beyond which a number is large beside powers of a small letter
_COEFFICIENT = 100  # operations charged for each node below one whose coefficient is looked at
_KINKED = frozenset(("cases", "abs", "floor", "ceiling", "modulo"))
_EVALUATED = frozenset(
    ("num", "const", "add", "sub", "neg", "mul", "div", "pow", "root", "factorial", "binomial", *RULES)
)
MOST_SIZES = 6  # of two formulas


class TooManySizes(Exception):
    """Raised if two formulas have more numbers out of the ordinary than are looked at."""


def sizes_of(*formulas: Formula) -> tuple[float, ...]:
    """Return the sizes at which letters have to be drawn too: numbers out of the ordinary, and their reciprocals.

    Errors:
        TooManySizes: there are more than MOST_SIZES.
    """
    found: dict[float, None] = {}
    for f in formulas:
        for member in f.members:
            for size in _sizes(member, is_kinked=False):
                found[size] = None
                found[1 / size] = None
    if len(found) > 2 * MOST_SIZES:
        raise TooManySizes
    return tuple(found)


@remembered(4096)
def is_out_of_the_ordinary(node: Expr) -> bool:
    """Return True if an expression has a number so large or so small that a function may change between two points."""
    return any(True for _ in _sizes(node, is_kinked=False)) or _steepness(node) > _STEEP


def has_extreme_number(node: Expr) -> bool:
    """Return True if an expression has a number far from 1, or changes fast, so that points might miss what it does."""
    sizes = [_coefficient(part) for part in walk(node)]
    charge_steps(len(sizes))
    return not all(_SMALL <= size <= _LARGE for size in sizes) or _steepness(node) > _STEEP


def is_extreme(node: Expr) -> bool:
    """Return True if an expression has a number so large or small that it is not seen beside a small letter's power."""
    return any(not 1 / _EXTREME < size < _EXTREME for size in _sizes(node, is_kinked=False)) or (
        _steepness(node) > _EXTREME
    )


def _steepness(node: Expr) -> float:
    """Return about how often faster than its letters an expression changes: 2500 for `(e^{-50x})^{50}`."""
    inner = max(map(_steepness, node.args), default=1.0)
    if node.op == "pow" and node.args[1].value is not None:
        return inner * max(1.0, min(1e300, abs(float(node.args[1].value))))
    if len(node.args) == 1 and (node.op in RULES or node.op == "apply"):
        return inner * max(1.0, _coefficient(node.args[0]))
    return inner


def _sizes(node: Expr, *, is_kinked: bool) -> Iterator[float]:
    """Yield the magnitudes of the coefficients in an expression that are out of the ordinary."""
    charge(node.size * _COEFFICIENT)
    size = _coefficient(node)
    if size != 1 and (size > _LARGE or size < _SMALL or (is_kinked and not symbols(node))):
        yield min(max(size, 1e-300), 1e300)
    if _is_number(node):
        return
    kinked = is_kinked or _is_kinked(node)
    cuts_kink = node.op == "integral" and any(
        _is_kinked(part) and symbols(part) - symbols(node.args[1]) for part in walk(node.args[0])
    )
    for k, arg in enumerate(node.args):
        yield from _sizes(arg, is_kinked=kinked or (cuts_kink and k > 1))


def _is_kinked(node: Expr) -> bool:
    """Return True for a node that may have a kink or a step."""
    return node.op in _KINKED or (node.op == "apply" and node.name in CHOICES)


def _is_number(node: Expr) -> bool:
    """Return True for an expression of numbers alone whose magnitude is known."""
    return all(
        part.op in _EVALUATED or (part.op == "apply" and part.name in RULES and len(part.args) == 1)
        for part in walk(node)
    )


def _coefficient(node: Expr) -> float:
    """Return the magnitude of the number by which letters are multiplied in an expression; 1 of a function of them."""
    if _is_number(node):
        return abs(_magnitude(node)) or 1.0
    parts = [_coefficient(arg) for arg in node.args]
    try:
        match node.op:
            case "mul":
                return math.prod(parts)
            case "div":
                return parts[0] / parts[1]
            case "add" | "sub":
                return max(parts, key=lambda part: abs(math.log(part)))
            case "neg":
                return parts[0]
            case "sqrt":
                return math.sqrt(parts[0])
            case "pow" if node.args[1].value is not None:
                return float(parts[0] ** float(node.args[1].value))
            case _:
                return 1.0
    except (OverflowError, ZeroDivisionError, ValueError):
        return 1e300


def _magnitude(node: Expr) -> float:
    """Return the value of a constant expression as a float, cut off where it overflows."""
    values = [_magnitude(arg) for arg in node.args]
    try:
        match node.op:
            case "num":
                return float(node.value) if isinstance(node.value, Fraction) else 1.0
            case "const":
                return math.pi if node.name == "pi" else math.e
            case "add":
                return sum(values)
            case "sub":
                return values[0] - sum(values[1:])
            case "neg":
                return -values[0]
            case "mul":
                return math.prod(values)
            case "div":
                return values[0] / values[1]
            case "pow":
                return float(abs(values[0]) ** values[1])
            case "root":
                return float(abs(values[0]) ** (1 / values[1]))
            case "sqrt":
                return math.sqrt(abs(values[0]))
            case "factorial":
                return _called(r"\Gamma", values[0] + 1)
            case "binomial":
                return _called(r"\Gamma", values[0] + 1) / _called(r"\Gamma", values[1] + 1) / _called(
                    r"\Gamma", values[0] - values[1] + 1)  # fmt: skip
            case _:
                return _called(node.name if node.op == "apply" else node.op, values[0])
    except (OverflowError, ZeroDivisionError, ValueError, Unvalued):
        return 1e300


def _called(name: str, x: float) -> float:
    """Return the magnitude of a function of a number, with its sign if it is real; cut off where it overflows.

    Raises OverflowError where that is 1e300 or more.
    """
    found = RULES[name][0](acb(x))
    size = float(found.mid().abs_upper())
    if not found.is_finite() or not size < 1e300:
        raise OverflowError
    return -size if found.imag.mid() == 0 and found.real.mid() < 0 else size

"""Whether two equations have the same zeros, by means that share nothing with PRISM's kernels.

It labels pairs for `near_misses.py`, slowly and with care for one thing only: no wrong label. Roots are bracketed on a
grid of sixty decades, halved, then polished with 100 digits (mpmath), and the other equation is evaluated there with as
many: what is zero is below 10^-25 of its own slope, what is not is far above, and no tolerance is needed. Points lie
elsewhere than PRISM's: log-uniform from 0.05 to 20.

The domain is the grader's: symbols are positive unless declared, those that stand alone in a sine are acute angles. A
lone root may be negative. Beside an inverse function only arguments in its principal range count. Two equations of
which one is never defined where the other holds (`v = sqrt(-2gh)`, `v = sqrt(2gh)`) differ.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt

from prism.algebra.expr import Expr, Formula, symbols, walk

mpmath.mp.dps = 100
DRAWS = 12  # of the other symbols, for each symbol that is solved for
POINTS = 4  # kept for each symbol that is solved for
ROOTS = 3  # kept for each draw
HALVINGS = 40
ZERO = mpmath.mpf(10) ** -25
NUDGE = mpmath.mpf(10) ** -10
EXPONENT = 75  # of exponentials
ENOUGH = 4  # points on each side that must agree
TRIG = ("sin", "cos", "tan")
UNDEFINED = (ValueError, ArithmeticError)  # outside the reals, or a division by zero

Function = Callable[[Sequence[Any]], Any]
Operations = Mapping[str, Callable[..., Any]]


# Evaluation: a tree becomes nested functions, once for arrays of floats and once for mpmath's numbers. ---------------


def _positive(x: Any) -> Any:
    if x < 0:
        raise ValueError("negative")
    return x


def _within(x: Any) -> Any:
    if not -1 <= x <= 1:
        raise ValueError("beyond one")
    return x


def _power(base: Any, exponent: Any) -> Any:
    whole = exponent == int(exponent)
    if base < 0 and not whole:
        raise ValueError("negative base")
    if base == 0 and exponent <= 0:
        raise ZeroDivisionError
    return base ** int(exponent) if whole else mpmath.power(base, exponent)


def _moderate(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An exponential, undefined where its value would swallow all digits of what is added to it."""

    def bounded(x: Any) -> Any:
        if abs(x) > EXPONENT:
            raise OverflowError
        return compute(x)

    return bounded


COMMON: Operations = {"sub": lambda a, b: a - b, "div": lambda a, b: a / b, "neg": lambda a: -a, "abs": abs}
DIGITS: Operations = {
    **COMMON,
    **{name: getattr(mpmath, name) for name in "sin cos tan atan tanh asinh".split()},
    **{name: _moderate(getattr(mpmath, name)) for name in "exp sinh cosh".split()},
    "pow": _power,
    "root": lambda a, b: -mpmath.root(-a, int(b)) if a < 0 and int(b) % 2 else mpmath.root(_positive(a), int(b)),
    "sqrt": lambda a: mpmath.sqrt(_positive(a)),
    "ln": lambda a: mpmath.log(_positive(a)),
    "log10": lambda a: mpmath.log10(_positive(a)),
    "asin": lambda a: mpmath.asin(_within(a)),
    "acos": lambda a: mpmath.acos(_within(a)),
    "acosh": lambda a: mpmath.acosh(1 + _positive(a - 1)),
    "atanh": lambda a: mpmath.atanh(_within(a)),
}
FLOATS: Operations = {
    **COMMON,
    **{name: getattr(np, name) for name in "exp sin cos tan sinh cosh tanh sqrt log10".split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()},
    "pow": np.power,
    "root": lambda a, b: np.where(b % 2 == 1, np.sign(a), 1.0) * np.power(np.where(b % 2 == 1, np.abs(a), a), 1 / b),
    "ln": np.log,
}


def function(node: Expr, names: tuple[str, ...], table: Operations) -> Function:
    """The value of an expression as a function of the values of `names`."""
    if node.op in ("num", "const"):
        value = mpmath.mpf(node.value.numerator) / node.value.denominator if node.value is not None else +mpmath.pi
        if node.op == "const" and node.name == "e":
            value = +mpmath.e
        known = value if table is DIGITS else np.float64(value)
        return lambda _: known
    if node.op == "sym":
        at = names.index(node.name)
        return lambda x: x[at]
    first, *others = (function(arg, names, table) for arg in node.args)
    if node.op == "add":
        return lambda x: sum((other(x) for other in others), first(x))
    if node.op == "mul":
        return lambda x: math.prod((other(x) for other in others), start=first(x))
    compute = table[node.op]
    if not others:
        return lambda x: compute(first(x))
    (second,) = others
    return lambda x: compute(first(x), second(x))


# Points ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """A zero of a formula.

    Attributes:
        values: of its symbols, with 100 digits.
        draw: number of the draw; other symbols have the values of the same draw.
        is_proper: in the declared domain; else it has a lone negative root.
    """

    values: Mapping[str, Any]
    draw: int
    is_proper: bool


def angles(*formulas: Formula) -> frozenset[str]:
    """Symbols that stand in a sine, cosine or tangent alone or with a number."""
    found = set()
    for f in formulas:
        for node in (inner for member in f.members for inner in walk(member)):
            if node.op in TRIG:
                terms = [node.args[0]]
                while terms:
                    term = terms.pop()
                    if term.op == "sym":
                        found.add(term.name)
                    elif term.op in ("add", "sub", "neg"):
                        terms += term.args
                    elif term.op in ("mul", "div"):
                        rest = [arg for arg in term.args if arg.op != "num"]
                        if len(rest) == 1 and (term.op == "mul" or term.args[1].op == "num"):
                            terms += rest
    return frozenset(found)


def _grid() -> npt.NDArray[np.float64]:
    exponents = [*(k / 2 for k in range(-60, -12)), *(k / 12 for k in range(-72, 73)), *(k / 2 for k in range(13, 61))]
    return np.power(10.0, np.array(exponents))


GRID = _grid()
GRIDS = {
    "angle": ((np.arange(60) + 0.37) / 60 * math.pi / 2,),
    "positive": (GRID,),
    "negative": (-GRID[::-1],),
    "real": (-GRID[::-1], GRID),
}


@lru_cache(maxsize=65536)
def drawn(name: str, kind: str, draw: int) -> float:
    """Value of a symbol in one draw."""
    rng = random.Random(f"{name} {draw}")
    size = 10 ** rng.uniform(-1.3, 1.3)
    if kind == "angle":
        return rng.uniform(0.03, 0.97) * math.pi / 2
    if kind == "integer":
        return float(rng.randint(1, 12))
    return -size if kind == "negative" or (kind == "real" and rng.random() < 0.5) else size


@lru_cache(maxsize=64)
def points(f: Formula, kinds: tuple[tuple[str, str], ...]) -> tuple[Point, ...]:
    """Zeros of a formula, each of its symbols solved for in turn; kinds: of its symbols, by name."""
    names = tuple(name for name, _ in kinds)
    residual = Expr("sub", f.members)
    rough, fine = function(residual, names, FLOATS), function(residual, names, DIGITS)
    found: list[Point] = []
    draw = 0
    for target, (_, target_kind) in enumerate(kinds):
        enough = len(found) + POINTS
        for _ in range(DRAWS if target_kind != "integer" else 0):
            x = [drawn(name, kind, draw) for name, kind in kinds]
            for root, proper in _roots(rough, fine, x, target, target_kind):
                values = {name: mpmath.mpf(value) for name, value in zip(names, x, strict=True)}
                found.append(Point({**values, names[target]: root}, draw, proper))
            draw += 1
            if len(found) >= enough:
                break
    return tuple(found)


def _roots(rough: Function, fine: Function, x: list[float], target: int, kind: str) -> list[tuple[Any, bool]]:
    """Roots that count in one symbol, and whether each is in the domain; the others as in x."""
    found: list[Any] = []
    for grid in GRIDS.get(kind, GRIDS["real"]):
        for low, high in _brackets(rough, x, target, grid):
            root = _polished(fine, x, target, low, high)
            if root is not None and not any(abs(root - other) < abs(root) * 1e-12 for other in found):
                found.append(root)
    if kind:
        return [(root, True) for root in found][:ROOTS]
    positive = [(root, True) for root in found if root > 0][:ROOTS]
    return positive if positive or len(found) != 1 else [(found[0], False)]


def _brackets(
    rough: Function, x: list[float], target: int, grid: npt.NDArray[np.float64]
) -> Iterator[tuple[float, float]]:
    """Neighbours, nearly equal, between which the formula changes sign."""
    point: list[Any] = [np.float64(value) for value in x]

    def at(t: Any) -> Any:
        point[target] = t
        with np.errstate(all="ignore"):
            return rough(point)

    values = np.broadcast_to(at(grid), grid.shape)
    finite = np.isfinite(values)
    for k in np.flatnonzero(finite & (values == 0.0)):
        yield float(grid[k]), float(grid[k])
    turns = finite[:-1] & finite[1:] & (values[:-1] * np.sign(values[1:]) < 0.0)
    for k in np.flatnonzero(turns):
        low, high = grid[k], grid[k + 1]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            value = at(middle)
            if not np.isfinite(value):
                break
            low, high = (middle, high) if (value < 0.0) == (values[k] < 0.0) else (low, middle)
        else:
            yield float(low), float(high)


def _polished(fine: Function, x: list[float], target: int, low: float, high: float) -> Any | None:
    """Secant steps to full precision; None where they lead elsewhere, as at a pole."""
    values: list[Any] = [mpmath.mpf(value) for value in x]

    def at(t: Any) -> Any:
        values[target] = t
        return fine(values)

    one, two = mpmath.mpf(low), mpmath.mpf(high)
    if one == two:
        two = one * (1 + mpmath.mpf(10) ** -14)
    start = two
    try:
        f_one, f_two = at(one), at(two)
        for _ in range(14):
            if f_two == 0 or abs(two - one) < abs(two) * mpmath.mpf(10) ** -60:
                return two if abs(two - start) <= abs(start) * mpmath.mpf(10) ** -6 else None
            one, two, f_one = two, two - f_two * (two - one) / (f_two - f_one), f_two
            f_two = at(two)
    except UNDEFINED:
        return None
    return None


# The label ------------------------------------------------------------------------------------------------------------


def relation(a: Formula, b: Formula, declared: Mapping[str, str]) -> str:
    """`same`, `differs`, or `unclear`; `same where positive` if only lone negative roots tell the two apart.

    Args:
        a, b: equations.
        declared: kinds of symbols, as in a context.
    """
    names = tuple(sorted(symbols(*a.members) | symbols(*b.members)))
    acute = angles(a, b)
    kinds = {name: declared.get(name, "angle" if name in acute else "") for name in names}
    inner = [node for f in (a, b) for member in f.members for node in walk(member)]
    inverse = any(node.op in ("asin", "acos", "atan") for node in inner)
    arguments = [function(node.args[0], names, DIGITS) for node in inner if node.op in TRIG] if inverse else []
    holding, failing, unknown = Counter[tuple[int, bool]](), Counter[tuple[int, bool]](), Counter[tuple[int, bool]]()
    for side, (here, there) in enumerate(((a, b), (b, a))):
        residual = function(Expr("sub", there.members), names, DIGITS)
        own = tuple((name, kinds[name]) for name in names if name in symbols(*here.members))
        for point in points(here, own):
            x = [
                point.values[name] if name in point.values else mpmath.mpf(drawn(name, kinds[name], point.draw))
                for name in names
            ]
            if _is_principal(arguments, x):
                holds = _holds(residual, x)
                (unknown if holds is None else holding if holds else failing)[side, point.is_proper] += 1
                if holds is False and point.is_proper:
                    return "differs"
    if min(holding[0, True], holding[1, True]) >= ENOUGH:
        return "same where positive" if failing else "same"
    if failing:
        return "differs"
    meet = holding[0, True] + holding[1, True]
    apart = unknown[0, True] + unknown[1, True]
    if not meet and apart >= ENOUGH:
        return "differs"  # where one holds, the other is not even defined
    improper = min(holding[0, False], holding[1, False])
    return "same" if not meet + apart and improper >= ENOUGH else "unclear"


def _is_principal(arguments: list[Function], values: Sequence[Any]) -> bool:
    try:
        return all(0 <= argument(values) <= mpmath.pi / 2 for argument in arguments)
    except UNDEFINED:
        return False


def _holds(residual: Function, values: Sequence[Any]) -> bool | None:
    """Whether the residual is zero there; None where it is not defined."""
    nudged = [value * (1 + NUDGE * (k + 2) / (k + 1.5)) for k, value in enumerate(values)]
    try:
        here, beside = residual(values), residual(nudged)
    except UNDEFINED:
        return None
    return bool(abs(here) <= ZERO * abs(beside - here) / NUDGE) if here != 0 else True

"""Slow, obvious twins of the fast rooms: written from the formulas and not from the kernels. Clarity only.

Numbers are mpmath's with 50 digits, so that a twin can also say whether a rounding bound holds.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import mpmath

from prism.algebra.expr import Expr, Formula, substitute, symbol
from prism.algebra.operators import OPS

if TYPE_CHECKING:
    import sympy

mpmath.mp.dps = 50

UNDEFINED = None  # outside the real domain, or beyond the range of floating point

_HUGE = mpmath.mpf(10) ** 300


def _real_power(base: mpmath.mpf, exponent: mpmath.mpf) -> mpmath.mpf | None:
    if base == 0:
        return mpmath.mpf(0) if exponent > 0 else UNDEFINED
    if base < 0 and exponent != mpmath.nint(exponent):
        return UNDEFINED
    return mpmath.power(base, exponent)


def _root(base: mpmath.mpf, degree: mpmath.mpf) -> mpmath.mpf | None:
    if base < 0:
        return -mpmath.root(-base, int(degree)) if int(degree) % 2 else UNDEFINED
    return mpmath.root(base, int(degree))


TWINS: Mapping[str, Callable[..., mpmath.mpf | None]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b if b else UNDEFINED,
    "neg": lambda a: -a,
    "pow": _real_power,
    "ipow": _real_power,
    "root": _root,
    "sqrt": lambda a: mpmath.sqrt(a) if a >= 0 else UNDEFINED,
    "abs": abs,
    "exp": mpmath.exp,
    "ln": lambda a: mpmath.log(a) if a > 0 else UNDEFINED,
    "log10": lambda a: mpmath.log10(a) if a > 0 else UNDEFINED,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": lambda a: mpmath.asin(a) if abs(a) <= 1 else UNDEFINED,
    "acos": lambda a: mpmath.acos(a) if abs(a) <= 1 else UNDEFINED,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": lambda a: mpmath.acosh(a) if a >= 1 else UNDEFINED,
    "atanh": lambda a: mpmath.atanh(a) if abs(a) < 1 else UNDEFINED,
    "floor": mpmath.floor,
    "factorial": lambda a: mpmath.gamma(a + 1) if a > -0.5 else UNDEFINED,
    "step": lambda a: mpmath.mpf(a >= 0),
    "atan2": lambda a, b: mpmath.atan2(a, b) if a or b else UNDEFINED,
    "widen": lambda a, _: a,
}
"""What each operator means, one row an operator of `operators.OPS`."""


def value(node: Expr, point: Mapping[str, float]) -> mpmath.mpf | None:
    """Value of an expression at a point, or UNDEFINED."""
    if node.op == "num":
        assert node.value is not None
        return mpmath.mpf(node.value.numerator) / node.value.denominator
    if node.op == "const":
        return +mpmath.e if node.name == "e" else +mpmath.pi
    if node.op == "sym":
        return mpmath.mpf(point[node.name])
    args = [value(arg, point) for arg in node.args]
    if any(arg is UNDEFINED for arg in args):
        return UNDEFINED
    result = args[0]
    if len(args) == 1:
        result = TWINS[node.op](args[0])
    for arg in args[1:]:
        if result is UNDEFINED:
            return UNDEFINED
        result = TWINS[node.op](result, arg)
    if result is UNDEFINED or abs(result) > _HUGE:
        return UNDEFINED
    return result


def equivalent(a: Formula, b: Formula, names: tuple[str, ...], points: list[dict[str, float]]) -> bool | None:
    """Whether two equations have the same positive zeros: each symbol is solved for by looking for changes of sign.

    None where no point was found. A root is a zero of the other if the other changes sign, or is zero, within one
    part in 10^7 of it. Simple zeros only.
    """
    found = 0
    for one, other in ((a, b), (b, a)):
        for point in points:
            for target in names:
                for root in positive_roots(one, target, point):
                    found += 1
                    if not _changes_sign(other, target, {**point, target: root}):
                        return False
    return True if found else None


def residual(f: Formula, point: Mapping[str, float]) -> mpmath.mpf | None:
    """Left minus right."""
    left, right = value(f.members[0], point), value(f.members[1], point)
    return UNDEFINED if left is UNDEFINED or right is UNDEFINED else left - right


def positive_roots(f: Formula, target: str, point: Mapping[str, float]) -> list[float]:
    """Positive zeros of the residual in one symbol, by bisection between the points of a fine grid."""
    grid = [10 ** (k / 40 - 4) for k in range(321)]
    values = [residual(f, {**point, target: t}) for t in grid]
    roots = []
    for low, high, f_low, f_high in zip(grid, grid[1:], values, values[1:], strict=False):
        if f_low is UNDEFINED or f_high is UNDEFINED or f_low * f_high > 0:
            continue
        start, end = mpmath.mpf(low), mpmath.mpf(high)
        for _ in range(80):
            middle = (start + end) / 2
            f_middle = residual(f, {**point, target: middle})
            if f_middle is UNDEFINED:
                break
            if f_middle * f_low > 0:
                start = middle
            else:
                end = middle
        limit = max(abs(f_low), abs(f_high))
        f_end = residual(f, {**point, target: end})
        if f_end is not UNDEFINED and abs(f_end) <= limit:  # else a pole
            roots.append(end)
    return roots


def _changes_sign(f: Formula, target: str, point: Mapping[str, float]) -> bool:
    here = residual(f, point)
    if here is UNDEFINED:
        return False
    if abs(here) < mpmath.mpf(10) ** -20:
        return True
    near = [residual(f, {**point, target: point[target] * (1 + step)}) for step in (-1e-7, 1e-7)]
    return any(side is not UNDEFINED and side * here <= 0 for side in near)


# Algorithm 1 of the paper, on sympy, which is imported only where it is used. -----------------------------------------

RANGE = (2, 20)
TOLERANCE = 1e-6
MAX_TRIALS = 40
MIN_EQUAL = 10
SEED = 20261122

Outcome = Literal["equivalent", "rejected", "too_few_trials"]

_NO_CONSTANTS: Mapping[str, Expr] = MappingProxyType({})


class _Unsupported(Exception):
    """A construct that is read and kept, but not evaluated: sympy gets no such formula."""


@dataclass(frozen=True, slots=True)
class Trials:
    """What the trials of Algorithm 1 came to: equal solutions, other solutions, none (B.2 of the paper)."""

    n_eq: int
    n_neq: int
    n_fail: int

    @property
    def outcome(self) -> Outcome:
        """The paper says `not equivalent` to both other outcomes: other solutions in a trial, or too few with any."""
        return "rejected" if self.n_neq else "equivalent" if self.n_eq >= MIN_EQUAL else "too_few_trials"


def algorithm_1(
    a: Formula,
    b: Formula,
    constants: Mapping[str, Expr] = _NO_CONSTANTS,
    solve: Callable[[sympy.Expr, sympy.Symbol], Sequence[Any]] | None = None,
) -> Outcome:
    """Decide on two equations as the paper does: equal positive solutions, in ten trials, for a symbol that changes.

    It ends at the first rejection, as the paper allows; what the published loop says is the same (`run_trials`).

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1.
    """
    return run_trials(a, b, constants, solve, ends_at_rejection=True).outcome


def run_trials(
    a: Formula,
    b: Formula,
    constants: Mapping[str, Expr] = _NO_CONSTANTS,
    solve: Callable[[sympy.Expr, sympy.Symbol], Sequence[Any]] | None = None,
    *,
    ends_at_rejection: bool = False,
) -> Trials:
    """Run the published loop: until MIN_EQUAL trials are valid, equal or not, or MAX_TRIALS are made.

    The paper does not say what a trial is that sympy cannot solve; here it is a failed one, as where neither has a
    solution. Another solver may stand in the place of `positive_solutions`: `real_solutions`, or that of another
    library.

    Source: PRISM-Physics (arXiv 2510.03185), Algorithm 1 and B.2.
    """
    rng = random.Random(SEED)
    one, two = (difference(with_constants(f, constants)) for f in (a, b))
    free = sorted(one.free_symbols | two.free_symbols, key=str)
    n_eq = n_neq = n_fail = 0
    for _ in range(MAX_TRIALS if free else 0):
        target = rng.choice(free)
        point = {other: rng.uniform(*RANGE) for other in free if other != target}
        try:
            first, second = ((solve or positive_solutions)(zero.subs(point), target) for zero in (one, two))
        except NotImplementedError:
            first = second = ()
        if not first and not second:
            n_fail += 1
        elif equal_sets(first, second):
            n_eq += 1
        else:
            n_neq += 1
        if n_eq + n_neq >= MIN_EQUAL or (n_neq and ends_at_rejection):
            break
    return Trials(n_eq, n_neq, n_fail)


def with_constants(f: Formula, constants: Mapping[str, Expr]) -> Formula:
    """Constants put in: those that are expressions first, in one pass, then numbers."""
    expressions = {symbol(name): expr for name, expr in constants.items() if expr.op != "num"}
    numbers = {symbol(name): expr for name, expr in constants.items() if expr.op == "num"}
    members = (substitute(substitute(member, expressions), numbers) for member in f.members)
    return Formula(f.kind, tuple(members), f.relations, f.latex)


def difference(f: Formula) -> sympy.Expr:
    """Left minus right."""
    return in_sympy(f.members[0]) - in_sympy(f.members[1])


def positive_solutions(zero: sympy.Expr, target: sympy.Symbol) -> list[sympy.Float]:
    """Solutions for a symbol that is positive by its assumptions.

    Floats stay floats: made fractions, as sympy does by default, they turn exponentials into polynomials of degree
    hundreds. The price is a root here and there that sympy's own check loses, or that rounding adds.
    """
    import sympy

    parts = [solution.evalf().as_real_imag() for solution in sympy.solve(zero, target, rational=False)]
    return [real for real, imaginary in parts if real > 0 and abs(imaginary) <= TOLERANCE * real]


def real_solutions(zero: sympy.Expr, target: sympy.Symbol) -> list[sympy.Float]:
    """All real solutions for a symbol, negative ones and zero too; the other symbols have positive values, as ever."""
    import sympy

    free = sympy.Dummy(real=True)
    found = sympy.solve(zero.subs(target, free), free, rational=False)
    parts = [solution.evalf().as_real_imag() for solution in found]
    return [real for real, imaginary in parts if abs(imaginary) <= TOLERANCE * max(1, abs(real))]


def equal_sets(first: Sequence[sympy.Float], second: Sequence[sympy.Float]) -> bool:
    """Whether each number has its like in the other set."""
    return all(any(_close(x, y) for y in second) for x in first) and all(
        any(_close(x, y) for x in first) for y in second
    )


def _close(x: sympy.Float, y: sympy.Float) -> bool:
    return abs(x - y) <= TOLERANCE * max(1, abs(x), abs(y))


_ARITHMETIC: Mapping[str, Callable[..., sympy.Expr]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "pow": operator.pow,
    "ipow": operator.pow,
    "root": lambda a, degree: a ** (1 / degree),
}
_OTHER_NAMES = {"abs": "Abs", "ln": "log"}  # all other functions are called the same in sympy


def in_sympy(node: Expr) -> sympy.Expr:
    """The expression in sympy, its symbols positive."""
    import sympy

    if OPS[node.op].opcode is None:
        raise _Unsupported(node.op)
    if node.op == "num":
        assert node.value is not None
        return sympy.Rational(node.value.numerator, node.value.denominator)
    if node.op == "const":
        return sympy.E if node.name == "e" else sympy.pi
    if node.op == "sym":
        return sympy.Symbol(node.name, positive=True)
    args = [in_sympy(arg) for arg in node.args]
    if node.op == "log10":
        return sympy.log(args[0], 10)
    function = _ARITHMETIC.get(node.op) or getattr(sympy, _OTHER_NAMES.get(node.op, node.op))
    return function(*args) if len(args) == 1 else reduce(function, args)

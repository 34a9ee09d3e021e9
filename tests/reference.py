"""Slow, obvious twins of the fast rooms: written from the formulas and not from the kernels. Clarity only.

Numbers are mpmath's with 50 digits, so that a twin can also say whether a rounding bound holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mpmath

from prism.expr import Expr, Formula

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
"""What each operator means, one row an operator of `expr.OPS`."""


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

"""Values of formulas in sympy and symengine, beside those that the slow twin of PRISM's kernels computes.

The formula goes to the library by `Formula.to_sympy` or `to_symengine`, and the library computes: what PRISM read is
held beside an evaluator that is not PRISM's.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from types import MappingProxyType

import mpmath

import prism
from prism.algebra.expr import Expr, Formula, formula, plain_parts, symbols, walk
from prism.algebra.operators import OPS
from tests.reference import value

POINTS = 4  # for the values of one formula
TOLERANCE = 1e-9  # a decimal has 15 digits in sympy, and differences of decimals fewer
_ZERO = 1e-12  # below it, a value is what rounding leaves of zero
_SEED = 20261123


def values_agree(written: Formula, library: str) -> bool | None:
    """Whether a library, one of `LIBRARIES`, has the values that the formula has; None where there are none."""
    to = LIBRARIES[library]
    members = [member for part in plain_parts(written) for member in part.members]
    compared = False
    for member in members:
        if any(OPS[node.op].opcode is None for node in walk(member)):
            continue
        outcomes = []
        for point in _points(symbols(member)):
            ours = _stable_value(member, point)
            if ours is None:
                continue
            theirs = to(formula((member,), ()), point)
            if theirs is None:
                continue
            outcomes.append(_is_near(ours, theirs))
        if outcomes and not any(outcomes):
            return False
        compared = compared or bool(outcomes)
    return compared or None


def same_values(one: Formula, other: Formula) -> bool:
    """Whether two formulas have the same relations, and members of the same values at every point where these are."""
    pairs = list(zip(plain_parts(one), plain_parts(other), strict=False))
    if [part.relations for part in plain_parts(one)] != [part.relations for part in plain_parts(other)]:
        return False
    members = [pair for a, b in pairs for pair in zip(a.members, b.members, strict=True)]
    if any(OPS[node.op].opcode is None for pair in members for member in pair for node in walk(member)):
        return False
    for a, b in members:
        for point in _points(symbols(a, b)):
            ours, theirs = _stable_value(a, point), _stable_value(b, point)
            if (ours is None) != (theirs is None) or (ours is not None and not _is_near(ours, theirs)):
                return False
    return True


def _points(names: frozenset[str]) -> Iterator[dict[str, Fraction]]:
    """Yield a few points, the same for the same symbols."""
    rng = random.Random(_SEED)
    for _ in range(POINTS):
        yield {name: Fraction(rng.randint(11, 399), 100) for name in sorted(names)}


def _is_near(one: mpmath.mpf, other: mpmath.mpf) -> bool:
    """Whether two values are the same but for rounding, or both are what rounding leaves of zero."""
    largest = max(abs(one), abs(other))
    return bool(largest < _ZERO or abs(one - other) <= TOLERANCE * largest)


def _stable_value(member: Expr, point: dict[str, Fraction]) -> mpmath.mpf | None:
    """Value of an expression; None where more digits give another: `1 / sin(pi)`."""
    found = []
    for digits in (50, 70):
        with mpmath.workdps(digits):
            found.append(value(member, {name: mpmath.mpf(at.numerator) / at.denominator for name, at in point.items()}))
    first, second = found
    if first is None or second is None:
        return None
    return first if _is_near(first, second) else None


def in_sympy(written: Formula, point: dict[str, Fraction]) -> mpmath.mpf | None:
    """Value of a bare expression in sympy; None where sympy gives no number."""
    import sympy

    there = written.to_sympy()
    at = {each: sympy.Float(str(float(point[each.name])), 30) for each in there.free_symbols}
    found = there.evalf(30, subs=at)
    return mpmath.mpf(str(found)) if found.is_Float or found.is_Integer or found.is_Rational else None


def in_symengine(written: Formula, point: dict[str, Fraction]) -> mpmath.mpf | None:
    """Value of a bare expression in symengine; None where it gives no number."""
    import symengine

    try:
        there = written.to_symengine()
        at = {each: symengine.RealDouble(float(point[each.name])) for each in there.free_symbols}
        found = complex(there.subs(at).n(53))
    except (prism.ConversionError, RuntimeError, ValueError, ZeroDivisionError):
        return None
    return mpmath.mpf(found.real) if found.imag == 0 and math.isfinite(found.real) else None


LIBRARIES = MappingProxyType({"sympy": in_sympy, "symengine": in_symengine})
OUTCOMES = MappingProxyType({True: "same", False: "other", None: "none to compare"})

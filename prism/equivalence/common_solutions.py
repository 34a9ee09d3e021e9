"""Systems of equations compared by their common solutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, formula, number, symbols, traits_of
from prism.equivalence.dispatch import compare
from prism.equivalence.facts import in_base_units
from prism.equivalence.verdict import Status, Verdict
from prism.physics.context import Context, Declaration

MAX_EQUATIONS = 6  # of a system that is solved
_RANGES = (None, (-3e3, 3e3), (-3e6, 3e6))  # of the unknowns, where solutions are looked for; None is the usual range


def compare_common_solutions(a: Formula, b: Formula, context: Context) -> Verdict | None:
    """Compare two systems of equations by their common solutions: `x + y = 3, x - y = 1` is `x = 2, y = 1`.

    An equation between matrices counts as the system of its entries. With as many equations as symbols, no symbol is
    free to be drawn, and Newton's method only finds solutions near where it starts. So the comparison is made three
    times, each time with a wider range of starting values for symbols of either sign, and must be equivalent each time:
    `x = 1` is not `x^2 - 1001x + 1000 = 0`, whose other solution is 1000.

    Returns:
        Verdict; None if neither formula is a system or has a matrix, if one has anything but equations, or too many.
    """
    if not any(f.kind == "system" or "matrix" in traits_of(f).ops for f in (a, b)):
        return None
    parts = [_equations(f) for f in (a, b)]
    if not all(parts) or max(map(len, parts)) == 1 or max(map(len, parts)) > MAX_EQUATIONS:
        return None
    names = frozenset(name for system in parts for part in system for name in symbols(*part.members))
    one, two = (_stacked(in_base_units(f)) if f.parts else in_base_units(f) for f in (a, b))
    if len(names) != max(map(len, parts)):
        return compare(one, two, context)
    for domain in _RANGES:
        unknown = Declaration("real", domain)
        known = replace(context, symbols={**dict.fromkeys(sorted(names), unknown), **context.symbols})
        verdict = compare(one, two, known)
        if verdict.status != Status.EQUIVALENT:
            break
    return verdict


def _equations(f: Formula) -> tuple[Formula, ...]:
    """Return the equations of a system, or an equation between matrices as the only one; else empty."""
    parts = (
        tuple(_links(f))
        if f.kind == "system"
        else (f,)
        if f.kind == "equation" and "matrix" in traits_of(f).ops
        else ()
    )
    return parts if all(part.kind == "equation" for part in parts) else ()


def _links(system: Formula) -> Iterator[Formula]:
    """Yield the parts of a system, of a chain of equalities its links: `I_2 = I_3` and `I_3 = 1` of `I_2 = I_3 = 1`."""
    for part in system.parts:
        if part.kind == "chain" and set(part.relations) == {"="}:
            yield from (formula(pair, ("=",), part.latex, part.depends) for pair in pairwise(part.members))
        else:
            yield part


def _stacked(system: Formula) -> Formula:
    """Write a system as one equation: the column vector of left minus right sides is 0."""
    rows = tuple(Expr("row", (Expr("sub", part.members),)) for part in _links(system))
    depends = frozenset(pair for part in system.parts for pair in part.depends)
    return formula((Expr("matrix", rows), number(0)), ("=",), system.latex, depends)

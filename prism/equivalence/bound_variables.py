r"""Variables of integrals and sums: one that stands twice, and a range that one of two formulas cuts short.

In `\int_0^1\int_0^y f\,dy\,dy` a variable stands twice. A letter that is not written as a function of one variable may
depend on all those that are integrated over, and by which it is differentiated. Where one of them stands twice, the
letter is integrated over another variable than where each stands once, though for a constant both integrals are the
same (semantics X.2). A sum that goes on to infinity and one that ends at a number agree wherever what is left out is
below rounding (semantics X.9).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, is_infinite, symbols, traits_of, walk
from prism.budget import forgettable

_RANGES = frozenset(("sum", "product", "integral"))
_ENDS = 2  # arguments of a range before its ends
_NESTED = frozenset(("integral", "derivative", "partial"))


def are_integrated_alike(a: Formula, b: Formula) -> bool:
    """Return False if a letter has a variable twice around it in one formula, and others in the other one."""
    if "integral" not in traits_of(a).ops or "integral" not in traits_of(b).ops:
        return True
    written = a.depends | b.depends
    of_one = {name for name, _ in written if len({by for each, by in written if each == name}) == 1}
    for name, found in _variables_around(a).items():
        other = _variables_around(b).get(name, found)
        has_twice = any(len(set(each)) < len(each) for each in found | other)
        if name not in of_one and has_twice and found != other:
            return False
    return True


def are_cut_alike(a: Formula, b: Formula) -> bool:
    r"""Return False if a range goes to infinity in one formula and ends at a number in the other, `\sum_{n=0}^{50}`."""
    one, two = map(_ends_of_ranges, (a, b))
    return not any(
        (op, True) in own and (op, False) in other
        for own, other in ((one - two, two - one), (two - one, one - two))
        for op in _RANGES
    )


def _ends_of_ranges(f: Formula) -> set[tuple[str, bool]]:
    """Return for each sum, product and integral with ends its operation, and if one end is infinite."""
    nodes = (node for member in f.members for node in walk(member) if node.op in _RANGES and len(node.args) > _ENDS)
    return {(node.op, any(map(is_infinite, node.args[_ENDS:]))) for node in nodes}


@forgettable
@lru_cache(4096)
def _variables_around(f: Formula) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return for each letter below an integral the variables of the integrals and derivatives around it, in order."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for member in f.members:
        for node, around in _innermost(member, ()):
            for name in symbols(node) - set(around):
                found.setdefault(name, set()).add(around)
    return {name: frozenset(each) for name, each in found.items()}


def _innermost(node: Expr, around: tuple[str, ...]) -> Iterator[tuple[Expr, tuple[str, ...]]]:
    """Yield the integrands that have no integral themselves, each with the variables around it, outer ones first."""
    if node.op in _NESTED and len(node.args) > 1:
        inner = (*around, *sorted(symbols(node.args[1])))
        if node.op == "integral" and not any(part.op == "integral" for part in walk(node.args[0])):
            yield node.args[0], inner
        yield from _innermost(node.args[0], inner)
        return
    for arg in node.args:
        yield from _innermost(arg, around)

r"""Ranges that one of two formulas cuts short: a sum to infinity beside one that ends at a number (semantics X.9).

They agree wherever what is left out is below rounding.
"""

from __future__ import annotations

from prism.algebra.expr import Formula, is_infinite, walk

_RANGES = frozenset(("sum", "product", "integral"))
_ENDS = 2  # arguments of a range before its ends


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

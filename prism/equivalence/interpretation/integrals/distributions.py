"""Delta functions, and derivatives of what has steps and kinks: without an integral around them they have no value."""

from __future__ import annotations

from collections.abc import Iterator

from prism.algebra.expr import Expr, walk
from prism.equivalence.interpretation.integrals.kinks import DELTAS, POINT_SOURCE, has_delta
from prism.equivalence.interpretation.names import STEPS

_DERIVATIVES = ("derivative", "partial")


def is_distribution(node: Expr) -> bool:
    """Return True for an expression with a delta function, or a derivative of what has a step or, twice, a kink."""
    return has_delta(node) or any(map(_is_rough, _outside_integrals(node)))


def _is_rough(node: Expr) -> bool:
    """Return True for a delta function, and for a derivative of what has a step, or one of second order of a kink."""
    if node.op == "apply":
        return node.name in DELTAS or node.name == POINT_SOURCE
    if node.op not in _DERIVATIVES or not node.args[1:]:
        return False
    steep = node.name != "1" or any(part.op in _DERIVATIVES for part in walk(node.args[0]))
    return any(
        (part.op == "apply" and (part.name in STEPS or part.name in DELTAS) and len(part.args) == 1)
        or (part.op == "abs" and steep and node.args[1] in walk(part))
        for part in _outside_integrals(node.args[0])
    )


def _outside_integrals(node: Expr) -> Iterator[Expr]:
    """Yield the parts of an expression that stand below no integral."""
    yield node
    for arg in node.args if node.op != "integral" else ():
        yield from _outside_integrals(arg)

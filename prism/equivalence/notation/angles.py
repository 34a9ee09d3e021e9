r"""Angles without a unit: `\sin(30)` is of 30 degrees for who works with angles, and of 30 radians as it stands.

Refused: both meanings within a whole turn: `\sin 2` is of two radians.
"""

from __future__ import annotations

import math

from prism.algebra.expr import Expr, Formula, nodes_with, number, rewritten, walk

_TRIGONOMETRIC = frozenset(("sin", "cos", "tan"))
_NO_NUMBERS = frozenset(("unit", "const", "sym", "asin", "acos", "atan"))


def angle_from_degrees(node: Expr) -> Expr:
    """Return `sin(30)` as sin(30 pi/180); any node but the sine, cosine or tangent of a plain number unchanged."""
    if node.op not in _TRIGONOMETRIC or any(part.op in _NO_NUMBERS for part in walk(node.args[0])):
        return node
    turned = Expr("div", (Expr("mul", (node.args[0], Expr("const", name=r"\pi"))), number(180)))
    return Expr(node.op, (turned,), node.name)


def in_degrees(f: Formula) -> Formula:
    """Return a formula with the angles that are written as numbers beyond a whole turn in degrees."""
    nodes = (node for member in f.members for node in nodes_with(member, *_TRIGONOMETRIC))
    if not any(_is_beyond_a_turn(node) for node in nodes):
        return f  # as nearly all formulas: nothing is built

    def turned(node: Expr) -> Expr:
        """Return one node with its angle in degrees."""
        return angle_from_degrees(node) if node.op in _TRIGONOMETRIC and _is_beyond_a_turn(node) else node

    return rewritten(f, turned)


def _is_beyond_a_turn(node: Expr) -> bool:
    """Return True for a function of a written number above 2 pi."""
    value = node.args[0].value
    return value is not None and value > 2 * math.pi

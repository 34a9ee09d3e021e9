"""Terms that oscillate as sums of exponentials, each of which Levin's transform sums alone."""

from __future__ import annotations

from fractions import Fraction

from prism.algebra.expr import Expr, number, symbols
from prism.budget import charge_steps

_MOST_PARTS = 16
IMAGINARY = Expr("sqrt", (number(-1),))
"""The imaginary unit, whatever its letter."""
_HALF = number(Fraction(1, 2))
_MOST_DEPTH = 8


def parts_of(body: Expr, letter: str) -> list[Expr]:
    """Return expressions whose sum a term is, without sines and cosines of its index; the term itself if too many."""
    found = _parts(body, letter, 0)
    return found if 1 < len(found) <= _MOST_PARTS else [body]


def _parts(node: Expr, letter: str, depth: int) -> list[Expr]:
    """Return the parts of an expression, at most a few more than are used."""
    charge_steps(1)
    if letter not in symbols(node) or depth > _MOST_DEPTH:
        return [node]
    if node.op in ("add", "sub", "neg"):
        found = []
        for k, arg in enumerate(node.args):
            is_negative = node.op == "neg" or (node.op == "sub" and k > 0)
            parts = _parts(arg, letter, depth + 1)
            found += [Expr("neg", (part,)) for part in parts] if is_negative else parts
        return found[: 2 * _MOST_PARTS]
    if node.op in ("sin", "cos"):
        return _exponentials(node)
    if node.op == "div":
        return [Expr("div", (part, node.args[1])) for part in _parts(node.args[0], letter, depth + 1)]
    if node.op == "pow" and node.args[1].value == 2:
        return _product([_parts(node.args[0], letter, depth + 1)] * 2)
    if node.op == "mul":
        return _product([_parts(arg, letter, depth + 1) for arg in node.args])
    return [node]


def _exponentials(node: Expr) -> list[Expr]:
    """Return a sine or cosine as two exponentials."""
    phase = Expr("mul", (IMAGINARY, node.args[0]))
    waves = [Expr("exp", (phase,)), Expr("exp", (Expr("neg", (phase,)),))]
    if node.op == "cos":
        return [Expr("mul", (_HALF, wave)) for wave in waves]
    below = Expr("mul", (number(2), IMAGINARY))
    return [Expr("div", (waves[0], below)), Expr("neg", (Expr("div", (waves[1], below)),))]


def _product(factors: list[list[Expr]]) -> list[Expr]:
    """Return the terms of a product of sums."""
    found: list[tuple[Expr, ...]] = [()]
    for parts in factors:
        found = [(*before, part) for before in found for part in parts][: 2 * _MOST_PARTS]
    return [each[0] if len(each) == 1 else Expr("mul", each) for each in found]

r"""Brackets of Macaulay, `\langle x - a\rangle^n`, which look like means: 0 before a, a step or a load for n <= 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prism.algebra.symbols import symbol_of
from prism.algebra.terms import terms_of

if TYPE_CHECKING:
    from prism.algebra.expr import Expr

MACAULAY = "macaulay"  # name of a bracket
_COORDINATES = frozenset(("x", "y", "z", "s", "r", "t"))


def is_mean(node: Expr) -> bool:
    r"""Return True for one expression in angle brackets, `\langle x\rangle`."""
    return node.op == "bracket" and symbol_of(node.name).base == "mean" and len(node.args) == 1


def is_macaulay(node: Expr) -> bool:
    r"""Return True for a bracket that a power shows to be Macaulay's, `\langle x - a\rangle^2`."""
    return node.op == "bracket" and node.name == MACAULAY


def shows_macaulay(power: Expr) -> bool:
    """Return True for a power that no mean is raised to: 0, or any but 1 of a coordinate less something else."""
    base, exponent = power.args
    return is_mean(base) and (exponent.value == 0 or (exponent.value != 1 and may_be_macaulay(base)))


def may_be_macaulay(node: Expr) -> bool:
    r"""Return True for a coordinate in angle brackets, more or less something else: `\langle x - \frac L2\rangle`."""
    if is_macaulay(node):
        return True
    if not is_mean(node) or node.args[0].op not in ("add", "sub"):
        return False
    terms = list(terms_of(node.args[0]))
    coordinates = [term for term in terms if _is_coordinate(term)]
    return len(coordinates) == 1 and not any(
        map(_has_mean_or_coordinate, (t for t in terms if t is not coordinates[0]))
    )


def is_step(node: Expr) -> bool:
    r"""Return True for a bracket to the power 0, or to a negative one if it may be Macaulay's: no power of a number."""
    if node.op != "pow" or not (is_mean(node.args[0]) or is_macaulay(node.args[0])):
        return False
    exponent = node.args[1]
    value = -(exponent.args[0].value or 1) if exponent.op == "neg" else exponent.value
    return value is not None and (value == 0 or (value < 0 and may_be_macaulay(node.args[0])))


def _is_coordinate(term: Expr) -> bool:
    """Return True for a coordinate, maybe with a number before it or below."""
    if term.op in ("mul", "div"):
        others = [arg for arg in term.args if arg.op != "num"]
        return len(others) == 1 and _is_coordinate(others[0])
    return term.op == "sym" and term.name in _COORDINATES


def _has_mean_or_coordinate(node: Expr) -> bool:
    """Return True if an expression has a mean in it, or a coordinate."""
    return is_mean(node) or _is_coordinate(node) or any(map(_has_mean_or_coordinate, node.args))

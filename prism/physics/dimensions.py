"""Dimensions of expressions: `v t` is a length where v and t are a speed and a time.

The op-table defines how the dimension of each operator's result follows from those of its operands. What is not
known (a symbol without unit, an integral) stays open and is consistent with everything: only what is certainly wrong
is called inconsistent.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from operator import add, sub

from prism.algebra.expr import Expr, Formula
from prism.algebra.operators import OPS
from prism.algebra.terms import number_of
from prism.physics.tables import BASE_UNITS, DIMENSIONLESS, Dimension

_BASE = {
    rf"\unit{{{name}}}": tuple(Fraction(int(name == other)) for other in BASE_UNITS) for name in BASE_UNITS
}  # dimensions of the symbols that units are resolved to


class Inconsistent(Exception):
    """Raised where two dimensions meet that have to be equal but differ; the message names both."""


def dimension_of(node: Expr, known: Mapping[str, Dimension]) -> Dimension | None:
    """Return the dimension of an expression in base units; None if it is not determined.

    Args:
        known: dimensions of symbols by name.

    Errors:
        Inconsistent: a sum of a length and a time, a logarithm of a mass.
    """
    if node.op == "sym":
        return known.get(node.name) or _BASE.get(node.name)
    if node.op == "num":
        return DIMENSIONLESS if node.value else None  # zero is compatible with any dimension
    if node.op == "const":
        return DIMENSIONLESS
    rule = OPS[node.op].dimension
    if rule == "free":
        return None
    found = [dimension_of(arg, known) for arg in node.args]
    if rule == "same":
        return _shared_dimension(node, found)
    if rule == "pure":
        for arg, dimension in zip(node.args, found, strict=True):
            if dimension is not None and any(dimension):
                raise Inconsistent(f"{node.op} of {arg}, which is in {dimension_text(dimension)}")
        return DIMENSIONLESS
    if rule == "power":
        return _power_dimension(node, found)
    certain = [dimension for dimension in found if dimension is not None]
    if len(certain) < len(found):
        return None
    join = add if rule == "product" else sub
    total = certain[0]
    for dimension in certain[1:]:
        if dimension is not DIMENSIONLESS:
            total = tuple(map(join, total, dimension))
    return total


def _shared_dimension(node: Expr, operands: list[Dimension | None]) -> Dimension | None:
    """Return the dimension that all operands of a sum share; None if no operand has a known one.

    Args:
        node: the sum.
        operands: dimensions of its operands, None where not known.

    Errors:
        Inconsistent: two operands have different dimensions.
    """
    certain = [(arg, each) for arg, each in zip(node.args, operands, strict=False) if each is not None]
    for arg, each in certain[1:]:
        if each != certain[0][1]:
            first = dimension_text(certain[0][1])
            raise Inconsistent(f"{certain[0][0]} is in {first}, {arg} in {dimension_text(each)}")
    return certain[0][1] if certain else None


def _power_dimension(node: Expr, operands: list[Dimension | None]) -> Dimension | None:
    """Return the dimension of a power or root; None if that of the base, or the exponent's value, is not known.

    Args:
        operands: dimensions of base and exponent, None where not known.
    """
    base = operands[0]
    if base is None:
        return None
    if not any(base):
        return DIMENSIONLESS
    if node.op == "sqrt":
        return tuple(power / 2 for power in base)
    exponent = node.args[1]
    value = number_of(exponent)
    if value is None and exponent.op == "div" and all(arg.value for arg in exponent.args):
        value = (exponent.args[0].value or Fraction(0)) / (exponent.args[1].value or Fraction(1))
    if value is None or (node.op == "root" and not value):
        return None
    return tuple(power / value if node.op == "root" else power * value for power in base)


def inconsistency(f: Formula, known: Mapping[str, Dimension]) -> str:
    """Return in words why the dimensions in a formula in base units do not fit; an empty string if they may.

    Args:
        known: dimensions of symbols by name.
    """
    try:
        sides = [(member, dimension_of(member, known)) for member in f.members]
    except Inconsistent as fault:
        return str(fault)
    certain = [(member, dimension) for member, dimension in sides if dimension is not None]
    for member, dimension in certain[1:]:
        if dimension != certain[0][1] and f.kind in ("equation", "inequality", "chain"):
            first = dimension_text(certain[0][1])
            return f"{certain[0][0]} is in {first}, {member} in {dimension_text(dimension)}"
    return ""


def dimension_text(dimension: Dimension) -> str:
    """Spell a dimension in base units for people: `m kg s^-2`.

    >>> from prism.physics.quantities import read_quantity
    >>> dimension_text(read_quantity("3 N").dimension), dimension_text(read_quantity("3").dimension)
    ('m kg s^-2', 'plain numbers')
    """
    named = zip(BASE_UNITS, dimension, strict=True)
    parts = [name if power == 1 else f"{name}^{power}" for name, power in named if power]
    return " ".join(parts) or "plain numbers"

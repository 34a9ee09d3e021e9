"""Terms of a sum, factors of a product and numbers as they are written, for modules below the expressions too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prism.algebra.expr import Expr


def terms_of(node: Expr) -> Iterator[Expr]:
    """Yield the terms of nested sums that are not in a function, without their signs."""
    if node.op in ("add", "sub", "neg"):
        for arg in node.args:
            yield from terms_of(arg)
    else:
        yield node


def digits_of(literal: Expr) -> str:
    """Return the digits of a number as it is written, from the first that is not 0, without its power of ten."""
    return literal.name.partition("e")[0].replace(".", "").lstrip("-0")


def last_place_of(literal: Expr) -> Fraction:
    """Return what the last written digit of a number counts: 1/100 of `9.81`."""
    digits, _, power = literal.name.partition("e")
    return Fraction(10) ** (int(power or 0) - len(digits.partition(".")[2]))


def number_of(node: Expr) -> Fraction | None:
    """Return the number that is written, with its sign, 2 or -2; None for anything else."""
    return node.value if node.op != "neg" else None if (value := node.args[0].value) is None else -value


def whole_number(node: Expr) -> int | None:
    """Return the whole number that is written, with its sign; None for anything else."""
    value = number_of(node)
    return None if value is None or value.denominator != 1 else int(value)


def factors_with_powers(node: Expr, power: int) -> Iterator[tuple[Expr, int]]:
    """Yield (factor, integer exponent) for the factors of `node^power`, left to right; a minus sign is (neg, 1)."""
    if node.op == "neg":
        yield replace(node, args=()), 1
        yield from factors_with_powers(node.args[0], power)
    elif node.op == "mul":
        for arg in node.args:
            yield from factors_with_powers(arg, power)
    elif node.op == "div":
        yield from factors_with_powers(node.args[0], power)
        yield from factors_with_powers(node.args[1], -power)
    elif node.op == "pow" and (exponent := whole_number(node.args[1])) is not None:
        yield from factors_with_powers(node.args[0], power * exponent)
    else:
        yield node, power

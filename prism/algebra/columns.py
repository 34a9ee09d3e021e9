r"""Columns written as binomial coefficients, `\psi = \binom{a}{b}` and `\vec r = {x \choose y}`."""

from __future__ import annotations

from prism.algebra.expr import Expr, nodes_with, ops_of, substitute, symbols
from prism.algebra.symbols import LETTERS_OF_STATES, symbol_of

_WHOLE = frozenset(("n", "k", "N", "K", "m", "M", "r", "i", "j", "l"))  # letters of whole numbers


def with_columns(members: tuple[Expr, ...]) -> tuple[Expr, ...]:
    r"""Return the members of a formula with binomials as columns, if one member is a vector, a state or a column.

    Not where a vector or a sum stands beside the binomial: `\vec S = \binom{n}{k}\vec s` has a number.
    """
    coefficients = {node for member in members for node in nodes_with(member, "binomial")}
    if not coefficients or not any(map(is_column, members)):
        return members
    beside = [member for member in members if "binomial" in ops_of(member)]
    if any("sum" in ops_of(member) or has_vectors(member) for member in beside):
        return members
    columns = {node: as_column(node) for node in coefficients}
    return tuple(substitute(member, columns) for member in members)


def as_column(coefficient: Expr) -> Expr:
    """Return the column of the entries of a binomial coefficient."""
    return Expr("matrix", tuple(Expr("row", (entry,)) for entry in coefficient.args))


def is_column(member: Expr) -> bool:
    r"""Return True for a vector times numbers, a lone letter of a state, a ket, or what has a table: `\chi_+`."""
    if "matrix" in ops_of(member) or any(node.name == "ket" for node in nodes_with(member, "bracket")):
        return True
    if member.op == "sym" and symbol_of(member.name).head in LETTERS_OF_STATES:
        return True
    return "dot" not in ops_of(member) and has_vectors(member)


def has_vectors(member: Expr) -> bool:
    """Return True for an expression with a letter that has an arrow or is in bold type."""
    return any(symbol_of(name).is_vector for name in symbols(member))


def counts(entry: Expr) -> bool:
    """Return True for what a binomial coefficient has for an entry: a whole number, its letters, and sums of them."""
    if entry.op in ("add", "sub", "mul", "div", "neg"):
        return all(map(counts, entry.args))
    if entry.op == "sym":
        return symbol_of(entry.name).head in _WHOLE
    return entry.value is not None and entry.value.denominator == 1

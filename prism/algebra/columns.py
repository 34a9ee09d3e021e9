r"""Columns written as binomial coefficients, `\psi = \binom{a}{b}` and `\vec r = {x \choose y}`."""

from __future__ import annotations

from prism.algebra.expr import Expr, nodes_with, ops_of, substitute, symbols
from prism.algebra.symbols import LETTERS_OF_STATES, symbol_of


def with_columns(members: tuple[Expr, ...]) -> tuple[Expr, ...]:
    r"""Return the members of a formula with binomials as columns, if one member is a vector, a state or a column.

    Not where a vector or a sum stands beside the binomial: `\vec S = \binom{n}{k}\vec s` has a number.
    """
    coefficients = {node for member in members for node in nodes_with(member, "binomial")}
    if not coefficients or not any(map(_is_column, members)):
        return members
    beside = [member for member in members if "binomial" in ops_of(member)]
    if any("sum" in ops_of(member) or has_vectors(member) for member in beside):
        return members
    columns = {each: Expr("matrix", tuple(Expr("row", (entry,)) for entry in each.args)) for each in coefficients}
    return tuple(substitute(member, columns) for member in members)


def _is_column(member: Expr) -> bool:
    r"""Return True for a vector times numbers, a lone letter of a state, a ket, or what has a table: `\chi_+`."""
    if "matrix" in ops_of(member) or any(node.name == "ket" for node in nodes_with(member, "bracket")):
        return True
    if member.op == "sym" and symbol_of(member.name).head in LETTERS_OF_STATES:
        return True
    return "dot" not in ops_of(member) and has_vectors(member)


def has_vectors(member: Expr) -> bool:
    """Return True for an expression with a letter that has an arrow or is in bold type."""
    return any(symbol_of(name).is_vector for name in symbols(member))

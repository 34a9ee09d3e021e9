"""Vectors and matrices as tables of numbers, and their products."""

from __future__ import annotations

from dataclasses import replace

from prism.algebra.expr import Expr
from prism.engine.lowering.arithmetic import (
    Mismatch,
    NoValue,
    Pair,
    Scope,
    Table,
    Value,
    apply_binary,
    combine_pairs,
    conjugate_pair,
    dot_product,
    multiply_tables,
)
from prism.engine.lowering.scalars import lower_node, lower_number

_TRANSPOSES = ("T", r"\dagger", "*")


def lower_matrix(node: Expr, scope: Scope) -> Table:
    """Lower a matrix written out by its entries; NoValue if rows differ in length, Mismatch for a table as an entry."""
    rows = [row.args if row.op == "row" else (row,) for row in node.args]
    if len({len(row) for row in rows}) != 1:
        raise NoValue("matrix")
    return Table(len(rows), len(rows[0]), tuple(lower_number(entry, scope) for row in rows for entry in row))


def lower_tuple(node: Expr, scope: Scope) -> Table:
    """Lower `(x, y, z)` to a column; NoValue unless the notation has columns of that length."""
    if not scope.notation.has_columns or len(node.args) != scope.notation.dimension:
        raise NoValue("tuple")
    return Table(len(node.args), 1, tuple(lower_number(entry, scope) for entry in node.args))


def lower_transpose(node: Expr, scope: Scope) -> Value:
    r"""Lower `A^T`, `A^\dagger`, `A^*` of a table (`(x, y, z)^T` is the column itself); NoValue for anything else."""
    if node.name not in _TRANSPOSES or (node.args[0].op == "tuple" and node.name != "T"):
        raise NoValue("opaque")
    table = lower_node(node.args[0], scope)
    if not isinstance(table, Table):
        raise NoValue("opaque")
    if node.args[0].op == "tuple":
        return table
    if node.name != "T":
        table = replace(table, entries=tuple(conjugate_pair(entry, scope) for entry in table.entries))
    if node.name == "*":
        return table
    entries = tuple(table.entries[r * table.columns + c] for c in range(table.columns) for r in range(table.rows))
    return Table(table.columns, table.rows, entries)


def lower_dot(node: Expr, scope: Scope) -> Value:
    r"""Lower `a \cdot b`: a scalar product, a matrix product, or a table times a number; NoValue of two numbers."""
    values = [lower_node(arg, scope) for arg in node.args]
    if not any(isinstance(value, Table) for value in values):
        raise NoValue("dot")
    a, b = values
    if not isinstance(a, Table) or not isinstance(b, Table):
        return apply_binary("mul", a, b, scope)  # `m . \hat r`, a number upon a direction
    if a.columns == a.rows and a.rows > 1:
        return multiply_tables(a, b, scope)
    return dot_product(a, b, scope)


def lower_cross(node: Expr, scope: Scope) -> Value:
    r"""Lower `\vec a \times \vec b` of two columns of three; NoValue for numbers, Mismatch for other shapes."""
    a, b = (lower_node(arg, scope) for arg in node.args)
    if not isinstance(a, Table) or not isinstance(b, Table):
        raise NoValue("cross")
    if (a.rows, a.columns, b.rows, b.columns) != (3, 1, 3, 1):
        raise Mismatch("a vector product needs three components")

    def minor(i: int, j: int) -> Pair:
        """Return a_i b_j - a_j b_i, a component of the vector product."""
        first = combine_pairs("mul", a.entries[i], b.entries[j], scope)
        return combine_pairs("sub", first, combine_pairs("mul", a.entries[j], b.entries[i], scope), scope)

    return Table(3, 1, (minor(1, 2), minor(2, 0), minor(0, 1)))

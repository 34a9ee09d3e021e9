r"""An equation between vectors as a system of its components, `\vec F = q\vec v\times\vec B` as three equations."""

from __future__ import annotations

from collections.abc import Sequence

from prism.algebra.expr import Expr, Formula, number, symbol, with_members
from prism.algebra.symbols import symbol_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.decision import Outcome, compare_by_interpretation
from prism.physics.context import Context

_MOST = 4  # components
_STEPS = 50  # charged for each equation that is written out
_DERIVATIVES = ("derivative", "partial")


def compare_with_system(equation: Formula, system: Formula, context: Context) -> Outcome:
    """Compare an equation between vectors with a system of equations, in any order."""
    found = components_of(equation)
    parts = system.parts
    if found is None or len(found) != len(parts) or len(parts) > _MOST or not all(_is_plain(part) for part in parts):
        return Outcome(None, "no system of components")
    charge_steps(_STEPS * len(parts))
    left = list(parts)
    for component in found:
        match = next((p for p in left if compare_by_interpretation(component, p, context).same is True), None)
        if match is None:
            return Outcome(None, "a component that no equation says")
        left.remove(match)
    return Outcome(True)


def _is_plain(f: Formula) -> bool:
    """Return True for one equation."""
    return f.kind == "equation" and len(f.members) == 2 and not f.parts


def components_of(equation: Formula) -> list[Formula] | None:
    """Return the components of an equation between two columns; None for any other."""
    if not _is_plain(equation):
        return None
    sides = [_column(member) for member in equation.members]
    sizes = {len(side) for side in sides if side is not None}
    if len(sizes) != 1:
        return None
    (size,) = sizes
    whole = [
        [number(0)] * size if side is None and member.value == 0 else side
        for side, member in zip(sides, equation.members, strict=True)
    ]
    if whole[0] is None or whole[1] is None:
        return None
    return [with_members(equation, (one, two)) for one, two in zip(whole[0], whole[1], strict=True)]


def _column(node: Expr) -> list[Expr] | None:
    """Return the entries of a column or the components of a vector; None for what is none."""
    if node.op == "matrix":
        rows = _rows(node)
        return [row[0] for row in rows] if all(len(row) == 1 for row in rows) and len(rows) > 1 else None
    if node.op == "sym":
        read = symbol_of(node.name)
        is_vector = read.is_vector and read.letter == node.name
        return [symbol(f"{read.base}_{axis}") for axis in "xyz"] if is_vector else None
    if node.op in ("add", "sub", "neg"):
        parts = [_column(arg) for arg in node.args]
        if any(part is None or len(part) != len(parts[0] or ()) for part in parts):
            return None
        return [Expr(node.op, entries) for entries in zip(*(part for part in parts if part is not None), strict=True)]
    if node.op == "div":
        above = _column(node.args[0])
        return None if above is None else [Expr("div", (entry, node.args[1])) for entry in above]
    if node.op in _DERIVATIVES:
        inner = _column(node.args[0])
        return None if inner is None else [Expr(node.op, (entry, *node.args[1:]), node.name) for entry in inner]
    if node.op == "cross":
        a, b = (_column(arg) for arg in node.args)
        return None if a is None or b is None or len(a) != 3 or len(b) != 3 else _cross(a, b)
    return _product(node.args) if node.op == "mul" else None


def _rows(node: Expr) -> list[tuple[Expr, ...]]:
    """Return the rows of a matrix that is written out."""
    return [row.args if row.op == "row" else (row,) for row in node.args]


def _product(factors: Sequence[Expr]) -> list[Expr] | None:
    """Return the column that a product of numbers and matrices with one column at its end is.

    None where there is no matrix, the last one is no column, or their sizes do not fit.
    """
    scalars = [arg for arg in factors if arg.op != "matrix" and _column(arg) is None]
    tables = [arg for arg in factors if arg.op == "matrix" or _column(arg) is not None]
    if not tables:
        return None
    column = _column(tables[-1])
    for table in reversed(tables[:-1]):
        rows = _rows(table) if table.op == "matrix" else []
        if column is None or not rows or any(len(row) != len(column) for row in rows):
            return None
        column = [
            Expr("add", tuple(Expr("mul", (entry, below)) for entry, below in zip(row, column, strict=True)))
            for row in rows
        ]  # fmt: skip
    if column is None or not scalars:
        return column
    return [Expr("mul", (*scalars, entry)) for entry in column]


def _cross(a: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
    """Return the components of a vector product."""
    return [Expr("sub", (Expr("mul", (a[j], b[k])), Expr("mul", (a[k], b[j])))) for j, k in ((1, 2), (2, 0), (0, 1))]

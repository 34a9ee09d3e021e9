r"""Unit matrices beside matrices that are written out: `sI - A` with the entries of A has the entries of I."""

from __future__ import annotations

from prism.algebra.expr import Expr, Formula, number, rewritten, walk, with_args
from prism.equivalence.interpretation.names import UNIT_MATRICES


def with_unit_matrices(f: Formula) -> Formula:
    """Return a formula in which the unit matrix is written out in a sum with a square matrix that is."""
    if not any(node.op == "matrix" for member in f.members for node in walk(member)):
        return f
    return rewritten(f, _written_out)


def _written_out(node: Expr) -> Expr:
    """Return a sum with unit matrices written out; any other node as it is."""
    terms = node.args if node.op in ("add", "sub") else ()
    sizes = {len(matrix.args) for arg in terms if (matrix := _matrix_in(arg)) is not None and _is_square(matrix)}
    return with_args(node, tuple(_with_unit(arg, *sizes) for arg in terms)) if len(sizes) == 1 else node


def _matrix_in(term: Expr) -> Expr | None:
    """Return the matrix that a term is a multiple of; None if it is none."""
    factors = term.args if term.op in ("mul", "neg", "div") else (term,)
    found = [factor for factor in factors if factor.op == "matrix"]
    return found[0] if len(found) == 1 else None


def _is_square(matrix: Expr) -> bool:
    """Return True for as many columns as rows."""
    return all(row.op == "row" and len(row.args) == len(matrix.args) for row in matrix.args)


def _with_unit(term: Expr, size: int) -> Expr:
    """Return a term whose last factor is the unit matrix with that one written out."""
    if term.op == "sym" and term.name in UNIT_MATRICES:
        rows = (Expr("row", tuple(number(int(j == k)) for j in range(size))) for k in range(size))
        return Expr("matrix", tuple(rows))
    if term.op == "mul":
        return Expr("mul", (*term.args[:-1], _with_unit(term.args[-1], size)))
    return term

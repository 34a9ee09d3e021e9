r"""Equations between matrices, solved for a column or its rate of change: `X^TX\beta = X^Ty` for beta."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flint import acb

from prism.algebra.expr import Expr, Formula, canonical, walk
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.signature import is_column
from prism.equivalence.interpretation.values import (
    Scalar,
    Table,
    Unvalued,
    Value,
    compare_to_zero,
    inverse,
    multiply,
    size_of,
)

_Residual = Callable[[Draw, Formula, Scope], tuple[Value, float]]
_DERIVATIVES = ("derivative", "partial")


def solves_for_column(draw: Draw, a: Formula, b: Formula, residual: _Residual) -> bool | None:
    """Return True if the column that solves `a` solves `b`, False if it does not; None if none solves `a` alone.

    Args:
        residual: gives left minus right of an equation, and the size of its terms.
    """
    for key in _columns(draw, a, b):
        try:
            value = Evaluator(draw).value(key, Scope())
            found = _solution(draw, a, key, value, residual) if isinstance(value, Table) else None
        except (Unvalued, ZeroDivisionError):
            continue
        if found is not None:
            difference, scale = residual(draw, b, _with(key, found))
            apart, _ = residual(draw, b, _with(key, found.each(lambda entry: entry * acb(1.01))))
            return compare_to_zero(difference, max(scale, size_of(apart)))
    return None


def _columns(draw: Draw, a: Formula, b: Formula) -> Iterator[Expr]:
    """Yield the columns and their derivatives that both equations have, derivatives of the highest order first."""
    both = [{node for member in f.members for node in walk(member)} for f in (a, b)]
    common = both[0] & both[1]
    matrices = draw.signature.matrices
    rates = [node for node in common if node.op in _DERIVATIVES and node.args[0].name in matrices]
    letters = [node for node in common if node.op == "sym" and node.name in matrices]
    for node in (*sorted(rates, key=canonical, reverse=True), *sorted(letters, key=canonical)):
        if is_column(node.args[0].name if node.op in _DERIVATIVES else node.name):
            yield node


def _with(key: Expr, value: Table) -> Scope:
    """Return the scope in which a letter or a derivative has a value."""
    return Scope().with_value(key.name if key.op == "sym" else canonical(key), value)


def _solution(draw: Draw, f: Formula, key: Expr, like: Table, residual: _Residual) -> Table | None:
    """Return the column that solves an equation in which it stands linearly; None if there is none, or several."""

    def at(entries: tuple[Scalar, ...]) -> tuple[Table, float]:
        """Return the residual for a column."""
        found, scale = residual(draw, f, _with(key, Table(like.rows, 1, entries)))
        if not isinstance(found, Table) or found.columns != 1:
            raise Unvalued("no equation between columns")
        return found, scale

    zeros = (acb(0),) * like.rows
    start, _ = at(zeros)
    if start.rows != like.rows:
        return None
    slopes = []
    for k in range(like.rows):
        moved, _ = at(tuple(acb(int(j == k)) for j in range(like.rows)))
        slopes.append([moved.entries[r] - start.entries[r] for r in range(like.rows)])
    rows = Table(like.rows, like.rows, tuple(slopes[c][r] for r in range(like.rows) for c in range(like.rows)))
    found = multiply(multiply(acb(-1), inverse(rows)), start)
    if not isinstance(found, Table) or size_of(start) == 0:
        return None
    left, scale = at(found.entries)
    return found if compare_to_zero(left, max(scale, size_of(start))) is True else None

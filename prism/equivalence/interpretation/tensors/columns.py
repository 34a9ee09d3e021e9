r"""Equations between matrices, solved for a column or its rate of change: `X^TX\beta = X^Ty` for beta.

A column that is written out is solved for by one letter of each of its entries, which stands nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from flint import acb

from prism.algebra.expr import Expr, Formula, canonical, symbols, walk
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

Residual = Callable[[Draw, Formula, Scope], tuple[Value, float]]
"""What gives left minus right of an equation, and the size of its terms."""
_DERIVATIVES = ("derivative", "partial")


def solves_for_column(draw: Draw, a: Formula, b: Formula, residual: Residual) -> bool | None:
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
    """Yield columns, and matrices that are a side, that both equations have; derivatives of the highest order first."""
    both = [{node for member in f.members for node in walk(member)} for f in (a, b)]
    common = both[0] & both[1]
    matrices = draw.signature.matrices
    rates = [node for node in common if node.op in _DERIVATIVES and node.args[0].name in matrices]
    letters = [node for node in common if node.op == "sym" and node.name in matrices]
    for node in (*sorted(rates, key=canonical, reverse=True), *sorted(letters, key=canonical)):
        is_side = node in (*a.members, *b.members)
        if is_side or is_column(node.args[0].name if node.op in _DERIVATIVES else node.name):
            yield node


def _with(key: Expr, value: Table) -> Scope:
    """Return the scope in which a letter or a derivative has a value."""
    return Scope().with_value(key.name if key.op == "sym" else canonical(key), value)


def _solution(draw: Draw, f: Formula, key: Expr, like: Table, residual: Residual) -> Table | None:
    """Return the table that solves an equation in which it stands linearly; None if there is none, or several."""
    size = len(like.entries)

    def at(entries: tuple[Scalar, ...]) -> tuple[Table, float]:
        """Return the residual for a table; raises Unvalued for an equation of another size."""
        found, scale = residual(draw, f, _with(key, Table(like.rows, like.columns, entries)))
        if not isinstance(found, Table) or len(found.entries) != size:
            raise Unvalued("no equation between tables of one size")
        return Table(size, 1, found.entries), scale

    start, _ = at((acb(0),) * size)
    slopes = []
    for k in range(size):
        moved, _ = at(tuple(acb(int(j == k)) for j in range(size)))
        slopes.append([moved.entries[r] - start.entries[r] for r in range(size)])
    rows = Table(size, size, tuple(slopes[c][r] for r in range(size) for c in range(size)))
    found = multiply(multiply(acb(-1), inverse(rows)), start)
    if not isinstance(found, Table) or size_of(start) == 0:
        return None
    left, scale = at(found.entries)
    solved = Table(like.rows, like.columns, found.entries)
    return solved if compare_to_zero(left, max(scale, size_of(start))) is True else None


def solves_for_entries(draw: Draw, a: Formula, b: Formula, residual: Residual) -> bool | None:
    """Return True if what solves `a` for the entries of a column that is written out in both equations solves `b`.

    None if there is no such column, or none that `a` alone determines.
    """
    for names in _letters_of_columns(a, b):
        try:
            found = _solution_by_letters(draw, a, names, residual)
        except (Unvalued, ZeroDivisionError):
            continue
        if found is not None:
            difference, scale = residual(draw, b, _with_letters(names, found))
            moved = [entry * acb(1.01) for entry in found]
            return compare_to_zero(difference, max(scale, size_of(residual(draw, b, _with_letters(names, moved))[0])))
    return None


def _letters_of_columns(a: Formula, b: Formula) -> Iterator[list[str]]:
    """Yield for each column of both equations a letter of each entry that stands nowhere else."""
    nodes = [[node for member in f.members for node in walk(member)] for f in (a, b)]
    for column in dict.fromkeys(node for node in nodes[0] if node.op == "matrix" and node in nodes[1]):
        entries = [row.args if row.op == "row" else (row,) for row in column.args]
        if len(entries) < 2 or any(len(row) != 1 for row in entries):
            continue
        names = [
            next((name for name in sorted(symbols(entry)) if _stands_once(name, column, nodes)), "")
            for (entry,) in entries
        ]
        if all(names):
            yield names


def _stands_once(name: str, column: Expr, nodes: Sequence[Sequence[Expr]]) -> bool:
    """Return True for a symbol that stands in one place of a column, and outside of it in neither formula."""
    inside = sum(node.name == name for node in walk(column) if node.op == "sym")
    every = [sum(node.op == "sym" and node.name == name for node in each) for each in nodes]
    return inside == 1 and every == [1, 1]


def _with_letters(names: Sequence[str], values: Sequence[Scalar]) -> Scope:
    """Return the scope in which letters have values."""
    return Scope(values=dict(zip(names, values, strict=True)))


def _solution_by_letters(draw: Draw, f: Formula, names: Sequence[str], residual: Residual) -> list[Scalar] | None:
    """Return the values of letters that solve an equation in which they stand linearly; None if others do too."""
    size = len(names)

    def at(values: Sequence[Scalar]) -> tuple[Table, float]:
        """Return the residual for values of the letters; raises Unvalued for no column."""
        found, scale = residual(draw, f, _with_letters(names, values))
        if not isinstance(found, Table) or (found.rows, found.columns) != (size, 1):
            raise Unvalued("no equation between columns")
        return found, scale

    start, _ = at([acb(0)] * size)
    moved = [at([acb(int(j == k)) for j in range(size)])[0] for k in range(size)]
    slopes = tuple(moved[c].entries[r] - start.entries[r] for r in range(size) for c in range(size))
    found = multiply(multiply(acb(-1), inverse(Table(size, size, slopes))), start)
    if not isinstance(found, Table) or size_of(start) == 0:
        return None
    left, scale = at(found.entries)
    return list(found.entries) if compare_to_zero(left, max(scale, size_of(start))) is True else None

r"""Linear equations solved for a column or a tensor: `X^TX\beta = X^Ty` for beta, a stress for a strain.

A column that is a letter, or a rate of change, is solved for by its entries, one that is written out by one letter of
each of them, which stands nowhere else, and a tensor by its components. What solves one equation is put into the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from flint import acb

from prism.algebra.expr import Expr, Formula, canonical, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.names import index_range, letters_of
from prism.equivalence.interpretation.signature import is_column
from prism.equivalence.interpretation.values import (
    Scalar,
    Table,
    Unvalued,
    Value,
    compare_to_zero,
    inverse,
    multiply,
    scalar,
    size_of,
)

Residual = Callable[[Draw, Formula, Scope], tuple[Value, float]]
"""What gives left minus right of an equation, and the size of its terms."""
_Entries = Callable[[Formula, Sequence[Scalar]], tuple[list[Scalar], float]]
"""What gives the entries of the residual of an equation for values of the unknowns, and the size of its terms."""
_DERIVATIVES = ("derivative", "partial")
_FIXED = frozenset(("g", r"\eta", r"\delta", r"\epsilon", r"\varepsilon", r"\Gamma", "F", "x"))
_MOST = 16  # components of the tensor that is solved for
_SQUARE = 2  # steps charged for each pair of components


def solves_for_column(draw: Draw, a: Formula, b: Formula, residual: Residual) -> bool | None:
    """Return True if the column that solves `a` solves `b`, False if it does not; None if none solves `a` alone.

    Args:
        residual: gives left minus right of an equation, and the size of its terms.
    """
    for key in _columns(draw, a, b):
        name = key.name if key.op == "sym" else canonical(key)
        try:
            value = Evaluator(draw).value(key, Scope())
        except (Unvalued, ZeroDivisionError):
            continue
        if not isinstance(value, Table):
            continue

        def entries(
            f: Formula, values: Sequence[Scalar], like: Table = value, name: str = name
        ) -> tuple[list[Scalar], float]:
            """Return the entries of the residual for those of the column."""
            found, scale = residual(draw, f, Scope().with_value(name, Table(like.rows, like.columns, tuple(values))))
            return _entries_of(found), scale

        if (answer := _solves_other(a, b, len(value.entries), entries)) is not None:
            return answer
    for names in _letters_of_columns(a, b):

        def by_letters(
            f: Formula, values: Sequence[Scalar], names: Sequence[str] = names
        ) -> tuple[list[Scalar], float]:
            """Return the entries of the residual for values of the letters."""
            found, scale = residual(draw, f, Scope(values=dict(zip(names, values, strict=True))))
            return _entries_of(found), scale

        if (answer := _solves_other(a, b, len(names), by_letters)) is not None:
            return answer
    return None


def solves_for_components(
    draw: Draw, a: Formula, b: Formula, scopes: Sequence[Scope], residual: Residual
) -> bool | None:
    """Return True if the tensor that solves `a` solves `b`, False if it does not; None if none solves `a` alone.

    Args:
        scopes: all values of the free indices.
        residual: gives left minus right of an equation, and the size of its terms.
    """
    tensors = [(keys, _one_place(a, keys, scopes)) for keys in _tensors(draw, a, b, len(scopes))]
    for keys, places in sorted(tensors, key=lambda each: not each[1]):

        def components(f: Formula, values: Sequence[Scalar], keys: Sequence[str] = keys) -> tuple[list[Scalar], float]:
            """Return the components of the residual for those of the tensor."""
            fixed = replace(draw, fixed={**draw.fixed, **dict(zip(keys, values, strict=True))})
            found = [residual(fixed, f, scope) for scope in scopes]
            return [scalar(value) for value, _ in found], max(scale for _, scale in found)

        if (
            answer := _solves_other(a, b, len(keys), components, [places.index(key) for key in keys] if places else ())
        ) is not None:
            return answer
    return None


def _solves_other(a: Formula, b: Formula, size: int, entries: _Entries, own: Sequence[int] = ()) -> bool | None:
    """Return True if the values that solve `a`, linearly and alone, solve `b`, False if not; None if there are none.

    Args:
        entries: gives the entries of a residual.
        own: for each unknown the one entry that has it, if there is one each.
    """
    charge_steps(_SQUARE * size * size)
    try:
        start, _ = entries(a, [acb(0)] * size)
        if len(start) != size or not any(size_of(entry) for entry in start):
            return None
        if own:
            ones, _ = entries(a, [acb(1)] * size)
            values = [start[k] / (start[k] - ones[k]) for k in own]
        else:
            moved = [entries(a, [acb(int(j == k)) for j in range(size)])[0] for k in range(size)]
            slopes = tuple(moved[col][row] - start[row] for row in range(size) for col in range(size))
            values = _entries_of(
                multiply(multiply(acb(-1), inverse(Table(size, size, slopes))), Table(size, 1, tuple(start)))
            )
        left, scale = entries(a, values)
    except (Unvalued, ZeroDivisionError):
        return None
    scale = max(scale, *map(size_of, start))
    if not all(compare_to_zero(entry, scale) is True for entry in left):
        return None
    difference, scale = entries(b, values)
    apart, _ = entries(b, [entry * acb(1.01) for entry in values])
    answers = {compare_to_zero(entry, max(scale, *map(size_of, apart))) for entry in difference}
    return False if False in answers else None if None in answers else True


def _entries_of(value: Value) -> list[Scalar]:
    """Return the entries of a table; raises Unvalued for a number."""
    if not isinstance(value, Table):
        raise Unvalued("no equation between tables")
    return list(value.entries)


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


def _tensors(draw: Draw, a: Formula, b: Formula, count: int) -> Iterator[list[str]]:
    """Yield the components of each tensor of both equations that has as many of them as the equations."""
    one, two = (_written(draw, f) for f in (a, b))
    for base in sorted(one.keys() & two.keys()) if count <= _MOST else ():
        written = one[base] | two[base]
        varies = any(symbol_of(name).head == base != name for name in draw.signature.functions)
        if varies or (base in _FIXED and not _is_tensor_of_two(base, written)):
            continue
        keys = [""]
        for letter in min(written):
            keys = [f"{key},{k}" if key else str(k) for key in keys for k in index_range(letter)]
        if len(keys) == count:
            yield [f"{base}_{{{key}}}" for key in keys]


def _written(draw: Draw, f: Formula) -> dict[str, set[tuple[str, ...]]]:
    """Return the letters of indices that each tensor of a formula has."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for name in symbols(*f.members):
        letters = letters_of(name)
        if letters and draw.signature.tensors.issuperset(letters):
            found.setdefault(symbol_of(name).head, set()).add(letters)
    return found


def _is_tensor_of_two(base: str, written: set[tuple[str, ...]]) -> bool:
    r"""Return True for a strain `\varepsilon_{ij}`, whose letter is that of a symbol of three or four indices."""
    return base in (r"\epsilon", r"\varepsilon") and all(len(letters) == 2 for letters in written)


def _one_place(f: Formula, keys: Sequence[str], scopes: Sequence[Scope]) -> list[str]:
    """Return which component each component of an equation has, if the tensor stands there once; else nothing."""
    base = symbol_of(keys[0]).head
    names = [
        node.name for member in f.members for node in walk(member)
        if node.op == "sym" and symbol_of(node.name).head == base and letters_of(node.name)
    ]  # fmt: skip
    if len(names) != 1:
        return []
    letters = letters_of(names[0])
    if set(letters) != scopes[0].indices.keys() or len(set(letters)) != len(letters):
        return []
    return [f"{base}_{{{','.join(str(scope.indices[letter]) for letter in letters)}}}" for scope in scopes]

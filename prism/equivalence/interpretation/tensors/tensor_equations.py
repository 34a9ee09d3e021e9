r"""Linear equations of tensors, solved for another tensor: a stress by a strain, and the strain by the stress.

The components of the tensor are found as the only solution of all components of one equation, and put into the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flint import acb

from prism.algebra.expr import Formula, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.names import index_range, letters_of
from prism.equivalence.interpretation.tensors.columns import Residual
from prism.equivalence.interpretation.values import (
    Scalar,
    Table,
    Unvalued,
    compare_to_zero,
    inverse,
    multiply,
    scalar,
    size_of,
)

_FIXED = frozenset(("g", r"\eta", r"\delta", r"\epsilon", r"\varepsilon", r"\Gamma", "F", "x"))
_MOST = 16  # components of the tensor that is solved for
_SQUARE = 2  # steps charged for each pair of components


def solves_for_components(
    draw: Draw, a: Formula, b: Formula, scopes: Sequence[Scope], residual: Residual
) -> bool | None:
    """Return True if the tensor that solves `a` solves `b`, False if it does not; None if none solves `a` alone.

    Args:
        scopes: all values of the free indices.
        residual: gives left minus right of an equation, and the size of its terms.
    """
    tensors = list(_tensors(draw, a, b, len(scopes)))
    for keys in sorted(tensors, key=lambda each: not _one_place(a, each, scopes)):
        try:
            found = _solution(draw, a, keys, scopes, residual)
        except (Unvalued, ZeroDivisionError):
            continue
        if found is None:
            continue
        solved, moved = (_with(draw, keys, [entry * acb(factor) for entry in found]) for factor in (1, 1.01))
        answer: bool | None = True
        apart = max(size_of(residual(moved, b, scope)[0]) for scope in scopes)
        for scope in scopes:
            difference, scale = residual(solved, b, scope)
            same = compare_to_zero(difference, max(scale, apart))
            if same is False:
                return False
            answer = None if same is None else answer
        return answer
    return None


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


def _with(draw: Draw, keys: Sequence[str], values: Sequence[Scalar]) -> Draw:
    """Return an interpretation in which the components of a tensor have given values."""
    return replace(draw, fixed={**draw.fixed, **dict(zip(keys, values, strict=True))})


def _solution(
    draw: Draw, f: Formula, keys: Sequence[str], scopes: Sequence[Scope], residual: Residual
) -> list[Scalar] | None:
    """Return the components that solve an equation in which they stand linearly.

    None where all vanish, or what is found does not solve the equation: they do not stand linearly.
    """
    size = len(keys)
    charge_steps(_SQUARE * size * size)

    def at(values: Sequence[Scalar]) -> tuple[list[Scalar], float]:
        """Return the components of the residual, and the size of the terms."""
        fixed = _with(draw, keys, values)
        found = [residual(fixed, f, scope) for scope in scopes]
        return [scalar(value) for value, _ in found], max(scale for _, scale in found)

    start, _ = at([acb(0)] * size)
    places = _one_place(f, keys, scopes)
    if places:
        ones, _ = at([acb(1)] * size)
        by_key = {key: start[k] / (start[k] - ones[k]) for k, key in enumerate(places)}
        values = [by_key[key] for key in keys]
    else:
        moved = [at([acb(int(j == k)) for j in range(size)])[0] for k in range(size)]
        slopes = tuple(moved[col][row] - start[row] for row in range(size) for col in range(size))
        found = multiply(multiply(acb(-1), inverse(Table(size, size, slopes))), Table(size, 1, tuple(start)))
        values = list(found.entries) if isinstance(found, Table) else []
    if not values or not any(size_of(entry) for entry in start):
        return None
    left, scale = at(values)
    return values if all(compare_to_zero(entry, scale) is True for entry in left) else None


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

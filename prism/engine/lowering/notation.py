"""How the symbols of a pair of formulas are interpreted, as far as their letters leave it open."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TypeVar

from prism.algebra.expr import Expr, ops_of, symbols
from prism.algebra.symbols import STAR, symbol_of

T = TypeVar("T")

CONJUGATE = "^{*}"


@dataclass(frozen=True, slots=True)
class Notation:
    r"""How the symbols of a pair of formulas are interpreted: complex, vector, matrix, function.

    Attributes:
        is_complex: `i` is the imaginary unit, and roots and logarithms of negative numbers exist.
        complexes: symbols with a real and an imaginary part.
        unit: the letter of the imaginary unit.
        vectors: symbols with `dimension` components.
        lengths: symbols that mean the length of a vector, each with that vector (`v`, `\vec{v}`).
        basis: unit vectors along the axes, each with the number of its axis, from 0.
        directions: unit vectors, each with the vector of the same direction.
        components: vectors, each with the names that the text gives its components (`A_x`, `A_y`, `A_z`).
        matrices: symbols of matrices, each with its rows and columns.
        depends: symbols that are functions of a variable, each with that variable (`v`, `t`).
        functions: letters that mean unknown functions (`f` of `f(x - vt)`); each is lowered to a test function.
        has_columns: `(x, y, z)` in round brackets is a vector of these components.
    """

    is_complex: bool = False
    complexes: frozenset[str] = frozenset()
    unit: str = "i"
    vectors: frozenset[str] = frozenset()
    dimension: int = 3
    lengths: tuple[tuple[str, str], ...] = ()
    basis: tuple[tuple[str, int], ...] = ()
    directions: tuple[tuple[str, str], ...] = ()
    components: tuple[tuple[str, tuple[str, ...]], ...] = ()
    matrices: tuple[tuple[str, tuple[int, int]], ...] = ()
    depends: frozenset[tuple[str, str]] = frozenset()
    functions: frozenset[str] = frozenset()
    has_columns: bool = False
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        """Compute the hash once: notations are part of the keys of tapes."""
        own = (
            self.is_complex, self.complexes, self.unit, self.vectors, self.lengths, self.basis, self.directions,
            self.components, self.matrices, self.depends, self.functions,
        )  # fmt: skip
        object.__setattr__(self, "_hash", hash(own))

    def __hash__(self) -> int:
        """Return the hash computed at construction."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Return True for the same interpretation of all symbols."""
        if self is other:
            return True
        if not isinstance(other, Notation):
            return NotImplemented
        return self._hash == other._hash and _interpretation(self) == _interpretation(other)


_interpretation = attrgetter(*(each.name for each in fields(Notation) if each.compare))
PLAIN = Notation()


def restrict_notation(notation: Notation, node: Expr) -> Notation:
    """Return the part of a notation that matters for this expression, so that equal parts can share one stored tape."""
    if notation is PLAIN:
        return notation
    ops = ops_of(node)
    if notation == PLAIN or not _INDEXED.isdisjoint(ops):  # an index that is put in makes other names
        return notation
    names = set(symbols(node))
    meant = {**dict(notation.lengths), **dict(notation.directions)}
    waiting = [name for name in names if name in meant or conjugation_base(name) is not name]
    while waiting:
        name = waiting.pop()
        new = {conjugation_base(name), meant.get(name, name)} - names
        names |= new
        waiting += new
    vectors = notation.vectors & names
    has_columns = notation.has_columns and "tuple" in ops
    return Notation(
        is_complex=notation.is_complex,
        complexes=notation.complexes & names,
        unit=notation.unit,
        vectors=vectors,
        dimension=notation.dimension if vectors or has_columns else PLAIN.dimension,
        lengths=_about(notation.lengths, names),
        basis=_about(notation.basis, names),
        directions=_about(notation.directions, names),
        components=_about(notation.components, names),
        matrices=_about(notation.matrices, names),
        depends=frozenset(pair for pair in notation.depends if names.issuperset(pair)) if "integral" in ops else _NONE,
        functions=notation.functions if "apply" in ops else PLAIN.functions,
        has_columns=has_columns,
    )


def _about(pairs: tuple[tuple[str, T], ...], names: set[str]) -> tuple[tuple[str, T], ...]:
    """Return those pairs that say something about one of the names."""
    return tuple([pair for pair in pairs if pair[0] in names]) if pairs else ()


_INDEXED = frozenset(("sum", "product"))

_NONE: frozenset[tuple[str, str]] = frozenset()


def component_names(vector: str, notation: Notation) -> tuple[str, ...]:
    """Return the names of a vector's components: those of the notation (`A_x`, `A_y`), else `A_1`, `A_2`."""
    own = (f"{vector}_{k + 1}" for k in range(notation.dimension))
    return dict(notation.components).get(vector, tuple(own))[: notation.dimension]


def conjugation_base(name: str) -> str:
    r"""Return `z` for the names of its complex conjugate, `z^{*}` and `\bar{z}`; any other name unchanged."""
    read = symbol_of(name)
    if read.sup == STAR:
        return read.body
    return read.base if read.style == "bar" and read.letter == name else name

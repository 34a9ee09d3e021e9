"""Random interpretations: the value of each letter, from its name and the number of the draw alone."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import acb

from prism.algebra.expr import Expr
from prism.budget import charge
from prism.equivalence.interpretation import jets
from prism.equivalence.interpretation.conditions.predicates import Predicate
from prism.equivalence.interpretation.functions import UnknownFunction, draw_function
from prism.equivalence.interpretation.signature import Signature
from prism.equivalence.interpretation.source import Source
from prism.equivalence.interpretation.values import Scalar, Table, Value, identity, infinitesimals, multiply

SIZES = (4, 7, 5, 6)  # of arrays without a stated bound, draw by draw
WHOLE = ((2, 5), (41, 47), (3, 9), (12, 23))  # least and largest whole number, draw by draw
"""Name of the function by which distributions are tested."""
EQUAL = 2  # of four draws, the one in which all whole numbers are the same
DIMENSIONS = (3, 4, 3, 4)  # of matrices
STATES = (5, 7, 5, 7)  # of operators
_OF_SIZE = ("positive", "real", "complex")  # kinds of numbers that are larger at a larger size of their letter
_NUMBER = 500  # operations of a number that is drawn
_PLACE = 200  # of a look for each coefficient of a place
_MOST_PLACES = 512  # that are kept; after them none is looked for, as in an integral, which asks for thousands
_DRAW = 600  # of a draw, as at each step of the search for a root, with the sizes that are compared there


@dataclass
class Draw:
    """One interpretation of two formulas.

    Attributes:
        number: which draw.
        signature: what the letters are.
        is_usual: letters of either sign are positive, and arrays of two indices symmetric.
        fixed: values that were solved for, before those drawn.
        sizes: factors by which letters are larger than ordinary ones.
        shifts: multiples of another random function that are added to unknown functions.
        drawn: what was drawn so far, by name and kind.
        diverging: series that were continued beyond where they converge.
        vanished: expressions that are 0 in this interpretation, as both formulas have them.
        integrals: values of integrals that depend on no bound variable and nothing fixed, also of what follows from it.
        values: of expressions, by the numbers of indices around them, each with the names that were looked up for it.
        places: values of unknown functions, by name and place.
        powers: of each matrix, by its identity, the matrix itself, and the last power of it with its exponent.
        conditions: of definitions by cases, as they are read.
        met: definitions by cases, each with the place of a case that held somewhere.
    """

    number: int
    signature: Signature
    is_usual: bool = False
    fixed: Mapping[str, Value] = field(default_factory=dict)
    sizes: Mapping[str, float] = field(default_factory=dict)
    shifts: Mapping[str, acb] = field(default_factory=dict)
    drawn: dict[tuple[str, str], object] = field(default_factory=dict)
    diverging: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    integrals: dict[tuple[Expr, ...], Value] = field(default_factory=dict)
    values: dict[tuple[Expr, frozenset[tuple[str, int]]], tuple[Value, set[str]]] = field(default_factory=dict)
    places: dict[Hashable, jets.Jet] = field(default_factory=dict)
    powers: dict[int, tuple[Table, int, Value]] = field(default_factory=dict)
    conditions: dict[Expr, list[Predicate | None]] = field(default_factory=dict)
    met: set[tuple[Expr, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Charge for the draw."""
        charge(_DRAW)

    def source(self, kind: str, name: str) -> Source:
        """Return the source of random numbers for a letter."""
        return Source(f"{self.number}/{kind}/{name}")

    def size(self) -> int:
        """Return the length of arrays whose bound is not stated."""
        if self.signature.has_kets:
            return self.rows()
        sizes = DIMENSIONS if self.signature.matrices else SIZES
        return sizes[self.number % len(sizes)]

    def rows(self) -> int:
        """Return how many rows operators have."""
        space = self.signature.space
        return STATES[self.number % len(STATES)] if space is None else space.size(self.number)

    def number_of(self, name: str, kind: str) -> acb:
        """Return the number of a kind that a name stands for: positive, real, angle, integer, complex."""
        key = (name, kind)
        found = self.drawn.get(key)
        if found is None:
            charge(_NUMBER)
            found = self.drawn[key] = self._draw_number(name, kind)
        assert isinstance(found, acb)
        return found

    def has_size_of(self, names: Container[str]) -> bool:
        """Return True if a number that was drawn for one of some names would be another one at another size of it."""
        return any(name in names and kind in _OF_SIZE for name, kind in self.drawn)

    def _draw_number(self, name: str, kind: str) -> acb:
        """Draw a number of a kind."""
        source = self.source("number", name)
        if kind == "integer" and self.number % 4 == EQUAL:  # all alike, for a Kronecker symbol of them
            return acb(Source(str(self.number)).integer(*WHOLE[self.number % len(WHOLE)]))
        if kind == "integer":
            return acb(source.integer(*WHOLE[self.number % len(WHOLE)]))
        if kind == "angle":
            return acb(source.uniform(0.2, 1.4))
        size = source.uniform(0.5, 1.9) * self.sizes.get(name, 1.0)
        if kind == "real":
            return acb(size if self.is_usual else size * source.sign())
        if kind == "complex":
            return acb(size * source.sign(), source.uniform(0.4, 1.6) * source.sign())
        return acb(size)

    def table(self, name: str, rows: int, columns: int, kind: str) -> Table:
        """Return the table of numbers of a kind that a name stands for."""
        key = (name, f"{rows}x{columns} {kind}")
        found = self.drawn.get(key)
        if found is None:
            entries = tuple(self.number_of(f"{name}#{k}", kind) for k in range(rows * columns))
            found = self.drawn[key] = Table(rows, columns, entries)
        assert isinstance(found, Table)
        return found

    def vector(self, name: str, kind: str = "real") -> Table:
        """Return the vector that a name stands for."""
        return self.table(name, 3, 1, kind)

    def function(self, name: str, arity: int, *, is_complex: bool) -> UnknownFunction:
        """Draw an unknown function of so many arguments."""
        key = (name, f"{arity}{is_complex}")
        if key not in self.drawn:
            charge(_NUMBER * (4 + 9 * arity))
            source = self.source("function", name)
            falls = name.partition("#")[0] in self.signature.integrable
            self.drawn[key] = draw_function(source, arity, self.number % 3, is_complex=is_complex, falls=falls)
        found = self.drawn[key]
        assert isinstance(found, UnknownFunction)
        return found

    def power_of(self, base: Table, exponent: int) -> Value:
        """Return a power of a square matrix, from 0 on; the terms of a series ask for one after the other."""
        _, reached, total = self.powers.get(id(base), (base, -2, base))
        if exponent == reached + 1:
            total = multiply(total, base)
        else:
            total = identity(base.rows)
            for digit in f"{exponent:b}":
                total = multiply(total, total)
                total = multiply(total, base) if digit == "1" else total
        self.powers[id(base)] = base, exponent, total
        return total

    def value_of(self, name: str, point: Sequence[Scalar], *, is_complex: bool) -> Scalar:
        """Return the value of an unknown function at a point, worked out once.

        The search for a multiple of a function asks for the same places at each step, and so do two formulas.
        """
        unknown = self.function(name, len(point), is_complex=is_complex)
        tags = infinitesimals(point)
        coordinates = [jets.flat(x, tags) for x in point]
        if len(self.places) >= _MOST_PLACES:
            return jets.nested(unknown.at(coordinates, len(tags)), tags)
        charge(_PLACE * sum(map(len, coordinates)))
        place = name, is_complex, tuple(map(jets.key_of, coordinates))
        found = self.places.get(place)
        if found is None:
            found = self.places[place] = unknown.at(coordinates, len(tags))
        return jets.nested(found, tags)

"""Values of an interpretation: complex balls, numbers with an infinitesimal part, tables of these.

A ball is an `acb` of python-flint, a complex number with a rigorous error bound. A `Dual` is a + b e with e^2 = 0 for
one of several infinitesimals e; its b is a derivative. A `Table` is a matrix; a column of three is a vector.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, acb_mat, fmpq

from prism.budget import charge

PRECISION = 160  # bits of a ball
UNNAMED = "#unnamed"  # among the names that a value depends on: it depends on more than they say
PRODUCT = 60  # operations of a product of balls with its place in a sum
_TABLE = 400  # of a sum or product of tables, beside its entries
_LOOK = 10  # of a look at an entry of a table
_COPIED = 30  # of an entry on its way into a matrix of flint
_SIZE = 50  # of the size of an entry
_OF_MATRIX = 10  # of a product there
PART = 300  # of such a product as one part of one of numbers with infinitesimals
_ACCURATE = 1e-9  # relative error above which a value decides nothing
_EXACT = 1e-27  # relative error of a value without quadrature, which is 0 only within it
_MOST_EXPANDED = 4  # rows of a table whose determinant is expanded
_ZERO = acb(0)
_ZERO_LEVEL = 1e-14  # of the largest term: what is below it is rounding


class Unvalued(Exception):
    """Raised for a construct that has no value here: not supported, undefined at this point, or not accurate enough."""


class NoCase(Unvalued):
    """Raised where none of the cases holds."""


class Misfit(Unvalued):
    """Raised for a product or a sum of tables that do not fit."""


class DividesByZero(Unvalued):
    """Raised for a division by what is 0 without error."""


class Diverges(Unvalued):
    """Raised for an integral that diverges."""


class Dual:
    """A number a + b e with an infinitesimal e; the e of a larger tag is the outer one.

    A sum or product of several infinitesimals is charged as a whole, before it is worked out part by part.

    Attributes:
        value, slope: a and b, each a ball or a number with infinitesimals of smaller tags.
        tag: which infinitesimal.
    """

    __slots__ = ("slope", "tag", "value")

    def __init__(self, value: Scalar, slope: Scalar, tag: int) -> None:
        """Keep the parts."""
        self.value, self.slope, self.tag = value, slope, tag

    def __add__(self, other: Scalar) -> Scalar:
        """Return the sum."""
        _charge_parts(self, other, 2)
        return plus(self, other)

    def __sub__(self, other: Scalar) -> Scalar:
        """Return the difference."""
        _charge_parts(self, other, 2)
        return plus(self, negative(other))

    def __mul__(self, other: Scalar) -> Scalar:
        """Return the product."""
        _charge_parts(self, other, 3)
        return times(self, other)

    def __truediv__(self, other: Scalar) -> Scalar:
        """Return the quotient."""
        _charge_parts(self, other, 4)
        return _over(self, other)

    def __neg__(self) -> Scalar:
        """Return the negative."""
        return negative(self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Scalar) -> Scalar:
        """Return a ball minus this."""
        return negative(self) + other

    def __rtruediv__(self, other: Scalar) -> Scalar:
        """Return a ball divided by this."""
        _charge_parts(self, other, 4)
        return _over(other, self)


Scalar = acb | Dual


def _charge_parts(x: Scalar, y: Scalar, shared: int) -> None:
    """Charge a sum, product or quotient of numbers with several infinitesimals; one is in the price of a node.

    Args:
        shared: parts for each infinitesimal that both have, of which a product has three and a sum has two.
    """
    parts = 1
    while True:
        one, two = x.tag if isinstance(x, Dual) else 0, y.tag if isinstance(y, Dual) else 0
        if not one and not two:
            break
        parts *= shared if one == two else 2
        if isinstance(x, Dual) and one >= two:
            x = x.value
        if isinstance(y, Dual) and two >= one:
            y = y.value
    if parts > shared:
        charge(parts * PART)


def plus(x: Scalar, y: Scalar) -> Scalar:
    """Return the sum of two numbers, which nobody is charged for."""
    if not isinstance(x, Dual):
        return x + y if not isinstance(y, Dual) else Dual(plus(x, y.value), y.slope, y.tag)
    if not isinstance(y, Dual) or y.tag < x.tag:
        return Dual(plus(x.value, y), x.slope, x.tag)
    if x.tag < y.tag:
        return Dual(plus(x, y.value), y.slope, y.tag)
    return Dual(plus(x.value, y.value), plus(x.slope, y.slope), x.tag)


def times(x: Scalar, y: Scalar) -> Scalar:
    """Return the product of two numbers by the product rule, which nobody is charged for."""
    if not isinstance(x, Dual):
        return x * y if not isinstance(y, Dual) else Dual(times(x, y.value), times(x, y.slope), y.tag)
    if not isinstance(y, Dual) or y.tag < x.tag:
        return Dual(times(x.value, y), times(x.slope, y), x.tag)
    if x.tag < y.tag:
        return Dual(times(x, y.value), times(x, y.slope), y.tag)
    return Dual(times(x.value, y.value), plus(times(x.slope, y.value), times(x.value, y.slope)), x.tag)


def negative(x: Scalar) -> Scalar:
    """Return the negative of a number."""
    return Dual(negative(x.value), negative(x.slope), x.tag) if isinstance(x, Dual) else -x


def _over(x: Scalar, y: Scalar) -> Scalar:
    """Return the quotient of two numbers by the quotient rule: (a/b)' = (a' - (a/b) b') / b."""
    if not isinstance(y, Dual):
        return x / y if not isinstance(x, Dual) else Dual(_over(x.value, y), _over(x.slope, y), x.tag)
    if isinstance(x, Dual) and x.tag > y.tag:
        return Dual(_over(x.value, y), _over(x.slope, y), x.tag)
    above, change = (x.value, x.slope) if isinstance(x, Dual) and x.tag == y.tag else (x, _ZERO)
    found = _over(above, y.value)
    return Dual(found, _over(plus(change, negative(times(found, y.slope))), y.value), y.tag)


def infinitesimals(numbers: Iterable[Scalar]) -> tuple[int, ...]:
    """Return the tags of all infinitesimals in some numbers, the outermost one last."""
    tags = set()
    for number in numbers:
        part = number
        while isinstance(part, Dual):
            tags.add(part.tag)
            part = part.value
    return tuple(sorted(tags))


def slope_of(x: Scalar, tag: int) -> Scalar:
    """Return the coefficient of one infinitesimal, the outermost there is; 0 without it."""
    return x.slope if isinstance(x, Dual) and x.tag == tag else acb(0)


def mapped(x: Scalar, function: Callable[[acb], acb], slope: Callable[[Scalar], Scalar]) -> Scalar:
    """Return the value of a function of one argument whose derivative is `slope`.

    Raises Unvalued where it is undefined.
    """
    if isinstance(x, Dual):
        return Dual(mapped(x.value, function, slope), slope(x.value) * x.slope, x.tag)
    found = function(x)
    if not found.is_finite():
        raise Unvalued("undefined")
    return found


def ball(value: Fraction | float | int) -> acb:
    """Return an exact number as a ball; a fraction is rounded outward."""
    return acb(fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else acb(value)


def plain(x: Scalar) -> acb:
    """Return the finite part of a number."""
    while isinstance(x, Dual):
        x = x.value
    return x


def is_beyond_reals(x: Value | None) -> bool:
    """Return True for a number that is certainly not real: there is nothing to compare with it (semantics Z.3)."""
    return isinstance(x, acb | Dual) and not plain(x).imag.contains(0)


def real_number(x: Scalar) -> float:
    """Return a real number to be compared; raise Unvalued if it is complex or inaccurate."""
    found = plain(x)
    if found.imag.is_zero() and found.real.is_finite():
        return float(found.real.mid())
    if not found.is_finite() or float(abs(found.imag.mid())) > _ZERO_LEVEL * (1 + float(abs(found.real.mid()))):
        raise Unvalued("no real number")
    return float(found.real.mid())


def whole_number(x: Scalar) -> int:
    """Return a whole number; raise Unvalued if it is none."""
    number = real_number(x)
    if abs(number - round(number)) > 1e-12:
        raise Unvalued("no whole number")
    return round(number)


@dataclass(frozen=True, slots=True)
class Table:
    """A matrix of numbers; a vector is a column.

    Attributes:
        rows, columns: its size.
        entries: row by row.
    """

    rows: int
    columns: int
    entries: tuple[Scalar, ...]

    def at(self, row: int, column: int) -> Scalar:
        """Return the entry in a row and column, from 0."""
        return self.entries[row * self.columns + column]

    def each(self, change: Callable[[Scalar], Scalar]) -> Table:
        """Return the table with every entry changed."""
        charge(_TABLE + len(self.entries) * PRODUCT)
        return Table(self.rows, self.columns, tuple(change(entry) for entry in self.entries))

    @property
    def is_vector(self) -> bool:
        """True for a column of several entries."""
        return self.columns == 1 and self.rows > 1


Value = acb | Dual | Table


def column(*entries: Scalar) -> Table:
    """Return a vector."""
    return Table(len(entries), 1, entries)


def identity(size: int) -> Table:
    """Return a unit matrix."""
    charge(size * size * _COPIED)
    return Table(size, size, tuple(acb(int(r == c)) for r in range(size) for c in range(size)))


def scalar(x: Value) -> Scalar:
    """Return a number, also of a table of one entry; raise Unvalued for a larger one."""
    if isinstance(x, Table):
        if len(x.entries) != 1:
            raise Unvalued("a table where a number belongs")
        return x.entries[0]
    return x


def add(x: Value, y: Value, sign: int = 1) -> Value:
    """Return the sum, or with sign -1 the difference; a number beside a square matrix is a multiple of the unit matrix.

    Errors:
        Unvalued: tables of unlike size, or a number beside a vector.
    """
    if isinstance(x, Table) != isinstance(y, Table):
        table, number = (x, y) if isinstance(x, Table) else (y, x)
        assert isinstance(table, Table)
        if table.rows != table.columns and not _is_zero(number):
            raise Misfit("a number beside a vector")
        filled = (
            identity(table.rows).each(lambda e: e * scalar(number))
            if table.rows == table.columns
            else table.each(lambda _: acb(0))
        )
        x, y = (x, filled) if isinstance(x, Table) else (filled, y)
    if isinstance(x, Table) and isinstance(y, Table):
        if (x.rows, x.columns) != (y.rows, y.columns):
            raise Misfit("tables of unlike size")
        charge(_TABLE + len(x.entries) * _price_of(x))
        pairs = zip(x.entries, y.entries, strict=True)
        return Table(x.rows, x.columns, tuple(a + b if sign > 0 else a - b for a, b in pairs))
    assert not isinstance(x, Table)
    assert not isinstance(y, Table)
    return x + y if sign > 0 else x - y


def _is_zero(x: Value) -> bool:
    """Return True for the number 0."""
    return isinstance(x, acb) and bool(x.is_zero())


def multiply(x: Value, y: Value) -> Value:
    """Return the product: of numbers, of a number and a table, of matrices; Unvalued if they do not fit."""
    if isinstance(x, Table) and isinstance(y, Table):
        if x.columns != y.rows:
            if len(x.entries) == 1 or len(y.entries) == 1:
                return multiply(scalar(x), y) if len(x.entries) == 1 else multiply(x, scalar(y))
            raise Misfit("a product of tables that do not fit")
        if not _has_infinitesimals(x) and not _has_infinitesimals(y):
            found = _product_of_numbers(x, y)
            return found.entries[0] if len(found.entries) == 1 and x.columns > 1 else found
        charge(_TABLE + len(x.entries) * _LOOK)
        rows = [[(k, e) for k in range(x.columns) if not _is_zero(e := x.at(r, k))] for r in range(x.rows)]
        charge(sum(map(len, rows)) * y.columns * 3 * PART)
        entries = tuple(
            _sum([e * y.at(k, c) for k, e in row]) if row else acb(0) for row in rows for c in range(y.columns)
        )
        return entries[0] if len(entries) == 1 and x.columns > 1 else Table(x.rows, y.columns, entries)
    if isinstance(x, Table):
        return x.each(lambda entry: entry * scalar(y))
    if isinstance(y, Table):
        return y.each(lambda entry: x * entry)
    return x * y


def _price_of(x: Table) -> int:
    """Return the operations of a product of entries and its place in a sum, beside what several infinitesimals cost."""
    return 3 * PART if _has_infinitesimals(x) else PRODUCT


def _has_infinitesimals(x: Table) -> bool:
    """Return True if an entry has infinitesimals."""
    return any(isinstance(entry, Dual) for entry in x.entries)


def _product_of_numbers(x: Table, y: Table) -> Table:
    """Return the product of two matrices of numbers, by flint."""
    charge(_TABLE + (len(x.entries) + len(y.entries)) * _COPIED + x.rows * x.columns * y.columns * _OF_MATRIX)
    one, two = (acb_mat(each.rows, each.columns, list(map(plain, each.entries))) for each in (x, y))
    return Table(x.rows, y.columns, tuple((one * two).entries()))


def _sum(parts: list[Scalar]) -> Scalar:
    """Return the sum of numbers, at least one."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def transpose(x: Table) -> Table:
    """Return the transposed table."""
    return Table(x.columns, x.rows, tuple(x.at(r, c) for c in range(x.columns) for r in range(x.rows)))


def dot(x: Value, y: Value) -> Scalar:
    """Return the scalar product of two vectors; Unvalued if one is none."""
    if not isinstance(x, Table) or not isinstance(y, Table) or len(x.entries) != len(y.entries):
        raise Unvalued("a scalar product of what is no vector")
    charge(len(x.entries) * _price_of(x))
    return _sum([a * b for a, b in zip(x.entries, y.entries, strict=True)])


def cross(x: Value, y: Value) -> Table:
    """Return the vector product; Unvalued unless both are vectors of three."""
    if not isinstance(x, Table) or not isinstance(y, Table) or len(x.entries) != 3 or len(y.entries) != 3:
        raise Unvalued("a vector product of what is no vector of three")
    (a, b, c), (d, e, f) = x.entries, y.entries
    return column(b * f - c * e, c * d - a * f, a * e - b * d)


def determinant(x: Table) -> Scalar:
    """Return the determinant by expansion, of a larger table by elimination; Unvalued if it is not square."""
    if x.rows != x.columns:
        raise Unvalued("a determinant of this table")
    if x.rows == 1:
        return x.entries[0]
    if x.rows > _MOST_EXPANDED:
        return _eliminated(x)[0]
    charge(x.rows * len(x.entries) * _price_of(x))
    parts = [x.at(0, c) * determinant(_minor(x, 0, c)) for c in range(x.columns)]
    return _sum([part if c % 2 == 0 else -part for c, part in enumerate(parts)])


def inverse(x: Table) -> Table:
    """Return the inverse matrix by cofactors, of a larger one by elimination; Unvalued as for `determinant`."""
    if x.rows == x.columns and x.rows > _MOST_EXPANDED:
        return _eliminated(x)[1]
    size = determinant(x)
    entries = []
    for r in range(x.rows):
        for c in range(x.columns):
            minor = determinant(_minor(x, c, r)) if x.rows > 1 else acb(1)
            entries.append((minor if (r + c) % 2 == 0 else -minor) / size)
    return Table(x.rows, x.columns, tuple(entries))


def _eliminated(x: Table) -> tuple[Scalar, Table]:
    """Return determinant and inverse of a square table by elimination; Unvalued without a pivot."""
    size = x.rows
    charge(3 * size * len(x.entries) * _price_of(x))
    rows = [[*x.entries[r * size : (r + 1) * size], *(acb(int(r == c)) for c in range(size))] for r in range(size)]
    total: Scalar = acb(1)
    for k in range(size):
        best = max(range(k, size), key=lambda r: float(plain(rows[r][k]).mid().abs_upper()))
        if plain(rows[best][k]).contains(0):
            raise Unvalued("a table without inverse")
        if best != k:
            rows[k], rows[best], total = rows[best], rows[k], -total
        pivot = rows[k][k]
        total = total * pivot
        rows[k] = [entry / pivot for entry in rows[k]]
        for r in range(size):
            if r != k:
                factor = rows[r][k]
                rows[r] = [entry - factor * lead for entry, lead in zip(rows[r], rows[k], strict=True)]
    return total, Table(size, size, tuple(entry for row in rows for entry in row[size:]))


def _minor(x: Table, row: int, col: int) -> Table:
    """Return the table without a row and a column."""
    kept = [x.at(r, c) for r in range(x.rows) for c in range(x.columns) if r != row and c != col]
    return Table(x.rows - 1, x.columns - 1, tuple(kept))


def compare_to_zero(value: Value, scale: float) -> bool | None:
    """Return True if a value is 0, False if it is not, None if its error leaves it open.

    Args:
        scale: the size of the terms whose difference the value is.
    """
    if not math.isfinite(scale):
        return None
    entries = value.entries if isinstance(value, Table) else (value,)
    answer: bool | None = True
    for entry in entries:
        number = plain(entry)
        if not number.is_finite():
            return None
        error = float(number.rad())
        size = float(number.mid().abs_upper())
        if size > 8 * error + _ACCURATE * scale:
            return False
        if error < _EXACT * scale and size > 8 * error + _EXACT * scale:  # as x e^{-50x} beside x
            return False
        if size + error > 1e-7 * scale and size + error > 0:
            answer = None
    return answer


def size_of(value: Value) -> float:
    """Return the largest absolute value of the entries."""
    entries = _measured(value)
    return max(float(plain(entry).mid().abs_upper()) for entry in entries)


def error_of(value: Value) -> float:
    """Return the largest error of the entries."""
    entries = _measured(value)
    return max(float(plain(entry).rad()) for entry in entries)


def _measured(value: Value) -> tuple[Scalar, ...]:
    """Return the entries of a value, charged for a look at the size of each."""
    if not isinstance(value, Table):
        return (value,)
    charge(len(value.entries) * _SIZE)
    return value.entries


def exponential(x: Table) -> Value:
    """Return the exponential of a matrix: of a small part by its series, then squared."""
    small: Value = x.each(lambda entry: entry / acb(256))
    total: Value = identity(x.rows)
    term: Value = identity(x.rows)
    for k in range(1, 26):
        term = multiply(multiply(term, small), acb(1) / acb(k))
        total = add(total, term)
    for _ in range(8):
        total = multiply(total, total)
    return total

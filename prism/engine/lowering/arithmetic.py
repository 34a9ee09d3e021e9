"""Arithmetic on what a node is lowered to: a real number, a complex number or a table of them.

A `Pair` is the instruction of the real part and that of the imaginary part, or None where the number is real.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from prism.algebra.expr import Expr
from prism.engine.lowering.notation import Notation
from prism.engine.tape import Builder

MAX_MATRIX = 4  # rows of a determinant: it has n! terms

MAX_COMPLEX_POWER = 16  # by multiplication; above, and for other exponents, in polar form

Pair = tuple[int, int | None]  # real part, imaginary part or None where the number is real


@dataclass(frozen=True, slots=True)
class Table:
    """A vector (one column) or a matrix: its numbers as instructions, row by row."""

    rows: int
    columns: int
    entries: tuple[Pair, ...]


Value = Pair | Table


class Mismatch(Exception):
    """Raised for a number beside a vector or matrix, or tables of different shape: no such formula can hold."""


class NoValue(Mismatch):
    """Raised for a construct that no instructions compute, named by the message; it becomes an opaque atom."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything that lowering a node (writing its instructions) depends on besides the node.

    Attributes:
        builder: the tape under construction.
        notation: how symbols are interpreted.
        bound: value that each bound variable (`x` of an integral) has at present, as instructions.
        under_integral: inside a quadrature, where exponentials saturate instead of leaving the range.
        written_in: integration variables that occur in their integrand: its other symbols are constants.
        constructs: the function that lowers each operator with no instruction of its own.
    """

    builder: Builder
    notation: Notation
    bound: Mapping[str, Pair] = field(default_factory=dict)
    under_integral: bool = False
    written_in: frozenset[str] = frozenset()
    constructs: Mapping[str, Callable[[Expr, Scope], Value]] = field(default_factory=dict)


def apply_binary(op: str, a: Value, b: Value, scope: Scope) -> Value:
    """Write operator `op` on two lowered numbers or tables; return the result. Mismatch where shapes do not fit."""
    if not isinstance(a, Table) and not isinstance(b, Table):
        return combine_pairs(op, a, b, scope)
    if isinstance(a, Table) and isinstance(b, Table):
        if op in ("add", "sub"):
            if (a.rows, a.columns) != (b.rows, b.columns):
                raise Mismatch("tables of different shape")
            pairs = zip(a.entries, b.entries, strict=True)
            return replace(a, entries=tuple(combine_pairs(op, x, y, scope) for x, y in pairs))
        if op == "mul":
            product = multiply_tables(a, b, scope)
            return product.entries[0] if a.columns > 1 and len(product.entries) == 1 else product  # a row upon a column
        raise Mismatch(op)
    if isinstance(a, Table):
        assert not isinstance(b, Table)
        if op in ("mul", "div"):
            return replace(a, entries=tuple(combine_pairs(op, x, b, scope) for x in a.entries))
        return _table_beside_zero(op, a, b, scope)
    assert isinstance(b, Table)
    if op == "mul":
        return replace(b, entries=tuple(combine_pairs(op, a, y, scope) for y in b.entries))
    return _table_beside_zero(op, a, b, scope)


def _table_beside_zero(op: str, a: Value, b: Value, scope: Scope) -> Table:
    r"""Return the table of `\vec F + 0`, `\vec F - 0` or `0 - \vec F`; Mismatch for another number or operator."""
    table, other = (a, b) if isinstance(a, Table) else (b, a)
    assert isinstance(table, Table)
    assert not isinstance(other, Table)
    if op not in ("add", "sub") or other[1] is not None or scope.builder.exact.get(other[0]) != 0:
        raise Mismatch("a number beside a vector")
    return _negate_table(table, scope) if op == "sub" and table is b else table


def _negate_table(table: Table, scope: Scope) -> Table:
    """Return the table with every entry negated."""
    return replace(table, entries=tuple(apply_to_pair("neg", entry, scope) for entry in table.entries))


def multiply_tables(a: Table, b: Table, scope: Scope) -> Table:
    """Return the matrix product; raise Mismatch if `a` has not as many columns as `b` has rows."""
    if a.columns != b.rows:
        raise Mismatch("a product of tables that do not fit")
    entries = []
    for row in range(a.rows):
        for column in range(b.columns):
            terms = [
                combine_pairs("mul", a.entries[row * a.columns + k], b.entries[k * b.columns + column], scope)
                for k in range(a.columns)
            ]
            entries.append(sum_pairs(terms, scope))
    return Table(a.rows, b.columns, tuple(entries))


def sum_pairs(terms: list[Pair], scope: Scope) -> Pair:
    """Write the sum of real or complex numbers (at least one) and return it."""
    total = terms[0]
    for term in terms[1:]:
        total = combine_pairs("add", total, term, scope)
    return total


def combine_pairs(op: str, a: Pair, b: Pair, scope: Scope) -> Pair:
    """Write `op` on two real or complex numbers; return the result. Of complex ones only + - * /, else NoValue."""
    combine = scope.builder.combine
    (ar, ai), (br, bi) = a, b
    if ai is None and bi is None:
        return combine(op, ar, br), None
    zero = scope.builder.number(0)
    ai, bi = zero if ai is None else ai, zero if bi is None else bi
    if op in ("add", "sub"):
        return combine(op, ar, br), combine(op, ai, bi)
    if op == "mul":
        re = combine("sub", combine("mul", ar, br), combine("mul", ai, bi))
        return re, combine("add", combine("mul", ar, bi), combine("mul", ai, br))
    if op == "div":
        if b[1] is None:
            return combine("div", ar, br), combine("div", ai, br)
        size = combine("add", combine("mul", br, br), combine("mul", bi, bi))
        re = combine("add", combine("mul", ar, br), combine("mul", ai, bi))
        im = combine("sub", combine("mul", ai, br), combine("mul", ar, bi))
        return combine("div", re, size), combine("div", im, size)
    raise NoValue(f"{op} of complex numbers")


def apply_unary(op: str, a: Value, scope: Scope) -> Value:
    """Write the function `op` of a number or a table; of a table only negation, length, determinant, else Mismatch."""
    if isinstance(a, Table):
        if op == "neg":
            return _negate_table(a, scope)
        if op == "abs":
            return norm(a, scope) if a.columns == 1 else determinant(a, scope)
        raise Mismatch(f"{op} of a vector or a matrix")
    return apply_to_pair(op, a, scope)


def apply_to_pair(op: str, a: Pair, scope: Scope) -> Pair:
    """Write the function `op` of a real or complex number (principal value); NoValue without a complex version."""
    builder, combine = scope.builder, scope.builder.combine
    re, im = a
    if im is None:
        if op in ("ln", "sqrt") and scope.notation.is_complex and not (builder.exact.get(re) or Fraction(-1)) > 0:
            return _principal_branch(op, re, scope)
        if op in ("exp", "sinh", "cosh") and scope.under_integral:
            return builder.write_instruction(op, re, 1), None
        return combine(op, re), None
    if op == "neg":
        return combine("neg", re), combine("neg", im)
    if op == "exp":
        size = combine("exp", re)
        return combine("mul", size, combine("cos", im)), combine("mul", size, combine("sin", im))
    if op == "abs":
        return _modulus(a, scope), None
    if op == "ln":
        return combine("ln", _modulus(a, scope)), combine("atan2", im, re)
    if op == "sqrt":
        return complex_power(a, real_pair(builder.number(Fraction(1, 2))), scope)
    if op in ("sin", "cos", "sinh", "cosh"):
        turning = re if op in ("sin", "cos") else im
        growing = im if op in ("sin", "cos") else re
        s, c = combine("sin", turning), combine("cos", turning)
        sh, ch = combine("sinh", growing), combine("cosh", growing)
        if op == "sin":
            return combine("mul", s, ch), combine("mul", c, sh)
        if op == "cos":
            return combine("mul", c, ch), combine("neg", combine("mul", s, sh))
        if op == "sinh":
            return combine("mul", sh, c), combine("mul", ch, s)
        return combine("mul", ch, c), combine("mul", sh, s)
    if op in ("tan", "tanh"):
        above, below = ("sin", "cos") if op == "tan" else ("sinh", "cosh")
        return combine_pairs("div", apply_to_pair(above, a, scope), apply_to_pair(below, a, scope), scope)
    raise NoValue(f"{op} of a complex number")


def real_pair(real: int) -> Pair:
    """Return the pair (real part, imaginary part) of a real number, given its instruction: (real, None)."""
    return real, None


def _principal_branch(op: str, real: int, scope: Scope) -> Pair:
    """Write `sqrt` or `ln` of a real number of unknown sign, as a complex pair (`i sqrt(-x)`, `ln(-x) + i pi`)."""
    combine, one = scope.builder.combine, scope.builder.number(1)
    positive = combine("step", real)
    negative = combine("sub", one, positive)
    size = combine(op, combine("abs", real))
    if op == "sqrt":
        return combine("mul", positive, size), combine("mul", negative, size)
    pi = scope.builder.constant(math.pi, math.pi * 2.0**-53)
    return size, combine("mul", negative, pi)


def _modulus(a: Pair, scope: Scope) -> int:
    """Write the absolute value of a real or complex number and return its instruction."""
    combine = scope.builder.combine
    re, im = a
    if im is None:
        return combine("abs", re)
    return combine("sqrt", combine("add", combine("mul", re, re), combine("mul", im, im)))


def complex_power(base: Pair, exponent: Pair, scope: Scope) -> Pair:
    """Write base ** exponent as exp(exponent * ln base), the principal value, and return it."""
    return apply_to_pair("exp", combine_pairs("mul", exponent, apply_to_pair("ln", base, scope), scope), scope)


def conjugate(a: Value, scope: Scope) -> Value:
    """Return the complex conjugate of a number, or of each entry of a table."""
    if isinstance(a, Table):
        return replace(a, entries=tuple(conjugate_pair(entry, scope) for entry in a.entries))
    return conjugate_pair(a, scope)


def conjugate_pair(a: Pair, scope: Scope) -> Pair:
    """Return the complex conjugate of a number."""
    re, im = a
    return re, None if im is None else scope.builder.combine("neg", im)


def norm(a: Value, scope: Scope) -> Pair:
    """Write the Euclidean length of a vector, or the absolute value of a number; return it as a real pair."""
    if not isinstance(a, Table):
        return _modulus(a, scope), None
    combine = scope.builder.combine
    squares = [combine("mul", part, part) for pair in a.entries for part in pair if part is not None]
    return combine("sqrt", sum_instructions(scope.builder, squares)), None


def repeated_product(base: Pair, exponent: int, scope: Scope) -> Pair:
    """Write base ** exponent by repeated multiplication and return it; a negative exponent gives the inverse."""
    one = real_pair(scope.builder.number(1))
    result = one
    for _ in range(abs(exponent)):
        result = combine_pairs("mul", result, base, scope)
    return combine_pairs("div", one, result, scope) if exponent < 0 else result


def power_of_table(base: Table, exponent: Fraction | int | None, scope: Scope) -> Value:
    """Return the square of a vector, or a square matrix to an integer from -1 to 6; Mismatch for any other exponent."""
    if base.columns == 1 and base.rows > 1 and exponent == 2:
        return dot_product(base, base, scope)  # \vec v^2 is its square
    if exponent is None or exponent.denominator != 1 or base.rows != base.columns or not -1 <= exponent <= 6:
        raise Mismatch("a power of a vector or a matrix")
    if exponent == -1:
        return _inverse_of_table(base, scope)
    one, zero = real_pair(scope.builder.number(1)), real_pair(scope.builder.number(0))
    entries = tuple(one if r == c else zero for r in range(base.rows) for c in range(base.rows))
    result = replace(base, entries=entries)
    for _ in range(int(exponent)):
        result = multiply_tables(result, base, scope)
    return result


def dot_product(a: Table, b: Table, scope: Scope) -> Pair:
    """Return the scalar product; Mismatch unless `a` is one column and `b` has as many entries."""
    if len(a.entries) != len(b.entries) or a.columns != 1:
        raise Mismatch("a scalar product of tables that do not fit")
    terms = [combine_pairs("mul", x, y, scope) for x, y in zip(a.entries, b.entries, strict=True)]
    return sum_pairs(terms, scope)


def determinant(a: Table, scope: Scope) -> Pair:
    """Return the determinant, expanded along the first row; Mismatch if not square or above MAX_MATRIX rows."""
    if a.rows != a.columns or a.rows > MAX_MATRIX:
        raise Mismatch("a determinant of a table that is not square, or large")
    if a.rows == 1:
        return a.entries[0]
    total: Pair | None = None
    for column in range(a.columns):
        term = combine_pairs("mul", a.entries[column], determinant(_minor(a, 0, column), scope), scope)
        total = term if total is None else combine_pairs("sub" if column % 2 else "add", total, term, scope)
    assert total is not None
    return total


def _minor(a: Table, row: int, column: int) -> Table:
    """Return the table without the given row and column (numbered from 0)."""
    entries = tuple(
        a.entries[r * a.columns + c] for r in range(a.rows) for c in range(a.columns) if r != row and c != column
    )
    return Table(a.rows - 1, a.columns - 1, entries)


def _inverse_of_table(a: Table, scope: Scope) -> Table:
    """Return the inverse matrix by cofactors; Mismatch if it is not square or above MAX_MATRIX rows."""
    size = determinant(a, scope)
    entries = []
    for r in range(a.rows):
        for c in range(a.columns):
            minor = determinant(_minor(a, c, r), scope) if a.rows > 1 else real_pair(scope.builder.number(1))
            entry = combine_pairs("div", minor, size, scope)
            entries.append(apply_to_pair("neg", entry, scope) if (r + c) % 2 else entry)
    return replace(a, entries=tuple(entries))


def sum_instructions(builder: Builder, parts: list[int]) -> int:
    """Write the sum of real instructions (at least one) and return its position."""
    total = parts[0]
    for part in parts[1:]:
        total = builder.combine("add", total, part)
    return total

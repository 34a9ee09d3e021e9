r"""Units as text: what `km`, `rpm` and `J/(mol K)` are.

A unit becomes an exact factor times powers of the seven base units, and these are ordinary symbols named
`\unit{m}`, `\unit{kg}`, ...: so `3 m` is never `3 s`, 1 km is 1000 m, and 50 Hz is 50 s^{-1}, by the same engine that
compares everything else (semantics U.2). Where text has two readings (`J/mol K`, `T_0 - 20 °C`) there is no reading.

Refused: units as a field of every number (each operator would need a second arithmetic), and floating factors
(0.3048 and 1/60 are exact, and so is their product).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce

from prism.algebra.expr import Expr, number, symbol
from prism.latex.number_text import MAX_TEN_POWER
from prism.latex.unit_grammar import MAX_TEXT, NoReadingError, normalize_unit_text, parse_unit_text, product_of
from prism.physics.tables import BASE_UNITS, DIMENSIONLESS, PREFIX_WORDS, Dimension, Unit, UnitTable, unit_table

MAX_UNIT_POWER = 24  # exponent of a unit; m^99999 is an attack on memory
MAX_UNIT_WORDS = 5  # of a unit that is written out: `cubic metres per second per metre`
MAX_BITS = 4096  # of an exact factor; longer ones are an attack on memory
MAX_CACHED = 4096  # unit names looked up; they come from students, so the memory is bounded


# Units as text --------------------------------------------------------------------------------------------------


def find_unit(name: str) -> Unit | None:
    """Return the unit with this name, a symbol or an English word, with or without prefix; None if there is none.

    >>> find_unit("km").factor, find_unit("kilometres").factor, find_unit("min").name, find_unit("Km")
    (Fraction(1000, 1), Fraction(1000, 1), 'minute', None)
    """
    return _look_up_unit(name) if len(name) <= MAX_TEXT else None


def unit_as_expr(name: str) -> Expr | None:
    r"""Return a unit, or product of units, as an expression: its factor times powers of base units; None if unknown.

    A unit with an offset gives a difference of temperatures; `resolve_units` decides where that is meant.

    >>> str(unit_as_expr("km/h")), str(unit_as_expr("deg")), str(unit_as_expr("furlong"))
    ('(5/18)*\\unit{m}*\\unit{s}^(-1)', 'pi/180', 'None')
    """
    found = find_unit(name) or find_unit_product(name)
    return None if found is None else base_unit_product(found.factor, found.pi, found.dimension)


def base_unit_product(factor: Fraction, pi: int, dimension: Dimension) -> Expr:
    """Return `factor * pi**pi` times powers of base units as an expression.

    Args:
        pi: the power of pi.
        dimension: exponents of the base units.
    """
    factors = [] if factor == 1 or pi else [number(factor)]
    if pi:
        power = Expr("const", name="pi")
        power = power if abs(pi) == 1 else Expr("pow", (power, number(abs(pi))))
        above = product_of([number(factor.numerator)] * (factor.numerator != 1) + [power] * (pi > 0))
        below = [number(factor.denominator)] * (factor.denominator != 1) + [power] * (pi < 0)
        factors = [Expr("div", (above, product_of(below))) if below else above]
    for name, exponent in zip(BASE_UNITS, dimension, strict=True):
        if exponent:
            base = symbol(rf"\unit{{{name}}}")
            factors.append(base if exponent == 1 else Expr("pow", (base, number(exponent))))
    return product_of(factors)


@lru_cache(maxsize=MAX_CACHED)
def _look_up_unit(name: str) -> Unit | None:
    """Look up a unit's name as a symbol, a symbol with prefix and a written-out word; None if it is none of these."""
    table = unit_table()
    # blanks within stay: `m K` is no millikelvin
    for spelling in (name, normalize_unit_text(name).strip("{} ")):
        found = table.exact.get(spelling)
        if found is not None:
            return found
        if spelling in table.prefixed:
            power, bare = table.prefixed[spelling]
            return _prefixed_unit(table.exact[bare], power)
        found = _look_up_word(table, spelling)
        if found is not None:
            return found
    return None


def _look_up_word(table: UnitTable, spelling: str) -> Unit | None:
    """Look up a written-out name (`metres`, `Joule`, `kilograms`, `light-years`); None if unknown or in mixed case."""
    word = spelling.lower()
    if spelling not in (word, word.capitalize()) and not _WORD_SEPARATORS.search(spelling):
        return None
    word = _WORD_SEPARATORS.sub(" ", word)
    if word in table.words:
        return table.words[word]
    for prefix, power in PREFIX_WORDS.items():
        rest = word.removeprefix(prefix)
        if rest != word and rest in table.prefixable:
            return _prefixed_unit(table.words[rest], power)
    return None


_WORD_SEPARATORS = re.compile("[ _-]+")  # between the words of one name: light year, light-year, and light_year in code


def _prefixed_unit(base: Unit, power: int) -> Unit:
    """Return a unit with a prefix: `base` times ten to the power `power`."""
    names = {value: key for key, value in PREFIX_WORDS.items()}
    name = f"{names.get(power, f'10^{power} ')}{base.name}"
    return Unit(name, base.factor * Fraction(10) ** power, base.dimension, Fraction(0), base.pi)


def find_unit_product(text: str) -> Unit | None:
    """Parse a product of units (`J/(mol K)`, `m s^-2`) as one unit; None if none, or with two readings."""
    try:
        return read_unit_product(text)
    except NoReadingError:
        return None


def longest_unit(words: Sequence[str]) -> tuple[str, int]:
    """Return the longest unit that a text begins with, and of how many of its words it is; empty and 0 if none.

    >>> longest_unit(["m", "per", "second", "of", "wind"]), longest_unit(["of", "wind"])
    (('m per second', 3), ('', 0))
    """
    runs = ((" ".join(words[:count]).strip(".,;:"), count) for count in range(min(len(words), MAX_UNIT_WORDS), 0, -1))
    return next((run for run in runs if find_unit_product(run[0]) is not None), ("", 0))


def read_unit_product(text: str) -> Unit:
    """Parse a product of units (`J/(mol K)`) as one unit.

    Errors:
        NoReadingError: no unit, or one that can be read in two ways; the message says which.
    """
    clean = normalize_unit_text(text)
    if " " in clean or "_" in clean or "-" in clean:
        clean = unit_table().multiword.sub(lambda words: _WORD_SEPARATORS.sub("_", words[0]), clean)
    product = parse_unit_text(clean)
    if product.doubt:
        raise NoReadingError(product.doubt)
    found = find_unit(product.expr.name) if product.expr.op == "unit" else work_out(product.expr)
    if found is None:
        raise NoReadingError(f"{product.expr.name!r} is no unit that the table knows")
    return replace(found, name=text)


def work_out(node: Expr) -> Unit:
    """Multiply out numbers and units as one unit; raise NoReadingError for anything else."""
    if node.op == "num" and node.value is not None:
        return multiply_units(_ONE, replace(_ONE, factor=node.value))
    if node.op == "const" and node.name == "pi":
        return replace(_ONE, pi=1)
    if node.op == "unit":
        return find_unit(node.name) or read_unit_product(node.name)
    if node.op == "neg":
        return multiply_units(replace(_ONE, factor=Fraction(-1)), work_out(node.args[0]))
    if node.op == "mul":
        return reduce(multiply_units, map(work_out, node.args))
    if node.op == "div":
        above, below = map(work_out, node.args)
        return replace(multiply_units(above, raise_unit(below, Fraction(-1))), offset=Fraction(0))
    if node.op == "pow":
        base, exponent = map(work_out, node.args)
        if not exponent.pi and not any(exponent.dimension):
            return raise_unit(base, exponent.factor)
    raise NoReadingError("no product of numbers and units")


_ONE = Unit("", Fraction(1), DIMENSIONLESS)


def multiply_units(left: Unit, right: Unit) -> Unit:
    """Return left * right as one unit; raise NoReadingError if its factor is too long.

    A zero point remains only beside plain numbers, in `-5 degC`: degC in `J/(kg degC)` is a difference of temperatures.
    """
    dimension = tuple(a + b for a, b in zip(left.dimension, right.dimension, strict=True))
    is_plain = not (any(left.dimension) and any(right.dimension)) and not (left.pi or right.pi)
    offset = left.offset + right.offset if is_plain else Fraction(0)
    return _within_bits(Unit("", left.factor * right.factor, dimension, offset, left.pi + right.pi))


def _within_bits(unit: Unit) -> Unit:
    """Return the unit; raise NoReadingError if its factor has more than MAX_BITS bits."""
    if max(unit.factor.numerator.bit_length(), unit.factor.denominator.bit_length()) > MAX_BITS:
        raise NoReadingError(f"{unit.name or 'the product'} is too large")
    return unit


def raise_unit(base: Unit, exponent: Fraction) -> Unit:
    """Return a unit raised to a power; raise NoReadingError if the exponent is too large or the factor not exact."""
    if exponent == 1:
        return base
    limit = MAX_UNIT_POWER if any(base.dimension) or base.pi else MAX_TEN_POWER
    if abs(exponent) > limit or (not base.factor and exponent <= 0):
        raise NoReadingError(f"the exponent {exponent} is too large for a unit")
    if exponent.denominator != 1 and (base.factor != 1 or base.pi):
        raise NoReadingError(f"{base.name} to the power {exponent} has no exact factor")
    factor = Fraction(1) if base.factor == 1 else base.factor ** int(exponent)
    dimension = tuple(power * exponent for power in base.dimension)
    return _within_bits(Unit("", factor, dimension, Fraction(0), int(base.pi * exponent)))

"""Constants of nature: the table `constants/constants.toml`, and literals that are the value of a constant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any

from prism.algebra.expr import Expr, symbols
from prism.budget import uncharged
from prism.errors import DataFileError, LatexSyntaxError
from prism.physics.quantities import Quantity
from prism.physics.tables import (
    DIMENSIONLESS,
    PI,
    Dimension,
    Unit,
    read_exact_number,
    read_rows,
    read_string,
    read_strings,
)
from prism.physics.units import find_unit, find_unit_product
from prism.resources import resource

MAX_FIGURES = 60  # more make no difference for any constant; a student's choice of power would be an attack on memory

_VALUES_KEPT = 4096  # numbers of which is kept what constants they are
_CONSTANTS_FILE = "constants/constants.toml"


@dataclass(frozen=True, slots=True)
class Reading:
    r"""One meaning of a symbol as a constant of nature: `k` is Coulomb's constant or Boltzmann's.

    Attributes:
        symbol: in the parser's spelling.
        constant: English name.
        expr: the constant in terms of others, `1/(4\pi\epsilon_0)`; None if it is a value only.
        value: [coherent SI].
        uncertainty: standard uncertainty [coherent SI]; 0 is exact.
        figures: digits of the value that are known.
        textbook: values [coherent SI] that problems use although they are no rounding of `value` (g = 10 m/s^2).
        latex: the identity as the table has it.
        year: of the adjustment.
        source: where the value was published.
        earlier: values [coherent SI] of former adjustments; a rounding of one of them is the constant too.
    """

    symbol: str
    constant: str
    expr: Expr | None
    value: Quantity | None
    uncertainty: Fraction = Fraction(0)
    figures: int = 0
    textbook: tuple[Fraction, ...] = ()
    latex: str = ""
    year: int = 0
    source: str = ""
    earlier: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class ConstantTable:
    """The constants of nature by symbol; the mapping is never changed after construction."""

    by_symbol: Mapping[str, tuple[Reading, ...]] = field(hash=False)

    @cached_property
    def _by_size(self) -> Mapping[int, frozenset[str]]:
        """The letters by the binary order of magnitude of the values that a number may be a rounding of."""
        found: dict[int, set[str]] = {}
        for name, readings in self.by_symbol.items():
            for reading in readings:
                if reading.value is not None:
                    for value in (reading.value.value, *reading.earlier, *reading.textbook):
                        found.setdefault(_size_of(value), set()).add(name)
        return {size: frozenset(names) for size, names in found.items()}

    def letters_near(self, value: Fraction) -> frozenset[str]:
        """Return all letters of constants that have a value within a tenth of a positive number, and some others."""
        size = _size_of(value)
        return frozenset[str]().union(*(self._by_size.get(near, ()) for near in range(size - 2, size + 3)))

    def readings(self, symbol: str) -> tuple[Reading, ...]:
        """Return all meanings of a symbol as a constant, in the order of the table; empty if it has none.

        A constant with two identities counts twice.
        """
        return self.by_symbol.get(symbol, ())


@lru_cache(_VALUES_KEPT)
def constants_with_value(
    value: Fraction,
    dimension: Dimension | None,
    figures: int,
    *,
    among: frozenset[str],
    scale: Fraction = Fraction(1),
) -> tuple[str, ...]:
    """Return the letters of the constants whose value a number is: 3.00e8 m/s is c, 6.63e-34 J s is h.

    A literal is a constant if it is the constant's value, now or in a former adjustment, rounded as the literal is
    written; or if it is one of the values that textbooks use instead. One figure is too few: `3e8` is c only
    because the table has it.

    Args:
        value: [coherent SI]; only positive numbers are constants.
        dimension: exponents of the base units; None where no unit is written, and then only the value is compared.
        figures: significant figures that are written.
        among: symbols in the parser's spelling; the caller knows which of them the problem leaves free.
        scale: the written unit in coherent SI. 13.6 eV has its half unit in the last place in eV, not in J.

    Returns:
        The symbols in alphabetical order; several where one value is several constants (1.67e-27 kg is m_p and m_n).

    >>> free = frozenset(["h", "g", "c", "k"])
    >>> constants_with_value(Fraction("6.63e-34"), None, 3, among=free)
    ('h',)
    >>> [constants_with_value(Fraction(text), None, 3, among=free) for text in ("8.99e9", "6.26e-34")]
    [('k',), ()]
    """
    if value <= 0 or scale <= 0:
        return ()
    table = constant_table()
    readings = {name: table.readings(name) for name in sorted(among & table.letters_near(value))}
    if not readings:
        return ()
    written = value / scale
    half = Fraction(10) ** (leading_power(written) - max(1, min(figures, MAX_FIGURES)) + 1) * scale / 2
    low, high = (value - half, value + half) if figures > 1 else (value, value)
    return tuple(
        name
        for name, known in readings.items()
        if any(_is_rounding_of(value, dimension, low, high, reading) for reading in known)
    )


def _is_rounding_of(
    value: Fraction, dimension: Dimension | None, low: Fraction, high: Fraction, reading: Reading
) -> bool:
    """Return True if a number is a constant's value or a textbook value of it.

    Args:
        value: the number [coherent SI].
        dimension: exponents of the base units; None if no unit is written, which fits any.
        low, high: the number less and plus half a unit in its last place [coherent SI], which rounding can change.
        reading: the constant.
    """
    if reading.value is None or dimension not in (None, reading.value.dimension):
        return False
    return any(low <= known <= high for known in (reading.value.value, *reading.earlier)) or value in reading.textbook


def _size_of(value: Fraction) -> int:
    """Return the binary order of magnitude of a number, the logarithm of its absolute value to base 2 within 1."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def leading_power(value: Fraction) -> int:
    """Return the power of ten of the leading digit of a number other than 0: 3 for 1234, -1 for 0.5."""
    size = abs(value)
    power = _size_of(size) * 301 // 1000
    while size >= Fraction(10) ** (power + 1):
        power += 1
    while size < Fraction(10) ** power:
        power -= 1
    return power


@cache
@uncharged
def constant_table() -> ConstantTable:
    """Return the table of constants that is shipped, read on first use."""
    return read_constant_table(resource(_CONSTANTS_FILE).read_text(encoding="utf-8"), file=_CONSTANTS_FILE)


_CONSTANT_KEYS = frozenset(
    ["name", "symbols", "loose", "value", "unit", "uncertainty", "year", "source", "earlier", "textbook", "identities"]
)


def read_constant_table(text: str, *, file: str) -> ConstantTable:
    r"""Read a table of constants in TOML and check all of it.

    A symbol is known by the table's spelling and by the parser's (`k_{\rm B}` and `k_B`).

    Errors:
        DataFileError: naming every row and field at fault.
    """
    faults: list[str] = []
    by_symbol: dict[str, list[Reading]] = {}
    used: list[tuple[str, frozenset[str]]] = []
    for where, row in read_rows(text, "constant", _CONSTANT_KEYS, file, faults):
        readings = _read_constant_row(row, where, faults)
        used += [(where, symbols(reading.expr)) for reading in readings if reading.expr is not None]
        # two symbols with the same identity are one to the engine, and k_0 is not k
        values = [replace(reading, expr=None, latex="") for reading in readings[:1]]
        meant = [(spelling, readings) for spelling in read_strings(row, "symbols", where, faults)]
        for spelling, each in meant + [(spelling, values) for spelling in read_strings(row, "loose", where, faults)]:
            name = _parse_symbol(spelling, where, faults)
            for known in dict.fromkeys((name, spelling)):
                named = [replace(reading, symbol=name) for reading in each]
                if any(old.constant == new.constant for old in by_symbol.get(known, []) for new in named):
                    continue  # two spellings that the parser folds into one
                by_symbol.setdefault(known, []).extend(named)
    for where, names in used:
        if unknown := sorted(names - by_symbol.keys()):
            faults.append(f"{where}, identities: no constant has the symbol {', '.join(unknown)}")
    if faults:
        raise DataFileError(file, tuple(faults))
    return ConstantTable({name: tuple(readings) for name, readings in by_symbol.items()})


def _read_constant_row(row: dict[str, Any], where: str, faults: list[str]) -> list[Reading]:
    """Read one row of the table as meanings without a symbol, one for each identity, or one without an identity.

    Args:
        row: the fields.
        where: words that name the row in a fault.
        faults: collects what is wrong.
    """
    base, value = Unit("", Fraction(1), DIMENSIONLESS), None
    if text := read_string(row, "unit", where, faults):
        found = find_unit(text) or find_unit_product(text)
        if found is None or found.offset:
            faults.append(f"{where}, unit: {text!r} is no unit; write it as in 'J/(mol K)'")
        base = found or base
    scale = base.factor * PI**base.pi
    if "value" in row:
        value = Quantity(read_exact_number(row, "value", where, faults) * scale, base.dimension)
    identities = read_strings(row, "identities", where, faults)
    if value is None and not identities:
        faults.append(f"{where}: needs a value or identities")
    textbook, earlier = (_read_further_values(row, key, where, faults) for key in ("textbook", "earlier"))
    plain = Reading(
        symbol="",
        constant=str(row.get("name", "")),
        expr=None,
        value=value,
        uncertainty=read_exact_number(row, "uncertainty", where, faults) * scale if value else Fraction(0),
        figures=len(re.sub(r"e.*|\D", "", str(row.get("value", ""))).lstrip("0")),
        textbook=tuple(number * scale for number in textbook),
        earlier=tuple(number * scale for number in earlier),
        year=row["year"] if isinstance(row.get("year"), int) else 0,
        source=str(row.get("source", "")),
    )
    if value is not None and not plain.year:
        faults.append(f"{where}, year: the year of the adjustment is missing")
    if not identities:
        return [plain]
    return [replace(plain, expr=_parse_identity(latex, where, faults), latex=latex) for latex in identities]


def _read_further_values(row: dict[str, Any], key: str, where: str, faults: list[str]) -> list[Fraction]:
    """Read a list of numbers from the field `key`, such as `4e-7 pi`; faults are added to `faults`."""
    parts = [text.partition(" pi") for text in read_strings(row, key, where, faults)]
    return [
        read_exact_number({key: digits + rest}, key, where, faults) * (PI if pi else 1) for digits, pi, rest in parts
    ]


def _parse_identity(latex: str, where: str, faults: list[str]) -> Expr | None:
    r"""Parse an identity `h/2\pi` as an expression; None, and a fault added to `faults`, if it is no expression."""
    from prism.latex import parse

    try:
        read = parse(latex)
    except LatexSyntaxError as fault:
        faults.append(f"{where}, identities: {latex!r} does not parse: {str(fault).splitlines()[0]}")
        return None
    if read.kind != "expression":
        faults.append(f"{where}, identities: {latex!r} is no expression; leave out the constant and its `=`")
        return None
    return read.members[0]


def _parse_symbol(latex: str, where: str, faults: list[str]) -> str:
    """Return the parser's name for a symbol in LaTeX. The text itself, and a fault added, if it is no single symbol."""
    from prism.latex import parse

    try:
        read = parse(latex)
    except LatexSyntaxError as fault:
        faults.append(f"{where}, symbols: {latex!r} does not parse: {str(fault).splitlines()[0]}")
        return latex
    node = read.members[0] if read.kind == "expression" else None
    if node is None or node.op != "sym":
        faults.append(f"{where}, symbols: {latex!r} is no single symbol; words stand in \\mathrm{{...}}")
        return latex
    return node.name

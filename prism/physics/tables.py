"""The table of units: reading `constants/units.toml`, and the readers of rows that the constants share.

Units are a closed table, written from pint by a script: pint itself takes 1 s to start, reads far more names than
physicists write (`dV` as decivolt, `PV` as petavolt), and counts a revolution as 2 pi. A name that is not in the table
is no unit; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from prism.budget import uncharged
from prism.errors import DataFileError
from prism.latex.unit_grammar import PREFIX_SYMBOLS
from prism.resources import resource

BASE_UNITS = ("m", "kg", "s", "A", "K", "mol", "cd")

PREFIXES: Mapping[str, int] = {
    "y": -24, "z": -21, "a": -18, "f": -15, "p": -12, "n": -9, "µ": -6, "m": -3, "c": -2, "d": -1,
    "da": 1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18, "Z": 21, "Y": 24,
}  # fmt: skip

PREFIX_WORDS: Mapping[str, int] = {word: PREFIXES[letter] for word, letter in PREFIX_SYMBOLS.items()}

THOUSANDS = tuple(prefix for prefix, power in PREFIXES.items() if power % 3 == 0)

# 50 digits; used only where a value in degrees, parsecs or oersteds is needed as a number
PI = Fraction("3.14159265358979323846264338327950288419716939937511")

_UNITS_FILE = "constants/units.toml"

Dimension = tuple[Fraction, ...]

DIMENSIONLESS: Dimension = (Fraction(0),) * len(BASE_UNITS)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measurement: x of it is `factor * pi**pi * x + offset` in coherent SI units.

    Attributes:
        name: English name, prefix included; for a product of units its text.
        factor: exact [coherent SI].
        dimension: exponents of m, kg, s, A, K, mol, cd.
        offset: zero point [K] of degC and degF; else 0. It does not count for a difference of temperatures.
        pi: power of pi in the factor, so that degrees (1), parsecs and oersteds (-1) are exact too.
    """

    name: str
    factor: Fraction
    dimension: Dimension
    offset: Fraction = Fraction(0)
    pi: int = 0


@dataclass(frozen=True, slots=True)
class UnitTable:
    """The units by name. The mappings are never changed after construction.

    Attributes:
        exact: unit by symbol, without prefix; an exact name wins over a prefixed one (`min`, `Gs`, `cd`).
        prefixed: symbol with prefix -> power of ten and the symbol without.
        words: unit by its name written out, in small letters, plural included.
        prefixable: those words that take a prefix written out.
        multiword: pattern of names of several words, longest first, with a prefix (`kilotons of TNT`).
    """

    exact: Mapping[str, Unit] = field(hash=False)
    prefixed: Mapping[str, tuple[int, str]] = field(hash=False)
    words: Mapping[str, Unit] = field(hash=False)
    prefixable: frozenset[str]
    multiword: re.Pattern[str]


@cache
@uncharged
def unit_table() -> UnitTable:
    """Return the table of units that is shipped, read on first use."""
    return read_unit_table(resource(_UNITS_FILE).read_text(encoding="utf-8"), file=_UNITS_FILE)


_UNIT_KEYS = frozenset(["name", "spellings", "words", "factor", "dimension", "pi", "offset", "prefixes", "source"])


def read_unit_table(text: str, *, file: str) -> UnitTable:
    """Read a table of units in TOML and check all of it.

    Errors:
        DataFileError: naming every row and field at fault.
    """
    faults: list[str] = []
    exact: dict[str, Unit] = {}
    words: dict[str, Unit] = {}
    takes: list[tuple[str, str]] = []
    prefixable: set[str] = set()
    for where, row in read_rows(text, "unit", _UNIT_KEYS, file, faults):
        found = _read_unit_row(row, where, faults)
        prefixes = _read_prefixes(read_string(row, "prefixes", where, faults), where, faults)
        for spelling in read_strings(row, "spellings", where, faults):
            _register_unit(exact, spelling, found, where, faults)
            takes += [(prefix, spelling) for prefix in prefixes]
        for word in read_strings(row, "words", where, faults):
            for form in (word,) if word[-1:] in "sxz" else (word, f"{word}s"):
                _register_unit(words, form, found, where, faults)
                if prefixes:
                    prefixable.add(form)
    prefixed: dict[str, tuple[int, str]] = {}
    for prefix, spelling in takes:
        for sign in ("µ", "u") if prefix == "µ" else (prefix,):
            split = (PREFIXES[prefix], spelling)
            if sign + spelling in prefixed and sign + spelling not in exact:
                faults.append(f"spellings: {sign + spelling!r} is {prefixed[sign + spelling][1]!r} and {spelling!r}")
            prefixed[sign + spelling] = split
    if faults:
        raise DataFileError(file, tuple(faults))
    return UnitTable(exact, prefixed, words, frozenset(prefixable), _multiword_pattern(words))


def _multiword_pattern(words: Mapping[str, Unit]) -> re.Pattern[str]:
    """Compile the pattern that matches unit names of several words, as `light year`, with or without a prefix."""
    names = sorted((word for word in words if " " in word), key=len, reverse=True)
    prefixes = "|".join(PREFIX_WORDS)
    spelled = "|".join(name.replace(" ", "[ _-]+") for name in names)
    return re.compile(rf"(?<![A-Za-z])(?:{prefixes})?(?:{spelled})(?![A-Za-z])", re.IGNORECASE)


def read_rows(
    text: str, key: str, known: frozenset[str], file: str, faults: list[str]
) -> list[tuple[str, dict[str, Any]]]:
    """Parse a table in TOML: return its rows, each with words that name the row in the text of a fault.

    Args:
        text: TOML with one list of tables.
        key: the name of the list.
        known: the fields that a row may have.
        file: the name of the file, for errors.
        faults: collects unknown and missing fields.

    Errors:
        DataFileError: no TOML, or anything but such a list.
    """
    import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise DataFileError(file, (f"is no TOML: {fault}",)) from fault
    rows = table.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or set(table) != {key}:
        raise DataFileError(file, (f"holds {', '.join(table) or 'nothing'}; expected a list of tables named `{key}`",))
    named = [(f"{key} {place} ({row.get('name', 'without name')})", row) for place, row in enumerate(rows, start=1)]
    for where, row in named:
        if extra := sorted(row.keys() - known):
            faults.append(f"{where}: unknown key {', '.join(extra)}; keys are {', '.join(sorted(known))}")
        faults += [f"{where}, {need}: is missing" for need in ("name", "source") if not row.get(need)]
    return named


def _read_unit_row(row: dict[str, Any], where: str, faults: list[str]) -> Unit:
    """Read one row of the table as a unit; what is wrong is added to `faults`, named by the words `where`."""
    factor = read_exact_number(row, "factor", where, faults)
    if factor <= 0:
        faults.append(f"{where}, factor: {row.get('factor')!r} is not above 0")
    dimension = DIMENSIONLESS
    try:
        dimension = parse_dimension(read_string(row, "dimension", where, faults))
    except ValueError as fault:
        faults.append(f"{where}, dimension: {fault}")
    pi = row.get("pi", 0)
    if not isinstance(pi, int):
        faults.append(f"{where}, pi: {pi!r} is no whole number")
        pi = 0
    offset = read_exact_number(row, "offset", where, faults) if "offset" in row else Fraction(0)
    if offset and dimension != parse_dimension("K"):
        faults.append(f"{where}, offset: only a temperature has one")
    return Unit(str(row.get("name", "")), factor, dimension, offset, pi)


def _register_unit(taken: dict[str, Unit], spelling: str, unit: Unit, where: str, faults: list[str]) -> None:
    """Add a unit to `taken` under one spelling; if another unit has the spelling, add that to `faults`."""
    old = taken.setdefault(spelling, unit)
    if old != unit:
        faults.append(f"{where}, spellings: {spelling!r} is {old.name} already")


def _read_prefixes(text: str, where: str, faults: list[str]) -> tuple[str, ...]:
    """Read a unit's prefixes, `k M m` or `thousands` (powers of 1000); unknown ones go to `faults`."""
    items = THOUSANDS if text == "thousands" else tuple(text.split())
    if unknown := [item for item in items if item not in PREFIXES]:
        faults.append(f"{where}, prefixes: {', '.join(unknown)}; expected `thousands`, or some of {' '.join(PREFIXES)}")
    return tuple(item for item in items if item in PREFIXES)


def parse_dimension(text: str) -> Dimension:
    """Parse `kg m^2 s^-2` into the exponents of the seven base units; an empty text is dimensionless.

    Errors:
        ValueError: no base unit, or no exponent.
    """
    powers = dict.fromkeys(BASE_UNITS, Fraction(0))
    for factor in text.split():
        name, _, exponent = factor.partition("^")
        if name not in powers or not re.fullmatch(r"(?:-?\d+(?:/\d+)?)?", exponent):
            raise ValueError(f"{factor!r} in {text!r}; expected base units with exponents, as in 'kg m^2 s^-2'")
        powers[name] += Fraction(exponent or 1)
    return tuple(powers.values())


def read_exact_number(row: Mapping[str, Any], key: str, where: str, faults: list[str]) -> Fraction:
    """Read the field `key` of a row as an exact number in quotes (`1.5e-3`, `1/60`).

    Returns 1 if it is none, which is added to `faults`; `where` are words that name the row.
    """
    text = row.get(key)
    if isinstance(text, str) and re.fullmatch(r"-?\d+(?:\.\d+)?(?:e-?\d{1,3})?|\d+/[1-9]\d*", text):
        return Fraction(text)
    faults.append(f"{where}, {key}: {text!r}; expected a number in quotes, as in '1.5e-3' or '1/60'")
    return Fraction(1)


def read_string(row: Mapping[str, Any], key: str, where: str, faults: list[str]) -> str:
    """Read the field `key` of a row as text.

    Returns "" if it is missing, or if it is no text, which is added to `faults`; `where` are words that name the row.
    """
    text = row.get(key, "")
    if isinstance(text, str):
        return text
    faults.append(f"{where}, {key}: {text!r} is no text in quotes")
    return ""


def read_strings(row: Mapping[str, Any], key: str, where: str, faults: list[str]) -> list[str]:
    """Read the field `key` of a row as a list of non-empty texts.

    Returns [] if it is missing, or if it is no such list, which is added to `faults`; `where` names the row.
    """
    items = row.get(key, [])
    if isinstance(items, list) and all(isinstance(item, str) and item for item in items):
        return items
    faults.append(f"{where}, {key}: {items!r} is no list of texts in quotes")
    return []

"""Write `constants/units.toml`: the factors come from pint, the spellings from the list below.

Run `python constants/write_units.py` (needs pint) after a change to the list, and read the difference before
committing it; `tests/test_quantities.py` fails when the table and this script disagree. A unit that pint lacks, or
defines otherwise than physicists write it (a revolution is a count, a gauss is 1e-4 T), carries its factor here
and names where it was found.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent / "units.toml"

BASE = {
    "meter": "m", "kilogram": "kg", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd",
}  # fmt: skip
COUNTS = ("radian", "count")  # pint keeps them; to a physicist they are the number 1

HEADER = """\
# Units, one a line. Written by `python constants/write_units.py` from pint {version}; change the list there, not here.
# Keys: name; spellings (symbols, case counts); words (singular, written out); factor [coherent SI]; dimension;
#   pi (the factor is also multiplied by this power of pi); offset [K] (added after the factor); prefixes
#   ("thousands": y z a f p n µ m k M G T P E Z Y); source. What is left out is empty, 0 or none.
"""


@dataclass(frozen=True)
class Row:
    """One unit of the list below.

    Attributes:
        name: English name, first of the words.
        spellings: symbols, separated by blanks; case counts.
        pint: what pint is asked for; empty if `factor` is given here.
        words: further words, separated by blanks.
        prefixes: prefixes it takes, separated by blanks; `thousands` stands for all powers of 1000.
        factor, dimension, pi, source: used instead of pint's.
        offset: name of the pint unit whose zero is shifted, e.g. `degC`.
    """

    name: str
    spellings: str
    pint: str = ""
    words: str = ""
    prefixes: str = ""
    factor: str = ""
    dimension: str = ""
    pi: int = 0
    offset: str = ""
    source: str = "pint"


BROCHURE = "SI brochure, 9th edition"
GAUSSIAN = "NIST SP 811 (2008), appendix B.8"
COUNT = "a count of value 1 (PRISM's own rule)"

# Prefixes are those in use, and never one that makes a spelling physicists use for something else: no pH (the
# acidity), kT (a thermal energy), PV, pV and pK, Tm (tesla metre), cg (a centre of mass), hbar, mu, dl, dV, ds.
SECTIONS: dict[str, tuple[Row, ...]] = {
    "SI base units": (
        Row("meter", "m", "meter", "metre", "y z a f p n µ m c d h k M G"),
        Row("gram", "g", "gram", "gramme", "f p n µ m k M G"),
        Row("kilogram", "Kg kgs", "kilogram"),
        Row("second", "s sec secs", "second", "", "y z a f p n µ m k M G"),
        Row("ampere", "A amp amps", "ampere", "amp", "f p n µ m k M G"),
        Row("kelvin", "K", "kelvin", "", "n µ m k M G"),
        Row("mole", "mol mols", "mole", "", "p n µ m k M"),
        Row("candela", "cd", "candela", "", "m k"),
    ),
    "SI derived units": (
        Row("radian", "rad rads", "radian", "", "n µ m"),
        Row("steradian", "sr", "steradian", "", "µ m"),
        Row("hertz", "Hz", "hertz", "", "thousands"),
        Row("newton", "N", "newton", "", "f p n µ m k M G T"),
        Row("pascal", "Pa", "pascal", "", "n µ m h k M G T P"),
        Row("joule", "J", "joule", "", "a f p n µ m k M G T P E"),
        Row("watt", "W", "watt", "", "a f p n µ m k M G T P"),
        Row("coulomb", "C", "coulomb", "", "a f p n µ m k M"),
        Row("volt", "V", "volt", "", "f n µ m k M G T"),
        Row("farad", "F", "farad", "", "a f p n µ m"),
        Row("ohm", "Ω ohm Ohm", "ohm", "", "n µ m k M G T"),
        Row("siemens", "S mho ℧", "siemens", "mho", "p n µ m k M"),
        Row("weber", "Wb", "weber", "", "n µ m k"),
        Row("tesla", "T", "tesla", "", "f p n µ m"),
        Row("henry", "H", "henry", "henries", "n µ m"),
        Row("lumen", "lm", "lumen", "", "k M"),
        Row("lux", "lx", "lux", "", "m k"),
        Row("becquerel", "Bq", "becquerel", "", "m k M G T P E"),
        Row("gray", "Gy", "gray", "", "n µ m c k M"),
        Row("sievert", "Sv", "sievert", "", "n µ m c"),
        Row("katal", "kat", "katal", "", "p n µ m"),
        Row("diopter", "dpt", "", "dioptre", factor="1", dimension="m^-1", source="ISO 80000-7"),
    ),
    "Products written as one word": (
        Row("newton meter", "Nm", "newton * meter", "", "µ m k M G"),
        Row("newton second", "Ns", "newton * second"),
        Row("joule second", "Js", "joule * second"),
        Row("volt second", "Vs", "volt * second", "", "µ m"),
        Row("ampere second", "As", "ampere * second", "", "µ m"),
        Row("volt ampere", "VA", "volt * ampere", "", "m k M"),
        Row("ampere hour", "Ah", "ampere * hour", "", "m k"),
        Row("watt hour", "Wh", "watt * hour", "", "m k M G T"),
    ),
    "Accepted beside the SI": (
        Row("minute", "min mins", "minute"),
        Row("hour", "h hr hrs", "hour"),
        Row("day", "d", "day"),
        Row("week", "wk", "week"),
        Row("year", "yr yrs", "year", "annum", "k M G"),
        Row("liter", "L", "liter", "litre", "n µ m k M"),
        Row("liter (small letter)", "l ℓ", "liter", "", "µ m c"),
        Row("cubic centimeter", "cc ccm", "cc"),
        Row("hectare", "ha", "hectare"),
        Row("tonne", "t", "tonne", "", "M G"),
        Row("dalton", "Da u amu", "dalton", "", ""),
        Row("kilodalton", "kDa", "kilodalton"),
        Row("electronvolt", "eV", "electron_volt", "", "a f p n µ m k M G T P E Z"),
        Row("astronomical unit", "au AU ua", "astronomical_unit"),
        Row("light year", "ly lyr", "light_year", "lightyear", "k M G"),
        Row("parsec", "pc", "", "", "k M G", factor="96939420213600000", dimension="m", pi=-1, source="IAU 2015 B2"),
        Row("angstrom", "Å Angstrom", "angstrom", "ångström"),
        Row("micron", "", "micron"),
        Row("barn", "b", "barn", "", "z a f p n µ m"),
        Row("knot", "kn", "knot"),
        Row("debye", "D", "debye", "", "m"),
        Row("molar", "M", "molar", "", "p n µ m"),
        Row("nautical mile", "nmi", "nautical_mile"),
        Row("revolution", "rev revs", "", "", factor="1", source=COUNT),
        Row("turn", "", "", "", factor="1", source=COUNT),
        Row("cycle", "", "", "", factor="1", source=COUNT),
        Row("revolution per minute", "rpm RPM", "", "", factor="1/60", dimension="s^-1", source=COUNT),
        Row("percent", "%", "percent"),
        Row("permille", "‰", "permille"),
        Row("part per million", "ppm", "ppm"),
        Row("part per billion", "ppb", "", "", factor="1/1000000000", source="1 in 10^9, as physicists use it"),
    ),
    "Angles and temperatures": (
        Row("degree", "° deg degs", "", "", factor="1/180", pi=1, source=BROCHURE),
        Row("arcminute", "arcmin ′ '", "", "", factor="1/10800", pi=1, source=BROCHURE),
        Row("arcsecond", "arcsec", "", "", "m µ", factor="1/648000", pi=1, source=BROCHURE),
        Row("arcsecond (sign)", '″ "', "", "", factor="1/648000", pi=1, source=BROCHURE),
        Row("degree Celsius", "°C degC ℃", "delta_degC", "celsius", offset="degC"),
        Row("degree Fahrenheit", "°F degF ℉", "delta_degF", "fahrenheit", offset="degF"),
        Row("degree Rankine", "°R degR", "rankine", "rankine"),
    ),
    "Pressure and heat": (
        Row("bar", "bar bars", "bar", "", "n µ m k M G"),
        Row("atmosphere", "atm", "standard_atmosphere"),
        Row("torr", "torr Torr", "torr", "", "n µ m"),
        Row("millimeter of mercury", "mmHg", "millimeter_Hg"),
        Row("inch of mercury", "inHg", "inch_Hg"),
        Row("calorie", "cal", "calorie", "", "k M"),
        Row("British thermal unit", "Btu BTU", "british_thermal_unit"),
    ),
    "Radioactivity": (
        Row("curie", "Ci", "curie", "", "p n µ m k M"),
        Row("rem", "rem", "rem", "", "µ m"),
        Row("roentgen", "", "roentgen"),
    ),
    "CGS and Gaussian": (
        Row("erg", "erg ergs", "erg"),
        Row("dyne", "dyn", "dyne"),
        Row("poise", "P", "poise", "", "c"),
        Row("stokes", "St", "stokes", "stoke", "c"),
        Row("gauss", "G Gs", "", "", "n µ m k M", factor="0.0001", dimension="kg s^-2 A^-1", source=GAUSSIAN),
        Row("oersted", "Oe", "", "", "m k", factor="250", dimension="A m^-1", pi=-1, source=GAUSSIAN),
        Row("maxwell", "Mx", "", "", factor="1e-8", dimension="kg m^2 s^-2 A^-1", source=GAUSSIAN),
        Row("statcoulomb", "statC esu", "", "franklin", factor="1/2997924580", dimension="s A", source=GAUSSIAN),
        Row("jansky", "Jy", "", "", "µ m k", factor="1e-26", dimension="kg s^-2", source="IAU style manual (1989)"),
    ),
    "Imperial and US": (
        Row("inch", "in", "inch", "inches"),
        Row("foot", "ft", "foot", "feet"),
        Row("yard", "yd", "yard"),
        Row("mile", "mi", "mile"),
        Row("mile per hour", "mph", "mile / hour"),
        Row("kilometer per hour", "kph kmph", "kilometer / hour"),
        Row("pound", "lb lbs lbm", "pound"),
        Row("ounce", "oz", "ounce"),
        Row("slug", "", "slug"),
        Row("pound-force", "lbf", "force_pound"),
        Row("kilogram-force", "kgf", "force_kilogram"),
        Row("pound-force per square inch", "psi", "psi"),
        Row("kilopound-force per square inch", "ksi", "ksi"),
        Row("US gallon", "gal", "gallon", "gallon"),
        Row("horsepower", "hp HP", "horsepower"),
    ),
}


def main() -> int:
    """Write the table; 0 if it went well."""
    TABLE.write_text(table_text(), encoding="utf-8")
    return 0


def table_text() -> str:
    """The whole table as text."""
    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Fraction)
    lines = [HEADER.format(version=pint.__version__), "unit = ["]
    for section, rows in SECTIONS.items():
        lines.append(f"  # {section}")
        lines += [f"  {{{entry(row, registry)}}}," for row in rows]
    return "\n".join([*lines, "]", ""])


def entry(row: Row, registry: Any) -> str:
    """One row of the table."""
    factor, dimension = row.factor, row.dimension
    if row.pint:
        exact, dimension = from_pint(row.pint, registry)
        factor = spell(exact)
    offset = spell(from_pint_offset(row, registry)) if row.offset else ""
    words = ([] if " " in row.name or "-" in row.name else [row.name]) + row.words.split()
    pairs = [
        ("name", quoted(row.name)),
        ("spellings", listed(row.spellings.split())),
        ("words", listed(words)),
        ("factor", quoted(factor)),
        ("dimension", quoted(dimension)),
        ("pi", str(row.pi)),
        ("offset", quoted(offset)),
        ("prefixes", quoted(row.prefixes)),
        ("source", quoted(row.source)),
    ]
    return ", ".join(f"{key} = {value}" for key, value in pairs if value not in ('""', "[]", "0"))


def from_pint(text: str, registry: Any) -> tuple[Fraction, str]:
    """Exact factor to coherent SI, and the dimension as a product of base units."""
    quantity = registry.Quantity(Fraction(1), text).to_base_units()
    powers = {BASE[name]: power for name, power in quantity.unit_items() if name not in COUNTS}
    order = ("kg", *(unit for unit in BASE.values() if unit != "kg"))
    spelled = (unit if powers[unit] == 1 else f"{unit}^{powers[unit]}" for unit in order if unit in powers)
    return Fraction(quantity.magnitude), " ".join(spelled)


def from_pint_offset(row: Row, registry: Any) -> Fraction:
    """Kelvin at the unit's zero."""
    return Fraction(registry.Quantity(Fraction(0), row.offset).to_base_units().magnitude)


def spell(value: Fraction) -> str:
    """Exact decimal if there is one, with a power of ten where it is long; else a fraction.

    >>> spell(Fraction(1, 60)), spell(Fraction(201168, 125)), spell(Fraction(1, 10**28))
    ('1/60', '1609.344', '1e-28')
    """
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    digits, power = value, 0
    while digits.denominator != 1:
        digits, power = digits * 10, power - 1
    whole = digits.numerator
    while whole % 10 == 0 and whole:
        whole, power = whole // 10, power + 1
    text = str(whole)
    if power >= 0 and len(text) + power <= 9:
        return text + "0" * power
    if power > 0 or -power > len(text) + 4:
        return f"{text[0]}{'.' + text[1:] if len(text) > 1 else ''}e{power + len(text) - 1}"
    text = text.rjust(1 - power, "0")
    return f"{text[:power]}.{text[power:]}"


def quoted(text: str) -> str:
    """A TOML string."""
    return "'" + text + "'" if '"' in text else f'"{text}"'


def listed(items: list[str]) -> str:
    """A TOML list of strings."""
    return "[" + ", ".join(quoted(item) for item in items) + "]"


if __name__ == "__main__":
    sys.exit(main())

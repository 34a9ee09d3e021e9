"""Write `constants/units.toml`: the factors come from pint, the spellings from the list below.

Run `python constants/write_units.py` (needs pint) after a change to the list, and read the difference before
committing it; `tests/physics/test_units.py` fails when the table and this script disagree. A unit that pint lacks, or
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
        words: further words, separated by blanks; `light_year` is written in two words, or with a hyphen.
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
CODATA = "CODATA 2022"
SHORT_SCALE = "1 in 10^9 and 1 in 10^12, as physicists use it"
INTERNATIONAL = "NIST SP 811 (2008), appendix B.8, from the international foot"
STATFARAD = "25000/22468879468420441"
COUNT = "a count of value 1 (PRISM's own rule)"

# Prefixes are those in use, and never one that makes a spelling physicists use for something else: no pH (the
# acidity), kT (a thermal energy), PV, pV and pK, Tm (tesla metre), cg (a centre of mass), hbar, mu, dl, dV, ds.
SECTIONS: dict[str, tuple[Row, ...]] = {
    "SI base units": (
        Row("meter", "m", "meter", "metre", "y z a f p n µ m c d da h k M G"),
        Row("gram", "g", "gram", "gramme", "f p n µ m k M G T P"),
        Row("kilogram", "Kg kgs", "kilogram"),
        Row("second", "s sec secs", "second", "", "y z a f p n µ m k M G"),
        Row("ampere", "A amp amps", "ampere", "amp", "f p n µ m k M G"),
        Row("kelvin", "K", "kelvin", "", "n µ m k M G"),
        Row("kelvin", "°K degK", "kelvin", "degree_kelvin degrees_kelvin"),
        Row("mole", "mol mols", "mole", "", "a f p n µ m k M"),
        Row("candela", "cd", "candela", "", "m k"),
    ),
    "SI derived units": (
        Row("radian", "rad rads", "radian", "", "n µ m k M"),
        Row("steradian", "sr", "steradian", "", "µ m"),
        Row("hertz", "Hz", "hertz", "", "thousands"),
        Row("newton", "N", "newton", "", "f p n µ m da k M G T"),
        Row("pascal", "Pa", "pascal", "", "n µ m h k M G T P"),
        Row("joule", "J", "joule", "", "a f p n µ m k M G T P E"),
        Row("watt", "W", "watt", "", "a f p n µ m k M G T P"),
        Row("coulomb", "C", "coulomb", "", "a f p n µ m k M"),
        Row("volt", "V", "volt", "", "f n µ m k M G T"),
        Row("farad", "F", "farad", "", "a f p n µ m"),
        Row("ohm", "Ω ohm Ohm", "ohm", "", "n µ m k M G T"),
        Row("siemens", "S mho", "siemens", "mho", "p n µ m k M"),
        Row("siemens", "℧", "siemens"),
        Row("weber", "Wb", "weber", "", "n µ m k"),
        Row("tesla", "T", "tesla", "", "f p n µ m"),
        Row("henry", "H", "henry", "henries", "n µ m"),
        Row("lumen", "lm", "lumen", "", "k M"),
        Row("lux", "lx", "lux", "", "m k"),
        Row("becquerel", "Bq", "becquerel", "", "m k M G T P E"),
        Row("gray", "Gy", "gray", "", "n µ m c k M"),
        Row("sievert", "Sv", "sievert", "", "n µ m c"),
        Row("katal", "kat", "katal", "", "p n µ m"),
        Row("diopter", "dpt", "", "dioptre", "m", factor="1", dimension="m^-1", source="ISO 80000-7"),
    ),
    "Products written as one word": (
        Row("newton meter", "Nm", "newton * meter", "", "µ m k M G"),
        Row("newton second", "Ns", "newton * second"),
        Row("kilogram meter", "kgm", "kilogram * meter"),
        Row("pascal second", "Pas", "pascal * second", "", "m"),
        Row("coulomb meter", "Cm", "coulomb * meter"),
        Row("tesla meter", "Tm", "tesla * meter"),
        Row("ohm meter", "Ωm", "ohm * meter"),
        Row("joule second", "Js", "joule * second"),
        Row("volt second", "Vs", "volt * second", "", "µ m"),
        Row("ampere second", "As", "ampere * second", "", "µ m"),
        Row("volt ampere", "VA", "volt * ampere", "", "m k M"),
        Row("var", "var", "volt * ampere", "", "k M"),
        Row("ampere hour", "Ah", "ampere * hour", "", "m k"),
        Row("watt hour", "Wh", "watt * hour", "", "m k M G T"),
    ),
    "Accepted beside the SI": (
        Row("minute", "min mins", "minute"),
        Row("hour", "h hr hrs", "hour"),
        Row("day", "d", "day"),
        Row("week", "wk", "week"),
        Row("fortnight", "", "fortnight"),
        Row("sidereal day", "", "sidereal_day", "sidereal_day"),
        Row("year", "yr yrs", "year", "annum julian_year", "k M G"),
        Row("sidereal year", "", "sidereal_year", "sidereal_year"),
        Row("tropical year", "", "tropical_year", "tropical_year"),
        Row("century", "", "century", "centuries"),
        Row("millennium", "", "millennium", "millennia"),
        Row("shake", "", "shake"),
        Row("svedberg", "", "svedberg"),
        Row("liter", "L", "liter", "litre", "n µ m k M"),
        Row("liter", "l ℓ", "liter", "", "µ m c"),
        Row("cubic centimeter", "cc ccm", "cc"),
        Row("hectare", "ha", "hectare"),
        Row("tonne", "t", "tonne", "metric_ton", "M G"),
        Row("carat", "", "carat"),
        Row("dalton", "Da u amu", "dalton", "atomic_mass_unit unified_atomic_mass_unit"),
        Row("kilodalton", "kDa", "kilodalton"),
        Row("electronvolt", "eV", "electron_volt", "electron_volt", "a f p n µ m k M G T P E Z"),
        Row("hartree", "Ha", "", "", "m µ", "4.3597447222060e-18", "kg m^2 s^-2", source=CODATA),
        Row("hartree", "E_h Eh", "", "", "", "4.3597447222060e-18", "kg m^2 s^-2", source=CODATA),
        Row("rydberg", "Ry", "", "", "m µ k", "2.1798723611030e-18", "kg m^2 s^-2", source=CODATA),
        Row("bohr", "", "", "bohr_radius", "", "5.29177210544e-11", "m", source=CODATA),
        Row("astronomical unit", "au AU ua", "astronomical_unit", "astronomical_unit"),
        Row("light year", "ly lyr", "light_year", "lightyear light_year", "k M G"),
        Row("parsec", "pc", "", "", "k M G", factor="96939420213600000", dimension="m", pi=-1, source="IAU 2015 B2"),
        Row("angstrom", "Å Angstrom", "angstrom", "ångström"),
        Row("micron", "", "micron"),
        Row("fermi", "", "fermi"),
        Row("kayser", "", "reciprocal_centimeter", "reciprocal_centimeter"),
        Row("barn", "b", "barn", "", "z a f p n µ m k M"),
        Row("knot", "kn", "knot"),
        Row("speed of light", "", "speed_of_light", "speed_of_light"),
        Row("debye", "D", "debye", "", "m"),
        Row("molar", "M", "molar", "", "p n µ m"),
        Row("nautical mile", "nmi", "nautical_mile", "nautical_mile"),
        Row("gal (acceleration)", "Gal", "galileo", "galileo", "m µ"),
        Row("sverdrup", "", "sverdrup"),
        Row("darcy", "", "darcy", "darcies", "µ m"),
        Row("revolution", "rev revs", "", "", factor="1", source=COUNT),
        Row("turn", "", "", "", factor="1", source=COUNT),
        Row("cycle", "", "", "", factor="1", source=COUNT),
        Row("count", "", "", "", factor="1", source=COUNT),
        Row("count per second", "cps", "", "", factor="1", dimension="s^-1", source=COUNT),
        Row("revolution per second", "rps RPS", "", "", factor="1", dimension="s^-1", source=COUNT),
        Row("revolution per minute", "rpm RPM", "", "", factor="1/60", dimension="s^-1", source=COUNT),
        Row("dollar", "USD", "", "", factor="1", source=COUNT),
        Row("euro", "EUR", "", "", factor="1", source=COUNT),
        Row("pound sterling", "GBP", "", "pound_sterling", factor="1", source=COUNT),
        Row("percent", "%", "percent"),
        Row("permille", "‰", "permille"),
        Row("part per million", "ppm", "ppm", "part_per_million parts_per_million"),
        Row(
            "part per billion",
            "ppb",
            "",
            "part_per_billion parts_per_billion",
            factor="1/1000000000",
            source=SHORT_SCALE,
        ),
        Row("part per trillion", "", "", "part_per_trillion parts_per_trillion", factor="1e-12", source=SHORT_SCALE),
    ),
    "Angles and temperatures": (
        Row("degree", "°", "", "", factor="1/180", pi=1, source=BROCHURE),
        Row(
            "degree",
            "deg degs",
            "",
            "angular_degree arc_degree arcdegree",
            "m µ",
            factor="1/180",
            pi=1,
            source=BROCHURE,
        ),
        Row(
            "arcminute",
            "arcmin ′ '",
            "",
            "arc_minute arc_min angular_minute minute_of_arc minutes_of_arc",
            "",
            factor="1/10800",
            pi=1,
            source=BROCHURE,
        ),
        Row(
            "arcsecond",
            "arcsec",
            "",
            "arc_second arc_sec angular_second second_of_arc seconds_of_arc",
            "m µ",
            factor="1/648000",
            pi=1,
            source=BROCHURE,
        ),
        Row("arcsecond", '″ "', "", "", factor="1/648000", pi=1, source=BROCHURE),
        Row("milliarcsecond", "mas", "", "", factor="1/648000000", pi=1, source=BROCHURE),
        Row("microarcsecond", "µas uas", "", "", factor="1/648000000000", pi=1, source=BROCHURE),
        Row("gradian", "gon", "", "", "m", factor="1/200", pi=1, source="ISO 31-1 (1992)"),
        Row("square degree", "sqdeg", "", "", factor="1/32400", pi=2, source=BROCHURE),
        Row(
            "degree Celsius",
            "°C degC degreeC ℃",
            "delta_degC",
            "celsius centigrade degree_celsius degrees_celsius",
            offset="degC",
        ),
        Row(
            "degree Fahrenheit",
            "°F degF degreeF ℉",
            "delta_degF",
            "fahrenheit degree_fahrenheit degrees_fahrenheit",
            offset="degF",
        ),
        Row("degree Rankine", "°R degR degreeR", "rankine", "rankine degree_rankine degrees_rankine"),
        Row("degree Celsius (difference)", "C° Δ°C ΔdegC delta_degC", "delta_degC"),
        Row("degree Fahrenheit (difference)", "F° Δ°F ΔdegF delta_degF", "delta_degF"),
    ),
    "Pressure and heat": (
        Row("bar", "bar bars", "bar", "", "n µ m k M G"),
        Row("atmosphere", "atm", "standard_atmosphere", "standard_atmosphere", "m µ"),
        Row("technical atmosphere", "", "technical_atmosphere", "technical_atmosphere"),
        Row("torr", "torr Torr", "torr", "", "n µ m"),
        Row("millimeter of mercury", "mmHg", "millimeter_Hg", "millimeter_of_mercury millimeters_of_mercury"),
        Row("centimeter of mercury", "cmHg", "centimeter_Hg", "centimeter_of_mercury centimeters_of_mercury"),
        Row("meter of mercury", "mHg", "meter_Hg", "meter_of_mercury"),
        Row("inch of mercury", "inHg", "inch_Hg", "inch_of_mercury inches_of_mercury"),
        Row("millimeter of water", "mmH2O", "millimeter_H2O", "millimeter_of_water"),
        Row("centimeter of water", "cmH2O", "centimeter_H2O", "centimeter_of_water"),
        Row("meter of water", "mH2O", "meter_H2O", "meter_of_water"),
        Row("inch of water", "inH2O", "inch_H2O", "inch_of_water inches_of_water"),
        Row("foot of water", "ftH2O", "foot_H2O", "foot_of_water feet_of_water"),
        Row("calorie", "cal", "calorie", "", "m k M G"),
        Row("calorie", "cal_th", "calorie", "thermochemical_calorie"),
        Row("international calorie", "cal_IT cal_it", "international_calorie", "international_calorie"),
        Row("fifteen degree calorie", "cal_15", "fifteen_degree_calorie", "fifteen_degree_calorie"),
        Row("British thermal unit", "Btu BTU btu", "british_thermal_unit", "british_thermal_unit", "k M"),
        Row(
            "international British thermal unit",
            "Btu_IT Btu_it",
            "international_british_thermal_unit",
            "international_british_thermal_unit",
        ),
        Row(
            "thermochemical British thermal unit",
            "Btu_th",
            "thermochemical_british_thermal_unit",
            "thermochemical_british_thermal_unit",
        ),
        Row("therm", "", "therm"),
        Row("ton of TNT", "tTNT", "ton_TNT", "ton_of_tnt tons_of_tnt ton_tnt tons_tnt", "k M"),
        Row("tonne of oil equivalent", "toe", "tonne_of_oil_equivalent", "tonne_of_oil_equivalent", "k M"),
        Row("langley", "", "langley"),
    ),
    "Radioactivity": (
        Row("curie", "Ci", "curie", "", "p n µ m k M"),
        Row("rem", "rem", "rem", "", "µ m"),
        Row("roentgen", "", "roentgen", "röntgen", "µ m"),
    ),
    "CGS and Gaussian": (
        Row("erg", "erg ergs", "erg"),
        Row("dyne", "dyn", "dyne", "", "m"),
        Row("barye", "Ba", "barye"),
        Row("poise", "P", "poise", "", "c"),
        Row("stokes", "St", "stokes", "stoke", "c"),
        Row("gauss", "G Gs", "", "", "n µ m k M", factor="0.0001", dimension="kg s^-2 A^-1", source=GAUSSIAN),
        Row("oersted", "Oe", "", "", "m k", factor="250", dimension="A m^-1", pi=-1, source=GAUSSIAN),
        Row("maxwell", "Mx", "", "", factor="1e-8", dimension="kg m^2 s^-2 A^-1", source=GAUSSIAN),
        Row("statcoulomb", "statC esu", "", "franklin", factor="1/2997924580", dimension="s A", source=GAUSSIAN),
        Row("statampere", "statA", "", "", factor="1/2997924580", dimension="A", source=GAUSSIAN),
        Row("statvolt", "statV", "", "", factor="299.792458", dimension="kg m^2 s^-3 A^-1", source=GAUSSIAN),
        Row("statohm", "statΩ", "", "", "", "8.9875517873681764e11", "kg m^2 s^-3 A^-2", source=GAUSSIAN),
        Row("statfarad", "statF", "", "", "", STATFARAD, "kg^-1 m^-2 s^4 A^2", source=GAUSSIAN),
        Row("abampere", "abA", "abampere"),
        Row("biot", "", "biot"),
        Row("abcoulomb", "abC", "abcoulomb"),
        Row("abvolt", "abV", "abvolt"),
        Row("abohm", "abΩ", "abohm"),
        Row("absiemens", "abS", "absiemens", "abmho"),
        Row("abfarad", "abF", "abfarad"),
        Row("abhenry", "abH", "abhenry", "abhenries"),
        Row("gilbert", "", "", "", factor="5/2", dimension="A", pi=-1, source=GAUSSIAN),
        Row("faraday", "", "faraday"),
        Row("townsend", "Td", "townsend"),
        Row("nit", "", "nit"),
        Row("stilb", "sb", "stilb"),
        Row("phot", "", "", "", factor="10000", dimension="m^-2 cd", source="NIST SP 811 (2008), appendix B.8"),
        Row("clausius", "", "clausius"),
        Row("jansky", "Jy", "", "", "n µ m k M", factor="1e-26", dimension="kg s^-2", source="IAU style manual (1989)"),
    ),
    "Imperial and US": (
        Row("inch", "in", "inch", "inches"),
        Row("foot", "ft", "foot", "feet"),
        Row("yard", "yd", "yard"),
        Row("mile", "mi", "mile"),
        Row("mile per hour", "mph MPH", "mile / hour"),
        Row("meter per second", "mps", "meter / second"),
        Row("kilometer per hour", "kph KPH kmph", "kilometer / hour"),
        Row("thou", "", "thou", "thou"),
        Row("acre", "", "", "", factor="4046.8564224", dimension="m^2", source=INTERNATIONAL),
        Row("fathom", "", "", "", factor="1.8288", dimension="m", source=INTERNATIONAL),
        Row("pound", "lb lbs lbm lb_m", "pound"),
        Row("ounce", "oz", "ounce"),
        Row("troy ounce", "ozt", "troy_ounce", "troy_ounce"),
        Row("grain", "", "grain"),
        Row("stone", "", "stone"),
        Row("short ton", "", "short_ton", "short_ton"),
        Row("long ton", "", "long_ton", "long_ton"),
        Row("slug", "", "slug"),
        Row("pound-force", "lbf", "force_pound", "pound_force pounds_force force_pound", "k"),
        Row("pound-force", "lb_f", "force_pound"),
        Row("ounce-force", "ozf", "force_ounce", "ounce_force force_ounce"),
        Row("kip", "", "kip"),
        Row("foot-pound", "", "foot * force_pound", "foot_pound footpound"),
        Row("poundal", "pdl", "poundal"),
        Row("kilogram-force", "kgf", "force_kilogram", "kilogram_force force_kilogram"),
        Row("gram-force", "gf", "force_gram", "pond gram_force force_gram"),
        Row("kilopond", "kp", "force_kilogram", "kilopond"),
        Row("pound-force per square inch", "psi", "psi", "", "M"),
        Row("kilopound-force per square inch", "ksi", "ksi"),
        Row("US gallon", "gal", "gallon", "gallon us_gallon us_liquid_gallon liquid_gallon"),
        Row("US quart", "qt", "quart", "quart us_quart liquid_quart us_liquid_quart"),
        Row("US pint", "", "pint", "pint us_pint liquid_pint"),
        Row("US fluid ounce", "floz", "fluid_ounce", "fluid_ounce fl_oz us_fluid_ounce us_liquid_ounce"),
        Row("imperial gallon", "", "imperial_gallon", "imperial_gallon uk_gallon"),
        Row("horsepower", "hp HP", "horsepower", "horsepower uk_horsepower"),
        Row("metric horsepower", "PS", "metric_horsepower", "metric_horsepower"),
        Row("ton of refrigeration", "", "ton_of_refrigeration", "ton_of_refrigeration tons_of_refrigeration"),
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
    named = [] if any(mark in row.name for mark in " -(") else [row.name]
    words = dict.fromkeys([*named, *(word.replace("_", " ") for word in row.words.split())])
    pairs = [
        ("name", quoted(row.name)),
        ("spellings", listed(row.spellings.split())),
        ("words", listed([*words])),
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

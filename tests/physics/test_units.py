"""Units: the table against pint and against itself. Rows of text stand in `cases/quantities/`."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.algebra.expr import Expr, number, symbol, walk
from prism.errors import DataFileError, PrismError
from prism.physics.quantities import Quantity, parse_quantity, read_quantity, resolve_units
from prism.physics.tables import BASE_UNITS, PREFIXES, read_unit_table, unit_table
from prism.physics.units import find_unit, unit_as_expr
from prism.resources import resource
from tests.support.scripts import load_script

UNITS = resource("constants/units.toml").read_text(encoding="utf-8")


def dimension(text: str) -> tuple[Fraction, ...]:
    """`kg m^2 s^-2` as exponents, read without the code under test."""
    powers = dict.fromkeys(BASE_UNITS, Fraction(0))
    for factor in text.split():
        name, _, exponent = factor.partition("^")
        powers[name] += Fraction(exponent or 1)
    return tuple(powers.values())


def leaf(name: str) -> Expr:
    return Expr("unit", name=name)


def times(*args: Expr) -> Expr:
    return Expr("mul", args)


# --- text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "", "m", "x", "5 furlong", "5 Km", "5 J/mol K", "5 m/s*kg", "1,200 rpm", "1 200 m", "1.00(2) m", "5°30'",
        "5 m -",
        "3 m + 2 m", "5 kT", "5 PV", "7.4 pH", "30 dB", "2 m 3 s 4", "5 (m", "5 m)", "5 m^", "5 /", "5e999999999 m",
        "5 m^99999", "1/0 m", "10^-99999 m", "5 \\min", "5 kkm", "5 mkg", "5 min^{1/2}", "9" * 300,
        "5 m^{1/0}", "5 c", "5 nan", "inf m", "5 M m/", "5 ton", "5 kt", "5 a",
    ],
)  # fmt: skip
def test_no_quantity(text: str) -> None:
    assert parse_quantity(text) is None
    with pytest.raises(PrismError):
        read_quantity(text)


def test_the_reason_is_in_words() -> None:
    with pytest.raises(PrismError, match=r"two readings; put it in brackets, as in J/\(mol K\)"):
        read_quantity("8.31 J/mol K")
    with pytest.raises(PrismError, match="'furlong' is no unit that the table knows"):
        read_quantity("5 furlong")


@given(st.text(st.sampled_from("0123456789.eE+-^{}()/*\\ mskgKµΩ°'%√²⁻×,~$c10per"), max_size=24))
def test_no_text_breaks_the_readers(text: str) -> None:
    find_unit(text)
    unit_as_expr(text)
    found = parse_quantity(text)
    assert found is None or isinstance(found.value, Fraction)


@given(st.fractions(max_denominator=10**6), st.sampled_from(sorted(PREFIXES)))
def test_prefixes_scale(value: Fraction, prefix: str) -> None:
    scaled = find_unit(f"{prefix}m")
    if scaled is not None and prefix != "T":  # Tm is a tesla metre; the table leaves out what means something else
        found = parse_quantity(times(number(value), leaf(f"{prefix}m")))
        assert found == Quantity(value * Fraction(10) ** PREFIXES[prefix], dimension("m"))


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("min", "minute"), ("cd", "candela"), ("Pa", "pascal"), ("ft", "foot"),
        ("mmHg", "millimeter of mercury"), ("Gs", "gauss"), ("h", "hour"), ("d", "day"), ("T", "tesla"),
        ("C", "coulomb"), ("nm", "nanometer"), ("Nm", "newton meter"), ("mol", "mole"),
        ("au", "astronomical unit"), ("Metres", "meter"), ("henries", "henry"), ("feet", "foot"),
        ("kilograms", "kilogram"), ("Ω", "ohm"), ("\u2126", "ohm"), (r"\Omega", "ohm"), ("Ohm", "ohm"),
        ("Å", "angstrom"), (r"\AA", "angstrom"), (r"^\circ", "degree"), (r"{}^{\circ}C", "degree Celsius"),
        (r"\mu m", "micrometer"), ("μm", "micrometer"), ("um", "micrometer"), (r"\%", "percent"),
        (r"\meter", "meter"), ("kWh", "kilowatt hour"), ("lbs", "pound"), ("mA", "milliampere"),
        ("THz", "terahertz"), ("Tm", "tesla meter"), ("light-years", "light year"),
        ("kilotons of TNT", "kiloton of TNT"), ("daN", "decanewton"), ("lb_f", "pound-force"),
    ],
)  # fmt: skip
def test_names(name: str, expected: str) -> None:
    found = find_unit(name)
    assert found is not None
    assert found.name == expected


@pytest.mark.parametrize(
    "name",
    [
        "Km", "KG", "dV", "ds", "kT", "pV", "PV", "pH", "pK", "cg", "mu", "dl", "hbar", "a", "kt", r"\min", "max",
        "c", "e", "x", "", "m K", "m s", "k g",
    ],
)  # fmt: skip
def test_no_unit(name: str) -> None:
    assert find_unit(name) is None


def test_an_exact_name_beats_a_prefix_only_where_listed() -> None:
    """A new unit that shadows a prefixed one must be seen by a person."""
    table = unit_table()
    assert set(table.exact) & set(table.prefixed) == {"Gs"}


# --- expressions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m", r"\unit{m}"),
        ("km", r"1000*\unit{m}"),
        ("Hz", r"\unit{s}^-1"),
        ("rad", "1"),
        ("deg", "pi/180"),
        ("rpm", r"1/60*\unit{s}^-1"),
        ("km/h", r"5/18*\unit{m}*\unit{s}^-1"),
        ("degC", r"\unit{K}"),
        ("m K", r"\unit{m}*\unit{K}"),
        ("m s", r"\unit{m}*\unit{s}"),
        ("ms", r"1/1000*\unit{s}"),
        ("Oe", r"250/pi*\unit{m}^-1*\unit{A}"),
    ],
)
def test_unit_expr(name: str, expected: str) -> None:
    assert str(unit_as_expr(name)).replace("(", "").replace(")", "") == expected


def test_unknown_units_stay_and_must_correspond() -> None:
    assert resolve_units(times(number(3), leaf("xyz"))) == times(number(3), symbol(r"\unit{xyz}"))


def test_no_unit_leaf_survives() -> None:
    mixed = Expr("add", (times(number(3), leaf("km")), Expr("div", (leaf("J/(mol K)"), leaf("degC")))))
    assert not [node for node in walk(resolve_units(mixed)) if node.op == "unit"]


def test_celsius_is_a_temperature_alone_and_no_guess_within_a_sum() -> None:
    celsius = times(number(20), leaf("degC"))
    kelvin = symbol(r"\unit{K}")
    assert resolve_units(celsius) == times(number(Fraction(5863, 20)), kelvin)
    assert resolve_units(celsius, difference=True) == times(number(20), kelvin)
    gap = Expr("sub", (times(number(90), leaf("degC")), celsius))
    assert resolve_units(gap) == Expr("sub", (times(number(90), kelvin), times(number(20), kelvin)))
    mixed = Expr("sub", (symbol("T"), celsius))
    assert resolve_units(mixed) == Expr("sub", (symbol("T"), times(number(20), symbol(r"\unit{degC}"))))


def test_quantity_of_an_expression() -> None:
    ten = number(10)
    charge = times(number(Fraction("1.6")), Expr("pow", (ten, number(-19))), leaf("C"))
    assert parse_quantity(charge) == Quantity(Fraction("1.6e-19"), dimension("s A"))
    assert parse_quantity(Expr("neg", (times(number(5), leaf("degC")),))) == Quantity(
        Fraction("268.15"), dimension("K")
    )
    speed = Expr("div", (times(number(36), leaf("km")), leaf("h")))
    assert parse_quantity(speed) == Quantity(Fraction(10), dimension("m s^-1"))
    for nothing in (leaf("m"), symbol("x"), times(number(3), symbol("x")), Expr("div", (ten, number(0))), leaf("xyz")):
        assert parse_quantity(nothing) is None
    tower = Expr("pow", (number(9), Expr("pow", (number(9), number(9)))))
    assert parse_quantity(tower) is None


# --- the tables ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """`constants/write_units.py`, which stands in no package."""
    return load_script(resource("constants") / "write_units.py")


@pytest.mark.slow
def test_the_table_is_what_the_script_writes(writer: ModuleType) -> None:
    pint = pytest.importorskip("pint", reason="pint writes the table of units")
    if f"from pint {pint.__version__};" not in UNITS.splitlines()[0]:
        pytest.skip(f"the table was written by another pint than {pint.__version__}")
    assert writer.table_text() == UNITS


@pytest.mark.slow
def test_every_unit_is_worth_what_pint_says(writer: ModuleType) -> None:
    pint = pytest.importorskip("pint", reason="pint is the oracle for units")
    registry: Any = pint.UnitRegistry(non_int_type=Fraction)
    # not the parsec: the IAU defines it by the angle, pint by its tangent, 8e-12 apart
    angles = {"degree": "degree", "arcminute": "arcminute", "arcsecond": "arcsecond"}
    checked = 0
    for row in [row for rows in writer.SECTIONS.values() for row in rows]:
        asked = row.pint or angles.get(row.name)
        if asked is None:
            continue
        exact, powers = writer.from_pint(asked, registry)
        for name in [*row.spellings.split(), *row.words.split()]:
            found = find_unit(name)
            assert found is not None, name
            worth = found.factor * Fraction(math.pi) ** found.pi
            # the dalton is measured, and each release of pint has its own CODATA
            assert math.isclose(worth, exact, rel_tol=1e-8 if "alton" in row.name else 1e-12), name
            assert found.dimension == dimension(powers), name
        checked += 1
    assert checked > 90


def test_faults_of_a_unit_table_are_all_listed() -> None:
    rows = """
    unit = [
      {name = "a", spellings = ["aa"], factor = "x", source = "s"},
      {name = "b", spellings = ["bb"], factor = "1", dimension = "kg q^2", source = "s"},
      {name = "c", spellings = ["bb"], factor = "2", source = "s", colour = "red"},
      {name = "d", spellings = "dd", factor = "2", prefixes = "k w"},
    ]"""
    with pytest.raises(DataFileError) as caught:
        read_unit_table(rows, file="units.toml")
    faults = caught.value.faults
    wanted = [
        "(a), factor",
        "(b), dimension",
        "(c): unknown key colour",
        "'bb' is b already",
        "(d), source",
        "(d), spellings",
        "w; expected",
    ]
    assert len(faults) == len(wanted), faults
    for part in wanted:
        assert any(part in fault for fault in faults), (part, faults)
    assert pickle.loads(pickle.dumps(caught.value)).faults == faults


@pytest.mark.parametrize("text", ["unit = 3", "unit = [", "", "units = []"])
def test_no_table(text: str) -> None:
    with pytest.raises(DataFileError, match=r"units\.toml"):
        read_unit_table(text, file="units.toml")


def test_an_ambiguous_prefix_is_a_fault() -> None:
    rows = """
    unit = [
      {name = "a", spellings = ["mx"], factor = "1", prefixes = "k", source = "s"},
      {name = "b", spellings = ["x"], factor = "1", prefixes = "m", source = "s"},
      {name = "c", spellings = ["ax"], factor = "1", prefixes = "d", source = "s"},
      {name = "d", spellings = ["dax"], factor = "1", source = "s"},
      {name = "e", spellings = ["y"], factor = "1", prefixes = "k k", source = "s"},
    ]"""
    with pytest.raises(DataFileError, match="'ky' is 'y' and 'y'"):
        read_unit_table(rows, file="units.toml")


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys, prism.physics.quantities as q; q.parse_quantity('5 km'); "
        "sys.exit(bool({'pint', 'lark'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0

"""Constants of nature: the table against scipy and against itself, and the literals that stand for them."""

from __future__ import annotations

import math
import re
import tomllib
from fractions import Fraction
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.algebra.expr import Expr
from prism.errors import DataFileError
from prism.physics.constants import Reading, constant_table, constants_with_value, read_constant_table
from prism.physics.quantities import Quantity, read_quantity
from prism.physics.tables import BASE_UNITS
from prism.resources import resource
from tests.support.scripts import load_script

CONSTANTS = resource("constants/constants.toml").read_text(encoding="utf-8")
ROWS = tomllib.loads(CONSTANTS)["constant"]
EVERYTHING = frozenset(constant_table().by_symbol)


def dimension(text: str) -> tuple[Fraction, ...]:
    """`kg m^2 s^-2` as exponents, read without the code under test."""
    powers = dict.fromkeys(BASE_UNITS, Fraction(0))
    for factor in text.split():
        name, _, exponent = factor.partition("^")
        powers[name] += Fraction(exponent or 1)
    return tuple(powers.values())


def reading_of(constant: str) -> Reading:
    return next(
        reading
        for readings in constant_table().by_symbol.values()
        for reading in readings
        if reading.constant == constant
    )


# --- the script ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """`constants/write_constants.py`, which stands in no package."""
    return load_script(resource("constants") / "write_constants.py")


def test_the_table_is_what_the_script_writes(writer: ModuleType) -> None:
    pytest.importorskip("scipy", reason="scipy holds the values of CODATA")
    values = writer.from_scipy()
    version = ".".join(values.version.split(".")[:2])
    if f"from scipy {version} (" not in CONSTANTS:
        pytest.skip(f"the table was written by another scipy than {version}")
    assert writer.table_text(values) == CONSTANTS


def test_what_needs_no_scipy_is_what_the_script_holds(writer: ModuleType) -> None:
    rows = [row for rows in writer.SECTIONS.values() for row in rows]
    assert [row["name"] for row in ROWS] == [row.name for row in rows]
    for written, row in zip(ROWS, rows, strict=True):
        assert written["symbols"] == row.symbols.split(), row.name
        assert written.get("loose", []) == row.loose.split(), row.name
        assert written.get("textbook", []) == writer.split(row.textbook), row.name
        assert written.get("identities", []) == list(row.identities), row.name
        assert (written["year"], written["source"]) == (row.year, row.source)
        if row.value:
            assert (written["value"], written["uncertainty"]) == (row.value, row.uncertainty)


def test_values_against_scipy(writer: ModuleType) -> None:
    scipy = pytest.importorskip("scipy.constants", reason="scipy is the oracle for CODATA")
    if scipy.physical_constants["electron mass"][0] != 9.1093837139e-31:
        pytest.skip("this scipy holds another adjustment than CODATA 2022")
    checked = 0
    for row in [row for rows in writer.SECTIONS.values() for row in rows]:
        known = scipy.physical_constants.get(writer.codata_names(row)[0])
        if known is None or row.value:
            continue
        reading = reading_of(row.name)
        assert reading.value is not None
        assert math.isclose(reading.value.value, known[0], rel_tol=1e-14), row.name
        assert math.isclose(reading.uncertainty, known[2], rel_tol=1e-9), row.name
        checked += 1
    assert checked > 40
    assert math.isclose(reading_of("astronomical unit").value.value, scipy.au)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "uncertainty", "expected"),
    [
        ("6.6743e-11", "1.5e-15", ("6.67430e-11", "1.5e-15")),
        ("1.674927498e-27", "9.99e-37", ("1.6749274980e-27", "1.0e-36")),
        ("376.7303", "0.0002", ("376.73030", "2.0e-4")),
    ],
)
def test_two_figures_of_the_uncertainty(
    writer: ModuleType, value: str, uncertainty: str, expected: tuple[str, str]
) -> None:
    assert writer.rounded(Fraction(value), Fraction(uncertainty)) == expected


@pytest.mark.parametrize("text", ["299792458", "1.380649e-23", "96485.3321233100184", "0.0224", "101325", "6e24"])
def test_a_value_is_spelled_exactly(writer: ModuleType, text: str) -> None:
    assert writer.spell(Fraction(text)) == text


# --- the table ----------------------------------------------------------------------------------------------


def worth(node: Expr) -> tuple[float, tuple[Fraction, ...]]:
    """Value and dimension of an identity, from the values of the table: a twin that shares no code with it.

    In an identity a symbol is the constant of its first reading: R is the gas constant, never Rydberg's.
    """
    if node.op == "num":
        assert node.value is not None
        return float(node.value), dimension("")
    if node.op == "const":
        return math.pi, dimension("")
    if node.op == "sym":
        known = constant_table().readings(node.name)[0].value
        assert known is not None
        return float(known.value), known.dimension
    parts = [worth(arg) for arg in node.args]
    if node.op == "sqrt":
        return math.sqrt(parts[0][0]), tuple(power / 2 for power in parts[0][1])
    if node.op == "pow":
        return parts[0][0] ** parts[1][0], tuple(power * Fraction(parts[1][0]) for power in parts[0][1])
    if node.op == "add":
        assert len({powers for _, powers in parts}) == 1
        return sum(value for value, _ in parts), parts[0][1]
    assert node.op in ("mul", "div"), node.op
    sign = 1 if node.op == "mul" else -1
    total, powers = parts[0]
    for value, more in parts[1:]:
        total, powers = total * value**sign, tuple(a + sign * b for a, b in zip(powers, more, strict=True))
    return total, powers


IDENTITIES = {
    reading.latex: reading
    for readings in constant_table().by_symbol.values()
    for reading in readings
    if reading.expr is not None
}


@pytest.mark.parametrize("latex", sorted(IDENTITIES))
def test_an_identity_has_the_value_of_its_constant(latex: str) -> None:
    reading = IDENTITIES[latex]
    assert reading.expr is not None
    assert reading.value is not None
    value, powers = worth(reading.expr)
    # G is known to 22 millionths; the rest to better than one in 10^9, or exactly
    tolerance = max(2e-9, float(3 * reading.uncertainty / reading.value.value))
    assert math.isclose(value, reading.value.value, rel_tol=tolerance), (value, float(reading.value.value))
    assert powers == reading.value.dimension


def test_identities_are_many() -> None:
    assert len(IDENTITIES) >= 40


def test_an_exact_value_has_an_exact_identity_to_the_figures_of_a_float() -> None:
    seen = 0
    for reading in IDENTITIES.values():
        if reading.uncertainty == 0 and reading.expr is not None and r"\epsilon" not in reading.latex:
            assert reading.value is not None
            assert math.isclose(worth(reading.expr)[0], reading.value.value, rel_tol=4e-15), reading.latex
            seen += 1
    assert seen > 10


@pytest.mark.parametrize(
    ("symbol", "constants"),
    [
        ("k", ["Boltzmann constant", "Coulomb constant"]),
        ("k_B", ["Boltzmann constant"]),
        ("k_e", ["Coulomb constant"]),
        ("R", ["molar gas constant", "Rydberg constant"]),
        (r"\epsilon_0", ["vacuum electric permittivity"]),
        (r"\varepsilon_0", []),  # the parser spells it \epsilon_0
        ("e", ["elementary charge"]),
        (r"m_\pi", ["charged pion mass", "neutral pion mass"]),
        ("x", []),
        (r"\pi", []),
    ],
)
def test_what_a_symbol_may_stand_for(symbol: str, constants: list[str]) -> None:
    found = [reading.constant for reading in constant_table().readings(symbol)]
    assert list(dict.fromkeys(found)) == constants


@pytest.mark.parametrize(
    "latex",
    [
        "c", "h", r"\hbar", "e", "k_B", "N_A", "R", r"\epsilon_0", r"\mu_0", "k_e", "G", "g", "m_e", "m_p", "m_n",
        "m_u", "u", r"\alpha", "a_0", r"R_\infty", "Ry", r"\sigma", "b", r"\mu_B", r"\mu_N", "F", r"\Phi_0", "G_0",
        "R_K",
        "Z_0", r"\sigma_T", r"\lambda_C", "r_e", "E_h", "P_{atm}", r"M_\odot", r"M_\oplus", r"R_\oplus", r"R_\odot",
        "AU",
        "V_m", r"m_\mu", r"m_\alpha", "K_J", "l_P", "m_P", r"\gamma_E", "amu",
    ],
)  # fmt: skip
def test_the_constants_of_textbooks_are_there(latex: str) -> None:
    assert constant_table().readings(latex)


def test_values_are_codata_2022() -> None:
    g, big_g = constant_table().readings("g")[0], constant_table().readings("G")[0]
    assert g.value == Quantity(Fraction("9.80665"), dimension("m s^-2"))
    assert g.textbook == (Fraction("9.8"), Fraction("9.81"), Fraction(10))
    assert big_g.value == Quantity(Fraction("6.6743e-11"), dimension("m^3 kg^-1 s^-2"))
    assert (big_g.uncertainty, big_g.figures, big_g.year) == (Fraction("1.5e-15"), 6, 2022)
    assert big_g.earlier[0] == Fraction("6.67408e-11")
    assert constant_table().readings("h")[0].uncertainty == 0


def test_no_spelling_is_written_twice_for_one_constant() -> None:
    """Two spellings that the parser folds into one are a slip of the pen."""
    for row in ROWS:
        names = [
            name for name, known in constant_table().by_symbol.items() if row["name"] in [r.constant for r in known]
        ]
        spellings = row["symbols"] + row.get("loose", [])
        assert len(set(spellings)) == len(spellings), row["name"]
        assert len(names) >= len(spellings), row["name"]


def test_a_loose_symbol_has_the_value_and_no_identity() -> None:
    for symbol, constant in [("K", "Coulomb constant"), ("k_0", "Coulomb constant"), ("R_u", "molar gas constant")]:
        (reading,) = constant_table().readings(symbol)
        assert (reading.constant, reading.expr, reading.latex) == (constant, None, "")
    assert found("8.314", "J/(mol K)", 4, "R_u x") == ("R_u",)


def test_every_textbook_value_is_needed_and_near() -> None:
    for row in ROWS:
        reading = reading_of(row["name"])
        assert reading.value is not None
        for text, value in zip(row.get("textbook", []), reading.textbook, strict=True):
            if row["name"] == "standard acceleration of gravity":
                continue  # everybody looks for 9.8 and 9.81 there
            assert abs(value / reading.value.value - 1) < Fraction("0.06"), (row["name"], text)
            digits = len(re.sub(r"e.*|\D", "", text).lstrip("0"))
            half = Fraction(10) ** (math.floor(math.log10(value)) - digits + 1) / 2
            known = (reading.value.value, *reading.earlier)
            if "pi" not in text and "/" not in text:
                assert digits < 2 or all(abs(other - value) > half for other in known), (row["name"], text)


def test_faults_of_a_constants_table_are_all_listed() -> None:
    rows = r"""
    [[constant]]
    name = "one"
    symbols = ['A_1']
    value = 3.0
    uncertainty = "0"
    year = 2022
    source = "s"
    [[constant]]
    name = "two"
    symbols = ['A_2']
    identities = ['\frac{A_1', 'A_1 = 3', 'A_9']
    source = "s"
    [[constant]]
    name = "three"
    symbols = ['A_3']
    value = "3"
    uncertainty = "0"
    unit = "furlong"
    source = "s"
    [[constant]]
    name = "four"
    symbols = ['A_4']
    source = "s"
    [[constant]]
    name = "five"
    symbols = ['amu', 'A_5']
    value = "3"
    uncertainty = "0"
    year = 2022
    textbook = ["3 pie", "2 pi"]
    earlier = [3]
    source = "s"
    """
    with pytest.raises(DataFileError) as caught:
        read_constant_table(rows, file="constants.toml")
    faults = caught.value.faults
    wanted = [
        "(one), value", "does not parse", "is no expression", "no constant has the symbol A_9", "(three), unit",
        "(three), year", "(four): needs a value", "'amu' is no single symbol", "(five), textbook: '3e'",
        "(five), earlier: [3]",
    ]  # fmt: skip
    assert len(faults) == len(wanted), faults
    for part in wanted:
        assert any(part in fault for fault in faults), (part, faults)


# --- literals -----------------------------------------------------------------------------------------------


def found(text: str, unit: str, figures: int, among: str) -> tuple[str, ...]:
    """What a literal is, its unit written as in `J/(mol K)`; `-` for none."""
    names = frozenset(among.split())
    if unit == "-":
        return constants_with_value(Fraction(text), None, figures, among=names)
    base = read_quantity(f"1 {unit}") if unit else Quantity(Fraction(1), dimension(""))
    return constants_with_value(Fraction(text) * base.value, base.dimension, figures, among=names, scale=base.value)


@pytest.mark.parametrize(
    ("text", "unit", "figures", "symbol"),
    [
        ("3.00e8", "m/s", 3, "c"), ("3e8", "m/s", 1, "c"), ("2.998e8", "m/s", 4, "c"), ("300000", "km/s", 1, "c"),
        ("6.63e-34", "J s", 3, "h"), ("6.626e-34", "J s", 4, "h"), ("6.62607004e-34", "J s", 9, "h"),
        ("4.14e-15", "eV s", 3, "h"), ("1.05e-34", "J s", 3, r"\hbar"), ("1.6e-19", "C", 2, "e"),
        ("1.60e-19", "C", 3, "e"), ("1.602177e-19", "C", 7, "e"), ("8.314", "J/(mol K)", 4, "R"),
        ("8.31", "J/(mol K)", 3, "R"), ("0.0821", "L atm/(mol K)", 3, "R"), ("1.99", "cal/(mol K)", 3, "R"),
        ("8.314472", "J/(mol K)", 7, "R"), ("9.81", "m/s^2", 3, "g"), ("9.8", "m/s^2", 2, "g"),
        ("10", "m/s^2", 2, "g"),
        ("9.80", "m/s^2", 3, "g"), ("980", "cm/s^2", 3, "g"), ("32.2", "ft/s^2", 3, "g"),
        ("8.99e9", "N m^2/C^2", 3, "k"), ("9e9", "N m^2/C^2", 1, "k"), ("9.0e9", "N m^2/C^2", 2, "k"),
        ("1.38e-23", "J/K", 3, "k"),
        ("8.62e-5", "eV/K", 3, "k"), ("6.02e23", "mol^-1", 3, "N_A"), ("6.022e23", "mol^-1", 4, "N_A"),
        ("6.67e-11", "N m^2/kg^2", 3, "G"), ("6.673e-11", "N m^2/kg^2", 4, "G"), ("8.85e-12", "F/m", 3, r"\epsilon_0"),
        ("1.26e-6", "H/m", 3, r"\mu_0"), ("9.11e-31", "kg", 3, "m_e"), ("0.511", "MeV/c^2", 3, "m_e"),
        ("938", "MeV/c^2", 3, "m_p"), ("1/137", "", 3, r"\alpha"), ("0.0529", "nm", 3, "a_0"), ("13.6", "eV", 3, "Ry"),
        ("27.2", "eV", 3, "E_h"), ("5.67e-8", "W/(m^2 K^4)", 3, r"\sigma"), ("2.90e-3", "m K", 3, "b"),
        ("96500", "C/mol", 5, "F"), ("96485", "C/mol", 5, "F"), ("25.8", "kohm", 3, "R_K"), ("377", "ohm", 3, "Z_0"),
        ("1.013e5", "Pa", 4, "P_{atm}"), ("101", "kPa", 3, "P_{atm}"), ("760", "mmHg", 3, "P_{atm}"),
        ("1.99e30", "kg", 3, r"M_\odot"), ("5.98e24", "kg", 3, r"M_\oplus"), ("6400", "km", 4, r"R_\oplus"),
        ("6371", "km", 4, r"R_\oplus"), ("22.4", "L/mol", 3, "V_m"), ("8.99e9", "-", 3, "k"), ("9.8", "-", 2, "g"),
        ("0.577", "", 3, r"\gamma_E"), ("5.79e-5", "eV/T", 3, r"\mu_B"),
    ],
)  # fmt: skip
def test_a_literal_is_a_constant(text: str, unit: str, figures: int, symbol: str) -> None:
    assert found(text, unit, figures, symbol) == (symbol,)


@pytest.mark.parametrize(
    ("text", "unit", "figures", "symbol"),
    [
        ("3.1e8", "m/s", 2, "c"), ("3.00e8", "m", 3, "c"), ("3.01e8", "m/s", 3, "c"), ("3.00e9", "m/s", 3, "c"),
        ("3.000e8", "m", 4, "c"), ("340", "m/s", 3, "c"), ("6.26e-34", "J s", 3, "h"), ("6.63e-34", "J", 3, "h"),
        ("7e-34", "J s", 1, "h"), ("6.64e-34", "J s", 3, "h"), ("1.05e-34", "J s", 3, "h"), ("9.18", "m/s^2", 3, "g"),
        ("9.8", "m/s", 2, "g"), ("9.82", "m/s^2", 3, "g"), ("9.7", "m/s^2", 2, "g"), ("10.0", "m/s", 3, "g"),
        ("1.62", "m/s^2", 3, "g"), ("11", "m/s^2", 2, "g"), ("8.134", "J/(mol K)", 4, "R"), ("8.314", "J/K", 4, "R"),
        ("8.31", "J/(kg K)", 3, "R"), ("287", "J/(kg K)", 3, "R"), ("2e-19", "C", 1, "e"), ("1.7e-19", "C", 2, "e"),
        ("-1.6e-19", "C", 2, "e"), ("2.718", "", 4, "e"), ("1.6e-19", "", 2, "e"), ("1.6e-19", "J", 2, "e"),
        ("8.99e9", "J/K", 3, "k"), ("1.38e-23", "N m^2/C^2", 3, "k"), ("200", "N/m", 3, "k"),
        ("8.9e9", "N m^2/C^2", 2, "k"), ("6.67e-11", "N m^2/C^2", 3, "G"), ("6.76e-11", "N m^2/kg^2", 3, "G"),
        ("6.02e26", "mol^-1", 3, "N_A"),
        ("8.85e-12", "H/m", 3, r"\epsilon_0"), ("8.58e-12", "F/m", 3, r"\epsilon_0"), ("1.67e-27", "kg", 3, "m_e"),
        ("9.3", "eV", 2, "Ry"), ("14", "eV", 1, "Ry"), ("13.5", "eV", 3, "Ry"), ("13.6", "V", 3, "Ry"),
        ("137", "", 3, r"\alpha"), ("0", "m/s", 1, "c"), ("9.8", "m/s^2", 2, "x"), ("6.96e8", "m", 3, r"R_\oplus"),
        ("0.58", "m", 2, r"\gamma_E"), ("3.14159", "", 6, r"\pi"),
    ],
)  # fmt: skip
def test_a_literal_is_no_constant(text: str, unit: str, figures: int, symbol: str) -> None:
    assert found(text, unit, figures, symbol) == ()


def test_one_value_may_be_several_constants() -> None:
    assert found("1.67e-27", "kg", 3, "m_p m_n m_e x") == ("m_n", "m_p")
    assert found("1.675e-27", "kg", 4, "m_p m_n m_e x") == ("m_n",)


def test_four_pi_is_no_rounding() -> None:
    four_pi = read_quantity("4e-7 H/m").value * Fraction("3.14159265358979323846264338327950288419716939937511")
    assert constants_with_value(four_pi, None, 1, among=frozenset([r"\mu_0"])) == (r"\mu_0",)
    assert constants_with_value(four_pi / 4, None, 1, among=frozenset([r"\mu_0"])) == ()


def test_the_last_place_is_that_of_the_written_unit() -> None:
    """0.99 u is 1.64e-27 kg: with two figures of a kilogram that would be the 1.66e-27 kg of u itself."""
    nearly = read_quantity("0.99 amu")
    assert found("0.99", "amu", 2, "m_u") == ()
    assert constants_with_value(nearly.value, nearly.dimension, 2, among=frozenset(["m_u"])) == ("m_u",)


def test_a_constant_rounded_to_any_number_of_figures_is_found() -> None:
    for name in sorted(EVERYTHING):
        for reading in constant_table().readings(name):
            assert reading.value is not None
            for figures in range(2, 13):
                rounded = Fraction(f"{float(reading.value.value):.{figures - 1}e}")
                assert name in constants_with_value(rounded, reading.value.dimension, figures, among=EVERYTHING), name
                off = rounded * (1 + 3 * Fraction(10) ** (1 - figures))
                if figures > 3 and not reading.earlier:
                    known = constants_with_value(off, reading.value.dimension, figures, among=frozenset([name]))
                    assert not known or off in reading.textbook or len(constant_table().readings(name)) > 1, name


@given(
    st.fractions(min_value=-(10**40), max_value=10**40) | st.integers(-9, 9).map(lambda n: Fraction(10) ** (600 * n)),
    st.integers(-(10**12), 10**12),
    st.sampled_from([None, dimension(""), dimension("m s^-1")]),
)
def test_no_literal_breaks_the_lookup(value: Fraction, figures: int, powers: tuple[Fraction, ...] | None) -> None:
    assert isinstance(constants_with_value(value, powers, figures, among=EVERYTHING), tuple)

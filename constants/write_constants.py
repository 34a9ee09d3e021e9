r"""Write `constants/constants.toml`: the values come from scipy, names, symbols and identities from the list below.

Run `python constants/write_constants.py` (needs scipy 1.15 or newer, whose CODATA is that of 2022) after a change to
the list, and read the difference before committing it; `tests/physics/test_constants.py` fails when table and script
disagree. What CODATA leaves out (Coulomb's constant, the masses of sun and planets, pions) is worked out below or
carries its value in its row, with its source.

Exact values are worked out again from the constants that define the SI, because scipy keeps them as floats of 16
figures, and are compared with scipy's before they are written.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "constants.toml"
YEAR = 2022
EARLIER = (2018, 2014, 2010, 2006)  # adjustments that textbooks and pocket calculators still carry
FIGURES = 18  # of an exact value that never ends
PI = Fraction("3.14159265358979323846264338327950288419716939937511")

HEADER = """\
# Constants of nature, and what they are in terms of one another. Written by `python constants/write_constants.py`, the
# values from scipy {version} (CODATA {year}); change the list there, not here.
#
# Keys: name; symbols (LaTeX, every spelling that textbooks use; one may stand in several rows); loose (symbols that
#   also mean other things: a number may be read as them, an identity may not); value, unit,
#   uncertainty (standard, in that unit; "0" is exact), year, source; earlier (values of former adjustments);
#   textbook (other values that problems use); identities (LaTeX, in other constants; each symbol in its first reading).
# Only identities that hold everywhere: no kinematics (omega = 2 pi nu) and no law of a particular system.
# An exact value that never ends (hbar, sigma) is given to {figures} figures.
"""

CODATA = f"CODATA {YEAR}"
IAU = "IAU 2015 resolution B3"
PDG = "Particle Data Group 2024"


@dataclass(frozen=True)
class Row:
    """One constant of the list below.

    Attributes:
        name: English name.
        symbols: LaTeX, separated by blanks.
        loose: further symbols that also mean other things; no identity is read into them.
        unit: what the value is in; CODATA's own if empty.
        codata: CODATA's name, and former names after it; the row's own name if empty.
        value, uncertainty: where CODATA has none and nothing is worked out.
        year, source: of the value.
        earlier, textbook: further values, separated by commas.
        identities: LaTeX, in other constants.
    """

    name: str
    symbols: str
    unit: str = ""
    codata: tuple[str, ...] = ()
    value: str = ""
    uncertainty: str = "0"
    year: int = YEAR
    source: str = CODATA
    earlier: str = ""
    textbook: str = ""
    identities: tuple[str, ...] = ()
    loose: str = ""


SECTIONS: dict[str, tuple[Row, ...]] = {
    "universal": (
        Row(
            "speed of light in vacuum", "c c_{light} c_{vac}", "m/s",
            loose="c_0",
            textbook="3e8",
            identities=(r"\frac{1}{\sqrt{\mu_0 \epsilon_0}}",),
        ),
        Row("Planck constant", "h", "J s", textbook="6.62e-34", identities=(r"2 \pi \hbar",)),
        Row(
            "reduced Planck constant", r"\hbar", "J s", ("reduced Planck constant", "Planck constant over 2 pi"),
            textbook="1.054e-34, 1e-34",
            identities=(r"\frac{h}{2 \pi}",),
        ),
        Row("elementary charge", "e q_e", "C"),
        Row("Boltzmann constant", "k_B k", "J/K", loose="k_b K_B", identities=(r"\frac{R}{N_A}",)),
        Row(
            "Coulomb constant", "k k_e k_C k_{Coulomb}", "N m^2/C^2",
            loose="k_c k_0 K",
            source=f"{CODATA}, from the vacuum electric permittivity",
            earlier="8.9875517873681764e9",
            textbook="9e9, 8.98e9, 8.987e9",
            identities=(r"\frac{1}{4 \pi \epsilon_0}",),
        ),
        Row(
            "vacuum electric permittivity", r"\epsilon_0 \epsilon_o \epsilon_{vac}", "F/m",
            ("vacuum electric permittivity", "electric constant"),
            identities=(r"\frac{1}{\mu_0 c^2}",),
        ),
        Row(
            "vacuum magnetic permeability", r"\mu_0 \mu_o \mu_{vac}", "N/A^2",
            ("vacuum mag. permeability", "mag. constant"),
            textbook="4e-7 pi",
            identities=(r"\frac{1}{\epsilon_0 c^2}",),
        ),
        Row(
            "characteristic impedance of vacuum", r"Z_0 \eta_0 Z_{vac}", "ohm",
            textbook="120 pi",
            identities=(r"\mu_0 c", r"\sqrt{\frac{\mu_0}{\epsilon_0}}"),
        ),
        Row(
            "Newtonian constant of gravitation", "G G_N", "m^3/(kg s^2)",
            earlier="6.6742e-11, 6.673e-11, 6.67259e-11",
        ),
        Row(
            "standard acceleration of gravity", "g g_0 g_n g_{earth} g_{Earth}", "m/s^2",
            source=f"{CODATA}; fixed by the CGPM in 1901",
            textbook="9.8, 9.81, 10",
        ),
        Row("Planck length", r"\ell_P l_P \ell_{Pl} l_{Pl}", "m", loose="L_P",
            identities=(r"\sqrt{\frac{\hbar G}{c^3}}",)),
        Row("Planck mass", "m_P m_{Pl} M_{Pl}", "kg", loose="M_P", identities=(r"\sqrt{\frac{\hbar c}{G}}",)),
        Row("Planck time", "t_P t_{Pl}", "s", identities=(r"\sqrt{\frac{\hbar G}{c^5}}",)),
        Row("Planck temperature", "T_P T_{Pl}", "K", identities=(r"\sqrt{\frac{\hbar c^5}{G k_B^2}}",)),
    ),
    "amounts and heat": (
        Row("Avogadro constant", "N_A N_{Av} N_{AV}", "mol^-1", textbook="6.023e23, 6e23",
            identities=(r"\frac{R}{k_B}",)),
        Row(
            "molar gas constant", "R R_{gas} R_{univ}", "J/(mol K)",
            loose=r"R_u R_g \bar{R}",
            textbook="8.3144",
            identities=("N_A k_B",),
        ),
        Row("Faraday constant", "F", "C/mol", loose="F_A", textbook="96500, 96487", identities=("N_A e",)),
        Row(
            "Stefan-Boltzmann constant", r"\sigma \sigma_{SB}", "W/(m^2 K^4)",
            loose=r"\sigma_B \sigma_S",
            identities=(r"\frac{2 \pi^5 k_B^4}{15 h^3 c^2}", r"\frac{\pi^2 k_B^4}{60 \hbar^3 c^2}"),
        ),
        Row(
            "radiation density constant", "a_r a_{rad}", "J/(m^3 K^4)",
            loose="a_R",
            source=f"{CODATA}, 4 sigma/c",
            identities=(r"\frac{4 \sigma}{c}", r"\frac{8 \pi^5 k_B^4}{15 h^3 c^3}",
                        r"\frac{\pi^2 k_B^4}{15 \hbar^3 c^3}"),
        ),
        Row("Wien wavelength displacement law constant", "b b_W b_{Wien}", "m K", textbook="2.897e-3"),
        Row("standard atmosphere", r"P_{atm} p_{atm} P_0 p_0 p_a P_a \mathrm{atm}", "Pa", textbook="1e5"),
        Row("molar volume of ideal gas (273.15 K, 101.325 kPa)", "V_m", "m^3/mol"),
        Row("Loschmidt constant (273.15 K, 101.325 kPa)", "n_0 N_L", "m^-3"),
    ),
    "atoms and the electron": (
        Row(
            "fine-structure constant", r"\alpha \alpha_{em} \alpha_{EM} \alpha_{fs}",
            textbook="1/137, 1000/137036",
            identities=(r"\frac{e^2}{4 \pi \epsilon_0 \hbar c}", r"\frac{e^2}{2 \epsilon_0 h c}"),
        ),
        Row(
            "Bohr radius", "a_0 a_{Bohr}", "m",
            loose="a_B r_B",
            identities=(r"\frac{4 \pi \epsilon_0 \hbar^2}{m_e e^2}", r"\frac{\epsilon_0 h^2}{\pi m_e e^2}",
                        r"\frac{\hbar}{m_e c \alpha}"),
        ),
        Row(
            "Rydberg constant", r"R_\infty R R_{Ryd}", "m^-1",
            identities=(r"\frac{m_e e^4}{8 \epsilon_0^2 h^3 c}", r"\frac{\alpha^2 m_e c}{2 h}"),
        ),
        Row(
            "Rydberg constant of hydrogen", "R_H", "m^-1",
            source=f"{CODATA}, from the masses of electron and proton",
            identities=(r"\frac{R_\infty m_p}{m_e + m_p}",),
        ),
        Row(
            "Rydberg energy", r"\mathrm{Ry} E_{Ry} E_{Ryd} E_R", "J", ("Rydberg constant times hc in J",),
            loose="R_y",
            identities=(r"\frac{m_e e^4}{8 \epsilon_0^2 h^2}", r"\frac{m_e e^4}{32 \pi^2 \epsilon_0^2 \hbar^2}",
                        r"R_\infty h c", r"\frac{\alpha^2 m_e c^2}{2}"),
        ),
        Row(
            "Hartree energy", r"E_h E_{Ha} \mathrm{Ha}", "J",
            identities=(r"\frac{m_e e^4}{16 \pi^2 \epsilon_0^2 \hbar^2}", r"\frac{m_e e^4}{4 \epsilon_0^2 h^2}",
                        r"\alpha^2 m_e c^2"),
        ),
        Row("Bohr magneton", r"\mu_B \mu_{Bohr}", "J/T",
            identities=(r"\frac{e \hbar}{2 m_e}", r"\frac{e h}{4 \pi m_e}")),
        Row("nuclear magneton", r"\mu_N", "J/T", identities=(r"\frac{e \hbar}{2 m_p}", r"\frac{e h}{4 \pi m_p}")),
        Row(
            "magnetic flux quantum", r"\Phi_0", "Wb", ("mag. flux quantum",),
            loose=r"\phi_0",
            identities=(r"\frac{h}{2 e}", r"\frac{\pi \hbar}{e}"),
        ),
        Row("Josephson constant", "K_J", "Hz/V", identities=(r"\frac{2 e}{h}", r"\frac{e}{\pi \hbar}")),
        Row("von Klitzing constant", "R_K", "ohm", identities=(r"\frac{h}{e^2}", r"\frac{2 \pi \hbar}{e^2}")),
        Row("conductance quantum", "G_0", "S", identities=(r"\frac{2 e^2}{h}", r"\frac{e^2}{\pi \hbar}")),
        Row(
            "Compton wavelength of the electron", r"\lambda_C \lambda_{Compton}", "m",
            ("Compton wavelength",),
            loose=r"\lambda_c",
            identities=(r"\frac{h}{m_e c}", r"\frac{2 \pi \hbar}{m_e c}"),
        ),
        Row(
            "reduced Compton wavelength of the electron", r"\lambdabar_C \lambdabar_c \bar{\lambda}_C \bar{\lambda}_c",
            "m", ("reduced Compton wavelength", "Compton wavelength over 2 pi"),
            identities=(r"\frac{\hbar}{m_e c}", r"\frac{h}{2 \pi m_e c}"),
        ),
        Row(
            "classical electron radius", "r_e r_{cl}", "m",
            identities=(r"\frac{e^2}{4 \pi \epsilon_0 m_e c^2}", r"\frac{\alpha \hbar}{m_e c}"),
        ),
        Row(
            "Thomson cross section", r"\sigma_T \sigma_{Th} \sigma_{Thomson}", "m^2",
            identities=(r"\frac{8 \pi r_e^2}{3}", r"\frac{e^4}{6 \pi \epsilon_0^2 m_e^2 c^4}"),
        ),
    ),
    "particles": (
        Row("electron mass", "m_e m_{el} m_{electron}", "kg"),
        Row("proton mass", "m_p M_p m_{proton}", "kg"),
        Row("neutron mass", "m_n M_n m_{neutron}", "kg"),
        Row("muon mass", r"m_\mu m_{muon}", "kg"),
        Row("tau mass", r"m_\tau", "kg"),
        Row("deuteron mass", "m_d m_D", "kg"),
        Row("triton mass", "m_t", "kg"),
        Row("helion mass", "m_h", "kg"),
        Row("alpha particle mass", r"m_\alpha M_\alpha", "kg"),
        Row("atomic mass constant", r"u m_u \mathrm{amu} m_{amu}", "kg"),
        Row("charged pion mass", r"m_\pi m_{\pi^+} m_{\pi^-} m_{\pi^\pm}", "MeV/c^2", value="139.57039",
            uncertainty="0.00018", year=2024, source=PDG),
        Row("neutral pion mass", r"m_\pi m_{\pi^0} m_{\pi_0}", "MeV/c^2", value="134.9768", uncertainty="0.0005",
            year=2024, source=PDG),
    ),
    "sun, earth, moon": (
        Row("mass of the sun", r"M_\odot M_{sun} M_{Sun} m_{sun} m_{Sun} M_S M_s", "kg", year=2015,
            source=f"{IAU} for G M, {CODATA} for G", textbook="2e30, 1.989e30, 1.9891e30"),
        Row("radius of the sun", r"R_\odot R_{sun} R_{Sun} R_S", "m", value="6.957e8", year=2015,
            source=f"{IAU}, nominal", textbook="7e8, 6.955e8, 6.95e8"),
        Row("luminosity of the sun", r"L_\odot L_{sun} L_{Sun}", "W", value="3.828e26", year=2015,
            source=f"{IAU}, nominal", textbook="3.9e26, 3.846e26, 3.85e26, 3.84e26"),
        Row("mass of the earth", r"M_\oplus M_E M_{earth} M_{Earth} M_e m_E m_{earth} m_{Earth}", "kg", year=2015,
            source=f"{IAU} for G M, {CODATA} for G", textbook="6e24, 5.98e24, 5.974e24, 5.9736e24, 5.976e24"),
        Row("radius of the earth", r"R_\oplus R_E R_{earth} R_{Earth} R_e r_E", "m", value="6371008.8", year=1980,
            source="GRS 80, mean radius (H. Moritz, Journal of Geodesy 74 (2000) 128)",
            textbook="6370e3, 6400e3, 6.38e6, 6.378e6, 6.3781e6, 6.378137e6"),
        Row("mass of the moon", r"M_{moon} M_{Moon} m_{moon} m_{Moon} M_M", "kg", year=2021,
            source=f"JPL ephemeris DE440 for G M, {CODATA} for G", textbook="7.36e22, 7.34e22, 7.342e22, 7.348e22"),
        Row("radius of the moon", r"R_{moon} R_{Moon} R_M", "m", value="1.7374e6", uncertainty="1e3", year=2015,
            source="IAU working group on cartographic coordinates 2015, mean radius", textbook="1.738e6"),
        Row("mass of Jupiter", r"M_J M_{Jup} M_{Jupiter}", "kg", year=2015, source=f"{IAU} for G M, {CODATA} for G",
            textbook="1.899e27"),
        Row("astronomical unit", r"\mathrm{AU} \mathrm{au} r_{AU} a_{AU}", "m", value="149597870700", year=2012,
            source="IAU 2012 resolution B2"),
    ),
    "mathematics": (
        Row("Euler-Mascheroni constant", r"\gamma_E \gamma_{EM}", value="0.577215664901532861", year=2010,
            source="NIST Digital Library of Mathematical Functions, 5.2.3"),
    ),
}  # fmt: skip

# Standard gravitational parameters [m^3/s^2].
MASS_TIMES_G = {
    "mass of the sun": "1.3271244e20",
    "mass of the earth": "3.986004e14",
    "mass of the moon": "4.902800118e12",
    "mass of Jupiter": "1.2668653e17",
}


@dataclass(frozen=True)
class Values:
    """What scipy knows: by CODATA's name the value, the unit, the standard uncertainty; former adjustments by year."""

    version: str
    current: Mapping[str, tuple[float, str, float]]
    former: Mapping[int, Mapping[str, tuple[float, str, float]]]


def main() -> int:
    """Write the table; 0 if it went well."""
    TABLE.write_text(table_text(from_scipy()), encoding="utf-8")
    return 0


def from_scipy() -> Values:
    """CODATA's values; scipy publishes the newest only, and keeps the former ones in a private module."""
    import scipy
    from scipy.constants import _codata

    tables = {year: getattr(_codata, f"_physical_constants_{year}") for year in (YEAR, *EARLIER)}
    return Values(scipy.__version__, tables.pop(YEAR), tables)


def table_text(values: Values) -> str:
    """The whole table as text."""
    version = ".".join(values.version.split(".")[:2])
    lines = [HEADER.format(version=version, year=YEAR, figures=FIGURES)]
    for section, rows in SECTIONS.items():
        lines.append(f"# --- {section} ---\n")
        lines += [entry(row, values) for row in rows]
    return "\n".join(lines)


def entry(row: Row, values: Values) -> str:
    """One row of the table."""
    value, uncertainty = value_of(row, values)
    unit = row.unit or values.current.get(codata_names(row)[0], (0, "", 0))[1]
    lists = [
        ("earlier", listed(former_values(row, values), '"')),
        ("textbook", listed(split(row.textbook), '"')),
        ("identities", listed(row.identities, "'")),
    ]
    loose = row.loose.split()
    lines = [
        "[[constant]]",
        f'name = "{row.name}"',
        f"symbols = {listed(row.symbols.split(), chr(39))}",
        *([f"loose = {listed(loose, chr(39))}"] if loose else []),
        f'value = "{value}"',
        f'unit = "{unit}"',
        f'uncertainty = "{uncertainty}"',
        f"year = {row.year}",
        f'source = "{row.source}"',
        *(f"{key} = {text}" for key, text in lists if text != "[]"),
    ]
    return "\n".join([*lines, ""])


def codata_names(row: Row) -> tuple[str, ...]:
    """CODATA's name of a row, with former names after it."""
    return row.codata or (row.name,)


def value_of(row: Row, values: Values) -> tuple[str, str]:
    """Value and standard uncertainty as text, in the unit of the row."""
    if row.value:
        return row.value, row.uncertainty
    worked_out = derived(values).get(row.name)
    if worked_out is not None:
        value, relative = worked_out
        return rounded(value, value * relative) if relative else (spell(value), "0")
    known, _, uncertainty = values.current[codata_names(row)[0]]
    if uncertainty:
        return rounded(Fraction(repr(known)), Fraction(repr(uncertainty)))
    exact = exact_values(values).get(row.name, Fraction(repr(known)))
    if abs(exact / Fraction(repr(known)) - 1) > Fraction(1, 10**15):
        raise ValueError(f"{row.name}: worked out as {spell(exact)}, scipy says {known!r}")
    return spell(exact), "0"


def former_values(row: Row, values: Values) -> list[str]:
    """Values of former adjustments where they differ from the value and from each other."""
    found = []
    for table in values.former.values():
        for name in codata_names(row):
            if name in table and not row.value:
                value, _, uncertainty = table[name]
                if not uncertainty and not values.current[codata_names(row)[0]][2]:
                    continue  # exact then and now: the same, but for scipy's rounding
                exact = Fraction(repr(value))
                found.append(rounded(exact, Fraction(repr(uncertainty)))[0] if uncertainty else spell(exact))
    found += split(row.earlier)
    newest = value_of(row, values)[0]
    return [text for text in dict.fromkeys(found) if Fraction(text) != Fraction(newest)]


def exact_values(values: Values) -> dict[str, Fraction]:
    """Constants that follow from those that define the SI."""
    c, h, e, k, n_a = defining(values)
    room, atmosphere = Fraction("273.15"), 101325
    return {
        "reduced Planck constant": h / (2 * PI),
        "molar gas constant": n_a * k,
        "Faraday constant": n_a * e,
        "Stefan-Boltzmann constant": 2 * PI**5 * k**4 / (15 * h**3 * c**2),
        "Wien wavelength displacement law constant": h * c / (k * wien_root()),
        "molar volume of ideal gas (273.15 K, 101.325 kPa)": n_a * k * room / atmosphere,
        "Loschmidt constant (273.15 K, 101.325 kPa)": atmosphere / (k * room),
        "magnetic flux quantum": h / (2 * e),
        "Josephson constant": 2 * e / h,
        "von Klitzing constant": h / e**2,
        "conductance quantum": 2 * e**2 / h,
    }


def derived(values: Values) -> dict[str, tuple[Fraction, Fraction]]:
    """Constants that CODATA does not list: value, and relative standard uncertainty."""
    c, h, _, k, _ = defining(values)
    epsilon, epsilon_off = measured("vacuum electric permittivity", values)
    rydberg, rydberg_off = measured("Rydberg constant", values)
    ratio, _ = measured("electron-proton mass ratio", values)
    gravitation, gravitation_off = measured("Newtonian constant of gravitation", values)
    found = {
        "Coulomb constant": (1 / (4 * PI * epsilon), epsilon_off),
        "radiation density constant": (8 * PI**5 * k**4 / (15 * h**3 * c**3), Fraction(0)),
        "Rydberg constant of hydrogen": (rydberg / (1 + ratio), rydberg_off),
    }
    masses = {name: (Fraction(text) / gravitation, gravitation_off) for name, text in MASS_TIMES_G.items()}
    return found | masses


def defining(values: Values) -> tuple[Fraction, ...]:
    """The constants c, h, e, k, N_A, which are decimals that end."""
    names = (
        "speed of light in vacuum",
        "Planck constant",
        "elementary charge",
        "Boltzmann constant",
        "Avogadro constant",
    )
    return tuple(Fraction(repr(values.current[name][0])) for name in names)


def measured(name: str, values: Values) -> tuple[Fraction, Fraction]:
    """Value and relative standard uncertainty."""
    value, _, uncertainty = values.current[name]
    return Fraction(repr(value)), Fraction(repr(uncertainty)) / Fraction(repr(value))


def wien_root() -> Fraction:
    """Root of x = 5 (1 - exp(-x)) near 4.97, to 40 figures; each step gains about 1.4 of them."""
    with localcontext() as settings:
        settings.prec = 45
        root = Decimal("4.965")
        for _ in range(40):
            root = 5 * (1 - (-root).exp())
    return Fraction(root)


def rounded(value: Fraction, uncertainty: Fraction) -> tuple[str, str]:
    """Value and uncertainty with two figures of the uncertainty, as CODATA prints them.

    >>> rounded(Fraction("6.6743e-11"), Fraction("1.5e-15"))
    ('6.67430e-11', '1.5e-15')
    """
    power = exponent_of(uncertainty) - 1
    digits = round(uncertainty / Fraction(10) ** power)
    if digits == 100:
        power, digits = power + 1, 10
    whole = round(value / Fraction(10) ** power)
    return spelled(str(whole), power), spelled(str(digits), power)


def spell(value: Fraction) -> str:
    """Exact where the decimal ends within the figures, else so rounded.

    >>> spell(Fraction(1, 3)), spell(Fraction(299792458))
    ('0.333333333333333333', '299792458')
    """
    power = exponent_of(value) - FIGURES + 1
    whole = round(value / Fraction(10) ** power)
    while whole % 10 == 0:
        whole, power = whole // 10, power + 1
    return spelled(str(whole), power)


def exponent_of(value: Fraction) -> int:
    """Power of ten of the first figure."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    return power if value >= Fraction(10) ** power else power - 1


def spelled(digits: str, power: int) -> str:
    """Digits times a power of ten: in full for everyday sizes, else with an exponent."""
    first = power + len(digits) - 1
    if -2 <= first <= 8 and power <= 8:
        if power >= 0:
            return digits + "0" * power
        padded = digits.rjust(1 - power, "0")
        return f"{padded[:power]}.{padded[power:]}"
    return f"{digits[0]}{'.' + digits[1:] if len(digits) > 1 else ''}e{first}"


def split(text: str) -> list[str]:
    """Values separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def listed(items: Sequence[str], quote: str) -> str:
    """A TOML list of strings."""
    return "[" + ", ".join(f"{quote}{item}{quote}" for item in items) + "]"


if __name__ == "__main__":
    sys.exit(main())

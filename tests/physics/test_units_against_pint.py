r"""Every unit of pint's default registry: in our table with pint's worth, or left out for a reason that stands here.

A name that pint adds and nobody has judged fails the walk, and so does one that is excluded and yet read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import prism
from prism.algebra.expr import Expr, number
from prism.latex import write
from prism.latex.words import LONG_UNITS, UNITS, WITH_SUBSCRIPT
from prism.physics.quantities import Quantity, parse_quantity, read_quantity
from prism.physics.tables import BASE_UNITS, unit_table
from prism.physics.units import find_unit, unit_as_expr

pint = pytest.importorskip("pint", reason="pint is the oracle for units")

SHORT = {"meter": "m", "kilogram": "kg", "second": "s", "ampere": "A", "kelvin": "K", "mole": "mol", "candela": "cd"}
COUNTS = ("radian", "count")  # pint keeps them; to a physicist they are the number 1

# What PRISM does not read as a unit, by the reason why. Names as pint has them.
EXCLUDED = {
    "constants of nature stand in constants.toml and are symbols, not units": """
        pi π tansec ln10 wien_x wien_u eulers_number c c_0 planck_constant ℎ elementary_charge e
        avogadro_number boltzmann_constant k k_B standard_gravity g_0 g0 g_n gravity conventional_josephson_constant
        K_J90 conventional_von_klitzing_constant R_K90 zeta ζ dirac_constant ħ hbar atomic_unit_of_action a_u_action
        avogadro_constant N_A molar_gas_constant R faraday_constant conductance_quantum G_0 magnetic_flux_quantum Φ_0
        Phi_0 josephson_constant K_J von_klitzing_constant R_K stefan_boltzmann_constant σ sigma
        first_radiation_constant c_1 second_radiation_constant c_2 wien_wavelength_displacement_law_constant
        wien_frequency_displacement_law_constant newtonian_constant_of_gravitation gravitational_constant
        rydberg_constant R_∞ R_inf electron_g_factor g_e atomic_mass_constant m_u electron_mass m_e
        atomic_unit_of_mass a_u_mass proton_mass m_p neutron_mass m_n fine_structure_constant α alpha
        vacuum_permeability µ_0 mu_0 mu0 magnetic_constant vacuum_permittivity ε_0 epsilon_0 eps_0 eps0
        electric_constant impedance_of_free_space Z_0 characteristic_impedance_of_vacuum coulomb_constant k_C
        classical_electron_radius r_e thomson_cross_section σ_e sigma_e bohr_magneton µ_B mu_B nuclear_magneton µ_N
        mu_N a_0 a0 planck_length planck_mass planck_time planck_temperature planck_current""",
    "densities of water and mercury, and columns of them at a stated temperature": """
        conventional_water_density ρH2O conventional_mercury_density ρHg water_density_4C ρH2O_4C water_density_60F
        ρH2O_60F mercury_density_0C ρHg_0C mercury_density_32F ρHg_32F mercury_density_60F ρHg_60F meter_H2O_4C
        mH2O_4C m_H2O_4C meter_H2O_60F mH2O_60F m_H2O_60F inch_H2O_4C inH2O_4C in_H2O_4C inchesH2O_4C inches_H2O_4C
        inch_H2O_60F inH2O_60F in_H2O_60F inchesH2O_60F inches_H2O_60F foot_H2O_4C ftH2O_4C ft_H2O_4C feetH2O_4C
        feet_H2O_4C foot_H2O_60F ftH2O_60F ft_H2O_60F feetH2O_60F feet_H2O_60F meter_Hg_0C mHg_0C m_Hg_0C
        meter_Hg_32F mHg_32F m_Hg_32F meter_Hg_60F mHg_60F m_Hg_60F inch_Hg_0C inHg_0C in_Hg_0C inchesHg_0C
        inches_Hg_0C inch_Hg_32F inHg_32F in_Hg_32F inchesHg_32F inches_Hg_32F inch_Hg_60F inHg_60F in_Hg_60F
        inchesHg_60F inches_Hg_60F foot_Hg ftHg ft_Hg feetHg feet_Hg foot_Hg_0C ftHg_0C ft_Hg_0C feetHg_0C
        feet_Hg_0C foot_Hg_32F ftHg_32F ft_Hg_32F feetHg_32F feet_Hg_32F foot_Hg_60F ftHg_60F ft_Hg_60F feetHg_60F
        feet_Hg_60F""",
    "logarithmic: a level is no product of a number and a unit": """
        decibelwatt dBW decibelmilliwatt dBm decibelmicrowatt dBu decibel dB decade octave oct neper Np
        sound_pressure_level SPL""",
    "information and counts of things have no place among the seven dimensions": """
        bit byte B octet baud Bd bps pixel dot pel picture_element pixels_per_centimeter PPCM pixels_per_inch
        dots_per_inch PPI ppi DPI printers_dpi bits_per_pixel bpp particle molec molecule enzyme_unit U enzymeunit
        rutherford Rd""",
    "a quantity, not a unit of it": """
        strain ε ϵ refractive_index_unit RIU absorbance_unit""",
    "several meanings: year and are, knot and kilotonne, long and short tons, thousandths of an inch and of a radian,"
    " wine and oil, a civil and a mean month": """
        a are kt ton circle grad grade mil mil_length th gr ct month eon gregorian_year common_year leap_year
        sidereal_month tropical_month synodic_month lunar_month barrel bbl oil_barrel oil_bbl beer_barrel beer_bbl
        hundredweight cwt short_hundredweight long_hundredweight UK_hundredweight UK_cwt US_hundredweight US_cwt
        UK_ton US_ton force_ton ton_force force_short_ton short_ton_force force_long_ton long_ton_force UK_force_ton
        UK_ton_force US_force_ton US_ton_force force_metric_ton tf metric_ton_force force_t t_force
        electrical_horsepower boiler_horsepower hydraulic_horsepower US_therm thm EC_therm cooling_tower_ton fps kps
        ft_lb""",
    "the letters are a symbol or a word of physics: c times t, Biot, Froude, a T at t, a product of A and t": """
        at At Bi Fr Gb Ly Cl eu µ μ gamma γ gamma_mass lambda λ pt sv unit_pole""",
    "names that pint made for itself, of atomic units above all": """
        atomic_unit_of_length a_u_length atomic_unit_of_time a_u_time atomic_unit_of_temperature a_u_temp
        atomic_unit_of_force a_u_force atomic_unit_of_energy a_u_energy hartree_energy atomic_unit_of_intensity
        a_u_intensity atomic_unit_of_current a_u_current atomic_unit_of_electric_field a_u_electric_field
        atomic_unit_of_electric_field_gradient a_u_efg degreeK arcdeg Δcelsius ΔdegreeC delta_celsius delta_degreeC
        delta_degree_Celsius delta_degree_Fahrenheit
        Δfahrenheit ΔdegreeF delta_fahrenheit delta_degreeF cm_1 knot_international international_knot watthour
        international_steam_table_calorie Btu_iso atm_l inchesH2O feetH2O inchesHg international_inch
        international_inches international_foot international_feet international_yard international_mile
        refrigeration_ton quadrillion_Btu quad standard_liter_per_minute slpm slm peak_sun_hour PSH LMH entropy_unit
        toz ørsted imperial_gal avoirdupois_ounce avdp_ounce avoirdupois_pound avdp_pound""",
    "history: international electrical units, temperature scales, X units, names of the barye": """
        candle x_unit_Cu Xu_Cu x_unit_Mo Xu_Mo angstrom_star Å_star stere degree_Reaumur °Re reaumur degRe degreeRe
        degree_Réaumur réaumur delta_degree_Reaumur Δ°Re Δreaumur ΔdegRe ΔdegreeRe Δdegree_Réaumur Δréaumur
        delta_reaumur delta_degRe delta_degreeRe delta_degree_Réaumur delta_réaumur conventional_watt_90 W_90
        mean_international_ampere A_it US_international_ampere A_US conventional_ampere_90 A_90
        conventional_coulomb_90 C_90 mean_international_volt V_it US_international_volt V_US conventional_volt_90 V_90
        mean_international_ohm Ω_it ohm_it US_international_ohm Ω_US ohm_US conventional_ohm_90 Ω_90 ohm_90
        conventional_farad_90 F_90 conventional_henry_90 H_90 barie barad barrie baryd reyn rhe lambert buckingham
        statmho statweber statWb stattesla statT stathenry statH""",
    "the US survey foot was withdrawn in 2022": """
        link li survey_link survey_foot sft rod rd pole perch chain furlong fur cables_length survey_mile smi
        us_statute_mile league square_rod sq_rod sq_pole sq_perch square_survey_mile section square_league""",
    "trade, kitchen and pharmacy": """
        hand circular_mil cmil dry_pint dpi US_dry_pint dry_quart dqt US_dry_quart dry_gallon dgal US_dry_gallon peck
        pk bushel bu dry_barrel US_dry_barrel board_foot FBM board_feet BF BDFT super_foot superficial_foot super_feet
        superficial_feet minim fluid_dram fldr fluidram US_fluid_dram US_liquid_dram gill gi liquid_gill
        US_liquid_gill fifth US_liquid_fifth teaspoon tsp tablespoon tbsp shot jig US_shot cup cp liquid_cup
        US_liquid_cup hogshead dram dr avoirdupois_dram avdp_dram quarter bag slinch blob slugette pennyweight dwt
        troy_pound tlb lbt scruple apothecary_dram ap_dr apothecary_drachm drachm apothecary_ounce ap_oz
        apothecary_pound ap_lb imperial_minim imperial_fluid_scruple imperial_fluid_drachm imperial_fldr
        imperial_fluid_dram imperial_fluid_ounce imperial_floz UK_fluid_ounce imperial_gill imperial_gi UK_gill
        imperial_cup imperial_cp UK_cup imperial_pint imperial_pt UK_pint imperial_quart imperial_qt UK_quart
        imperial_peck imperial_pk UK_pk imperial_bushel imperial_bu UK_bushel imperial_barrel imperial_bbl UK_bbl""",
    "printers' and weavers' units": """
        pica printers_pica point pp printers_point big_point bp didot cicero tex_point tex_pica tex_didot tex_cicero
        scaled_point css_pixel px tex Tt dtex decitex denier den jute Tj aberdeen Ta RKM number_english Ne NeC ECC
        number_meter""",
}  # fmt: skip

# What PRISM reads, and not as pint does.
OTHERWISE = {
    "a revolution is a count of value 1, to pint 2 pi radians": """
        turn revolution cycle revolutions_per_minute rpm revolutions_per_second rps""",
    "Gaussian units are their SI counterparts; pint gives them dimensions of their own": """
        franklin statcoulomb statC esu statvolt statV statampere statA gauss G maxwell Mx oersted Oe statohm statΩ
        statfarad statF""",
    "the IAU defines the parsec by the angle, pint by its tangent, 8e-12 apart": "parsec pc",
    "from the international foot; pint's come from the survey foot, 2e-6 apart": "acre acre_foot acre_feet fathom",
    "AU is the astronomical unit, to pint an absorbance; Nm a newton metre, to pint a yarn; rads are radians, to pint"
    " a dose": "AU Nm rads",
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """A name of pint's, with what pint says of it."""

    name: str
    canonical: str
    factor: Fraction
    dimension: tuple[Fraction, ...]


@pytest.fixture(scope="module")
def registry() -> Any:
    return pint.UnitRegistry(non_int_type=Fraction)


def names(registry: Any) -> dict[str, str]:
    """Every name, symbol and alias of the registry, with the unit it belongs to."""
    return {name: str(definition.name) for name, definition in registry._units.items()}


def listed(groups: dict[str, str]) -> list[str]:
    return [name for group in groups.values() for name in group.split()]


def worth(name: str) -> Quantity | None:
    """What a unit, or a product of units, is worth in SI; of degrees the size, not the zero."""
    one, none = (parse_quantity(Expr("mul", (number(count), Expr("unit", name=name)))) for count in (1, 0))
    return None if one is None or none is None else Quantity(one.value - none.value, one.dimension)


def known(registry: Any) -> Iterator[Known]:
    skipped = {*listed(EXCLUDED), *listed(OTHERWISE)}
    for name, canonical in names(registry).items():
        if name in skipped:
            continue
        asked = {"degree_Celsius": "delta_degC", "degree_Fahrenheit": "delta_degF"}.get(canonical, canonical)
        one = registry.Quantity(Fraction(1), asked).to_root_units()
        powers = {SHORT.get(base, base): Fraction(power) for base, power in one.unit_items() if base not in COUNTS}
        factor = Fraction(one.magnitude)
        if grams := powers.pop("gram", Fraction(0)):
            factor, powers["kg"] = factor / Fraction(1000) ** int(grams), grams
        yield Known(name, canonical, factor, tuple(powers.pop(base, Fraction(0)) for base in BASE_UNITS))
        assert not powers, f"{name} has the dimension {powers}"


@pytest.mark.slow
def test_every_name_is_read_as_pint_reads_it_or_excluded(registry: Any) -> None:
    wrong, checked = [], 0
    for item in known(registry):
        found = worth(item.name)
        if found is None:
            wrong.append(f"{item.name} ({item.canonical}) is not read")
            continue
        # the dalton and the atomic units are measured, and each release of pint has its own CODATA
        if found.dimension != item.dimension or not math.isclose(found.value, item.factor, rel_tol=1e-11):
            wrong.append(f"{item.name} ({item.canonical}) is {float(found.value)}, to pint {float(item.factor)}")
        checked += 1
    assert not wrong, "\n".join(wrong)
    assert checked > 300


@pytest.mark.slow
def test_what_is_excluded_is_no_unit(registry: Any) -> None:
    excluded = listed(EXCLUDED)
    assert len(excluded) == len(set(excluded))
    assert [name for name in excluded if worth(name) is not None] == []
    assert [name for name in (*excluded, *listed(OTHERWISE)) if name not in names(registry)] == []


def test_what_is_read_otherwise_is_read(registry: Any) -> None:
    assert [name for name in listed(OTHERWISE) if worth(name) is None] == []


# --- there and back -------------------------------------------------------------------------------------------

# How a spelling that is not made of plain letters is written in LaTeX, or None where LaTeX has no such sign.
AS_LATEX = {
    "%": r"\%", "°": r"^\circ", "′": r"^\prime", "'": "'", "″": r"^{\prime\prime}", '"': None, "℧": None,
    "°C": r"^\circ\mathrm{C}", "°F": r"^\circ\mathrm{F}", "°K": r"^\circ\mathrm{K}",
    "°R": None, "℉": None, "C°": None, "F°": None, "Δ°C": None, "Δ°F": None, "ΔdegC": None, "ΔdegF": None,
    "delta_degC": None, "delta_degF": None,
    "St": None,  # the Stanton number; cSt is read
    "µas": None, "µAs": None, "cal_it": None, "Btu_it": None,  # as and it are words
    "ångström": None, "ångströms": None, "röntgen": None, "röntgens": None,  # no letters of mathematics
}  # fmt: skip


def spellings() -> list[str]:
    """Every name of the table: symbols, symbols with a prefix, and words."""
    table = unit_table()
    return [*table.exact, *table.prefixed, *table.words]


def as_latex(name: str) -> str | None:
    if name in AS_LATEX:
        return AS_LATEX[name]
    if " " in name:
        return rf"\,\text{{{name}}}"
    return rf"\,\mathrm{{{name.replace('Ω', chr(92) + 'Omega ').replace('µ', chr(92) + 'mu ')}}}"


def test_every_unit_of_the_reader_stands_in_the_table() -> None:
    r"""`words` and `unit_text` know names of units without the table; a level is none, nor is mercury by itself."""
    listed_names = {*UNITS, *LONG_UNITS, *LONG_UNITS.values(), *WITH_SUBSCRIPT} - {"dB", "Hg"}
    assert sorted(name for name in listed_names if worth(name) is None) == []


@pytest.mark.slow
def test_base_units_spell_the_same_unit() -> None:
    for name in spellings():
        spelled = unit_as_expr(name)
        assert spelled is not None, name
        read = prism.parse(write(spelled)).members[0]
        assert parse_quantity(Expr("mul", (number(1), read))) == worth(name), name


@pytest.mark.slow
def test_the_english_name_names_the_same_unit() -> None:
    for name in spellings():
        found = find_unit(name)
        assert found is not None, name
        if "(" not in found.name:
            assert worth(found.name) == worth(name), f"{name}: {found.name}"


@pytest.mark.slow
def test_latex_names_the_same_unit() -> None:
    wrong = []
    for name in spellings():
        latex = as_latex(name)
        if latex is None or name.endswith("illions"):
            continue
        try:
            read = parse_quantity(prism.parse(f"5{latex}").members[0])
        except prism.LatexSyntaxError as fault:
            read = None
            wrong.append(f"{name} as {latex}: {str(fault).splitlines()[0]}")
            continue
        if read != read_quantity(f"5 {name}"):
            wrong.append(f"{name} as {latex}: {read}")
    assert not wrong, "\n".join(wrong)

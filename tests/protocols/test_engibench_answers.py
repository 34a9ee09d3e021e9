"""Answers to Levels 1 and 2 of EngiBench: what counts as a key, as an answer, as a unit, and as within 2 %."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism.protocols.engibench.answers import (
    WITHIN,
    KeyKind,
    closing_value,
    decide,
    is_about_units,
    read_key,
    read_value,
)
from prism.protocols.engibench.units import Units


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("3.1", KeyKind.NUMBER),
        ("about 3.1 kW", KeyKind.NUMBER),
        ("≈ 3.1", KeyKind.NUMBER),
        ("$1,250", KeyKind.NUMBER),
        (r"$2.5 \times 10^6$ Pa", KeyKind.NUMBER),
        ("0.5 m³/s", KeyKind.NUMBER),
        ("P = 3.1 kW", KeyKind.NUMBER),
        ("45 veh/h", KeyKind.NUMBER),
        ("25 %", KeyKind.NUMBER),
        ("1/3", KeyKind.NUMBER),
        ("3.1 and 2.4", KeyKind.NUMBER),
        (r"\frac{1}{2} m v^2", KeyKind.FORMULA),
        ("V = IR", KeyKind.FORMULA),
        ("2x+1", KeyKind.FORMULA),
        ("stable", KeyKind.OTHER),
        ("yes", KeyKind.OTHER),
        ("B", KeyKind.OTHER),
        ("(c)", KeyKind.OTHER),
        ("Option A", KeyKind.OTHER),
        ("12-15", KeyKind.OTHER),
        ("2 m, 3 s", KeyKind.NUMBER),
        ("2 m, then 3 s", KeyKind.OTHER),
        ("", KeyKind.OTHER),
        ("9" * 3000, KeyKind.OTHER),
    ],
)
def test_what_a_key_is(key: str, kind: KeyKind) -> None:
    assert read_key(key).kind is kind


# Within 2 %, worked by hand. ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "claim", "right"),
    [
        # 2 % of 3.1 are 0.062: from 3.038 to 3.162, ends included.
        ("3.1", "3.162", True),
        ("3.1", "3.1621", False),
        ("3.1", "3.038", True),
        ("3.1", "3.0379", False),
        # 2 % of 1,250 are 25: up to 1,275.
        ("1,250", "1,275", True),
        ("1,250", "1,276", False),
        # 2 % of -40 are 0.8: down to -40.8; the sign counts.
        ("-40", "-40.8", True),
        ("-40", "-40.81", False),
        ("-40", "40", False),
        # 2 % of 2.5e6 are 5e4: 2.55e6.
        ("2.5e6", r"2.55 \times 10^6", True),
        ("2.5e6", r"2.551 \times 10^6", False),
        # 2 % of 1/3 are 1/150: up to 51/150 = 0.34.
        ("1/3", "0.34", True),
        ("1/3", "0.341", False),
        # 2 % of 0 are 0.
        ("0", "0", True),
        ("0", "0.001", False),
        # An exact count has the same 2 %: up to 51 of 50.
        ("50", "51", True),
        ("50", "52", False),
    ],
)
def test_a_number_is_right_within_two_per_cent_ends_included(key: str, claim: str, right: bool) -> None:
    assert decide(key, rf"$\boxed{{{claim}}}$").is_right is right


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.decimals("0.001", "9999", places=3, allow_nan=False).filter(lambda d: d > 0),
    st.integers(-400, 400),
    st.sampled_from(list(Units)),
)
def test_two_per_cent_are_exact_for_every_key(key: Decimal, per_mille_10: int, units: Units) -> None:
    claim = key * (Decimal(10_000 + per_mille_10) / 10_000)
    found = decide(f"{key}", rf"So $x = {claim:f}$.", units=units)
    assert found.is_right is (abs(Fraction(claim) - Fraction(key)) <= WITHIN * Fraction(key))


# Units. ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Find the power in kW.", True),
        ("Find the power and state its units.", True),
        ("Find the power. Include appropriate units.", True),
        ("What are the units of the result?", True),
        ("Convert 5 miles to kilometres.", True),
        ("What is the unit of viscosity?", True),
        ("Find the power.", False),
        ("A wall has the unit weight of 20. Find its load per unit length.", False),
        ("Two power units run in series. Which share of the load has each?", False),
        ("", False),
    ],
)
def test_when_a_question_is_about_units(question: str, asks: bool) -> None:
    assert is_about_units(question) is asks


NAMES_KW, IN_WORDS, SILENT = "Find the power in kW.", "Find the power and state its units.", "Find the power."


@pytest.mark.parametrize(
    ("key", "claim", "question", "asked", "always", "never"),
    [
        # Key and question without a unit: no unit can be wrong.
        ("3.1", r"3.1\,\mathrm{kW}", SILENT, True, True, True),
        ("3.1", r"3100\,\mathrm{W}", SILENT, False, False, False),
        # A unit in the key alone: only `always` wants it.
        ("3.1 kW", "3.1", SILENT, True, False, True),
        ("3.1 kW", r"3.1\,\mathrm{W}", SILENT, True, False, True),
        ("3.1 kW", r"3100\,\mathrm{W}", SILENT, True, True, True),
        # The question names the unit: a bare number is in it.
        ("3.1", "3.1", NAMES_KW, True, True, True),
        ("3.1", r"3100\,\mathrm{W}", NAMES_KW, True, True, True),
        ("3.1", r"3.1\,\mathrm{W}", NAMES_KW, False, False, True),
        ("3.1 kW", r"3.1\,\mathrm{MW}", NAMES_KW, False, False, True),
        # The question asks for units in words: a bare number lacks its unit.
        ("3.1 kW", "3.1", IN_WORDS, False, False, True),
        ("3.1 kW", r"3.1\,\mathrm{kW}", IN_WORDS, True, True, True),
    ],
)
def test_when_the_unit_counts(key: str, claim: str, question: str, asked: bool, always: bool, never: bool) -> None:
    text = rf"$\boxed{{{claim}}}$"
    found = {units: decide(key, text, question=question, units=units).is_right for units in Units}
    assert found == {Units.ASKED: asked, Units.ALWAYS: always, Units.NEVER: never}


def test_a_unit_that_no_table_has_is_cut_off_and_cannot_be_compared() -> None:
    for text in ("**Answer:** 45.5 veh/h", r"$q = \boxed{45.5\ \text{veh/h}}$", "So the road takes 45.5 veh/h."):
        assert decide("45 veh/h", text).is_right is True
        found = decide("45 veh/h", text, units=Units.ALWAYS)
        assert (found.is_right, found.reason.split(":")[0]) == (None, "unit")


# What the answer is. --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text", "right"),
    [
        ("3.1", "... so the pump needs 3.1 kW", True),
        ("3.1", "... so the pump needs 3.3 kW", False),
        ("3.1", "3.1", True),
        ("3.1", "**3.1 kW**", True),
        ("0.25", "The efficiency is thus 25%.", True),
        ("25 %", "The efficiency is thus 0.25.", True),
        ("3.1", r"With $Q = m c \Delta T$ the pump therefore needs 3.1 kW.", True),
        ("3.1", "We take $g = 9.81$. So the pump needs 3.1 kW.", True),
        ("3.1", r"$P = 2 \cdot 1.55$, so the pump needs 3.1 kW.", True),  # a calculation states no number
        ("0.5", "Q = 0.5 m^3/s", True),  # units as italic letters
        ("0.5", "$Q = 0.52 m^3/s$", False),
        ("3", "$t = 3 s$", True),
        ("5", "**Answer:** 5 gpm", True),
        # One list is one answer, and a list of guesses is none.
        ("3", "The answer is 3, or 4, or 5.", False),
        ("3", r"$\boxed{3 \text{ or } 4}$", False),
        ("3", r"$\boxed{3}$ or $\boxed{4}$", False),
        # All values of a list are wanted.
        ("3.1 and 2.4", r"$\boxed{3.1}$ and $\boxed{2.4}$", True),
        ("3.1 and 2.4", r"$\boxed{3.1}$ and $\boxed{2.6}$", False),
        # Formulas.
        (r"\frac{q L^2}{8}", r"The moment is $M = 0.125\, q L^2$.", True),
        (r"\frac{q L^2}{8}", r"The moment is $M = \frac{q L^2}{2}$.", False),
        # No answer at all.
        ("3.1", "  ", False),
    ],
)
def test_which_claim_is_the_answer(key: str, text: str, right: bool) -> None:
    assert decide(key, text).is_right is right


@pytest.mark.parametrize(
    ("key", "text", "head"),
    [
        ("stable", "It is stable.", "key"),
        ("", "3.1", "key"),
        ("3.1", "I do not know.", "no_answer"),
        ("3.1", r"$\boxed{P = \rho g Q H}$", "unstated"),  # nobody has put its values in
        ("3.1", "The pump needs 3.1 kW. Note that 20 degrees were assumed.", "prose"),
        ("3.1", "It is not 3.1 kW.", "prose"),
        ("3.1", "It may be 3.1 kW.", "prose"),
        ("3.1", r"So with $\eta = 0.7$ the pump needs 3.1 kW.", "prose"),  # two numbers in one sentence
        ("9.81", "We take $g = 9.81$. So the pump needs 3.1 kW.", "two_answers"),
        ("3.1 and 2.4", "$x = 3.1$ and $y = 2.4$", "several"),
    ],
)
def test_what_rules_do_not_decide_is_null_with_a_reason(key: str, text: str, head: str) -> None:
    found = decide(key, text)
    assert (found.is_right, found.reason.split(":")[0]) == (None, head)


@given(st.text(max_size=60), st.text(max_size=120))
@settings(max_examples=60)
def test_no_text_raises(key: str, text: str) -> None:
    assert decide(key, text).is_right in (True, False, None)
    closing_value(text)
    read_value(text)


def test_a_number_amid_prose_needs_a_conclusion() -> None:
    assert closing_value("The pump needs 3.1 kW.").value is not None  # the only number
    assert closing_value("With 2 pumps. The pump needs 3.1 kW.").is_open
    assert closing_value("With 2 pumps. Hence the pump needs 3.1 kW.").value is not None


@pytest.mark.parametrize(
    ("response", "is_right"),
    [
        (r"So \boxed{2 A, 3 A}.", True),
        (r"So $\boxed{2.03\,\mathrm{A},\ 2.95\,\mathrm{A}}$.", True),
        (r"$$I_1 = 2\,\mathrm{A}$$ $$I_2 = 3\,\mathrm{A}$$ so \boxed{2\,\mathrm{A} \text{ and } 3\,\mathrm{A}}", True),
        (r"So \boxed{3 A, 2 A}.", False),
        (r"So \boxed{2 A, 4 A}.", False),
        (r"So \boxed{2000 mA, 3 A}.", True),
        ("They are two numbers.", None),
    ],
)
def test_a_list_of_numbers_is_right_one_after_the_other(response: str, is_right: bool | None) -> None:
    assert decide("2 A, 3 A", response).is_right is is_right

r"""Find values that no physics allows, for the sanity check of EngJudge: what a rule can refuse, it refuses surely.

Refused, of a quantity with the right dimension:

- 0 or less for a mass `m`, `M`; a density `\rho`; an absolute temperature `T`, `\theta`; a thermal conductivity `k`,
  `\lambda`, `\kappa`; an electrical conductivity `\sigma`, `\kappa`, `\gamma`; a viscosity `\mu`, `\eta`;
- more than 1 for an efficiency `\eta`, where the problem speaks of one;
- more than Carnot's for the same, where the problem speaks of a heat engine and gives one hot and one cold temperature;
- more than the speed of light for a speed `v`, `u`, `V`, `U`; not of a phase or a group.

The unit has to be written: a letter alone says nothing. Differences (`\Delta T`) may have any sign, and a 0 in running
text is a limiting case. A value that the
problem states itself, or that its reference asks for, is never refused: it may be about a negative effective mass. No
rule says that a solution is sane; that stays open until somebody says so.

Source: the quantities are those of the sanity check of EngVQA / EngJudge, arXiv 2606.10833; the letters are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from prism.equivalence.numbers.stated import StatedNumber
from prism.grading.claims.own_symbols import letter_of
from prism.physics.context import Context, given_values
from prism.physics.tables import Dimension, parse_dimension

SPEED_OF_LIGHT = 299_792_458  # [m/s]


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A number that a solution states for a quantity.

    Attributes:
        name: of the symbol. number: with its unit.
        position: index of the formula in `Grade.formulas`.
        is_result: it is displayed or boxed; in running text a 0 is a limiting case.
    """

    name: str
    number: StatedNumber
    position: int
    is_result: bool = True


@dataclass(frozen=True, slots=True)
class ImpossibleValue:
    """A value that cannot be, and why, in words."""

    value: StatedValue
    why: str


_POSITIVE: tuple[tuple[str, Dimension, frozenset[str]], ...] = tuple(
    (what, parse_dimension(dimension), frozenset(letters.split()))
    for what, dimension, letters in (
        ("a mass", "kg", "m M"),
        ("a density", "kg m^-3", r"\rho \varrho"),
        ("an absolute temperature", "K", r"T \theta \Theta \vartheta"),
        ("a thermal conductivity", "kg m s^-3 K^-1", r"k K \lambda \kappa"),
        ("an electrical conductivity", "kg^-1 m^-3 s^3 A^2", r"\sigma \kappa \gamma"),
        ("a viscosity", "kg m^-1 s^-1", r"\mu \eta"),
    )
)
_SPEED = parse_dimension("m s^-1")
_SPEED_LETTERS = frozenset("vuVU")
_OF_A_WAVE = re.compile(r"_\{?(?:p|ph|phase|g|gr|group)\}?$")
_EFFICIENCY = r"\eta"
_SPEAKS_OF_EFFICIENCY = re.compile(r"\befficien", re.IGNORECASE)
_SPEAKS_OF_AN_ENGINE = re.compile(r"\bCarnot\b|\bheat engine|\bthermal efficiency", re.IGNORECASE)
_WHOLE_ENGINE = re.compile(r"\\eta(?:_\{?(?:th|thermal|engine)\}?)?$")
_HOT, _COLD = (re.compile(rf"T_\{{?(?:{indices})\}}?$") for indices in ("h|H|hot|high", "c|C|cold|low|L|l"))


def find_impossible(values: Iterable[StatedValue], question: str, context: Context) -> tuple[ImpossibleValue, ...]:
    """Return the values that cannot be, in order.

    Args:
        values: what the solution states, without what the problem or its reference says.
        question: all of the problem's text.
        context: of the problem: its given temperatures.
    """
    limit = Fraction(1) if _SPEAKS_OF_EFFICIENCY.search(question) else None
    carnot = _carnot_efficiency(context) if _SPEAKS_OF_AN_ENGINE.search(question) else None
    told = ((value, _why_impossible(value, limit, carnot)) for value in values)
    return tuple(ImpossibleValue(value, why) for value, why in told if why)


def _why_impossible(value: StatedValue, limit: Fraction | None, carnot: Fraction | None) -> str:
    """Say why a value cannot be; empty if it may.

    Args:
        limit: of an efficiency; None where the problem does not speak of one. carnot: that of a Carnot engine.
    """
    number, letter = value.number, letter_of(value.name).removeprefix(r"\vec{").removesuffix("}")
    if number.unit is not None:
        for what, dimension, letters in _POSITIVE:
            if number.dimension != dimension or letter not in letters:
                continue
            if number.in_si < 0 or (not number.in_si and value.is_result):
                return f"{what} of 0 or less"
        is_speed = number.dimension == _SPEED and letter in _SPEED_LETTERS
        if is_speed and not _OF_A_WAVE.search(value.name) and abs(number.in_si) > SPEED_OF_LIGHT:
            return "faster than light"
    if letter != _EFFICIENCY or any(number.dimension) or limit is None:
        return ""
    if number.in_si > limit:
        return "an efficiency of more than 1"
    if carnot is not None and _WHOLE_ENGINE.match(value.name) and number.in_si - _rounding(number) > carnot:
        return f"an efficiency of more than that of a Carnot engine, {float(carnot):.4g}"
    return ""


def _rounding(number: StatedNumber) -> Fraction:
    """Return half a unit in the last place of a number, in coherent units."""
    factor = number.unit.factor if number.unit else Fraction(1)
    return number.ulp * factor / 2


def _carnot_efficiency(context: Context) -> Fraction | None:
    """Return `1 - T_C/T_H` of the given temperatures; None unless the problem gives one hot and one cold one."""
    kelvin = parse_dimension("K")
    given: Mapping[str, Fraction] = {
        name: value.quantity.value
        for name, value in given_values(context).items()
        if value.quantity.dimension == kelvin
    }  # fmt: skip
    hot, cold = ([value for name, value in given.items() if mark.match(name)] for mark in (_HOT, _COLD))
    if len(hot) != 1 or len(cold) != 1 or not 0 < cold[0] < hot[0]:
        return None
    return 1 - cold[0] / hot[0]

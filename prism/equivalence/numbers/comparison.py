r"""Comparing a stated number with the one that is asked for (semantics N.2-N.4).

`R = 202 km` asks for a number, so a claim has to state one. The tolerance follows from the figures that the problem
declares or the reference shows, never from the claim's own precision.

Refused: a tolerance in floating units of the claim (`2e5` would be within half its last place of `202 km`), and
reading a number without a unit in whatever unit makes it right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.expr import Formula
from prism.algebra.symbols import symbol_of
from prism.budget import charge_steps
from prism.equivalence.numbers.stated import DIMENSIONLESS, MIN_INTEGER_FIGURES, Numeric, StatedNumber, six_figures
from prism.equivalence.verdict import Status, Verdict
from prism.physics.dimensions import dimension_text
from prism.physics.tables import PI, Unit

TOLERANCES = (Fraction(5, 100), Fraction(3, 100), Fraction(1, 100), Fraction(5, 1000))  # for 1, 2, 3, 4 figures
LONG_WAY = (3, Fraction(2, 100))  # from so many earlier numbers on, the tolerance that replaces that of three figures
MAX_TOLERANCE = Fraction(5, 100)  # of an intermediate number

PERCENT = Unit("", Fraction(1, 100), DIMENSIONLESS.dimension)
_STEPS = 15  # of one comparison: fractions of units


@dataclass(frozen=True, slots=True)
class NumberSpec:
    """How precisely a number has to be stated that a reference asks for.

    Attributes:
        figures: significant figures that the problem declares; None for those that the reference shows.
        is_final: a final answer: at most one figure fewer than required may be given.
        n_before: count of numeric nodes that this one follows from.
        recomputed: the number as the nodes before it give it, in the reference's unit, if the two agree.
        is_node: the reference is a node of a problem: a number without unit is read in the node's unit, and an exact
            reference also accepts a decimal of three figures.
        beside: numbers that other nodes state for the same quantities, with their specs. A number that they reject
            does not stand for the formula either: 50 rad/s is no frequency of 50 Hz.
        settled: formulas of the problem's nodes: a condition that repeats one of them restricts nothing.
        asked: the unit that the question names: a number without unit is read in it (semantics F.10).
        within: relative tolerance that replaces the one that follows from figures; None for that one.
        ignores_units: a number is accepted also where only its unit is missing or another.
        is_measured: a whole number is rounded, as one with a unit is; else it is exact.
        is_unasked: no question says in what unit: a percent sign behind the claim counts for nothing, unless the number
            may be a fraction.
        is_change: the question asks by how much something rises or falls: 20 °C is 20 K then.
        has_values: the problem gives values, so that a number at the end of a chain is what comes out with them.
    """

    figures: int | None = None
    is_final: bool = False
    n_before: int = 0
    recomputed: Fraction | None = None
    is_node: bool = False
    beside: tuple[tuple[Numeric, NumberSpec], ...] = ()
    settled: tuple[Formula, ...] = ()
    asked: Unit | None = None
    within: Fraction | None = None
    ignores_units: bool = False
    is_measured: bool = False
    has_values: bool = False
    is_unasked: bool = False
    is_change: bool = False

    def is_exact(self, wanted: StatedNumber) -> bool:
        """Return True if a number has to be met exactly: a count, or a closed form."""
        return wanted.is_exact and not (self.is_measured and wanted.is_whole)

    def __hash__(self) -> int:
        """Return a hash of what tells most specs of a problem apart."""
        return (self.figures or 0) + 64 * self.n_before + 16 * self.is_final + 32 * self.is_node


def compare_numbers(reference: Numeric, claim: StatedNumber, spec: NumberSpec) -> Verdict:
    """Decide if a stated number is the one that is asked for, within its tolerance, after conversion of its unit."""
    charge_steps(_STEPS)
    wanted = reference.number
    if spec.ignores_units and (wanted.unit or claim.unit or spec.asked):
        counting = replace(spec, ignores_units=False)
        bare, stated = (replace(each, unit=None, rates=frozenset()) for each in (wanted, claim))
        found = compare_numbers(Numeric(reference.subject, bare), stated, replace(counting, asked=None))
        return found if found.status == Status.EQUIVALENT else compare_numbers(reference, claim, counting)
    readings: tuple[str, ...] = ()
    if spec.is_unasked and wanted.unit is None and claim.unit == PERCENT and abs(wanted.value) >= 1:
        found = compare_numbers(reference, replace(claim, unit=None), spec)
        if found.status == Status.EQUIVALENT:
            return replace(found, readings=("unit: a percent sign that the reference has not",))
    factor = Fraction(1)
    lacks_unit = spec.is_node and claim.unit is None and wanted.unit is not None
    if lacks_unit and wanted.unit and (any(wanted.dimension) or wanted.unit.pi or spec.asked):
        if not any(wanted.dimension):  # a plain number is a fraction, or in radians, unless another is asked for
            plain = compare_numbers(reference, replace(claim, unit=DIMENSIONLESS), spec)
            if plain.status == Status.EQUIVALENT:
                return plain
        claim = replace(claim, unit=spec.asked or wanted.unit)
        readings = ("unit: the number has none; it is read in the one asked for",)
    if wanted.unit is None and spec.asked is not None and claim.dimension == spec.asked.dimension and claim.unit:
        wanted = replace(wanted, unit=spec.asked)
        readings = ("unit: the reference has none; it is read in the one asked for",)
    if not (wanted.value or claim.value or claim.unit or (wanted.unit and wanted.unit.offset)):
        return Verdict(Status.EQUIVALENT, "same_number", "tested")  # zero needs no unit
    if claim.dimension != wanted.dimension:
        detail = f"its unit is {dimension_text(claim.dimension)}, where {dimension_text(wanted.dimension)} is asked for"
        return Verdict(Status.DIFFERENT, "dimension", detail=detail)
    if wanted.rates != claim.rates and wanted.rates and claim.rates:
        if wanted.rates | claim.rates != {"radian", "turn"}:
            detail = "hertz, radians, turns and kinds of money are not the same"
            return Verdict(Status.DIFFERENT, "dimension", detail=detail)
        factor = 2 * PI if "turn" in claim.rates else 1 / (2 * PI)
    is_difference = spec.is_change or (reference.subject.op == "sym" and bool(symbol_of(reference.subject.name).change))
    ratio = _unit_size(claim) / _unit_size(wanted)
    zeros = [Fraction(0) if each.unit is None else each.unit.offset for each in (claim, wanted)]
    shift = Fraction(0) if is_difference else (zeros[0] - zeros[1]) / _unit_size(wanted)
    value = (claim.value * ratio + shift) * factor
    return _compare_values(wanted, claim, value, ratio * factor, spec, readings)


def _compare_values(
    wanted: StatedNumber,
    claim: StatedNumber,
    value: Fraction,
    ratio: Fraction,
    spec: NumberSpec,
    readings: tuple[str, ...],
) -> Verdict:
    """Decide if a stated value is the one asked for, once its dimension is known to fit.

    Args:
        wanted, claim: the two numbers as they are written.
        value: the claim's value in the reference's unit.
        ratio: the claim's unit as a multiple of the reference's.
        spec: how precisely the number is required.
        readings: assumptions made so far, for the result.
    """
    same = Verdict(Status.EQUIVALENT, "same_number", "tested", readings=readings)
    other = Verdict(Status.DIFFERENT, "other_number")
    target = wanted.value if spec.recomputed is None else spec.recomputed
    if not wanted.value:
        return other if value else replace(same, readings=())
    if value == wanted.value:  # figures excuse a difference, and refute no equality
        return same
    detail = f"{six_figures(value)} is stated, where {six_figures(target)} is asked for, in the unit of the reference"
    if value * wanted.value < 0:
        return replace(other, detail=detail)
    figures = spec.figures or min(wanted.figures, len(TOLERANCES)) or MIN_INTEGER_FIGURES
    gap = abs(value - target)
    if spec.within is not None:
        is_same = gap <= spec.within * abs(target)
    elif spec.is_exact(wanted) and (wanted.is_whole or not spec.is_node or claim.is_exact):
        is_same = not (wanted.is_whole and claim.is_whole) and not wanted.unit and is_close(value, wanted.value)
    elif spec.is_final and not claim.is_exact and claim.figures < figures - 1:
        return replace(other, detail=f"{claim.figures} figures, where {figures} are asked for")
    else:
        in_its_unit = claim.value - (value - target) / ratio
        is_same = gap <= max(tolerance(figures, spec) * abs(target), wanted.ulp / 2) or (
            claim.shown == figures - 1 and figures > 1 and _is_rounded(in_its_unit, claim.value, claim.shown)
        )
    return same if is_same else replace(other, detail=detail, readings=readings)


def tolerance(figures: int, spec: NumberSpec) -> Fraction:
    """Return the relative tolerance for a number with so many significant figures.

    It is twice as large for an intermediate number, and larger for three figures after many earlier numbers.
    """
    found = TOLERANCES[min(max(figures, 1), len(TOLERANCES)) - 1]
    if figures == MIN_INTEGER_FIGURES and spec.n_before >= LONG_WAY[0]:
        found = LONG_WAY[1]
    return found if spec.is_final or not spec.is_node else min(2 * found, MAX_TOLERANCE)


def is_close(a: Fraction, b: Fraction) -> bool:
    """Return True if two numbers differ by floating-point rounding only."""
    return math.isclose(a, b, rel_tol=1e-12)


def _is_rounded(exact: Fraction, value: Fraction, figures: int) -> bool:
    """Return True if a value is another one rounded to so many figures, half up or half to even.

    >>> [_is_rounded(Fraction(exact), Fraction(value), 1) for exact, value in (("0.54", 1), ("0.96", 1), ("2.5", 3))]
    [False, True, True]
    >>> [_is_rounded(Fraction(exact), Fraction(value), 1) for exact, value in (("2.5", 2), ("1.5", 1))]
    [True, False]
    """
    unit = min(_unit_in_last_place(each, figures) for each in (exact, value))
    gap = abs(value - exact)
    is_even = unit > 0 and (value / unit) % 2 == 0
    return gap < unit / 2 or (gap == unit / 2 and (abs(value) > abs(exact) or is_even))


def _unit_in_last_place(value: Fraction, figures: int) -> Fraction:
    """Return one unit in the last place of a value with so many significant figures; 0 for the value 0."""
    return Fraction(10) ** (math.floor(math.log10(abs(value))) - figures + 1) if value else Fraction(0)


def _unit_size(number: StatedNumber) -> Fraction:
    """Return the unit of a number in coherent SI units, without a zero point; 1 without unit."""
    unit = number.unit or DIMENSIONLESS
    return unit.factor * PI**unit.pi

"""Say how a number that a solution states differs from the number of a node: units, sign, factor, figures or value.

Values are compared with their units, and shown with them: 0.02 s is no wrong 20 ms. A number that is right in the
figures that it shows, where more are asked for, is called right with too few figures, never a wrong number.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, number, substitute, walk
from prism.diagnosis.repairs import short_form
from prism.diagnosis.wording import Difference, describe_difference
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.comparison import NumberSpec, compare_numbers
from prism.equivalence.numbers.stated import MIN_INTEGER_FIGURES, Numeric, StatedNumber
from prism.errors import count_of
from prism.physics.units import base_unit_product

UNIT_FACTORS = tuple(  # between units of time, speed, temperature scale, mass, energy
    Fraction(text) for text in ("60", "3600", "18/5", "24", "86400", "100", "1000", "4184/1000", "5/18")
)
_FACTORS = tuple(
    Fraction(text) for text in ("2", "3", "4", "3/2", "355/113", "710/113", "1420/113")
)  # pi, 2pi, 4pi last
_DECADES = 12  # largest power of ten that is tried as the factor between two numbers


def too_few_figures(wanted: Numeric, claimed: StatedNumber, spec: NumberSpec) -> str:
    """Say that a stated number is the wanted one, rounded to fewer figures than are asked for; empty if it is not."""
    asked = spec.figures or wanted.number.figures or MIN_INTEGER_FIGURES
    if not 0 < claimed.shown < asked:
        return ""
    rounded = replace(spec, figures=claimed.shown + 1, is_final=False, is_node=False)
    if compare_numbers(wanted, _in_unit_of(wanted, claimed), rounded).status != "equivalent":
        return ""
    return f"{count_of(claimed.shown, 'figure')}, where {asked} are asked for"


def describe_number_difference(
    wanted: Numeric, spec: NumberSpec, node: int, claimed: StatedNumber, has: Expr, source: Formula
) -> Difference:
    """Describe how a stated number differs from the wanted one: units, sign, unit factor, short factor, or value only.

    Args:
        spec: tolerance of the node's number. node: index of that node.
        has: the stated number with its unit, as it is written.
        source: the node's formula, which states the wanted number or gives it.
    """
    should = number_as_written(source, wanted) if numeric_of(source) else _like(has, claimed, wanted.number)
    found = compare_numbers(wanted, claimed, spec)
    if found.reason == "dimension":
        return describe_difference("dimension", node, has, should, detail=found.detail)
    plain = _in_unit_of(wanted, claimed)
    loose = replace(spec, is_final=False)

    def is_right(factor: Fraction) -> bool:
        """Return True if the stated number times this factor is the wanted number."""
        scaled = replace(plain, value=plain.value * factor, ulp=abs(plain.ulp * factor))
        return compare_numbers(wanted, scaled, loose).status == "equivalent"

    if is_right(Fraction(-1)):
        return describe_difference("sign", node, has, should)
    tens = [Fraction(10) ** (sign * power) for power in range(1, _DECADES + 1) for sign in (1, -1)]
    units = [each for factor in UNIT_FACTORS for each in (factor, 1 / factor)] if claimed.unit else []
    for factor in (*tens, *units):
        if is_right(factor):
            return describe_difference("unit", node, has, should, amount=number(factor))
    for factor in (each for short in _FACTORS for each in (short, 1 / short)):
        if is_right(factor):
            return describe_difference(
                "factor", node, has, should, amount=short_form(float(factor), 1e-6) or number(factor)
            )
    times = float(plain.in_si / wanted.number.in_si) if wanted.number.in_si else 1.0
    apart = f"{abs(times - 1):.1%} off" if 0 < times < 2 else f"{times:.3g} times as large"
    return describe_difference("value", node, has, should, detail="" if times == 1 else apart)


def number_as_written(f: Formula, stated: Numeric) -> Expr:
    """Return the number with its unit as a formula writes it that states a number for a quantity."""
    return next((member for member in reversed(f.members) if member != stated.subject), f.members[-1])


def _in_unit_of(wanted: Numeric, claimed: StatedNumber) -> StatedNumber:
    """Return a stated number, in the unit of the wanted one if it has none."""
    return replace(claimed, unit=wanted.number.unit) if claimed.unit is None else claimed


def _like(has: Expr, claimed: StatedNumber, wanted: StatedNumber) -> Expr:
    """Return a wanted number in the unit of the stated one, written alike; in base units where that is not possible."""
    literal = next((node for node in walk(has) if node.op == "num" and node.value == abs(claimed.value)), None)
    is_alike = claimed.unit is None or (claimed.dimension == wanted.dimension and not claimed.unit.offset)
    if literal is None or not literal.value or not claimed.in_si or not is_alike:
        return Expr("mul", (_with_six_figures(wanted.in_si), base_unit_product(Fraction(1), 0, wanted.dimension)))
    return substitute(has, {literal: _with_six_figures(literal.value * wanted.in_si / claimed.in_si)})


def _with_six_figures(value: Fraction) -> Expr:
    """Return a number as an expression: whole numbers in full, others with at most six significant figures."""
    if value.denominator == 1:
        return number(value)
    return number(Fraction(f"{float(value):.6g}"), written=f"{float(value):.6g}")

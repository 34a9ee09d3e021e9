r"""Numbers as a text states them: a literal with its unit, or a short closed form such as `2\sqrt5` (semantics N.2).

A formula with values put in (`8.31 * 298`) is no number, worked out or not: its writer has yet to say what comes out.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from prism.algebra.expr import EQUALITIES, Expr, canonical, formal_ratio, number, ops_of, walk
from prism.algebra.terms import digits_of, last_place_of
from prism.engine.zero_set import value_at
from prism.latex.unit_grammar import product_of
from prism.physics.quantities import is_unit_product, single_unit, with_speed_of_light
from prism.physics.tables import BASE_UNITS, PI, Dimension, Unit
from prism.physics.units import find_unit

MIN_INTEGER_FIGURES = 3  # significant figures of an integer: `450` and `5` are no rounder than `450.`
TEN = Fraction(10)
MAX_UNCERTAINTY = Fraction(1, 10)  # of a number: behind a double sign more than that is a second number
MAX_CLOSED_OPERATIONS = 3  # of a closed form that is a number: `5/3`, `2\sqrt5`, `3\pi/4`
LARGEST = Fraction(sys.float_info.max)  # of floats: no larger number is computed with
DIMENSIONLESS = Unit("", Fraction(1), (Fraction(0),) * len(BASE_UNITS))

MONEY = frozenset(("dollar", "euro", "pound sterling"))  # counted, and none is another

_TURNS = frozenset(("rpm", "rev", "turn", "cycle", "revolution", "rps"))
_OF_FORMS = frozenset("div sqrt root const ln exp pow asin acos atan".split())  # a closed form has one
_OF_FRACTIONS = frozenset("num neg add sub mul div pow".split())
_CLOSED_FORM_OPS = frozenset("num const neg add sub mul div pow sqrt root ln exp asin acos atan".split())


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number as a text states it, with its unit and precision.

    Attributes:
        value: in the unit as written.
        unit: None if no unit is written.
        figures: significant figures; at least three for an integer, 0 for a closed form but a power of ten.
        ulp: one unit in the last place shown, in the unit as written; 0 for an exact number.
        is_whole: written without a point, a power of ten or a unit, or as an angle with minutes: exact, unless
            something measured is asked for.
        rates: those of `hertz`, `radian` and `turn` that occur in the unit, all three 1/s in the table of units, and of
            the kinds of money.
        shown: digits that are written: 20 shows two, and may be 19.8 with one figure fewer.
    """

    value: Fraction
    unit: Unit | None
    figures: int
    ulp: Fraction
    rates: frozenset[str] = frozenset()
    shown: int = 0
    is_whole: bool = False

    @property
    def is_exact(self) -> bool:
        r"""Return True for a count, a fraction or a closed form such as `2\sqrt5`; False for a decimal."""
        return not self.ulp

    @property
    def is_written_whole(self) -> bool:
        """Return True for a whole number without a point and a power of ten, with a unit or without."""
        return self.value.denominator == 1 and self.shown == len(str(abs(self.value)))

    @property
    def dimension(self) -> Dimension:
        """Return the exponents of the base units; all 0 for a number without unit."""
        return (self.unit or DIMENSIONLESS).dimension

    @property
    def in_si(self) -> Fraction:
        """Return the value in coherent SI units, of a temperature with its offset; as written without a unit."""
        unit = self.unit
        return self.value if unit is None else self.value * unit.factor * PI**unit.pi + unit.offset


@dataclass(frozen=True, slots=True)
class Numeric:
    """The content of a formula `quantity = number`, such as `R = 202 km`.

    Attributes:
        subject: the quantity: a symbol, or a value at a place such as `v(0)`.
        number: its stated number.
    """

    subject: Expr
    number: StatedNumber


def six_figures(value: Fraction) -> str:
    """Write a number with at most six significant digits, be it beyond the range of floats.

    >>> six_figures(Fraction(2, 3)), six_figures(12345678 * Fraction(10) ** 400)
    ('0.666667', '1.23457e+407')
    """
    if abs(value) <= LARGEST:
        return f"{float(value):.6g}"
    rounding = Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)
    quotient = rounding.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounding.normalize(quotient):.6g}"


def is_subject(node: Expr) -> bool:
    """Return True if a text can state a number for the node: a symbol, `v(0)`, a derivative, a value at a point."""
    return node.op in ("sym", "apply") or (
        node.op in ("derivative", "at", "bracket") and any(arg.op == "sym" for arg in walk(node))
    )


def stated_number(node: Expr) -> StatedNumber | None:
    r"""Read an expression as a number with its unit; None if it has a symbol, or is a calculation not carried out.

    >>> from prism.latex import parse
    >>> [stated_number(parse(text).members[0]) is not None for text in ("202\\,\\mathrm{km}", "2\\sqrt5", "8.31*298")]
    [True, True, False]
    """
    split = _read_number_and_unit(node)
    if split is None:
        return _sum_of_units(node)
    numeral, unit_as_expr = split
    unit = None if unit_as_expr is None else single_unit(unit_as_expr)
    if unit_as_expr is not None and unit is None:
        return None
    rates = _rate_kinds(unit_as_expr) if unit_as_expr is not None else frozenset()
    negative = numeral.op == "neg"
    literal = numeral.args[0] if negative else numeral
    if literal.op == "num" and literal.value is not None and "/" not in literal.name:
        figures, ulp = literal_precision(literal, has_unit=unit is not None and MONEY.isdisjoint(rates))
        shown = len(digits_of(literal))
        value = -literal.value if negative else literal.value
        return StatedNumber(value, unit, figures, ulp, rates, shown, is_whole=not ulp)
    exact = _closed_form_value(numeral)
    is_order = literal.op == "pow" and literal.args[0].value == TEN  # `10^{-2}` alone has one figure
    return None if exact is None else StatedNumber(exact, unit, int(is_order), Fraction(0), rates)


def _sum_of_units(node: Expr) -> StatedNumber | None:
    """Read degrees, minutes and seconds, or hours and minutes, as one number in the first unit; None for another sum.

    It is exact: who writes minutes of arc means them.
    """
    if node.op != "add" or "unit" not in ops_of(node):
        return None
    terms = [(each, each.unit) for each in map(stated_number, node.args) if each is not None and each.unit is not None]
    kinds = {(unit.dimension, unit.pi, bool(unit.offset)) for _, unit in terms}
    if len(terms) < len(node.args) or len(kinds) > 1 or terms[0][1].offset:
        return None
    first, unit = terms[0]
    value = sum((term.value * own.factor / unit.factor for term, own in terms), Fraction(0))
    return StatedNumber(value, unit, MIN_INTEGER_FIGURES, Fraction(0), first.rates, is_whole=True)


def _read_number_and_unit(node: Expr) -> tuple[Expr, Expr | None] | None:
    r"""Split a stated number into its number and its unit, without its uncertainty; None if it states none.

    The c of `\mathrm{MeV}/c^2` is the speed of light.
    """
    if "pm" in ops_of(node):
        node = _without_uncertainty(node)
    node = with_speed_of_light(node)
    return None if "sym" in ops_of(node) else _split_number_and_unit(node)


def _without_uncertainty(node: Expr) -> Expr:
    r"""Return a for `a \pm b` where b is at most a tenth of a and decimals or units are written; else the node.

    `12.3 \pm 0.4` is a number with its uncertainty, `1.5 \pm 0.5` and `3 \pm 1` are two numbers (semantics F.7).
    """
    factors = node.args if node.op == "mul" else (node,)
    at = [k for k, factor in enumerate(factors) if factor.op == "pm"]
    if len(at) != 1 or len(factors[at[0]].args) != 2 or factors[at[0]].name != "±":
        return node
    value, spread = (stated_number(arg) for arg in factors[at[0]].args)
    if value is None or spread is None or not (value.ulp or spread.ulp or len(factors) > 1):
        return node
    own_unit = value.unit or spread.unit or DIMENSIONLESS
    sizes = [abs(replace(each, unit=each.unit or own_unit).in_si) for each in (value, spread)]
    if spread.unit is not None and spread.dimension != own_unit.dimension:
        return node
    if own_unit.offset or sizes[1] > MAX_UNCERTAINTY * sizes[0]:
        return node
    point = factors[at[0]].args[0]
    split = _split_number_and_unit(factors[at[0]].args[1])
    if value.unit is None and split is not None and split[1] is not None:
        point = Expr("mul", (point, split[1]))
    return point if len(factors) == 1 else Expr("mul", (*factors[: at[0]], point, *factors[at[0] + 1 :]))


def _split_number_and_unit(node: Expr) -> tuple[Expr, Expr | None] | None:
    """Split a product into its number and its unit (None without unit). Return None if it has a symbol or no number."""
    if node.op == "neg":
        inner = _split_number_and_unit(node.args[0])
        return inner and (inner[0].args[0] if inner[0].op == "neg" else Expr("neg", (inner[0],)), inner[1])
    if node.op == "div" and is_unit_product(node.args[1]) and not is_unit_product(node):
        node = Expr("mul", (node.args[0], Expr("pow", (node.args[1], number(-1)))))
    numerals: list[Expr] = []
    units: list[Expr] = []
    for factor in node.args if node.op == "mul" else (node,):
        if is_unit_product(factor):
            units.append(factor)
        elif ops_of(factor).isdisjoint(("unit", "sym")):
            numerals.append(factor)
        elif factor is node or (inner := _split_number_and_unit(factor)) is None:
            return None
        else:
            numerals.append(inner[0])
            units += filter(None, inner[1:])
    return (product_of(numerals), product_of(units) if units else None) if numerals else None


def _rate_kinds(units: Expr) -> frozenset[str]:
    """Return those of `hertz`, `radian` and `turn`, and of the kinds of money, that occur in a product of units."""
    names = [node.name for node in walk(units) if node.op == "unit"]
    found = {"hertz": any(name.endswith("Hz") for name in names), "radian": "rad" in names,
             "turn": not _TURNS.isdisjoint(names)}  # fmt: skip
    money = {unit.name for name in names if (unit := find_unit(name)) is not None} & MONEY
    return frozenset(money).union(kind for kind, is_there in found.items() if is_there)


def literal_precision(literal: Expr, *, has_unit: bool) -> tuple[int, Fraction]:
    """Return the significant figures of a number and one unit in its last place.

    An integer without unit is exact, for which the latter is 0.
    """
    shown, place = len(digits_of(literal)), last_place_of(literal)
    if "." in literal.name or "e" in literal.name:
        return max(shown, 1), place
    if not has_unit:
        return max(shown, MIN_INTEGER_FIGURES), Fraction(0)
    return max(shown, MIN_INTEGER_FIGURES), place / 10 ** max(MIN_INTEGER_FIGURES - shown, 0)


def _closed_form_value(node: Expr) -> Fraction | None:
    r"""Return the value of a short closed form of integers, pi and e such as `2\sqrt5`; None for anything else."""
    if not ops_of(node) <= _CLOSED_FORM_OPS:
        return None
    nodes = list(walk(node))
    if any(inner.op == "num" and (inner.value is None or "." in inner.name or "e" in inner.name) for inner in nodes):
        return None
    bare = node.args[0] if node.op == "neg" else node
    is_form = any(inner.op in _OF_FORMS for inner in nodes)
    is_form = is_form or (bare.op == "num" and "/" in bare.name)
    n_operation = sum(max(len(inner.args) - 1, 1) for inner in nodes if inner.args and inner.op != "neg")
    if not is_form or n_operation > MAX_CLOSED_OPERATIONS:
        return None
    exact = rational_value(node)
    found = value_at(node, {}) if exact is None else exact
    return None if found is None else Fraction(found)


def rational_value(node: Expr) -> Fraction | None:
    """Return the exact value of sums, products, quotients and whole powers of numbers; None for anything else."""
    if not ops_of(node) <= _OF_FRACTIONS:
        return None
    return Fraction(0) if canonical(node) == "0" else formal_ratio(node, number(1))


def with_units_from_right(members: tuple[Expr, ...], relations: tuple[str, ...]) -> tuple[Expr, ...]:
    r"""Return the members of a chain, each number without unit with that of the nearest number to its right.

    `R = 202 = 202 km` states kilometres twice. Not where the number is the other one in coherent SI units:
    `\phi = 0.0126 = 0.720°` is in radians first.
    """
    found: list[Expr] = []
    right: tuple[StatedNumber, Expr] | None = None  # the nearest number with a unit, and its unit
    for member, relation in zip(reversed(members), ("=", *reversed(relations)), strict=True):
        right = right if relation in EQUALITIES else None
        own = stated_number(member)
        if own is not None and own.unit is not None:
            split = _read_number_and_unit(member.args[0] if member.op == "add" else member)
            right = (own, split[1]) if split and split[1] else None
        found.append(member)
        if own is not None and own.unit is None and right is not None:
            values = (right[0].in_si, right[0].value)
            is_near = [abs(own.value - x) <= max(abs(own.value), abs(x)) / 20 for x in values]
            found[-1] = member if is_near == [True, False] else Expr("mul", (member, right[1]))
    return tuple(reversed(found))

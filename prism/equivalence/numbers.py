r"""Stated numbers: what a text says a quantity is, and whether that is the number asked for (semantics N.2-N.4).

`R = 202 km` asks for a number, and a number has to be stated: a literal with its unit, or a short closed form such as
`2\sqrt5`. A formula with values put in is no number, worked out or not: its writer has yet to say what comes out. The
tolerance follows from the figures that the reference declares or shows, never from the claim's own precision.

Refused: a tolerance in floating units of the claim (`2e5` would be within half its last place of `202 km`), and
reading a number without a unit in whatever unit makes it right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import EQUALITIES, Expr, Formula, symbols, walk
from prism.engine.zero_set import value_at
from prism.physics.context import Context, kind_of, may_be_constant, readings_of, values_of
from prism.physics.dimensions import Inconsistent, dimension_of, dimension_text
from prism.physics.units import BASE_UNITS, PI, Dimension, Unit, constant_table, is_unit, unit_of, with_units_resolved

TOLERANCES = (Fraction(5, 100), Fraction(3, 100), Fraction(1, 100), Fraction(5, 1000))  # for 1, 2, 3, 4 figures
LONG_WAY = (3, Fraction(2, 100))  # as many numbers on the way, and what three figures allow then
MAX_TOLERANCE = Fraction(5, 100)  # of any intermediate number
MIN_INTEGER_FIGURES = 3  # of an integer: `450` and `5` are no rounder than `450.`
EXACT_BELOW = 100  # integers without unit below are counts
MAX_CLOSED = 3  # operations of a closed form that is a number: `5/3`, `2\sqrt5`, `3\pi/4`
MAX_STEPS = 60  # of the secant method; it either converges in ten or not at all
_CLOSE = 1e-12  # relative step at which it has converged
_APART = 1e-4  # relative distance of its first two places
NUMBERS_KEPT = 4096  # formulas whose numbers are remembered in a process

_FREE = Unit("", Fraction(1), (Fraction(0),) * len(BASE_UNITS))
_TURNS = frozenset(("rpm", "rev", "turn", "cycle", "revolution", "rps"))
_CLOSED = frozenset(("num", "const", "neg", "add", "sub", "mul", "div", "pow", "sqrt", "root", "ln", "exp"))
_NOTHING_KNOWN = Context()
_DIFFERENCES = (r"\Delta ", r"\delta ")


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number as a text states it.

    Attributes:
        value: in its own unit.
        unit: its unit; None if none is written.
        figures: significant figures shown; an integer has three at least.
        ulp: worth of the last place shown, in its own unit; 0 if it is exact.
        rates: which of hertz, radians and turns its unit is written in: they are all 1/s in the table.
        shown: figures as they stand: 20 shows two, and may be 19.8 with one figure fewer.
    """

    value: Fraction
    unit: Unit | None
    figures: int
    ulp: Fraction
    rates: frozenset[str] = frozenset()
    shown: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether it is a count, a fraction or a closed form, and no measured decimal."""
        return not self.ulp

    @property
    def dimension(self) -> Dimension:
        """Exponents of the base units; none for a number without unit."""
        return (self.unit or _FREE).dimension

    @property
    def in_si(self) -> Fraction:
        """The number in coherent SI units; one without unit as it stands."""
        unit = self.unit
        return self.value if unit is None else self.value * unit.factor * PI**unit.pi + unit.offset


@dataclass(frozen=True, slots=True)
class Asked:
    """How a number is asked for.

    Attributes:
        figures: declared by the problem; None leaves those that the reference shows.
        is_final: a final answer, which may not be given with fewer figures than asked for, less one.
        n_before: numeric nodes that it follows from.
        recomputed: its value in its own unit, worked out from the nodes before it, if that agrees with it.
        is_node: a node of a problem: a number without unit is in the unit asked for, and an exact reference takes a
            decimal of three figures too.
        beside: what other nodes state the quantities of this one to be, and how they are asked for. A number that
            they refuse does not stand for the formula either: 50 rad/s is no frequency of 50 Hz.
        settled: what the problem's nodes say: a condition that is one of them restricts nothing.
    """

    figures: int | None = None
    is_final: bool = False
    n_before: int = 0
    recomputed: Fraction | None = None
    is_node: bool = False
    beside: tuple[tuple[Numeric, Asked], ...] = ()
    settled: tuple[Formula, ...] = field(default=(), hash=False)


@dataclass(frozen=True, slots=True)
class Numeric:
    """A formula that states a number of one quantity.

    Attributes:
        subject: the quantity: a symbol, or a value at a place such as `v(0)`.
        number: what it is.
    """

    subject: Expr
    number: StatedNumber


@lru_cache(maxsize=NUMBERS_KEPT)
def numeric_of(f: Formula) -> Numeric | None:
    """The quantity and its number, where a formula is `quantity = number` either way round; else None."""
    if f.kind != "equation":
        return None
    for subject, other in (f.members, f.members[::-1]):
        if is_subject(subject) and (found := stated_number(other)) is not None:
            return Numeric(subject, found)
    return None


@lru_cache(maxsize=NUMBERS_KEPT)
def number_in_constants(f: Formula, context: Context) -> Numeric | None:
    r"""A number in terms of constants of nature: `M = 9.94 M_\odot`, `v = 0.8 c`; None for anything else.

    One literal, units, and letters of the table that mean their constant here: these are its unit.
    """
    if f.kind != "equation":
        return None
    for subject, other in (f.members, f.members[::-1]):
        factors = other.args if other.op == "mul" else ()
        literals = [factor for factor in factors if factor.op == "num"]
        letters = [factor.name for factor in factors if factor.op == "sym"]
        others = [factor for factor in factors if factor.op not in ("num", "sym")]
        if not is_subject(subject) or len(literals) != 1 or not letters or not all(map(is_unit, others)):
            continue
        if not all(_is_unit_of_nature(name, context) for name in letters):
            continue
        literal = literals[0]
        measured = measure(other, context)
        if measured is None or not literal.value:
            continue
        figures, ulp = _figures(literal, has_unit=True)
        unit = Unit("", measured[0] / literal.value, measured[1])
        return Numeric(subject, StatedNumber(literal.value, unit, figures, ulp))
    return None


def _is_unit_of_nature(name: str, context: Context) -> bool:
    return has_value(name) and (may_be_constant(context, name) or name in context.givens)


@lru_cache(maxsize=NUMBERS_KEPT)
def has_value(name: str) -> bool:
    """Whether a letter is the usual one of a constant with a value."""
    return any(reading.value is not None for reading in constant_table().readings(name))


def is_subject(node: Expr) -> bool:
    """Whether a number can be stated of it: a symbol, a derivative, a value at a place."""
    return node.op in ("sym", "apply") or (
        node.op in ("derivative", "at", "bracket") and any(arg.op == "sym" for arg in walk(node))
    )


# Reading. -------------------------------------------------------------------------------------------------------


def stated_number(node: Expr) -> StatedNumber | None:
    r"""A member as a stated number; None for a formula with values put in, and for anything with a symbol.

    >>> from prism.latex import parse
    >>> [stated_number(parse(text).members[0]) is not None for text in ("202\\,\\mathrm{km}", "2\\sqrt5", "8.31*298")]
    [True, True, False]
    """
    split = _number_and_unit(node)
    if split is None:
        return None
    numeral, unit_expr = split
    unit = None if unit_expr is None else unit_of(unit_expr)
    if unit_expr is not None and unit is None:
        return None
    rates = _rates(unit_expr) if unit_expr is not None else frozenset()
    negative = numeral.op == "neg"
    literal = numeral.args[0] if negative else numeral
    if literal.op == "num" and literal.value is not None and "/" not in literal.name:
        figures, ulp = _figures(literal, has_unit=unit is not None)
        shown = len(literal.name.partition("e")[0].replace(".", "").lstrip("-0"))
        return StatedNumber(-literal.value if negative else literal.value, unit, figures, ulp, rates, shown)
    value = _closed_value(numeral)
    return None if value is None else StatedNumber(value, unit, 0, Fraction(0), rates)


def _number_and_unit(node: Expr) -> tuple[Expr, Expr | None] | None:
    """A member as one numeral and one product of units, or None."""
    sign = 1
    while node.op == "neg":
        node, sign = node.args[0], -sign
    numerals: list[Expr] = []
    units: list[Expr] = []
    for factor in node.args if node.op == "mul" else (node,):
        if is_unit(factor):
            units.append(factor)
        elif factor.op == "div" and is_unit(factor.args[1]):
            inner = _number_and_unit(factor.args[0])
            if inner is None:
                return None
            numerals.append(inner[0])
            units += [] if inner[1] is None else [inner[1]]
            units.append(Expr("pow", (factor.args[1], Expr("num", name="-1", value=Fraction(-1)))))
        elif any(inner.op in ("unit", "sym") for inner in walk(factor)):
            if factor.op not in ("mul", "neg"):
                return None
            inner = _number_and_unit(factor)
            if inner is None:
                return None
            numerals.append(inner[0])
            units += [] if inner[1] is None else [inner[1]]
        else:
            numerals.append(factor)
    if not numerals:
        return None
    numeral = numerals[0] if len(numerals) == 1 else Expr("mul", tuple(numerals))
    if sign < 0:
        numeral = Expr("neg", (numeral,))
    return numeral, (None if not units else units[0] if len(units) == 1 else Expr("mul", tuple(units)))


def _rates(units: Expr) -> frozenset[str]:
    names = [node.name for node in walk(units) if node.op == "unit"]
    found = {"hertz": any(name.endswith("Hz") for name in names), "radian": "rad" in names,
             "turn": not _TURNS.isdisjoint(names)}  # fmt: skip
    return frozenset(kind for kind, is_there in found.items() if is_there)


def _figures(literal: Expr, *, has_unit: bool) -> tuple[int, Fraction]:
    """Significant figures of a literal and the worth of its last place; that is 0 for a count."""
    digits, _, power = literal.name.partition("e")
    whole, _, decimals = digits.partition(".")
    scale = Fraction(10) ** (int(power or 0) - len(decimals))
    significant = (whole + decimals).lstrip("-0")
    if "." in digits or power:
        return max(len(significant), 1), scale
    if not has_unit and literal.value is not None and abs(literal.value) < EXACT_BELOW:
        return MIN_INTEGER_FIGURES, Fraction(0)
    missing = max(MIN_INTEGER_FIGURES - len(significant), 0)
    return max(len(significant), MIN_INTEGER_FIGURES), scale / 10**missing


def _closed_value(node: Expr) -> Fraction | None:
    """Value of a short closed form of integers, pi and e; None for products and sums left to be worked out."""
    nodes = list(walk(node))
    if any(inner.op not in _CLOSED for inner in nodes):
        return None
    if any(inner.op == "num" and (inner.value is None or "." in inner.name or "e" in inner.name) for inner in nodes):
        return None
    bare = node.args[0] if node.op == "neg" else node
    is_form = any(inner.op in ("div", "sqrt", "root", "const", "ln", "exp", "pow") for inner in nodes)
    is_form = is_form or (bare.op == "num" and "/" in bare.name)
    n_operation = sum(max(len(inner.args) - 1, 1) for inner in nodes if inner.args and inner.op != "neg")
    if not is_form or n_operation > MAX_CLOSED:
        return None
    if bare.op == "div" and all(arg.op == "num" and arg.value is not None for arg in bare.args) and bare.args[1].value:
        value = bare.args[0].value / bare.args[1].value  # type: ignore[operator]
        return -value if node.op == "neg" else value
    found = value_at(node, {})
    return None if found is None else Fraction(found)


# Comparing. -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """What became of a number: `status` and `reason` as of a verdict, and what was taken for granted."""

    status: str
    reason: str
    detail: str = ""
    readings: tuple[str, ...] = ()


def compare_numbers(reference: Numeric, claim: StatedNumber, asked: Asked) -> Compared:
    """Whether a stated number is the one asked for, in the reference's own unit and offset (semantics N.2, N.3, U)."""
    wanted = reference.number
    readings: tuple[str, ...] = ()
    factor = Fraction(1)
    if asked.is_node and claim.unit is None and wanted.unit is not None and (any(wanted.dimension) or wanted.unit.pi):
        if not any(wanted.dimension):  # a plain number is an angle in radians, unless degrees are asked for
            plain = compare_numbers(reference, replace(claim, unit=_FREE), asked)
            if plain.status == "equivalent":
                return plain
        claim = replace(claim, unit=wanted.unit)
        readings = ("unit: the number has none; it is read in the one asked for",)
    if not (wanted.value or claim.value or claim.unit or (wanted.unit and wanted.unit.offset)):
        return Compared("equivalent", "same_number")  # no force is no force, in newtons or not
    if claim.dimension != wanted.dimension:
        return Compared("different", "dimension", _in_words(claim, wanted))
    if wanted.rates != claim.rates and wanted.rates and claim.rates:
        if wanted.rates | claim.rates != {"radian", "turn"}:
            return Compared("different", "dimension", "hertz, radians and turns a second are not the same")
        factor = 2 * PI if "turn" in claim.rates else 1 / (2 * PI)
    is_difference = reference.subject.op == "sym" and reference.subject.name.startswith(_DIFFERENCES)
    stated = _in_unit_of(claim, wanted, is_difference=is_difference) * factor
    worth = wanted.value if asked.recomputed is None else asked.recomputed
    if not wanted.value:
        same = not stated
        return Compared("equivalent" if same else "different", "same_number" if same else "other_number")
    if stated * wanted.value < 0:
        return Compared("different", "other_number", _beside(stated, worth))
    if wanted.is_exact and not (asked.is_node and not claim.is_exact):
        same = stated == wanted.value or (not wanted.unit and _is_close(stated, wanted.value))
        return Compared("equivalent" if same else "different", "same_number" if same else "other_number",
                        "" if same else _beside(stated, worth), readings)  # fmt: skip
    figures = asked.figures or (wanted.figures if not wanted.is_exact else MIN_INTEGER_FIGURES)
    if asked.is_final and not claim.is_exact and claim.figures < figures - 1:
        return Compared("different", "other_number", f"{claim.figures} figures, where {figures} are asked for")
    gap = abs(stated - worth)
    if gap <= max(tolerance(figures, asked) * abs(worth), wanted.ulp / 2):
        return Compared("equivalent", "same_number", readings=readings)
    place = _last_place(claim.value, claim.shown) * _scale(claim, wanted) * factor
    if claim.shown == figures - 1 and figures > 1 and gap <= place / 2:
        return Compared("equivalent", "same_number", readings=readings)
    return Compared("different", "other_number", _beside(stated, worth), readings)


def tolerance(figures: int, asked: Asked) -> Fraction:
    """Relative tolerance for a number of so many figures; a number on the way is allowed twice that."""
    found = TOLERANCES[min(max(figures, 1), len(TOLERANCES)) - 1]
    if figures == MIN_INTEGER_FIGURES and asked.n_before >= LONG_WAY[0]:
        found = LONG_WAY[1]
    return found if asked.is_final or not asked.is_node else min(2 * found, MAX_TOLERANCE)


def _is_close(one: Fraction, other: Fraction) -> bool:
    """Closed forms are evaluated in floating point."""
    return math.isclose(one, other, rel_tol=1e-12)


def _last_place(value: Fraction, figures: int) -> Fraction:
    """Worth of the last of so many significant figures of a value."""
    return Fraction(10) ** (math.floor(math.log10(abs(value))) - figures + 1) if value else Fraction(0)


def _in_unit_of(claim: StatedNumber, wanted: StatedNumber, *, is_difference: bool) -> Fraction:
    mine, yours = claim.unit or _FREE, wanted.unit or _FREE
    shift = Fraction(0) if is_difference else mine.offset - yours.offset
    return claim.value * _scale(claim, wanted) + shift / (PI**yours.pi * yours.factor)


def _scale(claim: StatedNumber, wanted: StatedNumber) -> Fraction:
    """Worth of the claim's unit in the reference's."""
    mine, yours = claim.unit or _FREE, wanted.unit or _FREE
    return mine.factor * PI ** (mine.pi - yours.pi) / yours.factor


def _beside(stated: Fraction, worth: Fraction) -> str:
    return f"{float(stated):.6g} is stated, where {float(worth):.6g} is asked for, in the unit of the reference"


def _in_words(claim: StatedNumber, wanted: StatedNumber) -> str:
    return f"its unit is {dimension_text(claim.dimension)}, where {dimension_text(wanted.dimension)} is asked for"


# Values. --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=NUMBERS_KEPT)
def worked_out_number(f: Formula, said: Numeric, context: Context) -> Numeric | None:
    """The number that a formula gives for a quantity where all else in it is given; None if it is not (semantics N.4).

    A quantity that is given itself has its number from there, whatever the formula says. Of several roots a positive
    quantity has the positive one (semantics Z.3).

    Args:
        f: a formula; solved for the quantity or not.
        said: the quantity, and the number near which a formula that is not solved for it is solved.
        context: what is given.

    Returns:
        The number in coherent SI units, to three figures.
    """
    subject = said.subject
    if f.kind != "equation" or subject.op != "sym" or numeric_of(f) is not None:
        return None
    if subject.name not in symbols(*f.members) or subject.name in values_of(context):
        return None
    measured = None
    for left, right in (f.members, f.members[::-1]):
        if left == subject and symbols(right) and subject.name not in symbols(right):
            measured = _measured_without_open(right, context)
    if measured is None and subject not in f.members:
        dimension, start = said.number.dimension, float(said.number.in_si)
        root = solved_near(f, subject.name, start, dimension, context, {})
        if root is not None and root < 0 and kind_of(context, subject.name) == "positive":
            mirrored = solved_near(f, subject.name, -start, dimension, context, {})
            root = root if mirrored is None or mirrored < 0 else None
        measured = None if root is None else (Fraction(root), dimension)
    if measured is None:
        return None
    value, dimension = measured
    return Numeric(subject, StatedNumber(value, Unit("", Fraction(1), dimension), 3, abs(value) / 200))


@lru_cache(maxsize=NUMBERS_KEPT)
def closed_number_of(f: Formula) -> Numeric | None:
    r"""The value of `s = closed expression`, values put in and not worked out; three figures are taken as meant.

    None of a plain number beside degrees, as in `91.1 - 109°`: that is a range, or a unit was forgotten.
    """
    if f.kind != "equation":
        return None
    for subject, other in (f.members, f.members[::-1]):
        if subject.op != "sym" or symbols(other) or _adds_degrees_to_numbers(other):
            continue
        measured = measure(other, _NOTHING_KNOWN)
        if measured is not None:
            value, dimension = measured
            unit = Unit("", Fraction(1), dimension) if any(dimension) else None  # degrees in a sine are none
            return Numeric(subject, StatedNumber(value, unit, 3, abs(value) / 200))
    return None


def _adds_degrees_to_numbers(node: Expr) -> bool:
    return any(
        inner.op in ("add", "sub") and {0, 1} <= {power_of_degrees(arg) for arg in inner.args} for inner in walk(node)
    )


def power_of_degrees(node: Expr) -> int | None:
    r"""The exponent of degrees in a product of numbers and units; None of 0 and of what has none, such as `\pi`."""
    if node.op == "num":
        return 0 if node.value else None
    if is_unit(node):
        unit = unit_of(node)
        return None if unit is None else unit.pi
    if node.op == "neg":
        return power_of_degrees(node.args[0])
    if node.op not in ("mul", "div"):
        return None
    powers = [power_of_degrees(arg) for arg in node.args]
    if any(power is None for power in powers):
        return None
    signs = (1, -1) if node.op == "div" else (1,) * len(powers)
    return sum(sign * (power or 0) for sign, power in zip(signs, powers, strict=True))


Known = Mapping[str, tuple[float, Dimension]]


def measure(node: Expr, context: Context, known: Known | None = None) -> tuple[Fraction, Dimension] | None:
    """Value and dimension of an expression of givens, constants and numbers, in coherent SI; None if it has none."""
    resolved = with_units_resolved(node)
    names = symbols(resolved)
    values: dict[str, float] = {}
    dimensions: dict[str, Dimension] = {}
    for name in names:
        found = value_of(name, context, known or {})
        if found is None:
            return None
        values[name], dimensions[name] = found
    try:
        dimension = dimension_of(resolved, dimensions)
    except Inconsistent:
        return None
    value = value_at(resolved, values)
    if value is None or dimension is None:
        return None
    return Fraction(value), dimension


def _measured_without_open(node: Expr, context: Context) -> tuple[Fraction, Dimension] | None:
    """As `measure`; symbols without a value may stand in it where they cancel: it is the same whatever they are."""
    names = symbols(with_units_resolved(node))
    open_names = sorted(name for name in names if value_of(name, context, {}) is None)
    found = [
        measure(node, context, {name: _any_amount(k * step) for k, name in enumerate(open_names, start=1)})
        for step in (1, 5)
    ]
    first = found[0]
    if not open_names or first is None:
        return first
    are_same = all(each is not None and each[1] == first[1] and _is_close(each[0], first[0]) for each in found)
    return first if are_same else None


def _any_amount(k: int) -> tuple[float, Dimension]:
    """A value that no formula is about, of a dimension that no quantity has; another one for every number."""
    return 0.7 + 0.31 * k, (Fraction(k, 97), *(Fraction(0),) * (len(BASE_UNITS) - 1))


def value_of(name: str, context: Context, known: Known) -> tuple[float, Dimension] | None:
    """Value of a symbol: a base unit is 1; what is given; what was worked out; a constant with one value."""
    if name.startswith(r"\unit{"):
        base = name.removeprefix(r"\unit{").removesuffix("}")
        if base not in BASE_UNITS:
            return None
        return 1.0, tuple(Fraction(int(base == each)) for each in BASE_UNITS)
    if name in known:
        return known[name]
    given = values_of(context).get(name)
    if given is not None:
        return float(given.quantity.value), given.quantity.dimension
    if may_be_constant(context, name):
        values = {reading.value for reading in readings_of(context, name) if reading.value is not None}
        if len(values) == 1:
            (only,) = values
            return float(only.value), only.dimension
    return None


def solved_near(
    f: Formula, name: str, start: float, dimension: Dimension, context: Context, known: Known
) -> float | None:
    """The root of a formula in one symbol next to a value, by the secant method; None if other symbols are open."""
    if len(f.members) != 2 or f.relations[0] not in EQUALITIES or not start:
        return None
    residual = Expr("sub", tuple(with_units_resolved(member) for member in f.members))
    values = {name: start}
    dimensions = {name: dimension}
    for other in symbols(residual) - {name}:
        found = value_of(other, context, known)
        if found is None:
            return None
        values[other], dimensions[other] = found
    try:
        dimension_of(residual, dimensions)
    except Inconsistent:
        return None
    x, y = start, start * (1 + _APART)
    at_x = value_at(residual, values)
    for _ in range(MAX_STEPS):
        at_y = value_at(residual, {**values, name: y})
        if at_x is None or at_y is None:
            return None
        if at_y == 0 or abs(y - x) <= _CLOSE * abs(y):
            return y
        if at_y == at_x:
            return None
        x, y, at_x = y, y - at_y * (y - x) / (at_y - at_x), at_y
    return None


def with_units_to_the_right(members: tuple[Expr, ...], relations: tuple[str, ...]) -> tuple[Expr, ...]:
    r"""Members of a chain, each plain number with the unit of the nearest number to its right (semantics N.3).

    `R = 202 = 202 km` states kilometres twice. Not where the number is the other one in coherent SI units:
    `\phi = 0.0126 = 0.720°` is in radians first.
    """
    found = list(members)
    for k in range(len(members) - 2, -1, -1):
        own = stated_number(members[k])
        if own is None or own.unit is not None:
            continue
        for j in range(k + 1, len(members)):
            if relations[j - 1] not in EQUALITIES:
                break
            right = stated_number(members[j])
            if right is not None and right.unit is not None:
                if not _within(own.value, right.in_si) or _within(own.value, right.value):
                    split = _number_and_unit(members[j])
                    assert split is not None
                    assert split[1] is not None
                    found[k] = Expr("mul", (members[k], split[1]))
                break
    return tuple(found)


def _within(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) <= max(abs(one), abs(other)) / 20

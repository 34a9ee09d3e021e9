r"""Whether two neighbours of a chain are equal: `b` and `c` of `a = b = c` (semantics C.1).

A link is *confirmed* where both members are numbers that agree, or are the same whatever their symbols are; *refuted*
where both are numbers that agree under no reading of their units, or where both move alike with the same symbols and
one is a fixed multiple of the other: a lost factor, a sign. Everything else is *undecided*: members with different
symbols state a law or put values in, and that is for the problem to judge, not for the chain.

A refuted link takes credit from a solution, so every doubt is in its favour. A missing unit may be that of the other
member, with or without its prefix, coherent SI or coherent cgs; written digits may be rounded; an angle without a unit
may be in degrees, and whole turns do not count; a logarithm may be to base 10; what stands behind a slash may be meant
below it. Refused: a tolerance for ratios wide enough for all rounding (a lost 1.05 is a lost factor); each written
decimal is moved by half a unit in its last place instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from types import ModuleType
from typing import Any

from prism.algebra.calculus import worked_out
from prism.algebra.expr import Expr, canonical, formula, multiple_by_form, number, substitute, symbol, symbols, walk
from prism.engine.kernels import floats, ints, kernels, source, spend
from prism.engine.lowering import Mismatch, Notation, build_tape
from prism.engine.tape import Tape, TapeTooLarge
from prism.engine.zero_set import draws, tape_of, workspace
from prism.equivalence.matching import equivalent
from prism.equivalence.notation import notation_of, with_calls
from prism.equivalence.numbers import power_of_degrees
from prism.equivalence.zero_sets import is_identity, samplings_of
from prism.errors import PrismError
from prism.physics.context import Context
from prism.physics.units import (
    BASE_UNITS,
    MAX_TEN_POWER,
    read_quantity,
    unit_table,
    with_italic_units,
    with_units_resolved,
)

NUMBERS_AGREE = 0.05  # relative, of two numbers in a chain; every step of a calculation is rounded (semantics C.1)
ROUNDED = 0.01  # of a constant ratio: coefficients are rounded too, and 3.14 stands for pi
SAME_RATIO = 1e-6  # relative: how far a constant ratio may vary from point to point
MIN_POINTS = 10  # at which a ratio has to be the same
MAX_LITERALS = 20  # decimals that are moved one by one; further ones count as exact
MAX_OPS = 4000  # of two members whose ratio is asked for, together: they are evaluated some hundred times
_DRAWS = 32  # at which a ratio is asked for
_FEW_DRAWS = 4  # at which it is asked how far a decimal moves it
_INFORMATIVE = 1e8  # a value is told from its rounding bound by this factor
_KEPT = 64  # members whose spread is remembered while the readings of their units are gone through
_VANISHED = 1e-9  # relative to its terms: a sum that is 0

REASONS = {
    "same_form": "they are the same but for order and arithmetic",
    "same_value": "they are the same whatever the symbols are",
    "same_number": "the numbers agree",
    "givens": "the given values decide it",
    "apart": "the numbers differ under every reading of their units",
    "ratio": "one is a fixed multiple of the other",
    "other_variables": "they have different symbols: a law, or values put in",
    "varying_ratio": "they have the same symbols, and neither is a multiple of the other",
    "rounding": "they differ by no more than the written digits may",
    "units": "the units do not settle it",
    "turns": "they are angles that differ by whole turns",
    "reading": "they agree in another reading of a slash, an angle or a logarithm",
    "unsupported": "a construct that has no value at a point",
    "too_few_points": "not enough points at which both have a value",
    "too_large": "beyond the limits on size",
}
"""Every reason a link can have, in words. Closed: a test refuses any other."""

_TIMES = r"\times"  # the factor that a ratio is found with; no LaTeX spells a symbol like this
_TRIG = frozenset(("sin", "cos", "tan"))
_INVERSE = frozenset(("asin", "acos", "atan"))
_MANY = frozenset(("list", "tuple", "set", "interval", "pm", "blank", "dots", "relation"))  # no one number
_CYCLES = frozenset(
    ("Hz", "kHz", "MHz", "GHz", "THz", "rpm", "rev", "revolution", "revolutions", "turn", "turns", "cycles")
)
_METRE, _SECOND = r"\unit{m}", r"\unit{s}"
_Dimension = tuple[tuple[str, float], ...]
_UNIT = r"\unit{"
_MOST_BY_ROUNDING = 0.3  # of a ratio; beyond, the decimals need not be moved
_HIDDEN = 1e-4  # relative, of a term beside another
_HALF_DECADE = 0.5  # an order of magnitude is rounded to a whole power of ten
_MOST_PREFIXED = 6  # powers of a thousand: from atto to exa
_LIGHT = 299792458.0  # [m/s]
_LARGEST = Fraction(10**12)  # of a factor between two forms; a larger one is no slip, and may be no float
_RANK = {"confirmed": 0, "undecided": 1, "refuted": 2}
_CGS = {r"\unit{m}": 100.0, r"\unit{kg}": 1000.0}


@dataclass(frozen=True, slots=True)
class Link:
    """What was found of two neighbours in a chain.

    Attributes:
        status: `confirmed`, `refuted` or `undecided`.
        reason: a key of `REASONS`.
        witness: for a person: both values, or the ratio.
    """

    status: str
    reason: str
    witness: str = ""

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a reason; reasons are {', '.join(REASONS)}")


def link(left: Expr, right: Expr, context: Context) -> Link:
    r"""Decide whether two neighbours of a chain are equal.

    Args:
        left, right: members as parsed, units and all.
        context: of the problem: kinds of symbols, givens; its digest keys the random generator.

    Returns:
        Link. Never an exception, whatever a student wrote.

    >>> from prism.latex import parse
    >>> chain = parse(r"E = \frac12 m (2v)^2 = 2 m v^2 = m v^2 = 3 \times 5 = 15.1 = 16\unit{J}").members
    >>> [link(*pair, Context()).status for pair in zip(chain, chain[1:])][:3]
    ['undecided', 'confirmed', 'refuted']
    >>> link(chain[4], chain[5], Context()).witness
    '15 and 15.1, 0.66 % apart'
    """
    try:
        found = _weighed(left, right, context)
    except TapeTooLarge as error:
        found = Link("undecided", "too_large", str(error))
    except Mismatch as error:
        return Link("undecided", "unsupported", str(error))
    return (_weigh_forms(left, right) or found) if found.reason in _WITHOUT_VALUE else found


def _weighed(left: Expr, right: Expr, context: Context) -> Link:
    if canonical(left) == canonical(right):
        return Link("confirmed", "same_form")
    module = kernels()
    found = _weigh_numbers(left, right, module)
    if found is None and (in_italics := _with_italic_units(left, right, context)) is not None:
        found = _weigh_numbers(*in_italics, module)
        if found is not None and found.status != "confirmed":
            return Link("undecided", "units", found.witness)  # that the letters are units was a guess
    if found is None and context.givens:
        found = _weigh_with_givens(left, right, context, module)
    if found is not None:
        return found
    verdict = equivalent(formula((left,), ()), formula((right,), ()), context=context)
    if verdict.status == "equivalent":
        return Link("confirmed", "same_value", "; ".join(verdict.readings))
    if is_identity(formula((with_units_resolved(left), with_units_resolved(right)), ("=",)), context):
        return Link("confirmed", "same_value")  # with a symbol or a differential that one side has and that cancels
    return _weigh_ratio(left, right, context, module)


# Numbers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Number:
    """A member that is a number with its units, under each reading.

    Attributes:
        coherent: in coherent SI; two values where degrees may be a temperature or a difference.
        plain: what is written, with the units left out; in units without prefix; in coherent cgs.
        dimension: units and their powers, by name; None where terms of different dimension are added.
        units: names of the units that are written.
        is_angle: an inverse trigonometric function gives it.
        is_lone: nothing is worked out: one number, and perhaps a unit.
    """

    coherent: tuple[float, ...]
    plain: tuple[float, ...]
    dimension: _Dimension | None
    units: frozenset[str]
    is_angle: bool
    is_lone: bool


_Members = tuple[Expr, Expr]


def _weigh_numbers(left: Expr, right: Expr, module: ModuleType) -> Link | None:
    """The link between two numbers; None where a member is none."""
    if not (_is_numeric(left) and _is_numeric(right)):
        return None
    weighed: list[Link] = []
    for one_member, other_member in product(_variants(left), _variants(right)):
        one, other = _number(one_member, module), _number(other_member, module)
        if one is None or other is None:
            return None
        weighed += [_weigh_pair(*pair, (one, other), (one_member, other_member), module) for pair in _pairs(one, other)]
    found = min(weighed, key=lambda found: _RANK[found.status])
    if found.status == "refuted" and any(_agree(*pair, module) for pair in _with_slashes(left, right)):
        return Link("undecided", "reading", found.witness)
    return found


def _agree(left: Expr, right: Expr, module: ModuleType) -> bool:
    one, other = _number(left, module), _number(right, module)
    if one is None or other is None:
        return False
    found = (_weigh_pair(*pair, (one, other), (left, right), module) for pair in _pairs(one, other))
    return any(each.status == "confirmed" for each in found)


def _weigh_pair(a: float, b: float, numbers: tuple[_Number, _Number], members: _Members, module: ModuleType) -> Link:
    """Two numbers under one reading of their units."""
    said = f"{a:.6g} and {b:.6g}, {100 * _apart(a, b):.2g} % apart"
    if _apart(a, b) <= NUMBERS_AGREE:
        return Link("confirmed", "same_number", said)
    if 0.0 in (a, b):
        member, value = (members[0], a) if b == 0 else (members[1], b)
        terms = _size_of_terms(member, module)
        if abs(value) <= _VANISHED * terms:
            return Link("confirmed", "same_number", said)
        if abs(value) <= NUMBERS_AGREE * terms or member.op not in ("add", "sub"):
            return Link("undecided", "rounding", said)
        return Link("refuted", "apart", said)
    one, other = members
    if abs(a - b) < _spread(one, other, module) * abs(a) + _spread(other, one, module) * abs(b):
        return Link("undecided", "rounding", said)
    if any(_is_order_of_magnitude(member) for member in members) and abs(_decades(a, b)) < _HALF_DECADE:
        return Link("undecided", "rounding", said)
    if all(_is_written_as_angle(member) for member in members) and _is_whole((a - b) / (2 * math.pi)):
        return Link("undecided", "turns", said)
    if not _are_of_one_unit(*numbers) or _is_conversion(*numbers):
        return Link("undecided", "units", said)
    if _lacks_a_prefix(a, b, *numbers):
        return Link("undecided", "units", said)
    return Link("refuted", "apart", said)


def _is_written_as_angle(member: Expr) -> bool:
    return any(node.op == "const" or (node.op == "unit" and node.name in ("deg", "rad")) for node in walk(member))


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) <= _VANISHED * max(abs(value), 1.0)


def _are_of_one_unit(one: _Number, other: _Number) -> bool:
    """Whether units may be compared at all: not 26.9 MeV beside 0.0289 u, nor seconds of arc beside radians."""
    return not (one.units and other.units) or one.dimension == other.dimension is not None


def _is_conversion(one: _Number, other: _Number) -> bool:
    """Whether a lone quantity stands beside a lone number whose unit was not read: `1.5e22 cm = 16 thousand years`."""
    return one.is_lone and other.is_lone and bool(one.units) != bool(other.units)


def _lacks_a_prefix(a: float, b: float, one: _Number, other: _Number) -> bool:
    """Whether units that are missing may have had a prefix: km/s put in without it, the result in J/kg."""
    with_unit = one if one.units else other
    if bool(one.units) == bool(other.units) or not with_unit.dimension:
        return False
    if a not in one.coherent or b not in other.coherent:
        return False
    decades = _decades(a, b)
    power = round(decades / 3) if math.isfinite(decades) else 0
    return 0 < abs(power) <= _MOST_PREFIXED and _apart(a, b * math.pow(1000, power)) <= NUMBERS_AGREE


def _decades(a: float, b: float) -> float:
    """How many powers of ten lie between two numbers that are not 0; infinitely many if their signs differ."""
    return math.log10(abs(a)) - math.log10(abs(b)) if (a > 0) == (b > 0) else math.inf


def _is_order_of_magnitude(member: Expr) -> bool:
    """`10^{27}` beside `1.3e27`; a unit may follow."""
    factors = member.args if member.op == "mul" else (member,)
    head = factors[0]
    return (
        head.op == "pow"
        and head.args[0] == number(10)
        and all(any(node.op == "unit" for node in walk(factor)) for factor in factors[1:])
    )


def _apart(a: float, b: float) -> float:
    """How far two numbers are apart, relative to the larger."""
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))


def _pairs(one: _Number, other: _Number) -> Iterator[tuple[float, float]]:
    """Values that may be meant, side by side, for every reading of units that are missing."""
    if one.units and other.units and one.dimension == other.dimension is not None:
        yield from product(one.coherent, other.coherent)
        if bool(one.units & _CYCLES) != bool(other.units & _CYCLES):  # 1200 rpm is 125.7 rad/s (semantics U)
            yield from ((2 * math.pi * a, b) for a in one.coherent for b in other.coherent)
            yield from ((a, 2 * math.pi * b) for a in one.coherent for b in other.coherent)
        return
    if one.units and other.units:
        if (factor := _of_light(one, other)) is not None:
            yield from ((factor * a, b) for a in one.coherent for b in other.coherent)
        else:
            yield one.coherent[0], other.coherent[0]
        return
    yield from product((*one.coherent, *one.plain), (*other.coherent, *other.plain))
    if one.is_angle and not other.units:
        yield from ((math.degrees(a), b) for a in one.coherent for b in other.coherent)
    if other.is_angle and not one.units:
        yield from ((a, math.degrees(b)) for a in one.coherent for b in other.coherent)


def _of_light(one: _Number, other: _Number) -> float | None:
    """The power of the speed of light between masses, momenta and energies: 1 u is 931.5 MeV."""
    if one.dimension is None or other.dimension is None:
        return None
    ones, others = dict(one.dimension), dict(other.dimension)
    apart = {name: others.get(name, 0.0) - ones.get(name, 0.0) for name in ones | others}
    power = apart.get(_METRE, 0.0)
    if abs(power) not in (1.0, 2.0) or {name: by for name, by in apart.items() if by} != {
        _METRE: power,
        _SECOND: -power,
    }:
        return None
    return math.pow(_LIGHT, power)


def _is_numeric(member: Expr) -> bool:
    """Whether a member is a number with its units: it has no variable but bound ones."""
    if any(node.op in _MANY for node in walk(member)):
        return False
    return all(name.startswith(_UNIT) for name in tape_of(with_units_resolved(member)).names)


def _number(member: Expr, module: ModuleType) -> _Number | None:
    """A member under each reading; None where it has no value."""
    resolved = with_units_resolved(member)
    value = _value(resolved, {}, module)
    if value is None:
        return None
    units = frozenset(node.name for node in walk(member) if node.op == "unit")
    difference = _value(with_units_resolved(member, difference=True), {}, module)
    stripped, without_prefix = (
        _value(substitute(member, {Expr("unit", name=name): number(size) for name, size in sizes.items()}), {}, module)
        for sizes in (dict.fromkeys(units, Fraction(1)), {name: _prefix_of(name) for name in units})
    )
    return _Number(
        coherent=(value,) if difference in (None, value) else (value, difference),
        plain=tuple(x for x in (stripped, without_prefix, _value(resolved, _CGS, module)) if x is not None),
        dimension=_dimension(resolved, value, module),
        units=units,
        is_angle=any(node.op in _INVERSE for node in walk(member)),
        is_lone=_lone_literal(member) is not None,
    )


def _prefix_of(name: str) -> Fraction:
    """What a prefix stands for: the 10^6 of MeV, 1 of m."""
    power, _ = unit_table().prefixed.get(name, (0, ""))
    return Fraction(10) ** power


def _value(member: Expr, sizes: Mapping[str, float], module: ModuleType) -> float | None:
    """Value of a member whose only symbols are units, each of this size or 1; None where it has none."""
    tape = build_tape(member)
    if len(tape.roots) != 1:
        return None
    found = _evaluated(tape, {name: sizes.get(name, 1.0) for name in tape.names}, module)
    return None if found is None else float(found[0][tape.roots[0]])


def _evaluated(tape: Tape, at: Mapping[str, float], module: ModuleType) -> tuple[Any, Any] | None:
    """Values and rounding bounds of all instructions at a point, or None where one is undefined."""
    x, value, bound, _, _ = workspace(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = at[name]
    code, consts, dep = ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep)
    spend(tape.n_op)
    return None if module.evaluate(code, consts, dep, tape.n_op, x, 0, value, bound) else (value, bound)


def _dimension(resolved: Expr, value: float, module: ModuleType) -> _Dimension | None:
    """Powers of the units, found by making each twice and four times as large; None where terms differ in them."""
    powers = []
    for name in sorted(symbols(resolved)):
        if not name.startswith(_UNIT) or value == 0:
            continue
        twice, again = (_value(resolved, {name: size}, module) for size in (2.0, 4.0))
        if twice is None or again is None or twice / value <= 0 or again / twice <= 0:
            return None
        power, once_more = math.log2(twice / value), math.log2(again / twice)
        if not abs(power - once_more) <= _VANISHED:
            return None
        if round(power, 6):
            powers.append((name, round(power, 6)))
    return tuple(powers)


@lru_cache(maxsize=_KEPT)
def _spread(member: Expr, beside: Expr, module: ModuleType) -> float:
    """How far a member moves, relative to itself, with each decimal half a unit in its last place off."""
    value = _value(with_units_resolved(member), {}, module)
    if not value:
        return 0.0
    whole = any(_half_unit(node) for node in walk(beside))  # 2.6 may be given as 3, but 5/2 is not 3
    lone = _lone_literal(member)
    moved = 0.0
    literals = dict.fromkeys(node for node in walk(member) if node.op == "num" and (_half_unit(node) or node is lone))
    for literal in list(literals)[:MAX_LITERALS]:
        half = _half_unit(literal) or (Fraction(1, 2) if whole else Fraction(0))
        if literal is not lone:
            half = _at_most_a_tenth(half, literal)
        near = _value(with_units_resolved(_moved(member, literal, half)), {}, module)
        moved += abs(near - value) if near is not None else abs(value)
    return moved / abs(value)


def _at_most_a_tenth(half: Fraction, literal: Expr) -> Fraction:
    """0.5 inside a calculation is a value, not a rounded 0.54."""
    return min(half, abs(literal.value or Fraction(0)) / 10)


def _moved(member: Expr, literal: Expr, by: Fraction) -> Expr:
    return substitute(member, {literal: number((literal.value or Fraction(0)) + by)})


def _half_unit(node: Expr) -> Fraction:
    """Half a unit in the last place of a decimal; 0 of a whole number."""
    digits, _, power = node.name.partition("e")
    if node.op != "num" or ("." not in digits and not power) or abs(int(power or 0)) > MAX_TEN_POWER:
        return Fraction(0)
    return Fraction(10) ** (int(power or 0) - len(digits.partition(".")[2])) / 2


def _lone_literal(member: Expr) -> Expr | None:
    """The one number of a member that is nothing but a number with its unit."""
    factors = member.args if member.op == "mul" else (member,)
    factors = tuple(factor.args[0] if factor.op == "neg" else factor for factor in factors)
    plain = [factor for factor in factors if not any(node.op == "unit" for node in walk(factor))]
    return plain[0] if len(plain) == 1 and plain[0].op == "num" else None


def _size_of_terms(member: Expr, module: ModuleType) -> float:
    """The largest term of a sum, in coherent SI; 1 for what is no sum."""
    if member.op not in ("add", "sub"):
        return 1.0
    values = [_value(with_units_resolved(term), {}, module) for term in member.args]
    return max((abs(value) for value in values if value is not None), default=1.0)


def _variants(member: Expr) -> tuple[Expr, ...]:
    """A member as it stands; with angles in degrees where they have no unit; with logarithms to base 10."""
    read = [member]
    for rule in (_in_degrees, _beside_degrees, _to_base_ten):
        read += [changed for one in tuple(read) if (changed := _rewritten(one, rule)) != one]
    return tuple(read)


def _rewritten(node: Expr, rule: Callable[[Expr], Expr]) -> Expr:
    """Every node under a rule, parents first: a bracket keeps what was written in it.

    Recursion is bounded by the parser's depth limit.
    """
    read = rule(node)
    args = tuple(_rewritten(arg, rule) for arg in read.args)
    return read if args == read.args else Expr(read.op, args, read.name, read.value)


def _in_degrees(node: Expr) -> Expr:
    if node.op not in _TRIG or any(part.op in ("unit", "const", "sym", *_INVERSE) for part in walk(node.args[0])):
        return node
    turned = Expr("div", (Expr("mul", (node.args[0], Expr("const", name=r"\pi"))), number(180)))
    return Expr(node.op, (turned,), node.name)


def _beside_degrees(node: Expr) -> Expr:
    """A sum of numbers and degrees with all of them in degrees: `180 - 88.9°`."""
    if node.op not in ("add", "sub"):
        return node
    powers = [power_of_degrees(arg) for arg in node.args]
    if not {0, 1} <= set(powers):
        return node
    degree = Expr("unit", name="deg")
    args = (Expr("mul", (arg, degree)) if power == 0 else arg for arg, power in zip(node.args, powers, strict=True))
    return Expr(node.op, tuple(args), node.name)


def _to_base_ten(node: Expr) -> Expr:
    return Expr("log10", node.args) if node.op == "ln" else node


def _all_below_slash(node: Expr) -> Expr:
    return _below_slash(node, len(node.args))


def _next_below_slash(node: Expr) -> Expr:
    return _below_slash(node, 1)


def _below_slash(node: Expr, most: int) -> Expr:
    r"""`L/(b - a)\pi`: what stands behind a slash may be meant below it; units are not."""
    first = next((k for k, arg in enumerate(node.args) if arg.op == "div"), len(node.args))
    behind = node.args[first + 1 :]
    moved = tuple(arg for arg in behind[:most] if not any(part.op == "unit" for part in walk(arg)))
    if node.op != "mul" or not moved:
        return node
    over, under = node.args[first].args
    quotient = Expr("div", (over, Expr("mul", (under, *moved))))
    kept = (*node.args[:first], quotient, *(arg for arg in behind if arg not in moved))
    return kept[0] if len(kept) == 1 else Expr("mul", kept)


def _with_slashes(left: Expr, right: Expr) -> list[_Members]:
    """Both members with what stands behind a slash below it, in one or both of them."""
    rules = (_next_below_slash, _all_below_slash)
    ones, others = ([member, *(_rewritten(member, rule) for rule in rules)] for member in (left, right))
    return [pair for pair in product(dict.fromkeys(ones), dict.fromkeys(others)) if pair != (left, right)]


def _with_italic_units(left: Expr, right: Expr, context: Context) -> tuple[Expr, Expr] | None:
    """The members with letters behind a number read as units, where that leaves no symbol (semantics U)."""
    read = [member if not symbols(member) else with_italic_units(member, context.declared) for member in (left, right)]
    one, other = read
    return None if one is None or other is None else (one, other)


# Given values ---------------------------------------------------------------------------------------------------


def _weigh_with_givens(left: Expr, right: Expr, context: Context, module: ModuleType) -> Link | None:
    """A number against symbols that are all given; None for anything else.

    Only with the unit that the givens lead to, or none: then it is this quantity that the number speaks of. A number
    without unit may be in any, and a lone symbol with another value may be the solution's own: they are not refuted.
    """
    if _is_numeric(left) == _is_numeric(right):
        return None
    symbolic = right if _is_numeric(left) else left
    if not symbols(symbolic) <= context.givens.keys():
        return None
    values = {symbol(name): _given(context.givens[name]) for name in symbols(symbolic)}
    one, other = (with_units_resolved(substitute(member, values)) for member in (left, right))
    sizes = [_value(member, {}, module) for member in (one, other)]
    if None in sizes:
        return None
    dimensions = [_dimension(member, size or 0.0, module) for member, size in zip((one, other), sizes, strict=True)]
    has_units = any(node.op == "unit" for node in walk(left if symbolic is right else right))
    if has_units and dimensions[0] != dimensions[1]:
        return Link("undecided", "units")
    found = _weigh_numbers(substitute(left, values), substitute(right, values), module)
    if found is None:
        return None
    is_open = symbolic.op == "sym" or (not has_units and dimensions[0] != dimensions[1])
    return (
        Link("undecided", "units")
        if found.status == "refuted" and is_open
        else Link(found.status, "givens", found.witness)
    )


def _given(text: str) -> Expr:
    """A given value as an expression with base units."""
    try:
        found = read_quantity(text)
    except PrismError as error:  # a context checks its givens when it is made
        raise AssertionError(text) from error
    units = [
        Expr("pow", (Expr("unit", name=name), number(power)))
        for name, power in zip(BASE_UNITS, found.dimension, strict=True)
        if power
    ]
    return Expr("mul", (number(found.value), *units)) if units else number(found.value)


# Forms ----------------------------------------------------------------------------------------------------------

_WITHOUT_VALUE = ("too_large", "too_few_points")


def _weigh_forms(left: Expr, right: Expr) -> Link | None:
    """Two members that cannot be evaluated: is one by its form a multiple of the other, as twice the same integral?"""
    factor = multiple_by_form(left, right) if symbols(left) else None
    if factor is None or abs(factor - 1) <= _MOST_BY_ROUNDING or not 1 / _LARGEST <= abs(factor) <= _LARGEST:
        return None
    said = f"the left is {float(factor):.6g} times the right"
    if any(canonical(one) == canonical(other) for one, other in _with_slashes(left, right)):
        return Link("undecided", "reading", said)
    return Link("refuted", "ratio", said)


# Symbols --------------------------------------------------------------------------------------------------------


def _weigh_ratio(left: Expr, right: Expr, context: Context, module: ModuleType) -> Link:
    """Two members with symbols that are not the same: is one a fixed multiple of the other?"""
    found = _ratio_of(with_units_resolved(left), with_units_resolved(right), context, module)
    if found.status != "refuted":
        return found
    readings = [*product(_variants(left), _variants(right)), *_with_slashes(left, right)]
    for one, other in readings[1:]:
        try:
            again = _ratio_of(with_units_resolved(one), with_units_resolved(other), context, module)
        except Mismatch:  # a vector below a slash: not what was meant
            continue
        if again.status == "confirmed" or again.reason == "rounding":
            return Link("undecided", "reading", found.witness)
    return found


def _ratio_of(left: Expr, right: Expr, context: Context, module: ModuleType) -> Link:
    if _vanishes(left) or _vanishes(right):
        return Link("undecided", "unsupported", "a sum that is 0 if products commute")
    one, other = worked_out(*with_calls(formula((left,), ()), formula((right,), ())))
    notation = notation_of(one, other, context)
    tapes = [tape_of(each.members[0], notation) for each in (one, other)]
    if set(tapes[0].names) - tapes[0].atoms.keys() != set(tapes[1].names) - tapes[1].atoms.keys():
        return Link("undecided", "other_variables")
    if tapes[0].atoms.keys() != tapes[1].atoms.keys():
        apart = tapes[0].atoms.keys() ^ tapes[1].atoms.keys()
        named = {name: construct for tape in tapes for name, construct in tape.atoms.items()}
        return Link("undecided", "unsupported", ", ".join(sorted({named[name] for name in apart})))
    if build_tape(_difference(one.members[0], other.members[0]), notation).n_op > MAX_OPS:
        return Link("undecided", "too_large")
    ratios = _ratios(one.members[0], other.members[0], notation, context, module)
    if len(ratios) < MIN_POINTS:
        return Link("undecided", "too_few_points")
    low, high = min(ratios), max(ratios)
    if not all(map(math.isfinite, ratios)) or high - low > SAME_RATIO * max(abs(low), abs(high)):
        return Link("undecided", "varying_ratio")
    if max(abs(low - 1), abs(high - 1)) <= _VANISHED:
        return Link("confirmed", "same_value")
    said = f"the left is {low:.6g} times the right"
    open_to = ROUNDED
    if abs(low - 1) <= _MOST_BY_ROUNDING:
        open_to += sum(_spread_of_ratio(each.members[0], notation, context, module) for each in (one, other))
    if abs(low - 1) <= open_to:
        return Link("undecided", "rounding", said)
    return Link("refuted", "ratio", said)


def _vanishes(member: Expr) -> bool:
    """Whether a sum in it is 0 as products of numbers: its letters are vectors or operators, `xp - px`."""
    return any(node.op in ("add", "sub") and symbols(node) and canonical(node) == "0" for node in walk(member))


def _ratios(
    left: Expr, right: Expr, notation: Notation, context: Context, module: ModuleType, *, n_draw: int = _DRAWS
) -> list[float]:
    """Left over right at the draws where both have a value that is told from its rounding.

    NaN where one is no multiple of the other. Both come from one tape, left minus t times right at t = 0 and t = 1: so
    the components of vectors and the two parts of complex numbers stand in the same order.
    """
    tape = build_tape(_difference(left, right), notation)
    samplings = samplings_of((tape,), context)
    table = {name: draws(name, sampling, context.digest, _DRAWS) for name, sampling in samplings.items()}
    sums = _sums_of(tape)
    ratios = []
    for d in range(n_draw):
        at = {name: values[d] for name, values in table.items()}
        found = [_evaluated(tape, {**at, _TIMES: t}, module) for t in (0.0, 1.0)]
        if any(each is None or _hides_a_term(sums, each[0]) for each in found):
            continue
        ones, less = ([(float(each[0][k]), float(each[1][k])) for k in tape.roots] for each in found if each)
        others = [(a - b, e + f) for (a, e), (b, f) in zip(ones, less, strict=True)]
        sizes = [max(abs(value) for value, _ in side) for side in (ones, others)]
        noise = max(bound for side in (ones, others) for _, bound in side)
        if min(sizes) <= _INFORMATIVE * noise:
            continue
        pairs = [(a / sizes[0], b / sizes[1]) for (a, _), (b, _) in zip(ones, others, strict=True)]
        ratio = sum(a * b for a, b in pairs) / sum(b * b for _, b in pairs)
        off = max(abs(a - ratio * b) for a, b in pairs)
        ratios.append(ratio * (sizes[0] / sizes[1]) if off <= SAME_RATIO else math.nan)
    return ratios


def _difference(left: Expr, right: Expr) -> Expr:
    """Left minus t times right: what both have, such as the same integral, is worked out once in its tape."""
    return Expr("sub", (left, Expr("mul", (symbol(_TIMES), right))))


def _sums_of(tape: Tape) -> list[tuple[int, int]]:
    """Operands of every sum and difference that is written; a quadrature's are not."""
    if tape.is_estimate:
        return []
    words = ((int(word) for word in tape.code[3 * k : 3 * k + 3]) for k in range(tape.n_op))
    return [(a, b) for opcode, a, b in words if opcode in (source.ADD, source.SUB)]


def _hides_a_term(sums: list[tuple[int, int]], value: Any) -> bool:
    """Whether a term of a sum is too small to be seen beside the other: `1.5 GeV^2 - x^2` at any x drawn is -x^2."""
    for a, b in sums:
        low, high = sorted((abs(value[a]), abs(value[b])))
        if 0 < low < _HIDDEN * high:
            return True
    return False


def _spread_of_ratio(member: Expr, notation: Notation, context: Context, module: ModuleType) -> float:
    """How far a member moves, relative to itself, with each decimal half a unit in its last place off."""
    moved = 0.0
    literals = dict.fromkeys(node for node in walk(member) if _half_unit(node))
    for literal in list(literals)[:MAX_LITERALS]:
        near = _moved(member, literal, _at_most_a_tenth(_half_unit(literal), literal))
        ratios = _ratios(near, member, notation, context, module, n_draw=_FEW_DRAWS)
        moved += max((abs(ratio - 1) for ratio in ratios if not math.isnan(ratio)), default=0.0)
    return moved

r"""Decide whether two neighbours of a chain are equal: `b` and `c` of `a = b = c` (semantics C.1).

A link is *confirmed* where both members are numbers that agree, or are the same whatever their symbols are; *refuted*
where both are numbers that agree under no reading of their units, or where both move alike with the same symbols and
one is a fixed multiple of the other: a lost factor, a sign; *approximate* where one is a series of the other, cut off
(`truncated_series`). Everything else is *undecided*: members with different symbols state a law or substitute values,
and that is for the problem to judge, not for the chain.

A refuted link takes credit from a solution, so every doubt is in its favour. A missing unit may be that of the other
member, with or without its prefix, coherent SI or coherent cgs; written digits may be rounded; an angle without a unit
may be in degrees, and whole turns do not count; a logarithm may be to base 10; what stands behind a slash may be meant
below it. Refused: a tolerance for ratios wide enough for all rounding (a lost 1.05 is a lost factor); each written
decimal is moved by half a unit in its last place instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from types import ModuleType

from prism.algebra.calculus import evaluate_operations
from prism.algebra.expr import Expr, canonical, formal_ratio, formula, number, substitute, symbol, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.budget import PAIR, remembered, share
from prism.engine.kernels import active_kernels
from prism.engine.lowering import Mismatch, build_tape
from prism.engine.tape import TapeTooLarge
from prism.engine.zero_set import tape_of
from prism.equivalence.chains.member_values import (
    MIN_POINTS,
    SAME_RATIO,
    VANISHED,
    Dimension,
    largest_term,
    lone_literal,
    prefix_value,
    ratios_at_draws,
    rounding_spread,
    rounding_spread_of_ratio,
    scaled_difference,
    unit_powers,
    value_of,
)
from prism.equivalence.chains.truncated_series import truncated_series
from prism.equivalence.matching import equivalent
from prism.equivalence.notation.angles import angle_from_degrees
from prism.equivalence.notation.choice import notation_of, with_matching_calls
from prism.equivalence.numbers.known_values import degree_exponent
from prism.equivalence.numbers.stated import rational_value, stated_number
from prism.equivalence.points.zero_sets import is_identity
from prism.errors import PrismError
from prism.physics.context import Context
from prism.physics.italic_units import italic_units_as_quantity
from prism.physics.quantities import read_quantity, resolve_units
from prism.physics.tables import BASE_UNITS

NUMBERS_AGREE = 0.05  # relative, of two numbers in a chain; every step of a calculation is rounded (semantics C.1)
ROUNDED = 0.01  # of a constant ratio: coefficients are rounded too, and 3.14 stands for pi
MAX_OPS = 4000  # instructions of two members whose ratio is taken: they are evaluated some hundred times
LINKS_KEPT = 4096  # links that a process remembers: the solutions of a problem have the same chains

REASONS = {
    "same_form": "they are the same but for order and arithmetic",
    "same_value": "they are the same whatever the symbols are",
    "same_number": "the numbers agree",
    "givens": "the given values decide it",
    "apart": "the numbers differ under every reading of their units",
    "ratio": "one is a fixed multiple of the other",
    "other_variables": "they have different symbols: a law, or values put in",
    "truncated_series": "one is a series of the other, cut off behind its last term",
    "varying_ratio": "they have the same symbols, and neither is a multiple of the other",
    "rounding": "they differ by no more than the written digits may",
    "units": "the units do not settle it",
    "turns": "they are angles that differ by whole turns",
    "reading": "they agree in another reading of a slash, an angle or a logarithm",
    "unsupported": "a construct that has no value at a point",
    "too_few_points": "not enough points at which both have a value",
    "too_large": "beyond the limits on size",
}
"""Every reason a link can have, in words. Closed: `Link` refuses any other."""

_INVERSE = frozenset(("asin", "acos", "atan"))
_NO_NUMBER = frozenset(("list", "tuple", "set", "interval", "pm", "blank", "dots", "relation"))  # no single number
_CYCLES = frozenset(
    ("Hz", "kHz", "MHz", "GHz", "THz", "rpm", "rev", "revolution", "revolutions", "turn", "turns", "cycles")
)
_METRE, _SECOND = r"\unit{m}", r"\unit{s}"
_MOST_BY_ROUNDING = 0.3  # of a ratio; beyond, the decimals need not be moved
_PERIODIC = frozenset(("sin", "cos", "tan"))
_NOISE = 1e-12  # what floating point leaves of their zeros
_HALF_DECADE = 0.5  # an order of magnitude is rounded to a whole power of ten
_MOST_PREFIXED = 6  # powers of a thousand: from atto to exa
_WITH_DUMMIES = frozenset(("integral", "sum", "product", "limit"))
_SUBJECTS = (r"\link", r"\vec{\link}")  # names that no LaTeX spells, of what is set to a member
_LIGHT = 299792458.0  # [m/s]
_LARGEST = Fraction(10**12)  # of a factor between two forms; a larger one is no slip, and may be no float
_RANK = {"confirmed": 0, "undecided": 1, "refuted": 2}
_CGS = {r"\unit{m}": 100.0, r"\unit{kg}": 1000.0}


@dataclass(frozen=True, slots=True)
class Link:
    """The decision whether two neighbouring members of a chain, such as b and c of `a = b = c`, are equal.

    Attributes:
        status: `confirmed`, `refuted`, `approximate` or `undecided`.
        reason: a key of `REASONS`.
        witness: for a person: both values, or the ratio.
    """

    status: str
    reason: str
    witness: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a reason that is not in REASONS."""
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is not a reason; reasons are {', '.join(REASONS)}")


@remembered(LINKS_KEPT)
def check_link(left: Expr, right: Expr, context: Context) -> Link:
    r"""Decide whether two neighbouring members of a chain are equal: one of the statuses of a `Link`. Cached.

    Args:
        left, right: members as parsed, units and all.
        context: of the problem: kinds of symbols, givens; its digest keys the random generator.

    Returns:
        Link. Never raises on a student's formula.

    >>> from prism.latex import parse
    >>> chain = parse(r"E = \frac12 m (2v)^2 = 2 m v^2 = m v^2 = 3 \times 5 = 15.1 = 16\unit{J}").members
    >>> [check_link(*pair, Context()).status for pair in zip(chain, chain[1:])][:3]
    ['undecided', 'confirmed', 'refuted']
    >>> check_link(chain[4], chain[5], Context()).witness
    '15 and 15.1, 0.66 % apart'
    """
    with share(PAIR) as account:
        try:
            found = _compare_members(left, right, context)
        except TapeTooLarge as error:
            found = Link("undecided", "too_large", str(error))
        except Mismatch as error:
            found = Link("undecided", "unsupported", str(error))
        if found.reason == "unsupported" and _are_one_value(left, right, context):
            found = Link("confirmed", "same_value")
    if account.is_exhausted:
        found = Link("undecided", "too_large", f"more than {PAIR} operations")
    if found.reason == "unsupported" and free_names(left) != free_names(right):
        return Link("undecided", "other_variables")
    return (_compare_without_values(left, right) or found) if found.reason in _WITHOUT_VALUE else found


def _compare_members(left: Expr, right: Expr, context: Context) -> Link:
    """Decide whether two members are equal: by form, as numbers, by given values, as formulas, then by their ratio.

    Raises TapeTooLarge or Mismatch where the engine cannot evaluate a member.
    """
    if canonical(left) == canonical(right):
        return Link("confirmed", "same_form")
    kernel = active_kernels()
    found = _compare_numbers(left, right, kernel)
    if found is None:  # with italic letters behind a number as units, `5 m` (semantics U.4)
        one, other = (
            italic_units_as_quantity(each, context.declared) if symbols(each) else each for each in (left, right)
        )
        found = _compare_numbers(one, other, kernel) if one and other else None
        if found is not None and found.status != "confirmed":
            return Link("undecided", "units", found.witness)  # that the letters are units was a guess
    if found is None and context.givens:
        found = _compare_with_givens(left, right, context, kernel)
    if found is not None:
        return found
    verdict = equivalent(formula((left,), ()), formula((right,), ()), context=context)
    if verdict.status == "equivalent":
        return Link("confirmed", "same_value", "; ".join(verdict.readings))
    if is_identity(formula((resolve_units(left), resolve_units(right)), ("=",)), context):
        return Link("confirmed", "same_value")  # with a symbol or a differential that one side has and that cancels
    return _compare_by_ratio(left, right, context, kernel)


def _are_one_value(left: Expr, right: Expr, context: Context) -> bool:
    r"""Return True if a quantity, or a vector, that is set to the one member equals one that is set to the other.

    Rules of vectors, fields and means take equations: `\nabla\cdot(\nabla\times\vec A) = 0`.
    """
    return any(
        equivalent(*(formula((symbol(name), member), ("=",)) for member in (left, right)), context=context).status
        == "equivalent"
        for name in _SUBJECTS
    )


# Numbers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Number:
    """All values that a numeric member of a chain, such as `2 m/s + 3 km/h`, may mean.

    Attributes:
        coherent: values in coherent SI; two where degrees may be a temperature or a difference.
        plain: values as written, with units left out; in units without prefix; in coherent cgs.
        dimension: units and their powers, by name; None where terms of different dimension are added.
        units: names of the units that are written.
        is_angle: it is the value of an inverse trigonometric function.
        is_lone: one number, perhaps with a unit, and nothing to calculate.
    """

    coherent: tuple[float, ...]
    plain: tuple[float, ...]
    dimension: Dimension | None
    units: frozenset[str]
    is_angle: bool
    is_lone: bool


_Members = tuple[Expr, Expr]


def _compare_numbers(left: Expr, right: Expr, kernel: ModuleType) -> Link | None:
    """Decide whether two numeric members are equal, by the readings that agree best; None if a member is no number.

    A reading takes an angle in degrees, a logarithm to base 10, or a missing unit. A refutation becomes undecided if
    the numbers agree with factors behind a slash moved below it.
    """
    if not (_is_numeric(left) and _is_numeric(right)):
        return None
    links: list[Link] = []
    for one_member, other_member in product(_angle_and_log_readings(left), _angle_and_log_readings(right)):
        one, other = _number_of(one_member, kernel), _number_of(other_member, kernel)
        if one is None or other is None:
            return None
        links += [
            _compare_values(*pair, (one, other), (one_member, other_member), kernel)
            for pair in _comparable_values(one, other)
        ]
    best = min(links, key=lambda each: _RANK[each.status])
    if best.status == "refuted" and any(_agree_as_numbers(*pair, kernel) for pair in _slash_readings(left, right)):
        return Link("undecided", "reading", best.witness)
    return best


def _agree_as_numbers(left: Expr, right: Expr, kernel: ModuleType) -> bool:
    """Return True if two members are numbers that agree under some reading of a unit that only one of them has.

    They agree within NUMBERS_AGREE or what their rounding allows. False if one is no number.
    """
    one, other = _number_of(left, kernel), _number_of(right, kernel)
    if one is None or other is None:
        return False
    found = (_compare_values(*pair, (one, other), (left, right), kernel) for pair in _comparable_values(one, other))
    return any(each.status == "confirmed" for each in found)


def _compare_values(
    a: float, b: float, numbers: tuple[_Number, _Number], members: _Members, kernel: ModuleType
) -> Link:
    """Decide whether two values are equal within rounding, undecided wherever a doubt excuses the difference.

    Args:
        a, b: values that the left and the right member may mean.
        numbers: both members with all their values.
        members: both members as expressions.
    """
    witness = f"{a:.6g} and {b:.6g}, {100 * _relative_difference(a, b):.2g} % apart"
    one, other = members
    exact, counted = _whole_value(one), _whole_value(other)
    if exact is not None and counted is not None and exact != counted:
        return _compare_whole_numbers(exact, counted, members, witness)
    if _relative_difference(a, b) <= NUMBERS_AGREE:
        is_worked_out = a == b or any(member.op != "num" for member in members)  # `7 = 7.3` works nothing out
        return Link("confirmed", "same_number", witness) if is_worked_out else Link("undecided", "rounding", witness)
    if 0.0 in (a, b):
        member, value = (one, a) if b == 0 else (other, b)
        terms = largest_term(member, kernel)
        noise = 1.0 if any(node.op in _PERIODIC for node in walk(member)) else 0.0  # of sin(pi), which is no 0
        if abs(value) <= max(VANISHED * terms, noise * _NOISE):
            return Link("confirmed", "same_number", witness)
        if abs(value) <= NUMBERS_AGREE * terms or member.op not in ("add", "sub"):
            return Link("undecided", "rounding", witness)
        return Link("refuted", "apart", witness)
    if abs(a - b) < rounding_spread(one, other, kernel) * abs(a) + rounding_spread(other, one, kernel) * abs(b):
        return Link("undecided", "rounding", witness)
    if any(_is_order_of_magnitude(member) for member in members) and abs(_decades_between(a, b)) < _HALF_DECADE:
        return Link("undecided", "rounding", witness)
    if all(map(_is_written_as_angle, members)) and _is_near_integer((a - b) / (2 * math.pi)):
        return Link("undecided", "turns", witness)
    if not _are_comparable(*numbers) or _may_lack_prefix(a, b, *numbers):
        return Link("undecided", "units", witness)
    return Link("refuted", "apart", witness)


def _whole_value(member: Expr) -> Fraction | None:
    """Return the exact value of a calculation with whole numbers alone; None if there is a decimal or anything else."""
    numbers = [node.name for node in walk(member) if node.op == "num"]
    return None if any("." in name or "e" in name for name in numbers) else rational_value(member)


def _compare_whole_numbers(a: Fraction, b: Fraction, members: _Members, witness: str) -> Link:
    """Decide on two calculations with whole numbers of different value: a quotient may be rounded, all else is wrong.

    Source: semantics C.1.

    Args:
        a, b: their exact values.
        members: the calculations.
        witness: of the link.
    """
    is_near_in_size = a * b > 0 and Fraction(1, 3) < a / b < 3  # half a decade
    is_near = abs(a - b) <= Fraction(1, 2) and _relative_difference(float(a), float(b)) <= NUMBERS_AGREE
    is_rounded = is_near and {1} != {a.denominator, b.denominator}
    is_rounded |= is_near_in_size and any(map(_is_order_of_magnitude, members))
    return Link("undecided", "rounding", witness) if is_rounded else Link("refuted", "apart", witness)


def _is_written_as_angle(member: Expr) -> bool:
    """Return True if a member contains pi, another constant, degrees or radians."""
    return any(node.op == "const" or (node.op == "unit" and node.name in ("deg", "rad")) for node in walk(member))


def _is_near_integer(value: float) -> bool:
    """Return True if a value is an integer but for floating-point rounding."""
    return abs(value - round(value)) <= VANISHED * max(abs(value), 1.0)


def _are_comparable(one: _Number, other: _Number) -> bool:
    """Return False for units of different dimensions, 26.9 MeV and 0.0289 u, and a conversion, `1 cm = 10`."""
    if one.units and other.units:
        return one.dimension == other.dimension is not None
    return not (one.is_lone and other.is_lone and (one.units or other.units))


def _may_lack_prefix(a: float, b: float, one: _Number, other: _Number) -> bool:
    """Return True if a and b agree but for a power of 1000, and only one number has units: km may be meant for m.

    Args:
        a, b: values of `one` and `other`; only their values in SI are considered.
    """
    with_unit = one if one.units else other
    is_coherent = a in one.coherent and b in other.coherent
    if bool(one.units) == bool(other.units) or not with_unit.dimension or not is_coherent:
        return False
    decades = _decades_between(a, b)
    power = round(decades / 3) if math.isfinite(decades) else 0
    return 0 < abs(power) <= _MOST_PREFIXED and _relative_difference(a, b * math.pow(1000, power)) <= NUMBERS_AGREE


def _decades_between(a: float, b: float) -> float:
    """Return log10(a / b) of two nonzero numbers; infinity if their signs differ."""
    return math.log10(abs(a)) - math.log10(abs(b)) if (a > 0) == (b > 0) else math.inf


def _is_order_of_magnitude(member: Expr) -> bool:
    """Return True if a member is a power of ten, perhaps with a unit, as in `1.3e27 = 10^{27}`."""
    head, *others = member.args if member.op == "mul" else (member,)
    is_power = head.op == "pow" and head.args[0] == number(10)
    return is_power and all(any(node.op == "unit" for node in walk(each)) for each in others)


def _relative_difference(a: float, b: float) -> float:
    """Return |a - b| divided by the larger absolute value; 0 if both are 0."""
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))


def _comparable_values(one: _Number, other: _Number) -> Iterator[tuple[float, float]]:
    """Yield the pairs (value of `one`, value of `other`) to be compared, for every unit that may be missing.

    Also with turns (rpm) as 2 pi rad, mass as energy by c, and the result of an inverse sine in degrees.
    """
    if one.units and other.units and one.dimension == other.dimension is not None:
        yield from product(one.coherent, other.coherent)
        if bool(one.units & _CYCLES) != bool(other.units & _CYCLES):  # 1200 rpm is 125.7 rad/s (semantics U.5)
            yield from ((2 * math.pi * a, b) for a in one.coherent for b in other.coherent)
            yield from ((a, 2 * math.pi * b) for a in one.coherent for b in other.coherent)
        return
    if one.units and other.units:
        if (factor := _mass_energy_factor(one, other)) is not None:
            yield from ((factor * a, b) for a in one.coherent for b in other.coherent)
        else:
            yield one.coherent[0], other.coherent[0]
        return
    yield from product((*one.coherent, *one.plain), (*other.coherent, *other.plain))
    if one.is_angle and not other.units:
        yield from ((math.degrees(a), b) for a in one.coherent for b in other.coherent)
    if other.is_angle and not one.units:
        yield from ((a, math.degrees(b)) for a in one.coherent for b in other.coherent)


def _mass_energy_factor(one: _Number, other: _Number) -> float | None:
    """Return the power of c that converts the dimension of `one` to that of `other`: c^2 from mass to energy.

    None if their dimensions do not differ by a factor c or c^2, or its inverse.
    """
    if one.dimension is None or other.dimension is None:
        return None
    ones, others = dict(one.dimension), dict(other.dimension)
    apart = {name: by for name in ones | others if (by := others.get(name, 0.0) - ones.get(name, 0.0))}
    power = apart.get(_METRE, 0.0)
    if abs(power) not in (1.0, 2.0) or apart != {_METRE: power, _SECOND: -power}:
        return None
    return math.pow(_LIGHT, power)


def _is_numeric(member: Expr) -> bool:
    """Return True if a member is a number, perhaps with units: no symbols but those bound by a sum or integral."""
    if any(node.op in _NO_NUMBER for node in walk(member)):
        return False
    return all(symbol_of(name).is_unit for name in tape_of(resolve_units(member)).names)


def _number_of(member: Expr, kernel: ModuleType) -> _Number | None:
    """Evaluate a numeric member: units in SI, in cgs, without their prefixes, and left out; None if it has no value."""
    resolved = resolve_units(member)
    value = value_of(resolved, {}, kernel)
    if value is None:
        return None
    units = frozenset(node.name for node in walk(member) if node.op == "unit")
    difference = value_of(resolve_units(member, difference=True), {}, kernel)
    ones = {Expr("unit", name=name): number(1) for name in units}
    prefixes = {Expr("unit", name=name): number(prefix_value(name)) for name in units}
    stripped, without_prefix = (value_of(substitute(member, each), {}, kernel) for each in (ones, prefixes))
    if member.op == "add" and (stated := stated_number(member)) is not None:  # `2 h + 30 min`, in hours
        stripped = float(stated.value)
    return _Number(
        coherent=(value,) if difference in (None, value) else (value, difference),
        plain=tuple(x for x in (stripped, without_prefix, value_of(resolved, _CGS, kernel)) if x is not None),
        dimension=unit_powers(resolved, value, kernel),
        units=units,
        is_angle=any(node.op in _INVERSE for node in walk(member)),
        is_lone=lone_literal(member) is not None,
    )


def _angle_and_log_readings(member: Expr) -> tuple[Expr, ...]:
    """Return the meanings of a member: as written, with angles without unit in degrees, with `log` to base 10."""
    read = [member]
    for rule in (angle_from_degrees, _sum_in_degrees, _natural_log_as_base_ten):
        read += [changed for one in tuple(read) if (changed := _rewrite_nodes(one, rule)) != one]
    return tuple(read)


def _rewrite_nodes(node: Expr, rule: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with a rule applied to every node, parents before their arguments.

    Recursion is bounded by the parser's depth limit.
    """
    read = rule(node)
    args = tuple(_rewrite_nodes(arg, rule) for arg in read.args)
    return read if args == read.args else Expr(read.op, args, read.name, read.value)


def _sum_in_degrees(node: Expr) -> Expr:
    """Return a sum with its plain numbers in degrees if a term is in degrees: `180 - 88.9°`; other nodes unchanged."""
    if node.op not in ("add", "sub"):
        return node
    powers = [degree_exponent(arg) for arg in node.args]
    if not {0, 1} <= set(powers):
        return node
    degree = Expr("unit", name="deg")
    args = (Expr("mul", (arg, degree)) if power == 0 else arg for arg, power in zip(node.args, powers, strict=True))
    return Expr(node.op, tuple(args), node.name)


def _natural_log_as_base_ten(node: Expr) -> Expr:
    """Return a natural logarithm as one to base 10; any other node unchanged."""
    return Expr("log10", node.args) if node.op == "ln" else node


def _move_all_below_slash(node: Expr) -> Expr:
    """Return the product `a/b c d` as `a/(b c d)`; other nodes, and units, stay as they are."""
    return _move_below_slash(node, len(node.args))


def _move_next_below_slash(node: Expr) -> Expr:
    """Return the product `a/b c d` as `a/(b c) d`; other nodes, and units, stay as they are."""
    return _move_below_slash(node, 1)


def _move_below_slash(node: Expr, most: int) -> Expr:
    r"""Return a product with up to `most` factors behind its first quotient moved into the denominator, except units.

    `L/(b - a)\pi` may be meant as `L/((b - a)\pi)`. Other nodes stay as they are.
    """
    first = next((k for k, arg in enumerate(node.args) if arg.op == "div"), len(node.args))
    behind = node.args[first + 1 :]
    moved = tuple(arg for arg in behind[:most] if not any(part.op == "unit" for part in walk(arg)))
    if node.op != "mul" or not moved:
        return node
    over, under = node.args[first].args
    quotient = Expr("div", (over, Expr("mul", (under, *moved))))
    kept = (*node.args[:first], quotient, *(arg for arg in behind if arg not in moved))
    return kept[0] if len(kept) == 1 else Expr("mul", kept)


def _slash_readings(left: Expr, right: Expr) -> list[_Members]:
    """Return pairs (left, right) with factors behind a slash moved below it in one or both: `a/b c` as `a/(b c)`."""
    rules = (_move_next_below_slash, _move_all_below_slash)
    ones, others = ([member, *(_rewrite_nodes(member, rule) for rule in rules)] for member in (left, right))
    return [pair for pair in product(dict.fromkeys(ones), dict.fromkeys(others)) if pair != (left, right)]


# Given values ---------------------------------------------------------------------------------------------------


def _compare_with_givens(left: Expr, right: Expr, context: Context, kernel: ModuleType) -> Link | None:
    """Decide whether a number equals an expression whose symbols all have given values: `m g = 9.8 N` with m = 1 kg.

    None if the two members are not such a pair. Undecided if the units differ; also, in place of refuted, if the number
    has no unit but should have one, or the expression is a lone symbol, which may mean something else in the solution.
    """
    if _is_numeric(left) == _is_numeric(right):
        return None
    symbolic = right if _is_numeric(left) else left
    if not symbols(symbolic) <= context.givens.keys():
        return None
    values = {symbol(name): _given_as_expression(context.givens[name]) for name in symbols(symbolic)}
    one, other = (resolve_units(substitute(member, values)) for member in (left, right))
    sizes = [value_of(member, {}, kernel) for member in (one, other)]
    if None in sizes:
        return None
    dimensions = [unit_powers(member, size or 0.0, kernel) for member, size in zip((one, other), sizes, strict=True)]
    has_units = any(node.op == "unit" for node in walk(left if symbolic is right else right))
    if has_units and dimensions[0] != dimensions[1]:
        return Link("undecided", "units")
    found = _compare_numbers(substitute(left, values), substitute(right, values), kernel)
    if found is None:
        return None
    is_open = symbolic.op == "sym" or (not has_units and dimensions[0] != dimensions[1])
    if found.status == "refuted" and is_open:
        return Link("undecided", "units")
    return Link(found.status, "givens", found.witness)


def _given_as_expression(text: str) -> Expr:
    """Convert the text of a given value, such as `5 km`, to an expression in base units, `5000 m`.

    The text is a given of the problem; any other raises AssertionError.
    """
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


def free_names(member: Expr) -> frozenset[str]:
    """Return the symbols and unknown functions of a member, without the dummies of its integrals, sums and limits."""
    if member.op == "sym":
        return frozenset((member.name,))
    if member.op in _WITH_DUMMIES and len(member.args) > 1:
        body, dummy, *bounds = member.args
        return (free_names(body) - symbols(dummy)).union(*map(free_names, bounds))
    own = frozenset((member.name,)) if member.op == "apply" else frozenset()
    return own.union(*map(free_names, member.args))


# Forms ----------------------------------------------------------------------------------------------------------

_WITHOUT_VALUE = ("too_large", "too_few_points")


def _compare_without_values(left: Expr, right: Expr) -> Link | None:
    r"""Refute two members of which one is written as a multiple of the other, such as `2 \int f dx` and `\int f dx`.

    For members that could not be evaluated. Undecided if they agree with a factor moved below a slash; None if neither
    is a multiple of the other, or the factor is near 1.
    """
    factor = formal_ratio(left, right) if symbols(left) else None
    if factor is None or abs(factor - 1) <= _MOST_BY_ROUNDING or not 1 / _LARGEST <= abs(factor) <= _LARGEST:
        return None
    witness = f"the left is {float(factor):.6g} times the right"
    if any(canonical(one) == canonical(other) for one, other in _slash_readings(left, right)):
        return Link("undecided", "reading", witness)
    return Link("refuted", "ratio", witness)


# Symbols --------------------------------------------------------------------------------------------------------


def _compare_by_ratio(left: Expr, right: Expr, context: Context, kernel: ModuleType) -> Link:
    """Refute two members with symbols if one is a fixed multiple of the other, such as `2 m v` and `m v`.

    Undecided if angles in degrees, logarithms to base 10, or factors moved below a slash make them agree.
    """
    found = _compare_one_reading_by_ratio(resolve_units(left), resolve_units(right), context, kernel)
    if found.status != "refuted":
        return found
    readings = [*product(_angle_and_log_readings(left), _angle_and_log_readings(right)), *_slash_readings(left, right)]
    for one, other in readings[1:]:
        try:
            again = _compare_one_reading_by_ratio(resolve_units(one), resolve_units(other), context, kernel)
        except Mismatch:  # a vector below a slash: not what was meant
            continue
        if again.status == "confirmed" or again.reason == "rounding":
            return Link("undecided", "reading", found.witness)
    return found


def _compare_one_reading_by_ratio(left: Expr, right: Expr, context: Context, kernel: ModuleType) -> Link:
    """Decide whether two members are equal by their ratio at random points: confirmed if it is 1 at all of them.

    Refuted if it is another constant beyond rounding, approximate if one member is a cut-off series of the other;
    undecided if the ratio varies otherwise, symbols differ, or values are missing.
    """
    if _has_vanishing_sum(left) or _has_vanishing_sum(right):
        return Link("undecided", "unsupported", "a sum that is 0 if products commute")
    one, other = evaluate_operations(*with_matching_calls(formula((left,), ()), formula((right,), ())))
    notation = notation_of(one, other, context)
    tapes = [tape_of(each.members[0], notation) for each in (one, other)]
    if set(tapes[0].names) - tapes[0].atoms.keys() != set(tapes[1].names) - tapes[1].atoms.keys():
        return Link("undecided", "other_variables")
    if tapes[0].atoms.keys() != tapes[1].atoms.keys():
        apart = tapes[0].atoms.keys() ^ tapes[1].atoms.keys()
        named = {name: construct for tape in tapes for name, construct in tape.atoms.items()}
        return Link("undecided", "unsupported", ", ".join(sorted({named[name] for name in apart})))
    if build_tape(scaled_difference(one.members[0], other.members[0]), notation).n_op > MAX_OPS:
        return Link("undecided", "too_large")
    ratios = ratios_at_draws(one.members[0], other.members[0], notation, context, kernel)
    if len(ratios) < MIN_POINTS:
        return Link("undecided", "too_few_points")
    low, high = min(ratios), max(ratios)
    if not all(map(math.isfinite, ratios)) or high - low > SAME_RATIO * max(abs(low), abs(high)):
        found = truncated_series(one.members[0], other.members[0], notation, context, kernel)
        return Link("approximate", "truncated_series", found) if found else Link("undecided", "varying_ratio")
    if max(abs(low - 1), abs(high - 1)) <= VANISHED:
        return Link("confirmed", "same_value")
    witness = f"the left is {low:.6g} times the right"
    open_to = ROUNDED
    if abs(low - 1) <= _MOST_BY_ROUNDING:
        open_to += sum(rounding_spread_of_ratio(each.members[0], notation, context, kernel) for each in (one, other))
    if abs(low - 1) <= open_to:
        return Link("undecided", "rounding", witness)
    return Link("refuted", "ratio", witness)


def _has_vanishing_sum(member: Expr) -> bool:
    """Return True if a sum in a member is 0 for numbers, so that its symbols must be operators: `xp - px`."""
    return any(node.op in ("add", "sub") and symbols(node) and canonical(node) == "0" for node in walk(member))

r"""Restating a claim is not taking it back: `x = \frac35 = 0.6` says no second value of x (semantics C.2).

A statement restates an earlier one of the same quantity if its value is the earlier one, rounded or cut off at the last
place of one number that it writes: `70.5^\circ` behind `\arccos\frac13`, `8` mm behind 7.91 mm, `1.4\sqrt{gh}` behind
`\sqrt{2gh}`. Rounded are decimals, powers of ten, numbers with a unit, and what stands behind an approximate sign; all
other whole numbers are exact. What is rounded is compared with a statement that matches the node, not with its
neighbour, so that no chain of small steps leads from one value to another; and it earns nothing by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType

from prism.algebra.calculus import evaluate_operations
from prism.algebra.expr import Expr, Formula, canonical, formula, number, substitute, symbols, walk
from prism.budget import PAIR, remembered, share
from prism.engine.kernels import active_kernels
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.chains.member_values import (
    MAX_LITERALS,
    MIN_POINTS,
    half_last_place,
    lone_literal,
    ratios_at_draws,
    unit_powers,
    value_of,
    with_literal_moved,
)
from prism.equivalence.notation.choice import notation_of, with_matching_calls
from prism.equivalence.statements import Statement
from prism.physics.context import Context
from prism.physics.quantities import resolve_units

RESTATEMENTS_KEPT = 1024  # comparisons that a process remembers: the nodes of a problem ask for the same ones
ROUNDED_UP = Fraction(51, 100)  # of the last place: the most by which a number is more than what it was rounded from
_OUTSIDE = {">": -1, ">=": -1, "<": 1, "<=": 1}  # the side of a bound on which a value contradicts it
_CUT_OFF = 1  # of the last place: the most by which it is less, if its further digits are left out


def restates(later: Statement, earlier: Statement, context: Context) -> bool:
    r"""Return True if a statement says of the same quantity what an earlier one says, rounded at one last place.

    Args:
        later, earlier: statements of a solution.
        context: of the problem: kinds of symbols; its digest keys the random generator.

    >>> from prism.latex import parse
    >>> exact, same, other = (Statement(parse(text)) for text in (r"v = \sqrt2 u", "v = 1.4 u", "v = 1.6 u"))
    >>> restates(same, exact, Context()), restates(other, exact, Context())
    (True, False)
    """
    one, other = later.formula, earlier.formula
    if one.kind != "equation" or other.kind != "equation":
        return False
    for k in (0, 1):
        if canonical(one.members[k]) == canonical(other.members[k]):
            return _is_rounded(one.members[1 - k], other.members[1 - k], context, later.is_rounded)
    return False


def shuts_out(bound: Formula, equation: Formula, context: Context) -> bool:
    r"""Return True if an inequality leaves no room for an equation solved for the same quantity.

    >>> from prism.latex import parse
    >>> value = parse(r"v = \sqrt{2gh}")
    >>> [shuts_out(parse(rf"v > {text}"), value, Context()) for text in (r"2\sqrt{2gh}", r"\sqrt{gh}")]
    [True, False]
    """
    if equation.kind != "equation" or canonical(bound.members[0]) != canonical(equation.members[0]):
        return False
    return _side_of_bound(equation.members[1], bound.members[1], context) == _OUTSIDE.get(bound.relations[0], 0) != 0


@remembered(RESTATEMENTS_KEPT)
def _side_of_bound(value: Expr, bound: Expr, context: Context) -> int:
    """Return -1 if a value is less than a bound at all points, 1 if it is more, in absolute value; else 0."""
    kernel = active_kernels()
    with share(PAIR) as account:
        try:
            is_number = not symbols(value) | symbols(bound)
            side = _side_of_number(value, bound, kernel) if is_number else _side_of_one(value, bound, context, kernel)
        except (TapeTooLarge, Mismatch):
            return 0
    return 0 if account.is_exhausted else side


def _side_of_number(number: Expr, bound: Expr, kernel: ModuleType) -> int:
    """Return -1 if a number is less than a bound of its sign and unit, or of none, 1 if it is more; else 0."""
    units = [any(node.op == "unit" for node in walk(each)) for each in (number, bound)]
    pair = (number, bound) if units[0] == units[1] else (_without_units(number), _without_units(bound))
    one, other = (value_of(resolve_units(each), {}, kernel) for each in pair)
    if one is None or other is None or one * other <= 0:
        return 0
    return -1 if one < other else int(one > other)


@remembered(RESTATEMENTS_KEPT)
def _is_rounded(rounded: Expr, precise: Expr, context: Context, is_approximate: bool) -> bool:
    """Return True if a member is another one, rounded at the last place of one of its numbers.

    Args:
        is_approximate: an approximate sign stands before the rounded member.
    """
    kernel = active_kernels()
    with share(PAIR) as account:
        try:
            found = any(_is_between(*ends, precise, context, kernel) for ends in _roundings(rounded, is_approximate))
        except (TapeTooLarge, Mismatch):
            return False
    return found and not account.is_exhausted


def _roundings(member: Expr, is_approximate: bool) -> Iterator[tuple[Expr, Expr]]:
    """Yield a pair for each rounded number of a member: the member with that number at its lowest, and at its highest.

    It moves by just over half of its last place down, and by a whole one up, since further digits may be cut off. A
    whole number counts as rounded only if it is the only number and has a unit or is approximate. Numbers beyond
    MAX_LITERALS are left as they are.
    """
    lone = lone_literal(member)
    is_whole_rounded = is_approximate or any(node.op == "unit" for node in walk(member))
    literals = list(dict.fromkeys(node for node in walk(member) if node.op == "num"))
    for literal in literals[:MAX_LITERALS]:
        place = 2 * half_last_place(literal)
        if not place and literal is lone and is_whole_rounded and literal.value and literal.value.denominator == 1:
            place = Fraction(1)
        if place:
            ends = (-ROUNDED_UP * place, _CUT_OFF * place)
            yield with_literal_moved(member, literal, ends[0]), with_literal_moved(member, literal, ends[1])


def _is_between(low: Expr, high: Expr, precise: Expr, context: Context, kernel: ModuleType) -> bool:
    """Return True if a member lies between two others, at all points where they have values."""
    if any(symbols(each) for each in (low, precise)):
        sides = [_side_of_one(each, precise, context, kernel) for each in (low, high)]
        return 0 not in sides and sides[0] != sides[1]
    if _is_value_between(low, high, precise, kernel):
        return True
    units = [any(node.op == "unit" for node in walk(each)) for each in (low, precise)]
    if units[0] == units[1]:
        return False
    return _is_value_between(_without_units(low), _without_units(high), _without_units(precise), kernel)


def _is_value_between(low: Expr, high: Expr, precise: Expr, kernel: ModuleType) -> bool:
    """Return True if a number lies between two others of the same dimension, all in coherent SI."""
    resolved = [resolve_units(each) for each in (low, precise, high)]
    values = [value_of(each, {}, kernel) for each in resolved]
    if values[0] is None or values[1] is None or values[2] is None:
        return False
    powers = [unit_powers(each, value or 0.0, kernel) for each, value in zip(resolved, values, strict=True) if value]
    return len(set(powers)) <= 1 and min(values[0], values[2]) < values[1] < max(values[0], values[2])


def _side_of_one(member: Expr, precise: Expr, context: Context, kernel: ModuleType) -> int:
    """Return -1 if a member has a smaller absolute value than the precise one at all points, 1 if larger; else 0."""
    if symbols(member) != symbols(precise):
        return 0
    one, other = evaluate_operations(
        *with_matching_calls(*(formula((resolve_units(each),), ()) for each in (member, precise)))
    )
    ratios = ratios_at_draws(one.members[0], other.members[0], notation_of(one, other, context), context, kernel)
    if len(ratios) < MIN_POINTS:
        return 0
    return -1 if all(ratio < 1 for ratio in ratios) else 1 if all(ratio > 1 for ratio in ratios) else 0


def _without_units(member: Expr) -> Expr:
    """Return a member with every unit replaced by 1."""
    units = {node for node in walk(member) if node.op == "unit"}
    return substitute(member, dict.fromkeys(units, number(1)))

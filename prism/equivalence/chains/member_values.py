r"""Values of the members of a chain: a number in SI, a ratio at random points, and how far rounded digits move either.

`chain_links` decides by them whether two neighbours of a chain are equal, `restatements` whether one is the other,
rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import ModuleType
from typing import Any

from prism.algebra.expr import Expr, number, substitute, symbol, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.algebra.terms import last_place_of
from prism.budget import remembered
from prism.engine.kernels import floats, ints, source, spend
from prism.engine.lowering import Notation, build_tape
from prism.engine.tape import Tape
from prism.engine.zero_set import draws, scratch_arrays
from prism.equivalence.points.pairs import samplings_of
from prism.physics.context import Context
from prism.physics.quantities import resolve_units
from prism.physics.tables import unit_table

SAME_RATIO = 1e-6  # relative: how far a constant ratio may vary from point to point
MIN_POINTS = 10  # at which a ratio has to be the same
MAX_LITERALS = 20  # decimals that are moved one by one; further ones count as exact
_DRAWS = 32  # random points at which a ratio is evaluated
_FEW_DRAWS = 4  # points at which the effect of rounding on a ratio is evaluated
_INFORMATIVE = 1e8  # a value has to exceed its rounding bound by this factor
_SPREADS_KEPT = 64  # members whose rounding spread is remembered between the readings of their units
VANISHED = 1e-9  # relative to its terms: a sum that is 0
FACTOR = r"\times"  # name of the factor t in _scaled_difference; no LaTeX spells a symbol like this
Dimension = tuple[tuple[str, float], ...]
_HIDDEN = 1e-4  # relative, of a term beside another


def prefix_value(name: str) -> Fraction:
    """Return the factor that the prefix in the name of a unit stands for: 10^6 for MeV, 1 for m."""
    power, _ = unit_table().prefixed.get(name, (0, ""))
    return Fraction(10) ** power


def value_of(member: Expr, sizes: Mapping[str, float], kernel: ModuleType) -> float | None:
    """Evaluate a member whose only symbols are base units; None if it has no value or is a vector.

    Args:
        sizes: values put for base units by name; all others are 1.
    """
    tape = build_tape(member)
    if len(tape.roots) != 1:
        return None
    found = evaluate(tape, {name: sizes.get(name, 1.0) for name in tape.names}, kernel)
    return None if found is None else float(found[0][tape.roots[0]])


def evaluate(tape: Tape, at: Mapping[str, float], kernel: ModuleType) -> tuple[Any, Any] | None:
    """Return the values and the rounding bounds of all instructions of a tape; None if one is undefined."""
    x, value, bound, _, _ = scratch_arrays(kernel, tape)
    for v, name in enumerate(tape.names):
        x[v] = at[name]
    code, consts, dep = (ints(kernel, tape.code), floats(kernel, tape.consts), ints(kernel, tape.dep))
    spend(tape.n_op)
    return None if kernel.evaluate(code, consts, dep, tape.n_op, x, 0, value, bound) else (value, bound)


def unit_powers(resolved: Expr, value: float, kernel: ModuleType) -> Dimension | None:
    """Find the power of each base unit in an expression by giving the unit the sizes 2 and 4: ((unit, power), ...).

    Args:
        value: of the expression with all units of size 1.

    Returns None where the value is no power of a unit's size: terms of different dimensions are added.
    """
    powers = []
    for name in sorted(symbols(resolved)):
        if not symbol_of(name).is_unit or value == 0:
            continue
        twice, again = (value_of(resolved, {name: size}, kernel) for size in (2.0, 4.0))
        if twice is None or again is None or twice / value <= 0 or again / twice <= 0:
            return None
        power, once_more = math.log2(twice / value), math.log2(again / twice)
        if not abs(power - once_more) <= VANISHED:
            return None
        if round(power, 6):
            powers.append((name, round(power, 6)))
    return tuple(powers)


@remembered(_SPREADS_KEPT)
def rounding_spread(member: Expr, beside: Expr, kernel: ModuleType) -> float:
    """Return the relative change of a numeric member if each written decimal is off by half a unit in its last place.

    The changes by all decimals are added. If `beside`, the other member, has a decimal, a member that is one whole
    number may be rounded too (`2.6 = 3`).
    """
    value = value_of(resolve_units(member), {}, kernel)
    if not value:
        return 0.0
    near = _moved(member, is_whole_rounded=any(map(half_last_place, walk(beside))))  # 2.6 = 3, but 5/2 is not 3
    found = [value_of(resolve_units(each), {}, kernel) for each in near]
    return sum(abs(value if each is None else each - value) for each in found) / abs(value)


def _moved(member: Expr, *, is_whole_rounded: bool = False) -> Iterator[Expr]:
    """Yield a member once for each of its decimals, which is off by half a unit in its last place, at most by a tenth.

    Args:
        is_whole_rounded: a member that is one literal may be a rounded whole number.
    """
    lone = lone_literal(member)
    literals = dict.fromkeys(node for node in walk(member) if node is lone or half_last_place(node))
    for literal in list(literals)[:MAX_LITERALS]:
        half = half_last_place(literal)
        if literal is lone:
            half = half or Fraction(int(is_whole_rounded), 2)
        else:
            half = min(half, abs(literal.value or Fraction(0)) / 10)
        if half:
            yield with_literal_moved(member, literal, half)


def with_literal_moved(member: Expr, literal: Expr, by: Fraction) -> Expr:
    """Return a member in which the number `literal` is increased by an amount."""
    return substitute(member, {literal: number((literal.value or Fraction(0)) + by)})


def half_last_place(node: Expr) -> Fraction:
    """Return half a unit in the last written place of a decimal: 0.05 for `2.3`; 0 for a whole number or no number."""
    is_decimal = node.op == "num" and ("." in node.name or "e" in node.name)
    return last_place_of(node) / 2 if is_decimal else Fraction(0)


def lone_literal(member: Expr) -> Expr | None:
    """Return the number node of a member that is one literal, with or without unit (`-3 m`); None for any other."""
    factors = member.args if member.op == "mul" else (member,)
    factors = tuple(factor.args[0] if factor.op == "neg" else factor for factor in factors)
    plain = [factor for factor in factors if not any(node.op == "unit" for node in walk(factor))]
    return plain[0] if len(plain) == 1 and plain[0].op == "num" else None


def largest_term(member: Expr, kernel: ModuleType) -> float:
    """Return the largest absolute value among the terms of a sum `a - b`, in coherent SI; 1 for any other member."""
    if member.op not in ("add", "sub"):
        return 1.0
    values = [value_of(resolve_units(term), {}, kernel) for term in member.args]
    return max((abs(value) for value in values if value is not None), default=1.0)


def ratios_at_draws(
    left: Expr, right: Expr, notation: Notation, context: Context, kernel: ModuleType, *, n_draw: int = _DRAWS
) -> list[float]:
    """Return the ratio left / right at the random points where both have a value well above its rounding error.

    NaN at a point where vectors or complex numbers are no multiples of each other. Both values come from one tape, left
    minus t times right at t = 0 and t = 1, so that their components stand in the same order.

    Args:
        notation: symbols with a special meaning in both members.
        n_draw: number of random points, at most `_DRAWS`.
    """
    tape = build_tape(scaled_difference(left, right), notation)
    samplings = samplings_of((tape,), context)
    table = {name: draws(name, sampling, context.digest, _DRAWS) for name, sampling in samplings.items()}
    sums = _sum_operands(tape)
    ratios = []
    for d in range(n_draw):
        at = {name: values[d] for name, values in table.items()}
        found = [evaluate(tape, {**at, FACTOR: t}, kernel) for t in (0.0, 1.0)]
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


def scaled_difference(left: Expr, right: Expr) -> Expr:
    """Return the expression `left - t right` with the extra symbol t, so that one tape gives the values of both."""
    return Expr("sub", (left, Expr("mul", (symbol(FACTOR), right))))


def _sum_operands(tape: Tape) -> list[tuple[int, int]]:
    """List the two operands of each addition and subtraction of a tape, as instruction numbers.

    Empty if the tape contains a numerical integral.
    """
    if tape.is_estimate:
        return []
    words = ((int(word) for word in tape.code[3 * k : 3 * k + 3]) for k in range(tape.n_op))
    return [(a, b) for opcode, a, b in words if opcode in (source.ADD, source.SUB)]


def _hides_a_term(sums: list[tuple[int, int]], value: Any) -> bool:
    """Return True if an operand of a sum (instruction numbers in `sums`) is negligible beside the other at a point."""
    pairs = (sorted((abs(value[a]), abs(value[b]))) for a, b in sums)
    return any(0 < low < _HIDDEN * high for low, high in pairs)


def rounding_spread_of_ratio(member: Expr, notation: Notation, context: Context, kernel: ModuleType) -> float:
    """Return the relative change of a member with symbols if each decimal is off by half a unit in its last place."""
    found = (ratios_at_draws(near, member, notation, context, kernel, n_draw=_FEW_DRAWS) for near in _moved(member))
    return sum(max((abs(ratio - 1) for ratio in each if not math.isnan(ratio)), default=0.0) for each in found)

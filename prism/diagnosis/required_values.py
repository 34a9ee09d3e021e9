"""Compute the value that each part of a formula would need for the formula to hold at points of another formula.

Points are drawn on the zero set of one formula. There every part of the other formula has a value, and a value that it
would need: at points of `2E = mv^2` the right side of `E = mv^2` needs half its value, and v its value over the root of
two. The needed value of an operand follows from that of its operator by the engine's inverse of the operator, so one
walk down the tree gives the needed values of all parts.

The result shows where a formula may be wrong and decides nothing: the engine compares every changed formula. So a
construct that cannot be evaluated is one unknown per spelling, a vector is a number, i is any number, and points are
few.

Refused: trying edits in turn and comparing each (some thousand comparisons for a formula of twenty parts), and solving
for an unknown factor by a root-finder at every part (slower by as much, and no more certain).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from prism.algebra.expr import Expr, Formula, canonical, is_infinite, substitute, symbol, symbols, walk
from prism.algebra.operators import OPS
from prism.algebra.symbols import symbol_of
from prism.budget import STEP, charge, charge_steps, remembered
from prism.engine.kernels import active_kernels
from prism.engine.lowering import Mismatch, build_joint_tape
from prism.engine.tape import Floats, Tape, TapeTooLarge
from prism.engine.zero_set import (
    Sampling,
    draw_values,
    sample_zero_set,
    solve_for_operand,
    special_samplings,
    tape_of,
    values_at_points,
)
from prism.equivalence.points.pairs import samplings_of
from prism.physics.context import Context

TAPES_KEPT = 512  # of several expressions, that a process remembers
_COLUMN = STEP  # operations of a comparison of two columns
_ROWS = 5 * STEP  # operations of a comparison of several columns with one, beside those for each value
_FEW = 2  # points that refute nearly all that does not agree at all points
_INVERSE = 6 * STEP  # operations of an operator that is inverted at all points
_BESIDE = 30  # operations of a part of the other formula that is looked at beside a part without inverse
_LOWERED = 1  # steps for each node of the expressions of a tape, beside those of `lowering`
N_DRAW = 40  # points that are drawn
N_POINT = 12  # points of a formula; two unlike parts of a formula agree at none
MAX_SEARCHES = 2  # symbols without an inverse that are solved for by search, which is slow
MIN_POINTS = 4  # fewer show nothing
CLOSE = 1e-7  # relative difference below which two values are equal
MAX_PARTS = 240  # parts of a formula; in a longer one no slip can be located
VALUE = symbol(r"\value")  # the left side of a bare expression, as in `equivalence`
_USUAL = (0.4, 2.6)  # range of ordinary symbols and of constructs that are not evaluated
_PERIODIC = ("sin", "cos", "tan")
_PRODUCTS = frozenset(("mul", "dot", "cross", "tensor", "wedge"))
_EVALUATED = frozenset(
    ("integral", "sum", "product", "factorial", "binomial", "floor", "ceiling", "parallel", "cases", "modulo")
)  # constructs without an opcode that the engine lowers to other instructions


@dataclass(frozen=True, slots=True, eq=False)
class PointTable:
    """Points at which one formula holds, with the values of symbols and expressions there.

    Attributes:
        columns: float64[n_point] of each symbol, by name.
        n_point: number of points.
        digest: key of the generator for constructs that are not evaluated.
        known: values of expressions, filled on first use: float64[n_point], NaN where undefined.
        exchanged: values of all parts of the other formula with two symbols exchanged, filled on first use.
    """

    columns: Mapping[str, Floats]
    n_point: int
    digest: str
    known: dict[Expr, Floats] = field(default_factory=dict)
    exchanged: dict[tuple[str, str], Floats] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One part of a formula: its position, its value at each point, and the value there that the formula needs to hold.

    Attributes:
        member: number of the side. path: argument positions from the root of the side down to the part.
        node: the part.
        is_exponent: the part is an exponent without symbols, or stands in one.
        value, required: float64[n_point], NaN where undefined.
    """

    member: int
    path: tuple[int, ...]
    node: Expr
    is_exponent: bool
    value: Floats
    required: Floats


def agrees(column: Floats, other: Floats) -> bool:
    """Return True if two columns of values are equal wherever both are finite, and are finite at enough points."""
    charge(_COLUMN)
    n_finite = 0
    for a, b in zip(column.tolist(), other.tolist(), strict=True):
        gap = abs(a - b)
        if math.isfinite(gap):
            if gap > CLOSE * max(abs(a), abs(b)):
                return False
            n_finite += 1
    return n_finite >= _n_enough(column)


def common_value(column: Floats, within: float = CLOSE) -> float | None:
    """Return the value that a column has at all its finite points; None if it varies or has too few finite points."""
    charge(_COLUMN)
    finite = [value for value in column.tolist() if math.isfinite(value)]
    if len(finite) < _n_enough(column):
        return None
    first = finite[0]
    tolerated = within * abs(first)
    return None if any(abs(value - first) > tolerated for value in finite) else first


def _n_enough(column: Floats) -> int:
    """Return the number of finite values that a column needs to show anything."""
    return max(MIN_POINTS, column.size // 2)


def agreeing_rows(rows: Floats, column: Floats) -> npt.NDArray[np.intp]:
    """Return the indices of the rows (float64[n_row, n_point]) that agree with a column (float64[n_point])."""
    kept = rows_not_refuted(rows[:, :_FEW], column[:_FEW])
    if not kept.size:
        return kept
    kept = kept[rows_not_refuted(rows[kept], column)]
    enough = (np.isfinite(rows[kept]) & np.isfinite(column)).sum(axis=1) >= _n_enough(column)
    return np.asarray(kept[enough])


def rows_not_refuted(rows: Floats, column: Floats) -> npt.NDArray[np.intp]:
    """Return the indices of the rows that nowhere differ from a column, where both are finite; shapes as above."""
    charge(_ROWS + rows.size)
    with np.errstate(all="ignore"):
        is_far = np.abs(rows - column) > CLOSE * np.maximum(np.abs(rows), np.abs(column))  # False where undefined
    return np.flatnonzero(~is_far.any(axis=1))


def constant_rows(rows: Floats) -> list[tuple[int, float]]:
    """Return (index, value) of each row that has the same finite value at all points."""
    charge(_ROWS + rows.size)
    with np.errstate(all="ignore"):
        first = rows[:, :1]
        is_constant = (np.abs(rows - first) <= CLOSE * np.abs(first)).all(axis=1)
        is_constant &= np.isfinite(rows).all(axis=1)
    return [(int(k), float(first[k, 0])) for k in np.flatnonzero(is_constant)]


# Values. ---------------------------------------------------------------------------------------------------------


def values_of(node: Expr, table: PointTable) -> Floats:
    """Evaluate an expression at the points of a table: float64[n_point], NaN where undefined."""
    if node not in table.known:
        (table.known[node],) = evaluate_all((node,), table)
    return table.known[node]


def evaluate_all(nodes: tuple[Expr, ...], table: PointTable) -> Floats:
    """Evaluate expressions on one tape: float64[n_node, n_point]."""
    return np.asarray(evaluate_renamed(nodes, table, ({},))[0])


def evaluate_renamed(nodes: tuple[Expr, ...], table: PointTable, renamings: Sequence[Mapping[str, str]]) -> Floats:
    """Evaluate expressions on one tape with symbols replaced by others: float64[n_renaming, n_node, n_point].

    Args:
        renamings: each maps symbols to those that stand in their places.
    """
    lowered = _joint_tape(nodes)
    n_all = len(renamings) * table.n_point
    if lowered is None:
        return np.full((len(renamings), len(nodes), table.n_point), np.nan)
    tape, atoms = lowered.tape, lowered.atoms
    charge_steps(len(renamings) * len(tape.names))
    columns = [
        np.concatenate([_renamed_values(name, names, atoms, table) for names in renamings]) for name in tape.names
    ]
    values = values_at_points(tape, columns, n_all, active_kernels())
    return values.reshape(len(nodes), len(renamings), table.n_point).swapaxes(0, 1)


def _renamed_values(name: str, names: Mapping[str, str], atoms: Mapping[str, Expr], table: PointTable) -> Floats:
    """Return the values of a variable of a tape whose symbols are replaced by others; arguments as above."""
    if name in atoms and not (inner := symbols(atoms[name])).isdisjoint(names):
        new = {symbol(one): symbol(other) for one, other in names.items() if one in inner}
        return _variable_values(canonical(substitute(atoms[name], new)), table)
    return _variable_values(names.get(name, name), table)


def all_parts(f: Formula) -> tuple[Expr, ...]:
    """Return the distinct subexpressions of the two sides of a formula, `VALUE` included."""
    return tuple(dict.fromkeys(node for side in two_sides(f) or () for node in walk(side)))


def terms_of(sides: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return the terms of the sides of a formula; a side that is no sum is one term."""
    return tuple(term for side in sides for term in (side.args if side.op in ("add", "sub") else (side,)))


def evaluated_nodes(f: Formula) -> tuple[Expr, ...]:
    """Return all parts of a formula if one tape has room for them as they are, else its sides and their terms."""
    sides, parts = two_sides(f) or (), all_parts(f)
    return parts if _fits_one_tape(parts) else tuple(dict.fromkeys((*sides, *terms_of(sides))))


def _fits_one_tape(nodes: tuple[Expr, ...]) -> bool:
    """Return True if one tape has room for all expressions, and each is a real number."""
    lowered = _joint_tape(nodes)
    return lowered is not None and not lowered.is_short


def _evaluate_parts(f: Formula, table: PointTable) -> None:
    """Evaluate all parts of a formula at the points of a table, if they fit one tape; else each when asked for."""
    parts = all_parts(f)
    if _fits_one_tape(parts):
        table.known.update(zip(parts, evaluate_all(parts, table), strict=True))


def first_points(table: PointTable) -> PointTable:
    """Return a table of the first points only, at which nearly all is refuted that does not agree at all points."""
    columns = {name: column[:_FEW] for name, column in table.columns.items()}
    return PointTable(columns, min(_FEW, table.n_point), table.digest)


def exchanged_values(f: Formula, table: PointTable, pairs: Sequence[tuple[str, str]], part: Expr) -> Floats:
    """Return the values of a part of `f` with each pair of symbols exchanged: float64[n_pair, n_point]."""
    parts, known = all_parts(f), table.exchanged
    new = [pair for pair in pairs if pair not in known]
    if new:
        known.update(zip(new, evaluate_renamed(parts, table, [{a: b, b: a} for a, b in new]), strict=True))
    at = parts.index(part)
    return np.array([known[pair][at] for pair in pairs])


def _variable_values(name: str, table: PointTable) -> Floats:
    """Return the values of a variable: its column of the table, or values drawn by its name if it has no column."""
    if name in table.columns:
        return table.columns[name]
    return draw_values(name, Sampling("", _USUAL), table.digest, table.n_point)


@dataclass(frozen=True, slots=True)
class _Lowered:
    """One tape for several expressions.

    Attributes:
        tape: root k is the value of expression k.
        atoms: constructs that are variables of the tape, by the name of the variable.
        is_short: integrals and other constructs of many instructions are among them.
    """

    tape: Tape
    atoms: Mapping[str, Expr]
    is_short: bool


@remembered(TAPES_KEPT)
def _joint_tape(nodes: tuple[Expr, ...]) -> _Lowered | None:
    """Return one tape for all expressions; None if it is too large, or one of them is no real number."""
    for is_short in (False, True):
        atoms: dict[str, Expr] = {}
        charge_steps(_LOWERED * sum(node.size for node in nodes))
        try:
            tape = build_joint_tape([_as_real_expression(node, atoms, is_short=is_short) for node in nodes])
        except (TapeTooLarge, Mismatch):
            continue
        return _Lowered(tape, atoms, is_short)
    return None


def _as_real_expression(node: Expr, atoms: dict[str, Expr], *, is_short: bool = False) -> Expr:
    """Return an expression rewritten for real arithmetic: products of vectors become products, the rest variables.

    Args:
        atoms: filled with the constructs that are replaced by an unknown, by the name of the unknown.
        is_short: integrals, sums and other constructs of many instructions are replaced too.
    """
    if not node.args and node.op != "opaque":
        return node
    if node.op == "derivative" and node.name in ("", "1") and all(arg.op == "sym" for arg in node.args):
        above, below = (_as_real_expression(Expr("differential", (arg,)), atoms) for arg in node.args)
        return Expr("div", (above, below))
    if node.op in _EVALUATED and not is_short and not any(is_infinite(inner) for inner in walk(node)):
        return node
    if node.op not in _PRODUCTS and node.op != "pm" and OPS[node.op].opcode is None:
        atoms[canonical(node)] = node
        return symbol(canonical(node))
    args = tuple(_as_real_expression(arg, atoms, is_short=is_short) for arg in node.args)
    if node.op == "pm":
        return args[0] if len(args) == 1 else Expr("add", args)
    return Expr("mul" if node.op in _PRODUCTS else node.op, args, node.name, node.value)


# Points. ---------------------------------------------------------------------------------------------------------


def two_sides(f: Formula) -> tuple[Expr, Expr] | None:
    """Return the sides of an equation or inequality, (`VALUE`, expression) for a lone expression, None for others."""
    if f.parts or len(f.members) > 2:
        return None
    return (VALUE, f.members[0]) if len(f.members) == 1 else (f.members[0], f.members[1])


def draw_table(f: Formula, other: Formula, context: Context, fixed: Mapping[str, float]) -> PointTable | None:
    """Return points at which `f` holds; None if too few are found or a formula has more than MAX_PARTS parts.

    Args:
        other: the formula that is evaluated there; its symbols are drawn too.
        fixed: values of symbols that are not drawn [SI].
    """
    sides, tapes = two_sides(f), []
    for pair in (sides, two_sides(other)):
        if pair is None or sum(1 for side in pair for _ in walk(side)) > MAX_PARTS:
            return None
        charge_steps(_LOWERED * (pair[0].size + pair[1].size))
        try:
            tapes.append(tape_of(Expr("sub", (_as_real_expression(pair[0], {}), _as_real_expression(pair[1], {})))))
        except (TapeTooLarge, Mismatch):
            return None
    declared = samplings_of((tapes[0], tapes[1]), context)
    drawn_as = {name: _in_usual_range(sampling) for name, sampling in declared.items()}
    set_values = {name: fixed.get(name, 1.0) for name in declared if name in fixed or symbol_of(name).is_unit}
    drawn_as |= {name: Sampling("", (value, value)) for name, value in set_values.items()}
    drawn_columns = {name: draw_values(name, how, context.digest, N_DRAW) for name, how in drawn_as.items()}
    start = PointTable(drawn_columns, N_DRAW, context.digest)
    n_search = 0
    for target in _symbols_to_solve_for(sides or (), frozenset(tapes[0].names) - set_values.keys()):
        roots = _solve_by_inverses(f, target, start)
        columns = {**drawn_columns, target: roots} if roots is not None else None
        if columns is None and n_search < MAX_SEARCHES:
            n_search += 1
            columns = _search_roots(tapes[0], {**drawn_as, target: declared[target]}, target, context.digest)
        if columns is not None and (table := _table_of_solutions(columns, f, other, context)) is not None:
            return table
    return None


def _search_roots(tape: Tape, samplings: Mapping[str, Sampling], target: str, digest: str) -> dict[str, Floats]:
    """Return columns of all symbols at points where the equation of the tape holds, `target` found by root search.

    Args:
        samplings: how each symbol is drawn, by name. digest: seed of the random numbers.
    """
    spectators = frozenset(tape.names) - {target}
    points = sample_zero_set(tape, special_samplings(tape, samplings), spectators, digest, N_POINT, active_kernels())
    draws = [int(draw) for draw in points.spot[0 : 3 * points.n_point : 3]]
    columns = {name: draw_values(name, how, digest, points.n_draw)[draws] for name, how in samplings.items()}
    columns[target] = np.array([root for _, root in points.solved])
    return columns


def _solve_by_inverses(f: Formula, target: str, table: PointTable) -> Floats | None:
    """Return the values of `target` that make the two sides of `f` equal, by inverting one operator after the other.

    None if the symbol does not occur exactly once or an operator has no inverse; only the principal branch is taken.
    """
    sides = two_sides(f)
    if sides is None or sum(node == symbol(target) for side in sides for node in walk(side)) != 1:
        return None
    if not table.known:
        _evaluate_parts(f, table)
    member = 0 if target in symbols(sides[0]) else 1
    required = values_of(sides[1 - member], table)
    place = Place(member, (), sides[member], False, required, required)
    while place.node.op != "sym":
        position = next(k for k, arg in enumerate(place.node.args) if target in symbols(arg))
        inner = _required_operand(place, position, table)
        if inner is None:
            return None
        place = replace(place, node=place.node.args[position], required=inner)
    return place.required


def _table_of_solutions(
    columns: Mapping[str, Floats], f: Formula, other: Formula, context: Context
) -> PointTable | None:
    """Return the points of the columns at which `f` holds, with all parts of both formulas evaluated there.

    At most N_POINT points are kept; None if fewer than MIN_POINTS hold.
    """
    n_draw = len(next(iter(columns.values())))
    sides, nodes = two_sides(f) or (), evaluated_nodes(f)
    values = dict(zip(nodes, evaluate_all(nodes, PointTable(columns, n_draw, context.digest)), strict=True))
    left, right = (values[side] for side in sides)
    with np.errstate(all="ignore"):
        scale = np.abs([left, right, *(values[term] for term in terms_of(sides))])[2:].sum(axis=0)
        kept = np.flatnonzero(np.abs(left - right) <= CLOSE * scale)[:N_POINT]
    if kept.size < MIN_POINTS:
        return None
    table = PointTable({name: column[kept] for name, column in columns.items()}, int(kept.size), context.digest)
    if len(nodes) == len(all_parts(f)) and _fits_one_tape(all_parts(other)):
        table.known.update((node, column[kept]) for node, column in values.items())
        _evaluate_parts(other, table)
        return table
    together = tuple(dict.fromkeys((*distinct_parts(f), *distinct_parts(other))))
    if _joint_tape(together) is not None:
        table.known.update(zip(together, evaluate_all(together, table), strict=True))
    return table


def _in_usual_range(sampling: Sampling) -> Sampling:
    """Return a sampling in the usual range, where exponentials stay precise; unchanged if it has a declared domain."""
    if sampling.domain is not None or sampling.kind in ("integer", "angle"):
        return sampling
    low, high = _USUAL
    return Sampling("", (-high, -low) if sampling.kind == "negative" else _USUAL)


def _symbols_to_solve_for(sides: Sequence[Expr], names: frozenset[str]) -> list[str]:
    """Return the symbols to solve for, best first: those alone on a side, those that occur once, the others."""
    occurrences = Counter(node.name for side in sides for node in walk(side) if node.op == "sym")
    alone = [side.name for side in sides if side.op == "sym"]
    order = dict.fromkeys((*alone, *sorted(occurrences)))
    return sorted((name for name in order if name in names), key=lambda name: occurrences[name] > 1)


# Places. ---------------------------------------------------------------------------------------------------------


def distinct_parts(f: Formula) -> tuple[Expr, ...]:
    """Return the distinct subexpressions of a formula, whole sides first, at most MAX_PARTS."""
    sides = two_sides(f) or ()
    return tuple(dict.fromkeys(node for side in sides for node in walk(side) if node != VALUE))[:MAX_PARTS]


def places_of(f: Formula, table: PointTable, beside: Sequence[Expr]) -> Iterator[Place]:
    """Yield every part of a formula whose needed value can be computed, from whole sides down to their leaves.

    Args:
        table: points at which another formula holds.
        beside: parts of the other formula. A derivative or an integral has no inverse; if one of these parts differs
            from it in one operand only, and has the needed value, that operand gives the needed value.
    """
    sides = two_sides(f)
    for member in (0, 1) if sides else ():
        assert sides is not None
        if sides[member] != VALUE:
            whole = Place(
                member if len(f.members) > 1 else 0, (), sides[member], False,
                values_of(sides[member], table), values_of(sides[1 - member], table),
            )  # fmt: skip
            yield from _places_below(whole, table, beside)


def _places_below(place: Place, table: PointTable, beside: Sequence[Expr]) -> Iterator[Place]:
    """Yield a place and the places of all parts inside it; the parser bounds the depth."""
    yield place
    node, needed = place.node, list[tuple[int, Floats]]()
    for position, arg in enumerate(node.args):
        required = _required_operand(place, position, table)
        if required is None or (node.op in ("add", "sub") and _needs_to_vanish(required, values_of(arg, table))):
            continue  # the whole term is surplus, so none of its parts is at fault
        needed.append((position, required))
    if node.args and (not needed or _has_branches(node)):
        needed += [(k, values_of(operand, table)) for k, operand in _other_operands(place, table, beside)]
    for position, required in needed:
        arg = node.args[position]
        is_power = not symbols(arg) and (place.is_exponent or (node.op in ("pow", "root") and position == 1))
        inner = Place(place.member, (*place.path, position), arg, is_power, values_of(arg, table), required)
        yield from _places_below(inner, table, beside)


def _needs_to_vanish(required: Floats, value: Floats) -> bool:
    """Return True if the value needed for a term is 0 compared with the value it has: the term should not be there."""
    return bool((np.abs(required) <= CLOSE * np.abs(value)).all())


def _has_branches(node: Expr) -> bool:
    """Return True if an operator gives one result for several operands (`x^2`, `sin`): its inverse is not unique."""
    if node.op == "pow":
        exponent = node.args[1].value
        return exponent is not None and exponent.numerator % 2 == 0
    return node.op in (*_PERIODIC, "abs", "cosh")


def _other_operands(place: Place, table: PointTable, beside: Sequence[Expr]) -> Iterator[tuple[int, Expr]]:
    """Yield (position, operand) of each part in `beside` that differs in one operand and has the needed value."""
    node = place.node
    charge(_BESIDE * len(beside))
    for other in beside:
        if (other.op, other.name, len(other.args)) != (node.op, node.name, len(node.args)):
            continue
        differing = [k for k, pair in enumerate(zip(node.args, other.args, strict=True)) if _differ(*pair)]
        if len(differing) == 1 and agrees(values_of(other, table), place.required):
            yield differing[0], other.args[differing[0]]


def _differ(a: Expr, b: Expr) -> bool:
    """Return True if two expressions have different canonical forms."""
    return a != b and canonical(a) != canonical(b)


def _required_operand(place: Place, position: int, table: PointTable) -> Floats | None:
    """Return the values an operand needs so that the part at `place` has its needed values; None without an inverse."""
    node, required, module = place.node, place.required, active_kernels()
    op = "mul" if node.op in _PRODUCTS else node.op
    if op in ("add", "mul"):
        charge(STEP * len(node.args))
        others = [values_of(arg, table) for k, arg in enumerate(node.args) if k != position]
        with np.errstate(all="ignore"):
            for other in others:
                required = required - other if op == "add" else np.where(other == 0, np.nan, required / other)
        return required
    if OPS[op].opcode is None or not node.args:
        return None
    charge(_INVERSE)
    if len(node.args) == 1:
        return solve_for_operand(op, 0, required, None, module)
    other = values_of(node.args[1 - position], table)
    if op not in ("pow", "root"):
        return solve_for_operand(op, position, required, other, module)
    with np.errstate(all="ignore"):
        if position == 1:
            exponent = solve_for_operand("pow", 1, required, other, module)
            return exponent if op == "pow" else 1 / exponent
        exponent = other if op == "pow" else 1 / other
        base, value = solve_for_operand("pow", 0, required, exponent, module), values_of(node.args[0], table)
        return np.where((value < 0) & (required >= 0), -base, base)  # of an even power the operand keeps its sign

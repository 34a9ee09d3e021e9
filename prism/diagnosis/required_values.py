r"""What each part of a formula would have to be worth for the formula to hold where another one holds.

Points are drawn at which one formula holds. There every part of the other has a value, and one that it would need: of
`E = mv^2` beside `2E = mv^2` the right side would need half of what it is, and v its value over the root of two. The
needed value of a part follows from that of what holds it, by turning the operation round, so that one walk down the
tree asks for every part at once.

This finds where a formula may be wrong and decides nothing: whoever puts another part in has the engine compare the
result. So what cannot be evaluated is one unknown a spelling, vectors are numbers, and points are few.

Refused: trying edits in turn and comparing each (some thousand comparisons for a formula of twenty parts), and solving
for an unknown factor by a root-finder at every part (slower by as much, and no more certain).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from prism.algebra.expr import Expr, Formula, canonical, is_infinite, symbol, symbols, walk
from prism.engine.zero_set import Sampling, drawn, value_at
from prism.physics.context import Context, kind_of

N_DRAW = 40  # points that are drawn; those at which both formulas are defined are kept
N_POINT = 12  # of them; two unlike parts of a formula agree at none
MIN_POINTS = 4  # fewer show nothing
CLOSE = 1e-7  # relative, at which two values are one
MAX_NARROWED = 2  # symbols that are solved for by narrowing an interval
MAX_PARTS = 240  # of a formula; a longer one has too many for a slip to be told
MAX_EVALUATED = 12  # constructs of a pair that the engine evaluates point by point; the rest are unknowns
_UNIT = r"\unit{"
_USUAL = (0.4, 2.6)  # where an ordinary symbol is drawn: exponentials of products stay finite
_GRID = np.geomspace(0.02, 50.0, 40)  # where a root is looked for, if no operation can be turned round
_STEPS = 24  # towards a root; half as many are enough for smooth formulas
VALUE = symbol(r"\value")  # what a bare expression is set to, as in `equivalence`

Array = npt.NDArray[np.complex128]
Floats = npt.NDArray[np.float64]
_TRIG = ("sin", "cos", "tan")
_PRODUCTS = frozenset(("mul", "dot", "cross", "tensor", "wedge"))
_BY_THE_ENGINE = frozenset(
    ("integral", "sum", "product", "limit", "at", "factorial", "binomial", "floor", "ceiling", "parallel", "cases")
)
FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "exp": np.exp, "ln": np.log, "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "sqrt": np.sqrt, "abs": np.abs,
}  # fmt: skip
_INVERSES: Mapping[str, Callable[[Array], Array]] = {
    "exp": np.log, "ln": np.exp, "log10": lambda y: np.power(10.0, y), "sin": np.arcsin, "cos": np.arccos,
    "tan": np.arctan, "asin": np.sin, "acos": np.cos, "atan": np.tan, "sinh": np.arcsinh, "cosh": np.arccosh,
    "tanh": np.arctanh, "asinh": np.sinh, "acosh": np.cosh, "atanh": np.tanh, "sqrt": np.square, "abs": np.abs,
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Values of symbols at points, and of what has been worked out from them.

    Attributes:
        columns: complex128[n_point] of each symbol, by name.
        n_point: how many points.
        known: values of parts, kept as they are asked for; NaN where a part is undefined.
        unknown: key of the generator for what has no value.
        is_real: no number is imaginary: what would be is undefined.
    """

    columns: Mapping[str, Array]
    n_point: int
    unknown: str
    is_real: bool = True
    known: dict[Expr, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One part of a formula: where it stands, its value at each point, and the value that it would need there.

    Attributes:
        member: number of the side. path: positions from its root down.
        node: the part.
        is_exponent: it is a number to which something is raised, or a part of one.
        value, required: complex128[n_point].
    """

    member: int
    path: tuple[int, ...]
    node: Expr
    is_exponent: bool
    value: Array
    required: Array


def close(one: Array, other: Array, within: float = CLOSE) -> bool:
    """Whether two columns have finite, equal values at enough points, and different ones nowhere."""
    return bool(rows_close(one[np.newaxis], other, within).size)


def rows_close(rows: Array, column: Array, within: float = CLOSE) -> npt.NDArray[np.intp]:
    """Numbers of the rows that are a column: complex128[n_row, n_point] against complex128[n_point]."""
    with np.errstate(all="ignore"):
        gap, size = np.abs(rows - column), np.maximum(np.abs(rows), np.abs(column))
        seen = np.isfinite(gap)
        enough = seen.sum(axis=1) >= max(MIN_POINTS, column.size // 2)
        return np.flatnonzero(enough & ((gap <= within * size) | ~seen).all(axis=1))


def constant_of(column: Array, within: float = CLOSE) -> complex | None:
    """The one finite value of a column, or None."""
    finite = column[np.isfinite(column)]
    if finite.size < max(MIN_POINTS, column.size // 2):
        return None
    first = complex(finite[0])
    return first if bool((np.abs(finite - first) <= within * abs(first)).all()) else None


def constant_rows(rows: Array) -> list[tuple[int, complex]]:
    """Numbers of the rows that have one value at all points, with it; rows that are undefined anywhere have none."""
    with np.errstate(all="ignore"):
        first = rows[:, :1]
        is_one = np.isfinite(rows).all(axis=1) & (np.abs(rows - first) <= CLOSE * np.abs(first)).all(axis=1)
    return [(int(k), complex(first[k, 0])) for k in np.flatnonzero(is_one)]


# Values. ---------------------------------------------------------------------------------------------------------


def value_of(node: Expr, table: Table) -> Array:
    """Value of a part at every point of a table. Depth is bounded by the parser's limit."""
    found = table.known.get(node)
    if found is None:
        with np.errstate(all="ignore"):
            found = np.asarray(_value(node, table), dtype=np.complex128)
            if table.is_real:
                found = np.where(np.abs(found.imag) > CLOSE * np.abs(found.real), np.nan, found.real + 0j)
        table.known[node] = found
    return found


def _value(node: Expr, table: Table) -> Array:
    if node.op == "num":
        return _constant(_as_float(node), table)
    if node.op == "const":
        return _constant(math.pi if "pi" in node.name else math.e, table)
    if node.op == "sym":
        return table.columns[node.name] if node.name in table.columns else _unknown(node, table)
    if node.op in ("add", "pm"):
        return np.asarray(sum(value_of(arg, table) for arg in node.args))
    if node.op in _PRODUCTS:
        return np.asarray(math.prod((value_of(arg, table) for arg in node.args), start=_constant(1.0, table)))
    if node.op in ("sub", "div", "pow", "root"):
        one, two = (value_of(arg, table) for arg in node.args)
        if node.op == "sub":
            return one - two
        if node.op == "div":
            return one / two
        return np.power(one, two if node.op == "pow" else 1 / two)
    if node.op == "neg":
        return -value_of(node.args[0], table)
    if node.op in FUNCTIONS:
        return FUNCTIONS[node.op](value_of(node.args[0], table))
    if node.op == "derivative" and node.name in ("", "1") and all(arg.op == "sym" for arg in node.args):
        upper, lower = (_unknown(Expr("differential", (arg,)), table) for arg in node.args)
        return upper / lower
    if node.op in _BY_THE_ENGINE:
        return _evaluated(node, table)
    return _unknown(node, table)


def _as_float(node: Expr) -> float:
    try:
        return float(node.value) if node.value is not None else math.nan
    except OverflowError:
        return math.nan


def _constant(value: float, table: Table) -> Array:
    return np.full(table.n_point, value, dtype=np.complex128)


def _unknown(node: Expr, table: Table) -> Array:
    """A value for what has none: the same wherever it is spelled the same."""
    key = Expr("opaque", name=canonical(node))
    if key not in table.known:
        column = drawn(key.name, Sampling("", _USUAL), table.unknown, table.n_point)
        table.known[key] = column.astype(np.complex128)
    return table.known[key]


def _evaluated(node: Expr, table: Table) -> Array:
    """An integral or a sum, which the engine evaluates at one point after another."""
    n_before = sum(known.op in _BY_THE_ENGINE for known in table.known)
    if not table.is_real or n_before >= MAX_EVALUATED or any(is_infinite(inner) for inner in walk(node)):
        return _unknown(node, table)
    column = np.empty(table.n_point, dtype=np.complex128)
    for k in range(table.n_point):
        found = value_at(node, {name: float(values[k].real) for name, values in table.columns.items()})
        if found is None:
            return _unknown(node, table)
        column[k] = found
    return column


# Points. ---------------------------------------------------------------------------------------------------------


def sides_of(f: Formula) -> tuple[Expr, Expr] | None:
    """The two sides of an equation or inequality; a bare expression is set to an unknown of its own."""
    if f.parts or len(f.members) > 2:
        return None
    return (VALUE, f.members[0]) if len(f.members) == 1 else (f.members[0], f.members[1])


def table_where(f: Formula, others: frozenset[str], context: Context, fixed: Mapping[str, float]) -> Table | None:
    """Points at which a formula holds; None if too few are found.

    Args:
        others: symbols of the formula that it meets.
        fixed: values of symbols that are not drawn [SI].
    """
    sides = sides_of(f)
    if sides is None or sum(1 for side in sides for _ in walk(side)) > MAX_PARTS:
        return None
    names = symbols(*sides) | others
    for is_real in (True, False) if "i" not in names or "i" in context.symbols else (False,):
        # roots of what is negative are imaginary: where too few points are real, those will do as well
        table = _table(sides, names, context, fixed, is_real=is_real)
        if table is not None:
            return table
    return None


def _table(
    sides: tuple[Expr, Expr], names: frozenset[str], context: Context, fixed: Mapping[str, float], *, is_real: bool
) -> Table | None:
    own = symbols(*sides)
    start = Table(_drawn(names, sides, context, fixed, N_DRAW), N_DRAW, context.digest, is_real)
    lone = [side.name for side in sides if side.op == "sym"]
    closed = {name for name in own if name in fixed or name.startswith(_UNIT) or (name == "i" and not is_real)}
    targets = [name for name in dict.fromkeys((*lone, *sorted(own))) if name not in closed]
    n_narrowed = 0
    for solve in (_turned_to, _narrowed):
        for target in targets:
            if solve is _narrowed:
                n_narrowed += 1
                if n_narrowed > MAX_NARROWED:
                    break
            roots = solve(sides, target, start)
            if roots is not None and (table := _at_roots(start, target, roots, sides)) is not None:
                return table
    return None


def _drawn(
    names: frozenset[str], sides: tuple[Expr, Expr], context: Context, fixed: Mapping[str, float], count: int
) -> dict[str, Array]:
    inner = [node for side in sides for node in walk(side)]
    angles = {node.args[0].name for node in inner if node.op in _TRIG and node.args[0].op == "sym"}
    columns: dict[str, Array] = {}
    for name in sorted(names):
        kind, domain = kind_of(context, name), None
        declared = context.symbols.get(name)
        if declared is not None:
            domain = declared.domain
        elif name in angles:
            kind = "angle"
        if name in fixed or name.startswith(_UNIT):
            columns[name] = np.full(count, fixed.get(name, 1.0), dtype=np.complex128)
        elif name == "i" and declared is None:
            columns[name] = np.full(count, 1j)
        else:
            how = kind if kind in ("integer", "angle", "negative") else ""
            if how == "" or (how == "negative" and domain is None):
                domain = domain or (_USUAL if how == "" else (-_USUAL[1], -_USUAL[0]))
            columns[name] = drawn(name, Sampling(how, domain), context.digest, count).astype(np.complex128)
    return columns


def _turned_to(sides: tuple[Expr, Expr], target: str, table: Table) -> Array | None:
    """Values of a symbol that make two sides equal, by turning operations round; None unless it stands there once."""
    found = [(side, path) for side in (0, 1) for path, node in _paths(sides[side]) if node == symbol(target)]
    if len(found) != 1:
        return None
    ((side, path),) = found
    node, required = sides[side], value_of(sides[1 - side], table)
    for position in path:
        turned = _turned_round(node, position, required, table)
        if turned is None:
            return None
        node, required = node.args[position], turned
    return required


def _narrowed(sides: tuple[Expr, Expr], target: str, table: Table) -> Array | None:
    """The same by narrowing intervals in which the difference of two sides changes its sign."""
    if not table.is_real or any(node.op in _BY_THE_ENGINE for side in sides for node in walk(side)):
        return None
    residual, n_draw = Expr("sub", sides), table.n_point

    def at(values: Floats) -> Floats:
        n_time = values.size // n_draw
        columns = {name: np.tile(column, n_time) for name, column in table.columns.items()}
        moved = Table({**columns, target: values.astype(np.complex128)}, values.size, table.unknown)
        return np.asarray(value_of(residual, moved).real)

    grid = np.repeat(_GRID, n_draw)
    seen = at(grid).reshape(_GRID.size, n_draw)
    with np.errstate(all="ignore"):
        turns = np.argmax(seen[:-1] * seen[1:] < 0, axis=0)
        low, high, one, two = _GRID[turns], _GRID[turns + 1], *(seen[turns + k, np.arange(n_draw)] for k in (0, 1))
        for _ in range(_STEPS):  # the false position, with the end that stays halved (Illinois)
            middle = (low * two - high * one) / (two - one)
            value = at(middle)
            is_past = value * two < 0
            low, one = np.where(is_past, high, low), np.where(is_past, two, one / 2)
            high, two = middle, value
            if (np.abs(high - low) <= 1e-14 * np.abs(high)).all():
                break
    return np.asarray(high, dtype=np.complex128)


def _at_roots(start: Table, target: str, roots: Array, sides: tuple[Expr, Expr]) -> Table | None:
    """The points that hold, at most N_POINT."""
    if start.is_real:
        roots = np.where(np.abs(roots.imag) > CLOSE * np.abs(roots.real), np.nan, roots.real + 0j)
    columns = {**start.columns, target: roots}
    solved = Table(columns, start.n_point, start.unknown, start.is_real)
    one, two = (value_of(side, solved) for side in sides)
    with np.errstate(all="ignore"):
        scale = sum(np.abs(value_of(term, solved)) for side in sides for term in _terms(side))
        kept = np.flatnonzero(np.isfinite(roots) & (np.abs(one - two) <= CLOSE * scale))[:N_POINT]
    if kept.size < MIN_POINTS:
        return None
    cut = {name: column[kept] for name, column in columns.items()}
    unknowns = [node for node in solved.known if node.op not in ("num", "const")]
    known = {node: solved.known[node][kept] for node in unknowns}  # what has no value keeps the one it was given
    return Table(cut, int(kept.size), start.unknown, start.is_real, known)


def _terms(side: Expr) -> tuple[Expr, ...]:
    return side.args if side.op in ("add", "sub") else (side,)


# Places. ---------------------------------------------------------------------------------------------------------


def _paths(root: Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Expr]]:
    """Every part with the way to it. Depth is bounded by the parser's limit."""
    yield path, root
    for position, arg in enumerate(root.args):
        yield from _paths(arg, (*path, position))


def parts_of(f: Formula) -> tuple[Expr, ...]:
    """The distinct parts of a formula, whole sides first."""
    sides = sides_of(f) or ()
    return tuple(dict.fromkeys(node for side in sides for node in walk(side) if node != VALUE))[:MAX_PARTS]


def places_of(f: Formula, table: Table, beside: tuple[Expr, ...]) -> Iterator[Place]:
    """Every part of a formula whose needed value is known at the points of a table.

    Args:
        table: points at which another formula holds.
        beside: parts of that one: of a derivative or an integral, which cannot be turned round, the part is needed
            that the other formula's has, if all else in it is the same.
    """
    sides = sides_of(f)
    for member in (0, 1) if sides else ():
        assert sides is not None
        if sides[member] != VALUE:
            required = value_of(sides[1 - member], table)
            yield from _below(sides[member], (), False, required, member if len(f.members) > 1 else 0, table, beside)


def _below(
    node: Expr,
    path: tuple[int, ...],
    is_exponent: bool,
    required: Array,
    member: int,
    table: Table,
    beside: tuple[Expr, ...],
) -> Iterator[Place]:
    yield Place(member, path, node, is_exponent, value_of(node, table), required)
    needed: list[tuple[int, Array]] = []
    for position, arg in enumerate(node.args):
        turned = _turned_round(node, position, required, table)
        if turned is None or (node.op in ("add", "sub") and _vanishes(turned, value_of(arg, table))):
            continue  # a term that should not be there at all is no matter of its parts
        needed.append((position, turned))
    if node.args and (not needed or _has_branches(node)):
        needed += [(k, value_of(wanted, table)) for k, wanted in _counterparts(node, required, table, beside)]
    for position, worth in needed:
        is_power = not symbols(node.args[position]) and (is_exponent or (node.op in ("pow", "root") and position == 1))
        yield from _below(node.args[position], (*path, position), is_power, worth, member, table, beside)


def _vanishes(required: Array, value: Array) -> bool:
    return bool((np.abs(required) <= CLOSE * np.abs(value)).all())


def _has_branches(node: Expr) -> bool:
    """Whether an operation has one value at several operands, so that turning it round may give another than meant."""
    if node.op == "pow":
        exponent = node.args[1].value
        return exponent is not None and exponent.numerator % 2 == 0
    return node.op in (*_TRIG, "abs", "cosh")


def _counterparts(node: Expr, required: Array, table: Table, beside: tuple[Expr, ...]) -> Iterator[tuple[int, Expr]]:
    """Operands in which a construct differs from one of the other formula that has the needed value."""
    for other in beside:
        if (other.op, other.name, len(other.args)) != (node.op, node.name, len(node.args)):
            continue
        apart = [k for k, pair in enumerate(zip(node.args, other.args, strict=True)) if _differ(*pair)]
        if len(apart) == 1 and close(value_of(other, table), required):
            yield apart[0], other.args[apart[0]]


def _differ(one: Expr, other: Expr) -> bool:
    return one != other and canonical(one) != canonical(other)


def _turned_round(node: Expr, position: int, required: Array, table: Table) -> Array | None:
    """What an operand has to be for an operation to have a value; None where the operation cannot be turned round."""
    values = [value_of(arg, table) for arg in node.args]
    with np.errstate(all="ignore"):
        if node.op == "add":
            return np.asarray(required - sum(value for k, value in enumerate(values) if k != position))
        if node.op in _PRODUCTS:
            rest = [value for k, value in enumerate(values) if k != position]
            return np.asarray(required / math.prod(rest, start=_constant(1.0, table)))
        if node.op == "sub":
            return required + values[1] if position == 0 else values[0] - required
        if node.op == "div":
            return required * values[1] if position == 0 else values[0] / required
        if node.op == "neg":
            return -required
        if node.op in ("pow", "root"):
            exponent = values[1] if node.op == "pow" else 1 / values[1]
            if position == 1:
                found = np.log(required) / np.log(values[0])
                return np.asarray(found if node.op == "pow" else 1 / found)
            # of an even power the operand keeps its sign
            sign = np.where(values[0].real < 0, -1.0, 1.0)
            return np.asarray(sign * np.power(required, 1 / exponent), dtype=np.complex128)
        if node.op in _INVERSES:
            return _INVERSES[node.op](required)
    return None

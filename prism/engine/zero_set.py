"""Points on the zero set of one formula: drawn once, used against every other formula.

Values come from a counter-based generator keyed by the symbol's name and the problem, so the same name has the same
value in every formula, on every machine, interpreted or compiled. One symbol after another is the target that is
solved for; the others are drawn, in two ranges (semantics Z.2).

Two things are settled here because they concern one formula only: which roots count (semantics Z.1, Z.3), and which
symbols are dead, that is, change nothing (semantics Z.5): the mass in `m g h = m v^2/2`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from prism.algebra.expr import Expr
from prism.algebra.operators import OPS
from prism.budget import STEP
from prism.engine.kernels import floats, ints, source, spend
from prism.engine.lowering import PLAIN, Mismatch, Notation, build_tape, restrict_notation
from prism.engine.rng import uniform
from prism.engine.store import stored
from prism.engine.tape import MAX_VARIABLES, Floats, Tape, TapeTooLarge, mark_dependents

DRAWS_PER_POINT = 4  # draws at most, as a multiple of the points wanted (semantics Z.2)
MAX_OPERATIONS = 3_000_000  # for the points of one formula: a second interpreted; real formulas need a hundredth

BOX_A = (2.0, 20.0)  # even draws
BOX_B = (0.1, 1.4)  # odd draws: box A alone takes 1 + e^{-x} for 1 + 2e^{-x}

EXCURSIONS = (-160, -80, -40, -20, 20, 40, 80, 160)  # powers of two by which a symbol is moved to see if it is dead
EXCURSION_POINTS = 3
_TELLING = 1e-6  # largest rounding bound, relative to the sides, at which their equality is evidence
_IDENTITY_DRAWS = 24  # at which an identity has to hold
_INTERPRETED = 60  # kernel operations that an instruction takes where the kernels are run as Python
_UNDEFINED = 1 << MAX_VARIABLES  # bit in a dependency mask: the instruction has no value at this point
_CALL, _POINT = 20 * STEP, 6 * STEP  # of a tape that is evaluated at points, beside its instructions at each
_MARKED = 60  # operations of an instruction that is looked at in Python: does it depend on an undefined one
_ROOM = 2  # points that fit, as a multiple of the draws: some targets have several roots


class Sampling(NamedTuple):
    """How one symbol is drawn at random, and which roots count when a formula is solved for it.

    Attributes:
        kind: `positive`, `real`, `negative`, `integer`, `angle`; empty for an undeclared symbol, which is drawn
            positive but keeps a lone root of either sign.
        domain: lowest and highest value, or None for the usual ranges.
    """

    kind: str = ""
    domain: tuple[float, float] | None = None

    @property
    def is_positive(self) -> bool:
        """True if only positive values of the symbol are drawn."""
        return self.kind in _POSITIVE_KINDS


CODES = {
    "angle": source.ANGLE, "integer": source.INTEGER, "real": source.SIGNED, "negative": source.NEGATIVE,
    "positive": source.DECLARED_POSITIVE,
}  # fmt: skip
_POSITIVE_KINDS = ("", "positive", "angle", "integer", "constant")
ORDINARY = Sampling()

DRAWS_KEPT = 8192  # symbols with their draws, of half a kilobyte each
_OTHER_STREAM = (1 << 64) - 1  # flips every bit of a key: the signs of a symbol that has either


def draws(name: str, sampling: Sampling, digest: str, count: int) -> tuple[float, ...]:
    """Return `count` random values of the symbol `name`, the same for the same name and problem digest."""
    return tuple(draw_values(name, sampling, digest, count).tolist())


@lru_cache(maxsize=DRAWS_KEPT)
def draw_values(name: str, sampling: Sampling, digest: str, count: int) -> Floats:
    """Return `count` random values of the symbol `name`, the same for the same name and problem digest: float64[count].

    Even draws are from BOX_A (2 to 20), odd ones from BOX_B (0.1 to 1.4), unless the sampling declares a domain, an
    angle or an integer (semantics Z.2, Z.4). The array must not be changed.
    """
    key = int.from_bytes(blake2b(f"{digest}\0{name}".encode(), digest_size=8).digest(), "big")
    kind, domain = sampling.kind, sampling.domain
    u = uniform(key, count)
    if kind == "integer":
        low, high = domain or (1, 12)
        pairs = max(int((high - low + 1) / 2), 1)
        odd = uniform(key ^ _OTHER_STREAM, count) < 0.5  # of each letter by itself: `(-1)^n` is not `(-1)^m`
        odd[1::2] = np.where(np.arange(1, count, 2) % 4 == 1, ~odd[: count - 1 : 2], odd[1::2])
        both_parities = math.ceil(low) + 2.0 * np.floor(pairs * u) + odd
        return np.minimum(both_parities, math.floor(high))
    if domain is None and kind == "angle":
        return (0.02 + 0.96 * u) * math.pi / 2
    lows, widths = _boxes(count) if domain is None else (domain[0], domain[1] - domain[0])
    values: Floats = lows + widths * u
    if domain is None and kind == "negative":
        values = -values
    elif domain is None and kind == "real":
        values = np.where(uniform(key ^ _OTHER_STREAM, count) < 0.5, -values, values)
    return values


@lru_cache(maxsize=16)
def _boxes(count: int) -> tuple[Floats, Floats]:
    """Return the lower end and the width of the range of each draw: float64[count] each."""
    lows, widths = np.empty(count), np.empty(count)
    for first, (low, high) in enumerate((BOX_A, BOX_B)):
        lows[first::2], widths[first::2] = low, high - low
    return lows, widths


def draws_of_tape(tape: Tape, samplings: Mapping[str, Sampling], digest: str, n_draw: int, module: ModuleType) -> Any:
    """Return n_draw random values of each tape variable, symbol by symbol: float64[n_var * n_draw], for `module`."""
    table = [draw_values(name, samplings.get(name, ORDINARY), digest, n_draw) for name in tape.names]
    return floats(module, np.concatenate(table) if table else 1)


@dataclass(frozen=True, slots=True, eq=False)
class ZeroSet:
    """A formula with points on its zero set (where its residual is 0), as arrays for one kind of kernel.

    Attributes:
        tape: of its residual.
        code, consts, dep: of the tape.
        draws: float64[n_var * n_draw], random values symbol by symbol.
        spot, root, n_point: the points, see `kernels.source.find_zero_points`.
        solved: the symbol solved for and its root, point by point.
        subjects: symbols that stand alone on one side and nowhere else.
        negative_roots, positive_roots: symbols with a negative root, symbols with a positive root.
        live: names whose effect on the residual exceeds rounding at some point.
        below_rounding: names that are neither live nor dead: they have an effect, but it is lost in rounding.
        is_identity: zero at every draw.
        origin: what the points were made from; finished ones are compared by it.
    """

    tape: Tape
    code: Any
    consts: Any
    dep: Any
    draws: Any
    n_draw: int
    spot: Any
    root: Any
    n_point: int
    solved: tuple[tuple[str, float], ...] = ()
    subjects: frozenset[str] = frozenset()
    negative_roots: frozenset[str] = frozenset()
    positive_roots: frozenset[str] = frozenset()
    live: frozenset[str] = frozenset()
    below_rounding: frozenset[str] = frozenset()
    is_identity: bool = False
    origin: Hashable = None

    def __hash__(self) -> int:
        """Return the hash of where it comes from."""
        return hash(self.origin)

    def __eq__(self, other: object) -> bool:
        """Return True for points that were drawn and chosen alike."""
        return isinstance(other, ZeroSet) and self.origin == other.origin

    def names(self, mask: int) -> frozenset[str]:
        """Return the names of the variables whose bits are set in `mask` (bit v: variable v)."""
        return frozenset(name for v, name in enumerate(self.tape.names) if mask >> v & 1)

    def point(self, i: int) -> dict[str, float]:
        """Return point number i: the value of each variable by name."""
        d, target = int(self.spot[3 * i]), int(self.spot[3 * i + 1])
        place: dict[str, float] = dict(
            zip(self.tape.names, np.asarray(self.draws[d :: self.n_draw]).tolist(), strict=True)
        )
        place[self.tape.names[target]] = float(self.root[3 * i])
        return place


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Result of evaluating a formula at the points of another one.

    Attributes:
        out: counts, masks and the index of the first mismatch or -1, as the kernel `cross_evaluate` writes them.
        left, right, x: at a mismatch the values of both sides and of the variables in slot order; else 0 and empty.
    """

    out: tuple[int, ...]
    left: float = 0.0
    right: float = 0.0
    x: tuple[float, ...] = ()


def tape_of(residual: Expr, notation: Notation = PLAIN) -> Tape:
    """Return the tape (bytecode) of a residual; it is built once in a process.

    Errors:
        TapeTooLarge, Mismatch: see `lowering.build_tape`.
    """
    return tape_unless_error(tape_or_error(residual, notation))


def tape_unless_error(found: Tape | TapeTooLarge | Mismatch) -> Tape:
    """Return a tape; raise the exception that stands in place of one."""
    if isinstance(found, Tape):
        return found
    raise type(found)(*found.args)


def tape_or_error(residual: Expr, notation: Notation) -> Tape | TapeTooLarge | Mismatch:
    """Return the tape of an expression, or the exception that says why it has none; both are stored."""
    return _tape_or_error(residual, notation if notation is PLAIN else restrict_notation(notation, residual))


@stored
def _tape_or_error(residual: Expr, notation: Notation) -> Tape | TapeTooLarge | Mismatch:
    """Return what `tape_or_error` does, in a notation of nothing but the expression's own letters."""
    try:
        return build_tape(residual, notation)
    except (TapeTooLarge, Mismatch) as error:
        return type(error)(*error.args)


def value_at(node: Expr, values: Mapping[str, float]) -> float | None:
    """Return the value of an expression; None if it is undefined, not one real number, or has an opaque construct.

    Args:
        values: value of each symbol by name; with one missing the result is None too.
    """
    try:
        tape = tape_of(node)
    except (Mismatch, TapeTooLarge):
        return None
    if len(tape.roots) != 1 or tape.atoms or not set(tape.names) <= values.keys():
        return None
    _, value, bound, _, _ = scratch_arrays(source, tape)
    code, consts, dep = ints(source, tape.code), floats(source, tape.consts), ints(source, tape.dep)
    spend(_INTERPRETED * tape.n_op)
    flag = source.evaluate(code, consts, dep, tape.n_op, [values[name] for name in tape.names], 0, value, bound)
    return None if flag or not math.isfinite(value[-1]) else float(value[-1])


def values_at_points(tape: Tape, columns: Sequence[Floats], n_point: int, module: ModuleType) -> Floats:
    """Evaluate the roots (the results) of a tape at many points: float64[n_root, n_point], NaN where one is undefined.

    Args:
        columns: values of each variable of the tape, in slot order: float64[n_point] each.
        module: the kernels, interpreted or compiled.
    """
    n_op, roots = tape.n_op, list(tape.roots)
    spend(_CALL + (_POINT + n_op) * n_point)
    _, value, bound, _, _ = scratch_arrays(module, tape)
    code, consts, dep = ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep)
    blank = floats(module, np.full(n_op, math.nan))
    points = np.array(columns).T if columns else np.empty((n_point, 0))
    out = np.empty((n_point, len(roots)))
    left_out: dict[tuple[int, ...], Any] = {(): dep}
    for i in range(n_point):
        undefined: tuple[int, ...] = ()
        value[:] = blank
        x = floats(module, points[i] if columns else 1)
        while module.evaluate(code, consts, left_out[undefined], n_op, x, _UNDEFINED, value, bound):
            spend(_POINT + n_op)
            before = left_out[undefined]
            is_new = np.isnan(value) & (np.asarray(before) & _UNDEFINED == 0)
            undefined = (*undefined, int(np.argmax(is_new)))
            if undefined not in left_out:
                spend(n_op * _MARKED)
                left_out[undefined] = ints(module, mark_dependents(tape, before, undefined[-1], _UNDEFINED))
        out[i] = np.asarray(value)[roots]
    return np.ascontiguousarray(out.T)


def solve_for_operand(op: str, position: int, result: Floats, known: Floats | None, module: ModuleType) -> Floats:
    """Return the values of one operand for which an operator gives the values `result`: float64[n_point], NaN if none.

    Args:
        op: key of `OPS` with an opcode. position: 0 or 1, of the unknown operand.
        known: values of the other operand of a binary operator; None for a function of one argument.
        module: the kernels, interpreted or compiled.
    """
    opcode, results = OPS[op].opcode, result.tolist()
    if known is None:
        return np.array([module.invert_unary(opcode, w, 0) for w in results])
    pairs = zip(results, known.tolist(), strict=True)
    return np.array([module.invert_binary(opcode, position == 0, w, operand) for w, operand in pairs])


def special_samplings(tape: Tape, samplings: Mapping[str, Sampling]) -> tuple[tuple[str, Sampling], ...]:
    """Return (name, sampling) of a tape's variables that are not sampled as ORDINARY, sorted by name: a cache key."""
    special = [(name, samplings[name]) for name in tape.names if samplings[name] is not ORDINARY]
    return tuple(sorted(special)) if special else ()


@stored
def unsolved_zero_set(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, want: int, module: ModuleType
) -> ZeroSet:
    """Return a formula with random draws of its variables but no points; `is_identity` and `subjects` are set.

    Enough to test the points of another formula on it. Arguments as of `sample_zero_set`.
    """
    n_draw = DRAWS_PER_POINT * want
    table = draws_of_tape(tape, dict(samplings), digest, n_draw, module)
    return ZeroSet(
        tape, ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep), table, n_draw,
        ints(module, 1), floats(module, 1), 0, subjects=isolated_symbols(tape),
        is_identity=_is_zero_at_all_draws(tape, table, n_draw, module), origin=(tape, samplings, digest, want),
    )  # fmt: skip


@stored
def sample_zero_set(
    tape: Tape,
    samplings: tuple[tuple[str, Sampling], ...],
    spectators: frozenset[str],
    digest: str,
    want: int,
    module: ModuleType,
) -> ZeroSet:
    """Find points where a formula holds: draw all symbols but one at random and solve for that one, each in turn.

    Args:
        tape: of the residual; one root.
        samplings: of the symbols that are not ordinary, sorted by name.
        spectators: symbols that are never solved for.
        digest: of the problem; keys the generator.
        want: points wanted; DRAWS_PER_POINT times as many draws are made at most.
        module: the kernels, interpreted or compiled.

    Returns a formula without points if it is an identity.
    """
    points = unsolved_zero_set(tape, samplings, digest, want, module)
    if points.is_identity:
        return points
    n_draw = points.n_draw
    how = dict(samplings)
    n_var, n_op = len(tape.names), tape.n_op
    kinds = [CODES.get(how.get(name, ORDINARY).kind, source.POSITIVE) for name in tape.names]
    estimated = variables_in_estimates(tape)
    targets = [v for v in range(n_var) if kinds[v] != source.INTEGER and tape.names[v] not in spectators]
    targets = [v for v in targets if not estimated >> v & 1] or targets
    room = _ROOM * n_draw
    spot, root, tally = ints(module, 3 * room), floats(module, 3 * room), ints(module, 2)
    n_point = 0
    if targets:
        n_point = int(module.find_zero_points(
            points.code, points.consts, points.dep, n_op, n_var, ints(module, kinds), ints(module, targets),
            len(targets), points.draws, n_draw, want, room, MAX_OPERATIONS // n_op, spot, root,
            *scratch_arrays(module, tape), floats(module, (2 * n_op + 3) * source.WIDTH),
            ints(module, 2 * n_op + source.MAX_BRANCHES), floats(module, 2 * source.WIDTH),
            floats(module, source.MAX_ROOTS + 1), floats(module, 2 * source.MAX_ROOTS + 2), tally,
        ))  # fmt: skip
    spend(int(tally[1]) * n_op)
    solved_for, roots = (np.asarray(each).tolist() for each in (spot[1 : 3 * n_point : 3], root[: 3 * n_point : 3]))
    solved = tuple([(tape.names[v], r) for v, r in zip(solved_for, roots, strict=True)])
    points = _with_points(points, spot, root, solved, _counting_roots(solved, points, how), module)
    own = cross_evaluate(points, points, module)
    live = points.names(own.out[source.LIVE])
    if source.INTEGER in kinds:
        whole = frozenset(name for name, kind in zip(tape.names, kinds, strict=True) if kind == source.INTEGER)
        live = (live - whole) | frozenset(name for name in whole if _depends_on_integer_steps(points, name, module))
    doubtful = points.names(own.out[source.TOUCHED]) - live
    below_rounding = frozenset(name for name in doubtful if not _is_dead(points, name, module))
    origin = tape, samplings, spectators, digest, want
    return replace(points, live=live, below_rounding=below_rounding, origin=origin)


def is_zero_everywhere(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, module: ModuleType
) -> bool:
    """True if the residual is zero at every draw of its symbols: an identity. Arguments as of `sample_zero_set`."""
    table = draws_of_tape(tape, dict(samplings), digest, _IDENTITY_DRAWS, module)
    return _is_zero_at_all_draws(tape, table, _IDENTITY_DRAWS, module)


def variables_in_estimates(tape: Tape) -> int:
    """Return the mask of variables inside quadratures: solving for one of them is slow."""
    if not tape.is_estimate:
        return 0
    return int(np.bitwise_or.reduce(tape.dep[tape.code[::3] == source.WIDEN], initial=0))


def _counting_roots(solved: tuple[tuple[str, float], ...], points: ZeroSet, how: Mapping[str, Sampling]) -> list[int]:
    """Return the places in `solved` whose root is neither outside a declared domain nor 0 by a common factor only.

    Sampled values are not zero, so `R v = R^3 k` has no root R = 0 of interest; but `a = 0` has no other (semantics
    Z.1). A root of 0 is left out where any symbol has a root that is not 0, unless the symbol is the formula's subject
    (`f = max(0, x)` is 0 for some x) or its only unknown (`x^2 = x`).
    """
    has_nonzero = any(root for _, root in solved)
    kept = []
    for i, (name, root) in enumerate(solved):
        domain = how[name].domain if name in how else None
        if domain and not domain[0] <= root <= domain[1]:
            continue
        if root or name in points.subjects or not has_nonzero or len(points.tape.names) == 1:
            kept.append(i)
    return kept


def isolated_symbols(tape: Tape) -> frozenset[str]:
    """Return the symbols that are one side of the formula and do not occur on the other: `F` of `F = m a`."""
    opcode, *sides = tape.code[-3:].tolist()
    if tape.n_op < 3 or opcode != source.SUB:
        return frozenset()
    alone = []
    for one, other in (sides, sides[::-1]):
        opcode, slot = tape.code[3 * one : 3 * one + 2].tolist()
        if opcode == source.SYM and not int(tape.dep[other]) >> slot & 1:
            alone.append(tape.names[slot])
    return frozenset(alone)


def _with_points(
    points: ZeroSet, spot: Any, root: Any, solved: tuple[tuple[str, float], ...], kept: list[int], module: ModuleType
) -> ZeroSet:
    """Return the formula with those points of `spot`, `root` and `solved` whose numbers are `kept`."""
    n_point, end = len(kept), 3 * len(kept)
    if n_point < len(solved):
        spot, root = ([part for i in kept for part in each[3 * i : 3 * i + 3]] for each in (spot, root))
        solved = tuple([solved[i] for i in kept])
    return replace(
        points,
        spot=ints(module, spot[:end].copy() if n_point else 1),  # without the room that was left
        root=floats(module, root[:end].copy() if n_point else 1),
        n_point=n_point,
        solved=solved,
        negative_roots=frozenset([name for name, value in solved if value < 0]),
        positive_roots=frozenset([name for name, value in solved if value > 0]),
    )


@stored
def without_negative_roots(points: ZeroSet, names: frozenset[str], module: ModuleType) -> ZeroSet:
    """Return the formula without the points that are negative roots of one of the symbols `names`."""
    solved = points.solved
    kept = [i for i, (name, root) in enumerate(solved) if root >= 0 or name not in names]
    is_same = len(kept) == points.n_point
    chosen = points if is_same else _with_points(points, points.spot, points.root, solved, kept, module)
    return replace(chosen, origin=(points.origin, names))


def _is_dead(points: ZeroSet, name: str, module: ModuleType) -> bool:
    """True if a symbol has no effect: multiplied by powers of two up to 2^160, it leaves every point tried a zero.

    A gradient alone cannot tell a factor that divides out from a term too small to see; moved far enough, the term
    shows. False if no point could be tried.
    """
    tape = points.tape
    moved = tape.names.index(name)
    x, value, bound, _, _ = scratch_arrays(module, tape)
    seen = 0
    for i in range(points.n_point):
        target = int(points.spot[3 * i + 1])
        if target == moved or seen >= EXCURSION_POINTS:
            continue
        for v in range(len(tape.names)):
            x[v] = points.draws[v * points.n_draw + int(points.spot[3 * i])]
        x[target] = points.root[3 * i]
        start = float(x[moved])
        evaluated = 0
        for power in EXCURSIONS:
            x[moved] = start * 2.0**power
            if _has_no_value(points, x, value, bound, module):
                continue
            if abs(value[tape.n_op - 1]) > source.INFORMATIVE * bound[tape.n_op - 1]:
                return False
            evaluated += 1
        seen += evaluated > 0
    return seen > 0


def _depends_on_integer_steps(points: ZeroSet, name: str, module: ModuleType) -> bool:
    """True if adding 1 or 2 to an integer symbol changes the residual at a point; a gradient misses `cos(n pi)`."""
    tape = points.tape
    moved = tape.names.index(name)
    x, value, bound, _, _ = scratch_arrays(module, tape)
    for i in range(min(points.n_point, EXCURSION_POINTS)):
        place = points.point(i)
        for step in (1.0, 2.0):
            for v, other in enumerate(tape.names):
                x[v] = place[other]
            x[moved] += step
            if _has_no_value(points, x, value, bound, module):
                continue
            if abs(value[tape.n_op - 1]) > source.INFORMATIVE * bound[tape.n_op - 1]:
                return True
    return False


def _is_zero_at_all_draws(tape: Tape, table: Any, n_draw: int, module: ModuleType) -> bool:
    """True if the residual is zero within a (small) rounding bound at every draw where defined: an identity.

    Args:
        table: float64[n_var * n_draw], the draws, symbol by symbol.
    """
    n_op = tape.n_op
    code, consts, dep = ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep)
    value, bound = floats(module, n_op), floats(module, n_op)
    is_seen = False
    for d in range(n_draw):
        spend(n_op)
        if module.evaluate(code, consts, dep, n_op, table[d::n_draw].copy(), 0, value, bound):
            continue
        if abs(value[-1]) > 4 * bound[-1]:
            return False
        if not is_seen:  # beyond, anything is zero within its bound
            is_seen = bool(bound[-1] <= _TELLING * max(map(abs, _side_values(tape, value))))
    return is_seen


def cross_evaluate(tested: ZeroSet, sampled: ZeroSet, module: ModuleType, rules: int = 0) -> Crossing:
    """Evaluate the residual of `tested` at the points of `sampled`, and count at how many it is zero.

    Args:
        tested, sampled: formulas drawn with the same samplings, digest and kernels.
        module: the kernels, interpreted or compiled.
        rules: bits IN_RANGE, EXACT, MEASURED of the kernel `cross_evaluate`. POLES_COUNT is added here, but not for a
            quadrature, which may have poles that its formula has not.
    """
    tape = tested.tape
    place = {name: v for v, name in enumerate(tape.names)}
    slots = [place.get(name, -1) for name in sampled.tape.names]
    work = scratch_arrays(module, tape)
    out = ints(module, source.N_OUT)
    module.cross_evaluate(
        tested.code, tested.consts, tested.dep, tape.n_op, len(tape.names), tested.draws, tested.n_draw,
        ints(module, slots or 1), sampled.spot, sampled.root, sampled.n_point,
        rules if tape.is_estimate else rules | source.POLES_COUNT, *work, out,
    )  # fmt: skip
    spend(tape.n_op * 3 * sampled.n_point)
    found = tuple(np.asarray(out).tolist())
    if found[source.MISMATCH] < 0:
        return Crossing(found)
    return Crossing(found, *_side_values(tape, work[1]), tuple(np.asarray(work[0]).tolist()))


def _side_values(tape: Tape, value: Any) -> tuple[float, float]:
    """Return left and right side, from the values of all instructions; (residual, 0) if it is no sum or difference."""
    opcode, a, b = tape.code[-3:].tolist()
    return (float(value[a]), float(value[b])) if opcode in (source.SUB, source.ADD) else (float(value[-1]), 0.0)


def _has_no_value(points: ZeroSet, x: Any, value: Any, bound: Any, module: ModuleType) -> bool:
    """Evaluate a formula at the values `x` of its variables, into `value` and `bound`; True if it is undefined."""
    spend(points.tape.n_op)
    return bool(module.evaluate(points.code, points.consts, points.dep, points.tape.n_op, x, 0, value, bound))


def gradient_at(points: ZeroSet, at: Mapping[str, float], module: ModuleType) -> list[float]:
    """Return the derivative of the residual by each variable, in slot order; empty where the residual is undefined.

    `points`: the formula, its points are not used; `at`: value of each variable by name; `module`: the kernels.
    """
    tape = points.tape
    x, value, bound, adjoint, grad = scratch_arrays(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = at[name]
    if _has_no_value(points, x, value, bound, module):
        return []
    module.gradient(points.code, tape.n_op, len(tape.names), value, adjoint, grad)
    return [float(g) for g in grad[: len(tape.names)]]


def scratch_arrays(module: ModuleType, tape: Tape) -> tuple[Any, ...]:
    """Return zeroed arrays (x, value, bound, adjoint, grad) for a tape and kernels `module`: lists or NumPy."""
    n_var, n_op = max(len(tape.names), 1), tape.n_op
    sizes = (n_var, n_op, n_op, n_op, n_var)
    return tuple([0.0] * n for n in sizes) if module is source else tuple(map(np.zeros, sizes))

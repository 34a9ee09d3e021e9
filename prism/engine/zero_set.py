r"""Points on the zero set of one formula: drawn once, used against every other formula.

Values come from a counter-based generator keyed by the symbol's name and the problem, so the same name has the same
value in every formula, on every machine, interpreted or compiled. One symbol after another is the target that is
solved for; the others are drawn, in two ranges (semantics Z.2).

Two things are settled here because they concern one formula only: which roots count (Z.1, Z.3), and which symbols
are dead, that is, change nothing (Z.5): the mass in `m g h = m v^2/2`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from hashlib import blake2b
from operator import or_
from types import ModuleType
from typing import Any

import numpy as np

from prism.algebra.expr import Expr
from prism.engine.kernels import floats, ints, source, spend
from prism.engine.lowering import PLAIN, Mismatch, Notation, build_tape, narrowed
from prism.engine.rng import uniform
from prism.engine.tape import Floats, Tape, TapeTooLarge

DRAWS_PER_POINT = 4  # draws at most, as a multiple of the points wanted (semantics Z.2)
MAX_OPERATIONS = 3_000_000  # for the points of one formula: a second interpreted; real formulas need a hundredth
KEPT = 1024  # formulas whose points are remembered in a process

BOX_A = (2.0, 20.0)  # even draws
BOX_B = (0.1, 1.4)  # odd draws: box A alone takes 1 + e^{-x} for 1 + 2e^{-x}

EXCURSIONS = (-160, -80, -40, -20, 20, 40, 80, 160)  # powers of two by which a symbol is moved to see if it is dead
EXCURSION_POINTS = 3
_TELLING = 1e-6  # relative to the sides, the largest rounding bound at which they are seen to be equal
_IDENTITY_DRAWS = 24  # at which an identity has to hold
_ROOM = 2  # points that fit, as a multiple of the draws: some targets have several roots


@dataclass(frozen=True, slots=True, order=True)
class Sampling:
    """How one symbol is drawn, and which of its roots count.

    Attributes:
        kind: `positive`, `real`, `negative`, `integer`, `angle`; empty for an undeclared symbol, which is drawn
            positive but keeps a lone root of either sign.
        domain: lowest and highest value, or None for the usual ranges.
    """

    kind: str = ""
    domain: tuple[float, float] | None = None

    @property
    def is_positive(self) -> bool:
        """Whether only positive values are drawn."""
        return self.kind in _POSITIVE_KINDS


CODES = {
    "angle": source.ANGLE, "integer": source.INTEGER, "real": source.SIGNED, "negative": source.NEGATIVE,
    "positive": source.DECLARED_POSITIVE,
}  # fmt: skip
_POSITIVE_KINDS = ("", "positive", "angle", "integer", "constant")
ORDINARY = Sampling()

_OTHER_STREAM = (1 << 64) - 1  # flips every bit of a key: the signs of a symbol that has either


def draws(name: str, sampling: Sampling, digest: str, count: int) -> tuple[float, ...]:
    """Values of one symbol: draw d from box A if d is even, from box B if it is odd (semantics Z.2, Z.4)."""
    return tuple(drawn(name, sampling, digest, count).tolist())


@lru_cache(maxsize=KEPT)
def drawn(name: str, sampling: Sampling, digest: str, count: int) -> Floats:
    """As `draws`, as an array, which nobody changes."""
    key = int.from_bytes(blake2b(f"{digest}\0{name}".encode(), digest_size=8).digest(), "big")
    kind, domain = sampling.kind, sampling.domain
    u = uniform(key, count)
    if kind == "integer":
        low, high = domain or (1, 12)
        pairs = max(int((high - low + 1) / 2), 1)
        both_parities = math.ceil(low) + 2.0 * np.floor(pairs * u) + np.arange(count) % 2
        return np.minimum(both_parities, math.floor(high))
    if domain is None and kind == "angle":
        return (0.02 + 0.96 * u) * math.pi / 2
    values = np.empty(count)
    for first, box in enumerate((BOX_A, BOX_B)):
        low, high = domain or box
        values[first::2] = low + (high - low) * u[first::2]
    if domain is None and kind == "negative":
        values = -values
    elif domain is None and kind == "real":
        values = np.where(uniform(key ^ _OTHER_STREAM, count) < 0.5, -values, values)
    return values


def table_of(tape: Tape, samplings: Mapping[str, Sampling], digest: str, n_draw: int, module: ModuleType) -> Any:
    """The draws of all variables of a tape, symbol by symbol: float64[n_var * n_draw], as the kernels want them."""
    table = [drawn(name, samplings.get(name, ORDINARY), digest, n_draw) for name in tape.names]
    return floats(module, np.concatenate(table) if table else 1)


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """A formula with points on its zero set, as arrays for one kind of kernel.

    Attributes:
        tape: of its residual.
        code, consts, dep: of the tape.
        draws: float64[n_var * n_draw], symbol by symbol.
        spot, root, n_point: see `kernels.source.zero_points`.
        solved: the symbol solved for and its root, point by point.
        subjects: symbols that stand alone on one side and nowhere else.
        fallen, risen: symbols with a negative root, symbols with a positive root.
        live: names that move the residual at some point.
        faint: names that are neither live nor dead: an effect below rounding.
        is_identity: zero at every draw.
        cost: kernel operations spent.
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
    fallen: frozenset[str] = frozenset()
    risen: frozenset[str] = frozenset()
    live: frozenset[str] = frozenset()
    faint: frozenset[str] = frozenset()
    is_identity: bool = False
    cost: int = 0

    def names(self, mask: int) -> frozenset[str]:
        """Names of the bits that are set."""
        return frozenset(name for v, name in enumerate(self.tape.names) if mask >> v & 1)

    def point(self, i: int) -> dict[str, float]:
        """Point i by name."""
        d, target = int(self.spot[3 * i]), int(self.spot[3 * i + 1])
        place = {name: float(self.draws[v * self.n_draw + d]) for v, name in enumerate(self.tape.names)}
        place[self.tape.names[target]] = float(self.root[3 * i])
        return place


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """What `kernels.source.cross` found: its `out`; at a mismatch the two sides and the point, else nothing."""

    out: tuple[int, ...]
    left: float = 0.0
    right: float = 0.0
    x: tuple[float, ...] = ()


def tape_of(residual: Expr, notation: Notation = PLAIN) -> Tape:
    """The tape of an expression, built once.

    Errors:
        TapeTooLarge, Mismatch: see `lowering.build_tape`.
    """
    found = _tape_or_fault(residual, notation)
    if isinstance(found, Tape):
        return found
    raise type(found)(*found.args)


@lru_cache(maxsize=KEPT)
def _tape_or_fault(residual: Expr, notation: Notation) -> Tape | TapeTooLarge | Mismatch:
    """A tape; or why there is none: that is as dear to find out, and asked again as often."""
    own = narrowed(notation, residual)
    if own != notation:
        return _tape_or_fault(residual, own)
    try:
        return build_tape(residual, notation)
    except (TapeTooLarge, Mismatch) as error:
        return type(error)(*error.args)


def value_at(node: Expr, values: Mapping[str, float]) -> float | None:
    """Value of an expression, interpreted; None where it has none, or is no single real number.

    Args:
        values: of each of its symbols.
    """
    try:
        tape = tape_of(node)
    except (Mismatch, TapeTooLarge):
        return None
    if len(tape.roots) != 1 or tape.atoms or not set(tape.names) <= values.keys():
        return None
    _, value, bound, _, _ = workspace(source, tape)
    code, consts, dep = ints(source, tape.code), floats(source, tape.consts), ints(source, tape.dep)
    flag = source.evaluate(code, consts, dep, tape.n_op, [values[name] for name in tape.names], 0, value, bound)
    return None if flag or not math.isfinite(value[-1]) else float(value[-1])


def special_of(tape: Tape, samplings: Mapping[str, Sampling]) -> tuple[tuple[str, Sampling], ...]:
    """The variables of a tape that are not drawn as usual, sorted by name."""
    special = [(name, samplings[name]) for name in tape.names if samplings[name] is not ORDINARY]
    return tuple(sorted(special)) if special else ()


@lru_cache(maxsize=KEPT)
def unsolved(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, want: int, module: ModuleType
) -> Points:
    """A formula with its draws, as far as it takes to test the points of another on it; arguments as of `zero_points`.

    Whether it is an identity is known; points of its own have not been looked for.
    """
    points = _without_points(tape, samplings, digest, DRAWS_PER_POINT * want, module)
    return replace(points, subjects=subjects_of(tape), is_identity=_vanishes(points, module))


@lru_cache(maxsize=KEPT)
def zero_points(
    tape: Tape,
    samplings: tuple[tuple[str, Sampling], ...],
    spectators: frozenset[str],
    digest: str,
    want: int,
    module: ModuleType,
) -> Points:
    """Draw points on the zero set of an expression.

    Args:
        tape: of what is set to zero; one component. The same tape, not an equal one, is remembered.
        samplings: of the symbols that are not ordinary, sorted by name.
        spectators: symbols that are never solved for.
        digest: of the problem; keys the generator.
        want: points wanted; DRAWS_PER_POINT times as many draws are made at most.
        module: the kernels to use.
    """
    points = unsolved(tape, samplings, digest, want, module)
    if points.is_identity:
        return points
    n_draw = points.n_draw
    how = dict(samplings)
    n_var, n_op = len(tape.names), tape.n_op
    kinds = [CODES.get(how.get(name, ORDINARY).kind, source.POSITIVE) for name in tape.names]
    estimated = _estimated(tape)
    targets = [v for v in range(n_var) if kinds[v] != source.INTEGER and tape.names[v] not in spectators]
    targets = [v for v in targets if not estimated >> v & 1] or targets
    room = _ROOM * n_draw
    spot, root, tally = ints(module, 3 * room), floats(module, 3 * room), ints(module, 2)
    n_point = 0
    if targets:
        n_point = int(module.zero_points(
            points.code, points.consts, points.dep, n_op, n_var, ints(module, kinds), ints(module, targets),
            len(targets), points.draws, n_draw, want, room, MAX_OPERATIONS // n_op, spot, root,
            *workspace(module, tape), floats(module, (2 * n_op + 3) * source.WIDTH),
            ints(module, 2 * n_op + source.MAX_BRANCHES), floats(module, 2 * source.WIDTH),
            floats(module, source.MAX_ROOTS + 1), floats(module, 2 * source.MAX_ROOTS + 2), tally,
        ))  # fmt: skip
    spend(int(tally[1]) * n_op)
    solved_for, roots = spot[1 : 3 * n_point : 3], root[: 3 * n_point : 3]
    solved = tuple((tape.names[int(v)], float(r)) for v, r in zip(solved_for, roots, strict=True))
    filled = max(3 * n_point, 1)  # without the room that was left
    points = replace(
        points, spot=spot[:filled].copy(), root=root[:filled].copy(), n_point=n_point, cost=int(tally[1]) * n_op,
        **_by_sign(solved),
    )  # fmt: skip
    points = _with_roots_that_count(points, how, module)
    own = cross(points, points, module)
    live = points.names(own.out[source.LIVE])
    whole = frozenset(name for name, kind in zip(tape.names, kinds, strict=True) if kind == source.INTEGER)
    live = (live - whole) | frozenset(name for name in whole if _is_stepping(points, name, module))
    doubtful = points.names(own.out[source.TOUCHED]) - live
    faint = frozenset(name for name in doubtful if not _is_dead(points, name, module))
    return replace(points, live=live, faint=faint)


def _without_points(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, n_draw: int, module: ModuleType
) -> Points:
    """A formula with its draws, not yet solved."""
    table = table_of(tape, dict(samplings), digest, n_draw, module)
    return Points(
        tape, ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep), table, n_draw,
        ints(module, 1), floats(module, 1), 0,
    )  # fmt: skip


def vanishes(tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, module: ModuleType) -> bool:
    """Whether the residual is zero, whatever its symbols are; arguments as of `zero_points`."""
    return _vanishes(_without_points(tape, samplings, digest, _IDENTITY_DRAWS, module), module)


def _estimated(tape: Tape) -> int:
    """Variables of quadratures and infinite sums, as a mask: to solve for one takes hundreds of evaluations."""
    if not tape.is_estimate:
        return 0
    widened = (k for k in range(tape.n_op) if tape.code[3 * k] == source.WIDEN)
    return reduce(or_, (int(tape.dep[k]) for k in widened), 0)


def _with_roots_that_count(points: Points, how: Mapping[str, Sampling], module: ModuleType) -> Points:
    """Leave out roots outside a declared domain, and roots of 0 that only a common factor has.

    What is sampled is not zero, so `R v = R^3 k` has no root R = 0 of interest; but `a = 0` has no other (Z.1). A
    root of 0 is left out where this or another symbol has a root that is not 0. What a formula says its subject is,
    it is: `f = max(0, x)` is 0 for some x; and so is the one unknown of `x^2 = x`.
    """
    nonzero = {name for name, root in points.solved if root}
    kept = []
    for i, (name, root) in enumerate(points.solved):
        domain = how.get(name, ORDINARY).domain
        if domain and not domain[0] <= root <= domain[1]:
            continue
        if root or name in points.subjects or not nonzero or len(points.tape.names) == 1:
            kept.append(i)
    return points if len(kept) == points.n_point else _subset(points, kept, module)


def subjects_of(tape: Tape) -> frozenset[str]:
    """The symbol that stands alone on one side and nowhere else, if there is one."""
    if tape.n_op < 3 or int(tape.code[-3]) != source.SUB:
        return frozenset()
    a, b = (int(place) for place in tape.code[-2:])
    sides = ((a, b), (b, a))
    return frozenset(
        tape.names[int(tape.code[3 * one + 1])]
        for one, other in sides
        if int(tape.code[3 * one]) == source.SYM and not int(tape.dep[other]) >> int(tape.code[3 * one + 1]) & 1
    )


def _subset(points: Points, kept: list[int], module: ModuleType) -> Points:
    """The same formula with some of its points."""
    spot = [int(n) for i in kept for n in points.spot[3 * i : 3 * i + 3]]
    root = [float(r) for i in kept for r in points.root[3 * i : 3 * i + 3]]
    solved = tuple(points.solved[i] for i in kept)
    return replace(
        points, spot=ints(module, spot or 1), root=floats(module, root or 1), n_point=len(kept), **_by_sign(solved)
    )


@lru_cache(maxsize=KEPT)
def without_negative_roots(points: Points, names: frozenset[str], module: ModuleType) -> Points:
    """The same formula without the negative roots of these symbols."""
    kept = [i for i, (name, root) in enumerate(points.solved) if root >= 0 or name not in names]
    return points if len(kept) == points.n_point else _subset(points, kept, module)


def _by_sign(solved: tuple[tuple[str, float], ...]) -> dict[str, Any]:
    """The attributes of `Points` that follow from its roots."""
    fallen = frozenset(name for name, root in solved if root < 0)
    return {"solved": solved, "fallen": fallen, "risen": frozenset(name for name, root in solved if root > 0)}


def _is_dead(points: Points, name: str, module: ModuleType) -> bool:
    """Whether a symbol can be moved over a hundred orders of magnitude and every point remains a zero.

    A gradient alone cannot tell a factor that divides out from a term too small to see; moved far enough, the term
    shows.
    """
    tape = points.tape
    moved = tape.names.index(name)
    x, value, bound, _, _ = workspace(module, tape)
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
            if module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound):
                continue
            if abs(value[tape.n_op - 1]) > source.INFORMATIVE * bound[tape.n_op - 1]:
                return False
            evaluated += 1
        seen += evaluated > 0
    return seen > 0


def _is_stepping(points: Points, name: str, module: ModuleType) -> bool:
    """Whether a whole number changes the residual: its gradient says nothing, as that of `cos(n pi)`."""
    tape = points.tape
    moved = tape.names.index(name)
    x, value, bound, _, _ = workspace(module, tape)
    for i in range(min(points.n_point, EXCURSION_POINTS)):
        place = points.point(i)
        for step in (1.0, 2.0):
            for v, other in enumerate(tape.names):
                x[v] = place[other]
            x[moved] += step
            if module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound):
                continue
            if abs(value[tape.n_op - 1]) > source.INFORMATIVE * bound[tape.n_op - 1]:
                return True
    return False


def _vanishes(points: Points, module: ModuleType) -> bool:
    """True if the residual is zero within its rounding bound at every draw where it is defined."""
    tape = points.tape
    x, value, bound, _, _ = workspace(module, tape)
    is_seen = False
    for d in range(points.n_draw):
        for v in range(len(tape.names)):
            x[v] = points.draws[v * points.n_draw + d]
        if module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound):
            continue
        if abs(value[tape.n_op - 1]) > 4 * bound[tape.n_op - 1]:
            return False
        if not is_seen:  # beyond, anything is zero within its bound
            is_seen = bool(bound[tape.n_op - 1] <= _TELLING * max(map(abs, _sides(tape, value))))
    return is_seen


def cross(here: Points, other: Points, module: ModuleType, rules: int = 0) -> Crossing:
    """Evaluate one formula at the points of another; both must have been drawn with the same samplings.

    Args:
        rules: of `kernels.source.cross` but for POLES_COUNT: a quadrature may have poles that its formula has not.
    """
    tape = here.tape
    place = {name: v for v, name in enumerate(tape.names)}
    slots = [place.get(name, -1) for name in other.tape.names]
    work = workspace(module, tape)
    out = ints(module, source.N_OUT)
    module.cross(
        here.code, here.consts, here.dep, tape.n_op, len(tape.names), here.draws, here.n_draw,
        ints(module, slots or 1), other.spot, other.root, other.n_point,
        rules if tape.is_estimate else rules | source.POLES_COUNT, *work, out,
    )  # fmt: skip
    spend(tape.n_op * 3 * other.n_point)
    found = tuple(map(int, out))
    if found[source.MISMATCH] < 0:
        return Crossing(found)
    return Crossing(found, *_sides(tape, work[1]), tuple(map(float, work[0])))


def _sides(tape: Tape, value: Any) -> tuple[float, float]:
    """Values of left and right after an evaluation; of a residual that is no difference any more, it and 0."""
    opcode, a, b = (int(word) for word in tape.code[-3:])
    return (float(value[a]), float(value[b])) if opcode in (source.SUB, source.ADD) else (float(value[-1]), 0.0)


def gradient_at(points: Points, at: Mapping[str, float], module: ModuleType) -> list[float]:
    """Derivative of the residual by each variable at a point; empty where it is undefined."""
    tape = points.tape
    x, value, bound, adjoint, grad = workspace(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = at[name]
    if module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound):
        return []
    module.gradient(points.code, tape.n_op, len(tape.names), value, adjoint, grad)
    return [float(g) for g in grad[: len(tape.names)]]


def workspace(module: ModuleType, tape: Tape) -> tuple[Any, ...]:
    """Scratch arrays x, value, bound, adjoint, grad for one formula."""
    n_var, n_op = max(len(tape.names), 1), tape.n_op
    sizes = (n_var, n_op, n_op, n_op, n_var)
    return tuple([0.0] * n for n in sizes) if module is source else tuple(map(np.zeros, sizes))

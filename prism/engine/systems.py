"""Points where several residuals vanish at once: vectors, matrices, complex numbers, systems of equations.

As `points`, with Newton's method in as many variables as there are independent equations in place of the roots in
one. Not all roots are found, but each draw begins elsewhere, so no branch is missed for long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import ModuleType
from typing import Any

from prism.engine.kernels import floats, ints, source, spend
from prism.engine.tape import Tape
from prism.engine.zero_set import (
    CODES,
    DRAWS_PER_POINT,
    EXCURSION_POINTS,
    EXCURSIONS,
    KEPT,
    MAX_OPERATIONS,
    ORDINARY,
    Crossing,
    Sampling,
    table_of,
    workspace,
)


@dataclass(frozen=True, slots=True, eq=False)
class SystemPoints:
    """A system with points where all its residuals are zero; attributes as of `points.Points`.

    Attributes:
        roots: int64[n_root], the residuals' instructions.
        spot, place: see `kernels.source.system_points`.
    """

    tape: Tape
    code: Any
    consts: Any
    dep: Any
    roots: Any
    draws: Any
    n_draw: int
    spot: Any
    place: Any
    n_point: int
    live: frozenset[str] = frozenset()
    faint: frozenset[str] = frozenset()
    is_identity: bool = False
    cost: int = 0

    def names(self, mask: int) -> frozenset[str]:
        """Names of the bits that are set."""
        return frozenset(name for v, name in enumerate(self.tape.names) if mask >> v & 1)

    def point(self, i: int) -> dict[str, float]:
        """Point i by name."""
        start = i * (len(self.tape.names) + 1) + 1
        return {name: float(self.place[start + v]) for v, name in enumerate(self.tape.names)}


@lru_cache(maxsize=KEPT)
def unsolved_system(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, want: int, module: ModuleType
) -> SystemPoints:
    """As `points.unsolved`, of a system."""
    n_draw = DRAWS_PER_POINT * want
    points = SystemPoints(
        tape, ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep),
        ints(module, list(tape.roots)), table_of(tape, dict(samplings), digest, n_draw, module), n_draw,
        ints(module, 1), floats(module, 1), 0,
    )  # fmt: skip
    return replace(points, is_identity=True) if _vanishes(points, module) else points


@lru_cache(maxsize=KEPT)
def system_points(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, want: int, module: ModuleType
) -> SystemPoints:
    """Draw points of a system; arguments as of `points.zero_points`."""
    points = unsolved_system(tape, samplings, digest, want, module)
    if points.is_identity:
        return points
    how = dict(samplings)
    n_var, n_op, n_root = len(tape.names), tape.n_op, len(tape.roots)
    n_draw = points.n_draw
    kinds = [CODES.get(how.get(name, ORDINARY).kind, source.POSITIVE) for name in tape.names]
    free = sum(1 << v for v in range(n_var) if kinds[v] != source.INTEGER)
    spot, place, tally = ints(module, 3 * n_draw), floats(module, n_draw * (n_var + 1)), ints(module, 2)
    if free:
        x, value, bound, adjoint, grad = workspace(module, tape)
        n_point = int(module.system_points(
            points.code, points.consts, points.dep, n_op, n_var, points.roots, n_root, ints(module, kinds), free,
            points.draws, n_draw, want, MAX_OPERATIONS // n_op, spot, place, x, value, bound, adjoint, grad,
            floats(module, n_root * n_var), floats(module, n_root * max(n_root, n_var)), floats(module, n_root**2),
            ints(module, n_root + 1), ints(module, n_root + 1), tally,
        ))  # fmt: skip
        spot, place = spot[: max(3 * n_point, 1)].copy(), place[: max(n_point * (n_var + 1), 1)].copy()
        points = replace(points, spot=spot, place=place, n_point=n_point, cost=int(tally[1]) * n_op)
    spend(points.cost)
    own = system_cross(points, points, module)
    live = points.names(own.out[source.LIVE])
    doubtful = points.names(own.out[source.TOUCHED]) - live
    faint = frozenset(name for name in doubtful if not _is_dead(points, name, module))
    return replace(points, live=live, faint=faint)


def system_cross(here: SystemPoints, other: SystemPoints, module: ModuleType, rules: int = 0) -> Crossing:
    """Evaluate one system at the points of another; both must have been drawn with the same samplings."""
    slots = {name: v for v, name in enumerate(here.tape.names)}
    slot_of = [slots.get(name, -1) for name in other.tape.names]
    x, value, bound, adjoint, grad = workspace(module, here.tape)
    out = ints(module, source.N_OUT)
    module.system_cross(
        here.code, here.consts, here.dep, here.tape.n_op, len(here.tape.names), here.roots, len(here.tape.roots),
        here.draws, here.n_draw, ints(module, slot_of or 1), len(other.tape.names), other.spot, other.place,
        other.n_point, rules | (0 if here.tape.is_estimate else source.POLES_COUNT), x, value, bound, adjoint, grad,
        out,
    )  # fmt: skip
    spend(here.tape.n_op * 3 * other.n_point)
    found = tuple(int(n) for n in out)
    if found[source.MISMATCH] < 0:
        return Crossing(found)
    left = 0.0 if found[source.POLED] else float(value[here.tape.roots[found[source.AGREED]]])
    return Crossing(found, left, 0.0, tuple(float(v) for v in x))


def _residuals(points: SystemPoints, module: ModuleType, at: Mapping[str, float]) -> list[tuple[float, float]] | None:
    """Value and bound of each residual at a point; None where it is undefined."""
    tape = points.tape
    x, value, bound, _, _ = workspace(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = at[name]
    if module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound):
        return None
    return [(float(value[root]), float(bound[root])) for root in tape.roots]


def _is_dead(points: SystemPoints, name: str, module: ModuleType) -> bool:
    """Whether a symbol can be moved far away and every point remains a zero: see `points`."""
    seen = 0
    for i in range(min(points.n_point, EXCURSION_POINTS)):
        at = points.point(i)
        for power in EXCURSIONS:
            found = _residuals(points, module, {**at, name: at[name] * 2.0**power})
            if found is None:
                continue
            if any(abs(value) > source.INFORMATIVE * bound for value, bound in found):
                return False
            seen += 1
    return seen > 0


def _vanishes(points: SystemPoints, module: ModuleType) -> bool:
    """True if all residuals are zero within their rounding bounds at every draw where they are defined."""
    seen = 0
    for d in range(points.n_draw):
        at = {name: float(points.draws[v * points.n_draw + d]) for v, name in enumerate(points.tape.names)}
        found = _residuals(points, module, at)
        if found is None:
            continue
        if any(abs(value) > 4 * bound for value, bound in found):
            return False
        seen += all(bound < 1.0 for _, bound in found)  # beyond, anything is zero within its bound
    return seen > 0

"""Points where several residuals vanish at once: vectors, matrices, complex numbers, systems of equations.

As `zero_set`, with Newton's method in as many variables as there are independent equations in place of the roots in
one. Not all roots are found, but each draw begins elsewhere, so no branch is missed for long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from prism.budget import STEP
from prism.engine.kernels import floats, ints, source, spend
from prism.engine.store import stored
from prism.engine.tape import Tape
from prism.engine.zero_set import (
    CODES,
    DRAWS_PER_POINT,
    EXCURSION_POINTS,
    EXCURSIONS,
    MAX_OPERATIONS,
    ORDINARY,
    Crossing,
    Sampling,
    draws_of_tape,
    scratch_arrays,
)

_PLACE = 20  # operations to write or read one value of a point in Python


@dataclass(frozen=True, slots=True, eq=False)
class SystemZeroSet:
    """A system of several residuals with points where all of them are zero, as arrays for one kind of kernel.

    Attributes:
        roots: int64[n_root], the position of each residual's instruction.
        spot, place, n_point: the points, see `kernels.source.find_system_points`.
        live, below_rounding, is_identity and the others: as in `zero_set.ZeroSet`.
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
    below_rounding: frozenset[str] = frozenset()
    is_identity: bool = False

    def names(self, mask: int) -> frozenset[str]:
        """Return the names of the variables whose bits are set in `mask` (bit v: variable v)."""
        return frozenset(name for v, name in enumerate(self.tape.names) if mask >> v & 1)

    def point(self, i: int) -> dict[str, float]:
        """Return point number i: the value of each variable by name."""
        start = i * (len(self.tape.names) + 1) + 1
        return {name: float(self.place[start + v]) for v, name in enumerate(self.tape.names)}


@stored
def unsolved_system(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, want: int, module: ModuleType
) -> SystemZeroSet:
    """Return a system with random draws but no points, to be cross-evaluated; arguments as of `sample_system`."""
    n_draw = DRAWS_PER_POINT * want
    points = SystemZeroSet(
        tape, ints(module, tape.code), floats(module, tape.consts), ints(module, tape.dep),
        ints(module, list(tape.roots)), draws_of_tape(tape, dict(samplings), digest, n_draw, module), n_draw,
        ints(module, 1), floats(module, 1), 0,
    )  # fmt: skip
    return replace(points, is_identity=True) if _is_zero_at_all_draws(points, module) else points


@stored
def sample_system(
    tape: Tape, samplings: tuple[tuple[str, Sampling], ...], digest: str, want: int, module: ModuleType
) -> SystemZeroSet:
    """Find points where all residuals of a system are zero, by Newton's method from random draws; none for an identity.

    Args:
        tape: one root for each residual. samplings: how symbols that are not ordinary are drawn, sorted by name.
        digest: of the problem; keys the draws. want: points wanted. module: the kernels, interpreted or compiled.
    """
    points = unsolved_system(tape, samplings, digest, want, module)
    if points.is_identity:
        return points
    how = dict(samplings)
    n_var, n_op, n_root = len(tape.names), tape.n_op, len(tape.roots)
    n_draw = points.n_draw
    kinds = [CODES.get(how.get(name, ORDINARY).kind, source.POSITIVE) for name in tape.names]
    free = sum(1 << v for v in range(n_var) if kinds[v] != source.INTEGER)
    spend(n_draw * (n_var + 4) + 3 * n_root * max(n_root, n_var))  # the arrays
    spot, place, tally = ints(module, 3 * n_draw), floats(module, n_draw * (n_var + 1)), ints(module, 2)
    if free:
        x, value, bound, adjoint, grad = scratch_arrays(module, tape)
        n_point = int(module.find_system_points(
            points.code, points.consts, points.dep, n_op, n_var, points.roots, n_root, ints(module, kinds), free,
            points.draws, n_draw, want, MAX_OPERATIONS // n_op, spot, place, x, value, bound, adjoint, grad,
            floats(module, n_root * n_var), floats(module, n_root * max(n_root, n_var)), floats(module, n_root**2),
            ints(module, n_root + 1), ints(module, n_root + 1), tally,
        ))  # fmt: skip
        spot, place = spot[: max(3 * n_point, 1)].copy(), place[: max(n_point * (n_var + 1), 1)].copy()
        points = replace(points, spot=spot, place=place, n_point=n_point)
    spend(int(tally[1]) * n_op)
    own = cross_evaluate_system(points, points, module)
    live = points.names(own.out[source.LIVE])
    doubtful = points.names(own.out[source.TOUCHED]) - live
    below_rounding = frozenset(name for name in doubtful if not _is_dead(points, name, module))
    return replace(points, live=live, below_rounding=below_rounding)


def cross_evaluate_system(
    tested: SystemZeroSet, sampled: SystemZeroSet, module: ModuleType, rules: int = 0
) -> Crossing:
    """Evaluate the residuals of `tested` at the points of `sampled`, drawn alike; count the points where all are zero.

    `rules`: bits of the kernel `cross_evaluate`; `module`: the kernels. A mismatch has its residual as `left`.
    """
    tape = tested.tape
    place = {name: v for v, name in enumerate(tape.names)}
    slots = [place.get(name, -1) for name in sampled.tape.names]
    x, value, bound, adjoint, grad = scratch_arrays(module, tape)
    out = ints(module, source.N_OUT)
    spend(tape.n_op * (2 + len(tape.roots)) * sampled.n_point)
    module.cross_evaluate_system(
        tested.code, tested.consts, tested.dep, tape.n_op, len(tape.names), tested.roots, len(tape.roots),
        tested.draws, tested.n_draw, ints(module, slots or 1), len(sampled.tape.names), sampled.spot, sampled.place,
        sampled.n_point, rules | (0 if tape.is_estimate else source.POLES_COUNT), x, value, bound, adjoint, grad,
        out,
    )  # fmt: skip
    found = tuple(np.asarray(out).tolist())
    if found[source.MISMATCH] < 0:
        return Crossing(found)
    left = 0.0 if found[source.POLED] else float(value[tape.roots[found[source.AGREED]]])
    return Crossing(found, left, 0.0, tuple(np.asarray(x).tolist()))


def _evaluate_residuals(points: SystemZeroSet, module: ModuleType, x: Any) -> list[tuple[float, float]] | None:
    """Return (value, rounding bound) of each residual at the values `x`, in slot order; None where undefined."""
    tape = points.tape
    n_op = tape.n_op
    spend(n_op + STEP + _PLACE * (len(tape.names) + len(tape.roots)))
    value, bound = floats(module, n_op), floats(module, n_op)
    if module.evaluate(points.code, points.consts, points.dep, n_op, x, 0, value, bound):
        return None
    return [(float(value[root]), float(bound[root])) for root in tape.roots]


def _is_dead(points: SystemZeroSet, name: str, module: ModuleType) -> bool:
    """True if the symbol `name` has no effect: multiplied by powers of two up to 2^160, all residuals remain zero."""
    seen, moved, n_var = 0, points.tape.names.index(name), len(points.tape.names)
    for i in range(min(points.n_point, EXCURSION_POINTS)):
        start = i * (n_var + 1) + 1
        for power in EXCURSIONS:
            x = points.place[start : start + n_var].copy()
            x[moved] *= 2.0**power
            found = _evaluate_residuals(points, module, x)
            if found is None:
                continue
            if any(abs(value) > source.INFORMATIVE * bound for value, bound in found):
                return False
            seen += 1
    return seen > 0


def _is_zero_at_all_draws(points: SystemZeroSet, module: ModuleType) -> bool:
    """True if all residuals are zero within (small) rounding bounds at every draw where defined: an identity."""
    seen = 0
    for d in range(points.n_draw):
        found = _evaluate_residuals(points, module, points.draws[d :: points.n_draw].copy())
        if found is None:
            continue
        if any(abs(value) > 4 * bound for value, bound in found):
            return False
        seen += all(bound < 1.0 for _, bound in found)  # beyond, anything is zero within its bound
    return seen > 0

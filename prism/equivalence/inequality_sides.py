"""On which side of their common boundary two inequalities hold (semantics Z.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import ModuleType

from prism.algebra.expr import Formula
from prism.engine.kernels import source, spend
from prism.engine.zero_set import Sampling, ZeroSet, draws, scratch_arrays
from prism.equivalence.notation.choice import notation_of
from prism.equivalence.points.pairs import prepare_pair
from prism.equivalence.points.trials import AnyPoints, draw_both, trial_for
from prism.equivalence.verdict import Status, Verdict
from prism.physics.context import Context

_RELATIVE_STEPS = (-0.1, 0.1, -1e-5, 1e-5)  # from a boundary: far, and so near that another bound beside it is told


def compare_inequality_sides(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    """Decide if two inequalities with the same boundary hold on the same side of it.

    Tested on both sides, where a symbol is moved a tenth up and down from its value on the boundary; and at the free
    draws, where the two may differ although they share the boundary (semantics Z.8).

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        verdict: on their boundaries, equivalent; it is returned if the sides agree.
    """
    pair = prepare_pair(a, b, context, notation_of(a, b, context))
    if pair is None or len(pair.tapes[0].roots) > 1:
        return replace(verdict, status=Status.UNDECIDED, reason="unsupported", proof=None)
    upward = [1 if f.relations[0] in (">", ">=") else -1 for f in (a, b)]
    trial = trial_for(pair)
    both = draw_both(trial, pair.samplings)
    seen = set()
    for point in points_around(both[0], pair.samplings, context.digest):
        signs = [residual_sign(points, point, trial.module) * side for points, side in zip(both, upward, strict=True)]
        if 0 in signs:
            continue
        if signs[0] != signs[1]:
            return replace(verdict, status=Status.DIFFERENT, reason="opposite_side", proof=None)
        seen.add(signs[0])
    if seen != {1, -1}:
        return replace(verdict, status=Status.UNDECIDED, reason="too_few_points", proof=None)
    return verdict


def points_around(boundary: AnyPoints, samplings: Mapping[str, Sampling], digest: str) -> Iterator[dict[str, float]]:
    """Yield points (values by name) at random places and then close to a boundary, on both sides of it.

    Args:
        boundary: points on the boundary.
        samplings: from which numbers each variable is drawn.
        digest: key of the random generator.
    """
    assert isinstance(boundary, ZeroSet)
    table = {name: draws(name, sampling, digest, boundary.n_draw) for name, sampling in samplings.items()}
    for d in range(boundary.n_draw):
        yield {name: values[d] for name, values in table.items()}
    for i, (target, root) in enumerate(boundary.solved):
        point = {name: values[int(boundary.spot[3 * i])] for name, values in table.items()}
        room = abs(root) or 1.0
        if samplings[target].kind == "angle" and samplings[target].domain is None:
            room = min(room, source.HALF_PI - root)
        for step in _RELATIVE_STEPS:
            yield {**point, target: root + step * room}


def residual_sign(points: AnyPoints, point: Mapping[str, float], module: ModuleType) -> int:
    """Return the sign, 1 or -1, of a formula's left minus right side at a point.

    0 where undefined or lost in rounding.

    Args:
        points: the formula, prepared for evaluation.
        point: values by name.
        module: the kernels that evaluate.
    """
    tape = points.tape
    x, value, bound, _, _ = scratch_arrays(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = point[name]
    spend(tape.n_op)
    flag = module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound)
    if flag or abs(value[-1]) <= source.INFORMATIVE * bound[-1]:
        return 0
    return 1 if value[-1] > 0 else -1

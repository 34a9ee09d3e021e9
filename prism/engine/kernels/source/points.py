"""Points on the zero set of one formula."""

from __future__ import annotations

# isort: skip_file
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
import math

from prism.engine.kernels.marking import PART, STAGE, marker

from .constants import (
    ANGLE, CONDITION, COS, DECLARED_POSITIVE, HALF_PI, INFORMATIVE, INTS, NEGATIVE, NEWTON_STEPS, NUM, REALS,
    OVERDRAFT, SIGNED, SIN, TAN, TELLING,
)  # fmt: skip
from .evaluation import evaluate, gradient
from .roots import polish_root, candidate_roots

_kernel = marker(__name__)


@_kernel(f"int64({INTS}, int64, {REALS})", PART)
def in_principal_range(code, n_op, value):
    """Return 1 if every sine, cosine and tangent has its argument in the range of its inverse function, else 0.

    value: of each instruction. The ranges: [0, pi] of a cosine, [-pi/2, pi/2] of sine and tangent.
    """
    for k in range(n_op):
        op = code[3 * k]
        if op == SIN or op == COS or op == TAN:
            p = value[code[3 * k + 1]]
            if op == COS and not 0.0 <= p <= math.pi:
                return 0
            if op != COS and not -HALF_PI <= p <= HALF_PI:
                return 0
    return 1


@_kernel(f"float64({INTS}, {REALS}, int64, {REALS}, {REALS})", PART)
def decimal_spread(code, consts, n_op, value, adjoint):
    """Return the uncertainty of the residual F due to measured decimals: sum of |c dF/dc| * relative uncertainty of c.

    adjoint: as `gradient` left it. Source: semantics N.1.
    """
    total = 0.0
    for k in range(n_op):
        if code[3 * k] == NUM:
            total += abs(adjoint[k] * value[k]) * consts[3 * code[3 * k + 1] + 2]
    return total


@_kernel(f"boolean(int64, {REALS}, {REALS}, float64, int64, float64)", PART)
def effects_exceed_rounding(n_var, x, grad, bound, target, noise):
    """True if every variable changes the residual by more than rounding; False for t in `1 - e^{-t}` at large t.

    bound: rounding bound of the residual. noise: relative uncertainty of the root x[target].
    """
    slack = bound + noise * abs(grad[target]) * (abs(x[target]) if x[target] != 0.0 else 1.0)
    for v in range(n_var):
        effect = abs(grad[v]) * (abs(x[v]) if x[v] != 0.0 else 1.0)
        if effect <= INFORMATIVE * slack:
            return False
    return True


@_kernel(f"int64({REALS}, int64, int64)", PART)
def select_roots(distinct, n_distinct, kind):
    """Move the roots that count for a symbol of this kind to the front of `distinct`; return their number.

    Angles: those in (0, pi/2). A declared positive or a negative symbol: those of its sign. A signed symbol: all. Any
    other: the one real root as it is, of several the positive ones. distinct: n_distinct pairs (root, uncertainty).
    Source: semantics Z.3.
    """
    n = 0
    if kind == ANGLE:
        for i in range(n_distinct):
            if 0.0 < distinct[2 * i] < HALF_PI:
                distinct[2 * n] = distinct[2 * i]
                distinct[2 * n + 1] = distinct[2 * i + 1]
                n += 1
        return n
    if kind == SIGNED or (n_distinct <= 1 and kind != DECLARED_POSITIVE and kind != NEGATIVE):
        return n_distinct
    for i in range(n_distinct):
        if distinct[2 * i] != 0.0 and (distinct[2 * i] > 0.0) == (kind != NEGATIVE):
            distinct[2 * n] = distinct[2 * i]
            distinct[2 * n + 1] = distinct[2 * i + 1]
            n += 1
    return n


@_kernel(
    f"int64({INTS}, {REALS}, {INTS}, int64, int64, {REALS}, int64, {REALS}, int64, {REALS}, {REALS}, {REALS}, {REALS}, "
    f"{REALS}, {INTS})",
    STAGE,
)
def polished_roots(code, consts, dep, n_op, n_var, x, target, roots, n_root, value, bound, adjoint, grad, distinct,
                   tally):  # fmt: skip
    """Refine candidate roots by Newton steps; return the number of different ones, known to a relative CONDITION.

    roots: float64[n_root], candidates. distinct: float64[2 * (MAX_ROOTS + 1)], the result: root, relative uncertainty.
    """
    n_distinct = 0
    for i in range(n_root):
        x[target] = roots[i]
        tally[1] += NEWTON_STEPS
        noise = polish_root(code, consts, dep, n_op, n_var, x, target, value, bound, adjoint, grad)
        fresh = 0.0 <= noise <= CONDITION
        for j in range(n_distinct):
            if abs(distinct[2 * j] - x[target]) <= 1e-7 * abs(x[target]):
                fresh = False
        if fresh:
            distinct[2 * n_distinct] = x[target]
            distinct[2 * n_distinct + 1] = noise
            n_distinct += 1
    return n_distinct


@_kernel(
    f"int64({INTS}, {REALS}, {INTS}, int64, int64, {INTS}, {INTS}, int64, {REALS}, int64, int64, int64, int64, "
    f"{INTS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {INTS}, {REALS}, {REALS}, "
    f"{REALS}, {INTS})"
)
def find_zero_points(code, consts, dep, n_op, n_var, kinds, targets, n_target, draws, n_draw, want, room, budget, spot,
                root, x, value, bound, adjoint, grad, poly, degree, work, roots, distinct, tally):  # fmt: skip
    """Find points on the zero set of a formula, solving for one target after another; return their number.

    kinds: int64[n_var]. targets: int64[n_target], slots that may be solved for. draws: float64[n_var * n_draw].
    want: points after which to stop, once every target has had one. room: points that fit. budget: evaluations after
    which no draw begins; one that has begun ends at OVERDRAFT times as many.
    spot: int64[room * 3], the result: draw, target, flags PRINCIPAL and TELLING. root: float64[room * 3], the result:
    root, its relative uncertainty, and what measured decimals add to it. tally: int64[2], the result: draws and
    evaluations used. x..distinct: scratch, distinct float64[2 * (MAX_ROOTS + 1)].
    Source: semantics Z.1-Z.4.
    """
    n_point = 0
    served = 0
    everyone = 0
    for i in range(n_target):
        everyone |= 1 << targets[i]
    for d in range(n_draw):
        if (n_point >= want and served == everyone) or tally[1] > budget:
            break
        tally[0] = d + 1
        # with an even number of targets the shift keeps a target from meeting one box only
        turn = d + d // n_target if n_target % 2 == 0 else d
        target = targets[turn % n_target]
        for v in range(n_var):
            x[v] = draws[v * n_draw + d]
        n_root = candidate_roots(code, consts, dep, n_op, x, target, kinds[target], value, bound, poly, degree, work,
                                 roots, tally, OVERDRAFT * budget)  # fmt: skip
        n_distinct = polished_roots(code, consts, dep, n_op, n_var, x, target, roots, n_root, value, bound, adjoint,
                                    grad, distinct, tally)  # fmt: skip
        n_distinct = select_roots(distinct, n_distinct, kinds[target])
        for i in range(n_distinct):
            if n_point >= room:
                break
            x[target] = distinct[2 * i]
            evaluate(code, consts, dep, n_op, x, 0, value, bound)
            spot[3 * n_point] = d
            spot[3 * n_point + 1] = target
            spot[3 * n_point + 2] = in_principal_range(code, n_op, value)
            gradient(code, n_op, n_var, value, adjoint, grad)
            if effects_exceed_rounding(n_var, x, grad, bound[n_op - 1], target, distinct[2 * i + 1]):
                spot[3 * n_point + 2] |= TELLING
            root[3 * n_point] = distinct[2 * i]
            root[3 * n_point + 1] = distinct[2 * i + 1]
            scale = abs(grad[target]) * (abs(x[target]) if x[target] != 0.0 else 1.0)
            root[3 * n_point + 2] = decimal_spread(code, consts, n_op, value, adjoint) / scale if scale > 0.0 else 1.0
            n_point += 1
            served |= 1 << target
    return n_point

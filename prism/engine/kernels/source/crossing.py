"""One formula evaluated at another formula's points."""

from __future__ import annotations

# isort: skip_file
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
from prism.engine.kernels.marking import PART, marker

from .constants import (
    AGREED, ASIDE, BORDER, BORDERLINE, CONDITION, EXACT, FINE_TOLERANCE, IMPRECISE, INFORMATIVE, INTS, IN_RANGE,
    LARGE, LIVE, MEASURED, MISMATCH, NOWHERE, N_OUT, POLE, POLED, POLES_COUNT, PRINCIPAL, REALS, SERVED, SKIPPED,
    SPREAD_LIMIT, SPREAD_SHARE, TELLING, TOLERANCE, TOUCHED,
)  # fmt: skip
from .evaluation import evaluate, gradient
from .points import in_principal_range, decimal_spread

_kernel = marker(__name__)


@_kernel(f"int64(int64, {REALS}, {REALS}, float64, float64, float64, int64, {INTS})", PART)
def classify_residual(n_var, x, grad, f, slack, spread, rules, out):
    """Decide if a residual of absolute value f at point x is zero; return a flag and extend masks in `out`.

    Compared in root space: f against the effect |x_v dF/dx_v| of the weakest variable v, not against F's own size.
    AGREED: zero within the tolerance. MISMATCH: not zero. BORDERLINE: up to BORDER times the threshold. SKIPPED: hidden
    in rounding, no evidence. IMPRECISE: decimals leave too much open. grad: dF/dx_v. slack: rounding error of f.
    spread: its error from measured decimals. rules: bits EXACT (fine tolerance), MEASURED (allow for spread).
    out[TOUCHED], out[LIVE]: masks of variables with any effect, with an effect above rounding. Source: semantics Z.1.
    """
    least = LARGE
    most = 0.0
    for v in range(n_var):
        effect = abs(grad[v]) * (abs(x[v]) if x[v] != 0.0 else 1.0)
        if effect > 0.0:
            out[TOUCHED] |= 1 << v
        if effect > INFORMATIVE * slack:
            out[LIVE] |= 1 << v
            least = min(least, effect)
            most = max(most, effect)
    if most == 0.0:
        return MISMATCH if f > BORDER * slack else SKIPPED
    if rules & MEASURED:
        if f > min(spread, SPREAD_SHARE * least) + TOLERANCE * least + slack:
            return MISMATCH
        if spread > SPREAD_LIMIT * least:
            return IMPRECISE
    threshold = (FINE_TOLERANCE if rules & EXACT else TOLERANCE) * least + slack
    if rules & MEASURED == 0 and f > BORDER * threshold:
        return MISMATCH
    if slack > CONDITION * most:
        return SKIPPED
    return BORDERLINE if rules & MEASURED == 0 and f > threshold else AGREED


@_kernel(f"boolean({INTS}, {REALS}, {INTS}, int64, int64, {REALS}, {REALS}, {REALS})", PART)
def is_isolated_pole(code, consts, dep, n_op, n_var, x, value, bound):
    """True if the formula has no pole slightly aside from x. False: its denominator is lost in rounding there too."""
    for v in range(n_var):
        x[v] *= 1.0 + ASIDE * (1.0 + 0.1 * v)
    flag = evaluate(code, consts, dep, n_op, x, 0, value, bound)
    for v in range(n_var):
        x[v] /= 1.0 + ASIDE * (1.0 + 0.1 * v)
    return flag != POLE


@_kernel(
    f"void({INTS}, {REALS}, {INTS}, int64, int64, {REALS}, int64, {INTS}, {INTS}, {REALS}, int64, "
    f"int64, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {INTS})"
)
def cross_evaluate(code, consts, dep, n_op, n_var, draws, n_draw, slots, spot, root, n_point, rules,
          x, value, bound, adjoint, grad, out):  # fmt: skip
    """Evaluate a formula at another formula's points and count where it is zero; stop at the first mismatch.

    slots: int64[other's n_var], the slot here of each of its variables, or -1. spot, root: its points, see
    `find_zero_points`; both formulas draw the same value for the same name. rules: IN_RANGE leaves out points outside
    the principal range (semantics Z.4), POLES_COUNT takes a pole for a mismatch, EXACT is for formulas with measured
    decimals that are not to be equal by their precision, MEASURED for those that may be (semantics N.1).
    out: int64[N_OUT], the result: out[AGREED], [SKIPPED], [BORDERLINE], [IMPRECISE] count points (see
    `classify_residual`), [MISMATCH] is the mismatch's index or -1, [POLED] 1 if it is a pole; masks: [LIVE] variables
    with an effect above rounding, [TOUCHED] with any, [SERVED] the other's targets at points that agreed.
    """
    for i in range(N_OUT):
        out[i] = 0
    out[MISMATCH] = -1
    for i in range(n_point):
        d = spot[3 * i]
        solved = slots[spot[3 * i + 1]]
        for v in range(n_var):
            x[v] = draws[v * n_draw + d]
        if solved >= 0:
            x[solved] = root[3 * i]
        flag = evaluate(code, consts, dep, n_op, x, 0, value, bound)
        pole = flag == POLE and spot[3 * i + 2] & TELLING and rules & POLES_COUNT
        if flag == NOWHERE or (pole and is_isolated_pole(code, consts, dep, n_op, n_var, x, value, bound)):
            out[MISMATCH] = i
            out[POLED] = 1
            return
        outside = spot[3 * i + 2] & PRINCIPAL == 0
        if flag != 0 or (rules & IN_RANGE and (outside or in_principal_range(code, n_op, value) == 0)):
            out[SKIPPED] += 1
            continue
        gradient(code, n_op, n_var, value, adjoint, grad)
        slack = bound[n_op - 1]
        spread = decimal_spread(code, consts, n_op, value, adjoint) if rules & MEASURED else 0.0
        if solved >= 0:
            effect = abs(grad[solved]) * (abs(x[solved]) if x[solved] != 0.0 else 1.0)
            slack += root[3 * i + 1] * effect
            spread += root[3 * i + 2] * effect
        found = classify_residual(n_var, x, grad, abs(value[n_op - 1]), slack, spread, rules, out)
        if found == MISMATCH:
            out[MISMATCH] = i
            return
        out[found] += 1
        if found == AGREED:
            out[SERVED] |= 1 << spot[3 * i + 1]

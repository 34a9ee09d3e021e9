"""Several residuals at once: vectors, matrices, complex numbers, systems of equations."""

from __future__ import annotations

# isort: skip_file
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
from prism.engine.kernels.marking import PART, STAGE, marker

from .constants import (
    AGREED, ANGLE, BORDERLINE, CONDITION, ELIMINATION, HALF_PI, INTS, IN_RANGE, LARGE, MAX_STEP, MISMATCH, NEGATIVE,
    NOWHERE, N_OUT, OVERDRAFT, POLE, POLED, POLES_COUNT, POLE_MARGIN, PRINCIPAL, RANK, REALS, SERVED, SETTLED, SIGNED,
    SKIPPED, SYSTEM_STEPS, TELLING,
)  # fmt: skip
from .evaluation import evaluate, gradient
from .points import in_principal_range
from .crossing import is_isolated_pole, classify_residual

_kernel = marker(__name__)


@_kernel(f"void({INTS}, int64, {INTS}, int64, {REALS}, {REALS}, {REALS}, {REALS})", PART)
def jacobian(code, n_var, roots, n_root, value, adjoint, grad, jac):
    """Write the derivative of residual j (instruction roots[j]) by variable v into jac[j * n_var + v]."""
    for j in range(n_root):
        gradient(code, roots[j] + 1, n_var, value, adjoint, grad)
        for v in range(n_var):
            jac[j * n_var + v] = grad[v]


@_kernel(f"int64({REALS}, {REALS}, int64, int64, int64, int64, {REALS}, {INTS}, {INTS})")
def choose_targets(jac, x, n_root, n_var, primary, free, work, rows, targets):
    """Choose as many variables to solve for as there are independent equations; return their number, 0 if none.

    primary: the first one chosen; then those with the largest effect. free: bit mask of those that may be
    chosen. jac, x: derivatives at point x. work: float64[n_root * n_var], scratch. rows, targets: int64[n_root], the
    result: equation rows[i] is solved for variable targets[i].
    """
    largest = 0.0
    for j in range(n_root):
        for v in range(n_var):
            scale = abs(x[v]) if x[v] != 0.0 else 1.0
            work[j * n_var + v] = jac[j * n_var + v] * scale if free & (1 << v) else 0.0
            if not abs(work[j * n_var + v]) < LARGE:
                return 0
            largest = max(largest, abs(work[j * n_var + v]))
    used = 0
    for rank in range(n_root):
        best = RANK * largest
        row = -1
        column = -1
        for j in range(n_root):
            for v in range(n_var):
                if used & (1 << v) or (rank == 0 and v != primary):
                    continue
                if abs(work[j * n_var + v]) > best:
                    best = abs(work[j * n_var + v])
                    row = j
                    column = v
        if row < 0:
            return rank
        rows[rank] = row
        targets[rank] = column
        used |= 1 << column
        for j in range(n_root):
            if j != row and work[j * n_var + column] != 0.0:
                factor = work[j * n_var + column] / work[row * n_var + column]
                for v in range(n_var):
                    work[j * n_var + v] -= factor * work[row * n_var + v]
        for v in range(n_var):
            work[row * n_var + v] = 0.0  # not chosen again; a mask of rows has room for 63
    return n_root


@_kernel(f"int64({REALS}, int64, {REALS})", PART)
def invert_matrix(a, n, inverse):
    """Write the inverse of the matrix a, float64[n * n], by Gauss-Jordan, overwriting a; return 1, or 0 if singular."""
    for i in range(n):
        for j in range(n):
            inverse[i * n + j] = 1.0 if i == j else 0.0
    for i in range(n):
        best = 0.0
        row = -1
        for j in range(i, n):
            if abs(a[j * n + i]) > best:
                best = abs(a[j * n + i])
                row = j
        if row < 0 or not best < LARGE:
            return 0
        for k in range(n):
            a[i * n + k], a[row * n + k] = a[row * n + k], a[i * n + k]
            inverse[i * n + k], inverse[row * n + k] = inverse[row * n + k], inverse[i * n + k]
        pivot = a[i * n + i]
        for k in range(n):
            a[i * n + k] /= pivot
            inverse[i * n + k] /= pivot
        for j in range(n):
            factor = a[j * n + i]
            if j != i and factor != 0.0:
                for k in range(n):
                    a[j * n + k] -= factor * a[i * n + k]
                    inverse[j * n + k] -= factor * inverse[i * n + k]
    return 1


@_kernel(
    f"float64({INTS}, {REALS}, {INTS}, int64, int64, {INTS}, int64, {REALS}, int64, int64, {REALS}, {REALS}, {REALS}, "
    f"{REALS}, {REALS}, {REALS}, {REALS}, {INTS}, {INTS}, {INTS}, int64)",
    STAGE,
)
def newton_solve(code, consts, dep, n_op, n_var, roots, n_root, x, primary, free, value, bound, adjoint, grad, jac,
                 work, inverse, rows, targets, tally, limit):  # fmt: skip
    """Solve all residuals by Newton's method, changing x in place; return the relative uncertainty, -1 without a zero.

    primary, free: see `choose_targets`. work: float64[n_root * max(n_root, n_var)]. inverse: float64[n_root * n_root].
    rows, targets: int64[n_root + 1], the last of targets is their number. tally: int64[2], tally[1] counts evaluations,
    of n_op operations each. limit: evaluations at which it ends without a zero.
    """
    noise = -1.0
    rank = 0
    for step in range(SYSTEM_STEPS):
        tally[1] += 1 + n_root + (n_root * n_root * n_root) // (ELIMINATION * n_op)
        if tally[1] > limit:
            return -1.0
        if evaluate(code, consts, dep, n_op, x, 0, value, bound) != 0:
            return -1.0
        jacobian(code, n_var, roots, n_root, value, adjoint, grad, jac)
        if step == 0:
            rank = choose_targets(jac, x, n_root, n_var, primary, free, work, rows, targets)
            targets[n_root] = rank
            if rank == 0:
                return -1.0
        for i in range(rank):
            for k in range(rank):
                work[i * rank + k] = jac[rows[i] * n_var + targets[k]]
        if invert_matrix(work, rank, inverse) == 0:
            return -1.0
        noise = 0.0
        reach = 0.0
        for k in range(rank):
            v = targets[k]
            shift = 0.0
            unsure = 0.0
            for i in range(rank):
                f = value[roots[rows[i]]]
                shift -= inverse[k * rank + i] * f
                unsure += abs(inverse[k * rank + i]) * (abs(f) + bound[roots[rows[i]]])
            scale = abs(x[v]) if x[v] != 0.0 else 1.0
            work[k] = shift
            reach = max(reach, abs(shift) / scale)
            noise = max(noise, unsure / scale)
        if not noise < LARGE:
            return -1.0
        if reach <= SETTLED or noise <= SETTLED * 100.0:
            break
        damp = min(1.0, MAX_STEP / reach)
        for k in range(rank):
            x[targets[k]] += damp * work[k]
    for j in range(n_root):  # equations that were left out because they follow from the others
        if abs(value[roots[j]]) > POLE_MARGIN * bound[roots[j]] + LARGE * max(0.0, noise - CONDITION):
            slope = 0.0
            for v in range(n_var):
                slope = max(slope, abs(jac[j * n_var + v] * x[v]))
            if abs(value[roots[j]]) > CONDITION * slope:
                return -1.0
    return noise


@_kernel(
    f"int64({INTS}, {REALS}, {INTS}, int64, int64, {INTS}, int64, {INTS}, int64, {REALS}, int64, int64, int64, "
    f"{INTS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {INTS}, {INTS}, {INTS})"
)
def find_system_points(code, consts, dep, n_op, n_var, roots, n_root, kinds, free, draws, n_draw, want, budget, spot,
                       place, x, value, bound, adjoint, grad, jac, work, inverse, rows, targets, tally):  # fmt: skip
    """Find points where all residuals are zero, the primary target going round the variables; return their number.

    kinds: int64[n_var]. free: bit mask of the variables that may be solved for. draws: float64[n_var * n_draw].
    spot: int64[n_draw * 3], the result: draw, mask of the variables solved for, flags. place: float64[n_draw *
    (n_var + 1)], the result: relative uncertainty, then the point. tally, want, budget: see `find_zero_points`.
    """
    n_point = 0
    for d in range(n_draw):
        if n_point >= want or tally[1] > budget:
            break
        tally[0] = d + 1
        primary = (d + d // n_var) % n_var
        if free & (1 << primary) == 0:
            continue
        for v in range(n_var):
            x[v] = draws[v * n_draw + d]
        noise = newton_solve(code, consts, dep, n_op, n_var, roots, n_root, x, primary, free, value, bound, adjoint,
                             grad, jac, work, inverse, rows, targets, tally, OVERDRAFT * budget)  # fmt: skip
        good = 0.0 <= noise <= CONDITION
        mask = 0
        for k in range(targets[n_root] if good else 0):
            v = targets[k]
            mask |= 1 << v
            if kinds[v] == ANGLE:
                good = good and 0.0 < x[v] < HALF_PI
            elif kinds[v] == NEGATIVE:
                good = good and x[v] < 0.0
            elif kinds[v] != SIGNED:
                good = good and x[v] > 0.0
        if not good:
            continue
        spot[3 * n_point] = d
        spot[3 * n_point + 1] = mask
        spot[3 * n_point + 2] = in_principal_range(code, n_op, value) | TELLING
        place[n_point * (n_var + 1)] = noise
        for v in range(n_var):
            place[n_point * (n_var + 1) + 1 + v] = x[v]
        n_point += 1
    return n_point


@_kernel(
    f"void({INTS}, {REALS}, {INTS}, int64, int64, {INTS}, int64, {REALS}, int64, {INTS}, int64, {INTS}, {REALS}, "
    f"int64, int64, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {INTS})"
)
def cross_evaluate_system(code, consts, dep, n_op, n_var, roots, n_root, draws, n_draw, slots, n_other, spot, place,
                          n_point, rules, x, value, bound, adjoint, grad, out):  # fmt: skip
    """Evaluate all residuals at the points of another system and count where they are zero; stop at a mismatch.

    slots: int64[n_other], the slot here of each variable there, or -1. out, rules: see `cross_evaluate`; SERVED is a
    mask of the other system's variables, AGREED holds the residual of a mismatch.
    """
    for i in range(N_OUT):
        out[i] = 0
    out[MISMATCH] = -1
    for i in range(n_point):
        d = spot[3 * i]
        noise = place[i * (n_other + 1)]
        solved = 0
        for v in range(n_var):
            x[v] = draws[v * n_draw + d]
        for w in range(n_other):
            v = slots[w]
            if v >= 0:
                x[v] = place[i * (n_other + 1) + 1 + w]
                if spot[3 * i + 1] & (1 << w):
                    solved |= 1 << v
        flag = evaluate(code, consts, dep, n_op, x, 0, value, bound)
        pole = flag == POLE and rules & POLES_COUNT
        if flag == NOWHERE or (pole and is_isolated_pole(code, consts, dep, n_op, n_var, x, value, bound)):
            out[MISMATCH] = i
            out[POLED] = 1
            return
        outside = spot[3 * i + 2] & PRINCIPAL == 0
        if flag != 0 or (rules & IN_RANGE and (outside or in_principal_range(code, n_op, value) == 0)):
            out[SKIPPED] += 1
            continue
        verdict = AGREED
        seen = False
        for j in range(n_root):
            gradient(code, roots[j] + 1, n_var, value, adjoint, grad)
            slack = bound[roots[j]]
            for v in range(n_var):
                if solved & (1 << v):
                    slack += noise * abs(grad[v]) * (abs(x[v]) if x[v] != 0.0 else 1.0)
            found = classify_residual(n_var, x, grad, abs(value[roots[j]]), slack, 0.0, rules, out)
            if found == MISMATCH:
                out[MISMATCH] = i
                out[AGREED] = j
                return
            if found == AGREED:
                seen = True
            elif found == BORDERLINE or (slack > 0.0 and found != AGREED and verdict == AGREED):
                verdict = found
        if verdict == SKIPPED and seen:
            verdict = AGREED  # a component that is nothing but 0 there says nothing
        out[verdict] += 1
        if verdict == AGREED:
            out[SERVED] |= spot[3 * i + 1]

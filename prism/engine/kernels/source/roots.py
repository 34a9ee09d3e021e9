"""Roots of a formula in one variable: by inverting its operators, else as a rational function, else by a scan."""

from __future__ import annotations

# isort: skip_file
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
import math

from prism.engine.kernels.marking import PART, STAGE, marker

from .constants import (
    ABS, ACOS, ACOSH, ADD, ANGLE, ASIN, ASINH, ATAN, ATANH, CONDITION, COS, COSH, DIV, EXP, EXP_LIMIT, FLOOR,
    HALF_PI, INTS, IPOW, LARGE, LN, LN10, LOG10, MAX_BRANCHES, MAX_DEGREE, MAX_PERIODS, MAX_ROOTS, MUL, NAN,
    NEG, NEWTON_STEPS, POW, REALS, REFINE_STEPS, ROOT, SCAN_DECADES, SCAN_POINTS, SIN, SINH, SQRT, SUB, SYM, TAN, TANH,
    TINY, TWO_PI, WIDTH,
)  # fmt: skip
from .evaluation import evaluate, gradient, integer_power

_kernel = marker(__name__)


@_kernel("float64(float64, float64)", PART)
def power_or_nan(p, q):
    """Return p**q for p >= 0; NaN where it is undefined, too large or too small."""
    if p == 0.0:
        return 0.0 if q > 0.0 else NAN
    if abs(q * math.log(p)) > EXP_LIMIT:
        return NAN
    return p**q


@_kernel("float64(int64, boolean, float64, float64)")
def invert_binary(op, left, w, operand):
    """Return the unknown operand for which `op` (add, sub, mul, div, pow) gives the value w; NaN if there is none.

    left: the unknown is the first operand. operand: value of the known one.
    """
    if op == ADD:
        return w - operand
    if op == SUB:
        return w + operand if left else operand - w
    if op == MUL:
        return w / operand if operand != 0.0 else NAN
    if op == DIV:
        if left:
            return w * operand
        return operand / w if w != 0.0 and operand != 0.0 else NAN
    if left:  # base ** operand == w
        if operand == 0.0:
            return NAN
        if w >= 0.0:
            return power_or_nan(w, 1.0 / operand)
        return -power_or_nan(-w, 1.0 / operand) if operand % 2.0 == 1.0 else NAN
    if operand <= 0.0 or operand == 1.0 or w <= 0.0:
        return NAN
    return math.log(w) / math.log(operand)


@_kernel("float64(int64, float64, int64)")
def invert_unary(op, w, n):
    """Return the argument for which the one-operand instruction `op` has the value w, one of them if several; else NaN.

    n: integer of `ipow` and `root`.
    """
    if op == NEG:
        return -w
    if op == SQRT:
        return w * w if w >= 0.0 else NAN
    if op == IPOW:
        if n == 0 or (w == 0.0 and n < 0):
            return NAN
        if w >= 0.0:
            return power_or_nan(w, 1.0 / n)
        return -power_or_nan(-w, 1.0 / n) if n % 2 == 1 else NAN
    if op == ROOT:
        return integer_power(w, n) if w >= 0.0 or n % 2 == 1 else NAN
    if op == ABS:
        return w if w >= 0.0 else NAN
    if op == EXP:
        return math.log(w) if w > 0.0 else NAN
    if op == LN:
        return math.exp(w) if abs(w) < EXP_LIMIT else NAN
    if op == LOG10:
        return math.exp(w * LN10) if abs(w * LN10) < EXP_LIMIT else NAN
    if op == SIN or op == COS:
        if abs(w) > 1.0:
            return NAN
        return math.asin(w) if op == SIN else math.acos(w)
    if op == TAN:
        return math.atan(w)
    if op == ASIN:
        return math.sin(w) if abs(w) <= HALF_PI else NAN
    if op == ACOS:
        return math.cos(w) if 0.0 <= w <= math.pi else NAN
    if op == ATAN:
        return math.tan(w) if abs(w) < HALF_PI else NAN
    if op == SINH:
        return math.asinh(w)
    if op == COSH:
        return math.acosh(w) if w >= 1.0 else NAN
    if op == TANH:
        return math.atanh(w) if abs(w) < 1.0 else NAN
    if op == ASINH:
        return math.sinh(w) if abs(w) < EXP_LIMIT else NAN
    if op == ACOSH:
        return math.cosh(w) if 0.0 <= w < EXP_LIMIT else NAN
    if op == ATANH:
        return math.tanh(w)
    return NAN


@_kernel("float64(int64, float64, float64, int64, int64)", PART)
def further_argument(op, root, operand, n, which):
    """Return another argument for which `op` has the same value as at `root`: of `x^2` -root; NaN if there is no more.

    root: as `invert_unary` or `invert_binary` returned it. operand: known exponent of a power. n: integer of `ipow`.
    which: number of the argument, from 0. Periodic functions have three at most (tangent: two), enough to tell
    `sin kL = 0` from `kL = pi`.
    """
    if which > 0 and op != SIN and op != COS and op != TAN:
        return NAN
    if op == SIN:
        return (
            math.pi - root
            if which == 0
            else root + TWO_PI
            if which == 1
            else 3.0 * math.pi - root
            if which == 2
            else NAN
        )
    if op == COS:
        return -root if which == 0 else TWO_PI - root if which == 1 else TWO_PI + root if which == 2 else NAN
    if op == TAN:
        return root + math.pi if which == 0 else root + TWO_PI if which == 1 else NAN
    if op == ABS or op == COSH:
        return -root
    if op == IPOW and n % 2 == 0:
        return -root
    if op == POW and operand % 2.0 == 0.0:
        return -root
    return NAN


@_kernel(f"int64({INTS}, {INTS}, int64, int64, {REALS}, {INTS}, {REALS}, {REALS}, {INTS}, int64)", PART)
def roots_by_inversion(code, dep, n_op, bit, value, at, want, roots, tally, limit):
    """Find the roots of a formula in a target that occurs once, by inverting its operators; return their number.

    Returns -1 if the target occurs twice or an operator has no inverse. bit: mask of the target. value: of the
    instructions that do not depend on it. at, want: scratch, [MAX_BRANCHES]. roots: float64[MAX_ROOTS], the result.
    tally, limit: see `candidate_roots`; a sine within a sine has four branches for each of the other's.
    """
    at[0] = n_op - 1
    want[0] = 0.0
    n_open = 1
    n_root = 0
    step = 0
    while n_open > 0 and n_root < MAX_ROOTS and tally[1] + step // n_op <= limit:
        n_open -= 1
        k = at[n_open]
        w = want[n_open]
        step += 1
        while w == w and code[3 * k] != SYM:
            step += 1
            op = code[3 * k]
            a = code[3 * k + 1]
            b = code[3 * k + 2]
            down = a
            known = 0.0
            if op == ADD or op == SUB or op == MUL or op == DIV or op == POW:
                left = (dep[a] & bit) != 0
                if left and (dep[b] & bit) != 0:
                    tally[1] += step // n_op
                    return -1
                known = value[b] if left else value[a]
                down = a if left else b
                w = invert_binary(op, left, w, known)
                known = known if left else 1.0
                b = 1
            elif op >= FLOOR:
                tally[1] += step // n_op
                return -1
            else:
                w = invert_unary(op, w, b)
            for which in range(MAX_PERIODS):
                second = further_argument(op, w, known, b, which)
                if second == second and second != w and n_open < MAX_BRANCHES:
                    at[n_open] = down
                    want[n_open] = second
                    n_open += 1
            k = down
        if w == w and abs(w) < LARGE:
            roots[n_root] = w
            n_root += 1
    tally[1] += step // n_op
    return n_root


@_kernel(f"int64({REALS}, int64, int64, {REALS}, int64, int64, {REALS}, int64)", PART)
def multiply_polynomials(p, p_at, p_degree, q, q_at, q_degree, out, out_at):
    """Write the product of polynomials p * q into out; return its degree, or -1 above MAX_DEGREE.

    p_at, q_at, out_at: index of the lowest coefficient in each array; powers ascend. The written part of out overlaps
    neither p nor q.
    """
    degree = p_degree + q_degree
    if degree > MAX_DEGREE:
        return -1
    for i in range(degree + 1):
        out[out_at + i] = 0.0
    for i in range(p_degree + 1):
        for j in range(q_degree + 1):
            out[out_at + i + j] += p[p_at + i] * q[q_at + j]
    return degree


@_kernel(f"int64({REALS}, {INTS}, int64, int64, int64, boolean)", PART)
def multiply_fractions(poly, degree, k, a, b, invert):
    """Write rational function k = a * b, or a / b if invert; return 0, or -1 above MAX_DEGREE.

    k, a, b: instructions; poly, degree: their numerators and denominators, see `as_rational_function`.
    """
    swap = 1 if invert else 0
    num = 2 * k * WIDTH
    na = 2 * a * WIDTH
    nb = 2 * b * WIDTH
    up = multiply_polynomials(poly, na, degree[2 * a], poly, nb + swap * WIDTH, degree[2 * b + swap], poly, num)
    low = multiply_polynomials(
        poly,
        na + WIDTH,
        degree[2 * a + 1],
        poly,
        nb + WIDTH - swap * WIDTH,
        degree[2 * b + 1 - swap],
        poly,
        num + WIDTH,
    )
    degree[2 * k] = up
    degree[2 * k + 1] = low
    return -1 if up < 0 or low < 0 else 0


@_kernel(f"int64({REALS}, {INTS}, int64, int64, int64, int64, float64)", PART)
def add_fractions(poly, degree, n_op, k, a, b, sign):
    """Write rational function k = a + sign * b; return 0, or -1 above MAX_DEGREE.

    k, a, b: instructions; poly, degree: their numerators and denominators, see `as_rational_function`.
    """
    num = 2 * k * WIDTH
    na = 2 * a * WIDTH
    nb = 2 * b * WIDTH
    s0 = 2 * n_op * WIDTH
    s1 = s0 + WIDTH
    left = multiply_polynomials(poly, na, degree[2 * a], poly, nb + WIDTH, degree[2 * b + 1], poly, s0)
    right = multiply_polynomials(poly, nb, degree[2 * b], poly, na + WIDTH, degree[2 * a + 1], poly, s1)
    low = multiply_polynomials(
        poly, na + WIDTH, degree[2 * a + 1], poly, nb + WIDTH, degree[2 * b + 1], poly, num + WIDTH
    )
    if left < 0 or right < 0 or low < 0:
        return -1
    top = left if left > right else right
    for i in range(top + 1):
        term = poly[s0 + i] if i <= left else 0.0
        poly[num + i] = term + sign * poly[s1 + i] if i <= right else term
    degree[2 * k] = top
    degree[2 * k + 1] = low
    return 0


@_kernel(f"int64({REALS}, {INTS}, int64, int64, int64, int64)", PART)
def raise_fraction(poly, degree, n_op, k, a, exponent):
    """Write rational function k = a ** exponent, an integer of either sign; return 0, or -1 above MAX_DEGREE.

    k, a: instructions; poly, degree: their numerators and denominators, see `as_rational_function`.
    """
    s0 = 2 * n_op * WIDTH
    s2 = s0 + 2 * WIDTH
    for side in range(2):
        slot = side if exponent > 0 else 1 - side
        poly[s0] = 1.0
        reached = 0
        for _ in range(abs(exponent)):
            reached = multiply_polynomials(
                poly, s0, reached, poly, (2 * a + side) * WIDTH, degree[2 * a + side], poly, s2
            )
            if reached < 0:
                return -1
            for i in range(reached + 1):
                poly[s0 + i] = poly[s2 + i]
        for i in range(reached + 1):
            poly[(2 * k + slot) * WIDTH + i] = poly[s0 + i]
        degree[2 * k + slot] = reached
    return 0


@_kernel(f"int64({INTS}, {INTS}, int64, int64, {REALS}, {REALS}, {INTS})", PART)
def as_rational_function(code, dep, n_op, bit, value, poly, degree):
    """Write every instruction as a quotient of polynomials in the target; return the degree of the last numerator.

    -1: above MAX_DEGREE, or no rational function. bit: mask of the target. value: of instructions without it.
    poly: float64[(2 * n_op + 3) * WIDTH], numerator of instruction k at 2k * WIDTH and its denominator after it; the
    last three are scratch. degree: int64[2 * n_op], their degrees.
    """
    for k in range(n_op):
        num = 2 * k * WIDTH
        poly[num + WIDTH] = 1.0
        degree[2 * k + 1] = 0
        if dep[k] & bit == 0:
            poly[num] = value[k]
            degree[2 * k] = 0
            continue
        op = code[3 * k]
        a = code[3 * k + 1]
        b = code[3 * k + 2]
        failed = 0
        if op == SYM:
            poly[num] = 0.0
            poly[num + 1] = 1.0
            degree[2 * k] = 1
        elif op == NEG:
            for side in range(2):
                for i in range(degree[2 * a + side] + 1):
                    term = poly[(2 * a + side) * WIDTH + i]
                    poly[num + side * WIDTH + i] = -term if side == 0 else term
                degree[2 * k + side] = degree[2 * a + side]
        elif op == MUL or op == DIV:
            failed = multiply_fractions(poly, degree, k, a, b, op == DIV)
        elif op == ADD or op == SUB:
            failed = add_fractions(poly, degree, n_op, k, a, b, 1.0 if op == ADD else -1.0)
        elif op == IPOW and -MAX_DEGREE <= b <= MAX_DEGREE:
            failed = raise_fraction(poly, degree, n_op, k, a, b)
        else:
            return -1
        if failed < 0:
            return -1
    return degree[2 * (n_op - 1)]


@_kernel(f"float64({REALS}, int64, int64, float64)", PART)
def horner(p, at, degree, t):
    """Return the value at t of the polynomial with coefficients p[at : at + degree + 1], lowest power first."""
    total = p[at + degree]
    for i in range(degree - 1, -1, -1):
        total = total * t + p[at + i]
    return total


@_kernel(f"float64({REALS}, int64, int64, float64, float64)", PART)
def bracketed_root(p, at, degree, low, high):
    """Return a root of a polynomial in (low, high), where its sign must change; Newton steps, else bisection.

    The polynomial: coefficients p[at : at + degree + 1], lowest power first. Of several roots it is any one; without a
    change of sign the result means nothing.
    """
    rising = horner(p, at, degree, low) < 0.0
    t = 0.5 * (low + high)
    last = high - low
    for _ in range(REFINE_STEPS):
        f = p[at + degree]
        slope = 0.0
        for i in range(degree - 1, -1, -1):
            slope = slope * t + f
            f = f * t + p[at + i]
        if f == 0.0:
            return t
        if (f < 0.0) == rising:
            low = t
        else:
            high = t
        step = -f / slope if abs(slope) > TINY else last
        if not (low < t + step < high and abs(step) < 0.5 * abs(last)):
            step = 0.5 * (low + high) - t
        if t + step == t or t + step == low or t + step == high:
            return t + step
        last = step
        t += step
    return t


@_kernel(f"int64({REALS}, int64, int64, {REALS}, {REALS})", PART)
def real_roots(p, at, degree, work, roots):
    """Find the real roots of a polynomial at which it changes sign, and 0; return their number.

    They lie between the roots of its derivative, found in the same way. p[at : at + degree + 1]: coefficients, lowest
    power first. work: float64[2 * WIDTH], scratch. roots: float64[MAX_ROOTS + 1], the result, ascending but for 0.
    """
    while degree > 0 and p[at + degree] == 0.0:
        degree -= 1
    if degree <= 0:
        return 0
    has_zero = p[at] == 0.0  # taken out exactly: halving never ends on 0
    while degree > 0 and p[at] == 0.0:
        at += 1
        degree -= 1
    reach = 0.0
    for i in range(degree):
        reach = max(reach, abs(p[at + i] / p[at + degree]))
    reach = 1.0 + reach  # Cauchy's bound holds for the derivatives' roots too (Gauss-Lucas)
    if not reach < LARGE:
        return 0
    n_root = 0
    for order in range(degree - 1, -1, -1):
        left = degree - order  # degree of the derivative of this order
        for i in range(left + 1):
            factor = 1.0
            for j in range(order):
                factor *= i + order - j
            work[i] = p[at + i + order] * factor
        for i in range(n_root):
            work[WIDTH + i] = roots[i]
        n_turn = n_root
        n_root = 0
        low = -reach
        f_low = horner(work, 0, left, low)
        for i in range(n_turn + 1):
            high = work[WIDTH + i] if i < n_turn else reach
            f_high = horner(work, 0, left, high)
            if f_high == 0.0 or (f_low < 0.0) != (f_high < 0.0):
                if f_low != 0.0 and n_root < MAX_ROOTS:
                    root = high
                    if left == 1:
                        root = -work[0] / work[1]
                    elif f_high != 0.0:
                        root = bracketed_root(work, 0, left, low, high)
                    roots[n_root] = root
                    n_root += 1
            low = high
            f_low = f_high
    if has_zero and n_root < MAX_ROOTS:
        roots[n_root] = 0.0
        n_root += 1
    return n_root


@_kernel(
    f"int64({INTS}, {REALS}, {INTS}, int64, {REALS}, int64, boolean, boolean, {REALS}, {REALS}, {REALS}, {INTS}, "
    f"int64)",
    PART,
)
def scan_for_roots(code, consts, dep, n_op, x, target, angle, negative, value, bound, roots, tally, limit):
    """Find roots of a formula in x[target] by sign changes on a grid, then bisection; return their number.

    angle: the grid is even on (0, pi/2), else geometric. negative: look at negative values. tally, limit: see
    `candidate_roots`; a bracket that is open when the limit is reached is dropped. roots: float64[MAX_ROOTS], the
    result.
    """
    n_root = 0
    last = 0.0
    f_last = 0.0
    known = False
    held = x[target]
    for step in range(SCAN_POINTS):
        if tally[1] > limit:
            break
        share = (step + 0.5) / SCAN_POINTS
        t = share * HALF_PI if angle else 10.0 ** (SCAN_DECADES * (2.0 * share - 1.0))
        if negative:
            t = -t
        x[target] = t
        tally[1] += 1
        if evaluate(code, consts, dep, n_op, x, 0, value, bound) != 0:
            known = False
            continue
        f = value[n_op - 1]
        if known and (f < 0.0) != (f_last < 0.0) and n_root < MAX_ROOTS:
            low = last
            high = t
            largest = max(abs(f), abs(f_last))
            clean = True
            for _ in range(REFINE_STEPS):
                middle = 0.5 * (low + high)
                if middle == low or middle == high:
                    break
                if tally[1] > limit:
                    clean = False
                    break
                x[target] = middle
                tally[1] += 1
                if evaluate(code, consts, dep, n_op, x, 0, value, bound) != 0:
                    clean = False
                    break
                g = value[n_op - 1]
                if abs(g) > largest:  # the bracket closes in on a pole
                    clean = False
                    break
                if (g < 0.0) == (f_last < 0.0):
                    low = middle
                else:
                    high = middle
            if clean:
                roots[n_root] = 0.5 * (low + high)
                n_root += 1
        last = t
        f_last = f
        known = True
    x[target] = held
    return n_root


@_kernel(f"float64({INTS}, {REALS}, {INTS}, int64, int64, {REALS}, int64, {REALS}, {REALS}, {REALS}, {REALS})", PART)
def polish_root(code, consts, dep, n_op, n_var, x, target, value, bound, adjoint, grad):
    """Refine the root x[target] in place by Newton steps; return its relative uncertainty, negative if it is no root.

    At a root of 0 the uncertainty is absolute: the scale is 1 (semantics Z.1).
    """
    best = x[target]
    noise = -1.0
    slope = 0.0
    smallest = LARGE
    for _ in range(NEWTON_STEPS):
        if evaluate(code, consts, dep, n_op, x, 0, value, bound) != 0:
            break
        f = value[n_op - 1]
        gradient(code, n_op, n_var, value, adjoint, grad)
        slope = abs(grad[target])
        if not abs(f) < smallest or not 0.0 < slope < LARGE:
            break
        smallest = abs(f)
        best = x[target]
        scale = slope * abs(best) if best != 0.0 else slope
        noise = (abs(f) + bound[n_op - 1]) / scale if scale > 0.0 else -1.0
        if abs(f) <= bound[n_op - 1]:
            break  # the next step would be rounding
        x[target] = best - f / grad[target]
    if noise > 1.0 and noise * abs(best) < CONDITION:  # nothing but rounding: sin(7 pi) is a zero
        best = 0.0
        noise = (smallest + bound[n_op - 1]) / slope
    x[target] = best
    return noise


@_kernel(
    f"int64({INTS}, {REALS}, {INTS}, int64, {REALS}, int64, int64, {REALS}, {REALS}, {REALS}, {INTS}, {REALS}, "
    f"{REALS}, {INTS}, int64)",
    STAGE,
)
def candidate_roots(code, consts, dep, n_op, x, target, kind, value, bound, poly, degree, work, roots, tally, limit):
    """Find approximate roots of the formula in x[target], the other variables as in x; return their number.

    By inversion, else as a rational function, else by a scan. kind: of the target (ANGLE, POSITIVE...).
    poly: float64[(2 * n_op + 3) * WIDTH], degree: int64[2 * n_op + MAX_BRANCHES], work: float64[2 * WIDTH], scratch.
    roots: float64[MAX_ROOTS + 1], the result. tally: int64[2], tally[1] counts evaluations, of n_op operations each.
    limit: evaluations at which the search ends with the roots that it has.
    """
    bit = 1 << target
    if dep[n_op - 1] & bit == 0:
        return 0
    if evaluate(code, consts, dep, n_op, x, bit, value, bound) != 0:
        return 0
    tally[1] += 2
    n_root = roots_by_inversion(code, dep, n_op, bit, value, degree, poly, roots, tally, limit)
    if n_root >= 0:
        return n_root
    tally[1] += WIDTH
    top = as_rational_function(code, dep, n_op, bit, value, poly, degree)
    if top >= 0:
        tally[1] += (8 * top * top * top) // n_op  # a step of each of top^2 / 2 brackets: top operations
        return real_roots(poly, 2 * (n_op - 1) * WIDTH, top, work, roots)
    n_root = scan_for_roots(code, consts, dep, n_op, x, target, kind == ANGLE, False, value, bound, roots, tally,
                            limit)  # fmt: skip
    if n_root == 0 and kind != ANGLE:
        n_root = scan_for_roots(code, consts, dep, n_op, x, target, False, True, value, bound, roots, tally, limit)
    return n_root

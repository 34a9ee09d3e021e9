"""Values, rounding bounds and derivatives of a tape at one point."""

from __future__ import annotations

# isort: skip_file
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, check-untyped-defs=False
import math

from prism.engine.kernels.marking import PART, marker

from .constants import (
    ABS, ACOS, ACOSH, ADD, ASIN, ASINH, ATAN, ATAN2, ATANH, COS, COSH, DIV, DOMAIN, EXP, EXP_LIMIT, FACTORIAL,
    FACTORIAL_LIMIT, FLOOR, INTS, IPOW, LARGE, LN, LN10, LOG10, MUL, NAN, NEG, NOWHERE, NO_CASE, NUM, POLE,
    POLE_MARGIN, POW, RANGE, REALS, ROOT, SATURATING, SATURATION, SIN, SINH, SQRT, STEP, SUB, SYM, TAN, TANH, TINY,
    ULP, WIDEN,
)  # fmt: skip

_kernel = marker(__name__)


@_kernel("float64(float64, int64)", PART)
def integer_power(base, exponent):
    """Return base**exponent for an integer exponent >= 0, by squaring; inf on overflow."""
    result = 1.0
    square = base
    n = exponent
    while n > 0:
        if n & 1:
            result *= square
        n >>= 1
        if n > 0:
            square *= square
    return result


@_kernel(f"int64(float64, float64, float64, float64, int64, {REALS}, {REALS})", PART)
def real_power(p, dp, q, dq, k, value, bound):
    """Write p**q and its rounding bound as value[k], bound[k]; return 0, or POLE, DOMAIN, RANGE where it has no value.

    dp, dq: rounding bounds of p and q. A negative p needs an integer q.
    """
    whole = math.floor(q + 0.5)
    sign = 1.0
    if abs(p) <= POLE_MARGIN * dp or p == 0.0:
        if q > 0.0:
            value[k] = 0.0
            bound[k] = (2.0 * POLE_MARGIN * dp) ** min(q, 64.0) if dp > 0.0 else 0.0
            return 0
        return POLE
    if p < 0.0:
        if abs(q - whole) > POLE_MARGIN * dq or abs(whole) > 1e15:
            return DOMAIN
        sign = 1.0 if whole % 2.0 == 0.0 else -1.0
        p = -p
    log = math.log(p)
    if abs(q * log) > EXP_LIMIT:
        return RANGE
    v = sign * p**q
    value[k] = v
    bound[k] = abs(v) * (abs(q) * dp / (p - dp) + abs(log) * dq + 4.0 * ULP)
    return 0


@_kernel("float64(float64)", PART)
def digamma(p):
    """Return the derivative of ln Gamma at p > 0. Source: recurrence, then Abramowitz and Stegun 6.3.18."""
    total = 0.0
    while p < 8.0:
        total -= 1.0 / p
        p += 1.0
    r = 1.0 / (p * p)
    return total + math.log(p) - 0.5 / p - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)))


@_kernel(f"int64(float64, float64, int64, {REALS}, {REALS})", PART)
def store_result(v, e, k, value, bound):
    """Write value v and rounding bound e of instruction k and return 0; return RANGE if v is beyond LARGE or NaN."""
    if not (-LARGE < v < LARGE and e < LARGE):
        return RANGE
    value[k] = v
    bound[k] = e
    return 0


@_kernel(f"int64(int64, float64, float64, int64, int64, {REALS}, {REALS})", PART)
def exponential(op, p, dp, n, k, value, bound):
    """Write the exponential, logarithm or hyperbolic function `op` of p as instruction k (value and rounding bound).

    dp: rounding bound of p. n: SATURATING under an integral, else 0. Returns 0, or POLE, DOMAIN, RANGE.
    """
    slope = 1.0  # |derivative| times dp is the inherited error
    if op == EXP:
        if n == SATURATING and abs(p) > SATURATION:  # the bound of a large value lets it serve as a divisor only
            value[k] = math.exp(SATURATION) if p > 0.0 else 0.0
            bound[k] = math.exp(SATURATION) / 256.0 if p > 0.0 else math.exp(-SATURATION)
            return 0
        if abs(p) > EXP_LIMIT or dp > 1.0:
            return RANGE
        v = math.exp(p)
        slope = v * (1.0 + dp)
    elif op == LN or op == LOG10:
        if abs(p) <= POLE_MARGIN * dp or p == 0.0:
            return POLE
        if p < 0.0:
            return DOMAIN
        v = math.log(p) if op == LN else math.log10(p)
        slope = 1.0 / (p - dp) if op == LN else 1.0 / ((p - dp) * LN10)
    elif op == SINH or op == COSH:
        if n == SATURATING and abs(p) > SATURATION:
            p = SATURATION if p > 0.0 else -SATURATION
            dp = 1.0 / 512.0
        if abs(p) > EXP_LIMIT or dp > 1.0:
            return RANGE
        v = math.sinh(p) if op == SINH else math.cosh(p)
        slope = 2.0 * math.cosh(p)
    elif op == TANH:
        v = math.tanh(p)
        slope = 1.0 - v * v + dp
    elif op == ASINH:
        v = math.asinh(p)
        slope = 1.0 / math.sqrt(1.0 + p * p) if abs(p) < 1e150 else 1.0 / abs(p)
    elif op == ACOSH:
        if p < 1.0 - POLE_MARGIN * dp:
            return DOMAIN
        p = max(1.0, p)
        v = math.acosh(p)
        gap = p - 1.0
        slope = 1.0 / math.sqrt(gap * (p + 1.0)) if gap > 4.0 * dp else 2.0 / math.sqrt(4.0 * dp + ULP)
    else:  # ATANH
        if abs(abs(p) - 1.0) <= POLE_MARGIN * dp:
            return POLE
        if abs(p) > 1.0:
            return DOMAIN
        v = math.atanh(p)
        slope = 1.0 / (1.0 - p * p)
    return store_result(v, slope * dp + 2.0 * ULP * abs(v), k, value, bound)


@_kernel(f"int64(int64, float64, float64, float64, float64, int64, {REALS}, {REALS})", PART)
def trigonometric(op, p, dp, q, dq, k, value, bound):
    """Write the trigonometric function `op` of p, its inverse, or `atan2(p, q)` as instruction k: value and bound.

    dp, dq: rounding bounds of p and q. Returns 0, or POLE, DOMAIN, RANGE where it has no value.
    """
    slope = 1.0
    if op == SIN:
        v = math.sin(p)
        slope = abs(math.cos(p)) + dp
        dp += ULP  # near a zero the argument's own rounding counts, not the value's
    elif op == COS:
        v = math.cos(p)
        slope = abs(math.sin(p)) + dp
        dp += ULP
    elif op == TAN:
        c = math.cos(p)
        if abs(c) <= POLE_MARGIN * (dp + ULP * abs(p)):
            return POLE
        v = math.tan(p)
        slope = 1.0 / (c * c)
    elif op == ASIN or op == ACOS:
        if abs(p) > 1.0 + POLE_MARGIN * dp:
            return DOMAIN
        p = min(1.0, max(-1.0, p))
        v = math.asin(p) if op == ASIN else math.acos(p)
        gap = 1.0 - p * p
        slope = 1.0 / math.sqrt(gap) if gap > 4.0 * dp else 2.0 / math.sqrt(4.0 * dp + ULP)
    elif op == ATAN:
        v = math.atan(p)
        slope = 1.0 / (1.0 + p * p)
    else:  # ATAN2
        reach = math.sqrt(p * p + q * q)
        if reach <= POLE_MARGIN * (dp + dq) or not TINY < reach < LARGE:
            return POLE if reach < 1.0 else RANGE
        if q < 0.0 and abs(p) <= POLE_MARGIN * dp and p != 0.0:
            return RANGE  # on the cut, within its error: the sign of the angle is not known
        v = math.atan2(p, q)
        dp = (dp + dq) / (reach - dp - dq)
    return store_result(v, slope * dp + 2.0 * ULP * abs(v), k, value, bound)


@_kernel(f"int64(int64, float64, float64, int64, int64, {REALS}, {REALS})", PART)
def root_or_step(op, p, dp, n, k, value, bound):
    """Write the n-th root, absolute value, floor, unit step or factorial (`op`) of p as instruction k (value, bound).

    dp: rounding bound of p. Returns 0, or DOMAIN, RANGE where it has no value.
    """
    slope = 1.0
    if op == ROOT:
        if p < 0.0 and n % 2 == 0:
            if p < -POLE_MARGIN * dp:
                return DOMAIN
            p = 0.0
        magnitude = abs(p) ** (1.0 / n) if p != 0.0 else 0.0
        v = magnitude if p >= 0.0 else -magnitude
        slope = magnitude / (n * abs(p)) if abs(p) > 2.0 * dp else 0.0
        if abs(p) <= 2.0 * dp and dp > 0.0:
            slope = 2.0 * (3.0 * dp) ** (1.0 / n) / dp
    elif op == ABS:
        v = abs(p)
    elif op == FLOOR:  # a whole number within its error is that number; large ones are whole
        value[k] = float(math.floor(p + POLE_MARGIN * dp)) if abs(p) < 1e15 else p
        bound[k] = 0.0
        return 0
    elif op == STEP:
        if p != 0.0 and abs(p) <= POLE_MARGIN * dp:
            return RANGE  # on the edge, within its error: the value is not known
        value[k] = 1.0 if p >= 0.0 else 0.0
        bound[k] = 0.0
        return 0
    elif op == FACTORIAL:
        if p <= -0.5 or p > FACTORIAL_LIMIT:
            return DOMAIN if p <= -0.5 else RANGE
        v = math.gamma(p + 1.0)
        slope = abs(v * digamma(p + 1.0)) + v
        dp += 8.0 * ULP
    else:
        return DOMAIN
    return store_result(v, slope * dp + 2.0 * ULP * abs(v), k, value, bound)


@_kernel(f"int64(int64, int64, int64, int64, {REALS}, {REALS})", PART)
def partial_operation(op, a, b, k, value, bound):
    """Write instruction k = `op` of instructions a, b: a quotient, power, root or function, defined only in places.

    b is an integer for `ipow` and `root`. Returns 0, or the flag that says why it has no value: POLE, DOMAIN, RANGE,
    NOWHERE.
    """
    p = value[a]
    dp = bound[a]
    if op == IPOW:
        n = b if b >= 0 else -b
        if b < 0 and abs(p) <= POLE_MARGIN * dp:
            return POLE
        v = integer_power(p, n)
        if v == 0.0 and p != 0.0:
            return RANGE
        if not v < LARGE or not v > -LARGE:
            return RANGE
        if b < 0:
            v = 1.0 / v
        # |d p^b| = |b p^(b-1)| dp; a base of zero within its error leaves dp^n
        if abs(p) > dp:
            e = abs(v) * n * (dp / (abs(p) - dp) + ULP)
        else:
            e = integer_power(2.0 * dp, n) if n > 0 else 0.0
    elif op == DIV:
        q = value[b]
        if abs(q) <= POLE_MARGIN * bound[b]:
            return POLE
        v = p / q
        if v == 0.0 and p != 0.0:
            return RANGE
        e = (dp + abs(v) * bound[b]) / (abs(q) - bound[b]) + ULP * abs(v)
    elif op == SQRT:
        if p < -POLE_MARGIN * dp:
            return DOMAIN
        v = math.sqrt(p) if p > 0.0 else 0.0
        e = dp / v + ULP * v if v * v > 4.0 * dp else 2.0 * math.sqrt(dp) + ULP * v
    elif op == WIDEN:  # an estimate a whose error is at most |b|
        v = p
        e = dp + abs(value[b]) + bound[b]
        if e > NO_CASE:
            return NOWHERE
    elif op == POW:
        return real_power(p, dp, value[b], bound[b], k, value, bound)
    elif op == ATAN2:
        return trigonometric(op, p, dp, value[b], bound[b], k, value, bound)
    elif SIN <= op <= ATAN:
        return trigonometric(op, p, dp, 0.0, 0.0, k, value, bound)
    elif EXP <= op <= ATANH:
        return exponential(op, p, dp, b, k, value, bound)
    else:
        return root_or_step(op, p, dp, b, k, value, bound)
    return store_result(v, e, k, value, bound)


@_kernel(f"int64({INTS}, {REALS}, {INTS}, int64, {REALS}, int64, {REALS}, {REALS})")
def evaluate(code, consts, dep, n_op, x, skip, value, bound):
    """Compute value and rounding bound of every instruction at point x.

    skip: bit mask of variables; instructions that depend on one of them are not computed (0: compute all).
    Returns 0, or the flag (POLE, DOMAIN, RANGE, NOWHERE) of the first instruction without a value, at which it stops.
    """
    for k in range(n_op):
        if dep[k] & skip:
            continue
        op = code[3 * k]
        a = code[3 * k + 1]
        b = code[3 * k + 2]
        if op == MUL:
            p = value[a]
            q = value[b]
            v = p * q
            if v == 0.0 and p != 0.0 and q != 0.0:
                return RANGE
            e = abs(p) * bound[b] + abs(q) * bound[a] + bound[a] * bound[b] + ULP * abs(v)
        elif op == NUM:
            v = consts[3 * a]
            e = consts[3 * a + 1]
        elif op == SYM:
            v = x[a]
            e = ULP * abs(v)
        elif op == ADD:
            v = value[a] + value[b]
            e = bound[a] + bound[b] + ULP * abs(v)
        elif op == SUB:
            v = value[a] - value[b]
            e = bound[a] + bound[b] + ULP * abs(v)
        elif op == NEG:
            v = -value[a]
            e = bound[a]
        else:
            flag = partial_operation(op, a, b, k, value, bound)
            if flag:
                return flag
            continue
        if not (-LARGE < v < LARGE and e < LARGE):
            return RANGE
        value[k] = v
        bound[k] = e
    return 0


@_kernel("float64(int64, float64, int64, float64)", PART)
def unary_derivative(op, p, n, v):
    """Return the derivative at p of the one-operand instruction `op`; 0 where it has none.

    n: its integer, of `ipow` and `root`. v: its value at p.
    """
    if op == NEG:
        return -1.0
    if op == IPOW:
        if p == 0.0:
            return 1.0 if n == 1 else 0.0
        return n * v / p
    if op == SQRT:
        return 0.5 / v if v > 1e-150 else 0.0
    if op == ROOT:
        return v / (n * p) if p != 0.0 else 0.0
    if op == ABS:
        return 1.0 if p > 0.0 else -1.0 if p < 0.0 else 0.0
    if op == EXP:
        return v
    if op == LN:
        return 1.0 / p
    if op == LOG10:
        return 1.0 / (p * LN10)
    if op == SIN:
        return math.cos(p)
    if op == COS:
        return -math.sin(p)
    if op == TAN:
        return 1.0 + v * v
    if op == ASIN or op == ACOS:
        gap = 1.0 - p * p
        if gap <= 0.0:
            return 0.0
        return 1.0 / math.sqrt(gap) if op == ASIN else -1.0 / math.sqrt(gap)
    if op == ATAN:
        return 1.0 / (1.0 + p * p)
    if op == SINH:
        return math.cosh(p)
    if op == COSH:
        return math.sinh(p)
    if op == TANH:
        return 1.0 - v * v
    if op == ASINH:
        return 1.0 / math.sqrt(1.0 + p * p) if abs(p) < 1e150 else 1.0 / abs(p)
    if op == ACOSH:
        gap = (p - 1.0) * (p + 1.0)
        return 1.0 / math.sqrt(gap) if gap > 0.0 else 0.0
    if op == ATANH:
        return 1.0 / (1.0 - p * p)
    if op == FACTORIAL:
        return v * digamma(p + 1.0)
    return 0.0  # FLOOR, STEP


@_kernel(f"void({INTS}, int64, int64, {REALS}, {REALS}, {REALS})")
def gradient(code, n_op, n_var, value, adjoint, grad):
    """Differentiate instruction n_op - 1 by every variable in one reverse sweep: grad[v] = d value / d x_v.

    value: as `evaluate` left it at this point, having returned 0. adjoint: float64[n_op], the derivative by each
    instruction. grad: float64[n_var], the result.
    """
    for k in range(n_op):
        adjoint[k] = 0.0
    for v in range(n_var):
        grad[v] = 0.0
    adjoint[n_op - 1] = 1.0
    for step in range(n_op):
        k = n_op - 1 - step
        w = adjoint[k]
        if w == 0.0:
            continue
        op = code[3 * k]
        a = code[3 * k + 1]
        b = code[3 * k + 2]
        if op == SYM:
            grad[a] += w
        elif op == MUL:
            adjoint[a] += w * value[b]
            adjoint[b] += w * value[a]
        elif op == ADD:
            adjoint[a] += w
            adjoint[b] += w
        elif op == SUB:
            adjoint[a] += w
            adjoint[b] -= w
        elif op == DIV:
            if value[b] != 0.0:
                adjoint[a] += w / value[b]
                adjoint[b] -= w * value[k] / value[b]
            else:  # a pole: no slope to speak of
                adjoint[a] = NAN
                adjoint[b] = NAN
        elif op == POW:
            p = value[a]
            q = value[b]
            if p != 0.0:
                adjoint[a] += w * q * value[k] / p
                if p > 0.0:
                    adjoint[b] += w * value[k] * math.log(p)
            elif q == 1.0:
                adjoint[a] += w
        elif op == WIDEN:
            adjoint[a] += w
        elif op == ATAN2:
            p = value[a]
            q = value[b]
            adjoint[a] += w * q / (p * p + q * q)
            adjoint[b] -= w * p / (p * p + q * q)
        elif op != NUM:
            adjoint[a] += w * unary_derivative(op, value[a], b, value[k])

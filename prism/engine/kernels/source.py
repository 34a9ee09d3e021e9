r"""The compiled core: arrays in, arrays out, one Python source.

Interpreted, the arrays are lists; compiled, they are contiguous NumPy arrays (int64, float64). Every array is
flat. No kernel raises, draws a random number or reads a global that changes: each partial operation tests its
domain and its range first and returns a flag, because `1/0.`, `sqrt(-1)`, `exp(1000)` and `10.**400` raise in
Python where numba gives inf or nan.

Arrays that recur:
    code: int64[n_op * 3], consts: float64[n_const * 2], dep: int64[n_op]: see `tape.Tape`.
    x: float64[n_var], one point. value, bound, adjoint: float64[n_op], scratch: the value of each instruction,
        a bound on its rounding error (inputs carry half an ulp), the derivative of the root by it.

Twin: tests/reference.py, written from the formulas and not from this file.
"""

from __future__ import annotations

import math

from prism.algebra.expr import OPS
from prism.engine.kernels.marking import marker

_kernel = marker(__name__)
INTS, REALS = "int64[::1]", "float64[::1]"  # arrays, in signatures

NUM, SYM, ADD, SUB, MUL, DIV, NEG, POW, ROOT, SQRT, ABS, EXP, LN, LOG10 = (
    int(OPS[name].opcode or 0)
    for name in ("num", "sym", "add", "sub", "mul", "div", "neg", "pow", "root", "sqrt", "abs", "exp", "ln", "log10")
)
SIN, COS, TAN, ASIN, ACOS, ATAN, SINH, COSH, TANH, ASINH, ACOSH, ATANH, IPOW = (
    int(OPS[name].opcode or 0)
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "ipow",
    )
)  # fmt: skip
FLOOR, FACTORIAL, STEP, ATAN2, WIDEN = (
    int(OPS[name].opcode or 0) for name in ("floor", "factorial", "step", "atan2", "widen")
)

POLE = 1  # a denominator or a logarithm's argument that is zero within its rounding error
DOMAIN = 2  # outside the real domain: sqrt(-1), ln(-1), asin(2)
RANGE = 4  # overflow or underflow: the value says nothing
NOWHERE = 8  # no case of a definition applies

ULP = 2.0**-53  # unit roundoff of float64
LARGE = 1e300  # beyond this a value is out of range
NO_CASE = 1e280  # an error beyond this says that no case applies
POLE_MARGIN = 16.0  # a denominator within this many error bounds of zero is a pole: brackets converge onto poles
EXP_LIMIT = 690.0  # exp of more overflows, of less underflows
# Immediate of an exponential under an integral: far out it is 0 or a large number, and no range error.
SATURATING = 1
SATURATION = 300.0  # its largest argument: the product of two stays in range
FACTORIAL_LIMIT = 170.0
TINY = 1e-299
NAN = math.nan
LN10 = math.log(10.0)
HALF_PI = math.pi / 2
TWO_PI = 2.0 * math.pi

MAX_DEGREE = 8  # of a rational function in the target; above it the scan takes over
MAX_ROOTS = 8  # kept per draw
MAX_BRANCHES = 16  # open branches while peeling
MAX_PERIODS = 3  # further branches of one inverse function
SCAN_POINTS = 64
SCAN_DECADES = 5.0  # the scan runs from 1e-5 to 1e5
REFINE_STEPS = 120  # bisection ends long before: float64 has 64 bits
NEWTON_STEPS = 4
CONDITION = 1e-8  # a point is valid if its root is known to this relative accuracy (semantics Z.2)
TOLERANCE = 1e-6  # relative, in root space (semantics Z.1)
FINE_TOLERANCE = 1e-12  # where decimals are written: they are equal exactly, or within their own precision (N.1)
SPREAD_SHARE = 0.01  # decimals widen the tolerance by at most this share of the weakest variable's effect
SPREAD_LIMIT = 0.1  # beyond this share they leave the pair open
ASIDE = 1e-3  # relative: how far beside a pole is looked
BORDER = 10.0  # a residual within this factor of the threshold settles nothing
INFORMATIVE = 64.0  # a variable whose effect is below this many rounding bounds is not seen at this point

POSITIVE, ANGLE, INTEGER, SIGNED, NEGATIVE, DECLARED_POSITIVE = 0, 1, 2, 3, 4, 5  # kinds of variable


@_kernel("float64(float64, int64)")
def integer_power(base, exponent):
    """base**exponent for exponent >= 0 by squaring; inf where it overflows."""
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


@_kernel(f"int64(float64, float64, float64, float64, int64, {REALS}, {REALS})")
def real_power(p, dp, q, dq, k, value, bound):
    """p**q: real for p > 0; for p < 0 only where q is an integer."""
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


@_kernel("float64(float64)")
def digamma(p):
    """Derivative of ln Gamma for p > 0. Source: recurrence, then Abramowitz and Stegun 6.3.18."""
    total = 0.0
    while p < 8.0:
        total -= 1.0 / p
        p += 1.0
    r = 1.0 / (p * p)
    return total + math.log(p) - 0.5 / p - r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)))


@_kernel(f"int64(int64, float64, float64, float64, float64, int64, int64, {REALS}, {REALS})")
def transcendental(op, p, dp, q, dq, n, k, value, bound):
    """One instruction that is no arithmetic: p with bound dp, and for `pow` the exponent q with bound dq."""
    slope = 1.0  # |derivative| times dp is the inherited error
    if op == EXP:
        if n == SATURATING and abs(p) > SATURATION:
            value[k] = math.exp(SATURATION) if p > 0.0 else 0.0
            bound[k] = (
                math.exp(SATURATION) / 256.0 if p > 0.0 else math.exp(-SATURATION)
            )  # large: good as a divisor only
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
    elif op == SIN:
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
    elif op == POW:
        return real_power(p, dp, q, dq, k, value, bound)
    elif op == ROOT:
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
    elif op == ATANH:
        if abs(abs(p) - 1.0) <= POLE_MARGIN * dp:
            return POLE
        if abs(p) > 1.0:
            return DOMAIN
        v = math.atanh(p)
        slope = 1.0 / (1.0 - p * p)
    elif op == FLOOR:
        # a whole number within its error is that number; large ones are whole
        value[k] = float(math.floor(p + POLE_MARGIN * dp)) if abs(p) < 1e15 else p
        bound[k] = 0.0
        return 0
    elif op == STEP:
        if p != 0.0 and abs(p) <= POLE_MARGIN * dp:
            return RANGE  # on the edge, within its error: says nothing
        value[k] = 1.0 if p >= 0.0 else 0.0
        bound[k] = 0.0
        return 0
    elif op == FACTORIAL:
        if p <= -0.5 or p > FACTORIAL_LIMIT:
            return DOMAIN if p <= -0.5 else RANGE
        v = math.gamma(p + 1.0)
        slope = abs(v * digamma(p + 1.0)) + v
        dp += 8.0 * ULP
    elif op == ATAN2:
        reach = math.sqrt(p * p + q * q)
        if reach <= POLE_MARGIN * (dp + dq) or not TINY < reach < LARGE:
            return POLE if reach < 1.0 else RANGE
        if q < 0.0 and abs(p) <= POLE_MARGIN * dp and p != 0.0:
            return RANGE  # on the cut, within its error: the sign of the angle is not known
        v = math.atan2(p, q)
        slope = 1.0
        dp = (dp + dq) / (reach - dp - dq)
    else:
        return DOMAIN
    e = slope * dp + 2.0 * ULP * abs(v)
    if not (-LARGE < v < LARGE and e < LARGE):
        return RANGE
    value[k] = v
    bound[k] = e
    return 0


@_kernel(f"int64({INTS}, {REALS}, {INTS}, int64, {REALS}, int64, {REALS}, {REALS})")
def evaluate(code, consts, dep, n_op, x, hold, value, bound):
    """Value and rounding bound of every instruction at one point; 0, or the flag that stopped it.

    hold: a bit mask of variables; instructions that depend on them are left alone (0: evaluate everything).
    """
    for k in range(n_op):
        if dep[k] & hold:
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
        elif op == IPOW:
            p = value[a]
            n = b if b >= 0 else -b
            if b < 0 and abs(p) <= POLE_MARGIN * bound[a]:
                return POLE
            v = integer_power(p, n)
            if v == 0.0 and p != 0.0:
                return RANGE
            if not v < LARGE or not v > -LARGE:
                return RANGE
            if b < 0:
                v = 1.0 / v
            # |d p^b| = |b p^(b-1)| dp; a base of zero within its error leaves dp^n
            if abs(p) > bound[a]:
                e = abs(v) * n * (bound[a] / (abs(p) - bound[a]) + ULP)
            else:
                e = integer_power(2.0 * bound[a], n) if n > 0 else 0.0
        elif op == DIV:
            p = value[a]
            q = value[b]
            if abs(q) <= POLE_MARGIN * bound[b]:
                return POLE
            v = p / q
            if v == 0.0 and p != 0.0:
                return RANGE
            e = (bound[a] + abs(v) * bound[b]) / (abs(q) - bound[b]) + ULP * abs(v)
        elif op == NEG:
            v = -value[a]
            e = bound[a]
        elif op == SQRT:
            p = value[a]
            if p < -POLE_MARGIN * bound[a]:
                return DOMAIN
            v = math.sqrt(p) if p > 0.0 else 0.0
            e = bound[a] / v + ULP * v if v * v > 4.0 * bound[a] else 2.0 * math.sqrt(bound[a]) + ULP * v
        elif op == WIDEN:  # an estimate a whose error is at most |b|
            v = value[a]
            e = bound[a] + abs(value[b]) + bound[b]
            if e > NO_CASE:
                return NOWHERE
        else:
            two = op == POW or op == ATAN2
            flag = transcendental(op, value[a], bound[a], value[b] if two else 0.0, bound[b] if two else 0.0, b, k,
                                  value, bound)  # fmt: skip
            if flag:
                return flag
            continue
        if not (-LARGE < v < LARGE and e < LARGE):
            return RANGE
        value[k] = v
        bound[k] = e
    return 0


@_kernel("float64(int64, float64, int64, float64)")
def slope_of(op, p, n, v):
    """Derivative of a one-argument instruction with argument p and value v; 0 where it has none."""
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
    """One reverse sweep over the first n_op instructions: grad[v] = d (the last of them) / d x_v.

    After `evaluate` returned 0 at the same point.
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
            adjoint[a] += w * slope_of(op, value[a], b, value[k])


# Roots: peel the operators above a target that occurs once, else a rational function, else a scan. ----------


@_kernel("float64(float64, float64)")
def safe_power(p, q):
    """p**q for p >= 0, nan where it leaves the range."""
    if p == 0.0:
        return 0.0 if q > 0.0 else NAN
    if abs(q * math.log(p)) > EXP_LIMIT:
        return NAN
    return p**q


@_kernel("float64(int64, boolean, float64, float64)")
def invert_binary(op, left, w, other):
    """The operand that gives w together with `other`; left: the unknown is the first operand. nan: none."""
    if op == ADD:
        return w - other
    if op == SUB:
        return w + other if left else other - w
    if op == MUL:
        return w / other if other != 0.0 else NAN
    if op == DIV:
        if left:
            return w * other
        return other / w if w != 0.0 and other != 0.0 else NAN
    if left:  # base ** other == w
        if other == 0.0:
            return NAN
        if w >= 0.0:
            return safe_power(w, 1.0 / other)
        return -safe_power(-w, 1.0 / other) if other % 2.0 == 1.0 else NAN
    if other <= 0.0 or other == 1.0 or w <= 0.0:
        return NAN
    return math.log(w) / math.log(other)


@_kernel("float64(int64, float64, int64)")
def invert_unary(op, w, n):
    """The argument at which a one-argument instruction has the value w; nan if there is none."""
    if op == NEG:
        return -w
    if op == SQRT:
        return w * w if w >= 0.0 else NAN
    if op == IPOW:
        if n == 0 or (w == 0.0 and n < 0):
            return NAN
        if w >= 0.0:
            return safe_power(w, 1.0 / n)
        return -safe_power(-w, 1.0 / n) if n % 2 == 1 else NAN
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


@_kernel("float64(int64, float64, float64, int64, int64)")
def other_branch(op, root, other, n, which):
    """Further argument number `which` (from 0) with the same value, after `invert_*` gave the first; nan: no more.

    Of a periodic function the branches of the next period are enough to tell `sin kL = 0` from `kL = pi`.
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
    if op == POW and other % 2.0 == 0.0:
        return -root
    return NAN


@_kernel(f"int64({INTS}, {INTS}, int64, int64, {REALS}, {INTS}, {REALS}, {REALS})")
def peel(code, dep, n_op, bit, value, at, want, roots):
    """Roots in the target by inverting the operators on its only path; -1 if it has more than one path.

    value: of the instructions that do not depend on the target. at, want: scratch, [MAX_BRANCHES] each.
    roots: float64[MAX_ROOTS], the result.
    """
    at[0] = n_op - 1
    want[0] = 0.0
    n_open = 1
    n_root = 0
    while n_open > 0:
        n_open -= 1
        k = at[n_open]
        w = want[n_open]
        while w == w and code[3 * k] != SYM:
            op = code[3 * k]
            a = code[3 * k + 1]
            b = code[3 * k + 2]
            down = a
            known = 0.0
            if op == ADD or op == SUB or op == MUL or op == DIV or op == POW:
                left = (dep[a] & bit) != 0
                if left and (dep[b] & bit) != 0:
                    return -1
                known = value[b] if left else value[a]
                down = a if left else b
                w = invert_binary(op, left, w, known)
                known = known if left else 1.0
                b = 1
            elif op >= FLOOR:
                return -1
            else:
                w = invert_unary(op, w, b)
            for which in range(MAX_PERIODS):
                second = other_branch(op, w, known, b, which)
                if second == second and second != w and n_open < MAX_BRANCHES:
                    at[n_open] = down
                    want[n_open] = second
                    n_open += 1
            k = down
        if w == w and abs(w) < LARGE and n_root < MAX_ROOTS:
            roots[n_root] = w
            n_root += 1
    return n_root


WIDTH = MAX_DEGREE + 1  # coefficients of one polynomial, lowest first


@_kernel(f"int64({REALS}, int64, int64, {REALS}, int64, int64, {REALS}, int64)")
def multiply(p, p_at, p_degree, q, q_at, q_degree, out, out_at):
    """Out = p * q as polynomials; the degree, or -1 above MAX_DEGREE. out is neither p nor q."""
    degree = p_degree + q_degree
    if degree > MAX_DEGREE:
        return -1
    for i in range(degree + 1):
        out[out_at + i] = 0.0
    for i in range(p_degree + 1):
        for j in range(q_degree + 1):
            out[out_at + i + j] += p[p_at + i] * q[q_at + j]
    return degree


@_kernel(f"int64({INTS}, {INTS}, int64, int64, {REALS}, {REALS}, {INTS})")
def rational(code, dep, n_op, bit, value, poly, degree):
    """Root instruction as numerator / denominator in the target; degree of the numerator, or -1.

    poly: float64[(2 * n_op + 3) * WIDTH], numerator of instruction k at 2k * WIDTH and denominator after it; the last
    three are scratch. degree: int64[2 * n_op], theirs.
    """
    s0 = 2 * n_op * WIDTH
    s1 = s0 + WIDTH
    s2 = s1 + WIDTH
    for k in range(n_op):
        num = 2 * k * WIDTH
        den = num + WIDTH
        poly[den] = 1.0
        degree[2 * k + 1] = 0
        if dep[k] & bit == 0:
            poly[num] = value[k]
            degree[2 * k] = 0
            continue
        op = code[3 * k]
        a = code[3 * k + 1]
        b = code[3 * k + 2]
        na = 2 * a * WIDTH
        da = na + WIDTH
        if op == SYM:
            poly[num] = 0.0
            poly[num + 1] = 1.0
            degree[2 * k] = 1
        elif op == NEG:
            for i in range(degree[2 * a] + 1):
                poly[num + i] = -poly[na + i]
            for i in range(degree[2 * a + 1] + 1):
                poly[den + i] = poly[da + i]
            degree[2 * k] = degree[2 * a]
            degree[2 * k + 1] = degree[2 * a + 1]
        elif op == MUL or op == DIV:
            nb = 2 * b * WIDTH
            swap = 1 if op == DIV else 0
            nq = nb + swap * WIDTH
            dq = nb + WIDTH - swap * WIDTH
            up = multiply(poly, na, degree[2 * a], poly, nq, degree[2 * b + swap], poly, num)
            low = multiply(poly, da, degree[2 * a + 1], poly, dq, degree[2 * b + 1 - swap], poly, den)
            if up < 0 or low < 0:
                return -1
            degree[2 * k] = up
            degree[2 * k + 1] = low
        elif op == ADD or op == SUB:
            nb = 2 * b * WIDTH
            db = nb + WIDTH
            sign = 1.0 if op == ADD else -1.0
            left = multiply(poly, na, degree[2 * a], poly, db, degree[2 * b + 1], poly, s0)
            right = multiply(poly, nb, degree[2 * b], poly, da, degree[2 * a + 1], poly, s1)
            low = multiply(poly, da, degree[2 * a + 1], poly, db, degree[2 * b + 1], poly, den)
            if left < 0 or right < 0 or low < 0:
                return -1
            top = left if left > right else right
            for i in range(top + 1):
                term = poly[s0 + i] if i <= left else 0.0
                poly[num + i] = term + sign * poly[s1 + i] if i <= right else term
            degree[2 * k] = top
            degree[2 * k + 1] = low
        elif op == IPOW and -MAX_DEGREE <= b <= MAX_DEGREE:
            count = b if b > 0 else -b
            for side in range(2):
                source = na + side * WIDTH
                target = num + side * WIDTH if b > 0 else den - side * WIDTH
                slot = 2 * k + side if b > 0 else 2 * k + 1 - side
                poly[s0] = 1.0
                reached = 0
                for _ in range(count):
                    reached = multiply(poly, s0, reached, poly, source, degree[2 * a + side], poly, s2)
                    if reached < 0:
                        return -1
                    for i in range(reached + 1):
                        poly[s0 + i] = poly[s2 + i]
                for i in range(reached + 1):
                    poly[target + i] = poly[s0 + i]
                degree[slot] = reached
        else:
            return -1
    return degree[2 * (n_op - 1)]


@_kernel(f"float64({REALS}, int64, int64, float64)")
def horner(p, at, degree, t):
    """Value of the polynomial p[at : at + degree + 1] (lowest first) at t."""
    total = p[at + degree]
    for i in range(degree - 1, -1, -1):
        total = total * t + p[at + i]
    return total


@_kernel(f"float64({REALS}, int64, int64, float64, float64)")
def bracketed_root(p, at, degree, low, high):
    """The root in (low, high), where the polynomial changes sign once: Newton's steps where they gain, else halving."""
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


@_kernel(f"int64({REALS}, int64, int64, {REALS}, {REALS})")
def real_roots(p, at, degree, work, roots):
    """Real roots with a change of sign, ascending: degree by degree through the roots of the derivatives.

    p[at : at + degree + 1]: coefficients, lowest first. work: float64[2 * WIDTH]. roots: float64[MAX_ROOTS + 1].
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


@_kernel(f"int64({INTS}, {REALS}, {INTS}, int64, {REALS}, int64, boolean, boolean, {REALS}, {REALS}, {REALS}, {INTS})")
def scan(code, consts, dep, n_op, x, target, angle, negative, value, bound, roots, tally):
    """Roots in the target by looking for changes of sign on a grid, then halving: geometric, or even for an angle.

    tally: int64[2], tally[1] counts evaluations.
    """
    n_root = 0
    last = 0.0
    f_last = 0.0
    known = False
    held = x[target]
    for step in range(SCAN_POINTS):
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
            limit = max(abs(f), abs(f_last))
            clean = True
            for _ in range(REFINE_STEPS):
                middle = 0.5 * (low + high)
                if middle == low or middle == high:
                    break
                x[target] = middle
                tally[1] += 1
                if evaluate(code, consts, dep, n_op, x, 0, value, bound) != 0:
                    clean = False
                    break
                g = value[n_op - 1]
                if abs(g) > limit:  # the bracket closes in on a pole
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


@_kernel(f"float64({INTS}, {REALS}, {INTS}, int64, int64, {REALS}, int64, {REALS}, {REALS}, {REALS}, {REALS})")
def polish(code, consts, dep, n_op, n_var, x, target, value, bound, adjoint, grad):
    """Newton steps on the target in place; its relative uncertainty there, or a negative number if it is no root.

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
    f"{REALS}, {INTS})"
)
def solve(code, consts, dep, n_op, x, target, kind, value, bound, poly, degree, work, roots, tally):
    """Candidate roots of the formula in one variable, the others as in x; not yet polished. Returns how many.

    poly: float64[(2 * n_op + 3) * WIDTH], degree: int64[2 * n_op + MAX_BRANCHES], work: float64[2 * WIDTH], scratch.
    roots: float64[MAX_ROOTS + 1], the result.
    """
    bit = 1 << target
    if dep[n_op - 1] & bit == 0:
        return 0
    if evaluate(code, consts, dep, n_op, x, bit, value, bound) != 0:
        return 0
    tally[1] += 2
    n_root = peel(code, dep, n_op, bit, value, degree, poly, roots)
    if n_root >= 0:
        return n_root
    tally[1] += WIDTH
    top = rational(code, dep, n_op, bit, value, poly, degree)
    if top >= 0:
        return real_roots(poly, 2 * (n_op - 1) * WIDTH, top, work, roots)
    n_root = scan(code, consts, dep, n_op, x, target, kind == ANGLE, False, value, bound, roots, tally)
    if n_root == 0 and kind != ANGLE:
        n_root = scan(code, consts, dep, n_op, x, target, False, True, value, bound, roots, tally)
    return n_root


@_kernel(f"int64({INTS}, int64, {REALS})")
def in_principal_range(code, n_op, value):
    """1 if every sine, cosine and tangent has its argument where its inverse function has values."""
    for k in range(n_op):
        op = code[3 * k]
        if op == SIN or op == COS or op == TAN:
            p = value[code[3 * k + 1]]
            if op == COS and not 0.0 <= p <= math.pi:
                return 0
            if op != COS and not -HALF_PI <= p <= HALF_PI:
                return 0
    return 1


@_kernel(f"float64({INTS}, {REALS}, int64, {REALS}, {REALS})")
def spread_of(code, consts, n_op, value, adjoint):
    """How far measured decimals leave the residual open: sum of |c dF/dc| times their relative uncertainty.

    After `gradient`. Source: semantics N.1.
    """
    total = 0.0
    for k in range(n_op):
        if code[3 * k] == NUM:
            total += abs(adjoint[k] * value[k]) * consts[3 * code[3 * k + 1] + 2]
    return total


PRINCIPAL, TELLING = 1, 2  # flags of a point


@_kernel(f"boolean(int64, {REALS}, {REALS}, float64, int64, float64)")
def shows_all(n_var, x, grad, bound, target, noise):
    """Whether no variable's effect is lost in rounding at this point, as that of t in `1 - e^{-t}` for large t."""
    slack = bound + noise * abs(grad[target]) * (abs(x[target]) if x[target] != 0.0 else 1.0)
    for v in range(n_var):
        effect = abs(grad[v]) * (abs(x[v]) if x[v] != 0.0 else 1.0)
        if effect <= INFORMATIVE * slack:
            return False
    return True


@_kernel(f"int64({REALS}, int64, int64)")
def keep_roots(kept, n_kept, kind):
    """Move the roots that count to the front and count them.

    Angles in (0, pi/2); one real root as it is, of several the positive ones; of a symbol that is declared
    positive or taken as negative, those of its sign; for a signed symbol all. Source: semantics Z.3.
    """
    n = 0
    if kind == ANGLE:
        for i in range(n_kept):
            if 0.0 < kept[2 * i] < HALF_PI:
                kept[2 * n] = kept[2 * i]
                kept[2 * n + 1] = kept[2 * i + 1]
                n += 1
        return n
    if kind == SIGNED or (n_kept <= 1 and kind != DECLARED_POSITIVE and kind != NEGATIVE):
        return n_kept
    for i in range(n_kept):
        if kept[2 * i] != 0.0 and (kept[2 * i] > 0.0) == (kind != NEGATIVE):
            kept[2 * n] = kept[2 * i]
            kept[2 * n + 1] = kept[2 * i + 1]
            n += 1
    return n


@_kernel(
    f"int64({INTS}, {REALS}, {INTS}, int64, int64, {INTS}, {INTS}, int64, {REALS}, int64, int64, int64, int64, "
    f"{INTS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {REALS}, {INTS}, {REALS}, {REALS}, "
    f"{REALS}, {INTS})"
)
def zero_points(code, consts, dep, n_op, n_var, kinds, targets, n_target, draws, n_draw, want, room, budget, spot,
                root, x, value, bound, adjoint, grad, poly, degree, work, roots, kept, tally):  # fmt: skip
    """Points on the zero set of a formula: targets round-robin over its variables, all real roots.

    kinds: int64[n_var]. targets: int64[n_target], slots that may be solved for. draws: float64[n_var * n_draw].
    want: points after which to stop, once every target has had one. room: points that fit.
    spot: int64[room * 3], draw, target, flags PRINCIPAL and TELLING. root: float64[room * 3], root, its relative
    uncertainty, and what measured decimals add to it. x..kept: scratch, kept float64[2 * (MAX_ROOTS + 1)].
    budget: evaluations after which to stop.
    tally: int64[2], draws and evaluations used.
    Returns the number of points. Source: semantics Z.1-Z.4.
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
        n_root = solve(
            code, consts, dep, n_op, x, target, kinds[target], value, bound, poly, degree, work, roots, tally
        )
        n_kept = 0
        for i in range(n_root):
            x[target] = roots[i]
            tally[1] += NEWTON_STEPS
            noise = polish(code, consts, dep, n_op, n_var, x, target, value, bound, adjoint, grad)
            fresh = 0.0 <= noise <= CONDITION
            for j in range(n_kept):
                if abs(kept[2 * j] - x[target]) <= 1e-7 * abs(x[target]):
                    fresh = False
            if fresh:
                kept[2 * n_kept] = x[target]
                kept[2 * n_kept + 1] = noise
                n_kept += 1
        n_kept = keep_roots(kept, n_kept, kinds[target])
        for i in range(n_kept):
            if n_point >= room:
                break
            x[target] = kept[2 * i]
            evaluate(code, consts, dep, n_op, x, 0, value, bound)
            spot[3 * n_point] = d
            spot[3 * n_point + 1] = target
            spot[3 * n_point + 2] = in_principal_range(code, n_op, value)
            gradient(code, n_op, n_var, value, adjoint, grad)
            if shows_all(n_var, x, grad, bound[n_op - 1], target, kept[2 * i + 1]):
                spot[3 * n_point + 2] |= TELLING
            root[3 * n_point] = kept[2 * i]
            root[3 * n_point + 1] = kept[2 * i + 1]
            scale = abs(grad[target]) * (abs(x[target]) if x[target] != 0.0 else 1.0)
            root[3 * n_point + 2] = spread_of(code, consts, n_op, value, adjoint) / scale if scale > 0.0 else 1.0
            n_point += 1
            served |= 1 << target
    return n_point


IN_RANGE, POLES_COUNT, EXACT, MEASURED = 1, 2, 4, 8  # rules of a crossing
AGREED, SKIPPED, BORDERLINE, MISMATCH, LIVE, TOUCHED, SERVED, POLED, IMPRECISE = 0, 1, 2, 3, 4, 5, 6, 7, 8
N_OUT = 9  # of `out` of cross, whose places these are


@_kernel(f"int64(int64, {REALS}, {REALS}, float64, float64, float64, int64, {INTS})")
def weigh_residual(n_var, x, grad, f, slack, spread, rules, out):
    """Is a residual of size f zero in root space? AGREED, MISMATCH, BORDERLINE, IMPRECISE or SKIPPED (semantics Z.1).

    slack: rounding bound and root noise. spread: what measured decimals leave open, used under MEASURED.
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


@_kernel(f"boolean({INTS}, {REALS}, {INTS}, int64, int64, {REALS}, {REALS}, {REALS})")
def is_isolated_pole(code, consts, dep, n_op, n_var, x, value, bound):
    """Whether there is no pole beside this one: a denominator that is lost in rounding is lost there too."""
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
def cross(code, consts, dep, n_op, n_var, draws, n_draw, slot_of, spot, root, n_point, rules,
          x, value, bound, adjoint, grad, out):  # fmt: skip
    """Is this formula zero at another formula's points? Ends at the first mismatch.

    slot_of: int64[other's n_var], the slot here of each of its variables, or -1. spot, root: its points, see
    `zero_points`; both formulas draw the same value for the same name. rules: IN_RANGE leaves out points outside
    the principal range (semantics Z.4), POLES_COUNT takes a pole for a mismatch, EXACT is for formulas with measured
    decimals that are not to be equal by their precision, MEASURED for those that may be (N.1).
    out: int64[N_OUT]: points that agree, points skipped, points too close to call, index of the mismatch or -1, mask
    of variables that are live here, mask of those with any gradient, mask of the other's targets that agreed, 1 if
    the mismatch is a pole, points at which decimals leave too much open.
    """
    for i in range(N_OUT):
        out[i] = 0
    out[MISMATCH] = -1
    for i in range(n_point):
        d = spot[3 * i]
        solved = slot_of[spot[3 * i + 1]]
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
        spread = spread_of(code, consts, n_op, value, adjoint) if rules & MEASURED else 0.0
        if solved >= 0:
            effect = abs(grad[solved]) * (abs(x[solved]) if x[solved] != 0.0 else 1.0)
            slack += root[3 * i + 1] * effect
            spread += root[3 * i + 2] * effect
        found = weigh_residual(n_var, x, grad, abs(value[n_op - 1]), slack, spread, rules, out)
        if found == MISMATCH:
            out[MISMATCH] = i
            return
        out[found] += 1
        if found == AGREED:
            out[SERVED] |= 1 << spot[3 * i + 1]


# Several residuals at once: vectors, matrices, complex numbers, systems of equations. ---------------------------

SYSTEM_STEPS = 40  # of Newton's method
MAX_STEP = 3.0  # relative, of one variable in one step
SETTLED = 1e-14  # relative: smaller steps are rounding
RANK = 1e-10  # a pivot below this share of the largest is 0: the equations depend on each other there


@_kernel(f"void({INTS}, int64, {INTS}, int64, {REALS}, {REALS}, {REALS}, {REALS})")
def jacobian(code, n_var, roots, n_root, value, adjoint, grad, jac):
    """Derivative of each residual by each variable. jac: float64[n_root * n_var], the result."""
    for j in range(n_root):
        gradient(code, roots[j] + 1, n_var, value, adjoint, grad)
        for v in range(n_var):
            jac[j * n_var + v] = grad[v]


@_kernel(f"int64({REALS}, {REALS}, int64, int64, int64, int64, {REALS}, {INTS}, {INTS})")
def choose_targets(jac, x, n_root, n_var, primary, free, work, rows, targets):
    """Which variables to solve for: the primary one, then those that the equations see best. How many; 0: none.

    free: bit mask of the variables that may be solved for. work: float64[n_root * n_var], scratch.
    rows, targets: int64[n_root], the result: equation i is solved for variable i.
    """
    largest = 0.0
    for j in range(n_root):
        for v in range(n_var):
            scale = abs(x[v]) if x[v] != 0.0 else 1.0
            work[j * n_var + v] = jac[j * n_var + v] * scale if free & (1 << v) else 0.0
            if not abs(work[j * n_var + v]) < LARGE:
                return 0
            largest = max(largest, abs(work[j * n_var + v]))
    used_rows = 0
    used = 0
    for rank in range(n_root):
        best = RANK * largest
        row = -1
        column = -1
        for j in range(n_root):
            if used_rows & (1 << j):
                continue
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
        used_rows |= 1 << row
        used |= 1 << column
        for j in range(n_root):
            if used_rows & (1 << j) == 0 and work[j * n_var + column] != 0.0:
                factor = work[j * n_var + column] / work[row * n_var + column]
                for v in range(n_var):
                    work[j * n_var + v] -= factor * work[row * n_var + v]
    return n_root


@_kernel(f"int64({REALS}, int64, {REALS})")
def invert(a, n, inverse):
    """Inverse of a float64[n * n] by Gauss and Jordan, a is lost; 1, or 0 if it is singular."""
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
    f"{REALS}, {REALS}, {REALS}, {REALS}, {INTS}, {INTS}, {INTS})"
)
def newton(code, consts, dep, n_op, n_var, roots, n_root, x, primary, free, value, bound, adjoint, grad, jac, work,
           inverse, rows, targets, tally):  # fmt: skip
    """Solve the residuals for as many variables in place; their relative uncertainty, or -1 if no zero was found.

    work: float64[n_root * max(n_root, n_var)]. inverse: float64[n_root * n_root]. rows, targets: int64[n_root + 1],
    the last of targets says how many. tally: int64[2], tally[1] counts evaluations.
    """
    noise = -1.0
    rank = 0
    for step in range(SYSTEM_STEPS):
        tally[1] += 1 + n_root
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
        if invert(work, rank, inverse) == 0:
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
def system_points(code, consts, dep, n_op, n_var, roots, n_root, kinds, free, draws, n_draw, want, budget, spot, place,
                  x, value, bound, adjoint, grad, jac, work, inverse, rows, targets, tally):  # fmt: skip
    """Points where all residuals are zero: the primary target goes round the variables.

    kinds: int64[n_var]. free: bit mask of the variables that may be solved for. draws: float64[n_var * n_draw].
    spot: int64[n_draw * 3]: draw, mask of the variables solved for, flags. place: float64[n_draw * (n_var + 1)]:
    relative uncertainty, then the point. Returns the number of points.
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
        noise = newton(code, consts, dep, n_op, n_var, roots, n_root, x, primary, free, value, bound, adjoint, grad,
                       jac, work, inverse, rows, targets, tally)  # fmt: skip
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
def system_cross(code, consts, dep, n_op, n_var, roots, n_root, draws, n_draw, slot_of, n_other, spot, place, n_point,
                 rules, x, value, bound, adjoint, grad, out):  # fmt: skip
    """Are these residuals all zero at the points of another system? As `cross`, to which `out` belongs.

    slot_of: int64[n_other], the slot here of each variable there, or -1; SERVED is a mask of theirs.
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
            v = slot_of[w]
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
            found = weigh_residual(n_var, x, grad, abs(value[roots[j]]), slack, 0.0, rules, out)
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

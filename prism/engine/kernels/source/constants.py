"""Opcodes, flags, limits and tolerances of the kernels. Compiled code keeps the values it was compiled with."""

from __future__ import annotations

import math

from prism.algebra.operators import OPS

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
RANGE = 4  # overflow or underflow, or on an edge within rounding: the value is not known
NOWHERE = 8  # no case of a definition applies

ULP = 2.0**-53  # unit roundoff of float64
LARGE = 1e300  # beyond this a value is out of range
NO_CASE = 5e299  # an error bound beyond this marks a point where no case applies
POLE_MARGIN = 16.0  # a denominator within this many error bounds of zero is a pole: brackets converge onto poles
EXP_LIMIT = 690.0  # exp of more overflows, of less underflows
# Immediate of an exponential under an integral: far out it is 0 or a large number, and no range error.
SATURATING = 1
SATURATION = 300.0  # its largest argument: the product of two stays in range
FACTORIAL_LIMIT = 170.0  # 171! overflows
TINY = 1e-299  # a slope or a distance below this is taken for 0
NAN = math.nan
LN10 = math.log(10.0)
HALF_PI = math.pi / 2
TWO_PI = 2.0 * math.pi

MAX_DEGREE = 8  # of a rational function in the target; above it the scan takes over
MAX_ROOTS = 8  # per draw
MAX_BRANCHES = 16  # open branches while operators are inverted
OVERDRAFT = 2  # a draw that has begun may end beyond the budget, but not at any cost
MAX_PERIODS = 3  # further branches of one inverse function
SCAN_POINTS = 64  # of the grid on which a scan looks for changes of sign
SCAN_DECADES = 5.0  # the scan runs from 1e-5 to 1e5
REFINE_STEPS = 120  # bisection ends long before: float64 has 64 bits
NEWTON_STEPS = 4  # at most, to polish one root
CONDITION = 1e-8  # a point is valid if its root is known to this relative accuracy (semantics Z.2)
TOLERANCE = 1e-6  # relative, in root space (semantics Z.1)
FINE_TOLERANCE = 1e-12  # where decimals are written: equal exactly, or within their precision (semantics N.1)
SPREAD_SHARE = 0.01  # decimals widen the tolerance by at most this share of the weakest variable's effect
SPREAD_LIMIT = 0.1  # beyond this share they leave the pair open
ASIDE = 1e-3  # relative step aside from a pole, to see if it is isolated
BORDER = 10.0  # a residual within this factor above the threshold is BORDERLINE, neither zero nor not
INFORMATIVE = 64.0  # an effect below this many rounding bounds does not count at a point

POSITIVE, ANGLE, INTEGER, SIGNED, NEGATIVE, DECLARED_POSITIVE = 0, 1, 2, 3, 4, 5  # kinds of variable

WIDTH = MAX_DEGREE + 1  # coefficients of one polynomial, lowest power first

PRINCIPAL, TELLING = 1, 2  # flags of a point: angles in the principal range; all effects above rounding

IN_RANGE, POLES_COUNT, EXACT, MEASURED = 1, 2, 4, 8  # rules of a crossing, see `crossing.cross_evaluate`
# Places in `out` of a crossing; five of them are also results of `classify_residual` for one point.
AGREED, SKIPPED, BORDERLINE, MISMATCH, LIVE, TOUCHED, SERVED, POLED, IMPRECISE = 0, 1, 2, 3, 4, 5, 6, 7, 8
N_OUT = 9  # length of `out` of a crossing

SYSTEM_STEPS = 40  # of Newton's method
ELIMINATION = 4  # multiplications of an elimination that cost one operation
MAX_STEP = 3.0  # relative, of one variable in one step
SETTLED = 1e-14  # relative: smaller steps are rounding
RANK = 1e-10  # a pivot below this share of the largest is 0: the equations depend on each other there

r"""The compiled core: arrays in, arrays out; one source, run as plain Python or compiled by numba.

Interpreted, the arrays are lists; compiled, they are contiguous NumPy arrays (int64, float64). Every array is
flat. No kernel raises, draws a random number or reads a global that changes: each partial operation tests its
domain and its range first and returns a flag, because `1/0.`, `sqrt(-1)`, `exp(1000)` and `10.**400` raise in
Python where numba gives inf or nan. Modules import each other relatively: the package is loaded under two names.

No kernel keeps anything between calls, and all scratch is the caller's: any number of threads may run them at once.
Every loop ends by a count, in operations of about ten nanoseconds:
    one pass over a tape (`evaluate`, `gradient`, `in_principal_range`, `decimal_spread`): n_op each.
    a power by squaring: 64 bits; digamma: 8 steps; `real_roots`: 36 brackets of REFINE_STEPS steps, 8 operations each;
    `as_rational_function`: n_op products of polynomials up to MAX_DEGREE, or MAX_DEGREE of them for a power.
    inversion: MAX_ROOTS roots found, or the limit in `tally`; one a branch and a step down.
    a scan: SCAN_POINTS, and REFINE_STEPS for each change of sign, or the limit in `tally`, one evaluation each.
    polishing: MAX_ROOTS + 1 roots, NEWTON_STEPS each. Points of a formula: n_draw draws, or the budget, and the last
    draw up to OVERDRAFT times the budget. Newton's method for a system: SYSTEM_STEPS, or the limit in `tally`.
    a crossing: n_point points, two evaluations and one gradient each, of a system one for each residual.

Arrays that recur:
    code: int64[n_op * 3], consts: float64[n_const * 3], dep: int64[n_op]: see `tape.Tape`.
    x: float64[n_var], one point. value, bound, adjoint: float64[n_op], scratch: the value of each instruction,
        a bound on its rounding error (inputs carry half an ulp), the derivative of the root by it.

Twin: tests/reference.py, written from the formulas and not from these files.
"""

from __future__ import annotations

from .constants import *  # noqa: F403
from .crossing import *  # noqa: F403
from .evaluation import *  # noqa: F403
from .points import *  # noqa: F403
from .roots import *  # noqa: F403
from .systems import *  # noqa: F403

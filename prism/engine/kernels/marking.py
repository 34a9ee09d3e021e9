"""The one decorator of the compiled core, and the only place that imports numba.

`source.py` is written once and loaded twice: under its own name its functions stay plain Python, under the
name `prism.engine.kernels.compiled` each becomes a numba dispatcher with an eager signature. The verdict cannot
depend on which of the two runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPILED = "prism.engine.kernels.compiled"

Kernel = Callable[..., Any]

# No kernel allocates, so arrays need no counting of references (a third of a crossing's time), and nothing calls a
# kernel from C. `_nrt` has stood in numba's options since 0.40 without being documented.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def marker(module: str) -> Callable[[str], Callable[[Kernel], Kernel]]:
    """Decorator factory for a kernel module: numba for `COMPILED`, the identity for any other name.

    fastmath stays off (under it `isfinite(nan)` is true). Where no cache directory can be written the kernels
    are compiled without one: slower to start, never an error.
    """
    if module != COMPILED:
        return lambda _: lambda function: function
    import numba

    def compile_with(signature: str) -> Callable[[Kernel], Kernel]:
        def decorate(function: Kernel) -> Kernel:
            try:
                return numba.njit(signature, cache=True, **OPTIONS)(function)
            except RuntimeError as error:
                if "cannot cache" not in str(error):
                    raise
                return numba.njit(signature, **OPTIONS)(function)

        return decorate

    return compile_with

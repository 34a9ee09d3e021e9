"""The one decorator of the compiled core, and the only place that imports numba.

`source.py` is written once and loaded twice: under its own name its functions stay plain Python, under the
name `prism.kernels.compiled` each becomes a numba dispatcher with an eager signature. The verdict cannot
depend on which of the two runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPILED = "prism.kernels.compiled"

Kernel = Callable[..., Any]


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
                return numba.njit(signature, error_model="numpy", cache=True)(function)
            except RuntimeError as error:
                if "cannot cache" not in str(error):
                    raise
                return numba.njit(signature, error_model="numpy")(function)

        return decorate

    return compile_with

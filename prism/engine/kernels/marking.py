"""The one decorator of the compiled core, and with `disk_cache` the only place that imports numba.

The package `source` is written once and loaded twice: under its own name its functions stay plain Python; under the
name `prism.engine.kernels.compiled` each becomes a numba dispatcher with an eager signature. The verdict cannot
depend on which of the two runs.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

COMPILED = "prism.engine.kernels.compiled"
SOURCES = Path(__file__).parent / "source"

Kernel = Callable[..., Any]

# No kernel allocates, so arrays need no counting of references (a third of a crossing's time), and nothing calls a
# kernel from C. `_nrt` has stood in numba's options since 0.40 without being documented. Without the interpreter's lock
# a kernel lets other threads and signals in; it needs none, as it keeps nothing and its arrays are its caller's.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "nogil": True}


def source_digest() -> str:
    """Return a digest of all kernel sources and of OPTIONS; it is part of the name of the folder of cached kernels.

    numba renews a cached kernel when the file that defines it changes, but not when a file that it calls into does.
    """
    sources = [path.read_bytes() for path in (Path(__file__), *sorted(SOURCES.glob("*.py")))]
    return blake2b(b"".join(sources), digest_size=8).hexdigest()


def marker(module: str) -> Callable[[str], Callable[[Kernel], Kernel]]:
    """Return the decorator factory for the kernels of a module, given its `__name__`: signature -> decorator.

    The decorator compiles by numba below the package name `COMPILED`, and does nothing elsewhere. fastmath stays off
    (under it `isfinite(nan)` is true). Kernels are kept on disk only within `disk_cache.kernels_on_disk`;
    where they cannot be, they are compiled all the same: slower to start, never an error.
    """
    if not module.startswith(COMPILED):
        return lambda _: lambda function: function
    import numba

    has_folder = bool(getattr(numba.config, "CACHE_DIR", ""))

    def compile_with(signature: str) -> Callable[[Kernel], Kernel]:
        """Return the decorator that compiles a kernel for this numba signature, as `float64(float64, int64)`."""

        def decorate(function: Kernel) -> Kernel:
            """Return the function compiled, or loaded from numba's cache."""
            try:
                return numba.njit(signature, cache=has_folder, **OPTIONS)(function)
            except RuntimeError as error:
                if "cannot cache" not in str(error):
                    raise
                return numba.njit(signature, **OPTIONS)(function)

        return decorate

    return compile_with

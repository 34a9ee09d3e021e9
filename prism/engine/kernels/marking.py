"""The one decorator of the compiled core, and with `disk_cache` the only place that imports numba.

The package `source` is written once and loaded twice: under its own name its functions stay plain Python; under the
name `prism.engine.kernels.compiled` each becomes a numba dispatcher with an eager signature. The verdict cannot
depend on which of the two runs.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

COMPILED = "prism.engine.kernels.compiled"
SOURCES = Path(__file__).parent / "source"

Kernel = Callable[..., Any]

# No kernel allocates, so arrays need no counting of references (a third of a crossing's time), and nothing calls a
# kernel from C. `_nrt` has stood in numba's options since 0.40 without being documented. Without the interpreter's lock
# a kernel lets other threads and signals in; it needs none, as it keeps nothing and its arrays are its caller's.
# Numba's rewrites would only turn a power with a constant exponent into products; no kernel has one.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True, "nogil": True, "no_rewrites": True,
}  # fmt: skip

_NO_DOOR: dict[str, Any] = {"no_cpython_wrapper": True}

UNFINISHED = ".part"  # end of the name of a folder in which kernels are being compiled


class Role(StrEnum):
    """Who calls a kernel. LLVM makes each one anew within all that call it, so what Python never calls costs less.

    Attributes:
        ENTRY: Python too: compiled, kept on disk and loaded.
        PART: kernels only: compiled without a door for Python, and loaded only where a kernel that calls it is not.
        STAGE: one kernel, at one place: written into that one, whose compilation would do all of it a second time.
    """

    ENTRY = "entry"
    PART = "part"
    STAGE = "stage"


PART, STAGE = Role.PART, Role.STAGE

Marker = Callable[..., Callable[[Kernel], Kernel]]


def source_digest() -> str:
    """Return a digest of all kernel sources and of OPTIONS; it is part of the name of the folder of cached kernels.

    numba renews a cached kernel when the file that defines it changes, but not when a file that it calls into does.
    """
    sources = [path.read_bytes() for path in (Path(__file__), *sorted(SOURCES.glob("*.py")))]
    return blake2b(b"".join(sources), digest_size=8).hexdigest()


def marker(module: str) -> Marker:
    """Return the decorator factory for the kernels of a module, given its `__name__`: signature, role -> decorator.

    The decorator compiles by numba below the package name `COMPILED`, and does nothing elsewhere. fastmath stays off
    (under it `isfinite(nan)` is true). Kernels are kept on disk only within `disk_cache.kernels_on_disk`;
    where they cannot be, they are compiled all the same: slower to start, never an error.
    """
    if not module.startswith(COMPILED):
        return lambda *_: lambda function: function
    import numba

    folder = getattr(numba.config, "CACHE_DIR", "")
    is_kept = bool(folder) and not folder.endswith(UNFINISHED)  # then entries are loaded, with all their parts

    def compile_with(signature: str, role: Role = Role.ENTRY) -> Callable[[Kernel], Kernel]:
        """Return the decorator that compiles a kernel for this numba signature, as `float64(float64, int64)`."""

        def decorate(function: Kernel) -> Kernel:
            """Return the function compiled, or loaded from numba's cache; a part perhaps when it is first needed."""
            compiled: Kernel
            if role is Role.STAGE:
                compiled = numba.njit(inline="always", **OPTIONS)(function)
                return compiled
            if role is Role.PART:
                compiled = numba.njit(None if is_kept else signature, **OPTIONS, **_NO_DOOR)(function)
                return compiled
            try:
                return numba.njit(signature, cache=bool(folder), **OPTIONS)(function)
            except RuntimeError as error:
                if "cannot cache" not in str(error):
                    raise
                return numba.njit(signature, **OPTIONS)(function)

        return decorate

    return compile_with

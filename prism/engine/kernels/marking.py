"""The one decorator of the compiled core, and with `disk_cache` the only place that imports numba.

The package `source` is written once and loaded twice: under its own name its functions stay plain Python; under the
name `prism.engine.kernels.compiled` each becomes a numba dispatcher, and `compile_kernels` compiles those that are
wanted, each for its one signature. The verdict cannot depend on which of the two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
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

# Two processes compile a half each: these modules with what they call, and all others with what those call.
SECOND_HALF = frozenset(("crossing", "systems"))


class Role(StrEnum):
    """Who calls a kernel. LLVM makes each one anew within all that call it, so what Python never calls costs less.

    Attributes:
        ENTRY: Python too: compiled, kept on disk and loaded.
        PART: kernels only: compiled without a door for Python, and not at all where all that call it are loaded.
        STAGE: one kernel, at one place: written into that one, whose compilation would do all of it a second time.
    """

    ENTRY = "entry"
    PART = "part"
    STAGE = "stage"


PART, STAGE = Role.PART, Role.STAGE

Marker = Callable[..., Callable[[Kernel], Kernel]]


@dataclass(frozen=True, slots=True)
class Compilable:
    """A kernel as numba knows it: its plain function, numba's dispatcher, its signature and role, its module."""

    function: Kernel
    dispatcher: Any
    signature: str
    role: Role
    module: str


_compilable: dict[str, Compilable] = {}  # by name, in the order of the sources: a kernel stands behind those it calls


def source_digest() -> str:
    """Return a digest of all kernel sources and of OPTIONS; it is part of the name of the folder of cached kernels.

    numba renews a cached kernel when the file that defines it changes, but not when a file that it calls into does.
    """
    sources = [path.read_bytes() for path in (Path(__file__), *sorted(SOURCES.glob("*.py")))]
    return blake2b(b"".join(sources), digest_size=8).hexdigest()


def marker(module: str) -> Marker:
    """Return the decorator factory for the kernels of a module, given its `__name__`: signature, role -> decorator.

    The decorator makes a dispatcher below the package name `COMPILED`, and does nothing elsewhere. fastmath stays off
    (under it `isfinite(nan)` is true). Kernels are kept on disk only within `disk_cache.kernels_on_disk`;
    where they cannot be, they are compiled all the same: slower to start, never an error.
    """
    if not module.startswith(COMPILED):
        return lambda *_: lambda function: function
    import numba

    is_kept = bool(getattr(numba.config, "CACHE_DIR", ""))

    def compile_with(signature: str, role: Role = Role.ENTRY) -> Callable[[Kernel], Kernel]:
        """Return the decorator that makes a kernel of this numba signature, as `float64(float64, int64)`."""

        def decorate(function: Kernel) -> Kernel:
            """Return the dispatcher of a function, which `compile_kernels` compiles or loads from numba's cache."""
            if role is Role.STAGE:
                dispatcher = numba.njit(inline="always", **OPTIONS)(function)
            elif role is Role.PART:
                dispatcher = numba.njit(**OPTIONS, **_NO_DOOR)(function)
            else:
                dispatcher = _entry(function, is_kept=is_kept)
            _compilable[function.__name__] = Compilable(
                function, dispatcher, signature, role, module.rpartition(".")[2]
            )
            return dispatcher  # type: ignore[no-any-return]

        return decorate

    return compile_with


def _entry(function: Kernel, *, is_kept: bool) -> Any:
    """Return the dispatcher of a kernel that Python calls, kept on disk if that can be."""
    import numba

    try:
        return numba.njit(cache=is_kept, **OPTIONS)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return numba.njit(**OPTIONS)(function)


def compile_kernels(modules: Collection[str], *, loaded: bool = False) -> None:
    """Compile the entries of some modules, with all that these call, in the order of the sources.

    Args:
        modules: names below the package of sources.
        loaded: the entries are on disk: they are loaded, and what they call is not compiled.
    """
    wanted = {name for name, kernel in _compilable.items() if kernel.role is Role.ENTRY and kernel.module in modules}
    unseen = [] if loaded else sorted(wanted)
    while unseen:
        called = set(_compilable[unseen.pop()].function.__code__.co_names) & _compilable.keys() - wanted
        wanted |= called
        unseen += sorted(called)
    for name, kernel in _compilable.items():
        if name in wanted and kernel.role is not Role.STAGE and not kernel.dispatcher.signatures:
            kernel.dispatcher.compile(kernel.signature)
            kernel.dispatcher.disable_compile()


def kernel_modules() -> frozenset[str]:
    """Return the names of the modules that hold kernels."""
    return frozenset(kernel.module for kernel in _compilable.values())

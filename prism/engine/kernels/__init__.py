"""Access to the compiled core: which kernels a process runs, and arrays as they want them.

`active_kernels()` gives the functions of the package `source`, interpreted at first. When a process has spent
`SWITCH_AFTER` kernel operations (counted, never timed) it loads the compiled ones if a cache of them exists,
else says once on stderr how to make one. `warm()` compiles and loads at once. `PRISM_KERNELS=interpreted` or
`compiled` forces one. The verdict cannot depend on which of the two runs.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

from prism import budget
from prism.engine.kernels import source
from prism.engine.kernels.disk_cache import kept_kernels, kernels_on_disk, numba_keeping_in
from prism.engine.kernels.marking import COMPILED, SECOND_HALF, SOURCES, UNFINISHED, compile_kernels, kernel_modules
from prism.garbage import without_collection
from prism.resources import n_processors, tell_once

SWITCH_AFTER = 4_000_000  # operations: about two seconds of interpreted work

CALL = 1_000  # operations charged for a call of a kernel from Python; an instruction of its tape is half a one

INTERPRETED = "interpreted"

_PATIENCE = 300.0  # seconds for the other process that compiles; its half is compiled here afterwards
_SECOND_HALF = (
    "import sys; sys.path[:] = {path!r}; from prism.engine.kernels import compile_second_half as compile_half"
    "; compile_half({folder!r})"
)


@dataclass(slots=True)
class _State:
    """What all threads share: no verdict depends on it.

    Attributes:
        compiled: the compiled kernels, once loaded. loading: held by the thread that loads them.
        spent: operations of all threads. counting: held by the thread that raises it.
        look_at: operations after which to look for compiled kernels on disk.
    """

    compiled: ModuleType | None = None
    loading: Lock = field(default_factory=Lock)
    spent: int = 0
    counting: Lock = field(default_factory=Lock)
    look_at: int = SWITCH_AFTER


_state = _State()


def _release_locks() -> None:
    """Give a forked process locks of its own: the thread that held one when it was forked is not in it."""
    _state.loading, _state.counting = Lock(), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_locks)


def forced() -> str | None:
    """Return `interpreted` or `compiled` where the environment variable `PRISM_KERNELS` demands it, else None.

    Errors:
        ValueError: any other word than `interpreted` or `compiled`.
    """
    wish = os.environ.get("PRISM_KERNELS", "")
    if wish not in ("", INTERPRETED, "compiled"):
        raise ValueError(f"PRISM_KERNELS={wish!r}: expected 'interpreted' or 'compiled'")
    return wish or None


def warm() -> ModuleType:
    """Load and return the compiled kernels; if there is no cache compile them first (10-30 s, then about 1 s).

    Returns the interpreted ones where `PRISM_KERNELS` demands them.
    """
    if forced() == INTERPRETED:
        return source
    with _state.loading:
        if _state.compiled is None:
            with kernels_on_disk() as folder, without_collection():
                _state.compiled = _load_compiled(folder)
        return _state.compiled


def _load_compiled(folder: Path | None) -> ModuleType:
    """Load the package of kernels under its second name, and compile its kernels or load them from a folder.

    Into a new folder two processes compile a half each, where there are processors for both. What the other one could
    not do is done here.
    """
    is_new = folder is not None and folder.suffix == UNFINISHED
    other = _start_second_half(folder) if folder is not None and is_new and n_processors() > 1 else None
    try:
        module = _load_package()
        compile_kernels(kernel_modules() - SECOND_HALF, loaded=folder is not None and not is_new)
        if other is not None:
            with suppress(subprocess.TimeoutExpired):
                other.wait(_PATIENCE)
        is_there = other.returncode == 0 if other is not None else folder is not None and not is_new
        compile_kernels(SECOND_HALF, loaded=is_there)
        return module
    finally:
        if other is not None:
            other.kill()
            other.wait()


def _start_second_half(new: Path) -> subprocess.Popen[bytes] | None:
    """Start a process that compiles the second half of the kernels into a folder; None if the system refuses one."""
    code = _SECOND_HALF.format(path=sys.path, folder=str(new))
    nowhere = subprocess.DEVNULL
    with suppress(OSError, ValueError):
        return subprocess.Popen([sys.executable, "-c", code], stdin=nowhere, stdout=nowhere, stderr=nowhere)  # noqa: S603
    return None


def compile_second_half(folder: str) -> None:
    """Compile the second half of the kernels into a folder (what the other process of `_load_compiled` does)."""
    with numba_keeping_in(Path(folder)), without_collection():
        _load_package()
        compile_kernels(SECOND_HALF)


def _load_package() -> ModuleType:
    """Load the package of kernels under its second name, under which `marking` makes dispatchers of them."""
    package = SOURCES / "__init__.py"
    spec = importlib.util.spec_from_file_location(COMPILED, package, submodule_search_locations=[str(SOURCES)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[COMPILED] = module  # relative imports and the cached code are looked up under this name
    spec.loader.exec_module(module)
    return module


def active_kernels() -> ModuleType:
    """Return the module of kernels to use now, interpreted or compiled.

    Compiled: as `PRISM_KERNELS` demands, once they are loaded, or after SWITCH_AFTER operations if a cache exists.
    """
    wish = forced()
    if wish == INTERPRETED:
        return source
    if _state.compiled is not None:
        return _state.compiled
    if wish == "compiled":
        return warm()
    if _state.spent > _state.look_at:
        _state.look_at = _state.spent + SWITCH_AFTER
        if kept_kernels() is not None:
            return warm()
        tell_once("prism: many formulas, interpreted kernels; run `prism warm` once to speed this up")
    return source


def spend(operations: int) -> None:
    """Charge kernel operations, and add them to the count of this process (see SWITCH_AFTER)."""
    with _state.counting:
        _state.spent += operations
    budget.charge(operations // 2 + CALL)


def floats(module: ModuleType, values: Sequence[float] | np.ndarray[Any, Any] | int) -> Any:
    """Return float64 values (an int n: n zeros) as the kernels `module` take them, a list or an array."""
    return _array(module, values, np.float64, 0.0)


def ints(module: ModuleType, values: Sequence[int] | np.ndarray[Any, Any] | int) -> Any:
    """Return int64 values (an int n: n zeros) as the kernels `module` take them, a list or an array."""
    return _array(module, values, np.int64, 0)


def _array(module: ModuleType, values: Any, kind: type[np.generic], zero: float) -> Any:
    """Return values (an int n: n times `zero`) as a list for interpreted kernels, else as an array of dtype `kind`."""
    if isinstance(values, int):
        return [zero] * values if module is source else np.zeros(values, dtype=kind)
    if module is source:
        return values.tolist() if isinstance(values, np.ndarray) else list(values)
    return np.ascontiguousarray(values, dtype=kind)

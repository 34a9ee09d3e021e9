"""The compiled core, behind one door.

`kernels()` gives the functions of `source.py`, interpreted at first. When a process has spent
`SWITCH_AFTER` kernel operations (counted, never timed) it loads the compiled ones if a cache of them exists,
else says once on stderr how to make one. `warm()` compiles and loads at once. `PRISM_KERNELS=interpreted` or
`compiled` forces one. The verdict cannot depend on which of the two runs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from prism.engine.kernels import source
from prism.engine.kernels.marking import COMPILED

SWITCH_AFTER = 4_000_000  # operations: about two seconds of interpreted work

INTERPRETED = "interpreted"


@dataclass(slots=True)
class _State:
    """What this process runs; the only mutable state of the engine, and no verdict depends on it."""

    compiled: ModuleType | None = None
    spent: int = 0
    told: bool = False


_state = _State()


def forced() -> str | None:
    """The kind that `PRISM_KERNELS` asks for, or None.

    Errors:
        ValueError: any other word than `interpreted` or `compiled`.
    """
    wish = os.environ.get("PRISM_KERNELS", "")
    if wish not in ("", INTERPRETED, "compiled"):
        raise ValueError(f"PRISM_KERNELS={wish!r}: expected 'interpreted' or 'compiled'")
    return wish or None


def warm() -> ModuleType:
    """Load the compiled kernels, compiling them once if there is no cache. First compile 10-30 s, then about 1 s.

    Nothing is to be loaded where `PRISM_KERNELS` asks for the interpreted ones.
    """
    if forced() == INTERPRETED:
        return source
    if _state.compiled is None:
        spec = importlib.util.spec_from_file_location(COMPILED, Path(source.__file__))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[COMPILED] = module  # the cached code is looked up under this name
        spec.loader.exec_module(module)
        _state.compiled = module
    return _state.compiled


def kernels() -> ModuleType:
    """The kernels to use now: see the module's docstring."""
    wish = forced()
    if wish == INTERPRETED:
        return source
    if wish == "compiled" or _state.compiled is not None:
        return warm()
    if _state.spent > SWITCH_AFTER:
        if _cache_exists():
            return warm()
        if not _state.told:
            _state.told = True
            print("prism: many formulas, interpreted kernels; run `prism warm` once to speed this up", file=sys.stderr)
    return source


def spend(operations: int) -> None:
    """Count kernel operations towards the switch to compiled kernels."""
    _state.spent += operations


def _cache_exists() -> bool:
    """True if numba has an index file for `source.py`, where `NUMBA_CACHE_DIR` points or beside the file."""
    where = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(where) if where else Path(source.__file__).parent / "__pycache__"
    pattern = "**/source.*.nbi" if where else "source.*.nbi"
    return folder.is_dir() and any(folder.glob(pattern))


def floats(module: ModuleType, values: Sequence[float] | np.ndarray[Any, Any] | int) -> Any:
    """An array of float64 as this kind of kernel wants it; an int gives that many zeros."""
    return _array(module, values, np.float64, 0.0)


def ints(module: ModuleType, values: Sequence[int] | np.ndarray[Any, Any] | int) -> Any:
    """An array of int64 as this kind of kernel wants it; an int gives that many zeros."""
    return _array(module, values, np.int64, 0)


def _array(module: ModuleType, values: Any, kind: type[np.generic], zero: float) -> Any:
    """A list for the interpreted kernels, a contiguous array for the compiled ones."""
    if isinstance(values, int):
        return [zero] * values if module is source else np.zeros(values, dtype=kind)
    if module is source:
        return values.tolist() if isinstance(values, np.ndarray) else list(values)
    return np.ascontiguousarray(values, dtype=kind)

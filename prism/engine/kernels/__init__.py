"""Access to the compiled core: which kernels a process runs, and arrays as they want them.

`active_kernels()` gives the functions of the package `source`, interpreted at first. When a process has spent
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
from prism.engine.kernels.marking import COMPILED, SOURCES, source_digest

SWITCH_AFTER = 4_000_000  # operations: about two seconds of interpreted work

INTERPRETED = "interpreted"


@dataclass(slots=True)
class _State:
    """Compiled kernels once loaded, operations spent, `prism warm` advised or not: no verdict depends on them."""

    compiled: ModuleType | None = None
    spent: int = 0
    has_hinted: bool = False


_state = _State()


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
    if _state.compiled is None:
        package = SOURCES / "__init__.py"
        spec = importlib.util.spec_from_file_location(COMPILED, package, submodule_search_locations=[str(SOURCES)])
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[COMPILED] = module  # relative imports and the cached code are looked up under this name
        spec.loader.exec_module(module)
        _state.compiled = module
    return _state.compiled


def active_kernels() -> ModuleType:
    """Return the module of kernels to use now, interpreted or compiled.

    Compiled: as `PRISM_KERNELS` demands, once they are loaded, or after SWITCH_AFTER operations if a cache exists.
    """
    wish = forced()
    if wish == INTERPRETED:
        return source
    if wish == "compiled" or _state.compiled is not None:
        return warm()
    if _state.spent > SWITCH_AFTER:
        if _cache_exists():
            return warm()
        if not _state.has_hinted:
            _state.has_hinted = True
            print("prism: many formulas, interpreted kernels; run `prism warm` once to speed this up", file=sys.stderr)
    return source


def spend(operations: int) -> None:
    """Add kernel operations to the count of this process; above SWITCH_AFTER `kernels` loads the compiled ones."""
    _state.spent += operations


def _cache_exists() -> bool:
    """True if compiled kernels of these sources are cached, in `NUMBA_CACHE_DIR` if set, else beside the sources."""
    where = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(where) if where else SOURCES
    return folder.is_dir() and any(folder.glob(f"*/*_{source_digest()}-*.nbi"))


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

"""The memory of a process that only grades: it is bounded, and what is remembered stays below a level."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from prism.budget import forget

REMEMBERED = 150_000  # blocks of memory, of a hundred bytes each, that a worker remembers of what it has graded
_STATM_DATA = 5  # field of /proc/self/statm: pages that can be written
_COLLECT_AFTER = (50_000, 20, 50)  # thresholds of the garbage collector's three generations


def relax_garbage_collection() -> None:
    """Make the garbage collector skip all present objects and run seldom; for processes that only grade.

    A grade leaves no cycles behind, and loaded modules and caches are large: scanning them again and again took a tenth
    of the time. In the caller's own process the collector is left alone.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class Memory:
    """What a process that only grades remembers, which is forgotten when it becomes too much.

    The stores of `prism.budget` are bounded by numbers of results, and what one holds differs a thousandfold. Much of
    it are cycles, of which the collector frees few. So all is dropped at once, some tenths of a second in a hundred
    rollouts; no row depends on it.
    """

    def __init__(self) -> None:
        """Begin with what the process holds now."""
        self._most = sys.getallocatedblocks() + REMEMBERED

    def keep_level(self) -> None:
        """Forget all if the process holds `REMEMBERED` blocks more than it did at the begin, or when it forgot last."""
        if sys.getallocatedblocks() > self._most:
            forget()
            gc.collect()
            self._most = sys.getallocatedblocks() + REMEMBERED


def bound_memory(more: int) -> None:
    """Allow this process `more` bytes beyond what it holds now; beyond that, allocations fail (Linux)."""
    if sys.platform != "linux":  # others do not enforce such a limit
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[_STATM_DATA])
    except OSError:  # no /proc here
        return
    lower_limit(resource.RLIMIT_DATA, pages * resource.getpagesize() + more)


def lower_limit(which: int, value: int) -> None:
    """Set a soft limit of this process, within its hard one (not on Windows)."""
    import resource

    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))

"""The worker processes of a `Reward`: rows in, rewards out, in order, and no process left behind.

Nothing is started before the first row, so that a reward which is only made, pickled or handed on costs no process.
The processes are those of `prism.runs.workers`: they die with the process that started them, however it ends, and one
that dies is replaced. They are stopped by `close`, at exit, and when the reward is garbage. A forked child forgets
those of its parent and starts its own at its first row.

Only plain data are sent: texts, numbers, lists, dictionaries, and problems. What else a row may hold is an object that
another process may not be able to load; `submit` says so, and the caller grades that row itself.

Refused: stopping processes within a finalizer, which the garbage collector may run where a lock is held; it starts a
thread that does.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import groupby
from pathlib import Path
from typing import Any

from prism.grading.prepared import PreparedProblem
from prism.inputs import MAX_NESTING
from prism.problem.schema import Problem
from prism.problem.source import PlainProblem
from prism.runs.rollouts import Rollout
from prism.runs.workers import Source, WorkerPool

MOST_ROWS = 8  # rows that a worker is given at a time
_SHARES = 4  # parts a worker into which a batch is cut at least, so that no worker waits long for the last one
_MOST_VALUES = 100_000  # of a row that is looked through for what is not plain
_PLAIN = (str, int, float, bool, type(None))

Row = tuple[Source, Any]
"""A problem to be prepared, as `PreparedCache.source` returns it, and a solution."""


class RewardWorkers:
    """Worker processes that run a job on rows: `job(prepared, rollout, **options)`; started at the first row.

    Attributes:
        workers: number of processes.
    """

    def __init__(self, job: Callable[..., Any], *, workers: int, training: bool, kept: int) -> None:
        """Store the settings; see `WorkerPool` for them."""
        self.workers = workers
        self._make: Callable[[], WorkerPool] = lambda: WorkerPool(job, workers=workers, training=training, kept=kept)
        self._lock = threading.Lock()
        self._pools: list[WorkerPool] = []  # none or one; a list, which the finalizer holds too
        self._finalizer = weakref.finalize(self, _stop_soon, self._pools)
        self._finalizer.atexit = False  # `_close_all` is in time for that
        _living.add(self)

    def start(self) -> WorkerPool:
        """Return the running pool, started first if there is none or its processes could not be replaced.

        Errors:
            PrismError: processes that do not start.
        """
        with self._lock:
            if self._pools and not self._pools[0].is_ready:
                self._pools.pop().stop()
            if not self._pools:
                pool = self._make()
                try:
                    pool.start()
                except BaseException:
                    pool.stop()
                    raise
                self._pools.append(pool)
            return self._pools[0]

    def submit(self, rows: Sequence[Row], options: Mapping[str, Any]) -> list[Future[Any]]:
        """Queue rows; return a future of what the job returns for each, in order.

        Args:
            rows: of which `sendable` was true.
            options: further arguments of the job.

        Errors:
            PrismError: processes that do not start.
        """
        if not rows:
            return []
        pool = self.start()
        size = max(1, min(MOST_ROWS, len(rows) // (_SHARES * self.workers)))
        return [
            future
            for _, chunk in groupby(enumerate(rows), lambda row: row[0] // size)
            for future in pool.submit_chunk([(source, Rollout("", text, "")) for _, (source, text) in chunk], options)
        ]

    def close(self) -> None:
        """End the processes, whatever they are doing, and wait for them; a later row starts new ones."""
        with self._lock:
            if self._pools:
                self._pools.pop().stop()

    def let_go(self) -> None:
        """Forget the processes, in a child that was forked: they are its parent's."""
        self._lock = threading.Lock()  # a thread that is not here any more may have held the old one
        while self._pools:
            self._pools.pop().let_go()


def sendable(source: Source, solution: object) -> Row | None:
    """Return a row as it can be sent to a worker: with plain texts, and paths absolute; None if it cannot be."""
    place: Source | None
    if isinstance(source, Problem | PreparedProblem):
        place = source
    elif isinstance(source, Path):
        place = source.absolute()  # a worker may be started in another folder
        place = place if place.is_file() else None
    else:
        place = source if _is_plain(source.data if isinstance(source, PlainProblem) else source) else None
    text = str.__str__(solution) if isinstance(solution, str) else solution  # of subclasses, as NumPy's, the text
    return (place, text) if place is not None and _is_plain(text) else None


def _is_plain(value: object) -> bool:
    """Return True if a value is nothing but texts, numbers, lists and dictionaries, and no very large one of them."""
    level: list[object] = [value]
    n_seen = 0
    for _ in range(MAX_NESTING + 1):
        below: list[object] = []
        for each in level:
            if type(each) in (list, tuple):
                below += each  # type: ignore[arg-type]
            elif type(each) is dict:
                below += each.keys()
                below += each.values()
            elif type(each) not in _PLAIN:
                return False
            if n_seen + len(below) > _MOST_VALUES:
                return False
        n_seen += len(below)
        if not below:
            return True
        level = below
    return False


# Their end. ------------------------------------------------------------------------------------------------------

_living: weakref.WeakSet[RewardWorkers] = weakref.WeakSet()


def _stop_soon(pools: list[WorkerPool]) -> None:
    """Stop the pool of a reward that is garbage, in a thread: the collector may have come where a lock is held."""
    if pools:
        threading.Thread(target=pools.pop().stop, daemon=True, name="prism closing").start()


def _close_all() -> None:
    """Close the workers of all rewards (at exit)."""
    for each in list(_living):
        each.close()


def _let_all_go() -> None:
    """Let go of the workers of all rewards (in a child that was forked)."""
    for each in list(_living):
        each.let_go()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):  # not on Windows, where nothing is forked
    os.register_at_fork(after_in_child=_let_all_go)

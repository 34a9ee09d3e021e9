"""What the grader is at, told to whoever watches: a run adds up how long each step took, and tells it at its end.

No clock stands here, and nothing that a watcher does can alter a grade: it is told, and not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum


class Step(StrEnum):
    """A step of grading a rollout, in order.

    Attributes:
        PREPARING: the problem, once for many rollouts.
        READING: formulas are extracted and parsed.
        MATCHING: they are compared with the nodes.
        SELECTING: what else the text says of a matched node decides whether the match stands.
        SCORING: points, and the row that is written.
    """

    PREPARING = "preparing"
    READING = "reading"
    MATCHING = "matching"
    SELECTING = "selecting"
    SCORING = "scoring"


_watcher: ContextVar[Callable[[Step], None] | None] = ContextVar("watcher", default=None)


def begin_step(step: Step) -> None:
    """Tell the watcher of this thread, if there is one, that a step begins and the one before is over."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(step)


@contextmanager
def watched(watcher: Callable[[Step], None]) -> Iterator[None]:
    """Tell a watcher of each step that begins within the block, in this thread."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)

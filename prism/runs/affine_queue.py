"""A queue that gives each worker more of what it was at, where it can: its process remembers what solutions share."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class AffineQueue(Generic[T]):
    """A queue in order for several takers, each of which says what it was at when it comes.

    Where takers wait, a value goes to one that was at the same, else to the one that has waited for the shortest time:
    so with little to do a few processes stay warm, and the others are not started.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._lock = threading.Lock()
        self._values: deque[T] = deque()
        self._takers: list[tuple[Hashable, Future[T]]] = []  # none where values wait; the last came last

    def put(self, value: T, about: Hashable) -> None:
        """Add a value; `about` is what a taker of it was at."""
        with self._lock:
            if not self._takers:
                self._values.append(value)
                return
            near = [place for place, (last, _) in enumerate(self._takers) if last == about]
            _, taker = self._takers.pop(near[-1] if near else -1)
        taker.set_result(value)

    def ask(self, last: Hashable) -> Future[T]:
        """Return a future of the next value for a taker whose last one was of the group `last`.

        It has the first value that waits, whatever its group, if one does; else it joins the takers, and gets a value
        of its group if one comes. Who asks before it reports what it has done is there in time for more of the same.
        """
        taker: Future[T] = Future()
        with self._lock:
            if self._values:
                taker.set_result(self._values.popleft())
            else:
                self._takers.append((last, taker))
        return taker

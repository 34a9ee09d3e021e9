"""Whose turn it is: each request has an equal share of the work, so that one's many do not hold up another's few.

A request's share is reckoned in virtual time, the work in operations that each of the requests present would have had
by now, had all worked side by side: every operation done moves it on by one over their number. A request's tag is the
virtual time at which it came plus what was spent on it since, and the smallest tag has the next turn. So a request of
256 solutions waits behind requests of one, and is still worked on while these keep coming, for their tags grow too. No
clock decides.

Refused: turns by the client's address (a trainer and its attacker, or all clients behind a proxy, share one) or by its
connection (a new one costs nothing); and least work first without virtual time (new requests would always come first).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class RequestShare:
    """The place of a request among the others.

    Attributes:
        tag: virtual time at which it came, and the operations spent on it since or reserved for what is in work.
        unfinished: its solutions that are not graded yet.
    """

    tag: float = 0.0
    unfinished: int = 0


class VirtualTime:
    """The operations that a request would have had by now that has been here from the start."""

    def __init__(self) -> None:
        """Begin at 0, without requests."""
        self.now = 0.0
        self._n_request = 0

    def enter(self, request: RequestShare) -> None:
        """Count a solution of a request; its first one gives the request its tag."""
        if not request.unfinished:
            request.tag = self.now
            self._n_request += 1
        request.unfinished += 1

    def leave(self, request: RequestShare) -> None:
        """Count a solution of a request less."""
        request.unfinished -= 1
        if not request.unfinished:
            self._n_request -= 1

    def spend(self, request: RequestShare, operations: float, reserved: float) -> None:
        """Move on by operations that were done for a request, of which some were reserved in its tag."""
        request.tag += operations - reserved
        self.now += operations / max(1, self._n_request)


class FairQueue(Generic[T]):
    """A queue of values, each of a request; the request with the smallest tag has the next turn."""

    def __init__(self) -> None:
        """Create an empty queue."""
        self._waiting: dict[RequestShare, deque[T]] = {}  # requests by the time from which they wait, none without any
        self._n = 0

    def __len__(self) -> int:
        """Return the number of values that wait."""
        return self._n

    @property
    def requests(self) -> frozenset[RequestShare]:
        """The requests of which something waits."""
        return frozenset(self._waiting)

    def values(self) -> list[T]:
        """Return all that waits."""
        return [value for values in self._waiting.values() for value in values]

    def put(self, request: RequestShare, value: T) -> None:
        """Add a value to what waits of a request."""
        self._waiting.setdefault(request, deque()).append(value)
        self._n += 1

    def next(self) -> RequestShare | None:
        """Return the request that has the next turn, the one that waits longest among equals; None if nothing waits."""
        return min(self._waiting, key=lambda request: request.tag, default=None)

    def take(self, request: RequestShare, *wishes: Callable[[T], bool]) -> T:
        """Remove and return a value of a request of which something waits: the first that fulfils a wish, or the first.

        Args:
            wishes: in their order; the second counts where no value fulfils the first one.
        """
        waiting = self._waiting[request]
        value = next((value for wish in wishes for value in waiting if wish(value)), waiting[0])
        waiting.remove(value)
        self._removed(request)
        return value

    def remove(self, request: RequestShare, value: T) -> bool:
        """Remove a value; False if it does not wait."""
        try:
            self._waiting[request].remove(value)
        except (KeyError, ValueError):
            return False
        self._removed(request)
        return True

    def _removed(self, request: RequestShare) -> None:
        """Count a value less, and forget a request of which nothing waits any more."""
        self._n -= 1
        if not self._waiting[request]:
            del self._waiting[request]

"""Whose turn it is, and who may come in: clients have equal shares, and so have the requests of each client.

A share of the work is reckoned in virtual time: the operations that each of those present would have had by now, had
all worked side by side; every operation done moves it on by one over their number. A client's tag is the virtual time
at which it came plus what was spent on it since, and the smallest tag has the next turn. Within the client the same
decides between its requests. So a request of 256 solutions waits behind requests of one, a hundred requests of one
client have the turns of one, and what is large is still worked on while others keep coming, for their tags grow too.
A client that comes back keeps a tag that is ahead: what it had too much is not forgotten. No clock decides.

A share of admission: a client may have what is left of all, and in any case an equal part of the whole (`Held`).

Refused: turns by requests alone (who sends many has many turns); by connection (a new one costs nothing); least work
first without virtual time (new requests would always come first); and a fixed part for each client (a trainer that is
alone would have that part only).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
C = TypeVar("C", bound=Hashable)
_KEPT_CLIENTS = 1024  # whose tags are remembered while they have nothing unfinished


class Held(Generic[C]):
    """How much of one thing each client holds.

    Attributes:
        most: what all together may hold.
        total: what they hold.
    """

    def __init__(self, most: int) -> None:
        """Begin with nothing held."""
        self.most = most
        self.total = 0
        self._held: Counter[C] = Counter()

    @property
    def n_client(self) -> int:
        """The number of clients that hold something."""
        return len(self._held)

    def of(self, client: C) -> int:
        """Return what a client holds."""
        return self._held[client]

    def add(self, client: C, amount: int) -> None:
        """Count what a client takes, or gives back if that is negative."""
        self.total += amount
        self._held[client] += amount
        if not self._held[client]:
            del self._held[client]

    def has_room(self, client: C, amount: int) -> bool:
        """Return True if a client may hold so much more: what is left of all, or an equal part of the whole.

        So nobody is kept out by others that hold all of it; these are refused until the total is within bounds again.
        """
        own = self._held[client]
        n_client = self.n_client + (not own)
        return self.total + amount <= self.most or (own + amount) * n_client <= self.most


class Share:
    """The place of a client, or of a request of it, among the others; or, without a parent, what all are parts of.

    Attributes:
        tag: virtual time at which it came, and the operations spent on it since or reserved for what is in work.
        unfinished: its solutions that are not graded yet.
        now: the operations that a part of it would have had by now that has been here from the start.
    """

    __slots__ = ("_n_part", "now", "parent", "tag", "unfinished")

    def __init__(self, parent: Share | None = None) -> None:
        """Create a share that has had nothing yet."""
        self.parent = parent
        self.tag = self.now = 0.0
        self.unfinished = self._n_part = 0

    @property
    def client(self) -> Share:
        """The share that a request is a part of."""
        assert self.parent is not None
        return self.parent

    @property
    def rank(self) -> tuple[float, ...]:
        """The tags of the client and of the request: the smallest one has the next turn."""
        return () if self.parent is None else (*self.parent.rank, self.tag)

    def is_before(self, other: Share, reserved: float, other_reserved: float = 0) -> bool:
        """Return True if a request has its turn before another one, with so many operations reserved for each.

        Clients are compared, and the requests of one client by themselves.
        """
        one, another = (self, other) if self.client is other.client else (self.client, other.client)
        return one.tag + reserved <= another.tag + other_reserved

    def enter(self) -> None:
        """Count a solution; with the first one it is present."""
        self.unfinished += 1
        if self.parent is not None:
            if self.unfinished == 1:
                self.tag = max(self.tag, self.parent.now)
                self.parent._n_part += 1
            self.parent.enter()

    def leave(self) -> None:
        """Count a solution less."""
        self.unfinished -= 1
        if self.parent is not None:
            self.parent._n_part -= not self.unfinished
            self.parent.leave()

    def reserve(self, operations: float) -> None:
        """Count operations before they are done."""
        self.tag += operations
        if self.parent is not None:
            self.parent.reserve(operations)

    def spend(self, operations: float, reserved: float) -> None:
        """Count operations that were done, of which some were reserved."""
        self.tag += operations - reserved
        if self.parent is not None:
            self.parent.now += operations / max(1, self.parent._n_part)
            self.parent.spend(operations, reserved)


class Clients:
    """The shares of the clients of a server, by name."""

    def __init__(self) -> None:
        """Begin without any."""
        self._all = Share()
        self._shares: OrderedDict[str, Share] = OrderedDict()

    def request(self, client: str) -> Share:
        """Return the share of a new request of a client; who asked longest ago of too many is forgotten."""
        share = self._shares.setdefault(client, Share(self._all))
        self._shares.move_to_end(client)
        if len(self._shares) > _KEPT_CLIENTS:
            idle = next((name for name, each in self._shares.items() if not each.unfinished), client)
            if idle != client:
                del self._shares[idle]
        return Share(share)


class FairQueue(Generic[T]):
    """A queue of values, each of a request; the request with the smallest rank has the next turn."""

    def __init__(self) -> None:
        """Create an empty queue."""
        self._waiting: dict[Share, deque[T]] = {}  # requests by the time from which they wait, none without any
        self._n = 0

    def __len__(self) -> int:
        """Return the number of values that wait."""
        return self._n

    @property
    def requests(self) -> frozenset[Share]:
        """The requests of which something waits."""
        return frozenset(self._waiting)

    def values(self) -> list[T]:
        """Return all that waits."""
        return [value for values in self._waiting.values() for value in values]

    def put(self, request: Share, value: T) -> None:
        """Add a value to what waits of a request."""
        self._waiting.setdefault(request, deque()).append(value)
        self._n += 1

    def next(self) -> Share | None:
        """Return the request that has the next turn, the one that waits longest among equals; None if nothing waits."""
        return min(self._waiting, key=lambda request: request.rank, default=None)

    def take(self, request: Share, *wishes: Callable[[T], bool]) -> T:
        """Remove and return a value of a request of which something waits: the first that fulfils a wish, or the first.

        Args:
            wishes: in their order; the second counts where no value fulfils the first one.
        """
        waiting = self._waiting[request]
        value = next((value for wish in wishes for value in waiting if wish(value)), waiting[0])
        waiting.remove(value)
        self._removed(request)
        return value

    def remove(self, request: Share, value: T) -> bool:
        """Remove a value; False if it does not wait."""
        try:
            self._waiting[request].remove(value)
        except (KeyError, ValueError):
            return False
        self._removed(request)
        return True

    def _removed(self, request: Share) -> None:
        """Count a value less, and forget a request of which nothing waits any more."""
        self._n -= 1
        if not self._waiting[request]:
            del self._waiting[request]

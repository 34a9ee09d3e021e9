"""Bounds on connections, below HTTP: their number, the time until headers are there, the time to take an answer.

uvicorn with h11 waits for headers as long as bytes do not come, and with an answer for whoever does not read it. Each
connection takes a descriptor, of which a process has few; workers need some too. So when too many connections are open,
the one that has been without a request longest is closed for the new one; without such, the new one is answered 503.

Refused: uvicorn's own `limit_concurrency` (it counts when headers are there), and httptools (another parser of what is
hostile; h11 refuses more).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from uvicorn.protocols.http.h11_impl import H11Protocol

from prism.server.guard import Limits
from prism.server.metrics import Metrics

_RESERVED = 32  # descriptors for files, the event loop, standard streams and the socket that listens
_OF_A_WORKER = 8  # descriptors: its two pipes, and those of the one that replaces it
_LISTEN = 2048  # connections that the system accepts for the server meanwhile; at most a quarter of the descriptors
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Descriptors:
    """How the descriptors of a process are shared out.

    Attributes:
        connections: that may be open at a time.
        backlog: connections that wait to be accepted, of which as many may come in at once.
    """

    connections: int
    backlog: int


def share_descriptors(most: int | None, connections: int, workers: int) -> Descriptors:
    """Return how many connections fit.

    Args:
        most: descriptors that the process may have; None if that is not limited.
        connections: that may be open if there are descriptors enough.
        workers: processes that need pipes.
    """
    if most is None:
        return Descriptors(connections, _LISTEN)
    backlog = max(1, min(_LISTEN, most // 4))
    free = most - backlog - _RESERVED - _OF_A_WORKER * workers
    return Descriptors(max(1, min(connections, free)), backlog)


def most_descriptors() -> int | None:
    """Return how many descriptors this process may have; None if that is not limited or not told."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if soft == resource.RLIM_INFINITY else soft


@dataclass(slots=True, eq=False)
class Connections:
    """What the connections of a server share.

    Attributes:
        most: that may be open at a time.
        idle: those that are not answering a request, by the time from which they wait for one.
    """

    limits: Limits
    metrics: Metrics
    most: int
    idle: dict[BoundedProtocol, None] = field(default_factory=dict)

    def close_longest_idle(self) -> bool:
        """Close the connection that has been without a request longest; False if there is none."""
        oldest = next(iter(self.idle), None)
        if oldest is None:
            return False
        del self.idle[oldest]
        self.metrics.add("connections_closed", why="idle")
        oldest.transport.close()
        return True


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 over h11, with the bounds of `Connections`; `protocol_for` makes the class of a server."""

    shared: Connections
    _timer: asyncio.TimerHandle | None = None
    _timer_is_for_headers = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or refuse it if too many are open."""
        super().connection_made(transport)
        if len(self.connections) > self.shared.most and not self.shared.close_longest_idle():
            self.shared.metrics.add("connections_refused")
            transport.write(_FULL)
            transport.close()
            return
        self._look()

    def data_received(self, data: bytes) -> None:
        """Take what came in, and look whether a request has begun."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """End a request; the next one may take as long to come as the first."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self.shared.idle.pop(self, None)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for a client that does not take its answer."""
        super().pause_writing()
        self._start_timer(self.shared.limits.answer_seconds, self._give_up)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        super().resume_writing()
        self._stop_timer()
        self._look()

    def _look(self) -> None:
        """Time a connection that is without a request, or is closing and has not sent all of its answer."""
        is_closing = self.transport.is_closing()
        if is_closing or not (self.cycle is None or self.cycle.response_complete):
            self.shared.idle.pop(self, None)
            if self._timer is not None and self._timer_is_for_headers:
                self._stop_timer()
            if is_closing and self._timer is None and self.transport.get_write_buffer_size():
                self._start_timer(self.shared.limits.answer_seconds, self._give_up)
        elif self._timer is None:
            self.shared.idle[self] = None
            self._start_timer(self.shared.limits.header_seconds, self._close_late)

    def _start_timer(self, seconds: float, expired: Callable[[], None]) -> None:
        """Call a method after so many seconds, in place of another that was to be called."""
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, expired)
        self._timer_is_for_headers = expired == self._close_late

    def _stop_timer(self) -> None:
        """Stop waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_late(self) -> None:
        """Close a connection whose headers have not come, or wait until it has sent the answer before them."""
        self.shared.idle.pop(self, None)
        if self.transport.get_write_buffer_size():
            self._start_timer(self.shared.limits.answer_seconds, self._give_up)
            return
        self.shared.metrics.add("connections_closed", why="headers")
        self.transport.write(_LATE)
        self.transport.close()

    def _give_up(self) -> None:
        """Drop a connection whose client does not read, and what it has not read."""
        self.shared.metrics.add("connections_closed", why="answer")
        self.transport.abort()


def protocol_for(connections: Connections) -> type[BoundedProtocol]:
    """Return the protocol class of a server's connections."""
    return type("BoundedProtocol", (BoundedProtocol,), {"shared": connections})

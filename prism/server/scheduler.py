"""Who is graded when, and what is admitted at all: dear solutions do not hold up cheap ones.

What a solution costs is not seen before it is graded. So where requests of few solutions are there too, each is first
tried: it is given up when more than the first of `TRIALS` operations are really done (`prism.budget.trial`), later
tried again from the start with the second, and at last graded. The row is that of the last time, as if there had been
no other. What was given up once is dear, and dear ones have one process of their own, beside as many as were asked for,
so that no cheap one waits for the end of a dear one; where nothing else waits, they have the other workers too, but for
one. Of one request a worker goes on with the problem that it was at, for it remembers what the solutions share. Each
client, and of a client each request, dear or cheap, has an equal share of the work (`fair_queue`), trials counted, and
the loading of problems, which is tried as grading is. All lives in one event loop.

Refused: a thread that loads problems (nothing kills it, and all wait for it); first come, first served (eight clients
with small solutions wait five to nine times as long beside four with dear ones); stopping or reprioritising processes
(a process more for each solution that is put aside); ending a trial by the clock (a new process costs more than any
trial); trying by the account's cost (that of a text which a worker remembers is as high as ever); and a memory of dear
texts (what is tried leaves its parts behind in the worker, and the next trial goes further).
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from prism.budget import CHARACTER, EACH_NODE, GIVEN, KNOWLEDGE, NODES, NUMBERS, SOLUTION, SUBJECTS
from prism.grading.pipeline import operations_of_cells
from prism.problem.schema import Problem
from prism.problem.source import PlainProblem
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, WorkerPool
from prism.server.fair_queue import Clients, FairQueue, Held, Share
from prism.server.guard import Limits, RefusedRequest
from prism.server.metrics import Gauge, Metrics

TRIALS = 10_000_000, 40_000_000  # operations of a first and a second try, 0.1 and 0.4 s: what honest solutions cost
_RESERVED = 10_000_000, 25_000_000  # operations that these count beforehand
_COST = 70_000_000  # operations that the last time counts beforehand, until some were seen
_MEMORY = 16  # solutions over which the mean of these is taken
_FEW = 8  # solutions of a request that is not to wait for the end of others' dear ones
_KEPT_DEADLY = 1024  # digests of texts that have killed a worker, which do not stand beside the others again
_DEAR_REQUESTS = 0.5  # share of the places for requests that those with a dear solution may hold
_SHORTEST_FORMULA = 4  # characters, with what divides it from the next one
_SPEED = 100_000_000  # operations that a worker does in a second, for `Retry-After`
_LONGEST_RETRY = 60  # seconds that `Retry-After` says at most


@dataclass(frozen=True, slots=True)
class Graded:
    """What a worker makes of a solution.

    Attributes:
        value: for the client.
        done: operations that were really done.
        is_over: a trial was given up, and the value says nothing.
    """

    value: Any
    done: int
    is_over: bool = False


@dataclass(slots=True, eq=False)
class Piece:
    """One solution of a request that is to be graded.

    Attributes:
        digest: of the problem and the text.
        bound: operations that it may cost.
        budget: what the client allows of these; None for all.
        outcome: the value of its `Graded`, or a `Killed`.
        killed: how the workers ended that were at it before; then its row says so, and it is not graded again.
        since: the event loop's time at which it was queued [s].
        n_trial: trials that were given up; one makes it dear.
        is_beside: it runs in the process for dear ones.
    """

    request: Share
    problem: Problem | PlainProblem
    rollout: Rollout
    digest: bytes
    bound: int
    budget: int | None
    outcome: asyncio.Future[Any]
    killed: str = ""
    since: float = 0.0
    n_trial: int = 0
    is_beside: bool = False


def processes(workers: int) -> int:
    """Return how many worker processes a scheduler of so many workers uses: one more, for dear solutions."""
    return workers and workers + 1


def most_operations(n_character: int, budget: int | None, n_nodes: Sequence[int] = (0,)) -> int:
    """Return the operations that a solution may cost, known before it is read.

    Args:
        n_character: of the solution.
        budget: of the request; None for the default one.
        n_nodes: of each reference DAG.
    """
    n_formulas = n_character // _SHORTEST_FORMULA
    bound = sum(SOLUTION + CHARACTER * n_character + operations_of_cells(n, n_formulas) for n in n_nodes)
    return bound if budget is None else min(bound, budget)


def most_of_loading(n_nodes: Sequence[int]) -> int:
    """Return the operations that loading and preparing a problem may cost, by the nodes of each reference DAG."""
    return sum(NODES + EACH_NODE * n for n in n_nodes) + KNOWLEDGE + SUBJECTS + NUMBERS + 2 * GIVEN


class Scheduler:
    """Queues and admission of the solutions of all requests, before a pool of workers.

    Attributes:
        clients: those whose solutions are queued.
        admitted: operations that the unfinished solutions of each may cost.
        last_end: the event loop's time at which a worker last ended with something [s].
    """

    def __init__(self, pool: WorkerPool, limits: Limits, workers: int, metrics: Metrics) -> None:
        """Store the settings; the pool has `processes(workers)`, or is a thread, which tries nothing first."""
        self._pool = pool
        self._slots = max(workers, 1)
        self._has_processes = workers > 0
        self._metrics = metrics
        self._most_dear = max(1, int(limits.queue * _DEAR_REQUESTS))
        self._stall_seconds = limits.stall_seconds
        self._queues: list[FairQueue[Piece]] = [FairQueue() for _ in range(len(TRIALS) + 1)]  # by trials given up
        self._running: dict[Piece, None] = {}
        self._reserved: list[float] = [*_RESERVED, _COST]
        self._deadly: OrderedDict[bytes, None] = OrderedDict()
        self.clients = Clients()
        self.admitted: Held[Share] = Held(limits.work * self._slots)
        self.last_end = -math.inf

    def admit(self, request: Share, bounds: Sequence[int]) -> None:
        """Refuse solutions that, with those that are unfinished, may cost too much; each has one in any case.

        Errors:
            RefusedRequest: 429, with the seconds in which the workers will have done what is too much.
        """
        client, amount = request.client, sum(bounds)
        if self.admitted.of(client) and not self.admitted.has_room(client, amount):
            excess = self.admitted.total + amount - self.admitted.most
            raise RefusedRequest(
                429, ["the solutions that wait may cost too much together; come back later"],
                retry_after=min(_LONGEST_RETRY, math.ceil(excess / (_SPEED * self._slots))),
            )  # fmt: skip

    def submit(self, *pieces: Piece) -> None:
        """Queue admitted solutions; their `outcome` is set when they are graded. Cancelling that takes one out."""
        for piece in pieces:
            self.admitted.add(piece.request.client, piece.bound)
            piece.outcome.add_done_callback(partial(self._settle, piece))
            piece.since = asyncio.get_running_loop().time()
            piece.n_trial = len(TRIALS) if piece.digest in self._deadly else 0
            piece.request.enter()
            self._queues[piece.n_trial].put(piece.request, piece)
        self._begin()

    def _settle(self, piece: Piece, _: asyncio.Future[Any]) -> None:
        """Give back what a finished or cancelled solution was admitted with, and take it out of the queues."""
        self.admitted.add(piece.request.client, -piece.bound)
        piece.request.leave()
        if piece.outcome.cancelled():
            self._metrics.add("solutions", outcome="cancelled")
            self._queues[piece.n_trial].remove(piece.request, piece)

    # Turns. -----------------------------------------------------------------------------------------------------

    def _begin(self, last: str = "") -> None:
        """Give waiting solutions to the free workers, of which one was at the problem with the digest `last`."""
        while (piece := self._next(last)) is not None:
            last = ""
            if piece.outcome.done():  # cancelled a moment ago
                continue
            tried, reserved = self._tried(piece), self._reserved[piece.n_trial]
            options = {"budget": piece.budget, "tried": tried, "killed": piece.killed}
            try:
                done = self._pool.submit(piece.problem, piece.rollout, options)
            except Exception as error:  # noqa: BLE001 - that of whoever waits for the solution
                piece.outcome.set_exception(error)
                continue
            self._running[piece] = None
            piece.request.reserve(reserved)
            asyncio.wrap_future(done).add_done_callback(partial(self._end, piece, reserved))

    def _next(self, last: str) -> Piece | None:
        """Remove and return the solution that is begun now; None if nothing waits, or no worker is free for it.

        Of the request whose turn it is one of the problem `last`, else of a problem that no worker is at: a worker
        remembers what the solutions of a problem share.
        """
        first = self._queues[0].next()
        n_trial, dear = 0, None
        for n, queue in enumerate(self._queues[1:], start=1):
            other = queue.next()
            if other is not None and (
                dear is None or not dear.is_before(other, self._reserved[n_trial], self._reserved[n])
            ):
                n_trial, dear = n, other
        n_beside = sum(piece.is_beside for piece in self._running)
        n_free = self._slots - (len(self._running) - n_beside)
        if dear is not None and not n_beside and (first is None or dear.is_before(first, self._reserved[n_trial])):
            piece = self._queues[n_trial].take(dear)
            piece.is_beside = self._has_processes
            return piece
        if first is not None and n_free > 0:
            running = {piece.problem.sha256 for piece in self._running}
            return self._queues[0].take(
                first, lambda piece: piece.problem.sha256 == last, lambda piece: piece.problem.sha256 not in running
            )
        if dear is not None and first is None and n_free > 1:
            return self._queues[n_trial].take(dear)
        return None

    def _tried(self, piece: Piece) -> int | None:
        """Return with how many operations a solution is tried; None if it is graded whatever it takes.

        That is so where it cannot cost more, after the last trial, and where only requests of many solutions are there.
        """
        if not self._has_processes or piece.n_trial == len(TRIALS) or piece.bound <= TRIALS[piece.n_trial]:
            return None
        present = {one.request for one in self._running}.union(*(queue.requests for queue in self._queues))
        is_contended = any(request.unfinished <= _FEW for request in present - {piece.request})
        return TRIALS[piece.n_trial] if is_contended else None

    def _end(self, piece: Piece, reserved: float, done: asyncio.Future[Graded | Killed]) -> None:
        """Take the result of a worker: to the client, or if a trial was given up to the dear ones."""
        if done.cancelled():  # the event loop ends
            return
        del self._running[piece]
        self.last_end = asyncio.get_running_loop().time()
        error = done.exception()
        found = None if error is not None else done.result()
        spent = found.done if isinstance(found, Graded) else reserved
        piece.request.spend(spent, reserved)
        self._metrics.add("operations", int(spent))
        if piece.n_trial == len(TRIALS):
            self._reserved[-1] += (spent - self._reserved[-1]) / _MEMORY
        if isinstance(found, Killed):
            self._remember(piece.digest)
        if piece.outcome.done():  # cancelled meanwhile
            pass
        elif error is not None:
            piece.outcome.set_exception(error)
        elif isinstance(found, Graded) and found.is_over:
            self._put_aside(piece)
        else:
            self._metrics.add("solutions", outcome="killed" if isinstance(found, Killed) else "graded")
            piece.outcome.set_result(found.value if isinstance(found, Graded) else found)
        self._begin(piece.problem.sha256)

    def _put_aside(self, piece: Piece) -> None:
        """Queue a solution among the dear ones, or refuse its request if too many others have some there."""
        self._metrics.add("trials_exceeded")
        others = frozenset[Share]().union(*(queue.requests for queue in self._queues[1:])) - {piece.request}
        dear: Held[Share] = Held(self._most_dear)
        for request in others:
            dear.add(request.client, 1)
        if dear.has_room(piece.request.client, 1):
            piece.n_trial += 1
            piece.is_beside = False
            self._queues[piece.n_trial].put(piece.request, piece)
        else:
            told = f"{len(others)} requests with dear solutions are being worked on; come back later"
            piece.outcome.set_exception(RefusedRequest(429, [told], retry_after=_LONGEST_RETRY))

    def _remember(self, digest: bytes) -> None:
        """Keep the digest of a text that has killed a worker, and forget the one that was kept longest ago."""
        self._deadly[digest] = None
        self._deadly.move_to_end(digest)
        if len(self._deadly) > _KEPT_DEADLY:
            self._deadly.popitem(last=False)

    # What is told. ----------------------------------------------------------------------------------------------

    def is_stalled(self, now: float) -> bool:
        """Return True if something has waited long, and no worker has ended with anything meanwhile."""
        return min(self._age(now), now - self.last_end) > self._stall_seconds

    def _age(self, now: float) -> float:
        """Return for how long the oldest unfinished solution has been here [s]; 0 if there is none."""
        pieces = [*self._running, *(piece for queue in self._queues for piece in queue.values())]
        return max((now - piece.since for piece in pieces), default=0.0)

    def state(self, now: float) -> dict[str, float]:
        """Return for `/healthz` how many solutions wait and run, and for how long the oldest [s]."""
        waiting = sum(map(len, self._queues))
        return {"waiting": waiting, "running": len(self._running), "oldest_seconds": round(self._age(now), 3)}

    def gauges(self, now: float) -> Iterator[Gauge]:
        """Yield what `/metrics` says of this moment; `now` is the event loop's time."""
        yield Gauge("admitted_operations", self.admitted.total)
        yield Gauge("clients", self.admitted.n_client)
        yield Gauge("waiting_solutions", len(self._queues[0]), "first")
        yield Gauge("waiting_solutions", sum(map(len, self._queues[1:])), "dear")
        yield Gauge("running_solutions", len(self._running))
        yield Gauge("oldest_seconds", self._age(now))
        yield Gauge("workers_alive", self._pool.n_alive)
        yield Gauge("workers_ended_total", self._pool.n_ended)

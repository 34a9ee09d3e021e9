"""Who is graded when: trials, dear texts, admission, cancelled work and what is told of it; pools are played here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

import prism
from prism import budget
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed
from prism.server import scheduler
from prism.server.fair_queue import Share
from prism.server.guard import Limits, RefusedRequest
from prism.server.metrics import Metrics
from prism.server.scheduler import TRIALS, Graded, Piece, Scheduler, most_operations

PROBLEM = prism.load_problem({
    "id": "newton", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
})  # fmt: skip
TRIAL, SECOND = TRIALS
DEAR = Graded(None, TRIAL, is_over=True)


class Pool:
    """A pool whose work the test ends."""

    def __init__(self) -> None:
        self.given: list[tuple[str, int | None, int | None]] = []
        self.futures: list[Future[Any]] = []
        self.fault: Exception | None = None
        self.is_ready, self.n_alive, self.n_ended = True, 2, 0

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def submit(self, _: Any, rollout: Rollout, options: dict[str, Any]) -> Future[Any]:
        if self.fault is not None:
            raise self.fault
        self.given.append((str(rollout.solution), options["budget"], options["tried"]))
        self.futures.append(Future())
        return self.futures[-1]


class Bench:
    """A scheduler over a played pool, and the pieces that were given to it."""

    def __init__(self, workers: int, limits: Limits) -> None:
        self.pool = Pool()
        self.metrics = Metrics()
        self.scheduler = Scheduler(self.pool, limits, workers, self.metrics)  # type: ignore[arg-type]
        self.pieces: dict[str, Piece] = {}

    def request(self, client: str = "") -> Share:
        """A new request, by default of the one client."""
        return self.scheduler.clients.request(client)

    def submit(self, text: str, request: Share | None = None, allowed: int | None = None) -> Piece:
        bound = most_operations(len(text), allowed)
        outcome = asyncio.get_running_loop().create_future()
        piece = Piece(
            request or self.request(), PROBLEM, Rollout("newton", text, "1"), text.encode(), bound, allowed, outcome
        )
        self.scheduler.admit(piece.request, [bound])
        self.scheduler.submit(piece)
        self.pieces[text] = piece
        return piece

    def submit_together(self, **texts: str) -> None:
        """Submit one request of texts, each with the name of its problem."""
        request, loop = self.request(), asyncio.get_running_loop()
        for text, name in texts.items():
            problem = replace(PROBLEM, sha256=name)
            rollout = Rollout("newton", text, "1")
            self.pieces[text] = Piece(request, problem, rollout, text.encode(), 1, None, loop.create_future())
        self.scheduler.submit(*self.pieces.values())

    async def end(self, text: str, outcome: Any) -> None:
        """A worker ends with what it was given last of a text."""
        at = max(k for k, (given, _, _) in enumerate(self.pool.given) if given == text)
        if isinstance(outcome, Exception):
            self.pool.futures[at].set_exception(outcome)
        else:
            self.pool.futures[at].set_result(outcome)
        for _ in range(4):  # callbacks
            await asyncio.sleep(0)

    @property
    def given(self) -> list[str]:
        return [text for text, _, _ in self.pool.given]

    def counted(self, line: str) -> bool:
        return line in self.metrics.text(self.scheduler.gauges(0.0)).decode().split("\n")


def played(scene: Callable[[Bench], Awaitable[None]], *, workers: int = 2, limits: Limits | None = None) -> None:
    """Play a scene in an event loop of its own."""

    async def play() -> None:
        await scene(Bench(workers, limits or Limits()))

    asyncio.run(play())


def test_who_is_alone_is_graded_at_once() -> None:
    async def scene(bench: Bench) -> None:
        both = bench.request()
        pieces = [bench.submit(text, both) for text in ("one", "two")]
        assert bench.pool.given == [("one", None, None), ("two", None, None)]
        await bench.end("one", Graded("row", 5))
        await bench.end("two", Graded("row", 6))
        assert [piece.outcome.result() for piece in pieces] == ["row", "row"]
        assert both.unfinished == 0
        assert bench.scheduler.admitted.total == 0
        assert bench.counted("prism_operations_total 11")

    played(scene)


def test_beside_others_a_solution_is_tried_and_a_dear_one_graded_again() -> None:
    async def scene(bench: Bench) -> None:
        bench.submit("other")
        dear = bench.submit("dear")
        assert bench.pool.given[1] == ("dear", None, TRIAL)
        await bench.end("dear", DEAR)
        assert not dear.outcome.done()
        assert bench.pool.given[2:] == [("dear", None, SECOND)]
        await bench.end("dear", Graded(None, SECOND, is_over=True))
        assert bench.pool.given[3:] == [("dear", None, None)]
        await bench.end("dear", Graded("row", 9))
        assert dear.outcome.result() == "row"
        assert bench.counted("prism_trials_exceeded_total 2")
        assert bench.counted(f"prism_operations_total {TRIAL + SECOND + 9}")

    played(scene)


def test_beside_requests_of_many_nothing_is_tried_first() -> None:
    """Whoever waits for 256 solutions does not wait for the end of one; and a trial given up is lost."""

    async def scene(bench: Bench) -> None:
        many = bench.request()
        for k in range(scheduler._FEW + 2):
            bench.submit(f"m{k}", many)
        bench.submit("one")
        await bench.end("m0", Graded("row", 5))
        await bench.end("m1", Graded("row", 5))
        assert bench.pool.given[2:] == [("one", None, None), ("m2", None, TRIAL)]

    played(scene)


def test_dear_ones_have_a_process_of_their_own_and_others_but_one_where_nothing_else_waits() -> None:
    async def scene(bench: Bench) -> None:
        for text in ("d1", "d2", "d3", "d4"):
            bench.submit(text)
        for text in ("d1", "d2", "d3"):
            await bench.end(text, DEAR)
        assert bench.given[4:] == ["d1", "d2"]  # beside d4
        await bench.end("d4", Graded("row", 5))
        assert bench.given[6:] == ["d3"]
        bench.submit("c1")
        assert bench.given[7:] == ["c1"]
        await bench.end("d2", Graded("row", 5))
        await bench.end("d1", Graded("row", 5))
        bench.submit("c2")
        bench.submit("c3")
        assert bench.given[8:] == ["c2"]
        await bench.end("d3", Graded("row", 5))
        assert bench.given[9:] == ["c3"]

    played(scene, workers=3)


def test_a_cheap_solution_never_waits_for_the_end_of_a_dear_one() -> None:
    async def scene(bench: Bench) -> None:
        bench.submit("c1")
        bench.submit("d1")
        await bench.end("c1", Graded("row", 5))
        await bench.end("d1", DEAR)
        assert bench.given == ["c1", "d1", "d1"]
        bench.submit("c2")
        assert bench.given == ["c1", "d1", "d1", "c2"]

    played(scene, workers=1)


def test_a_dear_solution_waits_until_its_share_would_have_done_it() -> None:
    """Small requests keep coming, and go before it until each request could have had as much work."""
    cost, n_present = 5_000_000, 5

    async def scene(bench: Bench) -> None:
        waiting = ["c0", "dear", "c1", "c2"]
        for text in waiting:
            bench.submit(text)
        await bench.end("c0", Graded("row", cost))
        bench.submit("c3")
        await bench.end("dear", DEAR)
        n = 0
        while bench.given.count("dear") == 1:
            n += 1
            bench.submit(f"c{n + 3}")
            await bench.end(f"c{n}", Graded("row", cost))
        share = TRIAL + scheduler._RESERVED[1]
        assert share <= cost + TRIAL / n_present + n * cost / n_present <= share + 2 * cost

    played(scene, workers=1)


def test_requests_of_many_do_not_hold_up_requests_of_one() -> None:
    async def scene(bench: Bench) -> None:
        many = bench.request()
        for k in range(4):
            bench.submit(f"m{k}", many)
        bench.submit("one")
        await bench.end("m0", Graded("row", 5))
        assert bench.given == ["m0", "one"]

    played(scene, workers=1)


def test_a_budget_of_the_client_is_that_of_each_time() -> None:
    async def scene(bench: Bench) -> None:
        bench.submit("other")
        bench.submit("little", allowed=TRIAL)
        assert bench.pool.given[1] == ("little", TRIAL, None)
        await bench.end("little", Graded("row, too large", TRIAL))
        assert bench.pieces["little"].outcome.result() == "row, too large"
        bench.submit("more", allowed=TRIAL + 1)
        assert bench.pool.given[2] == ("more", TRIAL + 1, TRIAL)
        await bench.end("more", DEAR)
        assert bench.pool.given[3] == ("more", TRIAL + 1, None)  # which a second trial does not end

    played(scene)


def test_without_processes_nothing_is_tried_first() -> None:
    async def scene(bench: Bench) -> None:
        bench.submit("text")
        bench.submit("other")
        await bench.end("text", Graded("row", 5))
        assert bench.pool.given == [("text", None, None), ("other", None, None)]

    played(scene, workers=0)


def test_what_is_admitted_is_bounded_by_what_it_may_cost() -> None:
    most = 3 * budget.SOLUTION

    async def scene(bench: Bench) -> None:
        for text in ("", "", ""):
            bench.submit(text)
        with pytest.raises(RefusedRequest) as refused:
            bench.submit("x")
        assert refused.value.status_code == 429
        assert refused.value.headers == {"retry-after": "2"}  # excess of a solution and a character, over their speed
        await bench.end("", Graded("row", 5))
        bench.submit("", allowed=7)

    played(scene, workers=1, limits=Limits(work=most))


def test_a_request_that_is_alone_is_taken_whatever_it_costs() -> None:
    async def scene(bench: Bench) -> None:
        bench.scheduler.admit(bench.request(), [10**15])

    played(scene, limits=Limits(work=1))


def test_the_only_request_of_a_client_is_taken_whatever_others_hold() -> None:
    async def scene(bench: Bench) -> None:
        bench.submit("a" * 100, bench.request("first"))
        with pytest.raises(RefusedRequest):
            bench.submit("b" * 100, bench.request("first"))
        bench.submit("c" * 100, bench.request("second"))
        bench.submit("d" * 100, bench.request("third"))
        with pytest.raises(RefusedRequest):
            bench.submit("e" * 100, bench.request("third"))

    played(scene, workers=1, limits=Limits(work=most_operations(100, None)))


def test_clients_take_turns_whatever_each_sends() -> None:
    async def scene(bench: Bench) -> None:
        for k in range(6):
            bench.submit(f"many {k}", bench.request("many"))
        bench.submit("few", bench.request("few"))
        done = Graded("row", TRIAL)
        await bench.end("many 0", done)
        assert bench.given == ["many 0", "few"]
        await bench.end("few", done)
        assert bench.given == ["many 0", "few", "many 1"]

    played(scene, workers=1)


def test_dear_solutions_of_one_client_leave_others_a_place() -> None:
    """Of four places two are for requests with dear ones; a second client has one of them in any case."""

    async def scene(bench: Bench) -> None:
        for client in ("many", "many", "many", "other"):
            bench.submit(f"{client} {len(bench.pieces)}", bench.request(client))
        for piece in bench.pieces.values():
            bench.scheduler._put_aside(piece)
        refused = [text for text, piece in bench.pieces.items() if piece.outcome.done()]
        assert refused == ["many 2"]
        assert isinstance(bench.pieces["many 2"].outcome.exception(), RefusedRequest)

    played(scene, limits=Limits(queue=4))


def test_requests_with_dear_solutions_do_not_take_all_places() -> None:
    async def scene(bench: Bench) -> None:
        for text in ("c1", "d1", "d2", "d3", "c2", "c3", "c4"):
            bench.submit(text)
        for text in ("c1", "d1", "d2", "d3"):
            await bench.end(text, DEAR if text[0] == "d" else Graded("row", 5))
        error = bench.pieces["d3"].outcome.exception()
        assert isinstance(error, RefusedRequest)
        assert error.status_code == 429
        assert not bench.pieces["d2"].outcome.done()

    played(scene, workers=1, limits=Limits(queue=4))


def test_who_hangs_up_is_taken_out_of_the_queue() -> None:
    async def scene(bench: Bench) -> None:
        first, second = bench.submit("first"), bench.submit("second")
        second.outcome.cancel()
        first.outcome.cancel()
        await asyncio.sleep(0)
        assert bench.scheduler.admitted.total == 0
        bench.submit("third")
        await bench.end("first", DEAR)  # it had begun, and nobody waits for it
        assert bench.given == ["first", "third"]
        assert bench.counted('prism_solutions_total{outcome="cancelled"} 2')
        fourth = bench.submit("fourth")
        fourth.outcome.cancel()
        await bench.end("third", Graded("row", 5))
        assert bench.given == ["first", "third"]
        assert bench.counted('prism_waiting_solutions{queue="first"} 0')

    played(scene, workers=1)


def test_what_kills_its_worker_says_so_and_does_not_stand_beside_others_again() -> None:
    async def scene(bench: Bench) -> None:
        piece = bench.submit("deadly")
        await bench.end("deadly", Killed("overran"))
        assert piece.outcome.result() == Killed("overran")
        bench.submit("other")
        bench.submit("deadly")
        bench.submit("cheap")
        assert bench.given == ["deadly", "other", "deadly"]
        await bench.end("other", Graded("row", 5))
        assert bench.given == ["deadly", "other", "deadly", "cheap"]
        assert bench.counted('prism_solutions_total{outcome="killed"} 1')

    played(scene, workers=1)


def test_deadly_texts_are_forgotten_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "_KEPT_DEADLY", 2)

    async def scene(bench: Bench) -> None:
        for text in ("d1", "d2", "d3"):
            bench.submit(text)
            await bench.end(text, Killed("overran"))
        assert [bench.submit(text).n_trial > 0 for text in ("d1", "d2", "d3")] == [False, True, True]

    played(scene)


def test_a_fault_of_the_pool_is_everyones_who_waits() -> None:
    async def scene(bench: Bench) -> None:
        pieces = [bench.submit(text) for text in ("a", "b", "c")]
        bench.pool.fault = prism.PrismError("it does not start again")
        await bench.end("a", prism.PrismError("it has ended"))
        assert str(pieces[0].outcome.exception()) == "it has ended"
        assert str(pieces[1].outcome.exception()) == "it does not start again"
        assert str(pieces[2].outcome.exception()) == "it does not start again"

    played(scene, workers=1)


def test_it_is_stalled_if_nothing_ends_while_something_waits() -> None:
    async def scene(bench: Bench) -> None:
        now = asyncio.get_running_loop().time()
        assert not bench.scheduler.is_stalled(now + 1e6)
        bench.submit("a")
        assert not bench.scheduler.is_stalled(now + 19)
        assert bench.scheduler.is_stalled(now + 21)
        bench.submit("b")
        bench.submit("c")
        bench.scheduler.last_end = now + 15  # something else ended
        assert not bench.scheduler.is_stalled(now + 30)
        state = bench.scheduler.state(now + 30)
        assert (state["waiting"], state["running"]) == (1, 2)
        assert state["oldest_seconds"] == pytest.approx(30, abs=5)

    played(scene)


def test_the_bound_of_a_solution() -> None:
    assert most_operations(0, None) == budget.SOLUTION
    assert most_operations(10, None) == budget.SOLUTION + 10 * budget.CHARACTER
    assert most_operations(10, 5) == 5
    assert most_operations(400, None, (3,)) == most_operations(400, None) + 2 * budget.CELL * 50 * 3  # its cap


def test_a_worker_goes_on_with_the_problem_that_it_was_at() -> None:
    """Two workers, two groups of three: neither grades a part of the other's group while its own has solutions."""

    async def scene(bench: Bench) -> None:
        bench.submit_together(a1="a", a2="a", a3="a", b1="b", b2="b", b3="b")
        assert bench.given == ["a1", "b1"]
        for ended, begun in (("b1", "b2"), ("b2", "b3"), ("a1", "a2"), ("b3", "a3")):
            await bench.end(ended, Graded(1.0, 10))
            assert bench.given[-1] == begun

    played(scene)

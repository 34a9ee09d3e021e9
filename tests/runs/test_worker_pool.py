"""Workers that stay: rollouts handed in one by one, by processes that die or hang and are replaced."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import prism
from prism.grading.prepared import PreparedProblem
from prism.runs import workers
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, WorkerPool

PROBLEM = prism.load_problem({
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
})  # fmt: skip


def job(prepared: PreparedProblem, rollout: Rollout) -> tuple[str, str, int]:
    if rollout.solution == "dies":
        os._exit(3)
    if rollout.solution == "hangs":
        time.sleep(600)
    return prepared.problem.id, str(rollout.solution), os.getpid()


def rollout(solution: str) -> Rollout:
    return Rollout(PROBLEM.id, solution, "1")


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRISM_KERNELS", "interpreted")  # workers start fast
        patch.setattr(workers, "TRIES", 1)
        patch.setattr(workers, "_TICK", 0.1)
        one = WorkerPool(job, workers=1, training=False, kill_after=1.0)
        one.start()
        yield one
        one.stop()


@pytest.mark.slow
def test_threads_hand_in_and_each_gets_its_own(pool: WorkerPool) -> None:
    said = [f"a = {k}" for k in range(40)]
    with ThreadPoolExecutor(8) as threads:
        futures = list(threads.map(lambda text: pool.submit(PROBLEM, rollout(text)), said))
    results = [future.result(60) for future in futures]
    assert [text for _, text, _ in results] == said
    assert {(name, pid) for name, _, pid in results} == {("newton", results[0][2])}
    assert results[0][2] != os.getpid()


@pytest.mark.slow
@pytest.mark.parametrize(("said", "fate"), [("dies", "ended with code 3"), ("hangs", "overran")])
def test_a_worker_that_dies_or_hangs_is_replaced(pool: WorkerPool, said: str, fate: str) -> None:
    bad, good = pool.submit(PROBLEM, rollout(said)), pool.submit(PROBLEM, rollout("fine"))
    assert bad.result(60) == Killed(fate)
    assert good.result(60)[1] == "fine"
    assert pool.is_ready


@pytest.mark.slow
def test_who_waits_when_it_stops_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")
    pool = WorkerPool(job, workers=1, training=False)
    pool.start()
    waiting = [pool.submit(PROBLEM, rollout(said)) for said in ("hangs", "fine")]
    pool.stop()
    for future in waiting:
        assert isinstance(future.exception(60), prism.PrismError)
    assert not pool.is_ready


def test_without_processes_a_thread_of_this_one_does_it() -> None:
    pool = WorkerPool(job, workers=0, training=False)
    with pytest.raises(prism.PrismError, match="not been started"):
        pool.submit(PROBLEM, rollout("early"))
    pool.start()
    assert pool.submit(PROBLEM, rollout("fine")).result(60) == ("newton", "fine", os.getpid())
    pool.stop()
    with pytest.raises(prism.PrismError, match="stopped"):
        pool.submit(PROBLEM, rollout("late"))


def test_a_worker_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_START", "raise SystemExit(7)")
    pool = WorkerPool(job, workers=1, training=False)
    with pytest.raises(prism.PrismError, match="code 7"):
        pool.start()
    assert not pool.is_ready
    pool.stop()

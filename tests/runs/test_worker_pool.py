"""Workers that stay: rollouts handed in one by one, by processes that die or hang and are replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.grading.prepared import PreparedProblem
from prism.runs import worker_process, workers
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, WorkerPool

PROBLEM = prism.load_problem({
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
})  # fmt: skip


def job(prepared: PreparedProblem, rollout: Rollout, *, said: str = "") -> tuple[str, str, int]:
    if rollout.solution == "dies":
        os._exit(3)
    if rollout.solution == "hangs":
        time.sleep(600)
    while rollout.solution == "busy for ever":
        pass
    if rollout.solution == "takes memory":
        try:
            bytearray(worker_process.MEMORY + (64 << 20))
        except MemoryError:
            return prepared.problem.id, "no memory", os.getpid()
    if str(rollout.solution).startswith("waits for "):
        while not Path(str(rollout.solution).removeprefix("waits for ")).exists():
            time.sleep(0.01)
    return prepared.problem.id, said or str(rollout.solution), os.getpid()


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
def test_options_are_arguments_of_the_job(pool: WorkerPool) -> None:
    assert pool.submit(PROBLEM, rollout("text"), {"said": "option"}).result(60)[1] == "option"


@pytest.mark.slow
def test_what_is_cancelled_while_it_waits_is_not_begun(pool: WorkerPool, tmp_path: Path) -> None:
    """The dead would count: had the worker begun with the second, it would have ended."""
    n_ended = pool.n_ended
    first = pool.submit(PROBLEM, rollout(f"waits for {tmp_path / 'mark'}"))
    second, third = pool.submit(PROBLEM, rollout("dies")), pool.submit(PROBLEM, rollout("fine"))
    assert second.cancel()
    (tmp_path / "mark").touch()
    assert third.result(60)[2] == first.result(60)[2]
    assert pool.n_ended == n_ended
    with pytest.raises(CancelledError):
        second.result(60)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="such a limit is not enforced")
def test_memory_is_bounded(pool: WorkerPool) -> None:
    assert pool.submit(PROBLEM, rollout("takes memory")).result(60)[1] == "no memory"
    assert pool.submit(PROBLEM, rollout("fine")).result(60)[1] == "fine"


@pytest.mark.slow
def test_an_idle_worker_that_is_killed_is_replaced(pool: WorkerPool) -> None:
    pid = pool.submit(PROBLEM, rollout("fine")).result(60)[2]
    os.kill(pid, signal.SIGKILL)
    while pool.n_alive > 0:
        time.sleep(0.01)
    assert pool.submit(PROBLEM, rollout("fine")).result(60)[2] != pid
    assert pool.n_alive == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_processor_time_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at the clock here; and where the thread that started it has ended, a worker has not died with it."""
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")
    monkeypatch.setattr(workers, "_TICK", 1e6)
    one = WorkerPool(job, workers=1, training=False, kill_after=1.0)
    starting = threading.Thread(target=one.start)
    starting.start()
    starting.join()
    try:
        fine = one.submit(PROBLEM, rollout("fine"))
        assert fine.result(60)[1] == "fine"
        assert one.n_ended == 0
        assert one.submit(PROBLEM, rollout("busy for ever")).result(120) == Killed("overran")
        assert one.submit(PROBLEM, rollout("fine")).result(60)[2] != fine.result()[2]
        assert one.n_ended == 1
    finally:
        one.stop()


@pytest.mark.slow
def test_a_process_that_the_system_refuses_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")
    monkeypatch.setattr(workers, "_RESPAWN", 0.001)
    real, refused = subprocess.Popen, [OSError(24, "Too many open files")] * 3

    def popen(*arguments: Any, **keywords: Any) -> Any:
        if refused:
            raise refused.pop()
        return real(*arguments, **keywords)

    monkeypatch.setattr(subprocess, "Popen", popen)
    one = WorkerPool(job, workers=1, training=False)
    one.start()
    assert one.submit(PROBLEM, rollout("fine")).result(60)[1] == "fine"
    one.stop()
    refused[:] = [OSError(24, "Too many open files")] * 1000
    with pytest.raises(prism.PrismError, match="Too many open files"):
        WorkerPool(job, workers=1, training=False).start()


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

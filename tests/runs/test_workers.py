"""The supervisor of worker processes: what it does when one of them overruns, or dies; and what dies with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import prism
from prism.grading.prepared import PreparedProblem
from prism.runs import workers
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, Task, run_in_workers

PROBLEM = prism.load_problem({
    "id": "fall", "context": "A stone falls for a time $t$ with $g$. Find its speed $v$.",
    "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}],
})  # fmt: skip
MANY = 900  # rollouts, fewer than the supervisor may be ahead of the oldest that is not done
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _start_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")


def job(_: PreparedProblem, rollout: Rollout, *, marks: Path) -> str:
    """What a solution asks a worker to do, which has been asked before if there is a mark; the id is the result."""
    is_first = not (marks / rollout.sample_id).exists()
    with (marks / rollout.sample_id).open("a") as tries:
        tries.write("x")
    if rollout.solution == "die" or (rollout.solution == "die once" and is_first):
        os.kill(os.getpid(), signal.SIGKILL)
    if rollout.solution == "hang":
        time.sleep(600)
    if rollout.solution == "take a while":
        time.sleep(0.05)
    return rollout.sample_id


def task(ordinal: int, text: str) -> Task:
    return Task(ordinal, Rollout("fall", text, str(ordinal)), PROBLEM)


def test_a_worker_that_overruns_is_killed_while_others_go_on_and_its_rollout_not_tried_again(tmp_path: Path) -> None:
    """Results that come in all the time do not keep the supervisor from looking at the clock."""
    results: dict[int, object] = {}

    def tasks() -> Iterator[Task]:
        yield task(0, "hang")
        for ordinal in range(1, MANY):
            if 0 in results:
                return
            yield task(ordinal, "take a while")

    for done in run_in_workers(tasks(), partial(job, marks=tmp_path), workers=2, training=False, kill_after=2.0):
        results[done.task.ordinal] = done.result
    assert len(results) < MANY
    assert results.pop(0) == Killed("overran")
    assert (tmp_path / "0").read_text() == "x"
    assert results == {ordinal: str(ordinal) for ordinal in range(1, len(results) + 1)}


def test_a_rollout_that_kills_its_worker_says_so_and_those_around_it_are_done(tmp_path: Path) -> None:
    said = ["", "die", "", "die once", ""]
    tasks = (task(ordinal, text) for ordinal, text in enumerate(said))
    found = {done.task.ordinal: done.result for done in
             run_in_workers(tasks, partial(job, marks=tmp_path), workers=1, training=False)}  # fmt: skip
    killed = Killed("; ".join(["ended with code -9"] * 3))
    assert found == {0: "0", 1: killed, 2: "2", 3: "3", 4: "4"}


@pytest.mark.parametrize("workers_", [0, 1])
def test_a_problem_that_cannot_be_prepared_ends_a_run_by_its_fault(
    monkeypatch: pytest.MonkeyPatch, workers_: int
) -> None:
    """The fault of the problem, not the death of workers, and the same as in one process."""
    monkeypatch.setattr("prism.grading.prepared.find_dear_formulas", lambda _: ["node 1 is dear"])
    dear = "from prism.grading import prepared; prepared.find_dear_formulas = lambda _: ['node 1 is dear']"
    monkeypatch.setattr(workers, "_START", workers._START.replace("; main()", f"; {dear}; main()"))
    grades = prism.grade_many(PROBLEM, [{"response": "$v = g t$"}], workers=workers_)
    with pytest.raises(prism.PrismError, match="fall: node 1 is dear"):
        next(grades)


# What dies with its supervisor. ----------------------------------------------------------------------------------

SUPERVISOR = """
import sys, threading
sys.path[:] = {path!r}
from functools import partial
from pathlib import Path
from prism.runs import workers
from tests.runs import test_workers as here
workers._START = workers._START.replace("; main()", {meddling!r} + "; main()")
pool = workers.WorkerPool(here.report_and_hang, workers=1, training=False)
pool.start()
pool.submit(here.PROBLEM, here.task(0, sys.argv[1]).rollout).result()
"""
NO_SIGNAL = "; import ctypes; ctypes.CDLL = lambda _: None"  # then the kernel is not asked
NO_EXIT = "; import os; os._exit = lambda _: None"  # then the thread that reads to the end of the input ends nothing


def report_and_hang(_: PreparedProblem, rollout: Rollout) -> None:
    """Write the process id into the file that the solution names, and go on for ever, in Python."""
    Path(str(rollout.solution)).write_text(str(os.getpid()))
    while True:
        pass


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("meddling", [NO_EXIT, NO_SIGNAL], ids=["the kernel ends it", "the end of its input ends it"])
def test_a_busy_worker_dies_with_a_supervisor_that_is_killed(tmp_path: Path, meddling: str) -> None:
    there = tmp_path / "pid"
    code = SUPERVISOR.format(path=sys.path, meddling=meddling)
    with subprocess.Popen([sys.executable, "-c", code, str(there)]) as supervisor:
        while not (there.exists() and there.read_text()):
            assert supervisor.poll() is None
            time.sleep(0.02)
        supervisor.kill()
    wait_until_gone(int(there.read_text()))


def wait_until_gone(pid: int) -> None:
    """Return when a process, of whoever adopted it, is gone or dead."""
    end = time.monotonic() + 60
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][1] != "Z":
        assert time.monotonic() < end, "it lives on"
        time.sleep(0.02)


def test_a_worker_whose_supervisor_died_before_it_could_say_so_ends_at_once() -> None:
    """Its parent is not the process that its command line names; its input stays open."""
    command = [sys.executable, "-c", workers._START.format(path=sys.path), "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.wait(60) == 0
        assert worker.stdout is not None
        assert worker.stdout.read() == b""

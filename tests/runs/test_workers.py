"""The supervisor of worker processes: what it does when one of them overruns, or dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import prism
from prism.grading.prepared import PreparedProblem
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
    (marks / rollout.sample_id).touch()
    if rollout.solution == "die" or (rollout.solution == "die once" and is_first):
        os.kill(os.getpid(), signal.SIGKILL)
    if rollout.solution == "hang once" and is_first:
        time.sleep(600)
    if rollout.solution == "take a while":
        time.sleep(0.05)
    (marks / f"{rollout.sample_id} done").touch()
    return rollout.sample_id


def task(ordinal: int, text: str) -> Task:
    return Task(ordinal, Rollout("fall", text, str(ordinal)), PROBLEM)


def test_a_worker_that_overruns_is_killed_while_others_go_on(tmp_path: Path) -> None:
    """Results that come in all the time do not keep the supervisor from looking at the clock."""

    def tasks() -> Iterator[Task]:
        yield task(0, "hang once")
        for ordinal in range(1, MANY):
            if (tmp_path / "0 done").exists():
                return
            yield task(ordinal, "take a while")

    found = run_in_workers(tasks(), partial(job, marks=tmp_path), workers=2, training=False, kill_after=2.0)
    results = {done.task.ordinal: done.result for done in found}
    assert len(results) < MANY
    assert results == {ordinal: str(ordinal) for ordinal in range(len(results))}


def test_a_rollout_that_kills_its_worker_says_so_and_those_around_it_are_done(tmp_path: Path) -> None:
    said = ["", "die", "", "die once", ""]
    tasks = (task(ordinal, text) for ordinal, text in enumerate(said))
    found = {done.task.ordinal: done.result for done in
             run_in_workers(tasks, partial(job, marks=tmp_path), workers=1, training=False)}  # fmt: skip
    killed = Killed("; ".join(["ended with code -9"] * 3))
    assert found == {0: "0", 1: killed, 2: "2", 3: "3", 4: "4"}

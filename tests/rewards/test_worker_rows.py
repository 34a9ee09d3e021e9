"""A reward with workers: the rewards of one without, in order, and no process that is left behind."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

import prism
from prism.grading.scoring import SCALARS
from prism.resources import resource
from prism.rewards import Reward, TRLReward, VerifiersReward, VerifiersTaskReward
from prism.rewards.verl import compute_score, compute_score_batched
from prism.rewards.worker_rows import RewardWorkers, sendable
from prism.runs import workers
from tests.grading.test_grading import forget

BUCKET = resource("dags/bucket.toml")
STUDENTS = [each.solution for each in prism.load_problem(BUCKET).students]
SMALL = {
    "id": "newton",
    "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}
DEAR = {**SMALL, "grading_standard": [{"index": 1, "formula": "F = " + " + ".join(f"x_{k}^{{9}}" for k in range(200)),
                                       "dependency": []}]}  # fmt: skip
RIGHT = r"Newton says $a = \frac{F}{m}$."


DEADLY = (
    "import os; from prism.rewards import reward as r; real = r.grade; "
    "r.grade = lambda p, s, **k: os._exit(3) if s == 'dies' else real(p, s, **k)"
)


class Text(str):
    """A text of a class that no worker can load."""

    __slots__ = ()


ROWS: list[tuple[Any, Any]] = [
    ("newton", RIGHT), ("newton", "$F = 2 m a$"), ("nowhere", RIGHT), (None, RIGHT), ("newton", None), ("newton", 7),
    ("bucket", STUDENTS[0]), (str(BUCKET), STUDENTS[0]), (BUCKET, STUDENTS[1]), ("nowhere.toml", RIGHT),
    (tomllib.loads(BUCKET.read_text("utf-8")), STUDENTS[1]), (json.dumps(SMALL), RIGHT), ('{"id": "x"}', RIGHT),
    (prism.load_problem(SMALL), RIGHT), (prism.prepare(BUCKET), STUDENTS[0]), (MappingProxyType(SMALL), RIGHT),
    ({"id": object()}, RIGHT), ("newton", [{"role": "assistant", "content": RIGHT}]), ("newton", ["$F = m a$", "b"]),
    (Text("newton"), Text(RIGHT)), ("newton", "\ud800 $F = ma$"), ("newton", [RIGHT, object()]), (DEAR, RIGHT),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")  # workers start fast


@pytest.fixture(scope="module")
def serial() -> Reward:
    return Reward({"closure": 0.5, "final": 0.5}, problems=[SMALL, BUCKET])


@pytest.fixture(scope="module")
def parallel() -> Iterator[Reward]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRISM_KERNELS", "interpreted")
        with Reward({"closure": 0.5, "final": 0.5}, problems=[SMALL, BUCKET], workers=2) as reward:
            yield reward


def n_alive(reward: Reward) -> int:
    assert reward._workers is not None
    return sum(pool.n_alive for pool in reward._workers._pools)


@pytest.mark.slow
def test_rewards_are_those_of_one_process_in_order(serial: Reward, parallel: Reward) -> None:
    rows = ROWS * 3
    forget()  # what the tests before left: in whole runs one grade differed, which is not explained yet
    found = parallel.many(*zip(*rows, strict=True))
    assert found == serial.many(*zip(*rows, strict=True))  # the grades too, with what they cost
    assert {each.value for each in found} > {0.0, 1.0, None}
    assert n_alive(parallel) == 2
    with pytest.raises(prism.PrismError, match="expected as many"):
        parallel.many(["newton"], [])
    assert parallel.many([], []) == []


@pytest.mark.slow
def test_one_row_is_graded_by_a_worker_too(serial: Reward, parallel: Reward, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reward, "_here", None)  # this process grades nothing
    found = parallel("newton", RIGHT, sample_id="s7")
    assert found.grade is not None
    assert (found.value, found.grade.sample_id) == (1.0, "s7")


def test_many_threads_get_their_own(serial: Reward, parallel: Reward) -> None:
    rows = [("newton", f"$F = {k} m a$, ${RIGHT[14:]}") for k in range(1, 30)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda row: parallel(*row), rows))
    assert found == [serial(*row) for row in rows]


def test_an_event_loop_waits_for_a_future(serial: Reward, parallel: Reward) -> None:
    async def both(reward: Reward) -> list[Any]:
        return await asyncio.gather(*(asyncio.wrap_future(reward.submit("newton", text)) for text in (RIGHT, "none")))

    assert (
        asyncio.run(both(parallel)) == asyncio.run(both(serial)) == [serial("newton", RIGHT), serial("newton", "none")]
    )


def test_what_is_not_plain_stays_here() -> None:
    problem = prism.load_problem(SMALL)
    assert sendable(problem, Text("x")) == (problem, "x")
    assert type(sendable(problem, Text("x"))[1]) is str  # type: ignore[index]
    nested: list[Any] = []
    nested.append(nested)
    for solution in (object(), [object()], {"a": Text("x")}, nested, ["x"] * 200_000, b"x"):
        assert sendable(problem, solution) is None
    assert sendable(Path("nowhere.toml"), "x") is None
    assert sendable(MappingProxyType(SMALL), "x") is None
    sent = sendable(Path(os.path.relpath(BUCKET)), "x")
    assert sent is not None
    assert isinstance(sent[0], Path)
    assert sent[0].is_absolute()


@pytest.mark.slow  # starts processes
def test_a_text_that_kills_its_workers_is_paid_nothing_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The job is replaced in the worker by one that dies on a word; the rows around it have their rewards."""
    monkeypatch.setattr(workers, "_START", workers._START.replace("; main()", f"; {DEADLY}; main()"))
    with Reward(problems=[SMALL], workers=1) as reward:
        before, dead, after = reward.many(["newton"] * 3, [RIGHT, "dies", RIGHT])
    assert (before.value, after.value) == (1.0, 1.0)
    assert (dead.value, dead.grade) == (0.0, None)
    assert dead.fault == "the grader was stopped on this solution: " + "; ".join(["ended with code 3"] * 3)
    assert [name for name in SCALARS if dead.scalars[name]] == ["killed"]


@pytest.mark.slow  # starts processes
def test_a_worker_that_is_killed_between_batches_is_replaced(parallel: Reward) -> None:
    assert parallel("newton", RIGHT).value == 1.0
    assert parallel._workers is not None
    for worker in parallel._workers._pools[0]._processes._workers:  # type: ignore[union-attr]
        assert worker.process is not None
        worker.process.kill()
    assert [each.value for each in parallel.many(["newton"] * 9, [RIGHT] * 9)] == [1.0] * 9


@pytest.mark.slow
def test_it_ends_with_its_block_and_starts_again(serial: Reward) -> None:
    with Reward(problems=[SMALL], workers=1) as reward:
        assert n_alive(reward) == 1
        processes = [worker.process for worker in reward._workers._pools[0]._processes._workers]  # type: ignore[union-attr]
    assert n_alive(reward) == 0
    assert all(process is None or process.poll() is not None for process in processes)
    assert reward("newton", RIGHT).value == 1.0
    assert n_alive(reward) == 1
    reward.close()
    reward.close()
    assert n_alive(reward) == 0
    serial.close()  # nothing to end


@pytest.mark.slow
def test_nothing_starts_before_the_first_row_and_garbage_ends() -> None:
    reward = Reward(problems=[SMALL], workers=1)
    assert n_alive(reward) == 0
    twin = pickle.loads(pickle.dumps(reward))
    assert (twin.workers, n_alive(twin)) == (1, 0)
    assert twin("newton", RIGHT).value == 1.0
    pool = twin._workers._pools[0]
    del twin
    gc.collect()
    end = time.monotonic() + 60
    while pool.n_alive:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_workers_that_do_not_start_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_START", "raise SystemExit(7)")
    reward = Reward(problems=[SMALL], workers=1)
    with pytest.raises(prism.PrismError, match="code 7"):
        reward("newton", RIGHT)
    with pytest.raises(prism.PrismError, match="code 7"):
        reward.many(["newton"], [RIGHT])
    with pytest.raises(prism.PrismError, match="code 7"), reward:
        pass


def test_the_number_of_workers_is_checked() -> None:
    for wrong in (-1, 1.5, True, "2", None):
        with pytest.raises(prism.PrismError, match=r"workers: .* is no number of processes from 0 on"):
            Reward(workers=wrong)  # type: ignore[arg-type]
    reward = Reward(problems=[SMALL])
    for name, value in (("workers", 2), ("problems", [SMALL]), ("thinking", True)):
        with pytest.raises(prism.PrismError, match=f"^{name}: the reward that is given has its own"):
            TRLReward(reward, **{name: value})  # type: ignore[arg-type]


# The doors. -----------------------------------------------------------------------------------------------------


def test_doors_hand_their_rows_to_workers(serial: Reward, parallel: Reward) -> None:
    found = TRLReward(parallel)(completions=[RIGHT, "", RIGHT], reference=["newton", "newton", None])
    assert found == [1.0, 0.0, None]
    rubric, task = VerifiersReward(parallel), VerifiersTaskReward(parallel)
    state: dict[str, Any] = {}

    async def both() -> tuple[Any, Any]:
        trace = SimpleNamespace(last_reply=RIGHT, info={}, record_metric=lambda *_: None)
        return await rubric(completion=RIGHT, answer="newton", state=state), await task({"reference": "newton"}, trace)  # type: ignore[misc]

    assert asyncio.run(both()) == (1.0, 1.0)
    assert state["prism"]["closure"] == 1.0

    async def missing() -> Any:
        return await VerifiersReward(parallel, column="problem")(completion=RIGHT, info={"level": 1})  # type: ignore[misc]

    with pytest.raises(prism.PrismError, match=r"no column 'problem' .* came: answer, level$"):
        asyncio.run(missing())


@pytest.mark.slow
def test_verl_asks_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"problems": [SMALL]}
    rows = ["set"] * 3, [RIGHT, "", RIGHT], ["newton", "newton", ""]
    expected = compute_score_batched(*rows, **settings)
    assert compute_score_batched(*rows, **settings, workers=1) == expected
    assert [compute_score(*row, **settings, workers=1) for row in zip(*rows, strict=True)] == expected
    with pytest.raises(prism.PrismError, match="workers"):
        compute_score("set", RIGHT, "newton", workers="all")  # type: ignore[arg-type]


# Forks, and the end of the process that started them. -------------------------------------------------------------

CODE = """
import json, os, sys
sys.path[:] = {path!r}
os.environ["PRISM_KERNELS"] = "interpreted"
from prism.rewards import Reward
SMALL = json.loads({small!r})
reward = Reward(problems=[SMALL], workers=2)
"""


def run_code(code: str) -> subprocess.CompletedProcess[str]:
    whole = CODE.format(path=sys.path, small=json.dumps(SMALL)) + code
    return subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False, timeout=300)


def is_gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2][1] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_forked_child_starts_its_own_and_leaves_those_of_its_parent() -> None:
    done = run_code("""
assert reward("newton", "$F = ma$").value == 1.0
pids = [worker.process.pid for worker in reward._workers._pools[0]._processes._workers]
child = os.fork()
if child == 0:
    value = reward("newton", "$F = ma$").value
    own = [worker.process.pid for worker in reward._workers._pools[0]._processes._workers]
    sys.exit(0 if value == 1.0 and not set(own) & set(pids) else 1)  # runs what runs at exit
assert os.waitpid(child, 0)[1] == 0
assert [worker.process.pid for worker in reward._workers._pools[0]._processes._workers] == pids
assert [each.value for each in reward.many(["newton"] * 9, ["$F = ma$"] * 9)] == [1.0] * 9
assert reward._workers._pools[0].n_ended == 0
print("parent done")
""")
    assert (done.stdout, done.stderr, done.returncode) == ("parent done\n", "", 0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked there")
def test_a_child_that_was_forked_holds_no_pipe_of_the_workers() -> None:
    """Else they would not see the end of their input while the child lives."""
    done = run_code("""
reward("newton", "$F = ma$")
process = reward._workers._pools[0]._processes._workers[0].process
numbers = process.stdin.fileno(), process.stdout.fileno()
child = os.fork()
if child == 0:
    os._exit(0 if all(os.fstat(n).st_rdev == os.stat(os.devnull).st_rdev for n in numbers) else 1)
print(os.waitpid(child, 0)[1])
""")
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.slow
def test_a_spawned_child_gets_a_reward_by_pickle(tmp_path: Path) -> None:
    script = tmp_path / "trainer.py"
    script.write_text(CODE.format(path=sys.path, small=json.dumps(SMALL)) + """
import multiprocessing

def child(reward, queue):
    queue.put([each.value for each in reward.many(["newton"] * 3, ["$F = ma$", "", "$F = ma$"])])

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(reward, queue), daemon=True)
    process.start()
    print(queue.get(timeout=120))
    process.join()
    print(process.exitcode)
""", encoding="utf-8")  # fmt: skip
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=300)
    assert (done.stdout, done.stderr) == ("[1.0, 0.0, 1.0]\n0\n", "")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit(0)", "raise KeyboardInterrupt", "os._exit(0)"])
def test_no_worker_outlives_the_process_that_started_it(end: str) -> None:
    done = run_code(f"""
reward("newton", "$F = ma$")
pids = [worker.process.pid for worker in reward._workers._pools[0]._processes._workers]
print(json.dumps(pids), flush=True)
{end}
""")
    pids = json.loads(done.stdout)
    assert len(pids) == 2
    if "kill" in end:
        assert done.returncode == -signal.SIGKILL
    until = time.monotonic() + 60
    while not all(is_gone(pid) for pid in pids):
        assert time.monotonic() < until, "one lives on"
        time.sleep(0.02)


@pytest.mark.slow  # starts processes
def test_an_interrupted_batch_takes_its_rows_out_of_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    reward = Reward(problems=[SMALL], workers=1)
    kept: list[Any] = []
    real = RewardWorkers.submit

    def interrupted(self: RewardWorkers, rows: Any, options: Any) -> Any:
        kept.extend(real(self, rows, options))
        kept[0].result()
        raise_in_here()
        return kept

    def raise_in_here() -> None:
        monkeypatch.setattr(Reward, "_here", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))

    monkeypatch.setattr(RewardWorkers, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reward.many(["newton"] * 200 + [None], [f"$F = {k} m a$" for k in range(201)])
    assert all(future.done() for future in kept)
    assert any(future.cancelled() for future in kept)
    reward.close()

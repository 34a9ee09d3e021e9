"""What bounds `prism run` and `prism serve` with 1, 2, 16 and 64 workers: the supervisor, the start, the memory.

Few machines have 64 processors, so a worker here does not grade: it sleeps for the processor time that its solution
took before, once, in one process; everything else is real (reading, queues, pipes, rows, shards; HTTP, admission,
turns). So the rate is what so many free processors would give, as long as the supervisor keeps up, whose own processor
time for a rollout says how many it can hand out in a second at most. Workers are interpreted, for 64 with kernels would
fill the memory of this machine; what a real one holds, and takes to start, is measured with one and with two.

    python benchmarks/speed/scale.py [--json] [--workers N ...]
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.processes import children, high_water, resident  # noqa: E402
from benchmarks.robustness.shipped import DAGS, rollouts, write  # noqa: E402
from benchmarks.speed.server import ask, server  # noqa: E402
from prism import grade, load_problems, prepare, warm  # noqa: E402
from prism.grading.prepared import PreparedProblem  # noqa: E402
from prism.grading.row import json_line, score_row  # noqa: E402
from prism.problem.collection import list_problems  # noqa: E402
from prism.rewards.reward import Rewarded  # noqa: E402
from prism.runs import bulk  # noqa: E402
from prism.runs.rollouts import Rollout, scan  # noqa: E402
from prism.runs.workers import Done, Task, WorkerPool, run_in_workers  # noqa: E402
from prism.server import create_app, run  # noqa: E402
from prism.server.scheduler import Graded, Scheduler, processes  # noqa: E402
from prism.server.service import GradedItem  # noqa: E402

WORKERS = (1, 2, 16, 64)
REAL = (1, 2)  # workers that do grade, of which start and memory are measured
SECONDS = 3.0  # that each measurement is to take at the rate of free processors
IN_A_REQUEST, CLIENTS = 64, 16
SHORTEST = 0.001  # seconds of a solution at least
INTERPRETED = {"PRISM_KERNELS": "interpreted"}
_HERTZ = os.sysconf("SC_CLK_TCK")

Times = Mapping[str, float]  # processor time of a text [s]


def times_and_row() -> tuple[dict[str, float], bytes]:
    """The processor time of each student's solution, graded once, and a row of common size."""
    warm()
    times: dict[str, float] = {}
    rows = []
    for problem in load_problems(DAGS).values():
        prepared = prepare(problem)
        grade(prepared, problem.students[0].solution[:100])  # what a process does once for a problem
        for student in problem.students:
            start = time.process_time()
            result = grade(prepared, student.solution)
            times[str(student.solution)] = max(SHORTEST, time.process_time() - start)
            rows.append(json_line(score_row(problem, student.solution, result)))
    return times, sorted(rows, key=len)[len(rows) // 2]


def slept(_: PreparedProblem, rollout: Rollout, *, times: Times, row: bytes) -> bytes:
    """Take as long as the grade took (the job of a worker of `prism run`)."""
    time.sleep(times[str(rollout.solution)])
    return row


def slept_item(_: Any, rollout: Rollout, *, times: Times, row: bytes, **__: Any) -> Graded:
    """The same, for `prism serve`."""
    seconds = times[str(rollout.solution)]
    time.sleep(seconds)
    return Graded(GradedItem(row, Rewarded(0.0, {}, None)), int(1e8 * seconds))


def used(pid: int | str = "self") -> float:
    """Processor time of a process, without its children [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _HERTZ


def n_rollouts(times: Times, workers: int) -> int:
    """How many copies of the students keep so many workers busy for `SECONDS`."""
    return max(1, round(SECONDS * workers / sum(times.values())))


def told(n: int, seconds: float, supervisor: float, times: Times, workers: int) -> dict[str, float]:
    """A rate beside that of free processors, and what the supervisor took."""
    ideal = workers * len(times) / sum(times.values())
    return {
        "rollouts": n, "seconds": round(seconds, 2), "per_second": round(n / seconds, 1),
        "of_free_processors": round(n / seconds / ideal, 3), "supervisor_ms_a_rollout": round(1000 * supervisor / n, 3),
        "supervisor_bound_per_second": round(n / supervisor),
    }  # fmt: skip


# prism run -------------------------------------------------------------------------------------------------------


def by_run(times: Times, row: bytes, workers: int) -> dict[str, Any]:
    """`prism run` over files, with workers that sleep; seconds from the first result on, the start apart."""
    job = partial(slept, times=times, row=row)
    began: list[float] = []

    def tasks_run(tasks: Iterator[Task], _: Any) -> Iterator[Done]:
        for done in run_in_workers(tasks, job, workers=workers, training=False):
            if not began:
                began.extend((time.perf_counter(), used()))
            yield done

    with tempfile.TemporaryDirectory() as folder:
        records = rollouts(n_rollouts(times, workers))
        source = write(records, Path(folder) / "rollouts.jsonl")
        problems = list_problems(DAGS)
        scanned = scan(source, problems)
        start = time.perf_counter()
        bulk.run(problems, source, scanned, Path(folder) / "out.jsonl", workers=workers, run_tasks=tasks_run)
        end, cpu = time.perf_counter(), used()
        out = (Path(folder) / "out.jsonl").read_bytes().count(b"\n")
    assert out == len(records)
    found = told(len(records), end - began[0], cpu - began[1], times, workers)
    return {**found, "start_s": round(began[0] - start, 1)}


# prism serve -----------------------------------------------------------------------------------------------------


def serve(port: int, workers: int, file: Path) -> None:
    """Serve with workers that sleep (a process of its own)."""
    data = json.loads(file.read_text(encoding="utf-8"))
    app = create_app(DAGS, workers=workers)
    service, metrics = app.state.service, app.state.metrics
    job = partial(slept_item, times=data["times"], row=data["row"].encode())
    service._pool = WorkerPool(job, workers=processes(workers), training=False, prepares=True)
    service.scheduler = Scheduler(service._pool, service.limits, workers, metrics)
    run(app, port=port)


def by_serve(times: Times, row: bytes, workers: int) -> dict[str, Any]:
    """The same behind HTTP: clients with requests of many solutions, each at an address of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "times.json"
        file.write_text(json.dumps({"times": dict(times), "row": row.decode()}), encoding="utf-8")
        with server([__file__, "--serve", str(workers), "--file", str(file)]) as (process, port, ready):
            found = asyncio.run(_asked(port, process.pid, times, workers))
            return {**found, **ready, "server_mb": round(high_water(process.pid) / 1024)}


async def _asked(port: int, pid: int, times: Times, workers: int) -> dict[str, Any]:
    items = [
        {"problem": each["problem_id"], "solution": each["response"]} for each in rollouts(n_rollouts(times, workers))
    ]
    bodies = iter([
        json.dumps({"items": items[at : at + IN_A_REQUEST]}).encode() for at in range(0, len(items), IN_A_REQUEST)
    ])  # fmt: skip

    async def client(address: str) -> None:
        for body in bodies:
            status = 0
            while status != 200:
                status, _ = await ask(port, "/grade", body, address=address)
                await asyncio.sleep(0.05 * (status != 200))

    start, cpu = time.perf_counter(), used(pid)
    await asyncio.gather(*(client(f"127.0.3.{k + 1}") for k in range(CLIENTS)))
    return told(len(items), time.perf_counter() - start, used(pid) - cpu, times, workers)


# Real workers ----------------------------------------------------------------------------------------------------


def real(workers: int) -> dict[str, Any]:
    """The start and the memory of workers that grade: seconds until all are ready, and what they hold."""
    pool = WorkerPool(bulk_job, workers=workers, training=False)
    start = time.perf_counter()
    pool.start()
    started = time.perf_counter() - start
    try:
        ready = [resident(pid) / 1024 for pid in children(os.getpid())]
        records = rollouts()
        known = list_problems(DAGS)
        futures = [
            pool.submit(known[each["problem_id"]], Rollout(each["problem_id"], each["response"], each["sample_id"]))
            for each in records
        ]
        start = time.perf_counter()
        for future in futures:
            future.result()
        taken = time.perf_counter() - start
        later = [high_water(pid) / 1024 for pid in children(os.getpid())]
    finally:
        pool.stop()
    return {
        "start_s": round(started, 2), "ready_mb": round(max(ready)), "at_most_mb": round(max(later)),
        "per_second": round(len(records) / taken, 1),
    }  # fmt: skip


def bulk_job(prepared: PreparedProblem, rollout: Rollout) -> bytes:
    """Grade for a row, as `prism run` does."""
    return json_line(score_row(prepared.problem, rollout.solution, grade(prepared, rollout.solution)))


def loading() -> dict[str, float]:
    """The processor time that a problem takes to be prepared anew, and from disk, in the mean [ms]."""
    code = (
        "import json, sys, time; from prism.runs.workers import new_prepared_cache; from prism import warm;"
        "from prism.problem.collection import list_problems; warm(); cache = new_prepared_cache(training=False);"
        "known = list(list_problems(sys.argv[1]).values()); start = time.process_time();"
        "[cache.get(each) for each in known]; print(1000 * (time.process_time() - start) / len(known))"
    )
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PRISM_CACHE_DIR": folder}
        for name in ("anew", "from_disk"):
            done = subprocess.run(
                [sys.executable, "-c", code, str(DAGS)], capture_output=True, text=True, check=True, cwd=ROOT,
                env=environment,
            )  # fmt: skip
            found[name] = round(float(done.stdout.split()[-1]), 1)
    return found


def main() -> int:
    """0; the figures are for a person."""
    parser = script.parser("What bounds runs and servers of many workers.")
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS)
    parser.add_argument("--serve", type=int, help="serve with so many workers that sleep")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    asked = parser.parse_args()
    if asked.serve is not None:
        serve(asked.port, asked.serve, asked.file)
        return 0
    times, row = times_and_row()
    real_ones = {str(n): real(n) for n in REAL}
    os.environ.update(INTERPRETED)
    found = {
        "solutions": len(times), "mean_ms": round(1000 * sum(times.values()) / len(times), 1), "row_bytes": len(row),
        "load_of_the_machine": [round(each, 1) for each in os.getloadavg()], "real": real_ones,
        "loading_ms_a_problem": loading(), "run": {str(n): by_run(times, row, n) for n in asked.workers},
        "serve": {str(n): by_serve(times, row, n) for n in asked.workers},
    }  # fmt: skip
    print(json.dumps(found, sort_keys=True))
    return 0


if __name__ == "__main__":
    from benchmarks.speed import scale  # workers import the jobs from there

    sys.exit(scale.main())

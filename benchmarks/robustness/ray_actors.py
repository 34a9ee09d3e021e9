"""What only a process with Ray can show: grades from threads inside an actor, and rollouts that kill whoever has them.

PYTHONPATH=. .venv-ray/bin/python benchmarks/robustness/ray_actors.py ROLLOUTS.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray

import prism
from benchmarks.robustness import deadly
from prism.problem.collection import load_problems
from prism.runs.ray import run_on_ray
from prism.runs.rollouts import Rollout, read, scan
from prism.runs.workers import Killed, Task, run_in_workers

THREADS = 8
N_THREADED = 40  # rollouts that they grade
KILL_AFTER = 10.0  # seconds; the deadly rollout that never ends takes them all, the others less than one
N = 20  # rollouts, some of them deadly
DEADLY_AT = (1, 8, 15)  # places among them


class Rewards:
    """Problems prepared once, as the reward of a trainer has them."""

    def __init__(self, folder: Path) -> None:
        self._prepared = {key: prism.prepare(problem) for key, problem in load_problems(folder).items()}

    def grades(self, rollouts: Sequence[Rollout], threads: int) -> list[dict[str, Any]]:
        """What is said of each rollout, asked from so many threads at once."""
        with ThreadPoolExecutor(threads) as pool:
            found = pool.map(lambda one: prism.grade(self._prepared[one.problem_id], one.solution), rollouts)
            return [grade.to_dict() for grade in found]


def with_deaths(rollouts: Sequence[Rollout]) -> list[Rollout]:
    deaths = dict(zip(DEADLY_AT, deadly.DEATHS, strict=True))
    return [replace(one, sample_id=deaths.get(k, one.sample_id)) for k, one in enumerate(rollouts)]


def main() -> None:
    source = Path(sys.argv[1])
    folder = Path(__file__).resolve().parents[2] / "dags"
    problems = load_problems(folder)
    rollouts = list(read(source, scan(source, problems).fields, problems))
    ray.init(address="local", num_cpus=2, log_to_driver=False, logging_level="error")
    try:
        actor = ray.remote(num_cpus=1)(Rewards).remote(folder)
        inside = ray.get(actor.grades.remote(rollouts[:N_THREADED], THREADS))
        same = inside == Rewards(folder).grades(rollouts[:N_THREADED], 1)
        ray.kill(actor)
        asked = [Task(k, one, problems[one.problem_id]) for k, one in enumerate(with_deaths(rollouts[:N]))]
        on_ray = list(run_on_ray(
            iter(asked), deadly.score, problems=problems, n_most=N, workers=2, training=False, kill_after=KILL_AFTER
        ))  # fmt: skip
        by_workers = sorted(
            run_in_workers(iter(asked), deadly.score, workers=1, training=False, kill_after=KILL_AFTER),
            key=lambda done: done.task.ordinal,
        )
    finally:
        ray.shutdown()
    killed = [done.result.reason for done in on_ray if isinstance(done.result, Killed)]
    print(json.dumps({
        "ray": ray.__version__, "threads": THREADS, "rollouts_in_threads": len(inside), "same_in_actor": same,
        "deadly": {
            "rollouts": N, "killed": killed, "in_order": [done.task.ordinal for done in on_ray] == list(range(N)),
            "same_as_workers": [done.result for done in on_ray] == [done.result for done in by_workers],
        },
    }))  # fmt: skip


if __name__ == "__main__":
    main()

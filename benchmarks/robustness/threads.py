r"""Threads and memory: the same grades from eight threads, and no growth over a hundred thousand calls.

*Threads*: the students of the shipped problems are graded in one thread, and then by eight at the same time, each all
of them in an order of its own; all memories of the process are emptied before, so that the threads fill them together.
Each grade has to be the first one, and none may raise.

*Rewards*: one `Reward` is asked by eight threads for the students and for the hostile texts of `deadly.py` among them.
Each reward has to be that of one thread, and the wall time of each call is told beside the limit of its account.

*Memory*: short solutions that are all different, a seeded mix of right, wrong and unreadable formulas, numbers and
words, are graded one after the other in a process of its own. Its memory is read on the way: a process remembers
formulas and verdicts up to fixed numbers, which are reached early, and must not grow beyond noise when they are.

    python benchmarks/robustness/threads.py [--calls N] [--problems N] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.memories import forget  # noqa: E402
from benchmarks.processes import resident  # noqa: E402
from benchmarks.robustness.deadly import hostile_rollouts  # noqa: E402
from benchmarks.robustness.shipped import DAGS, rollouts  # noqa: E402
from prism import grade, load_problems, prepare, warm  # noqa: E402
from prism.budget import CHARACTER, SOLUTION  # noqa: E402
from prism.grading.prepared import PreparedProblem  # noqa: E402
from prism.grading.row import json_line  # noqa: E402
from prism.rewards import Reward  # noqa: E402

THREADS = 8
CALLS = 100_000
LOOKS = 20  # times that the memory is read
GROWTH = 1.02  # from the half of the calls to the end: more is no noise
_SEED = 5
_CHILD = "--child"


# Threads ----------------------------------------------------------------------------------------------------------


def from_threads(n_problem: int | None) -> dict[str, Any]:
    """Grades of eight threads beside those of one."""
    rows = rollouts(1, n_problem)
    prepared = {name: prepare(problem) for name, problem in load_problems(DAGS).items()}
    expected = [_grade(prepared, row) for row in rows]
    forget()

    def all_of_them(seed: int) -> tuple[int, list[str]]:
        order = list(range(len(rows)))
        random.Random(seed).shuffle(order)
        differ, raised = 0, []
        for k in order:
            try:
                differ += _grade(prepared, rows[k]) != expected[k]
            except Exception as error:  # noqa: BLE001 - what must not happen, and is counted
                raised.append(f"{rows[k]['sample_id']}: {type(error).__name__}: {error}")
        return differ, raised

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(all_of_them, range(THREADS)))
    return {
        "threads": THREADS, "grades": THREADS * len(rows), "differ": sum(differ for differ, _ in found),
        "raised": sorted({text for _, raised in found for text in raised}),
        "incidents": sum(len(json.loads(line)["incidents"]) for line in expected),
    }  # fmt: skip


def _grade(prepared: dict[str, PreparedProblem], row: dict[str, Any]) -> bytes:
    return json_line(grade(prepared[row["problem_id"]], row["response"]).to_dict())


# Rewards ----------------------------------------------------------------------------------------------------------


def rewards_from_threads(n_problem: int | None) -> dict[str, Any]:
    """Rewards of honest solutions that eight threads ask for, with hostile texts among them."""
    honest, hostile = rollouts(1, n_problem), hostile_rollouts()
    rows = honest + hostile
    random.Random(_SEED).shuffle(rows)
    reward = Reward(problems=load_problems(DAGS))

    def asked(row: dict[str, Any]) -> tuple[Any, float]:
        start = time.perf_counter()
        rewarded = reward(row["problem_id"], row["response"])
        return (rewarded.value, rewarded.steps, rewarded.grade), time.perf_counter() - start

    forget()
    alone = {row["sample_id"]: asked(row) for row in honest}
    forget()
    with ThreadPoolExecutor(THREADS) as pool:
        found = {row["sample_id"]: each for row, each in zip(rows, pool.map(asked, rows), strict=True)}
    dearest = max(rows, key=lambda row: found[row["sample_id"]][1])
    limits = {row["sample_id"]: SOLUTION + CHARACTER * len(row["response"]) for row in rows}
    costs = {name: found[name][0][2].cost for name in limits}
    return {
        "threads": THREADS, "honest": len(honest), "hostile": len(hostile),
        "honest_differ": sum(found[name][0] != expected for name, (expected, _) in alone.items()),
        "beyond_account": sum(costs[name] > limit for name, limit in limits.items()),
        "longest_call_s": round(max(seconds for _, seconds in found.values()), 2),
        "longest_call": dearest["sample_id"], "longest_call_operations": costs[dearest["sample_id"]],
        "longest_honest_call_s": round(max(found[name][1] for name in alone), 2),
        "longest_honest_call_alone_s": round(max(seconds for _, seconds in alone.values()), 2),
        "largest_account": max(limits.values()),
    }  # fmt: skip


# Memory -----------------------------------------------------------------------------------------------------------

FALL = {
    "id": "fall",
    "context": "A stone of mass $m$ falls from rest for a time $t$ through a height $h$; the field is $g$.",
    "subquestions": [{"letter": "a", "subproblem": "Find its speed $v$.", "final_answer_form": "algebraic"}],
    "grading_standard": [
        {"index": 1, "formula": "h = g t^2/2", "dependency": []},
        {"index": 2, "formula": "m g h = m v^2/2", "dependency": []},
        {"index": 3, "formula": "v = g t", "dependency": [1, 2], "is_final_answer": True},
    ],
}
SHAPES = (
    "$v = {a} g t / {a}$", "So $h_{{{n}}} = {a} t + {b} t^2$.", r"\[ \frac{{{a} v}}{{{b}}} = g t \]",
    r"$v = \sqrt{{{a} g h}}$ and $v = g t$", r"\boxed{{v = {a}.{b}\,\mathrm{{m/s}}}}",
    "$m g h = m v^2 / 2 + {a} - {a}$", r"$x_{{{n}}} = {a} \cos({b} t)$", r"$\frac{{{a}}}{{{b}$ is broken",
    "In words, number {n}: v is {a} times {b}.",
    r"$v_{{{n}}} = {a} v$, so $v = v_{{{n}}} / {a}$",
)  # fmt: skip


def solutions() -> Iterator[str]:
    """Short solutions without end, no two alike."""
    generator = random.Random(_SEED)
    n = 0
    while True:
        a, b = generator.randrange(2, 10_000), generator.randrange(2, 10_000)
        yield f"Attempt {n}. " + SHAPES[n % len(SHAPES)].format(n=n, a=a, b=b)
        n += 1


def child(calls: int) -> int:
    """Grade, and print what memory the process held on the way."""
    warm()
    prepared = prepare(FALL)
    looks = []
    start = time.perf_counter()
    raised = incidents = 0
    for n, text in zip(range(1, calls + 1), solutions(), strict=False):
        try:
            incidents += len(grade(prepared, text).incidents)
        except Exception:  # noqa: BLE001 - what must not happen, and is counted
            raised += 1
        if n % max(calls // LOOKS, 1) == 0:
            gc.collect()
            looks.append([n, resident(os.getpid())])
    seconds = time.perf_counter() - start
    print(json.dumps({"looks": looks, "raised": raised, "incidents": incidents, "seconds": seconds}))
    return 0


def memory(calls: int) -> dict[str, Any]:
    """What a process of its own held over so many calls."""
    command = [sys.executable, str(Path(__file__).resolve()), _CHILD, "--calls", str(calls)]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    held = {str(n): round(kilobytes / 1024, 1) for n, kilobytes in found["looks"]}
    half, end = held[str(found["looks"][LOOKS // 2 - 1][0])], held[str(found["looks"][-1][0])]
    return {
        "calls": calls, "resident_mb": held, "second_half_grows_by": round(end / half - 1, 4),
        "raised": found["raised"], "incidents": found["incidents"],
        "ms_a_call": round(1e3 * found["seconds"] / calls, 2),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = script.parser("Grade from threads, and a hundred thousand times.")
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--problems", type=int, default=None, help="only the first shipped problems")
    parser.add_argument(_CHILD, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.calls)
    warm()
    result = {
        "threads": from_threads(options.problems), "rewards": rewards_from_threads(options.problems),
        "memory": memory(options.calls),
    }  # fmt: skip
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for part, values in result.items():
            for key, value in values.items():
                print(f"{part}: {key}: {value}")
    is_wrong = (
        result["threads"]["differ"] or result["threads"]["raised"] or result["memory"]["raised"]
        or result["rewards"]["honest_differ"] or result["rewards"]["beyond_account"]
    )  # fmt: skip
    return int(bool(is_wrong) or result["memory"]["second_half_grows_by"] > GROWTH - 1)


if __name__ == "__main__":
    raise SystemExit(main())

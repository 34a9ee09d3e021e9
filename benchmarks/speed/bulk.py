r"""Bulk runs over model responses: rollouts a second on one and two workers, where the time goes, and memory.

Responses of `rollouts.jsonl` whose problem has a worked solution, against DAGs made of these (`rollout_problems.py`).

*Runs*: `prism run` from end to end in new processes, starting Python, reading the problems and loading kernels from
their cache included; beside it a loop of plain Python, alone and twice at the same time, before and after: two workers
cannot gain more than two loops do. A run over one rollout shows what the start takes; what is left is the rate of a
long run. Seconds by the clock are what a user waits; processor seconds are those of the
supervisor and the workers together, and another user of the machine changes them less.

*Warm*: one process that has its kernels and problems ready grades each response once, and then all again. A response
that was cut off before it ended its thoughts has no formula to grade and costs next to nothing, so the others are
counted apart too. Functions of `prism.grading.pipeline` are wrapped here to tell reading (`extract`, parsing, parts),
matching (comparison with nodes, chains) and the rest apart.

*Groups*: eight rollouts of one problem, as GRPO has them: a response eight times, and eight variants, each without
another eighth of its paragraphs. All memories of the process are emptied before each group.

    python benchmarks/speed/bulk.py [--data FOLDER] [--every N] [--json]
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from benchmarks.memories import forget  # noqa: E402
from benchmarks.processes import done  # noqa: E402
from benchmarks.rollout_problems import Material, is_here, material, write  # noqa: E402
from benchmarks.speed.clocks import clock, figures  # noqa: E402
from prism import grade, load_problems, prepare, warm  # noqa: E402
from prism.grading import pipeline as grading  # noqa: E402
from prism.grading.prepared import PreparedProblem  # noqa: E402
from prism.problem.schema import Problem  # noqa: E402

GROUP = 8  # rollouts of a problem in a step of training
GROUP_EVERY = 6  # of the rollouts that are measured, one in so many makes a group
_LOOPS, _LENGTH = 3, 20_000_000  # of the plain loop: times, and steps

STAGES = {
    "reading": ("extract", "divide_into_parts", "locate_claims"),
    "matching": ("build_match_matrix", "select"),
}
"""Functions as `prism.grading.pipeline` names them, by what they are for. What is in none of them is scoring."""


# The machine ------------------------------------------------------------------------------------------------------


def busy(_: int = 0) -> float:
    """Seconds of a loop of plain Python, by the clock."""
    start = time.perf_counter()
    total = 0
    for number in range(_LENGTH):
        total += number % 7
    return time.perf_counter() - start


def cores() -> dict[str, float]:
    """How much two loops at the same time gain over one after the other: 2 on two idle cores."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.map(busy, range(2), chunksize=1)
        alone = [pool.apply(busy) for _ in range(_LOOPS)]
        together = [max(pool.map(busy, range(2), chunksize=1)) for _ in range(_LOOPS)]
    one, two = statistics.median(alone), statistics.median(together)
    return {"one_s": round(one, 3), "two_s": round(two, 3), "gain": round(2 * one / two, 2)}


# Runs -------------------------------------------------------------------------------------------------------------


def runs(problems: Path, rollouts: Path, folder: Path) -> dict[str, Any]:
    """The same input with one worker and with two."""
    before = cores()
    single = folder / "single.jsonl"
    single.write_text(rollouts.read_text(encoding="utf-8").partition("\n")[0] + "\n", encoding="utf-8")
    begin = _run(problems, single, folder / "0.jsonl", 1)
    found = {f"{n} workers": _run(problems, rollouts, folder / f"{n}.jsonl", n) for n in (1, 2)}
    one, two = found.values()
    for run in found.values():
        run["rollouts_a_second_after_start"] = round((run["rollouts"] - 1) / (run["seconds"] - begin["seconds"]), 2)
    same = (folder / "1.jsonl").read_bytes() == (folder / "2.jsonl").read_bytes()
    return {
        "loops_before": before, "start": begin, **found, "loops_after": cores(),
        "gain": round(one["seconds"] / two["seconds"], 2), "same_bytes": same,
    }  # fmt: skip


def _run(problems: Path, rollouts: Path, out: Path, workers: int) -> dict[str, Any]:
    ended = done([problems, rollouts, "-o", out, "--workers", str(workers)])
    n = ended.said["rollouts"]
    return {
        "rollouts": n, "seconds": round(ended.seconds, 2), "rollouts_a_second": round(n / ended.seconds, 2),
        "processor_s": round(ended.cpu, 2), "rollouts_a_processor_second": round(n / ended.cpu, 2),
        "worker_peak_mb": round(ended.worker_kb / 1024, 1), "supervisor_peak_mb": round(ended.own_kb / 1024, 1),
        **{key: ended.said[key] for key in ("incidents", "statuses", "unread", "undecided", "mean_score")},
    }  # fmt: skip


# In one process ---------------------------------------------------------------------------------------------------


@contextmanager
def told_apart(times: dict[str, float]) -> Iterator[None]:
    """Processor seconds of the stages, added up in `times` while this goes on; of a call inside another the outer."""
    inside = 0
    originals: dict[str, Callable[..., Any]] = {}

    def wrapped(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            nonlocal inside
            if inside:
                return function(*arguments, **named)
            inside += 1
            start = clock()
            try:
                return function(*arguments, **named)
            finally:
                times[stage] += clock() - start
                inside -= 1

        return timed

    for stage, names in STAGES.items():
        for name in names:
            originals[name] = getattr(grading, name)
            setattr(grading, name, wrapped(stage, originals[name]))
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(grading, name, function)


def timed(prepared: PreparedProblem, text: str) -> tuple[float, int]:
    """Processor seconds of one grade, and how many formulas it has."""
    start = clock()
    found = grade(prepared, text)
    return clock() - start, len(found.formulas)


def in_one_process(found: Material, problems: dict[str, Problem]) -> dict[str, Any]:
    """Each response once with the stages told apart, then all again."""
    start = clock()
    ready = {name: prepare(problem) for name, problem in problems.items()}
    preparing = clock() - start
    asked = [(ready[row["problem_id"]], row["response"]) for row in found.rollouts]
    stages = dict.fromkeys(STAGES, 0.0)
    with told_apart(stages):
        once = [timed(prepared, text) for prepared, text in asked]
    again = [timed(prepared, text)[0] for prepared, text in asked]
    first = [seconds for seconds, _ in once]
    written = [seconds for seconds, n_formula in once if n_formula]
    total = sum(first)
    parts = {**stages, "scoring": total - sum(stages.values())}
    return {
        "preparing_ms_a_problem": round(1e3 * preparing / len(ready), 1),
        "first": {**figures(first, 1e3, 1), "rollouts_a_processor_second": _rate(first)},
        "first, with a formula": {**figures(written, 1e3, 1), "rollouts_a_processor_second": _rate(written)},
        "again": {**figures(again, 1e3, 1), "rollouts_a_processor_second": _rate(again)},
        "processor_s": {name: round(seconds, 2) for name, seconds in parts.items()},
        "shares": {name: round(seconds / total, 3) for name, seconds in parts.items()},
    }  # fmt: skip


def _rate(times: Sequence[float]) -> float:
    return round(len(times) / sum(times), 1)


# Groups -----------------------------------------------------------------------------------------------------------


def variants(text: str) -> list[str]:
    """A text eight times, each without another eighth of its paragraphs."""
    paragraphs = text.split("\n\n")
    return ["\n\n".join(part for n, part in enumerate(paragraphs) if n % GROUP != k) for k in range(GROUP)]


def groups(found: Material, problems: dict[str, Problem]) -> dict[str, Any]:
    """Time of the first rollout of a group and of the others."""
    kinds: dict[str, Callable[[str], list[str]]] = {"copies": lambda text: [text] * GROUP, "variants": variants}
    ready = {name: prepare(problem) for name, problem in problems.items()}
    written = [row for row in found.rollouts if timed(ready[row["problem_id"]], row["response"])[1]]
    chosen = written[::GROUP_EVERY]
    return {"groups": len(chosen), **{name: _grouped(chosen, problems, make) for name, make in kinds.items()}}


def _grouped(
    chosen: Sequence[dict[str, Any]], problems: dict[str, Problem], make: Callable[[str], list[str]]
) -> dict[str, Any]:
    first, others = [], []
    for row in chosen:
        forget()
        prepared = prepare(problems[row["problem_id"]])
        times = [timed(prepared, text)[0] for text in make(row["response"])]
        first.append(times[0])
        others += times[1:]
    return {
        "first_ms": figures(first, 1e3, 1), "others_ms": figures(others, 1e3, 1),
        "rollouts_a_processor_second": _rate(first + others),
        "other_over_first": round(statistics.mean(others) / statistics.mean(first), 3),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------------


def measure(data: Path, every: int) -> dict[str, Any]:
    """All of it on every so-manieth rollout."""
    found = material(data)
    rollouts = found.rollouts[::every]
    asked = {row["problem_id"] for row in rollouts}
    used = [problem for problem in found.problems if problem["id"] in asked]
    found = Material(used, rollouts, found.n_response, found.left_out)
    warm()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write(found, folder)
        result = {"material": found.counts(), "runs": runs(*paths, folder)}
        problems = load_problems(paths[0])
    forget()
    return {**result, "warm": in_one_process(found, problems), "groups": groups(found, problems)}


def main() -> int:
    parser = script.parser("Time bulk runs.", data=DATA)
    parser.add_argument("--every", type=int, default=1, help="only every N-th rollout")
    options = parser.parse_args()
    if not is_here(options.data):
        return NO_DATA
    result = measure(options.data, options.every)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for part, values in result.items():
            print(part)
            for key, value in values.items():
                print(f"  {key}: {value}")
    ended = [value for key, value in result["runs"].items() if key.endswith("workers")]
    return int(any(run["incidents"] for run in ended) or not result["runs"]["same_bytes"])


if __name__ == "__main__":
    raise SystemExit(main())

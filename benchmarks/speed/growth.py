r"""How the time of a grade grows: with formulas and nodes, the length of formulas, the size of a group, and workers.

*Formulas and nodes*: the first formulas of model responses, shared out among problems, beside nodes of other problems'
drafts: as many of each as the table says, so that most pairs differ, as in a real grade. *Length*: one equation whose
right side is a sum of so many products, in six solutions beside nodes of the same length, equal, reordered and wrong.
*Group*: responses of several models to one problem, the first so many of each group. *Workers*: `prism run` over the
responses of `robustness/same_grades.py` with one worker and with two, and the most memory that a worker held.

All but the runs are one process that forgets everything before each problem. Times are processor seconds.

    python benchmarks/speed/growth.py [--data FOLDER] [--every N] [--slice] [--json]
"""

from __future__ import annotations

import json
import math
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from benchmarks.processes import done  # noqa: E402
from benchmarks.speed.before import read_material  # noqa: E402
from benchmarks.speed.groups import of_models  # noqa: E402
from benchmarks.speed.tree_grader import graded  # noqa: E402
from prism import DataFileError, extract, warm  # noqa: E402

FORMULAS, NODES = (5, 10, 20, 40), (5, 10, 20, 30)
TERMS = (1, 2, 4, 8, 16, 32)
REPEATS = 5  # solutions of each size
SLICE = 30  # of a slice, only every so-manieth response; and one solution of each size
MAX_MEMORY = 300.0  # MB that a worker may hold


def shared_out(texts: Sequence[str], n: int, seed: int) -> str:
    """A solution of `n` formulas, of as many texts by chance."""
    rng = random.Random(f"{n} {seed}")
    found: list[str] = []
    while len(found) < n:
        items = [item.latex for item in extract(rng.choice(texts)) if "=" in item.latex]
        found += items[: min(4, n - len(found))]
    return "\n\n".join(f"$${latex}$$" for latex in found)


def problem_of(formulas: Sequence[str]) -> dict[str, Any]:
    """A problem whose nodes say these formulas."""
    last = len(formulas)
    nodes = [
        {"index": k, "formula": latex, "dependency": [k - 1] if k > 1 else [], "is_final_answer": k == last}
        for k, latex in enumerate(formulas, start=1)
    ]
    return {"id": "growth", "context": "", "grading_standard": nodes}


def formulas_and_nodes(problems: Mapping[str, Any], texts: Sequence[str], repeats: int) -> dict[str, Any]:
    """Milliseconds of a grade by number of formulas and of nodes, and the exponents of both."""
    drafted = sorted({node["formula"] for problem in problems.values() for node in problem["grading_standard"]})
    times: dict[tuple[int, int], float] = {}
    for n in FORMULAS:
        for m in NODES:
            each = []
            for seed in range(repeats):
                chosen = random.Random(f"{m} {seed}").sample(drafted, m)
                try:
                    each += _times(problem_of(chosen), [shared_out(texts, n, seed)])
                except DataFileError:  # nodes that contradict each other in a letter
                    continue
            if each:
                times[n, m] = statistics.median(each)
    return {
        "ms": {f"{n} x {m}": round(1e3 * seconds, 2) for (n, m), seconds in times.items()},
        "exponent_of_formulas": _exponent({n: times[n, m] for n, m in times if m == NODES[-1]}),
        "exponent_of_nodes": _exponent({m: times[n, m] for n, m in times if n == FORMULAS[-1]}),
    }


def length(repeats: int) -> dict[str, Any]:
    """Milliseconds of a grade by number of terms, six formulas beside six nodes."""
    times = {n: statistics.median(_times(*_sums(n, seed))[0] for seed in range(repeats)) for n in TERMS}
    return {"ms": {n: round(1e3 * seconds, 2) for n, seconds in times.items()}, "exponent": _exponent(times)}


def _sums(n: int, seed: int) -> tuple[dict[str, Any], list[str]]:
    """A problem of six sums of n terms, and a solution with each of them, reordered and every other one wrong."""
    rng = random.Random(f"{n} {seed}")
    nodes, claims = [], []
    for k, subject in enumerate("PQRSTU"):
        terms = [f"{rng.randint(2, 9)} {'abcdfhkl'[(j + k) % 8]}_{{{j}}} x_{{{k}}}" for j in range(n)]
        nodes.append(f"{subject} = {' + '.join(terms)}")
        rng.shuffle(terms)
        wrong = [terms[0].replace(terms[0][0], "1", 1), *terms[1:]] if k % 2 else terms
        claims.append(f"$${subject} = {' + '.join(wrong)}$$")
    return problem_of(nodes), ["\n\n".join(claims)]


def group_sizes(problems: Mapping[str, Any], rollouts: Sequence[dict[str, Any]], every: int) -> dict[str, Any]:
    """Milliseconds of a response by the size of its group, of groups that have five or four responses."""
    groups = [group for group in of_models(dict(problems), rollouts) if len(group[1]) >= 4][::every]
    found = {}
    for size in range(1, 5):
        each = [seconds / size for problem, texts in groups for seconds in [sum(_times(problem, texts[:size]))]]
        found[size] = round(1e3 * statistics.mean(each), 2)
    return {"groups": len(groups), "ms_a_response": found}


def workers(problems: Mapping[str, Any], rollouts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Runs with one worker and two: rate and memory."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "problems.jsonl").write_text("".join(json.dumps(each) + "\n" for each in problems.values()))
        (folder / "rollouts.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rollouts))
        for n in (1, 2):
            files = folder / "problems.jsonl", folder / "rollouts.jsonl"
            run = done([*files, "-o", folder / f"{n}.jsonl", "--workers", str(n)])
            found[str(n)] = {
                "rollouts": run.said["rollouts"], "seconds": round(run.seconds, 2), "processor_s": round(run.cpu, 2),
                "worker_peak_mb": round(run.worker_kb / 1024, 1), "steps_s": run.said["seconds"],
            }  # fmt: skip
    most = max(each["worker_peak_mb"] for each in found.values())
    return {**found, "gain": round(found["1"]["seconds"] / found["2"]["seconds"], 2), "in_memory": most <= MAX_MEMORY}


def _times(problem: dict[str, Any], texts: list[str]) -> list[float]:
    """Processor seconds of each text, the first with nothing remembered."""
    return [float(each) for each in graded(problem, texts)["cpu"]]


def _exponent(times: Mapping[int, float]) -> float:
    """The slope of time by size, both as logarithms, from the smallest size to the largest."""
    small, large = min(times), max(times)
    return round(math.log(times[large] / times[small]) / math.log(large / small), 2) if small < large else 0.0


def parts(data: Path, every: int, repeats: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each table with its name."""
    problems, rollouts = read_material(data)
    chosen = rollouts[::every]
    texts = [row["response"] for row in rollouts if "=" in row["response"]]
    yield "formulas_and_nodes", formulas_and_nodes(problems, texts, repeats)
    yield "length", length(repeats)
    yield "group", group_sizes(problems, rollouts, every)
    yield "workers", workers(problems, chosen)


def main() -> int:
    parser = script.parser("Tables of how the time of a grade grows.", data=DATA)
    parser.add_argument("--every", type=int, default=1, help="only every N-th response and group")
    parser.add_argument("--slice", action="store_true", help=f"only every {SLICE}th, and one solution of each size")
    options = parser.parse_args()
    script.require(options.data / "rollouts.jsonl")
    warm()
    every, repeats = (SLICE, 1) if options.slice else (options.every, REPEATS)
    result = dict(parts(options.data, every, repeats))
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, values in result.items():
            print(name)
            for key, value in values.items():
                print(f"  {key}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

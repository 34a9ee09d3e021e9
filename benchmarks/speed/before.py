r"""The same responses graded by this tree and by the tree before, and one answer of each read by math-verify.

The responses are those of `robustness/same_grades.py`, on drafted problems, and all of which `speed/counts.py` counts
some, on problems of the display formulas of worked solutions. A response is graded by this tree, then by the tree
before, then its answer is compared with the gold one by math-verify with the settings of TRL's accuracy reward; then
comes the next: each in a process of its own, so that what else the machine does slows all alike. Nothing is
remembered between responses: each is new, and so is its problem. Times are processor seconds; PRISM compares all
formulas with all nodes, math-verify reads one answer.

    python benchmarks/speed/before.py [--base COMMIT] [--data FOLDER] [--every N] [--slice] [--json]
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from benchmarks.rivals.rewards import LIMIT, REWARDER, python_for  # noqa: E402
from benchmarks.rivals.workers import ISOLATED, Answer, asked  # noqa: E402
from benchmarks.robustness import same_grades  # noqa: E402
from benchmarks.speed import counts  # noqa: E402
from benchmarks.speed.clocks import figures  # noqa: E402

BEFORE = "3e27225845ed8170caffab46800128b23669af15"  # the tree of 27 November, whose rate is the one to beat
RIVAL = "math-verify as in TRL"
GRADER = Path(__file__).with_name("tree_grader.py")
Row = tuple[dict[str, Any], str, str]
"""A problem, as the keys of its file, a response to it, and a gold answer."""
SLICE = 40  # of a slice, only every so-manieth response


def trees(base: str) -> dict[str, Path]:
    """The checkouts that grade, by the names of the result."""
    return {"this tree": ROOT, "tree before": same_grades.checkout(base)}


def grader(tree: Path) -> list[str]:
    """The command of a process that grades with a checkout."""
    return [sys.executable, *ISOLATED, str(GRADER), str(tree)]


def read_material(data: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Drafted problems by id, and the rollouts whose problem has one."""
    folder = same_grades.material(same_grades.BASE, data)
    assert folder is not None
    problems, rollouts = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("problems.jsonl", "rollouts.jsonl")
    )
    return {problem["id"]: problem for problem in problems}, rollouts


def drafted(data: Path) -> Iterator[Row]:
    """The problem, the response and a gold answer of each response of the fence; the problems are drafted."""
    problems, rollouts = read_material(data)
    for row in rollouts:
        if row["gold"]:
            yield problems[row["problem_id"]], row["response"], row["gold"][-1]


def of_display_formulas(data: Path) -> Iterator[Row]:
    """The same of the further responses, on problems of the display formulas of their worked solutions."""
    for problem, row in counts.problems_and_rows(data):
        if row["gold"]:
            yield problem, row["response"], row["gold"][-1]


def measure(data: Path, base: str, every: int) -> dict[str, Any]:
    """All of them on every so-manieth response of each material, in turn."""
    found = {
        name: _measured(list(rows(data))[::every], base)
        for name, rows in (("drafted problems", drafted), ("problems of display formulas", of_display_formulas))
    }
    return {"base": base, "every": every, **found}


def _measured(rows: Sequence[Row], base: str) -> dict[str, Any]:
    """All of them on some responses, in turn."""
    texts: list[Any] = [(problem, [response]) for problem, response, _ in rows]
    answers: list[Any] = [(problem, response, f"${gold}$") for problem, response, gold in rows]
    said: dict[str, dict[str, str]] = {}
    running = {
        name: asked(grader(tree), texts, said.setdefault(name, {}), limit=LIMIT) for name, tree in trees(base).items()
    }
    if python_for(RIVAL).exists():
        rival = [str(python_for(RIVAL)), *ISOLATED, str(REWARDER), RIVAL, "main"]
        running[RIVAL] = asked(rival, answers, said.setdefault(RIVAL, {}), limit=LIMIT)
    turns = list(zip(*running.values(), strict=True))
    found = {name: _table([turn[k] for turn in turns]) for k, name in enumerate(running)}
    ours = found["this tree"]
    return {
        "responses": len(rows), "versions": said, **found,
        "ratios": {name: _ratios(ours, other) for name, other in found.items() if other is not ours},
    }  # fmt: skip


def _seconds(answer: Answer) -> float:
    """Processor seconds of one answer; the limit where there was none in time."""
    if answer.status == "timeout":
        return LIMIT
    seconds = answer.content["cpu"]
    return float(sum(seconds) if isinstance(seconds, list) else seconds)


def _table(answers: Sequence[Answer]) -> dict[str, Any]:
    seconds = [_seconds(answer) for answer in answers]
    return {
        **figures(seconds, 1e3, 2), "mean": round(1e3 * statistics.mean(seconds), 2),
        "a_second": round(len(seconds) / sum(seconds), 2),
        "outcomes": dict(sorted(Counter(answer.status for answer in answers).items())),
    }  # fmt: skip


def _ratios(ours: dict[str, Any], other: dict[str, Any]) -> dict[str, float]:
    """How many times longer the other takes."""
    return {key: round(other[key] / ours[key], 2) for key in ("median", "mean", "p90", "p99", "max")}


def main() -> int:
    parser = script.parser("Time this tree beside the tree before and math-verify.", data=DATA)
    parser.add_argument("--base", default=BEFORE, help="commit of the tree before")
    parser.add_argument("--every", type=int, default=1, help="only every N-th response")
    parser.add_argument("--slice", action="store_true", help=f"only every {SLICE}th response")
    options = parser.parse_args()
    script.require(options.data / "rollouts.jsonl")
    result = measure(options.data, options.base, SLICE if options.slice else options.every)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, values in result.items():
            print(f"{name}: {values}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

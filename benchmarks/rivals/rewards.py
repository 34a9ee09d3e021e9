r"""Reward functions beside each other on the same rollouts: time for one, and what happens off the main thread.

Responses of `rollouts.jsonl` whose problem has a worked solution. PRISM compares every formula with every node of that
solution (`rollout_problems.py`); math-verify compares one answer with the last gold answer: it is asked for less, and
its reward means less. Each function runs in a process of its own, once in the main thread and once in another. One that
has not answered after a minute is killed, and its rollout counted as `timeout`: off the main thread nothing else would
end it.

    python benchmarks/rivals/rewards.py [--data FOLDER] [--every N] [--json]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from benchmarks.rivals.workers import ISOLATED, Answer, RivalError, asked, python_of  # noqa: E402
from benchmarks.rollout_problems import is_here, material  # noqa: E402
from benchmarks.speed.clocks import figures  # noqa: E402

REWARDER = Path(__file__).with_name("rewarder.py")
FUNCTIONS = ("prism", "math-verify", "math-verify as in TRL")
PLACES = ("main", "thread")
LIMIT = 60.0  # seconds by the clock for one rollout


def python_for(function: str) -> Path:
    """The interpreter that a function runs in."""
    return Path(sys.executable) if function == "prism" else python_of("latex2sympy2_extended")


def table(answers: Sequence[Answer], versions: dict[str, str]) -> dict[str, Any]:
    """What became of the rollouts, and their times."""
    told = [answer.content for answer in answers if answer.status != "timeout"]
    ended = [one for answer, one in zip([a for a in answers if a.status != "timeout"], told, strict=True)
             if answer.status != "raised"]  # fmt: skip
    rewards = [one["reward"] for one in ended if one["reward"] is not None]
    return {
        "rollouts": len(answers), "outcomes": dict(sorted(Counter(answer.status for answer in answers).items())),
        "raised": dict(Counter(one["detail"] for one in told if one["detail"]).most_common(3)),
        "own_alarms": sum(one["alarms"] for one in told),
        "processor_ms": figures([one["cpu"] for one in ended], 1e3, 1),
        "clock_ms": figures([one["clock"] for one in ended], 1e3, 1),
        "processor_s": round(sum(one["cpu"] for one in told), 2),
        "mean_reward": round(sum(rewards) / len(rewards), 4) if rewards else None, "versions": versions,
    }  # fmt: skip


def measure(data: Path, every: int) -> dict[str, Any]:
    """All functions in both places on every so-manieth rollout that has a gold answer."""
    found = material(data)
    problems = {problem["id"]: problem for problem in found.problems}
    rows = [row for row in found.rollouts if row["gold"]][::every]
    items: list[Any] = [(problems[row["problem_id"]], row["response"], f"${row['gold'][-1]}$") for row in rows]
    result: dict[str, Any] = {"rollouts": len(items), "limit_s": LIMIT, "functions": {}, "absent": {}}
    for function in FUNCTIONS:
        if not python_for(function).exists():
            result["absent"][function] = "no environment; `make bench` builds it"
            continue
        for place in PLACES:
            versions: dict[str, str] = {}
            command = [str(python_for(function)), *ISOLATED, str(REWARDER), function, place]
            answers = list(asked(command, items, versions, limit=LIMIT))
            result["functions"][f"{function}, {place}"] = table(answers, versions)
    return result


def main() -> int:
    parser = script.parser("Time reward functions, in the main thread and off it.", data=DATA)
    parser.add_argument("--every", type=int, default=1, help="only every N-th rollout")
    options = parser.parse_args()
    if not is_here(options.data):
        return NO_DATA
    try:
        result = measure(options.data, options.every)
    except RivalError as error:
        print(error, file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, row in result["functions"].items():
            print(f"{name}: {row}")
        print(result["absent"] or "")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

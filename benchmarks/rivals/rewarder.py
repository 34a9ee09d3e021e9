r"""Reward rollouts with one function: JSON `[problem, response, gold]` a line in, `[status, figures]` a line out.

A status is `rewarded`, `none` (the function gives nothing, since it cannot read the gold answer) or `raised`. Figures
are the reward, processor seconds, seconds by the clock, and how many of the rival's own alarms went off. The second
argument says where the function is called: in the `main` thread, or in another `thread` of the process, as servers,
actors and asynchronous trainers do. Runs in the environment of whom the first argument names.

math-verify is called as its own page says, `verify(parse(gold), parse(response))` with its default time limits; and
with the settings of TRL's accuracy reward, which asks for LaTeX alone, boxes first, and turns the time limits off where
they cannot work.

    .venv-bench/bin/python -P -s benchmarks/rivals/rewarder.py math-verify thread
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

_MAX_DETAIL = 200
_FIRST = {
    "id": "first", "context": "A stone falls for a time $t$.",
    "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}],
}  # fmt: skip

Reward = Callable[[dict[str, Any], str, str], "float | None"]


def prism() -> Reward:
    """Ours: the score by ancestor closure; a problem is prepared once, before its first rollout is timed."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    import prism
    from prism.grading.prepared import PreparedProblem

    prism.warm()
    ready: dict[str, PreparedProblem] = {}

    def reward(problem: dict[str, Any], response: str, _: str) -> float | None:
        if problem["id"] not in ready:
            ready[problem["id"]] = prism.prepare(problem)
        return prism.grade(ready[problem["id"]], response).score

    return reward


def math_verify() -> Reward:
    """As the package's page says: default settings and time limits."""
    from math_verify import parse, verify

    def reward(_: dict[str, Any], response: str, gold: str) -> float | None:
        known = parse(gold)
        return float(verify(known, parse(response))) if known else None

    return reward


def trl() -> Reward:
    """The settings of TRL's accuracy reward."""
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse, verify

    wanted = LatexExtractionConfig(
        normalization_config=NormalizationConfig(units=True), boxed_match_priority=0, try_extract_without_anchor=False
    )

    def reward(_: dict[str, Any], response: str, gold: str) -> float | None:
        is_main = threading.current_thread() is threading.main_thread()
        reading, comparing = (10, 5) if is_main else (None, None)
        known = parse(gold, parsing_timeout=reading)
        if not known:
            return None
        said = parse(response, [wanted], extraction_mode="first_match", parsing_timeout=reading)
        return float(verify(known, said, timeout_seconds=comparing))

    return reward


_VERIFIED = ("math-verify", "latex2sympy2_extended", "sympy")
FUNCTIONS: dict[str, tuple[Callable[[], Reward], tuple[str, ...]]] = {
    "prism": (prism, ("numba", "numpy")),
    "math-verify": (math_verify, _VERIFIED),
    "math-verify as in TRL": (trl, _VERIFIED),
}


class Alarms(logging.Handler):
    """Counts what the rival says of its own time limits."""

    n = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one message."""
        self.n += record.getMessage().startswith("Timeout during")


def timed(reward: Reward, item: list[Any], alarms: Alarms) -> tuple[str, dict[str, Any]]:
    """How one call ended, and its time."""
    before = alarms.n
    value, detail = None, ""
    cpu, clock = time.process_time(), time.perf_counter()
    try:
        value = reward(*item)
        status = "none" if value is None else "rewarded"
    except Exception as error:  # noqa: BLE001 - what the trainer would see
        status, detail = "raised", f"{type(error).__name__}: {error}"[:_MAX_DETAIL]
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    return status, {"reward": value, "detail": detail, "cpu": cpu, "clock": clock, "alarms": alarms.n - before}


def main() -> int:
    make, packages = FUNCTIONS[sys.argv[1]]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what a function itself prints is no answer
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    alarms = Alarms()
    logging.getLogger().addHandler(alarms)
    reward = make()
    pool = ThreadPoolExecutor(1) if sys.argv[2] == "thread" else None

    def called(item: list[Any]) -> tuple[str, dict[str, Any]]:
        return pool.submit(timed, reward, item, alarms).result() if pool else timed(reward, item, alarms)

    with contextlib.redirect_stderr(sys.stdout):
        called([_FIRST, "$v = g t$", "$v = g t$"])  # whatever is loaded on first use
        print(json.dumps({package: metadata.version(package) for package in packages}), file=out, flush=True)
        for line in sys.stdin:
            item = json.loads(line)
            if sys.argv[1] == "prism":
                reward(item[0], "", "")
            print(json.dumps(called(item)), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

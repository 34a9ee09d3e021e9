r"""Time math-verify on pairs of formulas, in its own process and environment and its best configuration.

Standard input is a JSON list of pairs, standard output one JSON object: `versions`, and for each pair its `status`
(`equal`, `different`, `failed`, `timeout`) and the `seconds` of the processor for reading both and comparing them, the
best of the passes. The first pass is dropped: ANTLR's tables and sympy's cache have learnt by then. A pair that fails,
or takes longer than a second, is not tried again.

    .venv-bench/bin/python -I benchmarks/rivals/verdicts.py < pairs.json
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import sys
import time
from importlib import metadata
from typing import Any

PASSES = 3  # timed ones, behind the one that is dropped
TIME_LIMIT = 30.0  # seconds a pair and pass
AGAIN_BELOW = 1.0  # seconds; slower pairs are not timed again
DECIDED = ("equal", "different")
PACKAGES = ("math-verify", "latex2sympy2_extended", "antlr4-python3-runtime", "sympy")


class OutOfTime(BaseException):
    """Raised by the alarm; no `except Exception` of the rival swallows it."""


class NothingRead(Exception):
    """It answers an unread formula with an empty list."""


def judge(a: str, b: str) -> bool:
    """Its parser for LaTeX alone, its cache of strings emptied; its own alarms are off because ours is on."""
    from math_verify import LatexExtractionConfig, parse, verify
    from math_verify.parser import parse_latex_cached

    parse_latex_cached.cache_clear()
    wanted = (LatexExtractionConfig(),)
    gold, answer = (parse(f"${latex}$", wanted, fallback_mode="no_fallback", parsing_timeout=None) for latex in (a, b))
    if not gold or not answer:
        raise NothingRead
    return bool(verify(gold, answer, timeout_seconds=None))


def clocked(a: str, b: str) -> tuple[str, float]:
    """How one pair ended, and its time."""
    signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
    start = time.process_time()
    try:
        status = "equal" if judge(a, b) else "different"
    except OutOfTime:
        status = "timeout"
    except Exception:  # noqa: BLE001 - whatever it raises is a pair it does not decide
        status = "failed"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return status, time.process_time() - start


def rows(pairs: list[list[str]]) -> list[dict[str, Any]]:
    first = [clocked(a, b) for a, b in pairs]
    again = [place for place, (status, once) in enumerate(first) if status in DECIDED and once < AGAIN_BELOW]
    best = [seconds for _, seconds in first]
    for place in again:
        best[place] = float("inf")
    for _ in range(PASSES):
        for place in again:
            best[place] = min(best[place], clocked(*pairs[place])[1])
    return [{"status": status, "seconds": seconds} for (status, _), seconds in zip(first, best, strict=True)]


def alarm(*_: object) -> None:
    raise OutOfTime


def main() -> int:
    logging.disable(logging.CRITICAL)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what the rival itself prints is no answer
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    signal.signal(signal.SIGPROF, alarm)
    pairs = json.load(sys.stdin)
    with contextlib.redirect_stderr(sys.stdout):
        found = rows(pairs)
    versions = {package: metadata.version(package) for package in PACKAGES}
    print(json.dumps({"versions": versions, "rows": found}), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

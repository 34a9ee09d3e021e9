r"""Time a reader of LaTeX on a list of formulas, in its own process and environment and its best configuration.

Standard input is a JSON list of formulas, standard output one JSON object: `versions`, and for each formula its
`status` (`read`, `failed`, `timeout`) and `seconds`, the best of the passes. The first pass is dropped: parsers that
learn (ANTLR's tables, sympy's cache) have learnt by then. A formula that fails or runs out of time is not tried again.

    .venv-bench/bin/python -I benchmarks/rivals/clock.py math-verify < formulas.json
"""

from __future__ import annotations

import contextlib
import inspect
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

PASSES = 3  # timed ones, behind the one that is dropped
TIME_LIMIT = 5.0  # seconds a formula and pass

Read = Callable[[str], object]


class OutOfTime(BaseException):
    """Raised by the alarm; no `except Exception` of a rival swallows it."""


class NothingRead(Exception):
    """A reader that answers with nothing where others raise."""


def prism() -> Read:
    """Ours, without the cache of strings, which would hold every formula from the second pass on."""
    from prism.latex.parsing.parser import parse

    uncached: Read = inspect.unwrap(parse)
    return uncached


def math_verify() -> Read:
    """Its parser for LaTeX alone, uncached; it wants dollars, and its own alarm is off because ours is on."""
    from math_verify import LatexExtractionConfig, parse
    from math_verify.parser import parse_latex_cached

    wanted = (LatexExtractionConfig(),)

    def read(latex: str) -> object:
        parse_latex_cached.cache_clear()
        found = parse(f"${latex}$", wanted, fallback_mode="no_fallback", parsing_timeout=None)
        if not found:
            raise NothingRead
        return found

    return read


def latex2sympy2_extended() -> Read:
    """The parser below math-verify, set for physics: capitals kept apart from small letters."""
    from latex2sympy2_extended import latex2sympy
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig

    config = ConversionConfig(lowercase_symbols=False)
    return lambda latex: latex2sympy(latex, conversion_config=config)


def sympy() -> Read:
    """The newer parser of sympy, its Lark object made once."""
    import lark  # noqa: F401 - without it, sympy would refuse every formula
    from sympy.parsing.latex.lark import parse_latex_lark

    read: Read = parse_latex_lark
    return read


READERS = {
    "prism": (prism, ("prism-dag",)),
    "math-verify": (math_verify, ("math-verify", "latex2sympy2_extended", "antlr4-python3-runtime", "sympy")),
    "latex2sympy2_extended": (latex2sympy2_extended, ("latex2sympy2_extended", "antlr4-python3-runtime", "sympy")),
    "sympy": (sympy, ("sympy", "lark")),
}


def clocked(read: Read, latex: str) -> tuple[str, float]:
    """How one reading ended, and its time."""
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT)
    start = time.perf_counter()
    try:
        read(latex)
        status = "read"
    except OutOfTime:
        status = "timeout"
    except Exception:  # noqa: BLE001 - whatever a reader raises is a formula it does not read
        status = "failed"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return status, time.perf_counter() - start


def rows(read: Read, formulas: list[str]) -> list[dict[str, Any]]:
    first = [clocked(read, latex) for latex in formulas]
    timed: list[list[float]] = [[] for _ in formulas]
    for _ in range(PASSES):
        for (status, _), latex, seconds in zip(first, formulas, timed, strict=True):
            if status == "read":
                seconds.append(clocked(read, latex)[1])
    return [
        {"status": status, "seconds": min(seconds, default=once)}
        for (status, once), seconds in zip(first, timed, strict=True)
    ]


def version(package: str) -> str | None:
    """Installed version; None in a checkout that is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def alarm(*_: object) -> None:
    raise OutOfTime


def main() -> int:
    make, packages = READERS[sys.argv[1]]
    logging.disable(logging.CRITICAL)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what a reader itself prints is no answer
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    signal.signal(signal.SIGALRM, alarm)
    formulas = json.load(sys.stdin)
    with contextlib.redirect_stderr(sys.stdout):
        found = rows(make(), formulas)
    versions = {package: version(package) for package in packages}
    print(json.dumps({"versions": versions, "rows": found}), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

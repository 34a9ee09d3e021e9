"""What is deadly to whoever grades it: texts that cost as much as their length allows, and a job that rollouts kill.

The texts are written for the families of constructs that once cost minutes; each ends within its account of operations,
so a run over them ends too, and its rows are the same whatever happens to it on the way. The job does what a fault in
compiled code would do. Actors import it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from prism.grading.prepared import PreparedProblem
from prism.runs.bulk import Options, grade_rollout
from prism.runs.rollouts import Rollout

DEATHS = ("exit", "kill", "endless")  # sample ids


def _nested(open_: str, close: str, depth: int, inner: str = "h") -> str:
    return f"$v_f = {open_ * depth}{inner}{close * depth}$"


def _many(write: Callable[[int], str], n: int) -> str:
    return " ".join(f"${write(k)}$." for k in range(n))


TEXTS: dict[str, str] = {
    "functions in functions": _nested("u(", ")", 26, "h/g"),
    "unknown functions beside each other": _nested("u(w(", "))", 13, "h"),
    "integrals in integrals": _nested(r"\int_0^1 ", r"\,ds", 5, "e^{-s^2} g h"),
    "integrals to infinity": _nested(r"\int_0^\infty ", r"\,ds", 4, r"\frac{g h}{1 + s^4}"),
    "integrals up to the outer variable": _nested(r"\int_0^{h} \left(s + ", r"\right) ds", 5, "g"),
    "sums in sums": _nested(r"\sum_{n=1}^{150} ", "", 4, "g h n"),
    "products in products": _nested(r"\prod_{n=1}^{150} \left(1 + ", r"\right)", 4, "g/n"),
    "sums of integrals": _nested(r"\sum_{n=1}^{40} \int_0^1 ", r"\,ds", 3, "e^{n s^2} g h"),
    "series": _nested(r"\sum_{n=1}^{\infty} \frac{1}{n^2} \left(", r"\right)", 3, "g h"),
    "binomials in binomials": _nested(r"\binom{g}{", "}", 27, "h"),
    "derivatives of derivatives": _nested(r"\frac{d}{dh}\left(\sqrt{g h} \cdot ", r"\right)", 12, r"\sin(h)"),
    "powers in powers": _nested(r"\left(g + ", r"\right)^{19}", 14, "h"),
    "fractions in fractions": _nested(r"\frac{g}{h + ", "}", 29, "g"),
    "roots in roots": _nested(r"\sqrt{g h + ", "}", 29, "h"),
    "determinants": r"$v_f = \det\begin{pmatrix}" + r" \\ ".join([" & ".join(["g h + h"] * 9)] * 9) + r"\end{pmatrix}$",
    "signs": "$v_f = " + " ".join(r"\pm \sqrt{g h}" for _ in range(60)) + "$",
    "cases": r"$v_f = \begin{cases}" + r" \\ ".join(f"g h & h < {k}" for k in range(60)) + r"\end{cases}$",
    "double sums again and again": _many(
        lambda k: rf"v_f = {k} \sum_{{n=1}}^{{150}}\sum_{{n=1}}^{{150}} \frac{{g}}{{n}}", 50
    ),
    "integrals again and again": _many(lambda k: rf"v_f = \int_0^h e^{{{k} s^2}} g\,ds", 90),
    "own symbols in each other": _many(lambda k: rf"a_{{{k}}} = a_{{{k + 1}}}^2 + \sin a_{{{k + 2}}}", 120),
    "a chain": "$v_f " + " ".join(rf"= \sqrt{{{k} g h}}" for k in range(2, 200)) + "$",
    "boxes": _many(lambda k: rf"\boxed{{v_f = \sqrt{{{k} g h}}}}", 150),
    "digits": "$v_f = " + " + ".join(f"0.{k:058d}1" for k in range(60)) + "$",
    "brackets without end": "$" + "{" * 2400 + "$ " + "$" * 99 + r"\left(" * 300,
    "prose": "and so the stone falls as was said before, thus " * 100,
    "control characters": "$v_f = \0 \x1b[2J \ud800 \u202e g h$ " * 100,
}
"""By family; each has fewer than 5,000 characters and speaks of the shipped problem `free_fall`."""


def hostile_rollouts(copies: int = 1, families: int | None = None) -> list[dict[str, Any]]:
    """The texts, or those of the first families, as records; each so often, under other ids."""
    return [
        {"problem_id": "free_fall", "sample_id": f"{copy:03} {name}", "model": "hostile", "response": text}
        for copy in range(copies)
        for name, text in list(TEXTS.items())[:families]
    ]


def score(prepared: PreparedProblem, rollout: Rollout) -> float | None:
    """The score, unless the rollout is one of the deadly ones."""
    if rollout.sample_id == "exit":
        os._exit(7)
    if rollout.sample_id == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    while rollout.sample_id == "endless":
        pass
    return grade_rollout(prepared, rollout, options=Options(formulas=False)).score

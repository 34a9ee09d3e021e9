"""Time Algorithm 1 of the paper (`tests/reference.py`, on sympy) on pairs of equations, in a process of its own."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import prism
from benchmarks.speed.clocks import clock, figures, shortest

TIME_LIMIT = 30.0  # seconds of the processor for a pair


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds pair by pair, and how each ended: an outcome of Algorithm 1, `killed`, or sympy's exception."""

    seconds: list[float]
    outcomes: list[str]

    def figures(self) -> dict[str, Any]:
        """Milliseconds, and what became of the pairs."""
        counts = {outcome: self.outcomes.count(outcome) for outcome in sorted(set(self.outcomes))}
        return {"ms": figures(self.seconds, 1e3, 1), "outcomes": counts, "limit_s": TIME_LIMIT}


def times_of(pairs: Sequence[tuple[str, str]]) -> Times | None:
    """All pairs of equations in one process, and in another after each that was killed; None where it cannot start."""
    found = []
    try:
        child = Child()
        for a, b in pairs:
            if not child.process.is_alive():
                child = Child()
            found.append(child.ask(a, b))
        child.stop()
    except EOFError:
        return None
    return Times([once for _, once in found], [outcome for outcome, _ in found])


class Child:
    """A process that runs Algorithm 1, as long as it keeps to its time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def ask(self, a: str, b: str) -> tuple[str, float]:
        """Outcome and seconds; `killed` and the limit where it did not answer."""
        self.pipe.send((a, b))
        try:
            outcome, once = self.pipe.recv()
        except EOFError:
            self.process.join()
            return "killed", TIME_LIMIT
        return str(outcome), float(once)

    def stop(self) -> None:
        """End the process that this one started."""
        self.process.kill()
        self.process.join()


def serve(pipe: Connection) -> None:
    """Decide pairs as they come; what it takes to build their expressions is not counted."""
    import sympy  # noqa: F401 - its import is no pair's time

    from tests.reference import algorithm_1, difference

    pipe.send("ready")
    while True:
        a, b = (prism.parse(latex) for latex in pipe.recv())
        building = sum(shortest(partial(difference, f), 1)[0] for f in (a, b))
        signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)  # nobody catches this signal, so it ends the process
        start = clock()
        try:
            outcome: str = algorithm_1(a, b)
        except Exception as fault:  # noqa: BLE001 - whatever sympy raises is no verdict
            outcome = type(fault).__name__
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((outcome, max(clock() - start - building, 0.0)))

"""Times of repeated work and how they spread.

Seconds are the processor's: on a machine that others use too, the clock on the wall says how busy they are. On an idle
one the two agree, since everything timed here is one thread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

PASSES = 5

clock = time.process_time


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(times: Sequence[float], unit: float = 1e6, digits: int = 2) -> dict[str, float]:
    """Median and spread over pairs."""
    if not times:
        return {"n": 0}
    return {
        "n": len(times),
        "median": round(unit * statistics.median(times), digits),
        "p10": round(unit * quantile(times, 0.1), digits),
        "p90": round(unit * quantile(times, 0.9), digits),
        "p99": round(unit * quantile(times, 0.99), digits),
        "max": round(unit * max(times), digits),
    }


def best(passes: Sequence[Sequence[float]]) -> list[float]:
    """The shortest time of each pair over the passes."""
    return [min(times) for times in zip(*passes, strict=True)]


def usual(passes: Sequence[Sequence[float]]) -> list[float]:
    """The median time of each pair over the passes: what is fair beside a rival that is run once."""
    return [statistics.median(times) for times in zip(*passes, strict=True)]


def passes_us(passes: Sequence[Sequence[float]]) -> list[float]:
    """Median of each pass: how far the figure moves from one pass to the next."""
    return [round(1e6 * statistics.median(times), 2) for times in passes]


def ratios(theirs: Sequence[float], ours: Sequence[float]) -> dict[str, float]:
    """How many times longer they take."""
    each = [their / our for their, our in zip(theirs, ours, strict=True)]
    return {
        "of_medians": round(statistics.median(theirs) / statistics.median(ours), 1),
        "of_p99": round(quantile(theirs, 0.99) / quantile(ours, 0.99), 1),
        "of_totals": round(sum(theirs) / sum(ours), 1),
        "median_of_ratios": round(statistics.median(each), 1),
        "p10_of_ratios": round(quantile(each, 0.1), 1),
        "p90_of_ratios": round(quantile(each, 0.9), 1),
    }


def seconds(work: Callable[[], object]) -> float:
    start = clock()
    work()
    return clock() - start


def shortest(work: Callable[[], object], repeats: int = PASSES) -> list[float]:
    """Times of a piece of work, shortest first, one run dropped."""
    return sorted([seconds(work) for _ in range(repeats + 1)][1:])


def milliseconds(times: Sequence[float]) -> dict[str, float]:
    """Best and spread of a sorted list."""
    return {
        "best": round(1e3 * times[0], 3),
        "median": round(1e3 * statistics.median(times), 3),
        "worst": round(1e3 * times[-1], 3),
    }


def yardstick() -> float:
    """Milliseconds of a fixed loop: compare it first, before two runs are compared."""

    def loop() -> None:
        total = 0
        for number in range(20_000):
            total += number % 7

    return round(1e3 * shortest(loop, 30)[0], 3)

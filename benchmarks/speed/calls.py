"""The calls of kernels that the engine makes for a pair, kept so that they can be made again and timed alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.speed.clocks import seconds, shortest

REPEATS = 20  # of the kernels of one pair, a hundred times faster than anything else that is timed


@dataclass(slots=True)
class Call:
    """One call of a kernel by the engine, to be made again."""

    name: str
    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]

    def again(self) -> None:
        """Make it; the last argument of a kernel that looks for points counts, and starts at 0."""
        if self.name in ("find_zero_points", "find_system_points"):
            self.arguments[-1][:] = 0
        self.kernel(*self.arguments)


@contextmanager
def recorded(module: ModuleType, calls: list[Call]) -> Iterator[None]:
    """Keep every call of a kernel from Python."""
    originals = {name: kernel for name, kernel in vars(module).items() if hasattr(kernel, "py_func")}

    def kept(name: str, kernel: Callable[..., Any], *arguments: Any) -> Any:
        calls.append(Call(name, kernel, arguments))
        return kernel(*arguments)

    for name, kernel in originals.items():
        setattr(module, name, partial(kept, name, kernel))
    try:
        yield
    finally:
        for name, kernel in originals.items():
            setattr(module, name, kernel)


def bare(calls: Sequence[Call]) -> list[Call]:
    """Points of both formulas and both crossings: without each formula's crossing of itself, and further attempts.

    A formula's points are followed by its crossing of itself; what follows both is the pair.
    """
    points = [place for place, call in enumerate(calls) if call.name in ("find_zero_points", "find_system_points")][:2]
    if len(points) < 2:
        return []
    crossings = [call for call in calls[points[1] :] if call.name in ("cross_evaluate", "cross_evaluate_system")]
    return [calls[points[0]], calls[points[1]], *crossings[1:3]]


def replayed(work: Sequence[Sequence[Call]]) -> list[float]:
    """One pass over all pairs: the shortest of a few repeats of each."""
    return [min(seconds(partial(made_again, calls)) for _ in range(REPEATS)) for calls in work]


def made_again(calls: Sequence[Call]) -> None:
    for call in calls:
        call.again()


def call_overhead(name: str, every: Sequence[Sequence[Call]]) -> float:
    """Seconds of a call from Python in which the kernel finds nothing to do: unpacking its arguments."""
    call = next((call for calls in every for call in calls if call.name == name), None)
    if call is None:
        return 0.0
    names = call.kernel.py_func.__code__.co_varnames  # type: ignore[attr-defined]
    idle = {"find_zero_points": "n_draw", "cross_evaluate": "n_point", "evaluate": "n_op"}[name]
    arguments = [0 if given == idle else value for given, value in zip(names, call.arguments, strict=False)]

    def many() -> None:
        for _ in range(1000):
            call.kernel(*arguments)

    return shortest(many)[0] / 1000

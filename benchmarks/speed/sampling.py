"""Where the time of Python code goes, by looking at the stack two thousand times a second.

A tracing profiler makes small functions look dear; this one changes nothing that it looks at. Its figures are shares of
the samples that fell into PRISM, good to about one part in a hundred.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import prism

INTERVAL = 0.0005  # seconds between two looks
SHOWN = 15  # functions in a table
PACKAGE = str(Path(prism.__file__).parent)

STAGES = {
    "latex": "parse", "context": "parse", "tape": "tape", "lowering": "tape", "points": "points and crossings, Python",
    "systems": "points and crossings, Python", "kernels": "points and crossings, Python", "proof": "exact proof",
    "equivalence": "decision", "matching": "decision", "kinds": "decision", "claims": "decision",
    "grading": "decision", "balls": "decision",
}  # fmt: skip
OTHER_STAGE = "reading: units, constants, notation"
CANONICAL = "canonical form"
_SHARED = "expr"  # trees: their time belongs to whoever asked


class Profile:
    """Samples of the stack: by stage, by function on top, by function anywhere."""

    def __init__(self) -> None:
        self.total = 0
        self.stages: Counter[str] = Counter()
        self.on_top: Counter[str] = Counter()
        self.anywhere: Counter[str] = Counter()

    def look(self, _: int, frame: FrameType | None) -> None:
        """Count one sample."""
        stage = ""
        seen: list[str] = []
        while frame is not None:
            code = frame.f_code
            if code.co_name == "_kernel_call" and not seen:
                stage = f"kernel {frame.f_locals['name']}"
                seen.append(stage)
            elif code.co_filename.startswith(PACKAGE):
                room = code.co_filename[len(PACKAGE) + 1 :].split("/")[0].removesuffix(".py")
                seen.append(f"{room}.{name_of(code)}")
                if not stage and room == _SHARED and code.co_name.startswith("canonical"):
                    stage = CANONICAL
                elif not stage and room != _SHARED:
                    stage = STAGES.get(room, OTHER_STAGE)
            frame = frame.f_back
        if seen:
            self.total += 1
            self.stages[stage or OTHER_STAGE] += 1
            self.on_top[seen[0]] += 1
            self.anywhere.update(set(seen))

    def shares(self) -> dict[str, Any]:
        """Per cent of the samples."""
        return {
            "samples": self.total,
            "stages": self._table(self.stages),
            "on_top": self._table(self.on_top),
            "anywhere": self._table(self.anywhere),
        }

    def _table(self, counts: Counter[str]) -> dict[str, float]:
        return {name: round(100 * n / max(self.total, 1), 1) for name, n in counts.most_common(SHOWN)}


def name_of(code: CodeType) -> str:
    """A function's name; what is inside one belongs to it."""
    return code.co_qualname.split(".<locals>")[0]


@contextmanager
def sampled(profile: Profile, module: ModuleType) -> Iterator[None]:
    """Sample what runs inside, with the kernels of a module told apart by name."""
    originals = {name: kernel for name, kernel in vars(module).items() if hasattr(kernel, "py_func")}
    for name, kernel in originals.items():
        setattr(module, name, _named(name, kernel))
    before = signal.signal(signal.SIGALRM, profile.look)
    signal.setitimer(signal.ITIMER_REAL, INTERVAL, INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        for name, kernel in originals.items():
            setattr(module, name, kernel)


def _named(name: str, kernel: Any) -> Any:
    def _kernel_call(*arguments: Any, name: str = name) -> Any:
        return kernel(*arguments)

    return _kernel_call

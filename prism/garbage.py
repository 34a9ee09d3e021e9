"""Python's garbage collector, which looks for cycles in all that a process holds, and finds none that grading makes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage collection start within the block; a collector that is off stays off.

    What a process remembers of formulas is large, and reading through it took a tenth of the time of a grade. Of
    threads that grade at once the first one lets the collector start again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

"""Ask a rival's reader or a judge, one formula or pair at a time, each with its own time limit.

It runs in a process of its own environment; one that takes too long is killed and started anew, since sympy cannot be
stopped from inside.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READER = Path(__file__).with_name("latex_reader.py")
TIME_LIMIT = 5.0  # seconds a formula; half of them take less than a twentieth of one
_START_LIMIT = 60.0  # seconds to import sympy on a busy machine

ENVIRONMENTS = {"latex2sympy2_extended": ".venv-bench", "latex2sympy2": ".venv-latex2sympy2"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rival said: `read` with its tree, `failed` with its message, or `timeout`."""

    status: str
    content: Any = None


class RivalError(RuntimeError):
    """The rival's process does not start."""


def python_of(rival: str) -> Path:
    """Interpreter of the rival's environment, which `make bench` builds."""
    return ROOT / ENVIRONMENTS[rival] / "bin" / "python"


def _environment() -> dict[str, str]:
    """One seed of Python's hashes: some rivals answer by the order of sets. `-I` would draw a new one each time."""
    return {**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, "PYTHONHASHSEED": "0"}


ISOLATED = ("-P", "-s")  # neither this folder nor the user's packages


class _Worker:
    """One process of a rival."""

    def __init__(self, command: Sequence[str], limit: float) -> None:
        self.limit = limit
        self.process = subprocess.Popen(
            list(command), env=_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.versions: dict[str, str] = json.loads(self._next(_START_LIMIT) or "null")
        if self.versions is None:
            raise RivalError(f"this does not start: {' '.join(command)}")

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def _next(self, seconds: float) -> str:
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            return ""

    def ask(self, item: str | Sequence[str]) -> Answer:
        """The answer to one item; `timeout` also where the process died of it."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(item) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return Answer("timeout")
        line = self._next(self.limit)
        return Answer(*json.loads(line)) if line else Answer("timeout")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def answers(rival: str, formulas: Sequence[str], versions: dict[str, str]) -> Iterator[Answer]:
    """A reader's answers in the order of the formulas; `versions` receives the rival's packages."""
    return asked([str(python_of(rival)), *ISOLATED, str(READER), rival], formulas, versions)


def asked(
    command: Sequence[str],
    items: Sequence[str | Sequence[str]],
    versions: dict[str, str],
    *,
    limit: float = TIME_LIMIT,
) -> Iterator[Answer]:
    """What a process answers, in the order of the items; `versions` receives what it runs with.

    Args:
        limit: seconds an item; one that takes longer, or ends its process, is answered with `timeout`.
    """
    worker = _Worker(command, limit)
    versions.update(worker.versions)
    try:
        for item in items:
            answer = worker.ask(item)
            if answer.status == "timeout":
                worker.stop()
                worker = _Worker(command, limit)
            yield answer
    finally:
        worker.stop()

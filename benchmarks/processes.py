"""`prism run` as a process that benchmarks watch: its workers, its memory and time, and what it leaves behind (Linux).

A run is started with a mark in its environment, which every process that it starts inherits: whoever has the mark when
the run has ended was left over.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
_PROC = Path("/proc")
_MARK = "PRISM_BENCHMARK_MARK"
_TICK = 0.05  # seconds between two looks at a run


class RunError(RuntimeError):
    """A run that should have ended well did not."""


@dataclass(slots=True)
class Run:
    """A `prism run` that is going on.

    Attributes:
        faults: what it and its workers say on standard error. A file, as a pipe would be open as long as any worker.
    """

    process: subprocess.Popen[str]
    mark: str
    faults: IO[str]
    started: float = field(default_factory=time.perf_counter)

    def workers(self) -> list[int]:
        """Process ids of its workers, ascending."""
        return children(self.process.pid)

    def is_over(self) -> bool:
        """Whether it has ended. It is not waited for here: `ended` wants what it has used."""
        found = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return found is not None


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over.

    Attributes:
        code: exit code; negative for a signal.
        said: what it printed as JSON; empty where it was killed.
        fault: the end of what it said on standard error.
        seconds: from start to end by the clock.
        cpu: of the supervisor and all workers that it waited for [s].
        worker_kb: the most memory that one worker held [KiB]; 0 if none was seen.
        own_kb: the same of the supervisor.
    """

    code: int
    said: dict[str, Any]
    fault: str
    seconds: float
    cpu: float
    worker_kb: int
    own_kb: int


def start(
    arguments: Sequence[str | Path],
    *,
    mark: str = "run",
    environment: dict[str, str] | None = None,
    tree: Path = ROOT,
) -> Run:
    """Start `prism run` of a checkout with these arguments."""
    faults = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - `ended` closes it
    process = subprocess.Popen(
        [sys.executable, "-m", "prism", "run", *map(str, arguments), "--json"],
        cwd=tree, env={**os.environ, "PYTHONPATH": str(tree), **(environment or {}), _MARK: mark},
        stdout=subprocess.PIPE, stderr=faults, text=True,
    )  # fmt: skip
    return Run(process, mark, faults)


def ended(run: Run, watch: Callable[[Run], None] = lambda _: None) -> Ended:
    """Wait for a run, and look at it on the way: `watch` is called many times a second while it goes on."""
    highest: dict[int, int] = {}
    own = 0
    while not run.is_over():
        watch(run)
        own = max(own, high_water(run.process.pid))
        for worker in run.workers():
            highest[worker] = max(highest.get(worker, 0), high_water(worker))
        time.sleep(_TICK)
    seconds = time.perf_counter() - run.started
    before = os.times()
    out, _ = run.process.communicate()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    said = json.loads(out) if run.process.returncode == 0 else {}
    with run.faults:
        run.faults.seek(0)
        fault = run.faults.read()[-2000:]
    return Ended(run.process.returncode, said, fault, seconds, cpu, max(highest.values(), default=0), own)


def done(
    arguments: Sequence[str | Path],
    *,
    mark: str = "run",
    environment: dict[str, str] | None = None,
    tree: Path = ROOT,
) -> Ended:
    """A run of a checkout from start to end.

    Errors:
        RunError: it did not end with 0.
    """
    found = ended(start(arguments, mark=mark, environment=environment, tree=tree))
    if found.code:
        raise RunError(f"prism run {' '.join(map(str, arguments))}: exit code {found.code}: {found.fault}")
    return found


def children(pid: int) -> list[int]:
    """Process ids of a process's children, ascending; none if it is gone."""
    found: set[int] = set()
    for path in (_PROC / str(pid) / "task").glob("*/children"):
        try:
            found.update(map(int, path.read_text().split()))
        except OSError:  # a thread that has just ended
            continue
    return sorted(found)


def high_water(pid: int) -> int:
    """The most memory that a process has held [KiB]; 0 if it is gone."""
    return _of_status(pid, "VmHWM:")


def resident(pid: int) -> int:
    """The memory that a process holds [KiB]; 0 if it is gone."""
    return _of_status(pid, "VmRSS:")


def _of_status(pid: int, key: str) -> int:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(key)), 0)


def marked(mark: str) -> list[int]:
    """Processes that were started, at whatever remove, by a run with this mark and that still live."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for path in _PROC.glob("[0-9]*"):
        try:
            has_mark = wanted in (path / "environ").read_bytes().split(b"\0")
            is_dead = has_mark and (path / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:  # gone, or another user's
            continue
        if has_mark and not is_dead:
            found.append(int(path.name))
    return sorted(found)


def seconds_until_gone(mark: str, limit: float) -> float | None:
    """How long processes with a mark go on living [s]; None if some do after the limit."""
    start = time.perf_counter()
    while marked(mark):
        if time.perf_counter() - start > limit:
            return None
        time.sleep(_TICK)
    return time.perf_counter() - start

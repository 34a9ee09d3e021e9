"""What this machine does: grades and answers a second, by the number of workers, on solutions that ship with PRISM.

For the question of who sizes a machine for training: how many workers, and how much memory, do so many rollouts of a
step take within a time? Each solution is graded
once, so that its formulas are new, and once as a group of `GROUP` variants of it, which share most of theirs, as the
samples of one policy on one problem do. The clock decides how much is measured, and no grade.

Refused: the collected responses that `benchmarks/` measures on. They are on no user's machine, and have two to
three times the formulas of a shipped solution.
"""

from __future__ import annotations

import math
import platform
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from zlib import crc32

from prism.engine.kernels import INTERPRETED, forced, warm
from prism.engine.kernels.disk_cache import kept_kernels
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.verifying import with_last_line_boxed
from prism.problem.answers import ANSWER, QUESTION
from prism.problem.collection import load_problems
from prism.problem.schema import Problem
from prism.problem.source import shipped_files
from prism.resources import n_processors
from prism.runs.rollouts import Rollout
from prism.runs.workers import Source, WorkerPool
from prism.version import __version__

ROLLOUTS = 4096  # of a step of training, for which seconds are told
GROUP = 8  # rollouts of one problem in such a step
SECONDS = 60.0  # that all measurements together are to take [s]
_PIECE = re.compile(r"(?:\$\$.*?\$\$|\$[^$]*\$|[^$])+?(?:[.;:]\s+|\n+|\Z)", re.DOTALL)  # a sentence, with its formulas

Chunk = list[tuple[Source, Rollout]]  # what one worker grades one after the other


class Kind(StrEnum):
    """What is measured: verdicts on final answers or whole grades, each response on its own or in groups."""

    ANSWERS = "answers"
    GROUPED_ANSWERS = "answers_in_groups"
    WHOLE = "whole"
    GROUPED_WHOLE = "whole_in_groups"

    @property
    def is_grouped(self) -> bool:
        """True where `GROUP` variants of a response come together."""
        return self in (Kind.GROUPED_ANSWERS, Kind.GROUPED_WHOLE)

    @property
    def is_whole(self) -> bool:
        """True where all nodes are graded, not the final answers alone."""
        return self in (Kind.WHOLE, Kind.GROUPED_WHOLE)


@dataclass(frozen=True, slots=True)
class Pace:
    """How many responses were graded, and how fast.

    Attributes:
        n: responses.
        per_second: the rate of all workers together [1/s].
    """

    n: int
    per_second: float

    @property
    def seconds(self) -> float:
        """Return the seconds that `ROLLOUTS` responses take [s]."""
        return ROLLOUTS / self.per_second

    def to_dict(self) -> dict[str, float]:
        """Return plain values for JSON."""
        return {"graded": self.n, "per_second": round(self.per_second, 3), "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class WorkersRow:
    """What a number of workers does; `megabytes` is the most memory that one of them has held [MB]."""

    workers: int
    paces: dict[Kind, Pace]
    megabytes: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, those of a kind under its name."""
        paces = {kind.value: pace.to_dict() for kind, pace in self.paces.items()}
        return {"workers": self.workers, "worker_megabytes": round(self.megabytes, 1), **paces}


@dataclass(frozen=True, slots=True)
class Needed:
    """The workers that a step of training takes within a time, and the memory of all of them [MB]."""

    workers: int
    megabytes: float

    def to_dict(self) -> dict[str, float]:
        """Return plain values for JSON."""
        return {"workers": self.workers, "megabytes": round(self.megabytes)}


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """What was measured on this machine.

    Attributes:
        compiling: seconds in which the kernels were compiled [s]; None if they were there, or are interpreted.
        loading: seconds in which kernels that were there were loaded [s]; else None.
    """

    compiling: float | None
    loading: float | None
    rows: tuple[WorkersRow, ...]

    def needed(self, rollouts: int, seconds: float) -> dict[Kind, Needed]:
        """Return for each kind how many workers grade so many rollouts within a time.

        Each does what one of the most workers did that were measured, as long as it has a processor of its own.
        """
        row = self.rows[-1]
        found = {}
        for kind, pace in row.paces.items():
            workers = max(1, math.ceil(rollouts * row.workers / (pace.per_second * seconds)))
            found[kind] = Needed(workers, workers * row.megabytes)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with the machine and versions."""
        return {
            "version": __version__, "python": platform.python_version(), "system": platform.system(),
            "machine": platform.machine(), "processors": n_processors(), "rollouts": ROLLOUTS, "group": GROUP,
            "compiling": _rounded(self.compiling), "loading": _rounded(self.loading),
            "rows": [row.to_dict() for row in self.rows],
        }  # fmt: skip


def _rounded(seconds: float | None) -> float | None:
    """Return seconds with two decimals, or None."""
    return None if seconds is None else round(seconds, 2)


def worker_counts(most: int) -> tuple[int, ...]:
    """Return the numbers of workers that are measured: the powers of two below `most`, and `most`.

    >>> worker_counts(1), worker_counts(6), worker_counts(8)
    ((1,), (1, 2, 4, 6), (1, 2, 4, 8))
    """
    return (*(2**k for k in range(most.bit_length()) if 2**k < most), most)


def measure_machine(*, workers: int | None = None, seconds: float = SECONDS) -> MachineSpeed:
    """Measure with 1 worker up to a number of them.

    Args:
        workers: the most; None for one for each processor.
        seconds: that all measurements together are to take, without the start of workers [s].

    Errors:
        PrismError: workers that do not start.
    """
    compiling, loading = _time_kernels()
    counts = worker_counts(workers or n_processors())
    share = seconds / (len(counts) * len(Kind))
    problems = measured_problems()
    rows = tuple(_measure_row(problems, count, share) for count in counts)
    return MachineSpeed(compiling, loading, rows)


def _time_kernels() -> tuple[float | None, float | None]:
    """Load the kernels and return the seconds of compiling and of loading them, one of which is None, or both."""
    if forced() == INTERPRETED:
        return None, None
    were_there = kept_kernels() is not None
    began = time.perf_counter()
    warm()
    taken = time.perf_counter() - began
    return (None, taken) if were_there else (taken, None)


def measured_problems() -> list[Problem]:
    """Return the shipped problems in a fixed order that mixes fields and sizes, as a part of them may be measured."""
    found = [problem for path in shipped_files() for problem in load_problems(path).values()]
    return sorted(found, key=lambda problem: crc32(problem.id.encode()))


def _measure_row(problems: Sequence[Problem], workers: int, seconds: float) -> WorkersRow:
    """Measure all kinds with a number of workers, each for so many seconds."""
    paces: dict[Kind, Pace] = {}
    most = 0.0
    for kind in Kind:
        paces[kind], megabytes = measure_pace(list(measured_chunks(problems, kind)), kind, workers, seconds)
        most = max(most, megabytes)
    return WorkersRow(workers, paces, most)


def measure_pace(chunks: Sequence[Chunk], kind: Kind, workers: int, seconds: float) -> tuple[Pace, float]:
    """Grade chunks in new workers until the seconds are over; return the pace, and the most memory of a worker [MB]."""
    pool = WorkerPool(_graded if kind.is_whole else _verified, workers=workers, training=False)
    try:
        pool.start()
        began = time.perf_counter()
        futures = [future for chunk in chunks for future in pool.submit_chunk(chunk)]
        finished = _finished_within(futures, seconds)
        taken = time.perf_counter() - began
        sizes = [future.result() for future in finished]
    finally:
        pool.stop()
    return Pace(len(sizes), len(sizes) / taken), max((size for size in sizes if isinstance(size, float)), default=0.0)


def _finished_within(futures: Sequence[Future[Any]], seconds: float) -> set[Future[Any]]:
    """Wait so many seconds, or until all are finished; return those that are, at least one."""
    return wait(futures, timeout=seconds).done or wait(futures, return_when=FIRST_COMPLETED).done


def measured_chunks(problems: Sequence[Problem], kind: Kind) -> Iterator[Chunk]:
    """Yield what is graded: first one response of each problem, then the next one of each."""
    most = max(len(problem.students) for problem in problems)
    for place in range(most):
        for problem in problems:
            if place < len(problem.students):
                student = problem.students[place]
                texts = variants(student.solution) if kind.is_grouped else (student.solution,)
                source = problem if kind.is_whole else _answers_of(problem)
                yield [(source, Rollout(problem.id, text, f"{student.name} {k}")) for k, text in enumerate(texts)]


def _answers_of(problem: Problem) -> dict[str, Any]:
    """Return the problem of nothing but the final answers of a problem, as `verify` makes it."""
    golds = [node.latex for node in problem.nodes if node.is_final]
    return {ANSWER: golds, QUESTION: "\n\n".join((problem.statement, *(part.text for part in problem.subquestions)))}


def variants(text: str) -> tuple[str, ...]:
    """Return `GROUP` texts that share most of their formulas: each lacks another share of the pieces of the text.

    >>> variants("One. Two. Three.")[:3]
    ('Two. Three.', 'One. Three.', 'One. Two. ')
    """
    pieces = _PIECE.findall(text)
    return tuple("".join(piece for k, piece in enumerate(pieces) if k % GROUP != out) for out in range(GROUP))


def _graded(prepared: PreparedProblem, rollout: Rollout) -> float:
    """Grade a rollout; return the most memory that this process has held [MB] (the job of a worker)."""
    grade(prepared, rollout.solution)
    return _peak()


def _verified(prepared: PreparedProblem, rollout: Rollout) -> float:
    """Do what `verify` does with a rollout; return the most memory that this process has held [MB]."""
    assert isinstance(rollout.solution, str)
    grade(prepared, with_last_line_boxed(rollout.solution))
    return _peak()


def _peak() -> float:
    """Return the most memory that this process has held [MB]; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0.0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6

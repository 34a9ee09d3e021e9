"""Many rollouts: grades in input order, and runs from file to file that survive being killed at any moment.

A run keeps what is done in append-only shards beside its output, each row with the sha256 of all that decides it. After
a kill the same command with `resume` grades what is not there, and nothing twice. At the end the shards are put
together in input order and moved into place at once, so that an output is whole or not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

from prism.errors import PrismError
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade, Incident
from prism.grading.row import SCHEMA, fingerprint, json_line, score_row
from prism.latex import solution_text
from prism.problem.collection import ProblemSet, load_problems
from prism.problem.schema import Problem
from prism.runs.rollouts import Rollout, Scanned, read, rollouts_of
from prism.runs.score_files import Writer, score_rows, writer_of
from prism.runs.workers import KILL_AFTER, Done, Job, Killed, Task, done_by_workers, done_here

SHARD = 1000  # rollouts of the input whose rows stand in one file
_SCORED = ("ok", "too_large")  # statuses of grades that have a score
_TABS = 3  # between the fields of a row in a shard


@dataclass(frozen=True, slots=True)
class Options:
    """How to grade, the same for all rollouts of a run; see `grading.grade` and `grading.prepare`.

    Attributes:
        formulas: keep the formulas in the rows; without, a row is a hundredth as long.
    """

    thinking: bool = False
    definitions: bool = True
    training: bool = False
    formulas: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run wrote.

    Attributes:
        n: rows.
        n_new: of these graded now; the others were there before.
        statuses: rows by status.
        mean_score: over the rows that have a score; None without any.
        n_final: rows whose final answers are all right.
        n_incident: failures of the grader.
        n_unread, n_undecided: formulas.
    """

    n: int
    n_new: int
    statuses: Mapping[str, int] = field(hash=False)
    mean_score: float | None
    n_final: int
    n_incident: int
    n_unread: int
    n_undecided: int

    @property
    def n_graded(self) -> int:
        """Rows that have a score."""
        return sum(self.statuses.get(status, 0) for status in _SCORED)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rollouts": self.n, "graded_now": self.n_new, "statuses": dict(sorted(self.statuses.items())),
            "mean_score": self.mean_score, "final_correct": self.n_final, "incidents": self.n_incident,
            "unread": self.n_unread, "undecided": self.n_undecided,
        }  # fmt: skip


# Grades. --------------------------------------------------------------------------------------------------------


def grade_many(
    problems: ProblemSet,
    rollouts: Iterable[Rollout | Mapping[str, Any]],
    *,
    workers: int = 0,
    options: Options = Options(),
    kill_after: float = KILL_AFTER,
) -> Iterator[Grade]:
    r"""Grades of many rollouts, in their order.

    Args:
        problems: as `load_problems` takes them; each is prepared once in a process.
        rollouts: `Rollout` values, or records with the usual fields (`problem_id`, `response`, `sample_id` ...). They
            are taken as they are needed.
        workers: processes to start; 0 grades in this one.
        kill_after: seconds that a worker may take for one rollout [s].

    Errors:
        DataFileError: faults of the problems.
        PrismError: a record without solution or of an unknown problem, when it is reached. Never anything about what a
            solution says: of a rollout on which a worker died three times the grade has the status `killed`.

    >>> problem = {"id": "fall", "context": "A stone falls for a time $t$.",
    ...     "subquestions": [{"letter": "a", "subproblem": "Find its speed $v$.", "final_answer_form": "algebraic"}],
    ...     "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}]}
    >>> [grade.score for grade in grade_many(problem, [{"response": "$v = gt$"}, {"response": "$v = 2gt$"}])]
    [1.0, 0.0]
    """
    known = load_problems(problems)
    if workers < 0:
        raise PrismError(f"workers = {workers}: expected 0 or more")
    faults: list[PrismError] = []
    tasks = _up_to_fault(_tasks(known, rollouts_of(iter(rollouts), known)), faults)
    return _in_order(_done(tasks, partial(graded, options=options), options, workers, kill_after), faults)


def graded(prepared: PreparedProblem, rollout: Rollout, *, options: Options) -> Grade:
    """The grade of one rollout. Whatever happens in the grader is an incident of this grade alone."""
    try:
        return grade(
            prepared, rollout.solution, sample_id=rollout.sample_id,
            thinking=options.thinking, definitions=options.definitions,
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001 - the boundary of one rollout: the others go on
        return without_score(prepared.problem, rollout, "internal", f"{type(error).__name__}: {error}")


def without_score(problem: Problem, rollout: Rollout, status: str, detail: str) -> Grade:
    """The grade of a rollout on which the grader failed or was killed."""
    return Grade(
        problem_id=problem.id, sample_id=rollout.sample_id, status=status, score=None, matched=(), credited=(),
        missing=problem.dag.indices, final_correct=False, policies={}, formulas=(), unread=0, undecided=0,
        incidents=(Incident(status, "rollout", detail),),
    )  # fmt: skip


def _killed(task: Task, fate: Killed) -> Grade:
    return without_score(task.problem, task.rollout, "killed", fate.reason)


def row(prepared: PreparedProblem, rollout: Rollout, *, options: Options) -> dict[str, Any]:
    """The score row of one rollout, with the fields of its record that are kept."""
    return _as_row(prepared.problem, rollout, graded(prepared, rollout, options=options), options)


def _as_row(problem: Problem, rollout: Rollout, result: Grade, options: Options) -> dict[str, Any]:
    full = {**score_row(problem, rollout.solution, result), "meta": dict(rollout.meta)}
    return full if options.formulas else {key: value for key, value in full.items() if key != "formulas"}


def _line(prepared: PreparedProblem, rollout: Rollout, *, options: Options) -> bytes:
    return json_line(row(prepared, rollout, options=options))


def _done(tasks: Iterator[Task], job: Job, options: Options, workers: int, kill_after: float) -> Iterator[Done]:
    if workers == 0:
        return done_here(tasks, job, training=options.training)
    return done_by_workers(tasks, job, workers=workers, training=options.training, kill_after=kill_after)


def _tasks(problems: Mapping[str, Problem], rollouts: Iterable[Rollout]) -> Iterator[Task]:
    return (Task(ordinal, one, problems[one.problem_id]) for ordinal, one in enumerate(rollouts))


def _up_to_fault(tasks: Iterator[Task], faults: list[PrismError]) -> Iterator[Task]:
    """Tasks up to a record that cannot be used; it is told when those before it are done."""
    try:
        yield from tasks
    except PrismError as error:
        faults.append(error)


def _in_order(found: Iterator[Done], faults: Sequence[PrismError]) -> Iterator[Grade]:
    early: dict[int, Grade] = {}
    place = 0
    for done in found:
        early[done.task.ordinal] = _killed(done.task, done.result) if isinstance(done.result, Killed) else done.result
        while place in early:
            yield early.pop(place)
            place += 1
    for fault in faults:
        raise fault


# Runs. ----------------------------------------------------------------------------------------------------------


def run(
    problems: Mapping[str, Problem],
    source: Path,
    scanned: Scanned,
    out: Path,
    *,
    options: Options = Options(),
    workers: int = 1,
    kill_after: float = KILL_AFTER,
    resume: bool = False,
    on_done: Callable[[int], None] = lambda _: None,
    does: Callable[[Iterator[Task], Job], Iterator[Done]] | None = None,
) -> Summary:
    """Grade a file of rollouts into a file of score rows, in input order.

    Args:
        problems: by id, as of `load_problems`.
        source, scanned: the input, and what `rollouts.scan` has said of it.
        out: `.jsonl` or `.parquet`.
        workers: processes; 0 grades in this one, and nothing is killed.
        resume: go on with what an earlier run of the same command has left beside `out`.
        on_done: told how many more rollouts are done.
        does: does the tasks, in any order, instead of workers on this machine.

    Errors:
        PrismError: an output of another ending; one that is there already, or what an interrupted run left, without
            `resume`; one that this run would not have written; another run at the same output.
    """
    writer = writer_of(out)
    shards = Shards(out)
    if resume and shards.is_finished():
        return _found_whole(out, _tasks(problems, read(source, scanned.fields, problems)), options, on_done)
    shards.open(resume=resume)
    try:
        tasks = _tasks(problems, read(source, scanned.fields, problems))
        new = _not_done(tasks, shards, options, on_done)
        job = partial(_line, options=options)
        n_new = 0
        for done in does(new, job) if does else _done(new, job, options, workers, kill_after):
            n_new += 1
            shards.append(done.task.ordinal, _key(done.task, options), _line_of(done, options))
            on_done(1)
        summary = _put_together(shards, writer, scanned.n, n_new)
        shards.finish()
    finally:
        shards.close()
    return summary


def _not_done(
    tasks: Iterator[Task], shards: Shards, options: Options, on_done: Callable[[int], None]
) -> Iterator[Task]:
    at, there = -1, dict[int, str]()
    for task in tasks:
        if task.ordinal // SHARD != at:
            at = task.ordinal // SHARD
            there = shards.keys(at)
        if task.ordinal in there and there[task.ordinal] == _key(task, options):
            on_done(1)
        else:
            yield task


def _key(task: Task, options: Options) -> str:
    """sha256 of all that decides a row, but for its place."""
    rollout = task.rollout
    said = solution_text(rollout.solution)
    decides = [
        SCHEMA, fingerprint(), task.problem.sha256, options.thinking, options.definitions, options.training,
        options.formulas, rollout.sample_id, rollout.meta, said.text, said.thinking,
    ]  # fmt: skip
    return hashlib.sha256(json_line(decides)).hexdigest()


def _line_of(done: Done, options: Options) -> bytes:
    if not isinstance(done.result, Killed):
        assert isinstance(done.result, bytes)
        return done.result
    task = done.task
    return json_line(_as_row(task.problem, task.rollout, _killed(task, done.result), options))


def _put_together(shards: Shards, write: Writer, n: int, n_new: int) -> Summary:
    """Write all rows in input order, a shard at a time, and count on the way."""
    tally = _Tally()

    def blocks() -> Iterator[list[bytes]]:
        for at in range(-(-n // SHARD)):
            block = shards.rows(at, min(SHARD, n - at * SHARD))
            for line in block:
                tally.add(json.loads(line))
            yield block

    shards.replace(lambda file: write(file, blocks()))
    return tally.summary(n_new)


def _found_whole(out: Path, tasks: Iterator[Task], options: Options, on_done: Callable[[int], None]) -> Summary:
    """The summary of an output that an earlier run has finished: a kill may have come after its last row.

    Errors:
        PrismError: these tasks would have made another one.
    """
    tally = _Tally()
    for row, task in zip_longest(score_rows(out), tasks):
        if row is None or task is None or not _is_of(row, task, options):
            raise PrismError(f"{out}: is there already, and of another input or grader; remove it, or name another")
        tally.add(row)
        on_done(1)
    return tally.summary(0)


def _is_of(row: Mapping[str, Any], task: Task, options: Options) -> bool:
    expected = _as_row(task.problem, task.rollout, without_score(task.problem, task.rollout, "", ""), options)
    decided = ("grader", "meta", "problem_id", "problem_sha256", "sample_id", "schema", "solution_sha256")
    is_kept = ("formulas" in row) == options.formulas
    return is_kept and all(row.get(name) == expected[name] for name in decided)


class _Tally:
    """Counts rows as they go by."""

    def __init__(self) -> None:
        self._statuses: Counter[str] = Counter()
        self._count: Counter[str] = Counter()
        self._total = 0.0

    def add(self, row: Mapping[str, Any]) -> None:
        self._statuses[row["status"]] += 1
        self._total += row["score"] or 0.0
        self._count["final"] += row["final_correct"]
        self._count["incident"] += len(row["incidents"])
        self._count["unread"] += row["unread"]
        self._count["undecided"] += row["undecided"]

    def summary(self, n_new: int) -> Summary:
        n_scored = sum(self._statuses[status] for status in _SCORED)
        return Summary(
            self._statuses.total(), n_new, dict(self._statuses), round(self._total / n_scored, 6) if n_scored else None,
            self._count["final"], self._count["incident"], self._count["unread"], self._count["undecided"],
        )  # fmt: skip


# Shards. --------------------------------------------------------------------------------------------------------


class Shards:
    """What a run has done so far, in a folder beside its output.

    A line of a shard is the ordinal, the key, the crc32 of the row and the row. Lines are only ever appended, each in
    one write; the last of an ordinal counts. One that is cut short, or damaged, is as if it were not there.
    """

    def __init__(self, out: Path) -> None:
        self._out = out
        self._folder = out.with_name(out.name + ".parts")
        self._gone = out.with_name(out.name + ".parts-done")
        self._lock: IO[bytes] | None = None

    def is_finished(self) -> bool:
        """Whether the output is there, and nothing of a run that has still to put it together."""
        return self._out.exists() and not self._folder.exists()

    def open(self, *, resume: bool) -> None:
        """Make the folder, or take the one that is there.

        Errors:
            PrismError: the output is there; or the folder is, and `resume` is not asked for; another run has it.
        """
        shutil.rmtree(self._gone, ignore_errors=True)
        if self._folder.exists() and not resume:
            raise PrismError(
                f"{self._out}: an interrupted run left {self._folder.name}: resume it, or remove that folder"
            )
        if self.is_finished():
            raise PrismError(f"{self._out}: is there already, and whole; remove it, or name another")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = (self._folder / "lock").open("ab")
        if not _locked(self._lock):
            self._lock.close()
            raise PrismError(f"{self._out}: another run is writing it")
        for path in self._folder.glob("*.rows"):
            _end_last_line(path)

    def keys(self, at: int) -> dict[int, str]:
        """Of each ordinal in a shard that has a row: the key that decided it. A killed rollout is not done."""
        return {ordinal: key for ordinal, (key, line) in self._lines(at).items() if not _is_killed(line)}

    def append(self, ordinal: int, key: str, line: bytes) -> None:
        """Add a row, in one write."""
        with self._path(ordinal // SHARD).open("ab", buffering=0) as file:
            file.write(b"%d\t%s\t%08x\t%s\n" % (ordinal, key.encode(), zlib.crc32(line), line))

    def rows(self, at: int, n: int) -> list[bytes]:
        """All rows of a shard, in the order of the input."""
        there = self._lines(at)
        return [there[ordinal][1] for ordinal in range(at * SHARD, at * SHARD + n)]

    def replace(self, write: Callable[[IO[bytes]], None]) -> None:
        """Write the output beside its place and move it there at once."""
        path = self._folder / "whole"
        with path.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        path.replace(self._out)

    def finish(self) -> None:
        """Remove the folder. It is renamed first: half a folder would be taken for a run to resume."""
        self.close()
        self._folder.replace(self._gone)
        shutil.rmtree(self._gone, ignore_errors=True)

    def close(self) -> None:
        """Let another run have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _path(self, at: int) -> Path:
        return self._folder / f"{at:06}.rows"

    def _lines(self, at: int) -> dict[int, tuple[str, bytes]]:
        path = self._path(at)
        found: dict[int, tuple[str, bytes]] = {}
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            fields = line.split(b"\t", _TABS)
            if len(fields) > _TABS and fields[2] == b"%08x" % zlib.crc32(fields[3]):
                found[int(fields[0])] = (fields[1].decode(), fields[3])
        return found


def _is_killed(line: bytes) -> bool:
    return b'"killed"' in line and json.loads(line)["status"] == "killed"


def _end_last_line(path: Path) -> None:
    """End a line that a kill has cut short, so that the next one is not lost with it."""
    with path.open("rb+") as file:
        if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n":
            file.write(b"\n")


def _locked(file: IO[bytes]) -> bool:
    """Whether this process now holds the lock; the system lets go of it when a process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such lock on this system: two runs at one output are the caller's to avoid
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""Many rollouts: grades in input order, and runs from file to file that survive being killed at any moment.

A run writes finished rows to append-only shards beside its output, each row with the sha256 of all that decides it.
After a kill the same command with `resume` grades what is missing, and nothing twice. At the end the shards are joined
in input order and moved into place in one step, so that an output is either complete or absent.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nlargest
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

from prism.diagnosis.follow_through import FOLLOW_THROUGH, follow_through_of
from prism.errors import PrismError, named_type
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade, Incident
from prism.grading.row import SCHEMA, fingerprint, json_line, row_digests, score_row
from prism.grading.steps import Step
from prism.latex import solution_text
from prism.problem.collection import ProblemSet, check_problems, load_problems
from prism.problem.schema import Problem
from prism.problem.source import PlainProblem
from prism.runs.rollouts import Rollout, Scanned, read, rollouts_of
from prism.runs.score_files import Writer, score_rows, writer_of
from prism.runs.workers import KILL_AFTER, Done, Job, Killed, Task, UnusableProblem, run_in_workers

SHARD = 1000  # rollouts of the input whose rows stand in one file
_SCORED = ("ok", "too_large")  # statuses of grades that have a score
N_DEAREST = 10  # rows that a summary names
_KEPT_DEAREST = 1_000  # rows among which these are looked for at a time
_TABS = 3  # between the fields of a row in a shard


@dataclass(frozen=True, slots=True)
class Options:
    """Options of grading that are the same for all rollouts of a run.

    Attributes:
        follow_through: also the policy of that name, for which each rollout is diagnosed.
        formulas: write the formulas into the rows; without them a row is a hundredth as long.
    """

    thinking: bool = False
    definitions: bool = True
    training: bool = False
    formulas: bool = True
    follow_through: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over the score rows that a run wrote.

    Attributes:
        n: rows.
        n_new: rows graded by this call; the others were in the shards before.
        statuses: rows by status.
        mean_score: over the rows that have a score; None without any.
        n_final: rows whose final answers are all right.
        n_incident: failures of the grader.
        n_unread, n_undecided: formulas.
        n_no_formulas: rows with the flag `no_formulas`: nothing that states anything could be read.
        cost: operations of all rows.
        dearest: the `N_DEAREST` rows that cost most, as (operations, problem id, sample id), dearest first.
        n_skipped: records that were passed over, as no problem has their id; only where that was asked for.
        seconds: of each step, by the clock, over the rows graded by this call and all workers; no part of any row.
    """

    n: int
    n_new: int
    statuses: Mapping[str, int] = field(hash=False)
    mean_score: float | None
    n_final: int
    n_incident: int
    n_unread: int
    n_undecided: int
    n_no_formulas: int
    cost: int
    dearest: tuple[tuple[int, str, str], ...]
    n_skipped: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def n_graded(self) -> int:
        """Number of rows that have a score (status `ok` or `too_large`)."""
        return sum(self.statuses.get(status, 0) for status in _SCORED)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; keys differ from the attributes (`rollouts`, `graded_now` ...)."""
        return {
            "rollouts": self.n, "graded_now": self.n_new, "statuses": dict(sorted(self.statuses.items())),
            "mean_score": self.mean_score, "final_correct": self.n_final, "incidents": self.n_incident,
            "unread": self.n_unread, "undecided": self.n_undecided, "no_formulas": self.n_no_formulas,
            "cost": self.cost, "skipped": self.n_skipped,
            "dearest": [
                {"cost": cost, "problem_id": problem, "sample_id": sample} for cost, problem, sample in self.dearest
            ],
            "seconds": {step: round(seconds, 3) for step, seconds in self.seconds.items()},
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
    r"""Grade many rollouts; yield their grades in input order.

    Args:
        problems: as `load_problems` takes them; each is prepared once in a process.
        rollouts: `Rollout` values, or records with the usual fields (`problem_id`, `response`, `sample_id` ...). They
            are taken as they are needed.
        workers: processes to start; 0 grades in this one.
        kill_after: seconds that a worker may take for one rollout [s].

    Errors:
        DataFileError: faults of the problems.
        PrismError: rollouts that are no series of values; a record without solution or of an unknown problem, when it
            is reached. Never anything about what a solution says: of a rollout on which a worker died three times the
            grade has the status `killed`.

    >>> problem = {"id": "fall", "context": "A stone falls for a time $t$.",
    ...     "subquestions": [{"letter": "a", "subproblem": "Find its speed $v$.", "final_answer_form": "algebraic"}],
    ...     "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}]}
    >>> [grade.score for grade in grade_many(problem, [{"response": "$v = gt$"}, {"response": "$v = 2gt$"}])]
    [1.0, 0.0]
    """
    known = load_problems(problems)
    if isinstance(rollouts, str | bytes | Mapping | Rollout) or not isinstance(rollouts, Iterable):
        several = "expected several records or Rollout values, such as a list; `prism run` reads files"
        raise PrismError(f"rollouts: found {named_type(rollouts)}; {several}")
    if workers < 0:
        raise PrismError(f"workers = {workers}: expected 0 or more")
    faults: list[PrismError] = []
    tasks = _tasks_before_fault(make_tasks(known, rollouts_of(iter(rollouts), known)), faults)
    job = partial(grade_rollout, options=options)
    found = run_in_workers(tasks, job, workers=workers, training=options.training, kill_after=kill_after)
    return _grades_in_order(found, faults)


def grade_rollout(prepared: PreparedProblem, rollout: Rollout, *, options: Options) -> Grade:
    """Grade one rollout; an exception in the grader gives a grade without score, of status `internal`."""
    try:
        found = grade(
            prepared, rollout.solution, sample_id=rollout.sample_id,
            thinking=options.thinking, definitions=options.definitions,
        )  # fmt: skip
        return follow_through_of(prepared, found)[0] if options.follow_through else found
    except Exception as error:  # noqa: BLE001 - the boundary of one rollout: the others go on
        return without_score(prepared.problem, rollout, "internal", f"{type(error).__name__}: {error}")


def without_score(problem: Problem, rollout: Rollout, status: str, detail: str) -> Grade:
    """Return a grade without score; `status` is `internal` (the grader failed) or `killed` (the workers died on it)."""
    return Grade(
        problem_id=problem.id, sample_id=rollout.sample_id, status=status, score=None, matched=(), credited=(),
        missing=problem.dag.indices, final_correct=False, policies={}, formulas=(), unread=0, undecided=0,
        incidents=(Incident(status, "rollout", detail),),
    )  # fmt: skip


def _killed_grade(task: Task, ending: Killed) -> Grade:
    """Return the grade, of status `killed`, for a task on which the workers died."""
    return without_score(task.loaded, task.rollout, "killed", ending.reason)


def grade_to_row(prepared: PreparedProblem, rollout: Rollout, *, options: Options) -> dict[str, Any]:
    """Grade one rollout and return its score row; `meta` holds the fields of its record that are to be copied."""
    return _make_row(prepared.problem, rollout, grade_rollout(prepared, rollout, options=options), options)


def _make_row(problem: Problem, rollout: Rollout, result: Grade, options: Options) -> dict[str, Any]:
    """Return the score row of a grade with the rollout's `meta`; without `formulas` if the options say so."""
    full = {**score_row(problem, rollout.solution, result), "meta": dict(rollout.meta)}
    return full if options.formulas else {key: value for key, value in full.items() if key != "formulas"}


def _grade_to_line(prepared: PreparedProblem, rollout: Rollout, *, options: Options) -> bytes:
    """Grade one rollout and return its score row as a line of JSON (the job of a bulk run's workers)."""
    return json_line(grade_to_row(prepared, rollout, options=options))


def make_tasks(problems: Mapping[str, Problem | PlainProblem], rollouts: Iterable[Rollout]) -> Iterator[Task]:
    """Number the rollouts from 0 and pair each with its problem; a problem id must be in `problems`."""
    return (Task(ordinal, one, problems[one.problem_id]) for ordinal, one in enumerate(rollouts))


def _tasks_before_fault(tasks: Iterator[Task], faults: list[PrismError]) -> Iterator[Task]:
    """Yield tasks until the iterator raises a PrismError; append that to `faults`, for the caller to raise later."""
    try:
        yield from tasks
    except PrismError as error:
        faults.append(error)


def in_input_order(results: Iterable[Done]) -> Iterator[Done]:
    """Yield results that arrive in any order in the order of their tasks, which are numbered from 0."""
    early: dict[int, Done] = {}
    place = 0
    for done in results:
        early[done.task.ordinal] = done
        while place in early:
            yield early.pop(place)
            place += 1


def _grades_in_order(results: Iterator[Done], faults: Sequence[PrismError]) -> Iterator[Grade]:
    """Yield the grades of results that arrive in any order, in the order of their tasks; then raise the first fault."""
    for done in in_input_order(results):
        yield _killed_grade(done.task, done.result) if isinstance(done.result, Killed) else done.result
    for fault in faults:
        raise fault


# Runs. ----------------------------------------------------------------------------------------------------------


def run(
    problems: Mapping[str, Problem | PlainProblem],
    source: Path,
    scanned: Scanned,
    out: Path,
    *,
    options: Options = Options(),
    workers: int = 1,
    kill_after: float = KILL_AFTER,
    resume: bool = False,
    force: bool = False,
    on_done: Callable[[int], None] = lambda _: None,
    run_tasks: Callable[[Iterator[Task], Job], Iterator[Done]] | None = None,
) -> Summary:
    """Grade a file of rollouts into a file of score rows in input order; shards beside the output allow to resume.

    Args:
        problems: by id, as of `load_problems`, or of `list_problems`: then one is loaded by the worker that grades it.
        source, scanned: the input, and the result of `rollouts.scan` on it.
        out: `.jsonl` or `.parquet`.
        workers: processes; 0 grades in this one, and nothing is killed.
        resume: continue from the shards that an earlier run of the same command left beside `out`.
        force: begin anew whatever is there; an output of before stays until the new one is whole. Not with `resume`.
        on_done: called with the number of rollouts that have become done.
        run_tasks: runs the tasks, in any order, instead of workers on this machine.

    Errors:
        PrismError: an output with another ending; an output or shards that exist already, without `resume` or
            `force`; an output that this run would not have written; another run writing the same output.
        DataFileError: faults of the problems that rollouts name, of all of them once one is met.
    """
    writer = writer_of(out, follow_through=options.follow_through)
    shards = Shards(out)
    if resume and shards.is_finished():
        tasks = make_tasks(problems, read(source, scanned.fields, problems))
        return replace(_summary_of_finished(out, tasks, options, on_done), n_skipped=scanned.n_skipped)
    shards.open(resume=resume, force=force)
    try:
        tasks = make_tasks(problems, read(source, scanned.fields, problems))
        new = _unfinished_tasks(tasks, shards, options, on_done)
        job = partial(_grade_to_line, options=options)
        n_new, seconds = 0, Counter[Step]()
        training = options.training
        run_tasks = run_tasks or partial(run_in_workers, workers=workers, training=training, kill_after=kill_after)
        for done in run_tasks(new, job):
            n_new += 1
            seconds.update(done.seconds)
            shards.append(done.task.ordinal, _row_key(done.task, options), _row_line_of_task(done, options))
            on_done(1)
        summary = _join_shards(shards, writer, scanned.n, n_new)
        spent = {step.value: seconds[step] for step in Step if step in seconds}
        summary = replace(summary, n_skipped=scanned.n_skipped, seconds=spent)
        shards.finish()
    except UnusableProblem:
        shards.remove_empty()
        named = {one.problem_id for one in read(source, scanned.fields, problems)}
        check_problems(problem for name, problem in problems.items() if name in named)
        raise  # it can be loaded, and costs too much to be graded with
    finally:
        shards.close()
    return summary


def _unfinished_tasks(
    tasks: Iterator[Task], shards: Shards, options: Options, on_done: Callable[[int], None]
) -> Iterator[Task]:
    """Yield the tasks that have no row of the same key in the shards; call `on_done(1)` for each of the others."""
    at, there = -1, dict[int, str]()
    for task in tasks:
        if task.ordinal // SHARD != at:
            at = task.ordinal // SHARD
            there = shards.keys(at)
        if task.ordinal in there and there[task.ordinal] == _row_key(task, options):
            on_done(1)
        else:
            yield task


def _row_key(task: Task, options: Options) -> str:
    """Return the sha256 over all that decides a row except its position: grader, problem, options, solution, `meta`."""
    rollout = task.rollout
    solution = solution_text(rollout.solution)
    decides = [
        SCHEMA, fingerprint(), task.listed.sha256, options.thinking, options.definitions, options.training,
        options.formulas, rollout.sample_id, rollout.meta, solution.text, solution.thinking,
        *([FOLLOW_THROUGH] if options.follow_through else []),
    ]  # fmt: skip
    return hashlib.sha256(json_line(decides)).hexdigest()


def _row_line_of_task(done: Done, options: Options) -> bytes:
    """Return the score row of a finished task as a line of JSON; a killed task gets a row without score."""
    if not isinstance(done.result, Killed):
        assert isinstance(done.result, bytes)
        return done.result
    task = done.task
    return json_line(_make_row(task.loaded, task.rollout, _killed_grade(task, done.result), options))


def _join_shards(shards: Shards, write: Writer, n: int, n_new: int) -> Summary:
    """Write all `n` rows of the shards to the output in input order and return their counts; `n_new` are new."""
    tally = _Tally()

    def blocks() -> Iterator[list[bytes]]:
        """Yield the rows of each shard as lines of JSON, counted in `tally`."""
        for at in range(-(-n // SHARD)):
            block = shards.rows(at, min(SHARD, n - at * SHARD))
            for line in block:
                tally.add(json.loads(line))
            yield block

    shards.replace(lambda file: write(file, blocks()))
    return tally.summary(n_new)


def _summary_of_finished(out: Path, tasks: Iterator[Task], options: Options, on_done: Callable[[int], None]) -> Summary:
    """Return the counts over an output that an earlier run completed; its rows must belong to these tasks.

    Errors:
        PrismError: these tasks would have made other rows.
    """
    tally = _Tally()
    for row, task in zip_longest(score_rows(out), tasks):
        if row is None or task is None or not _is_row_of(row, task, options):
            why = "is there already, and of another input or grader; --force writes over it, or name another"
            raise PrismError(f"{out}: {why}")
        tally.add(row)
        on_done(1)
    return tally.summary(0)


def _is_row_of(row: Mapping[str, Any], task: Task, options: Options) -> bool:
    """Return True if a row has the grader, problem, solution, ids and `meta` that the row of this task would have."""
    rollout = task.rollout
    expected = {
        **row_digests(task.listed, rollout.solution),
        "meta": dict(rollout.meta), "problem_id": rollout.problem_id, "sample_id": rollout.sample_id,
    }  # fmt: skip
    decided = ("grader", "meta", "problem_id", "problem_sha256", "sample_id", "schema", "solution_sha256")
    is_kept = ("formulas" in row) == options.formulas
    if row.get("score") is not None:
        is_kept &= (FOLLOW_THROUGH in (row.get("policies") or {})) == options.follow_through
    return is_kept and all(row.get(name) == expected[name] for name in decided)


class _Tally:
    """A running count over score rows, from which a `Summary` is made."""

    def __init__(self) -> None:
        """Start all counts at 0."""
        self._statuses: Counter[str] = Counter()
        self._count: Counter[str] = Counter()
        self._total = 0.0
        self._dearest: list[tuple[int, str, str]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one score row."""
        self._statuses[row["status"]] += 1
        self._total += row["score"] or 0.0
        self._count["final"] += row["final_correct"]
        self._count["incident"] += len(row["incidents"])
        self._count["unread"] += row["unread"]
        self._count["undecided"] += row["undecided"]
        self._count["no_formulas"] += "no_formulas" in (row.get("flags") or ())  # rows of old schemas have none
        cost = row.get("cost") or 0  # rows of older schemas have none
        self._count["cost"] += cost
        self._dearest.append((cost, row["problem_id"], row["sample_id"] or ""))
        if len(self._dearest) >= _KEPT_DEAREST:
            self._dearest = nlargest(N_DEAREST, self._dearest)

    def summary(self, n_new: int) -> Summary:
        """Return the counts so far as a `Summary`; `n_new` of the rows were graded by this call."""
        n_scored = sum(self._statuses[status] for status in _SCORED)
        return Summary(
            self._statuses.total(), n_new, dict(self._statuses), round(self._total / n_scored, 6) if n_scored else None,
            self._count["final"], self._count["incident"], self._count["unread"], self._count["undecided"],
            self._count["no_formulas"], self._count["cost"], tuple(nlargest(N_DEAREST, self._dearest)),
        )  # fmt: skip


# Shards. --------------------------------------------------------------------------------------------------------


class Shards:
    """The score rows finished so far, in a folder of append-only files (shards of `SHARD` rollouts) beside the output.

    A line of a shard is the ordinal, the key, the crc32 of the others and the row. Lines are only ever appended, each
    in one write; the last line of an ordinal counts. A line that is cut short or damaged is ignored.
    """

    def __init__(self, out: Path) -> None:
        """Name the folder (`out` with `.parts` appended); nothing is created before `open`."""
        self._out = out
        self._folder = out.with_name(out.name + ".parts")
        self._finished = out.with_name(out.name + ".parts-done")
        self._lock: IO[bytes] | None = None

    def is_finished(self) -> bool:
        """Return True if the output exists and no folder of an unfinished run does."""
        return self._out.exists() and not self._folder.exists()

    def is_unfinished(self) -> bool:
        """Return True if the folder of an unfinished run exists."""
        return self._folder.exists()

    def open(self, *, resume: bool, force: bool = False) -> None:
        """Create the folder, or reuse an existing one, and lock it; with `force` no row in it stays.

        Errors:
            PrismError: without `force`: the output exists, or the folder does and `resume` is False; another run holds
                the lock.
        """
        shutil.rmtree(self._finished, ignore_errors=True)
        if self.is_finished() and not force:
            raise PrismError(
                f"{self._out}: is there already, and whole; --force writes over it, --resume takes over a run of the"
                " same input, or name another"
            )
        was_left = self._folder.exists()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        if was_left and not (resume or force):
            self.close()
            raise PrismError(
                f"{self._out}: an interrupted run left {self._folder.name}: --resume goes on with it, --force begins"
                " anew"
            )
        for path in self._folder.glob("*.rows") if force else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in (self._folder / "whole", *self._folder.glob("*.rows")):
            _set_aside_damaged(path)
        for path in self._folder.glob("*.rows"):
            _end_last_line(path)

    def _take_lock(self) -> None:
        """Lock the folder for this process, and leave its number in the lock for who comes second.

        Errors:
            PrismError: another run holds the lock.
        """
        path = self._folder / "lock"
        _set_aside_damaged(path)
        self._lock = path.open("ab")
        if not _try_lock(self._lock):
            self.close()
            holder = path.read_text("ascii", "replace").strip()
            told = f"another run (process {holder})" if holder.isdigit() else "another run"  # just begun
            raise PrismError(f"{self._out}: {told} is writing it; let it end, or name another output")
        self._lock.truncate(0)
        self._lock.write(b"%d\n" % os.getpid())
        self._lock.flush()

    def keys(self, at: int) -> dict[int, str]:
        """Return the key of each ordinal with a row in shard `at`, without killed rollouts, so that they run again."""
        return {ordinal: key for ordinal, (key, line) in self._last_lines(at).items() if not _is_killed(line)}

    def append(self, ordinal: int, key: str, line: bytes) -> None:
        """Append the score row (`line`, JSON) of a rollout to its shard in one write; `key` is its `_row_key`.

        Errors:
            OSError: also where the disk took a part of the row only.
        """
        path = self._path(ordinal // SHARD)
        row = _shard_line(ordinal, key, line)
        with path.open("ab", buffering=0) as file:
            if file.write(row) != len(row):  # the next row must not follow on half of this one
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def rows(self, at: int, n: int) -> list[bytes]:
        """Return the rows of shard `at`, which has `n`, as lines of JSON in input order.

        Errors:
            PrismError: one is missing, though it was written: the file was damaged meanwhile.
        """
        there = self._last_lines(at)
        wanted = range(at * SHARD, at * SHARD + n)
        if missing := sum(ordinal not in there for ordinal in wanted):
            raise PrismError(f"{self._path(at)}: {missing} of {n} rows were damaged while the run went on; resume it")
        return [there[ordinal][1] for ordinal in wanted]

    def replace(self, write: Callable[[IO[bytes]], None]) -> None:
        """Let `write` fill a new file in the folder, then move that file over the output in one step."""
        path = self._folder / "whole"
        with path.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        path.replace(self._out)

    def finish(self) -> None:
        """Remove the folder. It is renamed first: a half-removed folder would look like a run to resume."""
        self.close()
        self._folder.replace(self._finished)
        shutil.rmtree(self._finished, ignore_errors=True)

    def remove_empty(self) -> None:
        """Remove the folder if no row stands in it: there is nothing to resume."""
        if not any(self._folder.glob("*.rows")):
            self.finish()

    def close(self) -> None:
        """Release the lock on the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _path(self, at: int) -> Path:
        """Return the file of shard `at`, which holds the ordinals from `at * SHARD` on."""
        return self._folder / f"{at:06}.rows"

    def _last_lines(self, at: int) -> dict[int, tuple[str, bytes]]:
        """Return key and row of each ordinal in shard `at`, from its last undamaged line."""
        path = self._path(at)
        found: dict[int, tuple[str, bytes]] = {}
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            fields = line.split(b"\t", _TABS)
            if len(fields) > _TABS and fields[0].isdigit() and fields[2] == _checksum(fields[0], fields[1], fields[3]):
                found[int(fields[0])] = (fields[1].decode(), fields[3])
        return found


def _shard_line(ordinal: int, key: str, row: bytes) -> bytes:
    """Return the line of a shard that holds a score row: ordinal, key, checksum of all, row."""
    place, name = b"%d" % ordinal, key.encode()
    return b"%s\t%s\t%s\t%s\n" % (place, name, _checksum(place, name, row), row)


def _checksum(ordinal: bytes, key: bytes, row: bytes) -> bytes:
    """Return the CRC-32 of the other three fields of a line in a shard, as eight hexadecimal digits."""
    return b"%08x" % zlib.crc32(row, zlib.crc32(b"%s\t%s\t" % (ordinal, key)))


def _is_killed(line: bytes) -> bool:
    """Return True if a score row, given as a line of JSON, has the status `killed`."""
    return b'"killed"' in line and json.loads(line)["status"] == "killed"


def _set_aside_damaged(path: Path) -> None:
    """Rename what cannot be opened as a file, such as a folder of that name; of a file that can be read a copy stays.

    `Shards.finish` removes it with the rest. Rows that cannot be read are graded again.
    """
    is_there = path.exists() or path.is_symlink()  # a link that leads nowhere does not exist
    if not is_there or _is_writable_file(path):
        return
    aside = path.with_name(f"{path.name}.damaged")
    if aside.is_dir():
        shutil.rmtree(aside)
    path.replace(aside)
    if aside.is_file():
        with contextlib.suppress(OSError):
            shutil.copyfile(aside, path)


def _is_writable_file(path: Path) -> bool:
    """Return True if a path is a file that this process may read and write."""
    return path.is_file() and os.access(path, os.R_OK | os.W_OK)


def _end_last_line(path: Path) -> None:
    """Append a newline to a shard whose last line was cut short by a kill, so that the next line stays readable."""
    with path.open("rb+") as file:
        if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n":
            file.write(b"\n")


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file for this process; False if another process has the lock, True where the system has no such locks."""
    try:
        import fcntl
    except ImportError:  # no such lock on this system: two runs at one output are the caller's to avoid
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

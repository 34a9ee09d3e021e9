"""The grading service behind the routes: problems by id or inline, and solutions graded in worker processes.

The event loop does nothing whose time grows with a text: a thread reads JSON and solutions, and the scheduler's workers
load problems and grade. What a worker was killed on is asked for once more, as a row without a score: that needs the
problem, and a problem that kills its worker is refused.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from prism.budget import SOLUTION, trial
from prism.errors import DataFileError, PrismError, named_type
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade
from prism.grading.row import json_line, score_row
from prism.grading.scoring import Scoring, scalars, score_by
from prism.grading.verifying import with_presented_answer
from prism.inputs import did_you_mean
from prism.latex import solution_text
from prism.problem.schema import Problem, read_problem
from prism.problem.source import PlainProblem, node_counts
from prism.rewards.references import gold_problem
from prism.rewards.reward import Rewarded
from prism.runs.bulk import without_score
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, Unprepared, WorkerPool
from prism.server.guard import Limits, RefusedRequest
from prism.server.metrics import Metrics
from prism.server.scheduler import Graded, Piece, Scheduler, most_of_loading, most_operations, processes

T = TypeVar("T")
Listed = Problem | PlainProblem
_INLINE = "problem"  # the name of a problem that came with a request, for messages


def _validate_sample_id(value: Any) -> str | None:
    """Return a sample id as text, None as None; raise ValueError for types other than str and int (for pydantic)."""
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ValueError("expected a text")
    return None if value is None else str(value)


_SOLUTION_SCHEMA = {
    "description": "The text; or chat messages, of which the assistant's are graded; or a list of steps.",
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}],
}

PROBLEM_SCHEMA = {
    "description": "An id in the problem set, or a problem.", "anyOf": [{"type": "string"}, {"type": "object"}],
}  # fmt: skip

ProblemField = Annotated[Any, WithJsonSchema(PROBLEM_SCHEMA)]
SolutionField = Annotated[Any, WithJsonSchema(_SOLUTION_SCHEMA)]
SampleId = Annotated[str | None, PlainValidator(_validate_sample_id, json_schema_input_type=str | int | None)]
Budget = Annotated[int | None, Field(strict=True, ge=1, le=SOLUTION)]


class GradeItem(BaseModel):
    """One solution to grade.

    Attributes:
        problem: an id in the problem set, or the problem itself.
        solution: text, chat messages or steps; its shape is checked when it is graded.
        sample_id: kept in the score row; by default the number of the solution in its request, from 1.
        budget: operations that it may cost, fewer than PRISM allows; beyond, its row says `too_large`.
    """

    model_config = ConfigDict(extra="forbid")
    problem: ProblemField
    solution: SolutionField
    sample_id: SampleId = None
    budget: Budget = None


@dataclass(frozen=True, slots=True)
class GradedItem:
    """The score row and the reward of one graded solution.

    Attributes:
        row: its score row, as a line of JSON.
        reward: without the grade, which is in the row.
    """

    row: bytes
    reward: Rewarded


@dataclass(frozen=True, slots=True)
class _ReadSolution:
    """What is known of a solution before it is graded: its length, a digest, and why it cannot be one (or empty)."""

    n_character: int
    digest: bytes
    fault: str


class _UnknownProblem(PrismError):
    """Raised for an id that is not in the problem set."""

    def __init__(self, problem_id: str, n: int) -> None:
        """Store the id; `n` is the number of problems."""
        super().__init__(f"no id {problem_id[:80]!r} among {n}")
        self.problem_id = problem_id


class GradingService:
    """The grading behind the HTTP routes: a scheduler of workers, and a thread that reads."""

    def __init__(
        self, problems: Mapping[str, Listed], scoring: Scoring, limits: Limits, workers: int, thinking: bool,
        metrics: Metrics,
    ) -> None:  # fmt: skip
        """Store the settings; `start` starts the worker processes. With `workers` 0 a thread of this process grades."""
        self.problems = {  # by their ids in messages too: a client has no business with files
            name: replace(each, name=name) if isinstance(each, PlainProblem) else each
            for name, each in problems.items()
        }
        self.scoring = scoring
        self.limits = limits
        self.workers = workers
        self._pool = WorkerPool(
            partial(_grade_item, scoring=scoring, thinking=thinking),
            workers=processes(workers), training=scoring.needs_training, kill_after=limits.kill_after, prepares=True,
        )  # fmt: skip
        self.scheduler = Scheduler(self._pool, limits, workers, metrics)
        self._json_thread = ThreadPoolExecutor(1, "prism reading")

    @property
    def is_ready(self) -> bool:
        """True if solutions are accepted: the workers run and have loaded the kernels."""
        return self._pool.is_ready

    def start(self) -> None:
        """Start the worker processes and load the kernels."""
        self._pool.start()

    def stop(self) -> None:
        """Stop the workers; solutions that wait to be graded are dropped."""
        self._pool.stop()
        self._json_thread.shutdown(wait=False, cancel_futures=True)

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return `function(*arguments)`, run in the JSON thread: for work whose time grows with the size of a body."""
        return await asyncio.get_running_loop().run_in_executor(self._json_thread, function, *arguments)

    async def grade_items(self, client: str, items: Sequence[GradeItem], places: Sequence[str]) -> list[GradedItem]:
        """Grade all items of a request and return their outcomes in order.

        Args:
            client: who asks.
            places: prefix of each item's faults, as `items[0].`.

        Errors:
            RefusedRequest: all faults of their problems and of the shapes of their solutions.
        """
        problems: list[Listed] = []
        faults: list[str] = []
        n_unknown = 0
        read = await self.in_thread(_read_solutions, items)
        for item, known, place in zip(items, read, places, strict=True):
            try:
                problems.append(await self._find_problem(item.problem))
            except _UnknownProblem as error:
                near = "" if n_unknown else await self.in_thread(did_you_mean, error.problem_id, self.problems)
                n_unknown += 1  # a near id is looked for once: it takes a time that grows with their number
                faults.append(f"{place}problem: {error}{near}")
            except PrismError as error:
                lines = error.faults if isinstance(error, DataFileError) else str(error).split("\n")
                faults += [f"{place}problem: {fault}" for fault in lines]
            if known.fault:
                faults.append(f"{place}{known.fault}")
        if faults:
            raise RefusedRequest(404 if n_unknown == len(faults) else 422, faults)
        graded = await self._grade(client, list(zip(problems, items, read, strict=True)))
        lines = [
            f"{place if _is_inline(problem) else ''}{line}"
            for place, problem, each in zip(places, problems, graded, strict=True)
            if isinstance(each, Unprepared)
            for line in _fault_lines(each.fault)
        ]
        if lines:
            raise RefusedRequest(422, list(dict.fromkeys(lines)))
        return [each for each in graded if isinstance(each, GradedItem)]

    async def row_items(self, rows: Sequence[tuple[Any, Any]]) -> list[GradeItem]:
        """Return the items of a framework's rows, each a reference, which may be a gold answer, and a solution."""
        read = await self.in_thread(self._with_golds, rows)
        return [GradeItem(problem=one, solution=text, sample_id=str(k)) for k, (one, text) in enumerate(read, start=1)]

    def _with_golds(self, rows: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Return rows, of those with a gold answer its problem, and their solution with its answer in a box."""
        golds = [gold_problem(reference, self.problems) for reference, _ in rows]
        return [
            row if gold is None else (gold.data, with_presented_answer(row[1]))
            for row, gold in zip(rows, golds, strict=True)
        ]

    async def reward_items(self, client: str, items: Sequence[GradeItem]) -> list[Rewarded]:
        """Return the reward of each item; its value is None for an unusable problem, 0 for an unusable solution."""
        rewards: list[Rewarded | None] = []
        usable: list[tuple[Listed, GradeItem, _ReadSolution]] = []
        for item, known in zip(items, await self.in_thread(_read_solutions, items), strict=True):
            try:
                problem = await self._find_problem(item.problem)
            except PrismError as error:
                rewards.append(_bad_reference(error))
                continue
            if known.fault:
                rewards.append(Rewarded(0.0, scalars(None, bad_solution=True), None, known.fault))
                continue
            rewards.append(None)
            usable.append((problem, item, known))
        graded = (
            _bad_reference(each.fault) if isinstance(each, Unprepared) else each.reward
            for each in await self._grade(client, usable)
        )
        return [next(graded) if each is None else each for each in rewards]

    async def _grade(
        self, client: str, usable: Sequence[tuple[Listed, GradeItem, _ReadSolution]]
    ) -> list[GradedItem | Unprepared]:
        """Grade items in the workers, in order; where this is cancelled, as its client has gone, they are too.

        Errors:
            RefusedRequest: too much work is waiting (429); the workers do not start (503).
        """
        loop, request = asyncio.get_running_loop(), self.scheduler.clients.request(client)
        loaded: set[str] = set()
        pieces = []
        for problem, item, known in usable:
            n_nodes = _node_counts(problem)
            bound = most_operations(known.n_character, item.budget, n_nodes)
            if _is_inline(problem) and problem.sha256 not in loaded:
                loaded.add(problem.sha256)
                bound += most_of_loading(n_nodes)
            rollout = Rollout(problem.id, item.solution, item.sample_id or "1")
            digest = problem.sha256.encode() + known.digest
            pieces.append(Piece(request, problem, rollout, digest, bound, item.budget, loop.create_future()))
        self.scheduler.admit(request, [piece.bound for piece in pieces])
        results = await self._results(pieces)
        again = [
            replace(piece, killed=result.reason, bound=0, outcome=loop.create_future())
            for piece, result in zip(pieces, results, strict=True)
            if isinstance(result, Killed)
        ]
        rows = iter(await self._results(again))
        return [_outcome(next(rows) if isinstance(result, Killed) else result) for result in results]

    async def _results(self, pieces: Sequence[Piece]) -> list[Any]:
        """Return what the workers make of admitted pieces, each a value for its client or `Killed`.

        Errors:
            RefusedRequest: the workers do not start (503).
        """
        self.scheduler.submit(*pieces)
        try:
            return await asyncio.gather(*(piece.outcome for piece in pieces))
        except PrismError as error:
            raise RefusedRequest(503, [str(error)]) from error
        finally:
            for piece in pieces:
                piece.outcome.cancel()

    async def _find_problem(self, reference: Any) -> Listed:
        """Return the problem of an id in the problem set, or an inline one (JSON object or text), read and not loaded.

        Errors:
            DataFileError: an inline problem with faults.
            _UnknownProblem: an id that is not in the problem set.
            PrismError: a value of another type.
        """
        if isinstance(reference, int) and not isinstance(reference, bool):
            reference = str(reference)
        if isinstance(reference, str) and reference in self.problems:
            return self.problems[reference]
        is_text = isinstance(reference, str) and reference.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")  # never a path
        if isinstance(reference, str) and not is_text:
            raise _UnknownProblem(reference, len(self.problems))
        if not isinstance(reference, str | dict):
            raise PrismError(f"found {named_type(reference)}; expected an id, or a problem as an object")
        return await self.in_thread(_read_inline, reference, self.limits.problem)


def _outcome(result: Any) -> GradedItem | Unprepared:
    """Return the outcome of an item; without even a row that has no score, its problem cannot be used."""
    if isinstance(result, Killed):
        return Unprepared(DataFileError(_INLINE, (f"cannot be loaded: the process that did it {result.reason}",)))
    assert isinstance(result, GradedItem | Unprepared)
    return result


def _fault_lines(error: PrismError) -> list[str]:
    """Return the faults of a problem, a line each."""
    if isinstance(error, DataFileError):
        return [f"{error.file}: {fault}" for fault in error.faults]
    return str(error).split("\n")


def _is_inline(problem: Listed) -> bool:
    """Return True for a problem that came with a request."""
    return isinstance(problem, PlainProblem) and problem.name == _INLINE


def _node_counts(problem: Listed) -> tuple[int, ...]:
    """Return the number of nodes of each reference DAG of a problem."""
    if isinstance(problem, PlainProblem):
        return node_counts(problem.data or {})
    return tuple(len(each.nodes) for each in (problem, *problem.alternatives))


def _bad_reference(error: PrismError) -> Rewarded:
    """Return the reward, without value, of an item whose problem cannot be used."""
    return Rewarded(None, scalars(None, bad_reference=True), None, str(error))


def _read_inline(source: str | dict[str, Any], longest: int) -> PlainProblem:
    """Return an inline problem as plain data.

    Errors:
        DataFileError: what is wrong with it, as far as no formula is read.
    """
    try:
        text = source if isinstance(source, str) else json.dumps(source, sort_keys=True)
        if len(text) > longest:
            fault = f"is longer than {longest} characters; put it into the problem set"
            raise DataFileError(_INLINE, (fault,))
        return replace(read_problem(source), name=_INLINE)
    except RecursionError as error:
        raise DataFileError(_INLINE, ("is nested too deep",)) from error


def _read_solutions(items: Sequence[GradeItem]) -> list[_ReadSolution]:
    """Return what is known of each item's solution before it is graded."""
    return [_read_solution(item.solution) for item in items]


def _read_solution(solution: Any) -> _ReadSolution:
    """Return what is known of a solution before it is graded; it may be a value that is none."""
    try:
        text = solution_text(solution).text
    except PrismError as error:
        return _ReadSolution(0, b"", str(error))
    return _ReadSolution(len(text), sha256(text.encode("utf-8", "surrogatepass")).digest(), "")


def _grade_item(
    prepared: Callable[[], PreparedProblem], rollout: Rollout, *, budget: int | None, tried: int | None, killed: str,
    scoring: Scoring, thinking: bool,
) -> Graded:  # fmt: skip
    """Load the problem and grade one solution, for its row and reward (the job of the worker processes).

    Args:
        tried: operations really done after which either is given up; None for all that it takes.
        killed: how the workers ended that were at it before: the row says so, and nothing is graded; or empty.
    """
    most = math.inf if tried is None else tried
    with trial(most) as loading:
        problem = _prepared_or_fault(prepared)
    if loading.is_over:
        return Graded(None, loading.done, is_over=True)
    if isinstance(problem, Unprepared):
        return Graded(problem, loading.done)
    if killed:
        lost = without_score(problem.problem, rollout, "killed", killed)
        return Graded(_make_graded_item(problem.problem, rollout, lost, scoring), loading.done)
    with trial(most) as attempt:
        try:
            result = grade(problem, rollout.solution, sample_id=rollout.sample_id, thinking=thinking, budget=budget)
        except Exception as error:  # noqa: BLE001 - the boundary of one solution: the others go on
            result = without_score(problem.problem, rollout, "internal", f"{type(error).__name__}: {error}")
    done = loading.done + attempt.done
    if attempt.is_over:
        return Graded(None, done, is_over=True)
    return Graded(_make_graded_item(problem.problem, rollout, result, scoring), done)


def _prepared_or_fault(prepared: Callable[[], PreparedProblem]) -> PreparedProblem | Unprepared:
    """Return the prepared problem, or what is wrong with it."""
    try:
        return prepared()
    except PrismError as error:
        return Unprepared(error)
    except Exception as error:  # noqa: BLE001 - the boundary of one problem: whatever is in it, the others go on
        return Unprepared(DataFileError(_INLINE, (f"cannot be read: {type(error).__name__}",)))


def _make_graded_item(problem: Problem, rollout: Rollout, result: Grade, scoring: Scoring) -> GradedItem:
    """Return the row and the reward of a grade."""
    row = json_line(score_row(problem, rollout.solution, result))
    return GradedItem(row, Rewarded(score_by(scoring, result), scalars(result), None))

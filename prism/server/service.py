"""The grading service behind the routes: problems by id or inline, and solutions graded in worker processes."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, PlainValidator, WithJsonSchema

from prism.errors import DataFileError, PrismError, named_type
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade
from prism.grading.row import json_line, score_row
from prism.grading.scoring import Scoring, scalars, score_by
from prism.latex import solution_text
from prism.problem.schema import Problem, load_problem
from prism.rewards.reward import Rewarded
from prism.runs.bulk import Options, grade_rollout, without_score
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, WorkerPool
from prism.server.guard import Limits, RefusedRequest

T = TypeVar("T")
_KEPT_INLINE = 512  # inline problems that are kept loaded; a trainer sends the same ones over and over


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


class GradeItem(BaseModel):
    """One solution to grade.

    Attributes:
        problem: an id in the problem set, or the problem itself.
        solution: text, chat messages or steps; its shape is checked when it is graded.
        sample_id: kept in the score row; by default the number of the solution in its request, from 1.
    """

    model_config = ConfigDict(extra="forbid")
    problem: ProblemField
    solution: SolutionField
    sample_id: SampleId = None


@dataclass(frozen=True, slots=True)
class GradedItem:
    """The score row and the reward of one graded solution.

    Attributes:
        row: its score row, as a line of JSON.
        reward: without the grade, which is in the row.
    """

    row: bytes
    reward: Rewarded


class _UnknownProblem(PrismError):
    """Raised for an id that is not in the problem set."""


class GradingService:
    """The grading behind the HTTP routes: worker processes grade, one thread parses JSON, one loads inline problems."""

    def __init__(
        self, problems: Mapping[str, Problem], scoring: Scoring, limits: Limits, workers: int, thinking: bool
    ) -> None:
        """Store the settings; `start` starts the worker processes. With `workers` 0 a thread of this process grades."""
        self.problems = problems
        self.scoring = scoring
        self.limits = limits
        self.workers = workers
        options = Options(thinking=thinking, training=scoring.needs_training)
        self._pool = WorkerPool(
            partial(_grade_item, scoring=scoring, options=options),
            workers=workers, training=scoring.needs_training, kill_after=limits.kill_after,
        )  # fmt: skip
        self._json_thread = ThreadPoolExecutor(1, "prism reading")
        self._load_thread = ThreadPoolExecutor(1, "prism loading")
        self._inline: OrderedDict[str, Problem | tuple[str, ...]] = OrderedDict()

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
        for pool in (self._json_thread, self._load_thread):
            pool.shutdown(wait=False, cancel_futures=True)

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return `function(*arguments)`, run in the JSON thread: for work whose time grows with the size of a body."""
        return await asyncio.get_running_loop().run_in_executor(self._json_thread, function, *arguments)

    async def grade_items(self, items: Sequence[GradeItem], places: Sequence[str]) -> list[GradedItem]:
        """Grade all items of a request and return their outcomes in order.

        Args:
            places: prefix of each item's faults, as `items[0].`.

        Errors:
            RefusedRequest: all faults of their problems and of the shapes of their solutions.
        """
        problems: list[Problem] = []
        faults: list[str] = []
        n_unknown = 0
        for item, place in zip(items, places, strict=True):
            try:
                problems.append(await self._find_problem(item.problem))
            except _UnknownProblem as error:
                n_unknown += 1
                faults.append(f"{place}problem: {error}")
            except PrismError as error:
                lines = error.faults if isinstance(error, DataFileError) else str(error).split("\n")
                faults += [f"{place}problem: {fault}" for fault in lines]
            if fault := _solution_fault(item.solution):
                faults.append(f"{place}{fault}")
        if faults:
            raise RefusedRequest(404 if n_unknown == len(faults) else 422, faults)
        return await self._grade(zip(problems, items, strict=True))

    async def reward_items(self, items: Sequence[GradeItem]) -> list[Rewarded]:
        """Return the reward of each item; its value is None for an unusable problem, 0 for an unusable solution."""
        rewards: list[Rewarded | None] = []
        usable: list[tuple[Problem, GradeItem]] = []
        for item in items:
            try:
                problem = await self._find_problem(item.problem)
            except PrismError as error:
                rewards.append(Rewarded(None, scalars(None, bad_reference=True), None, str(error)))
                continue
            if fault := _solution_fault(item.solution):
                rewards.append(Rewarded(0.0, scalars(None, bad_solution=True), None, fault))
                continue
            rewards.append(None)
            usable.append((problem, item))
        graded_items = iter(await self._grade(usable))
        return [next(graded_items).reward if each is None else each for each in rewards]

    async def _grade(self, pairs: Iterable[tuple[Problem, GradeItem]]) -> list[GradedItem]:
        """Grade items in the workers, in order.

        Errors:
            RefusedRequest: the workers do not start (503).
        """
        rollouts = [(problem, Rollout(problem.id, item.solution, item.sample_id or "1")) for problem, item in pairs]
        try:
            futures = [asyncio.wrap_future(self._pool.submit(*each)) for each in rollouts]
            results = await asyncio.gather(*futures)
        except PrismError as error:
            raise RefusedRequest(503, [str(error)]) from error
        return [
            self._killed_item(problem, rollout, result.reason) if isinstance(result, Killed) else result
            for (problem, rollout), result in zip(rollouts, results, strict=True)
        ]

    def _killed_item(self, problem: Problem, rollout: Rollout, reason: str) -> GradedItem:
        """Return the outcome of a solution that killed its workers: a row of status `killed`, without score."""
        return _make_graded_item(problem, rollout, without_score(problem, rollout, "killed", reason), self.scoring)

    async def _find_problem(self, reference: Any) -> Problem:
        """Return the loaded problem for an id in the problem set or for an inline problem (JSON object or text).

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
            raise _UnknownProblem(f"no id {reference[:80]!r} among {len(self.problems)}")
        if not isinstance(reference, str | dict):
            raise PrismError(f"found {named_type(reference)}; expected an id, or a problem as an object")
        found = await asyncio.get_running_loop().run_in_executor(self._load_thread, self._load_inline, reference)
        if isinstance(found, tuple):
            raise DataFileError("problem", found)
        return found

    def _load_inline(self, source: str | dict[str, Any]) -> Problem | tuple[str, ...]:
        """Load an inline problem, or return its faults as a tuple; the last `_KEPT_INLINE` used are cached."""
        try:
            text = source if isinstance(source, str) else json.dumps(source, sort_keys=True)
        except RecursionError:
            return ("is nested too deep",)
        if len(text) > self.limits.problem:
            return (f"is longer than {self.limits.problem} characters; put it into the problem set",)
        key = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        found = self._inline.pop(key, None)
        if found is None:
            found = _load_or_faults(source)
        self._inline[key] = found
        if len(self._inline) > _KEPT_INLINE:
            self._inline.popitem(last=False)
        return found


def _load_or_faults(source: str | dict[str, Any]) -> Problem | tuple[str, ...]:
    """Load a problem; return its faults as a tuple of texts if it cannot be used."""
    try:
        return load_problem(source)
    except DataFileError as error:
        return error.faults
    except Exception as error:  # noqa: BLE001 - whatever is in it, the server goes on
        return (f"cannot be read: {type(error).__name__}",)


def _solution_fault(solution: Any) -> str:
    """Return why a value cannot be a solution (no text, messages or steps); empty if it can be one."""
    try:
        solution_text(solution)
    except PrismError as error:
        return str(error)
    return ""


def _grade_item(prepared: PreparedProblem, rollout: Rollout, *, scoring: Scoring, options: Options) -> GradedItem:
    """Grade one solution and return its row and reward (the job of the worker processes)."""
    return _make_graded_item(prepared.problem, rollout, grade_rollout(prepared, rollout, options=options), scoring)


def _make_graded_item(problem: Problem, rollout: Rollout, result: Grade, scoring: Scoring) -> GradedItem:
    """Return the row and the reward of a grade."""
    row = json_line(score_row(problem, rollout.solution, result))
    return GradedItem(row, Rewarded(score_by(scoring, result), scalars(result), None))

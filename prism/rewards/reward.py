r"""One reward: what a solution is worth against its reference, as a number, with named numbers for a log.

The doors of the frameworks all call this object. It chooses a scoring and computes nothing: `prism.grade` does.

>>> problem = {"id": "f", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
...            "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}]}
>>> reward = Reward("closure")
>>> reward(problem, r"Newton: $a = \frac{F}{m}$").value
1.0
>>> reward("nowhere.toml", "$a = 1$").value is None
True
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

from prism.engine.kernels import warm
from prism.errors import PrismError, noted
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem
from prism.grading.prepared_cache import PreparedCache, Reference
from prism.grading.result import Grade
from prism.grading.scoring import SCALARS, Scoring, StepCredit, reward_scoring, scalars, score_by, step_credits
from prism.grading.verifying import with_presented_answer
from prism.latex import solution_text
from prism.problem.collection import ProblemSet, list_problems, problems_by_id
from prism.rewards.references import gold_problem, hint_of
from prism.rewards.worker_rows import RewardWorkers, Row, sendable
from prism.runs.rollouts import Rollout
from prism.runs.workers import Killed, Unprepared

KEPT = 1024  # prepared problems; one takes some 100 kB
_SHOWN_NAMES = 500  # characters


@dataclass(frozen=True, slots=True)
class Rewarded:
    """The reward of one solution, with its grade and the named numbers (scalars) that frameworks log.

    Attributes:
        value: the number; None only if the reference cannot be used. A solution without a shape that can be graded is
            worth 0: were it worth nothing to a trainer, a model could learn to write none.
        scalars: named numbers, the same keys of `scoring.SCALARS` every time.
        grade: None where there is no value, or the grader failed.
        fault: what is wrong, where grade is None.
        steps: what each formula earned, in the order of the text: for rewards of single steps. They sum to the score.
    """

    value: float | None
    scalars: Mapping[str, float]
    grade: Grade | None
    fault: str = ""
    steps: tuple[StepCredit, ...] = ()


class Reward:
    """A callable that grades a solution against a reference and returns a `Rewarded`; a call never raises.

    Without workers it starts no process and no thread, sets no signal and looks at no clock. With `workers=n` a batch
    is handed to n processes, which are started at the first row, die with this one however it ends, and are stopped by
    `close`, by the end of a `with` block, or at exit; the rewards are the same, in the same order. Either may be called
    from many threads, and pickled: the copy has the problem set, prepares anew, and starts workers of its own.

    Attributes:
        scoring: what it pays for.
        thinking: whether formulas before the end of a thinking block count.
        ready: the problem set, and the problems that were prepared in this process.
        workers: processes that grade; 0 for this one.
        told: what the doors of frameworks have warned of, in the name of this reward.
    """

    __slots__ = ("_workers", "ready", "scoring", "thinking", "warned", "workers")

    def __init__(
        self,
        scoring: str | Mapping[str, float] | Scoring = "closure",
        *,
        problems: ProblemSet | None = None,
        thinking: bool = False,
        paths: bool = True,
        kept: int = KEPT,
        workers: int = 0,
    ) -> None:
        """Check all arguments and read the problem set; without workers load the numerical kernels.

        A problem is loaded when a row names it; one with faults is then a bad reference.

        Args:
            scoring: a name of `scoring.PARTS`, or names with weights from 0 on. The value is the weighted sum, and
                nothing scales it: weights that sum to 1 keep it in [0, 1].
            problems: what ids stand for: ids with problems, a folder of problem files, or a list of problems.
            thinking: also count formulas before the end of a thinking block.
            paths: a reference may be a path; say no where references come from strangers.
            kept: how many prepared problems each process is to keep.
            workers: processes that grade; 0 grades in the calling process.

        Errors:
            PrismError: all that is wrong with these, at once.
        """
        faults: list[str] = []
        chosen, by_id = None, None
        with noted(faults):
            chosen = reward_scoring(scoring)
        with noted(faults):
            by_id = problems_by_id(problems, list_problems)
        faults += [
            f"{name}: {value!r} is neither True nor False"
            for name, value in (("thinking", thinking), ("paths", paths))
            if not isinstance(value, bool)
        ]
        faults += [
            f"{name}: {value!r} is no number of {things} from {least} on"
            for name, value, things, least in (("kept", kept, "problems", 1), ("workers", workers, "processes", 0))
            if not isinstance(value, int) or isinstance(value, bool) or value < least
        ]
        if faults or chosen is None or by_id is None:
            raise PrismError("\n".join(faults))
        self.scoring = chosen
        self.thinking = thinking
        self.ready = PreparedCache(by_id, size=kept, training=chosen.needs_training, paths=paths)
        self.workers = workers
        self.warned: set[str] = set()
        self._workers: RewardWorkers | None = None
        if workers:
            job = partial(_reward_rollout, scoring=chosen, thinking=thinking)
            self._workers = RewardWorkers(job, workers=workers, training=chosen.needs_training, kept=kept)
        else:
            warm()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only; the copy loads kernels and prepares problems anew."""
        ready = self.ready
        return _rebuild_reward, (self.scoring, ready.by_id, self.thinking, ready.paths, ready.size, self.workers)

    def __enter__(self) -> Self:
        """Start the workers, if there are to be any, and return the reward.

        Errors:
            PrismError: processes that do not start.
        """
        if self._workers is not None:
            self._workers.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the workers."""
        self.close()

    def close(self) -> None:
        """End the workers, if any, and wait for their end; a later call starts new ones."""
        if self._workers is not None:
            self._workers.close()

    def __call__(self, reference: Reference | None, solution: object, *, sample_id: str | None = None) -> Rewarded:
        """Grade one solution against a reference solution DAG and return its reward.

        Args:
            reference: a path, a dictionary, a JSON string, an id in the problem set (without one, of a shipped
                problem), a problem, or a gold answer (`references`): a text, a number, a parsed formula, or a list of
                these. Anything else is a bad reference, and the value is None.
            solution: a text, chat messages or a list of steps.
            sample_id: kept in the grade.

        Errors:
            PrismError: workers that do not start. Never anything about the row.
        """
        return self.submit(reference, solution, sample_id=sample_id).result()

    def many(self, references: Iterable[Any], solutions: Iterable[Any]) -> list[Rewarded]:
        """Grade the rows of a batch, by the workers if there are any, and return their rewards, in order.

        Errors:
            PrismError: workers that do not start; lists of two lengths. Never anything about a row.
        """
        references, solutions = list(references), list(solutions)
        if len(references) != len(solutions):
            raise PrismError(f"references: {len(references)}; solutions: {len(solutions)}; expected as many")
        rows = list(zip(references, solutions, strict=True))
        if self._workers is None:
            return [self._here(*row, None) for row in rows]
        sent = [self._sendable(*row) for row in rows]
        futures = self._workers.submit([row for row in sent if row is not None], {})
        try:
            here = [self._here(*row, None) if to is None else None for row, to in zip(rows, sent, strict=True)]
            there = iter(futures)
            return [_reward_of_result(next(there).result()) if each is None else each for each in here]
        finally:
            for future in futures:  # of an interrupted batch; what is done is not changed by it
                future.cancel()

    def submit(self, reference: Any, solution: object, *, sample_id: str | None = None) -> Future[Rewarded]:
        """Hand one solution to a worker and return the future of its reward; without workers it is graded first.

        `asyncio.wrap_future` makes it awaitable. Arguments and errors are those of a call.
        """
        row = None if self._workers is None else self._sendable(reference, solution)
        if self._workers is None or row is None:
            done: Future[Rewarded] = Future()
            done.set_result(self._here(reference, solution, sample_id))
            return done
        (sent,) = self._workers.submit([row], {"sample_id": sample_id})
        rewarded: Future[Rewarded] = Future()
        sent.add_done_callback(partial(_pass_on, rewarded))
        return rewarded

    def _sendable(self, reference: Any, solution: object) -> Row | None:
        """Return a row as it is sent to a worker; None if it has a bad reference or cannot be sent."""
        try:
            reference, solution = self._with_gold(reference, solution)
            source = reference if isinstance(reference, PreparedProblem) else self.ready.source(reference)
            return sendable(source, solution)
        except Exception:  # noqa: BLE001 - whatever it is, the row is graded here, and its reward says so
            return None

    def _here(self, reference: Any, solution: object, sample_id: str | None) -> Rewarded:
        """Grade one solution in this process; arguments as of a call."""
        try:
            read, solution = self._with_gold(reference, solution)
            prepared = self.ready.get(read)
        except Exception as error:  # noqa: BLE001 - whatever a row of data holds, a training run goes on
            return _bad_reference(error, hint_of(reference, self.ready.by_id))
        return _reward_prepared(prepared, solution, scoring=self.scoring, thinking=self.thinking, sample_id=sample_id)

    def _with_gold(self, reference: Any, solution: Any) -> tuple[Any, Any]:
        """Return a row with the problem of its gold answer, and the answer of its solution in a box; others as is."""
        gold = gold_problem(reference, self.ready.by_id)
        return (reference, solution) if gold is None else (gold, with_presented_answer(solution))


def _reward_prepared(
    prepared: PreparedProblem, solution: Any, *, scoring: Scoring, thinking: bool, sample_id: str | None
) -> Rewarded:
    """Return the reward of one solution; a failure of the grader pays nothing, and the scalars say so."""
    try:
        solution_text(solution)
    except Exception as error:  # noqa: BLE001 - whatever a row of data holds, a training run goes on
        return Rewarded(0.0, scalars(None, bad_solution=True), None, _fault_text(error))
    try:
        graded = grade(prepared, solution, sample_id=sample_id, thinking=thinking)
        value = score_by(scoring, graded)
        return Rewarded(value, scalars(graded), graded, steps=step_credits(prepared, graded))
    except Exception as error:  # noqa: BLE001 - the grader failed
        return Rewarded(0.0, scalars(None), None, _fault_text(error))


def _reward_rollout(
    prepared: PreparedProblem, rollout: Rollout, *, scoring: Scoring, thinking: bool, sample_id: str | None = None
) -> Rewarded:
    """Return the reward of one solution (the job of the worker processes)."""
    return _reward_prepared(prepared, rollout.solution, scoring=scoring, thinking=thinking, sample_id=sample_id)


def _bad_reference(error: Exception, hint: str = "") -> Rewarded:
    """Return the reward, without value, of a row whose reference cannot be used."""
    return Rewarded(None, scalars(None, bad_reference=True), None, _fault_text(error) + hint)


def _reward_of_result(result: Any) -> Rewarded:
    """Return the reward that a worker sends, or that of a row whose problem it could not prepare or that killed it."""
    if isinstance(result, Unprepared):
        return _bad_reference(result.fault)
    if isinstance(result, Killed):
        fault = f"the grader was stopped on this solution: {result.reason}"
        return Rewarded(0.0, scalars(None, killed=True), None, fault)
    assert isinstance(result, Rewarded)
    return result


def _pass_on(rewarded: Future[Rewarded], sent: Future[Any]) -> None:
    """Resolve the future that was handed out when that of the worker is."""
    if not rewarded.set_running_or_notify_cancel():
        return
    error = CancelledError() if sent.cancelled() else sent.exception()
    if error is not None:
        rewarded.set_exception(error)
    else:
        rewarded.set_result(_reward_of_result(sent.result()))


# Shared by the frameworks' modules. --------------------------------------------------------------------------------


def reward_of(
    scoring: str | Mapping[str, float] | Scoring | Reward,
    *,
    problems: ProblemSet | None,
    thinking: bool,
    workers: int = 0,
) -> Reward:
    """Return the given `Reward` unchanged, or make one from a scoring.

    Errors:
        PrismError: as of `Reward`; settings beside a reward that has its own.
    """
    if not isinstance(scoring, Reward):
        return Reward(scoring, problems=problems, thinking=thinking, workers=workers)
    beside = {"problems": problems is not None, "thinking": thinking is not False, "workers": workers != 0}
    if any(beside.values()):
        names = ", ".join(name for name, is_given in beside.items() if is_given)
        raise PrismError(f"{names}: the reward that is given has its own; say it where that is made")
    return scoring


def checked_metrics(metrics: Collection[str]) -> tuple[str, ...]:
    """Return the metrics as a tuple if each is a key of `scoring.SCALARS`.

    Errors:
        PrismError: a string, or others.
    """
    if isinstance(metrics, str) or not set(metrics) <= set(SCALARS):
        raise PrismError(f"metrics: {metrics!r} are not all among {', '.join(SCALARS)}")
    return tuple(metrics)


def check_names(**names: object) -> None:
    """Raise PrismError unless each argument is a non-empty string: `check_names(column="reference")`.

    Errors:
        PrismError: one that is empty, or no string.
    """
    for argument, word in names.items():
        if not isinstance(word, str) or not word:
            raise PrismError(f"{argument}: {word!r} is no name")


def no_column(setting: str, column: str, there: Iterable[object]) -> str:
    """Say that no column of this name came, by which setting it was asked for, and which came: for error or warning.

    Only what did not come at all is told so; a row whose entry is null has a bad reference.
    """
    names = ", ".join(sorted(map(str, there)))[:_SHOWN_NAMES] or "none"
    return f"{setting}: no column {column!r} came with the references; those that came: {names}"


def _rebuild_reward(
    scoring: Scoring, by_id: Mapping[str, Any], thinking: bool, paths: bool, kept: int, workers: int
) -> Reward:
    """Return the `Reward` with these settings, when it is unpickled."""
    return Reward(scoring, problems=by_id, thinking=thinking, paths=paths, kept=kept, workers=workers)


def _fault_text(error: Exception) -> str:
    """Return the text of an error for `Rewarded.fault`: the message of a PrismError, `TYPE: message` of any other."""
    return str(error) if isinstance(error, PrismError) else f"{type(error).__name__}: {error}"

"""Rollouts graded by rule, in input order, with whatever else a protocol asks of each: its way to "the rules decide".

The work is done where `prism run` does it: in this process, or in supervised worker processes. What a protocol wants to
know besides the grade (a diagnosis, verdicts on single formulas) is a function of a module, called beside the grade in
the same process, so that it is spread over the workers too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from prism.diagnosis.findings import Diagnosis, diagnose
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade
from prism.latex import solution_text
from prism.problem.schema import Problem, in_alternative
from prism.protocols.rows import Scored
from prism.runs.bulk import Options, grade_rollout, in_input_order, make_tasks, without_score
from prism.runs.rollouts import Rollout
from prism.runs.workers import KILL_AFTER, Done, Job, Killed, Task, run_in_workers

T = TypeVar("T")
Then = Callable[[PreparedProblem, Rollout, Grade], T]
"""Called beside a grade that has a score; a function of a module, for workers import it."""


@dataclass(frozen=True, slots=True)
class GradedRollout(Generic[T]):
    """A rollout with its problem, its grade, and what the protocol's function made of them.

    Attributes:
        grade: its status is `killed` or `internal`, and its score None, where the grader failed.
        more: None where the grade has no score, or no function was given.
    """

    problem: Problem
    rollout: Rollout
    grade: Grade
    more: T | None

    @property
    def reference(self) -> Problem:
        """The problem with the reference DAG that the grade is of, the problem's own or an alternative."""
        return in_alternative(self.problem, self.grade.alternative) if self.grade.alternative else self.problem

    @property
    def about(self) -> Scored:
        """What a protocol row says besides the protocol."""
        grade, text = self.grade, solution_text(self.rollout.solution).text
        return Scored(
            problem_id=self.problem.id, sample_id=self.rollout.sample_id, meta=self.rollout.meta,
            problem_sha256=self.problem.sha256,
            solution_sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            matched=grade.matched, missing=tuple(sorted({*grade.missing, *grade.credited} - {*grade.matched})),
            alternative=grade.alternative, status=grade.status, incidents=grade.incidents,
        )  # fmt: skip


def grade_rollouts(
    problems: Mapping[str, Problem],
    rollouts: Iterable[Rollout],
    *,
    then: Then[T] | None = None,
    thinking: bool = False,
    workers: int = 0,
    kill_after: float = KILL_AFTER,
    on_done: Callable[[int], None] = lambda _: None,
    run_tasks: Callable[[Iterator[Task], Job], Iterator[Done]] | None = None,
) -> Iterator[GradedRollout[T]]:
    """Grade rollouts and yield them in input order.

    Args:
        problems: by id; each rollout's must be there.
        then: what else is to be found out beside each grade; `diagnosed`, or a function of the protocol.
        thinking: count formulas of thinking blocks too.
        workers: processes; 0 works in this one.
        kill_after: seconds that a worker may take for one rollout [s].
        on_done: called with 1 for each rollout that has become done.
        run_tasks: runs the tasks, in any order, instead of workers of its own.

    Errors:
        PrismError: workers that do not start. Never anything about a solution: where the grader fails, the grade has
            no score, and an incident says why.
    """
    job = partial(_graded, then=then, thinking=thinking)
    tasks = make_tasks(problems, rollouts)
    run_tasks = run_tasks or partial(run_in_workers, workers=workers, kill_after=kill_after)
    for done in in_input_order(run_tasks(tasks, job)):
        task = done.task
        if isinstance(done.result, Killed):
            lost = without_score(task.loaded, task.rollout, "killed", done.result.reason)
            yield GradedRollout(task.loaded, task.rollout, lost, None)
        else:
            grade, more = done.result
            yield GradedRollout(task.loaded, task.rollout, grade, more)
        on_done(1)


def diagnosed(prepared: PreparedProblem, _rollout: Rollout, grade: Grade) -> Diagnosis:
    """Diagnose a graded rollout: a `then` of `grade_rollouts`."""
    return diagnose(prepared, grade)


def _graded(
    prepared: PreparedProblem, rollout: Rollout, *, then: Then[T] | None, thinking: bool
) -> tuple[Grade, T | None]:
    """Grade one rollout and call `then`; an exception in either gives a grade without score."""
    grade = grade_rollout(prepared, rollout, options=Options(thinking=thinking))
    if then is None or grade.score is None:
        return grade, None
    try:
        return grade, then(prepared, rollout, grade)
    except Exception as error:  # noqa: BLE001 - the boundary of one rollout: the others go on
        return without_score(prepared.problem, rollout, "internal", f"{type(error).__name__}: {error}"), None

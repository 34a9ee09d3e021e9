"""Can these references be graded with? What every command asks before it grades anything.

A node that not even a copy of its own formula matches takes its points from every student, and no score says so.
Refused: all of `lint` here, which takes many times as long and mostly finds what a grade survives.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

import prism
from prism.cli.output import spinner
from prism.cli.talk import fail, tell
from prism.errors import count_of

if TYPE_CHECKING:
    from prism.authoring.lint_findings import LintFinding
    from prism.problem.schema import Problem
    from prism.problem.source import PlainProblem
    from prism.runs.workers import RunWorkers


def require_gradable(
    source: str,
    problems: Mapping[str, Problem | PlainProblem],
    *,
    allow_faults: bool,
    workers: RunWorkers | None = None,
) -> None:
    """Exit with code 3 if no solution matches some node of the problems; all such nodes are told, with their files.

    Args:
        source: what the problems were read from, for the names of the files.
        problems: those that something is to be graded against, by id.
        allow_faults: tell them on standard error, and go on.
        workers: processes that share the work where there are several problems, and grade by them afterwards.
    """
    from prism.problem.collection import list_problems

    with spinner("checking the references") if len(problems) > 1 else nullcontext():
        found = _unmatchable_by_id(problems, workers)
    if not found:
        return
    files = {name: getattr(one, "name", name) for name, one in list_problems(source).items()}
    told = [f"{files.get(name, name)}: {finding}" for name, findings in found.items() for finding in findings]
    nodes = f"{count_of(len(told), 'node')} that no solution can match"
    if not allow_faults:
        fail("\n".join([*told, f"{nodes}: nothing is graded; mend them, or --allow-faults grades all the same"]))
    for one in (*told, f"{nodes}: graded all the same, as --allow-faults says"):
        tell(one)


def _unmatchable_by_id(
    problems: Mapping[str, Problem | PlainProblem], workers: RunWorkers | None
) -> dict[str, tuple[LintFinding, ...]]:
    """Map the ids of problems to their nodes that no solution matches; problems without any are left out.

    Errors:
        DataFileError: problems that cannot be loaded, with all their faults.
        PrismError: a problem that costs too much to be graded with; workers that do not start.
    """
    from prism.authoring.graded_copies import kept_unmatchable
    from prism.problem.collection import check_problems
    from prism.problem.schema import load_problem

    try:
        if workers is not None and len(problems) > 1:
            found = _found_by_workers(problems, workers)
        else:
            found = {name: kept_unmatchable(load_problem(one)) for name, one in problems.items()}
    except prism.PrismError:
        check_problems(problems.values())
        raise
    return {name: findings for name, findings in found.items() if findings}


def _found_by_workers(
    problems: Mapping[str, Problem | PlainProblem], workers: RunWorkers
) -> dict[str, tuple[LintFinding, ...]]:
    """Map the ids of problems, in their order, to what worker processes find, which make them ready for the run too."""
    from prism.authoring.graded_copies import unmatchable_of_prepared
    from prism.runs.rollouts import Rollout
    from prism.runs.workers import Killed, Task

    tasks = (Task(k, Rollout(name, "", ""), one) for k, (name, one) in enumerate(problems.items()))
    done = workers.run(tasks, unmatchable_of_prepared)
    found = {one.task.rollout.problem_id: one.result for one in done if not isinstance(one.result, Killed)}
    return {name: found[name] for name in problems if name in found}

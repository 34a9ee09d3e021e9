"""Draft one problem file from several worked solutions: the first is the reference, each further one an alternative.

Each solution is drafted by itself. Then they are held beside each other: a solution that goes the way of another is
left out, and answers that contradict each other are told, for one of the solutions is wrong. Refused: one DAG in which
the ways are woven together, for credit along its edges would then pay for steps of a way that nobody went.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from prism.authoring.drafting import draft
from prism.authoring.drafts import Draft
from prism.authoring.lint_details import check_alternative
from prism.authoring.lint_findings import LintFinding
from prism.budget import CHECK, share
from prism.errors import PrismError
from prism.grading.pipeline import grade
from prism.latex import Solution
from prism.problem.schema import Problem, load_problem
from prism.problem.source import ALTERNATIVES, MAX_ALTERNATIVES, NODE_LISTS

_NOT_IN_NAMES = re.compile(r"[^\w.'()/+-]+")  # what the name of an alternative cannot hold
_LONGEST_NAME = 40
_FROM_TEXT = ("context", "subquestions")


def draft_alternatives(
    solutions: Sequence[Solution],
    *,
    names: Sequence[str] = (),
    problem: str = "",
    answers: Sequence[str] = (),
    name: str = "draft",
) -> Draft:
    """Draft a problem file from worked solutions of one problem, the first reference from the first of them.

    Args:
        solutions: as `draft` takes them, one at least.
        names: of the ways, one for each solution; the first is not used. By default `way 2`, `way 3`, ...
        problem, answers, name: as of `draft`; the answers are those of every solution.

    Returns:
        The draft of the first solution, with the others as alternatives. Its remarks name the solutions that were left
        out, since they go the way of another one, and say where answers differ.

    Errors:
        PrismError: no solution, or more than are read; no formula of one can be a node; an answer cannot be read.
    """
    if not 1 <= len(solutions) <= 1 + MAX_ALTERNATIVES:
        raise PrismError(f"{len(solutions)} solutions are given; a problem has 1 to {1 + MAX_ALTERNATIVES} references")
    made: list[Draft] = []
    for place, solution in enumerate(solutions, start=1):
        try:
            made.append(draft(solution, problem=problem, answers=answers, name=name))
        except PrismError as error:
            raise PrismError(f"solution {place}: {error}" if len(solutions) > 1 else str(error)) from error
    if len(made) == 1:
        return made[0]
    named = _names(names, len(solutions))
    kept, remarks = [0], list(made[0].remarks)
    for k in range(1, len(made)):
        twin = next((j for j in kept if _is_same_way(made[j], made[k], solutions[j], solutions[k])), None)
        if twin is None:
            kept.append(k)
            remarks += [f"{named[k]}: {remark}" for remark in made[k].remarks]
        else:
            remarks.append(f"solution {k + 1} goes the way of solution {twin + 1}, and is left out")
    data = _joined([made[k] for k in kept], [named[k] for k in kept])
    remarks += _answers_beside_each_other(load_problem(data))
    return replace(made[0], data=data, remarks=tuple(remarks), alternatives=tuple(made[k] for k in kept[1:]))


def _names(given: Sequence[str], n: int) -> list[str]:
    """Return a name for each of n ways: as given where that can be a name and stands once, else `way 2`."""
    names: list[str] = []
    for k in range(n):
        name = _NOT_IN_NAMES.sub(" ", given[k] if k < len(given) else "")[:_LONGEST_NAME].strip(" .'()/+-")
        names.append(name if name and name not in names[1:] else f"way {k + 1}")
    return names


def _is_same_way(one: Draft, other: Draft, solution: Solution, other_solution: Solution) -> bool:
    """Return True if each of two solutions states all nodes that were drafted from the other."""
    problems = load_problem(one.data), load_problem(other.data)
    missed = (
        set(problem.dag.indices) - set(grade(problem, text).matched)
        for problem, text in zip(problems, (other_solution, solution), strict=True)
    )
    return not any(missed)


def _joined(made: Sequence[Draft], names: Sequence[str]) -> dict[str, Any]:
    """Return the content of the problem file: text and parts of the first solution that marks parts, and all nodes."""
    first = made[0].data
    text = next((each.data for each in made if each.data.get("subquestions")), first)
    others = [
        {"name": name, NODE_LISTS[0]: each.data[NODE_LISTS[0]]} for name, each in zip(names[1:], made[1:], strict=True)
    ]
    data = {**first, **{key: text[key] for key in _FROM_TEXT if key in text}}
    return {**data, ALTERNATIVES: others} if others else data


def _answers_beside_each_other(problem: Problem) -> Iterator[str]:
    """Yield remarks on answers that the ways of a problem do not give alike."""
    for other in problem.alternatives:
        found: list[LintFinding] = []
        with share(CHECK) as account:
            found += check_alternative(problem, other, CHECK)
        yield from (f"{other.alternative}, {each}" for each in found)
        if account.is_exhausted:
            yield f"{other.alternative}: its answers cost too much to be compared with those of the first solution"

"""The reference of PSAS-S: parts of a problem with their final answers and steps, each step with equations and values.

Of a problem file each node is a step, in index order. A node that states a number is a value, any other an equation; a
number that follows directly from one formula, the only one among its prerequisites, shares the step of that formula. A
step belongs to the part that its node names, else to the first part with a final answer that rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.stated import stated_number
from prism.problem.dag import ancestor_closure
from prism.problem.schema import Problem, ProblemNode, in_alternative

UNREADABLE = 0
"""In place of a node's index: a value, equation or answer that the reference states and PRISM cannot read."""


@dataclass(frozen=True, slots=True)
class ReferenceStep:
    """One step: indices of the nodes that are its equations and its values; neither where the reference has N/A."""

    name: str
    equations: tuple[int, ...] = ()
    values: tuple[int, ...] = ()

    @property
    def nodes(self) -> tuple[int, ...]:
        """All nodes of the step."""
        return (*self.equations, *self.values)


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """One part of a problem.

    Attributes:
        letter: as the problem names it; empty of a problem without parts.
        finals: nodes that are its final answer.
        steps: in order.
    """

    letter: str
    finals: tuple[int, ...]
    steps: tuple[ReferenceStep, ...]

    @property
    def name(self) -> str:
        """The letter, or `answer` of a problem without parts."""
        return self.letter or "answer"


@dataclass(frozen=True, slots=True)
class PsasReference:
    """A problem with its parts and steps.

    Attributes:
        parts: those of its own reference DAG.
        n_unreadable: values, equations and answers of the reference that PRISM cannot read.
    """

    problem: Problem
    parts: tuple[ReferencePart, ...]
    n_unreadable: int = 0

    def parts_by(self, alternative: str) -> tuple[ReferencePart, ...]:
        """Return the parts and steps of one of the problem's reference DAGs; an empty name is its own."""
        return parts_of(in_alternative(self.problem, alternative)) if alternative else self.parts


def parts_of(problem: Problem) -> tuple[ReferencePart, ...]:
    """Return the parts of a problem with their steps, those with a final answer or a step."""
    letters = _letters_of_nodes(problem)
    names = dict.fromkeys((*(each.letter for each in problem.subquestions), *letters.values()))
    found = []
    for letter in names:
        nodes = [node for node in problem.nodes if letters[node.index] == letter]
        if nodes:
            finals = tuple(node.index for node in nodes if node.is_final)
            found.append(ReferencePart(letter, finals, _steps_of(problem, nodes, letter)))
    return tuple(found)


def states_number(node: ProblemNode) -> bool:
    """Return True if a node states a number: `v = 3 m/s`, or the number alone."""
    if node.is_text:
        return False
    if numeric_of(node.formula) is not None:
        return True
    return node.formula.kind == "expression" and stated_number(node.formula.members[0]) is not None


def _letters_of_nodes(problem: Problem) -> dict[int, str]:
    """Return the part of each node by its index; a final answer without a letter is of the part without one."""
    own = {node.index: node.subquestion for node in problem.nodes if node.subquestion or node.is_final}
    order = {each.letter: place for place, each in enumerate(problem.subquestions)}
    finals = [node.index for node in problem.nodes if node.is_final]
    finals.sort(key=lambda index: (order.get(own[index], -1), index))
    rests_on = {index: ancestor_closure(problem.dag, {index}) for index in finals}
    for node in problem.nodes:
        if node.index not in own:
            own[node.index] = next(own[final] for final in finals if node.index in rests_on[final])
    return own


def _steps_of(problem: Problem, nodes: Sequence[ProblemNode], letter: str) -> tuple[ReferenceStep, ...]:
    """Return the steps that the nodes of one part make."""
    numbers = {node.index for node in problem.nodes if states_number(node)}
    own = {node.index for node in nodes}
    prerequisites = {node.index: node.prerequisites for node in problem.dag.nodes}
    members: dict[int, list[int]] = {}  # of each step, behind the node that began it
    for node in nodes:
        formulas = [index for index in prerequisites[node.index] if index not in numbers]
        shares = node.index in numbers and len(formulas) == 1 and formulas[0] in own
        members.setdefault(formulas[0] if shares else node.index, []).append(node.index)
    return tuple(
        ReferenceStep(
            step_name(letter, place),
            equations=tuple(index for index in indices if index not in numbers),
            values=tuple(index for index in indices if index in numbers),
        )
        for place, indices in enumerate(members.values(), start=1)
    )


def step_name(letter: str, number: int) -> str:
    """Return `a/2`, or `2` of a problem without parts."""
    return f"{letter}/{number}" if letter else str(number)


def nodes_by_part(parts: Sequence[ReferencePart]) -> Mapping[str, frozenset[int]]:
    """Return the nodes that count for each part, by its letter."""
    return {
        part.letter: frozenset(index for each in (part.finals, *(step.nodes for step in part.steps)) for index in each)
        for part in parts
    }

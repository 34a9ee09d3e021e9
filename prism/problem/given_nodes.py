"""Nodes that can be had without work, since they repeat what the problem says (semantics C.5).

The paper's policy pays for them, and so does a grade. What to do about them is for the grader and the author to decide:
a policy for training gives them nothing (`dag.training_credit`). Here they are only found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prism.algebra.expr import Formula, symbols_of
from prism.equivalence.matching import match
from prism.equivalence.numbers import Asked, numeric_of
from prism.equivalence.statements import is_mention
from prism.errors import LatexSyntaxError
from prism.latex import extract
from prism.physics.context import parse, values_of
from prism.problem.expected_numbers import Asking, agrees, asking_of, in_own_unit
from prism.problem.schema import Problem, ProblemNode, formulas_of


@dataclass(frozen=True, slots=True)
class GivenNode:
    """A node that the problem says itself.

    Attributes:
        index: of the node.
        where: what part of the problem says it, as a fault would name it: `context`, `subquestion a, subproblem`,
            `givens`, `definitions`.
        latex: what it says there.
    """

    index: int
    where: str
    latex: str


def given_nodes(problem: Problem, asking: Asking | None = None) -> tuple[GivenNode, ...]:
    """The nodes that a solver would match who copies the problem: its text, its values and its definitions.

    Whatever it takes to see that they are the same (constants, definitions, values put in): a copy earns it too.

    Args:
        problem: a problem.
        asking: how its nodes are asked for, if that has been worked out already.
    """
    asked = (asking or asking_of(problem)).nodes
    waiting = [node for node in problem.nodes if not node.is_text]
    found: list[GivenNode] = []
    for where, said in _said(problem):
        for node in tuple(waiting):
            verdicts = (match(each, said, problem.context, asked[node.index]) for each in formulas_of(node))
            if any(verdict.status == "equivalent" for verdict in verdicts):
                found.append(GivenNode(node.index, where, said.latex))
                waiting.remove(node)
    for node in waiting:
        text = _value_given(node, problem, asked[node.index])
        if text:
            found.append(GivenNode(node.index, "givens", text))
    return tuple(sorted(found, key=lambda given: given.index))


def said_names(problem: Problem) -> frozenset[str]:
    """Symbols that the text of a problem mentions."""
    return frozenset[str]().union(*(symbols_of(said) for _, said in _written(problem)))


def _written(problem: Problem) -> Iterator[tuple[str, Formula]]:
    """Every formula of the text that can be read, with the part of the problem that it stands in."""
    texts = [("context", problem.statement)]
    for part in problem.subquestions:
        letter = f"subquestion {part.letter}, " if part.letter else ""
        texts += [(f"{letter}subproblem", part.text)]
        texts += [(f"{letter}final_answer_instructions", part.final_answer_instructions)]
    for where, text in texts:
        for located in extract(text):
            try:
                yield where, parse(located.latex, context=problem.context)
            except LatexSyntaxError:
                continue  # a warning of the load


def _said(problem: Problem) -> Iterator[tuple[str, Formula]]:
    """Every formula that the text states, and every definition; a lone symbol or number states nothing."""
    seen: set[Formula] = set()
    for where, said in _written(problem):
        if said not in seen and not is_mention(said):
            seen.add(said)
            yield where, said
    for defined in problem.context.definitions:
        if defined not in seen:
            yield "definitions", defined


def _value_given(node: ProblemNode, problem: Problem, asked: Asked) -> str:
    """The given value that a numeric node repeats, as the problem has it; empty if it repeats none."""
    stated = numeric_of(node.formula)
    name = stated.subject.name if stated is not None and stated.subject.op == "sym" else ""
    given = values_of(problem.context).get(name)
    if stated is None or given is None or given.quantity.dimension != stated.number.dimension:
        return ""
    value = in_own_unit(float(given.quantity.value), stated.number)
    return f"{name} = {given.text}" if agrees(value, stated.number, asked) else ""

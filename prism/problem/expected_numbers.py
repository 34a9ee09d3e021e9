"""How each node of a problem asks for its number: figures, place in the problem, and what it should be exactly.

A reference number is rounded, and so were those it was computed from. Where the nodes before it and the givens settle
what it is, that value is what a solution is held against (semantics N.2); where the two disagree, the author's is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.expr import Formula, symbols, walk
from prism.equivalence.numbers import Asked, Known, Numeric, StatedNumber, measure, numeric_of, solved_near, tolerance
from prism.physics.context import Context
from prism.physics.units import PI, Dimension
from prism.problem.dag import ancestor_closure
from prism.problem.schema import Problem, ProblemNode


@dataclass(frozen=True, slots=True)
class Asking:
    """What a reference asks for.

    Attributes:
        nodes: how each node asks for its number, by index.
        worth: value and dimension of its symbols, as far as givens and nodes settle them.
    """

    nodes: Mapping[int, Asked]
    worth: Known


def asking_of(problem: Problem) -> Asking:
    """How the nodes are asked for. Numbers are worked out in the order of the nodes, unrounded."""
    figures = {part.letter: part.significant_figures for part in problem.subquestions}
    known: dict[str, tuple[float, Dimension]] = {}
    numeric: set[int] = set()
    found: dict[int, Asked] = {}
    for node in problem.nodes:
        number = numeric_of(node.formula)
        if number is None or number.number.is_exact:
            learn(node.formula, problem.context, known)
            found[node.index] = Asked(is_final=node.is_final, is_node=True)
            continue
        before = ancestor_closure(problem.dag, {node.index}) - {node.index}
        asked = Asked(
            figures=figures.get(node.subquestion) if node.is_final else None,
            is_final=node.is_final,
            n_before=len(before & numeric),
            is_node=True,
        )
        numeric.add(node.index)
        exact = _exact_value(number, problem, before, known)
        if exact is not None and agrees(exact, number.number, asked):
            asked = Asked(asked.figures, asked.is_final, asked.n_before, exact, is_node=True)
        if number.subject.op == "sym":
            known[number.subject.name] = in_si(exact if asked.recomputed is not None else None, number.number)
        found[node.index] = asked
    settled = tuple(f for node in problem.nodes if not node.is_text for f in (node.formula, *node.accept))
    nodes = {
        node.index: replace(found[node.index], beside=_beside(node, problem, found), settled=settled)
        for node in problem.nodes
    }
    return Asking(nodes, known)


def _beside(node: ProblemNode, problem: Problem, asked: Mapping[int, Asked]) -> tuple[tuple[Numeric, Asked], ...]:
    """What numeric nodes state the quantities of a formula to be."""
    if numeric_of(node.formula) is not None:
        return ()
    subjects = {part for f in (node.formula, *node.accept) for member in f.members for part in walk(member)}
    stated = ((numeric_of(other.formula), asked[other.index]) for other in problem.nodes)
    return tuple((number, how) for number, how in stated if number is not None and number.subject in subjects)


def learn(f: Formula, context: Context, known: dict[str, tuple[float, Dimension]]) -> None:
    """Add to what is known the value of what a node is solved for, where all it depends on is known."""
    if f.kind != "equation":
        return
    for subject, other in (f.members, f.members[::-1]):
        if subject.op == "sym" and subject.name not in symbols(other) and subject.name not in known:
            measured = measure(other, context, known)
            if measured is not None:
                known[subject.name] = float(measured[0]), measured[1]
                return


def in_si(exact: Fraction | None, number: StatedNumber) -> tuple[float, Dimension]:
    """Value and dimension of a number, or of what it should be exactly, in coherent SI units."""
    stated = number if exact is None else replace(number, value=exact)
    return float(stated.in_si), number.dimension


def agrees(exact: Fraction, number: StatedNumber, asked: Asked) -> bool:
    """Whether a recomputed number is the author's, rounded or not."""
    allowed = tolerance(asked.figures or number.figures, asked) * abs(number.value)
    return abs(exact - number.value) <= max(allowed, number.ulp / 2)


def _exact_value(number: Numeric, problem: Problem, before: frozenset[int], known: Known) -> Fraction | None:
    """The number in its own unit, from what is known or by solving a node before it; None if neither settles it."""
    if number.subject.op != "sym":
        return None
    name = number.subject.name
    start, dimension = in_si(None, number.number)
    value: float | None = None
    if name in known and known[name][1] == dimension:
        value = known[name][0]
    else:
        for earlier in reversed(problem.nodes):
            if earlier.index in before and name in symbols(*earlier.formula.members):
                value = solved_near(earlier.formula, name, start, dimension, problem.context, known)
                if value is not None:
                    break
    return None if value is None else in_own_unit(value, number.number)


def in_own_unit(value: float, number: StatedNumber) -> Fraction:
    """A value in coherent SI units in the unit of a number, offset and all."""
    unit = number.unit
    return Fraction(value) if unit is None else (Fraction(value) - unit.offset) / (unit.factor * PI**unit.pi)

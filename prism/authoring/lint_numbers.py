"""What the formulas before a node make its number, each by itself: where they disagree with it, somebody has slipped.

`asking` puts the number that nodes and givens settle in the place of the author's if the two agree. Here every formula
that a node rests on is asked, so that an author can be told which of them says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import Formula, symbols, symbols_of
from prism.equivalence.numbers import Known, Numeric, closed_number_of, measure, numeric_of, solved_near, value_of
from prism.equivalence.substitutions import resolved
from prism.physics.context import Context, values_of
from prism.physics.dimensions import dimension_text, inconsistency
from prism.physics.units import Dimension
from prism.problem.dag import ancestor_closure
from prism.problem.expected_numbers import Asking, in_own_unit, in_si, learn
from prism.problem.schema import Problem, ProblemNode


@dataclass(frozen=True, slots=True)
class Derived:
    """What one formula makes a number.

    Attributes:
        origin: index of the node whose formula it is; 0 for the value that the problem gives.
        value: in the unit of the number; None where the units do not fit.
        fault: why they do not, in words.
    """

    origin: int
    value: Fraction | None = None
    fault: str = ""


def number_of(f: Formula) -> Numeric | None:
    """The number that a node states, or that its values make if they are put in and not worked out."""
    return numeric_of(f) or closed_number_of(f)


def derived_numbers(node: ProblemNode, problem: Problem, asking: Asking) -> tuple[Derived, ...]:
    """What the formulas that a node rests on make its number, direct parents first; empty if nothing settles it."""
    wanted = number_of(node.formula)
    if wanted is None or wanted.subject.op != "sym" or not wanted.number.value:
        return ()
    name, context = wanted.subject.name, problem.context
    before = ancestor_closure(problem.dag, {node.index}) - {node.index}
    known = {other: worth for other, worth in _settled(problem, before, asking).items() if other != name}
    is_bare = wanted.number.unit is None and numeric_of(node.formula) is None  # values put in without their units
    found = list(_given(wanted, context, is_bare=is_bare))
    parents = problem.dag.nodes[problem.dag.positions[node.index]].prerequisites
    for index in sorted(before, key=lambda index: (index in parents, index), reverse=True):
        f = problem.nodes[problem.dag.positions[index]].formula
        if f.kind == "equation" and number_of(f) is None and name in symbols(*f.members):
            found += _by_formula(f, index, wanted, context, known, is_bare=is_bare)
    return tuple(found)


def _settled(problem: Problem, before: frozenset[int], asking: Asking) -> Known:
    """Value and dimension of symbols, by the nodes before one."""
    known: dict[str, tuple[float, Dimension]] = {}
    for node in problem.nodes:
        if node.index not in before:
            continue
        number = numeric_of(node.formula)
        if number is None:
            if (found := closed_number_of(node.formula)) is None or found.number.unit is not None:
                learn(node.formula, problem.context, known)  # of values put in without units nobody knows the unit
        elif number.subject.op == "sym":
            known[number.subject.name] = in_si(asking.nodes[node.index].recomputed, number.number)
    return known


def _given(wanted: Numeric, context: Context, *, is_bare: bool) -> Iterator[Derived]:
    given = values_of(context).get(wanted.subject.name)
    if given is None:
        return
    dimension = given.quantity.dimension
    if dimension == wanted.number.dimension:
        yield Derived(0, in_own_unit(float(given.quantity.value), wanted.number))
    elif not is_bare:
        stated = dimension_text(wanted.number.dimension)
        yield Derived(0, None, f"it is given in {dimension_text(dimension)}, and stated in {stated}")


def _by_formula(
    f: Formula, index: int, wanted: Numeric, context: Context, known: Known, *, is_bare: bool
) -> Iterator[Derived]:
    """The number by one formula: solved for it, or by the root next to the number that is stated."""
    name, number = wanted.subject.name, wanted.number
    worth = {other: found for other in symbols_of(f) if (found := value_of(other, context, known)) is not None}
    others = {other: dimension for other, (_, dimension) in worth.items() if other != name}
    plain = resolved(f)
    if inconsistency(plain, others):
        return
    fault = inconsistency(plain, {**others, name: number.dimension})
    if fault and not is_bare:
        yield Derived(index, None, fault)
        return
    value: float | None = None
    for subject, other in (f.members, f.members[::-1]):
        if value is None and subject == wanted.subject and name not in symbols(other):
            measured = measure(other, context, known)
            value = None if measured is None else float(measured[0])
    if value is None and not fault and wanted.subject not in f.members:
        value = solved_near(f, name, float(number.in_si), number.dimension, context, known)
    if value is not None:
        yield Derived(index, in_own_unit(value, number))

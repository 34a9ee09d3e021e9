"""Derive the number of a node from each formula before it; where they disagree with it, one of them is wrong.

`problem.expected_numbers` replaces the number of the author by the one that nodes and givens determine, if the two
agree. Here every formula that a node depends on is evaluated by itself, so that an author learns which one disagrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import Formula, symbols, symbols_of
from prism.equivalence.facts import in_base_units, numeric_of
from prism.equivalence.numbers.known_values import (
    KnownValues,
    closed_form_number,
    evaluate_with_units,
    root_near,
    symbol_value,
)
from prism.equivalence.numbers.stated import Numeric
from prism.physics.context import Context, given_values
from prism.physics.dimensions import dimension_text, inconsistency
from prism.problem.dag import ancestor_closure
from prism.problem.expected_numbers import ExpectedNumbers, in_unit_of
from prism.problem.schema import Problem, ProblemNode


@dataclass(frozen=True, slots=True)
class DerivedNumber:
    """The number of a node as an earlier formula, or the value given by the problem, determines it.

    Attributes:
        origin: index of the node whose formula it is; 0 for the value that the problem gives.
        value: in the unit of the stated number; None where the units do not fit.
        fault: why they do not fit, in words; else empty.
    """

    origin: int
    value: Fraction | None = None
    fault: str = ""


def node_number(f: Formula) -> Numeric | None:
    r"""Return the number that a node states (`v = 3 m/s`, `v = 2 \cdot 9.8`); None if it states none."""
    return numeric_of(f) or closed_form_number(f)


def derive_numbers(node: ProblemNode, problem: Problem, expected: ExpectedNumbers) -> tuple[DerivedNumber, ...]:
    """Return the number of a node by each formula it depends on, direct parents first; empty if none gives it."""
    wanted = node_number(node.formula)
    if wanted is None or wanted.subject.op != "sym" or not wanted.number.value:
        return ()
    name, context = wanted.subject.name, problem.context
    before = ancestor_closure(problem.dag, {node.index}) - {node.index}
    formulas = {index: problem.nodes[problem.dag.positions[index]].formula for index in before}
    settled = {each.name for f in formulas.values() if _is_known(f) for each in f.members} - {name}
    known = {other: value for other, value in expected.known_values.items() if other in settled}
    is_bare = wanted.number.unit is None and numeric_of(node.formula) is None  # values put in without their units
    found = list(_number_by_given(wanted, context, is_bare=is_bare))
    parents = problem.dag.nodes[problem.dag.positions[node.index]].prerequisites
    for index in sorted(before, key=lambda index: (index in parents, index), reverse=True):
        f = formulas[index]
        if f.kind == "equation" and node_number(f) is None and name in symbols(*f.members):
            found += _number_by_formula(f, index, wanted, context, known, is_bare=is_bare)
    return tuple(found)


def _is_known(f: Formula) -> bool:
    """Return True if a node settles a value whose unit is known; of values put in without units nobody knows it."""
    closed = None if numeric_of(f) else closed_form_number(f)
    return closed is None or closed.number.unit is not None


def _number_by_given(wanted: Numeric, context: Context, *, is_bare: bool) -> Iterator[DerivedNumber]:
    """Yield the value that the problem gives for the quantity, or the fault of its unit; nothing if none is given.

    Args:
        is_bare: the number was computed from values without units, so a missing unit is no fault.
    """
    given = given_values(context).get(wanted.subject.name)
    if given is None:
        return
    dimension = given.quantity.dimension
    if dimension == wanted.number.dimension:
        yield DerivedNumber(0, in_unit_of(float(given.quantity.value), wanted.number))
    elif not is_bare:
        stated = dimension_text(wanted.number.dimension)
        yield DerivedNumber(0, None, f"it is given in {dimension_text(dimension)}, and stated in {stated}")


def _number_by_formula(
    f: Formula, index: int, wanted: Numeric, context: Context, known: KnownValues, *, is_bare: bool
) -> Iterator[DerivedNumber]:
    """Yield the number that formula `f` of node `index` gives for the wanted quantity, or the fault of its units.

    The formula is evaluated if it is solved for the quantity; otherwise the root nearest to the stated number is taken.

    Args:
        known: value and dimension of the other symbols.
        is_bare: the number was computed from values without units, so a missing unit is no fault.
    """
    name, number = wanted.subject.name, wanted.number
    values_by_name = {
        other: found for other in symbols_of(f) if (found := symbol_value(other, context, known)) is not None
    }
    others = {other: dimension for other, (_, dimension) in values_by_name.items() if other != name}
    plain = in_base_units(f)
    if inconsistency(plain, others):
        return
    fault = inconsistency(plain, {**others, name: number.dimension})
    if fault and not is_bare:
        yield DerivedNumber(index, None, fault)
        return
    value: float | None = None
    for subject, other in (f.members, f.members[::-1]):
        if value is None and subject == wanted.subject and name not in symbols(other):
            measured = evaluate_with_units(other, context, known)
            value = None if measured is None else float(measured[0])
    if value is None and not fault and wanted.subject not in f.members:
        value = root_near(f, name, float(number.in_si), number.dimension, context, known)
    if value is not None:
        yield DerivedNumber(index, in_unit_of(value, number))

"""Find what is wrong with the numbers that a formula of a solution states, beside those that the nodes ask for.

A number is compared with a node's number of the same quantity, else with what the node's formula gives for it.

Say how a number that a solution states differs from the number of a node: units, sign, factor, figures or value.

Values are compared with their units, and shown with them: 0.02 s is no wrong 20 ms. A number that is right in the
figures that it shows, where more are asked for, is called right with too few figures, never a wrong number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, formula, number, substitute, symbols_of, walk
from prism.diagnosis.consequences import find_source_formula, is_symbolic_equation, restates_given
from prism.diagnosis.repairs import short_form
from prism.diagnosis.state import DiagnosisState, ReadFormula, candidate_nodes
from prism.diagnosis.wording import Difference, describe_difference
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.features import claimed_number
from prism.equivalence.numbers.comparison import NumberSpec, compare_numbers
from prism.equivalence.numbers.known_values import implied_number
from prism.equivalence.numbers.stated import MIN_INTEGER_FIGURES, Numeric, StatedNumber
from prism.errors import count_of
from prism.physics.units import base_unit_product
from prism.problem.dag import ancestor_closure

UNIT_FACTORS = tuple(  # between units of time, speed, temperature scale, mass, energy
    Fraction(text) for text in ("60", "3600", "18/5", "24", "86400", "100", "1000", "4184/1000", "5/18")
)
_FACTORS = tuple(map(Fraction, ("2", "3", "4", "3/2", "355/113", "710/113", "1420/113")))  # pi, 2pi, 4pi last
_DECADES = 12  # largest power of ten that is tried as the factor between two numbers


def describe_number_difference(
    wanted: Numeric, spec: NumberSpec, node: int, claimed: StatedNumber, has: Expr, source: Formula
) -> Difference:
    """Describe how a stated number differs from the wanted one: units, sign, unit factor, short factor, or value only.

    Args:
        spec: tolerance of the node's number. node: index of that node.
        has: the stated number with its unit, as it is written.
        source: the node's formula, which states the wanted number or gives it.
    """
    should = number_as_written(source, wanted) if numeric_of(source) else _like(has, claimed, wanted.number)
    found = compare_numbers(wanted, claimed, spec)
    if found.reason == "dimension":
        return describe_difference("dimension", node, has, should, detail=found.detail)
    plain = _in_unit_of(wanted, claimed)
    loose = replace(spec, is_final=False)

    def is_right(factor: Fraction) -> bool:
        """Return True if the stated number times this factor is the wanted number."""
        scaled = replace(plain, value=plain.value * factor, ulp=abs(plain.ulp * factor))
        return compare_numbers(wanted, scaled, loose).status == "equivalent"

    if is_right(Fraction(-1)):
        return describe_difference("sign", node, has, should)
    tens = [Fraction(10) ** power for power in range(1, _DECADES + 1)]
    for kind, factors in (("unit", (*tens, *(UNIT_FACTORS if claimed.unit else ()))), ("factor", _FACTORS)):
        factor = next((each for one in factors for each in (one, 1 / one) if is_right(each)), None)
        if factor is not None:
            short = short_form(float(factor), 1e-6) if kind == "factor" else None
            return describe_difference(kind, node, has, should, amount=short or number(factor))
    times = float(plain.in_si / wanted.number.in_si) if wanted.number.in_si else 1.0
    apart = f"{abs(times - 1):.1%} off" if 0 < times < 2 else f"{times:.3g} times as large"
    return describe_difference("value", node, has, should, detail="" if times == 1 else apart)


def number_as_written(f: Formula, stated: Numeric) -> Expr:
    """Return the number with its unit as a formula writes it that states a number for a quantity."""
    return next((member for member in reversed(f.members) if member != stated.subject), f.members[-1])


def _in_unit_of(wanted: Numeric, claimed: StatedNumber) -> StatedNumber:
    """Return a stated number, in the unit of the wanted one if it has none."""
    return replace(claimed, unit=wanted.number.unit) if claimed.unit is None else claimed


def _like(has: Expr, claimed: StatedNumber, wanted: StatedNumber) -> Expr:
    """Return a wanted number in the unit of the stated one, written alike; in base units where that is not possible."""
    literal = next((node for node in walk(has) if node.op == "num" and node.value == abs(claimed.value)), None)
    is_alike = claimed.unit is None or (claimed.dimension == wanted.dimension and not claimed.unit.offset)
    if literal is None or not literal.value or not claimed.in_si or not is_alike:
        return Expr("mul", (_with_six_figures(wanted.in_si), base_unit_product(Fraction(1), 0, wanted.dimension)))
    return substitute(has, {literal: _with_six_figures(literal.value * wanted.in_si / claimed.in_si)})


def _with_six_figures(value: Fraction) -> Expr:
    """Return a number as an expression: whole numbers in full, others with at most six significant figures."""
    if value.denominator == 1:
        return number(value)
    return number(Fraction(f"{float(value):.6g}"), written=f"{float(value):.6g}")


def source_of_wrong_number(f: Formula, state: DiagnosisState) -> int | None:
    """Return the position of the wrong formula that a stated number was computed from; None if there is none."""
    numeric = numeric_of(f)
    if numeric is None:
        return None
    known = {**state.prepared.task.known_values, **state.numbers}
    for one in state.wrong:
        wrong_laws = [law for law in (*one.stated, *one.derived) if is_symbolic_equation(law)]
        if find_source_formula(numeric, wrong_laws, known, state.context):
            return one.source
    law = find_source_formula(numeric, state.laws, known, state.context) if state.numbers else None
    used = [] if law is None else [state.sources[name] for name in sorted(symbols_of(law)) if name in state.sources]
    return min(used, default=None)


@dataclass(frozen=True, slots=True)
class _NumberBesideNode:
    """A number that a formula states beside the number that a node asks for of the same quantity.

    Attributes:
        claimed: what is stated; written: the number with its unit as it is written. statement: that states it.
        wanted: what the node asks for; spec: its tolerance; source: the node's formula that states it or gives it.
        node: index of the node.
    """

    claimed: Numeric
    written: Expr
    statement: Formula
    wanted: Numeric
    spec: NumberSpec
    source: Formula
    node: int

    @property
    def is_right(self) -> bool:
        """Whether the number is that of the node, or is in the figures that it shows."""
        found = compare_numbers(self.wanted, self.claimed.number, self.spec)
        return found.status == "equivalent" or bool(self.too_few_figures)

    @property
    def too_few_figures(self) -> str:
        """In words, that the number is the node's, rounded to fewer figures than are asked for; empty if it is not."""
        claimed, asked = self.claimed.number, self.spec.figures or self.wanted.number.figures or MIN_INTEGER_FIGURES
        rounded = replace(self.spec, figures=claimed.shown + 1, is_final=False, is_node=False)
        is_asked = (
            0 < claimed.shown < asked
            and compare_numbers(self.wanted, _in_unit_of(self.wanted, claimed), rounded).status == "equivalent"
        )
        return f"{count_of(claimed.shown, 'figure')}, where {asked} are asked for" if is_asked else ""

    @property
    def difference(self) -> Difference:
        """How the number differs from that of the node."""
        claimed = self.claimed.number
        return describe_number_difference(self.wanted, self.spec, self.node, claimed, self.written, self.source)


def _numbers_beside_nodes(item: ReadFormula, state: DiagnosisState) -> Iterator[_NumberBesideNode]:
    """Yield each number that a formula states beside each that a node asks for of the same quantity, numbers first.

    Where a node asks for a formula, that gives the number: the nodes that the formula matches itself, else those that
    no formula of the solution matches.
    """
    numerics = [(f, claimed_number(f, state.context)) for stated in item.forms for f in stated]
    claimed = [(each, number_as_written(f, each), f) for f, each in numerics if each is not None]
    if not claimed and item.claim.formula.kind == "expression" and item.graded.kind == "boxed":
        boxed = item.claim.formula.members[0]
        claimed = [(each, boxed, formula((each.subject, boxed), ("=",))) for each in _boxed_number(item, state)]
    own = item.graded.nodes
    for reference in sorted(candidate_nodes(item, state) if claimed else [], key=lambda each: not each.is_number):
        is_asked = reference.index in own if own else reference.index not in state.matched
        for f in reference.formulas:
            for one, written, statement in claimed:
                wanted, spec = numeric_of(f), reference.number_spec
                if wanted is None and is_asked and subject_of(f) == one.subject:
                    wanted, spec = implied_number(f, one, state.context), NumberSpec(figures=3, is_node=True)
                if wanted is not None and wanted.subject == one.subject:
                    yield _NumberBesideNode(one, written, statement, wanted, spec, f, reference.index)


def number_difference(item: ReadFormula, state: DiagnosisState) -> tuple[Difference, None] | None:
    """Describe how the number that a formula states differs from a node's number; None if equal or not comparable."""
    beside = next(_numbers_beside_nodes(item, state), None)
    if beside is None or beside.is_right:
        return None
    difference = beside.difference
    return _with_unknown_origin(difference) if states_formula_for_number(item) else difference, None


def wrong_number_behind_match(item: ReadFormula, state: DiagnosisState) -> tuple[Formula, Difference] | None:
    """Return the statement of a wrong number in a formula that matches a node, with its difference; None without one.

    A number is wrong here if no node asks for it, and one asks for another: first a node that rests on those that the
    formula matches. Without a node for the number, the matched formula gives it.
    """
    by_number: dict[Numeric, list[_NumberBesideNode]] = {}
    for each in _numbers_beside_nodes(item, state):
        by_number.setdefault(each.claimed, []).append(each)
    dag = state.prepared.problem.dag
    for beside in by_number.values():
        if any(each.is_right for each in beside):
            continue
        resting = [each for each in beside if not ancestor_closure(dag, {each.node}).isdisjoint(item.graded.nodes)]
        found = (resting or beside)[0]
        if not restates_given(found.statement, state.context):
            return found.statement, found.difference
    return None


def reason_few_figures(item: ReadFormula, state: DiagnosisState) -> str:
    """Return in words that a formula only states a node's number, with too few figures; empty if it does not."""
    if states_formula_for_number(item):
        return ""  # that formula may be wrong
    beside = next(_numbers_beside_nodes(item, state), None)
    return f"the value is that of node {beside.node}, with {why}" if beside and (why := beside.too_few_figures) else ""


def states_formula_for_number(item: ReadFormula) -> bool:
    """Return True if an item states a formula beside its number (`E = mv^2 = 5 J`): the slip may be in that formula."""
    return any(is_symbolic_equation(f) and len(symbols_of(f)) > 1 for f in item.forms[0])


def _with_unknown_origin(difference: Difference) -> Difference:
    """Return a number's difference with its kind set to `value`, label `undetermined`; unit differences stay as is."""
    if difference.kind in ("dimension", "unit"):
        return difference
    has, should = difference.has, difference.should
    full = f"The number is ${has}$, where ${should}$ is right, and what it is worked out from is no node."
    return replace(difference, kind="value", label="undetermined", amount="", full=full)


def _boxed_number(item: ReadFormula, state: DiagnosisState) -> list[Numeric]:
    """Return a boxed bare number as the value of the only unmatched numerical answer; empty unless there is one."""
    finals = state.prepared.problem.dag.finals - state.matched
    numerical = [each for each in state.prepared.task.references if each.index in finals and each.is_number]
    wanted = [numeric_of(f) for each in numerical for f in each.formulas[:1]]
    if len(wanted) != 1 or wanted[0] is None:
        return []
    claimed = numeric_of(formula((wanted[0].subject, item.claim.formula.members[0]), ("=",)))
    return [] if claimed is None else [claimed]

"""Solve a template once: for each case its nodes, the order in which its quantities follow, and its texts.

What is found wrong here needs the whole template: a number that nothing determines, an unknown symbol, a unit that
does not fit. Loading has checked every value by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Expr, Formula, number, substituted, symbol, symbols_of, walk
from prism.equivalence.facts import in_base_units, numeric_of
from prism.equivalence.numbers.comparison import NumberSpec, tolerance
from prism.errors import DataFileError, raise_faults
from prism.generation.exact_values import Value, compares, digits, figures_of
from prism.generation.loading import TemplateSource, load_template
from prism.generation.root_search import Interval
from prism.generation.solving import (
    Ambiguous,
    Domains,
    Relation,
    Step,
    Unsolved,
    broken_relation,
    holds,
    plan_steps,
    relations_of,
    solved_one_by_one,
    work_out_step,
)
from prism.generation.template import AskedNumber, Case, Condition, Template
from prism.generation.values import DrawnValue, draw_values, draw_wording, original_values
from prism.generation.wording import number_latex, with_values
from prism.inputs import did_you_mean
from prism.latex import write
from prism.physics.context import Context, constant_readings, may_be_constant, parse
from prism.physics.dimensions import Inconsistent, dimension_of, dimension_text
from prism.physics.tables import DIMENSIONLESS, Dimension, Unit
from prism.problem.dag import ReferenceDag, ancestor_closure
from prism.problem.schema import Problem, load_problem

MAX_ATTEMPTS = 1000  # draws of a seed; conditions that none of them fulfils are a fault of the template
_LARGEST = Fraction(10) ** 200  # size of a number in SI units that an instance may have; its inverse is the smallest
_NO_VALUE = "integrals, derivatives, sums and vectors are not evaluated"
_NODE_IN_FAULT = re.compile(r"\bnodes? (\d+)")
_NEGATIVE_KINDS = ("real", "negative", "angle")
_MOST_FIGURES = 15  # of a value in SI units that is told without a unit


@dataclass(frozen=True, slots=True)
class PreparedNode:
    """A node of one case, numbered anew.

    Attributes:
        index: in the instance. own_index: in the template.
        latex: its formula as the author wrote it; empty for a number.
        formula: parsed; None for a number.
        number: None for a formula.
        prerequisites: indices in the instance.
        part: letter of the subquestion under which it stands; empty without parts.
        is_final: a final answer.
        relations: of its formula, as far as they are evaluated.
        tolerance: relative, of its number.
        further: other keys of the problem file.
    """

    index: int
    own_index: int
    latex: str
    formula: Formula | None
    number: AskedNumber | None
    prerequisites: tuple[int, ...]
    part: str
    is_final: bool
    relations: tuple[Relation, ...]
    tolerance: Fraction
    further: Mapping[str, Any] = field(hash=False)

    @property
    def required_number(self) -> AskedNumber:
        """Return what a number node asks for."""
        assert self.number is not None
        return self.number


@dataclass(frozen=True, slots=True, eq=False)
class PreparedCase:
    """One case of a template, solved.

    Attributes:
        case: None for a template without cases.
        nodes: in order.
        dag: their edges.
        context: of its problem files.
        constants: values of the constants of nature that its formulas use, by name [SI].
        checked: the conditions with their relations.
        steps: what is worked out, in order.
        unneeded_steps: what the formulas determine besides, which no number needs.
        told_nodes: indices of the nodes that `knowledge` tells.
        abstract_nodes: of those that `abstract` tells, where no physics says the rest: with them every final answer
            follows; None if it does not with all formulas that are no final answers.
        signed: symbols that may be negative.
        domains: in which roots are looked for, if a step is the root of an equation; None if all are closed forms.
        dimensions: of symbols by name, as far as they are known.
        renamed: name of each symbol in the variant `abstract`, by its own.
        changed: formulas with a fault that were planned before, by (index, kind).
    """

    case: Case | None
    nodes: tuple[PreparedNode, ...]
    dag: ReferenceDag
    context: Context
    constants: Mapping[str, Value]
    checked: tuple[tuple[Condition, tuple[Relation, ...]], ...]
    steps: tuple[Step, ...]
    unneeded_steps: tuple[Step, ...]
    told_nodes: tuple[int, ...]
    abstract_nodes: tuple[int, ...] | None
    signed: frozenset[str]
    domains: Domains | None
    dimensions: Mapping[str, Dimension]
    renamed: Mapping[str, str]
    changed: dict[tuple[int, str], Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the case; empty without cases."""
        return self.case.name if self.case else ""

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Return the relations of all nodes."""
        return tuple(each for node in self.nodes for each in node.relations)

    @property
    def numbers(self) -> tuple[PreparedNode, ...]:
        """Return the nodes that ask for a number."""
        return tuple(node for node in self.nodes if node.number is not None)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTemplate:
    """A template with each of its cases solved."""

    template: Template
    cases: Mapping[str, PreparedCase]

    def __repr__(self) -> str:
        """Return the id, `<PreparedTemplate braking>`."""
        return f"<PreparedTemplate {self.template.id}>"


def prepare_template(source: TemplateSource | PreparedTemplate) -> PreparedTemplate:
    """Load a template and solve it.

    Errors:
        DataFileError: all faults at once, each naming entry and field.
    """
    if isinstance(source, PreparedTemplate):
        return source
    template = load_template(source)
    faults: list[str] = []
    cases = {}
    for name in template.case_names:
        found: list[str] = []
        prepared = _prepare_case(template, template.case(name), found)
        faults += [fault for fault in found if fault not in faults]
        if prepared is not None:
            cases[name] = prepared
    raise_faults(faults, template.file)
    return PreparedTemplate(template, cases)


def _prepare_case(template: Template, case: Case | None, faults: list[str]) -> PreparedCase | None:
    """Return one case, solved; None, with faults, if it is not."""
    name = case.name if case else ""
    drawn = original_values(template, template.original) if template.original else draw_values(template, 0, 1)
    data = problem_data(template, name, _blank_nodes(template, name), drawn, draw_wording(template, 0))
    try:
        problem = load_problem(data)
    except DataFileError as error:
        own = [node.index for node in template.nodes_of(name)]
        faults += [_NODE_IN_FAULT.sub(lambda found: _own_number(found, own), fault) for fault in error.faults]
        return None
    for declared, node in zip(template.nodes_of(name), problem.nodes, strict=True):
        if declared.number is not None and numeric_of(node.formula) is None:
            text = f"`{node.latex}` is not read as a quantity with its number and unit"
            faults.append(f"node {declared.index}, number: {text}")
    signed = _signed_names(template, problem)
    nodes = _prepared_nodes(template, name, problem)
    conditions = [*template.constraints, *([case.condition] if case else [])]
    checked = tuple((each, relations_of(each.formula, 0)) for each in conditions)
    for each, relations in checked:
        if not relations:
            faults.append(f"{each.where}: `{each.formula.latex}` cannot be evaluated")
    known = {each.name for each in template.parameters.values() if each.name}
    constants = _constants(nodes, checked, problem.context, known)
    wanted = {node.required_number.name for node in nodes if node.number is not None}
    wanted |= {name for _, relations in checked for each in relations for name in each.names}
    steps = _checked_plan(
        nodes, wanted - known - set(constants), {*known, *constants}, signed, problem, checked, faults
    )
    if steps is None:
        return None
    domains = _domains(problem.context) if any(step.equation for step in steps) else None
    dimensions = _known_dimensions(template, problem.context, constants)
    faults += _dimension_faults(nodes, steps, dimensions)
    faults += _condition_faults(checked, dimensions)
    have = {*known, *constants, *(step.name for step in steps)}
    others = {name for node in nodes for each in node.relations for name in each.names} - have
    every = [each for node in nodes for each in node.relations]
    unneeded = tuple(step for name in sorted(others) for step in plan_steps(every, have, [name], signed) or ())
    named = template.told_nodes
    if named is None:
        named = tuple(
            node.own_index for node in nodes if node.number is None and not (node.prerequisites or node.is_final)
        )
    told_nodes = tuple(node.index for node in nodes if node.own_index in named)
    return PreparedCase(
        case, nodes, problem.dag, problem.context, constants, checked, steps, unneeded, told_nodes,
        _nodes_of_abstract(nodes, told_nodes, {*known, *constants}, signed, domains), signed, domains, dimensions,
        _renamed(template, nodes, constants),
    )  # fmt: skip


def _nodes_of_abstract(
    nodes: Sequence[PreparedNode],
    told_nodes: Sequence[int],
    known: set[str],
    signed: frozenset[str],
    domains: Domains | None,
) -> tuple[int, ...] | None:
    """Return the told nodes, and of the further formulas the fewest with which all final answers follow.

    A law that has prerequisites is told by the physics of a wording; where there is none, nothing else says it. None if
    they do not follow from all of them together.
    """
    finals = [node for node in nodes if node.is_final]
    wanted = {node.required_number.name for node in finals if node.number is not None}
    wanted |= {name for node in finals for each in node.relations for name in each.names}

    def follow(several: Sequence[PreparedNode]) -> bool:
        """Return True if the final answers follow from these nodes."""
        relations = [each for node in several for each in node.relations]
        return plan_steps(relations, known, wanted - known, signed, domains) is not None

    kept = [node for node in nodes if node.index in told_nodes or (node.relations and not node.is_final)]
    if not follow(kept):
        return None
    for node in reversed(kept):
        without = [other for other in kept if other is not node]
        if node.index not in told_nodes and follow(without):
            kept = without
    return tuple(node.index for node in kept)


def _own_number(found: re.Match[str], own: Sequence[int]) -> str:
    """Return the words `node 3` of a fault with the author's index of the node."""
    place = int(found[1]) - 1
    return f"node {own[place]}" if place < len(own) else found[0]


def _blank_nodes(template: Template, case: str) -> dict[int, str]:
    """Return a LaTeX text for each node of a case by the author's index, its numbers made up."""
    return {
        node.index: node.latex
        if node.number is None
        else number_latex(node.number.latex, f"{node.number.figures}.5", node.number.unit_text)
        for node in template.nodes_of(case)
    }


def problem_data(
    template: Template, case: str, nodes: Mapping[int, str], drawn: Mapping[str, DrawnValue], wording: int
) -> dict[str, Any]:
    """Return the table of a problem file without students and metadata.

    Args:
        case: name of the case.
        nodes: LaTeX of each node, by the author's index.
        drawn: values by the keys of the parameters.
        wording: place from 0.
    """
    own = template.case(case)
    text = with_values(template.wordings[wording], own.text if own else "", template.parameters, drawn)
    data: dict[str, Any] = {"id": template.id, **template.shared, "context": text}
    parts = [part for part in template.subquestions if part["case"] in ("", case)]
    if parts:
        data["subquestions"] = [
            {
                key: with_values(value, "", template.parameters, drawn) if key == "subproblem" else value
                for key, value in part.items()
                if key != "case"
            }
            for part in parts
        ]
    place = {node.index: at for at, node in enumerate(template.nodes_of(case), start=1)}
    data["grading_standard"] = [
        {
            "index": place[node.index],
            "formula": nodes[node.index],
            "dependency": [place[index] for index in node.dependency if index in place],
            **node.further,
        }
        for node in template.nodes_of(case)
    ]
    return data


# Nodes, symbols and constants. -----------------------------------------------------------------------------------


def _prepared_nodes(template: Template, case: str, problem: Problem) -> tuple[PreparedNode, ...]:
    """Return the nodes of a case with what the loaded problem knows of them."""
    numbers: set[int] = set()
    found = []
    parts = _parts_of_nodes(problem)
    for own, node in zip(template.nodes_of(case), problem.nodes, strict=True):
        place = problem.dag.positions[node.index]
        before = ancestor_closure(problem.dag, {node.index}) - {node.index}
        spec = NumberSpec(is_final=node.is_final, n_before=len(before & numbers), is_node=True)
        allowed = Fraction(0)
        if own.number is not None:
            numbers.add(node.index)
            allowed = tolerance(own.number.figures, spec)
        is_formula = own.number is None and not node.is_text
        found.append(
            PreparedNode(
                node.index,
                own.index,
                own.latex,
                node.formula if own.number is None else None,
                own.number,
                problem.dag.nodes[place].prerequisites,
                parts[node.index],
                node.is_final,
                relations_of(node.formula, own.index) if is_formula else (),
                allowed,
                own.further,
            )
        )
    return tuple(found)


def _parts_of_nodes(problem: Problem) -> dict[int, str]:
    """Return the letter of the part under which each node stands: its own, or that of the first answer it leads to."""
    finals = [node for node in problem.nodes if node.is_final]
    before = {node.index: ancestor_closure(problem.dag, {node.index}) for node in finals}
    found = {}
    for node in problem.nodes:
        first = next((each.subquestion for each in finals if node.index in before[each.index]), "")
        found[node.index] = node.subquestion or first
    return found


def _signed_names(template: Template, problem: Problem) -> frozenset[str]:
    """Return the symbols that may be negative: declared so, or drawn so."""
    declared = {
        name for name, each in problem.context.symbols.items() if each.kind in _NEGATIVE_KINDS or each.is_sign_free
    }
    drawn = {each.name for each in template.parameters.values() if each.sign != "+" or each.bounds[0] < 0}
    return frozenset(declared | drawn)


def _domains(context: Context) -> dict[str, Interval]:
    """Return the lowest and highest value of each symbol for which the author declares them."""
    declared = {name: each.domain for name, each in context.symbols.items() if each.domain is not None}
    return {name: (Fraction(str(low)), Fraction(str(high))) for name, (low, high) in declared.items()}


def _constants(
    nodes: Sequence[PreparedNode],
    checked: Sequence[tuple[Condition, tuple[Relation, ...]]],
    context: Context,
    known: set[str],
) -> dict[str, Value]:
    """Return the values of the constants of nature that formulas use, by name; what a formula is solved for is none."""
    relations = [each for node in nodes for each in node.relations]
    relations += [each for _, several in checked for each in several]
    solved = {side.name for each in relations for side in (each.left, each.right) if side.op == "sym"}
    solved |= {node.required_number.name for node in nodes if node.number is not None}
    found: dict[str, Value] = {}
    for name in sorted({name for each in relations for name in each.names} - known - solved):
        if may_be_constant(context, name):
            values = {reading.value.value for reading in constant_readings(context, name) if reading.value is not None}
            if len(values) == 1:
                found[name] = values.pop()
    return found


def _renamed(template: Template, nodes: Sequence[PreparedNode], constants: Mapping[str, Value]) -> dict[str, str]:
    """Return the names of the variant `abstract`: x_1, x_2, ... for what is given, y_1, ... for what follows."""
    given = [each.name for each in template.parameters.values() if each.name] + sorted(constants)
    names = {name: f"x_{k}" if k < 10 else f"x_{{{k}}}" for k, name in enumerate(given, start=1)}
    rest: list[str] = []
    for node in nodes:
        members = node.formula.members if node.formula is not None else ()
        parts = [part.name for member in members for part in walk(member) if part.op == "sym"]
        parts += sorted(symbols_of(node.formula)) if node.formula is not None else [node.required_number.name]
        rest += [name for name in parts if name not in names and not name.startswith(r"\unit{")]
    rest = list(dict.fromkeys(rest))
    names.update((name, f"y_{k}" if k < 10 else f"y_{{{k}}}") for k, name in enumerate(rest, start=1))
    return names


# Plans. ----------------------------------------------------------------------------------------------------------


def _checked_plan(
    nodes: Sequence[PreparedNode],
    wanted: set[str],
    known: set[str],
    signed: frozenset[str],
    problem: Problem,
    checked: Sequence[tuple[Condition, tuple[Relation, ...]]],
    faults: list[str],
) -> tuple[Step, ...] | None:
    """Return the steps for all wanted symbols; None, with a fault for each that nothing determines."""
    every = [each for node in nodes for each in node.relations]
    domains = _domains(problem.context)
    before = len(faults)
    for node in nodes:
        if node.number is None or node.required_number.name in known:
            continue
        ancestors = ancestor_closure(problem.dag, {node.index}) - {node.index}
        own = [each for other in nodes if other.index in ancestors for each in other.relations]
        if plan_steps(own, known, [node.required_number.name], signed, domains) is None:
            closed = [other for other in nodes if other.index in ancestors and other.formula and not other.relations]
            why = "".join(f"; node {other.own_index} gives no value: {_NO_VALUE}" for other in closed)
            why = why or _why_open(own, known, node.required_number.name, signed)
            text = f"nothing before it determines {node.required_number.latex}{why}"
            faults.append(f"node {node.own_index}, number: {text}")
    for condition, relations in checked:
        for name in sorted({name for each in relations for name in each.names} & wanted):
            if plan_steps(every, known, [name], signed, domains) is None:
                near = did_you_mean(name, sorted({*known, *(of for each in every for of in each.names)} - {name}))
                near = near if all(name not in each.names for each in every) else ""
                faults.append(f"{condition.where}: nothing determines {name}{near}")
    if len(faults) > before:
        return None
    steps = plan_steps(every, known, wanted, signed, domains)
    if steps is None:
        faults.append("grading_standard: the formulas do not determine all numbers together")
    return steps


def _why_open(relations: Sequence[Relation], known: set[str], name: str, signed: frozenset[str]) -> str:
    """Return what stands in the way of a number, for a message: a formula that is not solved, or symbols."""
    if all(name not in each.names for each in relations):
        return f"; no formula before it has {name}"
    solved = solved_one_by_one([each for each in relations if each.relation == "="], frozenset(known), signed, {})
    have = {*known, *(step.name for step in solved)}
    hints = []
    for each in relations:
        left = each.names - have
        if len(left) == 1:
            one = min(left)
            how = f"write it as `{one} = ...`, or let {one} be given and ask for what follows from it"
            hints.append(f"node {each.index} has no solution for {one} that is found: {how}")
    open_names = sorted({name for each in relations for name in each.names} - have - {name})
    if open_names and not hints:
        hints.append(f"without a value are {', '.join(open_names[:8])}")
    return "".join(f"; {hint}" for hint in dict.fromkeys(hints))


def _known_dimensions(template: Template, context: Context, constants: Mapping[str, Value]) -> dict[str, Dimension]:
    """Return the dimensions of parameters and constants by name."""
    known: dict[str, Dimension] = {
        each.name: each.unit.dimension if each.unit else DIMENSIONLESS
        for each in template.parameters.values()
        if each.name
    }
    for name in constants:
        found = {reading.value.dimension for reading in constant_readings(context, name) if reading.value is not None}
        if len(found) == 1:
            known[name] = found.pop()
    return known


def _dimension_faults(nodes: Sequence[PreparedNode], steps: Sequence[Step], known: dict[str, Dimension]) -> list[str]:
    """Return a fault for each formula or number whose dimensions do not fit, as far as they are known.

    Args:
        known: dimensions by name; those that the steps determine are added.
    """
    faults = []
    units = {node.required_number.name: node.required_number.unit for node in nodes if node.number is not None}
    for step in steps:
        try:
            dimension = _dimension_of_step(step, known, units)
        except Inconsistent as fault:
            faults.append(f"node {step.index}, formula: {fault}")
            continue
        if dimension is not None:
            known[step.name] = dimension
    for node in nodes:
        if node.number is not None and (dimension := known.get(node.required_number.name)) is not None:
            stated = node.required_number.unit.dimension if node.required_number.unit else DIMENSIONLESS
            if stated != dimension:
                quantity = node.required_number.latex
                what = f"{quantity} is in {dimension_text(dimension)}, its unit in {dimension_text(stated)}"
                faults.append(f"node {node.own_index}, number, unit: {what}")
    return faults


def _dimension_of_step(
    step: Step, known: Mapping[str, Dimension], units: Mapping[str, Unit | None]
) -> Dimension | None:
    """Return the dimension of what a step works out, of a root the stated one; None if it is not known.

    Args:
        units: of the numbers that are asked for, by name of the quantity.

    Errors:
        Inconsistent: a formula has unlike terms or sides.
    """
    if step.relation is None:
        return dimension_of(step.ways[0], known)
    own = known.get(step.name)
    if own is None and step.name in units:
        unit = units[step.name]
        own = unit.dimension if unit else DIMENSIONLESS
    residual = Expr("sub", (step.relation.left, step.relation.right))
    dimension_of(residual, known if own is None else {**known, step.name: own})
    return own


def _condition_faults(
    checked: Sequence[tuple[Condition, tuple[Relation, ...]]], known: Mapping[str, Dimension]
) -> list[str]:
    """Return a fault for each condition that compares unlike quantities, a plain number with a length included."""
    faults = []
    for condition, relations in checked:
        for each in relations:
            try:
                left, right = dimension_of(each.left, known), dimension_of(each.right, known)
            except Inconsistent as fault:
                faults.append(f"{condition.where}: {fault}")
                continue
            if left is not None and right is not None and left != right:
                text = f"one side is in {dimension_text(left)}, the other in {dimension_text(right)}"
                faults.append(f"{condition.where}: {text}")
    return faults


# Values. ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """The values of one instance.

    Attributes:
        case: that it has.
        seed, attempt: of the draw; both 0 for the author's own values.
        wording: place from 0.
        drawn: values of the parameters, by key.
        values: of all symbols that have one, by name [SI].
    """

    case: PreparedCase
    seed: int
    attempt: int
    wording: int
    drawn: Mapping[str, DrawnValue]
    values: Mapping[str, Value]


def solved_values(case: PreparedCase, given: Mapping[str, Value]) -> dict[str, Value] | None:
    """Return the values of all symbols from those of the parameters; None if a condition does not hold for them.

    Errors:
        Unsolved: the conditions hold, and a quantity has no value, or two formulas give it different ones; or only
            what has several roots decides about a condition.
    """
    values = known_values(case, given)
    broken_ones = broken_conditions(case, values)
    if broken_ones:
        if case.domains is not None and not any(_is_decided(case, each, values) for each in broken_ones):
            _raise_ambiguous(case, values)
        return None
    for step in case.steps:
        if step.name not in values:
            work_out_step(step, values)
    broken = broken_relation(case.relations, values)
    if broken is not None:
        raise Unsolved(f"node {broken.index} does not hold for the values that other formulas give")
    for node in case.numbers:
        size = abs(values[node.required_number.name])
        if compares(size, ">", _LARGEST) or (compares(size, ">", Fraction(0)) and compares(size, "<", 1 / _LARGEST)):
            raise Unsolved(
                f"node {node.own_index}: {node.required_number.latex} is beyond all magnitudes that are graded"
            )
    return values


def _is_decided(case: PreparedCase, condition: Condition, values: Mapping[str, Value]) -> bool:
    """Return True if all quantities of a condition have values."""
    relations = next(several for each, several in case.checked if each is condition)
    return all(name in values for each in relations for name in each.names)


def _raise_ambiguous(case: PreparedCase, values: Mapping[str, Value]) -> None:
    """Raise the fault of a step whose equation has several roots; pass where a quantity only has no value."""
    for step in case.steps:
        if step.equation is not None and step.name not in values:
            try:
                work_out_step(step, values)
            except Ambiguous:
                raise
            except Unsolved:
                continue


def known_values(case: PreparedCase, given: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values of all symbols that have one, whether the conditions hold or not."""
    values = {**given, **case.constants}
    for step in (*case.steps, *case.unneeded_steps):
        with suppress(Unsolved):
            values[step.name] = work_out_step(step, values)
    return values


def broken_conditions(case: PreparedCase, values: Mapping[str, Value]) -> list[Condition]:
    """Return the conditions that do not hold, with their margins."""
    return [
        condition
        for condition, several in case.checked
        if not all(holds(each, values, condition.margin) for each in several)
    ]


def si_text(value: DrawnValue, exact: Value) -> str:
    """Return a parameter's value in SI units with all its digits, at most 15, and no fewer than it has."""
    figures = value.figures or figures_of(value.text)
    if isinstance(exact, Fraction):
        for more in range(figures, _MOST_FIGURES):
            text = digits(exact, more)
            if _is_exactly(text, exact):
                return text
    return digits(exact, _MOST_FIGURES)


def _is_exactly(text: str, exact: Fraction) -> bool:
    r"""Return True if a written number (`1.5\times 10^{6}`) is a value without rounding."""
    mantissa, _, power = text.partition(r"\times 10^{")
    return Fraction(mantissa) * Fraction(10) ** int(power.removesuffix("}") or "0") == exact


def renamed_latex(case: PreparedCase, written: Formula) -> str:
    r"""Return a formula as LaTeX with the symbols of the variant `abstract`, its units as numbers of SI units."""
    plain = in_base_units(written)
    new = {symbol(name): symbol(case.renamed[name]) for name in symbols_of(plain) if name in case.renamed}
    new |= {symbol(name): number(1) for name in symbols_of(plain) if name.startswith(r"\unit{")}
    return write(substituted(plain, new))


def parse_in(case: PreparedCase, latex: str) -> Formula:
    """Return a formula of a template, parsed with the context of its problem files."""
    return parse(latex, context=case.context)

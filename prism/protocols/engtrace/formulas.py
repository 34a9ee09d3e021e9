"""What the formulas of two steps say of each other: the same, something different, or nothing that a rule can decide.

The formulas of the gold steps are the nodes of a task, those of the predicted steps its claims, and PRISM's own match
matrix compares them: with the problem's context, with the definitions of the solution, and under its own names for the
gold's symbols. Where the problem file is there, two steps also meet in a node of its DAG that both state.

A number is compared by the tolerance of the protocol, and only the last one of a step, its result: a given that is
repeated says nothing about a step. A formula that follows from the gold's, or that has letters which the gold does not
know and which are no names of its own, is never called different.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, spell, symbols, symbols_of
from prism.budget import CHARACTER, CONSEQUENCES, SOLUTION, share
from prism.diagnosis.consequences import combine_formulas, is_symbolic_equation, matches_any
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.features import is_tautology
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.numbers.stated import Numeric, StatedNumber
from prism.equivalence.statements import statements_of
from prism.equivalence.verdict import Status
from prism.errors import LatexSyntaxError
from prism.grading.claims.claim import Claim, is_committed
from prism.grading.claims.own_symbols import fresh_quantities
from prism.grading.match_matrix import Cell, MatchMatrix, build_match_matrix
from prism.grading.prepared import PreparedProblem
from prism.grading.references import MatchTask, ReferenceNode
from prism.grading.result import Grade, Incident
from prism.latex import extract, write
from prism.physics.context import Context, parse
from prism.protocols.engtrace.steps import Trace, numbers_agree

_COUNTED_KINDS = ("display", "inline", "boxed", "plain")  # of formulas; not those of a thinking block


class Meeting(StrEnum):
    """What the formulas of two steps say of each other."""

    SAME = "same"
    DIFFERENT = "different"  # proved: each formula of the one beside each of the other
    ONE_SIDED = "one-sided"  # only one of the steps states a formula
    OPEN = "open"
    NONE = "none"  # neither states one


@dataclass(frozen=True, slots=True)
class NumberDifference:
    """Two numbers of one quantity, the gold's and another."""

    wanted: Numeric
    claimed: StatedNumber


@dataclass(frozen=True, slots=True)
class StepPair:
    """A gold step beside a predicted step.

    Attributes:
        same_number: both state the same number of one quantity, as quantities: 4.2 km is 4200 m.
        differences: numbers of one quantity that they state differently; none if they agree in another.
        findings: what they share: `node 3`, `formula: h_f = ...`.
    """

    meeting: Meeting
    same_number: bool = False
    differences: tuple[NumberDifference, ...] = ()
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepPairs:
    """All pairs of steps of two traces, a row for each gold step, and failures of the engine on the way."""

    rows: tuple[tuple[StepPair, ...], ...]
    notes: tuple[str, ...] = ()
    incidents: tuple[Incident, ...] = ()


@dataclass(slots=True)
class _StepFormulas:
    """What a step states.

    Attributes:
        formulas: with two quantities or more, as they are compared.
        claims: the whole formulas that state them, with whether the step presents each as a result.
        numbers: of the last formula of the step that states one: each quantity with its number.
        nodes: of the problem's DAG that the step states, where the problem is there.
        is_unread: it holds something that could not be read as a formula.
    """

    formulas: list[Formula] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    numbers: dict[Expr, StatedNumber] = field(default_factory=dict)
    nodes: set[int] = field(default_factory=set)
    is_unread: bool = False

    @property
    def states_any(self) -> bool:
        """True if the step states a formula or the number of a quantity."""
        return bool(self.formulas or self.numbers or self.nodes)


@dataclass(frozen=True, slots=True)
class GradedTraces:
    """The gold and the predicted trace, graded by the problem whose DAG the gold follows."""

    prepared: PreparedProblem
    gold: Grade
    predicted: Grade


def pair_steps(
    gold: Trace, predicted: Trace, tolerance: Fraction, *, question: str = "", graded: GradedTraces | None = None
) -> StepPairs:
    """Compare the formulas of each gold step with those of each predicted step.

    Args:
        tolerance: relative, of the numbers of one quantity.
        question: its symbols are known to both.
        graded: by the problem file, where there is one.
    """
    limit = SOLUTION + CHARACTER * (len(gold.text) + len(predicted.text) + len(question))
    with share(limit):
        return _pairs_within_budget(gold, predicted, tolerance, question, graded)
    is_open = StepPair(Meeting.OPEN)
    notes = (f"formulas: more than {limit} operations; what they say of each other is open",)
    return StepPairs(tuple((is_open,) * len(predicted.steps) for _ in gold.steps), notes)


def _pairs_within_budget(
    gold: Trace, predicted: Trace, tolerance: Fraction, question: str, graded: GradedTraces | None
) -> StepPairs:
    """Compare the formulas of steps; arguments as of `pair_steps`."""
    context = graded.prepared.task.context if graded else Context()
    of_gold = _formulas_by_step(gold, context, graded.gold if graded else None)
    of_predicted = _formulas_by_step(predicted, context, graded.predicted if graded else None)
    asked = _formulas_in(question, context)
    known = context.declared.union(*map(symbols_of, (*_formulas_in(gold.text, context), *asked)))
    distinct = tuple(_distinct(of_gold))
    spec = NumberSpec(has_values=True)
    references = tuple(ReferenceNode(k, (f,), spec) for k, f in enumerate(distinct))
    task = MatchTask(references, context, known | (graded.prepared.task.known if graded else frozenset()))
    matrix = build_match_matrix(task, [claim for step in of_predicted for claim in step.claims])
    laws = [f for f in dict.fromkeys((*distinct, *asked)) if is_symbolic_equation(f)]
    views = tuple(_views_of(of_predicted, matrix, _consequences(laws)))
    places = {each.formulas[0]: each.index for each in references}
    numeric = _number_nodes(graded)
    rows = tuple(tuple(_pair_of(one, other, places, numeric, tolerance) for other in views) for one in of_gold)
    return StepPairs(rows, (), matrix.incidents)


# Reading. -------------------------------------------------------------------------------------------------------


def _formulas_by_step(trace: Trace, context: Context, grade: Grade | None) -> list[_StepFormulas]:
    """Return what each step of a trace states, by the place where each formula stands.

    Formulas outside of all steps, or of a kind that is not counted, are left out; a step with one that cannot be read
    is marked. A grade adds the nodes that formulas of the step match, those withheld included.
    """
    found = [_StepFormulas() for _ in trace.steps]
    for located in extract(trace.text, macros=context.macros, symbols=context.declared):
        step = _step_at(trace, located.span[0])
        if step is None or located.kind not in _COUNTED_KINDS:
            continue
        try:
            written = parse(located.latex, context=context)
        except LatexSyntaxError as error:
            found[step].is_unread |= error.kind != "prose"
            continue
        _add_formula(found[step], Claim(written, is_committed(located)), context)
    for item in grade.formulas if grade else ():
        if (step := _step_at(trace, item.span[0])) is not None:
            found[step].nodes |= {*item.nodes, *(node for node, _ in item.withheld)}
    return found


def _step_at(trace: Trace, offset: int) -> int | None:
    """Return the place of the step that an offset of a trace lies in; None before the first."""
    return next((k for k, step in enumerate(trace.steps) if step.span[0] <= offset < step.span[1]), None)


def _add_formula(step: _StepFormulas, claim: Claim, context: Context) -> None:
    """Add a formula to what a step states: its statements on quantities, and the numbers that it gives."""
    numbers: dict[Expr, StatedNumber] = {}
    formulas, valued = list[Formula](), list[Formula]()
    for statement in statements_of(claim.formula):
        f = statement.formula
        if (numeric := numeric_of(f)) is not None:
            numbers[numeric.subject] = numeric.number
        elif f.kind != "expression" and not _is_calculation(f) and not is_tautology(f, context):
            (valued if f.kind == "equation" and not all(map(symbols, f.members)) else formulas).append(f)
    formulas = formulas or valued  # `m a = 6 N` of a chain says no more than its other links do
    step.formulas += formulas
    step.numbers = numbers or step.numbers
    if numbers or formulas:
        step.claims.append(claim)


def _is_calculation(f: Formula) -> bool:
    """Return True for values put in, `F = 3 * 5`: a number that is still to be worked out."""
    return subject_of(f) is not None and len(symbols_of(f)) == 1


def _formulas_in(text: str, context: Context) -> list[Formula]:
    """Return all formulas of a text that can be read."""
    found: list[Formula] = []
    for located in extract(text, macros=context.macros, symbols=context.declared):
        with suppress(LatexSyntaxError):
            found.append(parse(located.latex, context=context))
    return found


def _distinct(steps: Iterable[_StepFormulas]) -> Iterator[Formula]:
    """Yield the formulas of steps, each once."""
    yield from dict.fromkeys(f for step in steps for f in step.formulas)


def _number_nodes(graded: GradedTraces | None) -> frozenset[int]:
    """Return the nodes of the problem that ask for a number."""
    references = graded.prepared.task.references if graded else ()
    return frozenset(node.index for node in references if node.is_number)


# Comparing. -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _PredictedView:
    """A predicted step as the gold steps see it.

    Attributes:
        stated: what it states. numbers: its numbers, by the gold's names.
        equivalent: references that a formula of it says. undecided: those for which no formula of it is decided.
        is_beyond: it has letters that the gold does not know and that no comparison explains, or a formula that follows
            from the gold's: none of it is called different.
    """

    stated: _StepFormulas
    numbers: dict[Expr, StatedNumber]
    equivalent: frozenset[int]
    undecided: frozenset[int]
    is_beyond: bool


def _consequences(laws: Sequence[Formula]) -> tuple[Formula, ...] | None:
    """Return what follows from equations by substituting one into another; None if the operations do not suffice."""
    with share(CONSEQUENCES):
        return combine_formulas(laws, laws)
    return None


def _views_of(
    steps: Sequence[_StepFormulas], matrix: MatchMatrix, derived: tuple[Formula, ...] | None
) -> Iterator[_PredictedView]:
    """Yield the predicted steps, with the rows of the matrix that belong to each.

    Args:
        derived: what follows from the gold's formulas; None if that is not known, and then nothing is called different.
    """
    context = matrix.cells.task.context
    names = {atom: Expr("sym", name=name) for atom, name in matrix.own_symbols.names.items()}
    known = matrix.cells.task.known
    place = 0
    for step in steps:
        rows = matrix.rows[place : place + len(step.claims)]
        claims = matrix.claims[place : place + len(step.claims)]
        place += len(step.claims)
        indices = [node.index for node in matrix.cells.task.references]
        cells = {k: [row.get(k) for row in rows] for k in indices}
        foreign = [atom for claim in claims for atom in fresh_quantities(claim.formula, known) if atom not in names]
        unmatched = [
            claim for claim, row in zip(claims, rows, strict=True) if not any(cell.is_match for cell in row.values())
        ]
        yield _PredictedView(
            step,
            {names.get(subject, subject): number for subject, number in step.numbers.items()},
            frozenset(k for k, beside in cells.items() if any(cell is not None and cell.is_match for cell in beside)),
            frozenset(k for k, beside in cells.items() if not all(_is_refuted(cell) for cell in beside)),
            bool(foreign) or derived is None or _follows(unmatched, derived, context),
        )


def _follows(claims: Sequence[Claim], derived: tuple[Formula, ...], context: Context) -> bool:
    """Return True if a claim states one of derived formulas; also if the operations do not suffice to say."""
    stated = (each.formula for claim in claims for each in statements_of(claim.formula))
    with share(CONSEQUENCES):
        return any(is_symbolic_equation(f) and matches_any(f, derived, context) for f in stated)
    return True


def _is_refuted(cell: Cell | None) -> bool:
    """Return True for a cell that found two formulas different, and not only their letters."""
    return (
        cell is not None
        and cell.status == Status.DIFFERENT
        and cell.verdict.reason not in ("other_letters", "kind", "unstated")
    )


def _pair_of(
    gold: _StepFormulas, predicted: _PredictedView, places: Mapping[Formula, int], numeric: frozenset[int],
    tolerance: Fraction,
) -> StepPair:  # fmt: skip
    """Return what the formulas of two steps say of each other.

    Args:
        places: index of each gold formula in the task.
        numeric: nodes of the problem that ask for a number.
    """
    stated = predicted.stated
    if not (gold.states_any or stated.states_any):
        return StepPair(Meeting.NONE)
    both = gold.numbers.keys() & predicted.numbers.keys()
    agreeing = {subject for subject in both if _agree(gold.numbers[subject], predicted.numbers[subject], tolerance)}
    nodes = gold.nodes & stated.nodes
    met = [f for f in dict.fromkeys(gold.formulas) if places[f] in predicted.equivalent]
    same_number = bool(agreeing) or bool(nodes & numeric)
    apart = sorted(both, key=spell) if not same_number else []
    differences = tuple(
        NumberDifference(Numeric(subject, gold.numbers[subject]), predicted.numbers[subject]) for subject in apart
    )
    findings = (
        *(f"node {k}" for k in sorted(nodes)),
        *(f"formula: {write(f)}" for f in met),
        *sorted(f"number of {spell(subject)}" for subject in agreeing),
    )
    if nodes or met or same_number:
        return StepPair(Meeting.SAME, same_number, differences, findings)
    if not (gold.states_any and stated.states_any):
        return StepPair(Meeting.ONE_SIDED)
    is_undecided = bool(stated.claims) and any(places[f] in predicted.undecided for f in gold.formulas)
    is_open = gold.is_unread or stated.is_unread or predicted.is_beyond or is_undecided
    return StepPair(Meeting.OPEN if is_open else Meeting.DIFFERENT, False, differences)


def _agree(gold: StatedNumber, predicted: StatedNumber, tolerance: Fraction) -> bool:
    """Return True if two numbers of one quantity agree, in SI units if both have a unit, else as they are written."""
    if gold.unit is not None and predicted.unit is not None:
        if gold.dimension != predicted.dimension:
            return False
        return numbers_agree(gold.in_si, predicted.in_si, tolerance)
    return numbers_agree(gold.value, predicted.value, tolerance)

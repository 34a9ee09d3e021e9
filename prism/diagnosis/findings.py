"""Diagnose a graded solution by rule: for each formula that matches no node, what separates it from the nearest node.

A difference is a fact only where a repair shows it: one change of one part (`repairs`) makes the formula equivalent to
a node by the rules that grade. Without a repair only two things are facts: units that cannot agree, and a chain with a
refuted link. Everything else is `undetermined`. A formula that matches no node need not be wrong, so it is tested in
this order:

1. A chain with a refuted link is wrong by itself.
2. An identity, a given, and what follows from the nodes by substituting one into another are right: the reference
   merely does not ask for them.
3. A formula that follows from an earlier wrong one in the same way, or is repaired by the same change, is no new error,
   and one that would be a node in another letter (`other_letters`) is not called wrong.
4. Repairs are tried at the missing nodes first, nearest first: fewest unshared symbols, as in a grade. A repair at a
   farther node beats a nearer node without one.
5. A number is compared with the number that a node asks for; then the units of the formula are compared.

| kind | what the student has wrong | label |
|---|---|---|
| `sign`, `relation` | a sign; the direction of an inequality | DCE |
| `factor` | a constant factor | DCE |
| `exponent` | an exponent, a root, a fraction upside down | DCE |
| `arithmetic`, `value` | a refuted link of a chain; a number outside its tolerance | DCE |
| `symbol` | one symbol for another, or two exchanged | VRE |
| `quantity_missing`, `quantity_extra` | a factor that is a quantity | VRE |
| `term_missing`, `term_extra` | a term; DCE if it is a plain number | VRE |
| `unit`, `dimension` | a power of ten or the factor of a unit; units that cannot agree | UDE |
| `function` | sine for cosine and the like: a slip of geometry or of calculus | undetermined |

The labels are those of PRISM-Physics (arXiv 2510.03185) that a rule can decide; the others need a reader.

Refused: naming the nearest node's difference without proof (a right step that the reference leaves out would be called
wrong), and reading words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from prism.algebra.expr import (
    EQUALITIES,
    Expr,
    Formula,
    formula,
    number,
    ops_of,
    substituted,
    symbol,
    symbols,
    symbols_of,
    traits_of,
)
from prism.budget import (
    CONSEQUENCES,
    DIAGNOSED_FORMULA,
    DIAGNOSED_NODE,
    DIAGNOSIS,
    LOCATING,
    MATCHING,
    REPAIRS,
    OverBudget,
    may_begin,
    share,
)
from prism.diagnosis.consequences import (
    are_equivalent,
    combine_formulas,
    find_source_formula,
    is_symbolic_equation,
    matches_any,
    restates_given,
    stated_values,
)
from prism.diagnosis.number_differences import (
    UNIT_FACTORS,
    describe_number_difference,
    number_as_written,
    too_few_figures,
)
from prism.diagnosis.other_letters import OtherLetter, find_other_letter
from prism.diagnosis.repairs import Change, changes_between
from prism.diagnosis.wording import Difference, describe_difference, with_written_letters
from prism.equivalence.facts import in_base_units, numeric_of, subject_of
from prism.equivalence.features import claimed_number, dimension_fault, is_tautology
from prism.equivalence.known_values import evaluate_with_units, implied_number
from prism.equivalence.numbers import NumberSpec, compare_numbers
from prism.equivalence.stated_numbers import Numeric
from prism.equivalence.statements import statements_of
from prism.errors import LatexSyntaxError, PrismError, named_type
from prism.grading.chain_links import check_link
from prism.grading.claims import Claim
from prism.grading.match_matrix import Cell, MatchMatrix, build_match_matrix
from prism.grading.own_symbols import with_names
from prism.grading.prepared import PreparedProblem, in_alternative, prepare
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade, GradedFormula
from prism.physics.context import Context, given_values, parse
from prism.physics.tables import Dimension
from prism.problem.dag import ancestor_closure
from prism.problem.schema import ProblemSource

MAX_NODES = 8  # nodes that one formula is compared with; farther ones share too few symbols
MAX_UNSHARED = 4  # symbols that only one of two formulas has; a missing term hardly has more
MAX_FORMS = 4  # readings of one formula: as written, with the solution's own definitions and names
MAX_VERIFIED = 24  # changes of a pair that the engine verifies; each agrees at a dozen points already
MAX_SLIPS = 6  # symbols of one part that are tried as the slip of a whole formula
MAX_ALSO = 3  # other kinds of change that are reported
_CUT = "the operations of the diagnosis are spent"
_KINDS_BETWEEN_QUANTITIES = frozenset(("symbol", "quantity_missing", "quantity_extra", "term_missing", "term_extra"))
"""Kinds that also separate formulas about different things: beside a matched node they show no mistake."""
_INHERITED = 3  # largest numerator and denominator of the power of a factor that a later step has taken over


@dataclass(frozen=True, slots=True)
class FormulaDiagnosis:
    """What is wrong, if anything, with one formula of a solution that matches no node.

    Attributes:
        position: index of the formula in `Grade.formulas`.
        latex, span: as in `GradedFormula`.
        status: `wrong`; `follows` (from an earlier wrong formula); `right`, but no node; `undetermined`.
        difference: what separates a wrong formula from its node; for an undetermined formula that the grade left
            undecided, the change that would make it a node.
        source: position of the wrong formula that it follows from; else None.
        nearest: index of the nearest node, or None.
        detail: for a person: why it is right, or what is known about it.
    """

    position: int
    latex: str
    span: tuple[int, int]
    status: str
    difference: Difference | None = None
    source: int | None = None
    nearest: int | None = None
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the keys are the attribute names."""
        return {
            "position": self.position, "latex": self.latex, "span": list(self.span), "status": self.status,
            "difference": self.difference and self.difference.to_dict(), "source": self.source,
            "nearest": self.nearest, "detail": self.detail,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The diagnosis of a graded solution: a finding for each formula without a node, and the first wrong step.

    Attributes:
        problem_id, sample_id: as in the grade.
        findings: one per formula that asserts something and matches no node, in the order of the text.
        first_wrong: position of the first wrong formula in `Grade.formulas`; None if no formula is known to be wrong.
        label: label of its difference; `undetermined` if there is none.
        n_open: number of undetermined formulas before the first wrong one, or in all if there is none.
        cost, is_complete: operations charged, and whether they sufficed; what was not located is `undetermined`.
    """

    problem_id: str
    sample_id: str | None
    findings: tuple[FormulaDiagnosis, ...]
    first_wrong: int | None
    label: str
    n_open: int
    cost: int = 0
    is_complete: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the keys are the attribute names."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id,
            "findings": [each.to_dict() for each in self.findings],
            "first_wrong": self.first_wrong, "label": self.label, "n_open": self.n_open,
            "cost": self.cost, "is_complete": self.is_complete,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ReadFormula:
    """One formula of the solution, parsed, with its possible readings and its comparison with every node.

    Attributes:
        position: index in `Grade.formulas`. graded: the formula there.
        claim: the formula as it is compared. outcomes: the cell of each node, by node index.
        forms: its statements in each reading: as written, with the solution's definitions, with the solution's names.
        defines: the solution uses this formula as the definition of one of its own symbols.
    """

    position: int
    graded: GradedFormula
    claim: Claim
    outcomes: Mapping[int, Cell]
    forms: tuple[tuple[Formula, ...], ...]
    defines: bool = False


@dataclass(frozen=True, slots=True)
class _WrongStep:
    """A formula that is wrong, or that follows from an earlier wrong one, with all that later steps may take from it.

    Attributes:
        source: position of the wrong formula. stated: the statements of this formula.
        derived: formulas that follow from it. change, node: repair and its node if this is the wrong formula itself.
        slips: replacements of one symbol (old, new) that repair the whole formula.
    """

    source: int
    stated: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    change: Change | None = None
    node: int | None = None
    slips: tuple[tuple[Expr, Expr], ...] = ()


@dataclass(slots=True)
class _DiagnosisState:
    """What is known while the formulas of a solution are diagnosed in order: laws that hold, and wrong steps so far.

    Attributes:
        prepared: the problem. laws: equations that hold: nodes, definitions, matched formulas.
        derived: formulas that follow from the laws. matched: nodes that some formula matches.
        symbols: names of all symbols of the solution.
        wrong: the wrong formulas so far, and those that follow from them.
        numbers: value [SI] and dimension of each quantity for which one of these states a number.
        sources: position of the wrong formula behind each of these numbers.
        is_cut: the operations did not suffice for something.
    """

    prepared: PreparedProblem
    laws: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    matched: frozenset[int]
    symbols: frozenset[str]
    wrong: list[_WrongStep] = field(default_factory=list)
    numbers: dict[str, tuple[float, Dimension]] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def context(self) -> Context:
        """The physical context (givens, declared symbols, definitions) of the problem."""
        return self.prepared.task.context


def diagnose(problem: ProblemSource, grade: Grade) -> Diagnosis:
    """Diagnose each formula of a graded solution that matches no node, and find the first wrong step.

    Args:
        problem: the problem of the grade: whatever `load_problem` takes.
        grade: the result of `grade`.

    Errors:
        DataFileError: a problem file with faults.
        PrismError: a grade of another problem. The text of a solution never raises.

    Source: the labels are those of PRISM-Physics (arXiv 2510.03185); the rules are ours.
    """
    if not isinstance(grade, Grade):
        raise PrismError(f"grade: found {named_type(grade)}; expected what prism.grade returns")
    prepared = prepare(problem)
    if prepared.problem.id != grade.problem_id:
        raise PrismError(f"diagnosis: the grade is of problem {grade.problem_id}, not of {prepared.problem.id}")
    prepared = in_alternative(prepared, grade.alternative)
    with share(math.inf) as account:
        account.allow(MATCHING)
        read = _read_formulas(prepared, grade)
        is_cut = account.is_cut
        account.allow(max(DIAGNOSIS - account.spent, LOCATING), extra=False)
        state = _initial_state(prepared, grade, read)
        if state.is_cut:  # what follows from the nodes is not known, so nothing can be called wrong
            account.allow(0)
        findings = [
            _diagnose_formula(item, state)
            for item in read
            if item.graded.status in ("different", "undecided") or item.graded.reason == "broken_chain"
        ]
    wrong = [each for each in findings if each.status == "wrong"]
    first = min(wrong, key=lambda each: each.position, default=None)
    before = [each for each in findings if first is None or each.position < first.position]
    return Diagnosis(
        problem_id=grade.problem_id,
        sample_id=grade.sample_id,
        findings=tuple(findings),
        first_wrong=None if first is None else first.position,
        label=first.difference.label if first and first.difference else "undetermined",
        n_open=sum(each.status == "undetermined" for each in before),
        cost=account.spent,
        is_complete=not (is_cut or state.is_cut),
    )


# Reading. ---------------------------------------------------------------------------------------------------------


def _read_formulas(prepared: PreparedProblem, grade: Grade) -> list[_ReadFormula]:
    """Parse each formula of a grade that asserts something, and compare it with all nodes as `grade` does."""
    task = prepared.task
    read: list[tuple[int, GradedFormula, Formula]] = []
    for position, item in enumerate(grade.formulas):
        if item.status in ("mention", "unread") or item.kind == "text" or item.reason == "too_large":
            continue
        try:
            read.append((position, item, parse(item.latex, context=task.context)))
        except LatexSyntaxError:  # a grade that was made elsewhere
            continue
    found = build_match_matrix(task, [Claim(f, item.kind == "boxed") for _, item, f in read])
    defining = {one.place for one in found.own_symbols.definitions}
    together = zip(read, found.claims, found.rows, strict=True)
    return [
        _ReadFormula(position, item, claim, outcomes, _statements_by_reading(claim, found), place in defining)
        for place, ((position, item, _), claim, outcomes) in enumerate(together)
    ]


def _statements_by_reading(claim: Claim, found: MatchMatrix) -> tuple[tuple[Formula, ...], ...]:
    """Return, for each reading of a claim (as written, definitions expanded, symbols renamed), what it states."""
    forms = [claim.formula, *claim.expansions]
    if found.own_symbols.names:
        forms += [with_names(each, found.own_symbols.names) for each in forms]
    kept = list(dict.fromkeys(forms))[:MAX_FORMS]
    return tuple(tuple(each.formula for each in statements_of(form)) for form in kept)


def _initial_state(prepared: PreparedProblem, grade: Grade, read: Sequence[_ReadFormula]) -> _DiagnosisState:
    """Return the state before the first formula: equations that hold (nodes, definitions, matches) and consequences."""
    laws = [f for each in prepared.task.references for f in each.formulas]
    laws += prepared.task.context.definitions
    laws += [item.claim.formula for item in read if item.graded.status == "equivalent"]
    plain = tuple(f for f in dict.fromkeys(laws) if is_symbolic_equation(f))
    names = frozenset[str]().union(*(symbols_of(item.claim.formula) for item in read))
    state = _DiagnosisState(prepared, plain, (), frozenset(grade.matched), names)
    state.derived = _consequences(plain, plain, state)
    return state


def _consequences(formulas: Sequence[Formula], laws: Sequence[Formula], state: _DiagnosisState) -> tuple[Formula, ...]:
    """Return the result of `combine_formulas`, empty if the operations do not suffice."""
    derived: tuple[Formula, ...] = ()
    with share(CONSEQUENCES) as account:
        derived = combine_formulas(formulas, laws)
    state.is_cut |= account.is_exhausted
    return derived


# One formula. -----------------------------------------------------------------------------------------------------


def _diagnose_formula(item: _ReadFormula, state: _DiagnosisState) -> FormulaDiagnosis:
    """Diagnose one formula; an exception in the engine makes it `undetermined`, since a solution never raises."""
    plain = FormulaDiagnosis(
        item.position, item.graded.latex, item.graded.span, "undetermined", nearest=item.graded.nearest
    )
    if may_begin():
        with share(DIAGNOSED_FORMULA):
            try:
                return _as_written(_decide_status(item, state, plain), state)
            except OverBudget:
                raise
            except Exception as error:  # noqa: BLE001 - as in a grade: whatever it is, the student did not cause it
                return replace(plain, detail=f"internal: {type(error).__name__}: {error}")
    state.is_cut = True
    return replace(plain, detail=_CUT)


def _as_written(found: FormulaDiagnosis, state: _DiagnosisState) -> FormulaDiagnosis:
    """Return a finding whose difference has the Greek letters as the formula, else its node, writes them."""
    if found.difference is None:
        return found
    nodes = [node.latex for node in state.prepared.problem.nodes if node.index == found.difference.node]
    return replace(found, difference=with_written_letters(found.difference, found.latex, *nodes))


def _decide_status(item: _ReadFormula, state: _DiagnosisState, plain: FormulaDiagnosis) -> FormulaDiagnosis:
    """Decide whether one formula is wrong, right, follows from a wrong one, or stays undetermined; record a wrong one.

    The tests are those of the module docstring, in its order. `plain` is the `undetermined` finding that is filled in.
    """
    broken = _broken_chain_link(item.claim.formula, state.context)
    if broken is not None:
        _remember_wrong(item, state, item.position, None, None)
        return replace(plain, status="wrong", difference=broken)
    why = _reason_right(item, state)
    if why:
        return replace(plain, status="right", detail=why)
    source = _source_of_error(item, state)
    if source is not None:
        _remember_wrong(item, state, source, None, None)
        return replace(plain, status="follows", source=source)
    found: tuple[Difference, Change | None] | None = None
    with share(REPAIRS) as account:
        found = None if item.defines else _find_repair(item, state)
    state.is_cut |= account.is_exhausted
    found = found or _number_difference(item, state) or _unit_difference(item, state)
    inherited = None if found is None else _source_of_repeated_change(found[1], found[0].node, state)
    other = find_other_letter(item.claim.formula, state.prepared.task) if inherited is None else None
    if found is not None and _is_renaming(found[1], state):
        other = other or OtherLetter(found[0].node or 0, found[0].has, found[0].should)
    if other is not None:
        return replace(plain, nearest=other.node, detail=str(other))
    if found is None:
        return replace(plain, detail=item.graded.detail)
    difference, change = found
    if inherited is not None:
        _remember_wrong(item, state, inherited, None, None)
        return replace(plain, status="follows", source=inherited, nearest=difference.node)
    nearest = plain.nearest if difference.node is None else difference.node
    is_another = change is not None and change.kind in _KINDS_BETWEEN_QUANTITIES and difference.node in state.matched
    if item.graded.status == "undecided" or item.graded.reason == "other_letters" or is_another:
        return replace(plain, difference=difference, nearest=nearest)
    _remember_wrong(item, state, item.position, change, difference.node)
    return replace(plain, status="wrong", difference=difference, nearest=nearest)


def _remember_wrong(
    item: _ReadFormula, state: _DiagnosisState, source: int, change: Change | None, node: int | None
) -> None:
    """Record a formula that is wrong or follows from a wrong one, with its consequences and numbers.

    Args:
        source: position of the wrong formula; that of `item` itself if `item` is the wrong one.
        change, node: the repair of `item` and the node it then matches; None if unknown.
    """
    stated = item.forms[0]
    own = {f for each in state.prepared.task.references if each.index == node for f in each.formulas}
    laws = [law for law in state.laws if law not in own]
    laws += [f for one in state.wrong for f in one.stated if is_symbolic_equation(f)]
    laws_of_it = [f for f in stated if is_symbolic_equation(f)]
    derived = _consequences(laws_of_it, laws, state)
    slips: tuple[tuple[Expr, Expr], ...] = ()
    with share(CONSEQUENCES) as account:
        slips = _symbol_slips(item, change, node, state)
    state.is_cut |= account.is_exhausted
    state.wrong.append(_WrongStep(source, stated, derived, change, node, slips))
    numbers = stated_values(stated)
    state.numbers |= numbers
    state.sources |= dict.fromkeys(numbers, source)


def _symbol_slips(
    item: _ReadFormula, change: Change | None, node: int | None, state: _DiagnosisState
) -> tuple[tuple[Expr, Expr], ...]:
    r"""Return the (old, new) replacements of one symbol that repair the whole formula: `-\omega_0` for `\omega_0`.

    Args:
        change, node: the repair that was found and the node that the formula then matches; None gives no slips.
    """
    if change is None or change.kind not in ("sign", "factor", "symbol"):
        return ()
    names = sorted(symbols(change.has) & symbols(change.should))[:MAX_SLIPS]
    if change.kind == "symbol":
        tried = [(change.has, change.should)] if change.has.op == change.should.op == "sym" else []
    elif change.kind == "sign":
        tried = [(symbol(name), Expr("neg", (symbol(name),))) for name in names]
    else:
        tried = [(symbol(name), Expr("mul", (change.amount or number(1), symbol(name)))) for name in names]
    wanted = [f for each in state.prepared.task.references if each.index == node for f in each.formulas]
    return tuple(slip for slip in tried if _matches_after_slip(slip, item, wanted, state.context))


def _matches_after_slip(
    slip: tuple[Expr, Expr], item: _ReadFormula, wanted: Sequence[Formula], context: Context
) -> bool:
    """Return True if a statement of the formula, with the (old, new) symbol of `slip` replaced, is a wanted formula."""
    taken = [substituted(f, {slip[0]: slip[1]}) for stated in item.forms for f in stated]
    return any(are_equivalent(each, f, context) for each in wanted for f in taken)


def _broken_chain_link(f: Formula, context: Context) -> Difference | None:
    """Return the difference at the first refuted link, such as `2 = 3` in `a = 2 = 3`; None if no link is refuted."""
    for part in f.parts or (f,):
        is_numeric = len(part.members) == 2 and not symbols_of(part)
        if len(part.members) < 2 + (not is_numeric) or not EQUALITIES.issuperset(part.relations):
            continue
        for left, right in pairwise(part.members):
            found = check_link(left, right, context)
            if found.status == "refuted":
                return describe_difference("arithmetic", None, left, right, detail=found.witness)
    return None


def _reason_right(item: _ReadFormula, state: _DiagnosisState) -> str:
    """Return in words why a formula that matches no node is right nevertheless; empty if no reason is found."""
    context, task = state.context, state.prepared.task
    wanted_subjects = {numeric.subject for each in task.references for f in each.formulas if (numeric := numeric_of(f))}
    for stated in item.forms:
        if any(f.kind != "equation" or f.parts for f in stated):
            continue
        if all(is_tautology(f, context) for f in stated):
            return "it is an identity"
        if all(restates_given(f, context) for f in stated):
            return "the problem gives it"
        numerics = [numeric_of(f) for f in stated]
        if any(numeric and numeric.subject in wanted_subjects for numeric in numerics):
            continue  # a node has another number for that quantity
        if all(matches_any(f, state.derived, context) for f in stated):
            return "it follows from formulas of the reference"
        if all(
            numeric and find_source_formula(numeric, state.laws, task.known_values, context) for numeric in numerics
        ):
            return "it is worked out from formulas of the reference"
    return _reason_few_figures(item, state)


def _source_of_error(item: _ReadFormula, state: _DiagnosisState) -> int | None:
    """Return the position of the earlier wrong formula that this formula repeats or follows from; None without one."""
    for one in state.wrong:
        for stated in item.forms:
            for f in stated:
                if any(
                    are_equivalent(claimed, f, state.context) for claimed in one.stated if not _states_number(claimed)
                ):
                    return one.source
                if not _states_number(f) and matches_any(f, one.derived, state.context):
                    return one.source
                if _states_number(f) and f in one.stated:
                    return one.source
    for stated in item.forms:
        for f in stated:
            source = _source_of_wrong_number(f, state)
            if source is not None:
                return source
    return _source_of_repeated_slip(item, state)


def _source_of_repeated_slip(item: _ReadFormula, state: _DiagnosisState) -> int | None:
    r"""Return the position of the earlier wrong formula with the same slip (`-\omega_0`); None if there is none."""
    for one in state.wrong:
        for slip in one.slips:
            wanted = [f for each in _candidate_nodes(item, state) for f in each.formulas]
            if not item.defines and _matches_after_slip(slip, item, wanted, state.context):
                return one.source
    return None


def _states_number(f: Formula) -> bool:
    """Return True if a formula merely states the number of a quantity: `v = 3 m/s`."""
    return numeric_of(f) is not None


def _source_of_wrong_number(f: Formula, state: _DiagnosisState) -> int | None:
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


def _source_of_repeated_change(change: Change | None, node: int | None, state: _DiagnosisState) -> int | None:
    """Return the position of an earlier formula wrong by the same change, or by a power of its factor; else None."""
    for one in state.wrong:
        before = one.change
        if change is None or before is None or change.kind != before.kind:
            continue
        if (change.has, change.should) == (before.has, before.should):
            return one.source
        rests_on = ancestor_closure(state.prepared.problem.dag, {node} if node else set())
        if change.kind == "factor" and one.node in rests_on and _is_power_of(change.amount, before.amount):
            return one.source
    return None


def _is_power_of(factor: Expr | None, base: Expr | None) -> bool:
    """Return True if `factor` is `base` to a small rational power, as the root of two is a power of one half."""
    sizes = [None if each is None else evaluate_with_units(each, Context()) for each in (factor, base)]
    logs = [math.log(abs(size[0])) for size in sizes if size and size[0]]
    if len(logs) < len(sizes) or not all(logs):
        return False
    power = Fraction(logs[0] / logs[1]).limit_denominator(_INHERITED)
    return bool(power) and abs(power) <= _INHERITED and math.isclose(logs[0], float(power) * logs[1], rel_tol=1e-9)


def _is_renaming(change: Change | None, state: _DiagnosisState) -> bool:
    """Return True if a change only renames a symbol, which is no mistake: the student calls `v` by the new name `u`.

    The old name is unknown to the problem, and the right one does not occur in the solution or is the lone side.
    """
    if change is None or change.kind != "symbol" or change.has.op != "sym" or change.should.op != "sym":
        return False
    is_fresh = change.has.name not in state.prepared.task.known
    return is_fresh and (change.should.name not in state.symbols or change.is_of_subject)


# Differences. -----------------------------------------------------------------------------------------------------


def _candidate_nodes(item: _ReadFormula, state: _DiagnosisState) -> list[ReferenceNode]:
    """Return the nodes that a formula may be meant for: unmatched first, then fewest symbols that only one side has."""
    references = {each.index: each for each in state.prepared.task.references}
    ranked = sorted(item.outcomes.values(), key=lambda each: (each.node in state.matched, each.n_unshared, each.node))
    own = frozenset[str]().union(*(symbols_of(f) for stated in item.forms for f in stated))
    shared = [each.node for each in ranked if own & _symbols_of_node(references[each.node])]
    return [references[index] for index in shared[:MAX_NODES]]


def _symbols_of_node(reference: ReferenceNode) -> frozenset[str]:
    """Return the symbols of all formulas of a node."""
    return frozenset[str]().union(*(symbols_of(f) for f in reference.formulas))


def _find_repair(item: _ReadFormula, state: _DiagnosisState) -> tuple[Difference, Change] | None:
    """Return the verified change that makes a formula equivalent to a node, described and as found; else None."""
    values = {name: float(each.quantity.value) for name, each in given_values(state.context).items()}
    for reference in _candidate_nodes(item, state):
        if reference.is_number:
            continue
        found: list[tuple[Change, Formula]] = []
        with share(DIAGNOSED_NODE) as account:
            _collect_changes(found, reference, item, state.context, values)
        state.is_cut |= account.is_exhausted
        if found:
            (change, claimed), *others = found
            also = tuple(dict.fromkeys(_reported_kind(one.kind) for one, _ in others))
            return _difference_of_change(change, reference.index, also, claimed, state.context), change
    return None


def _collect_changes(
    found: list[tuple[Change, Formula]],
    reference: ReferenceNode,
    item: _ReadFormula,
    context: Context,
    values: Mapping[str, float],
) -> None:
    """Add to `found` the verified changes, of different kinds, of the first statement that has any beside a node.

    Args:
        found: filled as they are found, each change with the statement, so that they stand if the operations are spent.
        values: of givens [SI].
    """
    tried: set[tuple[Formula, Formula]] = set()
    for wanted, claimed in _comparable_pairs(reference, item, context):
        pair = in_base_units(wanted), in_base_units(claimed)
        if pair in tried:
            continue
        tried.add(pair)
        for change in changes_between(*pair, context, values)[:MAX_VERIFIED]:
            is_new = all(one.kind != change.kind for one, _ in found) and len(found) <= MAX_ALSO
            if is_new and are_equivalent(change.reference, change.claim, context, reference.number_spec):
                found.append((change, claimed))
        if found:
            return


def _comparable_pairs(
    reference: ReferenceNode, item: _ReadFormula, context: Context
) -> Iterator[tuple[Formula, Formula]]:
    """Yield (formula of the node, statement of the solution) for each pair that may be meant as the same equation."""
    needed = [each.formula for f in reference.formulas for each in statements_of(f, needed=True)]
    for stated in item.forms:
        for wanted in needed:
            for claimed in stated:
                whole = claimed
                if claimed.kind == "expression" and item.graded.kind == "inline":
                    continue  # an expression in a sentence only names something
                if claimed.kind == "expression" and wanted.kind == "equation" and item.graded.kind == "boxed":
                    whole = formula((wanted.members[0], claimed.members[0]), ("=",), claimed.latex, claimed.depends)
                numeric = claimed_number(whole, context)
                is_measured = numeric is not None and (not numeric.number.is_exact or numeric.number.unit is not None)
                apart = (symbols_of(whole) ^ symbols_of(wanted)) - given_values(context).keys()
                if len(whole.members) == len(wanted.members) <= 2 and not is_measured and len(apart) <= MAX_UNSHARED:
                    yield wanted, whole


def _difference_of_change(
    change: Change, node: int, also: tuple[str, ...], claimed: Formula, context: Context
) -> Difference:
    """Describe a verified change of the statement `claimed`, which would then match `node`.

    Args:
        also: other kinds of change that repair the formula too.
    """
    is_of_units = change.kind in ("factor", "constant") and _is_unit_factor(change.amount, claimed)
    kind = "unit" if is_of_units else _reported_kind(change.kind)
    found = describe_difference(
        kind, node, change.has, change.should, amount=change.amount, also=also, is_written=change.in_claim
    )
    fault = dimension_fault(claimed, context)
    return replace(found, full=f"{found.full} Its units cannot agree: {fault}.") if fault else found


def _reported_kind(kind: str) -> str:
    """Return the kind of difference that a kind of change is reported as: `factor` for `constant`, else the same."""
    return "factor" if kind == "constant" else kind


def _is_unit_factor(amount: Expr | None, claimed: Formula) -> bool:
    r"""Return True for a conversion factor: \pi/180, or a power of ten or 3600 if the formula has units."""
    measured = None if amount is None else evaluate_with_units(amount, Context())
    if measured is None or not measured[0]:
        return False
    size = abs(measured[0])
    if any(math.isclose(each, math.pi / 180, rel_tol=1e-9) for each in (size, 1 / size)):
        return True
    return "unit" in traits_of(claimed).ops and (_is_power_of_ten(size) or bool({size, 1 / size} & {*UNIT_FACTORS}))


def _is_power_of_ten(size: Fraction) -> bool:
    """Return True for a power of ten other than 1, such as 1000 or 1/100."""
    return size != 1 and all(str(each).rstrip("0") == "1" for each in (size.numerator, size.denominator))


def _numbers_beside_nodes(
    item: _ReadFormula, state: _DiagnosisState
) -> Iterator[tuple[Numeric, Expr, Numeric, ReferenceNode, NumberSpec, Formula]]:
    """Yield each number that a formula states beside each that a node asks for of the same quantity, numbers first.

    With the stated number comes how it is written; with the wanted one its node, its tolerance and the node's formula.
    """
    numerics = [(f, claimed_number(f, state.context)) for stated in item.forms for f in stated]
    claimed = [(each, number_as_written(f, each)) for f, each in numerics if each is not None]
    if not claimed and item.claim.formula.kind == "expression" and item.graded.kind == "boxed":
        claimed = [(each, item.claim.formula.members[0]) for each in _boxed_number(item, state)]
    near = _candidate_nodes(item, state) if claimed else []
    for reference in sorted(near, key=lambda each: not each.is_number):
        for f in reference.formulas:
            for one, written in claimed:
                wanted, spec = numeric_of(f), reference.number_spec
                if wanted is None and reference.index not in state.matched and subject_of(f) == one.subject:
                    wanted, spec = implied_number(f, one, state.context), NumberSpec(figures=3, is_node=True)
                if wanted is not None and wanted.subject == one.subject:
                    yield one, written, wanted, reference, spec, f


def _number_difference(item: _ReadFormula, state: _DiagnosisState) -> tuple[Difference, None] | None:
    """Describe how the number that a formula states differs from a node's number; None if equal or not comparable."""
    for one, written, wanted, reference, spec, f in _numbers_beside_nodes(item, state):
        is_equal = compare_numbers(wanted, one.number, spec).status == "equivalent"
        if is_equal or too_few_figures(wanted, one.number, spec):
            return None
        difference = describe_number_difference(wanted, spec, reference.index, one.number, written, f)
        return _with_unknown_origin(difference) if _states_formula_for_number(item) else difference, None
    return None


def _reason_few_figures(item: _ReadFormula, state: _DiagnosisState) -> str:
    """Return in words that a formula only states a node's number, with too few figures; empty if it does not."""
    if _states_formula_for_number(item):
        return ""  # that formula may be wrong
    beside = next(_numbers_beside_nodes(item, state), None)
    if beside is None:
        return ""
    one, _, wanted, reference, spec, _ = beside
    why = too_few_figures(wanted, one.number, spec)
    return why and f"the value is that of node {reference.index}, with {why}"


def _states_formula_for_number(item: _ReadFormula) -> bool:
    """Return True if an item states a formula beside its number (`E = mv^2 = 5 J`): the slip may be in that formula."""
    return any(is_symbolic_equation(f) and len(symbols_of(f)) > 1 for f in item.forms[0])


def _with_unknown_origin(difference: Difference) -> Difference:
    """Return a number's difference with its kind set to `value`, label `undetermined`; unit differences stay as is."""
    if difference.kind in ("dimension", "unit"):
        return difference
    has, should = difference.has, difference.should
    full = f"The number is ${has}$, where ${should}$ is right, and what it is worked out from is no node."
    return replace(difference, kind="value", label="undetermined", amount="", full=full)


def _boxed_number(item: _ReadFormula, state: _DiagnosisState) -> list[Numeric]:
    """Return a boxed bare number as the value of the only unmatched numerical answer; empty unless there is one."""
    finals = state.prepared.problem.dag.finals - state.matched
    numerical = [each for each in state.prepared.task.references if each.index in finals and each.is_number]
    wanted = [numeric_of(f) for each in numerical for f in each.formulas[:1]]
    if len(wanted) != 1 or wanted[0] is None:
        return []
    claimed = numeric_of(formula((wanted[0].subject, item.claim.formula.members[0]), ("=",)))
    return [] if claimed is None else [claimed]


def _unit_difference(item: _ReadFormula, state: _DiagnosisState) -> tuple[Difference, None] | None:
    """Describe units that cannot be equal, as in `3 m = 2 s`, whatever node was meant; None if they can be."""
    for f in item.forms[0]:
        if any(not symbols(member) and "unit" not in ops_of(member) for member in f.members):
            continue  # values inserted without their units
        fault = dimension_fault(f, state.context)
        if fault:
            return describe_difference("dimension", None, None, None, detail=fault), None
    return None

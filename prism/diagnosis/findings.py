r"""Diagnose a graded solution by rule: for each formula that matches no node, what separates it from the nearest node.

A number behind a formula that matches is diagnosed too: in `v = \sqrt{2gh} = 7 m/s` the formula stands, its number not.

A difference is a fact only where a repair shows it: one change of one part (`repairs`) makes the formula equivalent to
a node by the rules that grade. Without a repair only two things are facts: units that cannot agree, and a chain with a
refuted link. Everything else is `undetermined`. A formula that matches no node need not be wrong, so it is tested in
this order:

1. A chain with a refuted link is wrong by itself.
2. An identity, a given, and what follows from the nodes by substituting one into another are right: the reference
   merely does not ask for them.
3. A formula that follows from an earlier wrong one in the same way, or is repaired by the same change, is no new error,
   and one that would be a node in another letter (`other_letters`) is not called wrong, nor is an approximation such as
   `\sin\theta = \theta`.
4. Repairs are tried at the nodes with the same left side first, then at the missing ones, nearest first: fewest
   unshared symbols, as in a grade. A repair at a farther node beats a nearer node without one. A formula that the
   grade left undecided is wrong where its own node refutes it by a sign, a factor and the like, and only farther
   nodes are undecided.
5. A number is compared with the number that a node asks for; then the units of the formula are compared.

Of a formula that matches, only its number is tested, by 3 and 5.

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
from dataclasses import dataclass, replace
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
    CELL,
    CONSEQUENCES,
    DIAGNOSED_FORMULA,
    DIAGNOSED_NODE,
    DIAGNOSIS,
    LEAST_DIAGNOSED,
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
from prism.diagnosis.other_letters import OtherLetter, find_other_letter
from prism.diagnosis.repairs import Change, changes_between
from prism.diagnosis.state import (
    DiagnosisState,
    ReadFormula,
    WrongStep,
    candidate_nodes,
    is_refuted_at,
    node_of_left_side,
    read_formulas,
)
from prism.diagnosis.wording import Difference, describe_difference, with_written_letters
from prism.diagnosis.wrong_numbers import (
    UNIT_FACTORS,
    number_difference,
    reason_few_figures,
    source_of_wrong_number,
    states_formula_for_number,
    wrong_number_behind_match,
)
from prism.equivalence.chains.links import check_link
from prism.equivalence.facts import in_base_units, numeric_of
from prism.equivalence.features import claimed_number, dimension_fault, is_tautology
from prism.equivalence.numbers.known_values import evaluate_with_units
from prism.equivalence.statements import statements_of
from prism.errors import PrismError, named_type
from prism.grading.prepared import PreparedProblem, in_alternative, prepare
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade
from prism.physics.context import Context, given_values
from prism.problem.dag import ancestor_closure
from prism.problem.plain_values import plain
from prism.problem.schema import ProblemSource

MAX_UNSHARED = 4  # symbols that only one of two formulas has; a missing term hardly has more
MAX_VERIFIED = 24  # changes of a pair that the engine verifies; each agrees at a dozen points already
MAX_SLIPS = 6  # symbols of one part that are tried as the slip of a whole formula
_EVEN_SHARES = 3  # of what is left for all formulas that one of them may spend: most need a tenth of their own
MAX_ALSO = 3  # other kinds of change that are reported
_CUT = "the operations of the diagnosis are spent"
_KINDS_BETWEEN_QUANTITIES = frozenset(("symbol", "quantity_missing", "quantity_extra", "term_missing", "term_extra"))
"""Kinds that also separate formulas about different things: they show no mistake beside a matched node, nor where
another node is undecided (`dE/dx = 0` beside a node that says what the derivative is)."""
_INHERITED = 3  # largest numerator and denominator of the power of a factor that a later step has taken over


@dataclass(frozen=True, slots=True)
class FormulaDiagnosis:
    """What is wrong, if anything, with one formula of a solution that matches no node, or with a matched one's number.

    Attributes:
        position: index of the formula in `Grade.formulas`.
        latex, span: as in `GradedFormula`.
        status: `wrong`; `follows` (from an earlier wrong formula); `right`, but no node; `undetermined`. Of a formula
            that matches a node only the number is meant, which is `wrong` or `follows`.
        difference: what separates a wrong formula from its node; for an undetermined formula that the grade left
            undecided, the change that would make it a node.
        source: position of the wrong formula that it follows from; else None.
        nearest: index of the nearest node, or None; of a formula that is undetermined, or right, one with its left side
            if there is any.
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
        found: dict[str, Any] = plain(self)
        return found


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The diagnosis of a graded solution: a finding for each formula without a node, and the first wrong step.

    Attributes:
        problem_id, sample_id: as in the grade.
        findings: one per formula that asserts something and matches no node, and one per formula that matches a node
            and whose number is wrong, in the order of the text.
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
        found: dict[str, Any] = plain(self)
        return found


def diagnose(problem: ProblemSource, grade: Grade) -> Diagnosis:
    """Diagnose each formula of a graded solution that matches no node or has a wrong number; find the first wrong step.

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
        account.allow(MATCHING, each=CELL)
        read = read_formulas(prepared, grade)
        is_cut = account.is_cut
        account.allow(max(DIAGNOSIS - account.spent, LOCATING), extra=False)
        state = _initial_state(prepared, grade, read)
        if state.is_cut:  # what follows from the nodes is not known, so nothing can be called wrong
            account.allow(0)
        findings: list[FormulaDiagnosis] = []
        items = [item for item in read if _is_diagnosed(item)]
        for n_left, item in zip(range(len(items), 0, -1), items, strict=True):
            even = int(account.allowance - account.spent) // n_left
            told = _diagnose_formula(item, state, min(DIAGNOSED_FORMULA, max(LEAST_DIAGNOSED, _EVEN_SHARES * even)))
            findings += [] if told is None else [told]
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


def _initial_state(prepared: PreparedProblem, grade: Grade, read: Sequence[ReadFormula]) -> DiagnosisState:
    """Return the state before the first formula: equations that hold (nodes, definitions, matches) and consequences."""
    laws = [f for each in prepared.task.references for f in each.formulas]
    laws += prepared.task.context.definitions
    laws += [item.claim.formula for item in read if item.graded.status == "equivalent"]
    plain = tuple(f for f in dict.fromkeys(laws) if is_symbolic_equation(f))
    names = frozenset[str]().union(*(symbols_of(item.claim.formula) for item in read))
    state = DiagnosisState(prepared, plain, (), frozenset(grade.matched), names)
    state.derived = _consequences(plain, plain, state)
    return state


def _consequences(formulas: Sequence[Formula], laws: Sequence[Formula], state: DiagnosisState) -> tuple[Formula, ...]:
    """Return the result of `combine_formulas`, empty if the operations do not suffice."""
    derived: tuple[Formula, ...] = ()
    with share(CONSEQUENCES) as account:
        derived = combine_formulas(formulas, laws)
    state.is_cut |= account.is_exhausted
    return derived


# One formula. -----------------------------------------------------------------------------------------------------


def _is_diagnosed(item: ReadFormula) -> bool:
    """Return True if a formula matches no node, has a refuted link, or may state a number behind a matched formula."""
    is_unmatched = item.graded.status in ("different", "undecided") or item.graded.reason == "broken_chain"
    return is_unmatched or (item.graded.status == "equivalent" and states_formula_for_number(item))


def _diagnose_formula(item: ReadFormula, state: DiagnosisState, limit: int) -> FormulaDiagnosis | None:
    """Diagnose one formula within `limit` operations; None if it matches a node and no number of it is wrong.

    An exception in the engine makes it `undetermined`, since a solution never raises.
    """
    plain = FormulaDiagnosis(
        item.position, item.graded.latex, item.graded.span, "undetermined", nearest=item.graded.nearest
    )
    is_matched = item.graded.status == "equivalent"
    told: list[FormulaDiagnosis] = []
    if may_begin():
        with share(limit):
            try:
                found = _decide_number(item, state, plain) if is_matched else _decide_status(item, state, plain, told)
                return None if found is None else _as_written(_with_left_side(found, item, state), state)
            except OverBudget:
                raise
            except Exception as error:  # noqa: BLE001 - as in a grade: whatever it is, the student did not cause it
                detail = f"internal: {type(error).__name__}: {error}"
                return None if is_matched else replace(plain, detail=detail)
    state.is_cut = True
    if told:
        return _as_written(told[0], state)
    return None if is_matched else replace(plain, detail=_CUT)


def _with_left_side(found: FormulaDiagnosis, item: ReadFormula, state: DiagnosisState) -> FormulaDiagnosis:
    """Return a finding that names no node with the node of the formula's left side as nearest, if there is one."""
    is_named = found.status in ("wrong", "follows") or found.difference or found.nearest != item.graded.nearest
    meant = None if is_named else node_of_left_side(item, state)
    return found if meant is None else replace(found, nearest=meant)


def _as_written(found: FormulaDiagnosis, state: DiagnosisState) -> FormulaDiagnosis:
    """Return a finding whose difference has the Greek letters as the formula, else its node, writes them."""
    if found.difference is None:
        return found
    nodes = [node.latex for node in state.prepared.problem.nodes if node.index == found.difference.node]
    return replace(found, difference=with_written_letters(found.difference, found.latex, *nodes))


def _decide_status(
    item: ReadFormula, state: DiagnosisState, plain: FormulaDiagnosis, told: list[FormulaDiagnosis]
) -> FormulaDiagnosis:
    """Decide whether one formula is wrong, right, follows from a wrong one, or stays undetermined; record a wrong one.

    The tests are those of the module docstring, in its order. `plain` is the `undetermined` finding that is filled in.
    A wrong one is added to `told` before what follows from it is worked out, so that it stands if the operations are
    spent by that.
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
    if series := _series_that_is_cut_off(item.claim.formula, state.context):
        return replace(plain, detail=series)
    found: tuple[Difference, Change | None] | None = None
    with share(REPAIRS) as account:
        found = None if item.defines else _find_repair(item, state)
    state.is_cut |= account.is_exhausted
    found = found or number_difference(item, state) or _unit_difference(item, state)
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
    is_between = change is not None and change.kind in _KINDS_BETWEEN_QUANTITIES
    is_another = is_between and difference.node in state.matched
    is_open = item.graded.status == "undecided" and (is_between or not is_refuted_at(difference.node, item, state))
    if is_open or item.graded.reason == "other_letters" or is_another:
        return replace(plain, difference=difference, nearest=nearest)
    told.append(replace(plain, status="wrong", difference=difference, nearest=nearest))
    _remember_wrong(item, state, item.position, change, difference.node)
    return told[0]


def _decide_number(item: ReadFormula, state: DiagnosisState, plain: FormulaDiagnosis) -> FormulaDiagnosis | None:
    """Decide whether the number behind a matched formula is wrong, or follows from a wrong one; None if neither.

    Only the number is remembered as wrong: the formula stands. `plain` is the finding that is filled in.
    """
    found = wrong_number_behind_match(item, state)
    if found is None:
        return None
    stated, difference = found
    source = next((one.source for one in state.wrong if stated in one.stated), None)
    if source is None:
        source = source_of_wrong_number(stated, state)
    origin = item.position if source is None else source
    state.wrong.append(WrongStep(origin, (stated,), (), node=difference.node))
    _remember_numbers((stated,), state, origin)
    if source is not None:
        return replace(plain, status="follows", source=source, nearest=difference.node)
    return replace(plain, status="wrong", difference=difference, nearest=difference.node)


def _remember_numbers(stated: Sequence[Formula], state: DiagnosisState, source: int) -> None:
    """Record the numbers that a wrong formula states, which may be used later; `source` is its position."""
    numbers = stated_values(stated)
    state.numbers |= numbers
    state.sources |= dict.fromkeys(numbers, source)


def _remember_wrong(
    item: ReadFormula, state: DiagnosisState, source: int, change: Change | None, node: int | None
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
    state.wrong.append(WrongStep(source, stated, derived, change, node, slips))
    _remember_numbers(stated, state, source)


def _symbol_slips(
    item: ReadFormula, change: Change | None, node: int | None, state: DiagnosisState
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
    slip: tuple[Expr, Expr], item: ReadFormula, wanted: Sequence[Formula], context: Context
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


def _series_that_is_cut_off(f: Formula, context: Context) -> str:
    r"""Return in words how a formula such as `\sin\theta = \theta` approximates; empty if it is no cut-off series.

    One whose sides have other symbols is none, nor is one of which a further link is open.
    """
    if f.parts or not EQUALITIES.issuperset(f.relations) or len(set(map(symbols, f.members))) != 1:
        return ""
    links = [check_link(*pair, context) for pair in pairwise(f.members)]
    cut = [link for link in links if link.status == "approximate"]
    if not cut or any(link.status not in ("confirmed", "approximate") for link in links):
        return ""
    return f"an approximation: {cut[0].witness}"


def _reason_right(item: ReadFormula, state: DiagnosisState) -> str:
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
    return reason_few_figures(item, state)


def _source_of_error(item: ReadFormula, state: DiagnosisState) -> int | None:
    """Return the position of the earlier wrong formula that this formula repeats or follows from; None without one."""
    for one in state.wrong:
        for stated in item.forms:
            for f in stated:
                laws = [claimed for claimed in one.stated if numeric_of(claimed) is None]
                if any(are_equivalent(claimed, f, state.context) for claimed in laws):
                    return one.source
                is_repeated = f in one.stated if numeric_of(f) else matches_any(f, one.derived, state.context)
                if is_repeated:
                    return one.source
    for stated in item.forms:
        for f in stated:
            source = source_of_wrong_number(f, state)
            if source is not None:
                return source
    return _source_of_repeated_slip(item, state)


def _source_of_repeated_slip(item: ReadFormula, state: DiagnosisState) -> int | None:
    r"""Return the position of the earlier wrong formula with the same slip (`-\omega_0`); None if there is none."""
    for one in state.wrong:
        for slip in one.slips:
            wanted = [f for each in candidate_nodes(item, state) for f in each.formulas]
            if not item.defines and _matches_after_slip(slip, item, wanted, state.context):
                return one.source
    return None


def _source_of_repeated_change(change: Change | None, node: int | None, state: DiagnosisState) -> int | None:
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


def _is_renaming(change: Change | None, state: DiagnosisState) -> bool:
    """Return True if a change only renames a symbol, which is no mistake: the student calls `v` by the new name `u`.

    The new name is unknown to the problem, and the right one does not occur in the solution or is the lone side. Or it
    is the lone side, and the problem only speaks of it: no node, definition or given value says what it is.
    """
    if change is None or change.kind != "symbol" or change.has.op != "sym" or change.should.op != "sym":
        return False
    name = change.has.name
    if name not in state.prepared.task.known:
        return change.should.name not in state.symbols or change.is_of_subject
    is_a_side = (change.should if change.in_claim else change.has) in change.claim.members
    return is_a_side and not _is_defined(name, state)


def _is_defined(name: str, state: DiagnosisState) -> bool:
    """Return True if a formula of the problem or its reference, or a given value, has a symbol."""
    of_nodes = (f for each in state.prepared.task.references for f in each.formulas)
    said = any(name in symbols_of(f) for f in (*of_nodes, *state.context.definitions))
    return said or name in given_values(state.context)


# Differences. -----------------------------------------------------------------------------------------------------


def _find_repair(item: ReadFormula, state: DiagnosisState) -> tuple[Difference, Change] | None:
    """Return the verified change that makes a formula equivalent to a node, described and as found; else None."""
    values = {name: float(each.quantity.value) for name, each in given_values(state.context).items()}
    for reference in candidate_nodes(item, state):
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
    item: ReadFormula,
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
    reference: ReferenceNode, item: ReadFormula, context: Context
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


def _unit_difference(item: ReadFormula, state: DiagnosisState) -> tuple[Difference, None] | None:
    """Describe units that cannot be equal, as in `3 m = 2 s`, whatever node was meant; None if they can be."""
    for f in item.forms[0]:
        if any(not symbols(member) and "unit" not in ops_of(member) for member in f.members):
            continue  # values inserted without their units
        fault = dimension_fault(f, state.context)
        if fault:
            return describe_difference("dimension", None, None, None, detail=fault), None
    return None

r"""What is wrong with a solution, by rule: of each formula that matches no node what separates it from the nearest.

A difference is told as a fact only where it is shown by repair: one change of one part (`repairs`) makes the formula
and a node equivalent by the rules that grade. Where no single change does, only two things are facts: units that
cannot agree, and a chain whose links are refuted. All else is `undetermined`. A formula that matches no node need not
be wrong, and is asked for that first:

1. A chain with a refuted link is wrong by itself.
2. An identity, a value or a definition that the problem gives, and what follows from the nodes by putting one into
   another are right: the reference only does not ask for them.
3. What follows from an earlier wrong formula in the same way, or turns right by the same change, is no new mistake.
4. A number is held against the number that is asked for.
5. Then repairs are tried, at the missing nodes first and at the nearest of them: fewest symbols of one only, as a grade
   has it. A repair at a further node beats a nearer node without one.

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
from pathlib import Path
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
from prism.diagnosis.consequences import follows_from, is_given, is_law, numbers_in, put_together, same, working_out
from prism.diagnosis.repairs import Change, changes_between, short_form
from prism.diagnosis.wording import Difference, told
from prism.equivalence.matching import number_of, says_nothing
from prism.equivalence.numbers import Asked, Numeric, compare_numbers, measure, numeric_of, worked_out_number
from prism.equivalence.statements import statements_of
from prism.equivalence.substitutions import inconsistency_of, resolved, subject_of
from prism.errors import LatexSyntaxError, PrismError
from prism.grading.chains import link_of
from prism.grading.claims import Claim
from prism.grading.match_matrix import Outcome, Reference, Weighed, weighed
from prism.grading.own_symbols import with_names
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade, GradedFormula
from prism.physics.context import Context, parse, values_of
from prism.physics.units import Dimension
from prism.problem.dag import ancestor_closure
from prism.problem.schema import Problem

MAX_NODES = 8  # that one formula is held against; beyond, nothing near is left
MAX_APART = 4  # symbols that only one of two formulas has; a term that is missing has hardly more
MAX_FORMS = 4  # of one formula: as it stands, with the solution's own definitions and names read
MAX_VERIFIED = 24  # changes of a pair that the engine is asked about; candidates agree at a dozen points already
MAX_SLIPS = 6  # symbols of one part that are asked whether they were taken for something else
MAX_ALSO = 3  # other kinds of change that are told
_OF_OTHERS = frozenset(("symbol", "quantity_missing", "quantity_extra", "term_missing", "term_extra"))
"""Kinds in which a formula of something else differs: beside one that says the node they show no mistake."""
_DECADES = 12  # powers of ten that a number may be off by
_INHERITED = 3  # largest numerator and denominator of the power of a factor that a later step has taken over

FINDINGS = ("wrong", "follows", "right", "undetermined")
_UNIT_FACTORS = tuple(
    Fraction(text) for text in ("60", "3600", "18/5", "24", "86400", "100", "1000", "4184/1000", "5/18")
)
_PI_OVER_180 = 0.017453292519943295
_FACTORS = tuple(Fraction(text) for text in ("2", "3", "4", "3/2", "355/113", "710/113", "1420/113"))  # and of pi


@dataclass(frozen=True, slots=True)
class Finding:
    """What is found of one formula that matches no node.

    Attributes:
        position: of the formula in `Grade.formulas`.
        latex, span: as there.
        status: `wrong`; `follows`, from an earlier wrong one; `right`, but no node; `undetermined`.
        difference: of a wrong one; of an undetermined one that a grade could not decide, what would make it a node.
        source: position of the wrong formula that it follows from; else None.
        nearest: index of the nearest node, or None.
        detail: for a person: why it is right, or what is known of it.
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
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "position": self.position, "latex": self.latex, "span": list(self.span), "status": self.status,
            "difference": self.difference and self.difference.to_dict(), "source": self.source,
            "nearest": self.nearest, "detail": self.detail,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with a solution.

    Attributes:
        problem_id, sample_id: of the grade.
        findings: of every formula that asserts something and matches no node, in the order of the text.
        first_wrong: position of the first wrong one in `Grade.formulas`; None if nothing is known to be wrong.
        label: of its difference; `undetermined` if there is none.
        n_open: formulas before it, or in all, of which it could not be told whether they are right.
    """

    problem_id: str
    sample_id: str | None
    findings: tuple[Finding, ...]
    first_wrong: int | None
    label: str
    n_open: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id,
            "findings": [each.to_dict() for each in self.findings],
            "first_wrong": self.first_wrong, "label": self.label, "n_open": self.n_open,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Read:
    """One formula of the solution with all that it may mean.

    Attributes:
        position: in `Grade.formulas`. graded: the formula there.
        claim: as it is compared. outcomes: at every node, by index.
        forms: what it states, as it stands, with the solution's definitions, with its names.
        defines: the solution has from it what one of its own symbols is.
    """

    position: int
    graded: GradedFormula
    claim: Claim
    outcomes: Mapping[int, Outcome]
    forms: tuple[tuple[Formula, ...], ...]
    defines: bool = False


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A formula that is wrong, or follows from one that is.

    Attributes:
        source: position of the wrong one. stated: what the formula states.
        derived: what it leads to. change, node: what would make it right, if it is the wrong one itself.
        slips: what may be put for a symbol of it, throughout, to make it right.
    """

    source: int
    stated: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    change: Change | None = None
    node: int | None = None
    slips: tuple[tuple[Expr, Expr], ...] = ()


@dataclass(slots=True)
class _State:
    """What is known while a solution is gone through in order.

    Attributes:
        prepared: the problem. laws: formulas that hold: those of nodes, definitions, matched ones.
        derived: what they lead to. matched: nodes that some formula matches. said: symbols that the solution writes.
        wrong: what has been found wrong so far, or to follow from it.
        numbers: the numbers among that, by the name of the quantity: value [SI], dimension; and the source.
    """

    prepared: PreparedProblem
    laws: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    matched: frozenset[int]
    said: frozenset[str]
    wrong: list[_Wrong] = field(default_factory=list)
    numbers: dict[str, tuple[float, Dimension]] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        return self.prepared.setting.context


def diagnose(problem: PreparedProblem | Problem | Path | str | Mapping[str, object], grade: Grade) -> Diagnosis:
    """Tell of each formula that matches no node what is wrong with it, and which is the first wrong step.

    Args:
        problem: the one that the grade is of, prepared or not.
        grade: what `grade` made of the solution.

    Errors:
        DataFileError: a problem file with faults.
        PrismError: a grade of another problem. Never anything about what the solution says.

    Source: the labels are those of PRISM-Physics (arXiv 2510.03185); the rules are ours.
    """
    prepared = problem if isinstance(problem, PreparedProblem) else prepare(problem)
    if prepared.problem.id != grade.problem_id:
        raise PrismError(f"diagnosis: the grade is of problem {grade.problem_id}, not of {prepared.problem.id}")
    read = _read(prepared, grade)
    state = _state(prepared, grade, read)
    findings = [
        _found(item, state)
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
    )


# Reading. ---------------------------------------------------------------------------------------------------------


def _read(prepared: PreparedProblem, grade: Grade) -> list[_Read]:
    """The formulas that assert something, in order, compared as the grade compared them."""
    setting = prepared.setting
    read: list[tuple[int, GradedFormula, Formula]] = []
    for position, item in enumerate(grade.formulas):
        if item.status in ("mention", "unread") or item.kind == "text" or item.reason == "too_large":
            continue
        try:
            read.append((position, item, parse(item.latex, context=setting.context)))
        except LatexSyntaxError:  # a grade that was made elsewhere
            continue
    found = weighed(setting, [(f, item.kind == "boxed") for _, item, f in read])
    defining = {one.place for one in found.vocabulary.definitions}
    together = zip(read, found.claims, found.outcomes, strict=True)
    return [
        _Read(position, item, claim, outcomes, _forms(claim, found), place in defining)
        for place, ((position, item, _), claim, outcomes) in enumerate(together)
    ]


def _forms(claim: Claim, found: Weighed) -> tuple[tuple[Formula, ...], ...]:
    forms = [claim.formula, *(each.formula for each in claim.expansions)]
    if found.vocabulary.names:
        forms += [with_names(each, found.vocabulary.names) for each in forms]
    kept = list(dict.fromkeys(forms))[:MAX_FORMS]
    return tuple(tuple(each.formula for each in statements_of(form)) for form in kept)


def _state(prepared: PreparedProblem, grade: Grade, read: Sequence[_Read]) -> _State:
    laws = [f for each in prepared.setting.references for f in each.formulas]
    laws += prepared.setting.context.definitions
    laws += [item.claim.formula for item in read if item.graded.status == "equivalent"]
    plain = tuple(f for f in dict.fromkeys(laws) if is_law(f))
    said = frozenset[str]().union(*(symbols_of(item.claim.formula) for item in read))
    return _State(prepared, plain, put_together(plain, plain), frozenset(grade.matched), said)


# One formula. -----------------------------------------------------------------------------------------------------


def _found(item: _Read, state: _State) -> Finding:
    """What is found of one formula. Where an engine fails it is undetermined: a student's text never raises."""
    plain = Finding(item.position, item.graded.latex, item.graded.span, "undetermined", nearest=item.graded.nearest)
    try:
        return _examined(item, state, plain)
    except Exception as error:  # noqa: BLE001 - as in a grade: whatever it is, the student did not cause it
        return replace(plain, detail=f"internal: {type(error).__name__}: {error}")


def _examined(item: _Read, state: _State, plain: Finding) -> Finding:
    broken = _broken_link(item.claim.formula, state.context)
    if broken is not None:
        _add_wrong(item, state, item.position, None, None)
        return replace(plain, status="wrong", difference=broken)
    why = _why_right(item, state)
    if why:
        return replace(plain, status="right", detail=why)
    source = _source_of(item, state)
    if source is not None:
        _add_wrong(item, state, source, None, None)
        return replace(plain, status="follows", source=source)
    found: tuple[Difference, Change | None] | None = None if item.defines else _repaired(item, state)
    found = found or _number_apart(item, state) or _units_apart(item, state)
    if found is None:
        return replace(plain, detail=item.graded.detail)
    difference, change = found
    if _is_own_name(change, state):
        return replace(plain, detail=f"node {difference.node}, if {difference.has} is {difference.should}")
    inherited = _inherited_from(change, difference.node, state)
    if inherited is not None:
        _add_wrong(item, state, inherited, None, None)
        return replace(plain, status="follows", source=inherited, nearest=difference.node)
    nearest = plain.nearest if difference.node is None else difference.node
    is_another = change is not None and change.kind in _OF_OTHERS and difference.node in state.matched
    if item.graded.status == "undecided" or is_another:
        return replace(plain, difference=difference, nearest=nearest)
    _add_wrong(item, state, item.position, change, difference.node)
    return replace(plain, status="wrong", difference=difference, nearest=nearest)


def _add_wrong(item: _Read, state: _State, source: int, change: Change | None, node: int | None) -> None:
    """Remember a formula that is wrong or follows from one, and what it leads to with formulas that hold."""
    stated = item.forms[0]
    own = {f for each in state.prepared.setting.references if each.index == node for f in each.formulas}
    laws = [law for law in state.laws if law not in own]
    laws += [f for one in state.wrong for f in one.stated if is_law(f)]
    laws_of_it = [f for f in stated if is_law(f)]
    slips = _slips(item, change, node, state)
    state.wrong.append(_Wrong(source, stated, put_together(laws_of_it, laws), change, node, slips))
    numbers = numbers_in(stated)
    state.numbers |= numbers
    state.sources |= dict.fromkeys(numbers, source)


def _slips(item: _Read, change: Change | None, node: int | None, state: _State) -> tuple[tuple[Expr, Expr], ...]:
    r"""What a symbol may have been taken for, if that makes the whole formula right: `\\omega_0` for `-\\omega_0`."""
    if change is None or change.kind not in ("sign", "factor", "symbol"):
        return ()
    names = sorted(symbols(change.has) & symbols(change.should))[:MAX_SLIPS]
    if change.kind == "symbol":
        tried = [(change.has, change.should)] if change.has.op == change.should.op == "sym" else []
    elif change.kind == "sign":
        tried = [(symbol(name), Expr("neg", (symbol(name),))) for name in names]
    else:
        tried = [(symbol(name), Expr("mul", (change.amount or number(1), symbol(name)))) for name in names]
    wanted = [f for each in state.prepared.setting.references if each.index == node for f in each.formulas]
    return tuple(slip for slip in tried if _is_right_with(slip, item, wanted, state.context))


def _is_right_with(slip: tuple[Expr, Expr], item: _Read, wanted: Sequence[Formula], context: Context) -> bool:
    taken = [substituted(f, {slip[0]: slip[1]}) for stated in item.forms for f in stated]
    return any(same(each, f, context) for each in wanted for f in taken)


def _broken_link(f: Formula, context: Context) -> Difference | None:
    """A link of a chain, or an equation between numbers, that is refuted."""
    for part in f.parts or (f,):
        is_numeric = len(part.members) == 2 and not symbols_of(part)
        if len(part.members) < 2 + (not is_numeric) or not EQUALITIES.issuperset(part.relations):
            continue
        for left, right in pairwise(part.members):
            found = link_of(left, right, context)
            if found.status == "refuted":
                return told("arithmetic", None, left, right, detail=found.witness)
    return None


def _why_right(item: _Read, state: _State) -> str:
    """Why a formula that matches no node is right; empty if that is not seen."""
    context, setting = state.context, state.prepared.setting
    asked = {numeric.subject for each in setting.references for f in each.formulas if (numeric := numeric_of(f))}
    for stated in item.forms:
        if any(f.kind != "equation" or f.parts for f in stated):
            continue
        if all(says_nothing(f, context) for f in stated):
            return "it is an identity"
        if all(is_given(f, context) for f in stated):
            return "the problem gives it"
        numerics = [numeric_of(f) for f in stated]
        if any(numeric and numeric.subject in asked for numeric in numerics):
            continue  # that number is asked for, and it is another one
        if all(follows_from(f, state.derived, context) for f in stated):
            return "it follows from formulas of the reference"
        if all(numeric and working_out(numeric, state.laws, setting.worth, context) for numeric in numerics):
            return "it is worked out from formulas of the reference"
    return ""


def _source_of(item: _Read, state: _State) -> int | None:
    """The earlier wrong formula that this one says again or follows from."""
    for one in state.wrong:
        for stated in item.forms:
            for f in stated:
                if any(same(said, f, state.context) for said in one.stated if not _is_number(said)):
                    return one.source
                if not _is_number(f) and follows_from(f, one.derived, state.context):
                    return one.source
                if _is_number(f) and f in one.stated:
                    return one.source
    for stated in item.forms:
        for f in stated:
            source = _source_of_number(f, state)
            if source is not None:
                return source
    return _source_of_slip(item, state)


def _source_of_slip(item: _Read, state: _State) -> int | None:
    """The earlier wrong formula in which a symbol was taken for something else, as it is here."""
    for one in state.wrong:
        for slip in one.slips:
            wanted = [f for each in _candidates(item, state) for f in each.formulas]
            if not item.defines and _is_right_with(slip, item, wanted, state.context):
                return one.source
    return None


def _is_number(f: Formula) -> bool:
    return numeric_of(f) is not None


def _source_of_number(f: Formula, state: _State) -> int | None:
    """The wrong formula or number from which a number has been worked out."""
    numeric = numeric_of(f)
    if numeric is None:
        return None
    known = {**state.prepared.setting.worth, **state.numbers}
    for one in state.wrong:
        wrong_laws = [law for law in (*one.stated, *one.derived) if is_law(law)]
        if working_out(numeric, wrong_laws, known, state.context):
            return one.source
    law = working_out(numeric, state.laws, known, state.context) if state.numbers else None
    used = [] if law is None else [state.sources[name] for name in sorted(symbols_of(law)) if name in state.sources]
    return min(used, default=None)


def _inherited_from(change: Change | None, node: int | None, state: _State) -> int | None:
    """The earlier wrong formula whose slip this one has too: the same part, or a power of its factor further on."""
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


def _is_power_of(one: Expr | None, other: Expr | None) -> bool:
    """Whether a factor is a small power of another, as the root of two is of a half."""
    sizes = [None if each is None else measure(each, Context()) for each in (one, other)]
    logs = [math.log(abs(size[0])) for size in sizes if size and size[0]]
    if len(logs) < len(sizes) or not all(logs):
        return False
    power = Fraction(logs[0] / logs[1]).limit_denominator(_INHERITED)
    return bool(power) and abs(power) <= _INHERITED and math.isclose(logs[0], float(power) * logs[1], rel_tol=1e-9)


def _is_own_name(change: Change | None, state: _State) -> bool:
    """Whether a symbol is only called by another name: one that nobody knows, for one that the solution never uses."""
    if change is None or change.kind != "symbol" or change.has.op != "sym" or change.should.op != "sym":
        return False
    is_fresh = change.has.name not in state.prepared.setting.known
    return is_fresh and (change.should.name not in state.said or change.is_of_subject)


# Differences. -----------------------------------------------------------------------------------------------------


def _candidates(item: _Read, state: _State) -> list[Reference]:
    """Nodes that a formula may be meant for: missing ones first, then by the symbols that only one of them has."""
    references = {each.index: each for each in state.prepared.setting.references}
    ranked = sorted(item.outcomes.values(), key=lambda each: (each.index in state.matched, each.distance, each.index))
    own = frozenset[str]().union(*(symbols_of(f) for stated in item.forms for f in stated))
    shared = [each.index for each in ranked if own & _names(references[each.index])]
    return [references[index] for index in shared[:MAX_NODES]]


def _names(reference: Reference) -> frozenset[str]:
    return frozenset[str]().union(*(symbols_of(f) for f in reference.formulas))


def _repaired(item: _Read, state: _State) -> tuple[Difference, Change] | None:
    """The change that makes a formula one of the nodes, with the node."""
    values = {name: float(each.quantity.value) for name, each in values_of(state.context).items()}
    for reference in _candidates(item, state):
        if reference.is_number:
            continue
        for wanted, said in _pairs(reference, item, state.context):
            found: list[Change] = []
            for change in changes_between(resolved(wanted), resolved(said), state.context, values)[:MAX_VERIFIED]:
                is_new = all(one.kind != change.kind for one in found) and len(found) <= MAX_ALSO
                if is_new and same(change.reference, change.claim, state.context, reference.asked):
                    found.append(change)
            if found:
                also = tuple(dict.fromkeys(_told_as(one.kind) for one in found[1:]))
                return _of_change(found[0], reference.index, also, said, state.context), found[0]
    return None


def _pairs(reference: Reference, item: _Read, context: Context) -> Iterator[tuple[Formula, Formula]]:
    """What a node says, with what a formula states that may be meant for it; numbers are no formulas."""
    needed = [each.formula for f in reference.formulas for each in statements_of(f, needed=True)]
    for stated in item.forms:
        for wanted in needed:
            for said in stated:
                whole = said
                if said.kind == "expression" and item.graded.kind == "inline":
                    continue  # it names something, and says nothing of it
                if said.kind == "expression" and wanted.kind == "equation" and item.graded.kind == "boxed":
                    whole = formula((wanted.members[0], said.members[0]), ("=",), said.latex, said.depends)
                numeric = number_of(whole, context)
                is_measured = numeric is not None and (not numeric.number.is_exact or numeric.number.unit is not None)
                apart = (symbols_of(whole) ^ symbols_of(wanted)) - values_of(context).keys()
                if len(whole.members) == len(wanted.members) <= 2 and not is_measured and len(apart) <= MAX_APART:
                    yield wanted, whole


def _of_change(change: Change, node: int, also: tuple[str, ...], said: Formula, context: Context) -> Difference:
    is_of_units = change.kind in ("factor", "constant") and _is_of_units(change.amount, said)
    kind = "unit" if is_of_units else _told_as(change.kind)
    found = told(kind, node, change.has, change.should, amount=change.amount, also=also, is_written=change.in_claim)
    fault = inconsistency_of(said, context)
    return replace(found, full=f"{found.full} Its units cannot agree: {fault}.") if fault else found


def _told_as(kind: str) -> str:
    return "factor" if kind == "constant" else kind


def _is_of_units(amount: Expr | None, said: Formula) -> bool:
    r"""Whether a factor is one between units: a power of ten or 3600 beside units, \pi/180 anywhere."""
    measured = None if amount is None else measure(amount, Context())
    if measured is None or not measured[0]:
        return False
    size = abs(measured[0])
    if any(math.isclose(each, math.pi / 180, rel_tol=1e-9) for each in (size, 1 / size)):
        return True
    return "unit" in traits_of(said).ops and (_is_power_of_ten(size) or bool({size, 1 / size} & {*_UNIT_FACTORS}))


def _is_power_of_ten(size: Fraction) -> bool:
    return size != 1 and all(str(each).rstrip("0") == "1" for each in (size.numerator, size.denominator))


def _number_apart(item: _Read, state: _State) -> tuple[Difference, None] | None:
    """How the number that a formula states differs from the one that a node asks for, or gives."""
    numerics = [number_of(f, state.context) for stated in item.forms for f in stated]
    said = [numeric for numeric in numerics if numeric is not None]
    if not said and item.claim.formula.kind == "expression" and item.graded.kind == "boxed":
        said = _boxed_number(item, state)
    near = _candidates(item, state) if said else []
    for reference in sorted(near, key=lambda each: not each.is_number):
        for f in reference.formulas:
            for one in said:
                wanted, asked = numeric_of(f), reference.asked
                if wanted is None and reference.index not in state.matched and subject_of(f) == one.subject:
                    wanted, asked = worked_out_number(f, one, state.context), Asked(figures=3, is_node=True)
                if wanted is None or wanted.subject != one.subject:
                    continue
                if compare_numbers(wanted, one.number, asked).status == "equivalent":
                    return None
                difference = _between_numbers(wanted, asked, reference.index, one)
                return _of_unknown_origin(difference) if _has_law(item) else difference, None
    return None


def _has_law(item: _Read) -> bool:
    """Whether a formula says how its number comes about: nothing has repaired that, so the number tells of no slip."""
    return any(is_law(f) and len(symbols_of(f)) > 1 for f in item.forms[0])


def _of_unknown_origin(difference: Difference) -> Difference:
    if difference.kind in ("dimension", "unit"):
        return difference
    has, should = difference.has, difference.should
    full = f"The number is ${has}$, where ${should}$ is right, and what it is worked out from is no node."
    return replace(difference, kind="value", label="undetermined", amount="", full=full)


def _boxed_number(item: _Read, state: _State) -> list[Numeric]:
    """A number in a box without a subject, as the one final number that is missing."""
    finals = state.prepared.problem.dag.finals - state.matched
    asked = [each for each in state.prepared.setting.references if each.index in finals and each.is_number]
    wanted = [numeric_of(f) for each in asked for f in each.formulas[:1]]
    if len(wanted) != 1 or wanted[0] is None:
        return []
    said = numeric_of(formula((wanted[0].subject, item.claim.formula.members[0]), ("=",)))
    return [] if said is None else [said]


def _between_numbers(wanted: Numeric, asked: Asked, node: int, one: Numeric) -> Difference:
    """What separates two numbers of one quantity: units, the sign, a short factor, or no more than that they differ."""
    said = one.number
    has, should = _in_words(said.value), _in_words(asked.recomputed or wanted.number.value)
    plain = replace(said, unit=wanted.number.unit) if said.unit is None else said
    if plain.dimension != wanted.number.dimension:
        return told("dimension", node, has, should, detail=compare_numbers(wanted, said, asked).detail)
    loose = replace(asked, is_final=False)

    def is_right(factor: Fraction) -> bool:
        scaled = replace(plain, value=plain.value * factor, ulp=abs(plain.ulp * factor))
        return compare_numbers(wanted, scaled, loose).status == "equivalent"

    if is_right(Fraction(-1)):
        return told("sign", node, has, should)
    tens = [Fraction(10) ** (sign * power) for power in range(1, _DECADES + 1) for sign in (1, -1)]
    units = [each for factor in _UNIT_FACTORS for each in (factor, 1 / factor)] if said.unit else []
    for factor in (*tens, *units):
        if is_right(factor):
            return told("unit", node, has, should, amount=number(factor))
    for factor in (each for short in _FACTORS for each in (short, 1 / short)):
        if is_right(factor):
            return told("factor", node, has, should, amount=short_form(float(factor), 1e-6) or number(factor))
    times = float(plain.in_si / wanted.number.in_si) if wanted.number.in_si else 1.0
    apart = f"{abs(times - 1):.1%} off" if 0 < times < 2 else f"{times:.3g} times as large"
    return told("value", node, has, should, detail="" if times == 1 else apart)


def _in_words(value: Fraction) -> Expr:
    """A number with the six figures that a person reads."""
    return (
        number(value)
        if value.denominator == 1
        else number(Fraction(f"{float(value):.6g}"), written=f"{float(value):.6g}")
    )


def _units_apart(item: _Read, state: _State) -> tuple[Difference, None] | None:
    """Units that cannot agree, whatever the formula was meant to say."""
    for f in item.forms[0]:
        if any(not symbols(member) and "unit" not in ops_of(member) for member in f.members):
            continue  # values that were put in without their units
        fault = inconsistency_of(f, state.context)
        if fault:
            return told("dimension", None, None, None, detail=fault), None
    return None

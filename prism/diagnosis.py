r"""What is wrong with a solution, by rule: of each formula that matches no node what separates it from the nearest.

A difference is told as a fact only where it is proved by repair: one change of one part (`repairs`) makes the formula
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
| `factor`, `constant` | a constant factor, with a short form or without | DCE |
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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from prism.attempts import inconsistency_of, resolved, subject_of
from prism.chains import link_of
from prism.claims import Claim
from prism.context import Context, parse, values_of
from prism.errors import LatexSyntaxError, PrismError
from prism.expr import EQUALITIES, Expr, Formula, formula, number, substituted, symbols, symbols_of, traits_of
from prism.grading import Grade, GradedFormula, PreparedProblem, prepare
from prism.latex import write
from prism.lowering import Mismatch
from prism.matching import match, says_nothing
from prism.outcomes import Outcome, Reference, Weighed, weighed
from prism.problem import Problem
from prism.repairs import Change, changes_between, short_form
from prism.stated import Asked, Known, StatedNumber, closed_number_of, compare_numbers, measure, numeric_of, tolerance
from prism.statements import statements_of
from prism.tape import TapeTooLarge
from prism.vocabulary import with_names

MAX_NODES = 8  # that one formula is held against; beyond, nothing near is left
MAX_FORMS = 3  # of one formula, with the solution's own definitions and names read
MAX_VERIFIED = 24  # changes of a pair that the engine is asked about; candidates agree at a dozen points already
MAX_DERIVED = 160  # formulas that are put together from nodes, or from a wrong formula and nodes
MAX_COMPARED = 24  # of these, as many as one formula is compared with
MAX_ALSO = 3  # other kinds of change that are told

DIFFERENCES = {
    "sign": "DCE", "relation": "DCE", "factor": "DCE", "constant": "DCE", "exponent": "DCE", "arithmetic": "DCE",
    "value": "DCE", "symbol": "VRE", "quantity_missing": "VRE", "quantity_extra": "VRE", "term_missing": "VRE",
    "term_extra": "VRE", "unit": "UDE", "dimension": "UDE", "function": "undetermined",
}  # fmt: skip
"""Every kind of difference, with its label; `term_missing` and `term_extra` of a plain number are DCE. Closed."""

FINDINGS = ("wrong", "follows", "right", "undetermined")
_UNIT_FACTORS = tuple(
    Fraction(text) for text in ("60", "3600", "18/5", "24", "86400", "100", "1000", "4184/1000", "5/18")
)
_PI_OVER_180 = 0.017453292519943295
_ROUNDED = Fraction(1, 100)  # relative, of a number that was worked out from rounded ones
_EXACT = Asked()


@dataclass(frozen=True, slots=True)
class Difference:
    """What separates a formula from a node, or from itself.

    Attributes:
        kind: key of DIFFERENCES.
        label: `UDE`, `DCE`, `VRE` or `undetermined`.
        node: index of the node that the formula would say; None where no node is needed to see the fault.
        has, should: the part as the student has it and as it would be right, in LaTeX; empty where there is no part.
        amount: the factor that is needed, the term or the quantity, in LaTeX; else empty.
        hint: for the student: where to look, and not what to write.
        full: for a teacher: what is wrong and what would be right.
        also: other kinds that would explain it as well, the likeliest first.
    """

    kind: str
    label: str
    node: int | None
    has: str = ""
    should: str = ""
    amount: str = ""
    hint: str = ""
    full: str = ""
    also: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are those of the attributes."""
        return {
            "kind": self.kind, "label": self.label, "node": self.node, "has": self.has, "should": self.should,
            "amount": self.amount, "hint": self.hint, "full": self.full, "also": list(self.also),
        }  # fmt: skip


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
        forms: as it stands, with the solution's definitions, with its names.
    """

    position: int
    graded: GradedFormula
    claim: Claim
    outcomes: Mapping[int, Outcome]
    forms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A formula that was found wrong, with what it leads to."""

    position: int
    form: Formula
    change: Change | None
    derived: tuple[Formula, ...]


@dataclass(slots=True)
class _State:
    """What is known while a solution is gone through in order.

    Attributes:
        prepared: the problem. laws: formulas that hold: those of nodes, definitions, matched ones.
        derived: what they lead to. matched: nodes that some formula matches. said: symbols that the solution writes.
        wrong: the formulas found wrong so far. numbers: value and dimension of what has been stated [SI].
    """

    prepared: PreparedProblem
    laws: tuple[Formula, ...]
    derived: tuple[Formula, ...]
    matched: frozenset[int]
    said: frozenset[str]
    wrong: list[_Wrong] = field(default_factory=list)
    numbers: dict[str, tuple[float, Any]] = field(default_factory=dict)

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
    findings = []
    for item in read:
        if item.graded.status in ("different", "undecided") or item.graded.reason == "broken_chain":
            findings.append(_found(item, state))
        else:
            _learn_number(item.forms[0], state)
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
    together = zip(read, found.claims, found.outcomes, strict=True)
    return [
        _Read(position, item, claim, outcomes, _forms(claim, found))
        for (position, item, _), claim, outcomes in together
    ]


def _forms(claim: Claim, found: Weighed) -> tuple[Formula, ...]:
    forms = [claim.formula, *(each.formula for each in claim.expansions)]
    if found.vocabulary.names:
        forms += [with_names(each, found.vocabulary.names) for each in forms]
    return tuple(dict.fromkeys(forms))[: MAX_FORMS + 1]


def _state(prepared: PreparedProblem, grade: Grade, read: Sequence[_Read]) -> _State:
    references = prepared.setting.references
    laws = [f for each in references for f in each.formulas]
    laws += prepared.setting.context.definitions
    laws += [item.forms[0] for item in read if item.graded.status == "equivalent"]
    plain = tuple(f for f in dict.fromkeys(laws) if _is_law(f))
    said = frozenset[str]().union(*(symbols_of(item.claim.formula) for item in read))
    return _State(
        prepared, plain, _put_together(plain, plain), frozenset(grade.matched), said,
        numbers=dict(prepared.setting.worth),
    )  # fmt: skip


def _is_law(f: Formula) -> bool:
    """Whether a formula is one equation between quantities, and no mere number."""
    return f.kind == "equation" and not f.parts and numeric_of(f) is None and closed_number_of(f) is None


def _put_together(formulas: Sequence[Formula], laws: Sequence[Formula]) -> tuple[Formula, ...]:
    """What follows from formulas by putting laws into them, or them into laws, once or twice."""
    found: dict[Formula, None] = {}
    last = list(formulas)
    for _ in range(2):
        new: dict[Formula, None] = {}
        for f in last:
            for law in laws:
                for one, other in ((f, law), (law, f)):
                    together = _with_put_in(one, other)
                    if together is not None and together not in found:
                        new[together] = None
            if len(found) + len(new) > MAX_DERIVED:
                break
        found |= new
        last = list(new)
    return tuple(found)[:MAX_DERIVED]


def _with_put_in(f: Formula, solved: Formula) -> Formula | None:
    """A formula with what another one is solved for put in, or the two set equal if both are solved for the same."""
    subject = subject_of(solved)
    if subject is None or f == solved:
        return None
    worth = solved.members[1] if solved.members[0] == subject else solved.members[0]
    if subject.op != "sym" or subject.name in symbols(worth) or subject.name not in symbols(*f.members):
        return None
    put_in = substituted(f, {subject: worth})
    return None if len(set(put_in.members)) < 2 else replace(put_in, latex="")


# One formula. -----------------------------------------------------------------------------------------------------


def _found(item: _Read, state: _State) -> Finding:
    """What is found of one formula; the failures of the engine leave it undetermined."""
    told = Finding(item.position, item.graded.latex, item.graded.span, "undetermined", nearest=item.graded.nearest)
    broken = _broken_link(item.forms[0], state.context)
    if broken is not None:
        state.wrong.append(_Wrong(item.position, item.forms[0], None, ()))
        return replace(told, status="wrong", difference=broken)
    why = _why_right(item, state)
    if why:
        _learn_number(item.forms[0], state)
        return replace(told, status="right", detail=why)
    source = _source_of(item, state)
    if source is not None:
        _learn_number(item.forms[0], state)
        return replace(told, status="follows", source=source)
    found = _number_apart(item, state) or _repaired(item, state) or _units_apart(item, state)
    if found is None:
        return replace(told, detail=item.graded.detail)
    difference, change = found
    same = [one.position for one in state.wrong if change and one.change and _is_same_slip(one.change, change)]
    if same:
        return replace(told, status="follows", source=same[0], nearest=difference.node)
    if item.graded.status == "undecided" or _is_own_name(change, state):
        return replace(told, difference=difference, nearest=difference.node)
    _learn_number(item.forms[0], state)
    laws = [law for law in state.laws if _node_of(law, state) != difference.node]
    derived = _put_together(item.forms[:1], laws) if _is_law(item.forms[0]) else ()
    state.wrong.append(_Wrong(item.position, item.forms[0], change, derived))
    return replace(told, status="wrong", difference=difference, nearest=difference.node)


def _node_of(law: Formula, state: _State) -> int | None:
    return next((each.index for each in state.prepared.setting.references if law in each.formulas), None)


def _learn_number(f: Formula, state: _State) -> None:
    """The last number that a solution states of a quantity, right or wrong: it goes on with it."""
    for statement in statements_of(f):
        numeric = numeric_of(statement.formula)
        if numeric is not None and numeric.subject.op == "sym":
            state.numbers[numeric.subject.name] = (float(numeric.number.in_si), numeric.number.dimension)


def _broken_link(f: Formula, context: Context) -> Difference | None:
    """A link of a chain, or an equation between numbers, that is refuted."""
    for part in f.parts or (f,):
        is_numeric = len(part.members) == 2 and not symbols_of(part)
        if len(part.members) < 2 + (not is_numeric) or not EQUALITIES.issuperset(part.relations):
            continue
        for left, right in pairwise(part.members):
            found = link_of(left, right, context)
            if found.status == "refuted":
                return _told("arithmetic", None, left, right, found.witness)
    return None


def _why_right(item: _Read, state: _State) -> str:
    """Why a formula that matches no node is right; empty if that is not seen."""
    context = state.context
    for form in item.forms:
        if form.parts or form.kind not in ("equation", "chain"):
            continue
        stated = [each.formula for each in statements_of(form)]
        if all(says_nothing(each, context) for each in stated):
            return "it is an identity"
        if all(_is_given(each, context) for each in stated):
            return "the problem gives it"
        if len(stated) == 1 and _follows_from(stated[0], state.derived, state):
            return "it follows from formulas of the reference"
        if all(_is_worked_out(each, state.laws, state.numbers, context) for each in stated):
            return "it is worked out from formulas of the reference"
    return ""


def _is_given(f: Formula, context: Context) -> bool:
    numeric = numeric_of(f)
    if numeric is None or numeric.subject.op != "sym":
        return False
    given = values_of(context).get(numeric.subject.name)
    if given is None:
        return False
    number = numeric.number
    is_same = abs(number.in_si - given.quantity.value) <= abs(given.quantity.value) / 1000
    return is_same and (number.unit is None or number.dimension == given.quantity.dimension)


def _follows_from(f: Formula, derived: Sequence[Formula], state: _State) -> bool:
    """Whether a formula says the same as one that was put together; those with other symbols are not compared."""
    names = symbols_of(f)
    known = values_of(state.context).keys()
    near = [one for one in derived if symbols_of(one) ^ names <= known]
    return any(_same(one, f, state.context) for one in near[:MAX_COMPARED])


def _is_worked_out(f: Formula, laws: Sequence[Formula], known: Known, context: Context) -> bool:
    """Whether a number is what a formula gives with the numbers that the problem and the solution have."""
    numeric = numeric_of(f)
    if numeric is None or numeric.subject.op != "sym" or not numeric.number.value:
        return False
    others = {name: worth for name, worth in known.items() if name != numeric.subject.name}
    for law in laws:
        for subject, side in (law.members, law.members[::-1]):
            if subject != numeric.subject or numeric.subject.name in symbols(side):
                continue
            measured = measure(side, context, others)
            if measured is not None and _is_about(numeric.number, *measured):
                return True
    return False


def _is_about(said: StatedNumber, value: Fraction, dimension: object) -> bool:
    has_unit = said.unit is None or said.dimension == dimension
    return has_unit and abs(said.in_si - value) <= max(_ROUNDED, tolerance(said.shown or 3, _EXACT)) * abs(value)


def _same(reference: Formula, claim: Formula, context: Context, asked: Asked = _EXACT) -> bool:
    try:
        return match(reference, claim, context, asked).status == "equivalent"
    except (TapeTooLarge, Mismatch, ArithmeticError, ValueError):  # a pair that the grader fails on proves nothing
        return False


def _source_of(item: _Read, state: _State) -> int | None:
    """The earlier wrong formula that this one says again or follows from."""
    for one in state.wrong:
        for form in item.forms:
            if form.parts:
                continue
            if any(_same(one.form, each.formula, state.context) for each in statements_of(form)):
                return one.position
            if _follows_from(form, one.derived, state):
                return one.position
            numbers = [each.formula for each in statements_of(form) if numeric_of(each.formula)]
            leads = (one.form, *one.derived, *(state.laws if numeric_of(one.form) else ()))
            if numbers and all(_is_worked_out(each, leads, state.numbers, state.context) for each in numbers):
                return one.position
    return None


def _is_same_slip(one: Change, other: Change) -> bool:
    return (one.kind, one.has, one.should) == (other.kind, other.has, other.should)


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
    ranked = sorted(
        item.outcomes.values(), key=lambda outcome: (outcome.index in state.matched, outcome.distance, outcome.index)
    )
    apart = {each.index: each.distance for each in ranked}
    shared = [index for index in apart if symbols_of(item.claim.formula) & _names(references[index])]
    return [references[index] for index in shared[:MAX_NODES]]


def _names(reference: Reference) -> frozenset[str]:
    return frozenset[str]().union(*(symbols_of(f) for f in reference.formulas))


def _repaired(item: _Read, state: _State) -> tuple[Difference, Change] | None:
    """The change that makes a formula one of the nodes, with the node."""
    values = {name: float(each.quantity.value) for name, each in values_of(state.context).items()}
    for reference in _candidates(item, state):
        if reference.is_number:
            continue
        found: list[Change] = []
        for wanted, form in _pairs(reference, item):
            changes = changes_between(resolved(wanted), resolved(form), state.context, values)
            for change in changes[:MAX_VERIFIED]:
                if any(one.kind == change.kind for one in found) or len(found) > MAX_ALSO:
                    continue
                if _same(change.reference, change.claim, state.context, reference.asked):
                    found.append(change)
            if found:
                also = tuple(dict.fromkeys(one.kind for one in found[1:]))
                change = found[0]
                return _of_change(change, reference.index, also, form, state.context), change
    return None


def _pairs(reference: Reference, item: _Read) -> Iterator[tuple[Formula, Formula]]:
    for form in item.forms:
        for wanted in reference.formulas:
            for each in statements_of(form):
                said = each.formula
                if said.kind == "expression" and wanted.kind == "equation":
                    said = formula((wanted.members[0], said.members[0]), ("=",), said.latex, said.depends)
                if len(said.members) == len(wanted.members) <= 2 and not (said.parts or wanted.parts):
                    yield wanted, said


def _of_change(change: Change, node: int, also: tuple[str, ...], form: Formula, context: Context) -> Difference:
    kind = change.kind
    if kind in ("factor", "constant") and _is_of_units(change.amount, form):
        kind = "unit"
    told = _told(kind, node, change.has, change.should, "", change.amount, also)
    fault = inconsistency_of(form, context)
    return replace(told, full=f"{told.full} Its units cannot agree: {fault}.") if fault else told


def _is_of_units(amount: Expr | None, form: Formula) -> bool:
    r"""Whether a factor is one between units: a power of ten or 3600 beside units, \pi/180 anywhere."""
    if amount is None:
        return False
    value = measure(amount, Context())
    if value is None or not value[0]:
        return False
    size = abs(value[0])
    if any(abs(float(each) / _PI_OVER_180 - 1) < 1e-9 for each in (size, 1 / size)):
        return True
    has_unit = any("unit" in traits_of(part).ops for part in (form.parts or (form,)))
    return has_unit and (_is_power_of_ten(size) or size in _UNIT_FACTORS or 1 / size in _UNIT_FACTORS)


def _is_power_of_ten(size: Fraction) -> bool:
    return {size.numerator, size.denominator} != {1} and all(
        str(each).rstrip("0") == "1" for each in (size.numerator, size.denominator)
    )


def _number_apart(item: _Read, state: _State) -> tuple[Difference, None] | None:
    """How the number that a formula states differs from the one that a node asks for."""
    said = [numeric for form in item.forms for each in statements_of(form) if (numeric := numeric_of(each.formula))]
    if not said and item.claim.formula.kind == "expression" and item.graded.kind == "boxed":
        return _box_apart(item, state)
    for reference in _candidates(item, state):
        for f in reference.formulas:
            wanted = numeric_of(f)
            for one in said:
                if wanted is None or wanted.subject != one.subject:
                    continue
                if compare_numbers(wanted, one.number, reference.asked).status == "equivalent":
                    return None
                return _between_numbers(reference, f, one.number), None
    return None


def _box_apart(item: _Read, state: _State) -> tuple[Difference, None] | None:
    """A number in a box without a subject, beside the one final number that is missing."""
    finals = state.prepared.problem.dag.finals
    asked = [each for each in state.prepared.setting.references if each.index in finals and each.is_number]
    asked = [each for each in asked if each.index not in state.matched]
    if len(asked) != 1:
        return None
    wanted = numeric_of(asked[0].formulas[0])
    if wanted is None:
        return None
    said = numeric_of(formula((wanted.subject, item.claim.formula.members[0]), ("=",)))
    return None if said is None else (_between_numbers(asked[0], asked[0].formulas[0], said.number), None)


def _between_numbers(reference: Reference, f: Formula, said: StatedNumber) -> Difference:
    wanted = numeric_of(f)
    assert wanted is not None
    asked, node = reference.asked, reference.index
    has, should = number(said.value), number(asked.recomputed or wanted.number.value)
    plain = replace(said, unit=wanted.number.unit) if said.unit is None else said
    if plain.dimension != wanted.number.dimension:
        return _told("dimension", node, has, should, compare_numbers(wanted, said, asked).detail)

    def is_right(factor: Fraction) -> bool:
        scaled = replace(plain, value=plain.value * factor, ulp=abs(plain.ulp * factor))
        return compare_numbers(wanted, scaled, replace(asked, is_final=False)).status == "equivalent"

    if is_right(Fraction(-1)):
        return _told("sign", node, has, should)
    for power in range(1, 13):
        for factor in (Fraction(10) ** power, Fraction(1, 10**power)):
            if is_right(factor):
                return _told("unit", node, has, should, "", number(factor))
    for factor in (*_UNIT_FACTORS, *(1 / each for each in _UNIT_FACTORS)):
        if is_right(factor) and said.unit is not None:
            return _told("unit", node, has, should, "", number(factor))
    for size in (2, 3, 4, Fraction(3, 2), Fraction(355, 113), Fraction(710, 113), Fraction(1420, 113)):
        for factor in (Fraction(size), 1 / Fraction(size)):
            if is_right(factor):
                return _told("factor", node, has, should, "", short_form(float(factor), 1e-6) or number(factor))
    apart = abs(float(plain.in_si / wanted.number.in_si) - 1) if wanted.number.in_si else 0.0
    return _told("value", node, has, should, f"{apart:.1%} off" if apart else "")


def _units_apart(item: _Read, state: _State) -> tuple[Difference, None] | None:
    """Units that cannot agree, whatever the formula was meant to say."""
    for form in item.forms[:1]:
        for each in statements_of(form):
            fault = inconsistency_of(each.formula, state.context)
            if fault:
                return _told("dimension", None, None, None, fault), None
    return None


# Words. -----------------------------------------------------------------------------------------------------------

_HINTS = {
    "sign": "Check the sign of {part}.",
    "relation": "Check which side is the larger one.",
    "factor": "A constant factor is not right: look again at {part}.",
    "constant": "A constant factor is not right: look again at {part}.",
    "exponent": "Check the power to which {part} is taken.",
    "function": "Check which function belongs at {part}.",
    "symbol": "Check whether {part} is the quantity that belongs here.",
    "quantity_missing": "A quantity on which this depends does not stand in {part}.",
    "quantity_extra": "{part} depends on a quantity more than it should.",
    "term_missing": "Something is not counted here: a term is missing.",
    "term_extra": "One of the terms does not belong here.",
    "unit": "The size is off by the factor of a unit or a power of ten: check the conversion.",
    "dimension": "Check the units: what stands here cannot be compared.",
    "value": "The number is not right, though nothing simple is wrong with it: work it out again.",
    "arithmetic": "Two members of this chain are not equal: check the step from {part}.",
}
_FULL = {
    "sign": "The sign is turned: {has}, where {should} is right.",
    "relation": "The inequality points the other way.",
    "factor": "Off by a factor: {has} has to be multiplied by {amount}.",
    "constant": "Off by a factor: {has} has to be multiplied by {amount}.",
    "exponent": "The exponent is wrong: {has}, where {should} is right.",
    "function": "The function is wrong: {has}, where {should} is right.",
    "symbol": "The wrong quantity: {has}, where {should} is right.",
    "quantity_missing": "A factor is missing: {has}, where {should} is right.",
    "quantity_extra": "A factor too many: {has}, where {should} is right.",
    "term_missing": "A term is missing: {amount}, in {has}.",
    "term_extra": "A term too many: {amount}, in {has}.",
    "unit": "Off by the factor of a unit or a power of ten: {has} has to be multiplied by {amount}.",
    "dimension": "Its units cannot agree: {detail}.",
    "value": "The number is {has}, where {should} is right ({detail}).",
    "arithmetic": "{has} is not {should}: {detail}.",
}


def _told(
    kind: str,
    node: int | None,
    has: Expr | None = None,
    should: Expr | None = None,
    detail: str = "",
    amount: Expr | None = None,
    also: tuple[str, ...] = (),
) -> Difference:
    """A difference in words."""
    label = DIFFERENCES[kind]
    if kind in ("term_missing", "term_extra") and amount is not None and not symbols(amount):
        label = "DCE"
    written = {"has": _latex(has), "should": _latex(should), "amount": _latex(amount)}
    part = f"${written['has']}$" if written["has"] else "this formula"
    fields = {name: f"${text}$" if text else "this" for name, text in written.items()}
    return Difference(
        kind, label, node, **written,
        hint=_HINTS[kind].format(part=part),
        full=_FULL[kind].format(detail=detail or "no more is known", **fields),
        also=also,
    )  # fmt: skip


def _latex(node: Expr | None) -> str:
    if node is None:
        return ""
    if node.op == "num" and node.value is not None and node.value.denominator > 1000:
        return f"{float(node.value):.6g}"
    return write(node)

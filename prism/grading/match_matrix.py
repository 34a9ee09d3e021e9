"""Every claim of a solution against every node of a problem, with the solution's own words read.

What a formula alone does not say it may say with the solution's definitions, or under its own names for the problem's
symbols; both are settled once for the whole solution. Where the sign of a symbol is a convention, the solution is gone
through once for each, and the best one counts in all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, product

from prism.algebra.expr import (
    EQUALITIES,
    OPS,
    Expr,
    Formula,
    number,
    substitute,
    symbol,
    symbols,
    symbols_of,
    unwritten,
    walk,
)
from prism.equivalence.matching import match, number_of
from prism.equivalence.numbers import Asked, Known, closed_number_of, compare_numbers, numeric_of
from prism.equivalence.statements import Statement, statements_of
from prism.equivalence.substitutions import subject_of
from prism.equivalence.verdict import RANK, Verdict
from prism.grading.claims import Claim, as_read, claims_of, match_claim, match_renamed, n_apart, with_sign_flipped
from prism.grading.own_symbols import Vocabulary, fresh_atoms, is_fresh, may_name, with_names
from prism.physics.context import Context

_TRIALS = ((2, 3), (7, 5))  # for symbols that may divide out: no ratio, product, sum or difference in common
MAX_IDLE = len(_TRIALS[0])
FORMULAS_KEPT = 4096  # nodes whose subjects and parts are remembered in a process
CLAIMS_KEPT = 1024  # claims whose outcomes are: the solutions of a problem say the same things again and again
MAX_FREE = 3  # symbols whose sign is free; every choice of them is one more grading of the solution
_SAYS_OTHERWISE = frozenset(("witness", "other_number", "dimension", "other_factor", "ratio", "exact", "opposite_side"))
"""Reasons of a difference that make two formulas contradict each other: of the same, they say something else."""
_WRITTEN_OUT = frozenset(("add", "sub", "mul", "div", "pow", "neg", "unit"))


@dataclass(frozen=True, slots=True)
class Reference:
    """One node as claims are held against it.

    Attributes:
        index: of the node.
        formulas: its own and those that the author accepts in its place.
        asked: how its number is asked for.
        also: what another node that says the same is solved for.
    """

    index: int
    formulas: tuple[Formula, ...]
    asked: Asked
    also: frozenset[Expr] = frozenset()

    @property
    def subjects(self) -> frozenset[Expr]:
        """What it is solved for: symbols, else a whole side that is one construct, as a derivative."""
        return self.also | _subjects_of(self.formulas)

    @property
    def is_number(self) -> bool:
        """Whether it asks for a number."""
        return any(numeric_of(f) is not None for f in self.formulas)


@lru_cache(maxsize=FORMULAS_KEPT)
def _subjects_of(formulas: tuple[Formula, ...]) -> frozenset[Expr]:
    lone = frozenset(subject for f in formulas if (subject := subject_of(f)) is not None)
    sides = (member for f in formulas if f.kind == "equation" for member in f.members)
    return lone or frozenset(side for side in sides if side.args and side.op not in _WRITTEN_OUT)


@dataclass(frozen=True, slots=True)
class Setting:
    """What claims are compared with.

    Attributes:
        references: the nodes with a formula, in order.
        context: of the problem.
        known: symbols of the problem and its reference; all others are a solution's own.
        worth: value and dimension of the reference's symbols, as far as they are settled.
        uses_definitions: whether symbols that a solution defines are eliminated.
    """

    references: tuple[Reference, ...]
    context: Context
    known: frozenset[str]
    worth: Known = field(default_factory=dict, hash=False)
    uses_definitions: bool = True

    def __hash__(self) -> int:
        return hash((self.context, self.uses_definitions))  # two problems of one context are told apart by equality


@dataclass(frozen=True, slots=True)
class Outcome:
    """One formula against one node; distance is the number of symbols that only one of them has."""

    index: int
    verdict: Verdict
    distance: int


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of the grader at a pair."""

    where: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Weighed:
    """The claims of a solution, and what became of each against every node, by index.

    Attributes:
        claims: in the order of the text.
        outcomes: of each claim.
        vocabulary: the solution's own words, with the names that were learnt.
        failures: pairs at which the grader failed.
    """

    claims: tuple[Claim, ...]
    outcomes: list[dict[int, Outcome]]
    vocabulary: Vocabulary
    failures: list[Failure]

    @property
    def matched(self) -> set[int]:
        """Nodes that some claim is equivalent to."""
        outcomes = (outcome for mine in self.outcomes for outcome in mine.values())
        return {outcome.index for outcome in outcomes if outcome.verdict.status == "equivalent"}


def weighed(setting: Setting, asserted: Sequence[tuple[Formula, bool]]) -> Weighed:
    """Formulas of a solution, each with whether it is committed, compared with every node."""
    best = _weighed(setting, asserted)
    for names in _conventions(setting.context):
        other = _weighed(setting, [(with_sign_flipped(written, names), committed) for written, committed in asserted])
        if other.matched > best.matched:  # nothing is right by the reference's sign alone
            best = replace(other, outcomes=[_said_flipped(mine, names) for mine in other.outcomes])
    return best


def _weighed(setting: Setting, asserted: Sequence[tuple[Formula, bool]]) -> Weighed:
    bare = [(unwritten(said), committed) for said, committed in asserted]
    claims, vocabulary = claims_of(bare, setting.known, setting.worth, expand=setting.uses_definitions)
    failures: list[Failure] = []
    texts = [said.latex for said, _ in asserted]
    outcomes = [_outcomes(setting, *each, failures) for each in zip(claims, texts, strict=True)]
    vocabulary = _with_names_read(setting, claims, texts, vocabulary, outcomes, failures)
    return Weighed(claims, outcomes, vocabulary, failures)


def _conventions(context: Context) -> Iterator[tuple[str, ...]]:
    """Which of the symbols whose sign is free a solution may count the other way, in all of its formulas."""
    free = sorted(name for name, said in context.symbols.items() if said.is_sign_free)[:MAX_FREE]
    for size in range(1, len(free) + 1):
        yield from combinations(free, size)


def _said_flipped(outcomes: dict[int, Outcome], names: tuple[str, ...]) -> dict[int, Outcome]:
    said = tuple(f"notation: {name} has the other sign in the whole solution" for name in names)
    return {
        index: replace(outcome, verdict=replace(outcome.verdict, readings=(*said, *outcome.verdict.readings)))
        for index, outcome in outcomes.items()
    }


def _outcomes(setting: Setting, claim: Claim, text: str, failures: list[Failure]) -> dict[int, Outcome]:
    """One claim against every node; the one place where a formula's failure is caught."""
    try:
        return dict(_met(setting, claim))
    except _FAILURES:  # at some node: the others are met all the same
        return _met_in_spite(setting, claim, text, failures)


@lru_cache(maxsize=CLAIMS_KEPT)
def _met(setting: Setting, claim: Claim) -> Mapping[int, Outcome]:
    """One claim against every node. It depends on no other claim: what of those bears on it stands in its expansions.

    Errors:
        whatever the grader fails with, and that is not remembered.
    """
    outcomes: dict[int, Outcome] = {}
    for reference in setting.references:
        for each in reference.formulas:
            _keep(outcomes, _outcome(reference, each, claim, setting))
            if outcomes[reference.index].verdict.status == "equivalent":
                break
    return outcomes


def _outcome(reference: Reference, wanted: Formula, claim: Claim, setting: Setting) -> Outcome:
    verdict = match_claim(wanted, claim, setting.context, reference.asked)
    return Outcome(reference.index, verdict, _distance(wanted, claim.formula))


def _met_in_spite(setting: Setting, claim: Claim, text: str, failures: list[Failure]) -> dict[int, Outcome]:
    outcomes: dict[int, Outcome] = {}
    for reference in setting.references:
        for each in reference.formulas:
            try:
                outcome = _outcome(reference, each, claim, setting)
            except _FAILURES as error:
                failures.append(_failure(reference, text, error))
                continue
            _keep(outcomes, outcome)
            if outcome.verdict.status == "equivalent":
                break
    return outcomes


def _keep(outcomes: dict[int, Outcome], new: Outcome) -> None:
    """The best outcome of a node that accepts several formulas."""
    old = outcomes.get(new.index)
    if old is None or RANK[new.verdict.status] < RANK[old.verdict.status]:
        outcomes[new.index] = new


_FAILURES = (Exception,)  # whatever it is, a solution does not raise: the grader has failed, and says so


def _failure(reference: Reference, text: str, error: Exception) -> Failure:
    return Failure(f"node {reference.index}, {text}", error)


def _with_names_read(
    setting: Setting,
    claims: tuple[Claim, ...],
    texts: Sequence[str],
    vocabulary: Vocabulary,
    outcomes: list[dict[int, Outcome]],
    failures: list[Failure],
) -> Vocabulary:
    """Claims that match under names of the solution's own: learnt from formulas first, then read in all of them."""
    for learn in (True, False):
        if not learn and not vocabulary.names:
            break
        for claim, text, mine in zip(claims, texts, outcomes, strict=True):
            if not fresh_atoms(claim.formula, vocabulary.known):
                continue
            for reference in setting.references:
                if mine.get(reference.index) and mine[reference.index].verdict.status == "equivalent":
                    continue
                for each in reference.formulas:
                    try:
                        found = match_renamed(each, claim, vocabulary, setting.context, reference.asked, learn=learn)
                    except _FAILURES as error:
                        failures.append(_failure(reference, text, error))
                        continue
                    if found is not None:
                        vocabulary = found.vocabulary
                        _keep(mine, Outcome(reference.index, found.verdict, 0))
                        break
    return vocabulary


def with_shared_subjects(references: tuple[Reference, ...], context: Context) -> tuple[Reference, ...]:
    r"""The nodes, one that is solved for nothing with the subject of one that says the same.

    `nC(T_f - T_i) = -P(V_f - V_i)` with the law of gases put in says what T_f is as well as `T_f = ...` does: the same
    claims are held against it.
    """
    shared = []
    for one in references:
        twins = [other for other in references if other.index != one.index and _say_the_same(one, other, context)]
        shared.append(replace(one, also=frozenset(subject for other in twins for subject in other.subjects)))
    return tuple(shared)


def _say_the_same(one: Reference, other: Reference, context: Context) -> bool:
    """Whether an unsolved node says what a solved one does, but for symbols that divide out."""
    if one.subjects or not other.subjects or one.is_number or other.is_number:
        return False
    for a, b in product(one.formulas, other.formulas):
        if len(symbols_of(a) ^ symbols_of(b)) <= MAX_IDLE and a.kind == b.kind == "equation":
            try:
                if match(a, b, context).status == "equivalent":
                    return True
            except _FAILURES:  # the same comparison is made of every claim, and reported there
                continue
    return False


def kin_of(setting: Setting) -> dict[int, frozenset[int]]:
    """Of each node the others that say something else of the same: another number or formula of its quantity.

    What contradicts a node may be meant for one of them.
    """
    return {
        one.index: frozenset(other.index for other in setting.references if _are_kin(one, other))
        for one in setting.references
    }


def _are_kin(one: Reference, other: Reference) -> bool:
    if one.index == other.index or one.is_number != other.is_number:
        return False
    if (one.subjects or other.subjects) and one.subjects.isdisjoint(other.subjects):
        return False
    return any(symbols_of(a) == symbols_of(b) for a in one.formulas for b in other.formulas)


def _distance(reference: Formula, claim: Formula) -> int:
    return len(symbols(*reference.members) ^ symbols(*claim.members))


# Statement by statement. ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bearing:
    """One statement of a claim as it bears on one node.

    Attributes:
        statement: as it is written; the whole formula where only all of it says what the node says.
        is_same: it says what the node says.
        is_otherwise: of the same it says something else.
        is_open: of the same symbols it says what cannot be decided.
        is_number: it gives a number.
        is_solved: it is solved for what the node is solved for.
        is_rough: its sign says that it holds approximately.
    """

    statement: Statement
    is_same: bool
    is_otherwise: bool
    is_open: bool
    is_number: bool
    is_solved: bool
    is_rough: bool


def bearings_of(setting: Setting, found: Weighed, place: int, reference: Reference) -> tuple[Bearing, ...]:
    """What each statement of a claim says of a node; those that speak of other things are left out.

    Args:
        place: of the claim.

    An exception below is one of the comparison before it, and has been reported: such a pair bears on nothing.
    """
    claim, verdict = found.claims[place], found.outcomes[place].get(reference.index)
    if verdict is None:
        return ()
    is_match = verdict.verdict.status == "equivalent"
    written = statements_of(claim.formula)
    forms = [written]
    forms += [more for each in claim.expansions if len(more := statements_of(each.formula)) == len(written)]
    bearings = []
    for k, statement in enumerate(written):
        readings = [form[k].formula for form in forms]
        if found.vocabulary.names:
            readings += [with_names(each, found.vocabulary.names) for each in readings]
            readings += [each for one in readings for each in _under_other_names(one, reference, found.vocabulary)]
        bearing = _bearing(statement, tuple(dict.fromkeys(readings)), claim, reference, setting, may_match=is_match)
        if bearing is not None:
            bearings.append(bearing)
    if is_match and not any(each.is_same for each in bearings):
        whole = Statement(claim.formula)
        is_solved = _is_solved((claim.formula,), reference, is_number=False)
        bearings.append(Bearing(whole, True, False, False, False, is_solved, False))
    return tuple(bearings)


def _under_other_names(f: Formula, reference: Reference, vocabulary: Vocabulary) -> Iterator[Formula]:
    """What a formula would say if its own quantity were what the solution once called by a like name.

    Who writes `v_1 = ...`, `v_2 = ...`, `v_3 = ...` for a problem's v, one of them right, has listed three guesses.
    """
    taken = set(vocabulary.names.values())
    for member in f.members:
        if not is_fresh(member, vocabulary.known) or member in vocabulary.names:
            continue
        for subject in sorted(reference.subjects, key=str):
            if subject.name in taken and may_name(member, subject.name):
                yield with_names(f, {member: subject.name})


def _bearing(
    statement: Statement,
    readings: tuple[Formula, ...],
    claim: Claim,
    reference: Reference,
    setting: Setting,
    *,
    may_match: bool,
) -> Bearing | None:
    is_bare = statement.formula.kind == "expression"
    is_number = any(_is_number(f, setting.context) for f in readings)
    is_solved = _is_solved(readings, reference, is_number=is_number) or (is_bare and claim.is_committed)
    names = frozenset[str]().union(*(symbols(*f.members) for f in reference.formulas))
    if not is_solved and not any(names & symbols(*f.members) for f in readings):
        return None
    is_same = is_otherwise = is_part = is_open = False
    for each in _with_parts(reference.formulas):
        may_be_idle = not _holds_unevaluated(each)  # `p` does not divide out of what it is differentiated in
        for reading in readings:
            said = _without_idle_symbols(each, as_read(each, reading, claim), setting.context)
            try:
                verdict = match(each, said, setting.context, reference.asked)
            except _FAILURES:
                continue
            if verdict.status == "equivalent":
                is_same = is_same or (may_match and each in reference.formulas)
                is_part = is_part or each not in reference.formulas
            wanted = _without_idle_symbols(said, each, setting.context) if may_be_idle else each
            is_open = is_open or (verdict.status == "undecided" and symbols_of(each) <= symbols_of(said))
            is_otherwise = is_otherwise or _contradicts(wanted, said, verdict, reference, setting, is_solved=is_solved)
    is_otherwise = is_otherwise and not (is_same or is_part)
    is_open = is_open and not (is_same or is_otherwise or is_part)
    if not (is_same or is_otherwise or is_solved or is_open):
        return None
    return Bearing(
        statement, is_same, is_otherwise, is_open, is_number, is_solved,
        not EQUALITIES.isdisjoint(statement.formula.relations) and "=" not in statement.formula.relations,
    )  # fmt: skip


def _contradicts(
    wanted: Formula, said: Formula, verdict: Verdict, reference: Reference, setting: Setting, *, is_solved: bool
) -> bool:
    """Whether a formula that is not the reference says something else of the same."""
    if verdict.reason == "unstated":  # no number yet, but what it comes to is another one
        asked_for, comes_to = numeric_of(wanted), closed_number_of(said)
        if asked_for is None or comes_to is None or asked_for.subject != comes_to.subject:
            return False
        return compare_numbers(asked_for, comes_to.number, reference.asked).status == "different"
    if verdict.reason == "identity" and is_solved and not symbols_of(wanted):
        return True
    known = setting.context  # a formula by other givens contradicts nothing; a number is what they all come to
    if not (_is_number(said, known) or reference.is_number):
        known = _without_givens(known)
    return (
        verdict.status == "different"
        and verdict.reason in _SAYS_OTHERWISE
        and (symbols_of(said) == symbols_of(wanted) or (is_solved and not n_apart(wanted, said, known)))
    )


@lru_cache(maxsize=256)
def _without_givens(context: Context) -> Context:
    return replace(context, givens={})


@lru_cache(maxsize=FORMULAS_KEPT)
def _with_parts(formulas: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The formulas of a node, and each of the statements that one needs: who says part of it contradicts nothing."""
    parts = (each.formula for f in formulas for each in statements_of(f, needed=True))
    return tuple(dict.fromkeys((*formulas, *parts)))


def _is_solved(readings: Sequence[Formula], reference: Reference, *, is_number: bool) -> bool:
    """Whether a statement gives what a node is solved for; a number for a formula may give any of its symbols."""
    subjects = reference.subjects
    if is_number and not reference.is_number:
        names = frozenset[str]().union(*(symbols_of(f) for f in reference.formulas))
        subjects |= {symbol(name) for name in names}
    sides = (member for f in readings if len(f.members) == 2 for member in f.members)
    return any(_quantity(side) in subjects for side in sides)


def _quantity(side: Expr) -> Expr:
    """The one quantity that a side is about: `v` of `-v`, `2v`, `v^2` and `v(h)`."""
    while side.op in ("neg", "mul", "pow", "sqrt", "apply"):
        if side.op == "apply":
            return symbol(side.name)
        open_args = [arg for arg in side.args if symbols(arg)]
        if len(open_args) != 1:
            break
        side = open_args[0]
    return side


def _without_idle_symbols(reference: Formula, said: Formula, context: Context) -> Formula:
    r"""A formula with a number for symbols that divide out: `m v^2 = 2 m g h` says no more of v than `v^2 = 2gh`."""
    idle = symbols_of(said) - symbols_of(reference)
    if not 0 < len(idle) <= MAX_IDLE or not symbols_of(reference) <= symbols_of(said) or said.kind != "equation":
        return said
    one, other = (
        replace(said, members=tuple(substitute(member, values) for member in said.members))
        for values in (
            {symbol(name): number(n) for name, n in zip(sorted(idle), numbers, strict=False)} for numbers in _TRIALS
        )
    )
    try:
        return one if match(one, other, context).status == "equivalent" else said
    except _FAILURES:
        return said


def _holds_unevaluated(f: Formula) -> bool:
    return any(OPS[node.op].opcode is None and node.op != "unit" for member in f.members for node in walk(member))


def _is_number(f: Formula, context: Context) -> bool:
    return number_of(f, context) is not None or closed_number_of(f) is not None

r"""Which of the formulas that match a node stand as claims of the solution (semantics C.1 to C.4).

A solution asserts, it does not merely mention: one that lists ten values has stated none of them. For each node the
statements of a solution are of three sorts: some support it; some contradict it, by another number of its quantity or
another formula of the same variables; the rest are about other things. A final answer is what the solution states last,
in a box before all else. Any other node is matched by one of the latest few.

What supports another node never contradicts one: two laws in the same symbols do not exclude each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from prism.algebra.expr import EQUALITIES, ORDERINGS, Expr, Formula, symbol, symbols, symbols_of
from prism.equivalence.statements import Statement
from prism.grading.answers.final_answers import is_answer
from prism.grading.chain_statements import (
    equates_two_subjects,
    glues_subjects,
    is_spread,
    is_truncated,
    is_unbroken,
    states_number,
)
from prism.grading.claims.joints import superseded_orders
from prism.grading.claims.restatements import restates
from prism.grading.claims.ties import is_special_case
from prism.grading.copies import is_copy
from prism.grading.located_claims import LocatedClaim
from prism.grading.match_matrix import MatchMatrix
from prism.grading.prepared import PreparedProblem
from prism.grading.references import ReferenceNode
from prism.grading.stances import Assertion, Stance, assertions_of, is_solved_for_symbol
from prism.physics.context import Context

LATEST = 3  # claims of a node's quantity that contradict each other, of which one may be right (semantics C.2)
LATEST_OF_CLASS = 4  # formulas in the same variables, whatever they are solved for
LATEST_ON_SUBJECT = 5  # formulas of one quantity, whatever their variables; labelled solutions need four
MOST_CONTESTED = 2  # quantities of which a solution may say several things; beyond, of each the last alone counts
OUT_OF_SCOPE = 9  # distance of statements in the answer to another part: they are never considered for a node


class WithheldReason(StrEnum):
    """Why a formula that matches a node earns nothing; `WITHHELD_REASONS` has the sentences."""

    BROKEN_CHAIN = "broken_chain"
    CONTRADICTED = "contradicted"
    ONE_OF_MANY = "one_of_many"
    OTHER_PART = "other_part"
    GUESSED = "guessed"
    TOO_LARGE = "too_large"
    UNFINISHED = "unfinished"
    COPIED = "copied"
    CONDITIONED = "conditioned"
    FAILED = "failed"

    __repr__ = str.__repr__


WITHHELD_REASONS: Mapping[str, str] = {
    WithheldReason.BROKEN_CHAIN: "a link of its chain is refuted",
    WithheldReason.CONTRADICTED: "the solution says something else of it later, or in a box",
    WithheldReason.ONE_OF_MANY: "the solution says many things of the same quantity",
    WithheldReason.OTHER_PART: "it stands in the answer to another part",
    WithheldReason.GUESSED: "it could be guessed, and nothing that it follows from is there",
    WithheldReason.TOO_LARGE: "the operations did not suffice to see what else the solution says of it",
    WithheldReason.UNFINISHED: "it leaves to be worked out what is asked for",
    WithheldReason.COPIED: "it says what the problem says, which is no answer to it",
    WithheldReason.CONDITIONED: "it holds under a condition that the problem does not make",
    WithheldReason.FAILED: "the grader failed on the claims of this solution",
}
"""Each `WithheldReason` in words, as reports print it."""

Selection = dict[int, dict[int, WithheldReason | None]]
"""For each formula, by its ordinal in the text, the nodes it matches: why a match is withheld; None if it stands."""


def select(
    prepared: PreparedProblem, located: Sequence[LocatedClaim], rows: Mapping[int, int], matrix: MatchMatrix
) -> Selection:
    """Decide which matches of a solution stand: for each formula, the nodes it matches with None or why it is withheld.

    Args:
        located: the formulas of the solution.
        rows: index of the matrix row by the ordinal of a formula; formulas without a row do not count.
        matrix: the claims of the solution compared with the nodes.
    """
    matched = matrix.matched
    nodes = [node for node in prepared.task.references if node.index in matched]
    numeric = [node.index for node in nodes if node.is_number]
    on_nodes = _assertions_on_nodes(prepared, located, rows, matrix, nodes)
    places = [claim.located for claim in located]
    selection: Selection = {}
    is_list = len({node.subjects for node in nodes if _has_rivals(node, on_nodes[node.index])}) > MOST_CONTESTED
    for node in sorted(nodes, key=lambda node: not node.is_number):
        with_distances = on_nodes[node.index]
        if is_list:
            with_distances = [
                (distance, replace(each, stance=Stance.CONTRADICTS) if _is_another(each, node) else each)
                for distance, each in with_distances
            ]
        is_option = _are_options(node, with_distances, located)
        is_of_one_part = _is_of_one_part(node.index, prepared)
        withheld = withheld_reasons(
            nearest_assertions(with_distances, is_of_one_part=is_of_one_part),
            is_final=node.index in prepared.problem.dag.finals,
            is_list=is_list,
            is_number=node.is_number,
            n_rivals=len(prepared.rivals[node.index] - matched),
        )
        superseded = superseded_orders(places, _rivals_of(node, with_distances, is_of_one_part=is_of_one_part))
        for assertion in (each for _, each in with_distances if each.stance == Stance.SUPPORTS):
            reason = withheld.get(assertion.place[0], WithheldReason.OTHER_PART)
            reason = reason or (WithheldReason.ONE_OF_MANY if is_option else None)
            if assertion.place[0] in superseded and assertion.is_number == node.is_number:
                reason = reason or WithheldReason.CONTRADICTED
            own = selection.setdefault(assertion.place[0], {})
            if assertion.is_number and reason is None and not node.is_number:  # withheld wherever the number itself is
                reason = min((own[index] for index in numeric if index in own), default=None, key=lambda r: r or "")
            own[node.index] = reason
    return selection


def _assertions_on_nodes(
    prepared: PreparedProblem,
    located: Sequence[LocatedClaim],
    rows: Mapping[int, int],
    matrix: MatchMatrix,
    nodes: Sequence[ReferenceNode],
) -> dict[int, list[tuple[int, Assertion]]]:
    """Map each node to what the solution asserts about it, each assertion after its distance from the node's part.

    Args:
        located, rows, matrix: as of `select`.
        nodes: that some formula matches.
    """
    assertions = {
        (k, index): group for k in range(len(matrix.claims)) for index, group in assertions_of(matrix, k, nodes).items()
    }
    supported = _supported_nodes(assertions)
    finals = prepared.problem.dag.finals
    right = _right_sides(supported, finals)
    found: dict[int, list[tuple[int, Assertion]]] = {}
    marked = {letter for claim in located for letter in claim.letters}
    for node in nodes:
        with_distances: list[tuple[int, Assertion]] = []
        letter = prepared.letters.get(node.index, "")
        if letter not in marked and _is_of_one_part(node.index, prepared):
            letter = ""  # under whatever mark it stands, nothing else can be meant
        for claim in located:
            k = rows.get(claim.order)
            for n, decided in enumerate(assertions[k, node.index] if k is not None else ()):
                is_rival = node.index in finals and _is_rival(decided, node, claim, k, matrix)
                assertion = decided
                if is_rival:
                    assertion = replace(decided, stance=Stance.CONTRADICTS, is_number=node.is_number)
                if assertion.stance == Stance.CONTRADICTS and (
                    claim.is_of_other_case or _is_of_special_case(assertion, node, claim, matrix)
                ):
                    assertion = replace(assertion, stance=Stance.NEUTRAL)
                is_support = assertion.stance == Stance.SUPPORTS
                others = supported.get((k, assertion.statement), set())
                if is_support or all(_answers_another_part(claim, index, prepared) for index in others):
                    distance = _distance_to_part(claim.letters, letter)
                    with_distances.append((distance, _located_assertion(assertion, claim, n, node, prepared)))
        found[node.index] = _without_restatements(with_distances, node, located, right, prepared.task.context)
    return found


def _is_rival(
    assertion: Assertion, node: ReferenceNode, claim: LocatedClaim, k: int | None, matrix: MatchMatrix
) -> bool:
    r"""Return True if a statement gives a final answer by other letters: `v_f = \sqrt{2gh/\zeta}` (semantics F.8).

    They are its own, or stand beside all that the node has: `K = p^2/2m` may be right beside `K = mv^2/2`. Beside a
    number they are own letters that the solution nowhere defines. Not under a condition.

    Args:
        claim: that contains the statement.
        k: row of the claim in the matrix.
        matrix: of the solution, with its own symbols and those of the problem and its reference.
    """
    if _is_bound_for_number(assertion, node, claim) or _is_by_free_letters(assertion, node, claim):
        return True
    f, known = assertion.statement.formula, matrix.cells.task.known
    own = symbols_of(f) - known
    if node.is_number:
        defined = {
            subject
            for subject, definitions in matrix.own_symbols.of_subject.items()
            if any(each.place != k and symbols(*node.subjects).isdisjoint(symbols(each.expr)) for each in definitions)
        }
        is_other = any(symbol(name) not in defined for name in own)
    else:
        is_other = any(symbols_of(wanted) < symbols_of(f) for wanted in node.formulas)
        is_bound = any(wanted.kind == "inequality" for wanted in node.formulas)  # `n = 2 + \epsilon` may be within it
        is_other = not is_bound and (is_other or (bool(own) and is_solved_for_symbol(node)))
    return (
        is_other
        and assertion.stance in (Stance.NEUTRAL, Stance.UNKNOWN)
        and assertion.is_solved
        and not assertion.is_number
        and f.kind == "equation"
        and not (assertion.statement.conditions or claim.is_in_passing)
    )


def _is_of_special_case(assertion: Assertion, node: ReferenceNode, claim: LocatedClaim, matrix: MatchMatrix) -> bool:
    """Return True if a claim, not presented as the answer, follows from a node on its quantity in a special case."""
    task = matrix.cells.task
    nodes = [each for each in task.references if not node.subjects.isdisjoint(each.subjects)]
    return not is_answer(claim.located) and is_special_case(
        assertion.statement.formula, nodes, claim.tied, matrix.cells
    )


def _is_by_free_letters(assertion: Assertion, node: ReferenceNode, claim: LocatedClaim) -> bool:
    """Return True if a formula gives a final answer, exactly and in no special case, by letters that nothing ties."""
    formula = claim.formula
    return (
        assertion.is_other
        and formula is not None
        and formula.kind in ("equation", "chain")
        and EQUALITIES.issuperset(formula.relations)
        and not node.subjects.isdisjoint(formula.members)
        and is_solved_for_symbol(node)
        and not (assertion.is_approximate or assertion.statement.is_rounded or assertion.statement.conditions)
        and not (claim.is_in_passing or claim.names_case or claim.is_conditioned)
    )


def _is_bound_for_number(assertion: Assertion, node: ReferenceNode, claim: LocatedClaim) -> bool:
    """Return True if bounds alone are presented as the answer, where a number is asked for (semantics F.2)."""
    f = claim.formula
    is_bound = f is not None and bool(f.relations) and ORDERINGS.issuperset(f.relations)
    is_open = assertion.is_solved and assertion.stance == Stance.NEUTRAL
    return node.is_number and is_open and is_bound and is_answer(claim.located)


def _are_options(
    node: ReferenceNode, with_distances: Sequence[tuple[int, Assertion]], located: Sequence[LocatedClaim]
) -> bool:
    """Return True if three marks or more have one claim alone, all these on a node's quantity, and two contradict it.

    What stands under other marks does not matter: one sentence more would make an answer of an option.
    """
    under: dict[tuple[str, ...], list[int]] = {}
    for claim in located:
        if claim.letters and claim.is_assertion:
            under.setdefault(claim.letters, []).append(claim.order)
    lone = {orders[0] for orders in under.values() if len(orders) == 1}
    on_quantity = {each.place[0]: each for _, each in with_distances if each.is_solved and each.place[0] in lone}
    n_wrong = sum(_is_another(each, node) for each in on_quantity.values())
    return len(on_quantity) == len(lone) >= LATEST and n_wrong > 1


def _has_rivals(node: ReferenceNode, with_distances: Sequence[tuple[int, Assertion]]) -> bool:
    """Return True if a formula of a solution says another thing of a node's quantity than the node, before or later."""
    right = {each.place[0] for _, each in with_distances if each.stance == Stance.SUPPORTS}
    return bool(node.subjects) and any(
        each.is_solved and not each.is_in_passing and each.place[0] not in right and _is_another(each, node)
        for distance, each in with_distances
        if distance < OUT_OF_SCOPE and each.is_number == node.is_number
    )


def _is_another(assertion: Assertion, node: ReferenceNode) -> bool:
    """Return True if a statement gives a node's quantity another value, or one that may be another and looks guessed.

    That is one that is not decided in the node's symbols, or another one by some of its symbols only: in a list of
    guesses a letter is left out.
    """
    stated = symbols_of(assertion.statement.formula)
    is_open = assertion.stance == Stance.UNKNOWN and any(symbols_of(wanted) == stated for wanted in node.formulas)
    is_varied = assertion.is_other and not (assertion.is_approximate or assertion.names_case)
    return is_open or is_varied or assertion.stance == Stance.CONTRADICTS


def _rivals_of(
    node: ReferenceNode, with_distances: Iterable[tuple[int, Assertion]], *, is_of_one_part: bool
) -> frozenset[int]:
    """Return the ordinals of the formulas that give another formula of a node's quantity, or another number.

    If no other part asks for the quantity, under the marks of other parts too: they may be letters of options.
    """
    return frozenset(
        each.place[0]
        for distance, each in with_distances
        if (distance < OUT_OF_SCOPE or is_of_one_part)
        and each.stance == Stance.CONTRADICTS
        and each.is_solved
        and each.is_number == node.is_number
    )


def _supported_nodes(
    assertions: Mapping[tuple[int, int], Sequence[Assertion]],
) -> dict[tuple[int | None, Statement], set[int]]:
    """Map each statement, as (matrix row, statement), to the indices of the nodes that it supports.

    Args:
        assertions: what each claim asserts of each node, by (matrix row, node index).
    """
    supported: dict[tuple[int | None, Statement], set[int]] = {}
    for (k, index), group in assertions.items():
        for assertion in group:
            if assertion.stance == Stance.SUPPORTS:
                supported.setdefault((k, assertion.statement), set()).add(index)
    return supported


def _right_sides(
    supported: Mapping[tuple[int | None, Statement], set[int]], finals: Collection[int]
) -> dict[Expr, bool]:
    """Map each side but the first of the statements that support some node to if a final answer is among the nodes."""
    right: dict[Expr, bool] = {}
    for (_, statement), indices in supported.items():
        for side in statement.formula.members[1:]:
            right[side] = right.get(side, False) or not indices.isdisjoint(finals)
    return right


def _without_restatements(
    with_distances: Sequence[tuple[int, Assertion]],
    node: ReferenceNode,
    located: Sequence[LocatedClaim],
    right: Mapping[Expr, bool],
    context: Context,
) -> list[tuple[int, Assertion]]:
    """Drop what contradicts a node, but only restates what supports it or, of bare values, what supports any node.

    Args:
        with_distances: assertions on the node, each after its distance.
        node: that they are about.
        located: the formulas of the solution.
        right: sides of the statements that support some node, and if a final answer is among these nodes.
        context: of the problem.
    """
    supporting = [each for _, each in with_distances if each.stance == Stance.SUPPORTS and not each.is_broken]
    wanted = [Statement(f) for f in node.formulas]

    def other_values_before(each: Assertion) -> list[Assertion]:
        """Return the assertions before one that give the node's quantity another value."""
        solved = [other for _, other in with_distances if other.is_solved and other.place < each.place]
        return [other for other in solved if _is_another(other, node)]

    def is_restatement(each: Assertion) -> bool:
        """Return True if an assertion says what a supporting one before it says, or the node itself, rounded."""
        bare = located[each.place[0]].formula
        if each.stance != Stance.SUPPORTS and _is_summary(bare, other_values_before(each), right):
            return True
        if each.stance != Stance.CONTRADICTS:
            return False
        before = [other.statement for other in supporting if other.place < each.place]
        return bool(before) and any(restates(each.statement, other, context) for other in (*before, *wanted))

    return [(distance, each) for distance, each in with_distances if not is_restatement(each)]


def _is_summary(bare: Formula | None, other_values: Sequence[Assertion], right: Mapping[Expr, bool]) -> bool:
    r"""Return True if bare values, `\boxed{82\hbar^2, \hbar}`, give nodes, an answer among them, none against this one.

    Args:
        bare: a formula as it stands in the text.
        other_values: assertions before it that give the node's quantity another value.
        right: sides of the statements that support some node, and if a final answer is among these nodes.
    """
    if bare is None or bare.kind != "expression":
        return False
    values = set(bare.members[0].args if bare.members[0].op == "list" else bare.members)
    refuted = {side for other in other_values for side in other.statement.formula.members}
    return values <= right.keys() and any(right[value] for value in values) and values.isdisjoint(refuted)


def _answers_another_part(claim: LocatedClaim, index: int, prepared: PreparedProblem) -> bool:
    """Return True if node `index` answers one part of the problem, and the claim stands in the answer to another."""
    letter = prepared.letters.get(index, "")
    return bool(letter and claim.letters) and letter not in claim.letters


def _distance_to_part(claim_letters: Sequence[str], letter: str) -> int:
    """Return 0 for a claim in the answer to part `letter`, 1 for one in text common to all parts, else OUT_OF_SCOPE.

    Also 0 if `letter` is empty: then the node belongs to no single part.
    """
    if not letter or letter in claim_letters:
        return 0
    return OUT_OF_SCOPE if claim_letters else 1


def _located_assertion(
    assertion: Assertion, claim: LocatedClaim, n: int, node: ReferenceNode, prepared: PreparedProblem
) -> Assertion:
    """Add to an assertion its place, and if it is boxed, mentioned in passing, or reaches across a refuted link.

    Args:
        claim: the formula that contains the statement.
        n: ordinal of the statement within that formula.
        node: that the assertion is about.
        prepared: the problem.
    """
    task, statement = prepared.task, assertion.statement
    ends = claim.formula is not None and statement.formula.members[-1:] == claim.formula.members[-1:]
    is_last_number = node.is_number and ends and states_number(statement, claim.before)
    is_final = node.index in prepared.problem.dag.finals
    is_last_word = is_final and ends and assertion.stance == Stance.CONTRADICTS
    is_excused = is_last_number or is_last_word
    return replace(
        assertion,
        is_approximate=assertion.is_approximate or is_truncated(statement, claim.before, task.context),
        place=(claim.order, n),
        letters=tuple(claim.letters),
        is_presented=is_answer(claim.located),
        is_in_passing=claim.is_in_passing,
        is_copy=assertion.stance == Stance.SUPPORTS
        and is_copy(statement.formula, node, prepared.showing.get(node.index, ())),
        names_case=claim.names_case,
        is_conditioned=is_final and assertion.stance == Stance.SUPPORTS and claim.is_conditioned,
        is_broken=(is_final and is_spread(statement, claim.formula, task.context))
        or equates_two_subjects(statement, claim.before, task)
        or (is_final and claim.formula is not None and glues_subjects(claim.formula, claim.before, task))
        or not (is_excused or is_unbroken(statement, claim.before, task.context)),
    )


# One node. --------------------------------------------------------------------------------------------------------


def withheld_reasons(
    assertions: Iterable[Assertion], *, is_final: bool, is_number: bool, is_list: bool = False, n_rivals: int = 0
) -> dict[int, WithheldReason | None]:
    """Map each formula that supports a node, by its ordinal, to the reason why it earns nothing, or None if it stands.

    Args:
        assertions: all that the solution states about this one node, as `nearest_assertions` selects it.
        is_final: the node is a final answer.
        is_number: the node asks for a number.
        is_list: the solution says several things of so many quantities that of each the last alone counts.
        n_rivals: number of other nodes about the same quantity that the solution does not match. So many
            contradicting statements are tolerated, since each may be a failed attempt at one of those nodes.
    """
    ordered = sorted(assertions, key=lambda each: each.place)
    reasons: dict[int, WithheldReason | None] = {}
    torn = {_place_and_symbols(each) for each in ordered if _is_exact_rival(each) and not is_number}
    ordered = [  # one chain corrects nothing
        replace(each, is_broken=True) if each.stance == Stance.SUPPORTS and _place_and_symbols(each) in torn else each
        for each in ordered
    ]
    for each in ordered:
        if each.stance == Stance.SUPPORTS and each.is_broken:
            reasons.setdefault(each.place[0], WithheldReason.BROKEN_CHAIN)
        elif each.is_copy:
            reasons.setdefault(each.place[0], WithheldReason.COPIED)
        elif each.is_conditioned:
            reasons.setdefault(each.place[0], WithheldReason.CONDITIONED)
        elif each.is_unfinished and is_final:
            reasons.setdefault(each.place[0], WithheldReason.UNFINISHED)
    unbroken = [
        each
        for each in ordered
        if not (each.is_broken or each.is_copy or each.is_conditioned or (each.is_unfinished and is_final))
    ]
    for numbers in (True, False):
        group = [each for each in unbroken if each.is_number == numbers]
        if numbers and not is_number and _ends_in_another_formula(unbroken):
            new = _same_reason_for_all(group, WithheldReason.CONTRADICTED)
        else:
            is_answer = (
                is_final or is_list or (numbers and not is_number)
            )  # a number for a formula is the solution's last of it
            broken = [each for each in ordered if each.is_broken and each.is_number == numbers]
            new = _judge_final_answer(group, n_rivals) if is_answer else _judge_step(group, n_rivals, broken)
        for place, reason in new.items():
            if reason is None or place not in reasons or reasons[place] is not None:
                reasons[place] = reason
    return reasons


def _place_and_symbols(assertion: Assertion) -> tuple[int, frozenset[str]]:
    """Return the ordinal of an assertion's formula in the text, and the symbols that it is written in."""
    return assertion.place[0], symbols_of(assertion.statement.formula)


def _is_exact_rival(assertion: Assertion) -> bool:
    """Return True for another formula in the symbols of a node that no refuted link of its chain makes.

    It has two symbols beside the node's own, so that none is the imaginary unit of a number.
    """
    is_exact = assertion.has_same_symbols and not (assertion.is_number or assertion.is_approximate)
    is_formula = len(symbols_of(assertion.statement.formula)) > 2
    return is_exact and is_formula and assertion.stance == Stance.CONTRADICTS and not assertion.is_broken


def _same_reason_for_all(
    assertions: Sequence[Assertion], reason: WithheldReason | None
) -> dict[int, WithheldReason | None]:
    """Map each formula that supports the node, by its ordinal, to the same reason (None: it stands)."""
    return dict.fromkeys((each.place[0] for each in assertions if each.stance == Stance.SUPPORTS), reason)


def _ends_in_another_formula(assertions: Sequence[Assertion]) -> bool:
    """Return True if the last formula (not number) that is solved for the node's quantity contradicts the node.

    With the node `K = m v^2 / 2`: a solution whose last formula is `K = m v^2` gets nothing for `K = 9 J`; not so if
    its chain has another number, `K = m v^2 = 18 J`, for then `K = 9 J` behind it takes both back.
    """
    decisive = [each for each in assertions if each.is_solved and _is_decisive(each)]
    decisive = [each for each in decisive if not each.is_in_passing] or decisive
    formulas = [each for each in decisive if not each.is_number]
    if not formulas or formulas[-1].stance == Stance.SUPPORTS:
        return False
    numbers = [each for each in decisive if each.is_number and each.place[0] == formulas[-1].place[0]]
    return all(each.stance == Stance.SUPPORTS for each in numbers)


def _is_decisive(assertion: Assertion) -> bool:
    """Return True if an assertion supports or contradicts the node."""
    return assertion.stance in (Stance.SUPPORTS, Stance.CONTRADICTS)


def _judge_final_answer(group: Sequence[Assertion], n_rivals: int) -> dict[int, WithheldReason | None]:
    """Map each formula that supports a final answer, by its ordinal, to why it earns nothing; None if it stands.

    CONTRADICTED if more than `n_rivals` distinct contradicting statements follow the last supporting one. Only
    presented statements decide if there are any, else only those solved for the quantity or in the node's symbols,
    else all; statements in passing and approximate formulas decide only where there is nothing else. ONE_OF_MANY as for
    `_is_one_of_many`.
    """
    supporting = [each for each in group if each.stance == Stance.SUPPORTS]
    if not supporting:
        return {}
    boxed = [each for each in group if each.is_presented and (each.is_solved or _is_decisive(each))]
    rest = _without_asides([each for each in group if _is_decisive(each)])
    deciding = boxed or [each for each in rest if each.is_solved or each.has_same_symbols] or rest
    last = max((k for k, each in enumerate(deciding) if each.stance == Stance.SUPPORTS), default=-1)
    at = deciding[last].place[0] if last >= 0 else -1
    later = [
        each
        for each in deciding[last + 1 :]
        if each.stance in (Stance.CONTRADICTS, Stance.UNKNOWN) or each.place[0] > at
    ]
    reason = None
    if _n_distinct_statements(later) > n_rivals:
        reason = WithheldReason.CONTRADICTED
    elif _is_one_of_many(supporting[-1], group, n_rivals):
        reason = WithheldReason.ONE_OF_MANY
    return _same_reason_for_all(group, reason)


def _without_asides(assertions: list[Assertion]) -> list[Assertion]:
    """Drop statements made in passing, unless all are; then drop approximate formulas, unless all are."""
    assertions = [each for each in assertions if not each.is_in_passing] or assertions
    return [each for each in assertions if each.is_number or not each.is_approximate] or assertions


def _judge_step(
    group: Sequence[Assertion], n_rivals: int, broken: Sequence[Assertion] = ()
) -> dict[int, WithheldReason | None]:
    """Map each formula that supports an intermediate node, by its ordinal, to ONE_OF_MANY, or to None if it stands.

    ONE_OF_MANY if too many distinct contradicting statements follow it: LATEST + n_rivals that are solved for the
    node's quantity, or LATEST_OF_CLASS + n_rivals in all; or as for `_is_one_of_many`. In a sweep, more than
    LATEST_ON_SUBJECT + n_rivals other things of the quantity in a row, one that follows is too many.

    Args:
        broken: statements across a refuted link of their chain: they are listed all the same.
    """
    reasons: dict[int, WithheldReason | None] = {}
    swept = _swept_places([*group, *broken], LATEST_ON_SUBJECT + n_rivals)
    for each in group:
        if each.stance != Stance.SUPPORTS:
            continue
        contradicting = [
            other
            for other in _later_assertions(each, (*group, *broken))
            if other.stance == Stance.CONTRADICTS and (each.is_in_passing or not other.is_in_passing)
        ]
        is_one_of_many = (
            _n_distinct_statements(other for other in contradicting if other.is_solved)
            >= (1 if each.place[0] in swept else LATEST + n_rivals)
            or _n_distinct_statements(other for other in contradicting if _is_direct_rival(other, each)) > n_rivals
            or _n_distinct_statements(contradicting) >= LATEST_OF_CLASS + n_rivals
            or _is_one_of_many(each, group, n_rivals)
        )
        place = each.place[0]
        if place not in reasons or reasons[place] is not None:  # a formula stands if one of its statements does
            reasons[place] = WithheldReason.ONE_OF_MANY if is_one_of_many else None
    return reasons


def _is_direct_rival(assertion: Assertion, supporting: Assertion) -> bool:
    """Return True if a formula by the same symbols, and exactly, gives a side or the symbol of another otherwise.

    By other symbols it may be true too; a number in another case or the answer to another part.
    """
    one, other = supporting.statement.formula, assertion.statement.formula
    is_alike = symbols_of(one) == symbols_of(other)
    has_side = is_alike and not {side for side in one.members if symbols(side)}.isdisjoint(other.members)
    is_elsewhere = assertion.names_case or assertion.letters != supporting.letters
    is_solved = supporting.is_solved and len(symbols_of(one)) > 1 and (is_alike or assertion.is_solved)
    return (
        (has_side or (is_solved and assertion.has_same_symbols and not is_elsewhere))
        and not (assertion.is_approximate or assertion.is_broken)
        and not (assertion.is_number and is_elsewhere)
    )


def _swept_places(assertions: Sequence[Assertion], most: int) -> frozenset[int]:
    """Return the ordinals of the formulas that stand in a row with more than `most` others that contradict the node."""
    by_place: dict[int, list[Assertion]] = {}
    for each in assertions:
        if each.is_solved and each.stance in (Stance.SUPPORTS, Stance.CONTRADICTS):
            by_place.setdefault(each.place[0], []).append(each)
    swept: set[int] = set()
    run: list[int] = []
    for place in (*sorted(by_place), None):
        if run and (place is None or place > run[-1] + 1):
            stated = [each for at in run for each in by_place[at] if each.stance == Stance.CONTRADICTS]
            swept.update(run if _n_distinct_statements(stated) > most else ())
            run = []
        run += [] if place is None else [place]
    return frozenset(swept)


def _is_one_of_many(assertion: Assertion, group: Sequence[Assertion], n_rivals: int) -> bool:
    """Return True if too many distinct statements that do not support the node follow one that does.

    Too many are LATEST undecided ones, or LATEST_ON_SUBJECT + n_rivals that are solved for the node's quantity and of
    the kind of the one that supports it: `S > 0` is no other value of S.
    """
    kind = assertion.statement.formula.kind
    later = [
        each for each in _later_assertions(assertion, group) if assertion.is_in_passing or not each.is_in_passing
    ]  # a list in passing is a list too
    n_unknown = _n_distinct_statements(each for each in later if each.stance == Stance.UNKNOWN)
    solved = [each for each in later if each.is_solved and each.statement.formula.kind == kind]
    return n_unknown >= LATEST or _n_distinct_statements(solved) >= LATEST_ON_SUBJECT + n_rivals


def _later_assertions(assertion: Assertion, group: Sequence[Assertion]) -> list[Assertion]:
    """Return the assertions of `group` that stand later in the text than `assertion` and do not support the node."""
    return [each for each in group if each.place > assertion.place and each.stance != Stance.SUPPORTS]


def _n_distinct_statements(assertions: Iterable[Assertion]) -> int:
    """Count the statements of assertions that differ as formulas: a repetition counts once."""
    return len({str(each.statement.formula) for each in assertions})


def _is_of_one_part(index: int, prepared: PreparedProblem) -> bool:
    """Return True if no other part of the problem asks for the quantity of a node."""
    own = prepared.letters.get(index, "")
    return all(prepared.letters.get(other, own) == own for other in prepared.rivals[index])


def nearest_assertions(
    with_distances: Iterable[tuple[int, Assertion]], *, is_of_one_part: bool = False
) -> list[Assertion]:
    """Return the assertions on a node that count: those in the answer to its part, else those in common text.

    Numbers and formulas are selected separately. Common text counts only if no statement in the part itself supports
    or contradicts the node or is undecided, so that a solution cannot state one answer there and another here; what is
    presented as the answer in common text counts always. What common text behind the part says against it counts too,
    unless it is only rough: a correction, or a summary.

    Args:
        with_distances: assertions, each after the distance of its text from the part that the node answers: 0 in the
            part itself, 1 in text common to all parts, OUT_OF_SCOPE in another part, where assertions never count.
        is_of_one_part: no other part asks for the quantity, so that the common text must mean the node's.
    """
    assertions = list(with_distances)
    nearest: list[Assertion] = []
    for numbers in (True, False):
        group = [
            (distance, each) for distance, each in assertions if each.is_number == numbers and distance < OUT_OF_SCOPE
        ]
        closest = min((distance for distance, each in group if each.stance != Stance.NEUTRAL), default=0)
        near = [each for distance, each in group if distance == closest or each.is_presented]
        last = max((each.place for each in near if each.stance == Stance.SUPPORTS), default=(0, 0))
        nearest += near
        behind = [each for distance, each in group if is_of_one_part and each.place > last and each not in near]
        nearest += [each for each in behind if each.stance == Stance.CONTRADICTS and not each.is_approximate]
    return nearest

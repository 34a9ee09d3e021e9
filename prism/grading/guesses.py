"""Nodes that can be guessed, and what has to stand beside a right guess (semantics C.4).

`n < 3`, `Q = 0` and "unstable" are soon said. One that rests on what is achieved counts as any other match does. One
behind work that went wrong counts for itself alone: it credits no prerequisites, as half of the guesses of two options
are right, and the policy `training` does not pay it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from prism.algebra.expr import Expr, Formula, symbols, symbols_of, walk
from prism.equivalence.facts import numeric_of
from prism.equivalence.statements import statements_of
from prism.grading.located_claims import LocatedClaim
from prism.grading.prepared import PreparedProblem
from prism.grading.references import ReferenceNode, is_guess
from prism.problem.dag import ReferenceDag, ancestor_closure

_DERIVATIVES = frozenset(("derivative", "partial"))


def without_guesses(
    dag: ReferenceDag, matched: Collection[int], guessable: Collection[int], shown: Collection[int] = ()
) -> frozenset[int]:
    """Return the matched nodes without mere guesses: a guessable node counts only if a prerequisite of it is achieved.

    A prerequisite is achieved if a node that counts is it or follows from it. Guessable nodes without prerequisites
    count too, those that the problem says itself (`shown`) never do. Nodes are visited in index order, since one
    guessable node may rest on another that counts.

    >>> from prism.problem.dag import Node, reference_dag
    >>> dag = reference_dag([Node(1), Node(2, prerequisites=(1,)), Node(3, prerequisites=(2,), is_final=True)])
    >>> sorted(without_guesses(dag, {2, 3}, {2, 3})), sorted(without_guesses(dag, {1, 2, 3}, {2, 3}))
    ([], [1, 2, 3])
    """
    prerequisites = {node.index: node.prerequisites for node in dag.nodes}
    counted = {
        index for index in matched if index not in shown and (index not in guessable or not prerequisites[index])
    }
    for index in sorted(set(matched) - counted):
        if not ancestor_closure(dag, counted).isdisjoint(prerequisites[index]):
            counted.add(index)
    return frozenset(counted)


def guesses_behind_work(
    prepared: PreparedProblem, guesses: Collection[int], located: Sequence[LocatedClaim]
) -> frozenset[int]:
    """Return those of some guessed nodes that rest directly on a node that the solution works on, rightly or not.

    It works on a node if it gives its quantity by a formula, or a number, that is no guess, in the part of the guess,
    in that of the node if this is another answer, or in common text. A node that can be guessed itself is worked on if
    a formula is about its quantity and one that it rests on is worked on.
    """
    prerequisites = {node.index: node.prerequisites for node in prepared.problem.dag.nodes}
    marked = frozenset(letter for claim in located for letter in claim.letters)

    def parts_of(index: int) -> frozenset[str]:
        """Return the part of a guess; all parts if the text does not mark its part."""
        letter = prepared.letters.get(index, "")
        return frozenset((letter,)) if letter in marked else marked

    return frozenset(
        index for index in guesses
        if any(_is_worked_on(each, parts_of(index), located, prepared) for each in prerequisites[index])
    )  # fmt: skip


def _is_worked_on(
    index: int, letters: frozenset[str], located: Sequence[LocatedClaim], prepared: PreparedProblem
) -> bool:
    """Return True if the solution works on a node, in some parts or its own."""
    own = letters | {prepared.letters.get(index, "")}
    node = next((each for each in prepared.task.references if each.index == index), None)
    if node is None:
        return False
    near = [each for each in located if (not each.letters or own.intersection(each.letters)) and _is_about(each, node)]
    if index in prepared.guessable:
        before = next(each.prerequisites for each in prepared.problem.dag.nodes if each.index == index)
        return bool(near) and any(_is_worked_on(each, own, located, prepared) for each in before)
    return any(_is_work(each, node, prepared.task.known) for each in near)


def _is_about(claim: LocatedClaim, node: ReferenceNode) -> bool:
    """Return True if a side of a claim is a node's quantity; for a node without one, if it has a derivative of it."""
    f = claim.formula
    if f is None or claim.is_in_passing:
        return False
    if node.subjects:
        return any(not node.subjects.isdisjoint(each.formula.members) for each in statements_of(f))
    return not _derivatives(f).isdisjoint(part for each in node.formulas for part in _derivatives(each))


def _is_work(claim: LocatedClaim, node: ReferenceNode, known: Collection[str]) -> bool:
    r"""Return True if a claim on a node's quantity is no guess: it has a formula, or a number where the node has one.

    Letters of the solution's own may stand for the guess, `P = \zeta/2` beside `\zeta = 1`, and make no work.
    """
    if claim.formula is None or claim.formula.kind != "equation" or is_guess(claim.located.latex):
        return False
    if not symbols_of(claim.formula) <= set(known):
        return False
    sides = [side for each in statements_of(claim.formula) for side in each.formula.members]
    is_formula = any(side.args and symbols(side) for side in sides if side not in node.subjects)
    return is_formula or (node.is_number and numeric_of(claim.formula) is not None)


def _derivatives(f: Formula) -> frozenset[Expr]:
    """Return the derivatives in a formula."""
    return frozenset(part for member in f.members for part in walk(member) if part.op in _DERIVATIVES)

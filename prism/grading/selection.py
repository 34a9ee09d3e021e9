r"""Which of the formulas that say what a node says stand as claims of the solution (semantics C.1 to C.4).

A solution asserts, it does not merely mention: who lists ten values has stated none of them. For each node the
statements of a solution are of three sorts. Some say what the node says; some say something *else of the same*: another
number of its quantity, or another formula of the same variables; the rest speak of other things. A final answer is what
the solution says last, in a box before all else. Any other node is met by one of the latest few.

What is right for another node is never held against one: two laws in the same symbols do not contradict each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from prism.algebra.expr import Expr, symbols, walk
from prism.problem.dag import ReferenceDag, ancestor_closure
from prism.problem.schema import ProblemNode

LATEST = 3  # claims of a node's quantity that contradict each other, of which one may be right (semantics C.2)
LATEST_OF_CLASS = 4  # formulas in the same variables, whatever they are solved for
LATEST_ON_SUBJECT = 5  # formulas of one quantity, whatever their variables; labelled solutions need four
MAX_GUESSED = 12  # numerator and denominator of a number that one may guess: `5/3`, `3\pi/2`
_SMALL = frozenset(("num", "const", "neg", "mul", "div", "sqrt"))
_WRITTEN_OUT = frozenset(("add", "sub", "mul", "div", "pow", "integral", "contour", "sum", "product", "limit"))

REFUSALS = {
    "broken_chain": "a link of its chain is refuted",
    "contradicted": "the solution says something else of it later, or in a box",
    "one_of_many": "the solution says many things of the same quantity",
    "other_part": "it stands in the answer to another part",
    "guessed": "it could be guessed, and nothing that it follows from is there",
    "failed": "the grader failed on the claims of this solution",
}
"""Why a formula that says what a node says earns nothing, in words. Closed: a test refuses any other."""


@dataclass(frozen=True, slots=True)
class Said:
    """One statement of a solution as it bears on one node.

    Attributes:
        place: ordinals of its formula in the text, and within that formula.
        is_same: it says what the node says; otherwise it says something else of the same.
        is_apart: it gives the node's quantity by other variables, and contradicts nothing.
        is_number: it gives a number, not a formula.
        is_solved: it is solved for the node's quantity.
        is_boxed: it stands in a box.
        is_rough: it holds approximately, by its own sign.
        is_broken: a link of its chain is refuted.
        is_open: whether it says the same is not decided.
        is_aside: its sentence says it in passing.
        text: what tells it from others; repeating a claim makes it no more of them.
    """

    place: tuple[int, int]
    is_same: bool = False
    is_apart: bool = False
    is_number: bool = False
    is_solved: bool = False
    is_boxed: bool = False
    is_rough: bool = False
    is_broken: bool = False
    is_open: bool = False
    is_aside: bool = False
    text: str = ""


def refusals(said: Iterable[Said], *, is_final: bool, is_number: bool, n_meant: int = 0) -> dict[int, str]:
    """Of each formula that says what a node says, by its place: the key of REFUSALS, or an empty text if it stands.

    Args:
        said: what bears on the node, of one part of the solution.
        is_final: the node is a final answer.
        is_number: the node asks for a number.
        n_meant: other nodes of its class that the solution does not match. As many claims that contradict this one may
            be meant for those: who fails at the limit of a formula has not taken the formula back.
    """
    told = sorted(said, key=lambda each: each.place)
    found: dict[int, str] = {}
    for one in told:
        if one.is_same and one.is_broken:
            found.setdefault(one.place[0], "broken_chain")
    held = [one for one in told if not one.is_broken]
    for numbers in (True, False):
        kind = [one for one in held if one.is_number == numbers]
        if numbers and not is_number and _is_of_another_formula(held):
            kept = dict.fromkeys((one.place[0] for one in kind if one.is_same), "contradicted")
        else:
            is_answer = is_final or (numbers and not is_number)  # a number for a formula is the solution's last of it
            kept = _of_final(kind, n_meant) if is_answer else _on_the_way(kind, n_meant)
        for place, refusal in kept.items():
            if not refusal or found.get(place) != "":
                found[place] = refusal
    return found


def _is_of_another_formula(held: Sequence[Said]) -> bool:
    """Whether the last formula of the quantity is another one than the node's: `K = m v^2`, and then `K = 9 J`."""
    formulas = [one for one in held if one.is_solved and (one.is_same or _is_other(one)) and not one.is_number]
    return bool(formulas) and not formulas[-1].is_same


def _is_other(one: Said) -> bool:
    return not (one.is_same or one.is_apart or one.is_open)


def _of_final(kind: Sequence[Said], n_meant: int) -> dict[int, str]:
    """The last in a box, else the last that is solved for the quantity, else the last at all, decides.

    What is said in passing, or is a formula that holds approximately, decides only where nothing else does.
    """
    same = [one for one in kind if one.is_same]
    if not same:
        return {}
    rivals = _weighty([one for one in kind if one.is_same or _is_other(one)])
    boxed = [one for one in kind if one.is_boxed and (one.is_solved or one.is_same or _is_other(one))]
    rivals = boxed or [one for one in rivals if one.is_solved] or rivals
    last = max((k for k, one in enumerate(rivals) if one.is_same), default=-1)
    at = rivals[last].place[0] if last >= 0 else -1
    later = [one for one in rivals[last + 1 :] if _is_other(one) or one.place[0] > at]
    refusal = ""
    if _n_distinct(later) > n_meant:
        refusal = "contradicted"
    elif _is_one_of_many(same[-1], kind, n_meant):
        refusal = "one_of_many"
    return dict.fromkeys((one.place[0] for one in same), refusal)


def _weighty(rivals: list[Said]) -> list[Said]:
    """Rivals without what carries less weight than others of them."""
    rivals = [one for one in rivals if not one.is_aside] or rivals
    return [one for one in rivals if one.is_number or not one.is_rough] or rivals


def _on_the_way(kind: Sequence[Said], n_meant: int) -> dict[int, str]:
    """Each that is among the latest of its class and on its subject stands."""
    found: dict[int, str] = {}
    for one in kind:
        if not one.is_same:
            continue
        others = [each for each in _after(one, kind) if _is_other(each) and not each.is_aside]
        is_one_of_many = (
            _n_distinct(each for each in others if each.is_solved) >= LATEST + n_meant
            or _n_distinct(others) >= LATEST_OF_CLASS + n_meant
            or _is_one_of_many(one, kind, n_meant)
        )
        if found.get(one.place[0]) != "":
            found[one.place[0]] = "one_of_many" if is_one_of_many else ""
    return found


def _is_one_of_many(one: Said, kind: Sequence[Said], n_meant: int) -> bool:
    """Whether too many formulas of one quantity follow, or too many of which nobody can say what they say."""
    later = [each for each in _after(one, kind) if not each.is_aside]
    n_open = _n_distinct(each for each in later if each.is_open)
    return n_open >= LATEST or _n_distinct(each for each in later if each.is_solved) >= LATEST_ON_SUBJECT + n_meant


def _after(one: Said, kind: Sequence[Said]) -> list[Said]:
    return [each for each in kind if each.place > one.place and not each.is_same]


def _n_distinct(said: Iterable[Said]) -> int:
    return len({each.text for each in said})


# Guessable nodes. -----------------------------------------------------------------------------------------------


def is_guessable(node: ProblemNode) -> bool:
    r"""Whether a node can be had by guessing: 0, ±1 or a small number without unit, an inequality, words (C.4).

    `m\ddot x + kx = 0` is none: its other side is a formula, and not one quantity.

    >>> from prism.latex import parse
    >>> nodes = [ProblemNode(1, "", parse(text)) for text in (r"Q = 0", r"n < 3", r"\theta = \pi/2", r"m a + k x = 0")]
    >>> [is_guessable(node) for node in nodes]
    [True, True, True, False]
    """
    f = node.formula
    if node.is_text or f.kind == "inequality":
        return True
    if f.kind != "equation":
        return False
    return any(
        _is_small(number) and _is_one_quantity(subject) for subject, number in (f.members, f.members[::-1])
    )  # fmt: skip


def _is_small(expr: Expr) -> bool:
    parts = list(walk(expr))
    return all(part.op in _SMALL for part in parts) and all(
        abs(part.value.numerator) <= MAX_GUESSED and part.value.denominator <= MAX_GUESSED
        for part in parts
        if part.value is not None
    )


def _is_one_quantity(expr: Expr) -> bool:
    """A symbol or one construct of it, as a value at a place or a derivative; nothing that has to be written out."""
    return bool(symbols(expr)) and expr.op not in _WRITTEN_OUT


def entering(dag: ReferenceDag, matched: Collection[int], guessable: Collection[int]) -> frozenset[int]:
    """The matched nodes without those that were only guessed: a guess counts where a prerequisite of it is achieved.

    Nodes without prerequisites count as usual. A guess may rest on one that counts, so the nodes are gone through in
    their order.

    >>> from prism.problem.dag import Node, reference_dag
    >>> dag = reference_dag([Node(1), Node(2, prerequisites=(1,)), Node(3, prerequisites=(2,), is_final=True)])
    >>> sorted(entering(dag, {2, 3}, {2, 3})), sorted(entering(dag, {1, 2, 3}, {2, 3}))
    ([], [1, 2, 3])
    """
    prerequisites = {node.index: node.prerequisites for node in dag.nodes}
    kept = {index for index in matched if index not in guessable or not prerequisites[index]}
    for index in sorted(set(matched) - kept):
        if not ancestor_closure(dag, kept).isdisjoint(prerequisites[index]):
            kept.add(index)
    return frozenset(kept)


# Parts. ---------------------------------------------------------------------------------------------------------

OUT_OF_SCOPE = 9  # a level that is never looked at


def in_scope(said: Iterable[tuple[int, Said]]) -> list[Said]:
    """Of statements at levels of nearness, numbers and formulas apart, those of the nearest level that has any.

    So what is common to all parts counts for one only on subjects on which the part itself says nothing: neither
    swapped answers nor a last line of guesses earns both.
    """
    told = list(said)
    found: list[Said] = []
    for numbers in (True, False):
        kind = [(level, one) for level, one in told if one.is_number == numbers and level < OUT_OF_SCOPE]
        nearest = min((level for level, one in kind if not one.is_apart), default=0)
        found += [one for level, one in kind if level == nearest]
    return found

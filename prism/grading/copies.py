r"""Final answers that the problem says itself, and claims that only copy it (semantics C.5).

With `T = 2\pi\sqrt{L/g}` given, `g = 4\pi^2 L/T^2` is true of the statement already: it is earned by a claim solved for
g, and not by the formula that was given.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import permutations

from prism.algebra.expr import Expr, Formula, canonical, symbols, symbols_of
from prism.equivalence.facts import subject_of
from prism.grading.references import ReferenceNode

_CARRIES_MORE = frozenset(("add", "sub", "mul"))


def is_copy(stated: Formula, node: ReferenceNode, shown: Collection[Formula] = ()) -> bool:
    """Return True if a claim that says what a node says only repeats what the problem says.

    On a final answer that a formula of the problem already says it does so unless the asked symbol, or one power or
    function of it, stands alone on one side and not on the other, in another form than the given one. Where the given
    is the node as it is there is no other form. On a node that leads to what is to be shown, a copy of that is a copy.

    Args:
        stated: the claim.
        node: that it matches.
        shown: formulas of the problem, solved already, that the node leads to (see `shown_by`).
    """
    asked = subjects_of_node(node)
    is_unsolved = bool(node.given and asked) and not is_solved_form(stated, asked)
    solved = shown_by(node)
    repeated = (*shown, *(given for given in node.given if asked and given not in solved))
    return is_unsolved or any(_is_same_form(stated, given) for given in repeated)


def shown_by(node: ReferenceNode) -> tuple[Formula, ...]:
    """Return the formulas of the problem that are a final answer as it is: what it follows from has to be said."""
    is_solved = bool(subjects_of_node(node))
    return tuple(f for f in node.given if is_solved and any(_is_same_form(f, wanted) for wanted in node.formulas))


def subjects_of_node(node: ReferenceNode) -> frozenset[str]:
    """Return the symbols that the formulas of a node are solved for; empty if it has another kind of formula."""
    equations = (f for f in node.formulas if f.relations == ("=",))
    return frozenset(subject.name for f in equations if (subject := subject_of(f)) is not None)


def is_solved_form(f: Formula, asked: Collection[str]) -> bool:
    r"""Return True if an asked symbol, or one power or function of it, stands alone on one side of an equation.

    >>> from prism.latex import parse
    >>> [is_solved_form(parse(text), {"v"}) for text in (r"v^2 = 2gh", r"\frac1v = t", r"\frac12 v^2 = gh")]
    [True, True, False]
    """
    if f.kind != "equation" or len(f.members) != 2:
        return False
    return any(
        name not in symbols(other) and symbols(side) == {name} and _stands_alone(side, name)
        for side, other in permutations(f.members)
        for name in asked
    )


def _stands_alone(side: Expr, name: str) -> bool:
    """Return True if an expression whose only symbol is `name` is that symbol, a power or a function of it."""
    while side.op != "sym":
        holders = [arg for arg in side.args if symbols(arg)]
        is_fraction = side.op == "div" and (holders[:1] != [side.args[1]] or side.args[0].value != 1)
        if len(holders) != 1 or side.op in _CARRIES_MORE or is_fraction:
            return False
        side = holders[0]
    return side.name == name


def _is_same_form(a: Formula, b: Formula) -> bool:
    """Return True if two equations have the same sides, in either order."""
    if len(a.members) != len(b.members) or symbols_of(a) != symbols_of(b):
        return False
    return sorted(map(canonical, a.members)) == sorted(map(canonical, b.members))

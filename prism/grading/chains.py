r"""Which statements of a chain hold: those that no refuted link parts (semantics C.1).

A chain `v = 2at = at = at^2` states each pair of neighbours and that v is each of the others. Its second link is
refuted, so nothing that reaches across it holds, and v is 2at at most. A chain goes on from a row to one below that
begins with an equals sign, and into the box at its end.

Links are weighed only where a statement bears on a node that is matched: it costs points on both members.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from prism.algebra.expr import EQUALITIES, Expr, Formula
from prism.equivalence.numbers import numeric_of
from prism.equivalence.statements import Statement
from prism.grading.chain_links import Link, link
from prism.latex import LocatedFormula
from prism.physics.context import Context

LINKS_KEPT = 4096  # weighed links that are remembered in a process
_EQUAL_SIGNS = ("=", r"\approx", r"\simeq", r"\cong", r"\equiv", "≈", "≃", "≡")


def goes_on(item: LocatedFormula, text: str) -> bool:
    """Whether a formula goes on with the row above it: its source begins with an equals sign."""
    return item.led and text[slice(*item.span)].lstrip("& {").startswith(_EQUAL_SIGNS)


def runs_before(
    found: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str
) -> tuple[tuple[Expr, ...], ...]:
    """For each formula of a solution the members of the chain that it goes on, from the first on; mostly none.

    Args:
        found: formulas in the order of the text.
        formulas: what each was read as; None for what could not be read.
        text: what their spans count in.
    """
    before: list[tuple[Expr, ...]] = []
    run: list[Expr] = []
    end = 0
    for item, each in zip(found, formulas, strict=True):
        is_inside = item.span[1] <= end  # the boxed member of the chain that was read before it
        if each is None or len(each.members) < 2 or not EQUALITIES.issuperset(each.relations):
            before.append(())
            if not is_inside:
                run = []
        elif is_inside:
            is_its_end = run and each.members[0] == run[0] and each.members[-1] == run[-1]
            before.append(tuple(run[:-1]) if is_its_end else ())
        else:
            if not (goes_on(item, text) and run and each.members[0] == run[0]):
                run = []
            before.append(tuple(run))
            run = [*(run or each.members[:1]), *each.members[1:]]
        end = max(end, item.span[1])
    return tuple(before)


def is_unbroken(stated: Statement, before: tuple[Expr, ...], context: Context) -> bool:
    r"""Whether no link between the two members of a statement is refuted, and no 0 stands between them.

    What is equal by way of 0 is 0, and says no more of either: `t = 0 = \sqrt{2h/g}`.

    Args:
        stated: of a formula of the solution.
        before: the members of the chain that the formula goes on.
        context: of the problem.
    """
    joined = stated.joins or stated.formula.members
    if before and joined[0] == before[0]:
        joined = before + joined[1:]
    if len(joined) < 3 and not stated.joins:
        return True
    if any(member.value == 0 for member in joined[1:-1]):
        return False
    return all(link_of(left, right, context).status != "refuted" for left, right in pairwise(joined))


def is_result(stated: Statement) -> bool:
    """Whether a statement says what number comes out at the end: that stands, whatever the way to it was."""
    return numeric_of(stated.formula) is not None


@lru_cache(maxsize=LINKS_KEPT)
def link_of(left: Expr, right: Expr, context: Context) -> Link:
    """As `link`, remembered."""
    return link(left, right, context)

r"""Statements of a chain that hold: those whose two members no refuted link separates (semantics C.1).

A chain `v = 2at = at = at^2` states each pair of neighbours and that v is each of the others. Its second link is
refuted, so nothing that reaches across it holds, and v is 2at at most. A chain continues from a row into one below
that begins with an equals sign, and into the box at its end.

Links are decided only for statements about a matched node: each one costs an evaluation of both members.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from prism.algebra.expr import EQUALITIES, Expr, Formula
from prism.equivalence.facts import numeric_of
from prism.equivalence.statements import Statement
from prism.grading.chain_links import check_link
from prism.latex import LocatedFormula
from prism.physics.context import Context

_EQUAL_SIGNS = ("=", r"\approx", r"\simeq", r"\cong", r"\equiv", "≈", "≃", "≡")


def continues_row(item: LocatedFormula, text: str) -> bool:
    """Return True if a formula continues the chain in the row above: its source begins with an equals sign, `= 2gh`."""
    return item.led and text[slice(*item.span)].lstrip("& {").startswith(_EQUAL_SIGNS)


def members_before(
    located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str
) -> tuple[tuple[Expr, ...], ...]:
    """Return for each formula the members of the chain before it: (a, b) for `= c` below `a = b`; empty if none.

    A box around the last member of a chain continues that chain too.

    Args:
        located: formulas in the order of the text.
        formulas: the same as parsed; None where one could not be read.
        text: of the solution; spans are offsets in it.
    """
    before: list[tuple[Expr, ...]] = []
    run: list[Expr] = []
    end = 0
    for item, each in zip(located, formulas, strict=True):
        is_inside = item.span[1] <= end  # the boxed member of the chain that was read before it
        if each is None or len(each.members) < 2 or not EQUALITIES.issuperset(each.relations):
            before.append(())
            if not is_inside:
                run = []
        elif is_inside:
            is_its_end = run and each.members[0] == run[0] and each.members[-1] == run[-1]
            before.append(tuple(run[:-1]) if is_its_end else ())
        else:
            if not (continues_row(item, text) and run and each.members[0] == run[0]):
                run = []
            before.append(tuple(run))
            run = [*(run or each.members[:1]), *each.members[1:]]
        end = max(end, item.span[1])
    return tuple(before)


def is_unbroken(stated: Statement, before: tuple[Expr, ...], context: Context) -> bool:
    r"""Return True if the chain from one member of a statement to the other has no refuted link and no 0 between them.

    Members that are equal by way of 0 are 0, and the chain says no more of them: `t = 0 = \sqrt{2h/g}`.

    Args:
        stated: of a formula of the solution.
        before: the members of the chain that the formula continues.
        context: of the problem.
    """
    joined = stated.joins or stated.formula.members
    if before and joined[0] == before[0]:
        joined = before + joined[1:]
    if len(joined) < 3 and not stated.joins:
        return True
    if any(member.value == 0 for member in joined[1:-1]):
        return False
    return all(check_link(left, right, context).status != "refuted" for left, right in pairwise(joined))


def states_number(stated: Statement) -> bool:
    """Return True if a statement gives a quantity a number, as `v = 5 m/s`."""
    return numeric_of(stated.formula) is not None

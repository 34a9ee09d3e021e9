r"""Statements of a chain that hold: those whose two members no refuted link separates (semantics C.1).

A chain `v = 2at = at = at^2` states each pair of neighbours and that v is each of the others. Its second link is
refuted, so nothing that reaches across it holds, and v is 2at at most. A chain continues from a row into one below
that begins with an equals sign, and into the box at its end.

Links are decided only for statements about a matched node: each one costs an evaluation of both members.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product

from prism.algebra.expr import EQUALITIES, Expr, Formula
from prism.equivalence.chains.links import NUMBERS_AGREE, check_link
from prism.equivalence.chains.member_values import lone_literal
from prism.equivalence.facts import numeric_of
from prism.equivalence.statements import Statement
from prism.grading.references import MatchTask
from prism.latex import LocatedFormula
from prism.physics.context import Context

_SPREADING = frozenset(("sim", "to", "divides"))  # behind these a chain no longer says that its members are equal
_NOTHING_KNOWN = Context()  # numbers need no problem
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
    joined = _joined(stated, before)
    if len(joined) < 3 and not stated.joins:
        return True
    is_torn = stated.formula.kind == "equation" and _has_two_values(joined)
    if is_torn or any(member.value == 0 for member in joined[1:-1]):
        return False
    return all(check_link(left, right, context).status != "refuted" for left, right in pairwise(joined))


def is_truncated(stated: Statement, before: tuple[Expr, ...], context: Context) -> bool:
    r"""Return True if the last link of a statement's chain only cuts off a series: `v = \sqrt{1+x} \approx 1 + x/2`."""
    joined = _joined(stated, before)
    is_led = stated.is_rounded and len(joined) > 2
    return is_led and check_link(joined[-2], joined[-1], context).status == "approximate"


def _joined(stated: Statement, before: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return the members of the chain from one member of a statement to the other."""
    joined = stated.joins or stated.formula.members
    return before + joined[1:] if before and joined[0] == before[0] else joined


def equates_two_subjects(stated: Statement, before: tuple[Expr, ...], task: MatchTask) -> bool:
    r"""Return True if a statement holds only by way of two quantities that the problem tells apart.

    `E' = T = p = 0.402\,MeV` says the number of p alone, where the reference has other values for E' and T.

    Args:
        stated, before: as of `is_unbroken`.
        task: the problem.
    """
    joined = _joined(stated, before)
    return len(joined) > 2 and any(_are_distinct_quantities(left, right, task) for left, right in pairwise(joined))


def is_spread(stated: Statement, claim: Formula | None, context: Context) -> bool:
    r"""Return True if a chain goes on with `\sim` or `\to` to another value than a statement's: `v = 27 \sim 7`.

    Also if a bar follows (`v = gt \;|\; t = 3g`), behind which stands a condition.
    """
    if claim is None or _SPREADING.isdisjoint(claim.relations[1:]):
        return False
    return "divides" in claim.relations or (
        check_link(stated.formula.members[-1], claim.members[-1], context).status == "refuted"
    )


def glues_subjects(claim: Formula, before: tuple[Expr, ...], task: MatchTask) -> bool:
    r"""Return True if a chain of three members or more names two quantities that the problem tells apart.

    So does `T = E' = 0.402\,MeV = p`, of which one link may be true.
    """
    members = (*before, *claim.members)
    subjects = list(dict.fromkeys(member for member in members if member.op == "sym"))
    return len(members) > 2 and any(_are_distinct_quantities(*pair, task) for pair in combinations(subjects, 2))


def _are_distinct_quantities(left: Expr, right: Expr, task: MatchTask) -> bool:
    """Return True if two members are symbols with other values, or with other formulas in the same symbols."""
    if left.op != "sym" or right.op != "sym" or left == right:
        return False
    one, other = task.known_values.get(left.name), task.known_values.get(right.name)
    if one is not None and other is not None:
        return one[1] != other[1] or abs(one[0] - other[0]) > NUMBERS_AGREE * max(abs(one[0]), abs(other[0]))
    pairs = product(_right_sides(left, task), _right_sides(right, task))
    links = [check_link(*pair, task.context) for pair in pairs]
    is_refuted = any(link.status in ("refuted", "approximate") or link.reason == "varying_ratio" for link in links)
    return is_refuted and all(link.status != "confirmed" for link in links)


def _right_sides(subject: Expr, task: MatchTask) -> list[Expr]:
    """Return what the nodes that are solved for a symbol set it equal to."""
    formulas = [f for node in task.references for f in node.formulas if len(f.members) == 2]
    return [f.members[1] for f in formulas if f.kind == "equation" and f.members[0] == subject]


def states_number(stated: Statement, before: tuple[Expr, ...]) -> bool:
    """Return True if a statement gives a quantity one number, as `v = 5 m/s`; not by way of another, `v = 9 = 5`.

    Args:
        stated, before: as of `is_unbroken`.
    """
    return numeric_of(stated.formula) is not None and not _has_two_values(_joined(stated, before))


def _has_two_values(members: Sequence[Expr]) -> bool:
    """Return True if two members of a chain are written values, with or without unit, that are not equal: `9 = 5`."""
    values = [member for member in members if lone_literal(member.args[0] if member.op == "neg" else member)]
    return any(check_link(left, right, _NOTHING_KNOWN).status == "refuted" for left, right in combinations(values, 2))

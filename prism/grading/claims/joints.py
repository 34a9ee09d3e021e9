r"""What joined formulas do to each other: a falsehood withdraws them, an arrow leaves its end, "or" leaves none.

`F \Rightarrow 1 = 0`, "if $1 = 2$, then F" and "F. Then $1 = 0$" assert no F (`withdrawn_orders`). Of two claims on one
quantity that exclude each other, an arrow asserts the later one, and neither stands where "or" joins them
(`superseded_orders`, semantics C.6). Within one formula the same is decided by `prism.physics.implications`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from prism.algebra.expr import Formula, formula, symbols_of
from prism.latex import Joint, LocatedFormula
from prism.physics.implications import holds_for_no_value, is_false

_LOOSE = frozenset((Joint.AND, Joint.SO))  # joints that part a trial, "x = 1 gives 1 = 3", from what follows it
_JOINED = frozenset((Joint.ARROW, Joint.BOTH, Joint.CONDITION, Joint.UNLESS, Joint.AND, Joint.SO))


def withdrawn_orders(located: Sequence[LocatedFormula], formulas: Sequence[Formula | None]) -> dict[int, str]:
    r"""Map each formula that is joined to a falsehood, or says nothing with its neighbour, by its ordinal, to why.

    Backwards a falsehood withdraws what led to it; forwards what follows from it, but for what a trial that failed
    leaves: "$x = -1 \Rightarrow 1 = 3$, so $x = 2$".

    Args:
        located: formulas in the order of the text.
        formulas: the same, parsed; None for what could not be read.
    """
    falsehoods = {
        at
        for at, (item, read) in enumerate(zip(located, formulas, strict=True))
        if read is not None
        and (
            _is_falsehood(read)
            or (item.joint == Joint.UNLESS and not symbols_of(read))
            or (item.joint == Joint.ARROW and holds_for_no_value(read, filter(None, formulas[at + 1 : at + 2])))
        )
    }
    found: dict[int, str] = {}
    for at in range(1, len(located)):
        if _say_nothing(located[at - 1 : at + 1], formulas[at - 1 : at + 1]):
            together = f"together they hold in any case: {located[at - 1].latex} and {located[at].latex}"
            found |= {at - 1: together, at: together}
    for at in sorted(falsehoods):
        is_led = located[at].joint in _JOINED
        first = at  # as far as the falsehood before, so that no formula is passed more than twice
        while first > 0 and located[first].joint in _JOINED and first - 1 not in falsehoods:
            if located[first].joint == Joint.AND and first < at:
                break
            first -= 1
        last = at
        while last + 1 < len(located) and (joint := located[last + 1].joint) in _JOINED and last + 1 not in falsehoods:
            if (joint in _LOOSE and is_led) or (joint == Joint.AND and last > at):
                break
            last += 1
        said = f"joined to the false statement {located[at].latex}"
        found |= {order: said for order in range(first, last + 1) if order != at}
    return found


def _say_nothing(pair: Sequence[LocatedFormula], formulas: Sequence[Formula | None]) -> bool:
    r"""Return True if two formulas together hold in any case: "If F then F", `Q = R \iff R = Q`, "F or 1 = 1".

    Args:
        pair: the two, the later one with its joint to the one before it.
        formulas: both as parsed; None for what could not be read.
    """
    (first, item), (before, read) = pair, formulas
    if before is None or read is None or not (before.relations and read.relations) or before.parts or read.parts:
        return False
    if item.joint == Joint.OR:
        return not (symbols_of(read) or is_false(read)) or not (symbols_of(before) or is_false(before))
    is_one = before.relations == read.relations == ("=",) and {*before.members} == {*read.members}
    is_under_itself = item.joint == Joint.SO and first.in_passing  # if F, then F
    return is_one and (is_under_itself or item.joint in (Joint.BOTH, Joint.CONDITION))


def _is_falsehood(read: Formula) -> bool:
    r"""Return True if a formula of literals is false, and not only badly rounded; also in brackets, `\{1 = 0\}`."""
    if read.kind == "expression" and [each.op for each in read.members[0].args] == ["relation"]:
        inner = read.members[0].args[0]
        read = formula(inner.args, (inner.name,))
    return "approx" not in read.relations and is_false(read)


def _listed_orders(located: Sequence[LocatedFormula], rivals: Collection[int]) -> frozenset[int]:
    """Return the ordinals of formulas at the end of a list of rivals without words: `v = 1`, `v = 2`, `v = 3`.

    One before it may be a slip that the next one mends; who lists more has chosen none.
    """
    found: set[int] = set()
    n_before = 0
    for at, item in enumerate(located):
        if item.joint not in (Joint.AND, Joint.LISTED):
            n_before = 0
        if at in rivals:
            n_before += 1
        elif n_before > 1:
            found.add(at)
    return frozenset(found)


def superseded_orders(located: Sequence[LocatedFormula], rivals: Collection[int]) -> frozenset[int]:
    """Return the ordinals of the formulas that a joint to one of their rivals keeps from standing.

    Args:
        located: formulas in the order of the text.
        rivals: ordinals of those that contradict a node.
    """
    found: set[int] = set()
    is_joined = False  # to a rival behind
    for at in reversed(range(len(located))):
        if is_joined:
            found.add(at)
        is_joined = (is_joined or at in rivals) and located[at].joint in (Joint.ARROW, Joint.BOTH, Joint.OR)
    found |= _listed_orders(located, rivals)
    is_joined = False  # to a rival before
    for at, item in enumerate(located):
        is_joined = is_joined and item.joint in (Joint.BOTH, Joint.OR)
        if is_joined:
            found.add(at)
        is_joined = is_joined or at in rivals
    return frozenset(found)

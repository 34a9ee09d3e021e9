r"""What joined formulas leave standing: nothing of `F \Rightarrow 1 = 0`, the end of `v = gt \Rightarrow v = 2gt`.

A formula that implies, follows from or is conditional on a false statement of literals is withdrawn with all that it
is joined to, and one that implies what no value of its letters fulfils (`x = x + 1`, `h = 2h`); of two formulas of one
quantity in the same letters an implication leaves the later one.

Refused: to look for a contradiction between two statements with symbols, since values put in (`n < 3` after `n = 3`)
look the same; systems without a common solution are the engine's matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import isinf

from prism.algebra.expr import EQUALITIES, ORDERINGS, Expr, Formula, canonical, formal_ratio, number, symbols
from prism.engine.zero_set import value_at

_AGREE = 0.05  # relative difference of two literals that may be rounded
_DENYING = frozenset((r"\bot", "contradiction", "absurd", "false", "impossible"))
_DECIDED = EQUALITIES | ORDERINGS | {"!="}
_JOINED = frozenset(("implication", "conditional", "restricted", "system"))


def false_part(written: Formula) -> Formula | None:
    r"""Return a part of joined formulas that is false of its literals alone, as `1 = 0` and `\bot` are; None for none.

    >>> from prism.latex import parse
    >>> str(false_part(parse(r"y = x \Rightarrow 1 = 0"))), false_part(parse(r"x = 2 \Rightarrow 4 = 4"))
    ('1 = 0', None)
    """
    if written.kind not in _JOINED:
        return None
    implied = written.parts[1:] if written.kind == "implication" else ()
    for part in written.parts:
        found = false_part(part) if part.parts else part if is_false(part) else None
        if found is not None:
            return found
    return next((part for part in implied if holds_for_no_value(part, written.parts)), None)


def turns_into_another(written: Formula) -> bool:
    r"""Return True if a value of a chain turns into another one, or into a contradiction: `x = 2 \to 3`, `\to \bot`.

    >>> from prism.latex import parse
    >>> turns_into_another(parse(r"x = 2 \to 3")), turns_into_another(parse(r"y = x \to 0"))
    (True, False)
    """
    links = zip(written.members[1:], written.relations[1:], written.members[2:], strict=False)
    return any(
        relation == "to" and (_is_denial(right) or not (symbols(left, right) or _may_approach(left, right)))
        for left, relation, right in links
    )


def without_superseded(written: Formula) -> Formula:
    r"""Return an implication without the formulas that a later one of it replaces: same left side, same symbols.

    >>> from prism.latex import parse
    >>> str(without_superseded(parse(r"v = gt \Rightarrow v = 2gt")))
    'v = 2*g*t'
    """
    if written.kind != "implication" or any(part.kind != "equation" for part in written.parts):
        return written
    last = {(canonical(part.members[0]), symbols(*part.members)): part for part in written.parts}
    kept = tuple(part for part in written.parts if last[canonical(part.members[0]), symbols(*part.members)] is part)
    if len(kept) == len(written.parts):
        return written
    return replace(written, parts=kept) if len(kept) > 1 else replace(kept[0], latex=written.latex)


def is_false(part: Formula) -> bool:
    """Return True if a formula without symbols is false, or a lone word or sign for a contradiction."""
    names = symbols(*part.members)
    if names:
        return len(part.members) == 1 and _is_denial(part.members[0])
    if len(part.members) < 2 or not _DECIDED.issuperset(part.relations):
        return False
    pairs = zip(part.members, part.relations, part.members[1:], strict=False)
    return any(_is_link_false(*pair) for pair in pairs)


def holds_for_no_value(part: Formula, beside: Iterable[Formula]) -> bool:
    """Return True for an equation of one quantity and itself with a term or factor more: `x = x + 1`, `h = 2h`.

    The second kind holds at zero, so nothing `beside` it may say that something is zero.
    """
    if part.kind != "equation" or part.parts or part.relations != ("=",) or not symbols(*part.members):
        return False
    left, right = part.members
    difference = formal_ratio(Expr("add", (left, Expr("neg", (right,)))), number(1))
    if difference is not None:
        return difference != 0
    ratio = formal_ratio(left, right)
    says_zero = any(value_at(member, {}) == 0 for other in beside for member in other.members if not symbols(member))
    return ratio is not None and ratio > 0 and ratio != 1 and not says_zero


def _may_approach(left: Expr, right: Expr) -> bool:
    """Return True if a number agrees with another one, or may tend to it: to nought or to infinity."""
    one, two = value_at(left, {}), value_at(right, {})
    if one is None or two is None:
        return False
    return two == 0 or isinf(two) or abs(one - two) <= _AGREE * abs(two)


def _is_denial(member: Expr) -> bool:
    r"""Return True for `\bot` and for words such as `\text{contradiction}`."""
    return member.op == "sym" and member.name.lower() in _DENYING


def _is_link_false(left: Expr, relation: str, right: Expr) -> bool:
    """Return True if two members without symbols differ by more than rounding, or are ordered the other way."""
    ratio = formal_ratio(left, right)  # of quantities too: 1 m is not 2 m
    one, two = value_at(left, {}), value_at(right, {})
    if ratio is not None and relation in EQUALITIES:
        return abs(ratio - 1) > _AGREE
    if one is None or two is None:
        return False
    close = abs(one - two) <= _AGREE * max(abs(one), abs(two))
    if relation == "!=":
        return one == two
    if relation in EQUALITIES:
        return not close
    return not close and (one > two) != relation.startswith(">")

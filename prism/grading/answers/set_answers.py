r"""Final answers that are sets of values, in whatever form they are given: bounds, an interval, a membership.

`-2 \le x \le 7`, `x \in [-2, 7]` and `[-2, 7]` say the same of x. What a solution presents is read in the form in which
the final answer asks for it (semantics F.6); `prism.equivalence.interpretation.conditions.membership` decides if
the sets are the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Literal

from prism.algebra.alternatives import REGIONS
from prism.algebra.expr import ORDERINGS, Expr, Formula, formula, substitute, symbols_of
from prism.latex.word_lists import any_word

SetForm = Literal["", "members", "bounds", "pair"]
"""How a final answer is a set: `x \\in [1, 2]`, `1 < x < 2`, `(1, 2)`, which may be a point too; empty: it is none."""

_STRICT = frozenset(("<", ">"))


def set_form_of(f: Formula) -> SetForm:
    r"""Return in which form a formula gives a set of values of one quantity, or an empty text.

    >>> from prism.latex import parse
    >>> [set_form_of(parse(text)) for text in (r"x \in (1, 2]", "1 < x < 2", "S = (1, 2)", "x = 2")]
    ['members', 'bounds', 'pair', '']
    """
    if f.relations == ("in",) and f.members[1].op in REGIONS:
        return "members"
    if f.kind == "alternatives":
        parts = [set_form_of(part) for part in f.parts]
        is_set = "" not in parts and len({subject_of_set(part) for part in f.parts}) == 1
        return "bounds" if is_set else ""
    if f.relations and ORDERINGS.issuperset(f.relations) and subject_of_set(f) is not None:
        return "bounds"
    is_pair = f.kind == "equation" and len(f.members) == 2 and f.members[1].op == "tuple"
    return "pair" if is_pair and f.members[0].op == "sym" and len(f.members[1].args) == 2 else ""


def subject_of_set(f: Formula) -> Expr | None:
    """Return the symbol of which a formula gives bounds or a set: the one that is a member alone; None if not one is.

    In `0 < x < a` it is the one between the bounds.
    """
    if f.kind == "chain" and len(f.members) == 3:
        return f.members[1] if f.members[1].op == "sym" else None
    subjects = {member for part in f.parts or (f,) for member in part.members if member.op == "sym"}
    return subjects.pop() if len(subjects) == 1 else None


def asks_for_range(question: str) -> bool:
    """Return True if a question asks for a range of values: "for which values of x", "find the interval"."""
    return _RANGES.search(question) is not None


_RANGES = re.compile(any_word("ranges"), re.IGNORECASE)


def in_form_of_answer(
    f: Formula, subject: Expr, form: SetForm, *, question: str, own: Collection[str], is_any: bool
) -> Formula | None:
    """Return what a formula states of the subject of a final answer that is a set; None if it is no set of it.

    Args:
        f: as a solution gives it.
        subject: what the final answer is about.
        form: of the final answer.
        question: the statement; empty if it is not known. A pair is a set of values only where it asks for a range.
        own: symbols that neither the problem nor its reference has.
        is_any: the final answer has no name, so that the formula may be about any symbol.
    """
    if form == "pair":
        is_range = not question.strip() or asks_for_range(question)
        ends = _open_ends(f) if is_range else None
        return None if ends is None else replace(formula((subject, Expr("tuple", ends)), ("=",)), latex=f.latex)
    if f.kind == "expression":
        region = _region(f.members[0], form)
        return None if region is None else formula((subject, region), ("in",), f.latex, f.depends)
    named = subject_of_set(f) if set_form_of(f) in ("members", "bounds") else None
    if named is None or not (named == subject or is_any or named.name in own):
        return None
    return _renamed(f, named, subject)


def _renamed(f: Formula, old: Expr, new: Expr) -> Formula:
    """Return a formula, and its parts, with one symbol for another."""
    members = tuple(substitute(member, {old: new}) for member in f.members)
    return replace(f, members=members, parts=tuple(_renamed(part, old, new) for part in f.parts))


def _region(value: Expr, form: SetForm) -> Expr | None:
    """Return a bare value as a region; two values in round brackets are an open interval where bounds are asked for.

    None for another value.
    """
    if value.op in REGIONS:
        return value
    is_interval = form == "bounds" and value.op == "tuple" and len(value.args) == 2
    return Expr("interval", value.args, "()") if is_interval else None


def _open_ends(f: Formula) -> tuple[Expr, Expr] | None:
    """Return the ends of an open interval that a formula gives: of `1 < x < 2`, `2 > x > 1`, of x in (1, 2).

    None for another formula, and for bounds that are not strict.
    """
    if f.kind == "chain" and len(f.members) == 3 and len(set(f.relations)) == 1 and _STRICT.issuperset(f.relations):
        low, middle, high = f.members if f.relations[0] == "<" else f.members[::-1]
        return (low, high) if middle.op == "sym" and not symbols_of(f) - {middle.name} else None
    region = f.members[1] if f.relations == ("in",) else f.members[0] if f.kind == "expression" else None
    if region is None or region.op != "interval" or region.name != "()":
        return None
    return region.args[0], region.args[1]

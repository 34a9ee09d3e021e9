"""Answers given in several pieces: all values of a quantity, or a ratio for its name (semantics F.9).

`x_1 = a` and `x_2 = b` are one claim, that x is a or b; a double sign under two names of the statement gives each its
own value; and where the statement defines a ratio, its number may be stated of what it is the ratio of. All of it is
settled from the text, the statement and what is asked, never from the reference's value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from prism.algebra.expr import Expr, Formula, formula, plain_parts, symbols, symbols_of, walk
from prism.budget import PAIR, charge_steps, share
from prism.equivalence.context_facts import definitions_of
from prism.equivalence.matching import match
from prism.equivalence.numbers.stated import stated_number
from prism.equivalence.several_values import (
    index_in_family,
    is_whole_family,
    split_among_names,
    union_of,
    with_one_name,
)
from prism.equivalence.verdict import Stage, Status
from prism.physics.context import Context

MAX_LITERALS = 3  # numbers of a formula that may be the value of a ratio which the statement defines
_STEPS = 10  # of one formula at one final answer
_JOINS = re.compile(r"[$\\()\[\]\s,;.&]*(?:and|or|as well as)?[$\\()\[\]\s,;&]*")
_TYPESET = re.compile(r"\\(?:text|mathrm|textrm)\{([^{}]*)\}|\\q?quad\b|\\[,;:! ]")
_LONGEST_JOIN = 40  # characters between two values that belong together


@dataclass(frozen=True, slots=True)
class AskedQuantity:
    """A final answer, as far as its values may be stated in several pieces.

    Attributes:
        subject: the symbol that is asked for.
        has_several: it has several values.
        is_number: its value is a number.
    """

    subject: Expr
    has_several: bool
    is_number: bool


def with_joined_values(
    asked: Sequence[AskedQuantity],
    read: Mapping[int, Formula],
    spans: Sequence[tuple[int, int]],
    text: str,
    known: frozenset[str],
) -> Iterator[tuple[int, Formula]]:
    """Yield (ordinal, formula) for the formulas of one part that state all values of a quantity, as one claim of them.

    Args:
        read: the formulas of the part by their ordinals.
        spans: of all formulas in the text.
        known: symbols of the problem and its reference.
    """
    formulas = {place: split_among_names(f, known) for place, f in read.items()}
    yield from ((place, f) for place, f in formulas.items() if f != read[place])
    for each in asked:
        charge_steps(_STEPS * len(formulas))
        if each.has_several:
            formulas |= {place: with_one_name(f, each.subject, known) for place, f in formulas.items()}
            yield from ((place, f) for place, f in formulas.items() if f != read[place])
        values = _values_by_name(each.subject, formulas, known)
        joined = _last_joined(each, values, formulas, spans, text)
        if joined is not None:
            yield joined


def _values_by_name(
    subject: Expr, formulas: Mapping[int, Formula], known: frozenset[str]
) -> dict[str, tuple[int, Expr]]:
    """Map each name of a family of the subject, as `x_1`, to the last place that gives it a value, and the value."""
    found: dict[str, tuple[int, Expr]] = {}
    for place, f in formulas.items():
        for part in plain_parts(f) if f.kind in ("system", "equation", "chain") else ():
            name = part.members[0] if part.members and part.kind in ("equation", "chain") else None
            if name is None or name.op != "sym" or name.name in known:
                continue
            if index_in_family(name.name, subject.name) and name not in walk(part.members[-1]):
                found.pop(name.name, None)
                found[name.name] = place, part.members[-1]
    return found


def _last_joined(
    asked: AskedQuantity,
    values: Mapping[str, tuple[int, Expr]],
    formulas: Mapping[int, Formula],
    spans: Sequence[tuple[int, int]],
    text: str,
) -> tuple[int, Formula] | None:
    """Return the place of the last value, and what all of them state there together; None if they state no one claim.

    A value under the asked name itself behind them is the claim. Of a quantity with one value only those belong
    together that stand together.
    """
    subject = asked.subject
    places = sorted({place for place, _ in values.values()})
    indices = tuple(index_in_family(name, subject.name) or "" for name in values)
    if not places or not is_whole_family(indices):
        return None
    if any(place > places[0] and subject in f.members for place, f in formulas.items()):
        return None
    gaps = [text[spans[a][1] : spans[b][0]] for a, b in pairwise(places)]
    if not asked.has_several and not all(are_joined(gap) for gap in gaps):
        return None
    last = formulas[places[-1]]
    union = union_of(subject, {name: value for name, (_, value) in values.items()}, last.latex)
    return places[-1], Formula("system", (), (), last.latex, (*plain_parts(last), union), last.depends)


def with_repeated_values(
    asked: Sequence[AskedQuantity], read: Mapping[int, Formula], spans: Sequence[tuple[int, int]], text: str
) -> Iterator[tuple[int, Formula]]:
    """Yield (ordinal, formula) where `x = a` and `x = b` stand together, for a quantity with several values."""
    for each in asked:
        if not each.has_several:
            continue
        run: list[int] = []
        for place, f in read.items():
            is_value = f.kind == "equation" and f.members[0] == each.subject and each.subject not in walk(f.members[1])
            together = bool(run) and are_joined(text[spans[run[-1]][1] : spans[place][0]])
            run = [*(run if together else ()), place] if is_value else []
            if len(run) > 1:
                parts = tuple(formula((each.subject, read[k].members[1]), ("=",), f.latex) for k in run)
                yield place, Formula("alternatives", (), (), f.latex, parts, f.depends)


def are_listed(between: str) -> bool:
    """Return True if a text between two values makes them one list: a comma, "and", "or"."""
    return are_joined(between) and re.search(r",|;|\band\b|\bor\b|\bas well as\b", between) is not None


def are_joined(between: str) -> bool:
    """Return True if a text between two formulas only joins them: a comma, "and", "or"."""
    return len(between) <= _LONGEST_JOIN and _JOINS.fullmatch(_TYPESET.sub(r"\1", between)) is not None


# Definitions of the statement. ------------------------------------------------------------------------------------


def by_definitions(
    asked: Sequence[AskedQuantity], read: Mapping[int, Formula], context: Context
) -> Iterator[tuple[int, Formula]]:
    r"""Yield (ordinal, formula) for `I_1 = 0.684 I_0` as `q = 0.684` where the statement defines q as `I_1/I_0`."""
    defined = definitions_of(context)
    for each in asked:
        expr = defined.get(each.subject.name) if each.is_number and each.subject.op == "sym" else None
        for place, f in read.items() if expr is not None else ():
            if expr is not None and f.kind == "equation" and symbols_of(f) == symbols(expr):
                value = _value_of(expr, f, context)
                if value is not None:
                    yield place, replace(f, members=(each.subject, value))


def _value_of(expr: Expr, f: Formula, context: Context) -> Expr | None:
    """Return the number in a formula that it states an expression to be; None if it states none."""
    sides = [side for side in f.members if stated_number(side) is not None]
    literals = sides or list(dict.fromkeys(node for side in f.members for node in walk(side) if node.op == "num"))
    plain = replace(context, definitions=(), givens={})
    for literal in literals[:MAX_LITERALS]:
        with share(PAIR) as work:
            verdict = match(formula((expr, literal), ("=",)), f, plain)
        if not work.is_exhausted and verdict.status == Status.EQUIVALENT and verdict.stage == Stage.PLAIN:
            return literal
    return None

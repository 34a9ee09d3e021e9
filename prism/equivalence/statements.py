"""What one formula states: its parts with their conditions, the links of a chain, alternatives as their union.

A text puts several things into one formula: `a = b = c`, `x = 1 or x = 2`, `E = 0 for r < R`, `n = 1, 2, ...`. Here
they are taken apart (semantics Z.8, C.1); whether one of them says what a reference says is decided in `matching`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from prism.algebra.expr import EQUALITIES, ORDERINGS, Expr, Formula, formula, number, plain_parts, symbols
from prism.equivalence.numbers import with_units_to_the_right

MAX_CHAIN = 12  # members; a longer chain is a list of guesses
MAX_ALTERNATIVES = 6  # joined by `or`; more are a list of guesses
FORMULAS_KEPT = 4096  # formulas whose statements are remembered in a process
_WHOLE_NUMBERS = {r"\mathbb{N}": "N", r"\mathbb{Z}": "Z", r"\mathbb{N}_0": "0", r"\mathbb{N}^{*}": "1"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One formula that a text states.

    Attributes:
        formula: what is stated.
        conditions: that the text names for it.
        whole: symbols that the text runs through whole numbers (`n = 1, 2, ...`), and which.
        settled: symbols of which the text says more beside it (`n = 7`, `n = 1, 3, 5`).
        restrictions: those of the conditions under which alone it is stated (`for`, `if`), and no words on what holds.
        joins: of a chain of equalities the members that join its two, themselves included.
    """

    formula: Formula
    conditions: tuple[Formula, ...] = ()
    whole: tuple[tuple[str, str], ...] = ()
    settled: frozenset[str] = frozenset()
    joins: tuple[Expr, ...] = ()
    restrictions: tuple[Formula, ...] = ()


@lru_cache(maxsize=FORMULAS_KEPT)
def statements_of(
    written: Formula,
    conditions: tuple[Formula, ...] = (),
    settled: frozenset[str] = frozenset(),
    restrictions: tuple[Formula, ...] = (),
    *,
    needed: bool = False,
) -> tuple[Statement, ...]:
    """What a formula states, each part with its conditions: bounds, sets and ranges that stand beside equations.

    Args:
        conditions, settled, restrictions: of the whole that the formula is a part of; see `Statement`.
        needed: of a chain only its links, which a claim has to say one by one; no ranges and sets, and no bounds on
            what an equation beside them speaks of.

    >>> from prism.algebra.expr import symbol
    >>> a, b, c = symbol("a"), symbol("b"), symbol("c")
    >>> [str(each.formula) for each in statements_of(formula((a, b, c), ("=", "=")))]
    ['a = b', 'b = c', 'a = c']
    """
    if written.kind in ("conditional", "restricted"):
        named = tuple(plain for part in written.parts[1:] for plain in plain_parts(part))
        only = restrictions + (named if written.kind == "restricted" else ())
        return statements_of(written.parts[0], conditions + named, settled | _settled(named), only, needed=needed)
    if written.parts and written.kind != "alternatives":
        bounds = tuple(part for part in written.parts if _is_condition(part, written))
        found: list[Statement] = []
        for part in written.parts:
            if needed and part in bounds and (not _is_bound(part) or _limits_another(part, written)):
                continue
            beside = settled | _settled(tuple(other for other in written.parts if other is not part))
            named = conditions + (() if part in bounds else bounds)
            found += statements_of(part, named, beside, restrictions, needed=needed)
        return tuple(found)
    stated = _stated(written)
    if needed and written.kind == "chain":
        stated = stated[: len(written.relations)]
    ranges = {condition: run_of(condition) for condition in conditions}
    whole = tuple(named for named in ranges.values() if named)
    plain = tuple(condition for condition in conditions if not ranges[condition])
    return tuple(Statement(each, plain, whole, settled, joins, restrictions) for each, joins in stated)


def _settled(parts: tuple[Formula, ...]) -> frozenset[str]:
    r"""Symbols of which a part says more than a range of whole numbers: `n = 7`, `n = 1, 3`, `n = 2k`, `n \neq 2`."""
    return frozenset(
        member.name
        for part in parts
        if len(part.members) == 2 and part.relations[0] in (*EQUALITIES, "in", "!=") and not run_of(part)
        for member in part.members
        if member.op == "sym"
    )


def _is_bound(part: Formula) -> bool:
    """Whether a part is an inequality, or a chain of them."""
    return part.kind == "inequality" or (part.kind == "chain" and ORDERINGS.issuperset(part.relations))


def _limits_another(bound: Formula, written: Formula) -> bool:
    """Whether a bound limits a symbol that an equation beside it depends on, or speaks of such symbols only.

    What the equation gives is none of them: `T > T_0` beside `T = ...` is a result of its own.
    """
    limited = {member.name for member in bound.members if member.op == "sym"}
    for part in written.parts:
        if part.kind != "equation":
            continue
        subject = part.members[0]
        known = symbols(*part.members) - ({subject.name} if subject.op == "sym" else set())
        if limited & known or symbols(*bound.members) <= known:
            return True
    return False


def _is_condition(part: Formula, written: Formula) -> bool:
    """Whether a part only says for which values the others hold: a bound, a set, a range of whole numbers."""
    if part.kind == "inequality" or (_is_bound(part) and any(not _is_bound(other) for other in written.parts)):
        return True
    about = part.kind == "statement" and part.relations == ("in",) and part.members[0].op == "sym"
    if not (about or run_of(part)):
        return False
    name = part.members[0].name
    return any(
        name in symbols(*plain.members) for other in written.parts if other is not part for plain in plain_parts(other)
    )


def run_of(f: Formula) -> tuple[str, str] | None:
    r"""The symbol that a formula runs through whole numbers (`n = 1, 2, ...`, `n \in \mathbb{N}`), and which.

    The first of them, `N` where 0 is left open, `Z` for those of either sign.
    """
    if len(f.members) != 2 or f.members[0].op != "sym":
        return None
    subject, values = f.members
    if f.relations == ("in",) and values.op == "sym" and values.name in _WHOLE_NUMBERS:
        return subject.name, _WHOLE_NUMBERS[values.name]
    if f.relations != ("=",) or values.op != "list" or values.args[-1].op != "dots" or len(values.args) < 3:
        return None
    whole = [arg.value for arg in values.args[:-1]]
    first = whole[0]
    if first is None or first.denominator != 1 or whole != [first + k for k in range(len(whole))]:
        return None
    return subject.name, str(first)


def _united(written: Formula) -> Formula:
    """Alternatives between equations as the one equation that they are: `x = 1 or x = 2` is `(x - 1)(x - 2) = 0`."""
    plain = all(part.kind == "equation" for part in written.parts)
    if written.kind != "alternatives" or not plain or len(written.parts) > MAX_ALTERNATIVES:
        return written
    factors = tuple(Expr("sub", part.members) for part in written.parts)
    depends = frozenset(pair for part in written.parts for pair in part.depends)
    return formula((Expr("mul", factors), number(0)), ("=",), written.latex, depends)


def _stated(written: Formula) -> tuple[tuple[Formula, tuple[Expr, ...]], ...]:
    """The formulas with two members that a chain states, in order, with what joins them; any other states itself.

    A chain `a = b = c` states each pair of neighbours, and that its first member equals each of the others, as far
    as equalities join them (semantics C.1). Alternatives state their union, never one of them
    (semantics Z.8).
    """
    if written.kind != "chain":
        return ((_united(written), ()),)
    relations = written.relations[: MAX_CHAIN - 1]
    members = with_units_to_the_right(written.members[:MAX_CHAIN], relations)
    said = written.latex, written.depends
    stated = [
        (
            formula((members[k], members[k + 1]), (relation,), *said),
            members[k : k + 2] if relation in EQUALITIES else (),
        )
        for k, relation in enumerate(relations)
    ]
    for k in range(1, len(relations)):
        if not EQUALITIES.issuperset(relations[: k + 1]):
            break
        relation = "sim" if "sim" in relations[: k + 1] else "="
        stated.append((formula((members[0], members[k + 1]), (relation,), *said), members[: k + 2]))
    return tuple(stated)


def is_mention(written: Formula) -> bool:
    """A lone symbol or number, or a list of them: it names quantities and asserts nothing."""
    if written.kind != "expression":
        return False
    root = written.members[0]
    return not any(part.args for part in (root.args if root.op == "list" else (root,)))

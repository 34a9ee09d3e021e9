"""The statements in one formula: its parts with their conditions, the links of a chain, alternatives as one equation.

A text puts several things into one formula: `a = b = c`, `x = 1 or x = 2`, `E = 0 for r < R`, `n = 1, 2, ...`. Here
they are taken apart (semantics Z.8, C.1); `matching` compares them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import (
    EQUALITIES,
    ORDERINGS,
    Expr,
    Formula,
    formula,
    number,
    plain_parts,
    symbols,
    symbols_of,
)
from prism.budget import remembered
from prism.equivalence.numbers.stated import with_units_from_right

MAX_CHAIN = 12  # members; a longer chain is a list of guesses
MAX_ALTERNATIVES = 6  # joined by `or`; more are a list of guesses
FORMULAS_KEPT = 4096  # formulas whose statements are in the cache of a process
# Sets of whole numbers, each named by its first number; N may begin with 0 or with 1, Z has either sign.
_WHOLE_NUMBERS = {
    r"\mathbb{N}": "N", r"\mathbb{Z}": "Z", r"\mathbb{N}_0": "0", r"\mathbb{N}_{0}": "0", r"\mathbb{N}^{*}": "1",
    r"\mathbb{N}^{+}": "1", r"\mathbb{Z}^{+}": "1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    r"""One formula of at most two members that a text states, with what it says about the symbols.

    Attributes:
        formula: the equation, inequality or expression.
        conditions: formulas that the text names as its conditions.
        whole: (symbol, range) pairs of symbols that run through whole numbers, as (n, 1) for `n = 1, 2, ...`.
        settled: symbols of which the text says elsewhere which values they have (`n = 7`, `n = 1, 3, 5`).
        joins: for `a = c` from a chain `a = b = c`, the members from its left to its right side: a, b, c; else empty.
        restrictions: those conditions under which alone the text states it (`for`, `if`); others say where it holds.
        is_rounded: the sign before its last member is an approximate one: c of `a = b \approx c`.
        is_union: it lists alternatives, which its formula joins to one product.
    """

    formula: Formula
    conditions: tuple[Formula, ...] = ()
    whole: tuple[tuple[str, str], ...] = ()
    settled: frozenset[str] = frozenset()
    joins: tuple[Expr, ...] = ()
    restrictions: tuple[Formula, ...] = ()
    is_rounded: bool = False
    is_union: bool = False


def statements_of(
    written: Formula,
    conditions: tuple[Formula, ...] = (),
    settled: frozenset[str] = frozenset(),
    restrictions: tuple[Formula, ...] = (),
    *,
    needed: bool = False,
) -> tuple[Statement, ...]:
    """Take a formula apart into its statements, each with the conditions that the formula adds to it.

    Args:
        written: the formula as a text writes it.
        conditions, settled, restrictions: those of the formula that this one is a part of; see `Statement`.
        needed: for a reference: of a chain only its links, which a claim has to state one by one; no ranges and sets,
            and no bounds on symbols of an equation beside them.

    >>> from prism.algebra.expr import symbol
    >>> a, b, c = symbol("a"), symbol("b"), symbol("c")
    >>> [str(each.formula) for each in statements_of(formula((a, b, c), ("=", "=")))]
    ['a = b', 'b = c', 'a = c']
    """
    return _statements_of(written, conditions, settled, restrictions, needed)


@remembered(FORMULAS_KEPT)
def _statements_of(
    written: Formula,
    conditions: tuple[Formula, ...],
    settled: frozenset[str],
    restrictions: tuple[Formula, ...],
    needed: bool,
) -> tuple[Statement, ...]:
    """Take a formula apart; arguments as of `statements_of`."""
    if written.kind in ("conditional", "restricted"):
        named = tuple(plain for part in written.parts[1:] for plain in plain_parts(part))
        only = restrictions + (named if written.kind == "restricted" else ())
        return statements_of(
            written.parts[0], conditions + named, settled | _settled_symbols(named), only, needed=needed
        )
    if written.parts and written.kind != "alternatives":
        bounds = tuple(part for part in written.parts if _is_condition(part, written, needed=needed))
        found: list[Statement] = []
        for part in written.parts:
            if needed and part in bounds and not _is_needed_bound(part, written):
                continue
            beside = settled | _settled_symbols(tuple(other for other in written.parts if other is not part))
            named = bounds
            if part in bounds:
                is_said_of_set = len(bounds) == len(written.parts) and _is_inequality_or_chain(part)
                named = tuple(other for other in bounds if "in" in other.relations) if is_said_of_set else ()
            found += statements_of(part, conditions + named, beside, restrictions, needed=needed)
        return tuple(found)
    if (components := components_of(written)) is not None:
        return statements_of(components, conditions, settled, restrictions, needed=needed)
    stated = _stated_links(written)
    if needed and written.kind == "chain":
        stated = stated[: len(written.relations)]
    ranges = {condition: whole_number_range(condition) for condition in conditions}
    whole = tuple(named for named in ranges.values() if named)
    plain = tuple(condition for condition in conditions if not ranges[condition])
    return tuple(
        Statement(each, plain, whole, settled, joins, restrictions, is_rounded, is_union=written.kind == "alternatives")
        for each, joins, is_rounded in stated
    )


def components_of(written: Formula) -> Formula | None:
    """Return the system that an equation of two tuples states, entry by entry; None for any other formula."""
    sizes = {len(member.args) if member.op == "tuple" else 0 for member in written.members}
    if written.kind != "equation" or len(written.members) != 2 or len(sizes) > 1 or sizes == {0}:
        return None
    pairs = zip(*(member.args for member in written.members), strict=True)
    parts = tuple(formula(pair, written.relations, written.latex, written.depends) for pair in pairs)
    return Formula("system", (), (), written.latex, parts, written.depends)


def _settled_symbols(parts: tuple[Formula, ...]) -> frozenset[str]:
    r"""Return symbols equated with more than a range in one of the parts: `n = 7`, `n = 1, 3`, `n = 2k`, `n \neq 2`."""
    return frozenset(
        member.name
        for part in parts
        if len(part.members) == 2 and part.relations[0] in (*EQUALITIES, "in", "!=") and not whole_number_range(part)
        for member in part.members
        if member.op == "sym"
    )


def _is_inequality_or_chain(part: Formula) -> bool:
    """Return True if a part is an inequality `a < b`, or a chain of them."""
    return part.kind == "inequality" or (part.kind == "chain" and ORDERINGS.issuperset(part.relations))


def _limits_equation_beside(bound: Formula, written: Formula) -> bool:
    """Return True if a bound, one part of a formula, limits symbols on which an equation among the parts depends.

    The left side of the equation is none of them: `T > T_0` beside `T = ...` is a result of its own.
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


def _is_needed_bound(bound: Formula, written: Formula) -> bool:
    r"""Return True if a claim has to state a condition of a reference too: `-n \in A`, bounds of no equation beside."""
    if _is_inequality_or_chain(bound):
        return not _limits_equation_beside(bound, written)
    return bound.members[0].op != "sym" and not whole_number_range(bound)


def _is_condition(part: Formula, written: Formula, *, needed: bool) -> bool:
    r"""Return True if a part of a formula only says for which values the other parts hold.

    Bounds (`r < R`), sets (`r \in A`) and ranges (`n = 1, 2, ...`, `n - 1 = 0, 1, ...`) of symbols of the other parts
    do; in a claim so does a range of anything else, as in `\mathbb{Z} \in \mathbb{Z}`.
    """
    if part.kind == "inequality" or (
        _is_inequality_or_chain(part) and any(not _is_inequality_or_chain(other) for other in written.parts)
    ):
        return True
    is_range = whole_number_range(part) is not None or is_turned_range(part)
    about = part.kind == "statement" and part.relations == ("in",) and part.members[0].op == "sym"
    if not (about or is_range):
        return False
    if is_range and not needed:
        return True
    names = symbols(part.members[0])
    return any(
        not names.isdisjoint(symbols(*plain.members))
        for other in written.parts
        if other is not part
        for plain in plain_parts(other)
    )


def whole_number_range(f: Formula) -> tuple[str, str] | None:
    r"""Return (symbol, range) of `n = 1, 2, ...`, `n \in \mathbb{N}` or `n - 1 = 0, 1, ...`; None for another formula.

    The range is named by its first number; `N` if that may be 0 or 1, `Z` for numbers of either sign.
    """
    if len(f.members) != 2 or (multiple := _multiple_of_letter(f.members[0])) is None:
        return None
    name, slope, shift = multiple
    values = f.members[1]
    if f.relations == ("in",) and values.op == "sym" and values.name in _WHOLE_NUMBERS:
        known = _WHOLE_NUMBERS[values.name]
        if slope == 1 and not shift:
            return name, known
        is_shifted = abs(slope) == 1 and shift.denominator == 1
        return (name, known) if known == "Z" and is_shifted else None
    if not _is_listed_range(f):
        return None
    if values.args[0].value == 0 and all(
        arg.op == "pm" and len(arg.args) == 1 and arg.args[0].value == k
        for k, arg in enumerate(values.args[1:-1], start=1)
    ):
        return (name, "Z") if abs(slope) == 1 and shift.denominator == 1 else None
    whole = [(value - shift) / slope for value in map(_written_number, values.args[:-1]) if value is not None]
    first = whole[0] if len(whole) == len(values.args) - 1 else None
    if first is None or first.denominator != 1 or whole != [first + k for k in range(len(whole))]:
        return None
    return name, str(first)


def is_turned_range(f: Formula) -> bool:
    r"""Return True for a range of an expression that is none of its letter: `-n = 1, 2, ...`, `2n \in \mathbb{Z}`."""
    if len(f.members) != 2 or f.members[0].op == "sym" or _multiple_of_letter(f.members[0]) is None:
        return False
    is_of_whole = f.relations == ("in",) and not symbols(f.members[1]).isdisjoint(_WHOLE_NUMBERS)
    return (is_of_whole or _is_listed_range(f)) and whole_number_range(f) is None


def _is_listed_range(f: Formula) -> bool:
    r"""Return True for a range whose first numbers are written: `n = 1, 2, ...` or `n \in \{1, 2, ...\}`."""
    values = f.members[1]
    is_list = (f.relations, values.op) in ((("=",), "list"), (("in",), "set"))
    return is_list and len(values.args) >= 3 and values.args[-1].op == "dots"


def _written_number(node: Expr) -> Fraction | None:
    """Return the number that is written, with its sign or as a quotient; None for anything else."""
    if node.op == "neg":
        inner = _written_number(node.args[0])
        return None if inner is None else -inner
    if node.op == "div":
        above, below = map(_written_number, node.args)
        return above / below if above is not None and below else None
    return node.value


def _multiple_of_letter(node: Expr) -> tuple[str, Fraction, Fraction] | None:
    """Return the letter, its factor and what is added in an expression such as `2n - 1`; None for any other."""
    if node.op == "sym":
        return node.name, Fraction(1), Fraction(0)
    if node.op == "neg":
        found = _multiple_of_letter(node.args[0])
        return None if found is None else (found[0], -found[1], -found[2])
    if node.op not in ("add", "sub", "mul", "div") or len(node.args) != 2:
        return None
    numbers = [_written_number(arg) for arg in node.args]
    at = 1 if numbers[0] is None else 0  # of the number
    value, found = numbers[at], _multiple_of_letter(node.args[1 - at])
    if value is None or found is None or (node.op == "div" and at == 0):
        return None
    name, slope, shift = found
    if node.op in ("mul", "div"):
        factor = value if node.op == "mul" else 1 / value if value else Fraction(0)
        return (name, slope * factor, shift * factor) if factor else None
    if node.op == "add" or at == 1:
        return name, slope, shift + (value if node.op == "add" else -value)
    return name, -slope, value - shift


def _as_product(written: Formula) -> Formula:
    """Write alternatives `x = 1 or x = 2` as `(x - 1)(x - 2) = 0`; return any other formula as it is."""
    plain = all(part.kind == "equation" for part in written.parts)
    if written.kind != "alternatives" or not plain or len(written.parts) > MAX_ALTERNATIVES:
        return written
    factors = tuple(Expr("sub", part.members) for part in written.parts)
    depends = frozenset(pair for part in written.parts for pair in part.depends)
    return formula((Expr("mul", factors), number(0)), ("=",), written.latex, depends)


def _stated_links(written: Formula) -> tuple[tuple[Formula, tuple[Expr, ...], bool], ...]:
    """Return the formulas of two members that a chain states, with the members that each joins, and if it is rounded.

    `a = b = c` states `a = b` and `b = c`, and `a = c`, the first member with each of the others as far as equalities
    reach; `a > b = c` states `a > c`, where one of b and c is no number. Any other formula states itself, joining no
    members, and alternatives the product of `_as_product`.
    """
    if written.kind != "chain":
        return ((_as_product(written), (), written.relations[-1:] == ("approx",)),)
    relations = written.relations[: MAX_CHAIN - 1]
    members = with_units_from_right(written.members[:MAX_CHAIN], relations)
    source = written.latex, written.depends
    stated = [
        (
            formula((members[k], members[k + 1]), (relation,), *source),
            members[k : k + 2] if relation in EQUALITIES else (),
            relation == "approx",
        )
        for k, relation in enumerate(relations)
    ]
    for k in range(1, len(relations)):
        if not EQUALITIES.issuperset(relations[: k + 1]):
            bounds = [each for each in relations[: k + 1] if each not in EQUALITIES]
            if len(bounds) > 1 or bounds[0] not in ORDERINGS:
                break
            if symbols(*members[k : k + 2]):  # `n = 4 > 3` says which value n has, and no bound
                stated.append((formula((members[0], members[k + 1]), (bounds[0],), *source), (), False))
            continue
        relation = "sim" if "sim" in relations[: k + 1] else "="
        joined = formula((members[0], members[k + 1]), (relation,), *source)
        stated.append((joined, members[: k + 2], relations[k] == "approx"))
    return tuple(stated)


def is_mention(written: Formula) -> bool:
    """Return True for a lone symbol or number, or a list of them: it names quantities and states nothing."""
    if written.kind != "expression":
        return False
    root = written.members[0]
    return not any(part.args for part in (root.args if root.op == "list" else (root,)))


def definitions_of_own_letters(
    required: Statement, statement: Statement, beside: Iterable[Statement], fixed: Collection[str]
) -> tuple[Formula, ...]:
    r"""Return what a claim says of letters of its own: `\nu = \mu/\rho` beside `y = \nu v`.

    Such an equation has one letter of the claim's own, one side that is a letter, and no rival about the same letter.
    A statement without any letter of the reference, `n = 1, 2, \ldots`, is not compared by way of another one. Letters
    that the problem declares or gives (`fixed`) are not the claim's own.
    """
    known = symbols_of(required.formula)
    if known.isdisjoint(symbols_of(statement.formula)):
        return ()
    found: dict[str, list[Formula]] = {}
    for f in (each.formula for each in beside):
        new = symbols_of(f) - known
        is_plain = f.kind == "equation" and len(f.members) == 2 and any(side.op == "sym" for side in f.members)
        if is_plain and len(new) == 1 < len(symbols_of(f)) and new.isdisjoint(fixed):
            found.setdefault(min(new), []).append(f)
    return tuple(each[0] for each in found.values() if len(each) == 1)

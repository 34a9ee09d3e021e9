r"""The one change that makes a formula say what another one says.

A difference between two formulas is decided by repair. Each kind of it is a family of changes to one part of a formula:
its sign turned, a constant in front, another exponent, another function of the same argument, another symbol, a factor
or a term more or less. `required` tells what every part would have to be worth, so that a change is looked up and not
guessed: the constant is a quotient, the exponent a quotient of logarithms. What is found so is a candidate; it counts
only once the engine calls the changed formula and the other one equivalent, by the rules that grade.

Both formulas are changed in turn. A slip made before a student solved for something else is one part of the reference
and many of the student's: `v = \sqrt{E/m}` is a right consequence of `E = mv^2`, where the reference has half of it.

Several changes may do it, and the order is fixed: of the kinds as in `KINDS`, which begins with what is least and is
most often meant (a sign is also a factor -1, a factor v also an exponent of v, a term more is hardly ever anything
else); then a change to the student's formula, not of what it is solved for, nearest to the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from prism.algebra.expr import Expr, Formula, number, substitute, substituted, symbol, symbols, symbols_of, walk
from prism.diagnosis.required_values import (
    FUNCTIONS,
    Array,
    Place,
    Table,
    close,
    constant_of,
    constant_rows,
    parts_of,
    places_of,
    rows_close,
    sides_of,
    table_where,
    value_of,
)
from prism.physics.context import Context

KINDS = (
    "sign", "relation", "factor", "exponent", "function", "symbol", "constant", "quantity_extra", "quantity_missing",
    "term_extra", "term_missing",
)  # fmt: skip
"""Kinds of change in the order of preference, but that a factor that is a sum counts as a term.

`constant` is a factor that no short form names: 1.001, the logarithm of ten.
"""

_ORDER = tuple(dict.fromkeys(kind.partition("_")[0] for kind in KINDS))

MAX_BESIDE = 48  # parts of the other formula that may be the one that is missing
MAX_PAIRS = 40  # of symbols that are exchanged in a whole part
MAX_CHANGES = 400  # candidates of a pair of formulas
_PUT_IN = 2e-3  # relative, at which values agree where givens were put in: they were rounded
_LARGEST = 60  # numerator and denominator of a factor with a short form
_FORMS = sorted(
    ((root, power) for root in (1, 2, 3, 5) for power in range(-3, 4)), key=lambda form: (form[0] > 1) + abs(form[1])
)  # radicand and power of pi of such a factor, the shortest first
_POWERS = tuple(Fraction(n, d) for n, d in ((1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))
_EXPONENTS = 12  # largest denominator of one
_NAMED = frozenset(FUNCTIONS) - {"abs", "sqrt"}
_LOST = ("sin", "cos", "tan", "exp", "ln")  # functions whose name may have been forgotten
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_PI = Expr("const", name="pi")
_UNIT = r"\unit{"
_OF_THE_OTHER = {
    "term_extra": "term_missing", "term_missing": "term_extra", "quantity_extra": "quantity_missing",
    "quantity_missing": "quantity_extra",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a formula, and what stands in its place in the other.

    Attributes:
        kind: of KINDS, said of the student's formula: what it has wrong.
        has: the part as the student has it. should: as the reference has it.
        reference, claim: the two formulas, one of them changed.
        amount: of a factor what the student's part has to be multiplied by; of a term or a quantity, it; else None.
        depth: how far below the whole side the part stands.
        in_claim: the student's formula was changed, and not the reference.
        is_of_subject: the part is a lone symbol that is a whole side.
    """

    kind: str
    has: Expr
    should: Expr
    reference: Formula
    claim: Formula
    amount: Expr | None = None
    depth: int = 0
    in_claim: bool = True
    is_of_subject: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    kind: str
    instead: Expr
    amount: Expr | None = None


def changes_between(reference: Formula, claim: Formula, context: Context, values: Mapping[str, float]) -> list[Change]:
    """Candidates for the one change that makes two formulas the same, the best first; the engine has yet to agree.

    Args:
        reference, claim: with their units resolved, of one or two members each.
        values: of givens [SI]: where one stands in one formula only, its value is taken to be put into the other.
    """
    if len(reference.members) != len(claim.members) or sides_of(reference) is None or sides_of(claim) is None:
        return []
    found = list(_relations_turned(reference, claim))
    found += _sorted(_at_points(reference, claim, context, {}))
    fixed = {name: values[name] for name in symbols_of(reference) ^ symbols_of(claim) if name in values}
    if fixed and any(_is_a_value(node) for f in (reference, claim) for member in f.members for node in walk(member)):
        found += _sorted(_at_points(reference, claim, context, fixed))
    return list({(one.reference, one.claim): one for one in reversed(found)}.values())[::-1]


def _is_a_value(node: Expr) -> bool:
    """Whether a number may be that of a given, and is none of the few that stand in laws."""
    return node.op == "num" and (not node.name.isdigit() or len(node.name) > 1)


def _sorted(found: list[Change]) -> list[Change]:
    def rank(one: Change) -> tuple[int, bool, bool, bool, int]:
        kind = "term" if one.amount is not None and one.amount.op in ("add", "sub") else one.kind.partition("_")[0]
        return _ORDER.index(kind), not one.in_claim, one.kind == "term_missing", one.is_of_subject, one.depth

    return sorted(found, key=rank)


def _at_points(reference: Formula, claim: Formula, context: Context, fixed: Mapping[str, float]) -> list[Change]:
    """Changes of either formula that make it hold at points of the other."""
    found: list[Change] = []
    for held, changed, in_claim in ((reference, claim, True), (claim, reference, False)):
        table = table_where(held, symbols_of(changed), context, fixed)
        if table is None:
            continue
        for place, one in _changes(changed, held, table, is_put_in=bool(fixed)):
            edited = _with_part(changed, place, one.instead)
            is_subject = not place.path and place.node.op == "sym"
            change = _change(one, place.node, len(place.path), edited, held, in_claim=in_claim)
            found.append(replace(change, is_of_subject=is_subject))
            if len(found) >= MAX_CHANGES:
                break
        found += _exchanged_everywhere(changed, held, table, in_claim=in_claim)
    return found


def _change(found: _Found, part: Expr, depth: int, edited: Formula, held: Formula, *, in_claim: bool) -> Change:
    if in_claim:
        return Change(found.kind, part, found.instead, held, edited, found.amount, depth)
    kind = _OF_THE_OTHER.get(found.kind, found.kind)
    amount = found.amount
    if amount is not None and kind in ("factor", "constant"):
        amount = _over(number(1), amount)
    return Change(kind, found.instead, part, edited, held, amount, depth, in_claim=False)


def _with_part(f: Formula, place: Place, instead: Expr) -> Formula:
    members = list(f.members)
    members[place.member] = _put(members[place.member], place.path, instead)
    return replace(f, members=tuple(members), latex="")


def _put(root: Expr, path: Sequence[int], new: Expr) -> Expr:
    if not path:
        return new
    at = path[0]
    args = (*root.args[:at], _put(root.args[at], path[1:], new), *root.args[at + 1 :])
    return Expr(root.op, args, root.name, root.value)


def _relations_turned(reference: Formula, claim: Formula) -> Iterator[Change]:
    if claim.kind == "inequality":
        turned = replace(claim, relations=(_TURNED[claim.relations[0]],), latex="")
        yield Change("relation", claim.members[0], claim.members[0], reference, turned)


# Changes of one part. ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Shelf:
    """Parts that may be the one that is missing or too many, with what they are worth.

    Attributes:
        parts: of the other formula. worths: complex128[n_part, n_point].
        varying: of both formulas, those that are no mere numbers.
        powers: complex128[n_varying * n_power, n_point] of these, the powers of one after another.
    """

    parts: tuple[Expr, ...]
    worths: Array
    varying: tuple[Expr, ...]
    powers: Array


def _shelf(beside: tuple[Expr, ...], own: tuple[Expr, ...], table: Table) -> _Shelf:
    varying = tuple(
        part
        for part in dict.fromkeys((*beside, *own))
        if part.op not in ("num", "const") and constant_of(value_of(part, table)) is None
    )
    with np.errstate(all="ignore"):
        powers = [np.power(value_of(part, table), float(power)) for part in varying for power in _POWERS]
    empty = np.empty((0, table.n_point), dtype=np.complex128)
    worths = np.array([value_of(part, table) for part in beside]) if beside else empty
    return _Shelf(beside, worths, varying, np.array(powers) if powers else empty)


def _changes(changed: Formula, held: Formula, table: Table, *, is_put_in: bool) -> Iterator[tuple[Place, _Found]]:
    """What each part of a formula may be changed to, so that it holds at points of the other."""
    shelf = _shelf(parts_of(held)[:MAX_BESIDE], parts_of(changed)[:MAX_BESIDE], table)
    names = tuple(sorted(name for name in symbols_of(held) | symbols_of(changed) if not name.startswith(_UNIT)))
    for place in places_of(changed, table, parts_of(held)):
        is_unit = place.node.op == "sym" and place.node.name.startswith(_UNIT)
        if is_unit or close(place.value, place.required):
            continue
        for found in _in_numbers(place, _PUT_IN if is_put_in else 0.0):
            yield place, found
        if not is_put_in:  # of numbers alone too much fits
            for found in (*_in_form(place, table, names), *_by_factor(place, shelf)):
                yield place, found
            for found in _by_term(place, table, shelf):
                yield place, found


def _in_numbers(place: Place, within: float) -> Iterator[_Found]:
    """Another sign, another factor, another exponent."""
    node, has, needs = place.node, place.value, place.required
    if within:
        has = np.asarray(np.where(np.abs(has - needs) < within * np.abs(has), np.nan, has))  # only rounded
    with np.errstate(all="ignore"):
        ratio = constant_of(needs / has, within or 1e-7)
        if place.is_exponent and (value := constant_of(needs)) is not None:
            exponent = _rational(value, _EXPONENTS)
            if exponent is not None:
                yield _Found("exponent", number(exponent))
            return
        if ratio is not None and abs(ratio + 1) <= max(within, 1e-7):
            yield _Found("exponent" if place.is_exponent else "sign", _negated(node))
            return
        if ratio is not None and ratio != 0:
            named = short_form(ratio, within)
            amount = named or (None if within else _decimal(ratio))
            if amount is not None:
                worth = None if symbols(node) else constant_of(needs)
                instead = (None if worth is None else short_form(worth)) or _times(node, amount)
                yield _Found("factor" if named is not None else "constant", instead, amount)
            return
        if constant_of(has) is None:
            yield from _other_powers(place)


def _other_powers(place: Place) -> Iterator[_Found]:
    node, base, power, value = place.node, place.node, Fraction(1), place.value
    if node.op == "pow" and node.args[1].value is not None:
        base, power = node.args[0], node.args[1].value
    elif node.op == "sqrt":
        base, power = node.args[0], Fraction(1, 2)
    if not power:
        return
    found = constant_of(np.asarray(np.log(np.abs(place.required)) / np.log(np.abs(value)), dtype=np.complex128))
    exponent = None if found is None else _rational(found, _EXPONENTS)
    if exponent and close(np.power(value, float(exponent)), place.required):
        yield _Found("exponent", _raised(base, exponent * power))


def _raised(base: Expr, power: Fraction) -> Expr:
    """A power as people write it: a fraction to a negative one is turned over, one half is a root."""
    if base.op == "div" and power < 0:
        base, power = Expr("div", base.args[::-1]), -power
    if power == Fraction(1, 2):
        return Expr("sqrt", (base,))
    return base if power == 1 else Expr("pow", (base, number(power)))


def _in_form(place: Place, table: Table, names: tuple[str, ...]) -> Iterator[_Found]:
    """Another function of the same argument, another symbol, two symbols exchanged."""
    node, needs = place.node, place.required
    with np.errstate(all="ignore"):
        if node.op in _NAMED:
            inner = value_of(node.args[0], table)
            for other in sorted(_NAMED - {node.op}):
                if close(FUNCTIONS[other](inner), needs):
                    yield _Found("function", Expr(other, node.args))
            if close(inner, needs):
                yield _Found("function", node.args[0])
        if node.op != "num":
            for other in _LOST:
                if close(FUNCTIONS[other](place.value), needs):
                    yield _Found("function", Expr(other, (node,)))
    if node.op == "sym":
        for name in names:
            if name != node.name and close(value_of(symbol(name), table), needs):
                yield _Found("symbol", symbol(name))
    else:
        own = sorted(name for name in symbols(node) if not name.startswith(_UNIT))
        for one, other in list(combinations(own, 2))[:MAX_PAIRS] if node.args else ():
            new = substitute(node, {symbol(one): symbol(other), symbol(other): symbol(one)})
            if new != node and close(value_of(new, table), needs):
                yield _Found("symbol", new)


def _by_factor(place: Place, shelf: _Shelf) -> Iterator[_Found]:
    """A factor that is no number: one that the other formula has, or one too many."""
    if (place.path and not symbols(place.node)) or constant_of(place.required) is not None:
        return  # a number is no product of quantities, and no quantity is missing where a number belongs
    with np.errstate(all="ignore"):
        ratio = place.required / place.value
    inner = frozenset(walk(place.node))
    for hit in rows_close(shelf.powers, ratio):
        part, power = shelf.varying[hit // len(_POWERS)], _POWERS[hit % len(_POWERS)]
        amount = part if power == 1 else Expr("pow", (part, number(power)))
        kind = "quantity_extra" if power < 0 and part in inner else "quantity_missing"
        yield _Found(kind, _times(place.node, amount), part)


def _by_term(place: Place, table: Table, shelf: _Shelf) -> Iterator[_Found]:
    """A term too many, or one that the other formula has."""
    node = place.node
    with np.errstate(all="ignore"):
        gap = place.required - place.value
        ratios = gap / shelf.worths
    if node.op in ("add", "sub"):
        for k, arg in enumerate(node.args):
            worth = value_of(arg, table) * (-1 if node.op == "sub" and k else 1)
            if close(-worth, gap):
                rest = node.args[:k] + node.args[k + 1 :]
                left = _negated(rest[0]) if node.op == "sub" and not k else rest[0]
                yield _Found("term_extra", left if len(rest) == 1 else Expr("add", rest), arg)
                return  # and not the same term once more with the other sign
    for hit, ratio in constant_rows(ratios):
        part, factor = shelf.parts[hit], short_form(ratio)
        if factor is not None and part.op not in ("num", "const"):
            term = part if factor.value == 1 else _negated(part) if factor.value == -1 else _times(part, factor)
            yield _Found("term_missing", Expr("add", (node, term)), term)
    same = constant_of(gap)
    lone = None if same is None or constant_of(place.value) is not None else short_form(same)
    if lone is not None:
        yield _Found("term_missing", Expr("add", (node, lone)), lone)


def _exchanged_everywhere(changed: Formula, held: Formula, table: Table, *, in_claim: bool) -> Iterator[Change]:
    """One symbol written for another throughout, or two exchanged."""
    own = sorted(name for name in symbols_of(changed) if not name.startswith(_UNIT))
    others = sorted(name for name in symbols_of(held) if not name.startswith(_UNIT))
    pairs = [(one, other, False) for one in own for other in others if one != other]
    pairs += [(one, other, True) for one, other in combinations(own, 2)]
    for one, other, both in pairs[: 2 * MAX_PAIRS]:
        new = {symbol(one): symbol(other), **({symbol(other): symbol(one)} if both else {})}
        edited = replace(substituted(changed, new), latex="")
        sides = sides_of(edited)
        if sides is None or edited.members == changed.members or not _holds(sides, table):
            continue
        found = _Found("symbol", symbol(other))
        yield _change(found, symbol(one), len(own), edited, held, in_claim=in_claim)


def _holds(sides: tuple[Expr, Expr], table: Table) -> bool:
    one, two = (value_of(side, table) for side in sides)
    scale: Array = np.abs(one) + np.abs(two)
    for side in sides:
        for term in side.args if side.op in ("add", "sub") else ():
            scale = scale + np.abs(value_of(term, table))
    with np.errstate(all="ignore"):
        return close((one - two) / scale + 1, np.ones_like(one))


# Numbers. ---------------------------------------------------------------------------------------------------------


def _rational(value: complex, largest: int) -> Fraction | None:
    if abs(value.imag) > 1e-9 * abs(value):
        return None
    near = Fraction(value.real).limit_denominator(largest)
    return near if abs(float(near) - value.real) <= 1e-7 * max(abs(value.real), 1e-3) else None


def short_form(value: complex, within: float = 0.0) -> Expr | None:
    r"""A number as people write one: a short fraction, times a root, a power of \pi or of ten; None if it is none.

    Args:
        within: relative, how far off it may be; with any only the shortest are taken.

    >>> str(short_form(0.5)), str(short_form(6.283185307179586)), short_form(1.0271)
    ('1/2', '2*pi', None)
    """
    if abs(value.imag) > 1e-9 * abs(value) or not value.real:
        return None
    real, largest = value.real, _LARGEST if not within else 4
    for root, power in _FORMS:
        if within and root > 1:
            continue
        rest = real / (root**0.5 * np.pi**power)
        near = Fraction(rest).limit_denominator(largest)
        if near and abs(near.numerator) <= largest and abs(float(near) - rest) <= (within or 1e-9) * abs(rest):
            factors = [number(near)] if near != 1 or (root == 1 and not power) else []
            factors += [Expr("sqrt", (number(root),))] if root > 1 else []
            factors += [_PI if power == 1 else Expr("pow", (_PI, number(power)))] if power else []
            return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))
    tens = np.log10(abs(real))
    if abs(tens - round(tens)) <= max(within, 1e-9) and round(tens):
        return number(Fraction(10) ** round(tens) * (1 if real > 0 else -1))
    return None


def _decimal(value: complex) -> Expr | None:
    """A real factor without a short form."""
    return None if abs(value.imag) > 1e-9 * abs(value) else number(Fraction(value.real).limit_denominator(10**9))


def _negated(node: Expr) -> Expr:
    return node.args[0] if node.op == "neg" else Expr("neg", (node,))


def _times(node: Expr, amount: Expr) -> Expr:
    if amount.op == "pow" and amount.args[1].value == -1:
        return _over(node, amount.args[0])
    return Expr("mul", (amount, node))


def _over(upper: Expr, lower: Expr) -> Expr:
    if upper.value is not None and lower.value:
        return number(upper.value / lower.value)
    return Expr("div", (upper, lower))

r"""Find the one change of one part that makes a formula equivalent to another formula.

A difference between two formulas is decided by repair. Each kind of difference is a family of changes to one part of a
formula: the opposite sign, a constant factor, another exponent, another function of the same argument, another symbol,
a factor or a term more or less. `required_values` gives the value that every part would need, so a change is computed
and not guessed: the constant is a quotient, the exponent a quotient of logarithms. The result is a candidate; it counts
only once the engine calls the changed formula and the other one equivalent, by the rules that grade.

Both formulas are changed in turn. A slip made before a student solved for something else is one part of the reference
and many of the student's: `v = \sqrt{E/m}` is a right consequence of `E = mv^2`, where the reference has half of it.

Several changes may do it, and the order is fixed: by kind as in `KINDS`, which begins with the smallest and most
frequent slip (a sign is also a factor -1, a factor v also an exponent of v, a missing term explains almost anything);
then a change to the student's formula, not of the symbol that it is solved for, nearest to the whole side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice

import numpy as np

from prism.algebra.expr import Expr, Formula, number, substitute, substituted, symbol, symbols, symbols_of, walk
from prism.algebra.symbols import symbol_of
from prism.budget import STEP, charge, charge_steps
from prism.diagnosis.required_values import (
    Place,
    PointTable,
    agreeing_rows,
    agrees,
    common_value,
    constant_rows,
    distinct_parts,
    draw_table,
    evaluate_renamed,
    evaluated_nodes,
    exchanged_values,
    first_points,
    places_of,
    rows_not_refuted,
    terms_of,
    two_sides,
    values_of,
)
from prism.engine.tape import Floats
from prism.physics.context import Context

KINDS = (
    "sign", "relation", "factor", "exponent", "function", "symbol", "constant", "quantity_extra", "quantity_missing",
    "term_extra", "term_missing",
)  # fmt: skip
"""Kinds of change in the order of preference; a factor that is a sum counts as a term.

`constant` is a factor that no short form names: 1.001, the logarithm of ten.
"""

_ORDER = tuple(dict.fromkeys(kind.partition("_")[0] for kind in KINDS))

MAX_BESIDE = 48  # parts of the other formula that are tried as the missing one
MAX_PAIRS = 40  # pairs of symbols that are exchanged in one part
MAX_CHANGES = 400  # candidates for one pair of formulas
_PLACE, _CHANGE = 30 * STEP, 5  # operations of a place that is looked at; steps of a candidate, and again for each node
_ROUNDING = 2e-3  # relative tolerance where givens were inserted: they were rounded
_LARGEST = 60  # largest numerator and denominator of a factor with a short form
_FORMS = sorted(
    ((root, power) for root in (1, 2, 3, 5) for power in range(-3, 4)), key=lambda form: (form[0] > 1) + abs(form[1])
)  # radicand and power of pi of such a factor, the shortest first
_FORM_SIZES = np.array([[root**0.5 * np.pi**power] for root, power in _FORMS])
_FORM = 20 * STEP  # operations of the search for a short form
_POWERS = tuple(Fraction(n, d) for n, d in ((1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2)))
_EXPONENTS_TRIED = np.array([[float(power)] for power in _POWERS])
_EXPONENTS = 12  # largest denominator of an exponent
_FUNCTIONS: Mapping[str, np.ufunc] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "ln": np.log, "log10": np.log10,
    "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
_OMITTED = ("sin", "cos", "tan", "exp", "ln")  # functions that a student may have left out
_REVERSED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_PI = Expr("const", name="pi")
_OPPOSITE = {
    "term_extra": "term_missing", "term_missing": "term_extra", "quantity_extra": "quantity_missing",
    "quantity_missing": "quantity_extra",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """A replacement of one part of one formula after which two formulas agree at the drawn points.

    Attributes:
        kind: key in KINDS; it states what the student's formula has wrong, whichever formula is changed.
        has: the part as the student has it. should: as the reference has it.
        reference, claim: the two formulas, one of them changed.
        amount: the factor that the student's part has to be multiplied by, or the term or quantity itself; else None.
        depth: number of levels of the part below its side.
        in_claim: the student's formula was changed, not the reference.
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
class _Replacement:
    """A replacement for one part: kind of change, new part, and the factor, term or quantity added or dropped."""

    kind: str
    new_part: Expr
    amount: Expr | None = None


def changes_between(reference: Formula, claim: Formula, context: Context, values: Mapping[str, float]) -> list[Change]:
    """Return changes of one part that may make two formulas equivalent, best first; the caller has to verify them.

    Args:
        reference, claim: in base units, with one or two members each.
        values: values of givens [SI]. A given that occurs in one formula only may have been inserted into the other.
    """
    if len(reference.members) != len(claim.members) or two_sides(reference) is None or two_sides(claim) is None:
        return []
    found = list(_reversed_relation(reference, claim))
    found += _by_preference(_changes_at_points(reference, claim, context, {}))
    fixed = {name: values[name] for name in symbols_of(reference) ^ symbols_of(claim) if name in values}
    if fixed and any(
        _may_be_given_value(node) for f in (reference, claim) for member in f.members for node in walk(member)
    ):
        found += _by_preference(_changes_at_points(reference, claim, context, fixed))
    return list({(one.reference, one.claim): one for one in reversed(found)}.values())[::-1]


def _may_be_given_value(node: Expr) -> bool:
    """Return True if a number may be a value inserted for a given: `9.81` or `12`, but not `2`."""
    return node.op == "num" and (not node.name.isdigit() or len(node.name) > 1)


def _by_preference(found: list[Change]) -> list[Change]:
    """Return the changes sorted by kind (order of `KINDS`), then student's formula first, then outermost part first."""

    def rank(one: Change) -> tuple[int, bool, bool, bool, int]:
        """Return the sort key of a change; smaller is preferred."""
        kind = "term" if one.amount is not None and one.amount.op in ("add", "sub") else one.kind.partition("_")[0]
        return _ORDER.index(kind), not one.in_claim, one.kind == "term_missing", one.is_of_subject, one.depth

    return sorted(found, key=rank)


def _changes_at_points(
    reference: Formula, claim: Formula, context: Context, fixed: Mapping[str, float]
) -> list[Change]:
    """Return the changes of one part of either formula that make it hold at points where the other holds.

    Args:
        fixed: values of givens that may have been inserted [SI]; only numbers are changed if there are any.
    """
    found: list[Change] = []
    for fixed_formula, changed, in_claim in ((reference, claim, True), (claim, reference, False)):
        table = draw_table(fixed_formula, changed, context, fixed)
        if table is None:
            continue
        for place, one in _part_changes(changed, fixed_formula, table, is_put_in=bool(fixed)):
            charge_steps(_CHANGE * (1 + len(place.path)))
            edited = _replace_part(changed, place, one.new_part)
            is_subject = not place.path and place.node.op == "sym"
            change = _as_change(one, place.node, len(place.path), edited, fixed_formula, in_claim=in_claim)
            found.append(replace(change, is_of_subject=is_subject))
            if len(found) >= MAX_CHANGES:
                break
        found += _symbol_changes_throughout(changed, fixed_formula, table, in_claim=in_claim)
    return found


def _as_change(
    found: _Replacement, part: Expr, depth: int, edited: Formula, fixed_formula: Formula, *, in_claim: bool
) -> Change:
    """Return the `Change` for a replacement of `part` in one of the two formulas, worded for the student's formula.

    Args:
        depth: levels of `part` below its side. edited: the formula after the replacement.
        fixed_formula: the other formula. in_claim: the edited formula is the student's.
    """
    if in_claim:
        return Change(found.kind, part, found.new_part, fixed_formula, edited, found.amount, depth)
    kind = _OPPOSITE.get(found.kind, found.kind)
    amount = found.amount
    if amount is not None and kind in ("factor", "constant"):
        amount = _quotient(number(1), amount)
    return Change(kind, found.new_part, part, edited, fixed_formula, amount, depth, in_claim=False)


def _replace_part(f: Formula, place: Place, new_part: Expr) -> Formula:
    """Return the formula with the part at `place` replaced by `new_part`."""
    members = list(f.members)
    members[place.member] = _replace_at(members[place.member], place.path, new_part)
    return replace(f, members=tuple(members), latex="")


def _replace_at(root: Expr, path: Sequence[int], new: Expr) -> Expr:
    """Return the expression with the part at `path` (argument positions from the root) replaced by `new`."""
    if not path:
        return new
    at = path[0]
    args = (*root.args[:at], _replace_at(root.args[at], path[1:], new), *root.args[at + 1 :])
    return Expr(root.op, args, root.name, root.value)


def _reversed_relation(reference: Formula, claim: Formula) -> Iterator[Change]:
    """Yield the change that turns `<` of the student's formula into `>`, or back; nothing if it is no inequality."""
    if claim.kind == "inequality":
        turned = replace(claim, relations=(_REVERSED[claim.relations[0]],), latex="")
        yield Change("relation", claim.members[0], claim.members[0], reference, turned)


# Changes of one part. ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _PartIndex:
    """Parts that may be a missing or surplus factor or term of the changed formula, with their values at the points.

    Attributes:
        parts: parts of the other formula. values: float64[n_part, n_point].
        varying: parts of both formulas that vary between the points.
        powers: float64[n_varying * n_power, n_point], the _POWERS of each varying part in turn.
    """

    parts: tuple[Expr, ...]
    values: Floats
    varying: tuple[Expr, ...]
    powers: Floats


def _index_parts(beside: tuple[Expr, ...], own: tuple[Expr, ...], table: PointTable) -> _PartIndex:
    """Evaluate parts of both formulas at the points: `beside` of the fixed formula, `own` of the changed one."""
    varying = tuple(
        part
        for part in dict.fromkeys((*beside, *own))
        if part.op not in ("num", "const") and common_value(values_of(part, table)) is None
    )
    charge_steps(len(varying))
    with np.errstate(all="ignore"):
        powers = [np.power(values_of(part, table), _EXPONENTS_TRIED) for part in varying]
    empty = np.empty((0, table.n_point))
    values = np.array([values_of(part, table) for part in beside]) if beside else empty
    return _PartIndex(beside, values, varying, np.concatenate(powers) if powers else empty)


def _part_changes(
    changed: Formula, fixed_formula: Formula, table: PointTable, *, is_put_in: bool
) -> Iterator[tuple[Place, _Replacement]]:
    """Yield (place, replacement) for each replacement of one part that makes `changed` hold where `fixed_formula` does.

    Args:
        table: points at which `fixed_formula` holds.
        is_put_in: values of givens may have been inserted, so only numbers are replaced.
    """
    beside, parts, few = distinct_parts(fixed_formula), distinct_parts(changed), first_points(table)
    index = _index_parts(beside[:MAX_BESIDE], parts[:MAX_BESIDE], table)
    names = tuple(
        sorted(name for name in symbols_of(fixed_formula) | symbols_of(changed) if not symbol_of(name).is_unit)
    )
    for place in places_of(changed, table, beside):
        is_unit = place.node.op == "sym" and symbol_of(place.node.name).is_unit
        charge(_PLACE)
        if is_unit or agrees(place.value, place.required):
            continue
        for found in _numeric_changes(place, _ROUNDING if is_put_in else 0.0):
            yield place, found
        if not is_put_in:  # with inserted numbers too many replacements agree by chance
            for found in (
                *_function_and_symbol_changes(place, table, few, names, changed),
                *_factor_changes(place, index),
            ):
                yield place, found
            for found in _term_changes(place, table, index):
                yield place, found


def _numeric_changes(place: Place, within: float) -> Iterator[_Replacement]:
    """Yield replacements of a part by its negative, a constant multiple or a power that give the values needed there.

    Args:
        within: relative tolerance if givens were inserted; 0 for exact formulas.
    """
    node, has, needs = place.node, place.value, place.required
    if within:
        has = np.where(np.abs(has - needs) < within * np.abs(has), np.nan, has)  # agrees within rounding
    with np.errstate(all="ignore"):
        ratio = common_value(needs / has, within or 1e-7)
        if place.is_exponent and (value := common_value(needs)) is not None:
            exponent = _near_fraction(value, _EXPONENTS)
            if exponent:
                yield _Replacement("exponent", number(exponent))
            return
        if ratio is not None and abs(ratio + 1) <= max(within, 1e-7):
            yield _Replacement("exponent" if place.is_exponent else "sign", _negated(node))
            return
        if ratio is not None and ratio != 0:
            named = short_form(ratio, within)
            amount = named or (None if within else _decimal(ratio))
            if amount is not None:
                constant = None if symbols(node) else common_value(needs)
                new_part = (None if constant is None else short_form(constant)) or _times_amount(node, amount)
                yield _Replacement("factor" if named is not None else "constant", new_part, amount)
            return
        if common_value(has) is None:
            yield from _exponent_changes(place)


def _exponent_changes(place: Place) -> Iterator[_Replacement]:
    """Yield the part with another exponent (`r^3` for `r^2`) if that gives the values needed at its place."""
    node, base, power, value = place.node, place.node, Fraction(1), place.value
    if node.op == "pow" and node.args[1].value is not None:
        base, power = node.args[0], node.args[1].value
    elif node.op == "sqrt":
        base, power = node.args[0], Fraction(1, 2)
    if not power:
        return
    with np.errstate(all="ignore"):
        found = common_value(np.log(np.abs(place.required)) / np.log(np.abs(value)))
        exponent = None if found is None else _near_fraction(found, _EXPONENTS)
        if exponent and agrees(np.power(value, float(exponent)), place.required):
            yield _Replacement("exponent", _plain_power(base, exponent * power))


def _plain_power(base: Expr, power: Fraction) -> Expr:
    """Return `base` to a power in plain form: `b/a` for `(a/b)^{-1}`, a root for the power one half."""
    if base.op == "div" and power < 0:
        base, power = Expr("div", base.args[::-1]), -power
    if power == Fraction(1, 2):
        return Expr("sqrt", (base,))
    return base if power == 1 else Expr("pow", (base, number(power)))


def _function_and_symbol_changes(
    place: Place, table: PointTable, few: PointTable, names: Sequence[str], changed: Formula
) -> Iterator[_Replacement]:
    """Yield another function of the same argument, another symbol, or two exchanged, that has the needed values.

    Args:
        few: the first points of the table.
    """
    node, needs = place.node, place.required
    if node.op in _FUNCTIONS:
        yield from (
            _Replacement("function", Expr(op, node.args))
            for op in _agreeing_functions([*_FUNCTIONS], node.args[0], needs, table)
        )
        if agrees(values_of(node.args[0], table), needs):
            yield _Replacement("function", node.args[0])
    if node.op != "num":
        yield from (
            _Replacement("function", Expr(op, (node,))) for op in _agreeing_functions(_OMITTED, node, needs, table)
        )
    if node.op == "sym":
        rows = np.array([values_of(symbol(name), table) for name in names])
        for hit in agreeing_rows(rows, needs):
            if names[hit] != node.name:
                yield _Replacement("symbol", symbol(names[hit]))
    else:
        own = sorted(name for name in symbols(node) if not symbol_of(name).is_unit)
        for one, other in _agreeing_exchanges(
            changed, place, table, few, list(islice(combinations(own, 2), MAX_PAIRS))
        ):
            new = substitute(node, {symbol(one): symbol(other), symbol(other): symbol(one)})
            if new != node:
                yield _Replacement("symbol", new)


def _agreeing_exchanges(
    changed: Formula, place: Place, table: PointTable, few: PointTable, pairs: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the pairs of symbols that, exchanged in a part, give it the needed values; arguments as above."""
    if pairs:
        rows = exchanged_values(changed, few, pairs, place.node)
        pairs = [pairs[k] for k in rows_not_refuted(rows, place.required[: few.n_point])]
    if not pairs:
        return []
    rows = exchanged_values(changed, table, pairs, place.node)
    return [pairs[k] for k in agreeing_rows(rows, place.required)]


def _agreeing_functions(functions: Sequence[str], argument: Expr, needed: Floats, table: PointTable) -> Iterator[str]:
    """Yield the names of the functions whose value at the argument equals the needed values at all points."""
    values = values_of(argument, table)
    charge(len(functions) * STEP)
    with np.errstate(all="ignore"):
        rows = np.array([_FUNCTIONS[op](values) for op in functions])
    yield from (functions[k] for k in agreeing_rows(rows, needed))


def _factor_changes(place: Place, index: _PartIndex) -> Iterator[_Replacement]:
    """Yield the part multiplied or divided by a quantity of either formula, if that gives the values needed there."""
    if (place.path and not symbols(place.node)) or common_value(place.required) is not None:
        return  # no quantity is missing from a number, or where a number is needed
    with np.errstate(all="ignore"):
        ratio = place.required / place.value
    hits = agreeing_rows(index.powers, ratio)
    inner = frozenset(walk(place.node)) if hits.size else frozenset()
    for hit in hits:
        part, power = index.varying[hit // len(_POWERS)], _POWERS[hit % len(_POWERS)]
        amount = part if power == 1 else Expr("pow", (part, number(power)))
        kind = "quantity_extra" if power < 0 and part in inner else "quantity_missing"
        yield _Replacement(kind, _times_amount(place.node, amount), part)


def _term_changes(place: Place, table: PointTable, index: _PartIndex) -> Iterator[_Replacement]:
    """Yield the part with one term dropped, or a term of the other formula added, if that gives the needed values."""
    node = place.node
    with np.errstate(all="ignore"):
        gap = place.required - place.value
        ratios = gap / index.values
    if node.op in ("add", "sub"):
        charge_steps(len(node.args))
        terms = [values_of(arg, table) * (1 if node.op == "sub" and k else -1) for k, arg in enumerate(node.args)]
        for k in agreeing_rows(np.array(terms), gap):
            rest = node.args[:k] + node.args[k + 1 :]
            left = _negated(rest[0]) if node.op == "sub" and not k else rest[0]
            yield _Replacement("term_extra", left if len(rest) == 1 else Expr("add", rest), node.args[k])
            return  # the same term with the opposite sign would be found too
    for hit, ratio in constant_rows(ratios):
        part, factor = index.parts[hit], short_form(ratio)
        if factor is not None and part.op not in ("num", "const"):
            term = part if factor.value == 1 else _negated(part) if factor.value == -1 else _times_amount(part, factor)
            yield _Replacement("term_missing", Expr("add", (node, term)), term)
    are_equivalent = common_value(gap)
    lone = None if are_equivalent is None or common_value(place.value) is not None else short_form(are_equivalent)
    if lone is not None:
        yield _Replacement("term_missing", Expr("add", (node, lone)), lone)


def _symbol_changes_throughout(
    changed: Formula, fixed_formula: Formula, table: PointTable, *, in_claim: bool
) -> Iterator[Change]:
    """Yield the changes that replace one symbol everywhere in `changed`, or exchange two, so that both formulas agree.

    Args:
        table: points at which `fixed_formula` holds. in_claim: `changed` is the student's formula.
    """
    own = sorted(name for name in symbols_of(changed) if not symbol_of(name).is_unit)
    others = sorted(name for name in symbols_of(fixed_formula) if not symbol_of(name).is_unit)
    pairs = [(one, other, False) for one in own for other in others if one != other]
    pairs += [(one, other, True) for one, other in combinations(own, 2)]
    pairs = pairs[: 2 * MAX_PAIRS]
    for hit in _agreeing_renamings(changed, table, [{a: b, b: a} if is_both else {a: b} for a, b, is_both in pairs]):
        one, other, is_both = pairs[hit]
        new = {symbol(one): symbol(other), **({symbol(other): symbol(one)} if is_both else {})}
        edited = replace(substituted(changed, new), latex="")
        if edited.members != changed.members:
            yield _as_change(
                _Replacement("symbol", symbol(other)), symbol(one), len(own), edited, fixed_formula, in_claim=in_claim
            )


def _agreeing_renamings(f: Formula, table: PointTable, renamings: Sequence[Mapping[str, str]]) -> list[int]:
    """Return the indices of the renamings of symbols with which a formula holds at the points of a table."""
    if not renamings:
        return []
    few = first_points(table)
    kept = rows_not_refuted(_scaled_residuals(f, few, renamings) + 1, np.ones(few.n_point))
    if not kept.size:
        return []
    rows = _scaled_residuals(f, table, [renamings[k] for k in kept]) + 1
    return [int(kept[k]) for k in agreeing_rows(rows, np.ones(table.n_point))]


def _scaled_residuals(f: Formula, table: PointTable, renamings: Sequence[Mapping[str, str]]) -> Floats:
    """Return left less right side over the size of all terms, with symbols renamed: float64[n_renaming, n_point]."""
    sides, nodes = two_sides(f) or (), evaluated_nodes(f)
    values = evaluate_renamed(nodes, table, renamings)
    place = {node: k for k, node in enumerate(nodes)}
    left, right = (values[:, place[side]] for side in sides)
    terms = [term for side in sides if side.op in ("add", "sub") for term in terms_of((side,))]
    charge_steps(len(terms) + 5)
    with np.errstate(all="ignore"):
        scale = np.abs(values[:, [place[node] for node in (*sides, *terms)]]).sum(axis=1)
        return np.asarray((left - right) / scale)


# Numbers. ---------------------------------------------------------------------------------------------------------


def _near_fraction(value: float, largest: int) -> Fraction | None:
    """Return the fraction with denominator up to `largest` that equals a value to 1e-7; None if there is none."""
    near = Fraction(value).limit_denominator(largest)
    return near if abs(float(near) - value) <= 1e-7 * max(abs(value), 1e-3) else None


def short_form(value: float, within: float = 0.0) -> Expr | None:
    r"""Return a number as a short fraction times a root, a power of \pi or a power of ten; None if it has no such form.

    Args:
        within: relative tolerance; if it is not 0, only the shortest forms are tried.

    >>> str(short_form(0.5)), str(short_form(6.283185307179586)), short_form(1.0271)
    ('1/2', '2*pi', None)
    """
    if not value:
        return None
    largest = _LARGEST if not within else 4
    charge(_FORM)
    scaled = np.abs(value / _FORM_SIZES) * np.arange(1, largest + 1)  # float64[n_form, n_denominator]
    is_near = np.abs(scaled - np.rint(scaled)) <= 2 * (within or 1e-9) * scaled
    for hit in np.flatnonzero(is_near.any(axis=1)):
        root, power = _FORMS[hit]
        if within and root > 1:
            continue
        rest = value / (root**0.5 * np.pi**power)
        near = Fraction(rest).limit_denominator(largest)
        if near and abs(near.numerator) <= largest and abs(float(near) - rest) <= (within or 1e-9) * abs(rest):
            factors = [number(near)] if near != 1 or (root == 1 and not power) else []
            factors += [Expr("sqrt", (number(root),))] if root > 1 else []
            factors += [_PI if power == 1 else Expr("pow", (_PI, number(power)))] if power else []
            return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))
    tens = np.log10(abs(value))
    if abs(tens - round(tens)) <= max(within, 1e-9) and round(tens):
        return number(Fraction(10) ** round(tens) * (1 if value > 0 else -1))
    return None


def _decimal(value: float) -> Expr:
    """Return a number as an expression, rounded to a fraction with a denominator of at most 10^9."""
    return number(Fraction(value).limit_denominator(10**9))


def _negated(node: Expr) -> Expr:
    """Return `-x` for `x` and `x` for `-x`."""
    return node.args[0] if node.op == "neg" else Expr("neg", (node,))


def _times_amount(node: Expr, amount: Expr) -> Expr:
    """Return `amount * node`; an amount `x^{-1}` gives the fraction `node/x`."""
    if amount.op == "pow" and amount.args[1].value == -1:
        return _quotient(node, amount.args[0])
    return Expr("mul", (amount, node))


def _quotient(upper: Expr, lower: Expr) -> Expr:
    """Return the quotient of two expressions, as one number if both are numbers."""
    if upper.value is not None and lower.value:
        return number(upper.value / lower.value)
    return Expr("div", (upper, lower))

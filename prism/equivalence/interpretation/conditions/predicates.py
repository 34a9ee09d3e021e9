r"""What a formula says of the values of its letters, as a condition that holds at a point or not.

An equation, an inequality, a chain, a membership, a set by its condition, alternatives and signs (`\pm`), a system:
each becomes comparisons joined by `and`, `or`, `not`. A letter that runs through whole numbers makes a family:
`k = n\pi/L, n \in \mathbb{Z}` holds for k if it does so for one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from prism.algebra.alternatives import signed_branches
from prism.algebra.expr import EQUALITIES, ORDERINGS, Expr, Formula, is_infinite, number, substitute, symbol, walk
from prism.algebra.expr import symbols as letters_in
from prism.algebra.symbols import symbol_of
from prism.algebra.terms import whole_number
from prism.equivalence.interpretation.values import Unvalued
from prism.latex.parsing.marks import OTHERWISE, condition_in, worded_condition

ELEMENT = "#element"
"""The name of an element of a set that is written without a letter, as an interval."""
_NUMBERS = {r"\mathbb{N}": 0, r"\mathbb{Z}": None, r"\mathbb{N}_0": 0, r"\mathbb{N}^{*}": 1, r"\mathbb{N}^{+}": 1,
            r"\mathbb{Z}^{+}": 1, r"\mathbb{N}_{0}": 0}  # fmt: skip
_REALS = (r"\mathbb{R}", "R")
_FAR_DOWN = 5000  # below which no whole number is tested for being odd or even
_LONGEST = 60  # letters of a condition that is read again
_WITHOUT = r"\setminus"


class NoLaw(Unvalued):
    """Raised for a list of numbers with dots that do not go on steadily, as `2, 3, 5, ...`."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two expressions and the sign between them: `<`, `<=`, `>`, `>=`, `=`, `!=`."""

    sign: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Whole:
    """A letter is a whole number.

    Attributes:
        name: the letter.
        least: the first number; None if there is none.
        step: from one number to the next.
    """

    name: str
    least: int | None = None
    step: int = 1


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions of which all hold (`all`), one holds (`any`), the only one does not (`not`), or one of a family."""

    kind: str
    parts: tuple[Predicate, ...]
    letter: str = ""


Predicate = Comparison | Whole | Junction


def all_of(*parts: Predicate) -> Predicate:
    """Return that all conditions hold."""
    return parts[0] if len(parts) == 1 else Junction("all", parts)


def any_of(*parts: Predicate) -> Predicate:
    """Return that one condition holds."""
    return parts[0] if len(parts) == 1 else Junction("any", parts)


def walk_predicate(predicate: Predicate) -> Iterator[Predicate]:
    """Yield a condition and all that it is made of."""
    yield predicate
    if isinstance(predicate, Junction):
        for part in predicate.parts:
            yield from walk_predicate(part)


def comparisons_of(predicate: Predicate) -> list[Comparison]:
    """Return all comparisons in a condition."""
    return [each for each in walk_predicate(predicate) if isinstance(each, Comparison)]


def names_of(predicate: Predicate) -> frozenset[str]:
    """Return the letters of a condition but those that number a family."""
    if isinstance(predicate, Comparison):
        return frozenset(letters_in(predicate.left, predicate.right))
    if isinstance(predicate, Whole):
        return frozenset((predicate.name,))
    return frozenset().union(*map(names_of, predicate.parts)) - {predicate.letter}


def read_predicate(f: Formula) -> Predicate:
    """Return what a formula says; Unvalued for a formula that is read in no such way."""
    if f.kind in ("system", "conditional", "restricted"):
        return _with_families(f, [read_predicate(part) for part in f.parts])
    if f.kind == "alternatives":
        return any_of(*map(read_predicate, f.parts))
    if any(node.op == "pm" for member in f.members for node in walk(member)) and f.kind in ("equation", "statement"):
        if f.members[-1].op in ("set", "list"):
            return _read_relation(f.relations[0], *f.members)
        return any_of(*(_read_relation(each.relations[0], *each.members) for each in signed_branches(f)))
    if f.kind == "expression":
        return _belongs(symbol(ELEMENT), f.members[0])
    links = zip(pairwise(f.members), f.relations, strict=True)
    return all_of(*(_read_relation(sign, left, right) for (left, right), sign in links))


def read_case(condition: Expr) -> Predicate | None:
    r"""Return the condition of a case, `x < 0`, `n \text{ odd}`, `n = 2, 4, \ldots`; None for `otherwise`.

    Errors:
        Unvalued: other words.
    """
    condition = worded_condition(condition)
    if condition.op == "relation":
        return _read_condition(condition)
    if condition.op != "sym":
        raise Unvalued("a condition")
    if condition == OTHERWISE:
        return None
    said = condition_in(condition) if "text" not in condition.name and len(condition.name) <= _LONGEST else None
    if said is None:
        raise Unvalued("a condition in words")
    if said.kind == "expression":
        raise Unvalued("a letter that is no condition")
    return read_predicate(said)


def _read_relation(sign: str, left: Expr, right: Expr) -> Predicate:
    """Return what one relation says; raises Unvalued for other signs."""
    if sign == "in":
        subjects = left.args if left.op == "list" else (left,)
        return all_of(*(_belongs(subject, right) for subject in subjects))
    if sign == "notin":
        return Junction("not", (_belongs(left, right),))
    if sign in EQUALITIES and right.op == "list" and left.op in ("sym", "list"):
        subjects = left.args if left.op == "list" else (left,)
        return all_of(*(_listed(subject, right.args) for subject in subjects))
    if sign in EQUALITIES:
        sign = "="
    if sign not in ("=", "!=") and sign not in ORDERINGS:
        raise Unvalued("the relation " + sign)
    return Comparison(sign, left, right)


def _belongs(subject: Expr, where: Expr) -> Predicate:
    """Return that an expression belongs to a set.

    Raises Unvalued for what is no set, and for a set in the place of a number.
    """
    if subject.op == "sym" and subject.name in (*_NUMBERS, _REALS[0]):
        raise Unvalued("a set of numbers as a number")
    if where.op == "sym" and where.name in _NUMBERS and subject.op == "sym":
        return Whole(subject.name, _NUMBERS[where.name])
    if where.op == "sym" and where.name in ("odd", "even") and subject.op == "sym":
        return Whole(subject.name, int(where.name == "odd") - 2 * _FAR_DOWN, 2)
    if where.op == "sym" and where.name in _REALS:
        return all_of()
    if where.op in ("union", "intersection"):
        return Junction("any" if where.op == "union" else "all", tuple(_belongs(subject, arg) for arg in where.args))
    if where.op == "opaque" and where.name == _WITHOUT and len(where.args) == 2:
        inside, outside = (_belongs(subject, arg) for arg in where.args)
        return all_of(inside, Junction("not", (outside,)))
    if where.op == "interval" or (where.op == "tuple" and len(where.args) == 2):
        brackets = where.name or "()"
        bounds: list[Predicate] = []
        for end, sign in zip(where.args, (">" if brackets[0] in "(]" else ">=", "<" if brackets[1] in ")[" else "<="),
                             strict=True):  # fmt: skip
            if not is_infinite(end):
                bounds.append(Comparison(sign, subject, end))
            elif (end.op == "neg") != (sign[0] == ">"):
                raise Unvalued("an interval that begins above all numbers")
        return all_of(*bounds)
    if where.op == "set":
        return _belongs_to_set(subject, where.args)
    raise Unvalued("a set")


def _belongs_to_set(subject: Expr, entries: tuple[Expr, ...]) -> Predicate:
    """Return that an expression belongs to a set that is written out, or given by a condition.

    Raises Unvalued for other sets.
    """
    conditions = [entry for entry in entries if entry.op == "relation"]
    if not conditions:
        return _listed(subject, entries)
    head = entries[0]
    first: list[Predicate] = []
    if head.op == "relation" and head.name == "in" and head.args[0].op == "sym":
        first, head = [_belongs(subject, head.args[1])], head.args[0]
        conditions = conditions[1:]
    elif head.op == "relation" and head.args[0].op == "sym" and len(conditions) > 1:  # `\{x > 0 : x^2 = 4\}`
        head = head.args[0]
    elif head.op == "relation":
        raise Unvalued("a set of what?")
    if head.op == "sym":
        put = {head: subject}
        read = [_read_condition(substitute(each, put)) for each in conditions]
        return all_of(*first, *read)
    parts = [_read_condition(each) for each in conditions]
    whole = [part for part in parts if isinstance(part, Whole)]
    if len(whole) != 1 or subject.op != "sym":
        raise Unvalued("a set of values")
    return Junction("family", (Comparison("=", subject, head), *parts), whole[0].name)


def _read_condition(node: Expr) -> Predicate:
    """Return what a relation inside a set says; raises Unvalued for what is no relation."""
    signs = node.name.split()
    if node.op != "relation" or len(signs) != len(node.args) - 1:
        raise Unvalued("a condition")
    return all_of(
        *(_read_relation(sign, left, right) for (left, right), sign in zip(pairwise(node.args), signs, strict=True))
    )


def _listed(subject: Expr, entries: tuple[Expr, ...]) -> Predicate:
    """Return that an expression is one of those listed; three dots go on as the numbers before them do.

    Raises NoLaw where these do not go on steadily, and Unvalued where they are no whole numbers.
    """
    values = [value for entry in entries for value in _both_signs(entry)]
    if not any(value.op == "dots" for value in values):
        if subject.op == "tuple":
            return any_of(*(_same_tuple(subject, value) for value in values))
        return any_of(*(Comparison("=", subject, value) for value in values))
    if subject.op != "sym":
        raise Unvalued("dots")
    at = next(k for k, value in enumerate(values) if value.op == "dots")
    if at == 1 and len(values) == 3 and letters_in(*values):
        bounds = Comparison(">=", subject, values[0]), Comparison("<=", subject, values[2])
        return all_of(Whole(subject.name), *bounds)
    numbers = [value for value in map(whole_number, values[:at]) if value is not None]
    has_end = at + 1 < len(values)
    if len(numbers) < at:
        raise Unvalued("dots")
    signed = any(entry.op == "pm" for entry in entries)
    if signed:
        numbers = sorted({abs(each) for each in numbers})
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if len({b - a for a, b in pairwise(numbers)}) > 1:
        raise NoLaw("a list that does not go on steadily")
    if len(numbers) < 2 - has_end or step <= 0 or (has_end and whole_number(values[-1]) is None):
        raise Unvalued("dots")
    if signed and (numbers[0] not in (0, step) or has_end):
        raise Unvalued("dots")
    least = Whole(subject.name, None if signed else numbers[0], step)
    if signed and numbers[0] != 0:
        return all_of(least, Comparison("!=", subject, number(0)))
    if has_end:
        return all_of(least, Comparison("<=", subject, values[-1]))
    return least


def _same_tuple(subject: Expr, value: Expr) -> Predicate:
    """Return that a tuple has the entries of another one; raises Unvalued unless both have as many entries."""
    if value.op != "tuple" or len(value.args) != len(subject.args):
        raise Unvalued("a tuple")
    return all_of(*(Comparison("=", one, two) for one, two in zip(subject.args, value.args, strict=True)))


def _both_signs(entry: Expr) -> tuple[Expr, ...]:
    r"""Return the values of an entry: `\pm 2` is 2 and -2."""
    if not any(node.op == "pm" for node in walk(entry)):
        return (entry,)
    return tuple(each.members[0] for each in signed_branches(Formula("expression", (entry,), ())))


def _with_families(f: Formula, parts: list[Predicate]) -> Predicate:
    r"""Return that all parts of a system hold; with the letters that only number the values of another: a family."""
    flat = [piece for part in parts for piece in _conjuncts(part)]
    equations = [part for part in f.parts if part.kind == "equation" and part.members[0].op == "sym"]
    for whole in [piece for piece in flat if isinstance(piece, Whole)]:
        letter = whole.name
        about = [part.members[0].name for part in equations if letter in letters_in(part.members[1])]
        if about and letter not in about and not any(letter in symbol_of(name).sub for name in about):
            flat = [Junction("family", tuple(flat), letter)]
    return all_of(*flat)


def _conjuncts(part: Predicate) -> tuple[Predicate, ...]:
    """Return the conditions that all have to hold for a condition to hold."""
    return part.parts if isinstance(part, Junction) and part.kind == "all" else (part,)

r"""What a claim says of its own quantities beside what it is asked for: conditions and contradictions (semantics X.14).

`F = ma,\ a = 0` holds where F = ma does and a is 0: it says something else than `F = ma`. So does `y = x^2 = 4`,
`v = \sqrt{2gh} \text{ for } h = 0` and `L = R \ne R`. Nothing is added by another form of the same statement, by an
identity, by what the domain of a symbol implies (`h > 0`), by a definition or a value of the problem, by a letter that
the reference does not have, nor by what is not decided here: an order among symbols, a bound on where a law holds
(`\text{for } n > 2`), and constructs without a value at a point.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from prism.algebra.expr import Expr, Formula, formula, is_infinite, number, ops_of, substituted, symbols, symbols_of
from prism.algebra.operators import OPS
from prism.equivalence.facts import numeric_of
from prism.equivalence.features import is_tautology
from prism.equivalence.numbers.comparison import NumberSpec
from prism.equivalence.points.zero_sets import has_zero
from prism.equivalence.statements import Statement
from prism.physics.context import Context

_EXACT = frozenset(("=", "equiv"))
_STRICT = frozenset(("<", ">"))
_UNEQUAL = _STRICT | {"!="}
_READ = _EXACT | _UNEQUAL
_WITH_CONDITION = frozenset(("conditional", "restricted"))

Matches = Callable[[Formula, Formula], bool]  # does the second formula say what the first says, without given values


def added_condition(
    required: tuple[Statement, ...],
    stated: tuple[Statement, ...],
    written: Formula,
    context: Context,
    spec: NumberSpec,
    matches: Matches,
) -> Formula | None:
    """Return what a claim that matches a reference says beside it of the reference's own symbols; None for nothing.

    Args:
        required: what the reference states.
        stated: what the claim states.
        written: the claim.
        context: what the problem knows.
        spec: of the node.
        matches: compares two formulas.
    """
    if (denied := _denied_equality(written)) is not None:
        return denied
    if (other := other_definition(required, stated, context, spec, matches)) is not None:
        return other
    if any(each.conditions for each in required):
        return None
    if any(numeric_of(each.formula) for each in required):
        return next((f for f in (each.formula for each in stated) if _is_absurd(f, written, required)), None)
    live = frozenset[str]().union(*(symbols_of(each.formula) for each in required))
    own = {each.formula for each in required}
    restrictions = dict.fromkeys(each for statement in stated for each in statement.restrictions)
    others = [each.formula for each in stated if not each.is_union and each.formula not in own]
    known = (*_definitions_of(required, spec), *context.definitions, *spec.settled)
    for each, is_restriction in (*((f, False) for f in others), *((f, True) for f in restrictions)):
        is_pole = any(map(is_infinite, each.members))
        if not _is_about(each, live) or (has_unevaluated(each) and not (is_restriction or is_pole)):
            continue
        if not is_restriction and any(_is_other_value(each, f) or _is_differentiated(each, f) for f in own):
            continue  # which of several values a claim stands by is another question, semantics C.1 and C.2
        if each.relations[0] in _UNEQUAL:
            equation = formula(each.members, ("=",), each.latex, each.depends)
            if any(matches(f, equation) for f in own):
                return each
        elif any(matches(f, each) for f in own) or any(matches(f, each) for f in known):
            continue
        if _is_added(_with_right_sides(each, required), written, context, spec, is_restriction=is_restriction):
            return each
    return None


def other_definition(
    required: tuple[Statement, ...],
    stated: tuple[Statement, ...],
    context: Context,
    spec: NumberSpec,
    matches: Matches,
) -> Formula | None:
    """Return the equation by which a claim defines a letter otherwise than the reference, or a node, does; else None.

    Arguments as of `added_condition`.
    """
    if not (definitions := _definitions_of(required, spec)):
        return None
    known = (*definitions, *context.definitions, *spec.settled, *(each.formula for each in required))
    letters = frozenset[str]().union(*map(symbols_of, known))
    said = dict.fromkeys(f for each in stated for f in (each.formula, *each.conditions))
    return next(
        (f for f in said if _redefines(f, definitions, letters) and not any(matches(each, f) for each in known)), None
    )


def _definitions_of(required: Iterable[Statement], spec: NumberSpec) -> tuple[Formula, ...]:
    """Return the equations by which a reference, or the nodes beside it, say what a letter means."""
    explained = (f for whole in spec.settled if whole.kind in _WITH_CONDITION for f in whole.parts[1:])
    own = (f for each in required for f in each.conditions)
    return tuple(f for f in (*own, *explained) if f.kind == "equation" and f.members[0].op == "sym")


def _redefines(f: Formula, definitions: Iterable[Formula], known: Collection[str]) -> bool:
    """Return True if an equation defines a letter otherwise than the reference, or a node beside it, does.

    That is one which is solved for a defined letter, or ties the letters of a definition. A value is put in for a
    letter that is defined by a formula, and redefines nothing.

    Args:
        f: a formula of the claim, which no formula of reference and problem says.
        definitions: as of `_definitions_of`.
        known: letters that the reference and the problem have.
    """
    letters = symbols_of(f)
    if f.kind != "equation" or not letters.issubset(known):
        return False
    for each in definitions:
        subject, meaning = each.members
        is_solved = f.members[0] == subject and (symbols(f.members[1]) or not symbols(meaning))
        if is_solved or (len(letters) > 1 and subject.name in letters and letters <= symbols_of(each)):
            return True
    return False


def _denied_equality(chain: Formula) -> Formula | None:
    r"""Return `x < x` of a chain that leads back to a member by one inequality: `x = y < x`, `x = y \ne y`.

    None for other chains.
    """
    for start, member in enumerate(chain.members):
        unequal: list[str] = []
        for relation, other in zip(chain.relations[start:], chain.members[start + 1 :], strict=False):
            unequal += [] if relation in _EXACT else [relation]
            if len(unequal) > 1 or not _UNEQUAL.issuperset(unequal):
                break
            if unequal and other == member:
                return formula((member, other), (unequal[0],))
    return None


def _is_about(f: Formula, live: frozenset[str]) -> bool:
    """Return True for a relation of two members among a reference's symbols."""
    return len(f.members) == 2 and _READ.issuperset(f.relations) and not f.parts and symbols_of(f) <= live


def has_unevaluated(f: Formula) -> bool:
    """Return True if a formula has a construct without a value at a point, such as a derivative."""
    return any(OPS[op].opcode is None and op != "unit" for member in f.members for op in ops_of(member))


def _is_other_value(f: Formula, reference: Formula) -> bool:
    """Return True for another equation that is solved for the reference's subject, by symbols."""
    same = f.kind == reference.kind == "equation" and f.members[0] == reference.members[0]
    return same and bool(symbols(f.members[1]))


def _is_differentiated(f: Formula, reference: Formula) -> bool:
    r"""Return True for `\sigma = ...` beside `\frac{d\sigma}{d\Omega} = ...` without sigma: a second quantity."""
    if f.kind != "equation" or f.members[0].op != "sym" or reference.kind != "equation":
        return False
    rate, value = reference.members
    name = f.members[0].name
    return rate.op in ("derivative", "partial") and name in symbols(rate) and name not in symbols(value)


def _with_right_sides(f: Formula, required: Iterable[Statement]) -> Formula:
    """Return a formula with the right side of each required equation in place of the symbol that it is solved for."""
    put: dict[Expr, Expr] = {}
    for each in required:
        sides = each.formula.members
        if each.formula.kind == "equation" and sides[0].op == "sym" and sides[0].name not in symbols(sides[1]):
            put[sides[0]] = sides[1]
    return substituted(f, put) if put else f


def _is_added(f: Formula, written: Formula, context: Context, spec: NumberSpec, *, is_restriction: bool) -> bool:
    """Return True if a relation among the symbols of a reference does not hold wherever the reference does.

    Args:
        f: the relation, with what the reference is solved for by its right side.
        written: the claim that says it.
        context, spec: as of `added_condition`.
        is_restriction: the claim is said to hold only under it.
    """
    relation, is_link = f.relations[0], written.kind == "chain" and not is_restriction
    is_answer = spec.is_final or not spec.is_node
    equation = formula(f.members, ("=",), f.latex, f.depends)
    if relation == "!=":
        return is_tautology(equation, context)
    if relation in _STRICT:
        return is_tautology(equation, context) or (not (is_restriction or is_link) and _bounds_by_number(f))
    if is_tautology(equation, context):
        return False
    if not symbols_of(f):
        return not (is_restriction or is_link) and _is_false(equation)
    value = next((side for side in f.members if not symbols(side)), None)
    if value is None:
        return not is_link
    other = next(side for side in f.members if symbols(side))
    if is_infinite(value) or (value.value == 0 and is_answer and not is_restriction and len(symbols(other)) > 1):
        return not has_zero(Expr("div", (number(1), other)) if is_infinite(value) else other, context)
    if (
        "unit" in ops_of(value)
        or context.givens
        or spec.has_values
        or (is_link and (_puts_values_in(written) or not is_answer))
    ):
        return False
    return not (is_link and value.value == 0 and has_zero(other, context))  # an extremum or equilibrium keeps the law


def _is_absurd(f: Formula, written: Formula, required: Iterable[Statement]) -> bool:
    r"""Return True for what holds in no case beside a number: `x \ne x`, `0.5 < x` for x = 0.5, `1 = 2`.

    Links of a chain between numbers are another question, semantics C.1.
    """
    if len(f.members) != 2 or len(f.relations) != 1:
        return False
    if f.relations[0] in _UNEQUAL:
        left, right = _with_right_sides(f, required).members
        return left == right
    return f.relations[0] in _EXACT and written.kind != "chain" and _is_false(f)


def _puts_values_in(chain: Formula) -> bool:
    r"""Return True if a chain has a member with a unit, or a calculation with numbers alone: `3 \times 5`."""
    return any(
        "unit" in ops_of(each) or (each.args and not symbols(each) and each.op != "neg") for each in chain.members
    )


def _bounds_by_number(f: Formula) -> bool:
    """Return True for a bound on one symbol by a number that is not 0: `h > 5`."""
    (symbol, number) = f.members if f.members[0].op == "sym" else f.members[::-1]
    return symbol.op == "sym" and bool(number.value)


def _is_false(equation: Formula) -> bool:
    """Return True for an equation between two numbers that differ: `0 = 1`."""
    left, right = equation.members
    return left.value is not None and right.value is not None and left.value != right.value

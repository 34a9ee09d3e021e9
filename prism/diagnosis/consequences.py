"""What follows from formulas that hold, and from one that does not, by putting one into another.

A step that the reference leaves out is no mistake, and a step that goes on from a mistake is no second one. Both are
seen the same way: formulas are put into one another, once or twice, and what comes out is compared with the step by the
engine. Formulas that are solved for a quantity go first, and are put in twice over; the others are solved for what
stands in them once, by turning one operation after another round, and put in once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, number, substituted, symbol, symbols, symbols_of, walk
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.equivalence.matching import match
from prism.equivalence.numbers import (
    Asked,
    Known,
    Numeric,
    StatedNumber,
    closed_number_of,
    measure,
    numeric_of,
    tolerance,
)
from prism.equivalence.substitutions import subject_of
from prism.physics.context import Context, values_of
from prism.physics.units import Dimension

ROUNDS = 2  # in which solved formulas are put into one another
MAX_DERIVED = 600  # formulas that are put together so
FORMULAS_KEPT = 1024  # whose solved forms are remembered in a process
MAX_IDLE = 1  # symbols that may divide out of a formula that is put together
MAX_COMPARED = 24  # of these, as many as one formula is compared with
_ROUNDED = Fraction(1, 100)  # relative, of a number that was worked out from rounded ones
_AS_GIVEN = Fraction(1, 1000)  # relative, of a given that is said again
_ANY = Asked()


def same(reference: Formula, claim: Formula, context: Context, asked: Asked = _ANY) -> bool:
    """Whether the engine calls two formulas equivalent; a pair that it fails on proves nothing."""
    try:
        return match(reference, claim, context, asked).status == "equivalent"
    except (TapeTooLarge, Mismatch, ArithmeticError, ValueError):
        return False


def is_law(f: Formula) -> bool:
    """Whether a formula is one equation between quantities, and no mere number."""
    return f.kind == "equation" and not f.parts and numeric_of(f) is None and closed_number_of(f) is None


def put_together(formulas: Sequence[Formula], laws: Sequence[Formula]) -> tuple[Formula, ...]:
    """What follows from formulas by putting laws into them, or them into laws; the shortest ways first.

    >>> from prism.physics.context import parse
    >>> [str(each) for each in put_together([parse("F = ma")], [parse("a = v/t")])][:2]
    ['F = m*(v/t)', 'F/m = v/t']
    """
    found: dict[Formula, None] = {}
    last = list(formulas)
    for _ in range(ROUNDS):
        new = _put_in_once(last, laws, _as_solved, MAX_DERIVED // 2 - len(found))
        last = [f for f in new if f not in found]
        found |= dict.fromkeys(last)
    more = _put_in_once((*formulas, *found), laws, _solved, MAX_DERIVED - len(found))
    return tuple(dict.fromkeys((*found, *more)))


_Solved = tuple[tuple[Expr, Expr], ...]  # quantities, and what each of them is


def _put_in_once(
    formulas: Sequence[Formula], laws: Sequence[Formula], solved: Callable[[Formula], _Solved], most: int
) -> list[Formula]:
    found: dict[Formula, None] = {}
    for f in formulas:
        for law in laws:
            for one, other in ((f, law), (law, f)) if f != law else ():
                for subject, worth in solved(other):
                    if len(found) >= most:
                        return list(found)
                    if subject.name in symbols(*one.members):
                        put_in = substituted(one, {subject: worth})
                        if len(set(put_in.members)) == len(put_in.members):
                            found[replace(put_in, latex="")] = None
    return list(found)


@lru_cache(maxsize=FORMULAS_KEPT)
def _as_solved(f: Formula) -> _Solved:
    """What a formula is solved for as it stands."""
    subject = subject_of(f)
    if subject is None or subject.op != "sym":
        return ()
    worth = f.members[1] if f.members[0] == subject else f.members[0]
    return () if subject.name in symbols(worth) else ((subject, worth),)


@lru_cache(maxsize=FORMULAS_KEPT)
def _solved(f: Formula) -> _Solved:
    """What a formula can be solved for by turning operations round: every symbol that stands in it once."""
    inner = [node.name for member in f.members for node in walk(member) if node.op == "sym"]
    once = [name for name in dict.fromkeys(inner) if inner.count(name) == 1]
    found = [(symbol(name), worth) for name in once if (worth := _isolated(f, name)) is not None]
    return tuple(found)


def _isolated(f: Formula, name: str) -> Expr | None:
    """What a symbol that stands once in an equation is; None where an operation cannot be turned round."""
    node, worth = f.members if name in symbols(f.members[0]) else f.members[::-1]
    while node.op != "sym":
        at = next((k for k, arg in enumerate(node.args) if name in symbols(arg)), None)
        if at is None:
            return None
        rest = node.args[:at] + node.args[at + 1 :]
        if node.op in ("add", "mul"):
            other = rest[0] if len(rest) == 1 else Expr(node.op, rest)
            worth = Expr("sub" if node.op == "add" else "div", (worth, other))
        elif node.op in ("sub", "div"):
            back = "add" if node.op == "sub" else "mul"
            worth = Expr(back, (worth, rest[0])) if at == 0 else Expr(node.op, (rest[0], worth))
        elif node.op == "neg":
            worth = Expr("neg", (worth,))
        elif node.op == "sqrt":
            worth = Expr("pow", (worth, number(2)))
        elif node.op == "pow" and at == 0 and node.args[1].value:
            worth = Expr("pow", (worth, number(1 / node.args[1].value)))
        elif node.op in ("exp", "ln"):
            worth = Expr("ln" if node.op == "exp" else "exp", (worth,))
        else:
            return None
        node = node.args[at]
    return worth


def follows_from(f: Formula, derived: Sequence[Formula], context: Context) -> bool:
    """Whether a formula says the same as one that was put together; those of other quantities are not compared."""
    names, known = symbols_of(f), values_of(context).keys()
    apart = [(len(symbols_of(one) - names - known), one) for one in derived if names - symbols_of(one) <= known]
    near = sorted((each for each in apart if each[0] <= MAX_IDLE), key=lambda each: each[0])
    return any(same(one, f, context) for _, one in near[:MAX_COMPARED])


def is_given(f: Formula, context: Context) -> bool:
    """Whether a formula says again what a quantity is given to be."""
    numeric = numeric_of(f)
    given = None if numeric is None else values_of(context).get(numeric.subject.name)
    if numeric is None or given is None:
        return False
    said, quantity = numeric.number, given.quantity
    has_unit = said.unit is None or said.dimension == quantity.dimension
    return has_unit and abs(said.in_si - quantity.value) <= _AS_GIVEN * abs(quantity.value)


def working_out(numeric: Numeric, laws: Sequence[Formula], known: Known, context: Context) -> Formula | None:
    """The first of some formulas that gives a number, with the values that are known; None if none does.

    Args:
        known: value [SI] and dimension of quantities that are not given.
    """
    others = {name: worth for name, worth in known.items() if name != numeric.subject.name}
    for law in laws:
        if len(law.members) != 2:
            continue
        for subject, side in (law.members, law.members[::-1]):
            if subject != numeric.subject or numeric.subject.name in symbols(side):
                continue
            measured = measure(side, context, others)
            if measured is not None and _is_about(numeric.number, *measured):
                return law
    return None


def _is_about(said: StatedNumber, value: Fraction, dimension: Dimension) -> bool:
    has_unit = said.unit is None or said.dimension == dimension
    return has_unit and abs(said.in_si - value) <= max(_ROUNDED, tolerance(said.shown or 3, _ANY)) * abs(value)


def numbers_in(formulas: Sequence[Formula]) -> Mapping[str, tuple[float, Dimension]]:
    """Value [SI] and dimension of the quantities of which formulas state numbers, the last one of each."""
    stated = [numeric for f in formulas if (numeric := numeric_of(f)) is not None and numeric.subject.op == "sym"]
    return {each.subject.name: (float(each.number.in_si), each.number.dimension) for each in stated}

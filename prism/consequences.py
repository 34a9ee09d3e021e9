"""What follows from formulas that hold, and from one that does not, by putting one into another.

A step that the reference leaves out is no mistake, and a step that goes on from a mistake is no second one. Both are
seen the same way: formulas are put into one another, once or twice, and what comes out is compared with the step by the
engine. No equation is solved for that: what is not written as `quantity = expression` is only put into.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from prism.attempts import subject_of
from prism.context import Context, values_of
from prism.expr import Formula, substituted, symbols, symbols_of
from prism.lowering import Mismatch
from prism.matching import match
from prism.quantities import Dimension
from prism.stated import Asked, Known, Numeric, StatedNumber, closed_number_of, measure, numeric_of, tolerance
from prism.tape import TapeTooLarge

ROUNDS = 2  # in which formulas are put into one another
MAX_DERIVED = 160  # formulas that are put together so
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

    >>> from prism.context import parse
    >>> [str(each) for each in put_together([parse("F = ma")], [parse("a = v/t")])]
    ['F = m*(v/t)']
    """
    found: dict[Formula, None] = {}
    last = list(formulas)
    for _ in range(ROUNDS):
        new: dict[Formula, None] = {}
        for f in last:
            for law in laws:
                if len(found) + len(new) >= MAX_DERIVED:
                    break
                for one, other in ((f, law), (law, f)):
                    together = _with_put_in(one, other)
                    if together is not None and together not in found:
                        new[together] = None
        found |= new
        last = list(new)
    return tuple(found)


def _with_put_in(f: Formula, solved: Formula) -> Formula | None:
    """A formula with what another one is solved for put in; two that are solved for the same are so set equal."""
    subject = subject_of(solved)
    if subject is None or subject.op != "sym" or f == solved:
        return None
    worth = solved.members[1] if solved.members[0] == subject else solved.members[0]
    if subject.name in symbols(worth) or subject.name not in symbols(*f.members):
        return None
    put_in = substituted(f, {subject: worth})
    return None if len(set(put_in.members)) < len(put_in.members) else replace(put_in, latex="")


def follows_from(f: Formula, derived: Sequence[Formula], context: Context) -> bool:
    """Whether a formula says the same as one that was put together; those of other quantities are not compared."""
    names, known = symbols_of(f), values_of(context).keys()
    near = [one for one in derived if symbols_of(one) ^ names <= known]
    return any(same(one, f, context) for one in near[:MAX_COMPARED])


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

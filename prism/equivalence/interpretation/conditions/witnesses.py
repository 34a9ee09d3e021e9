"""Values for which one of two formulas of numbers holds and the other one does not.

A formula may be meant for some values only: what an integral is for r < 1. So two are told apart only if they say the
same in neither of two usual interpretations: letters are positive and arrays of two indices symmetric; in the second
one all letters are small, and their order is the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from flint import acb

from prism.algebra.expr import Formula, symbols
from prism.algebra.noncommutative import with_operators_at_times
from prism.engine.intervals import precision
from prism.equivalence.interpretation.decision import SMALL, same_in, solutions
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.reading import read_together
from prism.equivalence.interpretation.series.shorthand import written_out
from prism.equivalence.interpretation.signature import signature_of
from prism.equivalence.interpretation.solving import residual_of
from prism.equivalence.interpretation.values import PRECISION, Unvalued, compare_to_zero
from prism.equivalence.verdict import Witness
from prism.physics.context import Context

_FAILURES = (Unvalued, ArithmeticError, ValueError)
_DRAWS = (1, 3)  # interpretations of which the first with values is taken: not one of small whole numbers, at which
# products and sums agree by chance
_ENDS = 2.4  # least and largest size of an ordinary letter together: what is taken from it turns their order round


def draw_apart(a: Formula, b: Formula, context: Context) -> tuple[Draw, Formula, Formula] | None:
    """Return a usual interpretation that tells two formulas apart, and these as read; None if they agree in any."""
    with precision(PRECISION), suppress(*_FAILURES):
        a, b = read_together(*written_out(*with_operators_at_times(a, b), context))
        signature = signature_of(a, b, context)
        if signature.operators or signature.matrices:
            return None  # which may commute or not
        for number in _DRAWS:
            draw = Draw(number, signature, is_usual=True)
            found = [same for each in _with_turned(draw, a, b) if (same := _is_same(each, a, b)) is not None]
            if found:
                return None if any(found) else (draw, a, b)
    return None


def _is_same(draw: Draw, a: Formula, b: Formula) -> bool | None:
    """Return True if two formulas say the same in an interpretation; None if they have no value in it."""
    with suppress(*_FAILURES):
        return same_in(draw, a, b)
    return None


def _with_turned(draw: Draw, a: Formula, b: Formula) -> Iterator[Draw]:
    """Yield an interpretation, and one in which all letters are small and the larger of two is the smaller one."""
    yield draw
    sizes = dict.fromkeys(symbols(*a.members, *b.members), SMALL)
    for (name, kind), value in draw.drawn.items():
        if name in sizes and kind == "positive" and isinstance(value, acb):
            sizes[name] *= (_ENDS - float(value.real.mid())) / float(value.real.mid())
    yield Draw(draw.number, draw.signature, sizes=sizes, is_usual=True)


def witness_in(draw: Draw, a: Formula, b: Formula) -> Witness:
    """Return values of the letters in an interpretation for which one of two formulas holds and the other does not."""
    names = symbols(*a.members) | symbols(*b.members)
    with precision(PRECISION), suppress(*_FAILURES):
        if len(a.members) == 1:
            return _witness(draw, names, "a", a, b)
        for one, two, satisfied in ((a, b, "a"), (b, a, "b")):
            for solved in solutions(draw, one, two):
                if compare_to_zero(*residual_of(solved, two, Scope())) is False:
                    return _witness(solved, names, satisfied, two)
    return Witness((), "a", None, None)


def _witness(draw: Draw, names: frozenset[str], satisfied: str, *formulas: Formula) -> Witness:
    """Return the values of letters in an interpretation, and those of the two sides of a formula, or of two of one."""
    sides = (_as_float(Evaluator(draw).value(member, Scope())) for f in formulas for member in f.members)
    drawn = {name: value for (name, _), value in draw.drawn.items()}
    values = {name: _as_float(value) for name, value in {**drawn, **draw.fixed}.items() if name in names}
    point = tuple(sorted((name, value) for name, value in values.items() if value is not None))
    return Witness(point, satisfied, *sides)


def _as_float(value: object) -> float | None:
    """Return a number that was drawn or worked out as one of Python's; None for anything else."""
    return float(value.real.mid()) if isinstance(value, acb) else None

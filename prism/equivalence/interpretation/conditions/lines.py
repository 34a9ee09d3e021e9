"""Conditions along a line: where one letter takes all values, at which of them may a condition begin or cease to hold?

These are the zeros of left minus right side of its comparisons, and the members of its families. A zero is looked for
between sampled points by its sign, and where the size of a difference has a dent, so that one that only touches 0 and
one of complex numbers are found as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from flint import acb

from prism.algebra.expr import symbol, symbols, walk
from prism.budget import charge_steps
from prism.equivalence.interpretation.conditions.predicates import (
    Comparison,
    Junction,
    Predicate,
    Whole,
    all_of,
    comparisons_of,
    walk_predicate,
)
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.values import Dual, Table, Unvalued, plain

REACH = 7.0  # from 0 to where the letter is followed
_SAMPLES, _SAMPLES_OF_WAVES = 40, 240  # points between which a zero is looked for; more if there are waves
_FAR = (9.0, 14.0, 25.0, 60.0, 200.0, 1e3, 1e4)
_HALVINGS = 75
_ILLINOIS_STEPS = 12  # in which a zero of a smooth function is found
_GOLDEN = (math.sqrt(5) - 1) / 2
_SAME = 1e-9  # relative difference of numbers that count as one
_ZERO = 1e-12  # of the usual size of a difference: what is below is 0, since the sides are evaluated to 160 bits
_POLE = 1e12  # of it: what is above, at a point near by, is undefined
MEMBERS, TESTED_MEMBERS = 60, 15  # of a family, to either side of 0, and those that are looked for in the other formula
_WAVES = frozenset(("sin", "cos", "tan", "exp"))
_MOST_ZEROS = 60
_POINT = 2  # steps charged for a point where the sides of a comparison are looked at, beside those of its nodes


@dataclass
class Line:
    """A line through the letters of two formulas: one letter takes all values, the others are drawn.

    Attributes:
        draw: the interpretation of the others.
        name: the letter.
        scales: the usual size of left minus right side of each comparison on the line.
        members: the values of the letter in each family, within reach.
        found: the zeros of each comparison that were looked for, with whether below 0 too.
    """

    draw: Draw
    name: str
    scales: dict[Comparison, float] = field(default_factory=dict)
    members: dict[Junction, list[float]] = field(default_factory=dict)
    found: dict[tuple[Comparison, bool], list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make what evaluates both sides of a comparison at all points."""
        self.evaluator = Evaluator(self.draw)

    def scope(self, x: float) -> Scope:
        """Return the scope in which the letter has a value."""
        return Scope({self.name: acb(x)})

    def difference(self, comparison: Comparison, x: float) -> complex:
        """Return left minus right side at a point; Unvalued where one is undefined."""
        charge_steps(_POINT)
        evaluator, scope = self.evaluator, self.scope(x)
        left, right = evaluator.value(comparison.left, scope), evaluator.value(comparison.right, scope)
        if isinstance(left, Table | Dual) or isinstance(right, Table | Dual):
            raise Unvalued("a comparison of tables")
        found = complex((plain(left) - plain(right)).mid())
        if not math.isfinite(abs(found)):
            raise Unvalued("undefined")
        return found

    def holds(self, predicate: Predicate, x: float) -> bool:
        """Return True if a condition holds at a point; a comparison of what is undefined or complex does not."""
        charge_steps(1)
        if isinstance(predicate, Whole):
            return self._is_whole(predicate, x)
        if isinstance(predicate, Junction):
            if predicate.kind == "family":
                return any(abs(each - x) <= _SAME * (1 + abs(x)) for each in self.members[predicate])
            found = (self.holds(part, x) for part in predicate.parts)
            return not next(found) if predicate.kind == "not" else (all if predicate.kind == "all" else any)(found)
        try:
            difference = self.difference(predicate, x)
        except Unvalued:
            return False
        scale = self.scales.get(predicate, 1.0)
        if abs(difference) > _POLE * scale and abs(x) < 2 * REACH:
            return False
        is_zero = abs(difference) <= 10 * _ZERO * scale
        if predicate.sign in ("=", "!="):
            return is_zero == (predicate.sign == "=")
        if not is_zero and abs(difference.imag) > _SAME * abs(difference):
            return False
        if is_zero:
            return predicate.sign in ("<=", ">=")
        return (difference.real > 0) == (predicate.sign in (">", ">="))

    def _is_whole(self, predicate: Whole, x: float) -> bool:
        """Return True if the letter of a condition is one of its whole numbers.

        Raises Unvalued where that cannot be told.
        """
        value = x
        if predicate.name != self.name:
            drawn = self.evaluator.value(symbol(predicate.name), Scope())
            if isinstance(drawn, Table | Dual):
                raise Unvalued("a whole number")
            value = float(drawn.real.mid())
        steps = (value - (predicate.least or 0)) / predicate.step
        return abs(steps - round(steps)) < _SAME and (predicate.least is None or value > predicate.least - 0.5)

    # Where a condition may begin or cease to hold. -----------------------------------------------------------------

    def prepare(self, predicate: Predicate, *, is_signed: bool) -> list[float]:
        """Return the points where a condition may begin or cease to hold, and keep the scales of its comparisons."""
        found: list[float] = []
        inside: set[Comparison] = set()
        for part in walk_predicate(predicate):
            if isinstance(part, Junction) and part.kind == "family":
                self.members[part] = self._members_of(part)
                inside |= set(comparisons_of(part))
                near = sorted(self.members[part], key=abs)[: 2 * TESTED_MEMBERS]
                found += near
            elif isinstance(part, Comparison) and part not in inside:
                key = part, is_signed
                if key not in self.found:
                    self.found[key] = self.zeros(part, is_signed=is_signed)
                found += self.found[key]
            elif isinstance(part, Whole) and part.name == self.name:
                found += range(-12 if is_signed else 1, 13)
        return found

    def _members_of(self, family: Junction) -> list[float]:
        """Return the values of the letter in a family, by whole number from 0 up and down.

        Raises Unvalued for a family of several letters, or of tables.
        """
        found: list[float] = []
        conditions = [part for part in family.parts if not self._gives_letter(part)]
        values = [part for part in family.parts if self._gives_letter(part)]
        if len(values) != 1:
            raise Unvalued("a family of what?")
        numbered = Line(self.draw, family.letter)
        for number in range(-MEMBERS, MEMBERS + 1):
            if not numbered.holds(all_of(*conditions), number):
                continue
            for comparison in comparisons_of(values[0]):
                other = comparison.right if comparison.left == symbol(self.name) else comparison.left
                value = self.evaluator.value(other, Scope().with_index(family.letter, number))
                if isinstance(value, Table | Dual):
                    raise Unvalued("a family of tables")
                found.append(_real(plain(value)))
        return found

    def _gives_letter(self, part: Predicate) -> bool:
        """Return True for `x = ...`, or several such joined by `or`, of the letter of the line."""
        every = comparisons_of(part)
        return (
            bool(every)
            and not (isinstance(part, Junction) and part.kind != "any")
            and all(each.sign == "=" and symbol(self.name) in (each.left, each.right) for each in every)
        )

    def zeros(self, comparison: Comparison, *, is_signed: bool) -> list[float]:
        """Return the points where the sides of a comparison are equal, and keep the usual size of their difference.

        Raises Unvalued where the condition has no value, or has too many zeros.
        """
        if self.name not in symbols(comparison.left, comparison.right):
            return []
        waves = has_waves(comparison, self.name)
        places = sample_places(_SAMPLES_OF_WAVES if waves else _SAMPLES, is_signed=is_signed)
        at = partial(self._difference_or_none, comparison)
        values = [at(x) for x in places]
        known = [abs(value) for value in values if value is not None]
        if not known:
            raise Unvalued("a condition that has no value")
        scale = self.scales[comparison] = median(known) or max(known) or 1.0
        found = [places[k] for k, value in enumerate(values) if value is not None and abs(value) <= _ZERO * scale]
        for k in range(len(places) - 1):
            (x, fx), (y, fy) = (places[k], values[k]), (places[k + 1], values[k + 1])
            if fx is None or fy is None:
                if (fx is None) != (fy is None):
                    found.append(_edge(at, x, y))
            elif fx.real * fy.real < 0 and max(abs(fx.imag), abs(fy.imag)) < _SAME * scale:
                found.append(_crossing(at, x, y, fx.real, fy.real))
            if k > 0 and (earlier := values[k - 1]) is not None and fx is not None and fy is not None:
                before, here, after = abs(earlier), abs(fx), abs(fy)
                is_crossed = fx.real * fy.real < 0 or fx.real * earlier.real < 0
                if here <= before and here <= after and here < 0.3 * scale and not (is_crossed and fx.imag == 0):
                    dent = _dent(at, places[k - 1], y)
                    value = at(dent)
                    if value is not None and abs(value) <= _ZERO * scale:
                        found.append(dent)
        if len(found) > _MOST_ZEROS:
            raise Unvalued("too many zeros")
        return found

    def _difference_or_none(self, comparison: Comparison, x: float) -> complex | None:
        """Return left minus right side at a point; None where it is undefined."""
        try:
            return self.difference(comparison, x)
        except Unvalued:
            return None


def has_waves(comparison: Comparison, name: str = "") -> bool:
    """Return True if a side of a comparison has a wave or an exponential, of a letter if one is given."""
    nodes = [node for side in (comparison.left, comparison.right) for node in walk(side)]
    return any(node.op in _WAVES and (not name or name in symbols(node)) for node in nodes)


def sample_places(count: int, *, is_signed: bool) -> list[float]:
    """Return points from minus to plus infinity, or from 0 to infinity, dense within reach."""
    step = REACH / (count if not is_signed else count / 2)
    upper = [step * (k + 0.371) for k in range(int(REACH / step))] + list(_FAR)
    small = [1e-3, 1e-2]
    every = sorted({*small, *upper})
    return [-x for x in reversed(every)] + [0.0] + every if is_signed else every


def _real(value: acb) -> float:
    """Return a real number; Unvalued for a complex one."""
    if abs(float(value.imag.mid())) > _SAME * (1 + abs(float(value.real.mid()))):
        raise Unvalued("a complex number")
    return float(value.real.mid())


_Function = Callable[[float], complex | None]


def _crossing(at: _Function, x: float, y: float, fx: float, fy: float) -> float:
    """Return where a real function, `fx` and `fy` at two points, changes its sign between them.

    By regula falsi, the value at an end that stays halved each time (Dowell and Jarratt 1971, the Illinois method);
    at a pole, to which that does not lead, by halving.
    """
    for count in range(_HALVINGS):
        is_halved = count >= _ILLINOIS_STEPS
        middle = (x + y) / 2 if is_halved else x - fx * (y - x) / (fy - fx)
        if not min(x, y) < middle < max(x, y):
            return middle
        value = at(middle)
        if value is None or value.real == 0:
            return middle
        if value.real * fy < 0:
            x, fx = y, fy
        elif not is_halved:
            fx /= 2
        y, fy = middle, value.real
    return y


def _edge(at: _Function, x: float, y: float) -> float:
    """Return where a function ceases to be defined between two points."""
    known = at(x) is not None
    for _ in range(_HALVINGS):
        middle = (x + y) / 2
        if middle in (x, y):
            break
        x, y = (middle, y) if (at(middle) is not None) == known else (x, middle)
    return x if known else y


def _dent(at: _Function, low: float, high: float) -> float:
    """Return where the size of a function is least between two points."""

    def size(x: float) -> float:
        """Return the size at a point."""
        value = at(x)
        return math.inf if value is None else abs(value)

    for _ in range(_HALVINGS):
        one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, two) if size(one) < size(two) else (one, high)
    return (low + high) / 2

r"""Points beyond the usual draws, for two formulas that agree within them (semantics Z.2, Z.4).

Draws are of the order of 1, so a term that is small there, or a function that is flat, is not seen: `mv` against
`mv/\sqrt{1 - v^2/c^2}` with c put in. Where to look follows from the values on the tape: where two terms of a sum
balance, and where the argument of a function is 1; two variables of one argument, as in `e^{-br}` and `e^{-a/b^2}`, are
also moved together, so that it stays. Whole numbers are drawn beyond 12, angles half a turn away.

Refused: to read the scales off the literals (`10 \cdot 10 \cdot 10` is none), and to draw every formula at all scales
(a pair that differs, as nearly all do, would pay for it).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from types import ModuleType

import numpy as np

from prism.engine.kernels import source, spend
from prism.engine.store import stored
from prism.engine.tape import Floats, Tape
from prism.engine.zero_set import (
    Sampling,
    ZeroSet,
    scratch_arrays,
    variables_in_estimates,
    without_negative_roots,
)
from prism.equivalence.points.trials import AnyPoints, Trial, cross_points, draw_both

DECADES = 33  # by which a variable is moved to find where two terms balance
SEEN = 1e-4  # a smaller term of a sum, relative to the other one, is looked for elsewhere
FLAT = (1e-3, 8.0)  # arguments at which a function is not flat
ENOUGH = 3  # points at which two terms are comparable, or a function is not flat: nothing is looked for
MAX_PLACES = 12  # ranges for one formula; more are no physics
BELOW, ABOVE = (0.02, 0.7), (1.4, 5.0)  # shares of the value at which terms balance: ranges drawn, off a pole there
LARGE_NUMBERS = ((13.0, 40.0), (41.0, 130.0), (171.0, 1e4), (1e4, 1e6))  # ranges of whole numbers
_EDGE = 0.03  # left out at either end of a quarter turn

_SATURATING = frozenset((
    source.EXP, source.SIN, source.COS, source.TAN, source.ASIN, source.ACOS, source.ATAN, source.SINH, source.COSH,
    source.TANH, source.ASINH, source.ATANH, source.FACTORIAL,
))  # fmt: skip
_SUMS = frozenset((source.ADD, source.SUB))
_BLIND = frozenset((source.SQRT, source.ABS, source.POW, source.ROOT, source.ASIN, source.ACOS, source.ATAN))
_MAX_TERMS = 8  # of a sum whose terms are compared, each with each
_MOST_POWER = 4.0  # of how far one variable is moved, for how far a second one is
_Moved = tuple[tuple[int, float], ...]  # variables, each with a power of how far the first one is moved


Place = tuple[tuple[tuple[str, float], ...], tuple[float, float]]  # variables, each with its value; the shares to draw


@dataclass(frozen=True, slots=True)
class FarPoints:
    """What points beyond the usual draws say of two formulas.

    Attributes:
        tested: the formula that does not hold at a point of the other one, `sampled`; None if there is no such point.
        sampled: the other formula.
        satisfies: `a` if the point satisfies the reference, `b` if the claim.
        unseen: large whole numbers count here and the formulas cannot be evaluated there.
    """

    tested: ZeroSet | None = None
    sampled: ZeroSet | None = None
    satisfies: str = ""
    unseen: bool = False


def look_far(a: AnyPoints, b: AnyPoints, samplings: Mapping[str, Sampling], trial: Trial) -> FarPoints:
    """Compare two formulas that agree at the usual points at points beyond them.

    Args:
        a, b: the reference and the claim with their points; with several residuals nothing is looked at.
        samplings: how each variable is drawn; one with a declared domain is not drawn outside of it.
        trial: settings.
    """
    if not isinstance(a, ZeroSet) or not isinstance(b, ZeroSet):
        return FarPoints()
    positive = (a.positive_roots | b.positive_roots) - a.negative_roots - b.negative_roots
    for how in (*_other_scales(a, b, samplings, trial.module), *_other_turns(a, b, samplings, trial.module)):
        if (found := _compare_drawn(how, positive, trial)).tested is not None:
            return found
    seen, is_asked = False, False
    for how in _large_numbers(samplings):
        found = _compare_drawn(how, positive, trial)
        if found.tested is not None:
            return found
        seen, is_asked = seen or not found.unseen, True
    return FarPoints(unseen=is_asked and not seen)


def _compare_drawn(how: Mapping[str, Sampling], positive: frozenset[str], trial: Trial) -> FarPoints:
    """Evaluate each formula at the other's points drawn as `how` says; negative roots of `positive` are left out."""
    one, two = draw_both(trial, how)
    assert isinstance(one, ZeroSet)
    assert isinstance(two, ZeroSet)
    if one.is_identity or two.is_identity:
        return FarPoints(unseen=True)
    one, two = (without_negative_roots(each, positive & each.negative_roots, trial.module) for each in (one, two))
    agreed = []
    for tested, sampled, side in ((two, one, "a"), (one, two, "b")):
        crossing = cross_points(tested, sampled, trial)
        if crossing.out[source.MISMATCH] >= 0:
            return FarPoints(tested, sampled, side)
        agreed.append(crossing.out[source.AGREED])
    return FarPoints(unseen=not all(agreed))


def _large_numbers(samplings: Mapping[str, Sampling]) -> Iterator[dict[str, Sampling]]:
    """Yield samplings with whole numbers beyond 12, where the problem does not bound them."""
    free = [name for name, sampling in samplings.items() if sampling == Sampling("integer")]
    for domain in LARGE_NUMBERS if free else ():
        yield {**samplings, **dict.fromkeys(free, Sampling("integer", domain))}


def _other_turns(
    a: ZeroSet, b: ZeroSet, samplings: Mapping[str, Sampling], module: ModuleType
) -> Iterator[dict[str, Sampling]]:
    r"""Yield samplings with one angle half a turn below its usual range: `\sin(a - b) = 0` beside `a = b`.

    Half a turn of the argument: of `\sin\frac{a}{2}` it is a whole one of a. None where a formula does not know the
    sign of a sine (inverse functions, roots, even powers), or has one variable.
    """
    if len(samplings) < 2 or any(_loses_signs(tape) for tape in (a.tape, b.tape)):
        return
    for name, sampling in samplings.items():
        if sampling == Sampling("angle"):
            factors = [factor for points in (a, b) for factor in _factors_in_sines(points, name, module)]
            low = -math.pi / min(factors, default=1.0)
            yield {**samplings, name: Sampling("angle", (low + _EDGE, low + math.pi / 2 - _EDGE))}


def _factors_in_sines(points: ZeroSet, name: str, module: ModuleType) -> list[float]:
    """Return by how much the arguments of sines, cosines and tangents grow with a variable: 1/2 for `theta/2`."""
    tape = points.tape
    if name not in tape.names or not points.n_point:
        return []
    base = points.point(0)
    rows = [_values(points, [{**base, name: x}[each] for each in tape.names], module) for x in (0.5, 1.0)]
    code = tape.code.reshape(-1, 3).tolist()
    slopes = [2 * abs(rows[1][a] - rows[0][a]) for op, a, _ in code if op in (source.SIN, source.COS, source.TAN)]
    return [round(slope, 6) for slope in slopes if slope > SEEN]


def _loses_signs(tape: Tape) -> bool:
    """Return True if a formula has an even power, a root, an absolute value or an inverse trigonometric function."""
    code = tape.code.reshape(-1, 3).tolist()
    return any(op in _BLIND or (op == source.IPOW and n % 2 == 0) for op, _, n in code)


def _other_scales(
    a: ZeroSet, b: ZeroSet, samplings: Mapping[str, Sampling], module: ModuleType
) -> Iterator[dict[str, Sampling]]:
    """Yield samplings with a variable or two where terms of either formula balance, or where a function is not flat.

    A variable in a quadrature stays: how good it is is known at the usual points only.
    """
    places = dict.fromkeys(place for points in (a, b) for place in places_of_balance(points, module))
    estimated = {name for points in (a, b) for name in points.names(variables_in_estimates(points.tape))}
    for moved, shares in places:
        how = dict(samplings)
        for name, centre in moved:
            sampling = samplings.get(name)
            if sampling is None or sampling.domain is not None or sampling.kind == "integer" or name in estimated:
                break
            low, high = sorted(share * centre for share in shares)
            how[name] = Sampling("" if sampling.kind == "angle" else sampling.kind, (low, high))
        else:
            yield how


@stored
def places_of_balance(points: ZeroSet, module: ModuleType) -> tuple[Place, ...]:
    """Return where two terms of a sum are of one size, or the argument of a function is 1.

    Only for terms that differ by far, functions that are flat, and sums in absolute values that keep their sign, at
    nearly all points of the formula. The values are powers of 2.
    """
    tape = points.tape
    ratios = _ratios(tape)
    if not ratios or not points.n_point:
        return ()
    rows = [_values(points, [points.point(i)[name] for name in tape.names], module) for i in range(points.n_point)]
    sizes = np.abs(np.array(rows))
    one_sided = _one_sided(tape, np.array(rows))
    hidden = [ratio for ratio in ratios if ratio in one_sided or _is_hidden(sizes, *ratio)]
    if not hidden:
        return ()
    base = [points.point(0)[name] for name in tape.names]
    found: dict[Place, None] = {}
    for moved in _moves(points, base, module):
        mine = [ratio for ratio in hidden if _varies(tape, ratio, moved[0][0])]
        if not mine:
            continue
        table = np.abs(np.array([_values(points, x, module) for x in _along(base, moved)]))
        for above, below in mine:
            for k in _crossings(_logarithms(table, above, below)):
                centres = [
                    math.copysign(
                        2.0 ** round(math.log2(abs(base[v])) + power * (k - DECADES) * math.log2(10.0)), base[v]
                    )
                    for v, power in moved
                ]
                place = tuple(zip((tape.names[v] for v, _ in moved), centres, strict=True))
                for shares in (BELOW, ABOVE) if (above, below) in one_sided else (BELOW,):
                    found[place, shares] = None
    return tuple(found)[:MAX_PLACES]


def _moves(points: ZeroSet, base: list[float], module: ModuleType) -> Iterator[_Moved]:
    """Yield the variables to be moved: each alone, then with another one, so that an argument of a function stays."""
    tape = points.tape
    estimated = variables_in_estimates(tape)
    free = [v for v in range(len(tape.names)) if base[v] and not estimated >> v & 1]
    yield from (((v, 1.0),) for v in free)
    arguments = {a for op, a, _ in tape.code.reshape(-1, 3).tolist() if op in _SATURATING}
    joint = [a for a in sorted(arguments) if sum(int(tape.dep[a]) >> v & 1 for v in free) > 1]
    if not joint:
        return
    grown = {v: [10.0 * x if u == v else x for u, x in enumerate(base)] for v in free}
    sizes = np.abs(np.array([_values(points, x, module) for x in (base, *grown.values())]))
    found: dict[_Moved, None] = {}
    for a in joint:
        growth = {v: float(_decades(sizes[row, a], sizes[0, a])) for row, v in enumerate(free, 1)}
        for v, w in permutations(free, 2):
            if growth[v] and growth[w]:
                found[(v, 1.0), (w, round(-growth[v] / growth[w], 2))] = None
    yield from (moved for moved in found if abs(moved[1][1]) <= _MOST_POWER)


def _decades(one: float, other: float) -> float:
    """Return by how many powers of ten one size is beyond another; 0 if either has none."""
    return math.log10(one / other) if 0 < one < math.inf and 0 < other < math.inf else 0.0


def _along(base: Sequence[float], moved: _Moved) -> Iterator[list[float]]:
    """Yield points with the first variable moved by powers of ten, and the second one, if any, by a power of these."""
    for k in range(-DECADES, DECADES + 1):
        at = list(base)
        for v, power in moved:
            at[v] *= 10.0 ** (power * k)
        yield at


def _one_sided(tape: Tape, values: Floats) -> frozenset[tuple[int, int]]:
    """Return the terms of differences, in absolute values and functions, that have one sign at all points.

    values: float64[point, n_op].
    """
    code = tape.code.reshape(-1, 3).tolist()
    found: set[tuple[int, int]] = set()
    for op, k, _ in code:
        if (op == source.ABS or op in _SATURATING) and code[k][0] in _SUMS:
            signs = np.sign(values[:, k])
            if np.all(signs > 0) or np.all(signs < 0):
                _, one, two = code[k]
                found.add((min(one, two), max(one, two)))
    return frozenset(found)


def _ratios(tape: Tape) -> list[tuple[int, int]]:
    """Return pairs of instructions whose sizes are to be compared; -1 in place of the second one means 1."""
    code = tape.code.reshape(-1, 3).tolist()
    found: dict[tuple[int, int], None] = {}
    terms: list[tuple[int, ...]] = []
    for op, a, b in code:
        here: tuple[int, ...] = (len(terms),)
        if op in _SUMS:
            here = tuple(dict.fromkeys(terms[a] + terms[b]))[:_MAX_TERMS]
            found |= dict.fromkeys(combinations(here, 2))
        elif op == source.NEG:
            here = terms[a]
        elif op in _SATURATING and tape.dep[a]:
            found[a, -1] = None
        terms.append(here)
    return list(found)


def _varies(tape: Tape, ratio: tuple[int, int], v: int) -> bool:
    """Return True if variable number v occurs in one of two instructions."""
    return any(k >= 0 and int(tape.dep[k]) >> v & 1 for k in ratio)


def _logarithms(sizes: Floats, above: int, below: int) -> Floats:
    """Return the decimal logarithm of the ratio of two instructions, row by row; NaN where it has none."""
    with np.errstate(all="ignore"):
        log = np.log10(sizes[:, above]) - (np.log10(sizes[:, below]) if below >= 0 else 0.0)
    return np.where(np.isfinite(log), log, np.nan)


def _is_hidden(sizes: Floats, above: int, below: int) -> bool:
    """Return True if two terms differ by far, or a function is flat, at all but a few points: float64[point, n_op]."""
    log = _logarithms(sizes, above, below)
    if np.all(np.isnan(log)):
        return False
    low, high = np.log10(FLAT) if below < 0 else (math.log10(SEEN), -math.log10(SEEN))
    return int(np.sum((log > low) & (log < high))) < ENOUGH


def _crossings(log: Floats) -> list[float]:
    """Return the places, as fractional indices, at which a row of numbers changes its sign; NaN is no number."""
    places = []
    for k in range(len(log) - 1):
        one, two = float(log[k]), float(log[k + 1])
        if one * two <= 0 and one != two:
            places.append(k + one / (one - two))
    return places


def _values(points: ZeroSet, at: list[float], module: ModuleType) -> list[float]:
    """Return the value of each instruction at a point, NaN from the first one that has none."""
    tape = points.tape
    x, value, bound, _, _ = scratch_arrays(module, tape)
    x[:], value[:] = at, [math.nan] * tape.n_op
    spend(tape.n_op)
    module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound)
    return list(value)

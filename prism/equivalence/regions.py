r"""Regions compared by where they hold: inequalities, chains of them, intervals and their unions (semantics Z.8).

`-1 < x < 1` is `|x| < 1` and `x \in (-1, 1)`. Truth changes on boundaries only, so both are evaluated on either side of
every boundary of one of them, and wherever the draws fall. Strict and non-strict inequalities count as the same. Two
single inequalities with one boundary only need their sides compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import ModuleType

from prism.algebra.expr import ORDERINGS, Expr, Formula, canonical, formula, is_infinite, symbols, walk
from prism.engine.kernels import active_kernels, source, spend
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.engine.zero_set import Sampling, ZeroSet, draws, sample_zero_set, scratch_arrays, special_samplings, tape_of
from prism.equivalence.facts import VECTOR, facts_of
from prism.equivalence.notation.choice import notation_of
from prism.equivalence.points.pairs import prepare_pair, samplings_of
from prism.equivalence.points.trials import MIN_POINTS, AnyPoints, draw_both, trial_for
from prism.equivalence.verdict import Status, Verdict
from prism.physics.context import Context

MAX_BOUNDARIES = 12  # of two regions together; more are a list of guesses
_RELATIVE_STEPS = (-0.1, 0.1, -1e-5, 1e-5)  # from a boundary: far, and so near that another bound beside it is told


@dataclass(frozen=True, slots=True)
class _Region:
    """A part of the space of the variables: where an inequality holds, or a union or intersection of such parts.

    Attributes:
        bounds: the inequality, a formula with two members; None if there are parts.
        is_union: True for the union of the parts, False for their intersection.
        parts: the regions that are joined.
    """

    bounds: Formula | None
    is_union: bool = False
    parts: tuple[_Region, ...] = ()


def are_regions(a: Formula, b: Formula) -> bool:
    """Return True if both formulas state regions (inequalities, chains of them, intervals) to be compared as such.

    Not two single inequalities between positive quantities: `compare_inequality_sides` compares these.
    """
    one, two = _read_region(a), _read_region(b)
    if one is None or two is None:
        return False
    return (a.kind, b.kind) != ("inequality", "inequality") or bool(
        _signed_symbols((*_inequalities_of(one), *_inequalities_of(two)))
    )


def compare_regions(a: Formula, b: Formula, context: Context) -> Verdict:
    """Decide if two formulas that state regions hold at the same points; for the formulas see `are_regions`."""
    if a.relations == b.relations and list(map(canonical, a.members)) == list(map(canonical, b.members)) != []:
        return Verdict(Status.EQUIVALENT, "same_form", "proved")
    one, two = _read_region(a), _read_region(b)
    assert one is not None
    assert two is not None
    regions = (one, two)
    bounds = list(dict.fromkeys(bound for region in regions for bound in _inequalities_of(region)))
    if len(bounds) > MAX_BOUNDARIES:
        return Verdict(Status.UNDECIDED, "too_large", detail=f"more than {MAX_BOUNDARIES} bounds")
    try:
        tapes = [tape_of(facts_of(bound).residual) for bound in bounds]
    except (TapeTooLarge, Mismatch) as error:
        return Verdict(Status.UNDECIDED, "too_large", detail=str(error))
    if any(tape.atoms or len(tape.roots) > 1 for tape in tapes):
        return Verdict(Status.UNDECIDED, "unsupported", detail="a region of what is not evaluated")
    samplings = samplings_of(tuple(tapes), context)
    samplings |= dict.fromkeys((_signed_symbols(bounds) & samplings.keys()) - context.symbols.keys(), Sampling("real"))
    module = active_kernels()
    boundaries = {}
    for bound, tape in zip(bounds, tapes, strict=True):
        special = special_samplings(tape, samplings)
        boundaries[bound] = sample_zero_set(tape, special, frozenset(), context.digest, MIN_POINTS, module)
    positive = [name for name, sampling in samplings.items() if sampling.is_positive]
    seen = set()
    for points in boundaries.values():
        for point in points_around(points, samplings, context.digest):
            signs = {bound: residual_sign(own, point, module) for bound, own in boundaries.items()}
            if 0 in signs.values() or any(point[name] <= 0 for name in positive):
                continue
            truths = [_holds_at_point(region, signs) for region in regions]
            if truths[0] != truths[1]:
                return Verdict(Status.DIFFERENT, "opposite_side")
            seen.add(truths[0])
    if seen != {True, False}:
        return Verdict(Status.UNDECIDED, "too_few_points")
    return Verdict(Status.EQUIVALENT, "same_zero_set", "tested")


def _signed_symbols(bounds: Iterable[Formula]) -> frozenset[str]:
    """Return the symbols that may be negative: in an absolute value, or compared with a negative bound.

    Of an expression `-1 < a x < 1` all symbols, except those that also occur in the bounds.
    """
    alone: set[str] = set()
    among: set[str] = set()
    limits: set[str] = set()
    for bound in bounds:
        for member, other in (bound.members, bound.members[::-1]):
            taken = [node.args[0] for node in walk(member) if node.op == "abs"]
            if _is_negative(other):
                taken.append(member)
            for node in taken:
                (alone if node.op == "sym" else among).update(symbols(node))
            if taken:
                limits |= symbols(other)
    return frozenset(name for name in alone | (among - limits) if VECTOR not in name)


def _is_negative(node: Expr) -> bool:
    """Return True if an expression is negative for positive values of its symbols by its form: `-a`, `-2/b`."""
    if node.op == "neg":
        return not _is_negative(node.args[0])
    if node.op in ("mul", "div"):
        return sum(_is_negative(arg) for arg in node.args) % 2 == 1
    return node.op == "num" and node.value is not None and node.value < 0


def _read_region(f: Formula) -> _Region | None:
    """Return the region that a formula states; None if it states anything else."""
    if f.kind in ("system", "alternatives"):
        parts = [_read_region(part) for part in f.parts]
        known = tuple(part for part in parts if part is not None)
        return _Region(None, f.kind == "alternatives", known) if len(known) == len(parts) else None
    if f.kind == "statement" and f.relations == ("in",):
        return _read_membership(f.members[0], f.members[1], f)
    if f.kind not in ("inequality", "chain") or not ORDERINGS.issuperset(f.relations):
        return None
    links = [
        _Region(formula(pair, (relation,), f.latex, f.depends))
        for pair, relation in zip(pairwise(f.members), f.relations, strict=True)
    ]
    return links[0] if len(links) == 1 else _Region(None, parts=tuple(links))


def _read_membership(value: Expr, where: Expr, f: Formula) -> _Region | None:
    r"""Return the region of `x \in (a, b]` or `x \in A \cup B`; None for any other set.

    Args:
        value: `x`; `where`: the set.
        f: the formula, for its text and dependencies.
    """
    if where.op in ("union", "intersection"):
        parts = [_read_membership(value, part, f) for part in where.args]
        known = tuple(part for part in parts if part is not None)
        return _Region(None, where.op == "union", known) if len(known) == len(parts) else None
    pair = where.op == "tuple" and len(where.args) == 2
    if where.op != "interval" and not pair:
        return None
    low, high = where.args
    if low.op == "infinity" or (is_infinite(high) and high.op != "infinity"):
        return None
    bounds = [
        _Region(formula((value, end), (relation,), f.latex, f.depends))
        for end, relation in ((low, ">"), (high, "<"))
        if not is_infinite(end)
    ]
    return _Region(None, parts=tuple(bounds)) if bounds else None


def _inequalities_of(region: _Region) -> Iterator[Formula]:
    """Yield all inequalities that make up a region."""
    if region.bounds is not None:
        yield region.bounds
    for part in region.parts:
        yield from _inequalities_of(part)


def _holds_at_point(region: _Region, signs: Mapping[Formula, int]) -> bool:
    """Return True if a region contains a point.

    Args:
        signs: for each inequality, the sign of its left minus its right side at the point.
    """
    if region.bounds is not None:
        upward = region.bounds.relations[0] in (">", ">=")
        return (signs[region.bounds] > 0) == upward
    return (any if region.is_union else all)(_holds_at_point(part, signs) for part in region.parts)


def compare_inequality_sides(a: Formula, b: Formula, context: Context, verdict: Verdict) -> Verdict:
    """Decide if two inequalities with the same boundary hold on the same side of it.

    Tested on both sides, where a symbol is moved a tenth up and down from its value on the boundary; and at the free
    draws, where the two may differ although they share the boundary (semantics Z.8).

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        verdict: on their boundaries, equivalent; it is returned if the sides agree.
    """
    pair = prepare_pair(a, b, context, notation_of(a, b, context))
    if pair is None or len(pair.tapes[0].roots) > 1:
        return replace(verdict, status=Status.UNDECIDED, reason="unsupported", proof=None)
    upward = [1 if f.relations[0] in (">", ">=") else -1 for f in (a, b)]
    trial = trial_for(pair)
    both = draw_both(trial, pair.samplings)
    seen = set()
    for point in points_around(both[0], pair.samplings, context.digest):
        signs = [residual_sign(points, point, trial.module) * side for points, side in zip(both, upward, strict=True)]
        if 0 in signs:
            continue
        if signs[0] != signs[1]:
            return replace(verdict, status=Status.DIFFERENT, reason="opposite_side", proof=None)
        seen.add(signs[0])
    if seen != {1, -1}:
        return replace(verdict, status=Status.UNDECIDED, reason="too_few_points", proof=None)
    return verdict


def points_around(boundary: AnyPoints, samplings: Mapping[str, Sampling], digest: str) -> Iterator[dict[str, float]]:
    """Yield points (values by name) at random places and then close to a boundary, on both sides of it.

    Args:
        boundary: points on the boundary.
        samplings: from which numbers each variable is drawn.
        digest: key of the random generator.
    """
    assert isinstance(boundary, ZeroSet)
    table = {name: draws(name, sampling, digest, boundary.n_draw) for name, sampling in samplings.items()}
    for d in range(boundary.n_draw):
        yield {name: values[d] for name, values in table.items()}
    for i, (target, root) in enumerate(boundary.solved):
        point = {name: values[int(boundary.spot[3 * i])] for name, values in table.items()}
        room = abs(root) or 1.0
        if samplings[target].kind == "angle" and samplings[target].domain is None:
            room = min(room, source.HALF_PI - root)
        for step in _RELATIVE_STEPS:
            yield {**point, target: root + step * room}


def residual_sign(points: AnyPoints, point: Mapping[str, float], module: ModuleType) -> int:
    """Return the sign, 1 or -1, of a formula's left minus right side at a point.

    0 where undefined or lost in rounding.

    Args:
        points: the formula, prepared for evaluation.
        point: values by name.
        module: the kernels that evaluate.
    """
    tape = points.tape
    x, value, bound, _, _ = scratch_arrays(module, tape)
    for v, name in enumerate(tape.names):
        x[v] = point[name]
    spend(tape.n_op)
    flag = module.evaluate(points.code, points.consts, points.dep, tape.n_op, x, 0, value, bound)
    if flag or abs(value[-1]) <= source.INFORMATIVE * bound[-1]:
        return 0
    return 1 if value[-1] > 0 else -1

r"""Regions: inequalities, chains of them, intervals and their unions, by where they hold (semantics Z.8).

`-1 < x < 1` is `|x| < 1` and `x \in (-1, 1)`. Truth changes on boundaries only, so both are asked on either side of
every boundary that occurs in one of them, and wherever the draws fall. Strict and non-strict are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from prism.algebra.expr import ORDERINGS, Expr, Formula, formula, is_infinite, symbols, walk
from prism.engine.kernels import kernels
from prism.engine.lowering import Mismatch
from prism.engine.tape import TapeTooLarge
from prism.engine.zero_set import Sampling, special_of, tape_of, zero_points
from prism.equivalence.notation import VECTOR
from prism.equivalence.verdict import Verdict
from prism.equivalence.zero_sets import MIN_POINTS, around, facts_of, samplings_of, sign_at
from prism.physics.context import Context

MAX_BOUNDARIES = 12  # of both regions; more are a list of guesses


@dataclass(frozen=True, slots=True)
class _Region:
    """A condition, or several joined.

    Attributes:
        bounds: of one condition, a formula with two members and an ordering.
        is_union: one of the parts is enough, else all are needed.
        parts: of several.
    """

    bounds: Formula | None
    is_union: bool = False
    parts: tuple[_Region, ...] = ()


def are_regions(a: Formula, b: Formula) -> bool:
    """Whether both formulas say where something lies, and one of them not by a single inequality between positives."""
    one, two = _region(a), _region(b)
    if one is None or two is None:
        return False
    return (a.kind, b.kind) != ("inequality", "inequality") or bool(_either_sign((*_bounds(one), *_bounds(two))))


def compare_regions(a: Formula, b: Formula, context: Context) -> Verdict:
    """Decide whether two formulas hold at the same places; both must be regions."""
    one, two = _region(a), _region(b)
    assert one is not None
    assert two is not None
    regions = (one, two)
    bounds = list(dict.fromkeys(bound for region in regions for bound in _bounds(region)))
    if len(bounds) > MAX_BOUNDARIES:
        return Verdict("undecided", "too_large", detail=f"more than {MAX_BOUNDARIES} bounds")
    try:
        tapes = [tape_of(facts_of(bound).residual) for bound in bounds]
    except (TapeTooLarge, Mismatch) as error:
        return Verdict("undecided", "too_large", detail=str(error))
    if any(tape.atoms or len(tape.roots) > 1 for tape in tapes):
        return Verdict("undecided", "unsupported", detail="a region of what is not evaluated")
    samplings = samplings_of(tuple(tapes), context)
    samplings |= dict.fromkeys((_either_sign(bounds) & samplings.keys()) - context.symbols.keys(), Sampling("real"))
    module = kernels()
    boundaries = {}
    for bound, tape in zip(bounds, tapes, strict=True):
        special = special_of(tape, samplings)
        boundaries[bound] = zero_points(tape, special, frozenset(), context.digest, MIN_POINTS, module)
    cost = sum(points.cost for points in boundaries.values())
    positive = [name for name, sampling in samplings.items() if sampling.is_positive]
    seen = set()
    for points in boundaries.values():
        for point in around(points, samplings, context.digest):
            signs = {bound: sign_at(own, point, module) for bound, own in boundaries.items()}
            if 0 in signs.values() or any(point[name] <= 0 for name in positive):
                continue
            truths = [_holds(region, signs) for region in regions]
            if truths[0] != truths[1]:
                return Verdict("different", "opposite_side", cost=cost)
            seen.add(truths[0])
    if seen != {True, False}:
        return Verdict("undecided", "too_few_points", cost=cost)
    return Verdict("equivalent", "same_zero_set", "tested", cost=cost)


def _either_sign(bounds: Iterable[Formula]) -> frozenset[str]:
    """Symbols that have either sign: what is compared with a negative bound, and what an absolute value is taken of.

    Of an expression (`-1 < a x < 1`) those that are no bounds themselves (`|x| < 1/a`).
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
    """Whether an expression is negative by its form, its symbols being positive."""
    if node.op == "neg":
        return not _is_negative(node.args[0])
    if node.op in ("mul", "div"):
        return sum(_is_negative(arg) for arg in node.args) % 2 == 1
    return node.op == "num" and node.value is not None and node.value < 0


def _region(f: Formula) -> _Region | None:
    """The region that a formula states, or None if it states something else."""
    if f.kind in ("system", "alternatives"):
        parts = [_region(part) for part in f.parts]
        known = tuple(part for part in parts if part is not None)
        return _Region(None, f.kind == "alternatives", known) if len(known) == len(parts) else None
    if f.kind == "statement" and f.relations == ("in",):
        return _inside(f.members[0], f.members[1], f)
    if f.kind not in ("inequality", "chain") or not ORDERINGS.issuperset(f.relations):
        return None
    links = [
        _Region(formula(pair, (relation,), f.latex, f.depends))
        for pair, relation in zip(pairwise(f.members), f.relations, strict=True)
    ]
    return links[0] if len(links) == 1 else _Region(None, parts=tuple(links))


def _inside(value: Expr, where: Expr, f: Formula) -> _Region | None:
    r"""`x \in (a, b]`, `x \in A \cup B`; an infinite end is no bound."""
    if where.op in ("union", "intersection"):
        parts = [_inside(value, part, f) for part in where.args]
        known = tuple(part for part in parts if part is not None)
        return _Region(None, where.op == "union", known) if len(known) == len(parts) else None
    pair = where.op == "tuple" and len(where.args) == 2
    if where.op != "interval" and not pair:
        return None
    low, high = where.args
    bounds = [
        _Region(formula((value, end), (relation,), f.latex, f.depends))
        for end, relation in ((low, ">"), (high, "<"))
        if not is_infinite(end)
    ]
    return _Region(None, parts=tuple(bounds)) if bounds else None


def _bounds(region: _Region) -> Iterator[Formula]:
    if region.bounds is not None:
        yield region.bounds
    for part in region.parts:
        yield from _bounds(part)


def _holds(region: _Region, signs: Mapping[Formula, int]) -> bool:
    if region.bounds is not None:
        upward = region.bounds.relations[0] in (">", ">=")
        return (signs[region.bounds] > 0) == upward
    return (any if region.is_union else all)(_holds(part, signs) for part in region.parts)

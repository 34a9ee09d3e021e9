r"""Shorthand of two formulas written out: ellipses, ranges of sums, derivatives at a point, calls of a function."""

from __future__ import annotations

from dataclasses import replace

from prism.algebra.expr import Expr, Formula, rewritten, symbol, symbols, walk, with_members
from prism.equivalence.interpretation.names import NAMED, joined, special_factors
from prism.equivalence.interpretation.series.ellipses import with_ellipses
from prism.equivalence.interpretation.series.monomials import derivative_at_point
from prism.equivalence.interpretation.series.ranges import upper_limit, with_range
from prism.equivalence.interpretation.signature import signature_of
from prism.latex.parsing.marks import written_marks
from prism.physics.context import Context

_PI = Expr("const", name="pi")
_COUNTED = frozenset(("n", "N", "m", "M", "k", "K", "l", "L", "j", "i", "p", "q"))


def written_out(a: Formula, b: Formula, context: Context) -> tuple[Formula, Formula]:
    """Return two formulas without shorthand that has one meaning; what has none or two stays."""
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    calls = {
        (node.name, node.args[0]) for node in nodes
        if node.op == "apply" and len(node.args) == 1 and node.name not in NAMED
    }  # fmt: skip
    for name in {name for name, _ in a.depends | b.depends}:
        calls -= {call for call in calls if call[0] == name}
    for one, other in ((a, b), (b, a)):
        calls |= _special_calls(one, other)
    if calls:
        a, b = (_with_calls_as_written(f, calls) for f in (a, b))
    a, b = (rewritten(f, lambda node: derivative_at_point(node) or _over_angle(node) or node) for f in (a, b))
    if any(node.op in ("sum", "product") for node in nodes):
        upper = upper_limit((a, b))
        a, b = (rewritten(f, lambda node: with_range(node, upper)) for f in (a, b))
    if any(node.op == "dots" for node in nodes):
        signature = replace(signature_of(a, b, context), whole=_COUNTED)
        a, b = (with_members(f, tuple(with_ellipses(member, signature) for member in f.members)) for f in (a, b))
    return a, b


def _over_angle(node: Expr) -> Expr | None:
    r"""Return an integral over a cosine as one over its angle, `\int_{-1}^1 f\,d\cos\theta`; None for another node.

    Limits are values of the cosine if they are numbers between -1 and 1, of the angle if they hold pi.
    """
    if node.op != "integral" or len(node.args) not in (2, 4) or node.args[1].op != "cos":
        return None
    (body, cosine), limits = node.args[:2], node.args[2:]
    angle = cosine.args[0]
    if angle.op != "sym":
        return None
    body = Expr("mul", (body, Expr("sin", (angle,))))
    if not limits or any(each == _PI for limit in limits for each in walk(limit)):
        return Expr("neg", (Expr("integral", (body, angle, *limits), node.name),))
    if any(limit.op not in ("num", "neg") or symbols(limit) for limit in limits):
        return None
    lower, upper = (Expr("acos", (limit,)) for limit in limits)
    return Expr("integral", (body, angle, upper, lower), node.name)


def _special_calls(one: Formula, other: Formula) -> set[tuple[str, Expr]]:
    """Return the factors before brackets that are special functions, for the other formula has no such letter."""
    nodes = [node for member in one.members for node in walk(member)]
    names = special_factors(nodes) - symbols(*other.members)
    return {
        (left.name, right)
        for node in nodes if node.op == "mul"
        for left, right in zip(node.args, node.args[1:], strict=False) if left.name in names and left.op == "sym"
    }  # fmt: skip


def _with_calls_as_written(f: Formula, calls: set[tuple[str, Expr]]) -> Formula:
    """Return a formula with the calls of the other one where its own text has a bracket: `v T` is a product."""
    written = written_marks(f.latex).called
    shown = {(symbol(name), arg): Expr("apply", (arg,), name) for name, arg in calls if name in written}
    return rewritten(f, lambda node: joined(node, lambda left, right: shown.get((left, right)))) if shown else f

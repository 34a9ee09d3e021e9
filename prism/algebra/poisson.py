r"""Poisson brackets by elementary ones: `{f, g + h}` is `{f, g} + {f, h}`, and `{g, f}` is `-{f, g}`.

An elementary bracket, of two terms in one order, is an opaque atom that commutes with everything. Products are not
taken apart: `{f, gh} = {f, g} h + g {f, h}` states a rule, and would state nothing.
"""

from __future__ import annotations

from prism import budget
from prism.algebra.expr import Expr, Formula, canonical, nodes_with, number, substituted, with_args

POISSON = "poisson"
_EXPANSION = 100  # operations for each bracket that is expanded


def with_elementary_brackets(f: Formula) -> Formula:
    """Return a formula with its Poisson brackets written by elementary ones."""
    found = {node for member in f.members for node in nodes_with(member, "commutator") if node.name == POISSON}
    return substituted(f, {node: _expanded(*node.args) for node in found}) if found else f


def _expanded(a: Expr, b: Expr) -> Expr:
    """Return the Poisson bracket of two expressions by elementary brackets."""
    budget.charge(_EXPANSION)
    if a.op in ("add", "sub", "neg"):
        return with_args(a, tuple(_expanded(arg, b) for arg in a.args))
    if a.op in ("num", "const") or a == b:
        return number(0)
    if b.op in ("add", "sub", "neg", "num", "const"):
        return Expr("neg", (_expanded(b, a),))
    if canonical(a) > canonical(b):
        return Expr("neg", (Expr("opaque", (b, a), name=POISSON),))
    return Expr("opaque", (a, b), name=POISSON)

"""Equal expressions within two formulas as one object, so that what is kept for one is found without a comparison."""

from __future__ import annotations

from dataclasses import replace

from prism.algebra.expr import Expr, Formula
from prism.budget import charge

_NODE = 100  # operations for each node


def with_shared_nodes(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas in which expressions that are equal are one object: tables find this without a look inside.

    Otherwise each look-up of a value that was worked out for the other formula compares two trees node by node.
    """
    charge(_NODE * sum(member.size for f in (a, b) for member in f.members))
    known: dict[int, Expr] = {}
    kept: dict[Expr, Expr] = {}

    def shared(node: Expr) -> Expr:
        """Return the one object of an expression."""
        found = known.get(id(node))
        if found is None:
            args = tuple([shared(arg) for arg in node.args])
            is_same = all(one is two for one, two in zip(args, node.args, strict=True))
            one = node if is_same else Expr(node.op, args, node.name, node.value)
            found = known[id(node)] = kept.setdefault(one, one)
        return found

    one, two = (tuple([shared(member) for member in f.members]) for f in (a, b))
    return replace(a, members=one), replace(b, members=two)

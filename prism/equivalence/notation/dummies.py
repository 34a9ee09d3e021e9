r"""Dummy indices beside covariant derivatives: the letter of `\nabla_\mu A^\nu = \Gamma^\nu_{\mu\lambda} A^\lambda`.

Tensors without such operators are summed component by component (semantics X.9), where the letter says nothing. These
are not, so the one dummy in which two formulas differ gets the letter of the reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from prism.algebra.expr import Expr, Formula, nodes_with, rewritten, walk
from prism.latex.parsing.tokens import GREEK

_GREEK = re.compile(r"\\[a-z]+")
_NAMED = frozenset(("sym", "nabla", "opaque", "apply"))


def with_common_dummies(reference: Formula, claim: Formula) -> tuple[Formula, Formula]:
    """Return two formulas with covariant derivatives with one dummy index, if they differ in one; else as given."""
    if not (_has_covariant_derivative(reference) and _has_covariant_derivative(claim)):
        return reference, claim
    own, other = (
        _dummies(one) - frozenset(_indices(*two.members)) for one, two in ((reference, claim), (claim, reference))
    )
    if len(own) != 1 or len(other) != 1:
        return reference, claim
    (new,), (old,) = own, other
    letter = re.compile(rf"{re.escape(old)}(?![A-Za-z])")

    def renamed(node: Expr) -> Expr:
        """Return a node with the dummy in its name renamed."""
        if node.op not in _NAMED or old not in node.name:
            return node
        return Expr(node.op, node.args, letter.sub(lambda _: new, node.name), node.value)

    return reference, rewritten(claim, renamed)


def _has_covariant_derivative(f: Formula) -> bool:
    r"""Return True for a formula with `\nabla_\mu` or `D_\mu`."""
    nodes = [node for member in f.members for node in nodes_with(member, "nabla", "opaque")]
    return any(node.name.startswith(("grad_", "grad^", "D_", "D^", "nabla_", "nabla^")) for node in nodes)


def _indices(*nodes: Expr) -> Iterator[str]:
    """Yield each Greek letter in the scripts of expressions, and that by which something is differentiated."""
    for root in nodes:
        for node in walk(root):
            if node.op in _NAMED:
                head = _GREEK.match(node.name)
                start = head.end() if head is not None and head.end() < len(node.name) else 0
                yield from (found for found in _GREEK.findall(node.name, start) if found in GREEK)


def _dummies(f: Formula) -> frozenset[str]:
    """Return the indices that each term of a formula has twice or not at all."""
    found: set[str] = set()
    others: set[str] = set()
    waiting = list(f.members)
    while waiting:
        node = waiting.pop()
        if node.op in ("add", "sub", "neg"):
            waiting += node.args
            continue
        counts = Counter(_indices(node))
        found |= {letter for letter, count in counts.items() if count == 2}
        others |= {letter for letter, count in counts.items() if count != 2}
    return frozenset(found - others)

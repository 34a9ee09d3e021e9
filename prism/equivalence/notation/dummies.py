r"""Dummy indices beside covariant derivatives: the letter of `\nabla_\mu A^\nu = \Gamma^\nu_{\mu\lambda} A^\lambda`.

Tensors without such operators are summed component by component (semantics X.9), where the letter says nothing. These
are not, so the one dummy in which two formulas differ gets the letter of the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prism.algebra.expr import Expr, Formula, nodes_with, rewritten, walk
from prism.algebra.symbols import labels_of, relabelled, symbol_of
from prism.latex.parsing.tokens import GREEK

_DIFFERENTIATING = frozenset(("grad", "D", "nabla"))
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

    def renamed(node: Expr) -> Expr:
        """Return a node with the dummy in its name renamed."""
        if node.op not in _NAMED:
            return node
        name = new if node.name == old else relabelled(node.name, {old: new})
        return Expr(node.op, node.args, name, node.value)

    return reference, rewritten(claim, renamed)


def _has_covariant_derivative(f: Formula) -> bool:
    r"""Return True for a formula with `\nabla_\mu` or `D_\mu`."""
    nodes = [node for member in f.members for node in nodes_with(member, "nabla", "opaque")]
    read = [symbol_of(node.name) for node in nodes]
    return any(each.base in _DIFFERENTIATING and (each.sub or each.sup) for each in read)


def _indices(*nodes: Expr) -> Iterator[str]:
    """Yield each Greek letter in the scripts of expressions, and that by which something is differentiated."""
    for root in nodes:
        for node in walk(root):
            if node.op in _NAMED:
                read = symbol_of(node.name)
                labels = (*labels_of(read.sub), *labels_of(read.sup)) if read.sub or read.sup else (node.name,)
                yield from (label for label in labels if label in GREEK)


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

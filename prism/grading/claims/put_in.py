r"""Nodes that a claim states by way of another node that the solution has stated.

Behind `T = 2\pi/\omega`, a node, `\Lambda = \pi R/(m\omega)` is the node `\Lambda = RT/(2m)`: the formula of the one is
put into the other, on both sides (semantics O.3). Nothing is put into a final answer but into the node itself, for the
asked symbols have to be reached. What follows from the stated nodes alone, as `v = 2s/t` from `v = gt` and
`s = \frac12gt^2`, states no further one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, permutations

from prism.algebra.expr import Expr, Formula, substituted, symbols, symbols_of
from prism.equivalence.added_conditions import has_unevaluated
from prism.grading.references import ReferenceNode

MAX_PUT_IN = 2  # nodes that are put in at once
MAX_TRIED = 3  # ways to do so, for one claim and one node
PUT_IN = "formulas: other nodes that the solution states are put in"  # as the report says it


def is_about(node: ReferenceNode, stated: Formula) -> bool:
    """Return True if an equation is solved for a quantity of a node, and leaves nothing of it to be worked out."""
    is_worked_out = not has_unevaluated(stated) or has_unevaluated(node.formulas[0])
    return stated.kind == "equation" and is_worked_out and not node.subjects.isdisjoint(stated.members)


def with_nodes_put_in(
    node: ReferenceNode, stated: Formula, matched: Iterable[ReferenceNode]
) -> Iterator[tuple[Formula, Formula]]:
    """Yield a node's formula and a claim's with the same symbols, once other nodes are put into both.

    Args:
        node: that no claim matches as it stands.
        stated: the claim, solved for the quantity of the node.
        matched: nodes that the solution states; those that are solved for a symbol are put in.
    """
    wanted, asked = node.formulas[0], symbols(*node.subjects)
    own = symbols_of(wanted) if node.number_spec.is_final else symbols_of(wanted) | symbols_of(stated)
    known = {
        one: other
        for each in matched
        for f in each.formulas
        if f.kind == "equation" and not each.is_number
        for one, other in [f.members]
        if one.op == "sym" and one.name in own - asked and symbols(other).isdisjoint((one.name, *asked))
    }
    yield from islice(_equalled(wanted, stated, known), MAX_TRIED)


def _equalled(wanted: Formula, stated: Formula, known: Mapping[Expr, Expr]) -> Iterator[tuple[Formula, Formula]]:
    """Yield the two formulas for each choice of symbols that leaves them the same ones."""
    for size in range(1, MAX_PUT_IN + 1):
        for chosen in permutations(known, size):
            one, other = wanted, stated
            for each in chosen:
                one, other = (substituted(f, {each: known[each]}) for f in (one, other))
            if symbols_of(one) == symbols_of(other) and (one, other) != (wanted, stated):
                yield one, other

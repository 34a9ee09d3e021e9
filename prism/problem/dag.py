"""The reference DAG: the prerequisites of each formula, and the credit for a set of matched formulas.

No mathematics happens here: a node is an index, its points and its prerequisites. Ancestors are bit masks,
computed once at construction, so the closure of a matched set is a union of integers. Masks were chosen over
a graph search per grade because a problem is loaded once and graded millions of times; the search stands in
`tests/problem/test_dag.py` as the slow twin.

A scoring policy is a value in `POLICIES`: a function from matched nodes to credited nodes. Refused: a class per
policy (there is no state to hold), and policies that return a number (the table of a grade shows nodes).

Source: PRISM-Physics (arXiv 2510.03185), Algorithm 2 and Theorem 2; the entropy of the layers is its C3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from graphlib import CycleError, TopologicalSorter

from prism.errors import DagError

LEADS_NOWHERE = "the node leads to no final answer"
Edges = dict[int, tuple[int, ...]]  # node -> the prerequisites of it that exist

# The paper cuts the entropy at two thresholds and does not publish them. These split 35 problems of 5 to 24 nodes into
# 12, 14 and 9: round numbers, and near to equal thirds. exp(entropy) is the product of the widths, a whole number, and
# no cut is within 0.007 of the logarithm of one, so that no rounding moves a problem.
ENTROPY_CUTS = (2.0, 4.0)


@dataclass(frozen=True, slots=True)
class Node:
    """One reference formula, without its mathematics.

    Attributes:
        index: counts from 1 in the order of the worked solution.
        points: exact; the score is a share of their sum.
        prerequisites: direct causes only, all of smaller index.
        is_final: a final answer.
    """

    index: int
    points: Fraction = Fraction(1)
    prerequisites: tuple[int, ...] = ()
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceDag:
    """Checked nodes with their ancestors, built by `reference_dag`, which refuses faulty nodes.

    Attributes:
        nodes: in index order.
        ancestors: one mask a node; bit k stands for `nodes[k]`. A node is not its own ancestor.
        positions: index -> place in `nodes`.
        finals: indices of the final answers.
        total: sum of all points, positive.
    """

    nodes: tuple[Node, ...]
    ancestors: tuple[int, ...]
    positions: dict[int, int] = field(hash=False)
    finals: frozenset[int]
    total: Fraction

    @property
    def indices(self) -> tuple[int, ...]:
        """Return the indices of all nodes, ascending."""
        return tuple(node.index for node in self.nodes)


def reference_dag(nodes: Iterable[Node]) -> ReferenceDag:
    """Build a ReferenceDag from nodes: check them and compute their ancestors.

    Errors:
        DagError: all faults at once. A fault reads `node 3, dependency: ...`, with the key that the problem
            file uses, so that a loader can hand it on as it stands.

    >>> dag = reference_dag([Node(1), Node(2, prerequisites=(1,), is_final=True)])
    >>> sorted(ancestor_closure(dag, frozenset({2})))
    [1, 2]
    """
    ordered = tuple(sorted(nodes, key=lambda node: node.index))
    faults = _faults(ordered)
    if faults:
        raise DagError(faults)
    positions = {node.index: place for place, node in enumerate(ordered)}
    masks: list[int] = []
    for node in ordered:  # prerequisites come first: every edge points forward
        mask = 0
        for prerequisite in node.prerequisites:
            place = positions[prerequisite]
            mask |= masks[place] | 1 << place
        masks.append(mask)
    return ReferenceDag(
        nodes=ordered,
        ancestors=tuple(masks),
        positions=positions,
        finals=frozenset(node.index for node in ordered if node.is_final),
        total=sum((node.points for node in ordered), Fraction(0)),
    )


# Faults -------------------------------------------------------------------------------------------------------


def _faults(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """Return all faults of the nodes in words: wrong indices, edges, cycles, points and final answers."""
    if not nodes:
        return ("nodes: there are none; a reference DAG needs at least one final node",)
    known = frozenset(node.index for node in nodes)
    faults = [
        f"node {index}, index: stands {count} times; every node needs its own"
        for index, count in sorted(Counter(node.index for node in nodes).items())
        if count > 1
    ]
    faults += [f"node {index}, index: must be 1 or more" for index in sorted(known) if index < 1]
    edges: Edges = {}
    for node in nodes:
        existing = tuple(index for index in node.prerequisites if index in known)
        edges[node.index] = edges.get(node.index, ()) + existing
    cycles = _cycles(edges)
    for node in nodes:
        faults += _edge_faults(node, known, cycles)
        if not 0 <= node.points < math.inf:  # also false for NaN
            faults.append(f"node {node.index}, points: {node.points} is not a finite number >= 0")
    if all(node.points == 0 for node in nodes):
        faults.append("points: all are 0, so no score can be computed; give at least one node points > 0")
    for ring in cycles:
        arrows = " -> ".join(str(index) for index in (*ring, ring[0]))
        faults.append(f"node {ring[0]}, dependency: cycle {arrows}; list only smaller indices")
    return (*faults, *_final_faults(nodes, edges))


def _edge_faults(node: Node, known: frozenset[int], cycles: list[list[int]]) -> list[str]:
    """Return the faults of one node's prerequisites, in words: unknown, itself, later or repeated."""
    faults = []
    for prerequisite, count in sorted(Counter(node.prerequisites).items()):
        where = f"node {node.index}, dependency"
        if prerequisite not in known:
            faults.append(f"{where}: {prerequisite} is not a node; nodes are {_index_text(known)}")
        elif prerequisite == node.index:
            faults.append(f"{where}: a node cannot depend on itself")
        elif prerequisite > node.index and not any({prerequisite, node.index} <= set(ring) for ring in cycles):
            faults.append(f"{where}: {prerequisite} comes later; list only smaller indices")
        if count > 1:
            faults.append(f"{where}: {prerequisite} stands {count} times; list it once")
    return faults


def _cycles(edges: Edges) -> list[list[int]]:
    """Return disjoint cycles of two or more nodes, each a list of indices from its smallest on; self-edges are none."""
    remaining = {
        index: [earlier for earlier in prerequisites if earlier != index] for index, prerequisites in edges.items()
    }
    cycles = []
    while True:
        try:
            TopologicalSorter(remaining).prepare()
        except CycleError as error:
            ring: list[int] = error.args[1][:-1]
            start = ring.index(min(ring))  # so that the message does not depend on the search
            cycles.append(ring[start:] + ring[:start])
            remaining = {
                index: [earlier for earlier in prerequisites if earlier not in ring]
                for index, prerequisites in remaining.items()
                if index not in ring
            }
        else:
            return cycles


def _final_faults(nodes: tuple[Node, ...], edges: Edges) -> list[str]:
    """Return the faults of the final answers: there is none, the last node is none, or a node leads to none."""
    finals = sorted({node.index for node in nodes if node.is_final})
    if not finals:
        return ["is_final_answer: no node is a final answer; the last node must be one"]
    faults = []
    last = nodes[-1].index
    if last not in finals:
        faults.append(f"node {last}, is_final_answer: the last node must be a final answer")
    reaching, stack = set(finals), list(finals)
    while stack:
        for prerequisite in edges[stack.pop()]:
            if prerequisite not in reaching:
                reaching.add(prerequisite)
                stack.append(prerequisite)
    lost = [index for index in sorted(edges) if index not in reaching and index != last]
    faults += [f"node {index}, is_final_answer: {LEADS_NOWHERE}" for index in lost]
    return faults


def _index_text(indices: frozenset[int]) -> str:
    """Write node indices for a message: `1..5`, or `1, 2, 4`."""
    ordered = sorted(indices)
    if ordered[-1] - ordered[0] == len(ordered) - 1:  # no range: an index may be as large as its author likes
        return f"{ordered[0]}..{ordered[-1]}" if len(ordered) > 1 else str(ordered[0])
    return ", ".join(str(index) for index in ordered)


# Closure ------------------------------------------------------------------------------------------------------


def ancestor_closure(dag: ReferenceDag, matched: Iterable[int]) -> frozenset[int]:
    """Return the matched nodes with all their prerequisites, direct and indirect: Ach(M) = M with Anc(M).

    By Theorem 2 this is the only set that holds M, is closed under prerequisites, and holds nothing else.

    Errors:
        DagError: an index that is no node of this DAG.
    """
    mask = 0
    for index in matched:
        place = _position(dag, index)
        mask |= dag.ancestors[place] | 1 << place
    return frozenset(node.index for place, node in enumerate(dag.nodes) if mask >> place & 1)


def _position(dag: ReferenceDag, index: int) -> int:
    """Return the position in `dag.nodes` of the node with an index; raise DagError if there is none."""
    if index not in dag.positions:
        raise DagError((f"{index} is not a node; nodes are {_index_text(frozenset(dag.positions))}",))
    return dag.positions[index]


def implied_edges(dag: ReferenceDag) -> tuple[tuple[int, int], ...]:
    """Return the redundant edges (prerequisite, node): another prerequisite of the node already depends on it."""
    implied = []
    for node in dag.nodes:
        further = 0
        for prerequisite in node.prerequisites:
            further |= dag.ancestors[dag.positions[prerequisite]]
        implied += [
            (prerequisite, node.index)
            for prerequisite in sorted(node.prerequisites)
            if further >> dag.positions[prerequisite] & 1
        ]
    return tuple(implied)


def layers(dag: ReferenceDag) -> tuple[tuple[int, ...], ...]:
    """Group the indices by depth: a node is one layer below its deepest prerequisite; roots are in the first."""
    depth: dict[int, int] = {}
    for node in dag.nodes:
        depth[node.index] = 1 + max((depth[prerequisite] for prerequisite in node.prerequisites), default=-1)
    return tuple(
        tuple(index for index in dag.indices if depth[index] == level) for level in range(max(depth.values()) + 1)
    )


def entropy(dag: ReferenceDag) -> float:
    """Return the sum over all layers of log(width) [nat]; 0 for a chain.

    It is the logarithm of the number of ways to take one node from each layer.

    >>> dag = reference_dag([Node(1), Node(2), Node(3, prerequisites=(1, 2), is_final=True)])
    >>> f"{entropy(dag):.6f}"
    '0.693147'
    """
    return math.fsum(math.log(len(layer)) for layer in layers(dag))  # fsum: the order of the layers does not count


def structural_difficulty(dag: ReferenceDag) -> int:
    """Return the mark C3 of a problem's difficulty, 1 to 3: its entropy, cut at `ENTROPY_CUTS`."""
    return 1 + sum(entropy(dag) > cut for cut in ENTROPY_CUTS)


# Scoring ------------------------------------------------------------------------------------------------------

Policy = Callable[[ReferenceDag, Iterable[int]], frozenset[int]]


def strict_credit(dag: ReferenceDag, matched: Iterable[int]) -> frozenset[int]:
    """Return the matched nodes as the credited ones, without prerequisites; raise DagError for an unknown index."""
    return frozenset(dag.nodes[_position(dag, index)].index for index in matched)


def prefix_credit(dag: ReferenceDag, matched: Iterable[int]) -> frozenset[int]:
    """Return the indices of all nodes up to the matched node of the highest index; empty without a match."""
    last = max(strict_credit(dag, matched), default=0)
    return frozenset(index for index in dag.indices if index <= last) if last else frozenset()


def final_credit(dag: ReferenceDag, matched: Iterable[int]) -> frozenset[int]:
    """Return the indices of all nodes if every final answer is matched itself, else an empty set."""
    return frozenset(dag.indices) if is_final_correct(dag, matched) else frozenset()


def training_credit(dag: ReferenceDag, matched: Iterable[int], given: Iterable[int]) -> frozenset[int]:
    """Return the matched nodes and their ancestors as credited, without nodes that the problem itself states.

    A given node earns nothing, neither itself nor as a prerequisite, and its match credits no ancestors. Its ancestors
    are credited by later matches as usual (semantics C.5).

    Args:
        dag: the reference.
        matched: indices of matched nodes.
        given: indices of nodes that repeat the problem.
    """
    repeated = strict_credit(dag, given)
    return ancestor_closure(dag, strict_credit(dag, matched) - repeated) - repeated


POLICIES: dict[str, Policy] = {
    "closure": ancestor_closure,
    "strict": strict_credit,
    "prefix": prefix_credit,
    "final": final_credit,
}


def policies_with(given: Iterable[int] | None, alone: Iterable[int] = ()) -> dict[str, Policy]:
    """Return POLICIES for a solution, with the policy `training` for a problem prepared for it.

    Args:
        given: nodes that the problem itself states; None if it was not prepared for `training`.
        alone: matched nodes that credit no prerequisites, and that `training` does not pay (semantics C.4).
    """
    own = frozenset(alone)
    found = dict(POLICIES)
    if own:
        found |= {name: partial(_beside, POLICIES[name], own) for name in ("closure", "prefix")}
    if given is not None:
        found["training"] = partial(training_credit, given=own.union(given))
    return found


def _beside(policy: Policy, alone: frozenset[int], dag: ReferenceDag, matched: Iterable[int]) -> frozenset[int]:
    """Return what a policy credits, where some nodes (`alone`), if they are matched, credit themselves only."""
    found = frozenset(matched)
    return policy(dag, found - alone) | strict_credit(dag, found & alone)


def is_final_correct(dag: ReferenceDag, matched: Iterable[int]) -> bool:
    """Return True if every final answer is matched itself; credit by closure does not count."""
    return dag.finals <= strict_credit(dag, matched)


def score(dag: ReferenceDag, credited: Iterable[int]) -> Fraction:
    """Return the share of all points that the credited nodes carry, exact and in [0, 1].

    >>> dag = reference_dag([Node(1, Fraction(2)), Node(2, Fraction(1), (1,), is_final=True)])
    >>> score(dag, ancestor_closure(dag, {1}))
    Fraction(2, 3)
    """
    places = {_position(dag, index) for index in credited}
    return sum((dag.nodes[place].points for place in places), Fraction(0)) / dag.total

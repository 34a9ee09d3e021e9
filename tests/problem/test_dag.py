"""The reference DAG: its faults, Theorem 2 as properties, and the closure against a graph search."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.errors import DagError
from prism.problem.dag import (
    ENTROPY_CUTS,
    POLICIES,
    Node,
    ReferenceDag,
    ancestor_closure,
    entropy,
    implied_edges,
    is_final_correct,
    layers,
    policies_with,
    reference_dag,
    score,
    structural_difficulty,
    training_credit,
)


def faults_of(*nodes: Node) -> tuple[str, ...]:
    with pytest.raises(DagError) as caught:
        reference_dag(nodes)
    return caught.value.faults


def chain(*points: int) -> ReferenceDag:
    """1 -> 2 -> ... -> n, the last one final."""
    last = len(points)
    return reference_dag(
        Node(place, Fraction(value), (place - 1,) if place > 1 else (), place == last)
        for place, value in enumerate(points, start=1)
    )


def searched_closure(dag: ReferenceDag, matched: frozenset[int]) -> frozenset[int]:
    """The slow twin: walk backward over the edges, one node at a time, without masks."""
    by_index = {node.index: node for node in dag.nodes}
    seen: set[int] = set()
    waiting = list(matched)
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            waiting.extend(by_index[index].prerequisites)
    return frozenset(seen)


@st.composite
def dags(draw: st.DrawFn, *, most: int = 12) -> ReferenceDag:
    """Forward edges drawn freely; whatever leads nowhere becomes a final answer."""
    size = draw(st.integers(1, most))
    edges = {
        index: tuple(sorted(draw(st.sets(st.integers(1, index - 1))) if index > 1 else ()))
        for index in range(1, size + 1)
    }
    used = {earlier for earliest in edges.values() for earlier in earliest}
    points = [draw(st.integers(0, 6)) for _ in range(size)]
    points[draw(st.integers(0, size - 1))] = draw(st.integers(1, 6))
    extra = draw(st.sets(st.integers(1, size)))
    return reference_dag(
        Node(index, Fraction(points[index - 1], 3), edges[index], index not in used or index in extra)
        for index in range(1, size + 1)
    )


@st.composite
def dags_with_matches(draw: st.DrawFn) -> tuple[ReferenceDag, frozenset[int]]:
    dag = draw(dags())
    return dag, frozenset(draw(st.sets(st.sampled_from(dag.indices))))


# Theorem 2 ----------------------------------------------------------------------------------------------------


@given(dags_with_matches())
def test_closure_is_what_a_search_finds(drawn: tuple[ReferenceDag, frozenset[int]]) -> None:
    dag, matched = drawn
    assert ancestor_closure(dag, matched) == searched_closure(dag, matched)


@given(dags_with_matches())
def test_matched_nodes_are_credited(drawn: tuple[ReferenceDag, frozenset[int]]) -> None:
    dag, matched = drawn
    assert matched <= ancestor_closure(dag, matched)


@given(dags_with_matches())
def test_credit_is_closed_under_prerequisites(drawn: tuple[ReferenceDag, frozenset[int]]) -> None:
    dag, matched = drawn
    credited = ancestor_closure(dag, matched)
    assert all(set(node.prerequisites) <= credited for node in dag.nodes if node.index in credited)


@given(dags_with_matches())
def test_nothing_is_credited_without_a_matched_consequence(drawn: tuple[ReferenceDag, frozenset[int]]) -> None:
    dag, matched = drawn
    for index in ancestor_closure(dag, matched):
        assert any(index in searched_closure(dag, frozenset({other})) for other in matched)


@given(dags_with_matches(), st.data())
def test_more_matches_never_earn_less(drawn: tuple[ReferenceDag, frozenset[int]], data: st.DataObject) -> None:
    dag, matched = drawn
    more = matched | data.draw(st.sets(st.sampled_from(dag.indices)))
    assert ancestor_closure(dag, matched) <= ancestor_closure(dag, more)
    for name, policy in POLICIES.items():
        assert score(dag, policy(dag, matched)) <= score(dag, policy(dag, more)), name


@given(dags_with_matches())
def test_closure_is_idempotent(drawn: tuple[ReferenceDag, frozenset[int]]) -> None:
    dag, matched = drawn
    once = ancestor_closure(dag, matched)
    assert ancestor_closure(dag, once) == once


@given(dags_with_matches(), st.data())
def test_relabelling_that_keeps_the_order_changes_nothing(
    drawn: tuple[ReferenceDag, frozenset[int]], data: st.DataObject
) -> None:
    dag, matched = drawn
    size = len(dag.nodes)
    labels = sorted(data.draw(st.sets(st.integers(1, 99), min_size=size, max_size=size)))
    new = dict(zip(dag.indices, labels, strict=True))
    relabelled = reference_dag(
        Node(new[node.index], node.points, tuple(new[index] for index in node.prerequisites), node.is_final)
        for node in dag.nodes
    )
    renamed = frozenset(new[index] for index in matched)
    for policy in POLICIES.values():
        assert policy(relabelled, renamed) == {new[index] for index in policy(dag, matched)}
        assert score(relabelled, policy(relabelled, renamed)) == score(dag, policy(dag, matched))


@given(dags_with_matches(), st.data())
def test_an_implied_edge_changes_nothing(drawn: tuple[ReferenceDag, frozenset[int]], data: st.DataObject) -> None:
    dag, matched = drawn
    ancestors = {node.index: searched_closure(dag, frozenset(node.prerequisites)) for node in dag.nodes}
    added = {index: data.draw(st.sets(st.sampled_from(sorted(a)))) if a else set() for index, a in ancestors.items()}
    denser = reference_dag(
        Node(node.index, node.points, tuple({*node.prerequisites, *added[node.index]}), node.is_final)
        for node in dag.nodes
    )
    assert ancestor_closure(denser, matched) == ancestor_closure(dag, matched)
    fresh = {(extra, node.index) for node in dag.nodes for extra in added[node.index] - set(node.prerequisites)}
    assert fresh <= set(implied_edges(denser))


@given(dags())
def test_dropping_an_implied_edge_changes_no_ancestor(dag: ReferenceDag) -> None:
    implied = set(implied_edges(dag))
    sparser = reference_dag(
        Node(n.index, n.points, tuple(p for p in n.prerequisites if (p, n.index) not in implied), n.is_final)
        for n in dag.nodes
    )
    assert sparser.ancestors == dag.ancestors
    assert implied_edges(sparser) == ()


# Scores -------------------------------------------------------------------------------------------------------


@given(dags_with_matches())
def test_policies_and_scores(drawn: tuple[ReferenceDag, frozenset[int]]) -> None:
    dag, matched = drawn
    shares = {name: score(dag, policy(dag, matched)) for name, policy in POLICIES.items()}
    assert all(0 <= share <= 1 for share in shares.values())
    assert POLICIES["strict"](dag, matched) == matched
    assert shares["strict"] <= shares["closure"]
    assert POLICIES["closure"](dag, matched) <= POLICIES["prefix"](dag, matched)  # edges point forward
    assert shares["final"] == int(is_final_correct(dag, matched))
    assert is_final_correct(dag, matched) == all(node.index in matched for node in dag.nodes if node.is_final)


@given(dags_with_matches(), st.data())
def test_a_node_that_the_problem_gives_earns_nothing_and_hands_nothing_on(
    drawn: tuple[ReferenceDag, frozenset[int]], data: st.DataObject
) -> None:
    dag, matched = drawn
    given = frozenset(data.draw(st.sets(st.sampled_from(dag.indices))))
    credited = training_credit(dag, matched, given)
    assert credited == searched_closure(dag, matched - given) - given
    assert credited == training_credit(dag, matched | given, given)  # a copy of the problem changes nothing
    assert training_credit(dag, matched, ()) == ancestor_closure(dag, matched)
    assert policies_with(given)["training"](dag, matched) == credited
    assert {name: policies_with(given)[name] for name in POLICIES} == POLICIES
    more = matched | data.draw(st.sets(st.sampled_from(dag.indices)))
    assert credited <= training_credit(dag, more, given)


def test_training_by_hand() -> None:
    """1 -> 2 -> 3: the problem gives 2. Who copies it has nothing; who finds 3 has earned 1 as well."""
    dag = chain(1, 1, 1)
    assert training_credit(dag, {2}, {2}) == frozenset()
    assert training_credit(dag, {1, 2}, {2}) == {1}
    assert training_credit(dag, {3}, {2}) == {1, 3}
    assert score(dag, training_credit(dag, {3}, {2})) == Fraction(2, 3)
    with pytest.raises(DagError, match="7 is not a node"):
        training_credit(dag, {1}, {7})


def test_scoring_figure_by_hand() -> None:
    """PRISM-Physics (arXiv 2510.03185), Figure 7: 20 + 20 + 20 + 30 of 100 points."""
    points = [Fraction(value) for value in (20, 20, 20, 30, 10)]
    dag = reference_dag([
        Node(1, points[0]),
        Node(2, points[1]),
        Node(3, points[2], (1, 2), is_final=True),
        Node(4, points[3]),
        Node(5, points[4], (4,), is_final=True),
    ])  # fmt: skip
    matched = frozenset({1, 3, 4})
    assert ancestor_closure(dag, matched) == {1, 2, 3, 4}
    assert {name: score(dag, policy(dag, matched)) for name, policy in POLICIES.items()} == {
        "closure": Fraction(9, 10),
        "strict": Fraction(7, 10),
        "prefix": Fraction(9, 10),
        "final": Fraction(0),
    }
    assert layers(dag) == ((1, 2, 4), (3, 5))
    assert implied_edges(dag) == ()


def test_nothing_matched_earns_nothing() -> None:
    dag = chain(1, 2, 3)
    assert {policy(dag, frozenset()) for policy in POLICIES.values()} == {frozenset()}


def test_points_are_exact() -> None:
    dag = reference_dag([Node(1, Fraction("0.1")), Node(2, Fraction("0.2"), (1,), is_final=True)])
    assert score(dag, {1}) == Fraction(1, 3)


def test_layers_follow_the_longest_path() -> None:
    dag = reference_dag([Node(1), Node(2, prerequisites=(1,)), Node(3, prerequisites=(1, 2), is_final=True)])
    assert layers(dag) == ((1,), (2,), (3,))
    assert implied_edges(dag) == ((1, 3),)


# Structure ----------------------------------------------------------------------------------------------------


def layered(*widths: int) -> ReferenceDag:
    """Layers of the given widths; each node rests on the whole layer above it."""
    nodes: list[Node] = []
    above: tuple[int, ...] = ()
    for width in widths:
        start = len(nodes) + 1
        nodes += [Node(index, prerequisites=above) for index in range(start, start + width)]
        above = tuple(range(start, start + width))
    return reference_dag(Node(n.index, n.points, n.prerequisites, n.index in above) for n in nodes)


@pytest.mark.parametrize(("widths", "by_hand", "mark"), [
    ((1,), 0.0, 1),
    ((1, 1, 1, 1), 0.0, 1),
    ((2, 1), 0.693147, 1),  # log 2
    ((3, 1, 1), 1.098612, 1),  # log 3
    ((2, 2, 1), 1.386294, 1),  # 2 log 2 = log 4
    ((3, 2, 1), 1.791759, 1),  # log 3 + log 2
    ((7, 1), 1.945910, 1),  # log 7, the last below the first cut
    ((2, 2, 2), 2.079442, 2),  # 3 log 2 = log 8, the first above it
    ((4, 2, 2), 2.772589, 2),  # log 4 + 2 log 2 = 4 log 2
    ((6, 3, 3), 3.988984, 2),  # log 6 + 2 log 3 = log 54, the last below the second cut
    ((11, 5), 4.007333, 3),  # log 55, the first above it
])  # fmt: skip
def test_entropy_by_hand(widths: tuple[int, ...], by_hand: float, mark: int) -> None:
    dag = layered(*widths)
    assert tuple(map(len, layers(dag))) == widths
    assert entropy(dag) == pytest.approx(by_hand, abs=5e-7)
    assert structural_difficulty(dag) == mark


@given(dags(), st.data())
def test_one_more_node_in_a_layer_never_lowers_the_entropy(dag: ReferenceDag, data: st.DataObject) -> None:
    model = data.draw(st.sampled_from(dag.nodes))
    last = dag.indices[-1]  # the new node goes before it, so that the last stays a final answer
    shifted = [Node(n.index + (n.index == last), n.points, n.prerequisites, n.is_final) for n in dag.nodes]
    twin = Node(last, model.points, model.prerequisites, is_final=True)
    more = reference_dag([*shifted, twin])
    (layer,) = [layer for layer in layers(dag) if model.index in layer]
    assert entropy(more) == pytest.approx(entropy(dag) + math.log((len(layer) + 1) / len(layer)))
    assert entropy(more) > entropy(dag)
    assert structural_difficulty(more) >= structural_difficulty(dag)


@given(dags())
def test_the_entropy_counts_the_ways_through_the_layers(dag: ReferenceDag) -> None:
    ways = math.prod(len(layer) for layer in layers(dag))
    assert math.exp(entropy(dag)) == pytest.approx(ways)
    assert (entropy(dag) == 0) == (ways == 1)
    assert 0 <= entropy(dag) <= len(dag.nodes) * math.log(3) / 3 + 1e-9  # widest product of a given number of nodes
    assert structural_difficulty(dag) == 1 + (ways >= 8) + (ways >= 55)


def test_no_rounding_can_move_a_problem_across_a_cut() -> None:
    for cut in ENTROPY_CUTS:
        below = math.floor(math.exp(cut))
        assert min(cut - math.log(below), math.log(below + 1) - cut) > 0.007


@pytest.mark.parametrize("call", [*POLICIES.values(), score])
def test_an_index_that_is_no_node_is_refused(call: object) -> None:
    assert callable(call)
    with pytest.raises(DagError, match=r"7 is not a node; nodes are 1\.\.3"):
        call(chain(1, 1, 1), {7})


# Faults -------------------------------------------------------------------------------------------------------


def test_no_nodes() -> None:
    assert faults_of() == ("nodes: there are none; a reference DAG needs at least one final node",)


def test_duplicate_index() -> None:
    assert faults_of(Node(1), Node(1), Node(2, prerequisites=(1,), is_final=True)) == (
        "node 1, index: stands 2 times; every node needs its own",
    )


def test_index_below_one() -> None:
    assert faults_of(Node(0), Node(1, prerequisites=(0,), is_final=True)) == ("node 0, index: must be 1 or more",)


def test_unknown_prerequisite() -> None:
    assert faults_of(Node(1), Node(2, prerequisites=(1, 7), is_final=True)) == (
        "node 2, dependency: 7 is not a node; nodes are 1..2",
    )


def test_unknown_prerequisite_among_scattered_indices() -> None:
    assert faults_of(Node(2), Node(5, prerequisites=(2, 3), is_final=True)) == (
        "node 5, dependency: 3 is not a node; nodes are 2, 5",
    )


def test_self_edge() -> None:
    assert faults_of(Node(1, prerequisites=(1,), is_final=True)) == (
        "node 1, dependency: a node cannot depend on itself",
    )


def test_repeated_prerequisite() -> None:
    assert faults_of(Node(1), Node(2, prerequisites=(1, 1), is_final=True)) == (
        "node 2, dependency: 1 stands 2 times; list it once",
    )


def test_backward_edge() -> None:
    assert faults_of(Node(1, prerequisites=(2,), is_final=True), Node(2, is_final=True)) == (
        "node 1, dependency: 2 comes later; list only smaller indices",
    )


def test_cycles_are_named_member_by_member() -> None:
    nodes = [
        Node(1, prerequisites=(3,)),
        Node(2, prerequisites=(1,)),
        Node(3, prerequisites=(2,)),
        Node(4, prerequisites=(5,)),
        Node(5, prerequisites=(3, 4)),
        Node(6, prerequisites=(5,), is_final=True),
    ]
    assert faults_of(*nodes) == (
        "node 1, dependency: cycle 1 -> 2 -> 3 -> 1; list only smaller indices",
        "node 4, dependency: cycle 4 -> 5 -> 4; list only smaller indices",
    )


def test_no_final_answer() -> None:
    assert faults_of(Node(1), Node(2, prerequisites=(1,))) == (
        "is_final_answer: no node is a final answer; the last node must be one",
    )


def test_last_node_not_final() -> None:
    assert faults_of(Node(1, is_final=True), Node(2, prerequisites=(1,))) == (
        "node 2, is_final_answer: the last node must be a final answer",
    )


def test_node_that_leads_nowhere() -> None:
    assert faults_of(Node(1), Node(2), Node(3, prerequisites=(1,), is_final=True)) == (
        "node 2, is_final_answer: the node leads to no final answer",
    )


@pytest.mark.parametrize("points", [Fraction(-1), math.inf, math.nan, -math.inf])
def test_points_must_be_finite_and_not_negative(points: Fraction) -> None:
    assert faults_of(Node(1, points), Node(2, prerequisites=(1,), is_final=True)) == (
        f"node 1, points: {points} is not a finite number >= 0",
    )


def test_points_must_not_all_be_zero() -> None:
    assert faults_of(Node(1, Fraction(0), is_final=True)) == (
        "points: all are 0, so no score can be computed; give at least one node points > 0",
    )


def test_all_faults_at_once_and_through_a_pickle() -> None:
    with pytest.raises(DagError) as caught:
        reference_dag([
            Node(1, Fraction(-2)),
            Node(2, prerequisites=(2,)),
            Node(3, prerequisites=(9,)),
            Node(4, prerequisites=(5,)),
            Node(5, prerequisites=(4,)),
        ])  # fmt: skip
    error = caught.value
    assert error.faults == (
        "node 1, points: -2 is not a finite number >= 0",
        "node 2, dependency: a node cannot depend on itself",
        "node 3, dependency: 9 is not a node; nodes are 1..5",
        "node 4, dependency: cycle 4 -> 5 -> 4; list only smaller indices",
        "is_final_answer: no node is a final answer; the last node must be one",
    )
    again = pickle.loads(pickle.dumps(error))
    assert again.faults == error.faults
    assert str(again) == str(error)


def test_values_survive_a_pickle() -> None:
    dag = chain(1, 2, 3)
    assert pickle.loads(pickle.dumps(dag)) == dag
    assert hash(dag) == hash(chain(1, 2, 3))

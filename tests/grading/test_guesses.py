"""Nodes that can be guessed: what has to be there before one counts, and what one behind wrong work earns."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.grading.guesses import without_guesses
from prism.grading.pipeline import grade
from prism.grading.prepared import prepare
from prism.grading.result import nodes_alone
from prism.grading.scoring import step_credits
from prism.problem.dag import Node, ancestor_closure, reference_dag


@given(
    st.integers(2, 8).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.integers(1, n)), st.sets(st.integers(1, n)),
            st.lists(st.tuples(st.integers(1, n), st.integers(1, n)), max_size=12),
        )
    )
)  # fmt: skip
def test_a_guess_enters_only_by_what_it_follows_from(
    case: tuple[int, set[int], set[int], list[tuple[int, int]]],
) -> None:
    n, matched, guessable, pairs = case
    edges = {(a, b) for a, b in pairs if a < b} | {(k, n) for k in range(1, n)}
    dag = reference_dag(
        Node(k, prerequisites=tuple(sorted(a for a, b in edges if b == k)), is_final=k == n) for k in range(1, n + 1)
    )
    kept = without_guesses(dag, matched, guessable)
    assert matched - guessable <= kept <= matched
    for node in dag.nodes:
        if node.index in kept & guessable and node.prerequisites:
            assert ancestor_closure(dag, kept - {node.index}).intersection(node.prerequisites)


def test_a_guess_behind_wrong_work_earns_itself_and_nothing_for_training() -> None:
    prepared = prepare("stability", training=True)
    text = r"(a) $m\ddot\xi = -\frac{(4 - n)K}{r_0^{n+1}}\xi$, so $n < 3$."
    found = grade(prepared, text)
    assert found.matched == found.credited == (8,)
    assert nodes_alone(prepared.problem.dag, found) == {8}
    one = pytest.approx(1 / 13, abs=1e-6)
    assert found.policies == {"strict": one, "prefix": one, "final": 0, "training": 0}
    assert found.score_strict == 0
    assert found.score == one
    assert sum(step.credit for step in step_credits(prepared, found)) == Fraction(1, 13)


def test_a_guess_behind_right_work_stands_with_all_that_it_rests_on() -> None:
    prepared = prepare("stability", training=True)
    found = grade(prepared, r"(a) $m\ddot\xi = -\frac{(3 - n)K}{r_0^{n+1}}\xi$, so $n < 3$.")
    assert found.matched == (7, 8)
    assert not nodes_alone(prepared.problem.dag, found)

"""What the arithmetic of EngTrace implies, over drawn matrices and votes, beside slow twins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from prism.protocols.engtrace.causes import RootCause, first_yes
from prism.protocols.engtrace.files import CLASS_SCORES, NO_VOTE, Vote, consensus
from prism.protocols.engtrace.scores import Bounded, best_assignment, score_by_assignment, score_by_maxima, total
from prism.protocols.engtrace.similarity import common_stems

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
Drawn = list[list[Fraction | None]]


def matrices(*values: Fraction | None, most: int = 5) -> st.SearchStrategy[Drawn]:
    """Matrices of values, weighted as they are listed, from 1 to `most` rows and columns."""
    return st.tuples(st.integers(1, most), st.integers(1, most)).flatmap(
        lambda size: st.lists(
            st.lists(st.sampled_from(values), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
        )
    )


DECIDED = matrices(ZERO, ZERO, HALF, ONE)
ANY = matrices(ZERO, ZERO, HALF, ONE, None)
BINARY = matrices(ZERO, ZERO, ONE)
BINARY_OR_OPEN = matrices(ZERO, ONE, None)


# The assignment. ------------------------------------------------------------------------------------------------


def assignments(n_gold: int, n_predicted: int) -> Iterator[tuple[int | None, ...]]:
    """All one-to-one assignments, those with spare steps too."""
    places: Sequence[int | None] = (*range(n_predicted), *(None,) * n_gold)
    yield from dict.fromkeys(permutations(places, n_gold))


def rank(values: Sequence[Sequence[Fraction]], partners: Sequence[int | None]) -> tuple[object, ...]:
    """What the best assignment has least of: value, with minus; distance; then the order of partners."""
    pairs = [(i, j) for i, j in enumerate(partners) if j is not None and values[i][j]]
    taken = dict(pairs)
    order = tuple(taken.get(i, len(values[0])) for i in range(len(values)))
    return -sum(values[i][j] for i, j in pairs), sum(abs(i - j) for i, j in pairs), order


@given(matrices(ZERO, ZERO, HALF, ONE, most=4))
def test_the_assignment_is_the_best_of_all(values: list[list[Fraction]]) -> None:
    """Twin: all assignments are tried."""
    found = best_assignment(values)
    best = min(assignments(len(values), len(values[0])), key=lambda each: rank(values, each))
    assert rank(values, found) == rank(values, best)
    used = [j for j in found if j is not None]
    assert len(used) == len(set(used))
    assert all(values[i][j] for i, j in enumerate(found) if j is not None)


@given(matrices(ZERO, ZERO, HALF, ONE, Fraction(1, 3), most=12))
def test_the_sum_is_that_of_scipy(values: list[list[Fraction]]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    table = np.array([[float(each) for each in row] for row in values])
    rows, columns = optimize.linear_sum_assignment(table, maximize=True)
    best = sum((values[i][j] for i, j in zip(rows, columns, strict=True)), ZERO)
    assert total(values, best_assignment(values)) == best


@pytest.mark.parametrize(
    ("values", "partners"),
    [
        ([[1, 1, 1], [1, 1, 1]], (0, 1)),  # all alike: in order
        ([[0, 1], [1, 0], [1, 0]], (1, 0, None)),  # 2 -> 1 is nearer than 3 -> 1
        ([[0, 1, 0], [0, 0, 0], [0, 1, 0]], (1, None, None)),  # equally near: the lower gold step
        ([[0, 0, 0], [1, 0, 1], [0, 0, 0]], (None, 0, None)),  # equally near: the lower predicted step
        ([[1, 1], [1, 0]], (1, 0)),  # two pairs before one
        ([[0], [0]], (None, None)),
        ([[], []], (None, None)),
        ([], ()),
    ],
)
def test_ties_have_one_answer(values: list[list[int]], partners: tuple[int | None, ...]) -> None:
    assert best_assignment([[Fraction(each) for each in row] for row in values]) == partners


def test_many_steps_are_assigned_at_once() -> None:
    assert best_assignment([[ONE] * 300] * 40) == tuple(range(40))


# The scores. ----------------------------------------------------------------------------------------------------


def permuted(values: Drawn, rows: Sequence[int], columns: Sequence[int]) -> Drawn:
    return [[values[i][j] for j in columns] for i in rows]


@given(ANY, st.randoms(use_true_random=False))
def test_the_order_of_steps_changes_no_score(values: Drawn, random: Random) -> None:
    rows, columns = list(range(len(values))), list(range(len(values[0])))
    random.shuffle(rows)
    random.shuffle(columns)
    moved = permuted(values, rows, columns)
    for score in (score_by_assignment, score_by_maxima):
        one, other = score(values, len(columns)), score(moved, len(columns))
        assert (one.f1, one.precision, one.recall) == (other.f1, other.precision, other.recall)


@given(ANY)
def test_gold_and_prediction_exchanged_exchange_precision_and_recall(values: Drawn) -> None:
    turned = [list(column) for column in zip(*values, strict=True)]
    for score in (score_by_assignment, score_by_maxima):
        one, other = score(values, len(values[0])), score(turned, len(values))
        assert (one.precision, one.recall, one.f1) == (other.recall, other.precision, other.f1)


@given(ANY)
def test_f1_is_twice_the_sum_over_all_steps(values: Drawn) -> None:
    found = score_by_assignment(values, len(values[0]))
    for low_or_high in ("low", "high"):
        s = getattr(found.recall, low_or_high) * len(values)
        assert getattr(found.f1, low_or_high) == 2 * s / (len(values) + len(values[0]))


@given(ANY, st.data())
def test_the_bounds_hold_whatever_is_open_turns_out_to_be(values: Drawn, data: st.DataObject) -> None:
    binary = [[None if each is None else Fraction(each > 0) for each in row] for row in values]
    for score, drawn in ((score_by_assignment, values), (score_by_maxima, binary)):
        known = (ZERO, HALF, ONE) if score is score_by_assignment else (ZERO, ONE)
        filled = [[data.draw(st.sampled_from(known)) if each is None else each for each in row] for row in drawn]
        bounds, settled = score(drawn, len(drawn[0])).f1, score(filled, len(filled[0])).f1
        assert settled.value is not None
        assert 0 <= bounds.low <= settled.value <= bounds.high <= 1
        assert bounds.value in (None, settled.value)


@pytest.mark.slow
@given(ANY)
def test_a_score_is_null_where_a_step_is(values: Drawn) -> None:
    found = score_by_assignment(values, len(values[0]))
    assert (found.f1.value is None) == (None in found.credits)
    if found.f1.value is not None:
        assert sum(each or ZERO for each in found.credits) == found.recall.low * len(values)
    released = score_by_maxima(values, len(values[0]))
    if None in released.credits:  # there a column may be open by itself
        assert released.f1.value is None


@given(DECIDED, st.data())
def test_a_better_pair_never_lowers_the_score(values: Drawn, data: st.DataObject) -> None:
    i, j = data.draw(st.integers(0, len(values) - 1)), data.draw(st.integers(0, len(values[0]) - 1))
    better = [list(row) for row in values]
    better[i][j] = ONE
    for score in (score_by_assignment, score_by_maxima):
        assert score(better, len(values[0])).f1.low >= score(values, len(values[0])).f1.low


@given(BINARY_OR_OPEN)
def test_one_partner_each_never_earns_more_than_maxima(values: Drawn) -> None:
    by_paper, as_released = score_by_assignment(values, len(values[0])), score_by_maxima(values, len(values[0]))
    assert by_paper.f1.low <= as_released.f1.low
    assert by_paper.f1.high <= as_released.f1.high


@given(DECIDED)
def test_a_step_too_many_never_raises_the_score(values: Drawn) -> None:
    longer = [[*row, ZERO] for row in values]
    for score in (score_by_assignment, score_by_maxima):
        one, other = score(values, len(values[0])), score(longer, len(longer[0]))
        assert other.f1.low <= one.f1.low
        assert other.recall == one.recall


def test_no_predicted_step_is_0() -> None:
    for score in (score_by_assignment, score_by_maxima):
        found = score([[], []], 0)
        assert (found.f1, found.precision, found.recall) == (Bounded(ZERO, ZERO),) * 3
        assert found.credits == (ZERO, ZERO)


# Votes, words, causes. ------------------------------------------------------------------------------------------

CLASSES = st.sampled_from([*CLASS_SCORES, *NO_VOTE])
VOTES = st.lists(CLASSES, max_size=7).map(
    lambda classes: [Vote(f"J{k}", said, CLASS_SCORES.get(said)) for k, said in enumerate(classes)]
)


@given(VOTES, st.randoms(use_true_random=False))
def test_the_order_of_votes_changes_nothing(votes: list[Vote], random: Random) -> None:
    shuffled = list(votes)
    random.shuffle(shuffled)
    assert consensus(shuffled) == consensus(votes)


@given(VOTES)
def test_the_consensus_is_the_majority_or_the_lowest(votes: list[Vote]) -> None:
    scores = [vote.score for vote in votes if vote.score is not None]
    found = consensus(votes)
    majority = [each for each in scores if 2 * scores.count(each) > len(scores)]
    assert found == (majority[0] if majority else min(scores, default=None))
    assert consensus([*votes, Vote("none", NO_VOTE[0], None)]) == found


@given(st.text(alphabet="adeginorsty \n", max_size=60), st.text(alphabet="adeginorsty \n", max_size=60))
def test_the_share_of_stems_is_symmetric(one: str, other: str) -> None:
    share = common_stems(one, other)
    assert 0 <= share <= 1
    assert share == common_stems(other, one)
    assert common_stems(one, one) in (0, 1)


@given(st.dictionaries(st.sampled_from(list(RootCause)), st.sampled_from([True, False, None])))
def test_the_first_yes_wins_and_nothing_behind_it_counts(answers: dict[RootCause, bool | None]) -> None:
    cause = first_yes(answers)
    assume(cause is not None)
    assert cause is not None
    before = list(RootCause)[: list(RootCause).index(cause)]
    assert answers[cause] is True
    assert all(answers[each] is False for each in before)
    assert first_yes({each: answers[each] for each in (*before, cause)}) == cause


def test_no_yes_is_no_cause() -> None:
    assert first_yes(dict.fromkeys(RootCause, False)) is None
    assert next(str(each) for each in RootCause) == "Hallucination"

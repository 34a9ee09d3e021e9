"""Rubrics of open-ended EngiBench questions: what a cell says, and what a marker's points add up to."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.protocols.engibench.rubrics import DIMENSIONS, dimension_of, mark, read_rubric
from prism.protocols.rows import Basis

CELL = """(1) Says what is uncertain (6 points)
6 points: two things
3 points: one
0 points: none
(2) Says what it changes (in words) (4 points)
3-4 points: the choice
1 point: the size
"""


def marked(cell: str, *got: float | None):
    numbers = {k: None if each is None else Fraction(str(each)) for k, each in enumerate(got, start=1)}
    return mark(read_rubric(cell), numbers)


def test_heads_and_levels_of_a_cell() -> None:
    rubric = read_rubric(CELL)
    assert [head.number for head in rubric.heads] == [1, 2]
    assert [head.name for head in rubric.heads] == ["Says what is uncertain", "Says what it changes (in words)"]
    assert [head.points for head in rubric.heads] == [6, 4]
    assert [head.levels_text for head in rubric.heads] == ["6, 3, 0", "3 to 4, 1"]
    assert rubric.total == 10
    assert not rubric.fault


@pytest.mark.parametrize(
    ("cell", "heads"),
    [
        ("(1) One (10 points) 10 points: all; 5 points: half", [(1, 10, "10, 5")]),
        (
            "（1） One （2.5 points）\n(2) Two (7.5 Points)",
            [(1, Fraction(5, 2), "0 to 2.5"), (2, Fraction(15, 2), "0 to 7.5")],
        ),
        ("(1) One (10 pts)\n7–10 pts: good\n3 pts.: poor", [(1, 10, "7 to 10, 3")]),
        ("10 points: all\n4 points: some\n0 points: none", [(1, 10, "10, 4, 0")]),  # levels alone are one head
        ("A rubric without a skeleton.", []),
        ("", []),
    ],
)
def test_how_heads_may_be_written(cell: str, heads: list[tuple[int, Fraction, str]]) -> None:
    assert [(head.number, head.points, head.levels_text) for head in read_rubric(cell).heads] == heads


# Worked by hand. ------------------------------------------------------------------------------------------------


def test_points_of_all_heads_add_up() -> None:
    # 3 of 6 and 3.5 of 4 are 6.5 of 10: the heads have 1/2 and 7/8.
    found = marked(CELL, 3, 3.5)
    assert (found.score, found.low, found.high) == (Fraction(65, 100), Fraction(65, 100), Fraction(65, 100))
    assert [part.score for part in found.parts] == [Fraction(1, 2), Fraction(7, 8)]
    assert {part.basis for part in found.parts} == {Basis.FILE}
    assert found.parts[1].findings == ("points: 3.5 of 4",)
    assert not found.notes


def test_points_that_are_no_level_leave_their_head_open() -> None:
    # 4 is none of 6, 3, 0: the head is worth 0 to 6, beside 1 of the other: from 1 to 7 of 10.
    found = marked(CELL, 4, 1)
    assert (found.score, found.low, found.high) == (None, Fraction(1, 10), Fraction(7, 10))
    assert found.notes == ("level: 4 is none of head 1, which lists 6, 3, 0",)
    assert [part.basis for part in found.parts] == [Basis.NONE, Basis.FILE]


def test_a_head_that_the_file_leaves_out_is_open() -> None:
    # 6 of 6, and the other from 0 to 4: from 6 to 10 of 10.
    found = marked(CELL, 6)
    assert (found.score, found.low, found.high) == (None, Fraction(6, 10), 1)
    assert marked(CELL, 6, None) == found


def test_heads_of_nine_points_leave_the_tenth_open() -> None:
    # 6 and 3 of 6 and 3: 9 points, and one that nobody has: from 9 to 10 of 10.
    found = marked("(1) One (6 points) (2) Two (3 points)", 6, 3)
    assert (found.score, found.low, found.high) == (None, Fraction(9, 10), 1)
    assert found.notes == ("rubric: its heads add up to 9, not to 10",)


def test_heads_of_twelve_points_have_two_too_many() -> None:
    # 8 and 3 of 8 and 4 are 11: two of the twelve are not to be had, if they are among the 11, there are 9; at most 10.
    found = marked("(1) One (8 points) (2) Two (4 points)", 8, 3)
    assert (found.score, found.low, found.high) == (None, Fraction(9, 10), 1)


def test_a_head_that_stands_twice_and_one_that_is_not_there() -> None:
    found = marked("(1) One (5 points) (1) Other (5 points)", 5)
    assert (found.score, found.notes) == (None, ("rubric: head 1 stands twice in the cell",))
    assert [part.name for part in found.parts] == ["head 1", "head 1 (place 2)"]
    assert marked(CELL, 6, 3, 1).notes == ("head: 3 is not in the rubric",)
    assert marked(CELL, 6, 3, 1).score == Fraction(9, 10)


def test_nothing_is_known_without_points() -> None:
    found = mark(read_rubric(CELL), None)
    assert [found.score, found.low, found.high] == [None, 0, 1]
    assert found.notes == ("points: the file has none",)


def test_both_snapshots_name_the_same_dimensions() -> None:
    may = ("redundant_information_filtering", "deep_knowledge_integration", "multi_objective_tradeoff")
    april = ("information_extraction", "domain_specific_reasoning", "multi_objective_decision")
    for names in (may, april):
        assert tuple(dimension_of(name) for name in (*names, "uncertainty_handling")) == tuple(DIMENSIONS)
        assert tuple(dimension_of(f"{name}_score") for name in names) == tuple(DIMENSIONS)[:3]
    assert dimension_of("Uncertainty handling") == "uncertainty_handling"
    assert dimension_of("style") == ""


# Properties. ----------------------------------------------------------------------------------------------------

HEADS = st.lists(st.tuples(st.integers(0, 10), st.lists(st.integers(0, 10), max_size=4)), min_size=1, max_size=5)


def written(heads: list[tuple[int, list[int]]]) -> str:
    return "\n".join(
        f"({k}) Head {'abcdef'[k]} ({points} points)\n" + "".join(f"{level} points: text\n" for level in levels)
        for k, (points, levels) in enumerate(heads, start=1)
    )


@given(HEADS)
def test_a_cell_that_is_written_is_read_again(heads: list[tuple[int, list[int]]]) -> None:
    rubric = read_rubric(written(heads))
    assert [head.points for head in rubric.heads] == [points for points, _ in heads]
    assert [[low for low, _ in head.levels] for head in rubric.heads] == [
        sorted(set(levels), reverse=True) for _, levels in heads
    ]
    assert (not rubric.fault) == (sum(points for points, _ in heads) == 10)


@given(HEADS, st.data())
def test_bounds_hold_whatever_an_open_head_is_worth(heads: list[tuple[int, list[int]]], data: st.DataObject) -> None:
    heads = [(points, []) for points, _ in heads]
    cell = written(heads)
    full = {k: Fraction(data.draw(st.integers(0, points))) for k, (points, _) in enumerate(heads, start=1)}
    some = {k: got if data.draw(st.booleans()) else None for k, got in full.items()}
    whole, partial = mark(read_rubric(cell), full), mark(read_rubric(cell), some)
    assert 0 <= partial.low <= whole.low <= whole.high <= partial.high <= 1
    if whole.score is not None:
        assert whole.score == sum(full.values()) / 10
        assert partial.score in (None, whole.score)
    assert (partial.score is None) == (bool(read_rubric(cell).fault) or None in some.values())
    assert all(part.score is None or 0 <= part.score <= 1 for part in whole.parts)


def test_a_level_beyond_the_points_of_its_head_is_none() -> None:
    found = marked("(1) One (4 points)\n6 points: all\n4 points: some\n(2) Two (6 points)", 6, 6)
    assert (found.score, found.low, found.high) == (None, Fraction(6, 10), 1)


@given(HEADS, st.data())
def test_the_order_of_points_changes_nothing_and_more_is_never_less(
    heads: list[tuple[int, list[int]]], data: st.DataObject
) -> None:
    rubric = read_rubric(written(heads))
    given_points = {k: Fraction(data.draw(st.integers(0, 12))) for k in range(1, len(heads) + 1)}
    found = mark(rubric, given_points)
    shuffled = dict(data.draw(st.permutations(list(given_points.items()))))
    assert mark(rubric, shuffled) == found
    k = data.draw(st.sampled_from(list(given_points)))
    head = rubric.heads[k - 1]
    best = max((high for _, high in head.levels), default=head.points)
    if head.allows(given_points[k]) and best <= head.points:
        more = mark(rubric, {**given_points, k: best})
        assert more.low >= found.low
        assert found.score is None or more.score is None or more.score >= found.score


@given(st.text(max_size=200))
def test_no_cell_raises(cell: str) -> None:
    assert 0 <= marked(cell, 3).low <= marked(cell, 3).high <= 1

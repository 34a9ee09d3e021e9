"""Conditions and courses along a line: where they may change, and what hostile formulas of this kind do."""

import pytest

import prism
from prism.equivalence.interpretation.conditions.courses import compare_courses
from prism.equivalence.interpretation.conditions.lines import sample_places
from prism.equivalence.interpretation.conditions.predicates import Whole, read_case, read_predicate
from prism.equivalence.interpretation.values import Unvalued
from prism.equivalence.verdict import Status
from prism.latex import parse
from prism.physics.context import EMPTY_CONTEXT


def test_sampled_places_are_in_order() -> None:
    """Samples rise, and cover both sides where a letter may be negative."""
    places = sample_places(40, is_signed=True)
    assert places == sorted(places)
    assert places[0] == -places[-1]


def test_dots_go_on_by_one_step() -> None:
    """A list with dots is read by the step between its numbers; one without a single step is not."""
    assert read_predicate(parse(r"n = 1, 3, 5, \ldots")) == Whole("n", 1, 2)
    assert read_predicate(parse(r"n \in \mathbb{N}")) == Whole("n", 0)
    with pytest.raises(Unvalued):
        read_predicate(parse(r"n = 1, 3, 4, \ldots"))


def test_words_of_a_case() -> None:
    """`otherwise` is no condition; other words are not guessed at."""
    rows = parse(r"\begin{cases} 1 & \text{if it rains} \\ 0 & \text{otherwise} \end{cases}").members[0].args
    assert read_case(rows[1].args[1]) is None
    with pytest.raises(Unvalued):
        read_case(rows[0].args[1])


def test_numbers_far_from_one_leave_a_course_open() -> None:
    """A step that no sampled point meets decides nothing."""
    one, two = parse("y = x"), parse(r"y = \min(x, 10^6)")
    assert compare_courses(one, two, EMPTY_CONTEXT, Status.UNDECIDED).same is None


@pytest.mark.parametrize(
    "text",
    [
        r"x \in \{\{1\}, 2\}", r"\{x: \}", r"\{x: x \in x\}", r"x \in (1, 0)", r"n = 0, \pm 1, \ldots",
        r"x \in \mathbb{R} \setminus \mathbb{R}", r"\begin{cases} x & x < x \end{cases}", r"k = n\pi, n \in n",
        r"\{1/(x - x): x \in \mathbb{Z}\}", r"x = \pm\pm 1",
    ],
)  # fmt: skip
def test_hostile_sets_never_raise(text: str) -> None:
    """A verdict comes for whatever a student writes."""
    for other in ("x = 1", r"\{x: x > 0\}", r"\sin x = 0"):
        assert prism.equivalent(other, text).status in ("equivalent", "different", "undecided")
        assert prism.equivalent(text, other).status in ("equivalent", "different", "undecided")

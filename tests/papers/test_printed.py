"""When a printed number replays, and that no listed fault is forgotten by the tests of its paper."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers.printed import FOLDER, Cell, nearest_count, rows_of, share_of_count, unit_in_last_place

RELATIONS = {
    "prism_physics": {"counts", "average final", "average final from counts", "average step", "average time",
                      "subtopics", "hard finals", "drops", "finals by effort"},
    "engtrace": {
        "overall of table 8", "K.2", "overall of table 17", "conceptual in 5.4", "cliff called negative",
        "DeepSeek R1 by branch", "domains",
    },
    "engibench": {"averages", "human", "mean over models", "small models on level 3"},
    "engjudge": {"arithmetic errors", "cap of a wrong governing equation", "stage points", "ratings"},
}  # fmt: skip
"""The relations whose faults the tests beside this one hold against what is listed, by paper."""


@pytest.mark.parametrize(
    ("printed", "exact", "replays"),
    [
        ("16.30", "16.305", True),  # a tie may go either way
        ("16.30", "16.295", True),
        ("16.30", "16.3050001", False),
        ("16.30", "16.2949999", False),
        ("70", "70.5", True),
        ("70", "69.4", False),
        ("-0.099", "-0.0987", True),
    ],
)
def test_a_number_replays_within_half_a_unit_of_its_last_digit(printed: str, exact: str, replays: bool) -> None:
    assert Cell("", printed, Fraction(exact)).replays is replays


def test_the_exact_result_is_listed_with_the_digits_of_the_printed_one() -> None:
    assert Cell("", "16.33", Fraction(163, 10)).recomputed == "16.30"
    assert Cell("", "70", Fraction(80)).recomputed == "80"
    assert Cell("", "0.078", Fraction(-44, 445)).recomputed == "-0.099"
    assert (unit_in_last_place("0.078"), unit_in_last_place("450")) == (Fraction(1, 1000), Fraction(1))


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_printed_share_of_a_count_gives_the_count_again(count: tuple[int, int]) -> None:
    k, n = count
    printed = f"{float(Fraction(round(Fraction(100 * k, n) * 10**4), 10**4)):.4f}"
    assert nearest_count(printed, n) == k
    assert share_of_count("", printed, n).replays


def test_each_listed_fault_is_of_a_relation_that_is_tested() -> None:
    papers = {path.parent.name for path in FOLDER.glob("*/faults.csv")}
    assert papers == set(RELATIONS)
    assert {paper: {row["relation"] for row in rows_of(paper, "faults")} for paper in papers} == RELATIONS


def test_no_listed_fault_replays_as_it_is_listed() -> None:
    for paper in RELATIONS:
        for row in rows_of(paper, "faults"):
            assert row["printed"] != row["exact"]

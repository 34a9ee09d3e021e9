"""Rows of equivalence as problems of one node, and with their sides swapped: what differs is listed, and only that."""

from __future__ import annotations

import pytest

from benchmarks.accuracy import rows_as_problems

ADVICE = "read what changed; a list may only shrink: python benchmarks/accuracy/rows_as_problems.py --write"


@pytest.mark.slow
@pytest.mark.compiled
def test_what_differs_is_listed() -> None:
    found, names = rows_as_problems.differences()
    assert len(names) > 2000
    assert found == rows_as_problems.listed(), ADVICE


@pytest.mark.compiled
def test_a_sample_differs_as_listed() -> None:
    found, names = rows_as_problems.differences(every=120)
    listed = rows_as_problems.listed()
    mine = {way: {name: listed[way][name] for name in names if name in listed[way]} for way in found}
    assert found == mine, ADVICE


def test_a_row_that_differs_is_seen() -> None:
    row = {"id": "x", "a": "F = m a", "b": "F = 2 m a", "expect": "equivalent"}
    assert rows_as_problems.as_problem(row) == "different: witness"
    assert rows_as_problems.swapped(row) == "different: witness"
    assert rows_as_problems.as_problem({**row, "expect": "different"}) == ""
    assert rows_as_problems.as_problem({**row, "b": "a = F/m", "expect": "different"}) == "credited"

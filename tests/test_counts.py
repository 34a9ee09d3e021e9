"""Grading takes no more work than it did: counts over fixed responses, held to those that are kept."""

import json

import pytest

from benchmarks.speed import counts
from tests.support import external_data


def test_a_count_above_the_kept_one_is_told_and_an_outcome_is_not():
    kept = {"values": 100, "cells, different: kind": 10}
    assert counts.raised({"values": 105, "cells, different: kind": 20}, kept) == {}
    assert counts.raised({"values": 106, "cells, different: kind": 20}, kept) == {"values": (100, 106)}


@pytest.mark.slow
@pytest.mark.skipif(not (external_data.DATA / counts.FILE).is_file(), reason="PRISM_DATA: no responses to count on")
def test_fixed_responses_take_no_more_work_than_before():
    found = counts.measure(external_data.DATA)
    assert counts.raised(found, json.loads(counts.KEPT.read_text(encoding="utf-8"))) == {}

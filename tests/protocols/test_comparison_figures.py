"""The figures on the page about `prism protocol compare` are those of the result file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.accuracy.score_comparison import tables

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "score_comparison.json"


def test_the_page_shows_the_figures_of_the_result() -> None:
    if not RESULT.exists():
        pytest.skip("has not been measured")
    result = json.loads(RESULT.read_text("utf-8"))["result"]
    page = (ROOT / "docs" / "reference" / "protocol_compare.md").read_text("utf-8")
    assert "\n".join(tables(result)) in page
    assert {one["responses"] for one in result["scores"]} == {result["responses"]}


def test_a_result_holds_no_text_and_no_id() -> None:
    if not RESULT.exists():
        pytest.skip("has not been measured")
    result = json.loads(RESULT.read_text("utf-8"))["result"]
    assert "problem_id" not in json.dumps(result)
    assert set(result["disagreements"]) == {"responses", "wide", "wide_by_scores", "wide_from", "widest"}

"""Several scores of the same responses: figures by hand, correlations beside scipy, nulls, the page, the command."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import PrismError
from prism.grading.row import json_line
from prism.reports.comparison.scores import BoundedScore, ScoreColumn, columns_of_rows, compare_scores
from prism.reports.html.whole_pages import score_comparison_page
from prism.reports.report_tables import score_comparison_tables
from tests.support.html_pages import checked
from tests.support.made_rows import made_row

run = CliRunner()


def protocol_row(sample: str, score: float | None, low: float = 0.0, high: float = 1.0, **more: Any) -> dict[str, Any]:
    """A protocol's row of a response: problem and sample have the digits of the sample's name."""
    bounds = (low, high) if score is None else (score, score)
    return {
        "problem_id": f"p{sample[0]}", "sample_id": sample, "status": "undecided" if score is None else "ok",
        "score": score, "score_low": bounds[0], "score_high": bounds[1], "protocol": "toy", "variant": "plain",
        "matched": [], "incidents": [], "grader": {"version": "0", "fingerprint": "t"}, "meta": {"model": sample[1:]},
        "policies": {"toy": score, "toy_other": None if score is None else 1 - score}, "final_correct": None, **more,
    }  # fmt: skip


def score_row(sample: str, score: float | None) -> dict[str, Any]:
    row = made_row(f"p{sample[0]}", sample, score, model=sample[1:])
    if score is not None:
        row["policies"]["prefix"] = min(1.0, score + 0.25)
    return row


SAMPLES = ("1A", "1B", "2A", "2B", "3A", "3B")
SCORES = dict(zip(SAMPLES, (0.0, 0.25, 0.5, 0.5, 0.75, 1.0), strict=True))
TOY = {"1A": 0.5, "1B": 0.0, "2A": None, "2B": 0.25, "3A": 1.0, "3B": 0.75}


def columns() -> list[ScoreColumn]:
    rows = [score_row(name, score) for name, score in SCORES.items()]
    toys = [protocol_row(name, score, low=0.125, high=0.875) for name, score in TOY.items()]
    return [*columns_of_rows(rows), *columns_of_rows(toys, policies=("toy_other",))]


def test_the_scores_of_a_file_are_named() -> None:
    assert [column.name for column in columns()] == ["closure", "strict", "prefix", "toy", "toy_other"]
    assert columns()[3].entries["p2", "2A"] == BoundedScore(None, 0.125, 0.875)
    assert columns()[4].entries["p2", "2A"] == BoundedScore(None, 0.0, 1.0)


def test_figures_by_hand() -> None:
    """toy: (0.5 + 0 + 0.25 + 1 + 0.75)/5 = 0.5; with the null at its worst (2.5 + 0.125)/6 = 0.4375, at best 0.5625."""
    found = compare_scores(columns(), replicates=0).figures[3]
    assert (found.n, found.n_null, found.n_failed, found.n_zero, found.n_one) == (6, 1, 0, 1, 1)
    assert (found.mean.value, found.mean_low, found.mean_high) == (0.5, 0.4375, 0.5625)


def test_correlations_are_those_of_scipy_over_what_both_score() -> None:
    found = compare_scores(columns(), replicates=50)
    (pair,) = [one for one in found.agreements if one.names == ("closure", "toy")]
    names = [name for name in SAMPLES if TOY[name] is not None]
    x, y = [SCORES[name] for name in names], [TOY[name] for name in names]
    assert pair.tau_b.value == pytest.approx(stats.kendalltau(x, y).statistic)
    assert pair.spearman.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert (pair.tau_b.n, pair.n_bounded) == (5, 6)
    ends = [pair.tau_b.low, pair.tau_b.value, pair.tau_b.high]
    known = [each for each in ends if each is not None]
    assert len(known) == 3
    assert known == sorted(known)


@pytest.mark.parametrize(("end", "value"), [("low", 0.125), ("high", 0.875)])
def test_a_null_is_put_at_its_bounds(end: str, value: float) -> None:
    found = compare_scores(columns(), replicates=0)
    (pair,) = [one for one in found.agreements if one.names == ("closure", "toy")]
    filled = [value if TOY[name] is None else TOY[name] for name in SAMPLES]
    assert getattr(pair, end).value == pytest.approx(stats.kendalltau(list(SCORES.values()), filled).statistic)


def test_ids_may_hold_half_a_surrogate_pair() -> None:
    entries = {("p\ud800", "1"): BoundedScore(0.5, 0.5, 0.5), ("q", "2"): BoundedScore(0.1, 0.1, 0.1)}
    models = {("p\ud800", "1"): "m\ud800", ("q", "2"): "n"}
    turned = dict(zip(entries, reversed(entries.values()), strict=True))
    found = compare_scores([ScoreColumn("a", entries, models), ScoreColumn("b", turned)], replicates=10)
    assert found.disagreements[0].problem_id == "p\ud800"
    assert {one.model for one in found.models} == {"m\ud800", "n"}


def test_a_score_that_is_always_null_has_bounds_only() -> None:
    nothing = ScoreColumn("none", {key: BoundedScore(None, 0.0, 0.5) for key in columns()[0].entries})
    found = compare_scores([*columns()[:1], nothing], replicates=0)
    assert (found.figures[1].mean.value, found.figures[1].mean_low, found.figures[1].mean_high) == (None, 0.0, 0.5)
    assert (found.agreements[0].tau_b.value, found.agreements[0].tau_b.reason) == (None, "no_items")
    assert found.disagreements == ()


def test_where_two_scores_disagree_most_by_hand() -> None:
    """Among the five with both, closure orders 1A 1B 2B 3A 3B, toy 1B 2B 1A 3B 3A.

    Mid-ranks are 0.1, 0.3, 0.5, 0.7, 0.9. 1A is at 0.1 by closure and at 0.5 by toy: 0.4, the widest.
    """
    chosen = [column for column in columns() if column.name in ("closure", "toy")]
    first = compare_scores(chosen, replicates=0).disagreements[0]
    assert (first.sample_id, first.lower, first.higher) == ("1A", "closure", "toy")
    assert (first.lower_rank, first.higher_rank, first.spread) == (0.1, 0.5, 0.4)


def test_models_are_placed_by_each_score() -> None:
    """closure: A (0 + 0.5 + 0.75)/3, B (0.25 + 0.5 + 1)/3. toy: A (0.5 + 1)/2 without its null, B (0 + 0.25 + 0.75)/3

    So B is first by closure and A by toy.
    """
    first, second = compare_scores(columns(), replicates=0).models
    assert (first.model, first.n, first.places["closure"], first.places["toy"]) == ("A", 3, 2, 1)
    assert (second.places["closure"], second.places["toy"]) == (1, 2)
    assert first.means["toy"] == 0.75


def test_failures_of_the_grader_are_no_nulls() -> None:
    (column,) = columns_of_rows([protocol_row("1A", 0.5), protocol_row("1B", None, status="killed")])
    assert (len(column.entries), column.n_failed) == (1, 1)


@pytest.mark.parametrize(("rows", "fault"), [
    ([protocol_row("1A", 0.5)] * 2, "stands in a row before it too"),
    ([protocol_row("1A", 0.5), score_row("1B", 0.5)], "rows of several protocols: none, toy"),
    ([protocol_row("1A", None, status="ok")], "row 1: the status ok does not go with the score None"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(rows: list[Mapping[str, Any]], fault: str) -> None:
    with pytest.raises(PrismError, match=fault):
        columns_of_rows(rows)


def test_scores_of_other_responses_are_refused() -> None:
    other = ScoreColumn("other", {("q", "q1"): BoundedScore(0.5, 0.5, 0.5)})
    with pytest.raises(PrismError, match="no two of them are of one response"):
        compare_scores([columns()[0], other])
    with pytest.raises(PrismError, match="expected two or more"):
        compare_scores(columns()[:1])


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 4), st.none() | st.integers(0, 4)), min_size=2, max_size=8), st.randoms())
def test_the_order_of_responses_changes_nothing(pairs: list[tuple[int, int | None]], drawn: random.Random) -> None:
    rows = [(f"{k}A", first / 4, None if second is None else second / 4) for k, (first, second) in enumerate(pairs)]
    found = []
    for listed in (rows, drawn.sample(rows, len(rows))):
        both = [
            columns_of_rows([score_row(name, one) for name, one, _ in listed])[0],
            columns_of_rows([protocol_row(name, other) for name, _, other in listed])[0],
        ]
        found.append(compare_scores(both, replicates=0).to_dict())
    assert found[0] == found[1]


# The page and the command. --------------------------------------------------------------------------------------


def test_the_page_is_whole_and_the_same_every_time() -> None:
    found = compare_scores(columns(), replicates=20)
    pages = [score_comparison_page(found, columns(), title="Scores <b>", sources={"a.jsonl": "ab"}) for _ in range(2)]
    assert pages[0] == pages[1]
    checked(pages[0])
    assert "Scores &lt;b&gt;" in pages[0]
    assert "<script" not in pages[0]
    for table in score_comparison_tables(found):
        assert table.title in pages[0]


def test_a_null_is_shown_by_its_bounds() -> None:
    """1A is first by the one and last by the other; of the third it has bounds only."""
    closure, toy = (next(one for one in columns() if one.name == name) for name in ("closure", "toy"))
    reverse = {
        key: BoundedScore(1 - one.number, 1 - one.number, 1 - one.number) for key, one in closure.entries.items()
    }
    null = ScoreColumn("toy", {key: BoundedScore(None, 0.25, 0.75) for key in toy.entries})
    found = compare_scores([closure, ScoreColumn("reverse", reverse), null], replicates=0)
    first = score_comparison_tables(found)[-1].rows[0]
    assert first[1] == "1A"
    assert first[-3:] == ("0.00", "1.00", "0.25 to 0.75")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(json_line(row) + b"\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write(tmp_path / "scores.jsonl", [score_row(name, score) for name, score in SCORES.items()]),
        write(tmp_path / "toy.jsonl", [protocol_row(name, score) for name, score in TOY.items()]),
    )


def test_the_command_compares_files(files: tuple[Path, Path], tmp_path: Path) -> None:
    words = ["protocol", "compare", *map(str, files), "--replicates", "0"]
    result = run.invoke(app, [*words, "--json", "--policies", "toy_other"])
    found = json.loads(result.stdout)
    assert [one["score"] for one in found["scores"]] == ["closure", "strict", "prefix", "toy", "toy_other"]
    assert found["scores"][3]["null"] == 1
    page = tmp_path / "page.html"
    assert run.invoke(app, [*words, "-o", str(page)]).exit_code == 0
    assert "Where they disagree most" in page.read_text("utf-8")
    assert run.invoke(app, [*words, "-o", str(page)]).exit_code == 3
    assert "Kendall's tau_b" in run.invoke(app, words).stdout


def test_a_name_that_is_taken_stands_with_its_file(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = write(tmp_path / "other.jsonl", [protocol_row(name, score) for name, score in SCORES.items()])
    result = run.invoke(app, ["protocol", "compare", *map(str, files), str(other), "--replicates", "0", "--json"])
    assert [one["score"] for one in json.loads(result.stdout)["scores"]][-2:] == ["toy", "toy (other)"]


@pytest.mark.parametrize(("words", "code"), [
    ([], 2), (["scores.jsonl", "--rows", "folder"], 2), (["scores.jsonl", "-o", "page.txt"], 2), (["nowhere.jsonl"], 3),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(words: list[str], code: int) -> None:
    assert run.invoke(app, ["protocol", "compare", *words]).exit_code == code

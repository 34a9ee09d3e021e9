"""Protocol rows, and that `compare`, `agree`, `report`, `leaderboard` and the rewards read them as score rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism.cli import app
from prism.grading.result import Incident
from prism.protocols.rows import Basis, Part, ProtocolRow, Scored, row_dicts, settle, summarize, write_rows
from prism.rewards.inspect_scorer import precomputed_scores_jsonl
from prism.runs.score_files import grade_of, score_rows

run = CliRunner()
ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def row(problem: str, sample: str, score: Fraction | None, model: str = "m", **more: Any) -> ProtocolRow:
    low, high = (ZERO, ONE) if score is None else (score, score)
    basis = Basis.NONE if score is None else Basis.RULES
    more.setdefault("policies", {"toy_other": score})
    return ProtocolRow(
        protocol="toy", variant="plain", about=Scored(problem, sample, {"model": model}, "p", sample, f"{score}"),
        score=score, score_low=low, score_high=high, parts=(Part("a/1", score, basis, ("equation: node 1",)),), **more,
    )  # fmt: skip


def rows_of(shift: int) -> list[ProtocolRow]:
    """Two models on four problems, three scores each missing one."""
    scores = [Fraction(k, 7) for k in (1, 3, 5)]
    found = [row(f"p{k}", f"p{k}a", score, "A") for k, score in enumerate(scores)]
    found += [row(f"p{k}", f"p{k}b", score + Fraction(shift, 7), "B") for k, score in enumerate(scores)]
    return [*found, row("p3", "p3a", None, "A"), row("p3", "p3b", None, "B")]


@pytest.fixture(params=[".jsonl", ".parquet"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / f"base{request.param}", tmp_path / f"new{request.param}"
    write_rows(paths[0], rows_of(0))
    write_rows(paths[1], rows_of(1))
    return paths


def called(*words: object) -> dict[str, Any]:
    result = run.invoke(app, [*map(str, words), "--json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_number_is_rounded_once_from_its_fraction() -> None:
    third = row("p", "s", Fraction(1, 3), policies={"toy_x": Fraction(2, 3)}).to_dict()
    assert (third["score"], third["policies"]) == (0.333333, {"toy": 0.333333, "toy_x": 0.666667})
    assert third["parts"] == [{"name": "a/1", "score": 0.333333, "basis": "rules", "findings": ["equation: node 1"]}]


def test_a_row_without_score_is_undecided_and_has_its_bounds() -> None:
    written = row("p", "s", None).to_dict()
    assert (written["status"], written["score"], written["score_low"], written["score_high"]) == (
        "undecided", None, 0.0, 1.0)  # fmt: skip
    assert written["undecided_parts"] == 1


@pytest.mark.parametrize("status", ["killed", "internal"])
def test_a_failure_of_the_grader_keeps_its_status(status: str) -> None:
    about = Scored("p", "s", status=status, incidents=(Incident(status, "rollout", "x"),))
    lost = ProtocolRow("toy", "plain", about, None, ZERO, ONE, ())
    assert (lost.to_dict()["status"], len(lost.to_dict()["incidents"])) == (status, 1)


@pytest.mark.parametrize("bad", [
    {"score": HALF, "score_low": ONE, "score_high": ONE}, {"score": None, "score_low": ONE, "score_high": ZERO},
    {"score": Fraction(3, 2), "score_low": ZERO, "score_high": Fraction(3, 2)},
    {"score": HALF, "score_low": HALF, "score_high": HALF, "policies": {"strict": HALF}},
])  # fmt: skip
def test_what_no_protocol_may_break_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="toy"):
        ProtocolRow(protocol="toy", variant="plain", about=Scored("p", "s"), parts=(), **bad)


def test_settings_make_another_grader_and_findings_do_not() -> None:
    one, other = (row("p", "s", HALF, settings={"units": units}) for units in ("count", "ignore"))
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint != row("p", "s", HALF).fingerprint
    assert one.fingerprint == row("q", "t", ONE, settings={"units": "count"}).fingerprint


def test_both_formats_hold_the_same_rows(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    write_rows(other, rows_of(0))
    assert list(score_rows(files[0])) == list(score_rows(other)) == row_dicts(rows_of(0))


def test_a_policy_that_one_row_lacks_is_null_there(tmp_path: Path) -> None:
    lost = ProtocolRow("toy", "plain", Scored("p", "s", status="killed"), None, ZERO, ONE, ())
    for path in (tmp_path / "a.jsonl", tmp_path / "a.parquet"):
        write_rows(path, [row("p", "r", HALF), lost])
        assert [each["policies"]["toy_other"] for each in score_rows(path)] == [0.5, None]


def test_a_grade_is_made_of_a_row() -> None:
    grade = grade_of(row("p", "s", HALF).to_dict())
    assert (grade.score, dict(grade.policies)) == (0.5, {"toy": 0.5, "toy_other": 0.5})
    assert dict(grade_of(row("p", "s", None).to_dict()).policies) == {}


# The commands. --------------------------------------------------------------------------------------------------


def test_compare_reads_them_and_counts_nulls(files: tuple[Path, Path]) -> None:
    found = called("compare", *files, "--replicates", 0)
    assert (found["base"]["items"], found["base"]["scored"]) == (8, 6)
    assert (len(found["unscored"]), found["rose"], found["same"]) == (2, 3, 3)  # model B has one seventh more
    assert found["mean_change"] == pytest.approx(1 / 14, abs=1e-5)


def test_compare_by_model_reads_them(files: tuple[Path, Path]) -> None:
    found = called("compare", files[1], "--by", "model", "--replicates", 0)
    assert [(one["name"], one["rollouts"], one["unscored"]) for one in found["groups"]] == [("A", 4, 1), ("B", 4, 1)]


def test_rows_of_other_settings_are_not_compared(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    write_rows(other, [row("p0", "p0a", HALF, settings={"units": "ignore"})])
    result = run.invoke(app, ["compare", str(files[0]), str(other)])
    assert result.exit_code == 3
    assert "graded by" in result.stderr


def test_other_findings_on_one_text_are_other_input_and_are_compared(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, digest, score in zip(paths, ("f1", "f2"), (HALF, ONE), strict=True):
        about = Scored("p", "s", {}, "x", "y", digest)
        write_rows(path, [ProtocolRow("toy", "plain", about, score, score, score, ())])
    assert called("compare", *paths, "--replicates", 0)["rose"] == 1


@pytest.mark.parametrize("number", ["score", "policies.toy_other"])
def test_agree_reads_them_and_counts_nulls(files: tuple[Path, Path], tmp_path: Path, number: str) -> None:
    judge = tmp_path / "judge.jsonl"
    judged = [{"problem_id": f"p{k}", "sample_id": f"p{k}{name}", "score": k / 7} for k in range(4) for name in "ab"]
    judge.write_text("".join(json.dumps(one) + "\n" for one in judged))
    found = called("agree", files[1], judge, "--score", number, "--replicates", 0)
    rules = next(one for one in found["alignment"] if one["rater"] == "rules")
    assert (rules["judgements"], rules["aligned"], rules["dropped"]) == (8, 6, {"not_graded": 2})


def test_agree_takes_them_as_a_judge_too(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / f"other{files[0].suffix}"
    write_rows(other, rows_of(1))
    found = called("agree", files[0], other, "--replicates", 0)
    assert {one["aligned"] for one in found["alignment"]} == {6}


def test_report_reads_them_and_counts_nulls(files: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = called("report", files[0], "--by", "model", "-o", page, "--replicates", 0)
    assert found["statuses"] == {"ok": 6, "undecided": 2}
    assert (found["overall"]["rollouts"], found["overall"]["unscored"]) == (8, 2)
    assert found["overall"]["step_accuracy"]["value"] == pytest.approx(3 / 7, abs=1e-4)
    assert "undecided" in page.read_text(encoding="utf-8")


def test_leaderboard_ranks_them_and_counts_nulls(files: tuple[Path, Path]) -> None:
    found = called("leaderboard", files[1], "--replicates", 0)
    entries = found["boards"][0]["entries"]
    assert [(one["model"], one["rank"], one["unscored"]) for one in entries] == [("B", 1, 1), ("A", 2, 1)]


def test_what_made_them_is_named_by_its_protocol(files: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "board.html"
    shown = run.invoke(app, ["leaderboard", str(files[1]), "--replicates", "0"]).stdout
    assert "rows of schema 6, protocol toy (plain)" in " ".join(shown.split())
    assert run.invoke(app, ["leaderboard", str(files[1]), "--replicates", "0", "-o", str(page)]).exit_code == 0
    for text in (shown, page.read_text("utf-8")):
        assert "another PRISM" not in text


def test_the_inspect_scorer_takes_their_bounds_and_policies(files: tuple[Path, Path]) -> None:
    read = list(score_rows(files[0]))
    low = [json.loads(line)["value"] for line in precomputed_scores_jsonl(read, scoring="score_low").splitlines()]
    assert low == [each["score_low"] for each in read]
    scored = [each for each in read if each["score"] is not None]
    assert json.loads(precomputed_scores_jsonl(scored, scoring="toy").splitlines()[0])["value"] == scored[0]["score"]
    with pytest.raises(ValueError, match="row 7: has no score"):
        precomputed_scores_jsonl(read)  # null is no 0


# Bases and summaries. -------------------------------------------------------------------------------------------


@given(st.none() | st.integers(0, 2), st.none() | st.integers(0, 2), st.booleans())
def test_a_part_is_settled_by_who_says_something(rules: int | None, file: int | None, prefer_rules: bool) -> None:
    settled = settle(rules, file, prefer_rules=prefer_rules)
    expected = {
        (False, False): (None, Basis.NONE), (True, False): (rules, Basis.RULES), (False, True): (file, Basis.FILE),
    }.get((rules is not None, file is not None))  # fmt: skip
    if expected is None:
        expected = (file, Basis.BOTH) if rules == file else (rules if prefer_rules else file, Basis.CONFLICT)
    assert (settled.value, settled.basis) == expected
    assert bool(settled.findings) == (settled.basis is Basis.CONFLICT)


def test_the_means_of_a_summary_are_exact_and_nulls_enter_the_bounds_only() -> None:
    rows: Sequence[ProtocolRow] = [
        row("p", "a", Fraction(1, 3), notes=("total: 7 in the file, 11",)),
        row("p", "b", None),
    ]
    found = summarize(rows, protocol="toy", variant="plain")
    assert (found.mean, found.mean_low, found.mean_high) == (Fraction(1, 3), Fraction(1, 6), Fraction(2, 3))
    assert found.to_dict()["rows_by_note"] == {"total": 1}
    assert found.to_dict()["parts_by_basis"] == {"none": 1, "rules": 1}

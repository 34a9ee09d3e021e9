"""Two files of results: what is compared, what is refused, which gates fire, and what build systems are given."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import prism
from prism.authoring.lint_findings import CODES
from prism.cli import app
from prism.errors import DataFileError, PrismError
from prism.grading.row import SCHEMA, json_line, score_row
from prism.reports import ci_formats
from prism.reports import gates as gating
from prism.runs.score_files import writer_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "gate_a_pull_request.md"
run = CliRunner()


def row(sample: str = "1", score: Any = 1.0, *, problem: str = "fall", **named: Any) -> dict[str, Any]:
    """A score row as `prism run` writes it, as far as a comparison reads it."""
    return {
        "problem_id": problem, "sample_id": sample, "status": "ok" if score is not None else "killed", "score": score,
        "matched": [1, 2], "credited": [1, 2], "final_correct": True, "schema": SCHEMA,
        "incidents": [] if score is not None else [{"code": "killed", "where": "rollout", "detail": "died"}],
        "grader": {"version": "0.1.0", "fingerprint": "ab" * 32}, "problem_sha256": "p", "solution_sha256": "s",
        **named,
    }  # fmt: skip


def other(sample: str = "1", score: Any = 1.0, **named: Any) -> dict[str, Any]:
    """The row of another solution."""
    return row(sample, score, **{"solution_sha256": "t", **named})


def compared(base: list[dict[str, Any]], new: list[dict[str, Any]], **named: bool) -> gating.Comparison:
    return gating.compare_results(
        gating.index_results("base.jsonl", base), gating.index_results("new.jsonl", new), **named
    )


def fired(base: list[dict[str, Any]], new: list[dict[str, Any]], *texts: str) -> dict[str, list[str]]:
    """The gates that fire, each with the items that it names."""
    judged = gating.apply_gates(compared(base, new), gating.parse_gates(texts))
    return {one.gate.text: [gating.describe(key) for key in one.keys] for one in judged if one.has_fired}


# Gates. ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("base", "new", "gate", "expected"), [
    ([row()], [other()], "any-drop", None),
    ([row()], [other(score=0.9)], "any-drop", ["fall/1"]),
    ([row(score=0.5)], [other(score=0.9)], "any-drop", None),
    ([row()], [other(final_correct=False)], "any-drop", ["fall/1"]),
    ([row(), row("2")], [other()], "any-drop", ["fall/2"]),  # gone
    ([row()], [other(), other("2")], "any-drop", ["fall/2"]),  # nobody knows what it was
    ([row()], [other(score=None)], "any-drop", ["fall/1"]),  # no zero, and no pass
    ([row(score=None)], [other(score=0.1)], "any-drop", None),
    ([row()], [other(matched=[2])], "any-drop", None),  # by closure the score is the same
    ([row()], [other(matched=[2])], "any-lost-node", ["fall/1"]),
    ([row()], [other(matched=[1, 2, 3])], "any-lost-node", None),
    ([row(), row("2")], [other()], "any-missing", ["fall/2"]),
    ([row()], [other(score=0.5)], "any-missing", None),
    ([row(), row("2")], [other(score=0.8), other("2", 0.9)], "item<-0.1", ["fall/1"]),  # 0.9 - 1 is -0.1, exactly
    ([row(), row("2")], [other(score=0.98)], "mean<-0.01", ["fall/1"]),  # over what is compared
    ([row(), row("2")], [other(score=0.98), row("2")], "mean<-0.01", None),  # -0.01 is not below -0.01
    ([row(score=0.3)], [other(score=0.1)], "mean<-0.2", None),  # nor is 0.1 - 0.3, whatever floats say
    ([row(), row("2")], [other(final_correct=False), row("2")], "final<-0.02", ["fall/1"]),
    ([row()], [other(score=None)], "mean<-0.5", []),  # what cannot be known does not pass
])  # fmt: skip
def test_a_gate_fires_and_names_its_items(base: Any, new: Any, gate: str, expected: list[str] | None) -> None:
    assert fired(base, new, gate) == ({} if expected is None else {gate: expected})


def test_least_values_are_about_the_new_file_alone() -> None:
    result = compared([row(), row("2")], [other(score=0.4), other("2", 0.8), other("3", None)])
    gates = gating.parse_gates((), min_mean=0.6, min_item=0.5)
    mean, item = gating.apply_gates(result, gates)
    assert (mean.has_fired, mean.value) == (False, Fraction(6, 10))  # the row without score is no 0
    assert (item.has_fired, item.keys) == (True, (("fall", "3"), ("fall", "1")))  # and has not reached 0.5 either


def test_the_worst_comes_first() -> None:
    new = [other(score=0.9), other("2", 0.2), other("3", None)]
    assert fired([row(), row("2"), row("3"), row("4")], new, "any-drop")["any-drop"] == [
        "fall/3",
        "fall/4",
        "fall/2",
        "fall/1",
    ]


@pytest.mark.parametrize("text", [
    "", "any", "any-drops", "mean", "mean>0.1", "mean<=-0.1", "mean<0.8", "mean<-1.5", "mean<-1%", "mean<-1e-2",
    "mean<nan", "median<-0.1", "min-mean", "any-drop mean<-0.1",
])  # fmt: skip
def test_another_gate_is_a_usage_error(text: str, tmp_path: Path) -> None:
    with pytest.raises(PrismError, match=re.escape(repr(text))):
        gating.parse_gates(["any-drop", text])
    result = run.invoke(app, ["compare", "a.jsonl", "b.jsonl", "--fail-on", text])
    assert result.exit_code == 2


def test_all_wrong_gates_are_told_at_once() -> None:
    with pytest.raises(PrismError, match=r"(?s)'mean<1'.*'x'"):
        gating.parse_gates(["mean<1,any-drop,x"])


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_gate(scores: list[int], chance: Any) -> None:
    base = [row(str(n)) for n in range(len(scores))]
    new = [other(str(n), score / 1000) for n, score in enumerate(scores)]
    shuffled = list(new)
    chance.shuffle(shuffled)
    exact = Fraction(sum(scores), 1000 * len(scores)) - 1
    assert compared(base, new).mean_change == compared(base, shuffled).mean_change == exact
    assert set(fired(base, new, "any-drop,mean<-0.25")) == set(fired(base, shuffled, "any-drop,mean<-0.25"))


# What is refused. -----------------------------------------------------------------------------------------------


def test_another_grader_is_refused() -> None:
    newer = other(grader={"version": "0.2.0", "fingerprint": "cd" * 32})
    for allow_changed in (False, True):
        with pytest.raises(PrismError, match=r"PRISM 0\.1\.0 \(abababababab.*PRISM 0\.2\.0"):
            compared([row()], [newer], allow_changed=allow_changed)
    with pytest.raises(PrismError, match="schema 1"):
        compared([row()], [other(schema=1)])


def test_rows_of_other_rules_are_compared_only_if_asked_for() -> None:
    older = row(score=0.5, schema=SCHEMA - 1)
    newer = row(grader={"version": "0.1.0", "rules": 99, "fingerprint": "cd" * 32})
    with pytest.raises(PrismError, match=r"PRISM 0\.1\.0 \(rules 99, cdcdcdcdcdcd.*compare them with --across-rules"):
        compared([older], [newer], allow_changed=True)
    assert [pair.kind for pair in compared([older], [newer], across_rules=True).pairs] == ["rose"]
    with pytest.raises(PrismError, match="protocol psas") as caught:
        compared([older], [{**newer, "protocol": "psas", "variant": "paper"}], across_rules=True)
    assert "--across-rules" not in str(caught.value)


def test_the_version_alone_is_told_by_the_fingerprint() -> None:
    assert compared([row()], [other(grader={"version": "0.1.0+local", "fingerprint": "ab" * 32})]).pairs


def test_a_problem_file_that_has_changed_is_refused_unless_allowed() -> None:
    new = [other(problem_sha256="q", matched=[7]), other("2", problem="drop")]
    with pytest.raises(PrismError, match=r"other problem files.*: fall;"):
        compared([row()], new)
    result = compared([row()], new, allow_changed=True)
    assert result.changed_problems == ("fall",)
    assert result.pairs[0].lost == result.pairs[0].gained == ()  # node 1 may be another formula now


@pytest.mark.parametrize("grade", [{"score": 0.5}, {"matched": [1]}])
def test_one_text_with_two_grades_is_refused(grade: dict[str, Any]) -> None:
    """Same text, problem and grader: an option was another, or a row is edited. It is nobody's drop."""
    with pytest.raises(PrismError, match="fall/1: text, problem and grader are the same"):
        compared([row()], [row(**grade)])
    assert compared([row()], [row(**grade)], allow_changed=True).compared
    assert compared([row()], [row(score=None)]).of_kind("unscored")  # a worker that died is no contradiction


@pytest.mark.parametrize(("rows", "message"), [
    ([row(), row()], "row 2: fall/1 stands in row 1 too"),
    ([row(), row("2", grader={"version": "1", "fingerprint": "x"})], "graded by 2 graders"),
    ([row(score=1.5)], "no number from 0 to 1"), ([row(score=float("nan"))], "no number"),
    ([row(score=True)], "no number"), ([row(score="1")], "no number"),
    ([row(status="killed")], "the status killed does not go with the score 1.0"),
    ([row(score=None, status="ok")], "the status ok does not go with the score None"),
])  # fmt: skip
def test_rows_that_are_no_results_of_one_grader_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(DataFileError, match=message):
        gating.index_results("scores.jsonl", rows)


# What is told. --------------------------------------------------------------------------------------------------


def trouble(n: int = 1) -> tuple[gating.Comparison, tuple[gating.GateOutcome, ...]]:
    base = [row(str(k), problem="fall|`<x>") for k in range(n)] + [row("gone"), row("lost")]
    new = [other(str(k), 0.5, problem="fall|`<x>", matched=[1]) for k in range(n)] + [other("lost", None)]
    result = compared(base, new)
    return result, gating.apply_gates(result, gating.parse_gates(["any-drop", "mean<-0.01"]))


def test_junit_counts_gates_and_items() -> None:
    root = ET.fromstring(ci_formats.junit(*trouble()))
    gates, items = root.findall("testsuite")
    assert (gates.get("tests"), gates.get("failures")) == ("2", "2")
    assert (items.get("tests"), items.get("failures"), items.get("errors")) == ("3", "2", "1")
    failed = {case.get("name"): case[0].tag for case in items if len(case)}
    assert failed == {"0": "failure", "gone": "failure", "lost": "error"}
    message = items[0][0].get("message")
    assert message == "score 1 -> 0.5 (-0.5); lost node 2"


def test_junit_holds_what_xml_can_hold() -> None:
    odd = "a\x00b\x1b\ud800\uffff]]>&\"'"
    result = compared([row(odd, problem=odd)], [other(odd, 0.0, problem=odd)])
    text = ci_formats.junit(result, gating.apply_gates(result, gating.parse_gates(["any-drop"])))
    assert ET.fromstring(text.encode()).findall(".//failure")


def test_a_mean_fails_no_item() -> None:
    result = compared([row()], [other(score=0.5)])
    text = ci_formats.junit(result, gating.apply_gates(result, gating.parse_gates(["mean<-0.01"])))
    assert text.count("<failure") == 1


def test_the_summary_is_cut_below_one_mebibyte() -> None:
    result, judged = trouble(3)
    text = ci_formats.job_summary(result, judged)
    assert "| fall/gone | stands in the base only, with 1 |" in text
    assert "1 without a score in the new file; they enter no mean." in text
    assert "fall&#124;&#96;&#60;x&#62;/0" in text  # an id ends no cell and starts no tag
    for room in (len(text.encode()), 900, 400, 150, 10, 0, -5):
        cut = ci_formats.job_summary(result, judged, room=room)
        assert len(cut.encode()) <= max(room, 0)
        assert cut == text or not cut or cut.endswith(ci_formats._CUT)
    wide = ci_formats.cut("é\n" * ci_formats.SUMMARY_LIMIT, ci_formats.SUMMARY_LIMIT - 1)
    assert len(wide.encode()) < ci_formats.SUMMARY_LIMIT


@pytest.mark.parametrize("n", [1, 7, 8, 50])
def test_there_are_at_most_ten_annotations(n: int) -> None:
    lines = ci_formats.workflow_commands(*trouble(n))
    assert len(lines) == min(n + 3, 10)  # the mean, the items, the one that is gone, the one without score
    assert all(re.fullmatch(r"::error file=(base|new)\.jsonl,line=\d+,title=[^,:]*::[^\n]*", line) for line in lines)
    assert ("more" in lines[-1]) == (n + 3 > 10)


def test_an_annotation_stays_on_its_line() -> None:
    (line,) = ci_formats.workflow_commands(*_one_drop("a\n::error::b,c%d"))
    assert (
        line
        == "::error file=base.jsonl,line=1,title=fall/a %3A%3Aerror%3A%3Ab%2Cc%25d%3A any-drop::score 1 -> 0.5 (-0.5)"
    )


def _one_drop(sample: str) -> tuple[gating.Comparison, tuple[gating.GateOutcome, ...]]:
    result = compared([row(sample)], [other(sample, 0.5)])
    return result, gating.apply_gates(result, gating.parse_gates(["any-drop"]))


def test_lint_writes_sarif(tmp_path: Path) -> None:
    out = tmp_path / "lint.sarif"
    problem = ROOT / "tests/cases/problems/six_faults.toml"
    result = run.invoke(app, ["lint", str(problem), "free_fall", "--sarif", str(out)])
    assert result.exit_code == 3
    (found,) = json.loads(out.read_text("utf-8"))["runs"]
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == list(CODES)
    assert {one["level"] for one in found["results"]} <= {"error", "warning", "note"}
    assert sum(one["level"] == "error" for one in found["results"]) == 6
    places = [one["locations"][0]["physicalLocation"] for one in found["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {problem.as_uri()}
    assert len({place["region"]["startLine"] for place in places}) > 1
    assert all(list(CODES)[one["ruleIndex"]] == one["ruleId"] for one in found["results"])


# The command. ---------------------------------------------------------------------------------------------------


def saved(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_bytes(b"".join(json_line(one) + b"\n" for one in rows))
    return str(path)


@pytest.mark.slow
def test_compare_has_the_exit_codes_of_the_contract(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.jsonl", [row(), row("2")])

    def code(rows: list[dict[str, Any]], *arguments: str) -> int:
        return run.invoke(app, ["compare", base, saved(tmp_path / "new.jsonl", rows), *arguments]).exit_code

    lower = [other(score=0.5), other("2")]
    assert code(lower) == 1  # without a gate no score may fall
    assert code(lower, "--no-gate") == 0
    assert code(lower, "--min-mean", "0.1") == 0  # a gate that is named stands instead
    assert code(lower, "--no-gate", "--fail-on", "any-drop") == 2
    assert code(lower, "--fail-on", "mean<-0.3", "--fail-on", "item<-0.6") == 0
    assert code(lower, "--fail-on", "any-drop") == 1
    assert code(lower, "--min-item", "0.6") == code(lower, "--min-mean", "0.8") == 1
    assert code(lower, "--fail-on", "mean<0.8") == code(lower, "--min-mean", "80") == 2
    assert code([row(grader={"version": "2", "fingerprint": "x"})]) == 3
    assert code([{"problem_id": "fall"}]) == run.invoke(app, ["compare", base, "none.jsonl"]).exit_code == 3
    died = [other(score=None), other("2")]
    assert code(died) == 4
    assert code(died, "--max-incidents", "1") == 0
    assert code(died, "--max-incidents", "1", "--fail-on", "any-drop") == 1
    assert code([other("9")], "--fail-on", "any-drop") == 5  # nothing in common


def test_compare_writes_every_report(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.jsonl", [row(), row("2")])
    new = saved(tmp_path / "new.jsonl", [other(score=0.5, matched=[1]), other("2")])
    summary, junit = tmp_path / "summary.md", tmp_path / "junit.xml"
    summary.write_text("before\n", encoding="utf-8")
    command = ["compare", base, new, "--fail-on", "any-drop", "--github", "--junit", str(junit), "--json"]
    result = run.invoke(app, command, env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["passed"], data["fell"], data["mean_change"]) == (False, 1, -0.25)
    assert data["gates"] == [
        {"gate": "any-drop", "fired": True, "value": None, "ids": [{"problem_id": "fall", "sample_id": "1"}]}
    ]
    assert result.stderr.startswith("::error file=")
    assert summary.read_text("utf-8").startswith("before\n## PRISM: 1 of 1 gate fired")
    assert ET.parse(junit).getroot().tag == "testsuites"
    text = run.invoke(app, command[:-1], env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert "score 1 -> 0.5 (-0.5); lost node 2" in text.stdout
    assert run.invoke(app, command, env={"GITHUB_STEP_SUMMARY": ""}).exit_code == 2


def test_the_environment_is_read_only_when_asked(tmp_path: Path) -> None:
    base = saved(tmp_path / "base.jsonl", [row()])
    summary = tmp_path / "summary.md"
    assert run.invoke(app, ["compare", base, base], env={"GITHUB_STEP_SUMMARY": str(summary)}).exit_code == 0
    assert not summary.exists()


@pytest.mark.slow
def test_update_baseline_takes_over_what_is_whole(tmp_path: Path) -> None:
    base = tmp_path / "base.jsonl"
    new = saved(tmp_path / "new.jsonl", [other(score=0.5, grader={"version": "2", "fingerprint": "x"})])
    made = run.invoke(app, ["compare", str(base), new, "--update-baseline"])  # also where there is none yet
    assert (made.exit_code, base.read_bytes()) == (0, Path(new).read_bytes())
    died = saved(tmp_path / "died.jsonl", [other(score=0.5), other("2", None)])
    refused = run.invoke(app, ["compare", str(base), died, "--update-baseline"])
    assert (refused.exit_code, base.read_bytes()) == (4, Path(new).read_bytes())
    empty = saved(tmp_path / "empty.jsonl", [])
    assert run.invoke(app, ["compare", str(base), empty, "--update-baseline"]).exit_code == 5
    assert run.invoke(app, ["compare", str(base), new, "--update-baseline", "--fail-on", "any-drop"]).exit_code == 2
    assert run.invoke(app, ["compare", str(tmp_path / "b.parquet"), new, "--update-baseline"]).exit_code == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.jsonl", "died.jsonl", "empty.jsonl", "new.jsonl"]


def test_a_file_of_another_kind_holds_the_same(tmp_path: Path) -> None:
    """Rows as the grader writes them, once as JSON Lines and once as Parquet."""
    problem = prism.load_problem(ROOT / "dags" / "free_fall.toml")
    graded = [score_row(problem, text, prism.grade(problem, text, sample_id=text)) for text in ("$v = g t$", "$v = g$")]
    lines = [json_line({**one, "meta": {}}) for one in graded]
    files = [tmp_path / "scores.jsonl", tmp_path / "scores.parquet"]
    for path in files:
        with path.open("wb") as file:
            writer_of(path)(file, [lines])
    result = run.invoke(app, ["compare", *map(str, files), "--fail-on", "any-drop,any-lost-node", "--json"])
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["same"], data["changed_solutions"], data["items"]) == (2, 0, [])


def test_the_page_names_every_key_and_gate() -> None:
    page = PAGE.read_text(encoding="utf-8")
    data = gating.to_dict(*trouble())
    keys = {*data, *data["base"], *data["items"][0], *data["gates"][0]}
    assert {key for key in keys if f"`{key}`" not in page} == set()
    assert gating.GRAMMAR in page
    assert all(f"`{measure}" in page or f"--{measure}" in page for measure in gating.MEASURES)


# Chance. --------------------------------------------------------------------------------------------------------


def test_a_comparison_tests_its_changes_problem_by_problem() -> None:
    """Six problems, of which five fall by a tenth: 2 of 32 turnings of their signs are as extreme."""
    base = [row("1", 0.9, problem=f"p{k}") for k in range(6)]
    new = [other("1", 0.8 if k else 0.9, problem=f"p{k}", final_correct=k > 1) for k in range(6)]
    tests = compared(base, new).tests
    assert (tests["score"].p, tests["score"].method, tests["score"].n_problem) == (2 / 32, "exact", 6)
    assert tests["score"].difference.value == pytest.approx(-0.5 / 6)
    assert tests["final"].p == 0.5
    assert tests["final"].difference.value == pytest.approx(-1 / 3)
    told = " ".join(ci_formats.overview(compared(base, new)))
    assert re.search(
        r"score -0\.100 to -0\.0\d\d, p 0\.0625; final answers -0\.667 to 0\.000, p 0\.5 \(6 problems;", told
    )
    data = gating.to_dict(compared(base, new), ())["tests"]
    assert (data["score"]["p"], data["score"]["difference"], data["final"]["n"]) == (0.0625, -0.083333, 6)


def test_rollouts_of_one_problem_have_no_p() -> None:
    base, new = ([make(str(k), score) for k in range(9)] for make, score in ((row, 0.9), (other, 0.1)))
    assert compared(base, new).tests["score"].p is None
    assert "all items are of one problem" in " ".join(ci_formats.overview(compared(base, new)))
    assert not ci_formats.significance_lines(compared([row("1")], [row("2")]).tests)

"""Models of one run against each other: what is paired, what is refused, what the command prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from prism.cli import app
from prism.errors import PrismError
from prism.grading.row import SCHEMA, json_line
from prism.reports.comparison.groups import GroupComparison, compare_groups
from prism.reports.comparison.paired_tests import Differences, holm_adjusted, paired_tests

run = CliRunner()


def row(model: str | None, problem: str, sample: object, score: float | None = 1.0, **named: Any) -> dict[str, Any]:
    """A score row as `prism run` writes it, as far as a comparison reads it."""
    return {
        "problem_id": problem, "sample_id": str(sample), "status": "ok" if score is not None else "killed",
        "score": score, "matched": [], "final_correct": score == 1.0, "schema": SCHEMA, "policies": {"strict": score},
        "incidents": [] if score is not None else [{"code": "killed", "where": "rollout", "detail": "died"}],
        "grader": {"version": "0.1.0", "fingerprint": "ab" * 32}, "problem_sha256": f"file of {problem}",
        "solution_sha256": "s", "meta": {} if model is None else {"model": model}, **named,
    }  # fmt: skip


SCORES = {
    "large": {"a": [1.0, 0.5], "b": [0.9], "c": [0.8, 0.8]},
    "small": {"a": [0.5], "b": [0.3, 0.1], "c": [0.8], "d": [1.0]},
    "tiny": {"a": [0.0], "b": [0.2], "c": [0.1]},
}
ROWS = [
    row(model, problem, f"{model}{problem}{k}", score)
    for model, problems in SCORES.items() for problem, scores in problems.items() for k, score in enumerate(scores)
]  # fmt: skip


def compared(rows: list[dict[str, Any]], *fields: str, **named: Any) -> GroupComparison:
    return compare_groups({"run.jsonl": rows}, fields or ("model",), **named)


def told(rows: list[dict[str, Any]], *fields: str, **named: Any) -> str:
    with pytest.raises(PrismError) as caught:
        compared(rows, *fields, **named)
    return str(caught.value)


def test_what_is_paired_is_the_problem() -> None:
    """Means of the rollouts of a problem are subtracted, over the problems that both models have."""
    found = compared(ROWS)
    first = found.pairs[0]
    assert [(pair.base, pair.new) for pair in found.pairs] == [("large", "small"), ("large", "tiny"), ("small", "tiny")]
    changes = np.array([0.5 - 0.75, 0.2 - 0.9, 0.8 - 0.8])
    twin = paired_tests([Differences(changes, np.arange(3))])[0]
    assert first.tests["score"].difference == twin.difference
    assert first.tests["score"].p == twin.p == 0.5
    assert first.tests["score"].n_problem == 3
    assert first.tests["final"].difference.value == pytest.approx(-0.5 / 3)
    assert [(one.name, one.n, one.n_problem) for one in found.groups] == [("large", 5, 3), ("small", 5, 4),
                                                                          ("tiny", 3, 3)]  # fmt: skip


def test_p_is_adjusted_over_the_pairs_of_a_measure() -> None:
    found = compared(ROWS)
    for name in ("score", "final"):
        tests = [pair.tests[name] for pair in found.pairs]
        assert tuple(one.holm for one in tests) == holm_adjusted([one.p for one in tests])


def test_each_against_one_is_a_smaller_family() -> None:
    found = compared(ROWS, against="small")
    assert [(pair.base, pair.new) for pair in found.pairs] == [("small", "large"), ("small", "tiny")]
    every = compared(ROWS)
    assert found.pairs[1].tests["score"].p == every.pairs[2].tests["score"].p
    assert found.pairs[0].tests["score"].difference.value == pytest.approx(0.95 / 3)


def test_the_order_of_rows_changes_nothing() -> None:
    assert compared(ROWS[::-1]).to_dict() == compared(ROWS).to_dict()


def test_rows_without_the_field_or_a_score_are_left_out_and_counted() -> None:
    found = compared([*ROWS, row(None, "a", 1, 0.0), row("tiny", "d", 2, None)])
    assert (found.n_left_out, found.n_incident, found.groups[2].n_unscored) == (1, 1, 1)
    assert [pair.tests for pair in found.pairs] == [pair.tests for pair in compared(ROWS).pairs]


def test_groups_may_be_named_by_several_fields_and_stand_in_several_files() -> None:
    rows = [{**each, "meta": {**each["meta"], "effort": effort}} for effort in (1, 2) for each in ROWS]
    names = [one.name for one in compared(rows, "model", "effort").groups]
    assert names == [f"{model}, {effort}" for model in SCORES for effort in (1, 2)]
    parts = {model: [each for each in ROWS if each["meta"]["model"] == model] for model in SCORES}
    assert compare_groups(parts, ("model",)).pairs == compared(ROWS).pairs


def test_models_without_a_common_problem_have_no_test() -> None:
    found = compared([row("large", "a", 1), row("small", "b", 1)])
    assert (found.is_empty, found.pairs[0].tests["score"].p) == (True, None)


def test_a_field_of_no_row_names_the_nearest_and_those_kept() -> None:
    said = told(ROWS, "modle")
    assert said == 'run.jsonl: no row has the field "modle"; did you mean "model"?; the rows keep model'
    assert "keep no fields" in told([row(None, "a", 1)])


def test_one_model_or_an_unknown_one_is_a_fault() -> None:
    assert 'fewer than two groups by model; all rows are of "large"' in told(ROWS[:5])
    assert 'no rows are of "smal"; did you mean "small"?; groups are "large", "small", "tiny"' in told(
        ROWS, against="smal"
    )


def test_all_faults_of_the_rows_are_told_at_once() -> None:
    rows = [
        *ROWS, ROWS[0], row("tiny", "x", 1, 2.0), row("tiny", "a", 9, problem_sha256="another"),
        row("tiny", "a", 10, grader={"version": "0.0.9", "fingerprint": "cd" * 32}),
    ]  # fmt: skip
    said = told(rows)
    for words in ("row 14: a/largea0 of \"large\" stands in run.jsonl: row 1 too", "row 15: the score 2.0",
                  'problem "a" has 2 files', "graded by 2 graders: run.jsonl: row 1 by PRISM 0.1.0"):  # fmt: skip
        assert words in said
    assert told(rows, allow_changed=True).count("\n") == said.count("\n") - 1
    assert told(rows, across_rules=True).count("\n") == said.count("\n") - 1


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_bytes(b"".join(json_line(each) + b"\n" for each in rows))
    return str(path)


def test_compare_by_model_prints_each_pair(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", ROWS)
    result = run.invoke(app, ["compare", path, "--by", "model"])
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["large", "small", "-0.317", "-0.700", "to", "0.000", "0.5", "1", "3"] in lines
    assert "p (Holm) is adjusted for 3 comparisons." in result.stdout
    data = json.loads(run.invoke(app, ["compare", path, "--by", "model", "--json"]).stdout)
    assert data == json.loads(json_line(compare_groups({path: ROWS}, ("model",)).to_dict()))
    two = run.invoke(app, ["compare", path, "--by", "model", "--against", "large", "--replicates", "0"]).stdout
    assert "adjusted for 2" in two


@pytest.mark.slow
def test_compare_by_writes_its_tables_in_other_forms(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", ROWS)
    words = ["compare", path, "--by", "model"]
    told = run.invoke(app, [*words, "--table", "change-of-score", "--format", "csv"]).stdout.splitlines()
    assert told[:2] == [
        "from,to,change,change low,change high,p,p (Holm),problems", "large,small,-0.3167,-0.7,0,0.5,1,3",
    ]  # fmt: skip
    markdown = run.invoke(app, [*words, "--format", "markdown"]).stdout
    assert markdown.count("\n| ---") == 3
    assert "Intervals of 95%" in markdown
    folder = tmp_path / "tables"
    assert run.invoke(app, [*words, "--format", "latex", "-o", str(folder), "--percent"]).exit_code == 0
    assert {each.name for each in folder.iterdir()} == {"groups.tex", "change-of-score.tex", "change-of-final.tex"}
    latex = (folder / "change-of-score.tex").read_text()
    assert r"\caption{Change of score (per cent)}" in latex
    assert r"large & small & $-31.67$ & $-70.00$ to 0.00 & 0.5 & 1 & 3 \\" in latex
    again = run.invoke(app, [*words, "--format", "latex", "-o", str(folder)])
    assert (again.exit_code, "is there already" in again.stderr) == (3, True)


@pytest.mark.slow
def test_a_comparison_of_two_files_is_written_in_other_forms(tmp_path: Path) -> None:
    base = written(tmp_path / "base.jsonl", ROWS)
    gained = [{**each, "score": min(1.0, (each["score"] or 0) + 0.25)} for each in ROWS]
    new = written(tmp_path / "new.jsonl", gained)
    words = ["compare", base, new, "--allow-changed"]
    change = run.invoke(app, [*words, "--table", "change", "--format", "csv"]).stdout.splitlines()
    assert change[0] == "of,change,change low,change high,p,problems"
    assert change[1].startswith("score,0.1885,0.1214,0.2125,")
    assert "+0.188" in run.invoke(app, [*words, "--table", "change"]).stdout
    latex = run.invoke(app, [*words, "--format", "latex"]).stdout
    assert r"\label{tab:changed}" in latex
    assert "& $+0.250$ \\\\" in latex
    assert "% Mean score" in latex
    for wrong in (["--format", "csv"], ["--table", "ghost"], ["--json", "--format", "csv"], ["-o", "x.html"],
                  ["--update-baseline", "--format", "csv"]):  # fmt: skip
        assert run.invoke(app, [*words, *wrong]).exit_code == 2, wrong
    gate = run.invoke(app, [*words, "--format", "markdown", "--min-mean", "1"])
    assert gate.exit_code == 1
    assert "FIRED" in gate.stdout
    same = run.invoke(app, ["compare", base, base, "--table", "changed", "--format", "csv"])
    assert same.stdout == "problem,sample,what became of it,base,new,change\n"


@pytest.mark.slow
def test_compare_by_has_the_exit_codes_of_compare(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", ROWS)
    apart = written(tmp_path / "apart.jsonl", [row("large", "a", 1), row("small", "b", 1)])
    failed = written(tmp_path / "failed.jsonl", [*ROWS, row("tiny", "d", 1, None)])
    for words, code in (
        (["compare", path], 2), (["compare", path, path, "--against", "large"], 2),
        (["compare", path, "--by", "model", "--fail-on", "any-drop"], 2), (["compare", path, "--by", "modle"], 3),
        (["compare", failed, "--by", "model"], 4), (["compare", failed, "--by", "model", "--max-incidents", "1"], 0),
        (["compare", apart, "--by", "model"], 5), (["compare", path, path, "--by", "model"], 2),
    ):  # fmt: skip
        assert run.invoke(app, words).exit_code == code, words

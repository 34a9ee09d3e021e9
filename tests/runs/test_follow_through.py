"""A run's rows have the policy `follow_through` only where it is asked for, and then as `prism grade` has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism.cli import app

run = CliRunner()
WRONG = "$s = g t^2$, so $t_f = \\sqrt{h/g}$."


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def graded(folder: Path, name: str, *options: str) -> dict:
    rollouts = folder / "rollouts.jsonl"
    rollouts.write_text(json.dumps({"problem_id": "free_fall", "id": "a", "response": WRONG}) + "\n", encoding="utf-8")
    done = run.invoke(app, ["run", "free_fall", str(rollouts), "-o", str(folder / name), "--workers", "0", *options])
    assert done.exit_code == 0, done.output
    (row,) = rows(folder / name)
    return row


@pytest.mark.slow
def test_a_row_has_it_only_where_it_is_asked_for(tmp_path: Path) -> None:
    plain, asked = graded(tmp_path, "plain.jsonl"), graded(tmp_path, "asked.jsonl", "--follow-through")
    assert asked["policies"].pop("follow_through") == 0.166667  # node 4, behind the slip in node 3
    assert plain == asked
    text = tmp_path / "solution.md"
    text.write_text(WRONG, encoding="utf-8")
    alone = json.loads(run.invoke(app, ["grade", "free_fall", str(text), "--follow-through", "--json"]).stdout)
    assert alone["policies"]["follow_through"] == 0.166667
    assert alone["carried"] == [{"node": 4, "position": 1, "source": 0}]
    assert "carried" not in json.loads(run.invoke(app, ["grade", "free_fall", str(text), "--json"]).stdout)
    said = run.invoke(app, ["grade", "free_fall", str(text), "--follow-through"]).stdout
    assert r"Carried forward: node 4 by t_f = \sqrt{h/g}, which follows from s = g t^2" in said


@pytest.mark.slow
def test_a_parquet_file_has_the_column_only_where_it_is_asked_for(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from prism.runs.score_files import score_rows

    for name, options in (("plain", ()), ("asked", ("--follow-through",))):
        graded(tmp_path, f"{name}.jsonl", *options)
        path = tmp_path / f"{name}.parquet"
        words = ["run", "free_fall", str(tmp_path / "rollouts.jsonl"), "-o", str(path), "--workers", "0", *options]
        assert run.invoke(app, words).exit_code == 0
        assert list(score_rows(path)) == rows(tmp_path / f"{name}.jsonl")
        fields = {field.name for field in pq.read_schema(path).field("policies").type}
        assert ("follow_through" in fields) == bool(options)


def test_a_run_that_lacks_it_is_not_gone_on_with(tmp_path: Path) -> None:
    graded(tmp_path, "scores.jsonl")
    words = [
        "run",
        "free_fall",
        str(tmp_path / "rollouts.jsonl"),
        "-o",
        str(tmp_path / "scores.jsonl"),
        "--workers",
        "0",
    ]
    assert run.invoke(app, [*words, "--resume"]).exit_code == 0
    other = run.invoke(app, [*words, "--resume", "--follow-through"])
    assert other.exit_code == 3
    assert "of another input or grader" in other.stderr

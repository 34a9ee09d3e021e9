"""`prism generate`, and `prism lint` of templates, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism.cli import app
from tests.generation.test_loading import BRAKING

RUN = CliRunner()


@pytest.mark.slow
def test_files_and_lines_are_the_same_instances(tmp_path: Path) -> None:
    out, lines = tmp_path / "out", tmp_path / "all.jsonl"
    call = ["generate", "braking", "-n", "2", "--variants", "original,abstract", "-o", str(out), "--jsonl", str(lines)]
    done = RUN.invoke(app, [*call, "--json"])
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == [each["id"] for each in told["instances"]]
    assert [Path(each["file"]).relative_to(out).as_posix() for each in told["instances"]] == [
        "braking/original-0.toml", "braking/abstract-0.toml", "braking/abstract-1.toml",
    ]  # fmt: skip
    assert set(rows[0]) == {"id", "question", "answer", "problem", "metadata"}
    assert rows[0]["problem"]["id"] == rows[0]["id"]
    again = RUN.invoke(app, call)
    assert again.exit_code == 3  # nothing is written over
    assert "is there already" in again.stderr
    assert RUN.invoke(app, [*call, "--force"]).exit_code == 0
    for path in (out / "braking").glob("*.toml"):
        path.rename(path.with_name("abstract-1.toml"))  # the last one of a run is in the way
    assert RUN.invoke(app, call[:-2]).exit_code == 3
    assert [path.name for path in (out / "braking").glob("*.toml")] == ["abstract-1.toml"]  # nothing was written


def test_lines_that_are_there_stop_it_before_any_file(tmp_path: Path) -> None:
    lines = tmp_path / "all.jsonl"
    lines.write_text("mine\n", "utf-8")
    done = RUN.invoke(app, ["generate", "braking", "-o", str(tmp_path / "out"), "--jsonl", str(lines)])
    assert done.exit_code == 3
    assert "is there already" in done.stderr
    assert not (tmp_path / "out").exists()
    assert lines.read_text("utf-8") == "mine\n"


@pytest.mark.parametrize(
    ("call", "code", "told"),
    [
        (["braking"], 2, "-o"),
        (["brakin", "-o", "x"], 3, "did you mean"),
        (["braking", "-o", "x", "--variants", "old"], 3, "known are"),
        (["braking", str(BRAKING), "-o", "x"], 3, "two templates have this id"),
    ],
)
def test_what_cannot_be_generated(call: list[str], code: int, told: str, tmp_path: Path) -> None:
    done = RUN.invoke(app, ["generate", *(str(tmp_path / each) if each == "x" else each for each in call)])
    assert done.exit_code == code
    assert told in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_lint_takes_templates(tmp_path: Path) -> None:
    done = RUN.invoke(app, ["lint", "braking", "--seeds", "3", "--json"])
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert (told["faults"], told["templates"][0]["seeds"]) == (0, 3)
    path = tmp_path / "bad.toml"
    path.write_text(BRAKING.read_text("utf-8").replace('unit = "m" }, dep', 'unit = "s" }, dep'), "utf-8")
    done = RUN.invoke(app, ["lint", str(path)])
    assert done.exit_code == 3
    assert "node 3, number, unit: s is in m" in done.stdout
    done = RUN.invoke(app, ["lint", "braking", "--sarif", str(tmp_path / "found.sarif")])
    assert done.exit_code == 2
    assert "--sarif" in done.stderr
    done = RUN.invoke(app, ["lint", "braking", "free_fall"])
    assert done.exit_code == 3
    assert "one after the other" in done.stderr

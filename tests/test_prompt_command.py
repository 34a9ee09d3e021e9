"""`prism prompt`: text of one problem, JSON lines of a set, chat messages as JSON, and what goes wrong."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.problem.source import problem_path
from tests.support.pictures import PNG

run = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two problems, the second with an image."""
    (tmp_path / "set").mkdir()
    shutil.copy(problem_path("free_fall"), tmp_path / "set")
    node = {"index": 1, "formula": "v = 2 u", "dependency": [], "is_final_answer": True}
    data = {"id": "ramp", "context": "A ramp.", "images": [{"location": "a.png"}], "grading_standard": [node]}
    (tmp_path / "set" / "ramp.json").write_text(json.dumps(data))
    (tmp_path / "set" / "a.png").write_bytes(PNG)
    return tmp_path


def test_one_problem_is_printed_as_text() -> None:
    done = run.invoke(app, ["prompt", "free_fall", "--style", "engjudge", "--part", "b"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == prism.prompt("free_fall", "engjudge", part="b") + "\n"


def test_images_of_a_text_are_told_on_standard_error(folder: Path) -> None:
    with chdir(folder):
        done = run.invoke(app, ["prompt", "set/ramp.json"])
        assert (done.exit_code, done.stderr) == (0, "prism: figure 1 goes with this text: set/a.png\n")
        Path("set/a.png").unlink()
        done = run.invoke(app, ["prompt", "set/ramp.json"])
        assert (done.exit_code, "no such file" in done.stderr) == (0, True)
        assert done.stdout == prism.prompt("set/ramp.json") + "\n"


def test_json_has_chat_messages(folder: Path) -> None:
    done = run.invoke(app, ["prompt", "free_fall", "--json"])
    told = json.loads(done.stdout)
    assert told == {
        "problem_id": "free_fall", "style": "prism", "part": "", "images": [], "prompt": prism.prompt("free_fall"),
        "messages": [{"role": "user", "content": prism.prompt("free_fall")}],
    }  # fmt: skip
    with chdir(folder):
        several = json.loads(run.invoke(app, ["prompt", "set", "--json"]).stdout)["prompts"]
        assert [each["problem_id"] for each in several] == ["free_fall", "ramp"]
        assert several[1]["messages"] == prism.prompt_messages("set/ramp.json")


def test_a_set_is_json_lines_with_paths(folder: Path) -> None:
    with chdir(folder):
        printed = run.invoke(app, ["prompt", "set", "--style", "engtrace"])
        done = run.invoke(app, ["prompt", "set", "--style", "engtrace", "-o", "prompts.jsonl"])
        assert (done.exit_code, done.stdout) == (0, "prompts.jsonl: 2 prompts\n")
        text = Path("prompts.jsonl").read_text("utf-8")
        assert text == printed.stdout
        rows = [json.loads(line) for line in text.splitlines()]
        assert rows == [
            {"images": [], "problem_id": "free_fall", "prompt": prism.prompt("free_fall", "engtrace")},
            {"images": ["set/a.png"], "problem_id": "ramp", "prompt": prism.prompt("set/ramp.json", "engtrace")},
        ]
        assert run.invoke(app, ["prompt", "set", "-o", "prompts.jsonl"]).exit_code == 3  # it is there
        told = run.invoke(app, ["prompt", "free_fall", "-o", "prompts.jsonl", "--force", "--json"])
        assert json.loads(told.stdout) == {"out": "prompts.jsonl", "prompts": 1}
        assert json.loads(Path("prompts.jsonl").read_text("utf-8"))["problem_id"] == "free_fall"


@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_code(folder: Path) -> None:
    def code(*words: str) -> tuple[int, str]:
        done = run.invoke(app, ["prompt", *words])
        return done.exit_code, done.stderr

    assert code("free_fall", "--style", "plain")[0] == 2
    assert code("free_fall", "--part", "z")[0] == 3
    assert "the parts are a, b" in code("free_fall", "--part", "z")[1]
    assert code(str(folder / "set"), "--part", "a")[0] == 2
    assert "did you mean free_fall" in code("free_fal")[1]
    assert code("free_fall", "-o", str(folder / "none" / "x.jsonl"))[0] == 3
    (folder / "set" / "a.png").unlink()
    out = folder / "x.jsonl"
    assert code(str(folder / "set"), "-o", str(out)) == (
        3, 'prism: ramp: image "a.png": no such file beside the problem file\n',
    )  # fmt: skip
    assert not out.exists()

"""What commands take: solutions as files or texts, lists in two forms, references that can be graded with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prism.cli import app

run = CliRunner()

# Solutions. -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [r"$v_f = \sqrt{2gh}$", "v_f^2 = 2 g h", "By energy\nv_f^2 = 2gh", r"\(v_f^2 = 2gh\)"])
def test_a_solution_may_be_the_text_itself(text: str) -> None:
    graded = run.invoke(app, ["grade", "free_fall", text, "--json"])
    assert graded.exit_code == 0, graded.stderr
    assert 6 in json.loads(graded.stdout)["matched"]


@pytest.mark.parametrize("command", [
    ["grade", "free_fall"], ["explain", "free_fall"], ["draft"], ["verify-determinism", "free_fall"],
])  # fmt: skip
def test_an_empty_argument_and_a_wrong_name_of_a_file_are_told_as_such(command: list[str]) -> None:
    for empty in ("", "  "):
        told = run.invoke(app, [*command, empty])
        assert (told.exit_code, "the solution is empty" in told.stderr) == (3, True)
    told = run.invoke(app, [*command, "solution.txt"])
    assert (told.exit_code, "solution.txt: cannot be read: No such file or directory" in told.stderr) == (3, True)


@pytest.mark.parametrize("command", [["explain", "free_fall"], ["draft"]])
def test_other_commands_take_a_text_too(command: list[str]) -> None:
    done = run.invoke(app, [*command, r"So $v_f = \sqrt{2gh}$."])
    assert done.exit_code == 0, done.stderr


def test_a_file_whose_name_looks_like_a_text_is_read(tmp_path: Path) -> None:
    file = tmp_path / "t=3.md"
    file.write_text(r"$v_f = \sqrt{2gh}$", encoding="utf-8")
    assert 6 in json.loads(run.invoke(app, ["grade", "free_fall", str(file), "--json"]).stdout)["matched"]

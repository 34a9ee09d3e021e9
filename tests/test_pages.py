"""The page that teaches writing a problem: its files are made, its commands run, and what they print must stand there.

After a change of an output, `python -m tests.test_pages` writes the page anew; read what it changed.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.resources import resource

PAGE = resource("dags/write_a_problem.md")
BLOCK = re.compile(r"(?:<!-- (?P<order>.*?) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)```", re.DOTALL)


def rewritten(page: str, folder: Path) -> str:
    """The page with the outputs of its commands as they are now; its files are made in the folder, in order."""

    def block(found: re.Match[str]) -> str:
        order, body = found["order"] or "", found["body"]
        words = order.split()
        if words[:1] == ["file"]:
            (folder / words[1]).write_text(body, encoding="utf-8")
        elif words[:1] == ["append"]:
            path = folder / words[1]
            path.write_text(path.read_text(encoding="utf-8") + "\n" + body, encoding="utf-8")
        elif words[:1] == ["change"]:
            text = (folder / words[1]).read_text(encoding="utf-8")
            for old, new in re.findall(r'"([^"]*)" -> "([^"]*)"', order):
                assert text.count(old) == 1, old
                text = text.replace(old, new)
            (folder / words[3].rstrip(":")).write_text(text, encoding="utf-8")
        if not body.startswith("$ "):
            return found[0]
        commands = re.findall(r"^\$ (.*)$", body, re.MULTILINE)
        ran = "".join(f"$ {command}\n{output(command, folder)}" for command in commands)
        return found[0].replace(body, ran)

    return BLOCK.sub(block, page)


def output(command: str, folder: Path) -> str:
    """What a command prints, with names of files as the page has them, and no blanks at the ends of lines."""
    name, verb, *arguments = shlex.split(command)
    assert name == "prism"
    done = CliRunner().invoke(app, [verb, *(str(folder / word) for word in arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), command
    lines = done.output.replace(f"{folder}/", "").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines).rstrip("\n") + "\n"


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert rewritten(page, tmp_path) == page


def test_the_example_is_as_good_as_the_page_says(tmp_path: Path) -> None:
    rewritten(PAGE.read_text(encoding="utf-8"), tmp_path)
    problem = prism.load_problem(tmp_path / "braking.toml")
    assert problem.warnings == ()
    assert len(problem.nodes) == 6
    for student in problem.students:
        assert student.expected is not None
        grade = prism.grade(problem, student.solution)
        assert grade.matched == student.expected.matched
        assert grade.credited == student.expected.credited
        saved = (tmp_path / ("right.md" if student.name == "right" else "wrong.md")).read_text(encoding="utf-8")
        assert student.solution.strip() == saved.strip()
    text = problem.students[0].solution
    for metres, is_right in (("45.1", True), ("45.9", True), ("45.0", False), ("46.0", False)):
        assert prism.grade(problem, text.replace("45.5", metres)).final_correct == is_right, metres
    assert prism.grade(problem, r"$s = \frac{(25.0\text{ m/s})^2}{2 a}$").matched == (4,)  # a value put in


@pytest.mark.parametrize("name", ["free_fall.toml", "bucket.toml", "scoring_figure.toml"])
def test_the_longer_examples_are_there(name: str) -> None:
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")
    assert resource(f"dags/{name}").exists()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")

"""Drafts of one problem from several solutions, and the lines of findings about alternatives."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.authoring.draft_alternatives import draft_alternatives
from prism.authoring.drafting import draft
from prism.cli import app
from prism.errors import PrismError
from prism.problem.source import MAX_ALTERNATIVES
from prism.problem.toml_writer import problem_toml
from tests.grading.test_alternatives import SLIDE

PROBLEM = r"A block of mass $m$ slides from rest down a smooth incline of angle $\theta$, height $h$; $g$ is gravity."
ENERGY = r"The energy is $$E = m g h$$ and $$E = \frac12 m v^2$$ So $$\boxed{v = \sqrt{2gh}}$$"
KINEMATICS = r"$$a = g\sin\theta$$ $$s = \frac{h}{\sin\theta}$$ $$v^2 = 2 a s$$ $$\boxed{v = \sqrt{2gh}}$$"
WRONG = KINEMATICS.replace("2gh", "gh")
run = CliRunner()


def test_each_further_solution_is_an_alternative() -> None:
    made = draft_alternatives([ENERGY, KINEMATICS], names=["energy", "kinematics"], problem=PROBLEM, name="slide")
    problem = prism.load_problem(made.data)
    assert [each.alternative for each in problem.alternatives] == ["kinematics"]
    assert made.remarks == ()
    assert prism.grade(problem, ENERGY).score == prism.grade(problem, KINEMATICS).score == 1
    assert prism.grade(problem, KINEMATICS).alternative == "kinematics"
    assert {each.code for each in prism.lint(problem) if each.kind != "note"} == {"unreviewed"}
    assert len(made.alternatives) == 1


def test_the_file_holds_them_with_their_comments() -> None:
    made = draft_alternatives([ENERGY, KINEMATICS], problem=PROBLEM, name="slide")
    text = made.toml()
    assert tomllib.loads(text) == json.loads(json.dumps(made.data))
    assert r"{ from = 3, why = 'it holds wherever they do; eliminated: \theta, a, s', reviewed = false }" in text
    assert "[[alternatives]]\nname = 'way 2'" in text
    assert [len(each["nodes"]) for each in made.to_dict()["alternatives"]] == [4]


def test_one_solution_is_drafted_as_ever() -> None:
    assert draft_alternatives([ENERGY], problem=PROBLEM) == draft(ENERGY, problem=PROBLEM)


def test_a_solution_that_goes_the_same_way_is_left_out() -> None:
    made = draft_alternatives([KINEMATICS, ENERGY, KINEMATICS.replace("so", "hence")], problem=PROBLEM)
    assert [each["name"] for each in made.data["alternatives"]] == ["way 2"]
    assert made.remarks == ("solution 3 goes the way of solution 1, and is left out",)
    assert "alternatives" not in draft_alternatives([ENERGY, ENERGY], problem=PROBLEM).data


def test_answers_that_contradict_each_other_are_told() -> None:
    made = draft_alternatives([ENERGY, WRONG], names=["a", "b"], problem=PROBLEM)
    assert len(made.remarks) == 1
    assert made.remarks[0].startswith(r"b, node 4, formula: it answers `v = \sqrt{g h}`")
    assert "wrong by the other" in made.toml()
    faults = [each for each in prism.lint(prism.load_problem(made.data)) if each.kind == "fault"]
    assert [(each.entry, each.code) for each in faults] == [("alternative b, node 4", "alternatives")]


def test_names_are_made_fit() -> None:
    names = ["x", "[a]: b,c", "x", "x", ""]
    solutions = [ENERGY, KINEMATICS, r"$$m g h = \frac12 m v^2 + 0$$ $$p = m v$$ $$\boxed{p = m\sqrt{2gh}}$$"]
    made = draft_alternatives(solutions, names=names, problem=PROBLEM)
    assert [each["name"] for each in made.data["alternatives"]] == ["a b c", "x"]
    again = draft_alternatives(solutions, names=["x", "y", "y"], problem=PROBLEM)
    assert [each["name"] for each in again.data["alternatives"]] == ["y", "way 3"]


def test_parts_are_those_of_the_solution_that_marks_them() -> None:
    problem = PROBLEM + r" (a) Find $v$. (b) Find $t$."
    marked = r"(a) $$a = g\sin\theta$$ $$\boxed{v = \sqrt{2gh}}$$ (b) $$\boxed{t = \frac{v}{a}}$$"
    made = draft_alternatives([ENERGY, marked], problem=problem)
    loaded = prism.load_problem(made.data)
    assert [part.letter for part in loaded.subquestions] == ["a", "b"]


def test_too_many_or_none_are_refused() -> None:
    for solutions in ([], [ENERGY] * (MAX_ALTERNATIVES + 2)):
        with pytest.raises(PrismError, match="solutions are given"):
            draft_alternatives(solutions)
    with pytest.raises(PrismError, match=r"^solution 2: "):
        draft_alternatives([ENERGY, "Nothing."])


@pytest.mark.slow
def test_on_the_command_line(tmp_path: Path) -> None:
    for name, text in (("energy", ENERGY), ("kinematics", KINEMATICS), ("wrong", WRONG)):
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "problem.txt").write_text(PROBLEM, encoding="utf-8")
    paths = [str(tmp_path / f"{name}.md") for name in ("energy", "kinematics", "wrong")]
    out = tmp_path / "slide.toml"
    done = run.invoke(app, ["draft", *paths[:2], "--problem", str(tmp_path / "problem.txt"), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "1 alternative;" in done.stdout
    graded = run.invoke(app, ["grade", str(out), paths[1], "--json"])
    assert json.loads(graded.stdout)["alternative"] == "kinematics"
    assert "Reference nodes, kinematics" in run.invoke(app, ["grade", str(out), paths[1]]).stdout
    told = run.invoke(app, ["draft", *paths, "--problem", str(tmp_path / "problem.txt"), "-o", str(out), "--force"])
    assert told.exit_code == 0
    assert "wrong by the other" in told.stderr
    linted = run.invoke(app, ["lint", str(out)])
    assert linted.exit_code == 3
    assert f"{out}:" in linted.stdout
    assert "fault: alternative wrong, node 4, formula: it answers" in linted.stdout
    assert run.invoke(app, ["draft", paths[0], str(tmp_path / "problem.txt")]).exit_code == 3


def test_findings_have_the_lines_of_their_way(tmp_path: Path) -> None:
    data = {**SLIDE, "alternatives": [SLIDE["alternatives"][0], {**SLIDE["alternatives"][0], "name": "again"}]}
    text = problem_toml(data)
    lines = text.split("\n")
    path = tmp_path / "slide.toml"
    at = [k for k, line in enumerate(lines, start=1) if line == r"formula = 'v = \sqrt{2 g h}'"]
    path.write_text("\n".join(line if k != at[2] else r"formula = 'v = \sqrt{g h}'" for k, line in
                              enumerate(lines, start=1)), encoding="utf-8")  # fmt: skip
    found = [each for each in prism.lint(path) if each.kind == "fault"]
    assert [(each.entry, each.line) for each in found] == [("alternative again, node 4", at[2])]
    path.write_text("\n".join(line if k != at[0] else r"formula = 'v = \frac{'" for k, line in
                              enumerate(lines, start=1)), encoding="utf-8")  # fmt: skip
    assert [(each.entry, each.line) for each in prism.lint(path)] == [("node 3", at[0])]
    path.write_text(text.replace("name = 'again'", "name = 'a,b'"), encoding="utf-8")
    (finding,) = prism.lint(path)
    assert (finding.entry, finding.line) == ("alternatives, entry 2", text.split("\n").index("name = 'again'") + 1)

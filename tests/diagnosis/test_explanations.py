"""`prism explain` and `prism show`: what was used is said, in order, and from where it comes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.diagnosis.explanations import explain

run = CliRunner()
PROBLEM: dict[str, Any] = {
    "id": "shot",
    "context": "A shot leaves at $v_0 = 20.0$ m/s under the angle $\\theta$; $g = 9.81$ m/s$^2$, $x = 0$ at $t = 0$.",
    "grading_standard": [
        {"index": 1, "formula": "x = v_0 t \\cos\\theta", "dependency": []},
        {"index": 2, "formula": "T = \\frac{2 v_0 \\sin\\theta}{g}", "dependency": [1], "is_final_answer": True},
    ],
}
SOLUTION = (
    "With $u = v_0\\cos\\theta$ we get $x = ut$ and $T = 4.08\\sin\\theta$. Also $y = \\frac{1}{0}x$ and $\\fracc12$."
)


def test_each_match_says_what_it_took() -> None:
    grade = prism.grade(PROBLEM, SOLUTION)
    problem = prism.load_problem(PROBLEM)
    told = explain(problem, grade, prism.diagnose(problem, grade))
    assert "The solution defines u = v_0*cos(\\theta)." in told
    assert "(stage 3: definitions)" in told
    assert "is not read" in told or "which is not read" in told
    assert told.index("x = ut") < told.index("T = 4.08")
    assert f"Score {grade.score}; {grade.score_strict} if" in told


def test_strict_score_leaves_out_values_put_in() -> None:
    grade = prism.grade(
        PROBLEM, "$x = v_0 t\\cos\\theta$ and $T = \\frac{2\\cdot 20.0\\,\\mathrm{m/s}\\,\\sin\\theta}{g}$"
    )
    assert (grade.score, grade.score_strict) == (1.0, 0.5)
    stages = {match.node: match.stage for item in grade.formulas for match in item.matches}
    assert stages == {1: 0, 2: 4}


def test_show_lists_sources(tmp_path: Path) -> None:
    path = tmp_path / "shot.json"
    path.write_text(json.dumps(PROBLEM), encoding="utf-8")
    known = json.loads(run.invoke(app, ["show", str(path), "--json"]).stdout)
    assert {"name": "v_0", "value": "20.0 m/s", "source": "text"} in known["givens"]
    assert {"name": "x", "value": "0"} in known["conditions"]
    assert "never put in" in run.invoke(app, ["show", str(path)]).stdout


def test_show_says_how_hard_the_problem_is(tmp_path: Path) -> None:
    by_hand = {"C1": 2, "C2": 2, "C3": 1, "total": 5, "level": "Medium", "entropy": 1.791759}  # layers of 3 and 2
    assert json.loads(run.invoke(app, ["show", "scoring_figure", "--json"]).stdout)["difficulty"] == by_hand
    told = "Medium (5 = concepts 2 + computation 2 + structure 1; entropy of the layers 1.792)"
    assert told in run.invoke(app, ["show", "scoring_figure"]).stdout
    path = tmp_path / "shot.json"
    path.write_text(json.dumps(PROBLEM), encoding="utf-8")
    known = json.loads(run.invoke(app, ["show", str(path), "--json"]).stdout)["difficulty"]
    assert known == {"C1": None, "C2": None, "C3": 1, "total": None, "level": None, "entropy": 0.0}
    assert "not rated, for the file gives no C1 and C2 (structure 1;" in run.invoke(app, ["show", str(path)]).stdout


def test_explain_on_the_command_line(tmp_path: Path) -> None:
    path, solution = tmp_path / "shot.json", tmp_path / "solution.md"
    path.write_text(json.dumps(PROBLEM), encoding="utf-8")
    solution.write_text(SOLUTION, encoding="utf-8")
    done = run.invoke(app, ["explain", str(path), str(solution)])
    assert (done.exit_code, "says node 1" in done.stdout) == (0, True)

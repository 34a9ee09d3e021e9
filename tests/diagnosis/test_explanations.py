"""`prism explain` and `prism show`: what was used is said, in order, and from where it comes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
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


CHARGING: dict[str, Any] = {
    "id": "charging",
    "context": "A capacitor is charged: $q$ is the charge at the time $t$, $\\tau$ the time constant.",
    "givens": {"R": "2.00 kohm", "C": "10.0 uF", "V_0": "12.0 V"},
    "grading_standard": [
        {"index": 1, "formula": "q = C V_0 (1 - e^{-t/(R C)})", "dependency": [], "is_final_answer": True},
        {"index": 2, "formula": "\\tau = 20.0\\unit{ms}", "dependency": [1], "is_final_answer": True},
        {"index": 3, "formula": "t_{1/2} = R C \\ln 2", "dependency": [1], "is_final_answer": True},
    ],
}


def explained(solution: str, problem: dict[str, Any] = CHARGING) -> str:
    grade = prism.grade(problem, solution)
    return explain(prism.load_problem(problem), grade, prism.diagnose(problem, grade))


def test_a_number_with_too_few_figures_is_not_called_wrong() -> None:
    longer = json.loads(json.dumps(CHARGING).replace("2.00 kohm", "2.04 kohm").replace("20.0", "20.4"))
    told = explained(r"$\tau = 0.02$ s", longer)
    assert "Right, but matches no node: the value is that of node 2, with 1 figure, where 3 are asked for." in told
    assert "Wrong" not in told
    assert told.endswith("No formula is known to be wrong.")


def test_numbers_are_told_with_their_units() -> None:
    assert r"The number is $0.0164 \unit{s}$, where $20.0 \unit{ms}$ is right (18.0% off)." in explained(
        r"$\tau = 0.0164$ s"
    )
    implied = explained(r"$t_{1/2} = 0.0112$ s")  # the node is a formula, which gives 13.9 ms
    assert r"The number is $0.0112 \unit{s}$, where $0.0138629 \unit{s}$ is right (19.2% off)." in implied


def test_formulas_that_stay_open_are_named_before_the_first_wrong_step() -> None:
    told = explained(r"$q = C V_0 e^{-t/\tau}$, so $t_{1/2} = 2 R C \ln 2$.")
    assert told.splitlines()[-3:] == [
        "Before the first wrong step, of 1 formula it is not known whether it is right:",
        r"  q = C V_0 e^{-t/\tau} (differs from node 1)",
        r"First wrong step: t_{1/2} = 2 R C \ln 2    [DCE]",
    ]


@pytest.mark.slow
def test_a_solution_without_a_formula_is_told(tmp_path: Path) -> None:
    path, solution = tmp_path / "charging.json", tmp_path / "solution.md"
    path.write_text(json.dumps(CHARGING), encoding="utf-8")
    code = "```python\nq = t\n```"
    for text, is_told in (("", True), ("I take $q$ and think.", True), (code, True), ("So `q = t`.", False)):
        solution.write_text(text, encoding="utf-8")
        for command in ("grade", "explain"):
            said = run.invoke(app, [command, str(path), str(solution)]).stdout
            assert ("No formula that states anything was found in the solution." in said) is is_told, (command, text)
            assert ("Code is not read" in said) is is_told, (command, text)


def test_greek_letters_are_told_as_they_are_written() -> None:
    node = {"index": 1, "formula": "p \\sin\\varphi = q \\sin\\theta", "dependency": [], "is_final_answer": True}
    problem = {"id": "angles", "context": "Momenta $p$ and $q$ at angles.", "grading_standard": [node]}
    told = explained(r"$p \cos\varphi = q \sin\theta$", problem)
    assert r"$\cos(\varphi)$, where $\sin(\varphi)$ is right" in told
    assert r"\varphi = " in told  # in the witness
    assert r"\phi" not in told
    assert r"$\cos(\phi)$, where $\sin(\phi)$ is right" in explained(r"$p \cos\phi = q \sin\theta$", problem)


def test_a_factor_is_told_without_what_cancels() -> None:
    inner = "\\frac{E}{m c^2}"
    node = {
        "index": 1, "formula": f"B = \\frac{{E}}{{1 + {inner}(1 - \\cos\\theta)}}", "dependency": [],
        "is_final_answer": True,
    }  # fmt: skip
    problem = {"id": "scattered", "context": "Light of the energy $E$ is scattered.", "grading_standard": [node]}
    told = explained(r"$B = E/2$", problem)
    assert r"A factor too many: $\frac{1}{1 - \cos(\theta)}$, where" in told


FALL: dict[str, Any] = {
    "id": "fall",
    "context": "A stone of mass $m$ falls from the height $h$ in the field $g$; it lands with $v$ and the energy $E$.",
    "givens": {"h": "20.0 m", "g": "9.81 m/s^2", "m": "2.00 kg"},
    "grading_standard": [
        {"index": 1, "formula": r"v = \sqrt{2 g h}", "dependency": []},
        {"index": 2, "formula": r"v = 19.8\unit{m/s}", "dependency": [1]},
        {"index": 3, "formula": r"E = \frac12 m v^2", "dependency": []},
        {"index": 4, "formula": r"E = 392\unit{J}", "dependency": [2, 3], "is_final_answer": True},
    ],
}


def test_a_wrong_number_behind_a_formula_that_matches_is_named(tmp_path: Path) -> None:
    path = tmp_path / "fall.json"
    path.write_text(json.dumps(FALL), encoding="utf-8")
    solution = tmp_path / "solution.tex"
    solution.write_text(r"$v = \sqrt{2gh} = 7.0$ m/s, so $E = \frac12 m v^2 = 49$ J.", encoding="utf-8")
    done = run.invoke(app, ["explain", str(path), str(solution)])
    assert done.exit_code == 0, done.output
    first, second, *_ = done.stdout.split("\n\n")
    assert "says node 1" in first
    assert r"Its number is wrong, beside node 2 [DCE]: The number is $7.0 \unit{m/s}$, where" in first
    assert "(64.6% off)" in first
    assert "    Hint: " in first
    assert "19.8" not in first.split("Hint: ")[1]
    assert "says node 3" in second
    assert r"Its number follows from the error at v = \sqrt{2gh} = 7.0\,\unit{m/s}" in second
    assert r"First wrong step: v = \sqrt{2gh} = 7.0\,\unit{m/s}    [DCE]" in done.stdout


def test_a_right_number_behind_a_formula_is_not_talked_about() -> None:
    problem = prism.load_problem(FALL)
    grade = prism.grade(problem, r"$v = \sqrt{2gh} = 19.8$ m/s")
    told = explain(problem, grade, prism.diagnose(problem, grade))
    assert "Its number" not in told
    assert "No formula is known to be wrong" in told

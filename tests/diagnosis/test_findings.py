"""`prism.diagnose`: what is told of a solution; the rows of tests/cases/diagnosis say what it has to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.diagnosis.repairs import KINDS
from prism.diagnosis.wording import DIFFERENCES, FULL_TEMPLATES, HINT_TEMPLATES
from prism.resources import resource

run = CliRunner()
FREE_FALL = prism.load_problem(resource("dags/free_fall.toml"))
WRONG = r"From $s = g t^2$ we get $t_f = \sqrt{\frac{h}{g}}$, and $v_f = g t_f$. Also $x = $ and $q \to 0$."


def diagnosed(solution: str, problem: Any = FREE_FALL) -> prism.Diagnosis:
    return prism.diagnose(problem, prism.grade(problem, solution))


def test_it_is_plain_data() -> None:
    told = diagnosed(WRONG)
    read = json.loads(json.dumps(told.to_dict(), allow_nan=False))
    assert read["first_wrong"] == told.first_wrong == 0
    assert read["findings"][0]["difference"]["amount"] == r"\frac{1}{2}"
    assert read["findings"][1]["source"] == 0


def test_the_same_grade_gives_the_same_diagnosis() -> None:
    grade = prism.grade(FREE_FALL, WRONG)
    assert prism.diagnose(FREE_FALL, grade) == prism.diagnose(prism.prepare(FREE_FALL), grade)


def test_a_definition_that_is_written_twice_is_no_identity() -> None:
    told = diagnosed("We set $k = 3 h / g$. Later we use $k = 3 h / g$ again, and $k + k = 2 k$.")
    assert [(each.status, each.detail) for each in told.findings] == [
        ("undetermined", ""),
        ("undetermined", ""),
        ("right", "it is an identity"),
    ]


def test_a_grade_of_another_problem_is_refused() -> None:
    grade = prism.grade(resource("dags/bucket.toml"), "nothing")
    with pytest.raises(prism.PrismError, match="of problem bucket, not of free_fall"):
        prism.diagnose(FREE_FALL, grade)


def test_the_node_with_the_same_left_side_is_named_first() -> None:
    """By symbols alone the first node is nearer to `F = 3 m^2 v`; the force is what the second one is about."""
    problem = {
        "id": "push", "context": "A body of mass $m$ and speed $v$ has the momentum $p$; $F$ is the force at $x$.",
        "grading_standard": [
            {"index": 1, "formula": "p = m v", "dependency": []},
            {"index": 2, "formula": r"F = \frac{p}{t} + k x + c x^3", "dependency": [1], "is_final_answer": True},
        ],
    }  # fmt: skip
    told = diagnosed("$F = 3 m^2 v$", problem).findings[0]
    assert (told.status, told.nearest) == ("undetermined", 2)


def test_a_right_solution_has_no_wrong_step() -> None:
    right = next(each.solution for each in FREE_FALL.students if each.name == "right")
    told = diagnosed(right)
    assert (told.first_wrong, told.label, told.findings) == (None, "undetermined", ())


@pytest.mark.slow  # a search
@pytest.mark.parametrize(
    "solution",
    [
        r"$s = \frac{g t^2}{0}$, $0 = 0$, $1 = 2$",
        r"$v = g^{g^{g^{g^{t}}}}$ and $v = 10^{400} g t$",
        r"$v = \int_0^\infty e^{-t} dt$, $v < g t < 3$, $\{v, t\}$",
        r"$\begin{pmatrix} v \\ s \end{pmatrix} = \begin{pmatrix} g t \\ g t^2 \end{pmatrix}$",
        r"$s = " + "+".join(f"a_{{{k}}} t^{{{k}}}" for k in range(90)) + "$",
        r"$\boxed{3}$ $v = v$ $v = -v$ $v = i v$",
    ],
    ids=["undefined", "huge", "other kinds", "table", "long", "boxes"],
)
def test_nothing_that_a_student_writes_raises(solution: str) -> None:
    told = diagnosed(solution)
    assert all("internal" not in each.detail for each in told.findings), told


@pytest.mark.slow
def test_a_hint_does_not_say_what_is_right() -> None:
    for solution in (r"$s = g t^2$", r"$v = g^2 t$", r"$v_f = 2 g h$", r"$h = \frac12 g t_f$", r"$v_f = g s$"):
        (found,) = diagnosed(solution).findings
        difference = found.difference
        assert difference is not None, solution
        assert f"${difference.should}$" not in difference.hint
        assert difference.should in difference.full or difference.amount in difference.full


def test_every_kind_has_its_words_and_a_label() -> None:
    assert DIFFERENCES.keys() == HINT_TEMPLATES.keys() == FULL_TEMPLATES.keys()
    assert {kind for kind in KINDS if kind != "constant"} <= DIFFERENCES.keys()
    assert set(DIFFERENCES.values()) == {"DCE", "VRE", "UDE", "undetermined"}


def test_what_a_grade_leaves_open_is_not_called_wrong() -> None:
    problem = prism.load_problem(
        {
            "id": "ball",
            "context": r"A ball of radius $R$ has the density $\rho(r)$; $I$ is its moment of inertia.",
            "grading_standard": [
                {
                    "index": 1,
                    "formula": r"I = \frac{8\pi}{3}\int \rho(r) r^4 dr",
                    "dependency": [],
                    "is_final_answer": True,
                }
            ],
        }
    )
    told = diagnosed(r"$$I = \frac{8\pi}{3}\int \rho(r) r^3 dr$$", problem)
    assert (told.first_wrong, told.n_open) == (None, 1)
    assert told.findings[0].difference is not None


def test_explain_says_what_is_wrong(tmp_path: Path) -> None:
    solution = tmp_path / "solution.md"
    solution.write_text(WRONG, encoding="utf-8")
    done = run.invoke(app, ["explain", "free_fall", str(solution)])
    assert done.exit_code == 0
    assert "Wrong, beside node 3 [DCE]: Off by a factor: $g t^{2}$" in done.stdout
    assert "Hint: A constant factor is not right: look again at $g t^{2}$." in done.stdout
    assert "Follows from the error at s = g t^2" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("First wrong step: s = g t^2    [DCE]")


def test_explain_in_json(tmp_path: Path) -> None:
    solution = tmp_path / "solution.md"
    solution.write_text(WRONG, encoding="utf-8")
    told = json.loads(run.invoke(app, ["explain", "free_fall", str(solution), "--json"]).stdout)
    assert told["diagnosis"] == diagnosed(WRONG).to_dict()
    assert told["grade"]["problem_id"] == "free_fall"

"""A formula that would be a node if one symbol had the node's letter: it is told, no wrong step, and not paid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.diagnosis import other_letters as module
from prism.diagnosis.explanations import explain
from prism.diagnosis.other_letters import other_letters

PROBLEM: dict[str, Any] = {
    "id": "drop",
    "context": "A ball of mass $m$ falls from the height $h$ with the speed $v$ at the time $t$, $v_f$ at the end.",
    "givens": {"g": "9.81 m/s^2"},
    "grading_standard": [
        {"index": 1, "formula": "v = g t", "dependency": []},
        {"index": 2, "formula": "v_f = \\sqrt{2 g h}", "dependency": [1]},
        {"index": 3, "formula": "K_f = m g h", "dependency": [2], "is_final_answer": True},
        {"index": 4, "formula": "t_f = 5.00\\unit{s}", "dependency": [1], "is_final_answer": True},
    ],
}


def found(solution: str) -> dict[int, str]:
    grade = prism.grade(PROBLEM, solution)
    return {position: str(other) for position, other in other_letters(prism.load_problem(PROBLEM), grade).items()}


@pytest.mark.parametrize(
    ("solution", "told"),
    [
        (r"$v = \sqrt{2 g h}$", {0: "would be node 2 if $v$ were $v_f$"}),
        (r"$v^2 = 2 g h$", {0: "would be node 2 if $v$ were $v_f$"}),
        (r"$v = \sqrt{g h}$", {}),  # wrong in any letter
        (r"$t = \sqrt{2 g h}$", {}),  # another quantity of the problem
        (r"$v_i = \sqrt{2 g h}$ and $v = \sqrt{2 g m}$", {}),
        (r"$v_f = \sqrt{g h}$", {}),
        (r"$u = 5.00$ s", {}),  # a number fits whatever its name is taken for
        (r"$t = 5.00$ s", {0: "would be node 4 if $t$ were $t_f$"}),
    ],
)
def test_a_letter_without_its_index_is_told(solution: str, told: dict[int, str]) -> None:
    assert found(solution) == told


def test_it_is_no_wrong_step_and_earns_nothing() -> None:
    grade = prism.grade(PROBLEM, r"$v = \sqrt{2 g h}$")
    diagnosis = prism.diagnose(PROBLEM, grade)
    assert (grade.score, grade.matched, diagnosis.first_wrong) == (0.0, (), None)
    assert [(each.status, each.nearest) for each in diagnosis.findings] == [("undetermined", 2)]
    told = explain(prism.load_problem(PROBLEM), grade, diagnosis)
    assert "\n  Would be node 2 if $v$ were $v_f$.\n" in told


def test_what_it_may_cost_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(r"$v = \sqrt{2 g h}$")
    for limit in ("OTHER_LETTERS", "CONSEQUENCES"):
        with monkeypatch.context() as patched:
            patched.setattr(module, limit, 100)
            assert found(r"$v = \sqrt{2 g h}$") == {}


def test_another_symbol_of_the_problem_stays_a_mistake() -> None:
    diagnosis = prism.diagnose(PROBLEM, prism.grade(PROBLEM, r"$t = \sqrt{2 g h}$"))
    assert [each.status for each in diagnosis.findings] == ["wrong"]


def test_grade_shows_kinds_of_reasons_apart(tmp_path: Path) -> None:
    path = tmp_path / "solution.md"
    path.write_text(r"$v = \sqrt{2 g h}$, $v_f = g h$, $\dot v + v/h = g$, $\fracc12$", encoding="utf-8")
    problem = tmp_path / "drop.json"
    problem.write_text(json.dumps(PROBLEM), encoding="utf-8")
    told = CliRunner().invoke(app, ["grade", str(problem), str(path)]).stdout
    shown = [" ".join(part.split()) for part in told.split("Formulas ")[1:]]
    assert [part.partition(" formula")[0] for part in shown] == [
        "in another letter", "that differ from all nodes", "not decided", "not read",
    ]  # fmt: skip
    assert r"v = \sqrt{2 g h} would be node 2 if $v$ were $v_f$" in shown[0]
    assert "a construct that is not evaluated stands on one side only: differential" in shown[2]

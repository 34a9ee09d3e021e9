"""Several references for one problem: the best one counts, alone, whatever is done with the grade (semantics S.2)."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.budget import CHARACTER, SOLUTION
from prism.diagnosis.explanations import explain
from prism.errors import PrismError
from prism.grading import json_line, pipeline, score_row
from prism.grading.prepared import in_alternative
from prism.grading.result import Grade
from prism.grading.scoring import step_credits
from prism.problem import schema
from prism.rewards import Reward
from prism.runs.score_files import grade_of, score_rows, writer_of
from prism.server.scheduler import most_operations

SLIDE: dict[str, Any] = {
    "id": "slide",
    "context": r"A block of mass $m$ slides from rest down a smooth incline of angle $\theta$ and height $h$; $g$ is"
    " the gravity. Find its speed $v$ at the bottom.",
    "grading_standard": [
        {"index": 1, "formula": "E = m g h", "dependency": []},
        {"index": 2, "formula": r"E = \frac12 m v^2", "dependency": [1]},
        {"index": 3, "formula": r"v = \sqrt{2 g h}", "dependency": [2], "is_final_answer": True},
    ],
    "alternatives": [
        {
            "name": "kinematics",
            "grading_standard": [
                {"index": 1, "formula": r"a = g \sin\theta", "dependency": []},
                {"index": 2, "formula": r"s = \frac{h}{\sin\theta}", "dependency": []},
                {"index": 3, "formula": "v^2 = 2 a s", "dependency": [1, 2]},
                {"index": 4, "formula": r"v = \sqrt{2 g h}", "dependency": [3], "is_final_answer": True},
            ],
        }
    ],
}
OTHER_WAY = r"$a = g\sin\theta$, $s = \frac{h}{\sin\theta}$, $v^2 = 2as$, so $\boxed{v = \sqrt{gh}}$."
FIRST_WAY = r"$E = mgh$ and $E = \frac12mv^2$, so $\boxed{v = \sqrt{2gh}}$."
ALONE = {key: value for key, value in SLIDE.items() if key != "alternatives"}
OTHER_ALONE = {**ALONE, "grading_standard": SLIDE["alternatives"][0]["grading_standard"]}


@pytest.fixture(scope="module")
def slide() -> prism.Problem:
    return prism.load_problem(SLIDE)


def test_each_reference_is_a_problem_of_its_own(slide: prism.Problem) -> None:
    (other,) = slide.alternatives
    assert (other.alternative, other.id, other.statement) == ("kinematics", "slide", slide.statement)
    assert len(other.dag.nodes) == 4
    assert schema.in_alternative(slide, "") is slide
    assert schema.in_alternative(slide, "kinematics") is other
    with pytest.raises(PrismError, match="no alternative"):
        schema.in_alternative(slide, "energy")
    with pytest.raises(PrismError, match="no alternative"):
        in_alternative(prism.prepare(slide), "energy")
    assert "1 alternative" in repr(slide)


def test_a_text_over_two_ways_earns_what_the_better_one_would() -> None:
    """Mixed texts of right and wrong formulas of both ways: never more than by one of them alone."""
    said = [r"E = mgh", r"E = \frac12mv^2", r"a = g\sin\theta", r"s = \frac{h}{\sin\theta}", "v^2 = 2as"]
    said += [
        r"E = 2mgh",
        r"a = g\cos\theta",
        r"v = \sqrt{2gh}",
        r"v = \sqrt{gh}",
        r"v = 2\sqrt{gh}",
        r"s = h\sin\theta",
    ]
    both, first, other = (prism.prepare(each) for each in (SLIDE, ALONE, OTHER_ALONE))
    drawn = random.Random(14)
    for _ in range(25):
        text = " ".join(f"${each}$." for each in drawn.choices(said, k=drawn.randint(1, 9)))
        scores = [prism.grade(each, text).score or 0.0 for each in (first, other)]
        assert (prism.grade(both, text).score or 0.0) <= max(scores), text


def test_the_grade_is_that_of_the_reference_alone(slide: prism.Problem) -> None:
    for text, alone, name in ((FIRST_WAY, ALONE, ""), (OTHER_WAY, OTHER_ALONE, "kinematics")):
        grade = prism.grade(slide, text)
        assert grade.alternative == name
        assert replace(grade, cost=0, alternative="") == replace(prism.grade(alone, text), cost=0)


def test_a_problem_without_alternatives_costs_what_it_did() -> None:
    assert prism.grade(ALONE, FIRST_WAY).cost == prism.grade({**ALONE, "alternatives": []}, FIRST_WAY).cost


def test_what_is_perfect_by_the_first_way_is_graded_by_it_alone(slide: prism.Problem) -> None:
    """So the most frequent text costs no more than before; of formulas that are wrong by it the other way is asked."""
    assert prism.grade(slide, FIRST_WAY).cost == prism.grade(ALONE, FIRST_WAY).cost
    assert (prism.grade(slide, OTHER_WAY).cost or 0) > (prism.grade(OTHER_ALONE, OTHER_WAY).cost or 0)


def test_a_row_names_the_reference_and_is_read_back(slide: prism.Problem, tmp_path: Path) -> None:
    grade = prism.grade(slide, OTHER_WAY, sample_id="s")
    row = {**score_row(slide, OTHER_WAY, grade), "meta": {}}
    assert row["alternative"] == "kinematics"
    assert grade_of(row) == grade
    assert grade_of({key: value for key, value in row.items() if key != "alternative"}).alternative == ""
    for ending in ("jsonl", "parquet"):
        path = tmp_path / f"rows.{ending}"
        with path.open("wb") as file:
            writer_of(path)(file, iter([[json_line(row)]]))
        assert [grade_of(each) for each in score_rows(path)] == [grade]


def test_the_row_is_the_same_every_time(slide: prism.Problem) -> None:
    first = json_line(score_row(slide, OTHER_WAY, prism.grade(slide, OTHER_WAY)))
    prism.grade(slide, FIRST_WAY)
    again = prism.load_problem(json.dumps(SLIDE, sort_keys=True))
    assert json_line(score_row(again, OTHER_WAY, prism.grade(again, OTHER_WAY))) == first


def test_credits_of_steps_are_of_the_reference_that_counts(slide: prism.Problem) -> None:
    for problem in (slide, prism.prepare(slide)):
        grade = prism.grade(slide, OTHER_WAY)
        found = step_credits(problem, grade)
        assert [each.nodes for each in found] == [(1,), (2,), (3,), ()]
        assert sum((each.credit for each in found), Fraction(0)) == Fraction(3, 4)


def test_a_reward_pays_for_either_way() -> None:
    found = Reward().many([SLIDE, SLIDE], [FIRST_WAY, OTHER_WAY])
    assert [each.value for each in found] == [1.0, 0.75]


def test_diagnosis_and_explanation_are_beside_the_reference_that_counts(slide: prism.Problem) -> None:
    grade = prism.grade(slide, OTHER_WAY)
    diagnosis = prism.diagnose(slide, grade)
    assert [(each.status, each.difference and each.difference.node) for each in diagnosis.findings] == [("wrong", 4)]
    told = explain(slide, grade, diagnosis)
    assert "Graded by the alternative kinematics, of 2 references." in told
    assert "says node 3: v^2 = 2 a s" in told
    first = prism.grade(slide, FIRST_WAY)
    assert "Graded by the problem's first reference" in explain(slide, first, prism.diagnose(slide, first))
    assert "Graded by" not in explain(prism.load_problem(ALONE), first, prism.diagnose(slide, first))
    with pytest.raises(PrismError, match="no alternative"):
        prism.diagnose(ALONE, grade)


def test_the_policy_training_is_of_each_reference() -> None:
    told = {**SLIDE, "context": SLIDE["context"] + r" Its acceleration is $a = g\sin\theta$."}
    grade = prism.grade(prism.prepare(told, training=True), OTHER_WAY)
    assert grade.alternative == "kinematics"
    assert (grade.score, grade.policies["training"]) == (0.75, 0.5)


def test_without_definitions_goes_for_all_references() -> None:
    text = r"With $u = v^2$, $u = 2as$; $a = g\sin\theta$ and $s = \frac{h}{\sin\theta}$."
    assert prism.grade(SLIDE, text).matched == (1, 2, 3)
    assert prism.grade(SLIDE, text, definitions=False).matched == (1, 2)


def test_a_budget_is_shared_by_the_references(slide: prism.Problem) -> None:
    for budget in (1, 1000, 100_000, 300_000, 1_000_000):
        grade = prism.grade(slide, OTHER_WAY, budget=budget)
        assert (grade.cost or 0) <= budget
        assert grade.status == "too_large" or grade.score == 0.75
    assert most_operations(10, None, (0, 0)) == 2 * (SOLUTION + 10 * CHARACTER)
    assert most_operations(10, 7, (0, 0)) == 7


def test_a_reference_that_was_not_finished_is_told(slide: prism.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others count all the same; where all is right by one of them, nothing was left to be seen."""
    true = pipeline._grade_extracted

    def cut(prepared: Any, *args: Any, **kwargs: Any) -> Grade:
        graded = true(prepared, *args, **kwargs)
        return replace(graded, status="too_large") if prepared.problem.alternative == "" else graded

    monkeypatch.setattr(pipeline, "_grade_extracted", cut)
    grade = prism.grade(slide, OTHER_WAY)
    assert (grade.alternative, grade.score, grade.status) == ("kinematics", 0.75, "too_large")
    right = OTHER_WAY.replace(r"\sqrt{gh}", r"\sqrt{2gh}")
    assert prism.grade(slide, right).status == "ok"


def test_incidents_of_all_references_are_told(slide: prism.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("a test")

    monkeypatch.setattr(pipeline, "select", failing)
    grade = prism.grade(slide, OTHER_WAY)
    assert [each.where for each in grade.incidents] == ["claims", "alternative kinematics, claims"]


def test_chats_steps_and_thinking_are_read_alike(slide: prism.Problem) -> None:
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": OTHER_WAY}]
    assert prism.grade(slide, chat).score == 0.75
    assert prism.grade(slide, OTHER_WAY.split(", ")).score == 0.75
    hidden = f"<think>{OTHER_WAY}</think>"
    assert prism.grade(slide, hidden).score == 0.0
    assert prism.grade(slide, hidden, thinking=True).alternative == "kinematics"


def test_many_references_are_graded_in_file_order() -> None:
    """Of equal ones the first in the file counts."""
    ways = [{"name": name, "grading_standard": OTHER_ALONE["grading_standard"]} for name in ("b", "a", "d", "c")]
    assert prism.grade({**ALONE, "alternatives": ways}, OTHER_WAY).alternative == "b"

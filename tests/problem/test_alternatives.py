"""Alternatives in a problem file: what is read, and every slip of the author told under the name of its way."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

import prism
from prism.errors import DataFileError
from prism.problem.schema import load_problem
from prism.problem.source import MAX_ALTERNATIVES, MAX_ENTRIES
from tests.grading.test_alternatives import ALONE, SLIDE

LABEL = {"matched": [1, 2], "credited": [1, 2], "score": 0.5, "final_correct": False}


def faults_of(data: dict[str, Any]) -> tuple[str, ...]:
    with pytest.raises(DataFileError) as caught:
        load_problem(data)
    return caught.value.faults


def changed(**changes: Any) -> dict[str, Any]:
    """The problem, with other keys in its alternative; None drops one."""
    data = deepcopy(SLIDE)
    way = {**data["alternatives"][0], **changes}
    return {**data, "alternatives": [{key: value for key, value in way.items() if value is not None}]}


def test_faults_name_the_alternative() -> None:
    data = deepcopy(SLIDE)
    data["alternatives"][0]["grading_standard"][2]["dependency"] = [1, 7]
    data["alternatives"][0]["grading_standard"][1]["formula"] = r"\frac{1"
    found = faults_of(data)
    assert found[0].startswith("alternative kinematics, node 2, formula: ")
    assert any(each.startswith("alternative kinematics, node 3, dependency: 7 is not a node") for each in found)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (changed(name=None), "alternatives, entry 1, name: is missing"),
        (changed(name=""), 'alternatives, entry 1, name: "" is no name: 1 to 40 letters'),
        (changed(name="a, b"), 'alternatives, entry 1, name: "a, b" is no name'),
        (changed(name="[bold]"), 'alternatives, entry 1, name: "[bold]" is no name'),
        (changed(name=3), "alternatives, entry 1, name: 3 is no name"),
        (changed(grading_standard=None), "alternative kinematics, grading_standard: is missing"),
        (changed(grading_standard=[]), "alternative kinematics, nodes: there are none"),
        (changed(dag=[]), "alternative kinematics, grading_standard: both grading_standard and dag hold nodes"),
        ({**ALONE, "alternatives": {"name": "a"}}, "alternatives: "),
        ({**ALONE, "alternatives": ["a"]}, 'alternatives, entry 1: "a" is no table'),
        ({**SLIDE, "alternatives": SLIDE["alternatives"] * 2}, "alternative kinematics, name: stands twice"),
        (
            {**SLIDE, "alternatives": SLIDE["alternatives"] * (MAX_ALTERNATIVES + 1)},
            f"alternatives: {MAX_ALTERNATIVES + 1} entries; at most {MAX_ALTERNATIVES} are read",
        ),
        (
            changed(grading_standard=[{}] * (MAX_ENTRIES + 1)),
            f"alternatives, entry 1, grading_standard: {MAX_ENTRIES + 1} entries; at most {MAX_ENTRIES} are read",
        ),
        (changed(grading_standard=[{"index": 1, "formula": "x = " + "1+" * 150_000}]), "formulas and values: "),
    ],
)
def test_slips_are_faults(data: dict[str, Any], told: str) -> None:
    assert any(each.startswith(told) for each in faults_of(data)), faults_of(data)


def test_unknown_keys_and_implied_edges_are_warnings() -> None:
    data = changed(points=3)
    data["alternatives"][0]["grading_standard"][3]["dependency"] = [1, 3]
    found = load_problem(data).warnings
    assert "alternative kinematics, points: unknown key, ignored" in found[0]
    assert found[1].startswith("alternative kinematics, node 4, dependency: 1 is implied")


def test_a_dear_formula_is_told_with_its_way() -> None:
    data = deepcopy(SLIDE)
    deep = r"\int_0^1 \int_0^1 \int_0^1 \int_0^1 \int_0^1 e^{-x y z u w}\sin(x y z u w) dx dy dz du dw"
    data["alternatives"][0]["grading_standard"][0]["formula"] = rf"a = g \sin\theta + {deep} + {deep.replace('e', '3')}"
    try:
        prism.prepare(data)
    except DataFileError as error:
        assert error.faults[0].startswith("alternative kinematics, node 1, formula: ")


def test_a_label_names_the_way_that_its_indices_are_of() -> None:
    student = {"name": "s", "solution": "x", "expected": {**LABEL, "alternative": "kinematics"}}
    label = load_problem({**SLIDE, "students": [student]}).students[0].expected
    assert label is not None
    assert label.alternative == "kinematics"
    of_first = {**student, "expected": LABEL}
    assert "matched earns 2/3" in faults_of({**SLIDE, "students": [of_first]})[0]
    of_none = {**student, "expected": {**LABEL, "alternative": "energy"}}
    assert faults_of({**SLIDE, "students": [of_none]})[0] == (
        'student s, expected, alternative: "energy" is unknown; known are: kinematics'
    )


def test_an_accepted_form_is_of_the_kind_of_its_node() -> None:
    words = [{"index": 1, "formula": r"\text{stable}", "accept": ["x = 1"], "dependency": [], "is_final_answer": True}]
    parts = {"final_answer_form": "text-based", "final_answer_instructions": "should be 'stable/unstable'"}
    data = {"id": "a", "context": "", **parts, "grading_standard": words}
    assert faults_of(data)[0] == "node 1, accept, entry 1: `x = 1` is a formula, and the node asks for words"
    words[0]["accept"] = [r"\text{unstable}"]
    node = load_problem(data).nodes[0]
    assert node.is_text
    assert [each.kind for each in node.accept] == ["text"]
    bare = {"index": 1, "formula": "v = g t", "accept": ["g t + u"], "dependency": [], "is_final_answer": True}
    (accepted,) = load_problem({"id": "a", "context": "", "grading_standard": [bare]}).nodes[0].accept
    assert str(accepted.members[0]) == "v"

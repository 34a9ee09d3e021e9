r"""Sample 1001 of PRISM-Physics (arXiv 2510.03185) in its published shape: it loads as it stands, and earns itself.

Shape, field, answers 13 and 24 and the odd formulas (a node that begins with `=`, trailing commas, `\Bigl[`, identities
without free symbols, an integral over space) are the paper's; text and derivation are ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.authoring.converting import convert

FILE = Path(__file__).with_name("sample_1001.json")
SAMPLE: dict[str, Any] = json.loads(FILE.read_text("utf-8"))


def gold() -> str:
    """The nodes as a solution writes them, each part under its letter."""
    formulas = [node["formula"] for node in SAMPLE["grading_standard"]]
    return "\n\n".join(["(a)", *formulas[:13], "(b)", *formulas[13:]])


def test_it_loads_as_it_stands() -> None:
    problem = prism.load_problem(FILE)
    assert (problem.id, len(problem.nodes), problem.warnings) == ("1001", 24, ())
    assert problem.dag.finals == {13, 24}
    assert [node.subquestion for node in problem.nodes if node.is_final] == ["a", "b"]
    assert [node.index for node in problem.nodes if node.formula.kind != "equation"] == [19]
    assert [part.final_answer_form for part in problem.subquestions] == ["algebraic", "algebraic"]


@pytest.mark.parametrize("name", ["dag", "grading", "core_formulas"])
def test_it_loads_under_each_name_of_its_list(name: str) -> None:
    other = {key if key != "grading_standard" else name: value for key, value in SAMPLE.items()}
    assert len(prism.load_problem(other).nodes) == 24


@pytest.mark.slow
def test_its_own_formulas_earn_everything() -> None:
    grade = prism.grade(prism.load_problem(FILE), gold())
    assert (grade.score, grade.final_correct, grade.unread, grade.status) == (1.0, True, 0, "ok")
    assert grade.matched == tuple(range(1, 25))


@pytest.mark.slow
def test_lint_finds_no_fault_but_the_image_that_is_not_here() -> None:
    found = [one for one in prism.lint(FILE) if one.kind != "note"]
    assert [(one.kind, one.code) for one in found if one.code != "too_large"] == [("warning", "image")]


def test_convert_keeps_its_nodes() -> None:
    (made,) = convert(FILE).problems
    before, after = prism.load_problem(FILE), prism.load_problem(made.data)
    assert [node.formula.members for node in after.nodes] == [node.formula.members for node in before.nodes]
    assert (after.dag.finals, after.dag.ancestors) == (before.dag.finals, before.dag.ancestors)

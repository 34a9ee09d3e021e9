"""Rollouts graded for a protocol: in order, with what its function made of each, failures as incidents."""

from __future__ import annotations

from fractions import Fraction

import pytest

from prism.diagnosis.findings import Diagnosis
from prism.grading.prepared import PreparedProblem
from prism.grading.result import Grade
from prism.problem.schema import load_problem
from prism.protocols.graded_rollouts import GradedRollout, diagnosed, grade_rollouts
from prism.protocols.rows import ProtocolRow
from prism.runs.rollouts import Rollout

PROBLEM = load_problem({
    "id": "fall", "context": "A stone falls for a time $t$ with $g$.",
    "subquestions": [{"letter": "a", "subproblem": "Find its speed $v$.", "final_answer_form": "algebraic"}],
    "grading_standard": [
        {"index": 1, "formula": "h = g t^2/2", "dependency": []},
        {"index": 2, "formula": "v = g t", "dependency": [1], "is_final_answer": True},
    ],
})  # fmt: skip
ROLLOUTS = [
    Rollout("fall", text, name) for name, text in (("a", "$v = gt$"), ("b", "$v = 2gt$"), ("c", "$h = gt^2/2$"))
]


def counted(_prepared: PreparedProblem, rollout: Rollout, grade: Grade) -> int:
    if rollout.sample_id == "b":
        raise RuntimeError("on purpose")
    return len(grade.formulas)


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_they_come_in_order_with_what_the_function_made(workers: int) -> None:
    found = list(grade_rollouts({"fall": PROBLEM}, ROLLOUTS, then=diagnosed, workers=workers))
    assert [one.rollout.sample_id for one in found] == ["a", "b", "c"]
    assert [one.grade.score for one in found] == [1.0, 0.0, 0.5]
    assert all(isinstance(one.more, Diagnosis) for one in found)


def test_nothing_more_is_made_without_a_function() -> None:
    found: list[GradedRollout[None]] = list(grade_rollouts({"fall": PROBLEM}, ROLLOUTS))
    assert [one.more for one in found] == [None] * 3


def test_what_a_row_is_about_credits_nothing_by_closure() -> None:
    about = next(iter(grade_rollouts({"fall": PROBLEM}, ROLLOUTS))).about
    assert (about.matched, about.missing) == ((2,), (1,))
    assert (about.problem_sha256, len(about.solution_sha256 or "")) == (PROBLEM.sha256, 64)


def test_a_function_that_fails_is_an_incident_and_the_others_go_on() -> None:
    found = list(grade_rollouts({"fall": PROBLEM}, ROLLOUTS, then=counted))
    assert [one.more for one in found] == [1, None, 1]
    assert (found[1].grade.status, found[1].grade.score) == ("internal", None)
    row = ProtocolRow("toy", "plain", found[1].about, None, Fraction(0), Fraction(1), ())
    assert row.to_dict()["incidents"] == [
        {"code": "internal", "where": "rollout", "detail": "RuntimeError: on purpose"}
    ]

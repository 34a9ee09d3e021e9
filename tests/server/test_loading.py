"""Loading of a problem in a worker: tried, counted and given up as grading is, and no fault of it ends the worker."""

from __future__ import annotations

import json

import prism
from prism.budget import charge
from prism.errors import DataFileError
from prism.grading.prepared import PreparedProblem
from prism.grading.scoring import reward_scoring
from prism.runs.rollouts import Rollout
from prism.runs.workers import Unprepared
from prism.server.scheduler import Graded
from prism.server.service import _grade_item

NEWTON = {
    "id": "newton", "context": "A mass $m$ feels the force $F$ and accelerates with $a$.",
    "grading_standard": [{"index": 1, "formula": "F = m a", "dependency": [], "is_final_answer": True}],
}  # fmt: skip
RIGHT = r"Newton says $a = \frac{F}{m}$."


def run(prepared: object, tried: int | None = None, killed: str = "") -> Graded:
    """What the job of a worker makes of the right solution."""
    return _grade_item(
        prepared, Rollout("newton", RIGHT, "1"), budget=None, tried=tried, killed=killed,  # type: ignore[arg-type]
        scoring=reward_scoring("closure"), thinking=False,
    )  # fmt: skip


def test_loading_is_tried_and_counted_as_grading_is() -> None:
    problem, calls = prism.prepare(NEWTON), []

    def prepared() -> PreparedProblem:
        calls.append(1)
        charge(1000)
        return problem

    assert run(prepared, tried=999) == Graded(None, 0, is_over=True)
    whole = run(prepared)
    assert run(prepared, tried=1000).done >= 1000
    assert (whole.done >= 1000, json.loads(whole.value.row)["score"], len(calls)) == (True, 1.0, 3)


def test_the_row_of_a_killed_solution_is_made_without_a_grade() -> None:
    found = run(lambda: prism.prepare(NEWTON), killed="overran")
    row = json.loads(found.value.row)
    assert (row["status"], row["score"], row["incidents"][0]["detail"]) == ("killed", None, "overran")


def test_what_is_wrong_with_a_problem_is_its_outcome() -> None:
    fault = DataFileError("problem", ("node 1: is dear",))

    def prepared() -> PreparedProblem:
        charge(1000)
        raise fault

    def broken() -> PreparedProblem:
        raise KeyError

    assert run(prepared) == Graded(Unprepared(fault), 1000)
    found = run(broken).value
    assert isinstance(found, Unprepared)
    assert str(found.fault) == "problem: cannot be read: KeyError"

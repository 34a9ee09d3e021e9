"""A trial leaves no trace in a grade: what is given up is thrown away, and what was remembered on the way is right."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastapi.testclient import TestClient

import prism
from prism import budget
from prism.grading.row import score_row
from prism.server import create_app, scheduler

PROBLEM = prism.load_problem({
    "id": "fall", "context": "A stone of mass $m$ falls from rest for a time $t$ through a height $h$ with $g$.",
    "grading_standard": [
        {"index": 1, "formula": "h = g t^2/2", "dependency": []},
        {"index": 2, "formula": "m g h = m v^2/2", "dependency": []},
        {"index": 3, "formula": "v = g t", "dependency": [1, 2], "is_final_answer": True},
    ],
})  # fmt: skip
TEXTS = (
    r"$h = \frac{1}{2} g t^2$ and $v^2 = 2 g h$, so $v = \sqrt{2 g h} = g t$.",
    r"$v = 2 g t$ by $m g h = m v^2$, for $h = \int_0^t g s \, ds$.",
    r"$x_1 = \sum_{k=1}^{9} g t^k$, $x_2 = \sin(g t) + \cos(h)$ and $v = t g$.",
    r"$v = \int_0^t \int_0^1 2 g u \, du \, ds$; $\frac{v}{g} = t$, not $v = h$.",
)
ROWS = f"""
import json, sys
sys.path[:] = {sys.path!r}
import prism
from tests.server import test_trials as here
print(json.dumps([prism.grade(here.PROBLEM, text).to_dict() for text in here.TEXTS], sort_keys=True))
"""


def test_a_trial_ends_where_too_much_is_done_and_keeps_nothing_of_what_it_ended() -> None:
    asked: list[int] = []

    @budget.remembered(8)
    def worked_out(n: int) -> int:
        asked.append(n)
        try:
            budget.charge(n)
        except Exception:  # noqa: BLE001 - as a handler of failures would
            return -1
        return n

    with budget.share(10**9):
        with budget.trial(100) as tried:
            assert worked_out(60) == 60
            worked_out(50)
            raise AssertionError("it goes on")
        assert (tried.is_over, tried.done) == (True, 60)
        assert worked_out(50) == 50
    with budget.share(10**9) as account, budget.trial(0) as tried:
        assert (worked_out(60), worked_out(50)) == (60, 50)  # what is remembered is not done
    assert (tried.is_over, tried.done, account.spent >= 110) == (False, 0, True)
    assert asked == [60, 50, 50]


def test_an_error_within_a_trial_is_an_error() -> None:
    with pytest.raises(KeyError), budget.trial(100):
        raise KeyError


@pytest.mark.slow
def test_grades_after_trials_are_those_of_a_process_without() -> None:
    prepared = prism.prepare(PROBLEM)
    for text in TEXTS:
        for limit in (3_000, 30_000, 100_000, 300_000, 1_000_000):
            with budget.trial(limit):
                prism.grade(prepared, text)
    expected = subprocess.run([sys.executable, "-c", ROWS], capture_output=True, text=True, check=True).stdout
    assert [prism.grade(prepared, text).to_dict() for text in TEXTS] == json.loads(expected)


@pytest.mark.slow
def test_rows_of_solutions_that_were_tried_first_are_those_of_any_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    """With worker processes, where each is given up, and where none is."""
    monkeypatch.setenv("PRISM_KERNELS", "interpreted")
    tried = [1000, 2000]
    monkeypatch.setattr(scheduler.Scheduler, "_tried", lambda _, piece: (*tried, None)[piece.n_trial])

    def row(text: str) -> Any:
        return json.loads(json.dumps(score_row(PROBLEM, text, prism.grade(PROBLEM, text, sample_id="1"))))

    with TestClient(create_app(PROBLEM, workers=1)) as client:

        def answered(text: str) -> Any:
            return client.post("/grade", json={"problem": "fall", "solution": text}).json()

        expected = [row(text) for text in TEXTS]
        for limits, exceeded in (([1000, 2000], 2), ([1000, budget.SOLUTION], 3), ([budget.SOLUTION] * 2, 3)):
            tried[:] = limits
            with ThreadPoolExecutor(4) as threads:
                assert list(threads.map(answered, TEXTS)) == expected
            assert f"prism_trials_exceeded_total {exceeded * len(TEXTS)}\n" in client.get("/metrics").text
        assert "prism_workers_alive 2\n" in client.get("/metrics").text

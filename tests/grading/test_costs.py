"""Costs: every call ends within its account, and what a solution costs depends on the problem and the text alone."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import prism
from prism import budget
from prism.engine import kernels
from prism.equivalence.facts import facts_of
from prism.grading import json_line, pipeline, score_row
from prism.grading.prepared import PreparedProblem
from prism.rewards import Reward
from tests.grading.test_grading import forget

ROOT = Path(__file__).resolve().parents[2]
CASES = tomllib.loads((ROOT / "tests/cases/costs/reproductions.toml").read_text("utf-8"))["case"]
PROBLEM = {
    "id": "p",
    "context": "Find $V$.",
    "grading_standard": [
        {"index": 1, "formula": "U = q r", "dependency": []},
        {"index": 2, "formula": r"V = \frac{q}{r}", "dependency": [1], "is_final_answer": True},
    ],
}
HONEST = r"$U = r q$ and so \boxed{V = q/r}"


def test_a_solution_costs_the_same_when_it_is_graded_again() -> None:
    """What a pair adds to the remembered interpretation of a formula is not free when the pair is decided again."""
    problem = prism.load_problem("bucket")
    prepared = prism.prepare(problem)
    for student in problem.students:
        cost = prism.grade(prepared, student.solution).cost
        assert prism.grade(prepared, student.solution).cost == cost, student.name


def written(case: dict[str, Any]) -> str:
    before, behind = case.get("around", ("", ""))
    levels = range(1, case["deep"] + 1)
    opened, closed = ([case[side].replace("_k", f"_{{{k}}}") for k in levels] for side in ("open", "close"))
    return before + "".join(opened) + case["inside"] + "".join(reversed(closed)) + behind


@pytest.fixture(scope="module")
def problem() -> PreparedProblem:
    return prism.prepare(PROBLEM)


@pytest.fixture(params=CASES, ids=lambda case: case["id"])
def dear(request: pytest.FixtureRequest) -> str:
    return written(request.param)


def test_a_dear_formula_is_compared_within_its_account(dear: str) -> None:
    for pair in (
        (r"V = \frac{q}{r}", f"V = {dear}"),
        (f"V = {dear}", r"V = \frac{q}{r}"),
        (f"V = {dear}", f"V = 2 {dear}"),
    ):
        verdict = prism.equivalent(*pair)
        assert verdict.cost <= budget.PAIR
        assert verdict.status != "equivalent"


def test_a_dear_formula_costs_the_others_nothing(dear: str, problem: PreparedProblem) -> None:
    grade = prism.grade(problem, f"First $V = {dear}$ is a guess. {HONEST}")
    assert grade.matched == (1, 2)
    assert not grade.incidents
    assert grade.cost is not None
    assert grade.cost <= budget.SOLUTION + budget.CHARACTER * 2 * len(dear)


@pytest.mark.slow  # each spends a whole account
@pytest.mark.compiled
def test_many_dear_formulas_end_within_the_account_of_the_solution(dear: str, problem: PreparedProblem) -> None:
    text = HONEST + "".join(f" Then $V = {k} + {dear}$." for k in range(2, 18))
    with budget.share(math.inf) as reading:
        prism.extract(text)
    grade = prism.grade(problem, text)
    assert grade.cost is not None
    assert grade.cost <= reading.spent + budget.SOLUTION + budget.CHARACTER * len(text)
    assert not grade.incidents
    told = prism.diagnose(problem, grade)
    matrix = max(budget.MATCHING + budget.PAIR, budget.DIAGNOSIS)
    assert told.cost <= matrix + budget.LOCATING + budget.CONSEQUENCES + budget.DIAGNOSED_FORMULA


@pytest.mark.slow
def test_a_dear_text_in_one_thread_changes_no_reward_in_another() -> None:
    reward = Reward()
    texts = [HONEST if k % 2 else f"$V = {written(CASES[k % len(CASES)])}$" for k in range(16)]
    alone = [reward(PROBLEM, text).value for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: reward(PROBLEM, text).value, texts)) == alone
    assert set(alone[1::2]) == {1.0}


def test_a_lower_budget_leaves_out_the_rest_and_says_so(problem: PreparedProblem) -> None:
    full = prism.grade(problem, HONEST)
    assert full.status == "ok"
    for limit in (0, 1, 10_000, 100_000):
        grade = prism.grade(problem, HONEST, budget=limit)
        assert (grade.status, grade.cost) == ("too_large", limit)
        assert grade.score is not None
        assert grade.score <= (full.score or 0)
    assert full.status == "ok"
    for limit in range(1_000_000, full.cost or 0, 1_000_000):  # wherever it ends, nothing is dropped silently
        grade = prism.grade(problem, HONEST, budget=limit)
        assert [each.latex for each in grade.formulas] == [each.latex for each in full.formulas]
        assert grade.status == "ok" or any(each.reason == "too_large" for each in grade.formulas)
    assert full.cost is not None
    assert prism.grade(problem, HONEST, budget=3 * full.cost) == full


def solutions() -> Iterator[tuple[str, str]]:
    for name in ("free_fall", "quartic_well", "lambda_decay", "bucket"):
        for student in prism.load_problem(f"dags/{name}.toml").students[:3]:
            yield name, student.solution
    for case in CASES[::3]:
        yield "free_fall", f"Let $V = {written(case)}$ and $v = g t$."


def row(name: str, text: str) -> str:
    problem = prism.prepare(f"dags/{name}.toml")
    return json_line(score_row(problem.problem, text, prism.grade(problem, text))).decode()


@pytest.mark.slow  # grades each text several times
@pytest.mark.compiled
def test_rows_and_costs_depend_on_the_problem_and_the_text_alone() -> None:
    """Cold, warm, in any order, in batches, in threads: the same bytes, the cost among them."""
    texts = list(solutions())
    cold = []
    for name, text in texts:
        forget()
        cold.append(row(name, text))
    assert all(json.loads(line)["cost"] > 0 for line in cold)
    assert [row(*each) for each in texts] == cold
    mixed = random.Random(5).sample(range(len(texts)), len(texts))
    forget()
    shuffled = {k: row(*texts[k]) for k in mixed}
    assert [shuffled[k] for k in range(len(texts))] == cold
    forget()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda each: row(*each), texts)) == cold


FORGETFUL = ("prism.algebra", "prism.engine", "prism.equivalence", "prism.grading")


def memories() -> list[Any]:
    """The functions that remember what they have returned, where grades are decided; they can be told to forget it."""
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith(FORGETFUL)]
    found = {id(each): each for module in modules for each in vars(module).values() if hasattr(each, "cache_clear")}
    return [each for each in found.values() if callable(each) and each.__module__.startswith(FORGETFUL)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("is_of_facts", [True, False], ids=["facts", "all"])
def test_what_is_forgotten_on_the_way_changes_no_grade(
    seed: int, is_of_facts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has seen much drops what it remembers at any moment, also in the middle of a solution."""
    prepared = prism.prepare("dags/free_fall.toml")
    texts = [student.solution for student in prepared.problem.students]
    forget()
    expected = [prism.grade(prepared, text).to_dict() for text in texts]
    rng, forgetful = random.Random(seed), [facts_of] if is_of_facts else memories()
    n_forgotten = 0

    def forgetting(call: Any) -> Any:
        def called(account: Any, *what: Any) -> Any:
            nonlocal n_forgotten
            if rng.random() < 0.05:
                rng.choice(forgetful).cache_clear()
                n_forgotten += 1
            return call(account, *what)

        return called

    monkeypatch.setattr(budget.Account, "charge", forgetting(budget.Account.charge))
    forget()
    assert [prism.grade(prepared, text).to_dict() for text in texts] == expected
    assert n_forgotten > 100


@pytest.mark.slow
@pytest.mark.compiled
def test_costs_do_not_depend_on_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels.warm()
    texts = list(solutions())[::4]
    found = []
    for mode in ("compiled", "interpreted"):
        monkeypatch.setenv("PRISM_KERNELS", mode)
        forget()
        found.append([row(*each) for each in texts])
    assert found[0] == found[1]


PLAIN_CACHES = r"""
import functools, sys
from pathlib import Path
inside, faults = [], set()

def watched(function):
    def call(*args, **kwargs):
        inside.append(f"{function.__module__}.{function.__qualname__}")
        try:
            return function(*args, **kwargs)
        finally:
            inside.pop()
    return functools.wraps(function)(call)

lru_cache, cached_property = functools.lru_cache, functools.cached_property
functools.lru_cache = lambda maxsize=128, typed=False: (
    lru_cache(watched(maxsize)) if callable(maxsize) else lambda function: lru_cache(maxsize, typed)(watched(function)))
functools.cache = lambda function: lru_cache(None)(watched(function))

class Watched(cached_property):
    def __init__(self, function):
        super().__init__(watched(function))

functools.cached_property = Watched

from prism import budget
charge, work_out, within = budget.Account.charge, budget.Account.work_out, budget._within

def told(account, *what):
    if inside and account.limit != float("inf"):
        faults.add(inside[-1])

def apart(call):
    def called(*args):
        global inside
        before, inside = inside, []
        try:
            return call(*args)
        finally:
            inside = before
    return called

budget.Account.charge = lambda account, n: (n and told(account), charge(account, n))[1]
budget.Account.work_out = apart(work_out)
budget._within = apart(within)
import prism
from prism.diagnosis import findings
# A search for slips goes the same ways over and over; what it calls has been called long before these limits.
findings.DIAGNOSED_NODE, findings.REPAIRS, findings.DIAGNOSED_FORMULA = 1_500_000, 3_600_000, 6_000_000
for path in sorted(Path("dags").glob("*.toml")):
    problem = prism.prepare(path)
    for student in problem.problem.students:
        prism.diagnose(problem, prism.grade(problem, student.solution))
print(sorted(faults))
"""


@pytest.mark.slow
def test_no_plain_cache_keeps_what_is_charged() -> None:
    """`lru_cache` and `cached_property` would make a cost depend on what the process has seen: see `remembered`."""
    done = subprocess.run([sys.executable, "-c", PLAIN_CACHES], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_what_was_decided_before_the_operations_ended_stays_decided(
    problem: PreparedProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right formula in front of a flood keeps its match, though no later claim is compared any more."""
    monkeypatch.setattr(pipeline, "MATCHING", 20_000_000)
    flood = "".join(f" Then $W_{{{k}}} = {k} + {written(CASES[5])}$." for k in range(2, 40))
    grade = prism.grade(problem, HONEST + flood)
    assert grade.status == "too_large"
    assert grade.matched == (1, 2)
    assert grade.formulas[-1].reason == "too_large"

"""What a diagnosis costs: the same whatever was done before, within its account, one formula nothing of another's."""

from __future__ import annotations

import pytest

import prism
from prism import budget
from prism.diagnosis import findings
from prism.diagnosis.explanations import explain
from prism.grading.prepared import PreparedProblem
from tests.grading.test_grading import forget

LIMIT = budget.DIAGNOSIS + budget.CONSEQUENCES + budget.DIAGNOSED_FORMULA
WRONG = r"From $s = g t^2$ we get $t_f = \sqrt{\frac{h}{g}}$, and $v_f = g t_f$."
DEAR = {
    "32 integrals": " ".join(rf"$v = {k} \int_0^1 e^{{-x^2 {k}}} g \,dx$." for k in range(1, 33)),
    "128 sines": " ".join(rf"$v = \sin({k} g t)$." for k in range(1, 129)),
    "256 boxes": " ".join(rf"\boxed{{{k}}}" for k in range(1, 257)),
    "sums of sums": " ".join(rf"$v = {k} \sum_{{n=1}}^{{\sum_{{m=1}}^{{g t}} m}} n$." for k in range(1, 33)),
    "a chain": "$$v = " + " = ".join([r"\prod_{k=1}^{200} \frac{g t}{k}"] * 32) + "$$",
    "undefined parts": r"$$v = \sum_{k=1}^{200} \ln(-k g t)$$",
    "roots": " ".join(f"$v = {k} " + r"\sqrt{g + " * 20 + "t" + "}" * 20 + "$." for k in range(1, 10)),
}
SLIP = r"Then $s = g t^2$."
COSTLY = r"First $v_f = \prod_{k=1}^{200} \frac{h t_f}{k + g t_f^2} + \sum_{k=1}^{100} \sqrt{k g h}$. "


@pytest.fixture(scope="module")
def free_fall() -> PreparedProblem:
    return prism.prepare("dags/free_fall.toml")


def diagnosed(problem: PreparedProblem, text: str) -> prism.Diagnosis:
    return prism.diagnose(problem, prism.grade(problem, text))


@pytest.mark.slow  # diagnoses each text four times
@pytest.mark.parametrize("name", ["free_fall", "bucket"])
def test_a_diagnosis_costs_the_same_whatever_was_done_before(name: str) -> None:
    def prepared() -> PreparedProblem:
        return prism.prepare(f"dags/{name}.toml")

    texts = [student.solution for student in prepared().problem.students[:2]] + [WRONG]
    cold = []
    for text in texts:
        grade = prism.grade(prepared(), text)
        forget()
        cold.append(prism.diagnose(prepared(), grade))
    assert sum(told.cost for told in cold) > budget.STEP
    warm = [diagnosed(prepared(), text) for text in texts]
    assert warm == cold
    diagnosed(prism.prepare("dags/backspin.toml"), SLIP)
    problem = prepared()
    assert [diagnosed(problem, text) for text in reversed(texts)] == cold[::-1]


@pytest.mark.slow  # each spends a whole account
@pytest.mark.parametrize("text", DEAR.values(), ids=list(DEAR))
def test_a_dear_solution_is_diagnosed_within_its_account(text: str, free_fall: PreparedProblem) -> None:
    told = diagnosed(free_fall, text)
    assert 0 < told.cost <= LIMIT
    assert told.findings
    assert not any("internal" in each.detail for each in told.findings)


@pytest.mark.slow
def test_a_dear_formula_costs_another_no_finding(free_fall: PreparedProblem) -> None:
    (alone,) = diagnosed(free_fall, SLIP).findings
    assert alone.status == "wrong"
    told = diagnosed(free_fall, COSTLY + SLIP)
    assert (told.findings[-1].status, told.findings[-1].difference) == ("wrong", alone.difference)


def test_what_is_cut_is_undetermined_and_told(free_fall: PreparedProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    full = diagnosed(free_fall, WRONG)
    assert full.is_complete
    assert full.first_wrong == 0
    for limit in ("DIAGNOSED_FORMULA", "CONSEQUENCES"):
        with monkeypatch.context() as patched:
            patched.setattr(findings, limit, 1_000)
            told = diagnosed(free_fall, WRONG)
        assert not told.is_complete
        assert told.cost < full.cost
        assert {(each.status, each.difference) for each in told.findings} == {("undetermined", None)}
    with monkeypatch.context() as patched:
        patched.setattr(findings, "DIAGNOSED_NODE", 1_000)
        told = diagnosed(free_fall, WRONG)
    assert (told.is_complete, told.first_wrong) == (False, None)
    with monkeypatch.context() as patched:
        patched.setattr(findings, "DIAGNOSIS", 0)
        patched.setattr(findings, "LOCATING", 0)
        told = diagnosed(free_fall, WRONG)
        text = explain(free_fall.problem, prism.grade(free_fall, WRONG), told)
    assert text.endswith("too dear to be diagnosed in full.")
    assert (told.is_complete, len(told.findings)) == (False, len(full.findings))
    assert {each.detail for each in told.findings} == {"the operations of the diagnosis are spent"}

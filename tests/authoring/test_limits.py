"""What authors' calls may cost, counted in operations: a dear formula costs only itself, and what was cut is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import prism
from prism import DataFileError, budget, load_problem, prepare
from prism.authoring import drafting
from prism.authoring.drafting import draft
from prism.authoring.drafts import Draft
from prism.authoring.lint_findings import LintFinding
from prism.authoring.linting import find_faults, lint

SOLUTION = r"""
$$v = g t$$ so $$h = \frac{g t^2}{2}$$ and with $$2 h = g t^2$$ it follows $$\boxed{v = \sqrt{2 g h}}$$
"""
DEAR = "E = " + " + ".join(rf"\sin({k} q) \cos^{{{k}}}(q + {k})" for k in range(2, 120)) + " + V"
EXACT = 100_000  # operations, well above what the other nodes below need and well below those of the dear one


def problem_data(*formulas: str, **keys: Any) -> dict[str, Any]:
    """A problem of these formulas, each resting on the one before it."""
    standard = [
        {"index": k, "formula": latex, "dependency": [k - 1] if k > 1 else [], "is_final_answer": k == len(formulas)}
        for k, latex in enumerate(formulas, start=1)
    ]
    return {"id": "p", "context": "", "grading_standard": standard, **keys}


def cost(call: Callable[[], object]) -> int:
    """The operations that a call charges."""
    with budget.share(math.inf) as account:
        call()
    return account.spent


def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what this process remembers, as far as functions keep it, and keep nothing until the test ends."""

    def forget(store: budget.Store, *_found: object) -> None:
        """Empty the store."""
        store.kept.clear()

    monkeypatch.setattr(budget.Store, "keep", forget)


# Drafts. --------------------------------------------------------------------------------------------------------


def told(made: Draft) -> list[str]:
    """The remarks of a draft about steps that were cut."""
    return [remark for remark in made.remarks if "did not suffice" in remark]


def test_an_honest_draft_is_not_cut_and_costs_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(draft(SOLUTION)) == []
    warm = cost(lambda: draft(SOLUTION))
    cold(monkeypatch)
    assert cost(lambda: draft(SOLUTION)) == warm
    assert 0 < warm < budget.DRAFT / 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "what"),
    [
        ("MERGING", "compare all formulas with each other"),
        ("ORIGINS", "test what each formula follows from"),
        ("GIVEN", "check all nodes"),
        ("DRAFT", "check all nodes"),
        ("READING", "look at all formulas"),
    ],
)
def test_a_step_that_is_cut_is_told_and_the_rest_is_drafted(
    limit: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting, limit, {"READING": 100_000, "DRAFT": 600_000}.get(limit, 1000))
    text = SOLUTION if limit != "READING" else SOLUTION + "".join(f"$$x_{k} = {k} {DEAR}$$" for k in range(3))
    made = draft(text, problem="Here $x = 3$.")
    assert any(what in remark for remark in told(made))
    assert len(made.nodes) >= 3
    assert load_problem(made.data).nodes
    assert any(what in line for line in made.toml().replace("\n#   ", " ").splitlines())


def test_an_answer_that_is_not_looked_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafting, "ANSWERS", 1000)
    made = draft(SOLUTION, answers=("v = \\sqrt{2 g h}",))
    assert any("look for all answers" in remark for remark in told(made))
    assert made.nodes[-1].is_final


@pytest.mark.slow
def test_a_dear_formula_of_a_draft_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are compared with each other as without it."""
    monkeypatch.setattr("prism.authoring.candidates.STATED", 20_000)
    others = [node.latex for node in draft(SOLUTION).nodes]
    waves = " + ".join(rf"\sin({n} q) \cos^{{{n}}}(q + {n})" for n in range(2, 60))
    dear = "".join(f"$$V = {k} + {waves}$$" for k in range(1, 4))
    made = draft(dear + SOLUTION)
    assert [node.latex for node in made.nodes if "sin" not in node.latex] == others
    assert any("compare all formulas" in remark for remark in told(made))


@pytest.mark.slow
def test_what_many_formulas_on_one_name_cost_is_bounded() -> None:
    text = "".join(rf"$V = {k} \prod_{{k=1}}^{{9}} \frac{{q}}{{k}}$. " for k in range(40))
    limit = budget.DRAFT + budget.CHARACTER * len(text) + budget.KNOWLEDGE
    assert budget.STATED < cost(lambda: _drafted(text)) < limit


def _drafted(text: str) -> Draft | None:
    """The draft of a text, or None if no formula of it can be a node."""
    try:
        return draft(text)
    except prism.PrismError:
        return None


# Problems. ------------------------------------------------------------------------------------------------------


@pytest.fixture
def dear_problem(monkeypatch: pytest.MonkeyPatch) -> prism.Problem:
    """A problem whose second node is too dear."""
    monkeypatch.setattr("prism.grading.references.NODE", EXACT)
    return load_problem(problem_data("V = q r", DEAR, "F = m E", "P = F v"))


def test_a_dear_node_is_a_fault_of_that_node(dear_problem: prism.Problem) -> None:
    with pytest.raises(DataFileError) as caught:
        prepare(dear_problem)
    assert [fault.partition(": ")[0] for fault in caught.value.faults] == ["node 2, formula"]
    assert f"more than {EXACT} operations" in caught.value.faults[0]


def test_lint_says_which_node_is_dear_and_checks_the_others(dear_problem: prism.Problem) -> None:
    def dear(findings: tuple[LintFinding, ...] | list[LintFinding]) -> list[tuple[str, str, str]]:
        return [(each.kind, each.code, each.entry) for each in findings if each.kind == "fault"]

    assert dear(lint(dear_problem)) == dear(find_faults(dear_problem, math.inf)) == [("fault", "too_large", "node 2")]
    twice = load_problem(problem_data("V = q r", DEAR, "r q = V"))
    assert dear(lint(twice)) == [("fault", "too_large", "node 2"), ("fault", "same", "node 3")]


def test_a_dear_definition_is_a_fault_of_that_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.grading.references.NODE", EXACT)
    definitions = ["u = 2 q", DEAR.replace("E", "w")]
    with pytest.raises(DataFileError) as caught:
        prepare(problem_data("V = u r", definitions=definitions))
    assert [fault.partition(": ")[0] for fault in caught.value.faults] == ["definitions, entry 2"]


def test_nodes_that_are_too_dear_together_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.grading.references.NODES", 60_000)
    monkeypatch.setattr("prism.grading.references.EACH_NODE", 0)
    with pytest.raises(DataFileError, match="most of formulas that cost more than 60000 together"):
        prepare(problem_data(*(f"V_{k} = q^{k} + \\sqrt{{r}}" for k in range(1, 9))))


def test_a_text_that_is_too_dear_for_the_policy_training_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    data = problem_data("V = q r", context="We have $q = E + x$ and $r = x^2$ and $V = 3 q r$.")
    assert prepare(data, training=True).given == frozenset()
    monkeypatch.setattr("prism.grading.prepared.GIVEN", 1000)
    with pytest.raises(DataFileError, match="costs more than 1000 operations to be compared with the nodes"):
        prepare(data, training=True)


def test_a_check_that_is_cut_is_a_finding_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    data = problem_data("V = q r + \\lambda", "V = 2 q r + \\lambda", context="Here $V = q x^2$.")
    before = lint(data)
    assert not [each for each in before if each.code == "too_large"]
    monkeypatch.setattr("prism.authoring.linting.CHECK", 1000)
    after = lint(data)
    cut = [each for each in after if each.code == "too_large"]
    assert cut
    assert {each.kind for each in cut} == {"warning"}
    assert {each for each in after if each.code == "undefined"} == {each for each in before if each.code == "undefined"}


def test_a_copy_that_is_not_graded_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prism.authoring.linting.LINT", 1000)
    monkeypatch.setattr("prism.authoring.linting.LINTED_NODE", 0)
    found = lint(problem_data("V = q r", "r = V / q"))
    assert [each for each in found if each.kind == "fault"] == []
    assert any(each.code == "too_large" for each in found)


@pytest.mark.parametrize("call", [lint, lambda data: prepare(data, training=True)])
def test_costs_of_a_problem_do_not_depend_on_caches(
    call: Callable[[object], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = problem_data("v = g t", "h = g t^2/2", "v^2 = 2 g h", context="Here $v = g t$.", givens={"g": "9.81 m/s^2"})
    call(data)
    warm = cost(lambda: call(data))
    cold(monkeypatch)
    assert cost(lambda: call(data)) == warm > 0


def test_sums_of_many_symbols_harm_no_call() -> None:
    """The text says what a node says; both are too long to be evaluated together, which was a traceback."""
    many = {name: " + ".join(f"{name}_{{{k}}}" for k in range(60)) for name in "ax"}
    data = problem_data(f"V = {many['x']}", context=f"We have $V = {many['a']}$ and $V + {many['a']} = y$.")
    assert prepare(data, training=True).given == frozenset()
    assert [each for each in lint(data) if each.kind == "fault"] == []

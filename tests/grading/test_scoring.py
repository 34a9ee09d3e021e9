"""One number of a grade, its named numbers, and the credit of each formula."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prism
from prism.diagnosis.follow_through import follow_through_of
from prism.grading.prepared import PreparedProblem
from prism.grading.result import GradedFormula
from prism.grading.scoring import (
    PARTS,
    SCALARS,
    Scoring,
    precision_score,
    scalars,
    score_by,
    scoring_of,
    step_credits,
)
from prism.problem.dag import ancestor_closure, score
from prism.resources import resource


@cache
def problem() -> PreparedProblem:
    return prism.prepare(resource("dags/scoring_figure.toml"), training=True)


@cache
def graded(name: str) -> prism.Grade:
    student = next(each for each in problem().problem.students if each.name == name)
    return follow_through_of(problem(), prism.grade(problem(), student.solution))[0]


def formula(status: str, latex: str = "F = m a", *, nodes: tuple[int, ...] = (), reason: str = "") -> GradedFormula:
    return GradedFormula(latex, (0, len(latex)), "display", status, reason, nodes)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_has_a_scoring_of_its_name(name: str) -> None:
    grade = graded("figure")
    found = score_by(scoring_of(name), grade)
    told = {"closure": grade.score, "score_strict": grade.score_strict, "precision": precision_score(grade)}
    told["worked"] = grade.score
    assert found == {**grade.policies, **told}[name]
    assert score_by(scoring_of(name), graded("right")) == (0.833333 if name == "precision" else 1.0)


def test_a_sheet_of_laws_has_worked_nothing_out() -> None:
    sheet = replace(graded("figure"), flags=("formula_sheet",))
    assert score_by(scoring_of("worked"), sheet) == 0.0
    assert score_by(scoring_of("closure"), sheet) == graded("figure").score


def test_a_mix_is_the_weighted_sum() -> None:
    assert score_by(scoring_of({"final": 0.3, "closure": 0.7}), graded("figure")) == 0.63
    assert score_by(scoring_of({"closure": 0.7, "final": 0.3}), graded("right")) == 1.0
    assert score_by(scoring_of({"closure": 2, "strict": 0}), graded("right")) == 2.0  # as they stand


def test_a_scoring_is_a_value() -> None:
    scoring = scoring_of({"final": 0.3, "closure": 0.7})
    assert scoring == scoring_of({"closure": 0.7, "final": 0.3}) == scoring_of(scoring)
    assert pickle.loads(pickle.dumps(scoring)) == scoring
    assert [name for name in PARTS if scoring_of(name).needs_training] == ["training"]


def test_all_faults_of_a_scoring_come_at_once() -> None:
    with pytest.raises(prism.PrismError) as caught:
        scoring_of({"closer": 1.0, "final": float("nan"), "strict": True, "prefix": 10**400, "precision": -0.1})
    assert [line.split(" is ")[0] for line in str(caught.value).splitlines()] == [
        "scoring: 'closer'", "scoring, final: the weight nan", "scoring, strict: the weight True",
        f"scoring, prefix: the weight {10**400}", "scoring, precision: the weight -0.1",
    ]  # fmt: skip
    for source in (
        "",
        "Closure",
        {},
        {"final": 0.0},
        {"closure": 0.7, "final": -1},
        {"final": float("inf")},
        None,
        3,
        Scoring(()),
    ):
        with pytest.raises(prism.PrismError, match=r"^scoring"):
            scoring_of(source)  # type: ignore[arg-type]


def test_training_needs_a_problem_prepared_for_it() -> None:
    grade = prism.grade(problem().problem, "$T_K = E_K - m_K$")
    with pytest.raises(prism.PrismError, match="training=True"):
        score_by(scoring_of("training"), grade)


# Wrong formulas cost. -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formulas", "share"),
    [
        ((), 1),
        ((formula("equivalent"),), 1),
        ((formula("equivalent"), formula("different", "a = 2")), Fraction(1, 2)),
        ((formula("equivalent"), formula("different", "a = 2"), formula("different", "a =  2")), Fraction(1, 2)),
        ((formula("equivalent"), formula("mention", "a"), formula("unread", "("), formula("undecided", "b")), 1),
        ((formula("equivalent"), formula("withheld", "a = 3", reason="contradicted")), 1),
        ((formula("equivalent"), formula("withheld", "a = 3", reason="broken_chain")), Fraction(1, 2)),
    ],
)
def test_precision_counts_distinct_formulas_that_are_decided(
    formulas: tuple[GradedFormula, ...], share: Fraction
) -> None:
    assert precision_score(replace(graded("right"), formulas=formulas)) == float(share)


def test_a_list_of_guesses_costs() -> None:
    text = problem().problem.students[1].solution
    guesses = " ".join(rf"$$S = {k} (E_K + m_p)^2$$" for k in range(2, 12))
    before, after = (prism.grade(problem(), each) for each in (text, guesses + text))
    assert precision_score(after) < 0.5 * precision_score(before)


# Named numbers. -------------------------------------------------------------------------------------------------


def test_scalars_have_the_same_keys_in_the_same_order() -> None:
    whole = graded("wrong")
    without = replace(whole, score=None, score_strict=None, policies={}, formulas=())
    for found in (
        scalars(whole),
        scalars(replace(whole, status="too_large")),
        scalars(replace(without, status="killed")),
        scalars(replace(without, status="internal")),
        scalars(None),
        scalars(None, bad_reference=True),
        scalars(None, bad_solution=True),
    ):
        assert list(found) == list(SCALARS)
        assert all(type(value) is float for value in found.values())
        json.dumps(found, allow_nan=False)


def test_scalars_say_what_became_of_a_solution() -> None:
    whole = graded("figure")
    found = scalars(whole)
    assert {name: found[name] for name in ("closure", "strict", "matched", "credited", "formulas", "equivalent")} == {
        "closure": 0.9, "strict": 0.7, "matched": 0.6, "credited": 0.8, "formulas": 4.0, "equivalent": 3.0,
    }  # fmt: skip
    assert scalars(replace(whole, flags=("hedged",)))["hedged"] == 1.0
    killed = replace(whole, status="killed", score=None)
    assert scalars(killed)["killed"] == 1.0
    assert score_by(scoring_of("closure"), killed) == scalars(killed)["closure"] == 0.0
    for name in ("too_large", "killed", "internal", "bad_reference", "bad_solution"):
        assert found[name] == 0.0
    assert scalars(None)["internal"] == 1.0
    assert scalars(None, bad_reference=True)["internal"] == 0.0


# Credit of each formula. ----------------------------------------------------------------------------------------


def test_a_formula_earns_what_none_before_it_had() -> None:
    found = step_credits(problem(), graded("figure"))
    assert [(each.nodes, each.credit) for each in found] == [
        ((1,), Fraction(1, 5)), ((2, 3), Fraction(2, 5)), ((4,), Fraction(3, 10)), ((), Fraction(0)),
    ]  # fmt: skip
    text = problem().problem.students[0].solution
    assert all(each.latex in text[slice(*each.span)] for each in found)
    assert found[1].to_dict()["credit"] == 0.4


def test_saying_it_again_earns_nothing() -> None:
    grade = prism.grade(problem(), "$T_K = E_K - m_K$ and so $E_K = T_K + m_K$")
    assert [each.nodes for each in step_credits(problem().problem, grade)] == [(2,), ()]


def test_a_grade_of_another_problem_is_refused() -> None:
    with pytest.raises(prism.PrismError, match="scoring_figure"):
        step_credits(prism.load_problem(resource("dags/free_fall.toml")), graded("right"))


@given(
    said=st.lists(
        st.tuples(
            st.integers(0, 30),
            st.sampled_from(["equivalent", "different", "mention", "unread"]),
            st.sets(st.integers(1, 5), max_size=2),
        ),
        max_size=8,
    )
)
def test_credits_sum_to_the_score(said: list[tuple[int, str, set[int]]]) -> None:
    formulas = tuple(
        replace(formula(status), span=(at, at + 1), nodes=tuple(sorted(nodes)) if status == "equivalent" else ())
        for at, status, nodes in said
    )
    grade = replace(graded("right"), formulas=formulas)
    found = step_credits(problem(), grade)
    dag = problem().problem.dag
    credited = ancestor_closure(dag, {index for item in formulas for index in item.nodes})
    assert sum((each.credit for each in found), Fraction(0)) == score(dag, credited)
    assert sorted(index for each in found for index in each.nodes) == sorted(credited)
    assert len(found) == sum(item.status != "mention" for item in formulas)


@pytest.mark.parametrize("name", ["figure", "right", "wrong"])
def test_credits_of_real_grades_sum_to_their_score(name: str) -> None:
    total = sum((each.credit for each in step_credits(problem(), graded(name))), Fraction(0))
    assert round(float(total), 6) == graded(name).score

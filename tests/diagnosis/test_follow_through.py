"""Carried-forward credit: what follows from a student's own wrong value is paid, within bounds, and only on demand."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import prism
from prism.diagnosis.follow_through import (
    FOLLOW_THROUGH,
    MOST_CARRIED,
    CarriedNode,
    carried_lines,
    follow_through_of,
)
from prism.grading.prepared import PreparedProblem
from prism.grading.row import score_row
from prism.grading.scoring import SCALARS, node_shares, reward_scoring, scalars, score_by, scoring_of
from prism.problem.dag import score
from prism.rewards import Reward

TEXT = r"""
A block of mass $m = 2.00\,\mathrm{kg}$ slides from the height $h = 1.25\,\mathrm{m}$ with $g = 9.81\,\mathrm{m/s^2}$,
then over a rough patch of length $d = 2.00\,\mathrm{m}$ with the coefficient $\mu = 0.300$, and meets a spring with
$k = 800\,\mathrm{N/m}$. $v_1$ is its speed at the bottom, $v_2$ behind the patch, $x$ the compression.
"""


def node(index: int, formula: str, *rests_on: int, part: str, final: bool = False, points: int = 1) -> dict[str, Any]:
    return {
        "index": index, "formula": formula, "dependency": list(rests_on), "is_final_answer": final,
        "subquestion": part, "points": points,
    }  # fmt: skip


RAMP: dict[str, Any] = {
    "id": "ramp",
    "context": TEXT,
    "subquestions": [
        {"letter": "a", "subproblem": "Find $v_1$."},
        {"letter": "b", "subproblem": "Find $v_2$."},
        {"letter": "c", "subproblem": "Find $x$."},
    ],
    "grading_standard": [
        node(1, r"v_1 = \sqrt{2 g h}", part="a"),
        node(2, r"v_1 = 4.95\,\mathrm{m/s}", 1, part="a", final=True),
        node(3, r"v_2 = \sqrt{v_1^2 - 2 \mu g d}", 1, part="b"),
        node(4, r"v_2 = 3.57\,\mathrm{m/s}", 2, 3, part="b", final=True),
        node(5, r"x = v_2 \sqrt{\frac{m}{k}}", 3, part="c"),
        node(6, r"x = 0.179\,\mathrm{m}", 4, 5, part="c", final=True),
    ],
}


@cache
def ramp() -> PreparedProblem:
    return prism.prepare(RAMP)


def paid(solution: str, problem: PreparedProblem | None = None) -> tuple[prism.Grade, tuple[CarriedNode, ...]]:
    problem = problem or ramp()
    return follow_through_of(problem, prism.grade(problem, solution))


WRONG_START = r"$v_1 = \sqrt{2gh}$, $v_1 = 5.95\,\mathrm{m/s}$. "


def test_numbers_that_follow_from_a_wrong_one_earn_their_nodes() -> None:
    grade, carried = paid(WRONG_START + r"So $v_2 = 4.86\,\mathrm{m/s}$ and $x = 0.243\,\mathrm{m}$.")
    assert [each.node for each in carried] == [4, 6]
    assert {grade.formulas[each.source].latex for each in carried} == {r"v_1 = 5.95\,\mathrm{m/s}"}
    assert grade.policies[FOLLOW_THROUGH] == 0.5  # nodes 1, 4, 6, and not 3 and 5, which 4 and 6 rest on
    assert grade.score == 0.166667
    assert not grade.final_correct


def test_formulas_that_follow_earn_theirs() -> None:
    grade, carried = paid(r"$v_1 = \sqrt{gh}$, $v_2 = \sqrt{gh - 2\mu g d}$, $x = \sqrt{m (gh - 2\mu g d)/k}$")
    assert [each.node for each in carried] == [3, 5]
    assert (grade.score, grade.policies[FOLLOW_THROUGH]) == (0.0, 0.333333)


@pytest.mark.parametrize(
    "then",
    [
        r"So $v_2 = 4.10\,\mathrm{m/s}$.",  # does not follow
        r"So $v_1 = 5.95\,\mathrm{m/s}$ again.",  # repeats it
        r"So $v_1 = 595\,\mathrm{cm/s}$.",
        r"So $v_2 = 5.95\,\mathrm{m/s}$.",  # another mistake
        r"So $y = 4.86\,\mathrm{m/s}$.",  # no quantity of the problem
        r"So $v_2 = 3.57\,\mathrm{m/s}$.",  # right, and matched anyway
        r"So $v_2 = 4.86\,\mathrm{m/s}$. No, $v_2 = 7.21\,\mathrm{m/s}$.",  # taken back
    ],
)
def test_what_does_not_go_on_from_it_is_not_carried(then: str) -> None:
    grade, carried = paid(WRONG_START + then)
    assert carried == ()
    assert grade.policies[FOLLOW_THROUGH] == grade.score


def test_a_right_solution_earns_no_more_by_it() -> None:
    right = " ".join(f"${each['formula']}$." for each in RAMP["grading_standard"])
    grade, carried = paid(right)
    assert (grade.policies[FOLLOW_THROUGH], carried) == (1.0, ())
    assert carried_lines(grade, carried) == ["Carried forward: no node"]


def test_a_repetition_in_another_branch_is_not_paid() -> None:
    problem = prism.prepare("free_fall")
    wrong = next(each for each in problem.problem.students if each.name == "wrong-factor")
    grade, carried = paid(wrong.solution, problem)
    sources = {grade.formulas[each.source].latex for each in carried}
    assert sources == {"s = g t^2"}
    assert {each.node for each in carried} <= {4, 6}  # which rest on node 3, and not 5
    lone, none = paid("$s = g t^2$, $v = 2 g t$, $v_f = 2 g t_f$", problem)
    assert none == ()  # node 5 rests on node 2, and the first slip is one of node 3
    assert lone.policies[FOLLOW_THROUGH] == lone.score


def test_all_of_it_is_at_most_half_of_the_points() -> None:
    nodes = [dict(each) for each in RAMP["grading_standard"]]
    nodes[3]["points"] = 5  # of 10
    nodes[5]["points"] = 1
    problem = prism.prepare({**RAMP, "id": "heavy", "grading_standard": nodes})
    grade, carried = paid(WRONG_START + r"So $v_2 = 4.86\,\mathrm{m/s}$ and $x = 0.243\,\mathrm{m}$.", problem)
    assert [each.node for each in carried] == [4]
    assert score(problem.problem.dag, {each.node for each in carried}) == MOST_CARRIED == Fraction(1, 2)
    assert grade.policies[FOLLOW_THROUGH] == 0.6


def test_a_grade_has_the_policy_only_where_it_is_asked_for() -> None:
    plain = prism.grade(ramp(), WRONG_START)
    assert FOLLOW_THROUGH not in plain.policies
    row = score_row(ramp().problem, WRONG_START, plain)
    with_it, _ = follow_through_of(ramp(), plain)
    assert score_row(ramp().problem, WRONG_START, with_it)["policies"].keys() - row["policies"].keys() == {
        FOLLOW_THROUGH
    }
    with pytest.raises(prism.PrismError, match="was not diagnosed"):
        score_by(scoring_of(FOLLOW_THROUGH), plain)


def test_it_is_the_same_each_time_and_told_in_lines() -> None:
    text = WRONG_START + r"So $v_2 = 4.86\,\mathrm{m/s}$."
    grade, carried = paid(text)
    assert paid(text) == (grade, carried)
    (line,) = carried_lines(grade, carried)
    assert line == (r"Carried forward: node 4 by v_2 = 4.86\,\mathrm{m/s}, which follows from v_1 = 5.95\,\mathrm{m/s}")
    assert carried[0].to_dict() == {"node": 4, "position": 2, "source": 1}


def test_no_reward_pays_it() -> None:
    assert scoring_of(FOLLOW_THROUGH).needs_diagnosis
    assert FOLLOW_THROUGH not in SCALARS
    for scoring in (FOLLOW_THROUGH, {"closure": 0.5, FOLLOW_THROUGH: 0.5}):
        with pytest.raises(prism.PrismError, match="no reward pays it"):
            reward_scoring(scoring)
        with pytest.raises(prism.PrismError, match="no reward pays it"):
            Reward(scoring)
    grade, _ = paid(WRONG_START)
    assert scalars(grade).keys() == SCALARS.keys()


def test_the_server_does_not_pay_it_either() -> None:
    from prism.server import create_app

    with pytest.raises(prism.PrismError, match="no reward pays it"):
        create_app("free_fall", scoring=FOLLOW_THROUGH)


def test_shares_of_nodes_sum_to_the_score() -> None:
    grade, carried = paid(WRONG_START + r"So $v_2 = 4.86\,\mathrm{m/s}$. $x = v_2\sqrt{m/k}$")
    dag = ramp().problem.dag
    for name in ("closure", "strict", "prefix", "final", "score_strict", "precision", FOLLOW_THROUGH):
        shares = node_shares(ramp(), grade, scoring_of(name), carried={each.node for each in carried})
        total = sum(share * each.points for each, share in zip(dag.nodes, shares.values(), strict=True)) / dag.total
        assert round(float(total), 6) == score_by(scoring_of(name), grade), name
    mixed = node_shares(ramp(), grade, scoring_of({"closure": 3, "final": 1}))
    assert max(mixed.values()) == Fraction(3, 4)
    with pytest.raises(prism.PrismError, match="training=True"):
        node_shares(ramp(), grade, scoring_of("training"))

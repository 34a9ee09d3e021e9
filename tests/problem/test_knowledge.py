"""What a problem gives in all: the file first, then its text; what is a step of the solution is no notation."""

from __future__ import annotations

from typing import Any

import prism


def problem(context: str, *formulas: str, **keys: Any) -> prism.Problem:
    nodes = [
        {"index": k, "formula": latex, "dependency": [k - 1] if k > 1 else [], "is_final_answer": k == len(formulas)}
        for k, latex in enumerate(formulas, start=1)
    ]
    return prism.load_problem({"id": "p", "context": context, "grading_standard": nodes, **keys})


def test_the_file_decides_where_both_give_a_value() -> None:
    known = problem("A mass $m = 2.0$ kg at $v = 3$ m/s.", "p = m v", givens={"m": "5 kg"})
    assert known.context.givens == {"m": "5 kg", "v": "3 m/s"}


def test_a_definition_that_makes_two_nodes_the_same_is_a_step() -> None:
    known = problem("The force is $F = -k x$.", "m a = F", "m a = -k x")
    assert known.context.definitions == ()
    assert [(left.name, left.why) for left in known.given.left_out] == [("F", "nodes 1 and 2 would say the same")]


def test_a_definition_that_a_node_says_is_a_step() -> None:
    known = problem("Put $q = R/S$.", "q = R/S", "P = V q")
    assert [left.why for left in known.given.left_out] == ["node 1 says it"]


def test_notation_is_used_on_both_sides() -> None:
    known = problem("$L_c = V/A$ is volume over surface.", "B = h L_c/k")
    assert [str(each) for each in known.context.definitions] == ["L_c = V/A"]
    assert prism.grade(known, "$B = hV/(Ak)$").matched == (1,)
    assert prism.grade(known, "$B = hA/(Vk)$").matched == ()
    assert prism.grade(known, "$B = hV/(Ak)$", definitions=False).matched == ()


def test_constants_are_known_by_words_and_by_value() -> None:
    known = problem("$R$ is the gas constant, $c = 2.998\\times10^8$ m/s and $k$ a spring's.", "p V = n R T")
    assert dict(known.given.constants) == {"R": "molar gas constant", "c": "speed of light in vacuum"}
    assert prism.grade(known, "$pV = n N_A k_B T$").matched == (1,)
    other = problem("$R$ is the radius.", "p V = n R T")
    assert prism.grade(other, "$pV = n N_A k_B T$").matched == ()


def test_conditions_are_never_put_in() -> None:
    known = problem("Its speed at the time $t = 3$ s is wanted; $a = 2.5$ m/s$^2$.", "v = a t")
    assert "t" not in known.context.givens
    assert prism.grade(known, "$v = 2.5 t$").matched == (1,)
    assert prism.grade(known, "$v = 7.5$ m/s").matched == ()


def test_a_declared_flow_is_one_quantity() -> None:
    known = problem(
        "Oil flows at $\\dot m = 0.5$ kg/s.",
        "q = \\dot m c T",
        givens={"\\dot m": "0.5 kg/s"},
        symbols={"c": "positive"},
    )
    assert prism.grade(known, "$q = 0.5\\,\\mathrm{kg/s}\\; c T$").matched == (1,)
    assert prism.grade(known, "$q = 0.6\\,\\mathrm{kg/s}\\; c T$").matched == ()

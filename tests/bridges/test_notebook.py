"""What a notebook shows: LaTeX of PRISM's own, everything else escaped."""

from __future__ import annotations

import prism

PROBLEM = {
    "id": "fall", "context": "A stone falls for a time $t$.",
    "subquestions": [{"letter": "a", "subproblem": "Find its speed $v$.", "final_answer_form": "algebraic"}],
    "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}],
}  # fmt: skip


def test_a_formula_is_typeset_with_units_that_mathjax_knows() -> None:
    shown = prism.parse(r"g = 9.8\,\unit{m/s^2}")._repr_latex_()
    assert shown == r"$\displaystyle g = 9.8 \,\mathrm{m/s^{2}}$"


def test_a_verdict_shows_status_reason_and_witness() -> None:
    shown = prism.equivalent("F = ma", "F = 2ma")._repr_html_()
    assert "<b>different</b>" in shown
    assert "satisfies the reference" in shown
    assert "proof" not in shown


def test_a_grade_shows_each_formula_and_runs_nothing_of_the_student() -> None:
    grade = prism.grade(PROBLEM, r"$v = g t$ and $v = <script>alert(1)</script>$ and $\href{javascript:x}{v}$")
    shown = grade._repr_html_()
    assert repr(grade) == "<Grade fall: score 1, matched 1, credited 1, missing none>"
    assert r"$\displaystyle v = g t$" in shown
    assert "<script" not in shown
    assert r"$\href" not in shown
    assert shown.count("<tr>") == len(grade.formulas) + 1


def test_problems_and_contexts_say_how_large_they_are() -> None:
    problem = prism.load_problem(PROBLEM)
    assert repr({problem.id: problem}) == "{'fall': <Problem fall: 1 node, 0 students>}"
    assert repr(problem.context) == "<Context: 0 symbols, 0 givens, 0 definitions>"

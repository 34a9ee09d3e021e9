"""The pipeline from text to score, on small problems of its own."""

from __future__ import annotations

import json
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import prism
from prism.grading.result import reason_in_words
from prism.grading.row import fingerprint, score_row
from prism.latex import Solution
from prism.version import RULES

PROBLEM: dict[str, Any] = {
    "id": "drop",
    "context": "A stone falls from the height $h$; $v$ is its speed at the ground, $t$ the time, $g$ the acceleration.",
    "subquestions": [{"letter": "a", "subproblem": "Find $v$.", "final_answer_form": "algebraic"}],
    "grading_standard": [
        {"index": 1, "formula": r"$$h = \frac{1}{2} g t^2$$", "dependency": [], "points": 2},
        {"index": 2, "formula": r"$$v = g t$$", "dependency": [], "points": 3},
        {"index": 3, "formula": r"$$v = \sqrt{2 g h}$$", "dependency": [1, 2], "points": 5, "is_final_answer": True},
    ],
}


def graded(solution: Solution, *, thinking: bool = False) -> prism.Grade:
    return prism.grade(PROBLEM, solution, thinking=thinking)


def test_a_match_credits_every_prerequisite() -> None:
    result = graded(r"Energy: $v^2 = 2gh$.")
    assert (result.matched, result.credited, result.missing) == ((3,), (1, 2, 3), ())
    assert result.score == 1.0
    assert result.final_correct
    assert result.policies == {"strict": 0.5, "prefix": 1.0, "final": 1.0}


def test_partial_work_is_the_share_of_points() -> None:
    result = graded(r"$$t = \sqrt{\frac{2h}{g}}$$ but $$v = 2 g t$$")
    assert (result.matched, result.score, result.final_correct) == ((1,), 0.2, False)
    assert result.policies["strict"] == 0.2


def test_the_name_of_a_file_raises_nothing_where_warnings_are_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert prism.grade("free_fall", "answer.md").score == 0.0


def test_the_name_of_a_file_is_graded_as_a_text_and_told() -> None:
    with pytest.warns(UserWarning, match=r"'nofile\.md' is graded as a text; of a file give what it holds") as caught:
        assert graded("nofile.md").score == 0.0
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("", "See nofile.md", "nofile", "$v = g t$", "x.md " * 3, ["nofile.md"]):
            graded(text)


def test_nothing_earns_nothing() -> None:
    result = graded("")
    assert (result.matched, result.credited, result.missing, result.score) == ((), (), (1, 2, 3), 0.0)


def test_each_formula_has_its_reason() -> None:
    result = graded(r"Let $g$ be known. $$v = 2 g t$$ $$\badcommand{x} = 3$$ $$h = \tfrac12 g t^2$$")
    assert [(item.status, item.nodes) for item in result.formulas] == [
        ("mention", ()), ("different", ()), ("unread", ()), ("equivalent", (1,)),
    ]  # fmt: skip
    assert result.formulas[1].reason == "witness"
    assert "satisfies the" in result.formulas[1].witness
    assert result.formulas[1].nearest == 2
    assert "badcommand" in result.formulas[2].detail
    assert result.unread == 1


FALL: dict[str, Any] = {
    "id": "fall",
    "context": "A stone of mass $m$ falls from the height $h$ with the force $F$.",
    "grading_standard": [
        {"index": 1, "formula": "F = m g", "dependency": []},
        {"index": 2, "formula": "p = 3.00\\unit{kg m/s}", "dependency": [1], "is_final_answer": True},
        {"index": 3, "formula": "E = m g h (1 + \\frac{p^2}{m^2})", "dependency": [1]},
        {"index": 4, "formula": "E = 5.00\\unit{J}", "dependency": [3], "is_final_answer": True},
    ],
}


@pytest.mark.parametrize(
    ("formula", "nearest"),
    [
        (r"E = 7.00\text{ J}", 4),  # of the same quantity, a number beside a number
        (r"E = m g", 3),  # and a formula beside a formula; node 1 shares more symbols
        (r"E = m g = 7.00\text{ J}", 3),  # a chain is no number alone
        (r"m g = 2 m", 1),  # of no node's quantity: most symbols in common
    ],
)
def test_the_nearest_node_is_one_about_the_same_quantity(formula: str, nearest: int) -> None:
    item = prism.grade(FALL, f"${formula}$").formulas[0]
    assert (item.status, item.nearest) == ("different", nearest)


def test_a_number_is_told_beside_the_number_that_is_asked_for() -> None:
    item = prism.grade(FALL, r"$E = 7.00\text{ J}$").formulas[0]
    assert reason_in_words(item).startswith("nearest is node 4: 7 is stated, where 5 is asked for")


def test_no_witness_gives_a_size_to_a_unit() -> None:
    item = prism.grade(FALL, r"$F = 3\,\mathrm{m/s}\cdot h$").formulas[0]
    assert (item.status, item.reason, item.witness) == ("different", "witness", "")
    verdict = prism.equivalent("x = 3 y", r"x = 3.0\text{ m}")
    assert (verdict.status, verdict.reason, verdict.to_dict()["witness"]) == ("different", "witness", None)


def test_a_chain_states_each_of_its_links() -> None:
    assert graded(r"$v = g t = g\sqrt{2h/g}$").matched == (1, 2, 3)  # its second link is h = g t^2 / 2


def test_spans_point_into_the_text() -> None:
    text = r"First $v = g t$, then \[ v = \sqrt{2 g h} \]"
    for item in graded(text).formulas:
        start, end = item.span
        assert item.latex.strip() in text[start:end]


def test_a_thinking_block_is_read_only_on_request() -> None:
    text = r"<think>$v = \sqrt{2gh}$</think> I give up."
    assert graded(text).score == 0.0
    assert prism.grade(PROBLEM, text, thinking=True).score == 1.0


def test_a_bare_expression_needs_a_box_and_some_content() -> None:
    assert graded(r"Maybe $\sqrt{2gh}$").matched == ()
    assert graded(r"\[\boxed{\sqrt{2gh}}\]").matched == (3,)


HOSTILE = ("$" * 1001, "\\frac{" * 2000, "{" * 5000 + "$x=1$", "\x00\udcff$v=gt$", "$" + "x+" * 9000 + "x=1$")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_raises(text: str) -> None:
    result = graded(text)
    assert result.status == "ok"
    assert result.score is not None
    assert not result.incidents


def test_an_oversized_solution_says_so_and_keeps_its_honest_score() -> None:
    result = graded("$v = g t$\n" + "and so on\n" * 30_000 + "The end.")
    assert (result.status, result.matched) == ("too_large", (2,))
    assert result.left_out.characters > 0
    assert result.to_dict()["left_out"] == {"characters": result.left_out.characters, "formulas": 0}
    assert graded("$v = g t$" + " " * 300_000).status == "ok"


def test_messages_and_steps_are_graded_like_their_text() -> None:
    said = [{"role": "user", "content": "$t = 1$"}, {"role": "assistant", "content": "Then $v = g t$."}]
    assert graded(said).matched == graded(["Then", "$v = g t$."]).matched == (2,)
    hidden = [{"role": "assistant", "reasoning_content": "$v = g t$", "content": "So it falls."}]
    assert graded(hidden).matched == ()
    assert graded(hidden, thinking=True).matched == (2,)
    with pytest.raises(prism.PrismError, match="message 1"):
        graded([{"content": "$v = g t$"}])


def test_constants_are_read_only_where_the_problem_leaves_the_symbol_free() -> None:
    problem = {
        "id": "coulomb",
        "context": "Two charges $q$ and $Q$ at a distance $r$.",
        "grading_standard": [
            {"index": 1, "formula": r"F = \frac{q Q}{4 \pi \epsilon_0 r^2}", "dependency": [], "is_final_answer": True}
        ],
        "subquestions": [],
    }
    result = prism.grade(problem, "$F = k q Q / r^2$")
    assert result.matched == (1,)
    assert "k = " in result.formulas[0].detail
    spring = {**problem, "context": "Charges $q$, $Q$ at a distance $r$, held by a spring of constant $k$."}
    assert prism.grade(spring, "$F = k q Q / r^2$").matched == ()


def test_the_row_is_json_with_sorted_keys_and_says_what_it_came_from() -> None:
    problem = prism.load_problem(PROBLEM)
    result = prism.grade(problem, "$v = g t$", sample_id="7")
    row = score_row(problem, "$v = g t$", result)
    text = json.dumps(row, sort_keys=True, allow_nan=False)
    assert json.loads(text) == row
    assert row["sample_id"] == "7"
    assert row["grader"] == {"version": prism.__version__, "rules": RULES, "fingerprint": fingerprint()}
    assert row["problem_sha256"] == problem.sha256
    assert fingerprint("strict") != fingerprint()


def test_an_author_s_fault_raises_with_all_faults() -> None:
    broken = {**PROBLEM, "grading_standard": [{"index": 1, "formula": r"\frac{", "dependency": [4]}]}
    with pytest.raises(prism.DataFileError) as caught:
        prism.grade(broken, "$v = g t$")
    assert len(caught.value.faults) >= 2


def test_a_declared_name_of_several_letters_is_one_symbol() -> None:
    problem = {
        "id": "biot",
        "context": r"$\mathrm{Bi}$ is the Biot number, $h$ the coefficient, $L$ a length, $k$ the conductivity.",
        "grading_standard": [{"index": 1, "formula": "Bi = h L/k", "dependency": [], "is_final_answer": True}],
        "subquestions": [],
    }
    assert prism.grade(problem, r"\[\mathrm{Bi} = \frac{hL}{k}\]").matched == (1,)
    assert prism.grade(problem, "$Bi k = h L$").matched == (1,)
    assert prism.grade(problem, "$B k = h L$").matched == ()


def test_only_the_latest_formulas_count() -> None:
    """Twenty and ten a node: an early match is lost behind a long list, a late one is not (semantics C.7)."""
    many = " ".join(f"$x_{{{k}}} = {k}$" for k in range(60))
    assert graded(f"$v = g t$ {many}").matched == ()
    assert graded(f"{many} $v = g t$").matched == (2,)
    assert graded(f"$v = g t$ {many}").formulas[0].reason == "too_large"


def test_training_gives_nothing_for_a_copy_of_the_statement() -> None:
    problem = {
        "id": "p",
        "context": "A train starts from rest with $v = a t$; $x$ is its way.",
        "grading_standard": [
            {"index": 1, "formula": "v = a t", "dependency": []},
            {"index": 2, "formula": "x = \\frac{1}{2} a t^2", "dependency": [1], "is_final_answer": True},
        ],
    }
    trained = prism.prepare(problem, training=True)
    copied, solved = (prism.grade(trained, text) for text in ("$v = at$", "$x = at^2/2$"))
    assert (copied.score, copied.policies["training"]) == (0.5, 0.0)
    assert (solved.score, solved.policies["training"]) == (1.0, 0.5)
    assert "training" not in prism.grade(problem, "$v = at$").policies


def test_a_failure_among_the_claims_is_an_incident_and_pays_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_named: object) -> None:
        raise ZeroDivisionError("made for this test")

    monkeypatch.setattr("prism.grading.selection.withheld_reasons", fail)
    grade = prism.grade("dags/free_fall.toml", "$v = gt$ and $s = gt^2/2$")
    assert (grade.score, [item.code for item in grade.incidents]) == (0.0, ["internal"])
    assert {item.status for item in grade.formulas} == {"withheld"}


def forget() -> None:
    """As in a new process: nothing that has been read, drawn or compared is remembered."""
    for name, module in list(sys.modules.items()):
        if name.startswith("prism"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


@pytest.mark.slow
def test_what_was_graded_before_changes_no_grade() -> None:
    prepared = prism.prepare("dags/free_fall.toml")
    texts = [student.solution for student in prepared.problem.students]
    texts += [texts[0].replace(" = ", "="), texts[0].replace("t", r"\tau"), "\n".join(reversed(texts[0].splitlines()))]
    fresh = []
    for text in texts:
        forget()
        fresh.append(prism.grade(prism.prepare("dags/free_fall.toml"), text).to_dict())
    warm = [prism.grade(prepared, text).to_dict() for text in texts]
    assert warm == fresh
    assert [prism.grade(prepared, text).to_dict() for text in reversed(texts)] == fresh[::-1]
    sent = pickle.loads(pickle.dumps(prepared))
    forget()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: prism.grade(sent, text).to_dict(), 3 * texts)) == 3 * fresh

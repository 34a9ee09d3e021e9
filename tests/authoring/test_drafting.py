"""Drafts from worked solutions: what becomes a node, which edges are seen; every draft grades its own solution."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from prism import Context, PrismError, grade, lint, load_problem
from prism.authoring.dependencies import RULES, infer_dependencies
from prism.authoring.drafting import MAX_NODES, draft
from prism.authoring.drafts import Draft
from prism.authoring.entailment import is_entailed
from prism.cli import app
from prism.latex import parse
from prism.problem.toml_writer import problem_toml

FALL = r"""
Energy is conserved,
$$\frac{1}{2} m v^2 = m g h$$
and the stone starts from rest, so $v = g t$. This gives
$$\boxed{t = \sqrt{\frac{2h}{g}} = \sqrt{\frac{2\cdot 5.00\,\mathrm{m}}{9.81\,\mathrm{m/s^2}}} = 1.01\ \mathrm{s}}$$
"""
FALL_TEXT = r"A stone of mass $m$ falls from rest through $h = 5.00\,\mathrm{m}$; $g = 9.81\,\mathrm{m/s^2}$. Find $t$."

CIRCUIT = r"""
(a) The two resistors in series carry
\[ I = \frac{U}{R_1 + R_2} \]
(b) The power in the second is
\begin{align}
P &= I^2 R_2 \\
  &= \frac{U^2 R_2}{(R_1 + R_2)^2}
\end{align}
"""
CIRCUIT_TEXT = """A source of voltage $U$ feeds two resistors $R_1$ and $R_2$ in series.
(a) Find the current $I$.
(b) Find the power $P$ in the second one."""

SPRING = r"""
Newton's law for the block is $$m\ddot x = -k x,$$ which is solved by
$$x = A\cos(\omega t)$$
with $$\omega = \sqrt{k/m}.$$
The block is not at rest at the end, since $A = 0$ would be required.
The period is $$T = \frac{2\pi}{\omega}$$
$$T = 2\pi\sqrt{\frac{m}{k}}$$
"""


def drafted(solution: str, problem: str = "", **options: Any) -> Draft:
    """A draft, seen to load from its own TOML to the same nodes, to have no fault, and to give its solution all."""
    made = draft(solution, problem=problem, **options)
    assert tomllib.loads(made.toml()) == made.data
    loaded = load_problem(made.data)
    assert [node.latex for node in loaded.nodes] == [node.latex for node in made.nodes]
    assert not [finding for finding in lint(loaded) if finding.kind == "fault"]
    assert grade(loaded, solution).score == 1.0
    return made


def formulas(made: Draft) -> list[str]:
    return [node.latex for node in made.nodes]


def edges(made: Draft) -> list[tuple[int, ...]]:
    return [tuple(edge.origin for edge in node.edges if not edge.is_implied) for node in made.nodes]


def test_a_chain_gives_its_formula_and_its_number_and_no_sum_on_the_way() -> None:
    made = drafted(FALL, FALL_TEXT, name="fall")
    assert len(made.nodes) == 4
    assert formulas(made)[2:] == [r"t = \sqrt{\frac{2 h}{g}}", r"t = 1.01 \unit{s}"]
    assert edges(made) == [(), (), (1, 2), (3,)]
    assert [node.is_final for node in made.nodes] == [False, False, False, True]
    assert {edge.why for edge in made.nodes[2].edges} == {RULES["follows"]}


def test_the_draft_says_at_each_node_why_it_is_one_and_where_its_edges_come_from() -> None:
    text = draft(FALL, problem=FALL_TEXT).toml()
    assert "# Nobody has checked it" in text.replace("Drafted by rule from a worked solution. ", "")
    assert "# Node: in a box; the answer stands in a box" in text
    assert "\n    { from = 1, why = 'it holds wherever they do; eliminated: m, v', reviewed = false },\n" in text


def test_parts_of_problem_and_solution_become_subquestions_with_their_answers() -> None:
    made = drafted(CIRCUIT, CIRCUIT_TEXT)
    assert [part["letter"] for part in made.data["subquestions"]] == ["a", "b"]
    assert made.data["subquestions"][0]["subproblem"] == "Find the current $I$."
    assert made.data["context"].endswith("in series.")
    assert [(node.letter, node.is_final) for node in made.nodes] == [("a", True), ("b", False), ("b", True)]
    assert edges(made) == [(), (), (1, 2)]


def test_two_forms_of_one_formula_are_one_node_in_the_solved_form() -> None:
    made = drafted("$$F = m a$$ $$F - m a = 0$$ $$a = \\frac{F}{m}$$ $$\\boxed{p = a m t}$$")
    assert formulas(made)[0] == "F = m a"
    assert len(made.nodes) == 2
    assert sum(each.why.startswith("the same as") for each in made.left_out) == 2


def test_a_solution_of_a_differential_equation_rests_on_it() -> None:
    made = drafted(SPRING)
    at = formulas(made).index(r"x = A \cos(\omega t)")
    assert edges(made)[at] == (1,)
    assert made.nodes[at].edges[0].why == RULES["calculus"]
    assert formulas(made)[-1] == r"T = 2 \pi \sqrt{\frac{m}{k}}"
    assert all("A = 0" not in latex for latex in formulas(made))


def test_the_answer_may_be_named() -> None:
    text = "$$v = a t$$ $$s = \\frac{1}{2} a t^2$$ $$E = m v^2/2$$"
    assert [node.is_final for node in drafted(text).nodes] == [False, False, True]
    named = drafted(text, answers=["$a t^2/2$"])
    assert formulas(named) == ["v = a t", r"s = \frac{1}{2} a t^{2}"]
    assert any(each.why == "it stands below the last answer" for each in named.left_out)
    lost = draft(text, answers=["q = 7"])
    assert "no formula of the solution is seen to state the answer q = 7" in lost.remarks


def test_what_the_problem_states_is_no_node() -> None:
    made = drafted("$$v = a t$$ $$s = v t/2$$ $$s = a t^2/2$$", "A car has $v = a t$ at the time $t$. Find $s$.")
    assert "v = a t" not in formulas(made)
    assert any(each.why.startswith("the problem states it") for each in made.left_out)


def test_what_is_not_read_or_refuted_is_left_out_with_its_reason() -> None:
    made = drafted("$$x = \\frac{1}{$$ $$u = 2 w = 5 w$$ $$y = a b$$ $$z = y c$$")
    whys = " | ".join(each.why for each in made.left_out)
    assert "not read" in whys
    assert "refuted" in whys
    assert formulas(made) == ["u = 2 w", "y = a b", "z = y c"]  # the chain holds up to the refuted link


def test_a_bare_answer_in_a_box_gets_a_name() -> None:
    assert (
        formulas(drafted(r"$$F = m a$$ The answer is $\boxed{42\,\mathrm{N}}$."))[-1] == r"\mathrm{ans} = 42 \unit{N}"
    )


@pytest.mark.parametrize("solution", ["", "Nothing but words.", "$x$ and $5$", "$$a = a$$"])
def test_a_solution_without_a_formula_is_refused_with_the_reason(solution: str) -> None:
    with pytest.raises(PrismError, match="no formula of the solution can be a node"):
        draft(solution)


@pytest.mark.parametrize(
    ("solution", "why"),
    [
        ("Symmetry requires that both have the same mass. Hence the answer is (a).", "none that is displayed"),
        (r"In the plot of a $\beta$ spectrum the tail depends on the mass. So the answer is (b).", "no relation"),
        ("(a) $FD$ statistics has two further assumptions. (b) At high $T$ it does not matter.", "no relation"),
    ],
)
def test_a_choice_or_an_argument_in_words_has_no_node_and_says_why(solution: str, why: str) -> None:
    """Of 27 worked solutions that a user drafted these were 4: a DAG of formulas cannot be made of none."""
    with pytest.raises(PrismError, match=f"no formula of the solution can be a node; .*{why}"):
        draft(solution)


def test_what_is_said_again_letter_by_letter_is_not_told() -> None:
    value = r"$$v = 4.95\,\mathrm{m/s}$$"
    made = drafted(rf"$$v = \sqrt{{2 g h}}$$ {value} again {value} so $$E = \frac12 m v^2$$ with {value}")
    assert [each.why for each in made.left_out] == []
    assert len(made.nodes) == 3


def test_a_value_in_a_sentence_is_no_node_and_told() -> None:
    """Where a solution has formulas, numbers of its sentences are none; an answer among them does not go unsaid."""
    text = r"From $h = 1.25$ m: $$v = \sqrt{2 g h} = 4.95\,\mathrm{m/s}$$ With $v = 4.95$ m/s we get $x = 0.252$ m."
    made = draft(text, problem=r"A block slides from $h = 1.25$ m; $g = 9.81$ m/s$^2$. Find $x$.")
    assert [(each.latex, each.why.partition(";")[0]) for each in made.left_out] == [
        (r"x = 0.252\,\unit{m}", "a value in the text")
    ]


@pytest.mark.slow
def test_a_long_solution_keeps_the_last_formulas() -> None:
    made = draft("".join(f"$$x_{{{k}}} = y_{{{k}}} + z$$ " for k in range(MAX_NODES + 5)))
    assert len(made.nodes) == MAX_NODES
    assert made.nodes[-1].latex.startswith(f"x_{{{MAX_NODES + 4}}}")


@settings(max_examples=15, deadline=None)
@given(st.text(st.sampled_from(list("ab=+$\\{}^_ 1.'\n\x00é")), max_size=40))
def test_no_text_raises_anything_but_that_it_has_no_formula(text: str) -> None:
    try:
        made = draft(text)
    except PrismError:
        return
    load_problem(made.data)
    assert tomllib.loads(made.toml()) == made.data


# Edges. ---------------------------------------------------------------------------------------------------------


def rules(*said: str, context: Context | None = None) -> list[dict[int, str]]:
    """The edges of the last formula being final, by origin with their rules."""
    read = [parse(text) for text in said]
    made = infer_dependencies(read, {len(read) - 1}, context or Context())
    return [{edge.origin: edge.rule for edge in mine} for mine in made.edges]


def test_a_law_that_uses_a_symbol_was_not_derived_from_what_that_is_solved_for() -> None:
    found = rules(r"\omega = 2\pi N", r"\omega = 126\unit{rad/s}", r"T = \frac{P}{\omega}", r"T = 358\unit{N m}")
    assert found == [{}, {0: "number"}, {}, {1: "value", 2: "number"}]


def test_elimination_is_seen_where_nothing_is_solved_for_the_symbol() -> None:
    found = rules(r"\frac{m v^2}{r} = \frac{k}{r^2}", "m v r = n h", r"r = \frac{n^2 h^2}{m k}")
    assert found[2] == {0: "follows", 1: "follows"}


def test_an_instance_rests_on_the_general_formula() -> None:
    assert rules("v = g t", "v_f = g t_f")[1] == {0: "instance"}


HANGS = (
    "A mass $m = 2.0$ kg hangs on a spring with $k = 50$ N/m; $g = 9.81$ m/s$^2$. "
    "Find the force $F$ and the extension $x$."
)


def test_a_formula_with_its_numbers_put_in_is_one_with_it() -> None:
    r"""The values are those of the problem, or of a number that the solution has stated before."""
    worked = (
        r"$$F = m g$$ $$F = 2.0\cdot 9.81$$ $$F = 19.6\,\mathrm{N}$$ $$x = \frac{F}{k}$$ $$x = \frac{19.6}{50}$$ "
        r"$$\boxed{x = 0.392\,\mathrm{m}}$$"
    )
    made = drafted(worked, HANGS)
    assert [node.latex for node in made.nodes] == [
        "F = m g",
        r"F = 19.6 \unit{N}",
        r"x = \frac{F}{k}",
        r"x = 0.392 \unit{m}",
    ]
    assert [edge.origin for edge in made.nodes[3].edges] == [2, 3]
    near = worked.replace(r"2.0\cdot 9.81", r"3.0\cdot 9.81").replace("19.6", "29.4").replace("0.392", "0.588")
    assert r"F = 3.0 \cdot 9.81" in [node.latex for node in drafted(near, HANGS).nodes]


def test_a_number_that_is_no_given_value_as_it_is_written_is_not_put_in() -> None:
    r"""A draft failed altogether at such a number, `\mu = 4\pi\cdot 10^{-4}`; the others are still put in."""
    worked = (
        r"$$\mu = 4\pi\cdot 10^{-4}\,\mathrm{H/m}$$ $$F = 19.6\,\mathrm{N}$$ $$x = \frac{F}{k}$$ "
        r"$$x = \frac{19.6}{50}$$ $$\boxed{B = \mu x}$$"
    )
    made = drafted(worked, HANGS)
    assert [node.latex for node in made.nodes][1:] == [r"F = 19.6 \unit{N}", r"x = \frac{F}{k}", r"B = \mu x"]


def test_an_answer_that_no_rule_leads_to_rests_on_the_last_formula_with_two_of_its_symbols() -> None:
    """Not so an answer that shares fewer, or shares them with another answer alone."""
    formulas = [parse(text) for text in ("U = C V^2 x / b", "F = dU/dx", "F = C V^2 k / 2", "G = C V^2 k / 3")]
    made = infer_dependencies(formulas, {2, 3}, Context())
    assert [(edge.origin, edge.rule) for edge in made.edges[2]] == [(0, "last"), (1, "next")]
    assert [(edge.origin, edge.rule) for edge in made.edges[3]] == [(0, "last")]
    alone = infer_dependencies([formulas[0], formulas[2], parse("p = k q r s")], {1, 2}, Context())
    assert alone.edges[2] == ()


def test_a_law_beside_a_loose_formula_is_asked_about_and_not_drawn() -> None:
    """The second merely uses the first; the last is the answer, which the first is kept for."""
    formulas = [parse(text) for text in ("a = b + c", "d = a^2 x e", "p = d s / w", "q = p s + f")]
    made = infer_dependencies(formulas, {3}, Context())
    assert [(each.origin, each.rule) for each in made.doubtful[1]] == [(0, "beside")]
    assert [edge.origin for edge in made.edges[1]] == []
    assert (0, "answer") in [(edge.origin, edge.rule) for edge in made.edges[3]]


def test_a_number_that_no_formula_names_is_asked_about() -> None:
    formulas = [parse(text) for text in ("E = m c^2", "E = 5.0", "T = 2.0", "s = 3.0")]
    made = infer_dependencies(formulas, {3}, Context())
    assert [(each.origin, each.rule) for each in made.doubtful[2]] == [(1, "step")]
    assert made.doubtful[3] == ()  # drawn, since the answer is what is left


def test_a_derivative_keeps_the_other_symbols() -> None:
    found = rules("x = a t^2 + b t + c + d", "F = m \\frac{dx}{dt} + k")
    assert "calculus" not in found[1].values()


def test_a_formula_that_leads_nowhere_is_given_to_the_next_that_has_its_symbol_or_to_the_answer() -> None:
    found = rules("a = b + c", "q = s w", "d = a^2 x e")
    assert found[2] == {0: "next", 1: "answer"}


def test_follows_needs_all_premises_and_no_new_symbol() -> None:
    first, second, third = (parse(text) for text in ("v = g t", r"h = \frac{g t^2}{2}", r"v = \sqrt{2 g h}"))
    assert is_entailed(third, [first, second], Context()) is True
    assert is_entailed(third, [first], Context()) is False
    assert is_entailed(parse("v = 2 g t"), [first], Context()) is False
    assert is_entailed(parse("p = m v"), [first], Context()) is False
    assert is_entailed(parse("F = -m g s"), [parse("F = m a"), parse("a = -g s")], Context()) is True


# The file. ------------------------------------------------------------------------------------------------------

HOSTILE = st.text("'\"\\\n\r\t #=[]{}\x00\x7f\u2028é", max_size=12) | st.text(max_size=12)


@settings(max_examples=100, deadline=None)
@given(HOSTILE, HOSTILE)
def test_toml_is_read_back_as_what_was_written(text: str, key: str) -> None:
    data = {
        "id": text, "context": text, "givens": {key: text}, "symbols": {}, "definitions": [text, key],
        "grading_standard": [{"index": 1, "formula": text, "dependency": [], "points": 0.25, "accept": [text, key]}],
        "metadata": {key: {"a": [text, {key: text}], "b": True, "c": [1, 2.5]}},
    }  # fmt: skip
    read = tomllib.loads(problem_toml(data, head=[text], notes={1: [text, key]}))
    assert read == {name: value for name, value in data.items() if value != {}}


def test_latex_stays_as_it_is_in_toml() -> None:
    text = problem_toml({"id": "x", "context": "$v'$ of\n$\\vec v$", "grading_standard": [{"formula": "\\frac{1}{2}"}]})
    assert "formula = '\\frac{1}{2}'" in text
    assert "context = '''\n$v'$ of\n$\\vec v$'''" in text


def test_what_toml_does_not_have_is_refused() -> None:
    with pytest.raises(PrismError, match="has no place"):
        problem_toml({"id": float("nan")})
    assert problem_toml({"id": "x", "title": None}) == "id = 'x'\n"


PARTS = "A stone of mass $m$ falls from the height $h$ with $g$.\n(a) Find its speed $v$.\n(b) Find its momentum $p$."
BOXED = r"""(a) $$\frac{1}{2} m v^2 = m g h$$ so $$\boxed{v = \sqrt{2 g h}}$$

(b) $$p = m v$$ and $$\boxed{p = m \sqrt{2 g h}}$$
"""


@pytest.mark.parametrize(("text", "answer", "finals"), [
    (BOXED, r"v = \sqrt{2gh}", [("a", r"v = \sqrt{2 g h}"), ("b", r"p = m \sqrt{2 g h}")]),
    (BOXED + "$$E = m g h$$", "E = m g h", [("a", r"v = \sqrt{2 g h}"), ("b", "E = m g h")]),
    ("(a) $$v = \\sqrt{2 g h}$$ $$t = \\frac{v}{g}$$\n\n(b) $$p = m v$$", r"v = \sqrt{2 g h}",
     [("a", r"v = \sqrt{2 g h}"), ("b", "p = m v")]),
])  # fmt: skip
def test_a_named_answer_replaces_those_of_its_part_only(text: str, answer: str, finals: list[tuple[str, str]]) -> None:
    made = draft(text, problem=PARTS, answers=[answer])
    assert [(node.letter, node.latex) for node in made.nodes if node.is_final] == finals
    (named,) = [node for node in made.nodes if "it is the answer that was named" in node.why]
    assert named.is_final


def test_boxes_beside_a_named_answer_are_told_where_no_parts_are_marked(tmp_path: Path) -> None:
    solution = tmp_path / "s.md"
    solution.write_text(BOXED, encoding="utf-8")
    words = ["draft", str(solution), "-o", str(tmp_path / "s.toml"), "--answer", r"v = \sqrt{2 g h}"]
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, "1 final answer" in done.stdout) == (0, True)
    assert r"in a box, and no answer beside what was named: p = m \sqrt{2 g h}; name it too" in done.stderr
    both = CliRunner().invoke(app, [*words, "--answer", r"p = m \sqrt{2 g h}", "--force"])
    assert ("2 final answers" in both.stdout, both.stderr) == (True, "")


# What data sets showed ---------------------------------------------------------------------------------------------

PLAIN = """**Given:**
- A = 12.5 m^2
- k = 0.9 W/(m K)

**Step 1:** The law of Fourier
q = k*A*dT/L

**Step 2:** With the numbers
q = 0.9*12.5*16/0.25 = 720 W

"""


def finals(made: Draft) -> list[str]:
    return [node.latex for node in made.nodes if node.is_final]


@pytest.mark.parametrize(
    "answer", ["**Answer:** 720 W", "**Answer:** q = 720 W", "**Answer:** The rate is 720 W (or so)"]
)
def test_an_answer_line_marks_the_number_that_a_chain_ends_with(answer: str) -> None:
    made = drafted(PLAIN + answer)
    assert formulas(made) == [r"q = k A \frac{d \cdot T}{L}", r"q = 720 \unit{W}"]
    assert finals(made) == [r"q = 720 \unit{W}"]
    assert edges(made) == [(), (1,)]


def test_numbers_at_the_end_of_a_chain_are_nodes_also_on_the_way() -> None:
    made = drafted("A = pi*d**2/4 = 3.1416*0.5**2/4 = 0.19635 m^2\n\nV = Q/A = 0.3/0.19635 = 1.528 m/s")
    assert formulas(made)[1::2] == [r"A = 0.19635 \unit{m^{2}}", r"V = 1.528 \unit{m/s}"]
    assert finals(made) == [r"V = 1.528 \unit{m/s}"]


@pytest.mark.parametrize(
    ("end", "final"),
    [
        (r"Substitution gives $p = 8.7\,\mathrm{kPa}$.", r"p = 8.7 \unit{kPa}"),
        (r"In any event, the pressure is $p=8.7 \mathrm{~kPa}$ (since $1\,\mathrm{Pa} = 1\,\mathrm{N/m^2}$).",
         r"p = 8.7 \unit{kPa}"),
        (r"This holds for $T = 300\,\mathrm{K}$.", r"p = \frac{n R T}{V}"),
        (r"Here $n$ is the amount.", r"p = \frac{n R T}{V}"),
        (r"We are done, using $R = 8.31$ J/(mol K) and $T = 300.5$ K.", r"p = \frac{n R T}{V}"),
    ],
)  # fmt: skip
def test_the_number_that_a_solution_ends_with_is_the_answer_and_not_the_law_before_it(end: str, final: str) -> None:
    made = drafted(r"The law of gases is $$p V = n R T$$ so that $$p = \frac{n R T}{V}$$ " + end)
    assert finals(made) == [final] or (final.startswith(r"p = \frac") and finals(made) == ["p V = n R T"])


def test_each_part_ends_in_its_own_number() -> None:
    text = "A wire carries a current. (a) Find the voltage $U$. (b) Find the power $P$."
    made = drafted("(a) $$U = R I$$ which is $U = 12.0$ V. (b) $$P = U I$$ which is $P = 36.0$ W.", text)
    assert finals(made) == [r"U = 12.0 \unit{V}", r"P = 36.0 \unit{W}"]


def test_a_box_says_what_the_answer_is_whatever_number_stands_behind_it() -> None:
    made = drafted(r"$$\boxed{v = g t}$$ For example $v = 9.8\,\mathrm{m/s}$ after a second.")
    assert finals(made) == ["v = g t"]


def test_plain_names_are_symbols_with_an_index() -> None:
    made = drafted("Step 1: Tc = 8*a/(27*R*b)\nStep 2: Tc = 8*0.364/(27*8.314*4.27e-5) = 303.8 K\n**Answer:** 303.8 K")
    assert formulas(made) == [r"T_c = 8 \frac{a}{27 R b}", r"T_c = 303.8 \unit{K}"]
    assert finals(made) == [r"T_c = 303.8 \unit{K}"]
    loaded = load_problem(made.data)
    for claim in ("Tc = 303.8 K", r"$T_c = 303.8\,\mathrm{K}$"):
        assert grade(loaded, claim).final_correct


def test_a_word_whose_letters_are_quantities_is_no_name() -> None:
    made = drafted("p V = n R T, and pV = 2 n E, so E = R T/2")
    assert not [latex for latex in formulas(made) if "_" in latex]


def test_values_with_letters_of_units_are_no_laws_and_imperial_units_are_read() -> None:
    made = drafted("P = F/A\nP = 200 lbf / 4 in^2 = 50 psi\n**Answer:** 50 psi")
    assert formulas(made)[0] == r"P = \frac{F}{A}"
    assert len(made.nodes) == 2
    assert finals(made)[0].endswith(r"= 50 \unit{psi}")
    made = drafted("Q = U*A*Tm = 50*120*30 = 180000 Btu/hr")
    assert grade(load_problem(made.data), r"$Q = 180000\,\mathrm{Btu/h}$").final_correct


@pytest.mark.parametrize("answer", ["v = 6 m/s, s = 9 m", "6 m/s and 9 m"])
def test_an_answer_line_may_name_several_numbers(answer: str) -> None:
    made = drafted(f"Step 1: v = a*t = 2*3 = 6 m/s\nStep 2: s = v*t/2 = 6*3/2 = 9 m\n**Answer:** {answer}")
    assert finals(made) == [r"v = 6 \unit{m/s}", r"s = 9 \unit{m}"]


def test_a_box_of_a_value_makes_the_formula_before_it_the_answer() -> None:
    made = drafted(r"$$E = \frac{1}{2} m v^2 = 25\,\mathrm{J}$$ Hence $\boxed{25\,\mathrm{J}}$")
    assert formulas(made) == [r"E = \frac{1}{2} m v^{2}", r"E = 25 \unit{J}"]
    assert finals(made) == [r"E = 25 \unit{J}"]
    loaded = load_problem(made.data)
    assert grade(loaded, r"\boxed{25\,\mathrm{J}}").final_correct
    assert grade(loaded, r"$E = 25\,\mathrm{J}$").final_correct


def test_a_given_value_with_letters_of_units_is_no_node() -> None:
    made = drafted("- Flow Q = 0.02 m^3/s\nP = rho*g*Q*H = 1000*9.81*0.02*30 = 5886 W\n**Answer:** 5.89 kW")
    assert formulas(made) == [r"P = \rho g Q H", r"P = 5886 \unit{W}"]

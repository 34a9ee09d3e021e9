"""Macros: what a table may hold, where a formula of an expanded text stands, and what bounds the expansion."""

from __future__ import annotations

from time import perf_counter

import pytest

import prism
from prism.budget import share
from prism.errors import DataFileError, LatexSyntaxError
from prism.latex import extract
from prism.latex.macros import MAX_ADDED, MAX_MACROS, Macro, defined_macros, expand, is_of_latex, read_macros

VC = {"vc": Macro(r"\vec{#1}", 1), "x": Macro("abc"), "e": Macro("")}


def test_spans_point_at_the_use_in_the_text() -> None:
    text = r"\newcommand{\eqs}[2]{#1 = #2} So $\eqs{v}{gt} + 1$, then $w = \eqs ab$ and $z = 1$."
    written = [(text[slice(*item.span)], item.latex) for item in extract(text)]
    assert written == [
        (r"\eqs{v}{gt} + 1", "v = gt + 1"), (r"w = \eqs ab", "w = a = b"), ("z = 1", "z = 1"),
    ]  # fmt: skip


def test_every_offset_behind_and_before_a_use_is_mapped_both_ways() -> None:
    text = r"p \vc{F} q \x r \e s"
    page = expand(text, VC)
    assert page.text == r"p \vec{F} q abc r  s"
    for letter in "pqrs":
        new, old = page.text.index(f"{letter}"), text.index(letter)
        assert page.span_in_original((new, new + 1)) == (old, old + 1)
        assert page.offset_in_text(old) == new
    inner = page.text.index("F")
    assert page.span_in_original((inner, inner + 1)) == (2, 8)  # a use is never cut


def test_a_text_defines_before_a_given_macro() -> None:
    text = r"\newcommand{\vc}[1]{\hat{#1}} $\vc n$"
    assert [item.latex for item in extract(text, macros=VC)] == [r"\hat{n}"]
    assert [item.latex for item in extract(r"$\vc n$", macros=VC)] == [r"\vec{n}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        r"\def\a{\b\b\b\b}\def\b{\c\c\c\c}\def\c{\d\d\d\d}\def\d{\e\e\e\e}\def\e{" + "x" * 900 + r"} $\a$",
        r"\def\a#1{" + "#1" * 400 + r"}\def\b#1{\a{\a{#1}}} $\b{" + "x" * 900 + "}$",
        r"\def\x#1{#1} " + r"$\x{" * 40_000,
        r"\def\x{1} " + r"$\x$ " * 30_000,
        r"%" + r"\def\x{1}" * 20_000,
        r"\def\x" * 30_000,
    ],
)
def test_an_expansion_is_bounded(text: str) -> None:
    began = perf_counter()
    with share(1_000_000_000) as account:
        found = extract(text)
    assert perf_counter() - began < 20
    assert not account.is_exhausted
    assert all(len(item.latex) <= MAX_ADDED + len(text) for item in found)


def test_macros_beyond_the_limit_are_not_read() -> None:
    names = ["m" + "".join("abcdefghij"[int(digit)] for digit in str(n)) for n in range(MAX_MACROS + 5)]
    found = defined_macros(" ".join(rf"\def\{name}{{1}}" for name in names))
    assert list(found) == names[:MAX_MACROS]


@pytest.mark.parametrize(
    "name", ["frac", "sqrt", "vec", "alpha", "sin", "text", "le", "mathbf", "boxed", "quad", "left"]
)
def test_commands_of_latex_are_kept(name: str) -> None:
    assert is_of_latex(name)


@pytest.mark.parametrize("name", ["SI", "dv", "abs", "ket", "der", "R", "half", "tg", "Tr", "vb", "d"])
def test_commands_of_packages_and_authors_are_theirs(name: str) -> None:
    assert not is_of_latex(name)


def test_all_faults_of_a_table_are_told() -> None:
    faults: list[str] = []
    table = {"frac": "x", "a b": "y", r"\p": r"\q", "q": r"\p", "z": "{", "w": "#2", "n": 3, r"\ok": "#1^2", "ok": "1"}
    assert read_macros(table, faults)["ok"] == Macro("#1^2", 1)
    named = [fault.partition(":")[0] for fault in faults]
    assert named == [
        "macros, frac", "macros, a b", "macros, z", "macros, w", "macros, n", "macros, ok", r"macros, \p",
        r"macros, \q",
    ]  # fmt: skip
    assert read_macros([1], faults) == {}
    with pytest.raises(DataFileError, match="macros, frac: is a command of LaTeX"):
        prism.Context.from_dict({"macros": {"frac": "x"}})


def test_a_context_and_an_error_know_macros() -> None:
    context = {"macros": {r"\der": r"\frac{d#1}{d#2}"}, "definitions": [r"a = \der vt"]}
    assert str(prism.parse(r"F = m\der{v}{t}", context=context)) == "F = m*derivative[1](v, t)"
    assert prism.equivalent(r"a = \der vt", r"\frac{dv}{dt} = a", context=context).status == "equivalent"
    assert prism.equivalent(r"a = \der vt", r"\frac{dv}{dt} = 2a", context=context).status == "different"
    with pytest.raises(LatexSyntaxError) as caught:
        prism.parse(r"\der vt = )", context=context)
    assert (caught.value.latex, caught.value.position) == (r"\der vt = )", 10)


def test_what_the_text_of_a_problem_defines_holds_for_nodes_and_solutions() -> None:
    node = {"index": 1, "formula": r"\vc F = m \vc a", "dependency": [], "is_final_answer": True}
    context = r"\newcommand{\vc}[1]{\vec{#1}} \renewcommand{\frac}[1]{} A force $\vc F$ on the mass $m$."
    loaded = prism.load_problem({"id": "p", "context": context, "grading_standard": [node]})
    assert str(loaded.nodes[0].formula) == r"\vec{F} = m*\vec{a}"
    assert prism.grade(loaded, r"$\vc F/m = \vc a$").matched == (1,)


def test_a_problem_s_own_macros_go_before_those_beside_it() -> None:
    node = {"index": 1, "formula": r"\vc F = m \acc", "dependency": [], "is_final_answer": True}
    problem = {
        "id": "p", "context": r"A force $\vc F$ on the mass $m$.", "macros": {"acc": r"\vec a"},
        "grading_standard": [node],
    }  # fmt: skip
    beside = {r"\acc": r"\vec g", r"\vc": r"\vec{#1}"}
    loaded = prism.load_problem(problem, macros=beside)
    assert str(loaded.nodes[0].formula) == r"\vec{F} = m*\vec{a}"
    assert loaded.statement == r"A force $\vec{F}$ on the mass $m$."
    assert prism.grade(loaded, r"$\vc F/m = \acc$").matched == (1,)
    plain = prism.load_problem(problem | {"macros": {**beside, r"\acc": r"\vec a"}})
    assert loaded.context.digest == plain.context.digest != prism.Context().digest
    assert prism.load_problems(problem, macros=beside)["p"].sha256 == loaded.sha256 != plain.sha256

"""How a text has its letters, and what the text in the name of a symbol says."""

from __future__ import annotations

import pytest

from prism.algebra.expr import symbol
from prism.latex import parse
from prism.latex.parsing.marks import WrittenMarks, condition_in, worded_condition, written_marks


@pytest.mark.parametrize(
    ("latex", "called"),
    [
        (r"f\left(\frac tT\right) + f (0)", {"f"}),
        ("f(x) + f", set()),
        ("f^2(x) + f(x)", set()),
        (r"\frac{df}{dx} = f(x)", {"f"}),
        ("W = mg(h - x) + 2g(0)", {"g"}),
        ("W = mg(h - x)", set()),
        (r"\langle f\rangle + f(x)", {"f"}),
        (r"g_{0}'\big(t\big) + g_0 t", {"g'_0"}),
    ],
)
def test_a_letter_is_called_that_stands_before_brackets_only(latex: str, called: set[str]) -> None:
    assert written_marks(latex).called == called


@pytest.mark.parametrize(
    ("latex", "dotted"),
    [
        (r"\dot x + \ddot{y}_1 + \dot{\vec{r}}", {"x", "y_1", r"\vec{r}"}),
        (r"\frac{dx}{dt} + \dv{y}{t} + z''", set()),
    ],
)
def test_dots_are_told_from_other_derivatives(latex: str, dotted: set[str]) -> None:
    assert written_marks(latex).dotted == dotted


def test_an_inverse_and_the_order_of_arguments_are_seen() -> None:
    marks = written_marks(r"f^{ - 1}\left(x\right) + g(t,x) + h(2 x)")
    assert sorted(marks.inverted) == ["f"]
    assert sorted(marks.arguments) == [("g", ("t", "x"))]


def test_a_text_that_is_not_read_has_no_marks() -> None:
    assert written_marks(r"f(x") == WrittenMarks()


@pytest.mark.parametrize(
    ("text", "said"),
    [(r"i<j", "i < j"), (r"r\le R", "r <= R"), (r"j=1\\j\ne i", "j = 1 and j != i"), (r"\text {otherwise}", "None")],
)
def test_the_text_in_a_name_is_read_as_a_formula(text: str, said: str) -> None:
    assert str(condition_in(symbol(text))) == said


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (r"\text{otherwise}.", "otherwise"),
        (r"\mathrm{else}", "otherwise"),
        (r"\text{for even } n", "relation[in](n, even)"),
        (r"\text{if } \ell \text{ is odd},", r"relation[in](\ell, odd)"),
        ("n > 2", "relation[>](n, 2)"),
        (r"\text{if } n = 2, 4", r"\text {if}n=2,4"),
    ],
)
def test_a_case_in_words_is_read(condition: str, said: str) -> None:
    f = parse(rf"f = \begin{{cases}} 1 & x > 0 \\ 0 & {condition} \end{{cases}}")
    assert str(worded_condition(f.members[1].args[1].args[1])) == said

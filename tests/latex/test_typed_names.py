"""Words of plain text that are names of the problem: which are read, which are left, which are refused."""

from __future__ import annotations

import pytest

from prism.latex import extract
from prism.latex.extraction.typed_names import typed_names

SYMBOLS = frozenset(
    (r"v_{fx}", "h_{max}", r"\omega_0", r"\theta", "P_a", "p", "m_1", "v_1", "m_2", "v_2", "x", "L", "a", "t", "a_t")
)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("vfx = 3", "v_{fx} = 3"),
        ("hmax = 30 m", r"h_{max} = 30\,\unit{m}"),
        ("So 2hmax = 3.", "2h_{max} = 3"),
        ("x = omega0 L", r"x = \omega_{0} L"),
        ("x = Lcos(pix/L)", r"x = L\cos(\pi x/L)"),
        ("p = m1v1 + m2v2cos(theta)", r"p = m_1 v_1 + m_2 v_2\cos(\theta)"),
        ("p = 20 Pa", r"p = 20\,\unit{Pa}"),
        ("p = Pa/2", "p = P_a/2"),
        ("x = hmaxx", "x = h_{max} x"),
        ("vfx^2 = 9", "v_{fx}^{2} = 9"),
        ("x_hmax = 3", "x_{hmax} = 3"),
    ],
)
def test_what_is_typed_is_read_by_the_names_of_the_problem(text: str, latex: str) -> None:
    assert [item.latex for item in extract(text, symbols=SYMBOLS)] == [latex]


@pytest.mark.parametrize("text", ["x = at", "x = 2 + at"])
def test_a_name_that_is_a_product_too_is_refused(text: str) -> None:
    assert not extract(text, symbols=SYMBOLS)
    assert extract(text)


@pytest.mark.parametrize("text", ["the hmax of the ball", "at hmax the ball rests", "$vfx = 3$", r"\(hmax = 3\)"])
def test_prose_and_latex_are_as_without_names(text: str) -> None:
    assert list(extract(text, symbols=SYMBOLS)) == list(extract(text))


def test_a_word_of_the_sentence_parts_formulas_though_it_is_a_name() -> None:
    ball = frozenset(("B_{all}", "v", "F_{or}"))
    assert [item.latex for item in extract("Ball: v = 3, For v = 4", symbols=ball)] == ["v = 3", "v = 4"]


def test_a_function_within_a_word_takes_a_name_and_no_letter() -> None:
    typed = typed_names(frozenset(("v_2", r"\theta", "c", "x")))
    assert typed.latex_of("v2costheta") == r"v_2 \cos \theta"
    assert [typed.latex_of(word) for word in ("sinc", "v2sinc", "v2cosx")] == ["", "", ""], "sinc is a function"

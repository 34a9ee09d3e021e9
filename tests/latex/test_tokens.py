"""Flat tokens, spelling of names, and the disambiguated tokens that the grammar gets."""

from __future__ import annotations

import pytest

from prism.latex.parsing.disambiguate import disambiguate_formula
from prism.latex.parsing.names import spell_name
from prism.latex.parsing.tokens import MAX_LENGTH, MAX_TOKENS, Fault, tokenize


def shapes(latex: str) -> str:
    return " ".join(token.type for token in disambiguate_formula(latex).tokens)


@pytest.mark.parametrize(
    ("latex", "types"),
    [
        ("1/2 m", "NUM SLASH NUM TIMES SYM"),
        (r"h/2\pi", "SYM SLASH NUM CONST"),
        (r"\sin 2x y \cos z", "FUNCTION LG NUM SYM SYM RG FUNCTION SYM"),
        ("dx/dt", "DERIVATIVE SYM SYM"),
        ("x(t)", "SYM"),
        ("|x|", "LBAR SYM RBAR"),
        (r"3\unit{km/h}", "NUM FRAC LG UNIT RG LG UNIT RG"),
        (r"\int f dx", "INTEGRAL LG SYM RG LG SYM RG"),
    ],
)
def test_ambiguity_is_settled_in_the_stream(latex: str, types: str) -> None:
    assert shapes(latex) == types


def test_positions_are_those_of_the_author() -> None:
    tokens = tokenize(r"$ \alpha + ½ x $")
    assert [(token.text, token.pos) for token in tokens if token.text in (r"\alpha", "+", "x")] == [
        (r"\alpha", 2), ("+", 9), ("x", 13),
    ]  # fmt: skip


def test_gaps_are_remembered() -> None:
    assert [token.gap for token in tokenize(r"a b\,c\quad d")][:4] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("latex", "name"),
    [(r"\mathrm{v}, m", "v,m"), (r"\alpha x", r"\alpha x"), (r"e x t", "ext"), (r"\pi^2", r"\pi^2"), (r"i_1", "i_1")],
)
def test_one_spelling_inside_a_name(latex: str, name: str) -> None:
    assert spell_name(tokenize(latex)[:-1]) == name


@pytest.mark.parametrize("latex", ["x" * (MAX_LENGTH + 1), "a+" * (MAX_TOKENS // 2) + "a"])
def test_limits_of_size(latex: str) -> None:
    with pytest.raises(Fault, match="at most"):
        disambiguate_formula(latex)


@pytest.mark.parametrize("latex", ["x_{\ud800} = 1", "x = \\begin{cases}\ud800\\end{cases}", "\\text{\ud800}"])
def test_half_a_character_is_refused_wherever_it_stands(latex: str) -> None:
    with pytest.raises(Fault, match="which is not read"):
        tokenize(latex)

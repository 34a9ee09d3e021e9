"""What the rows of `tests/cases/statements/` do not say: spans, hostile texts, and that reading is not quadratic."""

from __future__ import annotations

import pytest

from prism.physics.quantities import read_quantity
from prism.problem.statement import ProblemText, read_problem_text


def test_spans_hold_the_formula_and_its_unit() -> None:
    text = r"A mass of $m=2$ kg at $T=25^\circ$C, and $L_c = V/A$."
    found = read_problem_text(text)
    assert [text[slice(*value.span)] for value in found.givens] == ["m=2$ kg", r"T=25^\circ$C"]
    assert [text[slice(*one.span)] for one in found.definitions] == ["L_c = V/A"]


def test_nothing_is_stated_by_an_empty_text() -> None:
    assert read_problem_text("") == ProblemText()


@pytest.mark.parametrize(
    "text",
    [
        "$",
        "$$$$",
        "$m = $ kg",
        "$m = 1/0$ kg",
        "$m = 10^{99999}$ kg",
        "$m = 2^{9999999}$",
        r"$m = \pi^{\pi}$",
        "§ $m = 2$ § kg \x00",
        "at " * 3000 + "$x = 2$ m",
        "(" * 3000 + "$x = 2$ m",
        "when, " * 3000 + "$v = 2$ m",
        "$v = 2$ " + "m " * 3000,
        "$v = 2$ m/s$^" * 300,
        r"$a = b = c = d = 2\,\mathrm{m}$ to $3$",
        "$m = 2$\u202fkg und $T = 20$\xa0\u2103",
    ],
)
def test_no_text_raises(text: str) -> None:
    found = read_problem_text(text)
    for value in (*found.givens, *found.conditions):
        read_quantity(value.text)


def test_a_symbol_is_given_once_and_never_zero() -> None:
    found = read_problem_text(r"Here $m = 2$ kg, $m = 2$ kg, $v = 0$, $q = 1$ C and $q = 2$ C.")
    assert [value.name for value in found.givens] == ["m"]
    assert found.ambiguous == ("q",)
    assert [value.name for value in found.conditions] == ["v"]

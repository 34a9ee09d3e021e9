"""Plans: what follows from what, in which order, and where a quantity has no value or two."""

from __future__ import annotations

from fractions import Fraction

import pytest

from prism.generation.exact_values import as_fraction, full_precision
from prism.generation.solving import (
    Unsolved,
    broken_relation,
    plan_steps,
    relations_of,
    work_out_step,
)
from prism.latex import parse


def solved(formulas: list[str], wanted: str, signed: frozenset[str] = frozenset(), /, **given: str) -> float | None:
    relations = [each for k, latex in enumerate(formulas, start=1) for each in relations_of(parse(latex), k)]
    steps = plan_steps(relations, given, [wanted], signed)
    if steps is None:
        return None
    with full_precision():
        values = {name: Fraction(text) for name, text in given.items()}
        for step in steps:
            values[step.name] = work_out_step(step, values)
        assert broken_relation(relations, values) is None
        return float(as_fraction(values[wanted]))


@pytest.mark.parametrize(
    ("formulas", "wanted", "given", "value"),
    [
        (["v = a t"], "t", {"v": "10", "a": "4"}, 2.5),
        (["v^2 = 2 a s"], "v", {"a": "2", "s": "9"}, 6),
        (["v_0^2 = 2 a s", "a = g/2"], "s", {"v_0": "6", "g": "4"}, 9),  # the order of the nodes does not matter
        ([r"\frac{1}{f} = \frac{1}{p} + \frac{1}{q}"], "q", {"f": "12", "p": "20"}, 30),
        (["m a = m g - T", "M a = T - M g"], "a", {"m": "3", "M": "2", "g": "10"}, 2),
        (["m a = m g - T", "M a = T - M g"], "T", {"m": "3", "M": "2", "g": "10"}, 24),
        (["x + y + z = 6", "x - y = 1", "y - z = 1"], "z", {}, 1),
        (["x^2 + x = 12"], "x", {}, 3),
        ([r"\sin a = 1/2", r"b = 6 a"], "b", {}, 3.14159265358979),
        (["N = M e^{-k t}"], "k", {"N": "1", "M": "2", "t": "1"}, 0.693147180559945),
        (["a = b = 3", "c = 2 b"], "c", {}, 6),
        ([r"W = \int_0^d F dx", "W = F d"], "W", {"F": "2", "d": "3"}, 6),  # the integral gives nothing
    ],
)
def test_values(formulas: list[str], wanted: str, given: dict[str, str], value: float) -> None:
    assert solved(formulas, wanted, **given) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("formulas", [["x = y + z"], [r"x = \int_0^1 y dy"], ["x^5 + x = 1"], ["x < 3"]])
def test_what_determines_nothing(formulas: list[str]) -> None:
    assert solved(formulas, "x") is None


@pytest.mark.parametrize(
    ("formula", "why"),
    [("x^2 = -1", "no value"), ("x^2 - 3 x + 2 = 0", "two values"), (r"\sin x = 2", "no value"), ("x = x", "no value")],
)
def test_no_value_and_two(formula: str, why: str) -> None:
    with pytest.raises(Unsolved, match=why):
        solved([formula], "x")


def test_a_symbol_of_either_sign_has_two_roots() -> None:
    assert solved(["x^2 = 4"], "x") == 2
    with pytest.raises(Unsolved, match="two values"):
        solved(["x^2 = 4"], "x", frozenset(["x"]))


def test_formulas_that_differ() -> None:
    relations = [each for k, latex in enumerate(["v = a t", "v = 2 a t"]) for each in relations_of(parse(latex), k)]
    values = {"a": Fraction(2), "t": Fraction(3), "v": Fraction(6)}
    broken = broken_relation(relations, values)
    assert broken is not None
    assert broken.index == 1

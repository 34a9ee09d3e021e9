"""Roots of equations without a closed form: by hand, none, several, and what stays open."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from prism.algebra.expr import Expr
from prism.errors import DataFileError
from prism.generation.enclosures import UNKNOWN, enclosing, span_of
from prism.generation.exact_values import as_ball, as_fraction, digits, evaluate, full_precision
from prism.generation.instances import Unsatisfiable, generate
from prism.generation.preparing import prepare_template
from prism.generation.root_search import find_roots, implicit_equation
from prism.generation.solving import Ambiguous, Unsolved, broken_relation, plan_steps, relations_of, work_out_step
from prism.latex import parse


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with full_precision():
        yield


def root(formulas: list[str], signed: str = "", domain: tuple[str, str] | None = None, /, **given: str) -> str:
    """Twelve figures of the x of formulas, which have to hold for it."""
    relations = [each for k, latex in enumerate(formulas, start=1) for each in relations_of(parse(latex), k)]
    domains = {"x": (Fraction(domain[0]), Fraction(domain[1]))} if domain else {}
    assert plan_steps(relations, given, ["x"], frozenset(signed)) is None  # no closed form
    steps = plan_steps(relations, given, ["x"], frozenset(signed), domains)
    assert steps is not None
    values: dict[str, Any] = {name: Fraction(text) for name, text in given.items()}
    for step in steps:
        values[step.name] = work_out_step(step, values)
    assert broken_relation(relations, values) is None
    return digits(values["x"], 12)


@pytest.mark.parametrize(
    ("formulas", "given", "value"),
    [
        (["x^3 + x = 10"], {}, "2.00000000000"),  # 8 + 2
        (["x^5 = 30 + x"], {}, "2.00000000000"),  # 32
        (["x e^x = c"], {"c": "1"}, "0.567143290410"),  # the omega constant
        (["x = 5 (1 - e^{-x})"], {}, "4.96511423174"),  # Wien's; 0 is no positive root
        ([r"\cos x = x"], {}, "0.739085133215"),  # Dottie's number
        (["x^x = 27"], {}, "3.00000000000"),
        ([r"\sqrt{x - 1} + x^3 = 9"], {}, "2.00000000000"),  # undefined below 1
        ([r"\frac{1}{(x - 2)^2} = x^3 - 26"], {}, "3.00000000000"),  # a pole at 2
        ([r"M = x - q \sin x"], {"M": "1", "q": "0.5"}, "1.49870113352"),  # Kepler
        (["q = a + b", "a = s (x^4 - 81)", "b = h (x - 3)"], {"q": "185", "s": "1", "h": "10"}, "4.00000000000"),
        (["x^3 + x = c"], {"c": "1e60"}, r"1.00000000000\times 10^{20}"),
        (["x^3 + k x = c"], {"k": "1e-60", "c": "1e-90"}, r"6.82327803828\times 10^{-31}"),
    ],
)  # fmt: skip
def test_roots_by_hand(formulas: list[str], given: dict[str, str], value: str) -> None:
    assert root(formulas, **given) == value


def test_friction_factor_of_a_rough_pipe() -> None:
    """Colebrook's equation at Re = 1e5 and a roughness of 0.001: Moody's chart has 0.0222."""
    latex = r"\frac{1}{\sqrt{x}} = -2 \log_{10}(\frac{r}{3.7} + \frac{2.51}{R \sqrt{x}})"
    assert root([latex], r="0.001", R="1e5").startswith("0.02217")


def test_a_symbol_of_either_sign() -> None:
    assert root(["x^3 + x = -10"], "x") == "-2.00000000000"
    assert root(["x^5 + x = 0"], "x") == "0"
    with pytest.raises(Unsolved, match="node 1 gives x no value"):
        root(["x^3 + x = -10"])


def test_several_roots_are_named_and_none_is_chosen() -> None:
    with pytest.raises(
        Ambiguous, match=r"node 1 gives x not one value, .* the values 1\.000, 2\.000, 3\.000; a `domain`"
    ):
        root(["x^3 + 11 x = 6 x^2 + 6"])
    assert root(["x^3 + 11 x = 6 x^2 + 6"], "", ("2.5", "9")) == "3.00000000000"
    with pytest.raises(Ambiguous, match=r"the values -2\.543, -0\.2592"):
        root(["x e^x = -0.2"], "x")


def test_a_double_root_is_open() -> None:
    """(x - 1)^2 (x + 2) touches 0 at 1: no sign changes there."""
    with pytest.raises(Ambiguous, match=r"perhaps values near 1\.000"):
        root(["x^3 + 2 = 3 x"])
    with pytest.raises(Unsolved, match="no value"):
        root(["x^3 + 2.01 = 3 x"])


def test_an_angle_is_looked_for_in_one_turn() -> None:
    with pytest.raises(Ambiguous, match=r"the values 1\.077, 3\.644;"):
        root([r"x \tan x = 2"])
    with pytest.raises(Unsolved, match="no value"):
        root([r"M = x - q \sin x"], M="7", q="0.5")
    assert root([r"b x = \sin(a x)"], a="2", b="1") == "0.947747133517"


def test_work_is_bounded() -> None:
    """Sides that are the same for all values leave everything open, and end."""
    with pytest.raises(Ambiguous, match="perhaps values from"):
        root(["x^3 + x = x + x^3"])


@pytest.mark.parametrize("formula", ["x |x - 3| = 1", r"x = \int_0^x t dt"])
def test_what_has_no_slope_gives_nothing(formula: str) -> None:
    assert plan_steps(relations_of(parse(formula), 1), (), ["x"], frozenset(), {}) is None


def test_closed_forms_come_first() -> None:
    """x + y = 5 and x - y = 1 give x in closed form, although the cubic stands before them."""
    relations = [e for k, f in enumerate(["x^3 + x = 30", "x + y = 5", "x - y = 1"]) for e in relations_of(parse(f), k)]
    steps = plan_steps(relations, (), ["x"], frozenset(), {})
    assert steps is not None
    assert all(step.equation is None for step in steps)


EXPRESSIONS = (
    "x^3 - 2 x", "x^{-2} + x", r"x^{3/2} \ln x", r"\sqrt{x + 1}", r"\frac{x}{x^2 + 1}", r"\sin 3 x", r"\cos x - x",
    r"\tan x", r"e^{-x} x", r"2^x", r"x^x", r"\arctan x", r"\arcsin x", r"\arccos x", r"\sinh x", r"\cosh x",
    r"\tanh x", r"\log_{10} x", r"\frac{1}{x - 1}", r"\sqrt[3]{x} - x", "x^2 - x", r"\operatorname{arsinh} x",
    r"\operatorname{arcosh} x", r"\operatorname{artanh} x",
)  # fmt: skip


@pytest.mark.parametrize("latex", EXPRESSIONS)
def test_values_lie_within_their_enclosure(latex: str) -> None:
    """Twin: `evaluate` at points of the interval. Where it has a value, the enclosure holds that."""
    (left,) = parse(latex).members
    relation = implicit_equation(left, Expr("num", value=Fraction(0)), "x")
    assert relation is not None
    draws = random.Random(latex)
    n_bounded = 0
    for residual, slope in relation.forms:
        for node in (residual, slope):
            function = enclosing(node, {})
            assert function is not None
            for _ in range(60):
                low = Fraction(draws.randint(-4000, 4000), 1000)
                high = low + Fraction(draws.randint(0, 3000), draws.choice((1000, 100_000)))
                bounds = function(span_of(low, high))
                for share in (0, Fraction(1, 3), Fraction(5, 7), 1):
                    value = evaluate(node, {UNKNOWN.name: low + share * (high - low)})
                    if value is None:
                        assert bounds is None or not bounds.is_whole or not share
                        continue
                    assert bounds is not None
                    assert not as_ball(value) < bounds.low
                    assert not as_ball(value) > bounds.high
                    n_bounded += bool(bounds.low.is_finite() and bounds.high.is_finite())
    assert n_bounded > 50


@pytest.mark.slow
def test_roots_against_products_of_factors() -> None:
    """(x - a)(x - b)(x - c), multiplied out, has the roots a, b, c, however they lie."""
    draws = random.Random(5)
    left, right = parse("x^3 - p x^2 + q x = r").members
    for _ in range(25):
        a, b, c = sorted(Fraction(draws.randint(-900, 900), 100) for _ in range(3))
        if len({a, b, c}) < 3 or 0 in (a, b, c):
            continue
        equation = implicit_equation(left, right, "x", may_be_negative=True)
        assert equation is not None
        roots = find_roots(equation, {"p": a + b + c, "q": a * b + b * c + a * c, "r": a * b * c})
        assert roots.unsure == ()
        assert [round(as_fraction(each), 40) for each in roots.found] == [round(each, 40) for each in (a, b, c)]


# In templates. ---------------------------------------------------------------------------------------------------


def cubic(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": "cubic",
        "wording": ["A thing has @{c}. Let $x$ be its size, and $y$ the double of that."],
        "grading_standard": [
            {"index": 1, "formula": r"x^3 + 11\unit{m^2} x = 6\unit{m} x^2 + c", "dependency": []},
            {"index": 2, "formula": "y = 2 x", "dependency": []},
            {"index": 3, "number": {"of": "y", "unit": "m"}, "dependency": [1, 2], "is_final_answer": True},
        ],
        "parameters": {"c": {"uniform": ["6.50", "60.0"], "unit": "m^3"}},
        "original": {"c": "60.0"},
    }
    return {**data, **changes}


def test_a_template_by_hand() -> None:
    """5^3 + 55 = 180 and 6 x 25 + c = 150 + 30; y = 10."""
    data = cubic(original={"c": "30.0"})
    (original,) = generate(data, variants=("original",))
    assert original.data["grading_standard"][2]["formula"] == r"y = 10.0\unit{m}"


@pytest.mark.slow
def test_a_condition_chooses_no_root() -> None:
    """At c = 6 the roots are 1, 2 and 3 m; `x > 2.5 m` would leave one."""
    data = cubic(
        parameters={"c": {"choice": ["6"], "unit": "m^3"}},
        original={"c": "6"},
        constraint=[{"formula": r"x > 2.5\unit{m}"}],
    )
    with pytest.raises(Unsatisfiable, match=r"node 1 gives x not one value, .* the values 1\.000, 2\.000, 3\.000"):
        list(generate(data, variants=("perturbed",)))
    with pytest.raises(DataFileError, match=r"original: node 1 gives x not one value"):
        list(generate(data, variants=("original",)))
    data["symbols"] = {"x": {"kind": "positive", "domain": [2.5, 9]}}
    (made,) = generate(data, variants=("original",))
    assert made.data["grading_standard"][2]["formula"] == r"y = 6.00\unit{m}"


def test_a_condition_on_what_is_given_keeps_such_draws_out() -> None:
    data = cubic(
        parameters={"c": {"choice": ["6", "30", "60"], "unit": "m^3"}}, constraint=[{"formula": r"c > 10\unit{m^3}"}]
    )
    data["original"] = {"c": "60"}
    assert len(list(generate(data, n=2, variants=("perturbed",)))) == 2


def test_dimensions_of_an_equation_that_is_not_solved() -> None:
    data = cubic()
    data["grading_standard"][0]["formula"] = r"x^3 + x = 6\unit{m} x^2 + c"
    data["grading_standard"][2]["number"] = {"of": "x", "unit": "m"}
    with pytest.raises(DataFileError, match=r"node 1, formula: "):
        prepare_template(data)

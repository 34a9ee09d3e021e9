"""Derivatives under an interpretation, against differences of numbers and by the rules of calculus."""

from __future__ import annotations

import mpmath
import pytest
from flint import acb, ctx

from prism import budget
from prism.equivalence.interpretation import evaluation
from prism.equivalence.interpretation.decision import compare_by_interpretation
from prism.equivalence.interpretation.functions import (
    FAMILIES,
    RULES,
    UnknownFunction,
    call,
    draw_function,
    power,
    special_value,
)
from prism.equivalence.interpretation.values import PRECISION, Dual, Scalar, Unvalued, plain, slope_of
from prism.physics.context import Context, parse
from tests.support.interpretations import draw_for, function_at, leaves, middle, number_of, value_of

PLACES = {"acosh": 1.7, "digamma": 1.3}
WITHOUT_SLOPE = ("sgn", "step")  # whose derivative is no function
UNKNOWN_SLOPE = (r"\zeta", "K", "E", "Ai")
STEP = 1e-12


def quotient(of: UnknownFunction | None, name: str, x: acb, step: acb) -> acb:
    """The central quotient of differences of a function, at the precision of the interpretation."""
    at = RULES[name][0] if of is None else lambda z: plain(function_at(of, z))
    return (at(x + step) - at(x - step)) / (2 * step)


@pytest.mark.parametrize("name", sorted(set(RULES) - {*WITHOUT_SLOPE, *UNKNOWN_SLOPE}))
@pytest.mark.parametrize("sign", [1, -1])
def test_the_derivative_of_a_function_is_the_limit_of_differences(name: str, sign: int) -> None:
    place = PLACES.get(name, 0.43)
    if sign < 0 and name in ("ln", "log10", "sqrt", "acosh", "Ci", "Ei"):
        place, sign = 1.9, 1
    with ctx.workprec(PRECISION):
        x = acb(sign * place)
        slope = slope_of(called(name, Dual(x, acb(1), 1)), 1)
        assert abs(middle(plain(slope) - quotient(None, name, x, acb(STEP)))) < 1e-18 * (1 + abs(middle(plain(slope))))


def called(name: str, x: Scalar) -> Scalar:
    """A function of the table at a number with an infinitesimal."""
    return call(name, x)


@pytest.mark.parametrize("name", [*WITHOUT_SLOPE, *UNKNOWN_SLOPE])
def test_a_function_whose_derivative_is_not_known_has_none(name: str) -> None:
    with ctx.workprec(PRECISION), pytest.raises(Unvalued, match="derivative"):
        called(name, Dual(acb(0.43), acb(1), 1))


@pytest.mark.parametrize("letter", sorted(set(FAMILIES) - {"L", "T"}))
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_the_derivative_of_a_special_function_is_the_limit_of_differences(letter: str, order: int) -> None:
    with ctx.workprec(PRECISION):
        x, step = acb(0.43), acb(STEP)
        slope = plain(slope_of(special_value(letter, acb(order), Dual(x, acb(1), 1)), 1))
        after, before = (plain(special_value(letter, acb(order), x + acb(sign) * step)) for sign in (1, -1))
        assert abs(middle(slope - (after - before) / (2 * step))) < 1e-15 * (1 + abs(middle(slope)))


@pytest.mark.parametrize(
    ("base", "exponent"), [(0.7, 3.0), (0.7, -2.0), (0.7, 0.5), (1.9, 65.0), (-0.7, 3.0), (1.3, -1.7)]
)
def test_the_derivative_of_a_power_is_that_by_base_and_by_exponent(base: float, exponent: float) -> None:
    with ctx.workprec(PRECISION):
        by_base = plain(slope_of(power(Dual(acb(base), acb(1), 1), acb(exponent)), 1))
        exact = exponent * mpmath.power(base, exponent - 1)
        assert middle(by_base).real == pytest.approx(float(exact), rel=1e-14)
        if base > 0:
            by_exponent = plain(slope_of(power(acb(base), Dual(acb(exponent), acb(1), 1)), 1))
            assert middle(by_exponent).real == pytest.approx(float(mpmath.log(base) * mpmath.power(base, exponent)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\frac{d}{dx} \sin(x^2)", 2 * 0.5 * mpmath.cos(0.25)),
        (r"\frac{d^2}{dx^2} x^5", 20 * 0.125),
        (r"\frac{d^3}{dx^3} e^{2 x}", 8 * mpmath.e),
        (r"\frac{d}{dx} \left(x \frac{d}{dx} x^3\right)", 9 * 0.25),
        (r"\frac{\partial^2}{\partial x \partial y} (x^2 y^3)", 2 * 0.5 * 3 * 4),
        (r"\frac{\partial}{\partial x} \int_0^x t^2 dt", 0.25),
        (r"\frac{d}{dx} \int_x^{x^2} e^{t} dt", 2 * 0.5 * mpmath.exp(0.25) - mpmath.exp(0.5)),
        (r"\frac{d}{dx} \int_0^1 e^{x t} dt", 4 * (0.5 * mpmath.exp(0.5) - mpmath.exp(0.5) + 1)),
        (r"\frac{d}{dx} \int_0^\infty e^{-(1 + x) t} dt", -1 / mpmath.mpf(2.25)),
        (r"\frac{d}{dx} \sum_{j=0}^{\infty} \frac{x^j}{j!}", mpmath.exp(0.5)),
        (r"\frac{d}{dx} \sum_{j=1}^{3} x^j", 1 + 2 * 0.5 + 3 * 0.25),
        (r"\frac{d}{dx} |x - 2|", -1),
        (r"\frac{d}{dx} x^x", mpmath.power(0.5, 0.5) * (1 + mpmath.log(0.5))),
        (r"\frac{d}{dx} \operatorname{erf}(x)", 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-0.25)),
    ],
)
def test_a_derivative_has_the_value_of_its_closed_form(text: str, value: mpmath.mpf) -> None:
    found = number_of(text, {"x": 0.5, "y": 2.0})
    assert middle(found) == pytest.approx(float(value), rel=1e-11)


@pytest.mark.parametrize("is_complex", [False, True])
def test_the_derivative_of_an_unknown_function_is_the_limit_of_differences(is_complex: bool) -> None:
    with ctx.workprec(PRECISION):
        for family in range(3):
            source = draw_for("x", number=family).source("function", "f")
            unknown = draw_function(source, 1, family, is_complex=is_complex)
            slope = plain(slope_of(function_at(unknown, Dual(acb(0.8), acb(1), 1)), 1))
            difference = quotient(unknown, "", acb(0.8), acb(STEP))
            assert abs(middle(slope - difference)) < 1e-18
            assert bool(slope.imag.mid().is_zero()) != is_complex


@pytest.mark.parametrize("falls", [False, True])
def test_an_unknown_function_at_numbers_with_infinitesimals_is_its_formula_part_by_part(falls: bool) -> None:
    """The coefficients laid flat beside the arithmetic of `Dual`."""
    with ctx.workprec(PRECISION):
        unknown = draw_function(draw_for("x").source("function", "f"), 2, 1, is_complex=True, falls=falls)
        inner, other = Dual(acb(0.7), acb(1), 1), Dual(acb(0.4, 0.2), acb(1.5), 3)
        for point in ((inner, acb(0.9)), (Dual(inner, acb(1), 2), other), (Dual(inner, inner, 2), inner)):
            total: Scalar = acb(0)
            for amplitude, slopes, rates, turns, phase in unknown.terms:
                first, second, third = (a * point[0] + b * point[1] for a, b in (slopes, rates, turns))
                total = total + amplitude * (acb(1) + first) * called("exp", second) * called("cos", third + phase)
            for x in point if falls else ():
                total = total * called("exp", -acb(unknown.falls) * x * x)
            for found, expected in zip(leaves(function_at(unknown, *point)), leaves(total), strict=True):
                assert abs(middle(found - expected)) < 1e-30 * (1 + abs(middle(expected)))


def test_no_unknown_function_is_linear_even_or_symmetric_in_its_arguments() -> None:
    for number in range(3):
        draw = draw_for("x", number=number)
        f, g = (draw.function("f", n, is_complex=False) for n in (1, 2))
        values = [middle(plain(function_at(f, acb(x)))).real for x in (-1.0, 0.0, 1.0, 2.0)]
        assert abs(values[1] - 2 * values[2] + values[3]) > 1e-3
        assert abs(values[0] - values[2]) > 1e-3
        swapped = [middle(plain(function_at(g, *point))) for point in ((acb(0.4), acb(1.1)), (acb(1.1), acb(0.4)))]
        assert abs(swapped[0] - swapped[1]) > 1e-3


RULES_OF_CALCULUS = [
    (r"y = \frac{d}{dt}(f g)", r"y = g \frac{df}{dt} + f \frac{dg}{dt}"),
    (r"y = \frac{d^2}{dt^2}(f g)", r"y = g \frac{d^2f}{dt^2} + 2\frac{df}{dt}\frac{dg}{dt} + f \frac{d^2g}{dt^2}"),
    (r"y = \frac{d}{dt}\frac{f}{g}", r"y = \frac{1}{g}\frac{df}{dt} - \frac{f}{g^2}\frac{dg}{dt}"),
    (r"y = \frac{d}{dt} f^2", r"y = 2 f \frac{df}{dt}"),
    (r"y = \frac{d}{dt} \sin f", r"y = \cos(f) \frac{df}{dt}"),
    (r"y = \frac{d}{dt} \ln f", r"y = \frac{1}{f}\frac{df}{dt}"),
    (r"\frac{d}{dt}\left(\frac{df}{dt}\right) = -k f", r"\frac{d^2f}{dt^2} = -k f"),
    (r"\frac{\partial^2 u}{\partial x\partial t} = k u", r"\frac{\partial^2 u}{\partial t\partial x} = k u"),
    (r"\ddot x = -\omega^2 x", r"m\frac{d^2x}{dt^2} = -m\omega^2 x"),
]
NO_RULES = [
    (r"y = \frac{d}{dt}(f g)", r"y = \frac{df}{dt} \frac{dg}{dt}"),
    (r"y = \frac{d}{dt}(f g)", r"y = g \frac{df}{dt} - f \frac{dg}{dt}"),
    (r"y = \frac{d}{dt} f^2", r"y = 2 f"),
    (r"y = \frac{d}{dt} \sin f", r"y = \cos f"),
    (r"y = \frac{d^2f}{dt^2}", r"y = \left(\frac{df}{dt}\right)^2"),
    (r"y = \frac{d}{dx} \int_0^x f(t) dt", r"y = f(x) - f(0)"),
    (r"\frac{\partial^2 u}{\partial x^2} = k u", r"\frac{\partial^2 u}{\partial t^2} = k u"),
    (r"\ddot x = -\omega^2 x", r"\ddot x = \omega^2 x"),
    (r"\ddot x = -\omega^2 x", r"\dot x = -\omega^2 x"),
]


@pytest.mark.parametrize(("a", "b"), RULES_OF_CALCULUS)
def test_a_rule_of_calculus_holds_for_unknown_functions(a: str, b: str) -> None:
    assert compare_by_interpretation(parse(a), parse(b), Context()).same is True


def test_the_derivative_of_an_integral_to_its_limit_is_the_integrand() -> None:
    one, two = parse(r"y = \frac{d}{dx} \int_0^x f(t) dt"), parse(r"y = f(x)")
    assert compare_by_interpretation(one, two, Context()).same is True


@pytest.mark.parametrize(("a", "b"), NO_RULES)
def test_what_is_no_rule_of_calculus_does_not(a: str, b: str) -> None:
    assert compare_by_interpretation(parse(a), parse(b), Context()).same is False


def test_a_partial_derivative_holds_what_a_total_one_carries_along() -> None:
    """Of L(q, t) with q of t: the total derivative has the slope by q times that of q."""
    partial = r"y = \frac{\partial L}{\partial t} + \frac{\partial L}{\partial q}\frac{dq}{dt}"
    assert compare_by_interpretation(parse(r"y = \frac{dL}{dt}"), parse(partial), Context()).same is not False
    only = r"y = \frac{\partial L}{\partial t} - \frac{\partial L}{\partial q}\frac{dq}{dt}"
    assert compare_by_interpretation(parse(partial), parse(only), Context()).same is False


@pytest.mark.parametrize("text", [r"\frac{d^7}{dx^7} x^8", r"\frac{d}{dx} \operatorname{sgn}(x)"])
def test_a_derivative_out_of_reach_has_no_value(text: str) -> None:
    with pytest.raises(Unvalued):
        value_of(text, {"x": 0.5})


def test_what_is_kept_below_indices_is_what_is_worked_out_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contraction of six tensors that vary costs a part of the sum over all indices at once, and is the same."""
    chain = "B_{ij} B_{jk} B_{kl} D_{lm} A_{mn} A_{ni}"
    one, two = parse(rf"\frac{{d}}{{dt}}(S - {chain}) = 0"), parse(rf"\frac{{dS}}{{dt}} = \frac{{d}}{{dt}}({chain})")
    found, spent = [], []
    for most in (evaluation._MOST_KEPT, 0):
        monkeypatch.setattr(evaluation, "_MOST_KEPT", most)
        budget.forget()
        with budget.share(1e9) as account:
            found.append(compare_by_interpretation(one, two, Context()).same)
        spent.append(account.spent)
    assert found[0] is found[1] is not False
    assert 2 * spent[0] < spent[1]

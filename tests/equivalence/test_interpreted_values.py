"""A formula has the same value under an interpretation as by the kernels, wherever both give it one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from flint import acb, arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from prism import budget
from prism.algebra.expr import Expr
from prism.engine.zero_set import value_at
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.functions import spherical_harmonic
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.reading import read_together
from prism.equivalence.interpretation.values import (
    PRECISION,
    Dual,
    Table,
    Unvalued,
    Value,
    add,
    compare_to_zero,
    identity,
    infinitesimals,
    multiply,
    plain,
)
from prism.physics.context import parse
from tests import reference
from tests.support import strategies
from tests.support.interpretations import by_kernels, draw_for, error, leaves, middle, number_of, signature, value_of

POINT = {"x": 0.37, "y": 1.3, "a": 0.7, "b": 2.1, "n": 5.0, "k": 2.0}
BOTH = (
    "x + y", "x - y", "x y", r"\frac{x}{y}", "-x", "x^y", "x^3", "x^{-2}", "(-x)^3", r"\sqrt[3]{x}", r"\sqrt{x}",
    "|x - y|", "e^x", r"\exp(x)", r"\ln x", r"\log_{10} x", r"\lg x", r"\log_2 x", r"\log_b x", r"\sin x", r"\cos x",
    r"\tan x", r"\cot x", r"\sec x", r"\csc x", r"\arcsin x", r"\arccos x", r"\arctan x", r"\sinh x", r"\cosh x",
    r"\tanh x", r"\coth x", r"\operatorname{arsinh} x", r"\operatorname{arcosh} y", r"\operatorname{artanh} x",
    "x^{65}", "x^{200}", r"\frac{\pi}{x}",
    "n!", "x!", r"(n + \frac12)!", r"\binom{n}{k}", r"\Gamma(y)",
    r"\max(x, y)", r"\min(x, y)", r"\max(x, y, a)", r"\min(b, y, a)", r"\operatorname{sgn}(x - y)", r"\Theta(x)",
    r"\begin{cases} x & x < y \\ y & x \ge y\end{cases}", r"\begin{cases} x & x > y \\ y & x \le y\end{cases}",
    r"\sum_{j=1}^{3} \frac{1}{j}", r"\prod_{j=1}^{3} (1 + x/j)",
    r"\int_0^a x e^{-y x} dx", r"\int_0^1 t^2 dt", r"\int_a^b \frac{1}{t} dt", r"\int_0^\pi \sin^2 t\, dt",
    r"\int_0^\infty e^{-y t} dt", r"\int_{-\infty}^\infty e^{-y t^2} dt", r"\int_0^\infty t^2 e^{-t} dt",
    r"\int_0^1 \int_0^1 t s\, ds\, dt", r"\int_0^1 \frac{1}{\sqrt t} dt", r"\int_0^\infty \frac{1}{1 + t^2} dt",
    r"\int_1^\infty \frac{1}{t^2} dt",
)  # fmt: skip


@pytest.mark.parametrize("text", BOTH)
def test_both_say_the_same_of(text: str) -> None:
    by_both = by_kernels(text, POINT), number_of(text, POINT)
    assert by_both[0] is not None, "the kernels give it no value: the row tests nothing"
    assert middle(by_both[1]) == pytest.approx(by_both[0], rel=2e-12)
    assert error(by_both[1]) <= 1e-11 * abs(by_both[0])


@given(strategies.expressions, strategies.points)
def test_a_formula_of_algebra_has_the_value_of_the_slow_twin_or_none(node: Expr, point: dict[str, float]) -> None:
    exact = reference.value(node, point)
    try:
        with ctx.workprec(PRECISION):
            found = Evaluator(Draw(0, signature("x"), fixed={name: acb(value) for name, value in point.items()})).value(
                node, Scope()
            )
    except (Unvalued, OverflowError, ZeroDivisionError, ValueError):
        return
    assert isinstance(found, acb)
    if exact is None or abs(exact) > 1e200 or not found.is_finite() or error(found) > 1e-9 * abs(exact):
        return
    if _has_real_root_of_negative(node, point):
        return
    assert abs(float(found.imag.mid())) <= 1e-9 * abs(float(exact)) + error(found) + 1e-300
    assert float(found.real.mid()) == pytest.approx(float(exact), rel=1e-9, abs=8 * error(found) + 1e-290)


def _has_real_root_of_negative(node: Expr, point: dict[str, float]) -> bool:
    """A root of a negative number: see `test_a_cube_root_of_a_negative_number_is_real`."""
    if node.op == "root" and (base := value_at(node.args[0], point)) is not None and base <= 0:
        return True
    return any(_has_real_root_of_negative(arg, point) for arg in node.args)


@pytest.mark.xfail(strict=True, reason="the principal value, where the kernels have the real root")
def test_a_cube_root_of_a_negative_number_is_real() -> None:
    assert middle(number_of(r"\sqrt[3]{x - y}", POINT)) == pytest.approx(-(0.93 ** (1 / 3)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\operatorname{erf}(x)", math.erf(0.37)),
        (r"\operatorname{erfc}(x)", math.erfc(0.37)),
        (r"\zeta(3)", 1.2020569031595942854),
        (r"\zeta(2)", math.pi**2 / 6),
        ("J_0(x)", 0.96606672643851300),
        ("P_2(x)", (3 * 0.37**2 - 1) / 2),
        ("H_3(x)", 8 * 0.37**3 - 12 * 0.37),
        ("L_2(x)", 1 - 2 * 0.37 + 0.37**2 / 2),
        ("j_0(x)", math.sin(0.37) / 0.37),
        ("j_1(x)", math.sin(0.37) / 0.37**2 - math.cos(0.37) / 0.37),
        ("T_3(x)", 4 * 0.37**3 - 3 * 0.37),
        (r"\sum_{j=1}^{n} \sum_{k=1}^{j} j k x", 51.8),
        (r"\sum_{j=n}^{2} x", 0.0),
        (r"\prod_{j=n}^{2} x", 1.0),
        (r"\binom{n}{7}", 0.0),
        (r"\sum_{j=1}^{\infty} \frac{1}{j^2}", math.pi**2 / 6),
        (r"\sum_{j=1}^{\infty} \frac{(-1)^j}{j}", -math.log(2)),
        (r"\int_{-\infty}^0 e^t dt", 1.0),
        (r"\left. t^2 \right|_{t=3}", 9.0),
        (r"\operatorname{Re}(x)", 0.37),
        (r"\operatorname{Im}(x)", 0.0),
    ],
)
def test_what_the_kernels_do_not_evaluate_has_its_value(text: str, value: float) -> None:
    assert middle(number_of(text, POINT)) == pytest.approx(value, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    "text",
    [r"\frac{1}{0}", r"\frac{1}{x - x}", r"\ln 0", r"\operatorname{sgn}(x - x)", "(-1)!", r"(x - x)^{-1}",
     r"\Gamma(-2)", r"\operatorname{artanh} 1", r"\begin{cases} x & x > y \end{cases}", r"\binom{x}{2}",
     r"\sum_{j=1}^{x} j", r"\prod_{j=1}^{\infty} \frac{1}{j}", r"\sum_{j=1}^{9999} j", r"\lfloor y \rfloor"],
)  # fmt: skip
def test_what_is_undefined_has_no_value(text: str) -> None:
    with pytest.raises(Unvalued):
        number_of(text, POINT)


def test_a_value_behind_a_pole_is_no_number() -> None:
    with ctx.workprec(PRECISION), pytest.raises(Unvalued):
        value_of(r"\tan(\frac{1}{x - x})", POINT)


@pytest.mark.parametrize(
    ("l", "m", "value"),
    [(0, 0, 1 / math.sqrt(4 * math.pi)), (1, 0, math.sqrt(3 / (4 * math.pi)) * math.cos(0.37))],
)
def test_a_spherical_harmonic_is_normalized(l: int, m: int, value: float) -> None:  # noqa: E741
    found = spherical_harmonic(acb(l), acb(m), acb(0.37), acb(1.3))
    assert middle(plain(found)) == pytest.approx(value)
    with pytest.raises(Unvalued):
        spherical_harmonic(acb(l), acb(l + 1), acb(0.37), acb(1.3))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (r"\begin{pmatrix} x & y \\ a & b \end{pmatrix}", 4),
        (r"\begin{pmatrix} x \\ y \end{pmatrix}", 2),
        (r"\vec{r}_1 \times \vec{r}_2", 3),
        (r"\begin{pmatrix} x & y \\ a & b \end{pmatrix} \begin{pmatrix} x \\ y \end{pmatrix}", 2),
    ],
)
def test_a_matrix_or_vector_has_all_its_entries(text: str, size: int) -> None:
    found = value_of(text, POINT)
    assert isinstance(found, Table)
    assert len(found.entries) == size


def test_a_determinant_is_that_of_the_entries() -> None:
    found = number_of(r"\det \begin{pmatrix} x & y \\ a & b \end{pmatrix}", POINT)
    assert middle(found) == pytest.approx(0.37 * 2.1 - 1.3 * 0.7)


def test_tables_of_unlike_size_are_not_added_and_do_not_multiply() -> None:
    two, three = (Table(n, 1, tuple(acb(k) for k in range(n))) for n in (2, 3))
    with pytest.raises(Unvalued, match="unlike size"):
        add(two, three)
    with pytest.raises(Unvalued, match="do not fit"):
        multiply(two, three)
    with pytest.raises(Unvalued, match="beside a vector"):
        add(two, acb(1))


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(1, 3), st.integers(1, 3))
def test_a_product_of_infinitesimals_follows_the_product_rule(a: float, b: float, one: int, two: int) -> None:
    product = multiply(Dual(acb(a), acb(1), one), Dual(acb(b), acb(1), two))
    assert isinstance(product, Dual)
    assert product.tag == max(one, two)
    if one == two:
        assert middle(plain(product.slope)) == pytest.approx(a + b, abs=1e-15)
    else:
        slope = product.slope
        assert isinstance(slope, Dual), "the inner infinitesimal is lost"
        assert middle(plain(slope.slope)) == 1


@pytest.mark.parametrize(
    ("value", "scale", "answer"),
    [
        (acb(0), 1.0, True),
        (acb(1e-3), 1.0, False),
        (acb(1e-20), 1.0, False),
        (acb(1e-30), 1.0, True),
        (acb("1e-20 +/- 1e-15"), 1.0, True),
        (acb("0 +/- 1e-3"), 1.0, None),
        (acb("1 +/- 1e-3"), 1.0, False),
        (acb(0), math.inf, None),
        (acb("nan"), 1.0, None),
    ],
)
def test_a_difference_is_zero_only_within_its_error(value: acb, scale: float, answer: bool | None) -> None:
    assert compare_to_zero(value, scale) is answer


def test_a_value_that_is_kept_for_a_place_is_that_of_another_draw_and_costs_less() -> None:
    tagged, other = Dual(acb(0.7), acb(1), 1), Dual(acb(0.7), acb(1), 2)
    with ctx.workprec(PRECISION), budget.share(math.inf) as account:
        kept = Draw(0, signature("f(x, y)"))
        costs = []
        for point in (
            (tagged, acb(0.4)),
            (other, acb(0.4)),
            (acb(0.7), acb(0.4)),
            (acb(0.4), acb(0.7)),
            (tagged, acb(0.4)),
        ):
            before = account.spent
            found = kept.value_of("f", point, is_complex=False)
            costs.append(account.spent - before)
            fresh = Draw(0, signature("f(x, y)")).value_of("f", point, is_complex=False)
            for a, b in zip(leaves(found), leaves(fresh), strict=True):
                assert str(a) == str(b)
            assert infinitesimals([found]) == infinitesimals(point)
    assert costs[4] == costs[1] < costs[3] / 4 < costs[0] / 4


def test_a_ball_is_no_place_of_its_middle() -> None:
    with ctx.workprec(PRECISION):
        draw = Draw(0, signature("f(x)"))
        wide = draw.value_of("f", (acb(arb(0.7, 1e-3)),), is_complex=False)
        exact = draw.value_of("f", (acb(0.7),), is_complex=False)
        assert error(plain(wide)) > 1e-4 > error(plain(exact))


@pytest.mark.parametrize("exponents", [range(6), (4, 5, 2, 3, 3, 0, 7)])
def test_a_power_of_a_matrix_is_the_product_of_as_many(exponents: Sequence[int]) -> None:
    with ctx.workprec(PRECISION):
        draw = Draw(0, signature("x"))
        bases = [Table(3, 3, tuple(acb(entry + k, k) for entry in range(9))) for k in (1, 2)]
        for exponent in exponents:
            for base in bases:
                product: Value = identity(3)
                for _ in range(exponent):
                    product = multiply(product, base)
                assert draw.power_of(base, exponent) == product


def test_a_product_of_matrices_is_that_of_their_entries_with_and_without_infinitesimals() -> None:
    with ctx.workprec(PRECISION):
        one, two = (
            Table(*size, tuple(acb(k + shift, k) for k in range(6))) for size, shift in (((2, 3), 1), ((3, 2), 5))
        )
        flat = Table(2, 3, tuple(Dual(entry, acb(0), 1) for entry in one.entries))
        product, by_parts = multiply(one, two), multiply(flat, two)
        assert isinstance(product, Table)
        assert isinstance(by_parts, Table)
        assert (product.rows, product.columns) == (2, 2)
        for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
            expected = sum((plain(one.at(row, k)) * plain(two.at(k, column)) for k in range(3)), acb(0))
            assert product.at(row, column) == expected == plain(by_parts.at(row, column))


def test_what_does_not_depend_on_the_index_of_a_sum_is_worked_out_once() -> None:
    """The matrix below is one value in all terms, so that each power of it is one product more."""
    few, many = (cost_of(rf"\sum_{{k=0}}^{{{n}}} (-i s \hat G)^k") for n in (10, 20))
    assert many < 2.2 * few


def cost_of(text: str) -> int:
    """Operations of an expression in an interpretation, beside reading it."""
    f, _ = read_together(parse(text), parse(text))
    with ctx.workprec(PRECISION), budget.share(math.inf) as account:
        Evaluator(draw_for(text)).value(f.members[0], Scope())
    return account.spent

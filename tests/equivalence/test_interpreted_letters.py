"""What the letters of a formula are under an interpretation, which values they get, and at which sizes."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from prism.algebra.expr import symbols, walk
from prism.equivalence.interpretation.conditions.scales import (
    MOST_SIZES,
    TooManySizes,
    is_out_of_the_ordinary,
    sizes_of,
)
from prism.equivalence.interpretation.constructs import constructs_of
from prism.equivalence.interpretation.draws import WHOLE, Draw
from prism.equivalence.interpretation.names import index_range, is_plain_algebra, letters_of
from prism.equivalence.interpretation.reading import read_together
from prism.equivalence.interpretation.values import Unvalued, plain
from prism.physics.context import Context, parse
from tests.support.interpretations import draw_for, expression, function_at, middle, number_of, signature


def drawn(name: str, kind: str, number: int = 0) -> complex:
    return middle(draw_for("x", number=number).number_of(name, kind))


def test_numbers_are_the_same_on_every_machine() -> None:
    assert drawn("x", "positive") == PINNED["x", "positive", 0]
    assert drawn("x", "positive", 1) == PINNED["x", "positive", 1]
    assert drawn("x", "real") == PINNED["x", "real", 0]
    assert drawn("x", "complex") == PINNED["x", "complex", 0]
    assert drawn("n", "integer") == PINNED["n", "integer", 0]
    f = draw_for("x").function("f", 1, is_complex=False)
    assert middle(plain(function_at(f, draw_for("x").number_of("x", "positive")))) == PINNED["f", "function", 0]


PINNED: dict[tuple[str, str, int], complex] = {
    ("x", "positive", 0): 0.5638750120010347,
    ("x", "positive", 1): 0.7894409654485962,
    ("x", "real", 0): 0.5638750120010347,
    ("x", "complex", 0): (0.5638750120010347 + 1.5779314395828297j),
    ("n", "integer", 0): 5.0,
    ("f", "function", 0): 0.11095668812849768,
}


@pytest.mark.parametrize("number", range(8))
def test_a_number_is_of_its_kind_and_has_its_own_value(number: int) -> None:
    names = [f"x_{k}" for k in range(50)]
    for kind, low, high in (("positive", 0.5, 1.9), ("angle", 0.2, 1.4), ("integer", *WHOLE[number % 4])):
        values = [drawn(name, kind, number).real for name in names]
        assert low <= min(values)
        assert max(values) <= high
    reals = [drawn(name, "real", number).real for name in names]
    assert min(reals) < 0 < max(reals)
    assert len({drawn(name, "positive", number) for name in names}) == len(names)
    assert all(drawn(name, "complex", number).imag for name in names)


def test_a_letter_may_be_drawn_larger_and_the_others_stay() -> None:
    ordinary, large = (Draw(0, signature("x"), sizes=sizes) for sizes in ({}, {"x": 1e6}))
    assert middle(large.number_of("x", "positive")) == pytest.approx(1e6 * middle(ordinary.number_of("x", "positive")))
    assert middle(large.number_of("y", "positive")) == middle(ordinary.number_of("y", "positive"))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("y = x", ()),
        ("y = 50 x", ()),
        ("y = m v + 10^{-20}", (1e-20, 1e20)),
        (r"y = \operatorname{erf}(1000 v)", (1e3, 1e-3)),
        ("y = x + 1/10!", (1 / 3628800, 3628800)),
        (r"y = x + \frac{1}{\binom{10}{5}}", (1 / 252, 252)),
        (r"y = x \Gamma(11)", (3628800, 1 / 3628800)),
        (r"y = x + e^{-\cosh 4}", (1.38097e-12, 7.24127e11)),
        (r"y = x + 2^{-40}", (2.0**-40, 2.0**40)),
        (r"y = |x - 3|", (3, 1 / 3)),
        (r"y = \Theta(x - 3)", (3, 1 / 3)),
    ],
)
def test_a_letter_is_drawn_at_the_size_of_a_number_beside_it(text: str, sizes: tuple[float, ...]) -> None:
    assert sorted(sizes_of(parse(text))) == pytest.approx(sorted(sizes), rel=1e-3)


def test_too_many_numbers_out_of_the_ordinary_are_refused() -> None:
    few, many = (" + ".join(f"x^{k} 10^{{{k + 2}}}" for k in range(1, n + 1)) for n in (MOST_SIZES, MOST_SIZES + 1))
    assert len(sizes_of(parse(f"y = {few}"))) == 2 * MOST_SIZES
    with pytest.raises(TooManySizes):
        sizes_of(parse(f"y = {many}"))


@pytest.mark.parametrize(
    ("text", "is_out"),
    [
        ("e^{-50 t}", False), ("e^{-t^2}", False), ("t^{50}", False), ("e^{-100 t}", True), ("t^{100}", True),
        ("(e^{-50 t})^{50}", False), ("((e^{-50 t})^{50})^{50}", True), (r"\tanh(t / 30!)", True),
        (r"\tanh(t / \Gamma(30))", True), (r"\tanh(50 \tanh(50 \tanh(50 t)))", True),
        (r"e^{-\cosh(30) t}", True), ("10^{400} t", True), (r"\exp(\exp(\exp(10))) t", True), (r"\Gamma(-2) t", True),
    ],
)  # fmt: skip
def test_an_expression_that_may_change_fast_is_out_of_the_ordinary(text: str, is_out: bool) -> None:
    assert is_out_of_the_ordinary(expression(text)) is is_out


@pytest.mark.parametrize(
    ("text", "is_excluded", "is_beyond", "is_misread"),
    [
        ("y = x^2", False, False, False),
        ("x < y", True, False, False),
        (r"y = \pm x", True, False, False),
        (r"y = \frac{df}{dx}", False, True, False),
        (r"y = \int_0^1 t dt", False, True, False),
        (r"y = \sum_{n=1}^\infty x^n", False, True, True),
        (r"y = \operatorname{erf}(x)", False, True, True),
        (r"y = \det A", False, True, False),
        (r"T_{ij} v_j = u_i", False, True, True),
        (r"\nabla^2 f = 0", False, True, False),
        (r"y = \oint f dx", False, True, False),
        (r"y = a \bmod b", True, False, False),
    ],
)
def test_what_a_formula_has_beyond_algebra(text: str, is_excluded: bool, is_beyond: bool, is_misread: bool) -> None:
    found = constructs_of(parse(text))
    assert (found.is_excluded, found.is_beyond, found.is_misread) == (is_excluded, is_beyond, is_misread)


PLAIN = (r"F = m a", r"v_0 = \sqrt{2 g h_{max}}", r"\Delta E = k_B T \ln 2", r"y = \frac{\sin x}{1 + e^{-x/\lambda}}")
BEYOND = (
    r"T_{ij} = a_i b_j", r"f(x) = x", r"\hat{a} b = c", r"\vec F = m \vec a", r"y = K \sin x", "y = H_2 (x + 1)",
    "|x| = y", "x' = y", r"y = \delta_{tx} z", r"d (p V) = 0", r"y = A^T b", r"x = a_i", r"y = \sigma_x z",
)  # fmt: skip


@pytest.mark.parametrize("text", [*PLAIN, *BEYOND])
def test_what_is_plain_algebra_has_nothing_beyond_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = parse(text)
    assert is_plain_algebra(f) == (text in PLAIN)
    if text in PLAIN:
        quick = constructs_of(f)
        constructs_of.cache_clear()  # type: ignore[attr-defined]
        monkeypatch.setattr("prism.equivalence.interpretation.constructs.is_plain_algebra", lambda _: False)
        slow = constructs_of(f)
        assert quick is not slow
        assert astuple(quick) == astuple(replace(slow, is_plain=True))


def test_formulas_about_other_letters_do_not_say_the_same() -> None:
    one, two, three = (constructs_of(parse(text)) for text in (
        r"E = \int_0^L F ds", r"E = \int_0^L F dx", r"W = G dx"))  # fmt: skip
    assert one.may_say_what(two)
    assert not one.may_say_what(three)


def test_an_equation_of_algebra_is_about_its_own_letters() -> None:
    """Even one by which an integral may run, or that hardly is a quantity; a bare number may be what is left of any."""
    spin, work, of_spin, number = (constructs_of(parse(text)) for text in (
        "s = 1/2", r"W = \int_0^L F dx", r"\int_0^s F dx = W", r"\int_0^1 x dx = 1/2"))  # fmt: skip
    assert not spin.may_say_what(work)
    assert not work.may_say_what(spin)
    assert spin.may_say_what(of_spin)
    assert not spin.may_say_what(number)
    assert constructs_of(parse(r"\int_0^1 t dt = 1/2")).may_say_what(number)


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        (r"\frac{df}{dx} = 0", {"f": ("x",)}),
        (r"\frac{\partial u}{\partial t} = \frac{\partial^2 u}{\partial x^2}", {"u": ("t", "x")}),
        (r"\frac{d}{dt}(f g) = 0", {"f": ("t",), "g": ("t",)}),
        (r"y = x^2", {}),
    ],
)
def test_a_letter_that_is_differentiated_is_a_function(text: str, functions: dict[str, tuple[str, ...]]) -> None:
    assert dict(signature(text).functions) == functions


def test_letters_of_tensors_operators_and_matrices_are_told_from_numbers() -> None:
    assert signature(r"T_{ij} v_j = u_i").tensors == {"i", "j"}
    assert signature(r"y = x_1 x_2").tensors == frozenset()
    assert signature(r"[\hat{x}, \hat{p}] = i \hbar").operators == {r"\hat{x}", r"\hat{p}"}
    assert signature(r"\nabla \cdot \vec{E} = \rho").has_nabla
    assert signature("y = n!").whole == {"n"}
    assert signature("y = |x|").signed == {"x"}
    assert signature("y = x", context=Context.from_dict({"symbols": {"x": "integer"}})).whole == {"x"}


@pytest.mark.parametrize(
    ("name", "letters"),
    [("T_{ij}", ("i", "j")), (r"F^{\mu\nu}", (r"\mu", r"\nu")), ("v_{max}", ()), ("x_1", ()), ("T_{i1}", ("i",)),
     ("T_{ii}", ("i", "i")), ("T_{ijklm}", ()), ("u_{i,j}", ("i", "j"))],
)  # fmt: skip
def test_an_index_is_a_letter_that_counts(name: str, letters: tuple[str, ...]) -> None:
    assert letters_of(name) == letters


def test_an_index_counts_the_dimensions_of_space_or_of_space_and_time() -> None:
    assert [list(index_range(letter)) for letter in ("i", r"\mu")] == [[1, 2, 3], [0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\delta_{ii}", 3), (r"\delta_{ij} \delta_{ij}", 3), (r"\epsilon_{ijk} \epsilon_{ijk}", 6),
        (r"\epsilon_{ijk} \delta_{ij} v_k", 0), (r"\epsilon_{ijk} v_i v_j w_k", 0),
    ],
)  # fmt: skip
def test_an_index_that_stands_twice_is_summed_over(text: str, value: float) -> None:
    assert middle(number_of(text)) == pytest.approx(value, abs=1e-15)


def ops(a: str, b: str) -> set[str]:
    return {node.op for f in read_together(parse(a), parse(b)) for member in f.members for node in walk(member)}


def test_a_prime_or_subscript_is_a_derivative_beside_one() -> None:
    assert "derivative" in ops("y'' = -y", r"\frac{d^2y}{dx^2} = -y")
    assert "partial" in ops("u_{xx} = u_t", r"\frac{\partial^2 u}{\partial x^2} = \frac{\partial u}{\partial t}")
    assert not ops("y = x' + x", "y = x + x'") & {"derivative", "partial"}
    assert not ops("y = u_x", "y = u_x") & {"derivative", "partial"}


def test_a_prime_beside_a_derivative_of_the_same_letter_is_refused() -> None:
    with pytest.raises(Unvalued, match="prime or dot"):
        read_together(parse(r"y = x' + \frac{dx}{dt}"), parse("y = x'"))
    with pytest.raises(Unvalued, match="prime or dot"):
        read_together(parse(r"y = \frac{\partial u}{\partial t}"), parse(r"y = \frac{du}{dt}"))


def test_a_mean_is_a_number_where_there_are_no_operators() -> None:
    one, _ = read_together(parse(r"y = \langle N \rangle"), parse(r"y = \langle N \rangle"))
    assert any("mean" in name for name in symbols(*one.members))

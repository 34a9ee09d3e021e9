"""Formulas to sympy and symengine, and back: carried as they are, or refused by name."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
import symengine
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prism
from benchmarks.rivals.oracles import values_agree
from prism.algebra.expr import Expr, formula, number, symbol, without_text
from prism.algebra.operators import OPS
from tests.support.scripts import load_script
from tests.support.strategies import expressions

BRIDGES = load_script(Path(__file__).resolve().parents[2] / "benchmarks/accuracy/bridges.py")

CARRIED = {
    "F = m a": "Eq(F, a*m)",
    r"T = 2\pi\sqrt{\frac{L}{g}}": "Eq(T, 2*pi*sqrt(L/g))",
    r"v(t) = v_0 + a t": "Eq(v(t), a*t + v_0)",
    r"\ddot{x} + \omega^2 x = 0": r"Eq(\omega**2*x(t) + Derivative(x(t), (t, 2)), 0)",
    r"\frac{\partial u}{\partial t} = D\frac{\partial^2 u}{\partial x^2}":
        "Eq(Derivative(u(t, x), t), D*Derivative(u(t, x), (x, 2)))",
    r"\frac{d}{dx}(x^2 + y)": "Derivative(x**2 + y, x)",
    r"\int_0^L x\,dx": "Integral(x, (x, 0, L))",
    r"\sum_{n=1}^{N} n^2": "Sum(n**2, (n, 1, N))",
    r"\sqrt[3]{x - y}": "Abs(x - y)**(1/3)*sign(x - y)",
    r"d = 3\,\mathrm{km}": r"Eq(d, 3*\unit{km})",
    r"a = b = c": "(Eq(a, b), Eq(b, c))",
    r"a = b, c = d": "(Eq(a, b), Eq(c, d))",
    r"x = 1 \lor x = 2": "Eq(x, 1) | Eq(x, 2)",
    r"x \ge -\frac12": "x >= -1/2",
    r"g = 9.81": "Eq(g, 9.81)",
    r"\max(a, b)": "Max(a, b)",
}  # fmt: skip

REFUSED = {
    r"\frac{\partial P}{\partial V} = c": "partial of what shows one variable",
    r"V = b x, 0 < x < L": "system",
    r"[x, p] = i\hbar": "commutator",
    r"\vec{A}\cdot\vec{B} = 0": "dot",
    r"a \approx b": "relation approx",
    r"x \pm y": "pm",
    r"\sum_{i=1}^{N} m_i": "sum over the index of a name",
    r"\int P\,dV": "integral over what it does not show",
    r"\frac{d(m v)}{dt} = F": "derivative by what its body does not show",
    r"y'' = 2": "derivative whose order or variable is open",
    r"p = \gamma m v \text{ where } \gamma = 2": "conditional",
    r"dW = F\,dx": "differential",
}


@pytest.mark.parametrize("latex", CARRIED)
def test_a_formula_goes_to_sympy_and_comes_back(latex: str) -> None:
    written = prism.parse(latex)
    there = written.to_sympy()
    if isinstance(there, sympy.Basic) and there.has(sympy.Float):
        assert there == sympy.Eq(sympy.Symbol("g"), sympy.Float("9.81", 15))
    else:
        assert str(there) == CARRIED[latex]
    back = prism.from_sympy(there)
    assert prism.equivalent(written, back).status == "equivalent"
    assert prism.parse(back.latex).members == back.members


@pytest.mark.parametrize("latex", REFUSED)
def test_what_sympy_has_nothing_for_is_refused_by_name(latex: str) -> None:
    with pytest.raises(prism.ConversionError) as caught:
        prism.parse(latex).to_sympy()
    assert (caught.value.library, caught.value.construct) == ("sympy", REFUSED[latex])
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_sympy_changes_nothing_unless_it_is_asked_to() -> None:
    written = prism.parse(r"x - x + \frac{y}{y} = 2 \cdot 3")
    assert str(prism.from_sympy(written.to_sympy())) == "x - x + y/y = 2*3"
    assert written.to_sympy(evaluate=True) == sympy.Eq(1, 6, evaluate=False)
    assert prism.parse("x = x").to_sympy().lhs == sympy.Symbol("x")


def test_evaluated_objects_are_those_that_a_user_of_sympy_writes() -> None:
    m, v, energy = sympy.symbols("m v E")
    assert prism.parse(r"E = \frac12 m v^2").to_sympy(evaluate=True) == sympy.Eq(energy, m * v**2 / 2)


@pytest.mark.parametrize("digits", ["9.80", "0.0025", "1e5", "6.02214076e23", "1.6e-19", "3." + "14159265358979" * 4])
def test_a_decimal_stays_the_decimal(digits: str) -> None:
    written = prism.parse(f"x = {digits}")
    back = prism.from_sympy(written.to_sympy()).members[1]
    assert back.value == written.members[1].value
    assert "." in back.name


@pytest.mark.parametrize("op", sorted(name for name, row in OPS.items() if row.opcode is not None and row.latex))
def test_both_libraries_give_every_operator_its_value(op: str) -> None:
    if op == "ipow":
        pytest.skip("an instruction of the tape only")
    arity = 3 if op in ("add", "mul") else OPS[op].arity
    leaves = {"num": number(7), "sym": symbol("x"), "const": Expr("const", name="pi")}
    args = tuple(symbol(letter) for letter in "xyz"[:arity])
    if op == "root":
        args = (Expr("sub", (symbol("x"), number(5))), number(3))  # the base is negative at times
    if op in ("asin", "acos", "atanh"):
        args = (Expr("div", (symbol("x"), number(4))),)
    if op == "acosh":
        args = (Expr("add", (symbol("x"), number(1))),)
    node = leaves.get(op) or Expr(op, args)
    written = formula((node,), ())
    assert values_agree(written, "sympy")
    if op == "factorial":
        with pytest.raises(prism.ConversionError):
            written.to_symengine()
    else:
        assert values_agree(written, "symengine")


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.tuples(expressions, expressions))
def test_generated_equations_come_back_unchanged(sides: tuple[Expr, Expr]) -> None:
    item = BRIDGES.Item("generated", formula(sides, ("=",)), prism.Context())
    assert BRIDGES.round_trip(item) != "changed"


@pytest.mark.slow  # sympy takes seconds for some of them
def test_a_slice_of_the_cases_comes_back_unchanged() -> None:
    result = BRIDGES.measure(list(BRIDGES.from_cases())[::60])
    assert result["formulas"] > 50
    assert result["changed_formulas"] == []
    assert sum(result["refused_by_construct"].values()) < result["formulas"] / 2


def test_operators_do_not_commute_there_either() -> None:
    there = prism.parse(r"\hat{A}\hat{B} - \hat{B}\hat{A} = 1").to_sympy(evaluate=True)
    assert there.lhs != 0
    assert str(prism.from_sympy(there)) in (
        r"\hat{A}*\hat{B} - \hat{B}*\hat{A} = 1",
        r"-(\hat{B}*\hat{A}) + \hat{A}*\hat{B} = 1",
    )


# From sympy -------------------------------------------------------------------------------------------------------

x, y = sympy.symbols("x y")


@pytest.mark.parametrize(
    ("there", "latex"),
    [
        (sympy.Symbol("alpha") / sympy.Symbol("x1"), r"\frac{\alpha}{x_{1}}"),
        (sympy.sec(x), r"\frac{1}{\cos(x)}"),
        (sympy.exp(-x) / sympy.sqrt(y), r"\frac{\exp(-x)}{\sqrt{y}}"),
        (sympy.And(x > 0, x < y), "x > 0, x < y"),
        ([sympy.Eq(x, 1), sympy.Eq(y, 2)], "x = 1, y = 2"),
        (sympy.Rational(-3, 4) * x, r"(-\frac{3}{4}) x"),
        (sympy.Implies(sympy.Eq(x, 1), sympy.Eq(y, 2)), r"x = 1 \Rightarrow y = 2"),
    ],
)
def test_what_a_user_of_sympy_writes_is_read(there: Any, latex: str) -> None:
    found = prism.from_sympy(there)
    assert prism.equivalent(found, prism.parse(latex)).status == "equivalent"
    assert prism.parse(found.latex).kind == found.kind


@pytest.mark.parametrize(
    ("there", "construct"),
    [
        (sympy.besselj(0, x), "besselj"),
        (sympy.Dummy("x") + 1, "Dummy"),
        (sympy.Symbol("x", positive=True) + x, "one name with different assumptions"),
        (sympy.Symbol("alpha") + sympy.Symbol(r"\alpha"), "two symbols of one name"),
        (sympy.Symbol(r"\pi"), r"symbol \pi"),
        (sympy.nan, "NaN"),
        (sympy.zoo, "ComplexInfinity"),
        (sympy.true, "BooleanTrue"),
        (sympy.Matrix([[x]]), "a value of type MutableDenseMatrix"),
        (sympy.Piecewise((x, x > 0), (y, True)), "Piecewise"),
        (sympy.Derivative(sympy.Function("f")(x), (x, y)), "Derivative"),
        ("x", "a value of type str"),
    ],
)
def test_what_prism_has_nothing_for_is_refused_by_name(there: Any, construct: str) -> None:
    with pytest.raises(prism.ConversionError) as caught:
        prism.from_sympy(there)
    assert caught.value.library == "PRISM"
    assert caught.value.construct == construct


def test_an_object_that_no_person_wrote_is_refused() -> None:
    deep: Any = x
    for _ in range(300):
        deep = sympy.sin(deep, evaluate=False)
    with pytest.raises(prism.ConversionError, match="levels"):
        prism.from_sympy(deep)


# symengine --------------------------------------------------------------------------------------------------------


def test_symengine_gets_the_same_formula() -> None:
    there = prism.parse(r"T = 2\pi\sqrt{\frac{L}{g}}").to_symengine()
    length, g, period = (symengine.Symbol(name) for name in ("L", "g", "T"))
    assert there == symengine.Eq(period, 2 * symengine.pi * symengine.sqrt(length / g))


@pytest.mark.parametrize(
    ("latex", "construct"),
    [
        (r"\int_0^L x\,dx", "integral"), ("a = b = c", "chain"), ("x = x", "relation that it decides"),
        ("x = 9^{9^9}", "power of numbers, which it would work out"),
        ("x = 1e400", "decimal beyond the range of doubles"), (r"\frac{1}{x - x}", "value that it finds undefined"),
    ],
)  # fmt: skip
def test_what_symengine_would_change_is_refused_by_name(latex: str, construct: str) -> None:
    with pytest.raises(prism.ConversionError) as caught:
        prism.parse(latex).to_symengine()
    assert (caught.value.library, caught.value.construct) == ("symengine", construct)


# The extra --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("library", "call"),
    [
        ("sympy", lambda: prism.parse("F = ma").to_sympy()),
        ("sympy", lambda: prism.from_sympy(x)),
        ("symengine", lambda: prism.parse("F = ma").to_symengine()),
        ("pint", lambda: prism.read_quantity("1 m").to_pint()),
        ("pint", lambda: prism.from_pint(1)),
    ],
)
def test_a_missing_library_is_told_with_the_extra(monkeypatch: pytest.MonkeyPatch, library: str, call: Any) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(prism.PrismError, match=rf"needs {library} of the extra sympy: pip install"):
        call()


def test_reprs_are_short() -> None:
    written = prism.parse("F = m a")
    assert repr(written) == "<Formula equation: F = m*a>"
    assert repr(written.members[1]) == "<Expr m*a>"
    large = prism.parse(" + ".join(f"x_{{{count}}}" for count in range(100)))
    assert repr(large.members[0]) == "<Expr add of 101 nodes>"
    assert repr(large) == "<Formula expression: large>"
    assert without_text(written) == without_text(prism.from_sympy(written.to_sympy()))

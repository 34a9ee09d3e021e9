"""Verdicts beside symengine, which computes exactly with the same formulas: a fast oracle without a line of ours.

Two formulas `w = l` and `w = r` over rational numbers say the same where `l - r` is 0 at random rational points,
exactly; symengine substitutes and adds fractions, and simplifies nothing. What the oracle shows to differ is never
equivalent here, and an identity is never different.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import symengine
from hypothesis import given
from hypothesis import strategies as st

import prism
from prism.algebra.expr import Expr, number, symbol
from tests.support.strategies import NAMES, equation

POINTS = 4  # at each the difference of two different rational functions of this size is 0 by chance alone
LEFT = symbol("w")
leaves = st.one_of(st.sampled_from(NAMES).map(symbol), st.integers(1, 9).map(number), st.just(number(Fraction(1, 2))))
terms = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from(("add", "sub", "mul", "div")), inner, inner).map(
        lambda t: Expr(t[0], t[1:])
    ),
    max_leaves=4,
)


def add(*of: Expr) -> Expr:
    return Expr("add", of)


def mul(*of: Expr) -> Expr:
    return Expr("mul", of)


def power(of: Expr, to: int) -> Expr:
    return Expr("pow", (of, number(to)))


def rewritings(u: Expr, v: Expr, w: Expr) -> list[tuple[Expr, Expr]]:
    """Pairs that are equal for all u, v and w, each followed by one in which a number is off by one."""
    two, three = number(2), number(3)
    square = add(power(u, 2), mul(two, u, v), power(v, 2))
    return [
        (mul(add(u, v), w), add(mul(u, w), mul(v, w))), (mul(add(u, v), w), add(mul(u, w), v)),
        (power(add(u, v), 2), square), (power(add(u, v), 2), add(power(u, 2), mul(three, u, v), power(v, 2))),
        (Expr("div", (Expr("div", (u, v)), w)), Expr("div", (u, mul(v, w)))),
        (Expr("div", (Expr("div", (u, v)), w)), Expr("div", (mul(u, w), v))),
        (Expr("sub", (power(u, 2), power(v, 2))), mul(add(u, v), Expr("sub", (u, v)))),
        (Expr("sub", (power(u, 2), power(v, 2))), power(Expr("sub", (u, v)), 2)),
    ]  # fmt: skip


def are_equal(left: Expr, right: Expr) -> bool | None:
    """What symengine says: equal at all points at which both have a value, different at one; None without points."""
    there = [equation(LEFT, side).to_symengine().args[1] for side in (left, right)]
    draw = random.Random(46)
    seen = 0
    for _ in range(3 * POINTS):
        at = {symengine.Symbol(name): symengine.Rational(draw.randint(2, 97), draw.randint(2, 97)) for name in NAMES}
        values = [symengine.sympify(side).subs(at) for side in there]
        if not all(isinstance(value, symengine.Rational | symengine.Integer) for value in values):
            continue  # a pole
        if values[0] != values[1]:
            return False
        seen += 1
    return True if seen >= POINTS else None


@given(terms, terms, terms, st.integers(0, 7))
def test_verdicts_are_those_of_exact_arithmetic(u: Expr, v: Expr, w: Expr, k: int) -> None:
    left, right = rewritings(u, v, w)[k]
    said = are_equal(left, right)
    found = prism.equivalent(equation(LEFT, left), equation(LEFT, right)).status
    assert not (said is True and found == "different")
    assert not (said is False and found == "equivalent")


@pytest.mark.parametrize("k", range(8))
def test_every_rewriting_and_its_near_miss_are_decided(k: int) -> None:
    left, right = rewritings(*map(symbol, NAMES))[k]
    assert are_equal(left, right) is (k % 2 == 0)
    found = prism.equivalent(equation(LEFT, left), equation(LEFT, right)).status
    assert found == ("equivalent" if k % 2 == 0 else "different")

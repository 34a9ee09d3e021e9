"""Points on zero sets: every root is a zero in the slow twin's arithmetic, and nothing that counts is left out."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given

import prism
from prism.algebra.expr import Expr, Formula, number, symbol
from prism.budget import share
from prism.engine.kernels import source
from prism.engine.lowering import build_tape
from prism.engine.zero_set import MAX_OPERATIONS, ORDINARY, Sampling, ZeroSet, draws, sample_zero_set
from tests import reference
from tests.support import strategies

UNARY = strategies.UNARY
DIGEST = "points"


def points_of(residual: Expr, *, want: int = 16, samplings: tuple[tuple[str, Sampling], ...] = ()) -> ZeroSet:
    return sample_zero_set(build_tape(residual), samplings, frozenset(), DIGEST, want, source)


def places(points: ZeroSet) -> list[dict[str, float]]:
    """Every point, by name."""
    found = []
    for i, (target, root) in enumerate(points.solved):
        d = points.spot[3 * i]
        point = {name: points.draws[v * points.n_draw + d] for v, name in enumerate(points.tape.names)}
        found.append({**point, target: root})
    return found


def assert_zero(residual: Expr, point: dict[str, float], target: str) -> None:
    """The twin's residual changes sign, or vanishes, within the relative accuracy that a valid root has."""
    near = [
        reference.value(residual, {**point, target: point[target] + step * (abs(point[target]) or 1.0)})
        for step in (-4e-8, -1e-10, -1e-13, 0.0, 1e-13, 1e-10, 4e-8)
    ]
    values = [value for value in near if value is not None]
    assert values
    assert min(values) <= 0 <= max(values) or min(abs(value) for value in values) < mpmath.mpf(10) ** -12


@pytest.mark.parametrize("name", UNARY)
def test_each_function_is_inverted(name: str) -> None:
    residual = Expr("sub", (Expr(name, (symbol("x"),)), symbol("y")))
    points = points_of(residual, want=40)
    targets = [target for target, _ in points.solved]
    assert "x" in targets, f"{name} was never solved for its argument"
    for point, target in zip(places(points), targets, strict=True):
        assert_zero(residual, point, target)


@pytest.mark.parametrize(("exponent", "roots"), [("2", 2), ("3", 1), ("-2", 2), ("0.5", 1), ("-1", 1), ("y", 1)])
def test_powers_are_inverted(exponent: str, roots: int) -> None:
    base = prism.parse(f"x^{{{exponent}}}").members[0]
    residual = Expr("sub", (base, number(5)))
    points = points_of(residual, samplings=(("x", Sampling("real")),))
    found = {round(root, 9) for target, root in points.solved if target == "x"}
    assert len(found) >= roots
    for point, (target, _) in zip(places(points), points.solved, strict=True):
        assert_zero(residual, point, target)


@given(strategies.equations)
def test_points_are_zeros(f: Formula) -> None:
    residual = Expr("sub", f.members)
    points = points_of(residual)
    for point, (target, _) in zip(places(points), points.solved, strict=True):
        assert_zero(residual, point, target)


def test_all_real_roots_are_found() -> None:
    cubic = prism.parse("(x - 1)(x - 2)(x - 5) = 0")
    points = points_of(Expr("sub", cubic.members))
    assert {round(root, 6) for _, root in points.solved} == {1.0, 2.0, 5.0}


def test_of_several_roots_the_positive_ones_count_and_one_keeps_its_sign() -> None:
    assert all(root > 0 for _, root in points_of(Expr("sub", prism.parse("v^2 = 4").members)).solved)
    assert {root for _, root in points_of(Expr("sub", prism.parse("v + 4 = 0").members)).solved} == {-4.0}


def test_a_root_of_zero_counts_only_where_there_is_no_other() -> None:
    assert {root for _, root in points_of(symbol("a")).solved} == {0.0}
    factored = points_of(Expr("sub", prism.parse("R v = R^3 k").members))
    assert all(root for _, root in factored.solved)


def test_a_factor_that_divides_out_is_dead_and_a_tiny_term_is_live() -> None:
    """Solved for, the tiny term shows: no coefficient is too small for its own symbol."""
    energy = points_of(Expr("sub", prism.parse(r"m g h = \frac12 m v^2").members))
    assert energy.live == {"g", "h", "v"}
    assert not energy.below_rounding
    tiny = points_of(Expr("sub", prism.parse(r"x = a + 10^{-18} b").members))
    assert tiny.live == {"a", "b", "x"}


def test_declared_domains_bound_draws_and_roots() -> None:
    slow = Sampling("positive", (0.1, 0.9))
    assert all(0.1 <= value <= 0.9 for value in draws("b", slow, DIGEST, 40))
    points = points_of(Expr("sub", prism.parse("b = a - 1").members), samplings=(("b", slow),))
    assert points.n_point
    assert all(0.1 <= point["b"] <= 0.9 for point in places(points))
    assert draws("b", slow, DIGEST, 4) != draws("b", ORDINARY, DIGEST, 4)


def test_integers_of_a_domain_stay_in_it() -> None:
    assert set(draws("n", Sampling("integer", (2, 5)), DIGEST, 60)) == {2.0, 3.0, 4.0, 5.0}


@pytest.mark.slow
def test_the_budget_ends_the_search() -> None:
    wide = " + ".join(rf"\sin(x_{{{k}}} y + {k} x)" for k in range(60))
    residual = Expr("sub", prism.parse(f"y = {wide}").members)
    with share(math.inf) as account:
        points_of(residual, want=48)
    assert account.spent < 2 * MAX_OPERATIONS

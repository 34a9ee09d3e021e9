"""Exact arithmetic is charged by terms, degrees and digits, and given up where it would be dear."""

from __future__ import annotations

import math

import pytest

import prism
from prism.algebra.expr import Expr
from prism.budget import share
from prism.engine import exact
from prism.engine.exact import MAX_PROOF, MAX_WORK, Proof, factors_of, prove
from prism.engine.intervals import residual_interval
from prism.engine.lowering import PLAIN, build_tape


def residual(latex: str) -> Expr:
    return Expr("sub", prism.parse(latex).members)


def charged(latex: str) -> tuple[int, int]:
    """Number of factors of a formula, and the operations that they cost."""
    expr = residual(latex)
    with share(math.inf) as account:
        found = factors_of(expr, PLAIN)
    return len(found), account.spent


def test_what_formulas_in_physics_cost() -> None:
    count, cost = charged(r"\frac{1}{R} = \frac{1}{R_1} + \frac{1}{R_2} + \frac{1}{R_3}")
    assert count >= 1
    assert 0 < cost < MAX_WORK // 2


@pytest.mark.parametrize(
    "latex",
    [
        r"((q^{24})^{24})^{24} = 1",  # never seen to end
        r"x ((q^{24})^{23})^{13} = 1",
        r"(q^{24})^{24} = (r^{24})^{24}",
        r"x (a+b+c)^{10} \cdot (d+e+f)^{10} = 1",
        " + ".join(rf"\frac{{q_{{{k}}}}}{{{k + 1}^{{24}} 7919^{{{k}}} + 1}}" for k in range(12)) + " = x",
        "x = " + " + ".join(rf"\frac{{1}}{{a + {k}}}" for k in range(60)),
        "x = " + " + ".join(rf"\frac{{{k}^{{20}} y}}{{(y + {k})^{{20}}}}" for k in range(1, 40)),
    ],
)
def test_dear_polynomials_are_left_to_sampling(latex: str) -> None:
    count, cost = charged(latex)
    assert count == 0
    assert cost <= MAX_PROOF


def test_a_factorisation_costs_by_degree_and_digits() -> None:
    costs = [charged(rf"x^{{{n}}} = 1")[1] for n in (6, 12, 24)]
    assert costs[0] < costs[1] < costs[2]
    short, long = (charged(rf"x^8 + {digits} x^3 + y = {digits}")[1] for digits in ("1237", "1237" * 14))
    assert short < long


def test_a_proof_beyond_its_share_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = residual(r"v^2 = u^2 + 2 a s"), residual(r"s = \frac{v^2 - u^2}{2 a}")
    assert prove(one, other, PLAIN, frozenset("a")) is Proof.SAME
    assert factors_of(one, PLAIN)
    monkeypatch.setattr(exact, "MAX_PROOF", 1000)
    with share(math.inf) as account:
        assert prove(one, other, PLAIN, frozenset("a")) is Proof.OPEN
        assert factors_of(other, PLAIN) == ()  # those of the first are remembered
    assert not account.is_exhausted
    assert account.spent == 2000
    verdict = prism.equivalent(r"v^2 = u^2 + 2 a s", r"s = \frac{v^2 - u^2}{2 a}")
    assert verdict.status == "equivalent"


def test_numbers_too_long_to_spell_raise_nothing() -> None:
    """Python spells no integer of more than 4,300 digits."""
    primes = [p for p in range(101, 1500, 2) if all(p % k for k in range(3, math.isqrt(p) + 1, 2))]
    for latex in (
        "V = " + "+".join(f"{p}^{{-64}}" for p in primes[:220]),
        "V = " + "+".join(rf"\frac{{1}}{{({p}^{{60}})^{{4}}}}" for p in primes[:100]),
        "V = " + "".join(rf"9^{{64}} {p}^{{64}} (a + b + " for p in primes[:28]) + "c" + ")" * 28,
        "V = " + "".join(f"x^{{{p}^{{-64}}}} " for p in primes[:150]),
    ):
        assert prism.equivalent(latex, r"V = \frac{q}{r}").status != "equivalent"
        assert prism.equivalent(latex, latex).status != "different"


def test_intervals_cost_by_instructions() -> None:
    costs = []
    for terms in (10, 20):
        tape = build_tape(residual(rf"V = \sum_{{k=1}}^{{{terms}}} \sqrt{{k + q}}"))
        with share(math.inf) as account:
            residual_interval(tape, dict.fromkeys(tape.names, 0.5))
        costs.append(account.spent / tape.n_op)
    assert costs[0] == costs[1] > 0

"""What is left out to be fast, against the long way, on the formulas of all cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from prism.algebra.expr import Formula
from prism.engine.lowering import Mismatch, Notation, build_tape, restrict_notation
from prism.engine.tape import Builder, Tape, TapeTooLarge
from prism.equivalence.facts import both_in_base_units, facts_of
from prism.equivalence.features import features_of
from prism.equivalence.notation.choice import notation_of
from prism.equivalence.plan import RULES, applicable_rules, plan_attempts
from prism.equivalence.points import zero_sets as equivalence
from prism.equivalence.points.zero_sets import compare_zero_sets
from prism.equivalence.substitutions import Attempt, Forms
from prism.equivalence.verdict import Verdict
from prism.errors import LatexSyntaxError
from prism.physics.context import Context, parse
from tests.test_cases import EquivalenceRow, cases, context_of

pytestmark = pytest.mark.compiled  # every row by the long way


def pairs() -> Iterator[tuple[str, Formula, Formula, Context]]:
    """The rows that can be read."""
    for name, row in cases("equivalence", EquivalenceRow):
        context = context_of(row) or Context()
        try:
            yield f"{name}: {row.id}", parse(row.a, context=context), parse(row.b, context=context), context
        except LatexSyntaxError:
            continue


@pytest.mark.slow  # all rows once more
def test_a_rule_that_is_left_out_would_find_nothing() -> None:
    n_closed = 0
    for name, a, b, context in pairs():
        if a.parts or b.parts:
            continue
        one, two = features_of(a, context), features_of(b, context)
        left_out = [rule for rule in RULES if rule not in applicable_rules(one, two)]
        n_closed += len(left_out) == len(RULES)
        for rule in left_out:
            assert list(rule.apply(Forms(Attempt(a, b), context))) == [], name
    assert n_closed > 100


def test_a_pair_that_the_problem_says_nothing_of_is_not_tried_again() -> None:
    assert plan_attempts(*(features_of(parse(each), Context()) for each in ("F = ma", "E = mc"))) == ()


@pytest.mark.slow  # compares all rows once more
def test_a_claim_that_a_point_of_the_reference_refutes_is_different_by_the_long_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simple = [
        (name, *both_in_base_units(a, b), context)
        for name, a, b, context in pairs()
        if not (a.parts or b.parts) and a.kind == b.kind and a.kind in ("equation", "expression")
    ]

    def verdicts() -> Iterator[tuple[str, Verdict | str]]:
        for name, a, b, context in simple:
            try:
                yield name, replace(compare_zero_sets(a, b, context), cost=0)
            except (Mismatch, TapeTooLarge) as error:
                yield name, str(error)

    quick = list(verdicts())
    monkeypatch.setattr(equivalence, "_first_difference", lambda *_: None)
    assert list(verdicts()) == quick
    assert len(simple) > 1000


def built(f: Formula, notation: Notation) -> Tape | str:
    try:
        return build_tape(facts_of(f).residual, notation)
    except (Mismatch, TapeTooLarge) as error:
        return f"{type(error).__name__}: {error}"


def same(one: Tape | str, two: Tape | str) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    arrays = ((one.code, two.code), (one.consts, two.consts), (one.dep, two.dep))
    rest = [(t.names, t.roots, t.atoms, t.kinds, t.has_inverse, t.is_estimate) for t in (one, two)]
    return rest[0] == rest[1] and all(np.array_equal(*pair) for pair in arrays)


@pytest.mark.slow
def test_a_tape_asks_for_no_more_than_the_part_of_a_reading_that_concerns_it() -> None:
    n_narrowed = 0
    for name, *written, context in pairs():
        a, b = both_in_base_units(*written)
        if any(f.parts or f.kind != "equation" for f in (a, b)):
            continue
        notation = notation_of(a, b, context)
        for f in (a, b):
            own = restrict_notation(notation, facts_of(f).residual)
            if own != notation:
                n_narrowed += 1
                assert same(built(f, own), built(f, notation)), name
    assert n_narrowed > 100


@pytest.mark.parametrize(
    "latex",
    [
        r"I = \int_0^1 \sin(x) e^{-a x} dx",
        r"I = \int_0^\infty \frac{x^3}{e^{b x} - 1} dx",
        r"I = \int_{-\infty}^\infty e^{-x^2} \cos(k x) dx",
        r"I = \int_a^b \sqrt{1 + \cos^2 x} dx",
        r"I = \int_0^1 \int_0^1 \sqrt{x^2 + y^2} dx dy",  # too large, at the same instruction
        r"I = \int_0^1 \int_0^1 \sqrt{1 + x} \sqrt{2 + y} dx dy",
        r"I = \int_{-1}^1 \frac{1}{1 + x^4} dx - \int_0^1 \tan(-x) dx",
    ],
)
def test_a_quadrature_is_the_tape_of_its_nodes_one_by_one(latex: str, monkeypatch: pytest.MonkeyPatch) -> None:
    f = parse(latex)
    fast = built(f, Notation())
    assert isinstance(fast, str) or fast.is_estimate
    monkeypatch.setattr(Builder, "is_unfoldable", lambda *_: False)
    assert same(fast, built(f, Notation()))

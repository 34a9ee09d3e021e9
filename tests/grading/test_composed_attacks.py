"""The composed attacks know what they say: the same seed gives the same text, and each stands by something wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

if not (Path(__file__).resolve().parents[2] / "benchmarks").is_dir():
    pytest.skip("the faults that are put into formulas stand in the checkout only", allow_module_level=True)

from prism.grading.pipeline import grade
from prism.grading.prepared import prepare
from tests.support.composed_attacks import (
    CARRIERS,
    TRICKS,
    Attack,
    Claim,
    Target,
    compose,
    smallest,
    targets_of,
)

PROBLEM = prepare("free_fall")
TARGETS = targets_of(PROBLEM)
CLOSED = {  # tricks that gain nothing on any text tried
    "own subscripts", "own accents", "own superscripts", "own cases", "definition of two values", "two factors",
    "defined by the answer", "union",
}  # fmt: skip


def composed(count: int) -> Iterator[Attack]:
    for k in range(count):
        attack = compose(TARGETS[k % len(TARGETS)], random.Random(k))
        if attack is not None:
            yield attack


def test_same_seed_same_texts() -> None:
    assert [each.text for each in composed(50)] == [each.text for each in composed(50)]


def test_every_trick_is_composed() -> None:
    found = {each.trick for each in composed(600)}
    assert found >= TRICKS.keys() - {"chain of subjects"}  # no two of its nodes are numbers


def test_a_small_text_is_as_dishonest() -> None:
    for each in composed(60):
        small = smallest(each, lambda _: True)
        assert small.is_dishonest
        assert len(small.claims) <= len(each.claims)


def test_closed_tricks_gain_nothing() -> None:
    plain = (each for each in composed(400) if each.trick in CLOSED and len({claim.rank for claim in each.claims}) == 1)
    gains = [each.text for each in plain if (grade(PROBLEM, each.text).score or 0) > 0 and not presented(each)]
    assert not gains, gains[0]


def presented(attack: Attack) -> bool:
    """Whether claims of it are announced in two ways, of which one is not told as such today."""
    return len({claim.carrier for claim in attack.claims}) > 1


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.left)
def test_carriers_are_read(carrier: str, target: Target) -> None:
    honest = Attack(target, "guesses", (Claim(f"{target.left} = {target.right}", is_right=True, carrier=carrier),))
    assert target.index in grade(PROBLEM, honest.text).matched
    assert not honest.is_dishonest

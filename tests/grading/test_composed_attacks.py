"""The composed attacks know what they say: the same seed gives the same text, and each stands by something wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
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
ONE = prepare(
    {
        "id": "one",
        "context": "",
        "grading_standard": [
            {"index": 1, "formula": r"v = \sqrt{2 g h}", "dependency": [], "is_final_answer": True},
        ],
    }
)
SEVERAL = (*TARGETS, *targets_of(prepare("compton")), *targets_of(ONE))


def composed(count: int, targets: Sequence[Target] = TARGETS) -> Iterator[Attack]:
    for k in range(count):
        attack = compose(targets[k % len(targets)], random.Random(k))
        if attack is not None:
            yield attack


def test_same_seed_same_texts() -> None:
    assert [each.text for each in composed(50)] == [each.text for each in composed(50)]


def test_every_trick_is_composed() -> None:
    assert {each.trick for each in composed(3000, SEVERAL)} == TRICKS.keys()


def test_a_small_text_is_as_dishonest() -> None:
    for each in composed(60):
        small = smallest(each, lambda _: True)
        assert small.is_dishonest
        assert len(small.claims) <= len(each.claims)


@pytest.mark.slow
def test_composed_texts_gain_nothing() -> None:
    gains = [each.text for each in composed(400) if (grade(PROBLEM, each.text).score or 0) > 0]
    assert not gains, gains[0]


@pytest.mark.parametrize("carrier", sorted(CARRIERS.keys() - {"text"}))
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.left)
def test_carriers_are_read(carrier: str, target: Target) -> None:
    honest = Attack(target, "guesses", (Claim(f"{target.left} = {target.right}", is_right=True, carrier=carrier),))
    assert target.index in grade(PROBLEM, honest.text).matched
    assert not honest.is_dishonest

"""Pairs beyond algebra and near-misses made of them. On all of them: a script of benchmarks/accuracy."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import prism
from prism.equivalence.verdict import Status, Verdict

if not (Path(__file__).resolve().parents[2] / "benchmarks").is_dir():
    pytest.skip("the scripts stand in the checkout only", allow_module_level=True)

from benchmarks.accuracy import beyond, beyond_faults
from benchmarks.material import Pair

PAIRS = [
    Pair("a", "ode", r"\ddot{x} + \omega^2 x = 0", r"\frac{d^2x}{dt^2} = -\omega^2 x", equal=True),
    Pair("b", "integral", r"Q = \int_0^R 4\pi r^2 \rho\,dr", r"Q = \frac43\pi\rho R^3", equal=True),
    Pair("c", "integral", r"Q = \int_0^R 4\pi r^2 \rho\,dr", r"Q = 2\pi\rho R^2", equal=False),
]


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return beyond.measure({"some": PAIRS}, 6)


def kinds_of(latex: str) -> dict[str, list[str]]:
    """The near-misses of a formula, by kind."""
    found: dict[str, list[str]] = {}
    for kind, wrong in beyond_faults.mutants(prism.parse(latex), random.Random(0)):
        found.setdefault(kind, []).append(str(wrong))
    return found


@pytest.mark.parametrize("name", beyond.FILES)
def test_each_category_has_as_many_equal_as_unequal_pairs(name: str) -> None:
    pairs = beyond.data_sets(None)[name]
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert Counter(pair.category for pair in pairs if pair.equal) == Counter(
        pair.category for pair in pairs if not pair.equal
    )


def test_faults_are_those_of_people() -> None:
    measured = kinds_of(r"Q = \int_0^R r^2 \rho\,dr")
    assert "Q = integral(\\rho, r, 0, R)" in measured["factor of the measure"]
    assert "Q = integral(r^2*\\rho, r, 0, 2*R)" in measured["limit of an integral or sum"]
    assert "Q = integral(R^2*\\rho, r, 0, R)" in measured["bound variable"]
    assert "a = derivative[1](v, x)" in kinds_of(r"a = \frac{dv}{dt}")["variable of a derivative"]
    assert kinds_of(r"\hat{A}\hat{B}")["order"] == [r"\hat{B}*\hat{A}"]
    assert "order" not in kinds_of("ab")
    assert r"F^{\nu\mu}" in kinds_of(r"F^{\mu\nu}")["index of a tensor"]
    assert r"\psi*\phi" in kinds_of(r"\psi^*\phi")["conjugate"]
    assert "a = b and c = -d" in kinds_of("a = b, c = d")["factor"]


def test_near_misses_are_spelled_once_and_the_same_each_time() -> None:
    written = prism.parse(r"S = \sum_{n=1}^{N} n^2")
    once, again = ([str(wrong) for _, wrong in beyond_faults.mutants(written, random.Random(1))] for _ in range(2))
    assert once == again
    assert len(set(once)) == len(once)
    assert str(written) not in once


def test_all_is_counted(result: dict[str, Any]) -> None:
    sweep = result["sweep"]
    assert result["formulas"] == 5
    assert sweep["near_misses"] == 5 * 6
    assert sweep["comparisons"] == sum(sweep["verdicts"].values()) == 4 * 12 + 6
    assert result["sets"]["some"]["all"]["right"]["part"] == 3
    assert result["exceptions"] == []


def test_an_accepted_near_miss_and_an_exception_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever takes all for the same is caught at it, and so is one that raises."""
    monkeypatch.setattr(prism, "equivalent", lambda *_: Verdict(Status.EQUIVALENT, "same_form"))
    told = beyond.measure({"some": PAIRS[:1]}, 3)
    assert told["sweep"]["false_accepts"]["count"] == told["sweep"]["comparisons"] == 12
    assert len(told["sweep"]["to_be_read"]) == 12

    def broken(*_: object) -> Verdict:
        raise RecursionError("too deep")

    monkeypatch.setattr(prism, "equivalent", broken)
    told = beyond.measure({"some": PAIRS[:1]}, 3)
    assert told["sweep"]["verdicts"] == {"error": 12}
    assert len(told["exceptions"]) == 13
    assert told["sets"]["some"]["all"]["undecided"] == 1


def test_what_was_read_says_why() -> None:
    read = beyond.read_pairs()
    assert read
    assert all(reading.why for reading in read.values())
    assert not any(one == two for one, two in read)

"""Trials counted one by one: they never fail, and say of pairs that points decide what the verdict says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import prism
from prism.equivalence.points.trial_counts import TrialCounts, count_trials
from prism.errors import LatexSyntaxError
from prism.physics.context import EMPTY_CONTEXT, parse

CASES = Path(__file__).resolve().parents[1] / "cases" / "equivalence"
FILES = sorted(CASES.glob("*.toml"))


def counted(a: str, b: str) -> tuple[prism.Verdict, TrialCounts | None]:
    verdict = prism.equivalent(a, b)
    return verdict, count_trials(parse(a), parse(b), EMPTY_CONTEXT, verdict)


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("F = k Q q/r^2", "F r^2 = k Q q", (32, 0, 0)),
        ("F = k Q q/r^2", "F r^2 = 2 k Q q", (0, 32, 0)),
        ("x^2 = 4", r"x = \pm 2", (32, 0, 0)),
        ("x^2 = 4", "x = 2", (24, 8, 0)),
        ("x = A_0 + A_1 t^2 d", "x = A_0 + 2 A_1 t^2 d", (0, 20, 12)),
        ("m v", "v m", (32, 0, 0)),
    ],
)
def test_points_are_counted_from_both_sides(a: str, b: str, found: tuple[int, int, int]) -> None:
    counts = counted(a, b)[1]
    assert counts is not None
    assert (counts.n_eq, counts.n_neq, counts.n_fail) == found
    assert sum(found) == counts.T_max


def test_constants_that_the_verdict_names_are_put_in() -> None:
    verdict, counts = counted("F = k Q q/r^2", r"F = \frac{Q q}{4\pi\epsilon_0 r^2}")
    assert verdict.readings
    assert counts == TrialCounts(32, 0, 0, 20, 32)


@pytest.mark.parametrize(
    ("a", "b"),
    [("a > b", "b < a"), ("x = 1, y = 2", "x = 1, y = 3"), (r"\text{yes}", "x = 2"), ("x = x", "x = x"),
     ("g = 9.81", "g = 9.8"), (r"\vec F = m \vec a", r"\vec a = \vec F/m"), ("x = 2", "x + y")],
)  # fmt: skip
def test_what_no_point_decides_has_no_counts(a: str, b: str) -> None:
    assert counted(a, b)[1] is None


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_counts_go_with_the_verdict(path: Path) -> None:
    """Of each file the first rows: what is equivalent has no unequal trial, and nothing raises."""
    for row in tomllib.loads(path.read_text("utf-8"))["case"][:12]:
        for b in (row["b"], *row.get("near_misses", ())[:1]):
            try:
                verdict, counts = counted(row["a"], b)
            except LatexSyntaxError:
                continue
            if counts is not None and verdict:
                assert counts.n_neq == 0, (row["a"], b)

"""Policies that aim at the score without solving, from `tests/cases/attacks/`: none may earn more than its honest part.

One pytest id a problem and a policy, all policies on one problem one behind the other: they share formulas, and with
them verdicts that are remembered.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # hostile texts, thousands of them

if not (Path(__file__).resolve().parents[2] / "benchmarks").is_dir():
    pytest.skip("the faults that are put into formulas stand in the checkout only", allow_module_level=True)

from prism.grading.pipeline import grade  # noqa: E402
from tests.support import attacks, case_rows  # noqa: E402
from tests.support.attacks import SAME_SCORE, PolicyRow, outcome, policies, shipped  # noqa: E402

MIN_POLICIES = 60


def test_every_file_of_policies_is_sound() -> None:
    policies()
    assert not case_rows.unsound, "\n".join(case_rows.unsound.values())


def trials(paths: list[Path]) -> list[object]:
    """Each policy on each problem, but for known gaps, which have a test of their own."""
    return [
        pytest.param(path, name, id=f"{path.stem}:{name}", marks=gap(path, name))
        for path in paths
        for name, row in policies().items()
        if not row.known_gap
    ]


def gap(path: Path, name: str) -> tuple[pytest.MarkDecorator, ...]:
    """A policy that gains on one problem where it should not, and has to as long as `gaps.toml` says so."""
    why = attacks.exceptions("gap").get((path.stem, name))
    return (pytest.mark.xfail(reason=why, raises=AssertionError, strict=True),) if why else ()


def check(path: Path, name: str) -> None:
    row = policies()[name]
    found = outcome(row, path)
    assert found.grade.status in ("ok", "too_large"), found.grade.status
    assert not found.grade.incidents, found.grade.incidents
    earned = "; ".join(found.earned())
    if (path.stem, name) in attacks.exceptions("permitted"):
        assert found.gain > SAME_SCORE, f"gains nothing on {path.stem}: its entry is to be taken out"
        assert not found.finals, f"final answers {found.finals} are won: {earned}"
    elif row.permitted:
        assert not found.finals, f"final answers {found.finals} are won: {earned}"
    else:
        assert found.gain <= SAME_SCORE, f"gains {found.gain:.3f} on {path.stem}: {earned}"


@pytest.mark.parametrize(("path", "name"), trials(shipped()))
def test_no_gain(path: Path, name: str) -> None:
    check(path, name)


NO_DEV = pytest.mark.skipif(not attacks.DEV.is_dir(), reason="the development cases are not on this machine")


@NO_DEV
@pytest.mark.parametrize(("path", "name"), trials(sorted(attacks.DEV.glob("*.json"))))
def test_no_gain_on_development_cases(path: Path, name: str) -> None:
    check(path, name)


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.stem)
def test_an_empty_solution_earns_nothing(path: Path) -> None:
    for text in ("", " \n", "I do not know."):
        assert grade(attacks.prepared(path), text).score == 0.0


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=name) for name, row in policies().items() if row.known_gap or row.permitted]
)
def test_what_a_row_lets_through_is_taken(row: PolicyRow) -> None:
    """A row that has become harmless is to lose its mark, so that it is held to the bound from then on."""
    assert any(outcome(row, path).gain > SAME_SCORE for path in shipped())


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in policies().items()])
def test_every_policy_writes_something(row: PolicyRow) -> None:
    assert any(attacks.attack_of(row, path).text for path in shipped())
    assert row.known_gap == "" or row.permitted == ""


def test_there_are_enough_of_them() -> None:
    assert len(policies()) >= MIN_POLICIES


@pytest.mark.parametrize(
    ("value", "figures", "is_scientific", "latex"),
    [
        (202.4, 3, False, "202"),
        (-1.5e-7, 2, False, r"-1.5\times 10^{-7}"),
        (0.0313, 3, False, "0.0313"),
        (20.0, 1, True, r"2\times 10^{1}"),
        (99.96, 3, False, "100"),
    ],
)
def test_numbers_are_written_as_people_do(value: float, figures: int, is_scientific: bool, latex: str) -> None:
    assert attacks.written_number(value, figures, is_scientific=is_scientific) == latex

"""What the rows of `tests/cases/answers/` do not say: places, hostile texts, and that no text earns two options."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from prism.problem.answers.worded import MAX_WORDS, options_of, stated_answers, text_answer

CASES = Path(__file__).parents[1] / "cases" / "answers"
ASKED = "should be 'The equilibrium is stable/unstable'"


def rows() -> list[dict[str, object]]:
    return [row for path in sorted(CASES.glob("*.toml")) for row in tomllib.loads(path.read_text("utf-8"))["case"]]


def test_boxes_come_first_and_as_one_place() -> None:
    text = "It moves.\n$\\boxed{\\text{stable}}$ and $\\boxed{3}$\n**Answer:** it is stable\nThe end."
    assert stated_answers(text)[:3] == ("\\text{stable}\n3", "it is stable", "The end.")


def test_a_box_in_a_box_is_part_of_it() -> None:
    assert stated_answers(r"\boxed{a \boxed{stable} b}")[0] == r"a \boxed{stable} b"
    assert stated_answers(r"\boxed{open \boxed{stable}")[0] == "stable"


@pytest.mark.parametrize("hidden", ["<think>stable", "% stable", r"\phantom{stable}", "<!-- stable -->", "~~stable~~"])
def test_hidden_text_states_nothing(hidden: str) -> None:
    assert stated_answers(hidden) == ()


def test_without_options_nothing_is_decided() -> None:
    verdict = text_answer("stable", "Answer in words.", ("stable",))
    assert (verdict.status, verdict.option) == ("undecided", "")
    assert verdict.detail.startswith("unsupported")


def test_the_verdict_names_the_option() -> None:
    verdict = text_answer("stable", ASKED, ("It is not stable.",))
    assert (verdict.status, verdict.option) == ("different", "unstable")
    assert verdict.detail == "states 'unstable', not 'stable'"


def test_no_solution_earns_two_options() -> None:
    for row in rows():
        options = options_of(str(row["instructions"]))
        for solution in (row.get("solution", ""), *row.get("near_misses", [])):  # type: ignore[misc]
            stated = stated_answers(str(solution))
            earned = [
                one for one in options if text_answer(one, str(row["instructions"]), stated).status == "equivalent"
            ]
            assert len(earned) <= 1, (solution, earned)


def test_the_instructions_are_no_answer() -> None:
    """A policy that repeats what is asked has said nothing."""
    for row in rows():
        if row.get("options"):
            asked = str(row["instructions"])
            for reference in options_of(asked):
                for solution in (asked, rf"\boxed{{\text{{{asked}}}}}", f"Answer: {asked}"):
                    assert text_answer(reference, asked, stated_answers(solution)).status != "equivalent", solution


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{" * 5000,
        r"\boxed{" * 5000 + "}" * 5000,
        "Answer: stable " * 5000,
        "answer" + "*" * 20_000,
        "stable " * 20_000,
        "Answer:" + "\n" * 20_000,
        "s\u0336" * 20_000,
        "-\n" * 20_000,
        "\x00\ud800 stable",
    ],
)
def test_no_text_raises(text: str) -> None:
    assert text_answer("stable", ASKED, stated_answers(text)).status == "undecided" or len(text) < 50
    options_of(text)


def test_a_long_place_is_no_answer() -> None:
    assert text_answer("stable", ASKED, ("stable " + "so " * MAX_WORDS,)).status == "undecided"

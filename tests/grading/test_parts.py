"""What the rows of `tests/cases/parts/` do not say: stretches are the text, and hostile texts end."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from re import _constants, _parser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.grading.parts import division, labels, marks
from prism.grading.parts.division import Part, divide_into_parts, letters_at
from prism.grading.parts.labels import MAX_LABELS, label_patterns
from prism.grading.parts.marks import MAX_MARKS
from prism.latex import extract
from prism.latex.extraction.solution_input import MAX_TEXT

PIECES = (
    "(a)", "(b)", "(c)", "a)", "b.", "1.", "2)", "Part ", "part (b)", "## ", "**", "\n", "\n\n", " ", "Step 1: ",
    "For ", "Final answers: ", "$x = 1$", "$$", r"\[", r"\]", r"\text{(a)} & x \\", r"\item ", "| (a) | x |\n", ", ",
    ". ", "and ", "From ", "v", "=", "<think>", "</think>", "```", r"\begin{enumerate}", r"\end{enumerate}", "\u2003",
)  # fmt: skip
LETTERS = (("a", "b"), ("a", "b", "c"), ("1", "2"), ("i", "ii"), ("A", "b", "a"), ("x1", "x2"), ("a", "a", "", "b"))


def test_the_end_of_a_text_beyond_the_limit_begins_as_common_text() -> None:
    filler = "Words without a label.\n" * (MAX_TEXT // 20)
    text = f"(a) $v = 2$\n(b) $x = 3$\n{filler}(b) $y = 1$\n{filler}(a) $v = 3$\n(b) $y = 2$\n"
    found = divide_into_parts(text, "ab")
    assert [part.letter for part in found] == ["a", "b", "", "a", "b"]
    assert [text[part.start : part.start + 11] for part in found if part.letter] == [
        "(a) $v = 2$", "(b) $x = 3$", "(a) $v = 3$", "(b) $y = 2$",
    ]  # fmt: skip
    assert found[-1].end == len(text)


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(LETTERS))
def test_the_stretches_are_the_text(text: str, letters: tuple[str, ...]) -> None:
    found = divide_into_parts(text, letters)
    spans = sorted({(part.start, part.end) for part in found})
    if not found:
        return
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert all(one[1] == two[0] for one, two in pairwise(spans))
    assert all(start < end for start, end in spans)
    assert list(found) == sorted(
        found, key=lambda part: (part.start, letters.index(part.letter) if part.letter else -1)
    )
    assert {part.letter for part in found} <= {*letters, ""}
    assert any(part.letter for part in found)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.integers(0, 200))
def test_letters_at_a_position_are_those_of_its_stretches(text: str, position: int) -> None:
    found = divide_into_parts(text, ("a", "b", "c"))
    expected = tuple(part.letter for part in found if part.start <= position < part.end and part.letter)
    assert letters_at(found, position) == expected


def test_a_formula_belongs_to_where_it_begins() -> None:
    text = "Let $g = 10$.\n(a) $v = 14$\n(b) $t = 1$\nAnswers: (a) $v = 15$, (b) $t = 2$"
    found = extract(text)
    marked = divide_into_parts(found.text, ("a", "b"))
    assert [(item.latex, letters_at(marked, item.span[0])) for item in found] == [
        ("g = 10", ()),
        ("v = 14", ("a",)),
        ("t = 1", ("b",)),
        ("v = 15", ("a",)),
        ("t = 2", ("b",)),
    ]


@pytest.mark.parametrize("rows", [
    r"\text{(a)} & x = 1 \\ \text{(b)} & x = 2",
    r"(a)\quad & x = 1 \\[1mm] (b)\quad & x = 2",
    r"&\text{(a) } x = 1 \\ &\text{(b) } x = 2",
])  # fmt: skip
@pytest.mark.parametrize("frame", [
    r"\[ \boxed{ \begin{aligned} %s \end{aligned} } \]",
    r"$$\begin{aligned} %s \end{aligned}$$",
    r"\begin{align*} %s \end{align*}",
])  # fmt: skip
def test_rows_of_a_display_are_found_where_their_formulas_are(frame: str, rows: str) -> None:
    text = "All in all: " + frame % rows
    marked = divide_into_parts(text, ("a", "b"))
    assert [(item.latex[-1], letters_at(marked, item.span[0])) for item in extract(text)] == [
        ("1", ("a",)),
        ("2", ("b",)),
    ]


def test_letters_of_a_stretch_that_answers_two_parts() -> None:
    found = divide_into_parts("### Parts (a) and (b)\n$v = 1$\n### Part (c)\n$x = 2$", ("a", "b", "c"))
    assert found == (Part("a", 0, 30), Part("b", 0, 30), Part("c", 30, 50))
    assert letters_at(found, 25) == ("a", "b")
    assert letters_at(found, 50) == ()


def test_a_flood_of_marks_marks_nothing() -> None:
    assert divide_into_parts("(a)\n(b)\n" * (MAX_MARKS // 2), ("a", "b"))
    assert divide_into_parts("(a)\n(b)\n" * MAX_MARKS, ("a", "b")) == ()
    assert divide_into_parts("(a)\n(b)\n" + "by (a) " * MAX_LABELS, ("a", "b")) == ()


# Linear in any text -----------------------------------------------------------------------------------------------

UNITS = (
    "(a)", "(a) ", "(a)\n", "(a)\n\n", "(a) x, (b) y, ", "(a) and ", "(a), (b), ", "a) ", "a. ", "a.\n", "1. ", "1.\n",
    "Part a ", "Part (a)\n", "# (a)\n", "**(a)**\n", "$(a)$ ", "$(a)$\n", "$(a) ", "| (a) | x |\n", "|a", "Step 1 ",
    "now ", "now\n", "part ", "Fig. (a) ", ". (b)", "Summary\n", "Final answer: (a) ", "**", "#", "\\", "\\\\",
    r"\\ (a) ", r"\item ", "\\item\n", r"\part ", r"\begin{enumerate}", r"\end{enumerate}", r"\text{", r"\boxed{(a)",
    "{", "(", "[", " ", "\n", "\n \n", ",", ", (b)", "—", "x",
)  # fmt: skip
N = 250


def calls(text: str, letters: tuple[str, ...]) -> int:
    """Calls of functions, compiled ones too, while a text is cut."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        divide_into_parts(text, letters)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    "frame", ["%s", "(a) x\n(b) y\n%s", "$$%s$$", "Now %s(a)"], ids=["bare", "in b", "display", "led"]
)
@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_at_most_twice_the_calls(unit: str, frame: str) -> None:
    divide_into_parts("", ("a", "b"))
    one, two = (calls(frame % (unit * n), ("a", "b")) for n in (N, 2 * N))
    assert two <= 2.2 * one + 500, (one, two)


def repeats(tree: Any) -> list[int]:
    """The most that each repetition of a pattern may repeat."""
    found: list[int] = []
    for operator, argument in tree:
        if operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            found.append(int(argument[1]))
        nested = argument if isinstance(argument, (list, tuple)) else [argument]
        for each in nested:
            if isinstance(each, _parser.SubPattern):
                found += repeats(each)
            elif isinstance(each, list):
                found += [most for branch in each if isinstance(branch, _parser.SubPattern) for most in repeats(branch)]
    return found


def test_no_pattern_repeats_without_bound() -> None:
    """Each search begins once at each place, so that with bounded repetitions it is linear."""
    patterns = [(name, value) for room in (labels, marks, division) for name, value in vars(room).items()]
    patterns += [("labels", label_patterns(("a", "b")).named), ("labels", label_patterns(("a", "b")).unnamed)]
    patterns += [(form, value) for form, value in labels._BEFORE.items()]
    compiled = [(name, value) for name, value in patterns if isinstance(value, re.Pattern)]
    assert len(compiled) > 20
    for name, value in compiled:
        most = max(repeats(_parser.parse(value.pattern, value.flags)), default=0)
        assert most <= 200, name


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_of_anything_is_cut(unit: str) -> None:
    divide_into_parts(unit * (200_000 // len(unit)), ("a", "b", "c"))

"""What holds of `extract` for every text; the rows of `tests/cases/extract/` say what it finds in good ones."""

from __future__ import annotations

import pickle
import re
import unicodedata
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prism
from prism import budget
from prism.latex import LeftOut, solution_text
from prism.latex.extraction import undelimited
from prism.latex.extraction.pipeline import MAX_FORMULAS, Extraction, LocatedFormula, extract
from prism.latex.extraction.plain import write_plain_side
from prism.latex.extraction.plain_tokens import MARK, split_into_marks
from prism.latex.extraction.solution_input import MAX_TEXT

# What a line without delimiters is made of.
PLAIN_MARKS = (
    *"aFvx152.,=<>-+*/^_()|~°²₀½θ√∫→ \t\u00a0\u2002\u2009…–—",
    *(" ", "   ", "--", "->", "=>", "<=", ":=", "...", "1e5", "1,000", ".5", "arc", "sin", "mg", "force", "the", "is"),
    *("\\", "\\quad", "\\,", "\\_", "\\=", "<sub>", "</sup>", "₍", "₎"),
)
KINDS = {"display", "inline", "boxed", "plain", "thinking"}

# Every mark that the scanner knows, so that random texts break its grammar and not only its words.
MARKS = (
    *(
        "$",
        "$$",
        r"\(",
        r"\)",
        r"\[",
        r"\]",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "|",
        "&",
        r"\\",
        "\n",
        "\n\n",
        " ",
        "~",
        r"\,",
    ),
    *(r"\begin{align}", r"\end{align}", r"\begin{array}{l}", r"\end{array}", r"\begin{cases}", r"\end{cases}"),
    *(r"\begin{pmatrix}", r"\end{pmatrix}", r"\begin{multline}", r"\end{multline}", r"\begin{verbatim}"),
    *(
        r"\boxed{",
        r"\text{",
        r"\text{ and }",
        r"\frac",
        r"\cancel{",
        r"\phantom{",
        r"\tag{1}",
        r"\sout{",
        r"\left",
        r"\right",
    ),
    *(
        "=",
        "<",
        ">",
        r"\approx",
        "+",
        "-",
        ",",
        ";",
        r"\quad",
        r"\Rightarrow",
        r"\to",
        "_",
        "^",
        r"\langle",
        r"\rangle",
    ),
    *(
        "x",
        "y",
        "12",
        "3.5",
        "and",
        "the",
        "km",
        "%",
        r"\%",
        r"\$",
        "`",
        "```",
        "<!--",
        "-->",
        "~~",
        "<think>",
        "</think>",
    ),
)
BROKEN = st.lists(st.sampled_from(MARKS), max_size=40).map("".join)
ANY_TEXT = st.one_of(st.text(max_size=200), BROKEN, BROKEN.map(lambda inner: f"$${inner}$$"))

FORMULAS = st.sampled_from(
    ["F = ma", r"x = \frac{a}{b}", "E = mc^2", r"v = \sqrt{2gh}", r"\Delta U = Q - W", "n = 1, 2, 3", r"a < b", "T"]
)
DELIMITERS = st.sampled_from([("$", "$"), ("$$", "$$"), (r"\(", r"\)"), (r"\[", r"\]"), (r"\boxed{", "}")])
SENTENCES = st.sampled_from(["So we find ", "The work is then ", "where ", "Energy is conserved, hence "])


@st.composite
def solutions(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A well-formed solution and the formulas in it."""
    text, found = "", []
    for _ in range(draw(st.integers(0, 5))):
        formula, (left, right) = draw(FORMULAS), draw(DELIMITERS)
        text += f"{draw(SENTENCES)}{left}{formula}{right}.\n"
        found.append(formula)
    return text, found


@given(ANY_TEXT)
def test_never_raises_and_stays_inside(text: str) -> None:
    found = extract(text)
    assert all(isinstance(item, LocatedFormula) and item.kind in KINDS for item in found)
    assert all(0 <= item.span[0] < item.span[1] <= len(text) for item in found)
    assert all(item.latex.strip() for item in found)
    starts = [item.span[0] for item in found]
    assert starts == sorted(starts)
    blocks = {item.block for item in found}
    assert all(block >= 0 for block in blocks)


@given(ANY_TEXT)
def test_same_text_same_formulas(text: str) -> None:
    assert extract(text) == extract(text)


@given(ANY_TEXT)
def test_nothing_is_invented(text: str) -> None:
    """Letters and digits of a formula stand in the text; only commands, and what stands for a sign, are added."""
    allowed = set(unicodedata.normalize("NFKD", text)) | set("0123456789m ")  # `metre` is m, `½` has digits
    for item in extract(text):
        written = re.sub(r"\\[A-Za-z]+", "", item.latex)
        assert {sign for sign in written if sign.isalnum()} <= allowed


@given(solutions())
def test_finds_what_was_put_in(solution: tuple[str, list[str]]) -> None:
    text, formulas = solution
    assert [item.latex for item in extract(text)] == formulas


@given(solutions(), solutions())
def test_two_solutions_give_the_formulas_of_both(one: tuple[str, list[str]], two: tuple[str, list[str]]) -> None:
    first, second = one[0] + "\nNext we go on.\n\n", two[0]
    shifted = [(item.latex, item.span[0] + len(first), item.kind) for item in extract(second)]
    apart = [(item.latex, item.span[0], item.kind) for item in extract(first)] + shifted
    assert [(item.latex, item.span[0], item.kind) for item in extract(first + second)] == apart


@given(solutions())
def test_prose_around_changes_nothing(solution: tuple[str, list[str]]) -> None:
    text = f"Let us think about this.\n\n{solution[0]}\nThis ends the proof.\n"
    assert [item.latex for item in extract(text)] == solution[1]


@given(solutions())
def test_a_thinking_block_keeps_the_formulas_and_marks_them(solution: tuple[str, list[str]]) -> None:
    found = extract(f"<think>\n{solution[0]}</think>\n{solution[0]}")
    inside = [item.latex for item in found if item.kind == "thinking"]
    assert inside == solution[1]
    assert [item.latex for item in found if item.kind != "thinking"] == solution[1]


@given(st.lists(st.sampled_from(PLAIN_MARKS), max_size=12).map("".join))
def test_marks_are_those_of_the_pattern_with_its_groups(line: str) -> None:
    slow, is_apart = [], False
    for match in MARK.finditer(line):
        kind, written = match.lastgroup, match.group()
        if kind == "escaped":
            kind, written = ("relation" if written[1] in "=<>~" else "single"), written[1]
        if kind != "space":
            slow.append((kind, written, *match.span(), is_apart))
        is_apart = kind == "space"
    assert [mark[:5] for mark in split_into_marks(line)] == slow


def test_a_formula_read_before_is_placed_where_it_stands() -> None:
    text = "$x, y = 1, 2$ and 1$, y = 1$2 and $x, y = 1, 2$ and $a=$ $5,$ and 1$, y = 1$ 2"
    shifted = [replace(item, span=(item.span[0] + 3, item.span[1] + 3)) for item in extract(text)]
    assert list(extract(f"So {text}")) == shifted


def test_spans_are_the_source() -> None:
    text = r"With $v = at$ we get $$\begin{aligned} x &= \tfrac12 a t^2 \\ &= \boxed{5}\end{aligned}$$ or $T=2$ s."
    sources = [text[item.span[0] : item.span[1]] for item in extract(text)]
    assert sources == ["v = at", r"x &= \tfrac12 a t^2", r"= \boxed{5}", r"\boxed{5}", "T=2$ s"]


def test_led_and_block() -> None:
    found = extract(r"$$a = b \Rightarrow c = d \\ = e$$ and $f = g$")
    assert [(item.latex, item.led, item.block) for item in found] == [
        ("a = b", False, 0),
        ("c = d", True, 0),
        ("c = e", True, 0),
        ("f = g", False, 1),
    ]


@pytest.mark.slow
def test_limits_stop_and_count_what_they_leave_out() -> None:
    many = extract("".join(f"$x_{{{n}}} = b$ and " for n in range(MAX_FORMULAS + 10)))
    assert (len(many), many.left_out) == (MAX_FORMULAS, LeftOut(0, 10))
    assert many[-1].latex == f"x_{{{MAX_FORMULAS + 9}}} = b"
    assert extract("$a = b$" + " " * MAX_TEXT).left_out == LeftOut()
    long = extract("$$" + "a + " * 10_000 + "b = c$$ and $x = y$")
    assert [item.latex for item in long[1:]] == ["x = y"]
    carried = extract("$$" + "a" * 5_000 + r" = 1 \\ = 2$$")
    assert [len(item.latex) for item in carried] == [5_004, 1]


def test_of_a_long_text_both_ends_are_read() -> None:
    text = "First $a = b$.\n" + "Filler without a formula in it.\n" * 10_000 + "At last $c = d$."
    found = extract(text)
    assert [item.latex for item in found] == ["a = b", "c = d"]
    assert [text[slice(*item.span)] for item in found] == ["a = b", "c = d"]
    assert found.left_out.characters > len(text) - MAX_TEXT - 1
    assert len({item.block for item in found}) == 2


@pytest.mark.slow
def test_a_long_text_is_cut_outside_of_what_a_mark_far_before_opened() -> None:
    thought = "<think>\n" + "so $x = 1$ is it\n" * 20_000 + "</think>\nSo $c = d$."
    assert {item.kind for item in extract(thought)[:-1]} == {"thinking"}
    assert extract(thought)[-1].kind == "inline"
    code = "Run this:\n```python\n" + "x = 1\n" * 50_000 + "```\nSo $c = d$."
    assert [item.latex for item in extract(code)] == ["c = d"]


@pytest.mark.parametrize("end", ["So $c = d$ or x = 3 m.", "which is wrong: $c = d$", "= 5\n\nThus y = 4"])
def test_long_thoughts_that_are_not_asked_for_are_not_read(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands within a sentence's reach of the rest is read, for it may say how the rest is meant."""
    thought = "Let me see: v = 3 m/s and $x = 1$, so $y$ is it.\n" * 200
    text = f"First $a = b$. <think>{thought}I get $u = 4</think>{end}<think>{thought}"
    whole = extract(text)
    writer = Mock(side_effect=write_plain_side)
    monkeypatch.setattr(undelimited, "write_plain_side", writer)
    part = extract(text, thinking=False)
    assert [_said(item) for item in part if item.kind != "thinking"] == [
        _said(item) for item in whole if item.kind != "thinking"
    ]
    assert len(part) < len(whole) / 5
    assert writer.call_count < 200


def _said(item: LocatedFormula) -> tuple[object, ...]:
    """A formula without the ordinal of its block, which counts those that are read."""
    return item.latex, item.span, item.kind, item.led, item.in_passing, item.is_announced, item.joint


CHAT: list[str | dict[str, Any]] = [
    {"role": "system", "content": "Answer. $s = 1$"},
    {"role": "user", "content": "Find $v$ from $u = 1$."},
    {"role": "assistant", "reasoning_content": "try $a = 1$", "content": "So $v = 2$."},
    {"role": "user", "content": [{"type": "text", "text": "and $w = 1$?"}]},
    {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "$b = 1$"}, {"type": "text", "text": "$w = 3$"}],
    },
]


def test_of_chat_messages_only_the_assistant_is_read() -> None:
    found = extract(CHAT)
    assert [(item.latex, item.kind) for item in found] == [
        ("a = 1", "thinking"),
        ("v = 2", "inline"),
        ("b = 1", "thinking"),
        ("w = 3", "inline"),
    ]
    assert [found.text[slice(*item.span)] for item in found] == ["a = 1", "v = 2", "b = 1", "w = 3"]
    assert found.text == solution_text(CHAT).text


def test_steps_are_joined_by_a_blank_line() -> None:
    found = extract(["Then $v = at$", "so $$x = 1$$", "and $$+ 2$$"])
    assert found.text == "Then $v = at$\n\nso $$x = 1$$\n\nand $$+ 2$$"
    assert [item.latex for item in found] == ["v = at", "x = 1", "+ 2"]
    assert extract([]) == ()


@pytest.mark.parametrize(("solution", "word"), [
    (None, "nothing"), (3, "int"), (b"$x$", "bytes"), ({"role": "assistant", "content": "x"}, "dict"),
    (["a step", {"role": "assistant", "content": "x"}], "item 1"), ([1], "item 1"), ([{"content": "x"}], "role"),
    ([{"role": "assistant"}], "content"), ([{"role": "assistant", "content": 5}], "int"),
    ([{"role": "assistant", "content": [{"text": "x"}]}], "type"),
    ([{"role": "assistant", "content": [{"type": "text", "text": 5}]}], "text is"),
    ([{"role": "assistant", "content": "x", "reasoning_content": 5}], "reasoning"),
    ([{"role": "user", "content": "x"}, "a step"], "item 2"),
])  # fmt: skip
def test_another_shape_is_an_author_s_fault(solution: Any, word: str) -> None:
    with pytest.raises(prism.PrismError, match=word):
        extract(solution)


def test_what_has_no_text_is_passed_over() -> None:
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    picture: dict[str, Any] = {
        "role": "assistant",
        "content": [{"type": "image_url", "image_url": {"url": "x"}}, "$x = 1$"],
    }
    assert [item.latex for item in extract([call, picture])] == ["x = 1"]


def test_an_extraction_survives_pickling() -> None:
    found = extract("Then $v = at$.")
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.text, again.left_out) == (found, found.text, found.left_out)
    assert isinstance(again, Extraction)


FILLER = "Filler without a formula in it.\n"


@pytest.mark.parametrize(("head", "middle", "tail", "kinds"), [
    ("$a = b$\n", FILLER, "$c = d$", ["inline", "inline"]),
    ("<think>$a = b$\n", FILLER, "$c = d$", ["thinking", "thinking"]),
    ("<think>$a = b$\n", f"{FILLER}</think>\n", "$c = d$", ["thinking", "inline"]),
    ("$a = b$\n", f"{FILLER}<think>\n", "$c = d$", ["inline", "thinking"]),
    ("<think>$a = b$\n", f"</think>\n{FILLER}<think>", "$x = y$</think> $c = d$", ["thinking", "thinking", "inline"]),
    ("$a = b$\n", f"{FILLER}```\n", "$x = y$\n```\n$c = d$", ["inline", "inline"]),
    ("```\n", f"{FILLER}```\n", "$c = d$", ["inline"]),
])  # fmt: skip
def test_what_is_left_out_still_says_how_the_end_is_read(head: str, middle: str, tail: str, kinds: list[str]) -> None:
    fill = "Words. " * (MAX_TEXT // 7) + "\n"
    found = extract(head + fill + middle + fill + tail)
    assert [item.kind for item in found] == kinds
    assert found.left_out.characters > MAX_TEXT


@pytest.mark.slow
def test_a_text_beyond_the_limit_costs_what_the_limit_costs() -> None:
    spent = []
    for n in (1, 4, 16):
        with budget.share(10**12) as account:
            extract("$a = b$ or x = sqrt(2gh),\n" * (n * MAX_TEXT // 26))
        spent.append(account.spent)
    assert max(spent) < 1.01 * min(spent)


def test_what_rows_repeat_of_a_long_left_side_is_bounded() -> None:
    left = "+".join("abcdefgh" * 60)
    found = extract("$$" + left + "".join(rf"={n}\\" for n in range(600)) + "$$")
    assert found[-1].latex == f"{left} =599"
    assert len(found) + found.left_out.formulas == 600
    assert sum(len(item.latex) for item in found) < 60_000


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["so v = sqrt(2gh) and $x = 1$,\n", "$$E &= 1 \\\\ &= 2$$\n\n", "x", "{", "$", "\0 "])
def test_ten_megabytes_are_read_within_the_limits(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    assert extract(text).left_out.characters >= len(text.rstrip()) - MAX_TEXT


N = 50_000  # characters or words: what is quadratic in them still takes minutes
ATTACKS = {
    "dollars": "$" * N,
    "dollars and letters": "$a" * N,
    "money": "$5 and $10 " * (N // 8),
    "row ends": "\\\\" * N,
    "row ends in a display": "$$" + "\\\\" * N + "$$",
    "rows": "$$" + "a=b\\\\" * (N // 4) + "$$",
    "short blocks of rows": ("$$" + "=b\\\\" * 4_900 + "$$ . ") * 5,
    "short blocks of brackets": ("$$" + "(" * 19_900 + "$$ . ") * 5,
    "short blocks of commas": ("$$" + "a=b," * 4_900 + "$$ . ") * 5,
    "short blocks of continued sums": ("$$x=1" + "\\\\+a" * 4_900 + "$$ . ") * 5,
    "short blocks of boxes": ("$$x" + r"=\boxed{1}" * 1_900 + "$$ . ") * 5,
    "short blocks of texts": ("$$x" + r"(\text{for } n)" * 1_200 + "$$ . ") * 5,
    "short blocks of arrays": ("$$" + r"\begin{array}{l}x=1\\" * 900 + r"\end{array}" * 80 + "$$ . ") * 5,
    "opening braces": "{" * N,
    "nested braces": "$$" + "{" * (N // 2) + "}" * (N // 2) + "$$",
    "open braces of a line": "x = " + "{" * N,
    "nested groups": ("$$" + "{" * 9_900 + "}" * 9_900 + "$$ . ") * 5,
    "nested boxes": r"\boxed{" * (N // 8) + "x=1" + "}" * (N // 8),
    "nested boxes in a chain": ("$$" + r"\boxed{x=" * 1_900 + "1" + "}" * 1_900 + "$$ . ") * 5,
    "open boxes": r"\boxed{" * (N // 5),
    "open environments": r"\begin{align}" * (N // 8),
    "crossed environments": r"\begin{align}\begin{gather}" * 3_000 + r"\end{align}\end{gather}" * 3_000,
    "open round": r"\(" * N,
    "open square": r"\[" * N,
    "backslashes": "\\" * 2 * N,
    "averages": ("$$" + "<a>" * 6_500 + "$$ . ") * 5,
    "kets": ("$$" + r"|\rangle\langle|" * 1_200 + "$$ . ") * 5,
    "ticks": "`" * N,
    "ticks and letters": "`a" * N,
    "struck out": " ~~a" * (N // 2),
    "open comments": "<!--" * (N // 2),
    "thoughts": "<think>$a$</think>" * (N // 10),
    "fences": "```\n" * (N // 2),
    "plain lines": "x = y\n" * (N // 3),
    "almost plain line": "x" * N + "=" + "x" * N,
    "line ends": "\n" * 2 * N,
    "blanks in a formula": "$" + " " * 2 * N,
    "thousands": "$x=1" + "{,}123" * 3_000 + "$ m",
    "units": "$x=5$ m/s/s/s/s/s/s\n" * (N // 14),
    "nested brackets of a line": ("x = " + "(" * 11 + "a" + ")" * 11 + "\n") * (N // 30),
    "nested derivatives of a line": ("x = " + "d(" * 11 + "a 2" + ")/dt" * 11 + "\n") * (N // 80),
    "bars of a line": "x = " + "|a" * N,
    "averages of a line": "x = " + "⟨a" * N,
    "commas of a line": "x = 1, 2, " * (N // 10),
    "words of a line": "x = a is " * (N // 9),
    "rows without a left side": "x = 1\n" + "= a\n" * (N // 4),
    "bullets": "- x = 1\n" * (N // 8),
    "denials": "It is not true that $x$ is wrong, " * (N // 35),
    "phantoms": r"\phantom{" * (N // 9),
    "colours": r"{\color{white}" * (N // 14),
    "macros": r"\newcommand{\q}" * (N // 15),
    "comments that never end": r"\iffalse " * (N // 9),
    "percents": "$" + "a % b " * (N // 6) + "$",
    "bare displays": "[\na = b\n" * (N // 8),
    "bare brackets": r"( \a " * (N // 5),
    "emphasis": "*a = b" * (N // 6),
    "cells": "| a = b " * (N // 8) + "|",
    "tags": '<a b="c"' * (N // 8),
    "links": "](a" * (N // 3),
    "alternatives": "$x=1$ or " * (N // 9),
    "conditions": ("$$x=1" + r" \text{ for } r<R" * 1_000 + "$$ . ") * 5,
    "unbalanced everything": "}{$\\[\\(\\begin{align}" * (N // 10),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_ends(attack: str) -> None:
    """Each takes about a second; what is quadratic in any of these takes minutes, and the run shows it."""
    assert len(extract(attack)) <= MAX_FORMULAS

"""What holds of `extract` for every text; the rows of `tests/cases/extract/` say what it finds in good ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.latex.text import MAX_FORMULAS, MAX_TEXT, LocatedFormula, extract

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
    """Letters and digits of a formula stand in the text; only a left side, a unit and marks are repeated."""
    allowed = set(text) | set("\\,unit{}") | set("cdotimesqrtfraclegaphnx 0123456789^-_")
    for item in extract(text):
        assert set(item.latex) <= allowed


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
def test_a_thinking_block_keeps_the_formulas_and_tells_them(solution: tuple[str, list[str]]) -> None:
    found = extract(f"<think>\n{solution[0]}</think>\n{solution[0]}")
    inside = [item.latex for item in found if item.kind == "thinking"]
    assert inside == solution[1]
    assert [item.latex for item in found if item.kind != "thinking"] == solution[1]


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


def test_limits_stop_and_never_raise() -> None:
    assert len(extract("$a = b$ and " * (MAX_FORMULAS + 10))) == MAX_FORMULAS
    assert extract(" " * MAX_TEXT + "$a = b$") == ()
    long = extract("$$" + "a + " * 10_000 + "b = c$$ and $x = y$")
    assert [item.latex for item in long[1:]] == ["x = y"]
    carried = extract("$$" + "a" * 5_000 + r" = 1 \\ = 2$$")
    assert [len(item.latex) for item in carried] == [5_004, 1]


N = 100_000
ATTACKS = {
    "dollars": "$" * N,
    "dollars and letters": "$a" * N,
    "money": "$5 and $10 " * (N // 8),
    "row ends": "\\\\" * N,
    "row ends in a display": "$$" + "\\\\" * N + "$$",
    "rows": "$$" + "a=b\\\\" * (N // 4) + "$$",
    "short blocks of rows": ("$$" + "=b\\\\" * 4_900 + "$$ . ") * 9,
    "short blocks of brackets": ("$$" + "(" * 19_900 + "$$ . ") * 10,
    "short blocks of commas": ("$$" + "a=b," * 4_900 + "$$ . ") * 10,
    "short blocks of continued sums": ("$$x=1" + "\\\\+a" * 4_900 + "$$ . ") * 9,
    "short blocks of boxes": ("$$x" + r"=\boxed{1}" * 1_900 + "$$ . ") * 10,
    "short blocks of texts": ("$$x" + r"(\text{for } n)" * 1_200 + "$$ . ") * 10,
    "short blocks of arrays": ("$$" + r"\begin{array}{l}x=1\\" * 900 + r"\end{array}" * 80 + "$$ . ") * 10,
    "opening braces": "{" * N,
    "nested braces": "$$" + "{" * (N // 2) + "}" * (N // 2) + "$$",
    "nested groups": ("$$" + "{" * 9_900 + "}" * 9_900 + "$$ . ") * 10,
    "nested boxes": r"\boxed{" * (N // 8) + "x=1" + "}" * (N // 8),
    "nested boxes in a chain": ("$$" + r"\boxed{x=" * 1_900 + "1" + "}" * 1_900 + "$$ . ") * 9,
    "open boxes": r"\boxed{" * (N // 5),
    "open environments": r"\begin{align}" * (N // 8),
    "crossed environments": r"\begin{align}\begin{gather}" * 3_000 + r"\end{align}\end{gather}" * 3_000,
    "open round": r"\(" * N,
    "open square": r"\[" * N,
    "backslashes": "\\" * 2 * N,
    "averages": ("$$" + "<a>" * 6_500 + "$$ . ") * 10,
    "kets": ("$$" + r"|\rangle\langle|" * 1_200 + "$$ . ") * 10,
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
    "unbalanced everything": "}{$\\[\\(\\begin{align}" * (N // 10),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_ends(attack: str) -> None:
    """Each takes about a second; what is quadratic in any of these takes minutes, and the run shows it."""
    assert len(extract(attack)) <= MAX_FORMULAS

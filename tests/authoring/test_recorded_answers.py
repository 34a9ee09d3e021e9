"""Answers as data sets record them: numbers with units and powers of ten, choices, formulas, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism.authoring.importers.entries import REFUSALS, AnswerKind, RecordedAnswer, RefusedError
from prism.authoring.importers.recorded_answers import answer_nodes, spelled_unit, split_power, value_of
from prism.authoring.plain_answers import first_quantity, numbers_of, tagged_answer

NUMBER, FORMULA, CHOICE, TRUTH, UNKNOWN = (
    AnswerKind.NUMBER, AnswerKind.FORMULA, AnswerKind.CHOICE, AnswerKind.TRUTH, AnswerKind.UNKNOWN,
)  # fmt: skip


def read(text: str, unit: str = "", kind: AnswerKind = UNKNOWN, question: str = "") -> list[tuple[str, str]]:
    return [(node.latex, node.form) for node in answer_nodes(RecordedAnswer(text, kind, unit), question)]


@pytest.mark.parametrize(
    ("text", "unit", "latex"),
    [
        ("2.5", "", "2.5"),
        (" -4.0 ", "$\\mathrm{~m} / \\mathrm{s}$", r"-4.0\unit{m / s}"),
        ("3.31", "$10^{-19} \\mathrm{~J}$", r"3.31 \times 10^{-19}\unit{J}"),
        ("1.2\\times 10^{3}", "$10^6$ Pa", r"1.2 \times 10^{9}\unit{Pa}"),
        ("2e5", "Hz", r"2 \times 10^{5}\unit{Hz}"),
        ("12,500", "Btu/hr", r"12500\unit{Btu/hr}"),
        ("\\boxed{$7.0$}", "$^{\\circ}\\mathrm{C}$", r"7.0\unit{°C}"),
        ("$\\frac{3}{2}$", "eV", r"\frac{3}{2}\unit{eV}"),
        ("E = 2.2", "GeV", r"E = 2.2\unit{GeV}"),
        ("0.71 \\, \\text{mm}", "", r"0.71 \, \text{mm}"),
        ("5 m/s", "", r"5\unit{m/s}"),
    ],
)
def test_numbers(text: str, unit: str, latex: str) -> None:
    assert read(text, unit) == [(latex, "numerical")]


def test_an_italic_unit_behind_a_number_is_one_where_a_number_is_expected() -> None:
    assert read("$1.9 \\times 10^{-9} m$", "m", NUMBER) == [(r"1.9 \times 10^{-9}\unit{m}", "numerical")]


def test_letters_of_the_question_are_no_unit() -> None:
    asked = "A body of mass $m$ falls with the acceleration $g$."
    assert read("2 m g", question=asked) == [("2 m g", "algebraic")]
    assert read("2 m", kind=FORMULA) == [("2 m", "algebraic")]


@pytest.mark.parametrize(
    ("text", "kind", "latex"),
    [
        ("\\boxed{$v = a t$}.", FORMULA, "v = a t"),
        ("$$\\frac{p^2}{2m}$$", FORMULA, "\\frac{p^2}{2m}"),
        ("(b) \\, N = 3 k", UNKNOWN, "N = 3 k"),
        ("$v = a t$ if $t < T$.", FORMULA, "v = a t"),
        ("\\psi = A \\cos k x \\text{ for odd } n", UNKNOWN, "\\psi = A \\cos k x"),
    ],
)
def test_formulas(text: str, kind: AnswerKind, latex: str) -> None:
    assert read(text, kind=kind) == [(latex, "algebraic")]


def test_a_choice_has_the_letters_of_its_question_as_options() -> None:
    (node,) = answer_nodes(RecordedAnswer("(b)"), "Which one? (a) mass (b) charge (c) spin")
    assert (node.latex, node.form, node.instructions) == ("b", "text-based", "'a/b/c'")
    (node,) = answer_nodes(RecordedAnswer("\\text{C}", CHOICE), "Which one?")
    assert (node.latex, node.instructions) == ("C", "'A/B/C/D'")


@pytest.mark.parametrize(("text", "word"), [("True", "true"), ("F", "false"), ("No.", "no"), ("正确", "true")])
def test_true_or_false(text: str, word: str) -> None:
    (node,) = answer_nodes(RecordedAnswer(text, TRUTH), "")
    assert (node.latex, node.form) == (word, "text-based")


@pytest.mark.parametrize(
    ("text", "unit", "kind", "code"),
    [
        ("", "", UNKNOWN, "no-answer"),
        ("the field vanishes", "", UNKNOWN, "answer-in-words"),
        ("\\text{dark}", "", UNKNOWN, "answer-in-words"),
        ("$E$ grows", "", AnswerKind.WORDS, "answer-in-words"),
        ("\\frac{1}{", "", FORMULA, "answer-unread"),
        ("[4.9, 5.1]", "s", NUMBER, "answer-interval"),
        ("[10^{-1.5}, 10^{-0.5}]", "s", NUMBER, "answer-interval"),
        ("Segment 4: slope = 0", "", FORMULA, "answer-unread"),
        ("(0, 2)", "", AnswerKind.INTERVAL, "answer-interval"),
        ("ABD", "", CHOICE, "several-choices"),
        ("Z", "", CHOICE, "answer-unread"),
        ("nan", "m", NUMBER, "no-answer"),
        ("N/A", "", UNKNOWN, "no-answer"),
        ("0.1-0.2 \\mathrm{m}", "", UNKNOWN, "answer-interval"),
        ("4.9--5.1", "s", NUMBER, "answer-interval"),
        ("240", "seats", NUMBER, "unit-unread"),
        ("maybe", "", TRUTH, "answer-in-words"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(text: str, unit: str, kind: AnswerKind, code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read(text, unit, kind)
    assert caught.value.code == code
    assert str(caught.value).startswith(REFUSALS[code])


@pytest.mark.parametrize(
    ("unit", "power", "rest"),
    [
        ("$10^{-19}$ J", -19, "J"),
        ("\\times 10^6 Pa", 6, "Pa"),
        ("10^3", 3, ""),
        ("m/s", 0, "m/s"),
        ("100 m", 0, "100 m"),
    ],
)
def test_powers_of_ten(unit: str, power: int, rest: str) -> None:
    assert split_power(unit) == (power, rest)


@pytest.mark.parametrize(
    "unit", ["psi", "lbf", "ft·lbf", "degF", "gal/min", "W/(m·K)", "\\mathrm{~kJ} \\mathrm{~mol}^{-1}"]
)
def test_units_are_spelled_so_that_they_are_read(unit: str) -> None:
    assert spelled_unit(unit)


@pytest.mark.parametrize("unit", ["furlongs of cloth", "passengers", "$"])
def test_a_word_is_no_unit(unit: str) -> None:
    assert spelled_unit(unit) == ""


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("720 W", r"720\unit{W}"),
        ("The rate is 12,500 Btu/hr (3.7 kW).", r"12500\unit{Btu/hr}"),
        ("Re = 40000", "40000"),
        ("$2.5 \\times 10^{-3}$ m", r"2.5 \times 10^{-3}\unit{m}"),
        ("5.2 in total", "5.2"),
        ("1. The speed is 3.0 m/s", r"3.0\unit{m/s}"),
    ],
)
def test_the_first_quantity_of_a_sentence(text: str, quantity: str) -> None:
    assert first_quantity(text) == quantity


def test_a_sentence_without_a_number_has_no_quantity() -> None:
    assert first_quantity("It is stable.") is None
    assert tagged_answer("v = 2 m/s") is None
    assert tagged_answer("**Final Answer:** 1\n\n**Answer:** 2 m/s\n\nGood luck.") == "2 m/s"
    assert numbers_of("In room B2 the 3 walls lose 4.5e3 W") == ["3", "4.5e3"]


@given(st.text(max_size=60), st.text(max_size=12), st.sampled_from(list(AnswerKind)))
def test_any_text_is_read_or_refused(text: str, unit: str, kind: AnswerKind) -> None:
    try:
        nodes = answer_nodes(RecordedAnswer(text, kind, unit), "")
    except RefusedError as error:
        assert error.code in REFUSALS
    else:
        assert nodes
    value_of(text)
    first_quantity(text)

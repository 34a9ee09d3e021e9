"""English prose around formulas: where sentences end, and that no text makes the search quadratic."""

from __future__ import annotations

import time

import pytest

from prism.latex.prose import (
    CLAUSE_END,
    FORMULA,
    MAX_SENTENCE,
    SENTENCE_END,
    is_negation,
    mask_formulas,
    sentence_end,
    sentence_start,
    visible_text,
    words,
)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("It moves. It stops.", 2),
        ("It moves (fast.) It stops.", 2),
        ("By Eq. 3, cf. Fig. 2, i.e. the sum", 0),
        ("g is 9.81 here", 0),
        ("It is:\n- one\n- two", 2),
        ("A heading\n\nA paragraph", 1),
        ("A wrapped\nline", 0),
    ],
)
def test_sentence_ends(text: str, ends: int) -> None:
    assert len(SENTENCE_END.findall(text)) == ends


def test_a_clause_goes_on_over_the_blank_line_before_a_display() -> None:
    text = mask_formulas("show that\n\n$x$; then", [(11, 14)])
    assert sentence_start(text, 11, ends=CLAUSE_END) == 0
    assert sentence_start(text, 11) == 11
    assert sentence_start(text, len(text), ends=CLAUSE_END) == text.index(";") + 1


def test_a_sentence_ends_at_its_stop() -> None:
    text = "it is wrong that A, but B. C"
    assert sentence_end(text, 0) == text.index(". C")


def test_offsets_stay_under_the_mask() -> None:
    assert mask_formulas("§ 3: $v$", [(5, 8)]) == f"  3: {FORMULA * 3}"


def test_negations() -> None:
    assert all(is_negation(word) for word in words("It isn’t, can't, cannot, never")[1:])
    assert not is_negation("unstable")


@pytest.mark.parametrize("text", ["s\u0336t\u0336able", r"\cancel{stable}", "\u200b", r"\phantom{stable}"])
def test_what_is_struck_out_is_not_visible(text: str) -> None:
    assert "stable" not in visible_text(text)


@pytest.mark.parametrize("piece", ["\n", ". ", "\n\n", "\n- ", ")", ".)", "a ", "\n \n"])
def test_no_text_makes_the_search_quadratic(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begin = time.perf_counter()
    for pattern in (SENTENCE_END, CLAUSE_END):
        assert len(pattern.findall(text)) <= len(text)
    assert len(text) - sentence_start(text, len(text)) <= MAX_SENTENCE
    assert time.perf_counter() - begin < 5

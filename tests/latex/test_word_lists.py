"""Words of several languages beside formulas: every shipped list is whole, and what is wrong with a file is told."""

from __future__ import annotations

import re

import pytest

from prism.errors import DataFileError
from prism.latex.word_lists import KINDS, MEANINGS, any_word, read_word_list, word_lists

WANTED = "english german french spanish italian portuguese dutch chinese japanese".split()


def test_nine_languages_have_every_list() -> None:
    assert word_lists().keys() >= set(WANTED)
    for language in WANTED:
        assert all(word_lists()[language][kind] for kind in KINDS), language


def test_nine_languages_have_words_for_every_meaning_of_an_answer() -> None:
    for language in WANTED:  # "no" is both "no" and "not" in Spanish and Portuguese
        assert {f"answers.{meaning}" for meaning in MEANINGS - {"no"}} <= word_lists()[language].keys(), language


def test_a_meaning_that_is_none_is_told() -> None:
    text = "\n".join(f"{kind} = []" for kind in KINDS) + '\n[answers]\nsmae = ["gleich"]\nlarger = ["größer", "größer"]'
    with pytest.raises(DataFileError) as caught:
        read_word_list(text, file="x.toml")
    assert len(caught.value.faults) == 2, caught.value.faults
    with pytest.raises(DataFileError, match="no table"):
        read_word_list("answers = 3", file="x.toml")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_text_is_found_as_a_whole_word(kind: str) -> None:
    pattern = re.compile(any_word(kind), re.IGNORECASE)
    for language, lists in word_lists().items():
        for text in lists[kind]:
            found = pattern.search(f"F {text} G")
            assert found is not None, (language, text)
            assert text in found[0], (language, text)
    assert pattern.search("moderate ouverture oderint") is None


def test_all_faults_of_a_file_are_told() -> None:
    text = 'alternatives = ["or", "or"]\nlooser = [" so"]\nmore = []\nconditions = []\nconditionals = []\n'
    text += "ranges = []\nconnectives = []\ncomparisons = []\nrestating = []\ninstead = []\nlines = []"
    with pytest.raises(DataFileError) as caught:
        read_word_list(text, file="x.toml")
    assert len(caught.value.faults) == 4, caught.value.faults
    with pytest.raises(DataFileError, match="no TOML"):
        read_word_list("alternatives = [", file="x.toml")

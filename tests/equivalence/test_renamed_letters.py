"""Letters renamed throughout a row: what is the same stays the same, but for what is listed."""

from __future__ import annotations

import pytest

from benchmarks.accuracy import renamed_letters

ADVICE = "read what changed: python benchmarks/accuracy/renamed_letters.py"


@pytest.mark.slow
@pytest.mark.compiled
def test_rows_stay_equivalent() -> None:
    found = renamed_letters.measured()
    equal = [each for each in found if each.expected == "equivalent"]
    assert not renamed_letters.gained(found), ADVICE
    assert renamed_letters.lost(found).keys() == renamed_letters.listed().keys(), ADVICE
    assert sum(each.found == "equivalent" for each in equal) >= 0.99 * len(equal) > 2000


@pytest.mark.compiled
def test_a_sample_stays_equivalent() -> None:
    found = renamed_letters.measured(every=30)
    assert len(found) > 100
    assert not renamed_letters.gained(found), ADVICE
    assert renamed_letters.lost(found).keys() <= renamed_letters.listed().keys(), ADVICE


def test_a_letter_that_decides_is_seen() -> None:
    row = {"id": "x", "a": r"b = 3\,\mathrm{m}", "b": r"b = 3 l", "expect": "equivalent"}
    found = list(renamed_letters.outcomes("x", row))
    assert found
    assert renamed_letters.lost(found).keys() == {"x"}


def test_only_letters_are_renamed() -> None:
    by = {"m": "u", "a": "p", "n": "k", r"\alpha": r"\beta"}
    text = r"\frac{ma}{\sin\alpha} = \mathrm{man}\,\max(n, a) \\ m_n"
    assert renamed_letters.renamed(text, by) == r"\frac{up}{\sin\beta} = \mathrm{man}\,\max(k, p) \\ u_k"

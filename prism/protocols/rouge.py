"""ROUGE-2 and ROUGE-L of two texts: shared pairs of words, and the longest run of words in order, as exact F1.

Words are runs of letters and digits in lower case, without stems and stop words, as the usual package takes them by
default. Overlap of pairs is clipped: a pair counts as often as in the text where it is rarer. With p = overlap /
candidate and r = overlap / reference, F1 = 2 p r / (p + r) = 2 overlap / (candidate + reference).

The longest common subsequence is counted with the bits of a whole number, one for each word of the reference
(Hyyrö 2004), so that texts of some thousand words cost little.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

MAX_WORDS = 20_000  # of a text, from its start; a longer one is no solution
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Rouge:
    """F1 of shared pairs of words and of the longest common subsequence, each from 0 to 1."""

    pairs: Fraction
    longest: Fraction


def rouge(reference: str, candidate: str) -> Rouge:
    """Return both measures; 0 where a text has no pair of words, or no word.

    >>> rouge("the rate is two", "the rate is three")
    Rouge(pairs=Fraction(2, 3), longest=Fraction(3, 4))
    """
    first, second = _words(reference), _words(candidate)
    pairs, others = Counter(pairwise(first)), Counter(pairwise(second))
    return Rouge(
        _f1((pairs & others).total(), pairs.total() + others.total()),
        _f1(common_subsequence(first, second), len(first) + len(second)),
    )


def _words(text: str) -> list[str]:
    """Return the words of a text."""
    return _WORD.findall(text.lower())[:MAX_WORDS]


def _f1(overlap: int, both: int) -> Fraction:
    """Return the F1 of an overlap, by the sum of both sizes."""
    return Fraction(2 * overlap, both) if both else Fraction(0)


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two lists of words.

    >>> common_subsequence("abcbdab", "bdcaba")
    4
    """
    places: dict[str, int] = defaultdict(int)
    for k, word in enumerate(first):
        places[word] |= 1 << k
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        hit = row & places.get(word, 0)
        row = ((row + hit) | (row - hit)) & full
    return len(first) - row.bit_count()

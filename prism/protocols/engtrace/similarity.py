"""Do the texts of two steps agree: by their formulas, by their words, or by a measure that a file brings.

The paper asks a cross-encoder, which no rule can give again. `nodes` asks what the encoder stands for: do both steps
state the same. Only where neither states a formula are words compared, and each such pair is counted.

ROUGE-2 and ROUGE-L of two texts: shared pairs of words, and the longest run of words in order, as exact F1.

Words are runs of letters and digits in lower case, without stems and stop words, as the usual package takes them by
default. Overlap of pairs is clipped: a pair counts as often as in the text where it is rarer. With p = overlap /
candidate and r = overlap / reference, F1 = 2 p r / (p + r) = 2 overlap / (candidate + reference).

The longest common subsequence is counted with the bits of a whole number, one for each word of the reference
(Hyyrö 2004), so that texts of some thousand words cost little.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from prism.protocols.engtrace.formulas import Meeting, StepPairs
from prism.protocols.engtrace.steps import Trace

MAX_WORDS = 20_000  # of a text, from its start; a longer one is no solution
_ROUGE_WORD = re.compile(r"[a-z0-9]+")


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
    return _ROUGE_WORD.findall(text.lower())[:MAX_WORDS]


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


LEXICAL_THRESHOLD = Fraction(1, 2)  # share of common word stems that is enough
FILE_THRESHOLD = Fraction(7, 10)  # that the measure of a file has to be above: the released script's
_SHORTEST_STEM = 3
_ENDINGS = ("ations", "ation", "ating", "ated", "ates", "ate", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y")
_FUNCTION_WORDS = frozenset(
    "the and for with from into that this these those which then than thus hence are was were has have had will its our"
    " their both each using use used step".split()
)
_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{3,}(?![\w(])")


class Similarity(StrEnum):
    """How the texts of two steps are compared."""

    NODES = "nodes"
    LEXICAL = "lexical"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """Whether the texts of two steps agree.

    Attributes:
        agrees: None where it is not decided.
        is_lexical: their words have decided it.
    """

    agrees: bool | None
    is_lexical: bool = False


@dataclass(frozen=True, slots=True)
class Measure:
    """What decides whether texts agree, for one pair of traces.

    Attributes:
        pairs: gives what the formulas of the steps say of each other; asked by `nodes` only.
        shares: of a file: the measure of each (gold step, predicted step), both from 0.
        threshold: that a measure of a file has to be above.
    """

    similarity: Similarity
    gold: Trace
    predicted: Trace
    pairs: Callable[[], StepPairs] | None = None
    shares: Mapping[tuple[int, int], Fraction] | None = None
    threshold: Fraction = FILE_THRESHOLD

    def compare(self, i: int, j: int) -> TextVerdict:
        """Decide whether the texts of gold step i and predicted step j agree."""
        if self.similarity is Similarity.FILE:
            share = (self.shares or {}).get((i, j))
            return TextVerdict(None if share is None else share > self.threshold)
        meeting = Meeting.NONE
        if self.similarity is Similarity.NODES and self.pairs is not None:
            meeting = self.pairs().rows[i][j].meeting
        if meeting is Meeting.NONE:
            share = common_stems(self.gold.steps[i].text, self.predicted.steps[j].text)
            return TextVerdict(share >= LEXICAL_THRESHOLD, is_lexical=True)
        return TextVerdict(None if meeting is Meeting.OPEN else meeting is Meeting.SAME)


def common_stems(one: str, other: str) -> Fraction:
    """Return the share of word stems that two texts have in common, among all that they have; 0 of no words.

    Words are of three letters or more, without function words such as `the`; names of functions and commands of LaTeX
    are none. A stem is the word without its longest ending of those in `_ENDINGS`, if three letters stay.

    >>> common_stems("Calculate the velocity.", "Calculating velocities")
    Fraction(1, 1)
    >>> common_stems("Find the area", "Find the mass")
    Fraction(1, 3)
    """
    first, second = _stems(one), _stems(other)
    return Fraction(len(first & second), len(first | second) or 1)


def _stems(text: str) -> frozenset[str]:
    """Return the word stems of a text."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _FUNCTION_WORDS)


def _stem(word: str) -> str:
    """Return a word without its longest known ending, if enough of it stays."""
    fitting = (each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= _SHORTEST_STEM)
    ending = max(fitting, key=len, default="")
    return word[: len(word) - len(ending)]

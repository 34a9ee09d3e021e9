"""Do the texts of two steps agree: by their formulas, by their words, or by a measure that a file brings.

The paper asks a cross-encoder, which no rule can give again. `nodes` asks what the encoder stands for: do both steps
state the same. Only where neither states a formula are words compared, and each such pair is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from prism.protocols.engtrace_formulas import Meeting, StepPairs
from prism.protocols.engtrace_steps import Trace

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

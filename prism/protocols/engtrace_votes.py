"""Tier 2: what judges say of a pair of steps, read as data, and what is made of several judges.

Each vote gives a class, or the score itself. Classes are those of the released script; for the score there are three:
1 for a step that is right another way, 1/2 for the right formula with a wrong number, 0 for the rest. What the script
writes where its judge failed is no vote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

CLASS_SCORES: dict[str, Fraction] = {
    "Alternative Correct": Fraction(1),
    "Calculation Error": Fraction(1, 2),
    "Input Error": Fraction(1, 2),
    "Conceptual Error": Fraction(0),
    "Other": Fraction(0),
}
"""The five classes that a judge chooses from. The paper's scores are not readable; these are ours."""

NO_VOTE = ("Analysis Skipped", "Analysis Failed", "Formatting Error")
"""What the released script writes in place of a class where its judge gave none."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge says of a pair of steps.

    Attributes:
        answer: the class, or the score as it was written.
        score: None where the judge gave none.
    """

    judge: str
    answer: str
    score: Fraction | None


def consensus(votes: Sequence[Vote]) -> Fraction | None:
    """Return the score that more than half of the judges give, else the lowest; None if none gives any.

    >>> consensus([Vote("A", "1", Fraction(1)), Vote("B", "1", Fraction(1)), Vote("C", "0", Fraction(0))])
    Fraction(1, 1)
    >>> consensus([Vote("A", "1", Fraction(1)), Vote("B", "0", Fraction(0))])
    Fraction(0, 1)
    """
    scores = [vote.score for vote in votes if vote.score is not None]
    if not scores:
        return None
    score, n = Counter(scores).most_common(1)[0]
    return score if 2 * n > len(scores) else min(scores)


def in_words(votes: Sequence[Vote]) -> tuple[str, ...]:
    """Return votes as findings, in the order of the judges' names: `vote A: Alternative Correct`."""
    return tuple(f"vote {vote.judge}: {vote.answer}" for vote in sorted(votes, key=lambda one: (one.judge, one.answer)))

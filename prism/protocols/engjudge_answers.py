"""What a stated number costs in EngJudge's FINAL_ANSWER: relative error, band, and one band for several values.

| relative error | band | costs |
|---|---|---|
| at most 5 % | `correct` | nothing |
| more than 5 %, at most 10 % | `moderate` | MODERATE |
| more than 10 % | `major` | MAJOR |
| wrong order of magnitude | `critical` | CRITICAL |

The paper does not say what a wrong order of magnitude is. Here it is a number at least ten times as large as the right
one, or at most a tenth of it, whatever its sign; zero has no order of magnitude, so it is `major`.

Source: EngVQA / EngJudge, arXiv 2606.10833.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction

CORRECT_WITHIN = Fraction(5, 100)  # relative error, ends included
MODERATE_WITHIN = Fraction(10, 100)
MAGNITUDE = 10  # times as large or as small is another order of magnitude


class Band(StrEnum):
    """How far a number is from the right one, as `error_band` of a findings row names it."""

    CORRECT = "correct"
    MODERATE = "moderate"
    MAJOR = "major"
    CRITICAL = "critical"


SEVERITIES = {Band.MODERATE: "MODERATE", Band.MAJOR: "MAJOR", Band.CRITICAL: "CRITICAL"}
"""The severity of each band that costs points, as a key of `engjudge_scoring.PENALTIES`."""


def relative_error(stated: Fraction, reference: Fraction) -> Fraction | None:
    """Return how far a number is from the reference, as a share of it; None beside 0, unless both are 0.

    >>> relative_error(Fraction(500), Fraction(520))
    Fraction(1, 26)
    """
    if not reference:
        return None if stated else Fraction(0)
    return abs(stated - reference) / abs(reference)


def error_band(stated: Fraction, reference: Fraction) -> Band | None:
    """Return the band of a number; None where the relative error is not defined.

    >>> [str(error_band(Fraction(value), Fraction(100))) for value in (105, 110, 111, 1000, 10, 0)]
    ['correct', 'moderate', 'major', 'critical', 'critical', 'major']
    """
    error = relative_error(stated, reference)
    if error is None:
        return None
    if error <= CORRECT_WITHIN:
        return Band.CORRECT
    if error <= MODERATE_WITHIN:
        return Band.MODERATE
    if stated and not Fraction(1, MAGNITUDE) < abs(stated / reference) < MAGNITUDE:
        return Band.CRITICAL
    return Band.MAJOR


def overall_band(bands: Iterable[Band]) -> Band:
    """Return the one band of several values: the worst of them, and at most `major` if any value is right.

    The paper has one penalty for all values by overall accuracy, and "5 to 7" for one right and one fundamentally
    wrong.

    >>> str(overall_band([Band.CORRECT, Band.CRITICAL])), str(overall_band([Band.MODERATE, Band.CRITICAL]))
    ('major', 'critical')
    """
    order = list(Band)
    listed = sorted(bands, key=order.index)
    if not listed:
        return Band.CORRECT
    worst = listed[-1]
    return Band.MAJOR if worst is Band.CRITICAL and listed[0] is Band.CORRECT else worst

r"""What a question says of the number that it wants: its unit (semantics F.10), if it is counted (semantics N.2).

A number without a unit is read in the unit asked for, "in metres per second", and in no other: a grader that takes
whichever unit fits pays for a number twice. A whole number is exact, unless the question asks for something measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prism.physics.tables import Dimension, Unit
from prism.physics.units import find_unit, find_unit_product

MAX_WORDS = 4  # of a unit that is written out: "metres per second squared"
_IN = re.compile(
    r"\b(?:[Ii]n (?:units? of )?|[Hh]ow many |[Ww]hat (?=percent))(?=(?P<words>[^\s?;:!]+(?: [^\s?;:!]+){0,3}))"
)  # "in cm or in mm": twice
_ROMAN = re.compile(r"\\(?:mathrm|text|textrm|unit|rm)\s*\{([^{}]*)\}")
_COUNTS = re.compile(
    r"\b(?:how many|number of|remainder|digits?|integers?|primes?|divisors?|modulo)\b"
    r"|\$\s*[a-z](?:\s*\+\s*[a-z])+\s*\$",  # find $m + n$
    re.IGNORECASE,
)
_ROUNDS = re.compile(
    r"\b(?:approximate(?:ly)?|approx\.?|about (?:how|what)|estimate[ds]?|roughly|nearest|round(?:ed)?|significant"
    r"|sig figs?|order of magnitude)\b",
    re.IGNORECASE,
)
# A decimal, or a number with a unit in roman letters or of two letters and more.
_MEASURED = re.compile(
    r"\d\.\d|\d(?:\s|~|\\[,;: ])*(?P<roman>\\(?:mathrm|text|textrm|unit|rm)\s*\{)?(?P<unit>[A-Za-zµ°%]+)"
)
_NO_UNITS = frozenset(("a", "an", "the", "at", "as", "h", "d", "t", "g"))  # words and letters rather than units


def asked_unit(question: str, dimension: Dimension | None = None) -> Unit | None:
    r"""Return the one unit that a question names behind "in"; None if it names none, or several.

    Args:
        question: text with LaTeX.
        dimension: of the unit; by default any.

    >>> [asked_unit(text) for text in ("Give $x$ in cm or in mm.", "How far does it fall in the time $t$?")]
    [None, None]
    >>> unit = asked_unit(r"Give $v$ in $\mathrm{km/h}$.")
    >>> unit is not None and unit.factor
    Fraction(5, 18)
    """
    found = {unit for unit in _named_units(question) if dimension is None or unit.dimension == dimension}
    return found.pop() if len(found) == 1 else None


def is_measured(question: str) -> bool:
    """Return True if a whole number that a question wants is one of a measurement, and so rounded (semantics N.2).

    Args:
        question: text with LaTeX; without any nothing is measured.

    >>> [is_measured(text) for text in ("How many ways are there?", "Estimate the Reynolds number.", "Find $m + n$.")]
    [False, True, False]
    >>> is_measured("How many joules of heat are given off?"), is_measured("A 2.5 kg block slides. Find the ratio.")
    (True, True)
    """
    if _ROUNDS.search(question) or any(any(unit.dimension) or unit.pi for unit in _named_units(question)):
        return True
    return _COUNTS.search(question) is None and any(map(_shows_measurement, _MEASURED.finditer(question)))


def _shows_measurement(match: re.Match[str]) -> bool:
    """Return True for a decimal, or a number whose unit has a dimension."""
    if match["unit"] is None:
        return True
    unit = find_unit(match["unit"]) if match["roman"] or len(match["unit"]) > 1 else None
    return unit is not None and any(unit.dimension)


def _named_units(question: str) -> Iterator[Unit]:
    """Yield the units that a question names behind "in"."""
    for match in _IN.finditer(question):
        words = [_ROMAN.sub(r"\1", word) for word in match["words"].split(" ")]
        if "$" in words[0] and r"\mathrm" not in match["words"] and r"\text" not in match["words"]:
            continue
        cleaned = [word.strip("$().,\\~").replace("percentage", "percent") for word in words][:MAX_WORDS]
        if cleaned[0] in _NO_UNITS:
            continue
        for count in range(len(cleaned), 0, -1):
            unit = find_unit_product(" ".join(cleaned[:count]))
            if unit is not None:
                yield unit
                break

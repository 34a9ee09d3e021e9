r"""The unit in which a question wants its number: "in metres per second", "Give $x$ in cm" (semantics F.10).

A number without a unit is read in it, and in no other: a grader that takes whichever unit fits pays for a number twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prism.physics.tables import Dimension, Unit
from prism.physics.units import find_unit_product

MAX_WORDS = 4  # of a unit that is written out: "metres per second squared"
_IN = re.compile(r"\b[Ii]n (?:units? of )?(?=(?P<words>[^\s?;:!]+(?: [^\s?;:!]+){0,3}))")  # "in cm or in mm": twice
_ROMAN = re.compile(r"\\(?:mathrm|text|textrm|unit|rm)\s*\{([^{}]*)\}")
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


def _named_units(question: str) -> Iterator[Unit]:
    """Yield the units that a question names behind "in"."""
    for match in _IN.finditer(question):
        words = [_ROMAN.sub(r"\1", word) for word in match["words"].split(" ")]
        if "$" in words[0] and r"\mathrm" not in match["words"] and r"\text" not in match["words"]:
            continue
        cleaned = [word.strip("$().,\\~") for word in words][:MAX_WORDS]
        if cleaned[0] in _NO_UNITS:
            continue
        for count in range(len(cleaned), 0, -1):
            unit = find_unit_product(" ".join(cleaned[:count]))
            if unit is not None:
                yield unit
                break

r"""The rubric of an open-ended EngiBench question: a cell for each dimension, whose heads share ten points.

A cell is prose with a fixed skeleton: heads such as `(1) Names what is uncertain (6 points)`, each followed by the
levels that a marker may give, `6 points: ...`. Rules read the skeleton and add; what an answer deserves is for a marker
to say, in a file.

>>> rubric = read_rubric("(1) Margins (6 points)\n6 points: both\n3 points: one\n(2) Source (4 points)")
>>> [(head.number, head.name, int(head.points)) for head in rubric.heads], int(rubric.total)
([(1, 'Margins', 6), (2, 'Source', 4)], 10)

Refused: taking a rubric of nine points for one of ten, or stretching it to ten. Its tenth point is undecided.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from prism.protocols.rows import Basis, Part

TOTAL = 10  # points of a cell
DIMENSIONS = {
    "information_extraction": ("information_extraction_score", "redundant_information_filtering_score"),
    "domain_specific_reasoning": ("domain_specific_reasoning_score", "deep_knowledge_integration_score"),
    "multi_objective_decision": ("multi_objective_decision_score", "multi_objective_tradeoff_score"),
    "uncertainty_handling": ("uncertainty_handling_score",),
}
"""The four dimensions with the columns of their rubrics: of April 2026, then of May 2025."""

_CONVERTED = {"redundant_information": "information_extraction", "domain_knowledge": "domain_specific_reasoning"}
"""Names of the rubric file of `prism convert --from engibench`, where they differ."""

MAX_CELL = 100_000  # characters of a cell that are read: a rubric is a page
_POINTS = r"\d{1,3}(?:\.\d{1,3})?"
_HEAD = re.compile(
    rf"\(\s{{0,3}}(?P<number>\d{{1,2}})\s{{0,3}}\)\s{{0,5}}(?P<name>[^()\n]{{0,300}}(?:\([^()\n]{{0,80}}\)[^()\n]{{0,80}})?)"
    rf"\(\s{{0,3}}(?P<points>{_POINTS})\s{{0,3}}(?:points?|pts?)\.?\s{{0,3}}\)",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    rf"(?<![\d.(\-])(?P<low>{_POINTS})(?:\s{{0,3}}-\s{{0,3}}(?P<high>{_POINTS}))?\s{{0,3}}(?:points?|pts?)\.?\s{{0,3}}:",
    re.IGNORECASE,
)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—−~"), "-")


@dataclass(frozen=True, slots=True)
class RubricHead:
    """One head of a rubric cell.

    Attributes:
        points: what it is worth.
        levels: what a marker may give, lowest and highest number of each; empty where the cell lists none.
    """

    number: int
    name: str
    points: Fraction
    levels: tuple[tuple[Fraction, Fraction], ...] = ()

    def allows(self, got: Fraction) -> bool:
        """Return True for 0 and for a level of the list, without a list for any number, and not beyond the points."""
        is_listed = not got or not self.levels or any(low <= got <= high for low, high in self.levels)
        return is_listed and 0 <= got <= self.points

    @property
    def levels_text(self) -> str:
        """The levels in words: `6, 3 to 4`; without a list `0 to 6`."""
        spans = self.levels or ((Fraction(0), self.points),)
        return ", ".join(
            points_text(low) if low == high else f"{points_text(low)} to {points_text(high)}" for low, high in spans
        )


@dataclass(frozen=True, slots=True)
class Rubric:
    """The heads of a cell, in its order; none where it is empty or has no skeleton."""

    heads: tuple[RubricHead, ...] = ()

    @property
    def total(self) -> Fraction:
        """The points of all heads; ten, unless the cell is faulty."""
        return sum((head.points for head in self.heads), Fraction(0))

    @property
    def fault(self) -> str:
        """Why no score out of ten can be given by it; empty if one can."""
        numbers = [head.number for head in self.heads]
        if not numbers:
            return "rubric: no heads with points are found in the cell"
        if repeated := sorted({number for number in numbers if numbers.count(number) > 1}):
            return f"rubric: head {repeated[0]} stands twice in the cell"
        return "" if self.total == TOTAL else f"rubric: its heads add up to {points_text(self.total)}, not to {TOTAL}"


@dataclass(frozen=True, slots=True)
class Marked:
    """An answer's points in one dimension: exact scores from 0 to 1, the heads as parts, and what was noted."""

    score: Fraction | None
    low: Fraction
    high: Fraction
    parts: tuple[Part, ...]
    notes: tuple[str, ...]


def dimension_of(name: str) -> str:
    """Return the dimension that a name of either snapshot means, with or without `_score`; empty for another name."""
    plain = name.strip().lower().replace(" ", "_").replace("-", "_").removesuffix("_score")
    found = (dimension for dimension, columns in DIMENSIONS.items() if f"{plain}_score" in columns)
    return _CONVERTED.get(plain) or next(found, "")


def read_rubric(cell: str) -> Rubric:
    """Read the heads of a cell with their levels; a cell that lists levels alone has one head."""
    text = unicodedata.normalize("NFKC", cell[:MAX_CELL]).translate(_DASHES)
    found = list(_HEAD.finditer(text))
    if not found:
        levels = _levels(text)
        most = max((high for _, high in levels), default=Fraction(0))
        return Rubric((RubricHead(1, "", most, levels),) if levels else ())
    ends = [*(each.start() for each in found[1:]), len(text)]
    return Rubric(tuple(_head(each, text[each.end() : end]) for each, end in zip(found, ends, strict=True)))


def _head(found: re.Match[str], behind: str) -> RubricHead:
    """Return a head; its levels stand between it and the next one."""
    name = found["name"].strip(" \t:;.-")
    return RubricHead(int(found["number"]), name, Fraction(found["points"]), _levels(behind))


def _levels(text: str) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the levels that a stretch of a cell lists, highest first, each as its lowest and highest number."""
    spans = set()
    for each in _LEVEL.finditer(text):
        ends = Fraction(each["low"]), Fraction(each["high"] or each["low"])
        spans.add((min(ends), max(ends)))
    return tuple(sorted(spans, reverse=True))


def mark(rubric: Rubric, given: Mapping[int, Fraction | None] | None) -> Marked:
    """Add the points that a file gives to the heads of a rubric.

    A head without points in the file, and one with points that are no level of it, is undecided: from 0 to all of its
    points. Heads that do not add up to ten leave the score undecided: of the points that are missing, or too many, both
    the worst and the best is taken.

    Args:
        given: points by the number of the head; None where the file says nothing of the dimension.
    """
    notes = [rubric.fault] if rubric.fault else []
    if given is None:
        notes.append("points: the file has none")
    decided: list[Fraction | None] = []
    parts = []
    for place, head in enumerate(rubric.heads, start=1):
        got = (given or {}).get(head.number)
        if got is not None and not head.allows(got):
            notes.append(f"level: {points_text(got)} is none of head {head.number}, which lists {head.levels_text}")
            got = None
        decided.append(got)
        parts.append(
            _part(head, place, got, is_repeated=any(head.number == o.number for o in rubric.heads[: place - 1]))
        )
    known = {head.number for head in rubric.heads}
    notes += [f"head: {number} is not in the rubric" for number in sorted((given or {}).keys() - known)]
    low = sum((got or Fraction(0) for got in decided), Fraction(0))
    high = sum(
        (head.points if got is None else got for head, got in zip(rubric.heads, decided, strict=True)), Fraction(0)
    )
    is_whole = not rubric.fault and None not in decided
    missing = TOTAL - rubric.total
    bounds = max(low - max(-missing, Fraction(0)), Fraction(0)), min(high + max(missing, Fraction(0)), Fraction(TOTAL))
    return Marked(low / TOTAL if is_whole else None, bounds[0] / TOTAL, bounds[1] / TOTAL, tuple(parts), tuple(notes))


def _part(head: RubricHead, place: int, got: Fraction | None, *, is_repeated: bool) -> Part:
    """Return a head with its points as a part: its share of them, and the points in words."""
    name = f"head {head.number}" + (f" (place {place})" if is_repeated else "")
    if got is None:
        return Part(name, None, Basis.NONE, (f"points: none of {points_text(head.points)}",))
    share = got / head.points if head.points else Fraction(0)
    return Part(name, share, Basis.FILE, (f"points: {points_text(got)} of {points_text(head.points)}",))


def points_text(points: Fraction) -> str:
    """Write points without trailing zeros: `6`, `2.5`."""
    return f"{points.numerator}" if points.denominator == 1 else f"{float(points):g}"

"""What a run of the EngiBench protocol says of variants: exact means with bounds, and each variant beside the original.

Figures are by level, or by dimension of open-ended questions, whose average is the mean of the four dimensions' means,
as the paper has it. Pairs are by row of the table: the mean over the answers to a variant of a row, less that to its
original. What is undecided is in no mean and no pair, and in the bounds at its worst and its best; what is not scored
is in neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.protocols.engibench import NOT_SCORED
from prism.protocols.engibench_input import VARIANTS
from prism.protocols.engibench_rubrics import DIMENSIONS
from prism.protocols.rows import ProtocolRow, mean_of, rounded

AVERAGE = "average"
BASE = "original"
_ORDER = {name: k for k, name in enumerate(("", "Level 1", "Level 2", *DIMENSIONS, AVERAGE))}
_VARIANT_ORDER = {name: k for k, name in enumerate(VARIANTS)}


@dataclass(frozen=True, slots=True)
class VariantFigure:
    """The mean of one variant at one level, or in one dimension, of one model.

    Attributes:
        model: empty where the answers name none.
        group: `Level 1`, `Level 2`, a dimension, or `average` over the four.
        n: answers that are scored or undecided; of an average those of all its dimensions.
        n_undecided: of these.
        mean: exact, over the scored ones; None without any.
        low, high: exact, with every undecided one at its worst and at its best.
    """

    model: str
    group: str
    variant: str
    n: int
    n_undecided: int
    mean: Fraction | None
    low: Fraction
    high: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": self.model, "group": self.group, "variant": self.variant, "answers": self.n,
            "undecided": self.n_undecided, "mean": rounded(self.mean), "low": rounded(self.low),
            "high": rounded(self.high),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class VariantPairs:
    """A variant beside the original at one level, or in one dimension, of one model, row by row.

    Attributes:
        rows: numbers of the rows that have a score of both, ascending.
        base, other: means of these rows, exact: of the original and of the variant.
    """

    model: str
    group: str
    variant: str
    rows: tuple[int, ...]
    base: tuple[Fraction, ...]
    other: tuple[Fraction, ...]

    @property
    def differences(self) -> tuple[Fraction, ...]:
        """The variant less the original, row by row."""
        return tuple(other - base for base, other in zip(self.base, self.other, strict=True))

    @property
    def mean_difference(self) -> Fraction | None:
        """Exact mean of the differences; None without rows."""
        return mean_of(list(self.differences))


def dimension_average(means: Sequence[Fraction | None]) -> Fraction | None:
    """Return the mean of the four dimensions' means; None if one of them is not known.

    >>> dimension_average([Fraction(8), Fraction(6), Fraction(5), Fraction(4)])
    Fraction(23, 4)
    """
    known = [mean for mean in means if mean is not None]
    return mean_of(known) if len(known) == len(DIMENSIONS) == len(means) else None


_Place = tuple[str, str, str]  # model, group, variant


def _by_place(rows: Iterable[ProtocolRow]) -> dict[_Place, list[ProtocolRow]]:
    """Part rows by model, group and variant, in their order; what is not scored is left out."""
    parted: dict[_Place, list[ProtocolRow]] = defaultdict(list)
    for row in rows:
        if not any(note.startswith(NOT_SCORED) for note in row.notes):
            meta = row.about.meta
            model = meta.get("model")
            group = str(meta.get("dimension") or meta["level"])
            parted["" if model is None else str(model), group, str(meta["variant"])].append(row)
    return parted


def _sorted(places: Iterable[_Place]) -> list[_Place]:
    """Sort by model, then by level or dimension, then by variant."""
    return sorted(places, key=lambda place: (place[0], _ORDER[place[1]], _VARIANT_ORDER[place[2]]))


def variant_figures(rows: Sequence[ProtocolRow]) -> tuple[VariantFigure, ...]:
    """Compute the figure of each model, level or dimension, and variant, and the averages over the dimensions."""
    found: dict[_Place, VariantFigure] = {}
    for place, own in _by_place(rows).items():
        scores = [row.score for row in own if row.score is not None]
        found[place] = VariantFigure(
            *place, len(own), len(own) - len(scores), mean_of(scores),
            mean_of([row.score_low for row in own]) or Fraction(0),
            mean_of([row.score_high for row in own]) or Fraction(0),
        )  # fmt: skip
    for model, variant in {(model, variant) for model, group, variant in found if group in DIMENSIONS}:
        parts = [found.get((model, dimension, variant)) for dimension in DIMENSIONS]
        known = [part for part in parts if part is not None]
        if len(known) == len(DIMENSIONS):
            found[model, AVERAGE, variant] = VariantFigure(
                model, AVERAGE, variant, sum(part.n for part in known), sum(part.n_undecided for part in known),
                dimension_average([part.mean for part in known]),
                mean_of([part.low for part in known]) or Fraction(0),
                mean_of([part.high for part in known]) or Fraction(0),
            )  # fmt: skip
    return tuple(found[place] for place in _sorted(found))


def variant_pairs(rows: Sequence[ProtocolRow]) -> tuple[VariantPairs, ...]:
    """Pair each variant with the original, by row of the table, for each model and level or dimension."""
    means = {place: _means_by_row(own) for place, own in _by_place(rows).items()}
    found = []
    for place in _sorted(means):
        model, group, variant = place
        base = means.get((model, group, BASE), {})
        if variant == BASE or not base:
            continue
        common = sorted(base.keys() & means[place].keys())
        found.append(
            VariantPairs(
                model, group, variant, tuple(common), tuple(base[n] for n in common),
                tuple(means[place][n] for n in common),
            )
        )  # fmt: skip
    return tuple(found)


def _means_by_row(rows: Iterable[ProtocolRow]) -> Mapping[int, Fraction]:
    """Return the exact mean of the scores of each row of the table, by its number."""
    gathered: dict[int, list[Fraction]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            gathered[row.about.meta["row"]].append(row.score)
    return {number: sum(scores, Fraction(0)) / len(scores) for number, scores in gathered.items()}

"""Paired differences between the variants of generated problems: does a solver fail where only the numbers are new?

A template gives the author's own problem (`original`), the same with drawn values (`perturbed`), and of each drawn
instance a text that tells the first steps (`knowledge`) and one of bare symbols (`abstract`). So three things are
compared, within the same values of all other fields of the table: `original - perturbed` by template, each as the mean
over its problems; `knowledge - perturbed` and `abstract - perturbed` by pair, the instances with the same values. A
solver that reasons has an original that is no better; one that remembers has a drop.

Instances of one template are not independent. So the interval is a bootstrap that draws templates with all their pairs,
and the sign test counts templates: if it were chance which variant comes out better, the templates whose mean
difference is above 0 would be binomial with 1/2 among those that differ at all; p is exact and two-sided.

What `knowledge` and `abstract` tell is no achievement. So they are compared in what no told step earns: final answers,
and whatever is no score of steps, such as time and tokens.

Source of the sign test: Dixon, Mood, J. Am. Stat. Assoc. 41 (1946). Refused: scipy for it, which `prism report` would
then need for one sum of binomial coefficients.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from prism.errors import count_of
from prism.generation.template import ABSTRACT, KNOWLEDGE, ORIGINAL, PERTURBED
from prism.problem.schema import TemplateOrigin
from prism.reports.agreement import Estimate, mean_estimate
from prism.reports.cross_tables import CrossTable, Key, Measure, field_reader, key_cells, sorted_keys, with_totals
from prism.reports.report_rows import ReportRow, estimate_to_dict, template_of
from prism.reports.table_formats import Cell, Column, DataTable, Kind, with_intervals

FIELD = "variant"
"""The field of a table that asks for the differences."""

_DIGITS = 9  # of a difference; what is smaller is a rounding error, and has no sign
_P_DIGITS = 6  # significant ones of p, in JSON


# Values. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two variants that are compared, `first` less `second`: by template, or by pair of instances."""

    first: str
    second: str
    paired_by: str

    def __str__(self) -> str:
        """Return `original - perturbed`."""
        return f"{self.first} - {self.second}"


CONTRASTS = (
    Contrast(ORIGINAL, PERTURBED, "template"), Contrast(KNOWLEDGE, PERTURBED, "pair"),
    Contrast(ABSTRACT, PERTURBED, "pair"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class VariantDifference:
    """The mean paired difference of one figure.

    Attributes:
        key: values of the other fields of the table; None for all.
        contrast: what is compared.
        measure: the figure.
        mean: over the templates or pairs, whose number is its `n`; its interval draws templates.
        n_template: number of templates.
        n_above, n_below: templates with a mean difference above and below 0.
        p: of the sign test over templates, two-sided.
    """

    key: Key
    contrast: Contrast
    measure: Measure
    mean: Estimate
    n_template: int
    n_above: int
    n_below: int
    p: float

    def to_dict(self, fields: Sequence[str]) -> dict[str, Any]:
        """Return the difference as plain values for JSON; `fields` are the names of the values of its key."""
        return {
            "values": dict(zip(fields, self.key, strict=True)), "first": self.contrast.first,
            "second": self.contrast.second, "paired_by": self.contrast.paired_by, "measure": self.measure.name,
            "difference": estimate_to_dict(self.mean), "templates": self.n_template, "above": self.n_above,
            "below": self.n_below, "p": float(f"{self.p:.{_P_DIGITS}g}"),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class VariantDifferences:
    """All differences of a table.

    Attributes:
        fields: of the table, but for the variant.
        differences: by the values of these fields, contrast and figure.
        n_left_out: rollouts of problems that are no variant of a template.
    """

    fields: tuple[str, ...]
    differences: tuple[VariantDifference, ...]
    n_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Return the differences as plain values for JSON."""
        return {
            "by": list(self.fields), "clusters": "template",
            "differences": [one.to_dict(self.fields) for one in self.differences], "left_out": self.n_left_out,
        }  # fmt: skip


# Figures. -------------------------------------------------------------------------------------------------------


def variant_differences(
    rows: Sequence[ReportRow], crossed: CrossTable, *, replicates: int
) -> VariantDifferences | None:
    """Compute the paired differences that belong to a table; None if it has no field `variant`, or there are no pairs.

    Args:
        rows: those of the table.
        crossed: the table, whose figures and other fields are used.
        replicates: bootstrap samples behind the intervals; 0 for none.
    """
    asked = crossed.crossing
    fields = tuple(name for name in (*asked.by, *asked.across) if name != FIELD)
    if FIELD not in (*asked.by, *asked.across):
        return None
    origins = {row.grade.problem_id: origin for row in rows if (origin := template_of(row)) is not None}
    readers = [field_reader(name, rows) for name in fields]
    parted: dict[Key, list[ReportRow]] = defaultdict(list)
    for row in rows:
        if row.grade.score is not None and row.grade.problem_id in origins:
            for key in with_totals(tuple(read(row) for read in readers), asked):
                parted[key].append(row)
    found = [
        one
        for key in sorted_keys(parted)
        for contrast in CONTRASTS
        for measure in crossed.measures
        if not (measure.is_of_steps and contrast.first in (KNOWLEDGE, ABSTRACT))
        if (one := _difference(key, contrast, measure, parted[key], origins, replicates)) is not None
    ]
    n_left_out = sum(row.grade.problem_id not in origins for row in rows)
    return VariantDifferences(fields, tuple(found), n_left_out) if found else None


def _difference(
    key: Key, contrast: Contrast, measure: Measure, rows: Sequence[ReportRow], origins: Mapping[str, TemplateOrigin],
    replicates: int,
) -> VariantDifference | None:  # fmt: skip
    """Compute one difference over the scored rows of a key; None without a pair.

    Args:
        origins: of the problems, by id.
    """
    paired = list(_paired(contrast, measure.values(rows), origins))
    if not paired:
        return None
    by_template: dict[str, list[float]] = defaultdict(list)
    for template, value in paired:
        by_template[template].append(value)
    numbers = {name: number for number, name in enumerate(by_template)}
    clusters = np.array([numbers[name] for name, _ in paired], dtype=np.int64)
    mean = mean_estimate(np.array([value for _, value in paired]), clusters, replicates=replicates)
    if mean.reason:
        mean = replace(mean, reason="one_template")
    signs = [round(fmean(values), _DIGITS) for values in by_template.values()]
    above, below = sum(each > 0 for each in signs), sum(each < 0 for each in signs)
    return VariantDifference(key, contrast, measure, mean, len(signs), above, below, sign_test(above, below))


def _paired(
    contrast: Contrast, values: Sequence[tuple[str, float]], origins: Mapping[str, TemplateOrigin]
) -> Iterator[tuple[str, float]]:
    """Yield template and difference of each template or pair that has both variants, in the order of their names.

    Args:
        values: problem id and value, of each rollout. A value of a template is the mean over its problems, that of a
            problem the mean over its rollouts.
        origins: of the problems, by id.
    """
    by_problem: dict[str, list[float]] = defaultdict(list)
    for name, value in values:
        by_problem[name].append(value)
    by_unit: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, own in by_problem.items():
        origin = origins[name]
        unit = (origin.id, origin.pair if contrast.paired_by == "pair" else "")
        by_unit[unit][origin.variant].append(fmean(own))
    for (template, _), own_variants in sorted(by_unit.items()):
        first, second = (own_variants.get(each) for each in (contrast.first, contrast.second))
        if first and second:
            yield template, fmean(first) - fmean(second)


def sign_test(above: int, below: int) -> float:
    """Return the exact two-sided p-value of the sign test: of as uneven a split, or more so, where each is a coin.

    >>> sign_test(6, 0), sign_test(1, 3), sign_test(0, 0)
    (0.03125, 0.625, 1.0)
    """
    n = above + below
    n_as_uneven = 2 * sum(math.comb(n, k) for k in range(min(above, below) + 1))
    return min(1.0, n_as_uneven / (1 << n))


# The table. -----------------------------------------------------------------------------------------------------


def variant_table(found: VariantDifferences) -> DataTable:
    """Lay the differences out, one in a row: what it is of, its mean and interval, templates by sign, p."""
    is_share = all(one.measure.is_share for one in found.differences)
    columns = (
        *map(Column, found.fields), Column("difference"), Column("figure"), Column("n", Kind.COUNT),
        Column("mean", Kind.VALUE, is_share=is_share, is_signed=True),
        Column("interval", Kind.INTERVAL, is_share=is_share, is_signed=True),
        *(Column(head, Kind.COUNT) for head in ("above", "below", "equal")), Column("p", Kind.P_VALUE),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            *key_cells(one.key), str(one.contrast), one.measure.name, one.mean.n,
            *with_intervals(one.mean), one.n_above, one.n_below, one.n_template - one.n_above - one.n_below, one.p,
        )
        for one in found.differences
    )  # fmt: skip
    pairs = {one.contrast.paired_by for one in found.differences}
    kinds = {"template": f"templates, of {CONTRASTS[0]}", "pair": "pairs with the same values, of the others"}
    counted = "; ".join(text for kind, text in kinds.items() if kind in pairs)
    signs = "above, below, equal: templates by the sign of their mean difference; p: sign test of these"
    notes = [f"n: {counted}. Intervals draw templates; {signs}."]
    if found.n_left_out:
        notes.append(f"{count_of(found.n_left_out, 'rollout')} of problems that are no variant of a template left out.")
    return DataTable(
        "variant-differences", "Paired differences between variants", columns, rows, n_keys=len(found.fields) + 2,
        notes=tuple(notes),
    )  # fmt: skip

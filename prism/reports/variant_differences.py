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

Source of the sign test: Dixon, Mood, J. Am. Stat. Assoc. 41 (1946).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from prism.errors import count_of
from prism.generation.template import ABSTRACT, KNOWLEDGE, ORIGINAL, PERTURBED
from prism.problem.plain_values import plain
from prism.reports.agreement import Estimate, mean_estimate, numbered
from prism.reports.cross_tables import (
    CrossTable,
    Key,
    Measure,
    field_reader,
    key_cells,
    measured,
    sorted_keys,
    with_measures,
    with_totals,
)
from prism.reports.report_rows import DIGITS, template_of, texts
from prism.reports.table_formats import Cell, DataTable, columns, with_intervals

if TYPE_CHECKING:
    import pandas as pd

FIELD = "variant"
"""The field of a table that asks for the differences."""

_VARIANTS = (ORIGINAL, PERTURBED, KNOWLEDGE, ABSTRACT)
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
            "difference": plain(self.mean, DIGITS), "templates": self.n_template, "above": self.n_above,
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


def variant_differences(frame: pd.DataFrame, crossed: CrossTable, *, replicates: int) -> VariantDifferences | None:
    """Compute the paired differences that belong to a table; None if it has no field `variant`, or there are no pairs.

    Args:
        frame: the rows of the table.
        crossed: the table, whose figures and other fields are used.
        replicates: bootstrap samples behind the intervals; 0 for none.
    """
    asked = crossed.crossing
    fields = tuple(name for name in (*asked.by, *asked.across) if name != FIELD)
    if FIELD not in (*asked.by, *asked.across):
        return None
    rows = list(frame["row"])
    readers = [field_reader(name, rows) for name in fields]
    origins = {row.grade.problem_id: origin for row in rows if (origin := template_of(row)) is not None}
    known = [origins.get(name) for name in frame["problem"]]
    values = frame.assign(**{name: texts([one and getattr(one, name) for one in known]) for name in (FIELD, "pair")})
    values = with_measures(values[values[FIELD].notna()], crossed.measures)
    parted: dict[Key, list[int]] = defaultdict(list)
    for at in values.index:
        for key in with_totals(tuple(read(rows[at]) for read in readers), asked):
            parted[key].append(at)
    found = [
        one
        for key in sorted_keys(parted)
        for contrast in CONTRASTS
        for measure in crossed.measures
        if not (measure.is_of_steps and contrast.first in (KNOWLEDGE, ABSTRACT))
        if (one := _difference(key, contrast, measure, values.loc[parted[key]], replicates)) is not None
    ]
    return VariantDifferences(fields, tuple(found), sum(one is None for one in known)) if found else None


def _difference(
    key: Key, contrast: Contrast, measure: Measure, scored: pd.DataFrame, replicates: int
) -> VariantDifference | None:
    """Compute one difference over the scored rows of a key; None without a pair.

    A value of a template or pair is the mean over its problems, that of a problem the mean over its rollouts.
    """
    lines = measured(measure, scored).dropna(subset=measure.column)
    by_problem = lines.groupby("problem")[measure.column].mean()
    own = scored.drop_duplicates("problem").set_index("problem").loc[by_problem.index].assign(value=by_problem)
    unit = ["template", "pair"] if contrast.paired_by == "pair" else ["template"]
    means = own.groupby([*unit, FIELD])["value"].mean().unstack(FIELD).reindex(columns=[*_VARIANTS])
    paired = (means[contrast.first] - means[contrast.second]).dropna()
    if not len(paired):
        return None
    templates = numbered(paired.index.get_level_values(0))
    mean = mean_estimate(paired.to_numpy(np.float64), templates, replicates=replicates)
    if mean.reason:
        mean = replace(mean, reason="one_template")
    signs = paired.groupby(level=0).mean().round(_DIGITS)
    above, below = int((signs > 0).sum()), int((signs < 0).sum())
    return VariantDifference(key, contrast, measure, mean, len(signs), above, below, sign_test(above, below))


def sign_test(above: int, below: int) -> float:
    """Return the exact two-sided p-value of the sign test: of as uneven a split, or more so, where each is a coin.

    >>> sign_test(6, 0), sign_test(0, 0)
    (0.03125, 1.0)
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(above, below), above + below, 0.5))) if above + below else 1.0


# The table. -----------------------------------------------------------------------------------------------------


def variant_table(found: VariantDifferences) -> DataTable:
    """Lay the differences out, one in a row: what it is of, its mean and interval, templates by sign, p."""
    is_share = all(one.measure.is_share for one in found.differences)
    heads = columns(
        *found.fields, "difference", "figure", ("n", "count"), ("mean", "changes"), ("above", "count"),
        ("below", "count"), ("equal", "count"), ("p", "p"),
    )  # fmt: skip
    heads = tuple(replace(one, is_share=is_share and one.is_share) for one in heads)
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
        "variant-differences", "Paired differences between variants", heads, rows, n_keys=len(found.fields) + 2,
        notes=tuple(notes),
    )  # fmt: skip

"""Figures crossed by fields of the rows: model x domain x difficulty, variant, modality, effort, whatever was kept.

A field is what `prism run --keep` copied beside a grade, or what the row or its problem says. A figure is a mean over
the rollouts of a cell, or over its pairs of model and problem (pass@k), with an interval by a bootstrap over its
problems, or where these are variants of templates over the templates, each with all of its problems. A rollout on which
the grader failed is counted as unscored and enters no figure, the time and the length that it took included: a table
has one set of rollouts.

Refused: a formula language for figures, and filters: rows are JSON Lines, and jq or pandas select them.

Paired differences between the variants of generated problems: does a solver fail where only the numbers are new?

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

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from prism.errors import PrismError, count_of, noted, raise_faults
from prism.generation.template import ABSTRACT, KNOWLEDGE, ORIGINAL, PERTURBED, VARIANTS
from prism.inputs import did_you_mean, shown
from prism.problem.plain_values import plain
from prism.reports.agreement import Estimate, mean_estimate, numbered
from prism.reports.report_rows import (
    DIGITS,
    NOT_SAID,
    UNRATED,
    ReportRow,
    as_number,
    column_mean,
    kept_value,
    template_of,
    texts,
)
from prism.reports.run_figures import LENGTH_FIELDS, MAX_K, OF_SAMPLES, sample_values, samples, usual_field
from prism.reports.table_formats import Cell, Column, DataTable, columns, counts, with_intervals

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


DEFAULT_MEASURES = ("score", "final")
TIME_FIELDS = ("time", "seconds", "latency", "duration", "elapsed", "response_time", "time_s", "latency_s")
"""Kept fields that hold the time that a solution took, by their usual names."""

_MAX_CELLS = 20_000  # of a table: more cells than this nobody reads, and all of them are in memory
_ALL = "all"
_SCALES = (("easy", "medium", "hard"), ("none", "minimal", "low", "medium", "high", "xhigh", "max"), VARIANTS)
"""Names with an order of their own, such as levels of difficulty and of effort, and variants of generated problems."""

_SAMPLE_NAME = re.compile(r"(pass@|pass\^|best@)(\d{1,5})", re.ASCII)
Key = tuple[str | None, ...]
"""Values of the fields of a cell; None stands for all values."""


# Values. --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crossing:
    """What a table is asked to cross.

    Attributes:
        by: fields whose values are the rows.
        across: fields whose values are columns; may be empty.
        measures: names of figures; empty for `DEFAULT_MEASURES`.
        has_totals: also figures over all values of a field.
        has_intervals: show intervals; None shows them unless there are columns by `across`.
    """

    by: tuple[str, ...]
    across: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    has_totals: bool = False
    has_intervals: bool | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a cell.

    Attributes:
        name: as it was asked for.
        head: of its column.
        value_of: the value of a row; None for figures of several rollouts.
        is_share: lies in [0, 1].
        digits: decimals that people are shown.
        k: rollouts that a pair of model and problem needs, for figures of several rollouts; else 0.
        is_of_steps: counts steps, so that steps told in a problem's text raise it.
    """

    name: str
    head: str
    value_of: Callable[[ReportRow], object] | None
    is_share: bool = True
    digits: int = 3
    k: int = 0
    is_of_steps: bool = False

    @property
    def column(self) -> str:
        """Name of the column with its values in what `measured` returns."""
        return "value" if self.k else f"measure {self.name}"


@dataclass(frozen=True, slots=True)
class CrossCell:
    """The figures of the rollouts with the same values of all fields.

    Attributes:
        by, across: the values; None for all.
        n_problem, n, n_unscored: numbers of problems, of rollouts, and of those without a score.
        estimates: of each measure.
    """

    by: Key
    across: Key
    n_problem: int
    n: int
    n_unscored: int
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class CrossTable:
    """A table of figures by fields.

    Attributes:
        crossing: what was asked for.
        measures: its figures.
        rows, columns: keys of the rows, and of the groups of columns; one empty key without `across`.
        cells: by both keys; none where there is no rollout.
        row_problems: number of problems of each row.
        notes: what has to be said below it.
        has_templates: some problems are variants of templates, which intervals draw as wholes.
    """

    crossing: Crossing
    measures: tuple[Measure, ...]
    rows: tuple[Key, ...]
    columns: tuple[Key, ...]
    cells: Mapping[tuple[Key, Key], CrossCell]
    row_problems: tuple[int, ...]
    notes: tuple[str, ...]
    has_templates: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the cells as plain values for JSON; null stands for all values of a field."""
        fields = (*self.crossing.by, *self.crossing.across)
        found = (self.cells[row, column] for row, column in product(self.rows, self.columns)
                 if (row, column) in self.cells)  # fmt: skip
        return {
            "by": list(self.crossing.by), "across": list(self.crossing.across),
            "measures": [one.name for one in self.measures],
            "clusters": "template" if self.has_templates else "problem_id",
            "cells": [
                {
                    "values": dict(zip(fields, (*cell.by, *cell.across), strict=True)), "problems": cell.n_problem,
                    "rollouts": cell.n, "unscored": cell.n_unscored,
                    **plain(dict(zip((one.name for one in self.measures), cell.estimates, strict=True)), DIGITS),
                }
                for cell in found
            ],
        }  # fmt: skip


# Fields. --------------------------------------------------------------------------------------------------------

_OF_ROW: Mapping[str, Callable[[ReportRow], object]] = {
    "problem": lambda row: row.grade.problem_id,
    "status": lambda row: row.grade.status,
    "alternative": lambda row: row.grade.alternative or None,
}
_OF_PROBLEM: Mapping[str, Callable[[Any], object]] = {
    "domain": lambda problem: problem.domain, "difficulty": lambda problem: problem.difficulty.level or UNRATED,
    "kind": lambda problem: problem.kind, "origin": lambda problem: problem.origin,
    "C1": lambda problem: problem.difficulty.concepts, "C2": lambda problem: problem.difficulty.computation,
    "C3": lambda problem: problem.difficulty.structure, "template": lambda problem: problem.template.id,
    "variant": lambda problem: problem.template.variant, "pair": lambda problem: problem.template.pair,
    "seed": lambda problem: problem.template.seed, "case": lambda problem: problem.template.case,
}  # fmt: skip
_NEED_TEMPLATE = frozenset(("template", "variant", "pair", "seed", "case"))


def _problem_value(row: ReportRow, name: str) -> object:
    """Return a value of the problem of a row, a key of `_OF_PROBLEM`; None where nothing has it."""
    problem = row.problem
    if problem is None or (name in _NEED_TEMPLATE and problem.template is None):
        return None
    return _OF_PROBLEM[name](problem)


def kept_names(rows: Iterable[ReportRow]) -> list[str]:
    """List the names of all kept fields, in order."""
    return sorted({name for row in rows for name in row.fields})


def field_reader(name: str, rows: Sequence[ReportRow]) -> Callable[[ReportRow], str]:
    """Return the function that gives the value of a field as text; "(not said)" where a row has none.

    A kept field goes before one of the row or of its problem with the same name; `meta.NAME` is always a kept one.

    Errors:
        PrismError: no row has such a field.
    """
    kept = name.removeprefix("meta.")
    if any(kept_value(row, kept) is not None for row in rows) or (name == "model" and not rows):
        return lambda row: _field_text(kept_value(row, kept))
    if name in _OF_ROW:
        return lambda row: _field_text(_OF_ROW[name](row))
    if name in _OF_PROBLEM:
        if rows and all(row.problem is None for row in rows):
            raise PrismError(
                f"{name}: no row has a field of this name, and none its problem; name them with --problems"
            )
        return lambda row: _field_text(_problem_value(row, name))
    known = list(dict.fromkeys((*kept_names(rows), *_OF_ROW, *_OF_PROBLEM)))
    hint = did_you_mean(name, known)
    raise PrismError(
        f"{shown(name)}: no row has this field{hint}; the fields are {', '.join(known)}; "
        "`prism run --keep` copies others from the rollouts"
    )


def _field_text(value: object) -> str:
    """Return the value of a field as text: a text as it is, other values as JSON, none as "(not said)"."""
    if value is None or value == "":
        return NOT_SAID
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _sorted_values(values: Iterable[str]) -> list[str]:
    """Sort values of a field: names of a scale by the scale, numbers by size, others by name; unknown ones last."""
    found = sorted(set(values))
    known = [value for value in found if value not in (NOT_SAID, UNRATED)]
    scale = next((each for each in _SCALES if {value.lower() for value in known} <= set(each)), ())
    if scale:
        known.sort(key=lambda value: scale.index(value.lower()))
    elif all(re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", value, re.ASCII) for value in known):
        known.sort(key=float)
    return [*known, *(value for value in found if value not in known)]


# Figures. -------------------------------------------------------------------------------------------------------

_OF_GRADE: Mapping[str, Measure] = {
    name: Measure(name, head, value_of, is_share, digits, is_of_steps=is_of_steps)
    for name, head, value_of, is_share, digits, is_of_steps in (
        ("score", "step-level", lambda row: _of_steps(row, row.grade.score), True, 3, True),
        ("final", "final", lambda row: float(row.grade.final_correct), True, 3, False),
        ("score_strict", "without late stages", lambda row: _of_steps(row, row.grade.score_strict), True, 3, True),
        ("share_by_closure", "by prerequisites", lambda row: _of_steps(row, row.grade.share_by_closure), True, 3, True),
        ("cost", "operations", lambda row: row.grade.cost, False, 0, False),
        ("formulas", "formulas", lambda row: len(row.grade.formulas) if row.has_formulas else None, False, 1, False),
        ("unread", "unread", lambda row: row.grade.unread, False, 2, False),
        ("undecided", "undecided", lambda row: row.grade.undecided, False, 2, False),
        ("characters", "characters", lambda row: None if row.text is None else len(row.text), False, 0, False),
    )
}
_USUAL = {"tokens": (LENGTH_FIELDS, 0), "time": (TIME_FIELDS, 2)}


def _of_steps(row: ReportRow, value: float | None) -> float | None:
    """Return a value of a row that is in mean scores; None of another one."""
    return value if row.is_in_scores else None


def measure_of(name: str, rows: Sequence[ReportRow]) -> Measure:
    """Return the figure of a name: of grades, a policy, `pass@k`, time and tokens, or a kept field with numbers.

    Errors:
        PrismError: there is none.
    """
    if name in _OF_GRADE:
        return _OF_GRADE[name]
    if several := _SAMPLE_NAME.fullmatch(name):
        if not 1 <= int(several[2]) <= MAX_K:
            raise PrismError(f"{name}: k goes from 1 to {MAX_K}")
        return Measure(name, name, None, k=int(several[2]), is_of_steps=several[1] == "best@")
    policy = name.removeprefix("policies.")
    if any(policy in row.grade.policies for row in rows):
        of_steps = policy != "final"
        return Measure(
            name, policy,
            lambda row: row.grade.policies.get(policy) if row.is_in_scores or not of_steps else None,
            is_of_steps=of_steps,
        )  # fmt: skip
    usual, digits = _USUAL.get(name, ((), 2))
    if field := usual_field((name.removeprefix("meta."), *usual), rows):
        return Measure(name, name, lambda row: kept_value(row, field), False, digits)
    policies = sorted({policy for row in rows for policy in row.grade.policies} - {"final"})
    numbers = [each for each in kept_names(rows) if usual_field([each], rows)]
    usual_names = [each for each, (fields, _) in _USUAL.items() if usual_field(fields, rows)]
    samples_names = (f"{kind}K" for kind in OF_SAMPLES)
    known = list(dict.fromkeys((*_OF_GRADE, *policies, *samples_names, *usual_names, *numbers)))
    raise PrismError(f"{shown(name)}: no figure of this name{did_you_mean(name, known)}; they are {', '.join(known)}")


def with_measures(frame: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Return the scored rows with a column for each figure of single rows; NaN where it is no number."""
    scored = frame[frame["score"].notna()]
    return scored.assign(**{
        one.column: np.array([as_number(one.value_of(row)) for row in scored["row"]], dtype=np.float64)
        for one in measures
        if one.value_of is not None
    })  # fmt: skip


def measured(measure: Measure, scored: pd.DataFrame) -> pd.DataFrame:
    """Return the lines that have values of a figure, in its column: rows, or pairs of model and problem."""
    return sample_values(measure.name.removesuffix(str(measure.k)), measure.k, samples(scored)) if measure.k else scored


# The table. -----------------------------------------------------------------------------------------------------


def cross_table(frame: pd.DataFrame, crossing: Crossing, *, replicates: int) -> CrossTable:
    """Compute the figures of each cell.

    Errors:
        PrismError: fields or figures that no row has, all of them; more cells than `_MAX_CELLS`.
    """
    rows = list(frame["row"])
    fields = (*crossing.by, *crossing.across)
    faults = [f"--by: {name} is named twice" for name in dict.fromkeys(fields) if fields.count(name) > 1]
    readers = [_or_fault(field_reader, name, rows, faults, "--by") for name in crossing.by]
    others = [_or_fault(field_reader, name, rows, faults, "--across") for name in crossing.across]
    measures = [
        _or_fault(measure_of, name, rows, faults, "--measure") for name in crossing.measures or DEFAULT_MEASURES
    ]
    raise_faults(faults)
    parted: dict[tuple[Key, Key], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        key, other = (tuple(read(row) for read in each) for each in (readers, others))
        for pair in product(with_totals(key, crossing), with_totals(other, crossing)):
            parted[pair].append(at)
    if len(parted) > _MAX_CELLS:
        raise PrismError(f"--by: {len(parted)} cells, of which at most {_MAX_CELLS} are made; name other fields")
    figures = with_measures(frame, measures)
    cells = {pair: _cell(pair, frame.iloc[places], figures, measures, replicates) for pair, places in parted.items()}
    row_keys, column_keys = (sorted_keys({pair[side] for pair in cells}) for side in (0, 1))
    in_row: dict[Key, set[str]] = defaultdict(set)
    for (key, _), places in parted.items():
        in_row[key].update(frame["problem"].iloc[places])
    whole = [frame.iloc[places] for pair, places in parted.items() if None not in (*pair[0], *pair[1])]
    return CrossTable(
        crossing, tuple(measures), row_keys, column_keys, cells, tuple(len(in_row[key]) for key in row_keys),
        tuple(_notes(frame, measures, whole)), has_templates=bool((frame["template"] != "").any()),
    )  # fmt: skip


def _or_fault(find: Callable[..., Any], name: str, rows: Sequence[ReportRow], faults: list[str], option: str) -> Any:
    """Return what `find` gives for a name, or None with a fault behind its option."""
    with noted(faults, f"{option}: "):
        return find(name, rows)
    return None


def with_totals(key: Key, crossing: Crossing) -> list[Key]:
    """Return a key, and if totals are asked for the keys in which its last values, one after another, stand for all."""
    n = len(key) if crossing.has_totals else 0
    return [key, *(key[: len(key) - k] + (None,) * k for k in range(1, n + 1))]


def sorted_keys(keys: Iterable[Key]) -> tuple[Key, ...]:
    """Sort keys value by value, as `_sorted_values` does; what stands for all comes last."""
    found = list(keys)
    orders = []
    for values in zip(*found, strict=True):
        ranked = _sorted_values(value for value in values if value is not None)
        orders.append({value: k for k, value in enumerate(ranked)})
    return tuple(
        sorted(found, key=lambda key: [
            len(order) if value is None else order[value] for value, order in zip(key, orders, strict=True)
        ])
    )  # fmt: skip


def _cell(
    pair: tuple[Key, Key], rows: pd.DataFrame, figures: pd.DataFrame, measures: Iterable[Measure], replicates: int
) -> CrossCell:
    """Compute the figures of one cell; `figures` are the scored rows as of `with_measures`."""
    scored = figures.loc[rows.index[rows["score"].notna()]]
    return CrossCell(
        *pair, rows["problem"].nunique(), len(rows), len(rows) - len(scored),
        tuple(_estimate(one, scored, replicates) for one in measures),
    )  # fmt: skip


def _estimate(measure: Measure, scored: pd.DataFrame, replicates: int) -> Estimate:
    """Estimate a figure; where rollouts have scores and not what the figure needs, its reason says so."""
    found = column_mean(measured(measure, scored), measure.column, replicates=replicates, by="unit")
    if found.value is None and len(scored):
        return replace(found, reason="too_few_rollouts" if measure.k else "not_known")
    return found


def _notes(frame: pd.DataFrame, measures: Iterable[Measure], cells: Iterable[pd.DataFrame]) -> Iterator[str]:
    """Yield what has to be said of figures: pairs with too few rollouts, rollouts without a score.

    Args:
        cells: rows of each cell that is no total.
    """
    several = [one for one in measures if one.k]
    scored = (cell[cell["score"].notna()] for cell in cells)
    sizes = [n for own in scored for n in own.groupby(["model", "drawn"]).size()] if several else []
    for one in several:
        if short := sum(n < one.k for n in sizes):
            yield (
                f"{one.name}: in {short} of {len(sizes)} cases a model has fewer than {one.k} scored rollouts of a "
                "problem in a cell; they are left out."
            )
    if unscored := int(frame["score"].isna().sum()):
        yield f"{unscored} of {len(frame)} rollouts have no score, and enter no figure."


def cross_data_table(found: CrossTable) -> DataTable:
    """Lay a crossed table out: fields, counts, then the figures, under a head for each value of `across`."""
    crossing = found.crossing
    intervals = crossing.has_intervals if crossing.has_intervals is not None else not crossing.across
    notes = found.notes
    if intervals and found.has_templates:
        notes = ("Intervals draw the problems of a template together.", *notes)
    heads = [*columns(*crossing.by, *counts("problems", *(() if crossing.across else ("rollouts",))))]
    for column in found.columns:
        heads += _measure_columns(found, _key_text(column), intervals=intervals)
    rows = []
    for key, n_problem in zip(found.rows, found.row_problems, strict=True):
        cells: list[Cell] = [*key_cells(key), n_problem]
        cells += [] if crossing.across else [found.cells[key, ()].n]
        for column in found.columns:
            cell = found.cells.get((key, column))
            estimates = (None,) * len(found.measures) if cell is None else cell.estimates
            cells += with_intervals(*estimates) if intervals else estimates
        rows.append(tuple(cells))
    by, across = (in_words(names) for names in (crossing.by, crossing.across))
    title = f"By {by}, across {across}" if across else f"By {by}"
    return DataTable("crossed", title, tuple(heads), tuple(rows), n_keys=len(crossing.by), notes=notes)


def key_cells(key: Key) -> tuple[str, ...]:
    """Return the cells of a key: its values, `all` for a total."""
    return tuple(_ALL if value is None else value for value in key)


def _measure_columns(found: CrossTable, group: str, *, intervals: bool) -> list[Column]:
    """Return the columns of all figures under one head."""
    sort = "values" if intervals else "value"
    return [
        replace(column, is_share=one.is_share)
        for one in found.measures
        for column in columns((one.head, sort), group=group, digits=one.digits)
    ]


def in_words(names: Sequence[str]) -> str:
    """Join names with commas and a last `and`: `model, domain and difficulty`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _key_text(key: Key) -> str:
    """Return the head over the columns of a key: its values with commas; `all` for a total, empty without values."""
    values = [value for value in key if value is not None]
    return ", ".join(values) if values or not key else _ALL

"""Agreement in labels, and a sample that was drawn, as tables and lines; nothing is decided here."""

from __future__ import annotations

from prism.errors import count_of
from prism.reports.label_agreement import LabelAgreement, LabelPair, Settlement
from prism.reports.marking_sheets import SheetKey
from prism.reports.report_tables import alignment_parts, coefficient_table, repeated_parts
from prism.reports.table_formats import Cell, DataTable, Part, columns, with_intervals

_SHOWN_REASON = 160  # characters of what a rater said


def label_parts(agreed: LabelAgreement, settled: Settlement | None = None) -> list[Part]:
    """Return tables and lines that show agreement in labels: counts, shares, pairs, all raters together."""
    kind = "from low to high" if agreed.scheme.is_ordered else "without order"
    parts: list[Part] = [f"Labels, {kind}: {', '.join(agreed.scheme.labels)}"]
    if agreed.design is not None:
        n, whole = len(agreed.design.of_item), int(agreed.design.populations.sum())
        strata = count_of(len(agreed.design.strata), "stratum").replace("stratums", "strata")
        drawn = f"{n} of {count_of(whole, 'rollout')}, {strata}; figures of all {whole}"
        parts.append(f"Sample {agreed.design.sheet}: {drawn}")
    parts += ["", *alignment_parts(agreed.alignment)]
    if settled is not None:
        by_all, by_one, n_open = (settled.count(by) for by in ("all", settled.adjudicator, ""))
        parts.append(f"settled: {by_all} by all, {by_one} by {settled.adjudicator}, {n_open} open")
    parts += ["", _share_table(agreed)]
    for number, pair in enumerate(agreed.pairs, start=1):
        parts += ["", *_pair_parts(agreed, number, pair)]
    if agreed.together:
        parts += ["", coefficient_table("agreement-all", "All raters", agreed.together)]
    return [*parts, *repeated_parts(agreed.reliability, has_shifts=False)]


def _share_table(agreed: LabelAgreement) -> DataTable:
    """Return the table of how often each rater gives each label."""
    is_sample = agreed.design is not None
    heads = columns("rater", "label", ("items", "count"), ("share", "estimate"), *(["standard error"] * is_sample))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (rater, one.label, one.count, *with_intervals(one.share), *([_error_text(one.standard_error)] * is_sample))
        for rater, shares in agreed.shares.items()
        for one in shares
    )
    return DataTable("labels", "Labels", heads, rows)


def _error_text(error: float | None) -> str:
    """Write a standard error; `unknown` for None."""
    return "unknown" if error is None else f"{error:.3f}"


def _pair_parts(agreed: LabelAgreement, number: int, pair: LabelPair) -> list[Part]:
    """Return tables and lines of two raters: coefficients, confusion, disagreements."""
    first, second = pair.raters
    is_sample = agreed.design is not None
    line = f"{count_of(pair.n, 'item')} of {count_of(pair.n_problem, 'problem')}"
    if is_sample:
        line += f"; standard error of percent_agreement by the sampling alone: {_error_text(pair.standard_error)}"
        if pair.covered < 1:
            left = f"strata of {1 - pair.covered:.1%} of the rollouts"
            line += f"; {left} have no item that both labelled, and are left out"
    stands = "; in brackets the rollouts that they stand for" if is_sample else ""
    title = f"Items by label of {first} (rows) and of {second} (columns){stands}:"
    counts = tuple(
        (label, *(f"{n} ({weight:.1f})" if is_sample and n else str(n) for n, weight in zip(*cells, strict=True)))
        for label, *cells in zip(agreed.scheme.labels, pair.confusion, pair.weighted, strict=True)
    )
    said = tuple(
        (
            f"{item.problem_id}, {item.sample_id}",
            *(f"{label}  {' '.join(why.split())[:_SHOWN_REASON]}".rstrip()
              for label, why in zip(item.labels, item.reasons, strict=True)),
        )
        for item in pair.disagreements
    )  # fmt: skip
    heads = columns("problem, sample", first, second)
    return [
        coefficient_table(f"agreement-{number}", f"{first} and {second}", pair.coefficients), line,
        DataTable(f"confusion-{number}", title, columns("", *agreed.scheme.labels), counts),
        *([DataTable(f"disagreements-{number}", "Disagreements", heads, said)] if said else []),
    ]  # fmt: skip


def sample_parts(key: SheetKey) -> list[Part]:
    """Return the table of the strata of a sample that was drawn."""
    n, whole = len(key.rows), sum(each.population for each in key.strata)
    rows = tuple((each.name, each.population, each.sampled, f"{each.weight:.3g}") for each in key.strata)
    heads = columns("stratum", ("rollouts", "count"), ("drawn", "count"), "each stands for")
    left = key.n_result - whole
    more = [f"{count_of(left, 'row')} without a score, not drawn from"] if left else []
    drawn = f"{n} of {count_of(whole, 'rollout')}; labels: {', '.join(key.scheme.labels)}"
    return [DataTable("strata", f"Sheet {key.sheet}", heads, rows), drawn, *more]

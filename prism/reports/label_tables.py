"""Agreement in labels, and a sample that was drawn, as tables and lines for a terminal.

Nothing is decided here. `cli` prints what these functions give, and loads rich through them only when it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich import box
from rich.console import RenderableType
from rich.table import Table

from prism.errors import count_of
from prism.latex import one_line
from prism.reports.agreement import Estimate
from prism.reports.html.markup import visible
from prism.reports.label_agreement import LabelAgreement, LabelPair, LabelScheme, Settlement
from prism.reports.marking_sheets import SheetKey
from prism.reports.ratings import UNALIGNED

_SHOWN_REASON = 160  # characters of what a rater said


def _table(title: str, columns: Iterable[str]) -> Table:
    """Return an empty table with a title and these columns, in the style of all tables."""
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _line(text: str) -> str:
    """Return a text of other people as one line that a terminal shows as it is."""
    return visible(one_line(text))


def label_agreement_tables(agreed: LabelAgreement, settled: Settlement | None = None) -> list[RenderableType]:
    """Return tables and lines that show agreement in labels: counts, shares, pairs, all raters together."""
    kind = "from low to high" if agreed.scheme.is_ordered else "without order"
    parts: list[RenderableType] = [f"Labels, {kind}: {_line(', '.join(agreed.scheme.labels))}"]
    if agreed.design is not None:
        n, whole = len(agreed.design.of_item), int(agreed.design.populations.sum())
        strata = count_of(len(agreed.design.strata), "stratum").replace("stratums", "strata")
        parts.append(
            f"Sample {agreed.design.sheet}: {n} of {count_of(whole, 'rollout')}, {strata}; figures of all {whole}"
        )
    aligned = _table("Judgements", ("rater", "read", "aligned", "dropped", "items unrated"))
    for each in agreed.alignment:
        why = ", ".join(f"{n} {name}" for name, n in sorted(each.dropped.items())) or "none"
        aligned.add_row(_line(each.rater), str(each.n_judgement), str(each.aligned), why, str(each.unrated))
    parts += ["", aligned]
    parts += [
        f"{name}: {UNALIGNED[name]}" for name in sorted({key for each in agreed.alignment for key in each.dropped})
    ]
    if settled is not None:
        counts = settled.to_dict()
        parts.append(
            f"settled: {counts['by_all']} by all, {counts['by_adjudicator']} by {_line(settled.adjudicator)}, "
            f"{counts['open']} open"
        )
    parts += ["", _share_table(agreed)]
    for pair in agreed.pairs:
        parts += ["", *_pair_parts(agreed.scheme, pair, is_sample=agreed.design is not None)]
    if agreed.together:
        parts += ["", _coefficient_table("All raters", agreed.together)]
    if agreed.reliability:
        repeated = _table("Repeated judgements", ("rater", "", "value", "interval", "n"))
        for rater in agreed.reliability:
            for name, found in (("flips", rater.flip_rate), ("flips with order", rater.order_flip_rate)):
                repeated.add_row(_line(rater.rater), name, *_estimate_cells(found))
        parts += ["", repeated]
    return parts


def _share_table(agreed: LabelAgreement) -> Table:
    """Return the table of how often each rater gives each label."""
    is_sample = agreed.design is not None
    heads = ("rater", "label", "items", "share", "interval", *(["standard error"] if is_sample else []))
    table = _table("Labels", heads)
    for rater, shares in agreed.shares.items():
        for one in shares:
            value, interval, _ = _estimate_cells(one.share)
            error = [] if not is_sample else ["unknown" if one.standard_error is None else f"{one.standard_error:.3f}"]
            table.add_row(_line(rater), _line(one.label), str(one.count), value, interval, *error)
    return table


def _pair_parts(scheme: LabelScheme, pair: LabelPair, *, is_sample: bool) -> list[RenderableType]:
    """Return tables and lines of two raters: coefficients, confusion, disagreements."""
    first, second = map(_line, pair.raters)
    parts: list[RenderableType] = [_coefficient_table(f"{first} and {second}", pair.coefficients)]
    line = f"{count_of(pair.n, 'item')} of {count_of(pair.n_problem, 'problem')}"
    if is_sample:
        error = "unknown" if pair.standard_error is None else f"{pair.standard_error:.3f}"
        line += f"; standard error of percent_agreement by the sampling alone: {error}"
        if pair.covered < 1:
            line += (
                f"; strata of {1 - pair.covered:.1%} of the rollouts have no item that both labelled, and are left out"
            )
    parts.append(line)
    stands = "; in brackets the rollouts that they stand for" if is_sample else ""
    parts.append(f"Items by label of {first} (rows) and of {second} (columns){stands}:")
    confusion = _table("", ("", *map(_line, scheme.labels)))
    for label, counts, weights in zip(scheme.labels, pair.confusion, pair.weighted, strict=True):
        cells = zip(counts, weights, strict=True)
        confusion.add_row(_line(label), *(f"{n} ({weight:.1f})" if is_sample and n else str(n) for n, weight in cells))
    parts.append(confusion)
    if pair.disagreements:
        table = _table("Disagreements", ("problem, sample", first, second))
        for item in pair.disagreements:
            said = (
                f"{_line(label)}  {_line(why)[:_SHOWN_REASON]}".rstrip()
                for label, why in zip(item.labels, item.reasons, strict=True)
            )
            table.add_row(_line(f"{item.problem_id}, {item.sample_id}"), *said)
        parts.append(table)
    return parts


def _coefficient_table(title: str, found: Mapping[str, Estimate]) -> Table:
    """Return a table of coefficients with their intervals."""
    table = _table(title, ("coefficient", "value", "interval", "n"))
    for name, estimate in found.items():
        table.add_row(name, *_estimate_cells(estimate))
    return table


def _estimate_cells(found: Estimate) -> tuple[str, str, str]:
    """Return the cells of an estimate: value, interval or why there is none, number of items."""
    value = "undefined" if found.value is None else f"{found.value:.3f}"
    interval = found.reason if found.low is None else f"{found.low:.3f} to {found.high:.3f}"
    return value, interval, str(found.n)


def sample_tables(key: SheetKey) -> list[RenderableType]:
    """Return the table of the strata of a sample that was drawn."""
    n, whole = len(key.rows), sum(each.population for each in key.strata)
    table = _table(f"Sheet {key.sheet}", ("stratum", "rollouts", "drawn", "each stands for"))
    for each in key.strata:
        weight = f"{each.population / each.sampled:.3g}"
        table.add_row(_line(each.name), str(each.population), str(each.sampled), weight)
    left = key.n_result - whole
    more = [f"{count_of(left, 'row')} without a score, not drawn from"] if left else []
    return [table, f"{n} of {count_of(whole, 'rollout')}; labels: {_line(', '.join(key.scheme.labels))}", *more]

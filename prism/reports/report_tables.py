"""The tables of a report and of an agreement as plain data, and the lines between them.

Nothing is decided here. Terminal, CSV, Markdown and LaTeX show the same tables; the page has its own for what it can
draw, and shows the rest as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from prism.errors import PrismError, count_of
from prism.inputs import did_you_mean, shown
from prism.problem.schema import in_alternative
from prism.reports.agreement import Estimate
from prism.reports.cross_tables import cross_data_table
from prism.reports.error_counts import ErrorCounts
from prism.reports.lengths import LengthFigures
from prism.reports.passes import OF_SAMPLES, SampleFigures
from prism.reports.rank_tests import RankTest
from prism.reports.ratings import UNALIGNED, Agreement, RaterPair
from prism.reports.report_rows import UNFIT
from prism.reports.summary import BINS, Group, Report, missed_nodes, reason_text
from prism.reports.table_formats import Cell, Column, DataTable, Kind, share_columns, with_intervals
from prism.reports.variant_differences import variant_table

Part = DataTable | str

_SHOWN_ITEMS = 50  # rows on a terminal
_SHOWN_REASON = 160  # characters of what a rater said


def report_parts(found: Report) -> list[Part]:
    """Return the tables and lines that show a report: groups, problems, missed nodes, formulas, judges."""
    parts: list[Part] = [*_group_tables(found)]
    parts += crossed_tables(found)
    parts.append(
        DataTable("scores", "Rollouts by score", tuple(Column(name, Kind.COUNT) for name in BINS),
                  (found.overall.bins,))
    )  # fmt: skip
    parts += [samples_table(found.samples)] if found.samples else []
    parts += [lengths_table(found.lengths)] if found.lengths else []
    parts.append(_problems_table(found))
    parts += _missed_parts(found)
    if found.formula_statuses:
        rows = tuple((one.status, reason_text(one.reason), one.n) for one in found.formula_statuses)
        columns = (Column("status"), Column("reason"), Column("formulas", Kind.COUNT))
        parts.append(DataTable("formulas", "What became of formulas", columns, rows))
    if found.first_wrong:
        labels = (Column("label"), Column("rollouts", Kind.COUNT))
        wrong = tuple(sorted(found.first_wrong.items()))
        parts.append(DataTable("first-wrong", "First wrong steps, where one is known", labels, wrong))
    parts += error_tables(found)
    parts += [f"{count_of(n, 'row')} without: {UNFIT[key]}" for key, n in sorted(found.unfit.items())]
    statuses = ", ".join(f"{n} {name}" for name, n in sorted(found.statuses.items())) or "no rows"
    parts.append(f"{statuses}; incidents of the grader: {found.n_incident}")
    return [*parts, *(["", *agreement_parts(found.agreement)] if found.agreement else [])]


def chosen_tables(parts: Iterable[Part], names: Sequence[str]) -> list[DataTable]:
    """Return the tables with these ids, in the order of the ids; all tables for no ids.

    Errors:
        PrismError: ids that no table has, all of them.
    """
    by_id = {part.id: part for part in parts if isinstance(part, DataTable)}
    unknown = [f"no table {shown(name)}{did_you_mean(name, by_id)}" for name in names if name not in by_id]
    if unknown:
        raise PrismError(f"{'; '.join(unknown)}; the tables are {', '.join(by_id)}")
    return [by_id[name] for name in names] or list(by_id.values())


# Of a run. ------------------------------------------------------------------------------------------------------


def _group_tables(found: Report) -> list[DataTable]:
    """Return the tables of all rollouts, and of those by model, domain and difficulty."""
    kinds = (
        ("all", "All rollouts", "", (found.overall,)), ("by-model", "By model", "model", found.models),
        ("by-domain", "By domain", "domain", found.domains),
        ("by-difficulty", "By difficulty", "difficulty", found.levels),
    )  # fmt: skip
    return [
        DataTable(name, title, _group_columns(kind), tuple(map(_group_row, groups)))
        for name, title, kind, groups in kinds
        if groups
    ]


def _group_columns(kind: str) -> tuple[Column, ...]:
    """Return the columns of a table of groups: name, counts, mean score and share of right final answers."""
    counts = (Column("rollouts", Kind.COUNT), Column("unscored", Kind.COUNT))
    shares = (*share_columns("step-level"), *share_columns("final"), *share_columns("strict", interval=False))
    return (Column(kind), *counts, *shares)


def _group_row(group: Group) -> tuple[Cell, ...]:
    """Return the cells of a group."""
    return group.name, group.n, group.n_unscored, *with_intervals(group.mean, group.final), group.strict


def _problems_table(found: Report) -> DataTable:
    """Return the table of problems, the hardest first."""
    columns = [Column("problem"), Column("rollouts", Kind.COUNT), *share_columns("score", interval=False),
               *share_columns("final", interval=False)]  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (each.group.name, each.group.n, each.group.mean, each.group.final) for each in found.problems
    ]
    if any(each.problem for each in found.problems):
        columns += [Column("domain"), Column("difficulty")]
        known = [each.problem for each in found.problems]
        rows = [
            (*row, problem.domain if problem else None, problem.difficulty.level if problem else None)
            for row, problem in zip(rows, known, strict=True)
        ]
    return DataTable("problems", "Problems, the hardest first", tuple(columns), tuple(rows), shown=_SHOWN_ITEMS)


def _missed_parts(found: Report) -> list[Part]:
    """Return the table of nodes that most rollouts miss; without problems a line says what they would bring."""
    listed = missed_nodes(found)
    if not listed:
        return []
    has_formulas = any(each.problem for each, _ in listed)
    columns = [Column("problem"), Column("node"), Column("without credit", Kind.COUNT), Column("of", Kind.COUNT)]
    columns += [Column("reference formula", Kind.FORMULA)] if has_formulas else []
    rows: list[tuple[Cell, ...]] = []
    for each, one in listed:
        way = in_alternative(each.problem, one.alternative) if each.problem else None
        latex = {node.index: node.latex for node in way.nodes} if way else {}
        cells: tuple[Cell, ...] = (each.group.name, str(one), one.n - one.credited, one.n)
        rows.append((*cells, latex.get(one.index, "")) if has_formulas else cells)
    table = DataTable("missed-nodes", "Nodes that most rollouts miss", tuple(columns), tuple(rows))
    told = "Formulas of nodes, domains and difficulty are not shown: no --problems were named, or none fits the rows."
    return [table, *([] if has_formulas else [told, ""])]


def crossed_tables(found: Report) -> list[DataTable]:
    """Return the table that was asked for, and of variants of generated problems their paired differences."""
    tables = [cross_data_table(found.crossed)] if found.crossed else []
    return [*tables, *([variant_table(found.variants)] if found.variants else [])]


def samples_table(samples: Sequence[SampleFigures]) -> DataTable:
    """Return the table of what several rollouts of a model to a problem give."""
    columns = [Column("model"), Column("k", Kind.COUNT), Column("problems", Kind.COUNT)]
    columns += [column for name in OF_SAMPLES for column in share_columns(f"{name}k")]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.model, one.k, one.estimates[0].n, *with_intervals(*one.estimates)) for one in samples
    )
    short = any(one.n_short for one in samples)
    notes = ("Problems with fewer than k scored rollouts of a model are left out of its row.",) if short else ()
    return DataTable("samples", "Several rollouts of a problem", tuple(columns), rows, n_keys=2, notes=notes)


def lengths_table(found: LengthFigures) -> DataTable:
    """Return the table of scores by length, of all rollouts and of each model."""
    digits = 0
    columns = (
        Column("model"), Column(f"{found.unit} from", Kind.VALUE, digits=digits),
        Column("to", Kind.VALUE, digits=digits), Column("rollouts", Kind.COUNT), *share_columns("step-level"),
        *share_columns("final"),
    )  # fmt: skip
    rows = tuple(
        (name, one.low, one.high, one.n, *with_intervals(one.score, one.final))
        for name, bins in (("all", found.overall), *found.models)
        for one in bins
    )
    told = f"{count_of(found.n_unknown, 'scored rollout')} of unknown length left out." if found.n_unknown else ""
    notes = (told,) if told else ()
    return DataTable("by-length", "By length of the solution", columns, rows, n_keys=2, notes=notes)


def error_tables(found: Report) -> list[DataTable]:
    """Return the tables of what went wrong, by model; none for fewer than two models."""
    return [_error_table(one) for one in found.errors] if len(found.models) > 1 else []


def _error_table(found: ErrorCounts) -> DataTable:
    """Return the table of one kind of label: a row for each label and model, with its share of the model's total."""
    names = [head for head in found.heads if head]
    columns = (
        *map(Column, names), Column("model"), Column("n", Kind.COUNT), Column(f"of {found.of}", Kind.COUNT),
        *share_columns("share", interval=False),
    )  # fmt: skip
    rows = []
    for label in found.labels:
        words = (label[0], reason_text(label[1])) if len(names) > 1 else (reason_text(label[0]),)
        for model, counts in sorted(found.counts.items()):
            n, total = counts.get(label, 0), found.totals[model]
            rows.append((*words, model, n, total, n / total if total else None))
    return DataTable(
        f"{found.id}-by-model", f"{found.title}, by model", columns, tuple(rows), n_keys=len(names) + 1,
        shown=_SHOWN_ITEMS,
    )  # fmt: skip


# Of raters. -----------------------------------------------------------------------------------------------------


def agreement_parts(agreed: Agreement) -> list[Part]:
    """Return the tables and lines of the agreement of raters: counts, pairs, all together, repeated judgements."""
    counts = ("read", "aligned", "dropped", "items unrated")
    columns = (Column("rater"), *(Column(name, Kind.TEXT if name == "dropped" else Kind.COUNT) for name in counts))
    rows = tuple(
        (
            each.rater, each.n_judgement, each.aligned,
            ", ".join(f"{n} {name}" for name, n in sorted(each.dropped.items())) or "none", each.unrated,
        )
        for each in agreed.alignment
    )  # fmt: skip
    parts: list[Part] = [DataTable("judgements", "Judgements", columns, rows)]
    seen = sorted({name for each in agreed.alignment for name in each.dropped})
    parts += [f"{name}: {UNALIGNED[name]}" for name in seen]
    for number, pair in enumerate(agreed.pairs, start=1):
        parts += ["", *_pair_parts(number, pair)]
    if agreed.together:
        parts += ["", _coefficient_table("agreement-all", "All raters", agreed.together)]
    if agreed.reliability:
        repeated = tuple(
            (rater.rater, name, *with_intervals(found), found.n)
            for rater in agreed.reliability
            for name, found in (
                ("flips", rater.flip_rate), ("flips with order", rater.order_flip_rate),
                ("shift with order", rater.order_shift),
            )
        )  # fmt: skip
        columns = (Column("rater"), Column(""), *_ESTIMATE)
        parts += ["", DataTable("repeated", "Repeated judgements", columns, repeated)]
    return parts


_ESTIMATE = (Column("value", Kind.VALUE, absent="undefined"), Column("interval", Kind.INTERVAL),
             Column("n", Kind.COUNT))  # fmt: skip


def _pair_parts(number: int, pair: RaterPair) -> list[Part]:
    """Return the tables and lines of two raters: coefficients, the test of their ranks, their largest disagreements."""
    first, second = pair.raters
    parts: list[Part] = [_coefficient_table(f"agreement-{number}", f"{first} and {second}", pair.coefficients)]
    counts = f"{count_of(pair.n, 'item')} of {count_of(pair.n_problem, 'problem')}"
    parts.append(f"{counts}; tau_b = 0: {_p_values_text(pair.test)}")
    if pair.disagreements:
        rows = tuple(
            (
                f"{item.problem_id}, {item.sample_id}",
                *(f"{value:.3g}: {' '.join(why.split())[:_SHOWN_REASON]}".removesuffix(": ")
                  for value, why in zip(item.scores, item.reasons, strict=True)),
            )
            for item in pair.disagreements
        )  # fmt: skip
        columns = (Column("problem, sample"), Column(first), Column(second))
        parts.append(DataTable(f"disagreements-{number}", "Largest disagreements", columns, rows))
    return parts


def _coefficient_table(name: str, title: str, found: Mapping[str, Estimate]) -> DataTable:
    """Return a table of coefficients with their intervals."""
    rows = tuple((key, *with_intervals(estimate), estimate.n) for key, estimate in found.items())
    return DataTable(name, title, (Column("coefficient"), *_ESTIMATE), rows)


def _p_values_text(test: RankTest) -> str:
    """Write the p-values of a rank test: `p = 0.03, 0.04 by permutation (exact)`."""
    if test.asymptotic is None:
        return f"undefined ({test.reason})"
    more = "" if test.permutation is None else f", {test.permutation:.3g} by permutation ({test.method})"
    return f"p = {test.asymptotic:.3g}{more}"

"""The tables of a report and of an agreement as plain data, and the lines between them.

Nothing is decided here. Terminal, CSV, Markdown and LaTeX show the same tables; the page has its own for what it can
draw, and shows the rest as they are.

A comparison of several scores as tables: plain data, shown alike by a terminal and by the page.

Agreement in labels, and a sample that was drawn, as tables and lines; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from prism.errors import PrismError, count_of
from prism.inputs import did_you_mean, shown
from prism.problem.schema import in_alternative
from prism.reports.agreement import LEVEL, Estimate
from prism.reports.comparison.paired_tests import RankTest
from prism.reports.comparison.scores import BoundedScore, ScoreComparison
from prism.reports.cross_tables import cross_data_table, variant_table
from prism.reports.label_agreement import LabelAgreement, LabelPair, Settlement
from prism.reports.marking_sheets import SheetKey
from prism.reports.ratings import UNALIGNED, Agreement, Alignment, RaterPair, Reliability
from prism.reports.report_rows import UNFIT
from prism.reports.run_figures import OF_SAMPLES, ErrorCounts, LengthFigures, SampleFigures
from prism.reports.summary import BINS, Report, missed_nodes, reason_text
from prism.reports.table_formats import Cell, DataTable, Part, columns, counts, with_intervals
from prism.resources import meanings

SCORES: Mapping[str, str] = meanings("reports.scores")
"""What the scores are that come without a file, in words."""


def score_comparison_tables(found: ScoreComparison) -> list[DataTable]:
    """Return the tables of a comparison: the scores, how they rank alike, models, disagreements."""
    tables = [_score_table(found), _agreement_table(found)]
    if found.models:
        tables.append(_model_table(found))
    return [*tables, _disagreement_table(found)]


def _score_table(found: ScoreComparison) -> DataTable:
    """Return the figures of each score."""
    heads = columns(
        "score", ("responses", "count"), ("null", "count"), ("failed", "count"), ("mean", "values"), ("low", "value"),
        ("high", "value"), ("0", "count"), ("1", "count"),
    )  # fmt: skip
    rows = tuple(
        (one.name, one.n, one.n_null, one.n_failed, *with_intervals(one.mean), one.mean_low, one.mean_high, one.n_zero,
         one.n_one)
        for one in found.figures
    )  # fmt: skip
    notes = (
        "Null: nothing decides it; it is in no mean. 0 and 1: responses with these scores.",
        "Low and high: the mean with every null at its worst and at its best.",
    )
    return DataTable("scores", "The scores", heads, rows, notes=notes)


def _agreement_table(found: ScoreComparison) -> DataTable:
    """Return how each two scores rank the responses."""
    heads = columns(
        "score", "beside", ("tau_b", "values"), ("rho", "values"), ("n", "count"), ("tau_b, null low", "value"),
        ("tau_b, null high", "value"), ("n of all", "count"),
    )  # fmt: skip
    rows = tuple(
        (*one.names, *with_intervals(one.tau_b, one.spearman), one.tau_b.n, one.low, one.high, one.n_bounded)
        for one in found.agreements
    )
    notes = (
        "Kendall's tau_b and Spearman's rho, over the n responses that both give a score.",
        f"Intervals of {LEVEL:.0%}, by a bootstrap that draws problems with all their responses.",
        "Null low, null high: tau_b over all responses of both, with every null at its worst and at its best.",
    )
    return DataTable("agreements", "How they rank the same responses", heads, rows, n_keys=2, notes=notes)


def _model_table(found: ScoreComparison) -> DataTable:
    """Return the mean of each score by model, with the model's place."""
    heads = columns("model", ("responses", "count"))
    for name in found.names:
        heads += columns(("mean", "value"), ("place", "count"), group=name)
    rows = []
    for one in found.models:
        cells: list[Cell] = [one.model, one.n]
        for name in found.names:
            cells += [one.means.get(name), one.places.get(name)]
        rows.append(tuple(cells))
    return DataTable("models", "Models by each score", heads, tuple(rows), notes=("Nulls are in no mean.",))


def _disagreement_table(found: ScoreComparison) -> DataTable:
    """Return the responses that two of the scores rank most differently."""
    heads = columns("problem", "sample", ("spread", "value"), "lower by", "rank", "higher by", "rank", *found.names)
    rows: list[tuple[Cell, ...]] = []
    for one in found.disagreements:
        ranks = (one.lower, f"{one.lower_rank:.2f}", one.higher, f"{one.higher_rank:.2f}")
        scores = (_score_text(one.scores.get(name)) for name in found.names)
        rows.append((one.problem_id, one.sample_id, one.spread, *ranks, *scores))
    notes = (
        "Rank: the share of the responses with both scores that a score ranks lower, ties by half.",
        "Spread: the difference of the two ranks, of the two scores that differ most. Of a null its bounds are shown.",
    )
    return DataTable("disagreements", "Where they disagree most", heads, tuple(rows), n_keys=2, notes=notes)


def _score_text(score: BoundedScore | None) -> str:
    """Return a score, `0.50`; the bounds of a null, `0.10 to 0.90`."""
    if score is None:
        return "–"
    return f"{score.low:.2f} to {score.high:.2f}" if score.score is None else f"{score.score:.2f}"


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
        parts += ["", *_label_pair_parts(agreed, number, pair)]
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


def _label_pair_parts(agreed: LabelAgreement, number: int, pair: LabelPair) -> list[Part]:
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


_SHOWN_ITEMS = 50  # rows on a terminal
_SHOWN_REASON = 160  # characters of what a rater said


def report_parts(found: Report) -> list[Part]:
    """Return the tables and lines that show a report: groups, problems, missed nodes, formulas, judges."""
    parts: list[Part] = [*_group_tables(found)]
    parts += crossed_tables(found)
    parts.append(DataTable("scores", "Rollouts by score", columns(*counts(*BINS)), (found.overall.bins,)))
    parts += [samples_table(found.samples)] if found.samples else []
    parts += [lengths_table(found.lengths)] if found.lengths else []
    parts.append(_problems_table(found))
    parts += _missed_parts(found)
    if found.formula_statuses:
        rows = tuple((one.status, reason_text(one.reason), one.n) for one in found.formula_statuses)
        heads = columns("status", "reason", ("formulas", "count"))
        parts.append(DataTable("formulas", "What became of formulas", heads, rows))
    if found.first_wrong:
        heads = columns("label", ("rollouts", "count"))
        wrong = tuple(sorted(found.first_wrong.items()))
        parts.append(DataTable("first-wrong", "First wrong steps, where one is known", heads, wrong))
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
    figures = (*counts("rollouts", "unscored"), ("step-level", "shares"), ("final", "shares"), ("strict", "share"))
    return [
        DataTable(name, title, columns(kind, *figures), tuple(
            (one.name, one.n, one.n_unscored, *with_intervals(one.mean, one.final), one.strict) for one in groups
        ))
        for name, title, kind, groups in kinds
        if groups
    ]  # fmt: skip


def _problems_table(found: Report) -> DataTable:
    """Return the table of problems, the hardest first."""
    heads = columns("problem", ("rollouts", "count"), ("score", "share"), ("final", "share"))
    rows: list[tuple[Cell, ...]] = [
        (each.group.name, each.group.n, each.group.mean, each.group.final) for each in found.problems
    ]
    known = [each.problem for each in found.problems]
    if any(known):
        heads += columns("domain", "difficulty")
        rows = [
            (*row, problem.domain if problem else None, problem.difficulty.level if problem else None)
            for row, problem in zip(rows, known, strict=True)
        ]
    return DataTable("problems", "Problems, the hardest first", heads, tuple(rows), shown=_SHOWN_ITEMS)


def _missed_parts(found: Report) -> list[Part]:
    """Return the table of nodes that most rollouts miss; without problems a line says what they would bring."""
    listed = missed_nodes(found)
    if not listed:
        return []
    has_formulas = any(each.problem for each, _ in listed)
    heads = columns("problem", "node", ("without credit", "count"), ("of", "count"))
    heads += columns(("reference formula", "formula")) if has_formulas else ()
    rows: list[tuple[Cell, ...]] = []
    for each, one in listed:
        way = in_alternative(each.problem, one.alternative) if each.problem else None
        latex = {node.index: node.latex for node in way.nodes} if way else {}
        cells: tuple[Cell, ...] = (each.group.name, str(one), one.n - one.credited, one.n)
        rows.append((*cells, latex.get(one.index, "")) if has_formulas else cells)
    table = DataTable("missed-nodes", "Nodes that most rollouts miss", heads, tuple(rows))
    told = "Formulas of nodes, domains and difficulty are not shown: no --problems were named, or none fits the rows."
    return [table, *([] if has_formulas else [told, ""])]


def crossed_tables(found: Report) -> list[DataTable]:
    """Return the table that was asked for, and of variants of generated problems their paired differences."""
    tables = [cross_data_table(found.crossed)] if found.crossed else []
    return [*tables, *([variant_table(found.variants)] if found.variants else [])]


def samples_table(samples: Sequence[SampleFigures]) -> DataTable:
    """Return the table of what several rollouts of a model to a problem give."""
    heads = columns("model", ("k", "count"), ("problems", "count"), *((f"{name}k", "shares") for name in OF_SAMPLES))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.model, one.k, one.estimates[0].n, *with_intervals(*one.estimates)) for one in samples
    )
    short = any(one.n_short for one in samples)
    notes = ("Problems with fewer than k scored rollouts of a model are left out of its row.",) if short else ()
    return DataTable("samples", "Several rollouts of a problem", heads, rows, n_keys=2, notes=notes)


def lengths_table(found: LengthFigures) -> DataTable:
    """Return the table of scores by length, of all rollouts and of each model."""
    heads = columns("model", (f"{found.unit} from", "value"), ("to", "value"), ("rollouts", "count"),
                    ("step-level", "shares"), ("final", "shares"))  # fmt: skip
    heads = tuple(one if one.is_share else replace(one, digits=0) for one in heads)
    rows = tuple(
        (name, one.low, one.high, one.n, *with_intervals(one.score, one.final))
        for name, bins in (("all", found.overall), *found.models)
        for one in bins
    )
    told = f"{count_of(found.n_unknown, 'scored rollout')} of unknown length left out." if found.n_unknown else ""
    notes = (told,) if told else ()
    return DataTable("by-length", "By length of the solution", heads, rows, n_keys=2, notes=notes)


def error_tables(found: Report) -> list[DataTable]:
    """Return the tables of what went wrong, by model; none for fewer than two models."""
    return [_error_table(one) for one in found.errors] if len(found.models) > 1 else []


def _error_table(found: ErrorCounts) -> DataTable:
    """Return the table of one kind of label: a row for each label and model, with its share of the model's total."""
    heads = columns(*found.heads, "model", ("n", "count"), (f"of {found.of}", "count"), ("share", "share"))
    rows = []
    for label, own in zip(found.counts.index, found.counts.to_dict("records"), strict=True):
        words = (*label[: len(found.heads) - 1], reason_text(label[len(found.heads) - 1]))
        for model, n in own.items():
            total = found.totals[model]
            rows.append((*words, model, n, total, n / total if total else None))
    return DataTable(
        f"{found.id}-by-model", f"{found.title}, by model", heads, tuple(rows), n_keys=len(found.heads) + 1,
        shown=_SHOWN_ITEMS,
    )  # fmt: skip


# Of raters. -----------------------------------------------------------------------------------------------------


def agreement_parts(agreed: Agreement) -> list[Part]:
    """Return the tables and lines of the agreement of raters: counts, pairs, all together, repeated judgements."""
    parts = alignment_parts(agreed.alignment)
    for number, pair in enumerate(agreed.pairs, start=1):
        parts += ["", *_pair_parts(number, pair)]
    if agreed.together:
        parts += ["", coefficient_table("agreement-all", "All raters", agreed.together)]
    return [*parts, *repeated_parts(agreed.reliability)]


def alignment_parts(alignment: Sequence[Alignment]) -> list[Part]:
    """Return the table of what was read of each rater, and in lines why some of it counts for nothing."""
    heads = columns("rater", *counts("read", "aligned"), "dropped", *counts("items unrated"))
    rows = tuple(
        (
            each.rater, each.n_judgement, each.aligned,
            ", ".join(f"{n} {name}" for name, n in sorted(each.dropped.items())) or "none", each.unrated,
        )
        for each in alignment
    )  # fmt: skip
    seen = sorted({name for each in alignment for name in each.dropped})
    return [DataTable("judgements", "Judgements", heads, rows), *(f"{name}: {UNALIGNED[name]}" for name in seen)]


def repeated_parts(reliability: Sequence[Reliability], *, has_shifts: bool = True) -> list[Part]:
    """Return the table of how consistent raters are who judged something twice; nothing without any."""
    names = {"flips": "flip_rate", "flips with order": "order_flip_rate"}
    names |= {"shift with order": "order_shift"} if has_shifts else {}
    found = [(one.rater, name, getattr(one, key)) for one in reliability for name, key in names.items()]
    rows = tuple((rater, name, *with_intervals(one), one.n) for rater, name, one in found)
    return ["", DataTable("repeated", "Repeated judgements", columns("rater", "", *_ESTIMATE), rows)] if rows else []


_ESTIMATE = (("value", "estimate"), ("n", "count"))


def _pair_parts(number: int, pair: RaterPair) -> list[Part]:
    """Return the tables and lines of two raters: coefficients, the test of their ranks, their largest disagreements."""
    first, second = pair.raters
    parts: list[Part] = [coefficient_table(f"agreement-{number}", f"{first} and {second}", pair.coefficients)]
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
        heads = columns("problem, sample", first, second)
        parts.append(DataTable(f"disagreements-{number}", "Largest disagreements", heads, rows))
    return parts


def coefficient_table(name: str, title: str, found: Mapping[str, Estimate]) -> DataTable:
    """Return a table of coefficients with their intervals."""
    rows = tuple((key, *with_intervals(estimate), estimate.n) for key, estimate in found.items())
    return DataTable(name, title, columns("coefficient", *_ESTIMATE), rows)


def _p_values_text(test: RankTest) -> str:
    """Write the p-values of a rank test: `p = 0.03, 0.04 by permutation (exact)`."""
    if test.asymptotic is None:
        return f"undefined ({test.reason})"
    more = "" if test.permutation is None else f", {test.permutation:.3g} by permutation ({test.method})"
    return f"p = {test.asymptotic:.3g}{more}"

"""The command `prism protocol engibench`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.output import print_parts, progress_bar
from prism.protocols.engibench.units import Units
from prism.resources import n_processors

if TYPE_CHECKING:
    from prism.protocols.engibench.rows import VariantFigure, VariantPairs
    from prism.reports.comparison.paired_tests import PairedTest
    from prism.reports.table_formats import DataTable


@shared.protocols.command("engibench")
def engibench(
    table: Path = take.argument("Questions: the CSV of Levels 1 and 2, or of Level 3.", metavar="ROWS"),
    answers: Path = take.argument("Answers, .jsonl, .csv or .parquet: row, variant, response."),
    rubric: Path | None = take.option("Points that a marker gave answers of Level 3, .jsonl.", None, "--rubric"),
    judged: Path | None = take.option("What a judge or a person says of Levels 1 and 2, .jsonl.", None, "--judged"),
    prefer: shared.PreferRules = "file",
    units: Units = take.option(
        "When the unit of a number counts: where the question is about units.", Units.ASKED, "--units"
    ),
    mapping: list[str] = take.names("Fields: response=FIELD,row=FIELD,variant=FIELD.", "--map"),
    keep: shared.Keep = take.NO_NAMES,
    workers: shared.Workers = None,
    replicates: int = take.option("Bootstrap samples behind the intervals.", 1000, min=0),
    out: shared.Out = None,
    max_incidents: take.MaxIncidents = 0,
    force: take.Force = False,
    as_json: take.AsJson = False,
) -> None:
    """Score answers to EngiBench: right within 2 %, points of four dimensions, and what each variant costs."""
    from prism.protocols.engibench.input import read_answers, read_judged, read_points, read_questions
    from prism.protocols.engibench.rows import PROTOCOL, VARIANT, engibench_rows, variant_figures, variant_pairs

    prefer_rules = shared.prefers_rules(prefer)
    shared.prepare_output(out, force=force)
    processes = n_processors() if workers is None else workers
    questions = read_questions(table)
    given = read_answers(answers, questions, mapping=take.parse_field_map(mapping), keep=keep)
    points, warnings = read_points(rubric, questions) if rubric is not None else ([], ())
    shared.tell_warnings(warnings, rubric or answers)
    verdicts, warnings = read_judged(judged, questions) if judged is not None else (None, ())
    shared.tell_warnings(warnings, judged or answers)
    with progress_bar(len(given), "deciding") as advance:
        rows = engibench_rows(
            questions, given, points, judged=verdicts, prefer_rules=prefer_rules, units=units,
            workers=processes, on_done=partial(advance, 1),
        )  # fmt: skip
    figures, pairs = variant_figures(rows), variant_pairs(rows)
    tests = _tests(pairs, replicates)
    if not as_json and rows:
        print_parts(_tables(figures, pairs, tests))
    extra = {
        "figures": [one.to_dict() for one in figures],
        "paired_with_original": [_pair_dict(*each) for each in zip(pairs, tests, strict=True)],
    }
    asked = shared.Grading(as_json=as_json, max_incidents=max_incidents)
    shared.finish(rows, asked, protocol=PROTOCOL, variant=VARIANT, out=out, extra=extra)


def _tests(pairs: Sequence[VariantPairs], replicates: int) -> Sequence[PairedTest]:
    """Test the differences of each variant, row by row of the table."""
    import numpy as np

    from prism.reports.comparison.paired_tests import Differences, paired_tests

    compared = (
        Differences(np.array([float(each) for each in one.differences], dtype=np.float64), np.arange(len(one.rows)))
        for one in pairs
    )
    return paired_tests(list(compared), replicates=replicates)


def _pair_dict(pair: VariantPairs, test: PairedTest) -> dict[str, Any]:
    """Return a variant beside the original as plain values for JSON; the difference is exact, then rounded."""
    from prism.protocols.rows import mean_of, rounded

    return {
        "model": pair.model, "group": pair.group, "variant": pair.variant, "rows": len(pair.rows),
        "original": rounded(mean_of(list(pair.base))), "mean": rounded(mean_of(list(pair.other))), **test.to_dict(),
        "difference": rounded(pair.mean_difference),
    }  # fmt: skip


def _tables(
    figures: Sequence[VariantFigure], pairs: Sequence[VariantPairs], tests: Sequence[PairedTest]
) -> list[DataTable]:
    """Return the means of the variants, and each beside the original; the model stands there where one is named."""
    keys = ("model", "group", "variant") if any(one.model for one in figures) else ("group", "variant")
    return [_figure_table(figures, keys), *([_pair_table(pairs, tests, keys)] if pairs else [])]


def _figure_table(figures: Sequence[VariantFigure], keys: Sequence[str]) -> DataTable:
    """Return the mean of each variant, with its bounds."""
    from prism.reports.table_formats import DataTable, columns, counts

    heads = columns(*keys, *counts("answers", "undecided"), *((name, "value") for name in ("mean", "low", "high")))
    rows = [
        (*(getattr(one, name) for name in keys), one.n, one.n_undecided,
         _as_float(one.mean), _as_float(one.low), _as_float(one.high))
        for one in figures
    ]  # fmt: skip
    note = "low and high: with every undecided answer at its worst and at its best"
    return DataTable("variants", "Mean by variant", heads, tuple(rows), n_keys=len(keys) - 1, notes=(note,))


def _pair_table(pairs: Sequence[VariantPairs], tests: Sequence[PairedTest], keys: Sequence[str]) -> DataTable:
    """Return each variant beside the original, with the change, its interval and p."""
    from prism.protocols.rows import mean_of
    from prism.reports.comparison.paired_tests import method_text, p_text
    from prism.reports.table_formats import DataTable, columns, counts

    heads = columns(*keys, *counts("rows"), ("original", "value"), ("mean", "value"), ("change", "values"), "p")
    rows = [
        (*(getattr(one, name) for name in keys), len(one.rows), _as_float(mean_of(list(one.base))),
         _as_float(mean_of(list(one.other))), test.difference, test.difference, p_text(test.p))
        for one, test in zip(pairs, tests, strict=True)
    ]  # fmt: skip
    method = method_text(tests) or "none, for too few rows"
    note = f"paired by row of the table; intervals of 95 % by a bootstrap over rows; p: {method}"
    return DataTable("paired", "Beside the original", heads, tuple(rows), n_keys=len(keys) - 1, notes=(note,))


def _as_float(value: Fraction | None) -> float | None:
    """Return an exact number as a float; None for None."""
    return None if value is None else float(value)

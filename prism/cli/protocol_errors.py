"""The command `prism protocol errors`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.option_groups import with_options
from prism.cli.output import print_json, print_parts
from prism.cli.talk import exit_unless_graded
from prism.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism.protocols.error_labels import ErrorFinding, LabelTable
    from prism.reports.table_formats import Cell, DataTable


@shared.protocols.command("errors")
@partial(with_options, without=("keep",))
def errors(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    findings: Annotated[
        Path | None, typer.Option(help="Labels of a judge or a person, held beside those of the rules.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Findings of the rules, .jsonl.")] = None,
    *,
    grading: shared.Grading,
) -> None:
    """Name the first error of each response by rule, with seven labels, and hold a file of labels beside it."""
    from prism.grading.row import json_line
    from prism.protocols.error_labels import findings_by_rule, label_tables, read_error_findings
    from prism.protocols.graded_rollouts import diagnosed

    if out is not None and out.suffix not in (".jsonl", ".ndjson"):
        raise typer.BadParameter(f"--out {out}: expected a file .jsonl")
    take.require_new(out, force=grading.force)
    judged = None if findings is None else shared.after_warnings(read_error_findings(findings))
    graded = shared.graded_input(problems, rollouts, grading, then=diagnosed)
    by_rule = findings_by_rule(graded)
    beside = [] if judged is None else label_tables([entry.value for entry in judged.entries], by_rule)
    if out is not None:
        out.write_bytes(b"".join(json_line(one.to_dict()) + b"\n" for one in by_rule))
    _print(by_rule, beside, out, as_json=grading.as_json)
    exit_unless_graded(bool(by_rule), len(graded) - len(by_rule), grading.max_incidents)


def _print(by_rule: Sequence[ErrorFinding], beside: Sequence[LabelTable], out: Path | None, *, as_json: bool) -> None:
    """Print the findings of the rules, and the tables beside them, as tables or as JSON."""
    if as_json:
        rows = {} if out else {"findings": [one.to_dict() for one in by_rule]}
        print_json({"responses": len(by_rule), "beside": [one.to_dict() for one in beside], **rows})
        return
    parts = [] if out else [_finding_table(by_rule)]
    parts += [_label_table(one) for one in beside]
    if parts:
        print_parts(parts)
    if out is not None:
        print(f"{out}: {count_of(len(by_rule), 'finding')}")


def _finding_table(by_rule: Sequence[ErrorFinding]) -> DataTable:
    """Return what rules say of each response."""
    from prism.protocols.error_labels import OPEN
    from prism.reports.table_formats import DataTable, columns

    heads = columns("problem", "sample", "label", "further", "first wrong expression")
    rows = [
        (one.problem_id, one.sample_id, one.primary or OPEN, ", ".join(one.secondary), next(iter(one.incorrect), ""))
        for one in by_rule
    ]
    note = "open: no rule decides it; DAE, PTAE, MPUE, CAE and much of VRE need a reader"
    return DataTable("errors", "First error, by rule", heads, tuple(rows), n_keys=1, notes=(note,))


def _label_table(table: LabelTable) -> DataTable:
    """Return how often each label of a rater stands beside each of the rules."""
    from prism.protocols.error_labels import NO_ERROR, OPEN
    from prism.protocols.psas_findings import LABELS
    from prism.reports.table_formats import DataTable, columns, counts

    order = (*LABELS, NO_ERROR, OPEN)
    own = [each for each in order if any(two == each for _, two in table.counts)]
    theirs = [each for each in order if any(one == each for one, _ in table.counts)]
    heads = columns(table.judge, *counts(*(f"rules: {each}" for each in own)))
    rows: list[tuple[Cell, ...]] = [(one, *(table.counts.get((one, two), 0) for two in own)) for one in theirs]
    note = (
        f"{count_of(table.n, 'response')}; both say something of {table.n_decided}, the same of {table.n_same}; "
        f"only in the file {table.n_only_file}, only in the rollouts {table.n_only_rules}"
    )
    title = f"Labels of {table.judge}, beside the rules"
    return DataTable(f"labels {table.judge}", title, heads, tuple(rows), notes=(note,))

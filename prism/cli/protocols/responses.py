"""Protocols that go by the steps of a response: `psas`, `worded`, `errors`; `page`, on which people rate scores."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.options import with_options
from prism.cli.output import print_json, print_parts
from prism.cli.talk import exit_unless_graded, fail, require_one_of
from prism.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prism.protocols.error_labels import ErrorFinding, LabelTable
    from prism.reports.table_formats import Cell, DataTable


@shared.protocols.command("psas")
@with_options
def psas(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    variant: str = take.option(
        "released, as the published script counts; or judged: a step by what it has.", "released"
    ),
    units: str = take.option("count: a wrong unit is wrong; or ignore, as published.", "count"),
    findings: Path | None = take.option("What a judge or a person says of answers and steps, with error labels."),
    prefer: shared.PreferRules = "file",
    out: shared.Out = None,
    *,
    grading: shared.Grading,
) -> None:
    """Score step by step, each by its value and equation, without dependencies (PSAS-S of PhysReason)."""
    from prism.protocols.psas.findings import by_response, read_findings
    from prism.protocols.psas.rows import Variant
    from prism.protocols.psas.rules import load_references, psas_rows, stated_nodes, with_part_labels

    require_one_of("--variant", variant, Variant)
    require_one_of("--units", units, ("count", "ignore"))
    prefer_rules = shared.prefers_rules(prefer)
    shared.prepare_output(out, force=grading.force)
    references = load_references(problems)
    judged = None
    if findings is not None:
        judged = by_response(
            shared.after_warnings(read_findings(findings)), {name: each.parts for name, each in references.items()}
        )
    graded = shared.graded_input(
        problems, rollouts, grading, problems={name: each.problem for name, each in references.items()},
        rewrite=with_part_labels, then=partial(stated_nodes, ignores_units=units == "ignore"),
    )  # fmt: skip
    rows = psas_rows(
        graded, references, variant=Variant(variant), units=units, findings=judged, prefer_rules=prefer_rules
    )
    shared.finish(rows, grading, protocol="psas", variant=variant, out=out)


@shared.protocols.command("worded")
@with_options
def worded(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    readings: Path | None = take.option("What a model or a person reads in answers in words, .jsonl."),
    out: shared.Out = None,
    *,
    grading: shared.Grading,
) -> None:
    """Score with answers in words that a model or a person has read, beside the score by rules alone."""
    from prism.protocols.worded import PROTOCOL, VARIANT, by_response, read_readings, worded_nodes, worded_rows

    shared.prepare_output(out, force=grading.force)
    known = shared.read_problems(problems)
    read_words = {} if readings is None else dict(by_response(shared.after_warnings(read_readings(readings)), known))
    graded = shared.graded_input(problems, rollouts, grading, problems=known, then=worded_nodes)
    shared.finish(worded_rows(graded, read_words), grading, protocol=PROTOCOL, variant=VARIANT, out=out)


@shared.protocols.command("errors")
@partial(with_options, without=("keep",))
def errors(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    findings: Path | None = take.option("Labels of a judge or a person, held beside those of the rules."),
    out: Path | None = take.option("Findings of the rules, .jsonl.", None, "--out", "-o"),
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
    from prism.protocols.psas.findings import LABELS
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


@shared.protocols.command("page")
def page(
    problems: take.ManyProblems,
    rollouts: take.Rollouts,
    scores: Path = take.argument("Rows of a protocol, whose parts are rated."),
    other: Path | None = take.argument("Rows of another one: which score is nearer.", None),
    out: Path = take.option("The page: .html.", Path("rate.html"), "--out", "-o"),
    title: str = take.option("Of the page.", "Scores to rate"),
    force: take.Force = False,
) -> None:
    """Make a page to rate scores: right or wrong unseen, then each score in five words, then one of two scores."""
    from prism.reports.html.whole_pages import rated_solution, rating_page
    from prism.runs.rollouts import read, scan
    from prism.runs.score_files import score_rows

    take.require_new(out, force=force)
    known = shared.read_problems(problems)
    first, second = _by_ids(score_rows(scores)), None if other is None else _by_ids(score_rows(other))
    given = list(read(rollouts, scan(rollouts, known).fields, known))
    made = [
        rated_solution(
            number, known[each.problem_id], each.sample_id, _text_of(each.solution),
            first[each.problem_id, each.sample_id],
            None if second is None else second.get((each.problem_id, each.sample_id)),
        )
        for number, each in enumerate(given, start=1)
        if (each.problem_id, each.sample_id) in first
    ]  # fmt: skip
    if not made:
        fail(f"{scores}: has no row of a rollout of {rollouts}")
    names = [path.name for path in (scores, other) if path is not None]
    take.write_text(out, rating_page(made, title=title, names=names))
    print(f"{out}: {count_of(len(made), 'solution')}")


def _by_ids(rows: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Map score rows by problem and sample."""
    return {(str(row.get("problem_id")), str(row.get("sample_id"))): row for row in rows}


def _text_of(solution: Any) -> str:
    """Return a solution as one text."""
    from prism.latex import extract

    return solution if isinstance(solution, str) else extract(solution).text

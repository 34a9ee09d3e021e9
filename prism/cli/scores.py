"""Commands on score files and judgements: `compare`, `agree`, `report`, `leaderboard`."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import prism
from prism.cli import score_options as take
from prism.cli.application import GATE_FAILED, INCIDENTS, NOTHING_GRADED, app
from prism.cli.helptext import Door
from prism.cli.options import (
    NO_NAMES,
    AsJson,
    Force,
    Percent,
    Replicates,
    TableFormat,
    fail,
    in_words,
    parse_field_map,
    parse_interval,
    problem_file,
    read_results,
    require_report,
    step_summary_path,
)
from prism.cli.output import (
    print_json,
    print_tables,
    spinner,
    with_progress,
    write_text,
)
from prism.cli.report_output import TableTarget, table_target, write_report_tables, write_tables
from prism.errors import count_of
from prism.reports.formats import Format

if TYPE_CHECKING:
    from prism.cli.labels import AgreementOptions, RaterFiles
    from prism.reports.gates import Comparison, Gate, GateOutcome
    from prism.reports.label_agreement import LabelScheme
    from prism.reports.summary import Report


@app.command(rich_help_panel=Door.GATE)
def compare(
    base: take.BaseFile,
    new: take.NewFile = None,
    by: take.GroupFields = NO_NAMES,
    against: take.BaseGroup = "",
    replicates: Replicates = 1000,
    fail_on: take.Gates = NO_NAMES,
    min_mean: take.LeastMean = None,
    min_item: take.LeastItem = None,
    no_gate: take.NoGate = False,
    allow_changed: take.AllowChanged = False,
    across_rules: take.AcrossRules = False,
    update_baseline: take.UpdateBaseline = False,
    junit: take.JunitFile = None,
    summary: take.SummaryFile = None,
    github: take.ForGithub = False,
    max_incidents: take.NewIncidents = 0,
    out: take.ComparisonOut = None,
    form: TableFormat = Format.TEXT,
    table: take.ComparisonTables = NO_NAMES,
    percent: Percent = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Hold new results against old ones, or models against models, with intervals and p; exit code 1 for a gate."""
    gates = _parse_gates(fail_on, min_mean, min_item)
    if no_gate and gates:
        raise typer.BadParameter("--no-gate judges nothing; leave --fail-on, --min-mean and --min-item out")
    is_gating = bool(gates or junit or summary or github)
    if update_baseline and (is_gating or out or table or percent or form is not Format.TEXT):
        raise typer.BadParameter("--update-baseline judges nothing; leave the gates, reports and tables out")
    if by and (is_gating or update_baseline):
        raise typer.BadParameter("--by compares groups and judges no gate; leave the gates and reports out")
    if not by and (new is None or against):
        raise typer.BadParameter("--against needs --by" if against else "name NEW; or --by FIELD, to compare in BASE")
    target = table_target(out, form, table, percent=percent, force=force, as_json=as_json, has_page=False)
    target.check_path()
    files = [base] if new is None else [base, new]
    if by:
        _refuse_repeated(files)
        n_incident = _compare_groups(
            files,
            by,
            against,
            replicates,
            target,
            allow_changed=allow_changed,
            across_rules=across_rules,
            as_json=as_json,
        )
    elif update_baseline:
        _accept_results(files[-1], base, max_incidents, as_json=as_json)
        return
    else:
        from prism.reports import gates as gating

        hooks = _CiFiles(junit, step_summary_path() if github and summary is None else summary, github)
        n_incident = _compare_files(
            files,
            gates or ([] if no_gate else gating.parse_gates([gating.DEFAULT_GATE])),
            replicates,
            hooks,
            target,
            allow_changed=allow_changed,
            across_rules=across_rules,
            as_json=as_json,
        )
    if n_incident > max_incidents:
        raise typer.Exit(INCIDENTS)


@dataclass(frozen=True, slots=True)
class _CiFiles:
    """What a comparison writes for a build: JUnit XML, a summary in Markdown, annotations for GitHub."""

    junit: Path | None
    summary: Path | None
    is_annotated: bool


def _parse_gates(texts: Sequence[str], min_mean: float | None, min_item: float | None) -> Sequence[Gate]:
    """Parse `--fail-on`, `--min-mean` and `--min-item`."""
    from prism.reports import gates as gating

    try:
        return gating.parse_gates(texts, min_mean=min_mean, min_item=min_item)
    except prism.PrismError as error:
        raise typer.BadParameter(f"--fail-on: {error}\n{gating.GRAMMAR}") from error


def _compare_files(
    files: Sequence[Path], gates: Sequence[Gate], replicates: int, hooks: _CiFiles, target: TableTarget,
    *, allow_changed: bool, across_rules: bool, as_json: bool,
) -> int:  # fmt: skip
    """Compare two files, print what comes out, and return the number of incidents in the new one.

    Exits with the code of a gate that has fired, or of files with no item in common.
    """
    from prism.reports import gates as gating
    from prism.reports import tables
    from prism.reports.comparison_tables import comparison_parts

    try:
        base, new = map(read_results, files)
        found = gating.compare_results(
            base, new, allow_changed=allow_changed, across_rules=across_rules, replicates=replicates
        )
    except prism.PrismError as error:
        fail(str(error))
    outcomes = gating.apply_gates(found, gates)
    _write_comparison(found, outcomes, hooks)
    if as_json:
        print_json(gating.to_dict(found, outcomes))
    elif target.form is Format.TEXT and not (target.names or target.percent):
        print_tables(*tables.comparison_tables(found, outcomes))
    else:
        write_tables(comparison_parts(found, outcomes), target)
    if not found.compared:
        raise typer.Exit(NOTHING_GRADED)
    if any(outcome.has_fired for outcome in outcomes):
        raise typer.Exit(GATE_FAILED)
    return found.new.n_incident


def _write_comparison(found: Comparison, outcomes: Sequence[GateOutcome], hooks: _CiFiles) -> None:
    """Write a comparison to a JUnit file, append it to a Markdown summary, and annotate it for GitHub, as asked for."""
    from prism.reports import ci_formats

    if hooks.junit is not None:
        write_text(hooks.junit, ci_formats.junit(found, outcomes))
    if hooks.summary is not None:
        taken = hooks.summary.stat().st_size if hooks.summary.exists() else 0
        text = ci_formats.job_summary(found, outcomes, room=ci_formats.SUMMARY_LIMIT - 1 - taken)
        write_text(hooks.summary, text, is_added=True)
    for line in ci_formats.workflow_commands(found, outcomes) if hooks.is_annotated else ():
        print(line, file=sys.stderr)  # GitHub reads both streams, and the other one is data


def _refuse_repeated(paths: Sequence[Path]) -> None:
    """Exit with code 2 if a file is named twice: its rows would count twice."""
    if twice := sorted({str(path) for path in paths if paths.count(path) > 1}):
        raise typer.BadParameter(f"{', '.join(twice)}: stands twice")


def _compare_groups(
    files: Sequence[Path], by: Sequence[str], against: str, replicates: int, target: TableTarget,
    *, allow_changed: bool, across_rules: bool, as_json: bool,
) -> int:  # fmt: skip
    """Compare the groups of some score rows (`--by`), print what comes out, and return the number of incidents.

    Exits with the code of groups that have no problem in common.
    """
    from prism.reports.comparison_tables import group_parts
    from prism.reports.group_comparison import compare_groups
    from prism.runs.score_files import score_rows

    try:
        rows = {str(path): list(score_rows(path)) for path in files}
        with spinner("testing differences"):
            found = compare_groups(
                rows,
                by,
                against=against,
                allow_changed=allow_changed,
                across_rules=across_rules,
                replicates=replicates,
            )
    except prism.PrismError as error:
        fail(str(error))
    if as_json:
        print_json(found.to_dict())
    else:
        write_tables(group_parts(found), target)
    if found.is_empty:
        raise typer.Exit(NOTHING_GRADED)
    return found.n_incident


@app.command(rich_help_panel=Door.EVALUATE)
def agree(
    results: take.RowsOrJudgements,
    judges: take.JudgementFiles = None,
    mapping: take.RaterFields = NO_NAMES,
    score: take.ScoreName = "score",
    scale: take.JudgeScale = "",
    cut: take.Cuts = NO_NAMES,
    labels: take.LabelNames = NO_NAMES,
    order: take.LabelOrder = NO_NAMES,
    distance: take.LabelDistance = NO_NAMES,
    adjudicator: take.Adjudicator = "",
    key: take.SheetKeyFile = None,
    sample: take.SampleSize = None,
    strata: take.Strata = NO_NAMES,
    seed: take.SampleSeed = 0,
    oversample: take.Oversample = 3.0,
    problems: take.SampleProblems = "",
    rollouts: take.SampleRollouts = None,
    fields: take.RolloutFields = NO_NAMES,
    title: take.SheetTitle = "Marking sheet",
    out: take.AgreementOut = None,
    replicates: Replicates = 1000,
    top: take.MostDisagreements = 5,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say how far raters agree: rules with judges, people with people; each coefficient with its interval and n."""
    from prism.cli import labels as labelling

    cuts = labelling.parse_cuts(cut)
    scheme = labelling.parse_labels(labels, order, cuts)
    require_report("prism agree")
    files = labelling.RaterFiles(results, judges or (), parse_field_map(mapping), score, parse_interval(scale))
    if sample is not None:
        drawing = labelling.SampleOptions(
            sample, tuple(strata), seed, oversample, problems, rollouts, parse_field_map(fields), title
        )
        labelling.write_sample(files, scheme, drawing, out, force=force, as_json=as_json)
        return
    if strata or problems or rollouts or fields:
        raise typer.BadParameter("--strata, --problems, --rollouts and --map-rollouts are of --sample")
    if out is not None and not adjudicator:
        raise typer.BadParameter("--out is of --sample, or of --adjudicator")
    asked = labelling.AgreementOptions(distance, adjudicator, key, out, replicates, top, force, as_json)
    if not _agree(files, scheme, cuts, asked):
        print("prism: no two raters have an item in common; say which fields with --map", file=sys.stderr)
        raise typer.Exit(NOTHING_GRADED)


def _agree(files: RaterFiles, scheme: LabelScheme | None, cuts: tuple[float, ...], asked: AgreementOptions) -> int:
    """Print the agreement of raters, in labels or in scores, and return the number of items that two have in common."""
    from prism.cli import labels as labelling

    try:
        if scheme is not None or files.are_marked:
            return labelling.agree_in_labels(files, scheme, asked)
        if len(cuts) > 1 or asked.distance:
            raise typer.BadParameter("--distance, and several scores behind --cut, are of labels: --order LOW,...,HIGH")
        return labelling.agree_in_scores(files, cuts[0] if cuts else None, asked)
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))


@app.command(rich_help_panel=Door.EVALUATE)
def report(
    results: take.ScoreRows,
    out: take.PageOrTables = None,
    problems: take.GradedProblems = "",
    rollouts: take.GradedRollouts = None,
    by: take.CrossedFields = NO_NAMES,
    across: take.AcrossFields = NO_NAMES,
    measure: take.MeasureNames = NO_NAMES,
    totals: take.Totals = False,
    intervals: take.Intervals = None,
    form: TableFormat = Format.TEXT,
    table: take.ReportTables = NO_NAMES,
    percent: Percent = False,
    judge: take.JudgeFiles = None,
    mapping: take.JudgeFields = NO_NAMES,
    fields: take.RolloutFields = NO_NAMES,
    scale: take.JudgeScale = "",
    replicates: Replicates = 1000,
    diagnose: take.Diagnosed = False,
    title: take.PageTitle = "PRISM report",
    full: take.FullPage = False,
    unfold: take.Unfolded = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run earned: tables, or one HTML page with every problem, solution and reason; it loads nothing."""
    target = table_target(out, form, table, percent=percent, force=force, as_json=as_json)
    if diagnose and not problems:
        raise typer.BadParameter("--diagnose needs --problems")
    if not by and (across or measure or totals or intervals is not None):
        raise typer.BadParameter("--across, --measure, --totals and --intervals are of the table that --by asks for")
    target.check_path()
    require_report("prism report")
    from prism.reports.cross_tables import Crossing
    from prism.reports.summary import build_report

    if problems:
        problem_file(problems)
    crossing = Crossing(tuple(by), tuple(across), tuple(measure), totals, intervals) if by else None
    try:
        found = build_report(
            results, problems=problems, rollouts=rollouts, judges=judge or (), fields=parse_field_map(fields),
            mapping=parse_field_map(mapping), scale=parse_interval(scale), replicates=replicates, diagnosed=diagnose,
            crossing=crossing, watched=lambda rows: with_progress(rows, "diagnosing"),
        )  # fmt: skip
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if left := sum(not row.is_in_scores for row in found.rows):
        told = f"{count_of(left, 'rollout')} of problems of answers alone: in the final answers, and in no mean score"
        print(f"prism: {results}: {told}", file=sys.stderr)
    if target.page is not None:
        _write_page(found, target.page, title, is_full=full, is_unfolded=unfold, is_told=not as_json)
    if as_json:
        print_json(found.to_dict())
    elif target.page is None:
        write_report_tables(found, target)
    if not any(row.grade.score is not None for row in found.rows):
        raise typer.Exit(NOTHING_GRADED)


def _write_page(found: Report, path: Path, title: str, *, is_full: bool, is_unfolded: bool, is_told: bool) -> None:
    """Write the page of a report, and say so if `is_told`."""
    from prism.reports.html import page

    write_text(path, page.html_page(found, title=title, limit=None if is_full else page.LIMIT, unfold=is_unfolded))
    if is_told:
        size = path.stat().st_size / 1e6
        print(f"{path}: {count_of(len(found.rows), 'rollout')}, {size:.1f} MB", file=sys.stderr)


@app.command(rich_help_panel=Door.EVALUATE)
def leaderboard(
    runs: take.RunFiles,
    out: take.PageOrTables = None,
    by: take.ModelFields = NO_NAMES,
    replicates: Replicates = 1000,
    title: take.PageTitle = "PRISM leaderboard",
    form: TableFormat = Format.TEXT,
    table: take.BoardTables = NO_NAMES,
    percent: Percent = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Rank the models of many runs; those of another grader or other problems stand apart, with the reason."""
    from prism.reports.comparison_tables import leaderboard_parts
    from prism.reports.rankings import make_leaderboard
    from prism.runs.score_files import score_rows

    target = table_target(out, form, table, percent=percent, force=force, as_json=as_json)
    target.check_path()
    _refuse_repeated(runs)
    try:
        names = [path.name for path in runs]
        named = {str(path) if names.count(path.name) > 1 else path.name: path for path in runs}
        rows = {name: list(score_rows(path)) for name, path in named.items()}
        sha256 = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in named.items()}
        with spinner("ranking"):
            found = make_leaderboard(rows, fields=by, sha256=sha256, replicates=replicates)
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if target.page is not None:
        from prism.reports.html.leaderboard import leaderboard_page

        write_text(target.page, leaderboard_page(found, title=title))
    if as_json:
        print_json(found.to_dict())
    elif target.page is None:
        write_tables(leaderboard_parts(found), target)
    else:
        n = sum(len(board.entries) for board in found.boards)
        told = f"{n} {'entry' if n == 1 else 'entries'}, {count_of(len(found.boards), 'table')}"
        print(f"{target.page}: {told}", file=sys.stderr)
    if found.is_empty:
        raise typer.Exit(NOTHING_GRADED)


def _accept_results(new: Path, base: Path, max_incidents: int, *, as_json: bool) -> None:
    """Replace the base file with the new results (`--accept`), unless more incidents occurred than allowed."""
    from prism.problem.plain_values import plain
    from prism.reports.gates import decimal
    from prism.reports.paired_tests import DIGITS
    from prism.runs.score_files import accept_as_base

    try:
        results = read_results(new)
        if not results.scored:
            print(f"prism: {new}: no row has a score; {base} is kept", file=sys.stderr)
            raise typer.Exit(NOTHING_GRADED)
        if results.n_incident > max_incidents:
            print(f"prism: {new}: incidents: {results.n_incident}; {base} is kept", file=sys.stderr)
            raise typer.Exit(INCIDENTS)
        accept_as_base(new, base)
    except prism.PrismError as error:
        fail(str(error))
    if as_json:
        print_json({"baseline": str(base), "items": len(results.items), "mean": plain(results.mean, DIGITS)})
    else:
        print(f"{base}: {count_of(len(results.items), 'item')}, mean score {decimal(results.mean)}")

"""Commands on score files and judgements: `compare`, `agree`, `report`, `leaderboard`."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli import labels as labelling
from prism.cli import options as take
from prism.cli.application import app
from prism.cli.helptext import HelpHeading
from prism.cli.option_groups import names, option, switch, with_options
from prism.cli.output import print_json, print_tables, spinner, with_progress
from prism.cli.report_output import TableTarget, table_target, write_report_tables, write_tables
from prism.cli.talk import GATE_FAILED, INCIDENTS, NOTHING_GRADED, exit_unless_graded, tell
from prism.errors import PrismError, count_of
from prism.reports.formats import Format

if TYPE_CHECKING:
    from prism.reports.gates import Comparison, Gate, GateOutcome
    from prism.reports.summary import Report


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """How results are compared: options of `compare`."""

    by: list[str] = names("Compare groups of the rows, as by model: a field kept by `run`.", metavar="FIELD,...")
    against: str = option("With --by: each group against this one.", "", metavar="NAME")
    replicates: take.Replicates = 1000
    fail_on: list[str] = names(
        "any-drop, any-lost-node, any-missing, item<-0.1, mean<-0.01, final<-0.02. [default: item<0]",
        metavar="GATE,...", keeps_empty=True,
    )  # fmt: skip
    min_mean: float | None = option("What NEW's mean score must reach.", min=0, max=1)
    min_item: float | None = option("What each score of NEW must reach.", min=0, max=1)
    no_gate: bool = switch("Judge nothing; without it and any gate, no score may fall.", "--no-gate")
    allow_changed: bool = switch("Compare where problem files or options of the run have changed.", "--allow-changed")
    across_rules: bool = switch("Compare rows of other rules too, as of an older PRISM.", "--across-rules")
    update_baseline: bool = switch("Instead make BASE a copy of NEW; no gate is judged.", "--update-baseline")
    junit: Path | None = option("Also a file of JUnit XML.")
    summary: Path | None = option("Append a summary in Markdown to this file.")
    github: bool = switch("Annotate, on standard error; --summary is $GITHUB_STEP_SUMMARY.", "--github")
    max_incidents: int = option("Failures of the grader in NEW that are put up with.", 0, min=0)
    out: Path | None = option("Tables to write: .csv, .md, .tex, or a folder for --format.", None, "--out", "-o")
    form: take.TableFormat = Format.TEXT
    table: list[str] = names("Only these tables: changed, change; with --by groups, ...", metavar="NAME,...")
    percent: take.Percent = False
    force: take.Force = False
    as_json: take.AsJson = False

    def checked(self, new: Path | None) -> Sequence[Gate]:
        """Return the gates that were asked for; exits with code 2 where options do not go together."""
        from prism.reports import gates as gating

        try:
            gates = gating.parse_gates(self.fail_on, min_mean=self.min_mean, min_item=self.min_item)
        except PrismError as error:
            raise typer.BadParameter(f"--fail-on: {error}\n{gating.GRAMMAR}") from error
        if self.no_gate and gates:
            raise typer.BadParameter("--no-gate judges nothing; leave --fail-on, --min-mean and --min-item out")
        is_gating = bool(gates or self.junit or self.summary or self.github)
        has_tables = self.out or self.table or self.percent or self.form is not Format.TEXT
        if self.update_baseline and (is_gating or has_tables):
            raise typer.BadParameter("--update-baseline judges nothing; leave the gates, reports and tables out")
        if self.by and (is_gating or self.update_baseline):
            raise typer.BadParameter("--by compares groups and judges no gate; leave the gates and reports out")
        if not self.by and (new is None or self.against):
            message = "--against needs --by" if self.against else "name NEW; or --by FIELD, to compare in BASE"
            raise typer.BadParameter(message)
        return gates


@app.command(rich_help_panel=HelpHeading.GATE)
@with_options
def compare(
    base: Annotated[
        Path, typer.Argument(help="Results that are kept: .jsonl or .parquet, as `prism run` writes them.")
    ],
    new: Annotated[
        Path | None, typer.Argument(help="Results that are held against them; with --by more of the same run.")
    ] = None,
    *,
    asked: ComparisonOptions,
) -> None:
    """Hold new results against old ones, or models against models, with intervals and p; exit code 1 for a gate."""
    gates = asked.checked(new)
    target = table_target(
        asked.out, asked.form, asked.table, percent=asked.percent, force=asked.force, as_json=asked.as_json,
        has_page=False,
    )  # fmt: skip
    target.check_path()
    files = [base] if new is None else [base, new]
    if asked.by:
        _refuse_repeated(files)
        n_incident = _compare_groups(files, asked, target)
    elif asked.update_baseline:
        _accept_results(files[-1], base, asked)
        return
    else:
        n_incident = _compare_files(files, gates, asked, target)
    exit_unless_graded(True, n_incident, asked.max_incidents)


def _compare_files(files: Sequence[Path], gates: Sequence[Gate], asked: ComparisonOptions, target: TableTarget) -> int:
    """Compare two files, print what comes out, and return the number of incidents in the new one.

    Exits with the code of a gate that has fired, or of files with no item in common.
    """
    from prism.reports import gates as gating
    from prism.reports import tables
    from prism.reports.comparison_tables import comparison_parts

    gates = gates or ([] if asked.no_gate else gating.parse_gates([gating.DEFAULT_GATE]))
    summary = take.step_summary_path() if asked.github and asked.summary is None else asked.summary
    base, new = map(take.read_results, files)
    found = gating.compare_results(
        base, new, allow_changed=asked.allow_changed, across_rules=asked.across_rules, replicates=asked.replicates
    )
    outcomes = gating.apply_gates(found, gates)
    _write_comparison(found, outcomes, asked, summary)
    if asked.as_json:
        print_json(gating.to_dict(found, outcomes))
    elif target.form is Format.TEXT and not (target.names or target.percent):
        print_tables(*tables.comparison_tables(found, outcomes))
    else:
        write_tables(comparison_parts(found, outcomes), target)
    exit_unless_graded(bool(found.compared))
    if any(outcome.has_fired for outcome in outcomes):
        raise typer.Exit(GATE_FAILED)
    return found.new.n_incident


def _write_comparison(
    found: Comparison, outcomes: Sequence[GateOutcome], asked: ComparisonOptions, summary: Path | None
) -> None:
    """Write a comparison to a JUnit file, append it to a Markdown summary, and annotate it for GitHub, as asked for."""
    from prism.reports import ci_formats

    if asked.junit is not None:
        take.write_text(asked.junit, ci_formats.junit(found, outcomes))
    if summary is not None:
        taken = summary.stat().st_size if summary.exists() else 0
        text = ci_formats.job_summary(found, outcomes, room=ci_formats.SUMMARY_LIMIT - 1 - taken)
        take.write_text(summary, text, is_added=True)
    for line in ci_formats.workflow_commands(found, outcomes) if asked.github else ():
        print(line, file=sys.stderr)  # GitHub reads both streams, and the other one is data


def _refuse_repeated(paths: Sequence[Path]) -> None:
    """Exit with code 2 if a file is named twice: its rows would count twice."""
    if twice := sorted({str(path) for path in paths if paths.count(path) > 1}):
        raise typer.BadParameter(f"{', '.join(twice)}: stands twice")


def _compare_groups(files: Sequence[Path], asked: ComparisonOptions, target: TableTarget) -> int:
    """Compare the groups of some score rows (`--by`), print what comes out, and return the number of incidents.

    Exits with the code of groups that have no problem in common.
    """
    from prism.reports.comparison_tables import group_parts
    from prism.reports.group_comparison import compare_groups
    from prism.runs.score_files import score_rows

    rows = {str(path): list(score_rows(path)) for path in files}
    with spinner("testing differences"):
        found = compare_groups(
            rows, asked.by, against=asked.against, allow_changed=asked.allow_changed,
            across_rules=asked.across_rules, replicates=asked.replicates,
        )  # fmt: skip
    if asked.as_json:
        print_json(found.to_dict())
    else:
        write_tables(group_parts(found), target)
    exit_unless_graded(not found.is_empty)
    return found.n_incident


@app.command(rich_help_panel=HelpHeading.EVALUATE)
@with_options
def agree(files: labelling.RaterFiles, asked: labelling.AgreementOptions) -> None:
    """Say how far raters agree: rules with judges, people with people; each coefficient with its interval and n."""
    cuts = labelling.parse_cuts(asked.cut)
    scheme = labelling.parse_labels(asked.labels, asked.order, cuts)
    take.require_report("prism agree")
    if asked.sample is not None:
        labelling.write_sample(files, scheme, asked)
        return
    if asked.strata or asked.problems or asked.rollouts or asked.fields:
        raise typer.BadParameter("--strata, --problems, --rollouts and --map-rollouts are of --sample")
    if asked.out is not None and not asked.adjudicator:
        raise typer.BadParameter("--out is of --sample, or of --adjudicator")
    if scheme is not None or files.are_marked:
        n = labelling.agree_in_labels(files, scheme, asked)
    elif len(cuts) > 1 or asked.distance:
        raise typer.BadParameter("--distance, and several scores behind --cut, are of labels: --order LOW,...,HIGH")
    else:
        n = labelling.agree_in_scores(files, cuts[0] if cuts else None, asked)
    if not n:
        tell("no two raters have an item in common; say which fields with --map")
        raise typer.Exit(NOTHING_GRADED)


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report shows, and how: options of `report`."""

    out: take.PageOrTables = None
    problems: str = option("What was graded against: a folder, a file (.toml, .json, .jsonl), or a shipped id.", "")
    rollouts: Path | None = option("What was graded, for its texts: as `run` takes it.")
    by: list[str] = names("A table crossed by fields: model,domain,difficulty, or kept ones.", metavar="FIELD,...")
    across: list[str] = names("Fields whose values are its columns.", metavar="FIELD,...")
    measure: list[str] = names("Its figures: score, final, strict, pass@4, time, tokens, cost, ...", metavar="NAME,...")
    totals: bool = switch("Also over all values of its fields.", "--totals")
    intervals: bool | None = option(
        "Beside its figures. [default: unless --across]", None, "--intervals/--no-intervals"
    )
    form: take.TableFormat = Format.TEXT
    table: list[str] = names("Only these tables: by-model, problems, ...", metavar="NAME,...")
    percent: take.Percent = False
    judge: Annotated[
        list[Path] | None,
        take.paths_option(metavar="FILE,...", help="Judgements of the same rollouts, as `agree` takes them."),
    ] = None
    mapping: list[str] = names("Fields of the judgements: score=FIELD,problem_id=FIELD,sample_id=FIELD.", "--map")
    fields: take.RolloutFields = field(default_factory=list)
    scale: take.JudgeScale = ""
    replicates: take.Replicates = 1000
    diagnose: bool = switch("Say also what is wrong with formulas, and the first wrong step; slow.", "--diagnose")
    title: str = option("Of the page.", "PRISM report")
    full: bool = switch("Leave nothing out of the page, however large it gets.", "--full")
    unfold: bool = switch("Fold nothing on the page, for print.", "--unfold")
    force: take.Force = False
    as_json: take.AsJson = False


@app.command(rich_help_panel=HelpHeading.EVALUATE)
@with_options
def report(
    results: Annotated[Path, typer.Argument(help="Score rows, .jsonl or .parquet, as `prism run` writes them.")],
    asked: ReportOptions,
) -> None:
    """Show what a run earned: tables, or one HTML page with every problem, solution and reason; it loads nothing."""
    target = table_target(
        asked.out, asked.form, asked.table, percent=asked.percent, force=asked.force, as_json=asked.as_json
    )
    if asked.diagnose and not asked.problems:
        raise typer.BadParameter("--diagnose needs --problems")
    if not asked.by and (asked.across or asked.measure or asked.totals or asked.intervals is not None):
        raise typer.BadParameter("--across, --measure, --totals and --intervals are of the table that --by asks for")
    target.check_path()
    take.require_report("prism report")
    from prism.reports.cross_tables import Crossing
    from prism.reports.summary import build_report

    if asked.problems:
        take.problem_file(asked.problems)
    crossing = Crossing(tuple(asked.by), tuple(asked.across), tuple(asked.measure), asked.totals, asked.intervals)
    found = build_report(
        results, problems=asked.problems, rollouts=asked.rollouts, judges=asked.judge or (),
        fields=take.parse_field_map(asked.fields), mapping=take.parse_field_map(asked.mapping),
        scale=take.parse_interval(asked.scale), replicates=asked.replicates, diagnosed=asked.diagnose,
        crossing=crossing if asked.by else None, watched=lambda rows: with_progress(rows, "diagnosing"),
    )  # fmt: skip
    if left := sum(not row.is_in_scores for row in found.rows):
        left_out = f"{count_of(left, 'rollout')} of problems of answers alone"
        tell(f"{results}: {left_out}: in the final answers, and in no mean score")
    if target.page is not None:
        _write_page(found, target.page, asked)
    if asked.as_json:
        print_json(found.to_dict())
    elif target.page is None:
        write_report_tables(found, target)
    exit_unless_graded(any(row.grade.score is not None for row in found.rows))


def _write_page(found: Report, path: Path, asked: ReportOptions) -> None:
    """Write the page of a report, and say so unless JSON is printed."""
    from prism.reports.html import page

    limit = None if asked.full else page.LIMIT
    take.write_text(path, page.html_page(found, title=asked.title, limit=limit, unfold=asked.unfold))
    if not asked.as_json:
        size = path.stat().st_size / 1e6
        print(f"{path}: {count_of(len(found.rows), 'rollout')}, {size:.1f} MB", file=sys.stderr)


@app.command(rich_help_panel=HelpHeading.EVALUATE)
def leaderboard(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Score rows of each run, .jsonl or .parquet.")],
    out: take.PageOrTables = None,
    by: Annotated[
        list[str],
        take.names_option(
            metavar="FIELD,...",
            default=("model",),
            help="Kept fields that name a model; without them the run's name does. [default: model]",
        ),
    ] = take.NO_NAMES,
    replicates: take.Replicates = 1000,
    title: Annotated[str, typer.Option(help="Of the page.")] = "PRISM leaderboard",
    form: take.TableFormat = Format.TEXT,
    table: Annotated[
        list[str], take.names_option(metavar="NAME,...", help="Only these tables: ranking, apart-1, ...")
    ] = take.NO_NAMES,
    percent: take.Percent = False,
    force: take.Force = False,
    as_json: take.AsJson = False,
) -> None:
    """Rank the models of many runs; those of another grader or other problems stand apart, with the reason."""
    from prism.reports.comparison_tables import leaderboard_parts
    from prism.reports.rankings import make_leaderboard
    from prism.runs.score_files import score_rows

    target = table_target(out, form, table, percent=percent, force=force, as_json=as_json)
    target.check_path()
    _refuse_repeated(runs)
    named_by = [path.name for path in runs]
    named = {str(path) if named_by.count(path.name) > 1 else path.name: path for path in runs}
    rows = {name: list(score_rows(path)) for name, path in named.items()}
    sha256 = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in named.items()}
    with spinner("ranking"):
        found = make_leaderboard(rows, fields=by, sha256=sha256, replicates=replicates)
    if target.page is not None:
        from prism.reports.html.leaderboard import leaderboard_page

        take.write_text(target.page, leaderboard_page(found, title=title))
    if as_json:
        print_json(found.to_dict())
    elif target.page is None:
        write_tables(leaderboard_parts(found), target)
    else:
        n = sum(len(board.entries) for board in found.boards)
        message = f"{n} {'entry' if n == 1 else 'entries'}, {count_of(len(found.boards), 'table')}"
        print(f"{target.page}: {message}", file=sys.stderr)
    exit_unless_graded(not found.is_empty)


def _accept_results(new: Path, base: Path, asked: ComparisonOptions) -> None:
    """Replace the base file with the new results (`--update-baseline`), unless more incidents occurred than allowed."""
    from prism.problem.plain_values import plain
    from prism.reports.gates import decimal
    from prism.reports.paired_tests import DIGITS
    from prism.runs.score_files import accept_as_base

    results = take.read_results(new)
    if not results.scored:
        tell(f"{new}: no row has a score; {base} is kept")
        raise typer.Exit(NOTHING_GRADED)
    if results.n_incident > asked.max_incidents:
        tell(f"{new}: incidents: {results.n_incident}; {base} is kept")
        raise typer.Exit(INCIDENTS)
    accept_as_base(new, base)
    if asked.as_json:
        print_json({"baseline": str(base), "items": len(results.items), "mean": plain(results.mean, DIGITS)})
    else:
        print(f"{base}: {count_of(len(results.items), 'item')}, mean score {decimal(results.mean)}")

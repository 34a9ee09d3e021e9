"""Commands on score files and judgements, `compare`, `agree`, `report`, `leaderboard`, and where their tables go."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prism.cli import labels as labelling
from prism.cli import options as take
from prism.cli.application import HelpHeading, app
from prism.cli.options import names, option, switch, with_options
from prism.cli.output import print_json, print_parts, print_tables, spinner, with_progress
from prism.cli.talk import GATE_FAILED, INCIDENTS, NOTHING_GRADED, as_usage, exit_unless_graded, tell
from prism.errors import PrismError, count_of
from prism.reports.formats import ENDINGS, Format

if TYPE_CHECKING:
    from prism.reports.gates import Comparison, Gate, GateOutcome
    from prism.reports.summary import Report
    from prism.reports.table_formats import Part

_PAGES = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where the output goes, and which tables.

    Attributes:
        path: None for standard output.
        form: of the tables.
        names: ids of the tables; empty for all.
        percent: shares are written in per cent.
        force: what is there is written over.
    """

    path: Path | None
    form: Format
    names: tuple[str, ...] = ()
    percent: bool = False
    force: bool = False

    @property
    def page(self) -> Path | None:
        """Return the page to write; None where tables are asked for."""
        return self.path if self.path is not None and self.path.suffix in _PAGES else None

    @property
    def is_folder(self) -> bool:
        """Return True if each table gets a file in a folder."""
        return self.path is not None and not self.path.suffix

    def check_path(self) -> None:
        """Exit with code 3 if the folder of the file is not there, or the file is and must not be written over."""
        take.require_folder(self.path)
        take.refuse_existing([self.path] if self.path and not self.is_folder else [], force=self.force)


def table_target(
    out: Path | None,
    form: Format,
    table: Sequence[str],
    *,
    percent: bool,
    force: bool,
    as_json: bool,
    has_page: bool = True,
) -> TableTarget:
    """Return where the output goes, by the ending of a name; options that contradict each other are usage errors.

    Args:
        out: `--out`. form: `--format`. table: `--table`. percent, force, as_json: the options of these names.
        has_page: the command can write a page.
    """
    ending = "" if out is None else out.suffix
    pages = _PAGES if has_page else ()
    if ending in ENDINGS and form in (Format.TEXT, ENDINGS[ending]):
        form = ENDINGS[ending]
    elif ending in ENDINGS:
        raise typer.BadParameter(f"--out {out}: a file {ending} holds {ENDINGS[ending]}, not {form}")
    elif ending in pages:
        if form is not Format.TEXT:
            raise typer.BadParameter(f"--out {out}: a page has no --format; name a file .csv, .md or .tex, or a folder")
    elif ending:
        names = ", ".join((*pages[:1], ".csv", ".md"))
        raise typer.BadParameter(f"--out {out}: expected a file {names} or .tex, or a folder")
    elif out is not None and form is Format.TEXT:
        raise typer.BadParameter(f"--out {out}: tables in a folder need --format csv, markdown or latex")
    if as_json and form is not Format.TEXT:
        raise typer.BadParameter("--json prints all figures; leave --format and files of tables out")
    target = TableTarget(out, form, tuple(table), percent, force)
    if (table or percent) and (as_json or target.page is not None):
        raise typer.BadParameter("--table and --percent are of tables, not of a page or of --json, which have them all")
    return target


def write_report_tables(found: Report, target: TableTarget) -> None:
    """Print or write the tables of a report; without names only the tables of `--by`, where they were asked for."""
    from prism.reports.report_tables import crossed_tables, report_parts

    if found.crossed and not target.names and not target.is_folder:
        target = replace(target, names=tuple(table.id for table in crossed_tables(found)))
    write_tables(report_parts(found), target)


def write_tables(parts: Iterable[Part], target: TableTarget) -> None:
    """Print or write the tables that were named; without names all of them, and the lines between them.

    Exits with code 2 for several tables in one CSV.
    """
    from prism.reports.report_tables import chosen_tables
    from prism.reports.table_formats import DataTable, in_percent, written, written_parts

    parts = [in_percent(part) if target.percent and isinstance(part, DataTable) else part for part in parts]
    with as_usage("--table"):
        chosen = chosen_tables(parts, target.names)
    if target.path is not None and target.is_folder:
        ending = next(ending for ending, each in ENDINGS.items() if each is target.form)
        texts = {target.path / f"{one.id}{ending}": written(one, target.form) for one in chosen}
        take.write_new(texts, force=target.force)
        return
    if target.form is Format.CSV and len(chosen) != 1:
        ids = ", ".join(one.id for one in chosen)
        raise typer.BadParameter(f"CSV holds one table: name it with --table, or a folder with -o; there are {ids}")
    shown: Sequence[Part] = chosen if target.names else parts
    if target.form is Format.TEXT:
        print_parts(shown)
        return
    text = written(chosen[0], target.form) if len(chosen) == 1 else written_parts(shown, target.form)
    if target.path is None:
        print(text, end="")
    else:
        take.write_text(target.path, text)


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
    base: Path = take.argument("Results that are kept: .jsonl or .parquet, as `prism run` writes them."),
    new: Path | None = take.argument("Results that are held against them; with --by more of the same run.", None),
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
    from prism.reports.comparison.tables import comparison_parts

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
    from prism.reports.comparison.groups import compare_groups
    from prism.reports.comparison.tables import group_parts
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
    results: Path = take.argument("Score rows, .jsonl or .parquet, as `prism run` writes them."),
    *,
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
    runs: list[Path] = take.argument("Score rows of each run, .jsonl or .parquet.", metavar="RUN..."),
    out: take.PageOrTables = None,
    by: list[str] = take.names(
        "Kept fields that name a model; without them the run's name does. [default: model]",
        metavar="FIELD,...",
        default=("model",),
    ),
    replicates: take.Replicates = 1000,
    title: str = take.option("Of the page.", "PRISM leaderboard"),
    form: take.TableFormat = Format.TEXT,
    table: list[str] = take.names("Only these tables: ranking, apart-1, ...", metavar="NAME,..."),
    percent: take.Percent = False,
    force: take.Force = False,
    as_json: take.AsJson = False,
) -> None:
    """Rank the models of many runs; those of another grader or other problems stand apart, with the reason."""
    from prism.reports.comparison.tables import leaderboard_parts
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
        from prism.reports.html.whole_pages import leaderboard_page

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
    from prism.reports.comparison.paired_tests import DIGITS
    from prism.reports.gates import decimal
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

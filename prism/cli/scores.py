"""Commands on score files and judgements: `compare`, `agree`, `report`, `leaderboard`."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import prism
from prism.cli.application import GATE_FAILED, INCIDENTS, NOTHING_GRADED, app
from prism.cli.options import (
    AsJson,
    Force,
    fail,
    in_words,
    parse_field_map,
    parse_interval,
    problem_file,
    read_results,
    refuse_existing,
    require_folder,
    require_scipy,
    split_names,
    step_summary_path,
)
from prism.cli.output import (
    print_json,
    print_tables,
    spinner,
    with_progress,
    write_text,
)
from prism.cli.report_output import table_target, write_report_tables
from prism.errors import count_of
from prism.reports.formats import Format

if TYPE_CHECKING:
    from prism.reports.gates import Comparison, GateOutcome


@app.command()
def compare(
    base: Annotated[
        Path, typer.Argument(help="Results that are kept: .jsonl or .parquet, as `prism run` writes them.")
    ],
    new: Annotated[
        Path | None, typer.Argument(help="Results that are held against them; with --by more of the same run.")
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="FIELD,...", help="Compare groups of the rows, as by model: a field kept by `run`.")
    ] = "",
    against: Annotated[str, typer.Option(metavar="NAME", help="With --by: each group against this one.")] = "",
    replicates: Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")] = 1000,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE", help="any-drop, any-lost-node, any-missing, item<-0.1, mean<-0.01, final<-0.02; repeatable."
        ),
    ] = None,
    min_mean: Annotated[float | None, typer.Option(min=0, max=1, help="What NEW's mean score must reach.")] = None,
    min_item: Annotated[float | None, typer.Option(min=0, max=1, help="What each score of NEW must reach.")] = None,
    allow_changed: Annotated[
        bool, typer.Option("--allow-changed", help="Compare where problem files or options of the run have changed.")
    ] = False,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Instead make BASE a copy of NEW; no gate is judged.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(help="Also a file of JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Append a summary in Markdown to this file.")] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Annotate, on standard error; --summary is $GITHUB_STEP_SUMMARY.")
    ] = False,
    max_incidents: Annotated[int, typer.Option(min=0, help="Failures of the grader in NEW that are put up with.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Hold new results against old ones, or models against models, with intervals and p; exit code 1 for a gate."""
    from prism.reports import gates as gating
    from prism.reports import tables

    try:
        gates = gating.parse_gates(fail_on or (), min_mean=min_mean, min_item=min_item)
    except prism.PrismError as error:
        raise typer.BadParameter(f"--fail-on: {error}\n{gating.GRAMMAR}") from error
    if update_baseline and (gates or junit or summary or github):
        raise typer.BadParameter("--update-baseline judges nothing; leave the gates and reports out")
    if by:
        _refuse_repeated([base] if new is None else [base, new])
        if gates or junit or summary or github or update_baseline:
            raise typer.BadParameter("--by compares groups and judges no gate; leave the gates and reports out")
        files = [base] if new is None else [base, new]
        _compare_groups(files, by, against, replicates, max_incidents, allow_changed=allow_changed, as_json=as_json)
        return
    if new is None or against:
        raise typer.BadParameter("--against needs --by" if against else "name NEW; or --by FIELD, to compare in BASE")
    if github and summary is None:
        summary = step_summary_path()
    if update_baseline:
        _accept_results(new, base, max_incidents, as_json=as_json)
        return
    try:
        result = gating.compare_results(
            read_results(base), read_results(new), allow_changed=allow_changed, replicates=replicates
        )
    except prism.PrismError as error:
        fail(str(error))
    outcomes = gating.apply_gates(result, gates)
    _write_comparison(result, outcomes, junit, summary, is_annotated=github)
    if as_json:
        print_json(gating.to_dict(result, outcomes))
    else:
        print_tables(*tables.comparison_tables(result, outcomes))
    if not result.compared:
        raise typer.Exit(NOTHING_GRADED)
    if any(outcome.has_fired for outcome in outcomes):
        raise typer.Exit(GATE_FAILED)
    if result.new.n_incident > max_incidents:
        raise typer.Exit(INCIDENTS)


def _refuse_repeated(paths: Sequence[Path]) -> None:
    """Exit with code 2 if a file is named twice: its rows would count twice."""
    if twice := sorted({str(path) for path in paths if paths.count(path) > 1}):
        raise typer.BadParameter(f"{', '.join(twice)}: stands twice")


def _compare_groups(
    files: Sequence[Path], by: str, against: str, replicates: int, max_incidents: int,
    *, allow_changed: bool, as_json: bool,
) -> None:  # fmt: skip
    """Compare the groups of some score rows (`--by`), print what comes out, and exit with the code of `compare`."""
    from prism.reports import comparison_tables as tables
    from prism.reports.group_comparison import compare_groups
    from prism.runs.score_files import score_rows

    try:
        rows = {str(path): list(score_rows(path)) for path in files}
        with spinner("testing differences"):
            found = compare_groups(
                rows, split_names(by), against=against, allow_changed=allow_changed, replicates=replicates
            )
    except prism.PrismError as error:
        fail(str(error))
    if as_json:
        print_json(found.to_dict())
    else:
        print_tables(*tables.group_tables(found))
    if found.is_empty:
        raise typer.Exit(NOTHING_GRADED)
    if found.n_incident > max_incidents:
        raise typer.Exit(INCIDENTS)


def _write_comparison(
    result: Comparison,
    outcomes: Sequence[GateOutcome],
    junit: Path | None,
    summary: Path | None,
    *,
    is_annotated: bool,
) -> None:
    """Write a comparison to a JUnit file, append it to a Markdown summary, and annotate it for GitHub, as asked for."""
    from prism.reports import ci_formats

    if junit is not None:
        write_text(junit, ci_formats.junit(result, outcomes))
    if summary is not None:
        taken = summary.stat().st_size if summary.exists() else 0
        text = ci_formats.job_summary(result, outcomes, room=ci_formats.SUMMARY_LIMIT - 1 - taken)
        write_text(summary, text, is_added=True)
    for line in ci_formats.workflow_commands(result, outcomes) if is_annotated else ():
        print(line, file=sys.stderr)  # GitHub reads both streams, and the other one is data


@app.command()
def agree(
    results: Annotated[Path, typer.Argument(help="Score rows of `prism run`; or judgements, people against people.")],
    judges: Annotated[
        list[Path] | None,
        typer.Argument(help="Judgements: .jsonl, .csv, .parquet, or of lm-eval, Inspect, promptfoo, FastChat, OpenAI."),
    ] = None,
    mapping: Annotated[
        str,
        typer.Option("--map", help="Fields: score=FIELD,problem_id=FIELD,sample_id=FIELD,rater=FIELD."),
    ] = "",
    score: Annotated[str, typer.Option(help="Number of a score row: score, final_correct, policies.strict.")] = "score",
    scale: Annotated[str, typer.Option(help="Lowest and highest score of the judges, 1:10; they become 0 and 1.")] = "",
    cut: Annotated[
        str,
        typer.Option(metavar="SCORE,...", help="Compare pass and fail: scores from here up pass; or between labels."),
    ] = "",
    labels: Annotated[str, typer.Option(metavar="A,B,...", help="Compare names, without an order.")] = "",
    order: Annotated[str, typer.Option(metavar="LOW,...,HIGH", help="Compare names, in this order.")] = "",
    distance: Annotated[
        str, typer.Option(metavar="A:B=WEIGHT,...", help="Weights of disagreement, for a weighted kappa of names.")
    ] = "",
    adjudicator: Annotated[str, typer.Option(metavar="RATER", help="Whose word settles where raters differ.")] = "",
    key: Annotated[
        Path | None, typer.Option(help="Key of marking sheets, where it does not stand beside them.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Instead draw N rollouts for people to mark.")
    ] = None,
    strata: Annotated[
        str,
        typer.Option(metavar="FIELD,...", help="Of the sample: score, problem, model, domain, level, or kept fields."),
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of the sample.")] = 0,
    oversample: Annotated[
        float, typer.Option(metavar="TIMES", help="How much more is drawn where rules and judges differ.")
    ] = 3.0,
    problems: Annotated[str, typer.Option(help="Of the sample: what was graded against, as `report` takes it.")] = "",
    rollouts: Annotated[Path | None, typer.Option(help="Of the sample: what was graded, as `run` takes it.")] = None,
    fields: Annotated[
        str, typer.Option("--map-rollouts", help="Fields of the rollouts: response=FIELD,problem_id=FIELD.")
    ] = "",
    title: Annotated[str, typer.Option(help="Of the sheet's page.")] = "Marking sheet",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Of a sample a folder, or a file .html or .csv; of an adjudicator a file .csv."
        ),
    ] = None,
    replicates: Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")] = 1000,
    top: Annotated[int, typer.Option(min=0, help="Largest disagreements that are listed of each pair.")] = 5,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say how far raters agree: rules with judges, people with people; each coefficient with its interval and n."""
    from prism.cli import labels as labelling

    cuts = labelling.parse_cuts(cut)
    scheme = labelling.parse_labels(labels, order, cuts)
    files = labelling.RaterFiles(results, judges or (), parse_field_map(mapping), score, parse_interval(scale))
    if sample is not None:
        drawing = labelling.SampleOptions(
            sample, split_names(strata), seed, oversample, problems, rollouts, parse_field_map(fields), title
        )
        labelling.write_sample(files, scheme, drawing, out, force=force, as_json=as_json)
        return
    if strata or problems or rollouts or fields:
        raise typer.BadParameter("--strata, --problems, --rollouts and --map-rollouts are of --sample")
    if out is not None and not adjudicator:
        raise typer.BadParameter("--out is of --sample, or of --adjudicator")
    asked = labelling.AgreementOptions(distance, adjudicator, key, out, replicates, top, force, as_json)
    try:
        if scheme is not None or files.are_marked:
            n_common = labelling.agree_in_labels(files, scheme, asked)
        elif len(cuts) > 1 or distance:
            raise typer.BadParameter("--distance, and several scores behind --cut, are of labels: --order LOW,...,HIGH")
        else:
            require_scipy("prism agree")
            n_common = labelling.agree_in_scores(files, cuts[0] if cuts else None, asked)
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if not n_common:
        print("prism: no two raters have an item in common; say which fields with --map", file=sys.stderr)
        raise typer.Exit(NOTHING_GRADED)


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="Score rows, .jsonl or .parquet, as `prism run` writes them.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Page to write, .html; or tables: .csv, .md, .tex, or a folder for --format."),
    ] = None,
    problems: Annotated[
        str, typer.Option(help="What was graded against: a folder, a file (.toml, .json, .jsonl), or a shipped id.")
    ] = "",
    rollouts: Annotated[Path | None, typer.Option(help="What was graded, for its texts: as `run` takes it.")] = None,
    by: Annotated[
        str, typer.Option(metavar="FIELD,...", help="A table crossed by fields: model,domain,difficulty, or kept ones.")
    ] = "",
    across: Annotated[str, typer.Option(metavar="FIELD,...", help="Fields whose values are its columns.")] = "",
    measure: Annotated[
        str, typer.Option(metavar="NAME,...", help="Its figures: score, final, strict, pass@4, time, tokens, cost, ...")
    ] = "",
    totals: Annotated[bool, typer.Option("--totals", help="Also over all values of its fields.")] = False,
    intervals: Annotated[
        bool | None, typer.Option("--intervals/--no-intervals", help="Beside its figures. [default: unless --across]")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="Of the tables.")] = Format.TEXT,
    table: Annotated[str, typer.Option(metavar="NAME,...", help="Only these tables: by-model, problems, ...")] = "",
    percent: Annotated[bool, typer.Option("--percent", help="Shares in the tables as 12.34, not 0.123.")] = False,
    judge: Annotated[
        list[Path] | None, typer.Option(help="Judgements of the same rollouts, as `agree` takes them; repeatable.")
    ] = None,
    mapping: Annotated[
        str, typer.Option("--map", help="Fields of the judgements: score=FIELD,problem_id=FIELD,sample_id=FIELD.")
    ] = "",
    fields: Annotated[
        str, typer.Option("--map-rollouts", help="Fields of the rollouts: response=FIELD,problem_id=FIELD.")
    ] = "",
    scale: Annotated[str, typer.Option(help="Lowest and highest score of the judges, 1:10; they become 0 and 1.")] = "",
    replicates: Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")] = 1000,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Say also what is wrong with formulas, and the first wrong step; slow.")
    ] = False,
    title: Annotated[str, typer.Option(help="Of the page.")] = "PRISM report",
    full: Annotated[bool, typer.Option("--full", help="Leave nothing out of the page, however large it gets.")] = False,
    unfold: Annotated[bool, typer.Option("--unfold", help="Fold nothing on the page, for print.")] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what a run earned: tables, or one HTML page with every problem, solution and reason; it loads nothing."""
    from prism.reports.cross_tables import Crossing
    from prism.reports.summary import build_report

    target = table_target(out, form, has_table_options=bool(table or percent), as_json=as_json)
    if diagnose and not problems:
        raise typer.BadParameter("--diagnose needs --problems")
    fields_by, fields_across, measures = map(split_names, (by, across, measure))
    if not fields_by and (fields_across or measures or totals or intervals is not None):
        raise typer.BadParameter("--across, --measure, --totals and --intervals are of the table that --by asks for")
    if judge:
        require_scipy("prism report --judge")
    require_folder(out)
    refuse_existing([out] if out and not target.is_folder else [], force=force)
    if problems:
        problem_file(problems)
    crossing = Crossing(fields_by, fields_across, measures, totals, intervals) if fields_by else None
    try:
        found = build_report(
            results, problems=problems, rollouts=rollouts, judges=judge or (), fields=parse_field_map(fields),
            mapping=parse_field_map(mapping), scale=parse_interval(scale), replicates=replicates, diagnosed=diagnose,
            crossing=crossing, watched=lambda rows: with_progress(rows, "diagnosing"),
        )  # fmt: skip
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if target.page is not None:
        from prism.reports.html import page

        write_text(target.page, page.html_page(found, title=title, limit=None if full else page.LIMIT, unfold=unfold))
    if as_json:
        print_json(found.to_dict())
    elif target.page is not None:
        size = target.page.stat().st_size / 1e6
        print(f"{target.page}: {count_of(len(found.rows), 'rollout')}, {size:.1f} MB", file=sys.stderr)
    else:
        write_report_tables(found, target, split_names(table), percent=percent, force=force)
    if not any(row.grade.score is not None for row in found.rows):
        raise typer.Exit(NOTHING_GRADED)


@app.command()
def leaderboard(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Score rows of each run, .jsonl or .parquet.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Page to write, .html; without it tables are printed.")
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="FIELD,...", help="Kept fields that name a model; without them the run's name does.")
    ] = "model",
    replicates: Annotated[int, typer.Option(min=0, help="Bootstrap samples behind the intervals.")] = 1000,
    title: Annotated[str, typer.Option(help="Of the page.")] = "PRISM leaderboard",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Rank the models of many runs; those of another grader or other problems stand apart, with the reason."""
    from prism.reports import comparison_tables as tables
    from prism.reports.rankings import make_leaderboard
    from prism.runs.score_files import score_rows

    if out is not None and out.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"--out {out}: expected a file .html")
    require_folder(out)
    refuse_existing([out] if out else [], force=force)
    _refuse_repeated(runs)
    try:
        names = [path.name for path in runs]
        named = {str(path) if names.count(path.name) > 1 else path.name: path for path in runs}
        rows = {name: list(score_rows(path)) for name, path in named.items()}
        sha256 = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in named.items()}
        with spinner("ranking"):
            found = make_leaderboard(rows, fields=split_names(by), sha256=sha256, replicates=replicates)
    except (prism.PrismError, OSError) as error:
        fail(in_words(error))
    if out is not None:
        from prism.reports.html.leaderboard import leaderboard_page

        write_text(out, leaderboard_page(found, title=title))
    if as_json:
        print_json(found.to_dict())
    elif out is None:
        print_tables(*tables.leaderboard_tables(found))
    else:
        n = sum(len(board.entries) for board in found.boards)
        print(f"{out}: {n} {'entry' if n == 1 else 'entries'}, {count_of(len(found.boards), 'table')}", file=sys.stderr)
    if found.is_empty:
        raise typer.Exit(NOTHING_GRADED)


def _accept_results(new: Path, base: Path, max_incidents: int, *, as_json: bool) -> None:
    """Replace the base file with the new results (`--accept`), unless more incidents occurred than allowed."""
    from prism.reports.gates import decimal, rounded
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
        print_json({"baseline": str(base), "items": len(results.items), "mean": rounded(results.mean)})
    else:
        print(f"{base}: {count_of(len(results.items), 'item')}, mean score {decimal(results.mean)}")

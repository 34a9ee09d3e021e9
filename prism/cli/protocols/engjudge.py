"""`prism protocol engjudge`: eight stages with dependency propagation, by rules and by a file of findings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.options import with_options
from prism.cli.output import plain_table, print_tables
from prism.cli.talk import require_one_of, tell
from prism.errors import count_of

if TYPE_CHECKING:
    from prism.protocols.engjudge.corrections import Correction, CorrectionSummary, StageMatrix
    from prism.protocols.engjudge.rows import EngJudgeOptions
    from prism.protocols.entry_files import EntryFile
    from prism.protocols.rows import ProtocolRow


@shared.protocols.command("engjudge")
@with_options
def engjudge(
    findings: Path | None = take.argument(
        "Findings: one row a solution, .jsonl or .json. [default: rules alone]", None
    ),
    rules: shared.ByRule = None,
    topology: str = take.option(
        "Graph of stages: default, flat, linear, or a .json or .toml file.", "default", metavar="NAME|FILE"
    ),
    without: list[str] = take.names("Parts that are left out: dp, meta, missing.", metavar="PART,..."),
    absent: str = take.option("What an absent stage is in the mean.", "left_out", metavar="left_out|zero"),
    stages: str = take.option(
        "What says which stages there are. [default: tags with --rules, else open]", "", metavar="tags|file|none|open"
    ),
    prefer: shared.PreferRules = "",
    corrections: Path | None = take.option("What people say of the scores, one rating a row.", metavar="FILE"),
    matrix: bool = take.switch("Also how raw scores of the stages go together: Pearson's r of each two.", "--matrix"),
    out: shared.Out = None,
    *,
    grading: shared.Grading,
) -> None:
    """Score by EngJudge (EngVQA): eight stages, penalties and caps, propagation over a graph, three checks."""
    from prism.protocols.engjudge.corrections import by_solution, raw_matrix, read_correction
    from prism.protocols.engjudge.findings import read_findings
    from prism.protocols.engjudge.rows import PROTOCOL, rows_of_findings, rows_of_rollouts
    from prism.protocols.engjudge.rules import apply_rules
    from prism.protocols.entry_files import read_entries

    if findings is None and rules is None:
        raise typer.BadParameter("nothing to score: give FINDINGS, --rules PROBLEMS ROLLOUTS, or both")
    options = _options(topology, without, absent, stages or ("open" if rules is None else "tags"), prefer)
    if rules is None and options.stages == "tags":
        raise typer.BadParameter("--stages tags needs the solutions: --rules PROBLEMS ROLLOUTS")
    shared.prepare_output(out, force=grading.force)
    reader = partial(read_findings, keep=grading.keep)
    judged = None if findings is None else shared.after_warnings(read_entries(findings, reader))
    rated = None if corrections is None else shared.after_warnings(read_entries(corrections, read_correction))
    ratings = None if rated is None else by_solution(one.value for one in rated.entries)
    if rules is not None:
        graded = shared.graded_input(*rules, grading, then=apply_rules)
        rows = rows_of_rollouts(graded, judged, options, ratings=ratings)
    elif judged is not None:
        rows = rows_of_findings(judged, options, ratings=ratings)
    summary = None if rated is None else _summarize(rows, rated)
    if matrix and judged is None:
        raise typer.BadParameter("--matrix is of raw scores, which only FINDINGS have")
    stage_matrix = raw_matrix(one.value for one in judged.entries) if matrix and judged is not None else None
    _tell_untagged(rows)
    if summary is not None and not grading.as_json:
        print(_corrections_in_words(summary))
    if stage_matrix is not None and not grading.as_json:
        _print_matrix(stage_matrix)
    found = {"corrections": summary, "matrix": stage_matrix}
    extra = {name: each.to_dict() for name, each in found.items() if each is not None}
    shared.finish(rows, grading, protocol=PROTOCOL, variant=options.variant, out=out, extra=extra)


def _print_matrix(found: StageMatrix) -> None:
    """Print the coefficients of the stages as a table."""
    heads = ("", *found.r)
    table = plain_table(heads, heads, title="Pearson's r of raw stages")
    for one, row in found.r.items():
        table.add_row(one, *("" if value is None else f"{value:.2f}" for value in row.values()))
    print_tables(table)


def _options(topology: str, without: list[str], absent: str, stages: str, prefer: str) -> EngJudgeOptions:
    """Read the options of a run; a topology with faults exits with code 3."""
    from prism.protocols.engjudge.rows import EngJudgeOptions, StageSource
    from prism.protocols.engjudge.scoring import Ablation, AbsentStage, ScoringOptions
    from prism.protocols.engjudge.topology import load_topology

    if unknown := [name for name in without if name not in [*Ablation]]:
        raise typer.BadParameter(f"--without {', '.join(unknown)}: expected some of {', '.join(Ablation)}")
    require_one_of("--absent", absent, AbsentStage)
    if stages not in [*StageSource]:
        raise typer.BadParameter(f"--stages {stages}: expected one of {', '.join(StageSource)}")
    scoring = ScoringOptions(load_topology(topology), frozenset(map(Ablation, without)), AbsentStage(absent))
    return EngJudgeOptions(scoring, StageSource(stages), shared.prefers_rules(prefer))


def _summarize(rows: list[ProtocolRow], rated: EntryFile[Correction]) -> CorrectionSummary:
    """Compare the scores of parts with what people say of them; a rating of no solution is a fault."""
    from prism.protocols.engjudge.corrections import summarize_corrections
    from prism.protocols.engjudge.rows import part_points, solution_words
    from prism.runs.records import Faults

    faults = Faults()
    known = {(row.about.problem_id, row.about.sample_id) for row in rows}
    for entry in rated.entries:
        ids = entry.value.problem_id, entry.value.sample_id
        if ids not in known:
            faults.add(f"no row of {solution_words(*ids)}", entry.place)
    faults.check(rated.path)
    return summarize_corrections(part_points(rows), [entry.value for entry in rated.entries])


def _corrections_in_words(summary: CorrectionSummary) -> str:
    """Return the comparison with people as a line."""
    if summary.mean_error is None:
        return f"corrections: none of a part that has a score; {summary.n_unused} of others"
    share = f"{summary.n_right} of {summary.n} about right ({100 * summary.n_right / summary.n:.1f} %)"
    r = "none" if summary.correlation is None else f"{summary.correlation:.3f}"
    unused = f"; {count_of(summary.n_unused, 'rating')} of parts without score" if summary.n_unused else ""
    return f"corrections: {share}; mean absolute error {float(summary.mean_error):.3f}; Pearson r {r}{unused}"


def _tell_untagged(rows: list[ProtocolRow]) -> None:
    """Tell on standard error how many solutions have no tags, and are not scored for that."""
    from prism.protocols.engjudge.rows import NO_TAGS

    if n := sum(NO_TAGS in row.notes for row in rows):
        told = f"{n} of {count_of(len(rows), 'solution')} have no stage tags and no score"
        tell(f"{told}; --stages none scores them without")

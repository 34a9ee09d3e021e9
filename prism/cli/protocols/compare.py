"""The command `prism protocol compare`: the same responses under several scores, as tables, JSON and a page."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import prism
from prism.cli import options as take
from prism.cli import protocols as shared
from prism.cli.options import with_options
from prism.cli.output import print_json, print_parts, spinner
from prism.cli.talk import exit_unless_graded
from prism.errors import PrismError, count_of

if TYPE_CHECKING:
    from prism.protocols.side_by_side import SideBySide
    from prism.reports.comparison.scores import ScoreColumn, ScoreComparison

_ROWS = ("scores", "psas", "engtrace", "engjudge")  # files that `--rows` writes


@shared.protocols.command("compare")
@with_options
def compare(
    rows: list[Path] | None = take.argument(
        "Files of rows, of `prism run` and of protocols. [default: by rule alone]", None
    ),
    rules: tuple[str, Path] | None = take.option(
        "Six scores of these rollouts, by rule.", None, "--rules", metavar="PROBLEMS ROLLOUTS"
    ),
    policies: list[str] = take.names("Further numbers of a protocol's rows, as psas_judged.", metavar="NAME,..."),
    out: Path | None = take.option("An HTML page.", None, "--out", "-o"),
    rows_folder: Path | None = take.option(
        "With --rules: keep the rows of each score there.", None, "--rows", metavar="FOLDER"
    ),
    top: int = take.option("Disagreements that are shown.", 20, min=0),
    replicates: int = take.option("Bootstrap samples behind the intervals.", 1000, min=0),
    title: str = take.option("Of the page.", "One set of responses, several scores"),
    *,
    grading: shared.Grading,
) -> None:
    """Hold several scores of the same responses side by side: nulls, rank correlations, where they disagree most."""
    files = rows or []
    _check_options(files, rules, out, rows_folder, force=grading.force)
    take.require_report("prism protocol compare")
    from prism.reports.comparison.scores import compare_scores
    from prism.reports.report_tables import score_comparison_tables

    n_incident = 0
    columns: list[ScoreColumn] = []
    if rules is not None:
        scored = _score_by_rules(*rules, grading)
        n_incident = scored.n_incident
        if rows_folder is not None:
            _write_all(scored, rows_folder)
        columns += _columns_by_rules(scored, policies)
    for path in files:
        columns += _columns_of_file(path, policies, {column.name for column in columns})
    with spinner("comparing"):
        found = compare_scores(columns, replicates=replicates, top=top)
    if out is not None:
        _write_page(out, found, columns, title, [*files, *([rules[1]] if rules else [])])
    if grading.as_json:
        print_json(found.to_dict())
    elif out is None:
        print_parts(score_comparison_tables(found))
    else:
        print(f"{out}: {count_of(found.n, 'response')}, {count_of(len(found.names), 'score')}", file=sys.stderr)
    exit_unless_graded(any(one.n > one.n_null for one in found.figures), n_incident, grading.max_incidents)


def _check_options(
    files: list[Path], rules: object, out: Path | None, rows_folder: Path | None, *, force: bool
) -> None:
    """Refuse options that do not go together, and outputs that cannot be written, before any work is done."""
    if rules is None and not files:
        raise typer.BadParameter("nothing to compare: give files of rows, --rules PROBLEMS ROLLOUTS, or both")
    if rows_folder is not None:
        if rules is None:
            raise typer.BadParameter("--rows keeps the rows that --rules makes")
        take.make_folder(rows_folder)
        take.refuse_existing((rows_folder / f"{name}.jsonl" for name in _ROWS), force=force)
    if out is not None and out.suffix not in (".html", ".htm"):
        raise typer.BadParameter(f"--out {out}: expected a file .html")
    take.require_new(out, force=force)


def _score_by_rules(problems: str, rollouts: Path, grading: shared.Grading) -> SideBySide:
    """Score rollouts by rule in all ways; arguments as on the command line."""
    from prism.protocols.side_by_side import find_beside, rows_side_by_side

    known = shared.read_problems(problems)
    graded = shared.graded_input(problems, rollouts, grading, problems=known, then=find_beside)
    return rows_side_by_side(graded, known, thinking=grading.thinking)


def _columns_by_rules(scored: SideBySide, policies: Sequence[str]) -> list[ScoreColumn]:
    """Return the scores of rows that were made by rule."""
    from prism.protocols.rows import row_dicts
    from prism.protocols.side_by_side import DECIDED
    from prism.reports.comparison.scores import columns_of_rows

    columns = columns_of_rows(scored.scores)
    for name, rows in scored.protocols.items():
        own = [*([DECIDED] if name == "engjudge" else []), *(each for each in policies if each.startswith(f"{name}_"))]
        columns += columns_of_rows(row_dicts(rows), policies=own)
    return columns


def _columns_of_file(path: Path, policies: Sequence[str], taken: set[str]) -> list[ScoreColumn]:
    """Return the scores of a file; a name that is taken stands with that of the file.

    Raises DataFileError with its faults.
    """
    from prism.reports.comparison.scores import columns_of_rows
    from prism.runs.score_files import score_rows

    rows = list(score_rows(path))
    protocol = str(rows[0].get("protocol") or "") if rows else ""
    try:
        columns = columns_of_rows(rows, policies=[each for each in policies if each.startswith(f"{protocol}_")])
    except PrismError as error:
        raise prism.DataFileError(str(path), tuple(str(error).splitlines())) from error
    return [
        replace(column, name=f"{column.name} ({path.stem})") if column.name in taken else column for column in columns
    ]


def _write_all(scored: SideBySide, folder: Path) -> None:
    """Write the rows of each score into a folder: `scores.jsonl`, and a file for each protocol."""
    from prism.grading.row import json_line
    from prism.protocols.rows import write_rows

    (folder / "scores.jsonl").write_bytes(b"".join(json_line(row) + b"\n" for row in scored.scores))
    for name, rows in scored.protocols.items():
        write_rows(folder / f"{name}.jsonl", rows)


def _write_page(out: Path, found: ScoreComparison, columns: list[ScoreColumn], title: str, sources: list[Path]) -> None:
    """Write the page."""
    from prism.reports.html.whole_pages import score_comparison_page

    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sources if path.is_file()}
    take.write_text(out, score_comparison_page(found, columns, title=title, sources=digests))

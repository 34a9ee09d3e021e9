"""The group `prism protocol`: what its commands share. Each command has a file of its own beside this one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from prism.cli import options as take
from prism.cli.application import HELP_NAMES, CommandGroup, HelpHeading, app
from prism.cli.output import plain_table, print_json, print_tables, progress_bar, tell_scanned
from prism.cli.references import require_gradable
from prism.cli.talk import exit_unless_graded, tell
from prism.errors import count_of
from prism.resources import n_processors

if TYPE_CHECKING:
    from rich.console import RenderableType

    from prism.problem.schema import Problem
    from prism.protocols.entry_files import EntryFile
    from prism.protocols.graded_rollouts import GradedRollout, Then
    from prism.protocols.rows import ProtocolRow, ProtocolSummary
    from prism.runs.rollouts import Rollout

T = TypeVar("T")
_SHOWN_ROWS = 40  # of a table; -o writes all
_DIGITS = 3  # of a score in a table

protocols = typer.Typer(
    name="protocol", cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None,
    context_settings={"help_option_names": HELP_NAMES},
    help="Score by other protocols, beside the closure score, into ordinary score rows.",
)  # fmt: skip
app.add_typer(protocols, rich_help_panel=HelpHeading.EVALUATE)

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Result file: .jsonl or .parquet.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=0, help="Processes; 0 works in this one. [default: processors]")
]
Keep = Annotated[
    list[str],
    take.names_option(
        "--keep", metavar="FIELD,...", default=("model",), show_default=False,
        help="Further fields that go beside each score. [default: model]",
    ),
]  # fmt: skip
PreferRules = Annotated[
    str, typer.Option("--prefer", metavar="rules", help="In a conflict the rules count, not the file.")
]
ByRule = Annotated[
    tuple[str, Path] | None,
    typer.Option("--rules", metavar="PROBLEMS ROLLOUTS", help="Also what rules decide of these rollouts."),
]


@dataclass(frozen=True, slots=True)
class Grading:
    """How rollouts are read and graded, and what becomes of the rows: options of each protocol of rollouts."""

    workers: Workers = None
    mapping: take.RolloutMap = field(default_factory=list)
    keep: Keep = field(default_factory=lambda: ["model"])
    skip_unknown: take.SkipUnknown = False
    thinking: take.Thinking = False
    allow_faults: take.AllowFaults = False
    max_incidents: take.MaxIncidents = 0
    force: take.Force = False
    as_json: take.AsJson = False


@protocols.command("schema")
def schema(name: str = take.argument("Of a schema: psas_findings. Without a name, the names are listed.", "")) -> None:
    """Print the JSON Schema of what a protocol reads, such as its findings file; without a name list the schemas."""
    from prism.protocols.schemas import schema_names, schema_text

    if not name:
        print("\n".join(schema_names()))
        return
    print(schema_text(name), end="")


def prefers_rules(text: str) -> bool:
    """Parse `--prefer`; exits with code 2 for anything else."""
    if text not in ("", "rules", "file"):
        raise typer.BadParameter(f"--prefer {text}: expected rules, or file, which is the default")
    return text == "rules"


def prepare_output(out: Path | None, *, force: bool) -> None:
    """Exit with code 3 if rows cannot be written to a file: no folder, another ending, there already."""
    from prism.protocols.rows import check_ending

    take.require_new(out, force=force)
    if out is not None:
        check_ending(out)


def graded_input(
    source: str,
    rollouts: Path,
    grading: Grading,
    *,
    problems: dict[str, Problem] | None = None,
    rewrite: Callable[[Problem, Rollout], Rollout] = lambda _, rollout: rollout,
    then: Then[T] | None = None,
) -> list[GradedRollout[T]]:
    """Load problems, read rollouts and grade them, with a progress bar; what is no fault is told on standard error.

    Args:
        source: of the problems: a folder, a file, a shipped id, or a problem as JSON.
        problems: those that are graded against, by id; None for those of the source.
        rewrite: makes the rollout that is graded of one that was read, with its problem; rows are about what was read.
        then: as of `graded_rollouts.grade_rollouts`.
    """
    from prism.protocols.graded_rollouts import grade_rollouts
    from prism.runs.rollouts import read, scan
    from prism.runs.workers import RunWorkers

    known = read_problems(source) if problems is None else problems
    fields = take.parse_field_map(grading.mapping)
    scanned = scan(rollouts, known, mapping=fields, keep=grading.keep, skip_unknown=grading.skip_unknown)
    tell_scanned(scanned, rollouts)
    processes = n_processors() if grading.workers is None else grading.workers
    graded_by = {name: problem for name, problem in known.items() if name in scanned.problem_ids}
    with RunWorkers(processes) as workers:
        require_gradable(source, graded_by, allow_faults=grading.allow_faults, workers=workers)
        originals = list(read(rollouts, scanned.fields, known))
        rewritten = (rewrite(known[one.problem_id], one) for one in originals)
        with progress_bar(scanned.n, "grading") as advance:
            graded = grade_rollouts(
                known, rewritten, then=then, thinking=grading.thinking, on_done=advance, run_tasks=workers.run
            )
            return [replace(one, rollout=original) for one, original in zip(graded, originals, strict=True)]


def read_problems(source: str) -> dict[str, Problem]:
    """Load the problems of a folder, a file, a shipped id, or JSON, by id; exits with code 3 if there is no file."""
    from prism.problem.collection import load_problems

    return load_problems(source if take.is_json(source) else take.problem_file(source))


def tell_warnings(warnings: Sequence[str], file: Path) -> None:
    """Tell warnings about a file, such as keys that are not known, on standard error."""
    for each in warnings:
        tell(f"{file}: {each}")


def after_warnings(file: EntryFile[T]) -> EntryFile[T]:
    """Return the entries of a file, once its warnings are told."""
    tell_warnings(file.warnings, file.path)
    return file


def finish(
    rows: Sequence[ProtocolRow],
    grading: Grading,
    *,
    protocol: str,
    variant: str,
    out: Path | None,
    extra: Mapping[str, object] = MappingProxyType({}),
) -> None:
    """Write the rows, print what was made, and exit with a code of `prism run` unless all is well.

    The JSON is one object: the counts, what `extra` adds, and, without a file, the rows.
    """
    from prism.protocols.rows import row_dicts, summarize, write_rows

    if out is not None:
        write_rows(out, rows)
    summary = summarize(rows, protocol=protocol, variant=variant)
    if grading.as_json:
        print_json({**summary.to_dict(), **extra, **({} if out else {"rows_list": row_dicts(rows)})})
    elif out is not None:
        print(f"{out}: {_in_one_line(summary)}")
    else:
        print_tables(_table(rows), _in_one_line(summary))
    if n := sum(any(note.startswith("findings") for note in row.notes) for row in rows):
        told = "was read only after repair" if n == 1 else "were read only after repair"
        tell(f"the findings of {count_of(n, 'row')} {told}; the notes say how")
    exit_unless_graded(bool(summary.n_scored), summary.n_incident, grading.max_incidents)


def _in_one_line(summary: ProtocolSummary) -> str:
    """Return the mean score of a run with its bounds, and its counts of rows, statuses and incidents, as one line."""
    statuses = ", ".join(f"{n} {status}" for status, n in sorted(summary.statuses.items()))
    mean, low, high = (_decimal(value) for value in (summary.mean, summary.mean_low, summary.mean_high))
    return (
        f"{summary.protocol} ({summary.variant}): {count_of(summary.n, 'row')} ({statuses}); mean score {mean}; "
        f"with what is undecided from {low} to {high}; incidents: {summary.n_incident}"
    )


def _table(rows: Sequence[ProtocolRow]) -> RenderableType:
    """Return the first rows as a table."""
    more = f"{len(rows) - _SHOWN_ROWS} more; -o writes all" if len(rows) > _SHOWN_ROWS else None
    table = plain_table(("problem", "sample", "score", "low", "high", "parts"), ("score", "low", "high"), caption=more)
    for row in rows[:_SHOWN_ROWS]:
        numbers = (_decimal(value) for value in (row.score, row.score_low, row.score_high))
        parts = ", ".join(f"{part.name} {_decimal(part.score)}" for part in row.parts)
        table.add_row(row.about.problem_id, row.about.sample_id, *numbers, parts or row.status)
    return table


def _decimal(value: object) -> str:
    """Write an exact number with a few digits; `null` for None."""
    return "null" if value is None else f"{float(value):.{_DIGITS}f}"  # type: ignore[arg-type]

"""What the command line prints: JSON, tables, progress, and one line about a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prism.cli.options import fail

if TYPE_CHECKING:
    from rich.console import Console

    from prism.equivalence.verdict import Verdict
    from prism.runs.bulk import Summary


PIPE_WIDTH = 110  # columns of a table that goes to no terminal


def write_text(path: Path, text: str, *, is_added: bool = False) -> None:
    """Write or append a text file, or exit with code 3."""
    try:
        with path.open("a" if is_added else "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        fail(f"{path}: cannot be written: {error.strerror}")


@contextmanager
def progress_bar(n: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error if that is a terminal; gives the function that advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("grading", total=n)
        yield lambda more: bar.advance(task, more)


def describe_run(summary: Summary, out: Path) -> str:
    """One line about a finished run: counts, mean score, incidents, and the file."""
    statuses = ", ".join(f"{n} {status}" for status, n in sorted(summary.statuses.items()))
    mean = "none" if summary.mean_score is None else f"{summary.mean_score:.3f}"
    return (
        f"{out}: {summary.n} rollouts, {summary.n_new} graded now ({statuses}); mean score {mean}; "
        f"final answers right: {summary.n_final}; incidents: {summary.n_incident}"
    )


def print_json(data: dict[str, Any]) -> None:
    """Print data as one line of JSON with sorted keys to standard output."""
    from prism.grading.row import json_line

    print(json_line(data).decode())


def make_console() -> Console:
    """A rich console on standard output; `PIPE_WIDTH` columns wide where that is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, markup=False)


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict for people: status, reason, readings and witness."""
    from prism.equivalence.verdict import REASONS

    print(f"{verdict.status}: {REASONS[verdict.reason]}")
    for reading in verdict.readings:
        print(f"  with {reading}")
    if verdict.witness:
        print(f"  {verdict.witness}")
    if verdict.detail:
        print("\n".join(f"  {line}" for line in verdict.detail.splitlines()))

"""What the command line prints: JSON, tables, progress, and one line about a run."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from prism.cli.options import fail
from prism.inputs import why_failed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from prism.equivalence.verdict import Verdict
    from prism.runs.bulk import Summary

T = TypeVar("T")

PIPE_WIDTH = 110  # columns of a table that goes to no terminal, where COLUMNS does not say
_LEAST_WIDTH = 20  # columns, whatever COLUMNS says: below, a table has no room for its cells


def write_text(path: Path, text: str, *, is_added: bool = False) -> None:
    """Write or append a text file, or exit with code 3."""
    try:
        with path.open("a" if is_added else "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        fail(f"{path}: cannot be written: {why_failed(error)}")


@contextmanager
def progress_bar(n: int, doing: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error if that is a terminal; gives the function that advances it.

    Args:
        n: steps in all.
        doing: what is done, in a word before the bar.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty(), transient=True) as bar:
        task = bar.add_task(doing, total=n)
        yield lambda more: bar.advance(task, more)


def with_progress(items: Sequence[T], doing: str) -> Iterator[T]:
    """Yield the items, with a `progress_bar` that counts those that are done."""
    with progress_bar(len(items), doing) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def spinner(doing: str) -> Iterator[None]:
    """A moving mark and the seconds so far on standard error, if that is a terminal, where no steps can be counted."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(doing), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty(), transient=True) as bar:
        bar.add_task(doing, total=None)
        yield


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
    """A rich console on standard output, as wide as the terminal, as COLUMNS says, or `PIPE_WIDTH`.

    Colours are for terminals only, and NO_COLOR turns them off.
    """
    from rich.console import Console

    said = os.environ.get("COLUMNS", "")
    if re.fullmatch(r"[1-9]\d{0,3}", said, re.ASCII):
        width = max(int(said), _LEAST_WIDTH)
    else:
        width = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width or PIPE_WIDTH, highlight=False, markup=False)


def print_tables(*parts: RenderableType) -> None:
    """Print tables and lines to standard output, one below the other, without blanks at the ends of lines."""
    console = make_console()
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    print("\n".join(line.rstrip() for line in captured.get().split("\n")), end="")


def print_verdict(verdict: Verdict, *, detail_of: str = "") -> None:
    """Print a verdict for people: status, reason, readings and witness; `detail_of` names what its detail is about."""
    from prism.equivalence.verdict import REASONS

    print(f"{verdict.status}: {REASONS[verdict.reason]}")
    for reading in verdict.readings:
        print(f"  with {reading}")
    if verdict.witness:
        print(f"  {verdict.witness}")
    if verdict.detail:
        about = f"{detail_of}: " if detail_of else ""
        print("\n".join(f"  {line}" for line in f"{about}{verdict.detail}".splitlines()))

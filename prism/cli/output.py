"""What the command line prints: JSON, tables, progress, and one line about a run."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from prism.cli.options import write_text
from prism.cli.talk import tell
from prism.errors import PrismError, count_of
from prism.inputs import shown
from prism.runs.input_files import InputFile, InputKind, of_kind

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from prism.algebra.expr import Formula
    from prism.authoring.conversions import Conversion
    from prism.authoring.drafts import Draft
    from prism.equivalence.verdict import Verdict
    from prism.physics.context import Context
    from prism.problem.prompts import Prompt
    from prism.reports.table_formats import Part
    from prism.runs.bulk import Summary
    from prism.runs.machine_speed import MachineSpeed
    from prism.runs.rollouts import Scanned

T = TypeVar("T")
_SHOWN_IDS = 10  # of problems that a set does not have
_TELLING_RUN = 20  # rollouts from which on a rate tells something

PIPE_WIDTH = 110  # columns of a table that goes to no terminal, where COLUMNS does not say
_MOST_WIDTH = 10_000  # columns of a table that no terminal can show
_LEAST_WIDTH = 20  # columns, whatever COLUMNS says: below, a table has no room for its cells


def write_problem(path: Path, data: Mapping[str, Any], toml: Callable[[], str]) -> None:
    """Write a problem file as TOML or JSON, by the ending of its name; exits with code 2 for another ending."""
    if path.suffix == ".json":
        write_text(path, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    elif path.suffix == ".toml":
        write_text(path, toml())
    else:
        raise typer.BadParameter(f"{path}: a problem file ends in .toml or .json")


@contextmanager
def progress_bar(n: int | None, doing: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error if that is a terminal; gives the function that advances it.

    Args:
        n: steps in all; None where they cannot be counted: then a moving mark, and the seconds so far.
        doing: what is done, in a word before the bar.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich import progress as rich
    from rich.console import Console

    moving = (rich.SpinnerColumn(), rich.TextColumn(doing), rich.TimeElapsedColumn())
    counted = (rich.TextColumn(doing), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn())
    columns = moving if n is None else counted
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=n)
        yield lambda more: bar.advance(task, more)


def with_progress(items: Iterable[T], doing: str, *, n: int | None = None) -> Iterator[T]:
    """Yield the items, with a `progress_bar` that counts those that are done, of `n` where they have no length."""
    with progress_bar(len(items) if isinstance(items, Sized) else n, doing) as advance:
        for item in items:
            yield item
            advance(1)


def spinner(doing: str) -> AbstractContextManager[object]:
    """A moving mark and the seconds so far, as `progress_bar` where no steps can be counted."""
    return progress_bar(None, doing)


def describe_run(summary: Summary, out: Path, left_out: Sequence[InputFile]) -> str:
    """One line about a finished run: counts, mean score, incidents, the file, and the files that were not read."""
    n_unread = len(of_kind(left_out, InputKind.UNREAD))
    statuses = ", ".join(f"{n} {status}" for status, n in sorted(summary.statuses.items()))
    mean = "none" if summary.mean_score is None else f"{summary.mean_score:.3f}"
    return (
        f"{out}: {count_of(summary.n, 'rollout')}, {summary.n_new} graded now ({statuses}); mean score {mean}; "
        f"final answers right: {summary.n_final}; incidents: {summary.n_incident}"
        + (f"; skipped: {summary.n_skipped}" if summary.n_skipped else "")
        + (f"; need a person: {count_of(n_unread, 'file')} not read" if n_unread else "")
    )


def tell_unreadable(summary: Summary, out: Path) -> None:
    """Tell on standard error of how many rollouts nothing that states anything could be read; nothing if of none."""
    if summary.n_no_formulas:
        message = f"in {summary.n_no_formulas} of {count_of(summary.n, 'rollout')} no formula could be read"
        tell(f"{out}: {message} (flag no_formulas); a score 0 there is no verdict, look at them")


def tell_pace(summary: Summary, seconds: float) -> None:
    """Tell on standard error how fast rollouts were graded, and which cost most; nothing of a handful of them."""
    if summary.n_new < _TELLING_RUN:
        return
    rate = f"{summary.n_new / seconds:.1f} rollouts a second"
    share = sum(cost for cost, _, _ in summary.dearest) / max(summary.cost, 1)
    names = ", ".join(f"{sample or problem} ({cost / 1e6:.0f} M)" for cost, problem, sample in summary.dearest)
    print(
        f"prism: {rate}; the dearest took {share:.0%} of {summary.cost / 1e6:,.0f} M operations: {names}",
        file=sys.stderr,
    )
    total = sum(summary.seconds.values())
    if total:  # Ray's actors look at no clock
        shares = ", ".join(f"{step} {taken / total:.0%}" for step, taken in summary.seconds.items())
        tell(f"the time of the workers, {total:.1f} s: {shares}")


def tell_left_out(left_out: Sequence[InputFile]) -> None:
    """Tell on standard error each file that is not read, as it needs a person, and those that are nobody's work."""
    for file in of_kind(left_out, InputKind.UNREAD):
        tell(f"needs a person: {file.place} {file.reason}")
    if hidden := of_kind(left_out, InputKind.HIDDEN):
        more = f" and {count_of(len(hidden) - _SHOWN_IDS, 'more file')}" if len(hidden) > _SHOWN_IDS else ""
        names = ", ".join(file.place for file in hidden[:_SHOWN_IDS])
        tell(f"passed over, as hidden files are: {names}{more}")


def tell_scanned(scanned: Scanned, rollouts: Path) -> None:
    """Tell on standard error what is no fault of an input: files not read, null solutions, skipped records, fields."""
    tell_left_out(scanned.left_out)
    if scanned.skipped:
        named = [f"{shown(name)} ({n})" for name, n in scanned.skipped.items()]
        more = f" and {count_of(len(named) - _SHOWN_IDS, 'more id')}" if len(named) > _SHOWN_IDS else ""
        message = f"{count_of(scanned.n_skipped, 'record')} skipped, as no problem has the id"
        tell(f"{rollouts}: {message}: {', '.join(named[:_SHOWN_IDS])}{more}")
    if scanned.n_null:
        message = f"{scanned.n_null} of {scanned.n} solutions are null, the first in {scanned.first_null}"
        tell(f"{rollouts}: {message}; they are graded as empty texts, with score 0")
    if scanned.absent:
        tell(f"{rollouts}: --keep: no record has the field {', '.join(scanned.absent)}")


def tell_images(prompt: Prompt) -> None:
    """Tell on standard error which images go with a prompt whose text alone was printed, and which are not there."""
    from prism.problem.images import image_path

    for place, image in enumerate(prompt.images, start=1):
        try:
            tell(f"figure {place} goes with this text: {image_path(image)}")
        except PrismError as error:
            tell(f"figure {place} goes with this text: {error}")


def drafted_sizes(made: Draft) -> str:
    """Return what a draft holds in words: `5 nodes, 4 edges, 1 final answer; 2 formulas left out`."""
    finals = sum(node.is_final for node in made.nodes)
    edges = sum(not edge.is_implied for node in made.nodes for edge in node.edges)
    ways = f", {count_of(len(made.alternatives), 'alternative')}" if made.alternatives else ""
    return (
        f"{count_of(len(made.nodes), 'node')}, {count_of(edges, 'edge')}, {count_of(finals, 'final answer')}{ways}; "
        f"{count_of(len(made.left_out), 'formula')} left out"
    )


def print_converted(made: Conversion, n_files: int) -> None:
    """Print the remarks on each converted problem, and below them how many problems, nodes and files were made."""
    for each in made.problems:
        for remark in each.remarks:
            print(f"{each.data['id']}: {remark}")
    nodes = sum(len(each.data["grading_standard"]) for each in made.problems)
    counts = (len(made.problems), "problem"), (nodes, "node"), (n_files, "file")
    first = "; read through what was written, then: prism lint" if made.problems else ""
    print(f"{', '.join(count_of(n, noun) for n, noun in counts)}{first}")


def printable(text: str) -> str:
    """Return a text that UTF-8 can hold: half of a surrogate pair, which JSON may hold, as an escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


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


def plain_table(heads: Iterable[str], numbers: Collection[str] = (), **shown: Any) -> Table:
    """Return a table without lines, to which rows are added; the columns of numbers stand to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title_justify="left", caption_justify="left", **shown)
    for name in heads:
        table.add_column(name, justify="right" if name in numbers else "left")
    return table


def print_tables(*parts: RenderableType) -> None:
    """Print tables and lines to standard output, one below the other, without blanks at the ends of lines."""
    from rich.measure import Measurement

    console = make_console()
    # A table of many columns is wider than a terminal: a number that is folded cannot be read.
    wide = console.options.update(max_width=_MOST_WIDTH)
    least = max((Measurement.get(console, wide, part).minimum for part in parts), default=0)
    console.width = max(console.width, least)
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    print("\n".join(line.rstrip() for line in captured.get().split("\n")), end="")


def print_parts(parts: Iterable[Part]) -> None:
    """Print tables of figures, and the lines between them, laid out for the terminal."""
    from prism.reports.tables import rich_parts

    print_tables(*rich_parts(parts, make_console().width))


def print_speed(measured: MachineSpeed, step: int, within: float) -> None:
    """Print what a machine does: a line on it and its kernels, seconds by the number of workers, workers for a step."""
    from rich.table import Table

    told = measured.to_dict()
    kernels = "interpreted"
    if measured.compiling is not None:
        kernels = f"compiled now, in {measured.compiling:.1f} s"
    elif measured.loading is not None:
        kernels = f"compiled before, loaded in {measured.loading:.1f} s"
    machine = f"{told['system']} {told['machine']}, {count_of(told['processors'], 'processor')}"
    about = f"prism-dag {told['version']}, Python {told['python']}, {machine}; kernels {kernels}"
    title = f"Seconds for {told['rollouts']:,} rollouts, and how many are a second"
    table = Table(title=title, title_justify="left")
    kinds = ("answers only", f"in groups of {told['group']}", "whole", f"in groups of {told['group']}")
    for name in ("workers", *kinds, "memory of a worker"):
        table.add_column(name, justify="right")
    for row in measured.rows:
        paces = [f"{pace.seconds:,.0f} s ({pace.per_second:,.1f})" for pace in row.paces.values()]
        table.add_row(str(row.workers), *paces, f"{row.megabytes:,.0f} MB")
    needed = Table(title=f"Workers for {step:,} rollouts within {within:g} s, and their memory", title_justify="left")
    for name in kinds:
        needed.add_column(name, justify="right")
    needed.add_row(*(f"{each.workers} ({each.megabytes:,.0f} MB)" for each in measured.needed(step, within).values()))
    print_tables(about, table, needed)


def print_verdict(verdict: Verdict, *, detail_of: str = "") -> None:
    """Print a verdict for people: status, reason, readings and witness; `detail_of` names what its detail is about."""
    from prism.equivalence.verdict import REASONS

    print(f"{verdict.status}: {REASONS[verdict.reason]}")
    for reading in verdict.readings:
        print(f"  with {reading}")
    if verdict.witness and verdict.witness.has_only_quantities:
        print(f"  {verdict.witness}")
    if verdict.detail:
        about = f"{detail_of}: " if detail_of else ""
        print("\n".join(f"  {line}" for line in f"{about}{verdict.detail}".splitlines()))


def print_unit_hints(reference: str, claim: str, context: Context | None) -> None:
    """Print a hint for each of two different formulas whose letters behind a number may be meant as a unit: `F = 12 N`.

    Not for letters that the other formula has beside no number: in `v = 2 t` beside `v = a t` they are symbols.
    """
    from prism.algebra.expr import symbols
    from prism.latex import write
    from prism.physics.context import parse

    declared = context.declared if context else frozenset()
    pair = [parse(latex, context=context) for latex in (reference, claim)]
    is_number_each = all(_with_unit(f, declared) for f in pair)
    for latex, own, other in zip((reference, claim), pair, pair[::-1], strict=True):
        taken = declared if is_number_each else declared | symbols(*other.members)
        if f := _with_unit(own, taken):
            print(f"  hint: in `{latex}` letters behind a number are symbols; if they are a unit, write `{write(f)}`")


def _with_unit(f: Formula, taken: frozenset[str]) -> Formula | None:
    """Return an equation `quantity = number` with the letters behind its number read as a unit; None for any other."""
    from prism.equivalence.facts import numeric_of
    from prism.physics.italic_units import with_italic_units

    read = with_italic_units(f, taken)
    return read if f.kind == "equation" and read != f and numeric_of(read) is not None else None

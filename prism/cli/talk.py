"""What the command line says on standard error, and how it stops: an error is told at one place, for all commands."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from prism.errors import PrismError
from prism.inputs import why_failed

CHECK_CODES = {"equivalent": 0, "different": 1, "undecided": 4}
GATE_FAILED = 1
BAD_FILE = 3
INCIDENTS = 4
NOTHING_GRADED = 5
STOPPED = 130  # by Ctrl-C, as shells count


def tell(message: str) -> None:
    """Print a message to standard error, after the name of the program."""
    print(f"prism: {message}", file=sys.stderr)


def fail(message: str) -> NoReturn:
    """Print a message to standard error and exit with code 3 (bad problem or input file, missing extra)."""
    tell(message)
    raise typer.Exit(BAD_FILE)


def in_words(error: Exception) -> str:
    """The message of an error; of one of the system its file and reason, without the number."""
    name = getattr(error, "filename", None)
    return f"{name}: {why_failed(error)}" if name else why_failed(error)


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn faults of files into exit code 3 with their words, and Ctrl-C into its own code."""
    try:
        yield
    except BrokenPipeError:  # who reads the output has enough of it
        raise
    except (PrismError, OSError, ImportError) as error:
        fail(in_words(error))
    except KeyboardInterrupt:
        tell("stopped")
        raise typer.Exit(STOPPED) from None


@contextmanager
def named_in_errors(place: str) -> Iterator[None]:
    """Turn an error into exit code 3, with what it is about before its words."""
    try:
        yield
    except PrismError as error:
        fail(f"{place}: {error}")


@contextmanager
def as_usage(option: str = "") -> Iterator[None]:
    """Turn a value that an option cannot have into a usage error, code 2, that begins with the option."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}" if option else str(error)) from error


def require_one_of(option: str, value: str, known: Iterable[str]) -> None:
    """Exit with code 2 if the value of an option is none of those that it can have."""
    if value not in (names := [*known]):
        raise typer.BadParameter(f"{option} {value}: expected {' or '.join(names)}")


def exit_unless_graded(is_graded: bool, n_incident: int = 0, allowed: int = 0) -> None:
    """Exit with code 5 if nothing was graded, with 4 after more failures of the grader than are put up with."""
    if not is_graded:
        raise typer.Exit(NOTHING_GRADED)
    if n_incident > allowed:
        raise typer.Exit(INCIDENTS)

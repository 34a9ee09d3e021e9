"""The command line: a thin door. stdout is data (a table for people, `--json` for programs), stderr is talk.

Exit codes: 0 done (`check`: equivalent), 1 a gate failed (`check`: different), 2 usage, 3 bad problem or input
file or a missing extra, 4 more incidents than `--max-incidents` (`check`: undecided), 5 nothing graded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import prism
from prism.cli.helptext import HELP_NAMES, CommandGroup

app = typer.Typer(
    name="prism", cls=CommandGroup, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    context_settings={"help_option_names": HELP_NAMES}, help="Grade worked physics solutions step by step, by rule.",
)  # fmt: skip


def main() -> None:
    """Entry point of the console script and of `python -m prism`."""
    app()


def _print_version(wanted: bool) -> None:
    """Print the version and the folder that runs, and exit (callback of `--version`)."""
    if wanted:
        print(f"prism-dag {prism.__version__} ({Path(prism.__file__).parent})")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True,
                                          help="Version, and the folder that runs.")] = False,
) -> None:  # fmt: skip
    """Grade worked physics solutions step by step, by rule."""

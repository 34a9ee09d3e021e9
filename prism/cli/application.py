"""The command line: a thin door. stdout is data (a table for people, `--json` for programs), stderr is talk.

Exit codes: 0 done (`check`: equivalent), 1 a gate failed (`check`: different), 2 usage, 3 bad problem or input
file or a missing extra, 4 more incidents than `--max-incidents` (`check`: undecided), 5 nothing graded.

How commands are parsed, run and shown: `-h` everywhere, by what one wants to do, descriptions in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import prism
from prism.cli.talk import report_errors

HELP_NAMES = ["-h", "--help"]


class HelpHeading(StrEnum):
    """What one wants to do, as the documentation begins too: each command of `prism` is listed under one of these."""

    TRAIN = "Train: rewards, problems without end"
    EVALUATE = "Evaluate: many responses, judges, tables"
    TEACH = "Teach: grade, explain, mark a class"
    GATE = "Gate: stop a build"
    WRITE = "Write references: problem files, data sets"


class CommandGroup(TyperGroup):
    """A group that lists its commands with their whole first sentence, over several lines where it takes them."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is wrong with its files is told in words."""
        with report_errors():
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, under their headings if they have one; Typer's own cuts what does not fit on one line."""
        listed = {name: self.commands[name] for name in self.list_commands(ctx)}
        for heading, commands in by_heading(listed).items():
            rows = [(name, " ".join((command.help or "").split())) for name, command in commands.items()]
            with formatter.section(heading):
                formatter.write_dl(rows)


def by_heading(commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return commands by the heading they are listed under, in the order of `HelpHeading`.

    Those without one come under `Commands`, by their names.
    """
    found: dict[str, dict[str, Any]] = {heading: {} for heading in (*HelpHeading, "Commands")}
    for name, command in commands.items():
        found[command.rich_help_panel or "Commands"][name] = command
    found["Commands"] = dict(sorted(found["Commands"].items()))
    return {str(heading): own for heading, own in found.items() if own}


class FormulaCommand(TyperCommand):
    """A command whose arguments are formulas: `-h` alone asks for help, and `-h + y` is a formula."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments with `-h` as `--help`; behind `--` everything is a formula."""
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, ["--help" if word == "-h" else word for word in args[:end]] + args[end:])

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` with a word on `-h`, which is none for the parser."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this message and exit; so does -h alone."
        return option


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

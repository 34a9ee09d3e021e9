"""How commands are parsed, run and shown: `-h` everywhere, by what one wants to do, descriptions in full."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from typer.core import TyperCommand, TyperGroup

from prism.cli.talk import errors_told

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
        with errors_told():
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, under their headings if they have one; Typer's own cuts what does not fit on one line."""
        listed = {name: self.commands[name] for name in self.list_commands(ctx)}
        for heading, commands in by_heading(listed).items():
            rows = [(name, " ".join((command.help or "").split())) for name, command in commands.items()]
            with formatter.section(heading):
                formatter.write_dl(rows)


def by_heading(commands: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return commands by the heading they are listed under, in the order of `HelpHeading`; `Commands` without one."""
    found: dict[str, dict[str, Any]] = {heading: {} for heading in (*HelpHeading, "Commands")}
    for name, command in commands.items():
        found[command.rich_help_panel or "Commands"][name] = command
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

"""How commands are parsed and shown by `--help`: `-h` everywhere, descriptions in full."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

HELP_NAMES = ["-h", "--help"]


class CommandGroup(TyperGroup):
    """A group that lists its commands with their whole first sentence, over several lines where it takes them."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands; Typer's own cuts what does not fit on one line."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, " ".join((command.help or "").split())) for name, command in commands if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


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

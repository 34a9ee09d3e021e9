"""What a child process runs that is killed: the command, with all that it needs imported before it is forked."""

from __future__ import annotations

import contextlib
import io
import signal

import jsonschema  # noqa: F401 - imported once, before the fork
import openai  # noqa: F401 - the same

import prism
import prism.judging.endpoint
import prism.judging.items
import prism.judging.running
from prism.cli import app

prism.load_problem("free_fall")  # reads the tables that every problem needs


def run(arguments: list[str], code_file: str) -> None:
    """Run `prism ARGUMENTS`, and write the exit code and what was printed to a file."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has its background jobs ignore it
    told = io.StringIO()
    code: object = 0
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            app(arguments, prog_name="prism")
        except SystemExit as stop:
            code = stop.code
    with open(code_file, "w", encoding="utf-8") as file:  # noqa: PTH123 - one line
        file.write(f"{code or 0}\n{told.getvalue()}")

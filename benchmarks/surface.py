"""What others build on, one line each: commands, arguments, options, formats, exit codes, tables, extras, public names.

A change that takes a line away breaks someone, and the changelog has to say whom. Two states of the tree are held
against each other by the output in each:

    python benchmarks/surface.py > after.txt
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import prism
from prism.cli import app
from prism.cli import talk as contract
from prism.reports import formats

ROOT = Path(__file__).resolve().parents[1]


def commands(command: Any, name: str) -> Iterator[str]:
    """Yield each command below one with its arguments and options, and the defaults that are plain values."""
    yield f"command {name}"
    for one in command.params:
        told = "/".join(sorted((*one.opts, *one.secondary_opts)))
        kind = "argument" if one.param_type_name == "argument" else "option"
        plain = one.default if isinstance(one.default, str | int | float | bool | None) else ""
        yield f"{kind} {name} {told} {one.type.name} {plain}".rstrip()
    for sub, other in sorted(getattr(command, "commands", {}).items()):
        yield from commands(other, f"{name} {sub}")


def surface() -> Iterator[str]:
    """Yield all lines."""
    yield from commands(typer.main.get_command(app), "prism")
    codes = {name: value for name, value in vars(contract).items() if name.isupper() and isinstance(value, int)}
    yield from (f"exit code {value} {name}" for name, value in codes.items())
    yield from (f"format {form}" for form in formats.Format)
    yield from (f"ending {ending} {form}" for ending, form in formats.ENDINGS.items())
    yield from (f"public prism.{name}" for name in prism.__all__)
    sources = "".join(path.read_text("utf-8") for path in sorted((ROOT / "prism" / "reports").rglob("*.py")))
    yield from (f"table {name}" for name in set(re.findall(r'DataTable\(\s*f?"([^"]+)"', sources)))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    yield from (f"extra {name}" for name in project["optional-dependencies"])


if __name__ == "__main__":
    print("\n".join(sorted(set(surface()))))

"""The command line: commands by what they work on, arguments and files (`options`), printing (`output`)."""

from __future__ import annotations

from prism.cli import classes, desk, formulas, judge, problems, protocols, runs, scores, templates  # noqa: F401 - each adds its commands
from prism.cli.application import app, main
from prism.cli.protocols import compare, engibench, engjudge, engtrace, responses  # noqa: F401 - as these do

__all__ = ["app", "main"]

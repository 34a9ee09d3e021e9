"""The command line: commands by what they work on, arguments and files (`options`), printing (`output`)."""

from __future__ import annotations

from prism.cli import (  # noqa: F401 - each adds its commands
    classes,
    desk,
    formulas,
    judge,
    problems,
    protocol_compare,
    protocol_engibench,
    protocol_engjudge,
    protocol_engtrace,
    protocol_responses,
    protocols,
    runs,
    scores,
    templates,
)
from prism.cli.application import app, main

__all__ = ["app", "main"]

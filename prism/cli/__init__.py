"""The command line: one function a command (`commands`), arguments and files (`options`), printing (`output`)."""

from __future__ import annotations

from prism.cli.commands import app, main

__all__ = ["app", "main"]

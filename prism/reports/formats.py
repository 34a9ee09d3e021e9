"""The forms in which tables are written; apart from `table_formats`, as the command line shows them in its help."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """A form in which tables are written."""

    TEXT = "text"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


ENDINGS = {".csv": Format.CSV, ".md": Format.MARKDOWN, ".tex": Format.LATEX}
"""Endings of files of tables, with their formats."""

"""Words by which texts of problems and answers are read: patterns and sets of words from `phrases.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from prism.inputs import parse_toml


@cache
def _tables() -> Mapping[str, Any]:
    """Return the tables of the file."""
    return parse_toml(Path(__file__).with_name("phrases.toml").read_text("utf-8"))


def phrase_patterns(name: str) -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of a table by their names; one in pieces is joined."""
    return {key: re.compile("".join(pieces)) for key, pieces in _tables()[name]["patterns"].items()}


def phrase_words(name: str) -> Mapping[str, frozenset[str]]:
    """Return the sets of words of a table by their names."""
    return {key: frozenset(listed.split()) for key, listed in _tables()[name]["words"].items()}

"""The words of the desk in its languages: labels from `words.toml`, and the reasons of drafts in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from prism.inputs import parse_toml

LANGUAGES = ("en", "de")
_FILE = Path(__file__).with_name("words.toml")


@cache
def words_of(language: str) -> Mapping[str, Any]:
    """Return the labels of a language by name; `why` maps reasons as files have them to those of the language."""
    found: Mapping[str, Any] = parse_toml(_FILE.read_text(encoding="utf-8"))[language]
    return found


def chosen_language(chosen: str, accepted: str) -> str:
    """Return the language that a person chose, else the first of those that a browser asks for that there is.

    Args:
        chosen: as a cookie says it; may be anything.
        accepted: the header Accept-Language.

    >>> chosen_language("", "fr, de-AT;q=0.8, en;q=0.5"), chosen_language("en", "de"), chosen_language("x", "")
    ('de', 'en', 'en')
    """
    if chosen in LANGUAGES:
        return chosen
    asked = (each.partition(";")[0].strip()[:2].lower() for each in accepted.split(","))
    return next((each for each in asked if each in LANGUAGES), LANGUAGES[0])

"""The languages of the pages for a class: English as it stands in the code, and others from tables of its sentences.

A table in `vocabulary/pages/` has each English sentence with its translation, and each noun that is counted with its
plural. A sentence without one is an error, so no page is half in another language. What others have written, such as a
marker's word, the name of a problem or of a file, stays as it is.

**Refused**: gettext, whose catalogues need a compiler and whose missing sentences stay English in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from prism.errors import count_of
from prism.inputs import parse_toml
from prism.reports.feedback.marking import points_text
from prism.resources import resource

LANGUAGES = {"en": "", "de": "german"}
"""Languages of pages by their code, with the name of their table; English needs none."""

_DECIMAL_POINT = re.compile(r"(?<=\d)\.(?=\d)")


@dataclass(frozen=True, slots=True)
class Wording:
    """A language of pages.

    Attributes:
        code: of the language, as HTML names it.
        comma: what stands before the decimals of a number.
        separator: between the cells of a table for spreadsheets, which depends on the comma.
        sentences, nouns: translations by what stands in the code; empty for English.
    """

    code: str = "en"
    comma: str = "."
    separator: str = ","
    sentences: Mapping[str, str] = field(default_factory=dict)
    nouns: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def say(self, sentence: str, **values: object) -> str:
        """Return an English sentence in this language, with values in place of the names in its braces."""
        return (self.sentences[sentence] if self.sentences else sentence).format(**values)

    def count(self, n: int, noun: str) -> str:
        """Return a count with its noun, which is named in the English singular."""
        return count_of(n, noun) if not self.nouns else f"{n} {self.nouns[noun][n != 1]}"

    def points(self, hundredths: int) -> str:
        """Return hundredths of a point as points: `6.5` or `6,5`."""
        return points_text(hundredths).replace(".", self.comma)

    def numbers(self, latex: str) -> str:
        """Return LaTeX with the comma of this language in its decimal numbers."""
        return latex if self.comma == "." else _DECIMAL_POINT.sub(f"{{{self.comma}}}", latex)


ENGLISH = Wording()


@cache
def wording_of(code: str) -> Wording:
    """Return the language of a code of `LANGUAGES`; read once."""
    if not LANGUAGES[code]:
        return ENGLISH
    path = resource("vocabulary") / "pages" / f"{LANGUAGES[code]}.toml"
    table = parse_toml(path.read_text(encoding="utf-8"))
    nouns = {name: (one, many) for name, (one, many) in table["nouns"].items()}
    return Wording(code, table["comma"], table["separator"], table["sentences"], nouns)

r"""Names of a problem as people type them: `vfx` for `v_{fx}`, `hmax` for `h_{max}`, `pix` for pi times x.

A word of plain text is read so if it is made of names of the problem and of `pi`, the longest first. If it is a product
of letters that the problem has too (`v`, `f`, `x`), it could be meant either way, and is no formula.

Refused: LaTeX between delimiters, where letters side by side are a product.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from prism.latex.extraction.plain_tokens import GREEK_NAMES, OPEN_NAME, Mark, is_mathematical_name
from prism.latex.words import LONG_UNITS, UNITS, word_set

MAX_WORD = 16  # letters of a word that is taken apart
_INDEXED = re.compile(
    r"(?P<letter>[A-Za-z]|\\[A-Za-z]+)_(?:\{(?:\\text\{)?(?P<index>[A-Za-z0-9]+)\}{1,2}|(?P<one>[A-Za-z0-9]))"
)
_OF_UNITS = word_set("number super")  # kinds of marks before a unit
_JOINING = frozenset("=≈<>≤≥*·×/+^²³)-−")  # signs beside which a word of the language is a name
_OPENING = frozenset("=≈<>≤≥*·×/+(√")


@dataclass(frozen=True, slots=True)
class TypedNames:
    """What words of plain text are made of in a problem.

    Attributes:
        names: LaTeX of names with an index, and of Greek letters, by what is typed: `vfx`, `m2`, `theta`.
        letters: single Latin letters that the problem has.
    """

    names: dict[str, str]
    letters: frozenset[str]

    def latex_of(self, word: str) -> str:
        """Return the product of names that a word is: `OPEN_NAME` if it may be one of letters too, empty for none."""
        if not 1 < len(word) <= MAX_WORD or is_mathematical_name(word):
            return ""
        made: list[list[str] | None] = [None] * len(word) + [[]]  # of the rest of the word behind each letter
        for at in range(len(word) - 1, -1, -1):
            for end in range(len(word), at, -1):
                piece, rest = word[at:end], made[end]
                latex = self.names.get(piece) or (piece if piece in self.letters else "")
                if latex and rest is not None:
                    made[at] = [latex, *rest]
                    break
        parts = made[0]
        if parts is None or all(len(part) == 1 for part in parts):
            return ""
        return OPEN_NAME if all(letter in self.letters for letter in word) else " ".join(parts)


NO_NAMES = TypedNames({}, frozenset())


@lru_cache(maxsize=256)
def typed_names(symbols: frozenset[str]) -> TypedNames:
    r"""Return what is typed for the symbols of a problem.

    >>> typed_names(frozenset((r"v_{fx}", "m"))).latex_of("mvfx")
    'm v_{fx}'
    """
    names = {name: latex for name, latex in GREEK_NAMES.items() if latex in symbols} | {"pi": r"\pi"}
    for symbol in sorted(symbols):
        if named := _INDEXED.fullmatch(symbol):
            letter = named["letter"]
            for typed in [name for name, latex in GREEK_NAMES.items() if latex == letter] or [letter.lstrip("\\")]:
                names.setdefault(typed + (named["index"] or named["one"]), symbol)
    letters = frozenset(symbol for symbol in symbols if len(symbol) == 1 and symbol.isascii() and symbol.isalpha())
    return TypedNames(names, letters) if symbols else NO_NAMES


def with_names(marks: Sequence[Mark], typed: TypedNames) -> list[Mark]:
    """Return the marks of a line with words that are names as marks of kind `name`, with their LaTeX as text.

    A word of English is a name only beside a sign of mathematics.
    """
    if not typed.names:
        return list(marks)
    kept: list[Mark] = []
    at = 0
    while at < len(marks):
        end = _end_of_run(marks, at)
        name = _name_of(marks, at, end, typed) if end > at else None
        kept += [name] if name else marks[at : max(end, at + 1)]
        at = max(end, at + 1)
    return kept


def _end_of_run(marks: Sequence[Mark], at: int) -> int:
    """Return the index behind the letters and digits, `m2v2`, that touch each other from an index on."""
    end = at
    while (
        end < len(marks)
        and (marks[end].kind == "word" or (end > at and marks[end].text.isdigit()))
        and (end == at or not marks[end].is_apart)
        and not is_mathematical_name(marks[end].text)
    ):
        end += 1
    return end


def _name_of(marks: Sequence[Mark], at: int, end: int, typed: TypedNames) -> Mark | None:
    """Return the marks from an index to another as one mark of names; None if they are no names."""
    first, last = marks[at], marks[end - 1]
    before = marks[at - 1] if at else None
    after = marks[end] if end < len(marks) else None
    if (before is not None and not first.is_apart and before.text in ("_", "^")) or (
        after is not None and not after.is_apart and (after.text == "_" or after.kind == "number")
    ):
        return None
    is_joined = (after is not None and after.text in _JOINING) or (before is not None and before.text in _OPENING)
    if first.is_word and not is_joined:
        return None
    word = "".join(mark.text for mark in marks[at:end])
    if (
        (word in UNITS or word in LONG_UNITS)
        and before is not None
        and (before.kind in _OF_UNITS or before.text in "/·*")
    ):
        return None
    latex = typed.latex_of(word)
    return Mark("name", latex, first.start, last.end, first.is_apart) if latex else None

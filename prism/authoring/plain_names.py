r"""Names of quantities in a solution without LaTeX: `Tc`, `Vmax`, `cp`, which are no products of letters.

The grader reads `Tc` as `T_c` where the problem has a `T_c`. A draft has no problem yet, so the names are taken from
the text: words that stand before an equals sign, or beside a sign of arithmetic, and begin with a capital.

Refused: a word of which every letter is a quantity of the text too (`pV`, `mg`): it may be their product.
"""

from __future__ import annotations

import re

from prism.latex.extraction.plain_tokens import is_mathematical_name
from prism.latex.words import word_set
from prism.physics.units import find_unit_product

_IN_LATEX = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
_MARKUP = re.compile(r"\*\*|__|^\s*(?:[-*+]|\d+[.)])\s+", re.MULTILINE)
_CAPITAL = re.compile(
    r"(?<![A-Za-z\\_{.])(?:[A-Z](?:[a-z]{1,4}|[A-Z][a-z]{2,9})(?=\s*[-+*/^)=])|"
    r"(?<=[-+*/(=])\s*[A-Z][a-z]{1,4}(?![ \t]*[A-Za-z0-9]))"
    r"(?![\w({])"
)
_SMALL = re.compile(r"(?:^|(?<=[,;:])\s)\s*(?:[-*]\s+)?([a-z]{2,3})(?=\s*=)", re.MULTILINE)
_LONE = re.compile(r"(?<![A-Za-z0-9\\_{.'])([A-Za-z])(?![A-Za-z0-9_'])")
_NUMBERS_OF_FLOW = word_set("Re Nu Pr Gr Ra Bi Fo Ma We Sc Sh Pe Ec Kn")  # written so in LaTeX as well
_DIFFERENCE = re.compile("d[A-Z]")  # `dT`, which a reader takes for a difference
_NO_QUANTITIES = frozenset("aAI")  # words of a sentence
_MAX_TEXT = 100_000  # characters that are looked at, from the start


def plain_names(*texts: str) -> frozenset[str]:
    r"""Return the names with an index of some texts, as LaTeX: `T_c` for the word `Tc`.

    >>> sorted(plain_names("Th = 500 K and Tc = 300 K, so eta = 1 - Tc/Th")), sorted(plain_names("p V = n R T, pV = 2"))
    (['T_c', 'T_h'], [])
    """
    plain = "\n".join(_MARKUP.sub(" ", _IN_LATEX.sub(" ", text[:_MAX_TEXT])) for text in texts)
    lone = set(_LONE.findall(plain)) - _NO_QUANTITIES
    words = {found[0].strip() for found in _CAPITAL.finditer(plain)} | set(_SMALL.findall(plain))
    return frozenset(_indexed(word) for word in words if _is_name(word, lone))


def _is_name(word: str, lone: set[str]) -> bool:
    """Return True for a word that is the name of one quantity."""
    if is_mathematical_name(word) or word in _NUMBERS_OF_FLOW or find_unit_product(word) is not None:
        return False
    return not _DIFFERENCE.match(word) and not all(letter in lone for letter in word)


def _indexed(word: str) -> str:
    """Return a word as a letter with an index."""
    return f"{word[0]}_{word[1:]}" if len(word) == 2 else f"{word[0]}_{{{word[1:]}}}"

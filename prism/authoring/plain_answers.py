r"""Answers in plain text: what stands after `**Answer:**`, and its quantities: `The heat is 12,500 Btu/hr (3.7 kW)`.

A quantity is a number with as many words and signs behind it as the unit reader takes together. Text that is no
quantity stays what it is.

Names of quantities in a solution without LaTeX: `Tc`, `Vmax`, `cp`, which are no products of letters.

The grader reads `Tc` as `T_c` where the problem has a `T_c`. A draft has no problem yet, so the names are taken from
the text: words that stand before an equals sign, or beside a sign of arithmetic, and begin with a capital.

Refused: a word of which every letter is a quantity of the text too (`pV`, `mg`): it may be their product.
"""

from __future__ import annotations

import re

from prism.errors import LatexSyntaxError
from prism.latex import parse
from prism.latex.extraction.plain_tokens import is_mathematical_name
from prism.latex.number_text import NUMBER, read_number_text
from prism.latex.words import word_set
from prism.physics.units import MAX_UNIT_WORDS, find_unit_product

_TAG = re.compile(
    r"\*\*\s*(?:Final\s+)?Answers?\s*:?\s*\*\*\s*:?[ \t]*(?P<text>.*?)(?=\n\s*\n|\Z)", re.IGNORECASE | re.DOTALL
)
_NUMBER = re.compile(rf"(?<![\w.^_{{])(?P<number>{NUMBER})(?!\w*[A-Za-z]\d)")
_LIST_MARK = re.compile(r"^\s*\d{1,2}[.)]\s+(?=\S)", re.MULTILINE)


def tagged_span(text: str) -> tuple[int, int] | None:
    """Return where the text behind the last `**Answer:**` begins and ends; None if there is no such tag."""
    found = list(_TAG.finditer(text))
    return found[-1].span("text") if found else None


def tagged_answer(text: str) -> str | None:
    r"""Return what stands after the last `**Answer:**` of a text; None if there is no such tag.

    >>> tagged_answer("**Step 1:** v = 2\\n**Answer:** 2 m/s"), tagged_answer("v = 2 m/s")
    ('2 m/s', None)
    """
    span = tagged_span(text)
    return None if span is None else text[span[0] : span[1]].strip()


def without_tagged_answer(text: str) -> str:
    """Return a text up to its last `**Answer:**`; all of it if there is no such tag."""
    found = list(_TAG.finditer(text))
    return text[: found[-1].start()] if found else text


def numbers_of(text: str) -> list[str]:
    """Return the standalone numbers of a text, without marks of a list.

    >>> numbers_of("1. The heat is 12,500 Btu/hr (3.7 kW) in room B2")
    ['12,500', '3.7']
    """
    return [found["number"] for found in _NUMBER.finditer(_LIST_MARK.sub("", text))]


def first_number(text: str) -> str:
    """Return the first number of a text as a plain reader finds it, that of a list's `1.` too; empty if none."""
    found = _NUMBER.search(text)
    return found["number"] if found else ""


def first_quantity(text: str) -> str | None:
    r"""Return the first number of a text with its unit as LaTeX; None if it has no number, or is a formula.

    >>> first_quantity("The heat is 12,500 Btu/hr (3.7 kW)"), first_quantity("Re = 40000"), first_quantity("stable")
    ('12500\\unit{Btu/hr}', '40000', None)
    """
    return next(iter(quantities_of(text)), None)


def quantities_of(text: str) -> list[str]:
    r"""Return the numbers of a text, each with its unit, as LaTeX, in order.

    >>> quantities_of("6 m/s and 9.0 m")
    ['6\\unit{m/s}', '9.0\\unit{m}']
    """
    bare = _LIST_MARK.sub("", text).replace("**", "").replace("$", "")
    _, *pieces = _NUMBER.split(bare)
    return [_quantity(number, behind) for number, behind in zip(pieces[::2], pieces[1::2], strict=True)]


def _quantity(number: str, behind: str) -> str:
    """Return a number with the unit that the text behind it begins with as LaTeX."""
    read, unit = read_number_text(number), _unit_behind(behind)
    assert read is not None
    return f"{read.latex}\\unit{{{unit}}}" if unit else read.latex


def _unit_behind(text: str) -> str:
    r"""Return the longest run of words at the start of a text that the unit reader takes; empty if none."""
    line = re.sub(r"\\(?:text|mathrm|unit)\s*\{([^{}]*)\}", r"\1", text.split("\n", maxsplit=1)[0])
    line = re.sub(r"\\[,;: ]|~", " ", line)
    words = line.replace("^{", "^").strip()
    pieces = re.match(r"[^,;=]*", words)
    tokens = pieces[0].split() if pieces else []
    for count in range(min(len(tokens), MAX_UNIT_WORDS), 0, -1):
        unit = _SPELLED_OUT.sub("", " ".join(tokens[:count]).rstrip(".;:"))
        if unit.count("(") < unit.count(")"):
            unit = unit.rstrip(")")
        if find_unit_product(unit) is None or unit in _WORDS_NOT_UNITS:
            continue
        try:
            parse(rf"1\unit{{{unit}}}")
        except LatexSyntaxError:
            continue
        return unit
    return ""


_SPELLED_OUT = re.compile(r"(?<=[A-Za-z]) \([A-Za-z]+\)$")  # `Stokes (St)` is one unit, said twice
_WORDS_NOT_UNITS = frozenset(("in", "at", "a", "as", "h and", "d"))  # words of a sentence that are units as well


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

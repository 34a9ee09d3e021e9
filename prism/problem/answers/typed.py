r"""Answers as people type them: a number with its unit, or with the noun that it counts.

A gold answer and what a solution presents as its answer are read alike here, before anything is parsed: `5 m/s`,
`\text{8 minutes}`, `17 apples`, `50 mW = 0.05 W`.
"""

from __future__ import annotations

import re
from decimal import Decimal

from prism.latex.number_text import read_number_text
from prism.latex.prose import is_remark, words
from prism.latex.words import CONNECTIVES, UNITS
from prism.physics.units import find_unit_product

_WRAPPED = re.compile(
    r"\s*\\(?:text|textbf|textrm|mathrm|mbox)\s*\{(?P<inner>[^{}$\\]*\d[^{}$\\]*[A-Za-z][^{}$\\]*)\}\s*\.?\s*"
)
_LETTERED = re.compile(r"\A(?:\([A-Ha-h]\)|[A-Ha-h]\))(?:\s|~|\\[,;: ])*(?=[-+−]?\.?\d|[A-Z]\s*\Z)")
_UNIT_APART = re.compile(  # `0.54 $\mathrm{m}$`, `5 \text{ metres per second}`
    r"\s*(?P<number>[-+−]?[\d.,]+)\s*(?:\$(?P<unit>(?:\\\$|[^$])+)\$|\\text\{\s*(?P<words>[a-z]{2,} [a-z][a-z ]*)\})\s*"
)
_POWER_APART = re.compile(r"(?<=\d)\s+(?=10\s*\^)")  # `46.7 10^6 kg`
_LAST_OF_LIST = re.compile(  # `19, 46, and 82`
    r"(?:,\s*(?:and\b|\\text\{\s*and\s*\})|\\text\{\s*,\s*and\s*\})\s*(?=[-\d])"
)
_TYPED_UNIT = re.compile(r"\s+(?:1/)?[A-Za-zµμΩ°][^\\$=]*")  # behind a blank
_LEVEL = re.compile(  # no unit of the table (semantics U.7)
    r"([-+−]?\d+(?:\.\d+)?)(?:\s|~|\\[,;: ])*(?:\\(?:text|mathrm)\s*\{\s*)?(?:dB|decibels?)\s*\}?"
)
_PRODUCT = re.compile(r"(\d+(?:\.\d+)?)\s+([A-Za-z][^\\$=*×\d]*)[*×]\s*(\d+(?:\.\d+)?)\s+([A-Za-z][^\\$=*×]*)")
_NEXT_PART = re.compile(r"(?<=[A-Za-z.])\s+(?:and\s+)?(?=\d+(?:\.\d+)?\s+[A-Za-z])")  # of `2 h 30 min`
_GAP = r"(?:\s|~|\\[,;: ])"
_LAST_WORDS = re.compile(  # behind a comma, or in brackets
    rf"(?:(?<!\\),|(?={_GAP}*\\text\{{\s*\()){_GAP}*\\text\{{\s*\(?(?P<words>[a-z]{{3,}}[a-z ]*)\)?\s*\}}\s*$"
)
_SAYS = re.compile(  # `\text{The ratio is } \frac12`
    rf"\A\\text\{{\s*(?P<words>(?:[Ii]t|[Tt]his|[Tt]he(?: [a-z]{{2,}}){{1,4}}) (?:is|equals)):?\s*\}}{_GAP}*(?=\S)"
)
_COUNT = re.compile(
    rf"(?P<number>[-+]?[\d.,]*\d){_GAP}*(?:\\(?:text|mathrm|textrm|rm)\s*\{{\s*)?(?<=[\s{{~,;:])"
    r"(?P<words>[A-Za-z]+(?:[\s~]+[A-Za-z]+)*)\s*\}?\.?"
)
_COUNTED = re.compile(r"\b(?:how many|number of)\s+(?P<words>[A-Za-z]+(?: [A-Za-z]+){0,3})", re.IGNORECASE)
_EQUALS = re.compile(r"\s*(?:=|\\approx(?![A-Za-z])|≈)\s*")
_NOUN = re.compile("[a-z]*[aeiouy][a-z]*")
_SHORTEST_NOUN = {True: 3, False: 4}  # letters, in text mode and outside; fewer are a product, or an unknown unit


def plain_answer(text: str) -> str:
    r"""Return an answer without the text command around a number with its unit, and without an option's letter.

    >>> plain_answer(r"\text{8 minutes}"), plain_answer("(b) 1 MeV"), plain_answer("(a) + b")
    ('8 minutes', '1 MeV', '(a) + b')
    >>> plain_answer(r"0.54 $\mathrm{m}$"), plain_answer("46.7 $10^6$")
    ('0.54 \\mathrm{m}', '46.7 \\times 10^6')
    """
    split = _UNIT_APART.fullmatch(text)
    if split is not None and (split["unit"] or find_unit_product(split["words"]) is not None):
        text = f"{split['number']} {split['unit'] or split['words']}"
    text = _POWER_APART.sub(r" \\times ", text)
    remark = _LAST_WORDS.search(text)  # behind a comma or in brackets, `4\,\text{m}, \text{ violet}`
    text = text[: remark.start()] if remark and is_remark(remark["words"].split()) else text
    said = _SAYS.match(text)
    text = text[said.end() :] if said and is_remark(said["words"].lower().split()) else text
    text = _LAST_OF_LIST.sub(", ", text)
    wrapped = _WRAPPED.fullmatch(text)
    return _LETTERED.sub("", wrapped["inner"].strip() if wrapped else text.strip())


def typed_quantity(text: str) -> str | None:
    r"""Return a number and the unit behind it, as they are typed, with the unit marked; None for anything else.

    A product of two is worked out, `9 km * 3 km`; decibels have one spelling.

    >>> typed_quantity("55 miles per hour"), typed_quantity("2 h 30 min"), typed_quantity("v = 3 m/s")
    ('55\\unit{miles per hour}', '2\\unit{h}30\\unit{min}', None)
    >>> typed_quantity("9 km * 3 km")
    '27\\unit{(km)*(km)}'
    """
    if level := _LEVEL.fullmatch(text):
        return rf"{level[1].replace('−', '-')}\unit{{dB}}"
    factors = _PRODUCT.fullmatch(text)
    if factors is not None and find_unit_product(factors[2]) and find_unit_product(factors[4]):
        return rf"{Decimal(factors[1]) * Decimal(factors[3])}\unit{{({factors[2].strip()})*({factors[4].strip()})}}"
    parts = []
    for part in _NEXT_PART.split(text):
        found = read_number_text(part)
        unit = part[found.end :] if found else ""
        if found is None or not _TYPED_UNIT.fullmatch(unit) or find_unit_product(unit.strip()) is None:
            return None
        parts.append(rf"{found.latex}\unit{{{unit.strip()}}}")
    return "".join(parts)


def typed_value(text: str, question: str) -> str | None:
    r"""Return an answer that is a number with words behind it, or several that are equal, as LaTeX; None for any other.

    >>> typed_value(r"17\text{ apples}", ""), typed_value("50 mW = 0.05 W", ""), typed_value("a = 3", "")
    ('17\\unit{count}', '50\\unit{mW}=0.05\\unit{W}', None)
    """
    forms = [typed_quantity(form.strip()) for form in _EQUALS.split(text)]
    is_chain = len(forms) > 1 and None not in forms
    return "=".join(map(str, forms)) if is_chain else counted_number(text, question) if None in forms else None


def counted_number(text: str, question: str) -> str | None:
    r"""Return the number of a text that says how many there are of something, as a count; None for any other.

    What a question counts has to be what the text names, and what no question counts may be anything.

    >>> [counted_number(text, "How many balls are red?") for text in (r"23\text{ balls}", "23 boys", "2 dozen balls")]
    ['23\\unit{count}', None, None]
    >>> counted_number("17 apples", ""), counted_number("17 metres", ""), counted_number("17 thousand", "")
    ('17\\unit{count}', None, None)
    """
    found = _COUNT.fullmatch(text.strip())
    nouns = found["words"].lower().split() if found else []
    if not found or not is_remark(nouns):
        return None
    counted = {word for match in _COUNTED.finditer(question) for word in words(match["words"])}
    is_counted = counted.issuperset(nouns) if counted else _is_noun(found["words"], is_text="{" in text)
    return rf"{found['number']}\unit{{count}}" if is_counted else None


def _is_noun(named: str, *, is_text: bool) -> bool:
    """Return True for words of which the first is no unit, and no product of letters."""
    first = named.split(maxsplit=1)[0]
    longest = max(map(len, named.split()))
    if longest < _SHORTEST_NOUN[is_text] or not _NOUN.fullmatch(first) or find_unit_product(named) is not None:
        return False
    return find_unit_product(first) is None and first not in CONNECTIVES and UNITS.isdisjoint(named.split())

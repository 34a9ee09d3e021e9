r"""What the recorded answers of EngiBench are, as far as rules can compare with them, and values with letters behind.

A key is a number, with or without a unit, or a formula. Numbers have what people write around them: "about", a
currency, a unit that no table has (`45 veh/h`): the number is kept, and the letters behind it for themselves. Words,
choices, ranges and lists that are not read are neither: what is a key in words is not guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from prism.algebra.expr import symbols_of
from prism.equivalence.facts import numeric_of
from prism.errors import PrismError
from prism.grading.prepared import prepare
from prism.latex.words import CONNECTIVES, word_set
from prism.physics.units import find_unit_product
from prism.problem.answers import ANSWER, QUESTION

MAX_KEY = 2_000  # characters of a key: a longer one is no number, and no formula that one asks for
KEPT = 1024  # keys that a process keeps as they were read
MAX_VALUES = 8  # of a list
MAX_UNIT_WORDS = 5  # "cubic meters per second per metre"

NUMBER = (
    r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?"
    r"(?:[eE][-+−]?\d{1,3}\b|\s?(?:\\times|\\cdot|[×x*·])\s?10\s?\^\s?(?:\{[-+−]?\d{1,3}\}|[-+−]?\d{1,3}))?"
)
"""Pattern of a number in text or LaTeX."""


class KeyKind(StrEnum):
    """What a key is, as far as rules can compare with it."""

    NUMBER = "number"
    FORMULA = "formula"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is compared.

    Attributes:
        text: of the key, without words and signs that say "about", and without a unit that no table has.
        unknown_unit: that unit.
        has_unit: it is a number with a unit, known or not.
        has_several: it is a list, all of which has to be given.
        values: of a list of numbers with letters behind them, `2 A, 3 A`, each as LaTeX; empty for any other key.
    """

    text: str
    kind: KeyKind
    unknown_unit: str = ""
    has_unit: bool = False
    has_several: bool = False
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    r"""A number with letters behind it.

    Attributes:
        latex: the number with its unit, `3.1\unit{kW}`; without one that no table has.
        unknown_unit: that one.
    """

    latex: str
    unknown_unit: str = ""


_ABOUT = re.compile(
    r"(?:(?:approximately|approx\.?|about|roughly|around|nearly|circa|ca\.|≈|≃|~|\\approx|=)\s*)+", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s*(?:(?<!\\);|(?<!\\),(?!\d{3}\b)(?=[\s\\])|\band\b|\\text\s*\{\s*and\s*\})\s*(?!\s)")
_CURRENCY = re.compile(r"(?:\\?\$|€|£|¥|(?:USD|EUR|GBP)\b)\s?(?=[-+−]?\d[\d,.]*$)")
_LETTER = re.compile(r"\(?[A-Za-z]\)?\.?")
_PLAIN_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
_NAMES = word_set(
    "sqrt alpha beta gamma delta epsilon theta lambda sigma omega sinh cosh tanh asin acos atan arcsin arccos arctan"
)
_OPERATORS = re.compile(r"[=\\^_/*+()]")
_WRAPPED = re.compile(r"\\(?:text|mathrm|textrm|mathit|unit|rm|operatorname)\s*\{([^{}]{0,80})\}")
_SPACES = re.compile(r"\\[,;:! ]|~|\{\}|\s+")
_FIRST_NUMBER = re.compile(rf"^\s*(?P<number>{NUMBER})(?P<behind>.*)$", re.DOTALL)
_UNKNOWN_UNIT = re.compile(r"[A-Za-z]{2,20}(?:[/·][A-Za-z]{1,20}(?:\^?[23])?){0,3}")
_LAST_EQUALS = re.compile(r".*(?:=|≈|\\approx|\\simeq)", re.DOTALL)


@lru_cache(maxsize=KEPT)
def read_key(key: str) -> Key:
    r"""Read a key: what it is, and its text as it is compared.

    >>> [str(read_key(text).kind) for text in ("3.1", "about 3.1 kW", "45 veh/h", "$1,250", r"\frac{1}{2} m v^2")]
    ['number', 'number', 'number', 'number', 'formula']
    >>> {str(read_key(text).kind) for text in ("stable", "B", "Option A", "12-15", "2 m, then 3 s", "")}
    {'other'}
    >>> read_key("2 A, 3 A").values
    ('2\\unit{A}', '3\\unit{A}')
    """
    text = _CURRENCY.sub("", _without_about(key.strip()))
    if not text or len(key) > MAX_KEY or _LETTER.fullmatch(text):
        return Key(text, KeyKind.OTHER)
    if (value := read_value(text.rstrip("."), whole=True)) is not None and value.unknown_unit:
        return Key(value.latex, KeyKind.NUMBER, value.unknown_unit, has_unit=True)
    if values := read_values(text):
        return Key(", ".join(values), KeyKind.NUMBER, has_unit=True, has_several=True, values=values)
    try:
        nodes = prepare({ANSWER: text, QUESTION: ""}).problem.nodes
    except PrismError:
        return Key(text, KeyKind.OTHER)
    numbers = [found.number for node in nodes if (found := numeric_of(node.formula)) is not None]
    if len(numbers) == len(nodes):
        has_unit = any(number.unit is not None for number in numbers)
        return Key(text, KeyKind.NUMBER, has_unit=has_unit, has_several=len(nodes) > 1)
    has_symbols = all(symbols_of(node.formula) for node in nodes)
    is_formula = has_symbols and _OPERATORS.search(text) and not set(_PLAIN_WORD.findall(text)) - _NAMES
    return Key(text, KeyKind.FORMULA if is_formula else KeyKind.OTHER)


def _without_about(text: str) -> str:
    """Return a text without the words and signs at its start that say "about"."""
    found = _ABOUT.match(text)
    return text[found.end() :] if found else text


def read_values(text: str) -> tuple[str, ...]:
    r"""Read a list of numbers, one of them with a unit; empty for anything else, and for a unit that no table has.

    >>> read_values("2 A and 3 A"), read_values(r"1.5\,\mathrm{m}, 4"), read_values("2, 3"), read_values("2 A, stable")
    (('2\\unit{A}', '3\\unit{A}'), ('1.5\\unit{m}', '4'), (), ())
    """
    pieces = _BETWEEN.split(text.strip())
    if not 1 < len(pieces) <= MAX_VALUES:
        return ()
    found = [read_value(piece, whole=True) for piece in pieces]
    values = [each.latex for each in found if each is not None and not each.unknown_unit]
    return tuple(values) if len(values) == len(pieces) and any("unit" in each for each in values) else ()


def read_value(text: str, *, whole: bool = False) -> Value | None:
    r"""Read a number and the letters behind it, of what a formula equals in the end or of prose; None if there is none.

    Args:
        text: begins with the number, but for what stands before its last sign of equality.
        whole: nothing may stand behind the unit.

    >>> read_value("Q = 0.5 m^3/s"), read_value(r"12\ \text{psig}"), read_value("3.1 kW of power", whole=True)
    (Value(latex='0.5\\unit{m^3/s}', unknown_unit=''), Value(latex='12', unknown_unit='psig'), None)
    """
    plain = _SPACES.sub(" ", _WRAPPED.sub(r"\1", _LAST_EQUALS.sub("", text[:MAX_KEY]).replace("{,}", ",")))
    found = _FIRST_NUMBER.match(_without_about(plain.strip()).replace(r"\cdot", "·"))
    if found is None:
        return None
    number, behind = found["number"].replace(",", ""), found["behind"].strip(" $.,;:!?*)\n")
    if not behind:
        return Value(number)
    tokens = behind.split(" ")
    for n in range(min(len(tokens), MAX_UNIT_WORDS), 0, -1):
        unit = " ".join(tokens[:n]).strip(".,;:")
        if find_unit_product(unit) is not None:
            written = rf"{number}\%" if unit in ("%", r"\%") else rf"{number}\unit{{{unit}}}"
            return Value(written) if n == len(tokens) or not whole else None
    named = tokens if whole else tokens[:1]
    is_name = len(named) <= MAX_UNIT_WORDS and all(map(str.isalpha, named)) and CONNECTIVES.isdisjoint(named)
    unit = " ".join(named).strip(".,;:")
    return Value(number, unit) if (is_name and len(unit) > 1) or _UNKNOWN_UNIT.fullmatch(unit) else None

r"""Whether an answer to an EngiBench question of Level 1 or 2 is right, by rule: within 2 % of the key.

A key is a number, with or without a unit, or a formula; what is neither is undecided. Which claim of
a response is its answer, and whether it is the key, is `prism.verify`'s to say, with a relative tolerance in place of
that of the figures. Two things are read besides, for responses of models that write units as letters or no formula:

- a number with letters behind it, `Q = 0.5 m^3/s` or `12 psig`, in what is presented as the answer;
- the one value of a last sentence, as in "so the pump needs 3.1 kW", where nothing is presented.

>>> decide("3.1 kW", "So the pump needs 3.16 kW.").is_right, decide("3.1 kW", "So the pump needs 3.17 kW.").is_right
(True, False)

Refused: taking the last number of a response, whatever it is: the year of a reference decides nothing. And a wrong for
an answer that is a formula where the key is a number: nobody has put its values in.

What the recorded answers of EngiBench are, as far as rules can compare with them, and values with letters behind.

A key is a number, with or without a unit, or a formula. Numbers have what people write around them: "about", a
currency, a unit that no table has (`45 veh/h`): the number is kept, and the letters behind it for themselves. Words,
choices, ranges and lists that are not read are neither: what is a key in words is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Formula, symbols, symbols_of
from prism.equivalence.facts import numeric_of
from prism.equivalence.numbers.stated import stated_number
from prism.equivalence.verdict import Status, Verdict
from prism.errors import LatexSyntaxError, PrismError
from prism.grading.prepared import prepare
from prism.grading.result import Grade, Incident
from prism.grading.verifying import verify_answer
from prism.latex import LocatedFormula, extract, one_line, parse
from prism.latex.number_text import NUMBER
from prism.latex.prose import HEDGES, SENTENCE_END, WRONG_WORDS, is_negation, words
from prism.latex.words import CONNECTIVES, word_set
from prism.physics.units import MAX_UNIT_WORDS, longest_unit
from prism.problem.answers import ANSWER, QUESTION
from prism.problem.answers.numbers import asked_unit
from prism.protocols.engibench.units import Units

MAX_KEY = 2_000  # characters of a key: a longer one is no number, and no formula that one asks for
KEPT = 1024  # keys that a process keeps as they were read
MAX_VALUES = 8  # of a list


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
    unit, n_words = longest_unit(tokens)
    if unit:
        written = rf"{number}\%" if unit in ("%", r"\%") else rf"{number}\unit{{{unit}}}"
        return Value(written) if n_words == len(tokens) or not whole else None
    named = tokens if whole else tokens[:1]
    is_name = len(named) <= MAX_UNIT_WORDS and all(map(str.isalpha, named)) and CONNECTIVES.isdisjoint(named)
    unit = " ".join(named).strip(".,;:")
    return Value(number, unit) if (is_name and len(unit) > 1) or _UNKNOWN_UNIT.fullmatch(unit) else None


WITHIN = Fraction(2, 100)  # relative tolerance, ends included
MAX_LAST_SENTENCE = 400  # characters
MAX_REASON = 400  # characters: a formula may be a page
FAILED = "internal"  # status of a decision on which the grader failed
_OF_ONE = ("expression", "equation", "chain")
_FORMULA = "§"  # stands for each character of a formula


@dataclass(frozen=True, slots=True)
class Decision:
    r"""Whether an answer is right.

    Attributes:
        is_right: None where rules cannot tell.
        reason: why: `same_number: 3.16\,\unit{kW}`.
        status: of the grade that it comes from: `internal` where the grader failed, `too_large` where some of the
            response was not read.
        incidents: failures of the grader.
    """

    is_right: bool | None
    reason: str
    status: str = "ok"
    incidents: tuple[Incident, ...] = ()


_ASKS_FOR_UNITS = re.compile(
    r"\b(?:what|which|si|proper|correct|appropriate|consistent|include|including|with|state|specify|give|show) "
    r"(?:(?:the|its|their|your|all|si|proper|correct|appropriate|consistent|derived|base) ){0,3}units\b"
    r"|\b(?:what|which) (?:(?:is|are) the )?(?:si )?units? (?:of|for|is|are|does|do|has|have)\b"
    r"|\bunits? of measure(?:ment)?\b|\bconvert\b",
    re.IGNORECASE,
)
_CONCLUDES = word_set(
    "so thus therefore hence consequently accordingly finally altogether overall total answer result equals"
)
_A_NUMBER = re.compile(rf"(?<![\w.,]){NUMBER}")


def is_about_units(question: str) -> bool:
    """Return True for a question that names the unit of its answer behind "in", or asks for units in words.

    >>> is_about_units("Find the power in kW."), is_about_units("Find the power, with proper units.")
    (True, True)
    >>> is_about_units("What does a pump of unit width need?")
    False
    """
    return asked_unit(question) is not None or _ASKS_FOR_UNITS.search(question) is not None


def decide(key: str, response: str, *, question: str = "", units: Units = Units.ASKED) -> Decision:
    """Decide whether a response gives the key.

    Args:
        key: the recorded answer.
        response: the full text of the answer.
        question: its text: tells whether units count, and which one a number without a unit is in.
        units: when the unit of a number counts.
    """
    wanted = read_key(key)
    if wanted.kind is KeyKind.OTHER:
        return Decision(None, "key: neither a number nor a formula" if key.strip() else "key: is empty")
    if not response.strip():
        return Decision(False, "no_answer: the response is empty")
    if wanted.kind is KeyKind.FORMULA:
        verified = verify_answer(wanted.text, response, question=question)
        return _as_decision(verified.verdict, verified.grade)
    names_unit = asked_unit(question) is not None
    counts = units is Units.ALWAYS or (units is Units.ASKED and is_about_units(question))
    if counts and wanted.unknown_unit and not names_unit:
        return Decision(None, f"unit: {wanted.unknown_unit} is not in the table of units")
    comparison = _Comparison(wanted, question, counts and (names_unit or wanted.has_unit), names_unit)
    return _decide_number(comparison, response.replace("\\$", ""))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A key that is a number, and how a value is compared with it.

    Attributes:
        counts: its unit counts. A key without a unit says nothing of it, unless the question names one.
        names_unit: the question names the unit, so that a number without one is in it.
    """

    key: Key
    question: str
    counts: bool
    names_unit: bool

    def of_text(self, text: str, place: str = "") -> Decision:
        """Decide on a text; `place` says how its value was found, where `prism.verify` alone does not find it."""
        verified = verify_answer(self.key.text, text, question=self.question, within=WITHIN, units=self.counts)
        verdict = verified.verdict
        found = _as_decision(verdict, verified.grade, place)
        lacks_unit = any(reading.startswith("unit: the number has none") for reading in verdict.readings)
        if self.counts and not self.names_unit and found.is_right and lacks_unit:
            return replace(found, is_right=False, reason=f"unit: is missing: {verdict.detail}")
        return found

    def of_value(self, value: Value, place: str) -> Decision:
        """Decide on a value that was read from letters or prose."""
        if self.counts and value.unknown_unit:
            return Decision(None, f"unit: {value.unknown_unit} is not in the table of units")
        return self.of_text(rf"\boxed{{{value.latex}}}", place)


def _as_decision(verdict: Verdict, grade: Grade, place: str = "") -> Decision:
    """Return a verdict as a decision, undecided where the grader failed."""
    if grade.score is None:
        return Decision(None, f"grader: {grade.status}", grade.status, grade.incidents)
    is_right = None if verdict.status == Status.UNDECIDED else verdict.status == Status.EQUIVALENT
    reason = ": ".join(part for part in (verdict.reason, place, one_line(verdict.detail)) if part)
    reason = reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 3]}..."
    return Decision(is_right, reason, grade.status, grade.incidents)


def _decide_number(comparison: _Comparison, text: str) -> Decision:
    """Decide on a number: by what is presented as the answer, else by formulas and the last sentence together."""
    by_formulas = comparison.of_text(text)
    if by_formulas.status == FAILED:
        return by_formulas
    located = extract(text)
    presented = [item for item in located if item.kind == "boxed" or item.is_announced]
    if comparison.key.has_several:  # of values that are not presented, which is which is not told by their order
        if (by_list := _by_list(comparison, presented)) is not None:
            return by_list
        return by_formulas if presented or by_formulas.is_right else Decision(None, f"several: {by_formulas.reason}")
    if not by_formulas.is_right:
        by_formulas = _by_letters(comparison, presented or located) or by_formulas
    closing = Closing() if presented else closing_value(text)
    if closing.value is None:
        is_open = closing.is_open and not by_formulas.is_right
        return Decision(None, "prose: the last sentence has numbers, none as a conclusion") if is_open else by_formulas
    by_prose = comparison.of_value(closing.value, "last sentence")
    if by_formulas.is_right and by_prose.is_right is False:
        return Decision(None, f"two_answers: {by_formulas.reason}; {by_prose.reason}")
    return by_prose


def _by_list(comparison: _Comparison, presented: Sequence[LocatedFormula]) -> Decision | None:
    """Decide on a list of numbers by the list that is presented, one after the other; None if it has not as many."""
    wanted = comparison.key.values
    found = read_values(presented[-1].latex) if wanted and presented else ()
    if len(found) != len(wanted) or not found:
        return None
    decisions = [
        replace(comparison, key=Key(value, KeyKind.NUMBER, has_unit=True)).of_text(rf"\boxed{{{claim}}}")
        for value, claim in zip(wanted, found, strict=True)
    ]
    worst = next((each for each in decisions if each.is_right is False), None)
    return worst or next((each for each in decisions if each.is_right is None), decisions[0])


def _by_letters(comparison: _Comparison, pool: Sequence[LocatedFormula]) -> Decision | None:
    """Decide by the last formula that is a number with letters behind it; undecided if the last one has symbols.

    None where the verdict on the formulas stands: the last number has none but a known unit, or there are no formulas.
    """
    for item in reversed(pool):
        if _states_number(item.latex):
            return None
        value = read_value(item.latex, whole=True)
        if value is not None and _equals_one(item.latex):
            return comparison.of_value(value, "letters as unit")
    return Decision(None, f"unstated: {pool[-1].latex}") if pool and _last_symbols(pool[-1].latex) else None


def _parsed(latex: str) -> Formula | None:
    """Return a formula; None for one that cannot be read."""
    try:
        return parse(latex)
    except LatexSyntaxError:
        return None


def _states_number(latex: str) -> bool:
    """Return True if what a formula equals in the end is a number, with or without a unit."""
    read = _parsed(latex)
    return read is not None and bool(read.members) and stated_number(read.members[-1]) is not None


def _equals_one(latex: str) -> bool:
    """Return True for an expression, or an equation or chain, which equal one thing in the end; not for a list."""
    read = _parsed(latex)
    return read is not None and read.kind in _OF_ONE


def _last_symbols(latex: str) -> bool:
    """Return True if what a formula equals in the end has symbols, or cannot be read."""
    read = _parsed(latex)
    return read is None or (read.kind in _OF_ONE and bool(symbols(read.members[-1])))


@dataclass(frozen=True, slots=True)
class Closing:
    """The value in which a text ends in prose; None, and open, if its last sentence has numbers that are not taken."""

    value: Value | None = None
    is_open: bool = False


def closing_value(text: str) -> Closing:
    r"""Return the one value that the last sentence of a text states in prose.

    The sentence has to conclude ("so", "therefore") unless its number is the only one of the text, and neither to deny
    nor to doubt. A formula in it may state no number.

    >>> closing_value("I take 20 degrees. So the pump needs 3.1 kW of power.").value
    Value(latex='3.1\\unit{kW}', unknown_unit='')
    >>> closing_value("It is at least 3, or 4."), closing_value("I do not know.")
    (Closing(value=None, is_open=True), Closing(value=None, is_open=False))
    """
    located = extract(text)
    shown = list(text)
    for item in located:
        shown[item.span[0] : item.span[1]] = _FORMULA * (item.span[1] - item.span[0])
    masked = "".join(shown).rstrip()
    start = max((mark.end() for mark in SENTENCE_END.finditer(masked) if mark.end() < len(masked)), default=0)
    sentence = masked[start:]
    numbers = list(_A_NUMBER.finditer(sentence[-MAX_LAST_SENTENCE:]))
    if not numbers:
        return Closing()
    is_other_stated = any(item.span[0] >= start and _states_number(item.latex) for item in located)
    if len(numbers) > 1 or len(sentence) > MAX_LAST_SENTENCE or is_other_stated:
        return Closing(is_open=True)
    said = set(words(sentence[: numbers[0].start()]))
    is_doubted = said & (HEDGES | WRONG_WORDS) or any(map(is_negation, said))
    is_alone = not located and len(_A_NUMBER.findall(masked)) == 1
    if is_doubted or not (is_alone or said & _CONCLUDES):
        return Closing(is_open=True)
    value = read_value(sentence[numbers[0].start() :])
    return Closing(value, is_open=value is None)

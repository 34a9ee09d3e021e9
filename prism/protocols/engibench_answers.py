r"""Whether an answer to an EngiBench question of Level 1 or 2 is right, by rule: within 2 % of the key.

A key is a number, with or without a unit, or a formula (`engibench_keys`); what is neither is undecided. Which claim of
a response is its answer, and whether it is the key, is `prism.verify`'s to say, with a relative tolerance in place of
that of the figures. Two things are read besides, for responses of models that write units as letters or no formula:

- a number with letters behind it, `Q = 0.5 m^3/s` or `12 psig`, in what is presented as the answer;
- the one value of a last sentence, as in "so the pump needs 3.1 kW", where nothing is presented.

>>> decide("3.1 kW", "So the pump needs 3.16 kW.").is_right, decide("3.1 kW", "So the pump needs 3.17 kW.").is_right
(True, False)

Refused: taking the last number of a response, whatever it is: the year of a reference decides nothing. And a wrong for
an answer that is a formula where the key is a number: nobody has put its values in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from prism.algebra.expr import Formula, symbols
from prism.equivalence.numbers.stated import stated_number
from prism.equivalence.verdict import Status, Verdict
from prism.errors import LatexSyntaxError
from prism.grading.result import Grade, Incident
from prism.grading.verifying import verify_answer
from prism.latex import LocatedFormula, extract, one_line, parse
from prism.latex.prose import HEDGES, SENTENCE_END, WRONG_WORDS, is_negation, words
from prism.latex.words import word_set
from prism.problem.expected_numbers import asked_unit
from prism.protocols.engibench_keys import NUMBER, Key, KeyKind, Value, read_key, read_value, read_values
from prism.protocols.engibench_units import Units

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

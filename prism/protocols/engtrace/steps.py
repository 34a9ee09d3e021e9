r"""A trace as EngTrace reads it: text to steps, and the one number that a step or a text states.

Both variants follow one rule: steps open at line starts `Step N` or `N.`; the value is the number behind `**Answer:**`,
else the last number behind `=`, else the last number that stands alone. What differs is what they take for a number.

- `released` reads as the published script does, its faults included: the first digits behind the answer tag count, be
  they those of `q1` or of a list; a comma ends a number, and so `1,234` is 1; a minus behind `=` and powers of ten in
  words are not seen; a line that begins with `0.5 m` opens a step; the number of a step `2.` may be its value.
- `paper` reads what is written: thousands commas, `\times 10^{4}`, a minus of any kind; a number in a name (`q1`) or
  beside an operator (`4*Q`) states no value; of several answer tags the last one counts, and of several numbers
  behind it the last one, first of those behind `=`. Thinking blocks are not read.

Refused: the value that PRISM itself would read, with its unit. The protocol compares bare numbers, and a trace in
other units is wrong by its rules; where a reference says otherwise, tier 2 tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from prism.latex.extraction.masking import thinking_spans

HEADINGS = ("Given", "Find", "Formulae", "Solution", "Final Answer")  # of the response format, in order
FLOOR = Fraction(1, 10**9)  # of a reference: up to it no relative error is taken
MAX_STEPS = 400  # of a trace; what stands behind is part of the last one
_MAX_EXPONENT = 400  # powers of ten beyond those of any float: reading one would take all memory
_MAX_DIGITS = 400  # of one number: more take the square of time to read
_SIGNS = str.maketrans("−–", "--")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


class Variant(StrEnum):
    """Whose rules count: those of the paper, or those of the script released with it."""

    PAPER = "paper"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a trace.

    Attributes:
        text: without its `Step N:`.
        span: offsets in the trace, with the `Step N:`.
        value: the number that it states, exactly as written; None if it states none.
    """

    text: str
    span: tuple[int, int]
    value: Fraction | None


@dataclass(frozen=True, slots=True)
class Trace:
    """A text with its steps.

    Attributes:
        answer: the final number; None if the text has none.
        notes: how it departs from the response format, one thing each.
    """

    text: str
    steps: tuple[TraceStep, ...]
    answer: Fraction | None
    notes: tuple[str, ...] = ()


def read_trace(text: str, variant: Variant) -> Trace:
    r"""Read a trace; a text in which no step opens is one step, an empty text has none.

    >>> trace = read_trace("**Step 1:** a = F/m = 2.5\n**Answer:** 2.5 m/s^2", Variant.PAPER)
    >>> trace.steps[0].text[:7], trace.answer
    ('a = F/m', Fraction(5, 2))
    """
    if variant is Variant.PAPER:
        text = _without_thinking(text)
    if not text.strip():
        return Trace(text, (), None, ("format: the text is empty",))
    opening, header = (_OPENS, _HEADER) if variant is Variant.PAPER else (_RELEASED_OPENS, _RELEASED_HEADER)
    opened = [match.start() for match in opening.finditer(text)]
    starts = opened[:MAX_STEPS] or [0]
    ends = [*starts[1:], len(text)]
    steps = []
    for start, end in zip(starts, ends, strict=True):
        body = header.sub("", text[start:end].strip()).strip()
        steps.append(TraceStep(body, (start, end), stated_value(body, variant)))
    return Trace(text, tuple(steps), stated_value(text, variant), tuple(_format_notes(text, opened, variant)))


def stated_value(text: str, variant: Variant) -> Fraction | None:
    """Return the number that a step or a whole text states, by the rules of the variant; None if it states none.

    >>> stated_value("Q = 1,250 W", Variant.PAPER), stated_value("Q = 1,250 W", Variant.RELEASED)
    (Fraction(1250, 1), Fraction(1, 1))
    """
    return _value_as_written(text) if variant is Variant.PAPER else _value_as_released(text)


def _without_thinking(text: str) -> str:
    """Return a text with its thinking blocks blanked out; offsets stay."""
    for start, end in thinking_spans(text):
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def numbers_agree(gold: Fraction, predicted: Fraction, tolerance: Fraction, *, is_strict: bool = False) -> bool:
    """Return True if a number is within a relative tolerance of the gold's; below `FLOOR` an absolute one counts.

    Args:
        is_strict: the tolerance itself is too far, as in the released script.

    >>> numbers_agree(Fraction(100), Fraction(102), Fraction(2, 100))
    True
    >>> numbers_agree(Fraction(0), Fraction(1, 10**12), Fraction(2, 100))
    True
    """
    distance = abs(gold - predicted)
    if abs(gold) <= FLOOR:
        return distance < FLOOR
    allowed = tolerance * abs(gold)
    return distance < allowed if is_strict else distance <= allowed


def _format_notes(text: str, opened: Sequence[int], variant: Variant) -> Iterator[str]:
    """Yield how a text departs from the response format.

    Args:
        opened: where steps begin.
    """
    found = {name: re.search(rf"(?im)^[ \t>*#_]*+{name}\b", text) for name in HEADINGS}
    if lacking := [name for name, place in found.items() if place is None]:
        yield f"format: no heading {', '.join(lacking)}"
    if not opened:
        yield "format: no line begins a step; the whole text is one"
    solution = found["Solution"]
    if solution and (early := sum(start < solution.start() for start in opened)):
        yield f"format: {early} of {len(opened)} steps are lines before the heading Solution"
    if len(opened) > MAX_STEPS:
        yield f"steps: {len(opened)}, of which the last {len(opened) - MAX_STEPS + 1} are read as one"
    if not _ANSWER_TAG.search(text):
        yield "answer: no line **Answer:**; the last number behind = counts, else the last one"
    elif variant is Variant.PAPER and (n := sum(each.stands_alone for each in _numbers(_answer_text(text)))) > 1:
        yield f"answer: {n} numbers behind **Answer:**; the last one counts, first of those behind ="


# As written. ----------------------------------------------------------------------------------------------------

_OPENS = re.compile(r"^[ \t>]*(?:\*{1,3}|_{1,3}|#{1,6})?[ \t]*(?:Step[ \t]*\d+(?!\w)|\d{1,3}\.(?!\d))", re.I | re.M)
_HEADER = re.compile(
    rf"{_OPENS.pattern}[ \t]*[*_]{{0,3}}[ \t]*[:.)–-]?[ \t]*(?:[*_]{{1,3}}(?=[ \t]*(?:\n|$|\w)))?", re.I
)
_ANSWER_TAG = re.compile(r"\*\*[ \t]*Answer[ \t]*(?::[ \t]*\*\*|\*\*[ \t]*:)", re.I)
_RAISED_TO = r"(?:(?:\^|\*\*)\s*(?:\{\s*([-+]?\d{1,4})\s*\}|([-+]?\d{1,4}))|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))(?![\w.])"
_POWER = rf"\s*(?:\\times|\\cdot|[×·⋅*x])\s*10\s*{_RAISED_TO}"
_DIGITS = r"\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_AS_WRITTEN = re.compile(
    rf"(?<![\w.,^\\])(?<![A-Za-z)\]}}]-)([-+]?)(?<![\w.,^\\])"
    rf"(?:10\s*{_RAISED_TO}|({_DIGITS})(?:[eE]([-+]?\d{{1,4}})(?!\w)|{_POWER})?)"
)
_EQUALS = re.compile(r"(?:=|≈|≃|\\approx|\\simeq)(?:\s|\$|\\[,;:! ]|\\boxed\{|\*\*|\\\(|\\\[)*$")
_OPERATOR_BEFORE = re.compile(
    r"(?:(?<=[^\n*])\*|[/^+×·÷⋅_]|(?<!\\boxed)(?<!\\text)(?<!\\mathrm)(?<!\\mathbf)\{|\\times|\\cdot|\\div"
    r"|(?<=[\w)}])[ \t]*-)[ \t]*$"
)
_OPERATOR_AFTER = re.compile(r"\(|\s*(?:\*(?!\*)|[/^+×·÷⋅]|\\times|\\cdot|\\div|\\left|\\frac|\\sqrt|-\s*[\w(\\])")
_GROUPING = re.compile(r"\{?,\}?|\\,")
_LOOKED_AT = 24  # characters before a number, in which what it stands behind is looked for


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a text: its value, and how it stands."""

    value: Fraction
    follows_equals: bool
    stands_alone: bool


def _value_as_written(text: str) -> Fraction | None:
    """Return the value of a text for the variant `paper`: the last number behind an equals sign, else the last of all.

    A marked answer is looked at first. None if no number stands alone.
    """
    for place in (_answer_text(text), text):
        alone = [each for each in _numbers(place) if each.stands_alone]
        for each in (*(one for one in reversed(alone) if one.follows_equals), *reversed(alone)):
            return each.value
    return None


def _answer_text(text: str) -> str:
    """Return what stands behind the last answer tag of a text; empty without one."""
    tags = list(_ANSWER_TAG.finditer(text))
    return text[tags[-1].end() :] if tags else ""


def _numbers(text: str) -> Iterator[_Number]:
    """Yield the numbers of a text, in order; those that are too long to be read are passed over."""
    text = text.translate(_SIGNS)
    for match in _AS_WRITTEN.finditer(text):
        sign, *ten, digits, plain, braced, bare, raised = match.groups()
        exponent = next((each for each in (*ten, plain, braced, bare, raised) if each), "0").translate(_RAISED)
        value = _fraction(sign + (_GROUPING.sub("", digits) if digits else "1"), exponent)
        if value is None:
            continue
        before, after = text[max(match.start() - _LOOKED_AT, 0) : match.start()], text[match.end() : match.end() + 10]
        stands_alone = not (_OPERATOR_BEFORE.search(before) or _OPERATOR_AFTER.match(after))
        yield _Number(value, _EQUALS.search(before) is not None, stands_alone)


def _fraction(digits: str, exponent: str = "0") -> Fraction | None:
    """Return a decimal number as a fraction; None if it is too long to be one of a trace."""
    if len(digits) > _MAX_DIGITS or len(exponent) > _MAX_DIGITS or abs(int(exponent)) > _MAX_EXPONENT:
        return None
    return Fraction(digits) * Fraction(10) ** int(exponent)


# As the released script reads. ----------------------------------------------------------------------------------

# Possessive marks change nothing that is found; without them blank lines would take the square of time.
_NUMERAL = r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?"
_STEP = r"(?:Step\s*+\d+|\d++\.)"
_RELEASED_OPENS = re.compile(rf"(?:\A\s*+|(?<=\S)[^\S\n]*+\n\s*+)(?:\*\*|#*+)\s*+{_STEP}", re.I)
_RELEASED_HEADER = re.compile(rf"^(?:\*\*|#*)\s*{_STEP}\s*:\s*", re.I)
_RELEASED_TAG = re.compile(r"\*\*Answer:\*\*", re.I)
_ANYWHERE = re.compile(_NUMERAL)
_BEHIND_EQUALS = re.compile(rf"=\s*\b({_NUMERAL})\b")
_STANDALONE = re.compile(rf"\b({_NUMERAL})\b")
_TOO_LONG = re.compile(rf"\d{{{_MAX_DIGITS},}}+")


def _value_as_released(text: str) -> Fraction | None:
    """Return the value of a text for the variant `released`; None if it has no number."""
    text = _TOO_LONG.sub(" ", " ".join(text.split()))
    tag = _RELEASED_TAG.search(text)
    tagged = _ANYWHERE.search(text, tag.end()) if tag else None
    found = [tagged[0]] if tagged else _BEHIND_EQUALS.findall(text) or _STANDALONE.findall(text)
    if not found:
        return None
    digits, _, exponent = found[-1].lower().partition("e")
    return _fraction(digits, exponent or "0")

r"""Formulas that a solution announces as its answer: "The answer is $3$", `**Answer:** 7.65 L`, `#### 42`.

An announcement names an answer or a result and goes on with a colon, an equals sign or "is"; so do a heading "Final
answer", `####` before nothing but a value, and `<answer>`. What it announces stands right behind it: a formula, or a
value without delimiters, which is read here, since a lone number is no formula anywhere else. A list behind it is
announced as a whole, so that nobody announces one value and hides others beside it (semantics C.6).

Refused: announcements that ask, suppose or deny ("if the answer is", "the answer is not"), that quote ("my friend says
the answer is") or speak of another answer ("the wrong answer is", "an intermediate result:").

Values in rows of one box: `\boxed{\begin{array}{l} 2\,\mathrm s \\ 3\,\mathrm m \end{array}}` lists two answers.

Only rows that begin with a number are taken for a list, without brackets around them, which make a vector. Letters of
the parts, `\text{(a) }`, have to stand before all rows, in order: a member's place says which answer it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from prism.latex.extraction.blocks import Block
from prism.latex.extraction.plain import plain_latex
from prism.latex.prose import (
    FORMULA,
    HEDGES,
    MAX_SENTENCE,
    WRONG_WORDS,
    is_negation,
    mask_formulas,
    sentence_end,
    sentence_start,
    words,
)
from prism.latex.words import CONNECTIVES, unit_after, unit_goes_on, word_set

_MOST_LISTED = 12  # formulas of one list that an announcement introduces
_LONGEST_VALUE = 200  # characters of a value without delimiters

_PART = r"(?:\(?(?:[a-h]|i{1,3}|iv|v|[1-9])\)|[a-h1-9]\b)"
_OF_PART = rf"(?: (?:to|for|of|in) (?:(?:the|this) )?(?:(?:part|problem|question|exercise)\b ?)?(?:{_PART})?)?"
_FILLER = (
    r"(?: (?:then|therefore|thus|hence|simply|just|indeed|now|clearly|again|given by|equal to|approximately|about"
    r"|roughly|exactly)){0,3}"
)
_LEAD = rf"(?:(?:the|its|their) (?:[a-z'-]{{1,20}} ){{1,8}}?(?:is|are|equals){_FILLER}:?\s{{1,3}})?"
_GAP = r"(?:[\s*_>}]|(?<=\n)[•+-](?=[ \t])){0,12}"  # with the bullet of a line, but with no sign of a number
_LABEL = r"(?:\((?:[a-h]|i{1,3}|iv|v|[1-9])\):?|[a-h][.)](?=\s))"
_LABELS = rf"(?:{_LABEL}[*_:]{{0,4}}\s{{0,3}})?"
_ANNOUNCEMENT = re.compile(
    r"(?:\b(?P<noun>answers?|results?)\b(?:"
    rf"{_OF_PART}(?: ?\([^()\n]{{1,20}}\))?[*_}}]{{0,3}} ?(?:(?P<colon>:)|[=≈]|(?:is|are)\b)[*_}}]{{0,3}}{_FILLER}:?"
    rf"|(?P<heading>(?:[*_}}]{{1,3}}[ \t]{{0,4}}|[ \t]{{0,4}})\n)))"
    rf"{_GAP}{_LABELS}(?(colon){_LEAD}){_GAP}"
    r"|(?P<hashes>^#{4}(?!#)[ \t]{0,4})",
    re.IGNORECASE | re.MULTILINE,
)
_MAY_ANNOUNCE = re.compile("answer|result|####", re.IGNORECASE)
_HEADING_BEFORE = re.compile(
    r"[ \t>]*(?:#{1,6} |\*\*|__|\\(?:sub)*section\*?\{|\\textbf\{)[ \t]*(?:final )?", re.IGNORECASE
)
_ANSWER_TAG = re.compile(r"<answer>", re.IGNORECASE)
_AFTER_TAG = re.compile(r"\s{0,40}")
_WORD_OF_LINE = re.compile("[a-z]{3}", re.IGNORECASE)
# In the same sentence, or in the same clause, these leave it open if this is the answer of the solution.
_SUPPOSED = (HEDGES - {"only"}) | word_set(
    "says said claims claimed thinks believes told according writes wrote suggests"
)
_OF_ANOTHER = WRONG_WORDS | word_set(
    "expected previous earlier initial intermediate tentative alternative naive tempting his her their your textbook"
    " book partial auxiliary standard known first other another"
)
_QUOTES = re.compile('["“”]')
_POSSESSIVE = re.compile(r"['’]s(?:\s\w+)?\s*$")
_NUMBER = re.compile(
    r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,30})?(?:\.\d{1,30}|(?<=\d))"
    r"(?:[eE][-+−]?\d{1,4}\b|[ ]?[×x*·][ ]?10(?:\^\(?[-+−]?\d{1,4}\)?|\^\{[-+−]?\d{1,4}\}|[⁻⁺]?[⁰¹²³⁴-⁹]{1,4}))?"
)
_DIGITS = {
    word: str(value)
    for value, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_DIGIT = rf"(?:{'|'.join(_DIGITS)})"
SPELLED = rf"(?i:{_DIGIT}(?: point(?: {_DIGIT}){{1,8}})?)(?=[ ~-])"  # a number in words, before its unit
_SPELLED = re.compile(SPELLED)
_OR = re.compile(r",? or (?:about |roughly )?")
_LIST_NUMBER = re.compile(r"\d{1,2}[.)][ \t*_]{1,8}[^\s*_]")
_END_OF_VALUE = re.compile(
    r"[ \t*_}]{0,40}(?:$|\n|\|(?=\s|$)|[)\]](?=[\s.,;]|$)|[.;](?=[\s*_]|$)|[。，；]|,(?=[ \t][A-Za-z])"
    r"|(?P<word>[ \t][A-Za-z]+))"
)
_PLAIN_VALUE = re.compile(rf"(?:[^\s$\\,;:.?!]|\.(?=\d)|(?<=\S)[ ](?=[^\s])){{1,{_LONGEST_VALUE}}}")
_BETWEEN_LISTED = re.compile(rf"(?:[\s,;*_+-]|\b(?:and|or)\b|{_LABEL})*")
_GOES_ON = CONNECTIVES - word_set("and or to by at on")


def answer_tags(text: str) -> list[int]:
    """Return the offsets behind each `<answer>` and the space after it, of a text whose tags are not blanked."""
    return [_AFTER_TAG.match(text, tag.end()).end() for tag in _ANSWER_TAG.finditer(text)]  # type: ignore[union-attr]


def find_announced_values(text: str, blocks: Sequence[Block], tags: Sequence[int]) -> Iterator[Block]:
    """Yield the values without delimiters that stand right behind an announcement, in no order.

    Args:
        text: the solution, with what is not read blanked.
        blocks: the formulas that are known by now.
        tags: of `answer_tags`.
    """
    shown = _masked(text, blocks, tags)
    for at in _announced_places(shown, tags):
        if not shown.startswith(FORMULA, at) and (block := value_at(shown, at)):
            yield block


def announced_blocks(text: str, blocks: Sequence[Block], tags: Sequence[int]) -> frozenset[int]:
    """Return the indices of the formulas (blocks) that an announcement introduces, with those listed behind them."""
    announced: set[int] = set()
    starts, shown = [block.outer_start for block in blocks], _masked(text, blocks, tags)
    for at in _announced_places(shown, tags):
        index = bisect_left(starts, at)
        if index >= len(starts) or starts[index] != at:
            continue
        for following in range(index, min(index + _MOST_LISTED, len(starts))):
            announced.add(following)
            end = blocks[following].outer_end
            behind = starts[following + 1] if following + 1 < len(starts) else end
            if not end < behind <= end + _LONGEST_VALUE or not _BETWEEN_LISTED.fullmatch(shown, end, behind):
                break
    return frozenset(announced)


def _masked(text: str, blocks: Sequence[Block], tags: Sequence[int]) -> str:
    """Mask the formulas of a text that may announce something; an empty text of any other."""
    if not tags and not _MAY_ANNOUNCE.search(text):
        return ""
    return mask_formulas(text, ((block.outer_start, block.outer_end) for block in blocks))


def _announced_places(shown: str, tags: Sequence[int]) -> Iterator[int]:
    """Yield the offset of the value that each announcement introduces."""
    yield from tags
    for mark in _ANNOUNCEMENT.finditer(shown):
        if mark["hashes"] is not None:
            end = shown.find("\n", mark.end())
            if not _WORD_OF_LINE.search(shown, mark.end(), end if end >= 0 else len(shown)):
                yield mark.end()
        elif _is_stated(shown, mark):
            yield mark.end()


def _is_stated(shown: str, mark: re.Match[str]) -> bool:
    """Return True if an announcement is this solution's own: no question, condition, denial or quotation."""
    line_start = _line_start(shown, mark.start())
    if mark["heading"] is not None:
        return _HEADING_BEFORE.fullmatch(shown, line_start, mark.start()) is not None
    begins_line = not shown[line_start : mark.start()].strip(" \t>*_#{") and not mark["noun"].islower()
    start = line_start if begins_line else sentence_start(shown, mark.start())
    before = shown[start : mark.start()]
    clause = words(re.split("[,;:—–]", before)[-1])
    if not _SUPPOSED.isdisjoint(words(before)) or any(word in _OF_ANOTHER or is_negation(word) for word in clause):
        return False
    if len(_QUOTES.findall(before)) % 2 or _POSSESSIVE.search(before):
        return False
    return not shown.startswith("?", sentence_end(shown, mark.end()))


def _line_start(shown: str, at: int) -> int:
    """Return the offset of the beginning of the line that contains an offset, or `MAX_SENTENCE` characters before."""
    low = max(0, at - MAX_SENTENCE)
    return max(low, shown.rfind("\n", low, at) + 1)


def value_at(shown: str, start: int) -> Block | None:
    """Return the value without delimiters at an offset, up to the end of its clause or line; None if it is not sure.

    Args:
        shown: a text, in which formulas may be masked.
        start: the offset.
    """
    if _LIST_NUMBER.match(shown, start) and not shown[_line_start(shown, start) : start].strip(" \t>*_"):
        return None
    latex, end = _number_at(shown, start)
    if latex and (mark := _OR.match(shown, end)):
        other, end_of_other = _number_at(shown, mark.end())
        if other:
            latex, end = rf"{latex} \text{{ or }} {other}", end_of_other
    if latex and _ends_value(shown, end) and not unit_goes_on(shown, end):
        return Block(start, end, "plain", start, end, (latex,))
    value = _PLAIN_VALUE.match(shown, start)
    if not value or not re.search(r"[\d+*/^=√²³·×⁄()]", value[0]) or not _ends_value(shown, value.end()):
        return None
    latex = plain_latex(value[0])
    return Block(start, value.end(), "plain", start, value.end(), (latex,)) if latex else None


def _number_at(shown: str, start: int) -> tuple[str, int]:
    """Return the number at an offset, with its unit, as LaTeX, and the offset behind it; nothing if there is none."""
    number = _NUMBER.match(shown, start)
    latex = plain_latex(number[0]) if number and number.end() > start else ""
    spelled = None if latex else _SPELLED.match(shown, start)
    if spelled is not None:
        whole, _, decimals = spelled[0].lower().partition(" point ")
        latex = ".".join("".join(_DIGITS[word] for word in part.split()) for part in (whole, decimals) if part)
        number = spelled
    if number is None or not latex:
        return "", start
    unit, end = unit_after(shown, number.end())
    if spelled is not None and not unit:
        return "", start
    if not unit and shown[end : end + 1] == "°":
        unit, end = r"^\circ", end + 1
    return latex + unit, end


def _ends_value(shown: str, end: int) -> bool:
    """Return True if a value may end at an offset: there its sentence or line ends, or a word goes on with it."""
    behind = _END_OF_VALUE.match(shown, end)
    return behind is not None and (behind["word"] is None or behind["word"].strip().lower() in _GOES_ON)


# Rows of a box ------------------------------------------------------------------------------------------------------

_ENVIRONMENT = re.compile(
    r"\\begin\{(?P<name>array|aligned|align\*?|gathered|split|matrix)\}\s*(?:\[[a-z]\])?\s*(?:\{[lcr| ]{1,8}\})?"
    r"(?P<rows>.*)\\end\{(?P=name)\}",
    re.DOTALL,
)
_BREAK = re.compile(r"\\\\(?:\[[^\]]{0,12}\])?")
_EDGES = " \t\n&~,;."
_ROW = re.compile(
    r"(?:\\(?:text|textbf|mathrm)\{ ?\(?(?P<letter>[a-h])[).]:? ?\}|\((?P<bare>[a-h])\))?[\s&~:]{0,8}"
    r"(?P<value>[-+−]?[.\d][^&]*)"
)


def values_in_rows(latex: str) -> str:
    r"""Return the values of the rows of a box as a list, `2\,\mathrm s, 3\,\mathrm m`; empty if these are no such rows.

    >>> values_in_rows(r"\begin{aligned} &\text{(a) } 2 \\ &\text{(b) } 3 \end{aligned}")
    '2, 3'
    """
    found = _ENVIRONMENT.fullmatch(latex)
    written = [row.strip(_EDGES) for row in _BREAK.split(found["rows"] if found else latex)]
    rows = [_ROW.fullmatch(row) for row in written if row]
    read = [row for row in rows if row is not None]
    letters = [row["letter"] or row["bare"] or "" for row in read]
    if not 1 < len(read) == len(rows) or "".join(letters) not in ("", "abcdefgh"[: len(read)]):
        return ""
    return ", ".join(row["value"] for row in read)

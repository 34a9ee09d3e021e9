r"""Lines and equations that a text takes back by their number: "ignore line 2", "Zeile 2 ist falsch" (semantics C.6).

A number is that of a line which begins with it (`2.`, `(2)`, `**Step 2:**`), of an equation with a tag or with the
number behind it, or the name of a label, `\eqref{eq:a}`. The last one of that number before the sentence is meant.
What a sentence asks, supposes or denies ("nothing in line 2 is wrong") strikes nothing.

Formulas that a solution passes over when it chooses one of two by its place: "A or B; I take the latter".

"The former" and "the latter" choose where their clause takes one or calls it right; where it only describes ("the
former is the speed") nothing is chosen. What is passed over is denied (semantics C.6). So is what follows from a
falsehood that the text supposes ("assume $0 = 1$"), up to its end, and a formula behind a lone `$\neg$`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from prism.latex.extraction.blocks import Block
from prism.latex.extraction.denials import n_unknown, says_wrong
from prism.latex.extraction.retractions import MaskedText, Span, blocks_in
from prism.latex.extraction.worded_clauses import WordedText, has_role
from prism.latex.prose import FORMULA
from prism.latex.word_lists import any_word

_NUMBER = r"\(?\d{1,2}\)?|\(?\\(?:eq)?ref\{[^{}\s]{1,40}\}\)?"
_NUMBERS = rf"(?:{_NUMBER})(?:(?:, (?:and )?| and | & | ?[-–] ?| to )(?:{_NUMBER}))*"
_NAME = any_word("lines")
_NUMBERED = re.compile(  # of a text in lower case
    rf"{_NAME}\s?{_NUMBERS}|\(\d{{1,2}}\)(?:(?:, | and | ?[-–] ?)\(\d{{1,2}}\))*"
)
_TAKING_BACK = frozenset(("dropping", "withdrawing", "retracting", "struck"))
_FALSE = frozenset(("wrong", "faulty", "mistakes", "right", "struck", "retracting", "withdrawing"))
_OPEN = frozenset(("doubting", "supposing", "ifs", "unsure", "negators"))
_EACH = re.compile(r"\d{1,2}|\{([^{}]+)\}")
_RANGE = re.compile(r"(\d{1,2})\)? ?(?:[-–]|to) ?\(?(\d{1,2})")
_LINE = re.compile(
    rf"^[ \t>*_#+-]{{0,8}}(?:{_NAME} \(?(?P<named>\d{{1,2}})\)?[.:)*_ ]|\(?(?P<bare>\d{{1,2}})[.)][*_]{{0,2}}\s)",
    re.MULTILINE | re.IGNORECASE,
)
_BEHIND = re.compile(rf"(?<={FORMULA})[ \t,.]{{1,8}}\((?P<number>\d{{1,2}})\)[ \t.,]*$", re.MULTILINE)
_TAG = re.compile(r"\\(?:tag\*?|label)\s*\{\s*\(?([^{}()]{1,40})\)?\s*\}")


def struck_blocks(text: str, blocks: Sequence[Block], masked: MaskedText) -> frozenset[int]:
    """Return the indices of the delimited formulas that stand in a line or have a number which a sentence takes back.

    Args:
        text: the solution, without what is hidden.
        blocks: its delimited formulas, ascending.
        masked: the same with its formulas masked.
    """
    struck = [mark for mark in _NUMBERED.finditer(masked.lowered) if _is_struck(masked.worded, *mark.span())]
    if not struck:
        return frozenset()
    places = sorted(_numbered_places(text, blocks, masked), key=lambda place: place[1])
    spans = []
    for mark in struck:
        for number in _numbers_in(mark[0]):
            meant = [span for name, span in places if name == number and span[0] < mark.start()]
            spans += [(low, min(high, mark.start())) for low, high in meant[-1:]]
    return blocks_in(masked.starts, spans)


def _is_struck(read: WordedText, low: int, high: int) -> bool:
    """Return True if the words around a number say that its line is wrong, or take it back: "ignore line 2"."""
    clause = read.clauses[bisect_right(read.clauses, high, key=lambda each: each.start) - 1]
    first = read.clauses[read.firsts[clause.sentence]].start
    before, behind = read.within(first, low), read.within(high, clause.end)
    is_open = read.asks(clause) or any(_OPEN & mark.roles for mark in before)
    verb = next((mark for mark in reversed(before) if _TAKING_BACK & mark.roles), None)
    if verb is not None and not is_open and n_unknown(read, verb.end, low) == 0:
        return not has_role(read, high, clause.end, "negators", "harmless")
    told = next((mark for mark in behind if _FALSE & mark.roles), None)
    if told is None or is_open or n_unknown(read, high, told.start) > (told.place < 0):
        return False
    if not _TAKING_BACK.isdisjoint(told.roles) and not has_role(read, high, told.start, "negators"):
        return True
    return says_wrong(read, high, clause.end)


def _numbers_in(sentence: str) -> Iterator[str]:
    """Yield the numbers and labels of a sentence, those within a range too: "(1)-(3)"."""
    yield from (each[1] or each[0] for each in _EACH.finditer(sentence))
    yield from (str(n) for ends in _RANGE.finditer(sentence) for n in range(int(ends[1]) + 1, int(ends[2])))


def _numbered_places(text: str, blocks: Sequence[Block], masked: MaskedText) -> Iterator[tuple[str, Span]]:
    """Yield the number, or the label in lower case, of each line and formula that has one, and its span."""
    shown = masked.shown
    lines = list(_LINE.finditer(shown))
    for mark, following in zip(lines, [*(line.start() for line in lines[1:]), len(shown)], strict=False):
        blank = shown.find("\n\n", mark.end())
        has_formula = blank >= 0 and FORMULA in shown[mark.end() : blank]
        yield mark["named"] or mark["bare"], (mark.start(), min(following, blank) if has_formula else following)
    for mark in _BEHIND.finditer(shown):
        start = bisect_left(masked.starts, mark.start()) - 1
        yield mark["number"], (masked.starts[start], mark.start())
    for start, block in zip(masked.starts, blocks, strict=False):
        tags = _TAG.findall(text, block.start, block.end)
        for name in dict.fromkeys(tags) if text.count(r"\\", block.start, block.end) == 0 else ():
            yield name.strip().lower(), (start, start + 1)


# Passed over --------------------------------------------------------------------------------------------------------

_REACH = 400  # characters before the word in which the two formulas stand
_PASSING_OVER = frozenset(("wrong", "faulty", "mistakes", "dropping", "withdrawing"))
_CHOOSING = _PASSING_OVER | {"choosing", "right"}
_SUPPOSED = re.compile(  # in a text in lower case
    r"\b(?:assum\w*|suppos\w*|let|grant\w*|hypothes\w*|angenommen|sei|gilt|admettons|soit|supong\w*|supon\w*)\b[^.;]{0,30}\Z"
)
_TWO_NUMBERS = re.compile(r"\s*(\d+)\s*=\s*(\d+)\s*")
_NOT = re.compile(r"\s*\\(?:neg|lnot|not)\s*")


def passed_over_blocks(masked: MaskedText) -> frozenset[int]:
    """Return the indices of the delimited formulas that a choice by place passes over.

    Args:
        masked: the solution, its formulas masked.
    """
    found = set()
    for clause in masked.worded.clauses:
        marks = masked.worded.within(clause.start, clause.end)
        place = next((mark for mark in marks if {"former", "latter"} & mark.roles), None)
        chosen = frozenset[str]().union(*(mark.roles for mark in marks)) & _CHOOSING
        behind = bisect_left(masked.starts, place.start) if place else 0
        if place is None or not chosen or behind < 2 or place.start - masked.starts[behind - 2] > _REACH:
            continue
        if "counted" in place.roles and behind != 2:
            continue  # of more than two it may be any
        high = max((mark.start for mark in marks if _CHOOSING & mark.roles), default=0)
        is_denied = has_role(masked.worded, clause.start, max(place.start, high), "negators")
        is_denied = is_denied != (not chosen.isdisjoint(_PASSING_OVER))
        found.add(behind - 1 if ("former" in place.roles) != is_denied else behind - 2)
    return frozenset(found)


def disowned_blocks(text: str, blocks: Sequence[Block], masked: MaskedText) -> frozenset[int]:
    """Return the indices of the formula behind a lone sign of negation, and of all behind a supposed falsehood.

    Args:
        text: the solution, without what is hidden.
        blocks: its formulas, ascending.
        masked: the same with its formulas masked.
    """
    found: set[int] = set()
    for k, block in enumerate(blocks):
        if _NOT.fullmatch(text, block.start, block.end):
            found |= (
                {k + 1}
                if k + 1 < len(blocks) and not text[block.outer_end : blocks[k + 1].outer_start].strip()
                else set()
            )
        sides = _TWO_NUMBERS.fullmatch(text, block.start, block.end)
        if sides and int(sides[1]) != int(sides[2]) and _SUPPOSED.search(masked.lowered[: block.outer_start][-_REACH:]):
            return frozenset(found.union(range(k + 1, len(blocks))))
    return frozenset(found)

"""Formulas that a solution passes over when it chooses one of two by its place: "A or B; I take the latter".

"The former" and "the latter" choose where their clause takes one or calls it right; where it only describes ("the
former is the speed") nothing is chosen. What is passed over is denied (semantics C.6).
"""

from __future__ import annotations

import re
from bisect import bisect_left

from prism.latex.extraction.retractions import MaskedText
from prism.latex.prose import is_negation, sentence_end, sentence_start, words

_REACH = 400  # characters before the word in which the two formulas stand
_BY_PLACE = re.compile(r"\b(?:the|this) (?P<place>former|latter)\b")
_CHOOSES = re.compile(
    r"\b(?:take|choose|pick|adopt|prefer|keep|trust|believe|use|go with|stand by|settle on|opt for|right|correct|true"
    r"|answer|wrong|false|incorrect|mistaken|of (?:them|the two|these))\b"
)
_WRONG = re.compile(r"\b(?:wrong|false|incorrect|mistaken|reject|discard|drop)\b")
_CLAUSE = re.compile(r"[,;:]")


def passed_over_blocks(masked: MaskedText) -> frozenset[int]:
    """Return the indices of the delimited formulas that a choice by place passes over.

    Args:
        masked: the solution, its formulas masked.
    """
    found = set()
    for mark in _BY_PLACE.finditer(masked.lowered):
        behind = bisect_left(masked.starts, mark.start())
        is_near = behind > 1 and mark.start() - masked.starts[behind - 2] <= _REACH
        start, end = _clause_around(masked.lowered, mark)
        clause = masked.lowered[start:end]
        if not is_near or not _CHOOSES.search(clause):
            continue
        is_denied = any(map(is_negation, words(masked.lowered[start : mark.start()])))
        is_denied = is_denied != (_WRONG.search(clause) is not None)
        takes_former = (mark["place"] == "former") != is_denied
        found.add(behind - 1 if takes_former else behind - 2)
    return frozenset(found)


def _clause_around(text: str, mark: re.Match[str]) -> tuple[int, int]:
    """Return the offsets of the clause around a match: within its sentence, between commas and colons."""
    start, end = sentence_start(text, mark.start()), sentence_end(text, mark.end())
    start = max((each.end() for each in _CLAUSE.finditer(text, start, mark.start())), default=start)
    turn = _CLAUSE.search(text, mark.end(), end)
    return start, turn.start() if turn else end

r"""Formulas that a solution passes over when it chooses one of two by its place: "A or B; I take the latter".

"The former" and "the latter" choose where their clause takes one or calls it right; where it only describes ("the
former is the speed") nothing is chosen. What is passed over is denied (semantics C.6). So is what follows from a
falsehood that the text supposes ("assume $0 = 1$"), up to its end, and a formula behind a lone `$\neg$`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from prism.latex.extraction.blocks import Block
from prism.latex.extraction.retractions import MaskedText
from prism.latex.prose import is_negation, sentence_end, sentence_start, words

_REACH = 400  # characters before the word in which the two formulas stand
_BY_PLACE = re.compile(
    r"\b(?:the|this) (?P<place>former\b|latter\b|(?:first|second)(?= (?:one |formula |value )?(?:is|was|counts)\b))"
)
_CHOOSES = re.compile(
    r"\b(?:take|choose|pick|adopt|prefer|keep|trust|believe|use|go with|stand by|settle on|opt for|right|correct|true"
    r"|answer|counts|wrong|false|incorrect|mistaken|of (?:them|the two|these))\b"
)
_WRONG = re.compile(r"\b(?:wrong|false|incorrect|mistaken|reject|discard|drop)\b")
_CLAUSE = re.compile(r"[,;:]")
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
    for mark in _BY_PLACE.finditer(masked.lowered):
        behind = bisect_left(masked.starts, mark.start())
        is_near = behind > 1 and mark.start() - masked.starts[behind - 2] <= _REACH
        if mark["place"] in ("first", "second") and behind != 2:
            continue  # of more than two it may be any
        start, end = _clause_around(masked.lowered, mark)
        clause = masked.lowered[start:end]
        if not is_near or not _CHOOSES.search(clause):
            continue
        is_denied = any(map(is_negation, words(masked.lowered[start : mark.start()])))
        is_denied = is_denied != (_WRONG.search(clause) is not None)
        takes_former = (mark["place"] in ("former", "first")) != is_denied
        found.add(behind - 1 if takes_former else behind - 2)
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


def _clause_around(text: str, mark: re.Match[str]) -> tuple[int, int]:
    """Return the offsets of the clause around a match: within its sentence, between commas and colons."""
    start, end = sentence_start(text, mark.start()), sentence_end(text, mark.end())
    start = max((each.end() for each in _CLAUSE.finditer(text, start, mark.start())), default=start)
    turn = _CLAUSE.search(text, mark.end(), end)
    return start, turn.start() if turn else end

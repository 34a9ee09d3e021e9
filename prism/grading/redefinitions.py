r"""Symbols of the statement to which a solution gives another meaning in words (semantics O.3).

"`v_f = \sqrt{2gh}`, where `h` is twice the height" says something else than the formula alone. No formula of the part
that has the symbol is a claim. Where the statement itself has such a word, nothing is read into it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from prism.algebra.expr import Formula, symbols_of
from prism.latex import LocatedFormula

_LONGEST = 40  # characters behind a symbol that are read
_MULTIPLE = re.compile(
    r"[$\\)\s*_]{0,6}(?:is|be|are|equals|denotes|means|stands for)(?: now| here)? "
    r"(?P<word>twice|half|double|triple|thrice|a (?:third|quarter|fifth|tenth)|minus|"
    r"(?:two|three|four|five|ten|\d+) times"
    r"|the (?:square|cube|inverse|reciprocal|negative|opposite|double|triple|half))\b"
)


def redefined_orders(
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    letters: Sequence[tuple[str, ...]],
    text: str,
    known: Collection[str],
    question: str,
) -> Mapping[int, str]:
    """Map the ordinal of each formula with a symbol that its part redefines in words to that symbol.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        letters: of the part of each.
        text: of the solution.
        known: symbols of the problem and its reference.
        question: the statement and its subquestions.
    """
    found: dict[int, str] = {}
    for order, f in enumerate(formulas):
        if f is None or f.kind != "expression" or f.members[0].op != "sym" or f.members[0].name not in known:
            continue
        end = located[order].span[1]
        said = _MULTIPLE.match(text[end : end + _LONGEST])
        if said is None or re.search(rf"\b{re.escape(said['word'])}\b", question):
            continue
        name = f.members[0].name
        for other, each in enumerate(formulas):
            if each is not None and letters[other] == letters[order] and name in symbols_of(each):
                found.setdefault(other, name)
    return found

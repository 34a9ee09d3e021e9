r"""Symbols of the statement to which a solution gives another meaning in words (semantics O.3).

"`v_f = \sqrt{2gh}`, where `h` is twice the height" says something else than the formula alone. No formula of the part
that has the symbol is a claim. Where the statement itself has such a word, nothing is read into it, nor where the words
relate two quantities of which the statement has no symbol for the first: "the focal length `f` is half of the radius of
curvature `R`". "Does not have the meaning of the problem" redefines it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from prism.algebra.expr import Formula, symbols_of
from prism.latex import LocatedFormula

_LONGEST = 80  # characters behind a symbol that are read
_PARTS = "third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|a hundred"
_MULTIPLE = re.compile(
    r"[$\\)\s*_]{0,6}(?:here |now )?(?:"
    r"(?:does not|doesn't) (?:have|keep|carry) (?:the |its )?(?P<denied>(?:usual |same |old )?meaning)"
    r"|(?:is|be|are|equals|denotes|means|meaning|stands? for|standing for|for|to (?:mean|denote))(?: now| here)? "
    rf"(?P<word>twice|half|double|triple|thrice|minus|(?:a|one|{_NUMBERS}) (?:{_PARTS})s?|(?:{_NUMBERS}|\d+) times"
    r"|the (?:square|cube|inverse|reciprocal|negative|opposite|double|triple|half))\b"
    r"(?P<of>(?:[ -]+[a-z]+)*)(?P<symbol>[ ~]*(?:\$|\\\())?)"
)
_NAMED = re.compile(r"\b[Tt]he (?P<name>[a-z]+(?: [a-z]+){0,3}) (?:\$|\\\()\s*\Z")  # in words, before a symbol
_NO_NOUN = frozenset("of the a an by from its this that here same with as and".split())


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
    stated = re.findall(r"\$[^$]+\$|\\\(.+?\\\)|\\\[.+?\\\]", question, re.S)
    for order, f in enumerate(formulas):
        if f is None or f.kind != "expression" or f.members[0].op != "sym" or f.members[0].name not in known:
            continue
        end = located[order].span[1]
        said = _MULTIPLE.match(text[end : end + _LONGEST])
        if said is None or (said["word"] and re.search(rf"\b{re.escape(said['word'])}\b", question)):
            continue
        start = located[order].span[0]
        is_stated = any(
            re.search(rf"(?<![A-Za-z\\]){re.escape(located[order].latex)}(?![A-Za-z])", each) for each in stated
        )
        if not is_stated and _relates_quantities(text[max(start - _LONGEST, 0) : start], said, question):
            continue
        name = f.members[0].name
        for other, each in enumerate(formulas):
            if each is not None and letters[other] == letters[order] and name in symbols_of(each):
                found.setdefault(other, name)
    return found


def _relates_quantities(before: str, said: re.Match[str], question: str) -> bool:
    """Return True if a multiple is said of a quantity that has its own name, and of another that is known by its own.

    Args:
        before: text before the symbol.
        said: match of `_MULTIPLE` behind it.
        question: the statement and its subquestions.
    """
    named = None if said["denied"] else _NAMED.search(before)
    other = [word for word in (said["of"] or "").split() if word not in _NO_NOUN]
    if named is None or not other or not set(other).isdisjoint(named["name"].split()):
        return False
    return said["symbol"] is not None or " ".join(other[-1:]) in question

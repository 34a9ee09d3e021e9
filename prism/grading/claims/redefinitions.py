r"""Symbols of the statement to which a solution gives another meaning in words (semantics O.3).

"`v_f = \sqrt{2gh}`, where `h` is twice the height" says something else than the formula alone. No formula of the part
that has the symbol is a claim. Where the statement itself has such a word, nothing is read into it, nor where the words
relate two quantities of which the statement has no symbol for the first: "the focal length `f` is half of the radius of
curvature `R`". "Does not have the meaning of the problem" redefines it too, and "`q` denotes what the statement calls
`L`". So does what is said of the sign `=` or of every letter, and an erratum that puts another expression in the place
of one that stands above.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from prism.algebra.expr import Formula, canonical, symbols_of
from prism.latex import LocatedFormula

_LONGEST = 80  # characters behind a symbol that are read
_PARTS = "third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth"
_NUMBERS = "two|three|four|five|six|seven|eight|nine|ten|a hundred"
_FROM_NOW = "(?:(?:here|now|from now on|in the following|below|henceforth|always|shall|will) )*"
_MULTIPLE = re.compile(
    rf"[$\\)\s*_]{{0,6}}{_FROM_NOW}(?:"
    r"(?:does not|doesn't) (?P<denied>(?:have|keep|carry) (?:the |its )?(?:usual |same |old )?meaning"
    r"|(?:mean|denote|stand for) (?:the|what|its))"
    r"|(?:is|be|are|equals|denotes|means|meaning|stands? for|standing for|for|to (?:mean|denote))(?: now| here)? "
    rf"(?P<word>twice|half|double|triple|thrice|minus|(?:a|one|{_NUMBERS}) (?:{_PARTS})s?|(?:{_NUMBERS}|\d+) times"
    r"|the (?:square|cube|inverse|reciprocal|negative|opposite|double|triple|half))\b"
    r"(?P<of>(?:[ -]+[a-z]+)*)(?P<symbol>[ ~]*(?:\$|\\\())?)"
)
_EXCHANGED = re.compile(  # between two symbols: the first one means, or changes places with, the second
    r"[$\\)\s]*(?:(?:(?:denotes?|stands? for|means?|is|for)\b(?: [a-z]+){0,3} "
    r"(?:calls?|called|quantity|letter|symbol)(?: [a-z]+){0,2})|(?P<write>for)|(?P<places>and|with|,))[\s$\\(]*"
)
_WRITES = re.compile(r"\b(?:write|writing|put|use|call)\b[^.;]*\Z")
_PLACES = re.compile(
    r"[$\\)\s]*(?:ha(?:ve|s) |are |were |be )?(?:here |now )?(?:changed? places|(?:ex|inter)changed|swapped)"
)
_MEANT = re.compile(rf"[$\\)\s]*(?:I|we) {_FROM_NOW}(?:mean|understand|denote)\b(?P<words>[^.;:$]{{3,80}})")
_ALL_LETTERS = re.compile(
    r"\b(?:all|every|each) (?:symbols?|letters?|variables?|quantit(?:y|ies))\b[^.;$]{0,30}"
    r"\b(?:refers? to|stands? for|means?|belongs? to|denotes?)\b[^.;$]{0,20}"
    rf"\b(?:different|another|other|square|cube|inverse|reciprocal|negative|twice|half|double|{_PARTS})\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:if|when)[\s$\\(]*\Z", re.IGNORECASE)
_COMPARED = re.compile(r" +(?:as\b|[a-z]+er\b)")  # "if `h` is twice as large": a case of the same quantity
_WORD = re.compile(r"[a-z]{4,}")
_SAYING = frozenset("here this that with following from below what which always now mean solution text".split())
_STEM = 5  # letters by which words are compared
_NAMED = re.compile(r"\b[Tt]he (?P<name>[a-z]+(?: [a-z]+){0,3}) (?:\$|\\\()\s*\Z")  # in words, before a symbol
_EQUALS_SIGN = re.compile(
    r"(?:\$\s*=\s*\$|\\\(\s*=\s*\\\)|[\"'`“”]=[\"'`“”]|\bequals? sign\b|\bsign =)\s*"
    r"(?:sign |here |now |always |shall )*"
    r"(?:means?|stands for|denotes?|(?:is|be) (?:to be )?(?:read|understood|taken) as|says)\s+[\"'`“”*]*"
    r"(?!(?:that |the |is |an? )*(?:equal|equality|identical|same|exact|left))",
    re.IGNORECASE,
)
_ERRATUM = re.compile(r"\b(?:errat(?:um|a)|corrigend(?:um|a)|misprints?|typos?)\b", re.IGNORECASE)
_REPLACED = re.compile(  # the words before an expression that an erratum replaces
    r"\b(?:replace|for|change|correct|substitute|instead of|in place of|not)\s*(?:\$|\\\()?\s*\Z", re.IGNORECASE
)
_FAR = 200  # characters before an expression in which an erratum is announced
_NO_NOUN = frozenset("of the a an by from its this that here same with as and".split())


def redefined_orders(
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    letters: Sequence[tuple[str, ...]],
    text: str,
    known: Collection[str],
    question: str,
) -> Mapping[int, str]:
    """Map the ordinal of each formula with a symbol that its part redefines in words, or a sign, to that symbol.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        letters: of the part of each.
        text: of the solution.
        known: symbols of the problem and its reference.
        question: the statement and its subquestions.
    """
    is_other = _EQUALS_SIGN.search(text) or _ALL_LETTERS.search(text)
    found = dict(_with_equals_sign(formulas) if is_other else ())
    found |= dict(_errata(located, formulas, text))
    stated = re.findall(r"\$[^$]+\$|\\\(.+?\\\)|\\\[.+?\\\]", question, re.S)
    alone = {  # symbols that stand alone
        order: f.members[0].name
        for order, f in enumerate(formulas)
        if f is not None and f.kind == "expression" and f.members[0].op == "sym"
    }
    for order, name in alone.items():
        if name not in known:
            continue
        start, end = located[order].span
        said = _MULTIPLE.match(text[end : end + _LONGEST])
        if said is not None:
            is_compared = said["of"] and _COMPARED.match(said["of"])
            if is_compared and _SUPPOSED.search(text[max(start - _LONGEST, 0) : start]):
                continue
            if said["word"] and re.search(rf"\b{re.escape(said['word'])}\b", question):
                continue
            is_stated = any(
                re.search(rf"(?<![A-Za-z\\]){re.escape(located[order].latex)}(?![A-Za-z])", each) for each in stated
            )
            if not is_stated and _relates_quantities(text[max(start - _LONGEST, 0) : start], said, question):
                continue
        elif not (
            _is_exchanged(order, alone, located, text, known)
            or _is_meant_otherwise(located[order].span, text, question)
        ):
            continue
        for other, each in enumerate(formulas):
            if each is not None and letters[other] == letters[order] and name in symbols_of(each):
                found.setdefault(other, name)
    return found


def _is_exchanged(
    order: int, alone: Mapping[int, str], located: Sequence[LocatedFormula], text: str, known: Collection[str]
) -> bool:
    """Return True if words give a symbol of the problem the meaning of the next one, or the next one that of this one.

    Args:
        order: ordinal of the symbol.
        alone: the symbols that stand alone, by ordinal.
        located, text, known: as of `redefined_orders`.
    """
    for one, two in ((order - 1, order), (order, order + 1)):
        if alone.get(one) not in known or two not in alone or alone[one] == alone[two]:
            continue
        (start, end), (begin, stop) = located[one].span, located[two].span
        between = _EXCHANGED.fullmatch(text, end, begin)
        if between and (not between["write"] or _WRITES.search(text[max(start - _LONGEST, 0) : start])):
            return not between["places"] or _PLACES.match(text, stop) is not None
    return False


def _is_meant_otherwise(span: tuple[int, int], text: str, question: str) -> bool:
    """Return True for "By `R` I mean the age of the students", in words of which the question has none."""
    said = _MEANT.match(text, span[1]) if re.search(r"\b[Bb]y [$\\(]*\Z", text[max(span[0] - 8, 0) : span[0]]) else None
    asked = question.lower()
    named = {word[:_STEM] for word in _WORD.findall(said["words"])} - _SAYING if said else set()
    return bool(named) and not any(re.search(rf"\b{word}", asked) for word in named)


def _with_equals_sign(formulas: Sequence[Formula | None]) -> Iterator[tuple[int, str]]:
    """Yield the ordinal of each formula with a sign of equality, and that sign."""
    for order, f in enumerate(formulas):
        if f is not None and any("=" in part.relations for part in (f, *f.parts)):
            yield order, "="


def _errata(
    located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str
) -> Iterator[tuple[int, str]]:
    r"""Yield the ordinal of each formula with a member that a later erratum replaces, and that member.

    "Erratum. In the box replace $gt$ by $2gt$": who reads on finds `2gt` in its place.
    """
    for order, f in enumerate(formulas):
        start = located[order].span[0]
        before = text[max(start - _FAR, 0) : start].rpartition("\n\n")[2]
        if f is None or f.kind != "expression" or f.members[0].op == "sym":
            continue
        if not (_ERRATUM.search(before) and _REPLACED.search(before)):
            continue
        replaced = canonical(f.members[0])
        for other, each in enumerate(formulas[:order]):
            if each is not None and replaced in map(canonical, each.members):
                yield other, located[order].latex


def _relates_quantities(before: str, said: re.Match[str], question: str) -> bool:
    """Return True if "is twice the ..." relates two quantities that have names, and so gives the symbol no new meaning.

    The symbol has its own name in the text before it, and the other quantity, which shares no word with it, has a
    symbol behind it or stands in the question.

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

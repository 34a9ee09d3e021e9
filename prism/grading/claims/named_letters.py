r"""Letters of a solution's own that its words tie to a quantity of the problem (semantics F.7).

"Let $y$ be the height" says `y = h` where the statement speaks of "the height $h$". The words have to be the same, and
to name one symbol alone: of "the height $h$" and "the height $H$ of the tower" neither is meant, and "the largest
height" is another one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from prism.algebra.expr import Formula, formula, symbol
from prism.budget import charge
from prism.errors import LatexSyntaxError
from prism.latex import LocatedFormula, parse

_LONGEST = 60  # characters beside a letter that are read
_CHARACTER = 10  # operations for each character of a statement in which a noun is looked for
_NOUN = r"(?P<noun>[a-z]+(?: [a-z]+){0,2}?)"
_BEHIND = re.compile(
    rf"(?:\$|\\\)) (?:be|is|denotes?|stands for|represents) (?:the|its|their) {_NOUN}(?=[.,;:)\n]|$| and\b)"
)
_BEFORE = re.compile(rf"\b(?:[Cc]all|[Dd]enote|[Ll]et) (?:the|its|their) {_NOUN} (?:be |by |as )?(?:\$|\\\()\Z")
_SYMBOL = r"(?:\$|\\\()\s*(?P<symbol>[^$=<>]{1,30}?)\s*(?:\$|\\\))"
_SAME = re.compile(r"[$\\)\s]*(?:for|is|be|denotes|stands for|means)[\s$\\(]*")  # between a letter and a symbol
_ARTICLE = r"\b(?:the|an?|its|their|of|from|with|at|to|has) "


def with_tied_letters(
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    text: str,
    known: Collection[str],
    question: str,
) -> list[Formula | None]:
    """Return the formulas with the equation of two symbols for a letter that words tie to a symbol of the problem.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        text: of the solution.
        known: symbols of the problem and its reference; all others are the solution's own.
        question: the statement and its subquestions.
    """
    found = list(formulas)
    for k, f in enumerate(formulas):
        if f is None or f.kind != "expression" or f.members[0].op != "sym" or f.members[0].name in known:
            continue
        start, end = located[k].span
        said = _BEHIND.match(text[end : end + _LONGEST]) or _BEFORE.search(text[max(0, start - _LONGEST) : start])
        name = _symbol_called(said["noun"], question) if said else _symbol_behind(k, located, formulas, text)
        if name in known:
            found[k] = formula((f.members[0], symbol(name)), ("=",), f.latex, f.depends)
    return found


def _symbol_behind(k: int, located: Sequence[LocatedFormula], formulas: Sequence[Formula | None], text: str) -> str:
    """Return the symbol right behind a letter that stands for it, "write `Y` for `P`", "`Y` is `P`"; else empty."""
    other = formulas[k + 1] if k + 1 < len(formulas) else None
    if other is None or other.kind != "expression" or other.members[0].op != "sym":
        return ""
    return other.members[0].name if _SAME.fullmatch(text, located[k].span[1], located[k + 1].span[0]) else ""


def _symbol_called(noun: str, question: str) -> str:
    """Return the one symbol that a statement calls by a noun, `h` of "the height $h$"; empty for none or several."""
    charge(len(question) * _CHARACTER)
    named = re.compile(rf"{_ARTICLE}{noun} {_SYMBOL}|{_SYMBOL.replace('symbol', 'other')} (?:is|denotes) the {noun}\b")
    written = {mark["symbol"] or mark["other"] for mark in named.finditer(question)}
    if len(written) != 1:
        return ""
    try:
        read = parse(written.pop())
    except LatexSyntaxError:
        return ""
    return read.members[0].name if read.kind == "expression" and read.members[0].op == "sym" else ""

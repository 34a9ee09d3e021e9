r"""Values of a solution's own letters that it leaves open: doubted, under a condition, or two at once (semantics O.3).

"$L = R + \eta$, maybe $\eta = 0$" states no L, nor does `A = R,\ A = W,\ L = A`. Such formulas define nothing. A letter
that is given anew by itself is corrected, or used for something else, unless the formula that used it is said again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from prism.algebra.expr import Expr, Formula, symbols, symbols_of
from prism.equivalence.chains.links import check_link
from prism.latex import Joint, LocatedFormula
from prism.latex.prose import FORMULA, mask_formulas
from prism.latex.word_lists import any_word
from prism.physics.context import EMPTY_CONTEXT

_LONGEST = 60  # characters beside a formula in which its value may be doubted
_DOUBTED = re.compile(  # before a value, in its clause
    rf"(?:{any_word('claims.doubting')}|{any_word('claims.unsure')}|\b(?:perhaps|could|whether|either"
    rf"|un\w+ (?:if|which)|cannot (?:tell|say|know)|hope\w*))[^.;:{FORMULA}]*\Z",
    re.IGNORECASE,
)
_CONDITIONED = re.compile(  # behind a value, in its clause
    r"[\s,$)\\]*(?:\(?\s*\?|(?:if|unless|should|perhaps|maybe|possibly|presumably|or (?:so|not|else)"
    rf"|I (?:hope|guess))\b(?![^.;\n]{{0,8}}{FORMULA}))",
    re.IGNORECASE,
)
_MAY_BE = re.compile(  # behind a letter
    rf"[\s$)\\]*(?:may|might|could|can)(?: also| as well| well)? be[\s$(\\]*(?:{FORMULA}|\d|any\b|either\b|another\b)"
)


def unsettled_orders(
    located: Sequence[LocatedFormula],
    formulas: Sequence[Formula | None],
    letters: Sequence[tuple[str, ...]],
    text: str,
    known: Collection[str],
) -> frozenset[int]:
    """Return the ordinals of the formulas that give an own letter of the solution a value, and leave it open.

    Args:
        located: the formulas where they stand in the text.
        formulas: as parsed; None where one could not be read.
        letters: of the part of each.
        text: of the solution.
        known: symbols of the problem and its reference; all others are the solution's own.
    """
    given = [(k, name, value) for k, f in enumerate(formulas) for name, value in _values_in(f, known)]
    if not given:
        return frozenset()
    shown = mask_formulas(text, (item.span for item in located))
    found = {k for k, _, _ in given if _is_left_open(shown, located[k].span)}
    found |= {k for k, name, _ in given if _is_joined_by_or(k, name, located, formulas)}
    open_names = {
        f.members[0].name for k, f in enumerate(formulas) if f is not None and _MAY_BE.match(shown, located[k].span[1])
    }
    found |= {k for k, name, _ in given if name in open_names}
    for n, (first, name, value) in enumerate(given):
        second, other = next(((k, expr) for k, same, expr in given[n + 1 :] if same == name), (first, value))
        if second > first and letters[first] == letters[second] and _disagree(value, other):
            used = {f for f in formulas[first + 1 : second] if f is not None and name in symbols_of(f)}
            is_kept = used.isdisjoint(formulas[second + 1 :]) if used else located[second].joint != Joint.AND
            found |= set() if is_kept else {first, second}
    return frozenset(found)


def _values_in(f: Formula | None, known: Collection[str]) -> Iterator[tuple[str, Expr]]:
    """Yield the own letters that stand alone on the left of an equation, each with what it is equal to."""
    if f is None or f.kind == "alternatives":
        return
    for part in f.parts or (f,):
        if len(part.members) > 1 and part.relations[0] in ("=", "equiv", ":=") and part.members[0].op == "sym":
            name = part.members[0].name
            if name not in known and name not in symbols(*part.members[1:]):
                yield name, part.members[1]


def _is_left_open(shown: str, span: tuple[int, int]) -> bool:
    """Return True if the words of its clause doubt what a formula says, or put it under a condition."""
    before = shown[max(0, span[0] - _LONGEST) : span[0]].rstrip("$( \n\\[")
    return _DOUBTED.search(before) is not None or _CONDITIONED.match(shown, span[1]) is not None


def _is_joined_by_or(k: int, name: str, located: Sequence[LocatedFormula], formulas: Sequence[Formula | None]) -> bool:
    """Return True if "or" joins a formula to another one of the same letter."""
    return any(
        located[later].joint == Joint.OR and (f := formulas[other]) is not None and name in symbols_of(f)
        for later, other in ((k, k - 1), (k + 1, k + 1))
        if other >= 0 and later < len(located)
    )


def _disagree(one: Expr, other: Expr) -> bool:
    """Return True if two values of a letter, both numbers or both by the same symbols, differ by more than rounding."""
    if symbols(one) != symbols(other):
        return False
    link = check_link(one, other, EMPTY_CONTEXT)
    return link.status != "confirmed" and link.reason != "rounding"

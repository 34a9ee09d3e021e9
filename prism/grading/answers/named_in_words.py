r"""Bare answers that the words before them name as a quantity of the problem (semantics F.4).

"the efficiency as `\boxed{0.564}`" is about `\eta` where the problem says "the efficiency `\eta`". Read are the words
of problem and solution, and no values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from prism.errors import LatexSyntaxError
from prism.latex import LocatedFormula, parse

_LONGEST = 80  # characters before an answer that may name it
_NAME = re.compile(r"\b[Tt]he (?P<words>(?:[a-z-]+ ){1,3})\$(?P<symbol>[^$=<>]{1,40}?)\s*(?:=[^$]*)?\$")
_NAMED = re.compile(
    r"\b[Tt]he (?P<words>[a-z-]+(?: [a-z-]+){0,2}?)"
    r"(?: (?:is|are|as|of|at|equals|becomes|comes out(?: as| to be| at)?|to be|turns out(?: to be)?))?:?[\s$\\(*]*$"
)


def symbols_by_words(question: str) -> dict[str, set[str]]:
    r"""Map the words that a problem has right before a symbol, `kinetic energy`, to the symbols that they name.

    Args:
        question: the statement and its subquestions.

    >>> symbols_by_words(r"It has the mass $m = 2$ kg. Find the kinetic energy $T$.")
    {'mass': {'m'}, 'kinetic energy': {'T'}}
    """
    found: dict[str, set[str]] = {}
    for name in _NAME.finditer(" ".join(question.split())):
        found.setdefault(name["words"].strip(), set()).add(name["symbol"].replace(" ", ""))
    return found


def named_orders(
    located: Sequence[LocatedFormula], orders: Collection[int], text: str, question: str
) -> dict[int, set[str]]:
    """Map each of some formulas that words name as a quantity of the problem, by its ordinal, to the symbols meant.

    Args:
        located: the formulas where they stand in the text.
        orders: ordinals of those that are looked at.
        text: of the solution.
        question: the statement and its subquestions.
    """
    names = symbols_by_words(question) if orders else {}
    found = {}
    for k in orders:
        start = located[k].span[0]
        named = _NAMED.search(text[max(start - _LONGEST, 0) : start].replace(r"\boxed{", ""))
        if named is not None and (meant := names.get(named["words"])):
            found[k] = set(map(_name_of, meant))
    return found


def _name_of(latex: str) -> str:
    """Return the name by which a symbol is known in formulas; an empty text for what is no symbol."""
    try:
        read = parse(latex)
    except LatexSyntaxError:
        return ""
    side = read.members[0] if read.kind == "expression" else None
    return side.name if side is not None and side.op == "sym" else ""

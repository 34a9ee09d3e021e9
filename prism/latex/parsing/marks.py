r"""How a text has its letters where expressions do not say it: `f(x)` and `f x` are one product, `\dot x` is dx/dt.

Nothing above `latex/` looks at the text of a formula again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from prism import budget
from prism.algebra.expr import Expr, Formula, symbol
from prism.errors import LatexSyntaxError
from prism.latex.parsing.names import TEXT_MODE, rewrite_flat_tokens
from prism.latex.parsing.parser import CACHE_SIZE, parse
from prism.latex.parsing.tokens import MAX_LENGTH, Fault, Token, tokenize
from prism.latex.parsing.tree import nest_tokens

OTHERWISE = symbol("otherwise")
_PARITY = re.compile(r"(?:if|for|when)?(?P<before>odd|even)?(?P<letter>[a-zA-Z]|\\ell)(?:is)?(?P<after>odd|even)?")
_SILENT = TEXT_MODE | {r"\mathrm", "{", "}", ",", "."}
_CHARACTER = 500  # operations for each character, as to parse it


@dataclass(frozen=True, slots=True)
class WrittenMarks:
    r"""How a text has its letters.

    Attributes:
        called: letters that have a round bracket behind them wherever they stand, but in angle brackets.
        inverted: letters with the power -1 before a round bracket, f of `f^{-1}(x)`.
        dotted: letters with dots above.
        arguments: letters before a bracket with nothing but letters and commas, each with these letters in their order.
    """

    called: frozenset[str] = frozenset()
    inverted: frozenset[str] = frozenset()
    dotted: frozenset[str] = frozenset()
    arguments: frozenset[tuple[str, tuple[str, ...]]] = frozenset()


@budget.remembered(CACHE_SIZE)
def written_marks(latex: str) -> WrittenMarks:
    r"""Return how the LaTeX of a formula has its letters; nothing of a text that is not read.

    >>> marks = written_marks(r"g\left(t, s\right) + \dot x + f^{-1}(x)")
    >>> sorted(marks.called), sorted(marks.dotted), sorted(marks.inverted), sorted(marks.arguments)
    (['g'], ['x'], ['f'], [('g', ('t', 's'))])
    """
    budget.charge(min(len(latex), MAX_LENGTH) * _CHARACTER)
    try:
        places = list(_places(nest_tokens(rewrite_flat_tokens(tokenize(latex), latex, frozenset()))))
    except Fault:
        return WrittenMarks()
    letters = [
        (item, behind) for before, item, behind in places
        if item.type == "SYM" and (item.gap or item.text[:1] == "\\" or not before.text.isalpha())
    ]  # fmt: skip
    heads = [(item, behind.args[0]) for item, behind in letters if (behind.type, behind.text) == ("PAREN", "(")]
    called = Counter(item.text for item, _ in heads if item.sup is None)
    written = Counter(item.text for item, _ in letters)
    dotted = (
        item.args[0] for _, item, _ in places
        if item.type == "DERIVATIVE" and [(each.text, each.pos) for each in item.args[1]] == [("t", item.pos)]
    )  # fmt: skip
    return WrittenMarks(
        frozenset(name for name, count in called.items() if count == written[name]),
        frozenset(item.text for item, _ in heads if [each.text for each in item.sup or ()] == ["-", "1"]),
        frozenset(part.text for body in dotted for part in body),
        frozenset(
            (item.text, tuple(part.text for part in inside if part.type == "SYM")) for item, inside in heads
            if item.sup is None and all(part.type in ("SYM", "COMMA") for part in inside)
        ),
    )  # fmt: skip


def condition_in(text: Expr) -> Formula | None:
    r"""Return what the text in the name of a symbol says, as `i < j` below a sum; None for words."""
    try:
        return parse(text.name) if text.op == "sym" else None
    except LatexSyntaxError:
        return None


def worded_condition(condition: Expr) -> Expr:
    r"""Return a case in words as `OTHERWISE` or as `n \in odd`; any other condition as it is."""
    tokens = tokenize(condition.name) if condition.op == "sym" else ()
    said = "".join(token.text for token in tokens if token.text not in _SILENT)
    if said in ("otherwise", "elsewhere", "else"):
        return OTHERWISE
    parity = _PARITY.fullmatch(said)
    word = parity and (parity["before"] or parity["after"])
    return Expr("relation", (symbol(parity["letter"]), symbol(word)), "in") if parity and word else condition


def _places(items: list[Token]) -> Iterator[tuple[Token, Token, Token]]:
    """Yield each item, nested ones too, between its neighbours; what stands in angle brackets is left out."""
    none = Token("", "", 0)
    yield from zip((none, *items), items, (*items[1:], none), strict=False)
    for item in items:
        for inner in (*item.args, item.sup or []) if item.type != "BRACKET" else ():
            yield from _places(inner)

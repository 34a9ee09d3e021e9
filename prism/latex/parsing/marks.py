r"""How a text has its letters where expressions do not say it: `f(x)` and `f x` are one product, `\dot x` is dx/dt.

Nothing above `latex/` looks at the text of a formula again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from prism import budget
from prism.algebra.expr import Expr, Formula
from prism.errors import LatexSyntaxError
from prism.latex.parsing.names import rewrite_flat_tokens
from prism.latex.parsing.parser import CACHE_SIZE, parse
from prism.latex.parsing.tokens import MAX_LENGTH, Fault, Token, tokenize
from prism.latex.parsing.tree import nest_tokens

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
        pairs = list(_neighbours(nest_tokens(rewrite_flat_tokens(tokenize(latex), latex, frozenset()))))
    except Fault:
        return WrittenMarks()
    before = [(one, two) for one, two in pairs if one.type == "SYM" and (two.type, two.text) == ("PAREN", "(")]
    plain = [(one.text, two.args[0]) for one, two in before if one.sup is None]
    rates = (two for _, two in pairs if two.type == "DERIVATIVE")
    dots = (two for two in rates if [(part.text, part.pos) for part in two.args[1]] == [("t", two.pos)])
    called = Counter(name for name, _ in plain)
    written = Counter(two.text for one, two in pairs if two.type == "SYM" and (one.text != "d" or two.gap))  # no `df`
    return WrittenMarks(
        frozenset(name for name, count in called.items() if count == written[name]),
        frozenset(one.text for one, _ in before if one.sup and [part.text for part in one.sup] == ["-", "1"]),
        frozenset(part.text for two in dots for part in two.args[0]),
        frozenset(
            (name, tuple(part.text for part in inside if part.type == "SYM")) for name, inside in plain
            if all(part.type in ("SYM", "COMMA") for part in inside)
        ),
    )  # fmt: skip


def said_by(text: Expr) -> Formula | None:
    r"""Return what the text in the name of a symbol says, as `i < j` below a sum; None for words."""
    try:
        return parse(text.name) if text.op == "sym" else None
    except LatexSyntaxError:
        return None


def _neighbours(items: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield each item, nested ones too, behind the one before it; what stands in angle brackets is left out."""
    yield from pairwise([Token("", "", 0), *items])
    for item in items:
        for inner in (*item.args, item.sup or []) if item.type != "BRACKET" else ():
            yield from _neighbours(inner)

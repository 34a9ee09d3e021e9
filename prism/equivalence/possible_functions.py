r"""Letters that may be functions: `E[X^2]` is a mean, `A[1 - x]` a product, and nothing in either tells which.

Both are read as products, and `u^{-1}(x)` as a quotient. Where a letter stands in this way only, in both formulas, it
may be a function as well, and a match has to hold for that reading too; one that has two different arguments in one
formula is a function (semantics X.2).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from prism.algebra.expr import Expr, Formula, plain_parts, symbols_of, walk
from prism.algebra.symbols import symbol_of
from prism.errors import LatexSyntaxError
from prism.latex.parsing.calls import ANY_LETTER
from prism.latex.parsing.parser import parse as parse_latex
from prism.physics.context import Context, Declaration, parse

_SHOWING = ("[", r"\{", "^{-1}")  # what the text of such a formula has


@dataclass(frozen=True, slots=True)
class Called:
    """Two formulas with letters called that may be functions.

    Attributes:
        a, b: the formulas.
        context: the letters are declared as functions in it.
        is_shown: each of the letters has two different arguments in one formula, `E[X^2] - E[X]^2`: no factor has.
    """

    a: Formula
    b: Formula
    context: Context
    is_shown: bool


def with_functions(a: Formula, b: Formula, context: Context) -> Called | None:
    """Return two formulas with the letters called that may be functions.

    None if there is no such letter, or if one of them stands elsewhere too, is declared by the problem, or given.
    """
    letters = {name for f in (a, b) for name in _possible_functions(f, context)}
    if not letters or letters & (context.symbols.keys() | context.givens.keys()):
        return None
    declared = dict.fromkeys(sorted(letters), Declaration("function"))
    known = replace(context, symbols={**context.symbols, **declared})
    called = [_read(f, context, known) for f in (a, b)]
    if any(letters & symbols_of(f) for f in called):
        return None
    arguments = [Counter(name for name, _ in _calls(f)) for f in called]
    return Called(called[0], called[1], known, all(any(each[name] > 1 for each in arguments) for name in letters))


def _possible_functions(f: Formula, context: Context) -> frozenset[str]:
    """Return the letters that a formula calls if every letter is called that may be a function."""
    text = f.latex.replace(" ", "")
    if not any(mark in text for mark in _SHOWING):
        return frozenset()
    try:
        read = parse_latex(f.latex, context.words, ANY_LETTER)
    except LatexSyntaxError:
        return frozenset()
    names = {name for name, _ in _calls(read)} - {name for name, _ in _calls(f)}
    return frozenset(read.body if read.sup == "-1" else read.name for read in map(symbol_of, names))


def _read(f: Formula, context: Context, known: Context) -> Formula:
    """Return a formula as it is read in another context; as it is, if its text alone does not give it."""
    try:
        return parse(f.latex, context=known) if parse(f.latex, context=context) == f else f
    except LatexSyntaxError:
        return f


def _calls(f: Formula) -> set[tuple[str, tuple[Expr, ...]]]:
    """Return what a formula calls, each name with its arguments."""
    members = (member for part in plain_parts(f) for member in part.members)
    return {(node.name, node.args) for each in members for node in walk(each) if node.op == "apply"}

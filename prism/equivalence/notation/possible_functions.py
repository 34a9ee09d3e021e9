r"""Letters that may be functions: `E[X^2]` is a mean, `A[1 - x]` a product, and nothing in either tells which.

Both are read as products, and `u^{-1}(x)` as a quotient. Where a letter stands in this way only, in both formulas, it
may be a function as well, and a match has to hold for that reading too; one that has two different arguments in one
formula is a function (semantics X.2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from prism.algebra.expr import MAY_CALL, Expr, Formula, plain_parts, symbols_of, walk
from prism.algebra.symbols import symbol_of
from prism.errors import LatexSyntaxError
from prism.latex.parsing.calls import ANY_LETTER
from prism.latex.parsing.parser import parse as parse_latex
from prism.physics.context import Context, Declaration, parse


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
    if not any(mark in f.latex for f in (a, b) for mark in MAY_CALL):
        return None  # as nearly all pairs: nothing is walked
    shown = [_with_square_calls(f, context) for f in (a, b)]
    found = [frozenset(_calls(called)) - _calls(f).keys() for called, f in zip(shown, (a, b), strict=True)]
    letters = frozenset(symbol_of(name).body for names in found for name in names)
    if not letters or letters & (context.symbols.keys() | context.givens.keys()):
        return None
    declared = dict.fromkeys(sorted(letters), Declaration("function"))
    known = replace(context, symbols={**context.symbols, **declared})
    one, two = _read(a, context, known), _read(b, context, known)
    if letters & (symbols_of(one) | symbols_of(two)):
        return None
    calls = [_calls(f) for f in shown]
    is_shown = all(any(len(each.get(name, ())) > 1 for each in calls) for name in letters)
    if not is_shown and any(letters & symbols_of(f) for f in shown):
        return None  # before a round bracket too, as a factor has it
    return Called(one, two, known, is_shown)


def _with_square_calls(f: Formula, context: Context) -> Formula:
    """Return a formula in which every letter is called that may be a function by its square bracket or its inverse."""
    if not any(mark in f.latex for mark in MAY_CALL):
        return f
    try:
        return parse_latex(f.latex, context.words, ANY_LETTER)
    except LatexSyntaxError:
        return f


def _read(f: Formula, context: Context, known: Context) -> Formula:
    """Return a formula as it is read in another context; as it is, if its text alone does not give it."""
    try:
        return parse(f.latex, context=known) if parse(f.latex, context=context) == f else f
    except LatexSyntaxError:
        return f


def _calls(f: Formula) -> dict[str, set[tuple[Expr, ...]]]:
    """Return the arguments of what a formula calls, by name."""
    found: dict[str, set[tuple[Expr, ...]]] = {}
    for part in plain_parts(f):
        for node in (node for member in part.members for node in walk(member) if node.op == "apply"):
            found.setdefault(node.name, set()).add(node.args)
    return found

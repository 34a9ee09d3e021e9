r"""By which variables the primes of a letter may be derivatives (semantics O.1, X.4).

A prime names no variable, so `y''` may be a derivative by any, unless its formula shows another one: `u'' = V(r)u` has
a function of r, `xy'' + y' = 0` coefficients of x alone, `\dot u = ku''` a dot for the time beside the primes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from prism.algebra.expr import Expr, Formula, nodes_with, symbol, symbols, walk
from prism.budget import charge_steps
from prism.equivalence.facts import UNNAMED
from prism.equivalence.interpretation.constructs import base_letter
from prism.latex.parsing.marks import written_marks

_OF_POLYNOMIALS = frozenset(("sym", "num", "mul", "add", "sub", "neg", "pow"))
_DERIVATIVES = ("derivative", "partial")
_MOVING = frozenset(r"x y z r s q p v \theta \phi \varphi \omega".split())
"""Letters that often are functions of the time in one formula with each other."""
_ALWAYS_VARIABLE = frozenset("xt")
_OFTEN_VARIABLE = _ALWAYS_VARIABLE | frozenset(r"y z r s \rho \theta \phi \varphi \xi".split())


def may_be_by(variable: Expr, subject: str, formulas: tuple[Formula, ...]) -> bool:
    """Return False if a formula with primes of a letter shows that these are no derivatives by a variable.

    Args:
        variable: by which one of the formulas differentiates the letter.
        subject: the letter.
        formulas: both, as they are read together.
    """
    primed = [f for f in formulas if _has_primes(f, subject)]
    if primed and variable == symbol(subject):
        return False
    is_rate = not any((symbol(subject), UNNAMED) in _derivatives(f) for f in primed)
    called = {name for f in formulas for name in _variables_of_functions(f, subject, is_rate=is_rate)}
    for f in primed:
        shown = called | _variables_of_coefficients(f, subject)
        named = {by for derived, by in _derivatives(f) if derived == symbol(subject) and by != UNNAMED}
        if named:
            shown |= _letters_beside(f, subject)
            if variable in named and subject in written_marks(f.latex).dotted:
                return False
        if shown and variable.name not in shown:
            return False
    return True


def is_integrated_over(subject: Expr, formulas: tuple[Formula, ...]) -> bool:
    """Return True for a letter with primes that is integrated over somewhere, as in `dt''`: there it is a name."""
    primed = symbol(subject.name + "'")
    return any(
        node.args[1] == primed or node.args[1].args[:2] == (subject, UNNAMED)
        for f in formulas for member in f.members for node in nodes_with(member, "integral") if len(node.args) > 1
    )  # fmt: skip


def _derivatives(f: Formula) -> Iterator[tuple[Expr, Expr]]:
    """Yield what is differentiated, and by which variable, for each derivative of a formula."""
    for member in f.members:
        for node in walk(member):
            if node.op in _DERIVATIVES and len(node.args) == 2:
                yield node.args[0], node.args[1]


def _has_primes(f: Formula, subject: str) -> bool:
    """Return True for a formula with primes of a letter."""
    has_two = (symbol(subject), UNNAMED) in _derivatives(f)
    return has_two or subject + "'" in symbols(*f.members)


def _variables_of_functions(f: Formula, subject: str, *, is_rate: bool) -> set[str]:
    """Return the letters of which a formula writes functions: r of `V(r)`.

    Of letters that move all is a function of the time, so `x'' = f(z)` shows nothing; `y'' = f(x)` does. Nor does
    `E' = F(x)v`, a rate.

    Args:
        is_rate: the letter has one prime at most.
    """
    calls = {
        (node.name, node.args[0].name) for member in f.members for node in walk(member)
        if node.op == "apply" and len(node.args) == 1 and node.args[0].op == "sym"
    }  # fmt: skip
    moves = is_rate or base_letter(subject) in _MOVING
    return {
        variable for name, variable in f.depends | calls
        if variable not in (subject, ",")
        if name == subject or (
            variable in _OFTEN_VARIABLE and (not (moves and variable in _MOVING) or (subject, variable) == ("y", "x"))
        )
    }  # fmt: skip


def _letters_beside(f: Formula, subject: str) -> set[str]:
    """Return the usual variables that stand in a formula other than below `dy`, and are no functions themselves."""
    derived = {each.name for each, _ in _derivatives(f)}
    variables = {by.name for each, by in _derivatives(f) if each != symbol(subject)} - {UNNAMED.name}
    below = Counter(by.name for _, by in _derivatives(f))
    written = Counter(node.name for member in f.members for node in walk(member) if node.op == "sym")
    return ((set(written - below) & _OFTEN_VARIABLE) | variables) - derived - {subject}


# Coefficients. --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a linear differential equation: a product with one derivative of a function.

    Attributes:
        order: of the derivative; 0 for the function itself.
        above, below: the other factors, those of the denominator apart.
    """

    order: int
    above: tuple[Expr, ...]
    below: tuple[Expr, ...]


def _variables_of_coefficients(f: Formula, subject: str) -> set[str]:
    r"""Return the letters that can only be the variable of a linear differential equation, by its coefficients.

    Such is x in `\psi'' + x\psi = 0`, and what alone stands in the coefficients of two orders: the quotient of these is
    a power of the variable by its dimension, as of `xy'' + y'`. Not r in `Ly'' + ry'` or `y'' + 2ry'`, a constant.
    """
    terms = [term for member in f.members for term in _terms(member, subject, (), ())]
    most = max((term.order for term in terms), default=0)
    if most < 2:
        return set()
    moving = {each.name for each, _ in _derivatives(f)} | {subject}
    found: set[str] = set()
    if base_letter(subject) not in _MOVING:
        found |= symbols(*(factor for term in terms for factor in (*term.above, *term.below))) & _ALWAYS_VARIABLE
    highest = [term for term in terms if term.order == most]
    charge_steps(len(terms) * len(highest))
    for term in terms:
        if term.order < most:
            found = found.union(*(_only_variable(each, term) for each in highest))
    return {name for name in found - moving if not _has_primes(f, name)}


def _only_variable(higher: _Term, lower: _Term) -> frozenset[str]:
    """Return the variable that stands alone in the quotient of two coefficients, if it hardly is a constant there."""
    common = set(higher.above) & set(lower.above)
    above, other = ([each for each in term.above if each not in common] for term in (higher, lower))
    below = set(higher.below) ^ set(lower.below)
    names = symbols(*above, *other, *below)
    if len(names) != 1 or not names <= _OFTEN_VARIABLE:
        return frozenset()
    is_divided = names <= symbols(*above, *lower.below) or any(
        part.op not in _OF_POLYNOMIALS for each in other for part in walk(each)
    )
    return names if names <= _ALWAYS_VARIABLE or (is_divided and lower.order) else frozenset()


def _terms(node: Expr, subject: str, above: tuple[Expr, ...], below: tuple[Expr, ...]) -> Iterator[_Term]:
    """Yield the terms of an expression times `above` over `below`, as far as they are linear in a function."""
    if node.op in ("add", "sub", "neg"):
        for arg in node.args:
            yield from _terms(arg, subject, above, below)
        return
    over, under = _factors(node)
    held = [factor for factor in over if _holds(factor, subject)]
    if len(held) != 1 or any(_holds(factor, subject) for factor in under):
        return
    rest = (*above, *(factor for factor in over if factor is not held[0]))
    order = _order(held[0], subject)
    if order is not None:
        yield _Term(order, rest, (*below, *under))
    elif held[0].op in ("add", "sub", "neg"):
        yield from _terms(held[0], subject, rest, (*below, *under))


def _factors(node: Expr) -> tuple[list[Expr], list[Expr]]:
    """Return the factors of a product, and those that divide it."""
    if node.op not in ("mul", "div"):
        return [node], []
    over: list[Expr] = []
    under: list[Expr] = []
    for k, arg in enumerate(node.args):
        first, second = _factors(arg)
        if node.op == "div" and k:
            first, second = second, first
        over += first
        under += second
    return over, under


def _holds(node: Expr, subject: str) -> bool:
    """Return True for an expression with a function or primes of it."""
    return not symbols(node).isdisjoint((subject, subject + "'"))


def _order(node: Expr, subject: str) -> int | None:
    """Return how often a factor differentiates a function: 0 for the function itself; None for any other factor."""
    if node.op == "sym":
        return {subject: 0, subject + "'": 1}.get(node.name)
    if node.op in _DERIVATIVES and node.args[0] == symbol(subject) and node.name.isdigit():
        return int(node.name)
    return None

"""Facts about one context: what its definitions, givens and constants of nature let a formula substitute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, number, symbol, symbols, traits_of, walk
from prism.budget import free_property
from prism.equivalence.numbers.known_values import has_constant_value
from prism.physics.constants import constant_table
from prism.physics.context import Context, constant_readings, given_values, kind_of, may_be_constant
from prism.physics.quantities import resolve_units
from prism.physics.tables import Dimension

CONTEXTS_KEPT = 64  # contexts with records, of 30 kB each, in the cache of a process

_ONE_ROOT = frozenset(("positive", "angle", "constant"))  # kinds of symbol for which x^2 = a has one solution
_DOT_ORDERS = ("1", "2")  # of derivatives that are written with dots or primes
_ANY_VARIABLE = symbol("?")  # what a prime differentiates by
_NUMBER_OPS = frozenset(("num", "const", "mul", "div", "pow", "sqrt"))

Amount = tuple[Fraction, Dimension]
"""A value in coherent SI units and its dimension."""


@dataclass(frozen=True, slots=True)
class Identity:
    r"""An identity that expresses a constant of nature by others, such as `\hbar = h/2\pi`.

    Attributes:
        expr: the right side.
        names: the symbols in it.
        constant: the constant's English name.
    """

    expr: Expr
    names: frozenset[str]
    constant: str


@dataclass(frozen=True)
class ContextFacts:
    """Facts about one problem's context, each computed on first use; get the record from `facts_of_context`."""

    context: Context

    @free_property
    def definitions(self) -> Mapping[str, Expr]:
        """Map each symbol that the problem defines to its defining expression; circular definitions are left out."""
        found: dict[str, Expr] = {}
        for written in self.context.definitions:
            members = resolve_units(written.members[0]), resolve_units(written.members[1])
            sides = (members, members[::-1])
            for side, opposite in (*sides, *(without_factor(*pair) for pair in sides)):
                subject, expr = without_power(side, opposite, self.context)
                if subject.op == "sym" and subject.name not in symbols(expr) and subject.name not in found:
                    found[subject.name] = expr
                    break
        circular = {name for name in found if name in _defining_names(name, found)}
        return {name: expr for name, expr in found.items() if name not in circular}

    @free_property
    def partial_dots(self) -> Mapping[Expr, Expr]:
        r"""Map derivatives by dots and primes to partial ones where a definition says so for the first one.

        So `\dot u = \partial u/\partial t` says what `\ddot u` is, and `u' = \partial u/\partial x` what `u''` is.
        """
        found: dict[Expr, Expr] = {}
        for written in self.context.definitions:
            for dot, partial in (written.members, written.members[::-1]):
                is_dot = dot.op == "derivative" and dot.args[0].op == "sym"
                if is_dot and partial == Expr("partial", dot.args, dot.name):
                    written_by = dot.args
                elif dot.op == "sym" and partial.op == "partial" and dot.name == f"{partial.args[0].name}'":
                    written_by = (partial.args[0], _ANY_VARIABLE)
                else:
                    continue
                for order in _DOT_ORDERS:
                    found[Expr("derivative", written_by, order)] = Expr("partial", partial.args, order)
        return found

    @free_property
    def unique_amounts(self) -> Mapping[str, Amount]:
        """Map symbols with a given value to that value, if it is not 0 and no other symbol is given the same."""
        values = given_values(self.context)
        amounts = {name: (value.quantity.value, value.quantity.dimension) for name, value in values.items()}
        counts = Counter(amounts.values())
        return {name: amount for name, amount in amounts.items() if counts[amount] == 1 and amount[0]}

    @free_property
    def given_dimensions(self) -> Mapping[str, Dimension]:
        """Map symbols with a given value to its dimension."""
        return {name: value.quantity.dimension for name, value in given_values(self.context).items()}

    @free_property
    def identities(self) -> Mapping[str, tuple[Identity, ...]]:
        r"""Map letters of constants of nature to the identities that express them by others, as `\hbar = h/2\pi`.

        A letter that the problem uses for something else is left out, and so is an identity with such a letter.
        """
        found: dict[str, tuple[Identity, ...]] = {}
        for name in constant_table().by_symbol:
            if may_be_constant(self.context, name):
                identities = (
                    Identity(reading.expr, symbols(reading.expr), reading.constant)
                    for reading in constant_readings(self.context, name)
                    if reading.expr
                )
                open_ones = tuple(each for each in identities if all(map(self._means_its_constant, each.names)))
                if open_ones:
                    found[name] = open_ones
        return found

    def _means_its_constant(self, name: str) -> bool:
        r"""Return True if a symbol in an identity is its constant: `\epsilon_0` always, c if the problem has no c."""
        is_indexed = "_" in name and kind_of(self.context, name) == "positive"
        return may_be_constant(self.context, name) or name == r"\hbar" or is_indexed

    @free_property
    def constants(self) -> frozenset[str]:
        """Return the letters of constants of nature with a value, without those that the problem gives or uses."""
        letters = constant_table().by_symbol.keys() - self.context.givens.keys()
        return frozenset(name for name in letters if has_constant_value(name) and may_be_constant(self.context, name))

    @free_property
    def valued(self) -> frozenset[str]:
        """Return the symbols whose value a number may be: with a given value of their own, or constants of nature."""
        return self.constants.union(self.unique_amounts)

    @free_property
    def accounted_for(self) -> frozenset[str]:
        """Return the symbols that one can substitute: given, defined or in a definition, and letters of constants."""
        in_definitions = symbols(*self.definitions.values())
        letters = (name for name in constant_table().by_symbol if may_mean_constant(name, self.context))
        return in_definitions.union(self.context.givens, self.definitions, letters)


@lru_cache(maxsize=CONTEXTS_KEPT)
def facts_of_context(context: Context) -> ContextFacts:
    """Return the cached record of facts about a context."""
    return ContextFacts(context)


def definitions_of(context: Context) -> Mapping[str, Expr]:
    """Map each symbol that the problem defines to its defining expression; circular ones are left out."""
    return facts_of_context(context).definitions


def may_mean_constant(name: str, context: Context) -> bool:
    """Return True if a symbol is the letter of a constant with a value or identity, and not the problem's own."""
    return may_be_constant(context, name) and (
        has_constant_value(name) or any(reading.expr for reading in constant_readings(context, name))
    )


def names_with_definitions(f: Formula, context: Context) -> frozenset[str]:
    """Return the symbols of a formula, and those in the definitions of these symbols, directly or indirectly."""
    names, defined = traits_of(f).names, definitions_of(context)
    return names.union(*(_defining_names(name, defined) for name in names & defined.keys()))


def without_power(subject: Expr, opposite: Expr, context: Context) -> tuple[Expr, Expr]:
    r"""Solve `\omega_0^2 = k/m` for the symbol: return the sides `\omega_0` and `(k/m)^{1/2}`.

    Args:
        subject: the side to be freed of an integer power; only a symbol with one root, as a positive one, is.
        opposite: the other side.
        context: kinds of symbols.

    Returns:
        The new sides; `subject` and `opposite` unchanged if the rule does not apply.
    """
    if subject.op != "pow" or subject.args[0].op != "sym" or kind_of(context, subject.args[0].name) not in _ONE_ROOT:
        return subject, opposite
    power = subject.args[1].value
    if power is None or power.denominator != 1 or not power:
        return subject, opposite
    return subject.args[0], Expr("pow", (opposite, number(1 / power)))


def without_factor(subject: Expr, opposite: Expr) -> tuple[Expr, Expr]:
    r"""Move numbers to the other side: `2\gamma = R/m` gives `\gamma` and `(R/m)/2`, `1/\tau = R/m` gives `\tau`.

    Args:
        subject: the side to be freed of a sign and of numbers; other factors (`\hbar k`) are not moved.
        opposite: the other side.

    Returns:
        The new sides; `subject` and `opposite` unchanged if there is nothing to move.
    """
    if subject.op == "neg":
        return without_factor(subject.args[0], Expr("neg", (opposite,)))
    if subject.op == "mul":
        others = [arg for arg in subject.args if not _is_plain_number(arg)]
        if len(others) == 1 and len(subject.args) > 1:
            numbers = tuple(arg for arg in subject.args if arg is not others[0])
            factor = numbers[0] if len(numbers) == 1 else Expr("mul", numbers)
            return without_factor(others[0], Expr("div", (opposite, factor)))
    if subject.op == "div":
        above, below = subject.args
        if _is_plain_number(below) and not _is_plain_number(above):
            return without_factor(above, Expr("mul", (below, opposite)))
        if _is_plain_number(above) and not _is_plain_number(below):
            return without_factor(below, Expr("div", (above, opposite)))
    return subject, opposite


def _is_plain_number(node: Expr) -> bool:
    """Return True if an expression has numbers only, none of them 0, and no unit."""
    return all(inner.op in _NUMBER_OPS and inner.value != 0 for inner in walk(node))


def _defining_names(name: str, defined: Mapping[str, Expr]) -> frozenset[str]:
    """Return the symbols in a symbol's definition, and in the definitions of these, and so on.

    Args:
        name: a defined symbol.
        defined: each defined symbol with its defining expression.
    """
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for other in symbols(defined[waiting.pop()]) - seen:
            seen.add(other)
            waiting += [other] if other in defined else []
    return frozenset(seen)

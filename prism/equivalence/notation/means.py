r"""Means in angle brackets as averages over draws: `\langle x^2\rangle` as that of three values of x with weights.

What is averaged over is not known, so three values with weights of their own stand for it: what then holds of all
values, holds of means. Numbers are the same in each draw: givens, constants of nature, and letters that the reference
writes outside of its means only. All other letters in a mean are drawn, each as a difference, so that it has any sign.

Refused: to take the claim's word for what is a number, or that of a reference without means, of which a claim about
means says less. `m\langle v\rangle` for `\langle mv\rangle` holds if m is the same for all, which the problem or the
reference has to show. A bracket may be Macaulay's, so `\langle x - a\rangle` stays, and so do means of operators:
products in two orders are.
"""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, nodes_with, number, rewritten, substitute, symbol, symbols, walk
from prism.algebra.macaulay import is_mean, may_be_macaulay
from prism.algebra.noncommutative import shows_operators
from prism.budget import charge_steps

_WEIGHTS = tuple(number(Fraction(weight, 6)) for weight in (1, 2, 3))  # of the values that are drawn
_DRAWN = ("'0", "'1", "'2", "'3")  # behind the names of what a letter's values are made of
_STEPS = 2  # of Python for a node
_CONSTANTS = frozenset((r"\hbar", "k_B", r"\epsilon_0", r"\mu_0"))


def with_means_of_draws(a: Formula, b: Formula, known: Set[str]) -> tuple[Formula, Formula] | None:
    r"""Return a reference and a claim with averages in place of means; None if none can be taken apart.

    Args:
        known: letters that are numbers, as givens are.

    >>> from prism.latex import parse
    >>> one = parse(r"E = \langle 2T\rangle")
    >>> print(with_means_of_draws(one, one, set())[0])
    E = (1/6)*(2*(T'1 - T'0)) + (1/3)*(2*(T'2 - T'0)) + (1/2)*(2*(T'3 - T'0))
    """
    means = [node for f in (a, b) for member in f.members for node in nodes_with(member, "bracket")]
    if not means or not all(map(is_mean, means)) or shows_operators(a) or shows_operators(b) or _show_an_order(means):
        return None
    charge_steps(_STEPS * sum(member.size for f in (a, b) for member in f.members))
    within = symbols(*(node for member in a.members for node in nodes_with(member, "bracket")))
    numbers = known | _CONSTANTS | (symbols(*a.members) - within if within else frozenset())
    if not any(_may_be_taken_apart(mean.args[0], numbers) for mean in means):
        return None
    one, two = (rewritten(f, lambda node: _average(node, numbers)) for f in (a, b))
    return one, two


def _average(node: Expr, numbers: Set[str]) -> Expr:
    """Return the average in place of a mean; any other node as it is."""
    if not is_mean(node) or may_be_macaulay(node):
        return node
    drawn = [name for name in symbols(node.args[0]) - numbers if not name.endswith(_DRAWN)]
    terms = []
    for place, weight in zip(_DRAWN[1:], _WEIGHTS, strict=True):
        values = {symbol(name): Expr("sub", (symbol(name + place), symbol(name + _DRAWN[0]))) for name in drawn}
        terms.append(Expr("mul", (weight, substitute(node.args[0], values))))
    return Expr("add", tuple(terms))


def _may_be_taken_apart(node: Expr, numbers: Set[str]) -> bool:
    """Return True for a sum, a quotient, a mean, or a product with a number, in any part of what is averaged."""
    return any(
        part.op in ("add", "sub", "neg", "div", "bracket")
        or (part.op == "mul" and any(arg.op in ("num", "const") or arg.name in numbers for arg in part.args))
        for part in walk(node)
    )


def _show_an_order(means: list[Expr]) -> bool:
    """Return True if two products in means have the same factors in another order: `xp - px` speaks of operators."""
    orders: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for product in (product for mean in means for product in nodes_with(mean, "mul")):
        factors = tuple([str(arg) for arg in product.args if arg.op != "num"])
        orders.setdefault(tuple(sorted(factors)), set()).add(factors)
    return any(len(each) > 1 for each in orders.values())

r"""Means in angle brackets, taken apart: `\langle T + 2V\rangle` as `\langle T\rangle + 2\langle V\rangle`.

Whatever is averaged over, a mean of a sum is the sum of the means, a number stands before the bracket, and a mean is a
number. Factors keep their order, so that this holds of operators too. Numbers are literals, constants of nature,
givens, means, and letters that the reference writes outside of its means only.

Refused: to take the claim's word for what is a number, or that of a reference without means, of which a claim about
means says less. `m\langle v\rangle` for `\langle mv\rangle` holds if m is the same for all, which the problem or the
reference has to show. A bracket may be Macaulay's, so `\langle x - a\rangle` stays, and so does one with products in
two orders, which are of operators.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from prism.algebra.expr import Expr, Formula, canonical, nodes_with, number, rewritten, symbols, with_args
from prism.algebra.macaulay import is_mean, may_be_macaulay
from prism.budget import charge_steps

MOST_TERMS = 32  # of one mean; a longer one stays as it is written
_MOST_POWER = 4  # of a sum that is multiplied out
_STEPS = 2  # of Python for a node
_CONSTANTS = frozenset((r"\hbar", "k_B", r"\epsilon_0", r"\mu_0"))
_ONE = number(1)

_Factors = tuple[Expr, ...]
_Term = tuple[_Factors, _Factors]  # what stands before the bracket, and in it


class _Stays(Exception):
    """Raised for a mean that is not taken apart."""


def means_of(f: Formula) -> frozenset[str]:
    """Return the means of a formula in canonical form: where two formulas have others, they say different things."""
    return frozenset(canonical(node) for member in f.members for node in nodes_with(member, "bracket") if is_mean(node))


def with_means_apart(a: Formula, b: Formula, known: Set[str]) -> tuple[Formula, Formula]:
    r"""Return a reference and a claim with their means taken apart as far as numbers are known; others unchanged.

    Args:
        known: letters that are numbers, as givens are.

    >>> from prism.latex import parse
    >>> one = parse(r"E = \langle T + 2V\rangle")
    >>> print(with_means_apart(one, one, set())[0])
    E = bracket[mean](T) + 2*bracket[mean](V)
    """
    numbers = known | _CONSTANTS | _outside_of_means(a)
    return _apart(a, numbers), _apart(b, numbers)


def _outside_of_means(f: Formula) -> frozenset[str]:
    """Return the letters that a formula with means has outside of them only."""
    within = symbols(*(node for member in f.members for node in nodes_with(member, "bracket")))
    return symbols(*f.members) - within if within else frozenset()


def _apart(f: Formula, numbers: Set[str]) -> Formula:
    """Return a formula with its means taken apart."""
    return rewritten(f, lambda node: _mean_apart(node, numbers))


def _mean_apart(node: Expr, numbers: Set[str]) -> Expr:
    """Return a mean taken apart; any other node as it is."""
    if not is_mean(node) or may_be_macaulay(node):
        return node
    try:
        terms = _terms(node.args[0], numbers)
    except _Stays:
        return node
    parts = [_product((*outer, with_args(node, (_product(inner),))) if inner else outer) for outer, inner in terms]
    return parts[0] if len(parts) == 1 else Expr("add", tuple(parts))


def _product(factors: _Factors) -> Expr:
    """Return a product of any number of factors."""
    return factors[0] if len(factors) == 1 else Expr("mul", factors) if factors else _ONE


def _terms(node: Expr, numbers: Set[str]) -> list[_Term]:
    """Return the terms of what is averaged, multiplied out, each with what stands before the bracket and in it.

    Raises:
        _Stays: there are too many, or their order counts.
    """
    charge_steps(_STEPS)
    if is_mean(node) or _is_number(node, numbers):
        return [((node,), ())]
    match node.op:
        case "add" | "sub":
            if _show_an_order(node.args):
                raise _Stays
            found = [_terms(arg, numbers) for arg in node.args]
            if node.op == "sub":
                found[1:] = [[((number(-1), *outer), inner) for outer, inner in each] for each in found[1:]]
            terms = [term for each in found for term in each]
        case "neg":
            terms = [((number(-1), *outer), inner) for outer, inner in _terms(node.args[0], numbers)]
        case "mul":
            terms = _multiplied([_terms(arg, numbers) for arg in node.args])
        case "div":
            below = node.args[1]
            inverse = Expr("div", (_ONE, below))
            lower: _Term = ((inverse,), ()) if _is_constant(below, numbers) else ((), (inverse,))
            terms = _multiplied([_terms(node.args[0], numbers), [lower]])
        case "pow" if (times := _times(node)) and node.args[0].op != "sym":
            terms = _multiplied([_terms(node.args[0], numbers)] * times)
        case _:
            terms = [((node,), ())] if _is_constant(node, numbers) else [((), (node,))]
    if len(terms) > MOST_TERMS:
        raise _Stays
    return terms


def _times(power: Expr) -> int:
    """Return how often a base is multiplied by itself; 0 for a power that is not multiplied out."""
    exponent = power.args[1].value
    is_small = exponent is not None and exponent.denominator == 1 and 2 <= exponent <= _MOST_POWER
    return int(exponent) if is_small and exponent is not None else 0


def _multiplied(factors: list[list[_Term]]) -> list[_Term]:
    """Return the terms of a product of sums, factors in their order."""
    terms: list[_Term] = [((), ())]
    for factor in factors:
        terms = [((*outer, *o), (*inner, *i)) for outer, inner in terms for o, i in factor]
        if len(terms) > MOST_TERMS:
            raise _Stays
    return terms


def _is_number(node: Expr, numbers: Set[str]) -> bool:
    """Return True for a literal, a mathematical constant, or a letter that is a number."""
    return node.op in ("num", "const") or (node.op == "sym" and node.name in numbers)


def _is_constant(node: Expr, numbers: Set[str]) -> bool:
    """Return True for an expression of numbers and means only."""
    if is_mean(node) or _is_number(node, numbers):
        return True
    return node.op in ("add", "sub", "neg", "mul", "div", "pow", "sqrt") and all(
        _is_constant(arg, numbers) for arg in node.args
    )


def _show_an_order(terms: Sequence[Expr]) -> bool:
    """Return True if two products of a sum have the same factors in another order: `xp - px` speaks of operators."""
    orders: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for written in terms:
        term = written.args[0] if written.op == "neg" else written
        if term.op == "mul":
            factors = tuple(canonical(arg) for arg in term.args if arg.op != "num")
            orders.setdefault(tuple(sorted(factors)), set()).add(factors)
    return any(len(each) > 1 for each in orders.values())

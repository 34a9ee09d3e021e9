r"""Operators and states, for which the order of a product counts: their normal form.

Hats, adjoints, Pauli and Dirac matrices and the operands of a commutator do not commute. Products are multiplied out
and commutators written out, so that a formula becomes a sum of words of operators, each with a coefficient. A word is
one opaque atom; what the coefficients have to say is decided as usual.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from prism.expr import Expr, Formula, number, traits_of, walk

FORMULAS_KEPT = 4096  # formulas remembered in a process
MAX_TERMS = 64  # of a product that is multiplied out
_MAX_POWER = 6

_OPERATOR = re.compile(r"\\hat\{|\^\{\\dagger\}|^\\gamma\^\{")  # hats, adjoints, Dirac matrices
_PAULI = re.compile(r"^\\sigma_\{?[xyz+-]\}?$")  # also stresses: operators only where something else says so
_SCALARS_OF_OPERATORS = ("abs", "bracket")  # a mean or a matrix element of operators is a number
_OF_OPERATORS = frozenset(("commutator", "tensor", "bracket"))
_WORD = "ordered product"
_NONE: frozenset[str] = frozenset()

_Term = tuple[tuple[Expr, ...], tuple[Expr, ...]]  # coefficient as factors, word


@lru_cache(maxsize=FORMULAS_KEPT)
def with_ordered_products(f: Formula) -> Formula:
    """The formula with each product of operators or states as one opaque atom, multiplied out."""
    names = traits_of(f).names
    marked = any(_OPERATOR.search(name) or _PAULI.match(name) for name in names)
    if not marked and _OF_OPERATORS.isdisjoint(traits_of(f).ops):
        return f  # nothing to see, as in most formulas
    # a letter is an operator where its adjoint is beside it
    operators = {name for name in names if _OPERATOR.search(name) or name + r"^{\dagger}" in names}
    nodes = [node for member in f.members for node in walk(member)]
    operators |= {arg.name for node in nodes if node.op == "commutator" for arg in node.args if arg.op == "sym"}
    if any(name.startswith(r"\vec{") for name in names):
        operators = {name for name in operators if not name.startswith(r"\hat{")}  # directions
    if operators or "i" in names or any(_is_operator(node, _NONE) for node in nodes):
        operators |= {name for name in names if _PAULI.match(name)}
    known = frozenset(operators)
    if not any(_is_operator(node, known) for node in nodes):
        return f
    return replace(f, members=tuple(_ordered(member, known) for member in f.members))


def _is_operator(node: Expr, operators: frozenset[str]) -> bool:
    """Whether this node itself is an operator or a state."""
    if node.op == "sym":
        return node.name in operators
    return node.op == "tensor" or (node.op == "bracket" and node.name in ("ket", "bra"))


def _ordered(member: Expr, operators: frozenset[str]) -> Expr:
    """A side as the sum of its words; as it stands where multiplying out takes too many terms."""
    terms = _terms(member, operators)
    if terms is None or all(len(word) < 2 for _, word in terms):
        return member
    parts = []
    for factors, word in terms:
        atom = (word[0],) if len(word) == 1 else (Expr("opaque", word, name=_WORD),) if word else ()
        whole = (*factors, *atom)
        parts.append(whole[0] if len(whole) == 1 else Expr("mul", whole) if whole else number(1))
    return parts[0] if len(parts) == 1 else Expr("add", tuple(parts))


def _terms(node: Expr, operators: frozenset[str]) -> list[_Term] | None:
    """An expression as a sum of words; None where it has too many."""
    if _is_operator(node, operators):
        return [((), (node,))]
    if node.op in _SCALARS_OF_OPERATORS or not any(_is_operator(inner, operators) for inner in walk(node)):
        return [((node,), ())]
    if node.op in ("add", "sub", "neg"):
        total: list[_Term] = []
        for position, arg in enumerate(node.args):
            terms = _terms(arg, operators)
            if terms is None:
                return None
            total += terms if node.op == "add" or (node.op == "sub" and not position) else _negated(terms)
        return total
    if node.op == "mul":
        return _multiplied([_terms(arg, operators) for arg in node.args])
    if node.op == "commutator":
        a, b = (_terms(arg, operators) for arg in node.args)
        forward, backward = _multiplied([a, b]), _multiplied([b, a])
        return None if forward is None or backward is None else forward + _negated(backward)
    if node.op == "div" and not any(_is_operator(inner, operators) for inner in walk(node.args[1])):
        inverse: list[_Term] = [((Expr("div", (number(1), node.args[1])),), ())]
        return _multiplied([inverse, _terms(node.args[0], operators)])
    exponent = node.args[1].value if node.op == "pow" else None
    if exponent is not None and exponent.denominator == 1 and 1 <= exponent <= _MAX_POWER:
        return _multiplied([_terms(node.args[0], operators)] * int(exponent))
    return [((), (node,))]


def _negated(terms: list[_Term]) -> list[_Term]:
    return [((number(-1), *factors), word) for factors, word in terms]


def _multiplied(factors: list[list[_Term] | None]) -> list[_Term] | None:
    product: list[_Term] = [((), ())]
    for terms in factors:
        if terms is None or len(product) * len(terms) > MAX_TERMS:
            return None
        product = [((*one, *two), (*left, *right)) for one, left in product for two, right in terms]
    return product

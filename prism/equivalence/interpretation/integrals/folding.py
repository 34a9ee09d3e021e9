r"""Integrands before quadrature: what does not depend on the variable is put outside, or worked out once.

`(r \sin\theta)^2 r^2` falls into factors of r and of theta, and `e^{-a(x^2 + y^2)}` into one of x and one of y: so a
multiple integral often costs as much as its one-dimensional parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from prism.algebra.expr import Expr, is_infinite, symbol
from prism.algebra.terms import number_of
from prism.equivalence.interpretation.functions import RULES
from prism.equivalence.interpretation.values import Value

if TYPE_CHECKING:
    from prism.equivalence.interpretation.evaluation import Evaluator
    from prism.equivalence.interpretation.letters import Scope

_ONE, _MINUS_ONE = (Expr("num", name=str(k), value=Fraction(k)) for k in (1, -1))
_OPENED = frozenset(("add", "sub", "neg", "mul", "div", "pow", "dot", *RULES))
_LITERAL = frozenset(("num", "const", "infinity"))
_MOST_EXPONENT_TERMS = 8


def factors_of(evaluator: Evaluator, node: Expr, name: str) -> Iterator[Expr]:
    """Yield the factors of an integrand over `name`: of its products, quotients, powers and exponentials of sums."""
    if node.op == "mul":
        for arg in node.args:
            yield from factors_of(evaluator, arg, name)
    elif node.op == "div":
        yield from factors_of(evaluator, node.args[0], name)
        for factor in factors_of(evaluator, node.args[1], name):
            if factor != _ONE:
                yield Expr("div", (_ONE, factor))
    elif node.op == "neg" and node.args[0].op in ("mul", "div", "exp", "pow"):
        yield _MINUS_ONE
        yield from factors_of(evaluator, node.args[0], name)
    elif node.op == "pow" and node.args[0].op in ("mul", "div") and _is_whole(node):
        for factor in factors_of(evaluator, node.args[0], name):
            yield Expr("pow", (factor, node.args[1]))
    elif node.op == "exp" and (parts := _exponents(evaluator, node.args[0], name)) is not None:
        yield from (Expr("exp", (part,)) for part in parts)
    else:
        yield node


def _is_whole(power: Expr) -> bool:
    """Return True for a power with a whole exponent that is written out."""
    exponent = number_of(power.args[1])
    return exponent is not None and exponent.denominator == 1


def _exponents(evaluator: Evaluator, exponent: Expr, name: str) -> tuple[Expr, Expr] | None:
    """Return the part of an exponent without a variable and the part with it; None if one of them is nothing."""
    terms = list(_expanded(exponent))
    if not 1 < len(terms) <= _MOST_EXPONENT_TERMS:
        return None
    inside = [term for term in terms if evaluator.depends(term, name)]
    outside = [term for term in terms if term not in inside]
    if not inside or not outside:
        return None
    one, two = (parts[0] if len(parts) == 1 else Expr("add", tuple(parts)) for parts in (outside, inside))
    return one, two


def _expanded(node: Expr) -> Iterator[Expr]:
    """Yield the terms of a sum, of its multiples too."""
    if node.op == "add":
        for arg in node.args:
            yield from _expanded(arg)
    elif node.op in ("sub", "neg"):
        kept, taken = (node.args[:1], node.args[1:]) if node.op == "sub" else ((), node.args)
        for arg in kept:
            yield from _expanded(arg)
        for arg in taken:
            yield from (Expr("mul", (_MINUS_ONE, term)) for term in _expanded(arg))
    elif node.op == "div" and (terms := list(_expanded(node.args[0]))) and len(terms) > 1:
        yield from (Expr("div", (term, node.args[1])) for term in terms)
    elif node.op == "mul" and len(sums := [k for k, arg in enumerate(node.args) if arg.op in ("add", "sub")]) == 1:
        before, inner, behind = node.args[: sums[0]], node.args[sums[0]], node.args[sums[0] + 1 :]
        yield from (Expr("mul", (*before, term, *behind)) for term in _expanded(inner))
    else:
        yield node


def folded(evaluator: Evaluator, node: Expr, names: frozenset[str], scope: Scope) -> tuple[Expr, Scope]:
    """Return an integrand in which what depends on no bound variable is one letter, and the scope with its value.

    Args:
        names: variables that are integrated over.
    """
    signature = evaluator.signature
    if signature.tensors or signature.operators or signature.matrices or scope.indices or scope.slopes:
        return node, scope
    found: dict[str, Value] = {}

    def fold(part: Expr, bound: frozenset[str]) -> Expr:
        """Return a part of the integrand with its constants folded."""
        if part.op in _LITERAL or part.name.startswith("#") or is_infinite(part):
            return part
        if (part.op == "sym" or part.op in _OPENED) and not any(evaluator.depends(part, each) for each in bound):
            letter = f"#c{evaluator.new_tag()}"
            found[letter] = evaluator.value(part, scope)
            return symbol(letter)
        if part.op == "integral" and len(part.args) == 4 and part.args[1].op == "sym":
            inner = fold(part.args[0], bound | {part.args[1].name})
            return Expr("integral", (inner, part.args[1], *(fold(each, bound) for each in part.args[2:])), part.name)
        if part.op not in _OPENED:
            return part
        args = tuple(fold(arg, bound) for arg in part.args)
        return part if args == part.args else Expr(part.op, args, part.name, part.value)

    node = fold(node, names)
    for letter, value in found.items():
        scope = scope.with_value(letter, value)
    return node, scope

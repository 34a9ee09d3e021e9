r"""Partial derivatives at constant other quantities: `(\partial S/\partial V)_T`, and Jacobians of several quantities.

All quantities of state are random functions of a point of a space of states, which has one dimension more than
quantities are held. There a derivative at constant others is a quotient of two Jacobians, whichever quantities are
the variables: so `(\partial p/\partial V)_T (\partial V/\partial T)_p (\partial T/\partial p)_V = -1` holds for every
draw, and `(\partial S/\partial V)_T` is not `(\partial S/\partial V)_p`. No law of thermodynamics holds for a draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb

from prism.algebra.expr import Expr, Formula, canonical, symbol, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.equivalence.interpretation.names import is_jacobian
from prism.equivalence.interpretation.values import (
    UNNAMED,
    Dual,
    Scalar,
    Table,
    Unvalued,
    determinant,
    plain,
    scalar,
    slope_of,
)

if TYPE_CHECKING:
    from prism.equivalence.interpretation.evaluation import Evaluator
    from prism.equivalence.interpretation.letters import Scope

_OF_STATE = frozenset((
    *"ABDEFGHJLMPQSTUVWXZfhpsuvz", r"\mu",
    r"\rho", r"\beta", r"\Omega", r"\Phi", r"\Psi", r"\sigma", r"\epsilon", r"\tau",
))  # fmt: skip
_MOST_HELD = 3  # quantities


@dataclass(frozen=True)
class States:
    """The quantities of state of two formulas.

    Attributes:
        names: their letters.
        variables: names of the coordinates of a point of the space of states.
    """

    names: frozenset[str]
    variables: tuple[str, ...]


def is_held(node: Expr) -> bool:
    """Return True for a derivative at constant others, or a Jacobian."""
    return (node.op == "at" and node.name == "held") or is_jacobian(node)


def states_of(nodes: Iterable[Expr]) -> States | None:
    """Return the quantities of state of formulas with derivatives at constant others; None without such.

    Errors:
        Unvalued: not as many quantities are held everywhere.
    """
    found = [node for node in nodes if is_held(node)]
    if not found:
        return None
    names: set[str] = set()
    counts: set[int] = set()
    for node in found:
        if is_jacobian(node):
            above, below = (arg.args for arg in node.args)
            counts.add(len(below))
            parts: tuple[Expr, ...] = above
            variables = symbols(*below)
        else:
            held = held_names(node)
            counts.add(len(held) + 1)
            parts = node.args[0].args[:1]
            variables = symbols(*node.args[0].args[1:]) | set(held)
        names |= variables
        for part in parts:
            inside = symbols(part)
            names |= inside if len(inside) == 1 else {name for name in inside if symbol_of(name).letter in _OF_STATE}
    if len(counts) != 1 or max(counts) > _MOST_HELD + 1:
        raise Unvalued("derivatives with unlike numbers of held quantities")
    return States(frozenset(names), tuple(f"#u{k}" for k in range(max(counts))))


def held_names(node: Expr) -> tuple[str, ...]:
    """Return the names of the quantities that a derivative holds: T and N of `T,N`."""
    return tuple(node.args[1].name.split(","))


def held_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Scalar:
    """Return a derivative at constant others, of any order.

    Raises Unvalued for an order that is too high, and where what is held cannot be read.
    """
    derivative = node.args[0]
    if derivative.op not in ("partial", "derivative") or evaluator.signature.states_space is None:
        raise Unvalued("what is held")
    operand, *variables = derivative.args
    if not derivative.name.isdigit() or int(derivative.name) > 3:
        raise Unvalued("a derivative of this order")
    order = int(derivative.name)
    steps = variables * order if len(variables) == 1 else variables
    if len(steps) != order or (len(variables) > 1 and set(map(canonical, variables)) & set(held_names(node))):
        raise Unvalued("a derivative of this order")
    return _differentiated(evaluator, operand, steps, tuple(map(symbol, held_names(node))), scope)


def _differentiated(
    evaluator: Evaluator, operand: Expr, steps: list[Expr], held: tuple[Expr, ...], scope: Scope
) -> Scalar:
    """Return an operand differentiated by one variable or several in turn."""
    if not steps:
        return evaluator.number(operand, scope)

    inner = operand
    if len(steps) > 1:
        rest = Expr("partial", (operand, *steps[1:]), str(len(steps) - 1))
        inner = Expr("at", (rest, symbol(",".join(each.name for each in held))), "held")
    return _ratio(_jacobian(evaluator, (inner, *held), scope), _jacobian(evaluator, (steps[0], *held), scope))


def jacobian_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Scalar:
    """Return the Jacobian of quantities with respect to as many others; raises Unvalued unless they are as many."""
    if evaluator.signature.states_space is None or len({len(arg.args) for arg in node.args}) != 1:
        raise Unvalued("a Jacobian")
    above, below = (_jacobian(evaluator, arg.args, scope) for arg in node.args)
    return _ratio(above, below)


def _ratio(above: Scalar, below: Scalar) -> Scalar:
    """Return the quotient of two Jacobians; raises Unvalued where the lower one is 0."""
    if plain(below).contains(0):
        raise Unvalued("a variable that does not vary")
    return above / below


def _jacobian(evaluator: Evaluator, quantities: tuple[Expr, ...], scope: Scope) -> Scalar:
    """Return the determinant of the derivatives of quantities by the coordinates of the space of states.

    Raises Unvalued if they are not as many.
    """
    assert evaluator.signature.states_space is not None
    names = evaluator.signature.states_space.variables
    size = len(names)
    if len(quantities) != size:
        raise Unvalued("derivatives with unlike numbers of held quantities")
    return determinant(
        Table(size, size, tuple(_slope(evaluator, q, name, scope) for q in quantities for name in names))
    )


def _slope(evaluator: Evaluator, quantity: Expr, name: str, scope: Scope) -> Scalar:
    """Return the derivative of a quantity by a coordinate; kept where it depends on nothing that is solved for."""
    draw = evaluator.draw
    key = quantity, symbol(name)
    is_kept = not scope.values and not scope.slopes and symbols(quantity).isdisjoint((*draw.fixed, *draw.shifts))
    evaluator.met.add(name)
    if is_kept and key in draw.integrals:
        evaluator.met.add(UNNAMED)
        return scalar(draw.integrals[key])
    tag = evaluator.new_tag()
    start = scope.values.get(name)
    place = draw.number_of(name, "positive") if start is None else scalar(start)
    found = slope_of(evaluator.number(quantity, scope.with_value(name, Dual(place, acb(1), tag))), tag)
    if is_kept:
        draw.integrals[key] = found
    return found


# Which derivatives two formulas are about. --------------------------------------------------------------------------


def may_be_compared(a: Formula, b: Formula) -> bool:
    r"""Return True unless two relations between quantities of state are about different derivatives.

    All Maxwell relations follow from each other, and none is another one. A derivative is named by its quantities
    alone, since `(\partial p/\partial T)_V` follows from the two others of p, V and T. True too where no quantities of
    state are found, and where a member of the first is a letter of its own, which the relation defines.
    """
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    states = states_of(nodes)
    if states is None:
        return True
    outside = symbols(*a.members) - states.names
    if any(member.op == "sym" and member.name in outside for member in a.members):
        return True
    return _quantities_of(a, states) == _quantities_of(b, states)


def relate_same_derivatives(a: Formula, b: Formula) -> bool:
    """Return True if two identities are about the same derivatives, up to their inverses, and neither is `x = x`.

    So the product of three that is -1 says the same as one of them solved for.
    """
    found = [set(_derivatives(f)) for f in (a, b)]
    says_something = all(canonical(f.members[0]) != canonical(f.members[-1]) for f in (a, b))
    return bool(found[0]) and found[0] == found[1] and says_something


def _derivatives(f: Formula) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield for each derivative at constant others what is differentiated and the variable, and what is held."""
    for node in (node for member in f.members for node in walk(member)):
        if node.op == "at" and node.name == "held":
            yield frozenset(map(canonical, node.args[0].args)), frozenset(held_names(node))


def _quantities_of(f: Formula, states: States) -> set[frozenset[str]]:
    """Return the quantities of each derivative of a formula."""
    return {found for member in f.members for found in _quantities(member, states)}


def _quantities(node: Expr, states: States) -> Iterator[frozenset[str]]:
    """Yield the quantities of each outermost derivative in an expression."""
    if is_jacobian(node):
        yield symbols(*(part for arg in node.args for part in arg.args))
    elif is_held(node):
        yield (symbols(node.args[0]) & states.names) | set(held_names(node))
    else:
        for arg in node.args:
            yield from _quantities(arg, states)

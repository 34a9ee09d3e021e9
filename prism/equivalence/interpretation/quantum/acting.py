r"""Open derivatives in brackets, and brackets with limits, as derivatives and values.

`(\partial_t - c\partial_x)(\partial_t + c\partial_x)u` is what the brackets make of u, from the right to the left;
`[x\dot x]_{t_1}^{t_2}` is the difference of two values, in the variable of the integral of these limits, or of the
letter that both limits have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prism.algebra.expr import Expr, Formula, rewritten, symbol, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.algebra.terms import number_of
from prism.equivalence.interpretation.names import FLOWS, MATERIAL
from prism.equivalence.interpretation.values import Unvalued

_MOST_ACTING = 64  # derivatives that brackets may make of one operand
_OPEN = {  # names of such derivatives, with the operator and the order
    f"{op}{order}": (op, order or "1") for op in ("partial", "derivative", "nabla") for order in ("", *"23456789")
}
_OF_SUMS = frozenset(("add", "sub", "neg"))


def with_material_derivatives(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    r"""Return two formulas with `\frac{D\rho}{Dt}` written out, if one vector of a flow, v or u, stands in them."""
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    flows = {node for node in nodes if node.op == "sym" and symbol_of(node.name).is_vector
             and symbol_of(node.name).base in FLOWS}  # fmt: skip
    if len(flows) != 1 or not any(node.op == "derivative" and node.name == MATERIAL for node in nodes):
        return a, b
    convection = Expr("dot", (*flows, Expr("opaque", name="nabla")))

    def written_out(node: Expr) -> Expr:
        """Return the sum that a material derivative is; any other node as it is."""
        if node.op != "derivative" or node.name != MATERIAL:
            return node
        return Expr("add", (Expr("partial", node.args, "1"), Expr("mul", (convection, node.args[0]))))

    return rewritten(a, written_out), rewritten(b, written_out)


def is_open(node: Expr) -> bool:
    """Return True for an expression with a derivative that has no operand yet."""
    return (node.op == "opaque" and node.name in _OPEN and node.name != "nabla") or (
        node.op in (*_OF_SUMS, "mul", "div", "pow") and any(map(is_open, node.args))
    )


def with_operators_applied(f: Formula) -> Formula:
    """Return a formula whose open derivatives have acted on what stands behind them."""
    if not any(is_open(node) for member in f.members for node in walk(member) if node.op == "opaque"):
        return f
    return rewritten(f, _applied)


def _applied(node: Expr) -> Expr:
    """Return a product whose open derivatives have acted; any other node as it is."""
    if node.op != "mul" or not any(map(is_open, node.args)) or is_open(node.args[-1]):
        return node
    *others, found = node.args
    for factor in reversed(others):
        found = _on(factor, found)
    return found


def _on(factor: Expr, operand: Expr, depth: int = 0) -> Expr:
    """Return what a factor makes of an operand: a multiple of it, or a derivative.

    Raises Unvalued for too many steps, and for a power that is no small whole number.
    """
    if depth > _MOST_ACTING:
        raise Unvalued("an operator of too many steps")
    if not is_open(factor):
        return Expr("mul", (factor, operand))
    if factor.op == "opaque":
        return _derivative(factor, operand)
    if factor.op in _OF_SUMS:
        return Expr(factor.op, tuple(_on(arg, operand, depth + 1) for arg in factor.args))
    if factor.op == "mul":
        for part in reversed(factor.args):
            operand = _on(part, operand, depth + 1)
        return operand
    if factor.op == "div" and not is_open(factor.args[1]):
        return Expr("div", (_on(factor.args[0], operand, depth + 1), factor.args[1]))
    order = number_of(factor.args[1]) if factor.op == "pow" else None
    if order is None or order not in (1, 2, 3):
        raise Unvalued("a power of an operator")
    for _ in range(int(order)):
        operand = _on(factor.args[0], operand, depth + 1)
    return operand


def _derivative(opened: Expr, operand: Expr) -> Expr:
    """Return an open derivative, or an open Laplacian, of an operand; raises Unvalued for another kind of operator."""
    op, order = _OPEN[opened.name]
    if op == "nabla":
        return Expr("nabla", (operand,), "laplace")
    if len(opened.args) != 1 or opened.args[0].op != "sym":
        raise Unvalued("an operator of this kind")
    return Expr(op, (operand, *opened.args), order)


def with_values_at_limits(f: Formula, formulas: Iterable[Formula]) -> Formula:
    """Return a formula in which a bracket with limits is the difference of two values.

    Args:
        f: formula.
        formulas: both formulas of a pair, whose integrals say what varies.
    """
    if not any(node.op == "at" and node.name == "limits" for member in f.members for node in walk(member)):
        return f
    nodes = [node for each in formulas for member in each.members for node in walk(member)]
    variables: dict[tuple[Expr, ...], str] = {
        node.args[2:]: node.args[1].name for node in nodes
        if node.op == "integral" and len(node.args) == 4 and node.args[1].op == "sym"
    }  # fmt: skip
    return rewritten(f, lambda node: _with_differences(node, variables))


def _with_differences(node: Expr, variables: Mapping[tuple[Expr, ...], str]) -> Expr:
    """Return a difference in place of a bracket with limits; any other node as it is."""
    if node.op != "at" or node.name != "limits" or len(node.args) != 3:
        return node
    variable = symbol(variables.get(node.args[1:]) or _variable_between(*node.args))
    low, high = (Expr("at", (node.args[0], variable, limit), "point") for limit in node.args[1:])
    return Expr("sub", (high, low))


def _variable_between(inside: Expr, low: Expr, high: Expr) -> str:
    """Return what varies between two limits without an integral: t of t_1 and t_2, or the only letter inside.

    Raises Unvalued if it is not named.
    """
    bases = {symbol_of(name).head for limit in (low, high) for name in symbols(limit)}
    if len(bases) == 1 and (bases & symbols(inside)):
        return bases.pop()
    letters = symbols(inside)
    if len(letters) != 1:
        raise Unvalued("a bracket of what varies is not named")
    return next(iter(letters))

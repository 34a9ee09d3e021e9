r"""Material derivatives by their terms, and brackets with limits as values.

`[x\dot x]_{t_1}^{t_2}` is the difference of two values, in the variable of the integral of these limits, or of the
letter that both limits have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prism.algebra.expr import Expr, Formula, rewritten, symbol, symbols, walk
from prism.algebra.symbols import symbol_of
from prism.equivalence.interpretation.names import FLOWS, MATERIAL
from prism.equivalence.interpretation.values import Unvalued


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

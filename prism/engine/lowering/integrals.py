"""Definite integrals: powers exactly, delta functions, the rest by double-exponential quadrature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from prism.algebra.expr import Expr, is_infinite, number, ops_of, symbol, symbols, walk
from prism.engine.lowering.arithmetic import (
    NoValue,
    Pair,
    Scope,
    Table,
    Value,
    apply_binary,
    apply_to_pair,
    apply_unary,
    combine_pairs,
    real_pair,
    sum_instructions,
)
from prism.engine.lowering.functions import is_known_function
from prism.engine.lowering.scalars import ONE, lower_node, lower_number, lower_real
from prism.engine.tape import MAX_IMMEDIATE, Word

TRIGONOMETRIC = frozenset(("sin", "cos", "tan"))

_KINKED = frozenset(("abs", "floor", "ceiling", "cases", "modulo"))

_DELTA = r"\delta"

# The double-exponential rule: its step, and how many steps it goes to each side. An infinite range has no scale of
# its own, and needs the finer step.
STEPS = {"finite": (0.1, 37), "half": (0.05, 80), "whole": (0.05, 80)}


def _quadrature_nodes(kind: str) -> list[tuple[float, float, float]]:
    """Return the nodes of the double-exponential rule: (position, distance to the upper end or 0 if infinite, weight).

    kind: `finite` on (0, 1), `half` on (0, inf), `whole` on (-inf, inf). Source: Takahasi and Mori 1974.
    """
    found = []
    step, reach = STEPS[kind]
    for k in range(-reach, reach + 1):
        t = step * k
        u, du = math.pi / 2 * math.sinh(t), math.pi / 2 * math.cosh(t)
        if kind == "finite":
            near, far = 1.0 / (1.0 + math.exp(-2.0 * u)), 1.0 / (1.0 + math.exp(2.0 * u))
            found.append((near, far, 2.0 * du * near * far * step))
        elif kind == "half":
            found.append((math.exp(u), 0.0, du * math.exp(u) * step))
        else:
            found.append((math.sinh(u), 0.0, du * math.cosh(u) * step))
    return found


def lower_integral(node: Expr, scope: Scope) -> Value:
    r"""Lower a definite integral, or its numeric factor times an opaque atom (`2 \int F dx`); else raise NoValue."""
    try:
        return _definite_integral(node, scope)
    except NoValue:
        factor, rest = _split_numeric_factor(node.args[0]) if node.args else (ONE, ONE)
        if factor == ONE:
            raise
    return apply_binary(
        "mul", lower_node(factor, scope), lower_node(Expr(node.op, (rest, *node.args[1:]), node.name), scope), scope
    )


def _bound_variable(node: Expr, scope: Scope) -> str:
    """Return the variable of an integral; NoValue without two limits, or if a symbol inside depends on it."""
    if len(node.args) != 4 or node.args[1].op != "sym":
        raise NoValue(node.op)
    name = node.args[1].name
    if any((inner, name) in scope.notation.depends for inner in symbols(node.args[0])):
        raise NoValue(node.op)
    return name


def _split_numeric_factor(node: Expr) -> tuple[Expr, Expr]:
    """Split an expression into the product of its numeric factors and the rest: `2 pi r` into `2 pi` and `r`."""
    if node.op == "neg":
        factor, rest = _split_numeric_factor(node.args[0])
        return Expr("neg", (factor,)), rest
    if node.op == "div":
        above, rest = _split_numeric_factor(node.args[0])
        if node.args[1].op in ("num", "const"):
            return Expr("div", (above, node.args[1])), rest
        return above, Expr("div", (rest, node.args[1]))
    if node.op == "mul":
        split = [_split_numeric_factor(arg) if arg.op != "num" else (arg, ONE) for arg in node.args]
        numbers, others = (tuple(part for part in parts if part != ONE) for parts in zip(*split, strict=True))
        return _product_of(numbers), _product_of(others)
    return (node, ONE) if node.op == "const" else (ONE, node)


def _product_of(factors: tuple[Expr, ...]) -> Expr:
    """Return the product of expressions; the number 1 for no factors."""
    return ONE if not factors else factors[0] if len(factors) == 1 else Expr("mul", factors)


def _definite_integral(node: Expr, scope: Scope) -> Pair:
    r"""Lower a definite integral: constant factors taken out, powers integrated exactly, the rest by quadrature.

    Raises NoValue where it would diverge, or the integrand may depend on the variable without saying so (`\int F dx`).
    """
    name = _bound_variable(node, scope)
    integrand, _, low, high = node.args
    has_others = any(inner.op == "sym" and inner.name != name for inner in walk(integrand))
    if has_others and (is_infinite(low) or high.op == "infinity") and _is_polynomial(integrand, name):
        raise NoValue("integral")  # it would diverge: the density in `\int_0^\infty \rho r^2 dr` depends on r
    ops = ops_of(integrand)
    if not _mentions(integrand, name) and "sym" in ops and "integral" not in ops and name not in scope.written_in:
        raise NoValue("integral")  # the force in `\int F dx` may depend on x without saying so
    if _mentions(integrand, name):
        scope = replace(scope, written_in=scope.written_in | {name})
    factors = integrand.args if integrand.op == "mul" else (integrand,)
    inside = [factor for factor in factors if _mentions(factor, name)]
    outside = [factor for factor in factors if not _mentions(factor, name)]
    if integrand.op == "div" and not _mentions(integrand.args[1], name):
        inner = Expr("integral", (integrand.args[0], *node.args[1:]))
        return combine_pairs("div", lower_number(inner, scope), lower_number(integrand.args[1], scope), scope)
    if outside and inside:
        rest = inside[0] if len(inside) == 1 else Expr("mul", tuple(inside))
        value = lower_number(Expr("integral", (rest, *node.args[1:])), scope)
        for factor in outside:
            value = combine_pairs("mul", value, lower_number(factor, scope), scope)
        return value
    if any(factor.name == _DELTA and len(factor.args) == 1 for factor in inside):
        raise NoValue("integral")
    if integrand.op in ("add", "sub", "neg"):
        parts = [lower_number(Expr("integral", (arg, *node.args[1:])), scope) for arg in integrand.args]
        total = _combine_terms(integrand.op, parts, scope)
        assert not isinstance(total, Table)
        return total
    is_finite = not is_infinite(low) and high.op != "infinity"
    degree = _power_of_variable(integrand, name)
    if degree is not None and is_finite:
        raised = number(degree + 1)
        upper, lower = (Expr("pow", (end, raised)) for end in (high, low))
        return lower_number(Expr("div", (Expr("sub", (upper, lower)), raised)), scope)
    return _double_exponential(integrand, name, low, high, scope)


def _is_polynomial(node: Expr, name: str) -> bool:
    """True if an expression is a polynomial in the symbol `name` (powers 1, 2, ...), by its form."""
    if not _mentions(node, name) or node.op == "sym":
        return True
    if node.op in ("add", "sub", "neg", "mul"):
        return all(_is_polynomial(arg, name) for arg in node.args)
    if node.op == "div":
        return not _mentions(node.args[1], name) and _is_polynomial(node.args[0], name)
    return _is_integer_power(node) and (node.args[1].value or 0) > 0 and _is_polynomial(node.args[0], name)


def _power_of_variable(node: Expr, name: str) -> int | None:
    """Return n if the node is exactly `x^n` (0: the number 1) in the symbol `name`, n <= MAX_IMMEDIATE; else None."""
    if not _mentions(node, name):
        return 0 if node == number(1) else None
    if node.op == "sym":
        return 1
    if node.op == "pow" and node.args[0].op == "sym" and _is_integer_power(node):
        value = node.args[1].value
        assert value is not None
        return int(value) if 0 < value <= MAX_IMMEDIATE else None
    return None


def _double_exponential(integrand: Expr, name: str, low: Expr, high: Expr, scope: Scope) -> Pair:
    """Lower an integral to a quadrature by the double-exponential rule with step h, marked as an estimate (`widen`).

    Its error is estimated from the distance to the rule with step 2h. Raises NoValue for integrands with kinks.
    """
    builder, combine = scope.builder, scope.builder.combine
    if any(inner.op in _KINKED or (inner.op == "apply" and is_known_function(inner.name)) for inner in walk(integrand)):
        raise NoValue("integral")  # the rule's error is not that of a smooth function
    if low.op == "infinity" and high.op == "infinity":
        raise NoValue("integral")
    if low.op == "infinity":  # from infinity inward
        inner = Expr("integral", (integrand, symbol(name), high, low))
        return apply_to_pair("neg", lower_number(inner, scope), scope)
    infinite_low = is_infinite(low)
    kind = ("whole" if infinite_low else "half") if high.op == "infinity" else "finite"
    if (infinite_low and high.op != "infinity") or (high.op == "neg" and is_infinite(high)):
        raise NoValue("integral")
    start = builder.number(0) if infinite_low else lower_real(low, scope)
    end = lower_real(high, scope) if kind == "finite" else start
    width = combine("sub", end, start)
    fine: list[int] = []
    coarse: list[int] = []
    sizes: list[int] = []
    built: list[tuple[int, Word]] | None = None
    first = at_first = -1
    for k, (near, far, weight) in enumerate(_quadrature_nodes(kind)):
        if kind == "finite":
            side, share = (start, near) if near <= 0.5 else (end, far)
            shift = combine("mul", width, builder.constant(share, share * 2.0**-50))
            at = combine("add" if near <= 0.5 else "sub", side, shift)
        else:
            at = combine("add", start, builder.constant(near, abs(near) * 2.0**-48))
        if built is None or not builder.is_unfoldable(at):
            since = len(builder.requested)
            value = lower_real(
                integrand, replace(scope, bound={**scope.bound, name: real_pair(at)}, under_integral=True)
            )
            if built is None and k == 0 and builder.is_unfoldable(at):  # the other nodes have the same instructions
                built, first, at_first = builder.instructions_using(at, since), value, at
        else:
            value = builder.rewrite_instructions(built, at_first, at).get(first, first)
        part = combine("mul", builder.constant(weight, weight * 2.0**-48), value)
        fine.append(part)
        sizes.append(combine("abs", part))
        if k % 2 == STEPS[kind][1] % 2:
            coarse.append(part)
    total, half, size = (sum_instructions(builder, parts) for parts in (fine, coarse, sizes))
    apart = combine("sub", total, combine("mul", builder.number(2), half))
    cut = combine("mul", builder.number(10), combine("add", sizes[0], sizes[-1]))  # what lies beyond the last nodes
    if kind != "finite" and any(inner.op in TRIGONOMETRIC and _mentions(inner, name) for inner in walk(integrand)):
        error = combine("mul", builder.number(10), combine("abs", apart))  # the rule resolves no far oscillations
    else:
        error = combine("mul", builder.number(1000), combine("div", combine("mul", apart, apart), size))
    error = combine("add", error, cut)
    builder.is_estimate = True
    value = builder.write_instruction("widen", total, error)
    return (combine("mul", width, value) if kind == "finite" else value), None


def _combine_terms(op: str, parts: Sequence[Value], scope: Scope) -> Value:
    """Write the sum (`op`: add), difference (sub) or negative (neg) of values that are lowered already."""
    if op == "neg":
        return apply_unary("neg", parts[0], scope)
    total = parts[0]
    for part in parts[1:]:
        total = apply_binary(op, total, part, scope)
    return total


def _is_integer_power(node: Expr) -> bool:
    """True if a node is a power whose exponent is a written integer: `x^2`."""
    return node.op == "pow" and node.args[1].op == "num" and (node.args[1].value or Fraction(1, 2)).denominator == 1


def _mentions(node: Expr, name: str) -> bool:
    """True if the symbol `name` occurs in an expression."""
    return name in symbols(node)

"""Sums and products: unrolled, up to a symbolic bound, or to infinity with a bound on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from prism.algebra.expr import Expr, index_letters, substitute, symbol, symbols, walk
from prism.algebra.symbols import replace_index
from prism.engine.lowering.arithmetic import (
    NoValue,
    Pair,
    Scope,
    Value,
    apply_binary,
    apply_unary,
    real_pair,
    sum_instructions,
)
from prism.engine.lowering.scalars import lower_node, lower_real, mark_integer_symbols

MAX_TERMS = 200  # of a finite sum with known bounds

MAX_FIRST = 4  # from which such a sum may begin

MAX_RANGE = 24  # terms of a sum whose upper bound is a symbol; whole numbers are drawn below

INFINITE_TERMS = 60  # of a sum to infinity; what is left out must be small by then

EXCLUDED = 1.1e299  # an error that makes a point worthless: no residual below 1e300 is ten times as large


def bound_variable(node: Expr, scope: Scope) -> str:
    r"""Return `k` of `\sum_{k=1}^N` (or integral); NoValue without two limits, or if a symbol inside depends on it."""
    if len(node.args) != 4 or node.args[1].op != "sym":
        raise NoValue(node.op)
    name = node.args[1].name
    if any((inner, name) in scope.notation.depends for inner in symbols(node.args[0])):
        raise NoValue(node.op)
    return name


def lower_sum(node: Expr, scope: Scope) -> Value:
    """Lower a sum or product: unrolled if possible, else a sum's addends apart, with constant factors outside."""
    try:
        return _unrolled_sum(node, scope)
    except NoValue:
        if node.op != "sum" or len(node.args) < 2:
            raise
    term, *rest = node.args
    indices = index_letters(node.args[1])
    if term.op in ("add", "sub", "neg"):
        return combine_terms(term.op, [lower_node(Expr("sum", (arg, *rest)), scope) for arg in term.args], scope)
    if term.op == "div" and not _varies_with_index(term.args[1], indices):
        return apply_binary(
            "div", lower_node(Expr("sum", (term.args[0], *rest)), scope), lower_node(term.args[1], scope), scope
        )
    inside = [factor for factor in term.args if _varies_with_index(factor, indices)] if term.op == "mul" else []
    if not inside or len(inside) == len(term.args):
        raise NoValue("sum")
    value = lower_node(Expr("sum", (Expr("mul", tuple(inside)) if len(inside) > 1 else inside[0], *rest)), scope)
    for factor in term.args:
        if factor not in inside:
            value = apply_binary("mul", value, lower_node(factor, scope), scope)
    return value


def combine_terms(op: str, parts: Sequence[Value], scope: Scope) -> Value:
    """Write the sum (`op`: add), difference (sub) or negative (neg) of values that are lowered already."""
    if op == "neg":
        return apply_unary("neg", parts[0], scope)
    total = parts[0]
    for part in parts[1:]:
        total = apply_binary(op, total, part, scope)
    return total


def _varies_with_index(node: Expr, indices: tuple[str, ...]) -> bool:
    """True if an expression contains one of the indices, as a symbol (`k`) or in a subscript (`x_k`)."""
    names = {inner.name for inner in walk(node) if inner.op == "sym"}
    return any(name == index or replace_index(name, index, "#") != name for name in names for index in indices)


def _unrolled_sum(node: Expr, scope: Scope) -> Value:
    """Lower a sum or product term by term: up to a known limit, a symbol or infinity.

    Raises NoValue where the lower limit is no known integer, with too many terms, for an infinite product, and for
    indexed symbols (`x_k`) without a known upper limit.
    """
    builder = scope.builder
    index = bound_variable(node, scope)
    term, _, low, high = node.args
    indexed = {
        inner for inner in walk(term) if inner.op == "sym" and replace_index(inner.name, index, "#") != inner.name
    }
    first = builder.exact.get(lower_real(low, scope))
    if first is None or first.denominator != 1:
        raise NoValue(node.op)
    join = "add" if node.op == "sum" else "mul"
    if high.op == "infinity":
        if node.op == "product" or indexed:
            raise NoValue(node.op)
        return _infinite_sum(term, index, int(first), scope)
    top = lower_real(high, scope)
    last = builder.exact.get(top)
    if last is None and indexed:
        raise NoValue(node.op)
    if last is None:
        return _sum_to_symbolic_bound(node.op, term, index, int(first), high, scope)
    if last.denominator != 1 or last - first >= MAX_TERMS:
        raise NoValue(node.op)
    total: Value = real_pair(builder.number(0 if node.op == "sum" else 1))
    for k in range(int(first), int(last) + 1):
        here = substitute(term, {leaf: symbol(replace_index(leaf.name, index, str(k))) for leaf in indexed})
        value = lower_node(here, replace(scope, bound={**scope.bound, index: real_pair(builder.number(k))}))
        total = value if k == first else apply_binary(join, total, value, scope)
    return total


def _sum_to_symbolic_bound(op: str, term: Expr, index: str, first: int, high: Expr, scope: Scope) -> Pair:
    """Lower a sum or product with limits `first` and the symbol `high`: MAX_RANGE terms, term k counts where k <= high.

    Beyond `high` each term is evaluated at `high`, where it is defined. NoValue if `first` is above MAX_FIRST.
    """
    builder, combine = scope.builder, scope.builder.combine
    mark_integer_symbols(high, scope)
    top = lower_real(high, scope)
    if first > MAX_FIRST:
        raise NoValue(op)  # no whole number that is drawn comes so far
    half, one = builder.number(Fraction(1, 2)), builder.number(1)
    total = builder.number(0 if op == "sum" else 1)
    for k in range(first, first + MAX_RANGE):
        at = builder.number(k)
        apart = combine("abs", combine("sub", top, at))
        within = at if k == first else combine("mul", half, combine("sub", combine("add", top, at), apart))
        value = lower_real(term, replace(scope, bound={**scope.bound, index: real_pair(within)}))
        counts = combine("step", combine("add", combine("sub", top, at), half))
        if op == "sum":
            total = combine("add", total, combine("mul", counts, value))
        else:
            value = combine("add", combine("mul", counts, value), combine("sub", one, counts))
            total = combine("mul", total, value)
    beyond = combine("step", combine("sub", top, builder.number(first + MAX_RANGE - Fraction(1, 2))))
    builder.is_estimate = True
    return builder.write_instruction("widen", total, combine("mul", beyond, builder.constant(EXCLUDED, 0.0))), None


def _infinite_sum(term: Expr, index: str, first: int, scope: Scope) -> Pair:
    r"""Lower `\sum_{k=first}^\infty` to its first INFINITE_TERMS terms; the rest is bounded as a geometric series.

    Its ratio is that of the last terms; above 9/10 there the sum counts as undefined (its error bound is EXCLUDED).
    Raises NoValue unless the term has a steady ratio (`_has_steady_ratio`), and where one of the last terms is 0.
    """
    if not _has_steady_ratio(term, index):
        raise NoValue("sum")
    builder, combine = scope.builder, scope.builder.combine
    scopes = (
        replace(scope, bound={**scope.bound, index: real_pair(builder.number(k))})
        for k in range(first, first + INFINITE_TERMS)
    )
    terms = [lower_real(term, within) for within in scopes]
    total = sum_instructions(builder, terms)
    last, before, third = (combine("abs", value) for value in (terms[-1], terms[-2], terms[-3]))
    if 0 in (builder.exact.get(before), builder.exact.get(third)):
        raise NoValue("sum")
    ratios = (
        combine("div", last, before),
        combine("div", before, third),
    )  # a term that is 0 tells nothing about the rest
    apart = combine("abs", combine("sub", *ratios))
    ratio = combine("div", combine("add", combine("add", *ratios), apart), builder.number(2))  # the larger one
    last = combine("add", last, before)
    grows = combine("step", combine("sub", ratio, builder.number(Fraction(9, 10))))
    tail = combine("mul", combine("mul", builder.number(10), last), ratio)
    builder.is_estimate = True
    worthless = combine("mul", grows, builder.constant(EXCLUDED, 0.0))
    return builder.write_instruction("widen", total, combine("add", tail, worthless)), None


def _has_steady_ratio(term: Expr, index: str) -> bool:
    """True if a term is made of powers, exponentials, factorials and polynomials of the index: a ratio that settles."""
    if not mentions(term, index):
        return True
    if term.op in ("mul", "div", "neg", "factorial", "exp", "sqrt", "pow"):
        return all(_has_steady_ratio(arg, index) for arg in term.args)
    if term.op in ("add", "sub"):
        inside = [inner for inner in walk(term) if mentions(inner, index)]
        return all(
            inner.op in ("add", "sub", "mul", "neg", "sym")
            or (is_integer_power(inner) and not mentions(inner.args[1], index))
            or (inner.op == "div" and not mentions(inner.args[1], index))
            for inner in inside
        )
    return term.op == "sym"


def is_integer_power(node: Expr) -> bool:
    """True if a node is a power whose exponent is a written integer: `x^2`."""
    return node.op == "pow" and node.args[1].op == "num" and (node.args[1].value or Fraction(1, 2)).denominator == 1


def mentions(node: Expr, name: str) -> bool:
    """True if the symbol `name` occurs in an expression."""
    return name in symbols(node)

"""Functions known by name, functions of whole numbers, and definitions by cases."""

from __future__ import annotations

import math
from collections.abc import Callable

from prism.algebra.expr import Expr, number, substitute, symbol, symbols, walk
from prism.algebra.operators import OPS
from prism.algebra.symbols import replace_index
from prism.algebra.terms import whole_number
from prism.engine.lowering.arithmetic import (
    NoValue,
    Pair,
    Scope,
    Table,
    Value,
    apply_binary,
    combine_pairs,
    determinant,
    real_pair,
    sum_pairs,
)
from prism.engine.lowering.scalars import lower_node, lower_number, lower_real, mark_integer_symbols
from prism.engine.tape import CHOICE, MAX_IMMEDIATE

MAX_TERMS = 60  # of a sum between written numbers
_NOWHERE = 9e299  # error bound of a point where no case applies; above `constants.NO_CASE` of the kernels


def lower_call(node: Expr, scope: Scope) -> Value:
    """Lower `f(u)`: a known function (`max`, `Re`) or a letter that means an unknown one; NoValue for any other."""
    handler = _FUNCTIONS.get(node.name)
    if handler is None and node.name in scope.notation.functions and len(node.args) == 1:
        return _lower_test_function(node, scope)
    if handler is None:
        raise NoValue("apply")
    return handler([lower_node(arg, scope) for arg in node.args], scope)


def _lower_test_function(node: Expr, scope: Scope) -> Pair:
    """Lower an unknown f(u) to p sin(q u + r) + s with variables p to s: what holds for all of them holds for all f."""
    combine = scope.builder.combine
    p, q, r, s = (scope.builder.variable(f"{node.name}'{k}") for k in range(4))
    phase = combine("add", combine("mul", q, lower_real(node.args[0], scope)), r)
    return combine("add", combine("mul", p, combine("sin", phase)), s), None


def is_known_function(name: str) -> bool:
    """True if calls of the function `name` are evaluated: `max`, `Re`, `det`."""
    return name in _FUNCTIONS


def _real_arguments(args: list[Value], count: int | None = None) -> list[int]:
    """Return a call's arguments as real instructions; NoValue for a table, a complex number, or not `count` of them."""
    reals = []
    for arg in args:
        if isinstance(arg, Table) or arg[1] is not None:
            raise NoValue("apply")
        reals.append(arg[0])
    if not reals or (count is not None and len(reals) != count):
        raise NoValue("apply")
    return reals


def _extreme_of(sign: str) -> Callable[[list[Value], Scope], Value]:
    """Return the function that lowers `max` (sign "add") or `min` (sign "sub") of its arguments."""

    def extreme(args: list[Value], scope: Scope) -> Value:
        """Lower the largest (or smallest) of real numbers, two at a time: max(a, b) = b + step(a - b) (a - b)."""
        combine = scope.builder.combine
        total, *rest = _real_arguments(args)
        for other in rest:
            gap = combine("sub", total, other) if sign == "add" else combine("sub", other, total)
            total = combine(sign, other, combine("mul", _sign_choice(gap, scope), gap))
        return total, None

    return extreme


def _sign_of(args: list[Value], scope: Scope) -> Value:
    """Lower `sgn a` to 2 step(a) - 1; NoValue unless there is one real argument."""
    (a,) = _real_arguments(args, 1)
    combine = scope.builder.combine
    _mark_signed_symbol(a, scope)
    return combine(
        "sub", combine("mul", scope.builder.number(2), _sign_choice(a, scope)), scope.builder.number(1)
    ), None


def _heaviside_step(args: list[Value], scope: Scope) -> Value:
    """Lower the unit step of one real argument: 1 where it is not negative, else 0; NoValue for other arguments."""
    (a,) = _real_arguments(args, 1)
    _mark_signed_symbol(a, scope)
    return _sign_choice(a, scope), None


def _sign_choice(a: int, scope: Scope) -> int:
    """Write the instruction of value 1 where `a` is not negative, else 0; it is marked as a choice of the formula."""
    known = scope.builder.exact.get(a)
    if known is not None:
        return scope.builder.number(int(known >= 0))
    return scope.builder.write_instruction("step", a, CHOICE)


def _mark_signed_symbol(a: int, scope: Scope) -> None:
    """If instruction `a` is a variable or its negative, declare it real (drawn with either sign): its sign matters."""
    code = scope.builder.code
    while code[a][0] == OPS["neg"].opcode:
        a = code[a][1]
    if code[a][0] == OPS["sym"].opcode:
        name = next(name for name, slot in scope.builder.slots.items() if slot == code[a][1])
        scope.builder.kinds.setdefault(name, "real")


def _gamma_function(args: list[Value], scope: Scope) -> Value:
    """Lower Gamma(a) to the factorial of a - 1; NoValue unless there is one real argument."""
    (a,) = _real_arguments(args, 1)
    return scope.builder.combine("factorial", scope.builder.combine("sub", a, scope.builder.number(1))), None


def _complex_argument(args: list[Value], scope: Scope) -> tuple[int, int]:
    """Return (real, imaginary) instructions of the one argument; NoValue for a table or without complex numbers."""
    if len(args) != 1 or isinstance(args[0], Table) or not scope.notation.is_complex:
        raise NoValue("apply")
    re, im = args[0]
    return re, scope.builder.number(0) if im is None else im


def _real_part(args: list[Value], scope: Scope) -> Value:
    """Lower `Re z`; NoValue without complex numbers."""
    return _complex_argument(args, scope)[0], None


def _imaginary_part(args: list[Value], scope: Scope) -> Value:
    """Lower `Im z`; NoValue without complex numbers."""
    return _complex_argument(args, scope)[1], None


def _phase_of(args: list[Value], scope: Scope) -> Value:
    """Lower the phase `arg z` to atan2(Im z, Re z); NoValue without complex numbers."""
    re, im = _complex_argument(args, scope)
    return scope.builder.combine("atan2", im, re), None


def _determinant_of(args: list[Value], scope: Scope) -> Value:
    """Lower `det A`; NoValue unless the one argument is a matrix."""
    if len(args) != 1 or not isinstance(args[0], Table):
        raise NoValue("apply")
    return determinant(args[0], scope)


def _trace_of(args: list[Value], scope: Scope) -> Value:
    """Lower the trace `tr A`, the sum of the diagonal; NoValue unless the one argument is a square matrix."""
    if len(args) != 1 or not isinstance(args[0], Table) or args[0].rows != args[0].columns:
        raise NoValue("apply")
    table = args[0]
    return sum_pairs([table.entries[k * (table.columns + 1)] for k in range(table.rows)], scope)


_FUNCTIONS: dict[str, Callable[[list[Value], Scope], Value]] = {
    "max": _extreme_of("add"),
    "min": _extreme_of("sub"),
    "sgn": _sign_of,
    "sign": _sign_of,
    r"\Theta": _heaviside_step,
    r"\Gamma": _gamma_function,
    "Re": _real_part,
    "Im": _imaginary_part,
    "arg": _phase_of,
    "det": _determinant_of,
    "tr": _trace_of,
    "Tr": _trace_of,
}


def lower_factorial(node: Expr, scope: Scope) -> Pair:
    """Lower `n!` and declare its symbols integers; a known number is computed exactly."""
    mark_integer_symbols(node, scope)
    return _factorial_of(lower_real(node.args[0], scope), scope), None


def _factorial_of(at: int, scope: Scope) -> int:
    """Write the factorial of the instruction `at`; a known number is computed exactly."""
    value = scope.builder.exact.get(at)
    if value is not None and value.denominator == 1 and 0 <= value <= MAX_IMMEDIATE:
        return scope.builder.number(math.factorial(int(value)))
    return scope.builder.combine("factorial", at)


def lower_binomial(node: Expr, scope: Scope) -> Pair:
    """Lower a binomial coefficient `n` over `k` to n! / (k! (n - k)!)."""
    combine = scope.builder.combine
    mark_integer_symbols(node, scope)
    n = lower_real(node.args[0], scope)
    above = _factorial_of(n, scope)
    k = lower_real(node.args[1], scope)
    below = combine("mul", _factorial_of(k, scope), _factorial_of(combine("sub", n, k), scope))
    return combine("div", above, below), None


def lower_ceiling(node: Expr, scope: Scope) -> Pair:
    """Lower a ceiling (the next integer above x) to -floor(-x)."""
    combine = scope.builder.combine
    return combine("neg", combine("floor", combine("neg", lower_real(node.args[0], scope)))), None


def lower_modulo(node: Expr, scope: Scope) -> Pair:
    """Lower `a mod b` to a - b floor(a/b), and `a mod b mod c` from the left."""
    combine = scope.builder.combine
    found, *others = (lower_real(arg, scope) for arg in node.args)
    for b in others:
        found = combine("sub", found, combine("mul", b, combine("floor", combine("div", found, b))))
    return found, None


def lower_parallel(node: Expr, scope: Scope) -> Pair:
    r"""Lower resistances in parallel, `R_1 \parallel R_2`, to 1 / (1/R_1 + 1/R_2)."""
    one = real_pair(scope.builder.number(1))
    inverses = [combine_pairs("div", one, lower_number(arg, scope), scope) for arg in node.args]
    return combine_pairs("div", one, sum_pairs(inverses, scope), scope)


def lower_cases(node: Expr, scope: Scope) -> Pair:
    """Lower a definition by cases: the value whose condition is the first that holds; undefined where none holds."""
    builder, combine = scope.builder, scope.builder.combine
    one = builder.number(1)
    total, left = builder.number(0), one
    for row in node.args:
        if row.op != "row" or len(row.args) != 2:
            raise NoValue("cases")
        holds = _condition_indicator(row.args[1], scope)
        total = combine("add", total, combine("mul", combine("mul", left, holds), lower_real(row.args[0], scope)))
        left = combine("mul", left, combine("sub", one, holds))
    if builder.exact.get(left) == 0:
        return total, None
    return builder.write_instruction("widen", total, combine("mul", left, builder.constant(_NOWHERE, 0.0))), None


def _condition_indicator(condition: Expr, scope: Scope) -> int:
    """Write the instruction of value 1 where a condition (`x > 0`, `0 < x < L`) holds, else 0; 1 for `otherwise`.

    Raises NoValue for other relations than inequalities. Strict or not makes no difference: draws avoid the edge.
    """
    builder, combine = scope.builder, scope.builder.combine
    if condition.op != "relation":
        if any(inner.op in ("sym", "num") for inner in walk(condition)):
            raise NoValue("cases")
        return builder.number(1)  # otherwise
    signs = condition.name.split()
    total = builder.number(1)
    for sign, a, b in zip(signs, condition.args, condition.args[1:], strict=False):
        if sign not in ("<", "<=", ">", ">="):
            raise NoValue("cases")
        low, high = (lower_real(end, scope) for end in ((a, b) if sign in ("<", "<=") else (b, a)))
        for end, other in ((low, high), (high, low)):
            if (builder.exact.get(other, 1)) <= 0:
                _mark_signed_symbol(end, scope)
        total = combine("mul", total, _sign_choice(combine("sub", high, low), scope))
    return total


def lower_sum(node: Expr, scope: Scope) -> Value:
    """Lower a sum or product between written numbers to its terms; NoValue for any other."""
    if len(node.args) != 4 or node.args[1].op != "sym":
        raise NoValue(node.op)
    term, index, *limits = node.args
    first, last = map(whole_number, limits)
    depends = any((name, index.name) in scope.notation.depends for name in symbols(term))
    if first is None or last is None or depends or not first <= last < first + MAX_TERMS:
        raise NoValue(node.op)
    total: Value | None = None
    for k in range(first, last + 1):
        names = {symbol(name): symbol(replace_index(name, index.name, str(k))) for name in symbols(term)}
        value = lower_node(substitute(term, {**names, index: number(k)}), scope)
        total = value if total is None else apply_binary("add" if node.op == "sum" else "mul", total, value, scope)
    assert total is not None
    return total

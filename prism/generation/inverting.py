"""Solve an equation for one symbol in closed form: by inverting operators, else as a linear or quadratic equation.

A template is solved once, and evaluated for every seed. So what a number is worked out by is an expression, or two of
which the admissible one is taken: the positive root, unless a symbol may be negative.

An equation without a closed form here is left to `root_search`, which is slower by hundreds of times for each seed.
Refused: cubic and quartic formulas, whose three real roots need complex numbers on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from prism.algebra.expr import Expr, number, symbols

_MAX_TERMS = 200  # nodes of a coefficient; a longer polynomial is not solved
_INVERSES = {
    "exp": "ln", "ln": "exp", "sin": "asin", "cos": "acos", "tan": "atan", "asin": "sin", "acos": "cos", "atan": "tan",
    "sinh": "asinh", "cosh": "acosh", "tanh": "atanh", "asinh": "sinh", "acosh": "cosh", "atanh": "tanh",
}  # fmt: skip
_TWO = number(2)


def solutions(left: Expr, right: Expr, name: str) -> tuple[Expr, ...]:
    """Return the expressions that `left = right` makes of a symbol; empty if it is not solved for it.

    A sine gives the angle of `arcsin`, from -90 to 90 degrees; a cosine that of `arccos`, from 0 to 180.
    """
    if name in symbols(left) and name in symbols(right):
        return _from_polynomial(left, right, name)
    side, other = (left, right) if name in symbols(left) else (right, left)
    return tuple(_inverted(side, other, name)) or _from_polynomial(left, right, name)


def _n_places(node: Expr, name: str) -> int:
    """Return how often a symbol occurs in an expression."""
    if node.op == "sym":
        return int(node.name == name)
    return sum(_n_places(arg, name) for arg in node.args) if name in symbols(node) else 0


def _inverted(side: Expr, other: Expr, name: str) -> Iterator[Expr]:
    """Yield what a symbol that occurs once in `side` is for `side = other`; nothing if an operator has no inverse."""
    if _n_places(side, name) != 1:
        return
    if side.op == "sym":
        yield other
        return
    places = [k for k, arg in enumerate(side.args) if name in symbols(arg)]
    at = places[0]
    inner, rest = side.args[at], (*side.args[:at], *side.args[at + 1 :])
    for value in _undone(side.op, at, rest, other):
        yield from _inverted(inner, value, name)


def _undone(op: str, at: int, rest: tuple[Expr, ...], other: Expr) -> Iterator[Expr]:
    """Yield the values of operand `at` of an operator for which its result is `other`.

    Args:
        rest: the other operands, in order.
    """
    if op == "add":
        yield Expr("sub", (other, _folded("add", rest)))
    elif op == "sub":
        yield Expr("add", (other, rest[0])) if at == 0 else Expr("sub", (rest[0], other))
    elif op == "mul":
        yield Expr("div", (other, _folded("mul", rest)))
    elif op == "div":
        yield Expr("mul", (other, rest[0])) if at == 0 else Expr("div", (rest[0], other))
    elif op == "neg":
        yield Expr("neg", (other,))
    elif op == "sqrt":
        yield Expr("pow", (other, _TWO))
    elif op == "abs":
        yield other
        yield Expr("neg", (other,))
    elif op in ("pow", "root") and at == 0:
        yield from _root_of_power(op, rest[0], other)
    elif op == "pow":
        yield Expr("div", (Expr("ln", (other,)), Expr("ln", (rest[0],))))
    elif op == "log10":
        yield Expr("pow", (number(10), other))
    elif op in _INVERSES:
        yield Expr(_INVERSES[op], (other,))


def _root_of_power(op: str, exponent: Expr, other: Expr) -> Iterator[Expr]:
    """Yield the bases whose power is `other`, both for an even exponent."""
    if op == "root":
        yield Expr("pow", (other, exponent))
        return
    value = exponent.value
    root = Expr("sqrt", (other,)) if value == 2 else Expr("pow", (other, Expr("div", (number(1), exponent))))
    yield root
    if value is not None and value.denominator == 1 and not value.numerator % 2:
        yield Expr("neg", (root,))


def _folded(op: str, args: tuple[Expr, ...]) -> Expr:
    """Return a sum or product of operands; a single one as it is."""
    return args[0] if len(args) == 1 else Expr(op, args)


# Linear and quadratic equations. ---------------------------------------------------------------------------------

_Polynomial = dict[int, Expr]  # coefficient by power of the symbol; a power that is missing has none


def _from_polynomial(left: Expr, right: Expr, name: str) -> tuple[Expr, ...]:
    """Return the roots of a linear or quadratic equation in a symbol; empty for any other."""
    found = _as_quotient(Expr("sub", (left, right)), name)
    if found is None:
        return ()
    poly = found[0]
    if max(poly, default=0) > 2 or sum(each.size for each in poly.values()) > _MAX_TERMS:
        return ()
    c, b, a = (poly.get(power) for power in range(3))
    if a is None:
        return () if b is None else (Expr("neg", (Expr("div", (c or number(0), b)),)),)
    zero = number(0)
    b, c = b or zero, c or zero
    square = Expr("sub", (Expr("pow", (b, _TWO)), Expr("mul", (number(4), a, c))))
    root, twice = Expr("sqrt", (square,)), Expr("mul", (_TWO, a))
    return tuple(Expr("div", (Expr(op, (Expr("neg", (b,)), root)), twice)) for op in ("add", "sub"))


def _as_quotient(node: Expr, name: str) -> tuple[_Polynomial, _Polynomial] | None:
    """Return an expression as a quotient of polynomials in a symbol; None if it is none."""
    if name not in symbols(node):
        is_zero = node.op == "num" and not node.value
        return ({} if is_zero else {0: node}), {0: number(1)}
    if node.op == "sym":
        return {1: number(1)}, {0: number(1)}
    if node.op == "pow":
        power = node.args[1].value
        if power is None or power.denominator != 1 or not 0 < power <= 4:
            return None
        return _as_quotient(Expr("mul", (node.args[0],) * int(power)), name) if power > 1 else None
    if node.op not in ("add", "sub", "mul", "div", "neg"):
        return None
    parts = [_as_quotient(arg, name) for arg in node.args]
    if any(part is None for part in parts):
        return None
    certain = [part for part in parts if part is not None]
    total = certain[0]
    if node.op == "neg":
        return {power: Expr("neg", (each,)) for power, each in total[0].items()}, total[1]
    for part in certain[1:]:
        total = _joined(node.op, total, part)
    return total


def _joined(
    op: str, first: tuple[_Polynomial, _Polynomial], second: tuple[_Polynomial, _Polynomial]
) -> tuple[_Polynomial, _Polynomial]:
    """Return the sum, difference, product or quotient of two quotients of polynomials."""
    (a, b), (c, d) = first, second
    if op == "mul":
        return _times(a, c), _times(b, d)
    if op == "div":
        return _times(a, d), _times(b, c)
    if b == d:
        return _plus(op, a, c), b
    return _plus(op, _times(a, d), _times(c, b)), _times(b, d)


def _plus(op: str, a: _Polynomial, b: _Polynomial) -> _Polynomial:
    """Return the sum or difference of two polynomials."""
    total = dict(a)
    for power, each in b.items():
        if power in total:
            total[power] = Expr(op, (total[power], each))
        else:
            total[power] = each if op == "add" else Expr("neg", (each,))
    return total


def _times(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    """Return the product of two polynomials."""
    total: _Polynomial = {}
    for power, each in a.items():
        for other, factor in b.items():
            product = _product(each, factor)
            place = power + other
            total[place] = Expr("add", (total[place], product)) if place in total else product
    return total


def _product(a: Expr, b: Expr) -> Expr:
    """Return a product of two expressions without factors of 1."""
    if a.value == Fraction(1):
        return b
    return a if b.value == Fraction(1) else Expr("mul", (a, b))

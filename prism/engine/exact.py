r"""Exact arithmetic on formulas that are rational: what is proved, and what sampling cannot see.

A residual becomes the numerator of a quotient of polynomials over the rationals. Its variables are the symbols and,
each as a variable of its own, the sub-expressions that are not rational (a sine, a root). Two formulas whose
numerators have the same factors, but for those that are positive, have the same zeros. The converse is no proof.

Source: python-flint, multivariate polynomials over the rationals. It is loaded on first use.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from prism.algebra.expr import Expr, canonical, number, walk
from prism.engine.lowering import Notation

MAX_GENERATORS = 16
MAX_DEGREE = 24  # of an exponent
MAX_TERMS = 400  # of a polynomial: one that grows beyond is left to sampling
MAX_BITS = 512  # of a coefficient
_MAX_BITS_OF_POWER = 8 * MAX_BITS
_KEPT = 1024

_TRANSCENDENTAL = frozenset(("sin", "cos", "tan", "exp", "ln", "log10", "sinh", "cosh", "tanh", "asin", "acos", "atan"))
_ARITHMETIC = frozenset(("num", "sym", "add", "sub", "mul", "div", "neg", "pow"))


class Proof(enum.Enum):
    """What exact arithmetic says of two formulas."""

    SAME = "the same factors"
    CLOSE = "polynomials that are not the same, however close their zeros are"
    OPEN = "nothing"


class _TooLarge(Exception):
    """A polynomial beyond the limits above."""


@dataclass(slots=True)
class _Ring:
    """Polynomials in what the residuals are made of; generators are numbered as they are met."""

    places: dict[str, int] = field(default_factory=dict)
    nodes: list[Expr] = field(default_factory=list)

    def generator(self, node: Expr) -> int:
        key = canonical(node)
        if key not in self.places:
            if len(self.places) >= MAX_GENERATORS:
                raise _TooLarge
            self.places[key] = len(self.places)
            self.nodes.append(node)
        return self.places[key]


@lru_cache(maxsize=_KEPT)
def prove(a: Expr, b: Expr, notation: Notation, positive: frozenset[str]) -> Proof:
    """Compare the factors of two residuals.

    Args:
        a, b: what is zero where the formulas hold.
        notation: vectors, matrices and complex numbers are no polynomials.
        positive: symbols that are only drawn positive.
    """
    if notation.has_columns or notation.matrices or notation.is_complex:
        return Proof.OPEN
    try:
        ring = _Ring()
        for residual in (a, b):
            _collect(residual, ring)
        one, two = (_numerator(residual, ring) for residual in (a, b))
        sets = [_telling_factors(poly, ring, positive) for poly in (one, two)]
    except (_TooLarge, ZeroDivisionError):
        return Proof.OPEN
    keys = [{str(factor) for factor in factors} for factors in sets]
    if keys[0] == keys[1]:
        return Proof.SAME if keys[0] else Proof.OPEN
    return Proof.CLOSE if _are_independent(ring) and _differ_by_one(*keys) else Proof.OPEN


def _are_independent(ring: _Ring) -> bool:
    """Whether no polynomial holds between what the residuals are made of: symbols, pi, one function of symbols."""
    others = [node for node in ring.nodes if node.op != "sym" and (node.op, node.name) != ("const", "pi")]
    return not others or (len(others) == 1 and others[0].op in _TRANSCENDENTAL and others[0].args[0].op == "sym")


def _differ_by_one(ones: set[str], twos: set[str]) -> bool:
    """Whether all factors but one agree. That one is irreducible on both sides: its zeros only seem to be the same."""
    return len(ones - twos) == 1 and len(twos - ones) == 1


def factors_of(residual: Expr, notation: Notation) -> tuple[Expr, ...]:
    """The different factors of what is set to zero, multiplied out or not; none where it is not rational."""
    if notation.has_columns or notation.matrices or notation.is_complex:
        return ()
    try:
        ring = _Ring()
        _collect(residual, ring)
        poly = _numerator(residual, ring)
        _, factors = poly.factor()
        return tuple(_as_expr(factor, ring) for factor, _ in factors)
    except (_TooLarge, ZeroDivisionError):
        return ()


def _is_rational(node: Expr) -> bool:
    """Whether this node is arithmetic, apart from what its operands are."""
    return node.op in _ARITHMETIC and (node.op != "pow" or _exponent(node) is not None)


def _exponent(power: Expr) -> int | None:
    """A whole exponent, with its sign."""
    written = power.args[1]
    value = written.args[0].value if written.op == "neg" else written.value
    if value is None or value.denominator != 1 or value > MAX_DEGREE:
        return None
    return -int(value) if written.op == "neg" else int(value)


def _collect(node: Expr, ring: _Ring) -> None:
    """Name the generators: symbols, and whatever is not arithmetic. Depth is bounded by the parser."""
    if node.op == "num":
        return
    if node.op == "sym" or not _is_rational(node):
        ring.generator(node)
        return
    for arg in node.args[: 1 if node.op == "pow" else None]:
        _collect(arg, ring)


@lru_cache(maxsize=_KEPT)
def _context(count: int) -> Any:
    import flint

    return flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(max(count, 1))], flint.Ordering.lex)


def _numerator(residual: Expr, ring: _Ring) -> Any:
    return _quotient(residual, ring, _context(len(ring.nodes)))[0]


def _quotient(node: Expr, ring: _Ring, context: Any) -> tuple[Any, Any]:
    """Numerator and denominator without a common factor."""
    one = context.constant(1)
    if node.op == "num":
        assert node.value is not None
        return _constant(node.value, context), one
    if node.op == "sym" or not _is_rational(node):
        return context.gens()[ring.generator(node)], one
    if node.op == "pow":
        exponent = _exponent(node) or 0
        above, below = _quotient(node.args[0], ring, context)
        if exponent < 0:
            above, below = _inverted(above, below)
        for poly in (above, below):
            if len(poly) ** abs(exponent) > MAX_TERMS**2 or _bits(poly) * abs(exponent) > _MAX_BITS_OF_POWER:
                raise _TooLarge  # 9^9^9^9 is an attack on memory
        return _within(above ** abs(exponent)), _within(below ** abs(exponent))
    above, below = _quotient(node.args[0], ring, context)
    if node.op == "neg":
        return -above, below
    for arg in node.args[1:]:
        up, down = _quotient(arg, ring, context)
        if node.op == "div":
            up, down = _inverted(up, down)
        if node.op in ("mul", "div"):
            above, below = _reduced(_times(above, up), _times(below, down))
        else:
            left, right = _times(above, down), _times(up, below)
            above, below = _reduced(left + right if node.op == "add" else left - right, _times(below, down))
    return above, below


def _bits(poly: Any) -> int:
    """Length of the longest coefficient."""
    return max((max(int(c.p).bit_length(), int(c.q).bit_length()) for c in poly.coeffs()), default=0)


def _times(a: Any, b: Any) -> Any:
    if len(a) * len(b) > MAX_TERMS**2:
        raise _TooLarge
    return _within(a * b)


def _within(poly: Any) -> Any:
    if len(poly) > MAX_TERMS:
        raise _TooLarge
    return poly


def _inverted(above: Any, below: Any) -> tuple[Any, Any]:
    if above.is_zero():
        raise ZeroDivisionError
    return below, above


def _reduced(above: Any, below: Any) -> tuple[Any, Any]:
    if below.is_constant():
        return above, below
    common = above.gcd(below)
    return (above / common, below / common) if not common.is_constant() else (above, below)


def _constant(value: Fraction, context: Any) -> Any:
    import flint

    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise _TooLarge
    return context.constant(flint.fmpq(value.numerator, value.denominator))


def _telling_factors(poly: Any, ring: _Ring, positive: frozenset[str]) -> list[Any]:
    """Factors that may be zero, each with the leading coefficient 1."""
    if poly.is_zero() or poly.is_constant():
        raise _TooLarge
    _, factors = poly.factor()
    flags = [_is_positive(node, positive) for node in ring.nodes]
    telling = []
    for factor, _ in factors:
        used = [k for k, degree in enumerate(factor.degrees()) if degree]
        signs = {coefficient > 0 for coefficient in factor.coeffs()}
        if len(signs) > 1 or not all(flags[k] for k in used):
            telling.append(factor / factor.coeffs()[0])
    return telling


def _is_positive(node: Expr, positive: frozenset[str]) -> bool:
    if node.op == "sym":
        return node.name in positive
    if node.op in ("exp", "cosh", "const"):
        return True
    if node.op in ("sqrt", "pow", "root"):
        return all(inner.op in ("sym", "num", "add", "mul", "div", "pow", "sqrt", "const")
                   and (inner.op != "sym" or inner.name in positive) and (inner.op != "num" or (inner.value or 0) >= 0)
                   for inner in walk(node))  # fmt: skip
    return False


def _as_expr(poly: Any, ring: _Ring) -> Expr:
    """The polynomial as an expression."""
    if _bits(poly) > MAX_BITS:
        raise _TooLarge
    terms = []
    for powers, coefficient in zip(poly.monoms(), poly.coeffs(), strict=True):
        factors = [number(Fraction(int(coefficient.p), int(coefficient.q)))]
        for k, power in enumerate(powers):
            if power:
                node = ring.nodes[k]
                factors.append(node if power == 1 else Expr("pow", (node, number(int(power)))))
        terms.append(factors[0] if len(factors) == 1 else Expr("mul", tuple(factors)))
    return terms[0] if len(terms) == 1 else Expr("add", tuple(terms))

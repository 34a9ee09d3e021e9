"""Exact arithmetic on rational formulas: proves equality, and sees differences that sampling cannot.

A residual becomes the numerator of a quotient of polynomials over the rationals. Its variables are the symbols and,
each as a variable of its own, the sub-expressions that are not rational (a sine, a root). Two formulas whose
numerators have the same factors, but for those that are positive, have the same zeros. The converse is no proof.

Source: python-flint, multivariate polynomials over the rationals. It is loaded on first use.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from prism import budget
from prism.algebra.expr import Expr, canonical, number, walk
from prism.algebra.macaulay import is_step
from prism.algebra.terms import whole_number
from prism.engine.lowering import Notation
from prism.engine.store import stored

MAX_GENERATORS = 16  # variables of the polynomials of one comparison, opaque parts such as a sine among them
MAX_DEGREE = 24  # of an exponent
MAX_NUMBER_EXPONENT = 120  # of a power of a number: 10^{-27} is one
MAX_TERMS = 400  # of a polynomial: one that grows beyond is left to sampling
MAX_BITS = 512  # of a coefficient
_MAX_BITS_OF_POWER = 8 * MAX_BITS  # of the longest coefficient, with all of them on one denominator
MAX_WORK = 4_000_000  # operations of one product or factorisation: `q^{13824} - 1` was never seen to have its factors
MAX_PROOF = 10_000_000  # operations of one comparison; the dearest of 651 real ones takes a fourteenth
_PRODUCT, _LIMB = 20, 16  # operations of a product of two terms; bits of their coefficients that cost one more
_FACTORING, _DIGITS, _CALL = 25, 128, 10_000  # the same for factors, see `_charge_factoring`, and for asking at all
_NODE = 8  # steps in Python that a node of an expression costs

_TRANSCENDENTAL = frozenset(("sin", "cos", "tan", "exp", "ln", "log10", "sinh", "cosh", "tanh", "asin", "acos", "atan"))
_ARITHMETIC = frozenset(("num", "sym", "add", "sub", "mul", "div", "neg", "pow"))


class Proof(enum.Enum):
    """Outcome of comparing two formulas exactly: SAME and CLOSE are proofs, OPEN means that nothing is proved."""

    SAME = "the same factors"
    CLOSE = "polynomials that are not the same, however close their zeros are"
    OPEN = "nothing"


class _PolynomialTooLarge(Exception):
    """Raised where a polynomial exceeds MAX_GENERATORS, MAX_TERMS or the limits on its coefficients, or is constant."""


@dataclass(slots=True)
class _Ring:
    """The variables of the polynomials, numbered in order of occurrence.

    Attributes:
        places: number of each variable by its canonical form.
        nodes: the variables by number: symbols, and sub-expressions that are not rational (`sin(x)`, a root).
    """

    places: dict[str, int] = field(default_factory=dict)
    nodes: list[Expr] = field(default_factory=list)

    def variable_number(self, node: Expr) -> int:
        """Return the number of the variable that `node` becomes, new or known; raise beyond MAX_GENERATORS."""
        key = canonical(node)
        if key not in self.places:
            if len(self.places) >= MAX_GENERATORS:
                raise _PolynomialTooLarge
            self.places[key] = len(self.places)
            self.nodes.append(node)
        return self.places[key]


def prove(a: Expr, b: Expr, notation: Notation, positive: frozenset[str]) -> Proof:
    """Compare the zeros of two residuals exactly, by the irreducible factors of their numerators.

    Args:
        a, b: the residuals, expressions that are zero where the formulas hold.
        notation: with vectors, matrices or complex numbers the result is OPEN.
        positive: symbols that are only drawn positive; factors that are positive with them do not count.

    Returns:
        SAME if the factors are the same; CLOSE if exactly one factor differs and no relation between the variables can
        make up for it, so the zeros differ; else OPEN, also beyond the limits.
    """
    if notation.has_columns or notation.matrices or notation.is_complex:
        return Proof.OPEN
    with budget.share(MAX_PROOF):
        try:
            ring = _Ring()
            for residual in (a, b):
                _collect_variables(residual, ring)
            one, two = (_numerator(residual, ring) for residual in (a, b))
            sets = [_factors_that_may_vanish(poly, ring, positive) for poly in (one, two)]
        except (_PolynomialTooLarge, ZeroDivisionError):
            return Proof.OPEN
        keys = [{str(factor) for factor in factors} for factors in sets]
        if keys[0] == keys[1]:
            return Proof.SAME if keys[0] else Proof.OPEN
        return Proof.CLOSE if _are_independent(ring) and _differ_in_one_factor(*keys) else Proof.OPEN
    return Proof.OPEN


def _are_independent(ring: _Ring) -> bool:
    """True if no polynomial relates the variables: symbols, pi, at most one function such as `sin(x)` of a symbol."""
    others = [node for node in ring.nodes if node.op != "sym" and (node.op, node.name) != ("const", "pi")]
    return not others or (len(others) == 1 and others[0].op in _TRANSCENDENTAL and others[0].args[0].op == "sym")


def _differ_in_one_factor(first_factors: set[str], second_factors: set[str]) -> bool:
    """True if each formula has exactly one factor that the other lacks: both are irreducible, so the zeros differ."""
    return len(first_factors - second_factors) == 1 and len(second_factors - first_factors) == 1


@stored
def factors_of(residual: Expr, notation: Notation) -> tuple[Expr, ...]:
    """Return the distinct irreducible factors of an expression set to zero: `v` and `v - u` of `v^2 - u v`.

    Empty with vectors, matrices or complex numbers, beyond the limits, and where the expression divides by zero.
    """
    if notation.has_columns or notation.matrices or notation.is_complex:
        return ()
    with budget.share(MAX_PROOF):
        try:
            ring = _Ring()
            _collect_variables(residual, ring)
            return tuple(_as_expr(factor, ring) for factor in _irreducible_factors(_numerator(residual, ring)))
        except (_PolynomialTooLarge, ZeroDivisionError):
            return ()
    return ()


def _is_rational(node: Expr) -> bool:
    """True if the operator of `node` is arithmetic (a power: with a known integer exponent), whatever its operands."""
    return node.op in _ARITHMETIC and (node.op != "pow" or (_integer_exponent(node) is not None and not is_step(node)))


def _integer_exponent(power: Expr) -> int | None:
    """Return the exponent of the power node `x^n`, with its sign; None if n is no integer or above MAX_DEGREE."""
    value = whole_number(power.args[1])
    most = MAX_NUMBER_EXPONENT if power.args[0].op == "num" else MAX_DEGREE
    return value if value is not None and abs(value) <= most else None


def _collect_variables(node: Expr, ring: _Ring) -> None:
    """Add the polynomial variables of an expression to `ring`: symbols and sub-expressions that are not rational."""
    if node.op == "num":
        return
    if node.op == "sym" or not _is_rational(node):
        ring.variable_number(node)
        return
    for arg in node.args[: 1 if node.op == "pow" else None]:
        _collect_variables(arg, ring)


def _polynomial_context(count: int) -> Any:
    """Return python-flint's ring of rational polynomials in `count` variables, at least one."""
    import flint

    return flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(max(count, 1))], flint.Ordering.lex)


def _numerator(residual: Expr, ring: _Ring) -> Any:
    """Return the numerator of an expression, as a polynomial in the variables of `ring`."""
    return _as_fraction(residual, ring, _polynomial_context(len(ring.nodes)))[0]


def _as_fraction(node: Expr, ring: _Ring, context: Any) -> tuple[Any, Any]:
    """Return numerator and denominator as polynomials without common factor; ZeroDivisionError for `1/0`."""
    budget.charge_steps(_NODE)
    one = context.constant(1)
    if node.op == "num":
        assert node.value is not None
        return _constant_polynomial(node.value, context), one
    if node.op == "sym" or not _is_rational(node):
        return context.gens()[ring.variable_number(node)], one
    if node.op == "pow":
        exponent = _integer_exponent(node) or 0
        above, below = _as_fraction(node.args[0], ring, context)
        if exponent < 0:
            above, below = _invert_fraction(above, below)
        return _raise_to(above, abs(exponent)), _raise_to(below, abs(exponent))
    above, below = _as_fraction(node.args[0], ring, context)
    if node.op == "neg":
        return -above, below
    for arg in node.args[1:]:
        up, down = _as_fraction(arg, ring, context)
        if node.op == "div":
            up, down = _invert_fraction(up, down)
        if node.op in ("mul", "div"):
            above, below = _cancel_common_factor(_multiply(above, up), _multiply(below, down))
        else:
            left, right = _multiply(above, down), _multiply(up, below)
            above, below = _cancel_common_factor(
                left + right if node.op == "add" else left - right, _multiply(below, down)
            )
    return above, below


def _charge(operations: int) -> None:
    """Charge for arithmetic on polynomials before it is done; raise _PolynomialTooLarge beyond MAX_WORK."""
    if operations > MAX_WORK:
        raise _PolynomialTooLarge
    budget.charge(operations)


def _coefficient_bits(poly: Any) -> int:
    """Return the bits of the longest coefficient with all on one denominator, as flint computes; 0 for the zero one.

    Raises _PolynomialTooLarge beyond _MAX_BITS_OF_POWER.
    """
    coefficients = poly.coeffs()
    below = 1
    for coefficient in coefficients:
        below = math.lcm(below, int(coefficient.q))
        if below.bit_length() > _MAX_BITS_OF_POWER:
            raise _PolynomialTooLarge
    bits = below.bit_length() - 1 + max((int(c.p).bit_length() for c in coefficients), default=0)
    if bits > _MAX_BITS_OF_POWER:
        raise _PolynomialTooLarge
    return bits


def _multiply(a: Any, b: Any) -> Any:
    """Return the product of two polynomials; raise _PolynomialTooLarge beyond the limits."""
    if len(a) * len(b) > MAX_TERMS**2:
        raise _PolynomialTooLarge
    _charge(len(a) * len(b) * (_PRODUCT + (_coefficient_bits(a) + _coefficient_bits(b)) // _LIMB))
    return _require_few_terms(a * b)


def _raise_to(poly: Any, exponent: int) -> Any:
    """Return the power of a polynomial; raise _PolynomialTooLarge beyond the limits: 9^9^9^9 is an attack on memory."""
    terms, bits = len(poly), _coefficient_bits(poly) * exponent
    if terms**exponent > MAX_TERMS**2 or bits > _MAX_BITS_OF_POWER:
        raise _PolynomialTooLarge
    _charge(terms * math.comb(max(exponent + terms - 2, 0), max(terms - 1, 0)) * (_PRODUCT + bits // _LIMB))
    return _require_few_terms(poly**exponent)


def _charge_factoring(*polynomials: Any) -> None:
    """Charge for the factors of a polynomial, or the common one of two; raise _PolynomialTooLarge beyond MAX_WORK.

    Terms times variables times the square of the degree times digits, fitted to the slowest of many random ones.
    """
    work = 0
    for poly in polynomials:
        degrees = [int(degree) for degree in poly.degrees() if degree > 0]
        size = len(poly) * len(degrees) * sum(degrees) ** 2
        work += size + size * _coefficient_bits(poly) // _DIGITS
    _charge(_CALL + work * _FACTORING)


def _irreducible_factors(poly: Any) -> list[Any]:
    """Return the distinct irreducible factors of a polynomial; raise _PolynomialTooLarge beyond the limits."""
    _charge_factoring(poly)
    return [factor for factor, _ in poly.factor()[1]]


def _require_few_terms(poly: Any) -> Any:
    """Return the polynomial unchanged; raise _PolynomialTooLarge if it has more than MAX_TERMS terms."""
    if len(poly) > MAX_TERMS:
        raise _PolynomialTooLarge
    return poly


def _invert_fraction(above: Any, below: Any) -> tuple[Any, Any]:
    """Return the inverse of the fraction `above / below`, as (below, above); ZeroDivisionError if `above` is zero."""
    if above.is_zero():
        raise ZeroDivisionError
    return below, above


def _cancel_common_factor(above: Any, below: Any) -> tuple[Any, Any]:
    """Return numerator and denominator divided by their greatest common divisor."""
    if below.is_constant():
        return above, below
    _charge_factoring(above, below)
    common = above.gcd(below)
    return (above / common, below / common) if not common.is_constant() else (above, below)


def _constant_polynomial(value: Fraction, context: Any) -> Any:
    """Return a number as a constant polynomial; raise _PolynomialTooLarge if it has more than MAX_BITS bits."""
    import flint

    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise _PolynomialTooLarge
    return context.constant(flint.fmpq(value.numerator, value.denominator))


def _factors_that_may_vanish(poly: Any, ring: _Ring, positive: frozenset[str]) -> list[Any]:
    """Return the irreducible factors, leading coefficient 1, that may be 0 while the symbols `positive` are > 0."""
    if poly.is_zero() or poly.is_constant():
        raise _PolynomialTooLarge
    factors = _irreducible_factors(poly)
    flags = [_is_positive(node, positive) for node in ring.nodes]
    telling = []
    for factor in factors:
        used = [k for k, degree in enumerate(factor.degrees()) if degree]
        signs = {coefficient > 0 for coefficient in factor.coeffs()}
        if len(signs) > 1 or not all(flags[k] for k in used):
            telling.append(factor / factor.coeffs()[0])
    return telling


def _is_positive(node: Expr, positive: frozenset[str]) -> bool:
    """True if a polynomial variable (`m`, `sqrt(m)`, `e^x`) is positive by its form where symbols `positive` are."""
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
    """Return a polynomial in the variables of `ring` as an expression; _PolynomialTooLarge at long coefficients."""
    budget.charge_steps(len(poly) * (1 + len(ring.nodes)))
    if _coefficient_bits(poly) > MAX_BITS:
        raise _PolynomialTooLarge
    terms = []
    for powers, coefficient in zip(poly.monoms(), poly.coeffs(), strict=True):
        factors = [number(Fraction(int(coefficient.p), int(coefficient.q)))]
        for k, power in enumerate(powers):
            if power:
                node = ring.nodes[k]
                factors.append(node if power == 1 else Expr("pow", (node, number(int(power)))))
        terms.append(factors[0] if len(factors) == 1 else Expr("mul", tuple(factors)))
    return terms[0] if len(terms) == 1 else Expr("add", tuple(terms))

"""Functions that are called by name: elementary ones, special ones of mathematical physics, and unknown ones.

Special functions are those of python-flint, with rigorous error. Conventions: Abramowitz and Stegun; `K(k)` of the
modulus, `H_n` of the physicists, `Y_{lm}` orthonormal with the phase of Condon and Shortley.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import acb

from prism.budget import charge
from prism.equivalence.interpretation import jets
from prism.equivalence.interpretation.source import Source
from prism.equivalence.interpretation.values import (
    PART,
    PRODUCT,
    Dual,
    Scalar,
    Unvalued,
    mapped,
    plain,
    real_number,
    whole_number,
)

_ZERO, _ONE, _TWO = acb(0), acb(1), acb(2)
_MOST_ORDER = 200  # of a derivative of an unknown function
_ELEMENTARY = 300  # operations of a value of an elementary function
_POWER = 1000  # of a power that is not whole
_WHOLE_POWER = 100  # of a whole one, beside its products
_DEAR = {r"\Gamma": 6_000, "digamma": 15_000, r"\zeta": 50_000, "K": 2_000, "E": 2_000, "Si": 1_500, "Ci": 6_000,
         "Ei": 10_000, "Ai": 3_000, "erf": 5_000, "erfc": 5_000}  # fmt: skip
"""Operations of a value of a function that is not elementary."""
_OF_ORDER = 80  # operations of one step of a recurrence, of which an order that is a whole number takes as many
_MOST_STEPS = 1e9  # of a recurrence that are counted
_FAR = 40.0  # size of an argument up to which K_n becomes dearer with it
_HARMONIC = 1_000  # operations of a value of a spherical harmonic, beside its recurrence
_COEFFICIENT = 90  # operations of a product of two coefficients of numbers with infinitesimals
_OF_TERM = 10  # products that a term of an unknown function costs beside those over its arguments
_DERIVATIVE = 3_000  # of a term of a derivative of any order of an unknown function
_Rule = tuple[Callable[[acb], acb], Callable[[Scalar], Scalar]]


def power(base: Scalar, exponent: Scalar) -> Scalar:
    """Return base ** exponent, the principal value; whole exponents by multiplication."""
    fixed = None if isinstance(exponent, Dual) else exponent
    if fixed is not None and fixed.imag.is_zero() and fixed.real.is_exact():
        number = float(fixed.real)
        if number == int(number) and abs(number) <= 64:
            return _whole_power(base, int(number))
        charge(_POWER)
        return mapped(base, lambda z: z.pow(fixed), lambda z: exponent * power(z, exponent - _ONE))
    if not isinstance(base, Dual) and not isinstance(exponent, Dual):
        charge(2 * _POWER)
        return mapped(base, lambda z: z.pow(exponent), lambda z: z)
    return call("exp", exponent * call("ln", base))


def _whole_power(base: Scalar, exponent: int) -> Scalar:
    """Return a whole power by repeated multiplication."""
    charge(_WHOLE_POWER + abs(exponent) * (PART if isinstance(base, Dual) else PRODUCT))
    total: Scalar = base if exponent else _ONE
    for _ in range(abs(exponent) - 1):
        total = total * base
    return _ONE / total if exponent < 0 else total


def call(name: str, x: Scalar) -> Scalar:
    """Return a function of one argument of the table `RULES`; Unvalued where it is undefined."""
    charge(_DEAR.get(name, _ELEMENTARY))  # the rules of slopes come here again, for each part
    function, slope = RULES[name]
    return mapped(x, function, slope)


def _sign(z: acb) -> acb:
    """Return the sign of a real number; Unvalued at 0."""
    number = real_number(z)
    if not number or z.real.contains(0):
        raise Unvalued("a sign at zero")
    return acb(1 if number > 0 else -1)


def _absolute(z: acb) -> acb:
    """Return the absolute value of a complex number."""
    return acb(abs(z)) if z.imag.is_zero() else acb((z * z.conjugate()).real.sqrt())


def _jump(_: Scalar) -> Scalar:
    """Raise Unvalued: the derivative of a step is no function."""
    raise Unvalued("a derivative of a step")


def _unknown_slope(*_: Scalar) -> Scalar:
    """Raise Unvalued: this derivative is not known here."""
    raise Unvalued("a derivative of a special function")


RULES: dict[str, _Rule] = {
    "exp": (acb.exp, lambda z: call("exp", z)),
    "ln": (acb.log, lambda z: _ONE / z),
    "log10": (lambda z: z.log() / acb(10).log(), lambda z: _ONE / (z * acb(10).log())),
    "sqrt": (acb.sqrt, lambda z: _ONE / (_TWO * call("sqrt", z))),
    "sin": (acb.sin, lambda z: call("cos", z)),
    "cos": (acb.cos, lambda z: -call("sin", z)),
    "tan": (acb.tan, lambda z: _ONE + _whole_power(call("tan", z), 2)),
    "cot": (acb.cot, lambda z: -_ONE - _whole_power(call("cot", z), 2)),
    "sec": (acb.sec, lambda z: call("sec", z) * call("tan", z)),
    "csc": (acb.csc, lambda z: -call("csc", z) * call("cot", z)),
    "sinh": (acb.sinh, lambda z: call("cosh", z)),
    "cosh": (acb.cosh, lambda z: call("sinh", z)),
    "tanh": (acb.tanh, lambda z: _ONE - _whole_power(call("tanh", z), 2)),
    "coth": (acb.coth, lambda z: _ONE - _whole_power(call("coth", z), 2)),
    "asin": (acb.asin, lambda z: _ONE / call("sqrt", _ONE - z * z)),
    "acos": (acb.acos, lambda z: -_ONE / call("sqrt", _ONE - z * z)),
    "atan": (acb.atan, lambda z: _ONE / (_ONE + z * z)),
    "asinh": (acb.asinh, lambda z: _ONE / call("sqrt", _ONE + z * z)),
    "acosh": (acb.acosh, lambda z: _ONE / call("sqrt", z * z - _ONE)),
    "atanh": (acb.atanh, lambda z: _ONE / (_ONE - z * z)),
    "abs": (_absolute, lambda z: call("sgn", z)),
    "sgn": (_sign, _jump),
    "step": (lambda z: (_sign(z) + _ONE) / _TWO, _jump),
    "erf": (acb.erf, lambda z: _TWO / acb.pi().sqrt() * call("exp", -z * z)),
    "erfc": (acb.erfc, lambda z: -_TWO / acb.pi().sqrt() * call("exp", -z * z)),
    r"\Gamma": (acb.gamma, lambda z: call(r"\Gamma", z) * call("digamma", z)),
    "digamma": (acb.digamma, lambda z: mapped(z, lambda w: w.polygamma(1), _unknown_slope)),
    r"\zeta": (acb.zeta, _unknown_slope),
    "K": (lambda k: (k * k).elliptic_k(), _unknown_slope),
    "E": (lambda k: (k * k).elliptic_e(), _unknown_slope),
    "Si": (acb.si, lambda z: call("sin", z) / z),
    "Ci": (acb.ci, lambda z: call("cos", z) / z),
    "Ei": (acb.ei, lambda z: call("exp", z) / z),
    "Ai": (acb.airy_ai, _unknown_slope),
}
"""Functions of one argument by name, each with its derivative."""


@dataclass(frozen=True, slots=True)
class SpecialFunction:
    """A family of special functions with an order, as `J_n`.

    Attributes:
        value: of order and argument.
        slope: its derivative by the argument.
        price: operations of a value of a low order.
    """

    value: Callable[[acb, acb], acb]
    slope: Callable[[acb, Scalar], Scalar]
    price: int


def _family(letter: str, order: acb, x: Scalar) -> Scalar:
    """Return a function of a family, as `J_n(x)`."""
    family = FAMILIES[letter]
    far = min(_FAR, float(plain(x).mid().abs_upper())) if letter == "K" else 0.0
    steps = min(_MOST_STEPS, float(order.mid().abs_upper()))
    charge(int(family.price * (1 + far)) + int(steps) * _OF_ORDER)
    return mapped(x, lambda z: family.value(order, z), lambda z: family.slope(order, z))


def _bessel_slope(letter: str, sign: int) -> Callable[[acb, Scalar], Scalar]:
    """Return the derivative of a Bessel function by those of the neighbouring orders."""
    return lambda n, z: (_family(letter, n - _ONE, z) - acb(sign) * _family(letter, n + _ONE, z)) / _TWO


def _legendre_slope(n: acb, z: Scalar) -> Scalar:
    """Return the derivative of a Legendre polynomial."""
    return n * (z * _family("P", n, z) - _family("P", n - _ONE, z)) / (z * z - _ONE)


def _spherical(kind: str) -> Callable[[acb, acb], acb]:
    """Return the spherical Bessel function of a kind, J or Y."""
    half = acb(1) / acb(2)
    return lambda n, z: (acb.pi() / (_TWO * z)).sqrt() * FAMILIES[kind].value(n + half, z)


def _spherical_slope(letter: str) -> Callable[[acb, Scalar], Scalar]:
    """Return the derivative of a spherical Bessel function."""
    return lambda n, z: _family(letter, n - _ONE, z) - (n + _ONE) / z * _family(letter, n, z)


FAMILIES: dict[str, SpecialFunction] = {
    "J": SpecialFunction(lambda n, z: z.bessel_j(n), _bessel_slope("J", 1), 5_000),
    "N": SpecialFunction(lambda n, z: z.bessel_y(n), _bessel_slope("N", 1), 30_000),
    "I": SpecialFunction(lambda n, z: z.bessel_i(n), _bessel_slope("I", -1), 5_000),
    "K": SpecialFunction(
        lambda n, z: z.bessel_k(n),
        lambda n, z: -(_family("K", n - _ONE, z) + _family("K", n + _ONE, z)) / _TWO,
        10_000,
    ),
    "P": SpecialFunction(lambda n, z: z.legendre_p(n), _legendre_slope, 1_000),
    "H": SpecialFunction(lambda n, z: z.hermite_h(n), lambda n, z: _TWO * n * _family("H", n - _ONE, z), 1_000),
    "L": SpecialFunction(lambda n, z: z.laguerre_l(n), _unknown_slope, 1_500),
    "T": SpecialFunction(lambda n, z: z.chebyshev_t(n), _unknown_slope, 1_000),
    "j": SpecialFunction(_spherical("J"), _spherical_slope("j"), 5_000),
    "n": SpecialFunction(_spherical("N"), _spherical_slope("n"), 30_000),
}
FAMILIES["Y"] = FAMILIES["N"]


def special_value(letter: str, order: Scalar, x: Scalar) -> Scalar:
    """Return a special function of an order at x; Unvalued where it is undefined."""
    return _family(letter, plain(order), x)


def spherical_harmonic(degree: Scalar, order: Scalar, theta: Scalar, phi: Scalar) -> Scalar:
    """Return Y_lm(theta, phi); Unvalued unless the indices are whole numbers with |m| <= l."""
    first, second = whole_number(degree), whole_number(order)
    if abs(second) > first or isinstance(theta, Dual) or isinstance(phi, Dual):
        raise Unvalued("a spherical harmonic")
    charge(_HARMONIC + first * _OF_ORDER)
    return acb.spherical_y(first, second, theta, phi)


@dataclass(frozen=True, slots=True)
class UnknownFunction:
    """A random smooth function of several numbers, entire, of both signs, unbounded, no polynomial, not symmetric.

    Attributes:
        terms: amplitude, rates and phase of each term a (1 + p x) exp(q x) cos(r x + s).
        falls: it is multiplied by a bell of this steepness, so that it can be integrated over all space.
    """

    terms: tuple[tuple[acb, tuple[acb, ...], tuple[acb, ...], tuple[acb, ...], acb], ...]
    falls: float = 0.0

    def at(self, coordinates: Sequence[jets.Jet], size: int) -> jets.Jet:
        """Return the value at a point with infinitesimals of so many bits, charged for all of them at once.

        Raises Unvalued where it is undefined.
        """
        products = ((3 * len(coordinates) + _OF_TERM) << size) + 2 * 3**size
        charge(len(self.terms) * products * (_COEFFICIENT if size else PRODUCT))
        if size:
            found = self._coefficients(coordinates, size)
        else:
            found = {0: self._number([x.get(0, _ZERO) for x in coordinates])}
        if not found.get(0, _ZERO).is_finite():
            raise Unvalued("undefined")
        return found

    def _number(self, point: Sequence[acb]) -> acb:
        """Return the value at a point without infinitesimals."""
        total = acb(0)
        for amplitude, slopes, rates, turns, phase in self.terms:
            first, second, third = _ONE, _ZERO, phase
            for slope, rate, turn, x in zip(slopes, rates, turns, point, strict=True):
                first, second, third = first + slope * x, second + rate * x, third + turn * x
            total = total + amplitude * first * second.exp() * third.cos()
        for x in point if self.falls else ():
            total = total * (acb(-self.falls) * x * x).exp()
        return total

    def _coefficients(self, coordinates: Sequence[jets.Jet], size: int) -> jets.Jet:
        """Return the value at a point with infinitesimals of so many bits."""
        total: jets.Jet = {}
        for amplitude, slopes, rates, turns, phase in self.terms:
            factor = jets.linear(amplitude, [amplitude * slope for slope in slopes], coordinates)
            factor = jets.product(factor, jets.exp_of(jets.linear(_ZERO, rates, coordinates), size))
            factor = jets.product(factor, jets.cosine(jets.linear(phase, turns, coordinates), size))
            total = jets.total(total, factor)
        for x in coordinates if self.falls else ():
            square = jets.product({0: acb(-self.falls)}, jets.product(x, x))
            total = jets.product(total, jets.exp_of(square, size))
        return total

    def derivative(self, x: Scalar, order: int) -> Scalar:
        """Return a derivative of a function of one argument; Unvalued for an order below 0 or above 200."""
        if not 0 <= order <= _MOST_ORDER or any(len(slopes) != 1 for _, slopes, *_ in self.terms):
            raise Unvalued("a derivative of this order")
        return mapped(x, lambda z: self._derivative(z, order), lambda z: self.derivative(z, order + 1))

    def _derivative(self, x: acb, order: int) -> acb:
        """Return a derivative at a number: of (1 + p x) exp(c x) it is c^(n-1) (c (1 + p x) + n p) exp(c x)."""
        charge(len(self.terms) * _DERIVATIVE)
        total = acb(0)
        for amplitude, (slope,), (rate,), (turn,), phase in self.terms:
            for sign in (1, -1):
                c, size = acb(rate.real, sign * turn.real), amplitude * (acb(0, sign) * phase).exp() / _TWO
                part = c * (_ONE + slope * x) + acb(order) * slope
                total += size * part * c ** (order - 1) * (c * x).exp()
        return total


def draw_function(source: Source, arity: int, family: int, *, is_complex: bool, falls: bool = False) -> UnknownFunction:
    """Draw an unknown function.

    Args:
        source: of random numbers.
        arity: how many arguments.
        family: 0, 1, 2: with two, three terms, and with faster ones.
        is_complex: with complex values.
        falls: it vanishes at infinity.
    """

    def row(size: float) -> tuple[acb, ...]:
        """Draw one coefficient for each argument."""
        return tuple(acb(source.sign() * source.uniform(0.3, 1.0) * size) for _ in range(arity))

    terms = []
    for k in range(2 + family % 2):
        amplitude = acb(source.uniform(0.5, 1.5) * (-1) ** k, source.uniform(-1, 1) if is_complex else 0)
        pace = 0.5 + 0.3 * family
        terms.append((amplitude, row(0.4), row(pace), row(pace), acb(source.uniform(0.2, 1.3))))
    return UnknownFunction(tuple(terms), source.uniform(2.0, 3.5) if falls else 0.0)

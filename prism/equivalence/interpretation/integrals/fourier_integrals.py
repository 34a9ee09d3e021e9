r"""Fourier integrals to infinity, `\int_0^\infty f(x)\cos(kx)\,dx`, by the rule of Ooura and Mori (1991).

Its nodes run into the zeros of the wave twice as fast as an exponential, so that nothing is lost where f falls off
slowly. It would also sum what diverges: f has to fall off.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import acb, arb

from prism.algebra.expr import Expr, symbols, walk
from prism.engine.lowering.integrals import TRIGONOMETRIC
from prism.equivalence.interpretation.integrals.quadrature import plain_size
from prism.equivalence.interpretation.values import Dual, Scalar, Unvalued

_STEPS = (1 / 12, 1 / 24)
_ROUNDING = 1e-15  # error of the rule, of the size of what it sums
_REACH = 3.4  # of the variable of the rule
_FAR = (1e2, 1e5)  # where f is looked at for its fall, in wave lengths
_FALLS = 1e-2  # share of its size at the first place that is left at the second one

Function = Callable[[Expr], Callable[[Scalar], Scalar]]


def wave_in(integrand: Expr, name: str) -> tuple[Expr, Expr] | None:
    """Return the wave in an integrand and its other factors; None if there is none, or several."""
    factors = integrand.args if integrand.op == "mul" else (integrand,)
    waves = [each for each in factors if each.op in ("sin", "cos", "exp") and name in symbols(each)]
    rest = tuple(each for each in factors if each not in waves)
    turning = (part for each in rest for part in walk(each) if part.op in (*TRIGONOMETRIC, "exp", "apply"))
    if len(waves) != 1 or any(name in symbols(part) for part in turning):
        return None
    others = rest or (Expr("num", name="1", value=Fraction(1)),)
    return waves[0], others[0] if len(others) == 1 else Expr("mul", others)


def on_half_line(function: Function, wave: Expr, rest: Expr, *, is_reversed: bool = False) -> Scalar:
    """Return the integral of a product of a wave and a function from 0 to infinity, or to minus infinity.

    Errors:
        Unvalued: the argument of the wave is not linear and real, or the function does not fall off.
    """
    sign = -1 if is_reversed else 1
    phase, turning, slow = function(wave.args[0]), function(wave), function(rest)
    zero, one, two = (_plain(phase(acb(sign * x))) for x in (0, 1, 2))
    pace = one - zero
    if wave.op == "exp":
        pace = pace * acb(0, -1)
    if plain_size(two - one - one + zero) > 1e-30 * (1 + plain_size(pace)) or abs(float(pace.imag.mid())) > 1e-30:
        raise Unvalued("a wave that is not even")
    frequency = abs(float(pace.real.mid()))
    if not frequency:
        raise Unvalued("a wave that does not turn")
    even, odd = turning(acb(0)), turning(acb(sign) * acb.pi() / (acb(2) * acb(abs(pace.real))))
    near, far = (plain_size(_plain(slow(acb(sign * place / frequency)))) for place in _FAR)
    if not far <= _FALLS * near:
        raise Unvalued("an integral that diverges")
    found = [_by_rule(lambda x: _plain(slow(acb(sign) * x)), abs(pace.real), step) for step in _STEPS]
    values = [_plain(even) * cosine + _plain(odd) * sine for cosine, sine, _ in found]
    apart = 10 * plain_size(values[1] - values[0]) + _ROUNDING * found[1][2]
    return acb(arb(values[1].real.mid(), apart), arb(values[1].imag.mid(), apart))


def _plain(x: Scalar) -> acb:
    """Return a number without infinitesimals; Unvalued for one with them."""
    if isinstance(x, Dual):
        raise Unvalued("a Fourier integral that is differentiated")
    return x


def _by_rule(slow: Callable[[acb], acb], frequency: arb, step: float) -> tuple[acb, acb, float]:
    """Return the integrals of a function times the cosine and the sine, and the size of what is summed."""
    scale = acb.pi() / (acb(step) * acb(frequency))
    count = int(_REACH / step)
    sums, size = [acb(0), acb(0)], 0.0
    for k in range(-count, count + 1):
        for kind, t in enumerate(((k + 0.5) * step, k * step)):
            place, slope = _place_and_slope(acb(t))
            x = scale * place
            angle = acb(frequency) * x
            part = slow(x) * (angle.sin() if kind else angle.cos()) * slope
            sums[kind] += part
            size += plain_size(part)
    share = acb(step) * scale
    return share * sums[0], share * sums[1], plain_size(share) * size


def _place_and_slope(t: acb) -> tuple[acb, acb]:
    """Return `t/(1 - e^{-6 sinh t})` and its slope; the limits at 0."""
    if t.is_zero():
        return acb(1) / acb(6), acb(1) / acb(2)
    falling = (acb(-6) * t.sinh()).exp()
    below = acb(1) - falling
    return t / below, acb(1) / below - t * acb(6) * t.cosh() * falling / (below * below)

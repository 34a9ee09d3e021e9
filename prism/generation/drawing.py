"""Draw the values of a template: each a pure function of the template's id, the seed, the attempt and a name.

A value does not depend on what was drawn before. So a parameter more, or another order in the file, changes no other
value, and any instance can be made alone, in any process. No float and no function of the C library takes part: the
same bytes on every machine.

Refused: `random.Random(seed + index)`, as data sets of this kind use. Its chunks overlap, and one draw more shifts all
that follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

_SCHEME = "prism-template-1"  # names this way of drawing; another one would have another name
_BYTES = 8  # of the digest that make a number
_LOGARITHMS = Context(prec=50, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)


def draw_unit(template: str, seed: int, attempt: int, name: str) -> Fraction:
    """Return the number in [0, 1) that is drawn for a name: the first 8 bytes of a SHA-256 over 2^64.

    >>> draw_unit("braking", 0, 1, "v_0") * 2**64  # u = 0.3607...
    Fraction(6654453149154075181, 1)
    """
    key = "\0".join((_SCHEME, template, str(seed), str(attempt), name))
    digest = hashlib.sha256(key.encode()).digest()
    return Fraction(int.from_bytes(digest[:_BYTES], "big"), 2 ** (8 * _BYTES))


def draw_index(u: Fraction, n: int) -> int:
    """Return the place from 0 of one of n entries for a drawn number u in [0, 1)."""
    return u.numerator * n // u.denominator


def draw_weighted(u: Fraction, weights: Sequence[Fraction]) -> int:
    """Return the place from 0 of one of several entries, by their weights.

    The draw lies below 1, else AssertionError is raised.
    """
    aim, total = u * sum(weights, Fraction(0)), Fraction(0)
    for place, weight in enumerate(weights):
        total += weight
        if aim < total:
            return place
    raise AssertionError("u is below 1")


def draw_integer(u: Fraction, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included."""
    return low + draw_index(u, high - low + 1)


def draw_uniform(u: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a number between two bounds, exactly; it is not rounded yet."""
    return low + (high - low) * u


def draw_log_uniform(u: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a number between two positive bounds with a uniform logarithm, in decimal arithmetic of 50 digits."""
    return Fraction(_log_uniform(_LOGARITHMS, *(_as_decimal(each) for each in (u, low, high))))


def _log_uniform(context: Context, u: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """Return exp(ln low + u (ln high - ln low)), each step rounded correctly."""
    first, last = context.ln(low), context.ln(high)
    return context.exp(context.add(first, context.multiply(u, context.subtract(last, first))))


def _as_decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal of 50 digits."""
    return _LOGARITHMS.divide(Decimal(value.numerator), Decimal(value.denominator))


def template_seed(run: int, index: int) -> int:
    """Return the seed of instance `index` of an endless run: hashed, so that runs share no instance.

    >>> template_seed(1, 0) == template_seed(0, 1)
    False
    """
    return int.from_bytes(hashlib.sha256(f"{run}\0{index}".encode()).digest()[:_BYTES], "big")

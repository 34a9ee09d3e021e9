"""Numbers with several infinitesimals laid flat: a coefficient for each product of infinitesimals, those of 0 left out.

So a function of numbers with infinitesimals costs as many products as there are coefficients, and a coordinate that has
one infinitesimal has two of them. The twin of all this is the arithmetic of `Dual`, part by part.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from flint import acb, arb

from prism.equivalence.interpretation.values import Dual, Scalar

Jet = dict[int, acb]
"""Coefficients by the infinitesimals that they belong to, each a bit; 0 for the number itself."""
_ZERO = acb(0)


def flat(x: Scalar, tags: Sequence[int]) -> Jet:
    """Return the coefficients of a number.

    Args:
        tags: of all infinitesimals, the outermost one last; the bit of each is its place.
    """
    if not isinstance(x, Dual):
        return {} if x.is_zero() else {0: x}
    bit = 1 << tags.index(x.tag)
    found = flat(x.value, tags)
    found.update({mask | bit: part for mask, part in flat(x.slope, tags).items()})
    return found


def key_of(jet: Jet) -> Hashable:
    """Return the coefficients of a number as a key, the same for the same balls."""
    return tuple((mask, _ends(jet[mask].real), _ends(jet[mask].imag)) for mask in sorted(jet))


def _ends(ball: arb) -> Hashable:
    """Return a real ball as a key: a float as such, which is hashed fast; else its middle and error."""
    near = float(ball)
    return near if ball == near else (ball.mid(), ball.rad())


def nested(jet: Jet, tags: Sequence[int]) -> Scalar:
    """Return the number of some coefficients; the reverse of `flat`."""
    if not tags:
        return jet.get(0, _ZERO)
    bit = 1 << (len(tags) - 1)
    value = {mask: part for mask, part in jet.items() if not mask & bit}
    slope = {mask ^ bit: part for mask, part in jet.items() if mask & bit}
    return Dual(nested(value, tags[:-1]), nested(slope, tags[:-1]) if slope else _ZERO, tags[-1])


def linear(constant: acb, coefficients: Iterable[acb], jets: Iterable[Jet]) -> Jet:
    """Return a constant and the sum of coefficients times numbers."""
    found = {0: constant}
    for coefficient, jet in zip(coefficients, jets, strict=True):
        for mask, part in jet.items():
            before = found.get(mask)
            found[mask] = coefficient * part if before is None else before + coefficient * part
    return found


def total(a: Jet, b: Jet) -> Jet:
    """Return the sum of two numbers."""
    found = dict(a)
    for mask, part in b.items():
        found[mask] = found[mask] + part if mask in found else part
    return found


def product(a: Jet, b: Jet) -> Jet:
    """Return the product of two numbers."""
    found: Jet = {}
    for mask, x in a.items():
        for other, y in b.items():
            if not mask & other:
                both = mask | other
                found[both] = found[both] + x * y if both in found else x * y
    return found


def exp_of(jet: Jet, size: int) -> Jet:
    """Return the exponential of a number with infinitesimals of so many bits: each coefficient by its lowest one."""
    found = {0: jet.get(0, _ZERO).exp()}
    for mask in range(1, 1 << size):
        low = mask & -mask
        for own, part in jet.items():
            if own & low and own & mask == own and mask ^ own in found:
                term = part * found[mask ^ own]
                found[mask] = found[mask] + term if mask in found else term
    return found


def cosine(jet: Jet, size: int) -> Jet:
    """Return the cosine of a number, with its sine worked out beside it."""
    start = jet.get(0, _ZERO)
    found, sines = {0: start.cos()}, {0: start.sin()}
    for mask in range(1, 1 << size):
        low = mask & -mask
        for own, part in jet.items():
            if own & low and own & mask == own and mask ^ own in found:
                one, two = part * sines[mask ^ own], part * found[mask ^ own]
                found[mask] = found[mask] - one if mask in found else -one
                sines[mask] = sines[mask] + two if mask in sines else two
    return found

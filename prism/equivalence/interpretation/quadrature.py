"""Quadrature on balls with an error estimate: the double-exponential rules of Takahasi and Mori (1974)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

from flint import acb, arb

from prism.equivalence.interpretation.values import Diverges, Dual, Scalar, Unvalued, plain, slope_of

_REACH = 4.0  # of the variable of a rule, to each side
_STEPS = (0.5, 0.25, 0.125, 0.0625, 0.03125)  # of its refinements
_NOTHING = 1e-30  # size of a part that is none
_QUADRATIC = 1e-5  # relative distance of two steps from which on the error is that distance squared
_GOOD = 1e-13  # relative error at which a rule is not refined further

_DIRECTIONS = ((9, 11), (14, 16))  # polar angles and azimuths of two rules over the sphere

Integrand = Callable[[Scalar], Scalar]


def by_parts(terms: list[Scalar], combine: Callable[[list[acb]], acb]) -> Scalar:
    """Apply a linear summation to numbers with infinitesimals, part by part."""
    tags = [term.tag for term in terms if isinstance(term, Dual)]
    if not tags:
        return combine([plain(term) for term in terms])
    tag = max(tags)
    values = [term.value if isinstance(term, Dual) and term.tag == tag else term for term in terms]
    return Dual(by_parts(values, combine), by_parts([slope_of(term, tag) for term in terms], combine), tag)


def plain_size(x: acb) -> float:
    """Return the absolute value of a ball's middle."""
    return float(x.mid().abs_upper())


def between(at: Integrand, start: Scalar, end: Scalar) -> Scalar:
    """Return the integral between two numbers."""
    width = end - start

    def term(share: acb, is_low: acb, weight: acb) -> Scalar:
        """Return the weighted integrand at a share of the width from the nearer end."""
        return weight * at(end - width * share if is_low.is_zero() else start + width * share)

    return width * _refined(lambda step, is_new: [term(*node) for node in _nodes("finite", step, is_new)])


def on_half_line(at: Integrand, start: Scalar) -> Scalar:
    """Return the integral from a number to infinity."""
    return _refined(lambda step, is_new: [w * at(start + x) for x, w in _nodes("half", step, is_new)], first=1)


def on_line(at: Integrand) -> Scalar:
    """Return the integral from minus to plus infinity."""
    return _refined(lambda step, is_new: [w * at(x) for x, w in _nodes("whole", step, is_new)], first=1)


def over_directions(at: Callable[[acb, acb], Scalar]) -> Scalar:
    """Return the integral over all directions, of a function of the polar angle and the azimuth.

    The rule is that of Gauss and Legendre in the cosine of one, and equidistant in the other; its error is estimated
    by one of fewer nodes.
    """
    sizes: list[int] = []
    terms: list[Scalar] = []
    for n_polar, n_around in _DIRECTIONS:
        sizes.append(n_polar * n_around)
        for k in range(n_polar):
            cosine, weight = arb.legendre_p_root(n_polar, k, weight=True)
            polar = acb(cosine.mid()).acos()
            for j in range(n_around):
                azimuth = acb.pi() * acb(2 * j + 0.7) / acb(n_around)
                terms.append(acb(weight.mid()) * acb.pi() * acb(2) / acb(n_around) * at(polar, azimuth))

    def with_error(values: list[acb]) -> acb:
        """Return the sum of the finer rule with the distance of the coarser one as its error."""
        coarse, fine = sum(values[: sizes[0]], acb(0)), sum(values[sizes[0] :], acb(0))
        if not fine.is_finite():
            raise Unvalued("an integrand that is undefined")
        size = sum(plain_size(value) for value in values[sizes[0] :])
        error = 10 * plain_size(fine - coarse) + 1e-15 * size
        return acb(arb(fine.real.mid(), error), arb(fine.imag.mid(), error))

    return by_parts(terms, with_error)


@cache
def _nodes(kind: str, step: float, is_new: bool) -> tuple[tuple[acb, ...], ...]:
    """Return the nodes of a rule with their weights, before they are multiplied by the step.

    Args:
        kind: `finite`, of (share of the width from the nearer end, 1 if that is the lower one, weight); `half` or
            `whole`, of (position, weight).
        step: distance of the nodes in the variable of the rule.
        is_new: only the nodes that the rule of twice the step does not have.
    """
    return tuple(_node(kind, step * k) for k in _counts(step, is_new=is_new))


def _counts(step: float, *, is_new: bool) -> Iterator[int]:
    """Yield which multiples of a step are nodes."""
    most = int(_REACH / step)
    return (k for k in range(-most, most + 1) if k % 2 or not is_new)


def _node(kind: str, t: float) -> tuple[acb, ...]:
    """Return the node of a rule at the value `t` of its variable."""
    u, du = math.pi / 2 * math.sinh(t), math.pi / 2 * math.cosh(t)
    if kind == "finite":
        near = 1 / (1 + math.exp(2 * abs(u)))
        return acb(near), acb(int(u <= 0)), acb(2 * du * near * (1 - near))
    if kind == "half":
        return acb(math.exp(u)), acb(du * math.exp(u))
    return acb(math.sinh(u)), acb(du * math.cosh(u))


def _refined(parts: Callable[[float, bool], list[Scalar]], first: int = 0) -> Scalar:
    """Return the sum of the parts of a rule, refined until its error is small.

    Args:
        parts: weighted integrands at the nodes of a step, or at those that are new at it.
        first: which of the steps is the first.
    """
    coarse = parts(_STEPS[first], False)
    total: Scalar = acb(0)
    last = len(coarse) - 1
    for step in _STEPS[first + 1 :]:
        fine = parts(step, True)
        n_coarse = len(coarse)
        coarse = coarse + fine

        def with_error(values: list[acb], n: int = n_coarse, h: float = step) -> acb:
            """Return the sum with its error: the distance to that of twice the step, squared where it is small."""
            return _with_error(values[:n], values[n:], h, last, is_open_ended=bool(first))

        total = by_parts(coarse, with_error)
        if _is_good(total):
            break
    return total


def _with_error(old: list[acb], new: list[acb], step: float, last: int, *, is_open_ended: bool) -> acb:
    """Return a rule's sum with its error.

    Args:
        old: parts of the rule of twice the step, the two ends at 0 and `last`; `new`: the others.
        is_open_ended: it goes to infinity, where its last part is the largest of all if it diverges.
    """
    total = sum(old, acb(0))
    before, now = acb(2 * step) * total, acb(step) * (total + sum(new, acb(0)))
    size = step * sum(plain_size(part) for part in (*old, *new)) or 1e-300
    if not now.is_finite():
        raise Unvalued("an integrand that is undefined")
    apart = plain_size(now - before) / size
    if is_open_ended and plain_size(old[last]) >= max(map(plain_size, old)) and plain_size(old[last]) > _NOTHING:
        raise Diverges("an integral that diverges")
    ends = 10 * step * (plain_size(old[0]) + plain_size(old[last]))
    missed = 10 * apart if apart > _QUADRATIC else 1000 * apart * apart
    error = (missed + 1e-15) * size + ends + float(now.rad())
    return acb(arb(now.real.mid(), error), arb(now.imag.mid(), error))


def _is_good(x: Scalar) -> bool:
    """Return True if a number and its slopes are accurate."""
    if isinstance(x, Dual):
        return _is_good(x.value) and _is_good(x.slope)
    return float(x.rad()) <= _GOOD * plain_size(x)

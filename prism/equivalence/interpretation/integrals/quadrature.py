"""Quadrature on balls with an error estimate: the double-exponential rules of Takahasi and Mori (1974).

Between finite limits a rule of Fejer (1933) is tried before, which needs fewer nodes where a function is analytic at
the limits too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache

from flint import acb, arb

from prism.budget import charge
from prism.equivalence.interpretation.values import Diverges, Dual, Scalar, Unvalued, plain, slope_of

_REACH = 4.0  # of the variable of a rule, to each side
_STEPS = (0.5, 0.25, 0.125, 0.0625, 0.03125)  # of its refinements
_NOTHING = 1e-30  # size of a part that is none
_QUADRATIC = 1e-5  # relative distance of two steps from which on the error is that distance squared
_GOOD = 1e-13  # relative error at which a rule is not refined further
_VOID = 1e-300  # error at which it is not either: all parts are 0
_COUNTS = (8, 16, 32)  # of the rules of Fejer, each of which has the nodes of those before
_HOPEFUL = 1e-6  # relative error of the second one up to which the third one may be accurate

_POINT = 200  # operations charged for a point, beside those of the integrand
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

    smooth = _of_smooth(lambda share: at(start + width * share))
    return width * (_refined("finite", term) if smooth is None else smooth)


def on_half_line(at: Integrand, start: Scalar) -> Scalar:
    """Return the integral from a number to infinity."""
    return _refined("half", lambda x, weight: weight * at(start + x), first=1)


def on_line(at: Integrand) -> Scalar:
    """Return the integral from minus to plus infinity."""
    return _refined("whole", lambda x, weight: weight * at(x), first=1)


def over_directions(at: Callable[[acb, acb], Scalar]) -> Scalar:
    """Return the integral over all directions, of a function of the polar angle and the azimuth.

    The rule is that of Gauss and Legendre in the cosine of one, and equidistant in the other; its error is estimated
    by one of fewer nodes.
    """
    sizes: list[int] = []
    terms: list[Scalar] = []
    for n_polar, n_around in _DIRECTIONS:
        charge(_POINT * n_polar * n_around)
        sizes.append(n_polar * n_around)
        for k in range(n_polar):
            cosine, weight = arb.legendre_p_root(n_polar, k, weight=True)
            polar = acb(cosine.mid()).acos()
            for j in range(n_around):
                azimuth = acb.pi() * acb(2 * j + 0.7) / acb(n_around)
                terms.append(acb(weight.mid()) * acb.pi() * acb(2) / acb(n_around) * at(polar, azimuth))

    def with_error(values: list[acb]) -> acb:
        """Return the sum of the finer rule with the distance of the coarser one as its error.

        Raises Unvalued where the integrand is undefined.
        """
        coarse, fine = sum(values[: sizes[0]], acb(0)), sum(values[sizes[0] :], acb(0))
        if not fine.is_finite():
            raise Unvalued("an integrand that is undefined")
        size = sum(plain_size(value) for value in values[sizes[0] :])
        error = 10 * plain_size(fine - coarse) + 1e-15 * size
        return acb(arb(fine.real.mid(), error), arb(fine.imag.mid(), error))

    return by_parts(terms, with_error)


def _of_smooth(at: Integrand) -> Scalar | None:
    """Return the integral from 0 to 1 by a rule of Fejer; None where those of more nodes do not settle soon."""
    values: list[Scalar] = []
    for count in _COUNTS:
        before, rule = values, _fejer(count)
        is_first = not before
        charge(_POINT * (count if is_first else count // 2))
        values = [at(share) if is_first or k % 2 == 0 else before[k // 2] for k, (share, _) in enumerate(rule)]
        if is_first:
            continue
        found = by_parts(values, lambda parts, n=count: _by_two_rules(parts, n))  # type: ignore[misc]
        if _is_good(found):
            return found
        if not _is_good(found, _HOPEFUL):
            break
    return None


def _by_two_rules(values: list[acb], count: int) -> acb:
    """Return a sum by the rule of Fejer of a count, with ten times its distance to that of half the count as error."""
    parts = [weight * value for value, (_, weight) in zip(values, _fejer(count), strict=True)]
    coarse = [weight * value for value, (_, weight) in zip(values[1::2], _fejer(count // 2), strict=True)]
    now = sum(parts, acb(0))
    if not now.is_finite():
        return now
    error = 10 * plain_size(now - sum(coarse, acb(0))) + 1e-15 * sum(map(plain_size, parts)) + float(now.rad())
    return acb(arb(now.real.mid(), error), arb(now.imag.mid(), error))


@cache
def _fejer(count: int) -> tuple[tuple[acb, acb], ...]:
    """Return the nodes of the second rule of Fejer from 0 to 1, each with its weight."""
    found = []
    for k in range(1, count):
        angle = math.pi * k / count
        waves = sum(math.sin((2 * j - 1) * angle) / (2 * j - 1) for j in range(1, count // 2 + 1))
        found.append((acb(math.sin(angle / 2) ** 2), acb(2 * math.sin(angle) * waves / count)))
    return tuple(found)


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


def _refined(kind: str, term: Callable[..., Scalar], first: int = 0) -> Scalar:
    """Return the sum of the parts of a rule, refined until its error is small.

    Args:
        kind: of the rule, see `_nodes`.
        term: gives the weighted integrand at a node.
        first: which of the steps is the first.
    """
    nodes = _nodes(kind, _STEPS[first], False)
    charge(_POINT * len(nodes))
    coarse = [term(*node) for node in nodes]
    total: Scalar = acb(0)
    last = len(coarse) - 1
    low, high = _inside(coarse)
    for step in _STEPS[first + 1 :]:
        every = _nodes(kind, step, True)
        per = len(every) // last
        charge(_POINT * (high - low) * per)
        fine = [term(*node) for node in every[low * per : high * per]]
        n_coarse = len(coarse)
        coarse = coarse + fine

        def with_error(values: list[acb], n: int = n_coarse, h: float = step) -> acb:
            """Return the sum with its error: the distance to that of twice the step, squared where it is small."""
            return _with_error(values[:n], values[n:], h, last, is_open_ended=bool(first))

        total = by_parts(coarse, with_error)
        if _is_good(total):
            break
    return total


def _inside(parts: list[Scalar]) -> tuple[int, int]:
    """Return between which two nodes of a rule its parts are more than nothing: there it is refined."""
    if any(isinstance(part, Dual) for part in parts):
        return 0, len(parts) - 1
    sizes = [plain_size(plain(part)) for part in parts]
    least = _NOTHING * max(sizes)
    inside = [k for k, size in enumerate(sizes) if not size <= least] or range(len(sizes))
    return max(inside[0] - 1, 0), min(inside[-1] + 1, len(sizes) - 1)


def _with_error(old: list[acb], new: list[acb], step: float, last: int, *, is_open_ended: bool) -> acb:
    """Return a rule's sum with its error.

    Raises Unvalued where it is undefined, Diverges where the integral is infinite.

    Args:
        old: parts of the rule of twice the step, the two ends at 0 and `last`; `new`: the others.
        is_open_ended: it goes to infinity, where its last part is the largest of all if it diverges.
    """
    total = sum(old, acb(0))
    before, now = acb(2 * step) * total, acb(step) * (total + sum(new, acb(0)))
    sizes = [plain_size(part) for part in old]
    size = step * sum([*sizes, *map(plain_size, new)]) or 1e-300
    if not now.is_finite():
        raise Unvalued("an integrand that is undefined")
    apart = plain_size(now - before) / size
    if is_open_ended and sizes[last] >= max(sizes) and sizes[last] > _NOTHING:
        raise Diverges("an integral that diverges")
    ends = 10 * step * (sizes[0] + sizes[last])
    missed = 10 * apart if apart > _QUADRATIC else 1000 * apart * apart
    error = (missed + 1e-15) * size + ends + float(now.rad())
    return acb(arb(now.real.mid(), error), arb(now.imag.mid(), error))


def _is_good(x: Scalar, level: float = _GOOD) -> bool:
    """Return True if a number and its slopes are accurate."""
    if isinstance(x, Dual):
        return _is_good(x.value, level) and _is_good(x.slope, level)
    return float(x.rad()) <= max(level * plain_size(x), _VOID)

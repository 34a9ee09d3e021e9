r"""Integrals over space, balls and discs as iterated ones in spherical or plane polar coordinates, with their Jacobian.

`d^3k` without a region is all of space. An integrand that has its vector only by its length is integrated over shells,
one that has it in a product with one other vector over that product too: `e^{i\vec q\cdot\vec r}` over all directions
is `4\pi\sin(qr)/(qr)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from prism.algebra.columns import has_vectors
from prism.algebra.expr import Expr, Formula, substitute, symbol, symbols, walk, with_args, with_members
from prism.algebra.symbols import VECTOR, symbol_of
from prism.equivalence.interpretation.names import inequality_of
from prism.equivalence.interpretation.values import Unvalued

_ZERO, _ONE, _TWO, _FOUR = (Expr("num", name=str(k), value=Fraction(k)) for k in (0, 1, 2, 4))
_MINUS_ONE = Expr("num", name="-1", value=Fraction(-1))
_PI, _INFINITY = Expr("const", name="pi"), Expr("infinity")
_THETA, _PHI, _ALONG = symbol(r"\theta"), symbol(r"\phi"), symbol("#along")
_PLACES = frozenset(("x", "y", "z", r"\hat{r}", r"\hat{x}", r"\hat{y}", r"\hat{z}"))


def with_iterated_integrals(f: Formula) -> Formula:
    """Return a formula in which integrals over space, balls and discs are iterated ones.

    Errors:
        Unvalued: an integral over space whose integrand has directions that are not understood.
    """
    if not any(node.op == "integral" for member in f.members for node in walk(member)):
        return f
    return with_members(f, tuple(map(_iterated, f.members)))


def _iterated(node: Expr) -> Expr:
    """Return an expression with iterated integrals."""
    if node.op == "integral" and len(node.args) in (2, 3) and node.name == "d^3":
        return _over_space(node)
    if node.op == "integral" and len(node.args) == 3 and node.args[1].name == "V":
        radius = _radius_of_ball(node.args[2], "r")
        if radius is not None:
            return _in_shells(_iterated(node.args[0]), symbol("r"), radius)
    args = tuple(map(_iterated, node.args))
    return with_args(node, args)


def _product(*factors: Expr) -> Expr:
    """Return a product."""
    return Expr("mul", factors)


def _squared(node: Expr) -> Expr:
    """Return a square."""
    return Expr("pow", (node, _TWO))


def _integral(inside: Expr, variable: Expr, low: Expr, high: Expr) -> Expr:
    """Return an integral between limits."""
    return Expr("integral", (inside, variable, low, high))


def _over_space(node: Expr) -> Expr:
    """Return an integral `d^3 r` over all space or a ball; raises Unvalued for other regions and directions."""
    integrand, variable = _iterated(node.args[0]), node.args[1]
    place = symbol_of(variable.name)
    name = place.unstyled
    if variable.op != "sym" or place.style not in ("", VECTOR) or not symbol_of(name).is_light or place.sup:
        raise Unvalued("an integral over space")
    radius = _INFINITY if len(node.args) < 3 else _radius_of_ball(node.args[2], name)
    if radius is None:
        raise Unvalued("an integral over this region")
    length, vector = symbol(name), symbol(name.replace(place.base, rf"\vec{{{place.base}}}", 1))
    integrand = substitute(integrand, {Expr("abs", (vector,)): length, Expr("dot", (vector, vector)): _squared(length)})
    if vector.name in symbols(integrand):
        return _beside_one_vector(integrand, length, vector, radius)
    if has_vectors(integrand):
        raise Unvalued("an integral over space with a direction")
    return _in_shells(integrand, length, radius)


def _in_shells(integrand: Expr, length: Expr, radius: Expr) -> Expr:
    """Return the integral over a ball of what depends on the radius, and maybe on the angles.

    Raises Unvalued for other coordinates.
    """
    inside = symbols(integrand)
    if not inside.isdisjoint(_PLACES):
        raise Unvalued("an integral over space in other coordinates")
    if not {_THETA.name, _PHI.name} & inside:
        return _integral(_product(_FOUR, _PI, _squared(length), integrand), length, _ZERO, radius)
    inner = _product(_squared(length), Expr("sin", (_THETA,)), integrand)
    around = _integral(inner, _PHI, _ZERO, _product(_TWO, _PI))
    return _integral(_integral(around, _THETA, _ZERO, _PI), length, _ZERO, radius)


def _beside_one_vector(integrand: Expr, length: Expr, vector: Expr, radius: Expr) -> Expr:
    """Return the integral over a ball of what depends on a vector by its length and its product with one other.

    Raises Unvalued for other directions.
    """
    dots = {node for node in walk(integrand) if node.op == "dot" and vector.name in symbols(node)}
    others = {name for dot in dots for name in symbols(dot) if symbol_of(name).is_vector} - {vector.name}
    if len(others) != 1:
        raise Unvalued("an integral over space with a direction")
    other = symbol(others.pop())
    size = Expr("abs", (other,))
    product = _product(size, length, _ALONG)
    found = substitute(integrand, {dot: _scaled(dot, vector, other, product) for dot in dots})
    if vector.name in symbols(found):
        raise Unvalued("an integral over space with a direction")
    factors = list(_factors(found))
    directed = [each for each in factors if _ALONG.name in symbols(each)]
    rest = [each for each in factors if each not in directed]
    if len(directed) == 1 and directed[0].op == "exp" and _is_wave(directed[0].args[0], product):
        wave = Expr("sin", (_product(size, length),))
        return Expr("div", (_integral(_product(_FOUR, _PI, length, wave, *rest), length, _ZERO, radius), size))
    along = _integral(found, _ALONG, _MINUS_ONE, _ONE)
    return _integral(_product(_TWO, _PI, _squared(length), along), length, _ZERO, radius)


def _factors(node: Expr) -> Iterator[Expr]:
    """Yield the factors of a product or a quotient; of an exponential of a sum, those of its terms."""
    if node.op == "mul":
        for arg in node.args:
            yield from _factors(arg)
    elif node.op == "exp" and node.args[0].op in ("add", "sub"):
        first, *others = node.args[0].args
        yield Expr("exp", (first,))
        for other in others:
            yield Expr("exp", (Expr("neg", (other,)) if node.args[0].op == "sub" else other,))
    elif node.op == "div":
        yield from _factors(node.args[0])
        yield Expr("div", (_ONE, node.args[1]))
    else:
        yield node


def _scaled(dot: Expr, vector: Expr, other: Expr, product: Expr) -> Expr:
    r"""Return `i\vec q\cdot\vec r` as a multiple of the product of the lengths and the cosine between them.

    Raises Unvalued for other exponents.
    """
    factors: list[Expr] = []
    for side in dot.args:
        parts = side.args if side.op == "mul" else (side,)
        if sum(part in (vector, other) for part in parts) != 1:
            raise Unvalued("an integral over space with a direction")
        factors += [part for part in parts if part not in (vector, other)]
    return _product(*factors, product) if factors else product


def _is_wave(exponent: Expr, product: Expr) -> bool:
    """Return True if an exponent is plus or minus i times a product."""
    while exponent.op == "neg":
        exponent = exponent.args[0]
    return exponent in (_product(symbol("i"), product), _product(symbol("j"), product))


def _radius_of_ball(region: Expr, name: str) -> Expr | None:
    """Return the radius of the ball that is a region of the place `name`, without arrow; None for another region."""
    said = inequality_of(region)
    if said is None:
        return None
    place, radius = said.members
    place = place.args[0] if place.op == "abs" else place
    read = symbol_of(place.name)
    return radius if place.op == radius.op == "sym" and read.style in ("", VECTOR) and read.unstyled == name else None

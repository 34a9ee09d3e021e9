r"""Point sources in space, as in `\nabla^2(1/r) = -4\pi\,\delta^3(\vec r)`, under a random test function.

The integral of a Laplacian is that with the Laplacian of the test function, and that of a divergence minus that with
its gradient. The test function is a polynomial times a bell round the point, so that a rule in spherical coordinates
integrates what depends on the distance from the point alone; for anything else it knows how far off it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from flint import acb, arb

from prism.algebra.expr import Expr, symbols, walk
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.integrals.folding import folded
from prism.equivalence.interpretation.integrals.quadrature import plain_size
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.values import Table, Unvalued, plain, scalar

POINT = r"\delta^{(3)}"
"""Name of the delta function of three dimensions."""
_PLACES = frozenset((r"\vec{r}", r"\vec{x}", r"\hat{r}", "r", "x", "y", "z"))
_AXES = ("x", "y", "z")
_RULES = ((20, False), (26, True))  # nodes along a ray, and whether the diagonals are rays too
_REACH = 5.5  # of the bell, in its widths
_SAME = 1e-30  # distance of points that are one
_ROUNDING = 1e-14  # relative error of a rule

Vector = tuple[acb, acb, acb]


@dataclass(frozen=True)
class _Test:
    """A polynomial of degree two times a bell round a point, with coefficients that are drawn.

    Attributes:
        center: the point; `steep`: of the bell.
        constant, slopes, squares: of the polynomial.
    """

    center: Vector
    steep: acb
    constant: acb
    slopes: Vector
    squares: Vector

    def at(self, x: Vector) -> tuple[acb, Vector, acb]:
        """Return the value, the gradient and the Laplacian at a distance from the point."""
        two, distance = acb(2), sum((each * each for each in x), acb(0))
        bell = (-self.steep * distance).exp()
        parts = list(zip(self.slopes, self.squares, x, strict=True))
        inside = self.constant + sum((a * y + q * y * y for a, q, y in parts), acb(0))
        own = [a + two * q * y for a, q, y in parts]
        slopes = [bell * (each - two * self.steep * y * inside) for each, y in zip(own, x, strict=True)]
        along = sum((each * y for each, y in zip(own, x, strict=True)), acb(0))
        curved = two * sum(self.squares, acb(0)) - acb(4) * self.steep * along
        curved += (acb(4) * self.steep * self.steep * distance - acb(6) * self.steep) * inside
        return bell * inside, (slopes[0], slopes[1], slopes[2]), bell * curved


def has_point(node: Expr) -> bool:
    """Return True for an expression with a delta function of three dimensions."""
    return any(part.op == "apply" and part.name == POINT for part in walk(node))


def _is_singular(node: Expr) -> bool:
    """Return True for an expression with a delta function of three dimensions or a nabla."""
    return has_point(node) or any(part.op == "nabla" for part in walk(node))


def values_under_test(evaluator: Evaluator, a: Expr, b: Expr, scope: Scope) -> tuple[acb, acb]:
    """Return the integrals over space of two expressions times one test function.

    Errors:
        Unvalued: an expression is no sum of delta functions, Laplacians, divergences and their multiples, or its delta
            functions are at several points.
    """
    if evaluator.signature.system != "cartesian":
        raise Unvalued("a delta function in these coordinates")
    points = [part for each in (a, b) for part in walk(each) if part.op == "apply" and part.name == POINT]
    center = _center(evaluator, points[0].args[0], scope)
    others = [_center(evaluator, point.args[0], scope) for point in points[1:]]
    if any(plain_size(x - y) > _SAME for other in others for x, y in zip(center, other, strict=True)):
        raise Unvalued("delta functions at several points")
    drawn = [evaluator.draw.number_of(f"#test {k}", "real") for k in range(7)]
    test = _Test(center, acb(0.9), drawn[0], (drawn[1], drawn[2], drawn[3]), (drawn[4], drawn[5], drawn[6]))
    one, two = _all_paired(evaluator, (a, b), test, scope)
    return one, two


def _at(scope: Scope, place: Vector) -> Scope:
    """Return the scope at a place."""
    for name, value in zip(_AXES, place, strict=True):
        scope = scope.with_value(name, value)
    return scope


def _entries(evaluator: Evaluator, node: Expr, scope: Scope) -> Vector:
    """Return the components of a vector; raises Unvalued for what is no vector."""
    found = evaluator.value(node, scope)
    if not isinstance(found, Table) or len(found.entries) != 3:
        raise Unvalued("a delta function of no point")
    x, y, z = map(plain, found.entries)
    return x, y, z


def _center(evaluator: Evaluator, argument: Expr, scope: Scope) -> Vector:
    r"""Return the point at which `\pm(\vec r - \vec c)` vanishes; raises Unvalued for another multiple."""
    zero = acb(0)
    start = _entries(evaluator, argument, _at(scope, (zero, zero, zero)))
    sign = 0
    for k in range(3):
        unit = (acb(int(k == 0)), acb(int(k == 1)), acb(int(k == 2)))
        moved = [x - y for x, y in zip(_entries(evaluator, argument, _at(scope, unit)), start, strict=True)]
        sign = sign or (1 if float(moved[k].real.mid()) > 0 else -1)
        if any(plain_size(x - acb(sign) * e) > _SAME for x, e in zip(moved, unit, strict=True)):
            raise Unvalued("a delta function of a multiple of a vector")
    x, y, z = (-acb(sign) * each for each in start)
    return x, y, z


def _all_paired(evaluator: Evaluator, nodes: Sequence[Expr], test: _Test, scope: Scope) -> list[acb]:
    """Return the integrals of some expressions times a test function; first of those that may have none."""
    order = sorted(range(len(nodes)), key=lambda k: not has_point(nodes[k]))
    found = {k: _paired(evaluator, nodes[k], test, scope) for k in order}
    return [found[k] for k in range(len(nodes))]


def _paired(evaluator: Evaluator, node: Expr, test: _Test, scope: Scope) -> acb:
    """Return the integral over space of an expression times a test function.

    Raises Unvalued where a delta function stands in other places.
    """
    if node.op in ("add", "sub", "neg"):
        parts = _all_paired(evaluator, node.args, test, scope)
        taken = parts if node.op == "neg" else parts[1:] if node.op == "sub" else []
        return sum(parts if node.op == "add" else parts[: len(parts) - len(taken)], acb(0)) - sum(taken, acb(0))
    if node.op == "apply" and node.name == POINT:
        return test.at((acb(0), acb(0), acb(0)))[0]
    inner = [arg for arg in node.args if _is_singular(arg)] if node.op in ("mul", "div") else []
    if inner:
        others = tuple(arg for arg in node.args if arg not in inner)
        varies = any(not _PLACES.isdisjoint(symbols(arg)) or evaluator.depends(arg, _AXES[0]) for arg in others)
        if len(inner) != 1 or varies or (node.op == "div" and node.args[0] in others):
            raise Unvalued("a delta function in this product")
        factor = plain(evaluator.number(others[0] if len(others) == 1 else Expr("mul", others), scope))
        value = _paired(evaluator, inner[0], test, scope)
        return value / factor if node.op == "div" else factor * value
    if has_point(node):
        raise Unvalued("a delta function in this expression")
    if node.op == "nabla":
        inside, scope = folded(evaluator, node.args[0], frozenset(_AXES), scope)
        node = Expr("nabla", (inside,), node.name)
    if node.op == "nabla" and node.name == "laplace":
        return _over_space(lambda x, at: plain(evaluator.number(node.args[0], at)) * test.at(x)[2], test, scope)
    if node.op == "nabla" and node.name == "div":
        return _over_space(
            lambda x, at: -sum(
                (f * g for f, g in zip(_entries(evaluator, node.args[0], at), test.at(x)[1], strict=True)), acb(0)
            ),
            test, scope,
        )  # fmt: skip
    return _over_space(lambda x, at: plain(scalar(evaluator.value(node, at))) * test.at(x)[0], test, scope)


def _over_space(at: Callable[[Vector, Scope], acb], test: _Test, scope: Scope) -> acb:
    """Return an integral over space in spherical coordinates round the point; two rules tell its error."""
    values, size = [], 0.0
    reach = acb(_REACH) / test.steep.sqrt()
    for count, has_diagonals in _RULES:
        total = acb(0)
        for (direction, share), (place, weight) in product(_directions(has_diagonals), _nodes(count)):
            distance = reach * place
            x, y, z = (distance * each for each in direction)
            a, b, c = test.center
            part = share * weight * distance * distance * at((x, y, z), _at(scope, (a + x, b + y, c + z)))
            total += part
            size += plain_size(part)
        values.append(acb.pi() * acb(4) * reach * total)
    apart = 2 * plain_size(values[1] - values[0]) + _ROUNDING * size
    return acb(arb(values[1].real.mid(), apart), arb(values[1].imag.mid(), apart))


@cache
def _directions(has_diagonals: bool) -> tuple[tuple[Vector, acb], ...]:
    """Return directions with weights: along the axes, exact to degree 3, and along the diagonals too, to degree 5."""
    axes = [tuple(acb(sign * int(k == j)) for j in range(3)) for k in range(3) for sign in (1, -1)]
    along = acb(1) / acb(15) if has_diagonals else acb(1) / acb(6)
    found = [((x, y, z), along) for x, y, z in axes]
    if has_diagonals:
        side = acb(1) / acb(3).sqrt()
        for x, y, z in product((side, -side), repeat=3):
            found.append(((x, y, z), acb(3) / acb(40)))
    return tuple(found)


@cache
def _nodes(count: int) -> tuple[tuple[acb, acb], ...]:
    """Return the nodes of the rule of Gauss and Legendre between 0 and 1, with their weights."""
    found = []
    for k in range(count):
        node, weight = arb.legendre_p_root(count, k, weight=True)
        found.append((acb((node.mid() + 1) / 2), acb(weight.mid() / 2)))
    return tuple(found)

"""Solving one equation in an interpretation: what it misses by, what it may be solved for, and its roots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from flint import acb, arb

from prism.algebra.expr import Expr, Formula, symbols, walk
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.signature import COORDINATES, Signature
from prism.equivalence.interpretation.values import (
    Scalar,
    Table,
    Unvalued,
    Value,
    add,
    multiply,
    plain,
    scalar,
    size_of,
)

STARTS = ((0.7, 1.3), (2.6, 2.2), (-0.6, -1.1))  # of the search for a root, so that other branches are met
_ROOT_STEPS = 24  # of the secant method
_EXACT = 1e-32  # residual at which a root is not improved further, of the size of the sides elsewhere
_FAR = 100.0  # from where letters are drawn
_ROOT_LEVEL = 1e-12  # residual of a root, of the size of the sides elsewhere


def residual_of(draw: Draw, f: Formula, scope: Scope) -> tuple[Value, float]:
    """Return left minus right of an equation, and the size of the terms of its sides.

    Raises Unvalued for a number beside a vector.
    """
    evaluator = Evaluator(draw)
    (left, one), (right, two) = (value_and_size(evaluator, member, scope) for member in f.members)
    for side, other, member in ((left, right, f.members[1]), (right, left, f.members[0])):
        is_vector = isinstance(side, Table) and side.rows != side.columns and not isinstance(other, Table)
        if is_vector and symbols(member):
            raise Unvalued("a number beside a vector")  # also where it happens to be 0
    return kept(draw, add(left, right, -1)), one + two


def kept(draw: Draw, value: Value) -> Value:
    """Return what counts of a value: of an operator between number states the columns that the cut does not reach."""
    space = draw.signature.space
    return value if space is None or not isinstance(value, Table) else space.cut(value, draw.number)


def value_and_size(evaluator: Evaluator, node: Expr, scope: Scope) -> tuple[Value, float]:
    """Return the value of an expression, and the sizes of its terms: both of them nearly cancel in `a - b = 0`."""
    if node.op == "commutator" and node.name != "poisson":
        node = Expr("add" if node.name == "anti" else "sub", (Expr("mul", node.args), Expr("mul", node.args[::-1])))
    if node.op not in ("add", "sub"):
        value = evaluator.value(node, scope)
        return value, size_of(value) + _size_of_slopes(evaluator, node, scope)
    total, scale = value_and_size(evaluator, node.args[0], scope)
    for arg in node.args[1:]:
        value, size = value_and_size(evaluator, arg, scope)
        total, scale = add(total, value, -1 if node.op == "sub" else 1), scale + size
    return total, scale


def _size_of_slopes(evaluator: Evaluator, node: Expr, scope: Scope) -> float:
    """Return the size of what a divergence or curl adds up, which cancels in that of a curl or gradient; else 0."""
    if node.op != "nabla" or node.name not in ("div", "curl"):
        return 0.0
    return sum(map(size_of, evaluator.gradient(lambda inner: evaluator.value(node.args[0], inner), scope)))


def unknowns(signature: Signature, a: Formula, b: Formula) -> Iterator[tuple[str, bool]]:
    """Yield what an equation may be solved for: differentials, multiples of functions (then True), and numbers."""
    common = sorted(symbols(*a.members) & symbols(*b.members))
    varied = (node.args[0] for member in a.members for node in walk(member) if node.op == "differential")
    for name in sorted(symbols(*varied)):
        yield "d" + name, False
    for name in common:
        if signature.functions.get(name) and name not in signature.notation.vectors:
            yield name, True
    for name in common:
        if signature.is_number(name) and name not in signature.whole and is_drawn_freely(name, signature):
            yield name, False


def is_drawn_freely(name: str, signature: Signature) -> bool:
    """Return True if a letter has a value of its own: no component, length or direction of a vector, no coordinate."""
    notation = signature.notation
    if name == notation.unit and notation.is_complex:
        return False
    if name in dict(notation.lengths) or name in dict(notation.basis) or name in dict(notation.directions):
        return False
    if signature.has_nabla and name in (*COORDINATES[signature.system], "r", r"\vec{r}"):
        return False
    return not any(name in names for _, names in notation.components)


def with_value(draw: Draw, name: str, value: Value) -> Draw:
    """Return an interpretation in which a letter has a value."""
    return replace(draw, fixed={**draw.fixed, name: value})


def nearby(solved: Draw, draw: Draw) -> Draw:
    """Return a solution with what was solved for one part in a hundred larger: what it misses by is a scale."""
    fixed = {name: value if name in draw.fixed else multiply(acb(1.01), value) for name, value in solved.fixed.items()}
    shifts = {name: value if name in draw.shifts else acb(1.01) * value for name, value in solved.shifts.items()}
    return replace(solved, fixed=fixed, shifts=shifts)


def root_of(
    draw: Draw, f: Formula, name: str, start: tuple[float, float], *, is_shift: bool = False, is_inverse: bool = False
) -> tuple[Draw | None, bool]:
    """Return an interpretation with a value of one letter, or a multiple of a function, that solves an equation.

    The reciprocal of the letter is searched for if `is_inverse`.

    None if it is no number's equation, or no root is found by the secant method. Also return True if it has no other.
    """

    def moved(value: Scalar) -> Draw:
        """Return the interpretation with the letter, or the multiple, at a value."""
        if is_shift:
            return replace(draw, shifts={**draw.shifts, name: plain(value)})
        return with_value(draw, name, acb(1) / value if is_inverse else value)

    def residual(value: Scalar) -> tuple[Scalar, float]:
        """Return the residual there."""
        found, scale = residual_of(moved(value), f, Scope())
        return scalar(found), scale

    try:
        y, missed, scale, steepness, is_only = _searched(residual, start)
        if float(y.abs_lower()) > _FAR:  # where functions may have died away: nothing there is of the size of the sides
            scale = size_of(residual(y * acb(1.01))[0])
    except (Unvalued, ZeroDivisionError):
        return None, False
    if not missed < _ROOT_LEVEL * scale or not steepness:
        return None, False
    is_real = float(abs(y.imag.mid())) < 1e-9 * (1 + float(abs(y.real.mid())))
    is_usable = (is_real or draw.signature.notation.is_complex) and float(y.mid().abs_upper()) > 1e-12
    apart = 2 * missed / steepness  # how far the true root may be
    within = acb(arb(y.real.mid(), apart), arb(y.imag.mid(), apart if draw.signature.notation.is_complex else 0))
    return moved(within) if is_usable else None, is_only


def _searched(
    residual: Callable[[Scalar], tuple[Scalar, float]], start: tuple[float, float]
) -> tuple[acb, float, float, float, bool]:
    """Return where the secant method ends, what is missed there, the scale, the steepness, and if no other root exists.

    It is in what is linear, of which two values give the root, and in a quotient of such, of which three do.
    """
    x, y = map(acb, start)
    (fx, one), (fy, two) = ((plain(value), scale) for value, scale in map(residual, (x, y)))
    scale, steepness, is_only = one + two, 0.0, False
    for k in range(_ROOT_STEPS):
        slope = fy - fx
        if slope.contains(0):
            break
        steepness = float((slope / (y - x)).mid().abs_upper())
        before, x, y = (x, fx), y, (y - fy * (y - x) / slope).mid()
        fx, fy = fy, plain(residual(y)[0])
        if _is_root(fy, scale):
            is_only = not k
            break
        if k:
            continue
        with suppress(Unvalued, ZeroDivisionError):
            z = _root_of_quotient(before, (x, fx), (y, fy))
            fz = plain(residual(z)[0])
            if _is_root(fz, scale):
                steepness = float(((fz - fy) / (z - y)).mid().abs_upper())
                y, fy, is_only = z, fz, True
                break
    return y, float(fy.abs_upper()), scale, steepness, is_only


def _is_root(residual: acb, scale: float) -> bool:
    """Return True for a residual that is not improved further."""
    return float(residual.mid().abs_upper()) <= max(_EXACT * scale, float(residual.rad()))


def _root_of_quotient(*known: tuple[acb, acb]) -> acb:
    """Return the root of the quotient of two linear functions that has three values at three points.

    Raises ZeroDivisionError if there is none.
    """
    (x, fx), (y, fy), (z, fz) = known
    one, two = x - z, y - z
    below = (fy - fz) * fx * one - (fx - fz) * fy * two
    if below.contains(0):
        raise ZeroDivisionError
    return (z - fz * one * two * (fx - fy) / below).mid()

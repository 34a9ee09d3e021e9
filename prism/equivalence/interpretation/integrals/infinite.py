"""Sums, products, integrals and limits: finite ones term by term, infinite ones by extrapolation with an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

from flint import acb, arb

from prism.algebra.expr import Expr, index_letters, is_infinite, symbol, symbols, walk
from prism.budget import charge_steps
from prism.engine.lowering.integrals import TRIGONOMETRIC
from prism.equivalence.interpretation.conditions.scales import is_out_of_the_ordinary
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.functions import RULES
from prism.equivalence.interpretation.integrals import (
    exponential_terms,
    fourier_integrals,
    kinks,
    laplace_integrals,
    quadrature,
)
from prism.equivalence.interpretation.integrals.boundaries import SURFACE, VOLUME, region_value
from prism.equivalence.interpretation.integrals.folding import factors_of, folded
from prism.equivalence.interpretation.integrals.gaussian import exponent_in, over_line
from prism.equivalence.interpretation.integrals.quadrature import by_parts, plain_size
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.values import (
    UNNAMED,
    Scalar,
    Table,
    Unvalued,
    Value,
    add,
    multiply,
    plain,
    real_number,
    scalar,
    whole_number,
)

_ALL_DIRECTIONS = frozenset(("4*pi", r"4\pi", r"\Omega", "S^2"))  # where an integral over directions is written to go
_ANGLES = frozenset((r"\theta", r"\phi"))  # that a direction has
_RANGE, _TERM = 2, 2  # steps charged for the limits of a finite sum and for each term, beside those of the nodes
_READING = 3  # steps charged for each node of an integrand that is read: its kinks, its constants, its waves
MAX_TERMS = 600  # of a finite sum
_INFINITE_TERMS = 40  # of a sum to infinity, which is extrapolated
_INNER_TERMS = 30  # of one within another sum
_SURE = 1e-14  # relative error of a sum that is not taken apart
_FAR_TERMS = (44, 45, 57, 90, 91)  # which have to go on as those before them
_LIMIT_SCALES = (16, 17, 18, 19, 20, 21)  # powers of 2 at which a limit is looked at
_SUM_SCALES = (2, 3, 4, 5, 6, 7, 8, 9)  # of a sum with so many terms
_MOST_TERMS = 6  # of a sum in an integrand that is multiplied out
_ONE, _MINUS_ONE = (Expr("num", name=str(k), value=Fraction(k)) for k in (1, -1))


def sum_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a sum or product over one index or several: up to a limit, or over an array of a size that was drawn."""
    join = add if node.op == "sum" else multiply
    total: Value = acb(0 if node.op == "sum" else 1)
    if len(node.args) == 4 and node.args[3].op == "infinity":
        return _infinite_sum(evaluator, node, scope)
    started = False
    for inner in _ranges(evaluator, node, scope):
        value = evaluator.value(node.args[0], inner)
        total = value if not started else join(total, value)
        started = True
    return total


def _ranges(evaluator: Evaluator, node: Expr, scope: Scope) -> Iterator[Scope]:
    """Yield the scope of each term of a finite sum.

    Raises Unvalued for too many terms, and for a sum without index or over other ranges.
    """
    if len(node.args) < 2:
        raise Unvalued("a sum without index")
    charge_steps(_RANGE)
    letters = index_letters(node.args[1])
    if not letters or len(node.args) == 3:
        raise Unvalued("a sum over this")
    size = evaluator.draw.size()
    if len(node.args) == 4:
        first, last = (whole_number(evaluator.number(limit, scope)) for limit in node.args[2:])
    else:
        first, last = 1, size
    relation = node.args[1].name
    bound = [letter for letter in letters if letter in scope.indices and len(letters) > 1]
    free = [letter for letter in letters if letter not in bound]
    if (last - first + 1) ** len(free) > MAX_TERMS:
        raise Unvalued("a sum of too many terms")
    scopes = [scope]
    for letter in free:
        charge_steps(_TERM * len(scopes) * max(last - first + 1, 0))
        scopes = [inner.with_index(letter, k) for inner in scopes for k in range(first, last + 1)]
    yield from scopes if len(letters) < 2 else (inner for inner in scopes if _is_in(relation, letters, inner))


def _is_in(relation: str, letters: tuple[str, ...], scope: Scope) -> bool:
    r"""Return True if the indices of a term fit `i < j` or `i \neq j`; raises Unvalued for other conditions."""
    values = [scope.indices[letter] for letter in letters]
    if "<" in relation:
        return all(a < b for a, b in pairwise(values))
    if ">" in relation:
        return all(a > b for a, b in pairwise(values))
    if r"\ne" in relation or "!=" in relation:
        return len(set(values)) == len(values)
    if "," in relation or relation.isalpha():
        return True
    raise Unvalued("a sum over this")


def _infinite_sum(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a sum to infinity, or a product; of a sum that does not settle the sums of its oscillating parts.

    Errors:
        Unvalued: it does not settle, or its terms may change far out.
    """
    letters = index_letters(node.args[1])
    if len(letters) != 1:
        raise Unvalued("an infinite sum over several indices")
    if is_out_of_the_ordinary(node.args[0]):
        raise Unvalued("an infinite sum with a number out of the ordinary")
    first = whole_number(evaluator.number(node.args[2], scope))
    if node.op == "product":
        raise Unvalued("an infinite product")
    parts = exponential_terms.parts_of(node.args[0], letters[0])
    try:
        found = _settled_sum(evaluator, node.args[0], letters[0], first, scope)
        if len(parts) < 2 or float(plain(found).rad()) < _SURE * plain_size(plain(found)):
            return found
    except Unvalued:
        if len(parts) < 2:
            raise
    total: Scalar = acb(0)
    for part in parts:
        total = total + _settled_sum(evaluator, part, letters[0], first, scope)
    return total


def _settled_sum(evaluator: Evaluator, body: Expr, letter: str, first: int, scope: Scope) -> Scalar:
    """Return a sum to infinity by Levin's u-transform; Unvalued if two of its orders disagree."""
    count = _INNER_TERMS if scope.indices else _INFINITE_TERMS
    places = (*range(count), *_FAR_TERMS)
    charge_steps(_TERM * len(places))
    terms = [evaluator.number(body, scope.with_index(letter, first + k)) for k in places]
    ends = [plain_size(plain(term)) for term in (terms[count - 2], terms[count - 1])]
    if max(ends) >= max(plain_size(plain(term)) for term in terms[:3]):
        evaluator.draw.diverging.append(str(body))
    return by_parts(terms, lambda values: _levin(values, count))


def _levin(terms: list[acb], count: int) -> acb:
    """Return the sum to infinity of a series from its first terms; Source: Levin 1973, the u-transform.

    Errors:
        Unvalued: two orders disagree, or the terms fall first and rise then, or the reverse: `e^{-(n-50)^2}`.
    """
    sizes = [plain_size(term) for term in terms]
    stages = [
        max(part) for part in (sizes[12:20], sizes[count - 8 : count], sizes[count : count + 3], sizes[count + 3 :])
    ]
    steps = [later - earlier for earlier, later in pairwise(stages)]
    if min(steps) < 0 < max(steps):
        raise Unvalued("a sum whose terms rise and fall")
    terms = terms[:count]
    kept = [term for term in terms if not term.is_zero()]
    if not kept:
        return acb(0)
    if len(kept) < len(terms):
        if all(term.is_zero() for term in terms[len(terms) // 2 :]):
            return sum(terms, acb(0))
        terms, count = kept, len(kept)
    last = plain_size(terms[-1])
    total = sum(terms, acb(0))
    if last < 1e-40 * (1 + plain_size(total)):
        return total
    one, two = _levin_of(terms[: count - count // 4]), _levin_of(terms[: count - 2 * (count // 5)])
    apart = plain_size(one - two)
    if not one.is_finite() or apart > 1e-10 * (1e-30 + plain_size(one)):
        raise Unvalued("a sum that does not settle")
    return acb(arb(one.real.mid(), 10 * apart + 1e-20), arb(one.imag.mid(), 10 * apart + 1e-20))


def _levin_of(terms: list[acb]) -> acb:
    """Return Levin's u-transform of all the terms."""
    order = len(terms) - 1
    above = below = partial = acb(0)
    for k, term in enumerate(terms):
        partial = partial + term
        weight = acb((-1) ** k * math.comb(order, k)) * acb(k + 1) ** (order - 2) / term
        above, below = above + weight * partial, below + weight
    return above / below


# Integrals. -----------------------------------------------------------------------------------------------------------


def integral_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return an integral over one variable by quadrature; Unvalued for any other.

    What does not depend on the variable stands before the integral, and a sum is integrated term by term where the
    limits are finite: so a multiple integral costs as much as its one-dimensional parts, if it falls into such.
    """
    if node.name in (VOLUME, SURFACE):
        return region_value(evaluator, node, scope)
    is_sphere = len(node.args) == 3 and node.args[1] == symbol(r"\Omega") and str(node.args[2]) in _ALL_DIRECTIONS
    if (len(node.args) == 2 or is_sphere) and node.args[1].op == "sym":
        return _without_limits(evaluator, node, scope)
    if len(node.args) != 4 or node.args[1].op != "sym" or node.name not in ("", "1"):
        raise Unvalued("integral")
    integrand, variable, low, high = node.args
    if low.op == "infinity" or (is_infinite(high) and high.op != "infinity"):
        raise Unvalued("integral")
    if evaluator.signature.operators or evaluator.signature.matrices:
        return _quadrature(evaluator, integrand, variable.name, (low, high), scope)
    is_nested = bool(scope.values) or any(part.op == "integral" for part in walk(integrand))
    is_finite = is_nested and not is_infinite(low) and not is_infinite(high)
    is_finite = is_finite or kinks.has_delta(integrand)
    total: Value | None = None
    for outside, inside in _terms(evaluator, integrand, variable.name, is_finite=is_finite):
        key = (inside, *node.args[1:])
        is_kept = _is_kept(evaluator, key, scope)
        kept = evaluator.signature.constants if _is_constant(key) else evaluator.draw.integrals
        part = kept.get(key) if is_kept else None
        if part is not None and kept is evaluator.draw.integrals:
            evaluator.met.add(UNNAMED)
        if part is None:
            part = _quadrature(evaluator, inside, variable.name, (low, high), scope)
            if is_kept:
                kept[key] = part
        for factor in outside:
            part = multiply(evaluator.value(factor, scope), part)
        total = part if total is None else add(total, part)
    assert total is not None
    return total


def _is_constant(key: tuple[Expr, ...]) -> bool:
    """Return True for an integral without a letter but its variable, and without a function that is drawn."""
    inside, variable, *limits = key
    is_drawn = any(node.op == "apply" and node.name not in RULES for node in walk(inside))
    return symbols(inside) <= symbols(variable) and not symbols(*limits) and not is_drawn


def _is_kept(evaluator: Evaluator, key: tuple[Expr, ...], scope: Scope) -> bool:
    """Return True for an integral that depends on no bound variable and on nothing that was solved for."""
    inside, variable, *limits = key
    draw = evaluator.draw
    others = [name for name in scope.values if name != variable.name]
    special = [*draw.fixed, *draw.shifts, *others]
    return not scope.slopes and not any(evaluator.depends(each, name) for name in special for each in (inside, *limits))


def _factors(evaluator: Evaluator, integrand: Expr, name: str) -> Iterator[Expr]:
    """Yield the factors of an integrand over `name`, also those that stand below an inner integral without need."""
    for factor in factors_of(evaluator, integrand, name):
        if factor.op != "integral" or len(factor.args) != 4 or factor.args[1].op != "sym":
            yield factor
            continue
        ((outside, inside),) = _terms(evaluator, factor.args[0], factor.args[1].name, is_finite=False)
        yield from outside
        yield Expr("integral", (inside, *factor.args[1:]), factor.name) if outside else factor


def _terms(
    evaluator: Evaluator, integrand: Expr, name: str, *, is_finite: bool
) -> Iterator[tuple[tuple[Expr, ...], Expr]]:
    """Yield the terms of an integrand: the factors that do not depend on its variable, and the product of the others.

    Args:
        integrand: of an integral over `name`.
        is_finite: the limits are, so that a sum may be integrated term by term.
    """
    charge_steps(integrand.size)
    factors = tuple(_factors(evaluator, integrand, name))
    outside = tuple(each for each in factors if not evaluator.depends(each, name))
    inner = tuple(each for each in factors if each not in outside)
    if is_finite:
        for k, factor in enumerate(inner):
            summands = _summands(evaluator, factor)
            if len(summands) > _MOST_TERMS:
                continue
            if len(summands) > 1 or summands[0] != factor:
                for summand in summands:
                    product = Expr(
                        "mul", (*inner[:k], *(summand.args if summand.op == "mul" else (summand,)), *inner[k + 1 :])
                    )
                    for more, inside in _terms(evaluator, product, name, is_finite=True):
                        yield (*outside, *more), inside
                return
    yield outside, _ONE if not inner else inner[0] if len(inner) == 1 else Expr("mul", inner)


def _summands(evaluator: Evaluator, factor: Expr) -> tuple[Expr, ...]:
    """Return the terms whose sum a factor is; of an inner integral those of its integrand, each an integral."""
    if factor.op == "neg":
        return (Expr("mul", (_MINUS_ONE, *factor.args)),)
    if factor.op == "sub":
        return factor.args[0], Expr("mul", (_MINUS_ONE, factor.args[1]))
    if factor.op == "add":
        return factor.args
    if factor.op == "integral" and len(factor.args) == 4 and not any(map(is_infinite, factor.args[2:])):
        found = list(_terms(evaluator, factor.args[0], factor.args[1].name, is_finite=True))
        if len(found) > 1 or found[0][0]:
            inner = [Expr("integral", (inside, *factor.args[1:]), factor.name) for _, inside in found]
            return tuple(Expr("mul", (*outside, each)) for (outside, _), each in zip(found, inner, strict=True))
    return (factor,)


def _quadrature(evaluator: Evaluator, integrand: Expr, name: str, limits: tuple[Expr, Expr], scope: Scope) -> Scalar:
    """Return the integral of an expression over one variable, split at its kinks.

    Raises Unvalued for extreme numbers, and for kinks or delta functions between limits in reverse order.
    """
    charge_steps(_READING * integrand.size)
    low, high = (None if is_infinite(each) else evaluator.number(each, scope) for each in limits)
    if is_out_of_the_ordinary(integrand):
        raise Unvalued("an integrand with a number out of the ordinary")

    def function(node: Expr) -> Callable[[Scalar], Scalar]:
        """Return an expression as a function of the variable."""
        inner, at = folded(evaluator, node, frozenset((name,)), scope)
        return lambda x: evaluator.number(inner, at.with_value(name, x))

    ends = (-math.inf if low is None else real_number(low), math.inf if high is None else real_number(high))
    if kinks.has_delta(integrand):
        if ends[0] > ends[1]:
            raise Unvalued("a delta function between limits in reverse order")
        return _sifted(evaluator, integrand, function, ends)
    if low is None and high is None and (exponent := exponent_in(integrand, name)) is not None:
        return over_line(function(exponent))
    if ends == (0, math.inf) and (falls := laplace_integrals.falls_in(integrand, name)) is not None:
        closed = laplace_integrals.on_half_line(falls, function)
        if closed is not None:
            return closed
    if (low is None or high is None) and (wave := _fourier(evaluator, integrand, name, ends, function)) is not None:
        return wave
    if low is None or high is None:
        _refuse_far_oscillations(integrand, name, evaluator.signature.integrable)
    arguments = [each for each in kinks.kinked_arguments(integrand) if evaluator.depends(each, name)]
    if ends[0] > ends[1] and arguments:
        raise Unvalued("kinks between limits in reverse order")
    found = {float(zero.real.mid()): zero for each in arguments for zero in kinks.zeros(function(each), *ends)}
    total: Scalar = acb(0)
    whole = function(integrand)
    for start, end in kinks.pieces([found[place] for place in sorted(found)], low, high):
        total = total + _on_piece(whole, start, end)
    return total


def _fourier(
    evaluator: Evaluator,
    integrand: Expr,
    name: str,
    ends: tuple[float, float],
    function: Callable[[Expr], Callable[[Scalar], Scalar]],
) -> Scalar | None:
    """Return an integral from 0, or over the whole line, of a wave times what falls off; None for another one."""
    split = fourier_integrals.wave_in(integrand, name)
    if split is None or ends[0] not in (0, -math.inf) or ends[1] != math.inf:
        return None
    wave, rest = split
    if wave.op == "exp":
        slopes = [plain(function(wave.args[0])(acb(x))) for x in (0, 1)]
        if abs(float((slopes[1] - slopes[0]).real.mid())) > 0:
            return None
    if any(evaluator.signature.functions.get(each) or each in evaluator.signature.integrable for each in symbols(rest)):
        return None
    found = fourier_integrals.on_half_line(function, wave, rest)
    if ends[0] == -math.inf:
        found = found + fourier_integrals.on_half_line(function, wave, rest, is_reversed=True)
    return found


def _on_piece(at: Callable[[Scalar], Scalar], start: Scalar | None, end: Scalar | None) -> Scalar:
    """Return the integral of a smooth function; None is a limit at infinity."""
    if start is None and end is None:
        return quadrature.on_line(at)
    if start is None and end is not None:
        return quadrature.on_half_line(lambda x: at(end - x), acb(0))
    if end is None and start is not None:
        return quadrature.on_half_line(at, start)
    assert start is not None
    assert end is not None
    return quadrature.between(at, start, end)


def _sifted(
    evaluator: Evaluator,
    integrand: Expr,
    function: Callable[[Expr], Callable[[Scalar], Scalar]],
    ends: tuple[float, float],
) -> Scalar:
    """Return the integral of a product with one delta function; raises Unvalued for other products."""
    factors = integrand.args if integrand.op == "mul" else (integrand,)
    deltas = [each for each in factors if each.op == "apply" and each.name in kinks.DELTAS and len(each.args) == 1]
    rest = tuple(each for each in factors if each not in deltas)
    if len(deltas) != 1 or any(map(kinks.has_delta, rest)):
        raise Unvalued("a delta function in this product")
    others = function(Expr("mul", (_ONE, *rest)))
    order = kinks.DELTAS.index(deltas[0].name)
    return kinks.sifted(others, function(deltas[0].args[0]), order, *ends, evaluator.new_tag)


def _without_limits(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return an integral without limits: over all space or all directions, or from a point that is drawn.

    Raises Unvalued for other integrals.
    """
    integrand, variable, *_ = node.args
    name = variable.name
    if node.name in ("", "1") and name == r"\Omega":
        return _over_directions(evaluator, integrand, scope)
    if node.name not in ("", "1"):
        raise Unvalued("integral")
    start = evaluator.draw.number_of("from " + name, "positive")
    upper = evaluator.number(variable, scope)

    def at(x: Scalar) -> Scalar:
        """Return the integrand at a point."""
        return scalar(evaluator.value(integrand, scope.with_value(name, x)))

    return quadrature.between(at, start, upper)


def _over_directions(evaluator: Evaluator, integrand: Expr, scope: Scope) -> Value:
    """Return the integral over all directions."""
    factors = list(_factors(evaluator, integrand, r"\theta"))
    outside = [each for each in factors if not any(evaluator.depends(each, angle) for angle in _ANGLES)]
    inside, at = folded(evaluator, Expr("mul", (_ONE, *(f for f in factors if f not in outside))), _ANGLES, scope)
    at = at.with_value("#direction", acb(0))
    key = inside, symbol(r"\Omega")
    is_constant = symbols(inside) <= _ANGLES and not any(node.op == "apply" for node in walk(inside))
    total = evaluator.signature.constants.get(key) if is_constant else None
    if total is None:
        total = quadrature.over_directions(
            lambda polar, azimuth: evaluator.number(
                inside, at.with_value(r"\theta", polar).with_value(r"\phi", azimuth)
            )
        )
    if is_constant:
        evaluator.signature.constants[key] = total
    for factor in outside:
        total = multiply(evaluator.value(factor, scope), total)
    return total


def _refuse_far_oscillations(integrand: Expr, name: str, integrable: frozenset[str]) -> None:
    """Raise Unvalued for an integrand that oscillates without an exponential, or a function, that damps it."""
    nodes = list(walk(integrand))
    turns = any(part.op in TRIGONOMETRIC and name in symbols(part) for part in nodes)
    damped = any(part.name in integrable or (part.op == "exp" and name in symbols(part)) for part in nodes)
    if turns and not damped:
        raise Unvalued("an integrand that oscillates to infinity")


# Limits. --------------------------------------------------------------------------------------------------------------


def limit_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return a limit from values at three scales; Unvalued if they do not settle."""
    if len(node.args) != 3 or node.args[1].op != "sym":
        raise Unvalued("limit")
    body, variable, target = node.args
    if not evaluator.depends(body, variable.name):
        raise Unvalued("a limit of what does not depend on its variable")
    if is_out_of_the_ordinary(body):
        raise Unvalued("a limit with a number out of the ordinary")
    values: list[Scalar] = []
    side = -1 if target.op == "sym" and target.name == "0^{-}" else 1
    if target.op == "sym" and target.name in ("0^{+}", "0^{-}"):
        target = Expr("num", name="0", value=Fraction(0))
    has_sum = any(
        part.op in ("sum", "product") and len(part.args) == 4 and variable.name in symbols(part.args[3])
        for part in walk(body)
    )
    for exponent in _SUM_SCALES if has_sum else _LIMIT_SCALES:
        if is_infinite(target):
            place: Scalar = acb(2**exponent) if target.op == "infinity" else acb(-(2**exponent))
        else:
            place = evaluator.number(target, scope) + acb(side) / acb(2**exponent)
        value = evaluator.value(body, scope.with_value(variable.name, place))
        if isinstance(value, Table):
            raise Unvalued("a limit of a table")
        values.append(value)
    return by_parts(values, lambda found: _settled(found, len(_SUM_SCALES) - 2 if has_sum else 3))


def _settled(values: list[acb], orders: int) -> acb:
    """Return the limit of values whose distance from it is a series in halved steps, of which so many are removed.

    Raises Unvalued where they are undefined, or do not settle.
    """
    if any(not value.is_finite() for value in values):
        raise Unvalued("a limit of what is undefined")
    rows = list(values)
    for order in range(1, orders + 1):
        rows = [(acb(2**order) * b - a) / acb(2**order - 1) for a, b in pairwise(rows)]
    apart = plain_size(rows[-1] - rows[-2])
    if apart > 1e-9 * (1e-12 + plain_size(rows[-1])) or plain_size(values[-1] - rows[-1]) > 0.1 * (
        1e-3 + plain_size(rows[-1])
    ):
        raise Unvalued("a limit that does not settle")
    return acb(arb(rows[-1].real.mid(), 10 * apart + 1e-18), arb(rows[-1].imag.mid(), 10 * apart + 1e-18))

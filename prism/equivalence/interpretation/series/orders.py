"""Formulas up to an order, `x - x^3/6 + O(x^5)`: do they agree below the order that the reference writes?

What `O` stands for is drawn. The order of a quantity is read off its values where the letter that is small, or large,
is so by two scales; the order of what `O` hides off the difference of two draws of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from flint import acb

from prism.algebra.expr import Expr, Formula, number, substitute, symbol, walk
from prism.algebra.terms import terms_of
from prism.engine.intervals import precision
from prism.equivalence.interpretation.conditions.scales import is_extreme
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.series.monomials import monomial_of
from prism.equivalence.interpretation.signature import Signature
from prism.equivalence.interpretation.values import Scalar, Unvalued, plain

ORDER_DRAWS = 3  # interpretations that have to agree
_NAMES = ("O", r"\mathcal{O}")
_SCALES = (40, 41)  # powers of one half by which a letter is small
_BITS = 960  # of a value, so that the fifteenth power is still seen
_WITHIN = 0.02  # of the exponent that is read off two scales
_HIGHEST = 15.0  # order that is still seen


def has_order(f: Formula) -> bool:
    """Return True if a formula has an `O` of something."""
    return any(is_order(node) for member in f.members for node in walk(member))


def is_order(node: Expr) -> bool:
    """Return True for an `O` of something."""
    return node.op == "apply" and node.name in _NAMES and len(node.args) == 1


def same_to_order(a: Formula, b: Formula, signature: Signature) -> bool | None:
    """Return True if two formulas agree below the order of the first, which the second one states at least.

    None where the letters or the draws do not agree about it.

    Errors:
        Unvalued: no letter is small in all of the orders, or a value is missing.
    """
    if any(is_extreme(member) for f in (a, b) for member in f.members):
        raise Unvalued("an order beside a number out of the ordinary")
    common, one, two = _sides(a, b)
    letters = _scaled(one, two)
    if not letters:
        raise Unvalued("orders of several letters")
    found = [
        _agree_in(Draw(count, signature), common, (one, two), letter, sign)
        for letter, sign in letters for count in range(ORDER_DRAWS)
    ]  # fmt: skip
    return found[0] if len(set(found)) == 1 else None


def _sides(a: Formula, b: Formula) -> tuple[Expr | None, Expr, Expr]:
    """Return the side that two equations have in common, and their other sides; of expressions None and these.

    Raises Unvalued if equations have none.
    """
    if len(a.members) == 1:
        return None, a.members[0], b.members[0]
    for k, side in enumerate(a.members):
        if side in b.members and not any(map(is_order, walk(side))):
            return side, a.members[1 - k], b.members[1 - b.members.index(side)]
    raise Unvalued("orders in equations without a common side")


def _scaled(*sides: Expr) -> list[tuple[str, int]]:
    """Return the letters that are small (1) or large (-1) in every order, each with which.

    Raises Unvalued for an order of what is no power.
    """
    found: list[set[tuple[str, int]]] = []
    for node in (node for side in sides for node in walk(side) if is_order(node)):
        monomial = monomial_of(node.args[0])
        if monomial is None:
            raise Unvalued("an order of what is no power")
        powers = {base.name: power for base, power in monomial.powers.items() if base.op == "sym"}
        small = {(name, 1) for name, power in powers.items() if power > 0}
        found.append(small or {(name, -1) for name, power in powers.items() if power < 0})
    return sorted(set.intersection(*found))


def _agree_in(draw: Draw, common: Expr | None, sides: tuple[Expr, Expr], letter: str, sign: int) -> bool | None:
    """Return True if two expressions agree below the order of the first one in an interpretation.

    Where the second one goes further, it has to have a term there, or to be right about the common side. None where the
    orders that are read off are too near each other.
    """
    with precision(_BITS):
        values = [list(_values(draw, side, letter, sign)) for side in sides]
        hidden = [_order([x - y for x, y in pairs]) for pairs in values]
        apart = _order([x - y for (x, _), (_, y) in zip(*values, strict=True)])
        if not (apart > hidden[0] - _WITHIN and hidden[1] > hidden[0] - _WITHIN):
            return False if apart < min(hidden) - _WITHIN else None
        if hidden[1] < hidden[0] + _WITHIN:
            return True
        if common is not None and common.op != "sym":
            told = [x for x, _ in _values(draw, common, letter, sign)]
            missed = _order([x - y for x, (y, _) in zip(told, values[1], strict=True)])
            return True if math.isinf(hidden[1]) or missed > hidden[1] - _WITHIN else None
    return True if math.isinf(hidden[1]) or _has_term(sides[1], letter, sign, hidden) else None


def _has_term(side: Expr, letter: str, sign: int, hidden: list[float]) -> bool:
    """Return True if a sum has a term of an order between two others."""
    found = [monomial_of(term) for term in terms_of(side)]
    powers = [each.powers.get(symbol(letter), 0) for each in found if each is not None]
    return any(hidden[0] - _WITHIN < sign * power < hidden[1] - _WITHIN for power in powers)


def _values(draw: Draw, side: Expr, letter: str, sign: int) -> Iterator[tuple[acb, acb]]:
    """Yield for each scale the values of an expression for two draws of what its orders hide."""
    size = draw.number_of(letter, "positive")
    orders = [node for node in walk(side) if is_order(node)]
    for scale in _SCALES:
        fixed = {**draw.fixed, letter: size * acb(2) ** (-sign * scale)}
        evaluator = Evaluator(replace(draw, fixed=fixed, integrals={}))
        pair = []
        for factor in (1, 3):
            drawn = {node: Expr("mul", (number(factor + k), node.args[0])) for k, node in enumerate(orders)}
            found: Scalar = evaluator.number(substitute(side, drawn) if drawn else side, Scope())
            pair.append(plain(found))
        yield pair[0], pair[1]


def _order(values: list[acb]) -> float:
    """Return the exponent with which a quantity goes to zero between two scales; infinity if it is not seen at all.

    Raises Unvalued where it is undefined, or the computing error is too large.
    """
    sizes = [float(value.mid().abs_upper().log()) if not value.contains(0) else -math.inf for value in values]
    errors = [value.rad() for value in values]
    lowest = -_HIGHEST * _SCALES[0] * math.log(2)
    if any(not value.is_finite() for value in values):
        raise Unvalued("undefined near the place of an order")
    if all(size == -math.inf or size < lowest for size in sizes):
        if any(error != 0 and float(error.log()) > lowest for error in errors):
            raise Unvalued("too inaccurate for an order")
        return math.inf
    if -math.inf in sizes:
        raise Unvalued("too inaccurate for an order")
    return (sizes[0] - sizes[1]) / math.log(2)

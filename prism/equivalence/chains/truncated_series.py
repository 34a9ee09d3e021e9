r"""Tell a member of a chain that is the series of its neighbour, cut off: `\sqrt{1+x} = 1 + \frac{x}{2}`.

Authors write such links with an equals sign. A member that is a sum of powers of a symbol is a cut-off series if the
two members differ, as the symbol goes to 0 (or to infinity), by a power beyond every one that is written. So
`\sqrt{1+x} = 1 + x` is none, nor is `\sqrt{a^2+b^2} = a + b`. Where both members are sums of powers a term is missing,
which may be a slip.

Refused: to take two members for approximations of each other where their ratio goes to 1; of `a + b` and `a` it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import dropwhile, pairwise, product
from types import ModuleType

from prism.algebra.expr import Expr, symbols
from prism.budget import charge_steps
from prism.engine.lowering import Notation, build_tape
from prism.engine.tape import Tape
from prism.engine.zero_set import draws
from prism.equivalence.chains.member_values import FACTOR, evaluate, scaled_difference
from prism.equivalence.points.pairs import samplings_of
from prism.physics.context import Context

MAX_POWERS = 24  # of one symbol in a member; a longer sum is no series that a person writes
_DRAWS = 4  # random points from which a symbol goes to its limit
_STEP = 2.0  # factor from one value of the symbol to the next
_STEPS = 24
_ABOVE_NOISE = 100.0  # a difference counts where it exceeds its rounding bound by this factor
_STRAIGHT = 0.1  # two slopes in a row differ by no more, nor does the last one from a multiple of 1/2

_Powers = frozenset[Fraction]
_CONSTANT: _Powers = frozenset((Fraction(0),))


def truncated_series(left: Expr, right: Expr, notation: Notation, context: Context, kernel: ModuleType) -> str:
    r"""Return in words in which symbol one member is the cut-off series of the other; empty if it is none.

    Args:
        left, right: two members in the same symbols, operations worked out.
        notation: symbols with a special meaning in both.
        context: of the problem: kinds of symbols; its digest keys the random generator.

    Raises:
        TapeTooLarge, Mismatch: the engine cannot evaluate a member.
    """
    candidates = [
        (name, written)
        for name in sorted(symbols(left) & symbols(right))
        if (written := _powers_of_the_series(left, right, name)) is not None
    ]
    if not candidates:
        return ""
    tape = build_tape(scaled_difference(left, right), notation)
    samplings = samplings_of((tape,), context)
    values = {name: draws(name, sampling, context.digest, _DRAWS) for name, sampling in samplings.items()}
    starts = [{name: float(drawn[d]) for name, drawn in values.items()} for d in range(_DRAWS)]
    for name, written in candidates:
        if name not in samplings or samplings[name].kind == "integer":
            continue
        for limit in ("0", "infinity"):
            factor = 1 / _STEP if limit == "0" else _STEP
            order = _order_of_difference(tape, starts[0], name, factor, kernel)
            if order is None or not (order > max(written) if limit == "0" else order < min(written)):
                continue
            if all(_order_of_difference(tape, at, name, factor, kernel) == order for at in starts[1:]):
                return f"as {name} goes to {limit} the two differ by the order {_power(name, order)}"
    return ""


def _power(name: str, order: Fraction) -> str:
    """Return a power of a symbol in words: `1`, `x`, `x^2`, `x^(-1/2)`."""
    if order in (0, 1):
        return name if order else "1"
    return f"{name}^{order}" if order.denominator == 1 and order > 0 else f"{name}^({order})"


def _powers_of_the_series(left: Expr, right: Expr, name: str) -> _Powers | None:
    """Return the powers of a symbol in the one member that is a sum of them; None if none or both are, or it is 1."""
    found = [powers_in(member, name) for member in (left, right)]
    written = [powers for powers in found if powers is not None]
    return written[0] if len(written) == 1 and written[0] != _CONSTANT else None


def powers_in(member: Expr, name: str) -> _Powers | None:
    r"""Return the powers of a symbol in a sum of them, `a x + \frac{b}{x}`: {1, -1}; None for anything else.

    A power whose terms cancel may be among them.

    >>> from prism.latex import parse
    >>> sorted(map(str, powers_in(parse(r"a\sqrt{x} + \frac{b}{x}").members[0], "x")))
    ['-1', '1/2']
    """
    charge_steps(1)
    if name not in symbols(member):
        return _CONSTANT
    if member.op == "sym":
        return frozenset((Fraction(1),))
    if member.op not in ("add", "sub", "neg", "mul", "div", "pow", "sqrt"):
        return None
    found = [powers_in(arg, name) for arg in (member.args[:1] if member.op == "pow" else member.args)]
    known = [powers for powers in found if powers is not None]
    if len(known) < len(found):
        return None
    powers: _Powers | None
    match member.op:
        case "add" | "sub" | "neg":
            powers = frozenset[Fraction]().union(*known)
        case "mul":
            powers = frozenset(sum(each, Fraction(0)) for each in product(*known)) if _is_small(known) else None
        case "div":
            powers = _shifted(known[0], known[1])
        case _:
            exponent = Fraction(1, 2) if member.op == "sqrt" else member.args[1].value
            powers = _raised(known[0], exponent)
    return powers if powers is not None and len(powers) <= MAX_POWERS else None


def _is_small(factors: list[_Powers]) -> bool:
    """Return True if the factors of a product have few powers."""
    return math.prod(map(len, factors)) <= MAX_POWERS


def _shifted(above: _Powers, below: _Powers) -> _Powers | None:
    """Return the powers of a quotient; None unless one power stands below."""
    if len(below) != 1:
        return None
    (lower,) = below
    return frozenset(power - lower for power in above)


def _raised(powers: _Powers, exponent: Fraction | None) -> _Powers | None:
    """Return the powers of a power; None for a sum under a root or below, or an exponent that is no small number."""
    if exponent is None or abs(exponent) > MAX_POWERS:
        return None
    if len(powers) == 1:
        return frozenset(power * exponent for power in powers)
    if exponent.denominator != 1 or exponent < 1 or len(powers) ** int(exponent) > MAX_POWERS:
        return None
    return frozenset(sum(each, Fraction(0)) for each in product(powers, repeat=int(exponent)))


def _order_of_difference(
    tape: Tape, at: Mapping[str, float], name: str, factor: float, kernel: ModuleType
) -> Fraction | None:
    """Return the power of a symbol by which two members differ, as it goes to its limit from a point.

    None if the difference is no power there, or drowns in rounding.

    Args:
        tape: of `left - t right`.
        factor: by which the symbol changes from one value to the next.
    """
    sizes = list(_differences(tape, at, name, factor, kernel))
    slopes = [math.log(one / other) / -math.log(factor) for one, other in pairwise(sizes)]
    if len(slopes) < 3 or abs(slopes[-1] - slopes[-2]) > _STRAIGHT:
        return None
    order = Fraction(round(2 * slopes[-1]), 2)
    return order if abs(slopes[-1] - order) <= _STRAIGHT else None


def _differences(tape: Tape, at: Mapping[str, float], name: str, factor: float, kernel: ModuleType) -> Iterator[float]:
    """Yield how much two members differ at value after value of a symbol, while that exceeds the rounding error."""
    drawn = (evaluate(tape, {**at, name: at[name] * factor**step, FACTOR: 1.0}, kernel) for step in range(_STEPS))
    for found in dropwhile(lambda each: each is None, drawn):  # a root may have no value far from the limit
        if found is None:
            return
        values, bounds = found
        size = max(abs(float(values[k])) for k in tape.roots)
        if not math.isfinite(size) or size <= _ABOVE_NOISE * max(float(bounds[k]) for k in tape.roots):
            return
        yield size

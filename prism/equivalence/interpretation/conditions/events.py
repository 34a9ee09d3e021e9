r"""Sets that are letters, their unions, intersections, complements and differences: decided on all their parts.

n sets cut the whole into 2^n parts. Two expressions are the same set if they consist of the same parts; a probability
adds up those of the parts, which are drawn.
"""

from __future__ import annotations

from fractions import Fraction

from prism.algebra.expr import Expr, Formula, walk
from prism.budget import charge_steps, remembered
from prism.engine.lowering import conjugation_base
from prism.equivalence.interpretation.decision import Outcome
from prism.equivalence.interpretation.source import Source
from prism.equivalence.interpretation.values import Unvalued

_MOST_SETS = 5
_DRAWS = 3  # of the probabilities of all parts
_COMPLEMENTS = (r"\bar", r"\overline")
_JOINS = ("union", "intersection")
_STEPS = 40  # charged for each part of each node
_MEASURES = frozenset(("P", "p", r"\Pr", "Pr", r"\mathbb{P}"))


def has_events(f: Formula) -> bool:
    """Return True if a formula has a union, an intersection or a difference of letters."""
    return any(_is_of_letters(node) for member in f.members for node in walk(member))


def _is_of_letters(node: Expr) -> bool:
    """Return True for two sets that are joined, of which one is a letter."""
    return (node.op in _JOINS or (node.op == "opaque" and node.name == r"\setminus")) and any(
        arg.op == "sym" for arg in node.args
    )


@remembered(1024)
def compare_events(a: Formula, b: Formula) -> Outcome:
    """Compare two expressions of sets, or of the probabilities of sets; two equations between these: undecided.

    Undecided too are a single set and too many.
    """
    try:
        if a.kind != "expression" or b.kind != "expression":
            raise Unvalued("an equation of sets")
        names = sorted(
            {conjugation_base(node.name) for f in (a, b) for node in walk(f.members[0]) if node.op == "sym"} - _MEASURES
        )
        if not 1 < len(names) <= _MOST_SETS:
            raise Unvalued("too many sets")
        charge_steps(_STEPS * sum(f.members[0].size for f in (a, b)))
        one, two = (_parts(f.members[0], names) for f in (a, b))
        if one is not None and two is not None:
            return Outcome(one == two)
        return Outcome(all(
            _measure(a.members[0], names, draw) == _measure(b.members[0], names, draw) for draw in range(_DRAWS)
        ))  # fmt: skip
    except Unvalued as reason:
        return Outcome(None, str(reason))


def _parts(node: Expr, names: list[str]) -> frozenset[int] | None:
    """Return the parts of the whole that make up a set, numbered by which letters they belong to; None for no set."""
    every = frozenset(range(1 << len(names)))
    if node.op == "sym":
        base = conjugation_base(node.name)  # of a complement, `\bar{A}`
        if base not in names:
            return None
        bit = 1 << names.index(base)
        own = frozenset(part for part in every if part & bit)
        return own if base == node.name else every - own
    if node.op == "pow" and node.args[1].op == "sym" and node.args[1].name in ("c", "C", r"\complement"):
        inner = _parts(node.args[0], names)
        return None if inner is None else every - inner
    if node.op == "opaque" and node.name in _COMPLEMENTS and len(node.args) == 1:
        inner = _parts(node.args[0], names)
        return None if inner is None else every - inner
    if node.op in _JOINS or (node.op == "opaque" and node.name == r"\setminus"):
        found = [_parts(arg, names) for arg in node.args]
        total = found[0]
        for each in found[1:]:
            if total is None or each is None:
                return None
            total = total | each if node.op == "union" else total & each if node.op == "intersection" else total - each
        return total
    return None


def _measure(node: Expr, names: list[str], draw: int) -> Fraction:
    """Return the value of an expression of probabilities in a draw; Unvalued for anything else."""
    if node.value is not None:
        return node.value
    is_product = node.op == "mul" and len(node.args) == 2 and node.args[0].name in _MEASURES
    if (node.op == "apply" and node.name in _MEASURES and len(node.args) == 1) or is_product:
        parts = _parts(node.args[-1], names)
        if parts is None:
            raise Unvalued("a probability of no set")
        source = Source(f"{draw}/parts")
        weights = [source.integer(1, 1000) for _ in range(1 << len(names))]
        return Fraction(sum(weights[part] for part in parts), sum(weights))
    values = [_measure(arg, names, draw) for arg in node.args]
    if node.op == "neg":
        return -values[0]
    if node.op in ("add", "sub", "mul", "div") and values:
        total = values[0]
        for value in values[1:]:
            if node.op == "div" and not value:
                raise Unvalued("a division by zero")
            total = (total + value if node.op == "add" else total - value if node.op == "sub" else
                     total * value if node.op == "mul" else total / value)  # fmt: skip
        return total
    raise Unvalued("an expression of sets")

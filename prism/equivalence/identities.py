r"""Whether two identities say the same of one integral, derivative or sum (semantics Z.7).

An identity such as `\int_0^\infty r e^{-br} dr = 1/b^2` is true of everything, so it can only say what comes out of the
operation that it writes. Another one says the same if it writes the same operation, up to one factor that does not
vary with its variable: `\int_0^\infty b r e^{-br} dr = 1/b`. Refused: integrals that have the same value, and integrals
that are equal after a substitution: which of them was worked out is what such a step is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from prism.algebra.expr import Expr, Formula, canonical, formula, number, ops_of, symbol, symbols
from prism.equivalence.zero_sets import is_identity
from prism.physics.context import Context

_OPERATIONS = frozenset(("derivative", "partial", "integral", "contour", "sum", "product", "limit", "at"))
_ONE = number(1)
FORMULAS_KEPT = 4096  # formulas remembered in a process
_BESIDE = symbol(r"\beside")  # a number of ordinary size; no LaTeX spells a symbol like this


@dataclass(frozen=True, slots=True)
class _Worked:
    """What an identity works out.

    Attributes:
        operation: what is worked out, in its one spelling, without the factors that stand before it.
        factor: what stands before it.
        result: what all of it comes to.
    """

    operation: str
    factor: Expr
    result: Expr


def do_correspond(a: Formula, b: Formula, as_written: tuple[Formula, Formula], context: Context) -> bool:
    """Whether two equations are true of everything and work out the same operation, up to a factor.

    A result 0 has to be written as 0, or as terms that cancel by their form: `1/b - 1/b`.

    Args:
        a, b: with their derivatives and limits worked out.
        as_written: the same with them.
    """
    one, two = (_worked_out_by(f) for f in as_written)
    if one is None or two is None or one.operation != two.operation:
        return False
    if "0" in (canonical(one.factor), canonical(two.factor)) or not (_is_true(a, context) and _is_true(b, context)):
        return False
    if _is_zero(one.result) or _is_zero(two.result):
        return _is_zero(one.result) and _is_zero(two.result)
    products = Expr("mul", (two.factor, one.result)), Expr("mul", (one.factor, two.result))
    return canonical(products[0]) == canonical(products[1]) or is_identity(formula(products, ("=",)), context)


def is_worked_out(f: Formula) -> bool:
    """Whether one side of an equation is the result of an operation that the other side writes."""
    if f.kind != "equation" or f.parts:
        return False
    return _holds_operation(f.members[0]) != _holds_operation(f.members[1])


def _is_true(f: Formula, context: Context) -> bool:
    """Whether an equation is true of everything; an integral that is 0 is told from its noise beside a number."""
    if is_identity(f, context):
        return True
    if not any(map(_is_zero, f.members)):
        return False
    return is_identity(replace(f, members=tuple(Expr("add", (member, _BESIDE)) for member in f.members)), context)


def _is_zero(node: Expr) -> bool:
    return canonical(node) == "0"


@lru_cache(maxsize=FORMULAS_KEPT)
def _worked_out_by(f: Formula) -> _Worked | None:
    """What an equation works out; None where both sides or none of them have an operation."""
    if f.kind != "equation" or f.parts:
        return None
    for side, result in (f.members, f.members[::-1]):
        if _holds_operation(side) and not _holds_operation(result):
            factors = list(_factors(side))
            inside = [each for each in factors if _holds_operation(each[0])]
            outside = [each for each in factors if not _holds_operation(each[0])]
            return _Worked(canonical(_product(inside)), _product(outside), result)
    return None


def _holds_operation(node: Expr) -> bool:
    return not _OPERATIONS.isdisjoint(ops_of(node))


_Factor = tuple[Expr, int]  # and whether it stands above or below


def _factors(node: Expr) -> Iterator[_Factor]:
    """The factors of a side; those of an integrand or a differentiated product that do not vary stand outside."""
    if node.op == "neg":
        yield number(-1), 1
        yield from _factors(node.args[0])
    elif node.op == "mul":
        for arg in node.args:
            yield from _factors(arg)
    elif node.op == "div":
        yield from _factors(node.args[0])
        yield from ((factor, -power) for factor, power in _factors(node.args[1]))
    elif _has_variable(node):
        variable = node.args[1].name
        factors = list(_factors(node.args[0]))
        inside = [each for each in factors if variable in symbols(each[0])]
        yield from (each for each in factors if variable not in symbols(each[0]))
        yield Expr(node.op, (_product(inside), *node.args[1:]), node.name), 1
    else:
        yield node, 1


def _has_variable(node: Expr) -> bool:
    """Whether this is a definite integral or a derivative of what is written in its variable."""
    n_arg = {"integral": 4, "derivative": 2, "partial": 2}.get(node.op)
    return len(node.args) == n_arg and node.args[1].op == "sym" and node.args[1].name in symbols(node.args[0])


def _product(factors: list[_Factor]) -> Expr:
    above, below = (_times([node for node, power in factors if power == sign]) for sign in (1, -1))
    return above if below == _ONE else Expr("div", (above, below))


def _times(nodes: list[Expr]) -> Expr:
    return _ONE if not nodes else nodes[0] if len(nodes) == 1 else Expr("mul", tuple(nodes))

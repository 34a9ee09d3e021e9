r"""Identities about the same integral, derivative or sum (semantics Z.7).

An identity such as `\int_0^\infty r e^{-br} dr = 1/b^2` holds everywhere, so it can only say what comes out of the
operation that it writes. Another one says the same if it writes the same operation, up to one factor that does not
vary with its variable: `\int_0^\infty b r e^{-br} dr = 1/b`. Refused: integrals that have the same value, and integrals
that are equal after a substitution: which of them was worked out is what such a step is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from prism.algebra.expr import Expr, Formula, canonical, formula, number, ops_of, symbol, symbols
from prism.equivalence.points.zero_sets import is_identity
from prism.physics.context import Context

_OPERATIONS = frozenset(("derivative", "partial", "integral", "contour", "sum", "product", "limit", "at"))
_ONE = number(1)
_OFFSET = symbol(r"\beside")  # a number of ordinary size; no LaTeX spells a symbol like this


@dataclass(frozen=True, slots=True)
class _WorkedOut:
    """An operation (integral, derivative, sum, ...) and its result: an equation says that factor * operation = result.

    Attributes:
        operation: the integral, derivative or sum in canonical spelling, without constant factors.
        factor: the product of these factors.
        result: the other side of the identity.
    """

    operation: str
    factor: Expr
    result: Expr


def work_out_same_operation(a: Formula, b: Formula, as_written: tuple[Formula, Formula], context: Context) -> bool:
    r"""Return True if two equations state the result of the same integral, derivative or sum, up to a factor.

    `\int_0^\infty r e^{-br} dr = 1/b^2` and `\int_0^\infty b r e^{-br} dr = 1/b` do. If one result is 0, both must be 0
    by their form.

    Args:
        a, b: the equations with their derivatives and limits evaluated.
        as_written: the same equations before that.
        context: kinds of symbols.
    """
    if not all(map(is_worked_out, as_written)):
        return False
    one, two = (_read_operation(f) for f in as_written)
    if one is None or two is None or one.operation != two.operation:
        return False
    if "0" in (canonical(one.factor), canonical(two.factor)) or not (
        _holds_everywhere(a, context) and _holds_everywhere(b, context)
    ):
        return False
    if _is_zero(one.result) or _is_zero(two.result):
        return _is_zero(one.result) and _is_zero(two.result)
    products = Expr("mul", (two.factor, one.result)), Expr("mul", (one.factor, two.result))
    return canonical(products[0]) == canonical(products[1]) or is_identity(formula(products, ("=",)), context)


def is_worked_out(f: Formula) -> bool:
    """Return True if one side of an equation has an integral, derivative, sum or limit and the other side has none."""
    if f.kind != "equation" or f.parts:
        return False
    return _contains_operation(f.members[0]) != _contains_operation(f.members[1])


def _holds_everywhere(f: Formula, context: Context) -> bool:
    """Return True if an equation holds whatever its symbols are.

    A side that is 0 is compared after a number is added to both, so that rounding does not matter.
    """
    if is_identity(f, context):
        return True
    if not any(map(_is_zero, f.members)):
        return False
    return is_identity(replace(f, members=tuple(Expr("add", (member, _OFFSET)) for member in f.members)), context)


def _is_zero(node: Expr) -> bool:
    """Return True if an expression is 0 by its canonical form."""
    return canonical(node) == "0"


def _read_operation(f: Formula) -> _WorkedOut | None:
    """Split an equation into an operation (integral, derivative, ...) and its result; None if it has none."""
    if f.kind != "equation" or f.parts:
        return None
    for side, result in (f.members, f.members[::-1]):
        if _contains_operation(side) and not _contains_operation(result):
            factors = list(_extracted_factors(side))
            inside = [each for each in factors if _contains_operation(each[0])]
            outside = [each for each in factors if not _contains_operation(each[0])]
            return _WorkedOut(canonical(_quotient_of_factors(inside)), _quotient_of_factors(outside), result)
    return None


def _contains_operation(node: Expr) -> bool:
    """Return True if an expression has an integral, derivative, sum over an index, limit or the like."""
    return not _OPERATIONS.isdisjoint(ops_of(node))


_Factor = tuple[Expr, int]  # with 1 in the numerator, -1 in the denominator


def _extracted_factors(node: Expr) -> Iterator[_Factor]:
    r"""Yield the factors of an expression; constant ones come out of an integral or derivative, as 2 of `\int 2x dx`.

    Each factor comes with 1 if it is in the numerator, -1 if in the denominator.
    """
    if node.op == "neg":
        yield number(-1), 1
        yield from _extracted_factors(node.args[0])
    elif node.op == "mul":
        for arg in node.args:
            yield from _extracted_factors(arg)
    elif node.op == "div":
        yield from _extracted_factors(node.args[0])
        yield from ((factor, -power) for factor, power in _extracted_factors(node.args[1]))
    elif _has_variable(node):
        variable = node.args[1].name
        factors = list(_extracted_factors(node.args[0]))
        inside = [each for each in factors if variable in symbols(each[0])]
        yield from (each for each in factors if variable not in symbols(each[0]))
        yield Expr(node.op, (_quotient_of_factors(inside), *node.args[1:]), node.name), 1
    else:
        yield node, 1


def _has_variable(node: Expr) -> bool:
    """Return True for a definite integral or a derivative whose operand contains the variable."""
    n_arg = {"integral": 4, "derivative": 2, "partial": 2}.get(node.op)
    return len(node.args) == n_arg and node.args[1].op == "sym" and node.args[1].name in symbols(node.args[0])


def _quotient_of_factors(factors: list[_Factor]) -> Expr:
    """Return the product of the factors with power 1 over that of the factors with power -1."""
    above, below = (_product_of([node for node, power in factors if power == sign]) for sign in (1, -1))
    return above if below == _ONE else Expr("div", (above, below))


def _product_of(nodes: list[Expr]) -> Expr:
    """Return the product of expressions; 1 if there are none."""
    return _ONE if not nodes else nodes[0] if len(nodes) == 1 else Expr("mul", tuple(nodes))

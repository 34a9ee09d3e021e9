"""How many rows and columns the matrices of two formulas have: unlike where the formulas allow it.

A table of measured values has more rows than columns, so that what holds for square ones alone is not taken for true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from prism.algebra.expr import Expr, Formula, walk
from prism.algebra.terms import number_of
from prism.budget import charge_steps
from prism.equivalence.interpretation.draws import Draw
from prism.equivalence.interpretation.evaluation import Evaluator
from prism.equivalence.interpretation.letters import Scope
from prism.equivalence.interpretation.signature import Signature, base_of_transposed, is_column
from prism.equivalence.interpretation.values import Table, Unvalued, Value, add, plain, size_of

LONG, SHORT = 4, 3  # rows that there may be
_ACCURATE = 1e-20  # error of a value of ordinary size
_MOST_LETTERS = 4  # whose sizes are tried
_OF_ELEMENTS = frozenset(("sum", "product", "matrix", "cross", "dot", "nabla", "derivative", "partial"))


def with_shapes(signature: Signature, a: Formula, b: Formula) -> Signature:
    """Return a signature with unlike sizes of matrices; the same one where all of them are square or written out.

    Raises Unvalued where a matrix need not be square.
    """
    names = sorted({base_of_transposed(name) or name for name in signature.matrices})
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    if not 0 < len(names) <= _MOST_LETTERS or signature.operators or signature.space or signature.tensors:
        return signature
    if any(node.op in _OF_ELEMENTS for node in nodes) or not any(is_column(name) for name in names):
        return signature
    tall = frozenset().union(*map(_measured, nodes)) & frozenset(names)
    for shapes in _candidates(names):
        charge_steps(len(nodes))
        tried = replace(signature, shapes=shapes)
        fits = [_fits(tried, f) for f in (a, b)]
        if all(fits):
            return tried
        if any(fits) and any(rows > columns for name, (rows, columns) in shapes.items() if name in tall):
            raise Unvalued("a matrix that need not be square")
    return signature


def _candidates(names: list[str]) -> Iterator[Mapping[str, tuple[int, int]]]:
    """Yield sizes of all letters, those with more matrices that are not square first."""
    choices = [
        [(rows, 1) for rows in (LONG, SHORT)] if is_column(name)
        else [(rows, columns) for rows in (LONG, SHORT) for columns in (SHORT, LONG)]
        for name in names
    ]  # fmt: skip
    every = [dict(zip(names, sizes, strict=True)) for sizes in product(*choices)]
    every.sort(key=lambda found: sum(rows == columns for rows, columns in found.values()))
    yield from every


def _measured(node: Expr) -> frozenset[str]:
    """Return the letters that an inverse has with and without a transposition: X of `(X^T X)^{-1}`."""
    if node.op != "pow" or number_of(node.args[1]) != -1:
        return frozenset()
    inside = list(walk(node.args[0]))
    turned = {base_of_transposed(part.name) for part in inside if part.op == "sym"}
    turned |= {part.args[0].name for part in inside if part.op == "opaque" and len(part.args) == 1}
    return frozenset(turned) & {part.name for part in inside if part.op == "sym"}


def _fits(signature: Signature, f: Formula) -> bool:
    """Return True if all products and sums of a formula fit, and its sides."""
    evaluator = Evaluator(Draw(0, signature))
    sides: list[Expr] = [member for member in f.members if not _is_lone(member, signature)]
    try:
        values = [evaluator.value(side, Scope()) for side in sides]
        if len(values) == 2 and all(isinstance(value, Table) for value in values):
            add(values[0], values[1], -1)
    except (Unvalued, ZeroDivisionError, ValueError):
        return False
    return all(_is_accurate(value) for value in values)


def _is_accurate(value: Value) -> bool:
    """Return True unless a value is that of a table without inverse."""
    entries = value.entries if isinstance(value, Table) else (value,)
    return all(
        plain(entry).is_finite() and float(plain(entry).rad()) <= _ACCURATE * (1 + size_of(entry)) for entry in entries
    )


def _is_lone(node: Expr, signature: Signature) -> bool:
    """Return True for a letter alone that is no matrix, and takes the size of the other side."""
    return node.op == "sym" and node.name not in signature.matrices

r"""Covariant derivatives by their definition, `\partial_\mu V^\nu + \Gamma^\nu_{\mu\lambda} V^\lambda`.

Refused: a metric that is constant under them, and Latin indices where nobody writes a connection, for there
`\nabla_i` is `\partial_i`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prism.algebra.expr import Expr, Formula, rewritten, symbol, walk, with_args
from prism.algebra.symbols import relabelled, spelled, symbol_of
from prism.equivalence.interpretation.names import (
    covariant_index,
    free_letters,
    is_greek,
    letters_of,
    placed_letters,
    placed_variable,
)
from prism.equivalence.interpretation.values import Unvalued

_DERIVATIVES = ("partial", "derivative")
_FRESH = (r"\kappa", r"\tau", r"\rho", r"\sigma", r"\lambda", r"\gamma", r"\beta", r"\alpha")


def with_connections(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas with covariant derivatives written out."""
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    indices = [index for node in nodes if (index := covariant_index(node))]
    has_connection = any(node.op == "sym" and symbol_of(node.name).head == r"\Gamma" != node.name for node in nodes)
    if not indices or not (has_connection or all(map(is_greek, indices))):
        return a, b
    used = {letter for node in nodes if node.op == "sym" for letter in (*letters_of(node.name), node.name)}
    fresh = _FRESH if is_greek(indices[0]) else "pqrslmnk"
    letters = iter([each for each in fresh if each not in used | set(indices)])
    return rewritten(a, lambda node: _written_out(node, letters)), rewritten(
        b, lambda node: _written_out(node, letters)
    )


def _written_out(node: Expr, fresh: Iterator[str]) -> Expr:
    """Return a covariant derivative written out; any other node as it is.

    Raises Unvalued if no index letter is left.
    """
    index = covariant_index(node)
    if not index:
        return node
    (operand,) = node.args
    total = Expr("partial", (operand, symbol(index)), "1")
    for letter, is_above in _free_places(operand):
        other = next(fresh, "")
        if not other:
            raise Unvalued("too many indices")
        above, below = (letter, other) if is_above else (other, letter)
        connection = symbol(spelled(r"\Gamma", index + below, above))
        term = Expr("mul", (connection, with_letters(operand, {letter: other})))
        total = Expr("add" if is_above else "sub", (total, term))
    return total


def _free_places(operand: Expr) -> Sequence[tuple[str, bool]]:
    """Return the free indices of an operand, each with True if it stands above; Unvalued if it stands on both sides."""
    found: dict[str, set[bool]] = {}
    for node in walk(operand):
        if node.op == "sym":
            for letter, is_above in placed_letters(node.name):
                found.setdefault(letter, set()).add(is_above)
        elif node.op in _DERIVATIVES:
            for letter, is_above in (placed_variable(arg.name) for arg in node.args[1:]):
                found.setdefault(letter, set()).add(is_above)
    free = sorted(free_letters(operand))
    if any(len(found.get(letter, ())) != 1 for letter in free):
        raise Unvalued("an index above and below")
    return [(letter, next(iter(found[letter]))) for letter in free]


def with_letters(node: Expr, letters: Mapping[str, str]) -> Expr:
    """Return an expression with other letters of indices."""
    args = tuple(with_letters(arg, letters) for arg in node.args)
    if node.op in _DERIVATIVES:
        args = (args[0], *(symbol(letters[arg.name]) if arg.name in letters else arg for arg in args[1:]))
    if node.op == "sym" and not letters.keys().isdisjoint(letters_of(node.name)):
        return symbol(relabelled(node.name, letters))
    return with_args(node, args)

r"""Covariant derivatives by their definition, `\partial_\mu V^\nu + \Gamma^\nu_{\mu\lambda} V^\lambda`.

Refused: a metric that is constant under them, and Latin indices where nobody writes a connection, for there
`\nabla_i` is `\partial_i`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from prism.algebra.expr import Expr, Formula, symbol, walk, with_args, with_members
from prism.equivalence.interpretation.names import covariant_index, free_letters, letters_of, raised_letters
from prism.equivalence.interpretation.values import Unvalued

PLACED = re.compile(r"\\[A-Za-z]+|[A-Za-z]")
"""A letter among the indices of a name."""
_DERIVATIVES = ("partial", "derivative")
_CONNECTION = re.compile(r"\\Gamma[_^]")
_FRESH = (r"\kappa", r"\tau", r"\rho", r"\sigma", r"\lambda", r"\gamma", r"\beta", r"\alpha")


def with_connections(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas with covariant derivatives written out."""
    nodes = [node for f in (a, b) for member in f.members for node in walk(member)]
    indices = [index for node in nodes if (index := covariant_index(node))]
    has_connection = any(node.op == "sym" and _CONNECTION.match(node.name) for node in nodes)
    if not indices or not (has_connection or all(index.startswith("\\") for index in indices)):
        return a, b
    used = {letter for node in nodes if node.op == "sym" for letter in (*letters_of(node.name), node.name)}
    is_greek = indices[0].startswith("\\")
    letters = iter([each for each in (_FRESH if is_greek else "pqrslmnk") if each not in used | set(indices)])
    one, two = (with_members(f, tuple(_written_out(member, letters) for member in f.members)) for f in (a, b))
    return one, two


def _written_out(node: Expr, fresh: Iterator[str]) -> Expr:
    """Return an expression with covariant derivatives written out, inner ones first."""
    args = tuple(_written_out(arg, fresh) for arg in node.args)
    index = covariant_index(node)
    if not index:
        return with_args(node, args)
    (operand,) = args
    total = Expr("partial", (operand, symbol(index)), "1")
    for letter, is_above in _free_places(operand):
        other = next(fresh, "")
        if not other:
            raise Unvalued("too many indices")
        above, below = (letter, other) if is_above else (other, letter)
        connection = symbol(rf"\Gamma^{{{above}}}_{{{index}{below}}}")
        term = Expr("mul", (connection, with_letters(operand, {letter: other})))
        total = Expr("add" if is_above else "sub", (total, term))
    return total


def _free_places(operand: Expr) -> Sequence[tuple[str, bool]]:
    """Return the free indices of an operand, each with True if it stands above; Unvalued if it stands on both sides."""
    found: dict[str, set[bool]] = {}
    for node in walk(operand):
        if node.op == "sym":
            for letter, is_above in zip(letters_of(node.name), raised_letters(node.name), strict=False):
                found.setdefault(letter, set()).add(is_above)
        elif node.op in _DERIVATIVES:
            for arg in node.args[1:]:
                found.setdefault(arg.name.lstrip("^"), set()).add(arg.name.startswith("^"))
    free = sorted(free_letters(operand))
    if any(len(found.get(letter, ())) != 1 for letter in free):
        raise Unvalued("an index above and below")
    return [(letter, next(iter(found[letter]))) for letter in free]


def with_letters(node: Expr, letters: Mapping[str, str]) -> Expr:
    """Return an expression with other letters of indices."""
    args = tuple(with_letters(arg, letters) for arg in node.args)
    if node.op in _DERIVATIVES:
        args = (args[0], *(_renamed_variable(arg, letters) for arg in args[1:]))
    if node.op == "sym" and not letters.keys().isdisjoint(letters_of(node.name)):
        base = re.split("[_^]", node.name)[0]
        scripts = PLACED.sub(lambda match: letters.get(match[0], match[0]), node.name[len(base) :])
        return symbol(base + scripts)
    return with_args(node, args)


def _renamed_variable(variable: Expr, letters: Mapping[str, str]) -> Expr:
    """Return a variable of differentiation with another letter: the index itself, raised or not."""
    raised = "^" if variable.name.startswith("^") else ""
    letter = variable.name.lstrip("^")
    return symbol(raised + letters[letter]) if letter in letters else variable

r"""Steps and delta functions before brackets, as the formulas around them show them.

`\theta(t - t_0)` is read as a product where nothing calls \theta a function. It is a step beside a delta function, or
below an integral to infinity, if it stands before brackets or with its variable wherever it stands, and so are u and H
below any integral with limits. So is `\delta'`
before a bracket a derivative of the delta function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from prism.algebra.expr import Expr, Formula, symbol, walk, with_args, with_members
from prism.algebra.symbols import symbol_of
from prism.equivalence.interpretation.integrals.kinks import DELTAS
from prism.equivalence.interpretation.names import STEPS, may_be_steps_below

_DELTA = DELTAS[0]
_UNKNOWN = symbol("?")
_LETTERS = STEPS - {"sgn", "sign"}
_IN_BRACKETS = frozenset(("add", "sub", "neg", "mul", "div"))
_LENGTHS = frozenset(("abs", "dot", "pow"))


def with_steps_and_deltas(a: Formula, b: Formula) -> tuple[Formula, Formula]:
    """Return two formulas in which steps and derivatives of delta functions are called."""
    steps = steps_in((a, b))
    one, two = (_with_calls(f, steps) for f in (a, b))
    return one, two


def steps_in(formulas: Iterable[Formula]) -> frozenset[str]:
    """Return the letters of steps that a formula writes without calling them."""
    formulas = tuple(formulas)
    written = frozenset(pair for f in formulas for pair in f.depends)
    nodes = [node for f in formulas for member in f.members for node in walk(member)]
    below = {name for node in nodes if node.op == "integral" for name in may_be_steps_below(node)}
    has_delta = any(_order_of_delta(node) is not None or (node.op, node.name) == ("apply", _DELTA) for node in nodes)
    found = _LETTERS & {node.name for node in nodes if node.op == "sym"}
    found &= found if has_delta else below
    for f in formulas if found else ():
        found -= {name for member in f.members for name in _written_otherwise(member, {n for n, _ in f.depends})}
    lone = {f.members[0].name for f in formulas if f.kind == "equation"} | {
        node.args[0].name for node in nodes
        if node.op in ("derivative", "partial") and (not has_delta or node.name != "1" or node.args[1] == _UNKNOWN)
    }  # fmt: skip
    return frozenset(name for name in found if name not in lone and (name, ",") not in written)


def _written_otherwise(node: Expr, called: set[str]) -> Iterator[str]:
    """Yield the letters of steps that stand neither before a bracket nor with their variable.

    Args:
        called: letters that the formula writes with a variable.
    """
    before = [left.name for left, right in _neighbours(node) if right.op in _IN_BRACKETS]
    for arg in node.args:
        if arg.op == "sym" and arg.name in before:
            before.remove(arg.name)
        elif arg.op == "sym" and arg.name in _LETTERS - called and node.op not in ("derivative", "partial"):
            yield arg.name
        yield from _written_otherwise(arg, called)


def _neighbours(node: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield the pairs of factors that stand side by side."""
    yield from zip(node.args, node.args[1:], strict=False) if node.op == "mul" else ()


def _order_of_delta(node: Expr) -> int | None:
    r"""Return the order of a derivative of the delta function that is not called, `\delta''`; None for another node."""
    if node.op == "sym" and node.name in DELTAS[1:]:
        return DELTAS.index(node.name)
    if node.op == "derivative" and node.args[0] == symbol(_DELTA) and node.name.isdigit():
        return int(node.name)
    return None


def _with_calls(f: Formula, steps: frozenset[str]) -> Formula:
    """Return a formula in which the letters `steps` and the derivatives of delta functions are called."""
    own = {
        name: variables[0] for name in (*steps, *DELTAS[1:])
        if len(variables := [variable for each, variable in f.depends if each == name]) == 1
    }  # fmt: skip

    def called(node: Expr) -> Expr:
        """Return a node with its steps and delta functions called."""
        order = _order_of_delta(node)
        if order is not None and order < len(DELTAS) and node.args and node.args[1] != _UNKNOWN:
            return Expr("apply", (node.args[1],), DELTAS[order])
        if node.op in ("derivative", "partial") and len(node.args) == 2 and node.args[0].name in steps - own.keys():
            return Expr(node.op, (Expr("apply", node.args[1:], node.args[0].name), node.args[1]), node.name)
        if node.op == "sym" and node.name in own:
            return Expr("apply", (symbol(own[node.name]),), node.name)
        read = symbol_of(node.name)
        if node.op == "apply" and read.head == _DELTA and read.sup[:1] == "(" and not _is_point(node.args[0]):
            return Expr("apply", tuple(map(called, node.args)), _DELTA)
        if node.op != "mul":
            return with_args(node, tuple(map(called, node.args)))
        factors: list[Expr] = []
        waiting = ""
        for arg in node.args:
            order = _order_of_delta(arg)
            if waiting:
                factors[-1] = Expr("apply", (called(arg),), waiting)
                waiting = ""
                continue
            if order is not None and order < len(DELTAS) and (arg.op == "sym" or arg.args[1] == _UNKNOWN):
                waiting = "" if DELTAS[order] in own else DELTAS[order]
            elif arg.op == "sym" and arg.name in steps - own.keys():
                waiting = arg.name
            factors.append(arg if waiting else called(arg))
        return factors[0] if len(factors) == 1 else Expr("mul", tuple(factors))

    members = tuple(map(called, f.members))
    if members == f.members:
        return f
    depends = frozenset(pair for pair in f.depends if pair[0] not in (*steps, *DELTAS))
    return replace(with_members(f, members), depends=depends)


def _is_point(node: Expr) -> bool:
    """Return True for a vector: one that stands neither squared, nor in a modulus or a scalar product."""
    if node.op == "sym":
        return symbol_of(node.name).is_accented
    return node.op not in _LENGTHS and any(map(_is_point, node.args))

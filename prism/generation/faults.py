"""Put a fault into a formula of a template: a sign, a factor, an exponent or a symbol, as a student might.

A changed formula is planned once for a template. That it is wrong for certain is seen at the values of each instance:
there its sides differ, while every formula of the reference holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from prism.algebra.expr import Expr, Formula, number, substitute, symbol, symbols, walk, with_args, with_members
from prism.equivalence.matching import equivalent
from prism.generation.preparing import PreparedCase, PreparedNode, renamed_latex
from prism.generation.solving import Relation, Step, plan_steps, relations_of
from prism.latex import write

KINDS = ("sign", "factor", "exponent", "symbol")


@dataclass(frozen=True, slots=True, eq=False)
class ChangedFormula:
    """A formula of a node with a fault, and how the numbers follow with it.

    Attributes:
        latex: of the changed formula. renamed: with the symbols of the variant `abstract`.
        relations: of it.
        steps: that work out the quantities with it in place of the node's own formula.
    """

    latex: str
    renamed: str
    relations: tuple[Relation, ...]
    steps: tuple[Step, ...]


def changed_formulas(case: PreparedCase, kind: str) -> tuple[tuple[PreparedNode, ChangedFormula], ...]:
    """Return the nodes of a case whose formula can have a fault of a kind, each with the changed formula."""
    found = []
    for node in case.nodes:
        key = node.index, kind
        if key not in case.changed:
            case.changed[key] = _changed_formula(case, node, kind)
        if case.changed[key] is not None:
            found.append((node, case.changed[key]))
    return tuple(found)


def _changed_formula(case: PreparedCase, node: PreparedNode, kind: str) -> ChangedFormula | None:
    """Return the first changed formula of a node with which all quantities still have a plan; None if there is none."""
    if node.formula is None or node.formula.kind != "equation" or not node.relations or _has_twin(case, node):
        return None
    known = {name for name in case.dimensions if name in case.renamed} - {step.name for step in case.steps}
    wanted = [step.name for step in case.steps]
    for changed in _changes(case, node.formula, kind):
        if changed.members == node.formula.members:
            continue
        relations = relations_of(changed, node.own_index)
        others = [each for other in case.nodes for each in (relations if other is node else other.relations)]
        steps = plan_steps(others, known, wanted, case.signed, case.domains)
        if steps is not None and relations:
            return ChangedFormula(write(changed), renamed_latex(case, changed), relations, steps)
    return None


def _has_twin(case: PreparedCase, node: PreparedNode) -> bool:
    """Return True if another formula of the reference says the same, so that who writes that one has both."""
    assert node.formula is not None
    others = [other.formula for other in case.nodes if other is not node and other.formula is not None]
    return any(equivalent(each, node.formula, context=case.context).status == "equivalent" for each in others)


def _changes(case: PreparedCase, f: Formula, kind: str) -> Iterator[Formula]:
    """Yield an equation with one fault of a kind, the most natural one first."""
    left, right = f.members
    if kind == "factor":
        if right.op == "mul" and right.args[0].op == "num":
            rest = right.args[1:]
            yield with_members(f, (left, rest[0] if len(rest) == 1 else Expr("mul", rest)))
        yield with_members(f, (left, Expr("mul", (number(2), right))))
        return
    for side in (1, 0):
        member = f.members[side]
        for node in walk(member):
            for new in _changes_of_node(case, node, kind, {symbol(name) for name in symbols(left, right)}):
                changed = _with_node(member, node, new)
                yield with_members(f, (left, changed) if side else (changed, right))


def _with_node(root: Expr, node: Expr, new: Expr) -> Expr:
    """Return an expression with the first occurrence of a node replaced."""
    if root is node:
        return new
    args = list(root.args)
    for place, arg in enumerate(args):
        if any(inner is node for inner in walk(arg)):
            args[place] = _with_node(arg, node, new)
            return with_args(root, tuple(args))
    return substitute(root, {node: new})


def _changes_of_node(case: PreparedCase, node: Expr, kind: str, own: set[Expr]) -> Iterator[Expr]:
    """Yield what a fault of a kind makes of one node of an expression."""
    if kind == "sign":
        if node.op == "sub":
            yield Expr("add", node.args)
        elif node.op == "add" and len(node.args) == 2:
            yield Expr("sub", node.args)
    elif kind == "exponent":
        power = node.args[1].value if node.op == "pow" else None
        if power is not None and power.denominator == 1 and power > 1:
            yield node.args[0] if power == 2 else Expr("pow", (node.args[0], number(power - 1)))
        elif node.op == "sqrt":
            yield node.args[0]
    elif kind == "symbol" and node.op == "sym" and node.name in case.dimensions:
        dimension = case.dimensions[node.name]
        for name in case.renamed:
            if case.dimensions.get(name) == dimension and name != node.name and symbol(name) not in own:
                yield symbol(name)


CERTAIN = Fraction(1, 20)  # share by which the sides of a changed formula differ at the true values

"""The value of a definition by cases under an interpretation."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from prism.algebra.expr import Expr, symbol
from prism.budget import charge_steps
from prism.equivalence.interpretation.conditions.predicates import Junction, Predicate, Whole, read_case
from prism.equivalence.interpretation.values import NoCase, Unvalued, Value, real_number

if TYPE_CHECKING:
    from prism.equivalence.interpretation.evaluation import Evaluator
    from prism.equivalence.interpretation.letters import Scope

_CONDITION = 2  # steps charged for each condition that is tested, beside those of its sides
_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
             "!=": operator.ne}  # fmt: skip


def cases_value(evaluator: Evaluator, node: Expr, scope: Scope) -> Value:
    """Return the value whose condition holds first, or is `otherwise`; Unvalued if any condition is not read."""
    draw = evaluator.draw
    conditions = draw.conditions.get(node)
    if conditions is None:
        if any(row.op != "row" or len(row.args) != 2 for row in node.args):
            raise Unvalued("cases")
        conditions = draw.conditions[node] = [read_case(row.args[1]) for row in node.args]
    for place, (row, condition) in enumerate(zip(node.args, conditions, strict=True)):
        if condition is None or _is_true(evaluator, condition, scope):
            draw.met.add((node, place))
            return evaluator.value(row.args[0], scope)
    raise NoCase("no case")


def _is_true(evaluator: Evaluator, predicate: Predicate, scope: Scope) -> bool:
    """Return True if a condition of real numbers holds; raises Unvalued for a family."""
    charge_steps(_CONDITION)
    if isinstance(predicate, Whole):
        value = real_number(evaluator.number(symbol(predicate.name), scope))
        steps = (value - (predicate.least or 0)) / predicate.step
        return steps == int(steps) and (predicate.least is None or steps >= 0)
    if isinstance(predicate, Junction):
        found = (_is_true(evaluator, part, scope) for part in predicate.parts)
        if predicate.kind == "family":
            raise Unvalued("a condition")
        return not next(found) if predicate.kind == "not" else (all if predicate.kind == "all" else any)(found)
    one, two = (real_number(evaluator.number(side, scope)) for side in (predicate.left, predicate.right))
    return bool(_COMPARED[predicate.sign](one, two))

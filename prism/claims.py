"""What a solution asserts: which of its formulas are claims, and what a committed one claims (semantics Z.8, C).

A formula in a box, or led by a relation or an arrow, is committed: the solution stands by it as a result. Only then
may an expression without a relation stand for the right side of an equation.
"""

from __future__ import annotations

from prism.context import Context
from prism.equivalence import Verdict
from prism.expr import Expr, Formula, formula, walk
from prism.latex import LocatedFormula
from prism.matching import equivalent

MIN_OPERATIONS = 3  # of a bare expression that may stand for the right side of an equation: less is a guess


def is_committed(located: LocatedFormula) -> bool:
    """Whether the solution presents this formula as a result."""
    return located.kind == "boxed" or located.led


def is_mention(written: Formula) -> bool:
    """A lone symbol or number, or a list of them: it names quantities and asserts nothing."""
    if written.kind != "expression":
        return False
    root = written.members[0]
    return not any(part.args for part in (root.args if root.op == "list" else (root,)))


def match_claim(reference: Formula, claim: Formula, context: Context, *, committed: bool) -> Verdict:
    """Decide whether a student's formula says what a node says.

    A committed bare expression of at least three operations stands for the right side of the reference.
    """
    bare = claim.kind == "expression" and reference.kind == "equation"
    if bare and committed and _operations(claim.members[0]) >= MIN_OPERATIONS:
        claim = formula((reference.members[0], claim.members[0]), ("=",), claim.latex, claim.depends)
    return equivalent(reference, claim, context=context)


def _operations(expression: Expr) -> int:
    return sum(max(len(node.args) - 1, 1) for node in walk(expression) if node.args)

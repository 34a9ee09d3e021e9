"""Whether random interpretations are asked about two formulas, and the verdict that follows.

What they need is loaded when they are first asked.
"""

from __future__ import annotations

from prism.algebra.expr import Formula, walk
from prism.budget import INTERPRETED, limited, may_begin_extra
from prism.equivalence.interpretation.constructs import constructs_of
from prism.equivalence.verdict import Status, Verdict
from prism.physics.context import Context

_NOT_SAID = Verdict(Status.UNDECIDED, "unsupported", detail="a letter that may be complex or a matrix")


def decide_by_interpretation(a: Formula, b: Formula, context: Context, plain: Verdict) -> Verdict | None:
    """Return the verdict of random interpretations on two formulas beyond algebra; None where they leave it open.

    Args:
        a, b: the reference and the claim.
        context: what the problem knows.
        plain: the verdict without interpretations.
    """
    if {a.kind, b.kind} == {"equation", "system"}:
        return _decide_with_system(a, b, context, plain)
    one, two = constructs_of(a), constructs_of(b)
    is_beyond = one.is_beyond or two.is_beyond
    if plain.reason == "unsupported":
        is_beyond = is_beyond or one.has_cases or two.has_cases
    if a.kind != b.kind or one.is_excluded or two.is_excluded or not is_beyond:
        return None
    if plain.status == Status.EQUIVALENT:
        is_asked = one.is_delicate or two.is_delicate
    elif plain.status == Status.UNDECIDED or plain.reason == "kind":
        is_asked = one.may_say_what(two)
    else:
        is_asked = (one.is_misread or two.is_misread or one.is_delicate or two.is_delicate) and one.may_say_what(two)
    if not is_asked or not may_begin_extra():
        return None
    from prism.equivalence.interpretation.decision import compare_by_interpretation

    with limited(INTERPRETED) as work:
        outcome = compare_by_interpretation(a, b, context)
    if work.is_exhausted:
        return None
    if plain.status == Status.EQUIVALENT:
        is_of_matrices = outcome.same is None and (one.has_matrices or two.has_matrices)
        return _NOT_SAID if outcome.same is False or is_of_matrices else None
    if outcome.same is not True:
        return None
    return Verdict(Status.EQUIVALENT, "same_value" if a.kind == "expression" else "same_zero_set", "tested")


def _decide_with_system(a: Formula, b: Formula, context: Context, plain: Verdict) -> Verdict | None:
    """Return the verdict on an equation between vectors and a system of its components; None for any others."""
    equation, system = (a, b) if a.kind == "equation" else (b, a)
    ops = {node.op for member in equation.members for node in walk(member)}
    names = {node.name for member in equation.members for node in walk(member) if node.op == "sym"}
    has_vector = "matrix" in ops or any(name.startswith(r"\vec{") for name in names)
    if plain.status == Status.EQUIVALENT or not has_vector or len(system.parts) < 2 or not may_begin_extra():
        return None
    from prism.equivalence.interpretation.components import compare_with_system

    with limited(INTERPRETED) as work:
        outcome = compare_with_system(equation, system, context)
    if work.is_exhausted or outcome.same is not True:
        return None
    return Verdict(Status.EQUIVALENT, "same_zero_set", "tested")

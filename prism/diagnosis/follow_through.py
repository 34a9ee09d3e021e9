r"""Carried-forward credit: the nodes that a solution would have earned, had an earlier step of its own been right.

A marker who has taken points off for `v_1 = 5.9` does not take them off again for the length that is worked out
rightly from it. The policy `follow_through` pays for such a step, where the diagnosis has shown that it follows from
the earlier one (`findings`, status `follows`), and within these bounds:

1. A step earns one node, the nearest one, if it states the quantity of that; and nothing that this node rests on: by
   closure `v_2 = 3.1` would earn the very `v_1` that is wrong.
2. The node rests on the node that the wrong step was meant for, so the wrong step itself stays unpaid, and so does a
   mistake that is made twice in two branches. Where it is not known which node was meant, nothing is carried.
3. What only repeats the wrong step earns nothing, nor does what a later wrong step says otherwise.
4. Nodes that are credited anyway are not carried, and all carried nodes together have at most half of the problem's
   points (`MOST_CARRIED`), taken in the order of the text: a solution that is wrong from its first line on passes
   no whole problem.

Nothing is decided about the final answers: one that is carried is not right. It is a policy for people's marks. No
reward pays it, for a model would learn the mistake that is easiest to go on from.

Refused: crediting a step because its formula has the wrong value put in rightly, where the diagnosis has not shown it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prism.algebra.expr import Formula
from prism.budget import CONSEQUENCES, share
from prism.diagnosis.consequences import are_equivalent
from prism.diagnosis.findings import Diagnosis, FormulaDiagnosis, diagnose
from prism.equivalence.facts import numeric_of, subject_of
from prism.equivalence.statements import statements_of
from prism.errors import LatexSyntaxError
from prism.grading.prepared import PreparedProblem, in_alternative
from prism.grading.references import ReferenceNode
from prism.grading.result import Grade, GradedFormula
from prism.latex import one_line
from prism.physics.context import Context, parse
from prism.problem.dag import ReferenceDag, ancestor_closure, score

FOLLOW_THROUGH = "follow_through"
MOST_CARRIED = Fraction(1, 2)  # of all points of a problem: the rest has to be right
_DIGITS = 6  # as of a score


@dataclass(frozen=True, slots=True)
class CarriedNode:
    """A node that is earned by a step which goes on rightly from an earlier wrong one.

    Attributes:
        node: its index.
        position: of the step in `Grade.formulas`.
        source: position of the wrong formula that the step follows from.
    """

    node: int
    position: int
    source: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the keys are the attribute names."""
        return {"node": self.node, "position": self.position, "source": self.source}


def carried_nodes(prepared: PreparedProblem, grade: Grade, diagnosis: Diagnosis) -> tuple[CarriedNode, ...]:
    """Return the nodes that `follow_through` pays beside those of closure, in the order of the text.

    Args:
        prepared: the problem of the grade.
        grade: of a solution. diagnosis: of this grade.
    """
    prepared = in_alternative(prepared, grade.alternative)
    dag, context = prepared.problem.dag, prepared.task.context
    found: list[CarriedNode] = []
    taken = set(grade.credited)
    room = MOST_CARRIED
    findings = {each.position: each for each in diagnosis.findings}
    references = {each.index: each for each in prepared.task.references}
    with share(CONSEQUENCES):
        for step in sorted(diagnosis.findings, key=lambda each: each.position):
            source = findings.get(step.source) if step.status == "follows" and step.source is not None else None
            if source is None or step.nearest is None or step.nearest in taken or step.nearest not in references:
                continue
            worth = score(dag, {step.nearest})
            stated, wrong = _statements(step, context), _statements(source, context)
            if (
                worth <= room
                and step.nearest not in _meant_later(diagnosis, step.position)
                and _rests_on_wrong_step(dag, step.nearest, source, grade.formulas[source.position])
                and _may_earn(references[step.nearest], stated, wrong, context)
            ):
                found.append(CarriedNode(step.nearest, step.position, source.position))
                taken.add(step.nearest)
                room -= worth
    return tuple(found)


def follow_through_of(
    prepared: PreparedProblem, grade: Grade, diagnosis: Diagnosis | None = None
) -> tuple[Grade, tuple[CarriedNode, ...]]:
    """Return a grade with the policy `follow_through` beside the others, and the nodes that are carried forward.

    A grade without a score stays as it is.

    Args:
        prepared: the problem of the grade.
        diagnosis: of the grade; None to make it here.
    """
    if grade.score is None:
        return grade, ()
    carried = carried_nodes(prepared, grade, diagnosis or diagnose(prepared, grade))
    return _with_policy(prepared, grade, carried), carried


def _with_policy(prepared: PreparedProblem, grade: Grade, carried: Sequence[CarriedNode]) -> Grade:
    """Return a grade that has a score with the policy `follow_through`, which pays the carried nodes too."""
    dag = in_alternative(prepared, grade.alternative).problem.dag
    paid = score(dag, {*grade.credited, *(each.node for each in carried)})
    return replace(grade, policies={**grade.policies, FOLLOW_THROUGH: round(float(paid), _DIGITS)})


def carried_lines(grade: Grade, carried: Sequence[CarriedNode]) -> list[str]:
    """Return a line for each carried node: by which formula, from which wrong one; none if it was not asked for."""
    if FOLLOW_THROUGH not in grade.policies:
        return []
    lines = [
        f"Carried forward: node {each.node} by {one_line(grade.formulas[each.position].latex)}, "
        f"which follows from {one_line(grade.formulas[each.source].latex)}"
        for each in carried
    ]
    return lines or ["Carried forward: no node"]


def _meant_later(diagnosis: Diagnosis, position: int) -> frozenset[int | None]:
    """Return the nodes that wrong formulas behind a position are meant for."""
    later = [each for each in diagnosis.findings if each.status == "wrong" and each.position > position]
    return frozenset(each.nearest for each in later)


def _rests_on_wrong_step(dag: ReferenceDag, index: int, source: FormulaDiagnosis, graded: GradedFormula) -> bool:
    """Return True if a node rests on one for which the wrong formula was meant; False if that is not known.

    A chain with a refuted link is meant for the nodes that it says otherwise.
    """
    of_difference = source.difference.node if source.difference is not None else None
    nearest = [each for each in (of_difference, source.nearest, graded.nearest) if each is not None][:1]
    meant = {index for index, _ in graded.withheld} or set(nearest)
    return index not in meant and bool(meant & ancestor_closure(dag, {index}))


def _statements(found: FormulaDiagnosis, context: Context) -> tuple[Formula, ...]:
    """Return what a formula of the solution states; empty if it cannot be read."""
    try:
        return tuple(each.formula for each in statements_of(parse(found.latex, context=context)))
    except LatexSyntaxError:  # a grade that was made elsewhere
        return ()


def _may_earn(node: ReferenceNode, stated: Sequence[Formula], wrong: Sequence[Formula], context: Context) -> bool:
    """Return True if a step states the quantity of a node, and more than the wrong formula does.

    A number may earn a node that asks for a formula, as in a grade; a formula earns no number.

    Args:
        stated: by the step. wrong: by the formula that it follows from.
    """
    return any(
        subject_of(f) in node.subjects
        and (numeric_of(f) is not None or not node.is_number)
        and not _repeats(f, wrong, context)
        for f in stated
    )


def _repeats(f: Formula, wrong: Sequence[Formula], context: Context) -> bool:
    """Return True if a statement only says again what the wrong formula says: its number, or the same formula."""
    if numeric_of(f) is not None:
        return any(numeric_of(each) is not None and subject_of(each) == subject_of(f) for each in wrong)
    return any(are_equivalent(each, f, context) for each in wrong if numeric_of(each) is None)

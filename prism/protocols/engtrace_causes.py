"""The root cause of a wrong trace: six classes, asked in order, and the first that is affirmed is the cause.

By rule only three of them can be affirmed, from the diagnosis by repair; and the three before them can only be denied
together: where every node of the DAG without prerequisites is credited, the solution set out from the right relations.
Anything else needs a reader, and is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from prism.diagnosis.findings import Diagnosis
from prism.grading.result import Grade
from prism.problem.dag import ReferenceDag


class RootCause(StrEnum):
    """The classes in the order in which they are asked."""

    HALLUCINATION = "Hallucination"
    SETUP = "Setup/Assumption"
    FORMULA = "Formula/Principle"
    UNIT = "Unit/Dimensional"
    SIGN = "Sign/Direction"
    CALCULATION = "Calculation"


_BEFORE_THE_ALGEBRA = (RootCause.HALLUCINATION, RootCause.SETUP, RootCause.FORMULA)


def first_yes(answers: Mapping[RootCause, bool | None]) -> RootCause | None:
    """Return the first class that is affirmed; None if none is, or if one before it is not answered.

    >>> first_yes({RootCause.UNIT: True, RootCause.SIGN: True}) is None  # nobody answered what comes before
    True
    """
    for cause in RootCause:
        answer = answers.get(cause)
        if answer is None:
            return None
        if answer:
            return cause
    return None


def root_cause(dag: ReferenceDag, grade: Grade, diagnosis: Diagnosis) -> RootCause | None:
    """Return the root cause of a trace whose final answer is wrong, as far as rules decide it.

    Args:
        dag: the reference DAG that the grade is of.
    """
    credited = set(grade.credited)
    sets_out_right = all(node.index in credited for node in dag.nodes if not node.prerequisites)
    wrong = [each.difference for each in diagnosis.findings if each.status == "wrong" and each.difference is not None]
    return first_yes(
        {
            **dict.fromkeys(_BEFORE_THE_ALGEBRA, False if sets_out_right else None),
            RootCause.UNIT: any(each.label == "UDE" for each in wrong),
            RootCause.SIGN: any(each.kind == "sign" for each in wrong),
            RootCause.CALCULATION: any(each.label == "DCE" and each.kind != "sign" for each in wrong),
        }
    )

"""The root cause of a wrong trace: six classes, asked in order, and the first that is affirmed is the cause.

By rule only the last three can be affirmed, from the diagnosis by repair and from numbers that differ beside the same
formula. The three before them can only be denied together: where every node of the DAG without prerequisites is
credited, so that the solution sets out from the right relations, and no formula is proved wrong in another way, such as
a quantity for another. Anything else needs a reader, and is null; a file may bring what one says. Where a rule says
otherwise both are told, and the file counts unless rules are preferred.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from prism.algebra.expr import formula, number
from prism.diagnosis.findings import Diagnosis
from prism.diagnosis.wording import Difference
from prism.diagnosis.wrong_numbers import describe_number_difference
from prism.equivalence.numbers.comparison import NumberSpec
from prism.grading.result import Grade
from prism.problem.dag import ReferenceDag
from prism.problem.shapes import Id, one_of
from prism.protocols.engtrace.formulas import NumberDifference
from prism.protocols.entry_files import of_shape, read_entries
from prism.protocols.rows import Basis, ProtocolRow


class RootCause(StrEnum):
    """The classes in the order in which they are asked."""

    HALLUCINATION = "Hallucination"
    SETUP = "Setup/Assumption"
    FORMULA = "Formula/Principle"
    UNIT = "Unit/Dimensional"
    SIGN = "Sign/Direction"
    CALCULATION = "Calculation"


_NO_NODE = 0  # where a description names the node
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


def root_cause(
    dag: ReferenceDag, grade: Grade, diagnosis: Diagnosis, numbers: Sequence[NumberDifference] = ()
) -> RootCause | None:
    """Return the root cause of a trace whose final answer is wrong; None where rules leave it open.

    Args:
        dag: the reference DAG that the grade is of.
        numbers: that a step states differently from the gold, beside the same formula.
    """
    credited = set(grade.credited)
    wrong = [each.difference for each in diagnosis.findings if each.status == "wrong" and each.difference is not None]
    wrong += [_described(each) for each in numbers]
    starts_right = all(node.index in credited for node in dag.nodes if not node.prerequisites)
    is_denied = starts_right and all(each.label in ("UDE", "DCE") for each in wrong)
    return first_yes(
        {
            **dict.fromkeys(_BEFORE_THE_ALGEBRA, False if is_denied else None),
            RootCause.UNIT: any(each.label == "UDE" for each in wrong),
            RootCause.SIGN: any(each.kind == "sign" for each in wrong),
            RootCause.CALCULATION: any(each.label == "DCE" and each.kind != "sign" for each in wrong),
        }
    )


@dataclass(frozen=True, slots=True)
class _Cause:
    """What an entry says."""

    id: Id
    sample_id: Id
    cause: Annotated[RootCause, one_of(RootCause)]
    seed: Id = ""
    judge: Any = None
    explanation: Any = None


CauseKey = tuple[str, str]
"""Id of a problem, with its seed, and of a sample."""


def read_causes(path: Path) -> dict[CauseKey, RootCause]:
    """Read causes that a judge or a person names: `{"id": ..., "seed": ..., "sample_id": ..., "cause": ...}`.

    Errors:
        DataFileError: all faults of the file; two causes of one trace.
    """
    file = read_entries(path, of_shape(_Cause), is_checked=False)
    found: dict[CauseKey, RootCause] = {}
    for entry in file.entries:
        one = entry.value
        key = "-".join(filter(None, (one.id, one.seed))), one.sample_id
        if key in found:
            file.faults.add(f"{key[0]}, sample_id {key[1]}: has a cause in an earlier entry", entry.place)
        found.setdefault(key, one.cause)
    file.faults.check(path)
    return found


def with_cause_of_file(row: ProtocolRow, cause: RootCause | None, *, prefers_rules: bool) -> ProtocolRow:
    """Return the row of a wrong trace with the cause that a file names, and what decided it; any other as it is."""
    if row.final_correct is not False or cause is None:
        return row
    by_rule = row.about.meta.get("root_cause")
    basis = Basis.FILE if not by_rule else Basis.BOTH if by_rule == cause else Basis.CONFLICT
    counts = by_rule if basis is Basis.CONFLICT and prefers_rules else str(cause)
    note = f"root cause of the file: {cause}{f', by rule {by_rule}' if basis is Basis.CONFLICT else ''}"
    meta = {**row.about.meta, "root_cause": counts, "root_cause_basis": str(basis)}
    return replace(row, about=replace(row.about, meta=meta), notes=(*row.notes, note))


def _described(difference: NumberDifference) -> Difference:
    """Return how a number differs from the gold's: by a unit, a sign, a factor, or by its value."""
    has, should = number(difference.claimed.value), number(difference.wanted.number.value)
    source = formula((difference.wanted.subject, should), ("=",))
    return describe_number_difference(difference.wanted, NumberSpec(), _NO_NODE, difference.claimed, has, source)

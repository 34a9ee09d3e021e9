"""The kind of the first error of a response, by seven labels: what a judge or a person says, beside what rules tell.

A finding names a label as `primary`, perhaps a `secondary` one, the wrong expressions with the right ones that they
stand for, a reason in words and a confidence (the shape of PRISM-Physics, arXiv 2510.03185, G.1). Of the seven labels
rules decide three: UDE, DCE and some of VRE (`prism.diagnosis`). So the findings of rules have the same shape, with
`primary` null where a rule cannot tell, and a table counts which label of the file stands beside which of the rules.

No score is made of a label, and no grade changes by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from prism.diagnosis.findings import Diagnosis, FormulaDiagnosis
from prism.errors import PrismError
from prism.problem.schema import Problem
from prism.problem.shapes import About, Id, LoadReport, Reader, Text, exact_number, one_of, read_shape
from prism.protocols.entry_files import ENTRY, EntryFile, Table, read_entries
from prism.protocols.graded_rollouts import GradedRollout
from prism.protocols.psas.findings import LABELS

NO_ERROR = "none"
RULES = "rules"
"""Who says it, in findings of the rules."""
OPEN = "open"
"""In the table: a finding without a label, as where no rule can tell."""

_LABELS = (*LABELS, NO_ERROR)
Labels = Annotated[
    tuple[Annotated[str, one_of(LABELS)], ...], Reader(lambda labels: tuple(dict.fromkeys(labels)), is_last=True)
]
Texts = Annotated[tuple[Text, ...], About(fault="is no list of texts")]


@dataclass(frozen=True, slots=True)
class ErrorFinding:
    """What one rater says of the first error of one response.

    Attributes:
        judge: who says it.
        primary: a key of `LABELS`, `none` if nothing is wrong, or None if it cannot be told.
        secondary: further labels.
        incorrect, correct: wrong expressions as the response writes them, and what the reference has in their place,
            in LaTeX.
        rationale: why, in words.
        confidence: from 0 to 1; None where none is given. Rules have none.
    """

    problem_id: Id
    sample_id: Id
    judge: Id = "file"
    primary: Annotated[str | None, one_of(_LABELS)] = None
    secondary: Labels = ()
    incorrect: Texts = ()
    correct: Texts = ()
    rationale: Text = ""
    confidence: Annotated[Fraction | None, exact_number(0, 1)] = None

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as a line of a file of findings."""
        return {
            "problem_id": self.problem_id, "sample_id": self.sample_id, "judge": self.judge, "label": self.primary,
            "primary": self.primary, "secondary": list(self.secondary), "incorrect": list(self.incorrect),
            "correct": list(self.correct), "rationale": self.rationale,
            "confidence": None if self.confidence is None else float(self.confidence),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelTable:
    """How often each label of a rater stands beside each of the rules, over the responses that both speak of.

    Attributes:
        judge: the rater.
        counts: (label of the rater, label of the rules) -> responses; `open` where one of them says none.
        n_only_file, n_only_rules: responses that one of the two has, and the other has not.
    """

    judge: str
    counts: Mapping[tuple[str, str], int]
    n_only_file: int
    n_only_rules: int

    @property
    def n(self) -> int:
        """Responses that both speak of."""
        return sum(self.counts.values())

    @property
    def n_decided(self) -> int:
        """Responses to which both give a label, or say that nothing is wrong."""
        return sum(n for pair, n in self.counts.items() if OPEN not in pair)

    @property
    def n_same(self) -> int:
        """Responses of which both say the same."""
        return sum(n for (one, two), n in self.counts.items() if one == two != OPEN)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values."""
        return {
            "judge": self.judge, "responses": self.n, "decided": self.n_decided, "same": self.n_same,
            "only_file": self.n_only_file, "only_rules": self.n_only_rules,
            "counts": [{"file": one, "rules": two, "responses": n} for (one, two), n in sorted(self.counts.items())],
        }  # fmt: skip


def read_error_findings(path: Path) -> EntryFile[ErrorFinding]:
    """Read a file of findings.

    Errors:
        DataFileError: all faults of the file, two findings of one rater about one response among them.
    """
    file = read_entries(path, _read_finding, is_checked=False)
    seen: dict[tuple[str, str, str], str] = {}
    for entry in file.entries:
        one = entry.value
        first = seen.setdefault((one.judge, one.problem_id, one.sample_id), entry.place)
        if first != entry.place:
            file.faults.add(f"{one.judge} speaks of {one.problem_id}, {one.sample_id} on {first} already", entry.place)
    file.faults.check(path)
    return file


def _read_finding(table: Table, report: LoadReport) -> ErrorFinding:
    """Read one entry."""
    told, label = table.get("secondary"), table.get("label")
    listed = told if isinstance(told, list) or told is None else [told]
    found = read_shape(ErrorFinding, {**table, "secondary": listed, "label": None}, report, ENTRY)
    if "primary" not in table:
        report.faults.append(f"primary: is missing; expected one of {', '.join(_LABELS)}, or null")
    if label is not None and label != table.get("primary"):
        report.faults.append("label: is not that of `primary`; leave one of them out")
    if found.secondary and found.primary in (None, NO_ERROR):
        report.faults.append("secondary: stands without a primary label")
    if found.primary in found.secondary:
        report.faults.append(f"secondary: {found.primary} is the primary label already")
    return found


# By rule. -------------------------------------------------------------------------------------------------------------


def findings_by_rule(graded: Iterable[GradedRollout[Diagnosis]]) -> list[ErrorFinding]:
    """Return what rules say of the first error of each response; of one that the grader failed on, nothing."""
    return [finding_by_rule(one) for one in graded if one.more is not None]


def finding_by_rule(one: GradedRollout[Diagnosis]) -> ErrorFinding:
    """Return the finding of a diagnosed response: label and repair of its first wrong formula, and the other labels."""
    diagnosis = one.more
    assert diagnosis is not None
    wrong = [each for each in diagnosis.findings if each.status == "wrong" and each.difference]
    wrong.sort(key=lambda each: each.position)
    labels = [label for each in wrong if (label := _label_of(each))]
    first = next((each for each in wrong if each.position == diagnosis.first_wrong), None)
    primary = None if first is None else _label_of(first)
    if first is None and diagnosis.is_complete and one.grade.final_correct and not diagnosis.n_open:
        primary = NO_ERROR
    return ErrorFinding(
        one.problem.id, one.rollout.sample_id, RULES, primary,
        tuple(dict.fromkeys(each for each in labels if each != primary)) if primary else (),
        tuple(each.latex for each in wrong),
        tuple(dict.fromkeys(latex for each in wrong if (latex := _node_of(each, one.reference)))),
        first.difference.full if first and first.difference else "",
    )  # fmt: skip


def _label_of(found: FormulaDiagnosis) -> str | None:
    """Return the label of a wrong formula; None where no rule decides it."""
    label = found.difference.label if found.difference else ""
    return label if label in LABELS else None


def _node_of(found: FormulaDiagnosis, reference: Problem) -> str:
    """Return the formula of the node that a wrong formula was meant for; empty where none was needed."""
    index = found.difference.node if found.difference else None
    return next((node.latex for node in reference.nodes if node.index == index), "")


# Beside each other. ---------------------------------------------------------------------------------------------------


def label_tables(told: Sequence[ErrorFinding], by_rule: Sequence[ErrorFinding]) -> list[LabelTable]:
    """Return for each rater of a file how its labels stand beside those of the rules, in the order of the file.

    Errors:
        PrismError: the file speaks of none of the responses.
    """
    own = {(one.problem_id, one.sample_id): one.primary for one in by_rule}
    found = []
    for judge in dict.fromkeys(one.judge for one in told):
        theirs = {(one.problem_id, one.sample_id): one.primary for one in told if one.judge == judge}
        both = theirs.keys() & own.keys()
        counts = Counter((theirs[key] or OPEN, own[key] or OPEN) for key in both)
        found.append(LabelTable(judge, counts, len(theirs) - len(both), len(own) - len(both)))
    if not any(table.n for table in found):
        raise PrismError("the findings speak of none of these responses: their problem_id and sample_id are others")
    return found

"""What a judge or a person says of answers and steps (`--findings`): it settles what rules leave open, names errors.

An entry is about one step (`"step": "a/2"`, or `"part": "a", "step": 2`) and says whether its `equation` and its
`value` hold, or about the final answer of a part (`"part": "a", "answer": true`). A `label` names the error of a step,
by the seven of the published prompt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from prism.errors import PrismError
from prism.problem.shapes import Flag, Id, LoadReport, Text, one_of, read_shape
from prism.protocols.entry_files import ENTRY, Entry, EntryFile, Table, joined_sha256, read_entries
from prism.protocols.psas.rows import Marked, PartMarks, StepMarks
from prism.protocols.psas.steps import ReferencePart, ReferenceStep, step_name
from prism.protocols.rows import Basis, Settled, settle
from prism.resources import meanings

LABELS: Mapping[str, str] = meanings("protocols.labels")
"""The error labels of the published prompt, by their short names (PRISM-Physics, arXiv 2510.03185, has the same)."""


@dataclass(frozen=True, slots=True)
class StepFinding:
    """What one entry says; None where it says nothing.

    Attributes:
        part, step: as the entry names them; empty where it does not.
    """

    problem_id: Id
    sample_id: Id
    part: Id = ""
    step: Id = ""
    answer: Flag | None = None
    equation: Flag | None = None
    value: Flag | None = None
    label: Annotated[str | None, one_of(LABELS)] = None
    comment: Text = ""

    @property
    def is_answer(self) -> bool:
        """Return True if the entry is about a final answer."""
        return self.answer is not None

    @property
    def target(self) -> str:
        """The part whose answer is meant, or the step, named whole, `a/2`, or by its part and its number in it."""
        if self.is_answer:
            return self.part or "answer"
        is_number = self.step.isascii() and self.step.isdecimal()
        return step_name(self.part, int(self.step)) if is_number else self.step


Findings = Mapping[tuple[str, str], Sequence[Entry[StepFinding]]]
"""Entries by problem id and sample id."""


def read_findings(path: Path) -> EntryFile[StepFinding]:
    """Read a file of findings; `by_response` tells the faults of its entries, with those between them.

    Errors:
        DataFileError: a file that cannot be read, or holds no object.
    """
    return read_entries(path, _read_finding, is_checked=False)


def by_response(file: EntryFile[StepFinding], parts: Mapping[str, Sequence[ReferencePart]]) -> Findings:
    """Index findings by the response they are about.

    Args:
        parts: by problem id.

    Errors:
        DataFileError: all faults of the file, findings about problems, parts or steps that there are not among them.
    """
    faults = file.faults
    found: dict[tuple[str, str], list[Entry[StepFinding]]] = defaultdict(list)
    for entry in file.entries:
        one = entry.value
        known = parts.get(one.problem_id)
        if known is None:
            faults.add(f"problem_id: no problem has the id {one.problem_id}", entry.place)
            continue
        names = [part.name for part in known] if one.is_answer else [step.name for part in known for step in part.steps]
        if one.target not in names:
            what = "part" if one.is_answer else "step"
            faults.add(f"{what}: {one.problem_id} has no {what} {one.target}; it has {', '.join(names)}", entry.place)
        found[one.problem_id, one.sample_id].append(entry)
    faults.check(file.path)
    return found


def with_findings(marked: Marked, findings: Findings, *, prefer_rules: bool) -> Marked:
    """Return a response with its marks settled between the rules and the findings about it.

    Errors:
        PrismError: two findings that contradict each other.
    """
    about = marked.about
    entries = findings.get((about.problem_id, about.sample_id), ())
    if not entries:
        return marked
    by_target: dict[tuple[str, bool], list[StepFinding]] = defaultdict(list)
    for entry in entries:
        by_target[entry.value.target, entry.value.is_answer].append(entry.value)
    marks = []
    for part, rules in zip(marked.parts, marked.marks, strict=True):
        answers = _one_of(by_target.get((part.name, True), ()), "answer", about.problem_id)
        steps = tuple(
            _settled_step(
                step, each, by_target.get((step.name, False), ()), about.problem_id, prefer_rules=prefer_rules
            )
            for step, each in zip(part.steps, rules.steps, strict=True)
        )
        answer = settle(rules.answer, answers, prefer_rules=prefer_rules)
        marks.append(PartMarks(answer.value, steps, answer.basis, (*rules.findings, *answer.findings)))
    notes = tuple(dict.fromkeys(note for entry in entries for note in entry.notes))
    return replace(
        marked, about=replace(about, findings_sha256=joined_sha256(entries)), marks=tuple(marks),
        notes=(*marked.notes, *notes),
    )  # fmt: skip


def _settled_step(
    step: ReferenceStep, rules: StepMarks, told: Sequence[StepFinding], problem_id: str, *, prefer_rules: bool
) -> StepMarks:
    """Return the marks of a step settled between the rules and what entries say of what the reference has there."""
    labels = tuple(dict.fromkeys(one.label for one in told if one.label))
    settled: dict[str, Settled[bool]] = {}
    for name, own, nodes in (("value", rules.value, step.values), ("equation", rules.equation, step.equations)):
        if nodes:
            settled[name] = settle(own, _one_of(told, name, problem_id), prefer_rules=prefer_rules)
    findings = (f"{name}, {each}" for name, one in settled.items() for each in one.findings)
    return StepMarks(
        value=settled["value"].value if "value" in settled else rules.value,
        equation=settled["equation"].value if "equation" in settled else rules.equation,
        basis=_joint_basis(list(settled.values())) if settled else rules.basis,
        findings=(*rules.findings, *findings), labels=labels,
    )  # fmt: skip


def _joint_basis(settled: Sequence[Settled[bool]]) -> Basis:
    """Return the basis of a step that is settled by several marks: a conflict in one is a conflict of all."""
    bases = {each.basis for each in settled} - {Basis.NONE}
    for basis in (Basis.CONFLICT, Basis.BOTH):
        if basis in bases:
            return basis
    return Basis.BOTH if bases == {Basis.RULES, Basis.FILE} else next(iter(bases), Basis.NONE)


def _one_of(told: Sequence[StepFinding], name: str, problem_id: str) -> bool | None:
    """Return what entries about one thing say of it; None if they say nothing.

    Errors:
        PrismError: two of them contradict each other.
    """
    said = {value for one in told if (value := getattr(one, name)) is not None}
    if len(said) > 1:
        one = told[0]
        raise PrismError(f"findings: {problem_id}, {one.sample_id}, {one.target}: {name} is both true and false")
    return next(iter(said), None)


def _read_finding(table: Table, report: LoadReport) -> StepFinding:
    """Read one entry."""
    found = read_shape(StepFinding, table, report, ENTRY)
    says = any(table.get(key) is not None for key in ("equation", "value", "label"))
    if found.is_answer and (found.step or says):
        report.faults.append("answer: is said of a part, and the entry is about a step; make it two entries")
    if not found.is_answer and not found.step:
        report.faults.append("step: is missing; or say `answer` of a `part`")
    if not found.is_answer and not says:
        report.faults.append("the entry says nothing: expected answer, equation, value or label")
    return found

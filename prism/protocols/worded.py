"""Answers in words that rules leave open, read by a model or a person: the closure score with their readings, apart.

A node in words is decided by rule only where the answer settles on one of the options that the instructions list
(`problem.worded_answers`). Of any other text a rule says nothing, and the grade pays nothing. Here a file of readings
says of such a node whether the response answers the same; who read it stands in the row, and the score by rules alone
beside the other. What rules decide no reading changes: one that says otherwise is a conflict, and is told.

The rows are of a protocol, so that they never stand for grades: the grade itself has no such door.

Source: PRISM-Physics (arXiv 2510.03185), F.2, which leaves answers in words out of what its rules decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from prism.equivalence.verdict import Status
from prism.grading.guesses import without_guesses
from prism.grading.prepared import PreparedProblem, in_alternative
from prism.grading.result import Grade, nodes_alone
from prism.latex import solution_text
from prism.problem.dag import Policy, policies_with, score
from prism.problem.schema import Problem
from prism.problem.shapes import About, Flag, Id, Text, one_of, whole_number
from prism.protocols.entry_files import Entry, EntryFile, joined_sha256, of_shape, read_entries
from prism.protocols.graded_rollouts import GradedRollout
from prism.protocols.rows import Basis, Part, ProtocolRow, Settled, lost_row, settle
from prism.runs.rollouts import Rollout

PROTOCOL = "worded"
VARIANT = "readings"
READERS = ("model", "person")

_BY_RULES: Mapping[str, bool] = {Status.EQUIVALENT: True, "withheld": True, Status.DIFFERENT: False}
_NO_SCORE = "worded_rules"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one reader says of one answer in words.

    Attributes:
        node: index of the node in words, in the reference DAG that the grade is of.
        says_same: the response answers what the node says.
        reader: who read it; `kind` says whether that is a model or a person.
    """

    problem_id: Id
    sample_id: Id
    node: Annotated[int, whole_number(1)]
    says_same: Annotated[Flag, About("expected true or false")]
    reader: Id
    kind: Annotated[str, one_of(READERS)]
    comment: Text = ""


Readings = Mapping[tuple[str, str], Sequence[Entry[Reading]]]
"""Readings by problem id and sample id."""


@dataclass(frozen=True, slots=True)
class WordedNodes:
    """What rules say of the nodes in words of one response.

    Attributes:
        by_rules: whether the response says the same, by node; None where no rule tells.
        reasons: the reason of each, a code of a verdict.
        guessable, shown: nodes that count only where a prerequisite of them is achieved, as of `PreparedProblem`.
    """

    by_rules: Mapping[int, bool | None]
    reasons: Mapping[int, str]
    guessable: frozenset[int]
    shown: frozenset[int]


def read_readings(path: Path) -> EntryFile[Reading]:
    """Read a file of readings; `by_response` tells the faults of its entries, with those between them.

    Errors:
        DataFileError: a file that cannot be read, or holds no object.
    """
    return read_entries(path, of_shape(Reading), is_checked=False)


def by_response(file: EntryFile[Reading], problems: Mapping[str, Problem]) -> Readings:
    """Index readings by the response they are about.

    Errors:
        DataFileError: all faults of the file: readings of problems or nodes that there are not, of nodes that are no
            answer in words, and readings of one node that contradict each other.
    """
    found: dict[tuple[str, str], list[Entry[Reading]]] = defaultdict(list)
    said: dict[tuple[str, str, int], Entry[Reading]] = {}
    for entry in file.entries:
        one = entry.value
        if one.problem_id not in problems:
            file.faults.add(f"problem_id: no problem has the id {one.problem_id}", entry.place)
            continue
        ways = (problems[one.problem_id], *problems[one.problem_id].alternatives)
        worded = sorted({node.index for way in ways for node in way.nodes if node.is_text})
        if one.node not in worded:
            known = f"its nodes in words are {', '.join(map(str, worded))}" if worded else "it has no node in words"
            file.faults.add(f"node: {one.problem_id}, node {one.node}: {known}", entry.place)
        first = said.setdefault((one.problem_id, one.sample_id, one.node), entry)
        if first.value.says_same != one.says_same:
            words = f"{one.problem_id}, {one.sample_id}, node {one.node}: {first.value.reader} says otherwise"
            file.faults.add(f"says_same: {words} on {first.place}; settle it between the readers", entry.place)
        found[one.problem_id, one.sample_id].append(entry)
    file.faults.check(file.path)
    return found


def worded_nodes(prepared: PreparedProblem, rollout: Rollout, grade: Grade) -> WordedNodes:
    """Find what rules say of each node in words of a graded rollout (a `then` of `grade_rollouts`)."""
    way = in_alternative(prepared, grade.alternative)
    nodes = [node.index for node in way.problem.nodes if node.is_text]
    answers = [item for item in grade.formulas if item.kind == "text"]  # one for each, in the order of the nodes
    is_empty = not solution_text(rollout.solution).text.strip()
    return WordedNodes(
        {k: False if is_empty else _BY_RULES.get(each.status) for k, each in zip(nodes, answers, strict=True)},
        {k: each.reason for k, each in zip(nodes, answers, strict=True)}, way.guessable, way.shown,
    )  # fmt: skip


def worded_rows(graded: Iterable[GradedRollout[WordedNodes]], readings: Readings) -> list[ProtocolRow]:
    """Return the rows of graded rollouts, in order."""
    return [_row(one, readings.get((one.problem.id, one.rollout.sample_id), ())) for one in graded]


def _row(one: GradedRollout[WordedNodes], entries: Sequence[Entry[Reading]]) -> ProtocolRow:
    """Return the row of one response with the readings about it."""
    settings: dict[str, Any] = {"conflict": "rules"}
    found = one.more
    if found is None:
        return lost_row(PROTOCOL, VARIANT, one.about, (_NO_SCORE,), settings)
    told = {entry.value.node: entry.value for entry in entries}
    settled = {
        node: settle(own, told[node].says_same if node in told else None, prefer_rules=True)
        for node, own in found.by_rules.items()
    }
    low, high = (_matched(one, found, settled, unknown=unknown) for unknown in (False, True))
    is_open = any(each.value is None for each in settled.values())
    credit = _closure_of(one)
    worst, best = (score(one.reference.dag, credit(one.reference.dag, each)) for each in (low, high))
    finals = [one.reference.dag.finals <= each for each in (low, high)]
    parts = tuple(_part(node, each, found, told.get(node), low) for node, each in settled.items())
    about = replace(one.about, findings_sha256=joined_sha256(entries)) if entries else one.about
    return ProtocolRow(
        PROTOCOL, VARIANT, about, None if is_open else worst, worst, best, parts,
        policies={_NO_SCORE: _by_rules(one)}, final_correct=finals[0] if finals[0] == finals[1] else None,
        settings=settings, notes=_notes(settled, told, entries),
    )  # fmt: skip


def _matched(
    one: GradedRollout[WordedNodes], found: WordedNodes, settled: Mapping[int, Settled[bool]], *, unknown: bool
) -> frozenset[int]:
    """Return the nodes that count as matched: those of the grade, and those in words that are read so.

    A reading is no way around the rule on guesses: a node in words counts only where a prerequisite is achieved.

    Args:
        unknown: what a node in words counts as that nobody decided.
    """
    read = {node for node, each in settled.items() if (unknown if each.value is None else each.value)}
    earned = frozenset(one.grade.matched)
    return earned | without_guesses(one.reference.dag, earned | read, found.guessable, found.shown)


def _by_rules(one: GradedRollout[WordedNodes]) -> Fraction:
    """Return the score of the grade itself, exact."""
    dag = one.reference.dag
    return score(dag, _closure_of(one)(dag, one.grade.matched))


def _closure_of(one: GradedRollout[WordedNodes]) -> Policy:
    """Return the policy `closure` of a graded rollout, by which a guess behind wrong work credits itself only."""
    return policies_with(None, nodes_alone(one.reference.dag, one.grade))["closure"]


def _part(
    node: int, settled: Settled[bool], found: WordedNodes, reading: Reading | None, matched: Collection[int]
) -> Part:
    """Return the entry of a node in words: who decided it, and what each said."""
    findings = [f"rules: {found.reasons[node]}"]
    if reading is not None:
        findings.append(f"{reading.kind} {reading.reader}: {'the same' if reading.says_same else 'not the same'}")
    if settled.value and node not in matched:
        findings.append("withheld: nothing that it follows from is there")
    points = None if settled.value is None else Fraction(node in matched)
    return Part(f"node {node}", points, settled.basis, tuple(findings))


def _notes(
    settled: Mapping[int, Settled[bool]], told: Mapping[int, Reading], entries: Sequence[Entry[Reading]]
) -> tuple[str, ...]:
    """Return who read what, what is in conflict, and what was repaired in the file."""
    notes = [
        f"read by a {told[node].kind}: node {node}, {told[node].reader}"
        for node, each in settled.items() if each.basis == Basis.FILE
    ]  # fmt: skip
    notes += [
        f"a reading contradicts the rules, which count: node {node}, {told[node].kind} {told[node].reader}"
        for node, each in settled.items() if each.basis == Basis.CONFLICT
    ]  # fmt: skip
    return tuple(dict.fromkeys((*notes, *(note for entry in entries for note in entry.notes))))

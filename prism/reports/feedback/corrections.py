"""A marker's corrections: which node a person credits, or does not, whatever the rule says, and why.

A correction changes marks and no grade: the rule's verdict stays beside it, wherever it is shown. It is of one node,
and what the node rests on stays as the rule has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prism.errors import PrismError
from prism.inputs import decode, did_you_mean, parse_toml, read_bytes, shown
from prism.problem.schema import Problem
from prism.runs.records import Faults, id_of, read_records

KEYS = ("student", "problem", "node", "credited", "by", "why")
"""Columns of a table, and keys of a `[[correction]]`; `problem` may be left out where there is one problem only."""

_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_MAX_FILE = 1 << 28  # bytes
_MAX_DIGITS = 9  # of the index of a node


@dataclass(frozen=True, slots=True)
class Correction:
    """The word of a marker on one node of a student's solution.

    Attributes:
        student, problem_id, node: what it is about; the node is of the reference DAG that the grade counts.
        credited: whether the node earns its points.
        by, why: who says so, and the reason.
        place: where it stands in its file, for messages.
    """

    student: str
    problem_id: str
    node: int
    credited: bool
    by: str
    why: str
    place: str = ""


def read_corrections(
    path: Path, problems: Mapping[str, Problem], handed_in: Collection[tuple[str, str]]
) -> tuple[Correction, ...]:
    """Read a file of corrections: TOML with `[[correction]]`, or a table (CSV, JSON Lines, ...) with these columns.

    Args:
        problems: by id. handed_in: student and problem of each solution, and of each file that is not read.

    Errors:
        DataFileError: all faults at once: unknown keys, students, problems and nodes, values of another kind, a node
            that is corrected twice.
    """
    faults = Faults()
    found: list[Correction] = []
    seen: dict[tuple[str, str, int], str] = {}
    for place, data in _entries(path, faults):
        wrong = list(_faults_of_entry(data, problems, handed_in))
        for fault in wrong:
            faults.add(fault, place)
        if wrong:
            continue
        one = _correction(data, problems, place)
        key = (one.student, one.problem_id, one.node)
        if key in seen:
            faults.add(f"student {shown(one.student)}, node {one.node} is corrected in {seen[key]} too", place)
        seen.setdefault(key, place)
        found.append(one)
    faults.check(path)
    return tuple(found)


def _entries(path: Path, faults: Faults) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield place and content of each entry of a file; what cannot be read is a fault."""
    if path.suffix != ".toml":
        yield from ((record.place, record.data) for record in read_records(path, faults))
        return
    try:
        data = parse_toml(decode(read_bytes(path, _MAX_FILE)))
    except PrismError as error:
        faults.add(str(error))
        return
    for name in data.keys() - {"correction"}:
        faults.add(f"{shown(name)} is unknown{did_you_mean(name, ('correction',))}; write [[correction]]")
    entries = data.get("correction", [])
    if not isinstance(entries, list):
        faults.add("correction is one table; write [[correction]], in double brackets")
        return
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, Mapping):
            yield f"correction {number}", entry
        else:
            faults.add(f"is no table, but {shown(entry)}", f"correction {number}")


def _faults_of_entry(
    data: Mapping[str, Any], problems: Mapping[str, Problem], handed_in: Collection[tuple[str, str]]
) -> Iterator[str]:
    """Yield in words all that is wrong with one entry."""
    for name in data:
        if name not in KEYS:
            yield f"{shown(name)} is unknown{did_you_mean(name, KEYS)}; the keys are {', '.join(KEYS)}"
    needed = KEYS if len(problems) > 1 else [name for name in KEYS if name != "problem"]
    if missing := [name for name in needed if data.get(name) in (None, "")]:
        yield f"{', '.join(missing)}: missing"
    if data.get("credited") not in (None, "") and _flag(data["credited"]) is None:
        yield f"credited: {shown(data['credited'])} is neither yes nor no"
    for name in ("by", "why"):
        if data.get(name) is not None and not isinstance(data[name], str):
            yield f"{name}: {shown(data[name])} is no text"
    student, problem_id, node = id_of(data.get("student")), _problem_id(data, problems), _index(data.get("node"))
    if problem_id and problem_id not in problems:
        yield f"problem: no problem has the id {shown(problem_id)}{did_you_mean(problem_id, problems)}"
        return
    if student and problem_id and (student, problem_id) not in handed_in:
        known = sorted(name for name, problem in handed_in if problem == problem_id)
        where = f" to problem {shown(problem_id)}" if len(problems) > 1 else ""
        yield f"student: {shown(student)} has handed in nothing{where}{did_you_mean(student, known)}"
    if data.get("node") not in (None, ""):
        known_nodes = _nodes(problems[problem_id]) if problem_id else frozenset[int]()
        if node is None or (problem_id and node not in known_nodes):
            yield f"node: {shown(data['node'])} is no node; the nodes are {', '.join(map(str, sorted(known_nodes)))}"


def _nodes(problem: Problem) -> frozenset[int]:
    """Return the indices of the nodes of a problem, those of its alternatives too."""
    return frozenset(index for each in (problem, *problem.alternatives) for index in each.dag.indices)


def _problem_id(data: Mapping[str, Any], problems: Mapping[str, Problem]) -> str:
    """Return the problem that an entry names, else the only one; empty if there are several."""
    return id_of(data.get("problem")) or (next(iter(problems)) if len(problems) == 1 else "")


def _index(value: object) -> int | None:
    """Return the index of a node, of which a table has the digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    is_number = isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) <= _MAX_DIGITS
    return int(str(value).strip()) if is_number else None


def _flag(value: object) -> bool | None:
    """Return what yes or no means, also where a table writes it as 1 or TRUE; None for anything else."""
    return value if isinstance(value, bool) else _YES_NO.get(str(value).strip().lower())


def _correction(data: Mapping[str, Any], problems: Mapping[str, Problem], place: str) -> Correction:
    """Return a correction from an entry without faults."""
    return Correction(
        student=str(data["student"]), problem_id=_problem_id(data, problems), node=_index(data["node"]) or 0,
        credited=bool(_flag(data["credited"])), by=data["by"], why=data["why"], place=place,
    )  # fmt: skip


def other_reference_fault(correction: Correction, problem: Problem) -> str:
    """Return why a correction cannot be of a graded solution, whose reference DAG lacks its node; empty if it can.

    Args:
        problem: with the reference DAG that the grade counts.
    """
    if correction.node in problem.dag.positions:
        return ""
    which = f"the alternative {problem.alternative}" if problem.alternative else "the first reference"
    return f"{correction.place}: node {correction.node} is none of {which}, by which this solution is graded"

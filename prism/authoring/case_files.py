r"""Case files: solutions of a problem with what they have to earn, for a test run (`*.prism.toml`).

```toml
problem = "free_fall.toml"      # beside this file, or the id of a shipped problem

[[case]]
id       = "speed squared"
solution = '$$v_f^2 = 2 g h$$'  # or: solution_file = "answer.md"
score    = 1.0                  # any of score, at_least, matched, credited, final_correct
```

A file is read whole: an unknown key or a node that the problem does not have is a fault, and all faults come at once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from prism.equivalence.verdict import REASONS
from prism.errors import DataFileError, PrismError
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade
from prism.grading.selection import REFUSALS
from prism.latex import Solution, one_line
from prism.problem.collection import problem_path
from prism.problem.schema import Problem

ENDING = ".prism.toml"
EXPECTED = ("score", "at_least", "matched", "credited", "final_correct")
"""What a case may want of a grade."""

_KEYS = ("id", "about", "solution", "solution_file", *EXPECTED)
_TOLERANCE = 1e-5  # of a score that a person writes with six decimals, or fewer


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a grade has to be; None wants nothing.

    Attributes:
        score: the score itself, within 0.00001.
        at_least: the least score.
        matched, credited: node indices, all of them.
        final_correct: whether every final answer matches.
    """

    score: float | None = None
    at_least: float | None = None
    matched: tuple[int, ...] | None = None
    credited: tuple[int, ...] | None = None
    final_correct: bool | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A solution and what it has to earn."""

    id: str
    problem: Path
    solution: str
    expected: Expectation


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade, beside the problem that explains it."""

    problem: Problem
    grade: Grade


def graded(problem: Path | str, solution: Solution) -> Graded:
    """The grade of a solution; a problem is prepared once for as long as its file stays the same.

    Args:
        problem: a path, or the id of a shipped problem.

    Errors:
        DataFileError: a problem file that cannot be read or used.
    """
    path = problem_path(problem)
    try:
        prepared = _prepared(path.resolve(), path.read_bytes())
    except OSError as error:
        raise DataFileError(str(problem), (f"cannot be read: {error.strerror}",)) from error
    return Graded(prepared.problem, grade(prepared, solution))


@lru_cache(maxsize=64)
def _prepared(path: Path, _data: bytes) -> PreparedProblem:
    return prepare(path)


# Reading. -------------------------------------------------------------------------------------------------------


def cases_of(path: Path) -> tuple[Case, ...]:
    """The cases of a file, in its order.

    Errors:
        DataFileError: a file that cannot be read, and everything in it that is none of `EXPECTED` and the other keys.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataFileError(str(path), (f"cannot be read: {error}",)) from error
    faults = [f"{key}: unknown key{_hint(key, ('problem', 'case'))}" for key in data if key not in ("problem", "case")]
    named, tables = data.get("problem"), data.get("case")
    problem = path.parent
    if not isinstance(named, str):
        faults.append("problem: expected the name of a problem file, or the id of a shipped problem")
    else:
        beside = path.parent / named
        problem = beside if beside.exists() else problem_path(named)
        faults += [] if problem.exists() else [f"problem: no file {named} beside this one, and no shipped problem"]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise DataFileError(str(path), (*faults, "case: expected one [[case]] or more"))
    cases = [_case(n, table, path, problem, faults) for n, table in enumerate(tables, start=1)]
    ids = [case.id for case in cases]
    faults += [f"case {name}: the id stands twice" for name in sorted({name for name in ids if ids.count(name) > 1})]
    if faults:
        raise DataFileError(str(path), tuple(faults))
    return tuple(cases)


def _case(n: int, table: Mapping[str, Any], path: Path, problem: Path, faults: list[str]) -> Case:
    name = table.get("id")
    where = f"case {name if isinstance(name, str) and name else n}"
    faults += [f"{where}, {key}: unknown key{_hint(key, _KEYS)}" for key in table if key not in _KEYS]
    if not (isinstance(name, str) and name):
        faults.append(f"{where}, id: expected a name")
    solution, file = table.get("solution"), table.get("solution_file")
    if isinstance(file, str) and solution is None:
        try:
            solution = (path.parent / file).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            faults.append(f"{where}, solution_file: {file}: {error.strerror}")
    elif not isinstance(solution, str) or file is not None:
        faults.append(f"{where}: expected either `solution`, a text, or `solution_file`, the name of one")
    for key, told in _misread(table):
        faults.append(f"{where}, {key}: expected {told}")
    if not any(key in table for key in EXPECTED):
        faults.append(f"{where}: wants nothing of the grade; expected {', '.join(EXPECTED[:-1])} or {EXPECTED[-1]}")
    wanted = {key: table[key] for key in EXPECTED if key in table}
    lists = {key: tuple(value) for key, value in wanted.items() if isinstance(value, list)}
    return Case(str(name), problem, str(solution), Expectation(**{**wanted, **lists}))


def _misread(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys of the wrong type, and what is expected of them."""
    for key in ("score", "at_least"):
        value = table.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            yield key, "a number from 0 to 1"
    for key in ("matched", "credited"):
        value = table.get(key, [])
        if not isinstance(value, list) or any(isinstance(one, bool) or not isinstance(one, int) for one in value):
            yield key, "a list of node indices"
    if not isinstance(table.get("final_correct", True), bool):
        yield "final_correct", "true or false"


def _hint(key: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(key, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; the keys are {', '.join(known)}"


# Judging. -------------------------------------------------------------------------------------------------------


def why_unmet(one: Graded, expected: Expectation) -> str:
    """What a grade lacks of what is expected, formula by formula; empty where it lacks nothing.

    Errors:
        PrismError: a node is expected that the problem does not have.
    """
    grade, problem = one.grade, one.problem
    unknown = {*(expected.matched or ()), *(expected.credited or ())} - set(problem.dag.indices)
    if unknown:
        raise PrismError(f"{problem.id} has no node {_listed(unknown)}; nodes are 1..{len(problem.nodes)}")
    wrong = [f"{incident.code}: {incident.where}: {incident.detail}" for incident in grade.incidents]
    if grade.score is None:
        return "\n".join((f"{problem.id}: the grader has no score ({grade.status})", *wrong))
    said = [f"the grader failed: {text}" for text in wrong]
    if expected.score is not None and abs(grade.score - expected.score) > _TOLERANCE:
        said.append(f"score {grade.score:g}, expected {expected.score:g}")
    if expected.at_least is not None and grade.score < expected.at_least - _TOLERANCE:
        said.append(f"score {grade.score:g}, expected at least {expected.at_least:g}")
    for name, have, want in (
        ("matched", grade.matched, expected.matched), ("credited", grade.credited, expected.credited),
    ):  # fmt: skip
        if want is not None and set(have) != set(want):
            said.append(f"{name} {_listed(have)}, expected {_listed(want)}")
    if expected.final_correct is not None and grade.final_correct != expected.final_correct:
        finals = "are all right" if grade.final_correct else "are not all right"
        said.append(f"the final answers {finals}")
    if not said:
        return ""
    return "\n".join((f"{problem.id}: {'; '.join(said)}", *_about_nodes(one, expected)))


def _about_nodes(one: Graded, expected: Expectation) -> Iterator[str]:
    """The nodes that tell why: those that are wanted and not there, those that are there and not wanted."""
    grade = one.grade
    by_list = expected.matched if expected.matched is not None else expected.credited
    have = set(grade.matched if expected.matched is not None else grade.credited)
    if by_list is not None:
        missing, surplus = set(by_list) - have, have - set(by_list)
    elif expected.score is not None and grade.score is not None and grade.score > expected.score:
        missing, surplus = set[int](), have
    else:
        missing, surplus = set(grade.missing), set[int]()
    for node in one.problem.nodes:
        if node.index in missing:
            yield f"  node {node.index} is missing: {one_line(node.latex)}"
            yield from _nearest(grade, node.index)
        elif node.index in surplus:
            by = next((item for item in grade.formulas if node.index in item.nodes), None)
            how = "by way of its consequences" if by is None else f"by {one_line(by.latex)} ({REASONS[by.reason]})"
            yield f"  node {node.index} is credited, {how}: {one_line(node.latex)}"
    unread = [item for item in grade.formulas if item.status == "unread"]
    yield from (f"  not read: {one_line(item.latex)}: {item.detail.splitlines()[0]}" for item in unread if item.detail)


def _nearest(grade: Grade, index: int) -> Iterator[str]:
    """The formulas of the solution that come nearest to a node, with where they differ, or why they do not count."""
    for item in grade.formulas:
        refused = [REFUSALS[why] for node, why in item.withheld if node == index]
        if refused:
            yield f"    said, and not counted: {one_line(item.latex)}: {'; '.join(refused)}"
        elif item.nearest == index and item.witness:
            yield f"    nearest: {one_line(item.latex)}"
            yield f"      {one_line(item.witness)}"


def _listed(nodes: Any) -> str:
    return " ".join(map(str, sorted(nodes))) or "none"

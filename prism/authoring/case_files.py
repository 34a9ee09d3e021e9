"""Read and check case files: solutions of a problem with what they have to earn, for a test run (`*.prism.toml`).

```toml
problem = "free_fall.toml"      # beside this file, or the id of a shipped problem

[[case]]
id       = "speed squared"
solution = '$$v_f^2 = 2 g h$$'  # or: solution_file = "answer.md"
score    = 1.0                  # any of score, at_least, matched, credited, final_correct
```

A file is read whole: an unknown key or a node that the problem does not have is a fault, and all faults are reported
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from prism.equivalence.verdict import REASONS
from prism.errors import DataFileError, PrismError, in_file, noted, raise_faults
from prism.grading.pipeline import grade
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade
from prism.grading.selection import WITHHELD_REASONS
from prism.inputs import decode, nearest_name, parse_toml, read_bytes
from prism.latex import Solution, one_line
from prism.problem.schema import Problem, ProblemSource, in_alternative
from prism.problem.source import nearest_problem, problem_path

ENDING = ".prism.toml"
EXPECTED = ("score", "at_least", "matched", "credited", "final_correct", "alternative")
"""Keys of a case that require something of its grade."""

_KEYS = ("id", "about", "solution", "solution_file", *EXPECTED)
_MAX_FILE = 1 << 23  # bytes of a file of cases, and of a solution beside it
_TOLERANCE = 1e-5  # of a score, which people write with at most six decimals


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a case requires of its grade; an attribute that is None requires nothing.

    Attributes:
        score: the score, within 0.00001.
        at_least: the lowest score.
        matched, credited: all node indices.
        final_correct: True if every final answer has to match.
        alternative: the reference DAG that has to count; empty for the problem's own.
    """

    score: float | None = None
    at_least: float | None = None
    matched: tuple[int, ...] | None = None
    credited: tuple[int, ...] | None = None
    final_correct: bool | None = None
    alternative: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A solution of a case file, with its problem and what its grade has to be."""

    id: str
    problem: Path
    solution: str
    expected: Expectation


@dataclass(frozen=True, slots=True)
class GradedSolution:
    """A grade and its problem."""

    problem: Problem
    grade: Grade


def grade_solution(problem: ProblemSource, solution: Solution) -> GradedSolution:
    """Grade a solution; the prepared problem of a file is cached until the file changes.

    Args:
        problem: whatever `load_problem` takes.

    Errors:
        DataFileError: a problem that cannot be read or used.
    """
    prepared = _prepared(problem)
    return GradedSolution(prepared.problem, grade(prepared, solution))


def _prepared(problem: ProblemSource) -> PreparedProblem:
    """Prepare a problem, that of a readable file once until its bytes change."""
    if isinstance(problem, str | PathLike):
        path = problem_path(problem)
        try:
            data = path.read_bytes()
        except (OSError, ValueError):  # no such file, or JSON: it is read or refused below
            return prepare(problem)
        return _prepare_file(path.resolve(), data)
    return prepare(problem)


@lru_cache(maxsize=64)
def _prepare_file(path: Path, _data: bytes) -> PreparedProblem:
    """Prepare a problem file; cached until its bytes change."""
    return prepare(path)


# Reading. -------------------------------------------------------------------------------------------------------


def read_cases(path: Path) -> tuple[Case, ...]:
    """Read the cases of a file, in its order.

    Errors:
        DataFileError: a file that cannot be read, an unknown key, or a value of the wrong type; all faults at once.
    """
    with in_file(str(path), "cannot be read: "):
        data = parse_toml(decode(read_bytes(path, _MAX_FILE)))
    faults = [
        f"{key}: unknown key{_key_hint(key, ('problem', 'case'))}" for key in data if key not in ("problem", "case")
    ]
    named, tables = data.get("problem"), data.get("case")
    problem = path.parent
    if not isinstance(named, str):
        faults.append("problem: expected the name of a problem file, or the id of a shipped problem")
    else:
        beside = path.parent / named
        problem = beside if beside.exists() else problem_path(named)
        if not problem.exists():
            near = nearest_problem(str(beside))
            hint = f"; did you mean {near}?" if near else ""
            faults.append(f"problem: no file {named} beside this one, and no shipped problem{hint}")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise DataFileError(str(path), (*faults, "case: expected one [[case]] or more"))
    cases = [_read_case(n, table, path, problem, faults) for n, table in enumerate(tables, start=1)]
    ids = [case.id for case in cases]
    faults += [f"case {name}: the id stands twice" for name in sorted({name for name in ids if ids.count(name) > 1})]
    raise_faults(faults, str(path))
    return tuple(cases)


def _read_case(n: int, table: Mapping[str, Any], path: Path, problem: Path, faults: list[str]) -> Case:
    """Read the n-th [[case]] table of a file; what is wrong with it is appended to `faults`."""
    name = table.get("id")
    where = f"case {name if isinstance(name, str) and name else n}"
    faults += [f"{where}, {key}: unknown key{_key_hint(key, _KEYS)}" for key in table if key not in _KEYS]
    if not (isinstance(name, str) and name):
        faults.append(f"{where}, id: expected a name")
    solution, file = table.get("solution"), table.get("solution_file")
    if isinstance(file, str) and solution is None:
        with noted(faults, f"{where}, solution_file: {file}: "):
            solution = decode(read_bytes(path.parent / file, _MAX_FILE))
    elif not isinstance(solution, str) or file is not None:
        faults.append(f"{where}: expected either `solution`, a text, or `solution_file`, the name of one")
    for key, expected_text in _type_faults(table):
        faults.append(f"{where}, {key}: expected {expected_text}")
    if not any(key in table for key in EXPECTED):
        faults.append(f"{where}: wants nothing of the grade; expected {', '.join(EXPECTED[:-1])} or {EXPECTED[-1]}")
    wanted = {key: table[key] for key in EXPECTED if key in table}
    lists = {key: tuple(value) for key, value in wanted.items() if isinstance(value, list)}
    return Case(str(name), problem, str(solution), Expectation(**{**wanted, **lists}))


def _type_faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (key, expected type in words) for each value of a [[case]] table that has the wrong type."""
    for key in ("score", "at_least"):
        value = table.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            yield key, "a number from 0 to 1"
    for key in ("matched", "credited"):
        value = table.get(key, [])
        if not isinstance(value, list) or any(isinstance(index, bool) or not isinstance(index, int) for index in value):
            yield key, "a list of node indices"
    if not isinstance(table.get("final_correct", True), bool):
        yield "final_correct", "true or false"
    if not isinstance(table.get("alternative", ""), str):
        yield "alternative", "the name of an alternative"


def _key_hint(key: str, known: tuple[str, ...]) -> str:
    """Return a hint on an unknown key: the most similar known key, or all known keys."""
    near = nearest_name(key, known)
    return f"; did you mean {near}?" if near else f"; the keys are {', '.join(known)}"


# Judging. -------------------------------------------------------------------------------------------------------


def describe_unmet(graded_solution: GradedSolution, expected: Expectation) -> str:
    """Describe how a grade differs from what is expected, formula by formula; empty if it is as expected.

    Errors:
        PrismError: a node or an alternative is expected that the problem does not have.
    """
    grade, whole = graded_solution.grade, graded_solution.problem
    problem = in_alternative(whole, grade.alternative if expected.alternative is None else expected.alternative)
    unknown = {*(expected.matched or ()), *(expected.credited or ())} - set(problem.dag.indices)
    if unknown:
        raise PrismError(f"{problem.id} has no node {_index_list(unknown)}; nodes are 1..{len(problem.nodes)}")
    wrong = [f"{incident.code}: {incident.where}: {incident.detail}" for incident in grade.incidents]
    if grade.score is None:
        return "\n".join((f"{problem.id}: the grader has no score ({grade.status})", *wrong))
    complaints = [f"the grader failed: {text}" for text in wrong]
    if problem.alternative != grade.alternative:
        ways = [f"the alternative {name}" if name else "the first reference" for name in
                (grade.alternative, problem.alternative)]  # fmt: skip
        complaints.append(f"graded by {ways[0]}, expected {ways[1]}")
    if expected.score is not None and abs(grade.score - expected.score) > _TOLERANCE:
        complaints.append(f"score {grade.score:g}, expected {expected.score:g}")
    if expected.at_least is not None and grade.score < expected.at_least - _TOLERANCE:
        complaints.append(f"score {grade.score:g}, expected at least {expected.at_least:g}")
    for name, have, want in (
        ("matched", grade.matched, expected.matched), ("credited", grade.credited, expected.credited),
    ):  # fmt: skip
        if want is not None and set(have) != set(want):
            complaints.append(f"{name} {_index_list(have)}, expected {_index_list(want)}")
    if expected.final_correct is not None and grade.final_correct != expected.final_correct:
        finals = "are all right" if grade.final_correct else "are not all right"
        complaints.append(f"the final answers {finals}")
    if not complaints:
        return ""
    return "\n".join((f"{problem.id}: {'; '.join(complaints)}", *_node_lines(graded_solution, expected)))


def _node_lines(graded_solution: GradedSolution, expected: Expectation) -> Iterator[str]:
    """Yield lines on the nodes that make the difference: expected but not earned, and earned but not expected."""
    grade = graded_solution.grade
    by_list = expected.matched if expected.matched is not None else expected.credited
    have = set(grade.matched if expected.matched is not None else grade.credited)
    if by_list is not None:
        missing, surplus = set(by_list) - have, have - set(by_list)
    elif expected.score is not None and grade.score is not None and grade.score > expected.score:
        missing, surplus = set[int](), have
    else:
        missing, surplus = set(grade.missing), set[int]()
    for node in in_alternative(graded_solution.problem, grade.alternative).nodes:
        if node.index in missing:
            yield f"  node {node.index} is missing: {one_line(node.latex)}"
            yield from _nearest_lines(grade, node.index)
        elif node.index in surplus:
            by = next((item for item in grade.formulas if node.index in item.nodes), None)
            how = "by way of its consequences" if by is None else f"by {one_line(by.latex)} ({REASONS[by.reason]})"
            yield f"  node {node.index} is credited, {how}: {one_line(node.latex)}"
    unread = [item for item in grade.formulas if item.status == "unread"]
    yield from (f"  not read: {one_line(item.latex)}: {item.detail.splitlines()[0]}" for item in unread if item.detail)


def _nearest_lines(grade: Grade, index: int) -> Iterator[str]:
    """Yield lines on the formulas nearest to a node: where they differ from it, or why their match does not count."""
    for item in grade.formulas:
        refused = [WITHHELD_REASONS[why] for node, why in item.withheld if node == index]
        if refused:
            yield f"    said, and not counted: {one_line(item.latex)}: {'; '.join(refused)}"
        elif item.nearest == index and item.witness:
            yield f"    nearest: {one_line(item.latex)}"
            yield f"      {one_line(item.witness)}"


def _index_list(nodes: Any) -> str:
    """Return node indices in order, separated by spaces; `none` if there are none."""
    return " ".join(map(str, sorted(nodes))) or "none"

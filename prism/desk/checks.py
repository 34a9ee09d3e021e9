"""What an edit is answered with: findings of the linter, and the samples of the problem graded, each with a light."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from prism.authoring.lint_findings import LintFinding
from prism.authoring.linting import lint
from prism.desk.solution_text import FormulaLine, formula_lines, text_pieces
from prism.errors import DataFileError, PrismError
from prism.grading.pipeline import grade
from prism.grading.prepared import prepare
from prism.grading.result import Grade
from prism.inputs import parse_toml
from prism.problem.problem_file import Expected, Student
from prism.problem.schema import Problem, load_problem
from prism.reports.html.typeset import TypesetPart

Light = Literal["green", "amber", "red"]
_CACHE_SIZE = 32  # versions of files: of one that is edited back and forth


@dataclass(frozen=True, slots=True)
class Sample:
    """A solution that stands in the file, graded.

    Attributes:
        light: green where the label says the same, or without a label where all points are earned; amber where
            nothing is decided against it, and red elsewhere.
        score: None where the grader gave none. wanted: of the label; None without one.
        wrong: nodes that the label decides otherwise.
        way: name of the reference that it is graded by; empty for the first.
    """

    name: str
    light: Light
    score: float | None
    wanted: float | None
    wrong: tuple[int, ...]
    matched: tuple[int, ...]
    pieces: tuple[TypesetPart, ...]
    lines: tuple[FormulaLine, ...]
    way: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings on a version of a problem file, and its samples; none where the file is not loaded."""

    findings: tuple[LintFinding, ...]
    samples: tuple[Sample, ...]
    is_loaded: bool = True

    def count(self, kind: str) -> int:
        """Return how many findings are of a kind."""
        return sum(each.kind == kind for each in self.findings)

    def shown(self, way: str) -> int:
        """Return the place of the sample that stands open beside a reference: the first that is graded by it."""
        return next((k for k, each in enumerate(self.samples) if each.way == way), 0)


def place_of(entry: str) -> tuple[str, str] | None:
    """Return the reference and the node that a finding is about; None if it is about no node.

    >>> place_of("node 3"), place_of("alternative way 2, node 3"), place_of("subquestion a")
    (('', '3'), ('way 2', '3'), None)
    """
    way, is_other, node = entry.removeprefix("alternative ").rpartition(", ")
    is_node = node.startswith("node ") and bool(is_other) == entry.startswith("alternative ")
    return (way, node.removeprefix("node ")) if is_node else None


@lru_cache(maxsize=_CACHE_SIZE)
def check(text: str) -> Checked:
    """Lint the text of a problem file and grade its samples; cached, since the same version is asked for again."""
    try:
        data = parse_toml(text)
    except PrismError as error:
        return Checked((LintFinding("fault", "file", "", "", str(error)),), (), is_loaded=False)
    findings = lint(data)
    try:
        problem = load_problem(data)
    except DataFileError:
        return Checked(findings, (), is_loaded=False)
    return Checked(findings, tuple(_graded_samples(problem, problem.students)))


def _graded_samples(problem: Problem, students: Sequence[Student]) -> list[Sample]:
    """Grade the solutions of a problem."""
    prepared = prepare(problem)
    return [_sample(each, grade(prepared, each.solution)) for each in students]


def _sample(student: Student, found: Grade) -> Sample:
    """Return a student's solution with its grade."""
    wrong = _decided_otherwise(student.expected, found)
    return Sample(
        student.name, _light(student.expected, found, wrong), found.score,
        None if student.expected is None else student.expected.score, wrong, found.matched,
        text_pieces(student.solution, found.formulas), formula_lines(found.formulas, None), found.alternative or "",
    )  # fmt: skip


def _decided_otherwise(expected: Expected | None, found: Grade) -> tuple[int, ...]:
    """Return the nodes that a label and a grade decide otherwise, but for those that the label says may differ."""
    if expected is None or expected.alternative != found.alternative:
        return ()
    free = {*expected.debatable, *expected.known_gaps}
    return tuple(sorted((set(expected.matched) ^ set(found.matched)) - free))


def _light(expected: Expected | None, found: Grade, wrong: Sequence[int]) -> Light:
    """Return the light of a sample."""
    if found.score is None:
        return "red"
    if expected is not None:
        return "red" if wrong else "green"
    if not found.missing:
        return "green"
    return "amber" if found.matched else "red"

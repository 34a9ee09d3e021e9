r"""The pytest plugin: a fixture that grades, an assertion that explains itself, and case files as tests.

pytest finds it wherever PRISM is installed, and it does nothing until it is used: no hook but the collection of files
that end with `.prism.toml` (see `case_files`), and no import of the grader before one of them is run or the fixture
asked for.

```python
from prism.pytest_plugin import assert_score

def test_the_prompt_still_earns_its_steps(prism_grade):
    assert_score(prism_grade("problems/free_fall.toml", my_model("...")), at_least=0.8, final_correct=True)
```
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prism.authoring.case_files import Case, GradedSolution

__all__ = ["assert_score"]

_ENDING = ".prism.toml"  # `case_files.ENDING`, without importing the grader


def assert_score(
    graded: GradedSolution,
    score: float | None = None,
    *,
    at_least: float | None = None,
    matched: Collection[int] | None = None,
    credited: Collection[int] | None = None,
    final_correct: bool | None = None,
    alternative: str | None = None,
) -> None:
    """Fail the test unless a grade is as expected; the message names formula, nearest node and witness point.

    Raises TypeError if nothing is expected.

    Args:
        graded: what the fixture `prism_grade` gives.
        score: the score itself, within 0.00001.
        at_least: the least score.
        matched, credited: node indices, all of them.
        final_correct: whether every final answer matches.
        alternative: name of the reference DAG that counts; empty for the problem's own.
    """
    from prism.authoring.case_files import Expectation, describe_unmet

    __tracebackhide__ = True
    expected = Expectation(
        score=score, at_least=at_least, final_correct=final_correct, alternative=alternative,
        matched=None if matched is None else tuple(matched), credited=None if credited is None else tuple(credited),
    )  # fmt: skip
    if expected == Expectation():
        raise TypeError(
            "assert_score wants something of the grade: score, at_least, matched, credited, final_correct, alternative"
        )
    if why := describe_unmet(graded, expected):
        pytest.fail(why, pytrace=False)


@pytest.fixture(scope="session")
def prism_grade() -> Callable[..., GradedSolution]:
    """Return the function `prism_grade(problem, solution)`; `problem` is whatever `load_problem` takes."""
    from prism.authoring.case_files import grade_solution

    return grade_solution


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return a `CaseFile` for a file `*.prism.toml`, None for any other file (hook of pytest)."""
    if not file_path.name.endswith(_ENDING):
        return None
    collected: pytest.Collector = CaseFile.from_parent(parent, path=file_path)
    return collected


class CaseFile(pytest.File):
    """A pytest file whose tests are the cases of a case file."""

    def collect(self) -> Iterable[pytest.Item]:
        """Return one test item for each case of the file; raises CollectError for a faulty file."""
        from prism.authoring.case_files import read_cases
        from prism.errors import PrismError

        try:
            cases = read_cases(self.path)
        except PrismError as error:
            raise self.CollectError(str(error)) from error
        return [CaseItem.from_parent(self, name=case.id, case=case) for case in cases]


class CaseItem(pytest.Item):
    """A test of one case: its solution is graded, and the grade is compared with what the case expects."""

    def __init__(self, *, case: Case, **named: Any) -> None:
        """Store the case; `named` are the arguments of `pytest.Item`."""
        super().__init__(**named)
        self.case = case

    def runtest(self) -> None:
        """Grade the solution; fail if the grade is not as the case expects or the problem cannot be used."""
        from prism.authoring.case_files import describe_unmet, grade_solution
        from prism.errors import PrismError

        try:
            why = describe_unmet(grade_solution(self.case.problem, self.case.solution), self.case.expected)
        except PrismError as error:
            why = str(error)
        if why:
            pytest.fail(why, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the heading of a failure report: file, no line, name of the case."""
        return self.path, None, f"{self.path.name}: {self.name}"

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
    from prism.authoring.case_files import Case, Graded

__all__ = ["assert_score"]

_ENDING = ".prism.toml"  # `case_files.ENDING`, without importing the grader


def assert_score(
    graded: Graded,
    score: float | None = None,
    *,
    at_least: float | None = None,
    matched: Collection[int] | None = None,
    credited: Collection[int] | None = None,
    final_correct: bool | None = None,
) -> None:
    """Fail the test, with formula, nearest node and witness, unless a grade is as expected.

    Args:
        graded: what the fixture `prism_grade` gives.
        score: the score itself, within 0.00001.
        at_least: the least score.
        matched, credited: node indices, all of them.
        final_correct: whether every final answer matches.
    """
    from prism.authoring.case_files import Expectation, why_unmet

    __tracebackhide__ = True
    expected = Expectation(
        score=score, at_least=at_least, final_correct=final_correct,
        matched=None if matched is None else tuple(matched), credited=None if credited is None else tuple(credited),
    )  # fmt: skip
    if expected == Expectation():
        raise TypeError("assert_score wants something of the grade: score, at_least, matched, credited, final_correct")
    if why := why_unmet(graded, expected):
        pytest.fail(why, pytrace=False)


@pytest.fixture(scope="session")
def prism_grade() -> Callable[..., Graded]:
    """Grade a solution: `prism_grade(problem, solution)`, the problem a path or the id of a shipped one."""
    from prism.authoring.case_files import graded

    return graded


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Case files are tests."""
    if not file_path.name.endswith(_ENDING):
        return None
    collected: pytest.Collector = CaseFile.from_parent(parent, path=file_path)
    return collected


class CaseFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterable[pytest.Item]:
        """One test for each case."""
        from prism.authoring.case_files import cases_of
        from prism.errors import PrismError

        try:
            cases = cases_of(self.path)
        except PrismError as error:
            raise self.CollectError(str(error)) from error
        return [CaseItem.from_parent(self, name=case.id, case=case) for case in cases]


class CaseItem(pytest.Item):
    """One case: its solution is graded, and has to earn what it says."""

    def __init__(self, *, case: Case, **named: Any) -> None:
        super().__init__(**named)
        self.case = case

    def runtest(self) -> None:
        """Grade and compare."""
        from prism.authoring.case_files import graded, why_unmet
        from prism.errors import PrismError

        try:
            why = why_unmet(graded(self.case.problem, self.case.solution), self.case.expected)
        except PrismError as error:
            why = str(error)
        if why:
            pytest.fail(why, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """What stands over a failure."""
        return self.path, None, f"{self.path.name}: {self.name}"

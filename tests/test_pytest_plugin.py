"""The pytest plugin in real inner runs, and the case files that it collects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from prism.authoring.case_files import EXPECTED, Expectation, describe_unmet, grade_solution, read_cases
from prism.errors import DataFileError, PrismError
from prism.grading.result import Incident

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / "examples" / "ci"

CASES = r"""
problem = "free_fall"

[[case]]
id = "right"
solution = '$$v_f = \sqrt{2 g h}$$'
matched = [6]
final_correct = false

[[case]]
id = "wrong factor"
solution = 'The distance is $s = g t^2$.'
matched = [3]
"""

TESTS = r"""
from prism.pytest_plugin import assert_score

def test_it_is_enough(prism_grade):
    assert_score(prism_grade("free_fall", "$v = g t$"), at_least=0.3)

def test_it_is_not_enough(prism_grade):
    assert_score(prism_grade("free_fall", "$s = g t^2$"), 1.0)

def test_nothing_is_asked(prism_grade):
    assert_score(prism_grade("free_fall", ""))
"""


def inner(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest in a process of its own that loads this plugin and no other."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "prism.pytest_plugin", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_failures_explain_themselves_without_a_traceback(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (pytester.path / "fall.prism.toml").write_text(CASES, encoding="utf-8")
    broken = 'problem = "free_fall"\n[[case]]\nid = "x"\nscores = 1\n'
    (pytester.path / "broken.prism.toml").write_text(broken, encoding="utf-8")
    pytester.makepyfile(test_mine=TESTS)
    done = pytester.runpytest_subprocess("-p", "prism.pytest_plugin", "-p", "no:cacheprovider")
    done.assert_outcomes(errors=1)  # a case file that says something else is told before anything runs
    done.stdout.fnmatch_lines(["*broken.prism.toml: case x, scores: unknown key; did you mean score?*"])
    done = pytester.runpytest_subprocess(
        "-p", "prism.pytest_plugin", "-p", "no:cacheprovider", "--ignore=broken.prism.toml"
    )
    done.assert_outcomes(passed=2, failed=3)
    text = done.stdout.str()
    told = text[: text.index("test_nothing_is_asked __")]
    assert "Traceback" not in told
    assert ".py:" not in told  # no line of the plugin's or the grader's code
    done.stdout.fnmatch_lines([
        "*fall.prism.toml: wrong factor*",
        "free_fall: matched none, expected 3",
        r"  node 3 is missing: s = \frac{1}{2} g t^2",
        "    nearest: s = g t^2",
        "      g = *, s = *, t = * satisfies the reference; the claim has * on its left and * on its right",
        "free_fall: score 0, expected 1",
        "*TypeError: assert_score wants something of the grade*",
    ])  # fmt: skip


@pytest.mark.slow
def test_it_does_nothing_until_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "notes.toml").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_nothing_is_loaded():\n"
        "    loaded = {name for name in sys.modules if name.startswith('prism.')}\n"
        "    assert loaded == {'prism.pytest_plugin', 'prism.version'}\n"
        "    assert not {'numpy', 'lark', 'numba'} & sys.modules.keys()\n",
        encoding="utf-8",
    )
    done = inner(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_pytest_finds_it_by_its_entry_point() -> None:
    """Under the name that the installed distribution gives; a wheel is made from this file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    plugin = import_module(project["entry-points"]["pytest11"]["prism"])
    assert {"pytest_collect_file", "prism_grade", "assert_score"} <= set(dir(plugin))


# Case files. ----------------------------------------------------------------------------------------------------


def test_the_example_passes() -> None:
    cases = read_cases(CI / "problem.prism.toml")
    assert len(cases) == 2
    for case in cases:
        assert describe_unmet(grade_solution(case.problem, case.solution), case.expected) == ""


def faults_of(tmp_path: Path, text: str) -> str:
    path = tmp_path / "x.prism.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError) as caught:
        read_cases(path)
    return "\n".join(caught.value.faults)


def test_all_faults_of_a_case_file_come_at_once(tmp_path: Path) -> None:
    text = faults_of(
        tmp_path,
        "problem = 'no such'\nextra = 1\n[[case]]\nid = 'a'\nsolution = 'x'\n"
        "[[case]]\nid = 'a'\nscore = 2\nsolution_file = 'no.md'\n"
        "[[case]]\nmatched = [1, true]\nfinal_correct = 1\ncredited = 3\nat_least = 'x'\n",
    )
    assert text.splitlines() == [
        "extra: unknown key; the keys are problem, case",
        "problem: no file no such beside this one, and no shipped problem",
        "case a: wants nothing of the grade; expected score, at_least, matched, credited, final_correct or alternative",
        "case a, solution_file: no.md: cannot be read: No such file or directory",
        "case a, score: expected a number from 0 to 1",
        "case 3, id: expected a name",
        "case 3: expected either `solution`, a text, or `solution_file`, the name of one",
        "case 3, at_least: expected a number from 0 to 1",
        "case 3, matched: expected a list of node indices",
        "case 3, credited: expected a list of node indices",
        "case 3, final_correct: expected true or false",
        "case a: the id stands twice",
    ]


@pytest.mark.parametrize(
    "text", ["", "problem = 'free_fall'", "problem = 'free_fall'\ncase = []", "problem = 'free_fall'\ncase = 1"]
)
def test_a_file_without_cases_is_refused(tmp_path: Path, text: str) -> None:
    assert "case: expected one [[case]] or more" in faults_of(tmp_path, text)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in faults_of(tmp_path, "problem = ")


def test_a_solution_file_stands_beside_its_case(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes((ROOT / "dags" / "free_fall.toml").read_bytes())
    (tmp_path / "answer.md").write_text("$v = g t$", encoding="utf-8")
    path = tmp_path / "x.prism.toml"
    path.write_text(
        "problem = 'p.toml'\n[[case]]\nid = 'a'\nsolution_file = 'answer.md'\nmatched = [2]\n", encoding="utf-8"
    )
    (case,) = read_cases(path)
    assert case.problem == tmp_path / "p.toml"
    assert describe_unmet(grade_solution(case.problem, case.solution), case.expected) == ""


@pytest.mark.parametrize(("solution", "expected", "told"), [
    ("$v = g t$", Expectation(credited=(1, 2), score=0.333333, at_least=0.3), ""),
    ("$v = g t$", Expectation(matched=(2,), final_correct=False), ""),
    ("$v = g t$", Expectation(final_correct=True), "the final answers are not all right"),
    ("$v = g t$", Expectation(score=0.0), "node 1 is credited, by way of its consequences"),
    ("$v = g t$", Expectation(matched=()), "node 2 is credited, by v = g t (the same by"),
    ("$v = g t$", Expectation(at_least=0.9), "node 6 is missing"),
    (r"$s = g t^2$ and $v = \fracc{1}{2}$", Expectation(matched=(3,)), r"not read: v = \fracc{1}{2}: line 1, column 5"),
    ("$v = 2gt = gt$", Expectation(matched=(2,)), "said, and not counted"),
])  # fmt: skip
def test_what_is_not_met_is_told(solution: str, expected: Expectation, told: str) -> None:
    why = describe_unmet(grade_solution("free_fall", solution), expected)
    assert told in why
    assert bool(why) == bool(told)


def test_a_node_that_is_not_there_is_the_author_s_mistake() -> None:
    with pytest.raises(PrismError, match=r"free_fall has no node 9; nodes are 1\.\.6"):
        describe_unmet(grade_solution("free_fall", ""), Expectation(matched=(1, 9)))
    with pytest.raises(DataFileError, match="no_such"):
        grade_solution("no_such", "")


def test_a_problem_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    text = (ROOT / "dags" / "free_fall.toml").read_text("utf-8")
    path.write_text(text, encoding="utf-8")
    assert grade_solution(path, "$v = g t$").grade.matched == (2,)
    path.write_text(text.replace("formula = 'v = g t'", "formula = 'v = 2 g t'"), encoding="utf-8")
    assert grade_solution(path, "$v = g t$").grade.matched == ()


def test_a_grade_without_score_is_no_zero() -> None:
    one = grade_solution("free_fall", "$v = g t$")
    incidents = (Incident("internal", "claims", "x"),)
    died = replace(one, grade=replace(one.grade, status="internal", score=None, incidents=incidents))
    assert "the grader has no score (internal)" in describe_unmet(died, Expectation(score=0.0))
    failed = replace(one, grade=replace(one.grade, incidents=incidents))
    assert "the grader failed: internal: claims: x" in describe_unmet(failed, Expectation(matched=(2,)))


def test_the_page_shows_the_keys_and_a_real_failure() -> None:
    page = (CI.parents[1] / "docs" / "how-to" / "gate_a_pull_request.md").read_text("utf-8")
    assert all(f"`{key}`" in page for key in (*EXPECTED, "problem", "id", "about", "solution", "solution_file"))
    shown = next(
        text for text in re.findall(r"^```\w*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) if text[:9] == "free_fall"
    )
    assert (
        describe_unmet(grade_solution("free_fall", "$s = g t^2$, $t_f = \\sqrt{2h/g}$"), Expectation(matched=(3, 4)))
        + "\n"
        == shown
    )

"""The workflow for the usual hosts runs targets of the Makefile, and nothing that a contributor cannot run."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from tests.support import quick_run

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = (ROOT / ".github" / "workflows" / "check.yml").read_text("utf-8")
VERSIONS = (ROOT / ".ci" / "versions").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def test_each_step_is_a_target_of_the_makefile() -> None:
    commands = re.findall(r"(?m)^\s+run: (.+)$", WORKFLOW)
    assert [command.split()[:2] for command in commands] == [
        ["make", each] for each in ("check", "versions", "wheel-check")
    ]
    for command in commands:
        assert re.search(rf"(?m)^{command.split()[1]}:", MAKEFILE)


def test_scripts_of_ci_can_be_run() -> None:
    scripts = sorted((ROOT / ".ci").iterdir())
    assert [path.name for path in scripts] == ["run", "versions", "wheel"]
    assert all(os.access(path, os.X_OK) and path.read_text("utf-8").startswith("#!") for path in scripts)
    assert "\t@PYTHON='$(PYTHON)' .ci/wheel\n" in MAKEFILE
    assert "\t@PYTHON='$(WITH)' DEPENDENCIES='$(DEPENDENCIES)' .ci/versions\n" in MAKEFILE


def test_the_workflow_has_the_pythons_that_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(re.findall(r'python-version: "(.+)"', WORKFLOW)) == {project["requires-python"].removeprefix(">=")}
    named = [words.split()[-1] for words in project["classifiers"] if re.search(r"Python :: 3\.", words)]
    (tried,) = re.findall(r"python: \[(.+)\]", WORKFLOW)
    is_only_watched = re.findall(r"continue-on-error: .*'(.+)'", WORKFLOW)
    assert re.findall(r'"(.+?)"', tried) == named + is_only_watched
    assert f"for minor in {' '.join(each.removeprefix('3.') for each in named + is_only_watched)};" in VERSIONS


def test_actions_are_pinned_by_digest() -> None:
    used = re.findall(r"uses: (\S+)", WORKFLOW)
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", each) for each in used)


def test_the_versions_tried_are_the_lowest_and_newest_of_all_extras_of_users() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for_tests = {"test", "docs", "dev", "bench", "bench-latex2sympy2", "ray", "reasoning-gym", "browser"}
    assert set(re.findall(r"--extra (\S+)", VERSIONS)) == extras.keys() - for_tests
    (folders,) = re.findall(r"tests=\((.+)\)", VERSIONS)
    assert all((ROOT / each).exists() for each in folders.split())


def test_a_quick_run_samples_tests_that_exist_and_leaves_no_folder_out() -> None:
    assert "-m 'not slow' --quick\n" in MAKEFILE
    assert MAKEFILE.count("--quick") == 1, "all others run everything"
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    for named in quick_run.SHARES:
        file, _, test = named.partition("::")
        assert f"def {test.partition('[')[0]}" in files[file].read_text("utf-8"), named
    folders = {path.parent for path in files.values()}
    assert folders == {path.parent for path in files.values() if not quick_run.is_slow_file(path)}

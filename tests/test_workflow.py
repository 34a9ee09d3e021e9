"""The workflow for the usual hosts runs targets of the Makefile, and nothing that a contributor cannot run."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from tests.support import quick_run

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = (ROOT / ".github" / "workflows" / "check.yml").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def test_each_step_is_a_target_of_the_makefile() -> None:
    commands = re.findall(r"(?m)^\s+run: (.+)$", WORKFLOW)
    assert commands == ["make check", "make wheel-check"]
    for command in commands:
        assert re.search(rf"(?m)^{command.split()[1]}:", MAKEFILE)


def test_scripts_of_ci_can_be_run() -> None:
    scripts = sorted((ROOT / ".ci").iterdir())
    assert [path.name for path in scripts] == ["run", "wheel"]
    assert all(os.access(path, os.X_OK) and path.read_text("utf-8").startswith("#!") for path in scripts)
    assert "\t@PYTHON='$(PYTHON)' .ci/wheel\n" in MAKEFILE


def test_the_workflow_has_the_python_that_the_project_needs() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert set(re.findall(r'python-version: "(.+)"', WORKFLOW)) == {needed.removeprefix(">=")}


def test_a_quick_run_samples_tests_that_exist_and_leaves_no_folder_out() -> None:
    assert "-m 'not slow' --quick\n" in MAKEFILE
    assert MAKEFILE.count("--quick") == 1, "all others run everything"
    files = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}
    for named in quick_run.SHARES:
        file, _, test = named.partition("::")
        assert f"def {test.partition('[')[0]}" in files[file].read_text("utf-8"), named
    folders = {path.parent for path in files.values()}
    assert folders == {path.parent for path in files.values() if not quick_run.is_slow_file(path)}

"""A repository whose build goes red on one dropped node and green after: the Action's steps, run as the runner does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"
ACTION = (CI / "action.yml").read_text("utf-8")

RIGHT = r"From rest $v = g t$, so $s = \frac12 g t^2$ and $t_f = \sqrt{2h/g}$. At the end $v_f = g t_f$."
DROPPED = r"From rest $v = g t$, so $s = g t^2$ and $t_f = \sqrt{h/g}$. At the end $v_f = g t_f$."


def inputs() -> dict[str, str]:
    """The inputs of the Action with their defaults; the file is laid out so that no reader of YAML is needed."""
    block = ACTION[ACTION.index("\ninputs:") : ACTION.index("\noutputs:")]
    found = re.findall(r"^  ([\w-]+):\n((?:    .*\n)+)", block, re.MULTILINE)
    defaults = {name: re.search(r"^    default: (.*)$", body, re.MULTILINE) for name, body in found}
    return {name: default[1].strip('"') if default else "" for name, default in defaults.items()}


@dataclass(frozen=True)
class Step:
    """One step of the Action."""

    name: str
    id: str
    script: str
    env: dict[str, str]


def steps() -> list[Step]:
    blocks = re.split(r"^    - name: ", ACTION[ACTION.index("  steps:") :], flags=re.MULTILINE)[1:]
    return [
        Step(
            block.splitlines()[0],
            next(iter(re.findall(r"^      id: (.*)$", block, re.MULTILINE)), ""),
            textwrap.dedent(block[block.index("run: |\n") + len("run: |\n") :]),
            dict(re.findall(r"^        ([A-Z_]+): (.*)$", block, re.MULTILINE)),
        )
        for block in blocks
    ]


@dataclass
class Runner:
    """What GitHub's runner gives a composite action, as far as its steps use it."""

    folder: Path
    given: dict[str, str]
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    def value(self, expression: str) -> str:
        names = {f"inputs.{name}": value for name, value in {**inputs(), **self.given}.items()}
        names |= {f"steps.{name}": value for name, value in self.outputs.items()}
        found = re.fullmatch(r"\$\{\{ ([\w.-]+) \}\}", expression)
        assert found, expression
        return names[found[1]]

    def run(self) -> int:
        """The exit code of the build: that of the first step that fails. PRISM is installed already."""
        temporary = self.folder / "runner_temp"
        temporary.mkdir(exist_ok=True)
        shim = temporary / "bin"
        shim.mkdir(exist_ok=True)
        command = shim / "prism"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m prism "$@"\n', encoding="utf-8")
        command.chmod(0o755)
        self.log, self.summary = "", ""
        for step in steps():
            if step.name == "Install":
                continue
            output, summary = temporary / f"{step.id}.out", temporary / f"{step.id}.md"
            output.write_text("", encoding="utf-8")
            summary.write_text("", encoding="utf-8")
            env = {
                **os.environ, **{name: self.value(value) for name, value in step.env.items()}, "CI": "true",
                "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_WORKSPACE": str(self.folder), "RUNNER_TEMP": str(temporary), "PYTHONPATH": str(ROOT),
                "PATH": f"{shim}{os.pathsep}{os.environ['PATH']}", "PRISM_KERNELS": "interpreted",
            }  # fmt: skip
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.script], cwd=self.folder, env=env,
                capture_output=True, text=True, check=False, timeout=120,
            )  # fmt: skip
            self.log += done.stdout + done.stderr
            self.summary += summary.read_text("utf-8")
            lines = [line.partition("=") for line in output.read_text("utf-8").splitlines()]
            self.outputs |= {f"{step.id}.outputs.{name}": value for name, _, value in lines}
            if done.returncode:
                return done.returncode
        return 0


def write_rollouts(folder: Path, solution: str) -> None:
    records = [{"problem_id": "free_fall", "sample_id": "model", "response": solution}]
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the Action's steps are written for bash")
def test_the_build_goes_red_on_one_dropped_node_and_green_after(tmp_path: Path) -> None:
    """The baseline is taken from a first run; then the model loses the factor 1/2, and finds it again."""
    (tmp_path / "problems").mkdir()
    shutil.copy(ROOT / "dags" / "free_fall.toml", tmp_path / "problems")
    given = {"problems": "problems", "rollouts": "rollouts.jsonl", "baseline": "baseline.jsonl", "install": ""}
    runner = Runner(tmp_path, {**given, "fail-on": "any-lost-node,mean<-0.01"})

    write_rollouts(tmp_path, RIGHT)
    commands = CliRunner()
    first = [str(tmp_path / name) for name in ("problems", "rollouts.jsonl", "first.jsonl", "baseline.jsonl")]
    assert commands.invoke(app, ["run", *first[:2], "-o", first[2], "--workers", "0"]).exit_code == 0
    assert commands.invoke(app, ["compare", first[3], first[2], "--update-baseline"]).exit_code == 0

    write_rollouts(tmp_path, DROPPED)
    assert runner.run() == 1
    assert "::error file=baseline.jsonl,line=1,title=free_fall/model%3A any-lost-node::" in runner.log
    assert "lost node 3, 4" in runner.log
    assert runner.summary.startswith("## PRISM: 2 of 2 gates fired")
    assert runner.outputs["gate.outputs.exit-code"] == "1"
    comparison = json.loads(Path(runner.outputs["gate.outputs.comparison"]).read_text("utf-8"))
    assert (comparison["passed"], comparison["items"][0]["lost"]) == (False, [3, 4])
    assert ET.parse(runner.outputs["gate.outputs.junit"]).findall(".//failure")

    write_rollouts(tmp_path, RIGHT.replace("From rest", "Starting from rest,"))
    assert runner.run() == 0
    assert runner.outputs["gate.outputs.exit-code"] == "0"
    assert "::error" not in runner.log
    assert "none fired" in runner.summary


def test_the_action_names_what_is_there() -> None:
    """Inputs are used, outputs are written, and no expression stands in a script, where a value would be code."""
    named = set(re.findall(r"\$\{\{ inputs\.([\w-]+)", ACTION))
    assert named == set(inputs())
    for step, output in re.findall(r"\$\{\{ steps\.(\w+)\.outputs\.([\w-]+) \}\}", ACTION):
        assert any(one.id == step and f'"{output}=' in one.script for one in steps()), output
    assert len(steps()) == 3
    assert not any("${{" in step.script for step in steps())
    page = (ROOT / "docs" / "how-to" / "gate_a_pull_request.md").read_text("utf-8")
    assert all(
        f"`{name}`" in page
        for name in re.findall(r"^  ([\w-]+):$", ACTION[ACTION.index("outputs:") : ACTION.index("runs:")], re.MULTILINE)
    )


def test_the_hook_of_pre_commit_names_a_command() -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    assert re.findall(r"^  entry: (.*)$", hooks, re.MULTILINE) == ["prism lint"]
    (pattern,) = re.findall(r"^  files: (.*)$", hooks, re.MULTILINE)
    assert re.search(pattern, "course/problems/a.toml")
    assert not re.search(pattern, "pyproject.toml")
    config = (CI / "pre-commit-config.yaml").read_text("utf-8")
    assert re.findall(r"- id: (.*)$", config, re.MULTILINE) == re.findall(r"^- id: (.*)$", hooks, re.MULTILINE)
    assert f"rev: v{prism.__version__}" in config

"""What the first users stumbled over and no other test holds: words for codes, and what is said of an absence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.engine import kernels
from prism.resources import tell_once
from prism.rewards import LightevalScores, LMEvalResults, OpenRLHFReward, Reward, TRLReward
from prism.rewards.verl import compute_score
from prism.runs.workers import WorkerPool
from tests.support.doc_blocks import ROOT, run_page

run = CliRunner()
ROWS = [
    {"problem_id": "free_fall", "id": "1", "response": r"$v = g t$, so $t_f = \sqrt{2h/g}$"},
    {"problem_id": "free_fall", "id": "2", "response": "$v = g t$"},
]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Score rows of two rollouts of one problem."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    out = folder / "scores.jsonl"
    done = run.invoke(app, ["run", "free_fall", str(folder / "rollouts.jsonl"), "-o", str(out), "--workers", "0"])
    assert done.exit_code == 0, done.output
    return out


def test_a_report_says_why_there_is_no_interval_and_no_formula(scores: Path) -> None:
    told = run.invoke(app, ["report", str(scores)]).stdout
    assert "one problem" in told
    assert "one_problem" not in told
    assert "Formulas of nodes, domains and difficulty are not shown: no --problems were named" in told
    assert "reference formula" not in told
    named = run.invoke(app, ["report", str(scores), "--problems", "free_fall"]).stdout
    assert "reference formula" in named
    assert "are not shown" not in named


def test_a_result_file_of_another_kind_is_refused_before_the_work(scores: Path) -> None:
    out = scores.with_name("scores.csv")
    done = run.invoke(app, ["run", "free_fall", str(scores.with_name("rollouts.jsonl")), "-o", str(out)])
    assert done.exit_code != 0
    assert "expected .jsonl or .parquet" in done.stderr
    assert not out.exists()


def test_the_citation_is_of_this_version() -> None:
    version = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    assert version is not None
    assert version[1] == prism.__version__
    assert "CITATION.cff" in (ROOT / "README.md").read_text("utf-8")


def test_blocks_of_pages_run_in_a_folder_of_their_own() -> None:
    """So a block that opens `dags/free_fall.toml`, as README's did, fails in the test as it does for a user."""
    shown, faults = run_page('```python\nimport os\nprint(os.listdir("."))\n```\n```text\n[]\n```\n')
    assert not faults
    assert "[]" in shown


def test_the_prose_of_a_student_without_formulas_is_no_verdict() -> None:
    """A student with all answers right in words had 0 and "no formula is known to be wrong"."""
    words = "The stone falls for the square root of twice the height over g. It lands with the root of two g h."
    grade = prism.grade("free_fall", words)
    assert (grade.score, grade.flags) == (0.0, ("no_formulas",))
    told = run.invoke(app, ["explain", "free_fall", "-"], input=words).stdout
    assert "nothing is known of what is right or wrong" in told
    assert "No formula is known to be wrong" not in told


COMPILING = "prism: the numerical kernels are compiled now, once for this machine, in about 20 seconds\n"
IN_PROCESS: dict[str, Callable[[], object]] = {
    "Reward": lambda: Reward(problems="free_fall"),
    "TRLReward": lambda: TRLReward(problems="free_fall"),
    "OpenRLHFReward": lambda: OpenRLHFReward(problems="free_fall"),
    "LMEvalResults": lambda: LMEvalResults(problems="free_fall"),
    "LightevalScores": lambda: LightevalScores(problems="free_fall"),
    "verl": lambda: compute_score("prism", "$v = gt$", "free_fall", scoring="prefix"),
    "workers=0": lambda: WorkerPool(len, workers=0, training=False).start(),
    "warm": prism.warm,
    "prism warm": lambda: run.invoke(app, ["warm"]).stderr,
    "prism demo": lambda: run.invoke(app, ["demo"]).stderr,
}


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has loaded no compiled kernels, on a machine without any; what it compiles is interpreted."""
    monkeypatch.delenv("PRISM_KERNELS", raising=False)
    for name in ("NUMBA_CACHE_DIR", "PRISM_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setattr(kernels, "_state", type(vars(kernels)["_state"])())
    monkeypatch.setattr(kernels, "_load_compiled", lambda _: kernels.source)
    tell_once.cache_clear()


@pytest.mark.compiled
@pytest.mark.parametrize("door", IN_PROCESS)
def test_each_door_tells_once_that_kernels_are_compiled(
    cold: None, door: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for times in (1, 0):
        said = IN_PROCESS[door]()
        err = capsys.readouterr().err + (said if isinstance(said, str) else "")
        assert err.count(COMPILING) == err.count("compiled now") == times


@pytest.mark.compiled
def test_a_single_grade_compiles_nothing_and_says_nothing(cold: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert prism.verify("5", "5")
    assert prism.grade("free_fall", "$v = gt$").score
    assert run.invoke(app, ["grade", "free_fall", str(ROOT / "README.md")]).stderr == ""
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.compiled
def test_of_many_workers_one_compiles_and_one_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "rollouts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    here = {name: value for name, value in os.environ.items() if name not in ("PRISM_KERNELS", "NUMBA_CACHE_DIR")}
    command = [
        sys.executable,
        "-m",
        "prism",
        "run",
        "free_fall",
        "rollouts.jsonl",
        "-o",
        "rows.jsonl",
        "--workers",
        "2",
    ]
    for told in (COMPILING, ""):
        done = subprocess.run(
            command, cwd=tmp_path, env=here | {"PRISM_CACHE_DIR": str(tmp_path / "cache")}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, told)
        (tmp_path / "rows.jsonl").unlink()

"""`prism run --ray`: the same bytes as without Ray, and a plain word where Ray is not installed.

`make test` has no Ray; `benchmarks/robustness/ray_run.py` runs it in an environment of its own.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prism
from prism.cli import app
from prism.errors import needs_extra

ROOT = Path(__file__).resolve().parents[2]
HAS_RAY = importlib.util.find_spec("ray") is not None
run = CliRunner()


@pytest.fixture
def rollouts(tmp_path: Path) -> Path:
    problem = prism.load_problem(ROOT / "dags/scoring_figure.toml")
    lines = [json.dumps({"problem_id": problem.id, "response": one.solution}) for one in problem.students]
    path = tmp_path / "rollouts.jsonl"
    path.write_text("\n".join(lines * 3), encoding="utf-8")
    return path


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed here")
def test_without_ray_the_command_says_what_to_install(rollouts: Path, tmp_path: Path) -> None:
    result = run.invoke(app, ["run", "scoring_figure", str(rollouts), "-o", str(tmp_path / "a.jsonl"), "--ray", "auto"])
    assert result.exit_code == 3
    assert needs_extra("Ray needs", "ray") in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["rollouts.jsonl"]  # nothing that would have to be resumed


@pytest.mark.slow
def test_a_run_without_ray_does_not_import_it(rollouts: Path, tmp_path: Path) -> None:
    code = "import sys; from prism.cli import main\ntry: main()\nfinally: assert 'ray' not in sys.modules"
    words = ["run", "scoring_figure", str(rollouts), "-o", str(tmp_path / "a.jsonl"), "--workers", "0"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_ray_writes_the_bytes_of_a_run_without_it(rollouts: Path, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: benchmarks/robustness/ray_run.py makes this comparison")
    outs = {how: tmp_path / f"{how[2:]}.{ending}" for how in ("--workers", "--ray")}
    for (how, out), value in zip(outs.items(), ("0", "local"), strict=True):
        words = ["-m", "prism", "run", "scoring_figure", str(rollouts), "-o", str(out), how, value]
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
    assert outs["--ray"].read_bytes() == outs["--workers"].read_bytes()


@pytest.mark.slow
def test_a_head_that_was_killed_is_not_waited_for(
    rollouts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    with socket.socket() as free:  # nobody listens there once it is closed
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray/ray_current_cluster").write_text(address, encoding="utf-8")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    result = run.invoke(app, ["run", "scoring_figure", str(rollouts), "-o", str(tmp_path / "a.jsonl"), "--ray", "auto"])
    assert result.exit_code == 3
    assert "Ray: no cluster at auto" in result.stderr

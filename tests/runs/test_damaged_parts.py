"""What an interrupted run has left may be damaged in any way: resumed, the run writes the bytes of one undisturbed.

`benchmarks/robustness/kills.py` does the same with runs that were killed, hostile texts and Parquet.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.robustness.damage import DAMAGES
from prism.errors import PrismError
from prism.problem.collection import load_problems
from prism.runs.bulk import Shards, run
from prism.runs.rollouts import scan

FALL = {
    "id": "fall",
    "context": "A stone falls for a time $t$ with the acceleration $g$.",
    "grading_standard": [{"index": 1, "formula": "v = g t", "dependency": [], "is_final_answer": True}],
}
N = 24


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Problems and rollouts, and what a run leaves behind that ends before it has joined its parts."""
    rows = [{"problem_id": "fall", "sample_id": f"s{k:03}", "response": f"$v = {k % 4} g t$"} for k in range(N)]
    (tmp_path / "problems.jsonl").write_text(json.dumps(FALL), encoding="utf-8")
    (tmp_path / "rollouts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr("prism.runs.bulk.SHARD", 7)
    return tmp_path


def ran(folder: Path, out: str, *, resume: bool = False, rollouts: str = "rollouts.jsonl") -> int:
    known = load_problems(folder / "problems.jsonl")
    source = folder / rollouts
    return run(known, source, scan(source, known), folder / out, workers=0, resume=resume).n_new


def interrupted(folder: Path, out: str, rollouts: str = "rollouts.jsonl") -> Path:
    """Leave the parts of a run without its output; return their folder."""

    def stop(self: Shards, write: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shards, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            ran(folder, out, rollouts=rollouts)
    return folder / f"{out}.parts"


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_part_is_graded_again(
    files: Path, damage: Callable[[Path, random.Random], None], suffix: str
) -> None:
    ran(files, f"whole.{suffix}")
    parts = interrupted(files, f"out.{suffix}")
    damage(parts, random.Random(7))
    with pytest.raises(PrismError, match="--resume goes on"):
        ran(files, f"out.{suffix}")
    assert ran(files, f"out.{suffix}", resume=True) <= N
    assert (files / f"out.{suffix}").read_bytes() == (files / f"whole.{suffix}").read_bytes()
    assert not parts.exists()


def test_parts_of_another_run_are_not_taken(files: Path) -> None:
    rows = [{"problem_id": "fall", "sample_id": f"s{k:03}", "response": f"$v = {k} g t^2$"} for k in range(N)]
    (files / "others.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ran(files, "whole.jsonl")
    interrupted(files, "others.jsonl.out.jsonl", rollouts="others.jsonl").replace(files / "out.jsonl.parts")
    assert ran(files, "out.jsonl", resume=True) == N
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may write everything")
def test_a_part_that_may_only_be_read_is_kept(files: Path) -> None:
    ran(files, "whole.jsonl")
    for path in interrupted(files, "out.jsonl").glob("*.rows"):
        path.chmod(0o444)
    assert ran(files, "out.jsonl", resume=True) == 0
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


def test_a_part_that_is_damaged_while_the_run_goes_on_is_no_traceback(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(files, "whole.jsonl")
    join = Shards.rows

    def rows(self: Shards, at: int, n: int) -> list[bytes]:
        (files / "out.jsonl.parts" / "000001.rows").write_bytes(b"")
        return join(self, at, n)

    monkeypatch.setattr(Shards, "rows", rows)
    with pytest.raises(PrismError, match="7 of 7 rows were damaged while the run went on; resume it"):
        ran(files, "out.jsonl")
    monkeypatch.undo()
    assert not (files / "out.jsonl").exists()
    monkeypatch.setattr("prism.runs.bulk.SHARD", 7)
    assert ran(files, "out.jsonl", resume=True) == 7
    assert (files / "out.jsonl").read_bytes() == (files / "whole.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_a_disk_that_takes_no_more_ends_the_run_and_loses_nothing(
    files: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit on the size of files stands for the disk: a write is cut short, and the next one fails."""
    out = files / f"out.{suffix}"
    words = ["run", "problems.jsonl", "rollouts.jsonl", "--workers", "0", "-o", out.name]

    def limited(size: int, *more: str) -> subprocess.CompletedProcess[str]:
        start = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); "
        return subprocess.run(
            [sys.executable, "-c", f"{start}from prism.cli import main; main()", *words, *more], cwd=files,
            env={**os.environ, "PRISM_KERNELS": "interpreted"}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    done = limited(5000)
    assert (done.returncode, out.exists()) == (3, False)
    assert done.stderr.startswith("prism: ")
    assert "No space left on device" in done.stderr
    assert "--resume" in done.stderr
    assert limited(1 << 30, "--resume").returncode == 0
    monkeypatch.setattr("prism.runs.bulk.SHARD", 1000)
    ran(files, f"whole.{suffix}")
    assert out.read_bytes() == (files / f"whole.{suffix}").read_bytes()

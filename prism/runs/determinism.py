"""Check that grades do not depend on the process: two fresh ones that differ in everything that must not matter.

One has interpreted kernels and the solutions in order, the other compiled kernels, another hash seed and the solutions
from the last to the first; each is a plain `prism run`. The bytes of their score rows are compared.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prism.errors import PrismError
from prism.grading.row import json_line
from prism.latex import Solution


@dataclass(frozen=True, slots=True)
class ProcessSetting:
    """Settings of a process that must not change a grade: hash seed, kernels, and whether the input is reversed."""

    name: str
    hash_seed: str
    kernels: str
    is_reversed: bool


SETTINGS = (
    ProcessSetting("interpreted, hash seed 1, in order", "1", "interpreted", is_reversed=False),
    ProcessSetting("compiled, hash seed 4242, backwards", "4242", "compiled", is_reversed=True),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A solution to grade, with the ids of its problem and sample."""

    problem_id: str
    sample_id: str
    solution: Solution


@dataclass(frozen=True, slots=True)
class RowDifference:
    """The first difference between the rows that two processes wrote for one solution: JSON path, and both values."""

    problem_id: str
    sample_id: str
    path: str
    values: tuple[str, str]


@dataclass(frozen=True, slots=True)
class DeterminismCheck:
    """The outcome of grading the same solutions in two processes.

    Attributes:
        n: solutions.
        sha256: of the rows, by the name of the setting.
        differences: one for each solution whose rows are not the same bytes.
    """

    n: int
    sha256: Mapping[str, str]
    differences: tuple[RowDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "solutions": self.n, "sha256": dict(self.sha256), "same": not self.differences,
            "differences": [
                {"problem_id": one.problem_id, "sample_id": one.sample_id, "path": one.path, "values": list(one.values)}
                for one in self.differences
            ],
        }  # fmt: skip


def check_determinism(problems: Path, samples: Sequence[Sample], *, environment: Mapping[str, str]) -> DeterminismCheck:
    """Grade the solutions in a process of each setting and compare the score rows.

    Args:
        problems: a problem file, or a folder of them.
        environment: base environment of the processes; the settings override it.

    Errors:
        PrismError: no solutions; a process that wrote no rows, with its standard error.
    """
    if not samples:
        raise PrismError(f"{problems}: no solution to grade")
    written = {setting.name: _grade_in_new_process(problems, samples, setting, environment) for setting in SETTINGS}
    one, other = written.values()
    return DeterminismCheck(
        len(samples),
        {name: hashlib.sha256(b"".join(rows)).hexdigest() for name, rows in written.items()},
        tuple(_differing_rows(samples, one, other)),
    )


def _grade_in_new_process(
    problems: Path, samples: Sequence[Sample], setting: ProcessSetting, environment: Mapping[str, str]
) -> list[bytes]:
    """Run `prism run` in a new process with a setting; return its score rows as lines, in the order of the samples.

    Raises PrismError if that fails.
    """
    with TemporaryDirectory(prefix="prism-") as name:
        rollouts, out = Path(name, "rollouts.jsonl"), Path(name, "scores.jsonl")
        records = [
            {"problem_id": one.problem_id, "sample_id": str(n), "response": one.solution}
            for n, one in enumerate(samples)
        ]
        given = records[::-1] if setting.is_reversed else records
        rollouts.write_bytes(b"".join(json_line(record) + b"\n" for record in given))
        start = f"import sys; sys.path[:] = {sys.path!r}; from prism.cli import main; main()"
        command = [sys.executable, "-c", start, "run", str(problems), str(rollouts), "-o", str(out), "--workers", "0"]
        wanted = ("--max-incidents", str(len(samples)))  # a failure of the grader has to repeat itself too
        done = subprocess.run(  # noqa: S603 - this Python, with fixed arguments
            [*command, *wanted], capture_output=True, check=False, stdin=subprocess.DEVNULL,
            env={**environment, "PYTHONHASHSEED": setting.hash_seed, "PRISM_KERNELS": setting.kernels},
        )  # fmt: skip
        if not out.exists():
            raise PrismError(f"{setting.name}: {done.stderr.decode('utf-8', 'replace').strip()}")
        rows = out.read_bytes().splitlines(keepends=True)
    return rows[::-1] if setting.is_reversed else rows


def _differing_rows(samples: Sequence[Sample], one: list[bytes], other: list[bytes]) -> Iterable[RowDifference]:
    """Yield the first difference of each sample whose two rows (lines of JSON, in the order of the samples) differ."""
    for sample, left, right in zip(samples, one, other, strict=True):
        if left != right:
            path, values = _first_difference(json.loads(left), json.loads(right), "")
            yield RowDifference(sample.problem_id, sample.sample_id, path, values)


def _first_difference(left: Any, right: Any, path: str) -> tuple[str, tuple[str, str]]:
    """Return path and values of the first difference between two unequal JSON values, keys taken in sorted order."""
    pairs: list[tuple[str, Any, Any]] = []
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        pairs = [(f"{path}.{key}" if path else key, left[key], right[key]) for key in sorted(left)]
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = [(f"{path}[{k}]", *both) for k, both in enumerate(zip(left, right, strict=True))]
    for deeper, a, b in pairs:
        if a != b:
            return _first_difference(a, b, deeper)
    return path or "(bytes)", (json.dumps(left), json.dumps(right))

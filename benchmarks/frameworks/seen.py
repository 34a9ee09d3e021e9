"""What the doors of `doors.py` and `trainers.py` share: rows that a framework scores, and what it made of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Row:
    """A solution, what names its problem (an id, a path, a problem), and a name of the row."""

    id: str
    reference: Any
    solution: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a framework made of the rows.

    Attributes:
        rewards: of each row that it kept a reward of, in order.
        bad: what it shows of the row with the bad reference.
        reported: what else it says, for the record.
        prompts: kinds of content that it reads in the prompts of `pictured`, in order; None where it was not asked.
        graded: the rows of the rewards, where they are others than those that were given.
    """

    rewards: list[float]
    bad: dict[str, Any]
    reported: dict[str, Any]
    prompts: list[list[str]] | None = None
    graded: list[Row] | None = None


def scores_of_run(rows: Sequence[Row], folder: Path) -> list[float | None]:
    """The scores that `prism run` gives rows, with two workers, from files."""
    from prism.problem.schema import read_problem

    problems: dict[str, dict[str, Any]] = {}
    records = []
    for row in rows:
        key = row.reference if isinstance(row.reference, str) else json.dumps(row.reference, sort_keys=True)
        if key not in problems:
            problems[key] = {**(read_problem(row.reference).data or {}), "id": f"p{len(problems)}"}
        records.append({"problem_id": problems[key]["id"], "id": row.id, "response": row.solution})
    for name, lines in (("problems", list(problems.values())), ("rollouts", records)):
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"run_{name}.jsonl").write_text(text, encoding="utf-8")
    files = [str(folder / f"run_{name}.jsonl") for name in ("problems", "rollouts", "scores")]
    command = [sys.executable, "-m", "prism", "run", *files[:2], "-o", files[2], "--workers", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    return [json.loads(line)["score"] for line in Path(files[2]).read_text(encoding="utf-8").splitlines()]

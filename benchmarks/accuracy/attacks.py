"""What policies that aim at the score without solving earn beyond their honest part, over the shipped problems.

The policies are the rows of `tests/cases/attacks/`. A gain is permitted where the row or `gaps.toml` says which rule
lets it through, and known where they name the fault; any other is a failure. Beside it the labels of the shipped
solutions: what is matched otherwise than they say.

    python benchmarks/accuracy/attacks.py [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from prism.reports.tables import label_differences  # noqa: E402
from tests.support.attacks import SAME_SCORE, exceptions, outcome, policies, prepared, shipped  # noqa: E402


def attack_table() -> dict[str, Any]:
    """Counts of trials and of gains by their excuse, and each gain that has none."""
    counts: Counter[str] = Counter()
    failures: list[str] = []
    for path in shipped():
        for name, row in policies().items():
            found = outcome(row, path)
            counts["trials"] += 1
            counts["incidents"] += len(found.grade.incidents)
            if found.gain <= SAME_SCORE:
                continue
            if (row.permitted or (path.stem, name) in exceptions("permitted")) and not found.finals:
                counts["gains, permitted"] += 1
            elif row.known_gap or (path.stem, name) in exceptions("gap"):
                counts["gains, known gaps"] += 1
            else:
                counts["gains"] += 1
                failures.append(f"{path.stem}, {name}: {found.gain:.3f}")
    known = sum(bool(row.known_gap) for row in policies().values())
    return {
        "policies": len(policies()), "policies with a known gap": known, "problems": len(shipped()), **counts,
        "failures": failures,
    }  # fmt: skip


def label_table() -> dict[str, int]:
    """Nodes of the shipped solutions: all, those that are known gaps, and those that differ from their label."""
    counts: Counter[str] = Counter()
    for path in shipped():
        problem = prepared(path).problem
        for student in problem.students:
            if student.expected is None:
                continue
            label = label_differences(student, prism.grade(prepared(path), student.solution))
            counts["solutions"] += 1
            counts["nodes"] += len(problem.nodes)
            counts["known gaps"] += len(label["gaps"])
            counts["differ"] += len(label["wrong"])
    return dict(counts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the policies that aim at the score, and count what they gain.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args()
    prism.warm()
    found = {"attacks": attack_table(), "labels": label_table()}
    if options.json:
        print(json.dumps(found, sort_keys=True))
    else:
        for part, table in found.items():
            print(part)
            for key, value in table.items():
                print(f"  {key}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

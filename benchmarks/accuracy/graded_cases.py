"""Grade every problem and student of a folder of labelled cases, and count node labels.

Per student kind: nodes labelled right, missed (expected, not matched), false (matched, not expected), and exact sets
of matched nodes. Indices marked debatable count either way. Two labels: with definitions that the student or the
problem states, and without them, where none is put in. The folder holds problem files with
`students`; by default the development cases that stand beside the checkout.

    python benchmarks/accuracy/graded_cases.py [--folder FOLDER] [--verbose] [--json]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402

FOLDER = DATA / "cases" / "dev"

LABELS = ("with definitions", "without definitions")


@dataclass(frozen=True, slots=True)
class Graded:
    """One solution: nodes of its problem, what was matched under each label, what each label expects."""

    problem: str
    student: str
    nodes: frozenset[int]
    matched: Mapping[str, frozenset[int]]
    expected: Mapping[str, frozenset[int]]
    debatable: frozenset[int]
    incidents: int
    unread: tuple[str, ...]


def solutions(folder: Path) -> Iterator[Graded]:
    """Grade all solutions of all files, in name order."""
    for path in sorted(folder.glob("*.json")):
        problem = prism.load_problem(path)
        prepared = prism.prepare(problem)
        labels = {student["name"]: student["expected"] for student in json.loads(path.read_text())["students"]}
        for student in problem.students:
            label = labels[student.name]
            result = prism.grade(prepared, student.solution, sample_id=student.name)
            plain = prism.grade(prepared, student.solution, sample_id=student.name, definitions=False)
            yield Graded(
                problem=problem.id,
                student=student.name,
                nodes=frozenset(problem.dag.indices),
                matched={LABELS[0]: frozenset(result.matched), LABELS[1]: frozenset(plain.matched)},
                expected={
                    LABELS[0]: frozenset(label["matched"]),
                    LABELS[1]: frozenset(label.get("without_definitions", label)["matched"]),
                },
                debatable=frozenset(label.get("debatable", ())),
                incidents=len(result.incidents),
                unread=tuple(item.latex for item in result.formulas if item.status == "unread"),
            )


def count(graded: list[Graded], label: str) -> dict[str, dict[str, int]]:
    """Counts by student kind: nodes, right, missed, false, solutions, exact."""
    table: dict[str, Counter[str]] = {}
    for item in graded:
        missed = item.expected[label] - item.matched[label] - item.debatable
        false = item.matched[label] - item.expected[label] - item.debatable
        row = table.setdefault(item.student, Counter())
        row["nodes"] += len(item.nodes)
        row["missed"] += len(missed)
        row["false"] += len(false)
        row["right"] += len(item.nodes) - len(missed) - len(false)
        row["solutions"] += 1
        row["exact"] += not missed and not false
    return {kind: dict(row) for kind, row in table.items()}


def report(graded: list[Graded], *, verbose: bool) -> None:
    for label in LABELS:
        print(f"\nlabels {label}")
        print(f"{'student':14}{'nodes':>7}{'right':>14}{'missed':>8}{'false':>7}{'exact sets':>12}")
        for kind, row in count(graded, label).items():
            share = f"{row['right']} ({row['right'] / row['nodes']:.1%})"
            exact = f"{row['exact']}/{row['solutions']}"
            print(f"{kind:14}{row['nodes']:>7}{share:>14}{row['missed']:>8}{row['false']:>7}{exact:>12}")
    print(f"\nincidents {sum(item.incidents for item in graded)}, unread {sum(len(item.unread) for item in graded)}")
    if verbose:
        for item in graded:
            for label in LABELS:
                missed = sorted(item.expected[label] - item.matched[label] - item.debatable)
                false = sorted(item.matched[label] - item.expected[label] - item.debatable)
                if missed or false:
                    print(f"{item.problem}/{item.student}, {label}: missed {missed}, false {false}")
            if item.unread:
                for latex in item.unread:
                    print(f"    unread: {latex}")


def main() -> int:
    parser = script.parser("Grade labelled cases and count node labels.")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--verbose", action="store_true", help="name the nodes that differ, and unread formulas")
    options = parser.parse_args()
    script.require(options.folder)
    graded = list(solutions(options.folder))
    if options.json:
        data: dict[str, Any] = {label: count(graded, label) for label in LABELS}
        data["incidents"] = sum(item.incidents for item in graded)
        data["unread"] = sum(len(item.unread) for item in graded)
        print(json.dumps(data, sort_keys=True))
    else:
        report(graded, verbose=options.verbose)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

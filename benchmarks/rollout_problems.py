r"""Problems and rollouts for bulk runs, made from collected material: model responses whose problem has a solution.

A response of `rollouts.jsonl` is taken if `worked.jsonl` has the solution of its problem under the same id. That
solution becomes the problem's DAG as `prism draft` makes it, and no person has looked at it.

Such a DAG is good enough to measure time and robustness on. It says nothing about how well PRISM grades. A response
whose problem gets no node is left out, and counted by reason.

    python benchmarks/rollout_problems.py FOLDER [--data FOLDER] [--json]

writes `problems.jsonl` and `rollouts.jsonl` into the folder, which `prism run` reads as they are. The material stays on
this machine: neither file belongs into the project.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from prism import PrismError, load_problems  # noqa: E402
from prism.authoring.drafting import draft  # noqa: E402

FILES = ("worked.jsonl", "rollouts.jsonl")
PROBLEMS, ROLLOUTS = "problems.jsonl", "rollouts.jsonl"  # the files that are written


@dataclass(frozen=True, slots=True)
class Material:
    """Problems and rollouts as they go into files, and why responses were left out.

    Attributes:
        problems: the keys of a problem file, in the order in which rollouts first ask for them.
        rollouts: `problem_id`, `sample_id`, `model`, `response` and `gold`, in the order of the collection.
        n_response: responses whose problem has a solution.
        left_out: of these, those without a DAG, by reason.
    """

    problems: list[dict[str, Any]]
    rollouts: list[dict[str, Any]]
    n_response: int
    left_out: Mapping[str, int]

    def counts(self) -> dict[str, Any]:
        """What was made of what."""
        sizes = [len(problem["grading_standard"]) for problem in self.problems]
        return {
            "responses_with_a_solution": self.n_response, "rollouts": len(self.rollouts),
            "left_out": dict(sorted(self.left_out.items())), "problems": len(self.problems), "nodes": sum(sizes),
            "edges": sum(len(node["dependency"]) for each in self.problems for node in each["grading_standard"]),
        }  # fmt: skip


def material(folder: Path) -> Material:
    """Join the two files of a folder and make the DAGs."""
    solved, responses = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()] for name in FILES
    )
    solutions = {row["id"]: row for row in solved}
    asked = [row for row in responses if row["id"] in solutions]
    made = {name: _problem(solutions[name]) for name in dict.fromkeys(row["id"] for row in asked)}
    rollouts = [
        {
            "problem_id": row["id"], "sample_id": f"{row['id']} | {row['model']}", "model": row["model"],
            "response": row["response"], "gold": row["gold"],
        }
        for row in asked if not isinstance(made[row["id"]], str)
    ]  # fmt: skip
    problems = [each for each in made.values() if not isinstance(each, str)]
    left_out = Counter(reason for row in asked if isinstance(reason := made[row["id"]], str))
    return Material(problems, rollouts, len(asked), left_out)


def _problem(row: Mapping[str, Any]) -> dict[str, Any] | str:
    """The keys of a problem file, or why there is no DAG."""
    try:
        made = draft(row["solution"], problem=row["problem"], name=row["id"])
    except PrismError:
        return "no formula that can be a node"
    return {key: value for key, value in made.data.items() if key != "metadata"}


def write(found: Material, folder: Path) -> tuple[Path, Path]:
    """Write both files; the problems are loaded again from theirs.

    Errors:
        DataFileError: a problem that does not load, which would be a fault of this script.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / PROBLEMS, folder / ROLLOUTS
    for path, rows in zip(paths, (found.problems, found.rollouts), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    load_problems(paths[0])
    return paths


def is_here(folder: Path) -> bool:
    """Whether the material is on this machine; says so if it is not."""
    there = all((folder / name).is_file() for name in FILES)
    if not there:
        print(f"{folder}: no {' or '.join(FILES)}; nothing measured", file=sys.stderr)
    return there


def main() -> int:
    parser = script.parser("Write problems and rollouts for a bulk run.", data=DATA)
    parser.add_argument("folder", type=Path, help="where the two files go")
    options = parser.parse_args()
    if not is_here(options.data):
        return NO_DATA
    found = material(options.data)
    write(found, options.folder)
    if options.json:
        print(json.dumps(found.counts(), sort_keys=True))
    else:
        for key, value in found.counts().items():
            print(f"{key}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

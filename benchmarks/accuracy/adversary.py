r"""Pairs and solutions of someone who tried to break the grader: how many are decided as labelled.

A pair has a label, equal or not. A solution has the nodes that it ought to match: an honest one at least these, and a
policy, a text that aims at the score, no others. Where we decide otherwise than the label `adversary_read.toml` says
why, and the figures give both: by the label, and without these.

    python benchmarks/accuracy/adversary.py [--data FOLDER] [--json]
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402

PAIRS, SOLUTIONS = "adversary_pairs_dev.jsonl", "adversary_solutions_dev.jsonl"
READ = Path(__file__).with_name("adversary_read.toml")
_INLINE = "inline: "  # a problem of one node


@cache
def problem_of(name: str) -> prism.Problem | str:
    """Return the id of a shipped problem, or the problem of one node that `inline: FORMULA` names."""
    if not name.startswith(_INLINE):
        return name
    node = {"index": 1, "formula": name.removeprefix(_INLINE), "dependency": [], "is_final_answer": True}
    return prism.load_problem({"id": "inline", "context": "", "grading_standard": [node]})


def is_decided_as_labelled(row: Mapping[str, Any]) -> bool:
    """Return True if a pair or a solution is decided as its label says."""
    if "gold" in row:
        return bool(prism.equivalent(row["gold"], row["answer"])) == row["equal"]
    matched, labelled = set(prism.grade(problem_of(row["problem"]), row["solution"]).matched), set(row["matched"])
    return labelled <= matched if is_honest(row) else matched <= labelled


def is_honest(solution: Mapping[str, Any]) -> bool:
    """Return True for a solution that does not aim at the score."""
    return bool(solution["kind"].startswith("honest"))


def kind_of(row: Mapping[str, Any]) -> str:
    """Return what a row is counted as."""
    if "gold" in row:
        return "equal pairs" if row["equal"] else "unequal pairs"
    return "honest solutions" if is_honest(row) else "policies"


def measure(folder: Path) -> dict[str, Any]:
    """Return the counts by kind, and the ids that are decided otherwise than labelled, agreed with or not."""
    read = tomllib.loads(READ.read_text(encoding="utf-8"))
    disagreed = {**read["pairs"], **read["solutions"]}
    counts: dict[str, dict[str, Any]] = {}
    for name in (PAIRS, SOLUTIONS):
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            each = counts.setdefault(kind_of(row), {"rows": 0, "as labelled": 0, "disagreed": [], "wrong": []})
            each["rows"] += 1
            if is_decided_as_labelled(row):
                each["as labelled"] += 1
            else:
                each["disagreed" if row["id"] in disagreed else "wrong"].append(row["id"])
    return counts


def main() -> int:
    """Print the counts; 77 if the rows are not on this machine."""
    parser = script.parser(__doc__, data=DATA)
    options = parser.parse_args()
    if not (options.data / PAIRS).is_file():
        print(f"{options.data / PAIRS} is not on this machine", file=sys.stderr)
        return NO_DATA
    counts = measure(options.data)
    if options.json:
        print(json.dumps(counts))
        return 0
    for name, each in counts.items():
        agreed = each["rows"] - len(each["disagreed"])
        kept = f"of those that we agree with {agreed - len(each['wrong'])} of {agreed}"
        wrong = ", ".join(each["wrong"]) or "none"
        print(f"{name:<17} {each['as labelled']} of {each['rows']} as labelled, {kept}; wrong: {wrong}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

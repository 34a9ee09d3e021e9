r"""Worked solutions through the desk, from a text to a certified file: how many keys does it take, and what is asked?

Each of 20 right responses of `rollouts_more.jsonl` (the first of each problem, in file order) is drafted on the desk
over HTTP, as the page does it. Then every node is accepted with its edges (a key each), every question is answered with
no (a key each), and the file certified (a key, a name, Enter). Counted are nodes, edges, questions and keys, near-trees
(edges = nodes - 1), and whether the file then has a fault or its own solution loses points. Whether an edge is right is
not seen here: `drafting.py` holds edges against those that people drew.

    python benchmarks/accuracy/desk_drafts.py [--data FOLDER] [--rows 20]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from fastapi.testclient import TestClient  # noqa: E402

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from prism import grade, lint, load_problem  # noqa: E402
from prism.desk import create_desk  # noqa: E402

ROLLOUTS = "rollouts_more.jsonl"
TOKEN = "a-token-of-this-benchmark"  # noqa: S105 - of a desk that lives as long as the script
CERTIFYING = 2  # keys beside the name: `c` and Enter


def right_responses(path: Path) -> Iterator[dict[str, Any]]:
    """The first right response to each problem."""
    seen: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["graded_correct"] and row["id"] not in seen:
            seen.add(row["id"])
            yield row


def send(client: TestClient, file: str, op: str, **values: Any) -> None:
    """One edit, with the digest that the page shows."""
    found = re.search(r'"digest": "(\w+)"', client.get(f"/author/{file}").text)
    assert found is not None
    answer = client.post(f"/author/{file}", json={"op": op, "digest": found[1], **values})
    assert answer.status_code == 200, answer.text


def certify(client: TestClient, folder: Path, row: dict[str, Any]) -> Counter[str]:
    """One response to a certified file; what it took."""
    name = re.sub(r"\W+", "-", row["id"])
    made = client.post("/new", json={"name": name, "statement": row["problem"], "solution": row["response"]})
    if made.status_code != 204:
        return Counter(rows=1, without_a_node=1)
    file = f"{name}.toml"
    nodes = tomllib.loads((folder / file).read_text(encoding="utf-8"))["grading_standard"]
    questions = [
        (node["index"], note["from"]) for node in nodes for note in node.get("edges", ()) if "question" in note
    ]
    for node in nodes:
        send(client, file, "accept_all", node=node["index"])
    for index, origin in questions:
        send(client, file, "cut", node=index, origin=origin)
    send(client, file, "certify", text="A. Author")
    problem = load_problem(folder / file)
    n_edge = sum(len(node["dependency"]) for node in nodes)
    return Counter(
        rows=1, nodes=len(nodes), edges=n_edge, questions=len(questions), near_trees=n_edge == len(nodes) - 1,
        keys=len(nodes) + len(questions) + CERTIFYING, certified=problem.review.is_current,
        with_a_fault=any(finding.kind == "fault" for finding in lint(problem)),
        that_lose_points=grade(problem, row["response"]).score != 1,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="Count what it takes to certify drafts on the desk.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=20)
    options = parser.parse_args()
    path = options.data / ROLLOUTS
    script.require(path)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        client = TestClient(create_desk(Path(name), token=TOKEN), base_url="http://127.0.0.1")
        client.get(f"/?token={TOKEN}")
        for _, row in zip(range(options.rows), right_responses(path), strict=False):
            one = certify(client, Path(name), row)
            total += one
            print(f"{row['id']}: {', '.join(f'{key} {value:d}' for key, value in one.items() if key != 'rows')}")
    print("all:", json.dumps({key: int(value) for key, value in total.items()}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

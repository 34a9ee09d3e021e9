r"""How much work fixed responses take, in counts: the same on every machine, so that a test can hold them.

The responses are the first of `rollouts_more.jsonl` by the digest of their id, on problems of the display formulas of
their worked solutions. Counted are expressions that random interpretations give a value, pairs that these compare,
nodes that are lowered to tapes, and the cells of the matrices by their verdict. `counts.json` beside this file has what
was counted last; a change that raises a count by more than a share writes it anew and says why in the changelog.

    python benchmarks/speed/counts.py [--data FOLDER] [--write] [--json]
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy.worked import own_nodes, problem_data  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from prism.engine.lowering import scalars  # noqa: E402
from prism.equivalence.interpretation import decision  # noqa: E402
from prism.equivalence.interpretation.evaluation import Evaluator  # noqa: E402
from prism.equivalence.matching import match_within_budget  # noqa: E402
from prism.equivalence.verdict import Verdict  # noqa: E402
from prism.grading import match_matrix  # noqa: E402

FILE = "rollouts_more.jsonl"
KEPT = Path(__file__).with_name("counts.json")
RESPONSES = 60
MOST = 1.05  # times a kept count that is allowed


def problems_and_rows(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The problem of each response, as the keys of its file, and the row of the response, by the digest of its id."""
    rows = [json.loads(line) for line in (folder / FILE).read_text(encoding="utf-8").splitlines()]
    rows.sort(key=lambda row: hashlib.sha256(f"{row['id']} {row['model']}".encode()).hexdigest())
    for row in rows:
        nodes = own_nodes(row, Counter(), Counter())
        if nodes:
            yield problem_data(row, nodes), row


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count work that is done within the block."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, each call of which counts."""

        def call(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return call

    def decided(*args: Any) -> Verdict:
        """The verdict on a cell, which counts by its status and reason."""
        verdict = match_within_budget(*args)
        counts[f"cells, {verdict.status}: {verdict.reason}"] += 1
        return verdict

    with (
        mock.patch.object(Evaluator, "_worked_out", counted("values", Evaluator._worked_out)),
        mock.patch.object(decision, "_compare", counted("interpretations", decision._compare)),
        mock.patch.object(scalars, "lower_node", counted("nodes lowered", scalars.lower_node)),
        mock.patch.object(match_matrix, "match_within_budget", decided),
    ):
        yield counts


def measure(folder: Path) -> dict[str, int]:
    """Counts of grading all responses, each beside its problem, which is prepared before."""
    fixed = islice(problems_and_rows(folder), RESPONSES)
    found = [(prism.prepare(prism.load_problem(problem)), row["response"]) for problem, row in fixed]
    with counting() as counts:
        for prepared, response in found:
            prism.grade(prepared, response)
    return {"responses": len(found), **{name: counts[name] for name in sorted(counts)}}


def raised(counts: dict[str, int], kept: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Counts of work that are more than allowed, each with the kept one; outcomes of cells are counted, not held."""
    names = [name for name in kept if not name.startswith("cells, ")]
    return {name: (kept[name], counts.get(name, 0)) for name in names if counts.get(name, 0) > MOST * kept[name]}


def main() -> int:
    parser = script.parser("Count the work that fixed responses take.", data=DATA)
    parser.add_argument("--write", action="store_true", help=f"write {KEPT.name} anew")
    options = parser.parse_args()
    if not (options.data / FILE).is_file():
        print(f"{options.data}: no {FILE}; nothing counted", file=sys.stderr)
        return NO_DATA
    counts = measure(options.data)
    if options.write:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(counts) if options.json else "\n".join(f"{name}: {count}" for name, count in counts.items()))
    more = raised(counts, json.loads(KEPT.read_text(encoding="utf-8")))
    for name, (before, now) in more.items():
        print(f"{name}: {now}, where {before} are kept", file=sys.stderr)
    return 1 if more else 0


if __name__ == "__main__":
    raise SystemExit(main())

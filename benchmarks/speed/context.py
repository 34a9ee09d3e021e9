"""What the problem's context costs: grading model responses with all that is known, and with nothing put in.

The responses of `rollouts.jsonl` whose problem has a worked solution are graded against a DAG of that solution's own
display formulas (`accuracy/worked.py`). Plainly: without givens, definitions and other names. In full: as `grade`
does. Each starts without remembered verdicts, so that a pair is decided as in a run over many problems; the share is
that of the totals of processor time.

    python benchmarks/speed/context.py [--data FOLDER] [--every N] [--json]
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.accuracy.worked import own_nodes, problem_data  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from benchmarks.memories import forget  # noqa: E402
from benchmarks.speed.clocks import seconds  # noqa: E402
from prism import DataFileError, Grade, LatexSyntaxError, extract, grade, prepare, warm  # noqa: E402
from prism.algebra.expr import plain_parts, symbols  # noqa: E402
from prism.grading.prepared import PreparedProblem  # noqa: E402
from prism.physics.context import parse  # noqa: E402

FILES = ("worked.jsonl", "rollouts.jsonl")
MAX_NODES = 25  # of a DAG: a longer solution is cut there, as an author would
KEY = 200  # characters by which a response's problem is found again


def without_context(prepared: PreparedProblem, text: str) -> PreparedProblem:
    """The same problem with nothing to put in; every symbol of the solution counts as known, so that none is a name."""
    names: set[str] = set()
    for item in extract(text):
        try:
            written = parse(item.latex, context=prepared.problem.context)
        except LatexSyntaxError:
            continue
        names |= symbols(*(member for part in plain_parts(written) for member in part.members))
    bare = replace(prepared.problem.context, givens={}, definitions=())
    task = prepared.task
    task = replace(task, context=bare, known=task.known | names, uses_definitions=False)
    return replace(prepared, problem=replace(prepared.problem, context=bare), task=task)


def _graded(target: PreparedProblem, text: str, results: list[Grade]) -> None:
    results.append(grade(target, text))


def measure(folder: Path, every: int) -> dict[str, Any]:
    """Times of every so-manieth response."""
    rows = [[json.loads(line) for line in (folder / name).read_text().splitlines()] for name in FILES]
    worked = {row["problem"].strip()[:KEY]: row for row in rows[0]}
    known = [row for row in rows[1] if row["problem"].strip()[:KEY] in worked][::every]
    prepared: dict[str, PreparedProblem | None] = {}
    plain: list[float] = []
    full: list[float] = []
    counts: Counter[str] = Counter()
    for row in known:
        source = worked[row["problem"].strip()[:KEY]]
        if source["id"] not in prepared:
            nodes = list(own_nodes(source, Counter(), Counter()))[:MAX_NODES]
            try:
                prepared[source["id"]] = prepare(problem_data(source, nodes)) if nodes else None
            except DataFileError:
                prepared[source["id"]] = None
        problem = prepared[source["id"]]
        if problem is None:
            counts["without a DAG"] += 1
            continue
        bare = without_context(problem, row["response"])
        for target, times, name in ((bare, plain, "plain"), (problem, full, "full")):
            forget()
            results: list[Grade] = []
            times.append(seconds(partial(_graded, target, row["response"], results)))
            counts[f"nodes matched, {name}"] += len(results[0].matched)
            counts[f"incidents, {name}"] += len(results[0].incidents)
    share = [with_all / without for with_all, without in zip(full, plain, strict=True)]
    return {
        "n": len(full), "counts": dict(counts), "plain_s": round(sum(plain), 3), "full_s": round(sum(full), 3),
        "added_share_of_total": round(sum(full) / sum(plain) - 1, 3),
        "added_share_median": round(statistics.median(share) - 1, 3), "added_share_worst": round(max(share) - 1, 3),
    }  # fmt: skip


def main() -> int:
    parser = script.parser("What the problem's context adds to the time of a grade.", data=DATA)
    parser.add_argument("--every", type=int, default=1, help="grade every N-th response")
    options = parser.parse_args()
    if not all((options.data / name).exists() for name in FILES):
        print(f"{options.data}: no {' or '.join(FILES)}; nothing measured", file=sys.stderr)
        return NO_DATA
    warm()
    found = measure(options.data, options.every)
    if options.json:
        print(json.dumps(found, sort_keys=True))
    else:
        for key, value in found.items():
            print(f"{key}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

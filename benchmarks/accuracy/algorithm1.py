"""Algorithm 1 of the paper, on sympy, and PRISM on the same pairs of equations: where do they disagree, who is right?

Pairs are the collected ones whose label is plain mathematical equivalence, and every row of `tests/cases/equivalence/`
that needs no context: its claim and each of its near-misses. Both sides are equations that the engine evaluates whole.
Algorithm 1 stands in `tests/reference.py`; it runs in a child process that is killed after `TIME_LIMIT` of processor
time, and gets the identities of `CONSTANTS` where their symbol stands on one side only.

They agree where both accept the pair, or neither does. Every disagreement is explained in
`algorithm1_disagreements.toml`; one that is not fails the run. A pair on which sympy is killed or raises counts as
neither. The same algorithm with symengine's solver is counted beside it, `with_symengine`: what it decides against the
label, and what it leaves open. Pairs of a disagreement are decided again with all real solutions in place of the
positive ones, `with_real_roots`: so that no advantage of PRISM is a restriction of the twin.

    python benchmarks/accuracy/algorithm1.py [--data FOLDER] [--slice] [--json]
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, PAIRS, labelled_equations  # noqa: E402
from benchmarks.rivals import symengine_solver  # noqa: E402
from prism.algebra.expr import Expr, Formula, symbols, walk  # noqa: E402
from prism.algebra.operators import OPS  # noqa: E402
from tests.reference import algorithm_1, real_solutions  # noqa: E402

SOLVERS = {"sympy": None, "symengine": symengine_solver.positive_solutions, "real": real_solutions}
EXPLANATIONS = Path(__file__).with_name("algorithm1_disagreements.toml")
TIME_LIMIT = 30.0  # seconds of processor time a pair; a CAS cannot be stopped from inside
_MOST_WAITED = 20 * TIME_LIMIT
SLICE = 10
REPLAYED = 5  # accepted pairs, and as many rejected ones, that `tests/engine/test_reference.py` decides again
REPLAYED_SECONDS = 0.5  # each, at most
CONSTANTS = {
    "k": r"\frac{1}{4\pi\epsilon_0}",
    "c": r"\frac{1}{\sqrt{\mu_0\epsilon_0}}",
    r"\hbar": r"\frac{h}{2\pi}",
    "k_B": r"\frac{R}{N_A}",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two equations as LaTeX; `expected` is what the label, or the author of the row, says."""

    id: str
    a: str
    b: str
    expected: str


@dataclass(frozen=True, slots=True)
class Decided:
    """One pair and what was said of it: an outcome of Algorithm 1, `killed`, or sympy's exception; PRISM's verdict."""

    id: str
    a: str
    b: str
    expected: str
    algorithm_1: str
    seconds: float
    prism: str
    reason: str

    @property
    def is_decided(self) -> bool:
        """Whether Algorithm 1 came to an end."""
        return self.algorithm_1 in ("equivalent", "rejected", "too_few_trials")

    @property
    def is_disagreement(self) -> bool:
        """Whether one of the two accepts the pair and the other does not."""
        return self.is_decided and (self.algorithm_1 == "equivalent") != (self.prism == "equivalent")


# Pairs. -----------------------------------------------------------------------------------------------------------


def collected(folder: Path) -> Iterator[Pair]:
    for row in labelled_equations(folder):
        yield Pair(row["id"], row["gold"], row["answer"], "equivalent" if row["equal"] else "different")


def written() -> Iterator[Pair]:
    """Rows of the cases, named as pytest names them."""
    for path in sorted((ROOT / "tests/cases/equivalence").glob("*.toml")):
        for row in tomllib.loads(path.read_text("utf-8"))["case"]:
            if "context" in row:
                continue
            name = f"{path.stem}:{row['id']}"
            yield Pair(name, row["a"], row["b"], row["expect"])
            for count, near_miss in enumerate(row.get("near_misses", ()), start=1):
                yield Pair(f"{name}~{count}", row["a"], near_miss, "different")


def is_evaluated(latex: str) -> bool:
    """Whether this is one equation, all of which has a value."""
    try:
        f = prism.parse(latex)
    except prism.LatexSyntaxError:
        return False
    return f.kind == "equation" and all(OPS[node.op].opcode is not None for side in f.members for node in walk(side))


def constants(a: Formula, b: Formula) -> dict[str, Expr]:
    only = symbols(*a.members) ^ symbols(*b.members)
    return {name: prism.parse(latex).members[0] for name, latex in CONSTANTS.items() if name in only}


# Algorithm 1 in a process of its own. -------------------------------------------------------------------------------


def serve(pipe: Connection, solver: str) -> None:
    """Decide pairs as they come, with one of `SOLVERS`."""
    import sympy  # noqa: F401 - its import is no pair's time

    pipe.send("ready")
    while True:
        a, b, given = pipe.recv()
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + TIME_LIMIT), resource.RLIM_INFINITY))
        start = time.perf_counter()
        try:
            outcome: str = algorithm_1(a, b, given, SOLVERS[solver])
        except Exception as fault:  # noqa: BLE001 - whatever sympy raises is no verdict
            outcome = type(fault).__name__
        pipe.send((outcome, time.perf_counter() - start))


class Child:
    """A process that lives as long as it answers within its processor time, on an idle machine and on a busy one."""

    def __init__(self, solver: str) -> None:
        os.environ["PYTHONHASHSEED"] = "0"  # sympy's answers may depend on the order of sets
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, solver), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def ask(self, a: Formula, b: Formula) -> tuple[str, float] | None:
        """Outcome and seconds; None where the time ran out or the process died."""
        self.pipe.send((a, b, constants(a, b)))
        try:
            answer: tuple[str, float] | None = self.pipe.recv() if self.pipe.poll(_MOST_WAITED) else None
        except EOFError:
            answer = None
        return answer

    def stop(self) -> None:
        """End it, whatever it is doing."""
        self.process.kill()
        self.process.join()


def decide(pairs: list[Pair], solver: str = "sympy") -> Iterator[Decided]:
    child = Child(solver)
    for pair in pairs:
        a, b = prism.parse(pair.a), prism.parse(pair.b)
        answer = child.ask(a, b)
        if answer is None:
            child.stop()
            child = Child(solver)
        outcome, seconds = answer or ("killed", TIME_LIMIT)
        verdict = prism.equivalent(a, b)
        yield Decided(pair.id, pair.a, pair.b, pair.expected, outcome, seconds, verdict.status, verdict.reason)
    child.stop()


# The report. --------------------------------------------------------------------------------------------------------


def explanations() -> dict[str, dict[str, str]]:
    """Who is right, and why, by pair; one entry may explain several."""
    entries = tomllib.loads(EXPLANATIONS.read_text("utf-8"))["disagreement"]
    return {pair: {"who": entry["who"], "why": entry["why"]} for entry in entries for pair in entry["pairs"]}


def beside(rows: list[Decided]) -> dict[str, Any]:
    """Counts of Algorithm 1 with another solver: against the labels, and beside PRISM."""
    decided = [row for row in rows if row.is_decided]
    return {
        "outcomes": Counter(row.algorithm_1 for row in rows),
        "agree": sum(not row.is_disagreement for row in decided),
        "disagree": sum(row.is_disagreement for row in decided),
        "false_accepts": sum(row.algorithm_1 == "equivalent" and row.expected == "different" for row in decided),
        "false_rejects": sum(row.algorithm_1 == "rejected" and row.expected == "equivalent" for row in decided),
        "seconds": timing(rows),
        "version": metadata.version("symengine"),
    }


def again(disagreements: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Disagreements decided with all real solutions: what became of each outcome, by who is right, and which agree now.

    Args:
        disagreements: as `report` lists them.
    """
    rows = list(disagreements)
    found = list(decide([Pair(row["id"], row["a"], row["b"], row["expected"]) for row in rows], "real"))
    outcomes: dict[str, dict[str, Counter[str]]] = {}
    for row, now in zip(rows, found, strict=True):
        by_who = outcomes.setdefault(row.get("who", "not explained"), {})
        by_who.setdefault(row["algorithm_1"], Counter())[now.algorithm_1] += 1
    return {
        "outcomes_by_who_and_before": outcomes,
        "disagree_still": sum(now.is_disagreement for now in found),
        "agree_now": [now.id for now in found if now.is_decided and not now.is_disagreement],
    }


def timing(rows: list[Decided]) -> dict[str, float]:
    """Seconds of a pair."""
    seconds = sorted(row.seconds for row in rows)
    return {
        "median": round(seconds[len(seconds) // 2], 3),
        "p99": round(seconds[len(seconds) * 99 // 100], 3),
        "killed": sum(row.algorithm_1 == "killed" for row in rows),
        "limit": TIME_LIMIT,
    }


def report(rows: list[Decided]) -> dict[str, Any]:
    explained = explanations()
    verdicts: dict[str, Counter[str]] = {}
    for row in rows:
        outcome = row.algorithm_1 if row.is_decided or row.algorithm_1 == "killed" else "raised"
        verdicts.setdefault(row.prism, Counter())[outcome] += 1
    disagreements = [row for row in rows if row.is_disagreement]
    return {
        "pairs": len(rows),
        "agree": sum(row.is_decided and not row.is_disagreement for row in rows),
        "disagree": len(disagreements),
        "no_verdict": sum(not row.is_decided for row in rows),
        "right_in_disagreement": Counter(explained[row.id]["who"] for row in disagreements if row.id in explained),
        "verdicts_of_prism_by_algorithm_1": verdicts,
        "seconds": timing(rows),
        "disagreements": [{**listed(row), **explained.get(row.id, {})} for row in disagreements],
        "without_verdict": [listed(row) for row in rows if not row.is_decided],
        "replayed": [listed(row) for outcome in ("equivalent", "rejected") for row in quick(rows, outcome)],
        "versions": {package: metadata.version(package) for package in ("sympy", "mpmath")},
    }


def quick(rows: list[Decided], outcome: str) -> list[Decided]:
    """A few pairs with this outcome that cost little, from all of the run."""
    found = [row for row in rows if row.algorithm_1 == outcome and row.seconds <= REPLAYED_SECONDS]
    return found[:: max(1, len(found) // REPLAYED)][:REPLAYED]


def listed(row: Decided) -> dict[str, Any]:
    return {**asdict(row), "seconds": round(row.seconds, 3)}


def main() -> int:
    parser = script.parser("Algorithm 1 of the paper beside PRISM.", data=DATA)
    parser.add_argument("--slice", action="store_true", help="ten pairs of the cases: what CI runs")
    options = parser.parse_args()
    if not options.slice:
        script.require(*(options.data / file for file in PAIRS))
    pairs = [] if options.slice else list(collected(options.data))
    pairs = [pair for pair in (*pairs, *written()) if is_evaluated(pair.a) and is_evaluated(pair.b)]
    prism.warm()
    chosen = pairs[:: len(pairs) // SLICE][:SLICE] if options.slice else pairs
    result = {**report(list(decide(chosen))), "with_symengine": beside(list(decide(chosen, "symengine")))}
    result["with_real_roots"] = again(result["disagreements"])
    print(json.dumps(result, sort_keys=True, indent=None if options.json else 1))
    unexplained = [row["id"] for row in result["disagreements"] if "why" not in row]
    if unexplained:
        print(f"{EXPLANATIONS.name} does not explain {', '.join(unexplained)}", file=sys.stderr)
    return 1 if unexplained else 0


if __name__ == "__main__":
    raise SystemExit(main())

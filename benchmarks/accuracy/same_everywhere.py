r"""Is a verdict the same everywhere? One digest of all verdicts, from processes that run under different conditions.

Pairs are all of the three collected files, those of `physics_pairs.toml`, and the rows of `tests/cases/equivalence`
with their near-misses and contexts. Each configuration is a process of its own: interpreted or compiled kernels, the
switch between them left to the counter, one or two workers, seeds of Python's hashes, other orders, code compiled for
a processor without extensions. A digest is SHA-256 over the verdicts as JSON with sorted keys, sorted by pair: status,
reason, proof, domain, readings, approximate, detail. Witnesses and counted cost have a digest of their own: they may
differ in a last digit, and verdicts must not.

    python benchmarks/accuracy/same_everywhere.py [--data FOLDER] [--slice] [--json]

`--slice` takes a fixed sample of the rows of `tests/cases/equivalence` and four of the configurations.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, PAIR_FILES, labelled_pairs, own_pairs  # noqa: E402

CASES = ROOT / "tests" / "cases" / "equivalence"
SLICE = 60  # pairs
_SEED = 11
_CHILD = "--child"
_APART = ("cost", "witness")  # of a verdict, what the second digest is for

Verdicts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """One decision: its name, two formulas, the context of its row or nothing, the status that the row expects."""

    name: str
    a: str
    b: str
    context: Mapping[str, Any] = field(default_factory=dict)
    expect: str = ""


def rows() -> list[Question]:
    """The rows of the cases and their near-misses."""
    found = []
    for path in sorted(CASES.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            for count, b in enumerate((row["b"], *row.get("near_misses", ()))):
                name = f"{path.stem}:{row['id']}" + (f"~{count}" if count else "")
                expect = "different" if count else row["expect"]
                found.append(Question(name, row["a"], b, row.get("context", {}), expect))
    return found


def questions(folder: Path | None) -> list[Question]:
    """All pairs; without a folder a sample of the rows, evenly out of those of each status."""
    written = rows()
    if folder is None:
        written.sort(key=lambda question: question.expect)
        return [written[k * len(written) // SLICE] for k in range(SLICE)]
    pairs = [pair for file in PAIR_FILES for pair in labelled_pairs(folder, file)] + own_pairs()
    return [Question(pair.id, pair.gold, pair.answer) for pair in pairs] + written


# The configurations -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Configuration:
    """Under what a process decides all pairs.

    Attributes:
        name: in the tables.
        kernels: `interpreted`, `compiled`, or empty: the switch is left to the counter.
        hash_seed: of Python's hashes.
        is_shuffled: the pairs come in another order.
        workers: processes among which the pairs are split.
        cpu: name of a processor to compile for, with a new cache; empty for this one.
    """

    name: str
    kernels: str = "compiled"
    hash_seed: str = "0"
    is_shuffled: bool = False
    workers: int = 1
    cpu: str = ""

    def environment(self, cache: str) -> dict[str, str]:
        """Of the process; `cache` is a new folder for compiled code."""
        inherited = {name: value for name, value in os.environ.items() if name != "PRISM_KERNELS"}
        kernels = {"PRISM_KERNELS": self.kernels} if self.kernels else {}
        cpu = {"NUMBA_CPU_NAME": self.cpu, "NUMBA_CACHE_DIR": cache} if self.cpu else {}
        return {**inherited, **kernels, **cpu, "PYTHONHASHSEED": self.hash_seed}


CONFIGURATIONS = (
    Configuration("compiled"),
    Configuration("compiled, hash seed 1", hash_seed="1"),
    Configuration("compiled, random hash seed", hash_seed="random"),
    Configuration("compiled, shuffled", is_shuffled=True),
    Configuration("compiled, 2 workers", workers=2),
    Configuration("compiled for a generic processor", cpu="generic"),
    Configuration("switching by the counter", kernels=""),
    Configuration("interpreted", kernels="interpreted"),
    Configuration("interpreted, shuffled, random hash seed", "interpreted", hash_seed="random", is_shuffled=True),
    Configuration("interpreted, 2 workers", "interpreted", workers=2),
)
SLICE_CONFIGURATIONS = (
    Configuration("compiled"),
    Configuration("compiled, hash seed 1, shuffled", hash_seed="1", is_shuffled=True),
    Configuration("interpreted", kernels="interpreted"),
    Configuration("interpreted, hash seed 1, shuffled", "interpreted", hash_seed="1", is_shuffled=True),
)


class ChildError(RuntimeError):
    """A process of a configuration failed."""


def decided(configuration: Configuration, asked: Sequence[Question]) -> Verdicts:
    """The verdicts of one configuration by the name of the question."""
    order = list(asked)
    if configuration.is_shuffled:
        random.Random(_SEED).shuffle(order)
    items = json.dumps([[question.name, question.a, question.b, question.context] for question in order])
    command = [sys.executable, str(Path(__file__).resolve()), _CHILD, str(configuration.workers)]
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            command, input=items, env=configuration.environment(cache),
            capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
    if done.returncode:
        raise ChildError(f"{configuration.name}: {done.stderr.strip()[-2000:]}")
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    if len(found) != len(asked):
        raise ChildError(f"{configuration.name}: {len(found)} verdicts on {len(asked)} pairs; is a name there twice?")
    return found


# In the child -------------------------------------------------------------------------------------------------


def verdict(item: tuple[str, str, str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """One decision; an exception is a verdict too, so that it is seen."""
    import prism

    name, a, b, context = item
    try:
        known = prism.Context.from_dict(context) if context else None
        return name, prism.equivalent(a, b, context=known).to_dict()
    except Exception as error:  # noqa: BLE001 - a bug of ours, which the table has to show
        return name, {"status": f"RAISED {type(error).__name__}", "reason": str(error)}


def child(workers: int) -> int:
    """Read questions, write verdicts."""
    items = json.load(sys.stdin)
    if workers == 1:
        found = [verdict(item) for item in items]
    else:
        with multiprocessing.get_context("spawn").Pool(workers) as pool:
            found = pool.map(verdict, items, chunksize=8)
    print(json.dumps(dict(found)))
    return 0


# Comparing ----------------------------------------------------------------------------------------------------


def without(verdicts: Verdicts, left_out: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The verdicts without some of their fields."""
    skipped = set(left_out)
    return {name: {key: part for key, part in one.items() if key not in skipped} for name, one in verdicts.items()}


def digest(verdicts: Verdicts) -> str:
    """SHA-256 of the verdicts, whatever the order in which they were made."""
    text = json.dumps(verdicts, sort_keys=True, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def compare(by_configuration: Mapping[str, Verdicts]) -> dict[str, Any]:
    """Digests, and the pairs on which a configuration differs from the first one."""
    first = next(iter(by_configuration.values()))
    plain = {name: without(verdicts, _APART) for name, verdicts in by_configuration.items()}
    expected = without(first, _APART)
    digests = {name: digest(verdicts) for name, verdicts in plain.items()}
    whole = {name: digest(verdicts) for name, verdicts in by_configuration.items()}
    differ = [
        {"configuration": name, "pair": pair, "here": verdicts[pair], "first": expected[pair]}
        for name, verdicts in plain.items()
        for pair in sorted(expected)
        if verdicts[pair] != expected[pair]
    ]
    loose = {
        name: sorted(pair for pair in expected if verdicts[pair] != first[pair])
        for name, verdicts in by_configuration.items()
    }
    return {
        "pairs": len(expected),
        "statuses": dict(sorted(Counter(one["status"] for one in expected.values()).items())),
        "verdicts": digests,
        "verdicts are equal": len(set(digests.values())) == 1,
        "differ": differ,
        "with witness and cost": whole,
        "with witness and cost are equal": len(set(whole.values())) == 1,
        "witness or cost differs": {name: pairs for name, pairs in loose.items() if pairs},
    }


def show(result: Mapping[str, Any]) -> None:
    print(f"{result['pairs']} pairs: {result['statuses']}")
    print(f"{'':42}{'verdicts':>14}{'with witness and cost':>24}")
    for name, seen in result["verdicts"].items():
        print(f"{name:42}{seen[:12]:>14}{result['with witness and cost'][name][:12]:>24}")
    print(f"verdicts are equal: {result['verdicts are equal']}")
    for item in result["differ"]:
        print(f"{item['configuration']}: {item['pair']}: {item['here']} instead of {item['first']}")
    for name, pairs in result["witness or cost differs"].items():
        print(f"{name}: witness or cost differs in {len(pairs)}: {', '.join(pairs[:8])}")


def main() -> int:
    if sys.argv[1:2] == [_CHILD]:
        return child(int(sys.argv[2]))
    parser = script.parser("Is a verdict the same everywhere?", data=DATA)
    parser.add_argument("--slice", action="store_true", help="a sample of the cases, four configurations")
    options = parser.parse_args()
    if not options.slice:
        script.require(*(options.data / file for file in PAIR_FILES))
    asked = questions(None if options.slice else options.data)
    chosen = SLICE_CONFIGURATIONS if options.slice else CONFIGURATIONS
    try:
        result = compare({configuration.name: decided(configuration, asked) for configuration in chosen})
    except ChildError as error:
        print(error, file=sys.stderr)
        return 1
    script.tell(result, show, as_json=options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

r"""Is the output of a run the same whatever does it? Bytes of `prism run` under different conditions.

The students of the shipped problems are graded in this process, by one, two and four workers, with other seeds of
Python's hashes, from JSON Lines, JSON, CSV and Parquet, interpreted, and into Parquet. Each output has to be the first
one, byte by byte; of the shuffled input the lines are sorted by sample id, as those of the first are.

    python benchmarks/robustness/same_output.py [--problems N] [--json]
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.processes import done  # noqa: E402
from benchmarks.robustness.shipped import problems, rollouts, write  # noqa: E402
from prism import warm  # noqa: E402

_SEED = 11
Rows = list[dict[str, Any]]


# Inputs -----------------------------------------------------------------------------------------------------------


def as_json(rows: Rows, path: Path) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def as_csv(rows: Rows, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_parquet(rows: Rows, path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def shuffled(rows: Rows, path: Path) -> Path:
    order = list(rows)
    random.Random(_SEED).shuffle(order)
    return write(order, path)


# Runs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Configuration:
    """How one run is done.

    Attributes:
        name: in the table.
        workers: processes that it starts.
        suffix: of the input.
        make: writes the input.
        environment: of the process.
        out: ending of the output.
    """

    name: str
    workers: int = 1
    suffix: str = ".jsonl"
    make: Callable[[Rows, Path], Path] = write
    environment: dict[str, str] = field(default_factory=dict)
    out: str = ".jsonl"


CONFIGURATIONS = (
    Configuration("no worker", 0),
    Configuration("1 worker", 1),
    Configuration("2 workers", 2),
    Configuration("4 workers", 4),
    Configuration("2 workers, shuffled", 2, make=shuffled),
    Configuration("hash seed 1", environment={"PYTHONHASHSEED": "1"}),
    Configuration("random hash seed, 2 workers", 2, environment={"PYTHONHASHSEED": "random"}),
    Configuration("from JSON", suffix=".json", make=as_json),
    Configuration("from CSV", suffix=".csv", make=as_csv),
    Configuration("from Parquet", suffix=".parquet", make=as_parquet),
    Configuration("interpreted kernels, 2 workers", 2, environment={"PRISM_KERNELS": "interpreted"}),
    Configuration("into Parquet, no worker", 0, out=".parquet"),
    Configuration("into Parquet, 2 workers", 2, out=".parquet"),
)


def lines(path: Path) -> list[bytes]:
    """The rows of an output as they stand in JSON Lines, by sample id."""
    if path.suffix == ".parquet":
        return _lines_of_parquet(path)
    return sorted(path.read_bytes().splitlines(), key=lambda line: json.loads(line)["sample_id"])


def _lines_of_parquet(path: Path) -> list[bytes]:
    import pyarrow.parquet as pq

    rows = sorted(pq.read_table(path).to_pylist(), key=lambda row: row["sample_id"])
    return [json.dumps(row, sort_keys=True).encode() for row in rows]


def digest(parts: Sequence[bytes]) -> str:
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


def measure(n_problem: int | None) -> dict[str, Any]:
    """Digests of all outputs, and which are not as the first of their kind."""
    rows = rollouts(1, n_problem)
    warm()
    whole: dict[str, str] = {}
    by_id: dict[str, str] = {}
    differ: list[str] = []
    incidents = 0
    firsts: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = problems(folder / "problems", n_problem)
        for k, one in enumerate(CONFIGURATIONS):
            source = one.make(rows, folder / f"{k}{one.suffix}")
            out = folder / f"{k}.out{one.out}"
            ended = done(
                [known, source, "-o", out, "--workers", str(one.workers), "--map", "response=response"],
                environment=one.environment,
            )
            incidents += ended.said["incidents"]
            whole[one.name] = digest([out.read_bytes()])
            by_id[one.name] = digest(lines(out))
            is_moved = one.make is shuffled
            first = firsts.setdefault(one.out, one.name)
            if by_id[one.name] != by_id[first] or (whole[one.name] != whole[first]) != is_moved:
                differ.append(one.name)
    return {"rollouts": len(rows), "sha256": whole, "differ": differ, "incidents": incidents}


def main() -> int:
    parser = script.parser("Compare the outputs of runs under different conditions.")
    parser.add_argument("--problems", type=int, default=None, help="only the first shipped problems")
    options = parser.parse_args()
    result = measure(options.problems)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, value in result["sha256"].items():
            print(f"{name:36}{value[:16]}  {'differs' if name in result['differ'] else 'same'}")
        print(f"{result['rollouts']} rollouts, {result['incidents']} incidents")
    return int(bool(result["differ"]))


if __name__ == "__main__":
    raise SystemExit(main())

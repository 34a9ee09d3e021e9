"""The same rollouts with and without Ray: are the bytes the same, from a cluster of two processors?

python benchmarks/robustness/ray_run.py [--json]

The rollouts are the students of ten shipped problems, each three times, and the hostile texts of `deadly.py`. Ray runs
in an environment of its own, `.venv-ray`, which `make bench` builds; the runs without Ray use the same one. Besides: a
cluster that was there before, by `auto` and by its address, another seed of Python's hashes, Parquet in and out,
drivers killed and resumed, once with damaged parts, grades from eight threads inside an actor, rollouts that kill the
actor which grades them, and the example `examples/ray_grade.py`, which joins a cluster and starts one. No process of
Ray may be left over.

A head of Ray listens to the network, whatever address it is told, so the clusters here have a token, made for this run
and kept in its folder. A run without the token has to say that it wants one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.processes import marked, seconds_until_gone  # noqa: E402
from benchmarks.robustness.damage import DAMAGES  # noqa: E402
from benchmarks.robustness.deadly import hostile_rollouts  # noqa: E402

BIN = ROOT / ".venv-ray" / "bin"
ACTORS = Path(__file__).with_name("ray_actors.py")
PROBLEMS = 10
TIMES = 3
_SEED = 7
KILLED_AT = 10  # rows that are there before the driver is killed
PATIENCE = 300.0  # seconds for the first rows
UNTIL_GONE = 60.0  # seconds that a process of Ray may outlive its driver
EXAMPLE = ROOT / "examples" / "ray_grade.py"
_SAID = (
    "same_bytes", "same_bytes_of_parquet", "same_in_actor", "deadly", "without_token", "example", "left_over",
    "versions",
)  # fmt: skip
_MARK = f"ray of {os.getpid()}"
_VERSIONS = (
    "import json, platform; from importlib.metadata import version;"
    "print(json.dumps({'python': platform.python_version(),"
    " **{name: version(name) for name in ('ray', 'numpy', 'numba', 'pyarrow')}}))"
)
_TO_PARQUET = (
    "import sys, pyarrow.json as json, pyarrow.parquet as parquet;"
    "parquet.write_table(json.read_json(sys.argv[1]), sys.argv[2])"
)


def write_rollouts(path: Path) -> int:
    """The students of the first shipped problems, and hostile texts, as a file of rollouts; how many."""
    problems = [prism.load_problem(file) for file in sorted((ROOT / "dags").glob("*.toml"))[:PROBLEMS]]
    rows = [
        {"problem_id": problem.id, "sample_id": f"{problem.id}-{one.name}-{k}", "response": one.solution}
        for problem in problems
        for k in range(TIMES)
        for one in problem.students
    ]
    rows += [row for row in hostile_rollouts() if "\ud800" not in row["response"]]  # Parquet cannot hold it
    random.Random(_SEED).shuffle(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return len(rows)


def command(source: Path, out: Path, *words: str) -> list[str]:
    return [str(BIN / "prism"), "run", str(ROOT / "dags"), str(source), "-o", str(out), *words]


class Place:
    """A folder in which Ray keeps its sessions, and the token of its clusters."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "token").write_text(secrets.token_hex(32), encoding="utf-8")

    def environment(self, seed: str = "0") -> dict[str, str]:
        """Of a process that has the token."""
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self.folder / "token")}
        return {**self.environment_without_token(), **token, "PYTHONHASHSEED": seed}

    def environment_without_token(self) -> dict[str, str]:
        """Of one that has not, and nothing else that the caller told Ray."""
        others = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
        return {
            **others, "PYTHONPATH": str(ROOT), "PRISM_BENCHMARK_MARK": _MARK, "RAY_TMPDIR": str(self.folder),
            "RAY_USAGE_STATS_ENABLED": "0",
        }  # fmt: skip


@contextlib.contextmanager
def cluster(place: Place) -> Iterator[str]:
    """A cluster of two processors, started as a user does; its address. `ray stop` would end those of others too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = place.folder / "head.txt"
    words = ["--head", "--block", "--num-cpus=2", "--include-dashboard=false", f"--port={port}"]
    with said.open("w", encoding="utf-8") as file:
        head = subprocess.Popen(
            [str(BIN / "ray"), "start", *words], env=place.environment(), stdout=file, stderr=subprocess.STDOUT
        )
    start = time.perf_counter()
    try:
        while "Ray runtime started" not in said.read_text(encoding="utf-8"):
            if head.poll() is not None or time.perf_counter() - start > PATIENCE:
                raise RuntimeError(f"ray start: {said.read_text(encoding='utf-8')}")
            time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        head.terminate()
        head.wait()


def graded(place: Place, source: Path, out: Path, *words: str, seed: str = "0") -> dict[str, Any]:
    """Run it: the sha256 of what it wrote, and how long that took."""
    start = time.perf_counter()
    done = subprocess.run(
        command(source, out, *words), env=place.environment(seed), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"prism run {words}: exit code {done.returncode}: {done.stderr[-2000:]}")
    seconds = time.perf_counter() - start
    return {"sha256": hashlib.sha256(out.read_bytes()).hexdigest(), "seconds": round(seconds, 1)}


def killed_and_resumed(
    place: Place, source: Path, out: Path, address: str, damage: Callable[[Path, random.Random], None] | None = None
) -> dict[str, Any]:
    """Kill the driver once some rows are there, damage the parts if asked to, and resume."""
    words = ("--ray", address)
    driver = subprocess.Popen(
        command(source, out, *words), env=place.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    start = time.perf_counter()
    while (there := rows_in(out)) < KILLED_AT and driver.poll() is None and time.perf_counter() - start < PATIENCE:
        time.sleep(0.05)
    driver.send_signal(signal.SIGKILL)
    killed = driver.wait() == -signal.SIGKILL
    if damage is not None:
        damage(out.with_name(f"{out.name}.parts"), random.Random(_SEED))
    return {**graded(place, source, out, *words, "--resume"), "was_killed": killed, "rows_before_the_kill": there}


def without_token(place: Place, source: Path, out: Path) -> dict[str, Any]:
    """What is said to a user who has no token of the cluster."""
    environment = {**place.environment_without_token(), "HOME": str(place.folder)}  # a home without a token
    words = command(source, out, "--ray", "auto")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    return {"exit_code": done.returncode, "said": done.stderr.strip().splitlines()[-1]}


def example(place: Place) -> list[str]:
    """The lines that the example prints."""
    words = [str(BIN / "python"), str(EXAMPLE)]
    done = subprocess.run(words, env=place.environment(), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def example_without_ray() -> list[str]:
    """The lines that the example should print."""
    found = []
    for name in ("free_fall", "two_slits"):
        problem = prism.load_problem(ROOT / "dags" / f"{name}.toml")
        prepared = prism.prepare(problem)
        found += [
            f"{problem.id} {one.name} {prism.grade(prepared, one.solution).score:.4f}" for one in problem.students
        ]
    return found


def rows_in(out: Path) -> int:
    shards = out.with_name(out.name + ".parts").glob("*.rows")
    return sum(shard.read_bytes().count(b"\n") for shard in shards)


def measure(folder: Path) -> dict[str, Any]:
    lines, table = folder / "rollouts.jsonl", folder / "rollouts.parquet"
    n = write_rollouts(lines)
    python = str(BIN / "python")
    here, there = Place(folder / "own"), Place(folder / "all")  # clusters of the run's own, and the one before
    subprocess.run([python, "-c", _TO_PARQUET, str(lines), str(table)], check=True)
    subprocess.run([str(BIN / "prism"), "warm"], env=here.environment(), check=True, stderr=subprocess.DEVNULL)
    runs = {
        f"{workers} workers": graded(here, lines, folder / f"workers{workers}.jsonl", "--workers", str(workers))
        for workers in (0, 1, 2)
    }
    runs["Ray, its own cluster"] = graded(here, lines, folder / "ray.jsonl", "--ray", "local")
    runs["Ray, another hash seed"] = graded(here, lines, folder / "ray7.jsonl", "--ray", "local", seed="7")
    runs["Ray, Parquet in"] = graded(here, table, folder / "table.jsonl", "--ray", "local")
    runs["Ray, killed and resumed"] = killed_and_resumed(here, lines, folder / "killed.jsonl", "local")
    runs["Ray, damaged and resumed"] = killed_and_resumed(
        here, lines, folder / "damaged.jsonl", "local", DAMAGES["bits"]
    )
    tables = {
        "1 worker": graded(here, table, folder / "table1.parquet", "--workers", "1"),
        "Ray": graded(here, table, folder / "table.parquet", "--ray", "local"),
    }
    actors = subprocess.run([python, str(ACTORS), str(lines)], env=here.environment(), capture_output=True, check=True)
    examples = {"starts a cluster": example(here)}
    with cluster(there) as address:
        runs["Ray, auto"] = graded(there, lines, folder / "auto.jsonl", "--ray", "auto")
        runs["Ray, HOST:PORT"] = graded(there, lines, folder / "address.jsonl", "--ray", address)
        runs["Ray, auto, killed and resumed"] = killed_and_resumed(there, lines, folder / "killed2.jsonl", "auto")
        examples["joins a cluster"] = example(there)
        stranger = without_token(there, lines, folder / "stranger.jsonl")
    longest = seconds_until_gone(_MARK, UNTIL_GONE)
    versions = subprocess.run([python, "-c", _VERSIONS], check=True, capture_output=True, text=True)
    should = example_without_ray()
    return {
        "rollouts": n,
        "runs": runs,
        "same_bytes": len({run["sha256"] for run in runs.values()}) == 1,
        "parquet_in_and_out": tables,
        "same_bytes_of_parquet": len({run["sha256"] for run in tables.values()}) == 1,
        "without_token": stranger,
        "example": {"lines": should, "same_lines": {how: lines == should for how, lines in examples.items()}},
        "left_over": len(marked(_MARK)) if longest is None else 0,
        "versions": json.loads(versions.stdout),
        **json.loads(actors.stdout.splitlines()[-1]),
    }


def main() -> int:
    parser = script.parser("prism run with and without Ray.")
    options = parser.parse_args()
    if not (BIN / "prism").exists():
        print("no .venv-ray: run `make bench`", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        result = measure(Path(folder))
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, run in {**result["runs"], **result["parquet_in_and_out"]}.items():
            print(f"{name:30}{run['seconds']:8.1f} s   {run['sha256'][:16]}")
        print({key: result[key] for key in _SAID})
    deadly = result["deadly"]
    is_right = (
        result["same_bytes"] and result["same_bytes_of_parquet"] and result["same_in_actor"]
        and deadly["same_as_workers"] and deadly["in_order"] and len(deadly["killed"]) == 3
        and all(run.get("was_killed", True) for run in result["runs"].values())
        and "wants its token" in result["without_token"]["said"] and all(result["example"]["same_lines"].values())
        and not result["left_over"]
    )  # fmt: skip
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())

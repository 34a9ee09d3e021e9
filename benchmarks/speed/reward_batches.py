"""The reward of a step of training: one process, two workers, and a server, in one run and with the same rewards.

A batch is 256 completions, in groups of eight of one problem as GRPO has them, in two kinds. *responses*: responses of
models (`rollout_problems.py`), each eight times, without another eighth of its paragraphs. *tiny model*: what the model
of `examples/trl_grpo.py` writes: what `examples/trl_grpo.py --json --group 128` prints, which is run here where its
environment (`make .venv-trl/.made`) is and no file of it is named; left out otherwise.

Each way grades the batch after a start and some solutions of other problems that are not counted, with no memory of its
formulas: workers and server are started anew in each round. The ways take turns, so that what else the machine does
meets all of them; what is compared is the median over the rounds. Beside them runs a loop of plain Python, alone and
twice at the same time: two workers cannot gain more than two loops do; and the load of the machine over the minute
before each round, where what others run is seen in the first. Processor seconds are those of all processes of a way;
another user of the machine changes them less. A server is asked as `docs/how-to/frameworks/trl.md` shows.

    python benchmarks/speed/reward_batches.py [--data FOLDER] [--completions FILE] [--rounds N] [--json]
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TRAINER = ROOT / ".venv-trl" / "bin" / "python"
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from benchmarks.memories import forget  # noqa: E402
from benchmarks.rollout_problems import PROBLEMS, is_here, material, write  # noqa: E402
from benchmarks.speed.bulk import GROUP, variants  # noqa: E402
from benchmarks.speed.server import family  # noqa: E402
from prism import load_problem  # noqa: E402
from prism.resources import resource  # noqa: E402
from prism.rewards import Reward  # noqa: E402

BATCH = 256
WORKERS = 2
IN_A_REQUEST = 64
_LENGTH = 20_000_000  # steps of a plain loop
Rows = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Took:
    """What a batch took by one way: by the clock, by the processors of all its processes, and its rewards."""

    seconds: float
    processor: float
    rewards: list[float | None]


def timed(grade: Callable[[Rows], list[float | None]], rows: Rows, processes: Sequence[int]) -> Took:
    """Grade a batch after some solutions of other problems, and count the time of these processes."""
    grade(warming())
    before, start = processor(processes), time.perf_counter()
    rewards = grade(rows)
    return Took(time.perf_counter() - start, processor(processes) - before, rewards)


def warming() -> Rows:
    """Solutions of a shipped problem, so many that each worker gets some."""
    path = resource("dags/two_slits.toml")
    reference = json.dumps(tomllib.loads(path.read_text(encoding="utf-8")))
    return [(reference, each.solution) for each in load_problem(path).students] * (8 * WORKERS)


def processor(processes: Sequence[int]) -> float:
    """Processor seconds of processes so far (Linux)."""
    ticks = 0
    for pid in processes:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def in_this_process(problems: Path, rows: Rows) -> Took:
    """One process."""
    reward = Reward(problems=problems)
    forget()
    return timed(lambda asked: values_of(reward, asked), rows, [os.getpid()])


def by_workers(problems: Path, rows: Rows) -> Took:
    """A reward with workers, which have been started."""
    with Reward(problems=problems, workers=WORKERS) as reward:
        return timed(lambda asked: values_of(reward, asked), rows, family(os.getpid()))


def values_of(reward: Reward, rows: Rows) -> list[float | None]:
    """The values of a batch."""
    return [each.value for each in reward.many(*zip(*rows, strict=True))]


def by_a_server(problems: Path, rows: Rows) -> Took:
    """`prism serve`, which is running."""
    with serving(problems) as (address, pid):
        return timed(lambda asked: asked_of(address, asked), rows, [os.getpid(), *family(pid)])


def asked_of(address: str, rows: Rows) -> list[float | None]:
    """What a server says of a batch."""
    found: list[float | None] = []
    for at in range(0, len(rows), IN_A_REQUEST):
        part = rows[at : at + IN_A_REQUEST]
        answer = post(address, {"query": [text for _, text in part], "labels": [name for name, _ in part]})
        bad = answer["extra_logs"]["bad_reference"]
        found += [None if wrong else value for value, wrong in zip(answer["rewards"], bad, strict=True)]
    return found


@contextmanager
def serving(problems: Path) -> Iterator[tuple[str, int]]:
    """The address of a server of these problems, when it is ready, and its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "prism", "serve", str(problems), "--port", str(port), "--workers", str(WORKERS)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise SystemExit("the server does not start") from None
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/get_reward", process.pid
    finally:
        process.terminate()
        process.wait()


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request in JSON."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - of this machine
    with urllib.request.urlopen(request, timeout=600) as answer:  # noqa: S310
        found: dict[str, Any] = json.load(answer)
    return found


WAYS: dict[str, Callable[[Path, Rows], Took]] = {
    "one_process": in_this_process, f"workers_{WORKERS}": by_workers, f"serve_workers_{WORKERS}": by_a_server,
}  # fmt: skip


def measured(problems: Path, rows: Rows, rounds: int) -> dict[str, Any]:
    """Seconds of each way and round, and whether the rewards are the same in all of them."""
    took: dict[str, list[Took]] = {name: [] for name in WAYS}
    loops, loads = [], []
    for _ in range(rounds):
        loads.append(round(os.getloadavg()[0], 2))
        for name, way in WAYS.items():
            took[name].append(way(problems, rows))
        loops.append(gain_of_two_loops())
    expected = took["one_process"][0].rewards
    every = [each.rewards for kind in took.values() for each in kind]
    seconds = {name: statistics.median(each.seconds for each in kind) for name, kind in took.items()}
    work = {name: statistics.median(each.processor for each in kind) for name, kind in took.items()}
    return {
        "completions": len(rows), "problems": len({name for name, _ in rows}), "rounds": rounds,
        "rewards_that_differ": sum(a != b for each in every for a, b in zip(expected, each, strict=True)),
        "seconds": {name: [round(each.seconds, 2) for each in kind] for name, kind in took.items()},
        "rewards_a_second": {name: round(len(rows) / each, 1) for name, each in seconds.items()},
        "speed_over_one_process": {name: round(seconds["one_process"] / each, 2) for name, each in seconds.items()},
        "work_over_one_process": {name: round(each / work["one_process"], 2) for name, each in work.items()},
        "rewards_a_processor_second": {name: round(len(rows) / each, 1) for name, each in work.items()},
        "load_at_start_of_round": loads,
        "speed_of_two_plain_loops_over_one": round(statistics.median(loops), 2),
    }  # fmt: skip


def gain_of_two_loops() -> float:
    """How much faster two loops of plain Python go in two processes than one after the other, now."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(plain_loop, [1, 1])
        start = time.perf_counter()
        pool.apply(plain_loop, [_LENGTH])
        alone = time.perf_counter() - start
        start = time.perf_counter()
        pool.map(plain_loop, [_LENGTH] * 2, chunksize=1)
        return 2 * alone / (time.perf_counter() - start)


def plain_loop(length: int) -> int:
    """A sum."""
    return sum(k & 3 for k in range(length))


def completions_of_example(file: Path | None) -> Rows:
    """Reference and text of each completion of the example's model: of a file, else of a run; empty without both."""
    if file is not None:
        told = file.read_text(encoding="utf-8")
    elif TRAINER.exists():
        command = [str(TRAINER), "examples/trl_grpo.py", "--json", "--group", str(BATCH // 2)]  # it has two problems
        told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    else:
        return []
    return [(each["reference"], each["completion"]) for each in json.loads(told)["completions"]]


def main() -> int:
    """0 if all rewards are the same; 77 without any completions."""
    parser = script.parser("The reward of a step of training, in three ways.", data=DATA)
    parser.add_argument("--completions", type=Path, help="what `examples/trl_grpo.py --json --group 128` printed")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    found: dict[str, Any] = {"workers": WORKERS}
    with tempfile.TemporaryDirectory() as folder:
        if is_here(asked.data):
            made = material(asked.data)
            write(made, Path(folder))
            written = [row for row in made.rollouts if row["response"].count("\n\n") >= GROUP]
            rows = [(row["problem_id"], text) for row in written for text in variants(row["response"])]
            found["responses"] = measured(Path(folder) / PROBLEMS, rows[:BATCH], asked.rounds)
    if completions := completions_of_example(asked.completions):
        found["tiny_model"] = measured(resource("dags"), completions[:BATCH], asked.rounds)
    if len(found) == 1:
        return NO_DATA
    print(json.dumps(found, sort_keys=True))
    return 1 if any(each["rewards_that_differ"] for each in found.values() if isinstance(each, dict)) else 0


if __name__ == "__main__":
    sys.exit(main())

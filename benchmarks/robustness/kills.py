r"""Kill what grades, at moments that chance chooses, and look at what comes out in the end.

A run over the shipped problems' students goes undisturbed once. Then SIGKILL is sent, at moments drawn from a seeded
generator:

*Workers*: to the older of the two, again and again while runs go on. The supervisor replaces it and gives its rollouts
to the next; the output has to be the undisturbed one, byte by byte.

*Supervisor*: to `prism run` itself. After each kill `prism run --resume` starts, and may be killed in turn, until one
ends by itself; then the output has to be the same bytes. The rows in the shards are counted by ordinal and key after
each kill: a rollout that stands there whole is not graded again, so that no key has two whole rows, and the rows of the
last run and those before it are together as many as the rollouts.

After each kill and each end no process may go on living that the run has started: a worker dies with its supervisor,
whatever it is at.

*Parts*: what a killed run has left is damaged in every way of `damage.py`, then the run is resumed.

*Disk*: no file may become longer than some bytes, so that a write is cut short and the next one fails, as on a full
disk. The run has to say so (exit code 3), and, once there is room, be resumed.

Among the students' solutions stand the hostile texts of `deadly.py`. Supervisors, parts and disk are tried with JSON
Lines and with Parquet.

    python benchmarks/robustness/kills.py [--kills N] [--copies N] [--json]
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.processes import Ended, Run, children, done, ended, marked, seconds_until_gone, start  # noqa: E402
from benchmarks.robustness.damage import DAMAGES  # noqa: E402
from benchmarks.robustness.deadly import TEXTS, hostile_rollouts  # noqa: E402
from benchmarks.robustness.shipped import DAGS, problems, rollouts, write  # noqa: E402
from prism import warm  # noqa: E402

KILLS = 20  # of workers, and of supervisors
WORKERS = 2
PATIENCE = 10.0  # seconds until a worker has died with its supervisor
_SEED = 7
_BETWEEN = 0.5, 3.0  # seconds between two kills of workers, and a row: three deaths at one rollout are its own fault
_FIELDS = 4  # of a row in a shard: ordinal, key, checksum, row
_FEW = 6  # shipped problems whose students are graded where parts are damaged and disks full
_PART = 8  # rollouts of a part there, in place of a thousand
_START = f"import prism.runs.bulk as bulk; bulk.SHARD = {_PART}; from prism.cli import main; main()"
_LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0})); "


@dataclass(slots=True)
class Found:
    """What went wrong, and how long processes outlived their run."""

    counts: Counter[str] = field(default_factory=Counter)
    outlived: list[float] = field(default_factory=list)

    def end(self, run: Run) -> None:
        """Wait until nothing of a run lives any more."""
        seconds = seconds_until_gone(run.mark, PATIENCE)
        if seconds is None:
            self.counts["processes left over"] += len(marked(run.mark))
        else:
            self.outlived.append(seconds)

    def table(self) -> dict[str, Any]:
        """The counts, and how long the last process of a run outlived it."""
        longest = round(max(self.outlived, default=0), 2)
        return {**dict(sorted(self.counts.items())), "longest_after_the_end_s": longest}


def kill(pid: int) -> bool:
    """SIGKILL; False if it was gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


# Workers ----------------------------------------------------------------------------------------------------------


def kill_workers(arguments: list[str | Path], out: Path, expected: bytes, kills: int) -> dict[str, Any]:
    """Runs whose workers are killed, until there were so many kills."""
    generator = random.Random(_SEED)
    found = Found(Counter({"kills": 0, "runs": 0, "outputs that differ": 0, "processes left over": 0}))
    while found.counts["kills"] < kills:
        at, before = time.perf_counter() + generator.uniform(*_BETWEEN), 0

        def watch(run: Run) -> None:
            nonlocal at, before
            if time.perf_counter() < at or found.counts["kills"] == kills or (rows := _in_shards(out)[0]) <= before:
                return
            # not the youngest: it has what the one killed before it was at, and a rollout has three tries
            if (workers := run.workers()[:-1]) and kill(generator.choice(workers)):
                found.counts["kills"] += 1
                at, before = time.perf_counter() + generator.uniform(*_BETWEEN), rows

        run = start([*arguments, "-o", out], mark=f"workers {found.counts['runs']} of {os.getpid()}")
        over = ended(run, watch)
        found.counts["runs"] += 1
        found.counts["outputs that differ"] += not _is_same(over, out, expected)
        found.end(run)
        out.unlink(missing_ok=True)
        shutil.rmtree(out.with_name(out.name + ".parts"), ignore_errors=True)
    return found.table()


def _is_same(over: Ended, out: Path, expected: bytes) -> bool:
    if over.code:
        print(f"exit code {over.code}: {over.fault}", file=sys.stderr)
    return over.code == 0 and out.read_bytes() == expected


# The supervisor ---------------------------------------------------------------------------------------------------


def kill_supervisors(
    arguments: list[str | Path], out: Path, expected: bytes, kills: int, usual: float, n: int
) -> dict[str, Any]:
    """Runs that are killed and resumed until they end, until there were so many kills.

    Args:
        usual: seconds of an undisturbed run; kills come at any moment of it.
        n: rollouts.
    """
    generator = random.Random(_SEED + 1)
    found = Found(Counter({
        "kills": 0, "runs to the end": 0, "outputs that differ": 0, "processes left over": 0, "outputs half there": 0,
        "kills with rows in the shards": 0, "rows cut short": 0, "graded twice": 0, "kills with workers": 0,
    }))  # fmt: skip
    there = 0  # whole rows in the shards
    is_new = True
    while found.counts["kills"] < kills or not is_new:
        moment = time.perf_counter() + generator.uniform(0, usual)
        is_last = found.counts["kills"] == kills
        mark = f"supervisor {found.counts['kills']} {found.counts['runs to the end']} of {os.getpid()}"
        run = start([*arguments, "-o", out, *([] if is_new else ["--resume"])], mark=mark)
        n_worker = 0

        def watch(run: Run, moment: float = moment, is_last: bool = is_last) -> None:
            nonlocal n_worker
            if not is_last and time.perf_counter() >= moment:
                n_worker = len(children(run.process.pid))
                kill(run.process.pid)

        over = ended(run, watch)
        found.end(run)
        if over.code == -signal.SIGKILL:
            found.counts["kills"] += 1
            found.counts["kills with workers"] += n_worker > 0
            found.counts["outputs half there"] += out.exists() and out.read_bytes() != expected
            whole, cut, twice = _in_shards(out)
            found.counts["kills with rows in the shards"] += whole > 0
            found.counts["rows cut short"] += cut
            found.counts["graded twice"] += twice
            there = whole
            is_new = not out.with_name(out.name + ".parts").exists()  # killed before anything was there, or at the end
            if is_new and out.exists():
                found.counts["killed when all was done"] += 1
                out.unlink()
        else:
            found.counts["runs to the end"] += 1
            found.counts["outputs that differ"] += not _is_same(over, out, expected)
            found.counts["graded twice"] += over.code == 0 and there + over.said["graded_now"] != n
            there, is_new = 0, True
            out.unlink(missing_ok=True)
    return found.table()


def _in_shards(out: Path) -> tuple[int, int, int]:
    """Of the rows beside an output: the whole ones, those cut short, and how many stand there again."""
    keys: Counter[tuple[bytes, bytes]] = Counter()
    cut = 0
    for path in sorted(out.with_name(out.name + ".parts").glob("*.rows")):
        for line in path.read_bytes().split(b"\n"):
            fields = line.split(b"\t", _FIELDS - 1)
            if len(fields) == _FIELDS and fields[2] == b"%08x" % zlib.crc32(
                fields[3], zlib.crc32(b"%s\t%s\t" % (fields[0], fields[1]))
            ):
                keys[fields[0], fields[1]] += 1
            else:
                cut += line != b""
    return len(keys), cut, sum(count - 1 for count in keys.values())


# Parts and disks ----------------------------------------------------------------------------------------------------


def _launch(arguments: list[str | Path], *, longest: int | None = None) -> subprocess.Popen[str]:
    """Start `prism run` with small parts; no file may become longer than `longest` bytes."""
    start = _START if longest is None else _LIMIT.format(longest) + _START
    return subprocess.Popen(
        [sys.executable, "-c", start, "run", *map(str, arguments), "--json"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _finished(arguments: list[str | Path]) -> dict[str, Any]:
    """What a run says that ends well.

    Errors:
        RuntimeError: it does not end well.
    """
    process = _launch(arguments)
    said, faults = process.communicate()
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {faults[-2000:]}")
    found: dict[str, Any] = json.loads(said)
    return found


def _interrupted(arguments: list[str | Path], out: Path, n: int) -> Path:
    """The parts of a run that is killed when two thirds of its rows are there."""
    parts = out.with_name(f"{out.name}.parts")
    process = _launch([*arguments, "-o", out])
    while process.poll() is None and _in_shards(out)[0] < 2 * n // 3:
        time.sleep(0.01)
    kill(process.pid)
    process.communicate()
    if not parts.exists():
        raise RuntimeError("the run had ended before it was killed")
    return parts


def damage_parts(arguments: list[str | Path], out: Path, expected: bytes, n: int) -> dict[str, Any]:
    """Damage the parts of a killed run in every way, and resume: how many rollouts were graded again each time."""
    parts = _interrupted(arguments, out, n)
    kept = parts.with_name("kept")
    parts.rename(kept)
    found: dict[str, Any] = {"graded_again": {}, "outputs that differ": 0, "parts left over": 0}
    for name, damage in DAMAGES.items():
        shutil.copytree(kept, parts)
        damage(parts, random.Random(_SEED))
        said = _finished([*arguments, "-o", out, "--resume"])
        found["graded_again"][name] = said["graded_now"]
        found["outputs that differ"] += out.read_bytes() != expected
        found["parts left over"] += parts.exists()
        out.unlink()
    shutil.rmtree(kept)
    return found


def fill_disks(arguments: list[str | Path], out: Path, expected: bytes) -> dict[str, Any]:
    """Let the disk take less and less of a run, then enough."""
    found = Counter({"full disks": 0, "said so": 0, "outputs half there": 0, "outputs that differ": 0})
    is_new = True
    for longest in (2_000, 15_000, 40_000, None):
        process = _launch([*arguments, "-o", out, *([] if is_new else ["--resume"])], longest=longest)
        _, faults = process.communicate()
        is_new = not out.with_name(f"{out.name}.parts").exists()
        if longest is not None and process.returncode:
            found["full disks"] += 1
            found["said so"] += process.returncode == 3 and "--resume" in faults and "Traceback" not in faults
            found["outputs half there"] += out.exists()
    found["outputs that differ"] += not out.exists() or out.read_bytes() != expected
    out.unlink(missing_ok=True)
    return dict(found)


# ------------------------------------------------------------------------------------------------------------------


def _with_hostile(honest: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Students' solutions with the hostile texts among them."""
    rows = [*honest, *hostile_rollouts()]
    random.Random(_SEED).shuffle(rows)
    return rows


def _problems(folder: Path, n: int | None) -> Path:
    """The first shipped problems, and the one that the hostile texts are about."""
    shutil.copy(DAGS / "free_fall.toml", problems(folder, n))
    return folder


def measure(kills: int, copies: int, n_problem: int | None) -> dict[str, Any]:
    """All kinds of kills and damages."""
    rows = _with_hostile(rollouts(copies, n_problem))
    warm()
    found: dict[str, Any] = {"rollouts": len(rows), "hostile": len(TEXTS)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write(rows, folder / "rollouts.jsonl")
        arguments: list[str | Path] = [_problems(folder / "problems", n_problem), source, "--workers", str(WORKERS)]
        for kind, more in (("jsonl", ""), ("parquet", " (Parquet)")):
            out = folder / f"out.{kind}"
            undisturbed = done([*arguments, "-o", out])
            expected = out.read_bytes()
            out.unlink()
            if kind == "jsonl":
                found["statuses"] = undisturbed.said["statuses"]
                found["undisturbed_s"] = round(undisturbed.seconds, 2)
                found["workers"] = kill_workers(arguments, out, expected, kills)
            found[f"supervisors{more}"] = kill_supervisors(
                arguments, out, expected, kills if kind == "jsonl" else -(-kills // 4), undisturbed.seconds, len(rows)
            )
        few = _with_hostile(rollouts(1, _FEW))
        source = write(few, folder / "few_rollouts.jsonl")
        arguments = [_problems(folder / "few problems", _FEW), source, "--workers", "1"]  # it starts forty times
        for kind, more in (("jsonl", ""), ("parquet", " (Parquet)")):
            out = folder / f"few.{kind}"
            _finished([*arguments, "-o", out])
            expected = out.read_bytes()
            out.unlink()
            found[f"parts{more}"] = {"rollouts": len(few), **damage_parts(arguments, out, expected, len(few))}
            found[f"disk{more}"] = fill_disks(arguments, out, expected)
    return found


def main() -> int:
    parser = script.parser("Kill bulk runs, damage what they leave, and fill the disk.")
    parser.add_argument("--kills", type=int, default=KILLS, help="of each kind")
    parser.add_argument("--copies", type=int, default=2, help="how often each student is graded")
    parser.add_argument("--problems", type=int, default=None, help="only the first shipped problems")
    options = parser.parse_args()
    result = measure(options.kills, options.copies, options.problems)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for key, value in result.items():
            print(f"{key}: {value}")
    wrong = ("outputs that differ", "processes left over", "outputs half there", "graded twice", "parts left over")
    tables = [table for table in result.values() if isinstance(table, dict)]
    is_silent = any(table.get("said so") != table.get("full disks") for table in tables)
    return int(is_silent or any(table.get(name) for table in tables for name in wrong))


if __name__ == "__main__":
    raise SystemExit(main())

"""The six timings of `test_speed.py` beside those that are kept, in units of this machine's own speed.

pytest-benchmark measures; here the shortest round of each is divided by the yardstick, a fixed loop in plain Python on
the same machine, so that a baseline of another machine says something. `--keep` writes the baseline, `timings.json`;
without it the run is held beside that, and what is slower by more than `SLOWER` is named. It fails no run: a machine
that is busy makes everything slower, and the yardstick before and after, which stands in the result, tells of it.

    python benchmarks/speed/timings.py            # a table
    python benchmarks/speed/timings.py --json     # for evidence.py
    python benchmarks/speed/timings.py --keep     # after a change of speed on purpose, on an idle machine
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.speed.clocks import yardstick  # noqa: E402

KEPT = HERE / "timings.json"
SLOWER = 1.25  # ratio to the kept timing from which on a timing is named


def measured() -> dict[str, float]:
    """Return the shortest round of each timing in milliseconds, by pytest-benchmark in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "timings.json"
        command = ["-m", "pytest", "benchmarks/test_speed.py", "-q", "--benchmark-only", f"--benchmark-json={file}"]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        listed = json.loads(file.read_text(encoding="utf-8"))["benchmarks"]
    return {each["name"].removeprefix("test_"): round(1e3 * each["stats"]["min"], 4) for each in listed}


def beside(found: dict[str, float], unit: float, kept: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return each timing with its size in yardsticks, and the ratio to the kept one; None where none is kept."""
    known = kept.get("yardsticks", {})
    rows = {}
    for name, milliseconds in found.items():
        size = milliseconds / unit
        ratio = round(size / known[name], 3) if known.get(name) else None
        rows[name] = {"ms": milliseconds, "yardsticks": round(size, 4), "to_kept": ratio}
    return rows


def main() -> int:
    """Measure, compare, and print or keep."""
    parser = script.parser(__doc__)
    parser.add_argument("--keep", action="store_true", help="write the baseline")
    asked = parser.parse_args()
    before = yardstick()
    found = measured()
    after = yardstick()
    unit = min(before, after)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    rows = beside(found, unit, kept)
    slower = [name for name, row in rows.items() if (row["to_kept"] or 0) > SLOWER]
    if asked.keep:
        sizes = {name: row["yardsticks"] for name, row in rows.items()}
        KEPT.write_text(json.dumps({"yardstick_ms": unit, "yardsticks": sizes}, indent=1) + "\n", encoding="utf-8")
    if asked.json:
        result = {"yardstick_ms": {"before": before, "after": after}, "timings": rows, "slower": slower}
        print(json.dumps(result, sort_keys=True))
        return 0
    for name, row in rows.items():
        ratio = "" if row["to_kept"] is None else f"{row['to_kept']:6.2f} of the kept one"
        print(f"{name:8s} {row['ms']:10.3f} ms {row['yardsticks']:9.3f} yardsticks {ratio}")
    print(f"yardstick {before} ms before, {after} ms after; slower than {SLOWER}: {', '.join(slower) or 'none'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

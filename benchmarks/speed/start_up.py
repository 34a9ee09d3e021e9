"""Cold starts: what a newcomer, a CI job and a worker wait for. Medians of separate processes, warmup dropped.

python benchmarks/speed/start_up.py [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 7  # the first one, which may write byte code, is dropped
KEPLER = (r"T = 2\pi\sqrt{\frac{a^3}{GM}}", r"T^2 = \frac{4\pi^2 a^3}{GM}")
COMMANDS = {
    "python alone": ["-c", "pass"],
    "import prism": ["-c", "import prism"],
    "prism check, interpreted kernels": ["-m", "prism", "check", *KEPLER],
    "prism demo of three problems, interpreted kernels": [
        "-m",
        "prism",
        "demo",
        "bucket",
        "free_fall",
        "scoring_figure",
    ],
}


def seconds(arguments: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def median(arguments: list[str], environment: dict[str, str]) -> dict[str, float]:
    runs = sorted([seconds(arguments, environment) for _ in range(RUNS)][1:])
    return {"median_s": round(statistics.median(runs), 3), "min_s": round(runs[0], 3), "max_s": round(runs[-1], 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold start times.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    interpreted = {**os.environ, "PRISM_KERNELS": "interpreted"}
    result = {name: median(arguments, interpreted) for name, arguments in COMMANDS.items()}
    with tempfile.TemporaryDirectory() as cache:
        compiled = {**os.environ, "NUMBA_CACHE_DIR": cache}
        first = seconds(["-m", "prism", "warm"], compiled)
        result["prism warm, first compile"] = {
            "median_s": round(first, 3),
            "min_s": round(first, 3),
            "max_s": round(first, 3),
        }
        result["prism warm, cached"] = median(["-m", "prism", "warm"], compiled)
    if options.json:
        print(json.dumps(result, sort_keys=True))
        return
    for name, row in result.items():
        print(f"{name:36}{row['median_s']:8.3f} s   ({row['min_s']:.3f} to {row['max_s']:.3f})")


if __name__ == "__main__":
    main()

"""Are 1,000 generated problem files the same bytes in every process, and how fast are they made?

Every shipped template is generated in processes with different hash seeds, interpreted and with compiled kernels, and
the digest over names and bytes of all files is compared. The rate is that of one process, its start not counted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
N_FILES = 1000
SLICE = 60  # files of the small run
PROCESSES = (("0", "interpreted"), ("1", "interpreted"), ("2", "compiled"), ("random", "compiled"))


def one_run(n_files: int) -> dict[str, Any]:
    """The digest of the files that this process makes, and its CPU time."""
    from prism.generation.instances import generate
    from prism.generation.loading import template_files
    from prism.generation.preparing import prepare_template
    from prism.generation.template import VARIANTS

    begin = time.process_time()
    prepared = [prepare_template(path) for path in template_files()]
    solved = time.process_time()
    seeds = -(-n_files // (3 * len(prepared)))
    digest, made, size = hashlib.sha256(), 0, 0
    for instance in generate(*prepared, n=seeds, variants=VARIANTS):
        if made == n_files:
            break
        text = instance.toml().encode()
        digest.update(f"{instance.name}\0{len(text)}\0".encode() + text)
        made, size = made + 1, size + len(text)
    return {
        "files": made, "bytes": size, "sha256": digest.hexdigest(), "prepare_s": round(solved - begin, 3),
        "cpu_s": round(time.process_time() - solved, 3),
    }  # fmt: skip


def main() -> int:
    """Run all processes and compare; exit code 1 if two digests differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--slice", action="store_true", help=f"{SLICE} files")
    parser.add_argument("--once", type=int, help="one run of so many files, in this process")
    given = parser.parse_args()
    if given.once:
        print(json.dumps(one_run(given.once)))
        return 0
    n_files = SLICE if given.slice else N_FILES
    runs = []
    for seed, kernels in PROCESSES:
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PRISM_KERNELS": kernels, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, __file__, "--once", str(n_files)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        runs.append({"hash_seed": seed, "kernels": kernels, **json.loads(done.stdout)})
    same = len({run["sha256"] for run in runs}) == 1
    best = min(run["cpu_s"] for run in runs)
    result = {"same": same, "files_a_second_and_core": round(n_files / best, 1), "runs": runs}
    print(json.dumps(result, indent=None if given.json else 1))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

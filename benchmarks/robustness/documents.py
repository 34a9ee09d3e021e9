r"""Files of every type changed at random: each is read or refused in words, and none raises anything else.

For each front end of `prism/latex/documents/` so many files, made from one right solution in its forms by cutting out,
doubling and putting in pieces of its own, of other files, and of what readers look for. What is read is taken apart
into formulas too, as every command does. Told are how many were read, refused, and raised, the first such with its
number, by which it is made again, and the longest time for one file.

    python benchmarks/robustness/documents.py [--count N] [--only FRONT_END] [--slice] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from prism import PrismError, extract  # noqa: E402
from prism.latex.documents.reading import read_document  # noqa: E402
from tests.support.document_mutations import front_ends, mutated_file  # noqa: E402

COUNT, SLICE = 20_000, 150


def fuzz(front_end: str, count: int, folder: Path) -> dict[str, Any]:
    """How many of the changed files of a front end are read, are refused, and raise."""
    found: dict[str, Any] = {"files": count, "read": 0, "refused": 0, "raised": 0, "first_raised": "", "longest_s": 0.0}
    for number in range(count):
        name, raw = mutated_file(front_end, number)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        start = time.process_time()
        try:
            extract(read_document(path).solution)
            found["read"] += 1
        except PrismError:
            found["refused"] += 1
        except Exception as error:  # noqa: BLE001 - what is looked for
            found["raised"] += 1
            found["first_raised"] = found["first_raised"] or f"{number}: {type(error).__name__}: {error}"
        found["longest_s"] = max(found["longest_s"], round(time.process_time() - start, 3))
    return found


def main() -> int:
    """Print a line for each front end, or one JSON object; exit with 1 if anything was raised."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=COUNT, help="files of each front end")
    parser.add_argument("--only", choices=sorted(front_ends()), help="this front end alone")
    parser.add_argument("--slice", action="store_true", help=f"{SLICE} files of each")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in [given.only] if given.only else sorted(front_ends()):
            results[name] = fuzz(name, SLICE if given.slice else given.count, Path(folder))
            if not given.json:
                told = ", ".join(f"{key} {value}" for key, value in results[name].items() if value != "")
                print(f"{name}: {told}", flush=True)
    if given.json:
        print(json.dumps(results, indent=1))
    return int(any(each["raised"] for each in results.values()))


if __name__ == "__main__":
    sys.exit(main())

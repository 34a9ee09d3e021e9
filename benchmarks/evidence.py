"""Run the benchmark scripts and keep what they print, with everything needed to repeat it.

`python benchmarks/evidence.py` runs all of them and writes `results/<name>.json`; with names, only those. `--slice`
runs the small fixed part that CI runs, and keeps nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FAILED = HERE / "failed"
ROOT = HERE.parent
NO_DATA = 77  # exit code of a script whose data is not on this machine
SLICE_JOBS = 2  # scripts side by side where no figure is kept
PACKAGES = ("prism-dag", "lark", "numba", "numpy")


@dataclass(frozen=True, slots=True)
class Script:
    """One benchmark.

    Attributes:
        name: of the result file.
        path: below `benchmarks/`.
        arguments: for the full run; `--json` is added.
        slice_arguments: for the small run; None leaves it out of CI.
        environment: the folder of the one that it runs in, if not in this one.
    """

    name: str
    path: str
    arguments: tuple[str, ...] = ()
    slice_arguments: tuple[str, ...] | None = None
    environment: str = ""


SCRIPTS = (
    Script("graded_cases", "accuracy/graded_cases.py", slice_arguments=()),
    Script("attacks", "accuracy/attacks.py"),  # tests run a fifth of it
    Script("final_answers", "accuracy/final_answers.py"),  # beside Math-Verify, in its own environment
    Script("attack_search", "accuracy/attack_search.py", ("--count", "300000")),  # tests run a few hundred texts
    Script("adversary", "accuracy/adversary.py"),
    Script("near_misses", "accuracy/near_misses.py", slice_arguments=("--slice",)),
    Script("pairs", "accuracy/pairs.py", slice_arguments=("--slice",)),
    Script("beyond", "accuracy/beyond.py", slice_arguments=("--slice",)),
    Script("same_everywhere", "accuracy/same_everywhere.py"),  # tests run its slice
    Script("algorithm1", "accuracy/algorithm1.py"),  # tests replay ten of its pairs
    Script("added_sentences", "accuracy/added_sentences.py"),  # tests run its slice
    Script("renamed_letters", "accuracy/renamed_letters.py"),  # tests run its slice
    Script("reader", "accuracy/reader.py"),
    Script("differential", "accuracy/differential.py"),
    Script("bridges", "accuracy/bridges.py"),  # tests run a slice, and all units
    Script("extraction", "accuracy/extraction.py"),
    Script("fuzz", "accuracy/fuzz.py", slice_arguments=("--slice",)),
    Script("row_twin", "accuracy/row_twin.py"),  # tests run its slice
    Script("worked", "accuracy/worked.py"),
    Script("drafting", "accuracy/drafting.py"),  # tests draft a few solutions of their own
    Script("diagnosis", "accuracy/diagnosis.py"),  # tests run rows of each kind
    Script("agreement", "accuracy/agreement.py", environment=".venv-bench"),  # its oracles are there
    Script("score_comparison", "accuracy/score_comparison.py"),  # tests hold its rows to those of each command
    Script("template_study", "accuracy/template_study.py", slice_arguments=("--slice",)),
    Script("ray", "robustness/ray_run.py"),
    Script("context_speed", "speed/context.py"),
    Script("start_up", "speed/start_up.py"),
    Script("parse_speed", "speed/parse.py", slice_arguments=("--slice",)),
    Script("equivalence_speed", "speed/equivalence.py"),
    Script("server", "speed/server.py"),  # tests start one too, and do not load it
    Script("bulk_speed", "speed/bulk.py"),
    Script("scale", "speed/scale.py"),  # workers that sleep for what their solutions cost
    Script("beside_before", "speed/before.py", ("--every", "4")),  # checks out the tree before
    Script("groups", "speed/groups.py"),  # the same
    Script("growth", "speed/growth.py"),
    Script("timings", "speed/timings.py"),  # those of pytest-benchmark beside the kept baseline
    Script("lines", "lines.py"),  # of code, by folder
    Script("counts", "speed/counts.py"),  # tests hold them to those that are kept
    Script("rewards", "rivals/rewards.py"),
    Script("same_output", "robustness/same_output.py"),
    Script("generated", "robustness/generated.py", slice_arguments=("--slice",)),
    Script("threads", "robustness/threads.py"),
    Script("costs", "robustness/costs.py", ("--sample", "1500", "--jobs", "2")),  # tests run its slice
    Script("calibration", "robustness/calibration.py"),  # tests run its slice
    Script("guided_fuzz", "robustness/fuzz.py"),  # over as many runs as it takes; tests run its slice
    Script("documents_fuzz", "robustness/documents.py"),  # tests run a slice
    Script("server_under_attack", "robustness/server_under_attack.py", ("--only", "attack", "--seconds", "20")),
    Script(
        "server_clients", "robustness/server_under_attack.py", ("--only", "clients", "--seconds", "20", "--rounds", "2")
    ),
    Script("server_soak", "robustness/server_under_attack.py", ("--only", "soak")),
    Script("kills", "robustness/kills.py"),
    Script("report", "robustness/report.py"),  # in Chromium, where there is one
    Script("reward_calls", "speed/rewards.py"),
    Script("reward_batches", "speed/reward_batches.py"),
    Script("framework_examples", "frameworks/examples.py"),  # those whose environments are there
    Script("doors", "frameworks/doors.py"),  # makes environments of its own, once
    Script("endless", "frameworks/endless.py"),  # the same
)


def git(*words: str) -> str:
    """What git says, or an empty string in a tree without history."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def version(package: str) -> str | None:
    """Installed version of a package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def provenance(command: list[str]) -> dict[str, Any]:
    """Where a figure comes from. The date is the commit's: the same commit gives the same file."""
    return {
        "commit": git("rev-parse", "HEAD"),
        "commit_date": git("show", "--no-patch", "--format=%cI", "HEAD"),
        "modified": bool(git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results")),
        "command": shlex.join(["python", *command]),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "versions": {package: version(package) for package in PACKAGES},
    }


def measure(script: Script, *, small: bool) -> bool:
    """Run one script; False if it failed."""
    arguments = (script.slice_arguments or ()) if small else script.arguments
    command = [f"benchmarks/{script.path}", "--json", *arguments]
    python = str(ROOT / script.environment / "bin" / "python") if script.environment else sys.executable
    done = subprocess.run([python, *command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == NO_DATA:
        print(f"{script.name}: skipped, its data is not on this machine")
        return True
    if done.returncode:
        FAILED.mkdir(exist_ok=True)  # what took an hour is not lost for a gate that it did not pass
        (FAILED / f"{script.name}.json").write_text(done.stdout, encoding="utf-8")
        print(f"{script.name}: failed with exit code {done.returncode}; {FAILED.name}/ has its output", file=sys.stderr)
        return False
    result = json.loads(done.stdout)
    if small:
        print(f"{script.name}: {json.dumps(result, sort_keys=True)[:400]}")
        return True
    path = HERE / "results" / f"{script.name}.json"
    path.parent.mkdir(exist_ok=True)
    content = {"name": script.name, **provenance(command), "result": result}
    path.write_text(json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n", encoding="utf-8")
    print(f"{script.name}: wrote {path.relative_to(ROOT)}")
    return True


def main() -> int:
    """Run what was asked for; 1 if any script failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(script.name for script in SCRIPTS) or "none")
    parser.add_argument("--slice", action="store_true", help="the small part that CI runs; nothing is written")
    asked = parser.parse_args()
    if unknown := set(asked.names) - {script.name for script in SCRIPTS}:
        parser.error(f"no script is named {', '.join(sorted(unknown))}")
    chosen = [script for script in SCRIPTS if not asked.names or script.name in asked.names]
    if asked.slice:
        chosen = [script for script in chosen if script.slice_arguments is not None]
    jobs = SLICE_JOBS if asked.slice else 1  # what is timed for the record runs alone
    with ThreadPoolExecutor(jobs) as pool:  # all of them, whatever the first one says
        ran = list(pool.map(partial(measure, small=asked.slice), chosen))
    return 0 if all(ran) else 1


if __name__ == "__main__":
    sys.exit(main())

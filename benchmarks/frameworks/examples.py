"""Run the examples that need a framework, each in the framework's own environment, and keep what they print.

`trl` is two steps of GRPO (`examples/trl_grpo.py`), `verl` its reward managers (`examples/verl/score_rows.py`),
`prompts` the tiny model of the first in the four styles of `prism prompt` (`prompts.py` beside this file). Neither
framework is a dependency, and each wants versions of its own: `make evidence` makes an environment for each. One that
is absent is left out and said so. Seconds are those of the whole process, imports too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import NO_DATA  # noqa: E402

EXAMPLES = {
    "trl": (".venv-trl", ("examples/trl_grpo.py", "--json")),
    "verl": (".venv-verl", ("examples/verl/score_rows.py",)),
    "prompts": (".venv-trl", ("benchmarks/frameworks/prompts.py", "--json")),
}
LONGEST = 1800  # seconds; a run takes one or two minutes, the prompts some more


def ran(name: str, folder: Path) -> dict[str, Any] | None:
    """What an example printed, with its seconds; None without its environment."""
    environment, command = EXAMPLES[name]
    python = folder / environment / "bin" / "python"
    if not python.exists():
        print(f"{name}: no environment {environment}; {command[0]} says how to make it", file=sys.stderr)
        return None
    start, before = time.perf_counter(), _processor()
    done = subprocess.run(
        [str(python), *command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=LONGEST
    )
    seconds = {
        "clock_s": round(time.perf_counter() - start, 1),
        "processor_s": round(_processor() - before, 1),
    }
    return {"command": " ".join(command), **seconds, **json.loads(done.stdout)}


def _processor() -> float:
    """Seconds of the processor of all processes that this one has waited for."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> int:
    parser = script.parser("Run the examples of frameworks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXAMPLES))
    parser.add_argument("--environments", type=Path, default=ROOT, help="folder that holds .venv-trl and .venv-verl")
    asked = parser.parse_args()
    names = asked.names or list(EXAMPLES)
    if unknown := set(names) - set(EXAMPLES):
        parser.error(f"no example is named {', '.join(sorted(unknown))}")
    found = {name: result for name in names if (result := ran(name, asked.environments)) is not None}
    if not found:
        return NO_DATA
    print(json.dumps({**found, "absent": [name for name in names if name not in found]}, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Write what `results/doors.json` says of each framework into the pages: a table, and a line on the page of each door.

    python benchmarks/frameworks/table.py [--check]

The table stands between two markers in `docs/how-to/frameworks.md`, the line between two in the page that ROWS names.
With `--check` nothing is written, and the exit code is 1 where a page says something else.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = ROOT / "docs" / "how-to"
RESULT = ROOT / "benchmarks" / "results" / "doors.json"
START, END = "<!-- doors: written by benchmarks/frameworks/table.py -->", "<!-- end of doors -->"


@dataclass(frozen=True, slots=True)
class Shown:
    """How a framework is shown: its name, the page below `docs/how-to/`, PRISM's door, and what was run."""

    name: str
    page: str
    door: str
    ran: str


ROWS = {
    "trl": Shown(
        "TRL", "frameworks/trl.md", "`TRLReward`, `StepGRPOTrainer`",
        "GRPO of a tiny model on a processor: gold answers, then rewards of steps",
    ),
    "verl": Shown("verl", "frameworks/verl.md", "`verl.compute_score`", "its naive and batch reward managers"),
    "openrlhf": Shown(
        "OpenRLHF", "frameworks/openrlhf.md", "`OpenRLHFReward`, `/get_reward`",
        "its single-turn executor, the reward from a file",
    ),
    "nemo_gym": Shown(
        "NeMo Gym", "frameworks/nemo_gym.md", "`nemo_gym.resources_server`, `/verify`",
        "a resources server of its own class",
    ),
    "reasoning_gym": Shown(
        "reasoning-gym", "train_without_end.md", "`reasoning_gym.register`",
        "its factory, and `score_answer` of entries"
    ),
    "verifiers_0_3": Shown(
        "verifiers 0.3", "frameworks/verifiers.md", "`VerifiersReward`", "a rubric scores a group"
    ),
    "verifiers_0_4": Shown(
        "verifiers 0.4", "frameworks/verifiers.md", "`VerifiersTaskReward`", "a task scores its traces"
    ),
    "inspect": Shown(
        "Inspect AI", "frameworks/inspect.md", "`prism_score`", "a task with a mock model, scores added to its log"
    ),
    "lm_eval": Shown(
        "lm-evaluation-harness", "frameworks/lm_eval.md", "`lm_eval.process_results`",
        "a task with a stand-in for the model",
    ),
    "lighteval": Shown(
        "lighteval", "frameworks/lighteval.md", "`lighteval.prism_metric`", "its metric code and table of results"
    ),
}  # fmt: skip


def outcome(found: dict[str, Any]) -> str:
    """What came of a framework, for a cell of the table."""
    if (fault := found.get("not_run") or found.get("failed")) is not None:
        return f"not run: `{fault.removeprefix('not installed: ')[:160]}`"
    n_other = found["rewards_that_differ_from_run"]
    same = "all" if not n_other else f"{found['rows'] - n_other}"
    return f"{same} of {found['rows']} rewards those of `prism run`, {found['seconds']:g} s"


def version(found: dict[str, Any]) -> str:
    """The version of a framework, with its Python; a dash where it is not there."""
    if "package" not in found:
        return "-"
    (number,) = found["package"].values()
    return f"{number}, Python {found['python']}"


def table(data: dict[str, Any]) -> list[str]:
    """The table of all frameworks."""
    lines = ["| framework | door in `prism.rewards` | version | what ran | result |", "|---|---|---|---|---|"]
    for key, shown in ROWS.items():
        found = data["result"][key]
        cells = (f"[{shown.name}]({shown.page})", shown.door, version(found), shown.ran, outcome(found))
        lines.append(f"| {' | '.join(cells)} |")
    busy = data.get("load_of_the_machine")
    beside = f", beside other work (load {busy[0]:g})" if busy else ""
    ran = f"Run at commit {data['commit'][:10]} by `{data['command']}`, on {data['cores']} cores{beside}."
    return [*lines, "", ran]


def line(key: str, data: dict[str, Any]) -> list[str]:
    """What the page of a door says of the run."""
    found, shown = data["result"][key], ROWS[key]
    told = f"{shown.name}: {version(found)}; {shown.ran}: {outcome(found)}."
    commands = " && ".join(found.get("commands", []))
    lines = [told, f"Installed by `{commands}`; run by `python benchmarks/frameworks/doors.py {key}`."]
    if key == "trl" and "reported" in found:
        lines.append(_training(found["reported"]))
    return lines


def _training(reported: dict[str, Any]) -> str:
    """What the training took."""
    kinds = []
    for kind in ("answers", "steps"):
        one = reported[kind]
        kinds.append(
            f"{kind}: {one['seconds']:g} s, mean reward {one['mean_reward'][0]:.2f} in the first step and"
            f" {one['mean_reward'][-1]:.2f} in the last"
        )
    return f"{reported['updates']} steps of {reported['completions_a_step']} completions ({'; '.join(kinds)})."


def pages(data: dict[str, Any]) -> dict[Path, list[str]]:
    """What stands between the markers of each page."""
    found = {HOW_TO / "frameworks.md": table(data)}
    for key, shown in ROWS.items():
        found.setdefault(HOW_TO / shown.page, []).extend(line(key, data))
    return found


def written(text: str, lines: list[str]) -> str:
    """A page with other lines between its markers."""
    before, found, rest = text.partition(START)
    _, ended, after = rest.partition(END)
    assert found, "no marker"
    assert ended, "no marker"
    return f"{before}{START}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"


def main() -> int:
    """0 if all pages say what the result says, or were written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    stale = []
    for page, lines in pages(json.loads(RESULT.read_text("utf-8"))).items():
        text = page.read_text("utf-8")
        if (new := written(text, lines)) != text:
            stale.append(page)
            if not asked.check:
                page.write_text(new, encoding="utf-8")
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'other figures' if asked.check else 'written'}", file=sys.stderr)
    return int(asked.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())

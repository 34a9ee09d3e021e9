r"""Groups of samples on one problem, as a step of training has them: how much a group gains, in this tree and before.

*Models*: the responses of several models to one problem, of `robustness/same_grades.py`: 2 to 5 a group, as many as the
collection has. *Paraphrases*: eight samples that a policy might draw, made by a script from one response: each keeps
three quarters of its paragraphs by chance, writes some symbols otherwise (`\frac` as `\dfrac`, spaces, dots of
products), swaps the sides of some equations, and one in eight of its numbers is another. They stand in for a
policy's own samples, which no collection has; no copies among them.

*Alone*: each response as the first of its group, with nothing remembered. *In its group*: the same responses one after
the other in one process. Each group goes to this tree and then to the tree before. *Batch*: `prism run` with one worker
over all groups in their order, less a run over one rollout, whose time is the start.

    python benchmarks/speed/groups.py [--base COMMIT] [--data FOLDER] [--every N] [--slice] [--json]
"""

from __future__ import annotations

import json
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from benchmarks.processes import done  # noqa: E402
from benchmarks.rivals.rewards import LIMIT  # noqa: E402
from benchmarks.rivals.workers import asked  # noqa: E402
from benchmarks.speed.before import BEFORE, grader, read_material, trees  # noqa: E402

Group = tuple[dict[str, Any], list[str]]  # a problem and the texts of its group

SAMPLES = 8  # of a policy on one problem
SMALLEST = 3  # responses of models to one problem that make a group
PARAPHRASED = 6  # one response in so many is paraphrased
SLICE = 12  # of a slice, only every so-manieth group
KEPT, CHANGED, OTHER = 0.75, 0.3, 0.125  # chances: of a paragraph, of a spelling, of a number

_SPELLINGS = ((r"\frac", r"\dfrac"), (r"\cdot", r"\times"), (" = ", "="), (r"\left(", "("), ("+", " + "))
_EQUATION = re.compile(r"\$([^$=\n]{1,80}) = ([^$=\n]{1,80})\$")
_NUMBER = re.compile(r"(?<![\d.^_{])([2-9])(?![\d.])")


def paraphrased(text: str, seed: int) -> str:
    """A text as the same policy might have written it another time; the same seed gives the same text."""
    rng = random.Random(seed)
    kept = [part for part in text.split("\n\n") if rng.random() < KEPT]
    return "\n\n".join(_rewritten(part, rng) for part in kept)


def _rewritten(part: str, rng: random.Random) -> str:
    for old, new in _SPELLINGS:
        if rng.random() < CHANGED and not (old == r"\left(" and r"\right)" not in part):
            part = part.replace(old, new)
            part = part.replace(r"\right)", ")") if old == r"\left(" else part
    part = _EQUATION.sub(lambda m: f"${m[2]} = {m[1]}$" if rng.random() < CHANGED else m[0], part)
    return _NUMBER.sub(lambda m: str(int(m[1]) + 1) if rng.random() < OTHER * CHANGED else m[0], part)


def of_models(problems: dict[str, Any], rollouts: Sequence[dict[str, Any]]) -> list[Group]:
    """Responses of several models to one problem, the most numerous first."""
    rows = sorted(rollouts, key=lambda row: str(row["problem_id"]))
    groups = [(key, [row["response"] for row in each]) for key, each in groupby(rows, lambda row: row["problem_id"])]
    groups = [group for group in groups if len(group[1]) >= SMALLEST]
    return [(problems[name], texts) for name, texts in sorted(groups, key=lambda group: -len(group[1]))]


def of_a_policy(problems: dict[str, Any], rollouts: Sequence[dict[str, Any]]) -> list[Group]:
    """Paraphrases of some responses."""
    chosen = rollouts[::PARAPHRASED]
    return [(problems[row["problem_id"]], [paraphrased(row["response"], k) for k in range(SAMPLES)]) for row in chosen]


def measure(data: Path, base: str, every: int) -> dict[str, Any]:
    """Both kinds of groups, every so-manieth of each."""
    material = read_material(data)
    kinds = {"models": of_models(*material)[::every], "paraphrases": of_a_policy(*material)[::every]}
    return {"base": base, **{kind: _kind(groups, base) for kind, groups in kinds.items()}}


def _kind(groups: Sequence[Group], base: str) -> dict[str, Any]:
    """One kind of groups in both trees, in turn."""
    items: list[Any] = []
    for problem, texts in groups:
        items += [(problem, texts), *((problem, [text]) for text in texts)]
    running = [asked(grader(tree), items, {}, limit=len(texts) * LIMIT) for tree in trees(base).values()]
    turns = list(zip(*running, strict=True))
    found: dict[str, Any] = {name: _table(items, [turn[k] for turn in turns]) for k, name in enumerate(trees(base))}
    for name, tree in trees(base).items():
        found[name]["batch"] = _batch(groups, tree)
    ours, before = (found[name] for name in trees(base))
    rates = ("alone_a_second", "in_its_group_a_second", "others_a_second")
    return {
        "groups": len(groups), "sizes": sorted({len(texts) for _, texts in groups}), **found,
        "ratios": {rate: round(ours[rate] / before[rate], 2) for rate in rates if before[rate] and ours[rate]},
    }  # fmt: skip


def _table(items: Sequence[Any], answers: Sequence[Any]) -> dict[str, Any]:
    """Rates alone, in a group, and of the others of a group than its first."""
    alone: list[float] = []
    grouped: list[float] = []
    others: list[float] = []
    formulas = 0
    for (_, texts), answer in zip(items, answers, strict=True):
        cpu = answer.content["cpu"] if answer.status == "graded" else [LIMIT] * len(texts)
        if len(texts) == 1:
            alone += cpu
        else:
            grouped += cpu
            others += cpu[1:]
            formulas += sum(answer.content["formulas"]) if answer.status == "graded" else 0
    return {
        "responses": len(alone), "formulas": formulas, "alone_a_second": _rate(alone),
        "in_its_group_a_second": _rate(grouped), "others_a_second": _rate(others),
        "alone_median_ms": round(1e3 * statistics.median(alone), 2),
        "others_median_ms": round(1e3 * statistics.median(others), 2),
    }  # fmt: skip


def _rate(times: Sequence[float]) -> float:
    return round(len(times) / sum(times), 2)


def _batch(groups: Sequence[Group], tree: Path) -> dict[str, Any]:
    """A run of one worker over all groups, less its start."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problems = {problem["id"]: problem for problem, _ in groups}
        (folder / "problems.jsonl").write_text("".join(json.dumps(each) + "\n" for each in problems.values()))
        lines = [
            json.dumps({"problem_id": problem["id"], "sample_id": f"{n} {k}", "response": text}) + "\n"
            for n, (problem, texts) in enumerate(groups) for k, text in enumerate(texts)
        ]  # fmt: skip
        runs = {}
        for kind, some in (("start", lines[:1]), ("all", lines)):
            (folder / f"{kind}.jsonl").write_text("".join(some))
            problem_file, rollouts, out = (folder / f"{part}.jsonl" for part in ("problems", kind, f"{kind}.out"))
            runs[kind] = done([problem_file, rollouts, "-o", out, "--workers", "1"], tree=tree)
    cpu = runs["all"].cpu - runs["start"].cpu
    return {
        "rollouts": len(lines), "a_processor_second": round((len(lines) - 1) / cpu, 2),
        "worker_peak_mb": round(runs["all"].worker_kb / 1024, 1),
    }  # fmt: skip


def main() -> int:
    parser = script.parser("Time groups of samples on one problem, in this tree and before.", data=DATA)
    parser.add_argument("--base", default=BEFORE, help="commit of the tree before")
    parser.add_argument("--every", type=int, default=1, help="only every N-th group")
    parser.add_argument("--slice", action="store_true", help=f"only every {SLICE}th group")
    options = parser.parse_args()
    script.require(options.data / "rollouts.jsonl")
    result = measure(options.data, options.base, SLICE if options.slice else options.every)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, values in result.items():
            print(f"{name}: {values}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The same model responses under six scores, all by rule, and beside the grades that were published with them.

The responses and problems are those of `rollout_problems.py`: the DAGs are drafted by rule from worked solutions, and
nobody has looked at them. So the figures say how differently the scores read the same matches, and not which of them is
right. What no rule decides is null; it is counted, and correlations are given with every null at its worst and at its
best too.

    python benchmarks/accuracy/score_comparison.py [--data FOLDER] [--workers N] [--rollouts N] [--page FILE] [--json]

It does what `prism protocol compare --rules PROBLEMS ROLLOUTS` does, and keeps figures only: no text and no id.
`--page` writes that command's page, which stays on this machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import rollout_problems  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from prism.problem.collection import load_problems  # noqa: E402
from prism.problem.schema import Problem  # noqa: E402
from prism.protocols.engtrace.steps import Variant, read_trace  # noqa: E402
from prism.protocols.graded_rollouts import grade_rollouts  # noqa: E402
from prism.protocols.rows import row_dicts, summarize  # noqa: E402
from prism.protocols.side_by_side import DECIDED, SideBySide, find_beside, gold_of, rows_side_by_side  # noqa: E402
from prism.reports.comparison.scores import (  # noqa: E402
    BoundedScore,
    ScoreColumn,
    ScoreComparison,
    columns_of_rows,
    compare_scores,
)
from prism.reports.html.whole_pages import score_comparison_page  # noqa: E402
from prism.runs.rollouts import read, scan  # noqa: E402

PUBLISHED = "published"  # the grade of the final answer that came with the responses: by sympy and a judge model
PATIENCE = 3600  # seconds for one response, so that a busy machine kills none
WIDE = 0.25  # a spread of ranks from which on a response counts as one that scores disagree on


def published_grades(folder: Path) -> ScoreColumn:
    """The grades that were published with the responses, by the ids of `rollout_problems`."""
    lines = (folder / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    entries = {}
    for row in map(json.loads, lines):
        grade = float(row["graded_correct"])
        entries[row["id"], f"{row['id']} | {row['model']}"] = BoundedScore(grade, grade, grade)
    return ScoreColumn(PUBLISHED, entries)


def score(folder: Path, workers: int, limit: int) -> tuple[SideBySide, Mapping[str, Problem]]:
    """All rows of the responses of a folder."""
    with TemporaryDirectory() as name:
        problems, rollouts = rollout_problems.write(rollout_problems.material(folder), Path(name))
        if limit:
            lines = rollouts.read_text(encoding="utf-8").splitlines(keepends=True)
            rollouts.write_text("".join(lines[:: -(-len(lines) // limit)]), encoding="utf-8")
        known = load_problems(problems)
        found = read(rollouts, scan(rollouts, known).fields, known)
        graded = grade_rollouts(known, found, then=find_beside, workers=workers, kill_after=PATIENCE)
        return rows_side_by_side(graded, known), known


def columns_of(rows: SideBySide, folder: Path) -> list[ScoreColumn]:
    """The scores that are compared."""
    columns = columns_of_rows(rows.scores)
    for name, own in rows.protocols.items():
        columns += columns_of_rows(row_dicts(own), policies=[DECIDED] if name == "engjudge" else [])
    published = published_grades(folder)
    shared = {key: one for key, one in published.entries.items() if key in columns[0].entries}
    return [*columns, ScoreColumn(PUBLISHED, shared)]


def without_ids(found: ScoreComparison) -> dict[str, Any]:
    """The comparison as plain values; of disagreements their number by the two scores, as the material stays here."""
    data = found.to_dict()
    wide = [one for one in found.disagreements if one.spread >= WIDE]
    pairs = Counter(f"{one.lower} below {one.higher}" for one in wide)
    data["disagreements"] = {
        "responses": len(found.disagreements), "wide": len(wide), "wide_from": WIDE,
        "widest": round(found.disagreements[0].spread, 4) if found.disagreements else None,
        "wide_by_scores": dict(sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0]))),
    }  # fmt: skip
    return data


def why_null(rows: SideBySide, known: Mapping[str, Problem]) -> dict[str, Any]:
    """What the rows say of themselves: parts by basis, rows by note; and golds in which EngTrace finds no number."""
    variants = {"psas": "released", "engtrace": "paper", "engjudge": "full"}
    counts = {
        name: {
            key: value
            for key, value in summarize(own, protocol=name, variant=variants[name]).to_dict().items()
            if key in ("statuses", "parts_by_basis", "rows_by_note")
        }
        for name, own in rows.protocols.items()
    }
    traces = {name: read_trace(gold_of(problem).solution, Variant.PAPER) for name, problem in known.items()}
    numbers = {name: sum(step.value is not None for step in trace.steps) for name, trace in traces.items()}
    ids = [row["problem_id"] for row in rows.scores]
    counts["engtrace"]["responses_whose_gold_has_no_number"] = sum(not numbers[name] for name in ids)
    counts["engtrace"]["gold_steps"] = sum(len(traces[name].steps) for name in ids)
    counts["engtrace"]["gold_steps_with_a_number"] = sum(numbers[name] for name in ids)
    return counts


def tables(found: Mapping[str, Any]) -> list[str]:
    """The figures of a result as the two tables of `docs/reference/protocol_compare.md`, in Markdown."""
    lines = ["| score | null | mean | null at worst | null at best |", "|---|---|---|---|---|"]
    for one in found["scores"]:
        mean = "none" if one["mean"]["value"] is None else f"{one['mean']['value']:.3f}"
        lines.append(f"| `{one['score']}` | {one['null']} | {mean} | {one['mean_low']:.3f} | {one['mean_high']:.3f} |")
    lines += ["", "| scores | tau_b | 95 % | n | null at worst | null at best |", "|---|---|---|---|---|---|"]
    for each in found["agreements"]:
        tau = each["kendall_tau_b"]
        ends = [each[f"kendall_tau_b_null_at_{end}"]["value"] for end in ("low", "high")]
        value, low, high, *bounds = (
            "none" if number is None else f"{number:.3f}" for number in (tau["value"], tau["low"], tau["high"], *ends)
        )
        interval = "none" if "none" in (low, high) else f"{low} to {high}"
        names = " and ".join(f"`{name}`" for name in each["scores"])
        lines.append(f"| {names} | {value} | {interval} | {tau['n']} | {bounds[0]} | {bounds[1]} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="The same responses under six scores.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rollouts", type=int, default=0, help="about so many, spread evenly; 0 for all")
    parser.add_argument("--page", type=Path, help="also the page")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    options = parser.parse_args()
    if not rollout_problems.is_here(options.data):
        return NO_DATA
    rows, known = score(options.data, options.workers, options.rollouts)
    columns = columns_of(rows, options.data)
    found = compare_scores(columns, top=len(rows.scores))
    if options.page:
        shown = compare_scores(columns)
        options.page.write_text(score_comparison_page(shown, columns), encoding="utf-8")
    data = {**without_ids(found), "protocols": why_null(rows, known)}
    if options.json:
        print(json.dumps(data, sort_keys=True))
        return 0
    for one in found.figures:
        print(f"{one.name}: {one.n} responses, {one.n_null} null, mean {one.mean.value}")
    for each in found.agreements:
        print(f"{' and '.join(each.names)}: tau_b {each.tau_b.value} (n {each.tau_b.n})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

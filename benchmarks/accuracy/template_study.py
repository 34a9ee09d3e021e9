"""Do variants of generated problems tell a solver that reasons from one that remembers? All shipped templates.

Of each template the original and 15 seeds in three variants are made, and every solution that comes with them is
graded. A solver is one of these solutions for each variant: `reasons` writes the right one everywhere; `remembers`
writes right formulas everywhere, and of the numbers those of an instance that it has seen, which are right for the
original only; `recites` hands over the final numbers of the original whatever is asked; a solver with one fault makes
it everywhere. So what the differences should be is known, and the table shows whether the grades give it.

Original and drawn ones are paired by template, the variants of a seed by seed; intervals draw templates.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np

import prism
from prism.generation.instances import generate
from prism.generation.loading import template_files
from prism.generation.template import VARIANTS
from prism.reports.paired_tests import Differences, paired_tests

SEEDS = 15
SLICE = ("braking", "pulley"), 2  # templates and seeds of the small run
FAULTS = ("fault-sign", "fault-factor", "fault-exponent", "fault-symbol", "slip", "unit")
PAIRS = (("original", "perturbed"), ("knowledge", "perturbed"), ("abstract", "perturbed"))

Scores = dict[tuple[str, str, str, int], tuple[float, bool]]  # solver, variant, template, seed -> score, finals right


def solutions(made: Any, of_original: Mapping[str, str]) -> dict[str, str]:
    """What each solver writes for an instance; `of_original` are the solutions to the original of its template."""
    own = {each["name"]: each["solution"] for each in made.data["students"]}
    written = {"reasons": own["gold"], **{name: own[name] for name in FAULTS if name in own}}
    if made.variant == "original":
        written["remembers"] = own["gold"]
    elif "memorised" in own:
        written["remembers"] = own["memorised"]
    if "finals" in of_original:
        written["recites"] = of_original["finals"]
    return written


def graded(names: list[str], n: int) -> tuple[Scores, dict[str, int]]:
    """The grades of all solvers, and how many solutions that carry a label were graded and how many differ from it."""
    scores: Scores = {}
    counts = {"instances": 0, "labelled": 0, "not_as_labelled": 0}
    for name in names:
        original: dict[str, str] = {}
        for made in generate(name, n=n, variants=VARIANTS):
            counts["instances"] += 1
            problem = prism.load_problem(dict(made.data))
            if made.variant == "original":
                original = {each["name"]: each["solution"] for each in made.data["students"]}
            ready = prism.prepare(problem)
            for student in problem.students:
                assert student.expected is not None
                result = prism.grade(ready, student.solution)
                differs = set(result.matched) ^ set(student.expected.matched)
                counts["labelled"] += 1
                counts["not_as_labelled"] += not differs <= set(student.expected.debatable)
            for solver, text in solutions(made, original).items():
                result = prism.grade(ready, text)
                scores[solver, made.variant, name, made.seed] = (result.score or 0.0, result.final_correct)
    return scores, counts


def means(scores: Scores, solver: str) -> dict[str, dict[str, float]]:
    """Mean score and final accuracy of a solver by variant, each template with the same weight."""
    found = {}
    for variant in VARIANTS:
        by_template = defaultdict(list)
        for (name, kind, template, _), row in scores.items():
            if (name, kind) == (solver, variant):
                by_template[template].append(row)
        if by_template:
            found[variant] = {
                "score": round(fmean(fmean(row[0] for row in rows) for rows in by_template.values()), 4),
                "final": round(fmean(fmean(row[1] for row in rows) for rows in by_template.values()), 4),
                "templates": len(by_template),
            }
    return found


def differences(scores: Scores, solver: str, names: list[str]) -> dict[str, Any]:
    """The paired differences of a solver between variants, with intervals that draw templates."""
    compared: dict[str, Differences] = {}
    for first, second in PAIRS:
        for at, measure in ((0, "score"), (1, "final")):
            values, clusters = [], []
            for (name, kind, template, seed), row in scores.items():
                before = (name, first, template, 0 if first == "original" else seed)
                if (name, kind) == (solver, second) and before in scores:
                    values.append(float(row[at]) - float(scores[before][at]))
                    clusters.append(names.index(template))
            if values:
                compared[f"{measure}: {second} - {first}"] = Differences(np.array(values), np.array(clusters))
    return {key: test.to_dict() for key, test in zip(compared, paired_tests(list(compared.values())), strict=True)}


def main() -> None:
    """Grade, and print means and differences as JSON, or as the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--slice", action="store_true", help="two templates, two seeds")
    given = parser.parse_args()
    names = list(SLICE[0]) if given.slice else [path.stem for path in template_files()]
    scores, counts = graded(names, SLICE[1] if given.slice else SEEDS)
    solvers = ("reasons", "remembers", "recites", *FAULTS)
    result = {
        "templates": len(names), **counts,
        "solvers": {
            solver: {"means": means(scores, solver), "differences": differences(scores, solver, names)}
            for solver in solvers if any(key[0] == solver for key in scores)
        },
    }  # fmt: skip
    print(json.dumps(result) if given.json else table(result))


def interval(test: dict[str, Any] | None) -> str:
    """A difference with its interval, if it has one."""
    if test is None:
        return ""
    if test["low"] is None:
        return f"{test['difference']:+.3f}"
    return f"{test['difference']:+.3f} [{test['low']:+.3f}, {test['high']:+.3f}]"


def table(result: dict[str, Any]) -> str:
    """The table of the page, in Markdown."""
    lines = [
        "| solver | original | perturbed | difference of scores, 95 % | finals: original | perturbed | difference |",
        "|---|---|---|---|---|---|---|",
    ]
    for solver, found in result["solvers"].items():
        cells = [solver]
        for measure in ("score", "final"):
            cells += [f"{found['means'].get(kind, {}).get(measure, float('nan')):.3f}" for kind in VARIANTS[:2]]
            test = found["differences"].get(f"{measure}: perturbed - original")
            cells.append(interval(test))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

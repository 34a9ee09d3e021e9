"""Do variants of generated problems tell a solver that reasons from one that remembers? All shipped templates.

Of each template the original and 15 seeds in three variants are made, and every solution that comes with them is
graded. A solver is one of these solutions for each variant: `reasons` writes the right one everywhere; `remembers`
writes right formulas everywhere, and of the numbers those of an instance that it has seen, which are right for the
original only; `recites` hands over the final numbers of the original whatever is asked; a solver with one fault makes
it everywhere. So what the differences should be is known, and the table shows whether the grades give it.

Means and differences are those of `prism report --by model --across variant`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

import prism
from prism.generation.instances import generate
from prism.generation.loading import template_files
from prism.generation.template import VARIANTS
from prism.reports.cross_tables import Crossing, cross_data_table, cross_table, variant_differences, variant_table
from prism.reports.report_rows import ReportRow, row_frame
from prism.reports.table_formats import as_markdown

SEEDS = 15
SLICE = ("braking", "pulley"), 2  # templates and seeds of the small run
FAULTS = ("fault-sign", "fault-factor", "fault-exponent", "fault-symbol", "slip", "unit")
REPLICATES = 1000


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


def graded(names: list[str], n: int) -> tuple[list[ReportRow], dict[str, int]]:
    """The rows of all solvers, and how many solutions that carry a label were graded and how many differ from it."""
    rows: list[ReportRow] = []
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
                rows.append(ReportRow(len(rows) + 1, result, solver, True, fields={"model": solver}, problem=problem))
    return rows, counts


def main() -> None:
    """Grade, and print means and differences as JSON, or as tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--slice", action="store_true", help="two templates, two seeds")
    given = parser.parse_args()
    names = list(SLICE[0]) if given.slice else [path.stem for path in template_files()]
    rows, counts = graded(names, SLICE[1] if given.slice else SEEDS)
    frame = row_frame(rows)
    means = cross_table(frame, Crossing(("model",), ("variant",)), replicates=REPLICATES)
    differences = variant_differences(frame, means, replicates=REPLICATES)
    assert differences is not None
    if given.json:
        found = {"means": means.to_dict()["cells"], "differences": differences.to_dict()["differences"]}
        print(json.dumps({"templates": len(names), **counts, **found}))
    else:
        print(as_markdown(cross_data_table(means)), as_markdown(variant_table(differences)), sep="\n")


if __name__ == "__main__":
    main()

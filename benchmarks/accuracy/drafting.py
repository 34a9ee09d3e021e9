r"""Drafts by rule: how good are they, held against DAGs that people made and against the solutions they come from?

*Drafts*: every fourth row of `worked.jsonl` (`--all`: every row) is drafted from its solution. Counted: faults and
warnings of the linter, nodes that the same solution matches when it is graded against its draft, nodes a file, what was
left out and why, and how many of the answers that the row records a final node states, or any node, though the draft is
not told them.

*Edges*, against the DAGs that people made, in the folder of labelled cases and in `dags/`: precision and recall of the
direct edges and of the ancestor relation, which is what a score uses. *Given the nodes*: the rules of
`prism.authoring.dependencies` on the hand-made nodes in their order. *From a solution*: the best labelled solution is
drafted, its nodes are joined to the hand-made ones that they match, and ancestors are compared among those. Beside both
stand two naive rules: each formula from the one before it, and each from every earlier one that has a symbol of it. The
rules were tuned on the folder of cases and on `dags/` together; nothing is held out but the drafts of `worked.jsonl`.

*Marking schemes*: every row of `marking_rubrics.jsonl` through `prism.authoring.converting`.

    python benchmarks/accuracy/drafting.py [--data FOLDER] [--all] [--verbose] [--json]
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from prism import PrismError, Problem, grade, lint, load_problem  # noqa: E402
from prism.algebra.expr import Formula, symbols_of  # noqa: E402
from prism.authoring.candidates import answer_index, statement_context  # noqa: E402
from prism.authoring.converting import convert  # noqa: E402
from prism.authoring.dependencies import infer_dependencies  # noqa: E402
from prism.authoring.drafting import draft  # noqa: E402
from prism.authoring.drafts import Draft  # noqa: E402
from prism.authoring.importers.entries import AnswerKind, RecordedAnswer  # noqa: E402
from prism.authoring.importers.recorded_answers import answer_nodes, in_dollars  # noqa: E402
from prism.physics.context import parse  # noqa: E402

WORKED, SCHEMES = "worked.jsonl", "marking_rubrics.jsonl"
EVERY = 4
Edges = dict[int, frozenset[int]]
Rule = Callable[[Sequence[Formula], Problem], Edges]


# Drafts of worked solutions --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Drafts:
    """What became of the rows."""

    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    sizes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)


def draft_row(row: Mapping[str, Any], found: Drafts) -> None:
    """One row: its draft, linted, loaded from its TOML and graded with its own solution."""
    found.counts["rows"] += 1
    start = time.perf_counter()
    try:
        made = draft(row["solution"], problem=row["problem"], name=row["id"])
    except PrismError as error:
        found.counts["rows without a node"] += 1
        found.told.append(f"{row['id']}: {error}")
        return
    found.seconds.append(time.perf_counter() - start)
    problem = load_problem(made.data)
    for finding in lint(problem):
        found.counts[f"{finding.kind}s"] += 1
        found.codes[f"{finding.kind} {finding.code}"] += 1
        if finding.kind == "fault":
            found.told.append(f"{row['id']}: fault: {finding}")
    _count_recorded(row, made, found)
    result = grade(problem, row["solution"])
    found.counts["nodes"] += len(problem.nodes)
    found.counts["nodes matched by their own solution"] += len(result.matched)
    found.counts["files of full score"] += result.score == 1.0
    found.counts["files with the final answers matched"] += result.final_correct
    found.sizes.append(len(problem.nodes))
    found.left_out.update(_reason(each.why) for each in made.left_out)
    found.rules.update(edge.why for node in made.nodes for edge in node.edges if not edge.is_implied)
    if result.missing or not result.final_correct:
        shown = ", ".join(made.nodes[index - 1].latex for index in result.missing)
        found.told.append(f"{row['id']}: not matched by its own solution: {shown}")


def _count_recorded(row: Mapping[str, Any], made: Draft, found: Drafts) -> None:
    """Count the recorded answers that a final node of the draft states, and those that any node does."""
    listed = row.get("answer") or []
    unit = row.get("unit", "") if isinstance(listed, str) else ""
    context = statement_context(row["problem"])
    formulas = [parse(node.latex, context=context) for node in made.nodes]
    finals = [f for f, node in zip(formulas, made.nodes, strict=True) if node.is_final]
    for text in [listed] if isinstance(listed, str) else listed:
        try:
            nodes = answer_nodes(RecordedAnswer(text, AnswerKind.UNKNOWN, unit), row["problem"])
            stated = [[answer_index(in_dollars(each.latex), some, context) is not None for each in nodes]
                      for some in (finals, formulas)]  # fmt: skip
        except PrismError:
            continue
        found.counts["recorded answers"] += 1
        found.counts["recorded answers in a final node"] += all(stated[0])
        found.counts["recorded answers in a node"] += all(stated[1])


def _reason(why: str) -> str:
    """A reason without what it says of one formula."""
    for begin in ("not read", "the same as", "the problem states it", "a copy of it does not match it", "nodes "):
        if why.startswith(begin):
            return begin.strip()
    return why


def drafts_table(found: Drafts) -> dict[str, Any]:
    """The figures of the first question."""
    milliseconds = sorted(1000 * each for each in found.seconds)
    return {
        **dict(sorted(found.counts.items())),
        "nodes_per_file": {"median": statistics.median(found.sizes), "largest": max(found.sizes)},
        "findings": dict(sorted(found.codes.items())),
        "left_out": dict(found.left_out.most_common()),
        "edges_by_rule": dict(found.rules.most_common()),
        "ms_per_file": {
            "median": round(statistics.median(milliseconds)), "largest": round(milliseconds[-1]),
        },
    }  # fmt: skip


# Edges against those that people drew ----------------------------------------------------------------------------


@dataclass(slots=True)
class Counts:
    """Edges that both have, that the rule has, and that people drew."""

    both: int = 0
    drawn: int = 0
    wanted: int = 0

    def add(self, drawn: Edges, wanted: Edges) -> None:
        """Count the edges of one problem."""
        for index, mine in drawn.items():
            self.both += len(mine & wanted[index])
            self.drawn += len(mine)
            self.wanted += len(wanted[index])

    def table(self) -> dict[str, Any]:
        """Precision, recall and their harmonic mean, with n."""
        precision = self.both / self.drawn if self.drawn else 0.0
        recall = self.both / self.wanted if self.wanted else 0.0
        mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return {
            "precision": round(precision, 3), "recall": round(recall, 3), "f1": round(mean, 3),
            "drawn": self.drawn, "hand_made": self.wanted,
        }  # fmt: skip


def by_rules(formulas: Sequence[Formula], problem: Problem) -> Edges:
    """The edges of `prism.authoring.dependencies`."""
    finals = {k for k, node in enumerate(problem.nodes) if node.is_final}
    made = infer_dependencies(formulas, finals, problem.context)
    return {k: frozenset(edge.origin for edge in edges if not edge.is_implied) for k, edges in enumerate(made.edges)}


def in_a_chain(formulas: Sequence[Formula], problem: Problem) -> Edges:
    """Each formula from the one before it."""
    return {k: frozenset((k - 1,)) if k else frozenset() for k in range(len(formulas))}


def by_symbols(formulas: Sequence[Formula], problem: Problem) -> Edges:
    """Each formula from every earlier one that has a symbol of it."""
    names = [symbols_of(f) for f in formulas]
    return {k: frozenset(j for j in range(k) if names[j] & mine) for k, mine in enumerate(names)}


RULES: dict[str, Rule] = {"rules": by_rules, "each from the one before": in_a_chain, "any shared symbol": by_symbols}


def ancestors(edges: Edges) -> Edges:
    """All that each formula rests on."""
    found: dict[int, frozenset[int]] = {}
    for index in sorted(edges):
        found[index] = edges[index].union(*(found[earlier] for earlier in edges[index]))
    return found


def hand_made(problem: Problem) -> Edges:
    """The edges that a person drew, by place."""
    places = problem.dag.positions
    return {places[node.index]: frozenset(places[index] for index in node.prerequisites) for node in problem.dag.nodes}


def edges_given_nodes(problems: Sequence[Problem]) -> dict[str, Any]:
    """Each rule on the hand-made nodes, in their order."""
    table: dict[str, Any] = {}
    for name, rule in RULES.items():
        direct, closed = Counts(), Counts()
        for problem in problems:
            drawn, wanted = rule([node.formula for node in problem.nodes], problem), hand_made(problem)
            direct.add(_direct(drawn), wanted)
            closed.add(ancestors(drawn), ancestors(wanted))
        table[name] = {"direct": direct.table(), "ancestors": closed.table()}
    return table


def _direct(edges: Edges) -> Edges:
    """Edges without those that the others imply."""
    closed = ancestors(edges)
    return {
        index: frozenset(origin for origin in mine if not any(origin in closed[other] for other in mine - {origin}))
        for index, mine in edges.items()
    }


def edges_of_drafts(problems: Sequence[Problem]) -> dict[str, Any]:
    """The best labelled solution of each problem drafted, its nodes joined to the hand-made ones that they match."""
    counts = {name: Counts() for name in RULES}
    n_node = n_met = n_drafted = n_used = 0
    for problem in problems:
        solutions = [each for each in problem.students if each.expected and not each.expected.alternative]
        best = max(solutions, key=lambda each: len(each.expected.matched) if each.expected else 0)
        texts = [problem.statement, *(f"({part.letter}) {part.text}" for part in problem.subquestions if part.text)]
        try:
            made = draft(best.solution, problem="\n\n".join(texts), name=problem.id)
        except PrismError:
            n_node += len(problem.nodes)
            continue
        places = _joined(made, problem)
        n_node, n_met = n_node + len(problem.nodes), n_met + len(places)
        n_drafted, n_used = n_drafted + len(made.nodes), n_used + len({k for own in places.values() for k in own})
        loaded = load_problem(made.data)
        wanted = ancestors(hand_made(problem))
        for name, rule in RULES.items():
            edges = hand_made(loaded) if rule is by_rules else rule([node.formula for node in loaded.nodes], loaded)
            closed = ancestors(edges)
            drawn = {
                index: frozenset(
                    other for other, theirs in places.items()
                    if other != index and any(a in closed[b] for a in theirs for b in places[index])
                )
                for index in places
            }  # fmt: skip
            counts[name].add(drawn, {index: wanted[index] & places.keys() for index in places})
    return {
        "hand_made_nodes": n_node, "met_by_a_drafted_node": n_met, "drafted_nodes": n_drafted,
        "that_meet_a_hand_made_node": n_used,
        "ancestors": {name: each.table() for name, each in counts.items()},
    }  # fmt: skip


def _joined(made: Draft, problem: Problem) -> dict[int, frozenset[int]]:
    """Of each hand-made node, by place, the places of the drafted nodes that match it as a student's formula would."""
    found: dict[int, set[int]] = {}
    for place, node in enumerate(made.nodes):
        result = grade(problem, f"We find $$ {node.latex} $$")
        for item in result.formulas:
            told = (*item.nodes, *(index for index, _ in item.withheld))
            for index in told:
                found.setdefault(problem.dag.positions[index], set()).add(place)
    return {index: frozenset(places) for index, places in found.items()}


# Marking schemes --------------------------------------------------------------------------------------------------


def schemes_table(path: Path) -> dict[str, Any]:
    """Every scheme of a file converted, loaded and linted."""
    start = time.perf_counter()
    made = convert(path)
    seconds = time.perf_counter() - start
    findings = Counter(f"{finding.kind}s" for each in made.problems for finding in lint(each.data))
    problems = [load_problem(each.data) for each in made.problems]
    kept = sum((node.points for problem in problems for node in problem.nodes), Fraction(0))
    lost = sum((each.lost for each in made.problems), Fraction(0))
    return {
        "schemes": len(made.problems) + len(made.faults), "problems": len(made.problems),
        "without_a_formula": len(made.faults), **dict(sorted(findings.items())),
        "nodes": sum(len(problem.nodes) for problem in problems),
        "accepted_forms": sum(len(node.accept) for problem in problems for node in problem.nodes),
        "points_kept": float(kept), "points_of_criteria_in_words": float(lost),
        "ms_per_scheme": round(1000 * seconds / (len(made.problems) + len(made.faults))),
    }  # fmt: skip


# The whole --------------------------------------------------------------------------------------------------------


def labelled(folder: Path) -> dict[str, list[Problem]]:
    """The two collections of hand-made DAGs that are on this machine."""
    folders = {
        "cases": sorted((folder / "cases" / "dev").glob("*.json")),
        "dags": sorted((ROOT / "dags").glob("*.toml")),
    }
    return {name: [load_problem(path) for path in paths] for name, paths in folders.items() if paths}


def rows_of(folder: Path, file: str, every: int) -> Iterator[dict[str, Any]]:
    """Every so many rows of a file."""
    for k, line in enumerate((folder / file).read_text(encoding="utf-8").splitlines()):
        if k % every == 0:
            yield json.loads(line)


def report(table: Mapping[str, Any], depth: int = 0) -> None:
    """Print a table of tables."""
    for name, value in table.items():
        if isinstance(value, Mapping) and any(isinstance(each, Mapping) for each in value.values()):
            print(f"{'  ' * depth}{name}")
            report(value, depth + 1)
        else:
            print(f"{'  ' * depth}{name}: {value}")


def main() -> int:
    parser = script.parser("Measure drafts against hand-made DAGs and their own solutions.", data=DATA)
    parser.add_argument("--all", action="store_true", help="every row of worked.jsonl")
    parser.add_argument("--verbose", action="store_true", help="list rows without a node, and what is not matched")
    options = parser.parse_args()
    script.require(options.data / WORKED)
    table: dict[str, Any] = {}
    for name, problems in labelled(options.data).items():
        table[f"edges of {name}"] = {
            "problems": len(problems), "given_the_nodes": edges_given_nodes(problems),
            "from_a_solution": edges_of_drafts(problems),
        }  # fmt: skip
    found = Drafts()
    for row in rows_of(options.data, WORKED, 1 if options.all else EVERY):
        draft_row(row, found)
    table["drafts"] = drafts_table(found)
    if (options.data / SCHEMES).is_file():
        table["marking schemes"] = schemes_table(options.data / SCHEMES)
    script.tell(table, report, as_json=options.json)
    if options.verbose:
        print("\n".join(found.told))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

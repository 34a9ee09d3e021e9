r"""Worked solutions against themselves: does each match its own formulas, and do its chains hold?

*Self*: for each row of `worked.jsonl` the display and boxed formulas of the solution become a reference DAG, each node
after the one before it, and the solution's own text is graded against it. What is no node is counted by reason: not
read, words, or a lone symbol or number, which states nothing. Every node should be matched; one that is not is counted
by the verdict on the formula against itself.

*Links*: every two members of a solution that an equality joins inside a chain `A = B = C`, or from a row to the row
below that begins with `=`, are decided by `prism.equivalence.chains.links.check_link`: confirmed, refuted, approximate
or undecided. A refuted link says that the author errs or that PRISM does: those that a person has read stand in
`worked_refuted_read.toml`. The same is counted for the responses of `rollouts.jsonl`, whose authors err more often.

    python benchmarks/accuracy/worked.py [--data FOLDER] [--rows N] [--verbose] [--json]
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, NO_DATA  # noqa: E402
from prism import DataFileError, LatexSyntaxError, grade, load_problem, prepare  # noqa: E402
from prism.algebra.expr import EQUALITIES, Expr, Formula, plain_parts  # noqa: E402
from prism.authoring.candidates import statement_context  # noqa: E402
from prism.equivalence.chains.links import Link, check_link  # noqa: E402
from prism.equivalence.matching import match  # noqa: E402
from prism.equivalence.numbers.comparison import NumberSpec  # noqa: E402
from prism.equivalence.statements import is_mention  # noqa: E402
from prism.grading.chain_statements import continues_row  # noqa: E402
from prism.grading.claims.claim import is_committed, with_left_side  # noqa: E402
from prism.latex import LocatedFormula, extract  # noqa: E402
from prism.physics.context import Context, parse  # noqa: E402

FILES = ("worked.jsonl", "rollouts.jsonl")
READ = Path(__file__).resolve().parent / "worked_refuted_read.toml"
NO_MATHEMATICS = ("prose", "table", "chemistry", "figure", "fragment")  # kinds of `LatexSyntaxError`


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A node that its own text does not match: where, what, and the verdict on the formula against itself."""

    row: str
    latex: str
    kind: str
    status: str
    reason: str
    detail: str


@dataclass(slots=True)
class SelfGrades:
    """What became of the display and boxed formulas of all rows."""

    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    unmatched: list[Unmatched] = field(default_factory=list)
    incidents: list[str] = field(default_factory=list)


def own_nodes(
    row: dict[str, Any], counts: Counter[str], left_out: Counter[str]
) -> dict[str, tuple[LocatedFormula, Formula]]:
    """Display and boxed formulas of a solution that can be nodes, by their LaTeX; the others are counted by reason."""
    context = statement_context(row["problem"])
    nodes: dict[str, tuple[LocatedFormula, Formula]] = {}
    for item in extract(row["solution"]):
        if item.kind not in ("display", "boxed") or item.latex in nodes:
            continue
        counts["formulas"] += 1
        try:
            written = parse(item.latex, context=context)
        except LatexSyntaxError as error:
            left_out["not read" if error.kind not in NO_MATHEMATICS else f"no mathematics: {error.kind}"] += 1
            continue
        if written.kind in ("system", "implication"):  # a node states one formula
            left_out["several formulas"] += 1
            continue
        if is_mention(written):
            left_out["a lone symbol or number"] += 1
            continue
        nodes[item.latex] = item, written
    return nodes


def problem_data(row: dict[str, Any], nodes: Iterable[str]) -> dict[str, Any]:
    """A problem file's keys for a row with these nodes, each after the one before it; the last one is final."""
    formulas = list(nodes)
    standard = [
        {"index": k, "formula": latex, "dependency": [k - 1] if k > 1 else [], "is_final_answer": k == len(formulas)}
        for k, latex in enumerate(formulas, start=1)
    ]
    return {"id": row["id"], "context": row["problem"], "grading_standard": standard}


def grade_itself(row: dict[str, Any], found: SelfGrades) -> None:
    """One row: its DAG, the grade of its own text, and why a node is not matched."""
    nodes = own_nodes(row, found.counts, found.left_out)
    if not nodes:
        found.counts["rows without a node"] += 1
        return
    try:
        problem = load_problem(problem_data(row, nodes))
    except DataFileError as error:
        found.incidents.append(f"{row['id']}: {error}")
        return
    result = grade(prepare(problem), row["solution"])
    found.incidents += [f"{row['id']}, {item.where}: {item.detail}" for item in result.incidents]
    found.counts["rows"] += 1
    found.counts["nodes"] += len(nodes)
    found.counts["matched"] += len(result.matched)
    for node in problem.nodes:
        if node.index not in result.matched:
            item, written = nodes[node.latex]
            claim = with_left_side(node.formula, written, is_committed=is_committed(item))
            verdict = match(node.formula, claim, problem.context, AS_NODE)
            said = verdict.status, verdict.reason, verdict.detail
            found.unmatched.append(Unmatched(row["id"], node.latex, written.kind, *said))


# Links -----------------------------------------------------------------------------------------------------------

AS_NODE = NumberSpec(is_node=True)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A link of a row, and what was found."""

    row: str
    left: str
    right: str
    found: Link


def chains(text: str, context: Context) -> Iterator[list[Expr]]:
    """Members of a solution that equalities join, in a formula and from a row to one below that begins with one."""
    run: list[Expr] = []
    end = 0
    for item in extract(text):
        if item.kind == "thinking" or item.span[1] <= end:  # a boxed member of the chain that was read before it
            continue
        end = item.span[1]
        try:
            parts = list(plain_parts(parse(item.latex, context=context)))
        except LatexSyntaxError:
            parts = []
        is_continued = continues_row(item, text)
        for part in parts:
            members = list(part.members)
            relations = list(part.relations)
            if is_continued and run and members[0] == run[0] and relations:
                members[0] = run[-1]
            else:
                yield run
                run = [members[0]]
            is_continued = False
            for relation, member in zip(relations, members[1:], strict=True):
                if relation not in EQUALITIES:
                    yield run
                    run = []
                run.append(member)
        if not parts:
            yield run
            run = []
    yield run


def weigh_links(row: dict[str, Any]) -> Iterator[Weighed]:
    """Every link of every chain of three members or more, each once."""
    context = statement_context(row["problem"])
    seen = set()
    for members in chains(row["solution"], context):
        if len(members) < 3:
            continue
        for pair in pairwise(members):
            if pair not in seen:
                seen.add(pair)
                left, right = pair
                yield Weighed(row["id"], str(left), str(right), check_link(left, right, context))


def link_table(links: list[Weighed]) -> dict[str, Any]:
    """Counts and shares of links, and of the refuted ones what a person said of them."""
    statuses = Counter(item.found.status for item in links)
    reasons = Counter(f"{item.found.status}: {item.found.reason}" for item in links)
    read = read_by_a_person()
    refuted = [(item.row, item.left, item.right) for item in links if item.found.status == "refuted"]
    return {
        "links": len(links),
        "statuses": dict(sorted(statuses.items())),
        "shares": {name: round(count / len(links), 4) for name, count in sorted(statuses.items())} if links else {},
        "reasons": dict(sorted(reasons.items())),
        "refuted_read": dict(sorted(Counter(read.get(key, "not read") for key in refuted).items())),
    }


def read_by_a_person() -> dict[tuple[str, str, str], str]:
    """Whose fault a refuted link is, by row and members: `ours`, or `book` (in a response, the model's)."""
    rows = tomllib.loads(READ.read_text(encoding="utf-8"))["read"]
    return {(row["id"], row["left"], row["right"]): row["verdict"] for row in rows}


def read_rows(folder: Path, file: str) -> list[dict[str, Any]]:
    """Rows with an id, a problem and a solution; a response is named by its problem and its model."""
    rows = [json.loads(line) for line in (folder / file).read_text(encoding="utf-8").splitlines()]
    return [
        row if "solution" in row else {**row, "id": f"{row['id']} | {row['model']}", "solution": row["response"]}
        for row in rows
    ]


def self_table(found: SelfGrades) -> dict[str, Any]:
    """The figures of the first question."""
    reasons = Counter(f"{item.status}: {item.reason}, {item.kind}" for item in found.unmatched)
    return {
        **dict(sorted(found.counts.items())),
        "left_out": dict(sorted(found.left_out.items())),
        "not_matched": dict(sorted(reasons.items())),
        "incidents": len(found.incidents),
    }


def report(table: dict[str, Any]) -> None:
    for part, figures in table.items():
        print(f"\n{part}")
        for name, value in figures.items():
            print(f"  {name:20}{'' if isinstance(value, dict) else value}")
            if isinstance(value, dict):
                for key, count in value.items():
                    print(f"    {key:44}{count:>8}")


def list_all(found: SelfGrades, links: list[Weighed]) -> None:
    for item in found.unmatched:
        print(f"{item.row} | {item.status} {item.reason} {item.detail} | {item.kind} | {item.latex}")
    for line in found.incidents:
        print(f"incident: {line}")
    for weighed in links:
        if weighed.found.status == "refuted":
            print(f"{weighed.row} | {weighed.left} = {weighed.right} | {weighed.found.witness}")


def main() -> int:
    parser = script.parser("Grade worked solutions against themselves, and weigh their chains.", data=DATA)
    parser.add_argument("--rows", type=int, default=None, help="only the first rows of each file")
    parser.add_argument("--only", choices=("self", "links"), default=None, help="only one of the two questions")
    parser.add_argument("--verbose", action="store_true", help="list what is not matched, and refuted links")
    options = parser.parse_args()
    for file in FILES:
        if not (options.data / file).is_file():
            print(f"{options.data / file}: no such file; nothing measured", file=sys.stderr)
            return NO_DATA
    rows = {file: read_rows(options.data, file)[: options.rows] for file in FILES}
    found = SelfGrades()
    links: list[Weighed] = []
    table: dict[str, Any] = {}
    if options.only != "links":
        for row in rows[FILES[0]]:
            grade_itself(row, found)
        table["self"] = self_table(found)
    if options.only != "self":
        for file in FILES:
            own = [item for row in rows[file] for item in weigh_links(row)]
            table[f"links of {file}"] = link_table(own)
            links += own
    script.tell(table, report, as_json=options.json)
    if options.verbose:
        list_all(found, links)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

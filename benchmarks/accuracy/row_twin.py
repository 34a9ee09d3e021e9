r"""A row of cells decided at once says what each of its pairs says alone: status, reason, witness and all the rest.

What decides rows is `decide_rows(context, references, claims)`, the `CellTable` of `prism.grading.match_matrix`; the
twin is `prism.equivalence.matching.match_within_budget`, pair by pair. Each of the two begins with nothing remembered.

Rows are generated from a seed. A row has one context: that of a row of `tests/cases/equivalence`, or of a shipped
problem, or none. Its references are formulas of that context, and some of any other; its claims are the partners that
the cases name, references with one fault (`tests/support/faults.py`), references rewritten (`rewriting.py`), and
formulas that have nothing to do with them. Some of each are cut to one side or drawn out to a chain: so equations,
expressions, chains, vectors, derivatives, decimals and units meet each other. Before them come all rows of the cases,
each with its near-misses.

    python benchmarks/accuracy/row_twin.py [--pairs N] [--seed N] [--slice] [--json]
"""

from __future__ import annotations

import json
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.accuracy.rewriting import disguised  # noqa: E402
from benchmarks.memories import forget  # noqa: E402
from prism import LatexSyntaxError, load_problems, prepare, warm  # noqa: E402
from prism.algebra.expr import Formula, formula, symbols  # noqa: E402
from prism.equivalence.matching import match_within_budget  # noqa: E402
from prism.equivalence.numbers.comparison import NumberSpec  # noqa: E402
from prism.equivalence.verdict import Verdict  # noqa: E402
from prism.grading.match_matrix import CellTable  # noqa: E402
from prism.grading.references import MatchTask, ReferenceNode  # noqa: E402
from prism.physics.context import Context, context_of, parse  # noqa: E402
from tests.support.faults import FAULTS, places, put  # noqa: E402

PAIRS, SLICE = 100_000, 3_000
REFERENCES, CLAIMS = 6, 12  # of a generated row
FOREIGN = 0.25  # chance that a formula of a row is one of any context
RESHAPED = 0.2  # chance that a text is cut to one side, or drawn out to a chain
SHOWN = 10  # disagreements that are told
_TRIES = 20  # at a formula of a row: some mutations find nothing, and some texts are no formula in some contexts

Decide = Callable[[Context, Sequence[ReferenceNode], Sequence[Formula]], list[list[Verdict | str]]]
"""The verdicts of a row by claim, then by reference; a text is the error that was raised."""


@dataclass(frozen=True, slots=True)
class World:
    """What is written in one context.

    Attributes:
        references: formulas with how their numbers are asked for, and the formulas that belong beside each.
    """

    context: Context
    references: tuple[tuple[str, NumberSpec, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Claims beside references."""

    context: Context
    references: tuple[ReferenceNode, ...]
    claims: tuple[Formula, ...]


# Rows. ------------------------------------------------------------------------------------------------------------


def case_worlds() -> list[World]:
    """The rows of `tests/cases/equivalence`, by their context."""
    found: dict[str, World] = {}
    for path in sorted((ROOT / "tests/cases/equivalence").glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            declared = row.get("context", {})
            key = json.dumps(declared, sort_keys=True)
            beside = (row["b"], *row.get("near_misses", ()))
            world = found.get(key) or World(context_of(declared), ())
            found[key] = replace(world, references=(*world.references, (row["a"], NumberSpec(), beside)))
    return list(found.values())


def problem_worlds() -> list[World]:
    """The shipped problems: their nodes, each beside the formulas of all the others."""
    worlds = []
    for problem in load_problems(ROOT / "dags").values():
        prepared = prepare(problem)
        specs = {node.index: node.number_spec for node in prepared.task.references}
        texts = [(node.latex, specs[node.index]) for node in problem.nodes if node.index in specs]
        references = tuple((latex, spec, tuple(other for other, _ in texts)) for latex, spec in texts)
        worlds.append(World(problem.context, references))
    return [world for world in worlds if world.references]


def rows_of_cases(worlds: Sequence[World]) -> Iterator[Row]:
    """Each row of the cases as it stands, with its near-misses."""
    for world in worlds:
        for latex, spec, beside in world.references:
            reference = _parsed(latex, world.context)
            claims = tuple(claim for text in beside if (claim := _parsed(text, world.context)) is not None)
            if reference is not None and claims:
                yield Row(world.context, (ReferenceNode(1, (reference,), spec),), claims)


def generated_rows(worlds: Sequence[World], seed: int) -> Iterator[Row]:
    """Rows without end, the same for the same seed."""
    rng = random.Random(seed)
    texts = [latex for world in worlds for latex, _, _ in world.references]
    while True:
        world = rng.choice(worlds)
        chosen = [_reference(world, texts, rng) for _ in range(REFERENCES)]
        references = tuple(
            ReferenceNode(k, (found,), spec) for k, (found, spec, _) in enumerate(filter(None, chosen), 1)
        )
        beside = [text for each in chosen if each for text in each[2]]
        claims = [_claim(world.context, references, beside, texts, rng) for _ in range(CLAIMS)]
        if references:
            yield Row(world.context, references, tuple(claim for claim in claims if claim is not None))


def _reference(
    world: World, texts: Sequence[str], rng: random.Random
) -> tuple[Formula, NumberSpec, tuple[str, ...]] | None:
    """A formula of the world, or sometimes of another, with what belongs beside it; None if too few can be read."""
    for _ in range(_TRIES):
        is_foreign = rng.random() < FOREIGN
        latex, spec, beside = (rng.choice(texts), NumberSpec(), ()) if is_foreign else rng.choice(world.references)
        found = _parsed(_reshaped(latex, texts, rng), world.context)
        if found is not None:
            return found, spec, beside
    return None


def _claim(
    context: Context,
    references: Sequence[ReferenceNode],
    beside: Sequence[str],
    texts: Sequence[str],
    rng: random.Random,
) -> Formula | None:
    """A claim of one of the four kinds; None if too few tries gave one."""
    for _ in range(_TRIES):
        kind = rng.choice(("beside", "fault", "rewritten", "any"))
        found: Formula | None = None
        if kind in ("beside", "any"):
            pool = beside if kind == "beside" and beside else texts
            found = _parsed(_reshaped(rng.choice(pool), texts, rng), context)
        elif references:
            original = rng.choice(references).formulas[0]
            found = (_with_fault if kind == "fault" else _rewritten)(original, rng)
        if found is not None:
            return found
    return None


def _reshaped(latex: str, texts: Sequence[str], rng: random.Random) -> str:
    """A text as it is, one side of it, or with one side of it or of another text behind it."""
    if rng.random() >= RESHAPED:
        return latex
    sides = latex.split(" = ")
    other = rng.choice((latex, rng.choice(texts))).split(" = ")[-1]
    return rng.choice((sides[-1], sides[0], f"{latex} = {other}", f"{sides[0]} = {other}"))


def _with_fault(f: Formula, rng: random.Random) -> Formula | None:
    """A formula with one fault; None where the kind that was drawn finds no place."""
    if f.kind != "equation" or len(f.members) != 2:
        return None
    fault = FAULTS[rng.choice(sorted(FAULTS))]
    side = rng.randrange(2)
    names = tuple(sorted(symbols(*f.members)))
    found = [(path, new) for path, node in places(f.members[side]) for new in fault(node, names)]
    if not found:
        return None
    members = list(f.members)
    path, new = rng.choice(found)
    members[side] = put(members[side], path, new)
    return formula((members[0], members[1]), f.relations)


def _rewritten(f: Formula, rng: random.Random) -> Formula | None:
    """A formula in other words; None for all but equations of two sides."""
    return disguised(f, {}, rng) if f.kind == "equation" and len(f.members) == 2 else None


def _parsed(latex: str, context: Context) -> Formula | None:
    try:
        return parse(latex, context=context)
    except LatexSyntaxError:
        return None


# Both ways. -------------------------------------------------------------------------------------------------------


def decide_rows(
    context: Context, references: Sequence[ReferenceNode], claims: Sequence[Formula]
) -> list[list[Verdict | str]]:
    """The way of the grader: all cells of the row asked for at once."""
    cells = CellTable(MatchTask(tuple(references), context, frozenset()))
    asked = [(node, node.formulas[0], claim) for claim in claims for node in references]
    found = [cell.verdict if cell.error is None else repr(cell.error) for cell in cells.decide(asked)]
    n = len(references)
    return [list(found[k * n : (k + 1) * n]) for k in range(len(claims))]


def decide_pairs(
    context: Context, references: Sequence[ReferenceNode], claims: Sequence[Formula]
) -> list[list[Verdict | str]]:
    """The twin: each pair alone."""
    return [[_of_pair(context, node, claim) for node in references] for claim in claims]


def _of_pair(context: Context, node: ReferenceNode, claim: Formula) -> Verdict | str:
    try:
        return match_within_budget(node.formulas[0], claim, context, node.number_spec)
    except Exception as error:  # noqa: BLE001 - the other way has to raise it too
        return repr(error)


def compare(rows: Iterable[Row], n_pair: int, decide: Decide = decide_rows) -> dict[str, Any]:
    """Both ways on rows until so many pairs are decided, and where they disagree."""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    faults: list[dict[str, str]] = []
    n = n_differ = n_row = 0
    for row in rows:
        if n >= n_pair:
            break
        forget()
        together = decide(row.context, row.references, row.claims)
        forget()
        alone = decide_pairs(row.context, row.references, row.claims)
        n_row += 1
        for claim, ours, theirs in zip(row.claims, together, alone, strict=True):
            for node, one, other in zip(row.references, ours, theirs, strict=True):
                n += 1
                counts[f"{other.status} {other.reason}" if isinstance(other, Verdict) else "raised"] += 1
                kinds[f"{node.formulas[0].kind} beside {claim.kind}"] += 1
                if one != other:
                    n_differ += 1
                    told = {"row": str(n_row), "reference": node.formulas[0].latex, "claim": claim.latex,
                            "together": str(one), "alone": str(other)}  # fmt: skip
                    faults += [told] if len(faults) < SHOWN else []
    return {
        "pairs": n, "rows": n_row, "differ": n_differ, "first": faults, "verdicts": dict(counts.most_common()),
        "kinds": dict(kinds.most_common()),
    }  # fmt: skip


def all_rows(worlds: Sequence[World], seed: int) -> Iterator[Row]:
    """The rows of the cases and of the shipped problems as they stand, then generated ones."""
    yield from rows_of_cases(worlds)
    yield from generated_rows(worlds, seed)


def main() -> int:
    parser = script.parser("Rows of cells decided at once beside each pair alone.")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs that are decided, those of the cases first")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slice", action="store_true", help=f"only {SLICE} generated pairs")
    options = parser.parse_args()
    warm()
    worlds = [*case_worlds(), *problem_worlds()]
    rows = generated_rows(worlds, options.seed) if options.slice else all_rows(worlds, options.seed)
    result = compare(rows, SLICE if options.slice else options.pairs)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        for name, values in result.items():
            if name != "first":
                print(f"{name}: {values}")
        for fault in result["first"]:
            print("".join(f"\n  {key:10} {value}" for key, value in fault.items()))
    return int(result["differ"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())

"""Formulas to sympy and back, quantities to pint and back: what is carried, what is refused by name, what is changed?

Formulas are all sides and near-misses of `tests/cases/equivalence`, all rows of `tests/cases/parse`, and 2,000 that
`tests/support/strategies.py` generates, over every operator that has a value. What comes back from sympy is held beside
the formula by PRISM's own equivalence, in the row's context; where that says nothing (a construct that is not
evaluated, an identity, no points) the canonical forms must be the same, or all members must have the same values. What
sympy was given is held beside the formula by value, at random points, as `tests/reference.py` computes it; and so is
what symengine was given. Changed must be 0; it fails the run.

Units are all spellings of `constants/units.toml`, with prefixes and words: one of each to pint and back, exactly.
Beside it stands what pint itself makes of the name: the same, refused by name, another unit (`PS`, petasiemens there).

    python benchmarks/accuracy/bridges.py [--slice] [--json]
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pint  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.rivals.oracles import LIBRARIES, OUTCOMES, same_values, values_agree  # noqa: E402
from prism.algebra.expr import Expr, Formula, canonical, formula, number, plain_parts, walk  # noqa: E402
from prism.physics.quantities import parse_quantity  # noqa: E402
from prism.physics.tables import unit_table  # noqa: E402
from tests.support.strategies import expressions  # noqa: E402

GENERATED = 2_000
SLICE_EVERY = 25  # in the slice one formula and one unit of so many is taken
SEED = 20261123
LISTED = 20  # of each kind


@dataclass(frozen=True, slots=True)
class Item:
    """One formula with the context that its row gives."""

    source: str
    written: Formula
    context: prism.Context


# Formulas ---------------------------------------------------------------------------------------------------------


def from_cases() -> Iterator[Item]:
    """Each formula of the rows, once a context; what is not read is in no list."""
    seen = set()
    for folder in ("equivalence", "parse"):
        for path in sorted((ROOT / "tests/cases" / folder).glob("*.toml")):
            for row in tomllib.loads(path.read_text("utf-8"))["case"]:
                context = prism.Context.from_dict(row.get("context", {}))
                texts = [row[key] for key in ("a", "b", "latex") if key in row] + row.get("near_misses", [])
                for latex in texts:
                    try:
                        written = prism.parse(latex, context=context)
                    except prism.LatexSyntaxError:
                        continue
                    if (written, context) not in seen:
                        seen.add((written, context))
                        yield Item(folder, written, context)


def generated(count: int) -> Iterator[Item]:
    """Different equations of two generated sides, the same each time."""
    found: dict[Formula, None] = {}

    @seed(SEED)
    @settings(max_examples=4 * count, database=None, phases=[Phase.generate], deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.tuples(expressions, expressions))
    def collect(sides: tuple[Expr, Expr]) -> None:
        if len(found) < count and any(side.args for side in sides):
            found[formula(sides, ("=",))] = None

    collect()
    context = prism.Context()
    return (Item("generated", written, context) for written in found)


def ops_in(written: Formula) -> frozenset[str]:
    return frozenset(node.op for part in plain_parts(written) for member in part.members for node in walk(member))


# There and back ---------------------------------------------------------------------------------------------------


def round_trip(item: Item) -> str:
    """What became of a formula: `equivalent`, `the same form`, `the same values`, `changed`, or what was refused."""
    try:
        back = prism.from_sympy(item.written.to_sympy())
    except prism.ConversionError as refusal:
        return f"refused: {refusal.construct}"
    if prism.equivalent(item.written, back, context=item.context).status == "equivalent":
        return "equivalent"
    if forms(item.written) == forms(back):
        return "the same form"
    return "the same values" if same_values(item.written, back) else "changed"


def forms(written: Formula) -> list[Any]:
    """Canonical forms of all members, with relations and kinds."""
    return [
        (written.kind, part.kind, part.relations, [canonical(member) for member in part.members])
        for part in plain_parts(written)
    ]


def measure(items: list[Item]) -> dict[str, Any]:
    """Counts by source and by construct, and the formulas that changed."""
    outcomes: dict[str, Counter[str]] = {}
    carried: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    values: dict[str, Counter[str]] = {library: Counter() for library in LIBRARIES}
    changed = []
    for item in items:
        outcome = round_trip(item)
        kind = outcome.partition(":")[0]
        outcomes.setdefault(item.source, Counter())[kind] += 1
        if kind == "refused":
            refused[outcome.removeprefix("refused: ")] += 1
            continue
        if kind != "changed":
            carried.update(ops_in(item.written))
        for library in LIBRARIES:
            agrees = values_agree(item.written, library)
            values[library][OUTCOMES[agrees]] += 1
            if agrees is False:
                changed.append(f"value in {library}: {item.written}")
        if kind == "changed":
            changed.append(f"{item.source}: {item.written.latex or item.written}")
    return {
        "formulas": len(items),
        "by_source": outcomes,
        "carried_by_construct": dict(carried.most_common()),
        "refused_by_construct": dict(refused.most_common()),
        "values": values,
        "changed": len(changed),
        "changed_formulas": changed[:LISTED],
    }


# Units ------------------------------------------------------------------------------------------------------------


def measure_units(every: int) -> dict[str, Any]:
    """One of each unit to pint and back, exactly; and beside it what pint itself makes of the name, sent to PRISM."""
    table = unit_table()
    names = [*table.exact, *table.prefixed, *table.words][::every]
    registry: Any = pint.UnitRegistry()
    back: Counter[str] = Counter()
    own: Counter[str] = Counter()
    changed, other = [], []
    for name in names:
        ours = parse_quantity(Expr("mul", (number(1), Expr("unit", name=name))))
        assert ours is not None, name
        same = prism.from_pint(ours.to_pint(registry)) == ours
        back["carried" if same else "changed"] += 1
        outcome = from_pint_itself(name, ours, registry)
        own[outcome] += 1
        changed += [] if same else [name]
        other += [name] if outcome == "another unit" else []
    return {"units": len(names), "to_pint_and_back": back, "changed": len(changed), "changed_units": changed[:LISTED],
            "name_in_pint": own, "another_unit_in_pint": other}  # fmt: skip


def from_pint_itself(name: str, ours: prism.Quantity, registry: Any) -> str:
    """What pint's unit of a name is to PRISM: the same, refused, another unit (`PS`: petasiemens), unknown to pint."""
    try:
        theirs = registry.Quantity(1.0, name)
    except (pint.errors.PintError, ValueError, AssertionError):
        return "unknown to pint"
    try:
        found = prism.from_pint(theirs)
    except prism.ConversionError:
        return "refused"
    near = math.isclose(found.value, ours.value, rel_tol=1e-9)
    return "the same" if near and found.dimension == ours.dimension else "another unit"


def main() -> int:
    parser = script.parser("Formulas to sympy, quantities to pint, and back.")
    parser.add_argument("--slice", action="store_true", help=f"one formula and unit in {SLICE_EVERY}: what CI runs")
    options = parser.parse_args()
    every = SLICE_EVERY if options.slice else 1
    items = [*list(from_cases())[::every], *generated(GENERATED // every)]
    prism.warm()
    result = {
        "sympy": measure(items),
        "pint": measure_units(every),
        "versions": {package: metadata.version(package) for package in ("sympy", "symengine", "pint")},
    }
    print(json.dumps(result, sort_keys=True, indent=None if options.json else 1))
    return 1 if result["sympy"]["changed"] or result["pint"]["changed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())

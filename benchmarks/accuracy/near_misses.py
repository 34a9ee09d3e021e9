"""Near-misses and rewrites of physics formulas: how often is a wrong one accepted, a right one not?

Every equation of `tests/cases/equivalence/` and of the shipped DAGs is changed by one fault (a factor, a sign, an
exponent, a symbol, a lost or doubled term, a function) and, apart, rewritten without a change of meaning (sides
swapped, moved, multiplied, divided, added, inverted, cubed, exponentiated). Counts are false accepts, false rejects and
undecided, apart. Accepted near-misses are listed, to be read by a person: some faults change nothing (`m_1` and
`m_2` swapped in a symmetric formula), and only reading tells. Deterministic for a seed.

    python benchmarks/accuracy/near_misses.py [--slice] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import prism
from prism.context import Context
from prism.equivalence import Verdict
from prism.expr import OPS, Expr, Formula, canonical_zero, formula, number, symbol, symbols, walk

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261121
PER_FORMULA = 60  # near-misses tried; duplicates are dropped
SLICE_PER_FORMULA = 3
TWINS = {"sin": "cos", "cos": "sin", "tan": "sin", "exp": "cosh", "ln": "log10", "sinh": "cosh", "cosh": "sinh"}

Fault = Callable[[Expr, random.Random, tuple[str, ...]], Expr | None]


def formulas() -> Iterator[Formula]:
    """Equations with at least two symbols and no construct that the engine leaves unevaluated, each once."""
    texts = []
    for path in sorted((ROOT / "tests/cases/equivalence").glob("*.toml")):
        texts += [row["a"] for row in tomllib.loads(path.read_text("utf-8"))["case"] if "context" not in row]
    for path in sorted((ROOT / "dags").glob("*.toml")):
        texts += [node.latex for node in prism.load_problem(path).nodes]
    seen = set()
    for text in texts:
        try:
            parsed = prism.parse(text)
        except prism.LatexSyntaxError:
            continue
        evaluated = all(OPS[node.op].opcode is not None for member in parsed.members for node in walk(member))
        if parsed.kind == "equation" and evaluated and len(symbols(*parsed.members)) > 1 and str(parsed) not in seen:
            seen.add(str(parsed))
            yield parsed


def _replace(root: Expr, which: Expr, new: Expr) -> Expr:
    """The first occurrence of this very node, replaced."""
    if root is which:
        return new
    for position, arg in enumerate(root.args):
        changed = _replace(arg, which, new)
        if changed is not arg:
            return Expr(root.op, (*root.args[:position], changed, *root.args[position + 1 :]), root.name, root.value)
    return root


def factor(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    return Expr("mul", (number(rng.choice((2, 3, 4))), node)) if node.op not in ("num", "neg") else None


def sign(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    if node.op in ("add", "sub") and len(node.args) == 2:
        return Expr("sub" if node.op == "add" else "add", node.args)
    return Expr("neg", (node,)) if node.op == "sym" else None


def power(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    if node.op == "pow" and node.args[1].op == "num" and node.args[1].value is not None:
        return Expr("pow", (node.args[0], number(node.args[1].value + 1)))
    if node.op == "sqrt":
        return node.args[0]
    return Expr("pow", (node, number(2))) if node.op == "sym" else None


def other_symbol(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    if node.op != "sym" or len(names) < 2:
        return None
    return symbol(rng.choice([name for name in names if name != node.name]))


def number_off(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    return number(node.value + rng.choice((1, 2))) if node.op == "num" and node.value is not None else None


def lost_part(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    return rng.choice(node.args) if node.op in ("add", "sub", "mul", "div") else None


def inverted(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    return Expr("div", node.args[::-1]) if node.op == "div" else None


def other_function(node: Expr, rng: random.Random, names: tuple[str, ...]) -> Expr | None:
    return Expr(TWINS[node.op], node.args) if node.op in TWINS else None


FAULTS: tuple[Fault, ...] = (factor, sign, power, other_symbol, number_off, lost_part, inverted, other_function)


def near_misses(f: Formula, count: int, rng: random.Random) -> Iterator[tuple[str, Formula]]:
    """Formulas with one fault; those with the same canonical form as the right one are no faults and left out."""
    names = tuple(sorted(symbols(*f.members)))
    right = canonical_zero(Expr("sub", f.members))
    seen = {right}
    for _ in range(4 * count):
        if len(seen) > count:
            return
        fault = rng.choice(FAULTS)
        side = rng.randrange(2)
        node = rng.choice(list(walk(f.members[side])))
        new = fault(node, rng, names)
        if new is None:
            continue
        members = list(f.members)
        members[side] = _replace(members[side], node, new)
        wrong = formula(tuple(members), f.relations)
        form = canonical_zero(Expr("sub", wrong.members))
        if form not in seen:
            seen.add(form)
            yield fault.__name__, wrong


def rewrites(f: Formula) -> Iterator[tuple[str, Formula]]:
    """The same equation in other forms."""
    left, right = f.members
    two, k = number(2), Expr("num", value=number(7).value, name="7")
    yield "swapped", formula((right, left), ("=",))
    yield "moved", formula((Expr("sub", (left, right)), number(0)), ("=",))
    yield "multiplied", formula((Expr("mul", (k, left)), Expr("mul", (right, k))), ("=",))
    if any(side.op == "num" for side in f.members):
        return  # dividing by a side that may be 0 changes the meaning
    yield "ratio", formula((Expr("div", (left, right)), number(1)), ("=",))
    yield "added", formula((Expr("add", (left, right)), Expr("mul", (two, right))), ("=",))
    yield "inverted", formula((Expr("div", (number(1), left)), Expr("div", (number(1), right))), ("=",))
    yield "cubed", formula((Expr("pow", (left, number(3))), Expr("pow", (right, number(3)))), ("=",))
    yield "exponentiated", formula((Expr("exp", (Expr("div", (left, right)),)), Expr("const", name="e")), ("=",))


def main() -> None:
    parser = argparse.ArgumentParser(description="Near-misses and rewrites of physics formulas.")
    parser.add_argument("--slice", action="store_true", help="a few per formula: what CI runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    prism.warm()
    rng = random.Random(SEED)
    base = list(formulas())
    tally: dict[str, Counter[str]] = {"near_misses": Counter(), "rewrites": Counter()}
    accepted: list[str] = []
    rejected: list[str] = []
    for f in base:
        for fault, wrong in near_misses(f, SLICE_PER_FORMULA if options.slice else PER_FORMULA, rng):
            verdict = _decide(f, wrong)
            tally["near_misses"][verdict.status] += 1
            if verdict.status == "equivalent":
                accepted.append(f"{fault}: {f}  |  {wrong}")
        for form, right in rewrites(f):
            verdict = _decide(f, right)
            tally["rewrites"][verdict.status] += 1
            if verdict.status != "equivalent":
                rejected.append(f"{form}: {f}  |  {right}: {verdict.status}, {verdict.reason}")
    result = {
        "formulas": len(base), "seed": SEED, "near_misses": dict(tally["near_misses"]),
        "rewrites": dict(tally["rewrites"]), "accepted_near_misses": accepted, "unaccepted_rewrites": rejected,
    }  # fmt: skip
    print(json.dumps(result, sort_keys=True) if options.json else json.dumps(result, indent=1, sort_keys=True))


def _decide(a: Formula, b: Formula) -> Verdict:
    return prism.equivalent(a, b, context=Context())


if __name__ == "__main__":
    main()

r"""One fault in one formula of a right solution: does the diagnosis say which, at which node?

The formulas of every shipped problem (and of the problems of the collected material, where they are on this machine)
are given one fault each, of the kinds of `faults.py` and a few more for terms, numbers and units; a third of those that
can be are then solved for something else, or otherwise rewritten. Each stands alone as a solution, and again in its
place among the right formulas of the other nodes. The solution is graded and diagnosed, and what is said of this one
formula is counted: the class that was put in against the class that is told.

One wrong formula may come from several faults: a lost square is a lost factor, and an exponent that is upside down is
a number for a number. So every fault of the node's formula is made, and a class is right if one of its faults gives
this formula, by canonical form or by the engine (`right`); `as_put_in` counts only the class that was meant. Faults
that change nothing, or that make another node, are counted apart and not asked about. The two solutions of one fault
are not independent, so each way of asking has its own figures. Deterministic for a seed, but for the time.

    python benchmarks/accuracy/diagnosis.py [--folder FOLDER] [--slice] [--json]
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy.rewriting import disguised  # noqa: E402
from benchmarks.intervals import bounds  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from prism.algebra.expr import Expr, Formula, canonical_zero, number, symbol, symbols, walk  # noqa: E402
from prism.diagnosis.findings import Diagnosis  # noqa: E402
from prism.equivalence.facts import numeric_of  # noqa: E402
from prism.equivalence.features import claimed_number  # noqa: E402
from prism.grading.prepared import PreparedProblem, prepare  # noqa: E402
from prism.physics.quantities import is_unit_product, single_unit  # noqa: E402
from prism.problem.schema import ProblemNode  # noqa: E402
from tests.support import faults  # noqa: E402
from tests.support.faults import Fault, places, power, product, put, without  # noqa: E402

SEED = 20261122
PER_CLASS = 60  # faults
SLICE_PER_CLASS = 3
DISGUISED = 1 / 3
MAX_SAME = 150  # faults of one class that the engine compares with a wrong formula
INNER = frozenset(("integral", "contour", "sum", "product", "derivative", "partial", "limit", "nabla", "matrix", "dot"))


def lost_number(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A number that a product or fraction has lost."""
    if node.op == "mul":
        yield from (without(node.args, k, "mul") for k, arg in enumerate(node.args) if not symbols(arg))
    elif node.op == "div" and not symbols(node.args[1]):
        yield node.args[0]
    elif node.op == "div" and not symbols(node.args[0]):
        yield Expr("div", (number(1), node.args[1]))


def lost_quantity(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A factor that is no number, lost from a product or from below a fraction."""
    if node.op == "mul":
        yield from (without(node.args, k, "mul") for k, arg in enumerate(node.args) if symbols(arg))
    elif node.op == "div" and symbols(node.args[1]):
        yield node.args[0]


def more_quantity(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A symbol of the formula as a factor too many, above or below."""
    if node.op in ("mul", "div", "sym"):
        own = symbols(node)
        yield from (product(node, symbol(name)) for name in names if name not in own)
        yield from (Expr("div", (node, symbol(name))) for name in names if name not in own)


def more_term(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """A term too many: one of the terms with another symbol in front, or squared."""
    if node.op in ("add", "sub"):
        for term in node.args:
            if symbols(term):
                yield Expr("add", (node, power(term, 2)))
                yield from (Expr("sub", (node, product(symbol(name), term))) for name in names[:2])


def any_exponent(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    """Another exponent of a symbol, power or root: more than people make, to see what is one."""
    if node.op in ("sym", "pow", "sqrt"):
        yield from (power(node, exponent) for exponent in EXPONENTS)


def lost_term(node: Expr, names: tuple[str, ...]) -> Iterator[Expr]:
    return faults.lost_term(node, names)


CLASSES: dict[str, tuple[Fault, ...]] = {
    "sign": (faults.sign,),
    "factor": (faults.factor_two, faults.factor_pi, lost_number, faults.number_off, faults.near_one),
    "exponent": (faults.exponent, faults.exponent_sign, faults.root_lost, faults.inverted),
    "function": (faults.other_function, faults.other_base),
    "symbol": (faults.other_symbol, faults.index, faults.swapped, faults.wrong_constant),
    "quantity": (lost_quantity, more_quantity),
    "term": (lost_term, more_term),
    "unit": (faults.degrees,),
}
"""Classes of faults in formulas; those in numbers are made by `number_faults`."""

EXPONENTS = tuple(Fraction(n, 2) for n in (-6, -4, -3, -2, -1, 1, 3, 4, 5, 6, 8))
WIDER: dict[str, tuple[Fault, ...]] = {**CLASSES, "exponent": (*CLASSES["exponent"], any_exponent)}
"""The faults of which one has to give a wrong formula for a class to be right: `m m a` is a quantity more in `m a`, and
another exponent of m."""

MERGED = {
    "quantity_missing": "quantity", "quantity_extra": "quantity", "term_missing": "term", "term_extra": "term",
    "arithmetic": "value", "relation": "sign",
}  # fmt: skip
OTHER_UNITS = ("m", "s", "kg", "K", "J", "V", "A")


@dataclass(frozen=True, slots=True)
class Planted:
    """One fault: the node it is made in, the class, the wrong formula, and all classes that give this formula."""

    problem: str
    node: int
    wanted: str
    wrong: Formula
    also: frozenset[str]
    is_inner: bool
    is_disguised: bool = False


# Faults. ----------------------------------------------------------------------------------------------------------


def formula_faults(f: Formula, classes: dict[str, tuple[Fault, ...]]) -> dict[str, list[tuple[str, Formula, bool]]]:
    """Every fault of a formula, by canonical form: the class, the wrong formula, whether it lies inside a construct."""
    found: dict[str, list[tuple[str, Formula, bool]]] = {}
    names = tuple(sorted(symbols(*f.members)))
    right = _form(f)
    for name, kinds in classes.items():
        for side, member in enumerate(f.members):
            for path, node in places(member):
                inner = _is_inner(member, path)
                for kind in kinds:
                    for new in kind(node, names):
                        wrong = _with_member(f, side, put(member, path, new))
                        form = _form(wrong)
                        if form != right:
                            found.setdefault(form, []).append((_class_of(name, node, new, member, path), wrong, inner))
    return found


def _class_of(name: str, node: Expr, new: Expr, member: Expr, path: tuple[int, ...]) -> str:
    """The class of a fault; a number for a number is another factor, or an exponent where it is one."""
    if name in ("exponent", "factor") and not symbols(node) and not symbols(new):
        return "exponent" if _is_exponent(member, path) else "factor"
    return name


def _is_inner(member: Expr, path: tuple[int, ...]) -> bool:
    node = member
    for position in path:
        if node.op in INNER:
            return True
        node = node.args[position]
    return False


def _with_member(f: Formula, side: int, new: Expr) -> Formula:
    members = (*f.members[:side], new, *f.members[side + 1 :])
    return Formula(f.kind, members, f.relations, "", (), f.depends)


def _form(f: Formula) -> str:
    zero = canonical_zero(Expr("sub", f.members)) if len(f.members) == 2 else canonical_zero(f.members[0])
    return f"{f.relations} {zero}"


def number_faults(f: Formula) -> Iterator[tuple[str, Formula]]:
    """A stated number with another sign, power of ten, factor, value or unit."""
    side = next(k for k, member in enumerate(f.members) if not _is_subject(member))
    member = f.members[side]
    for path, node in places(member):
        if node.op == "num" and node.value and not _is_exponent(member, path):
            changes: tuple[tuple[str, Fraction], ...] = (
                ("sign", Fraction(-1)), ("unit", Fraction(10)), ("unit", Fraction(1, 1000)), ("factor", Fraction(2)),
                ("factor", Fraction(1, 2)), ("value", Fraction(117, 100)), ("value", Fraction(83, 100)),
            )  # fmt: skip
            for name, factor in changes:
                value = float(node.value * factor)
                new = number(Fraction(f"{value:.4g}"), written=_digits(value))
                yield name, _with_member(f, side, put(member, path, new))
            break
    for path, node in places(member):
        if node.op == "unit" and not _is_exponent(member, path):
            own = single_unit(node)
            for other in OTHER_UNITS:
                taken = single_unit(Expr("unit", name=other))
                if own is not None and taken is not None and own.dimension != taken.dimension:
                    yield "dimension", _with_member(f, side, put(member, path, Expr("unit", name=other)))
            break


def _digits(value: float) -> str:
    return f"{value:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _is_exponent(member: Expr, path: tuple[int, ...]) -> bool:
    node = member
    for position in path:
        if node.op == "pow" and position == 1:
            return True
        node = node.args[position]
    return False


def _is_subject(member: Expr) -> bool:
    return bool(symbols(member)) and not any(is_unit_product(node) for node in walk(member) if node.op == "unit")


def all_faults(prepared: PreparedProblem, rng: random.Random) -> Iterator[Planted]:
    """Every fault of the nodes of a problem, those of one formula in any order."""
    kinds = prepared.problem.context.kinds
    for node in prepared.problem.nodes:
        f = node.formula
        if node.is_text or f.parts or len(f.members) > 2:
            continue
        if numeric_of(f) is None and claimed_number(f, prepared.problem.context) is not None:
            continue  # a number in constants of nature
        if numeric_of(f) is not None:
            for name, wrong in number_faults(f):
                yield Planted(prepared.problem.id, node.index, name, wrong, frozenset((name,)), is_inner=False)
            continue
        for found in formula_faults(f, CLASSES).values():
            also = frozenset(name for name, _, _ in found)
            for name in sorted(also):
                choices = [each for each in found if each[0] == name]
                _, wrong, inner = rng.choice(choices)
                hidden = wrong
                if f.kind == "equation" and rng.random() < DISGUISED:
                    hidden = disguised(wrong, kinds, rng)
                yield Planted(prepared.problem.id, node.index, name, hidden, also, inner, hidden is not wrong)


# Asking. ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """What was told of the faults: tables wanted by told, and who was right."""

    table: dict[str, Counter[str]] = field(default_factory=dict)
    right: Counter[str] = field(default_factory=Counter)
    as_put_in: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    groups: dict[str, Counter[str]] = field(default_factory=dict)
    wrong_node: int = 0
    graded: Counter[str] = field(default_factory=Counter)
    milliseconds: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def result(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "faults": self.asked.total(),
            "right": interval(self.right.total(), self.asked.total()),
            "as_put_in": interval(self.as_put_in.total(), self.asked.total()),
            "by_class": {name: interval(self.right[name], n) for name, n in sorted(self.asked.items())},
            "by_group": {name: interval(found["right"], found.total()) for name, found in sorted(self.groups.items())},
            "wanted_by_told": {name: dict(sorted(row.items())) for name, row in sorted(self.table.items())},
            "right_class_at_another_node": self.wrong_node,
            "graded": dict(sorted(self.graded.items())),
            "milliseconds": quantiles(self.milliseconds),
        }


def interval(count: int, n: int) -> dict[str, float | int]:
    """A share with its 95 % interval."""
    low, high = bounds(count, n) if n else (0.0, 1.0)
    return {"count": count, "n": n, "share": round(count / n, 4) if n else 0.0, "low": round(low, 4),
            "high": round(high, 4)}  # fmt: skip


def quantiles(values: list[float]) -> dict[str, float]:
    """Median, ninth tenth and largest of times."""
    ranked = sorted(values) or [0.0]
    return {"median": round(ranked[len(ranked) // 2], 1), "p90": round(ranked[len(ranked) * 9 // 10], 1),
            "max": round(ranked[-1], 1)}  # fmt: skip


def ask(prepared: PreparedProblem, solution: str, latex: str) -> tuple[str, Diagnosis, int, float]:
    """What is said of one formula of a solution: how it is graded; its position; how long the diagnosis took."""
    grade = prism.grade(prepared, solution)
    start = time.perf_counter()
    diagnosis = prism.diagnose(prepared, grade)
    spent = 1000 * (time.perf_counter() - start)
    place = solution.index(latex)
    position = next((k for k, item in enumerate(grade.formulas) if item.span[0] <= place < item.span[1]), -1)
    status = grade.formulas[position].status if position >= 0 else "missing"
    return status, diagnosis, position, spent


def told_of(diagnosis: Diagnosis, position: int) -> tuple[str, int | None]:
    """Class and node that a diagnosis names for one formula; else its status."""
    for each in diagnosis.findings:
        if each.position == position:
            if each.difference is None:
                return each.status, None
            return MERGED.get(each.difference.kind, each.difference.kind), each.difference.node
    return "nothing", None


def is_right(fault: Planted, told: str, prepared: PreparedProblem, node: ProblemNode) -> bool:
    """Whether the class that is told is one whose faults give this formula."""
    if told == fault.wanted or told in fault.also:
        return True
    if told not in CLASSES or numeric_of(node.formula) is not None:
        return False
    others = [
        w
        for found in formula_faults(node.formula, {told: WIDER[told]}).values()
        for name, w, _ in found
        if name == told
    ]
    names = symbols(*fault.wrong.members)
    others = [w for w in others if symbols(*w.members) == names][:MAX_SAME]
    context = prepared.problem.context
    return any(prism.equivalent(w, fault.wrong, context=context).status == "equivalent" for w in others)


def usable(prepared: PreparedProblem, fault: Planted) -> str:
    """The wrong formula in LaTeX; empty if it does not come back as it was written, as a solution's text must."""
    try:
        latex = prism.write(fault.wrong)
        back = prism.parse(latex, context=prepared.problem.context)
    except (prism.PrismError, ValueError):
        return ""
    is_same = back.kind == fault.wrong.kind and len(back.members) == len(fault.wrong.members)
    return latex if is_same and _form(back) == _form(fault.wrong) else ""


def count(tallies: dict[str, Tally], prepared: PreparedProblem, fault: Planted, skipped: Counter[str]) -> bool:
    """Ask about one fault alone and among the right formulas; False if it is none after all."""
    latex = usable(prepared, fault)
    node = next(each for each in prepared.problem.nodes if each.index == fault.node)
    if not latex:
        skipped["not written back"] += 1
        return False
    others = [
        latex if each.index == node.index else prism.write(each.formula)
        for each in prepared.problem.nodes
        if not each.is_text
    ]
    alone, among = f"$${latex}$$", "\n\n".join(f"$${each}$$" for each in others)
    if among.count(latex) != 1:
        among = alone
    for name, solution in (("alone", alone), ("among_right_ones", among)):
        status, diagnosis, position, spent = ask(prepared, solution, latex)
        if name == "alone" and status not in ("different", "undecided"):
            skipped["another node or no fault" if status in ("equivalent", "withheld") else status] += 1
            return False
        told, at = told_of(diagnosis, position)
        tally = tallies[name]
        good = is_right(fault, told, prepared, node)
        tally.asked[fault.wanted] += 1
        tally.right[fault.wanted] += good
        tally.as_put_in[fault.wanted] += told == fault.wanted
        tally.graded[status] += 1
        tally.table.setdefault(fault.wanted, Counter())[told] += 1
        tally.wrong_node += good and at != node.index
        tally.milliseconds.append(spent)
        groups = {
            "rewritten": fault.is_disguised,
            "inside a construct": fault.is_inner,
            "undecided": status == "undecided",
        }
        for group in [each for each, holds in groups.items() if holds] or ["plain"]:
            tally.groups.setdefault(group, Counter())["right" if good else "missed"] += 1
        if not good:
            full = next((x.difference.full for x in diagnosis.findings if x.position == position and x.difference), "")
            where = f"{fault.problem} {fault.node}, {fault.wanted}, told {told}"
            tally.missed.append(f"{where}: {node.latex}  |  {latex}  |  {full}")
    return True


def chosen(found: list[Planted], per_class: int, rng: random.Random) -> Iterator[list[Planted]]:
    """The faults of each class, the problems taking turns; each list is longer than needed, for some are no faults."""
    for name in sorted({each.wanted for each in found}):
        by_problem: dict[str, list[Planted]] = {}
        for each in found:
            if each.wanted == name:
                by_problem.setdefault(each.problem, []).append(each)
        for mine in by_problem.values():
            rng.shuffle(mine)
        turns: list[Planted] = []
        while any(by_problem.values()) and len(turns) < 3 * per_class:
            turns += [mine.pop() for mine in by_problem.values() if mine]
        yield turns


def problem_files(folder: Path) -> dict[str, list[Path]]:
    return {
        "shipped": sorted((ROOT / "dags").glob("*.toml")),
        "collected": sorted((folder / "cases/dev").glob("*.json")),
    }


def run(files: list[Path], per_class: int, progress: Callable[[str], None]) -> dict[str, Any]:
    rng = random.Random(SEED)
    problems = {each.problem.id: each for each in map(prepare, files)}
    found = [fault for each in problems.values() for fault in all_faults(each, rng)]
    tallies, skipped = {"alone": Tally(), "among_right_ones": Tally()}, Counter[str]()
    for turns in chosen(found, per_class, rng):
        taken = 0
        for fault in turns:
            if taken == per_class:
                break
            taken += count(tallies, problems[fault.problem], fault, skipped)
        progress(f"{turns[0].wanted}: {taken}")
    results = {name: tally.result() for name, tally in tallies.items()}
    return {**results, "skipped": dict(sorted(skipped.items())), "missed": tallies["alone"].missed}


def main() -> int:
    parser = script.parser("Diagnosis of single faults.")
    parser.add_argument("--folder", type=Path, default=DATA, help="of the collected material")
    parser.add_argument("--slice", action="store_true", help="a few faults: what CI runs")
    options = parser.parse_args()
    prism.warm()
    result: dict[str, Any] = {"seed": SEED}
    for name, files in problem_files(options.folder).items():
        if files and not (options.slice and name != "shipped"):
            per_class = SLICE_PER_CLASS if options.slice else PER_CLASS if name == "shipped" else PER_CLASS // 2
            result[name] = run(files, per_class, lambda text: print(text, file=sys.stderr))
    print(json.dumps(result, sort_keys=True) if options.json else json.dumps(result, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

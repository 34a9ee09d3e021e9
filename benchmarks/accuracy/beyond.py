r"""Formulas beyond algebra: labelled pairs, and near-misses made of them.

`beyond/pairs.jsonl` has 30 pairs of each of 22 categories, derivatives to sets, which PRISM was written with;
`beyond/held_out.jsonl` has 20 of each, written by others afterwards. `beyond/readers.jsonl` and
`beyond/later_readers.jsonl` have 24 of each, written by readers who had not seen the code; of the later ones a pair was
left out whose only fault is `<` for `\le` (semantics Z.8). The collected pairs are measured where they are on this
machine. Each category has as many equal as unequal pairs. The field `context`, what a problem would say beside the
formulas, is not told to PRISM.
Counted as in `pairs.py`: right, missed, false accepts, undecided, with Wilson's 95 % intervals.

Near-misses are made of the trees of all distinct formulas of these pairs (`beyond_faults.py`): a limit, a dummy, the
factor of a measure, an order, an index, a conjugate, a sign. Each is compared with the formula that it was made of and
with that one's equal partner. Some say the same after all: factors that commute are exchanged, a sign stands in an even
function, and by default letters are positive reals. Nothing decides that for PRISM: an accepted near-miss is a false
accept unless `beyond/same_after_all.toml` says, with a reason, that it is the same. An accepted one that was read and
differs stands there too; those that nobody has read are listed apart.

    python benchmarks/accuracy/beyond.py [--data FOLDER] [--slice] [--json]
"""

from __future__ import annotations

import json
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy.beyond_faults import mutants  # noqa: E402
from benchmarks.accuracy.near_misses import Reading, interval  # noqa: E402
from benchmarks.accuracy.pairs import by_category, line, wrong  # noqa: E402
from benchmarks.material import DATA, PAIR_FILES, Pair, labelled_pairs  # noqa: E402
from benchmarks.rivals.workers import Answer  # noqa: E402
from prism.algebra.expr import Formula, without_text  # noqa: E402
from prism.equivalence.verdict import Verdict  # noqa: E402

HERE = Path(__file__).resolve().parent / "beyond"
FILES = {
    "beyond algebra, own": "pairs.jsonl",
    "beyond algebra, held out": "held_out.jsonl",
    "beyond algebra, readers": "readers.jsonl",
    "beyond algebra, later readers": "later_readers.jsonl",
}
COLLECTED = "beyond algebra, collected"
READ = HERE / "same_after_all.toml"
SEED = 20261124
PER_FORMULA = 12  # near-misses
SLICE_EVERY = 20  # in the slice two pairs of so many are taken, an equal and an unequal one,
SLICE_PER_FORMULA = 4  # and so many near-misses of each formula
SLOWEST = 10  # pairs that are named


@dataclass(frozen=True, slots=True)
class Source:
    """A formula that near-misses are made of.

    Attributes:
        category: of the pair that it is from.
        formula: as it was read.
        partners: formulas that say the same.
    """

    category: str
    formula: Formula
    partners: tuple[Formula, ...]


def data_sets(folder: Path | None) -> dict[str, list[Pair]]:
    """Pairs by data set; without a folder only those that stand here."""
    sets = {}
    for name, file in FILES.items():
        if (HERE / file).is_file():
            sets[name] = labelled_pairs(HERE, file)
    if folder is not None and (folder / PAIR_FILES[2]).is_file():
        sets[COLLECTED] = labelled_pairs(folder, PAIR_FILES[2])
    return sets


def read_pairs() -> dict[tuple[str, str], Reading]:
    """Accepted near-misses that were read: formula and near-miss as printed."""
    groups = tomllib.loads(READ.read_text("utf-8"))["read"]
    return {(one, two): Reading(group["same"], group["why"]) for group in groups for one, two in group["pairs"]}


# Deciding -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Clock:
    """What was asked, with the processor time of each question, and what raised an exception."""

    slowest: list[tuple[float, str]] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)

    def asked(self, one: Formula | str, two: Formula | str) -> Verdict | None:
        """PRISM's verdict; None if there was an exception, which is kept."""
        begun = time.process_time()
        try:
            verdict = prism.equivalent(one, two)
        except Exception as error:  # noqa: BLE001, whatever it is, it is a finding
            self.raised.append(f"{one}  |  {two}: {type(error).__name__}: {error}")
            return None
        spent = time.process_time() - begun
        if len(self.slowest) < SLOWEST or spent > self.slowest[-1][0]:
            self.slowest = sorted([*self.slowest, (spent, f"{one}  |  {two}")], reverse=True)[:SLOWEST]
        return verdict


def answers(pairs: Iterable[Pair], clock: Clock) -> list[Answer]:
    """PRISM's verdict on each labelled pair."""
    verdicts = [clock.asked(pair.gold, pair.answer) for pair in pairs]
    return [Answer("error") if said is None else Answer(str(said.status), said.reason) for said in verdicts]


# Near-misses ----------------------------------------------------------------------------------------------------


def sources(pairs: Sequence[Pair]) -> list[Source]:
    """Every distinct formula of some pairs that is read, with those that say the same."""
    read: dict[str, Formula] = {}
    partners: dict[str, dict[str, Formula]] = {}
    categories: dict[str, str] = {}
    for pair in pairs:
        known = _parsed(pair.gold), _parsed(pair.answer)
        for one, two in (known, known[::-1]):
            if one is not None:
                key = str(one)
                read.setdefault(key, one)
                categories.setdefault(key, pair.category)
                if pair.equal and two is not None and str(two) != key:
                    partners.setdefault(key, {})[str(two)] = two
    return [Source(categories[key], one, tuple(partners.get(key, {}).values())[:1]) for key, one in read.items()]


def _parsed(latex: str) -> Formula | None:
    try:
        return without_text(prism.parse(latex))
    except prism.PrismError:
        return None


@dataclass(slots=True)
class Sweep:
    """What became of the near-misses.

    Attributes:
        read: what a person said of accepted ones.
        n: near-misses; each is compared once or twice.
        statuses, by_fault, by_category: verdicts, in all, by kind of fault and by category.
        same: accepted ones that say the same after all. accepted: those that were read and differ.
        unread: accepted ones that nobody has read.
    """

    read: dict[tuple[str, str], Reading]
    n: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    by_fault: dict[str, Counter[str]] = field(default_factory=dict)
    by_category: dict[str, Counter[str]] = field(default_factory=dict)
    same: int = 0
    accepted: list[str] = field(default_factory=list)
    unread: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, source: Source, kind: str, against: Formula, mutant: Formula, verdict: Verdict | None) -> None:
        """Count one verdict."""
        status = "error" if verdict is None else str(verdict.status)
        if status == "equivalent":
            said = self.read.get((str(against), str(mutant)))
            if said is None:
                self.unread.append((kind, str(against), str(mutant)))
            elif not said.same:
                self.accepted.append(f"{kind}: {against}  |  {mutant}: {said.why}")
            else:
                self.same += 1
                status = "same after all"
        self.statuses[status] += 1
        self.by_fault.setdefault(kind, Counter())[status] += 1
        self.by_category.setdefault(source.category, Counter())[status] += 1

    def result(self) -> dict[str, Any]:
        """All figures, for JSON."""
        wrong_ones = self.statuses.total() - self.statuses["same after all"]
        return {
            "near_misses": self.n,
            "comparisons": self.statuses.total(),
            "verdicts": dict(self.statuses),
            "false_accepts": interval(self.statuses["equivalent"], wrong_ones),
            "undecided": interval(self.statuses["undecided"], wrong_ones),
            "by_fault": {kind: dict(row) for kind, row in self.by_fault.items()},
            "by_category": {category: dict(row) for category, row in self.by_category.items()},
            "accepted_and_different": self.accepted,
            "to_be_read": [f"{kind}: {one}  |  {two}" for kind, one, two in self.unread],
        }


def swept(base: Iterable[Source], per_formula: int, clock: Clock) -> Sweep:
    """Make the near-misses of some formulas and ask PRISM about each of them."""
    found = Sweep(read_pairs())
    for source in base:
        for kind, mutant in _some(source, per_formula):
            found.n += 1
            for against in (source.formula, *source.partners):
                found.add(source, kind, against, mutant, clock.asked(against, mutant))
    return found


def _some(source: Source, count: int) -> Iterator[tuple[str, Formula]]:
    """So many near-misses of a formula, none of them spelled as a partner."""
    partners = {str(partner) for partner in source.partners}
    made = mutants(source.formula, random.Random(f"{SEED} {source.formula}"))
    for (kind, mutant), _ in zip((item for item in made if str(item[1]) not in partners), range(count), strict=False):
        yield kind, mutant


# Reporting ------------------------------------------------------------------------------------------------------


def measure(sets: dict[str, list[Pair]], per_formula: int) -> dict[str, Any]:
    """All figures."""
    clock = Clock()
    labelled: dict[str, Any] = {}
    not_right: list[dict[str, Any]] = []
    for name, pairs in sets.items():
        decided = list(zip(pairs, answers(pairs, clock), strict=True))
        labelled[name] = by_category(decided)
        not_right += [{"set": name, **item} for item in wrong(decided)]
    base = sources([pair for pairs in sets.values() for pair in pairs])
    found = swept(base, per_formula, clock)
    return {
        "sets": labelled,
        "wrong or undecided": not_right,
        "formulas": len(base),
        "seed": SEED,
        "sweep": found.result(),
        "exceptions": clock.raised,
        "slowest": [{"seconds": round(spent, 2), "pair": pair} for spent, pair in clock.slowest],
    }


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    for name, rows in result["sets"].items():
        print(f"\n{name}")
        print(f"{'':46}{'n':>5}{'right':>7}{'share, 95 % interval':>26}{'missed':>8}{'accepted':>9}{'undecided':>16}")
        for category, row in rows.items():
            line(category, row)
    for item in result["wrong or undecided"]:
        label = "equal" if item["equal"] else "unequal"
        if not item["equal"] and item["status"] == "equivalent":
            print(f"{item['set']}: {item['id']} ({label}): {item['status']}, {item['reason']}")
    print(json.dumps({name: result[name] for name in ("formulas", "sweep", "exceptions", "slowest")}, indent=1))


def main() -> int:
    parser = script.parser("Formulas beyond algebra: labelled pairs, and near-misses of them.", data=DATA)
    parser.add_argument("--slice", action="store_true", help="a few pairs of this folder: what CI runs")
    options = parser.parse_args()
    prism.warm()
    sets = data_sets(None if options.slice else options.data)
    if options.slice:
        sets = {
            name: [pair for k, pair in enumerate(pairs) if k % SLICE_EVERY < 2] for name, pairs in sets.items()
        }  # fmt: skip
    result = measure(sets, SLICE_PER_FORMULA if options.slice else PER_FORMULA)
    script.tell(result, show, as_json=options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

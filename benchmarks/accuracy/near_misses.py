"""Near-misses and rewrites of physics formulas: how often is a wrong one accepted, a right one refused?

Every formula of `formulas.py` (case files, shipped problems, `physics_formulas.toml`, collected material if it is on
this machine) is changed by one fault (`faults.py`), a third of them then disguised by a change of both sides; and apart
from that rewritten without a change of meaning (`rewriting.py`). PRISM decides each pair. False accepts, false rejects
and undecided are counted apart, by kind, with 95 % Wilson intervals.

What is true does not come from PRISM. Some faults change nothing (`cos(-x)`, `m_1` and `m_2` swapped in a symmetric
formula), so each near-miss is labelled by `zero_sets.py`, which finds zeros by other means and compares with a hundred
digits; those that are the same after all are counted as `same_after_all`. What it cannot tell, and what it and PRISM
see differently, is read by a person: `near_misses_read.toml` says of each such pair whether it is the same, and why. An
accepted near-miss that neither vouches for counts as a false accept; pairs that still have to be read are listed.

Formulas with complex numbers, vectors or operators are counted as `not_evaluated`. Deterministic
for a seed.

    python benchmarks/accuracy/near_misses.py [--folder FOLDER] [--slice] [--json]
"""

from __future__ import annotations

import json
import random
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy.formulas import Known, known_formulas  # noqa: E402
from benchmarks.accuracy.rewriting import disguised, rewrites  # noqa: E402
from benchmarks.accuracy.zero_sets import relation  # noqa: E402
from benchmarks.intervals import bounds  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from prism.algebra.expr import Expr, Formula, canonical_zero, symbols  # noqa: E402
from prism.equivalence.verdict import Verdict  # noqa: E402
from tests.support.faults import near_misses  # noqa: E402

READ = Path(__file__).resolve().parent / "near_misses_read.toml"
SEED = 20261122
PER_FORMULA = 50  # near-misses
DISGUISED = 1 / 3  # of the near-misses are rewritten as well
SLICE_EVERY = 40  # in the slice one formula of so many is taken,
SLICE_PER_FORMULA = 12  # and so many near-misses of each
SAME = ("same", "same where positive")
EXPECTED = {"same": "equivalent", "differs": "different"}


def interval(count: int, n: int) -> dict[str, float | int]:
    """A share with its 95 % interval, to six places: these shares are small.

    >>> interval(0, 100)
    {'count': 0, 'n': 100, 'share': 0.0, 'low': 0.0, 'high': 0.036993}
    """
    if not n:
        return {"count": count, "n": n, "share": 0.0, "low": 0.0, "high": 1.0}
    low, high = bounds(count, n)
    return {"count": count, "n": n, "share": round(count / n, 6), "low": round(low, 6), "high": round(high, 6)}


@dataclass(slots=True)
class Tally:
    """Counts by status, in all and by kind, and the pairs that somebody has to look at."""

    all: Counter[str] = field(default_factory=Counter)
    by_kind: dict[str, Counter[str]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    undecided: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, pair: str, verdict: Verdict) -> None:
        """Count one verdict."""
        self.all[verdict.status] += 1
        self.reasons[verdict.reason] += 1
        self.by_kind.setdefault(kind, Counter())[verdict.status] += 1
        if verdict.status == "undecided":
            detail = f": {verdict.detail}" if verdict.reason == "unsupported" else ""
            self.undecided.setdefault(verdict.reason + detail, []).append(f"{kind}: {pair}")

    def kinds(self) -> dict[str, dict[str, int]]:
        """Counts of each kind, for JSON."""
        return {kind: dict(row) for kind, row in self.by_kind.items()}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a person said of a pair: whether it is the same, and why."""

    same: bool
    why: str


@dataclass(slots=True)
class Run:
    """What one run found.

    Attributes:
        wrong: near-misses that differ. same: near-misses that are the same after all. right: rewrites.
        outside: near-misses and rewrites of formulas with complex numbers, vectors or operators.
        rounded: near-misses that PRISM accepts within the precision of the decimals that are written, and says so.
        accepted: near-misses that PRISM accepts, each with what the check and a person say of it.
        refused: rewrites, and near-misses that are the same, that PRISM calls different.
        unread: pairs that a person has to read, with the reason.
    """

    read: dict[tuple[str, str], Reading]
    wrong: Tally = field(default_factory=Tally)
    same: Tally = field(default_factory=Tally)
    right: Tally = field(default_factory=Tally)
    outside: Tally = field(default_factory=Tally)
    rounded: Tally = field(default_factory=Tally)
    accepted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def near_miss(self, known: Known, kind: str, wrong: Formula) -> None:
        """Decide, label and count a formula with a fault."""
        pair = f"{known.formula}  |  {wrong}"
        verdict = _decide(known, wrong)
        if not known.is_evaluated:
            self.outside.add(kind, pair, verdict)
            return
        said = self.read.get((str(known.formula), str(wrong)))
        label = relation(known.formula, wrong, known.context.kinds)
        is_same = label in SAME if said is None else said.same
        if verdict.approximate and not is_same:
            self.rounded.add(kind, pair, verdict)
            return
        (self.same if is_same else self.wrong).add(kind, pair, verdict)
        if verdict.status == "equivalent":
            reading = f"read: {said.why}" if said else "not read"
            self.accepted.append(f"{kind}: {pair}: {'same' if is_same else 'DIFFERS'}; check: {label}; {reading}")
        if verdict.status == "different" and is_same:
            self.refused.append(f"{kind}: {pair}: {verdict.reason}, {verdict.witness}")
        agreed = EXPECTED.get(label) == verdict.status
        if said is None and not agreed and verdict.status != "undecided":
            self.unread.append(f"{kind}: {pair}: {label}, but {verdict.status}, {verdict.reason}")

    def rewrite(self, known: Known, kind: str, right: Formula) -> None:
        """Decide and count a formula that says the same; what is refused is labelled too."""
        pair = f"{known.formula}  |  {right}"
        verdict = _decide(known, right)
        (self.right if known.is_evaluated else self.outside).add(kind, pair, verdict)
        if known.is_evaluated and verdict.status == "different":
            self.refused.append(f"{kind}: {pair}: {verdict.reason}, {verdict.witness}")
            label = relation(known.formula, right, known.context.kinds)
            if label not in SAME and (str(known.formula), str(right)) not in self.read:
                self.unread.append(f"{kind}: {pair}: a rewrite that {label}")

    def result(self) -> dict[str, Any]:
        """All figures, for JSON."""
        wrong, same, right = self.wrong.all, self.same.all, self.right.all
        truly_same = same + right
        return {
            "near_misses": dict(wrong),
            "same_after_all": dict(same),
            "rewrites": dict(right),
            "not_evaluated": dict(self.outside.all),
            "within_decimals": dict(self.rounded.all),
            "false_accepts": interval(wrong["equivalent"], wrong.total()),
            "false_rejects": interval(truly_same["different"], truly_same.total()),
            "undecided_near_misses": interval(wrong["undecided"], wrong.total()),
            "undecided_same": interval(truly_same["undecided"], truly_same.total()),
            "by_fault": self.wrong.kinds(),
            "same_after_all_by_fault": self.same.kinds(),
            "by_rewrite": self.right.kinds(),
            "reasons": {
                "near_misses": dict(self.wrong.reasons), "same_after_all": dict(self.same.reasons),
                "rewrites": dict(self.right.reasons),
            },
            "accepted_near_misses": self.accepted,
            "refused_though_the_same": self.refused,
            "undecided": {
                "near_misses": self.wrong.undecided, "same_after_all": self.same.undecided,
                "rewrites": self.right.undecided,
            },
            "to_be_read": self.unread,
        }  # fmt: skip


def read_pairs() -> dict[tuple[str, str], Reading]:
    """Pairs that were read, right and wrong as printed."""
    groups = tomllib.loads(READ.read_text("utf-8"))["read"]
    return {(right, wrong): Reading(group["same"], group["why"]) for group in groups for right, wrong in group["pairs"]}


def _decide(known: Known, other: Formula) -> Verdict:
    return prism.equivalent(known.formula, other, context=known.context)


def _form(f: Formula) -> str:
    return canonical_zero(Expr("sub", f.members))


def is_a_fault(known: Known, wrong: Formula) -> bool:
    """False for what is plainly the same: one canonical form, which the other check confirms."""
    if _form(wrong) != _form(known.formula):
        return True
    return known.is_evaluated and relation(known.formula, wrong, known.context.kinds) == "differs"


def run(base: list[Known], per_formula: int) -> Run:
    found = Run(read_pairs())
    for known in base:
        rng = random.Random(f"{SEED} {known.formula}")
        names = tuple(sorted(symbols(*known.formula.members)))
        taken = 0
        for kind, wrong in near_misses(known.formula, names, rng):
            if taken == per_formula:
                break
            if is_a_fault(known, wrong):
                taken += 1
                hidden = rng.random() < DISGUISED
                found.near_miss(known, kind, disguised(wrong, known.context.kinds, rng) if hidden else wrong)
        seen = set()
        for kind, right in rewrites(known.formula, known.context.kinds, rng):
            if str(right) not in seen and str(right) != str(known.formula):
                seen.add(str(right))
                found.rewrite(known, kind, right)
    return found


def main() -> int:
    parser = script.parser("Near-misses and rewrites of physics formulas.")
    parser.add_argument("--folder", type=Path, default=DATA, help="of the collected material")
    parser.add_argument("--slice", action="store_true", help="a few formulas and pairs: what CI runs")
    options = parser.parse_args()
    prism.warm()
    base = list(known_formulas(options.folder))
    evaluated = [known for known in base if known.is_evaluated]
    found = run(base[::SLICE_EVERY] if options.slice else base, SLICE_PER_FORMULA if options.slice else PER_FORMULA)
    result = {
        "formulas": len(evaluated),
        "formulas_by_source": dict(Counter(known.source for known in evaluated)),
        "formulas_not_evaluated": len(base) - len(evaluated),
        "seed": SEED,
        **found.result(),
    }
    print(json.dumps(result, sort_keys=True) if options.json else json.dumps(result, indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

r"""Decide labelled pairs of formulas with PRISM and, in the same run, with others.

Data sets: pairs of the test suites of other graders whose label is plain equivalence (units apart), pairs of physics,
pairs beyond algebra, all three collected; and `physics_pairs.toml` of this folder. Each judge runs in a process of its
own, in its best configuration (`../rivals/judge.py`), and has five seconds of processor time a pair; then it is ended
and started anew.

*right* is `equivalent` on an equal pair, anything else on an unequal one. *undecided* are pairs that a judge does not
read, gives up or has no time for; those on unequal pairs count as right, and also apart. Intervals are Wilson's, 95 %;
pairs of one suite are alike, so the true ones are wider. `math-verify` is not symmetric: it is asked in the order that
its documentation wants, and apart in the other one. Where it is not strict, some of its answers go by the order of
Python's sets, so all run with one seed of the hashes.

    python benchmarks/accuracy/pairs.py [--data FOLDER] [--only JUDGE] [--slice] [--json]

`--slice` asks PRISM alone, about the pairs of this folder. The others need the environments of `make bench`; one that
is absent is left out and said so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import script  # noqa: E402
from benchmarks.intervals import wilson  # noqa: E402
from benchmarks.material import DATA, PAIR_FILES, Pair, labelled_pairs, own_pairs  # noqa: E402
from benchmarks.rivals.judge import JUDGES, PATIENCE  # noqa: E402
from benchmarks.rivals.workers import ISOLATED, Answer, RivalError, asked, python_of  # noqa: E402

JUDGE = ROOT / "benchmarks" / "rivals" / "judge.py"
OURS = "prism"
OWN = "physics, own"


def data_sets(folder: Path | None) -> dict[str, list[Pair]]:
    """Pairs by data set; without a folder only those that stand here."""
    sets = {OWN: own_pairs()}
    if folder is None:
        return sets
    suites, physics, beyond = (labelled_pairs(folder, file) for file in PAIR_FILES)
    core = [pair for pair in suites if pair.is_core]
    return {
        "suites, core": [pair for pair in core if pair.category != "units"],
        "suites, core, units": [pair for pair in core if pair.category == "units"],
        "physics, collected": physics,
        "beyond algebra": beyond,
        **sets,
    }


def python_for(judge: str) -> Path:
    """The interpreter that runs a judge."""
    environment = JUDGES[judge].environment
    return python_of(environment) if environment else Path(sys.executable)


def ask(judge: str, pairs: Sequence[Pair]) -> tuple[list[Answer], dict[str, str]]:
    """A judge's answer to each pair, and the packages that it ran with."""
    versions: dict[str, str] = {}
    command = [str(python_for(judge)), *ISOLATED, str(JUDGE), judge]
    return list(asked(command, [(pair.gold, pair.answer) for pair in pairs], versions, limit=2 * PATIENCE)), versions


# Counting -----------------------------------------------------------------------------------------------------


def is_right(pair: Pair, answer: Answer) -> bool:
    return (answer.status == "equivalent") == pair.equal


def is_open(answer: Answer) -> bool:
    """Neither equivalent nor different."""
    return answer.status not in ("equivalent", "different")


def counts(decided: Sequence[tuple[Pair, Answer]]) -> dict[str, Any]:
    """What a judge made of some pairs."""

    def number(fits: Callable[[Pair, Answer], bool]) -> int:
        return sum(fits(pair, answer) for pair, answer in decided)

    n_equal = number(lambda pair, _: pair.equal)
    return {
        "right": wilson(number(is_right), len(decided)),
        "missed equal": wilson(number(lambda pair, answer: pair.equal and not is_right(pair, answer)), n_equal),
        "false accepts": wilson(
            number(lambda pair, answer: not pair.equal and not is_right(pair, answer)), len(decided) - n_equal
        ),
        "undecided": number(lambda _, answer: is_open(answer)),
        "undecided unequal": number(lambda pair, answer: not pair.equal and is_open(answer)),
        "timeout": number(lambda _, answer: answer.status == "timeout"),
    }


def by_category(decided: Sequence[tuple[Pair, Answer]]) -> dict[str, dict[str, Any]]:
    """The same for all of a data set and for each of its categories."""
    categories = dict.fromkeys(pair.category for pair, _ in decided)
    parts = {name: counts([item for item in decided if item[0].category == name]) for name in categories}
    return {"all": counts(decided), **parts}


def wrong(decided: Sequence[tuple[Pair, Answer]]) -> list[dict[str, Any]]:
    """The pairs that were not decided rightly, or not at all."""
    return [
        {"id": pair.id, "equal": pair.equal, "status": answer.status, "reason": str(answer.content or "")}
        for pair, answer in decided
        if not is_right(pair, answer) or is_open(answer)
    ]


# Reporting ----------------------------------------------------------------------------------------------------


def show(result: dict[str, Any]) -> None:
    names = {name: len(pairs) for name, pairs in result["sets"].items()}
    for name in names:
        print(f"\n{name}")
        print(f"{'':46}{'n':>5}{'right':>7}{'share, 95 % interval':>26}{'missed':>8}{'accepted':>9}{'undecided':>16}")
        for judge, found in result["judges"].items():
            for category, row in found["sets"][name].items():
                if category == "all":
                    line(judge, row)
                elif judge == OURS:
                    line(f"  {category}", row)
    for item in result["wrong or undecided"]:
        label = "equal" if item["equal"] else "unequal"
        print(f"{item['set']}: {item['id']} ({label}): {item['status']}, {item['reason']}")
    for judge, reason in result["absent"].items():
        print(f"{judge}: {reason}")


def line(name: str, row: dict[str, Any]) -> None:
    """One row of the table; of the undecided, how many are unequal and how many ran out of time."""
    right = row["right"]
    share = f"{right['share']:.1%} ({right['low']:.1%} to {right['high']:.1%})"
    still = f"{row['undecided']} ({row['undecided unequal']}, {row['timeout']})"
    missed, accepted = row["missed equal"]["part"], row["false accepts"]["part"]
    print(f"{name:46}{right['of']:>5}{right['part']:>7}{share:>26}{missed:>8}{accepted:>9}{still:>16}")


def main() -> int:
    parser = script.parser("Decide labelled pairs with PRISM and with others.", data=DATA)
    parser.add_argument("--only", action="append", choices=sorted(JUDGES), help="ask only these judges")
    parser.add_argument("--slice", action="store_true", help="PRISM alone, on the pairs of this folder")
    options = parser.parse_args()
    if not options.slice:
        script.require(*(options.data / file for file in PAIR_FILES))
    sets = data_sets(None if options.slice else options.data)
    pairs = [pair for part in sets.values() for pair in part]
    result: dict[str, Any] = {
        "sets": {name: {"pairs": len(part), "equal": sum(p.equal for p in part)} for name, part in sets.items()},
        "judges": {}, "wrong or undecided": [], "absent": {},
    }  # fmt: skip
    for judge in (OURS,) if options.slice else options.only or JUDGES:
        if not python_for(judge).exists():
            result["absent"][judge] = "no environment; `make bench` builds it"
            continue
        try:
            answers, versions = ask(judge, pairs)
        except RivalError as error:
            print(error, file=sys.stderr)
            return 1
        decided, found = list(zip(pairs, answers, strict=True)), {}
        for name, part in sets.items():
            mine, decided = decided[: len(part)], decided[len(part) :]
            found[name] = by_category(mine)
            if judge == OURS:
                result["wrong or undecided"] += [{"set": name, **item} for item in wrong(mine)]
        result["judges"][judge] = {"versions": versions, "sets": found}
    script.tell(result, show, as_json=options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

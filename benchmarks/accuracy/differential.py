"""Read the same formulas with PRISM and with two rivals, and compare what they made of them by value.

Formulas are those of `formulas.jsonl`, all that `prism.extract` finds in `worked.jsonl`, and a fixed sample of what it
finds in `rollouts.jsonl`. Where both readers read a formula, each relation (or the bare value) is compared side by
side at random points. A difference is explained by the smallest set of conventions that, undone on both sides, makes
the values agree; what no convention explains is listed. The classes are told in README.md of this folder.

Two oracles look at PRISM's reading alone: the formula is handed to sympy and to symengine (`Formula.to_sympy`,
`to_symengine`), and the values that they compute are held beside those of `tests/reference.py`.

    python benchmarks/accuracy/differential.py [--sample N] [--show CLASS] [--keep FOLDER] [--json]

Needs the environments of `make bench`; a rival whose environment is absent is left out and said so. The oracles need
only the extra `sympy`.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.material import DATA, texts  # noqa: E402
from benchmarks.rivals.conventions import BY_LOOK, SAME, UNDEFINED, UNEXPLAINED, explain  # noqa: E402
from benchmarks.rivals.oracles import LIBRARIES, OUTCOMES, values_agree  # noqa: E402
from benchmarks.rivals.readings import Reading, UnreadableError, ours, theirs  # noqa: E402
from benchmarks.rivals.workers import ENVIRONMENTS, Answer, RivalError, answers, python_of  # noqa: E402

SAMPLE = 1_200  # formulas of the rollouts; all sixteen models are among them
_SEED = 3
_MAX_LENGTH = 400  # characters; a rival needs seconds for longer ones


def formulas(folder: Path, sample: int) -> list[str]:
    """Distinct formulas, in a fixed order."""
    listed = texts(folder, "formulas.jsonl")
    worked = [found.latex for text in texts(folder, "worked.jsonl") for found in prism.extract(text)]
    rolled = [found.latex for text in texts(folder, "rollouts.jsonl") for found in prism.extract(text)]
    known = dict.fromkeys([*listed, *worked])
    fresh = sorted(set(rolled) - known.keys())
    chosen = random.Random(_SEED).sample(fresh, min(sample, len(fresh)))
    return [latex for latex in (*known, *chosen) if len(latex) <= _MAX_LENGTH]


def our_readings(items: Sequence[str]) -> list[Reading | None]:
    """PRISM's reading of each formula, None where it refuses."""
    return [read(latex) for latex in items]


def read(latex: str) -> Reading | None:
    """PRISM's reading of one formula, None where it refuses."""
    try:
        return ours(prism.parse(latex))
    except prism.LatexSyntaxError:
        return None


@dataclass(frozen=True, slots=True)
class Rival:
    """A rival's answers, and the packages it ran with."""

    name: str
    versions: dict[str, str]
    answers: tuple[Answer, ...]


def ask(name: str, items: Sequence[str], keep: Path | None) -> Rival:
    """Ask one rival; with a folder to keep answers in, only what it has not answered before."""
    path = keep / f"{name}.json" if keep else None
    known: dict[str, list[Any]] = json.loads(path.read_text()) if path and path.exists() else {}
    versions: dict[str, str] = dict(known.pop("versions", ()))
    missing = [latex for latex in items if latex not in known]
    if missing:
        for latex, answer in zip(missing, answers(name, missing, versions), strict=True):
            known[latex] = [answer.status, answer.content]
        if path:
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(json.dumps({**known, "versions": list(versions.items())}))
    return Rival(name, versions, tuple(Answer(*known[latex]) for latex in items))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One formula that both read: the class of its difference (`same` for none)."""

    latex: str
    verdict: str


def compare(
    items: Sequence[str], mine: Sequence[Reading | None], rival: Rival
) -> tuple[Counter[str], list[Comparison]]:
    """How many formulas were read by whom, and the class of each that both read."""
    coverage: Counter[str] = Counter()
    compared: list[Comparison] = []
    for latex, reading, answer in zip(items, mine, rival.answers, strict=True):
        their_reading = None
        if answer.status == "read":
            try:
                their_reading = theirs(answer.content)
            except (UnreadableError, RecursionError):
                coverage["returned no formula"] += 1
        coverage["timeout"] += answer.status == "timeout"
        coverage[_COVERAGE[reading is not None, their_reading is not None]] += 1
        if reading is not None and their_reading is not None:
            compared.append(Comparison(latex, explain(latex, reading, their_reading, read)))
    return coverage, compared


_COVERAGE = {(True, True): "both", (True, False): "only PRISM", (False, True): "only the rival", (False, False): "none"}


def summary(coverage: Counter[str], compared: list[Comparison]) -> dict[str, Any]:
    """Counts of one rival; a difference that two conventions explain together counts in both classes."""
    proved: Counter[str] = Counter()
    looks: Counter[str] = Counter()
    for item in compared:
        for name in item.verdict.split(" + "):
            bare = name.removesuffix(BY_LOOK)
            (proved if bare == name else looks)[bare] += 1
    same, unexplained, undefined = (proved.pop(name, 0) for name in (SAME, UNEXPLAINED, UNDEFINED))
    return {
        "coverage": dict(coverage),
        "compared": len(compared),
        "same value": same,
        "undefined": undefined,
        "unexplained": unexplained,
        "classes proved by value": dict(proved),
        "classes by look": dict(looks),
    }


def oracles(items: Sequence[str]) -> dict[str, Counter[str]]:
    """What sympy and symengine make of the formulas that PRISM reads: the same values, others, none, or refused."""
    found: dict[str, Counter[str]] = {library: Counter() for library in LIBRARIES}
    for latex in items:
        try:
            written = prism.parse(latex)
        except prism.LatexSyntaxError:
            continue
        for library, counts in found.items():
            try:
                counts[OUTCOMES[values_agree(written, library)]] += 1
            except prism.ConversionError:
                counts["refused"] += 1
    return found


def report(rival: Rival, counts: dict[str, Any], compared: list[Comparison], shown: Sequence[str]) -> None:
    print(f"\n{rival.name} {rival.versions.get(rival.name, '')}: {counts['coverage']}")
    share = counts["same value"] / max(1, counts["compared"])
    print(
        f"same value {counts['same value']} of {counts['compared']} ({share:.1%}), "
        f"undefined {counts['undefined']}, unexplained {counts['unexplained']}"
    )
    proved, looks = counts["classes proved by value"], counts["classes by look"]
    print(f"{'by value':>9}{'by look':>9}")
    for name in sorted({**proved, **looks}, key=lambda name: (-proved.get(name, 0) - looks.get(name, 0), name)):
        print(f"{proved.get(name, 0):9}{looks.get(name, 0):9}  {name}")
    for word in shown:
        for item in compared:
            if word in item.verdict:
                print(f"{item.verdict}: {item.latex!r}")


def main() -> int:
    parser = script.parser("Compare PRISM's reader with two rivals, by value.")
    parser.add_argument("--folder", type=Path, default=DATA)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="formulas taken from the rollouts")
    parser.add_argument("--show", action="append", default=[], help="list the formulas of classes with this word")
    parser.add_argument("--keep", type=Path, help="folder that keeps the rivals' answers for the next run")
    options = parser.parse_args()
    script.require(options.folder / "formulas.jsonl")
    present = [name for name in ENVIRONMENTS if python_of(name).exists()]
    for name in ENVIRONMENTS.keys() - set(present):
        print(f"{name}: no environment; `make bench` builds it", file=sys.stderr)
    items = formulas(options.folder, options.sample)
    mine = our_readings(items)
    try:
        with ThreadPoolExecutor(max(1, len(present))) as pool:
            rivals = list(pool.map(lambda name: ask(name, items, options.keep), present))
    except RivalError as error:
        print(error, file=sys.stderr)
        return 1
    result: dict[str, Any] = {
        "formulas": len(items),
        "read by PRISM": sum(reading is not None for reading in mine),
        "oracles": oracles(items),
    }
    if not options.json:
        print(result)
    for rival in rivals:
        coverage, compared = compare(items, mine, rival)
        counts = summary(coverage, compared)
        result[rival.name] = {"versions": rival.versions, **counts}
        if not options.json:
            report(rival, counts, compared, options.show)
    if options.json:
        print(json.dumps(result, sort_keys=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

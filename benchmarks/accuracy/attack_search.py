"""Compose texts that do not stand by the right answer, and keep those that earn something.

The texts are made by `tests/support/composed_attacks.py`, which knows what each of them stands by. A gain is made as
small as it goes and listed by class, the smallest text of each class in full. Tried are all shipped problems, the small
ones of `tests/cases/attacks/problems/`, the development cases, and problems drafted from worked solutions, where they
are. Text k of a problem depends on nothing but the seed, k and the problem, so the number of processes changes nothing.
With `--state` the finished pieces are kept in a file, and a later run goes on behind them; `--again` grades the texts
that gained there anew, after a change of the grader.

    python benchmarks/accuracy/attack_search.py [--count N] [--jobs N] [--state FILE] [--only PROBLEM] [--slice]
        [--again] [--json]
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import prism  # noqa: E402
from benchmarks import script  # noqa: E402
from benchmarks.accuracy.drafting import rows_of  # noqa: E402
from benchmarks.material import DATA  # noqa: E402
from prism.authoring.drafting import draft  # noqa: E402
from prism.grading.prepared import PreparedProblem, prepare  # noqa: E402
from tests.support.attacks import DEV, SAME_SCORE, shipped  # noqa: E402
from tests.support.composed_attacks import Attack, Target, compose, smallest, targets_of  # noqa: E402

SEED = 20261124
COUNT = 200_000  # texts
SLICE = 2_000
PIECE = 500  # texts of one task
JOBS = 2
DRAFTED = 12  # problems drafted from worked solutions

Piece = tuple[str, int, int]  # name of a problem, first text, number of texts


def problem_names() -> list[str]:
    """Names of the problems: paths from the root or of the data, and ids of drafted ones."""
    names = [str(path) for path in (*shipped(), *sorted(DEV.glob("*.json")))]
    return [*names, *(f"draft:{name}" for name in _drafted())]


@cache
def _drafted() -> Mapping[str, Any]:
    """The first worked solutions whose drafts have a final answer to attack, by id."""
    found: dict[str, Any] = {}
    rows = rows_of(DATA, "worked.jsonl", 1) if (DATA / "worked.jsonl").is_file() else ()
    for row in rows:
        if len(found) == DRAFTED:
            break
        try:
            made = draft(row["solution"], problem=row["problem"], name=row["id"]).data
            if targets_of(prepare(made)):
                found[row["id"]] = made
        except prism.PrismError:
            continue
    return found


@cache
def prepared(name: str) -> tuple[PreparedProblem, list[Target]]:
    """A problem and its final answers."""
    is_drafted = name.startswith("draft:")
    ready = prepare(_drafted()[name.removeprefix("draft:")] if is_drafted else Path(name))
    return ready, targets_of(ready)


def run(piece: Piece) -> dict[str, Any]:
    """Try the texts of one piece: how many there were, and what gained, made small."""
    name, first, count = piece
    ready, targets = prepared(name)
    counts: Counter[str] = Counter()
    gains: list[dict[str, Any]] = []
    seen: set[str] = set()

    def gain(attack: Attack) -> bool:
        """Whether a text earns anything; it deserves nothing."""
        return (prism.grade(ready, attack.text).score or 0.0) > SAME_SCORE

    for k in range(first, first + count):
        rng = random.Random(f"{SEED}:{Path(name).stem}:{k}")
        attack = compose(rng.choice(targets), rng) if targets else None
        if attack is None or attack.text in seen:
            continue
        seen.add(attack.text)
        counts["texts"] += 1
        counts[f"texts, {attack.trick}"] += 1
        if not gain(attack):
            continue
        counts["gains"] += 1
        small = smallest(attack, gain)
        if small.text in seen and small != attack:
            continue
        seen.add(small.text)
        grade = prism.grade(ready, small.text)
        gains.append(
            {"class": small.name, "problem": Path(name).stem, "name": name, "text": small.text, "score": grade.score,
             "matched": list(grade.matched), "about": small.target.index}
        )  # fmt: skip
    return {"piece": list(piece), "counts": dict(counts), "gains": gains}


def pieces(count: int, only: str) -> list[Piece]:
    """The work, as many texts for each problem."""
    names = [name for name in problem_names() if only in name]
    each = -(-count // len(names))
    return [(name, first, min(PIECE, each - first)) for name in names for first in range(0, each, PIECE)]


def results(work: list[Piece], jobs: int, state: Path | None) -> Iterator[dict[str, Any]]:
    """Each piece, from the file or tried; what is tried is written to the file at once."""
    kept = [json.loads(line) for line in state.read_text().splitlines()] if state and state.is_file() else []
    done = {tuple(each["piece"]): each for each in kept}
    yield from (done[piece] for piece in work if piece in done)
    left = [piece for piece in work if piece not in done]
    if jobs == 1:
        fresh = map(run, left)
        yield from map(_keeper(state), fresh)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from map(_keeper(state), pool.map(run, left))


def still_gaining(state: Path) -> list[dict[str, Any]]:
    """The kept gains that gain with this version of the grader too."""
    kept = [gain for line in state.read_text().splitlines() for gain in json.loads(line)["gains"]]
    return [gain for gain in kept if (prism.grade(prepared(gain["name"])[0], gain["text"]).score or 0.0) > SAME_SCORE]


def _keeper(state: Path | None) -> Any:
    def keep(found: dict[str, Any]) -> dict[str, Any]:
        if state:
            with state.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
        return found

    return keep


def table(found: Iterator[dict[str, Any]]) -> dict[str, Any]:
    """All pieces together: counts, and of each class of gains how many there are and the smallest text."""
    counts: Counter[str] = Counter()
    by_class: dict[str, list[dict[str, Any]]] = {}
    problems = set()
    for each in found:
        counts.update(each["counts"])
        problems.add(each["piece"][0])
        for gain in each["gains"]:
            by_class.setdefault(gain["class"], []).append(gain)
    classes = {
        name: {"gains": len(group), "problems": len({gain["problem"] for gain in group}),
               "smallest": min(group, key=lambda gain: (len(gain["text"]), gain["text"]))}
        for name, group in sorted(by_class.items())
    }  # fmt: skip
    return {
            "seed": SEED, "problems": len(problems), "drafted": sum(name.startswith("draft:") for name in problems),
            "texts": counts["texts"], "gains": counts["gains"], "classes": classes,
            "texts_by_trick": {key.removeprefix("texts, "): n for key, n in sorted(counts.items()) if ", " in key},
    }  # fmt: skip


def main() -> int:
    parser = script.parser("Compose texts that do not stand by the right answer.")
    parser.add_argument("--count", type=int, default=COUNT, help="texts to compose")
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--state", type=Path, help="file of the finished pieces; a later run goes on behind them")
    parser.add_argument("--only", default="", help="problems whose path or id holds this")
    parser.add_argument("--slice", action="store_true", help="a few texts: what CI runs")
    parser.add_argument("--again", action="store_true", help="only grade the texts again that gained in the state file")
    options = parser.parse_args()
    count, jobs = (SLICE, 1) if options.slice else (options.count, options.jobs)
    prism.warm()
    if options.again:
        left = still_gaining(options.state)
        for gain in left:
            print(f"{gain['class']}; {gain['problem']} {gain['matched']}\n    " + gain["text"].replace("\n", "\n    "))
        print(f"{len(left)} of the kept gains still gain")
        return 0
    result = table(results(pieces(count, options.only), jobs, options.state))
    if options.json:
        print(json.dumps(result, sort_keys=True))
    else:
        print(f"{result['texts']} texts over {result['problems']} problems ({result['drafted']} drafted): "
              f"{result['gains']} gain, in {len(result['classes'])} classes")  # fmt: skip
        for name, group in result["classes"].items():
            least = group["smallest"]
            print(
                f"\n{name}: {group['gains']} over {group['problems']} problems; {least['problem']} {least['matched']}"
            )
            print("    " + least["text"].replace("\n", "\n    "))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

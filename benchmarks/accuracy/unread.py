r"""How many formulas of collected texts are read, and what stays unread, by construct, most frequent first.

`formulas.jsonl` holds formulas, each parsed as it stands; of the other files `extract` finds the formulas of each text,
which are parsed one by one. *Of mathematics* leaves out what the fault itself says is none (words, tables, chemistry,
figures, money, pieces of a formula). A construct is what the fault names, with letters and numbers left out where any
might stand there. `--save` writes each formula with PRISM's reading or fault as a line of JSON, and `--beside` shows a
sample, drawn by seed, of those that are read now and were not when such a file was saved: to be read by eye.

    python benchmarks/accuracy/unread.py [--data FOLDER] [--top N] [--save FILE] [--beside FILE [--sample N] [--seed N]]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.material import DATA, NO_DATA  # noqa: E402
from prism import LatexSyntaxError  # noqa: E402
from prism.latex import extract, parse  # noqa: E402

TEXTS = {
    "worked.jsonl": "solution",
    "rollouts.jsonl": "response",
    "rollouts_more.jsonl": "response",
    "human/students.jsonl": "solution",
    "human/mrben_physics.jsonl": "solution",
}
"""Files of texts, and the field of each line that holds one."""
NO_MATHEMATICS = frozenset(("prose", "table", "chemistry", "figure", "money", "fragment"))
_ANY = re.compile(r"`[^`]*`|\d+")  # what a fault quotes of the formula


@dataclass(frozen=True, slots=True)
class Reading:
    """A formula of a file with what PRISM reads (empty if it does not), the kind of the fault, and its construct."""

    file: str
    latex: str
    read: str
    kind: str = ""
    construct: str = ""


def readings(folder: Path) -> Iterator[Reading]:
    """Every formula of the files, in order."""
    for line in (folder / "formulas.jsonl").read_text("utf-8").splitlines():
        yield reading("formulas.jsonl", json.loads(line)["latex"])
    for file, text_field in TEXTS.items():
        for line in (folder / file).read_text("utf-8").splitlines():
            for item in extract(json.loads(line)[text_field] or ""):
                yield reading(file, item.latex)


def reading(file: str, latex: str) -> Reading:
    """What PRISM reads of one formula."""
    try:
        return Reading(file, latex, str(parse(latex)))
    except LatexSyntaxError as fault:
        return Reading(file, latex, "", fault.kind, _ANY.sub("..", fault.found))


def table(found: list[Reading]) -> Iterator[str]:
    """Lines of a table: of each file formulas, those read, the shares of all and of what is mathematics."""
    by_file: dict[str, list[Reading]] = defaultdict(list)
    for each in found:
        by_file[each.file].append(each)
    yield "| file | formulas | read | % | % of mathematics |\n|---|---|---|---|---|"
    for file, group in by_file.items():
        n_read = sum(bool(each.read) for each in group)
        n_mathematics = sum(each.kind not in NO_MATHEMATICS for each in group)
        shares = f"{100 * n_read / len(group):.2f} | {100 * n_read / n_mathematics:.2f}"
        yield f"| {file} | {len(group)} | {n_read} | {shares} |"


def constructs(found: list[Reading], n_shown: int) -> Iterator[str]:
    """Lines of the unread constructs, most frequent first, each with its kind, its count and three formulas."""
    counts = Counter((each.kind, each.construct) for each in found if not each.read)
    for (kind, construct), count in counts.most_common(n_shown):
        examples = {each.latex: None for each in found if (each.kind, each.construct) == (kind, construct)}
        yield f"{count:5}  {kind}: {construct}"
        yield from (f"         {latex[:100]!r}" for latex in list(examples)[:3])


def newly_read(found: list[Reading], before: Path, n_shown: int, seed: int) -> Iterator[str]:
    """A sample of the distinct formulas that are read now and were not, or not found, in a saved run."""
    old = {row["latex"] for row in map(json.loads, before.read_text("utf-8").splitlines()) if row["read"]}
    gained = {each.latex: each.read for each in found if each.read and each.latex not in old}
    yield f"{len(gained)} distinct formulas are read now and were not"
    for latex in random.Random(seed).sample(sorted(gained), min(n_shown, len(gained))):
        yield f"  {latex!r}\n      {gained[latex]}"


def main() -> int:
    """Count, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if not (arguments.data / "formulas.jsonl").is_file():
        print(f"no formulas.jsonl in {arguments.data}", file=sys.stderr)
        return NO_DATA
    found = list(readings(arguments.data))
    if arguments.save:
        arguments.save.write_text("".join(json.dumps(asdict(each)) + "\n" for each in found), "utf-8")
    print(*table(found), "", *constructs(found, arguments.top), sep="\n")
    if arguments.beside:
        print("", *newly_read(found, arguments.beside, arguments.sample, arguments.seed), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The collected material that several scripts measure on, and how it is read: one definition for all of them."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import external_data

DATA = external_data.DATA

FIELDS = {"formulas.jsonl": "latex", "worked.jsonl": "solution", "rollouts.jsonl": "response"}
"""The three files, and the field of each line that holds its text."""
PAIRS = ("pairs_dev.jsonl", "physics_pairs_dev.jsonl")
"""Two files of labelled pairs, `gold` and `answer`."""

NO_DATA = 77  # exit code of a script whose data is not on this machine

DELIMITED = re.compile(
    r"(?<!\\)\$\$(.{1,6000}?)\$\$|(?<![\\$])\$((?:[^$\\]|\\.){1,3000}?)\$|\\\((.{1,3000}?)\\\)|\\\[(.{1,6000}?)\\\]",
    re.DOTALL,
)
"""What stands between dollars and TeX's brackets, and nothing else: the reader that only knows delimiters."""


def texts(folder: Path, file: str) -> list[str]:
    """The text of each line of one of the three files."""
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)[FIELDS[file]] for line in lines]


def labelled_equations(folder: Path) -> list[dict[str, Any]]:
    """Lines of the files of pairs that hold two equations, and whose label is plain mathematical equivalence."""
    lines = [line for file in PAIRS for line in (folder / file).read_text(encoding="utf-8").splitlines()]
    pairs = [json.loads(line) for line in lines]
    return [pair for pair in pairs if pair["kind"] == "equation" and pair.get("core", True)]


def missing(folder: Path) -> list[str]:
    """Those of the three files that are not in a folder."""
    return [file for file in FIELDS if not (folder / file).is_file()]


# Labelled pairs ---------------------------------------------------------------------------------------------------

PAIR_FILES = ("pairs_dev.jsonl", "physics_pairs_dev.jsonl", "beyond_pairs_dev.jsonl")
OWN_PAIRS = Path(__file__).resolve().parent / "accuracy" / "physics_pairs.toml"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two formulas and whether they say the same thing.

    Attributes:
        id, category: name, and the topic that it is counted under.
        gold, answer: reference and claim, LaTeX.
        equal: the label.
        is_core: the label is plain equivalence, no convention of the suite that the pair comes from.
    """

    id: str
    category: str
    gold: str
    answer: str
    equal: bool
    is_core: bool = True


def labelled_pairs(folder: Path, file: str) -> list[Pair]:
    """The pairs of one of the three files, in order."""
    rows = (json.loads(line) for line in (folder / file).read_text(encoding="utf-8").splitlines())
    return [
        Pair(
            id=row["id"],
            category=row["category"] if "category" in row else row["kind"],
            gold=row["gold"],
            answer=row["answer"],
            equal=row["equal"],
            is_core=row.get("core", True),
        )
        for row in rows
    ]


def own_pairs() -> list[Pair]:
    """The pairs that stand beside the scripts; an id is its category and a name."""
    rows = tomllib.loads(OWN_PAIRS.read_text(encoding="utf-8"))["pair"]
    return [Pair(row["id"], row["id"].partition("/")[0], row["gold"], row["answer"], row["equal"]) for row in rows]

"""The result of a conversion, and the texts and files that it is written to.

The solution that a problem is published or converted with is graded by the problem itself: below 1 there is a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from prism.errors import DataFileError, PrismError, count_of
from prism.grading.pipeline import grade
from prism.problem.schema import load_problem
from prism.problem.toml_writer import problem_toml

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")  # characters that are not portable in a file name
_MAX_NAME = 100  # characters of a file name
_SHOWN_PLACES = 3  # of entries with the same fault
_SHOWN_NODES = 3  # that an own gold does not earn


@dataclass(frozen=True, slots=True)
class OwnGold:
    """The grade of a row's own gold.

    Attributes:
        score: in [0, 1]; of answers the share of the final nodes that they state.
        source: `solution` or `answers`.
        missing: indices of the nodes that it does not earn.
        missed_finals: indices of the final nodes that it does not state.
    """

    score: float
    source: str
    missing: tuple[int, ...] = ()
    missed_finals: tuple[int, ...] = ()

    def remark(self, data: Mapping[str, Any]) -> str:
        """Return what is told of a score below 1: the score, and formulas that are missing."""
        formulas = {node["index"]: node["formula"] for node in data["grading_standard"]}
        shown = "; ".join(formulas[index] for index in self.missing[:_SHOWN_NODES])
        more = f"; and {len(self.missing) - _SHOWN_NODES} more" if len(self.missing) > _SHOWN_NODES else ""
        nodes = count_of(len(self.missing), "node")
        own = "solution scores" if self.source == "solution" else "answers score"
        return f"its own {own} {self.score:g}, without {nodes}: {shown}{more}"


@dataclass(frozen=True, slots=True)
class ConvertedProblem:
    """One problem converted from another format: the content of its file, and remarks for a person.

    Attributes:
        data: its keys, as `load_problem` takes them.
        remarks: what a person should know; also in its `metadata`.
        notes: comment lines by node index.
        lost: points of criteria that became no node.
        faults: entries that are not read, and are no part of it.
        images: location and content of each image that belongs beside its file.
        gold: how the row's own gold is graded by it; None if the row has none.
    """

    data: Mapping[str, Any]
    remarks: tuple[str, ...] = ()
    notes: Mapping[int, tuple[str, ...]] | None = None
    lost: Fraction = Fraction(0)
    faults: tuple[str, ...] = ()
    images: tuple[tuple[str, bytes], ...] = ()
    gold: OwnGold | None = None

    def toml(self) -> str:
        """Return the problem file as TOML, with remarks and notes as comments."""
        return problem_toml(self.data, head=[f"Note: {remark}" for remark in self.remarks], notes=self.notes)


@dataclass(frozen=True, slots=True)
class EntryFault:
    """Why an entry could not be converted, and where it stands: `line 3, q3`, or empty for the only one of a file."""

    place: str
    text: str

    def __str__(self) -> str:
        """Return both: `line 3, q3: it has no question`."""
        return f"{self.place}: {self.text}" if self.place else self.text


def count_equal_faults(faults: Iterable[EntryFault]) -> list[str]:
    """Return lines that tell each fault once: of several entries with the same one, how many and the first places."""
    places: dict[str, list[str]] = {}
    for each in faults:
        places.setdefault(each.text, []).append(each.place)
    return [
        str(EntryFault(where[0], text)) if len(where) == 1
        else f"{len(where)} rows: {text} ({'; '.join(where[:_SHOWN_PLACES])}{_more(len(where) - _SHOWN_PLACES)})"
        for text, where in places.items()
    ]  # fmt: skip


def _more(n: int) -> str:
    """Return how many places are not shown; empty if all are."""
    return f"; and {n} more" if n > 0 else ""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of converting a file: its problems, and the faults of entries that could not be converted."""

    problems: tuple[ConvertedProblem, ...]
    faults: tuple[EntryFault, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "problems": [
                {"problem": dict(each.data), "remarks": list(each.remarks), "points_lost": plain_number(each.lost)}
                for each in self.problems
            ],
            "faults": list(map(str, self.faults)),
        }


def problem_texts(made: Conversion) -> list[str]:
    """Return what is printed to a terminal: a single problem as TOML, several as JSON, one per line."""
    if len(made.problems) == 1:
        return [made.problems[0].toml()]
    return [json.dumps(each.data, ensure_ascii=False) + "\n" for each in made.problems]


def problem_files(made: Conversion, out: Path | None) -> list[tuple[Path, str]]:
    """Return (path, text) of each file to write: a single problem as a file, several as `.jsonl` or a folder.

    Errors:
        PrismError: several problems for one file.
    """
    if out is None or not made.problems:
        return []
    if out.suffix == ".jsonl":
        return [(out, "".join(json.dumps(each.data, ensure_ascii=False) + "\n" for each in made.problems))]
    if out.suffix in (".toml", ".json"):
        if len(made.problems) > 1:
            raise PrismError(
                f"{out}: {len(made.problems)} problems do not go into one {out.suffix}; give a folder or .jsonl"
            )
        data = made.problems[0].data
        is_json = out.suffix == ".json"
        return [(out, json.dumps(data, ensure_ascii=False, indent=1) + "\n" if is_json else made.problems[0].toml())]
    if out.suffix:
        raise PrismError(f"{out}: give a .toml, .json or .jsonl file, or a folder")
    taken: dict[str, int] = {}
    files = []
    for each in made.problems:
        name = _NO_NAME.sub("_", str(each.data["id"])).strip("._")[:_MAX_NAME] or "problem"
        taken[name.casefold()] = taken.get(name.casefold(), 0) + 1
        count = taken[name.casefold()]
        files.append((out / f"{name if count == 1 else f'{name}~{count}'}.toml", each.toml()))
    return files


def entry_fault(text: str) -> DataFileError:
    """Return the error for a fault of the entry that is being converted; the caller raises it."""
    return DataFileError("<entry>", (text,))


def plain_number(points: Fraction) -> int | float:
    """Return points as an int if they are whole, else as a float."""
    return int(points) if points.denominator == 1 else float(points)


SOLUTION = "solution"


def solution_gold(data: Mapping[str, Any], text: str) -> OwnGold:
    """Return the grade of a solution by the problem that it is held to be right for."""
    problem = load_problem(data)
    graded = grade(problem, text)
    missing = tuple(node.index for node in problem.nodes if node.index not in graded.credited)
    finals = {node.index for node in problem.nodes if node.is_final}
    return OwnGold(graded.score or 0.0, SOLUTION, missing, tuple(sorted(finals - set(graded.matched))))


def published_solution(data: Mapping[str, Any]) -> str:
    """Return the solutions of a published problem, each with the letter of its part."""
    parts = data.get("subquestions")
    found = [
        f"({part['letter']}) {text}" if part.get("letter") else text
        for part in (parts if isinstance(parts, Sequence) and not isinstance(parts, str) else ())
        if isinstance(part, Mapping) and isinstance(text := part.get("solution"), str) and text.strip()
    ]
    own = data.get("solution")
    return "\n\n".join([*found, *([own] if isinstance(own, str) else [])])

"""Collections of problems: files, folders, dictionaries and shipped ids, loaded and indexed by problem id.

A problem is named by a path, a dictionary, a JSON string (so a column of a table can hold a whole problem), or its id
in a problem set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from prism.errors import DataFileError, PrismError, named_type
from prism.problem.schema import Problem, load_problem
from prism.resources import resource


@runtime_checkable
class HoldsProblem(Protocol):
    """A value made from a loaded problem, such as a `PreparedProblem`."""

    @property
    def problem(self) -> Problem:
        """Return the loaded problem."""


ProblemSource = str | PathLike[str] | Mapping[str, Any] | Problem | HoldsProblem
ProblemSet = ProblemSource | Iterable[ProblemSource]
_Source = Problem | Path | str | Mapping[str, Any]
ENDINGS = (".toml", ".json")  # of a file with one problem
SHAPES = "expected a path, a dictionary, a JSON string, an id in the problem set, or a problem"
_SUFFIXES = (".json", ".jsonl", ".toml")


def problem_path(name: str | PathLike[str]) -> Path:
    """Return the path of a shipped problem if `name` is its id and no file is named so, else `name` as a path."""
    path = Path(name)
    shipped = resource("dags") / f"{name}.toml"
    return shipped if not path.exists() and shipped.exists() else path


def load_problems(source: ProblemSet) -> dict[str, Problem]:
    """Load problems into a mapping by id, in the order of the source.

    Args:
        source: one problem (a file, the id of a shipped one, a dictionary, a loaded one); a folder, whose `.toml` and
            `.json` files are taken in the order of their names; a `.jsonl` file with a problem a line, or a `.json`
            file with a list of them; or several of these.

    Errors:
        DataFileError: the faults of all files, and ids that two of them have.
        PrismError: a source without problems.
    """
    found: dict[str, Problem] = {}
    places: dict[str, str] = {}
    faults: list[str] = []
    for place, one in _problems_in_set(source):
        try:
            problem = one if isinstance(one, Problem) else load_problem(one)
        except DataFileError as error:
            faults += [f"{place}: {fault}" for fault in error.faults]
            continue
        if problem.id in found:
            faults.append(f'{place}: the id "{problem.id}" is that of {places[problem.id]} too')
        found.setdefault(problem.id, problem)
        places.setdefault(problem.id, place)
    if faults:
        raise DataFileError("problems", tuple(faults))
    if not found:
        raise PrismError(f"problems: {source}: no problem file here; expected .toml, .json or .jsonl")
    return found


def problems_by_id(problems: ProblemSet | Mapping[str, ProblemSource] | None) -> dict[str, Problem]:
    """Load a problem set into a mapping by id: the keys of a given mapping, else the problems' own ids.

    Errors:
        PrismError: all faults at once.
    """
    if problems is None:
        return {}
    if not isinstance(problems, Mapping):
        return load_problems(problems)
    found: dict[str, Problem] = {}
    faults: list[str] = []
    for name, source in problems.items():
        try:
            loaded = load_problems(source)
        except PrismError as error:
            faults.append(f"problems, {name}: {error}")
            continue
        if len(loaded) > 1:
            faults.append(f"problems, {name}: there are {len(loaded)}, and an id names one")
        found[str(name)] = next(iter(loaded.values()))
    if faults:
        raise PrismError("\n".join(faults))
    return found


def _problems_in_set(source: ProblemSet) -> Iterator[tuple[str, _Source]]:
    """Yield (name for messages, problem) for each problem of a set; a problem may be loaded, or yet to be loaded."""
    if isinstance(source, HoldsProblem):
        source = source.problem
    if isinstance(source, Problem):
        yield source.id, source
    elif isinstance(source, Mapping):
        yield "<dict>", source
    elif isinstance(source, str) and source.lstrip().startswith("{"):
        yield "<string>", source
    elif isinstance(source, str | PathLike):
        yield from _problems_in_path(problem_path(source))
    elif isinstance(source, bytes) or not isinstance(source, Iterable):
        raise PrismError(f"problems: found {named_type(source)}; {SHAPES}, or several of these")
    else:
        for n, one in enumerate(source, start=1):
            yield from (
                (f"{n}. {place}" if place.startswith("<") else place, each) for place, each in _problems_in_set(one)
            )


def _problems_in_path(path: Path) -> Iterator[tuple[str, _Source]]:
    """Yield (name for messages, unloaded problem) for each problem of a file or folder.

    Names are `set.jsonl:3`, `set.json[2]`, or a path. Raises DataFileError for a file that cannot be read.
    """
    if path.is_dir():
        for each in sorted(path.iterdir()):
            if each.suffix in _SUFFIXES and not each.name.endswith(".schema.json"):
                yield from _problems_in_path(each)
    elif path.suffix == ".jsonl":
        lines = _read_text(path).split("\n")  # a string may hold other line ends
        yield from ((f"{path}:{n}", line) for n, line in enumerate(lines, start=1) if line.strip())
    elif path.suffix == ".json" and _read_text(path).lstrip().startswith("["):
        try:
            listed = json.loads(_read_text(path))
        except json.JSONDecodeError as error:
            raise DataFileError(str(path), (f"no JSON: {error}",)) from error
        yield from ((f"{path}[{n}]", one) for n, one in enumerate(listed))
    else:
        yield str(path), path


def _read_text(path: Path) -> str:
    """Return the text of a file; raise DataFileError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(str(path), (str(error),)) from error

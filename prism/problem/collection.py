"""Collections of problems: files, folders, dictionaries and shipped ids, read or loaded, and indexed by problem id.

A problem is named by a path, a dictionary, a JSON string (so a column of a table can hold a whole problem), or its id
in a problem set.

Count a set of problems: its sizes, the shape of its DAGs, and its problems by domain and difficulty.

The entropy of a DAG is that of PRISM-Physics (arXiv 2510.03185), the sum over its layers of log(width); its depth is
the number of its layers. Of a problem with alternatives the first reference counts, as its difficulty is of that one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from prism.errors import DataFileError, PrismError, named_type, raise_faults
from prism.inputs import MAX_NESTING, decode, parse_json, read_bytes, refuse_constant, why_failed
from prism.problem.dag import layers
from prism.problem.schema import HoldsProblem, Problem, ProblemSource, load_problem, read_problem
from prism.problem.source import EMPTY_NAME, NO_TABLE, NODE_LISTS, PlainProblem, first_and_count, problem_path


@dataclass(frozen=True, slots=True)
class SetEntry:
    """One problem of a file with many: its place (`set.jsonl:3`), its source or error, the folder of its images."""

    place: str
    source: Any
    folder: Path


T = TypeVar("T", Problem, Problem | PlainProblem)
ProblemSet = ProblemSource | Iterable[ProblemSource]
_Source = Problem | PlainProblem | Path | str | Mapping[str, Any] | DataFileError
_Entry = tuple[str, _Source, Path | None]  # name for messages, problem or its error, folder of a file with many
ENDINGS = (".toml", ".json")  # of a file with one problem
SHAPES = "expected a path, a dictionary, a JSON string, an id in the problem set, or a problem"
BESIDE_PROBLEMS = ("corrections.toml", "cases.toml")
"""Files of a marker that may stand in a folder of problems, and hold none."""
_SUFFIXES = (".json", ".jsonl", ".toml")
_MAX_SET = 1 << 28  # bytes of a file with many problems, which is read as a whole
_MAX_SHOWN = 200  # characters of a source in a message


def load_problems(source: ProblemSet, *, macros: Mapping[str, Any] | None = None) -> dict[str, Problem]:
    """Load problems into a mapping by id, in the order of the source.

    Args:
        source: one problem (a file, the id of a shipped one, a dictionary, a loaded one); a folder, whose `.toml` and
            `.json` files are taken in the order of their names, or if it has none those of its folders, as
            `prism generate` writes them; a `.jsonl` file with a problem a line, or a `.json` file with a list of them;
            or several of these.
        macros: for all that is loaded here, as of `load_problem`.

    Errors:
        DataFileError: the faults of all files, and ids that two of them have.
        PrismError: a source without problems.
    """

    def load(one: ProblemSource, _place: str, folder: Path | None) -> Problem:
        return load_problem(one, macros=macros, folder=folder)

    return _by_id(source, load)


def list_problems(source: ProblemSet, *, macros: Mapping[str, Any] | None = None) -> dict[str, Problem | PlainProblem]:
    """Read problems into a mapping by id, in the order of the source, and load none: that takes a hundred times longer.

    Who needs one loads it: `load_problem` takes it. Only then are its nodes and formulas looked at; `check_problems`
    tells what is wrong with several.

    Args: as of `load_problems`.

    Errors:
        DataFileError: what is wrong with the files, as no TOML, or a length that no honest one has; ids that are
            missing, or that two problems have. Then all faults of all files are told.
        PrismError: a source without problems.
    """

    def read(one: ProblemSource, place: str, folder: Path | None) -> Problem | PlainProblem:
        if isinstance(one, Problem | PlainProblem):
            return one
        assert not isinstance(one, HoldsProblem)
        return replace(read_problem(one, macros=macros, folder=folder), name=place)

    try:
        return _by_id(source, read)
    except DataFileError:
        if isinstance(source, str | PathLike):  # which can be read again
            load_problems(source, macros=macros)
        raise


def check_problems(problems: Iterable[Problem | PlainProblem]) -> None:
    """Load problems.

    Errors:
        DataFileError: the faults of all, as of `load_problems`.
    """
    faults: list[str] = []
    for each in problems:
        try:
            load_problem(each)
        except DataFileError as error:
            faults += [f"{error.file}: {fault}" for fault in error.faults]
    raise_faults(first_and_count(faults), "problems")


def _by_id(source: ProblemSet, make: Callable[[ProblemSource, str, Path | None], T]) -> dict[str, T]:
    """Make each problem of a set from its source, place and folder, and map them by id; errors of `load_problems`."""
    found: dict[str, T] = {}
    places: dict[str, str] = {}
    faults: list[str] = []
    for place, one, folder in _problems_in_set(source):
        try:
            if isinstance(one, DataFileError):
                raise one
            problem = make(one, place, folder)
        except DataFileError as error:
            faults += [f"{place}: {fault}" for fault in error.faults]
            continue
        if problem.id in found:
            faults.append(f'{place}: the id "{problem.id}" is that of {places[problem.id]} too')
        found.setdefault(problem.id, problem)
        places.setdefault(problem.id, place)
    raise_faults(first_and_count(faults), "problems")
    if not found:
        raise PrismError(f"problems: {str(source)[:_MAX_SHOWN]}: no problem file here; expected .toml, .json or .jsonl")
    return found


def is_problem_set(path: Path) -> bool:
    """Return True for what holds any number of problems: a folder, a `.jsonl` file, a `.json` file with a list."""
    try:
        return path.is_dir() or path.suffix == ".jsonl" or bool(_set_text(path))
    except (OSError, PrismError):  # who loads it says why it cannot be read
        return False


def problems_by_id(
    problems: ProblemSet | Mapping[str, ProblemSource] | None, load: Callable[[ProblemSet], dict[str, T]]
) -> dict[str, T]:
    """Map the problems of a set by id: the keys of a given mapping, else the problems' own ids.

    Args:
        load: `load_problems` or `list_problems`.

    Errors:
        PrismError: all faults at once.
    """
    if problems is None:
        return {}
    if not isinstance(problems, Mapping) or any(isinstance(problems.get(key), list | tuple) for key in NODE_LISTS):
        return load(problems)  # a mapping with nodes is a problem itself
    found: dict[str, T] = {}
    faults: list[str] = []
    for name, source in problems.items():
        try:
            loaded = load(source)
        except PrismError as error:
            faults.append(f"problems, {name}: {error}")
            continue
        if len(loaded) > 1:
            faults.append(f"problems, {name}: there are {len(loaded)}, and an id names one")
        found[str(name)] = next(iter(loaded.values()))
    raise_faults(faults)
    return found


def _problems_in_set(source: ProblemSet, depth: int = 0) -> Iterator[_Entry]:
    """Yield (name for messages, problem, folder) for each problem of a set, which may be loaded, or yet to be loaded.

    In place of what cannot be read stands its error; the folder is that of a file with many problems. Raises PrismError
    for an empty set and for other types.
    """
    if isinstance(source, HoldsProblem):
        source = source.problem
    if isinstance(source, Problem | PlainProblem):
        yield source.id, source, None
    elif isinstance(source, Mapping):
        yield "<dict>", source, None
    elif isinstance(source, str) and not source.strip():
        raise PrismError(f"problems: {EMPTY_NAME}; {SHAPES}, or several of these")
    elif isinstance(source, str) and source.lstrip().startswith("{"):
        yield "<string>", source, None
    elif isinstance(source, str | PathLike):
        yield from _problems_in_path(problem_path(source))
    elif isinstance(source, bytes) or not isinstance(source, Iterable):
        raise PrismError(f"problems: found {named_type(source)}; {SHAPES}, or several of these")
    elif depth == MAX_NESTING:
        raise PrismError(f"problems: sets in each other more than {MAX_NESTING} deep")
    else:
        for n, one in enumerate(source, start=1):
            yield from (
                (f"{n}. {place}" if place.startswith("<") else place, each, folder)
                for place, each, folder in _problems_in_set(one, depth + 1)
            )


def entries_of_set(path: Path) -> list[SetEntry]:
    """Return the problems of a file with any number of them, unread, in order; empty for a file of one problem."""
    try:
        is_set = not path.is_dir() and bool(_set_text(path))
    except (OSError, PrismError):  # who loads it says why it cannot be read
        return []
    if not is_set:
        return []
    return [SetEntry(place, source, folder) for place, source, folder in _problems_in_path(path) if folder is not None]


def problem_files(folder: Path, endings: tuple[str, ...] = _SUFFIXES) -> list[Path]:
    """List the problem files in a folder by name; if it has none, those in its folders, the hidden ones left out.

    Errors:
        OSError: a folder cannot be read.
    """

    def own(listed: Iterable[Path]) -> list[Path]:
        return [
            each for each in listed
            if each.suffix in endings and not each.name.endswith(".schema.json") and each.name not in BESIDE_PROBLEMS
        ]  # fmt: skip

    listed = sorted(folder.iterdir())
    inner = (each for each in listed if each.is_dir() and not each.name.startswith("."))
    return own(listed) or [each for one in inner for each in own(sorted(one.iterdir()))]


def _problems_in_path(path: Path) -> Iterator[_Entry]:
    """Yield (name for messages, unloaded problem or the error of what cannot be read, folder) for a file or folder.

    Names are `set.jsonl:3`, `set.json[2]`, or a path.
    """
    try:
        listed = problem_files(path) if path.is_dir() else None
        text = _set_text(path) if listed is None else ""
        entries = parse_json(text, constant=refuse_constant) if text and path.suffix == ".json" else []
    except (OSError, PrismError) as error:
        yield str(path), DataFileError(str(path), (why_failed(error),)), None
        return
    if listed is not None:
        for each in listed:
            yield from _problems_in_path(each)
    elif text and path.suffix == ".jsonl":  # a string may hold other line ends than this one
        for n, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{path}:{n}", _table_or_error(line, is_table=line.lstrip()[0] in "{["), path.parent
    elif text:
        for n, one in enumerate(entries):
            yield f"{path}[{n}]", _table_or_error(one, is_table=isinstance(one, Mapping)), path.parent
    else:
        yield str(path), path, None


def _table_or_error(one: Any, *, is_table: bool) -> _Source:
    """Return a problem of a set, or the error that it is none: a text would be taken for the name of a file."""
    return one if is_table else DataFileError("", (NO_TABLE,))


def _set_text(path: Path) -> str:
    """Return the text of a file with many problems; empty for a file with one problem.

    Errors:
        PrismError: it cannot be read, or is too long.
    """
    if path.suffix not in (".json", ".jsonl"):
        return ""
    text = decode(read_bytes(path, _MAX_SET))
    return text if path.suffix == ".jsonl" or text.lstrip().startswith("[") else ""


LEVELS = ("Easy", "Medium", "Hard")
UNRATED, NO_DOMAIN = "(not rated)", "(not said)"

_DIGITS = 6  # of a mean or an entropy in JSON


@dataclass(frozen=True, slots=True)
class Spread:
    """How a measure is spread over the problems of a set.

    Attributes:
        total: its sum; of counts a whole number.
        low, middle, high: its lowest value, median and highest value.
        n: number of problems.
    """

    total: float
    low: float
    middle: float
    high: float
    n: int

    @property
    def mean(self) -> float:
        """Return the mean over the problems."""
        return self.total / self.n

    def to_dict(self) -> dict[str, float]:
        """Return plain values for JSON, rounded to six decimals."""
        numbers = {
            "total": self.total, "mean": self.mean, "lowest": self.low, "median": self.middle, "highest": self.high,
        }  # fmt: skip
        return {name: value if isinstance(value, int) else round(value, _DIGITS) for name, value in numbers.items()}


MEASURES: Mapping[str, Callable[[Problem], float]] = {
    "nodes": lambda problem: len(problem.nodes),
    "edges": lambda problem: sum(len(node.prerequisites) for node in problem.dag.nodes),
    "depth": lambda problem: len(layers(problem.dag)),
    "entropy": lambda problem: problem.difficulty.entropy,
    "final answers": lambda problem: len(problem.dag.finals),
    "parts": lambda problem: len(problem.subquestions),
    "alternatives": lambda problem: len(problem.alternatives),
    "worked solutions": lambda problem: len(problem.students),
}
"""What is counted of each problem."""


@dataclass(frozen=True, slots=True)
class SetCounts:
    """Counts of a set of problems.

    Attributes:
        n: number of problems; those below are over all of them.
        spreads: of `MEASURES`, by name.
        domains: domain -> level -> number of problems, the domains by name; `LEVELS` and `UNRATED` are the levels.
        subtopics: (domain, subtopic) -> number of problems, of those that name a subtopic.
        forms: number of final answers by the form that their part asks for, empty where it asks for none.
        sha256: problem id -> sha256, which says what was counted.
    """

    n: int
    spreads: Mapping[str, Spread]
    domains: Mapping[str, Mapping[str, int]]
    subtopics: Mapping[tuple[str, str], int]
    forms: Mapping[str, int]
    sha256: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON."""
        return {
            "problems": self.n, "measures": {name: one.to_dict() for name, one in self.spreads.items()},
            "domains": {name: dict(levels) for name, levels in self.domains.items()},
            "subtopics": [
                {"domain": domain, "subtopic": name, "problems": n} for (domain, name), n in self.subtopics.items()
            ],
            "final_answer_forms": dict(self.forms), "sha256": dict(self.sha256),
        }  # fmt: skip


def count_problems(problems: Iterable[Problem]) -> SetCounts:
    """Count a set of one or more problems."""
    found = sorted(problems, key=lambda one: one.id)
    levels: dict[str, Counter[str]] = {}
    for one in found:
        levels.setdefault(one.domain or NO_DOMAIN, Counter())[one.difficulty.level or UNRATED] += 1
    forms = Counter(form for one in found for form in _final_forms(one))
    topics = Counter((one.domain or NO_DOMAIN, one.subtopic) for one in found if one.subtopic)
    return SetCounts(
        n=len(found), spreads={name: _spread_of([measure(one) for one in found]) for name, measure in MEASURES.items()},
        domains={name: {level: levels[name][level] for level in (*LEVELS, UNRATED)} for name in sorted(levels)},
        subtopics=dict(sorted(topics.items())), forms=dict(sorted(forms.items())),
        sha256={one.id: one.sha256 for one in found},
    )  # fmt: skip


def _spread_of(values: list[float]) -> Spread:
    """Return how values are spread; their sum is exact, whatever their order."""
    middle = median(values)
    if all(isinstance(value, int) for value in values):
        return Spread(sum(values), min(values), int(middle) if middle == int(middle) else middle, max(values),
                      len(values))  # fmt: skip
    return Spread(math.fsum(values), min(values), middle, max(values), len(values))


def _final_forms(problem: Problem) -> list[str]:
    """Return for each final answer the form that its part asks for; of an unlettered one the only part's, or none."""
    forms = {part.letter: part.final_answer_form for part in problem.subquestions}
    shared = next(iter(forms.values())) if len(set(forms.values())) == 1 else ""
    return [forms.get(node.subquestion, "") or shared for node in problem.nodes if node.is_final]

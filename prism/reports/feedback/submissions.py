"""What a class has handed in: solutions of students, from files, a folder, or a file of records.

A student's name is the name of the file without its ending, or the sample id of a record, so that one student is the
same in all problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from prism.errors import DataFileError, PrismError
from prism.inputs import decode, parse_json, read_bytes, shown
from prism.latex import Solution, solution_text
from prism.problem.schema import Problem
from prism.runs.rollouts import Rollout, read, scan

_MAX_TEXT = 1 << 28  # bytes of a file, of which far fewer are read as a solution
_RECORDS = (".csv", ".json", ".jsonl", ".ndjson", ".parquet", ".tsv")
_TEXTS = (".md", ".tex", ".txt")


@dataclass(frozen=True, slots=True)
class Submission:
    """The solution of one student to one problem."""

    problem_id: str
    student: str
    solution: Solution


def read_submissions(
    problems: Mapping[str, Problem], sources: Sequence[Path], mapping: Mapping[str, str] | None = None
) -> tuple[Submission, ...]:
    """Read the solutions of a class, in the order of their students' names, then of the problems.

    Args:
        problems: by id.
        sources: one folder of texts (`STUDENT.md` of a single problem, else `PROBLEM/STUDENT.md`) or of tables; one
            file of records, as `prism run` takes it; or the files of solutions to a single problem, each a student's.
        mapping: fields of the records, as `prism run --map` names them.

    Errors:
        DataFileError: all faults of the files at once; two solutions of a student to one problem.
    """
    if len(sources) == 1 and (sources[0].is_dir() or _ending(sources[0]) in _RECORDS):
        found = _from_records(problems, sources[0], mapping or {})
    else:
        found = _from_files(problems, sources)
    order = {problem_id: place for place, problem_id in enumerate(problems)}
    return tuple(sorted(found, key=lambda each: (each.student, order[each.problem_id])))


def _ending(path: Path) -> str:
    """Return the ending of a file without `.gz`."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _from_records(problems: Mapping[str, Problem], source: Path, mapping: Mapping[str, str]) -> list[Submission]:
    """Read the solutions in a folder or a file of records."""
    scanned = scan(source, problems, mapping=mapping)
    is_folder = source.is_dir()
    found = [
        Submission(each.problem_id, _student_name(each, is_file=is_folder), each.solution)
        for each in read(source, scanned.fields, problems)
    ]
    _refuse_twice(str(source), found)
    return found


def _student_name(rollout: Rollout, *, is_file: bool) -> str:
    """Return the student of a solution: its sample id, of a text in a folder its path below the problem, no ending."""
    path = PurePosixPath(rollout.sample_id)
    if not is_file or path.suffix not in _TEXTS:
        return rollout.sample_id
    return path.with_suffix("").as_posix().removeprefix(f"{rollout.problem_id}/")


def _from_files(problems: Mapping[str, Problem], sources: Sequence[Path]) -> list[Submission]:
    """Read files that hold the solution of a student each, to the only problem."""
    if len(problems) > 1:
        why = (
            f"several files are solutions to one problem, and there are {len(problems)}; "
            "give a folder PROBLEM/STUDENT.md, or a file of records"
        )
        raise DataFileError(str(sources[0]), (why,))
    problem_id = next(iter(problems))
    found: list[Submission] = []
    faults: list[str] = []
    for path in sources:
        try:
            found.append(Submission(problem_id, path.stem, _read_solution(path)))
        except PrismError as error:
            faults.append(f"{path}: {error}")
    if faults:
        raise DataFileError("solutions", tuple(faults))
    _refuse_twice("solutions", found)
    return found


def _read_solution(path: Path) -> Solution:
    """Read a text, or from a .json file a text, chat messages or steps.

    Errors:
        PrismError: a folder; a file that cannot be read; JSON that holds no solution.
    """
    if path.is_dir():
        raise PrismError("is a folder; give one folder alone, or files")
    if path.suffix in _RECORDS and path.suffix != ".json":
        raise PrismError("is a file of records; give it alone")
    text = decode(read_bytes(path, _MAX_TEXT))
    if path.suffix != ".json":
        return text
    loaded: Solution = parse_json(text, table=dict)
    solution_text(loaded)
    return loaded


def _refuse_twice(where: str, found: Sequence[Submission]) -> None:
    """Raise DataFileError if a student has two solutions to one problem."""
    seen: set[tuple[str, str]] = set()
    faults: dict[str, None] = {}
    for each in found:
        key = (each.problem_id, each.student)
        if key in seen:
            faults[f"student {shown(each.student)} has two solutions to problem {shown(each.problem_id)}"] = None
        seen.add(key)
    if faults:
        raise DataFileError(where, tuple(faults))

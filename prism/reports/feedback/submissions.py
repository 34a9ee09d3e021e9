"""What a class has handed in: solutions of students, from files, a folder, or a file of records.

A student's name is that of the file without its ending or of the student's folder, or the sample id of a record, so
that one student is the same in all problems.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prism.errors import DataFileError, PrismError
from prism.inputs import near_file, shown
from prism.latex import Solution
from prism.latex.documents.document import Document
from prism.latex.documents.reading import read_document
from prism.problem.schema import Problem
from prism.reports.feedback.class_folder import has_own_tables, owners_of, read_class_folder
from prism.runs.input_files import TABLES, InputFile, InputKind, files_in, format_ending, own_folder, why_unread
from prism.runs.rollouts import read, scan


@dataclass(frozen=True, slots=True)
class Submission:
    """The solution of one student to one problem; an empty text where only files that are not read were handed in."""

    problem_id: str
    student: str
    solution: Solution
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file of a student that is not read, and needs a person; the problem is empty where its place names none."""

    problem_id: str
    student: str
    file: InputFile

    @property
    def what(self) -> str:
        """Return which file it is and why it is not read, in words."""
        return f"{self.file.place} {self.file.reason}"


@dataclass(frozen=True, slots=True)
class HandedIn:
    """All that a class has handed in.

    Attributes:
        submissions: the solutions. unread: files that are not read. passed_over: files that are nobody's work.
        participants: number of each student in Moodle's assignment, where a folder of Moodle's says it.
    """

    submissions: tuple[Submission, ...]
    unread: tuple[UnreadFile, ...] = ()
    passed_over: tuple[InputFile, ...] = ()
    participants: Mapping[str, str] = field(default_factory=dict)

    def pairs(self, problems: Collection[str]) -> frozenset[tuple[str, str]]:
        """Return student and problem of each thing handed in; a file of no known problem may be of any of them."""
        files = {(each.student, name) for each in self.unread for name in problems if each.problem_id in (name, "")}
        return frozenset((each.student, each.problem_id) for each in self.submissions) | files


def read_submissions(
    problems: Mapping[str, Problem], sources: Sequence[Path], mapping: Mapping[str, str] | None = None
) -> HandedIn:
    """Read the solutions of a class, in the order of their students' names, then of the problems.

    Args:
        problems: by id.
        sources: one folder of texts, as `class_folder` says, or of tables; one file of records, as `prism run` takes
            it; or the files of solutions to a single problem, each a student's.
        mapping: fields of the records, as `prism run --map` names them.

    Errors:
        DataFileError: all faults of the files at once; two solutions of a student to one problem.
    """
    participants: Mapping[str, str] = {}
    if len(sources) == 1 and sources[0].is_dir():
        files = tuple(files_in(sources[0]))
        if has_own_tables(files, problems):
            found, left_out = _from_records(problems, sources[0], mapping or {})
            owners = owners_of(left_out, problems)
            owned = [(owners[file.place], file) for file in left_out]
        else:
            folder = read_class_folder(sources[0], files, problems)
            found = [Submission(name, student, text) for (name, student), text in folder.texts.items()]
            owned, participants = [*folder.others], folder.participants
        others = [UnreadFile(owner.problem_id, owner.student, file) for owner, file in owned]
    elif len(sources) == 1 and format_ending(sources[0]) in TABLES:
        found, _ = _from_records(problems, sources[0], mapping or {})
        others = []
    else:
        found, left_out = _from_files(problems, sources)
        others = [UnreadFile(next(iter(problems)), file.path.stem, file) for file in left_out]
    order = {problem_id: place for place, problem_id in enumerate(problems)}
    return HandedIn(
        tuple(sorted(found, key=lambda each: (each.student, order[each.problem_id]))),
        tuple(sorted((each for each in others if each.file.kind is InputKind.UNREAD),
                     key=lambda each: (each.student, each.file.place))),
        tuple(each.file for each in others if each.file.kind in (InputKind.HIDDEN, InputKind.PART)),
        participants,
    )  # fmt: skip


def _from_records(
    problems: Mapping[str, Problem], source: Path, mapping: Mapping[str, str]
) -> tuple[list[Submission], Sequence[InputFile]]:
    """Read the solutions in a file of records, or in a folder of such, with the files that lie beside them."""
    scanned = scan(source, problems, mapping=mapping)
    rollouts = read(source, scanned.fields, problems)
    found = [Submission(each.problem_id, each.sample_id, each.solution) for each in rollouts]
    _refuse_twice(str(source), found)
    return found, scanned.left_out


def _from_files(
    problems: Mapping[str, Problem], sources: Sequence[Path]
) -> tuple[list[Submission], Sequence[InputFile]]:
    """Read files that hold the solution of a student each, to the only problem."""
    if len(problems) > 1:
        why = (
            f"several files are solutions to one problem, and there are {len(problems)}; "
            "give a folder PROBLEM/STUDENT.md, or a file of records"
        )
        raise DataFileError(str(sources[0]), (why,))
    problem_id = next(iter(problems))
    found: list[Submission] = []
    left_out: list[InputFile] = []
    faults: list[str] = []
    for path in sources:
        if fault := _misuse(path):
            faults.append(f"{path}: {fault}")
            continue
        try:
            document = _read_solution(path, is_alone=len(sources) == 1)
            found.append(Submission(problem_id, path.stem, document.solution))
            if document.not_read:
                told = f"is read, but for {', '.join(document.not_read)}"
                left_out.append(InputFile(path, str(path), InputKind.UNREAD, told))
        except PrismError as error:
            left_out.append(InputFile(path, str(path), InputKind.UNREAD, str(error)))
    if not (found or faults):
        faults = [f"{file.place}: {file.reason}" for file in left_out]
    if faults:
        raise DataFileError("solutions", tuple(faults))
    _refuse_twice("solutions", found)
    return found, left_out


def _misuse(path: Path) -> str:
    """Return why a name is that of no student's file: a folder, a file of records, or nothing; empty if it is."""
    if path.is_dir():
        return "is a folder; give one folder alone, or files"
    if path.suffix in TABLES and path.suffix != ".json":
        return "is a file of records; give it alone"
    return "" if path.exists() else f"cannot be read: No such file or directory{near_file(path)}"


def _read_solution(path: Path, *, is_alone: bool) -> Document:
    """Read a file of a student; beside those of others it puts in only what stands in the folder of its own name.

    Errors:
        PrismError: another kind of file; one that cannot be read; JSON that holds no solution.
    """
    if why := why_unread(path):
        raise PrismError(why)
    return read_document(path, root=path.parent if is_alone else own_folder(path))


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

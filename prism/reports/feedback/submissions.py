"""What a class has handed in: solutions of students, from files, a folder, or a file of records.

A student's name is that of the file without its ending or of the student's folder, or the sample id of a record, so
that one student is the same in all problems.

A folder of solutions as a class has handed them in: whose each file is, by its place, and which of them is read.

`STUDENT.md`, or `STUDENT/...` with all that a student has handed in; of several problems below `PROBLEM/`. A folder or
file that Moodle has named, `Anna Berg_123_assignsubmission_file_`, is Anna Berg's, who takes part by the number 123. Of
several texts of a student to one problem one is read: none that another one puts in, none that is empty, then the one
highest up, Markdown and LaTeX before others, in the order of their names. The others need a person, and are told.

**Refused**: to join several texts, which may be tries, notes or the sheet itself, and whose order nobody knows.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from prism.errors import DataFileError, PrismError, raise_faults
from prism.inputs import did_you_mean, near_file, shown
from prism.latex import Solution
from prism.latex.documents.document import Document
from prism.latex.documents.reading import read_document
from prism.problem.schema import Problem
from prism.runs.input_files import (
    PLAIN_TEXTS,
    TABLES,
    InputFile,
    InputKind,
    files_in,
    format_ending,
    own_folder,
    why_unread,
)
from prism.runs.rollouts import read, scan

_OF_MOODLE = re.compile(r"(.+)_(\d{1,20})_assignsubmission_[a-z]+(?:_.*)?", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a file is.

    Attributes:
        problem_id: empty where its place names none of several problems.
        student: name of the folder of what a student has handed in, or of the file without its ending.
        participant: number by which Moodle knows the student in this assignment; empty elsewhere.
        folder: out of which a LaTeX file of the student puts in nothing.
    """

    problem_id: str
    student: str
    participant: str
    folder: Path


def owners_of(files: Iterable[InputFile], problem_ids: Collection[str]) -> dict[str, Owner]:
    """Map the place of each file to its owner; students of one name are told apart by their numbers of Moodle."""
    found = {file.place: _owner(file, problem_ids) for file in files}
    numbers: dict[str, set[str]] = defaultdict(set)
    for each in found.values():
        numbers[each.student].add(each.participant)
    return {
        place: replace(each, student=f"{each.student}_{each.participant}")
        if len(numbers[each.student]) > 1 and each.participant else each
        for place, each in found.items()
    }  # fmt: skip


def _owner(file: InputFile, problem_ids: Collection[str]) -> Owner:
    """Return whose a file is by its place alone."""
    parts = PurePosixPath(file.place).parts
    known = [n for n in range(1, len(parts)) if "/".join(parts[:n]) in problem_ids]
    n_problem = max(known, default=0)
    problem_id = "/".join(parts[:n_problem]) or (next(iter(problem_ids)) if len(problem_ids) == 1 else "")
    own = parts[n_problem:]
    is_alone = len(own) == 1
    by_moodle = _OF_MOODLE.fullmatch(own[0])
    name = by_moodle[1] if by_moodle else PurePosixPath(own[0]).stem if is_alone else own[0]
    folder = own_folder(file.path) if is_alone else file.path.parents[len(own) - 2]
    return Owner(problem_id, name, by_moodle[2] if by_moodle else "", folder)


def has_own_tables(files: Sequence[InputFile], problem_ids: Collection[str]) -> bool:
    """Return True if a folder holds tables of records, and not only such that students have handed in beside texts."""
    tables = [file for file in files if file.kind is InputKind.TABLE]
    if not any(file.kind is InputKind.TEXT for file in files):
        return bool(tables)
    owners = owners_of(tables, problem_ids)
    return any(owners[file.place].folder == own_folder(file.path) for file in tables)


def read_class_folder(folder: Path, files: Iterable[InputFile], problem_ids: Collection[str]) -> HandedIn:
    """Read of each student and problem one text of a folder; every other file is one that is not read.

    Errors:
        DataFileError: texts in folders that name none of several problems; nothing that is read.
    """
    found = [
        replace(file, kind=InputKind.UNREAD, reason="is a table, which is not read beside texts")
        if file.kind is InputKind.TABLE else file
        for file in files
    ]  # fmt: skip
    owners = owners_of(found, problem_ids)
    groups: dict[tuple[str, str], list[InputFile]] = defaultdict(list)
    for file in found:
        if file.kind is InputKind.TEXT:
            owner = owners[file.place]
            groups[owner.problem_id, owner.student].append(file)
    lost = [file.place for (problem_id, _), own in groups.items() if not problem_id for file in own]
    if lost:
        raise DataFileError(str(folder), tuple(_no_problem(place, problem_ids) for place in lost))
    others = [file for file in found if file.kind is not InputKind.TEXT]
    texts: list[Submission] = []
    for key, own in groups.items():
        documents, unread = _read_all(own, owners)
        others += unread
        if documents:
            main, told = _choose(documents, key[1])
            others += told
            texts.append(Submission(*key, documents[main].solution))
    if not texts:
        why = tuple(f"{file.place}: {file.reason}" for file in others) or ("holds no files",)
        raise DataFileError(str(folder), why)
    participants = {each.student: each.participant for each in owners.values() if each.participant}
    return HandedIn(tuple(texts), _owned(others, owners), participants=participants)


def _owned(files: Iterable[InputFile], owners: Mapping[str, Owner]) -> tuple[UnreadFile, ...]:
    """Return files that are not read as those of their owners."""
    return tuple(UnreadFile(owners[each.place].problem_id, owners[each.place].student, each) for each in files)


def _no_problem(place: str, problem_ids: Collection[str]) -> str:
    """Return the fault of a text whose place names none of several problems."""
    first = PurePosixPath(place).parts[0]
    if first == place:
        return f"{place}: is in the folder of no problem; of several problems the folder is PROBLEM/STUDENT.md"
    return f"{place}: no problem has the id {shown(first)}{did_you_mean(first, problem_ids)}"


def _read_all(
    files: Sequence[InputFile], owners: Mapping[str, Owner]
) -> tuple[dict[InputFile, Document], list[InputFile]]:
    """Read the texts of a student, and tell those that cannot be read."""
    documents: dict[InputFile, Document] = {}
    unread: list[InputFile] = []
    for file in files:
        try:
            documents[file] = read_document(file.path, root=owners[file.place].folder)
        except (PrismError, OSError) as error:
            unread.append(replace(file, kind=InputKind.UNREAD, reason=str(error)))
    return documents, unread


def _choose(documents: Mapping[InputFile, Document], student: str) -> tuple[InputFile, list[InputFile]]:
    """Return which text of a student is the solution, and what there is to tell of it and of the others."""
    parts = {path for document in documents.values() for path in document.parts}

    def rank(file: InputFile) -> tuple[bool, bool, int, bool, str]:
        is_empty = not str(documents[file].solution).strip()
        depth, is_other = file.place.count("/"), file.path.suffix.lower() not in PLAIN_TEXTS
        return file.path.resolve() in parts, is_empty, depth, is_other, file.place

    main = min(documents, key=rank)
    own_parts = set(documents[main].parts)
    told: list[InputFile] = []
    if documents[main].not_read:
        why = f"is read, but for {', '.join(documents[main].not_read)}"
        told.append(replace(main, kind=InputKind.UNREAD, reason=why))
    for file in documents:
        if file.path.resolve() in own_parts:
            told.append(replace(file, kind=InputKind.PART, reason=f"is part of {main.place}"))
        elif file is not main:
            why = f"is a second file of {student}, of whom {main.path.name} is read"
            told.append(replace(file, kind=InputKind.UNREAD, reason=why))
    return main, told


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
        sources: one folder of texts, as above, or of tables; one file of records, as `prism run` takes
            it; or the files of solutions to a single problem, each a student's.
        mapping: fields of the records, as `prism run --map` names them.

    Errors:
        DataFileError: all faults of the files at once; two solutions of a student to one problem.
    """
    files = tuple(files_in(sources[0])) if len(sources) == 1 and sources[0].is_dir() else None
    if files is not None and not has_own_tables(files, problems):
        given = read_class_folder(sources[0], files, problems)
    elif files is not None or (len(sources) == 1 and format_ending(sources[0]) in TABLES):
        given = _from_records(problems, sources[0], mapping or {})
    else:
        given = _from_files(problems, sources)
    order = {problem_id: place for place, problem_id in enumerate(problems)}
    return HandedIn(
        tuple(sorted(given.submissions, key=lambda each: (each.student, order[each.problem_id]))),
        tuple(sorted((each for each in given.unread if each.file.kind is InputKind.UNREAD),
                     key=lambda each: (each.student, each.file.place))),
        tuple(each.file for each in given.unread if each.file.kind in (InputKind.HIDDEN, InputKind.PART)),
        given.participants,
    )  # fmt: skip


def _from_records(problems: Mapping[str, Problem], source: Path, mapping: Mapping[str, str]) -> HandedIn:
    """Read the solutions in a file of records, or in a folder of such, with the files that lie beside them."""
    scanned = scan(source, problems, mapping=mapping)
    rollouts = read(source, scanned.fields, problems)
    found = [Submission(each.problem_id, each.sample_id, each.solution) for each in rollouts]
    _refuse_twice(str(source), found)
    return HandedIn(tuple(found), _owned(scanned.left_out, owners_of(scanned.left_out, problems)))


def _from_files(problems: Mapping[str, Problem], sources: Sequence[Path]) -> HandedIn:
    """Read files that hold the solution of a student each, to the only problem.

    Raises DataFileError unless there is one problem, and for files that cannot be read.
    """
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
    raise_faults(faults, "solutions")
    _refuse_twice("solutions", found)
    return HandedIn(tuple(found), tuple(UnreadFile(problem_id, file.path.stem, file) for file in left_out))


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
    raise_faults(faults, where)

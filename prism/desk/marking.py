"""Marking on the desk: the solutions of the folder graded, and a marker's words on them in `corrections.toml`.

The grades and points are those of `prism feedback`, and the words are a file that it takes as `--corrections`. A grade
is kept while the desk runs, by the bytes of problem and solution, so that an edit of a reference grades anew what it
touches; which verdicts moved since the page was last looked at is told.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from prism.desk.blocks import Block, joined, keys_of, new_block, split_blocks, with_keys
from prism.desk.edits import has_nodes
from prism.desk.files import Version, names_in, read_version, write_version
from prism.desk.labels import STUDENTS, label_of
from prism.errors import DataFileError, PrismError
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.scoring import scoring_of
from prism.inputs import parse_toml
from prism.problem.collection import BESIDE_PROBLEMS
from prism.problem.schema import Problem, load_problem
from prism.reports.feedback.corrections import Correction, read_corrections
from prism.reports.feedback.marking import GradedSubmission, MarkedSolution, grade_submission, marks_of
from prism.reports.feedback.submissions import HandedIn, Submission, UnreadFile, read_submissions

SOLUTIONS = "solutions"
"""The folder of the students' solutions within the desk's: PROBLEM/STUDENT.md, or STUDENT.md to a single problem."""
CORRECTIONS, CASES = BESIDE_PROBLEMS
SCORING = scoring_of("closure")
_PREPARED = 256  # versions of problems that are kept
Key = tuple[str, str]  # problem and student


@dataclass(frozen=True, slots=True)
class Room:
    """What there is to mark.

    Attributes:
        problems: by id, with the names of their files. broken: files that do not load, with their faults.
        submissions: by problem and student, in the order in which they are marked.
        unread: files that are not read, by problem and student.
        corrections: the marker's words, with the digest of their file.
    """

    problems: Mapping[str, PreparedProblem]
    names: Mapping[str, str]
    broken: Mapping[str, str]
    submissions: Mapping[Key, Submission]
    unread: Mapping[Key, tuple[UnreadFile, ...]]
    corrections: Mapping[Key, Mapping[int, Correction]]
    digest: str

    def next_to(self, key: Key, step: int) -> Key | None:
        """Return the solution so many places behind another; None beyond the ends."""
        keys = list(self.submissions)
        at = keys.index(key) + step
        return keys[at] if 0 <= at < len(keys) else None


@dataclass(slots=True)
class GradeStore:
    """The grades of this desk, by the bytes of problem and solution; `moved` says what changed with a reference."""

    grades: dict[tuple[str, str], GradedSubmission] = field(default_factory=dict)
    last: dict[Key, tuple[str, frozenset[int]]] = field(default_factory=dict)
    moved: dict[Key, tuple[int, ...]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _worker: threading.Thread | None = None

    def has(self, prepared: PreparedProblem, submission: Submission) -> bool:
        """Return True if a solution is graded already."""
        return _bytes_of(prepared, submission) in self.grades

    def of(self, prepared: PreparedProblem, submission: Submission) -> GradedSubmission:
        """Return the grade of a solution, which is worked out where it is not known."""
        own = _bytes_of(prepared, submission)
        with self._lock:
            if own not in self.grades:
                self.grades[own] = grade_submission(prepared, submission, SCORING)
            found = self.grades[own]
            self._note_moves(own[0], (submission.problem_id, submission.student), found)
        return found

    def _note_moves(self, digest: str, key: Key, found: GradedSubmission) -> None:
        """Remember which nodes are credited otherwise than by the version of the reference before."""
        credited = frozenset(found.grade.credited)
        before = self.last.get(key)
        if before is not None and before[0] != digest:
            self.moved[key] = tuple(sorted(before[1] ^ credited))
        self.last[key] = (digest, credited)

    def grade_all(self, room: Room) -> None:
        """Grade what is not graded yet, in a thread of its own; at most one such thread runs."""
        if self._worker is not None and self._worker.is_alive():
            return
        waiting = [(room.problems[key[0]], each) for key, each in room.submissions.items()]
        waiting = [(prepared, each) for prepared, each in waiting if not self.has(prepared, each)]
        if waiting:
            self._worker = threading.Thread(target=lambda: [self.of(*each) for each in waiting], daemon=True)
            self._worker.start()


def _bytes_of(prepared: PreparedProblem, submission: Submission) -> tuple[str, str]:
    """Return what a grade depends on: the digests of problem and solution."""
    text = repr(submission.solution).encode("utf-8", "replace")
    return prepared.problem.sha256, hashlib.sha256(text).hexdigest()


@lru_cache(maxsize=_PREPARED)
def _prepared(text: str) -> PreparedProblem:
    """Load and prepare the text of a problem file; cached."""
    return prepare(load_problem(parse_toml(text)))


def open_room(folder: Path) -> Room:
    """Read the problems, solutions and corrections of a folder.

    Errors:
        DataFileError: solutions or corrections that do not fit the problems.
    """
    problems: dict[str, PreparedProblem] = {}
    names: dict[str, str] = {}
    broken: dict[str, str] = {}
    for name in names_in(folder, ".toml"):
        try:
            text = read_version(folder / name).text
            if has_nodes(parse_toml(text)):
                found = _prepared(text)
                if found.problem.id in problems:
                    raise PrismError(f"{names[found.problem.id]} has the id {found.problem.id} too")
                problems[found.problem.id], names[found.problem.id] = found, name
        except DataFileError as error:
            broken[name] = "; ".join(error.faults)
        except PrismError as error:
            broken[name] = str(error)
    plain = {key: each.problem for key, each in problems.items()}
    try:
        handed_in = _handed_in(folder / SOLUTIONS, plain)
    except DataFileError as error:
        if not broken:
            raise
        handed_in = HandedIn(())  # solutions to a problem that is not loaded
        broken[SOLUTIONS] = "; ".join(error.faults)
    unread: dict[Key, tuple[UnreadFile, ...]] = {}
    for file in handed_in.unread:
        if file.problem_id:
            key = (file.problem_id, file.student)
            unread[key] = (*unread.get(key, ()), file)
    submissions = {(each.problem_id, each.student): each for each in handed_in.submissions}
    for name, student in unread.keys() - submissions.keys():
        submissions[name, student] = Submission(name, student, "", is_read=False)
    order = {name: place for place, name in enumerate(problems)}
    ordered = {key: submissions[key] for key in sorted(submissions, key=lambda key: (order[key[0]], key[1]))}
    path = folder / CORRECTIONS
    words: dict[Key, dict[int, Correction]] = {}
    pairs = frozenset((student, name) for name, student in ordered)
    for one in read_corrections(path, plain, pairs) if path.exists() and plain else ():
        words.setdefault((one.problem_id, one.student), {})[one.node] = one
    return Room(problems, names, broken, ordered, unread, words, read_version(path).digest)


def _handed_in(folder: Path, problems: Mapping[str, Problem]) -> HandedIn:
    """Read the folder of solutions; nothing where there is none."""
    is_any = folder.is_dir() and any(path.is_file() for path in folder.rglob("*"))
    return read_submissions(problems, [folder]) if problems and is_any else HandedIn(())


def marked(room: Room, store: GradeStore, key: Key) -> MarkedSolution:
    """Return the marks of one solution, with the marker's words.

    Errors:
        PrismError: there is no such solution.
    """
    if key not in room.submissions:
        raise PrismError(f"{key[1]!r} has handed in nothing to {key[0]!r}")
    prepared, submission = room.problems[key[0]], room.submissions[key]
    graded = store.of(prepared, submission)
    return marks_of(prepared, submission, graded, SCORING, corrections=room.corrections.get(key, {}))


# A marker's words. ----------------------------------------------------------------------------------------------


def write_word(folder: Path, digest: str, word: Correction, *, is_gone: bool = False) -> Version:
    """Write a marker's word on a node into the file of corrections, in the place of an earlier one, or take it away.

    Errors:
        StaleFile: the file is another version than the page was made from.
        PrismError: a word without a name or a reason.
    """
    if not is_gone and not (word.by.strip() and word.why.strip()):
        raise PrismError("a correction needs your name and a reason")
    path = folder / CORRECTIONS
    blocks = split_blocks(read_version(path).text)
    keys = {
        "student": word.student, "problem": word.problem_id, "node": word.node, "credited": word.credited,
        "by": word.by.strip(), "why": word.why.strip(),
    }  # fmt: skip
    kept = [each for each in blocks if not (is_gone and _is_on(each, word))]
    if not is_gone:
        at = next((k for k, each in enumerate(kept) if _is_on(each, word)), None)
        if at is None:
            lead = "\n" if kept and kept[-1].text else ""
            kept.append(new_block("correction", keys, lead=lead))
        else:
            kept[at] = with_keys(kept[at], **keys)
    return write_version(path, digest, joined(kept))


def _is_on(block: Block, word: Correction) -> bool:
    """Return True for a table that is a word on the same node of the same solution."""
    if block.name != "correction":
        return False
    found = keys_of(block)
    own = (str(found.get("student")), str(found.get("problem", word.problem_id)), found.get("node"))
    return own == (word.student, word.problem_id, word.node)


# Cases. ---------------------------------------------------------------------------------------------------------


def keep_as_sample(path: Path, marks: MarkedSolution) -> str:
    """Write a solution with the marker's verdicts into its problem file, as a student with a label; return its name.

    Errors:
        PrismError: the solution stands there already.
    """
    version = read_version(path)
    blocks = split_blocks(version.text)
    there = [keys_of(each) for each in blocks if each.name == STUDENTS]
    if any(each.get("solution") == marks.text for each in there):
        raise PrismError(f"this solution of {marks.student} stands in {path.name} already")
    name, taken = marks.student, {str(each.get("name")) for each in there}
    while name in taken:
        name += "'"
    label = label_of(marks.problem.dag, sorted(_matched(marks)))
    if marks.problem.alternative:
        label["alternative"] = marks.problem.alternative
    words = [f"node {each.index}: {each.correction.why}" for each in marks.corrections if each.correction]
    keys = {"name": name, "solution": marks.text, "expected": label, "why": "; ".join(words) or None}
    at = next((k for k, each in enumerate(blocks) if each.name == "metadata"), len(blocks))
    write_version(path, version.digest, joined((*blocks[:at], new_block(STUDENTS, keys), *blocks[at:])))
    return name


def _matched(marks: MarkedSolution) -> set[int]:
    """Return the nodes that a solution matches by the marker's word, else by the rule."""
    found = set(marks.grade.matched)
    for each in marks.corrections:
        if each.correction is not None and each.is_changed:
            found = found | {each.index} if each.correction.credited else found - {each.index}
    return found


def keep_as_case(folder: Path, marks: MarkedSolution, node: int) -> str:
    """Write the pair of formulas that was decided wrongly as a row for `tests/cases/` into `cases.toml`; return its id.

    Errors:
        PrismError: no marker has changed the verdict, or no formula was meant for the node.
    """
    changed = next((each for each in marks.corrections if each.index == node and each.is_changed), None)
    if changed is None or changed.correction is None:
        raise PrismError(f"no word of a marker changes the verdict on node {node}")
    items = [item for item in marks.grade.formulas if node in item.nodes or item.nearest == node]
    if not items:
        raise PrismError(f"no formula of the solution was meant for node {node}; keep the solution as a sample instead")
    name = f"{marks.problem.id}-{marks.student}-{node}"
    reference = next(each.latex for each in marks.problem.nodes if each.index == node)
    row: dict[str, Any] = {
        "id": name, "a": reference, "b": items[0].latex,
        "expect": "equivalent" if changed.correction.credited else "different", "near_misses": [],
        "source": f"{changed.correction.by}: {changed.correction.why}",
    }  # fmt: skip
    version = read_version(folder / CASES)
    lead = "\n" if version.text else ""
    write_version(folder / CASES, version.digest, version.text + new_block("case", row, lead=lead).text)
    return name


def earlier_reasons(room: Room) -> tuple[str, ...]:
    """Return the reasons that the marker has given, each once, the commonest first."""
    counts = Counter(one.why for own in room.corrections.values() for one in own.values())
    return tuple(sorted(counts, key=lambda why: (-counts[why], why)))

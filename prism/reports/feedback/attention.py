"""What of a class a person has to read, and what of it a marker's word has settled.

Any word of a marker on a student's solution settles all that asked for a person there, also one that gives no points:
who has decided a node has read the solution. A file whose problem is not known is settled when no problem of its
student is left without marks. **Refused**: a separate word "I have read it", which would be a second way to say what
a correction says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prism.grading.result import Grade, finds_nothing
from prism.reports.feedback.marking import ClassMarks, MarkedSolution
from prism.reports.feedback.submissions import UnreadFile
from prism.reports.feedback.wording import ENGLISH, Wording

FAILED = "The program failed on this solution"
NOTHING_FOUND = "No formula that states anything was found in this solution"
TOO_LONG = "This solution is too long to be read to its end"
STEP_FAILED = "The program failed on a step of this solution"
NOT_ALL_READ = "{file} could not be read, or not all of it"


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that asks for a person.

    Attributes:
        student, problem_id: whose it is; the problem is empty for a file whose place names none.
        file: the place of a file that is not read; empty for what is about a solution.
        what: in words, without a full stop.
        decided_by: the markers whose word has settled it; empty while it is open.
    """

    student: str
    problem_id: str
    file: str
    what: str
    decided_by: tuple[str, ...]

    @property
    def is_file(self) -> bool:
        """True for a file that is not read."""
        return bool(self.file)

    @property
    def says(self) -> str:
        """Return in a sentence what it is, and that a person has to read it, or who has decided."""
        return self.says_in(ENGLISH)

    def says_in(self, wording: Wording) -> str:
        """Return the same in a language; why a file is not read has words in English alone."""
        if self.file:
            what = self.what if wording is ENGLISH else wording.say(NOT_ALL_READ, file=self.file)
        else:
            what = wording.say(self.what)
        if not self.decided_by:
            return wording.say("{what}: a person has to read it.", what=what)
        markers = wording.say(" and ").join(self.decided_by)
        is_one = len(self.decided_by) == 1
        decided = "{what}: {markers} has decided." if is_one else "{what}: {markers} have decided."
        return wording.say(decided, what=what, markers=markers)


def concerns_of(marks: ClassMarks, student: str | None = None) -> tuple[Concern, ...]:
    """Return what asks for a person, of one student or of all: of the solutions, then of the files not read."""
    students = marks.students if student is None else (student,)
    solutions = [each for name in students for each in marks.of(name)]
    files = [each for each in marks.unread if student in (None, each.student)]
    return (
        *(
            Concern(each.student, each.problem.id, "", what, each.markers)
            for each in solutions if each.is_read for what in doubts_of(each.grade)
        ),
        *(Concern(each.student, each.problem_id, each.file.place, each.what, _deciders(marks, each)) for each in files),
    )  # fmt: skip


def concerns_of_solution(marks: ClassMarks, solution: MarkedSolution) -> tuple[Concern, ...]:
    """Return what asks for a person at one solution, with the files not read that may belong to it."""
    names = (solution.problem.id, "")
    return tuple(each for each in concerns_of(marks, solution.student) if each.problem_id in names)


def doubts_of(grade: Grade) -> Iterator[str]:
    """Yield in words why a grade needs a person."""
    if grade.score is None:
        yield FAILED
    elif finds_nothing(grade):
        yield NOTHING_FOUND
    if grade.status == "too_large":
        yield TOO_LONG
    elif grade.score is not None and grade.incidents:
        yield STEP_FAILED


def _deciders(marks: ClassMarks, file: UnreadFile) -> tuple[str, ...]:
    """Return the markers who have settled a file that is not read; empty while it is open."""
    solutions = marks.of(file.student)
    if file.problem_id:
        return next((each.markers for each in solutions if each.problem.id == file.problem_id), ())
    if len(solutions) < len(marks.problems):
        return ()
    return tuple(dict.fromkeys(marker for each in solutions for marker in each.markers))

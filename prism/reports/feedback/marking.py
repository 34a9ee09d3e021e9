"""Marks of a class: points of each node by a scoring, by part and in all, with a marker's corrections beside the rule.

Shares are exact fractions, and points are whole hundredths of a point: the points of a problem are rounded and divided
among its parts so that these sum to them. So every sum in a gradebook is right, a part that is all right has its full
points, and no part has more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter
from pathlib import Path

from prism.diagnosis.findings import Diagnosis, diagnose
from prism.diagnosis.follow_through import CarriedNode, follow_through_of
from prism.errors import raise_faults
from prism.grading.prepared import PreparedProblem, prepare
from prism.grading.result import Grade
from prism.grading.scoring import Scoring, node_shares
from prism.latex import solution_text
from prism.problem.dag import ancestor_closure
from prism.problem.schema import Problem, in_alternative
from prism.reports.feedback.corrections import Correction, other_reference_fault
from prism.reports.feedback.submissions import Submission, UnreadFile
from prism.runs.bulk import Options, grade_rollout
from prism.runs.rollouts import Rollout

HUNDREDTHS = 100  # of a point: what marks are written in
OTHER = ""  # the part of nodes that belong to no part of the problem
NOT_READ = "not read"
"""What stands in the place of the rule's word on a node where only files that are not read were handed in."""


@dataclass(frozen=True, slots=True)
class MarkedNode:
    """A node of the reference in the marks of one solution.

    Attributes:
        index, part, is_final: of the node; the part is empty where it belongs to none.
        rule: what the rule says: `matched`, `credited`, `carried` or `missing`; `not read` where there was no text.
        share_by_rule, share: of its points that are earned, by the rule and with a marker's correction, in [0, 1].
        weight: share of the problem's points that it carries.
        correction: the marker's word; None without one.
    """

    index: int
    part: str
    is_final: bool
    rule: str
    share_by_rule: Fraction
    share: Fraction
    weight: Fraction
    correction: Correction | None = None

    @property
    def is_changed(self) -> bool:
        """True if a marker says something else than the rule, which has read something."""
        return self.rule != NOT_READ and self.share != self.share_by_rule


@dataclass(frozen=True, slots=True)
class PartMarks:
    """Points of a part of a problem, in hundredths: `earned`, `by_rule` and at most `full`."""

    letter: str
    earned: int
    by_rule: int
    full: int
    nodes: tuple[MarkedNode, ...]


@dataclass(frozen=True, slots=True)
class MarkedSolution:
    """The marks of one student's solution to one problem.

    Attributes:
        problem: with the reference DAG that counts.
        text: of the solution. diagnosis: None where the grader gave no score.
        is_read: False where only files that are not read were handed in; the points are a marker's alone then.
        carried: the nodes that are carried forward, if the scoring pays them.
        parts: in the order of the problem; their points sum to those of the solution.
        earned, by_rule, full: points in hundredths, with the marker's corrections, by the rule alone, and in all.
    """

    student: str
    problem: Problem
    text: str
    grade: Grade
    diagnosis: Diagnosis | None
    carried: tuple[CarriedNode, ...]
    parts: tuple[PartMarks, ...]
    earned: int
    by_rule: int
    full: int
    is_read: bool = True

    @property
    def nodes(self) -> tuple[MarkedNode, ...]:
        """All nodes, in index order."""
        return tuple(sorted((node for part in self.parts for node in part.nodes), key=lambda node: node.index))

    @property
    def corrections(self) -> tuple[MarkedNode, ...]:
        """The nodes of which a marker has said something, in index order."""
        return tuple(node for node in self.nodes if node.correction is not None)

    @property
    def markers(self) -> tuple[str, ...]:
        """Who has said something of a node, each once, in index order."""
        return tuple(dict.fromkeys(node.correction.by for node in self.nodes if node.correction is not None))


@dataclass(frozen=True, slots=True)
class ClassMarks:
    """The marks of a class.

    Attributes:
        problems: in their order, by id.
        students: names, sorted, of those who have a solution below.
        solutions: by student and problem; who has not handed in has none, nor has who handed in only files that are
            not read, unless a marker has given points for them.
        scoring: what the marks pay.
        fulls: points of each problem by id, in hundredths, whoever has handed it in.
        unread: files of students that are not read, and need a person; their students need not be among `students`.
    """

    problems: Mapping[str, Problem]
    students: tuple[str, ...]
    solutions: Mapping[tuple[str, str], MarkedSolution]
    scoring: Scoring
    fulls: Mapping[str, int]
    unread: tuple[UnreadFile, ...] = ()

    def of(self, student: str) -> tuple[MarkedSolution, ...]:
        """Return the solutions of a student, in the order of the problems."""
        found = (self.solutions.get((student, problem_id)) for problem_id in self.problems)
        return tuple(each for each in found if each is not None)

    @property
    def n_by_hand(self) -> int:
        """The number of solutions of which nothing was read, so that the points are a marker's alone."""
        return sum(not each.is_read for each in self.solutions.values())

    @property
    def corrected(self) -> tuple[tuple[MarkedSolution, MarkedNode], ...]:
        """The solutions and nodes that a marker has said something of, by student and problem."""
        return tuple((each, node) for name in self.students for each in self.of(name) for node in each.corrections)


def mark_class(
    problems: Mapping[str, Problem],
    submissions: Sequence[Submission],
    scoring: Scoring,
    *,
    points: Fraction | None = None,
    unread: Sequence[UnreadFile] = (),
    corrections: Sequence[Correction] = (),
    corrections_file: Path | None = None,
    watched: Callable[[Sequence[Submission]], Iterable[Submission]] = iter,
) -> ClassMarks:
    """Grade, diagnose and mark the solutions of a class.

    Args:
        problems: by id.
        submissions: at most one of each student to each problem.
        scoring: what is paid; its weights count in relation to each other.
        points: that each problem has in full; None for the sum of its nodes' points.
        unread: files of the class that are not read.
        corrections: of a marker, as `read_corrections` returns them; where there is no submission the points are
            theirs alone. corrections_file: for messages.
        watched: gives the submissions back one by one, for who shows how far it is.

    Errors:
        DataFileError: problems that cannot be prepared; corrections of nodes that another reference DAG has.
    """
    prepared = {name: prepare(each, training=scoring.needs_training) for name, each in problems.items()}
    words: dict[tuple[str, str], dict[int, Correction]] = {}
    for word in corrections:
        words.setdefault((word.student, word.problem_id), {})[word.node] = word
    solutions: dict[tuple[str, str], MarkedSolution] = {}
    faults: list[str] = []
    by_hand = sorted(words.keys() - {(each.student, each.problem_id) for each in submissions})
    handed_in = [*submissions, *(Submission(name, student, "", is_read=False) for student, name in by_hand)]
    for each in watched(handed_in):
        own = words.get((each.student, each.problem_id), {})
        marked = mark_solution(prepared[each.problem_id], each, scoring, points=points, corrections=own)
        faults += [fault for one in own.values() if (fault := other_reference_fault(one, marked.problem))]
        solutions[each.student, each.problem_id] = marked
    raise_faults(faults, str(corrections_file or "corrections"))
    fulls = {name: rounded(_full_points(each, points) * HUNDREDTHS) for name, each in problems.items()}
    students = tuple(sorted({each.student for each in handed_in}))
    return ClassMarks(problems, students, solutions, scoring, fulls, tuple(unread))


def mark_solution(
    prepared: PreparedProblem,
    submission: Submission,
    scoring: Scoring,
    *,
    points: Fraction | None = None,
    corrections: Mapping[int, Correction] | None = None,
) -> MarkedSolution:
    """Grade, diagnose and mark one solution; arguments as of `mark_class`, `corrections` by node."""
    graded = grade_submission(prepared, submission, scoring)
    return marks_of(prepared, submission, graded, scoring, points=points, corrections=corrections)


@dataclass(frozen=True, slots=True)
class GradedSubmission:
    """What is said of a solution before a marker says anything; members as of `MarkedSolution`."""

    grade: Grade
    diagnosis: Diagnosis | None
    carried: tuple[CarriedNode, ...]


def grade_submission(prepared: PreparedProblem, submission: Submission, scoring: Scoring) -> GradedSubmission:
    """Grade and diagnose one solution."""
    rollout = Rollout(submission.problem_id, submission.solution, submission.student)
    grade = grade_rollout(prepared, rollout, options=Options())
    diagnosis = diagnose(prepared, grade) if grade.score is not None else None
    carried: tuple[CarriedNode, ...] = ()
    if scoring.needs_diagnosis and diagnosis is not None:
        grade, carried = follow_through_of(prepared, grade, diagnosis)
    return GradedSubmission(grade, diagnosis, carried)


def marks_of(
    prepared: PreparedProblem,
    submission: Submission,
    graded: GradedSubmission,
    scoring: Scoring,
    *,
    points: Fraction | None = None,
    corrections: Mapping[int, Correction] | None = None,
) -> MarkedSolution:
    """Mark a solution that is graded; arguments as of `mark_solution`."""
    grade, carried = graded.grade, graded.carried
    problem = in_alternative(prepared.problem, grade.alternative)
    full = _full_points(prepared.problem, points)
    nodes = _marked_nodes(prepared, grade, scoring, {each.node for each in carried}, corrections or {})
    if not submission.is_read:
        nodes = [replace(node, rule=NOT_READ) for node in nodes]
    parts, totals = _part_marks(problem, nodes, full)
    return MarkedSolution(
        submission.student, problem, solution_text(submission.solution).text, grade, graded.diagnosis, carried, parts,
        *totals, submission.is_read,
    )  # fmt: skip


def _full_points(problem: Problem, points: Fraction | None) -> Fraction:
    """Return the points of a problem in full: those that are asked for, else the sum of its nodes' points."""
    return Fraction(problem.dag.total) if points is None else points


def _marked_nodes(
    prepared: PreparedProblem, grade: Grade, scoring: Scoring, carried: set[int], corrections: Mapping[int, Correction]
) -> list[MarkedNode]:
    """Return the nodes of the reference that counts with what the rule and the marker say of each."""
    problem = in_alternative(prepared.problem, grade.alternative)
    shares = node_shares(prepared, grade, scoring, carried=carried)
    letters = node_parts(problem)
    found = []
    for node in problem.nodes:
        k = node.index
        rule = "matched" if k in grade.matched else "credited" if k in grade.credited else "missing"
        word = corrections.get(k)
        found.append(
            MarkedNode(
                index=k, part=letters[k], is_final=node.is_final, rule="carried" if k in carried else rule,
                share_by_rule=shares[k], share=shares[k] if word is None else Fraction(int(word.credited)),
                weight=node.points / problem.dag.total, correction=word,
            )
        )  # fmt: skip
    return found


def _part_marks(
    problem: Problem, nodes: Sequence[MarkedNode], full: Fraction
) -> tuple[tuple[PartMarks, ...], tuple[int, int, int]]:
    """Return the points of each part that has nodes, and those of the problem: earned, by rule, in full."""
    fulls = part_fulls(problem, rounded(full * HUNDREDTHS))
    groups = {letter: tuple(node for node in nodes if node.part == letter) for letter in fulls}
    earned, by_rule = (
        _part_points(
            [full * sum((share_of(node) * node.weight for node in group), Fraction(0)) for group in groups.values()],
            [all(share_of(node) == 1 for node in group) for group in groups.values()],
            list(fulls.values()),
        )
        for share_of in (attrgetter("share"), attrgetter("share_by_rule"))
    )
    parts = tuple(
        PartMarks(letter, earned[place], by_rule[place], fulls[letter], group)
        for place, (letter, group) in enumerate(groups.items())
    )
    return parts, (sum(earned), sum(by_rule), sum(fulls.values()))


def _part_points(exact: Sequence[Fraction], is_whole: Sequence[bool], fulls: Sequence[int]) -> list[int]:
    """Round the points of the parts to hundredths so that they sum to the rounded points of the problem.

    A part that is all right has its full points and no part more, even where the sum is some hundredths off by that:
    of three equal parts of 10 points two have 6.66 or 6.67.
    """
    scaled = [each * HUNDREDTHS for each in exact]
    found = [most if whole else int(each) for each, whole, most in zip(scaled, is_whole, fulls, strict=True)]
    return _with_remainders(found, scaled, fulls)


def part_fulls(problem: Problem, full: int) -> dict[str, int]:
    """Map the letter of each part of a problem that has nodes to its full points, in hundredths, in their order.

    Args:
        full: points of the whole problem, in hundredths.
    """
    letters = node_parts(problem)
    weights: dict[str, Fraction] = {}
    for letter in (*(part.letter for part in problem.subquestions), OTHER):
        if own := [node.points for node in problem.nodes if letters[node.index] == letter]:
            weights[letter] = sum(own, Fraction(0)) / problem.dag.total
    wholes = in_hundredths([Fraction(full, HUNDREDTHS) * weight for weight in weights.values()])
    return dict(zip(weights, wholes, strict=True))


def rounded(value: Fraction) -> int:
    """Round a number from 0 on to a whole one, a half up."""
    return int(value + Fraction(1, 2))


def in_hundredths(points: Sequence[Fraction]) -> list[int]:
    """Round points to hundredths so that they sum to their rounded sum: the largest remainders are rounded up.

    >>> in_hundredths([Fraction(10, 3), Fraction(10, 3), Fraction(10, 3)])
    [334, 333, 333]
    """
    scaled = [each * HUNDREDTHS for each in points]
    return _with_remainders([int(each) for each in scaled], scaled)  # marks are not negative


def _with_remainders(found: list[int], exact: Sequence[Fraction], most: Sequence[int] = ()) -> list[int]:
    """Raise whole numbers by one each, largest remainders first, until they sum to the rounded exact sum.

    Args:
        found: a whole number for each exact one.
        most: what each may become; empty for no bound.
    """
    missing = rounded(sum(exact, Fraction(0))) - sum(found)
    for place in sorted(range(len(found)), key=lambda k: (found[k] - exact[k], k)):
        if missing > 0 and (not most or found[place] < most[place]):
            found[place] += 1
            missing -= 1
    return found


def points_text(hundredths: int) -> str:
    """Write hundredths of a point as points, without zeros at the end: `6.5`.

    >>> points_text(650), points_text(1000), points_text(33)
    ('6.5', '10', '0.33')
    """
    whole, rest = divmod(hundredths, HUNDREDTHS)
    return f"{whole}.{rest:02d}".rstrip("0") if rest else str(whole)


def node_parts(problem: Problem) -> dict[int, str]:
    """Map each node to the letter of the part that it belongs to; empty where no part is known.

    That is the part that its file names; else of a final answer the part in its place among those that no other names,
    where there are as many, and of another node the part of the first final answer that rests on it.
    """
    letters = {node.index: node.subquestion for node in problem.nodes}
    finals = [node.index for node in problem.nodes if node.is_final]
    unnamed = [index for index in finals if not letters[index]]
    free = [part.letter for part in problem.subquestions if part.letter not in {letters[index] for index in finals}]
    if len(unnamed) == len(free):
        letters |= dict(zip(unnamed, free, strict=True))
    elif len(problem.subquestions) == 1:
        letters |= dict.fromkeys(unnamed, problem.subquestions[0].letter)
    resting = [(letters[index], ancestor_closure(problem.dag, {index})) for index in finals]
    return {
        index: letter or next((of_final for of_final, closure in resting if index in closure), OTHER)
        for index, letter in letters.items()
    }

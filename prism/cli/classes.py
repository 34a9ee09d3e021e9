"""Commands for a class: `feedback`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import prism
from prism.cli import options as take
from prism.cli.application import HelpHeading, app
from prism.cli.options import names, option, with_options
from prism.cli.output import print_json, tell_left_out, with_progress
from prism.cli.references import require_gradable
from prism.cli.talk import as_usage, exit_unless_graded, fail, require_one_of
from prism.errors import count_of

if TYPE_CHECKING:
    from prism.reports.feedback.gradebook import PlatformWriter
    from prism.reports.feedback.marking import ClassMarks, MarkedSolution
    from prism.reports.feedback.wording import Wording
    from prism.runs.input_files import InputFile

_MANY = 20  # solutions from which on compiling the kernels once takes less time
_FILES = ("class.html", "gradebook.csv", "steps.csv")  # beside the folder of the students' pages
_POINTS = re.compile(r"\d{1,6}(?:\.\d{1,2})?", re.ASCII)
_NAME_SIGN = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80  # characters of a file


@dataclass(frozen=True, slots=True)
class FeedbackOptions:
    """How a class is marked: options of `feedback`."""

    scoring: list[str] = names(
        "What points are for: strict, follow_through, or final=0.3,closure=0.7. [default: closure]",
        metavar="NAME[=WEIGHT],...",
        default=("closure",),
    )
    points: str = option("Full points of each problem, at most two decimals. [default: of its nodes in all]", "")
    corrections: Path | None = option("A marker's corrections, .csv or .toml: student, node, credited, by, why.")
    mapping: take.RolloutMap = field(default_factory=list)
    language: str = option("Of pages and tables; German ones have its numbers.", "en", metavar="en|de")
    gradebook: list[str] = names(
        "Write moodle.csv, canvas.csv too: the columns that moodle or canvas imports.", metavar="NAME,..."
    )
    title: str = option("Of the page of the class.", "")
    max_incidents: take.MaxIncidents = 0
    macros: take.MacroFile = ""
    allow_faults: take.AllowFaults = False
    force: take.Force = False
    as_json: take.AsJson = False


@app.command(rich_help_panel=HelpHeading.TEACH)
@with_options
def feedback(
    problems: take.ManyProblems,
    solutions: list[Path] = take.argument(
        "Solutions: files, each a student's; a folder; or a file of records, as `run` takes it."
    ),
    out: Path = take.option("Folder for the pages and the gradebook.", ..., "--out", "-o"),
    *,
    asked: FeedbackOptions,
) -> None:
    """Mark a class: a page for each student with hints and no answers, a page of the class, a gradebook as CSV."""
    from prism.grading.scoring import scoring_of
    from prism.problem.collection import load_problems
    from prism.reports.feedback.attention import concerns_of
    from prism.reports.feedback.corrections import read_corrections
    from prism.reports.feedback.marking import mark_class
    from prism.reports.feedback.submissions import read_submissions
    from prism.reports.feedback.wording import LANGUAGES, wording_of

    full, platforms = _parse_points(asked.points), _parse_platforms(asked.gradebook)
    with as_usage("--scoring"):
        weights = scoring_of(take.parse_scoring(asked.scoring))
    require_one_of("--language", asked.language, LANGUAGES)
    wording = wording_of(asked.language)
    take.require_folder(out)
    if out.exists() and not out.is_dir():
        fail(f"{out}: is there already, and is no folder")
    take.problem_file(problems)
    known = load_problems(problems, macros=take.read_macro_file(asked.macros))
    handed_in = read_submissions(known, solutions, take.parse_field_map(asked.mapping))
    words = read_corrections(asked.corrections, known, handed_in.pairs(known)) if asked.corrections else ()
    students = {each.student for each in handed_in.submissions} | {each.student for each in words}
    pages = _page_names(sorted(students))
    tables = [f"{name}.csv" for name in platforms]
    take.refuse_existing([out / name for name in (*_FILES, *tables, *pages.values())], force=asked.force)
    require_gradable(problems, known, allow_faults=asked.allow_faults)
    if len(handed_in.submissions) >= _MANY:
        prism.warm()
    marks = mark_class(
        known, handed_in.submissions, weights, points=full, unread=handed_in.unread, corrections=words,
        corrections_file=asked.corrections, watched=lambda items: with_progress(items, "marking"),
    )  # fmt: skip
    _write_files(out, marks, pages, asked.title, wording)
    for table, write in zip(tables, platforms.values(), strict=True):
        take.write_text(out / table, write(marks, handed_in.participants, wording))
    is_open = {each.what for each in concerns_of(marks) if each.is_file and not each.decided_by}
    tell_left_out((*(each.file for each in handed_in.unread if each.what in is_open), *handed_in.passed_over))
    if asked.as_json:
        print_json(_as_json(marks, pages, handed_in.passed_over))
    else:
        print(_summary_line(out, marks))
    grades = [each.grade for each in marks.solutions.values() if each.is_read]
    n_incident = sum(len(grade.incidents) for grade in grades)
    exit_unless_graded(any(grade.score is not None for grade in grades), n_incident, asked.max_incidents)


def _parse_platforms(names: list[str]) -> dict[str, PlatformWriter]:
    """Parse `--gradebook`, or exit with code 2."""
    from prism.reports.feedback.gradebook import PLATFORMS

    for name in names:
        require_one_of("--gradebook", name, PLATFORMS)
    return {name: PLATFORMS[name] for name in names}


def _parse_points(text: str) -> Fraction | None:
    """Parse `--points`: a number above 0 with at most two decimals; None for an empty text.

    Exits with code 2 for others.
    """
    if not text:
        return None
    if not _POINTS.fullmatch(text) or not Fraction(text):
        raise typer.BadParameter(f"--points {text}: expected a number above 0 with at most two decimals")
    return Fraction(text)


def _page_names(students: Sequence[str]) -> dict[str, str]:
    """Map each student to the name of a page below the output folder, safe in a file system and unlike all others."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for student in students:
        plain = _NAME_SIGN.sub("-", student).strip("-.")[:_LONGEST_NAME] or "student"
        name, number = plain, 1
        while name.lower() in taken:  # some file systems do not tell capitals apart
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.lower())
        found[student] = f"students/{name}.html"
    return found


def _write_files(out: Path, marks: ClassMarks, pages: Mapping[str, str], title: str, wording: Wording) -> None:
    """Write the pages of students and class, the gradebook and the list of nodes."""
    from prism.reports.feedback.class_page import class_page
    from prism.reports.feedback.gradebook import gradebook_csv, steps_csv
    from prism.reports.feedback.student_page import student_page

    take.make_folder(out / "students")
    for student, page in pages.items():
        take.write_text(out / page, student_page(marks, student, wording))
    page = class_page(marks, pages, title=title, wording=wording)
    texts = (page, gradebook_csv(marks, wording), steps_csv(marks, wording))
    for name, text in zip(_FILES, texts, strict=True):
        take.write_text(out / name, text)


def _summary_line(out: Path, marks: ClassMarks) -> str:
    """Return one line about what was written: students, solutions, mean points, corrections, who needs a person."""
    from prism.reports.feedback.marking import HUNDREDTHS, points_text, rounded

    full = sum(marks.fulls.values())
    totals = [sum(each.earned for each in marks.of(student)) for student in marks.students]
    mean = points_text(rounded(Fraction(sum(totals), len(totals))))
    corrected = marks.corrected
    n_changed = sum(node.is_changed for _, node in corrected)
    changed = (
        f", of which {n_changed} {'changes' if n_changed == 1 else 'change'} the rule's verdict" if corrected else ""
    )
    n_read = len(marks.solutions) - marks.n_by_hand
    return (
        f"{out}: {count_of(len(marks.students), 'student')}, {count_of(n_read, 'solution')}"
        + (f", {marks.n_by_hand} marked by hand" if marks.n_by_hand else "")
        + f"; mean {mean} of {points_text(full)} {'point' if full == HUNDREDTHS else 'points'}; "
        f"corrections: {len(corrected)}{changed}; {_attention_in_words(marks)}"
    )


def _attention_in_words(marks: ClassMarks) -> str:
    """Return how many solutions and files need a person, and how many a marker's word has settled."""
    from prism.reports.feedback.attention import concerns_of

    concerns = concerns_of(marks)
    is_open, settled = (
        {(each.student, each.problem_id, each.what if each.is_file else "") for each in concerns
         if bool(each.decided_by) == is_decided}
        for is_decided in (False, True)
    )  # fmt: skip
    n_file = sum(bool(what) for _, _, what in is_open)
    return (
        f"need a person: {len(is_open)}"
        + (f", of which {count_of(n_file, 'file')} not read" if n_file else "")
        + (f", settled by one: {len(settled)}" if settled else "")
    )


def _as_json(marks: ClassMarks, pages: Mapping[str, str], passed_over: Sequence[InputFile]) -> dict[str, Any]:
    """Return the marks as plain values for JSON; points are numbers."""
    from prism.reports.feedback.attention import concerns_of

    corrected = marks.corrected
    settled = {each.what for each in concerns_of(marks) if each.is_file and each.decided_by}
    return {
        "students": [_student_as_json(marks, student, pages[student]) for student in marks.students],
        "full_points": {name: full / 100 for name, full in marks.fulls.items()},
        "left_out": [
            *({**each.file.to_dict(), "student": each.student, "problem_id": each.problem_id,
               **({"status": "settled_by_a_person"} if each.what in settled else {})} for each in marks.unread),
            *(file.to_dict() for file in passed_over),
        ],
        "corrections": {"n": len(corrected), "changed": sum(node.is_changed for _, node in corrected)},
    }  # fmt: skip


def _student_as_json(marks: ClassMarks, student: str, page: str) -> dict[str, Any]:
    """Return the marks of one student as plain values for JSON; no points by rule where nothing was read."""
    by_rule = [each.by_rule for each in marks.of(student) if each.is_read]
    return {
        "student": student, "page": page, "points": sum(each.earned for each in marks.of(student)) / 100,
        "points_by_rule": sum(by_rule) / 100 if by_rule else None,
        "solutions": [_solution_as_json(marks, each) for each in marks.of(student)],
    }  # fmt: skip


def _solution_as_json(marks: ClassMarks, solution: MarkedSolution) -> dict[str, Any]:
    """Return the marks of one solution as plain values for JSON."""
    from prism.reports.feedback.attention import concerns_of_solution

    concerns = concerns_of_solution(marks, solution)
    is_read = solution.is_read
    return {
        "problem_id": solution.problem.id, "alternative": solution.problem.alternative,
        "status": solution.grade.status if is_read else "not_read", "points": solution.earned / 100,
        "points_by_rule": solution.by_rule / 100 if is_read else None, "full_points": solution.full / 100,
        "parts": [
            {"letter": part.letter, "points": part.earned / 100,
             "points_by_rule": part.by_rule / 100 if is_read else None, "full_points": part.full / 100}
            for part in solution.parts
        ],
        "nodes": [
            {"node": node.index, "rule": node.rule, "share": round(float(node.share), 6),
             "share_by_rule": round(float(node.share_by_rule), 6) if is_read else None,
             "marker": None if node.correction is None else node.correction.credited}
            for node in solution.nodes
        ],
        "carried": [each.to_dict() for each in solution.carried],
        "needs_a_person": [each.says for each in concerns if not each.decided_by],
        "settled_by_a_person": [each.says for each in concerns if each.decided_by],
    }  # fmt: skip

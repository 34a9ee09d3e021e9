"""The page of a class as HTML: students beside parts, what most have missed, who needs a person, the corrections.

Nodes are named by index and part, never by their formula, so that the page can be shown to the class.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.reports.feedback.attention import concerns_of
from prism.reports.feedback.marking import (
    NOT_READ,
    ClassMarks,
    MarkedNode,
    MarkedSolution,
    part_fulls,
    points_text,
    rounded,
)
from prism.reports.feedback.student_page import part_name, unread_note
from prism.reports.feedback.student_words import SLIPS
from prism.reports.html.rendering import page

_MOST_MISSED = 20  # nodes that are listed
_MOST_SLIPS = 3  # kinds of slip that are named at a node
NOT_HANDED_IN = "–"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of marks: of a part, or of a whole problem where `letter` is None."""

    problem_id: str
    letter: str | None
    name: str
    full: str


def class_page(marks: ClassMarks, links: Mapping[str, str], *, title: str) -> str:
    """Render the page of a class.

    Args:
        links: address of each student's page, from this one.
        title: of the page.
    """
    columns = columns_of(marks)
    corrected = [_correction_row(solution, node) for solution, node in marks.corrected]
    weights = marks.scoring.weights
    return page(
        "class", title=title, columns=columns, full=points_text(sum(marks.fulls.values())),
        rows=[_student_row(marks, columns, student, links[student]) for student in marks.students],
        titles={problem_id: problem.title for problem_id, problem in marks.problems.items()},
        spans=[(name, sum(each.problem_id == name for each in columns)) for name in marks.problems],
        means=_means(marks, columns), missed=missed_nodes(marks), n_solution=len(marks.solutions) - marks.n_by_hand,
        n_by_hand=marks.n_by_hand, corrected=corrected, n_changed=sum(each["is_changed"] for each in corrected),
        scoring=", ".join(f"{name} {weight:g}" if len(weights) > 1 else name for name, weight in weights),
        attention=[(student, links.get(student, ""), *told) for student, *told in _to_be_read(marks)],
    )  # fmt: skip


def _to_be_read(marks: ClassMarks) -> list[tuple[str, str, str]]:
    """Return student, problem and reason of all that a person has to read and that no marker's word has settled."""
    found: dict[tuple[str, str], list[str]] = {}
    is_open = [each for each in concerns_of(marks) if not each.decided_by]
    for each in is_open:
        if not each.is_file:
            found.setdefault((each.student, each.problem_id), []).append(each.says)
    for key, solution in marks.solutions.items():
        if unread := unread_note(solution) if not solution.corrections else ():
            found.setdefault(key, []).extend(unread)
    places = {key: at for at, key in enumerate(marks.solutions)}
    rows = [(*key, " ".join(found[key])) for key in sorted(found, key=lambda key: places[key])]
    return rows + [(each.student, each.problem_id, each.says) for each in is_open if each.is_file]


def columns_of(marks: ClassMarks) -> tuple[Column, ...]:
    """Return the columns of marks: of each problem the whole, then its parts if it has several."""
    found: list[Column] = []
    for problem_id, full in marks.fulls.items():
        fulls = part_fulls(marks.problems[problem_id], full)
        found.append(Column(problem_id, None, "all", points_text(full)))
        if len(fulls) > 1:
            found += [Column(problem_id, letter, part_name(letter), points_text(own)) for letter, own in fulls.items()]
    return tuple(found)


def cell_points(solution: MarkedSolution | None, letter: str | None) -> int | None:
    """Return the points of a solution, or of a part, in hundredths; None without one."""
    if solution is None:
        return None
    return solution.earned if letter is None else next((p.earned for p in solution.parts if p.letter == letter), 0)


def _student_row(marks: ClassMarks, columns: tuple[Column, ...], student: str, link: str) -> dict[str, Any]:
    """Return the row of a student."""
    cells = []
    for column in columns:
        solution = marks.solutions.get((student, column.problem_id))
        points = cell_points(solution, column.letter)
        nodes = () if solution is None else solution.nodes
        is_changed = any(node.is_changed and column.letter in (None, node.part) for node in nodes)
        cells.append((NOT_HANDED_IN if points is None else points_text(points), is_changed, column.letter is None))
    total = sum(each.earned for each in marks.of(student))
    return {"student": student, "link": link, "total": points_text(total), "cells": cells}


def _means(marks: ClassMarks, columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Return the mean points of each column over those who handed the problem in, behind that of all students' sums."""
    totals = [sum(each.earned for each in marks.of(student)) for student in marks.students]
    found = [_mean(totals)]
    for column in columns:
        solutions = [each for (_, name), each in marks.solutions.items() if name == column.problem_id]
        found.append(_mean([cell_points(each, column.letter) or 0 for each in solutions]))
    return tuple(found)


def _mean(points: list[int]) -> str:
    """Return the mean of points in hundredths as text; a dash of none."""
    return points_text(rounded(Fraction(sum(points), len(points)))) if points else NOT_HANDED_IN


def missed_nodes(marks: ClassMarks) -> list[dict[str, Any]]:
    """Return the nodes that most students have no credit for, the most missed first, with the commonest slips there."""
    nodes: dict[tuple[str, str, int], list[MarkedNode]] = defaultdict(list)
    slips: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    for (_, problem_id), solution in marks.solutions.items():
        way = solution.problem.alternative
        for node in solution.nodes:
            nodes[problem_id, way, node.index].append(node)
        for index, kind in _slips_of(solution):
            slips[problem_id, way, index][kind] += 1
    order = {problem_id: place for place, problem_id in enumerate(marks.problems)}
    found: list[dict[str, Any]] = [
        {
            "problem_id": f"{name}, {way}" if way else name, "node": index, "part": own[0].part,
            "is_final": own[0].is_final, "n_missed": sum(node.share < 1 for node in own), "n": len(own),
            "slips": _slips_in_words(slips[name, way, index]),
        }
        for (name, way, index), own in sorted(nodes.items(), key=lambda one: (order[one[0][0]], one[0][1:]))
    ]  # fmt: skip
    found.sort(key=lambda each: (-Fraction(each["n_missed"], each["n"]), -each["n_missed"]))
    return [each for each in found if each["n_missed"]][:_MOST_MISSED]


def _slips_of(solution: MarkedSolution) -> set[tuple[int, str]]:
    """Return the slips of a solution: the node that a wrong formula was meant for, and the kind of its difference."""
    findings = solution.diagnosis.findings if solution.diagnosis else ()
    differences = [each.difference for each in findings if each.status == "wrong" and each.difference is not None]
    return {(each.node, each.kind) for each in differences if each.node is not None}


def _slips_in_words(kinds: Counter[str]) -> str:
    """Return the commonest kinds of slip with their numbers: `a sign 4, units 1`."""
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{SLIPS[kind]} {n}" for kind, n in ranked[:_MOST_SLIPS])


def _correction_row(solution: MarkedSolution, node: MarkedNode) -> dict[str, Any]:
    """Return a marker's correction of a node beside what the rule says."""
    word = node.correction
    assert word is not None
    said = "credited" if word.credited else "not credited"
    beside = "" if node.is_changed or node.rule == NOT_READ else ", as the rule"
    return {
        "student": solution.student, "problem_id": solution.problem.id, "node": node.index, "rule": node.rule,
        "says": f"{said}{beside}", "is_changed": node.is_changed, "by": word.by, "why": word.why,
    }  # fmt: skip

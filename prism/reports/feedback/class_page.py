"""The page of a class as HTML: students beside parts, what most have missed, who needs a person, the corrections.

Its drawings say how many students have how many points, and the share of students at each node of a reference. Nodes
are named by index and part, never by their formula, so that the page can be shown to the class.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from prism.problem.schema import Problem
from prism.reports.feedback.attention import concerns_of
from prism.reports.feedback.marking import NOT_READ, ClassMarks, MarkedNode, MarkedSolution, part_fulls, rounded
from prism.reports.feedback.student_page import part_name, unread_note
from prism.reports.feedback.student_words import SLIPS
from prism.reports.feedback.wording import ENGLISH, Wording
from prism.reports.html import svg
from prism.reports.html.rendering import macro, page
from prism.reports.summary import count_bins

_MOST_MISSED = 20  # nodes that are listed
_MOST_SLIPS = 3  # kinds of slip that are named at a node
NOT_HANDED_IN = "–"
AS_THE_RULE = ", as the rule"
RULES = ("matched", "credited", "carried", "missing", NOT_READ)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of marks: of a part, or of a whole problem where `letter` is None."""

    problem_id: str
    letter: str | None
    name: str
    full: str


def class_page(marks: ClassMarks, links: Mapping[str, str], *, title: str = "", wording: Wording = ENGLISH) -> str:
    """Render the page of a class.

    Args:
        links: address of each student's page, from this one.
        title: of the page; by default that of the language.
        wording: the language.
    """
    columns = columns_of(marks, wording)
    corrected = [_correction_row(solution, node, wording) for solution, node in marks.corrected]
    weights = marks.scoring.weights
    return page(
        "class", script="tables.js", title=title or wording.say("Marks of the class"), columns=columns,
        full=wording.points(sum(marks.fulls.values())),
        rows=[_student_row(marks, columns, student, links[student], wording) for student in marks.students],
        titles={problem_id: problem.title for problem_id, problem in marks.problems.items()},
        spans=[(name, sum(each.problem_id == name for each in columns)) for name in marks.problems],
        means=_means(marks, columns, wording), missed=missed_nodes(marks, wording),
        n_solution=len(marks.solutions) - marks.n_by_hand,
        n_by_hand=marks.n_by_hand, corrected=corrected, n_changed=sum(each["is_changed"] for each in corrected),
        scoring=", ".join(f"{name} {weight:g}" if len(weights) > 1 else name for name, weight in weights),
        attention=[(student, links.get(student, ""), *told) for student, *told in _to_be_read(marks, wording)],
        histogram=points_histogram(marks, wording) if marks.students else "", drawings=node_drawings(marks, wording),
        language=wording.code, say=wording.say, count=wording.count,
    )  # fmt: skip


def _to_be_read(marks: ClassMarks, wording: Wording) -> list[tuple[str, str, str]]:
    """Return student, problem and reason of all that a person has to read and that no marker's word has settled."""
    found: dict[tuple[str, str], list[str]] = {}
    is_open = [each for each in concerns_of(marks) if not each.decided_by]
    for each in is_open:
        if not each.is_file:
            found.setdefault((each.student, each.problem_id), []).append(each.says_in(wording))
    for key, solution in marks.solutions.items():
        if unread := unread_note(solution, wording) if not solution.corrections else ():
            found.setdefault(key, []).extend(unread)
    places = {key: at for at, key in enumerate(marks.solutions)}
    rows = [(*key, " ".join(found[key])) for key in sorted(found, key=lambda key: places[key])]
    return rows + [(each.student, each.problem_id, each.says_in(wording)) for each in is_open if each.is_file]


def columns_of(marks: ClassMarks, wording: Wording = ENGLISH) -> tuple[Column, ...]:
    """Return the columns of marks: of each problem the whole, then its parts if it has several."""
    found: list[Column] = []
    for problem_id, full in marks.fulls.items():
        fulls = part_fulls(marks.problems[problem_id], full)
        found.append(Column(problem_id, None, wording.say("all"), wording.points(full)))
        if len(fulls) > 1:
            found += [
                Column(problem_id, letter, part_name(letter, wording), wording.points(own))
                for letter, own in fulls.items()
            ]
    return tuple(found)


def cell_points(solution: MarkedSolution | None, letter: str | None) -> int | None:
    """Return the points of a solution, or of a part, in hundredths; None without one."""
    if solution is None:
        return None
    return solution.earned if letter is None else next((p.earned for p in solution.parts if p.letter == letter), 0)


def _student_row(
    marks: ClassMarks, columns: tuple[Column, ...], student: str, link: str, wording: Wording
) -> dict[str, Any]:
    """Return the row of a student."""
    cells = []
    for column in columns:
        solution = marks.solutions.get((student, column.problem_id))
        points = cell_points(solution, column.letter)
        nodes = () if solution is None else solution.nodes
        is_changed = any(node.is_changed and column.letter in (None, node.part) for node in nodes)
        text = NOT_HANDED_IN if points is None else wording.points(points)
        cells.append((text, is_changed, column.letter is None))
    return {"student": student, "link": link, "total": wording.points(_total(marks, student)), "cells": cells}


def _total(marks: ClassMarks, student: str) -> int:
    """Return the points of a student in all problems, in hundredths."""
    return sum(each.earned for each in marks.of(student))


def _means(marks: ClassMarks, columns: tuple[Column, ...], wording: Wording) -> tuple[str, ...]:
    """Return the mean points of each column over those who handed the problem in, behind that of all students' sums."""
    found = [_mean([_total(marks, student) for student in marks.students], wording)]
    for column in columns:
        solutions = [each for (_, name), each in marks.solutions.items() if name == column.problem_id]
        found.append(_mean([cell_points(each, column.letter) or 0 for each in solutions], wording))
    return tuple(found)


def _mean(points: list[int], wording: Wording) -> str:
    """Return the mean of points in hundredths as text; a dash of none."""
    return wording.points(rounded(Fraction(sum(points), len(points)))) if points else NOT_HANDED_IN


def missed_nodes(marks: ClassMarks, wording: Wording = ENGLISH) -> list[dict[str, Any]]:
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
            "slips": _slips_in_words(slips[name, way, index], wording),
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


def _slips_in_words(kinds: Counter[str], wording: Wording) -> str:
    """Return the commonest kinds of slip with their numbers: `a sign 4, units 1`."""
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{wording.say(SLIPS[kind])} {n}" for kind, n in ranked[:_MOST_SLIPS])


def _correction_row(solution: MarkedSolution, node: MarkedNode, wording: Wording) -> dict[str, Any]:
    """Return a marker's correction of a node beside what the rule says."""
    word = node.correction
    assert word is not None
    is_same = not node.is_changed and node.rule != NOT_READ
    says = wording.say("credited" if word.credited else "not credited") + (wording.say(AS_THE_RULE) if is_same else "")
    return {
        "student": solution.student, "problem_id": solution.problem.id, "node": node.index,
        "rule": wording.say(node.rule), "says": says, "is_changed": node.is_changed, "by": word.by, "why": word.why,
    }  # fmt: skip


_LABELS = ("0", "<10", "<20", "<30", "<40", "<50", "<60", "<70", "<80", "<90", "<100", "100")  # per cent


def points_histogram(marks: ClassMarks, wording: Wording) -> Markup:
    """Draw how many students have which share of all points, in tenths; no points and all stand apart."""
    full = sum(marks.fulls.values())
    totals = [sum(each.earned for each in marks.of(student)) for student in marks.students]
    counts = count_bins([total / full for total in totals] if full else [])
    told = "; ".join(f"{label} %: {n}" for label, n in zip(_LABELS, counts, strict=True) if n)
    return macro("drawings", "histogram")(
        counts, _LABELS, wording.say("Students by their share of all points, in per cent"), told
    )


def node_drawings(marks: ClassMarks, wording: Wording) -> list[dict[str, Any]]:
    """Draw each reference by which solutions of the class were graded, those that were read."""
    groups: dict[tuple[str, str], list[MarkedSolution]] = defaultdict(list)
    for (_, problem_id), solution in marks.solutions.items():
        if solution.is_read:
            groups[problem_id, solution.problem.alternative].append(solution)
    order = list(marks.problems)
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    return [_node_drawing(number, groups[key], wording) for number, key in enumerate(keys, start=1)]


def _node_drawing(number: int, solutions: list[MarkedSolution], wording: Wording) -> dict[str, Any]:
    """Draw a reference with the shares of those whose solutions are given."""
    problem: Problem = solutions[0].problem
    stated: dict[int, int] = defaultdict(int)
    earned: dict[int, int] = defaultdict(int)
    for solution in solutions:
        for node in solution.nodes:
            stated[node.index] += node.rule == "matched"
            earned[node.index] += node.share > 0 and node.rule != NOT_READ
    n = len(solutions)
    told = "; ".join(
        wording.say("step {number}: stated by {stated}, points for {earned} of {n}", number=index, stated=stated[index],
                    earned=earned[index], n=n)
        for index in problem.dag.indices
    )  # fmt: skip
    layout, edges = svg.layout(problem.dag), f"e{number}"
    shares = {index: (min(stated[index], earned[index]) / n, earned[index] / n) for index in problem.dag.indices}
    title = wording.say("Share of students at each step")
    drawing = svg.dag_of_all(layout, edges, problem.dag, shares, told, title=title)
    name = problem.title or problem.id
    name = f"{name}, {problem.alternative}" if problem.alternative else name
    key = [(svg.bar_sign("mr"), wording.say("share of students who state the step"))] if any(stated.values()) else []
    if any(earned[index] > stated[index] for index in problem.dag.indices):
        key.append((svg.bar_sign("cr"), wording.say("share of students who have points for it besides")))
    if problem.dag.finals:
        key.append((svg.final_sign(), wording.say("final answer")))
    return {"name": name, "edges": svg.edges(layout, edges), "drawing": drawing, "key": key}

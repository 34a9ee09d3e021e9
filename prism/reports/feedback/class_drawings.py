"""Drawings of a class: how many students have how many points, and the share of students at each node of a reference.

Nodes are drawn with their index alone, so that the page can be shown to the class.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from markupsafe import Markup

from prism.problem.schema import Problem
from prism.reports.feedback.marking import NOT_READ, ClassMarks, MarkedSolution
from prism.reports.feedback.wording import Wording
from prism.reports.html import svg
from prism.reports.summary import count_bins

_LABELS = ("0", "<10", "<20", "<30", "<40", "<50", "<60", "<70", "<80", "<90", "<100", "100")  # per cent


@dataclass(frozen=True, slots=True)
class NodeDrawing:
    """The DAG of a reference with the share of students at each node.

    Attributes:
        name: of the problem, and of the alternative.
        edges, drawing: SVG, the first of which the second refers to.
        key: the signs in the drawing, with what they mean.
    """

    name: str
    edges: Markup
    drawing: Markup
    key: tuple[tuple[Markup, str], ...]


def points_histogram(marks: ClassMarks, wording: Wording) -> Markup:
    """Draw how many students have which share of all points, in tenths; no points and all stand apart."""
    full = sum(marks.fulls.values())
    totals = [sum(each.earned for each in marks.of(student)) for student in marks.students]
    counts = count_bins([total / full for total in totals] if full else [])
    told = "; ".join(f"{label} %: {n}" for label, n in zip(_LABELS, counts, strict=True) if n)
    return svg.histogram(counts, _LABELS, wording.say("Students by their share of all points, in per cent"), told)


def node_drawings(marks: ClassMarks, wording: Wording) -> list[NodeDrawing]:
    """Draw each reference by which solutions of the class were graded, those that were read."""
    groups: dict[tuple[str, str], list[MarkedSolution]] = defaultdict(list)
    for (_, problem_id), solution in marks.solutions.items():
        if solution.is_read:
            groups[problem_id, solution.problem.alternative].append(solution)
    order = list(marks.problems)
    keys = sorted(groups, key=lambda key: (order.index(key[0]), key[1]))
    return [_node_drawing(number, groups[key], wording) for number, key in enumerate(keys, start=1)]


def _node_drawing(number: int, solutions: list[MarkedSolution], wording: Wording) -> NodeDrawing:
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
    return NodeDrawing(name, svg.edges(layout, edges), drawing, tuple(key))

"""One problem of a page as plain data: the statement, the DAG, and its nodes with how many rollouts have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from prism.problem.schema import Problem, in_alternative
from prism.reports.html import svg
from prism.reports.html.figures import Figure, ImageRoom
from prism.reports.html.rollout_section import (
    RolloutPieces,
    RolloutSource,
    Statement,
    reference_formulas,
    rollout_pieces,
)
from prism.reports.summary import Group, NodeCount, ProblemFigures


@dataclass(frozen=True, slots=True)
class Subquestion:
    """A subquestion of a problem; `text` is LaTeX prose."""

    letter: str
    text: str


@dataclass(frozen=True, slots=True)
class ProblemNodeRow:
    """A row of a problem's table of nodes.

    Attributes:
        prerequisites: indices of nodes.
        points: empty where the node is not in the problem file.
        reference: None without a problem.
        count: of its rollouts; None where there are none to count.
    """

    index: int
    is_final: bool
    prerequisites: tuple[int, ...]
    points: str
    reference: Statement | None
    count: NodeCount | None


@dataclass(frozen=True, slots=True)
class ReferenceSection:
    """A reference DAG of a problem on the page.

    Attributes:
        anchor: begins the ids of its nodes: the number of the problem, of an alternative with one of its own.
        name: of an alternative; else empty.
        edges, drawing: of the DAG, with the shares of all solutions.
        has_counts: at least one node has a count.
    """

    anchor: str
    name: str
    edges: Markup
    drawing: Markup
    nodes: tuple[ProblemNodeRow, ...]
    has_counts: bool


@dataclass(frozen=True, slots=True)
class ProblemSection:
    """All values that the page shows of one problem, and its rendered rollouts.

    Attributes:
        number: of the problem on the page, from 1; ids of its elements are made from it.
        group: figures of its rollouts.
        is_known: the problem itself is known; otherwise all that comes from it is empty.
        level: of difficulty; empty where it is not rated.
        statement: LaTeX prose.
        figures: its images.
        references: its reference DAG, then its alternatives.
        rollouts: in file order.
    """

    number: int
    group: Group
    is_known: bool
    title: str
    domain: str
    level: str
    statement: str
    figures: tuple[Figure, ...]
    subquestions: tuple[Subquestion, ...]
    references: tuple[ReferenceSection, ...]
    rollouts: tuple[RolloutPieces, ...]


def make_problem_section(number: int, figures: ProblemFigures, room: ImageRoom) -> ProblemSection:
    """Compute all values that the page shows of a problem, and render its rollouts' pieces.

    Args:
        number: of the problem on the page, from 1.
        figures: of the problem's rollouts and nodes.
        room: for its images.
    """
    problem = figures.problem
    names = [each.alternative for each in (problem, *problem.alternatives)] if problem else [""]
    anchors = {name: anchor_of(problem, number, name) for name in names}
    ways = {name: None if problem is None else in_alternative(problem, name) for name in names}
    layouts = {name: None if way is None else svg.layout(way.dag) for name, way in ways.items()}
    references = {
        name: _reference_section(figures, way, name, anchors[name], layouts[name]) for name, way in ways.items()
    }
    # Where a row was made from another state of the problem, its nodes are not those above: no link leads to them.
    rollouts = tuple(
        rollout_pieces(
            RolloutSource(
                anchors[way] if row.problem is problem and references[way].nodes else None, row, layouts[way],
                f"e{anchors[way]}",
            )
        )
        for row in figures.rows
        for way in (row.grade.alternative if row.grade.alternative in anchors else "",)
    )  # fmt: skip
    return ProblemSection(
        number=number, group=figures.group, is_known=problem is not None, title=(problem and problem.title) or "",
        domain=(problem and problem.domain) or "", level=(problem and problem.difficulty.level) or "",
        statement="" if problem is None else problem.statement,
        figures=() if problem is None else room.figures(problem.images), subquestions=_subquestions(problem),
        references=tuple(references.values()), rollouts=rollouts,
    )  # fmt: skip


def anchor_of(problem: Problem | None, number: int, alternative: str) -> str:
    """Return what the ids of a problem's nodes begin with: its number, of an alternative also which one: `3a1`."""
    names = [] if problem is None else [each.alternative for each in problem.alternatives]
    return f"{number}a{names.index(alternative) + 1}" if alternative in names else str(number)


def _reference_section(
    figures: ProblemFigures, problem: Problem | None, name: str, anchor: str, layout: svg.Layout | None
) -> ReferenceSection:
    """Compute what the page shows of one reference DAG.

    Args:
        problem: with this reference DAG; None where none fits.
        name: of the alternative; empty for the problem's own.
        layout: positions of nodes and edges; None without a problem.
    """
    counts = [count for count in figures.nodes if count.alternative == name]
    nodes = _node_rows(counts, problem)
    return ReferenceSection(
        anchor=anchor, name=name, edges=Markup("") if layout is None else svg.edges(layout, f"e{anchor}"),
        drawing=_drawing(counts, problem, layout, f"e{anchor}"), nodes=nodes,
        has_counts=any(node.count is not None for node in nodes),
    )  # fmt: skip


def _subquestions(problem: Problem | None) -> tuple[Subquestion, ...]:
    """Return the subquestions of a problem that have a text; empty without a problem."""
    parts = () if problem is None else problem.subquestions
    return tuple(Subquestion(part.letter, part.text) for part in parts if part.text)


def _drawing(counts: Sequence[NodeCount], problem: Problem | None, layout: svg.Layout | None, edges: str) -> Markup:
    """Draw the DAG with the share of rollouts that match each node; empty markup without a problem.

    Args:
        layout: positions of nodes and edges; None without a problem.
        edges: id of the drawing of the edges.
    """
    if layout is None or problem is None:
        return Markup("")
    shares = {node.index: (node.matched / node.n, node.credited / node.n) for node in counts if node.n}
    description = "; ".join(f"node {n.index}: {n.matched} match, {n.credited} credited of {n.n}" for n in counts)
    return svg.dag_of_all(layout, edges, problem.dag, shares, description)


def _node_rows(found: Sequence[NodeCount], problem: Problem | None) -> tuple[ProblemNodeRow, ...]:
    """Return the table of nodes of one reference DAG, in index order: those of its file and those of the results."""
    references = reference_formulas(problem, "" if problem is None else problem.alternative)
    prerequisites = {node.index: node.prerequisites for node in problem.dag.nodes} if problem else {}
    finals = problem.dag.finals if problem else frozenset()
    points = {node.index: node.points for node in problem.nodes} if problem else {}
    counts = {node.index: node for node in found if node.n}
    return tuple(
        ProblemNodeRow(
            index, index in finals, tuple(prerequisites.get(index, ())), str(points.get(index, "")),
            references.get(index), counts.get(index),
        )
        for index in sorted(references.keys() | {node.index for node in found})
    )  # fmt: skip

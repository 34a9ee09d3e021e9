"""One problem of a page as plain data: the statement, the DAG, and its nodes with how many rollouts have them."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from prism.problem.schema import Problem
from prism.reports.html import svg
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
class ProblemSection:
    """All values that the page shows of one problem, and its rendered rollouts.

    Attributes:
        number: of the problem on the page, from 1; ids of its elements are made from it.
        group: figures of its rollouts.
        is_known: the problem itself is known; otherwise all that comes from it is empty.
        level: of difficulty; empty where it is not rated.
        statement: LaTeX prose.
        edges, drawing: of the DAG, with the shares of all solutions.
        has_counts: at least one node has a count.
        rollouts: in file order.
    """

    number: int
    group: Group
    is_known: bool
    title: str
    domain: str
    level: str
    statement: str
    subquestions: tuple[Subquestion, ...]
    edges: Markup
    drawing: Markup
    nodes: tuple[ProblemNodeRow, ...]
    has_counts: bool
    rollouts: tuple[RolloutPieces, ...]


def make_problem_section(number: int, figures: ProblemFigures) -> ProblemSection:
    """Compute all values that the page shows of a problem, and render its rollouts' pieces.

    Args:
        number: of the problem on the page, from 1.
        figures: of the problem's rollouts and nodes.
    """
    problem = figures.problem
    layout = None if problem is None else svg.layout(problem.dag)
    edges = f"e{number}"
    nodes = _node_rows(figures)
    # Where a row was made from another state of the problem, its nodes are not those above: no link leads to them.
    rollouts = tuple(
        rollout_pieces(RolloutSource(number if row.problem is problem and nodes else None, row, layout, edges))
        for row in figures.rows
    )
    return ProblemSection(
        number=number, group=figures.group, is_known=problem is not None, title=(problem and problem.title) or "",
        domain=(problem and problem.domain) or "", level=(problem and problem.difficulty.level) or "",
        statement="" if problem is None else problem.statement,
        subquestions=_subquestions(problem), edges=Markup("") if layout is None else svg.edges(layout, edges),
        drawing=_drawing(figures, layout, edges), nodes=nodes,
        has_counts=any(node.count is not None for node in nodes), rollouts=rollouts,
    )  # fmt: skip


def _subquestions(problem: Problem | None) -> tuple[Subquestion, ...]:
    """Return the subquestions of a problem that have a text; empty without a problem."""
    parts = () if problem is None else problem.subquestions
    return tuple(Subquestion(part.letter, part.text) for part in parts if part.text)


def _drawing(figures: ProblemFigures, layout: svg.Layout | None, edges: str) -> Markup:
    """Draw the DAG with the share of rollouts that match each node; empty markup without a problem.

    Args:
        layout: positions of nodes and edges; None without a problem.
        edges: id of the drawing of the edges.
    """
    if layout is None or figures.problem is None:
        return Markup("")
    shares = {node.index: (node.matched / node.n, node.credited / node.n) for node in figures.nodes if node.n}
    description = "; ".join(f"node {n.index}: {n.matched} match, {n.credited} credited of {n.n}" for n in figures.nodes)
    return svg.dag_of_all(layout, edges, figures.problem.dag, shares, description)


def _node_rows(figures: ProblemFigures) -> tuple[ProblemNodeRow, ...]:
    """Return the problem's table of nodes, in index order: those of its file and those of the results."""
    problem = figures.problem
    references = reference_formulas(problem)
    prerequisites = {node.index: node.prerequisites for node in problem.dag.nodes} if problem else {}
    finals = problem.dag.finals if problem else frozenset()
    points = {node.index: node.points for node in problem.nodes} if problem else {}
    counts = {node.index: node for node in figures.nodes if node.n}
    return tuple(
        ProblemNodeRow(
            index, index in finals, tuple(prerequisites.get(index, ())), str(points.get(index, "")),
            references.get(index), counts.get(index),
        )
        for index in sorted(references.keys() | {node.index for node in figures.nodes})
    )  # fmt: skip

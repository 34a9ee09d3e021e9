"""One problem of a page as plain data: the statement, the DAG, and its nodes with how many rollouts have them.

The images of problems on a page: embedded as `data:` URLs, up to a size, with their captions as text beside them.

A page loads nothing, so an image is in it or is not shown; one that is left out says why. The limit counts for the page
as a whole: what problems show is always there, and rollouts share what is left of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from prism.errors import PrismError
from prism.problem.images import ProblemImage, image_content
from prism.problem.schema import Problem, in_alternative
from prism.reports.html import svg
from prism.reports.html.rollout_section import RolloutPieces, RolloutSource, reference_formulas, rollout_pieces
from prism.reports.summary import Group, NodeCount, ProblemFigures

MAX_IMAGE = 1_000_000  # bytes of an image on a page; a larger one is a scan or a photograph that nobody made smaller
MAX_IMAGES = 3_000_000  # bytes of all images of a page, which leaves most of it for rollouts


@dataclass(frozen=True, slots=True)
class Figure:
    """An image of a problem on a page.

    Attributes:
        number: of the image in its problem, from 1.
        caption: empty if the problem file has none.
        alt: what stands in its place for who cannot see it.
        data_url: the image; empty if it is not shown.
        why_absent: why it is not shown, in words; empty if it is.
    """

    number: int
    caption: str
    alt: str
    data_url: str
    why_absent: str


class ImageRoom:
    """The bytes that images of one page may still take."""

    def __init__(self, left: int = MAX_IMAGES) -> None:
        """Begin with all of the room."""
        self.left = left

    def figures(self, images: Sequence[ProblemImage]) -> tuple[Figure, ...]:
        """Return the images of a problem as figures; those that are shown take their bytes of the room."""
        return tuple(self._figure(number, image) for number, image in enumerate(images, start=1))

    def _figure(self, number: int, image: ProblemImage) -> Figure:
        """Return an image as a figure, or as the note that and why it is not shown."""
        alt = image.caption or f"Figure {number}, without a caption"
        try:
            content = image_content(image)
        except PrismError as error:
            return Figure(number, image.caption, alt, "", str(error))
        size = len(content.raw)
        if size > MAX_IMAGE:
            why = f"image {image.location} is left out: {size} bytes; a page shows up to {MAX_IMAGE}"
        elif size > self.left:
            why = f"image {image.location} is left out: the images of a page may have {MAX_IMAGES} bytes in all"
        else:
            self.left -= size
            return Figure(number, image.caption, alt, content.data_url, "")
        return Figure(number, image.caption, alt, "", why)


@dataclass(frozen=True, slots=True)
class ProblemSection:
    """All that the page shows of one problem, and its rendered rollouts.

    Attributes:
        number: of the problem on the page, from 1; ids of its elements are made from it.
        group: figures of its rollouts.
        problem: None where it is not known; all that comes from it is empty then.
        figures: its images.
        references: its reference DAG, then its alternatives.
        rollouts: in file order.
    """

    number: int
    group: Group
    problem: Problem | None
    figures: tuple[Figure, ...]
    references: tuple[dict[str, Any], ...]
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
                anchors[way] if row.problem is problem and references[way]["nodes"] else None, row, layouts[way],
                f"e{anchors[way]}",
            )
        )
        for row in figures.rows
        for way in (row.grade.alternative if row.grade.alternative in anchors else "",)
    )  # fmt: skip
    images = () if problem is None else room.figures(problem.images)
    return ProblemSection(number, figures.group, problem, images, tuple(references.values()), rollouts)


def anchor_of(problem: Problem | None, number: int, alternative: str) -> str:
    """Return what the ids of a problem's nodes begin with: its number, of an alternative also which one: `3a1`."""
    names = [] if problem is None else [each.alternative for each in problem.alternatives]
    return f"{number}a{names.index(alternative) + 1}" if alternative in names else str(number)


def _reference_section(
    figures: ProblemFigures, problem: Problem | None, name: str, anchor: str, layout: svg.Layout | None
) -> dict[str, Any]:
    """Compute what the page shows of one reference DAG.

    Args:
        problem: with this reference DAG; None where none fits.
        name: of the alternative; empty for the problem's own.
        anchor: what the ids of its nodes begin with.
        layout: positions of nodes and edges; None without a problem.
    """
    counts = [count for count in figures.nodes if count.alternative == name]
    nodes = _node_rows(counts, problem)
    return {
        "anchor": anchor, "name": name, "edges": Markup("") if layout is None else svg.edges(layout, f"e{anchor}"),
        "drawing": _drawing(counts, problem, layout, f"e{anchor}"), "nodes": nodes, "key": _key(counts, problem),
        "has_counts": any(node["tally"] is not None for node in nodes),
    }  # fmt: skip


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


def _key(counts: Sequence[NodeCount], problem: Problem | None) -> list[tuple[Markup, str]]:
    """Return the signs that the drawing of all solutions holds, with what they mean."""
    found = [(svg.bar_sign("mr"), "share that match the node")] if any(each.matched for each in counts) else []
    if any(each.credited > each.matched for each in counts):
        found.append((svg.bar_sign("cr"), "share that have credit for it besides"))
    return found + ([(svg.final_sign(), "final answer")] if problem is not None and problem.dag.finals else [])


def _node_rows(found: Sequence[NodeCount], problem: Problem | None) -> list[dict[str, Any]]:
    """Return the table of nodes of one reference DAG, in index order: those of its file and those of the results."""
    references = reference_formulas(problem, "" if problem is None else problem.alternative)
    nodes = {node.index: node for node in problem.nodes} if problem else {}
    before = {node.index: node.prerequisites for node in problem.dag.nodes} if problem else {}
    tallies = {node.index: node for node in found if node.n}
    return [
        {
            "number": k, "is_final": problem is not None and k in problem.dag.finals,
            "prerequisites": before.get(k, ()),
            "points": str(nodes[k].points) if k in nodes else "", "reference": references.get(k),
            "tally": tallies.get(k),
        }
        for k in sorted(references.keys() | {node.index for node in found})
    ]  # fmt: skip

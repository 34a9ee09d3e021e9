"""The reference as a drawing: nodes that lead to their place in the page, edges that are open in other strokes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from markupsafe import Markup, escape

from prism.problem.dag import ReferenceDag
from prism.reports.html.svg import HEIGHT, WIDTH, layout


def drawing(
    dag: ReferenceDag, state: Callable[[int], str], open_edges: Collection[tuple[int, int]], label: str
) -> Markup:
    """Draw a DAG from left to right.

    Args:
        state: class of a node.
        open_edges: prerequisite and node of each edge that is not reviewed.
        label: what the drawing shows, for readers who do not see it.
    """
    drawn = layout(dag)
    edges = [(before, node.index) for node in dag.nodes for before in sorted(node.prerequisites)]
    parts = []
    for edge, path in zip(edges, drawn.edges, strict=True):
        x, y = path[0][0] + WIDTH / 2, path[0][1]
        line = f"M{x:g} {y:g}"
        for k, (to_x, to_y) in enumerate(path[1:], start=2):
            end = to_x - WIDTH / 2 - 4 if k == len(path) else to_x
            line += f"C{(x + end) / 2:g} {y:g} {(x + end) / 2:g} {to_y:g} {end:g} {to_y:g}"
            x, y = end, to_y
        css = "edge open" if edge in open_edges else "edge"
        parts.append(f'<path class="{css}" d="{line}"/><path class="head" d="M{x - 3:g} {y - 4:g}l7 4l-7 4z"/>')
    for index, (x, y) in drawn.places.items():
        final = '<path class="f" d="M-14 11h28"/>' if index in dag.finals else ""
        parts.append(
            f'<a href="#n{index}" tabindex="-1"><g class="node {state(index)}" transform="translate({x:g} {y:g})">'
            f'<rect x="{-WIDTH / 2:g}" y="{-HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="4"/>'
            f'<text y="5">{index}</text>{final}</g></a>'
        )
    return Markup(  # noqa: S704 - numbers and class names of ours, and an escaped label
        f'<svg class="dag" role="img" aria-label="{escape(label)}" width="{drawn.width}" height="{drawn.height}" '
        f'viewBox="0 0 {drawn.width} {drawn.height}">{"".join(parts)}</svg>'
    )

"""Drawings for a page, as inline SVG: a reference DAG in layers, a scatter plot, curves; places are worked out here.

The elements stand in `drawings.html.jinja`, with the drawings that need no places: bars and a histogram. Colours and
strokes stand in the page's style sheet, so that one drawing serves light, dark and print; what a colour says, a shape,
a stroke and a letter say too. Nothing here takes text from a solution.

A DAG is laid out from left to right in layers (Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11, 1981): an edge over several
layers gets a place in each, the order within a layer follows the mean place of the neighbours, and then each node moves
towards its neighbours as far as order and distance allow. Refused: graphviz (a program beside PRISM), grandalf (GPL or
EPL, not kept up), networkx (no layered layout).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from prism.problem.dag import ReferenceDag, layers
from prism.reports.html.rendering import macro, px

WIDTH, HEIGHT = 46, 30  # of a node [px]
_COLUMN, _ROW = 84, 46  # between the centres of two layers, of two nodes of a layer [px]
_EDGE_ROW = 18  # of an edge that passes through a layer [px]
_MARGIN = 8
_ORDERINGS = 8  # sweeps over the layers
_MOVES = 6
_MAX_BENDS = 2_000  # places of edges in layers; beyond them edges run straight

_Place = tuple[float, float]
_Key = tuple[int, int]  # a node (index, -1), or the edge to a node on its way: (prerequisite, node)


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of the nodes and edges of a DAG in a drawing.

    Attributes:
        width, height: of the drawing [px].
        places: centre of each node, by index [px].
        edges: for each edge the points that it passes, from prerequisite to node [px].
    """

    width: int
    height: int
    places: Mapping[int, _Place]
    edges: tuple[tuple[_Place, ...], ...]


# Layout. --------------------------------------------------------------------------------------------------------


def layout(dag: ReferenceDag) -> Layout:
    """Compute positions of the nodes and edges of a DAG, from left to right; the same for the same DAG."""
    level = _columns_of_nodes(dag)
    edges = [(before, node.index) for node in dag.nodes for before in sorted(node.prerequisites)]
    bends = sum(level[after] - level[before] - 1 for before, after in edges)
    paths = [_edge_path(before, after, level, straight=bends > _MAX_BENDS) for before, after in edges]
    columns: list[list[_Key]] = [[] for _ in range(max(level.values()) + 1)]
    for index in dag.indices:
        columns[level[index]].append((index, -1))
    neighbours: dict[_Key, list[_Key]] = {key: [] for column in columns for key in column}
    for path in paths:
        for key, column in zip(path[1:-1], columns[level[path[0][0]] + 1 :], strict=False):
            column.append(key)
            neighbours[key] = []
        for left, right in pairwise(path):
            neighbours[left].append(right)
            neighbours[right].append(left)
    _sort_columns(columns, neighbours)
    heights = _vertical_positions(columns, neighbours)
    top = min(heights.values()) - HEIGHT / 2 - _MARGIN
    at = {
        key: (_MARGIN + WIDTH / 2 + _COLUMN * k, round(heights[key] - top, 1))
        for k, column in enumerate(columns)
        for key in column
    }
    return Layout(
        width=2 * _MARGIN + WIDTH + _COLUMN * (len(columns) - 1),
        height=int(max(heights.values()) - top + HEIGHT / 2 + _MARGIN + 1),
        places={index: at[index, -1] for index in dag.indices},
        edges=tuple(tuple(at[key] for key in path) for path in paths),
    )


def _columns_of_nodes(dag: ReferenceDag) -> dict[int, int]:
    """Map each node index to its column: its layer; for a node without prerequisites, the column before its first use.

    So a law that is used late stands right before the node that needs it, and not in a tall first column.
    """
    level = {index: depth for depth, layer in enumerate(layers(dag)) for index in layer}
    first_use: dict[int, int] = {}
    for node in dag.nodes:
        for before in node.prerequisites:
            first_use[before] = min(first_use.get(before, level[node.index]), level[node.index])
    roots = {node.index for node in dag.nodes if not node.prerequisites and node.index in first_use}
    return {index: first_use[index] - 1 if index in roots else own for index, own in level.items()}


def _edge_path(before: int, after: int, level: Mapping[int, int], *, straight: bool) -> list[_Key]:
    """Return the keys that an edge passes: its ends, and one bend in each column between them unless `straight`.

    Args:
        before, after: node indices of the edge.
        level: column of each node, by index.
    """
    between = 0 if straight else level[after] - level[before] - 1
    return [(before, -1), *[(-before * 100_000 - k, after) for k in range(between)], (after, -1)]


def _sort_columns(columns: list[list[_Key]], neighbours: Mapping[_Key, list[_Key]]) -> None:
    """Sort the keys of each column in place by the mean rank of their neighbours, in eight alternating sweeps."""
    rank = {key: float(k) for column in columns for k, key in enumerate(column)}
    where = {key: k for k, column in enumerate(columns) for key in column}
    for sweep in range(_ORDERINGS):
        step = -1 if sweep % 2 == 0 else 1
        order = columns if step == -1 else columns[::-1]
        for column in order[1:]:
            mean = {}
            for key in column:
                ranks = [rank[near] for near in neighbours[key] if (where[near] - where[key]) * step > 0]
                mean[key] = sum(ranks) / len(ranks) if ranks else rank[key]
            column.sort(key=lambda key, mean=mean: (mean[key], rank[key]))  # type: ignore[misc]
            rank.update((key, float(k)) for k, key in enumerate(column))


def _vertical_positions(columns: Sequence[Sequence[_Key]], neighbours: Mapping[_Key, list[_Key]]) -> dict[_Key, float]:
    """Map each node and bend to its vertical position [px]: near its neighbours, at least `_least_distance` apart."""
    heights: dict[_Key, float] = {}
    for column in columns:
        start = -sum(_least_distance(upper, lower) for upper, lower in pairwise(column)) / 2
        for k, key in enumerate(column):
            start += _least_distance(column[k - 1], key) if k else 0
            heights[key] = start
    for move in range(_MOVES):
        for column in columns if move % 2 == 0 else columns[::-1]:
            wanted = [
                sum(heights[near] for near in neighbours[key]) / len(neighbours[key])
                if neighbours[key] else heights[key]
                for key in column
            ]  # fmt: skip
            down, up = list(wanted), list(wanted)
            for k in range(1, len(column)):
                down[k] = max(down[k], down[k - 1] + _least_distance(column[k - 1], column[k]))
            for k in range(len(column) - 2, -1, -1):
                up[k] = min(up[k], up[k + 1] - _least_distance(column[k], column[k + 1]))
            heights.update(zip(column, [(a + b) / 2 for a, b in zip(down, up, strict=True)], strict=True))
    return heights


def _least_distance(upper: _Key, lower: _Key) -> float:
    """Return the least vertical distance between the centres of two keys, adjacent in a column [px]."""
    return sum(_ROW if key[1] == -1 else _EDGE_ROW for key in (upper, lower)) / 2


# Drawings. ------------------------------------------------------------------------------------------------------

LETTERS = {"m": "M", "c": "C", "w": "W", "x": "–"}
"""Sign beside the index of a node that is matched, credited, withheld, or missing."""


def node_sign(state: str) -> Markup:
    """Draw a node of a state, a key of `LETTERS`, for the key of a drawing."""
    return macro("drawings", "node_sign")(state, LETTERS[state])


def bar_sign(kind: str) -> Markup:
    """Draw a bar of `dag_of_all` for its key: `mr` for what is matched, `cr` for what has credit."""
    return macro("drawings", "bar_sign")(kind)


def final_sign() -> Markup:
    """Draw the line under the number of a final answer, for the key of a drawing."""
    return macro("drawings", "final_sign")()


def edge_paths(drawn: Layout) -> list[tuple[str, str]]:
    """Return the path of each edge of a DAG, and that of its head."""
    found = []
    for path in drawn.edges:
        x, y = path[0][0] + WIDTH / 2, path[0][1]
        line = f"M{px(x)} {px(y)}"
        for k, (to_x, to_y) in enumerate(path[1:], start=2):
            end = to_x - WIDTH / 2 - 4 if k == len(path) else to_x
            middle = px((x + end) / 2)
            line += f"C{middle} {px(y)} {middle} {px(to_y)} {px(end)} {px(to_y)}"
            x, y = end, to_y
        found.append((line, f"M{px(x - 3)} {px(y - 4)}l7 4l-7 4z"))
    return found


def edges(drawn: Layout, name: str) -> Markup:
    """Draw the edges of a DAG, hidden, as a group with the id `name`, which the drawings of that DAG refer to."""
    return macro("drawings", "edges")(edge_paths(drawn), name)


def dag_of_one(drawn: Layout, name: str, dag: ReferenceDag, state: Callable[[int], str], description: str) -> Markup:
    """Draw a DAG with the state of each node in one solution: matched, credited, withheld or missing.

    Args:
        drawn, name: the layout, and the id of its edges.
        dag: the DAG.
        state: function from a node index to a key of `LETTERS`.
        description: the same in words, for readers who do not see the drawing.
    """
    states = {index: state(index) for index in drawn.places}
    nodes = [
        (index, *place, index in dag.finals, states[index], LETTERS[states[index]])
        for index, place in drawn.places.items()
    ]
    return macro("drawings", "dag_of_one")(drawn, name, nodes, description)


def dag_of_all(
    drawn: Layout,
    name: str,
    dag: ReferenceDag,
    shares: Mapping[int, tuple[float, float]],
    description: str,
    *,
    title: str = "Reference DAG, all solutions",
) -> Markup:
    """Draw a DAG with bars in each node: the share of solutions that match it (solid), or are credited for it (light).

    Args:
        drawn, name: the layout, and the id of its edges.
        dag: the DAG.
        shares: for a node index the shares of solutions, matched and credited, in [0, 1].
        description: the same in words.
    """
    nodes = [
        (index, *place, index in dag.finals, *shares.get(index, (0.0, 0.0))) for index, place in drawn.places.items()
    ]
    return macro("drawings", "dag_of_all")(drawn, name, nodes, description, title)


def axis_limits(points: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    """Return the common range of both axes of a scatter plot: [0, 1], extended to points (x, y, count) beyond."""
    numbers = [number for x, y, _ in points for number in (x, y)]
    return min([0.0, *numbers]), max([1.0, *numbers])


def scatter(
    points: Sequence[tuple[float, float, int]], title: str, description: str, x_label: str, y_label: str
) -> Markup:
    """Draw points (x, y, count) as circles with area proportional to the count, over the diagonal x = y.

    Both axes go from 0 to 1, or on to the lowest and the highest number, where a scale is another.
    """
    most = max((count for _, _, count in points), default=1)
    return macro("drawings", "scatter")(points, *axis_limits(points), most, title, description, x_label, y_label)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Two shares at a positive number; each with the ends of its interval, None without one."""

    number: float
    shares: tuple[tuple[float, float | None, float | None], tuple[float, float | None, float | None]]


def curves(
    points: Sequence[CurvePoint], title: str, description: str, x_label: str, names: tuple[str, str], *,
    small: bool = False,
) -> Markup:  # fmt: skip
    """Draw two shares against a number on a logarithmic axis: circles on a solid line, squares on a dashed one.

    Args:
        points: at least one, in ascending order of the number.
        names: of the two shares, for the legend.
        small: without axes, legend and intervals.
    """
    low, high = points[0].number, points[-1].number
    left, _, width, _, pad = plane = (4, 6, 190, 70, 8) if small else (52, 34, 440, 220, 18)

    def across(number: float) -> float:
        """Return the horizontal position of a number [px]."""
        share = math.log(number / low) / math.log(high / low) if high > low else 0.5
        return left + pad + (width - 2 * pad) * share

    shifts = (0, 0) if small else (-4, 4)  # so that no interval covers another
    lines = [[(across(each.number) + shift, *each.shares[k]) for each in points] for k, shift in enumerate(shifts)]
    numbers = [low * (high / low) ** (k / 3) for k in range(4 if high > low else 1)]
    ticks = [(across(number), f"{number:,.0f}" if high >= 10 else f"{number:.2g}") for number in numbers]
    return macro("drawings", "curves")(plane, lines, ticks, title, description, x_label, names, small)

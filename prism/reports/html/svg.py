"""Drawings for a page, as inline SVG: a reference DAG in layers, bars, a histogram, a scatter plot.

Colours and strokes stand in the page's style sheet, so that one drawing serves light, dark and print; what a colour
says, a shape, a stroke and a letter say too. Nothing here takes text from a solution.

A DAG is laid out from left to right in layers (Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11, 1981): an edge over several
layers gets a place in each, the order within a layer follows the mean place of the neighbours, and then each node moves
towards its neighbours as far as order and distance allow. Refused: graphviz (a program beside PRISM), grandalf (GPL or
EPL, not kept up), networkx (no layered layout).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from prism.problem.dag import ReferenceDag

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
    """Where the nodes of a DAG stand.

    Attributes:
        width, height: of the drawing [px].
        places: centre of each node, by index [px].
        edges: of each edge the places that it passes, from prerequisite to node [px].
    """

    width: int
    height: int
    places: Mapping[int, _Place]
    edges: tuple[tuple[_Place, ...], ...]


# Layout. --------------------------------------------------------------------------------------------------------


def layout(dag: ReferenceDag) -> Layout:
    """Places for the nodes, the same for the same DAG."""
    level = _levels(dag)
    edges = [(before, node.index) for node in dag.nodes for before in sorted(node.prerequisites)]
    bends = sum(level[after] - level[before] - 1 for before, after in edges)
    paths = [_path(before, after, level, straight=bends > _MAX_BENDS) for before, after in edges]
    columns: list[list[_Key]] = [[] for _ in range(max(level.values()) + 1)]
    for index in dag.indices:
        columns[level[index]].append((index, -1))
    neighbours: dict[_Key, list[_Key]] = {key: [] for column in columns for key in column}
    for path in paths:
        for key, column in zip(path[1:-1], columns[level[path[0][0]] + 1 :], strict=False):
            column.append(key)
            neighbours[key] = []
        for one, other in pairwise(path):
            neighbours[one].append(other)
            neighbours[other].append(one)
    _order(columns, neighbours)
    heights = _heights(columns, neighbours)
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


def _levels(dag: ReferenceDag) -> dict[int, int]:
    """The layer of each node: below its deepest prerequisite; without any, right before what follows from it first.

    So a law that is used late stands where it is used, and not in a tall first column.
    """
    level: dict[int, int] = {}
    first: dict[int, int] = {}
    for node in dag.nodes:
        level[node.index] = 1 + max((level[before] for before in node.prerequisites), default=-1)
        for before in node.prerequisites:
            first[before] = min(first.get(before, level[node.index]), level[node.index])
    return {
        node.index: level[node.index] if node.prerequisites or node.index not in first else first[node.index] - 1
        for node in dag.nodes
    }


def _path(before: int, after: int, level: Mapping[int, int], *, straight: bool) -> list[_Key]:
    between = 0 if straight else level[after] - level[before] - 1
    return [(before, -1), *[(-before * 100_000 - k, after) for k in range(between)], (after, -1)]


def _order(columns: list[list[_Key]], neighbours: Mapping[_Key, list[_Key]]) -> None:
    """Sort each layer by the mean place of what its members are joined to, forwards and backwards in turn."""
    rank = {key: float(k) for column in columns for k, key in enumerate(column)}
    where = {key: k for k, column in enumerate(columns) for key in column}
    for sweep in range(_ORDERINGS):
        step = -1 if sweep % 2 == 0 else 1
        order = columns if step == -1 else columns[::-1]
        for column in order[1:]:
            mean = {}
            for key in column:
                beside = [rank[other] for other in neighbours[key] if (where[other] - where[key]) * step > 0]
                mean[key] = sum(beside) / len(beside) if beside else rank[key]
            column.sort(key=lambda key, mean=mean: (mean[key], rank[key]))  # type: ignore[misc]
            rank.update((key, float(k)) for k, key in enumerate(column))


def _heights(columns: Sequence[Sequence[_Key]], neighbours: Mapping[_Key, list[_Key]]) -> dict[_Key, float]:
    """How far down each stands [px]: towards its neighbours, none nearer to another than there is room for."""
    heights: dict[_Key, float] = {}
    for column in columns:
        start = -sum(_room(one, other) for one, other in pairwise(column)) / 2
        for k, key in enumerate(column):
            start += _room(column[k - 1], key) if k else 0
            heights[key] = start
    for move in range(_MOVES):
        for column in columns if move % 2 == 0 else columns[::-1]:
            wanted = [
                sum(heights[other] for other in neighbours[key]) / len(neighbours[key])
                if neighbours[key] else heights[key]
                for key in column
            ]  # fmt: skip
            down, up = list(wanted), list(wanted)
            for k in range(1, len(column)):
                down[k] = max(down[k], down[k - 1] + _room(column[k - 1], column[k]))
            for k in range(len(column) - 2, -1, -1):
                up[k] = min(up[k], up[k + 1] - _room(column[k], column[k + 1]))
            heights.update(zip(column, [(one + other) / 2 for one, other in zip(down, up, strict=True)], strict=True))
    return heights


def _room(one: _Key, other: _Key) -> float:
    own = [_ROW if key[1] == -1 else _EDGE_ROW for key in (one, other)]
    return sum(own) / 2


# Drawings. ------------------------------------------------------------------------------------------------------

SHAPES = (
    '<svg class="defs" width="0" height="0" aria-hidden="true"><defs>'
    f'<g id="gm"><rect class="m" x="-23" y="-15" width="{WIDTH}" height="{HEIGHT}" rx="2"/></g>'
    f'<g id="gc"><rect class="c" x="-23" y="-15" width="{WIDTH}" height="{HEIGHT}" rx="15"/></g>'
    '<g id="gx"><path class="x" d="M-23 0l9-15h28l9 15l-9 15h-28z"/></g>'
    '<g id="gf"><path class="f" d="M-14 11h28"/></g>'
    "</defs></svg>"
)
"""What drawings of DAGs use: a square node is matched, a round one credited, a pointed one missing; a final answer is
underlined. Stands once in a page, before them."""

LETTERS = {"m": "M", "c": "C", "x": "–"}
"""What is written beside the index of a node that is matched, credited, or missing."""


def edges(drawn: Layout, name: str) -> str:
    """The edges of a DAG as a group of this name, which the drawings of the DAG share."""
    lines, heads = [], []
    for path in drawn.edges:
        x, y = path[0]
        line = f"M{_n(x + WIDTH / 2)} {_n(y)}"
        x += WIDTH / 2
        for k, (to_x, to_y) in enumerate(path[1:], start=2):
            end = to_x - WIDTH / 2 - 4 if k == len(path) else to_x
            middle = (x + end) / 2
            line += f"C{_n(middle)} {_n(y)} {_n(middle)} {_n(to_y)} {_n(end)} {_n(to_y)}"
            x, y = end, to_y
        lines.append(line)
        heads.append(f"M{_n(x - 3)} {_n(y - 4)}l7 4l-7 4z")
    return (
        '<svg class="defs" width="0" height="0" aria-hidden="true"><defs>'
        f'<g id="{name}"><path class="edge" d="{"".join(lines)}"/><path class="head" d="{"".join(heads)}"/></g>'
        "</defs></svg>"
    )


def dag_of_one(drawn: Layout, name: str, dag: ReferenceDag, state: Callable[[int], str], told: str) -> str:
    """The DAG with what one solution has of it.

    Args:
        drawn, name: the layout, and what its edges are called.
        dag: the DAG.
        state: of a node, a key of `LETTERS`.
        told: the same in words, for who does not see it.
    """
    parts = [f'<use href="#{name}"/>'] if drawn.edges else []
    for index, (x, y) in drawn.places.items():
        own = state(index)
        final = '<use href="#gf"/>' if index in dag.finals else ""
        lit = ' class="on"' if own == "m" else ""  # on the fill of a matched node
        parts.append(
            f'<g{lit} transform="translate({_n(x)} {_n(y)})"><use href="#g{own}"/>{final}'
            f'<text y="5">{index} {LETTERS[own]}</text></g>'
        )
    return _svg(drawn.width, drawn.height, "dag", "Reference DAG", told, "".join(parts))


def dag_of_all(
    drawn: Layout, name: str, dag: ReferenceDag, shares: Mapping[int, tuple[float, float]], told: str
) -> str:
    """The DAG with the shares of all solutions: of each node a bar, solid for matched and hatched for credited.

    Args:
        drawn, name: the layout, and what its edges are called.
        dag: the DAG.
        shares: of a node, of the solutions that match it and that have credit for it, in [0, 1].
        told: the same in words.
    """
    parts = [f'<use href="#{name}"/>'] if drawn.edges else []
    for index, (x, y) in drawn.places.items():
        matched, credited = shares.get(index, (0.0, 0.0))
        final = '<path class="f" d="M-14 4h28"/>' if index in dag.finals else ""
        parts.append(
            f'<g transform="translate({_n(x)} {_n(y)})"><rect class="n" x="-23" y="-15" width="46" height="30" rx="2"/>'
            f'<rect class="cr" x="-23" y="7" width="{_n(46 * credited)}" height="8"/>'
            f'<rect class="mr" x="-23" y="7" width="{_n(46 * matched)}" height="8"/>'
            f'{final}<text y="1">{index}</text></g>'
        )
    return _svg(drawn.width, drawn.height, "dag", "Reference DAG, all solutions", told, "".join(parts))


def bar(value: float, low: float | None = None, high: float | None = None) -> str:
    """A share in [0, 1] as a bar, with its interval as a line; what it says stands beside it as a number."""
    whisker = ""
    if low is not None and high is not None:
        a, b = 120 * low, 120 * high
        whisker = f'<path class="whisker" d="M{_n(a)} 8H{_n(b)}M{_n(a)} 5v6M{_n(b)} 5v6"/>'
    return (
        f'<svg class="bar" aria-hidden="true"><rect class="fill" width="{_n(120 * value)}" height="16"/>{whisker}</svg>'
    )


def histogram(counts: Sequence[int], labels: Sequence[str], title: str, told: str, *, small: bool = False) -> str:
    """Counts as upright bars, with the number above each and the label below."""
    step, tall = (14, 40) if small else (40, 120)
    most = max(counts, default=0) or 1
    width, height = step * len(counts) + 8, tall + (6 if small else 40)
    parts = []
    for k, count in enumerate(counts):
        own = tall * count / most
        x, y = 4 + step * k, (4 if small else 18) + tall - own
        parts.append(f'<rect class="fill" x="{x + 1}" y="{_n(y)}" width="{step - 2}" height="{_n(own)}"/>')
        if not small:
            middle = x + step / 2
            parts.append(f'<text x="{_n(middle)}" y="{_n(y - 4)}">{count}</text>')
            parts.append(f'<text class="axis" x="{_n(middle)}" y="{height - 6}">{escape(labels[k])}</text>')
    base = (4 if small else 18) + tall
    parts.append(f'<path class="base" d="M2 {base}H{width - 2}"/>')
    return _svg(width, height, "histogram", title, told, "".join(parts))


def limits(points: Sequence[tuple[float, float, int]]) -> tuple[float, float]:
    """Lowest and highest number of both axes of a scatter plot."""
    numbers = [number for x, y, _ in points for number in (x, y)]
    return min([0.0, *numbers]), max([1.0, *numbers])


def scatter(points: Sequence[tuple[float, float, int]], title: str, told: str, x_label: str, y_label: str) -> str:
    """Points, each with a count that is its area; the diagonal is where both agree.

    Both axes go from 0 to 1, or on to the lowest and the highest number, where a scale is another.
    """
    low, high = limits(points)
    side, left, top, pad = 300, 76, 22, 16  # [px]; the largest circle stays inside the frame
    most = max((count for _, _, count in points), default=1)
    parts = [
        f'<rect class="plane" x="{left - pad}" y="{top - pad}" width="{side + 2 * pad}" height="{side + 2 * pad}"/>',
        f'<path class="diagonal" d="M{left} {top + side}L{left + side} {top}"/>',
    ]
    for tick in range(5):
        share = tick / 4
        x, y = left + side * share, top + side * (1 - share)
        parts.append(f'<path class="tick" d="M{_n(x)} {top + side + pad}v5M{left - pad} {_n(y)}h-5"/>')
        said = f"{low + (high - low) * share:.3g}"
        parts.append(f'<text x="{_n(x)}" y="{top + side + pad + 18}">{said}</text>')
        parts.append(f'<text class="end" x="{left - pad - 9}" y="{_n(y + 4)}">{said}</text>')
    for own_x, own_y, count in points:
        x, y = (own_x - low) / (high - low), (own_y - low) / (high - low)
        radius = 3 + 11 * ((count / most) ** 0.5 if most > 1 else 0)
        parts.append(f'<circle cx="{_n(left + side * x)}" cy="{_n(top + side * (1 - y))}" r="{_n(radius)}"/>')
    parts.append(f'<text x="{left + side / 2}" y="{top + side + pad + 36}">{escape(x_label)}</text>')
    parts.append(f'<text transform="translate(12 {top + side / 2}) rotate(-90)">{escape(y_label)}</text>')
    return _svg(left + side + pad + 4, top + side + pad + 46, "scatter", title, told, "".join(parts))


def _svg(width: int, height: int, kind: str, title: str, told: str, body: str) -> str:
    return (
        f'<svg class="{kind}" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<title>{escape(title)}</title><desc>{escape(told)}</desc>{body}</svg>"
    )


def _n(value: float) -> str:
    """A number of at most one decimal, without needless zeros."""
    return f"{value:.1f}".removesuffix(".0")

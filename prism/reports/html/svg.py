"""Drawings for a page, as inline SVG: a reference DAG in layers, bars, a histogram, a scatter plot, curves.

Colours and strokes stand in the page's style sheet, so that one drawing serves light, dark and print; what a colour
says, a shape, a stroke and a letter say too. Nothing here takes text from a solution.

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

from markupsafe import Markup, escape

from prism.problem.dag import ReferenceDag, layers

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

SHAPES = Markup(  # noqa: S704 - nothing but numbers of ours is put in
    '<svg class="defs" width="0" height="0" aria-hidden="true"><defs>'
    f'<g id="gm"><rect class="m" x="-23" y="-15" width="{WIDTH}" height="{HEIGHT}" rx="2"/></g>'
    f'<g id="gc"><rect class="c" x="-23" y="-15" width="{WIDTH}" height="{HEIGHT}" rx="15"/></g>'
    '<g id="gw"><path class="h" d="M-23-15h46v30h-46z"/><path class="h" d="M-19-11h38v22h-38z"/></g>'
    '<g id="gx"><path class="x" d="M-23 0l9-15h28l9 15l-9 15h-28z"/></g>'
    '<g id="gf"><path class="f" d="M-14 11h28"/></g>'
    "</defs></svg>"
)
"""Shapes that drawings of DAGs refer to: a square node is matched, a round one credited, one with a double edge
withheld, a pointed one missing; a final answer is underlined. Stands once in a page, before the drawings."""

LETTERS = {"m": "M", "c": "C", "w": "W", "x": "–"}
"""Sign beside the index of a node that is matched, credited, withheld, or missing."""


def node_sign(state: str) -> Markup:
    """Draw a node of a state, a key of `LETTERS`, for the key of a drawing."""
    return _sign(f'<use href="#g{state}"/><text y="5"{_lit(state)}>{LETTERS[state]}</text>')


def bar_sign(kind: str) -> Markup:
    """Draw a bar of `dag_of_all` for its key: `mr` for what is matched, `cr` for what has credit."""
    return _sign(f'<rect class="{kind}" x="-23" y="-6" width="46" height="12"/>')


def final_sign() -> Markup:
    """Draw the line under the number of a final answer, for the key of a drawing."""
    return _sign('<path class="f" d="M-14 4h28"/>')


def _sign(body: str) -> Markup:
    """Wrap what a key shows in a small drawing that screen readers pass over."""
    start = '<svg class="sign" width="28" height="20" viewBox="-24 -16 48 32" aria-hidden="true">'
    return Markup(f"{start}{body}</svg>")  # noqa: S704 - numbers and words of ours


def _lit(state: str) -> str:
    """Return the attribute of what stands on the fill of a matched node."""
    return ' class="on"' if state == "m" else ""


def edges(drawn: Layout, name: str) -> Markup:
    """Draw the edges of a DAG, hidden, as a group with the id `name`, which the drawings of that DAG refer to."""
    lines, heads = [], []
    for path in drawn.edges:
        x, y = path[0]
        line = f"M{_px(x + WIDTH / 2)} {_px(y)}"
        x += WIDTH / 2
        for k, (to_x, to_y) in enumerate(path[1:], start=2):
            end = to_x - WIDTH / 2 - 4 if k == len(path) else to_x
            middle = (x + end) / 2
            line += f"C{_px(middle)} {_px(y)} {_px(middle)} {_px(to_y)} {_px(end)} {_px(to_y)}"
            x, y = end, to_y
        lines.append(line)
        heads.append(f"M{_px(x - 3)} {_px(y - 4)}l7 4l-7 4z")
    return Markup(  # noqa: S704 - numbers, and an id of ours
        '<svg class="defs" width="0" height="0" aria-hidden="true"><defs>'
        f'<g id="{name}"><path class="edge" d="{"".join(lines)}"/><path class="head" d="{"".join(heads)}"/></g>'
        "</defs></svg>"
    )


def dag_of_one(drawn: Layout, name: str, dag: ReferenceDag, state: Callable[[int], str], description: str) -> Markup:
    """Draw a DAG with the state of each node in one solution: matched, credited, withheld or missing.

    Args:
        drawn, name: the layout, and the id of its edges.
        dag: the DAG.
        state: function from a node index to a key of `LETTERS`.
        description: the same in words, for readers who do not see the drawing.
    """
    parts = [f'<use href="#{name}"/>'] if drawn.edges else []
    for index, (x, y) in drawn.places.items():
        key = state(index)
        final = '<use href="#gf"/>' if index in dag.finals else ""
        parts.append(
            f'<g{_lit(key)} transform="translate({_px(x)} {_px(y)})"><use href="#g{key}"/>{final}'
            f'<text y="5">{index} {LETTERS[key]}</text></g>'
        )
    return _svg(drawn.width, drawn.height, "dag", "Reference DAG", description, "".join(parts))


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
    parts = [f'<use href="#{name}"/>'] if drawn.edges else []
    for index, (x, y) in drawn.places.items():
        matched, credited = shares.get(index, (0.0, 0.0))
        final = '<path class="f" d="M-14 4h28"/>' if index in dag.finals else ""
        parts.append(
            f'<g transform="translate({_px(x)} {_px(y)})">'
            '<rect class="n" x="-23" y="-15" width="46" height="30" rx="2"/>'
            f'<rect class="cr" x="-23" y="7" width="{_px(46 * credited)}" height="8"/>'
            f'<rect class="mr" x="-23" y="7" width="{_px(46 * matched)}" height="8"/>'
            f'{final}<text y="1">{index}</text></g>'
        )
    return _svg(drawn.width, drawn.height, "dag", title, description, "".join(parts))


def bar(value: float, low: float | None = None, high: float | None = None) -> Markup:
    """Draw a share in [0, 1] as a horizontal bar, with its interval as a line; hidden from screen readers."""
    whisker = ""
    if low is not None and high is not None:
        a, b = 120 * low, 120 * high
        whisker = f'<path class="whisker" d="M{_px(a)} 8H{_px(b)}M{_px(a)} 5v6M{_px(b)} 5v6"/>'
    return Markup(  # noqa: S704 - numbers
        '<svg class="bar" aria-hidden="true">'
        f'<rect class="fill" width="{_px(120 * value)}" height="16"/>{whisker}</svg>'
    )


def histogram(
    counts: Sequence[int], labels: Sequence[str], title: str, description: str, *, small: bool = False
) -> Markup:
    """Draw counts as upright bars with count and label; if `small`, the bars only."""
    step, tall = (14, 40) if small else (40, 120)
    most = max(counts, default=0) or 1
    width, height = step * len(counts) + 8, tall + (6 if small else 40)
    parts = []
    for k, count in enumerate(counts):
        length = tall * count / most
        x, y = 4 + step * k, (4 if small else 18) + tall - length
        parts.append(f'<rect class="fill" x="{x + 1}" y="{_px(y)}" width="{step - 2}" height="{_px(length)}"/>')
        if not small:
            middle = x + step / 2
            parts.append(f'<text x="{_px(middle)}" y="{_px(y - 4)}">{count}</text>')
            parts.append(f'<text class="axis" x="{_px(middle)}" y="{height - 6}">{escape(labels[k])}</text>')
    base = (4 if small else 18) + tall
    parts.append(f'<path class="base" d="M2 {base}H{width - 2}"/>')
    return _svg(width, height, "histogram", title, description, "".join(parts))


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
    low, high = axis_limits(points)
    side, left, top, pad = 300, 76, 22, 16  # [px]; the largest circle stays inside the frame
    most = max((count for _, _, count in points), default=1)
    parts = [
        f'<rect class="plane" x="{left - pad}" y="{top - pad}" width="{side + 2 * pad}" height="{side + 2 * pad}"/>',
        f'<path class="diagonal" d="M{left} {top + side}L{left + side} {top}"/>',
    ]
    for tick in range(5):
        share = tick / 4
        x, y = left + side * share, top + side * (1 - share)
        parts.append(f'<path class="tick" d="M{_px(x)} {top + side + pad}v5M{left - pad} {_px(y)}h-5"/>')
        label = f"{low + (high - low) * share:.3g}"
        parts.append(f'<text x="{_px(x)}" y="{top + side + pad + 18}">{label}</text>')
        parts.append(f'<text class="end" x="{left - pad - 9}" y="{_px(y + 4)}">{label}</text>')
    for own_x, own_y, count in points:
        x, y = (own_x - low) / (high - low), (own_y - low) / (high - low)
        radius = 3 + 11 * ((count / most) ** 0.5 if most > 1 else 0)
        parts.append(f'<circle cx="{_px(left + side * x)}" cy="{_px(top + side * (1 - y))}" r="{_px(radius)}"/>')
    parts.append(f'<text x="{left + side / 2}" y="{top + side + pad + 36}">{escape(x_label)}</text>')
    parts.append(f'<text transform="translate(12 {top + side / 2}) rotate(-90)">{escape(y_label)}</text>')
    return _svg(left + side + pad + 4, top + side + pad + 46, "scatter", title, description, "".join(parts))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Two shares at a positive number; each with the ends of its interval, None without one."""

    number: float
    shares: tuple[tuple[float, float | None, float | None], tuple[float, float | None, float | None]]


@dataclass(frozen=True, slots=True)
class _Plane:
    """The plane of curves [px], and the numbers at its two ends; numbers are placed by their logarithm."""

    left: int
    top: int
    width: int
    height: int
    pad: int
    low: float
    high: float

    def x(self, number: float) -> float:
        """Return the horizontal position of a number [px]."""
        across = math.log(number / self.low) / math.log(self.high / self.low) if self.high > self.low else 0.5
        return self.left + self.pad + (self.width - 2 * self.pad) * across

    def y(self, share: float) -> float:
        """Return the vertical position of a share [px]."""
        return self.top + self.height * (1 - share)


_CURVES = ("first", "second")  # CSS classes


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
    ends = points[0].number, points[-1].number
    plane = _Plane(4, 6, 190, 70, 8, *ends) if small else _Plane(52, 34, 440, 220, 18, *ends)
    frame = f'x="{plane.left}" y="{plane.top}" width="{plane.width}" height="{plane.height}"'
    parts = [f'<rect class="plane" {frame}/>']
    if not small:
        parts += [*_curve_axes(plane, x_label), *_curve_legend(plane, names)]
    for k in (0, 1):
        parts += _curve(plane, points, k, small=small)
    right, below = (4, 6) if small else (16, 48)
    size = plane.left + plane.width + right, plane.top + plane.height + below
    return _svg(*size, "curves", title, description, "".join(parts))


def _curve(plane: _Plane, points: Sequence[CurvePoint], k: int, *, small: bool) -> list[str]:
    """Draw the line of one share, its intervals unless `small`, and its points."""
    shift = 0 if small else (-4, 4)[k]  # so that no interval covers another
    at = [(plane.x(point.number) + shift, *point.shares[k]) for point in points]
    line = "L".join(f"{_px(x)} {_px(plane.y(share))}" for x, share, _, _ in at)
    parts = [f'<path class="curve {_CURVES[k]}" d="M{line}"/>']
    for x, share, low, high in at:
        if low is not None and high is not None and not small:
            parts.append(f'<path class="whisker" d="M{_px(x)} {_px(plane.y(high))}V{_px(plane.y(low))}"/>')
        parts.append(_curve_mark(k, x, plane.y(share)))
    return parts


def _curve_legend(plane: _Plane, names: tuple[str, str]) -> list[str]:
    """Draw what each line is, above the plane."""
    parts = []
    for k, name in enumerate(names):
        x = plane.left + plane.pad + k * plane.width / 2
        parts.append(f'<path class="curve {_CURVES[k]}" d="M{_px(x)} 16h24"/>{_curve_mark(k, x + 12, 16)}')
        parts.append(f'<text class="start" x="{_px(x + 32)}" y="20">{escape(name)}</text>')
    return parts


def _curve_axes(plane: _Plane, x_label: str) -> list[str]:
    """Draw the ticks of both axes, with their labels."""
    left, bottom = plane.left, plane.top + plane.height
    parts = [f'<text x="{_px(left + plane.width / 2)}" y="{bottom + 38}">{escape(x_label)}</text>']
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _px(plane.y(share))
        parts.append(f'<path class="tick" d="M{left} {y}h-5"/><path class="grid" d="M{left} {y}h{plane.width}"/>')
        parts.append(f'<text class="end" x="{left - 9}" y="{_px(plane.y(share) + 4)}">{share:.0%}</text>')
    for k in range(4 if plane.high > plane.low else 1):
        number = plane.low * (plane.high / plane.low) ** (k / 3)
        label = f"{number:,.0f}" if plane.high >= 10 else f"{number:.2g}"
        x = _px(plane.x(number))
        parts.append(f'<path class="tick" d="M{x} {bottom}v5"/>')
        parts.append(f'<text class="axis" x="{x}" y="{bottom + 19}">{label}</text>')
    return parts


def _curve_mark(k: int, x: float, y: float) -> str:
    """Draw a point of a curve: a circle for the first, a square for the second."""
    if k == 0:
        return f'<circle class="first" cx="{_px(x)}" cy="{_px(y)}" r="3.5"/>'
    return f'<rect class="second" x="{_px(x - 3.5)}" y="{_px(y - 3.5)}" width="7" height="7"/>'


def _svg(width: int, height: int, kind: str, title: str, description: str, body: str) -> Markup:
    """Wrap the elements of a drawing in `<svg>` with an escaped title and description; `kind` is the CSS class."""
    return Markup(  # noqa: S704 - labels in `body` are escaped where they are written
        f'<svg class="{kind}" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{body}</svg>"
    )


def _px(value: float) -> str:
    """Write a length or coordinate [px] with at most one decimal: `3`, `2.5`."""
    return f"{value:.1f}".removesuffix(".0")

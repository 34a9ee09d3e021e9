"""Drawings of a reference DAG: rails for a terminal, source text for Mermaid and Graphviz.

The terminal drawing has one row a node, in index order, so that it can stand beside a table of the formulas. Each node
has a lane; a rail runs down its lane to the last node that follows from it. In the row of a node one level line joins
the rails of its prerequisites to it; a rail that this line only crosses is not interrupted. So a lane belongs to one
node at a time and a level line to one node ever, and the edges can be read back without guessing (the tests do).

Refused: boxes in layers with routed lines (24 nodes take 80 rows, and lines that share a cell can no longer be told
apart), and git's layout (extra rows where lanes shift). Libraries looked at: asciidag and a port of Graph::Easy are not
kept up or GPL, termaid and phart draw boxes and the latter needs networkx, stackeddag draws crossings that cannot be
told from joints. The layout is thirty lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_letters, digits

from prism.errors import count_of
from prism.latex import one_line
from prism.problem.dag import ReferenceDag
from prism.problem.schema import Problem, ProblemNode

# Marks and line pieces, named by the sides on which they have an arm. In ASCII a rail that goes on is `+` and one that
# ends is `'`, so that what stands beneath an end is not taken for its continuation.
_UNICODE = {
    "node": "●", "final": "■", "across": "─", "down": "│", "down right": "├", "down left": "┤", "down left right": "┼",
    "right": "└", "left": "┘", "left right": "┴",
}  # fmt: skip
_ASCII = {
    "node": "o", "final": "#", "across": "-", "down": "|", "down right": "+", "down left": "+", "down left right": "+",
    "right": "'", "left": "'", "left right": "'",
}  # fmt: skip
# Kept as they are in a Mermaid label. All else becomes an entity: a quote ends the label, `#` starts an entity, `%%{` a
# directive, `$$` a formula, and `<`, `*`, `_`, `[`, the backtick are markup.
_PLAIN_IN_MERMAID = frozenset(ascii_letters + digits + " =+-/(),.^{}|'!:?")
_WIDE = str.maketrans("<>&", "\uff1c\uff1e\uff06")  # a title knows no entities: the full-width forms of what is markup


@dataclass(frozen=True, slots=True)
class RailRow:
    """One row of a terminal drawing: a node and the vertical rails beside it; all rows have the same width.

    Attributes:
        index: of the node.
        line: the node's mark with the rails that end in it or pass it.
        below: the rails that continue downwards, to fill a row of several lines.
    """

    index: int
    line: str
    below: str


def is_drawable(encoding: str | None) -> bool:
    """Return True if an encoding has the Unicode characters of the drawing; False for None or an unknown one."""
    try:
        "".join(_UNICODE.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def rails(dag: ReferenceDag, *, in_unicode: bool = True) -> tuple[RailRow, ...]:
    """Draw a DAG for a terminal, one row per node in index order; rails lead down from a node to those that use it.

    >>> from prism.problem.dag import Node, reference_dag
    >>> nodes = [Node(1), Node(2), Node(3, prerequisites=(1,)), Node(4, prerequisites=(1, 2, 3), is_final=True)]
    >>> for row in rails(reference_dag(nodes)):
    ...     print(row.line, row.index)
    ●     1
    │ ●   2
    ├─│─● 3
    └─■─┘ 4
    """
    pieces = _UNICODE if in_unicode else _ASCII
    last = {earlier: node.index for node in dag.nodes for earlier in node.prerequisites}  # where its rail ends
    lanes: dict[int, int] = {}
    running: set[int] = set()  # lanes with a rail
    rows = []
    above = -1
    for node in dag.nodes:
        joined = {lanes[earlier] for earlier in node.prerequisites}
        ending = {lanes[earlier] for earlier in node.prerequisites if last[earlier] == node.index}
        own = _choose_lane(joined, ending, running | {above})
        running -= ending
        line = _draw_line(own, joined - {own}, running, pieces["final" if node.is_final else "node"], pieces)
        if node.index in last:
            running.add(own)
        below = " ".join(pieces["down"] if lane in running else " " for lane in range(max(running, default=0) + 1))
        rows.append(RailRow(node.index, line, below))
        lanes[node.index] = above = own
    width = max(len(row.line) for row in rows)
    return tuple(RailRow(row.index, row.line.ljust(width), row.below.ljust(width)) for row in rows)


def _choose_lane(joined: set[int], ending: set[int], taken: set[int]) -> int:
    """Choose the lane (column) of a node so that its level line is short and the drawing narrow.

    Args:
        joined: lanes of the prerequisites.
        ending: those of them whose rail ends at this node.
        taken: lanes that must not be chosen anew.

    It goes on in the lane of a prerequisite whose rail ends here, or else in a lane that is not taken: by a rail, or by
    the node right above, which it would seem to follow from.
    """
    free = ending or [lane for lane in range(len(taken) + 1) if lane not in taken]
    return min(free, key=lambda lane: (sum(abs(lane - other) for other in joined), lane))


def _draw_line(own: int, joined: set[int], running: set[int], mark: str, pieces: Mapping[str, str]) -> str:
    """Draw the row of a node: its mark, the level line to the lanes of its prerequisites, and rails that pass.

    Args:
        own: lane of the node.
        joined: lanes of the prerequisites without `own`.
        running: lanes with a rail that continues downwards.
        mark: character of the node.
        pieces: characters of lines, as in `_ASCII`.
    """
    start, end = min(joined | {own}), max(joined | {own})
    line = ""
    for lane in range(max(running | {end}) + 1):
        if lane == own:
            line += mark
        elif lane in joined:
            arms = (("down", lane in running), ("left", lane > start), ("right", lane < end))
            line += pieces[" ".join(arm for arm, there in arms if there)]
        elif lane in running:
            line += pieces["down"]
        else:
            line += pieces["across"] if start < lane < end else " "
        line += pieces["across"] if start <= lane < end else " "
    return line[:-1]


# Source text for other programs --------------------------------------------------------------------------------


def mermaid(problem: Problem) -> str:
    """Write a problem's DAG as a Mermaid flowchart, in ASCII; final answers have a thick border.

    Each alternative is a subgraph with its name. Points are written where not all nodes have the same.

    Labels are the LaTeX as text: typeset by Mermaid, one command that its KaTeX does not know would spoil the whole.
    """
    title = one_line(problem.title or problem.id).translate(_WIDE)
    lines = ["---", f"title: {json.dumps(title)}", "---", "flowchart TD"]  # a JSON string is one of YAML
    lines += _mermaid_lines(problem, "n")
    for k, other in enumerate(problem.alternatives, start=1):
        lines += [
            f'    subgraph a{k}["{_mermaid_text(other.alternative)}"]',
            *_mermaid_lines(other, f"a{k}n"),
            "    end",
        ]
    lines.append("    classDef final stroke-width:4px")
    return "\n".join(lines)


def _mermaid_lines(problem: Problem, prefix: str) -> list[str]:
    """Return the Mermaid lines of the nodes and edges of one reference DAG; `prefix` begins the names of nodes."""
    lines = []
    for node in problem.nodes:
        label = "<br/>".join(_mermaid_text(part) for part in _label_lines(node, problem))
        lines.append(f'    {prefix}{node.index}["{label}"]{":::final" if node.is_final else ""}')
    edges = [(earlier, node.index) for node in problem.dag.nodes for earlier in node.prerequisites]
    return lines + [f"    {prefix}{earlier} --> {prefix}{later}" for earlier, later in edges]


def _mermaid_text(text: str) -> str:
    """Write text for a Mermaid label, with all but letters, digits and harmless signs as entities."""
    parted = text.replace("\\n", "\\\N{WORD JOINER}n")  # Mermaid 11 breaks the line at `\n` even where it is an entity
    return "".join(char if char in _PLAIN_IN_MERMAID else f"#{ord(char)};" for char in parted)


def dot(problem: Problem) -> str:
    """Write a problem's DAG in the language of Graphviz, in ASCII; final answers have a double border.

    Each alternative is a cluster with its name.
    """
    title = _dot_text(one_line(problem.title or problem.id))
    lines = ["digraph {", f'    graph [label={title}, labelloc="t"]', '    node [shape="box"]']
    lines += _dot_lines(problem, "n")
    for k, other in enumerate(problem.alternatives, start=1):
        lines += [f"    subgraph cluster_{k} {{", f"    graph [label={_dot_text(other.alternative)}]"]
        lines += [*_dot_lines(other, f"a{k}n"), "    }"]
    return "\n".join([*lines, "}"])


def _dot_lines(problem: Problem, prefix: str) -> list[str]:
    """Return the Graphviz lines of the nodes and edges of one reference DAG; `prefix` begins the names of nodes."""
    lines = []
    for node in problem.nodes:
        label = _dot_text(*_label_lines(node, problem))
        lines.append(f"    {prefix}{node.index} [label={label}{', peripheries=2' if node.is_final else ''}]")
    edges = [(earlier, node.index) for node in problem.dag.nodes for earlier in node.prerequisites]
    return lines + [f"    {prefix}{earlier} -> {prefix}{later}" for earlier, later in edges]


def _dot_text(*lines: str) -> str:
    r"""Write lines as a quoted Graphviz label, with backslash and `&` escaped: the `\n` of `\nu` would break a line."""
    text = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    # In ASCII, so that it survives a pipe of any encoding; Graphviz reads entities up to four hexadecimal digits only.
    return '"' + "".join(char if char < "\x80" or char > "\uffff" else f"&#{ord(char)};" for char in text) + '"'


def _label_lines(node: ProblemNode, problem: Problem) -> tuple[str, ...]:
    """Return the lines of a node's label: `(3) v = gt`, and `final answer b, 2 points` where that applies."""
    marks = []
    if node.is_final:
        marks.append(f"final answer {node.subquestion}".rstrip())
    if not has_equal_points(problem):
        marks.append(count_of(node.points, "point"))
    first = f"({node.index}) {one_line(node.latex).strip('$').strip()}"
    return (first, ", ".join(marks)) if marks else (first,)


def has_equal_points(problem: Problem) -> bool:
    """Return True if all nodes of a problem have the same number of points."""
    return len({node.points for node in problem.nodes}) == 1

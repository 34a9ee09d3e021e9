"""What a page shows of a problem file: its nodes with their edges and reasons, what is open, and the drawing.

The reference as a drawing: nodes that lead to their place in the page, edges that are open in other strokes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markupsafe import Markup

from prism.desk.blocks import keys_of, split_blocks
from prism.desk.edits import open_sheet, ways_of
from prism.desk.labels import dag_of
from prism.errors import PrismError
from prism.inputs import parse_toml
from prism.problem.dag import ReferenceDag
from prism.problem.review import Review, review_of
from prism.reports.html.rendering import macro
from prism.reports.html.svg import edge_paths, layout


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
    lines = [(*paths, edge in open_edges) for edge, paths in zip(edges, edge_paths(drawn), strict=True)]
    nodes = [(index, *place, index in dag.finals, state(index)) for index, place in drawn.places.items()]
    return macro("drawings", "dag_of_links")(drawn, lines, nodes, label)


EdgeState = Literal["drawn", "open", "question"]
_NODE_REASON = re.compile(r"^#\s*Node:\s*(.*)$")
_LEFT_OUT = re.compile(r"^#\s*Left out:\s*(.*)$")
_FURTHER_LINE = re.compile(r"^#\s{2,}(.*)$")


@dataclass(frozen=True, slots=True)
class EdgeView:
    """An edge of a node: where it comes from, that formula, the reason, and whether a person has said yes."""

    origin: int
    latex: str
    why: str
    state: EdgeState

    def why_in(self, words: Mapping[str, str]) -> str:
        """Return the reason in other words: of a draft `REASON; eliminated: t`, each part of which has its own."""
        reason, _, rest = self.why.partition("; ")
        kind, _, names = rest.partition(": ")
        said = words.get(reason, reason)
        return f"{said}; {words.get(kind, kind)}: {names}" if names else words.get(self.why, self.why)


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as a page shows it; `why` is the reason of the draft, which stands in a comment above it."""

    index: int
    latex: str
    accept: tuple[str, ...]
    part: str
    points: str
    is_final: bool
    is_reviewed: bool
    why: str
    edges: tuple[EdgeView, ...]
    pieces: int

    def why_in(self, words: Mapping[str, str]) -> str:
        """Return the reason in other words, each of its parts by itself."""
        return "; ".join(words.get(each, each) for each in self.why.split("; "))

    @property
    def n_open(self) -> int:
        """The number of things that a person has to decide of it."""
        return (not self.is_reviewed) + sum(edge.state != "drawn" for edge in self.edges)


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """One reference of a problem file as a page shows it.

    Attributes:
        way, ways: which of its references it is, and the names of all.
        statement, parts: texts of the problem and of its parts, by letter.
        nodes: in index order; empty where `fault` says why they cannot be edited.
        drawing: empty after a fault of the DAG.
        review: of the whole file.
        left_out: formulas that the draft left out, with the reason, as the comments of the file say.
    """

    title: str
    way: str
    ways: tuple[str, ...]
    statement: str
    parts: tuple[tuple[str, str], ...]
    nodes: tuple[NodeView, ...]
    drawing: Markup
    review: Review
    left_out: tuple[str, ...] = ()
    fault: str = ""

    @property
    def open_ways(self) -> tuple[str, ...]:
        """The names of the other references in which something is open."""
        return tuple(dict.fromkeys(each.way for each in self.review.open if each.way != self.way))


def reference_view(text: str, way: str, label: str) -> ReferenceView:
    """Return what a page shows of the text of a problem file; a file that is no TOML has a fault and nothing else.

    Args:
        label: what the drawing shows, in words.
    """
    try:
        data = parse_toml(text)
        sheet = open_sheet(text, way)
        reasons = [" ".join(_comments(each.lead if each else "", _NODE_REASON)[-1:]) for each in sheet.homes]
        nodes = tuple(
            _node_view(k, node, why, sheet.nodes)
            for k, (node, why) in enumerate(zip(sheet.nodes, reasons, strict=True), start=1)
        )
        ways = ways_of(text)
    except (PrismError, KeyError, TypeError, AttributeError) as error:
        return ReferenceView("", way, ("",), "", (), (), Markup(""), Review(), fault=str(error))
    parts = tuple(
        (str(one.get("letter", "")), str(one.get("subproblem", "")))
        for one in (keys_of(each) for each in split_blocks(text) if each.name == "subquestions")
    )
    title = str(data.get("title") or data.get("id") or "")
    statement = str(data.get("context", ""))
    return ReferenceView(
        title,
        way,
        ways,
        statement,
        parts,
        nodes,
        _drawing(sheet.nodes, nodes, label),
        review_of(data),
        tuple(_comments(split_blocks(text)[0].text, _LEFT_OUT)),
    )


def _node_view(index: int, node: Mapping[str, Any], why: str, nodes: Sequence[Mapping[str, Any]]) -> NodeView:
    """Return a node as a page shows it."""
    notes = {each["from"]: each for each in node.get("edges", ())}
    drawn = node.get("dependency", ())
    origins = sorted({*drawn, *(key for key, each in notes.items() if each.get("question"))})
    edges = tuple(
        EdgeView(
            origin, _latex_of(nodes, origin), str(notes.get(origin, {}).get("why", "")),
            "question" if origin not in drawn
            else "open" if notes.get(origin, {}).get("reviewed") is False else "drawn",
        )
        for origin in origins
    )  # fmt: skip
    latex = str(node.get("formula", ""))
    return NodeView(
        index, latex, tuple(map(str, node.get("accept", ()))), str(node.get("subquestion", "")),
        f"{node.get('points', 1):g}", bool(node.get("is_final_answer")), node.get("reviewed") is not False, why, edges,
        latex.count("="),
    )  # fmt: skip


def _latex_of(nodes: Sequence[Mapping[str, Any]], index: int) -> str:
    """Return the formula of a node; empty where there is none with this index."""
    return str(nodes[index - 1].get("formula", "")) if 1 <= index <= len(nodes) else ""


def _comments(text: str, start: re.Pattern[str]) -> list[str]:
    """Return the comments of a text that begin so, each with its further lines joined."""
    found: list[str] = []
    is_within = False
    for line in text.splitlines():
        if first := start.match(line):
            found.append(first[1])
        elif is_within and (more := _FURTHER_LINE.match(line)):
            found[-1] += f" {more[1]}"
        else:
            is_within = False
            continue
        is_within = True
    return found


def _drawing(nodes: Sequence[Mapping[str, Any]], views: Sequence[NodeView], label: str) -> Markup:
    """Draw the reference; nothing after a fault of its DAG."""
    dag = dag_of([{**node, "index": k} for k, node in enumerate(nodes, start=1)])
    if dag is None:
        return Markup("")
    states = {each.index: "done" if not each.n_open else "todo" for each in views}
    waiting = {(edge.origin, each.index) for each in views for edge in each.edges if edge.state == "open"}
    return drawing(dag, lambda index: states[index], waiting, label)

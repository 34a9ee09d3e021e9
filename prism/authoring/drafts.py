"""A drafted problem file as a value: its nodes with the reasons for them, what was left out, and the file as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prism.latex import one_line
from prism.problem.toml_writer import problem_toml

NOT_CHECKED = (
    "Drafted by rule from a worked solution. Nobody has checked it: look at each formula and each edge, then",
    "run `prism lint` on this file. Lines that begin with # are for you; the grader does not see them.",
)
"""The first comment of a drafted file; it goes when a person certifies the file."""


@dataclass(frozen=True, slots=True)
class OmittedFormula:
    """A formula of the solution that did not become a node, and the reason."""

    latex: str
    why: str


@dataclass(frozen=True, slots=True)
class DraftEdge:
    """An edge to a prerequisite node: index of that node, reason in words, and whether other edges imply it."""

    origin: int
    why: str
    is_implied: bool


@dataclass(frozen=True, slots=True)
class DraftNode:
    """One node of a drafted problem, with the reasons for it and its edges.

    Attributes:
        latex: its formula.
        letter: of the part that it answers, if the solution marks parts; else empty.
        is_final: it is a final answer.
        why: why it is a node, and why it is final, in words.
        edges: edges to its prerequisites; the file does not list those that are implied.
        doubtful: indices of further nodes that it may have been derived from.
    """

    latex: str
    letter: str
    is_final: bool
    why: tuple[str, ...]
    edges: tuple[DraftEdge, ...]
    doubtful: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A problem file drafted by rule from a worked solution, with what was left out and why.

    Attributes:
        data: the keys of a problem file, as `load_problem` takes them.
        nodes: in index order, from 1.
        left_out: formulas that became no node, in the order of the text.
        remarks: what a person should know about the draft as a whole.
        alternatives: drafts from further solutions, whose nodes are alternatives in `data`.
    """

    data: Mapping[str, Any]
    nodes: tuple[DraftNode, ...]
    left_out: tuple[OmittedFormula, ...]
    remarks: tuple[str, ...]
    alternatives: tuple[Draft, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: the problem file, its nodes with reasons, and what was left out."""
        return {
            "problem": dict(self.data),
            "nodes": [
                {
                    "index": k, "formula": node.latex, "subquestion": node.letter, "is_final_answer": node.is_final,
                    "why": list(node.why), "maybe": list(node.doubtful),
                    "edges": [
                        {"from": edge.origin, "why": edge.why, "implied": edge.is_implied} for edge in node.edges
                    ],
                }
                for k, node in enumerate(self.nodes, start=1)
            ],
            "left_out": [{"formula": each.latex, "why": each.why} for each in self.left_out],
            "remarks": list(self.remarks),
            "alternatives": [
                {key: value for key, value in other.to_dict().items() if key in ("nodes", "left_out")}
                for other in self.alternatives
            ],
        }  # fmt: skip

    def toml(self) -> str:
        """Return the problem file as TOML, with a comment at each node that says where it comes from."""
        head = (
            *NOT_CHECKED,
            *(f"Note: {remark}" for remark in self.remarks),
            *(f"Left out: {one_line(each.latex)} ({each.why})" for each in self.left_out),
            *(f"Left out: {one_line(each.latex)} ({each.why})" for way in self.alternatives for each in way.left_out),
        )
        first, *others = (
            {k: ("Node: " + "; ".join(node.why),) for k, node in enumerate(each.nodes, start=1)}
            for each in (self, *self.alternatives)
        )
        return problem_toml(self.data, head=head, notes=first, notes_of_alternatives=others)

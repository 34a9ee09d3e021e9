"""The labels of the students in a file, kept in step with its reference: indices, credited nodes, score.

A label says which nodes a solution matches; what is credited with them, and the score, follow from the reference. So
an edit of the reference changes these, and no label contradicts itself because an edge was cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from prism.desk.blocks import Block, changed_block, keys_of, node_places
from prism.errors import DagError
from prism.problem.dag import Node, ReferenceDag, ancestor_closure, is_final_correct, reference_dag, score

STUDENTS = "students"
_LISTS = ("matched", "debatable", "needs_definitions", "renamed", "text_only", "unevaluated", "known_gaps")


def with_labels(blocks: Sequence[Block], way: str, moved: Mapping[int, int | None]) -> tuple[Block, ...]:
    """Return the blocks of a file with the labels of its students in step with one of its references.

    Args:
        way: name of the reference whose nodes were edited.
        moved: the new index of each old one, None where a node is gone; empty if none has moved.
    """
    dag = dag_of([keys_of(blocks[place]) for place in node_places(blocks, way)])
    return tuple(_relabelled(each, way, moved, dag) if each.name == STUDENTS else each for each in blocks)


def dag_of(nodes: Sequence[Mapping[str, Any]]) -> ReferenceDag | None:
    """Return the DAG of the nodes of a file; None after a fault."""
    try:
        return reference_dag([
            Node(
                int(each["index"]), Fraction(str(each.get("points", 1))), tuple(each["dependency"]),
                bool(each.get("is_final_answer")),
            )
            for each in nodes
        ])  # fmt: skip
    except (DagError, KeyError, TypeError, ValueError):
        return None


def label_of(dag: ReferenceDag, matched: Sequence[int]) -> dict[str, Any]:
    """Return the label of a solution that matches these nodes."""
    credited = ancestor_closure(dag, matched)
    return {
        "matched": sorted(matched), "credited": sorted(credited), "score": round(float(score(dag, credited)), 6),
        "final_correct": is_final_correct(dag, matched),
    }  # fmt: skip


def _relabelled(block: Block, way: str, moved: Mapping[int, int | None], dag: ReferenceDag | None) -> Block:
    """Return a student's table whose label follows an edit: its indices moved, the rest worked out again by the DAG.

    A table without a label, or of another alternative, is returned as it is. Without a DAG, whose fault the linter
    tells, only indices move; the edit that mends it works out the rest. An index that moves to None is gone from the
    lists.
    """
    label = keys_of(block).get("expected")
    if not isinstance(label, Mapping) or label.get("alternative", "") != way:
        return block
    new = dict(label)
    for key in _LISTS:
        if isinstance(label.get(key), list):
            places = {moved.get(each, each) for each in label[key]}
            new[key] = sorted(each for each in places if each is not None and (dag is None or each in dag.positions))
    if dag is not None:
        new.update(label_of(dag, new.get("matched", ())))
    if new == label:
        return block

    def change(document: Any) -> None:
        table = document["expected"]
        for key, value in new.items():
            if key not in label or label[key] != value:
                table[key] = value

    return changed_block(block, change)

"""What of a reference a person has still to look at, and who has certified what: read off the table of a problem file.

A node or an edge with `reviewed = false` was drafted and is open; a question is an edge that a draft would not draw by
itself. A certificate is a name, a date and the digest of all that a grade rests on, so that a later edit is seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from prism.problem.source import ALTERNATIVES, NODE_LISTS, Table

_NOT_CERTIFIED = frozenset((
    "$schema", "title", "origin", "source", "metadata", "students", "certified_by", "certified_on", "certified_digest",
))  # fmt: skip
_MARKS = frozenset(("reviewed", "edges"))  # of a node


@dataclass(frozen=True, slots=True)
class OpenItem:
    """Something of a reference that waits for a person.

    Attributes:
        kind: a node, an edge, or a question, which is an edge that may be missing.
        way: name of the alternative; empty for the first reference.
        node: index of the node. origin: of the prerequisite; 0 for a node.
    """

    kind: Literal["node", "edge", "question"]
    way: str
    node: int
    origin: int = 0


@dataclass(frozen=True, slots=True)
class Review:
    """What of a problem is open, and who has certified it.

    Attributes:
        open: in file order.
        certified_by, certified_on: as written; empty without a certificate.
        is_current: nothing that a grade rests on has changed since; False without a certificate.
    """

    open: tuple[OpenItem, ...] = ()
    certified_by: str = ""
    certified_on: str = ""
    is_current: bool = False

    def count(self, kind: str) -> int:
        """Return how many open items are of a kind."""
        return sum(each.kind == kind for each in self.open)


NOT_DRAFTED = Review()
"""Of a reference in which nothing is open, without a certificate."""


def review_of(data: Table) -> Review:
    """Read what is open off the table of a problem file, of which the loader has found no fault."""
    by, on = (str(data.get(key) or "") for key in ("certified_by", "certified_on"))
    found = tuple(_open_items(data, ""))
    for other in _tables(data.get(ALTERNATIVES)):
        found += tuple(_open_items(other, str(other.get("name", ""))))
    return Review(found, by, on, bool(by) and data.get("certified_digest") == certificate_digest(data))


def certificate_digest(data: Table) -> str:
    """Return the sha256 of what a grade by a problem file rests on: not of students, titles and marks of review."""
    kept = {key: _without_marks(value) if key in NODE_LISTS else value for key, value in data.items()}
    if isinstance(data.get(ALTERNATIVES), list | tuple):
        kept[ALTERNATIVES] = [
            {key: _without_marks(value) if key in NODE_LISTS else value for key, value in other.items()}
            for other in _tables(data[ALTERNATIVES])
        ]
    plain = {key: value for key, value in kept.items() if key not in _NOT_CERTIFIED and value is not None}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def _without_marks(nodes: Any) -> list[Any]:
    """Return the tables of nodes without their marks of review."""
    return [{key: value for key, value in node.items() if key not in _MARKS} for node in _tables(nodes)]


def _tables(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of a list; nothing for what is no list."""
    for each in value if isinstance(value, list | tuple) else ():
        if isinstance(each, Mapping):
            yield each


def _open_items(data: Table, way: str) -> Iterator[OpenItem]:
    """Yield what is open in one reference: each node before its edges; a note on an edge that is gone is nothing."""
    nodes = next((data[key] for key in NODE_LISTS if data.get(key) is not None), ())
    for node in _tables(nodes):
        index = node.get("index", 0)
        if node.get("reviewed") is False:
            yield OpenItem("node", way, index)
        drawn = node.get("dependency") or ()
        for note in _tables(node.get("edges")):
            origin = note.get("from", 0)
            if note.get("question") and origin not in drawn:
                yield OpenItem("question", way, index, origin)
            elif note.get("reviewed") is False and origin in drawn:
                yield OpenItem("edge", way, index, origin)

"""What a person does to a reference: accept, edit, split, join and drop nodes, draw and cut edges, certify.

Each edit makes the text of a file from the text of a file. Nodes are numbered as they stand; after an edit indices,
edges, notes on edges and the labels of the students in the file follow. What a person writes or draws is reviewed; what
an edit leads to, as the edges that go on through a dropped node, is open. Whether the result is right the linter says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prism.authoring.candidates import split_statement
from prism.authoring.drafting import DRAFTED, DRAFTED_AND_CHECKED, question_parts, statement_and_parts
from prism.authoring.drafts import NOT_CHECKED
from prism.desk.blocks import Block, joined, keys_of, new_block, node_places, split_blocks, with_keys
from prism.desk.labels import with_labels
from prism.errors import LatexSyntaxError, PrismError
from prism.inputs import parse_toml
from prism.latex import parse, write
from prism.problem.review import certificate_digest, review_of
from prism.problem.source import ALTERNATIVES, NODE_LISTS

BY_HAND = "drawn by hand"
PARTS = "subquestions"
THROUGH = "by way of a node that was dropped"
FROM_SPLIT = "one formula before it was split"
_CERTIFICATE = ("certified_by", "certified_on", "certified_digest")


@dataclass(slots=True)
class Sheet:
    """The nodes of one reference while they are edited.

    Attributes:
        blocks: of the file. places: of the nodes' blocks in it.
        nodes: their keys, as plain values, in order; a node's number is its place here, from 1.
        homes: the block that each node came from; None for a new one.
    """

    blocks: tuple[Block, ...]
    places: tuple[int, ...]
    nodes: list[dict[str, Any]]
    homes: list[Block | None]
    way: str = ""
    moved: dict[int, int | None] = field(default_factory=dict)  # old index to new; None where a node is gone

    def node(self, index: int) -> dict[str, Any]:
        """Return the keys of a node.

        Errors:
            PrismError: there is none with this index.
        """
        if not 1 <= index <= len(self.nodes):
            raise PrismError(f"there is no node {index}")
        return self.nodes[index - 1]


def open_sheet(text: str, way: str = "") -> Sheet:
    """Read the nodes of a reference out of the text of a file.

    Errors:
        PrismError: they do not stand in tables of their own, `[[grading_standard]]`.
    """
    blocks = split_blocks(text)
    places = node_places(blocks, way)
    if not places:
        raise PrismError(
            "its nodes stand in no tables [[grading_standard]] of their own; write them so to edit them here"
        )
    nodes = [dict(keys_of(blocks[place])) for place in places]
    order = sorted(range(len(nodes)), key=lambda k: nodes[k].get("index", k + 1))
    return Sheet(blocks, places, [nodes[k] for k in order], [blocks[places[k]] for k in order], way)


def close_sheet(sheet: Sheet) -> str:
    """Return the text of the file with the nodes as they are now."""
    first = sheet.places[0]
    name = sheet.blocks[first].name
    made = []
    for k, (node, home) in enumerate(zip(sheet.nodes, sheet.homes, strict=True), start=1):
        keys = {"index": k, **{key: value for key, value in node.items() if key != "index"}}
        if home is None:
            made.append(new_block(name, keys))
        elif keys == keys_of(home):
            made.append(home)
        else:
            gone = dict.fromkeys(keys_of(home).keys() - keys.keys())
            made.append(with_keys(home, **keys, **gone))
    kept = [each for k, each in enumerate(sheet.blocks) if k not in sheet.places]
    blocks = (*kept[:first], *made, *kept[first:])
    return joined(with_labels(blocks, sheet.way, sheet.moved))


def edited(text: str, way: str, change: Callable[[Sheet], None]) -> str:
    """Return the text of a file after a change of the nodes of one reference; a certificate of it is taken away.

    Raises PrismError if no node would be left.
    """
    sheet = open_sheet(text, way)
    change(sheet)
    if not sheet.nodes:
        raise PrismError("the last node of a reference cannot be dropped")
    return _without_certificate(close_sheet(sheet), text)


def _without_certificate(text: str, before: str) -> str:
    """Return a text without its certificate, if what was certified is not what stands there now."""
    if certificate_digest(parse_toml(text)) == certificate_digest(parse_toml(before)):
        return text
    first, *others = split_blocks(text)
    return joined((with_keys(first, **dict.fromkeys(_CERTIFICATE)), *others))


# Nodes. ---------------------------------------------------------------------------------------------------------


def accept_node(sheet: Sheet, index: int, *, with_edges: bool = False) -> None:
    """Mark a node as reviewed, and its drawn edges too if asked."""
    node = sheet.node(index)
    node.pop("reviewed", None)
    if with_edges:
        _set_notes(node, [_reviewed(each) if not each.get("question") else each for each in _notes(node)])


def edit_node(sheet: Sheet, index: int, changed: Mapping[str, Any]) -> None:
    """Give keys of a node other values, None to take one away; it is reviewed then."""
    node = sheet.node(index)
    node.update(changed)
    for key in [key for key, value in node.items() if value is None]:
        del node[key]
    node.pop("reviewed", None)


def add_node(sheet: Sheet, after: int, formula: str) -> None:
    """Put a new node behind another, 0 for the first; it follows from nothing yet."""
    if after:
        sheet.node(after)
    _insert(sheet, after, {"formula": formula, "dependency": []}, None)


def split_node(sheet: Sheet, index: int, formulas: Sequence[str]) -> None:
    """Make several nodes of one, each of which follows from the one before; the first keeps its edges.

    Raises PrismError for a single line.

    Args:
        formulas: at least two; empty for the pieces that the formula itself states.
    """
    node = sheet.node(index)
    pieces = [each.strip() for each in formulas if each.strip()] or pieces_of(str(node["formula"]))
    if len(pieces) < 2:
        raise PrismError("one formula is no two nodes; write each in a line of its own")
    keys = dict(node)
    node["formula"] = pieces[0]
    last = {key: keys.pop(key) for key in ("is_final_answer", "subquestion") if key in keys}
    for key in last:
        del node[key]
    for step, piece in enumerate(pieces[1:], start=1):
        before = index + step - 1
        note = {"from": before, "why": FROM_SPLIT, "reviewed": False}
        own = {"formula": piece, "dependency": [before], "reviewed": False, "edges": [note]}
        _insert(sheet, before, own | (last if step == len(pieces) - 1 else {}), None)
    end = index + len(pieces) - 1
    for later in sheet.nodes[end:]:
        _redirect(later, index, end)


def pieces_of(latex: str) -> list[str]:
    """Return the formulas that a formula states, `a = b` and `a = c` of `a = b = c`; itself if it is not read."""
    try:
        found = [write(each) for each in split_statement(parse(latex)) if not isinstance(each, str)]
    except LatexSyntaxError:
        return [latex]
    return found or [latex]


def join_nodes(sheet: Sheet, index: int, other: int) -> None:
    """Make one node of two: the formula of `index` stays, that of `other` is accepted in its place.

    The joined one stands where the later stands, else where the earlier does if something between rests on that.

    Errors:
        PrismError: something between rests on the earlier, and the later rests on something between.
    """
    if index == other:
        raise PrismError("a node cannot be joined with itself")
    kept, gone = sheet.node(index), sheet.node(other)
    early, late = sorted((index, other))
    edges = {each for each in (*kept["dependency"], *gone["dependency"]) if each not in (index, other)}
    used_between = [k for k in range(early + 1, late) if early in sheet.nodes[k - 1]["dependency"]]
    if used_between and any(each > early for each in edges):
        raise PrismError(f"node {used_between[0]} rests on node {early}; cut that edge first")
    accept = [*kept.get("accept", ()), str(gone["formula"]), *gone.get("accept", ())]
    kept["accept"] = list(dict.fromkeys(each for each in accept if each != kept["formula"]))
    kept["dependency"] = sorted(edges)
    notes = {each["from"]: each for each in (*_notes(gone), *_notes(kept)) if each["from"] not in (index, other)}
    _set_notes(kept, [notes[each] for each in sorted(notes)])
    kept.pop("reviewed", None)
    for key in ("is_final_answer", "subquestion"):
        if key in gone:
            kept.setdefault(key, gone[key])
    for node in sheet.nodes:
        if node is not kept:
            _redirect(node, other, index)
    order = [k for k in range(1, len(sheet.nodes) + 1) if k != other]
    order.remove(index)
    place = early if used_between else late
    order.insert(sum(k < place for k in order), index)
    _renumber(sheet, order, {other: index})


def drop_node(sheet: Sheet, index: int) -> None:
    """Take a node away; what followed from it follows from its prerequisites, and a person has to look at that."""
    gone = sheet.node(index)
    for node in sheet.nodes:
        if index in node["dependency"]:
            new = [each for each in gone["dependency"] if each not in node["dependency"]]
            node["dependency"] = sorted({*node["dependency"], *new} - {index})
            notes = [each for each in _notes(node) if each["from"] != index]
            _set_notes(node, [*notes, *({"from": each, "why": THROUGH, "reviewed": False} for each in new)])
        else:
            _set_notes(node, [each for each in _notes(node) if each["from"] != index])
    _renumber(sheet, [k for k in range(1, len(sheet.nodes) + 1) if k != index], {})


# Edges. ---------------------------------------------------------------------------------------------------------


def draw_edge(sheet: Sheet, index: int, origin: int) -> None:
    """Let a node follow from an earlier one, or say yes to an edge or a question of the draft.

    Errors:
        PrismError: the other stands no earlier.
    """
    node = sheet.node(index)
    sheet.node(origin)
    if origin >= index:
        raise PrismError(f"node {index} can follow from earlier nodes only, and {origin} is none")
    node["dependency"] = sorted({*node["dependency"], origin})
    notes = _notes(node)
    if all(each["from"] != origin for each in notes):
        notes.append({"from": origin, "why": BY_HAND})
    _set_notes(node, [_reviewed(each) if each["from"] == origin else each for each in notes])


def cut_edge(sheet: Sheet, index: int, origin: int) -> None:
    """Let a node follow no more from another, or say no to a question of the draft."""
    node = sheet.node(index)
    node["dependency"] = [each for each in node["dependency"] if each != origin]
    _set_notes(node, [each for each in _notes(node) if each["from"] != origin])


def _notes(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the notes on the edges of a node."""
    return [dict(each) for each in node.get("edges", ())]


def _set_notes(node: dict[str, Any], notes: Sequence[Mapping[str, Any]]) -> None:
    """Give a node these notes on its edges, in the order of where they come from; without any it has no such key."""
    if notes:
        node["edges"] = [dict(each) for each in sorted(notes, key=lambda note: note["from"])]
    else:
        node.pop("edges", None)


def _reviewed(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return a note on an edge that a person has said yes to."""
    return {key: value for key, value in note.items() if key not in ("reviewed", "question")}


def _redirect(node: dict[str, Any], old: int, new: int) -> None:
    """Let a node follow from another instead of one."""
    if old in node["dependency"]:
        node["dependency"] = sorted({new if each == old else each for each in node["dependency"]})
    notes = {each["from"]: each for each in ({**one, "from": new if one["from"] == old else one["from"]}
                                             for one in _notes(node))}  # fmt: skip
    _set_notes(node, list(notes.values()))


def _insert(sheet: Sheet, after: int, keys: dict[str, Any], home: Block | None) -> None:
    """Put a node behind another and move up the indices behind it."""
    for node in sheet.nodes:
        _renumbered(node, lambda k: k + (k > after))
    sheet.nodes.insert(after, keys)
    sheet.homes.insert(after, home)
    known = sheet.moved or {k: k for k in range(1, len(sheet.nodes))}
    sheet.moved = {old: None if new is None else new + (new > after) for old, new in known.items()}


def _renumber(sheet: Sheet, order: Sequence[int], meant: Mapping[int, int]) -> None:
    """Bring the nodes into another order, with their indices; who rests on a node of `meant` rests on that other."""
    place = {old: new for new, old in enumerate(order, start=1)}
    n = len(sheet.nodes)
    sheet.homes = [sheet.homes[old - 1] for old in order]
    sheet.nodes = [sheet.nodes[old - 1] for old in order]
    for node in sheet.nodes:
        _renumbered(node, lambda k: place[meant.get(k, k)])
    sheet.moved = {old: place.get(meant.get(old, old)) for old in range(1, n + 1)}


def _renumbered(node: dict[str, Any], renamed: Callable[[int], int]) -> None:
    """Give the edges of a node and the notes on them other indices."""
    node["dependency"] = sorted({renamed(each) for each in node["dependency"]})
    _set_notes(node, [{**each, "from": renamed(each["from"])} for each in _notes(node)])


# The whole. -----------------------------------------------------------------------------------------------------


def edit_statement(text: str, keys: Mapping[str, str]) -> str:
    """Return the text of a file with another statement, title or the like.

    A statement that marks parts, (a), (b) ..., gives them to a file that has none yet.
    """
    first, *others = split_blocks(text)
    parts = question_parts(keys.get("context", "")) if not any(each.name == PARTS for each in others) else ()
    if parts:
        statement, tables = statement_and_parts(keys["context"], parts)
        keys = {**keys, "context": statement}
        others = [*(new_block(PARTS, each) for each in tables), *others]
    return _without_certificate(joined((with_keys(first, **keys), *others)), text)


def certify(text: str, by: str, on: str) -> str:
    """Return the text of a file with a certificate: who, when, and the digest of what was certified.

    Errors:
        PrismError: something is not reviewed, or no name is given.
    """
    data = parse_toml(text)
    if n_open := len(review_of(data).open):
        raise PrismError(f"{n_open} nodes, edges and questions are not reviewed")
    if not by.strip():
        raise PrismError("a certificate needs a name")
    first, *others = split_blocks(text)
    own = with_keys(first, certified_by=by.strip(), certified_on=on, certified_digest=certificate_digest(data))
    return joined((own, *map(_as_checked, others))).replace("".join(f"# {line}\n" for line in NOT_CHECKED), "", 1)


def _as_checked(block: Block) -> Block:
    """Return a table of a file; that of metadata does not say any longer that nobody has checked the draft."""
    if block.name == "metadata" and keys_of(block).get("drafted") == DRAFTED:
        return with_keys(block, drafted=DRAFTED_AND_CHECKED)
    return block


def ways_of(text: str) -> tuple[str, ...]:
    """Return the names of the references of a file: the first, which is empty, and those of its alternatives."""
    found = (keys_of(each).get("name", "") for each in split_blocks(text) if each.name == ALTERNATIVES)
    return ("", *(str(each) for each in found if each))


def has_nodes(data: Mapping[str, Any]) -> bool:
    """Return True for the table of a problem file, which other files of a folder are not."""
    return any(isinstance(data.get(key), list) for key in NODE_LISTS)

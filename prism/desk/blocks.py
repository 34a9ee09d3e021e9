r"""A TOML file as blocks, each a table with the comments above it, so that an edit touches one and leaves the others.

A comment above `[[grading_standard]]` is about that node, and goes where the node goes. The library that keeps
comments (tomlkit) counts it to the table before, so a file is cut into blocks here, by the headers of its tables, and
tomlkit edits the keys within one block. The text of all other blocks stays byte for byte.

Nodes that stand in one list, `grading_standard = [{...}]`, have no blocks; they can be read here and not edited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from prism.authoring.lint_findings import plain_lines
from prism.errors import PrismError
from prism.problem.source import ALTERNATIVES, NODE_LISTS
from prism.problem.toml_writer import toml_value

_CACHE_SIZE = 8_192  # tables: of one file there may be a thousand nodes
_HEADER = re.compile(r"\s*(\[{1,2})\s*([^\[\],=]+?)\s*\]{1,2}\s*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A table of a file.

    Attributes:
        lead: blank lines and comments above it.
        header: its first line; empty for the keys above all tables.
        name: in the header, without brackets.
        body: all lines below the header, those of tables within it too.
    """

    lead: str
    header: str
    name: str
    body: str

    @property
    def text(self) -> str:
        """The lines of the file."""
        return self.lead + self.header + self.body


def split_blocks(text: str) -> tuple[Block, ...]:
    r"""Cut the text of a TOML file into blocks, whose texts joined are the text.

    >>> [(each.name, each.lead) for each in split_blocks("a = 1\n# of b\n[[b]]\nc = 1\n")]
    [('', ''), ('b', '# of b\n')]
    """
    lines = text.splitlines(keepends=True)
    found: list[tuple[str, str, list[str]]] = [("", "", [])]  # name, header, lines below it
    for line, plain in zip(lines, plain_lines("".join(lines).replace("\r\n", "\n")), strict=False):
        header = _HEADER.match(plain)
        last = found[-1][0]
        if header is not None and (last in ("", ALTERNATIVES) or not header[2].startswith(f"{last}.")):
            found.append((header[2], line, []))
        else:
            found[-1][2].append(line)
    blocks: list[Block] = []
    lead = ""
    for name, first, below in found:
        own = list(below)
        tail: list[str] = []
        while own and (not own[-1].strip() or own[-1].lstrip().startswith("#")) and found[-1][2] is not below:
            tail.insert(0, own.pop())
        blocks.append(Block(lead, first, name, "".join(own)))
        lead = "".join(tail)
    return tuple(blocks)


def joined(blocks: Sequence[Block]) -> str:
    """Return the text of a file."""
    return "".join(each.text for each in blocks)


def node_places(blocks: Sequence[Block], way: str = "") -> tuple[int, ...]:
    """Return the places of the blocks that are nodes, in file order.

    Args:
        way: name of the alternative; empty for the first reference.
    """
    if not way:
        return tuple(k for k, each in enumerate(blocks) if each.name in NODE_LISTS)
    within, found = False, []
    for k, each in enumerate(blocks):
        if each.name == ALTERNATIVES:
            within = keys_of(each).get("name") == way
        elif within and each.name.removeprefix(f"{ALTERNATIVES}.") in NODE_LISTS and each.name not in NODE_LISTS:
            found.append(k)
    return tuple(found)


@lru_cache(maxsize=_CACHE_SIZE)
def keys_of(block: Block) -> Mapping[str, Any]:
    """Return the keys of a table as plain values, which nobody changes; cached, for most stay from edit to edit.

    Errors:
        PrismError: its lines are no TOML.
    """
    return _parsed(block).unwrap()


def with_keys(block: Block, **changed: Any) -> Block:
    """Return a table with other values of some keys; None takes a key away. Comments and order stay."""

    def change(document: TOMLDocument) -> None:
        known = document.unwrap()
        for key, value in changed.items():
            if value is None:
                document.pop(key, None)
            elif key not in known or known[key] != value:
                document[key] = tomlkit.value(toml_value(value, key))

    return changed_block(block, change)


def changed_block(block: Block, change: Callable[[TOMLDocument], None]) -> Block:
    """Return a table after a change of its keys."""
    document = _parsed(block)
    change(document)
    body = _with_headers(tomlkit.dumps(document), lambda header: f"{block.name}.{header}" if block.name else header)
    return replace(block, body=body if body.endswith("\n") or not body else f"{body}\n")


def new_block(name: str, keys: Mapping[str, Any], *, lead: str = "\n") -> Block:
    """Return a table in double brackets, laid out as the writer of problem files does it."""
    body = "".join(f"{key} = {toml_value(value, key)}\n" for key, value in keys.items() if value is not None)
    return Block(lead, f"[[{name}]]\n", name, body)


def _parsed(block: Block) -> TOMLDocument:
    """Read the lines of a table; those of tables within it by their own last names.

    Raises PrismError for what is no TOML.
    """
    body = _with_headers(block.body, lambda header: header.removeprefix(f"{block.name}."))
    try:
        return tomlkit.parse(body)
    except (TOMLKitError, ValueError) as error:
        raise PrismError(f"{block.header.strip() or 'the keys above all tables'}: {error}") from error


def _with_headers(body: str, renamed: Callable[[str], str]) -> str:
    """Return the lines of a table with other names in the headers of the tables within it."""
    lines = body.splitlines(keepends=True)
    for k, plain in enumerate(plain_lines(body.replace("\r\n", "\n"))):
        if header := _HEADER.match(plain):
            lines[k] = lines[k].replace(header[2], renamed(header[2]), 1)
    return "".join(lines)

"""The actions of the author's page: an edit of a problem file, undone if asked, and a new file from a solution."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from prism.authoring.draft_alternatives import draft_alternatives
from prism.desk import edits
from prism.desk.blocks import joined, new_block, split_blocks
from prism.desk.checks import check
from prism.desk.edits import Sheet, edited
from prism.desk.files import NOTHING, Version, read_version, write_version
from prism.errors import PrismError, count_of
from prism.problem.shapes import id_fault
from prism.problem.source import MAX_STATEMENT

BETWEEN_SOLUTIONS = re.compile(r"(?m)^-{5,}\s*$")
"""A line of five dashes or more between two worked solutions."""

_SAFE_NAME = re.compile(r"[\w][\w .-]{0,79}")
_MAX_UNDONE = 100  # edits of a file that can be taken back
_MAX_TEXT = 1_000_000  # characters of what is pasted

Text = Annotated[str, Field(max_length=_MAX_TEXT)]
Operation = Literal[
    "accept", "accept_all", "edit", "split", "join", "drop", "add", "draw", "cut", "statement", "certify", "undo"
]


class Edit(BaseModel):
    """What a form of the author's page sends: an operation on one node, and the digest of the file it was made from."""

    model_config = ConfigDict(extra="ignore")
    op: Operation
    digest: str
    way: str = ""
    node: int = 0
    origin: int = 0
    formula: Text = ""
    accept: Text = ""
    points: str = ""
    part: str = ""
    final: str = ""
    text: Text = ""


class NewProblem(BaseModel):
    """What the form for a new problem sends: its name, its statement and one or several worked solutions."""

    model_config = ConfigDict(extra="ignore")
    name: str
    statement: Text = ""
    solution: Text
    answer: Text = ""


class History:
    """The versions of each file that an edit of this desk has replaced, so that the last one can be taken back."""

    def __init__(self) -> None:
        """Start without any."""
        self._before: dict[Path, list[tuple[str, str]]] = {}

    def add(self, path: Path, before: str, after: Version) -> None:
        """Remember the text that a version has replaced."""
        known = self._before.setdefault(path, [])
        known.append((before, after.digest))
        del known[:-_MAX_UNDONE]

    def pop(self, path: Path, digest: str) -> str:
        """Return the text before the version with this digest.

        Errors:
            PrismError: the file was not changed here, or somebody else has changed it since.
        """
        known = self._before.get(path, [])
        if not known or known[-1][1] != digest:
            raise PrismError("there is no edit of this desk to take back")
        return known.pop()[0]


def apply_edit(path: Path, edit: Edit, history: History) -> Version:
    """Write a problem file anew after one edit.

    Errors:
        StaleFile: the file is another version than the form was made from.
        PrismError: the edit makes no sense.
    """
    before = read_version(path)
    if edit.op == "undo":
        return write_version(path, edit.digest, history.pop(path, edit.digest))
    after = write_version(path, edit.digest, _edited_text(before.text, edit))
    history.add(path, before.text, after)
    return after


def _edited_text(text: str, edit: Edit) -> str:
    """Return the text of a problem file after an edit; raises PrismError for a certificate of what has faults."""
    if edit.op == "statement":
        return edits.edit_statement(text, {"context": edit.text.replace("\r\n", "\n")})
    if edit.op == "certify":
        if n_fault := check(text).count("fault"):
            raise PrismError(f"the check finds {count_of(n_fault, 'fault')}; mend what it says first")
        return edits.certify(text, edit.text, date.today().isoformat())  # noqa: DTZ011 - the day where the author is
    return edited(text, edit.way, lambda sheet: _OPERATIONS[edit.op](sheet, edit))


def _lines(text: str) -> list[str]:
    """Return the lines of a field that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _edit_node(sheet: Sheet, edit: Edit) -> None:
    """Write the fields of a node's form into it.

    Raises PrismError without a formula, or for points that are no number.
    """
    if not edit.formula.strip():
        raise PrismError("a node needs a formula")
    try:
        points: float | None = float(edit.points or 1)
    except ValueError:
        raise PrismError(f"points: {edit.points!r} is no number") from None
    if points is not None and points.is_integer():
        points = None if points == 1 else int(points)
    edits.edit_node(sheet, edit.node, {
        "formula": edit.formula.strip(), "accept": _lines(edit.accept) or None, "points": points,
        "subquestion": edit.part.strip() or None, "is_final_answer": True if edit.final else None,
    })  # fmt: skip


_OPERATIONS: Mapping[str, Callable[[Sheet, Edit], None]] = {
    "accept": lambda sheet, edit: edits.accept_node(sheet, edit.node),
    "accept_all": lambda sheet, edit: edits.accept_node(sheet, edit.node, with_edges=True),
    "edit": _edit_node,
    "split": lambda sheet, edit: edits.split_node(sheet, edit.node, _lines(edit.formula)),
    "join": lambda sheet, edit: edits.join_nodes(sheet, edit.node, edit.origin),
    "drop": lambda sheet, edit: edits.drop_node(sheet, edit.node),
    "add": lambda sheet, edit: edits.add_node(sheet, edit.node, edit.formula.strip()),
    "draw": lambda sheet, edit: edits.draw_edge(sheet, edit.node, edit.origin),
    "cut": lambda sheet, edit: edits.cut_edge(sheet, edit.node, edit.origin),
}


def write_draft(folder: Path, new: NewProblem) -> Path:
    """Draft a problem file from worked solutions, which stand in it as samples, and return its path.

    Errors:
        PrismError: a name that no file can have, a file that is there, a solution that no node comes of.
    """
    name = new.name.strip().removesuffix(".toml")
    if not _SAFE_NAME.fullmatch(name) or id_fault(name):
        raise PrismError("a name has letters, digits, blanks, dots and hyphens, and begins with a letter or digit")
    if len(new.statement) > MAX_STATEMENT:
        raise PrismError(f"the statement is longer than {MAX_STATEMENT} characters")
    path = folder / f"{name}.toml"
    if path.exists():
        raise PrismError(f"{path.name} is there already")
    solutions = [each.strip() for each in BETWEEN_SOLUTIONS.split(new.solution) if each.strip()]
    if not solutions:
        raise PrismError("there is no solution to draft from")
    names = [f"way {k}" for k in range(1, len(solutions) + 1)]
    made = draft_alternatives(
        solutions, names=names, problem=new.statement.strip(), answers=_lines(new.answer), name=name
    )
    write_version(path, NOTHING, _with_samples(made.toml(), solutions))
    return path


def _with_samples(text: str, solutions: list[str]) -> str:
    """Return a drafted file with its solutions as students, before the table of metadata."""
    blocks = split_blocks(text)
    samples = [
        new_block("students", {"name": f"worked solution {k}" if len(solutions) > 1 else "worked solution",
                               "solution": solution})
        for k, solution in enumerate(solutions, start=1)
    ]  # fmt: skip
    at = next((k for k, each in enumerate(blocks) if each.name == "metadata"), len(blocks))
    return joined((*blocks[:at], *samples, *blocks[at:]))

"""What the linter says: findings with a kind, a code from a closed list, and a place in the problem file."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal

CODES = {
    "file": "what the loader says: faults that stop the load, unknown keys, implied edges, formulas that are not read",
    "unmatched": "a node, or a formula accepted in its place, that a copy of it does not match",
    "same": "two nodes are one formula, or one number",
    "equal": "two nodes hold for the same values: a step of algebra between them is not seen",
    "contained": "who states one node has stated another, which is not credited with it anyway",
    "values": "two nodes are one formula once values of the problem are put in",
    "too_large": "a formula that costs too much to be compared with, or a check that was not finished",
    "copies": "a node that only formulas of its own form match",
    "number": "a number that the formulas before it do not give",
    "dimension": "units that do not fit",
    "unit": "a unit that the table lacks, or letters behind a number that are read as symbols",
    "given": "a node that the problem says itself",
    "guessable": "a node that can be guessed, and rests on nothing",
    "law": "a node that a sheet of formulas may hold",
    "answers": "two final answers with one name",
    "unanswered": "parts and final answers that do not belong to each other",
    "form": "an answer of another form than its part asks for",
    "figures": "significant figures that are missing, or more than the answer shows",
    "image": "an image that is not there or cannot be shown, or one without a caption",
    "alternatives": "a way that answers other questions than the first reference, or answers one otherwise",
    "vocabulary": "a domain or subtopic that the vocabulary does not list",
    "unreviewed": "drafted nodes, edges and questions that no person has looked at",
    "certificate": "a certificate of a reference that was changed since, or of one that is not all reviewed",
    "undefined": "a symbol that stands in one node only, and nowhere in the problem",
}
"""What a finding is about; a test refuses any other code."""


Kind = Literal["fault", "warning", "note"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One fault, warning or note of the linter about a problem.

    Attributes:
        kind: `fault`, `warning` or `note`.
        code: a key of `CODES`.
        entry: `node 3`, `subquestion a`; empty for the whole problem.
        field: key of the entry: `formula`, `dependency`; may be empty.
        text: what is wrong, and what to do.
        line: of the file, from 1, where `field` or else `entry` stands; None without a file, or if it is not found.
    """

    kind: Kind
    code: str
    entry: str
    field: str
    text: str
    line: int | None = dataclass_field(default=None, compare=False)  # where it is said is no part of what is said

    def __post_init__(self) -> None:
        """Raise ValueError for a code that is not in `CODES`."""
        if self.code not in CODES:
            raise ValueError(f"{self.code!r} is not a code; codes are {', '.join(CODES)}")

    def __str__(self) -> str:
        """Return `node 3, formula: what is wrong`."""
        return ": ".join(
            part for part in (", ".join(part for part in (self.entry, self.field) if part), self.text) if part
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """Return plain values for JSON; the keys are the attribute names."""
        return {
            "kind": self.kind, "code": self.code, "entry": self.entry, "field": self.field, "text": self.text,
            "line": self.line,
        }  # fmt: skip


def warning(code: str, entry: str, key: str, text: str) -> LintFinding:
    """Return a finding of kind `warning`."""
    return LintFinding("warning", code, entry, key, text)

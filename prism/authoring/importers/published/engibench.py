"""EngiBench: a table in which each row asks one question in up to six variants, each with a key of its own column.

The abstraction's key is a model's answer by its description, while the released script takes it as the key: such a
problem says so in its metadata. Rows of Level 3 have no key but rubric cells, and become rows of a rubric file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prism.authoring.conversions import plain_number
from prism.authoring.importers.entries import DatasetEntry, Finding, RecordedAnswer, Refusal, SourceRow
from prism.authoring.importers.layouts import described, entry_of, layout, metadata_of
from prism.authoring.importers.recorded_answers import are_apart
from prism.authoring.plain_answers import numbers_of

VARIANTS: Mapping[str, list[str]] = layout("engibench")["variants"]
_ABSTRACT = {"abstract": "original", "perturbed_abstract": "perturbed"}
DIMENSIONS = {
    "redundant_information": ("redundant_information_filtering_score", "information_extraction_score"),
    "domain_knowledge": ("deep_knowledge_integration_score", "domain_specific_reasoning_score"),
    "multi_objective_decision": ("multi_objective_tradeoff_score", "multi_objective_decision_score"),
    "uncertainty_handling": ("uncertainty_handling_score",),
}
_OPEN_QUESTION = ("question", "question_modified", "subquestion", "subquestion_modified")
_HEAD = re.compile(
    r"\(\s*(?P<number>\d{1,2})\s*\)\s*(?P<name>[^()\n]*?)\s*\(\s*(?P<points>\d+(?:\.\d+)?)\s*points?\s*\)",
    re.IGNORECASE,
)
_TOTAL = 10  # points of a rubric cell
_SMALL = frozenset(("0", "1", "2"))  # numbers that a rewording may add or leave out


@dataclass(frozen=True, slots=True)
class RubricHead:
    """One head of a rubric cell: its number, name and points."""

    number: int
    name: str
    points: Fraction


def is_open_ended(row: SourceRow) -> bool:
    """Return True for a row of Level 3, which has rubric cells and no key."""
    return "problem" not in row.data and any(name in row.data for each in DIMENSIONS.values() for name in each)


def rubric_heads(cell: str) -> tuple[RubricHead, ...]:
    r"""Return the heads of a rubric cell: `(1) Margins (6 points)`.

    >>> [(head.number, head.name, int(head.points)) for head in rubric_heads("(1) Margins (6 points)\\n6 points: all")]
    [(1, 'Margins', 6)]
    """
    return tuple(
        RubricHead(int(m["number"]), m["name"].strip(" :."), Fraction(m["points"])) for m in _HEAD.finditer(cell)
    )


def rubric_rows(row: SourceRow) -> list[dict[str, Any]]:
    """Return the rubric of an open-ended row, one table for each dimension; a cell that is empty is not scored."""
    found = []
    for dimension, names in DIMENSIONS.items():
        cell = _cell(row, names)
        heads = rubric_heads(cell)
        found.append({
            "row": int(_id_of(row)), "dimension": dimension, "is_scored": bool(cell),
            "heads": [{"head": h.number, "name": h.name, "points": plain_number(h.points)} for h in heads],
            "total": plain_number(sum((head.points for head in heads), Fraction(0))), "text": cell,
            **{name: row.text(name) for name in _OPEN_QUESTION if name in row.data},
        })  # fmt: skip
    return found


def _cell(row: SourceRow, names: Iterable[str]) -> str:
    """Return the rubric cell of a dimension, which has one of several names; empty if the row has none."""
    return next(filter(None, map(row.text, names)), "")


def _id_of(row: SourceRow) -> str:
    """Return the number of the row, its place or what it says in `row`: it has no id of its own."""
    said = row.number_or_text("row")
    return said if said.isascii() and said.isdecimal() else str(row.number)


def _read(row: SourceRow) -> Iterable[DatasetEntry | Refusal]:
    """Yield one problem for each variant that the row has; none for an open-ended row."""
    if is_open_ended(row):
        return
    for variant, (question, key) in VARIANTS.items():
        name = f"{_id_of(row)}-{variant}"
        if not row.text(question):
            yield Refusal(name, "no-question", f"`{question}` is empty", variant)
        elif not row.text(key):
            yield Refusal(name, "no-answer", f"`{key}` is empty", variant)
        else:
            metadata = {"row": int(_id_of(row)), "variant": variant, **metadata_of(ENGIBENCH, row)}
            if variant in _ABSTRACT:
                metadata["key"] = "a model's answer, by the description of the data set"
            yield entry_of(
                ENGIBENCH, row, [RecordedAnswer(row.text(key))],
                id=name, variant=variant, question=row.text(question), metadata=metadata,
            )  # fmt: skip


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield variants that disagree, empty cells of a variant, and rubrics that do not add up."""
    for row in rows:
        if is_open_ended(row):
            yield from _check_rubric(row)
            continue
        for variant, base in _ABSTRACT.items():
            yield from _check_abstraction(row, variant, base)
        for variant, (question, key) in VARIANTS.items():
            for name in (question, key) if variant != "knowledge" else (question,):
                if name in row.data and not row.text(name):
                    yield Finding("empty-variant", row, f"{_id_of(row)}-{variant}", f"`{name}` is empty")


def _check_abstraction(row: SourceRow, variant: str, base: str) -> Iterator[Finding]:
    """Yield an abstraction whose key is not that of the question it was made of, or that has other numbers."""
    question, key = VARIANTS[base]
    own_question, own_key = VARIANTS[variant]
    name = f"{_id_of(row)}-{variant}"
    if are_apart(row.text(own_key), row.text(key)):
        message = f"`{own_key}` is over 2 % from `{key}`, {row.text(key)}"
        yield Finding("variants-disagree", row, name, message, row.text(own_key))
    asked = set(numbers_of(row.text(question))) - _SMALL
    there = set(numbers_of(row.text(own_question)))
    missing = asked - there
    if row.text(own_question) and len(missing) * 2 > len(asked):
        message = f"{len(missing)} of the {len(asked)} numbers of `{question}` are not in `{own_question}`"
        yield Finding("other-numbers", row, name, message, ", ".join(sorted(missing)))


def _check_rubric(row: SourceRow) -> Iterator[Finding]:
    """Yield rubric cells that are empty or whose heads do not add up to ten."""
    for dimension, names in DIMENSIONS.items():
        cell = _cell(row, names)
        total = sum((head.points for head in rubric_heads(cell)), Fraction(0))
        if not cell:
            yield Finding("empty-rubric", row, _id_of(row), f"the cell of {dimension} is empty: it is not scored")
        elif total != _TOTAL:
            message = f"the heads of {dimension} add up to {plain_number(total)}, not {_TOTAL}"
            yield Finding("points-do-not-add-up", row, _id_of(row), message, cell)


ENGIBENCH = described("engibench", _read, id_of=_id_of, check=_check)

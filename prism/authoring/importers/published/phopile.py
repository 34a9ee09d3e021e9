"""PhoPile: olympiad problems with worked solutions in LaTeX; no row says what its answer is.

A row is one question of a problem, and those that belong together share `question_number`. Refused: the rows of one
problem as parts of one file; many ask for what an earlier one gave, and their solutions are separate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prism.authoring.importers.entries import Dataset, DatasetEntry, FieldRule, SourceRow, fields_of, kept
from prism.authoring.importers.entry_images import named_images


def _id_of(row: SourceRow) -> str:
    """Return the row's running number."""
    value = row.data.get("index")
    return "" if value is None else str(value)


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; its finals are those of a draft of its solution."""
    images = named_images(_names(row.data.get("imgQ")), row.file)
    yield DatasetEntry(
        question=row.text("problem"),
        answers=(),
        solution=row.text("solution"),
        images=images,
        needs_image=bool(images),
        metadata=kept(row.data, "question_number", "sub_question_number", "sub_sub_question_number", "source", "year"),
    )


def _names(value: Any) -> list[str]:
    """Return the names of a row's pictures: `/pic/2011Q/Fig.1.png`, or `###Image1.png###` as a text names it."""
    found = value if isinstance(value, list) else []
    return [each.replace("###", "").strip().lstrip("/") for each in found if isinstance(each, str)]


PHOPILE = Dataset(
    name="phopile",
    published="aialt/PhoPile",
    licence="",
    globs=("dataset/*/*.json", "*.json"),
    fields={
        **fields_of("problem", "source", "solution"),
        **fields_of("index", "question_number", "year", rule=FieldRule((int,))),
        **fields_of("sub_question_number", "sub_sub_question_number", rule=FieldRule((int,), may_be_empty=True)),
        **fields_of("imgQ", "imgA", rule=FieldRule((list,), may_be_empty=True)),
    },
    id_of=_id_of,
    read=_read,
)

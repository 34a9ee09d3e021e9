"""PRISM-Physics: the published shape is that of a problem file, which `convert` reads as it is."""

from __future__ import annotations

from collections.abc import Iterable

from prism.authoring.importers.entries import Dataset, DatasetEntry, FieldRule, RefusedError, SourceRow
from prism.authoring.importers.entry_images import named_images
from prism.problem.source import NODE_LISTS


def _id_of(row: SourceRow) -> str:
    """Return the problem's id."""
    value = row.data.get("id")
    return "" if value is None else str(value)


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row, as it stands."""
    if not any(row.data.get(key) is not None for key in NODE_LISTS):
        raise RefusedError("no-formula", f"it has no list of nodes ({', '.join(NODE_LISTS)})")
    listed = row.data.get("images")
    names = [each.get("location") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    published = {key: value for key, value in row.data.items() if key != "images"}
    yield DatasetEntry(
        id=_id_of(row),
        question=row.text("context"),
        answers=(),
        published=published,
        images=named_images(names, row.file),
        needs_image=bool(names),
    )


PRISM_PHYSICS = Dataset(
    name="prism-physics",
    published="PRISM-Physics, arXiv 2510.03185",
    licence="",
    globs=("*.jsonl", "*.json"),
    fields={
        "id": FieldRule((int, str)),
        "context": FieldRule(),
        "subquestions": FieldRule((list,), is_required=False, may_be_empty=True),
        "source": FieldRule(is_required=False, may_be_empty=True),
    },
    id_of=_id_of,
    read=_read,
)

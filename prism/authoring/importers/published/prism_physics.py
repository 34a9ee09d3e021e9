"""PRISM-Physics: the published shape is that of a problem file, which `convert` reads as it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from prism.authoring.importers.entries import (
    OPTIONAL,
    Dataset,
    DatasetEntry,
    EntryImage,
    FieldRule,
    RefusedError,
    SourceRow,
    fields_of,
)
from prism.authoring.importers.entry_images import named_images
from prism.problem.images import ProblemImage, is_beside
from prism.problem.source import NODE_LISTS


def _image(entry: dict[str, Any], row: SourceRow) -> EntryImage:
    """Return an image of a problem, which keeps its location if that lies in the folder of the problem file."""
    location, caption = str(entry.get("location", "")), str(entry.get("caption", ""))
    found = named_images(location, row.file)
    own = location if is_beside(ProblemImage(location)) else ""
    return replace(found[0] if found else EntryImage(name=location), caption=caption, location=own)


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row, as it stands; raises RefusedError without a list of nodes."""
    if not any(row.data.get(key) is not None for key in NODE_LISTS):
        raise RefusedError("no-formula", f"it has no list of nodes ({', '.join(NODE_LISTS)})")
    listed = row.data.get("images")
    images = tuple(_image(each, row) for each in listed if isinstance(each, dict)) if isinstance(listed, list) else ()
    published = {key: value for key, value in row.data.items() if key != "images"}
    yield DatasetEntry(
        question=row.text("context"),
        answers=(),
        published=published,
        images=images,
        needs_image=bool(images),
    )


PRISM_PHYSICS = Dataset(
    name="prism-physics",
    published="PRISM-Physics, arXiv 2510.03185",
    licence="",
    globs=("*.jsonl", "*.json"),
    fields={
        **fields_of("context"),
        **fields_of("source", rule=OPTIONAL),
        **fields_of("id", rule=FieldRule((int, str))),
        **fields_of("subquestions", "images", rule=FieldRule((list,), is_required=False, may_be_empty=True)),
        **fields_of(*NODE_LISTS, rule=FieldRule((list,), is_required=False)),
    },
    read=_read,
)

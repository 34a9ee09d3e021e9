"""EngVQA: engineering questions with pictures, a worked solution and an answer; its files were not seen.

The paper (arXiv 2606.10833) describes the rows: a question with one or more images, its subject (five of them) and
topic, a solution and final values. Fields are read under the names that such rows have elsewhere, the first that is
there; a data set that has others is read with `--map`. Names of topics come from a model, so that one topic is spelled
in several ways: two that are alike by 0.85 or more are one, the one that more rows have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from prism.authoring.importers.entries import Dataset, DatasetEntry, FieldRule, Finding, SourceRow, kept
from prism.authoring.importers.entry_images import named_images
from prism.authoring.importers.entry_problems import unknown_answers

ALIKE = 0.85  # ratio of `difflib.SequenceMatcher` from which on two names are one topic
_IMAGES = ("images", "image", "figure", "diagram")
_ANSWERS = ("final_answer", "answer", "answers", "ground_truth")
_DOMAINS = {
    "fluid mechanics": "Mechanical Engineering", "heat transfer": "Mechanical Engineering",
    "thermodynamics": "Mechanical Engineering", "solid mechanics": "Mechanical Engineering",
    "strength of materials": "Mechanical Engineering", "circuits": "Electrical Engineering",
}  # fmt: skip


def _id_of(row: SourceRow) -> str:
    """Return the row's own id."""
    value = next((row.data[name] for name in ("id", "problem_id", "question_id") if row.data.get(name)), "")
    return str(value)


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; without its picture it can hardly be answered."""
    images = named_images(next((row.data[name] for name in _IMAGES if row.data.get(name)), []), row.file)
    recorded: Any = next((row.data[name] for name in _ANSWERS if row.data.get(name)), [])
    texts = [str(each) for each in (recorded if isinstance(recorded, list) else [recorded])]
    yield DatasetEntry(
        id=_id_of(row),
        question=row.text("question"),
        answers=unknown_answers(texts, row.text("unit")),
        solution=row.text("solution"),
        domain=_DOMAINS.get(row.text("subject").lower(), ""),
        images=images,
        needs_image=bool(images),
        metadata=kept(row.data, "subject", "topic", "difficulty", "source"),
    )


def topics_of(names: Iterable[str]) -> Mapping[str, str]:
    """Map each spelling of a topic to the one that more rows have, if they are alike by `ALIKE` or more.

    >>> topics_of(["Pipe flow", "Pipe flow", "pipe flows", "Fins"])["pipe flows"]
    'Pipe flow'
    """
    counts = Counter(name for name in names if name.strip())
    found: dict[str, str] = {}
    for name, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        found[name] = next((one for one in dict.fromkeys(found.values()) if likeness(one, name) >= ALIKE), name)
    return found


def likeness(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1, whatever their case and blanks."""
    first, second = (" ".join(name.casefold().split()) for name in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield topics that are another spelling of one that more rows have."""
    topics = topics_of(row.text("topic") for row in rows)
    for row in rows:
        name = row.text("topic")
        if name and topics[name] != name:
            yield Finding("near-topic", row, _id_of(row), f"more rows have the topic {topics[name]}", name)


def _fields() -> dict[str, FieldRule]:
    """Return the fields of a row: the question, and what may be there under one of several names."""
    some: dict[str, Any] = dict.fromkeys(
        ("id", "problem_id", "question_id", "subject", "topic", "difficulty", "source", "unit", "solution"),
        FieldRule((str, int), is_required=False, may_be_empty=True),
    )
    many = dict.fromkeys((*_IMAGES, *_ANSWERS), FieldRule((str, list), is_required=False, may_be_empty=True))
    return {"question": FieldRule(), **some, **many}


ENGVQA = Dataset(
    name="engvqa",
    published="EngVQA, arXiv 2606.10833 (its files were not seen)",
    licence="",
    globs=("*.json", "*.jsonl", "*.parquet"),
    fields=_fields(),
    id_of=_id_of,
    read=_read,
    check=_check,
)

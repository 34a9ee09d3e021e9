"""PHYSICS: qualifier problems with several recorded answers each, and figures as data URLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prism.authoring.drafting import question_parts
from prism.authoring.importers.entries import (
    Dataset,
    DatasetEntry,
    EntryImage,
    FieldRule,
    Finding,
    RecordedAnswer,
    RefusedError,
    SourceRow,
    fields_of,
)
from prism.errors import count_of

_MARK = "\ufeff"
_DOMAINS = {
    "mechanics": "Mechanics", "electro": "Electromagnetism", "optics": "Optics", "quantum": "Quantum Mechanics",
    "atomic": "Atomic, Nuclear, and Particle Physics", "statistics": "Thermodynamics and Statistical Physics",
    "Classical Mechanics": "Mechanics", "Quantum Mechanics": "Quantum Mechanics",
    "Statistical Mechanics": "Thermodynamics and Statistical Physics",
    "Electricity and Magenetism": "Electromagnetism",  # as it is spelled there
}  # fmt: skip


def _images_of(row: SourceRow) -> tuple[EntryImage, ...]:
    """Return the graphs of a row: data URLs."""
    graphs = row.data.get("graphs")
    found = []
    for each in graphs if isinstance(graphs, list) else ():
        address = each.get("image_url") if isinstance(each, Mapping) else None
        url = address.get("url") if isinstance(address, Mapping) else address
        if isinstance(url, str) and url:
            found.append(EntryImage(url=url))
    return tuple(found)


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row, a part for each of its answers; raises RefusedError without a list of answers."""
    answers = row.data.get("final_answers")
    if isinstance(answers, str):
        answers = [answers]
    if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
        raise RefusedError("no-answer", "`final_answers` is no list of texts")
    images = _images_of(row)
    graphs = row.data.get("graphs")
    n_lost = (len(graphs) if isinstance(graphs, list) else graphs is not None) - len(images)
    yield DatasetEntry(
        question=row.text("questions"),
        answers=tuple(RecordedAnswer(each) for each in answers if each.strip()),
        solution=row.text("solutions"),
        domain=_DOMAINS.get(row.text("id").split("/")[0], ""),
        images=images,
        needs_image=bool(images) or n_lost > 0,
        remarks=(f"{count_of(n_lost, 'graph')} cannot be read",) if n_lost else (),
    )


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield questions with more lettered parts than answers, and texts that begin with a byte order mark."""
    for row in rows:
        answers = row.data.get("final_answers")
        n = len(answers) if isinstance(answers, list) else 0
        asked = question_parts(row.text("questions"))
        if len(asked) > n:
            message = f"{n} answers for the parts {', '.join(part.letter for part in asked)}"
            yield Finding("fewer-answers", row, row.text("id"), message)
        if str(row.data.get("questions", "")).startswith(_MARK):
            yield Finding("byte-order-mark", row, row.text("id"), "its question begins with a byte order mark")


PHYSICS = Dataset(
    name="physics",
    published="yale-nlp/Physics",
    licence="MIT",
    globs=("PHYSICS/*_dataset.jsonl", "*_dataset.jsonl", "*.jsonl"),
    fields={
        **fields_of("id", "questions", "solutions"),
        **fields_of("final_answers", rule=FieldRule((list,))),
        **fields_of("graphs", rule=FieldRule((list, type(None)), is_required=False, may_be_empty=True)),
    },
    read=_read,
    check=_check,
)

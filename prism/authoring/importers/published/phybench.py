"""PHYBench: questions with one formula as the answer; most rows are published without solution and answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from prism.authoring.importers.entries import (
    AnswerKind,
    Dataset,
    DatasetEntry,
    FieldRule,
    Finding,
    RecordedAnswer,
    RefusedError,
    SourceRow,
    fields_of,
    kept,
)
from prism.authoring.importers.recorded_answers import bare_answer

_DOMAINS = {
    "MECHANICS": "Mechanics",
    "ELECTRICITY": "Electromagnetism",
    "THERMODYNAMICS": "Thermodynamics and Statistical Physics",
    "OPTICS": "Optics",
    "MODERN": "Atomic, Nuclear, and Particle Physics",
}
_RELATION = re.compile(r"=|\\approx|\\sim|[<>]|\\leq?|\\geq?")


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row that has its answer; raises RefusedError for one that has none."""
    answer = row.text("answer")
    if not answer:
        raise RefusedError("no-answer", "" if row.text("solution") else "nor a solution: questions only")
    yield DatasetEntry(
        question=row.text("content"),
        answers=(RecordedAnswer(answer, AnswerKind.FORMULA),),
        solution=row.text("solution"),
        domain=_DOMAINS.get(row.text("tag").upper(), ""),
        metadata=kept(row.data, "tag"),
    )


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield answers that name no quantity, so that it has to be found in the question."""
    for row in rows:
        answer = bare_answer(row.text("answer"))
        if answer and not _RELATION.search(answer):
            message = "the answer has no `=`: the question has to say what it is of"
            yield Finding("answer-without-subject", row, row.number_or_text("id"), message, answer)


PHYBENCH = Dataset(
    name="phybench",
    published="Eureka-Lab/PHYBench, phybench-official/phybench",
    licence="MIT",
    globs=("PHYBench-fullques*.json", "PHYBench-questions*.json", "PHYBench-*.json", "*.json"),
    fields={
        **fields_of("tag", "content"),
        **fields_of("id", rule=FieldRule((int,))),
        **fields_of("solution", "answer", rule=FieldRule(may_be_empty=True)),
    },
    read=_read,
    check=_check,
)

"""SciBench: textbook exercises with a number and a unit, in which a power of ten often stands in the unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from prism.authoring.importers.entries import (
    OPTIONAL,
    AnswerKind,
    Dataset,
    DatasetEntry,
    FieldRule,
    Finding,
    RecordedAnswer,
    SourceRow,
    fields_of,
    kept,
)
from prism.authoring.importers.entry_images import named_images
from prism.authoring.importers.recorded_answers import value_of

_DOMAINS = {
    "fund": "", "class": "Mechanics", "thermo": "Thermodynamics and Statistical Physics", "quan": "Quantum Mechanics",
}  # fmt: skip
_APART = Fraction(2, 100)


def _id_of(row: SourceRow) -> str:
    """Return book and number of the problem, as a number stands in several books."""
    number = row.text("problemid")
    return f"{row.text('source')}-{number}" if number and row.text("source") else number


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row."""
    number = row.text("answer_number") or row.text("answer_latex")
    images = named_images(row.data.get("image") or row.data.get("img"), row.file)
    yield DatasetEntry(
        question=row.text("problem_text"),
        answers=(RecordedAnswer(number, AnswerKind.NUMBER, row.text("unit")),) if number else (),
        solution=row.text("solution"),
        domain=_DOMAINS.get(row.text("source"), ""),
        images=images,
        needs_image=bool(images),
        metadata={**kept(row.data, "answer_latex"), **({"book": row.text("source")} if row.text("source") else {}),
                  **({"comment": row.text("comment")} if row.text("comment") else {})},
    )  # fmt: skip


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield answers whose LaTeX is another number than the recorded one."""
    for row in rows:
        written, number = value_of(row.text("answer_latex")), value_of(row.text("answer_number"))
        if written is not None and number is not None and abs(written - number) > _APART * abs(number):
            message = f"`answer_latex` is over 2 % from `answer_number`, {row.text('answer_number')}"
            yield Finding("answers-disagree", row, _id_of(row), message, row.text("answer_latex"))


SCIBENCH = Dataset(
    name="scibench",
    published="mandyyyyii/scibench, xw27/scibench",
    licence="MIT",
    globs=("dataset/original/*.json", "*.json", "*.parquet"),
    fields={
        **fields_of("problem_text", "answer_number", "source", "problemid"),
        **fields_of("comment", "solution", rule=OPTIONAL),
        **fields_of("answer_latex", "unit", rule=FieldRule(may_be_empty=True)),
    },
    id_of=_id_of,
    read=_read,
    check=_check,
)

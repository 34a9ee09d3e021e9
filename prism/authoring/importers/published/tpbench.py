"""TPBench: research-level problems; the reference implementation of an answer is code, which is kept and never run."""

from __future__ import annotations

from collections.abc import Iterable

from prism.authoring.importers.entries import (
    OPTIONAL,
    Dataset,
    DatasetEntry,
    RecordedAnswer,
    SourceRow,
    fields_of,
    kept,
)
from prism.latex import extract
from prism.problem.worded_answers import boxes_of

_DOMAINS = {
    "QM": "Quantum Mechanics", "Quantum Mechanics": "Quantum Mechanics", "Classical Mechanics": "Mechanics",
    "Stat Mech": "Thermodynamics and Statistical Physics", "SM": "Thermodynamics and Statistical Physics",
    "EM": "Electromagnetism", "HEP": "Atomic, Nuclear, and Particle Physics",
}  # fmt: skip


def _id_of(row: SourceRow) -> str:
    """Return the problem's id."""
    return row.text("problem_id")


def _answer(text: str) -> str:
    """Return the answer of a cell: its only box, else its only formula, else all of it."""
    boxes = boxes_of(text)
    if len(boxes) == 1:
        return boxes[0]
    items = [item.latex for item in extract(text) if item.kind == "display"]
    return items[0] if len(items) == 1 else text


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row."""
    answer = _answer(row.text("answer"))
    yield DatasetEntry(
        question=row.text("problem"),
        answers=(RecordedAnswer(answer),) if answer else (),
        solution=row.text("solution"),
        domain=_DOMAINS.get(row.text("domain"), ""),
        metadata={
            **kept(row.data, "difficulty_level", "code_answer_requirements", "reference_implementation"),
            **({"field": row.text("domain")} if row.text("domain") else {}),
        },
    )


TPBENCH = Dataset(
    name="tpbench",
    published="ZhiqiGao/TPBench",
    licence="MIT",
    globs=("*.parquet", "*.jsonl", "*.json"),
    fields={
        **fields_of("problem_id", "domain", "difficulty_level", "problem", "solution", "answer"),
        **fields_of("code_answer_requirements", "reference_implementation", rule=OPTIONAL),
    },
    id_of=_id_of,
    read=_read,
)

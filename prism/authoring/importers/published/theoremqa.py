"""TheoremQA: questions on theorems with a number, a list of numbers, a truth or an option as the answer.

The repository has the answers as JSON values, the table form as text; both are read. `Answer_type` says what one is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
from prism.authoring.importers.entry_images import named_images

_KINDS = {
    "float": AnswerKind.NUMBER, "integer": AnswerKind.NUMBER, "bool": AnswerKind.TRUTH, "option": AnswerKind.CHOICE,
    "list of integer": AnswerKind.FORMULA, "list of float": AnswerKind.FORMULA,
}  # fmt: skip


def _id_of(row: SourceRow) -> str:
    """Return the name of the row's file without its ending, `tonyxia/wave3`; empty in the table form."""
    return row.text("id").removesuffix(".json")


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; raises RefusedError for an empty answer."""
    kind = _KINDS.get(row.text("Answer_type"), AnswerKind.UNKNOWN)
    answer = _written(row.data.get("Answer"), kind)
    if not answer:
        raise RefusedError("no-answer")
    picture = row.data.get("Picture")
    images = named_images([picture] if isinstance(picture, str) and picture != "NONE" else [], row.file)
    yield DatasetEntry(
        question=row.text("Question"),
        answers=(RecordedAnswer(answer, kind),),
        images=images,
        needs_image=picture not in (None, "", "NONE"),
        metadata=kept(row.data, "theorem", "subfield", "field", "source"),
    )


def _written(value: Any, kind: AnswerKind) -> str:
    """Return an answer as text: a list in brackets, a number without a point that says nothing."""
    if isinstance(value, str) and kind is not AnswerKind.CHOICE:
        try:
            value = json.loads(value.strip().replace("True", "true").replace("False", "false"))
        except ValueError:
            return str(value).strip()
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, list):
        return f"[{', '.join(_written(each, kind) for each in value)}]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield types of answers that the data set does not define."""
    for row in rows:
        if (named := row.text("Answer_type")) and named not in _KINDS:
            message = f"`Answer_type` is none of {', '.join(_KINDS)}"
            yield Finding("unknown-type", row, _id_of(row), message, named)


THEOREMQA = Dataset(
    name="theoremqa",
    published="wenhuchen/TheoremQA, TIGER-Lab/TheoremQA",
    licence="MIT",
    globs=("theoremqa_test.json", "data/test-*.parquet", "*.json", "*.parquet"),
    fields={
        **fields_of("Question", "Answer_type"),
        **fields_of("Answer", rule=FieldRule((str, int, float, bool, list))),
        **fields_of("Picture", rule=FieldRule((str, dict), may_be_empty=True)),
        **fields_of("source", "id", "theorem", "subfield", "field", rule=FieldRule(is_required=False)),
    },
    id_of=_id_of,
    read=_read,
    check=_check,
)

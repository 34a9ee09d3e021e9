"""UGPhysics: undergraduate exercises in English and Chinese, whose answers share one box and have a type each."""

from __future__ import annotations

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
    language_of,
)
from prism.authoring.importers.recorded_answers import bare_answer, split_at_commas
from prism.errors import count_of
from prism.problem.worded_answers import boxes_of

_KINDS = {
    "NV": AnswerKind.NUMBER,
    "EX": AnswerKind.FORMULA,
    "EQ": AnswerKind.FORMULA,
    "MC": AnswerKind.CHOICE,
    "MCQ": AnswerKind.CHOICE,
    "TF": AnswerKind.TRUTH,
    "IN": AnswerKind.INTERVAL,
}
_DOMAINS = {
    "Mechanics and Thermodynamics": "",
    "Electromagnetism": "Electromagnetism",
    "Modern Physics": "Atomic, Nuclear, and Particle Physics",
}
_SUBJECTS = {
    "thermodynamics": "Thermodynamics and Statistical Physics",
    "statistical mechanics": "Thermodynamics and Statistical Physics",
    "classical mechanics": "Mechanics",
    "theoretical mechanics": "Mechanics",
    "classical electromagnetism": "Electromagnetism",
    "electrodynamics": "Electromagnetism",
    "quantum mechanics": "Quantum Mechanics",
    "wave optics": "Optics",
    "geometrical optics": "Optics",
    "atomic physics": "Atomic, Nuclear, and Particle Physics",
    "solid-state physics": "Solid State Physics and Miscellaneous Topics",
    "semiconductor physics": "Solid State Physics and Miscellaneous Topics",
}


def _id_of(row: SourceRow) -> str:
    """Return subject and index: the index counts within a subject."""
    index = row.data.get("index")
    return "" if index is None else f"{row.text('subject') or row.file.parent.name}-{index}"


def _types_of(row: SourceRow) -> list[str]:
    """Return the types of a row's answers."""
    return [each.strip() for each in row.text("answer_type").split(",") if each.strip()]


def recorded_texts(row: SourceRow) -> list[str]:
    """Return the answers of a row as texts: of one box those between commas, as many as there are types."""
    n = len(_types_of(row))
    text = row.text("answers")
    boxes = boxes_of(text)
    if len(boxes) == n:
        return boxes
    bare = bare_answer(boxes[0]) if len(boxes) == 1 else bare_answer(text)
    if not bare:
        return []
    return [bare] if n < 2 else split_at_commas(bare)


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; its answers are as many as its types.

    Raises RefusedError if they are not, or there is no answer.
    """
    types = _types_of(row)
    texts = recorded_texts(row)
    if not texts:
        raise RefusedError("no-answer")
    if len(texts) != max(len(types), 1):
        message = f"{count_of(len(types), 'type')} for {count_of(len(texts), 'answer')} in the box"
        raise RefusedError("answer-unread", message)
    if unknown := [each for each in types if each.upper() not in _KINDS]:
        raise RefusedError("not-read", f"`answer_type` {unknown[0]!r} is none of {', '.join(_KINDS)}")
    units = split_at_commas(row.text("unit")) if len(texts) > 1 else [row.text("unit")]
    units = units if len(units) == len(texts) else [row.text("unit")] * len(texts)
    kinds = [_KINDS[each.upper()] for each in types] or [AnswerKind.UNKNOWN]
    language = language_of(row.text("problem"))
    name = f"{_id_of(row)}{'-zh' if language == 'zh' else ''}"
    yield DatasetEntry(
        id=name,
        question=row.text("problem"),
        answers=tuple(
            RecordedAnswer(text, kind, unit) for text, kind, unit in zip(texts, kinds, units, strict=True)
        ),
        solution=row.text("solution"),
        domain=_SUBJECTS.get(row.text("subject").lower(), _DOMAINS.get(row.text("domain"), "")),
        metadata={"language": language, **kept(row.data, "subject", "topic", "level", "answer_type")},
    )  # fmt: skip


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield types that are none, flags that disagree with them, languages, and numbers without unit."""
    seen: dict[str, set[str]] = {}
    for row in rows:
        types = [each.upper() for each in _types_of(row)]
        name, flag = _id_of(row), row.data.get("is_multiple_answer")
        if unknown := [each for each in types if each not in _KINDS]:
            yield Finding("unknown-type", row, name, f"`answer_type` is none of {', '.join(_KINDS)}", unknown[0])
        elif isinstance(flag, bool) and types and flag != (len(types) > 1):
            message = f"`is_multiple_answer` is {flag}, and there are {len(types)} in `answer_type`"
            yield Finding("flag-disagrees", row, name, message)
        n = len(recorded_texts(row))
        if types and n != len(types):
            yield Finding(
                "fewer-answers",
                row,
                name,
                f"{count_of(n, 'answer')} for {count_of(len(types), 'type')}",
                row.text("answers"),
            )
        languages = seen.setdefault(name, set())
        mine = language_of(row.text("problem"))
        if languages and mine not in languages:
            yield Finding("both-languages", row, name, "its subject and index stand in both languages")
        languages.add(mine)


UGPHYSICS = Dataset(
    name="ugphysics",
    published="UGPhysics/ugphysics, YangLabHKUST/UGPhysics",
    licence="CC BY-NC-SA 4.0",
    is_non_commercial=True,
    globs=("data/*/*.jsonl", "en.jsonl", "zh.jsonl", "*.jsonl", "*.parquet"),
    fields={
        **fields_of("domain", "subject", "problem", "solution", "answers", "answer_type", "language", "level"),
        **fields_of("index", rule=FieldRule((int,))),
        **fields_of("topic", rule=FieldRule(may_be_empty=True)),
        **fields_of("is_multiple_answer", rule=FieldRule((bool,))),
        **fields_of("unit", rule=FieldRule((str, type(None)), is_required=False, may_be_empty=True)),
    },
    id_of=_id_of,
    read=_read,
    check=_check,
    has_languages=True,
)

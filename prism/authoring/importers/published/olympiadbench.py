"""OlympiadBench: olympiad and entrance-exam questions in English and Chinese; proofs are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from prism.authoring.importers.entries import (
    OPTIONAL,
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
from prism.authoring.importers.entry_images import named_images
from prism.authoring.importers.recorded_answers import split_at_commas

_KINDS = {
    "Numerical": AnswerKind.NUMBER,
    "Expression": AnswerKind.FORMULA,
    "Equation": AnswerKind.FORMULA,
    "Interval": AnswerKind.INTERVAL,
    "Tuple": AnswerKind.UNKNOWN,
    "Need_human_evaluate": AnswerKind.WORDS,
}
_DOMAINS = {
    "Mechanics": "Mechanics", "Electromagnetism": "Electromagnetism", "Optics": "Optics",
    "Thermodynamics": "Thermodynamics and Statistical Physics",
    "Modern Physics": "Atomic, Nuclear, and Particle Physics",
}  # fmt: skip
_OF_TABLES = ("question_type", "modality", "difficulty", "subject", "language")  # fields of the table form besides
_IMAGE = re.compile(r"<\s*(?:image|img)_(\d{1,9})\s*>", re.IGNORECASE)
_TOLERANCE = re.compile(r"\s*(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*", re.IGNORECASE)
_NAME = re.compile(
    r"(?P<kind>OE|TP)_(?P<modality>MM|TO)_(?P<subject>maths|physics)_(?P<language>en|zh)_(?P<exam>COMP|CEE)"
)


def _is_proof(row: SourceRow) -> bool:
    """Return True for a question that asks for a proof, by its file or its row."""
    name = _NAME.search(row.file.stem)
    kind = row.text("question_type").lower()
    return (name is not None and name["kind"] == "TP") or "theorem" in kind or "proof" in kind or kind == "tp"


def _undelimited(text: str) -> str:
    """Return a text of one formula, or of several between delimiters each, without dollars."""
    return text.replace("\\$", "").replace("$", "").strip()


def _answers_of(row: SourceRow) -> tuple[RecordedAnswer, ...]:
    """Return the answers of a row, each with its kind and unit; several may stand in one text."""
    listed = row.data.get("final_answer")
    texts = [str(each) for each in listed if each] if isinstance(listed, list) else []
    kinds = [each.strip() for each in row.text("answer_type").split(",") if each.strip()]
    if len(texts) == 1 and len(kinds) > 1 and row.data.get("is_multiple_answer"):
        split = split_at_commas(_undelimited(texts[0]))
        texts = split if len(split) == len(kinds) else texts
    elif len(texts) == 1 and row.data.get("is_multiple_answer") and kinds and kinds[0] == "Numerical":
        split = split_at_commas(_undelimited(texts[0]))
        texts = split if len(split) > 1 else texts
    kinds = kinds if len(kinds) == len(texts) else [kinds[0] if kinds else ""] * len(texts)
    units = split_at_commas(row.text("unit"))
    units = units if len(units) == len(texts) else [row.text("unit")] * len(texts)
    return tuple(
        RecordedAnswer(text, _KINDS.get(kind, AnswerKind.UNKNOWN), unit)
        for text, kind, unit in zip(texts, kinds, units, strict=True)
    )


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; raises RefusedError for a proof."""
    if _is_proof(row):
        raise RefusedError("proof")
    question = "\n\n".join(text for text in (row.text("context"), row.text("question")) if text)
    solutions = row.data.get("solution")
    first = solutions[0] if isinstance(solutions, list) and solutions else solutions
    marks = sorted({int(number) for number in _IMAGE.findall(question)})
    images = named_images(row.data.get("images") or [f"img_{number}.jpg" for number in marks], row.file)
    found = _NAME.search(row.file.stem)
    own = {key: found[key] for key in ("subject", "exam")} if found else {}
    yield DatasetEntry(
        question=question if row.text("question") else "",
        answers=_answers_of(row),
        solution=first if isinstance(first, str) else "",
        domain=_DOMAINS.get(row.text("subfield"), ""),
        images=images,
        needs_image=bool(marks or images),
        metadata={
            **own, "language": language_of(row.text("question")),
            **kept(row.data, "subfield", "answer_type", "difficulty"),
            **({"absolute_tolerance": str(row.data["error"])} if row.data.get("error") not in (None, "") else {}),
        },
        remarks=("the recorded absolute tolerance is kept in metadata; grades go by significant figures",)
        if row.text("error") else (),
    )  # fmt: skip


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield tolerances that are no numbers, flags that disagree, and types that nobody defines."""
    for row in rows:
        name = row.number_or_text("id")
        tolerances = row.text("error").split(",") if row.text("error") else []
        if any(each.strip() and not _TOLERANCE.fullmatch(each) for each in tolerances):
            yield Finding("tolerance-unread", row, name, "`error` is no tolerance", row.text("error"))
        kinds = [each.strip() for each in row.text("answer_type").split(",") if each.strip()]
        if unknown := [each for each in kinds if each not in _KINDS]:
            yield Finding("unknown-type", row, name, f"`answer_type` is none of {', '.join(_KINDS)}", unknown[0])
        n = len(_answers_of(row))
        if isinstance(row.data.get("is_multiple_answer"), bool) and n and row.data["is_multiple_answer"] != (n > 1):
            message = f"`is_multiple_answer` is {row.data['is_multiple_answer']}, and there are {n} answers"
            yield Finding("flag-disagrees", row, name, message)


OLYMPIADBENCH = Dataset(
    name="olympiadbench",
    published="OpenBMB/OlympiadBench, Hothan/OlympiadBench",
    licence="MIT by its code repository",
    globs=("data/*_physics_*.json", "*_physics_*.json", "*.json", "*.parquet"),
    fields={
        **fields_of("question", "subfield"),
        **fields_of(*_OF_TABLES, rule=OPTIONAL),
        **fields_of("id", rule=FieldRule((int,))),
        **fields_of("solution", rule=FieldRule((list,))),
        **fields_of("final_answer", rule=FieldRule((list,), may_be_empty=True)),
        **fields_of("is_multiple_answer", rule=FieldRule((bool,))),
        **fields_of("answer_type", rule=FieldRule((str, type(None)), may_be_empty=True)),
        **fields_of("images", rule=FieldRule((list,), is_required=False, may_be_empty=True)),
        **fields_of(
            "context", "unit", "error", rule=FieldRule((str, type(None)), is_required=False, may_be_empty=True)
        ),
    },
    read=_read,
    check=_check,
    has_languages=True,
)

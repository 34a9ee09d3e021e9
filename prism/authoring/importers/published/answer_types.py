r"""OlympiadBench and UGPhysics: exercises in English and Chinese, whose answers share a text and have a type each.

Of OlympiadBench proofs are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from prism.authoring.importers.entries import (
    AnswerKind,
    DatasetEntry,
    Finding,
    RecordedAnswer,
    RefusedError,
    SourceRow,
    language_of,
)
from prism.authoring.importers.entry_images import named_images
from prism.authoring.importers.layouts import described, entry_of, metadata_of, types_of, unknown_types
from prism.authoring.importers.recorded_answers import bare_answer, listed_answers, split_at_commas
from prism.errors import count_of
from prism.problem.answers.worded import boxes_of

# OlympiadBench ------------------------------------------------------------------------------------------------------

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
    kinds = types_of(row)
    if len(texts) == 1 and len(kinds) > 1 and row.data.get("is_multiple_answer"):
        split = split_at_commas(_undelimited(texts[0]))
        texts = split if len(split) == len(kinds) else texts
    elif len(texts) == 1 and row.data.get("is_multiple_answer") and kinds and kinds[0] == "Numerical":
        split = split_at_commas(_undelimited(texts[0]))
        texts = split if len(split) > 1 else texts
    kinds = kinds if len(kinds) == len(texts) else [kinds[0] if kinds else ""] * len(texts)
    read = [OLYMPIADBENCH.kinds.get(kind, AnswerKind.UNKNOWN) for kind in kinds]
    return listed_answers(texts, read, row.text("unit"))


def _read_olympiadbench(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; raises RefusedError for a proof."""
    if _is_proof(row):
        raise RefusedError("proof")
    solutions = row.data.get("solution")
    first = solutions[0] if isinstance(solutions, list) and solutions else solutions
    marks = sorted({int(number) for number in _IMAGE.findall(f"{row.text('context')} {row.text('question')}")})
    images = named_images(row.data.get("images") or [f"img_{number}.jpg" for number in marks], row.file)
    found = _NAME.search(row.file.stem)
    own = {key: found[key] for key in ("subject", "exam")} if found else {}
    tolerance = row.data.get("error")
    kept = {"absolute_tolerance": str(tolerance)} if tolerance not in (None, "") else {}
    yield entry_of(
        OLYMPIADBENCH, row, _answers_of(row), solution=first if isinstance(first, str) else "", images=images,
        needs_image=bool(marks or images), metadata={**own, **metadata_of(OLYMPIADBENCH, row), **kept},
        remarks=("the recorded absolute tolerance is kept in metadata; grades go by significant figures",)
        if row.text("error") else (),
    )  # fmt: skip


def _check_olympiadbench(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield tolerances that are no numbers, flags that disagree, and types that nobody defines."""
    for row in rows:
        name = row.number_or_text("id")
        tolerances = row.text("error").split(",") if row.text("error") else []
        if any(each.strip() and not _TOLERANCE.fullmatch(each) for each in tolerances):
            yield Finding("tolerance-unread", row, name, "`error` is no tolerance", row.text("error"))
        yield from unknown_types(OLYMPIADBENCH, row, name, "answer_type", types_of(row))
        n = len(_answers_of(row))
        if isinstance(row.data.get("is_multiple_answer"), bool) and n and row.data["is_multiple_answer"] != (n > 1):
            message = f"`is_multiple_answer` is {row.data['is_multiple_answer']}, and there are {n} answers"
            yield Finding("flag-disagrees", row, name, message)


OLYMPIADBENCH = described("olympiadbench", _read_olympiadbench, check=_check_olympiadbench)

# UGPhysics ----------------------------------------------------------------------------------------------------------


def _ugphysics_id(row: SourceRow) -> str:
    """Return subject and index: the index counts within a subject."""
    index = row.data.get("index")
    return "" if index is None else f"{row.text('subject') or row.file.parent.name}-{index}"


def recorded_texts(row: SourceRow) -> list[str]:
    """Return the answers of a row as texts: of one box those between commas, as many as there are types."""
    n = len(types_of(row))
    text = row.text("answers")
    boxes = boxes_of(text)
    if len(boxes) == n:
        return boxes
    bare = bare_answer(boxes[0]) if len(boxes) == 1 else bare_answer(text)
    if not bare:
        return []
    return [bare] if n < 2 else split_at_commas(bare)


def _read_ugphysics(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; its answers are as many as its types.

    Raises RefusedError if they are not, or there is no answer.
    """
    types = types_of(row)
    texts = recorded_texts(row)
    if not texts:
        raise RefusedError("no-answer")
    if len(texts) != max(len(types), 1):
        message = f"{count_of(len(types), 'type')} for {count_of(len(texts), 'answer')} in the box"
        raise RefusedError("answer-unread", message)
    if unknown := [each for each in types if each.upper() not in UGPHYSICS.kinds]:
        raise RefusedError("not-read", f"`answer_type` {unknown[0]!r} is none of {', '.join(UGPHYSICS.kinds)}")
    kinds = [UGPHYSICS.kinds[each.upper()] for each in types] or [AnswerKind.UNKNOWN]
    name = f"{_ugphysics_id(row)}{'-zh' if language_of(row.text('problem')) == 'zh' else ''}"
    yield entry_of(UGPHYSICS, row, listed_answers(texts, kinds, row.text("unit")), id=name)


def _check_ugphysics(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield types that are none, flags that disagree with them, languages, and numbers without unit."""
    seen: dict[str, set[str]] = {}
    for row in rows:
        types = [each.upper() for each in types_of(row)]
        name, flag = _ugphysics_id(row), row.data.get("is_multiple_answer")
        unknown = list(unknown_types(UGPHYSICS, row, name, "answer_type", types))
        yield from unknown
        if not unknown and isinstance(flag, bool) and types and flag != (len(types) > 1):
            message = f"`is_multiple_answer` is {flag}, and there are {len(types)} in `answer_type`"
            yield Finding("flag-disagrees", row, name, message)
        n = len(recorded_texts(row))
        if types and n != len(types):
            message = f"{count_of(n, 'answer')} for {count_of(len(types), 'type')}"
            yield Finding("fewer-answers", row, name, message, row.text("answers"))
        languages = seen.setdefault(name, set())
        mine = language_of(row.text("problem"))
        if languages and mine not in languages:
            yield Finding("both-languages", row, name, "its subject and index stand in both languages")
        languages.add(mine)


UGPHYSICS = described("ugphysics", _read_ugphysics, id_of=_ugphysics_id, check=_check_ugphysics)

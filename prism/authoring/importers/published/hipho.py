"""HiPhO: olympiad problems with official marking, in which each sentence of a scheme says what it pays for.

The first scheme makes the DAG; further ones are other ways to solve the problem and stay in the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from prism.authoring.importers.entries import AnswerKind, DatasetEntry, Finding, RecordedAnswer, SourceRow
from prism.authoring.importers.layouts import described, entry_of
from prism.errors import count_of

_AWARD = re.compile(r"[Aa]ward\s+(?:a\s+total\s+of\s+)?(\d+(?:\.\d+)?)\s*-?\s*(?:pts?|points?)\b|(\d+(?:\.\d+)?)\s*分")
_TEXT_ONLY = "text-only"
_CLOSE = Fraction(1, 100)  # points by which a sum may miss for rounding


def _is_information(row: SourceRow) -> bool:
    """Return True for the first element of an exam's list, which is its data sheet and no problem."""
    return "information" in row.data and "question" not in row.data and "id" not in row.data


def schemes_of(row: SourceRow) -> list[list[Any]]:
    """Return the marking schemes of a row, each a list of sentences; empty if it has none."""
    marking = row.data.get("marking")
    if not isinstance(marking, list):
        return []
    schemes = marking if all(isinstance(each, list) for each in marking) else [marking]
    return [scheme for scheme in schemes if scheme]


def _listed(value: Any) -> list[Any]:
    """Return a value that may be a list as one; None is empty."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _text_at(values: list[Any], k: int) -> str:
    """Return the k-th value as text; empty if there is none."""
    return str(values[k]) if k < len(values) and values[k] is not None else ""


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row, with its schemes; nothing for the data sheet of an exam."""
    if _is_information(row):
        return
    answers, types = _listed(row.data.get("answer")), _listed(row.data.get("answer_type"))
    units, points = _listed(row.data.get("unit")), _listed(row.data.get("points"))
    schemes = schemes_of(row)
    recorded = (
        RecordedAnswer(str(text), HIPHO.kinds.get(_text_at(types, k), AnswerKind.UNKNOWN), _text_at(units, k))
        for k, text in enumerate(answers)
        if text is not None
    )
    yield entry_of(
        HIPHO, row, recorded, marking=tuple(schemes), needs_image=row.text("modality") not in ("", _TEXT_ONLY),
        remarks=tuple(_remarks_on(schemes, points, units, answers)),
    )  # fmt: skip


def _remarks_on(schemes: list[Any], points: list[Any], units: list[Any], answers: list[Any]) -> Iterator[str]:
    """Yield what a person should know of a row: points without a scheme, answers for which no unit is recorded."""
    if not schemes and points:
        yield "its points are of answers, not of the scheme"
    if units and len(units) < len(answers):
        yield f"{count_of(len(units), 'unit')} for {len(answers)} answers: the last have none"


def awarded(sentence: str) -> Fraction:
    """Return the points that a sentence of a scheme awards; 0 if it says none.

    >>> [str(awarded(text)) for text in ("Award 0.3 pt if ... Otherwise, award 0 pt.", "则得 2 分。否则得 0 分。", "-")]
    ['3/10', '2', '0']
    """
    found = _AWARD.search(sentence)
    return Fraction(found[1] or found[2]) if found else Fraction(0)


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield schemes that do not add up, and lists that are shorter than the answers or lack the box."""
    for row in rows:
        if _is_information(row):
            continue
        name = row.text("id")
        answers = _listed(row.data.get("answer"))
        units = _listed(row.data.get("unit"))
        if units and len(units) < len(answers):
            yield Finding("shorter-list", row, name, f"{len(units)} units for {len(answers)} answers")
        if unboxed := [str(each) for each in answers if "\\boxed" not in str(each)]:
            yield Finding("no-box", row, name, "an answer stands in no box", unboxed[0])
        if odd := [each for scheme in schemes_of(row) for each in scheme if not isinstance(each, str)]:
            yield Finding("wrong-type", row, name, "an entry of `marking` is no text", str(odd[0]))
        if odd := [each for each in _listed(row.data.get("points")) if type(each) not in (int, float)]:
            yield Finding("wrong-type", row, name, "an entry of `points` is no number", str(odd[0]))
        yield from _check_points(row)


def _check_points(row: SourceRow) -> Iterator[Finding]:
    """Yield a row none of whose schemes adds up to its points."""
    schemes = schemes_of(row)
    given = [each for each in _listed(row.data.get("points")) if isinstance(each, int | float)]
    if not schemes or not given:
        return
    wanted = sum((Fraction(str(each)) for each in given), Fraction(0))
    totals = [sum((awarded(str(each)) for each in scheme), Fraction(0)) for scheme in schemes]
    if all(abs(total - wanted) > _CLOSE for total in totals):
        shown = ", ".join(str(float(total)) for total in totals)
        message = f"the schemes add up to {shown}, not {float(wanted)}"
        yield Finding("points-do-not-add-up", row, row.text("id"), message)


HIPHO = described("hipho", _read, check=_check)

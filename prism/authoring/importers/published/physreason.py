"""PhysReason: problems in parts, whose steps have result quantities with a value and an equation each.

Equations and values become nodes; what follows from what is decided by the rules of drafting, since the order of the
steps is no dependency. A quantity that has neither is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from prism.authoring.importers.entries import (
    DatasetEntry,
    Finding,
    QuestionPart,
    RecordedAnswer,
    RefusedError,
    SourceRow,
    StatedStep,
)
from prism.authoring.importers.layouts import described, entry_of
from prism.authoring.importers.recorded_answers import bare_answer, spelled_quantity

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PART = re.compile(r"sub_question_(\d{1,2})")
_STEP = re.compile(r"step_(\d{1,3})")
_NONE = frozenset(("", "n/a", "none", "null"))


def _id_of(row: SourceRow) -> str:
    """Return the problem's id, or the name of its folder, where each problem has one."""
    for name in ("id", "problem_id"):
        if row.data.get(name) not in (None, ""):
            return str(row.data[name])
    return row.file.parent.name if row.file.stem == "problem" else f"{row.file.stem}-{row.number}"


def _numbered(table: Any, pattern: re.Pattern[str]) -> list[tuple[int, Any]]:
    """Return the entries of a table whose keys a pattern numbers, by number."""
    if not isinstance(table, Mapping):
        return []
    found = [(int(match[1]), value) for key, value in table.items() if (match := pattern.fullmatch(str(key)))]
    return sorted(found, key=lambda each: each[0])


def _text_of(value: Any) -> str:
    """Return a cell as text; empty for `N/A`."""
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return "" if text.lower() in _NONE else text


def _quantities(value: Any) -> list[Mapping[str, Any]]:
    """Return the result quantities of a step."""
    listed = value.get("result_quantity") if isinstance(value, Mapping) else None
    listed = [listed] if isinstance(listed, Mapping) else listed
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []


def _statements(quantity: Mapping[str, Any]) -> Iterator[str]:
    """Yield the equation of a quantity, and its value as `name = value`."""
    equation = bare_answer(_text_of(quantity.get("equation")))
    value = bare_answer(_text_of(quantity.get("value")))
    name = bare_answer(_text_of(quantity.get("symbol")) or _text_of(quantity.get("name")))
    if equation and "=" in equation:
        yield equation
        left = equation.partition("=")[0].strip()
        name = name if re.fullmatch(r"\\?[A-Za-z]+(?:_(?:\w|\{[^{}]*\}))?", name) and len(name) < 12 else left
    if value:
        left, _, number = value.rpartition("=")
        left = left.strip() or name
        if left:
            yield f"{left} = {spelled_quantity(number) or number.strip()}"


def _part_of_step(row: SourceRow) -> dict[int, int]:
    """Return the number of the part of each step, as the explanations group them; steps count on through the parts."""
    parts = _numbered(row.data.get("explanation_steps"), _PART)
    return {step: part for part, steps in parts for step, _ in _numbered(steps, _STEP)}


def _read(row: SourceRow) -> Iterable[DatasetEntry]:
    """Yield the problem of a row; raises RefusedError without a table of the question."""
    structure = row.data.get("question_structure")
    if not isinstance(structure, Mapping):
        raise RefusedError("no-question", "`question_structure` is no table")
    asked = _numbered(structure, _PART)
    listed = row.data.get("answer")
    answers = [_text_of(each) for each in listed] if isinstance(listed, list) else [_text_of(listed)]
    letters = {number: _LETTERS[k % 26] for k, (number, _) in enumerate(asked)} if len(asked) > 1 else {}
    parts = _part_of_step(row)
    steps = tuple(
        StatedStep(latex, letters.get(parts.get(number, 0), ""))
        for number, step in _numbered(row.data.get("steps_analysis"), _STEP)
        for quantity in _quantities(step)
        for latex in _statements(quantity)
    )
    context = _text_of(structure.get("context"))
    texts = [_text_of(text) for _, text in asked]
    yield entry_of(
        PHYSREASON, row,
        (RecordedAnswer(text, letter=_LETTERS[k % 26] if letters else "") for k, text in enumerate(answers)),
        question="\n\n".join(filter(None, (context, *(texts if len(asked) < 2 else ())))), steps=steps,
        parts=tuple(QuestionPart(letters[number], _text_of(text)) for number, text in asked if number in letters),
    )  # fmt: skip


def _check(rows: Sequence[SourceRow]) -> Iterator[Finding]:
    """Yield problems with fewer answers than parts, and steps that state nothing."""
    for row in rows:
        asked = _numbered(row.data.get("question_structure"), _PART)
        answers = row.data.get("answer")
        n = len(answers) if isinstance(answers, list) else 1
        if len(asked) > n:
            yield Finding("fewer-answers", row, _id_of(row), f"{n} answers for {len(asked)} parts")
        for number, step in _numbered(row.data.get("steps_analysis"), _STEP):
            if not any(True for quantity in _quantities(step) for _ in _statements(quantity)):
                yield Finding("step-without-number", row, _id_of(row), f"step {number} has neither value nor equation")


PHYSREASON = described("physreason", _read, id_of=_id_of, check=_check)

"""Rows of a question and its answer, as most files of the field are: JSON Lines, JSON, CSV or Parquet, under any names.

The usual names of a field are known (`FIELDS`); who has others names them. An answer behind the `####` of a worked
solution, and one that only the last box of the solution gives, are read where they stand, and the problem says so.

Refused: guessing a field by what it holds. A column of hints read as answers would be graded by without a word.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from prism.authoring.importers.catalogue import DATASETS
from prism.authoring.importers.entries import Dataset, DatasetEntry, FieldRule, RefusedError, SourceRow
from prism.authoring.importers.entry_problems import unknown_answers
from prism.authoring.importers.rows import SUFFIXES, read_rows
from prism.errors import DataFileError, raise_faults
from prism.inputs import did_you_mean, shown
from prism.latex import extract
from prism.problem.source import NODE_LISTS

FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "problem_id", "question_id", "qid", "uid"),
    "question": ("question", "problem", "prompt", "query"),
    "answer": ("answer", "gold", "final_answer", "ground_truth", "gold_answer", "expected_answer", "reference_answer"),
    "solution": ("solution", "reference_solution", "worked_solution", "gold_solution"),
    "unit": ("unit",),
}
"""What is read of a row, by the names that its fields may have; the first that a row has counts."""

_IMAGES = ("image", "images", "img", "figure")
_SHOWN_FIELDS = 12
_LEAST_FIELDS = 4  # by which a published data set is known; fewer are anybody's
_MARK = "####"  # before the answer at the end of a worked solution, as GSM8K writes it
_ELSEWHERE = (*NODE_LISTS, "marking")  # of a problem and of a marking scheme


@dataclass(frozen=True, slots=True)
class QuestionRows:
    """How the rows of a file are read.

    Attributes:
        dataset: as those of a data set of its name.
        fields: from which fields each of `FIELDS` is read.
        like: the published data set that has all these fields; empty if none has.
    """

    dataset: Dataset
    fields: Mapping[str, tuple[str, ...]]
    like: str = ""

    def __str__(self) -> str:
        """Return in words what is read from where: `question from prompt, answer from gold`."""
        return ", ".join(f"{name} from {' or '.join(fields)}" for name, fields in self.fields.items())


def question_rows(path: Path, mapped: Mapping[str, str]) -> QuestionRows | None:
    """Return how the rows of a file are read, if they are questions with answers or solutions; else None.

    Args:
        mapped: names of fields, by the keys of `FIELDS`; then the rows are questions, or that is an error.

    Errors:
        PrismError: keys of `mapped` that are none of `FIELDS`; fields that no row has.
        DataFileError: with `mapped`, a file that cannot be read.
    """
    raise_faults(
        f"{name} is none of {', '.join(FIELDS)}{did_you_mean(name, FIELDS)}" for name in mapped if name not in FIELDS
    )
    names = {**FIELDS, **{name: (field,) for name, field in mapped.items()}}
    dataset = _dataset(path.name, names)
    try:
        rows = read_rows(path, dataset) if path.suffix in SUFFIXES or mapped else []
    except DataFileError:
        if mapped:
            raise
        return None  # whose reader of problems and schemes says why
    tables = [row.data for row in rows if not row.fault]
    there = list(dict.fromkeys(str(field) for data in tables for field in data))
    raise_faults(
        f"no row has the field {shown(field)}{did_you_mean(field, there)}; the fields are {named_fields(there)}"
        for field in mapped.values() if field not in there
    )  # fmt: skip
    if not mapped and not (tables and _is_question(tables[0])):
        return None
    used = {
        name: tuple(field for field in fields if any(_is_filled(data.get(field)) for data in tables))
        for name, fields in names.items()
    }
    like = next((each.name for each in DATASETS if _has_fields_of(each, there)), "")
    return QuestionRows(dataset, {name: fields for name, fields in used.items() if fields}, like)


def _has_fields_of(dataset: Dataset, there: Collection[str]) -> bool:
    """Return True if rows have all fields that those of a published data set must have, and these are not a few."""
    needed = [name for name, rule in dataset.fields.items() if rule.is_required]
    return len(needed) >= _LEAST_FIELDS and set(needed) <= set(there)


def named_fields(fields: Iterable[str]) -> str:
    """Return the names of fields for a message; of many the first."""
    names = list(fields)
    more = f" and {len(names) - _SHOWN_FIELDS} more" if len(names) > _SHOWN_FIELDS else ""
    return f"{', '.join(names[:_SHOWN_FIELDS]) or 'none'}{more}"


def _is_question(data: Mapping[str, Any]) -> bool:
    """Return True if a table asks something and holds its answer or its solution, and is no problem and no scheme."""
    if any(data.get(name) is not None for name in _ELSEWHERE):
        return False
    has = {name: any(_is_filled(data.get(field)) for field in FIELDS[name]) for name in FIELDS}
    return has["question"] and (has["answer"] or has["solution"])


def _is_filled(value: object) -> bool:
    """Return True if a field holds anything."""
    return value is not None and value != "" and value != []


def _dataset(name: str, names: Mapping[str, tuple[str, ...]]) -> Dataset:
    """Return the rows of a file as those of a data set of its name."""
    return Dataset(
        name=name, fields={"question": FieldRule(), "answer": FieldRule()},
        id_of=partial(_id_of, names=names["id"]), read=partial(_read, names=names),
    )  # fmt: skip


def _id_of(row: SourceRow, names: Sequence[str]) -> str:
    """Return the first of some fields that a row has, as text; empty if that is neither text nor number."""
    value = next((row.data[name] for name in names if _is_filled(row.data.get(name))), "")
    return str(value).strip() if isinstance(value, str | int | float) else ""


def _text_of(row: SourceRow, names: Sequence[str]) -> str:
    """Return the first of some fields that a row has, a number or a list of texts too, as text; empty if it has none.

    Errors:
        RefusedError: it holds anything else.
    """
    value: Any = next((row.data[name] for name in names if _is_filled(row.data.get(name))), "")
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str | int | float) for each in texts):
        raise RefusedError("not-read", f"{shown(value)} is no text")
    return "\n\n".join(str(each).strip() for each in texts)


def _read(row: SourceRow, names: Mapping[str, tuple[str, ...]]) -> Iterable[DatasetEntry]:
    """Yield the problem of a row.

    Errors:
        RefusedError: an answer that is neither text nor number, nor a list of these.
    """
    remarks: list[str] = []
    answers, solution = _answers(row, names), _text_of(row, names["solution"])
    if len(answers) == 1 and _MARK in answers[0]:
        before, _, answer = answers[0].rpartition(_MARK)
        answers, solution = [answer.strip()], solution or before.strip()
        remarks.append(f"its answer is what stands behind {_MARK}")
    if not answers and (boxes := [item.latex for item in extract(solution) if item.kind == "boxed"]):
        answers = [boxes[-1]]
        remarks.append("it has no answer; that is what the last box of its solution holds")
    if any(_is_filled(row.data.get(name)) for name in _IMAGES):
        remarks.append("its image is not read")
    used = {name for fields in names.values() for name in fields}
    others = {str(key): value for key, value in row.data.items() if key not in used and _is_kept(value)}
    yield DatasetEntry(
        id="", question=_text_of(row, names["question"]),
        answers=unknown_answers(answers, _text_of(row, names["unit"])), solution=solution,
        metadata={"fields": others} if others else {}, remarks=tuple(remarks),
    )  # fmt: skip


def _answers(row: SourceRow, names: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the answers of a row as texts, a list of them in order.

    Errors:
        RefusedError: one that is neither text nor number.
    """
    value: Any = next((row.data[name] for name in names["answer"] if _is_filled(row.data.get(name))), [])
    texts = []
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise RefusedError("answer-unread", f"{shown(each)} is neither text nor number")
        texts.append(str(each).strip())
    return [text for text in texts if text]


def _is_kept(value: object) -> bool:
    """Return True for a value that a problem file can hold beside the problem: no table and no list."""
    return _is_filled(value) and isinstance(value, str | int | float)

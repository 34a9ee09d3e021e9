r"""Rollouts: solutions in the files of others, read one at a time in whatever shape they have.

A record is found in JSON Lines, JSON, CSV or Parquet, or is a text file of its own; which of its fields hold the
solution and the problem's id is detected from the first record, or said by a map. A file is gone through once before
anything is graded, so that its author hears of all its faults at once; then it is read again, a record at a time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prism.errors import DataFileError, PrismError
from prism.latex import Solution, solution_text
from prism.runs.records import ABSENT, Keys, at_path, fields_told, id_of, mapped, records

SOLUTION_FIELDS = (
    "response", "completion", "completions", "responses", "model_response", "response.body.choices.0.message.content",
    "output", "outputs", "generated_text", "generation", "prediction", "resps.0", "messages", "text", "solution",
    "answer",
)  # fmt: skip
"""Where a solution is looked for, in this order: `answer` and `solution` are often the reference's."""

PROBLEM_FIELDS = ("problem_id", "problem", "task_id", "question_id", "doc_id", "custom_id", "id", "doc.id")
SAMPLE_FIELDS = ("sample_id", "rollout_id", "completion_id", "uid", "custom_id", "id")
MAPPED = ("response", "problem_id", "sample_id")  # what a map may name
KEPT = ("model",)  # fields that are kept beside a grade wherever they stand

_SHOWN_FAULTS = 20  # of a file; the rest is counted
_SHOWN_ID = 60  # characters


@dataclass(frozen=True, slots=True)
class Rollout:
    """One solution to grade.

    Attributes:
        problem_id: of a problem in the set.
        solution: text, chat messages or steps.
        sample_id: what tells it from others; the number of its record where the input gives none.
        meta: further fields of its record, kept beside the grade.
    """

    problem_id: str
    solution: Solution
    sample_id: str
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Fields:
    """Where records keep what is needed, as paths of keys; a whole number counts in a list.

    Attributes:
        solution: the solution, or a list of several.
        problem_id: None where all are of one problem.
        sample_id: None where they have none.
        keep: further fields, by name.
    """

    solution: Keys
    problem_id: Keys | None = None
    sample_id: Keys | None = None
    keep: tuple[str, ...] = KEPT


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the first pass over an input says: how many rollouts it holds, and where its records keep things."""

    n: int
    fields: Fields


# Fields. --------------------------------------------------------------------------------------------------------


def fields_of(
    record: Mapping[str, Any], mapping: Mapping[str, str], keep: Collection[str], problem_ids: Collection[str]
) -> Fields:
    """Where a record keeps its solution and ids: as the map says, else at the first usual place that it has.

    Errors:
        PrismError: nothing is found, or the map names what is no field of a rollout.

    >>> fields_of({"doc": {"id": 3}, "answer": "v = at"}, {"problem_id": "doc.id"}, (), ("3", "4"))
    Fields(solution=('answer',), problem_id=('doc', 'id'), sample_id=None, keep=())
    """
    named = mapped(mapping, MAPPED)
    solution = named.get("response") or _first(record, SOLUTION_FIELDS, _may_be_solution)
    if solution is None:
        raise PrismError(f"no solution among the fields {fields_told(record)}; say `--map response=FIELD`")
    ids = frozenset(problem_ids)
    problem_id = named.get("problem_id") or _first(record, PROBLEM_FIELDS, lambda value: id_of(value) in ids)
    if problem_id is None:
        problem_id = _first(record, PROBLEM_FIELDS, lambda value: id_of(value) is not None)
    if problem_id is None and len(ids) != 1:
        raise PrismError(f"no problem id among the fields {fields_told(record)}; say `--map problem_id=FIELD`")
    if "problem_id" not in named and len(ids) == 1 and problem_id is not None:
        problem_id = problem_id if id_of(at_path(record, problem_id)) in ids else None  # another id: all are of the one
    taken = (solution, problem_id)
    sample_id = named.get("sample_id") or _first(
        record, [name for name in SAMPLE_FIELDS if (name,) not in taken], lambda value: id_of(value) is not None
    )
    return Fields(solution, problem_id, sample_id, tuple(keep))


def _first(record: Mapping[str, Any], names: Collection[str], is_fit: Any) -> Keys | None:
    for name in names:
        path = tuple(name.split("."))
        value = at_path(record, path)
        if value is not ABSENT and is_fit(value):
            return path
    return None


def _may_be_solution(value: Any) -> bool:
    return value is None or isinstance(value, (str, list))


# Rollouts. ------------------------------------------------------------------------------------------------------


def scan(
    source: Path,
    problem_ids: Collection[str],
    *,
    mapping: Mapping[str, str] | None = None,
    keep: Collection[str] = KEPT,
) -> Scanned:
    """Go through an input once: how many rollouts, and in which fields.

    Errors:
        DataFileError: a file that is not what its ending says, records without solution or with unknown problems; of
            many the first twenty are told.
    """
    n = 0
    fields: Fields | None = None
    faults: list[str] = []
    for at, record in enumerate(records(source)):
        place = f"record {at + 1}"
        if fields is None:
            try:
                fields = fields_of(record.data, mapping or {}, keep, problem_ids)
            except PrismError as error:
                raise DataFileError(record.file, (f"{place}: {error}",)) from error
        for one in _solutions_of(record.data, fields):
            n += 1
            if fault := _fault(record.data, one, fields, problem_ids):
                where = place if record.file == str(source) else f"{record.file}: {place}"
                faults.append(f"{where}: {fault}")
    if faults:
        more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        raise DataFileError(str(source), (*faults[:_SHOWN_FAULTS], *more))
    if fields is None:
        raise DataFileError(str(source), ("no rollouts",))
    return Scanned(n, fields)


def read(source: Path, fields: Fields, problem_ids: Collection[str]) -> Iterator[Rollout]:
    """The rollouts of an input that `scan` has found to be sound, in its order."""
    for at, record in enumerate(records(source)):
        yield from _of_record(record.data, fields, problem_ids, str(at + 1))


def rollouts_of(
    records: Iterator[Rollout | Mapping[str, Any]], problem_ids: Collection[str], keep: Collection[str] = KEPT
) -> Iterator[Rollout]:
    """Rollouts of values: each is one already, or a record with the usual fields.

    Errors:
        PrismError: a record without solution, or of an unknown problem; raised where it is reached.
    """
    for at, record in enumerate(records):
        if isinstance(record, Rollout):
            if record.problem_id not in problem_ids:
                raise PrismError(f'rollout {at + 1}: no problem has the id "{_shown(record.problem_id)}"')
            yield record
            continue
        if not isinstance(record, Mapping):
            raise PrismError(f"rollout {at + 1}: found {type(record).__name__}; expected a Rollout or a mapping")
        try:
            fields = fields_of(record, {}, keep, problem_ids)
        except PrismError as error:
            raise PrismError(f"rollout {at + 1}: {error}") from error
        for one in _solutions_of(record, fields):
            if fault := _fault(record, one, fields, problem_ids):
                raise PrismError(f"rollout {at + 1}: {fault}")
        yield from _of_record(record, fields, problem_ids, str(at + 1))


def _of_record(
    record: Mapping[str, Any], fields: Fields, problem_ids: Collection[str], number: str
) -> Iterator[Rollout]:
    problem_id = id_of(at_path(record, fields.problem_id)) if fields.problem_id else next(iter(problem_ids))
    given = id_of(at_path(record, fields.sample_id)) if fields.sample_id else None
    sample_id = number if given is None else given
    solutions = _solutions_of(record, fields)
    kept = {name: at_path(record, tuple(name.split("."))) for name in fields.keep}
    meta = {name: _plain(value) for name, value in kept.items() if value is not ABSENT}
    for k, solution in enumerate(solutions):
        own = sample_id if len(solutions) == 1 else f"{sample_id}/{k + 1}"
        yield Rollout(problem_id or "", "" if solution is None else solution, own, meta)


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates of a Parquet file and numbers that are none become text."""
    return json.loads(json.dumps(value, default=str), parse_constant=str)


def _solutions_of(record: Mapping[str, Any], fields: Fields) -> list[Any]:
    """The solutions of a record: of a field whose name is a plural a list holds several, else it is one."""
    value = at_path(record, fields.solution)
    is_plural = fields.solution[-1] in ("completions", "responses", "outputs") or fields.solution == ("resps", "0")
    return list(value) if is_plural and isinstance(value, list) else [value]


def _fault(record: Mapping[str, Any], solution: Any, fields: Fields, problem_ids: Collection[str]) -> str:
    """What is wrong with one rollout of a record; empty if nothing is."""
    if solution is ABSENT:
        return f"no field {'.'.join(fields.solution)}"
    try:
        if solution is not None:
            solution_text(solution)
    except PrismError as error:
        return str(error)
    if fields.problem_id is None:
        return ""
    problem_id = id_of(at_path(record, fields.problem_id))
    if problem_id is None:
        return f"no problem id in the field {'.'.join(fields.problem_id)}"
    return "" if problem_id in problem_ids else f'no problem has the id "{_shown(problem_id)}"'


def _shown(problem_id: str) -> str:
    """An id for a message: what was taken for one may be a whole statement."""
    return problem_id if len(problem_id) <= _SHOWN_ID else problem_id[: _SHOWN_ID - 3] + "..."

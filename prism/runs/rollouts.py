r"""Rollouts: model solutions read one at a time from files in many shapes.

A record comes from JSON Lines, JSON, CSV or Parquet, or is a text file of its own; which of its fields hold the
solution and the problem's id is detected from the first record, or given by a map. `scan` goes through a file before
anything is graded and reports all its faults at once; then `read` yields its rollouts one by one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prism.errors import DataFileError, PrismError
from prism.latex import Solution, solution_text
from prism.runs.records import ABSENT, Keys, at_path, field_names, id_of, parse_mapping, read_records

SOLUTION_FIELDS = (
    "response", "completion", "completions", "responses", "model_response", "response.body.choices.0.message.content",
    "output", "outputs", "generated_text", "generation", "prediction", "resps.0", "messages", "text", "solution",
    "answer",
)  # fmt: skip
"""Fields in which a solution is looked for, in this order; `answer` and `solution` often hold the reference instead."""

PROBLEM_FIELDS = ("problem_id", "problem", "task_id", "question_id", "doc_id", "custom_id", "id", "doc.id")
SAMPLE_FIELDS = ("sample_id", "rollout_id", "completion_id", "uid", "custom_id", "id")
MAPPED = ("response", "problem_id", "sample_id")  # names that `--map` accepts
KEPT = ("model",)  # record fields that are copied into every score row's `meta`

_SHOWN_FAULTS = 20  # of a file; the rest is counted
_SHOWN_ID = 60  # characters


@dataclass(frozen=True, slots=True)
class Rollout:
    """One solution to grade, with the ids of its problem and sample.

    Attributes:
        problem_id: of a problem in the set.
        solution: text, chat messages or steps.
        sample_id: identifies the sample; the number of its record where the input gives none.
        meta: further fields of its record, copied into the score row.
    """

    problem_id: str
    solution: Solution
    sample_id: str
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Fields:
    """Where a record holds its solution and ids: paths of keys, in which a whole number is a list index.

    Attributes:
        solution: the solution, or a list of several.
        problem_id: None if the problem set has one problem only.
        sample_id: None if records have no such field.
        keep: names of further fields to copy.
    """

    solution: Keys
    problem_id: Keys | None = None
    sample_id: Keys | None = None
    keep: tuple[str, ...] = KEPT


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of `scan`: the number of rollouts in an input, and the fields of its records."""

    n: int
    fields: Fields


# Fields. --------------------------------------------------------------------------------------------------------


def fields_of(
    record: Mapping[str, Any], mapping: Mapping[str, str], keep: Collection[str], problem_ids: Collection[str]
) -> Fields:
    """Find the fields of a record that hold solution and ids: those of the map, else the first usual name present.

    Errors:
        PrismError: no field with a solution or problem id, or a map with an unknown name.

    >>> fields_of({"doc": {"id": 3}, "answer": "v = at"}, {"problem_id": "doc.id"}, (), ("3", "4"))
    Fields(solution=('answer',), problem_id=('doc', 'id'), sample_id=None, keep=())
    """
    named = parse_mapping(mapping, MAPPED)
    solution = named.get("response") or _first_fitting_path(record, SOLUTION_FIELDS, _may_be_solution)
    if solution is None:
        raise PrismError(f"no solution among the fields {field_names(record)}; say `--map response=FIELD`")
    ids = frozenset(problem_ids)
    problem_id = named.get("problem_id") or _first_fitting_path(
        record, PROBLEM_FIELDS, lambda value: id_of(value) in ids
    )
    if problem_id is None:
        problem_id = _first_fitting_path(record, PROBLEM_FIELDS, lambda value: id_of(value) is not None)
    if problem_id is None and len(ids) != 1:
        raise PrismError(f"no problem id among the fields {field_names(record)}; say `--map problem_id=FIELD`")
    if "problem_id" not in named and len(ids) == 1 and problem_id is not None:
        problem_id = problem_id if id_of(at_path(record, problem_id)) in ids else None  # another id: all are of the one
    taken = (solution, problem_id)
    sample_id = named.get("sample_id") or _first_fitting_path(
        record, [name for name in SAMPLE_FIELDS if (name,) not in taken], lambda value: id_of(value) is not None
    )
    return Fields(solution, problem_id, sample_id, tuple(keep))


def _first_fitting_path(
    record: Mapping[str, Any], names: Collection[str], is_fit: Callable[[Any], bool]
) -> Keys | None:
    """Return the path of the first named field whose value in the record satisfies `is_fit`; None if there is none."""
    for name in names:
        path = tuple(name.split("."))
        value = at_path(record, path)
        if value is not ABSENT and is_fit(value):
            return path
    return None


def _may_be_solution(value: Any) -> bool:
    """Return True for a text, a list or None (an empty response): values that a solution field may have."""
    return value is None or isinstance(value, (str, list))


# Rollouts. ------------------------------------------------------------------------------------------------------


def scan(
    source: Path,
    problem_ids: Collection[str],
    *,
    mapping: Mapping[str, str] | None = None,
    keep: Collection[str] = KEPT,
) -> Scanned:
    """Read an input once to count its rollouts, detect its fields and report all its faults.

    Errors:
        DataFileError: a file that is not what its ending says; records without solution or of unknown problems, at
            most `_SHOWN_FAULTS` of them named.
    """
    n = 0
    fields: Fields | None = None
    faults: list[str] = []
    for at, record in enumerate(read_records(source)):
        place = f"record {at + 1}"
        if fields is None:
            try:
                fields = fields_of(record.data, mapping or {}, keep, problem_ids)
            except PrismError as error:
                raise DataFileError(record.file, (f"{place}: {error}",)) from error
        for one in _solutions_of(record.data, fields):
            n += 1
            if fault := _rollout_fault(record.data, one, fields, problem_ids):
                where = place if record.file == str(source) else f"{record.file}: {place}"
                faults.append(f"{where}: {fault}")
    if faults:
        more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        raise DataFileError(str(source), (*faults[:_SHOWN_FAULTS], *more))
    if fields is None:
        raise DataFileError(str(source), ("no rollouts",))
    return Scanned(n, fields)


def read(source: Path, fields: Fields, problem_ids: Collection[str]) -> Iterator[Rollout]:
    """Yield the rollouts of an input, in its order; `scan` has checked it before."""
    for at, record in enumerate(read_records(source)):
        yield from _record_rollouts(record.data, fields, problem_ids, str(at + 1))


def rollouts_of(
    records: Iterator[Rollout | Mapping[str, Any]], problem_ids: Collection[str], keep: Collection[str] = KEPT
) -> Iterator[Rollout]:
    """Yield rollouts from a caller's values: `Rollout` objects, or records whose fields are detected one by one.

    Errors:
        PrismError: a record without solution or of an unknown problem, when it is reached.
    """
    for at, record in enumerate(records):
        if isinstance(record, Rollout):
            if record.problem_id not in problem_ids:
                raise PrismError(f'rollout {at + 1}: no problem has the id "{_shortened_id(record.problem_id)}"')
            yield record
            continue
        if not isinstance(record, Mapping):
            raise PrismError(f"rollout {at + 1}: found {type(record).__name__}; expected a Rollout or a mapping")
        try:
            fields = fields_of(record, {}, keep, problem_ids)
        except PrismError as error:
            raise PrismError(f"rollout {at + 1}: {error}") from error
        for one in _solutions_of(record, fields):
            if fault := _rollout_fault(record, one, fields, problem_ids):
                raise PrismError(f"rollout {at + 1}: {fault}")
        yield from _record_rollouts(record, fields, problem_ids, str(at + 1))


def _record_rollouts(
    record: Mapping[str, Any], fields: Fields, problem_ids: Collection[str], number: str
) -> Iterator[Rollout]:
    """Yield the rollouts of one record: several if its field holds a list of completions, numbered `ID/1`, `ID/2`."""
    problem_id = id_of(at_path(record, fields.problem_id)) if fields.problem_id else next(iter(problem_ids))
    given = id_of(at_path(record, fields.sample_id)) if fields.sample_id else None
    sample_id = number if given is None else given
    solutions = _solutions_of(record, fields)
    kept = {name: at_path(record, tuple(name.split("."))) for name in fields.keep}
    meta = {name: _as_plain_json(value) for name, value in kept.items() if value is not ABSENT}
    for k, solution in enumerate(solutions):
        own = sample_id if len(solutions) == 1 else f"{sample_id}/{k + 1}"
        yield Rollout(problem_id or "", "" if solution is None else solution, own, meta)


def _as_plain_json(value: Any) -> Any:
    """Return a value as plain JSON values: dates of a Parquet file, NaN and infinities become text."""
    return json.loads(json.dumps(value, default=str), parse_constant=str)


def _solutions_of(record: Mapping[str, Any], fields: Fields) -> list[Any]:
    """Return the solutions of a record: the entries of a list in a plural field (`completions`), else the one value."""
    value = at_path(record, fields.solution)
    is_plural = fields.solution[-1] in ("completions", "responses", "outputs") or fields.solution == ("resps", "0")
    return list(value) if is_plural and isinstance(value, list) else [value]


def _rollout_fault(record: Mapping[str, Any], solution: Any, fields: Fields, problem_ids: Collection[str]) -> str:
    """Return why one solution of a record cannot be graded (shape, missing or unknown problem id); empty if it can."""
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
    return "" if problem_id in problem_ids else f'no problem has the id "{_shortened_id(problem_id)}"'


def _shortened_id(problem_id: str) -> str:
    """Return an id cut to `_SHOWN_ID` characters for a message: a wrong field may hold a whole problem statement."""
    return problem_id if len(problem_id) <= _SHOWN_ID else problem_id[: _SHOWN_ID - 3] + "..."

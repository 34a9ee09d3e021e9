r"""Rollouts: model solutions read one at a time from files in many shapes.

A record comes from JSON Lines, JSON, CSV or Parquet, or is a text file of its own; which of its fields hold the
solution and the problem's id is detected from the first record, or given by a map. `scan` goes through a file before
anything is graded and reports all its faults at once; then `read` yields its rollouts one by one.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from prism.errors import PrismError, count_of
from prism.inputs import did_you_mean, shown
from prism.latex import Solution, solution_text
from prism.runs.input_files import PLAIN_TEXTS, TABLES, InputFile
from prism.runs.records import ABSENT, Faults, Keys, Record, at_path, field_names, id_of, parse_mapping, read_records

SOLUTION_FIELDS = (
    "response", "completion", "completions", "responses", "model_response", "response.body.choices.0.message.content",
    "output", "outputs", "generated_text", "generation", "prediction", "resps.0", "messages", "text", "solution",
    "answer",
)  # fmt: skip
"""Fields in which a solution is looked for, in this order; `answer` and `solution` often hold the reference instead."""

PROBLEM_FIELDS = ("problem_id", "problem", "task_id", "question_id", "doc_id", "custom_id", "id", "doc.id")
_SURE_FIELDS = (
    "problem_id",
    "task_id",
    "question_id",
    "doc_id",
    "doc.id",
)  # the others may hold a text or a sample's id
SAMPLE_FIELDS = ("sample_id", "rollout_id", "completion_id", "uid", "custom_id", "id")
MAPPED = ("response", "problem_id", "sample_id")  # names that `--map` accepts
KEPT = ("model",)  # record fields that are copied into every score row's `meta`


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
        skip_unknown: records of problems that the set does not have are passed over, instead of being faults.
    """

    solution: Keys
    problem_id: Keys | None = None
    sample_id: Keys | None = None
    keep: tuple[str, ...] = KEPT
    skip_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of `scan`: the number of rollouts in an input, and the fields of its records.

    Attributes:
        problem_ids: of the problems that rollouts name.
        n_null, first_null: how many solutions are null, as of a call that failed, and where the first of them stands;
            they are graded as empty texts.
        absent: names of fields to copy that no record has; `KEPT` are looked for and need not be there.
        skipped: records that are passed over, as no problem of the set has their id: number by that id, as they come.
        left_out: files of a folder that are not read, each with its reason.
    """

    n: int
    fields: Fields
    problem_ids: frozenset[str] = frozenset()
    n_null: int = 0
    first_null: str = ""
    absent: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[InputFile, ...] = ()

    @property
    def n_skipped(self) -> int:
        """Number of records that are passed over."""
        return sum(self.skipped.values())


# Fields. --------------------------------------------------------------------------------------------------------


def fields_of(
    record: Mapping[str, Any], mapping: Mapping[str, str], keep: Collection[str], problem_ids: Collection[str],
    *, remedy: str = "say `--map {}=FIELD`",
) -> Fields:  # fmt: skip
    """Find the fields of a record that hold solution and ids: those of the map, else the first usual name present.

    Args:
        remedy: what to do where a field, `{}`, is not found.

    Errors:
        PrismError: no field with a solution, none with a problem id (both told, one a line), or a map with an unknown
            name.

    >>> fields_of({"doc": {"id": 3}, "answer": "v = at"}, {"problem_id": "doc.id"}, (), ("3", "4"))
    Fields(solution=('answer',), problem_id=('doc', 'id'), sample_id=None, keep=(), skip_unknown=False)
    """
    named = parse_mapping(mapping, MAPPED)
    solution = named.get("response") or _first_fitting_path(
        record, SOLUTION_FIELDS, lambda value: value is None or isinstance(value, str | list)
    )
    ids = frozenset(problem_ids)
    usual = _other_names(PROBLEM_FIELDS, (solution, named.get("sample_id")))
    problem_id = named.get("problem_id") or _first_fitting_path(record, usual, lambda value: id_of(value) in ids)
    if problem_id is None:  # of a single problem other fields than the sure ones may be missing or hold what they like
        others = [name for name in usual if name in _SURE_FIELDS] if len(ids) == 1 else usual
        problem_id = _first_fitting_path(record, others, lambda value: id_of(value) is not None)
    fields = field_names(record)
    faults = [f"no solution among the fields {fields}; {remedy.format('response')}"] if solution is None else []
    if problem_id is None and len(ids) != 1:
        faults.append(f"no problem id among the fields {fields}; {remedy.format('problem_id')}")
    if faults or solution is None:
        raise PrismError("\n".join(faults))
    sample_id = named.get("sample_id") or _first_fitting_path(
        record, _other_names(SAMPLE_FIELDS, (solution, problem_id)), lambda value: id_of(value) is not None
    )
    return Fields(solution, problem_id, sample_id, tuple(keep))


def _other_names(names: Collection[str], taken: Collection[Keys | None]) -> list[str]:
    """Return those names of fields whose paths are not taken."""
    return [name for name in names if tuple(name.split(".")) not in taken]


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


# Rollouts. ------------------------------------------------------------------------------------------------------


def scan(
    source: Path,
    problem_ids: Collection[str],
    *,
    mapping: Mapping[str, str] | None = None,
    keep: Collection[str] = KEPT,
    skip_unknown: bool = False,
) -> Scanned:
    """Read an input once to count its rollouts, detect its fields and report all its faults.

    Args:
        skip_unknown: count records of unknown problems instead, and pass over them.

    Errors:
        DataFileError: a file that is not what its ending says; records without solution or of unknown problems, at
            most `SHOWN_FAULTS` kinds of them named; nothing but records that are passed over.
        PrismError: a map with an unknown name.
    """
    named = parse_mapping(mapping or {}, MAPPED)
    counted = _Counted()
    absent = set(keep) - set(KEPT)
    fields: Fields | None = None
    faults = Faults()
    doubtful = _DoubtfulIds(problem_ids, named)
    skipped: Counter[str] = Counter()
    left_out: list[InputFile] = []
    known = _first_of_known_problem(source, problem_ids) if skip_unknown else None
    for record in read_records(source, faults, left_out):
        place = _place(record, source)
        if fields is None:
            telling = record if known is None else known
            try:
                fields = _first_fields(telling.data, mapping or {}, keep, problem_ids, skip_unknown=skip_unknown)
            except PrismError as error:  # those of this record, and the next one is looked at
                _add_faults(faults, map(_Fault, str(error).split("\n")), place, problem_ids)
                continue
        if unknown := _unknown_id(record.data, fields, problem_ids):
            skipped[unknown] += 1
            continue
        found = _faults_of_record(record.data, fields, problem_ids)
        _add_faults(faults, found, place, problem_ids)
        doubtful.look_at(record.data, fields, place)
        absent -= {name for name, _ in _kept(record.data, fields.keep)} if absent else set()
        counted.add(_solutions_of(record.data, fields), place)
        if not found:
            counted.add_ids(_ids_of_record(record.data, fields, problem_ids, record.number))
    for fault in doubtful.faults():
        faults.add(fault)
    if fields is None and not faults:
        _tell_no_rollouts(source, left_out, faults)
    elif skipped and not counted.n and not faults:
        faults.add(_all_unknown(skipped, problem_ids))
    elif fields is not None and (repeated := _repeated(counted.keys)):
        _tell_repeated_ids(source, fields, problem_ids, repeated, faults)
    faults.check(source)
    assert fields is not None
    return Scanned(
        counted.n, fields, frozenset(counted.graded), counted.n_null, counted.first_null, tuple(sorted(absent)),
        dict(skipped), tuple(left_out),
    )  # fmt: skip


@dataclass(slots=True)
class _Counted:
    """What the records of an input hold so far.

    Attributes:
        n, n_null, first_null: rollouts, those without a solution, and where the first of these stands.
        keys: a hash of the ids of each rollout: eight bytes, however many there are.
        graded: ids of the problems that are graded against.
    """

    n: int = 0
    n_null: int = 0
    first_null: str = ""
    keys: array[int] = field(default_factory=lambda: array("q"))
    graded: set[str] = field(default_factory=set)

    def add(self, solutions: Sequence[object], place: str) -> None:
        """Count the solutions of a record."""
        self.n += len(solutions)
        if n_here := sum(solution is None for solution in solutions):
            self.n_null, self.first_null = self.n_null + n_here, self.first_null or place

    def add_ids(self, ids: Sequence[tuple[str, str]]) -> None:
        """Keep the ids of the rollouts of a record, each of a problem and of a sample."""
        self.keys.extend(map(hash, ids))
        self.graded.update(problem_id for problem_id, _ in ids)


def _tell_no_rollouts(source: Path, left_out: Iterable[InputFile], faults: Faults) -> None:
    """Add to the faults that an input holds no rollouts, and of a folder which files of it are not read."""
    faults.add(f"no rollouts; expected {', '.join((*PLAIN_TEXTS, *TABLES))}" if source.is_dir() else "no rollouts")
    for file in left_out:
        faults.add(file.reason, file.place)


def _first_fields(
    record: Mapping[str, Any], mapping: Mapping[str, str], keep: Collection[str], problem_ids: Collection[str],
    *, skip_unknown: bool,
) -> Fields:  # fmt: skip
    """Find the fields of an input by one of its records, as `fields_of` does.

    Errors:
        PrismError: as of `fields_of`; no field of problem ids by which records could be passed over.
    """
    fields = fields_of(record, mapping, keep, problem_ids)
    if skip_unknown and fields.problem_id is None:
        raise PrismError(
            f"no problem id among the fields {field_names(record)}, by which to skip what is unknown; say "
            "`--map problem_id=FIELD`"
        )
    return replace(fields, skip_unknown=skip_unknown)


def _first_of_known_problem(source: Path, problem_ids: Collection[str]) -> Record | None:
    """Return the first record that has the id of a problem of the set in a usual field; None if none has."""
    ids = frozenset(problem_ids)

    def names_known(record: Record) -> bool:
        """Return True for a record with the id of a problem of the set."""
        return _first_fitting_path(record.data, PROBLEM_FIELDS, lambda value: id_of(value) in ids) is not None

    return next(filter(names_known, read_records(source, Faults())), None)


def _unknown_id(record: Mapping[str, Any], fields: Fields, problem_ids: Collection[str]) -> str:
    """Return the problem id of a record that is to be passed over; empty for one to grade, or without an id."""
    if not fields.skip_unknown or fields.problem_id is None:
        return ""
    problem_id = id_of(at_path(record, fields.problem_id))
    return problem_id if problem_id is not None and problem_id not in problem_ids else ""


def _all_unknown(skipped: Mapping[str, int], problem_ids: Collection[str]) -> str:
    """Return the fault that every record of an input would be passed over."""
    first = next(iter(skipped))
    near = did_you_mean(first, problem_ids)
    return (
        f"no problem has the id of any of {count_of(sum(skipped.values()), 'record')}, the first {shown(first)}{near}"
    )


class _DoubtfulIds:
    """Fields that may name problems or samples, such as `id`, where all records are taken to be of the one problem.

    If some records have the id of that problem there, the others have the ids of other problems, and are not to be
    graded as if they were of this one.
    """

    def __init__(self, problem_ids: Collection[str], named: Mapping[str, Keys]) -> None:
        """Begin without records; `named` are the fields of the map."""
        self._only = next(iter(problem_ids)) if len(problem_ids) == 1 else None
        self._names = [each for each in _other_names(PROBLEM_FIELDS, named.values()) if each not in _SURE_FIELDS]
        self._with_id: dict[str, str] = {}
        self._with_other_id: dict[str, tuple[str, str]] = {}

    def look_at(self, record: Mapping[str, Any], fields: Fields, place: str) -> None:
        """Remember for each field the first record with the id of the problem, and the first with another one."""
        if self._only is None or fields.problem_id is not None:
            return
        for name in self._names:
            value = id_of(at_path(record, tuple(name.split("."))))
            if value == self._only:
                self._with_id.setdefault(name, place)
            elif value is not None:
                self._with_other_id.setdefault(name, (shown(value), place))

    def faults(self) -> Iterator[str]:
        """Yield a fault for each field that has both."""
        for name in sorted(self._with_id.keys() & self._with_other_id.keys()):
            other, place = self._with_other_id[name]
            yield (
                f"{self._with_id[name]}: the field {name} holds the id of the one problem, {shown(self._only)}, and in "
                f"{place} {other}; say `--map problem_id={name}`, or `--map sample_id={name}` if it names samples"
            )


def _place(record: Record, source: Path) -> str:
    """Return the place of a record for messages: `line 3`, in a folder behind the name of the file."""
    if record.file == str(source):
        return record.place
    file = Path(record.file).relative_to(source).as_posix()
    return f"{file}: {record.place}" if record.place else file


def _repeated(keys: array[int]) -> frozenset[int]:
    """Return the numbers that stand in an array more than once."""
    ordered = np.sort(np.array(keys, dtype=np.int64))
    return frozenset(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


def _tell_repeated_ids(
    source: Path, fields: Fields, problem_ids: Collection[str], repeated: Collection[int], faults: Faults
) -> None:
    """Read an input again and add a fault for each rollout with the ids of an earlier one.

    Args:
        repeated: hashes of ids that stand there twice; as two ids may share a hash, the ids themselves are compared.
    """
    first: dict[tuple[str, str], str] = {}
    told = f"the sample ids are those of the field {'.'.join(fields.sample_id)}: " if fields.sample_id else ""
    for record in read_records(source, Faults()):
        if _unknown_id(record.data, fields, problem_ids) or _faults_of_record(record.data, fields, problem_ids):
            continue
        place = _place(record, source)
        for ids in _ids_of_record(record.data, fields, problem_ids, record.number):
            if hash(ids) not in repeated:
                continue
            if (earlier := first.setdefault(ids, place)) != place:
                if told:
                    faults.add(f"{told}`--map sample_id=FIELD` names another; without any, records are numbered")
                    told = ""
                problem_id, sample_id = map(shown, ids)
                faults.add(f"problem {problem_id}, sample {sample_id} stands in {earlier} too", place)


def read(source: Path, fields: Fields, problem_ids: Collection[str]) -> Iterator[Rollout]:
    """Yield the rollouts of an input, in its order; `scan` has checked it before."""
    for record in read_records(source):
        if not _unknown_id(record.data, fields, problem_ids):
            yield from _record_rollouts(record.data, fields, problem_ids, record.number)


def rollouts_of(
    records: Iterator[Rollout | Mapping[str, Any]], problem_ids: Collection[str], keep: Collection[str] = KEPT
) -> Iterator[Rollout]:
    """Yield rollouts from a caller's values: `Rollout` objects, or records whose fields are detected one by one.

    Errors:
        PrismError: a record without solution or of an unknown problem, when it is reached.
    """
    for number, record in enumerate(records, start=1):
        if isinstance(record, Rollout):
            if record.problem_id not in problem_ids:
                near = did_you_mean(record.problem_id, problem_ids)
                raise PrismError(f"rollout {number}: no problem has the id {shown(record.problem_id)}{near}")
            yield record
            continue
        if not isinstance(record, Mapping):
            raise PrismError(f"rollout {number}: found {type(record).__name__}; expected a Rollout or a mapping")
        try:
            fields = fields_of(record, {}, keep, problem_ids, remedy="name that field {}")
        except PrismError as error:
            raise PrismError(f"rollout {number}: {error}") from error
        for fault in _faults_of_record(record, fields, problem_ids):
            raise PrismError(f"rollout {number}: {fault.text}{_near_id(fault, problem_ids)}")
        yield from _record_rollouts(record, fields, problem_ids, number)


def _record_rollouts(
    record: Mapping[str, Any], fields: Fields, problem_ids: Collection[str], number: int
) -> Iterator[Rollout]:
    """Yield the rollouts of one record: several if its field holds a list of completions."""
    meta = kept_fields(record, fields.keep)
    ids = _ids_of_record(record, fields, problem_ids, number)
    for (problem_id, sample_id), solution in zip(ids, _solutions_of(record, fields), strict=True):
        yield Rollout(problem_id, "" if solution is None else solution, sample_id, meta)


def _ids_of_record(
    record: Mapping[str, Any], fields: Fields, problem_ids: Collection[str], number: int
) -> list[tuple[str, str]]:
    """Return problem id and sample id of each rollout of a record; of several the sample ids are `ID/1`, `ID/2`.

    Args:
        number: of the record, from 1; the sample id of a record without one.
    """
    problem_id = id_of(at_path(record, fields.problem_id)) if fields.problem_id else next(iter(problem_ids))
    given = id_of(at_path(record, fields.sample_id)) if fields.sample_id else None
    sample_id = str(number) if given is None else given
    n = len(_solutions_of(record, fields))
    return [(problem_id or "", sample_id if n == 1 else f"{sample_id}/{k}") for k in range(1, n + 1)]


def kept_fields(record: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the fields of a record that are copied into its score row, by name, as plain JSON values.

    Args:
        names: paths with points, such as `doc.model`; those that the record does not have are left out.

    Errors:
        TypeError, ValueError, RecursionError: a caller's value that JSON cannot hold.
    """
    return {name: _as_plain_json(value) for name, value in _kept(record, names)}


def _kept(record: Mapping[str, Any], names: Collection[str]) -> list[tuple[str, Any]]:
    """Return name and value of each field of a record that is copied into the score row.

    A null is no value: a Parquet file cannot leave a field out of one record only.
    """
    values = ((name, at_path(record, tuple(name.split(".")))) for name in names)
    return [(name, value) for name, value in values if value is not ABSENT and value is not None]


def _as_plain_json(value: Any) -> Any:
    """Return a value as plain JSON values: dates of a Parquet file, NaN and infinities become text.

    Errors:
        TypeError, ValueError, RecursionError: a caller's value that JSON cannot hold.
    """
    return value if isinstance(value, str) else json.loads(json.dumps(value, default=str), parse_constant=str)


def _solutions_of(record: Mapping[str, Any], fields: Fields) -> list[Any]:
    """Return the solutions of a record: the entries of a list in a plural field (`completions`), else the one value."""
    value = at_path(record, fields.solution)
    is_plural = fields.solution[-1] in ("completions", "responses", "outputs") or fields.solution == ("resps", "0")
    return list(value) if is_plural and isinstance(value, list) else [value]


@dataclass(frozen=True, slots=True)
class _Fault:
    """Why a rollout cannot be graded, in words; `unknown_id` is the id of no problem, if it is that."""

    text: str
    unknown_id: str = ""


def _add_faults(faults: Faults, found: Iterable[_Fault], place: str, problem_ids: Collection[str]) -> None:
    """Add the faults of a record, which stands at this place, to those of all."""
    for each in found:
        faults.add(each.text, place, partial(_near_id, each, problem_ids))


def _near_id(fault: _Fault, problem_ids: Collection[str]) -> str:
    """Return what the unknown id of a fault may mean, as a hint behind the fault."""
    return did_you_mean(fault.unknown_id, problem_ids) if fault.unknown_id else ""


def _faults_of_record(record: Mapping[str, Any], fields: Fields, problem_ids: Collection[str]) -> list[_Fault]:
    """Return why the rollouts of a record cannot be graded: shape of a solution or field, problem id."""
    faults = [_Fault(fault) for one in _solutions_of(record, fields) if (fault := _solution_fault(one, record, fields))]
    if fields.problem_id is not None:
        problem_id = id_of(at_path(record, fields.problem_id))
        field_name = ".".join(fields.problem_id)
        if problem_id is None:
            faults.append(_Fault(f"no problem id in the field {field_name}; the fields are {field_names(record)}"))
        elif problem_id not in problem_ids:
            only = f" (field {field_name}); the one problem is {shown(next(iter(problem_ids)))}"
            only = only if len(problem_ids) == 1 else ""
            faults.append(_Fault(f"no problem has the id {shown(problem_id)}{only}", "" if only else problem_id))
    for name, value in _kept(record, fields.keep):
        try:
            _as_plain_json(value)
        except (TypeError, ValueError, RecursionError) as error:
            faults.append(_Fault(f"field {name}: holds what JSON cannot hold: {error}"))
    return faults


def _solution_fault(solution: Any, record: Mapping[str, Any], fields: Fields) -> str:
    """Return why a value is no solution; empty if it is one."""
    if solution is ABSENT:
        return f"no field {'.'.join(fields.solution)}; the fields are {field_names(record)}"
    try:
        if solution is not None:
            solution_text(solution)
    except PrismError as error:
        return str(error)
    return ""

"""The files of the EngiBench protocol: the table of questions, the answers, a marker's points, a judge's verdicts.

Rows of the table count from 1, or say their number in `row`, as `prism convert --from engibench` counts them, whose
ids (`17-perturbed`) are read too. A table that a spreadsheet has saved is read as it is: all cells are text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from prism.authoring.importers.layouts import layout
from prism.inputs import did_you_mean, shown
from prism.latex import solution_text
from prism.problem.shapes import (
    PASSES_UNKNOWN,
    About,
    Flag,
    Id,
    LoadReport,
    Text,
    exact_number,
    is_integer,
    read_shape,
    whole_number,
)
from prism.protocols.engibench.rubrics import DIMENSIONS, dimension_of
from prism.protocols.entry_files import ENTRY, Entry, Table, read_entries
from prism.runs.records import ABSENT, Faults, Record, at_path, field_names, id_of, parse_mapping, read_records
from prism.runs.rollouts import SOLUTION_FIELDS, kept_fields

VARIANTS: Mapping[str, list[str]] = layout("engibench")["variants"]
"""The columns of question and key of each variant, of Levels 1 and 2."""

OPEN_VARIANTS: Mapping[str, list[str]] = layout("engibench")["open_variants"]
"""The columns that make the question of each variant, of Level 3."""

OPEN_LEVEL = 3
MAPPED = ("response", "row", "variant", "sample_id")  # names that `--map` accepts
ROW_FIELDS = ("row",)
SAMPLE_FIELDS = ("sample_id", "rollout_id", "completion_id", "uid")
ID_FIELDS = ("problem_id", "problem", "task_id", "custom_id", "id")
_ID = re.compile(rf"(?P<row>\d{{1,9}})-(?P<variant>{'|'.join(sorted(VARIANTS, key=len, reverse=True))})")
_LEVEL = re.compile(r"\s*(?:level\s*)?(?P<level>[123])\s*", re.IGNORECASE)
_IS_RUBRIC = frozenset(("row", "dimension", "text"))
Key = tuple[int, str, str]
"""Row, variant and sample id of an answer."""


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A row of the table.

    Attributes:
        number: from 1.
        level: 1 or 2, or 3 for an open-ended question; None where the table does not say.
    """

    number: int
    level: int | None
    data: Mapping[str, Any] = field(hash=False)

    @property
    def is_open(self) -> bool:
        """True for an open-ended question, which has rubrics and no key."""
        return self.level == OPEN_LEVEL

    def asked(self, variant: str) -> str:
        """Return the whole question of a variant."""
        columns = OPEN_VARIANTS[variant] if self.is_open else VARIANTS[variant][:1]
        return "\n\n".join(filter(None, map(self.text, columns)))

    def text(self, column: str) -> str:
        """Return a cell without blanks around it; empty where the table lacks the column."""
        value = self.data.get(column)
        return value.strip() if isinstance(value, str) else "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class _OfAnswer:
    """What names an answer."""

    row: int
    variant: str
    sample_id: str

    @property
    def key(self) -> Key:
        """What tells it from the other answers."""
        return self.row, self.variant, self.sample_id

    @property
    def words(self) -> str:
        """The same in words."""
        return f"row {self.row}, {self.variant}, sample {shown(self.sample_id)}"


@dataclass(frozen=True, slots=True)
class Answer(_OfAnswer):
    """An answer to a variant of a row; its response is None where the file has null, as of a call that failed."""

    response: str | None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Points(_OfAnswer):
    """What a marker gave an answer in one dimension: points by head; None for a head that is left open."""

    dimension: str
    given: Mapping[int, Fraction | None] = field(hash=False)
    total: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Judged(_OfAnswer):
    """What a judge or a person says of an answer to Level 1 or 2."""

    is_correct: bool


@dataclass(frozen=True, slots=True)
class _Head:
    """Points for one head."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    head: Annotated[int, whole_number(1)]
    got: Annotated[Fraction | None, exact_number(0)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """What every entry of a marker or a judge says; the last three are for people."""

    row: Annotated[int, whole_number(1)]
    variant: Text = "original"
    sample_id: Id
    judge: Any = None
    comment: Any = None
    model: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _RubricRow(_Row):
    """Points of an answer in one dimension."""

    dimension: Text
    points: tuple[_Head, ...] = ()
    total: Annotated[Fraction | None, exact_number()] = None
    justification: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgedRow(_Row):
    """A judgement of an answer to Level 1 or 2."""

    correct: Annotated[Flag, About("expected true or false")]


# The table. -----------------------------------------------------------------------------------------------------


def read_questions(path: Path, *, needs_rubric: bool = True) -> dict[int, QuestionRow]:
    """Read the table, of Levels 1 and 2 or of Level 3, by the numbers of its rows.

    The rubric file of `prism convert --from engibench`, one record for a row and dimension, is read as Level 3 too.

    Args:
        needs_rubric: a row of Level 3 is known by its rubrics; else by its `question` too.

    Errors:
        DataFileError: all faults: rows that are of neither kind, levels that there are not, numbers of rows that are
            none, or stand twice; a file without rows.
    """
    faults = Faults()
    found: dict[int, QuestionRow] = {}
    columns = {name for names in DIMENSIONS.values() for name in names} | (set() if needs_rubric else {"question"})
    for record in read_records(path, faults):
        if record.data.keys() >= _IS_RUBRIC:
            _add_rubric(record, found, faults)
            continue
        has_key, has_rubric = "problem" in record.data, not columns.isdisjoint(record.data)
        if not has_key and not has_rubric:
            names = field_names(record.data)
            faults.add(f"neither `problem` nor a rubric column such as `uncertainty_handling_score` among {names}")
            continue
        level = _LEVEL.fullmatch(written := str(record.data.get("difficulty") or ""))
        if written.strip() and level is None:
            faults.add(f"difficulty: {shown(written)} is no level; expected Level 1, Level 2", record.place)
        number = _number_of(record)
        if not number or number in found:
            said = record.data.get("row", number)
            faults.add(f"row {shown(str(said))}: {'stands twice' if number else 'is no number'}", record.place)
            continue
        known = int(level["level"]) if level else None
        found[number] = QuestionRow(number, known if has_key else OPEN_LEVEL, record.data)
    if not found and not faults:
        faults.add("holds no rows")
    faults.check(path)
    return found


def _number_of(record: Record) -> int:
    """Return the number of a row, which it may say itself; 0 where it says another thing."""
    said = record.data.get("row")
    text = str(record.number if said in (None, "") else said)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _add_rubric(record: Record, found: dict[int, QuestionRow], faults: Faults) -> None:
    """Add the cell of a record of a rubric file to its row."""
    row, dimension = record.data["row"], dimension_of(str(record.data["dimension"]))
    if not is_integer(row) or row < 1 or not dimension:
        faults.add(f"row {shown(str(row))}, dimension {shown(str(record.data['dimension']))}: is none", record.place)
        return
    asked = {name: record.data[name] for pair in OPEN_VARIANTS.values() for name in pair if name in record.data}
    before = found[row].data if row in found else {"question_modified": asked.get("question"), **asked}
    data = {**before, DIMENSIONS[dimension][0]: record.data["text"]}
    found[row] = QuestionRow(row, OPEN_LEVEL, data)


def variant_fault(row: int, variant: str, questions: Mapping[int, QuestionRow]) -> str:
    """Return why there is no such variant of a row; empty if there is."""
    if row not in questions:
        return f"row {row}: the table has rows {min(questions)} to {max(questions)}"
    known: Collection[str] = OPEN_VARIANTS if questions[row].is_open else VARIANTS
    if variant in known:
        return ""
    return f"variant: {shown(variant)} is none of {', '.join(known)}{did_you_mean(variant, list(known))}"


# Answers. -------------------------------------------------------------------------------------------------------


def read_answers(
    path: Path, questions: Mapping[int, QuestionRow], *, mapping: Mapping[str, str], keep: Collection[str]
) -> list[Answer]:
    """Read the answers, in their order.

    Args:
        mapping: paths of fields by the names of `MAPPED`; by default the usual names are looked for.
        keep: further fields that go into the rows.

    Errors:
        DataFileError: all faults: rows and variants that there are not, answers that stand twice, responses of a type
            that no text is made from.
        PrismError: a map with an unknown name.
    """
    paths = parse_mapping(mapping, MAPPED)
    faults = Faults()
    answers: list[Answer] = []
    seen: set[Key] = set()
    for record in read_records(path, faults):
        report = LoadReport([], [])
        answer = _answer_of(record, paths, keep, report)
        if answer is not None and not report.faults:
            fault = variant_fault(answer.row, answer.variant, questions)
            if not fault and answer.key in seen:
                fault = f"{answer.words}: stands twice"
            report.faults += [fault] if fault else []
            seen.add(answer.key)
            answers.append(answer)
        for each in report.faults:
            faults.add(each, record.place)
    faults.check(path)
    return answers


def _answer_of(
    record: Record, paths: Mapping[str, tuple[str, ...]], keep: Collection[str], report: LoadReport
) -> Answer | None:
    """Return the answer that a record holds; None with faults in the report."""

    def value_of(name: str, usual: Collection[str]) -> Any:
        """Return the value of a mapped field, else of the first usual one that is there; `ABSENT` without any."""
        tried = [paths[name]] if name in paths else [(each,) for each in usual]
        found = (at_path(record.data, each) for each in tried)
        return next((value for value in found if value is not ABSENT), ABSENT)

    row, variant = _row_and_variant(value_of, report)
    response = value_of("response", SOLUTION_FIELDS)
    if response is ABSENT:
        report.faults.append(
            f"response: no field with one among {field_names(record.data)}; say `--map response=FIELD`"
        )
    elif response is not None and not isinstance(response, str | list):
        report.faults.append(f"response: {shown(str(response))} is neither text nor a list of messages or steps")
    if row is None or report.faults:
        return None
    sample = id_of(value_of("sample_id", SAMPLE_FIELDS)) or str(record.number)
    text = None if response is None else solution_text(response).text
    return Answer(row, variant, sample, text, kept_fields(record.data, keep))


def _row_and_variant(value_of: Any, report: LoadReport) -> tuple[int | None, str]:
    """Return number of the row and variant of a record, which an id as `17-perturbed` may give; None with a fault."""
    row, variant = value_of("row", ROW_FIELDS), value_of("variant", ("variant",))
    if row is ABSENT:
        found = _ID.fullmatch(str(value_of("row", ID_FIELDS)))
        if found is None:
            report.faults.append(
                "row: is missing; expected the number of the row, or a problem id such as 17-perturbed"
            )
            return None, ""
        row, variant = found["row"], found["variant"] if variant is ABSENT else variant
    number = str(row) if not isinstance(row, bool) else ""
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        report.faults.append(f"row: {shown(number or str(row))} is no number of a row")
        return None, ""
    return int(number), "original" if variant in (ABSENT, None, "") else str(variant).strip().lower()


# Points. --------------------------------------------------------------------------------------------------------


def read_points(path: Path, questions: Mapping[int, QuestionRow]) -> tuple[list[Entry[Points]], tuple[str, ...]]:
    """Read a rubric file: an entry for each answer and dimension; also the warnings about it.

    Errors:
        DataFileError: all faults: rows, variants and dimensions that there are not, entries that stand twice, points
            that are no numbers of 0 or more.
    """
    found = read_entries(path, partial(_points_of, questions=questions, seen=set()))
    return list(found.entries), found.warnings


def _points_of(
    table: Table, report: LoadReport, questions: Mapping[int, QuestionRow], seen: set[tuple[Key, str]]
) -> Points:
    """Return the points of one entry, with its faults in the report."""
    entry = read_shape(_RubricRow, table, report, ENTRY)
    row, variant = entry.row, (entry.variant or "original").strip().lower()
    dimension = dimension_of(entry.dimension)
    if entry.dimension and not dimension:
        near = did_you_mean(entry.dimension, list(DIMENSIONS))
        report.faults.append(f"dimension: {shown(entry.dimension)} is none of {', '.join(DIMENSIONS)}{near}")
    if not report.faults and (fault := variant_fault(row, variant, questions)):
        report.faults.append(fault)
    elif row in questions and not questions[row].is_open:
        report.faults.append(f"row {row}: is of Level 1 or 2, which has a key and no rubric")
    given = {each.head: each.got for each in entry.points}
    times = Counter(each.head for each in entry.points if each.head)
    report.faults += [f"points: head {head} stands twice" for head, n in times.items() if n > 1]
    points = Points(row, variant, entry.sample_id, dimension, given, entry.total)
    if not report.faults and (points.key, dimension) in seen:
        report.faults.append(f"{points.words}, {dimension}: stands twice")
    seen.add((points.key, dimension))
    return points


# Judgements of Levels 1 and 2. -----------------------------------------------------------------------------------


def read_judged(path: Path, questions: Mapping[int, QuestionRow]) -> tuple[dict[Key, Entry[Judged]], tuple[str, ...]]:
    """Read what a judge or a person says of answers to Levels 1 and 2, by answer; also the warnings about the file.

    Errors:
        DataFileError: all faults: rows and variants that there are not, rows of Level 3, answers that stand twice.
    """
    found = read_entries(path, partial(_judged_of, questions=questions, seen=set()))
    return {entry.value.key: entry for entry in found.entries}, found.warnings


def _judged_of(table: Table, report: LoadReport, questions: Mapping[int, QuestionRow], seen: set[Key]) -> Judged:
    """Return the judgement of one entry, with its faults in the report."""
    entry = read_shape(_JudgedRow, table, report, ENTRY)
    row = entry.row
    found = Judged(row, (entry.variant or "original").strip().lower(), entry.sample_id, entry.correct)
    if not report.faults and (fault := variant_fault(row, found.variant, questions)):
        report.faults.append(fault)
    elif row in questions and questions[row].is_open:
        report.faults.append(f"row {row}: is of Level 3, which has a rubric and no key")
    if not report.faults and found.key in seen:
        report.faults.append(f"{found.words}: stands twice")
    seen.add(found.key)
    return found

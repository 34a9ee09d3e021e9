"""Check all rows of a published data set: fields, ids, repeated texts, answers, units, numbers and languages.

Each finding names its row and what was read there. The checks that only one data set can have stand in its module; here
are those that hold for all of them. An answer is looked for in its solution as a grader would look for it, a number by
its value: what cannot be decided so is no finding.

The codes of what `prism lint --dataset` finds: how grave each is, and what it means.

A *fault* makes a grade wrong or a row unreadable, a *warning* may, and a *note* says what a rule cannot do with a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from prism.authoring.candidates import answer_index, split_statement, statement_context
from prism.authoring.importers.entries import (
    REFUSALS,
    AnswerKind,
    Choice,
    Dataset,
    DatasetEntry,
    Finding,
    RecordedAnswer,
    Refusal,
    RefusedError,
    SourceRow,
    language_of,
    longest_text,
)
from prism.authoring.importers.entry_problems import make_problem
from prism.authoring.importers.importing import entries_of
from prism.authoring.importers.layouts import TYPES
from prism.authoring.importers.recorded_answers import (
    NUMERICAL,
    TEXT,
    AnswerNode,
    answer_nodes,
    in_dollars,
    split_power,
    unit_of,
    value_of,
)
from prism.authoring.importers.rows import read_rows
from prism.authoring.plain_answers import numbers_of
from prism.errors import LatexSyntaxError
from prism.inputs import shown
from prism.latex import extract, one_line
from prism.physics.context import parse
from prism.physics.units import find_unit_product
from prism.problem.answers.numbers import asked_unit
from prism.resources import meanings


@dataclass(frozen=True, slots=True)
class Code:
    """How grave a finding is (`fault`, `warning`, `note`), and what it means, in words."""

    kind: str
    meaning: str


CODES: Mapping[str, Code] = {
    code: Code(kind, meaning)
    for kind in ("fault", "warning", "note") for code, meaning in meanings(f"lint.dataset.{kind}").items()
}  # fmt: skip
_SHOWN = 100  # characters of what was read
_MAX_LOOKED_AT = 60  # formulas of a solution in which an answer is looked for, from its end
_LEAST_FIGURES = 3  # of a number whose occurrence in the question is no chance
_LEAST_NUMBERS = 3  # of a question, from which on missing ones tell something
_SMALL = frozenset(("0", "1", "2"))
_CLOSE = Fraction(1, 100)
_TYPES = {kind: name for name, kind in TYPES.items()}
_LANGUAGES = {"en": "en", "english": "en", "zh": "zh", "chinese": "zh", "cn": "zh"}
_NUMBER_AND_UNIT = re.compile(
    r"\d\s*(?:\\[,;: ]|~|\$)*\s*(?:\\(?:mathrm|text|unit|rm)\s*\{\s*~?)?\s*(?P<unit>[A-Za-zµΩ°%]+)"
)


@dataclass(frozen=True, slots=True)
class CheckedDataset:
    """The findings of a data set, in order of the rows, those of the set as a whole last."""

    dataset: Dataset
    n_rows: int
    findings: tuple[Finding, ...]

    def lines(self, *, with_notes: bool) -> Iterator[str]:
        """Yield a line for each finding: place, id, kind, code and what was read."""
        for each in self.findings:
            kind = CODES[each.code].kind
            if kind == "note" and not with_notes:
                continue
            place = f"{each.row.file.name}, {each.row.place}" if each.row else self.dataset.name
            named = f", {each.id}" if each.id else ""
            read = f": {shown(one_line(each.read)[:_SHOWN])}" if each.read else ""
            yield f"{place}{named}: {kind}: {each.code}: {each.text}{read}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: findings, and how many there are of each code and kind."""
        counts = Counter(each.code for each in self.findings)
        kinds = Counter(CODES[each.code].kind for each in self.findings)
        return {
            "dataset": self.dataset.name, "rows": self.n_rows, "counts": dict(sorted(counts.items())),
            **{f"{kind}s": kinds[kind] for kind in ("fault", "warning", "note")},
            "findings": [
                {
                    "code": each.code, "kind": CODES[each.code].kind, "id": each.id, "text": each.text,
                    "read": one_line(each.read)[:_SHOWN], "file": each.row and each.row.file.name,
                    "row": each.row and each.row.number, "place": each.row and each.row.place,
                }
                for each in self.findings
            ],
        }  # fmt: skip


def check_dataset(path: Path, dataset: Dataset) -> CheckedDataset:
    """Return the findings of a file, or of a folder in the data set's layout.

    Errors:
        DataFileError: the file cannot be read at all.
    """
    rows = read_rows(path, dataset)
    found: list[Finding] = []
    whole: list[SourceRow] = []
    entries: list[tuple[SourceRow, DatasetEntry]] = []
    for row in rows:
        if row.fault:
            found.append(Finding("not-read", row, "", row.fault))
            continue
        asked = list(entries_of(row, dataset, Choice()))
        if not asked:
            continue  # a data sheet, or an open-ended row, which the set's own check looks at
        whole.append(row)
        found += _check_fields(row, dataset)
        found += _check_language(row, dataset, asked)
        for each in asked:
            if isinstance(each, Refusal):
                if not each.variant:  # an empty variant is told by the set's own check
                    found.append(Finding(each.code, row, each.id, REFUSALS[each.code], each.why))
                continue
            entries.append((row, each))
            own = list(_check_entry(row, each))
            found += (
                own if any(finding.code in REFUSALS for finding in own) else [*own, *_check_made(row, each, dataset)]
            )
    found += _check_ids(whole, dataset)
    found += _check_texts(entries)
    if dataset.check is not None:
        found += dataset.check([row for row in rows if not row.fault])
    order = {(str(row.file), row.number): place for place, row in enumerate(rows)}
    found.sort(key=lambda each: order[str(each.row.file), each.row.number] if each.row else len(rows))
    return CheckedDataset(dataset, len(rows), tuple(_without_repeats(found)))


def _without_repeats(found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings; of two with the same code, row and id that both checks made, the later one."""
    last = {(each.code, id(each.row), each.id, each.text): each for each in found}
    yield from last.values()


# Fields and rows --------------------------------------------------------------------------------------------------


def _check_fields(row: SourceRow, dataset: Dataset) -> Iterator[Finding]:
    """Yield fields that are missing, empty, of another type, or unknown."""
    name = dataset.id_of(row)
    for key, rule in dataset.fields.items():
        if key not in row.data:
            if rule.is_required:
                yield Finding("missing-field", row, name, f"`{key}` is missing")
            continue
        value = row.data[key]
        is_bool = isinstance(value, bool) and bool not in rule.types
        if value is None and (rule.may_be_empty or not rule.is_required):
            continue
        if not isinstance(value, rule.types) or is_bool:
            wanted = " or ".join(_TYPES[each] for each in rule.types)
            yield Finding("wrong-type", row, name, f"`{key}` is no {wanted}", str(value))
        elif not rule.may_be_empty and (value in ("", [], {}) or (isinstance(value, str) and not value.strip())):
            yield Finding("empty-field", row, name, f"`{key}` is empty")
    for key in row.data:
        if key not in dataset.fields:
            yield Finding("unknown-field", row, name, f"`{key}` is no field of the published layout")


def _check_language(row: SourceRow, dataset: Dataset, asked: Sequence[DatasetEntry | Refusal]) -> Iterator[Finding]:
    """Yield a row whose question is in another language than its field, or the name of its file, says."""
    if not dataset.has_languages:
        return
    named = _LANGUAGES.get(row.text("language").lower())
    named = named or next((_LANGUAGES[part] for part in re.split(r"[_.-]", row.file.stem) if part in _LANGUAGES), None)
    question = next((each.question for each in asked if isinstance(each, DatasetEntry)), "")
    if named and question and language_of(question) != named:
        message = f"its question is in {language_of(question)}, and it is said to be in {named}"
        yield Finding("wrong-language", row, dataset.id_of(row), message, question)


def _check_ids(rows: Sequence[SourceRow], dataset: Dataset) -> Iterator[Finding]:
    """Yield ids that stand twice."""
    seen: dict[str, SourceRow] = {}
    for row in rows:
        name = dataset.id_of(row)
        if not name:
            continue
        key = f"{name} {language_of(longest_text(row.data))}" if dataset.has_languages else name
        if key in seen:
            yield Finding("repeated-id", row, name, f"its id is that of {seen[key].file.name}, {seen[key].place}")
        seen.setdefault(key, row)


def _check_texts(entries: Sequence[tuple[SourceRow, DatasetEntry]]) -> Iterator[Finding]:
    """Yield questions that stand twice, with the same answers or with others."""
    seen: dict[tuple[str, str], tuple[SourceRow, DatasetEntry]] = {}
    for row, entry in entries:
        key = entry.variant, " ".join((entry.question, *(part.text for part in entry.parts))).strip()
        if not key[1]:
            continue
        if key in seen:
            earlier, other = seen[key]
            if earlier is row:
                continue
            place = f"{earlier.file.name}, {earlier.place}, {other.id}"
            if _recorded(entry.answers) == _recorded(other.answers):
                yield Finding("repeated-text", row, entry.id, f"its question is that of {place}")
            else:
                message = f"its question is that of {place}, which records another answer"
                yield Finding("text-with-other-answer", row, entry.id, message, "; ".join(_recorded(entry.answers)))
        seen.setdefault(key, (row, entry))


def _recorded(answers: Sequence[RecordedAnswer]) -> tuple[str, ...]:
    """Return answers as texts that can be compared."""
    return tuple(" ".join(f"{answer.text} {answer.unit}".split()) for answer in answers)


# Answers ----------------------------------------------------------------------------------------------------------


def _check_entry(row: SourceRow, entry: DatasetEntry) -> Iterator[Finding]:
    """Yield what is wrong with one problem's question and answers."""
    if entry.published is not None:
        return
    if not entry.question.strip():
        yield Finding("no-question", row, entry.id, "it has no question")
        return
    if not entry.answers and not entry.solution.strip():
        yield Finding("no-answer", row, entry.id, "it has no answer")
    nodes: list[AnswerNode] = []
    for answer in entry.answers:
        yield from _check_power(row, entry, answer)
        try:
            own = answer_nodes(answer, entry.question)
        except RefusedError as error:
            yield Finding(error.code, row, entry.id, REFUSALS[error.code], error.why)
            continue
        nodes += own
        yield from _check_number(row, entry, answer, own)
    yield from _check_solution(row, entry, nodes)


def _check_made(row: SourceRow, entry: DatasetEntry, dataset: Dataset) -> Iterator[Finding]:
    """Yield what keeps a row, all of whose answers are read, from being a problem."""
    try:
        make_problem(entry, row, dataset, is_drafted=not entry.answers)
    except RefusedError as error:
        yield Finding(error.code, row, entry.id, REFUSALS[error.code], error.why)


def _check_power(row: SourceRow, entry: DatasetEntry, answer: RecordedAnswer) -> Iterator[Finding]:
    """Yield a power of ten that stands in a unit."""
    power, _ = split_power(answer.unit)
    if power:
        message = f"the unit multiplies the number {answer.text.strip()} by 10^{power}"
        yield Finding("power-of-ten-in-unit", row, entry.id, message, answer.unit)


def _check_number(
    row: SourceRow, entry: DatasetEntry, answer: RecordedAnswer, nodes: Sequence[AnswerNode]
) -> Iterator[Finding]:
    """Yield a number that lacks its unit, has one of another dimension than is asked for, or stands in the question."""
    if len(nodes) != 1 or nodes[0].form != NUMERICAL:
        return
    latex = nodes[0].latex
    own, wanted = unit_of(latex), asked_unit(entry.question)
    if own is not None and wanted is not None and own.dimension != wanted.dimension and len(entry.answers) == 1:
        yield Finding("unit-contradicts", row, entry.id, f"the question asks for {wanted.name}", latex)
    has_unit = "\\unit" in latex or "\\text" in latex or "\\mathrm" in latex or "%" in latex or "circ" in latex
    if not has_unit and answer.kind in (AnswerKind.NUMBER, AnswerKind.UNKNOWN) and _has_units(entry.question):
        yield Finding("number-without-unit", row, entry.id, "its number has no unit, and its question has", answer.text)
    value = value_of(answer.text)
    figures = len(re.sub(r"\D", "", answer.text).strip("0")) if value is not None else 0
    if figures >= _LEAST_FIGURES and value in {value_of(each) for each in numbers_of(entry.question)}:
        yield Finding("answer-in-question", row, entry.id, "its number stands in the question", answer.text)


def _has_units(question: str) -> bool:
    """Return True if a question states a number with a unit."""
    return any(
        (unit := find_unit_product(found["unit"])) is not None and any(unit.dimension)
        for found in _NUMBER_AND_UNIT.finditer(question)
    )


def _check_solution(row: SourceRow, entry: DatasetEntry, nodes: Sequence[AnswerNode]) -> Iterator[Finding]:
    """Yield answers that the solution does not state, and a solution that is of other numbers than its question."""
    if not entry.solution.strip():
        return
    asked = set(numbers_of(entry.question)) - _SMALL
    missing = asked - set(numbers_of(entry.solution))
    if len(asked) >= _LEAST_NUMBERS and len(missing) * 2 > len(asked):
        message = f"{len(missing)} of the {len(asked)} numbers of its question are not in its solution"
        yield Finding("solution-of-other-numbers", row, entry.id, message, ", ".join(sorted(missing)))
    unstated = [node for node in nodes if node.form != TEXT and not _states(entry, node)]
    for node in unstated:
        yield Finding("answer-not-in-solution", row, entry.id, "its solution does not state its answer", node.latex)


def _states(entry: DatasetEntry, node: AnswerNode) -> bool:
    """Return True if a solution states an answer, by value or as a formula; also if that cannot be decided."""
    text = entry.solution
    if node.latex in text:
        return True
    if node.form == NUMERICAL and _states_value(text, node.latex):
        return True
    context = statement_context(entry.question)
    formulas = []
    for item in [item for item in extract(text) if item.kind != "thinking"][-_MAX_LOOKED_AT:]:
        try:
            read = parse(item.latex, context=context)
        except LatexSyntaxError:
            continue
        formulas += [piece for piece in split_statement(read) if not isinstance(piece, str)]
    try:
        return answer_index(in_dollars(node.latex), formulas, context) is not None
    except LatexSyntaxError:
        return True


def _states_value(text: str, latex: str) -> bool:
    """Return True if a number of a text is within a hundredth of an answer, whatever its power of ten."""
    wanted = value_of(latex)
    if wanted is None:
        return False
    values = [value for each in numbers_of(text) if (value := value_of(each)) is not None]
    return any(abs(_mantissa(value) - _mantissa(wanted)) <= _CLOSE * abs(_mantissa(wanted)) for value in values)


def _mantissa(value: Fraction) -> Fraction:
    """Return a number scaled by a power of ten to 1 <= |x| < 10; 0 as it is."""
    while value and abs(value) >= 10:
        value /= 10
    while value and abs(value) < 1:
        value *= 10
    return value

"""The EngiBench protocol: answers to Levels 1 and 2 by rule, and a marker's points for Level 3 added up.

An answer to Level 1 or 2 is right or wrong, within 2 % of the key of its variant (`engibench_answers`). An answer to an
open-ended question has four rows, one for each dimension, out of ten points (`engibench_rubrics`): rules add, check
that the heads make ten and that each number is a level of the rubric; the points come from a file. An empty cell of the
table is not scored, which is no 0. What rules leave open of Levels 1 and 2 a file may say too.

Source: EngiBench (the benchmark's paper and its public tables of May 2025 and April 2026).

Refused: asking a model, as the released script does for all levels; and one score over all levels, of which the paper
has none.

What a run of the EngiBench protocol says of variants: exact means with bounds, and each variant beside the original.

Figures are by level, or by dimension of open-ended questions, whose average is the mean of the four dimensions' means,
as the paper has it. Pairs are by row of the table: the mean over the answers to a variant of a row, less that to its
original. What is undecided is in no mean and no pair, and in the bounds at its worst and its best; what is not scored
is in neither.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from prism.grading.prepared import PreparedProblem
from prism.grading.result import Incident, internal_incident
from prism.grading.row import json_line
from prism.protocols.engibench.answers import WITHIN, Decision, decide
from prism.protocols.engibench.input import VARIANTS, Answer, Judged, Key, Points, QuestionRow
from prism.protocols.engibench.rubrics import DIMENSIONS, TOTAL, Marked, mark, points_text, read_rubric
from prism.protocols.engibench.units import Units
from prism.protocols.entry_files import Entry
from prism.protocols.rows import Part, ProtocolRow, Scored, mean_of, rounded, settle
from prism.runs.bulk import in_input_order
from prism.runs.rollouts import Rollout
from prism.runs.workers import NO_PROBLEM, Killed, Task, run_in_workers

AVERAGE = "average"
BASE = "original"
_ORDER = {name: k for k, name in enumerate(("", "Level 1", "Level 2", *DIMENSIONS, AVERAGE))}
_VARIANT_ORDER = {name: k for k, name in enumerate(VARIANTS)}


@dataclass(frozen=True, slots=True)
class VariantFigure:
    """The mean of one variant at one level, or in one dimension, of one model.

    Attributes:
        model: empty where the answers name none.
        group: `Level 1`, `Level 2`, a dimension, or `average` over the four.
        n: answers that are scored or undecided; of an average those of all its dimensions.
        n_undecided: of these.
        mean: exact, over the scored ones; None without any.
        low, high: exact, with every undecided one at its worst and at its best.
    """

    model: str
    group: str
    variant: str
    n: int
    n_undecided: int
    mean: Fraction | None
    low: Fraction
    high: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "model": self.model, "group": self.group, "variant": self.variant, "answers": self.n,
            "undecided": self.n_undecided, "mean": rounded(self.mean), "low": rounded(self.low),
            "high": rounded(self.high),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class VariantPairs:
    """A variant beside the original at one level, or in one dimension, of one model, row by row.

    Attributes:
        rows: numbers of the rows that have a score of both, ascending.
        base, other: means of these rows, exact: of the original and of the variant.
    """

    model: str
    group: str
    variant: str
    rows: tuple[int, ...]
    base: tuple[Fraction, ...]
    other: tuple[Fraction, ...]

    @property
    def differences(self) -> tuple[Fraction, ...]:
        """The variant less the original, row by row."""
        return tuple(other - base for base, other in zip(self.base, self.other, strict=True))

    @property
    def mean_difference(self) -> Fraction | None:
        """Exact mean of the differences; None without rows."""
        return mean_of(list(self.differences))


def dimension_average(means: Sequence[Fraction | None]) -> Fraction | None:
    """Return the mean of the four dimensions' means; None if one of them is not known.

    >>> dimension_average([Fraction(8), Fraction(6), Fraction(5), Fraction(4)])
    Fraction(23, 4)
    """
    known = [mean for mean in means if mean is not None]
    return mean_of(known) if len(known) == len(DIMENSIONS) == len(means) else None


_Place = tuple[str, str, str]  # model, group, variant


def _by_place(rows: Iterable[ProtocolRow]) -> dict[_Place, list[ProtocolRow]]:
    """Part rows by model, group and variant, in their order; what is not scored is left out."""
    parted: dict[_Place, list[ProtocolRow]] = defaultdict(list)
    for row in rows:
        if not any(note.startswith(NOT_SCORED) for note in row.notes):
            meta = row.about.meta
            model = meta.get("model")
            group = str(meta.get("dimension") or meta["level"])
            parted["" if model is None else str(model), group, str(meta["variant"])].append(row)
    return parted


def _sorted(places: Iterable[_Place]) -> list[_Place]:
    """Sort by model, then by level or dimension, then by variant."""
    return sorted(places, key=lambda place: (place[0], _ORDER[place[1]], _VARIANT_ORDER[place[2]]))


def variant_figures(rows: Sequence[ProtocolRow]) -> tuple[VariantFigure, ...]:
    """Compute the figure of each model, level or dimension, and variant, and the averages over the dimensions."""
    found: dict[_Place, VariantFigure] = {}
    for place, own in _by_place(rows).items():
        scores = [row.score for row in own if row.score is not None]
        found[place] = VariantFigure(
            *place, len(own), len(own) - len(scores), mean_of(scores),
            mean_of([row.score_low for row in own]) or Fraction(0),
            mean_of([row.score_high for row in own]) or Fraction(0),
        )  # fmt: skip
    for model, variant in {(model, variant) for model, group, variant in found if group in DIMENSIONS}:
        parts = [found.get((model, dimension, variant)) for dimension in DIMENSIONS]
        known = [part for part in parts if part is not None]
        if len(known) == len(DIMENSIONS):
            found[model, AVERAGE, variant] = VariantFigure(
                model, AVERAGE, variant, sum(part.n for part in known), sum(part.n_undecided for part in known),
                dimension_average([part.mean for part in known]),
                mean_of([part.low for part in known]) or Fraction(0),
                mean_of([part.high for part in known]) or Fraction(0),
            )  # fmt: skip
    return tuple(found[place] for place in _sorted(found))


def variant_pairs(rows: Sequence[ProtocolRow]) -> tuple[VariantPairs, ...]:
    """Pair each variant with the original, by row of the table, for each model and level or dimension."""
    means = {place: _means_by_row(own) for place, own in _by_place(rows).items()}
    found = []
    for place in _sorted(means):
        model, group, variant = place
        base = means.get((model, group, BASE), {})
        if variant == BASE or not base:
            continue
        common = sorted(base.keys() & means[place].keys())
        found.append(
            VariantPairs(
                model, group, variant, tuple(common), tuple(base[n] for n in common),
                tuple(means[place][n] for n in common),
            )
        )  # fmt: skip
    return tuple(found)


def _means_by_row(rows: Iterable[ProtocolRow]) -> Mapping[int, Fraction]:
    """Return the exact mean of the scores of each row of the table, by its number."""
    gathered: dict[int, list[Fraction]] = defaultdict(list)
    for row in rows:
        if row.score is not None:
            gathered[row.about.meta["row"]].append(row.score)
    return {number: sum(scores, Fraction(0)) / len(scores) for number, scores in gathered.items()}


PROTOCOL = "engibench"
VARIANT = "paper"
NOT_SCORED = "not scored"  # head of the note of a dimension whose cell is empty
_ABSTRACT = ("abstract", "perturbed_abstract")
_KEPT = ("subfield", "category")  # columns that go along with a score


def engibench_rows(
    questions: Mapping[int, QuestionRow],
    answers: Sequence[Answer],
    points: Sequence[Entry[Points]] = (),
    *,
    judged: Mapping[Key, Entry[Judged]] | None = None,
    prefer_rules: bool = False,
    units: Units = Units.ASKED,
    workers: int = 0,
    on_done: Callable[[], object] | None = None,
) -> list[ProtocolRow]:
    """Score answers, in their order; behind them answers that only the points know.

    Args:
        questions: the table, by number of the row; every answer and entry is of one of them.
        points: of a rubric file.
        judged: what a judge or a person says of answers to Levels 1 and 2.
        prefer_rules: in a conflict with it the rules count.
        units: when the unit of a number counts.
        workers: processes that decide answers of Levels 1 and 2; 0 works in this one. The rows are the same.
        on_done: called behind each answer.
    """
    settings: dict[str, Any] = {"units": str(units), "within": float(WITHIN)}
    settings |= {} if judged is None else {"prefer": "rules" if prefer_rules else "file"}
    by_dimension = {(entry.value.key, entry.value.dimension): entry for entry in points}
    known = {answer.key for answer in answers}
    added = dict.fromkeys(entry.value.key for entry in points if entry.value.key not in known)
    given = (*answers, *(Answer(*key, None) for key in added))
    keyed = [_Asked(questions[answer.row], answer) for answer in given if not questions[answer.row].is_open]
    decisions = iter(_decisions(keyed, units, workers))
    rows: list[ProtocolRow] = []
    for answer in given:
        question = questions[answer.row]
        if question.is_open:
            entries = {name: by_dimension.get((answer.key, name)) for name in DIMENSIONS}
            rows += _open_rows(question, answer, entries, settings)
        else:
            verdict = _Ruling(next(decisions), (judged or {}).get(answer.key), prefer_rules)
            rows.append(_keyed_row(question, answer, verdict, settings))
        if on_done is not None:
            on_done()
    return rows


@dataclass(frozen=True, slots=True)
class _Asked:
    """An answer to a question of Level 1 or 2."""

    question: QuestionRow
    answer: Answer

    @property
    def texts(self) -> tuple[str, str]:
        """The question of its variant, and the key."""
        asked, key = (self.question.text(column) for column in VARIANTS[self.answer.variant])
        return asked, key


def _decisions(asked: Sequence[_Asked], units: Units, workers: int) -> Iterator[Decision]:
    """Yield the decision on each answer, in order: worked out in this process, or in worker processes."""
    if not workers:
        yield from (_decision_of(each, units) for each in asked)
        return
    tasks = (
        Task(k, Rollout(str(each.question.number), each.answer.response or "", each.answer.sample_id), NO_PROBLEM,
             {"asked": each, "units": units})
        for k, each in enumerate(asked)
    )  # fmt: skip
    for done in in_input_order(run_in_workers(tasks, _work, workers=workers)):
        if isinstance(done.result, Killed):
            killed = Incident("killed", "answer", done.result.reason)
            yield Decision(None, "grader: killed", "killed", (killed,))
        else:
            yield done.result


def _work(_prepared: PreparedProblem, _rollout: Rollout, *, asked: _Asked, units: Units) -> Decision:
    """Decide on one answer in a worker process, which imports this function by its name."""
    return _decision_of(asked, units)


def _decision_of(asked: _Asked, units: Units) -> Decision:
    """Decide on an answer; one that is null is undecided."""
    question, key = asked.texts
    if asked.answer.response is None:
        return Decision(None, "response: is null")
    return _decided(key, asked.answer.response, question, units)


@dataclass(frozen=True, slots=True)
class _Ruling:
    """What rules found of an answer to Level 1 or 2, and what a file says of it."""

    found: Decision
    entry: Entry[Judged] | None
    prefer_rules: bool


def _keyed_row(question: QuestionRow, answer: Answer, ruling: _Ruling, settings: Mapping[str, Any]) -> ProtocolRow:
    """Return the row of an answer to a question of Level 1 or 2."""
    asked, key = _Asked(question, answer).texts
    found, entry = ruling.found, ruling.entry
    settled = settle(found.is_right, entry.value.is_correct if entry else None, prefer_rules=ruling.prefer_rules)
    score = None if settled.value is None else Fraction(settled.value)
    notes = [found.reason] if score is None else []
    notes += [] if asked else ["question: is empty"]
    notes += entry.notes if entry else ()
    if answer.variant in _ABSTRACT:
        notes.append("abstraction: its key is a model's answer, by the description of the table")
    part = Part("answer", score, settled.basis, (found.reason, *settled.findings))
    about = replace(_about(question, answer, (asked, key), entry=entry), status=found.status, incidents=found.incidents)
    return ProtocolRow(
        PROTOCOL, VARIANT, about, score,
        Fraction(0) if score is None else score, Fraction(1) if score is None else score, (part,),
        final_correct=settled.value, settings=settings, notes=tuple(notes),
    )  # fmt: skip


def _decided(key: str, response: str, question: str, units: Units) -> Decision:
    """Decide on an answer; an exception in the grader gives a decision of status `internal`."""
    try:
        return decide(key, response, question=question, units=units)
    except Exception as error:  # noqa: BLE001 - the boundary of one answer: the others go on
        return Decision(None, "grader: internal", "internal", (internal_incident("answer", error),))


def _open_rows(
    question: QuestionRow, answer: Answer, entries: Mapping[str, Entry[Points] | None], settings: Mapping[str, Any]
) -> Iterable[ProtocolRow]:
    """Yield the row of each dimension of an answer to an open-ended question."""
    for dimension, columns in DIMENSIONS.items():
        entry = entries[dimension]
        cell = next((text for column in columns if (text := question.text(column))), "")
        marked = _marked(cell, entry)
        notes = [*marked.notes, *(entry.notes if entry else ())]
        if cell and entry and (said := entry.value.total) is not None:
            found = sum((got or Fraction(0) for got in entry.value.given.values()), Fraction(0))
            notes += [f"total: {points_text(said)} in the file, {points_text(found)} from its points"] * (said != found)
        asked = question.asked(answer.variant)
        yield ProtocolRow(
            PROTOCOL, VARIANT, _about(question, answer, (asked, cell), dimension, entry), marked.score, marked.low,
            marked.high, marked.parts, scale=TOTAL, settings=settings, notes=tuple(notes),
        )  # fmt: skip


def _marked(cell: str, entry: Entry[Points] | None) -> Marked:
    """Add the points of a dimension; an empty cell is not scored, whatever a file gives for it."""
    if cell:
        return mark(read_rubric(cell), None if entry is None else entry.value.given)
    told = (f"{NOT_SCORED}: the cell is empty", *(("points: left out, for a cell that is empty",) if entry else ()))
    return Marked(None, Fraction(0), Fraction(1), (), told)


def _about(
    question: QuestionRow,
    answer: Answer,
    texts: tuple[str, str],
    dimension: str = "",
    entry: Entry[Points] | Entry[Judged] | None = None,
) -> Scored:
    """Return what a row is about.

    Args:
        texts: question, and key or rubric cell: what its problem is.
        dimension: of an open-ended question.
    """
    meta = {**answer.meta, "row": question.number, "variant": answer.variant, "level": _level(question)}
    meta |= {name: text for name in _KEPT if (text := question.text(name))}
    meta |= {"dimension": dimension} if dimension else {}
    name = f"{question.number}-{answer.variant}" + (f"-{dimension}" if dimension else "")
    response = None if answer.response is None else _sha256(answer.response.encode("utf-8", "surrogatepass"))
    return Scored(
        name, answer.sample_id, meta, problem_sha256=_sha256(json_line(list(texts))), solution_sha256=response,
        findings_sha256=entry.sha256 if entry else None,
    )  # fmt: skip


def _level(question: QuestionRow) -> str:
    """Return the level in words; empty where the table does not say."""
    return f"Level {question.level}" if question.level else ""


def _sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()

"""One row of results as the tables of a report count it, and means over rows with intervals over problems.

What a row is made from, problem and text, is attached by `summary`, which reads those files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from prism.diagnosis.findings import Diagnosis
from prism.errors import DataFileError, PrismError
from prism.generation.template import VARIANTS
from prism.grading.result import Grade
from prism.problem.schema import Problem, TemplateOrigin
from prism.reports.agreement import Estimate, mean_estimate
from prism.runs.score_files import grade_of

NOT_SAID, UNRATED = "(not said)", "(not rated)"
"""Names of the groups of rows that have no value of a field, and of problems without a level of difficulty."""

_SHOWN_FAULTS = 20
_DIGITS = 4  # of a share in JSON, so that no last digit depends on the machine

UNFIT = {
    "problem_absent": "no problem of the files has the id in the row",
    "problem_changed": "the problem with this id has another sha256 than the row says",
    "text_absent": "no solution of the file has the ids of the row",
    "text_changed": "the solution with these ids has another sha256 than the row says",
}
"""Why a row is shown without its problem or its text."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row of results, with the problem and the solution text that it was made from, where they are known.

    Attributes:
        place: its number in the file, from 1.
        model: name of the model that wrote the solution; empty where the row does not say.
        kept: fields of the rollout that `prism run --keep` copied into the row, by name.
        has_formulas: True if the row lists its formulas; a compact one does not.
        problem_sha256: of the problem that it was graded against.
        problem: None where none fits.
        text: of the solution; None where none fits.
        unfit: keys of `UNFIT`.
        diagnosis: where one was asked for, the problem fits and the row lists its formulas; else None.
        is_in_scores: its score is in mean scores; not so one of final answers alone beside scores of steps.
    """

    place: int
    grade: Grade
    model: str
    has_formulas: bool
    problem_sha256: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)
    problem: Problem | None = None
    text: str | None = None
    unfit: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None
    is_in_scores: bool = True

    @property
    def is_of_answers_alone(self) -> bool:
        """True if its problem is known and has nothing but its answers: the score is one of final answers."""
        return self.problem is not None and self.problem.has_answers_alone


def template_of(row: ReportRow) -> TemplateOrigin | None:
    """Return which variant of which template the problem of a row is; None of any other problem.

    The problem says it, else the kept fields `template`, `variant` and `pair` together.
    """
    if row.problem is not None:
        found = row.problem.template
    else:
        kept = [row.kept.get(name) for name in ("template", "variant", "pair")]
        found = TemplateOrigin(*map(str, kept)) if all(isinstance(each, str) and each for each in kept) else None
    return found if found is not None and found.variant in VARIANTS and found.pair else None


def templates_by_problem(rows: Iterable[ReportRow]) -> dict[str, str]:
    """Return the template of each problem that is a variant of one, by problem id."""
    return {row.grade.problem_id: origin.id for row in rows if (origin := template_of(row)) is not None}


def with_answers_apart(rows: Sequence[ReportRow]) -> tuple[ReportRow, ...]:
    """Return the rows, those of problems of answers alone kept out of mean scores if there are others beside them."""
    is_mixed = any(row.is_of_answers_alone for row in rows) and not all(row.is_of_answers_alone for row in rows)
    return tuple(replace(row, is_in_scores=not (is_mixed and row.is_of_answers_alone)) for row in rows)


def read_report_rows(results: Path, raw: Sequence[Mapping[str, Any]]) -> list[ReportRow]:
    """Convert raw score rows to report rows, without problems and texts.

    Errors:
        DataFileError: rows that hold no grade, all faults at once.
    """
    rows: list[ReportRow] = []
    faults: list[str] = []
    for place, one in enumerate(raw, start=1):
        try:
            meta = one.get("meta")
            kept = meta if isinstance(meta, Mapping) else {}
            model = "" if kept.get("model") is None else str(kept["model"])
            digest = str(one.get("problem_sha256") or "")
            rows.append(ReportRow(place, grade_of(one), model, "formulas" in one, digest, kept))
        except PrismError as error:
            faults.append(f"row {place}: {error}")
    if faults:
        more = [f"and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        raise DataFileError(str(results), (*faults[:_SHOWN_FAULTS], *more))
    return rows


def estimate_to_dict(found: Estimate) -> dict[str, Any]:
    """Return an estimate as plain values for JSON, rounded to four decimals."""
    numbers = {"value": found.value, "low": found.low, "high": found.high}
    rounded = {name: None if value is None else round(value, _DIGITS) for name, value in numbers.items()}
    return {**rounded, "n": found.n, "reason": found.reason or None}


def problem_mean(
    values: Iterable[tuple[str, float]], *, replicates: int, templates: Mapping[str, str] | None = None
) -> Estimate:
    """Estimate the mean of values, each behind the id of its problem; problems are what the bootstrap draws.

    Args:
        templates: by problem id, of generated problems; those of one template are drawn together.
    """
    pairs = list(values)
    drawn_with = [("template", templates[name]) if templates and name in templates else ("", name) for name, _ in pairs]
    numbers = {each: k for k, each in enumerate(sorted(set(drawn_with)))}
    clusters = np.array([numbers[each] for each in drawn_with], dtype=np.int64)
    found = mean_estimate(np.array([value for _, value in pairs], dtype=np.float64), clusters, replicates=replicates)
    if found.reason == "one_problem" and drawn_with[0][0]:
        return replace(found, reason="one_template")
    return found

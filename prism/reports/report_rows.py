"""Rows of results as the tables of a report count them: the long table of their numbers, and means with intervals.

What a row is made from, problem and text, is attached by `summary`, which reads those files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prism.diagnosis.findings import Diagnosis
from prism.errors import PrismError
from prism.generation.template import VARIANTS
from prism.grading.result import Grade
from prism.problem.schema import Problem, TemplateOrigin
from prism.reports.agreement import Estimate, mean_estimate
from prism.resources import meanings
from prism.runs.records import ABSENT, Faults, at_path
from prism.runs.score_files import grade_of

if TYPE_CHECKING:
    import pandas as pd

NOT_SAID, UNRATED = "(not said)", "(not rated)"
"""Names of the groups of rows that have no value of a field, and of problems without a level of difficulty."""

_LARGEST = 1e300  # of a kept number: sums of larger ones would overflow
DIGITS = 4  # of a share in JSON, so that no last digit depends on the machine

UNFIT: Mapping[str, str] = meanings("reports.unfit")
"""Why a row is shown without its problem or its text."""


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row of results, with the problem and the solution text that it was made from, where they are known.

    Attributes:
        place: its number in the file, from 1.
        model: name of the model that wrote the solution; empty where the row does not say.
        fields: those of the rollout that `prism run --keep` copied into the row, by name.
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
    fields: Mapping[str, Any] = field(default_factory=dict)
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
        kept = [row.fields.get(name) for name in ("template", "variant", "pair")]
        found = TemplateOrigin(*map(str, kept)) if all(isinstance(each, str) and each for each in kept) else None
    return found if found is not None and found.variant in VARIANTS and found.pair else None


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
    faults = Faults()
    for place, one in enumerate(raw, start=1):
        try:
            meta = one.get("meta")
            kept = meta if isinstance(meta, Mapping) else {}
            model = "" if kept.get("model") is None else str(kept["model"])
            digest = str(one.get("problem_sha256") or "")
            rows.append(ReportRow(place, grade_of(one), model, "formulas" in one, digest, kept))
        except PrismError as error:
            faults.add(f"row {place}: {error}")
    faults.check(results)
    return rows


def kept_value(row: ReportRow, name: str) -> object:
    """Return a kept field of a row: under that name, else by its path with dots; None where the row has none."""
    if name in row.fields:
        return row.fields[name]
    value = at_path(row.fields, tuple(name.split(".")))
    return None if value is ABSENT else value


def as_number(value: object) -> float | None:
    """Return a number that a float holds; None for anything else, a bool, NaN and infinities."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST
    return float(value) if is_number else None  # type: ignore[arg-type]


def row_number(row: ReportRow, name: str) -> float | None:
    """Return the number in a kept field of a row; None where there is none."""
    return as_number(kept_value(row, name))


@contextmanager
def texts_of_python() -> Iterator[None]:
    """Have pandas keep texts as those of Python: Arrow refuses half a surrogate pair, which an id may hold."""
    import pandas as pd

    with pd.option_context("mode.string_storage", "python"):
        yield


def texts(values: Sequence[object]) -> pd.Series:
    """Return values as a column of objects."""
    import pandas as pd

    return pd.Series(values, dtype=object)


def row_frame(rows: Sequence[ReportRow]) -> pd.DataFrame:
    """Return rows as the long table (pandas) that all figures of a report are made from, one line a row in file order.

    Columns: `row` itself; `model`, `problem`, `template`; `drawn`, the number of what a bootstrap draws the row with,
    its problem; `unit`, the same, but of a variant of a template that of the template; and numbers, NaN where a row
    has none: `score`; `step`, the score if it is in mean scores; `strict`; `final`.
    """
    import pandas as pd

    problems = [row.grade.problem_id for row in rows]
    origins = {row.grade.problem_id: origin.id for row in rows if (origin := template_of(row)) is not None}
    templates = [origins.get(name, "") for name in problems]
    units = [("template", made) if made else ("", name) for made, name in zip(templates, problems, strict=True)]
    numbers = {unit: number for number, unit in enumerate(sorted(set(units)))}
    frame = pd.DataFrame({
        "row": texts(rows), "model": texts([row.model or NOT_SAID for row in rows]), "problem": texts(problems),
        "drawn": pd.factorize(texts(problems), sort=True)[0],
        "unit": np.array([numbers[unit] for unit in units], dtype=np.int64), "template": texts(templates),
        "score": np.array([row.grade.score for row in rows], dtype=np.float64),
        "final": np.array([row.grade.final_correct for row in rows], dtype=np.float64),
        "strict": np.array([row.grade.policies.get("strict") for row in rows], dtype=np.float64),
    })  # fmt: skip
    is_in_scores = frame["score"].notna() & np.array([row.is_in_scores for row in rows], dtype=bool)
    frame["final"] = frame["final"].where(frame["score"].notna())
    frame["step"], frame["strict"] = frame["score"].where(is_in_scores), frame["strict"].where(is_in_scores)
    return frame


def column_mean(frame: pd.DataFrame, column: str, *, replicates: int, by: str = "drawn") -> Estimate:
    """Estimate the mean of the numbers in a column; what the column `by` has alike is drawn together."""
    known = frame[frame[column].notna()]
    found = mean_estimate(known[column].to_numpy(np.float64), known[by].to_numpy(), replicates=replicates)
    if by == "unit" and found.reason == "one_problem" and known["template"].iloc[0]:
        return replace(found, reason="one_template")
    return found

"""The tribunal of EngTrace's templates: several judges rate each template, and a rule keeps it or sends it back.

A template passes if the median of its ratings is at the threshold or above in every dimension, and at most one judge
flags it. The disagreement of the judges is the largest standard deviation among the dimensions (of the population:
the judges are all there are). Beside a file of experts the filter has a rate of false positives: of the templates that
the experts reject, the share that it lets pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median, pvariance
from typing import Annotated, Any, ClassVar

from prism.problem.shapes import PASSES_UNKNOWN, About, Flag, Id, LoadReport, exact_number, read_shape
from prism.protocols.entry_files import ENTRY, JUDGED, EntryFile, Table, of_shape, read_entries

THRESHOLD = Fraction(4)  # on the scale of 1 to 5; the paper's value is not readable
MAX_FLAGS = 1  # of judges, with which a template still passes
_OWN = frozenset(("template", "judge", "flag", "explanation", "accepted", JUDGED))


@dataclass(frozen=True, slots=True)
class TemplateRating:
    """What one judge says of one template: a number for each dimension, and whether it is flagged."""

    template: str
    judge: str
    scores: Mapping[str, Fraction]
    is_flagged: bool


@dataclass(frozen=True, slots=True)
class TemplateVerdict:
    """What the tribunal makes of a template.

    Attributes:
        medians: by dimension.
        disagreement: the largest standard deviation of a dimension.
        expert: whether the experts accept it; None without a file of them.
    """

    template: str
    passes: bool
    medians: Mapping[str, Fraction]
    n_flag: int
    disagreement: float
    expert: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "template": self.template, "passes": self.passes, "flags": self.n_flag,
            "medians": {name: float(value) for name, value in self.medians.items()},
            "disagreement": round(self.disagreement, 6), "expert": self.expert,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Audit:
    """All verdicts, in the order of the templates' names, and what they say together."""

    verdicts: tuple[TemplateVerdict, ...]

    @property
    def false_positives(self) -> tuple[int, int] | None:
        """How many templates pass of those that the experts reject, and how many these are; None without experts."""
        rejected = [each for each in self.verdicts if each.expert is False]
        if all(each.expert is None for each in self.verdicts):
            return None
        return sum(each.passes for each in rejected), len(rejected)


def audit(
    ratings: Sequence[TemplateRating], threshold: Fraction = THRESHOLD, experts: Mapping[str, bool] | None = None
) -> Audit:
    """Return the verdicts on all templates that are rated."""
    found = []
    for name in sorted({each.template for each in ratings}):
        own = [each for each in ratings if each.template == name]
        by_dimension: dict[str, list[Fraction]] = {}
        for each in own:
            for dimension, score in each.scores.items():
                by_dimension.setdefault(dimension, []).append(score)
        medians = {dimension: Fraction(median(scores)) for dimension, scores in sorted(by_dimension.items())}
        n_flag = sum(each.is_flagged for each in own)
        spread = max((math.sqrt(pvariance(scores)) for scores in by_dimension.values()), default=0.0)
        passes = n_flag <= MAX_FLAGS and bool(medians) and min(medians.values()) >= threshold
        found.append(TemplateVerdict(name, passes, medians, n_flag, spread, (experts or {}).get(name)))
    return Audit(tuple(found))


def read_ratings(path: Path) -> tuple[TemplateRating, ...]:
    """Read ratings: `{"template": ..., "judge": ..., "flag": false, DIMENSION: 4, ...}`.

    Errors:
        DataFileError: all faults of the file, and a judge who rates a template twice.
    """
    file: EntryFile[TemplateRating] = read_entries(path, _rating, is_checked=False)
    seen: dict[tuple[str, str], str] = {}
    for entry in file.entries:
        key = entry.value.template, entry.value.judge
        if (earlier := seen.setdefault(key, entry.place)) != entry.place:
            file.faults.add(f"stands in {earlier} too: the same judge on the same template", entry.place)
    file.faults.check(path)
    return tuple(entry.value for entry in file.entries)


def _rating(row: Table, report: LoadReport) -> TemplateRating:
    """Read the rating of a row: every number but its own fields is a dimension."""
    names = [key for key in row if key not in _OWN]
    scores: dict[str, Fraction] = {}
    for name in names:
        one = read_shape(_Score, {"score": row[name]}, own := LoadReport([], []), ENTRY)
        report.faults += [fault.replace("score", name, 1) for fault in own.faults]
        scores[name] = one.score
    if not names:
        report.faults.append("has no dimension: a field with a number, such as clarity")
    found = read_shape(_Rater, row, report, ENTRY)
    return TemplateRating(found.template, found.judge, scores, found.flag)


@dataclass(frozen=True, slots=True)
class _Score:
    """A number for one dimension."""

    score: Annotated[Fraction, exact_number(0)]


@dataclass(frozen=True, slots=True)
class _Rater:
    """Who rates which template."""

    __pydantic_config__: ClassVar = PASSES_UNKNOWN
    template: Id
    judge: Id
    flag: Flag = False


@dataclass(frozen=True, slots=True)
class _Decision:
    """What an expert decides."""

    template: Id
    accepted: Annotated[Flag, About("expected true or false")]
    expert: Any = None
    explanation: Any = None


def read_experts(path: Path) -> dict[str, bool]:
    """Read what experts decide: `{"template": ..., "accepted": true}`.

    Errors:
        DataFileError: all faults of the file.
    """
    file = read_entries(path, of_shape(_Decision))
    return {entry.value.template: entry.value.accepted for entry in file.entries}
